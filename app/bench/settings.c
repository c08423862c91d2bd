/* The options of bench, and the settings of each solver. */
#include "bench/ranks.h"
#include "bench/suite.h"
#include "planning/command_solver.h"

const struct option_row bench_rows[] = {
    {"solver", 's', "A,B,...", "the solvers (default: all there are); cmd:PROGRAM is one of your own"},
    {"suite", 0, NULL, "the suite of problems with known bests, or the classes and instances that are named"},
    {"option", 'O', "SOLVER.NAME=VALUE", "an option of one solver; may be repeated"},
    {"seeds", 0, "K", "seeds for each randomised solver (default 1); others run once"},
    {"seed", MORE, "N", "the first of these seeds (default 0)"},
    {"repeat", MORE, "N", "repeats of every run, far apart in time (default 1)"},
    {"warmup", MORE, "N", "unrecorded runs of each solver on the first instance (default 0)"},
    {"time", 0, "SECONDS",
     "wall-clock limit of a run (default 60); killed after a grace of 1 s or a tenth of it"},
    {"memory", MORE, "MB", "memory limit of a run (default 4096)"},
    {"jobs", 'j', "N", "runs at the same time (default 1); more than one spoils the times"},
    {"transport", MORE, "NAME",
     "local (default), or mpi: all processes of mpirun make runs, one at a time each"},
    {"lx", 0, "BYTES|PERCENT%",
     "another capacity: bytes, or a percentage of the instance's own (of its load where it has none)"},
    {"objective", 0, "WHAT", "bytes (or spill), fit or height (default: the instance's own)"},
    {"protocol", 0, "csv|json", "what solvers cmd:PROGRAM read (default csv): MiniMalloc CSV, or a pattern"},
    {"output", 'o', "RESULTS", "append a line for each run to this file (JSON lines)"},
    {"on", 0, "MACHINE", "gpu: time the program of each graph's answer on an NVIDIA GPU"},
    {"resume", 0, NULL, "go on with the results file where it ends"},
    {"force", 0, NULL, "replace a results file that exists"},
    {0},
};

/* The library's options that change a problem or a run. Options of bench_rows mean something else here;
 * options of the plan search do not change a problem. */
struct option_row bench_plan_rows[LX_MOST_OPTIONS + 1];

void bench_begin(void)
{
    int n = 0;
    for (int i = 0; i < lx_settings_count(); i++)
        if (!lx_settings_at(i).of_search && !find_row(bench_rows, lx_settings_at(i).name))
            bench_plan_rows[n++] = option_row_at(i);
}

/* The objectives of the table that a placement problem has. */
static const char *settings_objective_word(int k)
{
    static const enum lx_ask asks[] = {LX_ASK_TRAFFIC, LX_ASK_FIT, LX_ASK_HEIGHT};
    return k < (int)(sizeof asks / sizeof *asks) ? lx_ask_word(asks[k]) : NULL;
}

static const char *protocol_word(int k)
{
    static const char *const words[] = {"csv", "json"};
    return k < 2 ? words[k] : NULL;
}

const struct option_words bench_words[] = {{"transport", ranks_transport_word},
                                           {"protocol", protocol_word},
                                           {"objective", settings_objective_word},
                                           {"on", machine_with_clock},
                                           {0}};

static const char *const outcome_words[OUTCOME_COUNT] = {
#define OUTCOME_ROW(id, word) [id] = word,
    OUTCOMES(OUTCOME_ROW)
#undef OUTCOME_ROW
};

const char *outcome_word(enum outcome o)
{
    return (unsigned)o < OUTCOME_COUNT ? outcome_words[o] : "unknown";
}

enum outcome outcome_find(const char *word)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (strcmp(outcome_words[i], word) == 0) return (enum outcome)i;
    return OUTCOME_COUNT;
}

bool settings_solvers(struct call *call, struct settings *s)
{
    struct text names = {0}; /* "A,B," */
    for (size_t i = 0; i < call->line.options.count; i++)
        if (strcmp(call->line.options.at[i].name, "solver") == 0)
            text_format(&names, "%s,", call->line.options.at[i].value);
    for (const struct lx_solver *const *l = lx_solvers(); !option_given(&call->line, "solver") && *l; l++)
        text_format(&names, "%s,", (*l)->name);
    char *rest = arena_copy(call->line.memory, names.at, names.length - 1);
    text_free(&names);
    for (char *name; (name = solver_name_next(&rest));) {
        struct bench_solver b = {.how = s->options};
        if (!lx_settings_set_row(&b.how, LX_OPTION_SOLVER, name, &call->st)) return false;
        b.solver = lx_settings_solver(&b.how, LX_SPILL);
        for (size_t i = 0; i < s->solvers.count; i++)
            if (s->solvers.at[i].solver == b.solver)
                return status_set(&call->st, LX_E_USAGE, "solver %s is named twice", name);
        VEC_PUSH(&s->solvers, b);
    }
    for (size_t i = 0; i < call->line.options.count; i++) {
        /* "solver.option=value"; with one solver its name may be left out. */
        const char *given = call->line.options.at[i].value;
        if (strcmp(call->line.options.at[i].name, "option") != 0) continue;
        size_t n = strcspn(given, ".="), k = 0;
        bool named = given[n] == '.';
        if (!named && s->solvers.count != 1)
            return status_set(&call->st, LX_E_USAGE, "-O %s: say of which solver, as in -O SOLVER.%s", given,
                              given);
        while (named && k < s->solvers.count &&
               (strlen(s->solvers.at[k].solver->name) != n ||
                memcmp(s->solvers.at[k].solver->name, given, n) != 0))
            k++;
        if (k == s->solvers.count)
            return status_set(&call->st, LX_E_USAGE, "-O %s: solver %.*s does not take part", given, (int)n,
                              given);
        if (!lx_settings_set_row(&s->solvers.at[k].how, LX_OPTION_OF_SOLVER, named ? given + n + 1 : given,
                                 &call->st))
            return false;
    }
    /* The values of every solver's options, when all that is said about them has been read. */
    bool has_level = !lx_settings_is_set(&s->options, LX_OPTION_LEVEL);
    for (size_t i = 0; i < s->solvers.count; i++) {
        struct bench_solver *b = &s->solvers.at[i];
        struct lx_plan_options how = {0};
        if (!lx_settings_plan(&b->how, NULL, &how, b->values, &call->st)) return false;
        for (int k = 0; k < b->solver->option_count; k++)
            has_level |= strcmp(b->solver->options[k].name, "level") == 0;
    }
    if (has_level) return true;
    return status_set(&call->st, LX_E_USAGE, "--level: no solver that takes part has one; add auto to -s");
}

