/* The explorer in use: plans saved, races, runs, faults, every view at every size, a newcomer,
 * and a monkey. */
#include "support/explorer_by_keys.h"
#include "base/file.h"
#include "base/memory.h"
#include "tui/map/map_window.h"
#include "support/sampled.h"

#include <stdlib.h>
#include <cjson/cJSON.h>

enum { MONKEY_KEYS = SANITIZED ? 4000 : SAMPLED ? 16000 : 100000 };

/* Views, and a plan, as files. */
static void views_and_plans_are_written(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    lx_status st;
    size_t length;
    explorer_type(
        x,
        "<wait>:export map.svg<Enter>2:export graph.svg<Enter>:export graph.txt<Enter>:save p.json<Enter>");
    static const char *const files[] = {"map.svg", "graph.svg", "graph.txt"};
    static const char *const starts[] = {"<svg", "<svg", "[2 Graph]"};
    for (int i = 0; i < 3; i++) {
        char *text = file_read(files[i], &length, &st);
        assert_non_null(text);
        assert_non_null(strstr(text, starts[i]));
        mem_free(text);
    }
    struct lx_plan *p = lx_plan_read("p.json", &st);
    assert_non_null(p);
    assert_true(lx_plan_check(p, &st));
    lx_plan_free(p);
    close_it(x);
    x = open_on("p.json", 24, 80); /* a plan file is looked at as it is, and planned anew when asked */
    explorer_type(x, "<wait>");
    assert_true(x->session.shown.was_read);
    explorer_type(x, ":solver greedy<Enter><wait>");
    assert_false(x->session.shown.was_read);
    assert_string_equal(session_plan(&x->session)->solver, "greedy");
    close_it(x);
}

static void races_finish_and_stop(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE, 40, 120);
    explorer_type(x, "<wait>5r<wait>");
    for (size_t i = 0; i < x->session.racers.count; i++)
        assert_non_null(x->session.racers.at[i].outcome.plan);
    assert_true(explorer_shows(x, "optimal"));
    explorer_type(x, "j<Space>jj:lx 800k<Enter><wait>");
    assert_true(explorer_shows(x, "of other settings"));
    explorer_type(x, "r.<wait>.<wait>");
    close_it(x);
}

/* What a sweep offers is what it can do, its knee is inside, and no line is drawn over its words. */
static void sweeps_offer_what_they_can(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/showcase/attention_tight.json", 24, 80);
    x->theme = theme_for(0, false);
    explorer_type(x, "<wait>0.");
    assert_true(explorer_shows(x, "cancelled; r sweeps again"));
    assert_false(explorer_shows(x, " cancel "));
    explorer_type(x, "<wait>r<wait>");
    assert_true(explorer_shows(x, "from 136 KiB nothing spills (auto)"));
    assert_true(explorer_shows(x, "the present plan"));
    close_it(x);
    x = open_on(SOURCE_DIR "/patterns/lists/two_pools.json", 24, 80);
    explorer_type(x, "<wait>0<wait>");
    assert_true(explorer_shows(x, "nothing to sweep."));
    assert_false(explorer_shows(x, " again"));
    assert_false(explorer_shows(x, "many sizes"));
    close_it(x);
}

/* The plan that is shown is executed; a change makes the run an old one;
 * a row leads to its place in the map. */
static void plans_are_executed(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 100);
    explorer_type(x, "<wait>7");
    assert_true(explorer_shows(x, "r executes this plan"));
    explorer_type(x, "r<wait>");
    assert_non_null(x->session.run.result);
    assert_true(x->session.run.result->ok);
    assert_true(explorer_shows(x, "ok: no fault"));
    int64_t counted = x->session.run.result->total.hbm_read + x->session.run.result->total.hbm_written;
    assert_int_equal(counted, session_plan(&x->session)->figures.hbm_bytes);
    explorer_type(x, "jjj");
    int32_t op = x->session.selection.op;
    explorer_type(x, "<Enter>");
    assert_int_equal(x->view, VIEW_MAP);
    assert_int_equal(x->session.selection.op, op);
    explorer_type(x, ":solver greedy<Enter><wait>7");
    assert_true(explorer_shows(x, "of another plan"));
    explorer_type(x, "r.<wait>r<wait>");
    assert_true(explorer_shows(x, "ok: no fault"));
    close_it(x);
    x = open_on(SOURCE_DIR "/patterns/targets/moe_mlp.json", 12, 40);
    explorer_type(x, "<wait>7r<wait>GgG");
    assert_true(x->session.run.result && x->session.run.result->ok);
    close_it(x);
}

