/* The escape sequences of each meaning, and the one switch that decides whether they are written at all. */
#include "text/colour.h"

#include <unistd.h>

static const char *const codes[PAINT_COUNT] = {
    [PAINT_PLAIN] = "", [PAINT_GOOD] = "32",   [PAINT_BAD] = "31",
    [PAINT_DIM] = "2",  [PAINT_HEADING] = "1", [PAINT_WARN] = "33",
};

/* Legible on light and on dark backgrounds. */
static const char *const identity_codes[] = {"36", "33",   "35",   "34",   "32",
                                             "31", "1;36", "1;33", "1;35", "1;34"};

static bool on, progress_shown;

void paint_begin(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    on = isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void paint_off(void)
{
    on = false;
}

bool paint_is_on(void)
{
    return on;
}

static void add_coded(struct text *t, const char *code, const char *s)
{
    if (on && *code)
        text_format(t, "\033[%sm%s\033[0m", code, s);
    else
        text_add(t, s);
}

void paint_add(struct text *t, enum paint p, const char *s)
{
    add_coded(t, codes[p], s);
}

void paint_identity(struct text *t, int32_t identity, const char *s)
{
    add_coded(t, identity_codes[(uint32_t)identity % (sizeof identity_codes / sizeof *identity_codes)], s);
}

bool paint_progress_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void paint_progress(const char *line)
{
    fprintf(stderr, "\r\033[K%s", line);
    progress_shown = true;
}

void paint_progress_end(void)
{
    if (progress_shown) fputs("\r\033[K", stderr);
    progress_shown = false;
}
