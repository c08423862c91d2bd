/* The joint search against everything: all choices, all sets of buffers on chip, placements proved by exact
 * search, on random problems small enough for it. */
#include "unstable.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/rng.h"
#include "cooptimise/joint.h"
#include "support/problem_builder.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPS = 6, MAX_BUFFERS = 7, MAX_CHOICES = 4 };

static bool chance(struct rng *r, int percent)
{
    return rng_below(r, 100) < (uint64_t)percent;
}

static int64_t *numbers(struct rng *r, struct arena *a, int32_t count, int64_t most)
{
    int64_t *v = arena_array(a, (size_t)count, sizeof *v);
    for (int32_t i = 0; i < count; i++) v[i] = rng_between(r, 0, most);
    return v;
}

static void random_accesses(struct rng *r, struct arena *a, const struct lx_joint_problem *p,
                            int32_t first_label, int32_t labels, bool timed, struct lx_joint_buffer *b)
{
    int32_t from = (int32_t)rng_below(r, (uint64_t)p->op_count), to = from;
    struct lx_joint_access *list = arena_array(a, (size_t)p->op_count * 2, sizeof *list);
    for (int32_t o = from; o < p->op_count; o++) {
        if (o > from && !chance(r, 45)) continue;
        for (int k = 0; k < (chance(r, 6) ? 2 : 1); k++) {
            struct lx_joint_access *x = &list[b->access_count++];
            int32_t *label = arena_array(a, MAX_CHOICES, sizeof *label);
            for (int32_t c = 0; c < p->ops[o].choice_count; c++)
                label[c] = chance(r, 15) ? -1 : first_label + (int32_t)rng_below(r, (uint64_t)labels);
            *x = (struct lx_joint_access){
                .op = o, .toll = rng_between(r, 0, 9), .label = chance(r, 3) ? NULL : label};
            x->always = chance(r, 10);
            if (timed) x->memory = numbers(r, a, MAX_CHOICES, 12);
        }
        to = o;
    }
    b->accesses = list;
    b->start = p->ops[from].tick;
    b->end = p->ops[to].tick + 1 + (chance(r, 10) ? rng_between(r, 0, 3) : 0);
    b->first_use_is_read = chance(r, 20);
    if (chance(r, 5)) b->reason = "barred";
}

static struct lx_joint_problem random_joint(struct rng *r, struct arena *a)
{
    struct lx_joint_problem p = {.alignment = chance(r, 60) ? 1 : 2};
    bool timed = chance(r, 50);
    p.op_count = (int32_t)rng_between(r, 1, MAX_OPS);
    p.buffer_count = (int32_t)rng_between(r, 1, MAX_BUFFERS);
    p.capacity = rng_between(r, 2, 14);
    struct lx_joint_op *ops = arena_array(a, MAX_OPS, sizeof *ops);
    struct lx_joint_buffer *b = arena_array(a, MAX_BUFFERS, sizeof *b);
    int64_t *sizes = numbers(r, a, MAX_BUFFERS * 3, 9), tick = 0;
    p.ops = ops;
    p.buffers = b;
    p.label_size = sizes;
    for (int32_t o = 0; o < p.op_count; o++) {
        ops[o] = (struct lx_joint_op){.name = "op", .tick = tick};
        ops[o].choice_count = (int32_t)rng_between(r, 1, MAX_CHOICES);
        ops[o].seed = (int32_t)rng_below(r, (uint64_t)ops[o].choice_count);
        if (timed) ops[o].compute = numbers(r, a, MAX_CHOICES, 15);
        if (chance(r, 50)) ops[o].extra = numbers(r, a, MAX_CHOICES, 4);
        bool *flip = arena_array(a, MAX_CHOICES, sizeof *flip);
        for (int32_t c = 0; c < MAX_CHOICES; c++) flip[c] = chance(r, 50);
        if (chance(r, 70)) ops[o].flip = flip;
        tick += rng_between(r, 1, 2);
    }
    for (int32_t i = 0; i < p.buffer_count; i++) {
        int32_t labels = (int32_t)rng_between(r, 1, 3);
        b[i] =
            (struct lx_joint_buffer){.name = arena_format(a, "b%d", (int)i), .bytes = rng_between(r, 0, 20)};
        random_accesses(r, a, &p, p.label_count, labels, timed, &b[i]);
        p.label_count += labels;
    }
    for (int32_t i = 0; i < p.buffer_count; i++) {
        int32_t *parents = arena_array(a, MAX_BUFFERS, sizeof *parents);
        for (int32_t k = 0; k < p.buffer_count; k++)
            if (k != i && b[k].end == b[i].start + 1 && chance(r, 70)) parents[b[i].parent_count++] = k;
        b[i].parents = parents;
    }
    return p;
}

