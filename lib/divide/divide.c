/* The whole stage. The span pass commits splits, keyed by index coefficient as in plan files. Then each op
 * reads them back and is divided by its hints, the matmul cost pass, or distribution. */
#include "divide/divide.h"
#include "base/words/words.h"
#include "divide/space.h"

bool lx_cores_valid(const struct lx_device *device, int64_t cores, lx_status *st)
{
    /* Both are at most 1024, so the product cannot overflow. */
    int64_t places = device->grid_y * device->grid_x,
            most = min_i64(min_i64(device->cores, places), MAX_FACTOR);
    if (cores >= 1 && cores <= most) return true;
    return status_set(st, LX_E_CORES,
                      "%lld cores: the device (%s, a grid of %lld x %lld) has 1 to %lld; choose a number in "
                      "between, or describe a larger grid",
                      (long long)cores, device->preset, (long long)device->grid_y, (long long)device->grid_x,
                      (long long)most);
}

static double divide_predict(const struct lx_layouts *l, const struct lx_division *d, const struct space *s,
                             const int64_t *splits)
{
    struct cost_work w = work_of(l, d, s, splits);
    struct cost_rates rates = cost_rates_of(&l->graph->device);
    return cost_op(&rates, &w);
}

static void divide_record(const struct lx_layouts *l, const struct space *s, const int64_t *splits,
                          struct arena *memory, struct lx_division *d)
{
    int64_t ones[LX_MAX_VARS];
    for (int i = 0; i < LX_MAX_VARS; i++) ones[i] = 1;
    d->split_count = s->axis_count;
    d->operand_count = s->operand_count;
    d->splits = arena_array(memory, (size_t)s->axis_count, sizeof *d->splits);
    d->operands = arena_array(memory, (size_t)s->operand_count, sizeof *d->operands);
    d->cores = s->cores;
    d->cores_used = space_used(s, splits);
    d->contiguous = -1;
    for (int i = 0; i < s->axis_count; i++) {
        const struct axis *a = &s->axes[i];
        d->splits[i] =
            (struct lx_split){a->letter, a->is_reduction, a->is_summed, a->extent,
                              a->unit,   a->units,        splits[i],    axis_per_core(a, splits[i]),
                              a->rule,   a->bound_by,     a->bound,     a->constraint,
                              a->tiles};
        if (a->is_reduction && splits[i] > 1) d->contiguous = i;
    }
    for (int i = 0; i < s->operand_count; i++) {
        const struct operand *o = &s->operands[i];
        struct lx_operand_span *p = &d->operands[i];
        *p = (struct lx_operand_span){.tensor = o->tensor,
                                      .whole_bytes = operand_span(s, o, ones),
                                      .bytes = operand_span(s, o, splits),
                                      .core_bytes = operand_core_bytes(s, o, splits)};
        for (int k = 0; k < o->rank; k++)
            p->extent[k] = k < o->rank - 1 ? operand_extent(s, o, k, splits) : o->dims[k].size;
    }
    d->predicted_us = divide_predict(l, d, s, splits);
    for (int i = 0; i < s->axis_count; i++) d->predicted_us *= (double)s->axes[i].tiles;
}

/* Result of the span pass for one op, per variable in iteration order: the splits, and the operand and bytes
 * that forced each. */
struct commitment {
    struct lx_coeff_splits splits;
    int32_t bound_by[LX_MAX_VARS];
    int64_t bound[LX_MAX_VARS];
};

/* Pass 1. commitments[op] is NULL if the spans of the op need no split. */
static bool span_pass(const struct lx_layouts *l, int64_t cores, struct arena *memory,
                      struct commitment **commitments, lx_status *st)
{
    bool ok = true;
    for (int32_t o = 0; ok && o < l->graph->op_count; o++) {
        const struct lx_op *op = &l->graph->ops[o];
        struct arena scratch = {0};
        struct space s;
        bool large = false; /* no span is longer than its tensor */
        for (int i = 0; i < op_operand_count(op); i++)
            large |= lx_layout_bytes(&l->layouts[op_operand(op, i)]) > l->graph->device.span_bytes;
        if (op->kind->traits & LX_EXTERN || !large) continue;
        space_of_op(l, o, cores, NULL, &scratch, &s);
        if (s.operand_count > 0) {
            struct commitment *c = commitments[o] = arena_array(memory, 1, sizeof *c);
            int64_t floors[LX_MAX_VARS];
            ok = span_reduce(&s, st);
            for (int i = 0; ok && i < s.axis_count; i++) {
                floors[i] = s.axes[i].floor;
                c->bound_by[i] = s.axes[i].bound_by;
                c->bound[i] = s.axes[i].bound;
            }
            if (ok) lx_division_encode(l, o, floors, &c->splits);
        }
        arena_free(&scratch);
    }
    return ok;
}

