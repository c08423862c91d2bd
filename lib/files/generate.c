/* The table of generators. */
#include "files/gen_common.h"

#include <string.h>

#define GENERATOR_ROW(name, count, summary) {#name, summary, gen_##name##_options, count, gen_##name},
static const struct lx_generator generators[] = {GENERATORS(GENERATOR_ROW){0}};
#undef GENERATOR_ROW

const struct lx_generator *lx_generators(void)
{
    return generators;
}

const struct lx_generator *lx_generator_find(const char *name)
{
    for (const struct lx_generator *g = generators; g->name; g++)
        if (strcmp(g->name, name) == 0) return g;
    return NULL;
}
