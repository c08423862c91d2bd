/* The last line of the screen: the command line, else a message, else the keys of the view, which can be clicked; at its right
 * end the filter and the place in the list. */
#include "tui/core/explorer.h"

#include <stdio.h>
#include <string.h>

static void footer_draw_prompt(struct explorer *x, struct box area)
{
    struct prompt *p = &x->prompt;
    struct cells *g = &x->cells;
    char before[sizeof p->text];
    int at = put_text(g, area.row, 0, area.columns, INK(KEY),
                      p->lead == 'f'   ? "filter "
                      : p->lead == '/' ? "/"
                                       : ":");
    snprintf(before, sizeof before, "%.*s", p->at, p->text);
    int cursor = columns_of(before), room = area.columns - at - 1, skip = 0;
    snprintf(before, sizeof before, "%.*s", p->fresh, p->text);
    const char *from = p->text;
    while (cursor - skip > room && *from) { /* the cursor stays visible */
        uint32_t code;
        int columns, n = next_character(from, &code, &columns);
        from += n;
        skip += columns;
    }
    int used = put_text(g, area.row, at, room, INK(PLAIN), from), proposed = at + columns_of(before) - skip;
    if (p->fresh && proposed >= at) /* typing replaces it */
        put_paper(g, (struct box){area.row, proposed, 1, at + used - proposed}, INK_ON(PLAIN, SELECTED));
    g->cursor_row = area.row;
    g->cursor_column = at + cursor - skip;
    if (p->choices.at && at + used + 3 < area.columns)
        put_text(g, area.row, at + used + 2, area.columns - at - used - 2, INK(DIM), p->choices.at);
}

/* "filter gq  3/91", as much of it as there is room for; the columns that are left. */
static int footer_draw_place(struct explorer *x, struct box area)
{
    enum view_id top = explorer_top(x);
    const char *filter = x->filter[top];
    char place[40] = "", shown[100] = "";
    int n = view_count(x, top), right = area.columns;
    if (top == VIEW_HELP && !filter[0]) return right; /* a page and not a list */
    if (n > 0 || filter[0])
        snprintf(place, sizeof place, "%d/%d", n > 0 ? view_selected(x, top) + 1 : 0, n > 0 ? n : 0);
    if (filter[0]) snprintf(shown, sizeof shown, "filter %.40s", filter);
    int width = columns_of(place), more = columns_of(shown);
    if (!place[0] || area.columns < 40 + width + more) return right;
    right -= width;
    put_text(&x->cells, area.row, right, width, INK(DIM), place);
    if (!shown[0]) return right - 2;
    right -= more + 2;
    put_text(&x->cells, area.row, right, more, INK(WARN), shown);
    return right - 2;
}

/* One key with its word, which a click presses. */
static int footer_draw_hint(struct explorer *x, struct box area, int at, enum request r, const char *word)
{
    struct footer_key *k = &x->footer[x->footer_count < FOOTER_KEYS ? x->footer_count++ : FOOTER_KEYS - 1];
    k->from = at;
    at += put_text(&x->cells, area.row, at, 16, INK(KEY), request_key(r).at) + 1;
    at += put_text(&x->cells, area.row, at, 40, INK(DIM), word);
    k->to = at;
    k->request = r;
    return at + 2;
}

static int footer_width_of(enum request r, const char *word)
{
    return columns_of(request_key(r).at) + 1 + columns_of(word);
}

/* The present word of a hint; NULL: its key has no effect. */
static const char *footer_word_of(struct explorer *x, const struct hint *h)
{
    enum view_id top = explorer_top(x);
    const struct session *s = &x->session;
    bool planless = all_views[top]->needs_plan && !session_plan(s);
    if (h->request == REQ_STOP && worker_busy(s->worker, NULL) <= worker_busy(s->worker, &read_work))
        return NULL;
    if (h->request == REQ_NEXT_ITERATION && (planless || session_plan(s)->nest_count == 0)) return NULL;
    if (planless && h->request != REQ_STOP && h->request != REQ_BACK && h->request != REQ_WHAT_IF &&
        h->request != REQ_NEXT_SOLVER)
        return NULL;
    return all_views[top]->hint_word && !planless ? all_views[top]->hint_word(x, x->states[top], h) : h->word;
}

static void footer_draw_hints(struct explorer *x, struct box area, int right)
{
    const struct hint *h = all_views[explorer_top(x)]->hints;
    static const struct hint stop = {REQ_STOP, "cancel"};
    int at = 0, help = footer_width_of(REQ_HELP, "help");
    bool has_stop = false;
    for (int i = 0; i < MOST_HINTS && h[i].word; i++) has_stop |= h[i].request == REQ_STOP;
    if (!has_stop && session_is_stale(&x->session) && footer_word_of(x, &stop))
        at = footer_draw_hint(x, area, at, REQ_STOP, stop.word);
    for (int i = 0; i < MOST_HINTS && h[i].word; i++) {
        const char *word = footer_word_of(x, &h[i]);
        if (!word) continue;
        if (at + footer_width_of(h[i].request, word) > right - help - 2) break;
        at = footer_draw_hint(x, area, at, h[i].request, word);
    }
    if (at + help <= right) footer_draw_hint(x, area, at, REQ_HELP, "help");
}

void frame_draw_hints(struct explorer *x, struct box area)
{
    x->footer_count = 0;
    x->footer_row = area.row;
    if (x->prompt.open) {
        footer_draw_prompt(x, area);
        return;
    }
    bool room = !x->message.at || columns_of(x->message.at) < area.columns - 24;
    int right = room ? footer_draw_place(x, area) : area.columns; /* messages go before the place */
    if (x->message.at)
        put_text(&x->cells, area.row, 0, right, (struct style){.ink = x->message_tone}, x->message.at);
    else
        footer_draw_hints(x, area, right);
}

bool footer_click(struct explorer *x, const struct key *k)
{
    if (k->row != x->footer_row || k->code != AT_CLICK) return false;
    for (int i = 0; i < x->footer_count; i++)
        if (k->column >= x->footer[i].from && k->column < x->footer[i].to) {
            explorer_request(x, x->footer[i].request, NULL);
            break;
        }
    return true;
}
