/* Rows gathered by problem and solver, then four walks: labels, the best known value per problem, the cells
 * with their medians, the sums per solver. Linear searches: some 1,000 problems and ten solvers are the most
 * there are. */
#include "bench/summary.h"
#include "bench/statistics.h"
#include "text/format.h"

/* Labels of instances: the name where it is unique, else as much of the path as tells instances apart, and
 * the capacity where even the file is the same. */

static void label_problems(struct summary *s)
{
    const char **paths = arena_array(&s->memory, s->problems.count + 1, sizeof *paths);
    for (size_t i = 0; i < s->problems.count; i++) {
        struct problem *p = &s->problems.at[i];
        /* The paths of the problems that are called like problem i. */
        size_t n = 0;
        for (size_t k = 0; k < s->problems.count; k++)
            if (strcmp(s->problems.at[k].name, p->name) == 0) paths[n++] = s->problems.at[k].path;
        p->label = n > 1 ? path_tail(p->path, paths, n) : p->name;
        /* "moe_mlp at 102,400 B, spill": one file, asked twice. */
        bool twin = false;
        for (size_t k = 0; k < s->problems.count; k++)
            twin |= k != i && strcmp(s->problems.at[k].name, p->name) == 0 &&
                    strcmp(s->problems.at[k].path, p->path) == 0;
        if (twin)
            p->label =
                arena_format(&s->memory, "%s at %s B, %s", p->label, grouped(p->capacity).at, p->question);
    }
}

const char *measure_of(const char *question, bool is_graph)
{
    if (strcmp(question, "time") == 0) return "ns";
    if (strcmp(question, "spill") == 0 || strcmp(question, "bytes") == 0)
        return is_graph ? "HBM bytes" : "spill";
    return strcmp(question, "height") == 0 ? "height" : "placed";
}

size_t summary_problem(const struct summary *s, const struct row *r)
{
    for (size_t i = 0; i < s->problems.count; i++)
        if (strcmp(s->problems.at[i].hash, r->hash) == 0 && strcmp(s->problems.at[i].name, r->name) == 0 &&
            strcmp(s->problems.at[i].question, r->question) == 0)
            return i;
    return s->problems.count;
}

size_t summary_solver(const struct summary *s, const struct row *r)
{
    for (size_t i = 0; i < s->solvers.count; i++)
        if (strcmp(s->solvers.at[i].solver, r->solver) == 0 &&
            strcmp(s->solvers.at[i].config, r->config) == 0)
            return i;
    return s->solvers.count;
}

static void summary_enter(struct summary *s, const struct row *r)
{
    size_t p = summary_problem(s, r);
    if (p == s->problems.count)
        VEC_PUSH(&s->problems, (struct problem){.name = r->name,
                                                .path = r->instance,
                                                .hash = r->hash,
                                                .question = r->question,
                                                .class = r->class ? r->class : "",
                                                .buffers = r->buffers,
                                                .capacity = r->capacity,
                                                .fastest = INFINITY});
    if (r->outcome == OUTCOME_BAD_INPUT) {
        s->bad_inputs += !s->problems.at[p].bad;
        s->problems.at[p].bad = r->message;
        return;
    }
    if (r->time_limit > s->limit) s->limit = r->time_limit;
    if (summary_solver(s, r) == s->solvers.count)
        VEC_PUSH(&s->solvers,
                 (struct contender){.solver = r->solver, .config = r->config, .label = r->solver});
}

static bool is_hit(const struct summary *s, const struct problem *p, const struct row *r)
{
    if (!row_is_solved(r) || (r->has_seconds && r->seconds > r->time_limit * LATE)) return false;
    if (r->outcome == OUTCOME_INFEASIBLE) return true;
    return (double)r->value <= (double)p->best + fabs((double)p->best) * s->within;
}

struct samples {
    VEC(double) times, ended, values, gaps, steps, speeds, device, whole, measured;
};

