/* lxplan plan --stage launch: how each op of the plan is started on the cores. */
#include "stages/plan_stages.h"
#include "base/fail.h"
#include "planning/planning.h"
#include "text/gathered.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>

static bool read_order(struct call *call, struct lx_launch_options *how)
{
    const char *word = option_value(&call->line, "order");
    *how = (struct lx_launch_options){.order = LX_ROW_MAJOR};
    if (!word) return true;
    how->order = lx_tile_order_find(word);
    if (how->order != LX_TILE_ORDERS) return true;
    struct text known = {0};
    for (int i = 0; i < LX_TILE_ORDERS; i++)
        text_format(&known, "%s%s", i ? ", " : "", lx_tile_order_word((enum lx_tile_order)i));
    status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no tile order \"%.40s\"; there are: %s", word,
               known.at ? known.at : "");
    text_free(&known);
    return false;
}

static void tile_range(const struct lx_launch *l, int64_t *least, int64_t *most)
{
    *least = INT64_MAX;
    *most = 0;
    for (int32_t i = 0; i < l->core_count; i++) {
        if (l->cores[i].count < *least) *least = l->cores[i].count;
        if (l->cores[i].count > *most) *most = l->cores[i].count;
    }
}

static void add_arguments(const struct lx_launch *l, struct gathered *t)
{
    int64_t values[LX_LAUNCH_ARGS];
    struct text line = {0};
    lx_launch_args(l, &l->cores[0], values);
    for (int i = 0; i < lx_launch_arg_count(l); i++)
        text_format(&line, "%s%s=%" PRId64, i ? " " : "", lx_launch_arg_name(i), values[i]);
    gathered_words(t, PAINT_DIM, line.at ? line.at : "");
    t->failed |= line.failed;
    text_free(&line);
}

static void add_row(const struct lx_plan *p, const struct lx_op_launch *o, struct gathered *t)
{
    const struct lx_launch *l = o->launch;
    const struct lx_op *op = &p->layouts->graph->ops[o->op];
    int64_t least, most;
    gathered_cell(t, PAINT_DIM, "%d", (int)o->op);
    gathered_name(t, op->name);
    gathered_cell(t, PAINT_PLAIN, "%s", op->kind->name);
    if (o->kind != LX_LAUNCH_TILES) {
        gathered_cell(t, PAINT_DIM, "%s", lx_launch_kind_word(o->kind));
        for (int i = 0; i < 7; i++) gathered_cell(t, PAINT_PLAIN, "%s", "");
        gathered_words(t, PAINT_DIM, o->why);
        return;
    }
    bool local = l->mode == LX_PARTITION_LOCAL_SHARD;
    tile_range(l, &least, &most);
    gathered_cell(t, local ? PAINT_GOOD : PAINT_PLAIN, "%s", lx_partition_word(l->mode));
    gathered_cell(t, PAINT_PLAIN, "%lld x %lld x %lld", (long long)l->batch, (long long)l->mt,
                  (long long)l->nt);
    gathered_cell(t, PAINT_PLAIN, "%lld x %lld", (long long)l->core_grid[0], (long long)l->core_grid[1]);
    gathered_cell(t, o->k_slices > 1 ? PAINT_PLAIN : PAINT_DIM, "%lld", (long long)o->k_slices);
    if (least == most)
        gathered_cell(t, PAINT_PLAIN, "%s", grouped(most).at);
    else
        gathered_cell(t, PAINT_PLAIN, "%s..%s", grouped(least).at, grouped(most).at);
    gathered_cell(t, PAINT_PLAIN, "%s", lx_tile_order_word(l->order));
    if (local)
        gathered_cell(t, PAINT_PLAIN, "%lld x %lld", (long long)o->local[0], (long long)o->local[1]);
    else
        gathered_cell(t, PAINT_PLAIN, "%s", "");
    add_arguments(l, t);
    gathered_words(t, PAINT_DIM, o->why ? o->why : "");
}

static void add_pair(struct text *t, const char *key, const int64_t *pair)
{
    text_format(t, ", \"%s\": [%" PRId64 ", %" PRId64 "]", key, pair[0], pair[1]);
}

