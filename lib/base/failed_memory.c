/* The count of failed allocations; see failed_memory.h. */
#include "base/failed_memory.h"

#include <stdatomic.h>

static atomic_long failures;

long memory_failures(void)
{
    return atomic_load_explicit(&failures, memory_order_relaxed);
}

void memory_failed(void)
{
    atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}