/* Loops around the ops of a problem: tiles per choice, copies and cuts that cost. */
static void give_tiles(struct rng *r, struct arena *a, struct lx_joint_problem *p)
{
    struct lx_joint_op *ops = arena_copy_array(a, p->ops, (size_t)p->op_count, sizeof *ops);
    struct lx_joint_buffer *b = arena_copy_array(a, p->buffers, (size_t)p->buffer_count, sizeof *b);
    p->tiled = true;
    p->cut_toll = rng_between(r, 0, 5);
    p->ops = ops;
    p->buffers = b;
    for (int32_t o = 0; o < p->op_count; o++) {
        int64_t *tiles = numbers(r, a, MAX_CHOICES, 2);
        bool *sums = arena_array(a, MAX_CHOICES, sizeof *sums);
        for (int32_t c = 0; c < MAX_CHOICES; c++) tiles[c]++, sums[c] = chance(r, 20);
        if (chance(r, 80)) ops[o].tiles = tiles;
        if (chance(r, 50)) ops[o].cuts_sums = sums;
    }
    for (int32_t i = 0; i < p->buffer_count; i++) {
        b[i].copy_toll = rng_between(r, 0, 9);
        b[i].leaves = chance(r, 20);
        b[i].tile_stays = b[i].leaves && chance(r, 50);
        if (chance(r, 60)) b[i].size = numbers(r, a, MAX_CHOICES, 9);
    }
}

/* Can exactly these buffers be placed together? */
static bool packable(const struct lx_problem *p, unsigned on)
{
    struct problem_builder list = problem_copy(p);
    int64_t address[MAX_BUFFERS];
    struct lx_answer answer = {.address = address};
    struct lx_run run = {0};
    lx_status st;
    list.problem.objective = LX_FIT;
    for (int32_t i = 0; i < p->count; i++)
        if (!(on >> i & 1)) list.buffers[i].reason = "not asked";
    assert_true(lx_problem_solve(&list.problem, lx_solver_find("exact"), &run, &answer, &st));
    assert_true(answer.status == LX_OPTIMAL || answer.status == LX_INFEASIBLE);
    problem_end(&list);
    return answer.status == LX_OPTIMAL;
}

/* --- Tiles, once more, from the words of joint.h alone. --- */

struct tiled_view {
    const struct lx_joint_problem *p;
    const int32_t *choice;
    int32_t run_end[MAX_OPS]; /* the last op of the run of each */
    int cuts;
};

static int64_t view_tiles(const struct tiled_view *v, int32_t op)
{
    return v->p->ops[op].tiles ? v->p->ops[op].tiles[v->choice[op]] : 1;
}

static int32_t view_label(const struct tiled_view *v, const struct lx_joint_access *a)
{
    return a->label ? a->label[v->choice[a->op]] : -1;
}

/* "A cut separates two consecutive ops with different tile counts, or with different labels of a shared buffer." */
static void view_runs(struct tiled_view *v)
{
    for (int32_t o = v->p->op_count - 1; o >= 0; o--) {
        v->run_end[o] = o;
        if (o + 1 == v->p->op_count) continue;
        bool cut = view_tiles(v, o) != view_tiles(v, o + 1);
        for (int32_t i = 0; i < v->p->buffer_count; i++)
            for (int32_t k = 1; k < v->p->buffers[i].access_count; k++) {
                const struct lx_joint_access *a = &v->p->buffers[i].accesses[k];
                if (a->op == o + 1 && a[-1].op == o)
                    cut |= view_label(v, a) < 0 || view_label(v, a) != view_label(v, &a[-1]);
            }
        v->cuts += cut;
        if (!cut) v->run_end[o] = v->run_end[o + 1];
    }
}

