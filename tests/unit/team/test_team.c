/* Distributions over a team, against explicit sets of elements: 20,000 random cases a function, with strides,
 * empty parts, extents of 1 and slices that miss. */
#include "base/rng.h"
#include "team/distribution.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { CASES = 20000, WIDE = 256 };

/* A random team, member and cut tensor of rank 1 or 2, small enough to list. */
static struct lx_team_array some_array(struct rng *r, int *members, int *member)
{
    int64_t shape[2];
    int rank = (int)rng_between(r, 1, 2);
    for (int d = 0; d < rank; d++) shape[d] = rng_below(r, 4) == 0 ? 1 : rng_between(r, 1, 40);
    *members = (int)rng_between(r, 1, 9);
    *member = (int)rng_below(r, (uint64_t)*members);
    return lx_team_array_make(*members, *member, rank, shape, (int)rng_below(r, (uint64_t)rank));
}

/* The same with halos of random extents. */
static struct lx_team_array some_halo_array(struct rng *r)
{
    int members, member;
    struct lx_team_array a = some_array(r, &members, &member);
    int c = a.shard;
    int64_t left = rng_between(r, 0, a.offset[c]);
    int64_t right = rng_between(r, 0, a.shape[c] - a.offset[c] - a.size[c]);
    a.offset[c] -= left;
    a.size[c] += left + right;
    a.part[LX_TEAM_LEFT] = left;
    a.part[LX_TEAM_RIGHT] = right;
    return a;
}

/* A slice that lies within the shape; may be empty. */
static struct lx_team_view some_view(struct rng *r, const struct lx_team_array *a)
{
    struct lx_team_view v = {.rank = a->rank};
    for (int d = 0; d < a->rank; d++) {
        v.offset[d] = rng_between(r, 0, a->shape[d] - 1);
        v.stride[d] = rng_between(r, 1, 5);
        int64_t most = (a->shape[d] - 1 - v.offset[d]) / v.stride[d] + 1;
        v.size[d] = rng_between(r, 0, most);
    }
    return v;
}

static struct lx_team_box some_target(struct rng *r, const struct lx_team_view *v)
{
    struct lx_team_box t = {.rank = v->rank};
    for (int d = 0; d < v->rank; d++) {
        t.offset[d] = rng_between(r, 0, v->size[d] + 2);
        t.size[d] = rng_between(r, 0, v->size[d] + 3);
    }
    return t;
}

static bool in(int64_t x, int64_t offset, int64_t size)
{
    return x >= offset && x < offset + size;
}

static void test_default_partition(void **state)
{
    (void)state;
    struct rng r = rng_seed(1);
    for (int n = 0; n < CASES; n++) {
        int members = (int)rng_between(&r, 1, 12), rank = (int)rng_between(&r, 1, 3);
        int cut = (int)rng_below(&r, (uint64_t)rank);
        int64_t shape[3], least = INT64_MAX, most = 0, next = 0, before = 0;
        for (int d = 0; d < rank; d++) shape[d] = rng_between(&r, 1, 50);
        for (int m = 0; m < members; m++) {
            struct lx_team_box b = lx_team_default_partition(members, m, rank, shape, cut);
            for (int d = 0; d < rank; d++)
                if (d != cut) assert_true(b.offset[d] == 0 && b.size[d] == shape[d]);
            /* blocks follow each other, and the larger ones come last */
            assert_int_equal(b.offset[cut], next);
            assert_true(b.size[cut] >= before);
            before = b.size[cut];
            next += b.size[cut];
            if (b.size[cut] < least) least = b.size[cut];
            if (b.size[cut] > most) most = b.size[cut];
        }
        assert_int_equal(next, shape[cut]);
        assert_true(most - least <= 1);
    }
    int64_t eight = 8, sizes[3];
    for (int m = 0; m < 3; m++) sizes[m] = lx_team_default_partition(3, m, 1, &eight, 0).size[0];
    assert_true(sizes[0] == 2 && sizes[1] == 3 && sizes[2] == 3);
}

