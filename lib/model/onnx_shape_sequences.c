/* Sequences of ONNX whose members are known: which values a sequence is made of is kept beside the model, and those who read
 * it read the members from then on. A node that makes a sequence has its parts as results, or none. Layers of
 * layers_sequences.c are what the nodes mean then. A graph that gives a sequence gives its members, and what is optional is
 * there, unless a node says that it is not. */
#include "model/onnx.h"
#include "base/fail.h"

#include <string.h>

enum { MOST_MEMBERS = 4096, MOST_SEQUENCES = 4096 };

static const struct model_sequence *find(const struct shaper *x, int32_t value)
{
    for (size_t i = x->m->sequences.count; value >= 0 && i-- > 0;)
        if (x->m->sequences.at[i].value == value) return &x->m->sequences.at[i];
    return NULL;
}

bool onnx_is_sequence(const struct shaper *x, int32_t value)
{
    return find(x, value) != NULL;
}

static const struct model_sequence *sequence_of(const struct shaper *x, int operand)
{
    return shaper_has(x, operand) ? find(x, x->op->operands[operand]) : NULL;
}

static enum shaped no_memory(struct shaper *x)
{
    status_no_memory(x->st);
    return SHAPE_WRONG;
}

/* A value is the sequence of these from now on. */
static enum shaped note(struct shaper *x, int32_t value, const int32_t *members, int count)
{
    struct model_sequence s = {.value = value, .count = count};
    x->budget -= count;
    if (x->budget < 0 || x->m->sequences.count >= MOST_SEQUENCES) return SHAPE_UNKNOWN;
    s.members = arena_copy_array(&x->m->memory, members, (size_t)count, sizeof *members);
    return s.members && VEC_PUSH(&x->m->sequences, s) ? SHAPED : no_memory(x);
}

static enum shaped makes(struct shaper *x, const int32_t *results, int count)
{
    x->op->results = arena_copy_array(&x->m->memory, results, (size_t)count, sizeof *results);
    x->op->result_count = count;
    return x->op->results ? SHAPED : no_memory(x);
}

/* The result of the op is the sequence of these; the op itself makes `results`. */
static enum shaped becomes(struct shaper *x, const int32_t *members, int count, const int32_t *results,
                           int result_count)
{
    enum shaped s = note(x, x->op->results[0], members, count);
    return s == SHAPED ? makes(x, results, result_count) : s;
}

/* A list of members is all that is left of the op. */
static enum shaped listed(struct shaper *x, const int32_t *members, int count)
{
    enum shaped s = becomes(x, members, count, (const int32_t[]){-1}, 1);
    if (s == SHAPED) x->op->operand_count = 0;
    return s;
}

static enum shaped construct(struct shaper *x)
{
    if (x->op->result_count != 1 || x->op->results[0] < 0) return SHAPE_UNKNOWN;
    return listed(x, x->op->operands, x->op->operand_count);
}

static enum shaped empty(struct shaper *x)
{
    if (x->op->result_count != 1 || x->op->results[0] < 0) return SHAPE_UNKNOWN;
    return listed(x, (const int32_t[]){-1}, 0);
}

/* Where an operand says, counted from the end if below 0; -1: it is not known, or outside of 0 .. `most`. */
static int64_t place(const struct shaper *x, int operand, int64_t otherwise, int64_t most)
{
    const struct model_data *d = shaper_data(x, operand);
    if (shaper_has(x, operand) && (!d || !d->ints || d->type->elements != 1)) return -1;
    int64_t at = d ? d->ints[0] : otherwise;
    if (at < 0) at += most + 1;
    return at < 0 || at > most ? -1 : at;
}

static enum shaped insert(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    int64_t at = s ? place(x, 2, s->count, s->count) : -1;
    int32_t all[MOST_MEMBERS];
    if (!s || at < 0 || s->count >= MOST_MEMBERS || !shaper_has(x, 1) || x->op->results[0] < 0)
        return SHAPE_UNKNOWN;
    memcpy(all, s->members, (size_t)at * sizeof *all);
    all[at] = x->op->operands[1];
    memcpy(all + at + 1, s->members + at, (size_t)(s->count - at) * sizeof *all);
    return listed(x, all, s->count + 1);
}

static enum shaped erase(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    int64_t at = s ? place(x, 1, s->count - 1, s->count - 1) : -1;
    int32_t all[MOST_MEMBERS];
    if (!s || at < 0 || s->count > MOST_MEMBERS || x->op->results[0] < 0) return SHAPE_UNKNOWN;
    memcpy(all, s->members, (size_t)at * sizeof *all);
    memcpy(all + at, s->members + at + 1, (size_t)(s->count - at - 1) * sizeof *all);
    return listed(x, all, s->count - 1);
}

