/* No proof is above a plan: what the checker proves of a plan with nothing on chip is at most what the best
 * plans of the same graph, device and passes move. `test_proofs_hold N SEED` takes N graphs instead of the usual few. */
#include "base/rng.h"
#include "support/device_plans.h"
#include "support/random_graph.h"
#include "support/random_problem.h"
#include "support/sampled.h"

static int wanted = OFTEN(1200), seed = 77;

static bool nothing_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    (void)p, (void)run, (void)answer; /* on entry every address is off chip */
    return true;
}

static const struct lx_solver nothing = {.abi = LX_SOLVER_ABI,
                                         .name = "nothing",
                                         .summary = "leaves everything off chip",
                                         .caps = LX_CAN_SPILL,
                                         .solve = nothing_solve};

/* Facts of a proof that are passes of the plan: the search may drop some. */
static bool same_passes(const struct lx_passes *a, const struct lx_passes *b)
{
    return (a->clone == LX_CLONE_NONE) == (b->clone == LX_CLONE_NONE) && a->no_outputs == b->no_outputs &&
           a->no_in_place == b->no_in_place && a->tile == b->tile && a->evict == b->evict;
}

/* The same ops and layouts: what a proof is about. */
static bool same_ops(const struct lx_plan *a, const struct lx_plan *b)
{
    const struct lx_graph *g = a->layouts->graph, *h = b->layouts->graph;
    if (g->op_count != h->op_count || g->tensor_count != h->tensor_count) return false;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (!lx_layout_equal(&a->layouts->layouts[t], &b->layouts->layouts[t])) return false;
    return true;
}

/* Proofs without nests are about these, and so are all bounds of the planner. */
static bool same_splits(const struct lx_plan *a, const struct lx_plan *b)
{
    for (int32_t o = 0; o < a->layouts->graph->op_count; o++) {
        const struct lx_division *d = &a->divisions->at[o], *e = &b->divisions->at[o];
        if (d->split_count != e->split_count) return false;
        for (int k = 0; k < d->split_count; k++)
            if (d->splits[k].split != e->splits[k].split || d->splits[k].letter != e->splits[k].letter)
                return false;
    }
    return true;
}

/* The least that the checker proves by the plan's own facts, asked for one byte more than `bytes`; -1: cannot
 * be asked. */
static int64_t proved_above(struct lx_plan *p, int64_t bytes)
{
    lx_status st = {0};
    struct lx_check_report r;
    bool height = p->problem.objective == LX_HEIGHT;
    int64_t claim = bytes + 1 - (height ? 0 : p->figures.perfect_hbm_bytes);
    if (claim > (height ? p->figures.height_bytes : p->figures.spill_bytes)) return -1;
    p->figures.bound_bytes = claim;
    p->asks_time = p->balanced = false;
    p->figures.bound_us = 0;
    p->answer.status = LX_FEASIBLE;
    p->certificate = NULL;
    lx_plan_certify(p);
    if (!lx_plan_check_report(p, &r, &st)) fail_msg("%s", st.text);
    return r.least;
}

static int tried, proofs;

/* Plans of a question by different ways: the best of each is what no proof may be above. */
static const struct {
    const char *solver; /* NULL: nothing on chip */
    enum lx_ask asks;
} ways[] = {{NULL, LX_ASK_TRAFFIC},    {"auto", LX_ASK_TRAFFIC},  {"auto", LX_ASK_TIME},
            {"auto", LX_ASK_BALANCED}, {"exact", LX_ASK_TRAFFIC}, {"greedy", LX_ASK_TRAFFIC}};
enum { WAYS = sizeof ways / sizeof *ways };

static void try_passes(const struct lx_graph *g, const struct lx_passes *passes, int number)
{
    struct lx_plan *plans[WAYS];
    int64_t claims[WAYS]; /* by the planner */
    for (int i = 0; i < WAYS; i++) {
        lx_status st = {0};
        struct lx_plan_options how = {.passes = *passes, .objective = ways[i].asks};
        how.solver = ways[i].solver ? lx_solver_find(ways[i].solver) : &nothing;
        plans[i] = lx_plan_make(g, &how, &st);
        if (!plans[i]) fail_msg("graph %d: %s", number, st.text);
        claims[i] = plans[i]->asks_time ? 0 : lx_plan_least(plans[i]);
    }
    for (int i = 0; i < WAYS; i++) {
        int64_t best = INT64_MAX;
        for (int k = 0; k < WAYS; k++) {
            int64_t bytes = plans[k]->figures.hbm_bytes;
            if (!same_ops(plans[i], plans[k])) continue;
            bool splits = same_splits(plans[i], plans[k]);
            if (same_passes(&plans[i]->passes, &plans[k]->passes) && (splits || passes->tile == LX_TILE_AUTO))
                best = min_i64(best, bytes);
            if (splits && claims[i] > bytes)
                fail_msg("graph %d: way %d claims %" PRId64 ", but way %d moves %" PRId64, number, i,
                         claims[i], k, bytes);
        }
        int64_t least = proved_above(plans[i], best);
        tried += least >= 0;
        if (least > best)
            fail_msg("graph %d, %d cores, %d bytes, tile %d evict %d limit %d: proved %" PRId64
                     " by the plan of way %d, but a plan moves %" PRId64,
                     number, (int)g->device.cores, (int)plans[0]->problem.capacity, passes->tile,
                     passes->evict, (int)g->device.bundle_tensors, least, i, best);
        /* It is no vacuous question: less is often proved. */
        if (least >= 0 && proved_above(plans[i], best - 1) == best) proofs++;
    }
    for (int i = 0; i < WAYS; i++) lx_plan_free(plans[i]);
}

