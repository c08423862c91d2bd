/* Plans with nests are executed and proved: the cases of tiling.json as searched and as given, blocks and attention
 * scaled down, random nests of random graphs on one to 32 cores, and sums over tiles of every kind and type. */
#include "support/nest_runs.h"
#include "base/memory.h"
#include "support/sampled.h"

enum { RANDOM_PLANS = SAMPLED ? 6 : 100, SEARCHED_SHARE = 3 };

/* As many as LXPLAN_RANDOM_GRAPHS says. */
static int random_plans(void)
{
    const char *n = getenv("LXPLAN_RANDOM_GRAPHS");
    return n ? atoi(n) : RANDOM_PLANS;
}

static void cases_run_as_searched(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    int wrong = 0;
    struct nests_seen seen = {0};
    cJSON_ArrayForEach(c, case_array(all))
    {
        lx_status st = {0};
        struct lx_plan *p = plan_of_case(c, LX_ASK_TRAFFIC, &st);
        if (!p) fail_msg("%s", st.text);
        see_nests(p, &seen);
        wrong += run_nests(stated_get(c, "id")->valuestring, p, LX_VERIFY_FULL);
        lx_plan_free(p);
    }
    cJSON_Delete(all);
    say_nests(&seen);
    assert_int_equal(wrong, 0);
    assert_true(seen.nests >= 70);
}

static void cases_run_as_given(void **state)
{
    (void)state;
    cJSON *all = tiling_cases(), *c;
    const struct lx_passes passes = {.no_ring = true};
    int wrong = 0;
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(all, "cases"))
    {
        lx_status st = {0};
        char *text = cJSON_Print(stated_get(c, "pattern"));
        const struct lx_graph *g = lx_graph_of_text("case", text, strlen(text), &st);
        struct lx_plan *p = g ? plan_stated(g, &passes, "exact", state_case, c, &st) : NULL;
        if (!p) fail_msg("%s", st.text);
        assert_int_equal(p->figures.hbm_bytes, (int64_t)stated_get(c, "least_with_nests")->valuedouble);
        wrong += run_nests(stated_get(c, "id")->valuestring, p, LX_VERIFY_FULL);
        lx_plan_free(p);
        lx_graph_free(g);
        free(text);
    }
    cJSON_Delete(all);
    assert_int_equal(wrong, 0);
}

static void random_nests_run(void **state)
{
    (void)state;
    int wrong = 0;
    struct nests_seen seen = {0};
    for (int i = 0; i < random_plans(); i++) {
        struct rng r = rng_seed((uint64_t)i + 1);
        lx_status st = {0};
        char name[40];
        struct lx_plan *p = random_nest_plan(&r, &st);
        if (!p) fail_msg("random %d: %s", i, st.text);
        snprintf(name, sizeof name, "random %d", i);
        see_nests(p, &seen);
        wrong += run_nests(name, p, (enum lx_verify)(i % 8 ? LX_VERIFY_FULL : i / 8 % LX_VERIFY_COUNT));
        lx_plan_free(p);
    }
    say_nests(&seen);
    assert_int_equal(wrong, 0);
    if (SAMPLED) return; /* fewer plans: not all kinds are among them */
    assert_true(seen.levels[0] && seen.levels[1] && seen.levels[2] && seen.blocked && seen.held &&
                seen.in_place);
    assert_true(seen.on_chip && seen.sums > seen.on_chip && seen.reduced && seen.rings);
}

/* Random graphs of all that there is, any passes, little room; as planned, and as read back from a file. */
static struct lx_plan *searched_plan(struct rng *r, lx_status *st)
{
    static const int64_t cores[] = {1, 2, 4, 32};
    struct random_graph_shape shape = {.ops = 4 + (int)rng_below(r, 12),
                                       .with_views = rng_below(r, 2),
                                       .with_externs = rng_below(r, 4) == 0,
                                       .again = rng_below(r, 4) == 0,
                                       .with_results = rng_below(r, 3) == 0,
                                       .cores = cores[rng_below(r, 4)]};
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    const struct lx_graph *whole = random_graph(r, &shape, st);
    const struct lx_graph *g =
        whole ? lx_graph_with_capacity(whole, INT64_C(1) << rng_between(r, 8, 15), st) : NULL;
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (strcmp(row->name, "stage") != 0 && rng_below(r, 3) == 0) lx_pass_set(&how.passes, row, 1);
    how.passes.tile = LX_TILE_AUTO;
    struct lx_plan *p = g ? lx_plan_make(g, &how, st) : NULL;
    lx_graph_free(g);
    lx_graph_free(whole);
    return p;
}

