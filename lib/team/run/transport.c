/* The list of transports. */
#include "team/run/transport.h"
#include "base/base.h"

const struct lx_transport *const *lx_transports(void)
{
    static const struct lx_transport *const without_mpi[] = {&lx_transport_threads, NULL};
    static const struct lx_transport *const with_mpi[] = {&lx_transport_threads, &lx_transport_mpi, NULL};
    return &lx_transport_mpi ? with_mpi : without_mpi;
}

const struct lx_transport *lx_transport_find(const char *name, lx_status *st)
{
    for (const struct lx_transport *const *t = lx_transports(); *t; t++)
        if (strcmp((*t)->name, name) == 0) return *t;
    if (strcmp(name, "mpi") == 0)
        status_set(st, LX_E_UNSUPPORTED,
                   "this build has no transport mpi: MPI was not found when it was configured; install "
                   "libopenmpi-dev and build again, or use threads");
    else
        status_set(st, LX_E_UNKNOWN_NAME, "there is no transport %s; there are threads and mpi", name);
    return NULL;
}

const struct lx_transport *lx_transport_usual(void)
{
    const struct lx_transport *const *t = lx_transports();
    for (int i = 0; t[i]; i++)
        if (t[i]->started && t[i]->started()) return t[i];
    return t[0];
}