static void no_proof_is_above_a_plan(void **state)
{
    (void)state;
    static const int64_t cores[] = {1, 2, 4, 8};
    struct rng r = rng_seed((uint64_t)seed);
    for (int i = 0; i < wanted; i++) {
        struct random_graph_shape shape = {.ops = 3 + (int)rng_below(&r, 6),
                                           .with_views = rng_below(&r, 4) == 0,
                                           .with_externs = rng_below(&r, 6) == 0,
                                           .again = rng_below(&r, 3) == 0,
                                           .with_results = rng_below(&r, 3) == 0,
                                           .cores = cores[rng_below(&r, 4)]};
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        if (!g) fail_msg("%s", st.text);
        struct lx_passes passes = {.tile = rng_below(&r, 2) ? LX_TILE_AUTO : LX_TILE_NONE,
                                   .evict = rng_below(&r, 3) == 0,
                                   .move = rng_below(&r, 3) == 0,
                                   .no_ring = rng_below(&r, 5) == 0,
                                   .no_outputs = rng_below(&r, 5) == 0,
                                   .no_in_place = rng_below(&r, 5) == 0,
                                   .clone = (int)rng_below(&r, 3)};
        struct lx_device device = g->device;
        device.bundle_tensors = rng_below(&r, 2) ? rng_between(&r, 3, 8) : 0;
        device.lx_survives = rng_between(&r, 0, 1);
        device.uneven = rng_between(&r, 0, 1);
        device.lx_usable_bytes = 128 * rng_between(&r, 1, 100) + 4 * rng_between(&r, 0, 20);
        g = with_device(g, &device);
        try_passes(g, &passes, i);
        lx_graph_free(g);
    }
    print_message("%d times no more was proved than a plan moves, %d times as much\n", tried, proofs);
    assert_true(tried > wanted / 4 && proofs > tried / 8);
}

/* Lists: by the plan of each solver no more may be proved than the best of them reaches. */
static void no_proof_is_above_an_answer(void **state)
{
    (void)state;
    static const char *const solvers[] = {"greedy", "bestfit", "auto", "exact", "ilp"};
    enum { SOLVERS = sizeof solvers / sizeof *solvers };
    struct rng r = rng_seed((uint64_t)seed);
    int asked = 0, sharp = 0;
    for (int i = 0; i < wanted; i++) {
        struct arena memory = {0};
        struct lx_plan *plans[SOLVERS + 1] = {NULL};
        struct problem_shape shape = {2 + (int)rng_below(&r, 11), rng_between(&r, 2, 12),
                                      rng_between(&r, 1, 12),     rng_between(&r, 1, 24),
                                      1 << rng_below(&r, 5),      rng_below(&r, 3) ? 0 : 10,
                                      rng_below(&r, 3) ? 0 : 10};
        enum lx_objective objective = rng_below(&r, 3) ? LX_SPILL : LX_HEIGHT;
        struct lx_problem q = random_problem(&r, &shape, objective, &memory);
        reconcile_fixed(&q, &memory);
        size_t length;
        char *text = problem_as_pattern(&q, &length);
        lx_status st = {0};
        const struct lx_graph *g = lx_graph_of_text("list", text, length, &st);
        if (!g) fail_msg("list %d: %s", i, st.text);
        int64_t best = INT64_MAX;
        for (int k = 0; k <= SOLVERS; k++) {
            struct lx_plan_options how = {.solver = k < SOLVERS ? lx_solver_find(solvers[k]) : &nothing};
            if (objective == LX_HEIGHT && k == SOLVERS) continue;
            plans[k] = lx_plan_make(g, &how, &st);
            if (plans[k]) best = min_i64(best, lx_plan_objective(plans[k]));
        }
        for (int k = 0; k <= SOLVERS && best < INT64_MAX; k++) {
            int64_t least = plans[k] ? proved_above(plans[k], best) : -1;
            asked += least >= 0;
            if (least > best)
                fail_msg("list %d: proved %" PRId64 ", but %" PRId64 " is possible:\n%s", i, least, best,
                         text);
            sharp += least >= 0 && proved_above(plans[k], best - 1) == best;
        }
        for (int k = 0; k <= SOLVERS; k++) lx_plan_free(plans[k]);
        lx_graph_free(g);
        mem_free(text);
        arena_free(&memory);
    }
    print_message("%d times no more was proved than an answer has, %d times as much\n", asked, sharp);
    assert_true(asked > wanted / 2 && sharp > asked / 8);
}

