/* Does every op find what it reads? The plan is gone through tick by tick with a version number for each
 * tensor in HBM and in each stay; nothing is taken from the code that made the plan but its transfers and
 * places. A wrong view, a value that was overwritten or never brought, a stay that an extern op wipes, and a
 * traffic that is not the sum of what was seen are each reported by name. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"
#include "plan/planner.h"

#include <stdlib.h>

struct state {
    const struct lx_plan *p;
    lx_status *st;
    int64_t *latest, *in_hbm; /* per tensor: versions; 0 is what was there before */
    int64_t *in_stay;         /* per stay: the version it holds; -1: nothing */
    int64_t hbm_bytes;
};

static const char *stay_name(const struct state *s, int32_t stay)
{
    return s->p->problem.buffers[stay].name;
}

static bool is_placed(const struct state *s, int32_t stay)
{
    return stay >= 0 && stay < s->p->problem.count && s->p->answer.address[stay] >= 0;
}

static bool lives_at(const struct state *s, int32_t stay, int32_t tick)
{
    return s->p->problem.buffers[stay].start <= tick && tick < s->p->problem.buffers[stay].end;
}

static bool same_view(const struct state *s, int32_t op, int operand, int32_t stay)
{
    const struct lx_stay *x = &s->p->stays[stay];
    if (x->view_op < 0 || x->view_operand < 0) return false;
    struct lx_core_view a = lx_division_view(s->p->divisions, op, operand);
    struct lx_core_view b = lx_division_view(s->p->divisions, x->view_op, x->view_operand);
    if (!a.representable || !b.representable || a.cores != b.cores || a.rank != b.rank) return false;
    if (s->p->passes.no_ring && (a.partial || b.partial)) return false;
    for (int i = 0; i < a.rank; i++)
        if (a.slices[i] != b.slices[i] || (a.slices[i] > 1 && a.stride[i] != b.stride[i])) return false;
    return true;
}

static bool do_transfer(struct state *s, const struct lx_transfer *x)
{
    if (!is_placed(s, x->stay) || !lives_at(s, x->stay, x->tick))
        return status_set(s->st, LX_E_NO, "a copy at tick %d is of a buffer that is not on chip then",
                          (int)x->tick);
    int32_t tensor = s->p->stays[x->stay].tensor;
    const char *name = stay_name(s, x->stay);
    if (x->kind == LX_LOAD) {
        if (s->in_hbm[tensor] != s->latest[tensor])
            return status_set(s->st, LX_E_NO, "tick %d loads %s, but HBM does not have its value",
                              (int)x->tick, name);
        s->in_stay[x->stay] = s->in_hbm[tensor];
        s->hbm_bytes += tensor_bytes(s->p->layouts, tensor);
        return true;
    }
    int32_t from = x->kind == LX_STORE ? x->stay : x->source;
    if (!is_placed(s, from) || !lives_at(s, from, x->tick) || s->p->stays[from].tensor != tensor ||
        s->in_stay[from] != s->latest[tensor])
        return status_set(s->st, LX_E_NO, "tick %d copies %s from %s, which does not have its value",
                          (int)x->tick, name, stay_name(s, from));
    if (x->kind == LX_STORE) {
        s->in_hbm[tensor] = s->in_stay[from];
        s->hbm_bytes += tensor_bytes(s->p->layouts, tensor);
    } else
        s->in_stay[x->stay] = s->in_stay[from];
    return true;
}

static bool do_access(struct state *s, int32_t op, int operand, const struct lx_access *a)
{
    const char *op_name = s->p->layouts->graph->ops[op].name;
    const char *name = s->p->layouts->graph->tensors[a->tensor].name;
    bool on_chip = is_placed(s, a->stay);
    if (!on_chip) {
        if (!add_i64(s->hbm_bytes, a->bytes, &s->hbm_bytes)) s->hbm_bytes = INT64_MAX;
        if (a->reads && s->in_hbm[a->tensor] != s->latest[a->tensor])
            return status_set(s->st, LX_E_NO, "op %s reads %s in HBM, where its value is not", op_name, name);
        if (a->writes) s->in_hbm[a->tensor] = ++s->latest[a->tensor];
        return true;
    }
    if (s->p->stays[a->stay].tensor != a->tensor || !lives_at(s, a->stay, op))
        return status_set(s->st, LX_E_NO, "op %s uses %s, which does not live then", op_name,
                          stay_name(s, a->stay));
    if (!same_view(s, op, operand, a->stay))
        return status_set(s->st, LX_E_NO, "op %s cuts %s in another way than it lies on chip", op_name, name);
    if (a->reads && s->in_stay[a->stay] != s->latest[a->tensor])
        return status_set(s->st, LX_E_NO, "op %s reads %s on chip, where its value is not", op_name, name);
    if (a->writes) s->in_stay[a->stay] = ++s->latest[a->tensor];
    return true;
}

