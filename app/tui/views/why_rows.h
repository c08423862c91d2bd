/* The rows of "why, and remedies": the question (a buffer that is off chip, or the whole plan) and the remedies of
 * planning/remedies.h, each a job. A row that takes long is tried twice: with a short limit, so that all rows have a figure
 * within a second, then with a long one. */
#ifndef LX_APP_TUI_WHY_ROWS_H
#define LX_APP_TUI_WHY_ROWS_H

#include "planning/remedies.h"
#include "tui/core/session.h"

struct why_rows {
    struct remedies list;  /* of the question; plan NULL: none yet */
    uint64_t of;           /* the number of its plan */
    int32_t buffer;        /* -1: the whole plan */
    uint64_t number;       /* of the question: results of older ones are dropped */
    int left;              /* rows to come */
    bool is_sorted, moved; /* is_sorted: all rows are; moved: rows have moved since the cursor was set */
};

extern const struct work why_work;

/* Asks about a buffer (-1: the whole plan), unless that is asked already. */
void why_ask(struct why_rows *w, struct session *s, int32_t buffer);
/* Cancels the rows to come, and sorts the others. */
void why_stop(struct why_rows *w, struct session *s);

#endif
