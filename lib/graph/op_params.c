/* Parameters of ops. One table row per key reads, writes, copies and compares it. Lists have at most
 * LX_MAX_RANK entries. The table `taken` lists which keys each kind needs and takes. */
#include "graph/op_params.h"
#include "graph/op_walks.h"

enum param_type { PARAM_INT, PARAM_INTS, PARAM_NUMBER, PARAM_FLAG, PARAM_COMBINE };

static const size_t param_sizes[] = {[PARAM_INT] = sizeof(int64_t),
                                     [PARAM_NUMBER] = sizeof(double),
                                     [PARAM_FLAG] = sizeof(bool),
                                     [PARAM_COMBINE] = sizeof(enum lx_combine)};

struct param_row {
    const char *key;
    enum param_type type;
    int64_t low; /* integers: the lower limit */
    size_t offset, count_offset;
};

#define ROW(member, type, low)                                                                               \
    {                                                                                                        \
#member, type, low, offsetof(struct lx_op_params, member), 0                                         \
    }
#define LIST(member, count, low)                                                                             \
    {                                                                                                        \
#member, PARAM_INTS, low, offsetof(struct lx_op_params, member),                                     \
            offsetof(struct lx_op_params, count)                                                             \
    }
/* In the order of enum op_param. */
static const struct param_row rows[OP_PARAM_COUNT] = {
    ROW(axis, PARAM_INT, 0),           LIST(axes, axis_count, 0),
    LIST(low, low_count, -LX_INT_MAX), LIST(high, high_count, -LX_INT_MAX),
    LIST(interior, interior_count, 0), ROW(start, PARAM_NUMBER, 0),
    ROW(step, PARAM_NUMBER, 0),        ROW(k, PARAM_INT, 1),
    ROW(descending, PARAM_FLAG, 0),    ROW(exclusive, PARAM_FLAG, 0),
    ROW(reverse, PARAM_FLAG, 0),       ROW(combine, PARAM_COMBINE, 0),
    LIST(group, group_count, 0),
};
#undef ROW
#undef LIST

/* Keys that a kind needs, and keys that it also takes. */
static const struct {
    unsigned needs, takes;
} taken[LX_KIND_COUNT] = {
    [LX_KIND_CONCAT] = {OP_PARAM_AXIS, 0},
    [LX_KIND_PAD] = {0, OP_PARAM_LOW | OP_PARAM_HIGH | OP_PARAM_INTERIOR},
    [LX_KIND_GATHER] = {0, OP_PARAM_AXIS | OP_PARAM_AXES},
    [LX_KIND_DYNAMIC_SLICE] = {0, OP_PARAM_AXIS | OP_PARAM_AXES | OP_PARAM_LOW},
    [LX_KIND_DYNAMIC_INSERT] = {0, OP_PARAM_AXIS | OP_PARAM_AXES | OP_PARAM_LOW},
    [LX_KIND_TOPK] = {OP_PARAM_AXIS | OP_PARAM_K, 0},
    [LX_KIND_TOPK_INDEX] = {OP_PARAM_AXIS | OP_PARAM_K, 0},
    [LX_KIND_SORT] = {OP_PARAM_AXIS, OP_PARAM_DESCENDING},
    [LX_KIND_SORT_INDEX] = {OP_PARAM_AXIS, OP_PARAM_DESCENDING},
    [LX_KIND_SCATTER] = {0, OP_PARAM_AXIS | OP_PARAM_AXES | OP_PARAM_COMBINE},
    [LX_KIND_SCAN] = {OP_PARAM_AXIS, OP_PARAM_EXCLUSIVE | OP_PARAM_REVERSE},
    [LX_KIND_IOTA] = {0, OP_PARAM_AXIS | OP_PARAM_START | OP_PARAM_STEP},
    [LX_KIND_ALL_REDUCE] = {0, OP_PARAM_GROUP | OP_PARAM_COMBINE},
    [LX_KIND_ALL_GATHER] = {0, OP_PARAM_GROUP | OP_PARAM_AXIS},
    [LX_KIND_REDUCE_SCATTER] = {0, OP_PARAM_GROUP | OP_PARAM_AXIS | OP_PARAM_COMBINE},
    [LX_KIND_ALL_TO_ALL] = {0, OP_PARAM_GROUP | OP_PARAM_AXES},
    [LX_KIND_DEVICE_PERMUTE] = {0, OP_PARAM_GROUP | OP_PARAM_K | OP_PARAM_EXCLUSIVE},
    [LX_KIND_DEVICE_ID] = {0, OP_PARAM_GROUP},
    [LX_KIND_DEVICE_PART] = {0, OP_PARAM_GROUP | OP_PARAM_AXIS},
};

