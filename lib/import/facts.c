/* Counts the table of facts: ops, multiply-adds, and facts by format. */
#include "import/facts.h"
#include "import/types/typing.h"
#include "import/types/windows.h"
#include "import/devices/devices.h"
#include "import/read/hlo.h"

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

static int64_t fact_plus(int64_t a, int64_t b)
{
    int64_t s;
    return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

static int64_t fact_times(int64_t a, int64_t b)
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

/* Counts a tensor that exists while the model runs: an argument or a result (each leaf of a tuple). */
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

/* Multiply-adds of one op; 0 for most. */
struct op_work {
    int64_t flops;            /* of matmuls, two per multiply-add */
    int64_t macs, macs_valid; /* of convolutions; valid: taps inside the input */
    int64_t macro_flops;      /* of layers that are a single op */
};

/* The number of terms of each element of a product. */
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

static struct op_work work_of_op(const struct lx_model *m, const struct model_op *op)
{
    enum model_format dialect = m->format;
    const struct op_row *row = op_find(dialect, op->kind);
    const struct type_rule *rule = row ? row->type : NULL;
    const struct model_type *in[3] = {NULL}, *y, *more;
    struct op_work work = {0};
    bool product = rule == &type_dot || rule == &type_matmul, lstm = rule == &type_lstm;
    if (!product && !lstm && rule != &type_convolution && rule != &type_group_query) return work;
    if (op->operand_count < 2 || op->result_count < 1 || op->results[0] < 0) return work;
    for (int i = 0; i < op->operand_count && i < 3; i++) in[i] = model_type_of(m, op->operands[i]);
    y = model_type_of(m, op->results[0]);
    more = op->result_count > 1 ? model_type_of(m, op->results[1]) : NULL;
    if (!in[0] || !in[1] || in[0]->element == MODEL_TUPLE || in[1]->element == MODEL_TUPLE ||
        y->element == MODEL_TUPLE)
        return work;
    if (rule == &type_convolution) return work_of_conv(op, dialect, in[0], in[1], y);
    if (product) {
        int64_t k = work_contracted(op, dialect, in[0], rule == &type_dot);
        work.flops = fact_times(2, fact_times(y->elements, k));
    } else if (lstm && in[2] && in[0]->count == 3) { /* X W' and h R' in each step, all gates, directions */
        work.macro_flops =
            fact_times(2 * in[0]->extent[0] * in[0]->extent[1], fact_plus(in[1]->elements, in[2]->elements));
    } else if (!lstm && y->count == 3 && (!more || more->count == 4)) { /* over all rows of the cache */
        work.macro_flops = fact_times(fact_times(4, y->elements), more ? more->extent[2] : y->extent[1]);
    }
    return work;
}

/* ---- ops ---- */

/* Counts an op with its results and its work. */
static void fact_op(struct model_facts *f, const struct model_op *op)
{
    bool hlo = f->m->format == MODEL_HLO;
    struct op_work work = work_of_op(f->m, op);
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

/* Counts forms of constants, identities, and writes to arguments. */
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
        bool identity = true;
        for (int i = 0; i < count; i++) identity &= p[i] == i;
        fact_add(f, "identity_permutes", NULL, identity);
    } else if (strcmp(op->kind, "reshape") == 0 && first && op->result_count == 1 &&
               model_same_shape(first->type, model_type_of(f->m, op->results[0]))) {
        fact_add(f, "identity_reshapes", NULL, 1);
    } else if ((strcmp(op->kind, "update_cache") == 0 || strcmp(op->kind, "fill_cache") == 0) && first &&
               first->from == FROM_ARGUMENT) {
        char name[MODEL_MAX_NAME + 2];
        snprintf(name, sizeof name, "%%%s", first->name);
        fact_add(f, "cache_writes_to_arguments", name, 1);
    }
    const struct op_row *row = op_find(MODEL_TTIR, op->kind);
    bool same = true, pointwise = row && row->type == &type_broadcast && op->result_count == 1;
    for (int i = 0; pointwise && i < op->operand_count; i++)
        same &= model_same_shape(model_type_of(f->m, op->operands[i]), model_type_of(f->m, op->results[0]));
    if (!same) fact_add(f, "implicit_broadcasts", NULL, 1);
}

/* Counts nodes known ahead of the run, and shapes that the file declares. */
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

/* ---- HLO: each computation that control reaches, once as written and once as run ---- */

static bool fact_hlo_is_structural(const struct model_op *op)
{
    return strcmp(op->kind, "parameter") == 0 || strcmp(op->kind, "tuple") == 0 ||
           strcmp(op->kind, "get-tuple-element") == 0;
}

