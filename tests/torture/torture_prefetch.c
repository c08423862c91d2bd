/* Loads that are issued early. Plans of random graphs by time, with the pass and without it: the pass never
 * makes a plan slower, or as slow with more bytes; the plan is legal and runs right under skews; and no choice of
 * issue ticks at the same addresses is faster (best), of all that the checker accepts. Then each load is
 * issued while its bytes are another's, or is due behind its first reader, or a slice of a nest has a second
 * slot that is another's: the checker refuses that, and the device finds a fault. */
#include "unstable.h"
#include "base/memory.h"
#include "explain/op_waits.h"
#include "plan/plan_make.h"
#include "support/other_sizes.h"
#include "support/random_graph.h"
#include "torture/torture.h"
#include "support/sampled.h"

enum { USUAL = SAMPLED ? 25 : 60, SKEWS = 3, FARTHEST = 6, MOST_LOADS = 4 };

/* A plan whose loads and lives may be changed. */
struct changed {
    struct lx_plan plan;
    struct lx_transfer *transfers;
    struct lx_buffer *buffers;
    struct lx_stay *stays;
    struct arena memory;
};

static void change_begin(const struct lx_plan *p, struct changed *c)
{
    size_t copies = (size_t)p->transfer_count, count = (size_t)p->problem.count;
    *c = (struct changed){.plan = *p};
    c->transfers = arena_copy_array(&c->memory, p->transfers, copies, sizeof *c->transfers);
    c->buffers = arena_copy_array(&c->memory, p->problem.buffers, count, sizeof *c->buffers);
    c->stays = arena_copy_array(&c->memory, p->stays, count, sizeof *c->stays);
    c->plan.stays = c->stays;
    c->plan.transfers = c->transfers;
    c->plan.problem.buffers = c->buffers;
    c->plan.memory = &c->memory;
}

static void change_issue(struct changed *c, int32_t load, int32_t issue)
{
    struct lx_transfer *t = &c->transfers[load];
    struct lx_buffer *b = &c->buffers[t->stay];
    t->ahead = t->tick - issue;
    if (issue < b->start) b->start = issue;
}

/* Slots of a slice that a nest loads; it has one so far. */
static void change_stages(struct changed *c, int32_t load, int stages)
{
    const struct lx_transfer *t = &c->transfers[load];
    const struct lx_nest *n = &c->plan.nests[nest_of_op(c->plan.nests, c->plan.nest_count, t->tick)];
    struct lx_buffer *b = &c->buffers[t->stay];
    c->stays[t->stay].stages = stages;
    b->size *= stages;
    b->start = n->first;
    b->end = n->last + 1;
    int64_t top = c->plan.answer.address[t->stay] + b->size;
    if (top > c->plan.figures.height_bytes) c->plan.figures.height_bytes = top;
}

/* Who lives on has no place to take over. */
static void change_parents(struct changed *c, int32_t parent)
{
    for (int32_t i = 0; i < c->plan.problem.count; i++) {
        struct lx_buffer *b = &c->buffers[i];
        int32_t *kept = arena_array(&c->memory, (size_t)b->parent_count + 1, sizeof *kept), n = 0;
        for (int32_t k = 0; k < b->parent_count; k++)
            if (b->parents[k] != parent) kept[n++] = b->parents[k];
        b->parents = kept;
        b->parent_count = n;
    }
}

static bool is_slice(const struct lx_plan *p, int32_t load)
{
    return p->stays[p->transfers[load].stay].hold > 0;
}

static void change_sync(struct changed *c)
{
    plan_sync(&c->plan);
    c->plan.figures.sync_times = plan_sync_times(&c->plan);
}

/* As the search sees it: before tensors have addresses in HBM. */
static double time_of(const struct lx_plan *p)
{
    struct changed c;
    change_begin(p, &c);
    c.plan.hbm_address = NULL;
    plan_sync(&c.plan);
    double us = lx_plan_clock(&c.plan, NULL).end_to_end_us;
    arena_free(&c.memory);
    return us;
}

