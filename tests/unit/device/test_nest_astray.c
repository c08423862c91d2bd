/* Plans with nests that are right, on a device that is led astray: an op of one iteration works on the tile of another, is
 * left out or done twice, an iteration is skipped, a sum begins anew or goes on with what was there, a bit of a tile flips.
 * Each of these changes what is computed or counted, and must be told. */
#include "support/nest_plans.h"
#include "base/rng.h"
#include "device/memory/machine.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { WANTED = SAMPLED ? 400 : 1000, MOST_PLANS = SAMPLED ? 40 : 80 };

/* Before the tick of op m->tick. False: it can not be done here. */
typedef bool lead_astray(struct machine *m, struct rng *r);

/* The index of one level, for this op only; the next has the right one again. */
static bool other_tile(struct machine *m, struct rng *r)
{
    const struct lx_nest *n = m->at.nest;
    int l = (int)rng_below(r, (uint64_t)n->level_count);
    m->at.index[l] = (m->at.index[l] + rng_between(r, 1, n->tiles[l] - 1)) % n->tiles[l];
    return true;
}

static bool op_left_out(struct machine *m, struct rng *r)
{
    (void)r;
    if (m->tick == m->at.nest->last) return false;
    m->tick++;
    return true;
}

static bool op_done_twice(struct machine *m, struct rng *r)
{
    (void)r;
    if (m->tick == m->at.nest->first) return false;
    m->tick--;
    return true;
}

static bool iteration_skipped(struct machine *m, struct rng *r)
{
    (void)r;
    if (m->tick != m->at.nest->first || iteration_inner_last(&m->at, 0)) return false;
    return iteration_next(&m->at);
}

/* Tiles that a sum has are forgotten, or some are claimed that it does not have. */
static bool sum_begins_anew(struct machine *m, struct rng *r)
{
    unsigned summed = m->summed[m->graph->ops[m->tick].output];
    (void)r;
    if (!summed) return false;
    for (int l = 0; l < m->at.nest->level_count; l++)
        if (summed & level_bit(l)) m->at.index[l] = m->at.index[l] ? 0 : 1;
    return true;
}

/* A bit of what the op reads, where it reads it. */
static bool bit_flipped(struct machine *m, struct rng *r)
{
    struct arena scratch = {0};
    const struct lx_op *op = machine_op(m);
    int operand = (int)rng_below(r, (uint64_t)op->input_count);
    int64_t faults = m->fault_count;
    if (m->plan->accesses[m->plan->access_at[m->tick] + operand].stay < 0) return false;
    m->scratch = &scratch;
    struct place p = place_of_access(m, operand, 0);
    m->scratch = NULL;
    arena_free(&scratch);
    int64_t stick = p.in ? p.address / m->stick_bytes : -1;
    /* What is loaded before the op would overwrite it. */
    if (!p.in || p.stay < 0 || m->fault_count > faults || m->filled[p.stay] != m->round ||
        m->plan->problem.buffers[p.stay].start == m->tick || p.in->tags[stick].owner != p.stay)
        return false;
    p.in->bytes[p.address] ^= (unsigned char)(1 << rng_below(r, 8));
    return true;
}

static const struct {
    const char *name;
    lead_astray *lead;
    bool one_op; /* the index is right again with the next op */
} ways[] = {{"another tile", other_tile, true},         {"op left out", op_left_out, false},
            {"op done twice", op_done_twice, false},    {"iteration skipped", iteration_skipped, false},
            {"sum begins anew", sum_begins_anew, true}, {"bit flipped", bit_flipped, false}};
enum { WAYS = sizeof ways / sizeof *ways };

static int64_t steps_of(const struct lx_plan *p)
{
    int64_t steps = p->layouts->graph->op_count;
    for (int32_t n = 0; n < p->nest_count; n++)
        steps += (nest_iterations(&p->nests[n]) - 1) * (p->nests[n].last - p->nests[n].first + 1);
    return steps;
}

/* Where the device would be if it had not been led astray at op `tick`. */
static void put_right(struct machine *m, int32_t tick, struct iteration right)
{
    const struct lx_nest *n = right.nest;
    m->at = right;
    m->tick = tick + 1;
    if (tick < n->last) return;
    if (iteration_next(&m->at)) {
        m->tick = n->first;
        m->round++;
    } else
        m->at = iteration_at(m->plan, m->tick);
}

/* Runs the plan, led astray from a random step on as soon as that can be. NULL: it never could. */
static struct lx_run_result *run_astray(const struct lx_plan *p, int way, struct rng *r)
{
    lx_status st = {0};
    struct lx_device_options how = {.verify = LX_VERIFY_OPS};
    struct lx_execution *d = lx_device_begin(p, &how, &st);
    struct machine *m = (struct machine *)(void *)d; /* its first member */
    int64_t from = (int64_t)rng_below(r, (uint64_t)steps_of(p)), step = 0;
    bool done = false;
    assert_non_null(d);
    for (; lx_device_next(d) < p->layouts->graph->op_count; step++) {
        struct iteration right = m->at;
        int32_t tick = m->tick;
        bool now = !done && step >= from && m->at.nest && ways[way].lead(m, r);
        assert_true(lx_device_tick(d, &st));
        if (now && ways[way].one_op) put_right(m, tick, right);
        done |= now;
    }
    struct lx_run_result *result = lx_device_end(d, &st);
    if (done) return result;
    if (result && !result->ok) fail_msg("it was right");
    lx_run_result_free(result);
    return NULL;
}

static int find_plans(struct lx_plan **plans)
{
    cJSON *all = tiling_cases();
    const cJSON *c;
    int n = 0;
    cJSON_ArrayForEach(c, case_array(all))
    {
        lx_status st = {0};
        struct lx_plan *p = n < MOST_PLANS ? plan_of_case(c, LX_ASK_TRAFFIC, &st) : NULL;
        if (p && p->nest_count > 0)
            plans[n++] = p;
        else
            lx_plan_free(p);
    }
    cJSON_Delete(all);
    return n;
}

static void every_error_is_told(void **state)
{
    (void)state;
    struct lx_plan *plans[MOST_PLANS];
    int n = find_plans(plans), told[WAYS] = {0}, tried[WAYS] = {0}, all = 0, missed = 0;
    struct rng r = rng_seed(5);
    for (int i = 0; all < WANTED && i < 50 * WANTED; i++) {
        int k = (int)rng_below(&r, (uint64_t)n);
        struct lx_run_result *result = run_astray(plans[k], i % WAYS, &r);
        if (!result) continue;
        all++;
        tried[i % WAYS]++;
        told[i % WAYS] += !result->ok;
        if (result->ok) print_message("plan %d (%s): %s\n", k, plans[k]->graph->name, ways[i % WAYS].name);
        missed += result->ok;
        lx_run_result_free(result);
    }
    for (int w = 0; w < WAYS; w++) {
        print_message("%-18s %4d of %4d told\n", ways[w].name, told[w], tried[w]);
        assert_true(tried[w] > 0);
    }
    for (int i = 0; i < n; i++) lx_plan_free(plans[i]);
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_error_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
