/* Launches with one wrong argument, on random graphs: each is a fault or a wrong result.
 *
 * One number of one launch is changed: a core's start, count, shard, slice of the sum or number, the extent,
 * side or parts of a dimension or sum, a count of tiles, the order or the mode. Some changes do no harm: all elements are
 * computed once, by cores that hold the operands, as before or in another order. The test finds out by listing
 * every element of every turn; all other changes must be reported. */
#include "support/device_plans.h"
#include "base/memory.h"
#include "support/random_graph.h"
#include "support/sampled.h"
#include "layout/op_index.h"
#include "support/made_reference.h"

enum { WANTED = SAMPLED ? 80 : 1000, MOST_TRIES = 20000, CHANGES_PER_PLAN = 40 };

/* The launches of a plan, to be changed. */
struct changed {
    struct lx_plan plan;
    struct lx_op_launch *launches;
};

static void *copied(const void *from, size_t count, size_t size)
{
    void *to = mem_zeroed(count + 1, size);
    assert_non_null(to);
    if (count > 0) memcpy(to, from, count * size);
    return to;
}

/* `order`: of the global launches. */
static void change_begin(struct changed *c, const struct lx_plan *p, enum lx_tile_order order)
{
    int32_t ops = p->layouts->graph->op_count;
    c->plan = *p;
    c->launches = mem_zeroed((size_t)ops, sizeof *c->launches);
    assert_non_null(c->launches);
    for (int32_t o = 0; o < ops; o++) {
        lx_status st = {0};
        struct lx_op_launch *made = lx_plan_launch(p, o, &(struct lx_launch_options){.order = order}, &st);
        if (!made) fail_msg("%s", st.text);
        c->launches[o] = *made;
        if (made->launch) {
            c->launches[o].launch = copied(made->launch, 1, sizeof *made->launch);
            c->launches[o].launch->cores =
                copied(made->launch->cores, (size_t)made->launch->core_count, sizeof *made->launch->cores);
            c->launches[o].sum = copied(made->sum, (size_t)made->sum_count, sizeof *made->sum);
        }
        lx_op_launch_free(made);
    }
    c->plan.launches = c->launches;
}

static void change_end(struct changed *c)
{
    for (int32_t o = 0; o < c->plan.layouts->graph->op_count; o++) {
        if (c->launches[o].launch) mem_free(c->launches[o].launch->cores);
        mem_free(c->launches[o].launch);
        mem_free(c->launches[o].sum);
    }
    mem_free(c->launches);
}

/* ---- what is changed ---- */

static int64_t other(struct rng *r, int64_t n)
{
    switch (rng_below(r, 5)) {
    case 0: return n + 1;
    case 1: return n - 1;
    case 2: return n * 2;
    case 3: return n / 2;
    default: return rng_between(r, -2, 2 * n + 2);
    }
}

static struct lx_launch_core *some_core(struct lx_op_launch *o, struct rng *r)
{
    return &o->launch->cores[rng_below(r, (uint64_t)o->launch->core_count)];
}

#define CORE_CHANGE(name, field, type)                                                                       \
    static void name(struct lx_op_launch *o, struct rng *r)                                                  \
    {                                                                                                        \
        struct lx_launch_core *c = some_core(o, r);                                                          \
        c->field = (type)other(r, c->field);                                                                 \
    }
CORE_CHANGE(change_start, start, int64_t)
CORE_CHANGE(change_count, count, int64_t)
CORE_CHANGE(change_sy, sy, int32_t)
CORE_CHANGE(change_sx, sx, int32_t)
CORE_CHANGE(change_slice, k_slice, int32_t)
CORE_CHANGE(change_core, core, int32_t)

#define DIM_CHANGE(name, field)                                                                              \
    static void name(struct lx_op_launch *o, struct rng *r)                                                  \
    {                                                                                                        \
        if (o->rank == 0) return;                                                                            \
        struct lx_launch_dim *d = &o->dim[rng_below(r, (uint64_t)o->rank)];                                  \
        int64_t to = other(r, d->field);                                                                     \
        if (to > 0) d->field = to;                                                                           \
    }
DIM_CHANGE(change_extent, extent)
DIM_CHANGE(change_side, side)
DIM_CHANGE(change_parts, parts)
DIM_CHANGE(change_part, part)

