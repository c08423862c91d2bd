/* The two curves by which solvers are compared: performance profile and cactus. */
#include "bench/report.h"

#include <math.h>
#include <stdlib.h>

/* Times below this are the clock's noise: a ratio of two of them says nothing. */
#define LEAST_SECONDS 1e-6

static int curves_compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double curves_at_least(double seconds)
{
    return seconds < LEAST_SECONDS ? LEAST_SECONDS : seconds;
}

static size_t problem_count(const struct summary *s)
{
    return s->problems.count - (size_t)s->bad_inputs;
}

/* Per problem that the solver hits: its time, or the ratio of that to the fastest; sorted. */
static bool add_curve(const struct summary *s, size_t k, bool ratios, struct figure *f)
{
    if (!VEC_PUSH(&f->curves, (struct curve){.name = s->solvers.at[k].label})) return false;
    struct curve *c = &f->curves.at[f->curves.count - 1];
    for (size_t p = 0; p < s->problems.count; p++) {
        const struct cell *e = summary_cell(s, p, k);
        if (e->runs == 0 || !isfinite(e->time)) continue;
        double t = curves_at_least(e->time);
        if (!VEC_PUSH(&c->x, ratios ? t / curves_at_least(s->problems.at[p].fastest) : t)) return false;
    }
    if (c->x.count) qsort(c->x.at, c->x.count, sizeof *c->x.at, curves_compare_numbers);
    for (size_t i = 0; i < c->x.count; i++)
        if (!VEC_PUSH(&c->y, (double)(i + 1))) return false;
    return true;
}

bool profile_figure(const struct summary *s, struct figure *f)
{
    *f = (struct figure){.title = "Performance profile",
                         .x_label = "time / fastest time",
                         .y_label = "share of instances",
                         .x_is_log = true,
                         .x_low = 1,
                         .x_high = 2,
                         .y_high = 1};
    for (size_t k = 0; k < s->solvers.count; k++) {
        if (!add_curve(s, k, true, f)) return false;
        struct curve *c = &f->curves.at[f->curves.count - 1];
        for (size_t i = 0; i < c->x.count; i++) {
            c->y.at[i] /= (double)problem_count(s);
            if (c->x.at[i] > f->x_high) f->x_high = c->x.at[i];
        }
    }
    f->x_high *= 1.1; /* room to see that the curves stay flat */
    return true;
}

bool cactus_figure(const struct summary *s, struct figure *f)
{
    *f = (struct figure){.title = "Cactus plot",
                         .x_label = "instances with the best value",
                         .y_label = "time, each",
                         .y_is_log = true,
                         .x_high = 1,
                         .y_low = INFINITY,
                         .y_high = LEAST_SECONDS};
    for (size_t k = 0; k < s->solvers.count; k++) {
        if (!add_curve(s, k, false, f)) return false;
        struct curve *c = &f->curves.at[f->curves.count - 1];
        for (size_t i = 0; i < c->x.count; i++) {
            double seconds = c->x.at[i];
            c->x.at[i] = c->y.at[i];
            c->y.at[i] = seconds;
            if (seconds < f->y_low) f->y_low = seconds;
            if (seconds > f->y_high) f->y_high = seconds;
        }
    }
    f->x_high = problem_count(s) > 1 ? (double)problem_count(s) : 1;
    if (!isfinite(f->y_low)) f->y_low = LEAST_SECONDS;
    f->y_low = pow(10, floor(log10(f->y_low)));
    f->y_high = pow(10, ceil(log10(f->y_high)));
    if (f->y_high <= f->y_low) f->y_high = f->y_low * 10;
    return true;
}

void figure_free(struct figure *f)
{
    for (size_t i = 0; i < f->curves.count; i++) {
        VEC_FREE(&f->curves.at[i].x);
        VEC_FREE(&f->curves.at[i].y);
    }
    VEC_FREE(&f->curves);
}