/* The file is read once: races, other settings, teams and runs work on what was read then, and a run is of the
 * very plan that is shown; to read it again is to be asked for. */
static void files_are_read_once(void **state)
{
    (void)state;
    lx_status st;
    size_t length;
    char *text = file_read(GQ, &length, &st);
    assert_true(text && file_write("gone.json", text, length, &st));
    mem_free(text);
    struct explorer *x = open_on("gone.json", 40, 120);
    explorer_type(x, "<wait>");
    assert_int_equal(remove("gone.json"), 0);
    explorer_type(x, "5r<wait>");
    for (size_t i = 0; i < x->session.racers.count; i++)
        assert_non_null(x->session.racers.at[i].outcome.plan);
    explorer_type(x, ":solver greedy<Enter><wait>7r<wait>");
    assert_true(x->session.run.result && x->session.run.result->ok);
    assert_ptr_equal(x->session.run.plan, session_plan(&x->session));
    explorer_type(x, "8<wait>r<wait>");
    assert_true(x->session.team.run.ok);
    explorer_type(x, "4R<wait>");
    assert_null(session_plan(&x->session));
    assert_true(explorer_shows(x, "cannot open"));
    close_it(x);
}

/* A plan that somebody broke: the status says so, the device finds it, and the fault leads to its place. */
static void faults_lead_to_their_place(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 100);
    lx_status st;
    size_t length;
    explorer_type(x, "<wait>:save broken.json<Enter>");
    close_it(x);
    char *text = file_read("broken.json", &length, &st);
    cJSON *plan = cJSON_Parse(text), *buffer, *wanted = NULL, *over = NULL;
    cJSON_ArrayForEach(buffer, cJSON_GetObjectItem(plan, "buffers"))
    {
        const char *name = cJSON_GetObjectItem(buffer, "name")->valuestring;
        if (strcmp(name, "max") == 0) wanted = buffer;
        if (strcmp(name, "masked") == 0) over = buffer;
    }
    assert_true(wanted && over);
    cJSON_SetNumberValue(cJSON_GetObjectItem(wanted, "address"),
                         cJSON_GetObjectItem(over, "address")->valuedouble);
    mem_free(text);
    text = cJSON_Print(plan);
    assert_true(file_write("broken.json", text, strlen(text), &st));
    free(text);
    cJSON_Delete(plan);
    x = open_on("broken.json", 24, 100);
    explorer_type(x, "<wait>");
    assert_true(explorer_shows(x, "NOT LEGAL"));
    explorer_type(x, "7r<wait>");
    assert_true(explorer_shows(x, "NOT ok") && explorer_shows(x, "overwrites"));
    explorer_type(x, "<Enter>");
    assert_int_equal(x->view, VIEW_MAP);
    assert_int_equal(x->session.selection.tick, x->session.run.result->faults[0].tick);
    assert_int_equal(x->session.selection.address, x->session.run.result->faults[0].address);
    assert_string_equal(session_plan(&x->session)->problem.buffers[x->session.selection.buffer].name, "max");
    close_it(x);
}