/* Size, life and uses of a buffer; a reason where it may not be on chip. Returns what its copy costs: that of a tile
 * that is needed outside of its run. A whole buffer that a run reads lives to the run's end: the next iteration reads it
 * again. */
static int64_t view_buffer(const struct tiled_view *v, int32_t i, int64_t *uses, struct lx_buffer *out)
{
    const struct lx_joint_buffer *b = &v->p->buffers[i];
    int32_t maker = b->accesses[0].op, last = b->accesses[b->access_count - 1].op,
            label = view_label(v, b->accesses);
    bool tile = view_tiles(v, maker) > 1, copied = tile && (b->leaves || last > v->run_end[maker]);
    bool agree = label >= 0;
    *out = (struct lx_buffer){
        .name = b->name, .start = b->start, .end = copied ? 0 : b->end, .fixed = -1, .uses = uses};
    for (int32_t k = 0; k < b->access_count; k++) {
        const struct lx_joint_access *a = &b->accesses[k];
        int64_t tick = v->p->ops[a->op].tick, end = v->p->ops[v->run_end[a->op]].tick + 1;
        if (copied && a->op > v->run_end[maker]) continue;
        agree = agree && view_label(v, a) == label;
        if (out->use_count == 0 || uses[out->use_count - 1] != tick) uses[out->use_count++] = tick;
        if (copied && out->end <= tick) out->end = tick + 1;
        if (!tile && view_tiles(v, a->op) > 1 && out->end < end) out->end = end;
    }
    if (copied && v->p->ops[maker].cuts_sums && v->p->ops[maker].cuts_sums[v->choice[maker]]) agree = false;
    out->first_use_is_read = b->first_use_is_read;
    if (!agree || (b->reason && !(tile && b->tile_stays))) out->reason = "barred";
    if (!out->reason) out->size = b->size ? b->size[v->choice[maker]] : v->p->label_size[label];
    return copied ? b->copy_toll + (b->leaves ? v->p->cut_toll : 0) : 0;
}

/* In the place of a parent that dies with the child's first op. */
static void view_parents(const struct tiled_view *v, struct lx_buffer *all, int32_t i, int32_t *parents)
{
    const struct lx_joint_buffer *b = &v->p->buffers[i];
    all[i].parents = parents;
    for (int32_t k = 0; k < b->parent_count; k++) {
        const struct lx_buffer *of = &all[b->parents[k]];
        if (!all[i].reason && !of->reason && !b->first_use_is_read && of->end == all[i].start + 1 &&
            all[i].size <= of->size && lx_read_count(of) > 0)
            parents[all[i].parent_count++] = b->parents[k];
    }
}

static int64_t view_cost(const struct tiled_view *v, unsigned on)
{
    int64_t cost = v->cuts * v->p->cut_toll;
    for (int32_t o = 0; o < v->p->op_count; o++) {
        int64_t toll = 0, memory = 0, compute = joint_at(v->p->ops[o].compute, v->choice[o]);
        for (int32_t i = 0; i < v->p->buffer_count; i++)
            for (int32_t k = 0; k < v->p->buffers[i].access_count; k++) {
                const struct lx_joint_access *a = &v->p->buffers[i].accesses[k];
                if (a->op != o || (on >> i & 1 && !a->always)) continue;
                toll += a->toll;
                memory += joint_at(a->memory, v->choice[o]);
            }
        cost += toll + joint_at(v->p->ops[o].extra, v->choice[o]) + (memory > compute ? memory : compute);
    }
    return cost;
}

