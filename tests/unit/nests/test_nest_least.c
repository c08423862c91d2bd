/* The search for nests beside all nests there are: small random graphs (2 to 4 ops, extents of 2 to 6, sticks of one byte), every
 * set of nests of one or two levels with every count of tiles, every level that tensors can be held with, and whole ones in one
 * stay or several, each placed by the planner itself; on one core, and of two ops on two cores with every division. A sample by
 * default; the number of graphs may be given. */
#include "unstable.h"
#include "base/rng.h"
#include "base/text.h"
#include "divide/divide.h"
#include "layout/op_index.h"
#include "plan/plan_make.h"
#include "search/search_steps.h"
#include "nests/axes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPS = 4, MOST_NESTS = 2, MOST_HELD = 24, MOST_PLANS = 6000, GRAPHS = 30 };

static int graphs = GRAPHS;

/* ---- graphs ---- */

struct maker {
    struct rng *r;
    struct text tensors, ops;
    char letters[16][4]; /* of each tensor: the variables of its dimensions */
    int tensor_count;
    int64_t extent[3];
};

static int add_tensor(struct maker *m, const char *letters)
{
    int at = m->tensor_count++;
    snprintf(m->letters[at], sizeof m->letters[at], "%s", letters);
    text_format(&m->tensors, "%s{\"name\": \"t%d\", \"dtype\": \"int8\", \"shape\": [", at ? ", " : "", at);
    for (int i = 0; letters[i]; i++)
        text_format(&m->tensors, "%s%d", i ? ", " : "", (int)m->extent[letters[i] - 'm']);
    text_add(&m->tensors, "]}");
    return at;
}

/* One that is there, if there is one and the dice say so, or a new input. */
static int some_tensor(struct maker *m, const char *letters)
{
    for (int t = m->tensor_count - 1; t >= 0; t--)
        if (strcmp(m->letters[t], letters) == 0 && rng_below(m->r, 3) > 0) return t;
    return add_tensor(m, letters);
}

static void add_op(struct maker *m, int number)
{
    static const char *const kinds[] = {"relu", "mul", "matmul", "sum", "sub"};
    static const char *const pairs[] = {"mn", "no", "mo", "nm", "on", "om"};
    char from[4], to[4] = {0}, other[4] = {0};
    /* Go on from what the last op made, if it has two dimensions. */
    const char *last = m->tensor_count ? m->letters[m->tensor_count - 1] : "";
    snprintf(from, sizeof from, "%s", strlen(last) == 2 ? last : pairs[rng_below(m->r, 6)]);
    int kind = (int)rng_below(m->r, 5), one = some_tensor(m, from), two = -1;
    char third = (char)('m' + 'n' + 'o' - from[0] - from[1]);
    snprintf(to, sizeof to, "%s", from);
    if (kind == 1) snprintf(other, sizeof other, "%s", from);
    if (kind == 2) to[1] = third, other[0] = from[1], other[1] = third;
    if (kind == 3) to[1] = 0;
    if (kind == 4) other[0] = from[0];
    if (other[0]) two = some_tensor(m, other);
    int out = add_tensor(m, to);
    text_format(&m->ops, "%s{\"name\": \"o%d\", \"kind\": \"%s\", \"inputs\": [\"t%d\"", number ? ", " : "",
                number, kinds[kind], one);
    if (two >= 0) text_format(&m->ops, ", \"t%d\"", two);
    text_format(&m->ops, "], \"output\": \"t%d\", \"einsum\": \"%s%s%s->%s\"}", out, from,
                two >= 0 ? "," : "", other, to);
}

static const struct lx_graph *random_small(struct rng *r, int cores, lx_status *st)
{
    static const int64_t extents[] = {2, 3, 4, 4, 6};
    struct maker m = {.r = r};
    struct text all = {0};
    for (int i = 0; i < 3; i++) m.extent[i] = extents[rng_below(r, 5)];
    int ops = cores > 1 ? 2 : 2 + (int)rng_below(r, MOST_OPS - 1);
    for (int i = 0; i < ops; i++) add_op(&m, i);
    text_format(
        &all,
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"small\", \"device\": {\"preset\": \"spyre\", "
        "\"cores\": %d, \"grid_y\": 1, \"grid_x\": %d, \"lx_usable_bytes\": %d, \"stick_bytes\": 1}, "
        "\"tensors\": [%s], \"ops\": [%s]}",
        cores, cores, (int)rng_between(r, 2, 40), m.tensors.at, m.ops.at);
    const struct lx_graph *g = lx_graph_of_text("small", all.at, all.length, st);
    text_free(&m.tensors);
    text_free(&m.ops);
    text_free(&all);
    return g;
}

/* ---- all nests ---- */

struct walk {
    struct search *p;
    const struct lx_layouts *l;
    struct lx_nest nests[MOST_NESTS];
    signed char var[MOST_NESTS][MOST_OPS + 4][LX_MAX_LEVELS];
    int32_t nest_count;
    struct hold holds[MOST_HELD];
    int32_t hold_count;
    struct cut cuts[2 * MOST_HELD];
    int32_t cut_count;
    const struct lx_division *divided[MOST_OPS + 4]; /* NULL: as work division has it */
    struct arena memory;
    int64_t least;
    int plans;
    bool too_many;
};

