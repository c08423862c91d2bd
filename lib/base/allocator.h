/* How the allocator of the C library gives back what is free. For whole programs: a library leaves it to its host. */
#ifndef LX_BASE_ALLOCATOR_H
#define LX_BASE_ALLOCATOR_H

/* In small strokes: what is free is joined as it becomes so, and kept for the next who asks. By default that is put off, and a
 * single call of free() then takes ten milliseconds and more after a large graph, in which nobody can look whether to stop
 * (base/stop.h); and every plan after the first gets its pages from the system anew. */
void allocator_smooth(void);

#endif
