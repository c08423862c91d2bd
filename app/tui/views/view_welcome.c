/* One screen for someone who has never been here: what a plan is, how to read the map of one, and where to begin. It fits
 * 80 x 24; a larger screen has the views with their purposes as well. */
#include "tui/core/explorer.h"

#include <stdio.h>

/* How to read the map. "%s" is the key of the request; lines without one have REQ_COUNT. */
static const struct {
    enum request request;
    const char *words;
} reading[] = {
    {REQ_MAP, "How to read the map (%s):"},
    {REQ_COUNT, "  Time runs to the right, one tick per op; addresses grow upwards."},
    {REQ_COUNT, "  A block is a buffer: as wide as its life, as high as its bytes per core."},
    {REQ_COUNT, "  Letter and colour are the buffer's own in every view; its name is in it."},
    {REQ_COUNT, "  \"in use\" below it: how full the scratchpad is at each tick."},
    {REQ_COUNT, "  \"off chip\" below that: what found no room and has to go through HBM."},
    {REQ_WHY, "  The panel says where the selected one is; %s why, and what would help."},
    {REQ_COMPARE, "  The status line: bytes of HBM, the proven least; %s races all solvers."},
    {REQ_NEXT_SOLVER, "  %s tries the next solver,"},
    {REQ_WHAT_IF, " %s shows everything that can be changed,"},
};

enum { READING = sizeof reading / sizeof *reading, LINES_OF_WELCOME = 19, COLUMNS_OF_WELCOME = 80 };

static int view_welcome_put_line(const struct scene *on, struct box in, int row, int column, int i)
{
    struct style style = i == 0 ? INK(TITLE) : INK(PLAIN);
    char line[200];
    if (reading[i].request == REQ_COUNT)
        snprintf(line, sizeof line, "%s", reading[i].words);
    else
        snprintf(line, sizeof line, reading[i].words, request_key(reading[i].request).at);
    return put_text(on->cells, row, in.column + column, in.columns - column, style, line);
}

static int draw_reading(const struct scene *on, struct box in, int row)
{
    for (int i = 0; i < READING - 1; i++) {
        int used = view_welcome_put_line(on, in, row, 0, i);
        if (i == READING - 2) view_welcome_put_line(on, in, row, used, i + 1);
        row++;
    }
    put_format(on->cells, row++, in.column, in.columns, INK(PLAIN),
               "  %s takes it back, %s less scratchpad, %s lists every key; the mouse works.", KEY_OF(UNDO),
               KEY_OF(LESS_LX), KEY_OF(HELP));
    return row;
}

static int draw_views(const struct scene *on, struct box in, int row, int last)
{
    for (int i = 0; i < PAGE_COUNT && row < last; i++, row++) {
        put_text(on->cells, row, in.column, 2, INK(KEY), request_key(view_requests[i]).at);
        put_text(on->cells, row, in.column + 2, 10, INK(TITLE), all_views[i]->name);
        put_text(on->cells, row, in.column + 12, in.columns - 12, INK(PLAIN), all_views[i]->purpose);
    }
    return row + 1;
}

static int view_welcome_draw_words(const struct scene *on, struct box in)
{
    struct box top = {in.row, in.column, 2, in.columns};
    int row =
        in.row + put_wrapped(on->cells, top, INK(PLAIN),
                             "A plan says which tensors stay in the small scratchpad (LX) of each core, and "
                             "what traffic to HBM is left. Look at plans here, and change them.");
    row = draw_reading(on, in, row + 1) + 1;
    put_format(on->cells, row++, in.column, in.columns, INK(PLAIN),
               "Begin with targets/staircase (%sstair) or needs_moves: solvers differ.", KEY_OF(SEARCH));
    put_format(on->cells, row++, in.column, in.columns, INK(PLAIN),
               "Open a pattern with %s, then walk through the views with %s.", KEY_OF(OPEN),
               KEY_OF(NEXT_VIEW));
    return row + 1;
}

static void view_welcome_draw(const struct scene *on, void *state, struct box area)
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
    int row = small ? in.row : view_welcome_draw_words(on, in);
    if (small || large) draw_views(on, in, row, last);
    put_format(on->cells, last, in.column, in.columns, INK(KEY), "any of these keys, or %s to begin",
               KEY_OF(OPEN));
}

static bool view_welcome_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    (void)state, (void)argument;
    x->overlay = VIEW_COUNT;
    /* A key that only closes it does nothing else. */
    return r == REQ_OPEN || r == REQ_ESCAPE || r == REQ_BACK || r == REQ_WELCOME;
}

static void view_welcome_mouse(struct explorer *x, void *state, const struct key *k)
{
    (void)state;
    if (k->code == AT_CLICK) x->overlay = VIEW_COUNT;
}

const struct view view_welcome = {
    .name = "Welcome",
    .purpose = "the first screen",
    .hints = {{REQ_OPEN, "begin"}, {REQ_QUIT, "quit"}},
    .draw = view_welcome_draw,
    .request = view_welcome_request,
    .mouse = view_welcome_mouse,
};
