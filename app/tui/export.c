/* What a person takes along: the plan, the view as a file, the command line that makes the same plan. */
#include "tui/explorer.h"
#include "base/fail.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELL_WIDTH = 9, CELL_HEIGHT = 18 };

char *take_name(const struct explorer *x, const char *ending)
{
    const struct session *s = &x->session;
    const char *path = s->current >= 0 ? s->patterns.at[s->current].path : "lxplan";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strcspn(name, ".");
    char *out = NULL;
    return asprintf(&out, "%.*s%s", (int)(n < 80 ? n : 80), name, ending) < 0 ? NULL : out;
}

/* A file that is there already is replaced when it is asked for once more, in the same words. */
static bool may_write(struct explorer *x, enum request r, const char *path)
{
    char *line = NULL;
    if (asprintf(&line, "%s %s", request_rows[r].name, path) < 0) return false;
    bool again = x->replace && strcmp(x->replace, line) == 0;
    free(x->replace);
    x->replace = NULL;
    if (again || access(path, F_OK) != 0) {
        free(line);
        return true;
    }
    x->replace = line;
    prompt_again(x, line, "exists; once more to replace");
    return false;
}

void take_save(struct explorer *x, const char *path)
{
    lx_status st;
    if (!*path)
        explorer_say(x, TONE_BAD, "save to which file? %s proposes one", KEY_OF(SAVE));
    else if (!may_write(x, REQ_SAVE, path))
        return;
    else if (session_save(&x->session, path, &st))
        explorer_say(x, TONE_GOOD, "saved; check it with: lxplan check %s", path);
    else
        explorer_say(x, TONE_BAD, "%s: %s", path, st.text);
}

static uint32_t rgb(int16_t colour, bool ink, const struct theme *t)
{
    bool is_light = strcmp(t->name, "dark") != 0;
    if (colour < 0) return ink == is_light ? 0x101010 : is_light ? 0xffffff : ink ? 0xdddddd : 0x101014;
    return palette_rgb(colour);
}

static void svg_cell(const struct cells *g, const struct theme *t, int row, int column, struct text *out)
{
    const struct cell_glyph *c = &g->at[row * g->columns + column];
    const struct look *ink = &t->look[c->style.ink], *paper = &t->look[c->style.paper];
    uint32_t front = rgb(ink->ink, true, t), back = rgb(paper->paper, false, t);
    unsigned marks = c->style.marks | ink->ink_marks | paper->paper_marks;
    if (marks & MARK_REVERSE) {
        uint32_t swap = front;
        front = back;
        back = swap;
    }
    int px = column * CELL_WIDTH, py = row * CELL_HEIGHT;
    if (back != rgb(-1, false, t))
        text_format(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", px, py,
                    CELL_WIDTH, CELL_HEIGHT, back);
    if (c->code == 0x2580 || c->code == 0x2584) /* half blocks as what they are, exact in every font */
        text_format(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", px,
                    py + (c->code == 0x2584 ? CELL_HEIGHT / 2 : 0), CELL_WIDTH, CELL_HEIGHT / 2, front);
    else if (c->code > ' ')
        text_format(out, "<text x=\"%d\" y=\"%d\" fill=\"#%06x\"%s%s>&#%u;</text>\n", px,
                    py + CELL_HEIGHT - 5, front, marks & MARK_BOLD ? " font-weight=\"bold\"" : "",
                    marks & MARK_UNDERLINE ? " text-decoration=\"underline\"" : "", (unsigned)c->code);
}

void cells_to_svg(const struct cells *g, const struct theme *t, struct text *out)
{
    text_format(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "font-family=\"monospace\" font-size=\"15\">\n<rect width=\"100%%\" height=\"100%%\" "
                "fill=\"#%06x\"/>\n",
                g->columns * CELL_WIDTH, g->rows * CELL_HEIGHT, rgb(-1, false, t));
    for (int r = 0; r < g->rows; r++)
        for (int c = 0; c < g->columns; c++) svg_cell(g, t, r, c, out);
    text_add(out, "</svg>\n");
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static void draw_svg(struct explorer *x, struct text *out)
{
    if (all_views[x->view]->to_svg && session_plan(&x->session))
        all_views[x->view]->to_svg(&x->session, out);
    else
        cells_to_svg(&x->cells, x->theme, out);
}

void take_export(struct explorer *x, const char *path)
{
    struct text out = {0};
    lx_status st;
    if (!*path) {
        explorer_say(x, TONE_BAD, "export to which file? FILE.svg draws it, anything else is text");
        return;
    }
    if (ends_with(path, ".html") || ends_with(path, ".htm")) {
        explorer_say(x, TONE_BAD, "a screen is no HTML: name a file .svg for a drawing, or .txt for text");
        return;
    }
    if (!may_write(x, REQ_EXPORT, path)) return;
    x->overlay = VIEW_COUNT;
    explorer_draw(x);
    if (ends_with(path, ".svg"))
        draw_svg(x, &out);
    else
        cells_to_text(&x->cells, &out);
    bool ok = out.failed ? status_no_memory(&st) : file_write(path, out.at, out.length, &st);
    text_free(&out);
    if (ok)
        explorer_say(x, TONE_GOOD, "%s written", path);
    else
        explorer_say(x, TONE_BAD, "%s", st.text);
}

void take_copy(struct explorer *x)
{
    const struct session *s = &x->session;
    if (s->current < 0) {
        explorer_say(x, TONE_WARN, "open a pattern first: %s in the list of patterns", KEY_OF(OPEN));
        return;
    }
    text_free(&x->copied);
    settings_command(&s->now, s->patterns.at[s->current].path, &x->copied);
    explorer_say(x, TONE_GOOD, "%s", x->copied.at ? x->copied.at : "");
}
