/* Are the columns of a table sound? */
#ifndef LX_TESTS_SUPPORT_COLUMNS_FAULT_H
#define LX_TESTS_SUPPORT_COLUMNS_FAULT_H

#include "text/column.h"

#include <string.h>

static bool is_sound(const struct columns *all, size_t i)
{
    const struct column *c = &all->at[i];
    if (!c->key || !*c->key || !(c->value || c->member) || (unsigned)c->kind >= VALUE_KIND_COUNT)
        return false;
    if (!c->heading && (c->flags & COLUMN_PEOPLE)) return false; /* nobody would see it */
    for (size_t k = 0; k < i; k++)
        if (strcmp(all->at[k].key, c->key) == 0) return false;
    return true;
}

/* The key of the first column that has no key of its own, no value function or no reader; NULL if all are sound. */
static const char *columns_fault(const struct columns *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (!is_sound(all, i)) return all->at[i].key ? all->at[i].key : "";
    return NULL;
}

#endif