static void add_sample(struct samples *v, struct cell *c, const struct summary *s, const struct problem *p,
                       const struct row *r)
{
    bool hit = is_hit(s, p, r), solved = row_is_solved(r);
    double seconds = r->has_seconds ? r->seconds : r->time_limit;
    c->runs++;
    c->outcomes[r->outcome]++;
    c->solved += solved;
    c->proved += r->outcome == OUTCOME_OPTIMAL || r->outcome == OUTCOME_INFEASIBLE;
    c->hits += hit;
    c->par2 += hit ? seconds : 2 * r->time_limit;
    if (r->peak_kb > c->peak_kb) c->peak_kb = r->peak_kb;
    if (!c->message && r->message[0]) c->message = r->message;
    VEC_PUSH(&v->times, hit ? seconds : INFINITY);
    if (r->has_seconds) {
        VEC_PUSH(&v->ended, seconds);
        VEC_PUSH(&v->steps, (double)r->steps);
        if (seconds > 0) VEC_PUSH(&v->speeds, (double)r->steps / seconds);
    }
    if (solved && r->has_value) {
        VEC_PUSH(&v->values, (double)r->value);
        if (p->has_bound && (p->bound > 0 || r->value <= 0)) /* else it is no number */
            VEC_PUSH(&v->gaps, lx_gap(r->value, p->bound));
    }
    if (r->has_clocks) {
        VEC_PUSH(&v->device, r->device_us);
        VEC_PUSH(&v->whole, r->end_to_end_us);
    }
    if (r->has_measured) VEC_PUSH(&v->measured, r->measured_us);
}

static double mean_of(const double *sample, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += sample[i];
    return n ? sum / (double)n : NAN;
}

static void finish_cell(struct samples *v, struct cell *c)
{
    c->time = median_of(v->times.at, v->times.count);
    c->seconds = median_of(v->ended.at, v->ended.count); /* sorts */
    c->least = v->ended.count ? v->ended.at[0] : NAN;
    c->most = v->ended.count ? v->ended.at[v->ended.count - 1] : NAN;
    c->deviation = v->ended.count > 1 ? standard_deviation_of(v->ended.at, v->ended.count) : NAN;
    double noise = v->ended.count >= 5 ? deviation_of(v->ended.at, v->ended.count) : 0;
    for (size_t i = 0; noise > 0 && i < v->ended.count; i++)
        c->outliers += fabs(v->ended.at[i] - c->seconds) > OUTLIER_DEVIATIONS * noise;
    c->value = median_of(v->values.at, v->values.count);
    c->lowest = v->values.count ? v->values.at[0] : NAN;
    c->highest = v->values.count ? v->values.at[v->values.count - 1] : NAN;
    c->gap = mean_of(v->gaps.at, v->gaps.count);
    c->device_us = median_of(v->device.at, v->device.count);
    c->end_to_end_us = median_of(v->whole.at, v->whole.count);
    c->measured_us = median_of(v->measured.at, v->measured.count);
    c->steps = median_of(v->steps.at, v->steps.count);
    c->steps_a_second = median_of(v->speeds.at, v->speeds.count);
    if (c->runs) c->par2 /= (double)c->runs;
}

static void fill_cells(struct summary *s, const struct results *r)
{
    size_t count = s->problems.count * s->solvers.count;
    OWNED struct samples *all = mem_zeroed(count + 1, sizeof *all);
    s->cells = arena_array(&s->memory, count, sizeof *s->cells);
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct row *row = &r->rows.at[i];
        if (row->outcome == OUTCOME_BAD_INPUT) continue;
        size_t p = summary_problem(s, row), k = p * s->solvers.count + summary_solver(s, row);
        add_sample(&all[k], &s->cells[k], s, &s->problems.at[p], row);
    }
    for (size_t k = 0; k < count; k++) {
        finish_cell(&all[k], &s->cells[k]);
        VEC_FREE(&all[k].times);
        VEC_FREE(&all[k].ended);
        VEC_FREE(&all[k].values);
        VEC_FREE(&all[k].gaps);
        VEC_FREE(&all[k].steps);
        VEC_FREE(&all[k].speeds);
        VEC_FREE(&all[k].device);
        VEC_FREE(&all[k].measured);
        VEC_FREE(&all[k].whole);
    }
}

