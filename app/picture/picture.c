/* Buffers off chip in the order of pictures, and in lanes; letters. */
#include "picture/picture.h"
#include "base/memory.h"

#include <stdlib.h>
#include <stdbool.h>

struct ranked {
    bool barred;
    int64_t cost;
    int32_t buffer;
};

static int picture_by_importance(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->barred != y->barred) return x->barred ? 1 : -1;
    if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
    return x->buffer < y->buffer ? -1 : 1;
}

int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count)
{
    size_t n = 0, room = (size_t)p->problem.count + 1;
    struct ranked *r = mem_alloc(room * sizeof *r);
    int32_t *out = mem_alloc(room * sizeof *out);
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] < 0)
            r[n++] =
                (struct ranked){p->problem.buffers[i].reason != NULL, p->problem.buffers[i].spill_cost, i};
    if (n) qsort(r, n, sizeof *r, picture_by_importance);
    for (size_t i = 0; i < n; i++) out[i] = r[i].buffer;
    mem_free(r);
    *count = (int32_t)n;
    return out;
}

int lanes_place(struct lanes *l, int32_t who, int64_t from, int64_t to)
{
    bool taken[MOST_LANES] = {false};
    int lane = l->count < MOST_IN_LANES ? 0 : l->most;
    for (int32_t i = 0; i < l->count; i++)
        if (l->at[i].from < to && from < l->at[i].to) taken[l->at[i].lane] = true;
    while (lane < l->most && taken[lane]) lane++;
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

static const char letters[LETTER_COUNT + 1] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

char identity_letter(int32_t identity)
{
    return letters[(uint32_t)identity % LETTER_COUNT];
}
