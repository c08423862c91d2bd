/* A filter and the selection: what is selected is in the list that is seen, so that keys act on the row that is marked.
 *
 * A filter that hides the selection moves it to the marked row, once it is no longer typed; a request that selects what
 * a filter hides (an edge that is followed, the next buffer off chip) takes the filter away. */
#include "tui/core/explorer.h"

bool filter_hides(struct explorer *x, enum view_id view)
{
    const struct view *v = all_views[view];
    if (!v->hides || !x->filter[view][0] || view_count(x, view) == 0) return false;
    return v->hides(x, x->states[view]);
}

void filter_settle(struct explorer *x)
{
    enum view_id view = x->view;
    if (x->prompt.open || !filter_hides(x, view)) return;
    int last = view_count(x, view) - 1, at = view_selected(x, view);
    view_select(x, view, at > last ? last : at < 0 ? 0 : at);
}

void filter_yield(struct explorer *x, enum view_id before, uint64_t plan)
{
    if (x->view != before || x->session.shown.number != plan || x->prompt.open) return;
    if (!filter_hides(x, before)) return;
    x->filter[before][0] = 0;
    explorer_say(x, TONE_DIM, "the filter is off: it hides what is selected now");
}
