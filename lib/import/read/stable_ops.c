/* Ops of StableHLO, pretty or generic, as ops of HLO: several results are parts of a tuple, regions are
 * bodies.
 *
 * The pretty form of most ops is a list of operands, words and "key = value", then types: operands and
 * results, or one for all. A region may use constants of the function around it: it gets its own. */
#include "import/read/ttir.h"

/* A reader whose body goes on behind the region. */
struct stable_scope {
    const struct reader *around;
    const struct stable_scope *outer;
    int depth;
};

struct stable_arg {
    const char *name;
    const struct model_type *type;
};

/* An op on its way. */
struct stable_form {
    const char *kind; /* as the file has it */
    VEC(int32_t) operands;
    VEC(int32_t) inits;          /* of a pretty reduce */
    VEC(struct stable_arg) args; /* of the regions of a pretty while or reduce */
    VEC(int32_t) bodies;
    ttir_types in, out;
    bool typed; /* a constant's type stands within its value */
};

bool stable_is_next(struct source *s)
{
    static const char *const dialects[] = {"stablehlo.", "chlo.", "mhlo."};
    bool quoted = source_next(s) == '"';
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        size_t n = strlen(dialects[i]);
        if ((size_t)(s->end - s->at) > n + quoted && memcmp(s->at + quoted, dialects[i], n) == 0) return true;
    }
    return false;
}

static bool stable_is(const char *kind, const char *const *kinds)
{
    while (*kinds && strcmp(kind, *kinds) != 0) kinds++;
    return *kinds != NULL;
}

/* ---- ops of HLO ---- */

/* Adds an op with one result; returns that. */
static int32_t stable_add(struct ttir *t, struct model_op op, const char *name, const struct model_type *type,
                          const struct model_data *data)
{
    struct reader *r = &t->r;
    struct model_value v = {
        .name = name, .type = type, .from = FROM_OP, .op = (int32_t)r->ops.count, .data = data};
    v.line = op.line, v.column = op.column;
    v.location = op.location;
    reader_add_value(r, v);
    if (r->s.failed) return 0;
    int32_t value = r->list.at[--r->list.count];
    op.results = arena_copy_array(&r->s.m->memory, &value, 1, sizeof value);
    op.result_count = 1;
    VEC_PUSH(&r->ops, op);
    return value;
}

static const int32_t *stable_kept(struct ttir *t, const int32_t *values, size_t count)
{
    return arena_copy_array(&t->r.s.m->memory, values, count, sizeof *values);
}

static int32_t stable_part(struct ttir *t, const struct model_op *like, int32_t whole, int64_t index,
                           const char *name, const struct model_type *type)
{
    struct model_attr at = {.key = "index", .form = ATTR_INT, .number = index};
    struct model_op op = {.kind = "get-tuple-element", .line = like->line, .column = like->column};
    op.location = like->location;
    op.attrs.at = arena_copy_array(&t->r.s.m->memory, &at, 1, sizeof at);
    op.attrs.count = op.operand_count = 1;
    op.operands = stable_kept(t, &whole, 1);
    return stable_add(t, op, name, type, NULL);
}

static const struct model_type *stable_tuple_type(struct ttir *t, const struct model_type *const *types,
                                                  size_t count)
{
    struct source *s = &t->r.s;
    const struct model_type *made = s->failed ? NULL : model_tuple_make(s->m, types, (int)count, s->st);
    if (!made && !s->failed) source_fail(s, s->st->code, "%s", s->st->text);
    return made;
}

static int32_t stable_tuple(struct ttir *t, const struct model_op *like, const int32_t *values, size_t count)
{
    OWNED ttir_types types = {0};
    struct model_op op = {
        .kind = "tuple", .operand_count = (int)count, .line = like->line, .column = like->column};
    for (size_t i = 0; i < count; i++) VEC_PUSH(&types, model_type_of(t->r.s.m, values[i]));
    op.operands = stable_kept(t, values, count);
    const char *name = arena_format(&t->r.s.m->memory, "tuple.%zu", t->r.s.m->values.count);
    return stable_add(t, op, name, stable_tuple_type(t, types.at, count), NULL);
}

/* ---- values ---- */

