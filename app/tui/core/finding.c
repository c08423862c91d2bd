/* Search, filters, and the way back.
 *
 * A search goes through the items of the view on top, around its ends. The selection is always in the list
 * on the screen, so that keys act on the marked row: a filter that hides the selection moves it to the
 * marked row, and a request that selects a hidden row removes the filter. The way back has every page and
 * pattern that was left, and every place that a jump (search, goto, off chip) left. */
#include "tui/core/explorer.h"

bool has_text(const char *haystack, const char *needle)
{
    size_t n = strlen(needle);
    int upper = toupper((unsigned char)*needle), lower = tolower((unsigned char)*needle);
    for (; n && *haystack; haystack++) /* quicker than strcasestr on short names */
        if ((*haystack == (char)upper || *haystack == (char)lower) && strncasecmp(haystack, needle, n) == 0)
            return true;
    return n == 0;
}

void search_step(struct explorer *x, int direction, bool here)
{
    enum view_id top = explorer_top(x);
    if (!x->search[0]) {
        explorer_say(x, TONE_DIM, "no search yet: %s starts one", KEY_OF(SEARCH));
        return;
    }
    int n = view_count(x, top), from = n > 0 ? view_selected(x, top) : 0, found = -1, all = 0, number = 0;
    for (int k = here ? 0 : 1; n > 0 && found < 0 && k <= n; k++) {
        int i = ((from + direction * k) % n + n) % n;
        const char *item = view_item(x, top, i);
        if (item && has_text(item, x->search)) found = i;
    }
    if (found < 0) {
        explorer_say(x, TONE_BAD, "\"%s\" was not found", x->search);
        return;
    }
    /* "2 of 4", and whether the search wrapped around. */
    bool wrapped = (!here || found != from) && (direction > 0 ? found <= from : found >= from);
    view_select(x, top, found);
    for (int i = 0; i < n; i++) {
        const char *item = view_item(x, top, i);
        if (!item || !has_text(item, x->search)) continue;
        all++;
        number += i <= found;
    }
    explorer_say(x, TONE_DIM, "%d of %d with \"%s\"%s", number, all, x->search,
                 wrapped && all > 1 ? ", wrapped around" : "");
}

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
    explorer_say(x, TONE_DIM, "filter removed: it hid the selection");
}

void place_left(struct explorer *x, struct place before, enum request by)
{
    struct place now = PLACE_NOW(x);
    bool away = before.view != now.view || before.pattern != now.pattern,
         jumps = by == REQ_GOTO || by == REQ_SEARCH || by == REQ_SEARCH_NEXT || by == REQ_SEARCH_PREVIOUS ||
                 by == REQ_OFF_CHIP || by == REQ_OPEN,
         jumped = jumps && (before.buffer != now.buffer || before.op != now.op);
    if (by == REQ_GO_BACK || before.pattern < 0 || !(away || jumped)) return;
    if (x->place_count == MOST_PLACES)
        memmove(x->places, x->places + 1, (size_t)--x->place_count * sizeof *x->places);
    x->places[x->place_count++] = before;
}

void place_back(struct explorer *x)
{
    struct session *s = &x->session;
    if (x->place_count == 0) {
        explorer_say(x, TONE_DIM, "no previous place");
        return;
    }
    struct place to = x->places[--x->place_count];
    bool same = to.pattern == s->current;
    session_open(s, to.pattern);
    explorer_show(x, to.view);
    if (!same || !session_plan(s)) return; /* the plan to come has other numbers */
    session_select_buffer(s, to.buffer);
    if (to.op >= 0) s->selection.op = to.op;
    session_show_buffer(s);
    explorer_say(x, TONE_DIM, "back; %d more", x->place_count);
}
