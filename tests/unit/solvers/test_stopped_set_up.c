/* Lists so long that what comes before a search takes its time: sorts, indexes, models, bounds, checks. Told to stop at any look,
 * whoever asks has a legal answer soon, no error, and a bound that holds. Looks are counted, not timed. */
#include "solvers.h"
#include "unstable.h"
#include "base/checked.h"
#include "base/cancel.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 12000 };

struct looks {
    int64_t count, most; /* told to stop from the look `most` on */
    int64_t best;        /* that was reported */
};

static bool counted_stop(void *context)
{
    struct looks *l = context;
    return l->count++ >= l->most;
}

static void hear(void *context, const struct lx_progress *so_far)
{
    struct looks *l = context;
    if (so_far->address) l->best = min_i64(l->best, so_far->objective);
}

enum shape { TICK, CHAIN, STAIRS, PINNED, SHAPES };

static struct lx_buffer buffers[COUNT];
static int32_t parents[COUNT];
static int64_t uses[COUNT][2], address[COUNT];

static struct lx_problem make(enum shape shape, enum lx_objective question)
{
    for (int32_t i = 0; i < COUNT; i++) {
        struct lx_buffer *b = &buffers[i];
        *b = (struct lx_buffer){.name = "b",
                                .size = 64 + (int64_t)i * 37 % 100,
                                .end = 1,
                                .fixed = -1,
                                .spill_cost = 1 + i % 1000};
        if (shape == STAIRS) {
            b->start = i * 7919 % COUNT;
            b->end = b->start + 20;
        }
        if (shape == PINNED && i % 50 == 0) b->fixed = (int64_t)i * 40;
        if (shape != CHAIN) continue;
        b->start = i;
        b->end = i + 2;
        b->size = 128;
        uses[i][0] = i, uses[i][1] = i + 1;
        b->uses = uses[i];
        b->use_count = 2;
        parents[i] = i - 1;
        b->parents = &parents[i];
        b->parent_count = i > 0;
    }
    return (struct lx_problem){.objective = question,
                               .alignment = 1,
                               .capacity = shape == CHAIN || shape == STAIRS ? 1500 : COUNT * 40,
                               .buffers = buffers,
                               .count = COUNT};
}

static void fault(const struct lx_solver *s, const struct lx_problem *p, enum shape shape, int64_t look,
                  const char *what)
{
    fail_msg("%s, %s, shape %d, stopped at look %lld: %s", s->name, lx_objective_word(p->objective),
             (int)shape, (long long)look, what);
}

/* True: it ended before it was told to. */
static bool solve_until(enum shape shape, enum lx_objective question, const struct lx_solver *s, int64_t most)
{
    struct lx_problem p = make(shape, question);
    struct looks looks = {.most = most, .best = INT64_MAX};
    struct lx_run run = {.stop = counted_stop, .progress = hear, .context = &looks, .work_limit = 1};
    run.hasty = most % 4 != 0; /* without the bound, which is long, and comes before */
    struct lx_answer answer = {.address = address};
    lx_status st = {0};
    int64_t objective;
    if (!lx_problem_solve(&p, s, &run, &answer, &st)) fault(s, &p, shape, most, st.text);
    if (answer.status == LX_ERROR) fault(s, &p, shape, most, answer.message);
    if (!lx_problem_check(&p, address, &objective, &st)) fault(s, &p, shape, most, st.text);
    if (objective != answer.objective || answer.bound > objective)
        fault(s, &p, shape, most, "another objective, or a bound above it");
    if (question != LX_FIT && looks.best < objective) fault(s, &p, shape, most, "worse than it had reported");
    return looks.count <= most;
}

/* At first at every look, then more and more apart. */
static void always_legal(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int question = 0; question < LX_OBJECTIVE_COUNT; question++)
            for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
                if (!lx_can(*s, (enum lx_objective)question)) continue;
                for (int64_t most = 0; most < 40; most += 1 + most / 2)
                    if (solve_until((enum shape)shape, (enum lx_objective)question, *s, most)) break;
            }
}

/* A cancelled bound holds, and is no better than the whole one. */
static void bounds_hold(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int question = 0; question < LX_OBJECTIVE_COUNT; question++) {
            struct lx_problem p = make((enum shape)shape, (enum lx_objective)question);
            int64_t whole = lx_bound(&p);
            struct cancel token;
            cancel_begin(&token, 1e-9);
            int64_t cancelled = lx_bound(&p);
            cancel_end(&token);
            assert_true(cancelled >= 0 && cancelled <= whole);
        }
}

