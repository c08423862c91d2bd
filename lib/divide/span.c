/* Span: bytes from the first to the last that one core addresses in a tensor. Pass 1 splits only to keep
 * every span within the device's limit.
 *
 * The span is decided by the outermost device dimension where a core needs more than one position. The
 * search starts there and goes inwards. It tries all combinations of factors of the axes that index the
 * dimension. Among those within the limit it takes the largest span, which uses the fewest cores. If none
 * fits it takes the smallest, and continues inwards if the dimension is down to one position. On failure
 * the search runs again with one rule relaxed at a time, to name the rule in the way. */
#include "divide/space.h"
#include "layout/stated_layouts.h"

enum relax {
    RELAX_REDUCTIONS = 1, /* split any number of reduction axes */
    RELAX_DOMAIN = 2,     /* ignore constraints */
    RELAX_STICKS = 4,     /* allow cuts within sticks of other operands */
};

static int64_t extent_under(const struct space *s, const struct operand *o, int d, const int64_t *splits,
                            unsigned relax)
{
    int64_t extent = 1;
    for (int w = 0; w < o->dims[d].walk_count; w++) {
        const struct coordinate_term *k = &o->dims[d].walks[w];
        const struct axis *a = &s->axes[k->var];
        bool cut = (relax & RELAX_STICKS) && a->basis % splits[k->var] != 0;
        extent += coordinate_term_last(k, cut ? ceil_div_i64(a->extent, splits[k->var])
                                              : axis_per_core(a, splits[k->var]));
    }
    return min_i64(extent, max_i64(o->dims[d].size, 1));
}

/* Positions from the first to the last that a core addresses; at most the length of a dynamic slice. */
static int64_t addressed(const struct space *s, const struct operand *o, int d, const int64_t *splits,
                         unsigned relax)
{
    int64_t extent = extent_under(s, o, d, splits, relax);
    return o->dims[d].picked ? min_i64(extent, o->dims[d].picked) : extent;
}

static int64_t span_under(const struct space *s, const struct operand *o, const int64_t *splits,
                          unsigned relax)
{
    for (int d = 0; d < o->rank - 1; d++) {
        int64_t extent = addressed(s, o, d, splits, relax), behind = o->stick_bytes;
        if (extent == 1) continue;
        for (int e = d + 1; e < o->rank - 1; e++)
            if (!mul_i64(behind, o->dims[e].size, &behind)) return INT64_MAX;
        return mul_i64(extent, behind, &behind) ? behind : INT64_MAX;
    }
    return o->stick_bytes;
}

int64_t operand_extent(const struct space *s, const struct operand *o, int d, const int64_t *splits)
{
    return extent_under(s, o, d, splits, 0);
}

int64_t operand_span(const struct space *s, const struct operand *o, const int64_t *splits)
{
    return span_under(s, o, splits, 0);
}

int64_t operand_core_bytes(const struct space *s, const struct operand *o, const int64_t *splits)
{
    int64_t bytes = o->rank > 0 ? o->stick_bytes : 0;
    for (int d = 0; d < o->rank - 1; d++)
        if (!mul_i64(bytes, extent_under(s, o, d, splits, 0), &bytes)) return INT64_MAX;
    return bytes;
}

bool space_spans_fit(const struct space *s, const int64_t *splits)
{
    for (int i = 0; i < s->operand_count; i++)
        if (operand_span(s, &s->operands[i], splits) > s->span_limit) return false;
    return true;
}

struct choice {
    const struct space *s;
    const struct operand *o;
    unsigned relax;
    int axes[8], axis_count;
    int64_t splits[LX_MAX_VARS]; /* tried */
    int64_t best[LX_MAX_VARS];
    int64_t best_span;
    bool fits, found;
};

static void span_consider(struct choice *c)
{
    const struct space *s = c->s;
    if (space_used(s, c->splits) > s->cores) return;
    if (!(c->relax & RELAX_REDUCTIONS) && space_reductions_split(s, c->splits) > 1) return;
    int64_t span = span_under(s, c->o, c->splits, c->relax);
    bool fits = span <= s->span_limit;
    bool better = !c->found || (fits && !c->fits) ||
                  (fits == c->fits && (fits ? span > c->best_span : span < c->best_span));
    if (!better) return;
    c->found = true;
    c->fits = fits;
    c->best_span = span;
    memcpy(c->best, c->splits, (size_t)s->axis_count * sizeof *c->best);
}