/* Per core of the device what it runs: its place in the launch and its part of a split sum. */
static void add_cores(const struct lx_plan *p, const struct lx_op_launch *o, struct text *t)
{
    text_add(t, ",\n   \"device_cores\": [");
    for (int64_t c = 0, n = 0; c < p->divisions->cores; c++) {
        int64_t slice;
        const struct lx_launch_core *core = lx_op_launch_core(o, p->divisions, c, &slice);
        if (!core) continue;
        text_format(t,
                    "%s{\"core\": %" PRId64 ", \"launch\": [%d, %d], \"k_slice\": %" PRId64
                    ", \"tiles\": %" PRId64 "}",
                    n++ ? ", " : "", c, core->y, core->x, slice, core->count);
    }
    text_add(t, "]");
}

static void add_json(const struct lx_plan *p, const struct lx_op_launch *o, struct text *t)
{
    const struct lx_op *op = &p->layouts->graph->ops[o->op];
    text_format(t, "%s\n  {\"tick\": %d, \"op\": ", o->op ? "," : "", (int)o->op);
    text_json_string(t, op->name);
    text_format(t, ", \"kind\": \"%s\", \"launch\": \"%s\", \"why\": ", op->kind->name,
                lx_launch_kind_word(o->kind));
    if (o->why)
        text_json_string(t, o->why);
    else
        text_add(t, "null");
    if (o->launch) {
        text_format(t, ",\n   \"rows\": %" PRId64 ", \"columns\": %" PRId64 ", \"k_slices\": %" PRId64,
                    o->rows, o->columns, o->k_slices);
        add_pair(t, "tile", o->tile);
        add_pair(t, "local_shape", o->local);
        add_cores(p, o, t);
        size_t length = 0;
        char *json = lx_launch_to_json(o->launch, &length);
        text_add(t, ",\n   \"runtime_plan\": ");
        if (json)
            text_add_n(t, json, length - 1); /* without the newline */
        else
            t->failed = true;
        free(json);
    }
    text_add(t, "}");
}

static bool write_launches(struct call *call, const struct lx_plan *p, const struct lx_launch_options *how,
                           struct text *out)
{
    static const struct heading columns[] = {{"tick", true},     {"op", false},          {"kind", false},
                                             {"mode", false},    {"grid, tiles", true},  {"cores", true},
                                             {"K slices", true}, {"tiles a core", true}, {"order", false},
                                             {"a part", true},   {"first core", false},  {"why", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    const struct lx_graph *g = p->layouts->graph;
    bool ok = true;
    if (wants_json(call)) {
        text_add(out, "{\"lxplan\": 1, \"kind\": \"launches\", \"pattern\": ");
        text_json_string(out, p->graph->name);
        text_add(out, ", \"ops\": [");
    } else {
        text_format(out, "%s in tiles of %lld x %lld on up to %s\n", counted(g->op_count, "op").at,
                    (long long)g->device.tile_rows, (long long)g->device.tile_columns,
                    counted(p->divisions->cores, "core").at);
    }
    for (int32_t i = 0; ok && i < g->op_count; i++) {
        struct lx_op_launch *o = lx_plan_launch(p, i, how, &call->st);
        ok = o != NULL;
        if (ok && wants_json(call)) add_json(p, o, out);
        if (ok && !wants_json(call)) add_row(p, o, &t);
        lx_op_launch_free(o);
    }
    if (wants_json(call))
        text_add(out, "\n]}\n");
    else
        gathered_write(&t, out);
    return ok;
}

int print_launch(struct call *call, const struct lx_graph *g)
{
    struct lx_launch_options how;
    struct lx_plan *p = read_order(call, &how) ? make_plan(call, g) : NULL;
    struct text t = {0};
    if (!p) return FAILED;
    if (goes_to_file(call)) paint_off();
    bool ok = p->layouts != NULL;
    if (!ok) status_set(&call->st, LX_E_USAGE, "a bare list of buffers has no ops, so nothing to launch");
    ok = ok && write_launches(call, p, &how, &t);
    lx_plan_free(p);
    if (t.failed || !ok) text_free(&t);
    return ok && deliver(call, t.at, t.length) ? EXIT_YES : FAILED;
}

bool try_launches(struct call *call, const struct lx_graph *g)
{
    struct lx_plan *p = make_plan(call, g);
    bool ok = p != NULL;
    for (int32_t i = 0; ok && p->layouts && i < p->layouts->graph->op_count; i++) {
        struct lx_op_launch *o = lx_plan_launch(p, i, NULL, &call->st);
        ok = o != NULL;
        lx_op_launch_free(o);
    }
    lx_plan_free(p);
    return ok;
}
