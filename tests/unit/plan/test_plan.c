/* Graph to problem, problem to plan, plan to file and back; and inputs of hostile size. */
#include "unstable.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/text.h"
#include "plan/plan.h"
#include "support/other_sizes.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_graph *parse(const char *tensors, const char *ops)
{
    struct text t = {0};
    lx_status st = {0};
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [%s], \"ops\": [%s]}",
                tensors, ops);
    const struct lx_graph *g = lx_graph_of_text("t.json", t.at, t.length, &st);
    if (!g) fail_msg("%s", st.text);
    text_free(&t);
    return g;
}

/* Gives the reference to the graph back. On one core and without copies of inputs and outputs: what is asked here is the same with them. */
static struct lx_plan *plan_of(const struct lx_graph *g, const char *solver, enum lx_ask objective)
{
    struct lx_plan_options how = {.solver = lx_solver_find(solver),
                                  .objective = objective,
                                  .passes = {.undivided = true, .clone = LX_CLONE_NONE, .no_outputs = true}};
    lx_status st = {0};
    assert_non_null(how.solver);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    return p;
}

static const struct lx_buffer *buffer(const struct lx_plan *p, const char *name)
{
    for (int32_t i = 0; i < p->problem.count; i++)
        if (strcmp(p->problem.buffers[i].name, name) == 0) return &p->problem.buffers[i];
    fail_msg("no buffer %s", name);
    return NULL;
}

#define OP(name, kind, inputs, output)                                                                       \
    "{\"name\": \"" name "\", \"kind\": \"" kind "\", \"inputs\": [" inputs "], \"output\": \"" output "\"}"
#define OP_BY(name, kind, inputs, output, einsum)                                                            \
    "{\"name\": \"" name "\", \"kind\": \"" kind "\", \"inputs\": [" inputs "], \"output\": \"" output       \
    "\", \"einsum\": \"" einsum "\"}"
#define T(name, shape) "{\"name\": \"" name "\", \"shape\": [" shape "]}"

