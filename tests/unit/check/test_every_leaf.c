/* Every number, word and switch of a plan file, changed by itself: reading or lx_plan_check must refuse the file, or the
 * place is in the list of those that may say something else, with the reason; a row that nothing needs fails.
 *
 * The plans have nests, states, an op of several results, padded and cut sums, relayouts, copies that layout added, an
 * imported model; the pattern that stands in them is changed likewise. test_changed_plans.c leaves keys out and changes
 * the order of records. */
#include "support/changed_plan.h"
#include "base/memory.h"
#include "support/device_plans.h"
#include "support/sampled.h"

#include <cjson/cJSON.h>
#include <math.h>

/* Places are keys from the root on, `[]` for every element of a list; with a dot at the end all below. */
static struct {
    const char *place, *reason;
    bool seen;
} free_places[] = {
    {"solver.name", "who placed the buffers", 0},
    {"solver.seed", "of its random numbers", 0},
    {"solver.work_limit", "steps it was allowed", 0},
    {"solver.options", "as it was asked", 0},
    {"solver.steps", "steps it took", 0},
    {"solver.message", "its own words", 0},
    {"graph.ops[].name", "of a copy that layout added: the maker's own", 0},
    {"graph.passes.", "what was asked for: what is done stands in buffers and transfers", 0},
    {"graph.moves[][]", "what was decided; buffers and transfers say what is done", 0},
    {"buffers[].reason", "in words, for people", 0},
    {"graph.imported[]", "of the model's file, which a plan does not have", 0},
    {"buffers[].parents[]", "another one that may be written over as well", 0},
    {"buffers[].view_op", "another op that sees the same parts", 0},
    {"buffers[].view_operand", "another operand that is the same parts", 0},
    {"graph.device.", "stated: the plan is judged on this device, whatever else makes it so", 0},
    {"graph.launches[].why", "of an op that is one piece: in words, for people", 0},
    {"graph.launches[].dims[][]", "a longer tile within its dimension, of which there are as many", 0},
    {"pattern.came_from.name", "for people", 0},
    {"pattern.came_from.summary", "for people", 0},
    {"pattern.came_from.ops[].name", "of ops that running sums stand for", 0},
    {"pattern.came_from.device.", "the device of the pattern itself counts", 0},
    {"pattern.came_from.target_hbm_bytes", "the pattern's own counts", 0},
    {"pattern.name", "for people", 0},
    {"pattern.summary", "for people", 0},
};

/* Numbers that a place may have instead, and no others. */
static struct {
    const char *place;
    double number;
    const char *reason;
    bool seen;
} free_numbers[] = {
    {"buffers[].cost", 0, "not told", 0},
    {"graph.ops[].accesses[][]", -1, "no buffer instead of one that is off chip", 0},
    {"graph.pool_at", 0, "a pool of no bytes begins anywhere before what stands behind it", 0},
    {"graph.bound_us", 0, "no time at all is a bound", 0},
};

struct walk {
    cJSON *plan;
    char place[400];
    const cJSON *leaf;
    double number; /* that a number is changed to */
    int changes, wrong;
    int every; /* only one of so many is tried: plans of many alike */
};

static bool is_at(const char *row, const char *place)
{
    size_t length = strlen(row);
    return row[length - 1] == '.' ? strncmp(row, place, length) == 0 : strcmp(row, place) == 0;
}

static bool may_be_number(const struct walk *w)
{
    for (size_t i = 0; i < sizeof free_numbers / sizeof *free_numbers; i++)
        if (strcmp(free_numbers[i].place, w->place) == 0 && free_numbers[i].number == w->number)
            return free_numbers[i].seen = true;
    return false;
}

/* Behind the extent of a dimension stands the side of its tiles, which may be another up to that. */
static bool is_beyond(const struct walk *w)
{
    return strcmp(w->place, "graph.launches[].dims[][]") == 0 && w->number > w->leaf->prev->valuedouble;
}

