/* The transports by name. */
#include "team/run/transport.h"
#include "base/base.h"

const struct lx_transport *lx_transport_find(const char *name, lx_status *st)
{
    if (strcmp(name, lx_transport_threads.name) == 0) return &lx_transport_threads;
    if (strcmp(name, "mpi") != 0)
        return status_set(st, LX_E_UNKNOWN_NAME, "there is no transport %s; there are threads and mpi", name),
               NULL;
    if (lx_transport_mpi) return lx_transport_mpi(st);
    return status_set(st, LX_E_UNSUPPORTED, "the library has no transport mpi, the program lxplan has"), NULL;
}

bool lx_started_by_mpi(void)
{
    /* Open MPI, and MPIs with Hydra's process manager */
    return lx_transport_mpi && (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE"));
}

const struct lx_transport *lx_transport_usual(lx_status *st)
{
    return lx_started_by_mpi() ? lx_transport_mpi(st) : &lx_transport_threads;
}
