/* Ways to damage a plan file: what is in the scratchpads, who is served by it, copies, splits, layouts and order. The
 * tree of its JSON is changed in one place, or in few that belong together; an act says whether it changed anything. */
#ifndef LX_TESTS_SUPPORT_PLAN_DAMAGE_H
#define LX_TESTS_SUPPORT_PLAN_DAMAGE_H

#include "base/rng.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct damage {
    cJSON *plan, *graph, *buffers, *tensors, *ops, *launches, *transfers, *bundles;
    struct rng *rng;
};

static inline int below(struct damage *d, int n)
{
    return n > 0 ? (int)rng_below(d->rng, (uint64_t)n) : 0;
}

static inline cJSON *any_of(struct damage *d, const cJSON *array)
{
    int n = cJSON_GetArraySize(array);
    return n > 0 ? cJSON_GetArrayItem(array, below(d, n)) : NULL;
}

/* Any element that has `key`, and if `word` is given has it there. */
static inline cJSON *any_with(struct damage *d, const cJSON *array, const char *key, const char *word)
{
    int n = cJSON_GetArraySize(array), from = below(d, n);
    for (int i = 0; i < n; i++) {
        cJSON *one = cJSON_GetArrayItem(array, (from + i) % n),
              *v = cJSON_GetObjectItemCaseSensitive(one, key);
        if (v && (!word || (cJSON_IsString(v) && strcmp(v->valuestring, word) == 0))) return one;
    }
    return NULL;
}

static inline double number_of(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    return v ? v->valuedouble : -1;
}

static inline bool set_number(cJSON *object, const char *key, double value)
{
    if (!object || number_of(object, key) == value) return false;
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    return cJSON_AddNumberToObject(object, key, value) != NULL;
}

static inline bool add_to(cJSON *object, const char *key, double by)
{
    return object && cJSON_HasObjectItem(object, key) && set_number(object, key, number_of(object, key) + by);
}

static inline bool remove_key(cJSON *object, const char *key)
{
    if (!object || !cJSON_HasObjectItem(object, key)) return false;
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    return true;
}

/* Gives the item back where there is no such array. */
static inline bool insert_at(cJSON *array, int n, cJSON *item)
{
    bool done = n < cJSON_GetArraySize(array) ? cJSON_InsertItemInArray(array, n, item)
                                              : array && cJSON_AddItemToArray(array, item);
    if (!done) cJSON_Delete(item);
    return done;
}

/* One number of a list, or of a row of it. */
static inline bool change_item(cJSON *list, int i, double by)
{
    cJSON *v = cJSON_GetArrayItem(list, i);
    if (!v || by == 0) return false;
    cJSON_SetNumberValue(v, v->valuedouble + by);
    return true;
}

static inline cJSON *placed(struct damage *d)
{
    return any_with(d, d->buffers, "address", NULL);
}

static inline double shift(struct damage *d, int most)
{
    int by = 1 + below(d, most);
    return below(d, 2) ? by : -by;
}

/* Buffers. */
static inline bool move_buffer(struct damage *d)
{
    return add_to(placed(d), "address", 128 * shift(d, 20));
}
static inline bool misalign(struct damage *d)
{
    return add_to(placed(d), "address", 1 + below(d, 127));
}
static inline bool beyond(struct damage *d)
{
    return add_to(placed(d), "address", 1 << 21);
}
static inline bool take_off(struct damage *d)
{
    return remove_key(placed(d), "address");
}
static inline bool grow(struct damage *d)
{
    return add_to(placed(d), "size", 128);
}
static inline bool shrink(struct damage *d)
{
    return add_to(placed(d), "size", -128);
}
static inline bool begin_later(struct damage *d)
{
    return add_to(placed(d), "start", 1 + below(d, 3));
}
static inline bool end_sooner(struct damage *d)
{
    return add_to(placed(d), "end", -1 - below(d, 3));
}
static inline bool no_handover(struct damage *d)
{
    return remove_key(any_with(d, d->buffers, "in_place_of", NULL), "in_place_of");
}
static inline bool swap_addresses(struct damage *d)
{
    cJSON *a = placed(d), *b = placed(d);
    if (!a || a == b) return false;
    double keep = number_of(a, "address");
    return set_number(a, "address", number_of(b, "address")) && set_number(b, "address", keep);
}
static inline bool same_address(struct damage *d)
{
    cJSON *a = placed(d), *b = placed(d);
    return a && a != b && set_number(a, "address", number_of(b, "address"));
}
static inline bool put_on(struct damage *d)
{
    cJSON *b = any_of(d, d->buffers);
    return b && !cJSON_HasObjectItem(b, "address") && set_number(b, "address", 128 * below(d, 64));
}
static inline bool other_life(struct damage *d)
{
    cJSON *b = placed(d);
    double by = 1 + below(d, 3);
    return add_to(b, "start", by) && add_to(b, "end", by);
}
static inline bool other_tensor(struct damage *d)
{
    return set_number(placed(d), "tensor", below(d, cJSON_GetArraySize(d->tensors)));
}
static inline bool other_view(struct damage *d)
{
    cJSON *b = placed(d);
    bool op = set_number(b, "view_op", below(d, cJSON_GetArraySize(d->ops)));
    return (set_number(b, "view_operand", below(d, 3)) || op) && b;
}
static inline bool forge_handover(struct damage *d)
{
    cJSON *a = placed(d), *b = placed(d);
    int n = 0;
    if (!a || a == b) return false;
    for (const cJSON *i = d->buffers->child; i && i != b; i = i->next) n++;
    if (below(d, 2)) set_number(a, "address", number_of(b, "address"));
    return set_number(a, "in_place_of", n);
}

