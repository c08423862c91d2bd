#include "picture/lanes.h"

#include <stdbool.h>

void lanes_begin(struct lanes *l, int most)
{
    l->most = most < MOST_LANES ? most : MOST_LANES;
    l->used = 0;
    l->left_over = l->count = 0;
}

static int first_free(const struct lanes *l, int64_t from, int64_t to)
{
    bool taken[MOST_LANES] = {false};
    int lane = 0;
    for (int32_t i = 0; i < l->count; i++)
        if (l->at[i].from < to && from < l->at[i].to) taken[l->at[i].lane] = true;
    while (lane < l->most && taken[lane]) lane++;
    return lane;
}

int lanes_place(struct lanes *l, int32_t who, int64_t from, int64_t to)
{
    int lane = l->count < MOST_IN_LANES ? first_free(l, from, to) : l->most;
    if (lane == l->most) {
        l->left_over++;
        return -1;
    }
    l->at[l->count].from = from;
    l->at[l->count].to = to;
    l->at[l->count].who = who;
    l->at[l->count++].lane = lane;
    if (lane >= l->used) l->used = lane + 1;
    return lane;
}