/* The checker judges all of an answer, cancelled or not. */
static void judged_in_full(void **state)
{
    struct lx_problem p = make(STAIRS, LX_HEIGHT);
    struct cancel token;
    lx_status st = {0};
    int64_t top = 0, height;
    (void)state;
    for (int32_t i = 0; i < COUNT; i++) {
        address[i] = top;
        top += buffers[i].size;
    }
    for (int wrong = 0; wrong < 2; wrong++) {
        if (wrong) { /* two that live at once share a byte */
            for (int32_t i = 0; i < COUNT; i++)
                if (buffers[i].start == buffers[COUNT - 1].start + 1) address[COUNT - 1] = address[i];
        }
        cancel_begin(&token, 1e-9);
        assert_true(cancel_requested());
        bool legal = lx_problem_check(&p, address, &height, &st);
        cancel_end(&token);
        assert_true(legal == !wrong && (wrong || height == top));
    }
    assert_int_equal(st.code, LX_E_NO);
}

/* Who is stopped before he began looks before he places anything, of few buffers, too: plans in haste count on that. */
static void stopped_before_the_first(void **state)
{
    static const char *const names[] = {"greedy", "firstfit", "bestfit"};
    struct lx_problem p = make(STAIRS, LX_SPILL);
    (void)state;
    p.count = 100;
    for (int k = 0; k < 3; k++)
        for (int most = 0; most < 2; most++) {
            struct looks looks = {.most = most ? INT64_MAX : 0};
            struct lx_run run = {.stop = counted_stop, .context = &looks};
            struct lx_answer answer = {.address = address};
            int placed = 0;
            for (int i = 0; i < 100; i++) address[i] = LX_OFF_CHIP;
            assert_true(lx_solver_find(names[k])->solve(&p, &run, &answer));
            for (int i = 0; i < 100; i++) placed += address[i] >= 0;
            if ((placed > 0) != (most > 0)) fail_msg("%s placed %d", names[k], placed);
        }
}

/* Lives with gaps, or two pools with reserved bytes, with room for all. */
static const struct lx_graph *roomy(bool pools)
{
    struct text t = {0};
    lx_status st = {0};
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"roomy\", \"objective\": \"height\", "
                 "\"alignment\": 16, ");
    text_add(&t, pools ? "\"pools\": [{\"name\": \"fast\", \"capacity\": 1000000, \"reserved\": [[0, 64]]},"
                         "{\"name\": \"slow\", \"capacity\": 1000000}]"
                       : "\"capacity\": 1000000");
    text_add(&t, ", \"buffers\": [");
    for (int i = 0; i < 60; i++) {
        int start = i * 37 % 200, end = start + 10 + i * 53 % 90;
        text_format(&t, "%s{\"name\": \"b%d\", \"size\": %d, \"live\": [[%d, %d]", i ? ", " : "", i,
                    16 + i * 7919 % 900, start, end);
        if (!pools) text_format(&t, ", [%d, %d]", end + 5, end + 15);
        text_add(&t, "], \"off\": 5}");
    }
    text_add(&t, "]}");
    const struct lx_graph *g = lx_graph_of_text("roomy", t.at, t.length, &st);
    if (!g) fail_msg("%s", st.text);
    text_free(&t);
    return g;
}

/* What was stopped is not impossible for that, and is no error. */
static void stopped_is_not_impossible(void **state)
{
    (void)state;
    for (int pools = 0; pools < 2; pools++) {
        const struct lx_graph *g = roomy(pools);
        for (int64_t most = 0; most < 300; most += 1 + most / 2)
            for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
                struct looks looks = {.most = most, .best = INT64_MAX};
                struct lx_plan_options how = {
                    .solver = *s, .run = {.stop = counted_stop, .context = &looks, .work_limit = 20000}};
                lx_status st = {0};
                struct lx_plan *p = lx_plan_make(g, &how, &st);
                if (!p && st.code == LX_E_USAGE) continue; /* it does not take such lists */
                if (!p) fail_msg("%s, look %lld: %s", (*s)->name, (long long)most, st.text);
                if (p->answer.status == LX_INFEASIBLE || p->answer.status == LX_ERROR)
                    fail_msg("%s, look %lld: %s", (*s)->name, (long long)most,
                             lx_verdict_word(p->answer.status));
                lx_plan_free(p);
            }
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_legal), cmocka_unit_test(bounds_hold), cmocka_unit_test(judged_in_full),
        cmocka_unit_test(stopped_before_the_first), cmocka_unit_test(stopped_is_not_impossible)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