/* Accesses. */
static inline cJSON *any_access(struct damage *d)
{
    return any_of(d, cJSON_GetObjectItem(any_of(d, d->ops), "accesses"));
}
static inline bool to_hbm(struct damage *d)
{
    cJSON *a = any_access(d), *v = cJSON_GetArrayItem(a, 0);
    if (!v || v->valueint < 0) return false;
    cJSON_SetNumberValue(v, -1);
    return true;
}
static inline bool to_buffer(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_access(d), 0);
    int to = below(d, cJSON_GetArraySize(d->buffers));
    if (!v || v->valueint == to) return false;
    cJSON_SetNumberValue(v, to);
    return true;
}
static inline bool flip_access(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_access(d), 1 + below(d, 2));
    if (!v) return false;
    cJSON_SetNumberValue(v, 1 - v->valueint);
    return true;
}
static inline bool forge_access(struct damage *d)
{
    return change_item(any_access(d), 3, 128);
}

/* Transfers. */
static inline bool drop(struct damage *d, const char *kind)
{
    cJSON *t = any_with(d, d->transfers, "kind", kind);
    if (!t) return false;
    cJSON_Delete(cJSON_DetachItemViaPointer(d->transfers, t));
    return true;
}
static inline bool drop_load(struct damage *d)
{
    return drop(d, "load");
}
static inline bool drop_store(struct damage *d)
{
    return drop(d, "store");
}
static inline bool drop_ring(struct damage *d)
{
    return drop(d, "ring");
}
static inline bool other_tick(struct damage *d)
{
    return set_number(any_of(d, d->transfers), "tick", below(d, cJSON_GetArraySize(d->ops)));
}
static inline bool other_buffer(struct damage *d)
{
    return set_number(any_of(d, d->transfers), "buffer", below(d, cJSON_GetArraySize(d->buffers)));
}
static inline bool other_source(struct damage *d)
{
    return set_number(any_with(d, d->transfers, "kind", "ring"), "from",
                      below(d, cJSON_GetArraySize(d->buffers)));
}
static inline bool other_kind(struct damage *d)
{
    cJSON *t = any_of(d, d->transfers);
    if (!t || cJSON_HasObjectItem(t, "from")) return false;
    bool load = strcmp(cJSON_GetObjectItem(t, "kind")->valuestring, "load") == 0;
    return cJSON_ReplaceItemInObject(t, "kind", cJSON_CreateString(load ? "store" : "load"));
}
static inline bool forge_copy(struct damage *d)
{
    return add_to(any_of(d, d->transfers), "bytes", 128);
}
static inline bool copy_twice(struct damage *d)
{
    cJSON *t = any_of(d, d->transfers);
    int n = 0;
    for (const cJSON *i = d->transfers->child; i && i != t; i = i->next) n++;
    return t && insert_at(d->transfers, n, cJSON_Duplicate(t, true));
}
static inline bool copy_of_nothing(struct damage *d)
{
    cJSON *t = cJSON_CreateObject();
    int n = 0, tick = below(d, cJSON_GetArraySize(d->ops));
    cJSON_AddStringToObject(t, "kind", below(d, 2) ? "load" : "store");
    cJSON_AddNumberToObject(t, "tick", tick);
    cJSON_AddNumberToObject(t, "buffer", below(d, cJSON_GetArraySize(d->buffers)));
    for (const cJSON *i = d->transfers->child; i && number_of(i, "tick") <= tick; i = i->next) n++;
    return insert_at(d->transfers, n, t);
}

/* Splits. */
static inline cJSON *any_split(struct damage *d)
{
    static const char *const keys[] = {"output_splits", "reduction_splits"};
    cJSON *o = any_with(d, d->ops, keys[below(d, 4) == 0], NULL);
    return any_of(d,
                  cJSON_GetObjectItem(o, cJSON_HasObjectItem(o, keys[0]) && below(d, 2) ? keys[0] : keys[1]));
}
static inline bool more_slices(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_split(d), 1);
    if (v) cJSON_SetNumberValue(v, v->valuedouble * 2);
    return v != NULL;
}
static inline bool odd_slices(struct damage *d)
{
    return change_item(any_split(d), 1, 1);
}
static inline bool other_variable(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_split(d), 0);
    if (v) cJSON_SetNumberValue(v, v->valuedouble == 1 ? 64 : 1);
    return v != NULL;
}
static inline bool no_split(struct damage *d)
{
    return remove_key(any_with(d, d->ops, "output_splits", NULL), "output_splits");
}

