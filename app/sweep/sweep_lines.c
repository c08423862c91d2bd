/* The lines of a sweep and their values: what is to be planned, what has been, what it says. */
#include "sweep/sweep.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

LX_WORDS(sweep_state_word, enum sweep_state, SWEEP_STATES)

static bool sweep_lines_add_line(struct sweep *s, const struct lx_settings *how, int64_t cores, lx_status *st)
{
    struct sweep_line l = {.how = *how, .cores = cores ? cores : s->graph->device.cores};
    enum lx_objective own = s->graph->is_list ? s->graph->objective : LX_SPILL;
    char word[24];
    snprintf(word, sizeof word, "%lld", (long long)cores);
    if (cores && !lx_settings_set_row(&l.how, LX_OPTION_CORES, word, st)) return false;
    snprintf(l.solver, sizeof l.solver, "%s",
             lx_settings_solver(&l.how, lx_asked(lx_settings_ask(&l.how), own))->name);
    l.at = mem_zeroed(s->sizes.count, sizeof *l.at);
    for (size_t i = 0; l.at && i < s->sizes.count; i++) l.at[i].lx = s->sizes.at[i];
    if (l.at && VEC_PUSH(&s->lines, l)) return true;
    mem_free(l.at);
    return status_no_memory(st);
}

static bool sweep_lines_copy(sweep_numbers *to, const sweep_numbers *from)
{
    if (!VEC_RESERVE(to, from->count + 1)) return false;
    if (from->count) memcpy(to->at, from->at, from->count * sizeof *to->at);
    to->count = from->count;
    return true;
}

/* What cores are called where nobody says how many. */
static int64_t own_cores(const struct sweep *s, const struct lx_settings *how)
{
    lx_status st;
    const struct lx_graph *g = lx_settings_graph(how, s->graph, &st);
    int64_t cores = g ? g->device.cores : s->graph->device.cores;
    lx_graph_free(g);
    return cores;
}

bool sweep_begin(struct sweep *s, const struct lx_graph *g, const struct lx_settings *solvers,
                 int solver_count, const sweep_numbers *sizes, const sweep_numbers *cores, lx_status *st)
{
    *s = (struct sweep){.graph = lx_graph_ref(g), .solver_count = solver_count};
    bool ok =
        (sweep_lines_copy(&s->sizes, sizes) && sweep_lines_copy(&s->cores, cores)) || status_no_memory(st);
    if (ok && s->cores.count == 0) ok = VEC_PUSH(&s->cores, own_cores(s, solvers)) || status_no_memory(st);
    for (size_t c = 0; ok && c < s->cores.count; c++)
        for (int k = 0; ok && k < solver_count; k++) {
            ok = sweep_lines_add_line(s, &solvers[k], cores->count ? s->cores.at[c] : 0, st);
            if (ok) s->lines.at[s->lines.count - 1].cores = s->cores.at[c];
        }
    if (!ok) sweep_free(s);
    return ok;
}

void sweep_free(struct sweep *s)
{
    for (size_t i = 0; i < s->lines.count; i++) mem_free(s->lines.at[i].at);
    VEC_FREE(&s->lines);
    VEC_FREE(&s->sizes);
    VEC_FREE(&s->cores);
    lx_graph_free(s->graph);
    *s = (struct sweep){0};
}

bool sweep_points(const struct sweep *s, sweep_tasks *out)
{
    /* All lines of one size next to each other: a screen fills from the left. */
    for (size_t i = 0; i < s->sizes.count; i++)
        for (size_t l = 0; l < s->lines.count; l++) {
            struct sweep_task t = {
                .line = (int32_t)l, .find = SWEEP_POINT, .size = (int32_t)i, .lx = s->sizes.at[i]};
            if (!VEC_PUSH(out, t)) return false;
        }
    return true;
}

static bool sweep_lines_has(const struct sweep_value *v, enum sweep_find find)
{
    return v->state == SWEEP_PLANNED && (find == FIND_PLAN || v->fits);
}

/* Between the last size without the property and the first from which on all have it. */
static bool search_of(const struct sweep *s, int line, enum sweep_find find, struct sweep_task *out)
{
    const struct sweep_line *l = &s->lines.at[line];
    size_t first = s->sizes.count;
    while (first > 0 && sweep_lines_has(&l->at[first - 1], find)) first--;
    if (first == s->sizes.count || first == 0 || l->at[first - 1].state == SWEEP_UNKNOWN) return false;
    *out = (struct sweep_task){.line = line,
                               .find = (int32_t)find,
                               .size = (int32_t)first,
                               .lx = s->sizes.at[first],
                               .below = s->sizes.at[first - 1]};
    return true;
}

bool sweep_searches(const struct sweep *s, sweep_tasks *out)
{
    struct sweep_task t;
    for (size_t l = 0; l < s->lines.count; l++)
        for (int find = 0; find < FIND_COUNT; find++)
            if (search_of(s, (int)l, (enum sweep_find)find, &t) && !VEC_PUSH(out, t)) return false;
    return true;
}

void sweep_keep(struct sweep *s, const struct sweep_task *t, const struct sweep_value *v)
{
    struct sweep_line *l = &s->lines.at[t->line];
    if (t->find == SWEEP_POINT)
        l->at[t->size] = *v;
    else
        l->found[t->find] = *v;
}

double sweep_shown(const struct sweep *s, const struct sweep_value *v)
{
    if (v->state != SWEEP_PLANNED) return NAN;
    return s->by_time ? v->us : (double)v->hbm;
}

double sweep_least(const struct sweep *s, int64_t cores, size_t size)
{
    double most = NAN, least = NAN, value = INFINITY;
    for (size_t i = 0; i < s->lines.count; i++) {
        const struct sweep_value *v = &s->lines.at[i].at[size];
        if (s->lines.at[i].cores != cores || v->state != SWEEP_PLANNED) continue;
        double bound = s->by_time ? v->least_us : (double)v->least;
        if (s->by_time && bound <= 0) continue;
        if (!(bound <= most)) most = bound;
        if (!(bound >= least)) least = bound;
        if (sweep_shown(s, v) < value) value = sweep_shown(s, v);
    }
    /* A bound above another line's plan is one of other divisions: then only the weakest holds for all. */
    return most <= value ? most : least;
}

int sweep_twin(const struct sweep *s, int line)
{
    const struct sweep_line *b = &s->lines.at[line];
    for (int i = 0; i < line; i++) {
        const struct sweep_line *a = &s->lines.at[i];
        bool same = a->cores == b->cores, any = false;
        for (size_t k = 0; same && k < s->sizes.count; k++) {
            double x = sweep_shown(s, &a->at[k]), y = sweep_shown(s, &b->at[k]);
            same = x == y || (isnan(x) && isnan(y));
            any |= same && !isnan(x);
        }
        if (same && any) return i;
    }
    return -1;
}
