/* The whole pattern in fp64, one op after the other in the order of the file: floating-point numbers are
 * never rounded between ops, integers are. It judges nothing: behind many ops rounding errors grow, so the
 * distance is only reported. The value of an op that mixes bytes is known only as long as no rounded number
 * went into it.
 *
 * A value is dropped after the last op that reads it. */
#include "device/reference/reference.h"
#include "device/execute/arith.h"
#include "device/reference/evaluate.h"
#include "graph/choice.h"

/* Element i of a tensor depends on seed, name and i only (splitmix64 at a position), so that threads can fill
 * blocks of 4,096 elements in any order and the data are the same on every machine. */

enum { BLOCK = 4096 };

struct filling {
    uint64_t key;
    const struct number_type *type;
    bool raw; /* bytes without meaning */
    float scale, offset;
    int64_t below; /* for indices: numbers from 0 to below this; 0: no index */
    char *items;
    int64_t count;
};

static void fill_block(void *context, int64_t task, int worker)
{
    const struct filling *f = context;
    int64_t from = task * BLOCK, n = f->count - from < BLOCK ? f->count - from : BLOCK;
    float numbers[BLOCK];
    (void)worker;
    for (int64_t i = 0; i < n; i++) {
        /* Element i of a stream: splitmix64 at position i. */
        uint64_t z = f->key + (uint64_t)(from + i) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        uint64_t h = z ^ (z >> 31);
        if (f->raw)
            f->items[from + i] = (char)(h >> 56);
        else if (f->below > 0)
            numbers[i] = (float)(h >> 11 & ((UINT64_C(1) << 40) - 1)) * 0x1p-40f * (float)f->below;
        else if (f->type->integer) /* -4 to 3, or 0 and 1 */
            numbers[i] = f->type->low < 0 ? (float)(h >> 61) - 4 : (float)(h >> 63);
        else
            numbers[i] = (float)((double)(h >> 11) * 0x1p-52 - 1) * f->scale + f->offset;
    }
    if (!f->raw) items_encode(f->type, numbers, n, f->items + from * f->type->item);
}

void data_fill(const struct lx_graph *g, int32_t tensor, uint64_t seed, struct pool *pool, void *items,
               int64_t count)
{
    const struct lx_tensor *t = &g->tensors[tensor];
    struct filling f = {
        .type = &number_types[t->dtype], .raw = t->rank < 0, .scale = 1, .items = items, .count = count};
    if (!lx_role_arrives(t->role)) {
        memset(items, 0, (size_t)(count * (f.raw ? 1 : f.type->item)));
        return;
    }
    uint64_t h = hash_bytes(HASH_START, &seed, sizeof seed);
    f.key = hash_bytes(h, t->name, strlen(t->name));
    bool positive = false;
    double longest = 1;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++) {
            if (g->ops[o].inputs[i] != tensor) continue;
            positive |= (g->ops[o].kind->positive >> i & 1) != 0;
            const struct lx_op *op = &g->ops[o];
            if (t->role != LX_WEIGHT || !op->map || !(op->kind->traits & LX_CONTRACTS)) continue;
            double summed = 1; /* elements that the contraction sums */
            for (int v = 0; v < op->map->var_count; v++) {
                bool kept = false;
                for (int k = 0; k < op->map->rank[op->input_count]; k++)
                    kept |= op->map->index[op->input_count][k] == v;
                if (!kept) summed *= (double)op->map->extent[v];
            }
            longest = fmax(longest, summed);
        }
    if (f.type->integer) {
        /* The least extent that this tensor chooses from as an index; 0: it is no index. */
        int64_t below = 0;
        struct lx_choice c;
        for (int32_t o = 0; o < g->op_count; o++) {
            const struct lx_op *op = &g->ops[o];
            if (!lx_choice_of(op, &c)) continue;
            for (int i = 0; i < c.index_count; i++)
                for (int a = 0; op->inputs[c.index + i] == tensor && a < c.axis_count; a++)
                    if (below == 0 || op->map->extent[c.var[a]] < below) below = op->map->extent[c.var[a]];
        }
        f.below = below;
    }
    f.scale = positive ? 0.5f : longest > 1 ? (float)sqrt(3 / longest) : 1;
    f.offset = positive ? 1 : 0;
    pool_run(pool, (count + BLOCK - 1) / BLOCK, fill_block, &f);
}

