/* Ops that take some of their letters as a whole, in nests over others: pads, concats, slices, boxes of operands, single
 * indices, orders. Drawn, forced into nests on 1 to 32 cores with little and much room, planned, checked by who counts
 * for himself, and run: every byte and every bit; no bound is above them. */
#include "base/rng.h"
#include "base/text.h"
#include "base/memory.h"
#include "unstable.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = SAMPLED ? 4 : 12, ROOMS = 5 };

/* The op in the middle; x and y are [n, r, 64], what it makes is [n, rows, 64]. NULL: it has one input. */
struct move {
    const char *text, *second;
    int rows, columns; /* 0: as the input has them */
};

static const struct move moves[] = {
    {"\"kind\": \"pad\", \"einsum\": \"nrc->nrc\", \"low\": [0, 1, 0], \"high\": [0, 3, 0], \"value\": 2",
     NULL, 10, 0},
    {"\"kind\": \"pad\", \"einsum\": \"nrc->nrc\", \"low\": [0, 2, 0], \"high\": [0, -2, 0], \"value\": 1",
     NULL, 6, 0},
    {"\"kind\": \"pad\", \"einsum\": \"nrc->nrc\", \"low\": [0, 1, 0], \"high\": [0, 0, 0], \"interior\": "
     "[0, 1, 0], "
     "\"value\": 0",
     NULL, 12, 0},
    {"\"kind\": \"concat\", \"einsum\": \"nrc,nrc->nrc\", \"axis\": 1", "y", 12, 0},
    {"\"kind\": \"concat\", \"einsum\": \"nrc,nrc->nrc\", \"axis\": 2", "y", 0, 128},
    {"\"kind\": \"slice\", \"einsum\": \"nrc->nrc\", \"offset\": [0, 2, 0], \"stride\": [1, 1, 1]", NULL, 4,
     0},
    {"\"kind\": \"slice\", \"einsum\": \"nrc->nrc\", \"offset\": [0, 1, 0], \"stride\": [1, 2, 1]", NULL, 2,
     0},
    {"\"kind\": \"slice\", \"einsum\": \"nrc->nrc\", \"offset\": [0, 5, 0], \"stride\": [1, -1, 1]", NULL, 6,
     0},
    {"\"kind\": \"mul\", \"einsum\": \"nrc,nrc->nrc\", \"views\": [{\"offset\": [0, 0, 0]}, {\"offset\": [0, "
     "3, 0]}]",
     "x", 3, 0},
    {"\"kind\": \"add\", \"einsum\": \"nrc,nsc->nrc\", \"views\": [null, {\"offset\": [0, 4, 0], \"size\": "
     "[8, "
     "1, 64]}]",
     "y", 0, 0},
    {"\"kind\": \"topk\", \"einsum\": \"nrc->nkc\", \"axis\": 1, \"k\": 3", NULL, 3, 0},
    {"\"kind\": \"sort\", \"einsum\": \"nrc->nrc\", \"axis\": 1", NULL, 0, 0},
    {"\"kind\": \"gather\", \"einsum\": \"nrc,nk->nkc\", \"axis\": 1", "k", 4, 0},
    {"\"kind\": \"dynamic_slice\", \"einsum\": \"nrc,o->nwc\", \"axes\": [1]", "o", 3, 0},
};
enum { MOVES = sizeof moves / sizeof *moves };

static void add_tensor(struct text *t, const char *name, const char *role, int rows, int columns)
{
    text_format(t, "{\"name\": \"%s\", \"dtype\": \"fp16\", \"role\": \"%s\", \"shape\": [8, %d, %d]}", name,
                role, rows ? rows : 6, columns ? columns : 64);
}

