/* A program while it is written. Private to the room.
 *
 * Numbers that differ between cores are expressions of `core`: sums of digits of its number where possible,
 * else a table of constants. Indices of nests are `n0`, `n1`, `n2`. */
#pragma once

#include "device/memory/stick_box.h"
#include "emit/emit.h"

enum { EMIT_WARPS = EMIT_THREADS / 32, EMIT_VECTOR_BYTES = 16 };

struct op_parts;

struct emission {
    const struct lx_plan *plan;
    const struct lx_graph *graph;
    struct emit_options how;
    struct arena memory; /* of expressions */
    struct text tables, body;
    int indent, table_count;
    int64_t cores;
    int32_t tick, chain_last;   /* chain_last: of the chain by rows that begins at the tick; else less */
    const struct lx_nest *nest; /* of the tick; NULL: none */
    const char *number;         /* the C type that the op computes in: float, i64 or double */
    int32_t early;              /* the last tick whose product has stages begun before the sync; or -1 */
    int64_t trace_at; /* places are sought there: a result in the trace area; -1: in the plan's memories */
    struct op_parts *parts;          /* of the op of the tick */
    int64_t stages_at, stages_bytes; /* behind the plan's part of the scratchpad */
    int64_t *mirror; /* per stay: its image in `aside`, if another one is filled from it; or -1 */
    struct emit_facts facts;
    lx_status *st;
};

