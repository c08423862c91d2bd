/* Parameters of ops, one row a key: the same row reads it, writes it, copies it and compares it. Lists have
 * at most LX_MAX_RANK entries. A kind takes what `taken` says, and needs what stands there first. */
#include "graph/op_params.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"

#include <stddef.h>
#include <string.h>

enum param_type { PARAM_INT, PARAM_INTS, PARAM_NUMBER, PARAM_FLAG, PARAM_COMBINE };

struct param_row {
    const char *key;
    enum param_type type;
    int64_t low; /* of integers: the least */
    size_t offset, count_offset;
};

#define ROW(member, type, low)                                                                               \
    {                                                                                                        \
#member, type, low, offsetof(struct lx_op_params, member), 0                                         \
    }
#define LIST(member, count, low)                                                                             \
    {                                                                                                        \
#member, PARAM_INTS, low, offsetof(struct lx_op_params, member),                                     \
            offsetof(struct lx_op_params, count)                                                             \
    }
/* In the order of enum op_param. */
static const struct param_row rows[OP_PARAM_COUNT] = {
    ROW(axis, PARAM_INT, 0),           LIST(axes, axis_count, 0),
    LIST(low, low_count, -LX_INT_MAX), LIST(high, high_count, -LX_INT_MAX),
    LIST(interior, interior_count, 0), ROW(start, PARAM_NUMBER, 0),
    ROW(step, PARAM_NUMBER, 0),        ROW(k, PARAM_INT, 1),
    ROW(descending, PARAM_FLAG, 0),    ROW(exclusive, PARAM_FLAG, 0),
    ROW(reverse, PARAM_FLAG, 0),       ROW(combine, PARAM_COMBINE, 0),
    LIST(group, group_count, 0),
};
#undef ROW
#undef LIST

/* What a kind cannot do without, and what it takes besides. */
static const struct {
    unsigned needs, takes;
} taken[LX_KIND_COUNT] = {
    [LX_KIND_CONCAT] = {OP_PARAM_AXIS, 0},
    [LX_KIND_PAD] = {0, OP_PARAM_LOW | OP_PARAM_HIGH | OP_PARAM_INTERIOR},
    [LX_KIND_GATHER] = {0, OP_PARAM_AXIS | OP_PARAM_AXES},
    [LX_KIND_DYNAMIC_SLICE] = {0, OP_PARAM_AXIS | OP_PARAM_AXES | OP_PARAM_LOW},
    [LX_KIND_DYNAMIC_INSERT] = {0, OP_PARAM_AXIS | OP_PARAM_AXES | OP_PARAM_LOW},
    [LX_KIND_TOPK] = {OP_PARAM_AXIS | OP_PARAM_K, 0},
    [LX_KIND_TOPK_INDEX] = {OP_PARAM_AXIS | OP_PARAM_K, 0},
    [LX_KIND_SORT] = {OP_PARAM_AXIS, OP_PARAM_DESCENDING},
    [LX_KIND_SORT_INDEX] = {OP_PARAM_AXIS, OP_PARAM_DESCENDING},
    [LX_KIND_SCATTER] = {0, OP_PARAM_AXIS | OP_PARAM_AXES | OP_PARAM_COMBINE},
    [LX_KIND_SCAN] = {OP_PARAM_AXIS, OP_PARAM_EXCLUSIVE | OP_PARAM_REVERSE},
    [LX_KIND_IOTA] = {0, OP_PARAM_AXIS | OP_PARAM_START | OP_PARAM_STEP},
    [LX_KIND_ALL_REDUCE] = {0, OP_PARAM_GROUP | OP_PARAM_COMBINE},
    [LX_KIND_ALL_GATHER] = {0, OP_PARAM_GROUP | OP_PARAM_AXIS},
    [LX_KIND_REDUCE_SCATTER] = {0, OP_PARAM_GROUP | OP_PARAM_AXIS | OP_PARAM_COMBINE},
    [LX_KIND_ALL_TO_ALL] = {0, OP_PARAM_GROUP | OP_PARAM_AXES},
    [LX_KIND_DEVICE_PERMUTE] = {0, OP_PARAM_GROUP | OP_PARAM_K | OP_PARAM_EXCLUSIVE},
    [LX_KIND_DEVICE_ID] = {0, OP_PARAM_GROUP},
    [LX_KIND_DEVICE_PART] = {0, OP_PARAM_GROUP | OP_PARAM_AXIS},
};

