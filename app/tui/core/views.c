/* All views by number, and the default answers of views that have no function of their own; lists. */
#include "tui/core/explorer.h"
#include "base/memory.h"
#include "tui/core/views.h"

#include <stdlib.h>

#define VIEW_POINTER(R, id, file, name, keys, group, help) [VIEW_##id] = &view_##file,
const struct view *const all_views[VIEW_COUNT] = {VIEWS(VIEW_POINTER, )};
#undef VIEW_POINTER

#define VIEW_SHOWN_BY(R, id, file, name, keys, group, help) [VIEW_##id] = REQ_##id,
const enum request view_requests[VIEW_COUNT] = {VIEWS(VIEW_SHOWN_BY, )};
#undef VIEW_SHOWN_BY

static struct list *views_list_of(struct explorer *x, enum view_id view)
{
    return all_views[view]->list ? all_views[view]->list(x->states[view]) : NULL;
}

/* A view of plans needs a plan. */
static bool is_usable(struct explorer *x, enum view_id view)
{
    return !all_views[view]->needs_plan || session_plan(&x->session);
}

int view_count(struct explorer *x, enum view_id view)
{
    const struct view *v = all_views[view];
    return v->count && is_usable(x, view) ? v->count(x, x->states[view]) : 0;
}

int view_selected(struct explorer *x, enum view_id view)
{
    const struct view *v = all_views[view];
    return v->selected ? v->selected(x, x->states[view]) : views_list_of(x, view)->cursor;
}

void view_select(struct explorer *x, enum view_id view, int i)
{
    struct list *l = views_list_of(x, view);
    if (l) l->cursor = i;
    if (all_views[view]->select) all_views[view]->select(x, x->states[view], i);
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

void view_mouse(struct explorer *x, enum view_id view, const struct key *k)
{
    const struct view *v = all_views[view];
    if (v->mouse && is_usable(x, view))
        v->mouse(x, x->states[view], k);
    else if (k->code == AT_WHEEL_UP || k->code == AT_WHEEL_DOWN)
        explorer_request(x, k->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, NULL);
    else if (v->list && is_usable(x, view)) {
        struct list *l = views_list_of(x, view);
        int row = k->row - l->rows.row + l->top;
        if (k->code == AT_CLICK && box_holds(&l->rows, k->row, k->column) && row < view_count(x, view))
            view_select(x, view, row);
    }
}

bool view_is_lively(struct explorer *x, enum view_id view)
{
    const struct view *v = all_views[view];
    return v->is_lively && is_usable(x, view) && v->is_lively(x->states[view]);
}

struct list *first_list(void *state)
{
    return state;
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

int op_items_count(struct explorer *x, void *state)
{
    (void)state;
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    return g ? g->op_count : 0;
}

const char *op_items_name(struct explorer *x, void *state, int i)
{
    (void)state;
    return outcome_graph(&x->session.shown)->ops[i].name;
}

int op_items_selected(struct explorer *x, void *state)
{
    (void)state;
    return x->session.selection.op;
}

void op_items_select(struct explorer *x, void *state, int i)
{
    (void)state;
    session_select_op(&x->session, i);
}
