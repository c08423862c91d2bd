/* "Why, and what helps" in use: asked by Enter and by its key, applied, taken back, stopped, of lists, at every size and
 * in every theme. */
#include "support/explorer_by_keys.h"

#define MOE_MLP SOURCE_DIR "/patterns/graphs/moe_mlp.json"

/* Selects a buffer that is off chip and need not be; plans by bytes, without nests. */
#define OF_P ":set tile none<Enter>:set objective bytes<Enter>:lx 60k<Enter><wait>:goto p<Enter>"

static struct remedies *rows_of(const struct explorer *x)
{
    struct state {
        struct list list;
        struct tries rows;
    };
    return &((struct state *)x->states[VIEW_WHY])->rows.list;
}

/* The first row, applied, makes the plan that it promised, and undo brings back the one before. */
static void a_row_is_applied_and_taken_back(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, OF_P "<Enter><wait>");
    assert_int_equal(x->overlay, VIEW_WHY);
    int64_t before = session_plan(&x->session)->figures.hbm_bytes;
    const struct remedies *r = rows_of(x);
    assert_true(r->all.count > 10);
    assert_non_null(r->name);
    for (size_t i = 0; i < r->all.count; i++) assert_int_not_equal(r->all.at[i].state, REMEDY_OPEN);
    int64_t promised = r->all.at[0].value;
    assert_true(promised < before);
    assert_true(explorer_shows(x, r->all.at[0].what));
    explorer_type(x, "<Enter><wait>");
    assert_int_equal(x->overlay, VIEW_COUNT);
    assert_int_equal(session_plan(&x->session)->figures.hbm_bytes, promised);
    explorer_type(x, "u<wait>");
    assert_int_equal(session_plan(&x->session)->figures.hbm_bytes, before);
    close_it(x);
}

static void it_is_asked_about_the_plan_and_the_next_buffer(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, OF_P "i<wait>");
    assert_true(explorer_shows(x, "why: "));
    explorer_type(x, "<Space><wait>");
    assert_null(rows_of(x)->name);
    assert_true(explorer_shows(x, "the whole plan: "));
    explorer_type(x, "o");
    explorer_draw(x);
    explorer_type(x, "<wait>");
    assert_non_null(rows_of(x)->name);
    explorer_type(x, "q");
    assert_int_equal(x->overlay, VIEW_COUNT);
    explorer_type(x, "2i<wait>i3i<wait><Esc>");
    assert_int_equal(x->overlay, VIEW_COUNT);
    assert_int_equal(x->view, VIEW_CORES);
    close_it(x);
}

/* Rows are in order as they come; a cursor that nobody moved is on what helps, and Enter applies nothing else. */
static void rows_come_in_order(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, ":lx 60k<Enter><wait>i");
    const struct remedies *r = rows_of(x);
    int64_t now = session_plan(&x->session)->figures.hbm_bytes;
    for (int turn = 0; turn < 20; turn++) {
        usleep(20000);
        worker_take(x->session.worker);
        for (size_t i = 1; i < r->all.count && r->all.at[i].state <= REMEDY_CUT; i++)
            assert_true(r->all.at[i - 1].state <= REMEDY_CUT && r->all.at[i - 1].value <= r->all.at[i].value);
    }
    explorer_type(x, "<wait>");
    assert_true(r->all.at[0].value < now && explorer_shows(x, "time %"));
    close_it(x);
}

static void what_does_not_help_is_not_applied_unasked(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>i<wait>");
    assert_false(remedy_helps(rows_of(x), &rows_of(x)->all.at[0]));
    explorer_type(x, "<Enter>");
    assert_true(explorer_shows(x, ", none helps"));
    assert_int_equal(x->overlay, VIEW_WHY);
    explorer_type(x, "j<Enter>");
    assert_int_equal(x->overlay, VIEW_COUNT);
    close_it(x);
}

/* However small the window: what is drawn is inside its frame, and a row that Enter applies is to be seen. */
static void a_small_window_has_rows(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 12, 40);
    explorer_type(x, OF_P "i<wait>");
    assert_true(explorer_shows(x, "what") && explorer_shows(x, "why: "));
    assert_true(explorer_shows(x, rows_of(x)->all.at[0].what));
    for (int row = 2; row < 9; row++) assert_int_equal(x->cells.at[row * 40 + 39].code, x->glyphs->vertical);
    for (int c = 1; c < 39; c++) assert_int_equal(x->cells.at[9 * 40 + c].code, x->glyphs->horizontal);
    close_it(x);
}

static void it_stops_in_the_middle(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE_MLP, 24, 80);
    explorer_type(x, ":lx 100k<Enter><wait>i.");
    const struct remedies *r = rows_of(x);
    assert_true(r->all.count > 10);
    for (size_t i = 0; i < r->all.count; i++) assert_int_not_equal(r->all.at[i].state, REMEDY_OPEN);
    explorer_type(x, "<wait>G<Enter>"); /* a row that was cancelled is tried again */
    assert_true(explorer_shows(x, "trying it") || x->overlay == VIEW_COUNT);
    close_it(x);
}

/* A question about a plan that is gone is asked anew. */
static void it_follows_the_plan(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/lists/store_once.json", 24, 80);
    explorer_type(x, "<wait>i<wait>");
    assert_true(rows_of(x)->all.count > 2);
    assert_ptr_equal(rows_of(x)->plan, session_plan(&x->session));
    explorer_type(x, "s<wait>j<wait>");
    assert_ptr_equal(rows_of(x)->plan, session_plan(&x->session));
    close_it(x);
}

