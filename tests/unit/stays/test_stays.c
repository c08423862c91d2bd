/* Stays, copies and what they move: known small cases, and laws that hold for every graph. */
#include "unstable.h"
#include "base/memory.h"
#include "support/other_sizes.h"
#include "support/random_graph.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

/* Gives the reference to the graph back. */
static struct lx_plan *plan_graph(const struct lx_graph *g, const struct lx_passes *passes, int64_t lx)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .passes = *passes};
    assert_non_null(g);
    if (lx > 0) g = with_capacity(g, lx);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    if (!lx_plan_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

static struct lx_plan *plan_text(const char *body, const struct lx_passes *passes, int64_t lx)
{
    char text[4000];
    lx_status st = {0};
    int n = snprintf(text, sizeof text, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", %s}", body);
    const struct lx_graph *g = lx_graph_of_text("t.json", text, (size_t)n, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_passes plain = *passes;
    plain.tile = LX_TILE_NONE; /* nests would avoid what is looked at */
    return plan_graph(g, &plain, lx);
}

static int32_t find(const struct lx_plan *p, const char *name)
{
    for (int32_t i = 0; i < p->problem.count; i++)
        if (strcmp(p->problem.buffers[i].name, name) == 0) return i;
    fail_msg("no buffer %s", name);
    return -1;
}

static int count_transfers(const struct lx_plan *p, enum lx_transfer_kind kind)
{
    int n = 0;
    for (int32_t i = 0; i < p->transfer_count; i++) n += p->transfers[i].kind == kind;
    return n;
}

#define T(name) "{\"name\": \"" name "\", \"shape\": [64, 64]}"
#define OP(name, kind, inputs, output)                                                                       \
    "{\"name\": \"" name "\", \"kind\": \"" kind "\", \"inputs\": [" inputs "], \"output\": \"" output "\"}"

enum { WHOLE = 64 * 64 * 2 };

/* h is written, an extern op comes by, and h is read twice after it: stored once, loaded once. */
static void dumped_around_an_extern_op(void **state)
{
    (void)state;
    static const char body[] = "\"tensors\": [" T("x") "," T("h") "," T("e") "," T("f") "," T(
        "y") "],"
             "\"ops\": [" OP("1", "exp", "\"x\"", "h") "," OP("2", "extern", "\"x\"", "e") "," OP(
                 "3", "add", "\"h\", \"e\"", "f") "," OP("4", "add", "\"h\", \"f\"", "y") "]";
    struct lx_passes passes = {.undivided = true};
    struct lx_plan *p = plan_text(body, &passes, 0);
    int32_t first = find(p, "h"), second = find(p, "h#2");
    assert_true(p->stays[first].last == 0 && p->stays[second].first == 2);
    assert_true(p->answer.address[second] >= 0 && !p->stays[second].begins_written);
    assert_int_equal(count_transfers(p, LX_LOAD), 1);
    /* x twice, h once out and once in, e out by the call and in, y out */
    assert_int_equal(p->figures.hbm_bytes, 7 * WHOLE);
    lx_plan_free(p);
    passes.no_dump = true;
    p = plan_text(body, &passes, 0);
    assert_int_equal(p->stays[find(p, "h")].exclusion, LX_EXCLUDED_EXTERN);
    assert_int_equal(p->stays[find(p, "h#2")].exclusion, LX_EXCLUDED_EXTERN);
    assert_int_equal(p->figures.hbm_bytes, 8 * WHOLE);
    lx_plan_free(p);
}

/* a is used, idle while b and c need the room, and used again: it leaves and comes back. */
static void evicted_where_it_pays(void **state)
{
    (void)state;
    /* clang-format off */
    static const char body[] =
        "\"tensors\": [" T("x") "," T("a") "," T("b") "," T("c") "," T("y") "," T("z") "," T("u") "," T("v") "],"
        "\"ops\": ["
        OP("1", "exp", "\"x\"", "a") ","
        OP("2", "neg", "\"a\"", "y") ","
        OP("3", "exp", "\"x\"", "b") ","
        OP("4", "add", "\"b\", \"b\"", "c") ","
        OP("5", "add", "\"b\", \"c\"", "c") ","
        OP("6", "mul", "\"b\", \"c\"", "z") ","
        OP("7", "add", "\"a\", \"a\"", "u") ","
        OP("8", "mul", "\"a\", \"a\"", "v") "]";
    /* clang-format on */
    struct lx_passes passes = {.undivided = true, .clone = LX_CLONE_NONE, .no_outputs = true};
    struct lx_plan *stays = plan_text(body, &passes, 2 * WHOLE);
    passes.evict = true;
    struct lx_plan *leaves = plan_text(body, &passes, 2 * WHOLE);
    assert_true(leaves->figures.hbm_bytes < stays->figures.hbm_bytes);
    assert_int_equal(count_transfers(leaves, LX_STORE), 1);
    assert_int_equal(count_transfers(leaves, LX_LOAD), 1);
    lx_plan_free(stays);
    lx_plan_free(leaves);
}

/* A matrix that one op cuts by rows and the next by columns comes over the ring, or not at all. */
static void laid_out_anew_over_the_ring(void **state)
{
    (void)state;
    static const char body[] =
        "\"tensors\": [{\"name\": \"x\", \"shape\": [512, 2048]}, {\"name\": \"h\", \"shape\": [512, 2048]},"
        "{\"name\": \"s\", \"shape\": [2048]}, {\"name\": \"r\", \"shape\": [512]}],"
        "\"ops\": [" OP("1", "exp", "\"x\"", "h") ","
                                                  "{\"name\": \"2\", \"kind\": \"sum\", \"inputs\": [\"h\"], "
                                                  "\"output\": \"s\", \"einsum\": \"mn->n\"},"
                                                  "{\"name\": \"3\", \"kind\": \"max\", \"inputs\": [\"h\"], "
                                                  "\"output\": \"r\", \"einsum\": \"mn->m\"}]";
    struct lx_passes passes = {0};
    struct lx_plan *p = plan_text(body, &passes, 0);
    assert_int_equal(count_transfers(p, LX_RING), 1);
    assert_true(p->figures.ring_bytes > 0 && p->figures.spill_bytes == 0 && p->answer.status == LX_OPTIMAL);
    lx_plan_free(p);
    passes.no_ring = true;
    p = plan_text(body, &passes, 0);
    int32_t h = find(p, "h");
    assert_int_equal(p->stays[h].exclusion, LX_EXCLUDED_DIVISION);
    assert_non_null(strstr(p->reason[h], "split differs from op 2: op 1 has "));
    assert_true(p->figures.ring_bytes == 0);
    lx_plan_free(p);
}

/* Where one view of a tensor is too large, the other views are off chip for that reason, too. */
static void reasons_name_what_is_too_large(void **state)
{
    (void)state;
    static const char body[] =
        "\"tensors\": [{\"name\": \"x\", \"shape\": [256, 256]}, {\"name\": \"h\", \"shape\": [256, 256]},"
        "{\"name\": \"a\", \"shape\": [2048, 256]}, {\"name\": \"y\", \"shape\": [2048, 256]}],"
        "\"ops\": [" OP("1", "exp", "\"x\"",
                        "h") ", {\"name\": \"2\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"h\"], "
                             "\"output\": \"y\", \"einsum\": \"mk,kn->mn\"}]";
    static const char *const expected[][2] = {
        {"x", "compulsory: only op 1 reads it"},
        {"h", "too large where op 2 has it: 131,072 of 65,536 B per core"},
        {"h#2", "too large: 131,072 of 65,536 B per core"},
        {"y", "compulsory: a graph output that no op reads"}};
    struct lx_passes passes = {.matmul = LX_MATMUL_RULE};
    struct lx_plan *p = plan_text(body, &passes, 65536);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(p->reason[find(p, expected[i][0])], expected[i][1]);
    lx_plan_free(p);
}

/* x is read by two small slices, and z takes the room: to copy x whole would cost more than it saves. What
 * nothing goes below must not count such a copy. */
static void heuristic_copies_spill_nothing_negative(void **state)
{
    (void)state;
#define BIG(name) "{\"name\": \"" name "\", \"shape\": [1024, 64]}"
#define MAX(name)                                                                                            \
    "{\"name\": \"" name "\", \"kind\": \"max\", \"inputs\": [\"z\"], \"output\": \"" name                   \
    "\", \"einsum\": \"mn->m\"}"
#define CUT(name, at)                                                                                        \
    "{\"name\": \"" name "\", \"kind\": \"slice\", \"inputs\": [\"x\"], \"output\": \"" name                 \
    "\", \"offset\": [" at ", 0]}"
    static const char body[] = "\"tensors\": [" BIG("x") "," BIG("w") "," BIG("z") "," T("a") "," T(
        "b") "," T("y") ", {\"name\": \"r\", \"shape\": [1024]}, {\"name\": \"s\", \"shape\": [1024]}],"
                        "\"ops\": [" OP("1", "exp", "\"w\"", "z") "," CUT("a", "0") "," MAX("r") "," MAX(
                            "s") "," CUT("b", "64") "," OP("2", "add", "\"a\", \"b\"", "y") "]";
    struct lx_passes passes = {.undivided = true, .clone = LX_CLONE_HEURISTIC};
    struct lx_plan *p = plan_text(body, &passes, 3 * 1024 * 64);
    assert_true(p->answer.address[find(p, "x")] < 0);
    assert_true(p->figures.spill_bytes >= 0);
    lx_plan_free(p);
}

/* A product needs all of a row before it can write the first element of it: not in place, whatever the plan
 * says. */
static void handover_that_destroys_is_found(void **state)
{
    (void)state;
    static const char body[] = "\"tensors\": [" T("x") "," T("h") "," T("y") "," T("z") "],\"ops\": [" OP(
        "1", "exp", "\"x\"", "h") ","
                                  "{\"name\": \"2\", \"kind\": \"matmul\", \"inputs\": [\"h\", \"x\"], "
                                  "\"output\": \"y\", \"einsum\": "
                                  "\"mk,kn->mn\"}," OP("3", "exp", "\"y\"", "z") "]";
    struct lx_passes passes = {.undivided = true};
    lx_status st = {0};
    struct lx_plan *p = plan_text(body, &passes, 0);
    int32_t h = find(p, "h"), y = find(p, "y");
    assert_true(p->answer.address[h] >= 0 && p->answer.address[y] >= 0 && p->took_slot_of[y] < 0);
    p->took_slot_of[y] = h;
    assert_false(lx_plan_check(p, &st));
    assert_non_null(strstr(st.text, "buffer y cannot be written in the place of h"));
    lx_plan_free(p);
}

/* t keeps zeros where the insert writes nothing: in HBM it must not get the bytes that h had before. */
static void zeros_are_not_shared(void **state)
{
    (void)state;
    static const char body[] =
        "\"tensors\": [{\"name\": \"x\", \"shape\": [32, 64]}," T("w") "," T("h") "," T("o") "," T("t") "," T(
            "y") "],\"ops\": [" OP("1", "exp", "\"w\"",
                                   "h") "," OP("2", "exp", "\"h\"",
                                               "o") ",{\"name\": \"3\", \"kind\": \"insert\", "
                                                    "\"inputs\": [\"x\"], \"output\": \"t\", "
                                                    "\"offset\": [0, 0]}," OP("4", "exp", "\"t\"", "y") "]";
    struct lx_passes passes = {.undivided = true};
    struct lx_plan *p = plan_text(body, &passes, 1024);
    int32_t h = find(p, "h"), t = find(p, "t");
    assert_true(p->hbm_address[h] >= 0 && p->hbm_address[t] >= 0);
    assert_true(p->hbm_address[h] != p->hbm_address[t]);
    lx_plan_free(p);
}

/* Without the text from `from` up to and including `to`; with `instead` in its place. */
static void refused_with(const char *json, const char *from, const char *to, const char *instead)
{
    const char *at = strstr(json, from), *end = at ? strstr(at, to) : NULL;
    assert_non_null(end);
    size_t room = strlen(json) + strlen(instead) + 1;
    char *text = mem_alloc(room);
    assert_non_null(text);
    int n = snprintf(text, room, "%.*s%s%s", (int)(at - json), json, instead, end + strlen(to));
    lx_status st = {0};
    struct lx_plan *p = lx_plan_of_text("plan.json", text, (size_t)n, &st);
    if (p && lx_plan_check(p, &st)) fail_msg("accepted without %s", from);
    if (!p) assert_true(st.line > 0);
    lx_plan_free(p);
    mem_free(text);
}

static void plan_files_are_read_to_the_letter(void **state)
{
    (void)state;
    static const char body[] = "\"tensors\": [" T("x") "," T("h") "," T("y") "],\"ops\": [" OP(
        "1", "exp", "\"x\"", "h") "," OP("2", "add", "\"h\", \"x\"", "y") "]";
    struct lx_passes passes = {.undivided = true};
    struct lx_plan *p = plan_text(body, &passes, 0);
    assert_int_equal(count_transfers(p, LX_LOAD), 1);
    size_t length;
    char *json = lx_plan_to_json(p, &length);
    assert_non_null(json);
    refused_with(json, "    \"ops\": [", "    ],\n", "");
    refused_with(json, "    \"tensors\": [", "    ],\n", "");
    refused_with(json, "\"kind\": \"load\"", ",", "\"kind\": \"store\",");
    refused_with(json, "\"cores\": 1", ",", "\"cores\": 99,");
    refused_with(json, "\"output\": 1", ",", "\"output\": 1, \"output_splits\": [[3, 2]],");
    refused_with(json, "\"pool_bytes\": ", ",", "\"pool_bytes\": 128,");
    refused_with(json, ", \"hbm\": 0", "}", "}");
    mem_free(json);
    lx_plan_free(p);
}

/* What any graph must obey, with any passes and any size of scratchpad. */
static void laws(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 512, 4096, 20000, 100000};
    int with_ring = 0, with_load = 0, evicted = 0, reordered = 0;
    for (uint64_t seed = 0; seed < (SANITIZED ? 8 : SAMPLED ? 12 : 100); seed++) {
        struct lx_passes plain = {0};
        struct rng r = rng_seed(seed), again;
        static const int64_t cores[] = {1, 2, 4, 32};
        struct random_graph_shape shape = {.ops = 4 + (int)rng_below(&r, 14),
                                           .with_views = rng_below(&r, 2),
                                           .with_externs = rng_below(&r, 3) == 0,
                                           .again = rng_below(&r, 2),
                                           .cores = cores[rng_below(&r, 4)]};
        int64_t lx = sizes[rng_below(&r, 5)];
        plain.no_ring = rng_below(&r, 3) == 0;
        plain.no_in_place = rng_below(&r, 4) == 0;
        plain.clone = (int)rng_below(&r, 2) * LX_CLONE_NONE;
        again = r;
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        if (!g) fail_msg("seed %d: %s", (int)seed, st.text);
        struct lx_plan *p = plan_graph(g, &plain, lx);
        assert_true(p->figures.hbm_bytes == p->figures.perfect_hbm_bytes + p->figures.spill_bytes &&
                    p->figures.spill_bytes >= 0);
        assert_true(p->figures.perfect_hbm_bytes <= p->figures.baseline_hbm_bytes);
        assert_true(p->figures.bound_bytes <= p->figures.spill_bytes &&
                    p->answer.objective <= p->figures.hbm_bytes);
        with_ring += count_transfers(p, LX_RING) > 0;
        with_load += count_transfers(p, LX_LOAD) > 0;
        for (int k = 0; k < 3; k++) {
            struct lx_passes more = plain;
            more.evict = k == 0;
            more.reorder = k == 1;
            more.cooptimise = k == 2 ? LX_COOPTIMISE_FULL : LX_COOPTIMISE_NONE;
            struct rng same = again;
            struct lx_plan *q = plan_graph(random_graph(&same, &shape, &st), &more, lx);
            if (q->figures.hbm_bytes > p->figures.hbm_bytes)
                fail_msg("seed %d: pass %d makes %lld bytes of %lld", (int)seed, k,
                         (long long)q->figures.hbm_bytes, (long long)p->figures.hbm_bytes);
            assert_true(q->figures.spill_bytes >= 0);
            evicted += k == 0 && q->figures.hbm_bytes < p->figures.hbm_bytes;
            reordered += k == 1 && q->order != NULL;
            lx_plan_free(q);
        }
        lx_plan_free(p);
    }
    assert_true(SAMPLED || (with_ring > 6 && with_load > 6 && evicted > 0 && reordered > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumped_around_an_extern_op),
        cmocka_unit_test(evicted_where_it_pays),
        cmocka_unit_test(laid_out_anew_over_the_ring),
        cmocka_unit_test(reasons_name_what_is_too_large),
        cmocka_unit_test(heuristic_copies_spill_nothing_negative),
        cmocka_unit_test(handover_that_destroys_is_found),
        cmocka_unit_test(zeros_are_not_shared),
        cmocka_unit_test(plan_files_are_read_to_the_letter),
        cmocka_unit_test(laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