/* A tensor that is written twice is used on every write; "unused" on no tick at all. */
static void lives_and_costs(void **state)
{
    (void)state;
    struct lx_plan *p =
        plan_of(parse(T("x", "64, 64") "," T("h", "64, 64") "," T("k", "64, 64") "," T("y", "64, 64") "," T(
                          "unused", "64, 64"),
                      OP("a", "exp", "\"x\"", "h") "," OP("b", "add", "\"h\", \"h\"", "k") "," OP(
                          "c", "neg", "\"x\"", "h") "," OP("d", "add", "\"h\", \"k\"", "y")),
                "firstfit", LX_ASK_OWN);
    const struct lx_buffer *h = buffer(p, "h"), *k = buffer(p, "k"), *x = buffer(p, "x"),
                           *u = buffer(p, "unused");
    assert_int_equal(h->size, 8192);
    assert_int_equal(h->use_count, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(h->uses[i], i);
    assert_true(h->start == 0 && h->end == 4 && !h->first_use_is_read && !h->reason);
    assert_int_equal(h->spill_cost, 5 * 8192); /* two writes, two reads by one op, one by another */
    assert_true(k->start == 1 && k->end == 4 && k->use_count == 2);
    assert_int_equal(k->spill_cost, 2 * 8192);
    assert_int_equal(k->parent_count, 0); /* h lives on */
    assert_true(x->first_use_is_read && x->use_count == 2 && x->reason && strstr(x->reason, "input"));
    assert_non_null(strstr(buffer(p, "y")->reason, "output"));
    assert_true(u->use_count == 0 && u->reason && strstr(u->reason, "no op uses it"));
    assert_true(x->spill_cost == 0 && u->spill_cost == 0);
    assert_int_equal(p->problem.capacity, 1625344);
    assert_int_equal(p->problem.alignment, 128);
    assert_int_equal(p->figures.baseline_hbm_bytes, (2 + 3 + 2 + 3) * 8192);
    assert_int_equal(p->figures.hbm_bytes, 3 * 8192);
    lx_plan_free(p);
}

static void barred_by_extern(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(parse(T("x", "8") "," T("h", "8") "," T("y", "8"),
                                      OP("a", "exp", "\"x\"", "h") "," OP("call", "extern", "\"h\"", "y")),
                                "greedy", LX_ASK_OWN);
    assert_string_equal(buffer(p, "h")->reason, "op call is extern and works on HBM only");
    assert_int_equal(p->figures.hbm_bytes, p->figures.baseline_hbm_bytes);
    lx_plan_free(p);
}

/* How many parents the output h of the second op has, when its input is p. */
static int32_t parents(const char *tensors, const char *op)
{
    struct text ops = {0};
    text_format(&ops, "%s, %s, %s", OP("first", "generic", "", "p"), op, OP("last", "generic", "\"h\"", "y"));
    struct lx_plan *p = plan_of(parse(tensors, ops.at), "firstfit", LX_ASK_OWN);
    int32_t n = buffer(p, "h")->parent_count;
    text_free(&ops);
    lx_plan_free(p);
    return n;
}

static void in_place_only_where_legal(void **state)
{
    (void)state;
    static const char square[] =
        T("p", "64, 64") "," T("h", "64, 64") "," T("y", "64") "," T("w", "64, 64") "," T("v", "64");
    assert_int_equal(parents(square, OP("op", "exp", "\"p\"", "h")), 1);
    assert_int_equal(parents(square, OP("op", "add", "\"p\", \"w\"", "h")), 1);
    assert_int_equal(parents(square, OP("op", "add", "\"w\", \"p\"", "h")), 1);
    assert_int_equal(parents(square, OP("op", "mul", "\"p\", \"p\"", "h")), 1);
    assert_int_equal(parents(square, OP_BY("op", "add", "\"p\", \"v\"", "h", "mn,n->mn")), 1);
    assert_int_equal(parents(square, OP("op", "generic", "\"p\"", "h")), 1);
    /* Not where an element is read after it has been overwritten: */
    assert_int_equal(parents(square, OP_BY("op", "exp", "\"p\"", "h", "mn->nm")), 0);
    /* (but the transposed operand is a copy with other sticks, so the straight one may go:) */
    assert_int_equal(parents(square, OP_BY("op", "add", "\"p\", \"p\"", "h", "mn,nm->mn")), 1);
    assert_int_equal(parents(square, OP_BY("op", "add", "\"p\", \"p\"", "h", "nm,mn->mn")), 1);
    assert_int_equal(parents(square, OP_BY("op", "matmul", "\"p\", \"w\"", "h", "mk,kn->mn")), 0);
    assert_int_equal(parents(square, OP("op", "restickify", "\"p\"", "h")), 0);
    assert_int_equal(parents(square, "{\"name\": \"op\", \"kind\": \"shift\", \"inputs\": [\"p\"], "
                                     "\"output\": \"h\", \"offset\": [1, 0]}"),
                     0);
    /* nor where the elements are not the same: */
    assert_int_equal(
        parents(
            T("p", "64, 64") ", {\"name\": \"h\", \"shape\": [64, 64], \"dtype\": \"bf16\"}," T("y", "64"),
            OP("op", "exp", "\"p\"", "h")),
        0);
    assert_int_equal(
        parents(
            T("p", "64, 64") ", {\"name\": \"h\", \"shape\": [64, 64], \"dtype\": \"fp32\"}," T("y", "64"),
            OP("op", "exp", "\"p\"", "h")),
        0);
    assert_int_equal(parents(T("p", "64") "," T("h", "64, 64") "," T("y", "64"),
                             OP_BY("op", "clone", "\"p\"", "h", "n->mn")),
                     0);
    assert_int_equal(parents(T("p", "64, 64") "," T("h", "64") "," T("y", "64"),
                             OP_BY("op", "max", "\"p\"", "h", "mn->m")),
                     0);
}

/* Two may ask for the slot of one parent; one gets it, and the plan says who. */
static void one_slot_two_children(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(parse(T("x", "64") "," T("a", "64") "," T("b", "64") "," T("c", "64") "," T(
                                          "d", "64") "," T("y", "64"),
                                      OP("1", "exp", "\"x\"", "a") "," OP("2", "exp", "\"a\"", "b") "," OP(
                                          "3", "add", "\"a\", \"b\"", "c") "," OP("4", "neg", "\"c\"", "y")),
                                "greedy", LX_ASK_OWN);
    int32_t b = (int32_t)(buffer(p, "b") - p->problem.buffers),
            c = (int32_t)(buffer(p, "c") - p->problem.buffers);
    assert_int_equal(p->problem.buffers[b].parent_count, 0);
    assert_int_equal(p->problem.buffers[c].parent_count, 2);
    assert_int_equal(p->took_slot_of[c], buffer(p, "a") - p->problem.buffers);
    assert_int_equal(p->took_slot_of[b], -1);
    assert_true(p->answer.address[c] == p->answer.address[p->took_slot_of[c]]);
    lx_plan_free(p);
}

/* A chain of ops, each adding to what two before it made. */
static const struct lx_graph *chain(int ops, bool cyclic, lx_status *st)
{
    struct text t = {0};
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"chain\", \"tensors\": [{\"name\": "
                 "\"x\", \"bytes\": 256}");
    for (int i = 0; i < ops; i++)
        text_format(&t, ",\n{\"name\": \"t%d\", \"bytes\": %d}", i, 128 + i * 37 % 1000);
    text_add(&t, "], \"ops\": [");
    for (int i = 0; i < ops; i++) {
        text_format(&t, "%s\n{\"name\": \"o%d\", \"kind\": \"generic\", \"inputs\": [", i ? "," : "", i);
        if (cyclic)
            text_format(&t, "\"t%d\"", (i + 1) % ops);
        else if (i < 2)
            text_add(&t, "\"x\"");
        else
            text_format(&t, "\"t%d\", \"t%d\"", i - 1, i / 2);
        text_format(&t, "], \"output\": \"t%d\"}", i);
    }
    text_add(&t, "]}");
    const struct lx_graph *g = lx_graph_of_text("chain.json", t.at, t.length, st);
    text_free(&t);
    return g;
}

