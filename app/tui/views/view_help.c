/* Help: the keys, marks and columns of the view that was on top, then every request with its keys; search and
 * filter go by key, name and words. */
#include "tui/core/explorer.h"

enum { WIDE = 70 };

/* Marks and columns that no heading explains, by view. */
static const struct {
    unsigned views;
    const char *mark, *help;
} legend[] = {
    /* clang-format off */
    {IN(GRAPH), "| :", "lanes of tensors: thick on chip, dotted in HBM; an arrow where the ring or a move copies it"},
    {IN(GRAPH), "[h/8", "a nest: its loops, or with x16 their tiles; repeated layers are a row with x and their number"},
    {IN(GRAPH), "splits", "cores per dimension of the op: s/8,t/4"},
    {IN(GRAPH), "bound", "what most of the op's time waits for; the bar has all causes"},
    {IN(CORES), "same split as", "of so many neighbours: ops that have the common tensor in the same parts"},
    {IN(CORES), "spans", "bytes of HBM from the first to the last that a core touches"},
    {IN_MAPS, "letters, colours", "a buffer has the same ones in every view; white outline: the selected one"},
    {IN_MAPS, "dots", "a tile of a nest: one slice of the tensor at a time"},
    {IN_MAPS, "/", "a buffer that takes over the place of another (in place)"},
    {IN_MAPS, "arrows", "left end: loaded, or copied over the ring; right end: stored"},
    {IN(MAP), "axis", "bars: syncs of all cores; brackets: nests, and kernels that are launched one by one"},
    {IN(MAP), ":::", "the largest free stretch at the cursor's tick"},
    {IN(MAP), "grey lanes", "off chip because each byte must cross once; red ones could be on chip"},
    {IN(COMPARE), "L R *", "the left and right plan of the maps; the best of a race"},
    {IN(COMPARE), "gap", "distance from the best lower bound of the same question"},
    {IN(LOOPS), "level", "a loop, the outermost first; what a level holds stays on chip for all iterations inside"},
    {IN(RUN), "of tol.", "the largest error as a share of its proved tolerance"},
    {IN(RUN), "each", "HBM bytes of one iteration"},
    {IN(TEAM), "halo", "rows that a device receives from its neighbours"},
    {IN(BUFFERS), "tile, hold", "1/16: the buffer holds one of 16 tiles; the loop level that it is held in"},
    {IN(BUFFERS), "cost", "HBM bytes that are saved while it is on chip"},
    {IN(BUFFERS), "padding", "the share of its bytes that pads sticks and rows"},
    {IN(BUFFERS), "@24", "as a filter: what is on chip at tick 24"},
    {IN(WHY), "<= ~ *", "cut short: that or less; that, or more where time counts (<Enter> plans it in full); the best of all"},
    {IN(SWEEP), "knee", "from this size on more scratchpad hardly helps"},
    {IN(MAP), "dashed, ////", "where the selected buffer, which is off chip, would cost least, and what is in its way; after F where it is, and what leaves"},
    {IN(MAP), "+1 KiB", "what one KiB more at this tick would save, by the bound; B lists it"},
    {IN(PROOF), "must go", "bytes beyond the room at this tick, of all that may be on chip then"},
    {IN(PROOF), "alone forces", "traffic of the cheapest buffers that make room at this tick"},
    {IN(PROOF), "1 KiB saves", "traffic that one KiB more at this tick would save, by the bound"},
    {IN(TIMELINE), "lanes", "height: the share of the time that the engine is at work; one above the other overlap"},
    {IN(TIMELINE), "launch, wait", "no engine works: the host launches, cores wait for each other, data is not there yet"},
    {IN(TIMELINE), "| :", "all cores wait for each other: once, in each iteration"},
    /* clang-format on */
};

/* A line of the help: a heading, or a piece of a description. */
struct line {
    const char *heading;
    int request;      /* -1: a heading; from REQ_COUNT on a row of the legend, behind it a hint of the view */
    int from, length; /* of the description, which may need several lines */
};

struct help_view {
    struct list list;
    struct line lines[8 * REQ_COUNT];
    int count;
    enum view_id of; /* the view whose keys come first */
    int room;        /* columns for descriptions at the last drawing */
    char words[300]; /* of an item, for search */
};

enum { LEGEND = sizeof legend / sizeof *legend };