/* Pass 2: splits a space with committed floors. */
static bool divide_space(const struct lx_layouts *l, const struct lx_divide_options *how, struct space *s,
                         struct lx_division *d, int64_t *splits, lx_status *st)
{
    const struct lx_op *op = &l->graph->ops[d->op];
    int outputs[LX_MAX_VARS], reductions[LX_MAX_VARS], output_count, reduction_count;
    int64_t chosen[LX_MAX_VARS];
    if (op->hint_count > 0) return apply_hints(s, op->hints, op->hint_count, splits, st);
    prioritize(s, outputs, &output_count, reductions, &reduction_count);
    if (!distribute(s, outputs, output_count, reductions, reduction_count, splits, st)) return false;
    memcpy(chosen, splits, sizeof chosen);
    if (!how->no_cost && matmul_divide(l, d->op, s, splits, chosen)) {
        memcpy(splits, chosen, sizeof chosen);
        d->by_cost = true;
    }
    return true;
}

static bool divide_one_op(const struct lx_layouts *l, int32_t op_number, const struct lx_divide_options *how,
                          int64_t cores, const struct commitment *committed, struct arena *scratch,
                          struct arena *memory, struct lx_division *d, lx_status *st)
{
    const struct lx_op *op = &l->graph->ops[op_number];
    struct space s;
    int64_t splits[LX_MAX_VARS];
    *d = (struct lx_division){.op = op_number, .cores = cores, .cores_used = 1, .contiguous = -1};
    d->kind = op->kind->traits & LX_EXTERN ? LX_UNDIVIDED_EXTERN : LX_DIVIDED;
    space_of_op(l, op_number, cores, NULL, scratch, &s);
    if (d->kind == LX_DIVIDED && s.operand_count == 0) d->kind = LX_UNDIVIDED_OPAQUE;
    if (d->kind != LX_DIVIDED) {
        d->predicted_us = divide_predict(l, d, &s, splits);
        return op->hint_count == 0 ? true
                                   : status_set_at(st, LX_E_HINT, s.file, s.line, 1,
                                                   "op %s has hints, but is not divided: its index map is "
                                                   "not known, or it runs off the "
                                                   "device; remove them",
                                                   s.op_name);
    }
    int64_t floors[LX_MAX_VARS];
    if (committed && !lx_division_decode(l, op_number, &committed->splits, floors, st)) return false;
    for (int i = 0; committed && i < s.axis_count; i++) {
        if (floors[i] == 1) continue;
        s.axes[i].floor = floors[i];
        s.axes[i].rule = LX_SPLIT_SPAN;
        s.axes[i].bound_by = committed->bound_by[i];
        s.axes[i].bound = committed->bound[i];
    }
    if (!divide_space(l, how, &s, d, splits, st)) return false;
    divide_record(l, &s, splits, memory, d);
    return true;
}

bool lx_divide_again(const struct lx_divisions *all, int32_t op, bool no_cost, struct arena *memory,
                     struct lx_division *out, lx_status *st)
{
    struct lx_divide_options how = {.cores = all->cores, .no_cost = no_cost};
    struct lx_division d = {.op = op, .cores = all->cores, .contiguous = -1, .kind = LX_DIVIDED};
    SCOPED(arena_free) struct arena scratch = {0};
    struct space s;
    int64_t splits[LX_MAX_VARS];
    space_of_division(all, op, &scratch, &s);
    bool ok = span_reduce(&s, st) && divide_space(all->layouts, &how, &s, &d, splits, st);
    if (ok) {
        divide_record(all->layouts, &s, splits, memory, &d);
        *out = d;
    }
    return ok;
}