static void traffic_is_perfect_traffic_plus_spill(void **state)
{
    (void)state;
    static const int64_t capacities[] = {0, 1000, 4096, 1 << 20};
    for (size_t k = 0; k < sizeof capacities / sizeof *capacities; k++)
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
            lx_status st = {0};
            const struct lx_graph *g = chain(SAMPLED ? 12 : 24, false, &st);
            if (!((*s)->caps & LX_CAN_SPILL)) {
                lx_graph_free(g);
                continue;
            }
            struct lx_plan *p = plan_of(with_capacity(g, capacities[k]), (*s)->name, LX_ASK_OWN);
            assert_int_equal(p->figures.hbm_bytes, p->figures.perfect_hbm_bytes + p->figures.spill_bytes);
            assert_true(p->figures.hbm_bytes <= p->figures.baseline_hbm_bytes &&
                        p->answer.objective <= p->figures.hbm_bytes);
            assert_true(lx_plan_check(p, &st));
            lx_plan_free(p);
        }
}

/* Written, read and written again: the same bytes; made again: the same bytes. */
static void files_are_exact(void **state)
{
    (void)state;
    for (enum lx_ask ask = LX_ASK_TRAFFIC; ask < LX_ASK_COUNT; ask++)
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
            if (!lx_can(*s, lx_asked(ask, LX_SPILL))) continue;
            char *texts[3];
            size_t lengths[3];
            lx_status st = {0};
            for (int i = 0; i < 2; i++) {
                const struct lx_graph *g = chain(SAMPLED ? 10 : 16, false, &st);
                struct lx_plan *p = plan_of(with_capacity(g, 2048), (*s)->name, ask);
                texts[i] = lx_plan_to_json(p, &lengths[i]);
                lx_plan_free(p);
            }
            assert_true(lx_is_plan(texts[0], lengths[0]));
            struct lx_plan *back = lx_plan_of_text("p.json", texts[0], lengths[0], &st);
            if (!back) fail_msg("%s: %d: %s", (*s)->name, st.line, st.text);
            texts[2] = lx_plan_to_json(back, &lengths[2]);
            assert_string_equal(texts[0], texts[1]);
            assert_string_equal(texts[0], texts[2]);
            lx_plan_free(back);
            for (int i = 0; i < 3; i++) mem_free(texts[i]);
        }
}

