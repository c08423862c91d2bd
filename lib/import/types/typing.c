/* Applies the rules of result types. A file with an op that breaks its rule is refused, and the error names
 * the rule. Ops without a rule, and results that a rule leaves open, pass, so a legal file is never
 * refused. */
#include "import/types/typing.h"
#include "import/layers/layers.h"
#include "import/read/onnx.h"

#define TYPE_RULE(name, words) const struct type_rule type_##name = {type_of_##name, words};
TYPE_RULES(TYPE_RULE)
const struct type_rule type_none = {NULL, ""};

enum { MOST_FOLDED = 1 << 24 }; /* elements computed ahead per model */

/* ---- for rules ---- */

void typing_want(struct typing *t, int64_t extent)
{
    if (t->rank < MODEL_MAX_RANK) t->want[t->rank++] = extent;
}

bool typing_spread(struct typing *t, int rank, const int64_t *extent)
{
    int grow = rank > t->rank ? rank - t->rank : 0;
    memmove(t->want + grow, t->want, (size_t)t->rank * sizeof *t->want);
    for (int d = 0; d < grow; d++) t->want[d] = 1;
    t->rank += grow;
    return typing_fits(t, rank, extent, true);
}

bool typing_fits(struct typing *t, int rank, const int64_t *extent, bool grows)
{
    bool fits = rank <= t->rank;
    for (int d = 0; fits && d < rank; d++) {
        int64_t *e = &t->want[t->rank - rank + d];
        fits = *e == extent[d] || extent[d] == 1 || (grows && *e == 1);
        if (grows && *e == 1) *e = extent[d];
    }
    return fits;
}

enum typed typing_like(struct typing *t, const struct model_type *like)
{
    t->rank = 0;
    for (int d = 0; d < like->count; d++) typing_want(t, like->extent[d]);
    return TYPED;
}

enum typed typing_wrong(struct typing *t, const char *why)
{
    t->why = why;
    return TYPE_WRONG;
}

enum typed typing_schema(struct typing *t, const char *why)
{
    t->schema = true;
    return typing_wrong(t, why);
}

int typing_dim(int64_t dim, int rank)
{
    if (dim < -rank || dim >= rank) return -1;
    return (int)(dim < 0 ? dim + rank : dim);
}

int64_t typing_int(const struct typing *t, const char *key, int64_t otherwise)
{
    return model_attr_int(&t->op->attrs, key, otherwise);
}

bool typing_has(const struct typing *t, int operand)
{
    return operand >= 0 && operand < t->op->operand_count && t->op->operands[operand] >= 0;
}

const struct model_data *typing_data(const struct typing *t, int operand)
{
    const struct model_data *d =
        typing_has(t, operand) ? t->m->values.at[t->op->operands[operand]].data : NULL;
    return d && (d->ints || d->reals) ? d : NULL;
}

bool typing_ints(const struct typing *t, const char *key, int operand, int64_t *out, int most, int *count)
{
    const struct model_attr *a = key ? model_attr_find(&t->op->attrs, key) : NULL;
    const struct model_data *d = typing_data(t, operand);
    *count = -1;
    if (a && (a->form == ATTR_INTS || a->form == ATTR_INT)) {
        const int64_t *list = model_attr_ints(&t->op->attrs, key, count);
        if (*count > most) return false;
        memcpy(out, list, (size_t)*count * sizeof *out);
        return true;
    }
    if (!typing_has(t, operand)) return true;
    if (!d || d->type->elements > most) return false;
    *count = (int)d->type->elements;
    for (int i = 0; i < *count; i++) out[i] = model_data_int(d, i);
    return true;
}

void typing_result(struct typing *t, int result, enum model_element e, int rank, const int64_t *extent)
{
    if (t->dialect != MODEL_ONNX || result >= t->op->result_count || t->op->results[result] < 0) return;
    if (rank > MODEL_MAX_RANK) t->why = "too many dimensions";
    for (int d = 0; d < rank && d < MODEL_MAX_RANK; d++)
        if (extent[d] < 0) t->why = "an extent below 0";
    const struct model_type *type = t->why ? NULL : model_type_make(t->m, e, rank, extent, t->st);
    if (!type && !t->why) t->why = "a result of more than 2^53 bytes";
    if (type) t->m->values.at[t->op->results[result]].type = type;
}

