/* Rows of remedies, each tried as a job. A view owns its list; rows that would take too long wait until the
 * user asks for them. A row that takes long is tried twice: with a short limit, so that all rows have a figure
 * soon, then with a long one. Every plan that is made is seen by the session. */
#pragma once

#include "planning/remedies.h"
#include "tui/core/worker.h"

struct session;

void tries_run(void *data, void *watch);
void tries_done(void *data, bool stopped);
void tries_free(void *data);
/* The sorts of jobs of one list: the first round, what the user asks for, and later rounds, behind all else. */
enum { TRY_FIRST, TRY_ASKED, TRY_AGAIN, TRY_SORTS };
/* clang-format off */
#define TRIES_WORK                                                                                           \
    {{3, tries_run, tries_done, tries_free},                                                                 \
     {2, tries_run, tries_done, tries_free},                                                                 \
     {6, tries_run, tries_done, tries_free}}
/* clang-format on */

struct tries {
    struct remedies list;  /* of the question; plan NULL: none yet */
    uint64_t of;           /* the number of its plan */
    int32_t of_what;       /* a buffer or an op; -1: the whole plan */
    uint64_t number;       /* of the question: results of older ones are dropped */
    int left;              /* rows to come */
    bool is_sorted, moved; /* is_sorted: all rows are; moved: rows have moved since the cursor was set */
    bool in_place;         /* rows are not sorted */
    const struct work *work;
};

/* Tries every open row of the list, `first` before the others. */
void tries_begin(struct tries *t, struct session *s, int first);
/* Tries one row without a limit. */
void tries_ask(struct tries *t, struct session *s, int row);
/* Before a row is applied: a row that was cut short, or not tried, is tried without a limit. NULL: it was tried in
 * full; else what is being done. */
const char *tries_first(struct tries *t, struct session *s, int row);
/* Ends its jobs, waiting or not. */
void tries_stop(const struct tries *t, struct session *s);
void tries_cancel(struct tries *t, struct session *s);
void tries_sort(struct tries *t);
/* Rows that are being tried now. */
int tries_running(const struct tries *t, const struct session *s);
bool tries_row_runs(const struct tries *t, const struct session *s, const struct remedy *it);
void tries_forget(struct tries *t);
