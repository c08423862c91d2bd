/* Tables, figures and verdict of a report. */
#pragma once

#include "bench/summary.h"
#include "text/table.h"
#include "bench/statistics.h"

/* report_tables.c: rows in `memory`. */
void contender_table(const struct summary *s, struct arena *memory, struct table *out);
/* The same figures for every class of the suite; no rows without it. */
void class_table(struct summary *s, struct arena *memory, struct table *out);
void instance_table(const struct summary *s, struct arena *memory, struct table *out);
/* All values of a table measure one thing: the heading of the column `key` says which, and the column
 * "measure" goes. */
void table_name_measure(struct table *t, const char *key, const char *heading, struct arena *memory);
void statistic_table(const struct summary *s, const struct results *r, struct arena *memory,
                     struct table *out);
void mishap_table(const struct summary *s, const struct results *r, struct arena *memory, struct table *out);

/* plots.c: one point per step, x not decreasing. */
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
void profile_figure(const struct summary *s, struct figure *f);
/* Time within which a solver has hit so many problems, each on its own (cactus plot). */
void cactus_figure(const struct summary *s, struct figure *f);
void figure_free(struct figure *f);

/* plots.c */
void plot_as_text(const struct figure *f, struct text *out);
void plots_as_svg(const struct figure figures[2], struct text *out);

/* Writes the first part of the page's data. */
extern const struct exporter html_exporter;
/* Adds the rest of the data to the first part in `out`, and makes the page of both. */
void report_page(const char *title, const struct summary *s, const struct figure *figures, size_t count,
                 struct text *out);
/* suite_maps.c: members of an object, one for every instance of the suite. */
void suite_maps(const struct summary *s, struct text *out);

/* "1.12 ± 0.03 times faster than". */
void add_ratio(struct text *out, struct ratio r);

/* The leader in one line, and below it one line for every other solver. In the arena. */
struct verdict {
    const char *words, *lines;
    enum paint paint; /* of the words: good, bad or neither */
};

/* The verdict, and the figures of every solver beside the leader. */
void verdict_make(const struct summary *s, struct arena *memory, struct verdict *v, struct table *figures);

/* Pairs: a solver on an instance that both files have. */
struct comparison {
    struct table cells, sums;
    struct verdict verdict;
    int64_t pairs, better, worse, faster, slower;
    int64_t missing, added; /* only before, only after */
    size_t changed;         /* pairs with any change */
};

/* compare.c: rows in `memory`; only pairs that changed, or all. */
void compare_results(const struct results *before, const struct results *after, bool only_changed,
                     struct arena *memory, struct comparison *c);

/* why there are no pairs; always false, with `st`. */
bool nothing_shared(const struct results *before, const struct results *after, lx_status *st);
