/* The checker against a second one that knows nothing but who owns each byte on each tick; and legal
 * answers with one fault put in, each of which must be seen every time. */
#include "support/random_problem.h"
#include "base/memory.h"
#include "plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 12, MOST_TICKS = 24, MOST_BYTES = 2000 };

static bool alone_is_legal(const struct lx_problem *p, int32_t i, int64_t at)
{
    const struct lx_buffer *b = &p->buffers[i];
    if (at == LX_OFF_CHIP) return p->objective != LX_HEIGHT || b->reason;
    int64_t alignment = b->alignment ? b->alignment : p->alignment;
    if (at < 0 || b->reason || at % alignment != 0 || (b->fixed != -1 && at != b->fixed)) return false;
    return p->objective == LX_HEIGHT || at + b->size <= p->capacity;
}

/* A grid of ticks and bytes with the set of owners of each; every two owners must be a handover. */
static bool brute_check(const struct lx_problem *p, const int64_t *address, int64_t *objective)
{
    static unsigned owners[MOST_TICKS][MOST_BYTES];
    memset(owners, 0, sizeof owners);
    int64_t spill = 0, height = 0;
    bool related[MOST][MOST];
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!alone_is_legal(p, i, address[i])) return false;
        for (int32_t k = 0; k < p->count; k++)
            related[i][k] = address[i] == address[k] && (is_parent_of(p, i, k) || is_parent_of(p, k, i));
        if (address[i] < 0) {
            spill += b->spill_cost;
            continue;
        }
        height = max_i64(height, address[i] + b->size);
        assert_true(address[i] + b->size <= MOST_BYTES && b->end <= MOST_TICKS);
        for (int64_t t = b->start; t < b->end; t++)
            for (int64_t x = 0; x < b->size; x++) {
                unsigned others = owners[t][address[i] + x];
                for (int32_t k = 0; k < i; k++)
                    if ((others >> k & 1) && !related[i][k]) return false;
                owners[t][address[i] + x] |= 1u << i;
            }
    }
    *objective = p->objective == LX_HEIGHT ? height : spill;
    return true;
}

static struct problem_shape small_shape(struct rng *r)
{
    return (struct problem_shape){.count = (int32_t)rng_between(r, 1, MOST),
                                  .ticks = rng_between(r, 1, 12),
                                  .size_units = rng_between(r, 1, 5),
                                  .capacity_units = rng_between(r, 1, 16),
                                  .alignment = rng_between(r, 1, 4),
                                  .fixed_percent = random_chance(r, 30) ? 20 : 0,
                                  .barred_percent = random_chance(r, 30) ? 15 : 0};
}

static void solve(const struct lx_problem *p, int64_t *address)
{
    struct lx_answer answer = {.address = address};
    struct lx_run run = {0};
    lx_status st;
    assert_true(lx_problem_solve(p, lx_solver_find("firstfit"), &run, &answer, &st));
}

static int64_t random_address(struct rng *r, const struct lx_problem *p, int32_t i, const int64_t *address)
{
    const struct lx_buffer *b = &p->buffers[i];
    switch (rng_below(r, 10)) {
    case 0: return LX_OFF_CHIP;
    case 1: return rng_between(r, -2, p->capacity + 2);
    case 2: return b->fixed >= 0 ? b->fixed : 0;
    case 3:
    case 4:
    case 5:
        if (b->parent_count) return address[b->parents[rng_below(r, (uint64_t)b->parent_count)]];
        break;
    default: break;
    }
    return rng_between(r, 0, p->capacity / p->alignment) * p->alignment;
}

static void agrees_with_brute_force(void **state)
{
    (void)state;
    int legal = 0, illegal = 0, handovers = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct rng r = rng_seed(seed);
        struct arena memory = {0};
        struct problem_shape shape = small_shape(&r);
        struct lx_problem p = random_problem(&r, &shape, (enum lx_objective)rng_below(&r, 3), &memory);
        lx_status st;
        if (!lx_problem_validate(&p, &st)) {
            print_problem(&p, seed);
            fail_msg("the generator broke the data model: %s", st.text);
        }
        int64_t address[MOST], ours = -1, theirs = -1;
        for (int32_t i = 0; i < p.count; i++) address[i] = LX_OFF_CHIP;
        if (random_chance(&r, 70)) solve(&p, address); /* nearly legal, to come close to every rule */
        for (uint64_t k = rng_below(&r, random_chance(&r, 50) ? 3 : 2 * (uint64_t)p.count + 1); k > 0; k--) {
            int32_t i = (int32_t)rng_below(&r, (uint64_t)p.count);
            address[i] = random_address(&r, &p, i, address);
        }
        bool expected = brute_check(&p, address, &theirs), got = lx_problem_check(&p, address, &ours, &st);
        if (expected != got || (got && ours != theirs)) {
            print_problem(&p, seed);
            for (int32_t i = 0; i < p.count; i++)
                fprintf(stderr, "%s at %lld\n", p.buffers[i].name, (long long)address[i]);
            fail_msg("brute force says %d (%lld), the checker %d (%lld): %s", expected, (long long)theirs,
                     got, (long long)ours, got ? "" : st.text);
        }
        if (!got) assert_int_equal(st.code, LX_E_NO);
        for (int32_t i = 0; got && i < p.count; i++)
            for (int32_t k = 0; k < p.buffers[i].parent_count; k++)
                handovers += address[i] >= 0 && p.buffers[i].size > 0 &&
                             address[i] == address[p.buffers[i].parents[k]];
        legal += got;
        illegal += !got;
        arena_free(&memory);
    }
    assert_true(legal > 4000 && illegal > 4000 && handovers > 2000); /* all of it was exercised */
}

