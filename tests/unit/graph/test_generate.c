/* Generators: every one builds, the same options give the same text, and the text reads back as the same
 * graph. */
#include "unstable.h"
#include "base/checked.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST_OPTIONS = 16 };

/* "name value name value", or "". */
static const struct lx_graph *try_generate(const char *generator, const char *options, lx_status *st)
{
    const struct lx_generator *g = lx_generator_find(generator);
    int64_t values[MOST_OPTIONS];
    char copy[200], *rest = NULL;
    assert_non_null(g);
    assert_true(g->option_count <= MOST_OPTIONS);
    lx_values_default(g->options, g->option_count, values);
    snprintf(copy, sizeof copy, "%s", options);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        char *value = strtok_r(NULL, " ", &rest);
        assert_non_null(value);
        assert_true(lx_values_set(g->name, g->options, g->option_count, name, value, values, st));
    }
    return g->build(values, st);
}

static const struct lx_graph *generate(const char *generator, const char *options)
{
    lx_status st = {0};
    const struct lx_graph *g = try_generate(generator, options, &st);
    if (!g) fail_msg("gen %s %s: %s", generator, options, st.text);
    return g;
}

static const struct {
    const char *generator, *options;
} samples[] = {
    {"flash", ""},
    {"flash", "q 64 kv 96 bq 24 bkv 40 heads 3 d 16"},
    {"flash", "q 1 kv 1"},
    {"flash", "ops 6000"},
    {"block", ""},
    {"block", "layers 1 d_model 96 heads 3 seq 20 ffn 100"},
    {"decode", ""},
    {"decode", "ops 1"},
    {"decode", "ops 44"},
    {"decode", "ops 1000 batch 1 heads 4 kv_heads 4 d_model 64 context 100"},
    {"cut", "buffers 40 drop 20"},
    {"staircase", ""},
    {"staircase", "pairs 5 down 1"},
    {"staircase", "pairs 1"},
    {"staircase", "pairs 500 unit 1k"},
    {"random", ""},
    {"random", "buffers 1"},
    {"random", "buffers 5000 seed 7 in_place 100"},
    {"random", "buffers 300 capacity 64k mean_life 2 in_place 0"},
    {"random", "buffers 3000 ticks 10 max_size 1m"},
};

enum { SAMPLES = sizeof samples / sizeof *samples };

static void test_same_options_same_text(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct lx_graph *a = generate(samples[i].generator, samples[i].options);
        const struct lx_graph *b = generate(samples[i].generator, samples[i].options);
        size_t n, m;
        char *one = lx_graph_to_json(a, &n), *two = lx_graph_to_json(b, &m);
        assert_non_null(one);
        assert_non_null(two);
        assert_int_equal(n, m);
        assert_memory_equal(one, two, n);
        mem_free(one);
        mem_free(two);
        lx_graph_free(a);
        lx_graph_free(b);
    }
}

static void test_round_trip_keeps_hash(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct lx_graph *a = generate(samples[i].generator, samples[i].options);
        size_t n;
        char *text = lx_graph_to_json(a, &n);
        lx_status st;
        const struct lx_graph *b = lx_graph_of_text("generated", text, n, &st);
        if (!b) fail_msg("%s %s: %s", samples[i].generator, samples[i].options, st.text);
        assert_true(a->hash == b->hash);
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->summary, b->summary);
        assert_int_equal(a->target_hbm_bytes, b->target_hbm_bytes);
        mem_free(text);
        lx_graph_free(a);
        lx_graph_free(b);
    }
}

static void test_every_generator_is_in_the_table(void **state)
{
    (void)state;
    static const char *const names[] = {"flash", "block", "decode", "staircase", "random", "cut", "d2m"};
    int count = 0;
    for (const struct lx_generator *g = lx_generators(); g->name; g++, count++) {
        assert_true(strlen(g->summary) > 10);
        for (int i = 0; i < g->option_count; i++) {
            assert_non_null(g->options[i].name);
            assert_non_null(g->options[i].help);
            assert_true(g->options[i].low <= g->options[i].def && g->options[i].def <= g->options[i].high);
        }
    }
    assert_int_equal(count, 7);
    for (int i = 0; i < 7; i++) assert_non_null(lx_generator_find(names[i]));
    assert_null(lx_generator_find("nothing"));
}

