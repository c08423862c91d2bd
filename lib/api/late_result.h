/* Questions to the library that were asked before (cache/cache.h), and results that have the bytes of their plan before
 * they have the plan. Private to the room. */
#ifndef LX_API_LATE_RESULT_H
#define LX_API_LATE_RESULT_H

#include "api/api_handles.h"
#include "base/json.h"
#include "base/users.h"
#include "cache/cache.h"

/* The words that all questions with these options have in common. False: the answer cannot be kept. */
bool api_question(const lx_options *o, const char *kind, struct text *question);
/* What was kept of it, of `g` (NULL: of a file that was not read); NULL: nothing, and notes have a line if it is not
 * believed. */
lx_result *api_answer(const lx_options *o, const struct text *question, const struct lx_graph *g,
                      struct api_notes *notes);
/* Keeps a result whose plan is in the folder; others, and NULL, are let go. */
void api_keep_answer(const lx_options *o, const struct text *question, const lx_result *r);
/* What the option file names, planned. */
lx_result *api_plan_file(const lx_options *o, lx_status *st);

/* The plan file of a result whose plan is late, as it was kept. */
lx_text *late_text(const struct late_plan *late, lx_status *st);
/* What was kept of its names, digit by digit, where a plan file rounds times; false, NULL: not that. */
bool late_number(const lx_result *r, const char *name, double *value);
const char *late_word(const lx_result *r, const char *name);
/* From now on the result has its plan. False: `st`. */
bool result_settle(const lx_result *r, lx_status *st);
void result_late_free(lx_result *r);

#endif