/* The value of that name in the body; a constant around the region is added to it. */
static int32_t stable_value(struct ttir *t, const char *name)
{
    struct source *s = &t->r.s;
    int32_t v = s->failed ? 0 : names_find(&t->r.values, name);
    for (const struct stable_scope *at = t->scope; v < 0 && at; at = at->outer) {
        int32_t outer = names_find(&at->around->values, name);
        if (outer < 0) continue;
        struct model_value found = s->m->values.at[outer];
        bool constant = found.from == FROM_OP && strcmp(at->around->ops.at[found.op].kind, "constant") == 0;
        if (!constant)
            return source_fail(s, LX_E_UNSUPPORTED,
                               "%.80s is of the function around the region; expected an operand of the op, "
                               "which its regions get as arguments",
                               name);
        v = stable_add(t, at->around->ops.at[found.op], name, found.type, found.data);
    }
    if (v < 0) source_fail(s, LX_E_UNKNOWN_NAME, "%.80s has not been made above", name);
    return v < 0 ? 0 : v;
}

static bool stable_is_value_name(char c)
{
    return source_is_name(c) || c == '#';
}

/* "%a", "%a init: %b" of a reduce, "%argument = %a" of a while. */
static void stable_operand(struct ttir *t, struct stable_form *f)
{
    struct source *s = &t->r.s;
    source_want(s, "%");
    const char *name = source_name(s, stable_is_value_name, "the name of a value");
    if (source_take(s, "=")) {
        VEC_PUSH(&f->args, ((struct stable_arg){name, NULL}));
        source_want(s, "%");
        name = source_name(s, stable_is_value_name, "the name of a value");
    }
    VEC_PUSH(&f->operands, stable_value(t, name));
    if (!source_take(s, "init")) return;
    source_want(s, ":");
    source_want(s, "%");
    VEC_PUSH(&f->inits, stable_value(t, source_name(s, stable_is_value_name, "the name of a value")));
}

/* ---- regions ---- */

/* "(%a: TYPE, %b: TYPE)", appended. */
static void stable_arguments(struct ttir *t, struct stable_form *f)
{
    struct source *s = &t->r.s;
    source_want(s, "(");
    if (!source_is(s, ")")) do {
            struct stable_arg a;
            source_want(s, "%");
            a.name = source_name(s, stable_is_value_name, "the name of an argument");
            source_want(s, ":");
            a.type = ttir_type(s);
            (void)ttir_location(t);
            VEC_PUSH(&f->args, a);
        } while (source_take(s, ","));
    source_want(s, ")");
}

/* Adds the arguments of a region: those of a loop are parts of one tuple. */
static void stable_bind_arguments(struct ttir *t, const struct stable_form *f, bool loop,
                                  struct model_body *body)
{
    struct reader *r = &t->r;
    struct model_op parameter = {.kind = "parameter", .line = body->line, .column = body->column};
    OWNED ttir_types types = {0};
    for (size_t i = 0; i < f->args.count; i++) VEC_PUSH(&types, f->args.at[i].type);
    if (loop) {
        int32_t all =
            stable_add(t, parameter, "arguments", stable_tuple_type(t, types.at, types.count), NULL);
        if (!r->s.failed) r->s.m->values.at[all].from = FROM_ARGUMENT;
        for (size_t i = 0; i < f->args.count; i++)
            stable_part(t, &parameter, all, (int64_t)i, f->args.at[i].name, f->args.at[i].type);
        VEC_PUSH(&r->list, all);
    }
    for (size_t i = 0; !loop && i < f->args.count; i++)
        reader_add_value(r, (struct model_value){.name = f->args.at[i].name,
                                                 .type = f->args.at[i].type,
                                                 .from = FROM_ARGUMENT,
                                                 .op = -1,
                                                 .line = body->line,
                                                 .column = body->column});
    body->arguments = reader_list(r, &body->argument_count);
}

/* "stablehlo.return %a, %b : TYPES", also in quotes. False: another op is next. */
static bool stable_return(struct ttir *t, struct stable_form *f)
{
    struct source *s = &t->r.s;
    OWNED ttir_types types = {0};
    bool generic = source_take(s, "\"stablehlo.return\"") || source_take(s, "\"mhlo.return\"");
    if (!generic && !source_take(s, "stablehlo.return") && !source_take(s, "mhlo.return")) return false;
    f->operands.count = 0;
    if (generic) source_want(s, "(");
    if (source_is(s, "%")) do
            stable_operand(t, f);
        while (source_take(s, ","));
    if (generic) source_want(s, ")");
    if (source_take(s, ":")) do
            ttir_type_list(t, &types);
        while (source_take(s, ","));
    if (source_take(s, "->")) ttir_type_list(t, &types);
    (void)ttir_location(t);
    return true;
}

static void stable_free(struct stable_form *f)
{
    VEC_FREE(&f->operands);
    VEC_FREE(&f->inits);
    VEC_FREE(&f->args);
    VEC_FREE(&f->bodies);
    VEC_FREE(&f->in);
    VEC_FREE(&f->out);
}