/* The op reads these instead of the sequence. */
static bool reads(struct shaper *x, const int32_t *operands, int count)
{
    x->op->operands = arena_copy_array(&x->m->memory, operands, (size_t)count, sizeof *operands);
    x->op->operand_count = count;
    return x->op->operands || count == 0 || status_no_memory(x->st);
}

/* Which member is known only when it runs: it reads the number and all of them, which must be alike. */
static enum shaped any_member(struct shaper *x, const struct model_sequence *s)
{
    const struct model_type *first = s->count > 0 ? model_type_of(x->m, s->members[0]) : NULL;
    int32_t all[MOST_MEMBERS + 1] = {x->op->operands[1]};
    bool alike = first && s->count <= MOST_MEMBERS;
    for (int i = 0; alike && i < s->count; i++) {
        const struct model_type *t = model_type_of(x->m, s->members[i]);
        all[i + 1] = s->members[i];
        alike = t && t->element == first->element && model_same_shape(t, first);
    }
    if (!alike) return SHAPE_UNKNOWN;
    return reads(x, all, s->count + 1) ? shaper_set(x, 0, first->element, first->count, first->extent)
                                       : SHAPE_WRONG;
}

static enum shaped member(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    int64_t at = s ? place(x, 1, -1, s->count - 1) : -1;
    if (s && at < 0 && shaper_has(x, 1) && !shaper_data(x, 1)) return any_member(x, s);
    if (!s || at < 0) return SHAPE_UNKNOWN;
    if (!reads(x, &s->members[at], 1)) return SHAPE_WRONG;
    const struct model_type *t = shaper_in(x, 0);
    return t ? shaper_set(x, 0, t->element, t->count, t->extent) : SHAPE_UNKNOWN;
}

/* The result is that number. */
static enum shaped stated(struct shaper *x, enum model_element e, int64_t number)
{
    struct model_data *d = arena_alloc(&x->m->memory, sizeof *d);
    int64_t *own = arena_copy_array(&x->m->memory, &number, 1, sizeof *own);
    if (!d || !own) return no_memory(x);
    enum shaped done = shaper_set(x, 0, e, 0, NULL);
    if (done != SHAPED || x->op->results[0] < 0) return done;
    struct model_value *v = &x->m->values.at[x->op->results[0]];
    *d = (struct model_data){.form = DATA_LIST, .type = v->type, .ints = own};
    v->data = d;
    return reads(x, NULL, 0) ? SHAPED : SHAPE_WRONG;
}

static enum shaped length(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    return s ? stated(x, MODEL_I64, s->count) : SHAPE_UNKNOWN;
}

/* What is optional is what it is made of, or not there. */
static enum shaped optional(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    const struct model_type *t = shaper_in(x, 0);
    if (x->op->result_count != 1 || x->op->results[0] < 0) return SHAPE_UNKNOWN;
    if (t) return shaper_set(x, 0, t->element, t->count, t->extent);
    if (s && !s->absent) return listed(x, s->members, s->count);
    if (shaper_has(x, 0)) return SHAPE_UNKNOWN;
    enum shaped done = listed(x, (const int32_t[]){-1}, 0);
    if (done == SHAPED) x->m->sequences.at[x->m->sequences.count - 1].absent = true;
    return done;
}

static enum shaped element(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    if (!shaper_has(x, 0) || (s && s->absent))
        return shaper_wrong(
            x, "the optional value that it takes is not there; choose a branch that does not need it");
    return optional(x);
}

static enum shaped has_element(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    return stated(x, MODEL_BOOL, shaper_has(x, 0) && !(s && s->absent));
}

/* The values of a body's results with members in the place of sequences; -1: too many. */
static int flattened(struct shaper *x, const struct model_body *b, int32_t *all)
{
    int n = 0;
    for (int r = 0; r < b->result_count; r++) {
        const struct model_sequence *s = b->results[r] < 0 ? NULL : find(x, b->results[r]);
        int count = s ? s->count : 1;
        if (n + count > MOST_MEMBERS) return -1;
        memcpy(all + n, s ? s->members : &b->results[r], (size_t)count * sizeof *all);
        n += count;
    }
    return n;
}

static bool gives_sequence(struct shaper *x, const struct model_body *b)
{
    for (int r = 0; r < b->result_count; r++)
        if (b->results[r] >= 0 && !model_type_of(x->m, b->results[r]) && find(x, b->results[r])) return true;
    return false;
}

