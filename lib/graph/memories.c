#include "graph/memories.h"

#include <string.h>

static const struct {
    const char *word;
    enum lx_memory memory;
} memories[] = {{"hbm", LX_MEMORY_HBM}, {"DRAM", LX_MEMORY_HBM}, {"lx", LX_MEMORY_LX}, {"L1", LX_MEMORY_LX}};

static const char *const placings[LX_PLACING_COUNT] = {
    [LX_INTERLEAVED] = "interleaved", [LX_SHARDED] = "sharded"};

enum lx_memory lx_memory_find(const char *word)
{
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (strcmp(memories[i].word, word) == 0) return memories[i].memory;
    return LX_MEMORY_COUNT;
}

enum lx_placing lx_placing_find(const char *word)
{
    int i = 0;
    while (i < LX_PLACING_COUNT && strcmp(placings[i], word) != 0) i++;
    return (enum lx_placing)i;
}

const char *lx_memory_word(enum lx_memory m)
{
    return m == LX_MEMORY_LX ? "lx" : "hbm";
}

const char *lx_placing_word(enum lx_placing p)
{
    return p == LX_SHARDED ? "sharded" : "interleaved";
}
