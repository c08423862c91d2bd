/* Walking through bodies: each op is mapped by its row of ops.def. Calls are inlined, one branch is taken,
 * loops are unrolled while conditions are known and the number of ops stays below the limit. Values may be
 * tuples of tensors. */
#include "import/map/import_steps.h"
#include "import/layers/layers.h"

struct import_value *import_in(struct import *im, const struct model_op *op, int i)
{
    return import_leaf(im, op->operands[i], 0);
}

bool import_has(const struct model_op *op, int i)
{
    return i < op->operand_count && op->operands[i] >= 0;
}

const struct model_type *import_type_out(const struct import *im, const struct model_op *op)
{
    return model_type_of(im->m, op->results[0]);
}

bool import_is_tensor(const struct import *im, int32_t value)
{
    const struct model_type *t = value >= 0 ? model_type_of(im->m, value) : NULL;
    return t && t->element != MODEL_TUPLE && t->elements > 0;
}

static bool op_is_empty(const struct import *im, int32_t value)
{
    const struct model_type *t = value >= 0 ? model_type_of(im->m, value) : NULL;
    return t && t->element != MODEL_TUPLE && t->elements == 0;
}

int64_t import_opset(const struct import *im)
{
    return im->m->bodies.at[im->body].derived ? ONNX_DERIVED_OPSET : model_attr_int(&im->m->attrs, "", 1);
}

bool import_done(struct import *im, const struct model_op *op, enum import_class class, const char *reason,
                 const struct import_value *v)
{
    import_class(im, op, class, reason);
    import_bind(im, op->results[0], v, 1);
    return true;
}

bool import_mapped(struct import *im, const struct model_op *op, const struct import_value *v)
{
    return import_done(im, op, CLASS_MAPPED, NULL, v);
}

bool import_generic(struct import *im, const struct model_op *op, const char *why)
{
    import_class(im, op, CLASS_GENERIC, why);
    import_opaque(im, "generic", op);
    return true;
}