static void test_offsets_and_parts(void **state)
{
    (void)state;
    struct rng r = rng_seed(2);
    for (int n = 0; n < CASES; n++) {
        struct lx_team_array a = some_halo_array(&r);
        struct lx_team_box part[LX_TEAM_PARTS];
        assert_int_equal(lx_team_parts_of(&a, part), 3);
        for (int64_t x = 0; x < a.shape[a.shard]; x++) {
            int holders = 0;
            for (int i = 0; i < 3; i++) holders += in(x, part[i].offset[a.shard], part[i].size[a.shard]);
            assert_int_equal(holders, in(x, a.offset[a.shard], a.size[a.shard]));
        }
        for (int i = 0; i < 3; i++) assert_int_equal(part[i].size[a.shard], a.part[i]);
    }
    struct lx_team_array scalar = lx_team_array_make(4, 2, 0, NULL, -1);
    struct lx_team_box part[LX_TEAM_PARTS];
    assert_int_equal(lx_team_parts_of(&scalar, part), 1);
    assert_int_equal(lx_team_box_elements(&part[0]), 1);
}

static void test_local_target_of_slice(void **state)
{
    (void)state;
    struct rng r = rng_seed(3);
    for (int n = 0; n < CASES; n++) {
        struct lx_team_array a = some_halo_array(&r);
        struct lx_team_view v = some_view(&r, &a);
        struct lx_team_target t = lx_team_local_target_of_slice(&a, &v);
        for (int d = 0; d < a.rank; d++) {
            for (int64_t i = 0; i < v.size[d]; i++) {
                int64_t x = v.offset[d] + i * v.stride[d];
                bool local = in(x, a.offset[d], a.size[d]);
                assert_int_equal(in(i, t.target.offset[d], t.target.size[d]), local);
                if (i == t.target.offset[d] && local) assert_int_equal(t.local[d], x - a.offset[d]);
            }
            assert_true(t.target.size[d] >= 0 && t.local[d] >= 0 && t.local[d] <= a.size[d]);
        }
    }
}

/* The base elements that target and view have in common, along one dimension, as marks. */
static bool needed(const struct lx_team_view *v, const struct lx_team_box *t, int d, bool mark[WIDE])
{
    bool any = false;
    memset(mark, 0, WIDE);
    for (int64_t i = 0; i < v->size[d]; i++)
        if (in(i, t->offset[d], t->size[d])) any = mark[v->offset[d] + i * v->stride[d]] = true;
    return any;
}

static void test_local_bounding_box(void **state)
{
    (void)state;
    struct rng r = rng_seed(4);
    for (int n = 0; n < CASES; n++) {
        int members, member;
        struct lx_team_array a = some_array(&r, &members, &member);
        struct lx_team_view v = some_view(&r, &a);
        struct lx_team_box t = some_target(&r, &v), given = {.rank = a.rank};
        bool has = rng_below(&r, 2) == 0, inner = rng_below(&r, 2) == 0, mark[2][WIDE], empty = false;
        for (int d = 0; d < a.rank; d++) {
            given.offset[d] = rng_between(&r, 0, a.shape[d]);
            given.size[d] = rng_between(&r, 0, a.shape[d] - given.offset[d]);
            empty |= !needed(&v, &t, d, mark[d]);
        }
        struct lx_team_box b = lx_team_local_bounding_box(&v, &t, has ? &given : NULL, inner);
        bool given_empty = !has || lx_team_box_empty(&given), some = false;
        /* without inner: the hull of all marks; with it: the marks' hull within the box */
        int64_t low[2], high[2];
        bool nothing = inner ? empty || (has && given_empty) : empty && given_empty;
        for (int d = 0; d < a.rank; d++) {
            low[d] = INT64_MAX;
            high[d] = INT64_MIN;
            int64_t from = INT64_MAX, to = INT64_MIN;
            for (int64_t x = 0; x < WIDE; x++)
                if (!empty && mark[d][x]) {
                    if (from > x) from = x;
                    to = x + 1;
                }
            for (int64_t x = 0; x < WIDE; x++) {
                bool need = !empty && x >= from && x < to;
                bool inside = has && !given_empty && in(x, given.offset[d], given.size[d]);
                if (inner ? need && (!has || inside) : need || inside) {
                    if (low[d] > x) low[d] = x;
                    high[d] = x + 1;
                }
            }
            if (low[d] == INT64_MAX) nothing = true;
        }
        for (int d = 0; d < a.rank; d++) {
            assert_true(b.size[d] >= 0);
            if (!nothing) assert_true(b.offset[d] == low[d] && b.offset[d] + b.size[d] == high[d]);
            some |= b.size[d] == 0;
        }
        assert_int_equal(some, nothing);
    }
}