/* A plan is a plan wherever its kind stands, and whatever its names and stats say. */
static void plans_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool plan;
    } cases[] = {
        {"{\"lxplan\": 1, \"kind\": \"plan\"}", true},
        {"{\"kind\":\"plan\"", true},
        {"{\"buffers\": [{\"kind\": \"pattern\"}, \"]\", \"\\\"{\"], \"kind\" :\n \"plan\"}", true},
        {"{\"kind\": \"pattern\", \"name\": \"plan\"}", false},
        {"{\"name\": \"kind\", \"x\": {\"kind\": \"plan\"}}", false},
        {"{\"name\": \"\\\"kind\\\": \\\"plan\\\"\"}", false},
        {"[\"kind\", \"plan\"]", false},
        {"{\"kind\"", false},
        {"{\"kind", false},
        {"{\"a\\", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (lx_is_plan(cases[i].text, strlen(cases[i].text)) != cases[i].plan)
            fail_msg("wrong about: %s", cases[i].text);
    struct lx_plan *p = plan_of(parse(T("x", "4"), ""), "greedy", LX_ASK_TRAFFIC);
    p->answer.stats[p->answer.stat_count++] = (struct lx_stat){"a \"quoted\" name", 7};
    size_t length;
    lx_status st = {0};
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *back = lx_plan_of_text("p.json", text, length, &st);
    if (!back) fail_msg("%s", st.text);
    assert_string_equal(back->answer.stats[0].name, "a \"quoted\" name");
    lx_plan_free(back);
    lx_plan_free(p);
    mem_free(text);
}

static void a_solver_is_needed(void **state)
{
    (void)state;
    struct lx_plan_options how = {.solver = lx_solver_find("no such solver")};
    lx_status st = {0};
    const struct lx_graph *g = parse(T("x", "4"), "");
    assert_null(lx_plan_make(g, &how, &st));
    lx_graph_free(g);
    assert_int_equal(st.code, LX_E_USAGE);
}

/* A complete answer to the fit question, or none: a plan that leaves something out is not let through. */
static void fit_is_all_or_nothing(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = chain(16, false, &st);
    struct lx_plan *p = plan_of(with_capacity(g, 2048), "greedy", LX_ASK_FIT);
    assert_int_equal(p->answer.status, LX_INFEASIBLE); /* the bound proves it, whoever looked */
    assert_false(lx_plan_check(p, &st));
    p->answer.status = LX_FEASIBLE;
    assert_false(lx_plan_check(p, &st));
    assert_non_null(strstr(st.text, "not every buffer is placed"));
    lx_plan_free(p);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .run.seed = UINT64_MAX};
    g = chain(3, false, &st);
    assert_null(lx_plan_make(g, &how, &st)); /* a plan file could not say it */
    lx_graph_free(g);
    assert_int_equal(st.code, LX_E_USAGE);
}

/* The first digit of every number of a plan file, one after the other, is changed: none may pass unseen. */
static void tampered_numbers_are_seen(void **state)
{
    (void)state;
    static const char pattern[] = "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", "
                                  "\"target_hbm_bytes\": 40, \"capacity\": 24, \"alignment\": 8,"
                                  "\"buffers\": [{\"name\": \"a\", \"size\": 16, \"uses\": [0, 1]}, "
                                  "{\"name\": \"b\", \"size\": 10, \"uses\": [1, 2],"
                                  "\"in_place_parents\": [\"a\"]}, {\"name\": \"c\", \"size\": 16, "
                                  "\"start\": 0, \"end\": 4, \"cost\": 5}]}";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t.json", pattern, sizeof pattern - 1, &st);
    assert_non_null(g);
    struct lx_plan *p = plan_of(g, "firstfit", LX_ASK_OWN);
    size_t length;
    char *text = lx_plan_to_json(p, &length);
    lx_plan_free(p);
    int changed = 0;
    bool quoted = false;
    const char *key = text;
    for (size_t i = 1; i < length; i++) {
        if (text[i] == '"' && (quoted = !quoted)) key = text + i;
        bool number = text[i] >= '0' && text[i] <= '9' && (text[i - 1] == ' ' || text[i - 1] == '[');
        if (!number || quoted) continue; /* reasons are words for people */
        /* What a plan reports of its making is nobody's to prove. */
        if (strncmp(key, "\"seed\"", 6) == 0 || strncmp(key, "\"work_limit\"", 12) == 0 ||
            strncmp(key, "\"steps\"", 7) == 0)
            continue;
        char was = text[i];
        text[i] = was == '9' ? '8' : (char)(was + 1);
        struct lx_plan *forged = lx_plan_of_text("p.json", text, length, &st);
        bool accepted = forged && lx_plan_check(forged, &st);
        if (accepted) fail_msg("not seen at byte %zu: %.60s", i, text + (i < 30 ? 0 : i - 30));
        assert_int_not_equal(st.code, LX_E_INTERNAL);
        lx_plan_free(forged);
        text[i] = was;
        changed++;
    }
    assert_true(changed > 25);
    struct lx_plan *good = lx_plan_of_text("p.json", text, length, &st);
    assert_non_null(good);
    assert_true(lx_plan_check(good, &st));
    lx_plan_free(good);
    mem_free(text);
}

