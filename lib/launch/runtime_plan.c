/* Launches as files for a runtime, and a check of such files.
 *
 *    {"lxplan": 1, "kind": "launch", "schema_version": 1, "core_grid": [Y, X],
 *     "core_ranges": [{"start": [y, x], "extent": [h, w]}], "partition_mode": ..., "runtime_args": [names],
 *     "work_partition": {"(y,x)": [arguments]}, "layouts": {...}}
 *
 * In a nest, `nest` has an entry per level, outermost first: {"tiles": T, "argument": name, "step":
 * elements}. The host counts i from 0 to T - 1 around the launch and sets the argument to i * step. These
 * arguments come last, with their values for the first iteration.
 *
 * The check accepts plans of other writers, too. It requires the five fields, a version, a grid, ranges
 * inside it and keys of the form above, and ignores other content. Ranges may overlap. The output of
 * lx_launch_to_json passes. */
#include "launch/launch.h"
#include "base/base.h"
#include "base/json/json.h"

static bool is_int(const struct json_value *v)
{
    return json_is_number(v) && v->number == (double)(int64_t)v->number;
}

/* Reads two integers; false otherwise. */
static bool runtime_plan_pair_of(const struct json_value *v, int64_t *pair)
{
    if (!json_is_array(v) || json_count(v) != 2) return false;
    for (int i = 0; i < 2; i++) {
        const struct json_value *item = json_item(v, i);
        if (!is_int(item)) return false;
        pair[i] = (int64_t)item->number;
    }
    return true;
}

static bool check_range(const struct json *j, const struct json_value *range, int i, const int64_t grid[2],
                        lx_status *st)
{
    const struct json_value *from = json_is_object(range) ? json_find(range, "start") : NULL;
    const struct json_value *size = json_is_object(range) ? json_find(range, "extent") : NULL;
    int64_t start[2], extent[2];
    if (!from || !size)
        return json_error(j, range, st, LX_E_LAUNCH_FIELD, "core_ranges[%d] needs a start and an extent", i);
    if (!runtime_plan_pair_of(from, start) || !runtime_plan_pair_of(size, extent))
        return json_error(j, range, st, LX_E_LAUNCH_RANGE,
                          "core_ranges[%d]: start and extent are two integers", i);
    if (start[0] < 0 || start[1] < 0)
        return json_error(j, from, st, LX_E_LAUNCH_START, "core_ranges[%d] starts below zero", i);
    for (int a = 0; a < 2; a++) {
        int64_t end;
        if (extent[a] < 0 || !add_i64(start[a], extent[a], &end) || end > grid[a])
            return json_error(j, range, st, LX_E_LAUNCH_RANGE, "core_ranges[%d] reaches beyond the core grid",
                              i);
    }
    return true;
}

/* Skips an unsigned number of up to 9 digits; returns its end, or NULL. */
static const char *digits(const char *s)
{
    size_t n = strspn(s, "0123456789");
    return n > 0 && n < 10 ? s + n : NULL;
}

static bool is_core(const char *key, const int64_t grid[2])
{
    if (*key++ != '(') return false;
    const char *comma = digits(key);
    if (!comma || *comma != ',') return false;
    const char *end = digits(comma + 1);
    return end && strcmp(end, ")") == 0 && strtoll(key, NULL, 10) < grid[0] &&
           strtoll(comma + 1, NULL, 10) < grid[1];
}

