/* Structured placement problems (dsa-problem-v1) solved by exact, beside what is published of them.
 *
 *     build/bin/bench_structured DIRECTORY [PART-OF-A-NAME]
 *
 * DIRECTORY has the problems and `published.csv` (file, variant, ..., published_best, proven, method). One row a file:
 * status, value, bound, what is published, milliseconds; then sums for each variant. Ends with 1 where a value is above
 * the published best or contradicts it. */
#include "support/bench_clock.h"
#include "base/memory.h"
#include "unstable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 11, FILE_NAME = 0, VARIANT = 1, BEST = 8, PROVEN = 9, LINE = 1000, VARIANTS = 8 };

struct sum {
    char name[32];
    int files, proved, worse, better;
    double seconds;
};

static struct sum sums[VARIANTS];

static struct sum *sum_of(const char *variant)
{
    for (int k = 0; k < VARIANTS; k++) {
        if (!sums[k].name[0]) snprintf(sums[k].name, sizeof sums[k].name, "%s", variant);
        if (strcmp(sums[k].name, variant) == 0) return &sums[k];
    }
    return &sums[VARIANTS - 1];
}

static int cut(char *line, char **field)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && n < COLUMNS; n++) {
        field[n] = at;
        at = strchr(at, ',');
        if (at) *at++ = 0;
    }
    return n;
}

/* Below, at or above what is published: -1, 0, 1. */
static int compare(const struct lx_answer *a, bool found, const char *best)
{
    if (strcmp(best, "infeasible") == 0) return a->status == LX_INFEASIBLE ? 0 : found ? 1 : 0;
    if (!*best) return 0;
    if (strcmp(best, "none found") == 0) return found || a->status == LX_INFEASIBLE ? -1 : 0;
    if (!found) return 1;
    return (a->objective > atoll(best)) - (a->objective < atoll(best));
}

static void print_row(char **field, const struct lx_answer *a, bool found, double seconds)
{
    struct sum *sum = sum_of(field[VARIANT]);
    bool proved = a->status == LX_OPTIMAL || a->status == LX_INFEASIBLE;
    int other = compare(a, found, field[BEST]);
    sum->files++;
    sum->proved += proved;
    sum->worse += other > 0;
    sum->better += other < 0;
    sum->seconds += seconds;
    printf("%-6s %-10s", field[VARIANT], lx_verdict_word(a->status));
    if (found)
        printf(" %12lld", (long long)a->objective);
    else
        printf(" %12s", "-");
    printf(" %12lld %12s %-3s %10.1f ms %10lld steps %s %.70s\n", (long long)a->bound, field[BEST],
           field[PROVEN], 1000 * seconds, (long long)a->steps,
           other > 0   ? "WORSE"
           : other < 0 ? "better"
                       : "",
           field[FILE_NAME]);
    fflush(stdout);
}

static bool run_file(const char *directory, char **field, lx_status *st)
{
    char path[2000];
    snprintf(path, sizeof path, "%s/%s", directory, field[FILE_NAME]);
    const struct lx_graph *g = lx_graph_read(path, st);
    if (!g) return false;
    struct lx_plan_options options = {.objective = LX_ASK_OWN};
    struct lx_question *q = lx_problem_of(g, &options, st);
    struct lx_run run = {0};
    size_t n = q ? (size_t)q->problem.count + 1 : 1;
    struct lx_answer a = {.address = mem_alloc(n * sizeof *a.address), .pool = mem_zeroed(n, sizeof *a.pool)};
    double start = now();
    bool ok =
        q && a.address && a.pool && lx_problem_solve(&q->problem, lx_solver_find("exact"), &run, &a, st);
    double seconds = now() - start;
    bool found =
        ok && a.status != LX_INFEASIBLE && a.status != LX_ERROR && !lx_left_out(&q->problem, a.address);
    if (ok) print_row(field, &a, found, seconds);
    if (ok && a.message[0]) printf("       %s\n", a.message);
    mem_free(a.address);
    mem_free(a.pool);
    lx_question_free(q);
    lx_graph_free(g);
    return ok;
}

static FILE *open_list(const char *directory)
{
    char path[2000], line[LINE];
    snprintf(path, sizeof path, "%s/published.csv", directory);
    FILE *f = fopen(path, "r");
    if (f && !fgets(line, sizeof line, f)) {
        fclose(f);
        f = NULL;
    }
    return f;
}

int main(int argc, char **argv)
{
    char line[LINE], *field[COLUMNS];
    lx_status st;
    int worse = 0;
    FILE *list = argc > 1 ? open_list(argv[1]) : NULL;
    if (!list) return fprintf(stderr, "usage: bench_structured DIRECTORY (with published.csv)\n"), 2;
    while (fgets(line, sizeof line, list)) {
        if (cut(line, field) < COLUMNS || (argc > 2 && !strstr(field[FILE_NAME], argv[2]))) continue;
        if (!run_file(argv[1], field, &st)) return fprintf(stderr, "%s: %s\n", field[FILE_NAME], st.text), 3;
    }
    fclose(list);
    for (int k = 0; k < VARIANTS && sums[k].name[0]; k++) {
        printf("%-6s %3d files, %3d proved, %d better than published, %d worse, %.2f s\n", sums[k].name,
               sums[k].files, sums[k].proved, sums[k].better, sums[k].worse, sums[k].seconds);
        worse += sums[k].worse;
    }
    return worse > 0;
}