/* The buffers of a cut rectangle fill it at every tick, and lie where they were cut without an overlap. */
static void test_cuts_leave_no_gap(void **state)
{
    static const char *const options[] = {"buffers 12 capacity 4k", "buffers 300 capacity 64k seed 9",
                                          "buffers 2000 capacity 1m seed 3"};
    (void)state;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        char with[80];
        snprintf(with, sizeof with, "%s answer 1", options[k]);
        const struct lx_graph *free_ = generate("cut", options[k]), *placed = generate("cut", with);
        struct lx_plan_options how = {.objective = LX_ASK_FIT};
        lx_status st = {0};
        struct lx_question *q = lx_problem_of(free_, &how, &st);
        int64_t *address = mem_alloc((size_t)q->problem.count * sizeof *address), value, area = 0, end = 0;
        assert_int_equal(placed->list->buffer_count, q->problem.count);
        for (int32_t i = 0; i < q->problem.count; i++) {
            const struct lx_buffer *b = &placed->list->buffers[i];
            address[i] = b->fixed;
            area += b->size * (b->end - b->start);
            end = max_i64(end, b->end);
        }
        assert_true(lx_problem_check(&q->problem, address, &value, &st));
        assert_int_equal(area, end * free_->list->capacity);
        mem_free(address);
        lx_question_free(q);
        lx_graph_free(free_);
        lx_graph_free(placed);
    }
}

static void test_flash_has_the_size_of_the_known_graph(void **state)
{
    (void)state;
    const struct lx_graph *g = generate("flash", "");
    assert_in_range(g->op_count, 4000, 4300);
    assert_string_equal(g->tensors[g->ops[0].inputs[0]].name, "query");
    assert_int_equal(g->tensors[g->ops[0].inputs[0]].bytes, 1024 * 64 * 2);
    lx_graph_free(g);
}

static void test_flash_ops_is_a_floor(void **state)
{
    (void)state;
    static const int wanted[] = {1, 100, 4100, 10000, 50000};
    for (int i = 0; i < 5; i++) {
        char options[40];
        snprintf(options, sizeof options, "ops %d", wanted[i]);
        const struct lx_graph *g = generate("flash", options);
        assert_true(g->op_count >= wanted[i]);
        assert_true(g->op_count < wanted[i] + 8 * 16 + 1);
        lx_graph_free(g);
    }
}

static void test_block_grows_by_layers(void **state)
{
    (void)state;
    const struct lx_graph *one = generate("block", "layers 1"), *eight = generate("block", "layers 8");
    assert_int_equal(eight->op_count, 8 * one->op_count);
    lx_graph_free(one);
    lx_graph_free(eight);
}

static void test_decode_is_cut_exactly(void **state)
{
    (void)state;
    static const int wanted[] = {1, 2, 7, 43, 44, 86, 304, 2000};
    for (int i = 0; i < 8; i++) {
        char options[40];
        snprintf(options, sizeof options, "ops %d", wanted[i]);
        const struct lx_graph *g = generate("decode", options);
        assert_int_equal(g->op_count, wanted[i]);
        bool output = false;
        unsigned char *used = mem_zeroed((size_t)g->tensor_count, 1);
        for (int32_t o = 0; o < g->op_count; o++) {
            used[g->ops[o].output] = 1;
            for (int k = 0; k < g->ops[o].input_count; k++) used[g->ops[o].inputs[k]] = 1;
        }
        for (int32_t t = 0; t < g->tensor_count; t++) {
            assert_true(used[t]); /* what was cut off is not declared */
            output |= g->tensors[t].role == LX_OUTPUT;
        }
        assert_true(output);
        mem_free(used);
        lx_graph_free(g);
    }
}

static int64_t tensor_bytes(const struct lx_graph *g, const char *name)
{
    for (int32_t i = 0; i < g->tensor_count; i++)
        if (strcmp(g->tensors[i].name, name) == 0) return g->tensors[i].bytes;
    fail_msg("no tensor %s", name);
    return -1;
}

/* Seven steps up and five down have the sizes of the target patterns. */
static void test_staircases_are_the_targets(void **state)
{
    (void)state;
    static const struct {
        const char *options, *target;
    } pairs[] = {{"pairs 7", "staircase"}, {"pairs 5 down 1", "downward_staircase"}};
    for (int i = 0; i < 2; i++) {
        char path[500];
        lx_status st;
        snprintf(path, sizeof path, "%s/patterns/targets/%s.json", SOURCE_DIR, pairs[i].target);
        const struct lx_graph *made = generate("staircase", pairs[i].options),
                              *target = lx_graph_read(path, &st);
        if (!target) fail_msg("%s", st.text);
        assert_int_equal(made->target_hbm_bytes, target->target_hbm_bytes);
        assert_int_equal(made->op_count, target->op_count);
        assert_int_equal(made->tensor_count, target->tensor_count);
        for (int32_t t = 0; t < target->tensor_count; t++)
            assert_int_equal(tensor_bytes(made, target->tensors[t].name), target->tensors[t].bytes);
        lx_graph_free(made);
        lx_graph_free(target);
    }
}

