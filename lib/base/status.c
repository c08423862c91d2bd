/* Filling in and showing an lx_status. Its text is fixed in size: a longer text is cut between characters,
 * and control characters of foreign files are replaced. */
#include "base/base.h"

static const struct {
    const char *word;
    int exit_code;
} codes[LX_CODE_COUNT] = {
#define LX_CODE_ROW(id, word, exit_code) [id] = {word, exit_code},
    LX_CODES(LX_CODE_ROW)
#undef LX_CODE_ROW
};

const char *lx_code_word(enum lx_code code)
{
    return (unsigned)code < LX_CODE_COUNT ? codes[code].word : "unknown";
}

int lx_code_exit(enum lx_code code)
{
    return (unsigned)code < LX_CODE_COUNT ? codes[code].exit_code : 3;
}

const char *lx_status_describe(const lx_status *st, char *out, size_t size)
{
    if (st->file[0] && st->line > 0)
        snprintf(out, size, "%s:%d:%d: %s", st->file, st->line, st->column, st->text);
    else if (st->file[0])
        snprintf(out, size, "%s: %s", st->file, st->text);
    else
        snprintf(out, size, "%s", st->text);
    return out;
}

/* Replaces control characters of foreign files, for terminals, and drops half a UTF-8 character at the
 * cut. */
static void status_tidy(char *s, size_t size)
{
    size_t n = strlen(s), back = 1;
    if (n + 1 >= size) {
        while (back < 4 && back < n && ((unsigned char)s[n - back] & 0xc0) == 0x80) back++;
        if ((unsigned char)s[n - back] >= 0x80 && utf8_length(s + n - back, back) == 0) s[n - back] = 0;
    }
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f) *s = '?';
}

bool status_vset_at(lx_status *st, enum lx_code code, const char *file, int line, int column,
                    const char *format, va_list args)
{
    if (!st) return false;
    st->code = code;
    st->line = line;
    st->column = column;
    snprintf(st->file, sizeof st->file, "%s", file ? file : "");
    vsnprintf(st->text, sizeof st->text, format, args);
    status_tidy(st->file, sizeof st->file);
    status_tidy(st->text, sizeof st->text);
    return false;
}

bool status_set_at(lx_status *st, enum lx_code code, const char *file, int line, int column,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status_vset_at(st, code, file, line, column, format, args);
    va_end(args);
    return false;
}

bool status_cancelled(lx_status *st)
{
    return status_set(st, LX_E_STOPPED, "stopped before its end");
}

/* A function that returns only false may have been cancelled. */
bool status_no_memory(lx_status *st)
{
    if (cancel_requested()) return status_cancelled(st);
    return status_set(st, LX_E_MEMORY, "out of memory; try a smaller input or a machine with more");
}
