/* The way in: whatever the file is, find out and read it. */
#include "files/formats.h"
#include "files/pattern.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void skip_byte_order_mark(const char **text, size_t *length)
{
    if (*length < 3 || memcmp(*text, "\xef\xbb\xbf", 3) != 0) return;
    *text += 3;
    *length -= 3;
}

/* A first line of words with commas between them is a table, if not one that we know. */
static bool looks_like_csv(const char *text, size_t length)
{
    size_t i = 0, commas = 0;
    for (; i < length && text[i] != '\n'; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("_, ;\t\r", text[i])) return false;
        commas += text[i] == ',' || text[i] == ';' || text[i] == '\t';
    }
    return commas > 0 && isalpha((unsigned char)text[0]);
}

const struct lx_graph *lx_graph_of_text(const char *file, const char *text, size_t length, lx_status *st)
{
    const struct lx_format *format = lx_format_of(text, length);
    skip_byte_order_mark(&text, &length);
    if (!format && looks_like_csv(text, length)) {
        struct text t = {0};
        for (const struct lx_format *f = lx_formats(); f->name; f++)
            if (looks_like_csv(f->begins, strlen(f->begins)))
                text_format(&t, t.length ? " and %s with %s" : "; %s begins with %s", f->summary, f->begins);
        status_set_at(st, LX_E_SCHEMA, file, 1, 1, "a table with an unknown header%s", t.at ? t.at : "");
        text_free(&t);
        return NULL;
    }
    /* Whatever else it is, the reader of patterns says best what keeps it from being one. */
    return (format ? format : lx_formats())->read(file, text, length, st);
}

const struct lx_graph *lx_graph_read(const char *path, lx_status *st)
{
    size_t length;
    char *text = file_read(path, &length, st);
    if (!text) return NULL;
    const struct lx_graph *g =
        lx_graph_of_text(strcmp(path, "-") == 0 ? "standard input" : path, text, length, st);
    mem_free(text);
    return g;
}