/* One buffer, one colour: in the map, in its details, in the list of ops. */
static void colours_belong_to_buffers(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    x->theme = theme_find("dark");
    explorer_type(x, "<wait>4:goto exp<Enter>");
    int32_t identity = buffer_identity(x->session.shown.plan, x->session.selection.buffer);
    uint8_t tone = tone_of_identity(identity);
    const struct map_window *w = x->states[VIEW_MAP];
    int in_map = 0;
    for (int r = w->map.row; r < w->map.row + w->map.rows; r++)
        for (int c = w->map.column; c < w->map.column + w->map.columns; c++) {
            const struct style *s = &x->cells.at[r * x->cells.columns + c].style;
            in_map += s->paper == tone || s->ink == tone;
        }
    assert_true(in_map > 20);
    explorer_type(x, "2");
    const struct list *ops = x->states[VIEW_GRAPH];
    int row = ops->rows.row + ops->cursor - ops->top;
    int mark = row * x->cells.columns; /* behind the rails, however many there are */
    while (mark < (row + 1) * x->cells.columns && x->cells.at[mark].code != x->glyphs->mark) mark++;
    assert_int_equal(x->cells.at[mark].style.ink, tone);
    assert_int_equal(x->cells.at[mark].style.paper, TONE_SELECTED);
    close_it(x);
}

/* Play goes tick by tick and stops at the last one. */
static void play_stops_at_the_end(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>4g<Space>");
    assert_true(explorer_is_lively(x));
    int64_t last = x->session.shown.time.last - 1;
    for (int64_t t = x->session.selection.tick; t < last; t++) {
        assert_int_equal(x->session.selection.tick, t);
        explorer_type(x, "<Tick>");
    }
    explorer_type(x, "<Tick><Tick>");
    assert_int_equal(x->session.selection.tick, last);
    assert_false(explorer_is_lively(x));
    close_it(x);
}

/* Every view at every size: nothing is written outside, nothing crashes, nothing is empty. */
static void every_view_at_every_size(void **state)
{
    (void)state;
    static const char *const patterns[] = {GQ, MOE, SOURCE_DIR "/patterns/targets/staircase.json"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        struct explorer *x = open_on(patterns[k], 24, 80);
        explorer_type(x, "<wait>5r<wait>7r<wait>8<wait>r<wait>");
        for (int rows = 1; rows <= 62; rows += rows < 14 ? 1 : 12)
            for (int columns = 1; columns <= 202; columns += columns < 14 ? 3 : 27)
                for (int v = 0; v < VIEW_COUNT; v++) {
                    x->view = v < PAGE_COUNT ? (enum view_id)v : VIEW_MAP;
                    x->overlay = v < PAGE_COUNT ? VIEW_COUNT : (enum view_id)v;
                    x->theme = &themes[(rows + columns) % 4];
                    x->glyphs = columns % 2 ? &glyphs_ascii : &glyphs_unicode;
                    explorer_key(x, (struct key){AT_RESIZE, rows, columns});
                    explorer_draw(x);
                    if (!x->glyphs->ascii) continue;
                    for (int i = 0; i < rows * columns; i++) assert_true(x->cells.at[i].code <= 0x7e);
                }
        close_it(x);
    }
}

/* A newcomer's walk with only what the screen says: why is a buffer of MoE MLP off chip, which solver brings
 * it on chip, save that plan. */