static void try_axis(struct choice *c, int at)
{
    if (at == c->axis_count) {
        span_consider(c);
        return;
    }
    const struct axis *a = &c->s->axes[c->axes[at]];
    int64_t floor = c->splits[c->axes[at]];
    bool cut = c->relax & RELAX_STICKS; /* not if the operand's own sticks run along the axis */
    for (int d = 0; d < c->o->rank - 1; d++)
        for (int w = 0; w < c->o->dims[d].walk_count; w++)
            cut &= c->o->dims[d].walks[w].var != c->axes[at] || c->o->dims[d].walks[w].divisor <= 1;
    struct factor_set all = factors_of_divisors(cut ? a->extent : a->basis);
    const struct factor_set *set = cut || (c->relax & RELAX_DOMAIN) ? &all : &a->legal;
    for (int64_t f = factor_least(set, floor); f > 0 && f <= c->s->cores; f = factor_least(set, f + 1)) {
        c->splits[c->axes[at]] = f;
        try_axis(c, at + 1);
    }
    c->splits[c->axes[at]] = floor;
}

/* Raises `splits` for one operand; true if its span then fits. */
static bool reduce_operand(const struct space *s, const struct operand *o, unsigned relax, int64_t *splits)
{
    for (int d = 0; d < o->rank - 1; d++) {
        if (span_under(s, o, splits, relax) <= s->span_limit) return true;
        if (addressed(s, o, d, splits, relax) == 1) continue;
        struct choice c = {.s = s, .o = o, .relax = relax};
        memcpy(c.splits, splits, (size_t)s->axis_count * sizeof *splits);
        for (int w = 0; w < o->dims[d].walk_count && c.axis_count < 8; w++) {
            bool again = false;
            for (int k = 0; k < c.axis_count; k++) again |= c.axes[k] == o->dims[d].walks[w].var;
            if (!again) c.axes[c.axis_count++] = o->dims[d].walks[w].var;
        }
        try_axis(&c, 0);
        if (!c.found) return false;
        memcpy(splits, c.best, (size_t)s->axis_count * sizeof *splits);
        if (addressed(s, o, d, splits, relax) > 1) break;
    }
    return span_under(s, o, splits, relax) <= s->span_limit;
}

static bool span_fail(const struct space *s, const struct operand *o, const int64_t *before,
                      const int64_t *after, lx_status *st)
{
    static const struct {
        unsigned relax;
        enum lx_code code;
        const char *why, *help;
    } causes[] = {
        {RELAX_REDUCTIONS, LX_E_TWO_REDUCTIONS,
         "only splitting more than one reduction dimension would do, and cores can "
         "add up along one only",
         "reduce in two ops, one dimension each, or tile the op"},
        {RELAX_DOMAIN, LX_E_DOMAIN, "a constraint keeps the dimension from the split that would do",
         "pad the dimension to whole sticks, or tile the op along it"},
        {RELAX_STICKS, LX_E_STICK_SPAN, "a split would do that cuts sticks of another operand",
         "make the dimension a multiple of more sticks, or use more cores"},
        {0, LX_E_SPAN, "no split brings it down", "fewer rows, more cores, or tiling the op"},
    };
    unsigned i = 0;
    for (; causes[i].relax; i++) {
        int64_t trial[LX_MAX_VARS];
        memcpy(trial, before, (size_t)s->axis_count * sizeof *trial);
        if (reduce_operand(s, o, causes[i].relax, trial)) break;
    }
    const struct axis *a = NULL; /* the axis that indexes the first dimension with several positions */
    for (int d = 0; d < o->rank - 1 && !a; d++)
        if (addressed(s, o, d, after, 0) > 1 && o->dims[d].walk_count > 0)
            a = &s->axes[o->dims[d].walks[0].var];
    int64_t span = span_under(s, o, after, 0);
    char where[120] = "";
    if (a) {
        int64_t split = after[a - s->axes];
        snprintf(where, sizeof where, " ('%s': %lld elements in %lld %s, cut into %lld)", a->name,
                 (long long)a->extent, (long long)a->units, a->unit > 1 ? "sticks" : "steps",
                 (long long)split);
    }
    return status_set_at(
        st, causes[i].code, s->file, s->line, 1,
        "op %s: with %lld of %lld cores one core addresses %lld bytes of %s%s, but the limit is %lld; "
        "%s. What would help: %s",
        s->op_name, (long long)space_used(s, after), (long long)s->cores, (long long)span, o->name, where,
        (long long)s->span_limit, causes[i].why, causes[i].help);
}