static void fact_hlo_op(struct model_facts *f, const struct model_body *body, const struct model_op *op)
{
    const struct model_value *v = &f->m->values.at[op->results[0]];
    char name[256];
    if (fact_hlo_is_structural(op)) {
        fact_add(f, "structural", op->kind, 1);
        return;
    }
    fact_op(f, op);
    fact_add(f, "results_not_row_major", NULL, v->type->order != NULL);
    fact_add(f, "elided_constants", NULL, v->data && v->data->form == DATA_ELIDED);
    if (strcmp(op->kind, "custom-call") == 0) { /* the target without its quotes */
        const char *text = model_attr_word(&op->attrs, "custom_call_target", "");
        text += *text == '"';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "\""), text);
        fact_add(f, "custom_calls", name, 1);
    }
    if (strcmp(op->kind, "while") == 0) {
        snprintf(name, sizeof name, "%lld", (long long)model_fact(f, "whiles", "", 0));
        fact_add(f, "whiles", NULL, 1);
        fact_add(f, "while_trips", name, hlo_trips(f->m, body, op));
    }
}

/* The cost of running a computation. */
enum { RUN_OPS, RUN_FLOPS, RUN_MACS, RUN_COUNT };
struct run {
    int64_t of[RUN_COUNT];
    bool known;
};

static void fact_hlo_run_add(struct run *sum, const struct run *one, int64_t times)
{
    for (int i = 0; i < RUN_COUNT; i++) sum->of[i] = fact_plus(sum->of[i], fact_times(one->of[i], times));
}

/* Loops by their trips (once if unknown); of branches the one with most flops. */
static struct run fact_hlo_run(const struct lx_model *m, int32_t body, struct run *all)
{
    const struct model_body *b = &m->bodies.at[body];
    struct run sum = {.known = true};
    if (all[body].known) return all[body];
    for (int i = 0; i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        struct op_work work = work_of_op(m, op);
        bool control = hlo_is_control(op), branches = strcmp(op->kind, "conditional") == 0;
        int64_t trips = strcmp(op->kind, "while") == 0 ? hlo_trips(m, b, op) : 1;
        struct run own = {{!control && !fact_hlo_is_structural(op), work.flops, work.macs}, true},
                   inner = {0};
        for (int k = 0; control && k < op->body_count; k++) {
            struct run one = fact_hlo_run(m, op->bodies[k], all);
            int64_t more = one.of[RUN_FLOPS] - inner.of[RUN_FLOPS];
            if (branches && k > 0 && (more < 0 || (more == 0 && one.of[RUN_OPS] <= inner.of[RUN_OPS])))
                continue;
            if (branches) inner = (struct run){0};
            fact_hlo_run_add(&inner, &one, 1);
        }
        fact_hlo_run_add(&sum, &inner, trips < 0 ? 1 : trips);
        fact_hlo_run_add(&sum, &own, 1);
    }
    return all[body] = sum;
}

static void fact_hlo_model(struct model_facts *f)
{
    const struct lx_model *m = f->m;
    size_t count = m->bodies.count;
    OWNED enum hlo_use *use = mem_zeroed(count, sizeof *use);
    struct run *all = mem_zeroed(count, sizeof *all), whole = fact_hlo_run(m, m->entry, all);
    int64_t aliased = 0, devices = model_device_count(m);
    hlo_uses(m, use);
    fact_add(f, "results_not_row_major", NULL, 0);
    fact_add(f, "elided_constants", NULL, 0);
    for (size_t b = 0; b < count; b++) {
        const struct model_body *body = &m->bodies.at[b];
        fact_add(f, "computations", NULL, 1);
        fact_add(f, "instructions", NULL, body->op_count);
        fact_add(f, "reached_by_control", NULL, use[b] == HLO_CONTROL);
        fact_add(f, "applied_per_element", NULL, use[b] == HLO_APPLIED);
        for (int i = 0; use[b] == HLO_CONTROL && i < body->op_count; i++) fact_hlo_op(f, body, &body->ops[i]);
    }
    fact_add(f, "entry_instructions", NULL, m->bodies.at[m->entry].op_count);
    for (const char *c = model_attr_word(&m->attrs, "input_output_alias", ""); *c; c++) aliased += *c == '(';
    fact_add(f, "aliased_outputs", NULL, aliased);
    fact_add(f, "partitions", NULL, devices);
    fact_add(f, "ops_run", NULL, whole.of[RUN_OPS]);
    fact_add(f, "flops_run", NULL, whole.of[RUN_FLOPS]);
    fact_add(f, "macs_run", NULL, whole.of[RUN_MACS]);
    mem_free(all);
}

/* ---- the whole ---- */

/* Counts arguments by role, and outputs. */
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
    if (m->format == MODEL_HLO) fact_hlo_model(f);
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
