/* How the library reports an error: these fill in an lx_status. Not for users of the library. */
#ifndef LX_BASE_FAIL_H
#define LX_BASE_FAIL_H

#include "base/status.h"

#include <stdarg.h>

/* Fill in `st` (which may be NULL) and return false, so that `return status_set(...)` reads well. */
#define status_set(st, code, ...) status_set_at((st), (code), NULL, 0, 0, __VA_ARGS__)
bool status_set_at(lx_status *st, enum lx_code code, const char *file, int line, int column,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
bool status_vset_at(lx_status *st, enum lx_code code, const char *file, int line, int column,
                    const char *format, va_list args) __attribute__((format(printf, 6, 0)));
bool status_no_memory(lx_status *st);
/* The error of work that ended without a result because it was cancelled. */
bool status_cancelled(lx_status *st);

/* The code of an error that repeats another in its own words: memory that is out stays that, whoever speaks
 * of it. */
static inline enum lx_code status_cause(const lx_status *why, enum lx_code code)
{
    return why->code == LX_E_MEMORY ? LX_E_MEMORY : code;
}

#endif
