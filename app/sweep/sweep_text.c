/* A sweep as text: what was asked, the chart, the knees in words, and the table. */
#include "sweep/sweep_chart.h"
#include "sweep/sweep_out.h"
#include "text/colour.h"
#include "text/format.h"

enum { WIDTH = 80, HEIGHT = 16 };

void sweep_text(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    int width = how->width ? how->width : WIDTH, height = how->height ? how->height : HEIGHT;
    bool as_one = s->cores.count > 1 && s->solver_count == 1;
    struct text line = {0};
    add_printable(&line, s->graph->name, 60);
    text_format(&line, ": %s against %s", sweep_value_name(s), s->graph->is_list ? "capacity" : "LX");
    paint_add(out, PAINT_HEADING, line.at ? line.at : "");
    text_format(out, ", %s from %s to %s\n", counted((int64_t)s->sizes.count, "size").at,
                in_bytes(s->sizes.at[0]).at, in_bytes(s->sizes.at[s->sizes.count - 1]).at);
    text_free(&line);
    text_add(out, "\n");
    if (as_one) sweep_add_chart(s, 0, height, width, how->ascii, out);
    for (size_t c = 0; c < s->cores.count; c++) {
        if (s->cores.count > 1) text_format(out, "\n%s\n", counted(s->cores.at[c], "core").at);
        if (!as_one) sweep_add_chart(s, s->cores.at[c], height, width, how->ascii, out);
        text_add(out, "\n");
        /* "auto      from 115 KiB nothing spills" */
        for (size_t l = 0; l < s->lines.count; l++) {
            const struct sweep_line *of = &s->lines.at[l];
            struct text words = {0};
            if (of->cores != s->cores.at[c]) continue;
            sweep_say(s, of, false, &words);
            if (words.length) text_format(out, "  %-9s %s\n", of->solver, words.at);
            out->failed |= words.failed;
            text_free(&words);
        }
        text_add(out, "\n");
        sweep_add_table(s, s->cores.at[c], out);
    }
}
