/* Where an op's operands are: the address of the first element of a core's part, and the steps along each
 * variable. Both are found by asking for the addresses of single elements, and held against the addresses
 * of the last ones, on every core, in the first and the last iteration. */
#include "emit/emission.h"
#include "device/reference/values.h"

struct box emit_stay_box(const struct emission *e, int32_t stay, int64_t core, int moved)
{
    const struct lx_plan *p = e->plan;
    const struct lx_stay *s = &p->stays[stay];
    const struct lx_layout *l = &p->layouts->layouts[s->tensor];
    struct lx_core_view view = lx_division_held(p->divisions, s->view_op, s->view_operand, s->hold);
    int32_t nest = nest_of_op(p->nests, p->nest_count, s->view_op);
    int64_t begin[LX_MAX_DEVICE_RANK] = {0};
    for (int level = 0; nest >= 0 && level < s->hold; level++) {
        int dim = nest_tensor_of(p->layouts, &p->nests[nest], s->tensor).dim[level];
        int64_t index = moved == level ? 1 : moved == LX_MAX_LEVELS ? p->nests[nest].tiles[level] - 1 : 0;
        for (int k = 0; dim >= 0 && k + 1 < l->rank; k++)
            if (l->host_dim[k] == dim) begin[k] += l->size[k] / max_i64(view.tiles[k], 1) * index;
    }
    return box_of_slice(l, &view, begin, core);
}

/* One operand on one core, in one iteration. */
struct place_view {
    const struct emission *e;
    const struct op_emission *o;
    const struct lx_layout *l;
    int operand;
    struct box box;
    int64_t address;             /* of the box */
    int64_t offset[LX_MAX_VARS]; /* of the tile */
};

/* The host index of dimension h at these values of the op's variables. */
static int64_t place_index(const struct place_view *v, int h, const int64_t *value)
{
    const struct op_index *x = &v->o->x;
    int var = x->var[v->operand][h];
    return op_index_offset(x, v->operand, h) +
           op_index_stride(x, v->operand, h) * (value[var] + v->offset[var]);
}

enum { NOWHERE = -1 };

/* The address of an element; NOWHERE: it is not in the core's part. */
static int64_t place_address(const struct place_view *v, const int64_t *value)
{
    const struct lx_layout *l = v->l;
    int64_t strides[LX_MAX_DEVICE_RANK], at = 0, last = l->rank - 1;
    int64_t item = number_types[l->dtype].bits / 8;
    box_strides(&v->box, strides);
    for (int h = 0; h < l->host_rank; h++) {
        int64_t index = place_index(v, h, value);
        if (index < 0 || index >= l->host_shape[h]) return NOWHERE;
        for (int k = 0; k < last; k++) {
            if (l->host_dim[k] != h) continue;
            int64_t local = box_local(&v->box, k, index / l->step[k]);
            if (local < 0) return NOWHERE;
            at += local * strides[k] * l->stick_bytes;
        }
        if (l->host_dim[last] == h) at += index % l->size[last] * item;
    }
    return v->address + at;
}

/* `moved`: the level of the nest at its second index; LX_MAX_LEVELS: all at their last; -1: none. */
static struct place_view place_view_of(const struct emission *e, const struct op_emission *o, int operand,
                                       int64_t core, int moved)
{
    const struct lx_plan *p = e->plan;
    int32_t tensor = op_operand(o->op, operand), stay = lx_plan_place(p, e->tick, operand);
    struct place_view v = {.e = e, .o = o, .l = &p->layouts->layouts[tensor], .operand = operand};
    if (e->trace_at >= 0) stay = -1;
    v.address = stay >= 0 ? p->answer.address[stay] : e->trace_at >= 0 ? e->trace_at : p->hbm_address[tensor];
    v.box = stay >= 0 ? emit_stay_box(e, stay, core, moved) : box_whole(v.l);
    const struct lx_launch *l = p->launches[e->tick].launch;
    for (int k = 0; e->nest && l && k < l->level_count; k++) {
        int64_t index = moved == k ? 1 : moved == LX_MAX_LEVELS ? e->nest->tiles[k] - 1 : 0;
        v.offset[l->level[k].var] += l->level[k].step * index;
    }
    return v;
}

