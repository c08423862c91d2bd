/* Ops of TTIR in the generic form of MLIR, one behind the other up to the end of their function. */
#include "import/read/ttir.h"

#include <stdlib.h>
#include <string.h>

static bool ttir_op_is_value_name(char c)
{
    return source_is_name(c) || c == '#';
}

/* "%7" or "%7#1". */
static bool ttir_op_operand(struct ttir *t)
{
    struct source *s = &t->s;
    source_skip(s, true);
    if (source_peek(s) != '%') return source_want(s, "%");
    s->at++;
    const char *name = source_name(s, ttir_op_is_value_name, "the name of a value");
    if (!name) return false;
    int32_t v = names_find(&t->values, name);
    if (v < 0) {
        s->at -= strlen(name) + 1;
        return source_fail(s, LX_E_UNKNOWN_NAME, "%%%.80s has not been made above", name);
    }
    VEC_PUSH(&t->list, v);
    return true;
}

/* Operands up to `closer` (NULL: while there are commas), pushed to t->list. */
static bool ttir_op_operands(struct ttir *t, const char *closer)
{
    if (closer && source_take(&t->s, closer)) return true;
    do {
        if (!ttir_op_operand(t)) return false;
    } while (source_take(&t->s, ","));
    return !closer || source_want(&t->s, closer);
}

static const int32_t *ttir_op_kept(struct ttir *t, int *count)
{
    const int32_t *list = arena_copy_array(&t->s.m->memory, t->list.at, t->list.count, sizeof *t->list.at);
    *count = (int)t->list.count;
    t->list.count = 0;
    return list;
}

/* Names of results, before they have types: "%7", "%7:2", with commas between. */
struct names_of_results {
    const char *name[MODEL_MAX_DEPTH];
    int64_t many[MODEL_MAX_DEPTH];
    int count;
};

static bool ttir_op_result_names(struct ttir *t, struct names_of_results *r)
{
    struct source *s = &t->s;
    r->count = 0;
    if (!source_is(s, "%")) return true;
    do {
        if (r->count == MODEL_MAX_DEPTH) return source_fail(s, LX_E_LIMIT, "more than %d results", r->count);
        if (!source_want(s, "%")) return false;
        r->many[r->count] = 1;
        r->name[r->count] = source_name(s, source_is_name, "the name of a value");
        if (!r->name[r->count]) return false;
        if (source_take(s, ":") && (source_skip(s, true), !source_int(s, &r->many[r->count]))) return false;
        r->count++;
    } while (source_take(s, ","));
    return source_want(s, "=");
}

static bool ttir_op_add_result(struct ttir *t, const char *name, const struct model_type *type,
                               const struct model_op *op)
{
    struct model_value v = {.name = name,
                            .type = type,
                            .from = FROM_OP,
                            .body = t->body,
                            .line = op->line,
                            .column = op->column,
                            .op = (int32_t)t->ops.count};
    int32_t number = model_add_value(t->s.m, &v, t->s.st);
    if (number < 0) return source_fail(&t->s, t->s.st->code, "%s", t->s.st->text);
    if (names_add(&t->values, name, number) == NAMES_KNOWN)
        return source_fail(&t->s, LX_E_DUPLICATE, "%%%.80s is made twice", name);
    VEC_PUSH(&t->list, number);
    return true;
}

/* The first of several is also known without its number. */
static bool ttir_op_add_results(struct ttir *t, const struct names_of_results *r, const ttir_types *types,
                                struct model_op *op)
{
    size_t next = 0;
    for (int i = 0; i < r->count; i++)
        for (int64_t k = 0; k < r->many[i]; k++, next++) {
            const char *name = r->many[i] == 1
                                   ? r->name[i]
                                   : arena_format(&t->s.m->memory, "%s#%lld", r->name[i], (long long)k);
            if (next >= types->count)
                return source_fail(&t->s, LX_E_SYNTAX, "more results than types of them");
            if (!ttir_op_add_result(t, name, types->at[next], op)) return false;
        }
    if (next != types->count && r->count > 0)
        return source_fail(&t->s, LX_E_SYNTAX, "%zu types for %zu results", types->count, next);
    return (op->results = ttir_op_kept(t, &op->result_count)) != NULL;
}

/* The types of operands stand behind the op once more: they must be those of the values. */
static bool ttir_op_check_types(struct ttir *t, const struct model_op *op, const ttir_types *types)
{
    if (types->count != (size_t)op->operand_count)
        return source_fail(&t->s, LX_E_SYNTAX, "%zu types for %d operands", types->count, op->operand_count);
    for (int i = 0; i < op->operand_count; i++)
        if (!ttir_same_types(&t->s, t->s.m->values.at[op->operands[i]].type, types->at[i], "operand", i))
            return false;
    return true;
}

/* " : (TYPES) -> TYPES loc(...)"; bare: " : TYPES". */
static bool ttir_op_signature(struct ttir *t, const struct names_of_results *r, struct model_op *op,
                              bool bare)
{
    ttir_types in = {0}, out = {0};
    bool ok = source_want(&t->s, ":") &&
              (bare ||
               (ttir_type_list(&t->s, &in) && ttir_op_check_types(t, op, &in) && source_want(&t->s, "->"))) &&
              ttir_type_list(&t->s, &out) && ttir_op_add_results(t, r, &out, op) &&
              ttir_location(t, &op->location);
    VEC_FREE(&in);
    VEC_FREE(&out);
    return ok;
}

