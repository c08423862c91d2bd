/* One part more at a time, from the end, until no other path ends alike. Some 1,000 paths at most. */
#include "text/path_tail.h"

#include <stdbool.h>
#include <string.h>

/* Does `path` end with the parts of `tail`? */
static bool ends_with_parts(const char *path, const char *tail)
{
    size_t n = strlen(path), m = strlen(tail);
    if (n < m || strcmp(path + n - m, tail) != 0) return false;
    return n == m || path[n - m - 1] == '/';
}

static bool path_tail_is_shared(const char *path, const char *tail, const char *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(others[i], path) != 0 && ends_with_parts(others[i], tail)) return true;
    return false;
}

/* The beginning of the part before `at`, or the beginning of the path. */
static const char *part_before(const char *path, const char *at)
{
    if (at > path) at--; /* the slash */
    while (at > path && at[-1] != '/') at--;
    return at;
}

const char *path_tail(const char *path, const char *const *others, size_t count)
{
    const char *tail = part_before(path, path + strlen(path) + 1);
    while (tail > path && path_tail_is_shared(path, tail, others, count)) tail = part_before(path, tail);
    return tail;
}
