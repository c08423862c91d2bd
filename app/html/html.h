/* Pages of the program: those of export/page.h, with scripts and tables of its own. */
#pragma once

#include "export/page.h"
#include "picture/picture.h"
#include "text/table.h"

extern const char html_sweep_js[], html_report_js[], html_team_js[];

/* A table as JSON: columns, and per value its text, its sort key and its tone. */
void html_table(const struct table *t, struct text *out);
