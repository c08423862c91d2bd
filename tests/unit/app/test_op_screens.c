/* What screens say of one op: the same time in Graph and in Cores, no point above its roof, words that are whole. */
#include "support/explorer_by_keys.h"
#include "tui/views/cores_picture.h"
#include "planning/buffer_table.h"
#include "planning/op_words.h"

#define EXPERTS   SOURCE_DIR "/patterns/showcase/moe_tight.json"
#define ATTENTION SOURCE_DIR "/patterns/showcase/attention_tight.json"

/* Cores says the time that the plan has, which is that of Graph. */
static void cores_and_graph_say_one_time(void **state)
{
    (void)state;
    struct explorer *x = open_on(ATTENTION, 40, 120);
    explorer_type(x, "<wait>3");
    int32_t n = outcome_graph(&x->session.shown)->op_count;
    for (int32_t i = 0; i < n; i++) {
        session_select_op(&x->session, i);
        assert_true(explorer_shows(x, in_micros(x->session.shown.waits[i].device_us).at));
    }
    close_it(x);
}

/* "136.8 % of its roof": never. */
static void no_op_is_above_its_roof(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 40, 200);
    explorer_type(x, "<wait>b");
    int32_t n = outcome_graph(&x->session.shown)->op_count;
    for (int32_t i = 0; i < n; i++) {
        session_select_op(&x->session, i);
        explorer_draw(x);
        struct text screen = {0};
        cells_to_text(&x->cells, &screen);
        const char *at = strstr(screen.at, " % of its roof");
        while (at && at > screen.at && at[-1] != ' ') at--;
        if (at) assert_true(strtod(at, NULL) <= 100);
        text_free(&screen);
    }
    close_it(x);
}

static void both_times_are_named(void **state)
{
    (void)state;
    struct text line = {0};
    struct lx_op_wait w = {.us = {[LX_WAIT_HBM] = 0.75, [LX_WAIT_LAUNCH] = 0.25}, .device_us = 0.75};
    add_wait_sums(&w, &line);
    assert_string_equal(line.at, "HBM 75.0 %, launch 25.0 % of 1.00 us");
    text_free(&line);
}

/* Bytes of intermediates are no spill: that is what more room would save. */
static void spill_has_one_meaning(void **state)
{
    (void)state;
    struct explorer *x = open_on(ATTENTION, 40, 200);
    explorer_type(x, "<wait>9");
    assert_true(explorer_shows(x, "intermediates 4,194,304"));
    assert_false(explorer_shows(x, "spills"));
    close_it(x);
}

/* What waits for the ring moves bytes over it, and a mismatch says what it costs. */
static void relayouts_have_a_cost(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 40, 200);
    explorer_type(x, "<wait>3");
    const struct lx_plan *p = session_plan(&x->session);
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op_traffic *t = &p->traffic[o];
        assert_true(!(x->session.shown.waits[o].us[LX_WAIT_RING] > 0) || t->ring + t->reduce_ring > 0);
        for (int k = 0; k < g->ops[o].input_count; k++) {
            int32_t from = x->session.shown.producer[g->ops[o].inputs[k]];
            struct text words = {0};
            if (from >= 0 && add_cut_words(p, o, k, from, &words) != CUT_SAME)
                assert_true(strstr(words.at, " B") || strstr(words.at, "no data has to move"));
            text_free(&words);
        }
    }
    close_it(x);
}

/* Numbers are whole: where a line is too long, words give way to them. */
static void numbers_are_not_cut(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 40, 120);
    explorer_type(x, "<wait>4:goto x#2<Enter>");
    assert_false(explorer_shows(x, "buffers, 81,9~"));
    explorer_type(x, "9");
    assert_true(explorer_shows(x, "x#2: off chip, input, 917,504 B less on chip; no room"));
    assert_true(explorer_shows(x, "81,920 of 81,920 bytes"));
    close_it(x);
    x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>7r<wait>");
    assert_true(explorer_shows(x, "ring 8,192,000 B") && explorer_shows(x, "LX 1.1 %"));
    close_it(x);
    x = open_on(SOURCE_DIR "/patterns/lists/two_pools.json", 24, 80);
    explorer_type(x, "<wait>9");
    assert_true(explorer_shows(x, "fast 0x000040"));
    close_it(x);
}

