/* Strips are computed chunk by chunk: operands are packed into dense fp32 arrays and handed to the leaf of
 * the op's class. Chunks cut variables of the output only, between tiles where tiles have nests, so that
 * every sum is made in one piece and every element is the same whatever chunk it is in. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "base/memory.h"
#include "device/memory/stick_box.h"
#include "loops/nest_of_op.h"

#include <stdlib.h>
#include <string.h>

/* 16 MiB of packed operands; less where there are threads without a chunk, but no chunk is below the
 * least. */
enum { CHUNK_FLOATS = 1 << 22, LEAST_CHUNK_FLOATS = 1 << 14, CHUNKS_A_THREAD = 2 };

struct task {
    size_t strip;
    struct slice slice;
};

struct tasks {
    struct op_work *w;
    VEC(struct task) list;
    int64_t most_floats;
};

static int64_t strip_compute_width(const struct slice *s, int v)
{
    return s->to[v] - s->from[v];
}

static int64_t floats_of(const struct op_work *w, const struct slice *s)
{
    int64_t all = 0;
    for (int i = 0; i < w->op->input_count; i++) {
        int64_t n = 1;
        for (int h = 0; h < w->x.rank[i]; h++) n *= strip_compute_width(s, w->x.var[i][h]);
        all += n;
    }
    return all;
}

/* What is not cut further: a tile of a nest, or one element. */
static int64_t grain(const struct op_work *w, const struct strip_work *s, int v)
{
    return w->nests ? s->strip.tile[v] : 1;
}

/* Sides of tiles as far as layouts care: only nests have to have their tiles dense. */
static const int64_t *layout_tiles(const struct op_work *w, const struct strip_work *s, int64_t *widths)
{
    for (int v = 0; v < w->x.var_count; v++)
        widths[v] = w->nests ? s->strip.tile[v] : max_i64(strip_compute_width(&s->slice, v), 1);
    return widths;
}

static void make_layout(const struct op_work *w, const struct strip_work *s, const struct slice *part,
                        int operand, struct dense *out)
{
    int order[LX_MAX_VARS];
    int64_t widths[LX_MAX_VARS], tiles[LX_MAX_VARS];
    int n = tile_operand_order(&w->x, w->class == CLASS_CONTRACTION,
                               &w->m->layouts[op_operand(w->op, operand)], operand, order);
    for (int v = 0; v < w->x.var_count; v++) widths[v] = strip_compute_width(part, v);
    dense_make(order, n, widths, layout_tiles(w, s, tiles), out);
}

static void pack_wide(struct chunk *c, int i, int64_t count, struct arena *memory)
{
    struct op_work *w = c->w;
    const struct lx_layout *l = &w->m->layouts[op_operand(w->op, i)];
    const struct place *p = &w->core[c->strip->core].place[i];
    struct region r;
    c->wide[i] = mem_zeroed((size_t)count, sizeof *c->wide[i]);
    if (!(c->strip->usable >> i & 1)) return;
    region_make(l, &p->box, &w->x, i, &c->slice, memory, &r);
    dense_gather_wide(l, op_number_type(w->m->graph, w->op, i), &r, p->in->bytes + p->address, &w->x, i,
                      &c->layout[i], c->wide[i]);
}

static void pack_input(struct chunk *c, int i, struct arena *memory)
{
    struct op_work *w = c->w;
    const struct lx_layout *l = &w->m->layouts[op_operand(w->op, i)];
    const struct place *p = &w->core[c->strip->core].place[i];
    struct region r;
    make_layout(w, c->strip, &c->slice, i, &c->layout[i]);
    int64_t count = max_i64(c->layout[i].floats, 1);
    if (w->wide) {
        pack_wide(c, i, count, memory);
        return;
    }
    if (!(c->strip->usable >> i & 1)) {
        c->operand[i] = mem_zeroed((size_t)count, sizeof(float));
        return;
    }
    c->operand[i] = mem_alloc((size_t)count * sizeof(float));
    region_make(l, &p->box, &w->x, i, &c->slice, memory, &r);
    dense_gather(l, &r, p->in->bytes + p->address, &w->x, i, &c->layout[i], c->operand[i]);
}

