/* The whole pattern in fp64, one op after the other in the order of the file: floating-point numbers are
 * never rounded between ops, integers are. Nothing is judged by it: behind many ops rounding errors are as
 * large as they are, and it is told. Of ops that mix bytes a value is known only as long as no rounded
 * number went into it.
 *
 * A value is dropped behind the last op that reads it. */
#include "device/reference/reference.h"
#include "base/fail.h"
#include "base/cancel.h"
#include "base/memory.h"
#include "device/execute/arith.h"
#include "device/reference/evaluate.h"
#include "graph/graph.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* While the pattern is evaluated: stored items, numbers, or neither where nobody knows. */
struct value {
    void *items;
    double *wide;
    int64_t count;
    enum lx_dtype dtype;
    bool whole;    /* integers, which are stored rounded */
    bool computed; /* items of 64 bits that an op has made: what was rounded on the way may be another bit */
    int32_t last_op;
};

struct evaluating {
    struct lx_reference *r;
    const struct lx_graph *g;
    struct value *values;
    struct pool *pool;
};

/* Room up to whole words, which ops on bytes read. */
static void reference_items_make(struct value *x)
{
    x->items = mem_zeroed((size_t)(x->count * number_types[x->dtype].item) / 8 + 1, 8);
}

static void keep_numbers(void *context, int worker, int64_t at, const struct expected *x)
{
    const struct value *to = context;
    (void)worker;
    for (int64_t i = 0; to->items && i < x->count; i++) {
        wide_number n = x->exact ? x->exact[i] : (wide_number)x->value[i];
        items_from_wide(&number_types[to->dtype], &n, 1, (char *)to->items + (at + i) * 8);
    }
    for (int64_t i = 0; !to->items && i < x->count; i++) {
        double n = expected_number(x, i);
        to->wide[at + i] = to->whole ? stored_number(to->dtype, n) : n;
    }
}

/* Room for what an op makes: fp64 does not have all integers of 64 bits. */
static void numbers_make(struct value *x)
{
    x->computed = true;
    if (x->whole && number_types[x->dtype].bits == 64) {
        reference_items_make(x);
        return;
    }
    x->wide = mem_alloc((size_t)(x->count + 1) * sizeof *x->wide);
}

static struct operand reference_operand_of(const struct value *x)
{
    return (struct operand){.items = x->items, .type = &number_types[x->dtype], .wide = x->wide};
}

static bool is_known(const struct value *x)
{
    return x->items || x->wide;
}

static void evaluate_shaped(struct evaluating *v, int32_t o, const struct lx_op *op, struct value *out)
{
    struct evaluation e = {.g = v->g, .op = op, .take = keep_numbers, .context = out};
    int32_t kept = v->r->program.kept[o];
    bool known = op->kind->id != LX_KIND_BITCAST && (kept < 0 || is_known(&v->values[kept]));
    for (int i = 0; i < op->input_count && i < EVALUATED_MOST; i++) {
        const struct value *x = &v->values[program_input(&v->r->program, o, i)];
        known = known && is_known(x);
        e.in[i] = reference_operand_of(x);
    }
    if (kept >= 0) e.kept = reference_operand_of(&v->values[kept]);
    if (!known) return;
    numbers_make(out);
    evaluate_op(&e, v->pool);
}

static void evaluate_mixed(struct evaluating *v, int32_t o, const struct lx_op *op, int result,
                           struct value *out)
{
    struct mix_operand inputs[LX_MAX_INPUTS];
    bool known = true;
    for (int i = 0; i < op->input_count; i++) {
        const struct value *x = &v->values[program_input(&v->r->program, o, i)];
        known = known && x->items && !x->computed;
        inputs[i] = (struct mix_operand){x->items, x->count * number_types[x->dtype].item};
    }
    if (!known) return;
    reference_items_make(out);
    if (v->g->tensors[op->output].rank < 0)
        mix_bytes(op, result, inputs, out->items, out->count);
    else
        mix_elements(op, result, inputs, out->dtype, out->items, out->count);
}