/* One kind of fault: changes a legal answer, or finds that this one has no place for it. */
struct fault {
    const char *name;
    const char *says; /* words of the checker's refusal */
    bool (*inject)(struct rng *r, const struct lx_problem *p, int64_t *address);
};

static bool unrelated(const struct lx_problem *p, int32_t i, int32_t k)
{
    return i != k && !is_parent_of(p, i, k) && !is_parent_of(p, k, i);
}

static int64_t alignment_of(const struct lx_problem *p, int32_t i)
{
    return p->buffers[i].alignment ? p->buffers[i].alignment : p->alignment;
}

/* Is there a way to put buffer i at `at` without breaking any rule about i alone? */
static bool fits_alone(const struct lx_problem *p, int32_t i, int64_t at)
{
    return at >= 0 && p->buffers[i].size > 0 && alone_is_legal(p, i, at);
}

/* The first buffer from a random one on, for which `try` makes the change. */
static bool any(struct rng *r, const struct lx_problem *p, int64_t *address,
                bool (*try)(const struct lx_problem *, int64_t *, int32_t))
{
    int32_t from = (int32_t)rng_below(r, (uint64_t)p->count);
    for (int32_t i = 0; i < p->count; i++)
        if (try(p, address, (from + i) % p->count)) return true;
    return false;
}

#define FAULT(name)                                                                                          \
    static bool name##_at(const struct lx_problem *p, int64_t *address, int32_t i);                          \
    static bool name(struct rng *r, const struct lx_problem *p, int64_t *address)                            \
    {                                                                                                        \
        return any(r, p, address, name##_at);                                                                \
    }                                                                                                        \
    static bool name##_at(const struct lx_problem *p, int64_t *address, int32_t i)

FAULT(overlap)
{
    for (int32_t k = 0; k < p->count; k++)
        if (address[k] >= 0 && p->buffers[k].size > 0 && unrelated(p, i, k) && fits_alone(p, i, address[k]) &&
            live_together(&p->buffers[i], &p->buffers[k])) {
            address[i] = address[k];
            return true;
        }
    return false;
}

FAULT(beyond_capacity)
{
    const struct lx_buffer *b = &p->buffers[i];
    if (p->objective == LX_HEIGHT || b->reason || b->fixed >= 0) return false;
    address[i] = round_up_i64(max_i64(p->capacity - b->size + 1, 0), alignment_of(p, i));
    return true;
}

FAULT(misaligned)
{
    if (address[i] < 0 || alignment_of(p, i) == 1) return false;
    address[i]++;
    return true;
}

FAULT(negative)
{
    (void)p;
    address[i] = -2 - i;
    return true;
}

FAULT(barred_placed)
{
    if (!p->buffers[i].reason) return false;
    address[i] = 0;
    return true;
}

FAULT(fixed_moved)
{
    const struct lx_buffer *b = &p->buffers[i];
    if (b->fixed < 0 || b->reason) return false;
    address[i] = b->fixed + alignment_of(p, i);
    return true;
}

FAULT(child_off_base)
{
    for (int32_t k = 0; k < p->buffers[i].parent_count; k++) {
        int32_t parent = p->buffers[i].parents[k];
        int64_t at = address[parent] < 0 ? -1 : round_up_i64(address[parent] + 1, alignment_of(p, i));
        if (!fits_alone(p, i, at) || at >= address[parent] + p->buffers[parent].size) continue;
        address[i] = at;
        return true;
    }
    return false;
}

/* The child that stands in the place of `parent`, or -1. */
static int32_t taker_of(const struct lx_problem *p, const int64_t *address, int32_t parent)
{
    for (int32_t i = 0; address[parent] >= 0 && i < p->count; i++)
        if (p->buffers[i].size > 0 && address[i] == address[parent] && is_parent_of(p, parent, i)) return i;
    return -1;
}

FAULT(second_child)
{
    for (int32_t k = 0; k < p->buffers[i].parent_count; k++) {
        int32_t parent = p->buffers[i].parents[k], first = taker_of(p, address, parent);
        if (first < 0 || first == i || !fits_alone(p, i, address[parent])) continue;
        address[i] = address[parent];
        return true;
    }
    return false;
}

/* Born on the very tick of the handover, above the child and within the parent. */
FAULT(stranger_above_child)
{
    for (int32_t parent = 0; parent < p->count; parent++) {
        int32_t child = taker_of(p, address, parent);
        if (child < 0 || i == child || !unrelated(p, i, parent) ||
            p->buffers[i].start != p->buffers[child].start)
            continue;
        int64_t at = round_up_i64(address[parent] + p->buffers[child].size, alignment_of(p, i));
        if (!fits_alone(p, i, at) || at >= address[parent] + p->buffers[parent].size) continue;
        address[i] = at;
        return true;
    }
    return false;
}

FAULT(not_all_placed)
{
    if (p->objective != LX_HEIGHT || address[i] < 0) return false;
    address[i] = LX_OFF_CHIP;
    return true;
}

static void every_fault_is_caught(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"overlap", "overlap", overlap},
        {"beyond the capacity", "end beyond the capacity", beyond_capacity},
        {"misaligned", "is not a multiple of", misaligned},
        {"negative address", "is negative", negative},
        {"barred buffer placed", "but it may not be", barred_placed},
        {"fixed buffer moved", "is fixed at", fixed_moved},
        {"child off base", "overlap", child_off_base},
        {"second child", "overlap", second_child},
        {"stranger above a child", "overlap", stranger_above_child},
        {"not all placed", "is not placed", not_all_placed},
    };
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        int caught = 0;
        for (uint64_t seed = 0; caught < 300; seed++) {
            if (seed > 200000) fail_msg("%s: only %d problems have a place for it", faults[k].name, caught);
            struct rng r = rng_seed(seed * 16 + k);
            struct arena memory = {0};
            struct problem_shape shape = small_shape(&r);
            shape.fixed_percent = shape.barred_percent = 10;
            struct lx_problem p = random_problem(&r, &shape, (enum lx_objective)rng_below(&r, 3), &memory);
            reconcile_fixed(&p, &memory);
            int64_t address[MOST], objective;
            lx_status st;
            solve(&p, address);
            if (lx_problem_check(&p, address, &objective, &st) && faults[k].inject(&r, &p, address)) {
                if (lx_problem_check(&p, address, &objective, &st) || st.code != LX_E_NO ||
                    !strstr(st.text, faults[k].says)) {
                    print_problem(&p, seed);
                    fail_msg("%s was not caught, or not for its reason: %s", faults[k].name, st.text);
                }
                caught++;
            }
            arena_free(&memory);
        }
    }
}