static const struct lx_graph *graph_of(const char *name, const char *tensors, const char *ops, int64_t usable,
                                       int bundle_tensors)
{
    char text[3000];
    lx_status st = {0};
    int n = snprintf(
        text, sizeof text,
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"%s\", \"device\": {\"preset\": \"spyre\", "
        "\"lx_usable_bytes\": %d, \"bundle_tensors\": %d}, \"tensors\": [%s], \"ops\": [%s]}",
        name, (int)usable, bundle_tensors, tensors, ops);
    const struct lx_graph *g = lx_graph_of_text(name, text, (size_t)n, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

#define TENSOR(name, shape, role)                                                                            \
    "{\"name\": \"" name "\", \"shape\": " shape ", \"dtype\": \"fp16\", \"role\": \"" role "\"}"
#define OP(name, kind, input, output)                                                                        \
    "{\"name\": \"" name "\", \"kind\": \"" kind "\", \"inputs\": [\"" input "\"], \"output\": \"" output    \
    "\"}"
#define ROWS "[128, 256]"

/* A plan of the graph with its bundles, for a device that asks for none. */
static struct lx_plan *stated_without_limit(const struct lx_graph *g, const struct lx_solver *solver)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = solver, .passes = {.tile = LX_TILE_NONE}};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    size_t length;
    char *text = lx_plan_to_json(p, &length), *at, *hash = strstr(text, "\"pattern_hash\"");
    memcpy(hash, "\"another_hash", 13);
    for (at = text; (at = strstr(at, "\"bundle_tensors\": 4"));) at[18] = '0';
    struct lx_plan *stated = lx_plan_of_text("stated", text, length, &st);
    if (!stated || !lx_plan_check(stated, &st)) fail_msg("%s", st.text);
    assert_true(stated->layouts->graph->device.bundle_tensors == 0 && stated->bundle_count > 1);
    lx_plan_free(p);
    mem_free(text);
    return stated;
}

/* Two tensors that fit one at a time: the border of a bundle takes the first off the chip though none may be evicted. A
 * device without a limit has borders, too, where a plan of another maker states them. */
static void bundles_take_tensors_off_the_chip(void **state)
{
    (void)state;
    static const char tensors
        [] = TENSOR("x", ROWS, "input") ", " TENSOR("t", ROWS, "intermediate") ", " TENSOR("a", ROWS, "output") ", " TENSOR(
            "z", ROWS,
            "input") ", " TENSOR("b", ROWS,
                                 "intermediate") ", " TENSOR("b1", ROWS,
                                                             "output") ", " TENSOR("b2", ROWS,
                                                                                   "output") ", " TENSOR("c",
                                                                                                         ROWS,
                                                                                                         "out"
                                                                                                         "pu"
                                                                                                         "t") ", " TENSOR("d",
                                                                                                                          ROWS,
                                                                                                                          "output");
    static const char ops[] =
        OP("p0", "relu", "x", "t") ", " OP("p1", "exp", "t", "a") ", " OP("q0", "relu", "z", "b") ", " OP(
            "q1", "exp", "b", "b1") ", " OP("q2", "relu", "b", "b2") ", " OP("p2", "relu", "t",
                                                                             "c") ", " OP("p3", "exp", "t",
                                                                                          "d");
    const struct lx_graph *g = graph_of("bundles", tensors, ops, 2048, 4),
                          *free = graph_of("bundles", tensors, ops, 2048, 0);
    const struct lx_passes passes = {.tile = LX_TILE_NONE};
    tried = 0;
    try_passes(g, &passes, -1);
    try_passes(free, &passes, -1);
    assert_true(tried > 1);
    struct lx_plan *on = stated_without_limit(g, lx_solver_find("auto")),
                   *off = stated_without_limit(g, &nothing);
    assert_true(proved_above(off, on->figures.hbm_bytes) <= on->figures.hbm_bytes);
    lx_plan_free(on);
    lx_plan_free(off);
    lx_graph_free(free);
    lx_graph_free(g);
}

