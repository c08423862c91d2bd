/* Plans that come at once and get better, what a change did, plans kept to compare with, and how all of it is stopped. */
#include "support/explorer_by_keys.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/file.h"
#include "text/format.h"
#include "tui/views/compared.h"

#include <stdatomic.h>
#include <time.h>

#define MOE_GRAPH SOURCE_DIR "/patterns/graphs/moe_mlp.json"

/* A list that no solver proves in a moment. */
static void write_list(const char *path, int count)
{
    struct text t = {0};
    struct rng rng = rng_seed(7);
    lx_status st;
    text_add(&t, "id,lower,upper,size\n");
    for (int i = 0; i < count; i++) {
        int start = (int)rng_below(&rng, (uint64_t)count), length = 1 + (int)rng_below(&rng, 60);
        text_format(&t, "b%d,%d,%d,%d\n", i, start, start + length, 128 * (1 + (int)rng_below(&rng, 900)));
    }
    assert_true(file_write(path, t.at, t.length, &st));
    text_free(&t);
}

/* Until there is a plan to see, without waiting for the end. */
static void until_shown(struct session *s)
{
    struct timespec moment = {0, 1000000};
    while (!s->has_shown) {
        worker_take(s->worker);
        nanosleep(&moment, NULL);
    }
}

static void a_first_plan_is_there_before_the_best(void **state)
{
    (void)state;
    write_list("list.1048576.csv", 3000);
    struct explorer *x = open_on("list.1048576.csv", 24, 120);
    struct session *s = &x->session;
    explorer_type(x, ":seed 1<Enter>");
    s->has_shown = false;
    until_shown(s);
    assert_non_null(session_plan(s));
    int64_t first = lx_plan_value(session_plan(s));
    if (s->shown.interim) {
        assert_true(session_is_stale(s));
        assert_false(session_shows_old(s));
        assert_true(explorer_shows(x, ". cancel")); /* the key that acts now is offered */
        assert_true(explorer_shows(x, "best "));
    }
    explorer_type(x, ".<wait>");
    assert_false(session_is_stale(s));
    assert_false(s->shown.interim);
    assert_true(lx_plan_value(session_plan(s)) <= first);
    lx_status st;
    assert_true(lx_plan_check(session_plan(s), &st));
    assert_false(explorer_shows(x, ". cancel"));
    explorer_type(x, ".");
    assert_true(explorer_shows(x, "nothing runs"));
    close_it(x);
}

/* Of a graph, too, what the solver has found is shown before its end: never a worse plan after a better one. */
static void a_graph_gets_better_on_the_screen(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/showcase/moe_tight.json", 24, 120);
    struct session *s = &x->session;
    struct timespec moment = {0, 1000000};
    explorer_type(x, "<wait>:solver anneal<Enter>");
    int64_t last = INT64_MAX;
    while (session_is_stale(s)) {
        worker_take(s->worker);
        if (s->shown.interim && !session_shows_old(s)) {
            assert_true(lx_plan_value(session_plan(s)) <= last);
            last = lx_plan_value(session_plan(s));
        }
        nanosleep(&moment, NULL);
    }
    assert_true(lx_plan_value(session_plan(s)) <= last);
    close_it(x);
}

static void escape_stops_planning(void **state)
{
    (void)state;
    write_list("list.1048576.csv", 3000);
    struct explorer *x = open_on("list.1048576.csv", 24, 80);
    explorer_type(x, ":objective traffic<Enter><Esc><wait>");
    assert_false(session_is_stale(&x->session));
    assert_non_null(session_plan(&x->session));
    close_it(x);
}