/* --- the cores' parts --- */

/* [from, to) of each variable per core. */
struct op_parts {
    int64_t (*from)[LX_MAX_VARS], (*to)[LX_MAX_VARS];
    int64_t *group, *slot;
};

/* The tiles of a core's shard, of which it has a run in row-major order, as one box; false: they are none. */
static bool part_of_launch(const struct emission *e, const struct op_emission *o, int64_t core, int64_t turns,
                           int64_t *from, int64_t *to)
{
    const struct lx_op_launch *launch = &e->plan->launches[e->tick];
    struct lx_launch_piece first, last;
    int64_t tiles = 1;
    if (!lx_op_launch_piece(launch, &o->x, core, 0, &first) ||
        !lx_op_launch_piece(launch, &o->x, core, turns - 1, &last))
        return false;
    memcpy(from, first.from, sizeof first.from);
    memcpy(to, last.to, sizeof last.to);
    for (int d = 0; d < launch->rank; d++) {
        int v = o->x.var[o->x.output][d];
        tiles *= last.from[v] < from[v] ? 0 : ceil_div_i64(to[v] - from[v], launch->dim[d].side);
    }
    return tiles == lx_op_launch_core(launch, core)->count;
}

/* Ops with all operands in HBM are dealt out anew: contractions by their division. */
static void part_of_division(const struct emission *e, const struct op_emission *o, int64_t core,
                             int64_t *from, int64_t *to)
{
    const struct lx_division *d = &e->plan->divisions->at[e->tick];
    for (int v = 0; v < o->x.var_count; v++) {
        from[v] = 0;
        to[v] = o->x.extent[v];
        for (int s = 0; s < d->split_count; s++)
            if (d->splits[s].letter == o->x.letter[v]) lx_division_slice(d, s, core, &from[v], &to[v]);
    }
}

/* Numbers the groups by the parts of the sums, and the sums within a group. */
static void parts_group(const struct op_emission *o, struct op_parts *parts, int64_t workers)
{
    for (int64_t c = 0; c < workers; c++) {
        int64_t same = 0, before = 0;
        for (int64_t b = 0; b < c; b++) {
            bool sums = true, outs = true;
            for (int v = 0; v < o->x.var_count; v++) {
                bool equal = parts->from[b][v] == parts->from[c][v];
                *(op_index_summed(&o->x, v) ? &sums : &outs) &= equal;
            }
            same += outs;   /* cores before it with the same output */
            before += sums; /* and with the same terms */
        }
        parts->group[c] = same;
        parts->slot[c] = before;
    }
}

static bool parts_make(struct emission *e, struct op_emission *o)
{
    const struct lx_op_launch *launch = &e->plan->launches[e->tick];
    size_t cores = (size_t)e->cores;
    struct op_parts parts = {.from = arena_array(&e->memory, cores, sizeof *parts.from),
                             .to = arena_array(&e->memory, cores, sizeof *parts.to),
                             .group = arena_array(&e->memory, cores, sizeof *parts.group),
                             .slot = arena_array(&e->memory, cores, sizeof *parts.slot)};
    bool global = launch->launch->mode == LX_PARTITION_GLOBAL;
    o->groups = launch->k_slices;
    bool dealt = global && ((o->op->kind->traits & (LX_CONTRACTS | LX_CHOOSES)) || o->groups > 1);
    o->all_cores = global && !dealt;
    if (dealt) o->workers = e->plan->divisions->at[e->tick].cores_used;
    for (int64_t c = 0; c < e->cores; c++) {
        if (o->all_cores || dealt) {
            if (dealt && c < o->workers)
                part_of_division(e, o, c, parts.from[c], parts.to[c]);
            else
                for (int v = 0; v < o->x.var_count; v++) parts.to[c][v] = o->x.extent[v];
            continue;
        }
        int64_t turns = lx_op_launch_turns(launch, c);
        if (turns > 0 && o->workers < c) return emit_refuse(e, "cores without work stand before others");
        if (turns > 0 && !part_of_launch(e, o, c, turns, parts.from[c], parts.to[c]))
            return emit_refuse(e, "the tiles of core %d are no box", (int)c);
        if (turns > 0) o->workers = c + 1;
    }
    if (o->all_cores) o->workers = e->cores;
    if (o->groups > 1) parts_group(o, &parts, o->workers);
    o->group = core_number(e, parts.group, o->workers);
    o->slot = core_number(e, parts.slot, o->workers);
    int64_t *values = arena_array(&e->memory, cores, sizeof *values);
    for (int v = 0; v < o->x.var_count; v++) {
        for (int64_t c = 0; c < o->workers; c++) {
            values[c] = parts.to[c][v] - parts.from[c][v];
            o->most[v] = max_i64(o->most[v], values[c]);
            o->grain[v] = gcd_i64(o->grain[v], values[c]);
            if (values[c] < 1) return emit_refuse(e, "core %d has no part of %c", (int)c, o->x.letter[v]);
        }
        o->count[v] = core_number(e, values, o->workers);
    }
    e->parts = arena_array(&e->memory, 1, sizeof parts);
    *e->parts = parts;
    return true;
}