static void hostile_sizes(void **state)
{
    (void)state;
    lx_status st = {0};
    assert_null(chain(1000000, false, &st)); /* a million ops */
    assert_int_equal(st.code, LX_E_LIMIT);
    struct text t = {0}; /* few values per line, so that only the number of lines is too much */
    text_add(&t, "id,lower,upper,size\n");
    for (int i = 0; i <= LX_MAX_ITEMS; i++) text_format(&t, "%d,0,1,1\n", i);
    assert_null(lx_graph_of_text("million.csv", t.at, t.length, &st));
    text_free(&t);
    assert_int_equal(st.code, LX_E_LIMIT);
    assert_int_equal(st.line, LX_MAX_ITEMS + 2);
    assert_null(chain(300000, true, &st));
    assert_int_equal(st.code, LX_E_CYCLE);
    assert_non_null(strstr(st.text, "..."));
}

static void many_buffers(void **state)
{
    (void)state;
    enum { MANY = SAMPLED ? 20000 : 200000 };
    struct text t = {0};
    lx_status st = {0};
    text_add(&t, "id,lower,upper,size\n");
    for (int i = 0; i < MANY; i++) text_format(&t, "b%d,%d,%d,%d\n", i, i, i + 2 + i % 7, 1 + i * 31 % 4096);
    const struct lx_graph *g = lx_graph_of_text("many.20000.csv", t.at, t.length, &st);
    assert_non_null(g);
    assert_int_equal(g->list->buffer_count, MANY);
    struct lx_plan *p = plan_of(g, "firstfit", LX_ASK_OWN);
    assert_true(lx_plan_check(p, &st));
    assert_true(p->figures.spill_bytes > 0 && p->figures.spill_bytes < p->figures.baseline_hbm_bytes);
    lx_plan_free(p);
    text_free(&t);
}

/* Everything alive at once is as bad as it gets for a greedy that looks at the living: it must stay far from
 * all pairs, both where all of it stacks up and where most of it finds no room. */
static void many_contemporaries(void **state)
{
    (void)state;
    enum { MANY = SAMPLED ? 20000 : 100000 };
    static const char *const names[] = {"all.1000000000.csv", "few.1000000.csv"};
    struct text t = {0};
    lx_status st = {0};
    text_add(&t, "id,lower,upper,size\n");
    for (int i = 0; i < MANY; i++) text_format(&t, "b%d,0,9,%d\n", i, 64 + i % 977);
    for (int i = 0; i < 2; i++) {
        const struct lx_graph *g = lx_graph_of_text(names[i], t.at, t.length, &st);
        assert_non_null(g);
        struct lx_plan *p = plan_of(g, "greedy", LX_ASK_OWN);
        assert_true(lx_plan_check(p, &st));
        assert_true((p->figures.spill_bytes == 0) == (i == 0));
        lx_plan_free(p);
    }
    text_free(&t);
    /* Fixed ones with holes that are too small between them: each of the others has to pass all of them. */
    enum { SOME = 3000 };
    text_add(&t, "id,lower,upper,size,offset\n");
    for (int i = 0; i < SOME; i++) text_format(&t, "f%d,0,9,64,%d\nb%d,0,9,128,\n", i, 128 * i, i);
    const struct lx_graph *g = lx_graph_of_text("fixed.1000000000.csv", t.at, t.length, &st);
    assert_non_null(g);
    struct lx_plan *p = plan_of(g, "greedy", LX_ASK_OWN);
    assert_true(lx_plan_check(p, &st));
    assert_int_equal(p->figures.spill_bytes, 0);
    lx_plan_free(p);
    text_free(&t);
}