struct lx_divisions *divisions_new(const struct lx_layouts *l, int64_t cores)
{
    struct lx_divisions *d = mem_zeroed(1, sizeof *d);
    *d = (struct lx_divisions){.layouts = l,
                               .cores = cores,
                               .count = l->graph->op_count,
                               .memory = mem_zeroed(1, sizeof *d->memory)};
    d->at = arena_array(d->memory, (size_t)d->count, sizeof *d->at);
    return d;
}

struct lx_divisions *lx_divide(const struct lx_layouts *l, const struct lx_divide_options *options,
                               lx_status *st)
{
    struct lx_divide_options how = options ? *options : (struct lx_divide_options){0};
    const struct lx_graph *g = l->graph;
    int64_t cores = how.cores > 0 || how.cores < 0 ? how.cores : g->device.cores;
    if (!lx_cores_valid(&g->device, cores, st)) return NULL;
    struct lx_divisions *d = divisions_new(l, cores);
    struct arena scratch = {0}, between = {0};
    struct commitment **committed = arena_array(&between, (size_t)g->op_count, sizeof *committed);
    bool ok = span_pass(l, cores, &between, committed, st);
    for (int32_t o = 0; ok && o < g->op_count; o++) {
        ok = divide_one_op(l, o, &how, cores, committed[o], &scratch, d->memory, &d->at[o], st);
        d->predicted_us += d->at[o].predicted_us;
        arena_free(&scratch);
        scratch = (struct arena){0};
    }
    arena_free(&scratch);
    arena_free(&between);
    if (ok) return d;
    lx_divisions_free(d);
    return NULL;
}

int lx_division_front(const struct lx_division *v)
{
    int first = 0;
    while (first < v->split_count && v->splits[first].split == 1) first++;
    bool own = v->contiguous >= 0 && v->contiguous != first && !v->splits[v->contiguous].is_reduction;
    return own ? v->contiguous : -1;
}

bool lx_division_with(const struct lx_divisions *d, int32_t op, const int64_t *splits, struct arena *memory,
                      struct lx_division *out, lx_status *st)
{
    return lx_division_ordered(d, op, splits, -1, memory, out, st);
}

bool lx_division_ordered(const struct lx_divisions *d, int32_t op, const int64_t *splits, int front,
                         struct arena *memory, struct lx_division *out, lx_status *st)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct space s;
    struct lx_division fresh = {.op = op, .cores = d->cores, .kind = LX_DIVIDED};
    bool ok = true;
    space_of_division(d, op, &scratch, &s);
    if (s.operand_count == 0 || d->at[op].kind != LX_DIVIDED || !splits_legal(&s, splits))
        ok = status_set_at(st, LX_E_DOMAIN, s.file, s.line, 1, "op %s: the wanted division is not legal",
                           s.op_name);
    for (int i = 0; ok && i < s.axis_count; i++) s.axes[i].rule = LX_SPLIT_CHOSEN;
    if (ok) divide_record(d->layouts, &s, splits, memory, &fresh);
    if (ok && front >= 0) {
        /* Partial sums and the first split variable are on neighbours already. */
        bool may = front < fresh.split_count && fresh.contiguous < 0 && fresh.splits[front].split > 1;
        if (may) fresh.contiguous = front;
        if (!may || lx_division_front(&fresh) != front)
            ok = status_set(
                st, LX_E_DOMAIN,
                "op %s: the slices of that variable cannot be brought to neighbouring cores: it is whole, "
                "the first that is split, or another than the sum that is; leave front out",
                s.op_name);
    }
    if (ok) *out = fresh;
    return ok;
}

void lx_divisions_free(struct lx_divisions *d)
{
    if (!d) return;
    if (d->memory) arena_free(d->memory);
    mem_free(d->memory);
    mem_free(d);
}

LX_WORDS(lx_split_rule_word, enum lx_split_rule, LX_SPLIT_RULES)
LX_HELPS(lx_split_rule_help, enum lx_split_rule, LX_SPLIT_RULES)
