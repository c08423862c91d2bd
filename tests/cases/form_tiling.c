/* The form of tiny graphs with the least traffic over all nests, by exhaustive search.
 *
 * Each is planned without nests and with them, written as a plan file, read back and checked from scratch: the traffic is
 * the least, and never less. What is proved is no more than that, and all of it where the bound of each tensor alone
 * reaches it. The plan that the case has is one of several that are as good: it is written as a file, too
 * (tiling_plan.c), to be accepted with the bytes that the case says, and run. */
#include "cases/tiling_form.h"
#include "base/memory.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

static void look_at_all(const cJSON *value)
{
    const cJSON *v;
    case_looked(value);
    cJSON_ArrayForEach(v, value) look_at_all(v);
}

static const struct lx_graph *read_pattern(const cJSON *one, lx_status *st)
{
    const cJSON *pattern = cjson_find(one, "pattern");
    char *text = cJSON_Print(pattern);
    const struct lx_graph *g = text ? lx_graph_of_text("case", text, strlen(text), st) : NULL;
    look_at_all(pattern);
    cJSON_free(text);
    return g;
}

static int64_t number(const cJSON *one, const char *key)
{
    return case_int(cjson_find(one, key), -1);
}

static int levels_of(const struct lx_plan *p)
{
    int most = 0;
    for (int32_t i = 0; i < p->nest_count; i++)
        if (p->nests[i].level_count > most) most = p->nests[i].level_count;
    return most;
}

/* The least of nests with so many levels at most. */
static int64_t least_of(const cJSON *one, int levels)
{
    static const char *const keys[] = {"least_without_nests", "least_with_one_level", "least_with_two_levels",
                                       "least_with_nests"};
    int64_t least = 0;
    for (int i = 0; i <= 3; i++)
        if (i == levels) least = number(one, keys[i]);
    return least;
}

/* The plan of the case, by its own rules, against the checker's and the device's. */
static void expect_given(struct cases *c, const cJSON *one, const struct lx_plan *ours)
{
    size_t length = 0;
    char *text = lx_plan_to_json(ours, &length);
    cJSON *like = text ? cJSON_ParseWithLength(text, length) : NULL;
    cJSON *given = like ? tiling_plan_of(one, like) : NULL;
    char *written = given ? cJSON_Print(given) : NULL;
    lx_status st = {0};
    struct lx_plan *p = written ? lx_plan_of_text("given", written, strlen(written), &st) : NULL;
    if (case_expect(c, p && lx_plan_check(p, &st), "the plan of the case is refused: %s", st.text)) {
        struct lx_device_options how = {0};
        struct lx_run_result *run = lx_device_run(p, &how, &st);
        case_expect(c, p->figures.hbm_bytes == number(one, "least_with_nests"),
                    "the plan of the case moves %lld bytes", (long long)p->figures.hbm_bytes);
        case_expect(c, run && run->ok, "the plan of the case does not run: %s",
                    run && run->fault_count ? run->faults[0].text : st.text);
        lx_run_result_free(run);
    }
    lx_plan_free(p);
    look_at_all(cjson_find(one, "plan"));
    cJSON_free(written);
    cJSON_Delete(given);
    cJSON_Delete(like);
    mem_free(text);
}

/* As a file, read again: everything that is known of the plan is there, and true. */
static void expect_sound(struct cases *c, const cJSON *one, const struct lx_plan *p, const char *how)
{
    size_t length = 0;
    char *text = lx_plan_to_json(p, &length);
    lx_status st = {0};
    struct lx_check_report report = {0};
    struct lx_plan *again = text ? lx_plan_of_text("plan", text, length, &st) : NULL;
    if (case_expect(c, again != NULL, "%s: the plan cannot be read again: %s", how, st.text)) {
        bool legal = lx_plan_check_report(again, &report, &st);
        case_expect(c, legal, "%s: expected a legal plan, but: %s", how, st.text);
        case_expect(c, !legal || report.compulsory_bytes == number(one, "compulsory"),
                    "%s: expected that %lld bytes must cross, the checker says %lld", how,
                    (long long)number(one, "compulsory"), (long long)report.compulsory_bytes);
        lx_plan_free(again);
    }
    mem_free(text);
}

