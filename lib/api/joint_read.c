/* Reads the question of lx_joint_solve: buffers, then terms (tables over choices and bits) and prices of
 * copies. Every object refuses keys that it does not have. */
#include "api/joint_question.h"
#include "base/json/json.h"

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

/* One axis of a term: the bit of a buffer, or its choices in classes. */
static bool joint_read_axis(struct joint_question *q, const struct json *j, const struct json_value *v,
                            struct lx_term_axis *out, lx_status *st)
{
    static const char *const keys[] = {"buffer", "on", "classes", NULL};
    const struct json_value *classes = NULL, *one;
    int64_t buffer, class;
    if (!json_only_keys(j, v, "an axis", keys, st) ||
        !json_int(j, v, "buffer", 0, q->count - 1, &buffer, st) ||
        !json_opt_bool(j, v, "on", &out->is_bit, st) || !json_opt_array(j, v, "classes", &classes, st))
        return false;
    out->buffer = (int32_t)buffer;
    out->size = 2;
    if (out->is_bit)
        return !classes ||
               json_error(j, classes, st, LX_E_SCHEMA, "an axis is of a bit or of choices, not of both");
    int32_t choices = q->buffers[buffer].choice_count, i = 0;
    int32_t *class_of = arena_array(&q->memory, (size_t)choices, sizeof *class_of);
    if (classes && json_count(classes) != choices)
        return json_error(j, classes, st, LX_E_MODEL, "buffer %s has %d choices: give each its class",
                          q->buffers[buffer].name, (int)choices);
    out->size = classes ? 0 : choices;
    for (; !classes && i < choices; i++) class_of[i] = i;
    json_for_each(one, classes) {
        if (!json_int_value(j, one, "a class", 0, choices - 1, &class, st)) return false;
        class_of[i++] = (int32_t) class;
        out->size = (int32_t)max_i64(out->size, class + 1);
    }
    out->class_of = class_of;
    return true;
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
        if (!joint_read_axis(q, j, one, &to[out->axis_count], st)) return false;
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

static bool joint_read_terms(struct joint_question *q, const struct json *j, const struct json_value *root,
                             lx_status *st)
{
    const struct json_value *array = NULL, *one;
    for (int32_t i = 0; i < q->count; i++) {
        const struct joint_buffer *b = &q->buffers[i];
        if (b->prices && q->divisions_count)
            return status_set(st, LX_E_MODEL,
                              "buffer %s: prices add to the cost: ask for the objective \"cost\"", b->name);
        if (b->prices && b->price_count != q->buffers[b->copy_of].choice_count)
            return status_set(st, LX_E_MODEL, "buffer %s: give a price per choice of its source, %d in all",
                              b->name, (int)q->buffers[b->copy_of].choice_count);
    }
    if (!json_opt_array(j, root, "terms", &array, st)) return false;
    struct lx_term *terms = arena_array(&q->memory, (size_t)json_count(array), sizeof *terms);
    q->terms = terms;
    json_for_each(one, array)
        if (!joint_read_terms_read_term(q, j, one, &terms[q->term_count++], st)) return false;
    if (!q->divisions_count || !q->term_count) return true;
    return json_error(j, array, st, LX_E_MODEL, "terms add to the cost: ask for the objective \"cost\"");
}

struct joint_reading {
    struct joint_question *q;
    const struct json *j;
    lx_status *st;
};

static bool read_menu(struct joint_reading *r, const struct json_value *v, struct joint_buffer *b)
{
    static const char *const keys[] = {"bytes", "cores", "squares", NULL};
    const struct json_value *array = NULL, *one;
    if (!json_array(r->j, v, "menu", &array, r->st)) return false;
    struct joint_choice *menu = arena_array(&r->q->memory, (size_t)json_count(array), sizeof *menu);
    json_for_each(one, array) {
        struct joint_choice *c = &menu[b->choice_count++];
        c->cores = c->squares = 1;
        if (!json_only_keys(r->j, one, "a choice", keys, r->st) ||
            !json_int(r->j, one, "bytes", 0, LX_INT_MAX, &c->bytes, r->st) ||
            !json_opt_int(r->j, one, "cores", 1, 1 << 20, &c->cores, r->st) ||
            !json_opt_int(r->j, one, "squares", 0, INT64_C(1) << 40, &c->squares, r->st))
            return false;
    }
    b->menu = menu;
    if (b->choice_count > 0) return true;
    return json_error(r->j, array, r->st, LX_E_MODEL, "buffer %s: a menu without a choice; give it one",
                      b->name);
}

static bool joint_read_numbers(struct joint_reading *r, const struct json_value *array, const char *what,
                               int64_t most, int32_t *out)
{
    const struct json_value *one;
    json_for_each(one, array) {
        int64_t n;
        if (!json_int_value(r->j, one, what, 0, most, &n, r->st)) return false;
        *out++ = (int32_t)n;
    }
    return true;
}

static bool read_readers(struct joint_reading *r, const struct json_value *v, struct joint_buffer *b)
{
    static const char *const keys[] = {"buffer", "pairs", NULL};
    const struct json_value *array = NULL, *list = NULL, *one, *pair;
    if (!json_opt_array(r->j, v, "readers", &array, r->st)) return false;
    struct lx_term_reader *readers = arena_array(&r->q->memory, (size_t)json_count(array), sizeof *readers);
    json_for_each(one, array) {
        int64_t buffer;
        struct lx_term_reader *reader = &readers[b->reader_count++];
        if (!json_only_keys(r->j, one, "a reader", keys, r->st) ||
            !json_int(r->j, one, "buffer", 0, r->q->count - 1, &buffer, r->st) ||
            !json_array(r->j, one, "pairs", &list, r->st))
            return false;
        struct lx_choice_pair *pairs = arena_array(&r->q->memory, (size_t)json_count(list), sizeof *pairs);
        json_for_each(pair, list) {
            int32_t both[2];
            if (!json_is_array(pair) || json_count(pair) != 2)
                return json_error(r->j, pair, r->st, LX_E_SCHEMA, "a pair is [own choice, reader's choice]");
            if (!joint_read_numbers(r, pair, "a choice", LX_INT_MAX >> 24, both)) return false;
            pairs[reader->pair_count++] = (struct lx_choice_pair){both[0], both[1]};
        }
        reader->pairs = pairs;
        reader->buffer = (int32_t)buffer;
    }
    b->readers = readers;
    return true;
}

static bool joint_read_buffer(struct joint_reading *r, const struct json_value *v, struct joint_buffer *b)
{
    static const char *const keys[] = {"name",    "live",   "off",     "barred",  "first_use_is_read",
                                       "menu",    "seed",   "parents", "readers", "kept",
                                       "copy_of", "prices", NULL};
    int64_t seed = 0, copy_of = -1;
    if (!json_only_keys(r->j, v, "a buffer", keys, r->st) || !json_string(r->j, v, "name", &b->name, r->st))
        return false;
    const struct json_value *live = NULL;
    if (!json_array(r->j, v, "live", &live, r->st)) return false;
    if (json_count(live) != 2)
        return json_error(r->j, live, r->st, LX_E_SCHEMA, "buffer %s: live is [start, end)", b->name);
    if (!json_int_value(r->j, json_item(live, 0), "start", 0, LX_INT_MAX >> 24, &b->start, r->st) ||
        !json_int_value(r->j, json_item(live, 1), "end", b->start + 1, LX_INT_MAX >> 23, &b->end, r->st))
        return false;
    if (!json_int(r->j, v, "off", 0, LX_INT_MAX, &b->off, r->st) ||
        !json_opt_string(r->j, v, "barred", &b->barred, r->st) ||
        !json_opt_bool(r->j, v, "first_use_is_read", &b->first_use_is_read, r->st) || !read_menu(r, v, b) ||
        !json_opt_int(r->j, v, "seed", 0, b->choice_count - 1, &seed, r->st))
        return false;
    const struct json_value *array = NULL, *prices = NULL;
    if (!json_opt_array(r->j, v, "parents", &array, r->st)) return false;
    int32_t *parents = arena_array(&r->q->memory, (size_t)json_count(array), sizeof *parents);
    b->parents = parents;
    b->parent_count = json_count(array);
    if (!joint_read_numbers(r, array, "a parent", r->q->count - 1, parents)) return false;
    if (!read_readers(r, v, b) || !json_opt_bool(r->j, v, "kept", &b->kept, r->st) ||
        !json_opt_int(r->j, v, "copy_of", 0, r->q->count - 1, &copy_of, r->st) ||
        !json_opt_array(r->j, v, "prices", &prices, r->st))
        return false;
    b->price_count = json_count(prices); /* checked against the choices once all buffers are read */
    if (prices && !read_costs(r->q, r->j, prices, &b->prices, r->st)) return false;
    b->seed = (int32_t)seed;
    b->copy_of = (int32_t)copy_of;
    r->q->has_copies |= copy_of >= 0;
    b->name = arena_string(&r->q->memory, b->name);
    if (b->barred) b->barred = arena_string(&r->q->memory, b->barred);
    return true;
}

/* --- Checks that need all buffers. --- */

static bool joint_read_check_buffers(const struct joint_question *q, lx_status *st)
{
    for (int32_t i = 0; i < q->count; i++) {
        const struct joint_buffer *b = &q->buffers[i];
        bool copy = b->copy_of >= 0;
        int32_t own = q->buffers[copy ? b->copy_of : i].choice_count;
        if (!copy && b->prices)
            return status_set(st, LX_E_MODEL,
                              "buffer %s: prices are of copies; say of which buffer it is one, in copy_of",
                              b->name);
        if (b->copy_of == i || (copy && q->buffers[b->copy_of].copy_of >= 0))
            return status_set(st, LX_E_MODEL, "buffer %s: it is a copy of what is a copy itself", b->name);
        for (int32_t k = 0; copy && k < b->reader_count; k++)
            for (int32_t o = 0; o < k; o++)
                if (b->readers[k].buffer == b->readers[o].buffer)
                    return status_set(st, LX_E_MODEL,
                                      "buffer %s: one reader twice; give it all pairs at once", b->name);
        for (int32_t k = 0; k < b->reader_count; k++)
            for (int32_t n = 0; n < b->readers[k].pair_count; n++)
                if (b->readers[k].pairs[n].own >= own ||
                    b->readers[k].pairs[n].theirs >= q->buffers[b->readers[k].buffer].choice_count)
                    return status_set(st, LX_E_MODEL, "buffer %s: a pair names a choice that is on no menu",
                                      b->name);
        for (int32_t k = 0; k < b->parent_count; k++)
            if (b->parents[k] == i)
                return status_set(st, LX_E_MODEL, "buffer %s cannot take its own place", b->name);
    }
    return true;
}

static bool read_question(struct joint_reading *r, const struct json_value *root)
{
    static const char *const keys[] = {"lxplan",    "kind",    "capacity", "alignment",
                                       "objective", "buffers", "terms",    NULL};
    const char *kind, *objective = "lexicographic";
    const struct json_value *buffers = NULL, *v;
    int64_t version;
    struct joint_question *q = r->q;
    q->alignment = 128;
    if (!json_only_keys(r->j, root, "a joint problem", keys, r->st) ||
        !json_int(r->j, root, "lxplan", 1, 1, &version, r->st) ||
        !json_string(r->j, root, "kind", &kind, r->st) ||
        !json_int(r->j, root, "capacity", 0, LX_INT_MAX, &q->capacity, r->st) ||
        !json_opt_int(r->j, root, "alignment", 1, LX_INT_MAX, &q->alignment, r->st) ||
        !json_opt_string(r->j, root, "objective", &objective, r->st) ||
        !json_array(r->j, root, "buffers", &buffers, r->st))
        return false;
    q->divisions_count = strcmp(objective, "lexicographic") == 0;
    if (strcmp(kind, "joint") != 0)
        return json_error(r->j, json_find(root, "kind"), r->st, LX_E_SCHEMA, "the kind must be \"joint\"");
    if (!q->divisions_count && strcmp(objective, "cost") != 0)
        return json_error(r->j, json_find(root, "objective"), r->st, LX_E_UNKNOWN_NAME,
                          "the objective is \"cost\" or \"lexicographic\"");
    q->count = json_count(buffers);
    q->buffers = arena_array(&q->memory, (size_t)q->count, sizeof *q->buffers);
    int32_t i = 0;
    json_for_each(v, buffers)
        if (!joint_read_buffer(r, v, &q->buffers[i++])) return false;
    return joint_read_check_buffers(q, r->st) && joint_read_terms(q, r->j, root, r->st);
}

bool joint_read(struct joint_question *q, const char *text, size_t length, lx_status *st)
{
    struct json j;
    struct joint_reading r = {q, &j, st};
    *q = (struct joint_question){0};
    if (!json_parse(&j, "", text, length, st)) return false;
    bool ok = read_question(&r, j.root);
    json_free(&j);
    return ok;
}