/* Rules only fill in `typing`; only typing_result and onnx_fold change the model. */
struct typing typing_open(const struct lx_model *m, const struct model_op *op, enum model_format dialect,
                          int64_t opset)
{
    union {
        const void *in;
        void *out;
    } model = {m}, of = {op};
    struct typing t = {.m = model.out, .op = of.out, .dialect = dialect, .opset = opset};
    for (int i = 0; i < TYPING_OPERANDS && i < op->operand_count; i++)
        if (op->operands[i] >= 0) t.in[i] = model_type_of(m, op->operands[i]);
    return t;
}

/* ---- errors ---- */

/* " of [2,3], [3,4]", or " of f32, i64": the first operands. */
static void typing_operand_words(const struct typing *t, bool elements, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < t->op->operand_count && i < (elements ? TYPING_OPERANDS : 3); i++) {
        char one[100];
        if (!t->in[i] || t->in[i]->element == MODEL_TUPLE) continue;
        model_shape_words(t->in[i]->count, t->in[i]->extent, one, sizeof one);
        const char *word = elements ? model_element_word(t->dialect, t->in[i]->element) : one;
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : " of ", word);
    }
}

/* Names the op by its result, or (ONNX) by its node. */
static bool typing_refuse(const struct typing *t, enum lx_code code, const char *text)
{
    bool makes = t->op->result_count > 0 && t->op->results[0] >= 0;
    const char *made = makes ? t->m->values.at[t->op->results[0]].name : NULL, *prefix = "", *name = made;
    if (t->dialect == MODEL_ONNX && t->op->location && *t->op->location) {
        prefix = "node ";
        name = t->op->location;
    } else if (t->dialect == MODEL_ONNX) {
        prefix = made ? "node of " : "node ";
    }
    return status_set_at(t->st, code, t->m->file, t->op->line, t->op->column, "%s%.100s (%.60s)%s", prefix,
                         name ? name : "without a name", t->op->kind, text);
}

static bool typing_broken(const struct typing *t, bool told)
{
    char have[200] = "", from[340], shape[200], text[1000];
    bool tuple = t->stated && t->stated->element == MODEL_TUPLE;
    model_shape_words(t->rank, t->want, shape, sizeof shape);
    typing_operand_words(t, false, from, sizeof from);
    if (t->stated && !tuple) model_shape_words(t->stated->count, t->stated->extent, have, sizeof have);
    bool other = !t->why && told && !tuple && strcmp(have, shape) != 0;
    snprintf(text, sizeof text, "%s%s%s%s breaks the rule of its kind (%s)%s%s", from,
             t->stated ? " is " : "", tuple ? "a tuple" : have, t->stated ? ", which" : "",
             t->row->type->words,
             t->why  ? ": "
             : other ? ": it would be "
                     : "",
             t->why  ? t->why
             : other ? shape
                     : "");
    return typing_refuse(t, t->schema ? LX_E_SCHEMA : LX_E_SHAPE, text);
}

static bool typing_count(const struct typing *t)
{
    int count = t->op->operand_count, least = t->row->least, most = t->row->most;
    char text[100], range[40] = "";
    bool all = count >= least && count <= most;
    for (int i = 0; all && i < least; i++) all = typing_has(t, i);
    if (all) return true;
    if (most != least) snprintf(range, sizeof range, most == OP_MANY ? " or more" : " to %d", most);
    snprintf(text, sizeof text, " has %d operands; it takes %d%s", count, least, range);
    return typing_refuse(t, LX_E_SCHEMA, text);
}

/* ---- element types ---- */

/* Types of one family are interchangeable. */
static int typing_family(const struct typing *t, const struct model_type *type)
{
    enum model_number n = model_element_row(type->element)->number;
    if (t->dialect == MODEL_ONNX) return (int)type->element;
    if (n == MODEL_FLOAT || n == MODEL_COMPLEX || n == MODEL_NO_NUMBER) return -(int)n - 1;
    return t->dialect == MODEL_HLO ? (int)type->element : 0;
}

enum need { LIKE, INDEX, BOOLEAN };