static void evaluate_made(struct evaluating *v, int32_t o, struct value *out)
{
    const struct lx_op *op = &v->g->ops[o];
    const struct value *x = op->input_count > 0 ? &v->values[program_input(&v->r->program, o, 0)] : NULL;
    struct operand in = {0};
    if (x && !is_known(x)) return;
    if (x) in = reference_operand_of(x);
    wide_number *value = mem_alloc((size_t)(out->count + 1) * sizeof *value);
    double *slack = mem_alloc((size_t)(out->count + 1) * sizeof *slack);
    numbers_make(out);
    made_values(v->g, op, &in, value, slack);
    keep_numbers(out, 0, 0, &(struct expected){.count = out->count, .exact = value});
    mem_free(value);
    mem_free(slack);
}

/* The same elements in another shape: what was not rounded stays so. */
static void evaluate_reshape(struct evaluating *v, int32_t o, struct value *out)
{
    const struct value *x = &v->values[program_input(&v->r->program, o, 0)];
    out->computed = x->computed;
    if (x->items) {
        reference_items_make(out);
        memcpy(out->items, x->items, (size_t)(x->count * number_types[x->dtype].item));
    }
    if (!x->wide) return;
    out->wide = mem_alloc((size_t)(out->count + 1) * sizeof *out->wide);
    memcpy(out->wide, x->wide, (size_t)out->count * sizeof *out->wide);
}

/* Does a reshape keep elements, rather than bytes? */
static bool keeps_elements(const struct evaluating *v, int32_t o, const struct value *out)
{
    const struct lx_op *op = &v->g->ops[o];
    if (op->kind->id != LX_KIND_RESHAPE || op->input_count != 1) return false;
    const struct value *x = &v->values[program_input(&v->r->program, o, 0)];
    return x->count == out->count && x->dtype == out->dtype;
}

static void reference_drop(struct value *x)
{
    mem_free(x->items);
    mem_free(x->wide);
    x->items = x->wide = NULL;
}

/* Inputs and zeros when they are first read. */
static void begin_value(struct evaluating *v, int32_t n)
{
    struct value *x = n >= 0 && n < v->g->tensor_count ? &v->values[n] : NULL;
    if (!x || x->items) return;
    reference_items_make(x);
    data_fill(v->g, n, v->r->seed, v->pool, x->items, x->count);
}

/* False: cancelled. */
static bool evaluate_all(struct evaluating *v)
{
    for (int32_t n = 0; n < v->r->program.value_count; n++) {
        const struct lx_tensor *t = &v->g->tensors[value_tensor(&v->r->program, n)];
        struct value *x = &v->values[n];
        *x = (struct value){.count = t->rank < 0 ? t->bytes : 1, .dtype = t->rank < 0 ? LX_INT8 : t->dtype};
        for (int d = 0; d < t->rank; d++) x->count *= t->shape[d];
        x->whole = number_types[x->dtype].integer;
        x->last_op = -1;
    }
    const struct program *p = &v->r->program;
    for (int32_t o = 0; o < v->g->op_count; o++) {
        for (int i = 0; i < v->g->ops[o].input_count; i++) v->values[program_input(p, o, i)].last_op = o;
        if (p->kept[o] >= 0) v->values[p->kept[o]].last_op = o;
    }
    for (int32_t t = 0; t < v->g->tensor_count; t++)
        if (lx_role_leaves(v->g->tensors[t].role)) v->values[p->final[t]].last_op = v->g->op_count;
    for (int32_t o = 0; o < v->g->op_count; o++) {
        for (int i = 0; i < v->g->ops[o].input_count; i++)
            begin_value(v, program_input(&v->r->program, o, i));
        begin_value(v, v->r->program.kept[o]);
        for (int i = 0; i < v->g->ops[o].output_count; i++) {
            struct lx_op op = op_of_result(&v->g->ops[o], i);
            struct value *out = &v->values[v->r->program.made_at[o] + i];
            if (pool_cancelled(v->pool)) return false;
            if (made_known(&op))
                evaluate_made(v, o, out);
            else if (op_is_shaped(v->g, &op))
                evaluate_shaped(v, o, &op, out);
            else if (keeps_elements(v, o, out))
                evaluate_reshape(v, o, out);
            else
                evaluate_mixed(v, o, &op, i, out);
        }
        if (pool_cancelled(v->pool)) return false;
        int32_t kept = v->r->program.kept[o];
        for (int i = 0; i <= v->g->ops[o].input_count; i++) {
            int32_t n = i < v->g->ops[o].input_count ? program_input(&v->r->program, o, i) : kept;
            if (n >= 0 && v->values[n].last_op <= o) reference_drop(&v->values[n]);
        }
        for (int i = 0; i < v->g->ops[o].output_count; i++) {
            struct value *made = &v->values[v->r->program.made_at[o] + i];
            if (made->last_op < 0) reference_drop(made);
        }
    }
    return true;
}

