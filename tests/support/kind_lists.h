/* Kinds of ops chosen from the table by what they are, so that a new kind is tried without being named. */
#ifndef LX_TESTS_SUPPORT_KIND_LISTS_H
#define LX_TESTS_SUPPORT_KIND_LISTS_H

#include "graph/graph.h"

struct kind_list {
    int count;
    const struct lx_kind *at[LX_KIND_COUNT];
};

typedef bool kind_filter(const struct lx_kind *k);
struct kind_list kinds_that(kind_filter *fits);

/* Element-wise, and every number is welcome: what one op makes, the next may read. */
bool kind_is_unary(const struct lx_kind *k);
bool kind_is_binary(const struct lx_kind *k);
bool kind_reduces(const struct lx_kind *k);

#endif