bool span_reduce(struct space *s, lx_status *st)
{
    int64_t splits[LX_MAX_VARS], before[LX_MAX_VARS];
    for (int i = 0; i < s->axis_count; i++) {
        splits[i] = s->axes[i].floor;
        if (factor_least(&s->axes[i].legal, splits[i]) == 0)
            return status_set_at(
                st, LX_E_DOMAIN, s->file, s->line, 1,
                "op %s: '%s' must be cut into at least %lld, but no allowed divisor of its %lld units is "
                "as large; lift the constraint (%s) or pad the dimension",
                s->op_name, s->axes[i].name, (long long)splits[i], (long long)s->axes[i].basis,
                s->axes[i].constraint ? s->axes[i].constraint : "none");
    }
    for (int i = 0; i < s->operand_count; i++) {
        const struct operand *o = &s->operands[i];
        int64_t span = operand_span(s, o, splits);
        if (span <= s->span_limit) continue;
        memcpy(before, splits, sizeof before);
        if (!reduce_operand(s, o, 0, splits)) return span_fail(s, o, before, splits, st);
        for (int a = 0; a < s->axis_count; a++)
            if (splits[a] > before[a])
                s->axes[a].rule = LX_SPLIT_SPAN, s->axes[a].bound_by = i, s->axes[a].bound = span;
    }
    for (int i = 0; i < s->axis_count; i++) s->axes[i].floor = splits[i];
    /* Splits for a later operand only shrink the spans of earlier ones; this check guards the invariant. */
    return space_spans_fit(s, splits)
               ? true
               : status_set(st, LX_E_INTERNAL, "op %s: a span grew while others shrank", s->op_name);
}

/* --- Dimension orders for the span limit. The outermost device dimension decides a span. If no division of
 * an op fits, its large intermediates get one of its variables outermost, so that one split shrinks all
 * their spans; sticks stay. Other ops that no longer fit follow with the same dimension. The first variable
 * wins under which the op fits and all others that fitted before. Graph inputs keep their order, but packed
 * weights. --- */

struct orders {
    struct lx_layouts *l;
    struct lx_layout *layouts; /* l->layouts, writable */
    int64_t cores;
};

/* Tensors that one choice changes, their new outermost host dimension, and their old layouts. */
enum { MOST_CHANGED = 64 };
struct change {
    int count;
    int32_t tensor[MOST_CHANGED];
    int dim[MOST_CHANGED];
    struct lx_layout before[MOST_CHANGED];
};

static bool span_orders_is_large(const struct orders *s, int32_t tensor)
{
    return lx_layout_bytes(&s->layouts[tensor]) > s->l->graph->device.span_bytes;
}

/* Whether some division keeps all spans of the op within the limit. Ops on small tensors always fit. */
static bool span_orders_fits(const struct orders *s, int32_t o)
{
    const struct lx_op *op = &s->l->graph->ops[o];
    SCOPED(arena_free) struct arena scratch = {0};
    struct space space;
    bool large = false, fits = true;
    for (int i = 0; i < op_operand_count(op); i++) large |= span_orders_is_large(s, op_operand(op, i));
    if (!large || op->kind->traits & LX_EXTERN) return true;
    space_of_op(s->l, o, s->cores, NULL, &scratch, &space);
    if (space.operand_count > 0) fits = span_reduce(&space, NULL);
    return fits;
}

static bool put_outermost(struct orders *s, int32_t tensor, int dim)
{
    const struct lx_tensor *t = &s->l->graph->tensors[tensor];
    struct lx_layout *y = &s->layouts[tensor], fresh;
    struct stated_tensor stated = {0};
    int at = 0;
    layout_state(y, &stated);
    while (at < stated.order_count && stated.order[at] != dim) at++;
    if (at >= stated.order_count - 1 || at == 1) return false;
    stated.order[at] = stated.order[1];
    stated.order[1] = dim;
    if (!lx_layout_make(t->dtype, t->rank, t->shape, NULL, stated.order, stated.order_count,
                        s->l->graph->device.stick_bytes, &fresh, NULL))
        return false;
    for (int d = 0; d < t->rank; d++)
        if (stated.extents[d] && !lx_layout_pad(&fresh, d, stated.extents[d])) return false;
    *y = fresh;
    return true;
}

/* Puts variable `v` outermost in all large tensors that have it outside their sticks. False: nothing is left
 * to change. */
static bool change_all(struct orders *s, const struct lx_op *op, const struct op_index *x, int v,
                       struct change *c)
{
    int before = c->count;
    for (int i = 0; i < x->operand_count && c->count < MOST_CHANGED; i++) {
        int32_t tensor = op_operand(op, i);
        int dim = op_index_dim(x, i, v);
        if (dim < 0) continue;
        const struct lx_tensor *t = &s->l->graph->tensors[tensor];
        if ((t->role != LX_INTERMEDIATE && t->role != LX_OUTPUT) || t->rank < 3 ||
            s->layouts[tensor].stick_dim < 0 || !span_orders_is_large(s, tensor))
            continue;
        bool changed = false;
        for (int k = 0; k < c->count; k++) changed |= c->tensor[k] == tensor;
        if (dim == s->layouts[tensor].stick_dim || changed) continue;
        c->before[c->count] = s->layouts[tensor];
        c->tensor[c->count] = tensor;
        c->dim[c->count] = dim;
        c->count += put_outermost(s, tensor, dim);
    }
    return c->count > before;
}

