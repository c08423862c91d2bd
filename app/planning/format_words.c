/* Sentences and help entries made by walking the table of formats. */
#include "planning/format_words.h"
#include "base/fail.h"
#include "text/colour.h"
#include "text/format.h"

#include <stdlib.h>

enum { MOST_NAMES = 64 };

void add_formats(struct text *out)
{
    for (const struct lx_format *f = lx_formats(); f->name; f++)
        text_format(out, "%s%s", f == lx_formats() ? "" : f[1].name ? ", " : " or ", f->summary);
}

static bool is_written(const struct lx_format *f)
{
    return f->write_graph || f->write_buffers || f->write_answer;
}

void formats_help(struct text *out, bool written)
{
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, written ? "formats that are written:\n" : "formats that are read:\n");
    for (const struct lx_format *f = lx_formats(); f->name; f++) {
        if (written ? !is_written(f) : !f->read) continue;
        struct text words = {0};
        text_format(&words, "%s: %s", f->summary, f->help);
        if (!words.failed) help_entry(out, f->name, words.at);
        text_free(&words);
    }
}

static const struct lx_format *first_of_buffers(void)
{
    const struct lx_format *f = lx_formats();
    while (f->name && !f->write_buffers) f++;
    return f;
}

const char *written_format_word(int k)
{
    const struct lx_format *f = lx_formats();
    for (; f->name; f++)
        if (is_written(f) && k-- == 0) break;
    return f->name;
}

static void unknown_format(const char *name, lx_status *st)
{
    const char *names[MOST_NAMES + 1] = {0};
    for (int k = 0; k < MOST_NAMES && written_format_word(k); k++) names[k] = written_format_word(k);
    unknown_word("--format: there is no", name, names, LX_E_USAGE, st);
}

const struct lx_format *written_format(struct call *call)
{
    const char *name = option_value(&call->line, "format");
    const struct lx_format *f = name ? lx_format_find(name) : first_of_buffers();
    if (f && is_written(f)) return f;
    unknown_format(name, &call->st);
    return NULL;
}
