/* The rule sets of loop nests by their names. */
#ifndef TESTS_LOOP_RULES_H
#define TESTS_LOOP_RULES_H

#include "loops/loops.h"

#include <string.h>

static inline const struct lx_loop_rules *rules_named(const char *name)
{
    const struct lx_loop_rules *r;
    int i = 0;
    while ((r = lx_loop_rules_at(i)) && strcmp(lx_loop_rules_name(r), name) != 0) i++;
    return r;
}

#endif
