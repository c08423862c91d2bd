/* Tiles by their loop nests. A chunk is a grid of tiles: whole ones, and along each variable perhaps a
 * narrower last one. Tiles of one shape have one nest, made once per op and taken through the six passes; the
 * turns of the core's persistent loop over tiles of that shape are loops around it. */
#include "device/execute/execute.h"
#include "kernels/nest_run.h"

/* A core has one thread: its nests share nothing. */
enum { CORE_THREADS = 1 };

/* Tiles of one shape within a box. */
struct tile_set {
    int64_t size[LX_MAX_VARS];  /* of a tile */
    int64_t count[LX_MAX_VARS]; /* of tiles along each variable */
    int64_t first[LX_MAX_VARS]; /* of the first tile, in tiles */
};

typedef void set_visit(void *context, const struct tile_set *t);

/* Visits every tile shape of a box. */
static void each_set(const struct op_work *w, const struct slice *box, const int64_t *tile, int v,
                     struct tile_set *t, set_visit *visit, void *context)
{
    if (v == w->x.var_count) {
        visit(context, t);
        return;
    }
    for (int last = 0; last < 2; last++) {
        /* Along one variable: the whole tiles, then the narrower one behind them, if any. */
        int64_t width = box->to[v] - box->from[v];
        int64_t whole = width / tile[v];
        t->size[v] = last ? width % tile[v] : tile[v];
        t->count[v] = last ? 1 : whole;
        t->first[v] = last ? whole : 0;
        if (t->size[v] > 0 && t->count[v] > 0) each_set(w, box, tile, v + 1, t, visit, context);
    }
}

static const struct tile_nest *find_nest(const struct op_work *w, const int64_t *size)
{
    size_t bytes = (size_t)w->x.var_count * sizeof *size;
    for (const struct tile_nest *n = w->shapes; n; n = n->next)
        if (memcmp(n->size, size, bytes) == 0) return n;
    return NULL;
}

static void prepare_set(void *context, const struct tile_set *t)
{
    struct op_work *w = context;
    lx_status st = {0};
    if (find_nest(w, t->size)) return;
    struct tile_nest *n = arena_array(w->m->scratch, 1, sizeof *n);
    if (!lx_nest_of_tile(w->m->plan->layouts, w->m->tick, &w->x, t->size, &n->made, &st)) {
        machine_fail(w->m, &st);
        return;
    }
    memcpy(n->size, t->size, sizeof n->size);
    n->nest = n->made.nest;
    n->next = w->shapes;
    w->shapes = n;
    if (!lx_loops_optimise(&n->nest, lx_loop_rules_at(0), CORE_THREADS, &st)) machine_fail(w->m, &st);
}

void prepare_nests(struct op_work *w, const struct strip_work *s)
{
    struct tile_set t = {.size = {0}};
    each_set(w, &s->slice, s->strip.tile, 0, &t, prepare_set, w);
}

/* Tiles of one shape in a chunk: their place in the operands of the nest, and the turns over them. */
struct tile_run {
    const struct chunk *c;
    const struct tile_set *set;
    const struct tile_nest *nest;
    struct dense_strides strides[LX_LOOP_OPERANDS];
    struct lx_loop turn[LX_MAX_RANK];
    int turn_count;
};

/* Offset of the first tile in an operand: the layout of an input begins with the chunk, the output's with the
 * strip. */
static int64_t first_element(const struct tile_run *r, int operand)
{
    const struct chunk *c = r->c;
    int64_t offset = 0;
    for (int v = 0; v < c->w->x.var_count; v++) {
        int64_t before = operand == LX_LOOP_OUT ? c->slice.from[v] - c->strip->slice.from[v] : 0;
        offset += (r->set->first[v] + before / c->strip->strip.tile[v]) * r->strides[operand].tile[v];
    }
    return offset;
}

static void run_set(void *context, const struct tile_set *t)
{
    /* Variables of both inputs outside; rows, which the kernel takes in, inside. */
    static const enum lx_loop_type order[] = {LX_DIM_C, LX_DIM_M, LX_DIM_N};
    const struct chunk *c = context;
    struct tile_run r = {.c = c, .set = t, .nest = find_nest(c->w, t->size)};
    lx_status st = {0};
    bool swapped = r.nest->made.swapped, two = r.nest->made.kind == LX_NEST_CONTRACTION;
    dense_part(&c->strip->layout, t->size, &r.strides[LX_LOOP_OUT]);
    dense_part(&c->layout[swapped], t->size, &r.strides[LX_LOOP_IN0]);
    if (two) dense_part(&c->layout[!swapped], t->size, &r.strides[LX_LOOP_IN1]);
    /* Loops over tiles of variables of one type, in the order of the output, so that an outer loop continues
     * an inner one where possible. */
    const struct op_index *x = &c->w->x;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (int k = 0; k < x->rank[c->w->out]; k++) {
            int v = x->var[c->w->out][k];
            if (t->count[v] == 1 || lx_nest_type(&r.nest->made, x, v) != order[i]) continue;
            struct lx_loop *turn = &r.turn[r.turn_count++];
            *turn = (struct lx_loop){.type = order[i], .exec = LX_EXEC_SEQ, .size = t->count[v]};
            for (int o = 0; o < LX_LOOP_OPERANDS; o++) turn->stride[o] = r.strides[o].tile[v];
        }
    struct lx_nest_runner *runner = lx_nest_runner_turns(&r.nest->nest, r.turn, r.turn_count, &st);
    if (runner)
        lx_nest_runner_run(runner, c->operand[swapped] + first_element(&r, LX_LOOP_IN0),
                           two ? c->operand[!swapped] + first_element(&r, LX_LOOP_IN1) : NULL,
                           c->strip->out + first_element(&r, LX_LOOP_OUT));
    else
        machine_fail(c->w->m, &st);
    lx_nest_runner_free(runner);
}

void leaf_nest(struct chunk *c)
{
    struct tile_set t = {.size = {0}};
    each_set(c->w, &c->slice, c->strip->strip.tile, 0, &t, run_set, c);
}