/* --time, --objective and --lx. */
static bool settings_read_problem(struct call *call, struct settings *s)
{
    const char *seconds = option_value(&call->line, "time"), *word = option_value(&call->line, "objective");
    if (seconds && !lx_parse_number("--time", seconds, &s->time, &call->st)) return false;
    if (!(s->time >= 0.001 && s->time <= 1e7))
        return status_set(&call->st, LX_E_USAGE, "--time %s: it must be from 0.001 to 10000000 seconds",
                          seconds);
    if (word && !lx_settings_set_row(&s->options, LX_OPTION_OBJECTIVE, word, &call->st)) return false;
    if (lx_settings_ask(&s->options) == LX_ASK_TIME || lx_settings_ask(&s->options) == LX_ASK_BALANCED)
        return status_set(
            &call->st, LX_E_USAGE,
            "--objective %s: a placement problem has no time; it must be bytes (or spill), fit or height",
            word);
    s->grace = s->time > 10 ? s->time / 10 : 1;
    s->lx = option_value(&call->line, "lx");
    s->lx_percent = -1;
    size_t n = s->lx ? strlen(s->lx) : 0;
    if (!s->lx) return true;
    if (n == 0 || s->lx[n - 1] != '%')
        return lx_settings_set_row(&s->options, LX_OPTION_LX, s->lx, &call->st);
    char *number = arena_copy(call->line.memory, s->lx, n - 1);
    if (!lx_parse_number("--lx", number, &s->lx_percent, &call->st)) return false;
    return (s->lx_percent > 0 && s->lx_percent <= 100000) ||
           status_set(&call->st, LX_E_USAGE,
                      "--lx %s: the percentage must be above 0 %% and at most 100000 %%", s->lx);
}

bool settings_read(struct call *call, struct settings *s)
{
    *s = (struct settings){.seeds = 1, .repeats = 1, .jobs = 1, .ranks = 1, .memory_mb = 4096, .time = 60};
    if (!read_options_but(call, bench_rows, &s->options) || !read_model_options(call, &s->models) ||
        !settings_read_problem(call, s) || !measured_ready(call, s) ||
        !option_int(call, "seeds", 1, 100000, &s->seeds) ||
        !option_int(call, "seed", 0, LX_INT_MAX - 100000, &s->seed) ||
        !option_int(call, "repeat", 1, 100000, &s->repeats) ||
        !option_int(call, "warmup", 0, 1000, &s->warmup) || !option_int(call, "jobs", 1, 256, &s->jobs) ||
        !option_int(call, "memory", 1, 1 << 24, &s->memory_mb))
        return false;
    s->work = s->options.value[LX_OPTION_WORK];
    s->suite = option_given(&call->line, "suite");
    if (s->suite && (s->lx || option_given(&call->line, "objective") || option_given(&call->line, "time")))
        return status_set(&call->st, LX_E_USAGE,
                          "--suite has its own questions and limits; leave out --lx, "
                          "--objective and --time");
    if (s->suite) s->time = suite_limit(LX_MAX_ITEMS), s->grace = WALL_PER_CPU * s->time;
    if (!settings_solvers(call, s)) return false;
    enum lx_ask ask = lx_settings_ask(&s->options);
    int question = ask ? (int)lx_asked(ask, LX_SPILL) : -1; /* -1: each its own */
    for (size_t i = 0; i < s->solvers.count; i++) {
        /* A hash of everything that could change a solver's answer or its time. */
        struct bench_solver *b = &s->solvers.at[i];
        uint64_t h = hash_bytes(HASH_START, b->solver->name, strlen(b->solver->name) + 1);
        h = hash_bytes(h, b->values, (size_t)b->solver->option_count * sizeof *b->values);
        h = hash_bytes(h, &s->time, sizeof s->time);
        h = hash_bytes(h, &s->memory_mb, sizeof s->memory_mb);
        h = hash_bytes(h, &s->work, sizeof s->work);
        h = hash_bytes(h, &question, sizeof question);
        if (s->lx) h = hash_bytes(h, s->lx, strlen(s->lx));
        snprintf(b->config, sizeof b->config, "%016llx", (unsigned long long)h);
    }
    return true;
}

void settings_free(struct settings *s)
{
    VEC_FREE(&s->solvers);
    text_free(&s->hosts);
    text_free(&s->cpus);
}
