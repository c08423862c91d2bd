/* Team plans under mpirun: mpi_team [--fault KIND MEMBER WHEN] [--grid AxB] PATTERN ... runs each pattern with as many
 * members as there are processes, in a row or a grid. WHEN is a word of `phases` or the number of an op. Without mpirun:
 * mpi_team --no-memory, what the plug-in does then. Exit: 0 all equal to one device, 1 not or a member at fault. */
#include "unstable.h"
#include "solvers.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The time of the others counts from here. */
static void tell(void)
{
    static const char words[] = "mpi_team: now\n";
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) return;
    static const struct timespec on_its_way = {0, 200000000};
    nanosleep(&on_its_way, NULL);
}

/* As the kernel would do it. */
static void die(void)
{
    tell();
    kill(getpid(), SIGKILL);
}

/* As a debugger, or somebody's Ctrl-Z, would do it. */
static void freeze(void)
{
    tell();
    raise(SIGSTOP); /* this thread, too, at once */
}

static const struct {
    const char *word;
    enum lx_team_fault_kind kind;
    void (*act)(void);
} faults[] = {{"dies", LX_TEAM_DIES, die},
              {"stops", LX_TEAM_DIES, freeze},
              {"hangs", LX_TEAM_HANGS, NULL},
              {"other-plan", LX_TEAM_OTHER_PLAN, NULL},
              {"wrong-size", LX_TEAM_WRONG_SIZE, NULL},
              {"wrong-wire", LX_TEAM_WRONG_WIRE, NULL}};

static const char *const phases[LX_TEAM_PHASES] = {"op", "agreement", "outputs", "accounts", "end"};

static struct lx_team_fault fault;
static const char *when = "";

/* What waits for all processes, and has no time limit: the wrappers that MPI leaves to its users. */
static void perhaps(const char *where)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (fault.die && rank && atoi(rank) == fault.device && strcmp(when, where) == 0) fault.die();
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    perhaps("init");
    return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Comm_dup(MPI_Comm old, MPI_Comm *new)
{
    perhaps("dup");
    return PMPI_Comm_dup(old, new);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    perhaps("leaving");
    return PMPI_Ibarrier(comm, request);
}

static void read_fault(char **word)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(word[0], faults[i].word) == 0)
            fault = (struct lx_team_fault){.kind = faults[i].kind, .die = faults[i].act};
    fault.device = atoi(word[1]);
    fault.step = atoi(when = word[2]);
    for (int i = 1; i < LX_TEAM_PHASES; i++)
        if (strcmp(when, phases[i]) == 0) fault.phase = (enum lx_team_phase)i;
    /* one of the wrappers' words: nothing happens at any op */
    if (fault.phase == LX_TEAM_AT_OP && (when[0] < '0' || when[0] > '9')) fault.step = -1;
}

static bool run_one(const char *path, const struct lx_team_grid *grid, lx_status *st)
{
    int members = lx_team_device_count(grid);
    const struct lx_transport *mpi = lx_transport_find("mpi", st);
    const struct lx_graph *g = mpi ? lx_graph_read(path, st) : NULL;
    struct lx_team_options how = {.grid = *grid};
    struct lx_team_plan *plan = g ? lx_team_make(g, &how, st) : NULL;
    struct lx_plan_options each = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options run = {
        .transport = mpi, .seed = 7, .plan = &each, .timeout_ms = 3000, .fault = fault};
    if (fault.kind == LX_TEAM_NO_FAULT) run.timeout_ms = 60000; /* other tests keep the machine busy */
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
            snprintf(st->text, sizeof st->text, "other results than one device's");
            st->code = LX_E_NO;
        }
    }
    lx_team_result_free(&r);
    lx_team_free(plan);
    lx_graph_free(g);
    return ok;
}

/* Others are not left waiting. */
static int leave(const struct lx_transport *mpi, bool ok, lx_status *st)
{
    if (ok) ok = mpi->end(true, st);
    if (ok) return 0;
    fprintf(stderr, "mpi_team: %s\n", st->text[0] ? st->text : "no pattern given");
    fflush(stderr);
    mpi->end(false, st);
    return 1;
}

/* The plug-in, which has an allocator of its own, reports that memory is out; MPI has not begun. */
static int lack_memory(const struct lx_transport *mpi)
{
    enum { MUCH = 1 << 30 };
    static char data[1];
    struct lx_link link = {.transport = mpi, .devices = 2};
    const struct lx_message out[2] = {{0}, {data, MUCH}}, in[2] = {{0}};
    lx_status st = {0};
    setrlimit(RLIMIT_AS, &(struct rlimit){MUCH, MUCH});
    return mpi->start(&link, 1, out, in, &st) == NULL && st.code == LX_E_MEMORY ? 0 : 1;
}

int main(int argc, char **argv)
{
    int first = 1;
    lx_status st = {0};
    struct lx_team_grid grid = {1, {0}};
    const struct lx_transport *mpi = lx_transport_find("mpi", &st);
    if (argc > 1 && strcmp(argv[1], "--no-memory") == 0) return lack_memory(mpi);
    if (argc > first + 3 && strcmp(argv[first], "--fault") == 0) {
        read_fault(argv + first + 1);
        first += 4;
    }
    bool ok = true;
    if (argc > first + 1 && strcmp(argv[first], "--grid") == 0) {
        ok = lx_team_grid_of_text(argv[first + 1], &grid, &st);
        first += 2;
    } else
        ok = (grid.size[0] = mpi->devices(&st)) > 0;
    ok = ok && first < argc;
    for (int i = first; i < argc && ok; i++) ok = run_one(argv[i], &grid, &st);
    return leave(mpi, ok, &st);
}