static bool is_faulty(struct torture *t, const struct lx_plan *p, int skew, char *text, size_t room)
{
    struct lx_device_options how = {
        .verify = LX_VERIFY_NONE, .threads = 1, .skew = skew ? t->seed * SKEWS + (uint64_t)skew : 0};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    bool fault = !r || r->fault_count > 0;
    if (fault) snprintf(text, room, "%s", r ? r->faults[0].text : st.text);
    lx_run_result_free(r);
    return fault;
}

/* Loads, in order; the number, or -1: too many. */
static int loads_of(const struct lx_plan *p, int32_t *load)
{
    int n = 0;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_stay *s = &p->stays[p->transfers[i].stay];
        if (p->transfers[i].kind != LX_LOAD || s->begins_written) continue;
        if (n == MOST_LOADS) return -1;
        load[n++] = i;
    }
    return n;
}

/* The least time of all issue ticks up to FARTHEST before the loads are due. */
static double least_of_all(const struct lx_plan *p, const int32_t *load, int n)
{
    int ahead[MOST_LOADS] = {0}, i = 0;
    double best = time_of(p);
    do {
        struct changed c;
        lx_status st = {0};
        bool real = true;
        change_begin(p, &c);
        for (int k = 0; k < n; k++) {
            int32_t issue = p->transfers[load[k]].tick - ahead[k];
            real &= issue >= 0 || is_slice(p, load[k]);
            if (ahead[k] == 0) continue;
            if (is_slice(p, load[k])) real &= ahead[k] < LX_MOST_STAGES;
            if (real && is_slice(p, load[k]))
                change_stages(&c, load[k], 1 + ahead[k]), change_parents(&c, p->transfers[load[k]].stay);
            else if (real)
                change_issue(&c, load[k], issue);
        }
        double us = real ? time_of(&c.plan) : best;
        if (us < best) {
            change_sync(&c);
            if (lx_plan_check(&c.plan, &st)) best = us;
        }
        arena_free(&c.memory);
        for (i = 0; i < n && ++ahead[i] > FARTHEST; i++) ahead[i] = 0;
    } while (i < n);
    return best;
}

static void judge_changed(struct torture *t, struct changed *c, const char *what)
{
    lx_status st = {0};
    char text[800] = "";
    change_sync(c);
    t->count[TORTURE_JUDGED]++;
    if (lx_plan_check(&c->plan, &st)) torture_fault(t, TORTURE_ACCEPTED, "legal: %s", what);
    for (int skew = 0; skew < SKEWS; skew++)
        if (!is_faulty(t, &c->plan, skew, text, sizeof text))
            torture_fault(t, TORTURE_DISAGREE, "no fault under skew %d: %s, but %s", skew, what, st.text);
    arena_free(&c->memory);
}

/* Is a byte of the stay another's at the tick? */
static const char *who_is_there(const struct lx_plan *p, int32_t stay, int32_t tick)
{
    const struct lx_buffer *b = p->problem.buffers;
    const int64_t *at = p->answer.address;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (i != stay && at[i] >= 0 && at[i] < at[stay] + b[stay].size && at[stay] < at[i] + b[i].size &&
            b[i].start <= tick && tick < b[i].end)
            return b[i].name;
    return NULL;
}

static bool in_nest(const struct lx_plan *p, int32_t tick)
{
    return nest_of_op(p->nests, p->nest_count, tick) >= 0;
}

/* A second slot where another buffer is while the nest runs. */
static void judge_stages(struct torture *t, const struct lx_plan *p, int32_t load)
{
    int32_t stay = p->transfers[load].stay;
    struct changed c;
    char what[200];
    if (lx_stages(&p->stays[stay]) > 1) return;
    change_begin(p, &c);
    change_stages(&c, load, 2);
    const struct lx_buffer *b = c.plan.problem.buffers;
    const int64_t *at = p->answer.address;
    for (int32_t i = 0; i < p->problem.count; i++) {
        int64_t half = b[stay].size / 2;
        if (i == stay || at[i] < 0 || at[i] >= at[stay] + b[stay].size ||
            at[stay] + half >= at[i] + b[i].size || b[i].start >= b[stay].end || b[stay].start >= b[i].end)
            continue;
        snprintf(what, sizeof what, "%s with a second slot on %s", b[stay].name, b[i].name);
        judge_changed(t, &c, what);
        return;
    }
    arena_free(&c.memory);
}

