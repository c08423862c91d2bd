/* Pages that are one file: markup, styles, scripts and data, nothing from elsewhere, so that they open from disk and can be sent
 * around. The parts are sources in this folder, which the build puts into the program (embed.cmake).
 *
 * What comes from files stands only in the data, as JSON inside a script element of a type that no browser runs; the scripts put
 * it into the page as text, never as markup. */
#ifndef LX_APP_HTML_HTML_H
#define LX_APP_HTML_HTML_H

#include "picture/picture.h"
#include "text/table.h"

extern const char html_page_css[], html_page_js[], html_plan_js[], html_sweep_js[], html_report_js[];

/* The page of a script with its data, which is JSON. */
void html_page(const char *title, const char *script, const struct text *json, struct text *out);
/* A table as JSON: columns, and per value what people read, what it is sorted by, and its tone. */
void html_table(const struct table *t, struct text *out);

/* plan_page.c: a form of `show`. */
void show_html(const struct lx_plan *p, const struct picture *how, struct text *out);

#endif
