/* A plain evaluation of a pattern: whole tensors in host order, one op after the other in the order of the
 * file, in fp32, rounded to the type of each result. It shares no code with the execution of plans but the
 * conversions of elements and the mixing of bytes. */
#include "device/reference/reference.h"
#include "base/fail.h"
#include "device/execute/arith.h"
#include "device/reference/input_data.h"
#include "device/memory/dtypes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One op on whole tensors. */
struct evaluation {
    const struct lx_graph *g;
    const struct lx_op *op;
    float *in[3];
    float *out;
    int64_t out_count;
    const struct meaning *meaning; /* NULL: bytes are mixed */
    /* Per variable of an einsum, outermost first: those of the output, then those that are summed. */
    int vars, kept;
    int64_t extent[LX_MAX_VARS];
    int64_t step[3][LX_MAX_VARS];
};

static int64_t step_in(const struct lx_graph *g, const struct lx_op *op, int operand, int v)
{
    const struct lx_tensor *t = &g->tensors[operand < op->input_count ? op->inputs[operand] : op->output];
    int64_t step = 0, n = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        if (op->map->index[operand][d] == v) step = n;
        n *= t->shape[d];
    }
    return step;
}

static void order_variables(struct evaluation *e)
{
    const struct lx_einsum *map = e->op->map;
    int order[LX_MAX_VARS], out = e->op->input_count;
    bool placed[LX_MAX_VARS] = {0};
    for (int d = 0; d < map->rank[out]; d++) {
        order[e->vars++] = map->index[out][d];
        placed[map->index[out][d]] = true;
    }
    e->kept = e->vars;
    for (int v = 0; v < map->var_count; v++)
        if (!placed[v]) order[e->vars++] = v;
    for (int k = 0; k < e->vars; k++) {
        e->extent[k] = map->extent[order[k]];
        for (int i = 0; i < out && i < 3; i++) e->step[i][k] = step_in(e->g, e->op, i, order[k]);
    }
}

/* Offsets of output element `n` in the inputs. */
static void offsets_of(const struct evaluation *e, int64_t n, int64_t *offset)
{
    offset[0] = offset[1] = offset[2] = 0;
    for (int k = e->kept - 1; k >= 0; k--) {
        for (int i = 0; i < 3; i++) offset[i] += n % e->extent[k] * e->step[i][k];
        n /= e->extent[k];
    }
}

static void pointwise_block(const struct evaluation *e, int64_t from, int64_t to)
{
    float value = (float)e->op->value;
    int inputs = e->op->input_count;
    for (int64_t n = from; n < to; n++) {
        int64_t at[3];
        float x[3] = {0, 0, 0};
        offsets_of(e, n, at);
        for (int i = 0; i < inputs && i < 3; i++) x[i] = e->in[i][at[i]];
        if (e->op->has_value) x[inputs] = value;
        e->out[n] = e->meaning->in_float(x);
    }
}

/* The summed variables of output element n, one after the other. */
static void reduction_block(const struct evaluation *e, int64_t from, int64_t to)
{
    const struct meaning_fold *fold = e->meaning->fold;
    int64_t terms = 1;
    for (int k = e->kept; k < e->vars; k++) terms *= e->extent[k];
    for (int64_t n = from; n < to; n++) {
        int64_t at[3];
        offsets_of(e, n, at);
        float pair[2] = {(float)fold->start};
        for (int64_t j = 0; j < terms; j++) {
            int64_t rest = j, offset = at[0];
            for (int k = e->vars - 1; k >= e->kept; k--) {
                offset += rest % e->extent[k] * e->step[0][k];
                rest /= e->extent[k];
            }
            pair[1] = e->in[0][offset];
            pair[0] = fold->adds ? pair[0] + pair[1] : fold->in_float(pair);
        }
        e->out[n] = fold->divides ? pair[0] / (float)terms : pair[0];
    }
}

/* Neighbours times neighbours, in a few sums side by side. */
static float dot(const float *a, const float *b, int64_t count)
{
    enum { SIDES = 8 };
    float side[SIDES] = {0}, total = 0;
    int64_t i = 0;
    for (; i + SIDES <= count; i += SIDES)
        for (int k = 0; k < SIDES; k++) side[k] += a[i + k] * b[i + k];
    for (; i < count; i++) total += a[i] * b[i];
    for (int k = 0; k < SIDES; k++) total += side[k];
    return total;
}

/* The last variable of the output runs innermost: the rows of the second operand are walked as they stand.
 * Where the summed variable is the one that stands so, in both, it runs innermost instead. */
