/* Sentences and help entries made by walking the table of formats. */
#include "planning/graph_files.h"
#include "base/fail.h"
#include "text/colour.h"
#include "text/format.h"
#include "base/memory.h"

#include <string.h>

void add_formats(struct text *out)
{
    for (const struct lx_format *f = lx_formats(); f->name; f++)
        text_format(out, "%s%s", f == lx_formats() ? "" : f[1].name ? ", " : " or ", f->summary);
}

static void format_words_add_entry(struct text *out, const char *name, const char *summary, const char *help)
{
    struct text words = {0};
    text_format(&words, "%s: %s", summary, help);
    help_entry(out, name, words.at);
    text_free(&words);
}

void formats_help(struct text *out, bool written)
{
    struct lx_export row;
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, written ? "formats that are written:\n" : "formats that are read:\n");
    for (int i = 0; written && lx_export_at(i, &row); i++)
        format_words_add_entry(out, row.name, row.summary, row.help);
    for (const struct lx_format *f = lx_formats(); !written && f->name; f++)
        if (f->read) format_words_add_entry(out, f->name, f->summary, f->help);
}

/* The first that writes lists of buffers. */
static const char *default_format(void)
{
    const struct lx_format *f = lx_formats();
    while (f->name && !f->write_buffers) f++;
    return f->name;
}

const char *written_format_word(int k)
{
    struct lx_export row;
    return lx_export_at(k, &row) ? row.name : NULL;
}

bool written_format(struct call *call, struct lx_export *out)
{
    const char *name = option_value(&call->line, "format");
    lx_status st = {0};
    if (lx_export_find(name ? name : default_format(), out, &st)) return true;
    return status_set(&call->st, status_cause(&st, LX_E_USAGE), "--format: %s", st.text);
}

/* Writes by the public interface; its error becomes a status with a place. */
char *graph_text(struct call *call, const lx_graph *g, const char *format, size_t *length)
{
    lx_error *e = lx_error_new();
    if (!e) return status_no_memory(&call->st), NULL;
    lx_text *t = lx_graph_write(g, format, e);
    char *text = NULL;
    if (t) {
        *length = (size_t)lx_text_size(t);
        text = mem_string_n(lx_text_data(t), *length);
    } else {
        enum lx_code code = 0;
        while (code < LX_CODE_COUNT && strcmp(lx_code_word(code), lx_error_code(e)) != 0) code++;
        status_set_at(&call->st, code < LX_CODE_COUNT ? code : LX_E_INTERNAL, g->file, 0, 0, "%s",
                      lx_error_text(e));
    }
    lx_text_free(t);
    lx_error_free(e);
    return text;
}
