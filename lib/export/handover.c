/* A plan for code generation, as JSON: tensors with their places in HBM, loops of nests, kernels with their
 * arguments, and per op its splits, its copies and where each core finds each operand.
 *
 * Tensors, ops, nests and kernels are numbered by their position in the lists. A value that all cores of an
 * op share is one number instead of a list. lib/files.md has the schema. */
#include "export/export_rows.h"
#include "export/plan_words.h"
#include "device/memory/stick_box.h"

/* An op, and the start of its operands for each core. */
struct op_starts {
    const struct lx_plan *plan;
    int32_t op;
    struct op_index x;          /* of its tile, if in a nest */
    const struct lx_nest *nest; /* NULL: in none */
    const struct lx_op_launch *launch;
};

/* Where an operand of an op begins for a core: the address of the first stick that the core touches in its
 * first turn. In LX the part of the core is stored row by row from the buffer's address on; in HBM the
 * whole tensor. The parts are the device's (device/memory/stick_box.h). All loops of the nest are at their
 * first index, but `moved` is at its second (-1: none is). */

/* The first index of host dimension h touched; -1: none. The input of a window begins at the first tap of the
 * first output. */
static int64_t handover_first_index(const struct op_starts *x, const struct lx_layout *l, int operand, int h,
                                    const struct lx_launch_piece *piece)
{
    int v = x->x.var[operand][h];
    int64_t offset = op_index_offset(&x->x, operand, h), stride = op_index_stride(&x->x, operand, h),
            from = piece->from[v];
    for (int w = x->x.window_count; w-- > 0;) {
        const struct lx_window *one = &x->x.windows[w];
        if (one->in != v) continue;
        int64_t at = one->stride * piece->from[one->out] + one->dilation * piece->from[one->tap] - one->pad;
        from = at <= 0 ? 0 : ceil_div_i64(at, one->hole > 0 ? one->hole : 1);
    }
    if (offset + stride * from < 0 && stride > 0) from = ceil_div_i64(-offset, stride);
    int64_t index = offset + stride * from;
    return from < piece->to[v] && index >= 0 && index < l->host_shape[h] ? index : -1;
}

static int64_t handover_start(const struct op_starts *x, int operand, int64_t core, int moved)
{
    const struct lx_plan *p = x->plan;
    int32_t tensor = p->accesses[p->access_at[x->op] + operand].tensor;
    int32_t stay = lx_plan_place(p, x->op, operand);
    const struct lx_layout *l = &p->layouts->layouts[tensor];
    int64_t base = stay >= 0 ? p->answer.address[stay] : p->hbm_address[tensor];
    int64_t position[LX_MAX_DEVICE_RANK]; /* of the first stick on the device */
    const struct lx_launch *launch = x->launch->launch;
    struct lx_launch_piece piece; /* values of each variable in the core's first turn */
    if (l->rank == 0 || operand >= x->x.operand_count || !x->x.known || !launch ||
        !lx_op_launch_piece(x->launch, &x->x, core, 0, &piece))
        return base;
    int v = moved >= 0 && moved < launch->level_count ? launch->level[moved].var : -1;
    if (v >= 0 && v < x->x.var_count) {
        piece.from[v] += launch->level[moved].step;
        piece.to[v] += launch->level[moved].step;
    }
    for (int k = 0; k + 1 < l->rank; k++) {
        int64_t index = l->host_dim[k] < 0 ? 0 : handover_first_index(x, l, operand, l->host_dim[k], &piece);
        if (index < 0) return -1;
        position[k] = index / max_i64(l->step[k], 1);
    }
    struct box b = box_whole(l);
    if (stay >= 0) { /* the core's part of the buffer */
        const struct lx_stay *s = &p->stays[stay];
        struct lx_core_view view = lx_division_held(p->divisions, s->view_op, s->view_operand, s->hold);
        int32_t nest = moved >= 0 && moved < s->hold ? nest_of_op(p->nests, p->nest_count, s->view_op) : -1;
        int64_t begin[LX_MAX_DEVICE_RANK] = {0};
        int dim = nest >= 0 ? nest_tensor_of(p->layouts, &p->nests[nest], tensor).dim[moved] : -1;
        for (int k = 0; dim >= 0 && k + 1 < l->rank; k++)
            if (l->host_dim[k] == dim) begin[k] = l->size[k] / max_i64(view.tiles[k], 1);
        b = box_of_slice(l, &view, begin, core);
    }
    int64_t stick = box_stick(&b, position);
    return stick < 0 ? base : base + stick * l->stick_bytes;
}

