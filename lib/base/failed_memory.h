/* Allocations that failed, so far and in all threads of the process, as memory is the process's.
 *
 * Whoever allocates checks, and most of what fails is reported where it fails; but a search that gives up one way for want of
 * memory and takes another ends with a result, and another one than it would have. So where a result is handed on (the plan,
 * an answer of the C interface, what the program writes), it is dropped if an allocation failed meanwhile. They are
 * counted where the linker puts memory_watch.c in between (lxplan_watched in CMakeLists.txt): in the program and in
 * the shared library. */
#ifndef LX_BASE_FAILED_MEMORY_H
#define LX_BASE_FAILED_MEMORY_H

long memory_failures(void);
void memory_failed(void);

#endif
