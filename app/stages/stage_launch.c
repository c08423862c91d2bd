/* lxplan plan --stage launch: how each op of the plan is started on the cores. */
#include "stages/stages.h"
#include "export/plan_words.h"
#include "text/table.h"

/* One op and its launch; without tiles only mode and why say something. */
struct launch_row {
    const struct lx_op *op;
    const struct lx_op_launch *launch;
};

static bool stage_launch_has_tiles(const struct launch_row *row)
{
    return row->launch->kind == LX_LAUNCH_TILES;
}

static bool is_local(const struct launch_row *row)
{
    return stage_launch_has_tiles(row) && row->launch->launch->mode == LX_PARTITION_LOCAL_SHARD;
}

static void arguments_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct launch_row *row = row_of_table;
    const struct lx_launch *l = row->launch->launch;
    int64_t values[LX_LAUNCH_ARGS];
    (void)column;
    v->paint = PAINT_DIM;
    if (!stage_launch_has_tiles(row)) return;
    lx_launch_args(l, &l->cores[0], values);
    for (int i = 0; i < lx_launch_arg_count(l); i++)
        value_format(v, "%s%s=%" PRId64, i ? " " : "", lx_launch_arg_name(i), values[i]);
}

/* clang-format off */
VALUE_OF(stage_launch_tiles_value, struct launch_row,
    int64_t least = INT64_MAX, most = 0;
    if (!stage_launch_has_tiles(row)) return;
    for (int32_t i = 0; i < row->launch->launch->core_count; i++) {
        int64_t n = row->launch->launch->cores[i].count;
        if (n < least) least = n;
        if (n > most) most = n;
    }
    if (least < most) value_format(v, "%s..", grouped(least).at);
    value_format(v, "%s", grouped(most).at);)
VALUE_OF(slices_value, struct launch_row,
    v->paint = row->launch->k_slices > 1 ? PAINT_PLAIN : PAINT_DIM;
    if (stage_launch_has_tiles(row))
        value_whole(v, row->launch->k_slices);
    else
        v->words = "";)
/* The largest part of a core, per output dimension. */
VALUE_OF(part_value, struct launch_row,
    for (int d = 0; is_local(row) && d < row->launch->rank; d++)
        value_format(v, "%s%lld", d ? " x " : "", (long long)row->launch->dim[d].part);)
VALUE_OF(grid_value, struct launch_row,
    const struct lx_launch *l = row->launch->launch;
    if (stage_launch_has_tiles(row))
        value_format(v, "%lld x %lld x %lld", (long long)l->batch, (long long)l->mt, (long long)l->nt);)
VALUE_OF(mode_value, struct launch_row,
    v->paint = !stage_launch_has_tiles(row) ? PAINT_DIM : is_local(row) ? PAINT_GOOD : PAINT_PLAIN;
    v->words = stage_launch_has_tiles(row) ? lx_partition_word(row->launch->launch->mode)
                                           : lx_launch_kind_word(row->launch->kind);)
VALUE_OF(kind_value,  struct launch_row, v->words = row->op->kind->name;)
VALUE_OF(cores_value, struct launch_row, if (stage_launch_has_tiles(row)) value_whole(v, row->launch->launch->core_count); else v->words = "";)
VALUE_OF(order_value, struct launch_row, v->words = stage_launch_has_tiles(row) ? lx_tile_order_word(row->launch->launch->order) : "";)

static const struct column launch_array[] = {
    {.key = "tick",           .heading = "tick",         .kind = VALUE_NUMBER, .flags = COLUMN_DIM, VIA(struct launch_row, launch, op)},
    {.key = "op",             .heading = "op",           .kind = VALUE_NAME,   VIA(struct launch_row, op, name)},
    {.key = "kind",           .heading = "kind",         .kind = VALUE_WORDS,  .value = kind_value},
    {.key = "mode",           .heading = "mode",         .kind = VALUE_WORDS,  .value = mode_value},
    {.key = "grid",           .heading = "grid, tiles",  .kind = VALUE_MARK,   .value = grid_value},
    {.key = "cores",          .heading = "cores",        .kind = VALUE_NUMBER,   .value = cores_value},
    {.key = "k_slices",       .heading = "K slices",     .kind = VALUE_NUMBER, .value = slices_value},
    {.key = "tiles_per_core", .heading = "tiles per core", .kind = VALUE_MARK,   .value = stage_launch_tiles_value},
    {.key = "order",          .heading = "order",        .kind = VALUE_WORDS,  .value = order_value},
    {.key = "local_shape",    .heading = "a part",       .kind = VALUE_MARK,   .value = part_value},
    {.key = "first_core",     .heading = "first core",   .kind = VALUE_WORDS,  .value = arguments_value},
    {.key = "why",            .heading = "why",          .kind = VALUE_WORDS,  .flags = COLUMN_DIM, VIA(struct launch_row, launch, why)},
};
/* clang-format on */

