/* Strips are computed chunk by chunk: operands are packed into dense fp32 arrays and handed to the leaf of
 * the op's class. Chunks cut variables of the output only, between tiles where tiles have nests, so that
 * every sum is made in one piece and every element is the same in any chunk. */
#include "device/execute/execute.h"

/* A chunk has at most 16 MiB of packed operands; less if threads would lack chunks, but at least the
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

static int64_t floats_of(const struct op_work *w, const struct slice *s)
{
    int64_t all = 0;
    for (int i = 0; i < w->op->input_count; i++) {
        int64_t n = 1;
        for (int h = 0; h < w->x.rank[i]; h++) {
            int v = w->x.var[i][h];
            n *= s->to[v] - s->from[v];
        }
        all += n;
    }
    return all;
}

static void make_layout(const struct op_work *w, const struct strip_work *s, const struct slice *part,
                        int operand, struct dense *out)
{
    int order[LX_MAX_VARS];
    int64_t widths[LX_MAX_VARS], tiles[LX_MAX_VARS];
    int n = tile_operand_order(&w->x, w->class == CLASS_CONTRACTION,
                               &w->m->layouts[op_operand(w->op, operand)], operand, order);
    for (int v = 0; v < w->x.var_count; v++) {
        widths[v] = part->to[v] - part->from[v];
        /* Only nests need their tiles dense. */
        tiles[v] = w->nests ? s->strip.tile[v] : max_i64(s->slice.to[v] - s->slice.from[v], 1);
    }
    dense_make(order, n, widths, tiles, out);
}

void strip_chunk(struct op_work *w, size_t strip, const struct slice *part)
{
    OWNED struct chunk *c = mem_zeroed(1, sizeof *c);
    SCOPED(arena_free) struct arena memory = {0};
    c->w = w;
    c->strip = &w->strip[strip];
    c->slice = *part;
    narrow_windows(&w->x, &c->slice);
    for (int i = 0; i < w->op->input_count; i++) {
        const struct place *p = &w->core[c->strip->core].place[i];
        struct region r;
        make_layout(w, c->strip, &c->slice, i, &c->layout[i]);
        size_t count = (size_t)max_i64(c->layout[i].floats, 1);
        bool usable = c->strip->usable >> i & 1;
        if (w->wide)
            c->wide[i] = mem_zeroed(count, sizeof *c->wide[i]);
        else
            c->operand[i] = usable ? mem_alloc(count * sizeof(float)) : mem_zeroed(count, sizeof(float));
        if (!usable) continue;
        region_make(&w->m->layouts[op_operand(w->op, i)], &p->box, &w->x, i, &c->slice, &memory, &r);
        struct dense_operand o = work_operand(w, c->strip, i, &r, &c->layout[i], c->operand[i], c->wide[i]);
        dense_gather(&o);
    }
    leaf_function *leaf = w->wide                       ? leaf_wide
                          : w->nests                    ? leaf_nest
                          : w->class == CLASS_REDUCTION ? leaf_reduction
                                                        : leaf_pointwise;
    if (w->class == CLASS_CHOICE && w->wide) leaf = leaf_wide_choice;
    if (w->class == CLASS_RANKING) leaf = leaf_ranking;
    if (w->op->kind->traits & LX_PLACES) leaf = leaf_places;
    if (w->x.window_count)
        leaf = w->wide                         ? leaf_wide_windows
               : w->class == CLASS_CONTRACTION ? leaf_window_products
                                               : leaf_window_fold;
    leaf(c);
    for (int i = 0; i < w->op->input_count; i++) {
        mem_free(c->operand[i]);
        mem_free(c->wide[i]);
    }
}

static void compute_task(void *context, int64_t task, int worker)
{
    struct tasks *t = context;
    (void)worker;
    strip_chunk(t->w, t->list.at[task].strip, &t->list.at[task].slice);
}

/* Halves the variable of the output with the most grains until the operands fit. */
static void add_chunks(struct tasks *t, size_t strip, const struct slice *s)
{
    struct op_work *w = t->w;
    int most = -1;
    int64_t grains = 1;
    for (int v = 0; v < w->x.var_count; v++) {
        /* A tile of a nest, or one element, is not cut further. */
        int64_t grain = w->nests ? w->strip[strip].strip.tile[v] : 1;
        int64_t n = ceil_div_i64(s->to[v] - s->from[v], grain);
        if (op_index_reduced(&w->x, v) || n <= grains) continue;
        grains = n;
        most = v;
    }
    if (floats_of(w, s) <= t->most_floats || most < 0) {
        VEC_PUSH(&t->list, (struct task){strip, *s});
        return;
    }
    struct slice low = *s, high = *s;
    low.to[most] = high.from[most] =
        s->from[most] + grains / 2 * (w->nests ? w->strip[strip].strip.tile[most] : 1);
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
        if (!op_index_follows(&w->x, v)) products *= (s->slice.to[v] - s->slice.from[v]);
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
