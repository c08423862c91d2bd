/* How long does planning not look whether it is to stop, and how long does it go on when it is told?
 *
 *     build/bin/bench_stops [--time SECONDS] [--only TEXT] [--where MS] [FILE|GENERATOR ...]
 *
 * Files (patterns, models) or graphs of a generator ("flash ops=2000"), by every way of planning below: each pass by itself, all
 * of them, every solver, teams. A run has SECONDS (1) of the processor, as by --time. A row has what it took, the longest time
 * between two looks at the stop until one says so, the time from the look that said so to the end (in which the plan is completed), and what
 * reading the file took. "late" where it took more than SECONDS, 0.2 s and a twentieth. Seconds are those of the thread, for the
 * library, too, so that a busy machine does not matter. --only: rows that have the text in "way file". --where: prints addresses of the functions between
 * two looks that are more than so many milliseconds apart, for addr2line -f -e build/bin/bench_stops. */
#include "unstable.h"
#include "base/allocator.h"
#include "base/fail.h"
#include "support/bench_clock.h"
#include "support/who_works.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct looks {
    double end, last, longest, stopped;
};

static struct {
    double seconds;
    const char *only;
} asked = {.seconds = 1};

/* The library's clock is the thread's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    return (int)syscall(SYS_clock_gettime, clock == CLOCK_MONOTONIC ? CLOCK_THREAD_CPUTIME_ID : clock, t);
}

static double used(void)
{
    return now_by(CLOCK_THREAD_CPUTIME_ID);
}

static bool is_over(void *looks)
{
    struct looks *l = looks;
    double now_used = used();
    if (l->stopped == 0 && now_used - l->last > l->longest) l->longest = now_used - l->last;
    if (l->stopped == 0) who_works_looked(now_used - l->last);
    if (now_used > l->end && l->stopped == 0) l->stopped = now_used;
    l->last = who_works.seconds > 0 ? used() : now_used;
    return l->stopped > 0;
}

/* What is planned, in words of the command line's options; "team" with a grid, "by" time. */
static const struct way {
    const char *words;
} ways[] = {
    {"plain tile=none"},
    {"plan"},
    {"evict evict"},
    {"reorder reorder"},
    {"move move evict"},
    {"cooptimise cooptimise=full"},
    {"flip cooptimise=flip"},
    {"all evict reorder move cooptimise=full"},
    {"time objective=time"},
    {"alltime objective=time evict reorder move cooptimise=full"},
    {"fit objective=fit"},
    {"height objective=height"},
    {"level9 level=9"},
    {"greedy solver=greedy"},
    {"firstfit solver=firstfit"},
    {"bestfit solver=bestfit"},
    {"anneal solver=anneal"},
    {"exact solver=exact"},
    {"ilp solver=ilp"},
    {"team8 team=8"},
    {"team8t team=8 by=time"},
    {"team4x4t team=4x4 by=time"},
    {"team8x8t team=8x8 by=time"},
};

static void fail(const char *what, const lx_status *st)
{
    printf("%s: %s\n", what, st->text);
    exit(2);
}

/* NAME=VALUE, one after the other, into the options of a generator. */
static const struct lx_graph *generate(char *words, lx_status *st)
{
    const struct lx_generator *g = lx_generator_find(strtok(words, " "));
    int64_t values[64];
    if (!g) return status_set(st, LX_E_UNKNOWN_NAME, "no such file or generator"), NULL;
    lx_values_default(g->options, g->option_count, values);
    for (char *name = strtok(NULL, " "); name; name = strtok(NULL, " ")) {
        char *text = strchr(name, '=');
        if (!text) return status_set(st, LX_E_USAGE, "NAME=VALUE is wanted"), NULL;
        *text++ = 0;
        if (!lx_values_set(g->name, g->options, g->option_count, name, text, values, st)) return NULL;
    }
    return g->build(values, st);
}