static int run_read_back(const char *name, const struct lx_plan *p)
{
    size_t length;
    lx_status st = {0};
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *again = lx_plan_of_text(name, text, length, &st);
    if (!again) fail_msg("%s: %s", name, st.text);
    int wrong = run_nests(name, again, LX_VERIFY_FULL);
    lx_plan_free(again);
    mem_free(text);
    return wrong;
}

static void searched_nests_run(void **state)
{
    (void)state;
    int wrong = 0;
    struct nests_seen seen = {0};
    for (int i = 0; i < random_plans() / SEARCHED_SHARE; i++) {
        struct rng r = rng_seed((uint64_t)i + 1000);
        lx_status st = {0};
        char name[40];
        struct lx_plan *p = searched_plan(&r, &st);
        if (!p) fail_msg("searched %d: %s", i, st.text);
        snprintf(name, sizeof name, "searched %d", i);
        see_nests(p, &seen);
        wrong += run_nests(name, p, LX_VERIFY_FULL);
        if (i % 4 == 0) wrong += run_read_back(name, p);
        lx_plan_free(p);
    }
    say_nests(&seen);
    assert_int_equal(wrong, 0);
}

static void blocks_run(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{64, 4096}, {128, 16384}};
    int wrong = 0;
    struct nests_seen seen = {0};
    for (size_t i = 0; i < (SAMPLED ? 1 : sizeof sizes / sizeof *sizes); i++) {
        lx_status st = {0};
        char name[80];
        struct lx_plan *p = plan_of_block(sizes[i][0], sizes[i][1], LX_ASK_TRAFFIC, &st);
        if (!p) fail_msg("%s", st.text);
        snprintf(name, sizeof name, "block of %d tokens", (int)sizes[i][0]);
        see_nests(p, &seen);
        wrong += run_nests(name, p, LX_VERIFY_FULL);
        lx_plan_free(p);
    }
    say_nests(&seen);
    assert_int_equal(wrong, 0);
    assert_true(seen.nests >= (SAMPLED ? 1 : 3));
}

/* The same bits, whatever the threads of the host. */
static void threads_change_nothing(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_plan *p = plan_of_block(32, 2048, LX_ASK_TRAFFIC, &st);
    struct lx_device_options how = {.verify = LX_VERIFY_OPS, .threads = 1};
    struct lx_run_result *one = p ? lx_device_run(p, &how, &st) : NULL;
    how.threads = 3;
    struct lx_run_result *more = one ? lx_device_run(p, &how, &st) : NULL;
    if (!more) fail_msg("%s", st.text);
    assert_true(one->ok && more->ok);
    for (int32_t o = 0; o < one->op_count; o++) assert_int_equal(one->ops[o].hash, more->ops[o].hash);
    assert_int_equal(one->output_hash, more->output_hash);
    assert_memory_equal(&one->total, &more->total, sizeof one->total);
    lx_run_result_free(one);
    lx_run_result_free(more);
    lx_plan_free(p);
}

/* ---- sums ---- */

/* y[k] of x[a, k, b], in a nest over all three: which level is which dimension, and what is held of y. */
struct sum_nest {
    int order[3];
    int64_t tiles[3];
    int levels, hold;
};