static void a_change_tells_before_and_after(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE_GRAPH, 24, 120);
    struct session *s = &x->session;
    explorer_type(x, ":lx 102400<Enter>:solver greedy<Enter><wait>");
    int64_t before = session_plan(s)->figures.hbm_bytes;
    explorer_type(x, ":solver firstfit<Enter><wait>");
    assert_true(s->change.known && s->moved);
    assert_int_equal(s->change.before.value, before);
    assert_int_equal(s->change.after.value, session_plan(s)->figures.hbm_bytes);
    assert_true(s->change.before.us != s->change.after.us && s->change.before.spill != s->change.after.spill);
    assert_true(explorer_shows(x, "HBM 14.3 -> 13.3 MiB (-7.0 %)") ||
                explorer_shows(x, "HBM 15,007,744 -> 13,959,168 (-7.0 %)"));
    int32_t marked = 0;
    for (int32_t i = 0; i < session_plan(s)->problem.count; i++) marked += s->moved[i];
    assert_int_equal(marked, s->change.came + s->change.went + s->change.moved + s->change.other);
    explorer_type(x, "<Esc>");
    assert_false(s->change.known || s->moved);
    explorer_type(x, "u<wait>");
    assert_int_equal(s->change.after.value, before);
    explorer_type(x, ":seed 5<Enter><wait>");
    assert_true(explorer_shows(x, "no byte changed") && explorer_shows(x, "nothing moved"));
    close_it(x);
}

/* The lines of what differs add up to the whole, whatever two plans. */
static void differences_add_up(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE_GRAPH, 24, 80);
    struct comparison c = {0};
    static const char *const sizes[] = {":lx 60k<Enter>", ":lx 100k<Enter>", ":lx 150k<Enter>"};
    for (int k = 0; k < 3; k++) {
        explorer_type(x, sizes[k]);
        explorer_type(x, ":solver greedy<Enter><wait>p<wait>:solver bestfit<Enter><wait>");
        const struct lx_plan *a = x->session.pinned.outcome.plan, *b = session_plan(&x->session);
        struct differing d;
        int64_t sum = 0;
        comparison_make(&c, a, b);
        for (int i = 0; comparison_line(&c, i, &d); i++) sum += d.gain;
        assert_int_equal(sum, a->figures.hbm_bytes - b->figures.hbm_bytes);
        assert_int_equal(sum, c.diff.gain);
    }
    comparison_free(&c);
    close_it(x);
}

static void plans_are_kept_to_compare_with(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE_GRAPH, 40, 120);
    explorer_type(x, ":lx 102400<Enter>:solver greedy<Enter><wait>p<wait>");
    assert_true(explorer_shows(x, "pinned as A"));
    explorer_type(x, ":save kept.plan.json<Enter>:solver auto<Enter><wait>5");
    assert_true(explorer_shows(x, "L   A ") && explorer_shows(x, "R now"));
    explorer_type(x, ":open-plan kept.plan.json<Enter><wait>");
    assert_true(explorer_shows(x, "kept.pla"));
    explorer_type(x, "gjj");
    assert_true(explorer_shows(x, "the same plan")); /* A is what was saved */
    explorer_type(x, ":open-plan nowhere.json<Enter><wait>");
    assert_int_equal(x->session.files.count, 1);
    assert_true(explorer_shows(x, "nowhere.json"));
    explorer_type(x, ":lx 80k<Enter><wait>:save other.plan.json<Enter>:lx 102400<Enter><wait>");
    explorer_type(x, ":open-plan other.plan.json<Enter><wait>");
    assert_int_equal(x->session.files.count, 2);
    assert_true(explorer_shows(x, " R  other.pl") && explorer_shows(x, "LX 100 KiB to 80.0 KiB; from L"));
    assert_false(explorer_shows(x, " 0 s"));
    explorer_type(x, "+++-z>>r<wait>");
    close_it(x);
}

static void a_race_is_of_its_settings_not_of_its_solver(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, "<wait>5r<wait>");
    assert_true(session_winner(&x->session) >= 0);
    assert_true(explorer_shows(x, "R*")); /* it begins with the best */
    explorer_type(x, "gj<Enter><wait>");
    assert_false(explorer_shows(x, "of other settings"));
    explorer_type(x, "u<wait>");
    assert_false(explorer_shows(x, "of other settings"));
    explorer_type(x, "x<wait>");
    assert_true(explorer_shows(x, "of other settings"));
    close_it(x);
}