static void contraction_block(const struct evaluation *e, int64_t from, int64_t to)
{
    int last = e->kept - 1;
    int64_t row = last >= 0 ? e->extent[last] : 1, terms = 1;
    int64_t step_a = last >= 0 ? e->step[0][last] : 0, step_b = last >= 0 ? e->step[1][last] : 0;
    for (int k = e->kept; k < e->vars; k++) terms *= e->extent[k];
    for (int64_t n = from; n < to; n++) {
        int64_t at[3];
        float *out = e->out + n * row;
        offsets_of(e, n * row, at);
        if (e->vars == e->kept + 1 && e->step[0][e->kept] == 1 && e->step[1][e->kept] == 1) {
            for (int64_t i = 0; i < row; i++)
                out[i] = dot(e->in[0] + at[0] + i * step_a, e->in[1] + at[1] + i * step_b, terms);
            continue;
        }
        for (int64_t i = 0; i < row; i++) out[i] = 0;
        for (int64_t j = 0; j < terms; j++) {
            int64_t rest = j, a = at[0], b = at[1];
            for (int k = e->vars - 1; k >= e->kept; k--) {
                int64_t x = rest % e->extent[k];
                a += x * e->step[0][k];
                b += x * e->step[1][k];
                rest /= e->extent[k];
            }
            const float *pa = e->in[0] + a, *pb = e->in[1] + b;
            if (step_a == 0 && step_b == 1)
                for (int64_t i = 0; i < row; i++) out[i] += *pa * pb[i];
            else
                for (int64_t i = 0; i < row; i++) out[i] += pa[i * step_a] * pb[i * step_b];
        }
    }
}

/* slice, shift and restickify: element n of the output from the input; insert: the reverse. */
static void view_block(const struct evaluation *e, int64_t from, int64_t to)
{
    const struct lx_op *op = e->op;
    const struct lx_tensor *in = &e->g->tensors[op->inputs[0]], *out = &e->g->tensors[op->output];
    bool insert = op_keeps(op);
    const struct lx_tensor *walked = insert ? in : out, *other = insert ? out : in;
    for (int64_t n = from; n < to; n++) {
        int64_t rest = n, at = 0, step = 1;
        bool outside = false;
        for (int d = walked->rank - 1; d >= 0; d--) {
            int64_t index = rest % walked->shape[d];
            rest /= walked->shape[d];
            index = (op->offset ? op->offset[d] : 0) + (op->stride ? op->stride[d] : 1) * index;
            outside |= index < 0 || index >= other->shape[d];
            at += index * step;
            step *= other->shape[d];
        }
        if (insert)
            e->out[at] = e->in[0][n];
        else
            e->out[n] = outside ? 0 : e->in[0][at];
    }
}

struct share {
    const struct evaluation *e;
    void (*block)(const struct evaluation *e, int64_t from, int64_t to);
    int64_t count, per_task;
};

static void share_task(void *context, int64_t task, int worker)
{
    const struct share *s = context;
    int64_t from = task * s->per_task, to = from + s->per_task;
    (void)worker;
    s->block(s->e, from, to < s->count ? to : s->count);
}

static void evaluate_shaped(struct lx_reference *r, struct evaluation *e)
{
    struct share s = {.e = e, .count = e->out_count};
    if (e->op->map) {
        order_variables(e);
        s.block = e->op->kind->traits & LX_CONTRACTS ? contraction_block
                  : e->op->reduces                   ? reduction_block
                                                     : pointwise_block;
        if (s.block == contraction_block && e->kept > 0) s.count /= e->extent[e->kept - 1];
    } else {
        s.block = view_block;
        if (op_keeps(e->op)) {
            s.count = 1;
            for (int d = 0; d < e->g->tensors[e->op->inputs[0]].rank; d++)
                s.count *= e->g->tensors[e->op->inputs[0]].shape[d];
        }
    }
    s.per_task = s.count / 64 + 1;
    pool_run(r->pool, (s.count + s.per_task - 1) / s.per_task, share_task, &s);
}

static bool is_shaped(const struct lx_graph *g, const struct lx_op *op)
{
    if (op->map) return true;
    bool shaped = op->input_count == 1 && g->tensors[op->output].rank >= 0 &&
                  g->tensors[op->inputs[0]].rank == g->tensors[op->output].rank;
    return shaped && (op->offset || op->kind->id == LX_KIND_RESTICKIFY);
}

static void *decoded(const struct reference_value *v)
{
    float *to = malloc((size_t)(v->count + 1) * sizeof *to);
    if (to) items_decode(&number_types[v->dtype], v->items, v->count, to);
    return to;
}

