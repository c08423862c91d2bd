/* The form of tile partitions: requests and launches, shares, index recovery, layouts and runtime plans.
 *
 * The cases come from a system whose core grids are [x, y] and whose results are partly wrong; where a case
 * has `correct` or `balanced`, that is what counts. Three of our decisions show here: the first grid axis is
 * the slowest (so an index of the kind that has it fastest is that of the reversed grid), a tile order that
 * does not exist is refused (the other system then gives every core one tile), and cores that hold no shard
 * are not launched (there they get no work). */
#include "cases/partition_form.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERANDS = 8 };

static struct lx_launch *make(struct cases *c, const struct lx_launch_request *r)
{
    lx_status st = {0};
    struct lx_launch *l = lx_launch_make(r, &st);
    case_expect(c, l != NULL, "expected a launch, got the error: %s", st.text);
    return l;
}

static void expect_runs(struct cases *c, const struct lx_launch *l, const cJSON *balanced)
{
    const cJSON *runs = cjson_find(balanced, "start_count");
    int64_t most = 0, idle = 0;
    case_expect(c, cJSON_GetArraySize(runs) == l->core_count, "expected %d cores, got %d",
                cJSON_GetArraySize(runs), l->core_count);
    for (int i = 0; i < l->core_count; i++) {
        partition_expect_pair(c, "start and count", cJSON_GetArrayItem(runs, i), l->cores[i].start,
                              l->cores[i].count);
        most = l->cores[i].count > most ? l->cores[i].count : most;
        idle += l->cores[i].count == 0;
    }
    case_expect(c, most == case_int(cjson_find(balanced, "max_load"), most), "the most tiles are %lld",
                (long long)most);
    case_expect(c, idle == case_int(cjson_find(balanced, "idle_cores"), idle), "%lld cores are idle",
                (long long)idle);
}

static void expect_shards(struct cases *c, const struct lx_launch *l, const cJSON *correct)
{
    const cJSON *one;
    partition_expect_pair(c, "core grid [x, y]", cjson_find(correct, "core_grid_xy"), l->core_grid[1],
                          l->core_grid[0]);
    int i = 0;
    cJSON_ArrayForEach(one, cjson_find(correct, "cores"))
    {
        if (!case_expect(c, i < l->core_count, "expected more than %d cores", l->core_count)) return;
        const struct lx_launch_core *k = &l->cores[i++];
        const int64_t got[] = {k->y, k->x, k->start, k->count, k->sy, k->sx};
        static const char *const keys[] = {"y", "x", "start", "count", "sy", "sx"};
        for (size_t f = 0; f < sizeof keys / sizeof *keys; f++)
            case_expect(c, got[f] == case_int(cjson_find(one, keys[f]), -1), "core %d: %s is %lld", i - 1,
                        keys[f], (long long)got[f]);
        const cJSON *tiles = cjson_find(one, "global_tiles");
        case_expect(c, cJSON_GetArraySize(tiles) == k->count, "core %d has %lld tiles", i - 1,
                    (long long)k->count);
        for (int64_t t = 0; t < k->count; t++) {
            struct lx_tile tile = lx_launch_tile(l, k, t);
            partition_expect_pair(c, "tile", cJSON_GetArrayItem(tiles, (int)t), tile.row, tile.column);
        }
    }
    case_expect(c, i == l->core_count, "expected %d cores, got %d", i, l->core_count);
}

static void expect_arg_names(struct cases *c, const struct lx_launch *l, const cJSON *names)
{
    int n = lx_launch_arg_count(l);
    case_expect(c, cJSON_GetArraySize(names) == n, "expected %d arguments, got %d", cJSON_GetArraySize(names),
                n);
    for (int i = 0; i < n; i++) {
        const cJSON *v = cJSON_GetArrayItem(names, i);
        case_expect(c, cJSON_IsString(v) && strcmp(v->valuestring, lx_launch_arg_name(i)) == 0,
                    "argument %d is %s", i, lx_launch_arg_name(i));
    }
}