static const char *const combines[LX_COMBINE_COUNT] = {[LX_COMBINE_REPLACE] = "replace",
                                                       [LX_COMBINE_ADD] = "add",
                                                       [LX_COMBINE_MUL] = "mul",
                                                       [LX_COMBINE_MIN] = "min",
                                                       [LX_COMBINE_MAX] = "max"};

const char *lx_combine_word(enum lx_combine c)
{
    return (unsigned)c < LX_COMBINE_COUNT ? combines[c] : "unknown";
}

const char *op_param_key(int row)
{
    return rows[row].key;
}

struct lx_op_params op_params_none(void)
{
    return (struct lx_op_params){.axis = -1, .step = 1};
}

static void *op_params_member(struct lx_op_params *p, size_t offset)
{
    return (char *)p + offset;
}

static const void *op_params_member_of(const struct lx_op_params *p, size_t offset)
{
    return (const char *)p + offset;
}

static const int64_t *op_params_list_of(const struct lx_op_params *p, const struct param_row *r, int *count)
{
    *count = *(const int *)op_params_member_of(p, r->count_offset);
    return *(const int64_t *const *)op_params_member_of(p, r->offset);
}

static void set_list(struct lx_op_params *p, const struct param_row *r, const int64_t *at, int count)
{
    *(const int64_t **)op_params_member(p, r->offset) = at;
    *(int *)op_params_member(p, r->count_offset) = count;
}

static bool op_params_read_row(const struct json *j, const struct json_value *object,
                               const struct param_row *r, struct arena *memory, struct lx_op_params *p,
                               lx_status *st)
{
    void *to = op_params_member(p, r->offset);
    switch (r->type) {
    case PARAM_INT:
        return json_int(j, object, r->key, r->low, LX_INT_MAX, to, st);
    case PARAM_INTS: {
        const struct json_value *array = NULL, *v;
        if (!json_array(j, object, r->key, &array, st)) return false;
        int n = json_count(array), i = 0;
        if (n > LX_MAX_RANK)
            return json_error(j, array, st, LX_E_LIMIT, "%d entries here; at most %d are allowed", n,
                              LX_MAX_RANK);
        int64_t *at = arena_array(memory, (size_t)n, sizeof *at);
        json_for_each(v, array)
            if (!json_int_value(j, v, r->key, r->low, LX_INT_MAX, &at[i++], st)) return false;
        set_list(p, r, at, n);
        return true;
    }
    case PARAM_NUMBER:
        return json_opt_number(j, object, r->key, -1e300, 1e300, to, st);
    case PARAM_FLAG:
        return json_opt_bool(j, object, r->key, to, st);
    case PARAM_COMBINE: {
        enum lx_combine *out = to;
        const char *word = NULL;
        if (!json_string(j, object, r->key, &word, st)) return false;
        for (int i = 0; i < LX_COMBINE_COUNT; i++)
            if (strcmp(combines[i], word) == 0) return *out = (enum lx_combine)i, true;
        return json_error(j, json_find(object, r->key), st, LX_E_UNKNOWN_KIND,
                          "unknown combine \"%s\"; known: replace, add, mul, min, max", word);
    }
    }
    return true;
}

bool op_params_read(const struct json *j, const struct json_value *object, const char *op,
                    const struct lx_kind *kind, struct arena *memory, const struct lx_op_params **out,
                    lx_status *st)
{
    struct lx_op_params p = op_params_none();
    unsigned given = 0, known = taken[kind->id].needs | taken[kind->id].takes;
    for (int i = 0; i < OP_PARAM_COUNT; i++) {
        const struct json_value *v = json_find(object, rows[i].key);
        if (!v && taken[kind->id].needs >> i & 1)
            return json_error(j, object, st, LX_E_SCHEMA, "op %s: %s needs \"%s\"; add it", op, kind->name,
                              rows[i].key);
        if (!v) continue;
        if (!(known >> i & 1))
            return json_key_error(j, v, st, LX_E_SCHEMA, "op %s: %s takes no \"%s\"; remove it", op,
                                  kind->name, rows[i].key);
        if (!op_params_read_row(j, object, &rows[i], memory, &p, st)) return false;
        given |= 1u << i;
    }
    if (!given) return true;
    *out = arena_copy_array(memory, &p, 1, sizeof p);
    return true;
}

