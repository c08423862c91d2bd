/* The frame of a page, and tables as data. */
#include "html/html.h"
#include "text/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* JSON inside a script: "</" and "<!" would end it or hide its end; "<" stands only in strings, where its number says the same. */
static void add_data(const struct text *json, struct text *out)
{
    const char *at = json->at ? json->at : "{}", *end = at + strlen(at);
    while (at < end) {
        size_t n = strcspn(at, "<");
        text_add_n(out, at, n);
        at += n;
        if (at < end) text_add(out, "\\u003c"), at++;
    }
}

void html_page(const char *title, const char *script, const struct text *json, struct text *out)
{
    char *clean = printable(title, 0);
    text_add(out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
             "'unsafe-inline'; "
             "style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    text_xml(out, clean ? clean : "");
    text_format(
        out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<script type=\"application/json\" id=\"data\">",
        html_page_css);
    add_data(json, out);
    text_format(out, "</script>\n<script>\n%s</script>\n<script>\n%s</script>\n</body>\n</html>\n",
                html_page_js, script);
    out->failed |= json->failed || !clean;
    free(clean);
}

static void add_value(const struct column *c, const void *row, struct text *out)
{
    static const char *const tones[PAINT_COUNT] = {
        [PAINT_GOOD] = "good", [PAINT_BAD] = "bad", [PAINT_DIM] = "dim", [PAINT_WARN] = "warn"};
    struct value v = {0};
    column_value(c, row, &v);
    text_add(out, "[");
    text_json_string(out, column_words(c, &v));
    if (kind_is_number(c->kind) && isfinite(v.number)) {
        text_format(out, v.is_whole ? ", %" PRId64 : ", ", v.whole);
        if (!v.is_whole) text_format(out, "%.15g", v.number);
    } else
        text_add(out, ", null");
    if (tones[v.paint]) text_format(out, ", \"%s\"", tones[v.paint]);
    text_add(out, "]");
    out->failed |= v.made.failed;
    value_free(&v);
}

static void add_columns(const struct table *t, struct text *out)
{
    const char *between = "";
    for (size_t c = 0; c < t->columns.count; c++) {
        const struct column *column = &t->columns.at[c];
        if (!people_see(t, column)) continue;
        text_format(out, "%s{\"heading\": ", between);
        text_json_string(out, column->heading);
        text_format(out, ", \"right\": %s, \"long\": %s}", column_is_right(column) ? "true" : "false",
                    column->kind == VALUE_WORDS ? "true" : "false");
        between = ", ";
    }
}

void html_table(const struct table *t, struct text *out)
{
    text_add(out, "{\"title\": ");
    text_json_string(out, t->title ? t->title : "");
    text_add(out, ", \"notes\": ");
    text_json_string(out, t->notes ? t->notes : "");
    text_add(out, ", \"columns\": [");
    add_columns(t, out);
    text_add(out, "], \"rows\": [");
    for (size_t r = 0; r < t->row_count; r++) {
        const char *between = r ? ",\n[" : "\n[";
        for (size_t c = 0; c < t->columns.count; c++) {
            if (!people_see(t, &t->columns.at[c])) continue;
            text_add(out, between);
            add_value(&t->columns.at[c], (const char *)t->rows + r * t->row_size, out);
            between = ", ";
        }
        text_add(out, "]");
    }
    text_add(out, "]}");
}
