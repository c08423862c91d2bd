/* The table of options, and the words that they take. */
#include "plan/options.h"
#include "base/base.h"
#include "base/words/words.h"

LX_WORDS(lx_option_group_word, enum lx_option_group, LX_OPTION_GROUPS)

/* clang-format off */
static const struct lx_option_row rows[LX_OPTION_PASSES] = {
    [LX_OPTION_SOLVER] = {
        .name = "solver", .letter = 's', .argument = "NAME", .kind = LX_TAKES_WORD, .group = LX_GROUP_SOLVER,
        .brief = "who places the buffers",
        .help = "the solver (`lxplan solvers` lists them); without it the best all-rounder there is"},
    [LX_OPTION_LEVEL] = {
        .name = "level", .letter = '#', .argument = "N", .kind = LX_TAKES_INTEGER, .group = LX_GROUP_SOLVER,
        .low = 0, .high = 9, .none = "5",
        .brief = "effort of the solver auto: 0 heuristics only, 9 all",
        .help = "effort of the solver `auto`: 0 heuristics only, 9 whatever can be tried (default 5)"},
    [LX_OPTION_OF_SOLVER] = {
        .name = "option", .letter = 'O', .argument = "NAME=VALUE", .kind = LX_TAKES_PAIRS,
        .group = LX_GROUP_SOLVER, .none = "none",
        .brief = "an option of the solver: NAME=VALUE",
        .help = "an option of the solver (`lxplan solvers NAME` lists them); may be repeated"},
    [LX_OPTION_OBJECTIVE] = {
        .name = "objective", .argument = "WHAT", .kind = LX_TAKES_WORD, .group = LX_GROUP_SOLVER,
        .brief = "HBM traffic or time; place all; least memory",
        .help = "balanced: least HBM bytes among plans at most 1.1 times as slow as the fastest (default of "
                "`plan` and the explorer); bytes (or spill); time: least predicted end-to-end time; fit: "
                "place everything; height: place everything in the least memory (default elsewhere: the "
                "pattern's own)"},
    [LX_OPTION_DEVICE] = {
        .name = "device", .letter = 'D', .argument = "DEVICE", .kind = LX_TAKES_PAIRS,
        .group = LX_GROUP_DEVICE, .none = "pattern's own",
        .brief = "the device that it is planned for",
        .help = "the device: a preset (`lxplan devices` lists them), a device file (FILE.json), or "
                "KEY=VALUE, one of its parameters; may be repeated"},
    [LX_OPTION_CORES] = {
        .name = "cores", .argument = "N", .kind = LX_TAKES_INTEGER, .group = LX_GROUP_DEVICE,
        .low = 1, .high = 1024, .none = "pattern's own",
        .brief = "cores of the device",
        .help = "cores of the device (default: $SENCORES, else the pattern's)"},
    [LX_OPTION_LX] = {
        .name = "lx", .argument = "BYTES|PERCENT%", .kind = LX_TAKES_INTEGER, .group = LX_GROUP_DEVICE,
        .low = 0, .high = INT64_C(1) << 40, .none = "pattern's own",
        .brief = "usable bytes of each scratchpad",
        .help = "usable scratchpad bytes of each core (k, m, g may follow a number), or a part of the "
                "pattern's own: 50%"},
    [LX_OPTION_SEED] = {
        .name = "seed", .argument = "N", .kind = LX_TAKES_INTEGER, .group = LX_GROUP_LIMITS,
        .low = 0, .high = LX_INT_MAX,
        .brief = "of solvers that draw lots",
        .help = "seed of solvers that draw lots (default 0)"},
    [LX_OPTION_TIME] = {
        .name = "time", .argument = "SECONDS", .kind = LX_TAKES_SECONDS, .group = LX_GROUP_LIMITS,
        .low = 1, .high = 86400, .none = "no limit",
        .brief = "seconds after which a solver stops",
        .help = "stop after this wall-clock time with the best plan so far"},
    [LX_OPTION_WORK] = {
        .name = "work", .argument = "N", .kind = LX_TAKES_INTEGER, .group = LX_GROUP_LIMITS,
        .low = 1, .high = LX_INT_MAX, .none = "solver's own",
        .brief = "steps after which a solver stops",
        .help = "work limit in the solver's steps: the same answer on every machine (default: the solver's "
                "own)"},
    [LX_OPTION_ORDER] = {
        .name = "order", .argument = "ORDER", .kind = LX_TAKES_TEXT, .group = LX_GROUP_LAUNCH, .none = "row_major",
        .brief = "of tiles: a word or @FILE",
        .help = "the order of tiles in global launches: row_major, column_major, block, match_shard, morton; "
                "or @FILE, a list of their numbers, each once"},
    [LX_OPTION_TILES] = {
        .name = "tiles", .argument = "RxC[/RxC]", .kind = LX_TAKES_TEXT, .group = LX_GROUP_LAUNCH, .none = "the device's",
        .brief = "rows x columns; of tiles inside",
        .help = "rows x columns of the tiles that are dealt out, and of the tiles inside each that a core "
                "goes over: 128x128/32x32 (default: the device's tile, one level)"},
    [LX_OPTION_SHARE] = {
        .name = "share", .argument = "WORD", .kind = LX_TAKES_WORD, .group = LX_GROUP_LAUNCH,
        .brief = "runs of tiles: balanced, or chunks",
        .help = "tiles per core of a global launch: balanced, within one of each other; or chunks of equal "
                "size"},
    [LX_OPTION_ASSIGN] = {
        .name = "assign", .argument = "WORD", .kind = LX_TAKES_WORD, .group = LX_GROUP_LAUNCH,
        .brief = "tiles by runs, or from a queue",
        .help = "static: runs of tiles; dynamic: who is free first, by predicted time, takes the next of a "
                "global launch"},
    [LX_OPTION_HINT] = {
        .name = "hint", .argument = "NAME=HINT", .kind = LX_TAKES_PAIRS, .group = LX_GROUP_PASSES, .none = "none",
        .brief = "an op's split OP=s/8,t/4; TENSOR=lx, =hbm",
        .help = "divide an op so, as a hint in the pattern would: scores=s/8,t/4; or the memory of a tensor (of "
                "a list: of a buffer): scores=lx puts it on chip, whatever that costs, scores=hbm leaves it "
                "off; may be repeated"},
    [LX_OPTION_NESTS] = {
        .name = "nests", .argument = "FIRST-LAST:VAR/T[,VAR/T]", .kind = LX_TAKES_TEXT, .group = LX_GROUP_PASSES,
        .none = "none", .of_search = true,
        .brief = "runs of ops in loops: FIRST-LAST:h/16,s/64",
        .help = "run these ops in loops over tiles, and no others, whether that pays or not: ops by name or "
                "number, variables of the first op, the outermost loop first: scores-mixed:h/16,s/64; may be "
                "repeated, or several with ; between them"},
    [LX_OPTION_CERTIFICATE] = {
        .name = "certificate", .argument = "FILE", .kind = LX_TAKES_TEXT, .group = LX_GROUP_SOLVER,
        .none = "none",
        .brief = "a proof of the bound, for the checker",
        .help = "plan: prove the bound, write the certificate to FILE and into the plan file; check: verify "
                "this certificate instead of the plan's own"},
};
/* clang-format on */