static void a_newcomer_finds_the_solver(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns", 40, 120);
    x->overlay = VIEW_WELCOME;
    assert_true(explorer_shows(x, "Open a pattern with <Enter>"));
    explorer_type(x, "<Enter><wait>");
    assert_true(explorer_shows(x, "/ search") && explorer_shows(x, "<Enter> open"));
    explorer_type(x, "/targets/moe<Enter><Enter><wait>");
    explorer_type(x, ":lx 850k<Enter>:solver greedy<Enter><wait>");
    assert_true(explorer_shows(x, "o off chip"));
    explorer_type(x, "o");
    if (x->session.shown.plan->problem.buffers[x->session.selection.buffer].reason) explorer_type(x, "o");
    const char *name = session_plan(&x->session)->problem.buffers[x->session.selection.buffer].name;
    char wanted[80];
    snprintf(wanted, sizeof wanted, "%s", name);
    assert_true(explorer_shows(x, "why: ") && explorer_shows(x, "remedies"));
    explorer_type(x, "5r<wait>");
    assert_true(explorer_shows(x, wanted));
    int winner = -1;
    for (size_t i = 0; i < x->session.racers.count && winner < 0; i++) {
        const struct lx_plan *p = x->session.racers.at[i].outcome.plan;
        for (int32_t b = 0; b < p->problem.count; b++)
            if (strcmp(p->problem.buffers[b].name, wanted) == 0 && p->answer.address[b] >= 0) winner = (int)i;
    }
    assert_true(winner >= 0);
    explorer_type(x, "g"); /* the plan that is shown has the first row */
    for (int i = 0; i <= winner; i++) explorer_type(x, "j");
    assert_true(explorer_shows(x, "<Enter> use this solver"));
    explorer_type(x, "<Enter><wait>W<Enter>");
    assert_true(explorer_shows(x, "saved; check it with: lxplan check moe_mlp.plan.json"));
    lx_status st;
    struct lx_plan *p = lx_plan_read("moe_mlp.plan.json", &st);
    assert_non_null(p);
    assert_true(lx_plan_check(p, &st));
    close_it(x);
    lx_plan_free(p);
}

/* Keys at random, mostly those that mean something, and sizes at random. */
static void the_monkey_finds_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *first;
    } starts[] = {{SOURCE_DIR "/patterns/targets", ""},
                  {GQ, ":lx 60k<Enter><wait>o"}, /* something is off chip and could be on: F, B, i, a */
                  {GQ, ":save p.json<Enter>:open-plan p.json<Enter>8<wait>t"},
                  {MOE, ""},
                  {SOURCE_DIR "/patterns/lists/two_pools.json", "<wait>^"},
                  {SOURCE_DIR "/tests/data/plans/tiled_attention.plan.json", "<wait>;)t"}};
    enum { STARTS = sizeof starts / sizeof *starts };
    struct rng rng = rng_seed(7);
    for (int round = 0; round < STARTS; round++) {
        struct explorer *x = open_on(starts[round].pattern, 24, 80);
        explorer_type(x, starts[round].first);
        for (int i = 0; i < MONKEY_KEYS / STARTS; i++) {
            struct key k = {.code = (uint32_t)rng_between(&rng, 1, 126)};
            uint64_t kind = rng_below(&rng, 100);
            if (kind < 60) { /* a key of the table */
                const char *keys = request_rows[rng_below(&rng, REQ_COUNT)].keys;
                lx_status st;
                if (*keys) key_parse(&keys, &k, &st);
            } else if (kind < 75)
                k.code = (uint32_t)rng_between(&rng, AT_UP, AT_F1);
            else if (kind < 78)
                k = (struct key){AT_RESIZE, (int)rng_between(&rng, 1, 60), (int)rng_between(&rng, 1, 200)};
            else if (kind < 84)
                k = (struct key){(uint32_t)rng_between(&rng, AT_CLICK, AT_WHEEL_DOWN),
                                 (int)rng_between(&rng, 0, 60), (int)rng_between(&rng, 0, 200)};
            else if (kind < 86)
                k.code = AT_TICK;
            else if (kind < 88)
                k.code = AT_ESCAPE;
            else if (kind == 99 && i % 20 == 0)
                k.code = (uint32_t)rng_between(&rng, 0x80, 0x3000);
            explorer_key(x, k);
            worker_take(x->session.worker);
            if (i % 3 == 0) explorer_draw(x);
            x->quit = false;
        }
        close_it(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_and_plans_are_written), cmocka_unit_test(races_finish_and_stop),
        cmocka_unit_test(sweeps_offer_what_they_can),  cmocka_unit_test(files_are_read_once),
        cmocka_unit_test(plans_are_executed),          cmocka_unit_test(faults_lead_to_their_place),
        cmocka_unit_test(colours_belong_to_buffers),   cmocka_unit_test(play_stops_at_the_end),
        cmocka_unit_test(every_view_at_every_size),    cmocka_unit_test(a_newcomer_finds_the_solver),
        cmocka_unit_test(the_monkey_finds_nothing),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