static void test_local_core(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    for (int n = 0; n < CASES; n++) {
        struct lx_team_array a = some_halo_array(&r);
        struct lx_team_view v = some_view(&r, &a);
        struct lx_team_box t = some_target(&r, &v), core = some_target(&r, &v), part[LX_TEAM_PARTS];
        bool has = rng_below(&r, 2) == 0;
        lx_team_parts_of(&a, part);
        struct lx_team_box got = lx_team_local_core(&a, &v, &t, has ? &core : NULL);
        for (int d = 0; d < a.rank; d++) {
            assert_true(got.size[d] >= 0);
            for (int64_t i = 0; i < v.size[d] + 8; i++) {
                int64_t x = v.offset[d] + i * v.stride[d];
                bool wanted = i < v.size[d] && in(i, t.offset[d], t.size[d]) &&
                              (!has || in(i, core.offset[d], core.size[d])) &&
                              in(x, part[1].offset[d], part[1].size[d]);
                assert_int_equal(in(i, got.offset[d], got.size[d]), wanted);
            }
        }
    }
}

static void test_repartition(void **state)
{
    (void)state;
    struct rng r = rng_seed(6);
    for (int n = 0; n < CASES; n++) {
        struct lx_team_array a = some_halo_array(&r);
        struct lx_team_box part[LX_TEAM_PARTS], now[LX_TEAM_PARTS], box = {.rank = a.rank};
        int64_t own_view[LX_MAX_RANK];
        bool has = rng_below(&r, 8) != 0, one = true;
        for (int d = 0; d < a.rank; d++) {
            box.offset[d] = rng_between(&r, 0, a.shape[d]);
            box.size[d] = rng_between(&r, 0, a.shape[d] - box.offset[d]);
            one = one && a.shape[d] == 1;
        }
        lx_team_parts_of(&a, part);
        struct lx_team_array b = lx_team_repartition(&a, has ? &box : NULL, own_view);
        lx_team_parts_of(&b, now);
        int c = a.shard;
        if (!has) {
            if (one)
                assert_int_equal(b.size[c], 1); /* everyone has the one element */
            else
                assert_true(lx_team_box_equal(&part[1], &now[1]) && b.part[0] == 0 && b.part[2] == 0);
            continue;
        }
        assert_int_equal(b.part[0] + b.part[1] + b.part[2], box.size[c]);
        for (int i = 0; i < 3; i++) assert_true(b.part[i] >= 0);
        for (int64_t x = 0; x < a.shape[c]; x++) {
            bool own = in(x, part[1].offset[c], part[1].size[c]), want = in(x, box.offset[c], box.size[c]);
            assert_int_equal(in(x, b.offset[c], b.size[c]), want);
            assert_int_equal(in(x, now[1].offset[c], now[1].size[c]), own && want);
            if (x == now[1].offset[c] && b.part[1] > 0) assert_int_equal(own_view[c], x - part[1].offset[c]);
        }
    }
}

static void test_subview(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int n = 0; n < CASES; n++) {
        struct lx_team_array a = some_halo_array(&r);
        struct lx_team_view v = some_view(&r, &a);
        struct lx_team_box part[LX_TEAM_PARTS], t = {.rank = v.rank};
        bool has = rng_below(&r, 2) == 0;
        for (int d = 0; d < v.rank; d++) {
            t.offset[d] = has ? rng_between(&r, 0, v.size[d]) : 0;
            t.size[d] = has ? rng_between(&r, 0, v.size[d] - t.offset[d]) : v.size[d];
        }
        lx_team_parts_of(&a, part);
        struct lx_team_subview s = lx_team_subview_of(&a, &v, has ? &t : NULL);
        for (int d = 0; d < a.rank; d++) {
            assert_int_equal(s.shape[d], t.size[d]);
            int64_t at = s.offset[d];
            for (int i = 0; i < 3; i++) {
                int64_t count = 0, first = -1;
                for (int64_t k = t.offset[d]; k < t.offset[d] + t.size[d]; k++) {
                    int64_t x = v.offset[d] + k * v.stride[d];
                    if (!in(x, part[i].offset[d], part[i].size[d])) continue;
                    if (count++ == 0) first = x - part[i].offset[d];
                    /* the local elements are one run of the slice, from s.offset on */
                    if (d == a.shard) assert_int_equal(k, at++);
                }
                assert_int_equal(s.part[i].size[d], count);
                if (count > 0) assert_int_equal(s.part[i].offset[d], first);
            }
        }
    }
}

