/* Makes the records of a plan file from a plan. */
#include "planfile/plan_file.h"
#include "layout/stated_layouts.h"

static struct int_list pack_list(struct arena *memory, const int64_t *values, int32_t count)
{
    return (struct int_list){arena_copy_array(memory, values, (size_t)count, sizeof *values), count};
}

static struct int_list pack_int32s(struct arena *memory, const int32_t *values, int32_t count)
{
    struct int_list out = {arena_array(memory, (size_t)count, sizeof *out.at), count};
    for (int32_t i = 0; i < count; i++) out.at[i] = values[i];
    return out;
}

/* The value after rounding to the digits of a file. */
static double as_written(double x)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.*g", RECORD_REAL_DIGITS, x);
    return strtod(digits, NULL);
}

struct plan_root plan_pack_root(const struct lx_plan *p, char hash[20])
{
    struct lx_plan written = *p; /* with times rounded as in the file */
    written.figures.end_to_end_us = as_written(p->figures.end_to_end_us);
    written.figures.bound_us = as_written(p->figures.bound_us);
    double gap = lx_plan_gap(&written);
    snprintf(hash, 20, "%016" PRIx64, p->graph->hash);
    return (struct plan_root){.status = lx_verdict_word(p->answer.status),
                              .objective = p->asks_time  ? lx_ask_word(LX_ASK_TIME)
                                           : p->balanced ? lx_ask_word(LX_ASK_BALANCED)
                                                         : lx_objective_word(p->problem.objective),
                              .hbm_bytes = p->figures.hbm_bytes,
                              .baseline_hbm_bytes = p->figures.baseline_hbm_bytes,
                              .spill_bytes = p->figures.spill_bytes,
                              .height_bytes = p->figures.height_bytes,
                              .bound_bytes = p->figures.bound_bytes,
                              .gap = isfinite(gap) ? gap : (double)NAN,
                              .target_hbm_bytes = p->graph->target_hbm_bytes,
                              .meets_target = p->graph->target_hbm_bytes >= 0 && lx_plan_meets_target(p),
                              .capacity = p->problem.capacity,
                              .alignment = p->problem.alignment,
                              .pattern_hash = hash};
}

struct plan_solver plan_pack_solver(const struct lx_plan *p)
{
    return (struct plan_solver){.name = p->solver,
                                .seed = (int64_t)p->seed,
                                .work_limit = p->work_limit,
                                .options = p->options,
                                .steps = p->answer.steps,
                                .message = p->answer.message};
}

static struct int_list pack_cuts(const struct cut *cuts, int32_t count, struct arena *memory)
{
    int64_t *row = arena_array(memory, 2 * (size_t)count, sizeof *row);
    for (int32_t i = 0; i < count; i++) {
        row[2 * i] = cuts[i].tensor;
        row[2 * i + 1] = cuts[i].before;
    }
    return (struct int_list){row, 2 * count};
}

struct plan_graph plan_pack_graph(const struct lx_plan *p, struct arena *memory)
{
    const int64_t sides[] = {p->launch.tile[0], p->launch.tile[1], p->launch.inner[0], p->launch.inner[1]};
    int side_count = p->launch.inner[0] ? 4 : p->launch.tile[0] ? 2 : 0;
    struct plan_graph out = {.cores = p->divisions->cores,
                             .perfect_hbm_bytes = p->figures.perfect_hbm_bytes,
                             .ring_bytes = p->figures.ring_bytes,
                             .sync_times = p->figures.sync_times,
                             .device_us = p->figures.device_us,
                             .end_to_end_us = p->figures.end_to_end_us,
                             .bound_us = p->asks_time || p->balanced ? p->figures.bound_us : (double)NAN,
                             .pool_at = p->pool_at,
                             .pool_bytes = p->pool_bytes,
                             .segment_bytes = p->segment_bytes};
    /* Launch options that differ from their defaults. */
    if (p->launch.order != LX_ROW_MAJOR)
        out.tile_order = p->launch.order == LX_LISTED ? p->launch.by : lx_tile_order_word(p->launch.order);
    if (p->launch.share) out.tile_share = lx_share_word(p->launch.share);
    if (p->launch.assign) out.tile_assign = lx_assign_word(p->launch.assign);
    out.tile_sides = pack_list(memory, sides, side_count);
    const int64_t imported[] = {p->imported.ops, p->imported.mapped, p->imported.copies,
                                p->imported.copied_bytes, p->imported.must_bytes};
    out.imported = pack_list(memory, imported, p->imported.ops > 0 ? 5 : 0);
    int64_t *sync = arena_array(memory, 2 * (size_t)p->sync_count, sizeof *sync);
    for (int32_t i = 0; i < p->sync_count; i++) {
        sync[2 * i] = p->syncs[i].before;
        sync[2 * i + 1] = p->syncs[i].in_loop;
    }
    out.syncs = (struct int_list){sync, 2 * p->sync_count};
    out.cuts = pack_cuts(p->how->cuts, p->how->cut_count, memory);
    out.moves = pack_cuts(p->how->moves, p->how->move_count, memory);
    out.loaded = pack_cuts(p->how->loaded, p->how->loaded_count, memory);
    return out;
}

