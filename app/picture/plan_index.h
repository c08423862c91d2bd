/* An index for pictures of a plan: its pools as bands, the ticks of events, and the lives on chip by
 * start.
 *
 * O(lives log lives) to make, about 60 bytes per life. Any number of pictures share it. */
#pragma once

#include "unstable.h"
#include "export/plan_map.h"
#include "picture/scale.h"

/* The pool at a picture address; -1: a heading. `*address`: the address in it. */
int32_t bands_pool(const struct bands *b, int64_t place, int64_t *address);
/* An axis of [from, to) in at most `cells` cells: headings take one row of `each` cells, bands the rest in
 * proportion, and a row at least. Events, in picture addresses, are sorted and cut at where they are few
 * enough; NULL: to scale. False when there are not enough cells. */
bool bands_axis(const struct bands *b, int64_t from, int64_t to, int cells, int each, int64_t grain,
                int64_t *events, int count, struct axis *out);

/* A life of a placed buffer. */
struct placed {
    int64_t start, end, place, size; /* place: its picture address */
    int64_t latest;                  /* the latest end of this life and all before it */
    double cost;                     /* per byte, off chip */
    int32_t buffer, from_event, to_event;
};

struct plan_index {
    const struct lx_plan *plan; /* borrowed */
    struct bands bands;
    struct placed *lives; /* by start */
    int32_t count, away; /* away: lives behind them, by start, of buffers that could be on chip and are not */
    int64_t *event;      /* rising: the first tick, where lives begin and end, one behind the last tick */
    int32_t event_count;
    int64_t first, last; /* as in lx_occupancy */
    bool sparse;         /* nearly all ticks are without an event */
};

void plan_index_make(const struct lx_plan *p, struct plan_index *out);
void plan_index_free(struct plan_index *x);
/* The lives that may touch [from, to): all that do are among [*begin, *end). */
void plan_index_range(const struct plan_index *x, int64_t from, int64_t to, int32_t *begin, int32_t *end);
/* The buffers on chip during [from, to), and with `away` those that could be there, once per life. To be freed. */
int32_t *plan_index_alive(const struct plan_index *x, int64_t from, int64_t to, bool away, int32_t *count);
/* The last event at or before a tick, by number; 0 where there is none. */
int32_t plan_index_event(const struct plan_index *x, int64_t tick);
/* The picture address of a placed buffer. */
int64_t plan_index_place(const struct plan_index *x, int32_t buffer);
/* The share of a buffer that is padding (lx_layout_padding). */
double plan_padding(const struct lx_plan *p, int32_t buffer);
/* The same of all that is on chip at a tick. */
double plan_padding_at(const struct plan_index *x, int64_t tick);
/* The buffer at a picture address; -1: none. */
int32_t plan_index_at(const struct plan_index *x, int64_t tick, int64_t place);
