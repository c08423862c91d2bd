/* Quantised element types of MLIR: whole numbers that stand for others.
 *
 *   !quant.uniform<i8:f32, 0.1:-3>                        one scale and zero point for all
 *   !quant.uniform<u8<1:255>:f32:1, {0.1, 0.2:128}>       one each along dimension 1; only 1 to 255 are used
 *   !quant.uniform<i8:f32:{0:1, 1:16}, {{0.1}, {0.2}}>    one a block of these sizes
 *   !quant.any<i8:f32>                                    nobody says how
 *   !quant.calibrated<f32<-1.0:1.0>>                      numbers as they are
 *
 * The element type of a tensor is that of what is stored, and what it stands for is beside it (`model_quant`). */
#include "model/ttir.h"

#include <math.h>
#include <string.h>

typedef VEC(double) reals;
typedef VEC(int64_t) wholes;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || source_is_digit(c);
}

static enum model_element simple(struct source *s)
{
    source_skip(s, true);
    const char *word = source_name(s, is_word, "an element type");
    if (!word) return MODEL_ELEMENT_COUNT;
    bool u = word[0] == 'u' && word[1] != 'i', si = word[0] == 's' && word[1] == 'i';
    const char *name = u ? arena_format(&s->m->memory, "ui%s", word + 1) : word + si;
    if (!name) return source_no_memory(s), MODEL_ELEMENT_COUNT;
    enum model_element e = model_element_find(MODEL_TTIR, name);
    if (e < MODEL_TUPLE && model_element_row(e)->bits > 0) return e;
    source_fail(s, LX_E_UNKNOWN_KIND, "a stored type of \"%.20s\"; i4, i8, u8, i16, i32 and floats are known",
                word);
    return MODEL_ELEMENT_COUNT;
}

static bool number(struct source *s, double *out)
{
    int64_t whole;
    bool is_whole;
    if (!source_number(s, MODEL_F32, &whole, out, &is_whole)) return false;
    if (is_whole) *out = (double)whole;
    return true;
}

/* "<-127:127>", if it is there. */
static bool range(struct source *s, double *low, double *high)
{
    if (!source_take(s, "<")) return true;
    return number(s, low) && source_want(s, ":") && number(s, high) && source_want(s, ">");
}

/* "0.1" or "0.1:-3". */
static bool scale_and_zero(struct source *s, reals *scales, wholes *zeros)
{
    double scale;
    int64_t zero = 0;
    if (!number(s, &scale)) return false;
    if (source_take(s, ":") && (source_skip(s, true), !source_int(s, &zero))) return false;
    return (VEC_PUSH(scales, scale) && VEC_PUSH(zeros, zero)) || source_no_memory(s);
}

/* The same in brackets within brackets, row-major. */
static bool listed(struct source *s, reals *scales, wholes *zeros)
{
    int depth = 0;
    do {
        while (source_take(s, "{"))
            if (++depth > MODEL_MAX_DEPTH)
                return source_fail(s, LX_E_LIMIT, "lists nest more than %d deep", depth);
        if (!scale_and_zero(s, scales, zeros)) return false;
        while (depth > 0 && source_take(s, "}")) depth--;
    } while (depth > 0 && source_want(s, ","));
    return !s->failed;
}

/* "1", or "{0:1, 1:16}": dimensions with the sizes of their blocks. */
static bool axes(struct source *s, struct model_quant *q)
{
    int64_t axis = 0, size = 1;
    bool list = source_take(s, "{");
    q->axis_count = 0;
    if (list && source_take(s, "}")) return true;
    do {
        source_skip(s, true);
        if (q->axis_count == MODEL_QUANT_AXES)
            return source_fail(s, LX_E_LIMIT, "blocks along more than %d dimensions", MODEL_QUANT_AXES);
        if (!source_int(s, &axis)) return false;
        if (list && (!source_want(s, ":") || (source_skip(s, true), !source_int(s, &size)))) return false;
        if (axis < 0 || axis >= MODEL_MAX_RANK || size < 1)
            return source_fail(s, LX_E_SHAPE, "no dimension or no block to have a scale");
        q->axis[q->axis_count] = (int)axis;
        q->block[q->axis_count++] = size;
    } while (list && source_take(s, ","));
    return !list || source_want(s, "}");
}

static bool keep(struct source *s, struct model_quant *q, const reals *scales, const wholes *zeros)
{
    q->count = (int)scales->count;
    q->scale = arena_copy_array(&s->m->memory, scales->at, scales->count, sizeof *scales->at);
    q->zero = arena_copy_array(&s->m->memory, zeros->at, zeros->count, sizeof *zeros->at);
    return (q->scale && q->zero) || source_no_memory(s);
}

/* "<i8<-127:127>:f32:1, {0.1, 0.2}>" */
static bool uniform(struct source *s, struct model_quant *q)
{
    reals scales = {0};
    wholes zeros = {0};
    bool ok = range(s, &q->low, &q->high) && source_want(s, ":") &&
              (q->stands_for = simple(s)) != MODEL_ELEMENT_COUNT && (!source_take(s, ":") || axes(s, q)) &&
              source_want(s, ",") && listed(s, &scales, &zeros) && keep(s, q, &scales, &zeros);
    VEC_FREE(&scales);
    VEC_FREE(&zeros);
    return ok;
}

static void full_range(struct model_quant *q, enum model_element stored)
{
    const struct model_element_row *row = model_element_row(stored);
    bool is_signed = row->number == MODEL_SIGNED;
    q->high = row->number == MODEL_FLOAT ? INFINITY : ldexp(1, row->bits - is_signed) - 1;
    q->low = row->number == MODEL_FLOAT ? -INFINITY : is_signed ? -q->high - 1 : 0;
}

enum model_element ttir_quantised(struct source *s, const struct model_quant **out)
{
    struct model_quant q = {.stands_for = MODEL_F32};
    bool scaled = source_take(s, "!quant.uniform"), any = !scaled && source_take(s, "!quant.any"),
         plain = !scaled && !any && source_take(s, "!quant.calibrated");
    double from, to;
    *out = NULL;
    if (!scaled && !any && !plain)
        return source_fail(
                   s, LX_E_UNKNOWN_KIND,
                   "a type of a dialect as element: write the file before such types are introduced, with "
                   "elements of MLIR's own or of !quant"),
               MODEL_ELEMENT_COUNT;
    enum model_element e = source_want(s, "<") ? simple(s) : MODEL_ELEMENT_COUNT;
    if (e == MODEL_ELEMENT_COUNT) return e;
    full_range(&q, e);
    bool ok = scaled ? uniform(s, &q)
                     : range(s, &from, &to) && (!source_take(s, ":") || simple(s) != MODEL_ELEMENT_COUNT);
    if (!ok || !source_want(s, ">")) return MODEL_ELEMENT_COUNT;
    struct model_quant *kept = plain ? NULL : arena_copy_array(&s->m->memory, &q, 1, sizeof q);
    if (!plain && !kept) return source_no_memory(s), MODEL_ELEMENT_COUNT;
    *out = kept;
    return e;
}