/* relu, the move, neg; the relu and the second operand may be read once more behind it. */
static char *pattern_of(const struct move *m, int cores, bool again)
{
    struct text t = {0};
    bool second = m->second != NULL;
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": {\"preset\": \"spyre\", "
                "\"cores\": %d}, \"tensors\": [",
                cores);
    add_tensor(&t, "i", "input", 0, 0);
    text_add(&t, ", ");
    add_tensor(&t, "y", "input", 0, 0);
    text_add(&t, ", {\"name\": \"k\", \"dtype\": \"int32\", \"role\": \"input\", \"shape\": [8, 4]}, "
                 "{\"name\": \"o\", \"dtype\": \"int32\", \"role\": \"input\", \"shape\": [1]}, ");
    add_tensor(&t, "x", "intermediate", 0, 0);
    text_add(&t, ", ");
    add_tensor(&t, "m", "intermediate", m->rows, m->columns);
    text_add(&t, ", ");
    add_tensor(&t, "made", "output", m->rows, m->columns);
    text_add(&t, ", ");
    add_tensor(&t, "z", "output", 0, 0);
    text_add(&t,
             "], \"ops\": [{\"name\": \"first\", \"kind\": \"relu\", \"inputs\": [\"i\"], \"output\": \"x\", "
             "\"einsum\": \"nrc->nrc\"}, ");
    text_format(&t, "{\"name\": \"move\", %s, \"inputs\": [\"x\"%s%s%s], \"output\": \"m\"}, ", m->text,
                second ? ", \"" : "", second ? m->second : "", second ? "\"" : "");
    text_add(&t,
             "{\"name\": \"last\", \"kind\": \"neg\", \"inputs\": [\"m\"], \"output\": \"made\", \"einsum\": "
             "\"nrc->nrc\"}, ");
    text_format(&t,
                "{\"name\": \"again\", \"kind\": \"add\", \"inputs\": [\"%s\", \"y\"], \"output\": \"z\", "
                "\"einsum\": \"nrc,nrc->nrc\"}]}",
                again ? "x" : "i");
    return t.at;
}

static void run_plan(struct lx_plan *p, const char *text, const char *nests, int64_t room)
{
    lx_status st = {0};
    struct lx_device_options how = {.verify = LX_VERIFY_FULL};
    if (!lx_plan_check(p, &st)) fail_msg("%s, %lld B: %s: %s", nests, (long long)room, st.text, text);
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s: %s", st.text, text);
    if (!r->ok)
        fail_msg("%s, %lld B: %s: %s", nests, (long long)room,
                 r->fault_count ? r->faults[0].text
                 : r->unequal   ? r->unequal
                                : "wrong",
                 text);
    lx_run_result_free(r);
}

static int on_chip(const struct lx_plan *p)
{
    int n = 0;
    for (int32_t i = 0; i < p->problem.count; i++) n += p->answer.address[i] >= 0 && p->stays[i].hold > 0;
    return n;
}

/* What a search proves is below what was forced. */
static void bound_holds(const struct lx_graph *g, int64_t forced, const char *text, const char *nests)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .passes = {.tile = LX_TILE_AUTO}};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s: %s", st.text, text);
    if (lx_plan_least(p) > forced)
        fail_msg("proved %lld, but %s moves %lld: %s", (long long)lx_plan_least(p), nests, (long long)forced,
                 text);
    run_plan(p, text, "searched", 0);
    lx_plan_free(p);
}

/* How many tiles were on chip. Frees the text. */
static int force(char *text, const char *nests, int64_t room)
{
    lx_status st = {0};
    const struct lx_graph *whole = lx_graph_of_text("t", text, strlen(text), &st);
    if (!whole) fail_msg("%s: %s", st.text, text);
    const struct lx_graph *g = lx_graph_with_capacity(whole, room, &st);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    snprintf(how.nests, sizeof how.nests, "%s", nests);
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s: %s: %s", nests, st.text, text);
    assert_int_equal(p->nest_count, 1);
    run_plan(p, text, nests, room);
    bound_holds(g, p->figures.hbm_bytes, text, nests);
    int held = on_chip(p);
    lx_plan_free(p);
    lx_graph_free(g);
    lx_graph_free(whole);
    mem_free(text);
    return held;
}

static void tiles_go_through_moves(void **state)
{
    (void)state;
    static const char *const nests[] = {"first-last:n/2", "first-last:n/8", "first-again:n/4",
                                        "move-last:n/4", "first-move:n/2"};
    static const int cores[] = {1, 2, 4, 32};
    struct rng r = rng_seed(3);
    for (int i = 0; i < MOVES; i++) {
        int held = 0;
        for (int n = 0; n < ROUNDS; n++)
            held += force(pattern_of(&moves[i], cores[n % 4], rng_below(&r, 2)), nests[rng_below(&r, 5)],
                          INT64_C(512) << rng_below(&r, 8));
        if (held == 0) fail_msg("nothing was ever on chip around %s", moves[i].text);
    }
}

