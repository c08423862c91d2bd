/* Does a launch compute every element exactly once? Asked of what the launch states, without listing tiles.
 *
 * The tiles of a global launch are numbered by a bijection, so the runs of a group's cores must make up all
 * numbers; in a local launch every shard must be some core's, once, with all of its tiles, and be the slice that
 * the division gives to that core. The ranges of a split sum make up the sum because parts are equal but for the
 * last; each group needs all of the output. */
#include "launch/launch_grid.h"
#include "base/checked.h"
#include "base/fail.h"
#include "layout/op_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Does the grid describe the op's variables, without parts that nobody has? */
static bool grid_of_op(const struct lx_op_launch *o, const struct op_index *x, lx_status *st)
{
    int last = x->operand_count - 1, sums = 0;
    bool same = x->known ? o->rank == x->rank[last] : o->rank == 0;
    for (int d = 0; same && d < o->rank; d++)
        same = o->dim[d].extent == x->extent[(int)x->var[last][d]] &&
               ceil_div_i64(o->dim[d].extent, o->dim[d].part) == o->dim[d].parts;
    for (int v = 0; same && x->known && v < x->var_count; v++) {
        if (!op_index_reduced(x, v)) continue;
        same = sums < o->sum_count && o->sum[sums].extent == x->extent[v] &&
               ceil_div_i64(o->sum[sums].extent, o->sum[sums].part) == o->sum[sums].parts;
        sums++;
    }
    if (same && (sums == o->sum_count || !x->known)) return true;
    return status_set(st, LX_E_NO, "its dimensions and sums are not those of the op");
}

/* Each core once, at its place, in a group of its own sum. */
static bool cores_stand(const struct lx_op_launch *o, lx_status *st)
{
    const struct lx_launch *l = o->launch;
    for (int32_t i = 0; i < l->core_count; i++) {
        const struct lx_launch_core *c = &l->cores[i];
        if (i > 0 && c->core <= l->cores[i - 1].core)
            return status_set(st, LX_E_NO, "core %d is launched twice or out of order", (int)c->core);
        if (c->x < 0 || c->x >= l->core_grid[1] || c->y < 0 || c->y >= l->core_grid[0] ||
            c->core != c->y * l->core_grid[1] + c->x)
            return status_set(st, LX_E_NO, "core %d is not at [%d, %d]", (int)c->core, (int)c->y, (int)c->x);
        if (c->k_slice < 0 || c->k_slice >= o->k_slices)
            return status_set(st, LX_E_NO, "core %d works on slice %d of a sum in %" PRId64, (int)c->core,
                              (int)c->k_slice, o->k_slices);
        if (c->count < 0 || c->start < 0)
            return status_set(st, LX_E_NO, "core %d has a negative run of tiles", (int)c->core);
    }
    return true;
}

/* "[0, 64]": where a tile begins. */
static bool say_element(const struct lx_op_launch *o, int64_t t, int64_t group, const char *what,
                        lx_status *st)
{
    int64_t from[LX_MAX_RANK] = {0}, to[LX_MAX_RANK];
    char words[200];
    int n = snprintf(words, sizeof words, "[");
    launch_box_of_tile(o, t, from, to);
    for (int d = 0; d < o->rank && n < 150; d++)
        n += snprintf(words + n, sizeof words - (size_t)n, "%s%" PRId64, d ? ", " : "", from[d]);
    return status_set(st, LX_E_NO,
                      "element %s] is computed %s (tile %" PRId64 ", slice %" PRId64 " of the sum)", words,
                      what, t, group);
}

static int by_group_and_start(const void *a, const void *b)
{
    const struct lx_launch_core *x = *(const struct lx_launch_core *const *)a,
                                *y = *(const struct lx_launch_core *const *)b;
    if (x->k_slice != y->k_slice) return x->k_slice < y->k_slice ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->count < y->count ? -1 : x->count > y->count;
}

static bool runs_join(const struct lx_op_launch *o, const struct lx_launch_core *const *c, lx_status *st)
{
    const struct lx_launch *l = o->launch;
    int64_t all = l->batch * l->mt * l->nt;
    int32_t i = 0;
    for (int64_t group = 0; group < o->k_slices; group++) {
        int64_t next = 0;
        for (; i < l->core_count && c[i]->k_slice == group; i++) {
            if (c[i]->count == 0) continue;
            if (c[i]->start > next) return say_element(o, next, group, "never", st);
            if (c[i]->start < next) return say_element(o, c[i]->start, group, "twice", st);
            if (c[i]->count > all - next)
                return status_set(st, LX_E_NO, "core %d has tiles beyond the %" PRId64 " that there are",
                                  (int)c[i]->core, all);
            next += c[i]->count;
        }
        if (next < all) return say_element(o, next, group, "never", st);
    }
    return true;
}

