/* The search of terms against everything: all choices, all sets of buffers on chip, placements proved by exact search, on
 * random problems small enough for it. What is cut short is still legal, and its bound holds. */
#include "unstable.h"
#include "base/arena.h"
#include "base/rng.h"
#include "cooptimise/terms.h"
#include "support/problem_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { OPS = 4, COPIES = 2, MOST = OPS + COPIES, CHOICES = 3, PROBLEMS = 80 };

static bool chance(struct rng *r, int percent)
{
    return rng_below(r, 100) < (uint64_t)percent;
}

static void random_reader(struct rng *r, struct arena *a, int32_t reader, int32_t own, int32_t theirs,
                          int percent, struct lx_term_reader *out)
{
    struct lx_choice_pair *pairs = arena_array(a, CHOICES * CHOICES, sizeof *pairs);
    *out = (struct lx_term_reader){.buffer = reader, .pairs = pairs};
    for (int32_t x = 0; x < own; x++)
        for (int32_t y = 0; y < theirs; y++)
            if (chance(r, percent)) pairs[out->pair_count++] = (struct lx_choice_pair){x, y};
}

/* A chain with branches; the last buffers are copies of some of the first. */
static void random_buffers(struct rng *r, struct arena *a, struct lx_term_buffer *b, int32_t ops,
                           int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        int64_t *bytes = arena_array(a, CHOICES, sizeof *bytes);
        bool copy = i >= ops;
        b[i] = (struct lx_term_buffer){
            .name = arena_format(a, "b%d", (int)i), .start = i, .end = i + 1, .copy_of = -1};
        b[i].choice_count = copy ? 1 : (int32_t)rng_between(r, 1, CHOICES);
        b[i].barred = chance(r, 8);
        for (int32_t c = 0; c < CHOICES; c++) bytes[c] = rng_between(r, 0, 6);
        b[i].bytes = bytes;
    }
    for (int32_t i = 0; i < count; i++) {
        struct lx_term_reader *readers = arena_array(a, OPS, sizeof *readers);
        int32_t source = i < ops ? i : (int32_t)rng_below(r, (uint64_t)ops);
        if (i >= ops) b[i].copy_of = source;
        for (int32_t k = source + 1; k < ops && k < source + 4; k++) {
            if (!chance(r, 60)) continue;
            random_reader(r, a, k, b[source].choice_count, b[k].choice_count, i < ops ? 30 : 70,
                          &readers[b[i].reader_count++]);
            if (b[i].reader_count == 1 && i >= ops) b[i].start = k;
            b[i].end = k + 1;
        }
        b[i].readers = readers;
        if (i >= ops && !b[i].reader_count) b[i].start = source, b[i].end = source + 1;
    }
    for (int32_t i = 0; i < ops; i++) {
        int32_t *parents = arena_array(a, MOST, sizeof *parents);
        for (int32_t k = 0; k < i; k++)
            if (b[k].end == b[i].start + 1 && chance(r, 70)) parents[b[i].parent_count++] = k;
        b[i].parents = parents;
    }
}

static void random_term(struct rng *r, struct arena *a, const struct lx_term_problem *p, struct lx_term *out)
{
    struct lx_term_axis *axes = arena_array(a, 3, sizeof *axes);
    double *values = arena_array(a, 27, sizeof *values);
    out->axis_count = (int32_t)rng_between(r, 1, 3);
    for (int32_t k = 0; k < out->axis_count; k++) {
        int32_t *class_of = arena_array(a, CHOICES, sizeof *class_of);
        axes[k] = (struct lx_term_axis){.is_bit = chance(r, 50), .size = 2, .class_of = class_of};
        axes[k].buffer = (int32_t)rng_below(r, (uint64_t)p->buffer_count);
        for (int32_t c = 0; c < CHOICES; c++) class_of[c] = (int32_t)rng_below(r, 2);
    }
    for (int i = 0; i < 27; i++) values[i] = (double)rng_between(r, -40, 100) / (chance(r, 30) ? 7 : 1);
    out->axes = axes;
    out->values = values;
}

/* Being off chip costs something. */
static void off_term(struct rng *r, struct arena *a, int32_t buffer, struct lx_term *out)
{
    struct lx_term_axis *bit = arena_array(a, 1, sizeof *bit);
    double *values = arena_array(a, 2, sizeof *values);
    *bit = (struct lx_term_axis){.buffer = buffer, .is_bit = true, .size = 2};
    values[0] = (double)rng_between(r, 50, 300);
    *out = (struct lx_term){bit, 1, values};
}

static struct lx_term_problem random_problem(struct rng *r, struct arena *a)
{
    int32_t ops = (int32_t)rng_between(r, 2, OPS), copies = (int32_t)rng_between(r, 0, COPIES);
    struct lx_term_buffer *buffers = arena_array(a, MOST, sizeof *buffers);
    struct lx_term *terms = arena_array(a, 12, sizeof *terms);
    struct lx_term_problem p = {.capacity = rng_between(r, 3, 12), .alignment = chance(r, 60) ? 1 : 2};
    random_buffers(r, a, buffers, ops, ops + copies);
    p.buffers = buffers;
    p.buffer_count = ops + copies;
    p.term_count = (int32_t)rng_between(r, 1, 12);
    for (int32_t i = 0; i < p.term_count; i++)
        i < ops ? off_term(r, a, i, &terms[i]) : random_term(r, a, &p, &terms[i]);
    p.terms = terms;
    return p;
}

/* --- Everything. --- */

static bool has_pair(const struct lx_term_reader *r, int32_t own, int32_t theirs)
{
    for (int32_t i = 0; i < r->pair_count; i++)
        if (r->pairs[i].own == own && r->pairs[i].theirs == theirs) return true;
    return false;
}

