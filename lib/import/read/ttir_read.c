/* Reading TTIR: functions, which of them is meant, and who calls whom; modules are in ttir_modules.c.
 * Grammar and what is odd about it: MLIR's generic form, where braces may carry locations and argument
 * lists stand on one line of tens of thousands of characters. */
#include "import/read/ttir.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ttir_bad_duplicate(struct ttir *t, const char *name)
{
    return source_fail(&t->s, LX_E_DUPLICATE, "%%%.80s is made twice", name);
}

/* "%arg0: TYPE {attributes} loc(...)". */
static bool ttir_argument(struct ttir *t)
{
    struct source *s = &t->s;
    source_skip(s, true);
    struct model_value v = {
        .from = FROM_ARGUMENT, .body = t->body, .op = -1, .line = s->line, .column = source_column(s)};
    if (!source_want(s, "%") || !(v.name = source_name(s, source_is_name, "the name of an argument")) ||
        !source_want(s, ":") || !(v.type = ttir_type(s)) || (source_is(s, "{") && !ttir_attrs(t)))
        return false;
    ttir_attrs_kept(t, &v.attrs);
    if (!ttir_location(t, &v.location)) return false;
    int32_t number = model_add_value(s->m, &v, s->st);
    if (number < 0) return source_fail(s, s->st->code, "%s", s->st->text);
    enum names_result added = names_add(&t->values, v.name, number);
    if (added == NAMES_KNOWN) return ttir_bad_duplicate(t, v.name);
    VEC_PUSH(&t->list, number);
    return true;
}

/* Types alone, of a function that is only declared. */
static bool ttir_nameless(struct ttir *t)
{
    do {
        if (!ttir_type(&t->s) || (source_is(&t->s, "{") && !ttir_attrs(t))) return false;
        t->attrs.count = 0;
    } while (source_take(&t->s, ","));
    return true;
}

static bool ttir_arguments(struct ttir *t, struct model_body *body)
{
    struct source *s = &t->s;
    if (!source_want(s, "(")) return false;
    if (source_is(s, "tensor")) {
        if (!ttir_nameless(t)) return false;
    } else if (!source_is(s, ")")) {
        do {
            if (!ttir_argument(t)) return false;
        } while (source_take(s, ","));
    }
    body->argument_count = (int)t->list.count;
    body->arguments = arena_copy_array(&s->m->memory, t->list.at, t->list.count, sizeof *t->list.at);
    t->list.count = 0;
    return source_want(s, ")");
}

/* "-> (TYPE {attributes}, ...)" or "-> TYPE". */
static bool ttir_result_types(struct ttir *t)
{
    struct source *s = &t->s;
    if (!source_take(s, "->")) return true;
    bool list = source_take(s, "(");
    if (list && source_take(s, ")")) return true;
    do {
        const struct model_type *type = ttir_type(s);
        if (!type || (source_is(s, "{") && list && !ttir_attrs(t))) return false;
        VEC_PUSH(&t->results, type);
        t->attrs.count = 0;
    } while (list && source_take(s, ","));
    return !list || source_want(s, ")");
}

const char *ttir_symbol(struct source *s, const char *what)
{
    if (!source_want(s, "@")) return NULL;
    if (source_peek(s) != '"') return source_name(s, source_is_name, what);
    const char *name = source_string(s);
    if (name && strlen(name) > MODEL_MAX_NAME)
        return source_fail(s, LX_E_LIMIT, "%s of more than %d characters", what, MODEL_MAX_NAME), NULL;
    return name;
}

static void ttir_begin_body(struct ttir *t)
{
    names_free(&t->values);
    t->values = (struct names){0};
    t->body = (int32_t)t->s.m->bodies.count;
    t->list.count = t->attrs.count = t->results.count = 0;
}

bool ttir_function(struct ttir *t)
{
    struct source *s = &t->s;
    struct model_body body = {.line = s->line, .column = source_column(s)};
    const char *location;
    body.declared_public = !source_take(s, "private");
    source_take(s, "public");
    ttir_begin_body(t);
    if (!(body.name = ttir_symbol(s, "the name of a function")) || !ttir_arguments(t, &body) ||
        !ttir_result_types(t))
        return false;
    if (source_take(s, "attributes") && !ttir_attrs(t)) return false;
    t->attrs.count = 0;
    if (!source_take(s, "{")) return ttir_location(t, &location); /* declared only */
    if (!ttir_ops(t, &body) || !ttir_location(t, &location)) return false;
    VEC_PUSH(&s->m->bodies, body);
    return true;
}

static bool ttir_is_called(const struct lx_model *m, int32_t body)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (m->bodies.at[b].ops[i].body_count && m->bodies.at[b].ops[i].bodies[0] == body) return true;
    return false;
}

