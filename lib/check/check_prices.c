/* What a buffer costs off chip, beside what it costs on chip, in bytes: all its accesses, less the load that
 * fills it and the stores of what it writes, where these are needed whatever else is on chip. What may not
 * be on chip costs nothing. A buffer that a move made is one with the buffer it comes from, and the cost
 * stands there. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"

struct pricing {
    const struct checker *c;
    int32_t *access, *at; /* per tensor, in order of time: its accesses */
    int32_t *op;          /* per access */
    int64_t *off, *on;    /* per buffer */
};

/* The buffer that would serve an access, or -1. */
static int32_t check_prices_server(const struct pricing *p, int32_t access)
{
    const struct lx_stay *stays = p->c->p->stays;
    int32_t i = p->c->p->accesses[access].stay;
    while (i >= 0 && stays[i].moved_from >= 0) i = stays[i].moved_from;
    return i >= 0 && !stays[i].bar ? i : -1;
}

static void check_prices_list_accesses(struct pricing *p)
{
    const struct lx_plan *plan = p->c->p;
    int32_t tensors = p->c->g->tensor_count, ops = p->c->g->op_count, count = plan->access_at[ops], *next;
    p->at = arena_array(p->c->memory, (size_t)tensors + 1, sizeof *p->at);
    p->access = arena_array(p->c->memory, (size_t)count, sizeof *p->access);
    p->op = arena_array(p->c->memory, (size_t)count, sizeof *p->op);
    next = arena_array(p->c->memory, (size_t)tensors, sizeof *next);
    for (int32_t a = 0; a < count; a++) p->at[plan->accesses[a].tensor + 1]++;
    for (int32_t t = 0; t < tensors; t++) next[t] = p->at[t + 1] += p->at[t];
    for (int32_t t = 0; t < tensors; t++) next[t] = p->at[t];
    for (int32_t o = 0; o < ops; o++)
        for (int32_t a = plan->access_at[o]; a < plan->access_at[o + 1]; a++) {
            p->op[a] = o;
            p->access[next[plan->accesses[a].tensor]++] = a;
        }
}

/* Does the buffer begin with this access, and need what HBM has? */
static bool begins_loaded(const struct pricing *p, int32_t buffer, int32_t access)
{
    const struct lx_stay *s = &p->c->p->stays[buffer];
    if (s->first != p->op[access] || s->begins_written) return false;
    return s->ring_source < 0 || p->c->p->stays[s->ring_source].bar;
}

/* Must HBM have what access number k of the tensor writes, whatever is on chip? */
static bool leaves(const struct pricing *p, int32_t tensor, int32_t k, int32_t writer)
{
    for (int32_t i = k + 1; i < p->at[tensor + 1]; i++) {
        const struct lx_access *a = &p->c->p->accesses[p->access[i]];
        int32_t reader = check_prices_server(p, p->access[i]);
        if (a->reads && reader != writer && (reader < 0 || begins_loaded(p, reader, p->access[i])))
            return true;
        if (a->writes) return false;
    }
    return lx_role_leaves(p->c->g->tensors[tensor].role);
}

/* Stores of what an access writes; a sum of parts that come and go is loaded, too. */
static int64_t check_prices_store_bytes(const struct pricing *p, int32_t tensor, int32_t k, int32_t writer)
{
    const struct lx_stay *s = &p->c->p->stays[writer];
    const struct lx_nest *n = loops_of(p->c, s->view_op);
    int64_t parts = n ? loop_count(n, looped_in(p->c, n, tensor).summed & loops_to(s->hold)) : 1;
    if (parts > 1) return whole_bytes(p->c, tensor) * (2 * parts - 1);
    return leaves(p, tensor, k, writer) ? whole_bytes(p->c, tensor) : 0;
}

bool check_prices(const struct checker *c)
{
    struct pricing p = {.c = c};
    size_t count = (size_t)c->p->problem.count;
    p.off = arena_array(c->memory, count, sizeof *p.off);
    p.on = arena_array(c->memory, count, sizeof *p.on);
    check_prices_list_accesses(&p);
    for (int32_t t = 0; t < c->g->tensor_count; t++) {
        const struct lx_plan *plan = p.c->p;
        for (int32_t k = p.at[t]; k < p.at[t + 1]; k++) {
            const struct lx_access *a = &plan->accesses[p.access[k]];
            int32_t by = check_prices_server(&p, p.access[k]);
            if (by < 0) continue;
            if (p.off[by] == 0 && begins_loaded(&p, by, p.access[k])) {
                const struct lx_stay *s = &p.c->p->stays[by];
                const struct lx_nest *n = loops_of(p.c, s->view_op);
                int64_t times =
                    n ? loop_count(n, loops_to(s->hold) & ~looped_in(p.c, n, s->tensor).indexed) : 1;
                p.on[by] += whole_bytes(p.c, s->tensor) * times;
            }
            p.off[by] += a->bytes;
            if (a->writes) p.on[by] += check_prices_store_bytes(&p, t, k, by);
        }
    }
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        int64_t told = c->p->problem.buffers[i].spill_cost, cost = max_i64(p.off[i] - p.on[i], 0);
        if (told == cost || told == 0) continue; /* 0: left out */
        return status_set(c->st, LX_E_NO, "buffer %s costs %lld bytes off chip, not %lld",
                          c->p->problem.buffers[i].name, (long long)cost, (long long)told);
    }
    return true;
}