static int64_t best_of_tiled_choices(const struct lx_joint_problem *p, const int32_t *choice, int64_t best)
{
    struct tiled_view v = {.p = p, .choice = choice};
    struct lx_buffer all[MAX_BUFFERS];
    int64_t uses[MAX_BUFFERS][2 * MAX_OPS], copies = 0;
    int32_t parents[MAX_BUFFERS][MAX_BUFFERS];
    unsigned eligible = 0;
    view_runs(&v);
    for (int32_t i = 0; i < p->buffer_count; i++) {
        copies += view_buffer(&v, i, uses[i], &all[i]);
        if (!all[i].reason && all[i].size <= p->capacity) eligible |= 1u << i;
    }
    for (int32_t i = 0; i < p->buffer_count; i++) view_parents(&v, all, i, parents[i]);
    const struct lx_problem placement = {
        .capacity = p->capacity, .alignment = p->alignment, .count = p->buffer_count, .buffers = all};
    for (unsigned on = eligible;; on = (on - 1) & eligible) {
        int64_t cost = view_cost(&v, on) + copies;
        if (cost < best && packable(&placement, on)) best = cost;
        if (on == 0) return best;
    }
}

static int64_t best_of_choices(const struct lx_joint_problem *p, const int32_t *choice, int64_t best)
{
    struct arena memory = {0};
    struct lx_problem placement;
    unsigned eligible = 0;
    if (p->tiled) return best_of_tiled_choices(p, choice, best);
    lx_joint_placement(p, choice, &memory, &placement);
    for (int32_t i = 0; i < placement.count; i++)
        if (!placement.buffers[i].reason && placement.buffers[i].size <= p->capacity) eligible |= 1u << i;
    for (unsigned on = eligible;; on = (on - 1) & eligible) {
        bool set[MAX_BUFFERS];
        for (int32_t i = 0; i < p->buffer_count; i++) set[i] = on >> i & 1;
        int64_t cost = lx_joint_cost(p, choice, set);
        if (cost < best && packable(&placement, on)) best = cost;
        if (on == 0) break;
    }
    arena_free(&memory);
    return best;
}

static int64_t brute_force(const struct lx_joint_problem *p)
{
    int32_t choice[MAX_OPS] = {0};
    int64_t best = INT64_MAX;
    for (;;) {
        best = best_of_choices(p, choice, best);
        int32_t o = 0;
        while (o < p->op_count && ++choice[o] == p->ops[o].choice_count) choice[o++] = 0;
        if (o == p->op_count) return best;
    }
}

static struct lx_joint_answer solve(const struct lx_joint_problem *p, enum lx_joint_mode mode,
                                    const char *solver, int64_t work, struct arena *memory)
{
    struct lx_joint_options how = {.mode = mode, .solver = lx_solver_find(solver), .run.work_limit = work};
    struct lx_joint_answer answer;
    lx_status st;
    if (!lx_joint_search(p, &how, memory, &answer, &st)) fail_msg("%s", st.text);
    return answer;
}

/* What is claimed must follow from choices and addresses. */
static void expect_honest(const struct lx_joint_problem *p, const struct lx_joint_answer *a)
{
    struct arena memory = {0};
    struct lx_problem placement;
    lx_status st;
    int64_t spill;
    bool on[MAX_BUFFERS];
    lx_joint_placement(p, a->choice, &memory, &placement);
    if (!lx_problem_check(&placement, a->address, &spill, &st)) fail_msg("%s", st.text);
    for (int32_t i = 0; i < p->buffer_count; i++) {
        on[i] = a->address[i] >= 0;
        if (on[i]) assert_int_equal(a->label[i], lx_joint_label(p, a->choice, i));
        if (on[i]) assert_true(a->label[i] >= 0);
    }
    assert_int_equal(a->objective, lx_joint_cost(p, a->choice, on));
    assert_true(a->bound <= a->objective);
    assert_int_equal(a->status == LX_OPTIMAL, a->bound == a->objective);
    arena_free(&memory);
}