static void change_sum(struct lx_op_launch *o, struct rng *r)
{
    if (o->sum_count == 0) return;
    struct lx_launch_sum *s = &o->sum[rng_below(r, (uint64_t)o->sum_count)];
    int64_t *field = rng_below(r, 2) ? &s->part : rng_below(r, 2) ? &s->parts : &s->extent;
    int64_t to = other(r, *field);
    if (to > 0) *field = to;
}

static void change_grid(struct lx_op_launch *o, struct rng *r)
{
    struct lx_launch *l = o->launch;
    int64_t *counts[] = {&l->batch, &l->mt, &l->nt};
    int64_t *n = counts[rng_below(r, 3)];
    *n = other(r, *n);
}

static void change_order(struct lx_op_launch *o, struct rng *r)
{
    o->launch->order = (enum lx_tile_order)rng_below(r, LX_LISTED);
}

static void change_mode(struct lx_op_launch *o, struct rng *r)
{
    (void)r;
    o->launch->mode = o->launch->mode == LX_PARTITION_GLOBAL ? LX_PARTITION_LOCAL_SHARD : LX_PARTITION_GLOBAL;
}

static const struct change {
    const char *name;
    void (*act)(struct lx_op_launch *o, struct rng *r);
} changes[] = {{"start", change_start},   {"count", change_count}, {"sy", change_sy},
               {"sx", change_sx},         {"slice", change_slice}, {"core", change_core},
               {"extent", change_extent}, {"side", change_side},   {"parts", change_parts},
               {"part", change_part},     {"sum", change_sum},     {"grid", change_grid},
               {"order", change_order},   {"mode", change_mode}};

enum { CHANGES = sizeof changes / sizeof *changes };

/* ---- is it still right? ---- */

struct listing {
    const struct lx_plan *plan;
    const struct lx_op_launch *o;
    struct op_index x;
    int64_t products;
    unsigned char *seen; /* per product: how often, up to 2 */
    bool right;
};

/* A turn's products, all of them, by their numbers. */
static void list_turn(struct listing *l, const struct lx_launch_piece *p)
{
    int64_t at[LX_MAX_VARS];
    for (int v = 0; v < l->x.var_count; v++) {
        if (p->from[v] < 0 || p->to[v] > l->x.extent[v] || p->from[v] >= p->to[v]) l->right = false;
        at[v] = p->from[v];
    }
    while (l->right) {
        int64_t number = 0;
        for (int v = 0; v < l->x.var_count; v++) number = number * l->x.extent[v] + at[v];
        if (l->seen[number]++ > 0) l->right = false;
        int v = l->x.var_count - 1;
        for (; v >= 0 && ++at[v] == p->to[v]; v--) at[v] = p->from[v];
        if (v < 0) break;
    }
}

/* A core must stay in its slice of the division along all variables of operands that are on chip. */
static bool has_operands(const struct listing *l, int32_t op, int64_t core, const struct lx_launch_piece *p)
{
    const struct lx_division *d = &l->plan->divisions->at[op];
    for (int v = 0; v < l->x.var_count; v++) {
        bool on_chip = false;
        for (int i = 0; i < l->x.operand_count; i++)
            on_chip |= lx_plan_place(l->plan, op, i) >= 0 && op_index_dim(&l->x, i, v) >= 0;
        for (int i = 0; i < d->split_count && on_chip; i++) {
            int64_t from, to;
            if (d->splits[i].letter != l->x.letter[v]) continue;
            lx_division_slice(d, i, core, &from, &to);
            if (p->from[v] < from || p->to[v] > to) return false;
        }
    }
    return true;
}

/* Does every product come once? Parts of sums are products of one element; that a group computes all of its
 * elements follows. Cores of one sum must be told different slices. */
static bool still_right(const struct lx_plan *p, const struct lx_op_launch *launches, int32_t op)
{
    struct listing l = {.plan = p, .o = &launches[op], .products = 1, .right = true};
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[op], &l.x);
    nest_tile_index(p->nests, p->nest_count, op, &l.x); /* a launch is that of one tile */
    for (int v = 0; l.x.known && v < l.x.var_count; v++) l.products *= l.x.extent[v];
    l.seen = mem_zeroed((size_t)l.products, 1);
    assert_non_null(l.seen);
    int64_t counted = 0;
    for (int64_t core = 0; core < p->divisions->cores && l.right; core++) {
        int64_t turns = lx_op_launch_turns(l.o, core);
        for (int64_t t = 0; t < turns && l.right; t++) {
            struct lx_launch_piece piece;
            l.right = lx_op_launch_piece(l.o, &l.x, core, t, &piece);
            if (!l.right) break;
            if (!l.x.known) {
                l.right = core == 0 && t == 0;
                counted++;
                continue;
            }
            list_turn(&l, &piece);
            l.right = l.right && has_operands(&l, op, core, &piece);
        }
    }
    for (int64_t i = 0; i < l.products && l.right && l.x.known; i++) l.right = l.seen[i] == 1;
    if (!l.x.known) l.right = l.right && counted == 1;
    mem_free(l.seen);
    return l.right;
}

