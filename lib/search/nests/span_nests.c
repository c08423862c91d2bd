/* Ops that address more than the span limit under every division (layouts->too_wide); tiles address less. The
 * search may leave them outside of nests, which counts as worse than any plan. If its best attempt does, each
 * of these ops gets the nest of one or two levels that moves least. */
#include "layout/op_index.h"
#include "search/nests/nest_edits.h"
#include "search/search_steps.h"

int32_t ops_too_wide(const struct draft *x)
{
    const bool *wide = x->layouts->too_wide;
    int32_t count = 0;
    for (int32_t o = 0; wide && o < x->graph->op_count; o++)
        count += wide[o] && nest_of_op(x->how.nests, x->how.nest_count, o) < 0;
    return count;
}

bool attempt_bytes(const struct draft *x, const int64_t *address, int64_t *bytes)
{
    const int64_t most = INT64_C(1) << 8; /* ops that count: the sum stays far below 2^63 */
    const int64_t wrong = (int64_t)ops_too_wide(x) + bundles_too_large(x, address);
    return traffic_count(x, address, bytes) && add_i64(*bytes, LX_INT_MAX * min_i64(wrong, most), bytes);
}

struct span_nest {
    const struct draft *x;
    struct axis_found axis[MOST_AXES];
    int axis_count;
    struct arena *memory;
    struct lx_nest nest, best;
    int64_t least; /* bytes of the best; INT64_MAX: none */
};

/* Bytes of the op's operands in all iterations: an operand is accessed again along levels that do not index
 * it. */
static int64_t span_nest_bytes(const struct lx_layouts *l, const struct lx_nest *n)
{
    const struct lx_op *op = &l->graph->ops[n->first];
    struct op_index x;
    int64_t sum = 0;
    op_index_of(l->graph, op, &x);
    for (int i = 0; i < x.operand_count; i++) {
        int64_t bytes = lx_layout_bytes(&l->layouts[op_operand(op, i)]);
        for (int k = 0; k < n->level_count; k++)
            if (op_index_dim(&x, i, n->var[0][k]) < 0 && !mul_i64(bytes, n->tiles[k], &bytes))
                return INT64_MAX;
        if (!add_i64(sum, bytes, &sum)) return INT64_MAX;
    }
    return sum;
}

/* Can the tiles of the nest be divided? */
static bool span_nest_fits(const struct span_nest *s)
{
    struct lx_divisions d = *s->x->divisions;
    struct lx_division v;
    SCOPED(arena_free) struct arena scratch = {0};
    lx_status ignored = {0};
    d.nests = &s->nest;
    d.nest_count = 1;
    bool fits =
        nest_valid(s->x->layouts, &s->nest, &ignored) &&
        lx_divide_again(&d, s->nest.first, s->x->how.passes.matmul == LX_MATMUL_RULE, &scratch, &v, &ignored);
    return fits;
}

/* Takes the nest if it moves less than the best and its tiles can be divided. */
static void span_nest_offer(struct span_nest *s)
{
    int64_t bytes = span_nest_bytes(s->x->layouts, &s->nest);
    if (bytes >= s->least || !span_nest_fits(s)) return;
    s->least = bytes;
    s->best = s->nest;
    s->best.var = arena_copy_array(s->memory, s->nest.var, 1, sizeof *s->nest.var);
}

static void span_nest_try(struct span_nest *s, int levels)
{
    signed char var[1][LX_MAX_LEVELS] = {{0}};
    s->nest.var = (const signed char(*)[LX_MAX_LEVELS])var;
    s->nest.level_count = levels;
    for (int a = 0; a < s->axis_count; a++)
        for (int b = levels == 1 ? s->axis_count - 1 : a + 1; b < s->axis_count; b++) {
            var[0][0] = s->axis[a].var[0];
            var[0][1] = s->axis[b].var[0];
            for (int64_t outer = 2; outer <= s->axis[a].divides; outer++) {
                if (s->axis[a].divides % outer != 0) continue;
                s->nest.tiles[0] = outer;
                for (int64_t inner = 2; inner <= (levels == 1 ? 2 : s->axis[b].divides); inner++) {
                    if (levels == 2 && s->axis[b].divides % inner != 0) continue;
                    s->nest.tiles[1] = inner;
                    span_nest_offer(s);
                }
            }
        }
}

/* Adds the nest to the set; false: no tiles of the op can be divided. */
static bool span_nest_add(const struct draft *x, int32_t op, struct arena *memory, struct nest_set *set)
{
    const struct nest_set before = *set;
    struct span_nest s = {.x = x, .memory = memory, .nest = {.first = op, .last = op}, .least = INT64_MAX};
    struct axis_run *r = axis_run_begin(x->layouts, op, memory);
    axis_run_grow(r);
    s.axis_count = axis_run_axes(r, s.axis, memory);
    for (int levels = 1; levels <= 2 && s.least == INT64_MAX; levels++) span_nest_try(&s, levels);
    if (s.least == INT64_MAX) return false;
    nest_set_add(&before, &(struct nest_candidate){.nest = s.best}, memory, set);
    return true;
}

/* Divides the graph without nests, for the error. */
static void span_nests_refuse(const struct search *search)
{
    struct lx_layouts l = *search->divided->layouts;
    struct lx_divide_options how = lx_passes_divide(&search->best.draft.how.passes);
    l.too_wide = NULL;
    lx_divisions_free(lx_divide(&l, &how, search->st));
}

bool nests_for_spans(struct search *search)
{
    SCOPED(nest_menus_free) struct nest_menus menus = {.by_memory = asks_time(search)};
    SCOPED(arena_free) struct arena memory = {0};
    const struct draft *x = &search->best.draft;
    int32_t ops = x->graph->op_count;
    int64_t tries = max_i64(60, min_i64(2000, 40000 / (ops + 1)));
    struct nest_set s;
    struct attempt next = {0};
    bool ok = true;
    nest_set_of(x, &menus, &memory, &s);
    for (int32_t o = 0; ok && o < ops; o++)
        if (x->layouts->too_wide[o] && nest_of_op(x->how.nests, x->how.nest_count, o) < 0)
            ok = span_nest_add(x, o, &memory, &s);
    if (!ok) span_nests_refuse(search);
    ok = ok && nest_set_force(search, &s, &next);
    if (ok) replace_best(search, &next);
    if (ok && !search->effort.quick) nest_set_refine(search, &menus, &tries);
    arena_adopt(search->memory, &menus.memory); /* decisions point to the divisions */
    return ok;
}