/* What one solver proves holds for all: one bound in one table, and all that reach it are the best. */
static void a_race_has_one_bound(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE_GRAPH, 40, 160);
    explorer_type(x,
                  ":lx 100k<Enter>:solver greedy<Enter><wait>p<wait>:solver firstfit<Enter><wait>5r<wait>");
    struct rivals all = rivals_of(&x->session);
    int64_t best = INT64_MAX;
    int stars = 0, least = 0;
    for (int i = 0; i < all.count; i++) {
        assert_non_null(all.at[i].outcome->plan);
        assert_int_equal(all.at[i].least, all.at[0].least);
        assert_true(all.at[i].least >= lx_plan_least(all.at[i].outcome->plan));
        best = min_i64(best, lx_plan_value(all.at[i].outcome->plan));
    }
    for (int i = 0; i < all.count; i++) {
        bool is_best = lx_plan_value(all.at[i].outcome->plan) == best;
        least += is_best && all.at[i].kind == RIVAL_RACER;
        if (all.at[i].kind == RIVAL_RACER) stars += session_wins(&x->session, all.at[i].number);
    }
    assert_int_equal(stars, least);
    assert_true(all.at[0].least <= best);
    assert_true(explorer_shows(x, "proved by ") == (all.at[0].least == best));
    explorer_type(x, ":lx 80k<Enter><wait>");
    all = rivals_of(&x->session);
    assert_null(all.at[0].by); /* another question */
    close_it(x);
}

/* More bytes are a plus, here as everywhere. */
static void more_bytes_are_a_plus(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE_GRAPH, 40, 120);
    explorer_type(x, ":lx 102400<Enter>:solver greedy<Enter><wait>p<wait>:solver firstfit<Enter><wait>5");
    assert_true(explorer_shows(x, "-1,048,576  from L to R fewer: "));
    explorer_type(x, "p<wait>:solver greedy<Enter><wait>");
    assert_true(explorer_shows(x, "+1,048,576  from L to R more: "));
    close_it(x);
}

/* What is still being made has missed nothing; what is there says so at any width. */
static void only_a_plan_misses_the_target(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/targets/moe_mlp.json", 24, 80);
    explorer_type(x, ":lx 64k<Enter><wait><Esc>");
    assert_false(lx_plan_meets_target(session_plan(&x->session)));
    assert_true(explorer_shows(x, "TARGET MISSED") && explorer_shows(x, "HBM "));
    x->session.shown.interim = true;
    explorer_type(x, "<Tick>");
    assert_false(explorer_shows(x, "TARGET MISSED"));
    x->session.shown.interim = false;
    close_it(x);
}

/* The page stays beside the panel and moves with it; what does not fit is told. */
static void what_if_leaves_the_map_to_be_seen(void **state)
{
    (void)state;
    static const int sizes[][2] = {{24, 80}, {40, 120}, {60, 200}, {10, 40}};
    for (int i = 0; i < 4; i++) {
        struct explorer *x = open_on(MOE_GRAPH, sizes[i][0], sizes[i][1]);
        explorer_type(x, "<wait>w");
        assert_true(explorer_shows(x, "What if"));
        if (i < 3) assert_true(explorer_shows(x, "tick") && explorer_shows(x, "in use"));
        if (i == 0) assert_true(explorer_shows(x, "1-7 of "));
        explorer_type(x, "G");
        assert_true(explorer_shows(x, settings_row(lx_settings_count() - 1).name));
        close_it(x);
    }
}

static void nothing_so_far_is_not_nought(void **state)
{
    (void)state;
    struct lx_progress none = {.objective = INT64_MAX}, first = {.objective = 5000};
    assert_string_equal(progress_words(1, &none).at, "1.0 s, no answer yet");
    assert_string_equal(progress_words(1, &first).at, "1.0 s, best 5,000");
    struct curve c = {0};
    for (int i = 0; i < 1000; i++) {
        curve_add(&c, i, 5000 - i + (i % 3), i / 2);
        assert_true(c.count <= CURVE_MOST);
        for (int k = 1; k < c.count; k++)
            assert_true(c.at[k].best <= c.at[k - 1].best && c.at[k].bound >= c.at[k - 1].bound &&
                        c.at[k].seconds >= c.at[k - 1].seconds);
    }
    assert_int_equal(curve_bound(&c), 499);
}

