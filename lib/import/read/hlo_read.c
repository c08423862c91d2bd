/* Reading HLO text: the header on one line, then computations, one of which is the entry. */
#include "import/read/hlo.h"
#include "base/fail.h"

#include <string.h>

static bool hlo_header(struct hlo *h)
{
    struct source *s = &h->s;
    if (!source_want(s, "HloModule")) return false;
    source_skip(s, false);
    s->m->name = source_name(s, hlo_is_name, "the name of the module");
    return s->m->name && hlo_attrs(h, &s->m->attrs);
}

/* Tables of files and stack frames stand in newer dumps before the computations; a line of numbers and
 * strings each. */
static bool hlo_table(struct source *s)
{
    static const char *const heads[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames", NULL};
    int i = 0;
    const char *from;
    size_t length;
    while (heads[i] && !source_take(s, heads[i])) i++;
    if (!heads[i]) return false;
    for (source_skip(s, true); source_is_digit(source_peek(s)); source_skip(s, true))
        while (!source_ended(s) && *s->at != '\n') {
            if (!source_balanced(s, false, &from, &length)) return true;
            if (source_peek(s) && *s->at != '\n') s->at++;
        }
    return true;
}

/* "(p: TYPE, ...) -> TYPE": the instructions say the same once more. */
static bool hlo_signature(struct source *s, const struct model_type **result)
{
    *result = NULL;
    if (!source_take(s, "(")) return true;
    if (!source_is(s, ")")) do {
            if (!hlo_name(s, "a parameter") || !source_want(s, ":") || !hlo_type(s)) return false;
        } while (source_take(s, ","));
    return source_want(s, ")") && source_want(s, "->") && (*result = hlo_type(s));
}

static bool hlo_finish(struct hlo *h, struct model_body *body)
{
    struct source *s = &h->s;
    if (h->ops.count == 0) return source_fail(s, LX_E_SYNTAX, "a computation without instructions");
    const struct model_op *root = &h->ops.at[h->root >= 0 ? (size_t)h->root : h->ops.count - 1];
    for (size_t i = 0; i < h->parameters.count; i++)
        if (h->parameters.at[i] < 0)
            return source_fail(s, LX_E_SCHEMA, "parameter %zu of computation %.80s is missing", i,
                               body->name);
    body->op_count = (int)h->ops.count;
    body->ops = arena_copy_array(&s->m->memory, h->ops.at, h->ops.count, sizeof *h->ops.at);
    body->argument_count = (int)h->parameters.count;
    body->arguments = arena_copy_array(&s->m->memory, h->parameters.at, h->parameters.count, sizeof(int32_t));
    body->results = root->results;
    body->result_count = 1;
    VEC_PUSH(&s->m->bodies, *body);
    return true;
}

static bool hlo_computation(struct hlo *h)
{
    struct source *s = &h->s;
    struct model_body body = {.line = s->line, .column = source_column(s)};
    const struct model_type *result;
    bool entry = source_take(s, "ENTRY");
    h->body = (int32_t)s->m->bodies.count;
    h->root = -1;
    h->ops.count = h->parameters.count = 0;
    names_free(&h->values);
    h->values = (struct names){0};
    if (entry && s->m->entry >= 0) return source_fail(s, LX_E_DUPLICATE, "a second ENTRY");
    if (!(body.name = hlo_name(s, "a computation")) || !hlo_signature(s, &result)) return false;
    enum names_result added = names_add(&h->computations, body.name, h->body);
    if (added == NAMES_KNOWN)
        return source_fail(s, LX_E_DUPLICATE, "computation %.80s stands twice", body.name);
    while (source_take(s, ",")) { /* attributes of the computation, such as execution_thread */
        const char *from;
        size_t length;
        if (!source_balanced(s, false, &from, &length)) return false;
    }
    if (!source_want(s, "{")) return false;
    if (entry) s->m->entry = h->body;
    while (!source_take(s, "}")) {
        if (source_ended(s)) return source_fail(s, LX_E_SYNTAX, "computation %.80s does not end", body.name);
        if (!hlo_instruction(h)) return false;
    }
    while (source_take(s, ",")) {
        const char *from;
        size_t length;
        if (!source_balanced(s, false, &from, &length)) return false;
    }
    return hlo_finish(h, &body) &&
           (!result || hlo_same_types(s, model_type_of(s->m, s->m->bodies.at[h->body].results[0]), result,
                                      s->m->bodies.at[h->body].name));
}

static bool hlo_everything(struct hlo *h)
{
    struct source *s = &h->s;
    if (!hlo_header(h)) return false;
    for (source_skip(s, true); !source_ended(s); source_skip(s, true))
        if (!hlo_table(s) && !hlo_computation(h)) return false;
    if (s->failed) return false;
    if (s->m->entry < 0 && s->m->bodies.count == 1) s->m->entry = 0;
    return s->m->entry >= 0 ? true : source_fail(s, LX_E_SYNTAX, "no computation is the ENTRY");
}

bool hlo_read(struct lx_model *m, const char *text, size_t length, const struct lx_model_options *options,
              lx_status *st)
{
    struct hlo h = {0};
    (void)options;
    source_begin(&h.s, m, text, length, st);
    h.s.spans_comments = true;
    m->entry = -1;
    bool ok = hlo_everything(&h) && hlo_bind_bodies(&h);
    names_free(&h.computations);
    names_free(&h.values);
    VEC_FREE(&h.ops);
    VEC_FREE(&h.list);
    VEC_FREE(&h.attrs);
    VEC_FREE(&h.parameters);
    return ok;
}
