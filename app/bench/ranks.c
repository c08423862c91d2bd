/* Whether a command shares its work with other processes (`--transport`), and messages between them. */
#include "bench/ranks.h"
#include "command.h"
#include "own_plugins.h"
#include "text/colour.h"

WORD_LIST(ranks_transport_word, "local", "mpi")

bool ranks_join(struct call *call, const struct ranks **ranks, int *rank, int *count)
{
    int transport = 0;
    *ranks = NULL;
    *rank = 0;
    *count = 1;
    if (!option_word(call, "transport", ranks_transport_word, &transport)) return false;
    if (transport == 0) return true;
    const struct ranks *mpi = own_plugins_ranks(&call->st);
    if (!mpi || !mpi->join(rank, count, &call->st)) return false;
    *ranks = mpi;
    paint_off(); /* mpirun gives each rank a terminal, whatever its own output is */
    /* Only rank 0 speaks. */
    if (*rank > 0) VEC_PUSH(&call->line.options, (struct given_option){"quiet", NULL});
    return true;
}

void ranks_nap(void)
{
    static const struct timespec moment = {0, 200000};
    nanosleep(&moment, NULL);
}

bool ranks_send(const struct ranks *ranks, int to, const void *head, size_t head_size, const void *data,
                size_t size, lx_status *st)
{
    OWNED char *block = mem_alloc(head_size + size + 1);
    memcpy(block, head, head_size);
    if (size) memcpy(block + head_size, data, size);
    return ranks->send(to, block, head_size + size, st);
}

bool ranks_receive(const struct ranks *ranks, int *from, void *head, size_t head_size, char **data,
                   size_t *size, lx_status *st)
{
    void *block;
    size_t bytes;
    *data = NULL;
    if (!ranks->receive(from, &block, &bytes, st)) return false;
    if (!block) return true;
    *data = block;
    *size = bytes < head_size ? SIZE_MAX : bytes - head_size;
    if (bytes < head_size) return true;
    memcpy(head, block, head_size);
    memmove(block, (char *)block + head_size, *size);
    (*data)[*size] = 0;
    return true;
}
