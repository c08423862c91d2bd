/* The form of teams: partitions, slices, bounding boxes, cores, repartitions, loops and small programs.
 *
 * The cases come from a system whose results we improve on in these places, and the checks say so:
 *   local_target_of_slice  theirs returns the skip in the slice only; ours the place in the local part, too
 *   local_core             theirs is relative to the target and may be negative; ours is in the view's index
 *                          space, as the document says, and at least 0: `exact` or `clamped_core_size` counts
 *   local_bounding_box     a target that misses its view widens the box there; `exact_hull` counts
 *   subview, repartition, default_partition, loops: the same numbers */
#include "cases/team_form.h"

#include <string.h>

int64_t team_item(const cJSON *array, int d)
{
    return case_int(cJSON_GetArrayItem(array, d), 0);
}

void team_expect_array(struct cases *c, const char *what, const cJSON *wanted, const int64_t *got, int rank)
{
    if (!case_expect(c, cJSON_GetArraySize(wanted) == rank, "%s: expected %d entries, got %d", what,
                     cJSON_GetArraySize(wanted), rank))
        return;
    for (int d = 0; d < rank; d++)
        case_expect(c, team_item(wanted, d) == got[d], "%s[%d]: expected %lld, got %lld", what, d,
                    (long long)team_item(wanted, d), (long long)got[d]);
}

static int numbers(const cJSON *array, int64_t out[LX_MAX_RANK])
{
    int n = cJSON_GetArraySize(array);
    if (n > LX_MAX_RANK) n = LX_MAX_RANK;
    for (int d = 0; d < n; d++) out[d] = team_item(array, d);
    return n;
}

static bool box_of(const cJSON *offset, const cJSON *size, struct lx_team_box *out)
{
    out->rank = numbers(size, out->size);
    return cJSON_IsArray(offset) && numbers(offset, out->offset) == out->rank;
}

static struct lx_team_view view_of(const cJSON *input)
{
    struct lx_team_view v;
    v.rank = numbers(cjson_find(input, "offset"), v.offset);
    numbers(cjson_find(input, "size"), v.size);
    numbers(cjson_find(input, "stride"), v.stride);
    return v;
}

static struct lx_team_array array_of(const cJSON *input, int member)
{
    int64_t shape[LX_MAX_RANK];
    int rank = numbers(cjson_find(input, "gshape"), shape);
    return lx_team_array_make((int)case_int(cjson_find(input, "nprocs"), 1), member, rank, shape, 0);
}

static void check_partition(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected"), *one;
    if (cjson_find(expected, "offset")) {
        struct lx_team_array a = array_of(input, (int)case_int(cjson_find(input, "prank"), 0));
        team_expect_array(c, "offset", cjson_find(expected, "offset"), a.offset, a.rank);
        team_expect_array(c, "size", cjson_find(expected, "size"), a.size, a.rank);
    }
    int member = 0;
    cJSON_ArrayForEach(one, cjson_find(expected, "sizes_by_rank"))
    {
        struct lx_team_array a = array_of(input, member++);
        case_expect(c, a.size[0] == case_int(one, -1), "device %d has %lld", member - 1,
                    (long long)a.size[0]);
    }
    cJSON_ArrayForEach(one, cjson_find(expected, "all"))
    {
        struct lx_team_array a = array_of(input, (int)case_int(cjson_find(one, "rank"), 0));
        team_expect_array(c, "offset", cjson_find(one, "offset"), a.offset, a.rank);
        team_expect_array(c, "size", cjson_find(one, "size"), a.size, a.rank);
    }
}

static void check_target(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *one;
    struct lx_team_view slice = view_of(input);
    cJSON_ArrayForEach(one, cjson_find(cjson_find(json, "expected"), "all"))
    {
        struct lx_team_array a = array_of(input, (int)case_int(cjson_find(one, "rank"), 0));
        struct lx_team_target t = lx_team_local_target_of_slice(&a, &slice);
        team_expect_array(c, "toff", cjson_find(one, "toff"), t.target.offset, a.rank);
        team_expect_array(c, "tsize", cjson_find(one, "tsize"), t.target.size, a.rank);
        for (int d = 0; d < a.rank && !lx_team_box_empty(&t.target); d++)
            case_expect(c, a.offset[d] + t.local[d] == slice.offset[d] + t.target.offset[d] * slice.stride[d],
                        "the local place and the skip name different elements");
    }
}