struct tally {
    int tried, counted, harmless;
};

static struct lx_run_result *execute(const struct lx_plan *p, const struct lx_reference *ref)
{
    struct lx_device_options how = {.reference = ref};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    return r;
}

/* One plan, some changes. */
static void change_plan(const struct lx_plan *p, struct rng *r, struct tally *tally, int *counted)
{
    lx_status st = {0};
    struct lx_reference *ref = made_reference(p->graph, 0, 1, &st);
    assert_non_null(ref);
    enum lx_tile_order order = (enum lx_tile_order)rng_below(r, LX_LISTED);
    for (int i = 0; i < CHANGES_PER_PLAN; i++) {
        struct changed c;
        int32_t op = (int32_t)rng_below(r, (uint64_t)p->layouts->graph->op_count);
        int k = (int)rng_below(r, CHANGES);
        change_begin(&c, p, order);
        bool launched = c.launches[op].launch != NULL;
        if (launched && i > 0) changes[k].act(&c.launches[op], r);
        bool right = !launched || still_right(p, c.launches, op);
        struct lx_run_result *run = right && i > 0 ? NULL : execute(&c.plan, ref);
        if (right && run && !run->ok) fail_msg("unchanged, op %d: %s", (int)op, what_is_wrong(run));
        if (!right && run->ok)
            fail_msg("%s of op %d (%s), change %d: not reported", changes[k].name, (int)op,
                     p->layouts->graph->ops[op].kind->name, i);
        tally[k].tried++;
        tally[k].counted += !right;
        tally[k].harmless += right;
        *counted += !right;
        if (run) lx_run_result_free(run);
        change_end(&c);
    }
    lx_reference_free(ref);
}

static void every_wrong_argument_is_reported(void **state)
{
    (void)state;
    static const int64_t cores[] = {1, 2, 4, 8, 32}, tiles[][2] = {{1, 64}, {32, 32}, {5, 64}, {8, 128}};
    struct tally tally[CHANGES] = {{0}};
    int counted = 0, global = 0, local = 0, sums = 0;
    for (uint64_t seed = 0; counted < WANTED; seed++) {
        struct rng r = rng_seed(seed + 77);
        lx_status st = {0};
        struct random_graph_shape shape = {
            .ops = 6, .with_views = true, .with_externs = true, .again = true, .cores = cores[seed % 5]};
        assert_true(seed < MOST_TRIES / CHANGES_PER_PLAN);
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        if (!g) fail_msg("%s", st.text);
        struct lx_device device = g->device;
        device.tile_rows = tiles[seed % 4][0];
        device.tile_columns = tiles[seed % 4][1];
        g = with_device(g, &device);
        if (seed % 3 == 0) g = with_capacity(g, 0);
        struct lx_plan *p = plan_graph(g, "greedy", &(struct lx_passes){0});
        for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
            struct lx_op_launch *made = lx_plan_launch(p, o, NULL, &st);
            assert_non_null(made);
            global += made->launch && made->launch->mode == LX_PARTITION_GLOBAL;
            local += made->launch && made->launch->mode == LX_PARTITION_LOCAL_SHARD;
            sums += made->k_slices > 1;
            lx_op_launch_free(made);
        }
        change_plan(p, &r, tally, &counted);
        lx_plan_free(p);
    }
    for (int k = 0; k < CHANGES; k++)
        print_message("%-8s %4d tried, %4d wrong and reported, %4d harmless\n", changes[k].name,
                      tally[k].tried, tally[k].counted, tally[k].harmless);
    print_message("%d launches global, %d local_shard, %d with split sums\n", global, local, sums);
    assert_true(global > 0 && local > 0 && (SAMPLED || sums > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_wrong_argument_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
