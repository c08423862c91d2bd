/* What ops of pattern files have besides operands and index strings: hints, windows, and whether the result
 * is an input. */
#include "files/pattern_list.h"
#include "base/fail.h"
#include "base/checked.h"

static bool pattern_features_is_letter(const char *s)
{
    return ((s[0] >= 'a' && s[0] <= 'z') || (s[0] >= 'A' && s[0] <= 'Z')) && s[1] == 0;
}

/* "hints": {"m": 8, "n": 4}, in the order in which they are to be met. */
bool read_hints(struct reader *r, const struct json_value *v, struct lx_op *op)
{
    const struct json_value *object = json_find(v, "hints"), *item;
    if (!object) return true;
    if (!json_is_object(object))
        return json_error(r->j, object, r->st, LX_E_SCHEMA,
                          "op %s: hints must be an object of splits, such as {\"m\": 8}", op->name);
    struct lx_split_hint *hints = arena_array(r->b.memory, (size_t)json_count(object), sizeof *hints);
    json_for_each(item, object) {
        struct lx_split_hint *h = &hints[op->hint_count];
        if (!pattern_features_is_letter(item->key))
            return json_error(
                r->j, item, r->st, LX_E_HINT,
                "op %s: a hint names a dimension by its letter, not \"%s\"; without an einsum the "
                "dimensions are a, b, c, ...",
                op->name, item->key);
        if (!json_int_value(r->j, item, "a split", 1, LX_MAX_ITEMS, &h->split, r->st)) return false;
        h->letter = item->key[0];
        op->hint_count++;
    }
    op->hints = hints;
    return true;
}

static bool read_letter(struct reader *r, const struct json_value *v, const char *key, signed char *out)
{
    const char *letter = NULL;
    if (!json_string(r->j, v, key, &letter, r->st)) return false;
    if (!pattern_features_is_letter(letter))
        return json_error(r->j, json_find(v, key), r->st, LX_E_EINSUM,
                          "\"%s\" of a window is a letter of the index string, not \"%s\"", key, letter);
    *out = (signed char)letter[0];
    return true;
}

static bool read_window(struct reader *r, const struct json_value *v, struct lx_window *w)
{
    static const char *const keys[] = {"in",       "out", "tap",  "size",      "stride",
                                       "dilation", "pad", "hole", "count_all", NULL};
    *w = (struct lx_window){.stride = 1, .dilation = 1, .hole = 1};
    const struct json_value *all = json_find(v, "count_all");
    if (!json_only_keys(r->j, v, "a window", keys, r->st) || !read_letter(r, v, "in", &w->in) ||
        !read_letter(r, v, "out", &w->out) || !read_letter(r, v, "tap", &w->tap) ||
        !json_opt_int(r->j, v, "size", 1, LX_INT_MAX, &w->size, r->st) ||
        !json_opt_int(r->j, v, "stride", 1, LX_INT_MAX, &w->stride, r->st) ||
        !json_opt_int(r->j, v, "dilation", -LX_INT_MAX, LX_INT_MAX, &w->dilation, r->st) ||
        !json_opt_int(r->j, v, "pad", -LX_INT_MAX, LX_INT_MAX, &w->pad, r->st) ||
        !json_opt_int(r->j, v, "hole", 1, LX_INT_MAX, &w->hole, r->st))
        return false;
    if (all && !json_is_bool(all))
        return json_error(r->j, all, r->st, LX_E_SCHEMA, "\"count_all\" is true or false");
    w->count_all = json_is_true(all);
    return true;
}

/* "windows": [{"in": "h", "out": "p", "tap": "k", "stride": 2, "pad": 1}, ...] */
bool read_windows(struct reader *r, const struct json_value *v, struct lx_op *op)
{
    const struct json_value *list = NULL, *item;
    if (!json_opt_array(r->j, v, "windows", &list, r->st)) return false;
    if (!list) return true;
    int count = json_count(list);
    if (count < 1 || count > LX_MAX_RANK)
        return json_error(r->j, list, r->st, LX_E_LIMIT, "op %s has %d windows; 1 to %d are allowed",
                          op->name, count, LX_MAX_RANK);
    struct lx_window *w = arena_array(r->b.memory, (size_t)count, sizeof *w);
    json_for_each(item, list)
        if (!read_window(r, item, &w[op->window_count++])) return false;
    op->windows = w;
    return true;
}

/* "inplace": the number of the input whose storage the result is. */
bool read_inplace(struct reader *r, const struct json_value *v, struct lx_op *op)
{
    int64_t inplace = -1;
    const struct json_value *given = json_find(v, "inplace");
    op->inplace = -1;
    if (!given) return true;
    if (!(op->kind->traits & LX_ALTERS))
        return json_key_error(r->j, given, r->st, LX_E_SCHEMA,
                              "op %s: the kind %s makes a result of its own; remove \"inplace\"", op->name,
                              op->kind->name);
    if (!json_int(r->j, v, "inplace", 0, op->input_count - 1, &inplace, r->st)) return false;
    op->inplace = (int)inplace;
    return true;
}
