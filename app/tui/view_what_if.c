/* What if: every setting of the plan, to be changed from anywhere. */
#include "tui/explorer.h"

#include <stdio.h>
#include <string.h>

static void draw(const struct scene *on, void *state, struct box area)
{
    const struct session *s = on->session;
    struct list *l = state;
    bool wide = area.columns >= 70;
    struct box in = frame_window(on, "What if", settings_count() + 5, area.columns < 90 ? area.columns : 90);
    struct box note = box_cut_bottom(&in, in.rows >= 8 ? 2 : 1);
    list_show(l, settings_count(), in);
    for (int i = 0; i < in.rows && l->top + i < settings_count(); i++) {
        int k = l->top + i;
        struct setting row = settings_row(k);
        struct text value = {0};
        bool changed = settings_changed(&s->now, k);
        settings_show(&s->now, k, &value);
        int64_t actual = session_actual(s, k);
        if (!changed && row.none && actual >= 0 && k != SET_LEVEL)
            text_format(&value, " (%s)", grouped(actual).at);
        put_text(on->cells, in.row + i, in.column + 1, 12, INK(TITLE), row.name);
        put_text(on->cells, in.row + i, in.column + 14, 27, changed ? INK(WARN) : INK(PLAIN),
                 value.at ? value.at : "");
        if (wide) put_text(on->cells, in.row + i, in.column + 42, in.columns - 42, INK(DIM), row.help);
        if (k == l->cursor) {
            put(on->cells, in.row + i, in.column, on->glyphs->mark, INK(KEY));
            put_paper(on->cells, (struct box){in.row + i, in.column, 1, in.columns}, INK_ON(PLAIN, SELECTED));
        }
        text_free(&value);
    }
    struct text command = {0};
    if (note.rows > 1)
        put_text(on->cells, note.row, note.column + 1, note.columns - 1, INK(PLAIN),
                 settings_row(l->cursor).help);
    settings_command(&s->now, s->current >= 0 ? s->patterns.at[s->current].path : "FILE", &command);
    put_text(on->cells, note.row + note.rows - 1, note.column, note.columns, INK(DIM),
             command.at ? command.at : "");
    text_free(&command);
}

static void change(struct explorer *x, int i, int direction)
{
    struct what_if how = x->session.now;
    if (settings_step(&how, i, direction, session_actual(&x->session, i)))
        session_change(&x->session, &how);
    else
        explorer_say(x, TONE_WARN, "%s cannot go further", settings_row(i).name);
}

static bool request(struct explorer *x, void *state, enum request r, const char *argument)
{
    const struct list *l = state;
    char line[60];
    switch (r) {
    case REQ_LEFT:
        change(x, l->cursor, -1);
        return true;
    case REQ_RIGHT:
        change(x, l->cursor, 1);
        return true;
    case REQ_OPEN:
        if (argument) return false;
        snprintf(line, sizeof line, "set %s ", settings_row(l->cursor).name);
        prompt_open(x, ':', line);
        return true;
    default:
        return false;
    }
}

static int count(struct explorer *x, void *state)
{
    (void)x, (void)state;
    return settings_count();
}

static const char *item(struct explorer *x, void *state, int i)
{
    (void)x, (void)state;
    return settings_row(i).name;
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
    .draw = draw,
    .request = request,
    .count = count,
    .item = item,
    .list = first_list,
};
