/* The team view without a terminal: what the session knows of a team, runs in the background, what is
 * selected, what is drawn, and a monkey. */
#include "support/explorer_by_keys.h"
#include "tui/team/team_picture.h"
#include "support/sampled.h"

#define STENCIL SOURCE_DIR "/patterns/team/stencil_3_steps.json"
#define MISSES  SOURCE_DIR "/patterns/team/slice_misses.json"

enum { MONKEY_KEYS = SANITIZED ? 1000 : SAMPLED ? 1500 : 20000 };

static struct explorer *open_and_type(const char *pattern, int rows, int columns, const char *keys)
{
    struct explorer *x = open_on(pattern, rows, columns);
    explorer_type(x, keys);
    return x;
}

static void cut_file(const char *path, int members, struct team_cut *out)
{
    struct pattern_source *source = source_new(path, NULL);
    struct source_content from = source_read(source);
    struct lx_team_grid grid = {.axes = 1, .size = {members, 1, 1}};
    team_cut_make(&from, &grid, true, out);
    source_content_free(&from);
    source_free(source);
}

/* The stencil over three: what every member owns, gets and may compute meanwhile. */
static void parts_halos_and_cores_are_known(void **state)
{
    (void)state;
    struct team_cut c;
    struct lx_team_range core;
    static const int64_t own[] = {170, 171, 171}, left[] = {0, 2, 2}, right[] = {2, 2, 0};
    cut_file(STENCIL, 3, &c);
    assert_non_null(c.plan);
    int32_t op = team_cut_op(&c, "up2_1"), tensor = team_cut_tensor(&c, "grid1");
    int32_t exchange = team_cut_exchange(&c, tensor, op);
    assert_true(op >= 0 && tensor >= 0 && exchange >= 0);
    assert_int_equal(c.plan->exchanges[exchange].tensor, tensor);
    assert_int_equal(team_cut_exchange(&c, tensor, 0), exchange); /* before it is read: the next one */
    assert_int_equal(team_cut_exchange(&c, tensor, c.plan->graph->op_count - 1), exchange);
    assert_int_equal(team_cut_exchange(&c, c.plan->graph->ops[op].output, op), -1);
    for (int m = 0; m < 3; m++) {
        struct team_part p = team_cut_part(&c, tensor, exchange, m);
        assert_int_equal(range_size(p.own), own[m]);
        assert_int_equal(p.left, left[m]);
        assert_int_equal(p.right, right[m]);
        assert_int_equal(p.extent, 512);
        assert_false(p.apart);
        for (int64_t i = p.own.begin; i < p.own.end; i++) assert_int_equal(team_cut_owner(&c, tensor, i), m);
    }
    assert_true(team_cut_core(&c, op, 1, &core));
    assert_int_equal(range_size(core), 167);
    assert_int_equal(team_cut_op(&c, "nobody"), -1);
    team_cut_free(&c);
    cut_file(MISSES, 4, &c); /* what comes lies elsewhere: no halo */
    assert_non_null(c.plan);
    struct team_part p = team_cut_part(&c, team_cut_tensor(&c, "a"), 0, 1);
    assert_true(p.apart);
    assert_int_equal(range_size(p.box), 1);
    team_cut_free(&c);
    cut_file(MOE, 2, &c);
    assert_null(c.plan);
    assert_int_equal(c.st.code, LX_E_UNSUPPORTED);
    team_cut_free(&c);
}