#define COMBINES(X)                                                                                          \
    X(LX_COMBINE_REPLACE, "replace")                                                                         \
    X(LX_COMBINE_ADD, "add")                                                                                 \
    X(LX_COMBINE_MUL, "mul") X(LX_COMBINE_MIN, "min") X(LX_COMBINE_MAX, "max")
LX_WORDS(lx_combine_word, enum lx_combine, COMBINES)

const char *op_param_key(int row)
{
    return rows[row].key;
}

struct lx_op_params op_params_none(void)
{
    return (struct lx_op_params){.axis = -1, .step = 1};
}

static const int64_t *param_list(const struct lx_op_params *p, const struct param_row *r, int *count)
{
    *count = *(const int *)((const char *)p + r->count_offset);
    return *(const int64_t *const *)((const char *)p + r->offset);
}

static void set_list(struct lx_op_params *p, const struct param_row *r, const int64_t *at, int count)
{
    *(const int64_t **)((char *)p + r->offset) = at;
    *(int *)((char *)p + r->count_offset) = count;
}

static bool param_read(const struct json *j, const struct json_value *object, const struct param_row *r,
                       struct arena *memory, struct lx_op_params *p, lx_status *st)
{
    void *to = (char *)p + r->offset;
    switch (r->type) {
    case PARAM_INT: return json_int(j, object, r->key, r->low, LX_INT_MAX, to, st);
    case PARAM_INTS: {
        const struct json_value *array = NULL, *v;
        if (!json_array(j, object, r->key, &array, st)) return false;
        int n = json_count(array), i = 0;
        if (n > LX_MAX_RANK)
            return json_error(j, array, st, LX_E_LIMIT, "%d entries here; at most %d are allowed", n,
                              LX_MAX_RANK);
        int64_t *at = arena_array(memory, (size_t)n, sizeof *at);
        json_for_each(v, array)
            if (!json_int_value(j, v, r->key, r->low, LX_INT_MAX, &at[i++], st)) return false;
        set_list(p, r, at, n);
        return true;
    }
    case PARAM_NUMBER: return json_opt_number(j, object, r->key, -1e300, 1e300, to, st);
    case PARAM_FLAG: return json_opt_bool(j, object, r->key, to, st);
    case PARAM_COMBINE: {
        enum lx_combine *out = to;
        const char *word = NULL;
        if (!json_string(j, object, r->key, &word, st)) return false;
        for (int i = 0; i < LX_COMBINE_COUNT; i++)
            if (strcmp(lx_combine_word((enum lx_combine)i), word) == 0)
                return *out = (enum lx_combine)i, true;
        return json_error(j, json_find(object, r->key), st, LX_E_UNKNOWN_KIND,
                          "unknown combine \"%s\"; known: replace, add, mul, min, max", word);
    }
    }
    return true;
}

bool op_params_read(const struct json *j, const struct json_value *object, const char *op,
                    const struct lx_kind *kind, struct arena *memory, const struct lx_op_params **out,
                    lx_status *st)
{
    struct lx_op_params p = op_params_none();
    unsigned given = 0, known = taken[kind->id].needs | taken[kind->id].takes;
    for (int i = 0; i < OP_PARAM_COUNT; i++) {
        const struct json_value *v = json_find(object, rows[i].key);
        if (!v && taken[kind->id].needs >> i & 1)
            return json_error(j, object, st, LX_E_SCHEMA, "op %s: %s needs \"%s\"; add it", op, kind->name,
                              rows[i].key);
        if (!v) continue;
        if (!(known >> i & 1))
            return json_key_error(j, v, st, LX_E_SCHEMA, "op %s: %s takes no \"%s\"; remove it", op,
                                  kind->name, rows[i].key);
        if (!param_read(j, object, &rows[i], memory, &p, st)) return false;
        given |= 1u << i;
    }
    if (!given) return true;
    *out = arena_copy_array(memory, &p, 1, sizeof p);
    return true;
}

