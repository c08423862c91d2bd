/* The buffers of a plan as a table: one row per stay, the same columns for every command and for the screen;
 * and its waiting times, in words. */
#pragma once

#include "unstable.h"
#include "export/plan_words.h"
#include "text/column.h"

/* One buffer. */
struct buffer_row {
    const struct lx_plan *plan;
    const int64_t *moved; /* lx_plan_moved: per buffer */
    int32_t i;
};

enum buffer_column {
    BUFFER_NAME,
    BUFFER_BYTES,
    BUFFER_LIFE,
    BUFFER_USES,
    BUFFER_ADDRESS,
    BUFFER_COST,
    BUFFER_MOVED,
    BUFFER_STATE,
    BUFFER_TILES,
    BUFFER_HOLD,
    BUFFER_PADDING,
    BUFFER_SLOT,
    BUFFER_REASON,
    BUFFER_COLUMNS
};

extern const struct columns plan_buffer_columns;

/* "on chip", "off chip", or "HBM only": off chip because it may not be on chip. */
const char *buffer_state(const struct lx_plan *p, int32_t buffer);
/* A line of a summary: a dim label of ten columns, then words. */
void add_labelled(struct text *out, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "67.0 % of 41.2 us end to end waits for HBM (81.0 % of that for weights), 20.0 % launch, ...". */
void add_wait_sums(const struct lx_op_wait *sum, struct text *out);
