/* Finds the operands and axes of choosing and ordering ops from their index maps; see choice.h. */
#include "graph/choice.h"
#include "graph/op_walks.h"

static bool in_indices(const struct lx_einsum *m, const struct lx_choice *c, int v)
{
    for (int i = 0; i < c->index_count; i++)
        if (lx_einsum_dim(m, c->index + i, v) >= 0) return true;
    return false;
}

static bool choice_is_new(const struct lx_einsum *m, const struct lx_choice *c, int v)
{
    return lx_einsum_dim(m, c->operand, v) < 0 && !in_indices(m, c, v);
}

static int choice_find(const struct lx_op *op, const struct lx_einsum *m, struct lx_choice *c)
{
    const struct lx_op_params *p = op->params;
    *c = (struct lx_choice){.vector = -1};
    /* Roles of the operands. */
    int out = op->input_count;
    bool alters = op->kind->traits & LX_ALTERS,
         starts = op->kind->id == LX_KIND_DYNAMIC_SLICE || op->kind->id == LX_KIND_DYNAMIC_INSERT;
    bool scatter = op->kind->id == LX_KIND_SCATTER;
    c->operand = alters ? out : 0;
    c->other = !alters ? out : scatter ? 1 : 0;
    c->index = scatter ? 0 : 1;
    c->index_count = starts ? op->input_count - 1 : 1;
    c->axis_count = p && p->axis_count ? p->axis_count : p && p->axis >= 0 ? 1 : 0;
    for (int a = 0; a < LX_MAX_RANK; a++) c->var[a] = c->window[a] = -1;
    for (int a = 0; a < c->axis_count && a < LX_MAX_RANK; a++) {
        int64_t d = p->axis_count ? p->axes[a] : p->axis;
        if (d >= 0 && d < m->rank[c->operand]) c->var[a] = m->index[c->operand][d];
    }
    if (c->index_count == 0 && p && p->low_count == c->axis_count) c->start = p->low;
    /* The last variable of a single index operand, if no other operand has it and its extent is the number
     * of axes. */
    int last = c->index_count == 1 ? m->rank[c->index] - 1 : -1,
        own = last >= 0 ? m->index[c->index][last] : -1;
    if (own >= 0 && lx_einsum_dim(m, c->operand, own) < 0 && lx_einsum_dim(m, c->other, own) < 0 &&
        m->extent[own] == c->axis_count)
        c->vector = own;
    /* New letters of `other`, in order, are windows of the last axes, in order. */
    int n = 0, axis;
    for (int d = 0; d < m->rank[c->other]; d++) n += choice_is_new(m, c, m->index[c->other][d]);
    axis = c->axis_count - n;
    for (int d = 0; d < m->rank[c->other]; d++) {
        int v = m->index[c->other][d];
        if (!choice_is_new(m, c, v)) continue;
        if (axis >= 0 && axis < LX_MAX_RANK) c->window[axis] = v;
        axis++;
    }
    return n;
}

bool lx_choice_of(const struct lx_op *op, struct lx_choice *out)
{
    if (!(op->kind->traits & LX_CHOOSES) || !op->map) return false;
    choice_find(op, op->map, out);
    return true;
}

bool lx_choice_by(const struct lx_op *op, const struct lx_choice *c, int v)
{
    return in_indices(op->map, c, v);
}

int64_t lx_choice_picks(const struct lx_op *op, const struct lx_choice *c)
{
    int64_t n = 1;
    for (int v = 0; v < op->map->var_count; v++)
        if (v != c->vector && in_indices(op->map, c, v) && !mul_i64(n, op->map->extent[v], &n))
            return INT64_MAX;
    return n;
}

/* NULL if the axes are legal and every letter has a role. */
static const char *choice_wrong(const struct lx_einsum *m, const struct lx_op *op, const struct lx_choice *c,
                                int windows)
{
    bool starts = op->kind->id == LX_KIND_DYNAMIC_SLICE || op->kind->id == LX_KIND_DYNAMIC_INSERT;
    if (c->axis_count < 1) return "names no \"axis\" or \"axes\" to choose along";
    for (int a = 0; a < c->axis_count; a++) {
        if (c->var[a] < 0) return "has an axis that the tensor it chooses from does not have";
        if (lx_einsum_dim(m, c->other, c->var[a]) >= 0 || in_indices(m, c, c->var[a]))
            return "gives a letter to the axis it chooses along that another operand has, too";
        for (int k = 0; k < a; k++)
            if (c->var[k] == c->var[a]) return "names an axis twice";
    }
    if (starts && c->index_count != c->axis_count && !c->start)
        return "needs one start for each axis, an operand each or \"low\"";
    if (!starts && c->axis_count > 1 && c->vector < 0)
        return "chooses along several axes: the last dimension of its index must count them";
    if (windows != 0 && (!starts || windows > c->axis_count))
        return "has a letter that stands for nothing of what it chooses from";
    for (int a = 0; a < c->axis_count; a++)
        if (c->window[a] >= 0 && m->extent[c->window[a]] > m->extent[c->var[a]])
            return "moves more than there is along an axis";
    for (int v = 0; v < m->var_count; v++) {
        bool chosen = false, other = lx_einsum_dim(m, c->other, v) >= 0;
        for (int a = 0; a < c->axis_count; a++) chosen |= c->var[a] == v;
        if (lx_einsum_dim(m, c->operand, v) >= 0 && !chosen && !other)
            return "drops a letter that it does not choose along";
        if (in_indices(m, c, v) && v != c->vector && !other && m->extent[v] > 1)
            return "has an index with a letter that what is moved does not have";
    }
    return NULL;
}

