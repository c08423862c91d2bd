/* How good are the splits that the matmul cost models pick, on measured device times?
 *
 *     build/bin/bench_matmul_picks measured_matmul_splits.csv
 *
 * The file has one measured split per line: source,B,M,N,K,shared_weight,b,m,n,k,device_us. Of each shape
 * every model picks the measured split that it predicts to be fastest; the figure is the sum of the picks'
 * device times over that of the best ones. Then our model is fitted again, first on all shapes (the constants
 * in lib/graph/cost_tables.c are these, rounded), then with each shape, and each family of shapes, left out
 * of the fit and picked blindly. Also shown is what each shape's unrestricted pick is, where nobody measured
 * it. */
#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "support/matmul_yardstick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    struct matmul_split split;
    double us;
};

struct group {
    struct matmul_shape shape;
    char family[40];
    size_t first, count;
    double best_us;
    bool left_out;
};

static VEC(struct row) rows;
static VEC(struct group) groups;

/* What the fit begins with: the memory's one-way rate, both reduce rings, nothing hidden, one corelet of two.
 * What a fit cannot see, because the shapes that show it are left out, stays at these: without the batched
 * family that is run_overhead and kernel_passes, whose beginnings are guesses, and the figure of that family
 * depends on them. */
static const double prior[COST_FITTED_COUNT] = {150, 4, 0.0143, 1, 2, 0.5};
static const char *const constants[COST_FITTED_COUNT] = {"stream_cap",    "run_overhead",    "psum_us_per_kb",
                                                         "compute_shown", "compute_reduced", "kernel_passes"};

static struct cost_rates rates_with(const double *fitted)
{
    struct cost_rates r = spyre_rates();
    memcpy(&r.value[COST_FITTED], fitted, COST_FITTED_COUNT * sizeof *fitted);
    return r;
}

/* A row that took twelve times the best of its shape is no division that anybody weighs: hangs and worse. */
static const double outlier = 12;

static void family_of(struct group *g, const char *source)
{
    const char *last = strrchr(source, ':');
    if (!g->shape.shared_weight)
        snprintf(g->family, sizeof g->family, "batched");
    else if (strstr(source, "decode"))
        snprintf(g->family, sizeof g->family, "decode %.20s", last ? last + 1 : source);
    else
        snprintf(g->family, sizeof g->family, "prefill %lld rows", (long long)g->shape.m);
}

static bool same_shape(const struct matmul_shape *a, const struct matmul_shape *b)
{
    return a->b == b->b && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->shared_weight == b->shared_weight;
}

static bool read_line(const char *line)
{
    char source[80];
    long long v[9];
    double us;
    if (sscanf(line, "%79[^,],%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf", source, &v[0], &v[1], &v[2],
               &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &us) != 11)
        return false;
    struct group fresh = {.shape = {.b = v[0],
                                    .m = v[1],
                                    .n = v[2],
                                    .k = v[3],
                                    .shared_weight = v[4] != 0,
                                    .operand_bytes = 2,
                                    .output_bytes = 2,
                                    .cores = 32,
                                    .stick_elements = 64},
                          .first = rows.count,
                          .best_us = us};
    if (groups.count == 0 || !same_shape(&groups.at[groups.count - 1].shape, &fresh.shape)) {
        family_of(&fresh, source);
        if (!VEC_PUSH(&groups, fresh)) return false;
    }
    struct group *g = &groups.at[groups.count - 1];
    g->count++;
    g->best_us = fmin(g->best_us, us);
    return VEC_PUSH(&rows, (struct row){{v[5], v[6], v[7], v[8], 0}, us});
}

/* Mean squared log error, the good splits of a shape counting most. */
static double loss(const struct cost_rates *c)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < groups.count; i++) {
        const struct group *g = &groups.at[i];
        for (size_t r = g->first; r < g->first + g->count && !g->left_out; r++) {
            if (rows.at[r].us > outlier * g->best_us) continue;
            double weight = pow(g->best_us / rows.at[r].us, 2);
            double error = log(matmul_time_with(c, &g->shape, &rows.at[r].split) / rows.at[r].us);
            sum += weight * error * error;
            weights += weight;
        }
    }
    return sum / weights;
}