bool import_number(struct import *im, const struct model_op *op, int64_t number)
{
    struct import_value v = import_whole(im, import_type_out(im, op), &number, 1);
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

/* A folded ONNX result is a constant. */
static bool op_known_ahead(const struct import *im, const struct model_op *op)
{
    const struct model_value *v =
        op->result_count == 1 && op->results[0] >= 0 ? &im->m->values.at[op->results[0]] : NULL;
    return im->format == MODEL_ONNX && v && v->data && (v->data->ints || v->data->reals);
}

/* Why operands and results do not fit the row; NULL: they fit. ONNX also has empty lists of extents or axes
 * as operands; concat ignores empty parts; parts of a Split or TopK may be unread. */
static const char *op_wrong(const struct import *im, const struct model_op *op, const struct op_row *row)
{
    bool joins = row->map == map_concat, loose = row->form == OP_LOOSE, any = row->form == OP_ANY_TYPE;
    bool onnx = im->format == MODEL_ONNX, complex = false;
    bool parts = row->map == map_split || row->map == map_topk;
    bool ok =
        op->operand_count >= row->least && (any ? op->result_count == 1 : loose || op->result_count > 0);
    for (int i = 0; i < op->result_count; i++) {
        bool absent = op->results[i] < 0, unread = absent && (i > 0 || parts);
        complex |= !absent && model_type_of(im->m, op->results[i])->element == MODEL_C64;
        ok = ok && (any ? !absent : unread || ((loose || i == 0) && import_is_tensor(im, op->results[i])));
    }
    for (int i = 0; i < op->operand_count; i++) {
        bool absent = op->operands[i] < 0, more = i >= row->least;
        bool may = absent ? loose && more : (joins || (onnx && more)) && op_is_empty(im, op->operands[i]);
        complex |= !absent && model_type_of(im->m, op->operands[i])->element == MODEL_C64;
        ok = ok && (any || may || import_is_tensor(im, op->operands[i]));
    }
    return complex ? "complex" : ok ? NULL : "form";
}

/* All results are empty: nothing to do. */
static bool op_makes_nothing(struct import *im, const struct model_op *op)
{
    for (int r = 0; r < op->result_count; r++)
        if (!op_is_empty(im, op->results[r])) return false;
    if (op->result_count == 0) return false;
    import_class(im, op, CLASS_FREE, "empty");
    for (int r = 0; r < op->result_count; r++) {
        struct import_value v = {.storage = -1, .type = model_type_of(im->m, op->results[r])};
        import_bind(im, op->results[r], &v, 1);
    }
    return true;
}

/* The operand is empty: the result is an empty sum, or padding only. */
static bool op_from_nothing(struct import *im, const struct model_op *op)
{
    static const struct {
        const char *kind;
        int64_t number; /* -1: the second operand (HLO) */
    } rows[] = {{"dot", 0},       {"reduce", -1},    {"pad", -1},          {"sum", 0},         {"prod", 1},
                {"reduce_or", 0}, {"reduce_and", 1}, {"matmul", 0},        {"dot_general", 0}, {"MatMul", 0},
                {"ReduceSum", 0}, {"ReduceProd", 1}, {"reduce-window", -1}};
    size_t row = 0, count = sizeof rows / sizeof *rows;
    double number;
    while (row < count && strcmp(rows[row].kind, op->kind) != 0) row++;
    if (row == count || op->operand_count < 1 || op->result_count != 1 ||
        !import_is_tensor(im, op->results[0]) || !op_is_empty(im, op->operands[0]))
        return false;
    if (rows[row].number >= 0) return import_number(im, op, rows[row].number);
    if (im->format != MODEL_HLO || op->operand_count != 2 || !import_is_tensor(im, op->operands[1]))
        return false;
    struct import_value v = *import_in(im, op, 1);
    if (!import_splat(&v, &number)) return false;
    v.type = import_type_out(im, op);
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

/* Replaces a value by a copy, cut by its own dimensions only: a reshape stops cuts. A splat has no storage to
 * cut. */
static void op_copy_apart(struct import *im, const struct model_op *op, int32_t value)
{
    struct import_value v = *import_leaf(im, value, 0);
    const struct model_data *known = v.known;
    double number;
    if (import_splat(&v, &number)) return;
    v = import_opaque_leaf(im, "reshape", op, v, v.type);
    v.known = known;
    import_bind(im, value, &v, 1);
}

/* Maps an op that is alone: on copies of its operands, and with its results copied. */
static bool op_map_alone(struct import *im, const struct model_op *op, const struct op_row *row)
{
    int32_t *was = arena_array(&im->memory, (size_t)op->operand_count + 1, sizeof *was);
    for (int i = 0; i < op->operand_count; i++) {
        was[i] = op->operands[i] >= 0 ? im->leaf[op->operands[i]] : -1;
        if (import_is_tensor(im, op->operands[i])) op_copy_apart(im, op, op->operands[i]);
    }
    if (!row->map(im, op, row->ours)) return false;
    for (int i = op->operand_count - 1; i >= 0; i--)
        if (op->operands[i] >= 0) im->leaf[op->operands[i]] = was[i];
    for (int r = 0; r < op->result_count; r++)
        if (import_is_tensor(im, op->results[r])) op_copy_apart(im, op, op->results[r]);
    return true;
}

/* Maps an op that is no control flow. */
static bool op_map(struct import *im, const struct model_op *op)
{
    const struct op_row *row = op_find(im->format, op->kind);
    if (op_makes_nothing(im, op) || op_from_nothing(im, op) || import_computed(im, op)) return true;
    if (op_known_ahead(im, op)) return map_constant(im, op, NULL);
    if (!row || !row->map) return import_generic(im, op, "kind");
    if (row->map == map_constant && op->result_count == 1 && import_is_tensor(im, op->results[0]))
        return map_constant(im, op, NULL);
    const char *wrong = op_wrong(im, op, row);
    if (wrong) return import_generic(im, op, wrong);
    const struct op_class *c = import_class_of(im, op);
    if (c->unmapped) return import_generic(im, op, "letters");
    /* An op without a result writes its first operand, so a copy would be lost. */
    if (c->alone && op->result_count > 0) return op_map_alone(im, op, row);
    return row->map(im, op, row->ours);
}

/* ---- control flow ---- */

struct op_class *import_class_of(const struct import *im, const struct model_op *op)
{
    const struct model_body *b = &im->m->bodies.at[im->body];
    return &im->classes[im->body][op - b->ops];
}

/* Classifies an op. A body called often counts once; an op generic in one call is generic in the report. */
void import_class(struct import *im, const struct model_op *op, enum import_class class, const char *reason)
{
    struct op_class *c = import_class_of(im, op);
    if (c->seen && (class != CLASS_GENERIC || c->class == CLASS_GENERIC)) return;
    c->class = class;
    c->reason = reason;
    c->seen = true;
}

static int control_leaves(const struct import *im, int32_t value)
{
    return model_type_of(im->m, value)->leaves;
}

/* Makes `count` leaves of a value, from `first` on, the value `to`. */
static void control_pass(struct import *im, int32_t from, int first, int count, int32_t to)
{
    OWNED VEC(struct import_value) copy = {0};
    for (int i = 0; i < count; i++) VEC_PUSH(&copy, *import_leaf(im, from, first + i));
    import_bind(im, to, copy.at, count);
}

static bool control_tuple(struct import *im, const struct model_op *op)
{
    OWNED VEC(struct import_value) all = {0};
    for (int i = 0; i < op->operand_count; i++)
        for (int k = 0; k < control_leaves(im, op->operands[i]); k++)
            VEC_PUSH(&all, *import_leaf(im, op->operands[i], k));
    bool ok = (int)all.count == control_leaves(im, op->results[0]);
    if (ok) import_bind(im, op->results[0], all.at, (int)all.count);
    import_class(im, op, CLASS_FREE, "names");
    return ok || status_set_at(im->st, LX_E_SHAPE, im->m->file, op->line, op->column,
                               "the tuple has another type than its parts");
}

static bool control_element(struct import *im, const struct model_op *op)
{
    const struct model_type *t = model_type_of(im->m, op->operands[0]);
    int64_t index = model_attr_int(&op->attrs, "index", -1);
    int first = 0;
    if (t->element != MODEL_TUPLE || index < 0 || index >= t->count ||
        t->parts[index]->leaves != control_leaves(im, op->results[0]))
        return status_set_at(im->st, LX_E_SHAPE, im->m->file, op->line, op->column,
                             "the tuple has no element %lld of that type", (long long)index);
    for (int64_t i = 0; i < index; i++) first += t->parts[i]->leaves;
    import_class(im, op, CLASS_FREE, "names");
    control_pass(im, op->operands[0], first, t->parts[index]->leaves, op->results[0]);
    return true;
}

/* Maps a body within this op. */
static bool control_walk(struct import *im, const struct model_op *op, int32_t number)
{
    int32_t back = im->body;
    if (++im->depth > MODEL_MAX_DEPTH)
        return status_set_at(im->st, LX_E_LIMIT, im->m->file, op->line, op->column, "calls nest too deep");
    if (!import_body(im, number)) return false;
    im->body = back;
    im->depth--;
    return true;
}

/* Maps a body with these operands; its results become the op's. */
static bool control_enter(struct import *im, const struct model_op *op, int32_t number,
                          const int32_t *operands, int count)
{
    const struct model_body *b = &im->m->bodies.at[number];
    const char *path = im->path;
    bool fits = b->result_count >= op->result_count && b->argument_count == count;
    for (int i = 0; fits && i < op->result_count; i++)
        fits = control_leaves(im, b->results[i]) == control_leaves(im, op->results[i]);
    for (int i = 0; fits && i < count; i++)
        fits = control_leaves(im, b->arguments[i]) == control_leaves(im, operands[i]);
    if (!fits)
        return status_set_at(im->st, LX_E_SHAPE, im->m->file, op->line, op->column,
                             "operands are not those of %.80s", b->name);
    for (int i = 0; i < count; i++)
        control_pass(im, operands[i], 0, control_leaves(im, operands[i]), b->arguments[i]);
    import_class(im, op, CLASS_FREE, "inlined");
    import_path_enter(im, op);
    if (!control_walk(im, op, number)) return false;
    im->path = path;
    for (int i = 0; i < op->result_count; i++)
        control_pass(im, b->results[i], 0, control_leaves(im, b->results[i]), op->results[i]);
    return true;
}

/* Maps the op's derived body. Constants of a layer are stored in the order of its operands. */
static bool control_derived(struct import *im, const struct model_op *op)
{
    const struct model_body *b = &im->m->bodies.at[op->instead - 1];
    bool macro = op_find(im->format, op->kind)->macro;
    int next = 0;
    for (int i = 0; macro && i < op->operand_count; i++) {
        struct import_value v = {.storage = 0};
        double number;
        if (import_is_tensor(im, op->operands[i])) v = *import_in(im, op, i);
        if (v.storage < 0 && !import_splat(&v, &number)) import_stored(im, &v);
    }
    if (!control_walk(im, op, op->instead - 1)) return false;
    for (int r = 0; r < op->result_count; r++) {
        OWNED VEC(struct import_value) all = {0};
        const struct model_type *t = op->results[r] < 0 ? NULL : model_type_of(im->m, op->results[r]);
        for (int i = 0; i < (t ? t->leaves : 1); i++, next++) {
            struct import_value v = {.storage = -1, .type = t ? model_leaf_type(t, i) : NULL};
            if (b->results[next] >= 0) v = *import_leaf(im, b->results[next], 0);
            VEC_PUSH(&all, v);
        }
        if (t) import_bind(im, op->results[r], all.at, (int)all.count);
    }
    import_class(im, op, CLASS_EXPANDED, NULL);
    return true;
}

/* Bodies in the order of their numbers: of If, the true branch first. */
static int32_t control_branch_body(const struct import *im, const struct model_op *op, int k)
{
    const struct model_attr *a =
        im->format == MODEL_ONNX ? model_attr_find(&op->attrs, k ? "else_branch" : "then_branch") : NULL;
    return a && a->form == ATTR_BODY ? a->body : op->bodies[k];
}

/* The branch known to be taken, else the one asked for, else the one with most bytes. */
static int64_t control_choose(struct import *im, const struct model_op *op)
{
    struct op_class *c = import_class_of(im, op);
    const struct model_type *t = model_type_of(im->m, op->operands[0]);
    int64_t number;
    int taken = 0;
    bool known = import_is_tensor(im, op->operands[0]) && import_known(import_in(im, op, 0), &number);
    c->unknown = !known && (!op->taken || op->by_data);
    if (known) {
        if (t->element == MODEL_BOOL || im->format == MODEL_ONNX) return number == 0;
        return number < 0 || number >= op->body_count ? op->body_count - 1 : number;
    }
    if (c->unknown && im->options.branch >= op->body_count) return im->options.branch;
    if (op->taken) return op->taken - 1; /* the later shapes assume this branch */
    if (im->options.branch >= 0) return im->options.branch;
    for (int k = 1; k < op->body_count; k++)
        if (fact_body_bytes(im->m, control_branch_body(im, op, k)) >
            fact_body_bytes(im->m, control_branch_body(im, op, taken)))
            taken = k;
    return taken;
}

static bool control_branches(struct import *im, const struct model_op *op)
{
    if (op->operand_count < 1 || op->operands[0] < 0) return import_generic(im, op, "form");
    int64_t taken = control_choose(im, op);
    bool onnx = im->format == MODEL_ONNX;
    if (taken >= op->body_count && taken == im->options.branch)
        return status_set_at(im->st, LX_E_RANGE, im->m->file, op->line, op->column,
                             "--branch %lld: %.100s has %d branches; they are 0 to %d", (long long)taken,
                             import_op_label(im, op), op->body_count, op->body_count - 1);
    import_class_of(im, op)->taken = taken;
    if (taken >= op->body_count || (!onnx && taken + 1 >= op->operand_count))
        return import_generic(im, op, "form");
    return control_enter(im, op, control_branch_body(im, op, (int)taken), op->operands + 1 + taken, !onnx);
}

/* Unrolls while the condition is known and the ops are few enough; else as often as asked for. */
static bool control_loop(struct import *im, const struct model_op *op)
{
    struct op_class *c = import_class_of(im, op);
    const struct model_body *test = &im->m->bodies.at[op->bodies[0]];
    if (op->operand_count != 1 || op->result_count != 1 ||
        control_leaves(im, op->operands[0]) != control_leaves(im, op->results[0]))
        return import_generic(im, op, "form");
    int leaves = control_leaves(im, op->results[0]);
    bool judges = test->argument_count == 1 && test->result_count == 1 &&
                  control_leaves(im, test->arguments[0]) == leaves &&
                  control_leaves(im, test->results[0]) == 1;
    control_pass(im, op->operands[0], 0, leaves, op->results[0]);
    import_class(im, op, CLASS_FREE, "inlined");
    for (c->taken = 0;; c->taken++) {
        int64_t on = 1;
        if (judges) control_pass(im, op->results[0], 0, leaves, test->arguments[0]);
        if (judges && !control_walk(im, op, op->bodies[0])) return false;
        bool known = judges && import_known(import_leaf(im, test->results[0], 0), &on);
        c->unknown |= !known;
        if (on == 0 || ((!known || c->capped) && c->taken >= im->options.trips)) return true;
        if (!control_enter(im, op, op->bodies[1], op->results, 1)) return false;
        if (!c->capped && im->walked > im->options.max_ops) return c->capped = im->retry = true;
    }
}

/* Calls that only state a tensor's device or layout, and barriers, of any type. */
static bool control_only_names(const struct import *im, const struct model_op *op)
{
    static const char *const targets[] = {"Sharding",     "SPMDFullToShardShape",      "SPMDShardToFullShape",
                                          "xla.sdy.",     "annotate_device_placement", "MoveToHost",
                                          "MoveToDevice", "LayoutConstraint"};
    static const char *const kinds[] = {"opt-barrier", "optimization-barrier", "add-dependency",
                                        "domain",      "async-update",         "set-dimension-size"};
    bool plain = false;
    if (im->format != MODEL_HLO || op->operand_count < 1) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) plain |= strcmp(op->kind, kinds[i]) == 0;
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    for (size_t i = 0; strcmp(op->kind, "custom-call") == 0 && i < sizeof targets / sizeof *targets; i++)
        plain |= strncmp(target + (*target == '"'), targets[i], strlen(targets[i])) == 0;
    const struct model_type *x = model_type_of(im->m, op->operands[0]),
                            *y = model_type_of(im->m, op->results[0]);
    return plain && x->leaves == y->leaves && x->bytes == y->bytes;
}

static bool control_is_call(const struct model_op *op)
{
    return op->body_count == 1 && (strcmp(op->kind, "call") == 0 || strcmp(op->kind, "fusion") == 0);
}

/* How many ops a body has at least when its calls are inlined, up to the limit. `known`: per body; -1: under
 * way. */
static int64_t control_count(const struct import *im, int32_t number, int depth, int64_t *known)
{
    const struct model_body *b = &im->m->bodies.at[number];
    if (known[number] || depth > MODEL_MAX_DEPTH) return known[number] > 0 ? known[number] : 0;
    known[number] = -1;
    int64_t sum = 1;
    for (int i = 0; i < b->op_count && sum <= LX_MAX_ITEMS; i++) {
        sum += strcmp(b->ops[i].kind, "parameter") != 0;
        if (!b->ops[i].instead && control_is_call(&b->ops[i]))
            sum += control_count(im, b->ops[i].bodies[0], depth + 1, known);
    }
    return known[number] = sum;
}

static bool control_is_too_large(const struct import *im)
{
    OWNED int64_t *known = mem_zeroed((size_t)im->m->bodies.count + 1, sizeof *known);
    return control_count(im, im->m->entry, 0, known) > LX_MAX_ITEMS + 1;
}

/* Handles control flow and names; *done: the op was one. */
static bool control_op(struct import *im, const struct model_op *op, bool *done)
{
    const char *kind = op->kind;
    *done = true;
    if (control_only_names(im, op) || import_stays_part(im, op)) {
        import_class(im, op, CLASS_FREE, "names");
        control_pass(im, op->operands[0], 0, control_leaves(im, op->operands[0]), op->results[0]);
        return true;
    }
    if (op->instead && !op_known_ahead(im, op)) return control_derived(im, op);
    if (strcmp(kind, "tuple") == 0) return control_tuple(im, op);
    if (strcmp(kind, "get-tuple-element") == 0 && op->operand_count == 1) return control_element(im, op);
    if (control_is_call(op)) return control_enter(im, op, op->bodies[0], op->operands, op->operand_count);
    if (op->body_count == 2 && strcmp(kind, "while") == 0) return control_loop(im, op);
    if (op->body_count > 0 && (strcmp(kind, "conditional") == 0 || strcmp(kind, "If") == 0))
        return control_branches(im, op);
    *done = false;
    return true;
}

bool import_body(struct import *im, int32_t number)
{
    const struct model_body *b = &im->m->bodies.at[number];
    for (int i = 0; i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        bool done;
        im->body = number;
        im->format = b->derived && !op->native ? MODEL_ONNX : im->m->format;
        if (strcmp(op->kind, "parameter") == 0 && im->format == MODEL_HLO) {
            import_class(im, op, CLASS_FREE, "names");
            continue;
        }
        if ((im->walked == 0 && control_is_too_large(im)) || ++im->walked > LX_MAX_ITEMS ||
            im->sketches.count > LX_MAX_ITEMS)
            return status_set_at(im->st, LX_E_LIMIT, im->m->file, op->line, op->column,
                                 "more than %d ops after inlining", LX_MAX_ITEMS);
        struct op_class *c = import_class_of(im, op);
        bool first = !c->seen;
        if (first) c->first = (int32_t)im->sketches.count;
        im->owner = c;
        struct label_place at = import_label_begin(im, op);
        if (!control_op(im, op, &done) || (!done && !op_map(im, op))) return false;
        import_state_results(im, op);
        im->body = number;
        if (!done || op->instead) import_label_end(im, op, &at);
        if (first) c->end = (int32_t)im->sketches.count;
    }
    return true;
}