bool onnx_flatten_results(struct shaper *x, int32_t body)
{
    struct model_body *b = &x->m->bodies.at[body];
    int32_t all[MOST_MEMBERS];
    if (!gives_sequence(x, b)) return true;
    int n = flattened(x, b, all);
    if (n < 0)
        return status_set_at(x->st, LX_E_LIMIT, x->m->file, 0, 0,
                             "graph %.80s gives more than %d tensors; give fewer", b->name, MOST_MEMBERS);
    b->results = arena_copy_array(&x->m->memory, all, (size_t)n, sizeof *all);
    b->result_count = n;
    return b->results || status_no_memory(x->st);
}

/* A value like the result, with that type; -1: failed. */
static int32_t another(struct shaper *x, int32_t like, const struct model_type *t)
{
    struct model_value v = x->m->values.at[like];
    v.declared = NULL;
    v.type = t;
    return model_add_value(x->m, &v, x->st);
}

/* A branch that gives a sequence gives its members, and so does the op. */
enum shaped onnx_branch_sequences(struct shaper *x, int32_t body)
{
    const struct model_body *b = &x->m->bodies.at[body];
    int32_t all[MOST_MEMBERS], from[MOST_MEMBERS];
    int n = 0, given = b->result_count;
    if (!gives_sequence(x, b) || given != x->op->result_count) return SHAPED;
    for (int r = 0; r < given; r++) {
        const struct model_sequence *s = find(x, b->results[r]);
        int32_t own = x->op->results[r];
        int first = n, count = s ? s->count : 1;
        if (n + count > MOST_MEMBERS || own < 0) return SHAPE_UNKNOWN;
        for (int i = 0; i < count; i++, n++) {
            from[n] = s ? s->members[i] : b->results[r];
            all[n] = s ? another(x, own, model_type_of(x->m, from[n])) : own;
            if (all[n] < 0) return SHAPE_WRONG;
        }
        if (s && note(x, own, all + first, count) != SHAPED) return SHAPE_UNKNOWN;
    }
    enum shaped done = makes(x, all, n);
    for (int i = 0; done == SHAPED && i < x->op->body_count; i++)
        if (!onnx_flatten_results(x, x->op->bodies[i])) done = SHAPE_WRONG;
    for (int i = 0; done == SHAPED && i < x->op->body_count; i++)
        if (x->m->bodies.at[x->op->bodies[i]].result_count != n)
            done =
                shaper_wrong(x, "its branches give lists of different lengths; fix its condition (--value)");
    return done;
}

/* What the body of a SequenceMap is given: a member of each sequence, and what is none as it is. */
const struct model_type *onnx_mapped_type(struct shaper *x, int operand)
{
    const struct model_sequence *s = sequence_of(x, operand);
    const struct model_type *first =
        s && s->count > 0 ? model_type_of(x->m, s->members[0]) : shaper_in(x, operand);
    for (int i = 1; s && first && i < s->count; i++) {
        const struct model_type *t = model_type_of(x->m, s->members[i]);
        if (!t || t->element != first->element || !model_same_shape(t, first)) return NULL;
    }
    return first;
}

/* The body once a member: operands of one member after those of another, and results likewise. */
static enum shaped map(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    const struct model_body *b = x->op->body_count == 1 ? &x->m->bodies.at[x->op->bodies[0]] : NULL;
    int32_t in[MOST_MEMBERS], out[MOST_MEMBERS], own[MOST_MEMBERS];
    int operands = x->op->operand_count, results = x->op->result_count;
    if (!s || !b || b->result_count != results || b->argument_count != operands || s->count < 1 ||
        operands > MOST_MEMBERS / s->count || results > MOST_MEMBERS / s->count)
        return SHAPE_UNKNOWN;
    int count = s->count;
    for (int i = 0; i < count * operands; i++) {
        const struct model_sequence *other = sequence_of(x, i % operands);
        if (other && other->count != count)
            return shaper_wrong(x, "sequences of different lengths; give as many members");
        in[i] = other ? other->members[i / operands] : x->op->operands[i % operands];
    }
    for (int i = 0; i < count * results; i++) {
        const struct model_type *t =
            model_type_of(x->m, x->m->bodies.at[x->op->bodies[0]].results[i % results]);
        if (!t || x->op->results[i % results] < 0) return SHAPE_UNKNOWN;
        if ((out[i] = another(x, x->op->results[i % results], t)) < 0) return SHAPE_WRONG;
    }
    for (int r = 0; r < results; r++) {
        for (int i = 0; i < count; i++) own[i] = out[i * results + r];
        if (note(x, x->op->results[r], own, count) != SHAPED) return SHAPE_UNKNOWN;
    }
    return reads(x, in, count * operands) ? makes(x, out, count * results) : SHAPE_WRONG;
}