/* Are operands `from` to `to` in the family of `like` (NULL: any), indices, or booleans? */
static bool typing_all(const struct typing *t, int from, int to, enum need need,
                       const struct model_type *like)
{
    bool all = true, onnx = t->dialect == MODEL_ONNX;
    for (int i = from; i < to && i < t->op->operand_count && i < TYPING_OPERANDS; i++) {
        const struct model_type *type = t->in[i];
        if (!type || (need == LIKE && !like)) continue;
        bool index =
            onnx ? type->element == MODEL_I64 || type->element == MODEL_I32 : typing_family(t, type) >= 0;
        all &= need == LIKE    ? typing_family(t, type) == typing_family(t, like)
               : need == INDEX ? index
                               : type->element == MODEL_BOOL;
    }
    return all;
}

/* A text op's result has type `stated`; ONNX results follow from the rule. */
static bool typing_elements_fit(const struct typing *t)
{
    bool ttir = t->dialect == MODEL_TTIR, onnx = t->dialect == MODEL_ONNX;
    const struct model_type *y = onnx ? NULL : t->stated, *first = t->in[0];
    int count = t->op->operand_count;
    switch (t->row->elements) {
    case ELEMENTS_ANY: return true;
    case ELEMENTS_LIKE: return typing_all(t, 0, 1, LIKE, y) || strcmp(t->op->kind, "abs") == 0;
    case ELEMENTS_SAME:
        if (ttir) return typing_all(t, 0, 1, LIKE, y) || (count > 1 && typing_all(t, 1, 2, LIKE, y));
        return typing_all(t, 0, count, LIKE, onnx ? first : y);
    case ELEMENTS_PRODUCT: return !onnx || typing_all(t, 0, count, LIKE, first);
    case ELEMENTS_JOINED:
        return typing_all(t, 0, 1, LIKE, y) && (!onnx || typing_all(t, 0, count, LIKE, first));
    case ELEMENTS_TRUTH:
        return ttir || (typing_all(t, 1, count, LIKE, first) && (!y || y->element == MODEL_BOOL));
    case ELEMENTS_LOGIC: return ttir || typing_all(t, 0, count, onnx ? BOOLEAN : LIKE, y);
    case ELEMENTS_CHOICE:
        return ttir || (typing_all(t, 0, 1, BOOLEAN, NULL) && typing_all(t, 1, 3, LIKE, onnx ? t->in[1] : y));
    case ELEMENTS_INDEX: return typing_all(t, 0, 1, LIKE, y) && typing_all(t, 1, count, INDEX, NULL);
    case ELEMENTS_UPDATE: return typing_all(t, 0, 2, LIKE, y) && typing_all(t, 2, count, INDEX, NULL);
    }
    return true;
}

static bool typing_check_elements(const struct typing *t)
{
#define ELEMENT_RULE(id, words) words,
    static const char *const words[] = {ELEMENT_RULES(ELEMENT_RULE)};
    char from[200], have[60] = "", text[500];
    if (typing_elements_fit(t)) return true;
    typing_operand_words(t, true, from, sizeof from);
    if (t->stated)
        snprintf(have, sizeof have, " is %s, which", model_element_word(t->dialect, t->stated->element));
    snprintf(text, sizeof text, "%s%s breaks the rule of its kind (elements: %s)", from, have,
             words[t->row->elements]);
    return typing_refuse(t, LX_E_SHAPE, text);
}

/* ---- text dialects ---- */

/* False: no rule, or a type is unknown. `open`: the result's extents may be unknown. */
static bool typing_begin(struct typing *t, bool open)
{
    t->row = op_find(t->dialect, t->op->kind);
    if (!t->row || !t->row->type->of) return false;
    bool tuples = t->row->form == OP_ANY_TYPE && t->row->map == NULL,
         can = tuples || t->op->result_count <= 1;
    for (int i = -1; can && i < t->op->operand_count; i++) {
        if (i < 0 && t->op->result_count == 0) continue;
        const struct model_type *type = model_type_of(t->m, i < 0 ? t->op->results[0] : t->op->operands[i]);
        can = type && (tuples || (type->element != MODEL_TUPLE && (type->elements >= 0 || (open && i < 0))));
        if (i >= 0 && i < TYPING_OPERANDS) t->in[i] = type;
        if (i < 0) t->stated = type;
    }
    if (can && !t->stated) t->stated = t->in[0];
    return can && t->stated;
}