static void it_is_drawn_at_every_size_and_in_every_theme(void **state)
{
    (void)state;
    static const int sizes[][2] = {{24, 80}, {40, 120}, {60, 200}, {12, 40}, {8, 20}, {3, 10}, {1, 1}};
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, OF_P "i<wait>");
    for (const struct theme *t = themes; t->name; t++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int ascii = 0; ascii < 2; ascii++) {
                x->theme = t;
                x->glyphs = ascii ? &glyphs_ascii : &glyphs_unicode;
                explorer_key(x, (struct key){.code = AT_RESIZE, .row = sizes[i][0], .column = sizes[i][1]});
                explorer_draw(x);
                if (sizes[i][1] >= 80)
                    assert_true(explorer_shows(x, "remedies") && explorer_shows(x, "on chip"));
            }
    close_it(x);
}

/* Where plans take long, rows wait until they are asked for, the most promising first. */
static void large_rows_wait_until_they_are_asked_for(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, OF_P);
    x->session.took = 100;
    explorer_type(x, "i<wait>");
    const struct remedies *r = rows_of(x);
    for (size_t i = 0; i < r->all.count; i++) assert_int_equal(r->all.at[i].state, REMEDY_LARGE);
    assert_true(explorer_shows(x, "0 of ") && explorer_shows(x, "too large to try unasked"));
    assert_false(explorer_shows(x, "helps"));
    explorer_type(x, "<Enter>");
    assert_true(explorer_shows(x, "trying it"));
    explorer_type(x, "<wait>");
    assert_int_equal(r->all.at[0].state, REMEDY_TRIED);
    assert_true(explorer_shows(x, "1 of "));
    close_it(x);
}

/* A row that was cut short is planned in full before it is applied, and what differs is said. */
static void a_row_cut_short_is_planned_in_full(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, OF_P "i<wait>");
    struct remedy *it = &rows_of(x)->all.at[0];
    int64_t before = session_plan(&x->session)->figures.hbm_bytes, value = it->value;
    it->state = REMEDY_CUT;
    it->value += 1024;
    explorer_draw(x);
    assert_true(explorer_shows(x, "cut short: <Enter> plans it in full"));
    explorer_type(x, "<Enter>");
    assert_true(explorer_shows(x, "planning it in full first"));
    explorer_type(x, "<wait>");
    assert_true(explorer_shows(x, " in full: ") && explorer_shows(x, "cut short it had"));
    assert_int_equal(x->overlay, VIEW_WHY);
    assert_int_equal(session_plan(&x->session)->figures.hbm_bytes, before);
    it = &rows_of(x)->all.at[0];
    assert_true(it->state == REMEDY_TRIED && it->value == value);
    explorer_type(x, "<Enter><wait>");
    assert_int_equal(session_plan(&x->session)->figures.hbm_bytes, value);
    close_it(x);
}

/* The question widens and narrows: what was tried stays tried. Rows are sorted by bytes, time or syncs. */
static void results_are_kept_and_sorted(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, OF_P "i<wait><Space>");
    const struct remedies *r = rows_of(x);
    int tried = 0;
    assert_null(r->name);
    for (size_t i = 0; i < r->all.count; i++) tried += r->all.at[i].state == REMEDY_TRIED;
    assert_true(tried > 10 && tried + 4 >= (int)r->all.count);
    explorer_type(x, "<wait>>");
    for (size_t i = 1; i < r->all.count && r->all.at[i].state == REMEDY_TRIED; i++)
        assert_true(r->all.at[i - 1].us <= r->all.at[i].us + 1e-3);
    assert_true(explorer_shows(x, "fastest first"));
    explorer_type(x, ">");
    for (size_t i = 1; i < r->all.count && r->all.at[i].state == REMEDY_TRIED; i++)
        assert_true(r->all.at[i - 1].syncs <= r->all.at[i].syncs);
    close_it(x);
}

/* Every plan that was seen is a point; no plan of the front is beaten; <Enter> takes one. */
static void plans_that_were_seen_are_compared(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, OF_P);
    int64_t before = session_plan(&x->session)->figures.hbm_bytes;
    explorer_type(x, "u<wait>a<wait>");
    assert_int_equal(x->overlay, VIEW_PARETO);
    const struct session *s = &x->session;
    assert_true(s->seen.count > 15);
    bool undone = false; /* the plan before the undo */
    for (size_t i = 0; i < s->seen.count; i++) undone |= s->seen.at[i].value == before;
    assert_true(undone);
    assert_true(explorer_shows(x, "to take: "));
    int64_t now = session_plan(s)->figures.hbm_bytes;
    size_t changes = s->undo.count;
    explorer_type(x, "gj<Enter><wait>");
    assert_int_equal(x->overlay, VIEW_COUNT);
    assert_int_equal(s->undo.count, changes + 1);
    explorer_type(x, "u<wait>");
    assert_int_equal(session_plan(s)->figures.hbm_bytes, now);
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_applied_and_taken_back),
        cmocka_unit_test(it_is_asked_about_the_plan_and_the_next_buffer),
        cmocka_unit_test(rows_come_in_order),
        cmocka_unit_test(what_does_not_help_is_not_applied_unasked),
        cmocka_unit_test(a_small_window_has_rows),
        cmocka_unit_test(it_stops_in_the_middle),
        cmocka_unit_test(it_follows_the_plan),
        cmocka_unit_test(a_row_cut_short_is_planned_in_full),
        cmocka_unit_test(large_rows_wait_until_they_are_asked_for),
        cmocka_unit_test(results_are_kept_and_sorted),
        cmocka_unit_test(plans_that_were_seen_are_compared),
        cmocka_unit_test(it_is_drawn_at_every_size_and_in_every_theme),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
