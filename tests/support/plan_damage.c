#include "support/plan_damage.h"

int damage_below(struct damage *d, int n)
{
    return n > 0 ? (int)rng_below(d->rng, (uint64_t)n) : 0;
}

cJSON *any_of(struct damage *d, const cJSON *array)
{
    int n = cJSON_GetArraySize(array);
    return n > 0 ? cJSON_GetArrayItem(array, damage_below(d, n)) : NULL;
}

cJSON *any_with(struct damage *d, const cJSON *array, const char *key, const char *word)
{
    int n = cJSON_GetArraySize(array), from = damage_below(d, n);
    for (int i = 0; i < n; i++) {
        cJSON *one = cJSON_GetArrayItem(array, (from + i) % n),
              *v = cJSON_GetObjectItemCaseSensitive(one, key);
        if (v && (!word || (cJSON_IsString(v) && strcmp(v->valuestring, word) == 0))) return one;
    }
    return NULL;
}

double number_of(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    return v ? v->valuedouble : -1;
}

bool set_number(cJSON *object, const char *key, double value)
{
    if (!object || number_of(object, key) == value) return false;
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    return cJSON_AddNumberToObject(object, key, value) != NULL;
}

bool add_to(cJSON *object, const char *key, double by)
{
    return object && cJSON_HasObjectItem(object, key) && set_number(object, key, number_of(object, key) + by);
}

bool remove_key(cJSON *object, const char *key)
{
    if (!object || !cJSON_HasObjectItem(object, key)) return false;
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    return true;
}

bool insert_at(cJSON *array, int n, cJSON *item)
{
    bool done = n < cJSON_GetArraySize(array) ? cJSON_InsertItemInArray(array, n, item)
                                              : array && cJSON_AddItemToArray(array, item);
    if (!done) cJSON_Delete(item);
    return done;
}

bool change_item(cJSON *list, int i, double by)
{
    cJSON *v = cJSON_GetArrayItem(list, i);
    if (!v || by == 0) return false;
    cJSON_SetNumberValue(v, v->valuedouble + by);
    return true;
}

cJSON *damage_placed(struct damage *d)
{
    return any_with(d, d->buffers, "address", NULL);
}

double damage_shift(struct damage *d, int most)
{
    int by = 1 + damage_below(d, most);
    return damage_below(d, 2) ? by : -by;
}

/* Buffers. */
bool move_buffer(struct damage *d)
{
    return add_to(damage_placed(d), "address", 128 * damage_shift(d, 20));
}

bool misalign(struct damage *d)
{
    return add_to(damage_placed(d), "address", 1 + damage_below(d, 127));
}

bool beyond(struct damage *d)
{
    return add_to(damage_placed(d), "address", 1 << 21);
}

bool take_off(struct damage *d)
{
    return remove_key(damage_placed(d), "address");
}

bool grow(struct damage *d)
{
    return add_to(damage_placed(d), "size", 128);
}

bool shrink(struct damage *d)
{
    return add_to(damage_placed(d), "size", -128);
}

bool begin_later(struct damage *d)
{
    return add_to(damage_placed(d), "start", 1 + damage_below(d, 3));
}

bool end_sooner(struct damage *d)
{
    return add_to(damage_placed(d), "end", -1 - damage_below(d, 3));
}

bool no_handover(struct damage *d)
{
    return remove_key(any_with(d, d->buffers, "in_place_of", NULL), "in_place_of");
}

bool swap_addresses(struct damage *d)
{
    cJSON *a = damage_placed(d), *b = damage_placed(d);
    if (!a || a == b) return false;
    double keep = number_of(a, "address");
    return set_number(a, "address", number_of(b, "address")) && set_number(b, "address", keep);
}

bool same_address(struct damage *d)
{
    cJSON *a = damage_placed(d), *b = damage_placed(d);
    return a && a != b && set_number(a, "address", number_of(b, "address"));
}

bool put_on(struct damage *d)
{
    cJSON *b = any_of(d, d->buffers);
    return b && !cJSON_HasObjectItem(b, "address") && set_number(b, "address", 128 * damage_below(d, 64));
}

bool other_life(struct damage *d)
{
    cJSON *b = damage_placed(d);
    double by = 1 + damage_below(d, 3);
    return add_to(b, "start", by) && add_to(b, "end", by);
}

bool other_tensor(struct damage *d)
{
    return set_number(damage_placed(d), "tensor", damage_below(d, cJSON_GetArraySize(d->tensors)));
}

bool other_view(struct damage *d)
{
    cJSON *b = damage_placed(d);
    bool op = set_number(b, "view_op", damage_below(d, cJSON_GetArraySize(d->ops)));
    return (set_number(b, "view_operand", damage_below(d, 3)) || op) && b;
}