bool model_check_types(struct lx_model *m, lx_status *st)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            struct typing t = {.m = m, .op = &m->bodies.at[b].ops[i], .dialect = m->format, .st = st};
            bool judged = typing_begin(&t, false);
            if (!t.row || !t.row->type->of) continue;
            if (t.op->operand_count < t.row->least || t.op->operand_count > t.row->most)
                return typing_count(&t);
            if (!judged) continue;
            enum typed typed = t.row->type->of(&t);
            bool same = typed == TYPE_OPEN || (typed == TYPED && t.rank == t.stated->count);
            for (int d = 0; typed == TYPED && same && d < t.rank; d++)
                same = t.want[d] == t.stated->extent[d];
            if (!same) return typing_broken(&t, typed == TYPED);
            if (!typing_check_elements(&t)) return false;
        }
    return true;
}

/* ---- open extents ---- */

bool model_extent_given(struct lx_model *m, const struct lx_model_options *o, const char *name, int64_t *out)
{
    bool bare = m->format != MODEL_ONNX;
    for (int i = 0; i < o->dim_count; i++) {
        const char *said = o->dims[i].name;
        if (strcmp(said, name) != 0 && strcmp(said + (bare && *said == '%'), name + (*name == '%')) != 0)
            continue;
        *out = o->dims[i].value;
        m->dim_used[i] = true;
        return true;
    }
    return false;
}

void model_extent_ask(struct text *unbound, const char *name)
{
    char line[MODEL_MAX_NAME + 64];
    size_t n = (size_t)snprintf(line, sizeof line, " --dim %s=N", name);
    if (unbound->length > 600 || n > 200) return;
    if (!unbound->at || !strstr(unbound->at, line)) text_add(unbound, line);
}

bool model_extents_told(const struct lx_model *m, const struct text *unbound, lx_status *st)
{
    if (unbound->length == 0) return true;
    return status_set_at(st, LX_E_SHAPE, m->file, 0, 0,
                         "extents without a number; give each one, as in \"lxplan import FILE%s\"",
                         unbound->at);
}

/* Binds open extents to numbers in the order of the file: types of operands are known before a rule needs
 * them. The user's number precedes a rule; all types are checked later. */
struct binding {
    struct lx_model *m;
    const struct lx_model_options *o;
    struct text unbound;
    bool unknown; /* some extent has no number */
    lx_status *st;
};

static bool extent_is_open(const struct model_type *t)
{
    return t && t->elements < 0;
}

/* Open extents of a result that follow from the operands; a reshape's open extent takes the remaining
 * elements. */
static void extent_follow(struct binding *b, struct model_op *op, int64_t *extent)
{
    lx_status st = {0};
    struct typing t = {.m = b->m, .op = op, .dialect = b->m->format, .st = &st};
    int64_t product = 1;
    int open = -1;
    if (!typing_begin(&t, true) || op->operand_count < t.row->least || op->operand_count > t.row->most)
        return;
    if (t.row->ours && strcmp(t.row->ours, "reshape") == 0 && t.in[0]->elements > 0) {
        int64_t all = t.in[0]->elements;
        for (int d = 0; d < t.stated->count; d++) {
            if ((extent[d] < 0 && open >= 0) || extent[d] == 0) return;
            if (extent[d] < 0) open = d;
            if (extent[d] > 0 && product <= all) product *= extent[d];
        }
        if (open >= 0 && product <= all && all % product == 0) extent[open] = all / product;
        return;
    }
    if (t.row->type->of(&t) == TYPE_WRONG || t.rank != t.stated->count) return;
    for (int d = 0; d < t.rank; d++) /* an extent of 1 may be repeated */
        if (extent[d] < 0 && !(t.row->type == &type_repeat && t.want[d] == 1)) extent[d] = t.want[d];
}

