/* Eight threads at once, on one graph and one problem that they share: each plans, solves, writes, reads back and checks
 * by itself, in an order of its own, and gets what one thread alone gets, byte for byte. Under ThreadSanitizer
 * (`./bootstrap test --threads`) any state that two of them shared would be reported. */
#include "unstable.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/hash.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { THREADS = 8 };

static const char *const patterns[] = {
    SOURCE_DIR "/patterns/graphs/softmax_512x1024.json",
    SOURCE_DIR "/patterns/graphs/rms_norm.json",
    SOURCE_DIR "/patterns/graphs/mlp_small.json",
    SOURCE_DIR "/patterns/targets/staircase.json",
};
static const char *const solvers[] = {"auto", "greedy", "anneal", "exact"};

enum { PATTERNS = sizeof patterns / sizeof *patterns, SOLVERS = sizeof solvers / sizeof *solvers };

/* What every thread may look at, and none changes. */
struct shared {
    const struct lx_graph *graph[PATTERNS];
    const struct lx_plan *plan[PATTERNS]; /* whose problems are solved again */
};

/* What a thread found. */
struct found {
    char plan[PATTERNS][SOLVERS][65]; /* hashes; "" where there is no plan */
    int64_t objective[PATTERNS][SOLVERS];
};

struct worker {
    const struct shared *shared;
    pthread_barrier_t *start;
    int number;
    struct found found;
    char wrong[300];
};

static void note(struct worker *w, const char *what, const lx_status *st)
{
    if (!w->wrong[0]) snprintf(w->wrong, sizeof w->wrong, "thread %d: %s: %.200s", w->number, what, st->text);
}

static void plan_one(struct worker *w, int g, int s)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find(solvers[s]), .run = {.work_limit = 5000}};
    struct lx_plan *p = lx_plan_make(w->shared->graph[g], &how, &st), *again = NULL;
    size_t length = 0;
    char *text = p ? lx_plan_to_json(p, &length) : NULL;
    if (text) {
        sha256_hex(text, length, w->found.plan[g][s]);
        again = lx_plan_of_text("plan", text, length, &st);
        if (!again || !lx_plan_check(again, &st)) note(w, "a plan does not come back", &st);
    } else
        note(w, "no plan", &st);
    mem_free(text);
    lx_plan_free(again);
    lx_plan_free(p);
}

static void solve_one(struct worker *w, int g, int s)
{
    const struct lx_problem *problem = &w->shared->plan[g]->problem;
    struct lx_run run = {.work_limit = 5000};
    struct arena memory = {0};
    lx_status st = {0};
    int64_t *address = arena_array(&memory, (size_t)problem->count, sizeof *address);
    struct lx_answer answer = {.address = address};
    if (!address || !lx_problem_solve(problem, lx_solver_find(solvers[s]), &run, &answer, &st))
        note(w, "no answer", &st);
    else if (!lx_problem_check(problem, address, &w->found.objective[g][s], &st))
        note(w, "a wrong answer", &st);
    arena_free(&memory);
}

/* Threads begin at different places, so that different stages run beside each other. */
static void *work(void *context)
{
    struct worker *w = context;
    if (w->start) pthread_barrier_wait(w->start);
    for (int i = 0; i < PATTERNS * SOLVERS; i++) {
        int k = (i + 2 * w->number) % (PATTERNS * SOLVERS);
        plan_one(w, k / SOLVERS, k % SOLVERS);
        solve_one(w, k / SOLVERS, k % SOLVERS);
    }
    return NULL;
}

static void share(struct shared *s)
{
    lx_status st = {0};
    for (int g = 0; g < PATTERNS; g++) {
        struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
        s->graph[g] = lx_graph_read(patterns[g], &st);
        s->plan[g] = s->graph[g] ? lx_plan_make(s->graph[g], &how, &st) : NULL;
        if (!s->plan[g]) fail_msg("%s: %s", patterns[g], st.text);
    }
}

static void eight_threads_are_as_one(void **state)
{
    static struct worker workers[THREADS], alone;
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    struct shared s = {0};
    (void)state;
    share(&s);
    alone = (struct worker){.shared = &s};
    work(&alone);
    assert_string_equal(alone.wrong, "");
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (struct worker){.shared = &s, .start = &start, .number = t};
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    for (int t = 0; t < THREADS; t++) {
        assert_string_equal(workers[t].wrong, "");
        assert_memory_equal(&workers[t].found, &alone.found, sizeof alone.found);
    }
    for (int g = 0; g < PATTERNS; g++) {
        lx_plan_free(s.plan[g]);
        lx_graph_free(s.graph[g]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eight_threads_are_as_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