struct plan_tensor plan_pack_tensor(const struct lx_plan *p, int32_t i, struct arena *memory)
{
    const struct lx_layout *l = &p->layouts->layouts[i];
    const char *name = p->layouts->graph->tensors[i].name;
    const struct lx_tensor *origin = &p->graph->tensors[p->layouts->origin[i]];
    struct stated_tensor stated = {0};
    int64_t order[LX_MAX_RANK + 1];
    bool padded = false;
    layout_state(l, &stated);
    for (int d = 0; d < stated.order_count; d++) order[d] = stated.order[d];
    for (int d = 0; d < l->host_rank; d++) {
        padded |= stated.extents[d] > 0;
        if (!stated.extents[d]) stated.extents[d] = l->host_shape[d];
    }
    struct plan_tensor out = {.name = name,
                              .hbm = p->hbm_address[i],
                              .order = pack_list(memory, order, stated.order_count),
                              .extents = pack_list(memory, stated.extents, padded ? l->host_rank : 0)};
    if (strcmp(name, origin->name) != 0) out.of = origin->name;
    return out;
}

static struct int_list pack_splits(const struct lx_coeff_split *splits, int count, struct arena *memory)
{
    int64_t rows[2 * LX_MAX_RANK];
    for (int i = 0; i < count; i++) rows[2 * i] = splits[i].coefficient, rows[2 * i + 1] = splits[i].split;
    return pack_list(memory, rows, 2 * count);
}

struct plan_op plan_pack_op(const struct lx_plan *p, int32_t i, struct arena *memory)
{
    const struct lx_op *op = &p->layouts->graph->ops[i];
    const struct lx_op_traffic *x = &p->traffic[i];
    const struct lx_division *d = &p->divisions->at[i];
    struct lx_coeff_splits splits = {0};
    int64_t rows[4 * LX_MAX_OPERANDS], *row = rows;
    for (int32_t k = p->access_at[i]; k < p->access_at[i + 1]; k++) {
        const struct lx_access *a = &p->accesses[k];
        *row++ = a->stay, *row++ = a->reads, *row++ = a->writes, *row++ = a->bytes;
    }
    if (d->kind == LX_DIVIDED) lx_division_state(p->layouts, d, &splits);
    return (struct plan_op){.name = op->name,
                            .added = p->layouts->op_origin[i] < 0,
                            .output = op->output,
                            .stick_var = p->layouts->stick_var[i],
                            .front = splits.front ? splits.front : -1,
                            .cores = x->cores,
                            .hbm_read = x->hbm_read,
                            .hbm_written = x->hbm_written,
                            .ring = x->ring,
                            .reduce_ring = x->reduce_ring,
                            .lx_read = x->lx_read,
                            .lx_written = x->lx_written,
                            .device_us = x->device_us,
                            .end_to_end_us = x->end_to_end_us,
                            .inputs = pack_int32s(memory, op->inputs, op->input_count),
                            .further_outputs = pack_int32s(memory, op->outputs + 1, op->output_count - 1),
                            .output_splits = pack_splits(splits.output, splits.output_count, memory),
                            .reduction_splits = pack_splits(splits.reduction, splits.reduction_count, memory),
                            .accesses = pack_list(memory, rows, (int32_t)(row - rows))};
}

struct plan_nest plan_pack_nest(const struct lx_nest *n, struct arena *memory)
{
    int32_t ops = n->last - n->first + 1, levels = n->level_count;
    int64_t *vars = arena_array(memory, (size_t)ops * (size_t)levels, sizeof *vars);
    for (int32_t i = 0; i < ops * levels; i++) vars[i] = n->var[i / levels][i % levels];
    return (struct plan_nest){.first = n->first,
                              .last = n->last,
                              .vars = {vars, ops * levels},
                              .tiles = pack_list(memory, n->tiles, levels)};
}

struct plan_bundle plan_pack_bundle(const struct lx_plan *p, int32_t i)
{
    const struct lx_bundle *b = &p->bundles[i];
    return (struct plan_bundle){.first = b->first,
                                .non_terminal = b->non_terminal,
                                .tensors = b->tensors,
                                .operands = b->operands,
                                .cores = b->cores,
                                .device_us = b->device_us,
                                .end_to_end_us = b->end_to_end_us};
}

enum { CORE_FIELDS = 8, DIM_FIELDS = 4, SUM_FIELDS = 3 };

static int64_t *pack_rows(struct arena *memory, int32_t count, int width, struct int_list *out)
{
    int64_t *at = arena_array(memory, (size_t)count * (size_t)width, sizeof *at);
    *out = (struct int_list){at, count * width};
    return at;
}

