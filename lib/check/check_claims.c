/* Claims about buffers, on chip or off, beyond the needs of a run: names, lives, views, sources, possible
 * handovers, costs off chip. They all follow from the buffer of each access and are compared with it; only
 * the words of `reason` are the maker's own.
 *
 * A buffer that serves accesses has the view of one of them; a buffer that serves none gives the reason of an
 * access without a buffer. */
#include "check/check.h"

/* Facts about a buffer, derived from the accesses. */
struct told {
    int32_t first, last;   /* ticks at which it is needed, both included; -1: none */
    int32_t begin;         /* the first access that it serves, or -1 */
    bool viewed;           /* it has the view of an access that it serves */
    int32_t from;          /* the source of its ring copy or move, or -1 */
    int32_t nth;           /* its number among the tensor's buffers, from 0 on */
    const char *base_name; /* the tensor's name */
};

struct telling {
    const struct checker *c;
    const struct parts *parts;
    struct told *of;
    bool *used; /* per tensor: some op accesses it */
};

static bool deny(const struct telling *t, int32_t buffer, const char *why)
{
    return status_set(t->c->st, LX_E_NO, "buffer %s %s", t->c->p->problem.buffers[buffer].name, why);
}

static void need(struct told *of, int64_t from, int64_t to)
{
    if (of->first < 0 || from < of->first) of->first = (int32_t)from;
    if (to > of->last) of->last = (int32_t)to;
}

/* Sources stay until their copies are made, whether these could be made or not; sources of moves up to the
 * tick before. */
static void need_copies(struct telling *t)
{
    const struct lx_plan *p = t->c->p;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        need(&t->of[x->stay], lx_issue_tick(x), x->tick);
        if (!lx_through_hbm(x->kind)) t->of[x->stay].from = x->source;
        if (x->kind == LX_RING) need(&t->of[x->source], x->tick, x->tick);
        if (x->kind == LX_MOVE) need(&t->of[x->source], x->tick - 1, x->tick - 1);
    }
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_stay *s = &p->stays[i];
        if (s->ring_source >= 0) need(&t->of[s->ring_source], s->first, s->first);
        if (s->moved_from >= 0) {
            need(&t->of[s->moved_from], p->problem.buffers[i].start - 1, p->problem.buffers[i].start - 1);
            need(&t->of[i], p->problem.buffers[i].start, p->problem.buffers[i].start);
        }
    }
}

static void check_claims_look(struct telling *t)
{
    const struct checker *c = t->c;
    int32_t count = c->p->problem.count, *seen;
    t->of = arena_array(c->memory, (size_t)count, sizeof *t->of);
    t->used = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof *t->used);
    seen = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof *seen);
    for (int32_t i = 0; i < count; i++) {
        int32_t tensor = c->p->stays[i].tensor;
        t->of[i] = (struct told){.first = -1,
                                 .last = -1,
                                 .begin = -1,
                                 .from = -1,
                                 .nth = seen[tensor]++,
                                 .base_name = c->g->tensors[tensor].name};
    }
    for (int32_t o = 0; o < c->g->op_count; o++)
        for (int32_t a = c->p->access_at[o]; a < c->p->access_at[o + 1]; a++) {
            /* A slice of the innermost level lives from use to use, any other stay as long as its nest. */
            int32_t i = c->p->accesses[a].stay;
            const struct lx_nest *n = loops_of(c, o);
            t->used[c->p->accesses[a].tensor] = true;
            if (i < 0) continue;
            const struct lx_stay *s = &c->p->stays[i];
            if (t->of[i].begin < 0) t->of[i].begin = a;
            t->of[i].viewed |= s->view_op == o && s->view_operand == a - c->p->access_at[o];
            bool whole_nest = n && (s->hold < n->level_count || s->stages > 1);
            need(&t->of[i], whole_nest ? n->first : o, whole_nest ? n->last : o);
        }
    need_copies(t);
}

/* Right names: the tensor's name; further buffers of the tensor add `#` and a number from 2 on; the result of
 * a move has its source's name, `@` and the tick. The tensor's name alone is right, too. */
