/* Tiles by their loop nests. A chunk is a grid of tiles: whole ones, and along each variable perhaps a last one
 * that is narrower. Tiles of one shape have one nest, made once per op and taken through the six passes; the turns
 * of the core's persistent loop over tiles of that shape are loops around it. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "kernels/nest_run.h"

#include <stdlib.h>
#include <string.h>

/* A core has one thread: nothing is shared inside it. */
enum { CORE_THREADS = 1 };

/* Tiles of one shape within a box. */
struct tile_set {
    int64_t size[LX_MAX_VARS];  /* of a tile */
    int64_t count[LX_MAX_VARS]; /* of tiles along each variable */
    int64_t first[LX_MAX_VARS]; /* the first of them, in tiles */
};

/* Along one variable: the whole tiles, or the narrower one behind them. False: there are none. */
static bool set_along(struct tile_set *t, int v, int64_t width, int64_t tile, bool last)
{
    int64_t whole = width / tile;
    t->size[v] = last ? width % tile : tile;
    t->count[v] = last ? 1 : whole;
    t->first[v] = last ? whole : 0;
    return t->size[v] > 0 && t->count[v] > 0;
}

typedef bool set_visit(void *context, const struct tile_set *t);

/* Every shape of tile that a box has. */
static bool each_set(const struct op_work *w, const struct slice *box, const int64_t *tile, int v,
                     struct tile_set *t, set_visit *visit, void *context)
{
    if (v == w->x.var_count) return visit(context, t);
    for (int last = 0; last < 2; last++)
        if (set_along(t, v, box->to[v] - box->from[v], tile[v], last) &&
            !each_set(w, box, tile, v + 1, t, visit, context))
            return false;
    return true;
}

static const struct tile_nest *find_nest(const struct op_work *w, const int64_t *size)
{
    size_t bytes = (size_t)w->x.var_count * sizeof *size;
    for (const struct tile_nest *n = w->shapes; n; n = n->next)
        if (memcmp(n->size, size, bytes) == 0) return n;
    return NULL;
}

static bool prepare_set(void *context, const struct tile_set *t)
{
    struct op_work *w = context;
    lx_status st = {0};
    if (find_nest(w, t->size)) return true;
    struct tile_nest *n = arena_array(w->m->scratch, 1, sizeof *n);
    if (!n || !lx_nest_of_tile(w->m->plan->layouts, w->m->tick, &w->x, t->size, &n->made, &st)) return false;
    memcpy(n->size, t->size, sizeof n->size);
    n->nest = n->made.nest;
    n->next = w->shapes;
    w->shapes = n;
    return lx_loops_optimise(&n->nest, lx_loop_rules_at(0), CORE_THREADS, &st);
}

bool prepare_nests(struct op_work *w, const struct strip_work *s)
{
    struct tile_set t = {.size = {0}};
    return each_set(w, &s->slice, s->strip.tile, 0, &t, prepare_set, w);
}

/* What the tiles of one shape read and write, and how far apart they are. */
struct tile_run {
    struct chunk *c;
    const struct tile_nest *nest;
    const float *in[2];
    float *out;
    struct lx_loop turn[LX_LOOPS_MAX];
    int turn_count;
};

/* Elements from the first tile of the box on, and from one tile to the next. */
static int64_t offset_of(const struct op_work *w, const struct tile_set *t, const struct dense_strides *s)
{
    int64_t offset = 0;
    for (int v = 0; v < w->x.var_count; v++) offset += t->first[v] * s->tile[v];
    return offset;
}

/* Loops over tiles of variables of one type, in the order of the output: an outer one goes on where the next
 * inner one ends wherever that can be. */
static void add_turns(struct tile_run *r, const struct tile_set *t, enum lx_loop_type type,
                      const struct dense_strides *s[LX_LOOP_OPERANDS])
{
    const struct op_work *w = r->c->w;
    int output = w->operands - 1;
    for (int d = 0; d < w->x.rank[output]; d++) {
        int v = w->x.var[output][d];
        if (t->count[v] == 1 || lx_nest_type(&r->nest->made, &w->x, v) != type) continue;
        struct lx_loop *turn = &r->turn[r->turn_count++];
        *turn = (struct lx_loop){.type = type, .exec = LX_EXEC_SEQ, .size = t->count[v]};
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) turn->stride[o] = s[o] ? s[o]->tile[v] : 0;
    }
}

static bool run_set(void *context, const struct tile_set *t)
{
    /* What both inputs have stands outside; rows, which the kernel takes in, inside. */
    static const enum lx_loop_type order[] = {LX_DIM_C, LX_DIM_M, LX_DIM_N};
    struct chunk *c = context;
    struct op_work *w = c->w;
    struct tile_run r = {.c = c, .nest = find_nest(w, t->size)};
    struct dense_strides in0, in1, out;
    struct tile_set placed = *t;
    const struct lx_op_nest *made = &r.nest->made;
    bool contracts = made->kind == LX_NEST_CONTRACTION;
    int first = made->swapped ? 1 : 0, second = made->swapped ? 0 : 1;
    const struct dense_strides *strides[] = {&in0, contracts ? &in1 : NULL, &out};
    dense_part(&c->layout[first], t->size, &in0);
    if (contracts) dense_part(&c->layout[second], t->size, &in1);
    dense_part(&c->strip->layout, t->size, &out);
    for (int v = 0; v < w->x.var_count; v++)
        placed.first[v] += (c->slice.from[v] - c->strip->slice.from[v]) / c->strip->strip.tile[v];
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) add_turns(&r, t, order[i], strides);
    r.in[0] = c->operand[first] + offset_of(w, t, &in0);
    if (contracts) r.in[1] = c->operand[second] + offset_of(w, t, &in1);
    r.out = c->strip->out + offset_of(w, &placed, &out);
    lx_status st = {0};
    struct lx_nest_runner *runner = lx_nest_runner_turns(&r.nest->nest, r.turn, r.turn_count, &st);
    bool ok = runner && lx_nest_runner_run(runner, r.in[0], r.in[1], r.out, &st);
    lx_nest_runner_free(runner);
    return ok;
}

bool leaf_nest(struct chunk *c)
{
    struct tile_set t = {.size = {0}};
    return each_set(c->w, &c->slice, c->strip->strip.tile, 0, &t, run_set, c);
}