static void plan_one(struct walk *w)
{
    struct cut cuts[2 * MOST_HELD];
    struct decisions how = {.passes = {.online = LX_ONLINE_NONE, .tile = LX_TILE_AUTO},
                            .nests = w->nests,
                            .nest_count = w->nest_count,
                            .holds = w->holds,
                            .hold_count = w->hold_count,
                            .cuts = cuts,
                            .divided = w->divided,
                            .cut_count = 0};
    struct attempt a;
    memcpy(cuts, w->cuts, sizeof cuts);
    qsort(cuts, (size_t)w->cut_count, sizeof *cuts, cut_compare);
    for (int32_t i = 0; i < w->cut_count; i++)
        if (i == 0 || cut_compare(&cuts[i - 1], &cuts[i]) != 0) cuts[how.cut_count++] = cuts[i];
    if (++w->plans > MOST_PLANS) w->too_many = true;
    if (w->too_many || !try_with(w->p, DRAFTS_FEW, &how, &a)) return;
    if (a.hbm_bytes < w->least) w->least = a.hbm_bytes;
    attempt_free(&a);
}

/* The first op behind `after` that accesses it; -1: none. */
static int32_t next_use(const struct lx_graph *g, int32_t tensor, int32_t after)
{
    for (int32_t o = after + 1; o < g->op_count; o++)
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++)
            if (op_operand(&g->ops[o], i) == tensor) return o;
    return -1;
}

static void hold_next(struct walk *w, int32_t nest, int32_t tensor);

/* Whole: one stay with what is before and behind, or apart from either. */
static void hold_whole(struct walk *w, int32_t nest, int32_t tensor)
{
    const struct lx_graph *g = w->l->graph;
    int32_t first = next_use(g, tensor, -1), in = next_use(g, tensor, w->nests[nest].first - 1);
    int32_t behind = next_use(g, tensor, w->nests[nest].last), had = w->cut_count;
    for (int sides = 0; sides < 4; sides++) {
        if (((sides & 1) && first >= w->nests[nest].first) || ((sides & 2) && behind < 0)) continue;
        if (sides & 1) w->cuts[w->cut_count++] = (struct cut){tensor, in};
        if (sides & 2) w->cuts[w->cut_count++] = (struct cut){tensor, behind};
        hold_next(w, nest, tensor + 1);
        w->cut_count = had;
    }
}

static void hold_next(struct walk *w, int32_t nest, int32_t tensor)
{
    if (w->too_many) return;
    if (tensor == w->l->graph->tensor_count) {
        nest++;
        tensor = 0;
    }
    if (nest >= w->nest_count) {
        plan_one(w);
        return;
    }
    struct nest_tensor t = nest_tensor_of(w->l, &w->nests[nest], tensor);
    if (!t.accessed) {
        hold_next(w, nest, tensor + 1);
        return;
    }
    for (int level = 0; level <= w->nests[nest].level_count; level++) {
        if (level > 0 && !(t.indexed & level_bit(level - 1))) continue;
        w->holds[w->hold_count++] = (struct hold){tensor, nest, level};
        if (level == 0)
            hold_whole(w, nest, tensor);
        else
            hold_next(w, nest, tensor + 1);
        w->hold_count--;
    }
}

static void nests_from(struct walk *w, int32_t op);

/* Every division of the ops from `op` on, as tiles of their nests. */
static void divide_from(struct walk *w, int32_t op)
{
    struct lx_divisions tiled = *w->p->divided;
    struct division_menu m = {0};
    tiled.nests = w->nests;
    tiled.nest_count = w->nest_count;
    if (op == w->l->graph->op_count || tiled.cores == 1) {
        hold_next(w, 0, 0);
        return;
    }
    lx_status st = {0};
    division_menu_make(&tiled, op, true, &w->memory, &m);
    for (int32_t c = 0; c < m.count && !w->too_many; c++) {
        struct lx_division *v = arena_array(&w->memory, 1, sizeof *v);
        assert_non_null(v);
        if (lx_division_ordered(&tiled, op, &m.splits[c * m.split_count], m.front[c], &w->memory, v, &st))
            w->divided[op] = v;
        divide_from(w, op + 1);
        w->divided[op] = NULL;
    }
}

/* One level more for the last nest, or the next nest. */
static void levels_from(struct walk *w, const struct axis_found *axes, int count, unsigned taken)
{
    struct lx_nest *n = &w->nests[w->nest_count];
    if (n->level_count > 0) {
        if (!nest_valid(w->l, n, NULL)) return;
        w->nest_count++;
        nests_from(w, n->last + 1);
        w->nest_count--;
    }
    for (int a = 0; a < count && n->level_count < 2; a++)
        for (int64_t t = 2; t <= axes[a].divides && !(taken & 1u << a); t++) {
            if (axes[a].divides % t != 0) continue;
            for (int32_t o = n->first; o <= n->last; o++)
                w->var[w->nest_count][o - n->first][n->level_count] = axes[a].var[o - n->first];
            n->tiles[n->level_count++] = t;
            levels_from(w, axes, count, taken | 1u << a);
            n->level_count--;
        }
}

