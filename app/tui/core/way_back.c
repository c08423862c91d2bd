/* The way back: every page and pattern that was left, and every place that a jump (search, goto, off chip) led away from. */
#include "tui/core/explorer.h"

#include <string.h>

struct place place_now(const struct explorer *x)
{
    const struct session *s = &x->session;
    return (struct place){x->view, s->current, s->selection.buffer, s->selection.op};
}

static bool is_jump(enum request r)
{
    switch (r) {
    case REQ_GOTO:
    case REQ_SEARCH:
    case REQ_SEARCH_NEXT:
    case REQ_SEARCH_PREVIOUS:
    case REQ_OFF_CHIP:
    case REQ_OPEN:
        return true;
    default:
        return false;
    }
}

void place_left(struct explorer *x, struct place before, enum request by)
{
    struct place now = place_now(x);
    bool away = before.view != now.view || before.pattern != now.pattern,
         jumped = is_jump(by) && (before.buffer != now.buffer || before.op != now.op);
    if (by == REQ_GO_BACK || before.pattern < 0 || !(away || jumped)) return;
    if (x->place_count == MOST_PLACES)
        memmove(x->places, x->places + 1, (size_t)--x->place_count * sizeof *x->places);
    x->places[x->place_count++] = before;
}

void place_back(struct explorer *x)
{
    struct session *s = &x->session;
    if (x->place_count == 0) {
        explorer_say(x, TONE_DIM, "there is no place to go back to");
        return;
    }
    struct place to = x->places[--x->place_count];
    bool same = to.pattern == s->current;
    session_open(s, to.pattern);
    explorer_show(x, to.view);
    if (!same || !session_plan(s)) return; /* another plan is made first: its numbers are its own */
    session_select_buffer(s, to.buffer);
    if (to.op >= 0) s->selection.op = to.op;
    session_show_buffer(s);
    explorer_say(x, TONE_DIM, "back; %d more", x->place_count);
}