static const struct lx_pass *pass_of(int row)
{
    int k = row - LX_OPTION_PASSES, most = lx_pass_count();
    return lx_passes() + (k < most ? k : most);
}

int lx_settings_count(void)
{
    return LX_OPTION_PASSES + lx_pass_count();
}

struct lx_option_row lx_settings_at(int row)
{
    if (row < LX_OPTION_PASSES) return rows[row];
    const struct lx_pass *p = pass_of(row);
    return (struct lx_option_row){.name = p->option,
                                  .argument = p->words ? "WORD" : NULL,
                                  .kind = p->words ? LX_TAKES_WORD : LX_TAKES_NOTHING,
                                  .group = LX_GROUP_PASSES,
                                  .of_search = p->of_search,
                                  .brief = p->help,
                                  .help = p->help};
}

int lx_settings_find(const char *name)
{
    int n = lx_settings_count();
    for (int i = 0; i < n; i++)
        if (strcmp(lx_settings_at(i).name, name) == 0) return i;
    return -1;
}

const char *lx_settings_word(const struct lx_settings *o, int row, int64_t k)
{
    static const char *const off_on[] = {"off", "on", NULL};
    const struct lx_solver *const *solver = o->solvers;
    switch (row) {
    case LX_OPTION_SOLVER:
        while (solver && k-- > 0 && *solver) solver++;
        return solver && *solver ? (*solver)->name : NULL;
    case LX_OPTION_OBJECTIVE: return k < LX_ASK_COUNT ? lx_ask_word((enum lx_ask)k) : NULL;
    case LX_OPTION_DEVICE:
        return k < LX_INT_MAX && lx_device_at((int)k) ? lx_device_at((int)k)->preset : NULL;
    case LX_OPTION_ORDER: return k < LX_LISTED ? lx_tile_order_word((enum lx_tile_order)k) : NULL;
    case LX_OPTION_SHARE: return k < LX_SHARE_COUNT ? lx_share_word((enum lx_share)k) : NULL;
    case LX_OPTION_ASSIGN: return k < LX_ASSIGN_COUNT ? lx_assign_word((enum lx_assign)k) : NULL;
    default:
        if (row < LX_OPTION_PASSES) return NULL;
        const char *const *words = pass_of(row)->words ? pass_of(row)->words : off_on;
        while (k-- > 0 && *words) words++;
        return *words;
    }
}
