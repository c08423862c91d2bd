/* Every request with its keys, as the table has them; / and f search by key, name and words. */
#include "tui/explorer.h"

#include <stdio.h>
#include <string.h>

/* Line i of the help: a heading or a request. -1: there is none. */
struct line {
    const char *heading;
    int request; /* -1: a heading, or blank */
};

static void words_of(int request, char *out, size_t size)
{
    const struct request_row *r = &request_rows[request];
    static const char *const names[] = {"",         " SOLVER", " WHAT",       " NAME",   " FILE", " NAME",
                                        " PATTERN", " N",      " NAME VALUE", " COLUMN", " TEXT"};
    char keys[80];
    snprintf(keys, sizeof keys, "%s", r->keys);
    for (char *lt; (lt = strstr(keys, "<lt>"));) memmove(lt + 1, lt + 4, strlen(lt + 4) + 1);
    snprintf(out, size, "%-18s :%s%s\t%s", keys, r->name, names[r->argument], r->help);
}

static bool matches(int request, const char *filter)
{
    char words[300];
    words_of(request, words, sizeof words);
    return !*filter || has_text(words, filter) || has_text(request_rows[request].group, filter);
}

/* Walks over the lines; with `wanted` >= 0 returns that one, else counts them. */
static int walk(struct explorer *x, int wanted, struct line *out)
{
    const char *group = NULL, *filter = x->filter[VIEW_HELP];
    int n = 0;
    for (int i = 0; i < REQ_COUNT; i++) {
        if (!matches(i, filter)) continue;
        if (!group || strcmp(group, request_rows[i].group) != 0) {
            group = request_rows[i].group;
            if (n == wanted) return *out = (struct line){group, -1}, n;
            n++;
        }
        if (n == wanted) return *out = (struct line){NULL, i}, n;
        n++;
    }
    return n;
}

static void draw(struct explorer *x, struct box area)
{
    struct box in =
        frame_window(x, "Help: every key and command", area.rows, area.columns < 100 ? area.columns : 100);
    struct box note = box_cut_bottom(&in, in.rows > 6 ? 2 : 0);
    int n = walk(x, -1, NULL), wide = in.columns >= 70;
    list_show(&x->help.list, n, in.rows);
    x->help.lines = in.rows;
    for (int i = 0; i < in.rows && x->help.list.top + i < n; i++) {
        struct line line = {NULL, -1};
        char words[300];
        int at = x->help.list.top + i;
        walk(x, at, &line);
        if (line.heading) {
            put_text(&x->cells, in.row + i, in.column, in.columns, INK(TITLE), line.heading);
            continue;
        }
        words_of(line.request, words, sizeof words);
        char *tab = strchr(words, '\t');
        *tab = 0;
        put_format(&x->cells, in.row + i, in.column + 1, 18, INK(KEY), "%.18s", words);
        if (wide) put_text(&x->cells, in.row + i, in.column + 20, 24, INK(DIM), words + 19);
        put_text(&x->cells, in.row + i, in.column + (wide ? 45 : 20), in.columns - (wide ? 45 : 20),
                 INK(PLAIN), tab + 1);
        if (at == x->help.list.cursor)
            put_paper(&x->cells, (struct box){in.row + i, in.column, 1, in.columns}, INK_ON(PLAIN, SELECTED));
    }
    if (note.rows)
        put_text(
            &x->cells, note.row + 1, note.column, note.columns, INK(DIM),
            "The mouse works: click to select, wheel to zoom or scroll. f filters this list, also by key.");
}

static bool request(struct explorer *x, enum request r, const char *argument)
{
    (void)argument;
    if (r == REQ_OPEN) { /* do it */
        struct line line = {NULL, -1};
        walk(x, x->help.list.cursor, &line);
        if (line.request < 0) return true;
        x->overlay = VIEW_COUNT;
        explorer_request(x, (enum request)line.request, NULL);
        return true;
    }
    if (r == REQ_ESCAPE && x->filter[VIEW_HELP][0]) return x->filter[VIEW_HELP][0] = 0, true;
    return list_move(&x->help.list, r, walk(x, -1, NULL), x->help.lines);
}

static int count(struct explorer *x)
{
    return walk(x, -1, NULL);
}

static const char *item(struct explorer *x, int i)
{
    static const char *const nothing = "";
    struct line line = {NULL, -1};
    walk(x, i, &line);
    if (line.request < 0) return line.heading ? line.heading : nothing;
    words_of(line.request, x->help.words, sizeof x->help.words);
    return x->help.words;
}

static int selected(struct explorer *x)
{
    return x->help.list.cursor;
}

static void select_item(struct explorer *x, int i)
{
    x->help.list.cursor = i;
}

const struct view view_help = {
    .name = "Help",
    .purpose = "every key and command",
    .hints = {{REQ_SEARCH, "search"}, {REQ_FILTER, "filter"}, {REQ_OPEN, "do it"}, {REQ_BACK, "close"}},
    .draw = draw,
    .request = request,
    .count = count,
    .item = item,
    .selected = selected,
    .select = select_item,
};