/* `op` NULL: an argument. */
static bool extent_bind_tensor(struct binding *b, struct model_op *op, struct model_value *v)
{
    const struct model_type *t = v->type;
    int64_t extent[MODEL_MAX_RANK];
    char name[MODEL_MAX_NAME + 32];
    bool root = true, all = true; /* root: it depends on nothing open */
    for (int i = 0; op && i < op->operand_count; i++)
        root &= !extent_is_open(model_type_of(b->m, op->operands[i]));
    for (int pass = 0; pass < 2; pass++) {
        if (pass > 0 && op && !all) extent_follow(b, op, extent);
        for (int d = 0; d < t->count; d++) {
            snprintf(name, sizeof name, "%%%s:%d", v->name ? v->name : "", d);
            if (pass == 0) extent[d] = t->extent[d];
            if (pass == 0 && extent[d] < 0) model_extent_given(b->m, b->o, name, &extent[d]);
            all &= extent[d] >= 0;
            if (pass == 0 || extent[d] >= 0) continue;
            if (root) model_extent_ask(&b->unbound, name);
            b->unknown = true;
        }
    }
    const struct model_type *made = model_type_make(b->m, t->element, t->count, extent, b->st);
    if (!made) return false;
    struct model_type *turned = arena_copy_array(&b->m->memory, made, 1, sizeof *made);
    turned->order = t->order;
    v->type = turned;
    return true;
}

/* A tuple has its operands' types, an element its part's. */
static bool extent_bind_value(struct binding *b, struct model_op *op, int32_t value)
{
    struct model_value *v = &b->m->values.at[value];
    if (!extent_is_open(v->type)) return true;
    if (op && op->operand_count == 1 && strcmp(op->kind, "get-tuple-element") == 0) {
        const struct model_type *from = model_type_of(b->m, op->operands[0]);
        int64_t index = model_attr_int(&op->attrs, "index", -1);
        bool inside = from->element == MODEL_TUPLE && index >= 0 && index < from->count;
        if (inside && from->parts[index]->element == v->type->element &&
            from->parts[index]->count == v->type->count)
            v->type = from->parts[index];
    }
    if (op && strcmp(op->kind, "tuple") == 0 && op->operand_count <= MODEL_MAX_RANK) {
        const struct model_type *parts[MODEL_MAX_RANK];
        for (int i = 0; i < op->operand_count; i++) parts[i] = model_type_of(b->m, op->operands[i]);
        v->type = model_tuple_make(b->m, parts, op->operand_count, b->st);
        if (!v->type) return false;
    }
    if (extent_is_open(v->type) && v->type->element != MODEL_TUPLE) return extent_bind_tensor(b, op, v);
    b->unknown |= extent_is_open(v->type);
    return true;
}

bool model_extents_bind(struct lx_model *m, const struct lx_model_options *o, lx_status *st)
{
    struct binding b = {.m = m, .o = o, .st = st};
    bool ok = true;
    for (size_t i = 0; i < m->bodies.count; i++) {
        const struct model_body *body = &m->bodies.at[i];
        for (int k = 0; ok && k < body->argument_count; k++)
            ok = extent_bind_value(&b, NULL, body->arguments[k]);
        for (int k = 0; ok && k < body->op_count; k++)
            for (int r = 0; ok && r < body->ops[k].result_count; r++)
                ok = extent_bind_value(&b, &body->ops[k], body->ops[k].results[r]);
    }
    ok = ok && model_extents_told(m, &b.unbound, st);
    if (ok && b.unknown)
        ok = status_set_at(st, LX_E_SHAPE, m->file, 0, 0,
                           "extents without a number that have no name to give");
    text_free(&b.unbound);
    return ok;
}

/* ---- ONNX ---- */

static bool onnx_infer_body(struct typing *t, int32_t body);

/* Reads operands and the default element type of the first result. */
static void onnx_begin_op(struct typing *t, struct model_op *op)
{
    t->op = op;
    t->row = op_find(MODEL_ONNX, op->kind);
    t->opset = t->derived ? ONNX_DERIVED_OPSET : onnx_opset(t->m, op->kind);
    t->rank = 0;
    t->why = NULL;
    for (int i = 0; i < TYPING_OPERANDS; i++)
        t->in[i] =
            i < op->operand_count && op->operands[i] >= 0 ? model_type_of(t->m, op->operands[i]) : NULL;
    const struct model_type *like = t->row && t->row->elements == ELEMENTS_CHOICE ? t->in[1] : t->in[0];
    t->element = t->row && t->row->elements == ELEMENTS_TRUTH ? MODEL_BOOL : like ? like->element : MODEL_F32;
}

