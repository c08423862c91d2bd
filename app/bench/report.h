/* What a report is made of. */
#ifndef LX_APP_BENCH_REPORT_H
#define LX_APP_BENCH_REPORT_H

#include "bench/summary.h"
#include "text/table.h"

/* tables.c: rows in `memory`, over what they are made of. False: memory is out. */
bool contender_table(const struct summary *s, struct arena *memory, struct table *out);
bool instance_table(const struct summary *s, struct arena *memory, struct table *out);
/* statistic_table.c */
bool statistic_table(const struct summary *s, const struct results *r, struct arena *memory,
                     struct table *out);
bool mishap_table(const struct summary *s, const struct results *r, struct arena *memory, struct table *out);

/* curves.c: one point per step, x not decreasing. */
struct curve {
    const char *name;
    VEC(double) x, y;
};
struct figure {
    const char *title, *x_label, *y_label;
    bool x_is_log, y_is_log;
    double x_low, x_high, y_low, y_high;
    VEC(struct curve) curves;
};
/* Share of problems on which a solver is within a factor of the fastest (Dolan and Moré). */
bool profile_figure(const struct summary *s, struct figure *f);
/* Time within which a solver has hit so many problems, each on its own (cactus plot). */
bool cactus_figure(const struct summary *s, struct figure *f);
void figure_free(struct figure *f);

/* plot_text.c, plot_svg.c */
void plot_as_text(const struct figure *f, struct text *out);
void plots_as_svg(const struct figure *figures, size_t count, struct text *out);

#endif
