/* Modules of MLIR within modules, in the pretty and in the generic form, and what stands in them: functions, aliases, and
 * definitions that say nothing of what is computed (meshes, devices, data of resources), which are passed over. */
#include "import/read/ttir.h"

#include <string.h>

/* "module @name attributes {...} {", what stands behind the word. The attributes of the outermost that has any are kept. */
static bool pretty_module(struct ttir *t)
{
    struct source *s = &t->s;
    if (source_is(s, "@") && !(s->m->name = ttir_symbol(s, "the name of a module"))) return false;
    if (source_take(s, "attributes")) {
        struct model_attrs found;
        if (!ttir_attrs(t) || !ttir_attrs_kept(t, &found)) return false;
        if (s->m->attrs.count == 0) s->m->attrs = found;
    }
    return source_want(s, "{");
}

/* ---- the generic form ---- */

/* "() <{properties}> ({", behind the name of an op with a region; its properties are gathered. */
static bool region(struct ttir *t)
{
    struct source *s = &t->s;
    t->attrs.count = 0;
    if (!source_want(s, "(") || !source_want(s, ")")) return false;
    if (source_take(s, "<") && !(ttir_attrs(t) && source_want(s, ">"))) return false;
    return source_want(s, "(") && source_want(s, "{");
}

/* ") {attributes} : () -> () loc(...)", behind the bracket of the region. */
static bool region_end(struct ttir *t, struct model_attrs *found)
{
    struct source *s = &t->s;
    const char *location;
    t->attrs.count = 0;
    if (!source_want(s, ")") || (source_is(s, "{") && !ttir_attrs(t)) || !ttir_attrs_kept(t, found))
        return false;
    return source_want(s, ":") && source_want(s, "(") && source_want(s, ")") && source_want(s, "->") &&
           source_want(s, "(") && source_want(s, ")") && ttir_location(t, &location);
}

static bool generic_module(struct ttir *t)
{
    struct model_attrs found;
    if (!region(t) || !ttir_attrs_kept(t, &found)) return false;
    t->s.m->name = model_attr_word(&found, "sym_name", t->s.m->name);
    return true;
}

/* Reads `text` of an attribute in place of the file. */
static struct source turn_to(struct ttir *t, const char *text)
{
    struct source back = t->s;
    t->s.at = t->s.line_start = text;
    t->s.end = text + strlen(text);
    return back;
}

static void turn_back(struct ttir *t, struct source back)
{
    back.failed |= t->s.failed;
    t->s = back;
}

/* "(TYPES) -> TYPES": what it states of results. */
static bool stated_results(struct ttir *t, const char *text)
{
    ttir_types in = {0};
    struct source back = turn_to(t, text);
    bool ok = ttir_type_list(&t->s, &in) && source_want(&t->s, "->") && ttir_type_list(&t->s, &t->results);
    VEC_FREE(&in);
    turn_back(t, back);
    return ok;
}

/* "[{...}, {...}]": attributes of arguments, one after the other. */
static bool argument_attrs(struct ttir *t, const struct model_body *body, const char *text)
{
    struct source back = turn_to(t, text);
    bool ok = source_want(&t->s, "[");
    for (int i = 0; ok && i < body->argument_count && source_is(&t->s, "{"); i++) {
        t->attrs.count = 0;
        ok = ttir_attrs(t) && ttir_attrs_kept(t, &t->s.m->values.at[body->arguments[i]].attrs) &&
             (source_take(&t->s, ",") || source_is(&t->s, "]"));
    }
    turn_back(t, back);
    return ok;
}

/* "^bb0(%arg0: TYPE, ...):", if it is there. */
static bool label(struct ttir *t, struct model_body *body)
{
    struct source *s = &t->s;
    body->arguments = arena_array(&s->m->memory, 1, sizeof *body->arguments);
    if (!source_take(s, "^")) return true;
    if (!source_name(s, source_is_name, "the name of a block")) return false;
    return (!source_is(s, "(") || ttir_arguments(t, body)) && source_want(s, ":");
}

