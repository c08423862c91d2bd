#include "support/kind_lists.h"

struct kind_list kinds_that(kind_filter *fits)
{
    struct kind_list list = {0};
    for (int i = 0; i < LX_KIND_COUNT; i++)
        if (fits(lx_kind_at((enum lx_kind_id)i))) list.at[list.count++] = lx_kind_at((enum lx_kind_id)i);
    return list;
}

/* Shifts are of integers, and bits keep their width. */
static bool of_any_type(const struct lx_kind *k)
{
    return k->id != LX_KIND_SHL && k->id != LX_KIND_SHR && k->id != LX_KIND_SAR && k->id != LX_KIND_BITCAST &&
           k->id != LX_KIND_ARGMAX && k->id != LX_KIND_ARGMIN;
}

bool kind_is_unary(const struct lx_kind *k)
{
    return (k->traits & LX_POINTWISE) && k->most_inputs == 1 && k->positive == LX_ANY_NUMBER &&
           of_any_type(k);
}

bool kind_is_binary(const struct lx_kind *k)
{
    return (k->traits & LX_POINTWISE) && k->most_inputs == 2 && k->positive == LX_ANY_NUMBER &&
           of_any_type(k);
}

bool kind_reduces(const struct lx_kind *k)
{
    return (k->traits & LX_REDUCES) != 0 && of_any_type(k);
}