static bool runtime_plan_right(const struct json *j, lx_status *st)
{
    static const char *const needed[] = {"schema_version", "core_grid", "core_ranges", "work_partition",
                                         "layouts"};
    int64_t grid[2];
    int i = 0;
    if (!json_is_object(j->root))
        return json_error(j, j->root, st, LX_E_SCHEMA, "a runtime plan is an object");
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
        if (!json_find(j->root, needed[k]))
            return json_error(j, j->root, st, LX_E_LAUNCH_FIELD, "the required field %s is missing",
                              needed[k]);
    const struct json_value *version = json_find(j->root, needed[0]),
                            *backend = json_find(j->root, "backend_version"),
                            *cores = json_find(j->root, needed[1]), *list = json_find(j->root, needed[2]),
                            *work = json_find(j->root, needed[3]), *item;
    if (!is_int(version) || version->number < 1)
        return json_error(j, version, st, LX_E_LAUNCH_VERSION, "schema_version must be an integer from 1 on");
    if (backend && !json_is_string(backend))
        return json_error(j, backend, st, LX_E_LAUNCH_VERSION, "backend_version must be a string");
    if (!runtime_plan_pair_of(cores, grid) || grid[0] < 1 || grid[1] < 1)
        return json_error(j, cores, st, LX_E_LAUNCH_GRID, "core_grid must be two integers from 1 on");
    if (!json_is_array(list)) return json_error(j, list, st, LX_E_LAUNCH_RANGE, "core_ranges must be a list");
    json_for_each(item, list)
        if (!check_range(j, item, i++, grid, st)) return false;
    if (!json_is_object(work))
        return json_error(j, work, st, LX_E_LAUNCH_KEY, "work_partition must be an object keyed by cores");
    json_for_each(item, work)
        if (!is_core(item->key, grid))
            return json_error(j, item, st, LX_E_LAUNCH_KEY,
                              "\"%.40s\" names no core of the grid; a key is \"(y,x)\"", item->key);
    return true;
}

bool lx_runtime_plan_check(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return false;
    bool ok = runtime_plan_right(&j, st);
    json_free(&j);
    return ok;
}

static void runtime_plan_add_work(struct text *t, const struct lx_launch *l)
{
    int n = lx_launch_arg_count(l);
    text_add(t, " \"runtime_args\": [");
    for (int i = 0; i < n; i++) text_format(t, "%s\"%s\"", i ? ", " : "", lx_launch_arg_name(i));
    for (int i = 0; i < l->level_count; i++) text_format(t, ", \"%c_at\"", l->level[i].letter);
    text_add(t, "],\n \"work_partition\": {");
    for (int32_t c = 0; c < l->core_count; c++) {
        int64_t values[LX_LAUNCH_ARGS];
        lx_launch_args(l, &l->cores[c], values);
        text_format(t, "%s\n  \"(%d,%d)\": [", c ? "," : "", l->cores[c].y, l->cores[c].x);
        for (int i = 0; i < n; i++) text_format(t, "%s%" PRId64, i ? ", " : "", values[i]);
        for (int i = 0; i < l->level_count; i++) text_add(t, ", 0");
        text_add(t, "]");
    }
    text_add(t, "},\n");
}

/* Writes memory, layout and tile of each operand, each name once; for shards also axes and grid. */
static void add_layouts(struct text *t, const struct lx_launch_operand *o, int count)
{
    text_add(t, " \"layouts\": {");
    for (int i = 0, n = 0; i < count; i++) {
        int first = 0;
        while (strcmp(o[first].name, o[i].name) != 0) first++;
        if (first < i) continue;
        text_add(t, n++ ? ",\n  " : "\n  ");
        text_json_string(t, o[i].name);
        text_format(
            t, ": {\"memory\": \"%s\", \"layout\": \"%s\", \"tile_shape\": [%" PRId64 ", %" PRId64 "]",
            o[i].memory == LX_MEMORY_LX ? "L1" : "DRAM",
            o[i].placing == LX_SHARDED ? "sharded" : "interleaved",
            o[i].tile_rank ? o[i].tile[0] : LX_LAUNCH_TILE, o[i].tile_rank ? o[i].tile[1] : LX_LAUNCH_TILE);
        const struct lx_shard *s = o[i].shard;
        text_add(t, s ? ", \"nd_shard\": {\"axes\": [" : "");
        for (int a = 0; s && a < s->axis_count; a++) text_format(t, "%s\"%s\"", a ? ", " : "", s->axes[a]);
        text_add(t, s ? "], \"grid\": [" : "");
        for (int a = 0; s && a < s->grid_rank; a++) text_format(t, "%s%" PRId64, a ? ", " : "", s->grid[a]);
        text_add(t, s ? "]}}" : "}");
    }
    text_add(t, "}}\n");
}

