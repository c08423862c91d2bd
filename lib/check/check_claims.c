/* What a plan tells of its buffers beyond what it needs to run, on chip or off: their names, how long they
 * live, what an op sees of them, where they are filled from, whose place they could take, what they cost off
 * chip. All of it follows from who is served by which buffer, and is compared with that; only the words of
 * `reason` are the maker's own.
 *
 * A buffer that serves an access has the view of one such; one that serves none tells why an access has no
 * other. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

/* Per buffer, by the accesses. */
struct told {
    int32_t first, last;   /* ticks at which anybody needs it, both included; -1: none */
    int32_t begin;         /* the first access that it serves, or -1 */
    bool viewed;           /* its view is that of an access that it serves */
    int32_t from;          /* the buffer that it is filled from by a ring copy or a move, or -1 */
    int32_t nth;           /* of its tensor, from 0 on */
    const char *base_name; /* of its tensor */
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

static bool check_claims_placed(const struct telling *t, int32_t buffer)
{
    return t->c->p->answer.address[buffer] >= 0;
}

static void need(struct told *of, int64_t from, int64_t to)
{
    if (of->first < 0 || from < of->first) of->first = (int32_t)from;
    if (to > of->last) of->last = (int32_t)to;
}

/* A slice of the innermost level is there from use to use, anything else while all of the nest runs. */
static void need_access(struct telling *t, int32_t op, int32_t access)
{
    const struct checker *c = t->c;
    int32_t i = c->p->accesses[access].stay;
    const struct lx_nest *n = loops_of(c, op);
    const struct lx_stay *s = i < 0 ? NULL : &c->p->stays[i];
    t->used[c->p->accesses[access].tensor] = true;
    if (!s) return;
    if (t->of[i].begin < 0) t->of[i].begin = access;
    t->of[i].viewed |= s->view_op == op && s->view_operand == access - c->p->access_at[op];
    if (n && s->hold < n->level_count)
        need(&t->of[i], n->first, n->last);
    else
        need(&t->of[i], op, op);
}

/* The source of a copy is there until that is made, whether it could be made or not; of a move up to the
 * tick before. */
static void need_copies(struct telling *t)
{
    const struct lx_plan *p = t->c->p;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        need(&t->of[x->stay], x->tick, x->tick);
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
        for (int32_t a = c->p->access_at[o]; a < c->p->access_at[o + 1]; a++) need_access(t, o, a);
    need_copies(t);
}

/* The tensor's name, of further ones with `#` and a number from 2 on; of what a move made that of its
 * source, and `@` with the tick. Who leaves it out has the tensor's. */
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

/* Of what serves nobody: why an access has no other buffer, told at its first op. */
static bool idle_right(const struct telling *t, int32_t i)
{
    const struct checker *c = t->c;
    const struct lx_stay *s = &c->p->stays[i];
    const struct lx_buffer *b = &c->p->problem.buffers[i];
    if (!t->used[s->tensor])
        return (!s->bar || s->bar == LX_BAR_UNUSED) && b->start == 0 && b->end == 1 &&
                       b->size == whole_bytes(c, s->tensor) && s->view_op == 0 && s->view_operand == 0 &&
                       s->first == 0 && s->last == 0
                   ? true
                   : deny(t, i, "is of a tensor that no op uses, but tells of uses");
    const struct lx_access *a = &c->p->accesses[c->p->access_at[s->view_op] + s->view_operand];
    if (s->first == s->view_op && s->last == s->view_op && b->start == s->first && b->end == s->first + 1 &&
        a->tensor == s->tensor && a->stay < 0 && s->bar &&
        b->size == part_bytes(c, s->tensor, &t->parts[i]) && s->begins_written == (a->writes && !a->reads))
        return true;
    return deny(t, i, "serves no access, and tells of none that nothing serves");
}

/* Its size is checked where it is on chip; off chip it tells what would have been there. */
static bool part_right(const struct telling *t, int32_t i)
{
    const struct checker *c = t->c;
    const struct lx_stay *s = &c->p->stays[i];
    if (check_claims_placed(t, i)) return true;
    if (!t->of[i].viewed) return deny(t, i, "has the view of an access that it does not serve");
    if (c->p->problem.buffers[i].size == part_bytes(c, s->tensor, &t->parts[i])) return true;
    return deny(t, i, "is off chip and tells of another size than a core's part of it has");
}

static bool begin_right(const struct telling *t, int32_t i)
{
    const struct checker *c = t->c;
    const struct lx_access *a = &c->p->accesses[t->of[i].begin];
    bool written = a->writes && !a->reads && c->p->stays[i].moved_from < 0;
    if (c->p->stays[i].begins_written == written) return true;
    return deny(t, i,
                written ? "begins with a write, which the plan denies"
                        : "is said to begin with a write, but begins with what it had");
}

/* From one move to the next a buffer may serve nobody: its first and last op are those of its life. */
static bool passing_right(const struct telling *t, int32_t i)
{
    const struct lx_stay *s = &t->c->p->stays[i];
    const struct lx_buffer *b = &t->c->p->problem.buffers[i];
    if (s->first == b->start && s->last == b->end - 1) return true;
    return deny(t, i, "serves no access, but tells of some");
}

/* A source is of the same tensor, was there before, and is used where both are on chip; a relayout has none
 * behind it. */
static bool source_right(const struct telling *t, int32_t i, int32_t source)
{
    const struct lx_plan *p = t->c->p;
    const struct lx_buffer *b = p->problem.buffers;
    const struct lx_stay *s = &p->stays[i];
    if (source < 0) return true;
    if (p->stays[source].tensor != s->tensor || b[source].start > b[i].start || source == i ||
        (source == s->moved_from ? b[source].start == b[i].start : p->stays[source].ring_source >= 0))
        return deny(t, i, "names a buffer that it is filled from, which cannot be");
    if (!check_claims_placed(t, i) || !check_claims_placed(t, source) || t->of[i].from == source) return true;
    return deny(t, i, "names a buffer that it is filled from, and is not");
}

static bool parents_right(const struct telling *t, int32_t i)
{
    const struct lx_buffer *b = &t->c->p->problem.buffers[i];
    for (int32_t k = 0; k < b->parent_count; k++)
        if (t->c->p->stays[b->parents[k]].bar || !may_take_place(t->c, i, b->parents[k], t->parts))
            return deny(t, i, "names a buffer whose place it may take, which it may not");
    return true;
}

bool check_claims(const struct checker *c, const struct parts *parts)
{
    struct telling t = {.c = c, .parts = parts};
    check_claims_look(&t);
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        if (!name_right(&t, i)) return false;
        /* What is on chip has no reason not to be. */
        const struct lx_plan *p = t.c->p;
        if (!(check_claims_placed(&t, i) ? !p->stays[i].bar
                                         : !p->stays[i].bar || p->problem.buffers[i].spill_cost == 0))
            return deny(&t, i, "may not be on chip, as the plan says, and is, or would save bytes there");
        if (t.of[i].first < 0 && !check_claims_placed(&t, i)) {
            if (!idle_right(&t, i)) return false;
            continue;
        }
        const struct told *of = &t.of[i];
        const struct lx_buffer *b = &t.c->p->problem.buffers[i];
        if (b->start != of->first || b->end != of->last + 1)
            return status_set(
                t.c->st, LX_E_NO, "buffer %s lives on the ticks %lld to %lld, but is needed from %d to %d",
                b->name, (long long)b->start, (long long)b->end - 1, (int)of->first, (int)of->last);
        if (!source_right(&t, i, c->p->stays[i].ring_source) ||
            !source_right(&t, i, c->p->stays[i].moved_from) || !parents_right(&t, i))
            return false;
        if (t.of[i].begin < 0 ? !passing_right(&t, i) : !part_right(&t, i) || !begin_right(&t, i))
            return false;
    }
    return true;
}