/* Rows of a table that stays outside, chosen by tokens or cut along their columns. */
static void tables_are_picked_from_in_nests(void **state)
{
    (void)state;
    static const char *const nests[] = {"pick-use:n/2", "pick-use:n/8", "pick-use:f/2", "pick-use:n/4,f/2",
                                        "pick-use:f/2,n/8"};
    int held = 0;
    for (int i = 0; i < 15; i++) {
        struct text t = {0};
        text_format(
            &t,
            "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": {\"preset\": \"spyre\", "
            "\"cores\": %d}, \"tensors\": ["
            "{\"name\": \"who\", \"dtype\": \"int32\", \"role\": \"input\", \"shape\": [8, 2]}, "
            "{\"name\": \"x\", \"dtype\": \"fp16\", \"role\": \"input\", \"shape\": [8, 64]}, "
            "{\"name\": \"table\", \"dtype\": \"fp16\", \"role\": \"weight\", \"shape\": [%d, 64, 128]}, "
            "{\"name\": \"m\", \"dtype\": \"fp16\", \"role\": \"intermediate\", \"shape\": [8, 2, 64, 128]}, "
            "{\"name\": \"y\", \"dtype\": \"fp16\", \"role\": \"output\", \"shape\": [8, 2, 128]}], \"ops\": "
            "["
            "{\"name\": \"pick\", \"kind\": \"gather\", \"inputs\": [\"table\", \"who\"], \"output\": \"m\", "
            "\"einsum\": \"edf,nk->nkdf\", \"axis\": 0}, "
            "{\"name\": \"use\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"m\"], \"output\": \"y\", "
            "\"einsum\": \"nd,nkdf->nkf\"}]}",
            i % 2 ? 4 : 1, i % 3 ? 3 : 20);
        held += force(t.at, nests[i / 3], INT64_C(4096) << i % 5);
    }
    assert_true(held > 0);
}

/* What is taken as a whole is no axis. */
static void not_along_what_is_taken_whole(void **state)
{
    (void)state;
    for (int i = 0; i < MOVES; i++) {
        if (strstr(moves[i].text, "\"axis\": 2") || strstr(moves[i].text, "nsc")) continue;
        lx_status st = {0};
        char *text = pattern_of(&moves[i], 4, false);
        const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
        struct lx_plan_options how = {.solver = lx_solver_find("auto")};
        snprintf(how.nests, sizeof how.nests, "first-move:r/2");
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        if (p) fail_msg("the rows of %s are cut", moves[i].text);
        if (!strstr(st.text, "in op move: the op takes it as a whole") &&
            !strstr(st.text, "in op move: no tensor of the run brings it there"))
            fail_msg("%s: %s", moves[i].text, st.text);
        lx_graph_free(g);
        mem_free(text);
    }
}

/* A dimension that the inputs do not have, one element of it or one part each: where it is depends on the index. */
static void not_along_what_is_added(void **state)
{
    (void)state;
    static const char *const added[] = {
        "\"kind\": \"pad\", \"einsum\": \"nc->nrc\", \"low\": [0, 2, 0], \"high\": [0, 3, 0], \"value\": 0, "
        "\"inputs\": [\"x\"]",
        "\"kind\": \"concat\", \"einsum\": \"nc,nc,nc,nc,nc,nc->nrc\", \"axis\": 1, "
        "\"inputs\": [\"x\", \"y\", \"x\", \"y\", \"x\", \"y\"]"};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        struct text t = {0};
        lx_status st = {0};
        text_format(
            &t,
            "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"added\", \"tensors\": ["
            "{\"name\": \"x\", \"dtype\": \"fp16\", \"role\": \"input\", \"shape\": [8, 64]}, "
            "{\"name\": \"y\", \"dtype\": \"fp16\", \"role\": \"input\", \"shape\": [8, 64]}, "
            "{\"name\": \"m\", \"dtype\": \"fp16\", \"role\": \"intermediate\", \"shape\": [8, 6, 64]}, "
            "{\"name\": \"o\", \"dtype\": \"fp16\", \"role\": \"output\", \"shape\": [8, 6, 64]}], "
            "\"ops\": [{\"name\": \"move\", %s, \"output\": \"m\"}, {\"name\": \"last\", \"kind\": \"neg\", "
            "\"inputs\": [\"m\"], \"output\": \"o\", \"einsum\": \"nrc->nrc\"}]}",
            added[i]);
        const struct lx_graph *g = lx_graph_of_text("t", t.at, t.length, &st);
        if (!g) fail_msg("%s: %s", st.text, t.at);
        struct lx_plan_options how = {.solver = lx_solver_find("auto"), .nests = "move-last:r/2"};
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        if (p) fail_msg("the rows of %s are cut", added[i]);
        how.nests[0] = 0;
        if (!(p = lx_plan_make(g, &how, &st))) fail_msg("%s", st.text);
        run_plan(p, t.at, "no nests", 0);
        lx_plan_free(p);
        lx_graph_free(g);
        text_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_go_through_moves),
        cmocka_unit_test(tables_are_picked_from_in_nests),
        cmocka_unit_test(not_along_what_is_taken_whole),
        cmocka_unit_test(not_along_what_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