/* What a plan claims about itself is recomputed. */
static void falsified_claims_are_caught(void **state)
{
    (void)state;
    static const char *const claims[] = {"objective", "bound",  "hbm",    "baseline",
                                         "spill",     "height", "optimal"};
    int made[7] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct rng r = rng_seed(seed);
        struct arena memory = {0};
        struct problem_shape shape = small_shape(&r);
        shape.fixed_percent = 0;
        struct lx_problem p = random_problem(&r, &shape, rng_below(&r, 2) ? LX_SPILL : LX_HEIGHT, &memory);
        size_t length;
        lx_status st;
        char *text = problem_as_pattern(&p, &length);
        const struct lx_graph *g = lx_graph_of_text("random", text, length, &st);
        struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
        assert_non_null(g);
        struct lx_plan *plan = lx_plan_make(g, &how, &st);
        lx_graph_free(g);
        assert_non_null(plan);
        assert_true(lx_plan_check(plan, &st));
        int64_t by = random_chance(&r, 50) ? 1 : -1;
        for (int k = 0; k < 7; k++) {
            struct lx_plan forged = *plan;
            int64_t *fields[] = {&forged.answer.objective,    &forged.figures.bound_bytes,
                                 &forged.figures.hbm_bytes,   &forged.figures.baseline_hbm_bytes,
                                 &forged.figures.spill_bytes, &forged.figures.height_bytes};
            if (k == 1)
                forged.figures.bound_bytes = forged.answer.objective + 1;
            else if (k < 6)
                *fields[k] += by;
            else if (forged.figures.bound_bytes == forged.answer.objective)
                continue;
            else
                forged.answer.status = LX_OPTIMAL;
            made[k]++;
            if (lx_plan_check(&forged, &st)) {
                print_problem(&p, seed);
                fail_msg("a falsified %s was not caught", claims[k]);
            }
            assert_int_equal(st.code, LX_E_NO);
        }
        mem_free(text);
        lx_plan_free(plan);
        arena_free(&memory);
    }
    for (int k = 0; k < 7; k++) assert_true(made[k] >= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_brute_force),
        cmocka_unit_test(every_fault_is_caught),
        cmocka_unit_test(falsified_claims_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