static void random_against_brute_force(void **unused)
{
    (void)unused;
    int reached = 0, proved = 0, total = 3000;
    for (int i = 0; i < total; i++) {
        struct rng r = rng_seed((uint64_t)i);
        struct arena a = {0};
        struct lx_joint_problem p = random_joint(&r, &a);
        int64_t best = brute_force(&p);
        struct lx_joint_answer full = solve(&p, LX_JOINT_FULL, "exact", 0, &a);
        struct lx_joint_answer flip = solve(&p, LX_JOINT_FLIP, "exact", 0, &a);
        struct lx_joint_answer seed = solve(&p, LX_JOINT_SEED, "exact", 0, &a);
        expect_honest(&p, &full);
        expect_honest(&p, &flip);
        expect_honest(&p, &seed);
        if (full.objective < best || full.bound > best || flip.bound > best || seed.bound > best ||
            full.objective > flip.objective || full.objective > seed.objective)
            fail_msg("seed %d: best %lld, full %lld, bounds %lld %lld %lld, flip %lld, seed %lld", i,
                     (long long)best, (long long)full.objective, (long long)full.bound, (long long)flip.bound,
                     (long long)seed.bound, (long long)flip.objective, (long long)seed.objective);
        assert_int_equal(seed.objective, full.seed_objective);
        reached += full.objective == best;
        proved += full.status == LX_OPTIMAL;
        arena_free(&a);
    }
    print_message("full reached the optimum in %d of %d, and proved it in %d\n", reached, total, proved);
    assert_true(reached * 100 >= total * 97);
}

/* With tiles all choices are tried: what costs nothing but bytes is proved. */
static void tiles_against_brute_force(void **unused)
{
    (void)unused;
    int proved = 0, total = 1500;
    for (int i = 0; i < total; i++) {
        struct rng r = rng_seed(200000 + (uint64_t)i);
        struct arena a = {0};
        struct lx_joint_problem p = random_joint(&r, &a);
        bool timed = p.ops[0].compute != NULL;
        give_tiles(&r, &a, &p);
        int64_t best = brute_force(&p);
        struct lx_joint_answer full = solve(&p, LX_JOINT_FULL, "exact", 0, &a);
        expect_honest(&p, &full);
        if (full.bound > best || full.objective < best || (!timed && full.objective != best))
            fail_msg("seed %d: best %lld, found %lld, bound %lld", i, (long long)best,
                     (long long)full.objective, (long long)full.bound);
        proved += full.status == LX_OPTIMAL;
        arena_free(&a);
    }
    print_message("with tiles: proved %d of %d\n", proved, total);
    assert_true(proved * 3 >= total);
}

/* Whatever the limit, the answer is legal and no worse than the seed; and each run is like the other. */
static void limits_and_repetition(void **unused)
{
    (void)unused;
    static const int64_t limits[] = {1, 10, 100, 0};
    for (int i = 0; i < OFTEN(400); i++) {
        struct rng r = rng_seed(100000 + (uint64_t)i);
        struct arena a = {0};
        struct lx_joint_problem p = random_joint(&r, &a);
        for (unsigned k = 0; k < sizeof limits / sizeof *limits; k++) {
            struct lx_joint_answer one = solve(&p, LX_JOINT_FULL, "bestfit", limits[k], &a);
            struct lx_joint_answer two = solve(&p, LX_JOINT_FULL, "bestfit", limits[k], &a);
            expect_honest(&p, &one);
            assert_true(one.objective <= one.seed_objective);
            assert_int_equal(one.steps, two.steps);
            assert_int_equal(one.bound, two.bound);
            assert_memory_equal(one.choice, two.choice, (size_t)p.op_count * sizeof *one.choice);
            assert_memory_equal(one.address, two.address, (size_t)p.buffer_count * sizeof *one.address);
        }
        arena_free(&a);
    }
}

/* A writer and a reader whose seeds see the buffer differently; the writer has `flips` flips, and the last
 * one agrees with the reader. */
