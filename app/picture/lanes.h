/* Lives packed into lanes, for the strip of what is off chip below a map: each in the first lane where nothing of it is
 * taken. Whoever comes first gets the best place, so the costliest come first. O(placed) per life. */
#ifndef LX_APP_PICTURE_LANES_H
#define LX_APP_PICTURE_LANES_H

#include <stdint.h>

enum { MOST_LANES = 10, MOST_IN_LANES = 300 };

struct lanes {
    int most; /* lanes that there are, at most MOST_LANES */
    int used;
    int32_t left_over; /* those that found no place */
    int32_t count;
    struct {
        int64_t from, to; /* ticks or cells: [from, to) */
        int32_t who;
        int lane;
    } at[MOST_IN_LANES];
};

void lanes_begin(struct lanes *l, int most);
/* The lane of `who` during [from, to), or -1. */
int lanes_place(struct lanes *l, int32_t who, int64_t from, int64_t to);

#endif
