/* How late does a plan come back after its deadline, and after somebody asks it to stop?
 *
 *     build/bin/bench_cancel [--time SECONDS] [--only TEXT] FILE|GENERATOR ...
 *
 * Files (patterns, models) or graphs of a generator ("flash ops=2000"), by every way of planning below. A
 * row has what a plan took that had SECONDS (1), and how long it took to come back from the question that
 * said stop, in a second run that is asked to stop after SECONDS. "late": more than 50 ms, "no plan": none
 * was there when it was to stop. Seconds are those of the wall: on a busy machine some rows are late, which is
 * no failure.
 * --only: rows that have the text in "way file". */
#include "unstable.h"
#include "base/clock.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    double seconds;
    const char *only;
    int late; /* rows */
} asked = {.seconds = 1};

struct stop_at {
    double when, told;
};

static bool is_over(void *context)
{
    struct stop_at *stop = context;
    double now = clock_seconds();
    if (now < stop->when) return false;
    if (stop->told <= 0) stop->told = now;
    return true;
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
    double begin = clock_seconds();
    snprintf(words, sizeof words, "%s", what);
    const struct lx_graph *g = strpbrk(what, "/.") ? lx_graph_read(what, &st) : generate(words, &st);
    if (!g) fail(what, &st);
    *seconds = clock_seconds() - begin;
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
    team->devices = lx_team_device_count(&team->grid);
}

/* Seconds until it came back. */
static double plan_once(const struct lx_graph *g, const struct lx_plan_options *how,
                        const struct lx_team_options *team, lx_status *st)
{
    double begin = clock_seconds();
    struct lx_team_plans *together = NULL;
    struct lx_plan *alone = NULL;
    if (team->grid.axes > 0)
        together = lx_team_plans_choose(g, team, how, st);
    else
        alone = lx_plan_make(g, how, st);
    double taken = clock_seconds() - begin;
    lx_team_plans_free(together);
    lx_plan_free(alone);
    return taken;
}

static int measure(const struct lx_graph *g, const struct way *way, const char *what, double reading)
{
    const double promise = 0.05;
    struct lx_settings o;
    struct lx_team_options team;
    struct lx_plan_options how = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0}, stopped = {0};
    read_way(way, &o, &team);
    if (!lx_settings_plan(&o, g, &how, values, &st)) fail(what, &st);
    how.run.time_limit = asked.seconds;
    double taken = plan_once(g, &how, &team, &st), begin = clock_seconds();
    struct stop_at stop = {.when = begin + asked.seconds};
    how.run.time_limit = 0;
    how.run.stop = is_over;
    how.run.context = &stop;
    double until = begin + plan_once(g, &how, &team, &stopped), after = stop.told > 0 ? until - stop.told : 0;
    bool late = taken > asked.seconds + promise || after > promise;
    printf("%-50.50s %6d  %5.2f s  %7.3f s  %7.1f ms  %s%s%s\n", what,
           (int)(g->list ? g->list->buffer_count : g->op_count), reading, taken, 1e3 * after, st.text,
           stopped.code == LX_OK          ? ""
           : stopped.code == LX_E_STOPPED ? "no plan"
                                          : stopped.text,
           late ? "  late" : "");
    fflush(stdout);
    asked.late += late;
    return stopped.code != LX_OK && stopped.code != LX_E_STOPPED;
}

static int measure_all(const char *file)
{
    double reading;
    int failed = 0;
    const struct lx_graph *g = make(file, &reading);
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char what[300];
        snprintf(what, sizeof what, "%.*s %s", (int)strcspn(ways[i].words, " "), ways[i].words, name);
        if (g->list && (strstr(ways[i].words, "team") || strstr(ways[i].words, "=time"))) continue;
        if (!asked.only || strstr(what, asked.only)) failed += measure(g, &ways[i], what, reading);
    }
    lx_graph_free(g);
    return failed;
}

int main(int count, char **words)
{
    int failed = 0, at = 1;
    for (; at + 1 < count && strncmp(words[at], "--", 2) == 0; at += 2) {
        if (strcmp(words[at], "--time") == 0) asked.seconds = atof(words[at + 1]);
        if (strcmp(words[at], "--only") == 0) asked.only = words[at + 1];
    }
    printf("%-50s %6s  %7s  %9s  %10s\n", "way file", "ops", "reading", "taken", "after stop");
    for (; at < count; at++) failed += measure_all(words[at]);
    printf("%d late\n", asked.late);
    return failed > 0;
}
