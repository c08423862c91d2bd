/* One connected part of a Fit problem in the form that the search works on. Addresses are counted in units
 * (the greatest common divisor of all canonical addresses), time in sections. A section stands for a tick
 * whose live pieces no neighbouring tick exceeds: whatever overlaps somewhere overlaps in a section, with its
 * full heights. Typical: 150 to 450 items, 60 to 230 sections, 12 to 70 items a section, 20 to 150 neighbours
 * an item; a thousand units of capacity. An item has a flat bottom and, when it is a chain, a top that goes
 * down in steps. For two items that meet in time only their greatest heights over the common sections matter,
 * so a neighbour entry carries both and the search never looks at pieces again, except to keep section
 * totals. Without chains these are the items' heights, and the entry is a mere number: the search reads these
 * lists most. */
#pragma once

#include "exact/fit/fit.h"

typedef int64_t fit_unit;

/* Above every address; two of them and a height still add up without overflow. */
#define FIT_FAR (INT64_C(1) << 60)

struct fit_step { /* a piece in sections and units */
    int32_t from, to;
    fit_unit size;
};

/* A neighbour in time, from an item's point of view: the greatest heights over the common sections. */
struct fit_near {
    fit_unit mine, theirs;
};

struct fit_part {
    int32_t count, sections;
    fit_unit capacity;
    bool plain; /* no fixed base, no alignment, no item whose rounded top may exceed the true capacity */
    /* Per item: the sections [from[i], to[i]), the greatest height, the legal bases. */
    int32_t *from, *to;
    fit_unit *height, *low, *high, *align;
    bool *fixed;
    int32_t *origin; /* index in the caller's problem */
    int32_t *first_step;
    struct fit_step *steps;     /* of item i: first_step[i] .. first_step[i + 1] */
    int32_t *first_near, *near; /* the neighbours of item i: near[first_near[i]] .. near[first_near[i + 1]] */
    struct fit_near *heights;   /* for each entry of `near`; NULL where no item is a chain */
    int32_t *first_in_section, *in_section; /* items of section s */
    fit_unit *total;                        /* a section: the heights of all its items */
};

/* An item for peeling: a rectangle of its greatest height. */
struct fit_loose {
    int32_t from, to, origin;
    fit_unit height, high; /* high: the greatest base allowed */
    int32_t near;          /* unpeeled neighbours, and the sum of their heights */
    fit_unit load;
    bool kept_out; /* never peeled: it has a fixed base, or an alignment beyond the unit */
    bool peeled;
};

/* The whole problem, scaled. Parts share no tick. */
struct fit_scaled {
    int64_t unit;
    int32_t part_count;
    struct fit_part *parts;
    bool impossible; /* some item or section can never fit */
    /* If items are peeled, all items: those of the parts, then the peeled ones. */
    struct fit_loose *loose;
    int32_t loose_kept, loose_count;
    struct arena memory;
};

/* Neighbour and section lists grow with the square of the load. A part with more list entries or items than
 * this gets none (`near` is NULL) and only the heuristics. */
#define FIT_MOST_ENTRIES  (INT64_C(6) << 20)
#define FIT_MOST_SEARCHED 20000

/* `peel`: leaves items that always fit out of the parts. The caller frees `memory`. */
void fit_scale(const struct fit_problem *p, bool peel, struct fit_scaled *out);

/* The greatest heights of item i and of its neighbour in entry `at` while both live. */
static inline fit_unit fit_mine(const struct fit_part *part, int32_t i, int32_t at)
{
    return part->heights ? part->heights[at].mine : part->height[i];
}

static inline fit_unit fit_theirs(const struct fit_part *part, int32_t at)
{
    return part->heights ? part->heights[at].theirs : part->height[part->near[at]];
}

static inline fit_unit fit_round_up(fit_unit a, fit_unit align)
{
    return align == 1 ? a : (a + align - 1) / align * align;
}

/* Fast packings: by first fit (fit_heuristic.c) and from the ground up (skyline.c). */
struct fit_heuristic_run {
    fit_unit enough; /* ends when no item is more than this above its highest base */
    bool (*stop)(void *context);
    void *context;
    int64_t *steps; /* counts the items placed */
    int rounds;     /* of the styles of fit_skyline; 0: as many as it likes */
};

/* Packs the part into `base` in up to `passes` orders. `*excess` is the least reached (the packing fits if it
 * is not positive); a collision with a fixed base counts as far too high. */
void fit_first_fit(const struct fit_part *part, int passes, const struct fit_heuristic_run *run,
                   fit_unit *base, fit_unit *excess);

/* Packs the part from the ground up in several styles. `*excess` is FIT_FAR if the part has fixed items. Can
 * be cancelled after the first packing. */
void fit_skyline(const struct fit_part *part, const struct fit_heuristic_run *run, fit_unit *base,
                 fit_unit *excess);

/* Bases (in bytes) of the peeled items, given the bases of the others. */
void fit_place_peeled(const struct fit_scaled *s, int64_t *base);
