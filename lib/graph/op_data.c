/* Numbers in ops, read and written; and what kinds want of types, axes and numbers. JSON has no infinities:
 * they are words. */
#include "graph/op_params.h"
#include "graph/builder.h"
#include "base/fail.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool number_is_whole(enum lx_dtype t)
{
    return t == LX_INT64 || t == LX_INT32 || t == LX_INT16 || t == LX_INT8 || t == LX_UINT64 ||
           t == LX_UINT32 || t == LX_UINT16 || t == LX_UINT8;
}

static bool op_data_number_of(const struct json *j, const struct json_value *v, const char *key, double *out,
                              int64_t *whole, lx_status *st)
{
    static const struct {
        const char *word;
        double number;
    } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
    *whole = 0;
    if (json_is_number(v)) {
        *out = v->number;
        json_whole(v, whole);
        if (fabs(*out) <= 1e300) return true;
        return json_error(j, v, st, LX_E_RANGE, "%s is %g; it must be from %g to %g", key, *out, -1e300,
                          1e300);
    }
    for (size_t i = 0; json_is_string(v) && i < sizeof words / sizeof *words; i++)
        if (strcmp(v->text, words[i].word) == 0) return *out = words[i].number, true;
    return json_error(j, v, st, LX_E_SCHEMA, "\"%s\" must be a number, \"inf\", \"-inf\" or \"nan\"", key);
}

bool op_value_read(const struct json *j, const struct json_value *object, struct lx_op *op, lx_status *st)
{
    const struct json_value *v = json_find(object, "value");
    op->has_value = v != NULL;
    if (v && (json_is_string(v) || json_is_number(v)))
        return op_data_number_of(j, v, "value", &op->value, &op->whole, st);
    return json_opt_number(j, object, "value", -1e300, 1e300, &op->value, st);
}

/* Of whole numbers all digits, where a double has not all of them. */
static void write_exact(struct text *t, enum lx_dtype type, double real, int64_t whole)
{
    bool same = (real < 0 ? (double)whole : (double)(uint64_t)whole) == real;
    bool wide = number_is_whole(type) && fabs(real) >= 0x1p53 && same;
    if (!wide)
        text_json_number(t, real);
    else if (real < 0)
        text_format(t, "%" PRId64, whole);
    else
        text_format(t, "%" PRIu64, (uint64_t)whole);
}

void op_value_write(const struct lx_graph *g, const struct lx_op *op, struct text *t)
{
    int32_t beside = op->input_count > 0 ? op->inputs[op->input_count - 1] : op->output;
    if (!op->has_value) return;
    text_add(t, ", \"value\": ");
    write_exact(t, g->tensors[beside].dtype, op->value, op->whole);
}

bool op_data_read(const struct json *j, const struct json_value *object, struct lx_op *op,
                  struct arena *memory, lx_status *st)
{
    const struct json_value *v = json_find(object, "data"), *item = v;
    if (!v) return true;
    bool list = json_is_array(v);
    int n = list ? json_count(v) : 1, at = 0;
    if (n > LX_MAX_DATA)
        return json_error(j, v, st, LX_E_LIMIT, "%d numbers here; at most %d are allowed, more are a weight",
                          n, LX_MAX_DATA);
    struct lx_op_data *d = arena_alloc(memory, sizeof *d);
    double *numbers = arena_array(memory, (size_t)n + 1, sizeof *numbers);
    int64_t *wholes = arena_array(memory, (size_t)n + 1, sizeof *wholes);
    for (item = list ? v->child : v; item && at < n; item = list ? item->next : NULL, at++)
        if (!op_data_number_of(j, item, "data", &numbers[at], &wholes[at], st)) return false;
    *d = (struct lx_op_data){.count = n, .numbers = numbers, .wholes = wholes};
    op->data = d;
    return true;
}

static void op_data_write_numbers(struct text *t, const struct lx_op_data *d, enum lx_dtype dtype)
{
    if (d->count != 1) text_add(t, "[");
    for (int64_t i = 0; i < d->count; i++) {
        if (i) text_add(t, ", ");
        write_exact(t, dtype, d->numbers[i], d->wholes[i]);
    }
    if (d->count != 1) text_add(t, "]");
}

void op_data_write(const struct lx_graph *g, const struct lx_op *op, struct text *t)
{
    const struct lx_op_data *d = op->data;
    if (!d) return;
    text_add(t, ", \"data\": ");
    if (d->written && d->dtype == g->tensors[op->output].dtype)
        text_add(t, d->written);
    else
        op_data_write_numbers(t, d, g->tensors[op->output].dtype);
}