bool op_check_choice(const struct op_check *check)
{
    const struct lx_op *op = check->op;
    struct lx_einsum *map = check->map;
    struct lx_choice c;
    int windows = choice_find(op, map, &c);
    const char *why = choice_wrong(map, op, &c, windows);
    if (why) return op_error(check, LX_E_EINSUM, ": %s (%s) %s", op->kind->name, op->einsum, why);
    for (int a = 0; a < c.axis_count; a++) map->nature[c.var[a]] = LX_CHOSEN;
    /* Partial results along a variable that the output lacks would have to be combined. */
    for (int v = 0; v < map->var_count; v++)
        if (map->nature[v] == LX_ITERATED && lx_einsum_dim(map, op->input_count, v) < 0)
            map->nature[v] = LX_JOINED;
    for (int i = 0; i < c.index_count; i++) {
        const struct lx_tensor *t = check_operand(check, c.index + i);
        if (t->dtype == LX_FP16 || t->dtype == LX_BF16 || t->dtype == LX_FP32 || t->dtype == LX_FP8)
            return op_error(check, LX_E_SHAPE, ": index %s has elements of type %s; indices are integers",
                            t->name, lx_dtype_word(t->dtype));
    }
    return true;
}

static bool is_sort(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_SORT || op->kind->id == LX_KIND_SORT_INDEX;
}

static void ranking_find(const struct lx_op *op, const struct lx_einsum *m, struct lx_ranking *r)
{
    const struct lx_op_params *p = op->params;
    int64_t axis = p ? p->axis : -1;
    r->places = op->kind->id == LX_KIND_TOPK_INDEX || op->kind->id == LX_KIND_SORT_INDEX;
    r->descending = !is_sort(op) || (p && p->descending);
    r->from = axis >= 0 && axis < m->rank[0] ? m->index[0][axis] : -1;
    r->to = is_sort(op) ? r->from : -1;
    for (int d = 0; d < m->rank[1] && !is_sort(op); d++)
        if (lx_einsum_dim(m, 0, m->index[1][d]) < 0) r->to = m->index[1][d];
}

bool lx_ranking_of(const struct lx_op *op, struct lx_ranking *out)
{
    if (!(op->kind->traits & LX_RANKS) || !op->map) return false;
    ranking_find(op, op->map, out);
    return true;
}

bool lx_ranks_before(const struct lx_ranking *r, long double a, int64_t i, long double b, int64_t j)
{
    bool larger = isnan(a) ? !isnan(b) : a > b, smaller = isnan(b) ? !isnan(a) : a < b;
    if (!larger && !smaller) return i < j;
    return r->descending ? larger : smaller;
}

bool op_check_ranking(const struct op_check *c)
{
    const struct lx_op *op = c->op;
    struct lx_einsum *m = c->map;
    struct lx_ranking r;
    bool sorts = is_sort(op);
    ranking_find(op, m, &r);
    const char *why = r.from < 0 ? "needs an \"axis\" that its input has" : NULL;
    for (int v = 0; v < m->var_count && !why; v++) {
        bool in = lx_einsum_dim(m, 0, v) >= 0, out = lx_einsum_dim(m, 1, v) >= 0;
        if (in && !out && (v != r.from || sorts))
            why = "drops a letter other than that of its axis";
        else if (out && !in && (v != r.to || sorts))
            why = "has a letter more than it counts with";
    }
    if (!why && !sorts) {
        if (lx_einsum_dim(m, 1, r.from) >= 0)
            why = "keeps the letter of its axis: what comes out has one of its own";
        else if (r.to < 0)
            why = op->params->k == 1 ? NULL : "needs a letter of the output for what comes out";
        else if (op->params->k != m->extent[r.to])
            why = "has another \"k\" than its output has places";
        else if (m->extent[r.to] > m->extent[r.from])
            why = "asks for more than there are";
    }
    if (why) return op_error(c, LX_E_EINSUM, ": %s (%s) %s", op->kind->name, op->einsum, why);
    m->nature[r.from] = LX_JOINED;
    if (r.to >= 0) m->nature[r.to] = LX_JOINED;
    return true;
}
