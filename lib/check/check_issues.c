/* Loads that are issued before they are due. From the issue tick on, the load owns the bytes of its buffer,
 * and HBM has the value that the load must bring. The life of the buffer (check_claims.c) begins with the
 * issue, so the check of places finds any other buffer in these bytes. */
#include "check/check.h"

/* A copy from its issue to its due tick. */
struct underway {
    const struct checker *c;
    const struct lx_transfer *x;
    const struct lx_stay *s;
    const char *name;
    int32_t issue;
};

static bool issue_refused(const struct underway *u, const char *why)
{
    return status_set(u->c->st, LX_E_NO,
                      "the load of %s (%lld bytes, due at tick %d) is issued at tick %d, %s", u->name,
                      (long long)u->x->bytes, (int)u->x->tick, (int)u->issue, why);
}

static int32_t issue_bundle(const struct lx_plan *p, int32_t tick)
{
    int32_t b = 0;
    while (b + 1 < p->bundle_count && p->bundles[b + 1].first <= tick) b++;
    return b;
}

static bool issue_place_right(const struct underway *u)
{
    const struct lx_plan *p = u->c->p;
    const struct lx_nest *n = u->issue >= 0 ? loops_of(u->c, u->issue) : NULL;
    bool known = u->x->kind == LX_LOAD && u->s->hold == 0 && !u->s->begins_written &&
                 p->answer.address[u->x->stay] >= 0;
    if (u->issue < 0 || u->issue > u->x->tick) return issue_refused(u, "which is not before it");
    if (!known) return issue_refused(u, "but only loads of whole buffers on chip may be early");
    if (n && n->first != u->issue) return issue_refused(u, "inside a nest and not at its first op");
    if (issue_bundle(p, u->issue) != issue_bundle(p, u->x->tick))
        return issue_refused(u, "but the scratchpads are wiped in between");
    return true;
}

/* From the issue to the due tick, no op uses the buffer or writes the tensor, and no other copy fills the
 * buffer. */
static bool issue_left_alone(const struct underway *u)
{
    const struct lx_plan *p = u->c->p;
    for (int32_t o = u->issue; o < u->x->tick; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            const struct lx_access *x = &p->accesses[a];
            if (x->stay == u->x->stay)
                return status_set(
                    u->c->st, LX_E_NO,
                    "op %s (tick %d) uses %s, but its load of %lld bytes, issued at tick %d, has "
                    "ended only at tick %d",
                    u->c->g->ops[o].name, (int)o, u->name, (long long)u->x->bytes, (int)u->issue,
                    (int)u->x->tick);
            if (x->tensor == u->s->tensor && x->writes)
                return issue_refused(u, "but its value is written in between");
        }
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *y = &p->transfers[i];
        bool later = y > u->x && y->stay == u->x->stay && lx_issue_tick(y) <= u->x->tick;
        if (y->kind != LX_STORE && later && y->tick >= u->issue)
            return issue_refused(u, "but another copy into its bytes is on its way then");
        if (y->kind == LX_STORE && p->stays[y->stay].tensor == u->s->tensor && y->tick >= u->issue &&
            y->tick < u->x->tick)
            return issue_refused(u, "but HBM has its value only later");
    }
    return true;
}

static bool stages_refused(const struct checker *c, int32_t buffer, const char *why)
{
    const struct lx_buffer *b = &c->p->problem.buffers[buffer];
    return status_set(c->st, LX_E_NO,
                      "buffer %s has %d stages in its %lld bytes on the ticks %lld to %lld, but %s", b->name,
                      c->p->stays[buffer].stages, (long long)b->size, (long long)b->start,
                      (long long)b->end - 1, why);
}

/* A slice with stages: one load fills it, and its nest does not change the tensor in HBM. */
static bool stages_right(const struct checker *c, int32_t buffer)
{
    const struct lx_plan *p = c->p;
    const struct lx_stay *s = &p->stays[buffer];
    const struct lx_nest *n = s->view_op >= 0 && s->view_op < c->g->op_count ? loops_of(c, s->view_op) : NULL;
    int32_t loads = 0;
    if (s->stages > LX_MOST_STAGES) return stages_refused(c, buffer, "3 are the most");
    if (!n || s->hold <= 0 || s->begins_written)
        return stages_refused(c, buffer, "no nest loads it slice by slice");
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        bool inside = x->tick >= n->first && x->tick <= n->last;
        loads += x->stay == buffer && x->kind == LX_LOAD && inside;
        if (x->source == buffer || (x->stay == buffer && (x->kind != LX_LOAD || !inside)))
            return stages_refused(c, buffer, "another copy reads or writes it");
        if (x->kind == LX_STORE && p->stays[x->stay].tensor == s->tensor && inside)
            return stages_refused(c, buffer, "its tensor is stored in the nest");
    }
    if (loads != 1) return stages_refused(c, buffer, "not one load fills it");
    for (int32_t a = p->access_at[n->first]; a < p->access_at[n->last + 1]; a++)
        if (p->accesses[a].writes && p->accesses[a].tensor == s->tensor)
            return stages_refused(c, buffer, "its tensor is written in the nest");
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->took_slot_of[i] == buffer || (i == buffer && p->took_slot_of[i] >= 0))
            return stages_refused(c, buffer, "its place is handed over");
    return true;
}

bool check_issues(const struct checker *c)
{
    for (int32_t i = 0; i < c->p->transfer_count; i++) {
        const struct lx_transfer *x = &c->p->transfers[i];
        struct underway u = {c, x, &c->p->stays[x->stay], c->p->problem.buffers[x->stay].name,
                             lx_issue_tick(x)};
        if (x->ahead != 0 && (!issue_place_right(&u) || !issue_left_alone(&u))) return false;
    }
    for (int32_t i = 0; i < c->p->problem.count; i++)
        if (c->p->stays[i].stages > 1 && !stages_right(c, i)) return false;
    return true;
}
