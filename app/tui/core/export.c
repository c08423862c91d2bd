/* Saves the plan, exports the view, copies the command line that makes the same plan. */
#include "tui/core/explorer.h"
#include "base/file.h"

#include <unistd.h>

enum { CELL_WIDTH = 9, CELL_HEIGHT = 18 };

/* An existing file is replaced when the same command is given twice. */
static bool export_may_write(struct explorer *x, enum request r, const char *path)
{
    char *line = mem_format("%s %s", request_rows[r].name, path);
    bool again = x->replace && strcmp(x->replace, line) == 0;
    mem_free(x->replace);
    x->replace = NULL;
    if (again || access(path, F_OK) != 0) {
        mem_free(line);
        return true;
    }
    x->replace = line;
    prompt_open(x, ':', line);
    text_add(&x->prompt.choices, "exists; <Enter> again replaces it");
    return false;
}

void take_save(struct explorer *x, const char *path)
{
    lx_status st;
    if (!*path)
        explorer_say(x, TONE_BAD, "save to which file? %s proposes one", KEY_OF(SAVE));
    else if (!export_may_write(x, REQ_SAVE, path))
        return;
    else if (session_save(&x->session, path, &st))
        explorer_say(x, TONE_GOOD, "saved; check it with: lxplan check %s", path);
    else
        explorer_say(x, TONE_BAD, "%s: %s", path, st.text);
}

static uint32_t export_rgb(int16_t colour, bool ink, const struct theme *t)
{
    bool is_light = strcmp(t->name, "dark") != 0;
    if (colour < 0) return ink == is_light ? 0x101010 : is_light ? 0xffffff : ink ? 0xdddddd : 0x101014;
    return palette_rgb(colour);
}

/* The visible colours of a cell. */
static void export_colours(const struct cell_glyph *c, const struct theme *t, uint32_t *front, uint32_t *back)
{
    const struct look *ink = &t->look[c->style.ink], *paper = &t->look[c->style.paper];
    bool turned = (c->style.marks | ink->ink_marks | paper->paper_marks) & MARK_REVERSE;
    *front = export_rgb(turned ? paper->paper : look_ink(t, c->style), !turned, t);
    *back = export_rgb(turned ? look_ink(t, c->style) : paper->paper, turned, t);
}

/* Which quarters of a cell a block fills; -1: it is no block. */
static int export_quarters(uint32_t code)
{
    for (int k = 1; k < 16; k++)
        if (glyphs_unicode.quadrant[k] == code) return k;
    return -1;
}

/* The colour of one of the four quarters of a cell. */
static uint32_t export_quarter(const struct cells *g, const struct theme *t, int row, int column)
{
    const struct cell_glyph *c = &g->at[row / 2 * g->columns + column / 2];
    uint32_t front, back;
    int quarters = export_quarters(c->code);
    export_colours(c, t, &front, &back);
    return quarters > 0 && (quarters >> (row % 2 * 2 + column % 2) & 1) ? front : back;
}

/* The background: one rectangle per run of a colour, without seams; block characters are rectangles, too.
 * Returns the number of half rows, 2 where both halves of a row are equal. */
static int export_papers(const struct cells *g, const struct theme *t, int row, struct text *out)
{
    int height = row % 2 == 0 ? 2 : 1;
    for (int c = 0; height == 2 && c < 2 * g->columns; c++)
        if (export_quarter(g, t, row, c) != export_quarter(g, t, row + 1, c)) height = 1;
    for (int c = 0, n; c < 2 * g->columns; c += n) {
        uint32_t colour = export_quarter(g, t, row, c);
        for (n = 1; c + n < 2 * g->columns && export_quarter(g, t, row, c + n) == colour;) n++;
        if (colour == export_rgb(-1, false, t)) continue;
        text_format(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#%06x\"/>\n",
                    c * CELL_WIDTH / 2.0, row * CELL_HEIGHT / 2, n * CELL_WIDTH / 2.0,
                    height * CELL_HEIGHT / 2, colour);
    }
    return height;
}

void cells_to_svg(const struct cells *g, const struct theme *t, struct text *out)
{
    text_format(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "font-family=\"monospace\" font-size=\"15\">\n<rect width=\"100%%\" height=\"100%%\" "
                "fill=\"#%06x\"/>\n<g shape-rendering=\"crispEdges\">\n",
                g->columns * CELL_WIDTH, g->rows * CELL_HEIGHT, export_rgb(-1, false, t));
    for (int r = 0; r < 2 * g->rows;) r += export_papers(g, t, r, out);
    text_add(out, "</g>\n");
    for (int r = 0; r < g->rows; r++)
        for (int column = 0; column < g->columns; column++) {
            const struct cell_glyph *c = &g->at[r * g->columns + column];
            uint32_t front, back;
            unsigned marks =
                c->style.marks | t->look[c->style.ink].ink_marks | t->look[c->style.paper].paper_marks;
            if (c->code <= ' ' || export_quarters(c->code) > 0) continue;
            export_colours(c, t, &front, &back);
            text_format(out, "<text x=\"%d\" y=\"%d\" fill=\"#%06x\"%s%s>&#%u;", column * CELL_WIDTH,
                        r * CELL_HEIGHT + CELL_HEIGHT - 5, front,
                        marks & MARK_BOLD ? " font-weight=\"bold\"" : "",
                        marks & MARK_UNDERLINE ? " text-decoration=\"underline\"" : "", (unsigned)c->code);
            if (c->combining) text_format(out, "&#%u;", (unsigned)c->combining);
            text_add(out, "</text>\n");
        }
    text_add(out, "</svg>\n");
}

static bool export_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

void take_export(struct explorer *x, const char *path)
{
    SCOPED(text_free) struct text out = {0};
    lx_status st;
    if (!*path) {
        explorer_say(x, TONE_BAD,
                     "export to which file? FILE.svg draws it, FILE.html is the plan for a browser, anything "
                     "else is text");
        return;
    }
    bool page = export_ends_with(path, ".html") || export_ends_with(path, ".htm");
    if (page && !session_plan(&x->session)) {
        explorer_say(x, TONE_BAD,
                     "a list of patterns is no HTML: name a file .svg for a drawing, or .txt for text");
        return;
    }
    if (!export_may_write(x, REQ_EXPORT, path)) return;
    if (x->overlay != VIEW_ROOFLINE) x->overlay = VIEW_COUNT; /* a picture of its own */
    explorer_draw(x);
    if (page)
        show_html(session_plan(&x->session), &(struct picture){0}, &out);
    else if (export_ends_with(path, ".svg")) {
        const struct view *top = all_views[explorer_top(x)];
        if (top->shows_map && session_plan(&x->session))
            show_svg(session_plan(&x->session), &(struct picture){0}, &out);
        else
            cells_to_svg(&x->cells, x->theme, &out);
    } else
        cells_to_text(&x->cells, &out);
    bool ok = file_write(path, out.at, out.length, &st);
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
    settings_command(&s->now, s->patterns.at[s->current].path,
                     source_models(s->patterns.at[s->current].source), &x->copied);
    explorer_say(x, TONE_GOOD, "%s", x->copied.at ? x->copied.at : "");
    x->whole_message = true;
}
