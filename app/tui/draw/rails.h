/* Lanes beside a list: each thing that lives over several rows runs down a lane of its own, as commits do
 * in tig.
 *
 * Things begin in the leftmost free lane, longer ones first; a lane is free again behind the last row of a
 * thing. There are MOST_RAILS lanes; things without one are only counted. Made once for a list (some
 * 100,000 things); a lookup is a binary search in the lane. */
#ifndef LX_APP_TUI_RAILS_H
#define LX_APP_TUI_RAILS_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_RAILS = 48 };

struct rail {
    int32_t thing;
    int32_t first, last; /* rows, both included */
};

struct rails {
    int lanes;                       /* in use */
    struct rail *at;                 /* lane by lane, each from the top down */
    int32_t lane_at[MOST_RAILS + 1]; /* of lane k: from lane_at[k] up to lane_at[k + 1] */
    int32_t *live;                   /* per row: things that live there, in lanes or not */
    int32_t rows;
};

/* Things outside [0, rows) are not allowed. */
void rails_make(const struct rail *all, int32_t count, int32_t rows, struct rails *out);
void rails_free(struct rails *r);
/* What runs in a lane at a row; NULL: nothing. */
const struct rail *rails_at(const struct rails *r, int lane, int32_t row);
/* Things that live at a row and have none of the first `lanes` lanes. */
int32_t rails_folded(const struct rails *r, int lanes, int32_t row);

#endif