static void check_bounding_box(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected");
    const cJSON *exact = cjson_find(json, "exact_hull");
    struct lx_team_view view = view_of(input);
    struct lx_team_box target, given;
    box_of(cjson_find(input, "toff"), cjson_find(input, "tsize"), &target);
    bool has = box_of(cjson_find(input, "bb_offset"), cjson_find(input, "bb_size"), &given);
    struct lx_team_box b =
        lx_team_local_bounding_box(&view, &target, has ? &given : NULL, case_true(input, "inner"));
    bool theirs = !cjson_find(json, "matches_exact") || case_true(json, "matches_exact");
    if (theirs) {
        team_expect_array(c, "offset", cjson_find(expected, "offset"), b.offset, b.rank);
        team_expect_array(c, "size", cjson_find(expected, "size"), b.size, b.rank);
    }
    if (cJSON_IsArray(exact))
        case_expect(c, b.offset[0] == team_item(exact, 0) && b.size[0] == team_item(exact, 1),
                    "exact hull: got %lld + %lld", (long long)b.offset[0], (long long)b.size[0]);
    else if (exact)
        case_expect(c, lx_team_box_empty(&b), "an empty hull has %lld elements", (long long)b.size[0]);
}

static struct lx_team_view slice_of(const cJSON *triple)
{
    return (struct lx_team_view){1, {team_item(triple, 0)}, {team_item(triple, 1)}, {team_item(triple, 2)}};
}

static void check_core(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *one;
    const cJSON *source = cjson_find(input, "src_slice"), *to = cjson_find(input, "dst_slice");
    struct lx_team_view slice = slice_of(source ? source : cjson_find(input, "slice"));
    cJSON_ArrayForEach(one, cjson_find(cjson_find(json, "expected"), "all"))
    {
        struct lx_team_array a = array_of(input, (int)case_int(cjson_find(one, "rank"), 0));
        struct lx_team_box target;
        box_of(cjson_find(one, "toff"), cjson_find(one, "tsize"), &target);
        if (to) {
            struct lx_team_view destination = slice_of(to);
            struct lx_team_target t = lx_team_local_target_of_slice(&a, &destination);
            case_expect(c, lx_team_box_equal(&t.target, &target), "the target of the destination differs");
        }
        struct lx_team_box core = lx_team_local_core(&a, &slice, &target, NULL);
        const cJSON *exact = cjson_find(one, "exact"), *clamped = cjson_find(one, "clamped_core_size");
        int64_t size = exact ? team_item(exact, 1) : team_item(clamped, 0);
        int64_t offset = exact ? team_item(exact, 0) : team_item(cjson_find(one, "core_offset"), 0);
        case_expect(c, core.size[0] == size, "size: expected %lld, got %lld", (long long)size,
                    (long long)core.size[0]);
        if (size > 0)
            case_expect(c, core.offset[0] == offset + target.offset[0],
                        "offset: expected target + %lld, got %lld", (long long)offset,
                        (long long)core.offset[0]);
    }
}

static void check_repartition(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected");
    struct lx_team_array a = array_of(input, (int)case_int(cjson_find(input, "prank"), 0));
    struct lx_team_box box;
    int64_t own_view[LX_MAX_RANK];
    box_of(cjson_find(input, "bb_offset"), cjson_find(input, "bb_size"), &box);
    struct lx_team_array r = lx_team_repartition(&a, &box, own_view);
    team_expect_array(c, "left_halo", cjson_find(expected, "left_halo"), &r.part[LX_TEAM_LEFT], 1);
    team_expect_array(c, "own_view_size", cjson_find(expected, "own_view_size"), &r.part[LX_TEAM_OWN], 1);
    team_expect_array(c, "right_halo", cjson_find(expected, "right_halo"), &r.part[LX_TEAM_RIGHT], 1);
    team_expect_array(c, "own_view_offset", cjson_find(expected, "own_view_offset"), own_view, 1);
    team_expect_array(c, "l_offset", cjson_find(expected, "l_offset"), r.offset, 1);
}

