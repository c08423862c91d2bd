/* MPI in this process. Private to the transport mpi. */
#pragma once

#include "base/base.h"

#include <mpi.h>

/* Starts MPI with a communicator of our own, once per process. False: `st` names the reason and the device
 * at fault. */
bool mpi_process_begin(MPI_Comm *comm, lx_status *st);
/* Frees the communicator and ends MPI. False: see mpi_process_begin; the process can then only exit. */
bool mpi_process_end(MPI_Comm *comm, lx_status *st);
/* Whether an abandoned MPI call still runs. */
bool mpi_process_stuck(void);
/* A device whose process has been seen stopped for `ms`; -1: none. Looks at most every LOOK_MS. */
int mpi_process_stopped(int ms);
/* From the environment; -1: not started by mpirun. */
int mpi_process_rank(void);

/* Milliseconds of a monotonic clock. */
double mpi_process_now_ms(void);
