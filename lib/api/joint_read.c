/* Reads the question of lx_joint_solve. Every object refuses keys that it does not have. */
#include "api/joint_question.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/json.h"

#include <string.h>

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

static bool joint_read_parents(struct joint_reading *r, const struct json_value *v, struct joint_buffer *b)
{
    const struct json_value *array = NULL;
    if (!json_opt_array(r->j, v, "parents", &array, r->st)) return false;
    int32_t *parents = arena_array(&r->q->memory, (size_t)json_count(array), sizeof *parents);
    b->parents = parents;
    b->parent_count = json_count(array);
    return joint_read_numbers(r, array, "a parent", r->q->count - 1, parents);
}

static bool joint_read_pairs(struct joint_reading *r, const struct json_value *v, struct lx_term_reader *out)
{
    const struct json_value *array = NULL, *one;
    if (!json_array(r->j, v, "pairs", &array, r->st)) return false;
    struct lx_choice_pair *pairs = arena_array(&r->q->memory, (size_t)json_count(array), sizeof *pairs);
    json_for_each(one, array) {
        int32_t both[2];
        if (!json_is_array(one) || json_count(one) != 2)
            return json_error(r->j, one, r->st, LX_E_SCHEMA, "a pair is [own choice, reader's choice]");
        if (!joint_read_numbers(r, one, "a choice", LX_INT_MAX >> 24, both)) return false;
        pairs[out->pair_count++] = (struct lx_choice_pair){both[0], both[1]};
    }
    out->pairs = pairs;
    return true;
}

static bool read_readers(struct joint_reading *r, const struct json_value *v, struct joint_buffer *b)
{
    static const char *const keys[] = {"buffer", "pairs", NULL};
    const struct json_value *array = NULL, *one;
    if (!json_opt_array(r->j, v, "readers", &array, r->st)) return false;
    struct lx_term_reader *readers = arena_array(&r->q->memory, (size_t)json_count(array), sizeof *readers);
    json_for_each(one, array) {
        int64_t buffer;
        struct lx_term_reader *reader = &readers[b->reader_count++];
        if (!json_only_keys(r->j, one, "a reader", keys, r->st) ||
            !json_int(r->j, one, "buffer", 0, r->q->count - 1, &buffer, r->st) ||
            !joint_read_pairs(r, one, reader))
            return false;
        reader->buffer = (int32_t)buffer;
    }
    b->readers = readers;
    return true;
}

static bool joint_read_life(struct joint_reading *r, const struct json_value *v, struct joint_buffer *b)
{
    const struct json_value *live = NULL;
    if (!json_array(r->j, v, "live", &live, r->st)) return false;
    if (json_count(live) != 2)
        return json_error(r->j, live, r->st, LX_E_SCHEMA, "buffer %s: live is [start, end)", b->name);
    return json_int_value(r->j, json_item(live, 0), "start", 0, LX_INT_MAX >> 24, &b->start, r->st) &&
           json_int_value(r->j, json_item(live, 1), "end", b->start + 1, LX_INT_MAX >> 23, &b->end, r->st);
}

static bool joint_read_buffer(struct joint_reading *r, const struct json_value *v, struct joint_buffer *b)
{
    static const char *const keys[] = {"name",    "live",   "off",     "barred",  "first_use_is_read",
                                       "menu",    "seed",   "parents", "readers", "kept",
                                       "copy_of", "prices", NULL};
    int64_t seed = 0, copy_of = -1;
    if (!json_only_keys(r->j, v, "a buffer", keys, r->st) || !json_string(r->j, v, "name", &b->name, r->st) ||
        !joint_read_life(r, v, b) || !json_int(r->j, v, "off", 0, LX_INT_MAX, &b->off, r->st) ||
        !json_opt_string(r->j, v, "barred", &b->barred, r->st) ||
        !json_opt_bool(r->j, v, "first_use_is_read", &b->first_use_is_read, r->st) || !read_menu(r, v, b) ||
        !json_opt_int(r->j, v, "seed", 0, b->choice_count - 1, &seed, r->st) ||
        !joint_read_parents(r, v, b) || !read_readers(r, v, b) ||
        !json_opt_bool(r->j, v, "kept", &b->kept, r->st) ||
        !json_opt_int(r->j, v, "copy_of", 0, r->q->count - 1, &copy_of, r->st) ||
        !joint_read_prices(r->q, r->j, v, b, r->st))
        return false;
    b->seed = (int32_t)seed;
    b->copy_of = (int32_t)copy_of;
    r->q->has_copies |= copy_of >= 0;
    b->name = arena_string(&r->q->memory, b->name);
    if (b->barred) b->barred = arena_string(&r->q->memory, b->barred);
    return true;
}

/* --- What can be said only when all buffers are known. --- */

static bool check_copy(const struct joint_question *q, int32_t i, lx_status *st)
{
    const struct joint_buffer *b = &q->buffers[i];
    if (b->copy_of < 0 && b->prices)
        return status_set(st, LX_E_MODEL,
                          "buffer %s: prices are of copies; say of which buffer it is one, in copy_of",
                          b->name);
    if (b->copy_of == i || (b->copy_of >= 0 && q->buffers[b->copy_of].copy_of >= 0))
        return status_set(st, LX_E_MODEL, "buffer %s: it is a copy of what is a copy itself", b->name);
    for (int32_t k = 0; b->copy_of >= 0 && k < b->reader_count; k++)
        for (int32_t o = 0; o < k; o++)
            if (b->readers[k].buffer == b->readers[o].buffer)
                return status_set(st, LX_E_MODEL, "buffer %s: one reader twice; give it all pairs at once",
                                  b->name);
    return true;
}

static bool check_pairs(const struct joint_question *q, const struct joint_buffer *b, lx_status *st)
{
    int32_t own = q->buffers[b->copy_of >= 0 ? b->copy_of : b - q->buffers].choice_count;
    for (int32_t k = 0; k < b->reader_count; k++)
        for (int32_t i = 0; i < b->readers[k].pair_count; i++)
            if (b->readers[k].pairs[i].own >= own ||
                b->readers[k].pairs[i].theirs >= q->buffers[b->readers[k].buffer].choice_count)
                return status_set(st, LX_E_MODEL, "buffer %s: a pair names a choice that is on no menu",
                                  b->name);
    return true;
}

static bool joint_read_check_buffers(const struct joint_question *q, lx_status *st)
{
    for (int32_t i = 0; i < q->count; i++) {
        const struct joint_buffer *b = &q->buffers[i];
        if (!check_copy(q, i, st) || !check_pairs(q, b, st)) return false;
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
