/* The what-if view: every setting of the plan. */
#include "tui/core/explorer.h"

enum { SIDE_FROM = 110, SIDE = 46, BELOW = 9, NAME = 13 };

/* Beside the page if there is room; else below it. */
static struct box what_if_dock(struct box *page)
{
    if (page->columns >= SIDE_FROM) return box_cut_right(page, SIDE);
    int least = page->rows - 6; /* the page keeps some rows */
    return box_cut_bottom(page, least >= BELOW ? BELOW : page->rows / 2);
}

/* The title and a line around the panel; returns its inside. */
static struct box what_if_draw_frame(const struct scene *on, struct box area, const struct list *l)
{
    struct cells *g = on->cells;
    bool side = area.column > 0;
    put_fill(g, area, ' ', INK(PLAIN));
    struct box head = box_cut_top(&area, 1), in = area;
    for (int c = 0; c < head.columns; c++)
        put(g, head.row, head.column + c, on->glyphs->horizontal, INK(FRAME));
    for (int r = 0; side && r < area.rows; r++)
        put(g, area.row + r, area.column, on->glyphs->vertical, INK(FRAME));
    if (side) in.column += 2, in.columns -= 2;
    put_text(g, head.row, head.column + 2, head.columns - 4, (struct style){TONE_TITLE, 0, MARK_BOLD},
             " What if ");
    int shown = l->rows.rows, count = lx_settings_count();
    if (shown > 0 && shown < count) {
        char place[60];
        snprintf(place, sizeof place, " %d-%d of %d ", l->top + 1, l->top + shown, count);
        put_right(g, head.row, head.column, head.columns - 2, INK(DIM), place);
    }
    return in;
}

static void what_if_draw(const struct scene *on, void *state, struct box area)
{
    struct list *l = state;
    bool side = area.column > 0;
    struct box rows = area;
    box_cut_top(&rows, 1);
    int notes = side ? (area.rows >= lx_settings_count() + 8 ? 7 : 1) : area.rows >= 6;
    box_cut_bottom(&rows, notes);
    list_show(l, lx_settings_count(), rows);
    struct box in = what_if_draw_frame(on, area, l), note = box_cut_bottom(&in, notes);
    for (int i = 0; i < in.rows && l->top + i < lx_settings_count(); i++) {
        struct box row = (struct box){in.row + i, in.column, 1, in.columns};
        int k = l->top + i;
        const struct session *s = on->session;
        struct setting setting = settings_row(k);
        SCOPED(text_free) struct text value = {0};
        bool changed = settings_changed(&s->now, k);
        int64_t actual = session_actual(s, k);
        int words = row.columns >= 70 ? 28 : row.columns - NAME - 1;
        settings_show(&s->now, k, &value);
        if (!changed && setting.none && actual >= 0 && k != SET_LEVEL)
            text_format(&value, " (%s)", grouped(actual).at);
        put_text(on->cells, row.row, row.column + 1, NAME - 1, INK(TITLE), setting.name);
        put_text(on->cells, row.row, row.column + 1 + NAME, words - 1, changed ? INK(WARN) : INK(PLAIN),
                 value.at ? value.at : "");
        if (row.columns >= 70)
            put_text(on->cells, row.row, row.column + 1 + NAME + words, row.columns - 1 - NAME - words,
                     INK(DIM), setting.help);
        if ((_Bool)(l->top + i == l->cursor)) {
            put(on->cells, row.row, row.column, on->glyphs->mark, INK(KEY));
            put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
        }
    }
    if (notes) {
        /* The help of the marked setting, and the command that makes the same plan. */
        const struct session *s = on->session;
        const struct pattern *p = s->current >= 0 ? &s->patterns.at[s->current] : NULL;
        SCOPED(text_free) struct text command = {0};
        settings_command(&s->now, p ? p->path : "FILE", p ? source_models(p->source) : NULL, &command);
        struct box last = box_cut_bottom(&note, note.rows > 4 ? 4 : 1);
        if (note.rows > 0) put_wrapped(on->cells, note, INK(PLAIN), settings_row(l->cursor).help);
        if (last.rows > 1)
            put_wrapped(on->cells, last, INK(DIM), command.at ? command.at : "");
        else
            put_text(on->cells, last.row, last.column, last.columns, INK(DIM), command.at ? command.at : "");
    }
}

static bool what_if_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    const struct list *l = state;
    struct what_if how = x->session.now;
    char line[60];
    switch (r) {
    case REQ_LEFT:
    case REQ_RIGHT:
        if (settings_step(&how, l->cursor, r == REQ_LEFT ? -1 : 1, session_actual(&x->session, l->cursor)))
            session_change(&x->session, &how);
        else
            explorer_say(x, TONE_WARN, "%s cannot go further", settings_row(l->cursor).name);
        return true;
    case REQ_OPEN:
        if (argument) return false;
        snprintf(line, sizeof line, "set %s ", settings_row(l->cursor).name);
        prompt_open(x, ':', line);
        return true;
    default: return false;
    }
}

const struct view view_what_if = {
    .name = "What if",
    .purpose = "solver, cores, scratchpad size: change it, see the plan redone",
    .hints = {{REQ_LEFT, "less"},
              {REQ_RIGHT, "more"},
              {REQ_OPEN, "type a value"},
              {REQ_UNDO, "undo"},
              {REQ_COPY, "copy command"},
              {REQ_BACK, "close"}},
    .state_size = sizeof(struct list),
    .draw = what_if_draw,
    .dock = what_if_dock,
    .request = what_if_request,
    .items = ITEMS_SETTINGS,
    .is_list = true,
};