const struct columns launch_columns = COLUMNS("launches", launch_array);

/* [from, to) per output dimension. */
static void stage_launch_add_piece(struct text *t, const char *key, const struct lx_op_launch *o,
                                   int64_t core, int64_t turn)
{
    int64_t from[LX_MAX_RANK], to[LX_MAX_RANK];
    if (!lx_op_launch_box(o, core, turn, from, to)) return;
    text_format(t, ", \"%s\": [", key);
    for (int d = 0; d < o->rank; d++)
        text_format(t, "%s[%" PRId64 ", %" PRId64 "]", d ? ", " : "", from[d], to[d]);
    text_add(t, "]");
}

static void stage_launch_add_json(const struct lx_plan *p, const struct lx_op_launch *o, struct text *t)
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
        text_add(t, ",\n   ");
        add_parts_json(p, o->op, t);
        text_add(t, ",\n   \"dims\": [");
        for (int d = 0; d < o->rank; d++)
            text_format(t,
                        "%s{\"extent\": %" PRId64 ", \"tile\": %" PRId64 ", \"parts\": %" PRId64
                        ", \"part\": %" PRId64 "}",
                        d ? ", " : "", o->dim[d].extent, o->dim[d].side, o->dim[d].parts, o->dim[d].part);
        text_format(t, "], \"k_slices\": %" PRId64, o->k_slices);
        for (int64_t i = 0; i < o->tile_count; i++)
            text_format(t, "%s%" PRId64 "%s", i ? ", " : ", \"tiles\": [", o->tiles[i],
                        i + 1 < o->tile_count ? "" : "]");
        /* Per core of the device what it runs: its first and last piece, as its loop recovers them. */
        text_add(t, ",\n   \"device_cores\": [");
        for (int32_t i = 0; i < o->launch->core_count; i++) {
            const struct lx_launch_core *core = &o->launch->cores[i];
            int64_t turns = lx_op_launch_turns(o, core->core);
            text_format(t, "%s{\"core\": %d, \"at\": [%d, %d], \"k_slice\": %d, \"tiles\": %" PRId64,
                        i ? ", " : "", core->core, core->y, core->x, core->k_slice, turns);
            if (turns > 0) stage_launch_add_piece(t, "first", o, core->core, 0);
            if (turns > 1) stage_launch_add_piece(t, "last", o, core->core, turns - 1);
            text_add(t, "}");
        }
        text_add(t, "]");
        bool on_chip[LX_MAX_OPERANDS];
        size_t length = 0;
        for (int i = 0; i < op_operand_count(op); i++) on_chip[i] = lx_plan_place(p, o->op, i) >= 0;
        OWNED char *json = lx_op_launch_json(o, p->layouts->graph, on_chip, &length);
        text_add(t, ",\n   \"runtime_plan\": ");
        text_add_n(t, json, length - 1); /* without the newline */
    }
    text_add(t, "}");
}

/* Each op: ranges of cores, their arguments (all, or the first few), what their three programs do, and their
 * loop. */