/* A name from a file for a comment, of which it can be no end: printable, without stars and backslashes. */
const char *emit_comment_name(struct emission *e, const char *name);
/* Appends a line at the depth of the block. */
void emit_line(struct emission *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Refuses the op of the tick. */
bool emit_refuse(struct emission *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number of a pattern as a constant of the op's type; `whole` as in struct lx_op. */
const char *emit_value(struct emission *e, double value, int64_t whole);

/* --- core_numbers.c --- */

/* The expression of one number per core; only the first `count` cores have one. */
const char *core_number(struct emission *e, const int64_t *values, int64_t count);
/* "a + b" without zeros; both may be expressions. */
const char *number_sum(struct emission *e, const char *a, const char *b);
const char *number_times(struct emission *e, const char *a, int64_t times);
bool number_is(const char *expression, int64_t value);

/* --- op_places.c: where the operands of a tick's op are. --- */

enum axis_kind {
    AXIS_NONE,  /* the operand does not have the variable */
    AXIS_PLAIN, /* one step is `step` bytes */
    AXIS_STICK, /* sticks run along it, from the begin of one: the next stick is `step` bytes on */
    AXIS_WALK,  /* likewise, but from index `first` on and `by` at a time */
};

struct place_axis {
    enum axis_kind kind;
    const char *step;
    int64_t elements; /* of a stick */
    const char *first;
    int64_t by;
};

enum place_memory { PLACE_LX, PLACE_HBM, PLACE_ASIDE, PLACE_TRACE };

struct op_place {
    enum place_memory in;
    enum lx_dtype dtype;
    int item;         /* bytes of an element */
    const char *base; /* bytes; of the first element of the core's part, in this iteration */
    struct place_axis axis[LX_MAX_VARS];
};

struct op_emission {
    const struct lx_op *op;
    struct op_index x; /* of the tile */
    bool all_cores;    /* every core takes any item of the whole op; else each its own part */
    int64_t workers;   /* cores from 0 on that have a part */
    int64_t groups;    /* 1, or the parts of each sum; cores with the same terms form one group */
    const char *group; /* the core's */
    const char *slot;  /* the sum, numbered within the group */
    bool shared;       /* each core of a sum adds a part */
    const char *count[LX_MAX_VARS]; /* elements of the core's part along each variable */
    int64_t most[LX_MAX_VARS];      /* the largest */
    int64_t grain[LX_MAX_VARS];     /* what divides them all */
    unsigned summed;                /* levels of its nest over which it sums */
    struct op_place place[LX_MAX_OPERANDS];
    int out; /* the operand that is written */
};

bool op_places_make(struct emission *e, struct op_emission *o);
/* The place of one operand for those elements of [from, from + count) along variable `v` that a core has. */
bool op_place_narrowed(struct emission *e, struct op_emission *o, int operand, int v, int64_t from,
                       int64_t count);
/* The place of a result in the trace area. */
bool op_trace_place(struct emission *e, const struct op_emission *o, struct op_place *out);
/* The part of a core in a stay, with all loops at their first index but `moved` (-1: none) at its second. */
struct box emit_stay_box(const struct emission *e, int32_t stay, int64_t core, int moved);

/* --- sharing.c --- */

bool sum_is_shared(const struct emission *e, const struct op_emission *o);

/* --- item_loops.c: loops over the elements of a part, and addresses in them. --- */

/* One digit of an item's number: the index of a variable advances by `unit` elements. */
struct item_digit {
    int var;
    int64_t unit;
    const char *count;
    char name[24];
};

struct item_digits {
    int count;
    struct item_digit at[2 * LX_MAX_VARS]; /* the fastest first */
    const char *total;
};

/* Digits of variables `vars`, outermost first, in steps of `width` elements along `vector` (-1: none).
 * `stick`: elements of a stick along it, 0: none. */
void item_digits_make(struct emission *e, const struct op_emission *o, const int *vars, int count, int vector,
                      int width, int64_t stick, struct item_digits *out);
/* How many items there are; 0: that differs between cores. */
int64_t item_digits_count(const struct item_digits *d);
/* Declares the digits of item `item`. */
void item_digits_declare(struct emission *e, const struct item_digits *d, const char *item);
/* The address of an operand at the digits: "LX(...)" or "(hbm + ...)". */
const char *item_address(struct emission *e, const struct op_place *p, const struct item_digits *d,
                         const struct item_digits *more);
/* The most elements that can be moved at once along variable `v` by all operands that have their sticks
 * there. */
int item_width(const struct op_emission *o, int v, const struct op_place *further);
/* "const f8 a = load8_fp16(...);" of an operand in steps of `width` along `vector`. */
void item_load(struct emission *e, const struct op_place *p, const struct item_digits *d,
               const struct item_digits *more, int vector, int width, const char *name);
/* The type of stored items, in names of functions. */
const char *item_word(enum lx_dtype dtype);
void item_store(struct emission *e, const struct op_place *p, const struct item_digits *d,
                const struct item_digits *more, int vector, int width, const char *name);

/* --- chains.c: ops that share a loop. --- */

enum { CHAIN_MOST = 16 };

/* What a thread makes of a link: an item; or, where a warp has a row, elements of it, one number, or a fold. */
enum link_form { LINK_ITEM, LINK_ROW, LINK_NUMBER, LINK_FOLD };

struct chain_link {
    struct op_emission o;
    int32_t tick;
    enum link_form form;
    int vector, width;                /* of an item */
    struct item_digits digits, terms; /* terms: along a row */
    int made[LX_MAX_OPERANDS];        /* per input: the link that makes it; -1: none */
};

/* Do loads that began before the chain have to be there? */
bool chain_waits(const struct emission *e, const struct chain_link *chain, int length);
/* Has what a link makes to be stored? */
bool chain_keeps(const struct emission *e, const struct chain_link *chain, int length, int number);
/* Does the load, which the plan begins later, begin with the chain by rows at this tick? */
bool chain_begins_load(const struct emission *e, const struct lx_transfer *t);
/* May the op of `link` follow the chain? */
bool chain_joins(struct emission *e, const struct chain_link *chain, int length, struct chain_link *link);
/* Declares an operand: what the chain made, as a reader finds it in memory, or a load. */
void chain_operand(struct emission *e, const struct chain_link *chain, int number, int operand,
                   const char *name);
/* Makes `next` of the op at the next tick by `make`, and goes there if it may follow the chain. */
bool chain_next(struct emission *e, const struct chain_link *chain, int length, struct chain_link *next,
                bool (*make)(struct emission *e, struct chain_link *link));

/* --- bodies --- */

/* The variables of the output in the order of its memory, outermost first; returns their number. */
int output_variables(const struct emission *e, const struct op_emission *o, int *vars);
/* An op on elements, and those after it that share its loop: e->tick is the last one's in the end. */
bool body_pointwise(struct emission *e, const struct op_emission *o);
/* What the kinds compute in, and the comment of a tick. */
bool tick_numbers(struct emission *e);
void tick_comment(struct emission *e, int32_t tick);
bool tick_is_pointwise(const struct emission *e, int32_t tick);
/* Makes what a link makes, and stores it where somebody else takes it. */
void pointwise_link_body(struct emission *e, const struct chain_link *chain, int length, int number);
/* Elements of a row that a lane takes at once, at most `widest`. */
int row_width(int64_t elements, int widest);
/* Opens a loop over a lane's share of a row; row_open declares y<number> for it, too. */
void row_each(struct emission *e, const struct chain_link *link);
void row_open(struct emission *e, const struct chain_link *link, int number);
/* A link of a chain by rows; false: the op has no such form. */
bool pointwise_row(struct emission *e, struct chain_link *link);
bool fold_row(struct emission *e, struct chain_link *link);
void fold_row_body(struct emission *e, const struct chain_link *chain, int length, int number);
/* Ops on rows that a warp keeps in registers, from this tick on. False: there are none, and nothing is written. */
bool body_rows(struct emission *e, const struct op_emission *o);
/* Their last tick, or -1. */
int32_t rows_last_tick(struct emission *e);
bool body_fold(struct emission *e, const struct op_emission *o);
/* Writes a contraction by tiles into `to`. It adds to `to` where the condition `again` holds ("": never).
 * False: it has no tiles, and nothing is written. */
bool body_tiles(struct emission *e, const struct op_emission *o, const struct op_place *to,
                const char *again);
/* Begins the stages that body_tiles will find begun, if the op at the tick has any that need no sync. */
void tiles_begin_early(struct emission *e, const struct op_emission *o);
bool body_choice(struct emission *e, const struct op_emission *o);
/* Copies the elements of the op's output variables from one place to another. */
void body_copy(struct emission *e, const struct op_emission *o, const struct op_place *from,
               const struct op_place *to);
bool body_concat(struct emission *e, struct op_emission *o);
bool body_largest(struct emission *e, const struct op_emission *o);
/* Do all cores look for it, though few have the op? */
bool largest_is_shared(const struct emission *e, const struct op_emission *o);
/* Ops without an index map, on the first core: constants, counts, other shapes. */
bool body_opaque(struct emission *e, const struct op_emission *o);

/* --- tick_copies.c --- */

bool copies_before(struct emission *e);
/* Loads that are due at later ticks begin, in the background. */
bool copies_issue(struct emission *e);
bool copies_after(struct emission *e);
/* The mirrors of what the op has written. */
bool copies_mirror(struct emission *e, int32_t stay);