static void judge_sabotage(struct torture *t, const struct lx_plan *p, const int32_t *load, int n)
{
    for (int k = 0; k < n; k++) {
        const struct lx_transfer *x = &p->transfers[load[k]];
        const struct lx_stay *s = &p->stays[x->stay];
        struct changed c;
        char what[200];
        if (is_slice(p, load[k])) {
            judge_stages(t, p, load[k]);
            continue;
        }
        for (int32_t issue = lx_issue_tick(x) - 1; issue >= 0; issue--) {
            const char *who = who_is_there(p, x->stay, issue);
            if (!who || in_nest(p, issue)) continue;
            snprintf(what, sizeof what, "%s issued at %d, where %s is", p->problem.buffers[x->stay].name,
                     (int)issue, who);
            change_begin(p, &c);
            change_issue(&c, load[k], issue);
            judge_changed(t, &c, what);
            break;
        }
        if (s->last == s->first || in_nest(p, x->tick) || in_nest(p, x->tick + 1)) continue;
        snprintf(what, sizeof what, "%s due behind tick %d", p->problem.buffers[x->stay].name, (int)x->tick);
        change_begin(p, &c);
        struct lx_transfer late = c.transfers[load[k]];
        late.tick++, late.ahead++;
        int32_t to = load[k]; /* transfers stay in order of time */
        for (; to + 1 < p->transfer_count && c.transfers[to + 1].tick < late.tick; to++)
            c.transfers[to] = c.transfers[to + 1];
        c.transfers[to] = late;
        judge_changed(t, &c, what);
    }
}

static struct lx_plan *plan_by_time(const struct lx_graph *g, struct lx_passes passes, int prefetch)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"),
                                  .quick_solver = lx_solver_find("bestfit"),
                                  .objective = LX_ASK_TIME,
                                  .passes = passes};
    how.passes.prefetch = prefetch;
    return lx_plan_make(g, &how, &st);
}

/* Has the plan other stays, nests or addresses, or ops that are divided otherwise? */
static bool is_another(const struct lx_plan *a, const struct lx_plan *b)
{
    const struct lx_division *x = a->divisions->at, *y = b->divisions->at;
    bool other = a->problem.count != b->problem.count || a->nest_count != b->nest_count ||
                 a->transfer_count != b->transfer_count || a->figures.hbm_bytes != b->figures.hbm_bytes;
    for (int32_t i = 0; !other && i < a->problem.count; i++)
        other = a->answer.address[i] != b->answer.address[i] || a->stays[i].tensor != b->stays[i].tensor ||
                a->stays[i].first != b->stays[i].first || a->stays[i].last != b->stays[i].last ||
                a->stays[i].hold != b->stays[i].hold;
    for (int32_t i = 0; !other && i < a->nest_count; i++)
        for (int l = 0; l < a->nests[i].level_count; l++)
            other |= a->nests[i].tiles[l] != b->nests[i].tiles[l];
    for (int32_t o = 0; !other && o < a->divisions->count; o++)
        for (int k = 0; !other && k < x[o].split_count; k++)
            other = x[o].splits[k].split != y[o].splits[k].split;
    return other;
}

static void judge_plans(struct torture *t, const struct lx_plan *off, const struct lx_plan *on)
{
    int32_t load[MOST_LOADS];
    lx_status st = {0};
    char text[800] = "";
    double us = on->figures.end_to_end_us, slow = off->figures.end_to_end_us;
    t->count[TORTURE_QUESTIONS]++;
    t->count[TORTURE_JUDGED]++;
    bool faster = us < slow * (1 - 1e-9), fewer = on->figures.hbm_bytes <= off->figures.hbm_bytes;
    if (us > slow * (1 + 1e-9) || (!faster && !fewer))
        torture_fault(t, TORTURE_FALSE, "%.4f us with the pass, %.4f without", us, slow);
    if (!lx_plan_check(on, &st)) torture_fault(t, TORTURE_REFUSED, "%s", st.text);
    for (int skew = 0; skew < SKEWS; skew++)
        if (is_faulty(t, on, skew, text, sizeof text)) torture_fault(t, TORTURE_FALSE, "%s", text);
    int n = loads_of(off, load);
    if (n > 0) {
        double least = least_of_all(off, load, n);
        bool moved = is_another(on, off);
        t->count[TORTURE_BEST] += us < slow;
        if (us > least * (1 + 1e-9) || (!moved && us < least * (1 - 1e-9)))
            torture_fault(t, TORTURE_DISAGREE, "%.4f us, but %.4f at best", us, least);
    }
    n = loads_of(on, load);
    if (n > 0) judge_sabotage(t, on, load, n);
}

