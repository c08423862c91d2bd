/* All views by number, and the default answers of views that have no function of their own; lists. */
#include "tui/core/explorer.h"
#include "tui/core/views.h"

#define VIEW_POINTER(R, id, file, name, keys, group, help) [VIEW_##id] = &view_##file,
const struct view *const all_views[VIEW_COUNT] = {VIEWS(VIEW_POINTER, )};
#undef VIEW_POINTER

#define VIEW_SHOWN_BY(R, id, file, name, keys, group, help) [VIEW_##id] = REQ_##id,
const enum request view_requests[VIEW_COUNT] = {VIEWS(VIEW_SHOWN_BY, )};
#undef VIEW_SHOWN_BY

static struct list *views_list_of(struct explorer *x, enum view_id view)
{
    return all_views[view]->is_list ? x->states[view] : NULL;
}

/* A view of plans needs a plan. */
static bool is_usable(struct explorer *x, enum view_id view)
{
    return !all_views[view]->needs_plan || session_plan(&x->session);
}

int view_count(struct explorer *x, enum view_id view)
{
    const struct view *v = all_views[view];
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    if (!is_usable(x, view)) return 0;
    if (v->count) return v->count(x, x->states[view]);
    if (v->items == ITEMS_BUFFERS) return session_plan(&x->session)->problem.count;
    return v->items == ITEMS_SETTINGS ? lx_settings_count() : v->items == ITEMS_OPS && g ? g->op_count : 0;
}

const char *view_item(struct explorer *x, enum view_id view, int i)
{
    const struct list *l = views_list_of(x, view);
    if (l && l->shown) i = l->shown[i];
    enum items kind = all_views[view]->items;
    if (kind == ITEMS_OPS) return outcome_graph(&x->session.shown)->ops[i].name;
    if (kind == ITEMS_BUFFERS) return session_plan(&x->session)->problem.buffers[i].name;
    if (kind == ITEMS_PATTERNS) return x->session.patterns.at[i].shown;
    return kind == ITEMS_SETTINGS ? settings_row(i).name : all_views[view]->item(x, x->states[view], i);
}

int view_selected(struct explorer *x, enum view_id view)
{
    const struct view *v = all_views[view];
    const struct selection *at = &x->session.selection;
    if (v->is_list) return views_list_of(x, view)->cursor;
    return v->selected ? v->selected(x, x->states[view]) : v->items == ITEMS_OPS ? at->op : at->buffer;
}

void view_select(struct explorer *x, enum view_id view, int i)
{
    struct list *l = views_list_of(x, view);
    const struct view *v = all_views[view];
    int number = l && l->shown ? l->shown[i] : i;
    if (l) l->cursor = i;
    if (v->items == ITEMS_OPS) session_select_op(&x->session, number);
    if (v->items == ITEMS_BUFFERS) session_select_buffer(&x->session, number);
    if (v->items == ITEMS_BUFFERS && !l) session_show_buffer(&x->session);
    if (v->select) v->select(x, x->states[view], i);
}

bool view_request(struct explorer *x, enum view_id view, enum request r, const char *argument)
{
    const struct view *v = all_views[view];
    if (!is_usable(x, view)) return false;
    struct list *l = views_list_of(x, view);
    int count = l ? view_count(x, view) : 0;
    if (l && list_move(l, r, count, l->rows.rows)) {
        if (count > 0) view_select(x, view, l->cursor);
        return true;
    }
    return v->request && v->request(x, x->states[view], r, argument);
}

/* In a list a click selects a row; in a table a click on the marked row opens it, and the wheel moves by
 * three. */
void view_mouse(struct explorer *x, enum view_id view, const struct key *k)
{
    const struct view *v = all_views[view];
    struct list *l = is_usable(x, view) ? views_list_of(x, view) : NULL;
    bool is_table = l && v->sorted_by;
    if (v->mouse && is_usable(x, view) && (!is_table || (k->code == AT_CLICK && k->row == l->rows.row - 1)))
        v->mouse(x, x->states[view], k);
    else if (k->code != AT_CLICK)
        for (int i = 0; i < (is_table ? 3 : 1); i++)
            explorer_request(x, k->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, NULL);
    else if (l && box_holds(&l->rows, k->row, k->column)) {
        int row = k->row - l->rows.row + l->top;
        if (row >= view_count(x, view)) return;
        if (is_table && row == l->cursor)
            v->request(x, x->states[view], REQ_OPEN, NULL);
        else
            view_select(x, view, row);
    }
}

bool list_move(struct list *l, enum request r, int count, int page)
{
    int by = page > 1 ? page - 1 : 1, to;
    const struct {
        enum request request;
        int to;
    } moves[] = {{REQ_UP, l->cursor - 1},       {REQ_DOWN, l->cursor + 1},       {REQ_TOP, 0},
                 {REQ_PAGE_UP, l->cursor - by}, {REQ_PAGE_DOWN, l->cursor + by}, {REQ_BOTTOM, count - 1}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].request != r) continue;
        to = moves[i].to > count - 1 ? count - 1 : moves[i].to;
        l->cursor = to < 0 ? 0 : to;
        return true;
    }
    return false;
}

void list_show(struct list *l, int count, struct box rows)
{
    l->rows = rows;
    if (l->cursor > count - 1) l->cursor = count - 1;
    if (l->cursor < 0) l->cursor = 0;
    if (l->top > l->cursor) l->top = l->cursor;
    if (l->top < l->cursor - rows.rows + 1) l->top = l->cursor - rows.rows + 1;
    if (l->top > count - rows.rows) l->top = count - rows.rows;
    if (l->top < 0) l->top = 0;
}

bool sorting_request(struct explorer *x, struct sorting *by, const struct columns *columns,
                     const struct column_place *places, enum request r, const char *argument)
{
    int n = (int)columns->count, to = -1;
    struct text known = {0};
    switch (r) {
    case REQ_SORT:
        for (int c = 0; c < n; c++) {
            if (strcmp(columns->at[c].key, argument) == 0) to = c;
            text_format(&known, "%s%s", c ? ", " : "", columns->at[c].key);
        }
        if (to >= 0)
            by->column = to;
        else
            explorer_say(x, TONE_BAD, "no column is called \"%s\"; there are %s", argument, known.at);
        text_free(&known);
        return true;
    case REQ_SORT_RIGHT:
    case REQ_SORT_LEFT:
        do by->column = (by->column + (r == REQ_SORT_RIGHT ? 1 : n - 1)) % n;
        while (places && places[by->column].width == 0 && by->column != 0);
        return true;
    case REQ_SORT_REVERSE: by->descending = !by->descending; return true;
    default: return false;
    }
}

void sorting_draw_heads(const struct scene *on, struct box row, const struct fitted *f,
                        const struct columns *columns, const struct sorting *by)
{
    for (int c = 0; c < (int)columns->count; c++) {
        char title[40];
        bool here = c == by->column;
        snprintf(title, sizeof title, "%s%s", columns->at[c].heading,
                 here ? (by->descending ? " v" : " ^") : "");
        put_heading(on->cells, row, f, (size_t)c, here ? INK(TITLE) : INK(DIM), title);
    }
}