/* A life of large ticks has its columns. */
static void lives_are_whole(void **state)
{
    (void)state;
    FILE *f = fopen("late.csv", "w");
    assert_non_null(f);
    fputs("id,lower,upper,size\n0,123456,123459,64\n1,0,123457,64\n", f);
    fclose(f);
    struct explorer *x = open_on("late.csv", 24, 80);
    explorer_type(x, "<wait>9");
    assert_true(explorer_shows(x, "123456..123459"));
    close_it(x);
}

/* What cores send each other adds up to what the plan says. */
static void the_ring_matrix_adds_up(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/graphs/moe_mlp.json", 24, 80);
    explorer_type(x, "<wait>");
    const struct lx_plan *p = session_plan(&x->session);
    int found = 0;
    for (int32_t o = 0; o < p->divisions->count; o++) {
        const struct lx_op *op = &p->layouts->graph->ops[o];
        for (int k = 0; p->divisions->at[o].kind == LX_DIVIDED && k < op_operand_count(op); k++) {
            struct cut c = {.plan = p,
                            .all = p->divisions,
                            .g = p->layouts->graph,
                            .op = op,
                            .d = &p->divisions->at[o],
                            .operand = k,
                            .tensor = op_operand(op, k)};
            const struct lx_transfer *transfer;
            int64_t cores = 0, sum = 0, *bytes = cut_ring_bytes(&c, &cores, &transfer);
            for (int64_t i = 0; bytes && i < cores * cores; i++) sum += bytes[i];
            for (int64_t i = 0; bytes && i < cores; i++) assert_int_equal(bytes[i * cores + i], 0);
            if (bytes) assert_true(sum > 0 && transfer->bytes % sum == 0);
            found += bytes != NULL;
            mem_free(bytes);
        }
    }
    assert_true(found > 3);
    close_it(x);
}

static int64_t cores_of_exp(const struct explorer *x, char letter)
{
    const struct lx_plan *p = session_plan(&x->session);
    for (int32_t o = 0; o < p->divisions->count; o++)
        for (int i = 0;
             strcmp(p->layouts->graph->ops[o].name, "exp") == 0 && i < p->divisions->at[o].split_count; i++)
            if (p->divisions->at[o].splits[i].letter == letter) return p->divisions->at[o].splits[i].split;
    return 0;
}

/* Another split is planned before it is taken; the others stay to choose from; undo brings the first one back. */
static void a_split_is_tried_taken_and_undone(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, ":set tile none<Enter>:set objective bytes<Enter><wait>2/exp<Enter>3<wait>");
    assert_true(explorer_shows(x, "c/32: the split of now") && explorer_shows(x, "c/16 d/2"));
    size_t changes = x->session.undo.count;
    explorer_type(x, "j");
    assert_true(explorer_shows(x, "c/16 d/2: HBM "));
    assert_int_equal(cores_of_exp(x, 'd'), 1);
    assert_int_equal(x->session.undo.count, changes);
    explorer_type(x, "<Enter><wait>");
    assert_int_equal(cores_of_exp(x, 'd'), 2);
    assert_true(explorer_shows(x, "c/16 d/2: the split of now") && explorer_shows(x, "c/32 "));
    explorer_type(x, "j<Enter><wait>"); /* yet another, instead of it */
    assert_int_equal(cores_of_exp(x, 'b'), 2);
    explorer_type(x, "uu<wait>");
    assert_int_equal(cores_of_exp(x, 'c'), 32);
    assert_true(explorer_shows(x, "c/32: the split of now"));
    explorer_type(x, "<Enter>");
    assert_true(explorer_shows(x, "split so already"));
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ring_matrix_adds_up),
        cmocka_unit_test(a_split_is_tried_taken_and_undone),
        cmocka_unit_test(cores_and_graph_say_one_time),
        cmocka_unit_test(no_op_is_above_its_roof),
        cmocka_unit_test(both_times_are_named),
        cmocka_unit_test(spill_has_one_meaning),
        cmocka_unit_test(relayouts_have_a_cost),
        cmocka_unit_test(numbers_are_not_cut),
        cmocka_unit_test(lives_are_whole),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