static void write_loops(const struct lx_plan *p, const struct launch_row *rows, bool all, struct text *out)
{
    enum { FIRST = 4 };
    const struct lx_graph *g = p->layouts->graph;
    for (int32_t r = 0; r < g->op_count; r++) {
        const struct lx_launch *l = rows[r].launch->launch;
        if (!l) continue;
        text_add(out, "\n  ");
        add_printable(out, rows[r].op->name, NAME_COLUMNS);
        text_format(out, ": %s, %s\n", lx_partition_word(l->mode), lx_tile_order_word(l->order));
        int count;
        struct lx_core_range *at = lx_launch_ranges(l, &count);
        text_add(out, "    cores");
        for (int i = 0; i < count; i++)
            text_format(out, "%s [%" PRId64 ", %" PRId64 "]..[%" PRId64 ", %" PRId64 "]", i ? "," : "",
                        at[i].y, at[i].x, at[i].y + at[i].height - 1, at[i].x + at[i].width - 1);
        text_add(out, "\n");
        mem_free(at);
        for (int32_t c = 0; c < l->core_count && (all || c < FIRST); c++) {
            /* The arguments of a core: "core 3 [0, 3]: start_id 0 count 4 ...". */
            int64_t values[LX_LAUNCH_ARGS];
            lx_launch_args(rows[r].launch->launch, &l->cores[c], values);
            text_format(out, "    core %d [%d, %d]:", l->cores[c].core, l->cores[c].y, l->cores[c].x);
            for (int i = 0; i < lx_launch_arg_count(rows[r].launch->launch); i++)
                text_format(out, " %s=%" PRId64, lx_launch_arg_name(i), values[i]);
            if (rows[r].launch->k_slices > 1) text_format(out, " k_slice=%d", l->cores[c].k_slice);
            text_add(out, "\n");
        }
        if (!all && l->core_count > FIRST)
            text_format(out, "    and %s more (--all lists them)\n",
                        counted(l->core_count - FIRST, "core").at);
        add_part_lines(p, r, "    ", out);
        /* The loop, indented. */
        OWNED char *loop = lx_op_launch_loop(rows[r].launch, g);
        for (const char *line_at = loop; *line_at;) {
            size_t n = strcspn(line_at, "\n");
            OWNED char *line = mem_string_n(line_at, n);
            text_add(out, "    ");
            add_printable(out, line, 0);
            text_add(out, "\n");
            line_at += n + (line_at[n] == '\n');
        }
    }
}

/* The pieces of a core as its loop recovers them, "[0:32, 64:96]" each; the middle of many is left out. */
static void add_recovered(const struct lx_op_launch *o, int64_t core, struct text *out)
{
    enum { FIRST = 6, LAST = 2 };
    int64_t turns = lx_op_launch_turns(o, core), from[LX_MAX_RANK], to[LX_MAX_RANK];
    bool many = turns > FIRST + LAST + 1;
    for (int64_t i = 0; i < turns; i++) {
        if (many && i == FIRST) {
            text_add(out, " ...");
            i = turns - LAST;
        }
        if (!lx_op_launch_box(o, core, i, from, to)) continue;
        text_add(out, i ? " [" : ": [");
        for (int d = 0; d < o->rank; d++)
            text_format(out, "%s%" PRId64 ":%" PRId64, d ? ", " : "", from[d], to[d]);
        text_add(out, "]");
    }
}

bool write_launches(struct call *call, const struct lx_plan *p, struct text *out)
{
    const struct lx_graph *g = p->layouts->graph;
    OWNED struct launch_row *rows = mem_zeroed((size_t)g->op_count + 1, sizeof *rows);
    for (int32_t i = 0; i < g->op_count; i++) rows[i] = (struct launch_row){&g->ops[i], &p->launches[i]};
    if (wants_json(call)) {
        text_add(out, "{\"lxplan\": 1, \"kind\": \"launches\", \"pattern\": ");
        text_json_string(out, p->graph->name);
        text_add(out, ", \"ops\": [");
        for (int32_t i = 0; i < p->layouts->graph->op_count; i++)
            stage_launch_add_json(p, rows[i].launch, out);
        text_add(out, "\n]}\n");
    } else {
        bool own = p->launch.tile[0] > 0;
        text_format(out, "%s in tiles of %lld x %lld on up to %s\n", counted(g->op_count, "op").at,
                    (long long)(own ? p->launch.tile[0] : g->device.tile_rows),
                    (long long)(own ? p->launch.tile[1] : g->device.tile_columns),
                    counted(p->divisions->cores, "core").at);
        table_add_text(&TABLE(launch_columns, rows, g->op_count), out);
        write_loops(p, rows, option_given(&call->line, "all"), out);
        if (option_given(&call->line, "all")) {
            /* Each op with the pieces of each of its cores. */
            int32_t count = g->op_count;
            text_add(
                out,
                "\npieces of the output of each core [y, x], in the order in which its loop recovers them\n");
            for (int32_t r = 0; r < count; r++) {
                const struct lx_launch *l = rows[r].launch->launch;
                for (int32_t c = 0; l && c < l->core_count; c++) {
                    text_add(out, "  ");
                    add_printable(out, rows[r].op->name, NAME_COLUMNS);
                    text_format(out, " [%d, %d] %" PRId64, l->cores[c].y, l->cores[c].x, l->cores[c].count);
                    add_recovered(rows[r].launch, l->cores[c].core, out);
                    text_add(out, "\n");
                }
            }
        }
    }
    return true;
}
