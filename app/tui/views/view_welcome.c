/* One screen for new users: plans, how to read the map, and where to begin. It fits 80 x 24; a
 * larger screen lists the views, too. */
#include "tui/core/explorer.h"

enum { LINES_OF_WELCOME = 19, COLUMNS_OF_WELCOME = 80 };

static int welcome_draw_words(const struct scene *on, struct box in)
{
    struct box top = {in.row, in.column, 2, in.columns};
    int row =
        in.row + put_wrapped(on->cells, top, INK(PLAIN),
                             "A plan says which tensors stay in the small scratchpad (LX) of each core, and "
                             "what traffic to HBM is left. Look at plans here, and change them.");
    SCOPED(text_free) struct text lines = {0};
    text_format(&lines, "How to read the map (%s):\n", KEY_OF(MAP));
    text_add(&lines, "  Time runs to the right, one tick per op; addresses grow upwards.\n"
                     "  A block is a buffer: as wide as its life, as high as its bytes per core.\n"
                     "  Letter and colour are the buffer's own in every view; its name is in it.\n"
                     "  \"in use\" below it: how full the scratchpad is at each tick.\n"
                     "  \"off chip\" below that: buffers that found no room and go through HBM.\n");
    text_format(&lines, "  The panel says where the selected one is; %s why, and lists remedies.\n",
                KEY_OF(WHY));
    text_format(&lines, "  The status line: HBM bytes and their lower bound; %s races all solvers.\n",
                KEY_OF(COMPARE));
    text_format(&lines, "  %s tries the next solver, ", KEY_OF(NEXT_SOLVER));
    text_format(&lines, "%s shows everything that can be changed,\n", KEY_OF(WHAT_IF));
    text_format(&lines, "  %s undoes, %s less scratchpad, ", KEY_OF(UNDO), KEY_OF(LESS_LX));
    text_format(&lines, "%s lists every key; the mouse works.\n\n", KEY_OF(HELP));
    text_format(&lines, "Begin with targets/staircase (%sstair) or needs_moves: solvers differ.\n",
                KEY_OF(SEARCH));
    text_format(&lines, "Open a pattern with %s, ", KEY_OF(OPEN));
    text_format(&lines, "then walk through the views with %s.\n", KEY_OF(NEXT_VIEW));
    row++;
    for (char *rest = lines.at, *line; (line = strsep(&rest, "\n")) && rest; row++)
        put_text(on->cells, row, in.column, in.columns, line == lines.at ? INK(TITLE) : INK(PLAIN), line);
    return row + 1;
}

static void welcome_draw(const struct scene *on, void *state, struct box area)
{
    (void)state;
    bool small = area.rows < LINES_OF_WELCOME || area.columns < COLUMNS_OF_WELCOME - 2,
         large = area.rows >= LINES_OF_WELCOME + PAGE_COUNT + 3;
    struct box in = frame_window(on, "Welcome to lxplan",
                                 small   ? area.rows
                                 : large ? LINES_OF_WELCOME + PAGE_COUNT + 2
                                         : LINES_OF_WELCOME,
                                 small ? area.columns : COLUMNS_OF_WELCOME);
    int last = in.row + in.rows - 1;
    if (in.rows < 4) return;
    int row = small ? in.row : welcome_draw_words(on, in);
    for (int i = 0; (small || large) && i < PAGE_COUNT && row < last; i++, row++) {
        put_text(on->cells, row, in.column, 2, INK(KEY), request_key(view_requests[i]).at);
        put_text(on->cells, row, in.column + 2, 10, INK(TITLE), all_views[i]->name);
        put_text(on->cells, row, in.column + 12, in.columns - 12, INK(PLAIN), all_views[i]->purpose);
    }
    put_format(on->cells, last, in.column, in.columns, INK(KEY), "any of these keys, or %s to begin",
               KEY_OF(OPEN));
}

static bool welcome_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    (void)state, (void)argument;
    x->overlay = VIEW_COUNT;
    /* A key that closes it has no other effect. */
    return r == REQ_OPEN || r == REQ_ESCAPE || r == REQ_BACK || r == REQ_WELCOME;
}

static void welcome_mouse(struct explorer *x, void *state, const struct key *k)
{
    (void)state;
    if (k->code == AT_CLICK) x->overlay = VIEW_COUNT;
}

const struct view view_welcome = {
    .name = "Welcome",
    .purpose = "the first screen",
    .hints = {{REQ_OPEN, "begin"}, {REQ_QUIT, "quit"}},
    .draw = welcome_draw,
    .request = welcome_request,
    .mouse = welcome_mouse,
};