/* Halves of relayouts that save nothing alone are not in the way of what is worth its room. */
static void an_empty_scratchpad_is_used(void **state)
{
    (void)state;
    static const char *const solvers[] = {"firstfit", "bestfit"};
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/swiglu.json", &st);
    const struct lx_graph *small = g ? lx_graph_with_capacity(g, 40960, &st) : NULL;
    if (!small) fail_msg("%s", st.text);
    for (int i = 0; i < 2; i++) {
        struct lx_plan_options how = {.solver = lx_solver_find(solvers[i])};
        struct lx_plan *p = lx_plan_make(small, &how, &st);
        if (!p) fail_msg("%s", st.text);
        assert_true(p->figures.hbm_bytes < p->figures.baseline_hbm_bytes);
        lx_plan_free(p);
    }
    lx_graph_free(small);
    lx_graph_free(g);
}

/* Room, holes that last, and fixed addresses. */
static void reasons_look_for_holes(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *reason;
    } cases[] = {
        {"a,0,9,40,0\nb,0,9,20,60\nx,0,9,40,50\n", "others lie at its fixed address"},
        {"a,0,5,40,20\nb,5,9,40,60\nx,0,9,30,\n", "no hole of 30 lasts as long"},
        {"a,0,9,60,0\nx,0,9,50,\n", "others take up to 60 of 100 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        lx_status st = {0};
        int length = snprintf(text, sizeof text, "id,lower,upper,size,offset\n%s", cases[i].rows);
        const struct lx_graph *g = lx_graph_of_text("holes.100.csv", text, (size_t)length, &st);
        if (!g) fail_msg("%s", st.text);
        struct lx_plan *p = plan_of(g, "firstfit", LX_ASK_TRAFFIC);
        const char *reason = p->reason[p->problem.count - 1];
        if (!reason || !strstr(reason, cases[i].reason)) fail_msg("case %zu: %s", i, reason ? reason : "");
        lx_plan_free(p);
    }
}

/* A solver that places nothing. */
static bool place_none(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    (void)p, (void)run, (void)answer;
    return true;
}

static void who_is_left_off_though_there_is_room(void **state)
{
    (void)state;
    static const struct lx_solver idle = {
        .abi = LX_SOLVER_ABI, .name = "idle", .summary = "", .caps = LX_CAN_SPILL, .solve = place_none};
    lx_status st = {0};
    static const char text[] = "id,lower,upper,size\na,0,9,40\n";
    const struct lx_graph *g = lx_graph_of_text("room.100.csv", text, sizeof text - 1, &st);
    struct lx_plan_options how = {.solver = &idle, .objective = LX_ASK_TRAFFIC};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    assert_string_equal(p->reason[0], "left off chip: there is room for it, but idle did not place it there");
    lx_plan_free(p);
    lx_graph_free(g);
}

/* Pins that clash: more steps would not help a heuristic that goes through the buffers once. */
static void no_more_work_for_one_pass(void **state)
{
    (void)state;
    static const char text[] = "id,lower,upper,size,offset\np,0,9,20,40\na,0,9,26,\nb,0,9,26,\nc,0,9,26,\n";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("pin.100.csv", text, sizeof text - 1, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = plan_of(g, "firstfit", LX_ASK_FIT);
    assert_string_equal(p->unproved, "firstfit found no place for all; a solver that searches may");
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_and_costs),
        cmocka_unit_test(barred_by_extern),
        cmocka_unit_test(in_place_only_where_legal),
        cmocka_unit_test(one_slot_two_children),
        cmocka_unit_test(traffic_is_perfect_traffic_plus_spill),
        cmocka_unit_test(files_are_exact),
        cmocka_unit_test(plans_are_recognised),
        cmocka_unit_test(a_solver_is_needed),
        cmocka_unit_test(fit_is_all_or_nothing),
        cmocka_unit_test(tampered_numbers_are_seen),
        cmocka_unit_test(hostile_sizes),
        cmocka_unit_test(many_buffers),
        cmocka_unit_test(many_contemporaries),
        cmocka_unit_test(an_empty_scratchpad_is_used),
        cmocka_unit_test(reasons_look_for_holes),
        cmocka_unit_test(no_more_work_for_one_pass),
        cmocka_unit_test(who_is_left_off_though_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
