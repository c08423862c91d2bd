/* Several threads at once: problems of their own, one placement that all read, one graph that all plan. Same answers as one
 * after the other. And a caller whose locale writes numbers with commas. */
#include "lxplan.h"
#include "base/memory.h"

#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { THREADS = 8, BUFFERS = 60 };

struct job {
    const lx_placement *shared;
    const lx_graph *graph;
    int number;
    char *plans[3]; /* of a problem of its own, of the shared one, of the graph */
};

static lx_placement *problem(unsigned seed)
{
    lx_placement *p = lx_placement_new("cost", 1, NULL);
    lx_placement_pool(p, "LX", 64, NULL);
    for (int i = 0; i < BUFFERS; i++) {
        seed = seed * 1103515245 + 12345;
        int64_t size = 1 + seed / 65536 % 20, start = seed / 1024 % 40;
        lx_placement_buffer(p, NULL, size, start, start + 1 + seed / 4096 % 9, size * (1 + i % 3), NULL);
    }
    return p;
}

static char *plan_text(lx_result *r)
{
    lx_text *t = r ? lx_result_write(r, "plan", NULL, NULL) : NULL;
    char *copy = t ? mem_string(lx_text_data(t)) : NULL;
    lx_text_free(t);
    lx_result_free(r);
    return copy;
}

static void *work(void *argument)
{
    struct job *j = argument;
    lx_placement *own = problem((unsigned)j->number);
    j->plans[0] = plan_text(lx_solve(own, NULL, NULL));
    j->plans[1] = plan_text(lx_solve(j->shared, NULL, NULL));
    j->plans[2] = plan_text(lx_plan(j->graph, NULL, NULL));
    lx_placement_free(own);
    return NULL;
}

static lx_graph *chain(void)
{
    lx_builder *b = lx_builder_new("chain");
    int64_t shape[] = {64, 256};
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        lx_builder_tensor(b, name, "fp16", 2, shape, i == 0 ? "input" : i == 4 ? "output" : NULL, NULL);
        if (i > 0) lx_builder_op(b, name, "exp", NULL, (int32_t[]){i - 1}, 1, i, NULL);
    }
    lx_graph *g = lx_builder_finish(b, NULL);
    lx_builder_free(b);
    return g;
}

static void test_at_once(void **state)
{
    (void)state;
    lx_placement *shared = problem(99);
    lx_graph *graph = chain();
    struct job alone[THREADS], at_once[THREADS];
    pthread_t threads[THREADS];
    assert_non_null(graph);
    for (int i = 0; i < THREADS; i++) {
        alone[i] = at_once[i] = (struct job){.shared = shared, .graph = graph, .number = i};
        work(&alone[i]);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &at_once[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < 3; k++) {
            assert_non_null(alone[i].plans[k]);
            assert_string_equal(alone[i].plans[k], at_once[i].plans[k]);
            mem_free(alone[i].plans[k]);
            mem_free(at_once[i].plans[k]);
        }
    lx_graph_free(graph);
    lx_placement_free(shared);
}

static void test_locale(void **state)
{
    (void)state;
    static const char *const with_commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    lx_graph *g = chain();
    char *plain = plan_text(lx_plan(g, NULL, NULL));
    const char *found = NULL;
    for (int i = 0; i < 3 && !found; i++) found = setlocale(LC_ALL, with_commas[i]);
    char number[16];
    snprintf(number, sizeof number, "%.1f", 0.5);
    char *other = plan_text(lx_plan(g, NULL, NULL));
    assert_string_equal(plain, other);
    if (found) assert_string_equal(number, "0,5"); /* and the caller keeps it */
    lx_result *again = lx_plan_parse(other, (int64_t)strlen(other), NULL);
    assert_non_null(again);
    lx_result_free(again);
    setlocale(LC_ALL, "C");
    lx_graph_free(g);
    mem_free(plain);
    mem_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_at_once), cmocka_unit_test(test_locale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
