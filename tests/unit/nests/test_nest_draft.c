/* Drafts with nests: the best placement under the nests and holds of a case moves what exhaustive search found. */
#include "unstable.h"
#include "base/file.h"
#include "base/memory.h"
#include "layout/op_index.h"
#include "search/search_steps.h"
#include "stays/draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include <cmocka.h>

enum { MOST = 64 };

struct given {
    struct lx_nest nests[8];
    signed char var[8][MOST][LX_MAX_LEVELS];
    int32_t nest_count;
    struct hold holds[MOST];
    int32_t hold_count;
    struct cut cuts[MOST];
    int32_t cut_count;
};

static char *read_all(const char *path)
{
    lx_status st = {0};
    size_t length;
    char *text = file_read(path, &length, &st);
    if (!text) fail_msg("%s", st.text);
    return text;
}

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static int32_t op_named(const struct lx_graph *g, const char *name)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (strcmp(g->ops[o].name, name) == 0) return o;
    return -1;
}

static int32_t tensor_named(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    return -1;
}

static void take_nests(const cJSON *plan, const struct lx_graph *g, struct given *out)
{
    const cJSON *n, *level;
    cJSON_ArrayForEach(n, get(plan, "nests"))
    {
        struct lx_nest *to = &out->nests[out->nest_count];
        to->first = op_named(g, get(n, "first")->valuestring);
        to->last = op_named(g, get(n, "last")->valuestring);
        to->var = (const signed char(*)[LX_MAX_LEVELS])out->var[out->nest_count];
        cJSON_ArrayForEach(level, get(n, "levels"))
        {
            to->tiles[to->level_count] = (int64_t)get(level, "tiles")->valuedouble;
            for (int32_t o = to->first; o <= to->last; o++) {
                struct op_index x;
                op_index_of(g, &g->ops[o], &x);
                const char *letter = get(get(level, "variables"), g->ops[o].name)->valuestring;
                for (int v = 0; v < x.var_count; v++)
                    if (x.letter[v] == *letter)
                        out->var[out->nest_count][o - to->first][to->level_count] = (signed char)v;
            }
            to->level_count++;
        }
        out->nest_count++;
    }
}

static bool accesses(const struct lx_graph *g, int32_t o, int32_t tensor)
{
    bool any = false;
    for (int i = 0; i < op_operand_count(&g->ops[o]); i++) any |= op_operand(&g->ops[o], i) == tensor;
    return any;
}

/* The parts of a tensor in order of time: its accesses in one nest, or those between two nests that access it. */
static void take_parts(const cJSON *plan, const struct lx_graph *g, struct given *out)
{
    const cJSON *t;
    cJSON_ArrayForEach(t, get(plan, "tensors"))
    {
        int32_t tensor = tensor_named(g, t->string), last = -2;
        int part = -1;
        bool whole = false;
        for (int32_t o = 0; o < g->op_count; o++) {
            if (!accesses(g, o, tensor)) continue;
            int32_t nest = nest_of_op(out->nests, out->nest_count, o);
            if (nest == last && part >= 0) continue;
            const char *word = cJSON_GetArrayItem(get(t, "parts"), ++part)->valuestring;
            if (nest >= 0 && strncmp(word, "hbm", 3) != 0)
                out->holds[out->hold_count++] =
                    (struct hold){tensor, nest, strncmp(word, "tile", 4) == 0 ? word[4] - '0' : 0};
            bool joins = strcmp(word, "join") == 0;
            if (part > 0 && !joins && (whole || strcmp(word, "whole") == 0))
                out->cuts[out->cut_count++] = (struct cut){tensor, o};
            whole = joins || strcmp(word, "whole") == 0;
            last = nest;
        }
    }
    qsort(out->cuts, (size_t)out->cut_count, sizeof *out->cuts, cut_compare);
}

