/* Reads the terms of a joint question: tables over choices and bits, and what copies cost. */
#include "api/joint_question.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/json.h"

enum { MOST_ENTRIES = 1 << 16 };

#define MOST_COST 1e200

static bool read_costs(struct joint_question *q, const struct json *j, const struct json_value *array,
                       const double **out, lx_status *st)
{
    double *costs = arena_array(&q->memory, (size_t)json_count(array), sizeof *costs);
    const struct json_value *one;
    *out = costs;
    json_for_each(one, array) {
        if (!json_is_number(one) || !(one->number >= -MOST_COST && one->number <= MOST_COST))
            return json_error(j, one, st, LX_E_SCHEMA, "a cost is a number of at most 1e200");
        *costs++ = one->number;
    }
    return true;
}

/* How many there must be is only known with all buffers. */
bool joint_read_prices(struct joint_question *q, const struct json *j, const struct json_value *v,
                       struct joint_buffer *b, lx_status *st)
{
    const struct json_value *array = NULL;
    if (!json_opt_array(j, v, "prices", &array, st)) return false;
    b->price_count = json_count(array);
    return !array || read_costs(q, j, array, &b->prices, st);
}

static bool read_classes(struct joint_question *q, const struct json *j, const struct json_value *array,
                         struct lx_term_axis *out, lx_status *st)
{
    int32_t choices = q->buffers[out->buffer].choice_count, i = 0;
    int32_t *class_of = arena_array(&q->memory, (size_t)choices, sizeof *class_of);
    const struct json_value *one;
    if (array && json_count(array) != choices)
        return json_error(j, array, st, LX_E_MODEL, "buffer %s has %d choices: give each its class",
                          q->buffers[out->buffer].name, (int)choices);
    out->size = array ? 0 : choices;
    for (; !array && i < choices; i++) class_of[i] = i;
    json_for_each(one, array) {
        int64_t class;
        if (!json_int_value(j, one, "a class", 0, choices - 1, &class, st)) return false;
        class_of[i++] = (int32_t) class;
        out->size = (int32_t)max_i64(out->size, class + 1);
    }
    out->class_of = class_of;
    return true;
}

static bool read_axis(struct joint_question *q, const struct json *j, const struct json_value *v,
                      struct lx_term_axis *out, lx_status *st)
{
    static const char *const keys[] = {"buffer", "on", "classes", NULL};
    const struct json_value *classes = NULL;
    int64_t buffer;
    if (!json_only_keys(j, v, "an axis", keys, st) ||
        !json_int(j, v, "buffer", 0, q->count - 1, &buffer, st) ||
        !json_opt_bool(j, v, "on", &out->is_bit, st) || !json_opt_array(j, v, "classes", &classes, st))
        return false;
    out->buffer = (int32_t)buffer;
    out->size = 2;
    if (!out->is_bit) return read_classes(q, j, classes, out, st);
    return !classes ||
           json_error(j, classes, st, LX_E_SCHEMA, "an axis is of a bit or of choices, not of both");
}

static bool joint_read_terms_read_term(struct joint_question *q, const struct json *j,
                                       const struct json_value *v, struct lx_term *out, lx_status *st)
{
    static const char *const keys[] = {"axes", "values", NULL};
    const struct json_value *axes = NULL, *values = NULL, *one;
    int64_t entries = 1;
    if (!json_only_keys(j, v, "a term", keys, st) || !json_array(j, v, "axes", &axes, st) ||
        !json_array(j, v, "values", &values, st))
        return false;
    struct lx_term_axis *to = arena_array(&q->memory, (size_t)json_count(axes), sizeof *to);
    out->axes = to;
    json_for_each(one, axes) {
        if (!read_axis(q, j, one, &to[out->axis_count], st)) return false;
        entries = min_i64(entries * to[out->axis_count++].size, MOST_ENTRIES + 1);
    }
    if (entries > MOST_ENTRIES)
        return json_error(j, axes, st, LX_E_LIMIT,
                          "a term of more than %d entries; join classes, or add up smaller terms",
                          (int)MOST_ENTRIES);
    if (json_count(values) != entries)
        return json_error(j, values, st, LX_E_MODEL, "%d values for %lld entries", json_count(values),
                          (long long)entries);
    return read_costs(q, j, values, &out->values, st);
}

static bool joint_read_terms_check_prices(const struct joint_question *q, lx_status *st)
{
    for (int32_t i = 0; i < q->count; i++) {
        const struct joint_buffer *b = &q->buffers[i];
        if (b->prices && q->divisions_count)
            return status_set(st, LX_E_MODEL,
                              "buffer %s: prices add to the cost: ask for the objective \"cost\"", b->name);
        if (b->prices && b->price_count != q->buffers[b->copy_of].choice_count)
            return status_set(st, LX_E_MODEL, "buffer %s: give a price per choice of its source, %d in all",
                              b->name, (int)q->buffers[b->copy_of].choice_count);
    }
    return true;
}

bool joint_read_terms(struct joint_question *q, const struct json *j, const struct json_value *root,
                      lx_status *st)
{
    const struct json_value *array = NULL, *one;
    if (!joint_read_terms_check_prices(q, st) || !json_opt_array(j, root, "terms", &array, st)) return false;
    struct lx_term *terms = arena_array(&q->memory, (size_t)json_count(array), sizeof *terms);
    q->terms = terms;
    json_for_each(one, array)
        if (!joint_read_terms_read_term(q, j, one, &terms[q->term_count++], st)) return false;
    if (!q->divisions_count || !q->term_count) return true;
    return json_error(j, array, st, LX_E_MODEL, "terms add to the cost: ask for the objective \"cost\"");
}