static void nests_from(struct walk *w, int32_t op)
{
    if (op >= w->l->graph->op_count || w->nest_count == MOST_NESTS) {
        divide_from(w, 0);
        return;
    }
    nests_from(w, op + 1);
    struct arena memory = {0};
    struct axis_run *run = axis_run_begin(w->l, op, &memory);
    assert_non_null(run);
    while (!w->too_many && axis_run_last(run) < w->l->graph->op_count - 1 && axis_run_grow(run)) {
        struct axis_found axes[MOST_AXES];
        int count = axis_run_axes(run, axes, &memory);
        w->nests[w->nest_count] =
            (struct lx_nest){.first = op,
                             .last = axis_run_last(run),
                             .var = (const signed char(*)[LX_MAX_LEVELS])w->var[w->nest_count]};
        levels_from(w, axes, count, 0);
    }
    arena_free(&memory);
}

/* INT64_MAX: there are too many. */
static int64_t least_of_all(const struct lx_graph *g, int *plans, lx_status *st)
{
    struct lx_plan *p = plan_new(g);
    struct lx_passes passes = {.online = LX_ONLINE_NONE, .tile = LX_TILE_AUTO};
    struct lx_plan_options options = {.solver = lx_solver_find("exact"), .passes = passes};
    if (!p || !plan_divide(p, &passes, NULL, st)) fail_msg("%s", st->text);
    struct search by = {.divided = p->own_divisions,
                        .request = &options,
                        .effort = effort_asked(&options),
                        .memory = p->memory,
                        .st = st};
    struct walk w = {.p = &by, .l = p->own_divisions->layouts, .least = INT64_MAX};
    nests_from(&w, 0);
    *plans += w.plans;
    arena_free(&w.memory);
    lx_plan_free(p);
    return w.too_many ? INT64_MAX : w.least;
}

/* The bound of nests that share the scratchpads, if a plan of `known` bytes is there. */
static int64_t bound_below(const struct lx_graph *g, int64_t known, lx_status *st)
{
    struct lx_plan *p = plan_new(g);
    struct search by = {.memory = p->memory, .st = st};
    int64_t bound;
    by.best.draft.how.passes = (struct lx_passes){.tile = LX_TILE_AUTO};
    if (!plan_divide(p, &by.best.draft.how.passes, NULL, st)) fail_msg("%s", st->text);
    by.divided = p->own_divisions;
    if (!nest_bound_below(&by, known, &bound)) fail_msg("%s", st->text);
    lx_plan_free(p);
    return bound;
}

struct tally {
    int compared, missed, plans, above, proved;
};

static void compare(int number, int cores, struct tally *y)
{
    struct rng r = rng_seed((uint64_t)number + 1);
    lx_status st = {0};
    const struct lx_graph *g = random_small(&r, cores, &st);
    if (!g) fail_msg("%d: %s", number, st.text);
    int64_t least = least_of_all(g, &y->plans, &st);
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .passes = {.tile = LX_TILE_AUTO, .online = LX_ONLINE_NONE}};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%d: %s", number, st.text);
    if (least < INT64_MAX) y->compared++;
    if (p->figures.hbm_bytes > least) {
        y->missed++;
        print_message("graph %d on %d cores: %lld bytes found, %lld are possible\n", number, cores,
                      (long long)p->figures.hbm_bytes, (long long)least);
    }
    int64_t bound = least < INT64_MAX ? bound_below(g, 2 * least, &st) : 0;
    y->proved += bound == least;
    if (bound > least || lx_plan_least(p) > least) {
        y->above++;
        print_message("graph %d on %d cores: bound %lld, plan's %lld, %lld are possible\n", number, cores,
                      (long long)bound, (long long)lx_plan_least(p), (long long)least);
    }
    lx_plan_free(p);
    lx_graph_free(g);
}

static void finish(const struct tally *y, int cores)
{
    print_message("%d graphs on %d cores compared, %d plans, %d missed, %d proved\n", y->compared, cores,
                  y->plans, y->missed, y->proved);
    assert_int_equal(y->above, 0);
    assert_true(y->compared > graphs / 4);
    assert_int_equal(y->missed, 0);
}

static void the_least_on_one_core(void **state)
{
    (void)state;
    static const int hard[] = {332, 373,
                               679}; /* whole tensors go through a nest that is there for a small one */
    struct tally y = {0};
    for (int i = 0; i < graphs; i++) compare(i, 1, &y);
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) compare(hard[i], 1, &y);
    finish(&y, 1);
}

static void the_least_on_two_cores(void **state)
{
    (void)state;
    struct tally y = {0};
    for (int i = 0; i < graphs; i++) compare(i, 2, &y);
    finish(&y, 2);
}

int main(int argc, char **argv)
{
    if (argc > 1) graphs = atoi(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_least_on_one_core),
                                       cmocka_unit_test(the_least_on_two_cores)};
    return cmocka_run_group_tests_name("nest_least", tests, NULL, NULL);
}
