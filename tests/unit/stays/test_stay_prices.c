/* The problem of a draft tells the truth: its cost and the draft's constant are what a placement really moves, of every
 * placement, legal or not. Random graphs under random passes, cuts, borders and relayouts. */
#include "unstable.h"
#include "base/memory.h"
#include "stays/draft.h"
#include "support/other_sizes.h"
#include "support/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { GRAPHS = 200, DRAFTS = 6, PLACEMENTS = 12, MOST_CUTS = 40 };

static bool all_of(const struct lx_group *g, const int64_t *address, bool on)
{
    for (int32_t i = 0; i < g->count; i++)
        if ((address[g->at[i]] >= 0) != on) return false;
    return true;
}

/* By the words of lx_charge. */
static bool is_paid(const struct lx_linked_cost *c, const int64_t *address)
{
    bool any = c->any_on.count + c->any_off.count == 0;
    for (int32_t i = 0; i < c->any_on.count; i++) any |= address[c->any_on.at[i]] >= 0;
    for (int32_t i = 0; i < c->any_off.count; i++) any |= address[c->any_off.at[i]] < 0;
    return any && all_of(&c->all_on, address, true) && all_of(&c->all_off, address, false);
}

static int64_t cost_of(const struct lx_problem *p, const int64_t *address)
{
    int64_t cost = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (address[i] < 0)
            cost += b->spill_cost;
        else if (b->on_costs)
            cost += b->on_costs[0];
    }
    for (int32_t i = 0; i < p->bonds.linked_cost_count; i++) {
        const struct lx_linked_cost *c = &p->bonds.linked_costs[i];
        if (is_paid(c, address)) cost += c->cost;
    }
    return cost;
}

struct seen {
    int64_t drafts, linked_costs, relayouts, barred, cut;
};

static void place_at_random(struct rng *r, const struct draft *x, int64_t *address)
{
    uint64_t often = rng_below(r, 5);
    for (int32_t i = 0; i < x->problem.count; i++)
        address[i] = !x->stays[i].exclusion && rng_below(r, 4) < often ? 0 : LX_OFF_CHIP;
}

static void compare(struct rng *r, const struct draft *x, struct seen *seen)
{
    int64_t *address = mem_alloc(((size_t)x->problem.count + 1) * sizeof *address), bytes;
    for (int k = 0; k < PLACEMENTS; k++) {
        place_at_random(r, x, address);
        assert_true(traffic_count(x, address, &bytes));
        assert_int_equal(x->base_bytes + cost_of(&x->problem, address), bytes);
        assert_true(x->least_bytes <= bytes);
    }
    for (int32_t i = 0; i < x->problem.count; i++) {
        seen->relayouts += x->stays[i].ring_source >= 0;
        seen->barred += x->stays[i].exclusion != LX_EXCLUDED_NONE;
    }
    seen->linked_costs += x->problem.bonds.linked_cost_count;
    seen->drafts++;
    mem_free(address);
}

/* The least without limit is met by some placement: tensor by tensor, the stays of one being few. */
static void least_is_met(const struct draft *x)
{
    enum { MOST = 10 };
    int64_t *address = mem_alloc(((size_t)x->problem.count + 1) * sizeof *address), all_off, sum;
    for (int32_t i = 0; i < x->problem.count; i++) address[i] = LX_OFF_CHIP;
    assert_true(traffic_count(x, address, &all_off));
    sum = all_off;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) {
        int32_t own[MOST], count = 0;
        int64_t least = all_off, bytes;
        for (int32_t i = 0; i < x->problem.count; i++) {
            if (x->stays[i].tensor != t || x->stays[i].exclusion) continue;
            if (count == MOST) goto out;
            own[count++] = i;
        }
        for (int bits = 0; bits < 1 << count; bits++) {
            for (int32_t k = 0; k < count; k++) address[own[k]] = bits >> k & 1 ? 0 : LX_OFF_CHIP;
            traffic_count(x, address, &bytes);
            if (bytes < least) least = bytes;
        }
        for (int32_t k = 0; k < count; k++) address[own[k]] = LX_OFF_CHIP;
        sum -= all_off - least;
    }
    assert_int_equal(x->least_bytes, sum);
out:
    mem_free(address);
}

static struct lx_passes random_passes(struct rng *r)
{
    return (struct lx_passes){.clone = (int)rng_below(r, LX_CLONE_COUNT),
                              .no_outputs = rng_below(r, 4) == 0,
                              .no_in_place = rng_below(r, 4) == 0,
                              .no_dump = rng_below(r, 4) == 0,
                              .no_ring = rng_below(r, 4) == 0};
}

/* Random tensors before random ops; in order, each once. */
static int32_t random_cuts(struct rng *r, const struct lx_graph *g, struct cut *out)
{
    int32_t count = 0;
    if (g->tensor_count == 0) return 0;
    for (uint64_t n = rng_below(r, MOST_CUTS); n > 0; n--) {
        struct cut c = {(int32_t)rng_below(r, (uint32_t)g->tensor_count),
                        (int32_t)rng_below(r, (uint32_t)g->op_count)};
        if (!cut_among(out, count, c)) out[count++] = c;
        qsort(out, (size_t)count, sizeof *out, cut_compare);
    }
    return count;
}

static void draft_and_compare(struct rng *r, const struct lx_divisions *d, struct seen *seen)
{
    struct cut cuts[MOST_CUTS], loaded[MOST_CUTS];
    struct decisions how = {.passes = random_passes(r), .cuts = cuts, .loaded = loaded};
    struct arena memory = {0};
    struct draft x;
    lx_status st = {0};
    if (rng_below(r, 2)) how.cut_count = random_cuts(r, d->layouts->graph, cuts);
    if (rng_below(r, 2)) how.loaded_count = random_cuts(r, d->layouts->graph, loaded);
    how.lax = rng_below(r, 2);
    how.unlimited = rng_below(r, 4) == 0;
    if (!draft_make(d, &how, &memory, &x, &st)) fail_msg("%s", st.text);
    compare(r, &x, seen);
    least_is_met(&x);
    seen->cut += how.cut_count;
    draft_free(&x);
    arena_free(&memory);
}

static void cost_is_traffic(void **state)
{
    (void)state;
    struct rng r = rng_seed(20261116);
    struct seen seen = {0};
    for (int i = 0; i < GRAPHS; i++) {
        static const int64_t cores[] = {1, 4, 8, 32};
        struct random_graph_shape shape = {.ops = 3 + (int)rng_below(&r, 22),
                                           .with_views = i & 1,
                                           .with_externs = i & 2,
                                           .again = i & 4,
                                           .cores = cores[rng_below(&r, 4)]};
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        if (!g) fail_msg("%s", st.text);
        struct lx_device device = g->device;
        device.bundle_tensors = rng_below(&r, 3) == 0 ? 6 : 0;
        device.lx_survives = i % 3 == 0;
        g = with_capacity(with_device(g, &device), 128 * (1 + (int64_t)rng_below(&r, 100)));
        struct lx_layouts *l = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
        struct lx_divisions *d = l ? lx_divide(l, &(struct lx_divide_options){0}, &st) : NULL;
        if (!d) fail_msg("%s", st.text);
        for (int k = 0; k < DRAFTS; k++) draft_and_compare(&r, d, &seen);
        lx_divisions_free(d);
        lx_layouts_free(l);
        lx_graph_free(g);
    }
    /* The test is worth something only if there was all of it. */
    assert_true(seen.linked_costs > 500 && seen.relayouts > 200 && seen.barred > 1000 && seen.cut > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cost_is_traffic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
