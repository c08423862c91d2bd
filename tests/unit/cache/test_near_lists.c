/* Lists out of the solve cache as starts for others: of the same lives, in other sizes or memories. What comes out is legal,
 * never worse than without, better now and then, and the same whenever the folder holds the same. */
#include "cache/cache_entry.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/cache_files.h"

enum { BUFFERS = 14, TRIALS = 60 };

static int set_up(void **state)
{
    return folder_set_up(state, FOLDER_ROOM);
}

/* Lives and shares of sizes come from the seed; `percent` is what all sizes are of those. */
static const struct lx_graph *list(uint64_t seed, int percent, int64_t capacity, const char *objective)
{
    struct rng r = rng_seed(seed);
    struct text t = {0};
    lx_status st = {0};
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"l\", \"alignment\": 16, \"objective\": "
                "\"%s\", ",
                objective);
    if (capacity >= 0) text_format(&t, "\"capacity\": %lld, ", (long long)capacity);
    text_add(&t, "\"buffers\": [");
    for (int i = 0; i < BUFFERS; i++) {
        int64_t start = (int64_t)rng_below(&r, 12), life = 1 + (int64_t)rng_below(&r, 6);
        int64_t size = (64 + (int64_t)rng_below(&r, 1000)) * percent / 100;
        text_format(&t, "%s{\"name\": \"b%d\", \"size\": %lld, \"start\": %lld, \"end\": %lld, \"cost\": %d}",
                    i ? ", " : "", i, (long long)size, (long long)start, (long long)(start + life),
                    (int)(1 + rng_below(&r, 5000)));
    }
    text_add(&t, "]}");
    const struct lx_graph *g = lx_graph_of_text("l.json", t.at, t.length, &st);
    if (!g) fail_msg("%s", st.text);
    text_free(&t);
    return g;
}

static struct lx_plan *planned(const char *folder, const struct lx_graph *g, const char *solver)
{
    struct lx_plan_options how = {.solver = lx_solver_find(solver)};
    lx_status st = {0};
    if (folder) snprintf(how.cache, sizeof how.cache, "%s", folder);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    assert_true(p->answer.bound <= p->answer.objective);
    return p;
}

/* `b` with and without a folder that has `a`: 1 where it is better, and no worse in any case. */
static int gained(const char *folder, const struct lx_graph *a, const struct lx_graph *b, const char *solver)
{
    lx_status st = {0};
    int32_t removed;
    char *texts[2];
    size_t length;
    struct lx_plan *alone = planned(NULL, b, solver);
    int64_t least = alone->answer.objective, seeded = 0;
    for (int i = 0; i < 2; i++) {
        lx_plan_free(planned(folder, a, solver));
        struct lx_plan *p = planned(folder, b, solver);
        seeded = p->answer.objective;
        texts[i] = lx_plan_to_json(p, &length);
        lx_plan_free(p);
        assert_true(lx_cache_clear(folder, &removed, &st));
        assert_int_equal(removed, 2);
    }
    assert_string_equal(texts[0], texts[1]);
    if (seeded > least) fail_msg("%lld is worse than %lld", (long long)seeded, (long long)least);
    mem_free(texts[0]), mem_free(texts[1]);
    lx_plan_free(alone);
    return seeded < least;
}

static int gains(const char *folder, const char *solver, const char *objective, int percent, int64_t one,
                 int64_t two)
{
    int better = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        const struct lx_graph *a = list(seed, 100, one, objective), *b = list(seed, percent, two, objective);
        better += gained(folder, a, b, solver);
        lx_graph_free(a), lx_graph_free(b);
    }
    return better;
}

static void places_of_others_are_tried(void **state)
{
    assert_true(gains(*state, "firstfit", "spill", 100, 1800, 2000) > 0); /* a larger memory */
    assert_true(gains(*state, "firstfit", "spill", 90, 2000, 2000) > 0);  /* smaller buffers */
    assert_true(gains(*state, "firstfit", "spill", 115, 2000, 2200) > 0); /* larger ones, packed anew */
    assert_true(gains(*state, "firstfit", "height", 90, -1, -1) >= 0);
    assert_int_equal(gains(*state, "auto", "spill", 90, 2000, 2000), 0); /* which is proved */
}

/* Other lives, another question or other parents are another structure; sizes, costs and names are not. */
static void structure_is_lives(void **state)
{
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
    const struct lx_graph *g[4] = {list(1, 100, 2000, "spill"), list(1, 50, 900, "spill"),
                                   list(2, 100, 2000, "spill"), list(1, 100, 2000, "fit")};
    struct entry_key key[4];
    (void)state;
    for (int i = 0; i < 4; i++) assert_true(entry_key_of(g[i], &how, &key[i]));
    assert_true(key[0].structure == key[1].structure && strcmp(key[0].hash, key[1].hash) != 0);
    assert_true(key[0].structure != key[2].structure && key[0].structure != key[3].structure);
    assert_int_equal(key[1].sizes[1], 900);
    for (int i = 0; i < 4; i++) lx_graph_free(g[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_of_others_are_tried, set_up, folder_tear_down),
        cmocka_unit_test(structure_is_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