bool forge_handover(struct damage *d)
{
    cJSON *a = damage_placed(d), *b = damage_placed(d);
    int n = 0;
    if (!a || a == b) return false;
    for (const cJSON *i = d->buffers->child; i && i != b; i = i->next) n++;
    if (damage_below(d, 2)) set_number(a, "address", number_of(b, "address"));
    return set_number(a, "in_place_of", n);
}

cJSON *any_access(struct damage *d)
{
    return any_of(d, cJSON_GetObjectItem(any_of(d, d->ops), "accesses"));
}

bool to_hbm(struct damage *d)
{
    cJSON *a = any_access(d), *v = cJSON_GetArrayItem(a, 0);
    if (!v || v->valueint < 0) return false;
    cJSON_SetNumberValue(v, -1);
    return true;
}

bool to_buffer(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_access(d), 0);
    int to = damage_below(d, cJSON_GetArraySize(d->buffers));
    if (!v || v->valueint == to) return false;
    cJSON_SetNumberValue(v, to);
    return true;
}

bool flip_access(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_access(d), 1 + damage_below(d, 2));
    if (!v) return false;
    cJSON_SetNumberValue(v, 1 - v->valueint);
    return true;
}

bool forge_access(struct damage *d)
{
    return change_item(any_access(d), 3, 128);
}

/* Transfers. */
static bool drop(struct damage *d, const char *kind)
{
    cJSON *t = any_with(d, d->transfers, "kind", kind);
    if (!t) return false;
    cJSON_Delete(cJSON_DetachItemViaPointer(d->transfers, t));
    return true;
}

bool drop_load(struct damage *d)
{
    return drop(d, "load");
}

bool drop_store(struct damage *d)
{
    return drop(d, "store");
}

bool drop_ring(struct damage *d)
{
    return drop(d, "ring");
}

bool other_tick(struct damage *d)
{
    return set_number(any_of(d, d->transfers), "tick", damage_below(d, cJSON_GetArraySize(d->ops)));
}

bool other_buffer(struct damage *d)
{
    return set_number(any_of(d, d->transfers), "buffer", damage_below(d, cJSON_GetArraySize(d->buffers)));
}

bool other_source(struct damage *d)
{
    return set_number(any_with(d, d->transfers, "kind", "ring"), "from",
                      damage_below(d, cJSON_GetArraySize(d->buffers)));
}

bool other_kind(struct damage *d)
{
    cJSON *t = any_of(d, d->transfers);
    if (!t || cJSON_HasObjectItem(t, "from")) return false;
    bool load = strcmp(cJSON_GetObjectItem(t, "kind")->valuestring, "load") == 0;
    return cJSON_ReplaceItemInObject(t, "kind", cJSON_CreateString(load ? "store" : "load"));
}

bool forge_copy(struct damage *d)
{
    return add_to(any_of(d, d->transfers), "bytes", 128);
}

bool copy_twice(struct damage *d)
{
    cJSON *t = any_of(d, d->transfers);
    int n = 0;
    for (const cJSON *i = d->transfers->child; i && i != t; i = i->next) n++;
    return t && insert_at(d->transfers, n, cJSON_Duplicate(t, true));
}

bool copy_of_nothing(struct damage *d)
{
    cJSON *t = cJSON_CreateObject();
    int n = 0, tick = damage_below(d, cJSON_GetArraySize(d->ops));
    cJSON_AddStringToObject(t, "kind", damage_below(d, 2) ? "load" : "store");
    cJSON_AddNumberToObject(t, "tick", tick);
    cJSON_AddNumberToObject(t, "buffer", damage_below(d, cJSON_GetArraySize(d->buffers)));
    for (const cJSON *i = d->transfers->child; i && number_of(i, "tick") <= tick; i = i->next) n++;
    return insert_at(d->transfers, n, t);
}

/* Splits. */
static cJSON *any_split(struct damage *d)
{
    static const char *const keys[] = {"output_splits", "reduction_splits"};
    cJSON *o = any_with(d, d->ops, keys[damage_below(d, 4) == 0], NULL);
    return any_of(
        d, cJSON_GetObjectItem(o, cJSON_HasObjectItem(o, keys[0]) && damage_below(d, 2) ? keys[0] : keys[1]));
}

bool more_slices(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_split(d), 1);
    if (v) cJSON_SetNumberValue(v, v->valuedouble * 2);
    return v != NULL;
}

bool odd_slices(struct damage *d)
{
    return change_item(any_split(d), 1, 1);
}

bool other_variable(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_split(d), 0);
    if (v) cJSON_SetNumberValue(v, v->valuedouble == 1 ? 64 : 1);
    return v != NULL;
}

