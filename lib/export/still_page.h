/* What a page of a plan shows without scripts: facts, maps as SVG, tables. A script that runs puts its own in their place.
 * Names from files are made printable and escaped. Private to the stage. */
#ifndef LX_EXPORT_STILL_PAGE_H
#define LX_EXPORT_STILL_PAGE_H

#include "base/text.h"
#include "export/pool_bands.h"
#include "plan/occupancy.h"

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
/* Of the program that writes the page. */
extern const char page_version[];

#endif