static void test_elementwise_loops(void **state)
{
    (void)state;
    struct rng r = rng_seed(8);
    for (int n = 0; n < CASES; n++) {
        int64_t parts[4][3], total = rng_between(&r, 0, 30);
        const int64_t *list[4];
        int operands = (int)rng_between(&r, 1, 4), whole = (int)rng_below(&r, (uint64_t)operands);
        for (int i = 0; i < operands; i++) {
            int64_t a = rng_between(&r, 0, total), b = rng_between(&r, a, total);
            parts[i][0] = a;
            parts[i][1] = b - a;
            parts[i][2] = total - b;
            list[i] = i != whole && rng_below(&r, 3) == 0 ? NULL : parts[i];
        }
        struct lx_team_range core = {rng_between(&r, -3, 33), 0}, out[LX_TEAM_LOOPS];
        core.end = core.begin + rng_between(&r, -4, 20); /* turned round: empty */
        bool has = rng_below(&r, 2) == 0;
        int loops = lx_team_elementwise_loops(list, operands, has ? &core : NULL, out);
        int seen[64] = {0};
        for (int k = 0; k < loops; k++) {
            assert_true(out[k].begin < out[k].end);
            for (int64_t x = out[k].begin; x < out[k].end; x++) seen[x]++;
            for (int i = 0; i < operands; i++) {
                bool is_core = has && out[k].begin == (core.begin < 0 ? 0 : core.begin) && k == 0;
                if (!list[i] || is_core) continue;
                int64_t ends[2] = {parts[i][0], parts[i][0] + parts[i][1]};
                for (int e = 0; e < 2; e++) assert_true(ends[e] <= out[k].begin || ends[e] >= out[k].end);
            }
        }
        for (int x = 0; x < 64; x++) assert_int_equal(seen[x], x < total);
    }
}

static void test_reduction(void **state)
{
    (void)state;
    struct rng r = rng_seed(9);
    for (int n = 0; n < CASES; n++) {
        struct lx_team_array a = some_halo_array(&r);
        unsigned reduced = (unsigned)rng_below(&r, 1u << a.rank);
        bool combine;
        struct lx_team_box part[LX_TEAM_PARTS], box = lx_team_reduction_of(&a, reduced, &combine);
        lx_team_parts_of(&a, part);
        assert_true(lx_team_box_equal(&box, &part[1]));
        assert_int_equal(combine, reduced >> a.shard & 1);
    }
}

/* All members together write every element of the slice once, with the right source element. */
static void test_insert_slice(void **state)
{
    (void)state;
    struct rng r = rng_seed(10);
    for (int n = 0; n < CASES; n++) {
        int members, member;
        struct lx_team_array a = some_array(&r, &members, &member);
        struct lx_team_view v = some_view(&r, &a);
        int c = a.shard, written[WIDE] = {0};
        for (int m = 0; m < members; m++) {
            struct lx_team_array to = lx_team_array_make(members, m, a.rank, a.shape, c);
            struct lx_team_array from = lx_team_array_make(members, m, a.rank, v.size, c);
            struct lx_team_insertion s = lx_team_insert_slice(&to, &v, &from);
            for (int i = 0; i < 3; i++)
                for (int64_t k = 0; k < s.piece[i].size; k++) {
                    int64_t source = s.source.offset[c] + s.piece[i].source + k;
                    int64_t place = to.offset[c] + s.piece[i].destination + k * v.stride[c];
                    assert_int_equal(place, v.offset[c] + source * v.stride[c]);
                    assert_true(in(place, to.offset[c], to.size[c]));
                    written[source]++;
                }
        }
        for (int64_t i = 0; i < WIDE; i++) assert_int_equal(written[i], i < v.size[c]);
    }
}

/* Beyond 64 bits there are no wrong numbers. */
static void test_far_slices(void **state)
{
    (void)state;
    const int64_t far = (int64_t)1 << 60;
    struct lx_team_overlap o = lx_team_overlap_of(10, 5, 0, far, far);
    assert_true(o.skip == 1 && o.size == 0 && o.local == 5);
    struct lx_team_view v = {1, {0}, {far}, {far}};
    struct lx_team_box t = {1, {far}, {2}}, b = lx_team_local_bounding_box(&v, &t, NULL, false);
    assert_int_equal(b.size[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_partition),
        cmocka_unit_test(test_offsets_and_parts),
        cmocka_unit_test(test_local_target_of_slice),
        cmocka_unit_test(test_local_bounding_box),
        cmocka_unit_test(test_local_core),
        cmocka_unit_test(test_repartition),
        cmocka_unit_test(test_subview),
        cmocka_unit_test(test_elementwise_loops),
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_insert_slice),
        cmocka_unit_test(test_far_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
