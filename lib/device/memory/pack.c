/* The walk goes along the sticks: there elements are neighbours, and a run is converted at once. */
#include "device/memory/stick_box.h"

enum { MOST_RUN = 512 };

/* A job on runs of neighbours: `at` in elements of the box, `dense` in elements of the array. */
struct run_job {
    const struct number_type *type;
    const unsigned char *from_memory;
    unsigned char *to_memory;
    const float *from;
    float *to;
    const wide_number *wide_from;
    wide_number *wide_to;
    const unsigned char *items_from;
    unsigned char *items_to;
    int64_t *differing; /* counts differing items */
};

typedef void run_function(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count);

static void gather_run(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count)
{
    if (step == 1) {
        if (at == OUTSIDE)
            memset(j->to + dense, 0, (size_t)count * sizeof *j->to);
        else
            j->type->decode(j->from_memory, at, count, j->to + dense);
        return;
    }
    float run[MOST_RUN] = {0};
    if (at != OUTSIDE) j->type->decode(j->from_memory, at, count, run);
    for (int64_t i = 0; i < count; i++) j->to[dense + i * step] = run[i];
}

static void scatter_run(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count)
{
    float run[MOST_RUN];
    const float *from = j->from + dense;
    if (at == OUTSIDE) return;
    if (step != 1) {
        for (int64_t i = 0; i < count; i++) run[i] = from[i * step];
        from = run;
    }
    j->type->encode(from, count, j->to_memory, at);
}

static void gather_wide_run(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count)
{
    wide_number run[MOST_RUN] = {0};
    if (at != OUTSIDE) numbers_to_wide(j->type, j->from_memory, at, count, run);
    for (int64_t i = 0; i < count; i++) j->wide_to[dense + i * step] = run[i];
}

static void scatter_wide_run(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count)
{
    wide_number run[MOST_RUN];
    if (at == OUTSIDE) return;
    for (int64_t i = 0; i < count; i++) run[i] = j->wide_from[dense + i * step];
    numbers_from_wide(j->type, run, count, j->to_memory, at);
}

static void items_in_run(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count)
{
    unsigned char run[MOST_RUN * 8];
    int item = j->type->item;
    const unsigned char *from = j->items_from + dense * item;
    if (at == OUTSIDE) return;
    if (step != 1) {
        for (int64_t i = 0; i < count; i++) memcpy(run + i * item, from + i * step * item, (size_t)item);
        from = run;
    }
    items_to_memory(j->type, from, count, j->to_memory, at);
}

static void items_out_run(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count)
{
    unsigned char run[MOST_RUN * 8];
    int item = j->type->item;
    unsigned char *to = j->items_to + dense * item;
    if (at == OUTSIDE) return;
    if (step == 1) {
        items_from_memory(j->type, j->from_memory, at, count, to);
        return;
    }
    items_from_memory(j->type, j->from_memory, at, count, run);
    for (int64_t i = 0; i < count; i++) memcpy(to + i * step * item, run + i * item, (size_t)item);
}

static void compare_run(const struct run_job *j, int64_t at, int64_t dense, int64_t step, int64_t count)
{
    unsigned char run[MOST_RUN * 8];
    int item = j->type->item;
    const unsigned char *want = j->items_from + dense * item;
    if (at == OUTSIDE) return;
    if (step == 1 && j->type->bits >= 8 &&
        memcmp(want, j->from_memory + at * item, (size_t)(count * item)) == 0)
        return;
    items_from_memory(j->type, j->from_memory, at, count, run);
    for (int64_t i = 0; i < count; i++)
        *j->differing += memcmp(want + i * step * item, run + i * item, (size_t)item) != 0;
}