struct lx_reference *reference_make(const struct lx_graph *pattern, uint64_t seed, struct pool *pool,
                                    lx_status *st)
{
    if (!meanings_known(pattern, st)) return NULL;
    if (pattern->came_from) return reference_make(pattern->came_from, seed, pool, st);
    struct lx_reference *r = mem_zeroed(1, sizeof *r);
    struct evaluating v = {.r = r, .g = pattern, .pool = pool};
    r->seed = seed;
    program_make(pattern, &r->memory, &r->program);
    r->outputs = arena_array(&r->memory, (size_t)pattern->tensor_count, sizeof *r->outputs);
    v.values = mem_zeroed((size_t)r->program.value_count + 1, sizeof *v.values);
    bool ok =
        evaluate_all(&v) || status_set(st, LX_E_STOPPED, "stopped while the fp64 reference was computed");
    if (ok) {
        for (int32_t t = 0; t < v.g->tensor_count; t++) {
            struct value *x = &v.values[v.r->program.final[t]];
            if (!lx_role_leaves(v.g->tensors[t].role)) continue;
            if (x->items && !x->wide) {
                x->wide = mem_alloc((size_t)(x->count + 1) * sizeof *x->wide);
                items_widen(&number_types[x->dtype], x->items, x->count, x->wide);
            }
            if (!x->wide) continue;
            v.r->outputs[t] = (struct reference_output){x->wide, x->count};
            x->wide = NULL;
        }
    }
    for (int32_t n = 0; n < r->program.value_count; n++) reference_drop(&v.values[n]);
    mem_free(v.values);
    if (ok) return r;
    lx_reference_free(r);
    return NULL;
}

/* Outputs of a graph that was rewritten have the names that they had in the one it came from. */
static const struct reference_output *output_named(const struct lx_reference *r, const char *name)
{
    static const struct reference_output none = {0};
    const struct lx_graph *g = r->program.pattern;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return &r->outputs[t];
    return &none;
}

bool reference_distance(const struct lx_reference *r, const char *tensor, enum lx_dtype dtype,
                        const void *items, double *error, double *largest)
{
    const struct reference_output *x = output_named(r, tensor);
    const struct operand got = {.items = items, .type = &number_types[dtype]};
    *error = *largest = 0;
    for (int64_t from = 0; x->numbers && from < x->count; from += JUDGED_MOST) {
        double row[JUDGED_MOST];
        int64_t n = x->count - from < JUDGED_MOST ? x->count - from : JUDGED_MOST;
        operand_row(&got, from, 1, n, row);
        for (int64_t i = 0; i < n; i++) {
            double want = x->numbers[from + i], difference = fabs(row[i] - want);
            if (difference <= DBL_MAX) *error = fmax(*error, difference);
            if (fabs(want) <= DBL_MAX) *largest = fmax(*largest, fabs(want));
        }
    }
    return x->numbers != NULL;
}

void lx_reference_free(struct lx_reference *r)
{
    if (!r) return;
    for (int32_t t = 0; t < r->program.pattern->tensor_count; t++) mem_free(r->outputs[t].numbers);
    arena_free(&r->memory);
    mem_free(r);
}
