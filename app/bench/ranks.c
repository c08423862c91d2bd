/* Whether a command shares its work with others: `--transport`. */
#include "bench/ranks.h"
#include "base/fail.h"
#include "bench/bench.h"
#include "text/colour.h"

bool ranks_join(struct call *call, const struct ranks **ranks, int *rank, int *count)
{
    int transport = 0;
    *ranks = NULL;
    *rank = 0;
    *count = 1;
    if (!option_word(call, "transport", bench_transport_word, &transport)) return false;
    if (transport == 0) return true;
    if (!&ranks_mpi)
        return status_set(
            &call->st, LX_E_UNSUPPORTED,
            "this build has no transport mpi: MPI was not found when it was configured; install "
            "libopenmpi-dev and build again, or use -j");
    if (!ranks_mpi.join(rank, count, &call->st)) return false;
    *ranks = &ranks_mpi;
    paint_off(); /* mpirun gives each rank a terminal, whatever its own output is */
    /* Only rank 0 speaks. */
    if (*rank > 0 && !VEC_PUSH(&call->line.options, (struct given_option){"quiet", NULL}))
        return status_no_memory(&call->st);
    return true;
}
