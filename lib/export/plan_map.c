/* Bands, lanes and the order of buffers off chip; see plan_map.h. */
#include "export/plan_map.h"
#include "plan/occupancy.h"

/* Stacks pools from the last to the first. O(buffers log buffers) per pool. */
void bands_make(const struct lx_plan *p, struct bands *out)
{
    const struct lx_problem *problem = &p->problem;
    int32_t n = lx_pool_count(problem);
    bool height = problem->objective == LX_HEIGHT;
    *out = (struct bands){.at = mem_zeroed((size_t)n, sizeof *out->at), .count = n};
    for (int32_t k = n; k-- > 0;) {
        struct band *b = &out->at[k];
        struct lx_occupancy o;
        int64_t used = 0;
        for (int32_t i = 0; i < problem->count; i++)
            if (p->answer.address[i] >= 0 && lx_pool_of(p, i) == k)
                used = max_i64(used, p->answer.address[i] + problem->buffers[i].size);
        lx_occupancy_make(p, k, &o);
        *b = (struct band){.name = problem->pool_count > 0 ? problem->pools[k].name : NULL,
                           .base = out->top,
                           .capacity = lx_pool_capacity(problem, k),
                           .peak = o.peak};
        lx_occupancy_free(&o);
        b->height = max_i64(max_i64(height ? 0 : b->capacity, used), 1);
        b->shown = used > 0 && (height || used <= b->capacity / 3) ? used : b->height;
        if (n > 1) b->height = b->shown; /* bands touch: show nothing above the last byte */
        out->top += b->shown + (n > 1 ? HEADING : 0);
    }
    out->limit = n > 1 ? out->top : out->at[0].height;
}

void bands_free(struct bands *b)
{
    mem_free(b->at);
    *b = (struct bands){0};
}

ORDER(laned_by_begin, struct laned, ORDER_UP(from) ORDER_DOWN(to) ORDER_UP(who));

int lanes_sweep(struct laned *all, size_t count, int most)
{
    OWNED int64_t *free_from = mem_alloc(((size_t)most + 1) * sizeof *free_from);
    int used = 0;
    if (count) qsort(all, count, sizeof *all, laned_by_begin);
    for (size_t i = 0; i < count; i++) {
        int lane = 0;
        while (lane < used && free_from[lane] > all[i].from) lane++;
        all[i].lane = lane < most ? lane : -1;
        if (lane == most) continue;
        free_from[lane] = all[i].to;
        if (lane == used) used++;
    }
    return used;
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
    l->at[l->count++] = (struct laned){from, to, who, lane};
    if (lane >= l->used) l->used = lane + 1;
    return lane;
}

struct off_chip {
    bool barred;
    int64_t cost;
    int32_t buffer;
};

ORDER(off_chip_by_rank, struct off_chip, ORDER_UP(barred) ORDER_DOWN(cost) ORDER_UP(buffer));

int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count)
{
    size_t n = 0, room = (size_t)p->problem.count + 1;
    OWNED struct off_chip *r = mem_alloc(room * sizeof *r);
    int32_t *out = mem_alloc(room * sizeof *out);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (p->answer.address[i] < 0) r[n++] = (struct off_chip){b->reason != NULL, b->spill_cost, i};
    }
    if (n) qsort(r, n, sizeof *r, off_chip_by_rank);
    for (size_t i = 0; i < n; i++) out[i] = r[i].buffer;
    *count = (int32_t)n;
    return out;
}

int32_t *largest_buffers(const struct lx_plan *p, int32_t most, int32_t *count)
{
    int32_t n = p->problem.count, *chosen = mem_alloc(((size_t)n + 1) * sizeof *chosen), larger = 0;
    int64_t low = 0, high = most > 0 && n > most ? INT64_MAX : 0;
    while (low < high) { /* the least size exceeded by at most `most` buffers */
        int64_t middle = low + (high - low) / 2;
        larger = 0;
        for (int32_t i = 0; i < n; i++) larger += p->problem.buffers[i].size > middle;
        if (larger > most)
            low = middle + 1;
        else
            high = middle;
    }
    larger = 0;
    for (int32_t i = 0; i < n; i++) larger += p->problem.buffers[i].size > low;
    *count = 0;
    for (int32_t i = 0, equal = most - larger; i < n; i++) {
        int64_t size = p->problem.buffers[i].size;
        if (most == 0 || n <= most || size > low || (size == low && equal-- > 0)) chosen[(*count)++] = i;
    }
    return chosen;
}
