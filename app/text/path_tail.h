/* What tells a path from others: as few of its last parts as are enough. */
#ifndef LX_APP_TEXT_PATH_TAIL_H
#define LX_APP_TEXT_PATH_TAIL_H

#include <stddef.h>

/* The shortest tail of `path`, from the beginning of a part, that no other of the paths ends with; the whole of it
 * where that does not help (the same path again does not count as another). Points into `path`. */
const char *path_tail(const char *path, const char *const *others, size_t count);

#endif