static bool name_right(const struct telling *t, int32_t i)
{
    const struct lx_buffer *b = t->c->p->problem.buffers;
    int32_t source = t->c->p->stays[i].moved_from;
    const char *stem = source >= 0 ? b[source].name : t->of[i].base_name;
    size_t length = strlen(stem);
    char behind[32] = "";
    if (source >= 0)
        snprintf(behind, sizeof behind, "@%lld", (long long)b[i].start);
    else if (t->of[i].nth > 0)
        snprintf(behind, sizeof behind, "#%d", (int)t->of[i].nth + 1);
    if (strcmp(b[i].name, t->of[i].base_name) == 0) return true;
    if (strncmp(b[i].name, stem, length) == 0 && strcmp(b[i].name + length, behind) == 0) return true;
    return deny(t, i,
                "has neither the name of its tensor nor that with its number among those of the tensor");
}

/* A buffer that serves no access: does it give the first op of an access without a buffer? */
static bool idle_right(const struct telling *t, int32_t i)
{
    const struct checker *c = t->c;
    const struct lx_stay *s = &c->p->stays[i];
    const struct lx_buffer *b = &c->p->problem.buffers[i];
    if (!t->used[s->tensor])
        return (!s->exclusion || s->exclusion == LX_EXCLUDED_UNUSED) && b->start == 0 && b->end == 1 &&
                       b->size == whole_bytes(c, s->tensor) && s->view_op == 0 && s->view_operand == 0 &&
                       s->first == 0 && s->last == 0
                   ? true
                   : deny(t, i, "is of a tensor that no op uses, but tells of uses");
    const struct lx_access *a = &c->p->accesses[c->p->access_at[s->view_op] + s->view_operand];
    if (s->first == s->view_op && s->last == s->view_op && b->start == s->first && b->end == s->first + 1 &&
        a->tensor == s->tensor && a->stay < 0 && b->size == part_bytes(c, s->tensor, &t->parts[i]) &&
        s->begins_written == (a->writes && !a->reads))
        return true;
    return deny(t, i, "serves no access, and tells of none that nothing serves");
}

/* A source has the same tensor, began before, and is used if both are on chip; the source of a relayout has
 * no source itself. */
static bool source_right(const struct telling *t, int32_t i, int32_t source)
{
    const struct lx_plan *p = t->c->p;
    const struct lx_buffer *b = p->problem.buffers;
    const struct lx_stay *s = &p->stays[i];
    int64_t begin = max_i64(b[i].start, s->first); /* it may be loaded early, if the source is not there */
    if (source < 0) return true;
    if (p->stays[source].tensor != s->tensor || b[source].start > begin || source == i ||
        (source == s->moved_from ? b[source].start == b[i].start : p->stays[source].ring_source >= 0))
        return deny(t, i, "names a buffer that it is filled from, which cannot be");
    if (t->c->p->answer.address[i] < 0 || t->c->p->answer.address[source] < 0 || t->of[i].from == source)
        return true;
    return deny(t, i, "names a buffer that it is filled from, and is not");
}