/* A plan with everything off chip that claims to be the best is believed only if it is. */
static void expect_no_false_proof(struct cases *c, const struct lx_plan *best, int64_t least, const char *how)
{
    struct lx_plan_options options = {.solver = lx_solver_find("exact"), .passes = best->passes};
    struct lx_check_report report = {0};
    lx_status st = {0};
    options.passes.stage = LX_STAGE_BASELINE;
    struct lx_plan *p = lx_plan_make(best->graph, &options, &st);
    if (!case_expect(c, p != NULL, "%s: %s", how, st.text)) return;
    p->passes = best->passes;
    p->figures.perfect_hbm_bytes = p->figures.hbm_bytes;
    p->figures.spill_bytes = p->figures.bound_bytes = 0;
    bool legal = lx_plan_check_report(p, &report, &st);
    case_expect(c, !legal || report.least <= least, "%s: the checker proves %lld bytes, but %lld are enough",
                how, (long long)report.least, (long long)least);
    lx_plan_free(p);
}

static void expect_plan(struct cases *c, const cJSON *one, const struct lx_graph *g, int tile)
{
    const char *how = tile == LX_TILE_AUTO ? "with nests" : "without nests";
    struct lx_plan_options options = {.solver = lx_solver_find("exact"),
                                      .passes = {.tile = tile, .online = LX_ONLINE_NONE}};
    lx_status st = {0};
    int64_t least = least_of(one, tile == LX_TILE_AUTO ? 3 : 0), alone = number(one, "bound_alone");
    struct lx_plan *p = lx_plan_make(g, &options, &st);
    if (!case_expect(c, p != NULL, "%s: %s", how, st.text)) return;
    long long bytes = p->figures.hbm_bytes, proved = lx_plan_least(p);
    case_expect(c, bytes == least, "%s: expected %lld bytes, got %lld", how, (long long)least, bytes);
    case_expect(c, bytes >= least_of(one, levels_of(p)), "%s: %lld bytes is less than %d levels can have",
                how, bytes, levels_of(p));
    case_expect(c, proved <= least, "%s: %lld bytes are proved, but %lld are enough", how, proved,
                (long long)least);
    if (least == alone || least == number(one, "compulsory"))
        case_expect(c, proved == least, "%s: expected a proof of %lld bytes, got one of %lld", how,
                    (long long)least, proved);
    expect_sound(c, one, p, how);
    expect_no_false_proof(c, p, least, how);
    if (tile == LX_TILE_NONE) expect_given(c, one, p);
    lx_plan_free(p);
}

static void check_case(struct cases *c, const cJSON *one)
{
    lx_status st = {0};
    const struct lx_graph *g = read_pattern(one, &st);
    if (!case_expect(c, g != NULL, "refused: %s", st.text)) return;
    case_expect(c, lx_device_usable(&g->device) == number(one, "capacity"), "expected a scratchpad of %lld",
                (long long)number(one, "capacity"));
    expect_plan(c, one, g, LX_TILE_NONE);
    expect_plan(c, one, g, LX_TILE_AUTO);
    for (int levels = 0; levels <= 3; levels++)
        case_expect(c, levels == 0 || least_of(one, levels) <= least_of(one, levels - 1),
                    "more levels cannot cost more");
    lx_graph_free(g);
}

static bool fits(const cJSON *root)
{
    const cJSON *first = cJSON_GetArrayItem(cjson_find(root, "cases"), 0);
    return cjson_find(first, "least_with_nests") != NULL;
}

static void run(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "cases"))
    {
        case_begin(c, "%s %s", case_text(one, "id"), case_text(one, "family"));
        check_case(c, one);
        case_end(c, one);
    }
}

static const char *const remarks[] = {"id", "family", NULL};

const struct case_form form_tiling = {"tiling", fits, run, remarks};
