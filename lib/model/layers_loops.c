/* Loop and Scan of ONNX: the body once for each step, what it gives for each step joined. */
#include "model/layers.h"

#include <string.h>

/* One loop under way. */
struct looping {
    int32_t body;
    int64_t trips;
    int carried; /* values that go from step to step */
    int scanned; /* results that are joined */
    int32_t *in, *out;
    int32_t *pieces; /* by result that is joined and step */
};

static bool begin(struct layer *l, struct looping *p, int leading)
{
    const struct model_body *b = &l->m->bodies.at[p->body];
    struct arena *a = &l->m->memory;
    int64_t total = p->trips * (b->op_count + 4);
    if (p->trips < 0 || p->carried < 0 || p->scanned < 0 || total > l->limits->ops) return false;
    if (b->result_count != p->carried + p->scanned + leading / 2) return false;
    p->in = arena_array(a, (size_t)b->argument_count + 1, sizeof *p->in);
    p->out = arena_array(a, (size_t)b->result_count + 1, sizeof *p->out);
    p->pieces = arena_array(a, (size_t)(p->trips * p->scanned) + 1, sizeof *p->pieces);
    return p->in && p->out && p->pieces;
}

/* A result of one step as a piece of the joined one. */
static int32_t piece(struct layer *l, int32_t value, int axis)
{
    const struct model_type *t = layer_type(l, value);
    int64_t extent[MODEL_MAX_RANK];
    if (!l->ok || t->count + 1 > MODEL_MAX_RANK || axis < 0 || axis > t->count) return layer_fail(l), -1;
    for (int d = 0; d <= t->count; d++)
        extent[d] = d < axis ? t->extent[d] : d == axis ? 1 : t->extent[d - 1];
    return layer_reshape(l, value, t->count + 1, extent);
}

static int axis_of(const struct layer *l, const char *key, int i, int rank)
{
    int count;
    const int64_t *list = model_attr_ints(&l->op->attrs, key, &count);
    int64_t axis = i < count ? list[i] : 0;
    if (axis < 0) axis += rank;
    return axis < 0 || axis >= rank ? -1 : (int)axis;
}

static bool flag_of(const struct layer *l, const char *key, int i)
{
    int count;
    const int64_t *list = model_attr_ints(&l->op->attrs, key, &count);
    return i < count && list[i] != 0;
}

/* Results of the op: what is carried, then what is joined. */
static void finish(struct layer *l, const struct looping *p, const int32_t *carried)
{
    for (int i = 0; i < p->carried; i++) {
        int32_t v = carried[i];
        layer_result(l, i, p->trips ? v : layer_one(l, "Identity", v));
    }
    for (int i = 0; l->ok && i < p->scanned; i++) {
        const struct model_type *y = layer_type(l, l->op->results[p->carried + i]);
        int axis = axis_of(l, "scan_output_axes", i, y->count);
        if (p->trips == 0) {
            layer_fail(l);
            return;
        }
        layer_result(l, p->carried + i, layer_concat(l, axis, (int)p->trips, p->pieces + i * p->trips));
    }
}

/* Most trips and first condition (each may be left out), then what is carried. The body: number, condition, carried. */
static void loop(struct layer *l)
{
    if (l->op->body_count != 1) {
        layer_fail(l);
        return;
    }
    const struct model_body *b = &l->m->bodies.at[l->op->bodies[0]];
    struct looping p = {.body = l->op->bodies[0], .carried = l->op->operand_count - 2};
    p.scanned = l->op->result_count - p.carried;
    if (b->argument_count != p.carried + 2 || b->result_count < 1) {
        layer_fail(l);
        return;
    }
    p.trips = l->op->taken - 1; /* as its shapes have it */
    if (p.trips > l->limits->ops || !begin(l, &p, 2)) {
        layer_fail(l);
        return;
    }
    int32_t yes = layer_number(l, MODEL_BOOL, 1);
    for (int i = 0; i < p.carried; i++) p.in[i + 2] = layer_in(l, i + 2);
    for (int64_t t = 0; l->ok && t < p.trips; t++) {
        p.in[0] = layer_number(l, MODEL_I64, (double)t);
        p.in[1] = yes;
        if (!layer_call(l, p.body, p.carried + 2, p.in, p.out)) return;
        memcpy(p.in + 2, p.out + 1, (size_t)p.carried * sizeof *p.in);
        for (int i = 0; i < p.scanned; i++) p.pieces[i * p.trips + t] = piece(l, p.out[1 + p.carried + i], 0);
    }
    finish(l, &p, p.in + 2);
}

/* What is carried, then what is taken apart step by step. The body has the same, and gives both. */
static void scan(struct layer *l)
{
    int64_t taken = layer_int(l, "num_scan_inputs", 0);
    if (l->op->body_count != 1 || taken < 1 || taken > l->op->operand_count) {
        layer_fail(l);
        return;
    }
    struct looping p = {.body = l->op->bodies[0], .carried = l->op->operand_count - (int)taken};
    p.scanned = l->op->result_count - p.carried;
    int axis = axis_of(l, "scan_input_axes", 0, layer_type(l, layer_in(l, p.carried))->count);
    if (axis < 0 || l->m->bodies.at[p.body].argument_count != l->op->operand_count) {
        layer_fail(l);
        return;
    }
    p.trips = layer_type(l, layer_in(l, p.carried))->extent[axis];
    if (p.trips > l->limits->ops || !begin(l, &p, 0)) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < p.carried; i++) p.in[i] = layer_in(l, i);
    for (int64_t t = 0; l->ok && t < p.trips; t++) {
        for (int i = 0; i < taken; i++) {
            int32_t x = layer_in(l, p.carried + i),
                    body_in = l->m->bodies.at[p.body].arguments[p.carried + i];
            const struct model_type *one = layer_type(l, body_in);
            int64_t at = flag_of(l, "scan_input_directions", i) ? p.trips - 1 - t : t;
            x = layer_slice(l, x, axis_of(l, "scan_input_axes", i, layer_type(l, x)->count), at, at + 1);
            p.in[p.carried + i] = layer_reshape(l, x, one->count, one->extent);
        }
        if (!layer_call(l, p.body, l->op->operand_count, p.in, p.out)) return;
        memcpy(p.in, p.out, (size_t)p.carried * sizeof *p.in);
        for (int i = 0; i < p.scanned; i++) {
            int64_t at = flag_of(l, "scan_output_directions", i) ? p.trips - 1 - t : t;
            int rank = layer_type(l, p.out[p.carried + i])->count + 1;
            p.pieces[i * p.trips + at] =
                piece(l, p.out[p.carried + i], axis_of(l, "scan_output_axes", i, rank));
        }
    }
    finish(l, &p, p.in);
}

/* clang-format off */
const struct layer_row layers_loops[] = {
    {{NULL, NULL, "Loop"}, loop},
    {{NULL, NULL, "Scan"}, scan},
    {{NULL}, NULL},
};
/* clang-format on */