/* Those there are, as many as there is room for. */
static bool ttir_no_function(const struct ttir *t, const char *wanted)
{
    const struct lx_model *m = t->s.m;
    char names[400] = "";
    size_t n = 0;
    for (size_t b = 0; b < m->bodies.count && n + 80 < sizeof names; b++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s@%.60s", b ? ", " : "", m->bodies.at[b].name);
    return status_set_at(t->s.st, LX_E_UNKNOWN_NAME, m->file, 0, 0,
                         "there is no function @%.100s; the file has %s", wanted, n ? names : "none");
}

/* The function that was asked for, else the only one, else the only public one; of several, the one that
 * no other calls. */
static bool ttir_choose(struct ttir *t, const char *wanted)
{
    struct lx_model *m = t->s.m;
    int found = 0, fits = 0, open = 0;
    for (size_t b = 0; b < m->bodies.count; b++) open += m->bodies.at[b].declared_public;
    for (size_t b = 0; b < m->bodies.count; b++) {
        const struct model_body *body = &m->bodies.at[b];
        if (!wanted && open > 1 && open <= MODEL_MAX_DEPTH && ttir_is_called(m, (int32_t)b)) continue;
        if (wanted ? strcmp(body->name, wanted) != 0 : !body->declared_public && m->bodies.count > 1)
            continue;
        found = (int)b;
        fits++;
    }
    m->entry = found;
    if (fits == 1) return true;
    if (wanted) return ttir_no_function(t, wanted);
    return status_set_at(t->s.st, LX_E_SYNTAX, m->file, 0, 0,
                         fits ? "%d public functions; choose one with --func NAME" : "no function (%d)",
                         fits);
}

/* `callee = @name` of the generic form keeps its sign, and quotes. */
static const char *ttir_callee_of(struct ttir *t, const struct model_op *op)
{
    const struct model_attr *a = strcmp(op->kind, "call") == 0 ? model_attr_find(&op->attrs, "callee") : NULL;
    if (!a || !a->text) return NULL;
    const char *name = a->text + (*a->text == '@');
    size_t n = strlen(name);
    if (n < 2 || name[0] != '"' || name[n - 1] != '"') return name;
    return arena_copy(&t->s.m->memory, name + 1, n - 2);
}

/* Calls, once all functions are known. */
static bool ttir_bind_calls(struct ttir *t)
{
    struct lx_model *m = t->s.m;
    struct names names = {0};
    bool ok = true;
    for (size_t b = 0; ok && b < m->bodies.count; b++) names_add(&names, m->bodies.at[b].name, (int32_t)b);
    for (size_t b = 0; ok && b < m->bodies.count; b++)
        for (int i = 0; ok && i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            const char *callee = ttir_callee_of(t, op);
            int32_t body = callee ? names_find(&names, callee) : -1;
            if (!callee) continue;
            op->bodies = arena_copy_array(&m->memory, &body, 1, sizeof body);
            op->body_count = 1;
            ok = body >= 0;
            if (body < 0)
                status_set_at(t->s.st, LX_E_UNKNOWN_NAME, m->file, op->line, op->column,
                              "there is no function @%.80s", callee);
        }
    names_free(&names);
    return ok;
}

bool ttir_read(struct lx_model *m, const char *text, size_t length, const struct lx_model_options *options,
               lx_status *st)
{
    struct ttir t = {0};
    source_begin(&t.s, m, text, length, st);
    bool ok = ttir_modules(&t) && ttir_bind_calls(&t) && ttir_choose(&t, options->function);
    if (ok) ttir_resolve_locations(&t);
    if (ok) ttir_drop_rooms(m);
    names_free(&t.alias_names);
    names_free(&t.values);
    VEC_FREE(&t.aliases);
    VEC_FREE(&t.ops);
    VEC_FREE(&t.list);
    VEC_FREE(&t.attrs);
    VEC_FREE(&t.results);
    return ok;
}

/* ---- Older files of TTIR give each op an operand more per result: a tensor from "ttir ---- */

static bool is_room(const struct lx_model *m, int32_t operand, int32_t result)
{
    const struct model_value *v = operand >= 0 ? &m->values.at[operand] : NULL;
    if (!v || v->from != FROM_OP) return false;
    const struct model_body *b = &m->bodies.at[v->body];
    const struct model_type *t = model_type_of(m, result);
    return v->op >= 0 && v->op < b->op_count && strcmp(b->ops[v->op].kind, "empty") == 0 &&
           v->type->element == t->element && model_same_shape(v->type, t);
}

/* One for each result, behind all other operands. */
static bool room_has_rooms(const struct lx_model *m, const struct model_op *op)
{
    int first = op->operand_count - op->result_count;
    bool all = op->result_count > 0 && first >= 0 && strcmp(op->kind, "call") != 0;
    for (int r = 0; all && r < op->result_count; r++)
        all = is_room(m, op->operands[first + r], op->results[r]);
    return all;
}

void ttir_drop_rooms(struct lx_model *m)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            if (room_has_rooms(m, op)) op->operand_count -= op->result_count;
        }
}