static bool same_row(const struct param_row *r, const struct lx_op_params *a, const struct lx_op_params *b)
{
    const void *x = (const char *)a + r->offset, *y = (const char *)b + r->offset;
    int n, m;
    if (r->type == PARAM_NUMBER) return !(*(const double *)x != *(const double *)y);
    if (r->type != PARAM_INTS) return memcmp(x, y, param_sizes[r->type]) == 0;
    x = param_list(a, r, &n), y = param_list(b, r, &m);
    return n == m && !x == !y && (n == 0 || memcmp(x, y, (size_t)n * sizeof(int64_t)) == 0);
}

bool op_params_equal(const struct lx_op_params *a, const struct lx_op_params *b)
{
    struct lx_op_params none = op_params_none();
    bool same = true;
    for (int i = 0; i < OP_PARAM_COUNT && same; i++) same = same_row(&rows[i], a ? a : &none, b ? b : &none);
    return same;
}

void op_params_write(const struct lx_op_params *p, struct text *t)
{
    const struct lx_op_params none = op_params_none();
    for (const struct param_row *r = rows; p && r < rows + OP_PARAM_COUNT; r++) {
        const void *at = (const char *)p + r->offset;
        int n;
        if (same_row(r, p, &none)) continue;
        if (r->type == PARAM_INTS) {
            const int64_t *list = param_list(p, r, &n);
            text_json_ints(t, r->key, list, n);
            continue;
        }
        text_format(t, ", \"%s\": ", r->key);
        if (r->type == PARAM_INT) text_int(t, *(const int64_t *)at);
        if (r->type == PARAM_NUMBER) text_json_number(t, *(const double *)at);
        if (r->type == PARAM_FLAG) text_add(t, *(const bool *)at ? "true" : "false");
        if (r->type == PARAM_COMBINE) text_format(t, "\"%s\"", lx_combine_word(*(const enum lx_combine *)at));
    }
}

const struct lx_op_params *op_params_copy(struct arena *memory, const struct lx_op_params *p)
{
    struct lx_op_params *copy = p ? arena_copy_array(memory, p, 1, sizeof *p) : NULL;
    for (int i = 0; copy && i < OP_PARAM_COUNT; i++) {
        int n;
        if (rows[i].type != PARAM_INTS) continue;
        const int64_t *list = param_list(p, &rows[i], &n);
        if (list) set_list(copy, &rows[i], arena_copy_array(memory, list, (size_t)n, sizeof *list), n);
    }
    return copy;
}

uint64_t op_params_hash(uint64_t h, const struct lx_op_params *p)
{
    for (const struct param_row *r = rows; p && r < rows + OP_PARAM_COUNT; r++) {
        int n;
        if (r->type != PARAM_INTS) {
            h = hash_bytes(h, (const char *)p + r->offset, param_sizes[r->type]);
            continue;
        }
        const int64_t *list = param_list(p, r, &n);
        h = hash_bytes(h, &n, sizeof n);
        if (n) h = hash_bytes(h, list, (size_t)n * sizeof *list);
    }
    return h;
}

/* --- Numbers in ops. JSON has no infinities: they are written as words. --- */

static bool number_is_whole(enum lx_dtype t)
{
    return t == LX_INT64 || t == LX_INT32 || t == LX_INT16 || t == LX_INT8 || t == LX_UINT64 ||
           t == LX_UINT32 || t == LX_UINT16 || t == LX_UINT8;
}

static bool op_number_of(const struct json *j, const struct json_value *v, const char *key, double *out,
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
        return op_number_of(j, v, "value", &op->value, &op->whole, st);
    return json_opt_number(j, object, "value", -1e300, 1e300, &op->value, st);
}

/* Writes all digits of an integer that a double cannot represent exactly. */
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
        if (!op_number_of(j, item, "data", &numbers[at], &wholes[at], st)) return false;
    *d = (struct lx_op_data){.count = n, .numbers = numbers, .wholes = wholes};
    op->data = d;
    return true;
}

static void op_write_numbers(struct text *t, const struct lx_op_data *d, enum lx_dtype dtype)
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
        op_write_numbers(t, d, g->tensors[op->output].dtype);
}