static leaf_function *leaf_of(const struct op_work *w)
{
    if (w->x.window_count && w->wide) return leaf_wide_windows;
    if (w->x.window_count) return w->class == CLASS_CONTRACTION ? leaf_window_products : leaf_window_fold;
    if (w->op->kind->traits & LX_PLACES) return leaf_places;
    if (w->class == CLASS_RANKING) return leaf_ranking;
    if (w->class == CLASS_CHOICE && w->wide) return leaf_wide_choice;
    return w->wide                       ? leaf_wide
           : w->nests                    ? leaf_nest
           : w->class == CLASS_REDUCTION ? leaf_reduction
                                         : leaf_pointwise;
}

static void compute_chunk(struct op_work *w, const struct task *t)
{
    struct chunk *c = mem_zeroed(1, sizeof *c);
    struct arena memory = {0};
    c->w = w;
    c->strip = &w->strip[t->strip];
    c->slice = t->slice;
    narrow_windows(&w->x, &c->slice);
    for (int i = 0; i < w->op->input_count; i++) pack_input(c, i, &memory);
    leaf_of(w)(c);
    for (int i = 0; i < w->op->input_count; i++) {
        mem_free(c->operand[i]);
        mem_free(c->wide[i]);
    }
    arena_free(&memory);
    mem_free(c);
}

void strip_chunk(struct op_work *w, size_t strip, const struct slice *part)
{
    compute_chunk(w, &(struct task){strip, *part});
}

static void compute_task(void *context, int64_t task, int worker)
{
    struct tasks *t = context;
    (void)worker;
    compute_chunk(t->w, &t->list.at[task]);
}

/* Halves the variable of the output with the most grains until the operands fit. */
static void add_chunks(struct tasks *t, size_t strip, const struct slice *s)
{
    struct op_work *w = t->w;
    int most = -1;
    int64_t grains = 1;
    for (int v = 0; v < w->x.var_count; v++) {
        int64_t n = ceil_div_i64(strip_compute_width(s, v), grain(w, &w->strip[strip], v));
        if (op_index_reduced(&w->x, v) || n <= grains) continue;
        grains = n;
        most = v;
    }
    if (floats_of(w, s) <= t->most_floats || most < 0) {
        VEC_PUSH(&t->list, (struct task){strip, *s});
        return;
    }
    struct slice low = *s, high = *s;
    low.to[most] = high.from[most] = s->from[most] + grains / 2 * grain(w, &w->strip[strip], most);
    add_chunks(t, strip, &low);
    add_chunks(t, strip, &high);
}

void strip_prepare(struct op_work *w, struct strip_work *s)
{
    int64_t products = w->class == CLASS_CONTRACTION ? 2 : 1;
    make_layout(w, s, &s->slice, w->out, &s->layout);
    if (w->wide)
        s->wide = mem_zeroed((size_t)max_i64(s->layout.floats, 1), sizeof *s->wide);
    else
        s->out = mem_zeroed((size_t)max_i64(s->layout.floats, 1), sizeof *s->out);
    for (int v = 0; v < w->x.var_count; v++)
        if (!op_index_follows(&w->x, v)) products *= strip_compute_width(&s->slice, v);
    if (!w->arith->moves && w == w->results) w->m->counted[s->core].flops += products;
    if (w->nests) prepare_nests(w, s);
}

void compute_strips(struct op_work *w)
{
    if (w->class == CLASS_CHOICE) {
        compute_choice(w);
        return;
    }
    if (w->class == CLASS_RANKING) {
        if (w == w->results) compute_ranking(w);
        return;
    }
    struct tasks t = {.w = w, .most_floats = CHUNK_FLOATS};
    int64_t threads = pool_threads(w->m->pool), floats = 0;
    for (size_t i = 0; i < w->strip_count; i++) floats += floats_of(w, &w->strip[i].slice);
    if (threads > 1)
        t.most_floats =
            min_i64(CHUNK_FLOATS, max_i64(floats / (threads * CHUNKS_A_THREAD) + 1, LEAST_CHUNK_FLOATS));
    for (size_t i = 0; i < w->strip_count; i++) {
        strip_prepare(w, &w->strip[i]);
        add_chunks(&t, i, &w->strip[i].slice);
    }
    if (!w->m->failed) pool_run(w->m->pool, (int64_t)t.list.count, compute_task, &t);
    VEC_FREE(&t.list);
}
