/* Counting: the table of facts, and everything but control flow of HLO (hlo_facts.c). */
#include "import/facts.h"
#include "import/types/windows.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KEY = 2 * MODEL_MAX_NAME + 64, MOST_DEPTH = 4 };

static struct fact *fact_find(const struct model_facts *f, const char *group, const char *key, char *whole)
{
    snprintf(whole, MOST_KEY, "%s\n%s", group, key);
    int32_t i = names_find(&f->index, whole);
    return i < 0 ? NULL : &f->all.at[i];
}

int64_t model_fact(const struct model_facts *f, const char *group, const char *key, int64_t otherwise)
{
    char whole[MOST_KEY];
    const struct fact *found = fact_find(f, group, key, whole);
    return found ? found->value : otherwise;
}

int64_t fact_plus(int64_t a, int64_t b)
{
    int64_t s;
    return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

int64_t fact_times(int64_t a, int64_t b)
{
    int64_t p;
    return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

static struct fact *fact_of(struct model_facts *f, const char *group, const char *key)
{
    char whole[MOST_KEY];
    struct fact *found = fact_find(f, group, key, whole), added = {0};
    if (found) return found;
    added.group = arena_string(&f->memory, group);
    added.key = arena_string(&f->memory, key);
    VEC_PUSH(&f->all, added);
    names_add(&f->index, arena_string(&f->memory, whole), (int32_t)f->all.count - 1);
    return &f->all.at[f->all.count - 1];
}

void fact_add(struct model_facts *f, const char *group, const char *key, int64_t n)
{
    struct fact *fact = fact_of(f, group, key ? key : "");
    fact->value = fact_plus(fact->value, n);
}

void fact_most(struct model_facts *f, const char *group, int64_t n)
{
    struct fact *fact = fact_of(f, group, "");
    if (n > fact->value) fact->value = n;
}

/* A tensor that exists while the model runs: an argument, or a result (a tuple: each of its parts). */
static void fact_tensor(struct model_facts *f, const struct model_type *type, bool result)
{
    if (!type) return;
    for (int i = 0; type->element == MODEL_TUPLE && i < type->count; i++)
        fact_tensor(f, type->parts[i], result);
    if (type->element == MODEL_TUPLE) return;
    fact_add(f, "tensors", NULL, 1);
    fact_add(f, "dtypes", model_element_word(f->m->format, type->element), 1);
    fact_most(f, "max_rank", type->count);
    if (result && f->m->format == MODEL_HLO) fact_add(f, "empty_results", NULL, type->elements == 0);
}

static int64_t fact_bytes_of(const struct lx_model *m, const int32_t *values, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        const struct model_type *t = model_type_of(m, values[i]);
        if (t && t->bytes > 0) sum = fact_plus(sum, t->bytes);
    }
    return sum;
}

int64_t fact_operand_bytes(const struct lx_model *m, const struct model_op *op)
{
    return fact_bytes_of(m, op->operands, op->operand_count);
}

int64_t fact_result_bytes(const struct lx_model *m, const struct model_op *op)
{
    return fact_bytes_of(m, op->results, op->result_count);
}

static int64_t fact_bytes_within(const struct lx_model *m, int32_t body, int depth)
{
    const struct model_body *b = &m->bodies.at[body];
    int64_t sum = 0;
    for (int i = 0; i < b->op_count && depth < MOST_DEPTH; i++) {
        sum = fact_plus(sum, fact_plus(fact_operand_bytes(m, &b->ops[i]), fact_result_bytes(m, &b->ops[i])));
        for (int k = 0; k < b->ops[i].body_count; k++)
            sum = fact_plus(sum, fact_bytes_within(m, b->ops[i].bodies[k], depth + 1));
    }
    return sum;
}

int64_t fact_body_bytes(const struct lx_model *m, int32_t body)
{
    return fact_bytes_within(m, body, 0);
}

/* ---- multiply-adds of ops as their file has them ---- */

/* How many are added up for each element of a product. */
static int64_t work_contracted(const struct model_op *op, enum model_format dialect,
                               const struct model_type *left, bool dot)
{
    int count;
    const int64_t *dims = model_attr_ints(
        &op->attrs, dialect == MODEL_HLO ? "lhs_contracting_dims" : "contract_dims_lhs", &count);
    int back = model_attr_int(&op->attrs, dialect == MODEL_ONNX ? "transA" : "transpose_a", 0) ? 2 : 1;
    int64_t k = 1;
    if (!dot) return left->count < 1 ? 1 : left->extent[left->count > 1 ? left->count - back : 0];
    for (int i = 0; i < count; i++) {
        int64_t d = dims[i] < 0 ? dims[i] + left->count : dims[i];
        if (d >= 0 && d < left->count) k = fact_times(k, left->extent[d]);
    }
    return k;
}

static struct op_work work_of_conv(const struct model_op *op, enum model_format dialect,
                                   const struct model_type *x, const struct model_type *w,
                                   const struct model_type *y)
{
    struct model_conv c;
    struct op_work work = {0};
    if (y->elements < 1 || !op_conv(dialect, op, x, w, &c)) return work;
    int64_t out = conv_extent(w, c.out_channel), in = conv_extent(w, c.in_channel), rest = y->elements;
    if (out < 1 || in < 0) return work;
    work.macs = fact_times(y->elements, w->elements / out);
    work.macs_valid = in;
    for (int i = 0; i < c.count; i++) {
        c.window[i].out = conv_extent(y, c.y[i]);
        if (c.window[i].out < 1) return work;
        rest /= c.window[i].out;
        work.macs_valid = fact_times(work.macs_valid, window_valid_taps(&c.window[i]));
    }
    work.macs_valid = fact_times(work.macs_valid, rest);
    return work;
}

struct op_work op_work(const struct lx_model *m, enum model_format dialect, const struct model_op *op)
{
    enum { DOT, MATMUL, LINEAR, CONV, LSTM, GROUP_QUERY, KINDS };
    static const char *const kinds[KINDS][3] = {
        [DOT] = {"dot_general", "dot", NULL},
        [MATMUL] = {"matmul", NULL, "MatMul"},
        [LINEAR] = {"linear", NULL, "Gemm"},
        [CONV] = {"conv2d", "convolution", "Conv"},
        [LSTM] = {NULL, NULL, "LSTM"},
        [GROUP_QUERY] = {NULL, NULL, "com.microsoft:GroupQueryAttention"}};
    const struct model_type *in[3] = {NULL}, *y, *more;
    struct op_work work = {0};
    int kind = 0;
    while (kind < KINDS && (!kinds[kind][dialect] || strcmp(kinds[kind][dialect], op->kind) != 0)) kind++;
    if (kind == KINDS || op->operand_count < 2 || op->result_count < 1 || op->results[0] < 0) return work;
    for (int i = 0; i < op->operand_count && i < 3; i++) in[i] = model_type_of(m, op->operands[i]);
    y = model_type_of(m, op->results[0]);
    more = op->result_count > 1 ? model_type_of(m, op->results[1]) : NULL;
    if (!in[0] || !in[1] || in[0]->element == MODEL_TUPLE || in[1]->element == MODEL_TUPLE ||
        y->element == MODEL_TUPLE)
        return work;
    if (kind == CONV) return work_of_conv(op, dialect, in[0], in[1], y);
    if (kind <= LINEAR)
        work.flops = fact_times(2, fact_times(y->elements, work_contracted(op, dialect, in[0], kind == DOT)));
    if (kind == LSTM && in[2] && in[0]->count == 3) /* X W' and h R' in each step, all gates and directions */
        work.macro_flops =
            fact_times(2 * in[0]->extent[0] * in[0]->extent[1], fact_plus(in[1]->elements, in[2]->elements));
    if (kind == GROUP_QUERY && y->count == 3 && (!more || more->count == 4)) /* over all rows of the cache */
        work.macro_flops = fact_times(fact_times(4, y->elements), more ? more->extent[2] : y->extent[1]);
    return work;
}

/* ---- ops ---- */

void fact_op(struct model_facts *f, const struct model_op *op)
{
    bool hlo = f->m->format == MODEL_HLO;
    struct op_work work = op_work(f->m, f->m->format, op);
    int64_t made = fact_result_bytes(f->m, op);
    fact_add(f, "ops", NULL, 1);
    fact_add(f, "kinds", op->kind, 1);
    fact_add(f, "kind_bytes", op->kind, fact_plus(fact_operand_bytes(f->m, op), made));
    fact_add(f, "result_bytes", NULL, made);
    for (int i = 0; i < op->result_count; i++) fact_tensor(f, model_type_of(f->m, op->results[i]), true);
    fact_add(f, "flops", NULL, work.flops);
    if (!hlo) fact_add(f, "flops_run", NULL, work.flops);
    fact_add(f, "macs", NULL, work.macs);
    fact_add(f, "macs_valid", NULL, work.macs_valid);
    if (f->m->format == MODEL_ONNX) fact_add(f, "flops_in_macro_nodes", NULL, work.macro_flops);
    if (f->m->format == MODEL_ONNX || strcmp(op->kind, "constant") != 0) return;
    fact_add(f, "constants", NULL, 1);
    fact_add(f, "constant_bytes", NULL, made);
}

/* Elementwise ops of two and more operands whose shapes differ. */
static bool fact_ttir_broadcasts(const struct lx_model *m, const struct model_op *op)
{
    static const char *const kinds[] = {"add",        "subtract",    "multiply",  "div",   "pow",
                                        "maximum",    "minimum",     "gt",        "lt",    "ge",
                                        "le",         "eq",          "ne",        "where", "logical_and",
                                        "logical_or", "logical_xor", "remainder", NULL};
    bool same = true;
    int k = 0;
    while (kinds[k] && strcmp(kinds[k], op->kind) != 0) k++;
    for (int i = 0; kinds[k] && op->result_count == 1 && i < op->operand_count; i++)
        same &= model_same_shape(model_type_of(m, op->operands[i]), model_type_of(m, op->results[0]));
    return !same;
}

/* Forms of constants, what is there for nothing, and writes to arguments. */
static void fact_ttir_op(struct model_facts *f, const struct model_op *op)
{
    static const char *const forms[] = {[DATA_SPLAT] = "splat", [DATA_LIST] = "list", [DATA_BYTES] = "hex"};
    const struct model_attr *value = model_attr_find(&op->attrs, "value");
    const struct model_value *first = op->operand_count ? &f->m->values.at[op->operands[0]] : NULL;
    int count;
    if (strcmp(op->kind, "constant") == 0 && value && value->form == ATTR_DATA) {
        enum model_data_form form = value->data->form;
        fact_add(f, "constant_forms", forms[form], 1);
        fact_add(f, "splat_bytes", NULL, form == DATA_SPLAT ? fact_result_bytes(f->m, op) : 0);
    } else if (strcmp(op->kind, "permute") == 0) {
        const int64_t *p = model_attr_ints(&op->attrs, "permutation", &count);
        bool same = true;
        for (int i = 0; i < count; i++) same &= p[i] == i;
        fact_add(f, "identity_permutes", NULL, same);
    } else if (strcmp(op->kind, "reshape") == 0 && first && op->result_count == 1 &&
               model_same_shape(first->type, model_type_of(f->m, op->results[0]))) {
        fact_add(f, "identity_reshapes", NULL, 1);
    } else if ((strcmp(op->kind, "update_cache") == 0 || strcmp(op->kind, "fill_cache") == 0) && first &&
               first->from == FROM_ARGUMENT) {
        char name[MODEL_MAX_NAME + 2];
        snprintf(name, sizeof name, "%%%s", first->name);
        fact_add(f, "cache_writes_to_arguments", name, 1);
    }
    if (fact_ttir_broadcasts(f->m, op)) fact_add(f, "implicit_broadcasts", NULL, 1);
}

/* Nodes that are known before the model runs, and shapes that the file declares. */
static void fact_onnx_op(struct model_facts *f, const struct model_op *op)
{
    bool folded = op->result_count > 0;
    fact_add(f, "shapes_known", NULL, 1);
    for (int i = 0; i < op->result_count; i++) {
        if (op->results[i] < 0) continue;
        const struct model_value *v = &f->m->values.at[op->results[i]];
        folded = folded && v->data && (v->data->ints || v->data->reals);
        fact_add(f, "declared_shapes_compared", NULL, v->declared && v->declared_exact);
    }
    fact_add(f, "folded_to_constants", NULL, folded);
}

/* ---- the whole ---- */

/* Arguments by role, and outputs. */
static void fact_ends(struct model_facts *f)
{
    const struct model_body *b = &f->m->bodies.at[f->m->entry];
    bool ttir = f->m->format == MODEL_TTIR;
    for (int i = 0; i < b->argument_count; i++) {
        const struct model_value *v = &f->m->values.at[b->arguments[i]];
        char role[64];
        const char *text = ttir ? model_attr_word(&v->attrs, "ttcore.argument_type", "none")
                           : f->m->format == MODEL_HLO ? "parameter"
                                                       : "input",
                   *open = strchr(text, '<'); /* #ttcore.argument_type<input> */
        if (open) text = open + 1;
        snprintf(role, sizeof role, "%.*s", (int)strcspn(text, ">"), text);
        fact_tensor(f, v->type, false);
        fact_add(f, "arguments", NULL, 1);
        fact_add(f, "argument_bytes", NULL, v->type ? v->type->bytes : 0);
        fact_add(f, "argument_bytes_by_role", role, v->type ? v->type->bytes : 0);
        if (ttir) fact_add(f, "arguments_by_role", role, 1);
        text = model_attr_word(&v->attrs, "ttcore.weight_dtype", NULL);
        if (text) fact_add(f, "weight_dtype", text, 1);
    }
    for (int i = 0; i < b->result_count; i++) {
        const struct model_value *v = &f->m->values.at[b->results[i]];
        fact_add(f, "outputs", NULL, v->type ? v->type->leaves : 1);
        fact_add(f, "output_bytes", NULL, v->type ? v->type->bytes : 0);
        if (ttir) fact_add(f, "returned_arguments", NULL, v->from == FROM_ARGUMENT);
    }
}

static void fact_onnx_model(struct model_facts *f)
{
    const struct lx_model *m = f->m;
    fact_add(f, "functions", NULL, m->function_count);
    fact_add(f, "shapes_unknown", NULL, 0);
    fact_add(f, "sorted", NULL, m->bodies.at[m->entry].rearranged);
    for (int i = 0; i < m->attrs.count; i++) fact_add(f, "opset", m->attrs.at[i].key, m->attrs.at[i].number);
    for (size_t i = 0; i < m->constants.count; i++) {
        const struct model_data *d = m->values.at[m->constants.at[i]].data;
        bool external = d->form == DATA_EXTERNAL, absent = d->form == DATA_ABSENT;
        fact_add(f, "constants", NULL, 1);
        fact_add(f, "constant_bytes", NULL, d->type->bytes);
        fact_add(f, "weights", external ? "external" : absent ? "none" : "data", 1);
    }
}

void lx_model_facts(struct model_facts *f, const struct lx_model *m)
{
    static const char *const zero[] = {"ops",          "tensors",        "flops",     "flops_run",
                                       "macs",         "macs_valid",     "arguments", "argument_bytes",
                                       "constants",    "constant_bytes", "outputs",   "output_bytes",
                                       "result_bytes", "broken",         NULL};
    bool ttir = m->format == MODEL_TTIR;
    *f = (struct model_facts){.m = m};
    for (int i = 0; zero[i]; i++) fact_add(f, zero[i], NULL, 0);
    if (ttir) fact_add(f, "functions", NULL, (int64_t)m->bodies.count);
    if (ttir) fact_add(f, "returned_arguments", NULL, 0);
    if (m->format == MODEL_ONNX) fact_onnx_model(f);
    fact_ends(f);
    if (m->format == MODEL_HLO) hlo_facts(f);
    for (size_t b = 0; m->format != MODEL_HLO && b < m->bodies.count; b++)
        for (int i = 0; (!ttir || (int32_t)b == m->entry) && i < m->bodies.at[b].op_count; i++) {
            fact_op(f, &m->bodies.at[b].ops[i]);
            (ttir ? fact_ttir_op : fact_onnx_op)(f, &m->bodies.at[b].ops[i]);
        }
}

void lx_model_facts_free(struct model_facts *f)
{
    VEC_FREE(&f->all);
    names_free(&f->index);
    arena_free(&f->memory);
}