/* What may stand between operands and types: properties, regions (passed over), attributes. */
static bool ttir_op_properties(struct ttir *t, struct model_op *op)
{
    struct source *s = &t->s;
    const char *from;
    size_t length;
    if (source_take(s, "<") && !(ttir_attrs(t) && source_want(s, ">"))) return false;
    if (source_take(s, "(")) {
        do {
            if (!source_balanced(s, true, &from, &length)) return false;
        } while (source_take(s, ","));
        if (!source_want(s, ")")) return false;
    }
    if (source_is(s, "{") && !ttir_attrs(t)) return false;
    ttir_attrs_kept(t, &op->attrs);
    return true;
}

/* The kind as tables have it: without the dialect, calls of all dialects alike. */
static const char *ttir_op_without_dialect(const char *name)
{
    static const char *const same[][2] = {
        {"func.call", "call"}, {"tensor.empty", "empty"}, {"arith.constant", "constant"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(name, same[i][0]) == 0) return same[i][1];
    return strncmp(name, "ttir.", 5) == 0 ? name + 5 : name;
}

/* "[func.]call @name(operands)" */
static bool ttir_op_call(struct ttir *t, struct model_op *op)
{
    struct model_attr callee = {.key = "callee", .form = ATTR_WORD};
    op->kind = "call";
    if (!(callee.text = ttir_symbol(&t->s, "the name of a function"))) return false;
    VEC_PUSH(&t->attrs, callee);
    return source_want(&t->s, "(") && ttir_op_operands(t, ")");
}

/* "ttir.empty()": room for a result. */
static bool ttir_op_empty(struct ttir *t, struct model_op *op)
{
    op->kind = "empty";
    return source_want(&t->s, "(") && source_want(&t->s, ")");
}

static bool ttir_op_quoted(struct ttir *t, struct model_op *op)
{
    const char *name = source_is(&t->s, "\"") ? source_string(&t->s) : NULL;
    if (!name)
        return source_fail(&t->s, LX_E_SYNTAX,
                           "expected an op in quotes, such as \"ttir.add\"(%%0, %%1); write the file with "
                           "--mlir-print-op-generic");
    if (strlen(name) > MODEL_MAX_NAME) return source_fail(&t->s, LX_E_LIMIT, "a name that is too long");
    op->kind = ttir_op_without_dialect(name);
    return source_want(&t->s, "(") && ttir_op_operands(t, ")");
}

/* Ops that are printed without quotes. */
static const struct {
    const char *word;
    bool (*read)(struct ttir *t, struct model_op *op);
    bool bare; /* of its types only that of the result is there */
} unquoted[] = {{"func.call", ttir_op_call, false},
                {"call", ttir_op_call, false},
                {"ttir.empty", ttir_op_empty, true},
                {"tensor.empty", ttir_op_empty, true}};

static bool ttir_op_one(struct ttir *t)
{
    struct names_of_results r;
    struct model_op op = {.line = t->s.line, .column = source_column(&t->s)};
    if (t->ops.count >= MODEL_MAX_OPS)
        return source_fail(&t->s, LX_E_LIMIT, "more than %d ops", MODEL_MAX_OPS);
    if (!ttir_op_result_names(t, &r)) return false;
    size_t form = 0, forms = sizeof unquoted / sizeof *unquoted;
    while (form < forms && !source_take(&t->s, unquoted[form].word)) form++;
    if (!(form < forms ? unquoted[form].read : ttir_op_quoted)(t, &op)) return false;
    bool bare = form < forms && unquoted[form].bare;
    op.operands = ttir_op_kept(t, &op.operand_count);
    if (!op.operands || !ttir_op_properties(t, &op) || !ttir_op_signature(t, &r, &op, bare)) return false;
    VEC_PUSH(&t->ops, op);
    return true;
}

/* Types behind a return: those of the values, and of the results that the function states. */
static bool ttir_op_check_returned(struct source *s, const struct model_body *body, const ttir_types *types,
                                   const ttir_types *stated)
{
    if (types->count != (size_t)body->result_count)
        return source_fail(s, LX_E_SYNTAX, "%zu types for %d results", types->count, body->result_count);
    if (stated->count != types->count)
        return source_fail(s, LX_E_SHAPE, "%zu results are returned, the function states %zu", types->count,
                           stated->count);
    for (int i = 0; i < body->result_count; i++)
        if (!ttir_same_types(s, s->m->values.at[body->results[i]].type, types->at[i], "result", i) ||
            !ttir_same_types(s, types->at[i], stated->at[i], "result", i))
            return false;
    return true;
}

/* "return %a, %b : TYPES loc(...)". */
static bool ttir_op_returned(struct ttir *t, struct model_body *body)
{
    ttir_types types = {0};
    const char *location;
    bool ok = true;
    struct source behind = t->s;
    if (source_is(&t->s, "%")) {
        ok = ttir_op_operands(t, NULL) && source_want(&t->s, ":");
        do {
            const struct model_type *type = ok ? ttir_type(&t->s) : NULL;
            ok = type && VEC_PUSH(&types, type);
            behind = t->s;
        } while (ok && source_take(&t->s, ","));
    }
    ok = ok && (body->results = ttir_op_kept(t, &body->result_count)) &&
         ttir_op_check_returned(&behind, body, &types, &t->results);
    VEC_FREE(&types);
    return ok && ttir_location(t, &location);
}

bool ttir_ops(struct ttir *t, struct model_body *body)
{
    struct source *s = &t->s;
    t->ops.count = 0;
    while (!source_take(s, "}")) {
        if (source_take(s, "return") || source_take(s, "func.return")) {
            if (!ttir_op_returned(t, body)) return false;
        } else if (source_ended(s)) {
            return source_fail(s, LX_E_SYNTAX, "the function does not end: \"}\" is missing");
        } else if (!ttir_op_one(t)) {
            return false;
        }
    }
    body->op_count = (int)t->ops.count;
    body->ops = arena_copy_array(&s->m->memory, t->ops.at, t->ops.count, sizeof *t->ops.at);
    return true;
}
