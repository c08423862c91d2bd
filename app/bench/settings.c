/* The options of bench, and what they mean for each solver. */
#include "bench/bench.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/hash.h"
#include "planning/planning.h"
#include "text/format.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const struct option_row bench_rows[] = {
    {"solver", 's', "A,B,...", "the solvers (default: all there are)"},
    {"option", 'O', "SOLVER.NAME=VALUE", "an option of one solver; may be repeated"},
    {"seeds", 0, "K", "seeds for each solver that draws lots (default 1); others run once"},
    {"seed", 0, "N", "the first of these seeds (default 0)"},
    {"repeat", 0, "N", "repeats of every run, far apart in time (default 1)"},
    {"warmup", 0, "N", "unrecorded runs of each solver on the first instance (default 0)"},
    {"time", 0, "SECONDS",
     "wall-clock limit of a run (default 60); killed after a grace of 1 s or a tenth of it"},
    {"memory", 0, "MB", "memory limit of a run (default 4096)"},
    {"work", 0, "N", "work limit in the solver's steps (default: the solver's own)"},
    {"jobs", 'j', "N", "runs at the same time (default 1); more than one spoils the times"},
    {"transport", 0, "NAME",
     "where runs are made: local (default), or mpi: by all processes of mpirun, one at a time each"},
    {"lx", 0, "BYTES|PERCENT%",
     "another capacity: bytes, or a part of the instance's own (of its load where it has none)"},
    {"objective", 0, "WHAT", "traffic (or spill), fit or height (default: the instance's own)"},
    {"output", 'o', "RESULTS", "append a line for each run to this file (JSON lines)"},
    {"resume", 0, NULL, "go on with the results file where it ends"},
    {"force", 0, NULL, "replace a results file that exists"},
    {0},
};

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

double monotonic_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool read_objective(struct call *call, enum lx_ask *objective)
{
    const char *word = option_value(&call->line, "objective");
    *objective = word ? lx_ask_find(word) : LX_ASK_OWN;
    if (*objective < LX_ASK_COUNT && *objective != LX_ASK_TIME) return true;
    return status_set(&call->st, LX_E_USAGE, "--objective %s: it must be traffic (or spill), fit or height",
                      word);
}

static bool read_capacity(struct call *call, struct settings *s)
{
    s->lx = option_value(&call->line, "lx");
    s->lx_bytes = -1;
    s->lx_percent = -1;
    if (!s->lx) return true;
    size_t n = strlen(s->lx);
    if (n == 0 || s->lx[n - 1] != '%')
        return lx_parse_int("--lx", s->lx, 0, LX_INT_MAX, &s->lx_bytes, &call->st);
    char *number = arena_copy(call->line.memory, s->lx, n - 1);
    if (!number) return status_no_memory(&call->st);
    if (!parse_number("--lx", number, &s->lx_percent, &call->st)) return false;
    if (!(s->lx_percent > 0 && s->lx_percent <= 100000))
        return status_set(&call->st, LX_E_USAGE, "--lx %s: the part must be above 0 %% and at most 100000 %%",
                          s->lx);
    return true;
}

static bool add_solver(struct call *call, struct settings *s, const struct lx_solver *solver)
{
    for (size_t i = 0; i < s->solvers.count; i++)
        if (s->solvers.at[i].solver == solver)
            return status_set(&call->st, LX_E_USAGE, "solver %s is named twice", solver->name);
    struct bench_solver b = {.solver = solver};
    b.values = arena_array(call->line.memory, (size_t)solver->option_count, sizeof *b.values);
    if (!b.values || !VEC_PUSH(&s->solvers, b)) return status_no_memory(&call->st);
    lx_options_default(solver->options, solver->option_count, b.values);
    return true;
}

