/* `plan` asked again in the same words: answered out of the folder of --cache without reading the file as a graph. */
#ifndef LX_APP_PLANNING_ASKED_H
#define LX_APP_PLANNING_ASKED_H

#include "planning/planning.h"

/* All that the answer depends on, malloc'ed: the bytes of the file, every option, and the form of the words. NULL: there
 * is no folder, or not all of it can be said; then it is not looked for. */
char *question_asked(struct call *call, const char *path, const char *form);
/* The answer to it, if it was kept. What is wrong with one that is not believed is noted. */
bool question_answered(struct call *call, const char *question, struct lx_recalled *out);
/* Keeps the words about a plan that is in the folder; others are let go. */
void question_keep(struct call *call, const char *question, const struct lx_plan *p,
                   const struct text *words);

#endif