static void judge(struct walk *w)
{
    if (!plan_accepted(w->plan) || may_be_number(w)) return;
    for (size_t i = 0; i < sizeof free_places / sizeof *free_places; i++)
        if (is_at(free_places[i].place, w->place) && !is_beyond(w)) {
            free_places[i].seen = true;
            return;
        }
    print_message("%s may be another (a number: %.17g)\n", w->place, w->number);
    w->wrong++;
}

/* By one, and to what readers and checkers may take for no value, for nothing, or as beyond all limits. */
static void change_number(struct walk *w, cJSON *leaf)
{
    double old = leaf->valuedouble;
    const double others[] = {old + 1, -1, 0, old * 3 + 64};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == old) continue;
        w->number = others[i];
        cJSON_SetNumberValue(leaf, w->number);
        judge(w);
    }
    cJSON_SetNumberValue(leaf, old);
}

static void change_word(struct walk *w, cJSON *leaf)
{
    char *old = leaf->valuestring, *other = mem_alloc(strlen(old) + 2);
    assert_non_null(other);
    sprintf(other, "%sx", old);
    leaf->valuestring = other;
    judge(w);
    leaf->valuestring = old;
    mem_free(other);
}

static void change_switch(struct walk *w, cJSON *leaf)
{
    int old = leaf->type;
    leaf->type = cJSON_IsTrue(leaf) ? cJSON_False : cJSON_True;
    judge(w);
    leaf->type = old;
}

static void change_all(struct walk *w, cJSON *at)
{
    size_t length = strlen(w->place);
    cJSON *child;
    bool leaf = cJSON_IsNumber(at) || cJSON_IsString(at) || cJSON_IsBool(at);
    bool tried = leaf && w->changes++ % w->every == 0;
    w->number = NAN;
    w->leaf = at;
    if (tried && cJSON_IsNumber(at)) change_number(w, at);
    if (tried && cJSON_IsString(at)) change_word(w, at);
    if (tried && cJSON_IsBool(at)) change_switch(w, at);
    cJSON_ArrayForEach(child, at)
    {
        bool listed = cJSON_IsArray(at);
        snprintf(w->place + length, sizeof w->place - length, "%s%s", listed || !length ? "" : ".",
                 listed ? "[]" : child->string);
        change_all(w, child);
        w->place[length] = '\0';
    }
}

static void every_leaf_of(const struct lx_graph *g, struct lx_plan_options how, const char *has, int every)
{
    lx_status st = {0};
    size_t length;
    how.solver = lx_solver_find("greedy");
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    char *text = lx_plan_to_json(p, &length);
    if (!strstr(text, has)) fail_msg("the plan has no %s: another is needed", has);
    struct walk w = {.plan = cJSON_Parse(text), .every = SAMPLED ? 5 * every : every};
    assert_non_null(w.plan);
    assert_true(plan_accepted(w.plan));
    change_all(&w, w.plan);
    assert_true(plan_accepted(w.plan));
    assert_true(w.changes > 200);
    assert_int_equal(w.wrong, 0);
    cJSON_Delete(w.plan);
    mem_free(text);
    lx_plan_free(p);
    lx_graph_free(g);
}

