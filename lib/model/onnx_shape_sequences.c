/* Sequences of ONNX whose members are known: which values a sequence is made of is kept beside the model, and those who read
 * it read the members from then on. A node that makes a sequence has its parts as results, or none. Layers of
 * layers_sequences.c are what the nodes mean then. */
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

/* The result of the op is the sequence of these; the op itself makes `results` and reads `operands`. */
static enum shaped becomes(struct shaper *x, const int32_t *members, int count, const int32_t *results,
                           int result_count)
{
    struct model_sequence s = {.value = x->op->results[0], .count = count};
    x->budget -= count;
    if (x->budget < 0 || x->m->sequences.count >= MOST_SEQUENCES) return SHAPE_UNKNOWN;
    s.members = arena_copy_array(&x->m->memory, members, (size_t)count, sizeof *members);
    int32_t *own = arena_copy_array(&x->m->memory, results, (size_t)result_count, sizeof *results);
    if (!s.members || !own || !VEC_PUSH(&x->m->sequences, s)) return no_memory(x);
    x->op->results = own;
    x->op->result_count = result_count;
    return SHAPED;
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

static enum shaped member(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    int64_t at = s ? place(x, 1, -1, s->count - 1) : -1;
    if (!s || at < 0) return SHAPE_UNKNOWN;
    if (!reads(x, &s->members[at], 1)) return SHAPE_WRONG;
    const struct model_type *t = shaper_in(x, 0);
    return t ? shaper_set(x, 0, t->element, t->count, t->extent) : SHAPE_UNKNOWN;
}

static enum shaped length(struct shaper *x)
{
    const struct model_sequence *s = sequence_of(x, 0);
    if (!s) return SHAPE_UNKNOWN;
    int64_t count = s->count;
    struct model_data *d = arena_alloc(&x->m->memory, sizeof *d);
    int64_t *number = arena_copy_array(&x->m->memory, &count, 1, sizeof *number);
    if (!d || !number) return no_memory(x);
    enum shaped done = shaper_set(x, 0, MODEL_I64, 0, NULL);
    if (done != SHAPED || x->op->results[0] < 0) return done;
    struct model_value *v = &x->m->values.at[x->op->results[0]];
    *d = (struct model_data){.form = DATA_LIST, .type = v->type, .ints = number};
    v->data = d;
    return reads(x, NULL, 0) ? SHAPED : SHAPE_WRONG;
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
    static const struct onnx_shape_row rows[] = {
        {"SequenceConstruct", construct}, {"SequenceEmpty", empty},   {"SequenceInsert", insert},
        {"SequenceErase", erase},         {"SequenceAt", member},     {"SequenceLength", length},
        {"ConcatFromSequence", join},     {"SplitToSequence", split}, {NULL, NULL}};
    return onnx_shape_find(rows, kind);
}
