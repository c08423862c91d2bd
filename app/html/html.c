/* Tables as data of pages. */
#include "html/html.h"

void html_table(const struct table *t, struct text *out)
{
    text_add(out, "{\"title\": ");
    text_json_string(out, t->title ? t->title : "");
    text_add(out, ", \"notes\": ");
    text_json_string(out, t->notes ? t->notes : "");
    text_add(out, ", \"columns\": [");
    const char *comma = "";
    for (size_t c = 0; c < t->columns.count; c++) {
        const struct column *column = &t->columns.at[c];
        if (!people_see(t, column)) continue;
        text_format(out, "%s{\"heading\": ", comma);
        text_json_string(out, column->heading);
        text_format(out, ", \"right\": %s, \"long\": %s}", column_is_right(column) ? "true" : "false",
                    column->kind == VALUE_WORDS ? "true" : "false");
        comma = ", ";
    }
    text_add(out, "], \"rows\": [");
    for (size_t r = 0; r < t->row_count; r++) {
        const char *between = r ? ",\n[" : "\n[";
        for (size_t c = 0; c < t->columns.count; c++) {
            if (!people_see(t, &t->columns.at[c])) continue;
            text_add(out, between);
            const void *row = (const char *)t->rows + r * t->row_size;
            static const char *const tones[PAINT_COUNT] = {
                [PAINT_GOOD] = "good", [PAINT_BAD] = "bad", [PAINT_DIM] = "dim", [PAINT_WARN] = "warn"};
            SCOPED(value_free) struct value v = {0};
            column_value(&t->columns.at[c], row, &v);
            text_add(out, "[");
            text_json_string(out, column_words(&t->columns.at[c], &v));
            if (kind_is_number(t->columns.at[c].kind) && isfinite(v.number)) {
                text_format(out, v.is_whole ? ", %" PRId64 : ", ", v.whole);
                if (!v.is_whole) text_format(out, "%.15g", v.number);
            } else
                text_add(out, ", null");
            if (tones[v.paint]) text_format(out, ", \"%s\"", tones[v.paint]);
            text_add(out, "]");
            between = ", ";
        }
        text_add(out, "]");
    }
    text_add(out, "]}");
}
