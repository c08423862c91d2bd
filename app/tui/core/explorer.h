/* The explorer between keys and the grid: the page, the panel on top, the command line. */
#pragma once

#include "tui/core/views.h"
#include "text/format.h"

/* The command line. */
struct prompt {
    bool open;
    char lead; /* ':', '/' or 'f' */
    char text[240];
    int at, length; /* bytes; `at`: the cursor */
    int fresh;      /* the proposal begins at this byte, and typing replaces it; 0: none */
    int proposed;   /* where the proposal began */
    VEC(char *) history;
    int history_at;
    char kept[240];      /* the line before going through the history */
    struct text choices; /* of a completion with several words */
};

/* A key in the last line, and its columns for clicks. */
struct footer_key {
    int from, to;
    enum request request;
};

enum { FOOTER_KEYS = MOST_HINTS + 1, MOST_PLACES = 100 };

/* A page, a pattern and the selection there. */
struct place {
    enum view_id view;
    int pattern;
    int32_t buffer, op;
};

/* A file to edit, and the line. */
struct edit {
    bool wanted;
    int pattern, line;
};

/* The file of the open pattern when it was last checked; file 0: not yet. */
struct stamp {
    int pattern;
    int64_t seconds, nanoseconds, bytes;
    uint64_t file;
};

struct explorer {
    struct session session;
    struct cells cells;
    const struct theme *theme;
    const struct glyphs *glyphs;
    bool decimal;               /* addresses */
    enum view_id view, overlay; /* overlay VIEW_COUNT: none */
    enum view_id asked;         /* the view that the help was asked for in */
    void *states[VIEW_COUNT];   /* each view knows only its own */
    struct prompt prompt;
    struct text message;
    uint8_t message_tone;
    char search[64];
    char filter[VIEW_COUNT][64];
    bool quit, redraw_all, keep_message,
        whole_message; /* whole: on more lines where it is too long for one */
    bool playing;      /* the map goes on by a tick of the plan with every tick of the clock */
    int spin;          /* counts ticks of the clock, for animations */

    struct {
        int from, to;
    } tabs[PAGE_COUNT]; /* columns of the title, for clicks */
    struct footer_key footer[FOOTER_KEYS];
    int footer_count, footer_row;
    struct place places[MOST_PLACES]; /* previous places, the last one last */
    int place_count;
    struct edit edit;
    struct stamp stamp;
    char *replace;      /* the command that may replace a file when it is repeated; NULL: none */
    struct text copied; /* for the terminal's clipboard; the main loop sends it */
};

bool explorer_begin(struct explorer *x, const struct what_if *how, int rows, int columns);
void explorer_end(struct explorer *x);
void explorer_key(struct explorer *x, struct key key);
void explorer_request(struct explorer *x, enum request r, const char *argument);
void explorer_draw(struct explorer *x);
/* Another page, without a panel. */
void explorer_show(struct explorer *x, enum view_id page);
/* The panel on top, or else the page. */
enum view_id explorer_top(const struct explorer *x);
/* Is there an animation (a race, play)? Then the clock ticks. */
bool explorer_is_lively(struct explorer *x);
void explorer_say(struct explorer *x, uint8_t tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* finding.c: the way back */
#define PLACE_NOW(x)                                                                                         \
    ((struct place){(x)->view, (x)->session.current, (x)->session.selection.buffer,                          \
                    (x)->session.selection.op})
/* Keeps the place before a request, if the request left it. */
void place_left(struct explorer *x, struct place before, enum request by);

void place_back(struct explorer *x);
/* Does the view's filter hide the selection? */
bool filter_hides(struct explorer *x, enum view_id view);
/* Moves a selection that the page's filter hides to the marked row. */
void filter_settle(struct explorer *x);
/* Removes the page's filter if a request has selected a hidden row; `before`, `plan`: the page and the
 * plan before it. */
void filter_yield(struct explorer *x, enum view_id before, uint64_t plan);
/* The next match; `here`: the selected item counts. */
void search_step(struct explorer *x, int direction, bool here);
/* Ignores case; an empty needle is in everything. */
bool has_text(const char *haystack, const char *needle);

/* view_patterns.c: the pattern under the cursor of the list, or -1 */
int pattern_marked(struct explorer *x);

/* editor.c: asks for the editor; the main loop starts it */
void edit_ask(struct explorer *x);
void edit_now(struct explorer *x);
/* $VISUAL, $EDITOR or vi. */
const char *edit_program(void);
/* Reloads the open pattern when its file has changed. */
void explorer_watch(struct explorer *x);

/* prompt.c: the command line */
void prompt_open(struct explorer *x, char lead, const char *text);
/* With a proposal behind the text, which typing replaces. */
void prompt_propose(struct explorer *x, const char *text, const char *proposal);
void prompt_key(struct explorer *x, uint32_t code);

/* export.c: saving */
void take_save(struct explorer *x, const char *path);
void take_export(struct explorer *x, const char *path);
void take_copy(struct explorer *x);
void cells_to_svg(const struct cells *g, const struct theme *t, struct text *out);

/* frame.c: around the views */
void frame_draw_title(struct explorer *x, struct box area);
void frame_draw_status(struct explorer *x, struct box area);
/* The last line. */
void frame_draw_hints(struct explorer *x, struct box area);
/* True: the click was on it. */
bool footer_click(struct explorer *x, const struct key *k);
/* A box on top with a title; returns its inside. */
struct box frame_window(const struct scene *on, const char *title, int rows, int columns);
/* Instead of a view that has no plan. */
void frame_no_plan(const struct scene *on, struct box area);

/* graph_rows.c: "8x4x128 fp16" */
void add_shape(const struct lx_tensor *t, struct text *out);

/* view_why.c: tries every remedy of the whole plan, in the background. */
void why_try_all(struct explorer *x);
/* The panel about the selected buffer; false: it is on chip. */
bool why_open(struct explorer *x);

/* view_loops.c: the launch of an op, its tiles per core, and the kernel arguments of the selected core. Returns
 * the rows it took. */
int launch_draw_tiles(const struct scene *on, struct box area, int64_t cores, const struct lx_op_launch *o);

/* tries.c: takes the settings of a row: "applied: --tile none; u: undo". False: they are those of now. */
bool tries_take(struct explorer *x, const struct remedy *it, const char *verb);
/* Rows of remedies as a table with a list's cursor. */
struct tries_table {
    struct list *list;
    const struct remedies *rows;
    struct column columns[REMEDY_COLUMNS]; /* those of remedies, changed for the view */
    struct sorting by;                     /* column -1: none */
    int least_rows;                        /* with fewer rows there are no headings */
    /* Marks a row, whose first two columns are free, and the one under the cursor. */
    void (*mark)(const struct scene *on, const void *view, struct box row, int i);
    const void *view;
};
/* Returns the rows of the list. */
int tries_draw(const struct scene *on, struct box area, const struct tries_table *t);

/* details.c: everything about one buffer, in lines */
void details_draw(const struct scene *on, struct box area, int32_t buffer);
/* "0x0c5800" or "808,960" */
struct words address_words(const struct scene *on, int64_t address);
