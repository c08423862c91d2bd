/* A report as a page: an exporter whose tables become data, and the frame around them. */
#ifndef LX_APP_BENCH_REPORT_PAGE_H
#define LX_APP_BENCH_REPORT_PAGE_H

#include "bench/report.h"

/* Writes the first part of the page's data. */
extern const struct exporter html_exporter;
/* The rest of the data, and the page around all of it: `out` holds the first part, and then the page. */
void report_page(const char *title, const struct figure *figures, size_t count, struct text *out);

#endif