/* Figures that are means over problems, so that a problem with more seeds does not weigh more. */
static void summary_sum_up(struct summary *s, size_t k, struct contender *c)
{
    OWNED VEC(double) times = {0}, gaps = {0}, above = {0}, middles = {0};
    double par2 = 0;
    for (size_t p = 0; p < s->problems.count; p++) {
        const struct cell *e = summary_cell(s, p, k);
        const struct problem *q = &s->problems.at[p];
        if (e->runs == 0 || (c->class && strcmp(c->class, q->class) != 0)) continue;
        c->runs += e->runs;
        c->solved += e->solved;
        c->proved += e->proved;
        c->hits += e->hits;
        for (int o = 0; o < OUTCOME_COUNT; o++) c->outcomes[o] += e->outcomes[o];
        par2 += e->par2;
        if (!c->class) s->outliers += e->outliers;
        VEC_PUSH(&times, isfinite(e->time) ? e->time : s->limit);
        if (!isnan(e->seconds)) VEC_PUSH(&middles, e->seconds);
        if (!isnan(e->gap)) VEC_PUSH(&gaps, e->gap);
        if (!isnan(e->value))
            VEC_PUSH(&above, e->value > (double)q->best ? 1 - (double)q->best / e->value : 0);
        c->wins += cell_wins(q, e);
    }
    c->par2 = times.count ? par2 / (double)times.count : NAN;
    c->mean = shifted_geometric_mean(times.at, times.count, SHIFT_SECONDS);
    c->median = median_of(middles.at, middles.count);
    c->gap = mean_of(gaps.at, gaps.count);
    c->mean_gap = shifted_geometric_mean(gaps.at, gaps.count, SHIFT_GAP);
    c->above_best = mean_of(above.at, above.count);
}

/* PAR2 of the virtual best of all solvers but `without`. */
static double virtual_par2(const struct summary *s, size_t without)
{
    double sum = 0;
    size_t n = 0;
    for (size_t p = 0; p < s->problems.count; p++) {
        double least = 2 * s->limit;
        bool any = false;
        for (size_t k = 0; k < s->solvers.count; k++) {
            const struct cell *e = summary_cell(s, p, k);
            any |= e->runs > 0;
            if (k != without && e->runs > 0 && e->time < least) least = e->time;
        }
        n += any;
        if (any) sum += least;
    }
    return n ? sum / (double)n : NAN;
}

static void find_virtual_best(struct summary *s)
{
    struct contender *b = &s->best;
    OWNED VEC(double) times = {0};
    *b = (struct contender){.label = "virtual best", .solver = "", .config = "", .is_virtual = true};
    for (size_t p = 0; p < s->problems.count; p++) {
        size_t hitters = 0, last = 0;
        bool any = false, proved = false, solved = false;
        for (size_t k = 0; k < s->solvers.count; k++) {
            const struct cell *e = summary_cell(s, p, k);
            any |= e->runs > 0;
            proved |= e->proved > 0;
            solved |= e->solved > 0;
            if (e->runs == 0 || !isfinite(e->time)) continue;
            hitters++;
            last = k;
        }
        if (!any) continue;
        b->runs++;
        b->solved += solved;
        b->proved += proved;
        b->hits += hitters > 0;
        if (hitters == 1) s->solvers.at[last].only++;
        VEC_PUSH(&times, isfinite(s->problems.at[p].fastest) ? s->problems.at[p].fastest : s->limit);
    }
    b->par2 = virtual_par2(s, s->solvers.count);
    for (size_t k = 0; k < s->solvers.count; k++)
        s->solvers.at[k].contribution = virtual_par2(s, k) - b->par2;
    b->mean = shifted_geometric_mean(times.at, times.count, SHIFT_SECONDS);
    b->median = median_of(times.at, times.count);
    b->gap = b->mean_gap = b->above_best = b->contribution = NAN;
}

