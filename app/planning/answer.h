/* The summary and the file of a plan, made by the thread that plans: after an interrupt they are only
 * printed. */
#pragma once

#include "command.h"

/* Which parts the next plan's answer has, besides the verdict of the independent checker; `all`: every row of
 * the summary. */
void answer_ask(bool summary, bool all, bool file, bool certificate);
/* make_ready of struct lx_plan_options and struct lx_team_options. */
void answer_of_plan(struct lx_plan *p);
void answer_of_team(struct lx_team_plans *p);

/* Prints the summary, writes the file to `output` (NULL: nowhere) or, `to_screen`, prints it. Returns the exit
 * code, with a note where the plan is not legal or the planning of `graph` was interrupted. */
struct answer;
int answer_give(struct call *call, const struct answer *a, const char *graph, const char *output,
                bool to_screen);