static bool check_sizes(const struct state *s)
{
    for (int32_t i = 0; i < s->p->problem.count; i++) {
        const struct lx_stay *x = &s->p->stays[i];
        if (!is_placed(s, i)) continue;
        struct lx_core_view v = lx_division_view(s->p->divisions, x->view_op, x->view_operand);
        if (s->p->problem.buffers[i].size < view_part_bytes(s->p->layouts, x->tensor, &v))
            return status_set(s->st, LX_E_NO, "buffer %s has %lld bytes, but a core's part is larger",
                              stay_name(s, i), (long long)s->p->problem.buffers[i].size);
    }
    return true;
}

/* An op that writes over what it reads must read each element before it writes that very element. */
static bool check_handovers(const struct state *s)
{
    const struct lx_plan *p = s->p;
    for (int32_t i = 0; i < p->problem.count; i++) {
        int32_t from = p->took_slot_of[i];
        if (from < 0) continue;
        const struct lx_stay *child = &p->stays[i], *parent = &p->stays[from];
        const struct lx_op *op = &p->layouts->graph->ops[child->first];
        bool legal = p->problem.buffers[from].end == child->first + 1 && op->output == child->tensor &&
                     parent->tensor != child->tensor && (op->kind->traits & LX_IN_PLACE) && !op->reduces;
        for (int k = 0; legal && k < op->input_count; k++) {
            if (op->inputs[k] != parent->tensor) continue;
            legal = same_view(s, child->first, k, from) && same_view(s, child->first, k, i);
            const struct lx_einsum *map = op->map;
            if (!legal || !map) continue;
            legal = map->rank[k] == map->rank[op->input_count];
            for (int d = 0; legal && d < map->rank[k]; d++)
                legal = map->index[k][d] == map->index[op->input_count][d];
        }
        if (!legal)
            return status_set(s->st, LX_E_NO, "op %s cannot write %s in the place of %s", op->name,
                              stay_name(s, i), stay_name(s, from));
    }
    return true;
}

static bool go_through(struct state *s)
{
    const struct lx_plan *p = s->p;
    const struct lx_graph *g = p->layouts->graph;
    int32_t next = 0, bundle = 0;
    for (int32_t o = 0; o < g->op_count; o++) {
        for (;
             next < p->transfer_count && p->transfers[next].tick == o && p->transfers[next].kind != LX_STORE;
             next++)
            if (!do_transfer(s, &p->transfers[next])) return false;
        while (bundle < p->bundle_count && p->bundles[bundle].first < o) bundle++;
        bool border = o > 0 && bundle < p->bundle_count && p->bundles[bundle].first == o;
        for (int32_t i = 0; border && i < p->problem.count; i++)
            if (is_placed(s, i) && lives_at(s, i, o - 1) && lives_at(s, i, o))
                return status_set(s->st, LX_E_NO, "buffer %s is on chip across the border before op %s",
                                  stay_name(s, i), g->ops[o].name);
        if (g->ops[o].kind->traits & LX_WIPES)
            for (int32_t i = 0; i < p->problem.count; i++) {
                if (is_placed(s, i) && lives_at(s, i, o))
                    return status_set(s->st, LX_E_NO, "buffer %s is on chip while the extern op %s wipes it",
                                      stay_name(s, i), g->ops[o].name);
            }
        for (int i = 0; i <= g->ops[o].input_count; i++)
            if (!do_access(s, o, i, &p->accesses[p->access_at[o] + i])) return false;
        for (; next < p->transfer_count && p->transfers[next].tick == o; next++)
            if (!do_transfer(s, &p->transfers[next])) return false;
    }
    if (next != p->transfer_count)
        return status_set(s->st, LX_E_NO, "the copies of the plan are not in order of time");
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (g->tensors[t].role == LX_OUTPUT && s->in_hbm[t] != s->latest[t])
            return status_set(s->st, LX_E_NO, "graph output %s never reaches HBM", g->tensors[t].name);
    if (s->hbm_bytes != p->figures.hbm_bytes)
        return status_set(s->st, LX_E_NO, "the plan claims %lld bytes of HBM traffic, but has %lld",
                          (long long)p->figures.hbm_bytes, (long long)s->hbm_bytes);
    return true;
}

bool check_stays(const struct lx_plan *p, lx_status *st)
{
    struct state s = {.p = p, .st = st};
    size_t tensors = (size_t)p->layouts->graph->tensor_count + 1, stays = (size_t)p->problem.count + 1;
    s.latest = calloc(tensors, sizeof *s.latest);
    s.in_hbm = calloc(tensors, sizeof *s.in_hbm);
    s.in_stay = malloc(stays * sizeof *s.in_stay);
    bool ok = s.latest && s.in_hbm && s.in_stay ? true : status_no_memory(st);
    for (size_t i = 0; ok && i < stays; i++) s.in_stay[i] = -1;
    ok = ok && check_sizes(&s) && check_handovers(&s) && go_through(&s);
    free(s.latest);
    free(s.in_hbm);
    free(s.in_stay);
    return ok;
}
