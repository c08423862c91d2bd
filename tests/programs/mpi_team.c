/* Team plans under mpirun: mpi_team [--fault KIND MEMBER STEP] PATTERN ... runs each pattern with as many
 * members as there are processes. Exit: 0 all equal to one device, 1 not or a member at fault,
 * 2 bad input. */
#include "unstable.h"
#include "solvers.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the kernel would do it. */
static void die(void)
{
    kill(getpid(), SIGKILL);
}

static const struct {
    const char *word;
    enum lx_team_fault_kind kind;
} faults[] = {{"dies", LX_TEAM_DIES},
              {"hangs", LX_TEAM_HANGS},
              {"other-plan", LX_TEAM_OTHER_PLAN},
              {"wrong-size", LX_TEAM_WRONG_SIZE}};

static bool run_one(const char *path, int members, int rank, const struct lx_team_fault *fault, lx_status *st)
{
    const struct lx_transport *mpi = lx_transport_find("mpi", st);
    const struct lx_graph *g = mpi ? lx_graph_read(path, st) : NULL;
    struct lx_team_options how = {.members = members};
    struct lx_team_plan *plan = g ? lx_team_make(g, &how, st) : NULL;
    struct lx_plan_options each = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options run = {
        .transport = mpi, .seed = 7, .plan = &each, .timeout_ms = 3000, .fault = *fault};
    if (fault->kind == LX_TEAM_NO_FAULT) run.timeout_ms = 60000; /* other tests keep the machine busy */
    struct lx_team_result r = {0};
    bool ok = plan && lx_team_run(plan, &run, &r, st);
    if (ok && r.compared) {
        printf(
            "%s on %d: %s, %lld of %lld elements differ, worst %g; HBM %lld of %lld, LX %lld of %lld bytes\n",
            g->name, members, r.ok ? "ok" : "NOT OK", (long long)r.differing, (long long)r.elements, r.worst,
            (long long)(r.total.counted.hbm_read + r.total.counted.hbm_written),
            (long long)(r.total.planned.hbm_read + r.total.planned.hbm_written),
            (long long)(r.total.counted.lx_read + r.total.counted.lx_written),
            (long long)(r.total.planned.lx_read + r.total.planned.lx_written));
        if (!r.ok || r.total.bytes != plan->bytes || r.worst > 1e-6 * r.largest) {
            ok = false;
            snprintf(st->text, sizeof st->text, "member %d: other results than one device's", rank);
            st->code = LX_E_NO;
        }
    }
    lx_team_result_free(&r);
    lx_team_free(plan);
    lx_graph_free(g);
    return ok;
}

int main(int argc, char **argv)
{
    int rank, members, first = 1;
    struct lx_team_fault fault = {0};
    lx_status st = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &members);
    if (argc > 4 && strcmp(argv[1], "--fault") == 0) {
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            if (strcmp(argv[2], faults[i].word) == 0) fault.kind = faults[i].kind;
        fault.member = atoi(argv[3]);
        fault.step = atoi(argv[4]);
        fault.die = die;
        first = 5;
    }
    bool ok = first < argc;
    for (int i = first; i < argc && ok; i++) ok = run_one(argv[i], members, rank, &fault, &st);
    if (!ok) {
        fprintf(stderr, "mpi_team: %s\n", st.text[0] ? st.text : "no pattern given");
        fflush(stderr);
    }
    lx_transport_find("mpi", &st)->end(ok);
    return 0;
}