static bool same_row(const struct param_row *r, const struct lx_op_params *a, const struct lx_op_params *b)
{
    const void *x = op_params_member_of(a, r->offset), *y = op_params_member_of(b, r->offset);
    int n, m;
    switch (r->type) {
    case PARAM_INT:
        return *(const int64_t *)x == *(const int64_t *)y;
    case PARAM_INTS:
        x = op_params_list_of(a, r, &n), y = op_params_list_of(b, r, &m);
        return n == m && !x == !y && (n == 0 || memcmp(x, y, (size_t)n * sizeof(int64_t)) == 0);
    case PARAM_NUMBER:
        return !(*(const double *)x != *(const double *)y);
    case PARAM_FLAG:
        return *(const bool *)x == *(const bool *)y;
    case PARAM_COMBINE:
        return *(const enum lx_combine *)x == *(const enum lx_combine *)y;
    }
    return true;
}

bool op_params_equal(const struct lx_op_params *a, const struct lx_op_params *b)
{
    struct lx_op_params none = op_params_none();
    if (!a) a = &none;
    if (!b) b = &none;
    bool same = true;
    for (int i = 0; i < OP_PARAM_COUNT && same; i++) same = same_row(&rows[i], a, b);
    return same;
}

static void write_row(const struct param_row *r, const struct lx_op_params *p, struct text *t)
{
    const void *at = op_params_member_of(p, r->offset);
    int n;
    if (r->type == PARAM_INTS) {
        const int64_t *list = op_params_list_of(p, r, &n);
        text_json_ints(t, r->key, list, n);
        return;
    }
    text_format(t, ", \"%s\": ", r->key);
    if (r->type == PARAM_INT) text_int(t, *(const int64_t *)at);
    if (r->type == PARAM_NUMBER) text_json_number(t, *(const double *)at);
    if (r->type == PARAM_FLAG) text_add(t, *(const bool *)at ? "true" : "false");
    if (r->type == PARAM_COMBINE) text_format(t, "\"%s\"", lx_combine_word(*(const enum lx_combine *)at));
}

void op_params_write(const struct lx_op_params *p, struct text *t)
{
    const struct lx_op_params none = op_params_none();
    for (int i = 0; p && i < OP_PARAM_COUNT; i++)
        if (!same_row(&rows[i], p, &none)) write_row(&rows[i], p, t);
}

const struct lx_op_params *op_params_copy(struct arena *memory, const struct lx_op_params *p)
{
    struct lx_op_params *copy = p ? arena_copy_array(memory, p, 1, sizeof *p) : NULL;
    for (int i = 0; copy && i < OP_PARAM_COUNT; i++) {
        int n;
        if (rows[i].type != PARAM_INTS) continue;
        const int64_t *list = op_params_list_of(p, &rows[i], &n);
        if (list) list = arena_copy_array(memory, list, (size_t)n, sizeof *list);
        if (n > 0 && !list) return NULL;
        set_list(copy, &rows[i], list, n);
    }
    return copy;
}

static uint64_t hash_row(uint64_t h, const struct param_row *r, const struct lx_op_params *p)
{
    static const size_t sizes[] = {[PARAM_INT] = sizeof(int64_t),
                                   [PARAM_NUMBER] = sizeof(double),
                                   [PARAM_FLAG] = sizeof(bool),
                                   [PARAM_COMBINE] = sizeof(enum lx_combine)};
    int n;
    if (r->type != PARAM_INTS) return hash_bytes(h, op_params_member_of(p, r->offset), sizes[r->type]);
    const int64_t *list = op_params_list_of(p, r, &n);
    h = hash_bytes(h, &n, sizeof n);
    return n ? hash_bytes(h, list, (size_t)n * sizeof *list) : h;
}

uint64_t op_params_hash(uint64_t h, const struct lx_op_params *p)
{
    for (int i = 0; p && i < OP_PARAM_COUNT; i++) h = hash_row(h, &rows[i], p);
    return h;
}