static void pack_walk(const struct lx_layout *l, const struct region *r, const int64_t *strides,
                      run_function *f, const struct run_job *j)
{
    int order[LX_MAX_RANK], n = 0, rank = r->host_rank;
    int64_t at[LX_MAX_RANK] = {0};
    if (rank == 0) {
        f(j, 0, 0, 1, 1);
        return;
    }
    if (region_items(r) == 0) return;
    int inner = l->stick_dim >= 0 ? l->stick_dim : rank - 1;
    for (int h = 0; h < rank; h++)
        if (h != inner) order[n++] = h;
    for (;;) {
        int64_t memory = 0, dense = 0;
        bool outside = false;
        for (int k = 0; k < n; k++) {
            int64_t e = r->element[order[k]][at[k]];
            outside |= e == OUTSIDE;
            memory += e;
            dense += at[k] * strides[order[k]];
        }
        const int64_t *element = r->element[inner];
        int64_t count = r->count[inner], step = strides[inner], length;
        for (int64_t i = 0; i < count; i += length) {
            /* Neighbours in memory from element i on. */
            int64_t apart = element[i] == OUTSIDE ? 0 : 1;
            length = 1;
            while (i + length < count && length < MOST_RUN &&
                   element[i + length] == element[i] + apart * length)
                length++;
            bool none = outside || element[i] == OUTSIDE;
            f(j, none ? OUTSIDE : memory + element[i], dense + i * step, step, length);
        }
        int k = n - 1;
        for (; k >= 0 && ++at[k] == r->count[order[k]]; k--) at[k] = 0;
        if (k < 0) return;
    }
}

static void host_strides(const struct lx_layout *l, const int64_t *shape, int64_t *strides)
{
    int64_t n = 1;
    for (int h = l->host_rank - 1; h >= 0; h--) {
        strides[h] = n;
        n *= shape[h];
    }
}

void pack_gather(const struct lx_layout *l, const struct region *r, const void *at, float *to,
                 const int64_t *strides)
{
    struct run_job j = {.type = &number_types[l->dtype], .from_memory = at, .to = to};
    pack_walk(l, r, strides, gather_run, &j);
}

void pack_scatter(const struct lx_layout *l, const struct region *r, const float *from,
                  const int64_t *strides, void *at)
{
    struct run_job j = {.type = &number_types[l->dtype], .to_memory = at, .from = from};
    pack_walk(l, r, strides, scatter_run, &j);
}

void pack_gather_wide(const struct lx_layout *l, const struct number_type *as, const struct region *r,
                      const void *at, wide_number *to, const int64_t *strides)
{
    struct run_job j = {.type = as, .from_memory = at, .wide_to = to};
    pack_walk(l, r, strides, gather_wide_run, &j);
}

void pack_scatter_wide(const struct lx_layout *l, const struct number_type *as, const struct region *r,
                       const wide_number *from, const int64_t *strides, void *at)
{
    struct run_job j = {.type = as, .to_memory = at, .wide_from = from};
    pack_walk(l, r, strides, scatter_wide_run, &j);
}

void pack_items_in(const struct lx_layout *l, const struct region *r, const void *items, void *at)
{
    int64_t strides[LX_MAX_RANK];
    struct run_job j = {.type = &number_types[l->dtype], .to_memory = at, .items_from = items};
    host_strides(l, l->host_shape, strides);
    pack_walk(l, r, strides, items_in_run, &j);
}

void pack_items_part_out(const struct lx_layout *l, const struct region *r, const int64_t *first,
                         const int64_t *shape, const void *at, void *items)
{
    int64_t strides[LX_MAX_RANK], begin = 0;
    struct run_job j = {.type = &number_types[l->dtype], .from_memory = at};
    host_strides(l, shape, strides);
    for (int h = 0; h < l->host_rank; h++) begin += first[h] * strides[h];
    j.items_to = (unsigned char *)items + begin * j.type->item;
    pack_walk(l, r, strides, items_out_run, &j);
}

int64_t pack_items_differing(const struct lx_layout *l, const struct region *r, const int64_t *first,
                             const void *at, const void *items)
{
    int64_t strides[LX_MAX_RANK], begin = 0, differing = 0;
    struct run_job j = {.type = &number_types[l->dtype], .from_memory = at, .differing = &differing};
    host_strides(l, l->host_shape, strides);
    for (int h = 0; h < l->host_rank; h++) begin += first[h] * strides[h];
    j.items_from = (const unsigned char *)items + begin * j.type->item;
    pack_walk(l, r, strides, compare_run, &j);
    return differing;
}

void pack_items_out(const struct lx_layout *l, const struct region *r, const void *at, void *items)
{
    int64_t first[LX_MAX_RANK] = {0};
    pack_items_part_out(l, r, first, l->host_shape, at, items);
}