/* A curve that still runs goes on at its height, full or not. */
static void a_running_curve_does_not_fall(void **state)
{
    (void)state;
    struct curve c = {0};
    curve_reach(&c, 1);
    assert_int_equal(c.count, 0);
    for (int i = 0; i < CURVE_MOST; i++) {
        curve_add(&c, i, 5000 - i, 100 + i);
        struct curve now = c;
        curve_reach(&now, i + 0.5);
        assert_int_equal(curve_best(&now), 5000 - i);
        assert_int_equal(curve_bound(&now), 100 + i);
        assert_true(now.count <= CURVE_MOST && now.at[now.count - 1].seconds == i + 0.5);
    }
    assert_int_equal(c.count, CURVE_MOST);
}

static void the_marked_pattern_has_the_status(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/graphs", 24, 80);
    explorer_type(x, "<wait><Enter><wait>1");
    assert_false(explorer_shows(x, "not planned yet"));
    explorer_type(x, "j");
    assert_true(explorer_shows(x, "not planned yet"));
    close_it(x);
}

static void play_can_be_paused(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 200);
    explorer_type(x, "<wait>");
    assert_true(explorer_shows(x, "<Space> play"));
    explorer_type(x, "<Space>");
    assert_true(explorer_shows(x, "<Space> pause"));
    close_it(x);
}

/* A job that ends when it is asked to, or when this test lets it. */
struct deaf {
    atomic_bool begun, must_end;
    bool listens;
};

static void deaf_run(void *data, void *watch)
{
    struct deaf *d = data;
    struct timespec moment = {0, 1000000};
    atomic_store(&d->begun, true);
    while (!atomic_load(&d->must_end) && !(d->listens && watch_stop(watch))) nanosleep(&moment, NULL);
}

static void deaf_done(void *data, bool stopped)
{
    (void)data, (void)stopped;
}

static void deaf_free(void *data)
{
    (void)data;
}

static void who_does_not_listen_is_not_waited_for(void **state)
{
    static const struct work work = {.run = deaf_run, .done = deaf_done, .free = deaf_free};
    struct timespec moment = {0, 1000000};
    (void)state;
    for (int listens = 0; listens < 2; listens++) {
        struct deaf d = {.listens = listens};
        struct worker *w = worker_start();
        worker_post(w, &work, 0, &d);
        while (!atomic_load(&d.begun)) nanosleep(&moment, NULL);
        assert_int_equal(worker_stopped_within(w, listens ? 10000 : 5), listens);
        atomic_store(&d.must_end, true);
        worker_end(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_does_not_listen_is_not_waited_for),
        cmocka_unit_test(a_first_plan_is_there_before_the_best),
        cmocka_unit_test(a_graph_gets_better_on_the_screen),
        cmocka_unit_test(escape_stops_planning),
        cmocka_unit_test(a_change_tells_before_and_after),
        cmocka_unit_test(differences_add_up),
        cmocka_unit_test(plans_are_kept_to_compare_with),
        cmocka_unit_test(a_race_is_of_its_settings_not_of_its_solver),
        cmocka_unit_test(a_race_has_one_bound),
        cmocka_unit_test(more_bytes_are_a_plus),
        cmocka_unit_test(only_a_plan_misses_the_target),
        cmocka_unit_test(what_if_leaves_the_map_to_be_seen),
        cmocka_unit_test(nothing_so_far_is_not_nought),
        cmocka_unit_test(a_running_curve_does_not_fall),
        cmocka_unit_test(the_marked_pattern_has_the_status),
        cmocka_unit_test(play_can_be_paused),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