static bool evaluate(struct lx_reference *r, int32_t o, struct reference_value *out)
{
    const struct lx_graph *g = r->program.pattern;
    const struct lx_op *op = &g->ops[o];
    const struct number_type *type = &number_types[out->dtype];
    if (!is_shaped(g, op)) {
        struct mix_operand inputs[LX_MAX_INPUTS];
        for (int i = 0; i < op->input_count; i++) {
            const struct reference_value *v = &r->values[program_input(&r->program, o, i)];
            inputs[i] = (struct mix_operand){v->items, v->count * number_types[v->dtype].item};
        }
        if (g->tensors[op->output].rank < 0)
            mix_bytes(op, inputs, out->items, out->count);
        else
            mix_elements(op, inputs, out->dtype, out->items, out->count);
        return true;
    }
    struct evaluation e = {.g = g, .op = op, .out_count = out->count, .meaning = meaning_of(op->kind)};
    bool ok = true;
    for (int i = 0; i < op->input_count && i < 3 && ok; i++) {
        e.in[i] = decoded(&r->values[program_input(&r->program, o, i)]);
        ok = e.in[i] != NULL;
    }
    if (ok)
        e.out = r->program.kept[o] >= 0 ? decoded(&r->values[r->program.kept[o]])
                                        : calloc((size_t)out->count + 1, sizeof *e.out);
    ok = ok && e.out;
    if (ok) {
        evaluate_shaped(r, &e);
        items_encode(type, e.out, out->count, out->items);
    }
    for (int i = 0; i < 3; i++) free(e.in[i]);
    free(e.out);
    return ok;
}

static void measure(struct reference_value *v)
{
    enum { BLOCK = 1024 };
    const struct number_type *t = &number_types[v->dtype];
    float block[BLOCK];
    double squares = 0;
    float largest = 0, smallest = INFINITY;
    for (int64_t from = 0; from < v->count && !v->bytes; from += BLOCK) {
        int64_t n = v->count - from < BLOCK ? v->count - from : BLOCK;
        items_decode(t, (const char *)v->items + from * t->item, n, block);
        for (int64_t i = 0; i < n; i++) {
            float a = fabsf(block[i]);
            if (!(a <= FLT_MAX)) continue;
            largest = a > largest ? a : largest;
            smallest = a < smallest ? a : smallest;
            squares += (double)a * (double)a;
        }
    }
    v->largest = (double)largest;
    v->smallest = (double)smallest;
    v->rms = v->count > 0 ? sqrt(squares / (double)v->count) : 0;
}

static bool make_value(struct lx_reference *r, int32_t n)
{
    const struct lx_graph *g = r->program.pattern;
    const struct lx_tensor *t = &g->tensors[value_tensor(&r->program, n)];
    struct reference_value *v = &r->values[n];
    *v = (struct reference_value){.count = t->bytes, .dtype = LX_INT8, .bytes = t->rank < 0};
    if (t->rank >= 0) {
        v->count = 1;
        v->dtype = t->dtype;
        for (int d = 0; d < t->rank; d++) v->count *= t->shape[d];
    }
    /* Room up to whole words, which ops on bytes read. */
    v->items = calloc((size_t)(v->count * number_types[v->dtype].item) / 8 + 1, 8);
    return v->items != NULL;
}

static bool evaluate_all(struct lx_reference *r)
{
    const struct lx_graph *g = r->program.pattern;
    for (int32_t n = 0; n < r->program.value_count; n++) {
        struct reference_value *v = &r->values[n];
        int32_t o = n - g->tensor_count;
        if (!make_value(r, n)) return false;
        if (o < 0)
            data_fill(g, n, r->seed, r->pool, v->items, v->count);
        else if (!evaluate(r, o, v))
            return false;
        measure(v);
        if (o < 0) continue;
        const struct reference_value *inputs[LX_MAX_INPUTS];
        for (int i = 0; i < g->ops[o].input_count; i++)
            inputs[i] = &r->values[program_input(&r->program, o, i)];
        int32_t kept = r->program.kept[o];
        v->tolerance = tolerance_of(&g->ops[o], inputs, kept >= 0 ? r->values[kept].tolerance : 0, v);
    }
    return true;
}

struct lx_reference *lx_reference_make(const struct lx_graph *pattern, uint64_t seed, int threads,
                                       lx_status *st)
{
    if (!meanings_known(pattern, st)) return NULL;
    struct lx_reference *r = calloc(1, sizeof *r);
    if (!r) return status_no_memory(st), NULL;
    r->seed = seed;
    bool ok = program_make(pattern, &r->memory, &r->program, st);
    if (ok) {
        r->values = calloc((size_t)r->program.value_count + 1, sizeof *r->values);
        r->pool = pool_create(threads > 0 ? threads : 1);
        ok = r->values && r->pool && evaluate_all(r) ? true : status_no_memory(st);
    }
    pool_destroy(r->pool);
    r->pool = NULL;
    if (ok) return r;
    lx_reference_free(r);
    return NULL;
}

void lx_reference_free(struct lx_reference *r)
{
    if (!r) return;
    for (int32_t n = 0; r->values && n < r->program.value_count; n++) free(r->values[n].items);
    free(r->values);
    arena_free(&r->memory);
    free(r);
}