static void check_partition(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected"), *v;
    const cJSON *core_grid = cjson_find(input, "core_grid_attr"), *shape = cjson_find(input, "output_shape");
    struct partition_operand held[MOST_OPERANDS];
    struct lx_launch_operand operands[MOST_OPERANDS];
    struct lx_launch_request r = {.operands = operands};
    bool has_output = false;
    cJSON_ArrayForEach(v, cjson_find(input, "buffers"))
    {
        if (r.operand_count == MOST_OPERANDS) break;
        struct partition_operand *p = &held[r.operand_count];
        partition_operand_fill(p, v->string, v);
        partition_default_shard(p);
        has_output |= strcmp(v->string, "C") == 0 || strcasestr(v->string, "output");
        operands[r.operand_count++] = p->o;
    }
    for (int a = 0; a < 2; a++) {
        r.output[a] = has_output ? partition_item(shape, a) : 0; /* they know the output by its name */
        r.core_grid[a] = partition_item(core_grid, 1 - a);       /* theirs is [x, y] */
    }
    struct lx_launch *l = make(c, &r);
    if (!l) return;
    const char *mode = case_text(expected, "partition_mode");
    case_expect(c, strcmp(mode, lx_partition_word(l->mode)) == 0, "expected mode %s, got %s", mode,
                lx_partition_word(l->mode));
    partition_expect_pair(c, "grid of tiles", cjson_find(expected, "grid_tiles"), l->mt, l->nt);
    expect_arg_names(c, l, cjson_find(expected, "runtime_args"));
    if (cJSON_IsArray(cjson_find(expected, "shard_grid"))) {
        partition_expect_pair(c, "shard grid", cjson_find(expected, "shard_grid"), l->shard_grid[0],
                              l->shard_grid[1]);
        partition_expect_pair(c, "tiles of a shard", cjson_find(expected, "local_shape_tiles"),
                              l->shard_tiles[0], l->shard_tiles[1]);
    }
    if (cjson_find(json, "balanced")) {
        partition_expect_pair(c, "core grid [x, y]", cjson_find(expected, "core_grid_xy"), l->core_grid[1],
                              l->core_grid[0]);
        expect_runs(c, l, cjson_find(json, "balanced"));
    }
    if (cjson_find(json, "correct")) expect_shards(c, l, cjson_find(json, "correct"));
    size_t length;
    lx_status st = {0};
    char *plan = lx_launch_to_json(l, r.operands, r.operand_count, &length);
    case_expect(c, plan && lx_runtime_plan_check("launch", plan, length, &st), "our own plan is refused: %s",
                st.text);
    mem_free(plan);
    lx_launch_free(l);
}

static void check_shares(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"),
                *runs = cjson_find(cjson_find(json, "expected"), "start_count");
    int64_t tiles = case_int(cjson_find(input, "num_tiles"), -1),
            cores = case_int(cjson_find(input, "num_cores"), -1);
    if (!case_expect(c, tiles >= 0 && cores > 0 && cJSON_GetArraySize(runs) == cores, "tiles and cores?"))
        return;
    for (int i = 0; i < cores; i++) {
        int64_t start, count;
        lx_share_of(LX_SHARE_BALANCED, tiles, cores, i, &start, &count);
        partition_expect_pair(c, "start and count", cJSON_GetArrayItem(runs, i), start, count);
    }
}

static void expect_number(struct cases *c, const cJSON *object, const char *key, int64_t got)
{
    case_expect(c, case_int(cjson_find(object, key), -1) == got, "expected %s %lld, got %lld", key,
                (long long)case_int(cjson_find(object, key), -1), (long long)got);
}

/* Index recovery goes through a launch on one core, which works on all tiles in order. */
static struct lx_tile recover(struct cases *c, enum lx_tile_order order, int64_t batch, int64_t mt,
                              int64_t nt, int64_t t)
{
    struct lx_launch_request r = {.order = order, .batch = batch, .grid = {mt, nt}, .core_grid = {1, 1}};
    struct lx_launch *l = make(c, &r);
    struct lx_tile tile = l ? lx_launch_tile(l, l->cores, t) : (struct lx_tile){-1, -1, -1, -1};
    lx_launch_free(l);
    return tile;
}

static void check_index_2d(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected");
    int64_t nt = case_int(cjson_find(input, "Nt"), 1), t = case_int(cjson_find(input, "tile_id"), 0);
    struct lx_tile tile = recover(c, LX_ROW_MAJOR, 1, t / nt + 1, nt, t);
    expect_number(c, expected, "bx", tile.row);
    expect_number(c, expected, "by", tile.column);
}

static void check_index_3d(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected"),
                *g = cjson_find(input, "grid");
    struct lx_tile tile = recover(c, LX_ROW_MAJOR, partition_item(g, 0), partition_item(g, 1),
                                  partition_item(g, 2), case_int(cjson_find(input, "tile_id"), 0));
    expect_number(c, expected, "b", tile.batch);
    expect_number(c, expected, "bx", tile.row);
    expect_number(c, expected, "by", tile.column);
}