static bool unknown_solver(const char *name, lx_status *st)
{
    const char *names[33] = {0};
    for (int i = 0; i < 32 && lx_solvers()[i]; i++) names[i] = lx_solvers()[i]->name;
    const char *near = nearest(name, names);
    return status_set(st, LX_E_UNKNOWN_NAME, "there is no solver \"%s\"%s%s%s `lxplan solvers` lists them",
                      name, near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
}

static bool read_solvers(struct call *call, struct settings *s)
{
    bool any = false;
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "solver") != 0) continue;
        any = true;
        char *list = arena_string(call->line.memory, o->value), *rest = list;
        if (!list) return status_no_memory(&call->st);
        for (char *name; (name = strsep(&rest, ","));) {
            const struct lx_solver *solver = lx_solver_find(name);
            if (!solver) return unknown_solver(name, &call->st);
            if (!add_solver(call, s, solver)) return false;
        }
    }
    for (const struct lx_solver *const *l = lx_solvers(); !any && *l; l++)
        if (!add_solver(call, s, *l)) return false;
    return true;
}

/* "solver.option=value"; with one solver its name may be left out. */
static bool read_solver_option(struct call *call, struct settings *s, const char *given)
{
    char *name, *dot;
    const char *value;
    if (!split_pair(call, "option", given, &name, &value)) return false;
    dot = strchr(name, '.');
    if (!dot && s->solvers.count != 1)
        return status_set(&call->st, LX_E_USAGE, "-O %s: say of which solver, as in -O SOLVER.%s", given,
                          given);
    if (dot) *dot = 0;
    for (size_t i = 0; i < s->solvers.count; i++) {
        struct bench_solver *b = &s->solvers.at[i];
        if (!dot || strcmp(b->solver->name, name) == 0)
            return lx_options_set(b->solver->name, b->solver->options, b->solver->option_count,
                                  dot ? dot + 1 : name, value, b->values, &call->st);
    }
    return status_set(&call->st, LX_E_USAGE, "-O %s: solver %s does not take part", given, name);
}

/* The identity of how a solver was run: whatever could change its answer or the time it gets. */
static void make_config_hash(const struct settings *s, struct bench_solver *b)
{
    int question = s->objective ? (int)lx_asked(s->objective, LX_SPILL) : -1; /* -1: each its own */
    uint64_t h = hash_bytes(HASH_START, b->solver->name, strlen(b->solver->name) + 1);
    h = hash_bytes(h, b->values, (size_t)b->solver->option_count * sizeof *b->values);
    h = hash_bytes(h, &s->time, sizeof s->time);
    h = hash_bytes(h, &s->memory_mb, sizeof s->memory_mb);
    h = hash_bytes(h, &s->work, sizeof s->work);
    h = hash_bytes(h, &question, sizeof question);
    if (s->lx) h = hash_bytes(h, s->lx, strlen(s->lx));
    snprintf(b->config, sizeof b->config, "%016llx", (unsigned long long)h);
}

static bool read_time(struct call *call, struct settings *s)
{
    const char *seconds = option_value(&call->line, "time");
    if (seconds && !parse_number("--time", seconds, &s->time, &call->st)) return false;
    if (!(s->time >= 0.001 && s->time <= 1e7))
        return status_set(&call->st, LX_E_USAGE, "--time %s: it must be from 0.001 to 10000000 seconds",
                          seconds);
    s->grace = s->time > 10 ? s->time / 10 : 1;
    return true;
}

bool settings_read(struct call *call, struct settings *s)
{
    *s = (struct settings){.seeds = 1, .repeats = 1, .jobs = 1, .ranks = 1, .memory_mb = 4096, .time = 60};
    if (!read_time(call, s) || !read_objective(call, &s->objective) || !read_capacity(call, s) ||
        !option_int(call, "seeds", 1, 100000, &s->seeds) ||
        !option_int(call, "seed", 0, LX_INT_MAX - 100000, &s->seed) ||
        !option_int(call, "repeat", 1, 100000, &s->repeats) ||
        !option_int(call, "warmup", 0, 1000, &s->warmup) || !option_int(call, "jobs", 1, 256, &s->jobs) ||
        !option_int(call, "memory", 1, 1 << 24, &s->memory_mb) ||
        !option_int(call, "work", 1, LX_INT_MAX, &s->work) || !read_solvers(call, s))
        return false;
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "option") == 0 && !read_solver_option(call, s, o->value)) return false;
    }
    for (size_t i = 0; i < s->solvers.count; i++) make_config_hash(s, &s->solvers.at[i]);
    return true;
}

void settings_free(struct settings *s)
{
    VEC_FREE(&s->solvers);
    text_free(&s->hosts);
    text_free(&s->cpus);
}
