/* MPI in this process. Private to the transport mpi. */
#ifndef LX_TEAM_RUN_MPI_PROCESS_H
#define LX_TEAM_RUN_MPI_PROCESS_H

#include "base/status.h"

#include <mpi.h>

/* MPI begun, with a communicator of our own; once per process. False: `st` says which device keeps it from that, or
 * what else does. */
bool mpi_process_begin(MPI_Comm *comm, lx_status *st);
/* Gives the communicator back and ends MPI. False as above: then this process can only be left. */
bool mpi_process_end(MPI_Comm *comm, lx_status *st);
/* Does a call into MPI still go on that was given up? */
bool mpi_process_stuck(void);
/* A device whose process was seen stopped for so long, whatever this one does meanwhile; -1: none. Looks now and then, when it
 * is asked. */
int mpi_process_stopped(int ms);
/* From what started the process; -1: nothing did. */
int mpi_process_rank(void);

#endif
