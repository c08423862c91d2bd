/* A view: one const struct of operations in a file of its own, and a state that only this file knows.
 *
 * A view draws the session on a grid and answers requests (requests.h); the explorer answers the others.
 * Views share the session's selection and change it through its setters (session.h). The state has only
 * what concerns the view's own picture; the explorer allocates and frees it. */
#pragma once

#include "tui/core/key.h"
#include "tui/core/requests.h"
#include "tui/core/session.h"
#include "tui/draw/theme.h"

struct columns;
struct explorer;

/* The grid to draw on, and everything that a view may read. */
struct scene {
    struct cells *cells;
    struct session *session;
    const struct theme *theme;
    const struct glyphs *glyphs;
    const char *search, *filter; /* empty: none; the filter is the view's own */
    bool decimal;                /* addresses */
    int spin;                    /* counts ticks of the clock, for animations */
};

/* A cursor in a list, the first visible row, and the box of the rows. */
struct list {
    int cursor, top;
    struct box rows;
    int32_t *shown; /* numbers of items in their order; NULL: all of them. Freed by the explorer */
    int count;      /* of `shown` */
};

/* A key of the hint line, and its effect in a word. */
struct hint {
    enum request request;
    const char *word;
};

enum { MOST_HINTS = 11 };

/* How a table is sorted. */
struct sorting {
    int column;
    bool descending;
};

enum items { ITEMS_OWN, ITEMS_OPS, ITEMS_BUFFERS, ITEMS_PATTERNS, ITEMS_SETTINGS };

struct view {
    const char *name;
    const char *purpose; /* one line for the welcome and the help */
    bool needs_plan;     /* without one, the explorer says what to do */
    struct hint hints[MOST_HINTS];
    size_t state_size;
    const void *initial; /* the state at the beginning; NULL: zeros */
    /* Each of these may be NULL but draw. */
    void (*end)(void *state);                       /* frees its members */
    void (*shown)(struct explorer *x, void *state); /* after the user switched to the view */
    void (*draw)(const struct scene *on, void *state, struct box area);
    /* For a panel beside the page: cuts its box out of the page's. */
    struct box (*dock)(struct box *page);
    /* The present word of a hint; NULL: the key has no effect now and is not shown. */
    const char *(*hint_word)(struct explorer *x, void *state, const struct hint *h);
    /* True: done. `argument` NULL: none was given. */
    bool (*request)(struct explorer *x, void *state, enum request r, const char *argument);
    /* A click or a turn of the wheel inside its box. */
    void (*mouse)(struct explorer *x, void *state, const struct key *k);
    /* For every tick of the clock while the view on top is `playing`. */
    void (*tick)(struct explorer *x, void *state);
    bool shows_map; /* as a drawing it is `show --svg` */
    /* The items that search and `]` walk: things of the session, as many as there are or as the list
     * shows, or the view's own. */
    enum items items;
    int (*count)(struct explorer *x, void *state); /* NULL: all */
    const char *(*item)(struct explorer *x, void *state, int i);
    int (*selected)(struct explorer *x, void *state);
    void (*select)(struct explorer *x, void *state, int i);
    bool is_list; /* the state begins with a struct list of the items: moving and clicking work on it */
    const struct columns
        *sorted_by; /* of a table that can be sorted; NULL: none. `mouse` then gets clicks on its head */
    /* Does the filter hide the session's selection? NULL: the view has a cursor of its own. */
    bool (*hides)(struct explorer *x, void *state);
};

#define VIEW_EXTERN(R, id, file, name, keys, group, help) extern const struct view view_##file;
VIEWS(VIEW_EXTERN, )
#undef VIEW_EXTERN

extern const struct view *const all_views[VIEW_COUNT];
/* The request that shows a view. */
extern const enum request view_requests[VIEW_COUNT];

/* Calls of the view on top, with defaults for lists. */
bool view_request(struct explorer *x, enum view_id view, enum request r, const char *argument);
void view_mouse(struct explorer *x, enum view_id view, const struct key *k);
int view_count(struct explorer *x, enum view_id view);
const char *view_item(struct explorer *x, enum view_id view, int i);
int view_selected(struct explorer *x, enum view_id view);
void view_select(struct explorer *x, enum view_id view, int i);

/* Requests that sort: by a named, the next or the previous column, or reversed. `places` NULL: no column
 * is hidden. */
bool sorting_request(struct explorer *x, struct sorting *by, const struct columns *columns,
                     const struct column_place *places, enum request r, const char *argument);
/* Heads of a table with a mark at the sorted column. */
void sorting_draw_heads(const struct scene *on, struct box row, const struct fitted *f,
                        const struct columns *columns, const struct sorting *by);
/* Up, down, pages, ends; true if the request was one of these. */
bool list_move(struct list *l, enum request r, int count, int page);
/* Makes the cursor visible in a box of rows, and remembers the box. */
void list_show(struct list *l, int count, struct box rows);
