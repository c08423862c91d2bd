#include "support/random_graph.h"

static const int64_t random_extents[] = {1, 2, 6, 16, 32, 64, 128, 192};

static int32_t random_new(struct graph_builder *b, struct random_tensor *t, const char *stem, size_t n,
                          lx_status *st)
{
    char name[40];
    snprintf(name, sizeof name, "%s%zu", stem, n);
    t->number = builder_tensor(b, name, LX_ROLE_COUNT, LX_FP16, t->rank, t->shape, 0, st);
    return t->number;
}

static const char *random_kind(struct rng *r, const struct kind_list *of)
{
    return of->at[rng_below(r, (uint32_t)of->count)]->name;
}

static int64_t random_extent(struct rng *r, const struct random_graph_shape *shape)
{
    uint64_t count = sizeof random_extents / sizeof *random_extents;
    while (shape->largest && count > 1 && random_extents[count - 1] > shape->largest) count--;
    return random_extents[rng_below(r, count)];
}

/* Places are integers, which other ops read as numbers. */
static bool random_places(struct graph_builder *b, const char *name, struct random_tensor *t, int32_t *places,
                          struct lx_op *cast, lx_status *st)
{
    *places = builder_tensor(b, name, LX_ROLE_COUNT, LX_INT32, t->rank, t->shape, 0, st);
    *cast = (struct lx_op){.kind = lx_kind_at(LX_KIND_CAST), .input_count = 1, .inputs = places};
    return *places >= 0;
}

/* An op with several results: the largest along the last index or all in order, with where they stood, or up to four of
 * which nobody knows what they are. */
static bool random_results(struct graph_builder *b, struct rng *r, struct lx_op *op, struct random_tensor x,
                           struct random_tensor *all, size_t *count, lx_status *st)
{
    static const enum lx_kind_id kinds[] = {LX_KIND_GENERIC, LX_KIND_TOPK, LX_KIND_SORT, LX_KIND_MAX};
    static const char *const einsums[][4] = {{NULL, "ab->an", "ab->ab", "ab->a"},
                                             {NULL, "abc->abn", "abc->abc", "abc->ab"}};
    int kind = x.shape[x.rank - 1] > 1 ? (int)rng_below(r, 4) : 0;
    int last = x.rank - 1, results = kind ? 2 : 2 + (int)rng_below(r, 3);
    struct lx_op_params p = op_params_none();
    struct random_tensor made = x;
    int32_t outputs[4], places = -1;
    struct lx_op cast = {0};
    char name[60];
    bool ok = true;
    p.axis = kind < 3 ? last : -1;
    if (kind == 1) made.shape[last] = p.k = rng_between(r, 1, x.shape[last]);
    if (kind == 3) made.rank--;
    for (int i = 0; i < results && ok; i++) {
        snprintf(name, sizeof name, "%s_places", op->name);
        if (kind && i > 0)
            ok = random_places(b, name, &made, &places, &cast, st);
        else
            ok = random_new(b, &made, "t", *count, st) >= 0;
        outputs[i] = places >= 0 ? places : made.number;
        made.made = true;
        if (places < 0) all[(*count)++] = made;
    }
    op->kind = lx_kind_at(kinds[kind]);
    op->einsum = einsums[x.rank == 3][kind];
    op->params = kind == 1 || kind == 2 ? &p : NULL;
    op->outputs = outputs;
    op->output_count = results;
    ok = ok && builder_op(b, op, st);
    if (!ok || places < 0) return ok;
    snprintf(name, sizeof name, "%s_cast", op->name);
    cast.name = name;
    ok = random_new(b, &made, "t", *count, st) >= 0;
    cast.output = made.number;
    all[(*count)++] = made;
    return ok && builder_op(b, &cast, st);
}

