/* Boxes of an index space. */
#include "team/distribution.h"
#include "base/checked.h"

bool lx_team_box_empty(const struct lx_team_box *b)
{
    for (int d = 0; d < b->rank; d++)
        if (b->size[d] <= 0) return true;
    return false;
}

/* Boxes of tensors have at most 2^53 bytes; others saturate. */
int64_t lx_team_box_elements(const struct lx_team_box *b)
{
    int64_t n = 1;
    if (lx_team_box_empty(b)) return 0;
    for (int d = 0; d < b->rank; d++)
        if (!mul_i64(n, b->size[d], &n)) return INT64_MAX;
    return n;
}

struct lx_team_box lx_team_box_of(int rank, const int64_t *shape)
{
    struct lx_team_box b = {.rank = rank};
    for (int d = 0; d < rank; d++) b.size[d] = shape[d];
    return b;
}

struct lx_team_box lx_team_box_meet(const struct lx_team_box *a, const struct lx_team_box *b)
{
    struct lx_team_box m = {.rank = a->rank};
    for (int d = 0; d < a->rank; d++) {
        int64_t end = min_i64(a->offset[d] + a->size[d], b->offset[d] + b->size[d]);
        m.offset[d] = max_i64(a->offset[d], b->offset[d]);
        m.size[d] = max_i64(end - m.offset[d], 0);
    }
    return m;
}

struct lx_team_box lx_team_box_hull(const struct lx_team_box *a, const struct lx_team_box *b)
{
    if (lx_team_box_empty(b)) return *a;
    if (lx_team_box_empty(a)) return *b;
    struct lx_team_box h = {.rank = a->rank};
    for (int d = 0; d < a->rank; d++) {
        int64_t end = max_i64(a->offset[d] + a->size[d], b->offset[d] + b->size[d]);
        h.offset[d] = min_i64(a->offset[d], b->offset[d]);
        h.size[d] = end - h.offset[d];
    }
    return h;
}

bool lx_team_box_within(const struct lx_team_box *inner, const struct lx_team_box *outer)
{
    if (lx_team_box_empty(inner)) return true;
    for (int d = 0; d < inner->rank; d++)
        if (inner->offset[d] < outer->offset[d] ||
            inner->offset[d] + inner->size[d] > outer->offset[d] + outer->size[d])
            return false;
    return true;
}

bool lx_team_box_equal(const struct lx_team_box *a, const struct lx_team_box *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; d < a->rank && same; d++) same = a->offset[d] == b->offset[d] && a->size[d] == b->size[d];
    return same;
}