/* Writes a kernel with its tensors in HBM, its arguments, and the tensors it touches only on chip, which are
 * dropped. `how`: room for a byte per tensor. */
static void handover_add_kernel(const struct lx_plan *p, const struct lx_bundle *b, signed char *how,
                                struct text *out)
{
    enum { UNTOUCHED, ON_CHIP, IN_HBM };
    int32_t tensors = p->layouts->graph->tensor_count;
    for (int32_t t = 0; t < tensors; t++) how[t] = UNTOUCHED;
    for (int32_t a = p->access_at[b->first]; a < p->access_at[b->first + b->count]; a++) {
        const struct lx_access *x = &p->accesses[a];
        if (x->stay < 0 || p->answer.address[x->stay] < 0)
            how[x->tensor] = IN_HBM;
        else if (how[x->tensor] == UNTOUCHED)
            how[x->tensor] = ON_CHIP;
    }
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        if (lx_through_hbm(x->kind) && x->tick >= b->first && x->tick < b->first + b->count)
            how[p->stays[x->stay].tensor] = IN_HBM;
    }
    text_format(out, "    {\"first\": %d, \"last\": %d, \"runs\": \"%s\"", (int)b->first,
                (int)(b->first + b->count - 1), b->is_extern ? "host" : "device");
    if (b->non_terminal) text_add(out, ", \"non_terminal\": true");
    for (int wanted = IN_HBM; wanted >= ON_CHIP; wanted--) {
        const char *between = "";
        text_add(out, wanted == IN_HBM ? ", \"arguments\": [" : ", \"fall_away\": [");
        for (int32_t t = 0; t < tensors; t++) {
            if (how[t] != wanted) continue;
            text_format(out, "%s%d", between, (int)t);
            between = ", ";
        }
        text_add(out, "]");
    }
}

/* Writes copies of the tick, before or after the op. */
static void handover_add_copies(const struct lx_plan *p, int32_t op, bool behind, struct text *out)
{
    const char *between = "";
    text_add(out, behind ? ",\n     \"after\": [" : ",\n     \"before\": [");
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        if (x->tick != op || (x->kind == LX_STORE) != behind) continue;
        text_format(out, "%s{\"copy\": \"%s\", \"tensor\": %d, \"lx\": %" PRId64, between,
                    lx_transfer_word(x->kind), (int)p->stays[x->stay].tensor, p->answer.address[x->stay]);
        if (x->source >= 0) text_format(out, ", \"from\": %" PRId64, p->answer.address[x->source]);
        if (lx_through_hbm(x->kind))
            text_format(out, ", \"hbm\": %" PRId64, p->hbm_address[p->stays[x->stay].tensor]);
        if (lx_stages(&p->stays[x->stay]) > 1) text_format(out, ", \"stages\": %d", p->stays[x->stay].stages);
        if (x->ahead > 0) text_format(out, ", \"issue\": %d", (int)lx_issue_tick(x));
        if (p->stays[x->stay].hold) text_format(out, ", \"hold\": %d", p->stays[x->stay].hold);
        text_format(out, ", \"bytes\": %" PRId64 "}", x->bytes);
        between = ", ";
    }
    text_add(out, "]");
}

struct op_cores {
    int64_t *at, *start, *moved; /* per working core: its number, and two addresses */
    int64_t count;
};

/* One number if all cores agree, else one per core. */
static void handover_add_per_core(const int64_t *values, int64_t count, struct text *out)
{
    bool alike = true;
    for (int64_t c = 1; c < count; c++) alike &= values[c] == values[0];
    if (alike && count > 0) {
        text_format(out, "%" PRId64, values[0]);
        return;
    }
    text_add(out, "[");
    for (int64_t c = 0; c < count; c++) text_format(out, c ? ", %" PRId64 : "%" PRId64, values[c]);
    text_add(out, "]");
}