static void help_words_of(const struct help_view *v, int request, char *out, size_t size)
{
    const struct hint *hint =
        request < REQ_COUNT + LEGEND ? NULL : &all_views[v->of]->hints[request - REQ_COUNT - LEGEND];
    if (hint) request = (int)hint->request;
    const struct request_row *r = &request_rows[request < REQ_COUNT ? request : 0];
    static const char *const names[] = {[ARG_NONE] = "",
                                        [ARG_SOLVER] = " SOLVER",
                                        [ARG_OBJECTIVE] = " WHAT",
                                        [ARG_THEME] = " NAME",
                                        [ARG_FILE] = " FILE",
                                        [ARG_NAME] = " NAME",
                                        [ARG_PATTERN] = " PATTERN",
                                        [ARG_NUMBER] = " N",
                                        [ARG_GRID] = " N|AxB",
                                        [ARG_SETTING] = " NAME VALUE",
                                        [ARG_COLUMN] = " COLUMN",
                                        [ARG_REQUEST] = " NAME KEYS",
                                        [ARG_TEXT] = " TEXT"};
    char keys[80];
    if (request >= REQ_COUNT) {
        snprintf(out, size, "%-18s \t%s", legend[request - REQ_COUNT].mark, legend[request - REQ_COUNT].help);
        return;
    }
    snprintf(keys, sizeof keys, "%s", request_keys((enum request)request));
    for (char *lt; (lt = strstr(keys, "<lt>"));) memmove(lt + 1, lt + 4, strlen(lt + 4) + 1);
    snprintf(out, size, "%-18s :%s%s\t%s", keys, r->name, names[r->argument], hint ? hint->word : r->help);
}

/* A request or a row of the legend, if it matches: its description in lines, cut at blanks; it is ASCII. */
static void help_add(struct help_view *v, int request, const char *group, const char **heading,
                     const char *filter)
{
    char words[300];
    help_words_of(v, request, words, sizeof words);
    if (*filter && !has_text(words, filter) && !has_text(group, filter)) return;
    enum { MOST_LINES = sizeof v->lines / sizeof *v->lines };
    if (*heading && v->count < MOST_LINES) v->lines[v->count++] = (struct line){*heading, -1, 0, 0};
    *heading = NULL;
    const char *help = strchr(words, '\t') + 1;
    int from = 0, room = v->room > 12 ? v->room : 12;
    do {
        int all = (int)strlen(help + from), n = all <= room ? all : room;
        while (n < all && n > 0 && help[from + n] != ' ') n--;
        if (n == 0) n = room;
        if (v->count == MOST_LINES) return;
        v->lines[v->count++] = (struct line){NULL, request, from, n};
        from += n + (help[from + n] == ' ');
    } while (help[from]);
}

static bool help_is_of(int request, enum view_id view)
{
    bool hinted = false;
    for (const struct hint *h = all_views[view]->hints; h < all_views[view]->hints + MOST_HINTS && h->word;
         h++)
        hinted |= (int)h->request == request && request_rows[request].views != EVERYWHERE;
    return hinted || (request_rows[request].views != EVERYWHERE && request_rows[request].views >> view & 1);
}

/* First what the view on top answers, and its marks; then the requests group by group, each under its
 * heading. */
static void help_arrange(struct help_view *v, const char *filter)
{
    bool done[REQ_COUNT] = {false};
    const char *name = all_views[v->of]->name, *heading = name;
    v->count = 0;
    /* What keys of every view do here. */
    for (int i = 0; i < MOST_HINTS && all_views[v->of]->hints[i].word; i++) {
        enum request r = all_views[v->of]->hints[i].request;
        if (request_rows[r].views == EVERYWHERE && strcmp(request_rows[r].group, "Moving") == 0 &&
            r != REQ_BACK)
            help_add(v, REQ_COUNT + LEGEND + i, name, &heading, filter);
    }
    for (int i = 0; i < 2 * REQ_COUNT; i++) { /* those of this view alone come first */
        int k = i % REQ_COUNT;
        if (done[k] || (i < REQ_COUNT && request_rows[k].views != 1u << v->of)) continue;
        if (!help_is_of(k, v->of) || !*request_keys((enum request)k)) continue;
        help_add(v, k, name, &heading, filter);
        done[k] = true;
    }
    for (int i = 0; i < LEGEND; i++)
        if (legend[i].views >> v->of & 1) help_add(v, REQ_COUNT + i, name, &heading, filter);
    for (int i = 0; i < REQ_COUNT; i++) {
        const char *group = heading = request_rows[i].group;
        for (int k = i; k < REQ_COUNT; k++) {
            if (done[k] || strcmp(request_rows[k].group, group) != 0) continue;
            done[k] = true;
            help_add(v, k, group, &heading, filter);
        }
    }
}