/* Reads a region behind its "{". A loop's body returns a tuple, as it gets one. */
static void stable_region(struct ttir *t, struct stable_form *f)
{
    struct reader around = t->r;
    struct stable_scope scope = {&around, t->scope, t->scope ? t->scope->depth + 1 : 1};
    SCOPED(stable_free) struct stable_form returned = {0};
    struct source *s = &t->r.s;
    bool loop = strcmp(f->kind, "while") == 0, test = loop && f->bodies.count == 0;
    struct model_body body = {.name = "", .result_count = 1, .line = s->line, .column = source_column(s)};
    struct model_op root = {.line = body.line, .column = body.column};
    t->r = (struct reader){.s = around.s};
    t->scope = &scope;
    if (scope.depth > MODEL_MAX_DEPTH) source_fail(s, LX_E_LIMIT, "regions nest too deep");
    reader_begin_body(&t->r);
    VEC_PUSH(&f->bodies, t->r.body);
    if (source_take(s, "^")) { /* "^bb0(%a: TYPE):" */
        source_name(s, source_is_name, "the name of a block");
        f->args.count = 0;
        stable_arguments(t, f);
        source_want(s, ":");
    }
    stable_bind_arguments(t, f, loop, &body);
    while (!s->failed && !stable_return(t, &returned)) {
        if (source_ended(s)) source_fail(s, LX_E_SYNTAX, "the region does not end: a return is missing");
        if (!s->failed) ttir_op(t);
    }
    source_want(s, "}");
    int32_t result = returned.operands.count > 0 ? returned.operands.at[0] : 0;
    if (!s->failed && (returned.operands.count != 1 || (loop && !test)))
        result = stable_tuple(t, &root, returned.operands.at, returned.operands.count);
    body.results = stable_kept(t, &result, 1);
    if (!s->failed) reader_end_body(&t->r, &body);
    around.s = *s;
    reader_free(&t->r);
    t->r = around;
    t->scope = scope.outer;
}

/* The kind of HLO for one of StableHLO. */
static const char *stable_kind(struct ttir *t, const char *kind)
{
    static const char *const words[][2] = {{"dot_general", "dot"},   {"broadcast_in_dim", "broadcast"},
                                           {"composite", "call"},    {"optimization_barrier", "opt-barrier"},
                                           {"top_k", "custom-call"}, {"tan", "tangent"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], kind) == 0) return words[i][1];
    char *made = arena_copy(&t->r.s.m->memory, kind, strlen(kind));
    for (char *c = made; *c; c++)
        if (*c == '_') *c = '-';
    return made;
}

/* The region of a reduce that applies one op to two numbers. */
static void stable_apply(struct ttir *t, struct stable_form *f)
{
    struct source *s = &t->r.s, behind;
    const char *op = source_name(s, source_is_name, "an op");
    const struct model_type *type = f->inits.count == 1 ? model_type_of(s->m, f->inits.at[0]) : NULL;
    if (!type) source_fail(s, LX_E_SYNTAX, "expected one operand of a reduce that applies an op");
    if (s->failed) return;
    const char *word = model_element_word(MODEL_TTIR, type->element);
    behind = *s;
    s->at = s->line_start =
        arena_format(&s->m->memory,
                     "^a(%%a: tensor<%s>, %%b: tensor<%s>): %%c = %s %%a, %%b : tensor<%s> "
                     "stablehlo.return %%c : tensor<%s> }",
                     word, word, op, word, word);
    s->end = s->at + strlen(s->at);
    stable_region(t, f);
    behind.failed = t->r.s.failed;
    t->r.s = behind;
}

/* ---- forms ---- */

/* "A, B" or "(A, B)". The attributes that were read stay. */
static void stable_type_list(struct ttir *t, ttir_types *types)
{
    struct model_attrs kept = reader_attrs(&t->r);
    do ttir_type_list(t, types);
    while (source_take(&t->r.s, ","));
    for (int i = 0; i < kept.count; i++) VEC_PUSH(&t->r.attrs, kept.at[i]);
}

/* Types of operands and, behind an arrow, of results; without, the last one is the result's, or all are. */
static void stable_types(struct ttir *t, struct stable_form *f)
{
    static const char *const all[] = {"while", "optimization_barrier", NULL};
    source_want(&t->r.s, ":");
    stable_type_list(t, &f->in);
    if (source_take(&t->r.s, "->")) {
        stable_type_list(t, &f->out);
        return;
    }
    for (size_t i = 0; i < f->in.count; i++)
        if (i + 1 == f->in.count || stable_is(f->kind, all)) VEC_PUSH(&f->out, f->in.at[i]);
}

