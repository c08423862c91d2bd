/* Plans as programs, on a machine: judged op by op, and timed beside what the clock predicts.
 *
 *     build/bin/bench_programs [--on gpu|host] [--launches N] [--verify full|ops|outputs|none] PLAN ...
 *
 * With --verify none programs are timed only. A row a plan: is it right, the largest share of a bound, microseconds predicted and measured, bytes that
 * must cross HBM over the measured time. Needs the library's stages only, so that it runs where there is
 * nothing but a GPU. Exit code: 0, all plans are right; 1, one is not; 2, one could not be run. */
#include "unstable.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The exit code for one plan. */
static int row(const char *path, const struct lx_program_options *how)
{
    lx_status st = {0};
    struct lx_measured m = {0};
    struct lx_plan *p = lx_plan_read(path, &st);
    bool judged = how->judge.verify != LX_VERIFY_NONE;
    struct lx_run_result *r = p && judged ? lx_program_run(p, how, &m, &st) : NULL;
    int code = r ? !r->ok : 2;
    if (p && !judged && lx_program_time(p, how, &m, &st)) {
        printf("%-28s predicted %9.2f us measured %9.2f us least %9.2f\n", name_of(path),
               p->figures.end_to_end_us, m.median_us, m.least_us);
        code = 0;
    } else if (!r)
        printf("%-28s %s\n", name_of(path), st.text);
    else {
        double rate = m.launches ? (double)p->figures.hbm_bytes / m.median_us * 1e-3 : 0;
        printf("%-28s %-8s share %5.3f predicted %9.2f us measured %9.2f us least %9.2f  %6.0f GB/s  %2d "
               "syncs  compiled "
               "in %.1f s\n",
               name_of(path), r->ok ? "right" : "WRONG", r->share, r->end_to_end_us, m.median_us, m.least_us,
               rate, (int)p->figures.sync_times, m.seconds_compile);
        for (int32_t o = 0; o < r->op_count && !r->ok; o++)
            if (r->ops[o].wrong || r->ops[o].altered)
                printf("    op %d %s (%s): %lld wrong, by %g of %g, bound %g; %lld altered\n", (int)o,
                       p->layouts->graph->ops[o].name, p->layouts->graph->ops[o].kind->name,
                       (long long)r->ops[o].wrong, r->ops[o].error, r->ops[o].largest, r->ops[o].bound,
                       (long long)r->ops[o].altered);
        if (!r->ok)
            printf("    %lld faults, first: %s; %lld elements of outputs lost, %lld bytes other without "
                   "traces; %s\n",
                   (long long)r->fault_count, r->fault_count ? r->faults[0].text : "none",
                   (long long)m.outputs_lost, (long long)m.outputs_differing,
                   r->unequal ? r->unequal : "counts as planned");
    }
    fflush(stdout);
    lx_run_result_free(r);
    lx_plan_free(p);
    return code;
}

int main(int argc, char **argv)
{
    struct lx_program_options how = {
        .machine = "gpu", .launches = 200, .judge = {.verify = LX_VERIFY_OPS, .threads = 8}};
    char words[200];
    int worst = 0, i = 1;
    lx_status st = {0};
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "--on") == 0) how.machine = argv[i + 1];
        if (strcmp(argv[i], "--launches") == 0) how.launches = atoi(argv[i + 1]);
        for (int v = 0; v < LX_VERIFY_COUNT && strcmp(argv[i], "--verify") == 0; v++)
            if (strcmp(argv[i + 1], lx_verify_word((enum lx_verify)v)) == 0)
                how.judge.verify = (enum lx_verify)v;
    }
    if (!lx_machine_there(how.machine, words, sizeof words, &st)) return printf("%s\n", st.text), 2;
    printf("%s\n", words);
    for (; i < argc; i++) {
        int code = row(argv[i], &how);
        worst = code > worst ? code : worst;
    }
    return worst;
}
