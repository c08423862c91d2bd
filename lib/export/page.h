/* Pages that are one file: markup, styles, scripts and data, nothing from elsewhere, so that they open from disk and can be sent
 * around. The parts are sources in this folder, which the build puts into the library (embed.cmake).
 *
 * What comes from files stands in the data, as JSON inside a script element of a type that no browser runs; the scripts put it
 * into the page as text, never as markup. Without scripts one reads what is still (still_page.h), in which it is escaped. */
#ifndef LX_EXPORT_PAGE_H
#define LX_EXPORT_PAGE_H

#include "base/text.h"
#include "plan/plan.h"
#include "export/pool_bands.h"
#include "plan/occupancy.h"

extern const char html_page_css[], html_page_js[], html_plan_js[];

/* The page of a script with its data, which is JSON. `still`: markup for who runs no scripts; NULL: none. */
void html_page(const char *title, const char *script, const struct text *json, const struct text *still,
               struct text *out);
/* plan_page.c: the page of a plan, beside another one (may be NULL). `remedies`: what helps, as data; NULL: nobody asked. */
void plan_page(const struct lx_plan *p, const struct lx_plan *other, const char *remedies, struct text *out);

/* Rows and boxes of buffers and ops that are shown; of more the largest. */
enum { STILL_MOST = 1000 };

struct still {
    const struct lx_plan *p, *other; /* another one beside it; may be NULL */
    const struct lx_occupancy *use;
    const struct bands *bands;
    const int64_t *moved;  /* HBM bytes per buffer */
    const int32_t *chosen; /* buffers that are shown, in their order */
    int32_t count;
};

void add_still(const struct lx_plan *p, const struct lx_plan *other, const struct lx_occupancy *use,
               const struct bands *bands, struct text *out);
/* still_map.c: addresses against time, and bytes in use against time. */
void add_still_maps(const struct still *s, struct text *out);
/* A name, or other words of a file. */
void add_still_words(const char *words, struct text *out);

/* "lxplan plan PATTERN -s auto --seed 0 ...": how it is planned again. */
void add_command_words(const struct lx_plan *p, struct text *out);
/* Version of the program that writes the page. */
extern const char page_version[];

#endif