static void help_shown(struct explorer *x, void *state)
{
    struct help_view *v = state;
    v->of = x->asked;
    v->list.cursor = v->list.top = 0;
}

static void help_draw_line(const struct scene *on, const struct help_view *v, struct box row,
                           const struct line *line)
{
    char words[300];
    int at = row.columns >= WIDE ? 41 : 19; /* behind the keys and, if there is room, the names */
    if (line->heading) {
        put_text(on->cells, row.row, row.column, row.columns, INK(TITLE), line->heading);
        return;
    }
    help_words_of(v, line->request, words, sizeof words);
    char *tab = strchr(words, '\t');
    *tab = 0;
    if (line->from == 0) {
        put_format(on->cells, row.row, row.column + 1, 18,
                   line->request < REQ_COUNT || line->request >= REQ_COUNT + LEGEND ? INK(KEY) : INK(TITLE),
                   "%.18s", words);
        if (at > 30) put_text(on->cells, row.row, row.column + 19, 21, INK(DIM), words + 19);
    }
    put_format(on->cells, row.row, row.column + at, row.columns - at, INK(PLAIN), "%.*s", line->length,
               tab + 1 + line->from);
}

static void help_draw(const struct scene *on, void *state, struct box area)
{
    struct help_view *v = state;
    struct box in =
        frame_window(on, "Help: every key and command", area.rows, area.columns < 100 ? area.columns : 100);
    struct box note = box_cut_bottom(&in, in.rows > 6 ? 2 : 0);
    v->room = in.columns - (in.columns >= WIDE ? 41 : 19);
    help_arrange(v, on->filter);
    list_show(&v->list, v->count, in);
    for (int i = 0; i < in.rows && v->list.top + i < v->count; i++) {
        struct box row = {in.row + i, in.column, 1, in.columns};
        const struct line *line = &v->lines[v->list.top + i];
        help_draw_line(on, v, row, line);
        if (!line->heading && v->list.top + i == v->list.cursor)
            put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    }
    if (note.rows)
        put_format(on->cells, note.row + 1, note.column, note.columns, INK(DIM),
                   "%s and %s page; %s filters this list, also by key; the mouse works.", KEY_OF(HELP_DOWN),
                   KEY_OF(HELP_UP), KEY_OF(FILTER));
}

static int help_count(struct explorer *x, void *state)
{
    struct help_view *v = state;
    help_arrange(v, x->filter[VIEW_HELP]);
    return v->count;
}

static bool help_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct help_view *v = state;
    (void)argument;
    if (r == REQ_OPEN) { /* does what the line says */
        int request = v->list.cursor < help_count(x, v) ? v->lines[v->list.cursor].request : -1;
        if (request >= REQ_COUNT + LEGEND)
            request = (int)all_views[v->of]->hints[request - REQ_COUNT - LEGEND].request;
        if (request < 0 || request >= REQ_COUNT) return true;
        x->overlay = VIEW_COUNT;
        explorer_request(x, (enum request)request, NULL);
        return true;
    }
    if (r == REQ_HELP_DOWN || r == REQ_HELP_UP) {
        /* The whole page moves, with one row of overlap. */
        int was = v->list.cursor, n = help_count(x, v);
        bool moved =
            list_move(&v->list, r == REQ_HELP_DOWN ? REQ_PAGE_DOWN : REQ_PAGE_UP, n, v->list.rows.rows);
        v->list.top += v->list.cursor - was;
        return moved;
    }
    if (r != REQ_ESCAPE || !x->filter[VIEW_HELP][0]) return false;
    x->filter[VIEW_HELP][0] = 0;
    return true;
}

static const char *help_item(struct explorer *x, void *state, int i)
{
    struct help_view *v = state;
    (void)x;
    if (v->lines[i].heading) return v->lines[i].heading;
    help_words_of(v, v->lines[i].request, v->words, sizeof v->words);
    return v->words;
}

const struct view view_help = {
    .name = "Help",
    .purpose = "every key and command",
    .hints = {{REQ_HELP_DOWN, "page"},
              {REQ_SEARCH, "search"},
              {REQ_FILTER, "filter"},
              {REQ_OPEN, "do it"},
              {REQ_BACK, "close"}},
    .state_size = sizeof(struct help_view),
    .shown = help_shown,
    .draw = help_draw,
    .request = help_request,
    .count = help_count,
    .item = help_item,
    .is_list = true,
};
