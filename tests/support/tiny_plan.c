#include "support/tiny_plan.h"

struct lx_passes tiny_passes(const char *what)
{
    struct lx_passes p = {.undivided = true, .tile = LX_TILE_NONE};
    bool all = strcmp(what, "all") == 0, both = all || strcmp(what, "both") == 0;
    p.move = all || strcmp(what, "move") == 0 || strcmp(what, "evict_move") == 0;
    p.evict = both || strcmp(what, "evict_move") == 0 || strcmp(what, "evict") == 0;
    p.reorder = both || strcmp(what, "reorder") == 0;
    return p;
}

struct lx_plan *tiny_plan(const struct lx_graph *g, struct lx_passes passes, const char *solver)
{
    lx_status st = {0};
    struct lx_plan_options how = {
        .solver = lx_solver_find(solver), .passes = passes, .quick_solver = lx_solver_find("greedy")};
    return lx_plan_make(g, &how, &st);
}

bool tiny_tensor(struct graph_builder *b, struct tiny_tensor *t, int n, lx_status *st)
{
    char name[16];
    int64_t shape[2] = {t->rows, 64};
    snprintf(name, sizeof name, "t%d", n);
    bool single = t->rows == 0;
    t->number = builder_tensor(b, name, LX_ROLE_COUNT, LX_FP16, single ? 1 : 2, shape + single, 0, st);
    return t->number >= 0;
}

/* An op on a tensor or two, or on one that it reads twice: elementwise, of its rows, or with one row for all; what it gives. */
static bool tiny_op(struct graph_builder *b, struct rng *r, struct tiny_tensor *all, int *count, int n,
                    lx_status *st)
{
    struct tiny_tensor x = all[rng_below(r, (uint64_t)*count)], y = all[rng_below(r, (uint64_t)*count)],
                       out = x;
    int32_t operands[2] = {x.number, y.number};
    char name[16];
    struct lx_op op = {.name = name, .inputs = operands, .input_count = 1};
    const char *kind = "exp";
    snprintf(name, sizeof name, "op%d", n);
    op.einsum = x.rows ? "ab->ab" : "b->b";
    if (y.rows == x.rows)
        kind = "add", op.input_count = 2, op.einsum = x.rows ? "ab,ab->ab" : "b,b->b";
    else if (x.rows > 0 && y.rows == 0)
        kind = "add", op.input_count = 2, op.einsum = "ab,b->ab";
    else if (x.rows > 0 && rng_below(r, 2))
        kind = "sum", op.einsum = "ab->b", out.rows = 0;
    op.kind = lx_kind_find(kind);
    if (!tiny_tensor(b, &out, *count, st)) return false;
    op.output = out.number;
    all[(*count)++] = out;
    return builder_op(b, &op, st);
}

/* Inputs of some sizes, each read twice: what is on chip at once comes and goes, and leaves holes. */
static bool tiny_reads(struct graph_builder *b, struct rng *r, struct tiny_tensor *all, int *count,
                       lx_status *st)
{
    enum { INPUTS = 9 };
    int left[INPUTS], rest = 2 * INPUTS;
    bool ok = true;
    for (; ok && *count < INPUTS; ++*count) {
        left[*count] = 2;
        all[*count] = (struct tiny_tensor){.rows = 1 + (int64_t)rng_below(r, 3)};
        ok = tiny_tensor(b, &all[*count], *count, st);
    }
    for (; ok && rest > 0; rest--) {
        char name[16];
        int at = 0, skip = (int)rng_below(r, (uint64_t)rest);
        for (; skip >= left[at]; at++) skip -= left[at];
        left[at]--;
        struct tiny_tensor out = all[at];
        struct lx_op op = {.name = name, .inputs = &all[at].number, .input_count = 1, .einsum = "ab->ab"};
        op.kind = lx_kind_find("exp");
        snprintf(name, sizeof name, "op%d", rest);
        ok = tiny_tensor(b, &out, *count, st);
        all[(*count)++] = out;
        op.output = out.number;
        ok = ok && builder_op(b, &op, st);
    }
    return ok;
}

const struct lx_graph *tiny_graph(struct rng *r, int ops, bool reads, lx_status *st)
{
    struct graph_builder b;
    struct tiny_tensor all[40];
    int count = 0, inputs = 2 + (int)rng_below(r, 2);
    builder_begin(&b, "tiny", "tiny");
    lx_device_preset("spyre", &b.graph->device);
    b.graph->device.cores = 1;
    b.graph->target_hbm_bytes = -1;
    bool ok = true;
    if (reads) ok = tiny_reads(&b, r, all, &count, st);
    for (; ok && count < inputs; count++) {
        all[count] = (struct tiny_tensor){.rows = (int64_t)rng_below(r, 5)};
        ok = tiny_tensor(&b, &all[count], count, st);
    }
    for (int o = 0; ok && !reads && o < ops; o++) ok = tiny_op(&b, r, all, &count, o, st);
    const struct lx_graph *g = ok ? builder_finish(&b, st) : NULL, *small = NULL;
    builder_abandon(&b);
    if (g) small = lx_graph_with_capacity(g, (3 + (int64_t)rng_below(r, 8)) * 128, st);
    lx_graph_free(g);
    return small;
}

bool tiny_judge(const struct lx_graph *g, const struct lx_plan *plain, struct lx_passes passes,
                struct tiny_result *out)
{
    lx_status st = {0};
    struct oracle x;
    struct lx_plan *p = tiny_plan(g, passes, "exact");
    bool ok = p && oracle_of(plain, &x);
    if (ok) {
        x.cuts = passes.evict;
        x.moves = passes.move;
        out->plain = plain->figures.hbm_bytes;
        out->plan = p->figures.hbm_bytes;
        out->legal = lx_plan_check(p, &st);
        out->best = oracle_least(&x, passes.reorder, out->plan + 1);
        out->bound = p->figures.bound_bytes + p->figures.perfect_hbm_bytes;
    }
    lx_plan_free(p);
    return ok;
}

bool tiny_try(uint64_t seed, struct lx_passes passes, struct tiny_result *out)
{
    struct rng r = rng_seed(seed);
    lx_status st = {0};
    bool reads = passes.move && !passes.reorder && seed % 2;
    const struct lx_graph *g = tiny_graph(&r, passes.reorder ? 5 : 6, reads, &st);
    struct lx_passes off = {.undivided = true, .tile = LX_TILE_NONE};
    struct lx_plan *plain = g ? tiny_plan(g, off, "exact") : NULL;
    bool ok = plain && tiny_judge(g, plain, passes, out);
    lx_plan_free(plain);
    lx_graph_free(g);
    return ok;
}

void tiny_add(struct tiny_sums *s, const struct tiny_result *r)
{
    s->graphs++;
    s->gains += r->best < r->plain;
    s->best += r->plan == r->best && r->legal;
    s->proved += r->bound == r->best;
    s->wrong += r->bound > r->best;
    s->worse += r->plan > r->plain;
}
