/* Reading HLO text: types; the header on one line, then computations, among them the entry. */
#include "import/read/hlo.h"

/* "{1,0:T(8,128)}", after the type; true: not row-major. Skips tiling and memory space. */
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

const struct model_type *hlo_type(struct source *s, int depth)
{
    OWNED VEC(const struct model_type *) parts = {0};
    if (depth > MODEL_MAX_DEPTH) source_fail(s, LX_E_LIMIT, "tuples nest more than %d deep", depth);
    if (!source_take(s, "(")) return hlo_type_behind(s, source_name(s, hlo_is_type_word, "a type"));
    if (!source_is(s, ")")) do {
            const struct model_type *part = hlo_type(s, depth + 1);
            VEC_PUSH(&parts, part);
        } while (source_take(s, ","));
    source_want(s, ")");
    const struct model_type *made =
        s->failed ? NULL : model_tuple_make(s->m, parts.at, (int)parts.count, s->st);
    if (made) return made;
    source_fail(s, s->st->code, "%s", s->st->text);
    return source_type(s, MODEL_F32, 0, NULL);
}

/* Newer dumps have tables of files and stack frames before the computations; a line of numbers and strings
 * each. */
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

/* "(p: TYPE, ...) -> TYPE", which the instructions repeat. NULL: missing. */
static const struct model_type *hlo_signature(struct source *s)
{
    if (!source_take(s, "(")) return NULL;
    if (!source_is(s, ")")) do {
            hlo_name(s, "a parameter");
            source_want(s, ":");
            hlo_type(s, 0);
        } while (source_take(s, ","));
    source_want(s, ")");
    source_want(s, "->");
    return hlo_type(s, 0);
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

/* ---- calls: computations entered by control or applied to elements; trips of loops ---- */

/* Attributes that name computations, in an op's order. */
static const char *const naming[] = {"condition",
                                     "body",
                                     "to_apply",
                                     "calls",
                                     "branch_computations",
                                     "true_computation",
                                     "false_computation",
                                     "called_computations",
                                     "select",
                                     "scatter",
                                     NULL};

bool hlo_is_control(const struct model_op *op)
{
    static const char *const kinds[] = {"call",        "while",      "conditional",  "fusion",
                                        "async-start", "call-start", "fusion-start", NULL};
    for (int i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], op->kind) == 0) return true;
    return false;
}

/* Binds computations: "%a" or "{%a, %b}" in these attributes. */
static bool hlo_bind_op(struct hlo *h, struct model_op *op)
{
    struct source *s = &h->r.s;
    for (int i = 0; naming[i]; i++) {
        const char *text = model_attr_word(&op->attrs, naming[i], "");
        for (size_t n = 0; *text; text += n) {
            while (*text && !hlo_is_name(*text)) text++;
            for (n = 0; text[n] && hlo_is_name(text[n]);) n++;
            if (n == 0) break;
            const char *name = arena_copy(&s->m->memory, text, n);
            int32_t body = names_find(&h->computations, name);
            if (body < 0)
                return status_set_at(s->st, LX_E_UNKNOWN_NAME, s->m->file, op->line, op->column,
                                     "there is no computation %.80s", name);
            VEC_PUSH(&h->r.list, body);
        }
    }
    op->bodies = reader_list(&h->r, &op->body_count);
    return true;
}

/* Depth first, each computation once; `state`: 0 not seen, 1 on the way, 2 done. */
static bool hlo_refuse_cycles(struct hlo *h, int32_t body, char *state, int depth)
{
    const struct model_body *b = &h->r.s.m->bodies.at[body];
    if (state[body] == 2) return true;
    if (state[body] == 1 || depth > MODEL_MAX_DEPTH)
        return status_set_at(
            h->r.s.st, state[body] == 1 ? LX_E_CYCLE : LX_E_LIMIT, h->r.s.m->file, b->line, b->column,
            state[body] == 1 ? "computation %.80s calls itself" : "calls nest too deep at %.80s", b->name);
    state[body] = 1;
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].body_count; k++)
            if (!hlo_refuse_cycles(h, b->ops[i].bodies[k], state, depth + 1)) return false;
    state[body] = 2;
    return true;
}

