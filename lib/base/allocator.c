/* Options of glibc's allocator; of another one nothing is known. */
#include "base/allocator.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void allocator_smooth(void)
{
#ifdef __GLIBC__
    /* Only what is larger goes to and from the system by itself: the most that glibc lets one ask for. */
    enum { SYSTEM_BLOCK = 32 << 20 };
    mallopt(M_MXFAST, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_MMAP_THRESHOLD, SYSTEM_BLOCK);
#endif
}