/* A value while the pattern is evaluated: stored items, numbers, or neither if unknown. */
struct value {
    void *items;
    double *wide;
    int64_t count;
    enum lx_dtype dtype;
    bool whole;    /* integers, which are rounded */
    bool computed; /* 64-bit items computed by an op: rounding on the way may have changed bits */
    int32_t last_op;
};

struct evaluating {
    struct lx_reference *r;
    const struct lx_graph *g;
    struct value *values;
    struct pool *pool;
    reference_report *report;
    void *context;
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

/* Room for the result of an op: fp64 does not have all integers of 64 bits. */
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
    OWNED double *slack = mem_alloc((size_t)(out->count + 1) * sizeof *slack);
    numbers_make(out);
    made_values(v->g, op, &in, value, slack);
    keep_numbers(out, 0, 0, &(struct expected){.count = out->count, .exact = value});
    mem_free(value);
}

static void reference_drop(struct value *x)
{
    mem_free(x->items);
    mem_free(x->wide);
    x->items = x->wide = NULL;
}

/* False: cancelled. */
static bool evaluate_all(struct evaluating *v)
{
    for (int32_t n = 0; n < v->r->program.value_count; n++) {
        const struct lx_tensor *t = &v->g->tensors[v->r->program.tensor[n]];
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
        if (v->report) v->report(v->context, o, v->g->op_count);
        for (int i = 0; i <= v->g->ops[o].input_count; i++) {
            /* Fills inputs and zeros when they are first read. */
            int32_t n = i < v->g->ops[o].input_count ? program_input(p, o, i) : p->kept[o];
            struct value *x = n >= 0 && n < v->g->tensor_count ? &v->values[n] : NULL;
            if (!x || x->items) continue;
            if (pool_cancelled(v->pool)) return false;
            reference_items_make(x);
            data_fill(v->g, n, v->r->seed, v->pool, x->items, x->count);
        }
        for (int i = 0; i < v->g->ops[o].output_count; i++) {
            struct lx_op op = op_of_result(&v->g->ops[o], i);
            struct value *out = &v->values[v->r->program.made_at[o] + i];
            if (pool_cancelled(v->pool)) return false;
            if (made_known(&op))
                evaluate_made(v, o, out);
            else if (op_is_shaped(v->g, &op))
                evaluate_shaped(v, o, &op, out);
            else if (op.kind->id == LX_KIND_RESHAPE && op.input_count == 1 &&
                     v->values[program_input(p, o, 0)].count == out->count &&
                     v->values[program_input(p, o, 0)].dtype == out->dtype) {
                /* The same elements in another shape: unrounded ones stay so. */
                const struct value *x = &v->values[program_input(p, o, 0)];
                out->computed = x->computed;
                if (x->items) {
                    reference_items_make(out);
                    memcpy(out->items, x->items, (size_t)(x->count * number_types[x->dtype].item));
                }
                if (!x->wide) continue;
                out->wide = mem_alloc((size_t)(out->count + 1) * sizeof *out->wide);
                memcpy(out->wide, x->wide, (size_t)out->count * sizeof *out->wide);
            } else
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
                                    reference_report *report, void *context, lx_status *st)
{
    if (!meanings_known(pattern, st)) return NULL;
    if (pattern->came_from) return reference_make(pattern->came_from, seed, pool, report, context, st);
    struct lx_reference *r = mem_zeroed(1, sizeof *r);
    struct evaluating v = {.r = r, .g = pattern, .pool = pool, .report = report, .context = context};
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

bool reference_distance(const struct lx_reference *r, const char *tensor, enum lx_dtype dtype,
                        const void *items, double *error, double *largest)
{
    /* Outputs of a rewritten graph have the names of the graph that it came from. */
    static const struct reference_output none = {0};
    const struct reference_output *x = &none;
    const struct lx_graph *g = r->program.pattern;
    for (int32_t t = g->tensor_count - 1; t >= 0; t--)
        if (strcmp(g->tensors[t].name, tensor) == 0) x = &r->outputs[t];
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

void data_argument(const struct lx_device_options *how, int32_t tensor, enum lx_dtype type, void *items)
{
    for (int i = 0; i < how->argument_count; i++) {
        float value = (float)how->arguments[i].value;
        if (how->arguments[i].tensor == tensor) items_encode(&number_types[type], &value, 1, items);
    }
}
