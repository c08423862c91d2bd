/* The explorer between a key and the grid: which view is shown, what lies on top, what is being typed.
 *
 * A view is one const struct of operations in a file of its own. It draws the session into a box of the grid
 * and answers requests (requests.h); what it does not answer, the explorer does. Views share the session's
 * selection and keep only what concerns their own picture. */
#ifndef LX_APP_TUI_EXPLORER_H
#define LX_APP_TUI_EXPLORER_H

#include "tui/key.h"
#include "tui/session.h"
#include "tui/requests.h"
#include "tui/theme.h"
#include "text/format.h"

struct explorer;

/* A key of the hint line, and what it does in a word. */
struct hint {
    enum request request;
    const char *word;
};

enum { MOST_HINTS = 10 };

struct view {
    const char *name;
    const char *purpose; /* one line for the welcome and the help */
    bool needs_plan;     /* without one, the explorer says what to do */
    struct hint hints[MOST_HINTS];
    void (*draw)(struct explorer *x, struct box area);
    /* True: done. `argument` NULL: none was given. */
    bool (*request)(struct explorer *x, enum request r, const char *argument);
    /* A click or a turn of the wheel inside its box. May be NULL. */
    void (*mouse)(struct explorer *x, const struct key *k);
    /* What search goes through. count NULL: nothing. */
    int (*count)(struct explorer *x);
    const char *(*item)(struct explorer *x, int i);
    int (*selected)(struct explorer *x);
    void (*select)(struct explorer *x, int i);
};

#define VIEW_EXTERN(id, name) extern const struct view view_##name;
VIEWS(VIEW_EXTERN)
#undef VIEW_EXTERN

extern const struct view *const all_views[VIEW_COUNT];

/* A cursor in a list and the first row that is seen. */
struct list {
    int cursor, top;
};

/* Up, down, pages, ends; true if the request was one of these. */
bool list_move(struct list *l, enum request r, int count, int page);
/* Makes the cursor visible in so many rows. */
void list_show(struct list *l, int count, int rows);

/* What is being typed at the bottom. */
struct prompt {
    bool open;
    char lead; /* ':', '/' or 'f' */
    char text[240];
    int at, length; /* bytes; `at`: the cursor */
    VEC(char *) history;
    int history_at;
    char kept[240];      /* what was typed before going through the history */
    struct text choices; /* of a completion that has several */
};

struct map_window {
    int64_t from_tick, to_tick, from_address, to_address; /* to_tick 0: all of it */
    bool by_edges;
    int64_t cursor_address;
    bool playing, shows_all;
    bool on_map; /* the cursor was moved; else it only shows where the selected buffer is */
    int pattern;
    struct box map; /* where it was drawn last, for the mouse */
    uint64_t of;    /* the plan that the window belongs to */
};

struct explorer {
    struct session session;
    struct cells cells;
    const struct theme *theme;
    const struct glyphs *glyphs;
    bool decimal;               /* addresses */
    enum view_id view, overlay; /* overlay VIEW_COUNT: none */
    struct prompt prompt;
    struct text message;
    uint8_t message_tone;
    char search[64];
    char filter[VIEW_COUNT][64];
    bool quit, redraw_all, keep_message;
    int spin; /* counts ticks of the clock, for what moves by itself */

    struct {
        struct list list;
        int *shown, count; /* patterns in order, filtered */
        int column;
        bool reversed;
        bool moved; /* by a person; until then the cursor stays at the top while patterns are being read */
        struct box rows;
    } patterns;
    struct {
        struct list list;
        int32_t *shown;
        int count, edge; /* edge: of the producers and consumers, the one that is pointed at */
        struct box rows;
    } graph;
    struct {
        int64_t core;
        int operand;
        struct box grid;
        int per_row, cell_columns;
    } cores;
    struct map_window map;
    struct {
        struct list list;
        int left; /* racer on the left; -1: the plan that is shown */
        struct box rows;
    } compare;
    struct {
        struct list list;
        int rules, lines;
    } loops;
    struct {
        struct list list;
        int lines;
        char words[300]; /* of the line that search looks at */
    } help;
    struct {
        struct list list;
        struct box rows;
    } run;
    struct {
        struct list list;
        struct box rows, members; /* where they were drawn last, for the mouse */
        int first_member;
    } team;
    struct list what_if;

    struct {
        int from, to;
    } tabs[NUMBERED_VIEWS]; /* columns of the title that a click selects */
    struct text copied;     /* for the terminal's clipboard; the screen sends it and empties it */
};

bool explorer_begin(struct explorer *x, const struct what_if *how, int rows, int columns);
void explorer_end(struct explorer *x);
void explorer_key(struct explorer *x, struct key key);
void explorer_request(struct explorer *x, enum request r, const char *argument);
void explorer_draw(struct explorer *x);
/* Does something move by itself (a race, play)? Then the clock ticks. */
bool explorer_is_lively(struct explorer *x);
void explorer_say(struct explorer *x, uint8_t tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* prompt.c: the line at the bottom */
void prompt_open(struct explorer *x, char lead, const char *text);
void prompt_key(struct explorer *x, uint32_t code);
void prompt_free(struct prompt *p);
/* Runs "name argument". */
void prompt_run(struct explorer *x, const char *line);
/* complete.c: what may follow `text` as the argument of a request (or as its name); `take` is called for
 * each. */
void complete(struct explorer *x, const char *text, void (*take)(void *context, const char *word),
              void *context);

/* find_text.c */
void search_step(struct explorer *x, int direction);
/* Without regard to case; an empty needle is in everything. */
bool has_text(const char *haystack, const char *needle);

/* export.c: what is taken along */
void take_save(struct explorer *x, const char *path);
void take_export(struct explorer *x, const char *path);
void take_copy(struct explorer *x);
/* A name for a file that goes with the open pattern: "gqattention.svg". malloc'ed. */
char *take_name(const struct explorer *x, const char *ending);
void cells_to_svg(const struct cells *g, const struct theme *t, struct text *out);

/* view_team.c: another size of the team, as typed */
void team_resize(struct explorer *x, const char *text);

/* frame.c: what is around the views */
void frame_draw_title(struct explorer *x, struct box area);
void frame_draw_status(struct explorer *x, struct box area);
void frame_draw_hints(struct explorer *x, struct box area);
/* A box on top with a title; returns its inside. */
struct box frame_window(struct explorer *x, const char *title, int rows, int columns);
/* Shown instead of a view that has no plan. */
void frame_no_plan(struct explorer *x, struct box area);

/* view_graph.c: "8x4x128 fp16" */
void add_shape(const struct lx_tensor *t, struct text *out);

/* details.c: all about one buffer, in lines */
void details_draw(struct explorer *x, struct box area, int32_t buffer);
/* "0x0c5800" or "808,960" */
struct words address_words(const struct explorer *x, int64_t address);

#endif