char *lx_launch_to_json(const struct lx_launch *launch, const struct lx_launch_operand *operands,
                        int operand_count, size_t *length)
{
    struct text t = {0};
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"launch\", \"schema_version\": 1,\n \"core_grid\": [%" PRId64
                ", %" PRId64 "],\n",
                launch->core_grid[0], launch->core_grid[1]);
    int count;
    struct lx_core_range *ranges = lx_launch_ranges(launch, &count);
    text_add(&t, " \"core_ranges\": [");
    for (int i = 0; ranges && i < count; i++)
        text_format(&t, "%s{\"start\": [%" PRId64 ", %" PRId64 "], \"extent\": [%" PRId64 ", %" PRId64 "]}",
                    i ? ", " : "", ranges[i].y, ranges[i].x, ranges[i].height, ranges[i].width);
    text_add(&t, "],\n");
    mem_free(ranges);
    text_format(&t, " \"partition_mode\": \"%s\", \"tile_order\": \"%s\",\n", lx_partition_word(launch->mode),
                lx_tile_order_word(launch->order));
    text_format(&t, " \"grid_tiles\": [%" PRId64 ", %" PRId64 ", %" PRId64 "],\n", launch->batch, launch->mt,
                launch->nt);
    if (launch->mode == LX_PARTITION_LOCAL_SHARD)
        text_format(&t,
                    " \"shard_grid\": [%" PRId64 ", %" PRId64 "], \"local_shape_tiles\": [%" PRId64
                    ", %" PRId64 "],\n",
                    launch->shard_grid[0], launch->shard_grid[1], launch->shard_tiles[0],
                    launch->shard_tiles[1]);
    for (int i = 0; i < launch->level_count; i++)
        text_format(&t, "%s{\"tiles\": %" PRId64 ", \"argument\": \"%c_at\", \"step\": %" PRId64 "}%s",
                    i ? ", " : " \"nest\": [", launch->level[i].tiles, launch->level[i].letter,
                    launch->level[i].step, i + 1 < launch->level_count ? "" : "],\n");
    runtime_plan_add_work(&t, launch);
    add_layouts(&t, operands, operand_count);
    *length = t.length;
    return t.at;
}

/* Covers the launched cores with disjoint rectangles: a run of neighbours in a row grows down while the next
 * row has the same run. */

static bool row_has(const char *launched, const struct lx_launch *l, int64_t y, int64_t x, int64_t width)
{
    if (y >= l->core_grid[0]) return false;
    for (int64_t i = 0; i < width; i++)
        if (!launched[y * l->core_grid[1] + x + i]) return false;
    return true;
}

struct lx_core_range *lx_launch_ranges(const struct lx_launch *l, int *count)
{
    int64_t all = l->core_grid[0] * l->core_grid[1];
    OWNED char *launched = mem_zeroed((size_t)all + 1, 1);
    struct lx_core_range *ranges = mem_zeroed((size_t)l->core_count + 1, sizeof *ranges);
    *count = 0;
    for (int32_t i = 0; i < l->core_count; i++)
        if (l->cores[i].y >= 0 && l->cores[i].y < l->core_grid[0] && l->cores[i].x >= 0 &&
            l->cores[i].x < l->core_grid[1])
            launched[l->cores[i].y * l->core_grid[1] + l->cores[i].x] = 1;
    for (int64_t c = 0; c < all; c++)
        if (launched[c]) {
            /* the rectangle with first core [y, x]; clear its cores */
            int64_t y = c / l->core_grid[1];
            int64_t x = c % l->core_grid[1];
            int64_t width = 1, height = 1;
            while (x + width < l->core_grid[1] && launched[y * l->core_grid[1] + x + width]) width++;
            while (row_has(launched, l, y + height, x, width)) height++;
            for (int64_t i = 0; i < height; i++)
                for (int64_t k = 0; k < width; k++) launched[(y + i) * l->core_grid[1] + x + k] = 0;
            ranges[(*count)++] = (struct lx_core_range){y, x, height, width};
        }
    return ranges;
}
