/* Fills in an lx_status, inside the library only. */
#pragma once

#include "base/status.h"

#include <stdarg.h>

/* Fills in `st` (may be NULL) and returns false, so that `return status_set(...)` reads well. */
#define status_set(st, code, ...) status_set_at((st), (code), NULL, 0, 0, __VA_ARGS__)
bool status_set_at(lx_status *st, enum lx_code code, const char *file, int line, int column,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
bool status_vset_at(lx_status *st, enum lx_code code, const char *file, int line, int column,
                    const char *format, va_list args) __attribute__((format(printf, 6, 0)));
bool status_no_memory(lx_status *st);
/* The error of work cancelled before it had a result. */
bool status_cancelled(lx_status *st);

/* The code of an error that rephrases another: LX_E_MEMORY stays, otherwise `code`. */
static inline enum lx_code status_cause(const lx_status *why, enum lx_code code)
{
    return why->code == LX_E_MEMORY ? LX_E_MEMORY : code;
}
