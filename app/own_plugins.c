#include "own_plugins.h"
#include "planning/graph_files.h"

#include <dlfcn.h>
#include <pthread.h>

static struct {
    const char *path; /* NULL: not there */
    const struct lx_solver *solver;
    lx_status st;
} ilp;

void own_plugins_begin(void)
{
    ilp.path = beside_program(LXPLAN_PLUGINS_BESIDE "/lxplan_ilp.so");
    if (!ilp.path) lx_solver_drop("ilp");
}

static bool own_plugins_take(void *context, const struct lx_solver *s, lx_status *st)
{
    (void)context, (void)st;
    ilp.solver = s;
    return true;
}

static void own_plugins_load_ilp(void)
{
    (void)lx_plugin_load(ilp.path, own_plugins_take, NULL, &ilp.st);
}

bool own_plugins_ilp(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, own_plugins_load_ilp);
    if (ilp.solver) return ilp.solver->solve(problem, run, answer);
    answer->status = LX_ERROR;
    snprintf(answer->message, sizeof answer->message, "%.150s", ilp.st.text);
    return true;
}

static const struct mpi_plugin *own_plugins_mpi(lx_status *st)
{
    static const struct mpi_plugin *mpi;
    if (mpi) return mpi;
    const char *path = beside_program(LXPLAN_PLUGINS_BESIDE "/lxplan_mpi.so");
    if (!path)
        return status_set(st, LX_E_UNSUPPORTED,
                          "the transport mpi is a plug-in that is not here; " PLUGIN_REMEDY, "mpi", "MPI"),
               NULL;
    /* What MPI loads itself looks for its symbols in all that is loaded. */
    void *object = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    __typeof__(lxplan_mpi) *found = object ? dlsym(object, "lxplan_mpi") : NULL;
    if (!found)
        status_set(st, LX_E_IO, "cannot load the plug-in %.300s: %.300s", path, dlerror());
    else if (strcmp(found->version, LXPLAN_VERSION) != 0)
        status_set(st, LX_E_MISMATCH, "%.300s belongs to lxplan %.20s, this is " LXPLAN_VERSION, path,
                   found->version);
    else
        mpi = found;
    return mpi;
}

const struct lx_transport *lx_transport_mpi(lx_status *st)
{
    const struct mpi_plugin *mpi = own_plugins_mpi(st);
    return mpi ? mpi->transport : NULL;
}

const struct ranks *own_plugins_ranks(lx_status *st)
{
    const struct mpi_plugin *mpi = own_plugins_mpi(st);
    return mpi ? mpi->ranks : NULL;
}