static void handover_add_operand(const struct op_starts *x, int operand, const struct op_cores *cores,
                                 struct text *out)
{
    const struct lx_plan *p = x->plan;
    const struct lx_access *a = &p->accesses[p->access_at[x->op] + operand];
    int32_t stay = lx_plan_place(p, x->op, operand);
    text_format(out, "\n      {\"tensor\": %d, \"use\": \"%s\", \"memory\": \"%s\"", (int)a->tensor,
                a->reads && a->writes ? "update"
                : a->writes           ? "write"
                                      : "read",
                stay >= 0 ? "lx" : "hbm");
    if (stay >= 0)
        text_format(out, ", \"address\": %" PRId64 ", \"bytes\": %" PRId64, p->answer.address[stay],
                    p->problem.buffers[stay].size);
    if (stay >= 0 && p->took_slot_of[stay] >= 0 && p->problem.buffers[stay].start == x->op)
        text_format(out, ", \"in_place_of\": %d", (int)p->stays[p->took_slot_of[stay]].tensor);
    for (int64_t c = 0; c < cores->count; c++) cores->start[c] = handover_start(x, operand, cores->at[c], -1);
    text_add(out, ", \"start\": ");
    handover_add_per_core(cores->start, cores->count, out);
    /* Offsets of the start per step of each loop. */
    if (x->nest) {
        text_add(out, ", \"steps\": [");
        for (int l = 0; l < x->nest->level_count; l++) {
            for (int64_t c = 0; c < cores->count; c++)
                cores->moved[c] = handover_start(x, operand, cores->at[c], l) - cores->start[c];
            if (l) text_add(out, ", ");
            handover_add_per_core(cores->moved, cores->count, out);
        }
        text_add(out, "]");
    }
    text_add(out, "}");
}

static void handover_add_op(const struct lx_plan *p, int32_t op, int32_t kernel, const struct op_cores *room,
                            struct text *out)
{
    const struct lx_graph *g = p->layouts->graph;
    struct op_starts x = {.plan = p, .op = op, .launch = &p->launches[op]};
    int32_t nest = nest_of_op(p->nests, p->nest_count, op);
    if (nest >= 0) x.nest = &p->nests[nest];
    op_index_of(g, &g->ops[op], &x.x);
    nest_tile_index(p->nests, p->nest_count, op, &x.x);
    struct op_cores cores = *room;
    text_add(out, "    {\"name\": ");
    text_json_string(out, g->ops[op].name);
    text_format(out, ", \"kind\": \"%s\"", g->ops[op].kind->name);
    if (g->ops[op].einsum) {
        text_add(out, ", \"einsum\": ");
        text_json_string(out, g->ops[op].einsum);
    }
    text_format(out, ", \"kernel\": %d", (int)kernel);
    if (x.nest) text_format(out, ", \"nest\": %d", (int)(x.nest - p->nests));
    /* Lists the working cores in order. */
    int64_t device = x.plan->graph->device.cores;
    cores.count = 0;
    for (int64_t c = 0; c < device; c++)
        if (x.launch->launch ? lx_op_launch_turns(x.launch, c) > 0 : c == 0) cores.at[cores.count++] = c;
    text_format(out, ", \"launch\": \"%s\"", lx_launch_kind_word(x.launch->kind));
    if (x.launch->launch) text_format(out, ", \"mode\": \"%s\"", lx_partition_word(x.launch->launch->mode));
    text_json_ints(out, "cores", cores.at, (int)cores.count);
    text_add(out, ",\n     \"splits\": [");
    for (int k = 0; k < p->divisions->at[op].split_count; k++) {
        const struct lx_split *s = &p->divisions->at[op].splits[k];
        text_format(out,
                    "%s{\"variable\": \"%c\", \"extent\": %" PRId64 ", \"slices\": %" PRId64
                    ", \"per_core\": %" PRId64 ", \"stride\": %" PRId64 ", \"tiles\": %" PRId64
                    ", \"summed\": %s}",
                    k ? ", " : "", s->letter, s->extent, s->split, s->per_core,
                    lx_division_stride(&p->divisions->at[op], k), s->tiles, s->is_summed ? "true" : "false");
    }
    text_add(out, "],\n     ");
    add_parts_json(p, op, out);
    handover_add_copies(p, op, false, out);
    text_add(out, ",\n     \"operands\": [");
    for (int k = 0; k < p->access_at[op + 1] - p->access_at[op]; k++) {
        if (k) text_add(out, ",");
        handover_add_operand(&x, k, &cores, out);
    }
    text_add(out, "]");
    handover_add_copies(p, op, true, out);
    text_add(out, op + 1 < g->op_count ? "},\n" : "}\n");
}