const struct lx_graph *random_graph(struct rng *r, const struct random_graph_shape *shape, lx_status *st)
{
    struct graph_builder b;
    struct random_tensor all[200];
    size_t count = 0, inputs = 2 + rng_below(r, 3);
    builder_begin(&b, "random", "random");
    lx_device_preset("spyre", &b.graph->device);
    b.graph->device.cores = shape->cores;
    b.graph->target_hbm_bytes = -1;
    const struct kind_list unary = kinds_that(kind_is_unary), binary = kinds_that(kind_is_binary),
                           reductions = kinds_that(kind_reduces);
    bool ok = true;
    for (size_t i = 0; ok && i < inputs; i++) {
        struct random_tensor t = {.rank = 2 + (int)rng_below(r, 2)};
        for (int d = 0; d < t.rank; d++) t.shape[d] = random_extent(r, shape);
        ok = random_new(&b, &t, "in", i, st) >= 0;
        all[count++] = t;
    }
    for (int o = 0; ok && o < shape->ops && count < 190; o++) {
        struct random_tensor *x = &all[rng_below(r, count)], out = *x;
        int32_t operands[3] = {x->number};
        char name[40], einsum[60], in[8], kept[8] = "";
        struct lx_op op = {.name = name, .inputs = operands, .input_count = 1};
        int64_t offset[3] = {0}, stride[3] = {1, 1, 1};
        snprintf(name, sizeof name, "op%d", o);
        for (int d = 0; d < x->rank; d++) in[d] = (char)('a' + d), in[d + 1] = 0;
        uint64_t what = rng_below(r, 100);
        if (what >= 78 && shape->with_results && x->rank >= 2) {
            ok = random_results(&b, r, &op, *x, all, &count, st);
            continue;
        }
        const char *kind = random_kind(r, &unary);
        snprintf(einsum, sizeof einsum, "%s->%s", in, in);
        if (what < 22) {
            kind = random_kind(r, &binary); /* with itself, or with another of the same shape */
            struct random_tensor *y = &all[rng_below(r, count)];
            bool same =
                y->rank == x->rank && memcmp(y->shape, x->shape, sizeof *y->shape * (size_t)y->rank) == 0;
            operands[1] = same ? y->number : x->number;
            op.input_count = 2;
            snprintf(einsum, sizeof einsum, "%s,%s->%s", in, in, in);
        } else if (what < 42 && x->rank > 1) {
            int gone = (int)rng_below(r, (uint32_t)x->rank);
            kind = random_kind(r, &reductions);
            out.rank = 0;
            for (int d = 0; d < x->rank; d++)
                if (d != gone) {
                    kept[out.rank] = in[d];
                    kept[out.rank + 1] = 0;
                    out.shape[out.rank++] = x->shape[d];
                }
            snprintf(einsum, sizeof einsum, "%s->%s", in, kept);
            /* and half of the time it comes back as a broadcast */
            if (rng_below(r, 2) && count < 180) {
                struct random_tensor small = out;
                op.kind = lx_kind_find(kind);
                op.einsum = einsum;
                ok = random_new(&b, &small, "t", count, st) >= 0;
                op.output = small.number;
                ok = ok && builder_op(&b, &op, st);
                small.made = true;
                struct random_tensor whole = *x;
                all[count++] = small;
                snprintf(name, sizeof name, "op%db", o);
                operands[0] = whole.number;
                operands[1] = small.number;
                op.input_count = 2;
                out = whole;
                kind = random_kind(r, &binary);
                snprintf(einsum, sizeof einsum, "%s,%s->%s", in, kept, in);
            }
        } else if (what < 60 && x->rank >= 2) {
            /* A contraction with a new weight: the last index goes, another comes. */
            struct random_tensor w = {.rank = 2, .shape = {x->shape[x->rank - 1], random_extent(r, shape)}};
            kind = "matmul";
            ok = random_new(&b, &w, "w", count, st) >= 0;
            all[count++] = w;
            operands[1] = w.number;
            op.input_count = 2;
            out.shape[out.rank - 1] = w.shape[1];
            snprintf(kept, sizeof kept, "%s", in);
            kept[out.rank - 1] = 'n';
            snprintf(einsum, sizeof einsum, "%s,%cn->%s", in, in[x->rank - 1], kept);
        } else if (what < 72 && shape->with_views) {
            bool cut = false;
            kind = rng_below(r, 2) ? "slice" : "shift";
            for (int d = 0; d < x->rank; d++) {
                if (kind[1] == 'l' && x->shape[d] > 2 && rng_below(r, 2)) {
                    out.shape[d] = x->shape[d] / 2;
                    offset[d] = (int64_t)rng_below(r, (uint32_t)(x->shape[d] - out.shape[d] + 1));
                    cut = true;
                } else if (kind[1] == 'h')
                    offset[d] = (int64_t)rng_below(r, 3) - 1;
            }
            if (kind[1] == 'l' && !cut) kind = "clone";
            if (strcmp(kind, "clone") != 0) {
                op.offset = offset;
                op.stride = kind[1] == 'l' ? stride : NULL;
                einsum[0] = 0;
            }
        } else if (what < 78 && shape->with_externs) {
            kind = "extern";
            einsum[0] = 0;
        }
        op.kind = lx_kind_find(kind);
        op.einsum = einsum[0] ? einsum : NULL;
        struct random_tensor *old = NULL;
        for (size_t i = 0; shape->again && i < count && rng_below(r, 4) == 0 && !old; i++)
            if (all[i].made && all[i].rank == out.rank && all[i].number != operands[0] &&
                all[i].number != operands[1] &&
                memcmp(all[i].shape, out.shape, sizeof *out.shape * (size_t)out.rank) == 0)
                old = &all[i];
        if (old)
            op.output = old->number;
        else {
            ok = ok && random_new(&b, &out, "t", count, st) >= 0;
            op.output = out.number;
        }
        ok = ok && builder_op(&b, &op, st);
        out.made = true;
        if (ok && !old) all[count++] = out;
    }
    const struct lx_graph *g = ok ? builder_finish(&b, st) : NULL;
    builder_abandon(&b);
    return g;
}
