/* For tests of what is told to stop: by a count of looks, or by a clock that goes on whenever somebody looks at it. */
#ifndef LX_TEST_STOPPING_H
#define LX_TEST_STOPPING_H

#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

struct looks {
    int64_t count, most; /* told to stop from the look `most` on */
};

static bool counted_stop(void *context)
{
    struct looks *l = context;
    return l->count++ >= l->most;
}

static const struct lx_graph *generate(const char *name, const char *option, int64_t value)
{
    const struct lx_generator *g = lx_generator_find(name);
    int64_t values[64];
    lx_status st = {0};
    lx_values_default(g->options, g->option_count, values);
    for (int i = 0; i < g->option_count; i++)
        if (strcmp(g->options[i].name, option) == 0) values[i] = value;
    const struct lx_graph *made = g->build(values, &st);
    assert_non_null(made);
    const struct lx_graph *small = lx_graph_with_capacity(made, 60000, &st);
    assert_non_null(small);
    lx_graph_free(made);
    return small;
}

/* The clock of this program: it goes on by so much whenever somebody looks at it. */
static struct {
    double now, each;
} hands;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    hands.now += hands.each;
    *t = (struct timespec){(time_t)hands.now, (long)((hands.now - (double)(time_t)hands.now) * 1e9)};
    return 0;
}

#endif