/* Results without a rule keep the declared type; others must agree with it. */
static bool onnx_settle(struct typing *t, enum typed by_rule)
{
    for (int r = 0; r < t->op->result_count; r++) {
        if (t->op->results[r] < 0) continue;
        struct model_value *v = &t->m->values.at[t->op->results[r]];
        char ours[160], theirs[160], text[500];
        if (!v->type && v->declared && v->declared->elements >= 0) v->type = v->declared;
        if (!v->type)
            return typing_refuse(
                t, LX_E_SHAPE,
                t->row && t->row->type->of
                    ? ": its shape depends on data; declare it (value_info), or fix the data (--value NAME=N)"
                    : ": no rule for its shape, and the file declares none; declare it (value_info), as "
                      "onnx.shape_inference does");
        if (!v->declared) continue;
        if (v->declared_exact && !model_same_shape(v->type, v->declared)) {
            model_shape_words(v->type->count, v->type->extent, ours, sizeof ours);
            model_shape_words(v->declared->count, v->declared->extent, theirs, sizeof theirs);
        } else if (!t->derived && by_rule == TYPED && v->type->element != v->declared->element) {
            snprintf(ours, sizeof ours, "%s", model_element_word(MODEL_ONNX, v->type->element));
            snprintf(theirs, sizeof theirs, "%s", model_element_word(MODEL_ONNX, v->declared->element));
        } else
            continue;
        snprintf(text, sizeof text, ": %.60s is %s, but the file declares %s", v->name, ours, theirs);
        return typing_refuse(t, LX_E_SHAPE, text);
    }
    return true;
}

static bool onnx_infer_op(struct typing *t, struct model_op *op)
{
    enum typed typed = TYPE_OPEN;
    onnx_begin_op(t, op);
    for (int b = 0; t->row && b < op->body_count; b++)
        if (!onnx_infer_body(t, op->bodies[b])) return false;
    onnx_begin_op(t, op);
    if (t->row && t->row->type->of) {
        if (!typing_count(t) || (!t->derived && !typing_check_elements(t))) return false;
        typed = t->row->type->of(t);
        if (typed == TYPED) typing_result(t, 0, t->element, t->rank, t->want);
        if (typed == TYPE_WRONG || t->why) return typing_broken(t, false);
    }
    if (!onnx_settle(t, typed)) return false;
    if (typed == TYPED) onnx_fold(t);
    return true;
}

/* Checks inputs without a type, and results of functions that no node makes. */
static bool onnx_all_typed(struct typing *t, const int32_t *values, int count, const char *what)
{
    for (int i = 0; i < count; i++) {
        const struct model_value *v = values[i] < 0 ? NULL : &t->m->values.at[values[i]];
        if (v && (!v->type || v->type->elements < 0))
            return status_set_at(t->st, LX_E_SHAPE, t->m->file, 0, 0,
                                 "%s %.100s has no shape, and nobody makes it%s", what, v->name,
                                 v->body == t->m->entry ? "; declare its type and extents in the file"
                                                        : ", in a graph within a node; declare it there");
    }
    return true;
}

static bool onnx_infer_body(struct typing *t, int32_t body)
{
    const struct model_body *b = &t->m->bodies.at[body];
    if (!onnx_all_typed(t, b->arguments, b->argument_count, "input")) return false;
    for (int i = 0; i < b->op_count; i++)
        if (!onnx_all_typed(t, b->ops[i].operands, b->ops[i].operand_count, "operand") ||
            !onnx_infer_op(t, &b->ops[i]))
            return false;
    return onnx_all_typed(t, b->results, b->result_count, "output");
}

bool onnx_infer_types(struct lx_model *m, const struct lx_model_options *options, lx_status *st)
{
    struct typing t = {.m = m, .dialect = MODEL_ONNX, .st = st, .budget = MOST_FOLDED, .options = options};
    return onnx_infer_body(&t, m->entry);
}

bool onnx_infer_part(struct lx_model *m, struct model_op *op, lx_status *st)
{
    struct typing t = {.m = m, .dialect = MODEL_ONNX, .st = st, .budget = MOST_FOLDED, .derived = true};
    return onnx_infer_op(&t, op);
}