/* Of order listed: every tile is in the list, once. */
static bool list_whole(const struct lx_op_launch *o, lx_status *st)
{
    int64_t all = o->launch->batch * o->launch->mt * o->launch->nt, i = 0;
    if (!o->tiles) return true;
    if (o->tile_count != all)
        return status_set(st, LX_E_NO, "a list of %" PRId64 " tiles, but there are %" PRId64, o->tile_count,
                          all);
    bool *seen = calloc((size_t)all + 1, sizeof *seen);
    if (!seen) return status_no_memory(st);
    while (i < all && o->tiles[i] >= 0 && o->tiles[i] < all && !seen[o->tiles[i]]) seen[o->tiles[i++]] = true;
    bool outside = i < all && (o->tiles[i] < 0 || o->tiles[i] >= all);
    free(seen);
    if (i == all) return true;
    if (!outside) return say_element(o, i, 0, "twice", st);
    return status_set(st, LX_E_NO, "the list has tile %" PRId64 ", which is none", o->tiles[i]);
}

static bool runs_cover(const struct lx_op_launch *o, lx_status *st)
{
    const struct lx_launch *l = o->launch;
    const struct lx_launch_core **sorted = calloc((size_t)l->core_count + 1, sizeof *sorted);
    if (!sorted) return status_no_memory(st);
    for (int32_t i = 0; i < l->core_count; i++) sorted[i] = &l->cores[i];
    qsort(sorted, (size_t)l->core_count, sizeof *sorted, by_group_and_start);
    bool ok = runs_join(o, sorted, st);
    free(sorted);
    return ok;
}

static const struct lx_split *split_of(const struct lx_division *d, char letter, int *at)
{
    for (*at = 0; *at < d->split_count; ++*at)
        if (d->splits[*at].letter == letter) return &d->splits[*at];
    return NULL;
}

/* Is [from, to) of variable `v` what the division gives to the core? */
static bool is_slice(const struct lx_division *d, const struct op_index *x, int v, int64_t core, int64_t from,
                     int64_t to)
{
    int at;
    int64_t a = 0, b = x->extent[v];
    if (split_of(d, x->letter[v], &at)) lx_division_slice(d, at, core, &a, &b);
    return from == a && to == b;
}

/* The core's shard and its range of the sums are its slice of the division. */
static bool owns(const struct lx_op_launch *o, const struct op_index *x, const struct lx_division *d,
                 const struct lx_launch_core *c, lx_status *st)
{
    int64_t from[LX_MAX_RANK], to[LX_MAX_RANK], tiles = 1;
    int last = x->operand_count - 1;
    if (!launch_shard(o, c, from, to))
        return status_set(st, LX_E_NO, "core %d has shard [%d, %d], which is none", (int)c->core, (int)c->sy,
                          (int)c->sx);
    for (int i = 0; i < o->rank; i++) {
        tiles *= ceil_div_i64(to[i] - from[i], o->dim[i].side);
        if (!is_slice(d, x, x->var[last][i], c->core, from[i], to[i]))
            return status_set(st, LX_E_NO,
                              "core %d computes [%" PRId64 ", %" PRId64
                              ") of output dimension %d, which is not its slice of the division",
                              (int)c->core, from[i], to[i], i);
    }
    if (c->start == 0 && c->count == tiles) return true;
    return status_set(st, LX_E_NO,
                      "core %d runs tiles %" PRId64 " to %" PRId64 " of its shard, which has %" PRId64
                      ": some are computed twice or never",
                      (int)c->core, c->start, c->start + c->count - 1, tiles);
}

static bool sums_agree(const struct lx_op_launch *o, const struct op_index *x, const struct lx_division *d,
                       const struct lx_launch_core *c, lx_status *st)
{
    int64_t from[LX_MAX_VARS], to[LX_MAX_VARS];
    int sums = 0;
    bool ok = launch_sum_range(o, c->k_slice, from, to);
    for (int v = 0; ok && v < x->var_count; v++)
        if (op_index_reduced(x, v)) {
            ok = is_slice(d, x, v, c->core, from[sums], to[sums]);
            sums++;
        }
    return ok ? true
              : status_set(st, LX_E_NO, "core %d sums another range than its slice of the division",
                           (int)c->core);
}

static bool agrees(const struct lx_op_launch *o, const struct op_index *x, const struct lx_division *d,
                   lx_status *st)
{
    const struct lx_launch *l = o->launch;
    bool local = launch_is_local(o);
    if (local != (l->order == LX_MATCH_SHARD))
        return status_set(st, LX_E_NO, "the order match_shard is that of shards, and they have no other");
    if (l->core_count != d->cores_used)
        return status_set(st, LX_E_NO, "%d cores are launched, but the division has %" PRId64,
                          (int)l->core_count, d->cores_used);
    for (int32_t i = 0; i < l->core_count; i++) {
        const struct lx_launch_core *c = &l->cores[i];
        if (c->core >= d->cores_used)
            return status_set(st, LX_E_NO, "core %d is none of the op's %" PRId64, (int)c->core,
                              d->cores_used);
        if (!sums_agree(o, x, d, c, st) || (local && !owns(o, x, d, c, st))) return false;
    }
    return true;
}

bool lx_op_launch_covers(const struct lx_op_launch *o, const struct op_index *x, const struct lx_division *d,
                         lx_status *st)
{
    if (!o->launch) return true;
    if (!grid_of_op(o, x, st) || !cores_stand(o, st)) return false;
    if (x->known && !agrees(o, x, d, st)) return false;
    return launch_is_local(o) || (list_whole(o, st) && runs_cover(o, st));
}