/* A nest of runs that share no tensor would need less room than proofs assume; nobody plans one. */
static void tensors_join_the_ops_of_a_nest(void **state)
{
    (void)state;
    static const char nests[] = "\"nests\": [",
                      one[] = "{\"first\": 0, \"last\": 3, \"tiles\": [4], \"vars\": [0, 0, 0, 0]}], ";
    const struct lx_graph *g = graph_of(
        "pairs",
        TENSOR("x", "[1024, 256]", "input") ", " TENSOR("y", "[1024, 256]", "intermediate") ", " TENSOR(
            "o", "[1024, 256]",
            "output") ", " TENSOR("z", "[512, 256]",
                                  "input") ", " TENSOR("w", "[512, 256]",
                                                       "intermediate") ", " TENSOR("p", "[512, 256]",
                                                                                   "output"),
        OP("a1", "relu", "x", "y") ", " OP("a2", "exp", "y", "o") ", " OP("b1", "relu", "z",
                                                                          "w") ", " OP("b2", "exp", "w", "p"),
        8192, 0);
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .nests = "0-1:a/4;2-3:a/4"};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    size_t length;
    char *text = lx_plan_to_json(p, &length), *at = strstr(text, nests),
         *behind = strstr(text, "\"bundles\"");
    assert_true(at && behind > at);
    char *joined = mem_format("%.*s%s%s%s", (int)(at - text), text, nests, one, behind);
    struct lx_plan *again = lx_plan_of_text("joined", joined, strlen(joined), &st);
    if (!again) fail_msg("%s", st.text);
    assert_false(lx_plan_check(again, &st));
    assert_non_null(strstr(st.text, "op b1 cannot be in its nest"));
    lx_plan_free(again);
    lx_plan_free(p);
    lx_graph_free(g);
    mem_free(joined);
    mem_free(text);
}

/* Of several results only the first may be written over an input. */
static void first_result_takes_the_place_of_an_input(void **state)
{
    (void)state;
    static const char
        pattern
            [] =
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"results\", \"device\": {\"preset\": "
                "\"spyre\", "
                "\"cores\": 1, \"lx_usable_bytes\": 4932}, \"tensors\": [" TENSOR("x", "[32, 64]", "input") ", " TENSOR("kept", "[32, 64]", "intermediate") ", " TENSOR("a", "[32, 64]", "output") ", " TENSOR("b", "[32, 64]", "output") ", " TENSOR(
                    "first", "[32, 64]",
                    "intermediate") ", " TENSOR("second", "[32, 64]",
                                                "output") ", " TENSOR("c", "[32, 64]",
                                                                      "output") ", " TENSOR("d", "[32, 64]",
                                                                                            "output") "], "
                                                                                                      "\"ops"
                                                                                                      "\": ["
                                                                                                      "{\"nam"
                                                                                                      "e\": "
                                                                                                      "\"p\","
                                                                                                      " \"kin"
                                                                                                      "d\": "
                                                                                                      "\"gene"
                                                                                                      "ric\","
                                                                                                      " \"inp"
                                                                                                      "uts\":"
                                                                                                      " ["
                                                                                                      "\"x\"]"
                                                                                                      ", "
                                                                                                      "\"outp"
                                                                                                      "uts\":"
                                                                                                      " ["
                                                                                                      "\"kept"
                                                                                                      "\", "
                                                                                                      "\"a\"]"
                                                                                                      "},"
                                                                                                      " " OP(
                                                                                                          "q",
                                                                                                          "re"
                                                                                                          "l"
                                                                                                          "u",
                                                                                                          "x",
                                                                                                          "b") ", "
                                                                                                               "{\"name\": \"r\", \"kind\": \"generic\", \"inputs\": [\"x\"], \"outputs\": [\"first\", \"second\"]}, " OP(
                                                                                                                   "s",
                                                                                                                   "exp",
                                                                                                                   "first",
                                                                                                                   "c") ", " OP("t",
                                                                                                                                "exp",
                                                                                                                                "kept",
                                                                                                                                "d") "]}";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("results", pattern, strlen(pattern), &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_passes passes = {.tile = LX_TILE_NONE, .clone = LX_CLONE_AUTO};
    try_passes(g, &passes, -2);
    lx_graph_free(g);
}

int main(int argc, char **argv)
{
    if (argc > 1) wanted = atoi(argv[1]);
    if (argc > 2) seed = atoi(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_result_takes_the_place_of_an_input),
        cmocka_unit_test(bundles_take_tensors_off_the_chip), cmocka_unit_test(tensors_join_the_ops_of_a_nest),
        cmocka_unit_test(no_proof_is_above_an_answer), cmocka_unit_test(no_proof_is_above_a_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
