/* Lists of devices: `{{0,1},{2,3}}`, `[2,4]<=[8]T(1,0)`, dense numbers. At most LISTED_DEVICES are looked
 * at one by one. */
#include "import/devices/devices.h"

#include <stdlib.h>
#include <string.h>

int model_numbers_in(const char *from, const char *to, int64_t *out, int most)
{
    int n = 0;
    for (const char *p = from; p < to && n < most;) {
        char *end;
        long long v = strtoll(p, &end, 10);
        if (end == p) {
            p++;
            continue;
        }
        out[n++] = v;
        p = end;
    }
    return n;
}

/* `[2,4]<=[8]` or `[4,2]<=[2,4]T(1,0)`: numbers in order, seen in another order of their dimensions. */
static bool lists_listed_by_shape(const char *text, struct device_list *l)
{
    const char *close = strchr(text, ']'), *from = close ? strstr(close, "<=[") : NULL,
               *end = from ? strchr(from, ']') : NULL;
    int64_t shape[MESH_MAX_AXES], of[MESH_MAX_AXES], order[MESH_MAX_AXES], stride[MESH_MAX_AXES], all = 1;
    if (!end) return false;
    int n = model_numbers_in(text, close, shape, MESH_MAX_AXES),
        k = model_numbers_in(from, end, of, MESH_MAX_AXES);
    for (int i = 0; i < k; i++) order[i] = i;
    if (end[1] == 'T' && model_numbers_in(end, strchr(end, ')') ? strchr(end, ')') : end, order, k) != k)
        return false;
    for (int i = k - 1; i >= 0; i--) {
        stride[i] = all;
        if (of[i] < 1 || of[i] > LISTED_DEVICES || (all *= of[i]) > LISTED_DEVICES) return false;
    }
    l->count = all;
    l->group = n > 0 ? shape[n - 1] : 0;
    for (int64_t i = 0; i < all; i++) {
        int64_t rest = i, id = 0;
        for (int d = k - 1; d >= 0; d--) {
            if (order[d] < 0 || order[d] >= k) return false;
            id += rest % of[order[d]] * stride[order[d]];
            rest /= of[order[d]];
        }
        l->id[i] = id;
    }
    return l->group > 0 && all % l->group == 0;
}

/* `{{0,1},{2,3}}`: all numbers; every group must have as many as the first. */
static bool lists_listed_one_by_one(const char *text, struct device_list *l)
{
    l->count = l->group = 0;
    for (const char *open = text, *close; (close = strchr(open, '}')); open = close + 1) {
        int n = model_numbers_in(open, close, l->id + l->count, (int)(LISTED_DEVICES - l->count));
        if (l->count == 0) l->group = n;
        if (n > 0 && n != l->group) return false;
        l->count += n;
    }
    return l->group > 0;
}

bool model_names_devices(const struct model_op *op, const char *key)
{
    const struct model_attr *a = model_attr_find(&op->attrs, key);
    if (a && a->form == ATTR_DATA) return a->data->type->elements > 0;
    const char *text = a ? model_attr_word(&op->attrs, key, NULL) : NULL;
    return text && strpbrk(text, "0123456789");
}

bool model_device_list(const struct model_op *op, const char *key, struct device_list *l)
{
    const struct model_attr *a = model_attr_find(&op->attrs, key);
    if (a && a->form == ATTR_DATA) {
        const struct model_type *t = a->data->type;
        if (t->count != 2 || t->elements < 1 || t->elements > LISTED_DEVICES) return false;
        l->count = t->elements;
        l->group = t->extent[1];
        for (int64_t i = 0; i < l->count; i++) l->id[i] = model_data_int(a->data, i);
        return true;
    }
    const char *text = a ? model_attr_word(&op->attrs, key, NULL) : NULL;
    text = text ? strpbrk(text, "[{") : NULL;
    if (!text) return false;
    return *text == '[' ? lists_listed_by_shape(text, l) : lists_listed_one_by_one(text, l);
}

/* Devices in the order of the parts: `<=[2,2]T(1,0)`, or one by one. */
bool model_parts_list(const char *open, const char *close, int64_t all, struct device_list *l)
{
    if (strncmp(close, "]<=[", 4) == 0) return lists_listed_by_shape(open, l) && l->count == all;
    const char *end = close + 1 + strspn(close + 1, "0123456789,");
    l->count = model_numbers_in(close + 1, end, l->id, LISTED_DEVICES);
    return l->count == all;
}

bool model_each_once(const struct device_list *l)
{
    unsigned char seen[LISTED_DEVICES] = {0};
    for (int64_t i = 0; i < l->count; i++)
        if (l->id[i] < 0 || l->id[i] >= l->count || seen[l->id[i]]++) return false;
    return true;
}

void model_place_devices(const struct lx_model *m, struct device_list *l)
{
    for (int64_t i = 0; m->place && i < l->count; i++)
        if (l->id[i] >= 0 && l->id[i] < m->places) l->id[i] = m->place[l->id[i]];
}