/* Layouts. */
static inline bool turn_sticks(struct damage *d)
{
    cJSON *o = cJSON_GetObjectItem(any_with(d, d->tensors, "order", NULL), "order");
    int n = cJSON_GetArraySize(o);
    if (n < 2) return false;
    double keep = cJSON_GetArrayItem(o, n - 1)->valuedouble;
    cJSON_SetNumberValue(cJSON_GetArrayItem(o, n - 1), cJSON_GetArrayItem(o, 0)->valuedouble);
    cJSON_SetNumberValue(cJSON_GetArrayItem(o, 0), keep);
    return true;
}
static inline bool other_padding(struct damage *d)
{
    cJSON *t = any_with(d, d->tensors, "extents", NULL), *e = cJSON_GetObjectItem(t, "extents");
    return e && change_item(e, below(d, cJSON_GetArraySize(e)), 64);
}
static inline bool other_stick(struct damage *d)
{
    return add_to(any_with(d, d->ops, "stick_var", NULL), "stick_var", below(d, 2) ? 1 : -1);
}

/* Order and operands. */
static inline void exchange(cJSON *a, cJSON *b)
{
    cJSON *keep = a->child;
    a->child = b->child;
    b->child = keep;
}
static inline bool swap_ops(struct damage *d)
{
    int n = cJSON_GetArraySize(d->ops), i = below(d, n - 1);
    if (n < 2) return false;
    exchange(cJSON_GetArrayItem(d->ops, i), cJSON_GetArrayItem(d->ops, i + 1));
    cJSON *a = cJSON_GetArrayItem(d->launches, i), *b = cJSON_GetArrayItem(d->launches, i + 1);
    exchange(a, b);
    return set_number(a, "op", i) && set_number(b, "op", i + 1);
}
static inline bool other_input(struct damage *d)
{
    cJSON *list = cJSON_GetObjectItem(any_with(d, d->ops, "inputs", NULL), "inputs");
    cJSON *v = any_of(d, list);
    int to = below(d, cJSON_GetArraySize(d->tensors));
    if (!v || v->valueint == to) return false;
    cJSON_SetNumberValue(v, to);
    return true;
}
static inline bool other_output(struct damage *d)
{
    return set_number(any_of(d, d->ops), "output", below(d, cJSON_GetArraySize(d->tensors)));
}
/* Of an op with several results. */
static inline bool swap_results(struct damage *d)
{
    cJSON *o = any_with(d, d->ops, "further_outputs", NULL);
    cJSON *one = any_of(d, cJSON_GetObjectItem(o, "further_outputs"));
    if (!one) return false;
    int first = (int)number_of(o, "output");
    set_number(o, "output", one->valueint);
    cJSON_SetNumberValue(one, first);
    return true;
}
static inline bool drop_result(struct damage *d)
{
    cJSON *list = cJSON_GetObjectItem(any_with(d, d->ops, "further_outputs", NULL), "further_outputs");
    if (!list) return false;
    cJSON_DeleteItemFromArray(list, below(d, cJSON_GetArraySize(list)));
    return true;
}
static inline bool result_twice(struct damage *d)
{
    cJSON *o = any_with(d, d->ops, "further_outputs", NULL),
          *list = cJSON_GetObjectItem(o, "further_outputs");
    return list && cJSON_AddItemToArray(list, cJSON_CreateNumber(number_of(o, "output")));
}
static inline bool other_result(struct damage *d)
{
    cJSON *o = any_with(d, d->ops, "further_outputs", NULL);
    cJSON *one = any_of(d, cJSON_GetObjectItem(o, "further_outputs"));
    int to = below(d, cJSON_GetArraySize(d->tensors));
    if (!one || one->valueint == to) return false;
    cJSON_SetNumberValue(one, to);
    return true;
}
/* The last two accesses of such an op are of results: each is served as the other. */
static inline bool swap_result_accesses(struct damage *d)
{
    cJSON *a = cJSON_GetObjectItem(any_with(d, d->ops, "further_outputs", NULL), "accesses");
    int n = cJSON_GetArraySize(a);
    if (n < 2) return false;
    exchange(cJSON_GetArrayItem(a, n - 2), cJSON_GetArrayItem(a, n - 1));
    return true;
}
static inline bool other_op(struct damage *d)
{
    cJSON *a = any_of(d, d->ops), *b = any_of(d, d->ops);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(b, "name"));
    if (!a || a == b || strcmp(name, cJSON_GetStringValue(cJSON_GetObjectItem(a, "name"))) == 0) return false;
    return cJSON_ReplaceItemInObject(a, "name", cJSON_CreateString(name));
}

#endif
