/* What if: every setting of the plan, to be changed from anywhere. */
#include "tui/explorer.h"

#include <stdio.h>
#include <string.h>

static void draw(struct explorer *x, struct box area)
{
    struct session *s = &x->session;
    bool wide = area.columns >= 70;
    struct box in = frame_window(x, "What if", settings_count() + 5, area.columns < 90 ? area.columns : 90);
    struct box note = box_cut_bottom(&in, in.rows >= 8 ? 2 : 1);
    list_show(&x->what_if, settings_count(), in.rows);
    for (int i = 0; i < in.rows && x->what_if.top + i < settings_count(); i++) {
        int k = x->what_if.top + i;
        struct setting row = settings_row(k);
        struct text value = {0};
        bool changed = settings_changed(&s->now, k);
        settings_show(&s->now, k, &value);
        int64_t actual = session_actual(s, k);
        if (!changed && row.none && actual >= 0 && k != SET_LEVEL)
            text_format(&value, " (%s)", grouped(actual).at);
        put_text(&x->cells, in.row + i, in.column + 1, 12, INK(TITLE), row.name);
        put_text(&x->cells, in.row + i, in.column + 14, 27, changed ? INK(WARN) : INK(PLAIN),
                 value.at ? value.at : "");
        if (wide) put_text(&x->cells, in.row + i, in.column + 42, in.columns - 42, INK(DIM), row.help);
        if (k == x->what_if.cursor) {
            put(&x->cells, in.row + i, in.column, x->glyphs->mark, INK(KEY));
            put_paper(&x->cells, (struct box){in.row + i, in.column, 1, in.columns}, INK_ON(PLAIN, SELECTED));
        }
        text_free(&value);
    }
    struct text command = {0};
    if (note.rows > 1)
        put_text(&x->cells, note.row, note.column + 1, note.columns - 1, INK(PLAIN),
                 settings_row(x->what_if.cursor).help);
    settings_command(&s->now, s->current >= 0 ? s->patterns.at[s->current].path : "FILE", &command);
    put_text(&x->cells, note.row + note.rows - 1, note.column, note.columns, INK(DIM),
             command.at ? command.at : "");
    text_free(&command);
}

static void change(struct explorer *x, int direction)
{
    struct what_if how = x->session.now;
    int i = x->what_if.cursor;
    if (settings_step(&how, i, direction, session_actual(&x->session, i)))
        session_change(&x->session, &how);
    else
        explorer_say(x, TONE_WARN, "%s cannot go further", settings_row(i).name);
}

static bool request(struct explorer *x, enum request r, const char *argument)
{
    char line[60];
    if (list_move(&x->what_if, r, settings_count(), 4)) return true;
    switch (r) {
    case REQ_LEFT:
        change(x, -1);
        return true;
    case REQ_RIGHT:
        change(x, 1);
        return true;
    case REQ_OPEN:
        if (argument) return false;
        snprintf(line, sizeof line, "set %s ", settings_row(x->what_if.cursor).name);
        prompt_open(x, ':', line);
        return true;
    default:
        return false;
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
    .draw = draw,
    .request = request,
};