static struct lx_joint_problem flip_problem(int32_t flips, struct arena *a)
{
    struct lx_joint_op *ops = arena_array(a, 2, sizeof *ops);
    struct lx_joint_buffer *b = arena_array(a, 1, sizeof *b);
    struct lx_joint_access *x = arena_array(a, 2, sizeof *x);
    int32_t *label = arena_array(a, (size_t)flips + 1, sizeof *label),
            *reader = arena_array(a, 1, sizeof *reader);
    bool *flip = arena_array(a, (size_t)flips + 1, sizeof *flip);
    int64_t *sizes = arena_array(a, (size_t)flips + 1, sizeof *sizes);
    for (int32_t c = 0; c <= flips; c++) {
        label[c] = c;
        flip[c] = c > 0;
        sizes[c] = 64;
    }
    *reader = flips;
    ops[0] = (struct lx_joint_op){.name = "write", .tick = 0, .choice_count = flips + 1, .flip = flip};
    ops[1] = (struct lx_joint_op){.name = "read", .tick = 1, .choice_count = 1};
    x[0] = (struct lx_joint_access){.op = 0, .toll = 64, .label = label};
    x[1] = (struct lx_joint_access){.op = 1, .toll = 64, .label = reader};
    *b = (struct lx_joint_buffer){
        .name = "t", .bytes = 64, .start = 0, .end = 2, .accesses = x, .access_count = 2};
    return (struct lx_joint_problem){.capacity = 128,
                                     .alignment = 64,
                                     .op_count = 2,
                                     .buffer_count = 1,
                                     .label_count = flips + 1,
                                     .ops = ops,
                                     .buffers = b,
                                     .label_size = sizes};
}

static void flips_up_to_the_cap(void **unused)
{
    (void)unused;
    for (int32_t flips = 1; flips < 10; flips++) {
        struct arena a = {0};
        struct lx_joint_problem p = flip_problem(flips, &a);
        assert_int_equal(solve(&p, LX_JOINT_SEED, "greedy", 0, &a).objective, 128);
        struct lx_joint_answer flip = solve(&p, LX_JOINT_FLIP, "greedy", 0, &a);
        /* Six variants per op, the seed among them. */
        assert_int_equal(flip.objective, flips <= 5 ? 0 : 128);
        assert_int_equal(flip.leaves, 1 + (flips < 5 ? flips : 5) + 1);
        struct lx_joint_answer full = solve(&p, LX_JOINT_FULL, "greedy", 0, &a);
        assert_int_equal(full.objective, 0);
        assert_int_equal(full.status, LX_OPTIMAL);
        assert_int_equal(full.choice[0], flips);
        arena_free(&a);
    }
}

static void refuses_what_is_no_problem(void **unused)
{
    (void)unused;
    struct arena a = {0};
    struct lx_joint_problem p = flip_problem(2, &a);
    struct lx_joint_op *ops = arena_copy_array(&a, p.ops, (size_t)p.op_count, sizeof *ops);
    struct lx_joint_buffer *buffers =
        arena_copy_array(&a, p.buffers, (size_t)p.buffer_count, sizeof *buffers);
    struct lx_joint_access *x =
        arena_copy_array(&a, buffers[0].accesses, (size_t)buffers[0].access_count, sizeof *x);
    buffers[0].accesses = x;
    p.ops = ops;
    p.buffers = buffers;
    lx_status st;
    assert_true(lx_joint_validate(&p, &st));
    ops[0].seed = 3;
    assert_false(lx_joint_validate(&p, &st));
    ops[0].seed = 0;
    ops[1].tick = 0;
    assert_false(lx_joint_validate(&p, &st));
    ops[1].tick = 1;
    x[1].toll = -1;
    assert_false(lx_joint_validate(&p, &st));
    x[1].toll = INT64_MAX / 2;
    assert_false(lx_joint_validate(&p, &st));
    x[1].toll = 64;
    p.label_count = 1;
    assert_false(lx_joint_validate(&p, &st));
    p.label_count = 3;
    p.capacity = -1;
    assert_false(lx_joint_validate(&p, &st));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_against_brute_force), cmocka_unit_test(tiles_against_brute_force),
        cmocka_unit_test(limits_and_repetition),      cmocka_unit_test(flips_up_to_the_cap),
        cmocka_unit_test(refuses_what_is_no_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
