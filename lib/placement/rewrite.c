/* The rewriting of a problem, step by step, and the way back. */
#include "placement/rewrite.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool is_plain(const struct lx_problem *p)
{
    unsigned needs = lx_problem_needs(p);
    if (p->pool_count) return false;
    return p->objective == LX_SPILL ? (needs & ~(unsigned)(LX_CAN_CHARGES | LX_CAN_MUST)) == 0 : needs == 0;
}

/* Notes that no legal answer exists; true, because memory is not out. */
bool never(struct rewrite *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!w->impossible) vsnprintf(w->why, sizeof w->why, format, args);
    va_end(args);
    w->impossible = true;
    return true;
}

void rewrite_make(struct rewrite *w, const struct lx_problem *p)
{
    struct lx_charge *charges = NULL;
    int32_t count = 0;
    *w = (struct rewrite){.p = p};
    exclusive_sorted(p, &w->exclusive);
    make_blocks(w);
    fix_states(w);
    if (w->impossible) return;
    shorten_charges(w, &charges, &count);
    if (!w->impossible) make_parts(w, charges, count);
}

void rewrite_free(struct rewrite *w)
{
    mem_free(w->exclusive.at);
    mem_free(w->block);
    arena_free(&w->memory);
}

void rewrite_places(const struct rewrite *w, const struct part *part, const int64_t *address,
                    const int32_t *part_pool, int64_t *out, int32_t *pool)
{
    for (int32_t i = 0; i < part->problem.count; i++)
        for (int32_t m = part->block[i]; m >= 0; m = w->next[m]) {
            out[m] = address[i];
            if (pool) pool[m] = part->pool[address[i] >= 0 && part_pool ? part_pool[i] : 0];
        }
}