/* All members one behind the other, or, with `new_axis`, along a dimension of their own. */
static enum shaped join(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    const struct model_type *first = s && s->count > 0 ? model_type_of(x->m, s->members[0]) : NULL;
    int64_t extent[MODEL_MAX_RANK + 1], sum = 0;
    bool stacks = shaper_int(x, "new_axis", 0) != 0;
    if (!first || first->count + stacks > MODEL_MAX_RANK) return SHAPE_UNKNOWN;
    int rank = first->count + stacks, axis = shaper_axis(shaper_int(x, "axis", 0), rank);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    for (int i = 0; i < s->count; i++) {
        const struct model_type *t = model_type_of(x->m, s->members[i]);
        if (!t || t->count != first->count) return shaper_wrong(x, "members of different shapes");
        for (int d = 0; d < t->count; d++)
            if (t->extent[d] != first->extent[d] && (stacks || d != axis))
                return shaper_wrong(x, "members of different shapes");
        sum += stacks ? 1 : t->extent[axis];
    }
    for (int d = 0; d < rank; d++)
        extent[d] = first->extent[stacks && d > axis ? d - 1 : d < first->count ? d : 0];
    extent[axis] = sum;
    return reads(x, s->members, s->count) ? shaper_set(x, 0, first->element, rank, extent) : SHAPE_WRONG;
}

/* How long the parts are; their number, 0: not known or too many. */
static int64_t part_sizes(const struct shaper *x, int64_t whole, int64_t *sizes)
{
    const struct model_data *d = shaper_data(x, 1);
    int64_t n = 0, sum = 0, each;
    if (shaper_has(x, 1) && (!d || !d->ints)) return 0;
    if (d && d->type->count == 1) {
        if (d->type->elements > MOST_MEMBERS) return 0;
        for (; n < d->type->elements; n++) {
            sizes[n] = model_data_int(d, n);
            if (sizes[n] < 0 || sizes[n] > whole - sum) return 0;
            sum += sizes[n];
        }
        return sum == whole ? n : 0;
    }
    if (d && d->type->elements != 1) return 0;
    each = d ? model_data_int(d, 0) : 1;
    if (each < 1 || (whole + each - 1) / each > MOST_MEMBERS) return 0;
    for (; sum < whole; sum += sizes[n++]) sizes[n] = whole - sum < each ? whole - sum : each;
    return n;
}

static enum shaped split(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int axis = t ? shaper_axis(shaper_int(x, "axis", 0), t->count) : -1;
    int64_t sizes[MOST_MEMBERS], extent[MODEL_MAX_RANK];
    int32_t parts[MOST_MEMBERS];
    bool drops = !shaper_has(x, 1) && shaper_int(x, "keepdims", 1) == 0;
    if (!t || axis < 0 || x->op->result_count != 1 || x->op->results[0] < 0) return SHAPE_UNKNOWN;
    int64_t n = part_sizes(x, t->extent[axis], sizes);
    if (n == 0) return SHAPE_UNKNOWN;
    for (int64_t i = 0; i < n; i++) {
        int rank = 0;
        for (int d = 0; d < t->count; d++)
            if (!drops || d != axis) extent[rank++] = d == axis ? sizes[i] : t->extent[d];
        struct model_value v = x->m->values.at[x->op->results[0]];
        v.declared = NULL;
        v.type = model_type_make(x->m, t->element, rank, extent, x->st);
        parts[i] = v.type ? model_add_value(x->m, &v, x->st) : -1;
        if (parts[i] < 0) return SHAPE_WRONG;
    }
    return becomes(x, parts, (int)n, parts, (int)n);
}

onnx_shape_of *onnx_shape_sequence(const char *kind)
{
    static const struct onnx_shape_row rows[] = {{"SequenceConstruct", construct},
                                                 {"SequenceEmpty", empty},
                                                 {"SequenceInsert", insert},
                                                 {"SequenceErase", erase},
                                                 {"SequenceAt", member},
                                                 {"SequenceLength", length},
                                                 {"ConcatFromSequence", join},
                                                 {"SplitToSequence", split},
                                                 {"SequenceMap", map},
                                                 {"Optional", optional},
                                                 {"OptionalGetElement", element},
                                                 {"OptionalHasElement", has_element},
                                                 {NULL, NULL}};
    return onnx_shape_find(rows, kind);
}