/* --- operands --- */

/* One number of an operand for all cores, by a function of its view. */
struct place_question {
    struct emission *e;
    const struct op_emission *o;
    int operand, var;
    int64_t ahead; /* the element's distance from the first along `var` */
};

/* The address of the first element, or of the one `ahead`; false: it is nowhere. */
static bool place_ask(const struct place_question *q, int64_t core, int moved, int64_t *address)
{
    struct place_view v = place_view_of(q->e, q->o, q->operand, core, moved);
    int64_t value[LX_MAX_VARS];
    memcpy(value, q->e->parts->from[core], sizeof value);
    if (q->var >= 0) value[q->var] += q->ahead;
    *address = place_address(&v, value);
    return *address != NOWHERE;
}

static bool place_nowhere(struct emission *e, int operand)
{
    return emit_refuse(e,
                       "it reads or writes elements of %s that are not in the core's part, or outside of it",
                       e->graph->tensors[op_operand(&e->graph->ops[e->tick], operand)].name);
}

/* The step along a variable on every core; NULL: refused. */
static const char *place_step(const struct place_question *q)
{
    struct emission *e = q->e;
    int64_t *values = arena_array(&e->memory, (size_t)e->cores, sizeof *values);
    for (int64_t c = 0; c < q->o->workers; c++) {
        struct place_question first = *q;
        int64_t a, b;
        first.var = -1;
        /* A narrower last part has no such element: its step is the others'. */
        bool there = e->parts->to[c][q->var] - e->parts->from[c][q->var] > q->ahead;
        if (!there) {
            values[c] = c ? values[c - 1] : 0;
            continue;
        }
        if (!place_ask(&first, c, -1, &a) || !place_ask(q, c, -1, &b))
            return place_nowhere(e, q->operand), NULL;
        values[c] = b - a;
    }
    return core_number(e, values, q->o->workers);
}

static int place_dim_of(const struct op_emission *o, int operand, int v)
{
    return op_index_dim(&o->x, operand, v);
}

/* Do the sticks of the operand begin with the part of every core, in every iteration, one element per
 * step? */
static bool place_begins_stick(const struct place_question *q, int h)
{
    const struct emission *e = q->e;
    if (op_index_stride(&q->o->x, q->operand, h) != 1) return false;
    for (int64_t c = 0; c < q->o->workers; c++)
        for (int moved = -1; moved <= LX_MAX_LEVELS; moved++) {
            if (moved >= 0 && moved < LX_MAX_LEVELS && (!e->nest || moved >= e->nest->level_count)) continue;
            struct place_view v = place_view_of(e, q->o, q->operand, c, moved);
            if (place_index(&v, h, e->parts->from[c]) % v.l->stick_elements != 0) return false;
        }
    return true;
}

