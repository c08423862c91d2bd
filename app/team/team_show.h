/* lxplan show of a team's plan: its grid, the state of each tensor, messages step by step, and a time line
 * of its devices. */
#pragma once

#include "picture/picture.h"
#include "team/team_figures.h"

struct exporter;

/* Everything as text for people; lists of at most 40 rows unless `how->all`. */
void show_team_text(const struct team_figures *f, const struct picture *how, struct text *out);
/* Totals, the last device, and waits: a line each. */
void add_team_verdict(const struct team_figures *f, struct text *out);
/* All tables in a form of text/table.h; of one that takes a single table, the steps. */
void write_team_tables(const struct team_figures *f, const struct exporter *e, struct text *out);
/* team_page.c: as a page for a browser. */
void show_team_html(const struct team_figures *f, struct text *out);

/* Everything: shards, ops, exchanges, totals, devices. */
void show_team(const struct lx_team_plans *p, struct text *out);
void show_exchanges(const struct lx_team_plan *p, struct text *out);
void show_totals(const struct lx_team_plan *p, struct text *out);
