/* Types of MLIR, and ops of TTIR in the generic form. */
#include "import/read/ttir.h"

/* bf16, si32, complex<f32>. Signless and signed are one. */
enum model_element ttir_element(struct source *s)
{
    char word[40];
    size_t n = 0;
    for (source_skip(s, true); n + 1 < sizeof word && source_peek(s); s->at++) {
        bool letter = source_is_name(*s->at) && !strchr("_.-$", *s->at);
        bool inside = n >= 7 && memcmp(word, "complex", 7) == 0 && word[n - 1] != '>';
        if (!letter && !(inside && (*s->at == '<' || *s->at == '>'))) break;
        word[n++] = *s->at;
    }
    word[n] = 0;
    if (strcmp(word, "index") == 0) return MODEL_I64;
    if (strcmp(word, "tf32") == 0) return MODEL_F32; /* its storage type */
    enum model_element e = model_element_find(MODEL_TTIR, strncmp(word, "si", 2) == 0 ? word + 1 : word);
    return e < MODEL_TUPLE && model_element_row(e)->bits > 0 ? e : MODEL_ELEMENT_COUNT;
}

const struct model_type *ttir_type(struct source *s)
{
    int64_t extent[MODEL_MAX_RANK + 1];
    int rank = 0;
    source_want(s, "tensor");
    source_want(s, "<");
    while (source_is_digit(source_next(s)) || source_peek(s) == '?') {
        extent[rank] = source_extent(s, rank);
        rank++;
        if (source_peek(s) != 'x') source_fail(s, LX_E_SYNTAX, "expected \"x\" after an extent");
        if (!s->failed) s->at++;
    }
    const char *from = s->at;
    enum model_element e = ttir_element(s);
    if (e == MODEL_ELEMENT_COUNT && (source_skip(s, true), source_ended(s)))
        source_fail(s, LX_E_SYNTAX, "the file ends within a type");
    if (e == MODEL_ELEMENT_COUNT && !s->failed) {
        int n = 0;
        while (n < 40 && from + n < s->end && !strchr(">, \n", from[n])) n++;
        s->at = from;
        source_fail(
            s, LX_E_UNKNOWN_KIND,
            "an element type that has no size: \"%.*s\"; numbers such as f32, bf16, i32, i1 are known", n,
            from);
    }
    if (source_take(s, ",")) source_balanced(s, OVER_LINES | OVER_COMMAS); /* an encoding */
    source_want(s, ">");
    return source_type(s, e, rank, extent);
}

void ttir_type_list(struct ttir *t, ttir_types *types)
{
    struct source *s = &t->r.s;
    bool list = source_take(s, "(");
    if (list && source_take(s, ")")) return;
    do {
        const struct model_type *type = ttir_type(s);
        VEC_PUSH(types, type);
        if (list && source_is(s, "{")) ttir_attrs(t);
        t->r.attrs.count = 0;
    } while (list && source_take(s, ","));
    if (list) source_want(s, ")");
}

static bool ttir_op_is_value_name(char c)
{
    return source_is_name(c) || c == '#';
}

/* "%7, %7#1", pushed to the list. */
static void ttir_op_operands(struct ttir *t)
{
    struct source *s = &t->r.s;
    do {
        source_want(s, "%");
        reader_push_operand(&t->r, source_name(s, ttir_op_is_value_name, "the name of a value"));
    } while (source_take(s, ","));
}

const char *ttir_result_name(struct ttir *t, const char *name, int64_t k)
{
    if (t->more.count == 0) return arena_format(&t->r.s.m->memory, "%s#%lld", name, (long long)k);
    return k > 0 ? t->more.at[k - 1] : name;
}

/* Results by their types: "%7", or "%7#0", "%7#1" of "%7:2". */
static void ttir_op_add_results(struct ttir *t, const char *name, int64_t many, const ttir_types *types,
                                struct model_op *op)
{
    struct source *s = &t->r.s;
    struct model_value v = {.name = name, .from = FROM_OP, .line = op->line, .column = op->column};
    v.op = (int32_t)t->r.ops.count;
    if (*name && many != (int64_t)types->count)
        source_fail(s, LX_E_SYNTAX, "%zu types for %lld results", types->count, (long long)many);
    for (int64_t k = 0; *name && k < many && !s->failed; k++) {
        if (many > 1) v.name = ttir_result_name(t, name, k);
        v.type = types->at[k];
        reader_add_value(&t->r, v);
    }
    op->results = reader_list(&t->r, &op->result_count);
}

/* Types stated again must match the values'. */
static void ttir_op_check_types(struct source *s, const int32_t *values, int count, const ttir_types *types,
                                const char *what)
{
    char name[40];
    if (types->count != (size_t)count)
        source_fail(s, LX_E_SYNTAX, "%zu types for %d %ss", types->count, count, what);
    for (int i = 0; i < count && !s->failed; i++) {
        snprintf(name, sizeof name, "%s %d", what, i);
        source_same_types(s, model_type_of(s->m, values[i]), types->at[i], name);
    }
}