/* The host index along the sticks of the first element, as an expression. */
static const char *place_first_index(const struct place_question *q, int h)
{
    struct emission *e = q->e;
    int64_t *first = arena_array(&e->memory, (size_t)e->cores, sizeof *first);
    int64_t *moved = arena_array(&e->memory, (size_t)e->cores, sizeof *moved);
    for (int64_t c = 0; c < q->o->workers; c++) {
        struct place_view v = place_view_of(e, q->o, q->operand, c, -1);
        first[c] = place_index(&v, h, e->parts->from[c]);
    }
    const char *sum = core_number(e, first, q->o->workers);
    for (int k = 0; e->nest && k < e->nest->level_count; k++) {
        for (int64_t c = 0; c < q->o->workers; c++) {
            struct place_view v = place_view_of(e, q->o, q->operand, c, k);
            moved[c] = place_index(&v, h, e->parts->from[c]) - first[c];
        }
        const char *step = core_number(e, moved, q->o->workers);
        if (!number_is(step, 0)) sum = number_sum(e, sum, arena_format(&e->memory, "n%d * (%s)", k, step));
    }
    return sum;
}

static bool place_axis_make(struct place_question *q, struct place_axis *out)
{
    const struct lx_layout *l = &q->e->plan->layouts->layouts[op_operand(q->o->op, q->operand)];
    int h = place_dim_of(q->o, q->operand, q->var);
    *out = (struct place_axis){.kind = AXIS_NONE, .step = "0", .elements = l->stick_elements, .by = 1};
    if (h < 0) return true;
    bool sticks = l->host_dim[l->rank - 1] == h;
    out->kind = sticks ? AXIS_STICK : AXIS_PLAIN;
    if (sticks && q->o->most[q->var] > 1 && !place_begins_stick(q, h)) {
        out->kind = AXIS_WALK;
        out->by = op_index_stride(&q->o->x, q->operand, h);
        out->first = place_first_index(q, h);
    }
    q->ahead = sticks ? l->stick_elements : 1;
    if (out->kind == AXIS_WALK) {
        /* A stick on may not be there, if the walk is short: the distance of sticks of the whole part. */
        if (l->stick_elements % out->by != 0) return emit_refuse(q->e, "it walks sticks by %d", (int)out->by);
        q->ahead = l->stick_elements / out->by;
    }
    out->step = q->o->most[q->var] > q->ahead ? place_step(q) : "0";
    if (out->kind == AXIS_WALK && number_is(out->step, 0) && q->o->most[q->var] > 1) {
        struct place_view v = place_view_of(q->e, q->o, q->operand, 0, -1);
        int64_t strides[LX_MAX_DEVICE_RANK];
        box_strides(&v.box, strides);
        for (int k = 0; k + 1 < l->rank; k++)
            if (l->host_dim[k] == h)
                out->step = arena_format(&q->e->memory, "%lld", (long long)(strides[k] * l->stick_bytes));
    }
    return out->step != NULL;
}

/* The address of the first element on every core and in every iteration. */
static const char *place_base(struct place_question *q)
{
    struct emission *e = q->e;
    int64_t *first = arena_array(&e->memory, (size_t)e->cores, sizeof *first);
    int64_t *moved = arena_array(&e->memory, (size_t)e->cores, sizeof *moved);
    int64_t *sum = arena_array(&e->memory, (size_t)e->cores, sizeof *sum), at;
    q->var = -1;
    for (int64_t c = 0; c < q->o->workers; c++) {
        if (!place_ask(q, c, -1, &first[c])) return place_nowhere(e, q->operand), NULL;
        sum[c] = first[c];
    }
    const char *base = core_number(e, first, q->o->workers);
    for (int k = 0; e->nest && k < e->nest->level_count; k++) {
        if (e->nest->tiles[k] < 2) continue;
        for (int64_t c = 0; c < q->o->workers; c++) {
            if (!place_ask(q, c, k, &at)) return place_nowhere(e, q->operand), NULL;
            moved[c] = at - first[c];
            sum[c] += moved[c] * (e->nest->tiles[k] - 1);
        }
        const char *step = core_number(e, moved, q->o->workers);
        if (number_is(step, 0)) continue;
        bool one = strpbrk(step, " ") == NULL;
        step = arena_format(&e->memory, one ? "n%d * %s" : "n%d * (%s)", k, step);
        base = number_sum(e, base, step);
    }
    for (int64_t c = 0; e->nest && c < q->o->workers; c++)
        if (!place_ask(q, c, LX_MAX_LEVELS, &at) || at != sum[c])
            return emit_refuse(e, "its tiles are not at equal distances"), NULL;
    return base;
}