static void handover_add_all(const struct lx_plan *p, const struct op_cores *cores, signed char *how,
                             struct text *out)
{
    const struct lx_graph *g = p->layouts->graph;
    const struct lx_device *d = &p->graph->device;
    text_add(out, "{\n  \"lxplan\": 1,\n  \"kind\": \"handover\",\n  \"pattern\": ");
    text_json_string(out, p->graph->name ? p->graph->name : "");
    text_format(out,
                ",\n  \"pattern_hash\": \"%016" PRIx64
                "\",\n  \"device\": {\"preset\": \"%s\", \"cores\": %" PRId64 ", \"stick_bytes\": %" PRId64
                ", \"lx_bytes\": %" PRId64 "},\n  \"segment_bytes\": %" PRId64 ",\n",
                p->graph->hash, d->preset, d->cores, d->stick_bytes, p->problem.capacity, p->segment_bytes);
    text_add(out, "  \"tensors\": [\n");
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_tensor *x = &g->tensors[t];
        const struct lx_layout *l = &p->layouts->layouts[t];
        text_add(out, "    {\"name\": ");
        text_json_string(out, x->name);
        text_format(out, ", \"role\": \"%s\", \"dtype\": \"%s\", \"bytes\": %" PRId64, lx_role_word(x->role),
                    lx_dtype_word(x->dtype), l->rank ? lx_layout_bytes(l) : x->bytes);
        if (x->rank >= 0) text_json_ints(out, "shape", x->shape, x->rank);
        if (l->rank) text_json_ints(out, "device_shape", l->size, l->rank);
        if (l->rank) {
            int64_t of[LX_MAX_DEVICE_RANK];
            for (int k = 0; k < l->rank; k++) of[k] = l->host_dim[k];
            text_json_ints(out, "device_dims", of, l->rank);
        }
        if (p->hbm_address[t] >= 0) text_format(out, ", \"hbm\": %" PRId64, p->hbm_address[t]);
        text_add(out, t + 1 < g->tensor_count ? "},\n" : "}\n");
    }
    text_add(out, "  ],\n  \"nests\": [\n");
    for (int32_t n = 0; n < p->nest_count; n++) {
        const struct lx_nest *x = &p->nests[n];
        text_format(out, "    {\"first\": %d, \"last\": %d", (int)x->first, (int)x->last);
        text_json_ints(out, "tiles", x->tiles, x->level_count);
        text_add(out, n + 1 < p->nest_count ? "},\n" : "}\n");
    }
    text_add(out, "  ],\n  \"kernels\": [\n");
    for (int32_t k = 0; k < p->bundle_count; k++) {
        handover_add_kernel(p, &p->bundles[k], how, out);
        text_add(out, k + 1 < p->bundle_count ? "},\n" : "}\n");
    }
    text_add(out, "  ],\n  \"syncs\": [\n");
    for (int32_t i = 0; i < p->sync_count; i++)
        text_format(out, "    {\"before\": %d, \"in_loop\": %s}%s\n", (int)p->syncs[i].before,
                    p->syncs[i].in_loop ? "true" : "false", i + 1 < p->sync_count ? "," : "");
    text_add(out, "  ],\n  \"ops\": [\n");
    for (int32_t k = 0; k < p->bundle_count; k++)
        for (int32_t o = p->bundles[k].first; o < p->bundles[k].first + p->bundles[k].count; o++)
            handover_add_op(p, o, k, cores, out);
    text_add(out, "  ]\n}\n");
}

bool handover_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    (void)other;
    if (!p->layouts)
        return status_set(st, LX_E_UNSUPPORTED,
                          "a list of buffers has no ops to hand over; plan a pattern with tensors and ops");
    size_t n = (size_t)p->graph->device.cores + 1;
    struct op_cores cores = {mem_zeroed(n, sizeof(int64_t)), mem_zeroed(n, sizeof(int64_t)),
                             mem_zeroed(n, sizeof(int64_t)), 0};
    signed char *how = mem_zeroed((size_t)p->layouts->graph->tensor_count + 1, 1);
    handover_add_all(p, &cores, how, out);
    mem_free(cores.at);
    mem_free(cores.start);
    mem_free(cores.moved);
    mem_free(how);
    return true;
}