static void check_subview(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected");
    const cJSON *parts = cjson_find(input, "parts"), *wanted = cjson_find(expected, "parts");
    struct lx_team_array a = {.shard = 0};
    a.rank = numbers(cjson_find(input, "l_offset"), a.offset);
    for (int i = 0; i < LX_TEAM_PARTS; i++) {
        const cJSON *part = cJSON_GetArrayItem(parts, i);
        a.part[i] = team_item(part, 0);
        a.size[0] += a.part[i];
        for (int d = 1; d < a.rank; d++) a.size[d] = team_item(part, d);
    }
    struct lx_team_view view = view_of(input);
    struct lx_team_box target;
    bool has = box_of(cjson_find(input, "toff"), cjson_find(input, "tsize"), &target);
    struct lx_team_subview s = lx_team_subview_of(&a, &view, has ? &target : NULL);
    team_expect_array(c, "global_shape", cjson_find(expected, "global_shape"), s.shape, a.rank);
    team_expect_array(c, "l_offset", cjson_find(expected, "l_offset"), s.offset, a.rank);
    for (int i = 0; i < LX_TEAM_PARTS; i++) {
        const cJSON *part = cJSON_GetArrayItem(wanted, i);
        team_expect_array(c, "part offset", cjson_find(part, "offset"), s.part[i].offset, a.rank);
        team_expect_array(c, "part size", cjson_find(part, "size"), s.part[i].size, a.rank);
        team_expect_array(c, "part stride", cjson_find(part, "stride"), view.stride, a.rank);
    }
}

static void check_loops(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *core = cjson_find(input, "core");
    const cJSON *wanted = cjson_find(cjson_find(json, "expected"), "loops_in_order");
    int64_t left[LX_MAX_RANK], right[LX_MAX_RANK];
    numbers(cjson_find(input, "lhs_parts"), left);
    numbers(cjson_find(input, "rhs_parts"), right);
    struct lx_team_range range = {team_item(core, 0), team_item(core, 0) + team_item(core, 1)};
    struct lx_team_range loops[LX_TEAM_LOOPS];
    const int64_t *const parts[] = {left, right};
    int count = lx_team_elementwise_loops(parts, 2, cJSON_IsArray(core) ? &range : NULL, loops);
    case_expect(c, count == cJSON_GetArraySize(wanted), "%d loops", count);
    for (int i = 0; i < count; i++) {
        const cJSON *one = cJSON_GetArrayItem(wanted, i);
        case_expect(c, loops[i].begin == team_item(one, 0) && loops[i].end == team_item(one, 1),
                    "loop %d is [%lld, %lld)", i, (long long)loops[i].begin, (long long)loops[i].end);
    }
}

static const struct {
    const char *op;
    void (*check)(struct cases *c, const cJSON *json);
} ops[] = {
    {"default_partition", check_partition},
    {"local_target_of_slice", check_target},
    {"local_bounding_box", check_bounding_box},
    {"local_core", check_core},
    {"repartition", check_repartition},
    {"subview", check_subview},
    {"ewbin_loops", check_loops},
    {"pipeline_stencil", team_check_stencil},
    {"coalesce", team_check_coalesce},
};

enum { OPS = sizeof ops / sizeof *ops };

static int op_of(const cJSON *json)
{
    int i = 0;
    while (i < OPS && strcmp(ops[i].op, case_text(json, "op")) != 0) i++;
    return i;
}

static bool fits(const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "cases")) if (op_of(one) < OPS) return true;
    return false;
}

static void run(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "cases"))
    {
        int op = op_of(one);
        case_begin(c, "%s/%s", case_text(one, "op"), case_text(one, "id"));
        if (op < OPS) ops[op].check(c, one);
        case_end(c, one);
    }
}

/* Where the case is from; inputs that the others imply; what the original gives where "exact" or "clamped" says
 * what is right; and its list of ops, where ours are a graph's. */
static const char *const remarks[] = {"from_repo_test", "from_rfc", "gshape",          "own", "core_size",
                                      "core_offset",    "ops",      "fused_core_rows", NULL};

const struct case_form form_team = {"team", fits, run, remarks};