static struct problem_builder placement(const struct lx_term_problem *p, const int32_t *choice,
                                        const bool *on)
{
    struct problem_builder list = problem_begin(LX_FIT, p->capacity, p->alignment);
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_term_buffer *t = &p->buffers[i];
        struct lx_buffer *b = problem_add(&list, on[i] ? t->bytes[choice[i]] : 0, t->start, t->end, 0);
        b->reason = on[i] ? NULL : "off";
        problem_uses(&list, i, t->start, t->end - 1);
        for (int32_t k = 0; on[i] && k < t->parent_count; k++) {
            int32_t parent = t->parents[k];
            const struct lx_term_buffer *from = &p->buffers[parent];
            bool agreed = true;
            for (int32_t j = 0; j < from->reader_count; j++)
                if (from->readers[j].buffer == i)
                    agreed = has_pair(&from->readers[j], choice[parent], choice[i]);
            if (on[parent] && agreed && from->bytes[choice[parent]] == t->bytes[choice[i]] &&
                from->end - from->start > 1)
                problem_parent(&list, i, parent);
        }
    }
    return list;
}

/* Are they legal at these addresses, or (NULL) at any? */
static bool placeable(const struct lx_term_problem *p, const int32_t *choice, const bool *on,
                      const int64_t *at)
{
    struct problem_builder list = placement(p, choice, on);
    int64_t address[MOST], value;
    struct lx_answer answer = {.address = address};
    struct lx_run run = {0};
    lx_status st;
    bool legal = at && lx_problem_check(&list.problem, at, &value, &st);
    if (!at) {
        assert_true(lx_problem_solve(&list.problem, lx_solver_find("exact"), &run, &answer, &st));
        assert_true(answer.status == LX_OPTIMAL || answer.status == LX_INFEASIBLE);
        legal = answer.status == LX_OPTIMAL;
    }
    problem_end(&list);
    return legal;
}

static bool agreed_upon(const struct lx_term_problem *p, const int32_t *choice, const bool *on)
{
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_term_buffer *b = &p->buffers[i];
        bool copy = b->copy_of >= 0, any = false;
        if (!on[i]) continue;
        if (b->barred || b->bytes[choice[i]] > p->capacity || (copy && !on[b->copy_of])) return false;
        for (int32_t k = 0; k < b->reader_count; k++) {
            int32_t reader = b->readers[k].buffer;
            bool found = has_pair(&b->readers[k], choice[copy ? b->copy_of : i], choice[reader]);
            for (int32_t c = 0; !copy && c < p->buffer_count; c++)
                for (int32_t j = 0; p->buffers[c].copy_of == i && on[c] && j < p->buffers[c].reader_count;
                     j++)
                    found |= p->buffers[c].readers[j].buffer == reader &&
                             has_pair(&p->buffers[c].readers[j], choice[i], choice[reader]);
            if (!copy && !found) return false;
            any |= found;
        }
        if (copy && !any) return false;
    }
    return true;
}

static double cost_of(const struct lx_term_problem *p, const int32_t *choice, const bool *on)
{
    int64_t address[MOST];
    for (int32_t i = 0; i < p->buffer_count; i++) address[i] = on[i] ? 0 : -1;
    return lx_term_cost(p, choice, address);
}

static double brute_force(const struct lx_term_problem *p)
{
    int32_t choice[MOST] = {0};
    double best = INFINITY;
    for (;;) {
        for (unsigned bits = 0; bits < 1u << p->buffer_count; bits++) {
            bool on[MOST];
            for (int32_t i = 0; i < p->buffer_count; i++) on[i] = bits >> i & 1;
            if (cost_of(p, choice, on) < best && agreed_upon(p, choice, on) && placeable(p, choice, on, NULL))
                best = cost_of(p, choice, on);
        }
        int32_t o = 0;
        while (o < p->buffer_count && ++choice[o] == p->buffers[o].choice_count) choice[o++] = 0;
        if (o == p->buffer_count) return best;
    }
}

static struct lx_term_answer solve(const struct lx_term_problem *p, int64_t work, struct arena *memory)
{
    struct lx_run run = {.work_limit = work};
    struct lx_term_answer a;
    lx_status st;
    if (!lx_term_search(p, NULL, lx_solver_find("exact"), &run, memory, &a, &st)) fail_msg("%s", st.text);
    return a;
}

static void expect_legal(const struct lx_term_problem *p, const struct lx_term_answer *a)
{
    bool on[MOST];
    for (int32_t i = 0; i < p->buffer_count; i++) on[i] = a->address[i] >= 0;
    assert_true(agreed_upon(p, a->choice, on));
    assert_true(placeable(p, a->choice, on, a->address));
    assert_true(a->objective == cost_of(p, a->choice, on));
    assert_true(a->bound <= a->objective);
}

static void against_brute_force(void **unused)
{
    (void)unused;
    int copied = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        struct rng r = rng_seed((uint64_t)i);
        struct arena memory = {0};
        struct lx_term_problem p = random_problem(&r, &memory);
        double best = brute_force(&p);
        struct lx_term_answer a = solve(&p, 0, &memory), hasty = solve(&p, 1, &memory);
        expect_legal(&p, &a);
        expect_legal(&p, &hasty);
        if (fabs(a.objective - best) > 1e-9 || a.status != LX_OPTIMAL || hasty.bound > best + 1e-9)
            fail_msg("problem %d: best %.12g, found %.12g, bounds %.12g and %.12g", i, best, a.objective,
                     a.bound, hasty.bound);
        for (int32_t k = 0; k < p.buffer_count; k++) copied += p.buffers[k].copy_of >= 0 && a.address[k] >= 0;
        arena_free(&memory);
    }
    assert_true(copied > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_brute_force)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
