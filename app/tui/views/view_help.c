/* Every request with its keys; search and filter go by key, name and words. */
#include "tui/core/explorer.h"

#include <stdio.h>
#include <string.h>

enum { WIDE = 70 };

/* A line of the help: a heading, or a piece of a description. */
struct line {
    const char *heading;
    int request;      /* -1: a heading */
    int from, length; /* of the description, which may need several lines */
};

struct help_view {
    struct list list;
    struct line lines[6 * REQ_COUNT];
    int count;
    int room;        /* columns for descriptions at the last drawing */
    char words[300]; /* of an item, for search */
};

static void help_words_of(int request, char *out, size_t size)
{
    const struct request_row *r = &request_rows[request];
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
    snprintf(keys, sizeof keys, "%s", request_keys((enum request)request));
    for (char *lt; (lt = strstr(keys, "<lt>"));) memmove(lt + 1, lt + 4, strlen(lt + 4) + 1);
    snprintf(out, size, "%-18s :%s%s\t%s", keys, r->name, names[r->argument], r->help);
}

/* The requests that match, group by group, each under its heading. */
static void help_arrange(struct help_view *v, const char *filter)
{
    bool done[REQ_COUNT] = {false};
    v->count = 0;
    for (int i = 0; i < REQ_COUNT; i++) {
        const char *group = request_rows[i].group, *heading = group;
        for (int k = i; k < REQ_COUNT && !done[i]; k++) {
            char words[300];
            if (strcmp(request_rows[k].group, group) != 0) continue;
            if (k > i) done[k] = true;
            help_words_of(k, words, sizeof words);
            if (*filter && !has_text(words, filter) && !has_text(group, filter)) continue;
            if (heading) v->lines[v->count++] = (struct line){heading, -1, 0, 0};
            heading = NULL;
            /* The description in lines, cut at blanks; it is ASCII. */
            const char *help = request_rows[k].help;
            int from = 0, room = v->room > 12 ? v->room : 12;
            do {
                int all = (int)strlen(help + from), n = all <= room ? all : room;
                while (n < all && n > 0 && help[from + n] != ' ') n--;
                if (n == 0) n = room;
                if (v->count == sizeof v->lines / sizeof *v->lines) return;
                v->lines[v->count++] = (struct line){NULL, k, from, n};
                from += n + (help[from + n] == ' ');
            } while (help[from]);
        }
    }
}

static void help_draw_line(const struct scene *on, struct box row, const struct line *line)
{
    char words[300];
    int at = row.columns >= WIDE ? 41 : 19; /* behind the keys and, if there is room, the names */
    if (line->heading) {
        put_text(on->cells, row.row, row.column, row.columns, INK(TITLE), line->heading);
        return;
    }
    help_words_of(line->request, words, sizeof words);
    char *tab = strchr(words, '\t');
    *tab = 0;
    if (line->from == 0) {
        put_format(on->cells, row.row, row.column + 1, 18, INK(KEY), "%.18s", words);
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
        help_draw_line(on, row, line);
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
        if (request < 0) return true;
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
    help_words_of(v->lines[i].request, v->words, sizeof v->words);
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
    .draw = help_draw,
    .request = help_request,
    .count = help_count,
    .item = help_item,
    .is_list = true,
};