struct load {
    double peak; /* of the capacity */
    int64_t most_live;
    int32_t edges;
};

static struct load measure(const struct lx_problem *p)
{
    int64_t ticks = 0, bytes = 0, live = 0, peak = 0;
    struct load load = {0};
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].end > ticks) ticks = p->buffers[i].end;
    int64_t *size = mem_zeroed((size_t)ticks + 1, sizeof *size),
            *count = mem_zeroed((size_t)ticks + 1, sizeof *count);
    assert_non_null(size);
    assert_non_null(count);
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        size[b->start] += b->size;
        size[b->end] -= b->size;
        count[b->start]++;
        count[b->end]--;
        load.edges += b->parent_count;
    }
    for (int64_t t = 0; t < ticks; t++) {
        bytes += size[t];
        live += count[t];
        if (bytes > peak) peak = bytes;
        if (live > load.most_live) load.most_live = live;
    }
    load.peak = (double)peak / (double)p->capacity;
    mem_free(size);
    mem_free(count);
    return load;
}

static struct lx_problem problem_of(const struct lx_graph *g)
{
    assert_true(g->list);
    int64_t capacity = g->list->capacity >= 0 ? g->list->capacity : lx_device_usable(&g->device);
    return (struct lx_problem){.objective = g->list->objective,
                               .capacity = capacity,
                               .alignment = g->list->alignment,
                               .count = g->list->buffer_count,
                               .buffers = g->list->buffers};
}

static void test_random_lists_are_legal_and_steady(void **state)
{
    (void)state;
    static const int counts[] = {500, 2000, 20000, 100000};
    for (int i = 0; i < 4; i++) {
        char options[60];
        lx_status st;
        snprintf(options, sizeof options, "buffers %d seed %d", counts[i], i + 1);
        const struct lx_graph *g = generate("random", options);
        struct lx_problem p = problem_of(g);
        assert_int_equal(p.count, counts[i]);
        if (!lx_problem_validate(&p, &st)) fail_msg("%s: %s", options, st.text);
        struct load load = measure(&p);
        assert_true(load.peak >= 1.2 && load.peak <= 2);
        assert_in_range(load.most_live, 30, 90);
        assert_true(load.edges > counts[i] / 10);
        lx_graph_free(g);
    }
}

static void test_random_samples_are_legal(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        if (strcmp(samples[i].generator, "random") != 0) continue;
        lx_status st;
        const struct lx_graph *g = generate("random", samples[i].options);
        struct lx_problem p = problem_of(g);
        if (!lx_problem_validate(&p, &st)) fail_msg("%s: %s", samples[i].options, st.text);
        lx_graph_free(g);
    }
}

static void test_seeds_differ(void **state)
{
    (void)state;
    const struct lx_graph *a = generate("random", "seed 1"), *b = generate("random", "seed 2");
    assert_true(a->hash != b->hash);
    lx_graph_free(a);
    lx_graph_free(b);
}

static void test_impossible_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *generator, *options;
        enum lx_code code;
    } cases[] = {
        {"flash", "bq 1 bkv 1", LX_E_LIMIT},           {"flash", "kv 4 ops 10000", LX_E_USAGE},
        {"block", "d_model 100 heads 3", LX_E_USAGE},  {"decode", "d_model 100 heads 3", LX_E_USAGE},
        {"decode", "heads 32 kv_heads 5", LX_E_USAGE}, {"staircase", "pairs 1000", LX_E_USAGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_status st = {0};
        assert_null(try_generate(cases[i].generator, cases[i].options, &st));
        assert_int_equal(st.code, cases[i].code);
        assert_true(strlen(st.text) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_generator_is_in_the_table),
        cmocka_unit_test(test_same_options_same_text),
        cmocka_unit_test(test_round_trip_keeps_hash),
        cmocka_unit_test(test_flash_has_the_size_of_the_known_graph),
        cmocka_unit_test(test_flash_ops_is_a_floor),
        cmocka_unit_test(test_block_grows_by_layers),
        cmocka_unit_test(test_decode_is_cut_exactly),
        cmocka_unit_test(test_staircases_are_the_targets),
        cmocka_unit_test(test_cuts_leave_no_gap),
        cmocka_unit_test(test_random_lists_are_legal_and_steady),
        cmocka_unit_test(test_random_samples_are_legal),
        cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_impossible_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
