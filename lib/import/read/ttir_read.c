/* Reading TTIR and StableHLO: modules of MLIR within modules, functions in them, locations and their
 * aliases. */
#include "import/read/ttir.h"

/* ---- locations ---- */

enum { MOST_STEPS = 16 }; /* of chained aliases */

static bool ttir_is_alias_name(char c)
{
    return source_is_name(c) || c == '#';
}

/* The first string or alias within the brackets counts: "name"(#loc3), fused[#loc1, #loc2], callsite("f" at
 * "g"). "file":3:4 is no name. */
const char *ttir_location(struct ttir *t)
{
    struct source *s = &t->r.s;
    if (!source_take(s, "loc")) return NULL;
    source_want(s, "(");
    struct span within = source_balanced(s, OVER_LINES);
    source_want(s, ")");
    struct source inner = *s;
    inner.at = within.at;
    inner.end = within.at + within.length;
    while (source_peek(&inner) && *inner.at != '"' && *inner.at != '#') inner.at++;
    if (!source_peek(&inner)) return NULL;
    bool alias = *inner.at == '#';
    const char *text = alias ? source_name(&inner, ttir_is_alias_name, "an alias") : source_string(&inner);
    s->failed = inner.failed;
    return !*text || (!alias && source_peek(&inner) == ':') ? NULL : text;
}

/* The text at the end of a chain of aliases. */
static const char *ttir_resolved(const struct ttir *t, const char *text)
{
    for (int i = 0; text && *text == '#' && i < MOST_STEPS; i++) {
        int32_t alias = names_find(&t->aliases, text);
        text = alias < 0 ? NULL : t->stands.at[alias];
    }
    return text && *text == '#' ? NULL : text;
}

/* ---- functions ---- */

const char *ttir_symbol(struct source *s, const char *what)
{
    source_want(s, "@");
    if (source_peek(s) != '"') return source_name(s, source_is_name, what);
    const char *name = source_string(s);
    if (strlen(name) > MODEL_MAX_NAME)
        source_fail(s, LX_E_LIMIT, "%s of more than %d characters", what, MODEL_MAX_NAME);
    return name;
}

/* "(%arg0: TYPE {attributes} loc(...), ...)"; a declared function has only types. */
static void ttir_arguments(struct ttir *t, struct model_body *body)
{
    struct source *s = &t->r.s;
    bool nameless = source_want(s, "(") && source_is(s, "tensor");
    if (!source_is(s, ")")) do {
            struct model_value v = {.from = FROM_ARGUMENT, .op = -1, .name = ""};
            source_skip(s, true);
            v.line = s->line;
            v.column = source_column(s);
            if (!nameless) {
                source_want(s, "%");
                v.name = source_name(s, source_is_name, "the name of an argument");
                source_want(s, ":");
            }
            v.type = ttir_type(s);
            if (source_is(s, "{")) ttir_attrs(t);
            v.attrs = reader_attrs(&t->r);
            v.location = ttir_location(t);
            if (!nameless) reader_add_value(&t->r, v);
        } while (source_take(s, ","));
    body->arguments = reader_list(&t->r, &body->argument_count);
    source_want(s, ")");
}

/* "@name(...) -> TYPES attributes {...} {...}", after func.func. */
static void ttir_function(struct ttir *t)
{
    struct source *s = &t->r.s;
    struct model_body body = {.line = s->line, .column = source_column(s)};
    body.declared_public = !source_take(s, "private");
    source_take(s, "public");
    reader_begin_body(&t->r);
    t->results.count = 0;
    body.name = ttir_symbol(s, "the name of a function");
    ttir_arguments(t, &body);
    if (source_take(s, "->")) ttir_type_list(t, &t->results);
    if (source_take(s, "attributes")) ttir_attrs(t);
    t->r.attrs.count = 0;
    bool declared_only = !source_take(s, "{");
    if (!declared_only) ttir_ops(t, &body);
    ttir_location(t);
    if (declared_only)
        s->m->bodies.count--;
    else
        reader_end_body(&t->r, &body);
}

/* The function asked for, else the only one, else the only public one; of several, the one that no other
 * calls. */
