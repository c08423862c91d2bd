/* Remedies: every change that could help one buffer of a plan, or the whole plan, a row each. Rows are listed
 * at once and tried one by one: by a command one after the other, by the explorer as background jobs. Nothing
 * is guessed: the bytes of a row come from the plan that its options make. A kind of remedy is a row of a
 * table (remedies.c): solvers, passes, scratchpad, cores, splits, nests. Each lists its candidates from the
 * library's tables; the scratchpad has a search. Some 20 to 40 rows of 10 KiB, most promising first; */
#pragma once

#include "unstable.h"
#include "text/column.h"

/* The state of a row. Only states up to REMEDY_CUT have figures. */
enum remedy_state {
    REMEDY_TRIED,
    REMEDY_CUT,    /* its time was up: the figures are what it had by then */
    REMEDY_OPEN,   /* not tried yet */
    REMEDY_NONE,   /* searched, and there is none */
    REMEDY_FAILED, /* no plan: the note says why */
    REMEDY_STOPPED,
    REMEDY_LARGE /* not tried, or no plan within its limit: it takes too long */
};

/* Is the selected buffer on chip? Of a tensor with several stays: all that may be, or some. */
enum presence { PRESENCE_NO, PRESENCE_PART, PRESENCE_YES };

/* The goal of a search: the least scratchpad for which ... */
enum remedy_goal { GOAL_NONE, GOAL_BUFFER /* it is on chip */, GOAL_ALL /* nothing is spilled */ };

struct remedy_sort;

enum { REMEDY_KNOWN = 10 }; /* promise of a row that is known to help */

struct remedy {
    const struct remedy_sort *sort;
    struct lx_settings
        options; /* those of the plan with this one changed; of a search, once it has found it */
    enum remedy_goal goal;
    char what[120]; /* to type: "-s exact", "--lx 118784" */
    char note[160]; /* in words, for people; may be empty */
    enum remedy_state state;
    enum presence presence;
    int64_t value; /* bytes of HBM traffic, cost of a list, or height: lx_plan_value */
    int64_t syncs, spill;
    int64_t cores, capacity;    /* of the device */
    double us;                  /* end to end */
    bool proved;                /* nothing less with its options */
    const struct lx_plan *made; /* a reference, where the list keeps plans; else NULL */
    int promise, order;         /* order: in which it was listed, most promising first */
};

/* What rows are sorted by, and compared with the plan of now. */
enum remedy_by { REMEDY_BY_BYTES, REMEDY_BY_TIME, REMEDY_BY_SYNCS, REMEDY_BYS };

struct remedies {
    const struct lx_plan *plan; /* a reference: with which all are compared */
    struct lx_settings asked;   /* that it was made with */
    char *name;                 /* of the buffer, or of its tensor; NULL: the plan as a whole */
    enum presence presence;     /* now */
    enum remedy_by by;
    bool compulsory; /* the buffer's traffic: no plan moves less, and no row is listed */
    bool keeps;      /* the plans of rows, which then answer the next question too */
    VEC(struct remedy) all;
};

/* Buffer `i` crosses HBM once in any plan, and does so only once in this one; `moved`: by lx_plan_moved. */
bool buffer_is_compulsory(const struct lx_plan *p, int32_t i, const int64_t *moved);

/* Lists every row, open. `name` NULL: for the plan as a whole. The caller frees `out`. */
void remedies_list(const struct lx_plan *p, const struct lx_settings *asked, const char *name,
                   struct remedies *out);
void remedies_free(struct remedies *r);

/* When a try has to end: when it is told to, or its polls (base/cancel.h) are used up (0: never). */
struct remedy_watch {
    bool (*stop)(void *context);
    void *context;
    int64_t polls;
};

/* Tries one row: `it` is of `r`, or a copy of such; `pattern` the graph before any option changed its sizes.
 * From any thread. The polls that it took. */
int64_t remedy_try(const struct remedies *r, struct remedy *it, const struct lx_graph *pattern,
                   const struct remedy_watch *watch);
/* A row that divides op `op` by these splits; false: no option can ask for that. */
bool remedies_push_split(struct remedies *r, int32_t op, const int64_t *splits);
/* A row that puts a tensor, or a list's buffer, on chip, whatever that costs; false: no option can ask for it. */
bool remedies_push_place(struct remedies *r, const char *tensor);
/* The figures of a plan; `name` as for presence_in. */
void remedy_take_figures(struct remedy *it, const struct lx_plan *p, const char *name);
/* Takes results over from another list of the same plan: a plan is the same whoever asks. */
void remedies_carry(struct remedies *to, struct remedies *from);
/* Best first, those without figures last; else as they were listed. */
void remedies_sort(struct remedies *r);
/* Is there less with it, of what rows are sorted by, than now? */
bool remedy_helps(const struct remedies *r, const struct remedy *it);
int64_t remedy_rank(const struct remedy *it, enum remedy_by by);
/* Is it for the same device as a plan? */
bool remedy_fits(const struct remedy *it, const struct lx_plan *p);
/* A plan that was cut short and whose objective minds time: the whole search may move more bytes. */
bool remedy_may_grow(const struct remedy *it);
/* remedy_verdict.c: "7 of 26 tried, none of them helps", "all 27 tried; 1 cancelled". */
void add_remedies_tried(const struct remedies *r, struct text *out);
/* "no fewer bytes; --tile none: 18x faster, bytes +62 %; no fewer syncs". */
void add_remedies_verdict(const struct remedies *r, struct text *out);
/* Where the buffer of this name is in a plan; NULL: PRESENCE_YES where nothing is spilled. */
enum presence presence_in(const struct lx_plan *p, const char *name);

/* A row for a table. */
struct remedy_row {
    const struct remedies *of;
    const struct remedy *it;
};
extern const struct columns remedy_columns;
/* From so many columns on there is room for bytes beside shares. */
enum { REMEDY_WIDE = 100 };
/* Heading of the column of values: what the plan counts. */
const char *remedy_value_heading(const struct lx_plan *p);
enum {
    REMEDY_COLUMN_WHAT,
    REMEDY_COLUMN_VALUE,
    REMEDY_COLUMN_DELTA,
    REMEDY_COLUMN_SHARE,
    REMEDY_COLUMN_SLOWER,
    REMEDY_COLUMN_SYNCS,
    REMEDY_COLUMN_PRESENCE,
    REMEDY_COLUMN_TIME,
    REMEDY_COLUMN_NOTE,
    REMEDY_COLUMNS
};

/* remedy_try.c: how each sort is tried. */
struct trial {
    const struct remedies *of;
    const struct lx_graph *pattern;
    const struct remedy_watch *watch;
    int64_t polls; /* so far */
    bool cut, stopped;
};
/* One plan with the row's options. */
void try_once(struct trial *t, struct remedy *it);
/* The least scratchpad that reaches the row's goal. */
void search_lx(struct trial *t, struct remedy *it);

struct remedy_sort {
    const char *name;
    double plans;         /* that one row makes, about */
    int promise, if_full; /* of helping; if_full: where the scratchpad is */
    void (*list)(struct remedies *r, const struct remedy_sort *sort);
    void (*run)(struct trial *t, struct remedy *it);
};