static const struct lx_graph *graph_of(const char *text)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("text", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static void relayouts_and_copies(void **state)
{
    (void)state;
    every_leaf_of(with_cores(device_test_graph("graphs/mha_4h.json"), 4),
                  (struct lx_plan_options){.passes = {.tile = LX_TILE_NONE}}, "\"ring\"", 1);
}

static void nests(void **state)
{
    (void)state;
    every_leaf_of(with_cores(device_test_graph("graphs/attention_small.json"), 4),
                  (struct lx_plan_options){0}, "\"nests\"", 1);
}

static void several_results_under_pressure(void **state)
{
    (void)state;
    every_leaf_of(with_cores(device_test_graph("graphs/moe_routed.json"), 4),
                  (struct lx_plan_options){.passes = {.evict = true}}, "\"further_outputs\"", 2);
}

static void moves(void **state)
{
    (void)state;
    every_leaf_of(device_test_graph("targets/needs_moves.json"),
                  (struct lx_plan_options){.passes = {.move = true, .evict = true}}, "\"moved_from\"", 7);
}

static void times(void **state)
{
    (void)state;
    every_leaf_of(with_cores(device_test_graph("graphs/rms_norm.json"), 4),
                  (struct lx_plan_options){.objective = LX_ASK_TIME}, "\"bound_us\"", 1);
}

static void a_height(void **state)
{
    (void)state;
    every_leaf_of(with_cores(device_test_graph("graphs/rms_norm.json"), 4),
                  (struct lx_plan_options){.objective = LX_ASK_HEIGHT}, "\"height\"", 1);
}

/* A cache that is written where it stands, and read, as another compiler writes it. */
static void an_imported_model(void **state)
{
    (void)state;
    static const char text[] =
        "module @step {\n"
        "  func.func @main(%arg0: tensor<1x4x1x64xbf16>, %arg1: tensor<1x4x64x64xbf16>, %arg2: "
        "tensor<1xi32>) "
        "-> (tensor<1x4x1x64xbf16>, tensor<1x4x64x64xbf16>) {\n"
        "    %0 = \"ttir.update_cache\"(%arg1, %arg0, %arg2) <{batch_offset = 0 : i32}> : "
        "(tensor<1x4x64x64xbf16>, tensor<1x4x1x64xbf16>, tensor<1xi32>) -> tensor<1x4x64x64xbf16>\n"
        "    %1 = \"ttir.permute\"(%0) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<1x4x64x64xbf16>) "
        "-> "
        "tensor<1x4x64x64xbf16>\n"
        "    %2 = \"ttir.matmul\"(%arg0, %1) : (tensor<1x4x1x64xbf16>, tensor<1x4x64x64xbf16>) -> "
        "tensor<1x4x1x64xbf16>\n"
        "    %3 = \"ttir.softmax\"(%2) <{dimension = 3 : si32}> : (tensor<1x4x1x64xbf16>) -> "
        "tensor<1x4x1x64xbf16>\n"
        "    %4 = \"ttir.matmul\"(%3, %0) : (tensor<1x4x1x64xbf16>, tensor<1x4x64x64xbf16>) -> "
        "tensor<1x4x1x64xbf16>\n"
        "    return %4, %0 : tensor<1x4x1x64xbf16>, tensor<1x4x64x64xbf16>\n"
        "  }\n"
        "}\n";
    every_leaf_of(with_cores(graph_of(text), 4), (struct lx_plan_options){0}, "\"state\"", 1);
}

/* Tiles that are longer than what they cut: nothing but the device says how long they are. */
static void short_tensors(void **state)
{
    (void)state;
    static const char text[] = "HloModule short\n"
                               "ENTRY %main {\n"
                               "  %a = f32[4]{0} parameter(0)\n"
                               "  %c = f32[4]{0} constant({1, -2, 3.5, 4})\n"
                               "  %x = f32[4]{0} add(%a, %c)\n"
                               "  %m = f32[4]{0} multiply(%x, %x)\n"
                               "  ROOT %r = f32[4]{0} subtract(%m, %c)\n"
                               "}\n";
    every_leaf_of(graph_of(text), (struct lx_plan_options){0}, "\"dims\": [[4, 64", 1);
}

static void every_freedom_is_needed(void **state)
{
    (void)state;
    if (SAMPLED) return; /* fewer leaves: not every freedom is met */
    for (size_t i = 0; i < sizeof free_places / sizeof *free_places; i++)
        if (!free_places[i].seen)
            fail_msg("%s (%s) is never another", free_places[i].place, free_places[i].reason);
    for (size_t i = 0; i < sizeof free_numbers / sizeof *free_numbers; i++)
        if (!free_numbers[i].seen)
            fail_msg("%s (%s) is never %g", free_numbers[i].place, free_numbers[i].reason,
                     free_numbers[i].number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relayouts_and_copies),
        cmocka_unit_test(nests),
        cmocka_unit_test(several_results_under_pressure),
        cmocka_unit_test(moves),
        cmocka_unit_test(times),
        cmocka_unit_test(a_height),
        cmocka_unit_test(an_imported_model),
        cmocka_unit_test(short_tensors),
        cmocka_unit_test(every_freedom_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
