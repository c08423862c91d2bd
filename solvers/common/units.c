/* Union-find with signs over groups and staging pairs. */
#include "common/units.h"
#include "base/memory.h"

#include <stdlib.h>

struct signs {
    int32_t *up;
    bool *flip; /* against what stands above */
};

static int32_t units_find_root(const struct signs *s, int32_t i, bool *flip)
{
    *flip = false;
    for (; s->up[i] != i; i = s->up[i]) *flip ^= s->flip[i];
    return i;
}

/* The larger root goes below the smaller; paths stay short enough because each is hung up directly. */
static void tie(struct signs *s, int32_t a, int32_t b, bool opposed)
{
    bool flip_a, flip_b;
    int32_t x = units_find_root(s, a, &flip_a), y = units_find_root(s, b, &flip_b);
    if (x == y) return;
    bool flip = flip_a ^ flip_b ^ opposed;
    int32_t above = x < y ? x : y, below = x < y ? y : x;
    s->up[below] = above;
    s->flip[below] = flip;
}

/* State 1 is the one in which owners are on: a staging buffer that has the least number is `against` it. */
static void units_list_members(struct units *u, const struct lx_problem *p, const struct signs *s,
                               bool *turned)
{
    for (int32_t i = 0; i < p->bonds.staging_count; i++) {
        int32_t a = p->bonds.staging[i].a;
        turned[s->up[a]] = !s->flip[a];
    }
    for (int32_t i = 0; i < p->count; i++)
        if (s->up[i] == i) u->of[i] = u->count++;
    for (int32_t i = 0; i < p->count; i++) {
        u->of[i] = u->of[s->up[i]];
        u->first[u->of[i] + 1]++;
    }
    for (int32_t k = 0; k < u->count; k++) u->first[k + 1] += u->first[k];
    for (int32_t i = p->count; i-- > 0;) {
        int32_t at = --u->first[u->of[i] + 1];
        u->member[at] = i;
        u->against[at] = s->flip[i] ^ turned[s->up[i]];
    }
    for (int32_t k = 0; k < u->count; k++) u->first[k] = u->first[k + 1];
    u->first[u->count] = p->count;
}

void units_make(struct units *u, const struct lx_problem *p)
{
    size_t n = (size_t)p->count + 2;
    struct signs s = {mem_alloc(n * sizeof *s.up), mem_zeroed(n, sizeof *s.flip)};
    bool *turned = mem_zeroed(n, sizeof *turned);
    *u = (struct units){.first = mem_zeroed(n, sizeof *u->first),
                        .member = mem_alloc(n * sizeof *u->member),
                        .against = mem_alloc(n * sizeof *u->against),
                        .of = mem_alloc(n * sizeof *u->of)};
    for (int32_t i = 0; i < p->count; i++) s.up[i] = i;
    for (int32_t i = 0; i < p->bonds.together_count; i++)
        for (int32_t k = 1; k < p->bonds.together[i].count; k++)
            tie(&s, p->bonds.together[i].at[0], p->bonds.together[i].at[k], false);
    for (int32_t i = 0; i < p->bonds.staging_count; i++)
        tie(&s, p->bonds.staging[i].b, p->bonds.staging[i].a, true);
    for (int32_t i = 0; i < p->count; i++) {
        bool flip;
        int32_t root = units_find_root(&s, i, &flip);
        if (root == i) continue;
        s.up[i] = root; /* lower numbers are flat already */
        s.flip[i] = flip;
    }
    units_list_members(u, p, &s, turned);
    mem_free(s.up);
    mem_free(s.flip);
    mem_free(turned);
}

void units_free(struct units *u)
{
    mem_free(u->first);
    mem_free(u->member);
    mem_free(u->against);
    mem_free(u->of);
}
