/* The table of passes for files, command lines and screens, and the table of objectives. */
#include "search/request.h"
#include "base/base.h"

static const char *const clone_words[] = {"auto", "heuristic", "none", NULL};
static const char *const weights_words[] = {"free", "fixed", NULL};
static const char *const matmul_words[] = {"cost", "rule", NULL};
static const char *const cooptimise_words[] = {"none", "flip", "full", NULL};
static const char *const tile_words[] = {"auto", "none", NULL};
static const char *const online_words[] = {"auto", "none", NULL};
static const char *const prefetch_words[] = {"auto", "none", NULL};
static const char *const stage_words[] = {"all", "baseline", "reductions", "in-place", NULL};

#define FIELD(f) .offset = (unsigned)offsetof(struct lx_passes, f)

/* The stages before the last; the stages before in-place writes. */
enum {
    PARTIAL = 1 << LX_STAGE_BASELINE | 1 << LX_STAGE_REDUCTIONS | 1 << LX_STAGE_IN_PLACE,
    EARLY = 1 << LX_STAGE_BASELINE | 1 << LX_STAGE_REDUCTIONS
};

/* In the order in which they apply. */
/* clang-format off */
static const struct lx_pass table[] = {
    {.name = "undivided", .option = "undivided", FIELD(undivided),
     .help = "every op on one core: nothing is divided"},
    {.name = "weights", .option = "weights", .words = weights_words, FIELD(weights),
     .help = "sticks of weights: free (default), where their readers want them, and the host packs them so; "
             "fixed, along the last dimension, as in the file"},
    {.name = "matmul", .option = "matmul", .words = matmul_words, FIELD(matmul),
     .help = "how a contraction is divided: cost (default), least predicted time; rule, the documented one: "
             "batch, M and N by size, K last"},
    {.name = "cooptimise", .option = "cooptimise", .words = cooptimise_words, FIELD(cooptimise),
     .of_search = true,
     .help = "divisions and placement chosen together: full is ours, flip the documented search, none "
             "(default)"},
    {.name = "by_time", .option = "by-time", FIELD(by_time), .of_search = true,
     .help = "co-optimise divisions by predicted time instead of traffic, then time; --objective time asks "
             "all passes for it"},
    {.name = "clone", .option = "clone", .words = clone_words, FIELD(clone),
     .fixed_stages = PARTIAL, .fixed = LX_CLONE_NONE,
     .help = "copies of graph inputs on chip: auto (default), the solver decides; heuristic, all that are "
             "read more than once and fit; none"},
    {.name = "no_outputs", .option = "no-outputs", FIELD(no_outputs), .fixed_stages = PARTIAL, .fixed = true,
     .help = "never produce a graph output on chip"},
    {.name = "no_in_place", .option = "no-in-place", FIELD(no_in_place), .fixed_stages = EARLY, .fixed = true,
     .help = "no op writes over an input that dies with it"},
    {.name = "no_dump", .option = "no-dump", FIELD(no_dump),
     .help = "keep off chip what an extern op would wipe, instead of dumping it around the call"},
    {.name = "no_ring", .option = "no-ring", FIELD(no_ring),
     .help = "ops that cut a tensor differently share it through HBM only"},
    {.name = "tile", .option = "tile", .words = tile_words, FIELD(tile), .fixed_stages = PARTIAL, .fixed = LX_TILE_NONE,
     .of_search = true,
     .off = LX_TILE_NONE,
     .help = "runs of ops in loops over tiles, so that what passes between them stays on chip: auto "
             "(default), none"},
    {.name = "online", .option = "online", .words = online_words, FIELD(online), .fixed_stages = PARTIAL,
     .fixed = LX_ONLINE_NONE,
     .help = "softmax and its products by running sums, so that tiles (--tile) can cut rows: auto (default), "
             "where the plan is then better; none"},
    {.name = "reorder", .option = "reorder", FIELD(reorder), .fixed_stages = PARTIAL, .fixed = false,
     .of_search = true,
     .help = "independent ops may change places, where that pays"},
    {.name = "evict", .option = "evict", FIELD(evict), .fixed_stages = PARTIAL, .fixed = false,
     .of_search = true,
     .help = "buffers may leave the scratchpad and come back, where that pays"},
    {.name = "move", .option = "move", FIELD(move), .fixed_stages = PARTIAL, .fixed = false,
     .of_search = true,
     .help = "buffers may change their addresses by copies inside the scratchpads, where that saves HBM "
             "traffic"},
    {.name = "prefetch", .option = "prefetch", .words = prefetch_words, FIELD(prefetch),
     .of_search = true,
     .help = "loads issued before they are due, where the plan is then faster: auto (default, by time and "
             "balanced), none"},
    {.name = "stage", .option = "upto", .words = stage_words, FIELD(stage),
     .help = "how far to go: baseline, nothing on chip; reductions, their results; in-place, all "
             "intermediates; all"},
    {0},
};
/* clang-format on */

_Static_assert(sizeof table / sizeof *table - 1 <= LX_MOST_PASSES, "more passes than LX_MOST_PASSES");

const struct lx_pass *lx_passes(void)
{
    return table;
}

int lx_pass_count(void)
{
    return (int)(sizeof table / sizeof *table) - 1;
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

struct lx_passes passes_of_stage(const struct lx_passes *asked)
{
    struct lx_passes p = *asked;
    for (const struct lx_pass *row = table; row->name; row++)
        if (row->fixed_stages >> asked->stage & 1) lx_pass_set(&p, row, row->fixed);
    return p;
}

struct lx_divide_options lx_passes_divide(const struct lx_passes *p)
{
    return (struct lx_divide_options){.cores = p->undivided ? 1 : 0,
                                      .no_cost = p->matmul == LX_MATMUL_RULE,
                                      .packs = p->weights == LX_WEIGHTS_FREE};
}

static const struct {
    const char *word;
    enum lx_objective question;
} asks[] = {
#define ROW(id, word, question) [id] = {word, question},
    LX_ASKS(ROW)
#undef ROW
};

const char *lx_ask_word(enum lx_ask a)
{
    return (unsigned)a < LX_ASK_COUNT ? asks[a].word : "unknown";
}

enum lx_ask lx_ask_find(const char *word)
{
    int a = 0;
    if (strcmp(word, "traffic") == 0) return LX_ASK_TRAFFIC;
    while (a < LX_ASK_COUNT && strcmp(asks[a].word, word) != 0) a++;
    for (int k = 1; a == LX_ASK_COUNT && k < LX_ASK_COUNT; k++)
        if (strcmp(lx_objective_word(asks[k].question), word) == 0) return (enum lx_ask)k;
    return (enum lx_ask)a;
}

enum lx_objective lx_asked(enum lx_ask a, enum lx_objective own)
{
    return a == LX_ASK_OWN || a >= LX_ASK_COUNT ? own : asks[a].question;
}