const struct lx_op_data *op_data_copy(struct arena *memory, const struct lx_op_data *d, enum lx_dtype dtype)
{
    struct lx_op_data *copy = arena_copy_array(memory, d, 1, sizeof *d);
    SCOPED(text_free) struct text t = {0};
    copy->numbers = arena_copy_array(memory, d->numbers, (size_t)d->count, sizeof *d->numbers);
    copy->wholes = arena_copy_array(memory, d->wholes, (size_t)d->count, sizeof *d->wholes);
    copy->dtype = dtype;
    /* Writing the numbers takes far longer than writing the rest of a graph, and every copy is hashed. */
    if (!d->written || d->dtype != dtype) op_write_numbers(&t, d, dtype);
    copy->written = arena_string(memory, t.at ? t.at : d->written);
    return copy;
}

/* --- Checks by kind. --- */

/* A bitcast needs equal widths. */
static bool bits_agree(const struct op_check *c)
{
    enum lx_dtype from = check_operand(c, 0)->dtype, to = check_operand(c, 1)->dtype;
    if (lx_dtype_bits(from) == lx_dtype_bits(to) && (from == LX_BOOL) == (to == LX_BOOL)) return true;
    return op_error(c, LX_E_SHAPE,
                    ": %s and %s have not the same bits; a bitcast needs types of one width, use cast",
                    lx_dtype_word(from), lx_dtype_word(to));
}

static bool op_data_counts(const struct op_check *c)
{
    const struct lx_tensor *places = check_operand(c, op_operand_count(c->op) - 1);
    if (number_is_whole(places->dtype)) return true;
    return op_error(c, LX_E_SHAPE, ": %s gives places, which are integers; %s is %s, make it int32",
                    c->op->kind->name, places->name, lx_dtype_word(places->dtype));
}

static bool has_axis(const struct op_check *c)
{
    const struct lx_tensor *in = check_operand(c, 0), *out = check_operand(c, c->op->input_count);
    int64_t axis = c->op->params ? c->op->params->axis : -1;
    bool same = in->rank == out->rank && in->rank >= 0 &&
                memcmp(in->shape, out->shape, (size_t)in->rank * sizeof *in->shape) == 0;
    if (same && axis < in->rank) return true;
    return op_error(c, LX_E_SHAPE, ": %s needs operands of one shape, and an axis of it", c->op->kind->name);
}

static bool has_numbers(const struct op_check *c)
{
    const struct lx_tensor *out = check_operand(c, 0);
    const struct lx_op_data *d = c->op->data;
    int64_t elements = out->rank < 0 ? 0 : 1;
    for (int i = 0; i < out->rank; i++)
        elements *= out->shape[i] <= LX_MAX_DATA || (d && d->count == 1) ? out->shape[i] : 0;
    if (d && elements > 0 && (d->count == 1 || d->count == elements)) return true;
    return op_error(c, LX_E_SCHEMA, ": a constant needs \"data\": one number, or one for each element of %s",
                    out->name);
}

static bool (*const wants[LX_KIND_COUNT])(const struct op_check *) = {
    [LX_KIND_BITCAST] = bits_agree, [LX_KIND_ARGMAX] = op_data_counts, [LX_KIND_ARGMIN] = op_data_counts,
    [LX_KIND_SCAN] = has_axis,      [LX_KIND_IOTA] = has_axis,         [LX_KIND_CONSTANT] = has_numbers};

bool op_check_types(const struct op_check *c)
{
    const struct lx_op *op = c->op;
    /* Only weights in a matmul, or the table of a gather, may have a block-float type. */
    for (int i = 0; i < op_operand_count(op); i++) {
        const struct lx_tensor *t = check_operand(c, i);
        bool fits = i < op->input_count && t->role == LX_WEIGHT && lx_takes_blocks(op, i);
        if (lx_dtype_shares(t->dtype) && !fits)
            return op_error(c, LX_E_SCHEMA,
                            ": %s is of type %s, which weights have that products read or rows of which are "
                            "picked; give it another type",
                            t->name, lx_dtype_word(t->dtype));
    }
    if (op->data && op->kind->id != LX_KIND_CONSTANT)
        return op_error(c, LX_E_SCHEMA, ": only a constant has \"data\"");
    if ((op->kind->id == LX_KIND_MAX || op->kind->id == LX_KIND_MIN) && op->output_count > 1)
        return op_data_counts(c);
    return !wants[op->kind->id] || wants[op->kind->id](c);
}