/* Coordinate descent on the logarithms of the constants, steps growing with success and shrinking without. */
static struct cost_rates fit(void)
{
    double best[COST_FITTED_COUNT], step[COST_FITTED_COUNT];
    struct cost_rates c = rates_with(prior);
    memcpy(best, prior, sizeof best);
    for (int i = 0; i < COST_FITTED_COUNT; i++) step[i] = 0.5;
    double least = loss(&c);
    for (int round = 0; round < 60; round++)
        for (int i = 0; i < COST_FITTED_COUNT; i++) {
            bool better = false;
            for (int sign = 1; sign >= -1 && !better; sign -= 2) {
                double trial[COST_FITTED_COUNT];
                memcpy(trial, best, sizeof trial);
                trial[i] *= exp(sign * step[i]);
                c = rates_with(trial);
                double l = loss(&c);
                better = l < least - 1e-12;
                if (better) memcpy(best, trial, sizeof best), least = l;
            }
            step[i] *= better ? 1.3 : 0.6;
        }
    return rates_with(best);
}

/* The measured split that a model predicts to be the fastest; `c` NULL: by `model`. */
static const struct row *pick(const struct group *g, enum matmul_model model, const struct cost_rates *c)
{
    const struct row *best = NULL;
    double least = INFINITY;
    for (size_t r = g->first; r < g->first + g->count; r++) {
        const struct matmul_split *p = &rows.at[r].split;
        double us = c ? matmul_time_with(c, &g->shape, p) : matmul_time(model, &g->shape, p);
        if (us < least) least = us, best = &rows.at[r];
    }
    return best;
}

/* The fastest of all splits into whole sticks, measured or not. */
static struct matmul_split unrestricted(const struct matmul_shape *s)
{
    struct matmul_split p, best = {1, 1, 1, 1, 0};
    struct cost_rates c = spyre_rates();
    int64_t n_sticks = (s->n + 63) / 64, k_sticks = (s->k + 63) / 64;
    double least = INFINITY;
    for (p.b = 1; p.b <= s->cores; p.b++)
        for (p.m = 1; p.b * p.m <= s->cores; p.m++)
            for (p.n = 1; p.b * p.m * p.n <= s->cores; p.n++)
                for (p.k = 1; p.b * p.m * p.n * p.k <= s->cores; p.k++) {
                    if (s->b % p.b || s->m % p.m || n_sticks % p.n || k_sticks % p.k) continue;
                    double us = matmul_time_with(&c, s, &p);
                    if (us < least) least = us, best = p;
                }
    return best;
}

static const char *split_text(const struct matmul_split *p, char out[40])
{
    snprintf(out, 40, "%lld,%lld,%lld,%lld", (long long)p->b, (long long)p->m, (long long)p->n,
             (long long)p->k);
    return out;
}

static bool measured(const struct group *g, const struct matmul_split *p)
{
    for (size_t r = g->first; r < g->first + g->count; r++)
        if (memcmp(&rows.at[r].split, p, sizeof *p) == 0) return true;
    return false;
}

static void table(void)
{
    double best = 0, ours = 0, upstream[MATMUL_MODEL_COUNT] = {0};
    char a[40], b[40];
    printf("%4s %4s %6s %6s  %-18s %9s   %-9s %9s %6s   %-9s %9s %6s\n", "B", "M", "N", "K", "family",
           "best us", "ours", "us", "ratio", "upstream", "us", "ratio");
    for (size_t i = 0; i < groups.count; i++) {
        const struct group *g = &groups.at[i];
        const struct row *o = pick(g, MATMUL_OURS, NULL), *u = pick(g, MATMUL_UPSTREAM_C, NULL);
        printf("%4lld %4lld %6lld %6lld  %-18s %9.1f   %-9s %9.1f %6.3f   %-9s %9.1f %6.3f\n",
               (long long)g->shape.b, (long long)g->shape.m, (long long)g->shape.n, (long long)g->shape.k,
               g->family, g->best_us, split_text(&o->split, a), o->us, o->us / g->best_us,
               split_text(&u->split, b), u->us, u->us / g->best_us);
        best += g->best_us;
        ours += o->us;
        for (int v = MATMUL_UPSTREAM_A; v < MATMUL_MODEL_COUNT; v++)
            upstream[v] += pick(g, (enum matmul_model)v, NULL)->us;
    }
    printf("\ntotal of %zu shapes, %zu splits: best %.1f us\n  %-11s %.4f\n", groups.count, rows.count, best,
           matmul_model_names[0], ours / best);
    for (int v = MATMUL_UPSTREAM_A; v < MATMUL_MODEL_COUNT; v++)
        printf("  %-11s %.4f\n", matmul_model_names[v], upstream[v] / best);
    printf("\nunrestricted picks of ours that nobody measured:\n");
    for (size_t i = 0; i < groups.count; i++) {
        struct matmul_split p = unrestricted(&groups.at[i].shape);
        const struct matmul_shape *s = &groups.at[i].shape;
        if (!measured(&groups.at[i], &p))
            printf("  %lld x %lld x %lld x %lld: %s\n", (long long)s->b, (long long)s->m, (long long)s->n,
                   (long long)s->k, split_text(&p, a));
    }
}

