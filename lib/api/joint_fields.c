/* Numbers and words of what lx_joint_solve gave. */
#include "api/joint_result.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* As lx_gap; costs of terms need be neither whole nor positive. */
static double joint_fields_gap_of(const struct joint_result *r)
{
    if (r->objective <= r->bound) return 0;
    return r->bound == 0 ? INFINITY : (r->objective - r->bound) / fabs(r->bound);
}

/* The int64_t at an offset of a struct. */
struct int_row {
    const char *name;
    size_t offset;
};

static bool find_int(const struct int_row *rows, const void *of, const char *name, double *value)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0) {
            int64_t found;
            memcpy(&found, (const char *)of + rows->offset, sizeof found);
            return *value = (double)found, true;
        }
    return false;
}

int32_t joint_number(const struct joint_result *r, const char *name, double *value)
{
    static const struct int_row rows[] = {{"cores", offsetof(struct joint_result, cores)},
                                          {"squares", offsetof(struct joint_result, squares)},
                                          {"steps", offsetof(struct joint_result, steps)},
                                          {NULL, 0}};
    double found;
    if (strcmp(name, "gap") == 0)
        found = joint_fields_gap_of(r);
    else if (strcmp(name, "objective") == 0)
        found = r->objective;
    else if (strcmp(name, "bound") == 0)
        found = r->bound;
    else if (!find_int(rows, r, name, &found))
        return -1;
    if (value) *value = found;
    return 0;
}

const char *joint_word(const struct joint_result *r, const char *name)
{
    if (strcmp(name, "status") == 0) return lx_verdict_word(r->status);
    return strcmp(name, "solver") == 0 ? r->solver : NULL;
}

int32_t joint_item_number(const struct joint_result *r, int64_t i, const char *name, double *value)
{
    static const struct int_row rows[] = {
        {"address", offsetof(struct joint_item, address)}, {"size", offsetof(struct joint_item, size)},
        {"start", offsetof(struct joint_item, start)},     {"end", offsetof(struct joint_item, end)},
        {"cost", offsetof(struct joint_item, cost)},       {NULL, 0}};
    const struct joint_item *item = &r->items[i];
    double found;
    if (strcmp(name, "choice") == 0)
        found = item->choice;
    else if (strcmp(name, "pool") == 0)
        found = item->address >= 0 ? 0 : -1;
    else if (!find_int(rows, item, name, &found))
        return -1;
    if (value) *value = found;
    return 0;
}

const char *joint_item_word(const struct joint_result *r, int64_t i, const char *name)
{
    if (strcmp(name, "name") == 0) return r->items[i].name;
    return strcmp(name, "reason") == 0 ? r->items[i].reason : NULL;
}