static int64_t least(const struct draft *x)
{
    lx_status st = {0};
    struct lx_answer a = {.address = mem_zeroed((size_t)x->problem.count, sizeof *a.address)};
    struct lx_run run = {0};
    int64_t bytes = -1, again = -1;
    if (!lx_problem_solve(&x->problem, lx_solver_find("exact"), &run, &a, &st)) fail_msg("%s", st.text);
    assert_true(traffic_count(x, a.address, &bytes));
    again = x->base_bytes + a.objective;
    assert_int_equal(bytes, again);
    mem_free(a.address);
    return bytes;
}

static int64_t plan_case(const cJSON *c)
{
    lx_status st = {0};
    char *text = cJSON_Print(get(c, "pattern"));
    const struct lx_graph *g = lx_graph_of_text("case", text, strlen(text), &st);
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
    struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
    struct given *how = mem_zeroed(1, sizeof *how);
    struct arena memory = {0};
    struct draft x = {0};
    if (!d) fail_msg("%s", st.text);
    take_nests(get(c, "plan"), l->graph, how);
    take_parts(get(c, "plan"), l->graph, how);
    struct decisions decided = {.nests = how->nests,
                                .nest_count = how->nest_count,
                                .holds = how->holds,
                                .hold_count = how->hold_count,
                                .cuts = how->cuts,
                                .cut_count = how->cut_count,
                                .passes = {.no_ring = true}};
    if (!draft_make(d, &decided, &memory, &x, &st)) fail_msg("%s: %s", get(c, "id")->valuestring, st.text);
    int64_t bytes = least(&x);
    draft_free(&x);
    arena_free(&memory);
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
    mem_free(how);
    free(text);
    return bytes;
}

static int64_t search_case(const cJSON *c)
{
    lx_status st = {0};
    char *text = cJSON_Print(get(c, "pattern"));
    const struct lx_graph *g = lx_graph_of_text("case", text, strlen(text), &st);
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
    struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
    struct arena memory = {0};
    struct lx_plan_options options = {.solver = lx_solver_find("exact")};
    struct decisions how = {.passes = {.no_ring = true}};
    struct search by = {
        .divided = d, .request = &options, .effort = effort_asked(&options), .memory = &memory, .st = &st};
    if (!d || !try_with(&by, DRAFTS_MANY, &how, &by.best) || !nests_search(&by)) fail_msg("%s", st.text);
    int64_t bytes = by.best.hbm_bytes;
    attempt_free(&by.best);
    arena_free(&memory);
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
    free(text);
    return bytes;
}

static void the_least_is_found(void **state)
{
    (void)state;
    char *text = read_all(SOURCE_DIR "/tests/data/cases/tiling.json");
    cJSON *all = cJSON_Parse(text), *c;
    int wrong = 0;
    cJSON_ArrayForEach(c, get(all, "cases"))
    {
        int64_t want = (int64_t)get(c, "least_with_nests")->valuedouble, got = search_case(c);
        if (got == want) continue;
        wrong++;
        print_message("%s %s: %lld bytes, least %lld, without %lld\n", get(c, "id")->valuestring,
                      get(c, "family")->valuestring, (long long)got, (long long)want,
                      (long long)get(c, "least_without_nests")->valuedouble);
    }
    cJSON_Delete(all);
    mem_free(text);
    assert_int_equal(wrong, 0);
}

static void cases_are_reached(void **state)
{
    (void)state;
    char *text = read_all(SOURCE_DIR "/tests/data/cases/tiling.json");
    cJSON *all = cJSON_Parse(text), *c;
    int wrong = 0;
    cJSON_ArrayForEach(c, get(all, "cases"))
    {
        int64_t want = (int64_t)get(c, "least_with_nests")->valuedouble, got = plan_case(c);
        if (got == want) continue;
        wrong++;
        print_message("%s: %lld bytes, least %lld\n", get(c, "id")->valuestring, (long long)got,
                      (long long)want);
    }
    cJSON_Delete(all);
    mem_free(text);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases_are_reached),
                                       cmocka_unit_test(the_least_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