static const struct lx_graph *make(const char *what, double *seconds)
{
    char words[400];
    lx_status st = {0};
    double begin = used();
    snprintf(words, sizeof words, "%s", what);
    const struct lx_graph *g = strpbrk(what, "/.") ? lx_graph_read(what, &st) : generate(words, &st);
    if (!g) fail(what, &st);
    *seconds = used() - begin;
    return g;
}

/* What a way says, as options; its first word is its name. */
static void read_way(const struct way *way, struct lx_settings *o, struct lx_team_options *team)
{
    char words[200];
    lx_status st = {0};
    *o = (struct lx_settings){.solvers = lx_solvers()};
    *team = (struct lx_team_options){0};
    snprintf(words, sizeof words, "%s", way->words);
    strtok(words, " ");
    for (char *name = strtok(NULL, " "); name; name = strtok(NULL, " ")) {
        char *text = strchr(name, '=');
        if (text) *text++ = 0;
        bool ok = strcmp(name, "team") == 0 ? lx_team_grid_of_text(text, &team->grid, &st)
                  : strcmp(name, "by") == 0 ? (team->by_time = true)
                                            : lx_settings_set(o, name, text ? text : "on", &st);
        if (!ok) fail(way->words, &st);
    }
    team->members = lx_team_members_of(&team->grid);
}

static bool plan_once(const struct lx_graph *g, const struct lx_plan_options *how,
                      const struct lx_team_options *team, lx_status *st)
{
    if (team->grid.axes > 0) {
        struct lx_team_plans *p = lx_team_plans_choose(g, team, how, st);
        lx_team_plans_free(p);
        return p;
    }
    struct lx_plan *p = lx_plan_make(g, how, st);
    lx_plan_free(p);
    return p;
}

static bool measure(const struct lx_graph *g, const struct way *way, const char *what, double reading)
{
    struct lx_settings o;
    struct lx_team_options team;
    struct lx_plan_options how = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    read_way(way, &o, &team);
    if (!lx_settings_plan(&o, g->is_list ? g->objective : LX_SPILL, &how, values, &st)) fail(what, &st);
    double begin = used();
    struct looks l = {.end = begin + asked.seconds, .last = begin};
    how.run.time_limit = asked.seconds;
    how.run.stop = is_over;
    how.run.context = &l;
    who_works_looked(0);
    bool ok = plan_once(g, &how, &team, &st);
    double end = used(), taken = end - begin, after = end - (l.stopped > 0 ? l.stopped : l.last);
    bool late = taken > asked.seconds * 1.05 + 0.2;
    printf("%-50.50s %6d  %5.2f s  %7.3f s  %9.1f ms  %7.1f ms  %s%s\n", what,
           (int)(g->is_list ? g->buffer_count : g->op_count), reading, taken, 1e3 * l.longest, 1e3 * after,
           ok ? "" : st.text, late ? "  late" : "");
    fflush(stdout);
    return !late;
}

static int measure_all(const char *file)
{
    double reading;
    int late = 0;
    const struct lx_graph *g = make(file, &reading);
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char what[300];
        snprintf(what, sizeof what, "%.*s %s", (int)strcspn(ways[i].words, " "), ways[i].words, name);
        if (g->is_list && (strstr(ways[i].words, "team") || strstr(ways[i].words, "=time"))) continue;
        if (!asked.only || strstr(what, asked.only)) late += !measure(g, &ways[i], what, reading);
    }
    lx_graph_free(g);
    return late;
}

int main(int count, char **words)
{
    int late = 0, at = 1;
    allocator_smooth(); /* as the program does */
    for (; at + 1 < count && strncmp(words[at], "--", 2) == 0; at += 2) {
        if (strcmp(words[at], "--time") == 0) asked.seconds = atof(words[at + 1]);
        if (strcmp(words[at], "--only") == 0) asked.only = words[at + 1];
        if (strcmp(words[at], "--where") == 0) who_works_begin(atof(words[at + 1]) / 1e3);
    }
    printf("%-50s %6s  %7s  %9s  %12s  %10s\n", "way file", "ops", "reading", "taken", "without look",
           "after stop");
    for (; at < count; at++) late += measure_all(words[at]);
    printf("%d late\n", late);
    return late > 0;
}