bool check_claims(const struct checker *c, const struct parts *parts)
{
    struct telling t = {.c = c, .parts = parts};
    check_claims_look(&t);
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        if (!name_right(&t, i)) return false;

        const struct lx_plan *p = c->p;
        bool placed = p->answer.address[i] >= 0;
        if (p->stays[i].exclusion && (placed || p->problem.buffers[i].spill_cost != 0))
            return deny(&t, i, "may not be on chip, as the plan says, and is, or would save bytes there");
        if (t.of[i].first < 0 && !placed) {
            if (!idle_right(&t, i)) return false;
            continue;
        }
        const struct told *of = &t.of[i];
        const struct lx_buffer *b = &p->problem.buffers[i];
        const struct lx_stay *s = &p->stays[i];
        if (b->start != of->first || b->end != of->last + 1)
            return status_set(
                t.c->st, LX_E_NO, "buffer %s lives on the ticks %lld to %lld, but is needed from %d to %d",
                b->name, (long long)b->start, (long long)b->end - 1, (int)of->first, (int)of->last);
        if (!source_right(&t, i, s->ring_source) || !source_right(&t, i, s->moved_from)) return false;
        for (int32_t k = 0; k < b->parent_count; k++)
            if (p->stays[b->parents[k]].exclusion || !may_take_place(c, i, b->parents[k], parts))
                return deny(&t, i, "names a buffer whose place it may take, which it may not");
        if (of->begin < 0) {
            /* Between two moves a buffer may serve no access: its first and last op are those of its life. */
            if (s->first == b->start && s->last == b->end - 1) continue;
            return deny(&t, i, "serves no access, but tells of some");
        }
        /* check_buffers checks the size on chip. */
        if (!placed && !of->viewed) return deny(&t, i, "has the view of an access that it does not serve");
        if (!placed && b->size != part_bytes(c, s->tensor, &parts[i]))
            return deny(&t, i, "is off chip and tells of another size than a core's part of it has");
        const struct lx_access *a = &p->accesses[of->begin];
        bool written = a->writes && !a->reads && s->moved_from < 0;
        if (s->begins_written != written)
            return deny(&t, i,
                        written ? "begins with a write, which the plan denies"
                                : "is said to begin with a write, but begins with what it had");
    }
    return true;
}

/* Bytes that a buffer costs off chip more than on chip: all its accesses, less the load that fills it and the
 * stores of its writes, where these are needed whatever else is on chip. A barred buffer costs nothing. A
 * buffer made by a move shares the cost of its source, which states it. */

struct pricing {
    const struct checker *c;
    int32_t *access, *at; /* per tensor: its accesses, in order of time */
    int32_t *op;          /* per access */
    int64_t *off, *on;    /* per buffer */
};

/* The buffer that would serve an access, or -1; for a moved buffer the first of the chain. */
static int32_t check_prices_server(const struct pricing *p, int32_t access)
{
    const struct lx_stay *stays = p->c->p->stays;
    int32_t i = p->c->p->accesses[access].stay;
    while (i >= 0 && stays[i].moved_from >= 0) i = stays[i].moved_from;
    return i >= 0 && !stays[i].exclusion ? i : -1;
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

/* Does the buffer begin with this access, filled from HBM? */
static bool begins_loaded(const struct pricing *p, int32_t buffer, int32_t access)
{
    const struct lx_stay *s = &p->c->p->stays[buffer];
    if (s->first != p->op[access] || s->begins_written) return false;
    return s->ring_source < 0 || p->c->p->stays[s->ring_source].exclusion;
}

/* Must HBM have the value that access number k of the tensor writes, whatever is on chip? */
static bool check_prices_leaves(const struct pricing *p, int32_t tensor, int32_t k, int32_t writer)
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
            if (!a->writes) continue;
            /* Stores of the written value; partial sums are loaded, too. */
            const struct lx_stay *s = &plan->stays[by];
            const struct lx_nest *n = loops_of(c, s->view_op);
            int64_t parts = n ? loop_count(n, looped_in(c, n, t).summed & loops_to(s->hold)) : 1;
            if (parts > 1)
                p.on[by] += whole_bytes(c, t) * (2 * parts - 1);
            else if (check_prices_leaves(&p, t, k, by))
                p.on[by] += whole_bytes(c, t);
        }
    }
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        int64_t told = c->p->problem.buffers[i].spill_cost, cost = max_i64(p.off[i] - p.on[i], 0);
        /* Off chip it may be barred, which nobody has to say; then it costs nothing. */
        bool unsaid = c->p->stays[i].cost_unstated || (told == 0 && c->p->answer.address[i] < 0);
        if (told == cost || unsaid) continue;
        return status_set(c->st, LX_E_NO, "buffer %s costs %lld bytes off chip, not %lld",
                          c->p->problem.buffers[i].name, (long long)cost, (long long)told);
    }
    return true;
}