/* Every op and every exchange has one row; an exchange comes before the op that first reads it. */
static void rows_are_in_order(void **state)
{
    (void)state;
    static const char *const patterns[] = {STENCIL, GQ, SOURCE_DIR "/patterns/team/attention_rows.json"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (int members = 1; members < 9; members++) {
            struct team_cut c;
            int exchanges = 0;
            cut_file(patterns[i], members, &c);
            assert_non_null(c.plan);
            for (int r = 0, op = 0; r < c.row_count; r++) {
                if (c.rows[r].op >= 0) {
                    assert_int_equal(c.rows[r].op, op);
                    assert_int_equal(c.row_of_op[op++], r);
                } else {
                    exchanges++;
                    assert_int_equal(c.plan->exchanges[c.rows[r].exchange].first_reader, op);
                }
            }
            assert_int_equal(exchanges, c.plan->exchange_count);
            assert_int_equal(c.row_count, exchanges + c.plan->graph->op_count);
            team_cut_free(&c);
        }
}

/* Nobody looks: nothing is cut. A new size cuts anew and ends what is known of the last run. */
static void teams_are_made_when_looked_at(void **state)
{
    (void)state;
    struct explorer *x = open_and_type(STENCIL, 24, 200, "<wait>");
    struct team_model *t = &x->session.team;
    assert_false(t->asked);
    explorer_type(x, "8<wait>");
    assert_true(t->known && t->cut.plan && t->cut.members == TEAM_AT_FIRST);
    explorer_type(x, "r<wait>");
    assert_true(t->run.known && t->run.ok && t->run.result.ok);
    assert_int_equal(t->run.result.total.bytes, t->cut.plan->bytes);
    assert_true(explorer_shows(x, "equal to one device: 0 of 262,144 elements differ"));
    explorer_type(x, "+<wait>");
    assert_int_equal(t->cut.members, 3);
    assert_false(t->run.known);
    explorer_type(x, ":team 5<Enter><wait>");
    assert_int_equal(t->cut.members, 5);
    explorer_type(x, "llllll");
    assert_int_equal(t->member, 4);
    explorer_type(x, "--<wait>");
    assert_int_equal(t->cut.members, 3);
    assert_int_equal(t->member, 2); /* there is no member 4 any more */
    explorer_type(x, "---<wait>");
    assert_int_equal(t->cut.members, 1);
    assert_true(explorer_shows(x, "a team has 1 to"));
    explorer_type(x, ":team many<Enter>");
    assert_true(explorer_shows(x, "team many: write how many devices"));
    explorer_type(x, "R<wait>");
    assert_true(t->known && t->cut.plan);
    explorer_type(x, "4:team 2<Enter><wait>"); /* from anywhere, and there one is */
    assert_int_equal(x->view, VIEW_TEAM);
    assert_int_equal(t->cut.members, 2);
    explorer_type(x, "y");
    assert_true(explorer_shows(x, "--stage team --team 2"));
    close_it(x);
}

/* The numbers that a person looks for, at every size of screen. */
static void a_member_is_told(void **state)
{
    (void)state;
    static const int sizes[][2] = {{12, 40}, {24, 80}, {40, 120}, {60, 200}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct explorer *x = open_and_type(STENCIL, sizes[i][0], sizes[i][1],
                                           "<wait>:team 3<Enter><wait>:goto up2_0<Enter><Space>l");
        assert_true(explorer_shows(x, "grid0 512x512"));
        assert_true(explorer_shows(x, "device 1: own 171, halo 2 + 2"));
        if (sizes[i][0] >= 24) {
            assert_true(explorer_shows(x, "halo 2 + 2, inner 167; gets 8,128 B"));
            assert_true(explorer_shows(x, "the passes saved 66.7 % of 146,304 B"));
            assert_true(explorer_shows(x, "left halo 168..170, right halo 341..343"));
            assert_true(explorer_shows(x, "each 4,064 8,128 4,064"));
        }
        close_it(x);
    }
}

/* The time line tells of the selected member and op, at every size; a click on a lane selects its member. */
static void times_are_told(void **state)
{
    (void)state;
    static const int sizes[][2] = {{12, 40}, {24, 80}, {40, 120}, {60, 200}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct explorer *x = open_and_type(STENCIL, sizes[i][0], sizes[i][1],
                                           "<wait>:team 3<Enter><wait>tl:goto up2_0<Enter>");
        const struct team_figures *f = &x->session.team.cut.figures;
        const struct team_view *v = x->states[VIEW_TEAM];
        char words[120], click[40];
        assert_non_null(f->clock);
        snprintf(
            words, sizeof words, "device 1: launches %s",
            in_micros(f->plans->plans[1]->figures.end_to_end_us - f->plans->plans[1]->figures.device_us).at);
        assert_int_equal(explorer_shows(x, words), sizes[i][0] >= 24);
        assert_true(explorer_shows(x, "computes") && v->members.rows >= 4);
        snprintf(click, sizeof click, "<Click:%d,%d>", v->members.row, 20);
        explorer_type(x, click);
        assert_int_equal(x->session.team.member, 0);
        explorer_type(x, ">>>>>>>>>>>>>>>><lt>");
        assert_int_equal(v->zoom, 11);
        explorer_type(x, "zt");
        assert_int_equal(v->zoom, 0);
        assert_false(v->times);
        close_it(x);
    }
}

/* Op and tensor are those of the other views, also by mouse and search. */
static void selection_is_shared(void **state)
{
    (void)state;
    struct explorer *x = open_and_type(STENCIL, 40, 120, "<wait>2:goto down1_1<Enter>8<wait>");
    struct session *s = &x->session;
    const struct lx_graph *g = outcome_graph(&s->shown);
    assert_true(explorer_shows(x, "down1_1 508x508"));
    explorer_type(x, "jj");
    assert_string_equal(g->ops[s->selection.op].name, "down1_1_s");
    explorer_type(x, "/put2<Enter>");
    assert_string_equal(g->ops[s->selection.op].name, "put2");
    explorer_type(x, "g");
    assert_string_equal(g->ops[s->selection.op].name, "keep0");
    const struct team_view *v = x->states[VIEW_TEAM];
    char click[40];
    snprintf(click, sizeof click, "<Click:%d,%d>", v->members.row + 1, 20);
    explorer_type(x, click);
    assert_int_equal(s->team.member, 1);
    snprintf(click, sizeof click, "<Click:%d,%d>", v->list.rows.row + 2, 20);
    explorer_type(x, click);
    assert_string_equal(g->ops[s->selection.op].name, "centre_0_w");
    explorer_type(x, "2");
    assert_true(explorer_shows(x, "centre_0_w = mul"));
    close_it(x);
}

static bool at_once(void *context)
{
    int *asked = context;
    return ++*asked > 3;
}

/* A run can be stopped, and says so; the next one is not bothered. */
static void runs_stop(void **state)
{
    (void)state;
    int asked = 0;
    struct team_cut c;
    struct lx_team_result r;
    lx_status st;
    struct lx_plan_options plan = {.solver = lx_solvers()[0]};
    struct lx_team_run_options how = {.plan = &plan, .stop = at_once, .context = &asked};
    cut_file(STENCIL, 1, &c); /* one member: `asked` has one thread */
    assert_non_null(c.plan);
    assert_false(lx_team_run(c.plan, &how, &r, &st));
    assert_int_equal(st.code, LX_E_STOPPED);
    team_cut_free(&c);
    struct explorer *x = open_and_type(STENCIL, 24, 80, "<wait>:team 4<Enter><wait>r.<wait>");
    assert_true(!x->session.team.run.known || x->session.team.run.stopped || x->session.team.run.ok);
    explorer_type(x, "r<wait>");
    assert_true(x->session.team.run.ok && x->session.team.run.result.ok);
    explorer_type(x, "r"); /* and it may still run when the explorer ends */
    close_it(x);
}

static void empty_states_say_what_to_do(void **state)
{
    (void)state;
    struct explorer *x = open_and_type(MOE, 24, 200, "<wait>8<wait>");
    assert_true(explorer_shows(x, "known by its bytes only") && explorer_shows(x, "press R"));
    explorer_type(x, "r");
    assert_true(explorer_shows(x, "there is no team to run"));
    explorer_type(x, "jkhl <Space>/x<Enter>");
    close_it(x);
}

static void monkey_finds_nothing(void **state)
{
    (void)state;
    static const char *const patterns[] = {STENCIL, MISSES};
    static const char *const keys[] = {"j", "k", "h", "l", "g", "G", "+", "-", "r", ".",
                                       "m", "8", "R", "y", "A", "T", "/", "n", "s", "<PageDown>"};
    struct rng rng = rng_seed(11);
    for (size_t round = 0; round < 2; round++) {
        struct explorer *x = open_and_type(patterns[round], 24, 80, "<wait>8<wait>");
        for (int i = 0; i < MONKEY_KEYS; i++) {
            const char *name = keys[rng_below(&rng, sizeof keys / sizeof *keys)];
            struct key k;
            lx_status st;
            assert_true(key_parse(&name, &k, &st));
            uint64_t kind = rng_below(&rng, 100);
            if (kind < 6)
                k = (struct key){AT_RESIZE, (int)rng_between(&rng, 1, 60), (int)rng_between(&rng, 1, 200)};
            else if (kind < 14)
                k = (struct key){(uint32_t)rng_between(&rng, AT_CLICK, AT_WHEEL_DOWN),
                                 (int)rng_between(&rng, 1, 60), (int)rng_between(&rng, 0, 200)};
            else if (kind < 20)
                k.code = AT_ESCAPE;
            explorer_key(x, k);
            worker_take(x->session.worker);
            explorer_draw(x);
            for (int c = 0; x->glyphs->ascii && c < x->cells.rows * x->cells.columns; c++)
                assert_true(x->cells.at[c].code <= 0x7e);
        }
        close_it(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_halos_and_cores_are_known),
        cmocka_unit_test(rows_are_in_order),
        cmocka_unit_test(teams_are_made_when_looked_at),
        cmocka_unit_test(a_member_is_told),
        cmocka_unit_test(times_are_told),
        cmocka_unit_test(selection_is_shared),
        cmocka_unit_test(runs_stop),
        cmocka_unit_test(empty_states_say_what_to_do),
        cmocka_unit_test(monkey_finds_nothing),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