static void stable_push_text(struct ttir *t, const char *key, const char *text)
{
    ttir_push_attr(t, (struct model_attr){.key = key, .form = ATTR_TEXT, .text = text});
}

/* A number, a word, or lists "[0, 1]" and "[b, f]x[i, o]->[b, f]": a type may follow it. */
static struct model_attr stable_pretty_value(struct source *s, const char *key)
{
    struct model_attr a = {.key = key, .form = ATTR_TEXT};
    char c = source_next(s);
    const char *from = s->at;
    if (source_is_digit(c) || c == '-') {
        a.form = ATTR_INT;
        a.number = source_int(s);
        return a;
    }
    if (!strchr("[<({", c)) {
        a.text = source_name(s, source_is_name, "a value");
        return a;
    }
    do {
        s->at++;
        source_balanced(s, OVER_LINES | OVER_COMMAS);
        source_want(s, c == '[' ? "]" : c == '<' ? ">" : c == '(' ? ")" : "}");
        if (source_peek(s) == 'x')
            s->at++;
        else if (source_peek(s) == '-')
            s->at += s->end - s->at > 2 ? 2 : 0;
    } while (source_peek(s) == '[');
    a.text = arena_copy(&s->m->memory, from, s->failed ? 0 : (size_t)(s->at - from));
    return a;
}

/* "dense<...> : TYPE", behind the operands. */
static void stable_constant(struct ttir *t, struct stable_form *f)
{
    struct model_attr a = {.key = "value"};
    ttir_attr_value(&t->r.s, &a);
    if (a.form != ATTR_DATA) source_fail(&t->r.s, LX_E_SYNTAX, "expected dense<...> : TYPE");
    if (!t->r.s.failed) VEC_PUSH(&f->out, a.data->type);
    f->typed = true;
    ttir_push_attr(t, a);
}

/* "key = value", "key = [0] x [1]" of both sides, or a word alone. */
static void stable_word(struct ttir *t, struct stable_form *f)
{
    struct source *s = &t->r.s;
    if (source_is(s, "dense")) {
        stable_constant(t, f);
        return;
    }
    const char *word = source_name(s, source_is_name, "an operand, an attribute or the types");
    if (strcmp(word, "applies") == 0) {
        stable_apply(t, f);
    } else if (source_take(s, "=")) {
        if (source_is(s, "{")) {
            ttir_attrs(t);
            return;
        }
        struct model_attr a = stable_pretty_value(s, word);
        if (source_take(s, "x")) {
            ttir_push_attr(t, stable_pretty_value(s, arena_format(&s->m->memory, "rhs_%s", word)));
            a.key = arena_format(&s->m->memory, "lhs_%s", word);
        }
        ttir_push_attr(t, a);
    } else if (strcmp(f->kind, "compare") == 0) {
        stable_push_text(t, strlen(word) == 2 ? "comparison_direction" : "compare_type", word);
    } else if (strcmp(word, "across") != 0) {
        source_fail(s, LX_E_SYNTAX,
                    "expected an operand, an attribute or the types before this; write the file with "
                    "--mlir-print-op-generic");
    }
}

/* "[0:2, 0:8:2]", the bounds and steps of a slice. */
static void stable_slice(struct ttir *t)
{
    static const char *const keys[] = {"begins", "ends", "step"};
    struct source *s = &t->r.s;
    int64_t list[3][MODEL_MAX_RANK];
    int count = 0;
    s->at++;
    if (!source_is(s, "]")) do {
            if (count == MODEL_MAX_RANK) source_fail(s, LX_E_LIMIT, "more than %d dimensions", count);
            if (s->failed) return;
            list[0][count] = source_int(s);
            source_want(s, ":");
            list[1][count] = source_int(s);
            list[2][count++] = source_take(s, ":") ? source_int(s) : 1;
        } while (source_take(s, ","));
    source_want(s, "]");
    for (int k = 0; k < 3; k++) {
        struct model_attr a = {.key = keys[k], .form = ATTR_INTS, .count = count};
        a.ints = arena_copy_array(&s->m->memory, list[k], (size_t)count, sizeof *list[k]);
        ttir_push_attr(t, a);
    }
}