static void check_index_xyz(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected"),
                *g = cjson_find(input, "grid");
    struct lx_tile tile = recover(c, LX_ROW_MAJOR, partition_item(g, 2), partition_item(g, 1),
                                  partition_item(g, 0), case_int(cjson_find(input, "tile_id"), 0));
    expect_number(c, expected, "bz", tile.batch);
    expect_number(c, expected, "by", tile.row);
    expect_number(c, expected, "bx", tile.column);
}

static void check_shard_index(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *expected = cjson_find(json, "expected");
    int64_t sy = case_int(cjson_find(input, "sy"), 0), sx = case_int(cjson_find(input, "sx"), 0);
    int64_t sm = case_int(cjson_find(input, "Sm"), 1), sn = case_int(cjson_find(input, "Sn"), 1);
    int64_t nt = case_int(cjson_find(input, "Nt"), 1);
    static const char *const axes[] = {"M", "N"};
    int64_t grid[] = {sy + 1, nt / sn};
    struct lx_shard shard = {2, 2, axes, grid, {0, 0}, {sm, sn}, false};
    struct lx_launch_operand o = {
        .name = "C", .memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &shard};
    struct lx_launch_request r = {.operands = &o, .operand_count = 1, .grid = {(sy + 1) * sm, nt}};
    struct lx_launch *l = make(c, &r);
    if (!l) return;
    const struct lx_launch_core *core = &l->cores[sy * l->core_grid[1] + sx];
    struct lx_tile tile = lx_launch_tile(l, core, case_int(cjson_find(input, "local_tile"), 0));
    expect_number(c, expected, "m", tile.row);
    expect_number(c, expected, "n", tile.column);
    expect_number(c, expected, "global_tile", tile.id);
    lx_launch_free(l);
}

static void check_morton(struct cases *c, const cJSON *json)
{
    int64_t code = case_int(cjson_find(cjson_find(json, "input"), "code"), 0), side = 1;
    while (side * side <= code) side *= 2;
    struct lx_tile tile = recover(c, LX_MORTON, 1, side, side, code);
    expect_number(c, cjson_find(json, "expected"), "row", tile.row);
    expect_number(c, cjson_find(json, "expected"), "col", tile.column);
}

/* An item without K tiles stands for no work. */
static void expect_work(struct cases *c, const struct lx_launch *l, const struct lx_launch_core *core,
                        const cJSON *items)
{
    const cJSON *one = cJSON_GetArrayItem(items, 0);
    bool idle = case_int(cjson_find(one, "len_k"), 1) == 0;
    int64_t wanted = idle ? 0 : cJSON_GetArraySize(items), i = 0;
    if (!case_expect(c, core->count == wanted, "core (%d,%d): expected %lld tiles, got %lld", core->y,
                     core->x, (long long)wanted, (long long)core->count) ||
        idle)
        return;
    cJSON_ArrayForEach(one, items)
    {
        struct lx_tile tile = lx_launch_tile(l, core, i++);
        expect_number(c, one, "io", tile.row);
        expect_number(c, one, "jo", tile.column);
    }
}

static void check_strategy(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"),
                *work = cjson_find(cjson_find(json, "expected"), "work_partition");
    const cJSON *cores = cjson_find(input, "grid"), *tiles = cjson_find(input, "tiles");
    enum lx_tile_order order = lx_tile_order_find(case_text(input, "strategy"));
    if (strcmp(case_text(input, "strategy"), "other") == 0) {
        case_expect(c, order == LX_TILE_ORDERS, "an order that does not exist must be refused");
        return;
    }
    struct lx_launch_request r = {.order = order,
                                  .share = LX_SHARE_CHUNKS,
                                  .grid = {partition_item(tiles, 0), partition_item(tiles, 1)}};
    for (int a = 0; a < 2; a++)
        r.core_grid[a] = partition_item(cores, a); /* their keys are (first, second) as well */
    struct lx_launch *l = make(c, &r);
    if (!l) return;
    case_expect(c, cJSON_GetArraySize(work) == l->core_count, "%d cores", l->core_count);
    for (int i = 0; i < l->core_count; i++) {
        char key[40];
        snprintf(key, sizeof key, "(%d,%d)", l->cores[i].y, l->cores[i].x);
        const cJSON *items = cjson_find(work, key);
        if (case_expect(c, items != NULL, "no work for core %s", key)) expect_work(c, l, &l->cores[i], items);
    }
    lx_launch_free(l);
}

