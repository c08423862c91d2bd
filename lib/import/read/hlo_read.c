/* Reading HLO text: the header on one line, then computations, one of which is the entry; and types. */
#include "import/read/hlo.h"

#include <string.h>

/* "{1,0:T(8,128)}", right behind the type; true: it is not row-major. Tiling and memory space are passed
 * over. */
static bool hlo_layout(struct source *s, int rank, int32_t *order)
{
    int n = 0;
    bool turned = false;
    if (source_peek(s) != '{') return false;
    for (s->at++; source_is_digit(source_peek(s)); source_skip(s, false)) {
        int64_t dim = source_int(s);
        if (n == rank || dim >= rank) {
            n = -1;
            break;
        }
        turned |= dim != rank - 1 - n;
        order[n++] = (int32_t)dim;
        source_take(s, ",");
    }
    if (n != 0 && n != rank) source_fail(s, LX_E_SHAPE, "a layout of other dimensions than the shape");
    source_balanced(s, OVER_LINES | OVER_COMMAS);
    source_want(s, "}");
    return turned;
}

const struct model_type *hlo_type_behind(struct source *s, const char *word)
{
    int64_t extent[MODEL_MAX_RANK + 1];
    int32_t order[MODEL_MAX_RANK] = {0};
    int rank = 0;
    enum model_element e = model_element_find(MODEL_HLO, word);
    if (e == MODEL_ELEMENT_COUNT)
        source_fail(s, LX_E_UNKNOWN_KIND, "an element type that has no size: \"%.40s\"", word);
    source_want(s, "[");
    if (!source_is(s, "]")) do {
            source_take(s, "<="); /* a bound */
            extent[rank] = source_extent(s, rank);
            rank++;
        } while (source_take(s, ","));
    source_want(s, "]");
    bool turned = hlo_layout(s, rank, order);
    const struct model_type *type = source_type(s, e, rank, extent);
    if (!turned || s->failed) return type;
    struct model_type *with = arena_copy_array(&s->m->memory, type, 1, sizeof *type);
    with->order = arena_copy_array(&s->m->memory, order, (size_t)rank, sizeof *order);
    return with;
}

static bool hlo_is_type_word(char c)
{
    return (c >= 'a' && c <= 'z') || source_is_digit(c);
}

static const struct model_type *hlo_type_within(struct source *s, int depth)
{
    VEC(const struct model_type *) parts = {0};
    if (depth > MODEL_MAX_DEPTH) source_fail(s, LX_E_LIMIT, "tuples nest more than %d deep", depth);
    if (!source_take(s, "(")) return hlo_type_behind(s, source_name(s, hlo_is_type_word, "a type"));
    if (!source_is(s, ")")) do {
            const struct model_type *part = hlo_type_within(s, depth + 1);
            VEC_PUSH(&parts, part);
        } while (source_take(s, ","));
    source_want(s, ")");
    const struct model_type *made =
        s->failed ? NULL : model_tuple_make(s->m, parts.at, (int)parts.count, s->st);
    VEC_FREE(&parts);
    if (made) return made;
    source_fail(s, s->st->code, "%s", s->st->text);
    return source_type(s, MODEL_F32, 0, NULL);
}

const struct model_type *hlo_type(struct source *s)
{
    return hlo_type_within(s, 0);
}

/* Tables of files and stack frames stand in newer dumps before the computations; a line of numbers and
 * strings each. */
static bool hlo_table(struct source *s)
{
    static const char *const heads[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames", NULL};
    int i = 0;
    while (heads[i] && !source_take(s, heads[i])) i++;
    while (heads[i] && source_is_digit(source_next(s)))
        while (source_peek(s) && *s->at != '\n') {
            source_balanced(s, OVER_COMMAS);
            if (source_peek(s) && *s->at != '\n') s->at++;
        }
    return heads[i] != NULL;
}

/* "(p: TYPE, ...) -> TYPE": the instructions say the same once more. NULL: it is not there. */
static const struct model_type *hlo_signature(struct source *s)
{
    if (!source_take(s, "(")) return NULL;
    if (!source_is(s, ")")) do {
            hlo_name(s, "a parameter");
            source_want(s, ":");
            hlo_type(s);
        } while (source_take(s, ","));
    source_want(s, ")");
    source_want(s, "->");
    return hlo_type(s);
}

static void hlo_computation(struct hlo *h)
{
    struct source *s = &h->r.s;
    struct model_body body = {.line = s->line, .column = source_column(s), .result_count = 1};
    bool entry = source_take(s, "ENTRY");
    reader_begin_body(&h->r);
    h->root = -1;
    h->parameters.count = 0;
    if (entry && s->m->entry >= 0) source_fail(s, LX_E_DUPLICATE, "a second ENTRY");
    body.name = hlo_name(s, "a computation");
    const struct model_type *result = hlo_signature(s);
    if (names_add(&h->computations, body.name, h->r.body) == NAMES_KNOWN)
        source_fail(s, LX_E_DUPLICATE, "computation %.80s stands twice", body.name);
    source_want(s, "{");
    if (entry) s->m->entry = h->r.body;
    while (!s->failed && !source_take(s, "}")) {
        if (source_ended(s)) source_fail(s, LX_E_SYNTAX, "computation %.80s does not end", body.name);
        hlo_instruction(h);
    }
    if (source_take(s, ",")) source_balanced(s, OVER_COMMAS); /* execution_thread */
    if (h->r.ops.count == 0) source_fail(s, LX_E_SYNTAX, "a computation without instructions");
    for (size_t i = 0; i < h->parameters.count; i++)
        if (h->parameters.at[i] < 0)
            source_fail(s, LX_E_SCHEMA, "parameter %zu of computation %.80s is missing", i, body.name);
    if (s->failed) return;
    body.argument_count = (int)h->parameters.count;
    body.arguments = arena_copy_array(&s->m->memory, h->parameters.at, h->parameters.count, sizeof(int32_t));
    body.results = h->r.ops.at[h->root >= 0 ? (size_t)h->root : h->r.ops.count - 1].results;
    reader_end_body(&h->r, &body);
    if (result) source_same_types(s, model_type_of(s->m, body.results[0]), result, body.name);
}

bool hlo_read(struct lx_model *m, const char *text, size_t length, const struct lx_model_options *options,
              lx_status *st)
{
    struct hlo h = {0};
    struct source *s = &h.r.s;
    (void)options;
    reader_begin(&h.r, m, text, length, st);
    s->spans_comments = true;
    m->entry = -1;
    source_want(s, "HloModule");
    m->name = source_name(s, hlo_is_name, "the name of the module");
    m->attrs = hlo_attrs(&h);
    for (source_skip(s, true); !source_ended(s); source_skip(s, true))
        if (!hlo_table(s)) hlo_computation(&h);
    if (m->entry < 0 && m->bodies.count == 1) m->entry = 0;
    if (m->entry < 0) source_fail(s, LX_E_SYNTAX, "no computation is the ENTRY");
    bool ok = !s->failed && hlo_bind_bodies(&h);
    names_free(&h.computations);
    VEC_FREE(&h.parameters);
    reader_free(&h.r);
    return ok;
}
