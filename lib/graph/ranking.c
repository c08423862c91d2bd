/* What orders what, from the index map of an op and its axis; see the header. */
#include "graph/choice.h"
#include "graph/builder.h"

#include <math.h>

static int ranking_dim_of(const struct lx_einsum *m, int operand, int v)
{
    for (int d = 0; d < m->rank[operand]; d++)
        if (m->index[operand][d] == v) return d;
    return -1;
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
        if (ranking_dim_of(m, 0, m->index[1][d]) < 0) r->to = m->index[1][d];
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

static const char *ranking_wrong(const struct lx_op *op, const struct lx_einsum *m,
                                 const struct lx_ranking *r)
{
    if (r->from < 0) return "needs an \"axis\" that its input has";
    for (int v = 0; v < m->var_count; v++) {
        bool in = ranking_dim_of(m, 0, v) >= 0, out = ranking_dim_of(m, 1, v) >= 0;
        if (in && !out && (v != r->from || is_sort(op))) return "drops a letter other than that of its axis";
        if (out && !in && (v != r->to || is_sort(op))) return "has a letter more than it counts with";
    }
    if (is_sort(op)) return NULL;
    if (ranking_dim_of(m, 1, r->from) >= 0)
        return "keeps the letter of its axis: what comes out has one of its own";
    if (r->to < 0) return op->params->k == 1 ? NULL : "needs a letter of the output for what comes out";
    if (op->params->k != m->extent[r->to]) return "has another \"k\" than its output has places";
    return m->extent[r->to] > m->extent[r->from] ? "asks for more than there are" : NULL;
}

bool ranking_check(const struct graph_builder *b, struct place at, const struct lx_op *op,
                   struct lx_einsum *map, lx_status *st)
{
    struct lx_ranking r;
    ranking_find(op, map, &r);
    const char *why = ranking_wrong(op, map, &r);
    if (why)
        return builder_error(b, at, st, LX_E_EINSUM, "op %s: %s (%s) %s", op->name, op->kind->name,
                             op->einsum, why);
    map->nature[r.from] = LX_JOINED;
    if (r.to >= 0) map->nature[r.to] = LX_JOINED;
    return true;
}
