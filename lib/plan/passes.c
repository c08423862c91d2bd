/* The table of passes: what can be switched, in files, on command lines and on screens. */
#include "plan/plan.h"

#include <stddef.h>
#include <string.h>

static const char *const clone_words[] = {"auto", "heuristic", "none", NULL};
static const char *const matmul_words[] = {"cost", "rule", NULL};
static const char *const cooptimise_words[] = {"none", "flip", "full", NULL};
static const char *const stage_words[] = {"all", "baseline", "reductions", "in-place", NULL};

#define SWITCH(field) (unsigned)offsetof(struct lx_passes, field)

static const struct lx_pass table[] = {
    {"undivided", "undivided", NULL, "every op on one core: nothing is divided", SWITCH(undivided)},
    {"matmul", "matmul", matmul_words,
     "how a contraction is divided: cost (default), least predicted time; rule, the documented one: batch, M "
     "and "
     "N by size, K last",
     SWITCH(matmul)},
    {"cooptimise", "cooptimise", cooptimise_words,
     "choose divisions and placement together: full is ours, flip the documented search, none (default)",
     SWITCH(cooptimise)},
    {"by_time", "by-time", NULL,
     "co-optimise predicted time (as --objective time does); else traffic, then time", SWITCH(by_time)},
    {"clone", "clone", clone_words,
     "copies of graph inputs on chip: auto (default), the solver decides; heuristic, all that are read more "
     "than once and fit; none",
     SWITCH(clone)},
    {"no_outputs", "no-outputs", NULL, "never produce a graph output on chip", SWITCH(no_outputs)},
    {"no_in_place", "no-in-place", NULL, "no op writes over an input that dies with it", SWITCH(no_in_place)},
    {"no_dump", "no-dump", NULL,
     "keep off chip what an extern op would wipe, instead of dumping it around the call", SWITCH(no_dump)},
    {"no_ring", "no-ring", NULL, "ops that cut a tensor differently share it through HBM only",
     SWITCH(no_ring)},
    {"evict", "evict", NULL, "buffers may leave the scratchpad and come back, where that pays",
     SWITCH(evict)},
    {"reorder", "reorder", NULL, "independent ops may change places, where that pays", SWITCH(reorder)},
    {"stage", "upto", stage_words,
     "how far to go: baseline, nothing on chip; reductions, their results; in-place, all intermediates; all",
     SWITCH(stage)},
    {0},
};

const struct lx_pass *lx_passes(void)
{
    return table;
}

int lx_pass_get(const struct lx_passes *p, const struct lx_pass *row)
{
    const char *at = (const char *)p + row->offset;
    if (!row->words) return *(const bool *)at;
    return *(const int *)(const void *)at;
}

void lx_pass_set(struct lx_passes *p, const struct lx_pass *row, int value)
{
    char *at = (char *)p + row->offset;
    if (!row->words)
        *(bool *)at = value != 0;
    else
        *(int *)(void *)at = value;
}

struct lx_divide_options lx_passes_divide(const struct lx_passes *p)
{
    return (struct lx_divide_options){.cores = p->undivided ? 1 : 0, .no_cost = p->matmul == LX_MATMUL_RULE};
}
