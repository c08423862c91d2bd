/* Is every element of the output computed exactly once? Checked with one bit per element and part of the sum,
 * without the computed numbers. The parts of a split sum must make up the whole sum, and each part the whole
 * output.
 *
 * Sizes: a megabyte of bits per 8 million elements and part; a right plan has at most as many parts as
 * cores. */
#include "device/execute/execute.h"

enum { MOST_GROUPS = 4096, WORD = 64 };

struct coverage {
    struct op_work *w;
    int rank; /* of the output */
    int var[LX_MAX_RANK];
    int64_t elements, words;
    uint64_t *bits;  /* of all groups */
    size_t *leader;  /* per group: its first strip */
    int64_t *before; /* per group: the number of groups whose part of the sum comes first */
};

/* Compares two parts of a sum: the same, overlapping, and which begins first (-1: `a`). */
static int compare_sums(const struct op_index *x, const struct strip *a, const struct strip *b, bool *same,
                        bool *meet)
{
    int order = 0;
    *same = *meet = true;
    for (int v = 0; v < x->var_count; v++) {
        if (!op_index_reduced(x, v)) continue;
        *same &= a->from[v] == b->from[v] && a->to[v] == b->to[v];
        *meet &= a->to[v] > b->from[v] && b->to[v] > a->from[v];
        if (order == 0) order = (a->from[v] > b->from[v]) - (a->from[v] < b->from[v]);
    }
    return order;
}

static void fault(struct op_work *w, enum lx_fault_kind kind, int64_t count, const char *what)
{
    fault_plain(w->m, kind, NULL, "%lld %s", (long long)count, what);
}

/* Numbers the group of each strip. False: there are too many. */
static bool number_groups(struct coverage *c)
{
    struct op_work *w = c->w;
    w->groups = 0;
    for (size_t i = 0; i < w->strip_count; i++) {
        int32_t g = w->groups; /* neighbours are usually in one group */
        bool same = false, meet;
        for (; g > 0; g--) {
            compare_sums(&w->x, &w->strip[i].strip, &w->strip[c->leader[g - 1]].strip, &same, &meet);
            if (same) break;
        }
        if (g == 0 && w->groups == MOST_GROUPS) return false;
        if (g == 0) c->leader[g = w->groups++] = i, g++;
        w->strip[i].group = g - 1;
    }
    /* Groups are ordered by the begin of their part of the sum. */
    bool same, meet;
    for (int32_t g = 0; g < w->groups; g++) {
        c->before[g] = 0;
        for (int32_t h = 0; h < w->groups; h++)
            c->before[g] += compare_sums(&w->x, &w->strip[c->leader[h]].strip, &w->strip[c->leader[g]].strip,
                                         &same, &meet) < 0;
    }
    return true;
}

/* Do the parts make up the sum exactly? */
static bool check_sums(const struct coverage *c)
{
    struct op_work *w = c->w;
    int64_t left = 1, meet = 0;
    for (int v = 0; v < w->x.var_count; v++)
        if (op_index_summed(&w->x, v)) left *= w->x.extent[v];
    for (int32_t g = 0; g < w->groups; g++) {
        const struct strip *a = &w->strip[c->leader[g]].strip;
        int64_t n = 1;
        for (int v = 0; v < w->x.var_count; v++)
            if (op_index_summed(&w->x, v)) n *= a->to[v] - a->from[v];
        left -= n;
        for (int32_t h = 0; h < g; h++) {
            bool same, overlap;
            compare_sums(&w->x, a, &w->strip[c->leader[h]].strip, &same, &overlap);
            meet += overlap;
        }
    }
    if (meet > 0) fault(w, LX_FAULT_TWICE, meet, "parts of the sum are added twice");
    if (meet == 0 && left > 0) fault(w, LX_FAULT_NEVER, left, "terms of the sum are never added");
    return meet == 0 && left == 0;
}

/* Sets bits [from, to) and counts the bits that were set already. */
static int64_t mark_run(uint64_t *bits, int64_t from, int64_t to)
{
    int64_t again = 0;
    while (from < to) {
        int64_t word = from / WORD, low = from % WORD, n = min_i64(WORD - low, to - from);
        uint64_t mask = (n == WORD ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << low;
        again += __builtin_popcountll(bits[word] & mask);
        bits[word] |= mask;
        from += n;
    }
    return again;
}

static int64_t mark_strip(const struct coverage *c, const struct strip_work *s)
{
    uint64_t *bits = c->bits + c->words * s->group;
    int64_t at[LX_MAX_RANK], stride[LX_MAX_RANK], n = 1, again = 0;
    int inner = c->rank - 1;
    if (c->rank == 0) return mark_run(bits, 0, 1);
    for (int d = inner; d >= 0; d--) {
        stride[d] = n;
        n *= c->w->x.extent[c->var[d]];
        at[d] = s->strip.from[c->var[d]];
    }
    for (;;) {
        int64_t begin = 0;
        for (int d = 0; d < inner; d++) begin += at[d] * stride[d];
        again += mark_run(bits, begin + s->strip.from[c->var[inner]], begin + s->strip.to[c->var[inner]]);
        int d = inner - 1;
        for (; d >= 0 && ++at[d] == s->strip.to[c->var[d]]; d--) at[d] = s->strip.from[c->var[d]];
        if (d < 0) return again;
    }
}

void check_coverage(struct op_work *w)
{
    struct coverage c = {.w = w, .rank = w->x.rank[w->out], .elements = 1};
    for (int d = 0; d < c.rank; d++) {
        c.var[d] = w->x.var[w->out][d];
        c.elements *= w->x.extent[c.var[d]];
    }
    c.words = c.elements / WORD + 1;
    c.leader = mem_zeroed(MOST_GROUPS, sizeof *c.leader);
    c.before = mem_zeroed(MOST_GROUPS, sizeof *c.before);
    if (!number_groups(&c)) {
        fault(w, LX_FAULT_TWICE, w->groups, "parts of one sum, which cannot be its parts");
        w->strip_count = 0;
    } else if (w->strip_count > 0 && !check_sums(&c)) {
        w->strip_count = 0;
    } else {
        c.bits = mem_zeroed((size_t)(c.words * max_i64(w->groups, 1)), sizeof *c.bits);
        int64_t twice = 0, never = w->groups ? 0 : c.elements;
        for (size_t i = 0; i < w->strip_count; i++) twice += mark_strip(&c, &w->strip[i]);
        for (int32_t g = 0; g < w->groups; g++) {
            never += c.elements;
            for (int64_t i = 0; i < c.words; i++) never -= __builtin_popcountll(c.bits[c.words * g + i]);
        }
        if (twice > 0) fault(w, LX_FAULT_TWICE, twice, "elements are computed twice");
        if (never > 0) fault(w, LX_FAULT_NEVER, never, "elements are never computed");
        w->shared = twice > 0 || never > 0;
    }
    for (size_t i = 0; i < w->strip_count; i++) w->strip[i].group = (int32_t)c.before[w->strip[i].group];
    mem_free(c.bits);
    mem_free(c.leader);
    mem_free(c.before);
}