/* Ops printed without quotes, and ops of other dialects that tables have under another name. */
static const struct {
    const char *word, *kind;
    bool unquoted;
} ttir_op_words[] = {{"func.call", "call", true},
                     {"call", "call", true},
                     {"ttir.empty", "empty", true},
                     {"tensor.empty", "empty", true},
                     {"arith.constant", "constant", false}};
enum { OP_WORDS = sizeof ttir_op_words / sizeof *ttir_op_words };

/* The kind as in tables, without the dialect. True: the op is printed without quotes. */
static bool ttir_op_kind(struct source *s, struct model_op *op)
{
    for (int i = 0; i < OP_WORDS; i++)
        if (ttir_op_words[i].unquoted && source_take(s, ttir_op_words[i].word))
            return op->kind = ttir_op_words[i].kind, true;
    if (source_next(s) != '"')
        source_fail(s, LX_E_SYNTAX,
                    "expected an op in quotes, such as \"ttir.add\"(%%0, %%1); write the file with "
                    "--mlir-print-op-generic");
    op->kind = source_string(s);
    if (strlen(op->kind) > MODEL_MAX_NAME) source_fail(s, LX_E_LIMIT, "a name that is too long");
    for (int i = 0; i < OP_WORDS; i++)
        if (strcmp(op->kind, ttir_op_words[i].word) == 0) op->kind = ttir_op_words[i].kind;
    if (strncmp(op->kind, "ttir.", 5) == 0) op->kind += 5;
    return false;
}

/* "%7 = "ttir.name"(operands) <{properties}> (regions) {attributes} : (TYPES) -> TYPES loc(...)"; without
 * quotes, "empty" has only its result's type. */
void ttir_op(struct ttir *t)
{
    struct source *s = &t->r.s;
    OWNED ttir_types in = {0}, out = {0};
    const char *name = "";
    int64_t many = 1;
    struct model_op op = {.line = s->line, .column = source_column(s)};
    if (t->r.ops.count >= MODEL_MAX_OPS) source_fail(s, LX_E_LIMIT, "more than %d ops", MODEL_MAX_OPS);
    if (source_take(s, "%")) {
        name = source_name(s, source_is_name, "the name of a value");
        if (source_take(s, ":")) many = source_int(s);
        for (t->more.count = 0; source_take(s, ",") && source_want(s, "%"); many++) {
            const char *next = source_name(s, source_is_name, "the name of a value");
            VEC_PUSH(&t->more, next);
        }
        source_want(s, "=");
    }
    if (stable_is_next(s)) {
        stable_op(t, name, many, op);
        return;
    }
    bool unquoted = ttir_op_kind(s, &op), bare = unquoted && strcmp(op.kind, "empty") == 0;
    if (unquoted && !bare) {
        struct model_attr callee = {.key = "callee", .form = ATTR_WORD};
        callee.text = ttir_symbol(s, "the name of a function");
        VEC_PUSH(&t->r.attrs, callee);
    }
    source_want(s, "(");
    if (!bare && !source_is(s, ")")) ttir_op_operands(t);
    source_want(s, ")");
    op.operands = reader_list(&t->r, &op.operand_count);
    if (source_take(s, "<")) {
        ttir_attrs(t);
        source_want(s, ">");
    }
    if (source_take(s, "(")) {
        source_balanced(s, OVER_LINES | OVER_COMMAS);
        source_want(s, ")");
    }
    if (source_is(s, "{")) ttir_attrs(t);
    op.attrs = reader_attrs(&t->r);
    source_want(s, ":");
    if (!bare) {
        ttir_type_list(t, &in);
        ttir_op_check_types(s, op.operands, op.operand_count, &in, "operand");
        source_want(s, "->");
    }
    ttir_type_list(t, &out);
    ttir_op_add_results(t, name, many, &out, &op);
    op.location = ttir_location(t);
    if (!s->failed) VEC_PUSH(&t->r.ops, op);
}

/* "return %a, %b : TYPES loc(...)": types of the values, and of the results that the function states. */
static void ttir_op_return(struct ttir *t, struct model_body *body)
{
    struct source *s = &t->r.s;
    OWNED ttir_types types = {0};
    struct source behind = *s;
    if (source_is(s, "%")) {
        ttir_op_operands(t);
        source_want(s, ":");
        do {
            const struct model_type *type = ttir_type(s);
            VEC_PUSH(&types, type);
            behind = *s;
        } while (source_take(s, ","));
    }
    body->results = reader_list(&t->r, &body->result_count);
    ttir_op_check_types(&behind, body->results, s->failed ? 0 : body->result_count, &types, "result");
    if (t->results.count != types.count)
        source_fail(&behind, LX_E_SHAPE, "%zu results are returned, the function states %zu", types.count,
                    t->results.count);
    ttir_op_check_types(&behind, body->results, behind.failed ? 0 : body->result_count, &t->results,
                        "result");
    s->failed |= behind.failed;
    ttir_location(t);
}

void ttir_ops(struct ttir *t, struct model_body *body)
{
    struct source *s = &t->r.s;
    while (!s->failed && !source_take(s, "}")) {
        if (source_take(s, "return") || source_take(s, "func.return"))
            ttir_op_return(t, body);
        else if (source_ended(s))
            source_fail(s, LX_E_SYNTAX, "the function does not end: \"}\" is missing");
        else
            ttir_op(t);
    }
}