/* Fits without the groups of one family (or one group) and picks for them; adds to the sums. */
static void leave_out(size_t first, bool family, double *picked, double *best)
{
    double own_picked = 0, own_best = 0;
    for (size_t i = 0; i < groups.count; i++)
        groups.at[i].left_out =
            family ? strcmp(groups.at[i].family, groups.at[first].family) == 0 : i == first;
    struct cost_rates c = fit();
    for (size_t i = 0; i < groups.count; i++) {
        if (!groups.at[i].left_out) continue;
        own_picked += pick(&groups.at[i], MATMUL_OURS, &c)->us;
        own_best += groups.at[i].best_us;
        groups.at[i].left_out = false;
    }
    if (family) printf("  without %-18s %.4f on it\n", groups.at[first].family, own_picked / own_best);
    *picked += own_picked;
    *best += own_best;
}

static void cross_validate(void)
{
    double picked = 0, best = 0;
    struct cost_rates c = fit(), begun = rates_with(prior), in_use = spyre_rates();
    size_t skipped = 0;
    for (size_t i = 0; i < groups.count; i++)
        for (size_t r = groups.at[i].first; r < groups.at[i].first + groups.at[i].count; r++)
            skipped += rows.at[r].us > outlier * groups.at[i].best_us;
    printf("\nfitted on all shapes but %zu splits over %.0f times the best of theirs; mean squared log error "
           "%.4f:\n",
           skipped, outlier, loss(&c));
    for (int i = 0; i < COST_FITTED_COUNT; i++)
        printf("  %-16s %9.4f  in use %9.4f  (%s)\n", constants[i], c.value[COST_FITTED + i],
               in_use.value[COST_FITTED + i], cost_table_find("spyre")->number[COST_FITTED + i].origin);
    for (size_t i = 0; i < groups.count; i++) {
        picked += pick(&groups.at[i], MATMUL_OURS, &begun)->us;
        best += groups.at[i].best_us;
    }
    printf("\nwith the numbers that the fit begins with, nothing fitted: %.4f\n", picked / best);
    picked = best = 0;
    for (size_t i = 0; i < groups.count; i++) leave_out(i, false, &picked, &best);
    printf("each shape left out in turn: %.4f\n", picked / best);
    picked = best = 0;
    printf("each family left out in turn:\n");
    for (size_t i = 0; i < groups.count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++) first &= strcmp(groups.at[k].family, groups.at[i].family) != 0;
        if (first) leave_out(i, true, &picked, &best);
    }
    printf("  together                   %.4f\n", picked / best);
}

int main(int argc, char **argv)
{
    lx_status st;
    size_t length;
    char words[1200];
    char *text = argc == 2 ? file_read(argv[1], &length, &st) : NULL;
    if (!text) {
        fprintf(stderr, "bench_matmul_picks: %s\n",
                argc == 2 ? lx_status_describe(&st, words, sizeof words)
                          : "usage: bench_matmul_picks FILE.csv");
        return 2;
    }
    int line = 0;
    for (char *at = strtok(text, "\r\n"); at; at = strtok(NULL, "\r\n"), line++)
        if (!read_line(at) && line > 0) {
            fprintf(stderr, "bench_matmul_picks: line %d is no measured split\n", line + 1);
            return 2;
        }
    if (groups.count > 0) {
        table();
        cross_validate();
    }
    VEC_FREE(&rows);
    VEC_FREE(&groups);
    mem_free(text);
    return 0;
}