void summary_make(struct summary *s, const struct results *r, double within)
{
    *s = (struct summary){.within = within};
    for (size_t i = 0; i < r->rows.count; i++) summary_enter(s, &r->rows.at[i]);
    /* A solver with two configurations among the rows is two contenders; its label then says which. */
    for (size_t i = 0; i < s->solvers.count; i++) {
        bool again = false;
        for (size_t k = 0; k < s->solvers.count; k++)
            again |= k != i && strcmp(s->solvers.at[i].solver, s->solvers.at[k].solver) == 0;
        if (!again) continue;
        s->solvers.at[i].label =
            arena_format(&s->memory, "%s#%.4s", s->solvers.at[i].solver, s->solvers.at[i].config);
    }
    label_problems(s);
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct row *row = &r->rows.at[i];
        struct problem *p = &s->problems.at[summary_problem(s, row)];
        if (row->has_value && (!p->has_best || row->value < p->best)) {
            p->has_best = true;
            p->best = row->value;
        }
        if (row->has_known && (!p->has_best || row->known < p->best))
            p->has_best = true, p->best = row->known;
        if (row->has_known_bound && (!p->has_bound || row->known_bound > p->bound))
            p->has_bound = true, p->bound = row->known_bound;
        p->is_graph |= row->has_clocks;
        p->infeasible |= row->outcome == OUTCOME_INFEASIBLE;
        /* Contradicted bounds are marked as wrong already. */
        if (row->has_bound && row->outcome != OUTCOME_WRONG && (!p->has_bound || row->bound > p->bound)) {
            p->has_bound = true;
            p->bound = row->bound;
        }
    }
    fill_cells(s, r);
    for (size_t p = 0; p < s->problems.count; p++)
        for (size_t k = 0; k < s->solvers.count; k++) {
            const struct cell *e = summary_cell(s, p, k);
            if (e->runs && e->time < s->problems.at[p].fastest) s->problems.at[p].fastest = e->time;
        }
    for (size_t k = 0; k < s->solvers.count; k++) summary_sum_up(s, k, &s->solvers.at[k]);
    find_virtual_best(s);
}

struct contender summary_of_class(struct summary *s, size_t solver, const char *class)
{
    const struct contender *of = &s->solvers.at[solver];
    struct contender c = {.label = of->label, .solver = of->solver, .config = of->config, .class = class};
    summary_sum_up(s, solver, &c);
    return c;
}

void summary_free(struct summary *s)
{
    VEC_FREE(&s->problems);
    VEC_FREE(&s->solvers);
    arena_free(&s->memory);
    *s = (struct summary){0};
}

/* A claim that another solver's legal answer disproves. Rows are written before all answers are known, so
 * the readers of whole files find these. */

static int compare_problems(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    int by_hash = strcmp(x->hash, y->hash);
    return by_hash ? by_hash : strcmp(x->question, y->question);
}

static void contradict(struct results *r, struct row *row, const struct row *by, const char *claim,
                       int64_t number)
{
    row->message =
        arena_format(&r->memory, "claims %s %lld, but %s (seed %lld) has a legal answer of %lld", claim,
                     (long long)number, by->solver, (long long)by->seed, (long long)by->value);
    row->outcome = OUTCOME_WRONG;
}

/* Rows of one problem. A value is only there when the checker has accepted the answer, so that it counts
 * even where the same row claims a false bound. */
static void mark_problem(struct results *r, struct row **rows_of, size_t n)
{
    const struct row *best = NULL;
    struct row known = {.has_value = true, .solver = "the suite"};
    if (rows_of[0]->has_known) known.value = rows_of[0]->known, best = &known;
    for (size_t i = 0; i < n; i++)
        if (rows_of[i]->has_value && (!best || rows_of[i]->value < best->value)) best = rows_of[i];
    for (size_t i = 0; best && i < n; i++) {
        struct row *row = rows_of[i];
        if (row->outcome == OUTCOME_WRONG || row->outcome == OUTCOME_BAD_INPUT) continue;
        if (row->outcome == OUTCOME_INFEASIBLE) {
            row->outcome = OUTCOME_WRONG;
            row->message =
                arena_format(&r->memory, "claims that nothing fits, but %s (seed %lld) has placed everything",
                             best->solver, (long long)best->seed);
        } else if (row->has_bound && row->bound > best->value)
            contradict(r, row, best, "the bound", row->bound);
        else if (strcmp(row->claim, "optimal") == 0 && row->has_value && row->value > best->value)
            contradict(r, row, best, "the best value", row->value);
    }
}

void mark_contradictions(struct results *r)
{
    size_t n = r->rows.count;
    struct row **sorted = mem_alloc((n + 1) * sizeof *sorted);
    for (size_t i = 0; i < n; i++) sorted[i] = &r->rows.at[i];
    qsort(sorted, n, sizeof *sorted, compare_problems);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && compare_problems(&sorted[i], &sorted[k]) == 0;) k++;
        mark_problem(r, sorted + i, k - i);
    }
    mem_free(sorted);
}