/* A chain of ops on large tensors; some inputs are read by several of them, so that a nest loads their
 * slices. */
static const struct lx_graph *chain_graph(struct rng *r, lx_status *st)
{
    enum { INPUTS = 2 };
    struct graph_builder b;
    int64_t shape[2] = {64 * rng_between(r, 1, 4), 64 * rng_between(r, 1, 2)};
    int32_t last = -1, given[INPUTS], ops = (int32_t)rng_between(r, 3, 6);
    bool ok = true;
    char name[16];
    builder_begin(&b, "chain", "chain");
    lx_device_preset("tenstorrent", &b.graph->device);
    b.graph->target_hbm_bytes = -1;
    for (int i = 0; ok && i < INPUTS; i++) {
        snprintf(name, sizeof name, "in%d", i);
        given[i] = builder_tensor(&b, name, LX_ROLE_COUNT, LX_FP16, 2, shape, 0, st);
        ok = given[i] >= 0;
    }
    for (int32_t o = 0; ok && o < ops; o++) {
        int32_t operands[2] = {o ? last : given[0], given[rng_below(r, INPUTS)]};
        bool two = o == 0 || rng_below(r, 3) > 0;
        struct lx_op op = {.name = name, .inputs = operands, .input_count = two ? 2 : 1};
        if (o == 0) operands[1] = given[1];
        op.kind = lx_kind_find(two ? "add" : "exp");
        op.einsum = two ? "ab,ab->ab" : "ab->ab";
        snprintf(name, sizeof name, "t%d", (int)o);
        op.output = last = builder_tensor(&b, name, LX_ROLE_COUNT, LX_FP16, 2, shape, 0, st);
        snprintf(name, sizeof name, "op%d", (int)o);
        ok = last >= 0 && builder_op(&b, &op, st);
    }
    const struct lx_graph *g = ok ? builder_finish(&b, st) : NULL;
    builder_abandon(&b);
    return g;
}

static void judge_graph(struct torture *t)
{
    static const int64_t cores[] = {1, 2, 4};
    struct rng r = rng_seed(t->seed);
    bool chain = t->seed % 3 == 0;
    struct random_graph_shape shape = {
        .ops = (int)rng_between(&r, 3, 9), .with_externs = rng_below(&r, 8) == 0, .again = rng_below(&r, 2)};
    lx_status st = {0};
    struct lx_device device;
    shape.cores = cores[rng_below(&r, 3)];
    const struct lx_graph *g = chain ? chain_graph(&r, &st) : random_graph(&r, &shape, &st);
    if (!g || !lx_device_preset("tenstorrent", &device)) return;
    /* Arithmetic takes about as long as HBM, and launches nothing. */
    device.cores = shape.cores;
    device.grid_y = 1, device.grid_x = shape.cores;
    device.stick_bytes = 128;
    device.tile_rows = 1, device.tile_columns = 64;
    device.hbm_gb_per_s = (double)rng_between(&r, 1, 40);
    device.lx_gb_per_s = (double)rng_between(&r, 1, 20);
    device.lx_usable_bytes = rng_between(&r, 40, chain ? 300 : 800) * 128;
    g = with_device(g, &device);
    struct lx_passes passes = {.evict = rng_below(&r, 2),
                               .tile = !chain && rng_below(&r, 2) ? LX_TILE_NONE : LX_TILE_AUTO};
    if (chain) passes.evict = false;
    struct lx_plan *off = plan_by_time(g, passes, LX_PREFETCH_NONE),
                   *on = plan_by_time(g, passes, LX_PREFETCH_AUTO);
    if (off && on) judge_plans(t, off, on);
    lx_plan_free(off);
    lx_plan_free(on);
    lx_graph_free(g);
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "prefetch", USUAL, judge_graph);
}