static bool ttir_choose(struct lx_model *m, const char *wanted, lx_status *st)
{
    char names[400] = "none";
    int fits = 0, open = 0;
    size_t n = 0;
    for (size_t b = 0; b < m->bodies.count; b++) open += m->bodies.at[b].declared_public;
    for (size_t b = 0; b < m->bodies.count; b++) {
        const struct model_body *body = &m->bodies.at[b];
        if (n + 80 < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s@%.60s", b ? ", " : "", body->name);
        if (!wanted && open > 1 && body->called) continue;
        if (wanted ? strcmp(body->name, wanted) != 0 : !body->declared_public && m->bodies.count > 1)
            continue;
        m->entry = (int32_t)b;
        fits++;
    }
    if (fits == 1) return true;
    if (wanted)
        return status_set_at(st, LX_E_UNKNOWN_NAME, m->file, 0, 0,
                             "there is no function @%.100s; the file has %s", wanted, names);
    return status_set_at(st, LX_E_SYNTAX, m->file, 0, 0,
                         fits ? "%d public functions; choose one with --func NAME" : "no function (%d)",
                         fits);
}

/* Binds calls once all functions are known. `callee = @name` of the generic form keeps its sign and
 * quotes. */
static bool ttir_bind_calls(struct lx_model *m, lx_status *st)
{
    SCOPED(names_free) struct names names = {0};
    bool ok = true;
    for (size_t b = 0; b < m->bodies.count; b++) names_add(&names, m->bodies.at[b].name, (int32_t)b);
    for (size_t b = 0; ok && b < m->bodies.count; b++)
        for (int i = 0; ok && i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            bool call = strcmp(op->kind, "call") == 0;
            const char *callee = call ? model_attr_word(&op->attrs, "callee", NULL) : NULL;
            if (!callee) continue;
            callee += *callee == '@';
            if (*callee == '"') callee = arena_copy(&m->memory, callee + 1, strcspn(callee + 1, "\""));
            int32_t body = names_find(&names, callee);
            op->bodies = arena_copy_array(&m->memory, &body, 1, sizeof body);
            op->body_count = 1;
            if (body >= 0) m->bodies.at[body].called = true;
            ok = body >= 0 || status_set_at(st, LX_E_UNKNOWN_NAME, m->file, op->line, op->column,
                                            "there is no function @%.80s", callee);
        }
    return ok;
}

/* ---- modules ---- */

static void ttir_file(struct ttir *t)
{
    static const char *const words[] = {"module", "builtin.module", "ttcore.device_module",
                                        "tt.device_module"};
    struct source *s = &t->r.s;
    int depth = 0;
    for (source_skip(s, true); !source_ended(s); source_skip(s, true)) {
        bool module = false;
        for (int i = 0; !module && i < 4; i++) module = source_take(s, words[i]);
        if (module) { /* "@name attributes {...} {"; the outermost with attributes counts */
            if (++depth > MODEL_MAX_DEPTH) source_fail(s, LX_E_LIMIT, "modules nest too deep");
            if (source_is(s, "@")) s->m->name = ttir_symbol(s, "the name of a module");
            if (source_take(s, "attributes")) ttir_attrs(t);
            struct model_attrs found = reader_attrs(&t->r);
            if (s->m->attrs.count == 0) s->m->attrs = found;
            source_want(s, "{");
        } else if (depth > 0 && source_take(s, "}")) {
            depth--;
            ttir_location(t);
        } else if (source_take(s, "func.func")) {
            ttir_function(t);
        } else if (source_peek(s) == '#') { /* "#name = loc(...)"; other aliases end with their line */
            const char *name = source_name(s, ttir_is_alias_name, "an alias");
            source_want(s, "=");
            const char *text = ttir_location(t);
            if (!text && source_peek(s) != '\n') source_balanced(s, OVER_COMMAS);
            names_add(&t->aliases, name, (int32_t)t->stands.count);
            VEC_PUSH(&t->stands, text);
        } else { /* "dialect.word @name ...": a mesh or a device, skipped to the end of the line */
            const char *word = source_name(s, source_is_name, "a module, func.func or \"}\"");
            if (!strchr(word, '.') || !source_is(s, "@"))
                source_fail(s, LX_E_SYNTAX, "expected a module, func.func or \"}\"");
            source_balanced(s, OVER_COMMAS);
        }
    }
    if (depth > 0) source_fail(s, LX_E_SYNTAX, "\"}\" of a module is missing at the end");
}

/* ---- the whole ---- */

/* Older files add one operand per result after the others: a tensor of the result's type from "empty", as
 * room for the result. */
static bool ttir_has_rooms(const struct lx_model *m, const struct model_op *op)
{
    int first = op->operand_count - op->result_count;
    bool all = op->result_count > 0 && first >= 0 && strcmp(op->kind, "call") != 0;
    for (int r = 0; all && r < op->result_count; r++) {
        const struct model_value *v = &m->values.at[op->operands[first + r]];
        const struct model_type *t = model_type_of(m, op->results[r]);
        const struct model_body *b = &m->bodies.at[v->body];
        all = v->from == FROM_OP && strcmp(b->ops[v->op].kind, "empty") == 0 &&
              v->type->element == t->element && model_same_shape(v->type, t);
    }
    return all;
}

bool ttir_read(struct lx_model *m, const char *text, size_t length, const struct lx_model_options *options,
               lx_status *st)
{
    struct ttir t = {0};
    reader_begin(&t.r, m, text, length, st);
    ttir_file(&t);
    bool ok = !t.r.s.failed && ttir_bind_calls(m, st) && ttir_choose(m, options->function, st);
    for (size_t b = 0; ok && b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            op->location = ttir_resolved(&t, op->location);
            if (ttir_has_rooms(m, op)) op->operand_count -= op->result_count;
        }
    for (size_t v = 0; ok && v < m->values.count; v++)
        m->values.at[v].location = ttir_resolved(&t, m->values.at[v].location);
    if (ok && t.stable) stable_end(m);
    names_free(&t.aliases);
    VEC_FREE(&t.stands);
    VEC_FREE(&t.more);
    VEC_FREE(&t.results);
    reader_free(&t.r);
    return ok;
}