/* Is the last element of every part where the steps lead? Parts of one width only; others have been
 * compared with the launch by their counts. */
static bool place_holds(const struct place_question *q, const struct op_place *p)
{
    struct emission *e = q->e;
    int64_t value[LX_MAX_VARS], first;
    for (int64_t c = 0; c < q->o->workers; c++) {
        struct place_question one = *q;
        one.var = -1;
        place_ask(&one, c, -1, &first);
        for (int v = 0; v < q->o->x.var_count; v++) {
            const struct place_axis *a = &p->axis[v];
            int64_t last = e->parts->to[c][v] - e->parts->from[c][v] - 1, step = strtoll(a->step, NULL, 10);
            value[v] = e->parts->to[c][v] - 1;
            if (!number_is(a->step, step) || a->kind == AXIS_WALK) return true; /* tables, walks */
            if (a->kind == AXIS_PLAIN) first += last * step;
            if (a->kind == AXIS_STICK) first += last / a->elements * step + last % a->elements * p->item;
        }
        struct place_view view = place_view_of(e, q->o, q->operand, c, -1);
        if (place_address(&view, value) != first) return place_nowhere(e, q->operand);
    }
    return true;
}

static bool place_make(struct emission *e, struct op_emission *o, int operand)
{
    struct op_place *p = &o->place[operand];
    int32_t tensor = op_operand(o->op, operand), stay = lx_plan_place(e->plan, e->tick, operand);
    const struct lx_layout *l = &e->plan->layouts->layouts[tensor];
    struct place_question q = {.e = e, .o = o, .operand = operand};
    if (l->rank == 0) return emit_refuse(e, "%s is known by its bytes only", e->graph->tensors[tensor].name);
    bool trace = e->trace_at >= 0;
    if (!trace && stay < 0 && e->plan->hbm_address[tensor] < 0)
        return emit_refuse(e, "%s has no address", e->graph->tensors[tensor].name);
    p->in = trace ? PLACE_TRACE : stay >= 0 ? PLACE_LX : PLACE_HBM;
    p->dtype = l->dtype;
    p->item = number_types[l->dtype].bits / 8;
    for (int v = 0; v < o->x.var_count; v++) {
        q.var = v;
        if (!place_axis_make(&q, &p->axis[v])) return false;
    }
    p->base = place_base(&q);
    if (!p->base || !place_holds(&q, p)) return false;
    for (int v = 0; v < o->x.var_count; v++)
        if (p->axis[v].kind == AXIS_WALK) /* the address of index 0, though it may not be there */
            p->base = arena_format(&e->memory, "%s - STICKS_TO(%s, %lld, %s, %d)", p->base, p->axis[v].first,
                                   (long long)p->axis[v].elements, p->axis[v].step, p->item);
    return true;
}

bool op_place_narrowed(struct emission *e, struct op_emission *o, int operand, int v, int64_t from,
                       int64_t count)
{
    struct op_parts all = *e->parts;
    int64_t *counts = arena_array(&e->memory, (size_t)e->cores, sizeof *counts);
    size_t cores = (size_t)e->cores;
    e->parts->from = arena_copy_array(&e->memory, all.from, cores, sizeof *all.from);
    e->parts->to = arena_copy_array(&e->memory, all.to, cores, sizeof *all.to);
    o->most[v] = 1;
    for (int64_t c = 0; c < o->workers; c++) {
        int64_t begin = max_i64(all.from[c][v], from), end = min_i64(all.to[c][v], from + count);
        counts[c] = max_i64(end - begin, 0);
        if (counts[c] == 0) begin = operand < o->out ? from : all.from[c][v]; /* any that is there */
        e->parts->from[c][v] = begin;
        e->parts->to[c][v] = begin + max_i64(counts[c], 1);
        o->most[v] = max_i64(o->most[v], counts[c]);
    }
    o->count[v] = core_number(e, counts, o->workers);
    bool ok = place_make(e, o, operand);
    *e->parts = all;
    return ok;
}