static void check_args(struct cases *c, const cJSON *json)
{
    const cJSON *input = cjson_find(json, "input"), *rest = cjson_find(input, "rest"),
                *expected = cjson_find(json, "expected");
    const cJSON *all = cjson_find(expected, "core_runtime_args"),
                *ranges = cjson_find(expected, "core_ranges");
    int cores = (int)case_int(cjson_find(input, "num_cores"), 0), width = 1;
    while (width * width < cores) width++;
    if (width * width != cores) width = (int)case_int(cjson_find(input, "grid_x"), 1);
    bool local = strcmp(case_text(input, "mode"), "local_shard") == 0;
    static const char *const axes[] = {"M", "N"};
    int64_t grid[] = {partition_item(rest, 0), partition_item(rest, 1)};
    struct lx_shard shard = {2,    2, axes, grid, {0, 0}, {partition_item(rest, 2), partition_item(rest, 3)},
                             false};
    struct lx_launch_operand o = {
        .name = "C", .memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &shard};
    struct lx_launch_request r = {
        .operands = &o, .operand_count = local, .core_grid = {cores / width, width}};
    for (int a = 0; a < 2; a++)
        r.grid[a] = partition_item(cJSON_GetArrayItem(all, 0), 2 + 2 * a); /* Mt, Nt */
    struct lx_launch *l = make(c, &r);
    for (int i = 0; l && i < cores; i++) {
        int64_t y = i / width, x = i % width, values[LX_LAUNCH_ARGS];
        const cJSON *args = cJSON_GetArrayItem(all, i), *range = cJSON_GetArrayItem(ranges, i);
        bool launched = y < l->core_grid[0] && x < l->core_grid[1];
        if (!launched) {
            case_expect(c, partition_item(args, 1) == 0, "core (%lld,%lld) has work, but is not launched",
                        (long long)y, (long long)x);
            continue;
        }
        const struct lx_launch_core *core = &l->cores[y * l->core_grid[1] + x];
        lx_launch_args(l, core, values);
        case_expect(c, cJSON_GetArraySize(args) == lx_launch_arg_count(l), "%d arguments",
                    lx_launch_arg_count(l));
        for (int a = 0; a < lx_launch_arg_count(l); a++)
            case_expect(c, values[a] == partition_item(args, a), "core %d: expected %s %lld, got %lld", i,
                        lx_launch_arg_name(a), (long long)partition_item(args, a), (long long)values[a]);
        const int64_t place[] = {core->x, core->y, core->x, core->y, core->start, core->count};
        for (int a = 0; a < 6; a++)
            case_expect(c, place[a] == partition_item(range, a), "core %d: range entry %d", i, a);
    }
    lx_launch_free(l);
}

static const struct {
    const char *kind;
    void (*check)(struct cases *c, const cJSON *json);
} kinds[] = {
    {"v5_partition", check_partition},
    {"legacy_contiguous", check_shares},
    {"index_2d_row_major", check_index_2d},
    {"index_3d_row_major", check_index_3d},
    {"legacy_index_xyz", check_index_xyz},
    {"local_shard_index (match_shard)", check_shard_index},
    {"z_order", check_morton},
    {"legacy_strategy", check_strategy},
    {"legacy_runtime_args", check_args},
    {"layout_validation", partition_check_layout},
    {"plan_validation", partition_check_plan},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static int kind_of(const cJSON *json)
{
    int i = 0;
    while (i < KINDS && strcmp(kinds[i].kind, case_text(json, "kind")) != 0) i++;
    return i;
}

static bool fits(const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "cases")) if (kind_of(one) < KINDS) return true;
    return false;
}

static void run(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "cases"))
    {
        int kind = kind_of(one);
        const char *name = case_text(one, "name");
        case_begin(c, "%s/%s", case_text(one, "kind"), *name ? name : case_text(one, "id"));
        if (kind < KINDS) kinds[kind].check(c, one);
        case_end(c, one);
    }
}

/* Of the original's own form: a range and lists of tiles for each core, where a launch of ours has one rectangle
 * and shares, and "correct" or "balanced" says which; the grid as [x, y], by which only the order differs; the
 * layout that it fills in; and tile shapes and K tiles, on which no share depends. */
static const char *const remarks[] = {"reference_is_correct",
                                      "per_core_start_count",
                                      "reference_max_load",
                                      "reference_idle_cores",
                                      "core_ranges",
                                      "tiles_per_core",
                                      "core_grid_xy",
                                      "work_partition",
                                      "grid_x",
                                      "layout",
                                      "tile_shape",
                                      "k_tiles",
                                      NULL};

const struct case_form form_partition = {"partition", fits, run, remarks};