/* Every op that touches a changed tensor and fitted before still fits, or follows with its outermost
 * variable. */
static bool others_follow(struct orders *s, struct change *c, const bool *fitted)
{
    const struct lx_graph *g = s->l->graph;
    for (int k = 0; k < c->count; k++)
        for (int32_t o = 0; o < g->op_count; o++) {
            const struct lx_op *op = &g->ops[o];
            struct op_index x;
            int i = 0;
            while (i < op_operand_count(op) && op_operand(op, i) != c->tensor[k]) i++;
            if (!fitted[o] || i == op_operand_count(op) || span_orders_fits(s, o)) continue;
            op_index_of(g, op, &x);
            if (!x.known || !change_all(s, op, &x, x.var[i][c->dim[k]], c) || !span_orders_fits(s, o))
                return false;
        }
    return true;
}

/* Does a span make cores of the op split a sum? */
static bool span_orders_cut_sum(const struct orders *s, int32_t o)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct space space;
    bool cut = false;
    space_of_op(s->l, o, s->cores, NULL, &scratch, &space);
    if (space.operand_count > 0 && span_reduce(&space, NULL))
        for (int i = 0; i < space.axis_count; i++) cut |= space.axes[i].is_summed && space.axes[i].floor > 1;
    return cut;
}

/* Lays a packed weight of the op out row by row if no sum is split then and all ops still fit. */
static void span_orders_weight(struct orders *s, int32_t o, int32_t tensor)
{
    const struct lx_graph *g = s->l->graph;
    const struct lx_tensor *t = &g->tensors[tensor];
    struct lx_layout *y = &s->layouts[tensor], before = *y;
    struct stated_tensor stated = {0};
    layout_state(y, &stated);
    if (t->role != LX_WEIGHT || y->stick_dim < 0 || stated.order_count != t->rank ||
        !span_orders_is_large(s, tensor))
        return;
    stated.order[stated.order_count++] = LX_ROW_BY_ROW;
    bool better = lx_layout_make(t->dtype, t->rank, t->shape, NULL, stated.order, stated.order_count,
                                 g->device.stick_bytes, y, NULL);
    for (int d = 0; better && d < t->rank; d++)
        if (stated.extents[d]) better = lx_layout_pad(y, d, stated.extents[d]);
    better = better && !span_orders_cut_sum(s, o);
    for (int32_t k = 0; better && k < g->op_count; k++)
        for (int i = 0; better && i < g->ops[k].input_count; i++)
            better = g->ops[k].inputs[i] != tensor || span_orders_fits(s, k);
    if (!better) *y = before;
}

void lx_layouts_fit_spans(struct lx_layouts *l, const struct lx_divide_options *options)
{
    const struct lx_graph *g = l->graph;
    struct orders s = {.l = l, .cores = options && options->cores > 0 ? options->cores : g->device.cores};
    OWNED bool *fitted = mem_zeroed((size_t)g->op_count + 1, sizeof *fitted);
    s.layouts = arena_copy_array(l->memory, l->layouts, (size_t)g->tensor_count, sizeof *l->layouts);
    l->layouts = s.layouts;
    for (int32_t o = 0; o < g->op_count; o++) fitted[o] = span_orders_fits(&s, o);
    for (int32_t o = 0; o < g->op_count; o++)
        if (!fitted[o]) {
            const struct lx_op *op = &s.l->graph->ops[o];
            struct op_index x;
            struct change c;
            op_index_of(s.l->graph, op, &x);
            for (int v = 0; !fitted[o] && x.known && v < x.var_count; v++) {
                c.count = 0;
                if (!change_all(&s, op, &x, v, &c)) continue;
                fitted[o] = span_orders_fits(&s, o) && others_follow(&s, &c, fitted);
                for (int i = c.count; !fitted[o] && i-- > 0;) s.layouts[c.tensor[i]] = c.before[i];
            }
        }
    for (int32_t o = 0; options && options->packs && o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++)
            if (span_orders_is_large(&s, g->ops[o].inputs[i]) && span_orders_cut_sum(&s, o))
                span_orders_weight(&s, o, g->ops[o].inputs[i]);
    if (options && options->nests) {
        bool *wide = arena_array(l->memory, (size_t)g->op_count + 1, sizeof *wide);
        for (int32_t o = 0; o < g->op_count; o++) {
            wide[o] = !fitted[o] && !span_orders_fits(&s, o) && !nest_never_takes(l, o);
            if (wide[o]) l->too_wide = wide;
        }
    }
}