static void state_sum(void *context, const struct lx_layouts *l, struct stated_nests *out)
{
    const struct sum_nest *s = context;
    int32_t op = stated_op(l->graph, "reduced");
    struct lx_nest *n = &out->nests[0];
    *n = (struct lx_nest){.first = op - 1,
                          .last = op,
                          .level_count = s->levels,
                          .var = (const signed char(*)[LX_MAX_LEVELS])out->var[0]};
    for (int i = 0; i < s->levels; i++) {
        n->tiles[i] = s->tiles[s->order[i]];
        out->var[0][0][i] = out->var[0][1][i] = (signed char)s->order[i];
    }
    if (!nest_valid(l, n, NULL)) return;
    out->nest_count = 1;
    out->holds[out->hold_count++] = (struct hold){l->graph->ops[op].output, 0, s->hold};
}

static const struct lx_graph *sum_graph(const char *kind, const char *type, int64_t cores)
{
    char text[2000];
    lx_status st = {0};
    int n = snprintf(
        text, sizeof text,
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"sums\", \"device\": {\"preset\": \"spyre\", "
        "\"cores\": %d}, \"tensors\": ["
        "{\"name\": \"w\", \"shape\": [4, 8, 256], \"dtype\": \"%s\", \"role\": \"input\"},"
        "{\"name\": \"x\", \"shape\": [4, 8, 256], \"dtype\": \"%s\"},"
        "{\"name\": \"y\", \"shape\": [8], \"dtype\": \"%s\"},"
        "{\"name\": \"z\", \"shape\": [8], \"dtype\": \"%s\", \"role\": \"output\"}], \"ops\": ["
        "{\"name\": \"taken\", \"kind\": \"clone\", \"einsum\": \"akb->akb\", \"inputs\": [\"w\"], "
        "\"output\": \"x\"},"
        "{\"name\": \"reduced\", \"kind\": \"%s\", \"einsum\": \"akb->k\", \"inputs\": [\"x\"], "
        "\"output\": \"y\"},"
        "{\"name\": \"copied\", \"kind\": \"clone\", \"einsum\": \"k->k\", \"inputs\": [\"y\"], "
        "\"output\": \"z\"}]}",
        (int)cores, type, type, type, type, kind);
    const struct lx_graph *g = lx_graph_of_text("sums", text, (size_t)n, &st);
    if (!g) fail_msg("%s of %s: %s", kind, type, st.text);
    return g;
}

static int run_sum(const struct lx_graph *g, struct sum_nest *s, const char *name, struct nests_seen *seen)
{
    lx_status st = {0};
    struct lx_plan *p = plan_stated(g, &(struct lx_passes){0}, "exact", state_sum, s, &st);
    if (!p) fail_msg("%s: %s", name, st.text);
    see_nests(p, seen);
    int wrong = run_nests(name, p, LX_VERIFY_FULL);
    lx_plan_free(p);
    return wrong;
}

static void sums_of_all_kinds_and_types_run(void **state)
{
    (void)state;
    static const char *const types[] = {"fp16", "bf16", "fp32", "fp8", "int32", "int8"};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    const struct kind_list kinds = kinds_that(kind_reduces);
    int wrong = 0;
    struct nests_seen seen = {0};
    for (int k = 0; k < kinds.count; k++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            const struct lx_graph *g = sum_graph(kinds.at[k]->name, types[t], t % 2 ? 1 : 4);
            for (int i = 0; i < 4 * 4; i++) {
                struct sum_nest s = {.tiles = {4, 4, 2}, .levels = 3, .hold = i % 4};
                char name[80];
                memcpy(s.order, orders[i / 4], sizeof s.order);
                if (s.hold > 0 && s.order[s.hold - 1] != 1) continue; /* no level that indexes it */
                snprintf(name, sizeof name, "%s of %s, %d", kinds.at[k]->name, types[t], i);
                wrong += run_sum(g, &s, name, &seen);
            }
            lx_graph_free(g);
        }
    say_nests(&seen);
    assert_int_equal(wrong, 0);
    assert_true(seen.come_and_go > 0 && seen.on_chip > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases_run_as_searched),
                                       cmocka_unit_test(cases_run_as_given),
                                       cmocka_unit_test(random_nests_run),
                                       cmocka_unit_test(searched_nests_run),
                                       cmocka_unit_test(blocks_run),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(sums_of_all_kinds_and_types_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
