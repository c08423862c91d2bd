/* MPI in this process. Private to the transport mpi. */
#ifndef LX_TEAM_RUN_MPI_PROCESS_H
#define LX_TEAM_RUN_MPI_PROCESS_H

#include "base/status.h"

#include <mpi.h>

/* MPI begun, with a communicator of our own; once per process. False: `st` says why not, and names the
 * device at fault. */
bool mpi_process_begin(MPI_Comm *comm, lx_status *st);
/* Gives the communicator back and ends MPI. False as above: then this process can only be left. */
bool mpi_process_end(MPI_Comm *comm, lx_status *st);
/* Does a call into MPI still go on that was given up? */
bool mpi_process_stuck(void);
/* A device whose process was seen stopped for so long; -1: none. Looks now and then, when it is asked. */
int mpi_process_stopped(int ms);
/* By the environment; -1: mpirun did not start the process. */
int mpi_process_rank(void);

/* On a monotonic clock. */
double mpi_process_now_ms(void);

#endif