const struct lx_op_data *op_data_copy(struct arena *memory, const struct lx_op_data *d, enum lx_dtype dtype)
{
    struct lx_op_data *copy = arena_copy_array(memory, d, 1, sizeof *d);
    struct text t = {0};
    copy->numbers = arena_copy_array(memory, d->numbers, (size_t)d->count, sizeof *d->numbers);
    copy->wholes = arena_copy_array(memory, d->wholes, (size_t)d->count, sizeof *d->wholes);
    copy->dtype = dtype;
    /* Numbers take far longer to be written than all else of a graph, of which copies are made, each with a
     * hash. */
    if (!d->written || d->dtype != dtype) op_data_write_numbers(&t, d, dtype);
    copy->written = arena_string(memory, t.at ? t.at : d->written);
    text_free(&t);
    return copy->numbers && copy->wholes && copy->written ? copy : NULL;
}

/* ---- what kinds want ---- */

struct wanted {
    const struct graph_builder *b;
    const struct lx_op *op;
    struct place at;
    lx_status *st;
};

static const struct lx_tensor *op_data_operand(const struct wanted *w, int i)
{
    return &w->b->tensors.at[op_operand(w->op, i)];
}

/* Bits as they are need the same number of them. */
static bool bits_agree(const struct wanted *w)
{
    enum lx_dtype from = op_data_operand(w, 0)->dtype, to = op_data_operand(w, 1)->dtype;
    if (lx_dtype_bits(from) == lx_dtype_bits(to) && (from == LX_BOOL) == (to == LX_BOOL)) return true;
    return builder_error(
        w->b, w->at, w->st, LX_E_SHAPE,
        "op %s: %s and %s have not the same bits; a bitcast needs types of one width, use cast", w->op->name,
        lx_dtype_word(from), lx_dtype_word(to));
}

static bool op_data_counts(const struct wanted *w)
{
    const struct lx_tensor *places = op_data_operand(w, op_operand_count(w->op) - 1);
    if (number_is_whole(places->dtype)) return true;
    return builder_error(w->b, w->at, w->st, LX_E_SHAPE,
                         "op %s: %s gives places, which are integers; %s is %s, make it int32", w->op->name,
                         w->op->kind->name, places->name, lx_dtype_word(places->dtype));
}

static bool has_axis(const struct wanted *w)
{
    const struct lx_tensor *in = op_data_operand(w, 0), *out = op_data_operand(w, w->op->input_count);
    int64_t axis = w->op->params ? w->op->params->axis : -1;
    bool same = in->rank == out->rank && in->rank >= 0 &&
                memcmp(in->shape, out->shape, (size_t)in->rank * sizeof *in->shape) == 0;
    if (same && axis < in->rank) return true;
    return builder_error(w->b, w->at, w->st, LX_E_SHAPE,
                         "op %s: %s needs operands of one shape, and an axis of it", w->op->name,
                         w->op->kind->name);
}

static bool has_numbers(const struct wanted *w)
{
    const struct lx_tensor *out = op_data_operand(w, 0);
    const struct lx_op_data *d = w->op->data;
    int64_t elements = out->rank < 0 ? 0 : 1;
    for (int i = 0; i < out->rank; i++)
        elements *= out->shape[i] <= LX_MAX_DATA || (d && d->count == 1) ? out->shape[i] : 0;
    if (d && elements > 0 && (d->count == 1 || d->count == elements)) return true;
    return builder_error(w->b, w->at, w->st, LX_E_SCHEMA,
                         "op %s: a constant needs \"data\": one number, or one for each element of %s",
                         w->op->name, out->name);
}

static bool (*const wants[LX_KIND_COUNT])(const struct wanted *w) = {
    [LX_KIND_BITCAST] = bits_agree, [LX_KIND_ARGMAX] = op_data_counts, [LX_KIND_ARGMIN] = op_data_counts,
    [LX_KIND_SCAN] = has_axis,      [LX_KIND_IOTA] = has_axis,         [LX_KIND_CONSTANT] = has_numbers};

/* Types with common exponents are those of weights that products read, or rows of which are picked. */
static bool op_data_blocks_fit(const struct wanted *w)
{
    for (int i = 0; i < op_operand_count(w->op); i++) {
        bool made = i >= w->op->input_count;
        const struct lx_tensor *t = op_data_operand(w, i);
        if (!lx_dtype_shares(t->dtype)) continue;
        if (!made && t->role == LX_WEIGHT && lx_takes_blocks(w->op, i)) continue;
        return builder_error(
            w->b, w->at, w->st, LX_E_SCHEMA,
            "op %s: %s is of type %s, which weights have that products read or rows of which "
            "are picked; give it another type",
            w->op->name, t->name, lx_dtype_word(t->dtype));
    }
    return true;
}

bool builder_check_types(const struct graph_builder *b, const struct lx_op *op, struct place at,
                         lx_status *st)
{
    const struct wanted w = {b, op, at, st};
    if (!op_data_blocks_fit(&w)) return false;
    if (op->data && op->kind->id != LX_KIND_CONSTANT)
        return builder_error(b, at, st, LX_E_SCHEMA, "op %s: only a constant has \"data\"", op->name);
    if ((op->kind->id == LX_KIND_MAX || op->kind->id == LX_KIND_MIN) && op->output_count > 1)
        return op_data_counts(&w);
    return !wants[op->kind->id] || wants[op->kind->id](&w);
}