static void stable_pretty(struct ttir *t, struct stable_form *f)
{
    struct source *s = &t->r.s;
    for (char c = source_next(s); !s->failed && !f->typed && c != ':'; c = source_next(s)) {
        if (c == '%')
            stable_operand(t, f);
        else if (c == '(' || c == ')' || c == ',')
            s->at++;
        else if (c == '{')
            ttir_attrs(t);
        else if (c == '[')
            stable_slice(t);
        else if (c == '@')
            stable_push_text(t, "call_target_name", ttir_symbol(s, "the name of a call"));
        else if (c == '"')
            source_string(s); /* the name of a composite */
        else
            stable_word(t, f);
    }
    if (!f->typed) stable_types(t, f);
    for (size_t i = 0; i < f->args.count && i < f->in.count; i++) f->args.at[i].type = f->in.at[i];
    if (strcmp(f->kind, "while") == 0) {
        if (source_take(s, "attributes")) ttir_attrs(t);
        for (int i = 0; i < 2; i++) {
            source_want(s, i ? "do" : "cond");
            source_want(s, "{");
            stable_region(t, f);
        }
    } else if (source_take(s, "reducer")) { /* of several operands: no kind has such reducers */
        while (source_is(s, "(") || source_is(s, "{")) stable_pretty_value(s, "");
    }
}

/* "(operands) <{attributes}> ({regions}) {attributes} : TYPES -> TYPES". Regions of other ops are skipped: such
 * an op is generic. */
static void stable_generic(struct ttir *t, struct stable_form *f)
{
    static const char *const entered[] = {"reduce",  "reduce_window", "while",          "sort",
                                          "scatter", "all_reduce",    "reduce_scatter", "select_and_scatter",
                                          NULL};
    struct source *s = &t->r.s;
    source_want(s, "(");
    if (!source_is(s, ")")) do
            stable_operand(t, f);
        while (source_take(s, ","));
    source_want(s, ")");
    if (source_take(s, "<")) {
        ttir_attrs(t);
        source_want(s, ">");
    }
    if (source_take(s, "(")) {
        if (!stable_is(f->kind, entered)) {
            source_balanced(s, OVER_LINES | OVER_COMMAS);
        } else {
            do {
                source_want(s, "{");
                stable_region(t, f);
            } while (source_take(s, ","));
        }
        source_want(s, ")");
    }
    if (source_is(s, "{")) ttir_attrs(t);
    stable_types(t, f);
}

/* ---- the op ---- */

/* Adds the op; several results are parts of its tuple. Loops and barriers take a tuple, too. */
static void stable_finish(struct ttir *t, struct stable_form *f, struct model_op op, const char *name)
{
    struct source *s = &t->r.s;
    size_t count = f->out.count;
    bool loop = strcmp(f->kind, "while") == 0, many = count > 1 || loop;
    const struct model_attr *value = model_attr_find(&op.attrs, "value");
    int32_t all = 0;
    op.bodies = stable_kept(t, f->bodies.at, f->bodies.count);
    op.body_count = (int)f->bodies.count;
    if (loop || (many && strcmp(op.kind, "opt-barrier") == 0)) {
        all = stable_tuple(t, &op, f->operands.at, f->operands.count);
        op.operands = stable_kept(t, &all, 1);
        op.operand_count = 1;
    }
    const struct model_type *type = many ? stable_tuple_type(t, f->out.at, count) : f->out.at[0];
    const char *whole =
        many && (count == 1 || t->more.count > 0) ? arena_format(&s->m->memory, "%s.all", name) : name;
    if (!s->failed)
        all = stable_add(t, op, whole, type, value && value->form == ATTR_DATA ? value->data : NULL);
    for (size_t i = 0; many && i < count && !s->failed; i++)
        stable_part(t, &op, all, (int64_t)i, count > 1 ? ttir_result_name(t, name, (int64_t)i) : name,
                    f->out.at[i]);
}

void stable_op(struct ttir *t, const char *name, int64_t many, struct model_op op)
{
    struct source *s = &t->r.s;
    SCOPED(stable_free) struct stable_form f = {0};
    bool quoted = source_next(s) == '"';
    const char *word = quoted ? source_string(s) : source_name(s, source_is_name, "an op");
    f.kind = strchr(word, '.') ? strchr(word, '.') + 1 : word;
    t->stable = true;
    t->r.attrs.count = 0;
    if (quoted)
        stable_generic(t, &f);
    else
        stable_pretty(t, &f);
    for (size_t i = 0; i < f.inits.count; i++) VEC_PUSH(&f.operands, f.inits.at[i]);
    op.kind = stable_kind(t, f.kind);
    op.operands = stable_kept(t, f.operands.at, f.operands.count);
    op.operand_count = (int)f.operands.count;
    op.location = ttir_location(t);
    if (!s->failed) op.attrs = stable_attrs(t, f.kind, &op);
    if (*name && (int64_t)f.out.count != many)
        source_fail(s, LX_E_SYNTAX, "%zu types for %lld results", f.out.count, (long long)many);
    if (!s->failed && f.out.count > 0) stable_finish(t, &f, op, *name ? name : "unnamed");
}