/* "\"func.func\"() <{...}> ({ ^bb0(...): ops }) : () -> ()", what stands behind the name. */
static bool generic_function(struct ttir *t)
{
    struct source *s = &t->s;
    struct model_body body = {.line = s->line, .column = source_column(s)};
    struct model_attrs said, more;
    if (!region(t) || !ttir_attrs_kept(t, &said)) return false;
    ttir_begin_body(t);
    body.name = model_attr_word(&said, "sym_name", NULL);
    body.declared_public = strcmp(model_attr_word(&said, "sym_visibility", "public"), "private") != 0;
    const char *type = model_attr_word(&said, "function_type", NULL),
               *attrs = model_attr_word(&said, "arg_attrs", NULL);
    if (!body.name || !type)
        return source_fail(s, LX_E_SCHEMA, "a function needs sym_name and function_type");
    if (!stated_results(t, type)) return false;
    if (source_take(s, "}")) return region_end(t, &more); /* declared only */
    if (!label(t, &body) || (attrs && !argument_attrs(t, &body, attrs)) || !ttir_ops(t, &body) ||
        !region_end(t, &more))
        return false;
    VEC_PUSH(&s->m->bodies, body);
    return true;
}

/* ---- what stands in a module ---- */

/* To the end of its line, outside of brackets. */
static bool pass_over(struct source *s)
{
    const char *from;
    size_t length;
    do {
        if (!source_balanced(s, false, &from, &length)) return false;
    } while (source_peek(s) == ',' && s->at++);
    return true;
}

/* "{-# dialect_resources: {...} #-}" at the end: data that no op has in itself. */
static bool resources(struct source *s)
{
    const char *end = memmem(s->at, (size_t)(s->end - s->at), "#-}", 3);
    if (!end) return source_fail(s, LX_E_SYNTAX, "\"#-}\" is missing at the end");
    for (; s->at < end; s->at++)
        if (*s->at == '\n') {
            s->line++;
            s->line_start = s->at + 1;
        }
    s->at = end + 3;
    return true;
}

/* "dialect.word @name ...": a definition. */
static bool is_definition(const struct source *s)
{
    const char *p = s->at;
    bool dot = false;
    for (; p < s->end && source_is_name(*p); p++) dot |= *p == '.';
    return dot && s->end - p > 2 && p[0] == ' ' && p[1] == '@';
}

enum { NONE, PRETTY, GENERIC };

/* The op in quotes that is next; *opened: it is a module. */
static bool quoted(struct ttir *t, int *opened)
{
    const char *name = source_string(&t->s);
    size_t n = name ? strlen(name) : 0;
    if (!name) return false;
    if (strcmp(name, "func.func") == 0) return generic_function(t);
    if (n < 6 || strcmp(name + n - 6, "module") != 0) return pass_over(&t->s);
    *opened = GENERIC;
    return generic_module(t);
}

static bool member(struct ttir *t, int *opened)
{
    static const char *const modules[] = {"module", "builtin.module", "ttcore.device_module",
                                          "tt.device_module"};
    struct source *s = &t->s;
    for (int i = 0; i < 4; i++)
        if (source_take(s, modules[i])) return *opened = PRETTY, pretty_module(t);
    if (source_take(s, "func.func")) return ttir_function(t);
    if (source_peek(s) == '"') return quoted(t, opened);
    if (source_peek(s) == '#') return ttir_alias(t);
    if (source_is(s, "{-#")) return resources(s);
    return is_definition(s) ? pass_over(s)
                            : source_fail(s, LX_E_SYNTAX, "expected a module, func.func or \"}\"");
}

static bool close(struct ttir *t, int form)
{
    struct model_attrs found;
    const char *location;
    if (form == PRETTY) return ttir_location(t, &location);
    if (!region_end(t, &found)) return false;
    if (t->s.m->attrs.count == 0) t->s.m->attrs = found;
    return true;
}

bool ttir_modules(struct ttir *t)
{
    struct source *s = &t->s;
    int form[MODEL_MAX_DEPTH], depth = 0;
    for (source_skip(s, true); !source_ended(s); source_skip(s, true)) {
        int opened = NONE;
        if (depth > 0 && source_take(s, "}")) {
            if (!close(t, form[--depth])) return false;
            continue;
        }
        if (!member(t, &opened)) return false;
        if (opened != NONE && depth == MODEL_MAX_DEPTH)
            return source_fail(s, LX_E_LIMIT, "modules nest too deep");
        if (opened != NONE) form[depth++] = opened;
    }
    if (depth > 0) return source_fail(s, LX_E_SYNTAX, "\"}\" of a module is missing at the end");
    return !s->failed;
}