static bool hlo_bind_bodies(struct hlo *h)
{
    struct lx_model *m = h->r.s.m;
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (!hlo_bind_op(h, &m->bodies.at[b].ops[i])) return false;
    OWNED char *state = mem_zeroed(m->bodies.count + 1, 1);
    bool ok = true;
    for (size_t b = 0; ok && b < m->bodies.count; b++) ok = hlo_refuse_cycles(h, (int32_t)b, state, 0);
    return ok;
}

static void hlo_mark_control(const struct lx_model *m, int32_t body, enum hlo_use *use)
{
    const struct model_body *b = &m->bodies.at[body];
    if (use[body] == HLO_CONTROL) return;
    use[body] = HLO_CONTROL;
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].body_count; k++)
            if (hlo_is_control(&b->ops[i])) hlo_mark_control(m, b->ops[i].bodies[k], use);
}

void hlo_uses(const struct lx_model *m, enum hlo_use *use)
{
    memset(use, 0, m->bodies.count * sizeof *use);
    hlo_mark_control(m, m->entry, use);
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            for (int k = 0; k < op->body_count; k++)
                if (!hlo_is_control(op) && use[op->bodies[k]] == HLO_UNUSED) use[op->bodies[k]] = HLO_APPLIED;
        }
}

/* ---- loops ---- */

/* The op that makes a value of the body, if of that kind with `operands` operands (-1: any); else NULL. */
static const struct model_op *hlo_made_by(const struct lx_model *m, const struct model_body *b, int32_t value,
                                          const char *kind, int operands)
{
    const struct model_value *v = &m->values.at[value];
    const struct model_op *op = v->op >= 0 && v->op < b->op_count ? &b->ops[v->op] : NULL;
    bool fits = op && strcmp(op->kind, kind) == 0 && (operands < 0 || op->operand_count == operands);
    return fits ? op : NULL;
}

static bool hlo_constant_of(const struct lx_model *m, const struct model_body *b, int32_t value, int64_t *out)
{
    const struct model_op *same = hlo_made_by(m, b, value, "copy", 1);
    if (!same) same = hlo_made_by(m, b, value, "convert", 1);
    const struct model_op *op = hlo_made_by(m, b, same ? same->operands[0] : value, "constant", 0);
    const struct model_data *d = op ? m->values.at[op->results[0]].data : NULL;
    if (!d || !d->ints || d->form != DATA_SPLAT) return false;
    *out = d->ints[0];
    return true;
}

/* The element of the argument tuple that a value is; -1: none. */
static int64_t hlo_element_of(const struct lx_model *m, const struct model_body *b, int32_t value)
{
    const struct model_op *op = hlo_made_by(m, b, value, "get-tuple-element", 1);
    return op && hlo_made_by(m, b, op->operands[0], "parameter", -1) ? model_attr_int(&op->attrs, "index", -1)
                                                                     : -1;
}

/* Counted: an element starts at a constant, is compared with a constant, and grows by 1 per trip. */
int64_t hlo_trips(const struct lx_model *m, const struct model_body *body, const struct model_op *op)
{
    if (op->body_count != 2 || op->operand_count != 1) return -1;
    const struct model_body *condition = &m->bodies.at[op->bodies[0]], *again = &m->bodies.at[op->bodies[1]];
    const struct model_op *test = hlo_made_by(m, condition, condition->results[0], "compare", 2),
                          *start = hlo_made_by(m, body, op->operands[0], "tuple", -1),
                          *next = hlo_made_by(m, again, again->results[0], "tuple", -1), *add;
    int64_t limit, first, one, index = test ? hlo_element_of(m, condition, test->operands[0]) : -1;
    if (!start || !next || index < 0 || index >= start->operand_count || index >= next->operand_count ||
        strcmp(model_attr_word(&test->attrs, "direction", ""), "LT") != 0 ||
        !hlo_constant_of(m, condition, test->operands[1], &limit) ||
        !hlo_constant_of(m, body, start->operands[index], &first) ||
        !(add = hlo_made_by(m, again, next->operands[index], "add", 2)))
        return -1;
    for (int i = 0; i < 2; i++)
        if (hlo_element_of(m, again, add->operands[i]) == index &&
            hlo_constant_of(m, again, add->operands[1 - i], &one) && one == 1)
            return limit > first ? limit - first : 0;
    return -1;
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
