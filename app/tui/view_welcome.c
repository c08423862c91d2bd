/* One screen for someone who has never been here. */
#include "tui/explorer.h"

#include <stdio.h>

static void draw(const struct scene *on, void *state, struct box area)
{
    (void)state;
    struct cells *g = on->cells;
    enum { ROWS = 11 + PAGE_COUNT };
    bool small = area.rows < ROWS || area.columns < 60;
    struct box in =
        frame_window(on, "Welcome to lxplan", small ? area.rows : ROWS, small ? area.columns : 74);
    int row = in.row;
    if (in.rows < 4) return;
    if (!small) {
        row += put_wrapped(
            g, (struct box){row, in.column, 3, in.columns}, INK(PLAIN),
            "A plan says which tensors stay in the small scratchpad (LX) of each core, at which address, "
            "and what traffic to HBM is left. Here you look at plans, and change what they are made with.");
        row++;
    }
    for (int i = 0; i < PAGE_COUNT && row < in.row + in.rows - 2; i++, row++) {
        put_text(g, row, in.column, 2, INK(KEY), request_key(view_requests[i]).at);
        put_text(g, row, in.column + 2, 10, INK(TITLE), all_views[i]->name);
        put_text(g, row, in.column + 12, in.columns - 12, INK(PLAIN), all_views[i]->purpose);
    }
    if (!small) {
        row++;
        put_format(g, row++, in.column, in.columns, INK(PLAIN),
                   "Open a pattern with %s, then walk through the views with %s.", KEY_OF(OPEN),
                   KEY_OF(NEXT_VIEW));
        put_format(g, row++, in.column, in.columns, INK(PLAIN),
                   "%s tries the next solver, %s shows everything that can be changed,", KEY_OF(NEXT_SOLVER),
                   KEY_OF(WHAT_IF));
        put_format(g, row++, in.column, in.columns, INK(PLAIN),
                   "%s takes it back. %s lists every key; the mouse works, too.", KEY_OF(UNDO), KEY_OF(HELP));
    }
    put_format(g, in.row + in.rows - 1, in.column, in.columns, INK(KEY), "any of these keys, or %s to begin",
               KEY_OF(OPEN));
}

static bool request(struct explorer *x, void *state, enum request r, const char *argument)
{
    (void)state, (void)argument;
    x->overlay = VIEW_COUNT;
    /* A key that only closes it does nothing else. */
    return r == REQ_OPEN || r == REQ_ESCAPE || r == REQ_BACK || r == REQ_WELCOME;
}

static void mouse(struct explorer *x, void *state, const struct key *k)
{
    (void)state;
    if (k->code == AT_CLICK) x->overlay = VIEW_COUNT;
}

const struct view view_welcome = {
    .name = "Welcome",
    .purpose = "the first screen",
    .hints = {{REQ_OPEN, "begin"}, {REQ_QUIT, "quit"}},
    .draw = draw,
    .request = request,
    .mouse = mouse,
};