/* An op without an index map: the first core makes the whole output, by its dimensions. */
static bool places_make_opaque(struct emission *e, struct op_emission *o)
{
    struct op_index *x = &o->x;
    int inputs = 0; /* a reshape's has variables of its own */
    *x = (struct op_index){
        .known = true, .operand_count = op_operand_count(o->op), .output = o->op->input_count};
    for (int i = 0; i < op_operand_count(o->op); i++) {
        const struct lx_layout *y = &e->plan->layouts->layouts[op_operand(o->op, i)];
        if (y->rank == 0) return emit_refuse(e, "an operand is known by its bytes only");
        x->rank[i] = y->host_rank;
        for (int h = 0; h < y->host_rank; h++) {
            if (x->var_count == LX_MAX_VARS) return emit_refuse(e, "it has too many dimensions");
            x->letter[x->var_count] = (char)((i < o->out ? 'A' : 'a') + (i < o->out ? inputs++ : h));
            x->extent[x->var_count] = y->host_shape[h];
            x->var[i][h] = (signed char)x->var_count++;
        }
    }
    o->workers = o->groups = 1;
    o->group = o->slot = "0";
    e->parts = arena_array(&e->memory, 1, sizeof *e->parts);
    e->parts->from = arena_array(&e->memory, 1, sizeof *e->parts->from);
    e->parts->to = arena_array(&e->memory, 1, sizeof *e->parts->to);
    for (int v = 0; v < x->var_count; v++) {
        e->parts->to[0][v] = o->most[v] = x->extent[v];
        o->count[v] = arena_format(&e->memory, "%lld", (long long)x->extent[v]);
    }
    for (int i = 0; i < op_operand_count(o->op); i++)
        if (!place_make(e, o, i)) return false;
    return true;
}

/* Where the inputs of a concatenation lie depends on how far it is: body_concat finds each. */
static bool place_found_later(const struct op_emission *o, int operand)
{
    return o->op->kind->id == LX_KIND_CONCAT && operand < o->out;
}

bool op_places_make(struct emission *e, struct op_emission *o)
{
    const struct lx_op_launch *launch = &e->plan->launches[e->tick];
    o->op = &e->graph->ops[e->tick];
    o->out = o->op->input_count;
    if (o->op->output_count > 1) return emit_refuse(e, "it has several results");
    op_index_of(e->graph, o->op, &o->x);
    if (!o->x.known) return places_make_opaque(e, o);
    if (o->x.window_count) return emit_refuse(e, "it slides windows");
    if (launch->kind != LX_LAUNCH_TILES || !launch->launch)
        return emit_refuse(e, "it is not launched in tiles");
    if (e->nest) {
        nest_tile_index(e->plan->nests, e->plan->nest_count, e->tick, &o->x);
        o->summed = nest_tensor_of(e->plan->layouts, e->nest, o->op->output).summed;
    }
    if (!parts_make(e, o)) return false;
    for (int i = 0; i < op_operand_count(o->op); i++)
        if (!place_found_later(o, i) && !place_make(e, o, i)) return false;
    return true;
}

/* As if the result were in HBM, in the slot of the iterations that count. */
bool op_trace_place(struct emission *e, const struct op_emission *o, struct op_place *out)
{
    struct emit_trace *t = &e->facts.trace[e->plan->access_at[e->tick] + o->out];
    struct op_emission one = *o;
    int64_t slots = 1;
    const char *slot = "0";
    *t = (struct emit_trace){.at = e->facts.trace_bytes,
                             .bytes = lx_layout_bytes(&e->plan->layouts->layouts[o->op->output])};
    for (int k = 0; e->nest && k < e->nest->level_count; k++) {
        if (nest_tensor_of(e->plan->layouts, e->nest, o->op->output).indexed & level_bit(k)) continue;
        t->levels |= level_bit(k);
        slots *= e->nest->tiles[k];
        slot = number_is(slot, 0)
                   ? arena_format(&e->memory, "n%d", k)
                   : arena_format(&e->memory, "(%s * %lld + n%d)", slot, (long long)e->nest->tiles[k], k);
    }
    e->facts.trace_bytes += slots * t->bytes;
    e->trace_at = t->at;
    bool ok = place_make(e, &one, o->out);
    e->trace_at = -1;
    *out = one.place[o->out];
    if (ok) out->base = number_sum(e, out->base, number_times(e, slot, t->bytes));
    return ok;
}