bool no_split(struct damage *d)
{
    return remove_key(any_with(d, d->ops, "output_splits", NULL), "output_splits");
}

/* Layouts. */
bool turn_sticks(struct damage *d)
{
    cJSON *o = cJSON_GetObjectItem(any_with(d, d->tensors, "order", NULL), "order");
    int n = cJSON_GetArraySize(o);
    if (n < 2) return false;
    double keep = cJSON_GetArrayItem(o, n - 1)->valuedouble;
    cJSON_SetNumberValue(cJSON_GetArrayItem(o, n - 1), cJSON_GetArrayItem(o, 0)->valuedouble);
    cJSON_SetNumberValue(cJSON_GetArrayItem(o, 0), keep);
    return true;
}

bool other_padding(struct damage *d)
{
    cJSON *t = any_with(d, d->tensors, "extents", NULL), *e = cJSON_GetObjectItem(t, "extents");
    return e && change_item(e, damage_below(d, cJSON_GetArraySize(e)), 64);
}

bool other_stick(struct damage *d)
{
    return add_to(any_with(d, d->ops, "stick_var", NULL), "stick_var", damage_below(d, 2) ? 1 : -1);
}

/* Order and operands. */
static void exchange(cJSON *a, cJSON *b)
{
    cJSON *keep = a->child;
    a->child = b->child;
    b->child = keep;
}

bool swap_ops(struct damage *d)
{
    int n = cJSON_GetArraySize(d->ops), i = damage_below(d, n - 1);
    if (n < 2) return false;
    exchange(cJSON_GetArrayItem(d->ops, i), cJSON_GetArrayItem(d->ops, i + 1));
    cJSON *a = cJSON_GetArrayItem(d->launches, i), *b = cJSON_GetArrayItem(d->launches, i + 1);
    exchange(a, b);
    return set_number(a, "op", i) && set_number(b, "op", i + 1);
}

bool other_input(struct damage *d)
{
    cJSON *list = cJSON_GetObjectItem(any_with(d, d->ops, "inputs", NULL), "inputs");
    cJSON *v = any_of(d, list);
    int to = damage_below(d, cJSON_GetArraySize(d->tensors));
    if (!v || v->valueint == to) return false;
    cJSON_SetNumberValue(v, to);
    return true;
}

bool other_output(struct damage *d)
{
    return set_number(any_of(d, d->ops), "output", damage_below(d, cJSON_GetArraySize(d->tensors)));
}

/* Of an op with several results. */
bool swap_results(struct damage *d)
{
    cJSON *o = any_with(d, d->ops, "further_outputs", NULL);
    cJSON *one = any_of(d, cJSON_GetObjectItem(o, "further_outputs"));
    if (!one) return false;
    int first = (int)number_of(o, "output");
    set_number(o, "output", one->valueint);
    cJSON_SetNumberValue(one, first);
    return true;
}

bool drop_result(struct damage *d)
{
    cJSON *list = cJSON_GetObjectItem(any_with(d, d->ops, "further_outputs", NULL), "further_outputs");
    if (!list) return false;
    cJSON_DeleteItemFromArray(list, damage_below(d, cJSON_GetArraySize(list)));
    return true;
}

bool result_twice(struct damage *d)
{
    cJSON *o = any_with(d, d->ops, "further_outputs", NULL),
          *list = cJSON_GetObjectItem(o, "further_outputs");
    return list && cJSON_AddItemToArray(list, cJSON_CreateNumber(number_of(o, "output")));
}

bool other_result(struct damage *d)
{
    cJSON *o = any_with(d, d->ops, "further_outputs", NULL);
    cJSON *one = any_of(d, cJSON_GetObjectItem(o, "further_outputs"));
    int to = damage_below(d, cJSON_GetArraySize(d->tensors));
    if (!one || one->valueint == to) return false;
    cJSON_SetNumberValue(one, to);
    return true;
}

/* The last two accesses of such an op are of results: each is served as the other. */
bool swap_result_accesses(struct damage *d)
{
    cJSON *a = cJSON_GetObjectItem(any_with(d, d->ops, "further_outputs", NULL), "accesses");
    int n = cJSON_GetArraySize(a);
    if (n < 2) return false;
    exchange(cJSON_GetArrayItem(a, n - 2), cJSON_GetArrayItem(a, n - 1));
    return true;
}

bool other_op(struct damage *d)
{
    cJSON *a = any_of(d, d->ops), *b = any_of(d, d->ops);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(b, "name"));
    if (!a || a == b || strcmp(name, cJSON_GetStringValue(cJSON_GetObjectItem(a, "name"))) == 0) return false;
    return cJSON_ReplaceItemInObject(a, "name", cJSON_CreateString(name));
}