static void pack_grid(const struct lx_op_launch *o, struct arena *memory, struct plan_launch *out)
{
    int64_t inner[LX_MAX_RANK];
    int64_t *row = pack_rows(memory, o->rank, DIM_FIELDS, &out->dims);
    for (int d = 0; d < o->rank; d++, row += DIM_FIELDS) {
        const int64_t values[DIM_FIELDS] = {o->dim[d].extent, o->dim[d].side, o->dim[d].parts,
                                            o->dim[d].part};
        inner[d] = o->dim[d].inner;
        memcpy(row, values, sizeof values);
    }
    row = pack_rows(memory, o->sum_count, SUM_FIELDS, &out->sums);
    for (int i = 0; i < o->sum_count; i++, row += SUM_FIELDS) {
        const int64_t values[SUM_FIELDS] = {o->sum[i].extent, o->sum[i].parts, o->sum[i].part};
        memcpy(row, values, sizeof values);
    }
    out->inner = pack_list(memory, inner, lx_op_launch_two_levels(o) ? o->rank : 0);
}

struct plan_launch plan_pack_launch(const struct lx_op_launch *o, struct arena *memory)
{
    const struct lx_launch *l = o->launch;
    struct plan_launch out = {.op = o->op, .kind = lx_launch_kind_word(o->kind), .why = o->why, .k_tile = -1};
    if (!l) return out;
    out.mode = lx_partition_word(l->mode);
    out.order = lx_tile_order_word(l->order);
    out.k_tile = o->k_tile;
    pack_grid(o, memory, &out);
    out.blocks = pack_list(memory, o->blocks, l->order == LX_BLOCK ? 2 : 0);
    out.tiles = pack_list(memory, o->tiles, (int)o->tile_count);
    out.core_grid = pack_list(memory, l->core_grid, 2);
    int64_t *row = pack_rows(memory, l->core_count, CORE_FIELDS, &out.cores);
    for (int32_t i = 0; i < l->core_count; i++, row += CORE_FIELDS) {
        const struct lx_launch_core *c = &l->cores[i];
        const int64_t values[CORE_FIELDS] = {c->core,  c->y,  c->x,  c->start,
                                             c->count, c->sy, c->sx, c->k_slice};
        memcpy(row, values, sizeof values);
    }
    return out;
}

struct plan_buffer plan_pack_buffer(const struct lx_plan *p, int32_t i, struct arena *memory)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    struct plan_buffer out = {
        .name = b->name,
        .size = b->size,
        .start = b->start,
        .end = b->end,
        .cost = p->stays && p->stays[i].cost_unstated ? -1 : b->spill_cost,
        .address = p->answer.address[i],
        .pool = p->problem.pool_count > 1 && p->answer.address[i] >= 0 ? p->answer.pool[i] : -1,
        .in_place_of = p->took_slot_of[i],
        .tensor = -1,
        .first = -1,
        .last = -1,
        .view_op = -1,
        .view_operand = -1,
        .stages = 1,
        .ring_source = -1,
        .moved_from = -1,
        .reason = p->reason[i],
        .parents = pack_int32s(memory, b->parents, b->parent_count)};
    if (!p->stays) return out;
    const struct lx_stay *s = &p->stays[i];
    out.tensor = s->tensor;
    out.first = s->first;
    out.last = s->last;
    out.view_op = s->view_op;
    out.view_operand = s->view_operand;
    out.ring_source = s->ring_source;
    out.moved_from = s->moved_from;
    out.hold = s->hold;
    out.stages = lx_stages(s);
    out.begins_written = s->begins_written;
    if (s->exclusion) out.bar = lx_exclusion_word(s->exclusion);
    return out;
}

struct plan_transfer plan_pack_transfer(const struct lx_plan *p, int32_t i)
{
    const struct lx_transfer *x = &p->transfers[i];
    return (struct plan_transfer){.kind = lx_transfer_word(x->kind),
                                  .tick = x->tick,
                                  .buffer = x->stay,
                                  .issue = x->ahead > 0 ? lx_issue_tick(x) : -1,
                                  .from = x->source,
                                  .bytes = x->bytes};
}

#define PLAN_FIELD(KIND, key, need, standing, width, absent, help)                                           \
    {#key, FIELD_##KIND, FIELD_##need, FIELD_##standing, width, absent, offsetof(struct CURRENT, key), help},

// clang-format off
#define CURRENT plan_root
static const struct field root_fields[] = {PLAN_ROOT_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_solver
static const struct field solver_fields[] = {PLAN_SOLVER_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_graph
static const struct field graph_fields[] = {PLAN_GRAPH_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_tensor
static const struct field tensor_fields[] = {PLAN_TENSOR_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_op
static const struct field op_fields[] = {PLAN_OP_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_nest
static const struct field nest_fields[] = {PLAN_NEST_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_bundle
static const struct field bundle_fields[] = {PLAN_BUNDLE_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_launch
static const struct field launch_fields[] = {PLAN_LAUNCH_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_transfer
static const struct field transfer_fields[] = {PLAN_TRANSFER_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_buffer
static const struct field buffer_fields[] = {PLAN_BUFFER_FIELDS(PLAN_FIELD)};
#undef CURRENT
// clang-format on

#define PLAN_SECTION(ID, name, what, heading)                                                                \
    {what, heading, name##_fields, sizeof name##_fields / sizeof *name##_fields, sizeof(struct plan_##name)},
const struct plan_section plan_sections[PLAN_SECTION_COUNT] = {PLAN_SECTIONS(PLAN_SECTION)};
