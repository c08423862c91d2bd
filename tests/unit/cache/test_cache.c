/* The solve cache: what is found is what would be made, whatever happened to the folder meanwhile. */
#include "cache/cache_entry.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/cache_files.h"

/* One folder per test, and what was told of it. */
struct fixture {
    char folder[FOLDER_ROOM];
    int told;
    char words[1400];
};

static void hear(void *context, const char *words)
{
    struct fixture *f = context;
    f->told++;
    snprintf(f->words, sizeof f->words, "%s", words);
}

static int set_up(void **state)
{
    return folder_set_up(state, sizeof(struct fixture));
}

static struct lx_plan_options by_default(struct fixture *f)
{
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .quick_solver = lx_solver_find("bestfit"),
                                  .tell = hear,
                                  .tell_context = f};
    snprintf(how.cache, sizeof how.cache, "%s", f->folder);
    return how;
}

static const struct lx_graph *pattern(const char *name)
{
    lx_status st = {0};
    char path[300];
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/%s.json", name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

/* The file of a plan, malloc'ed; whether it came from the cache. */
static char *plan_file(const struct lx_graph *g, const struct lx_plan_options *how, bool *cached)
{
    lx_status st = {0};
    size_t length;
    struct lx_plan *p = lx_plan_make(g, how, &st);
    if (!p) fail_msg("%s", st.text);
    if (cached) *cached = p->cached;
    assert_true(lx_plan_check(p, &st));
    char *text = lx_plan_to_json(p, &length);
    lx_plan_free(p);
    assert_non_null(text);
    return text;
}

static char *path_of_entry(const struct lx_graph *g, const struct lx_plan_options *how)
{
    struct entry_key key;
    char name[ENTRY_NAME];
    assert_true(entry_key_of(g, how, &key));
    entry_name(&key, name);
    return entry_path(how->cache, name);
}

static void the_second_plan_is_the_first(void **state)
{
    static const char *const names[] = {"graphs/gq_attention", "graphs/mlp_small",  "graphs/attention_small",
                                        "lists/two_pools",     "team/softmax_rows", "targets/moe_mlp"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct lx_graph *g = pattern(names[i]);
        struct lx_plan_options how = by_default(f), without = how;
        bool cached;
        without.cache[0] = 0;
        char *plain = plan_file(g, &without, &cached), *one, *two;
        assert_false(cached);
        one = plan_file(g, &how, &cached);
        assert_false(cached);
        two = plan_file(g, &how, &cached);
        assert_true(cached);
        assert_string_equal(plain, one);
        assert_string_equal(plain, two);
        mem_free(plain), mem_free(one), mem_free(two);
        lx_graph_free(g);
    }
    assert_int_equal(f->told, 0);
}

/* What is said of a plan besides its file. */
static void words_of_a_plan_are_kept(void **state)
{
    struct lx_plan_options how = by_default(*state);
    const struct lx_graph *g = pattern("graphs/attention_small");
    lx_status st = {0};
    how.passes.cooptimise = LX_COOPTIMISE_FULL;
    struct lx_plan *one = lx_plan_make(g, &how, &st), *two = lx_plan_make(g, &how, &st);
    assert_true(two->cached && !one->cached);
    assert_true(one->joint.searched == two->joint.searched &&
                one->joint.bound_bytes == two->joint.bound_bytes);
    assert_int_equal(!one->unproved, !two->unproved);
    if (one->unproved) assert_string_equal(one->unproved, two->unproved);
    lx_plan_free(one);
    lx_plan_free(two);
    lx_graph_free(g);
}

/* Bytes of the entry are changed one after the other, or taken away. */
static void damage_is_told_and_undone(void **state)
{
    struct fixture *f = *state;
    struct lx_plan_options how = by_default(f);
    const struct lx_graph *g = pattern("graphs/softmax_512x1024");
    char *good = plan_file(g, &how, NULL), *path = path_of_entry(g, &how);
    lx_status st = {0};
    size_t length;
    char *entry = file_read(path, &length, &st);
    assert_non_null(entry);
    struct part_file e;
    assert_true(part_file_open(path, "lxplan cache entry 2\n", &e, &st));
    size_t used = e.head_length + part_length(&e, "plan");
    part_file_close(&e);
    for (size_t at = 0; at < length; at += 1 + length / 150) {
        bool cut = at % 2, cached;
        char was = entry[at];
        entry[at] = (char)(was ^ 0x11);
        assert_true(file_write(path, entry, cut ? at : length, &st));
        entry[at] = was;
        f->told = 0;
        char *again = plan_file(g, &how, &cached);
        assert_string_equal(good, again);
        /* Parts that were not asked for are not looked at. */
        assert_true(cached ? at >= used && !cut : f->told == 1);
        if (!cached) assert_non_null(strstr(f->words, "ignored"));
        mem_free(again);
        char *healed = plan_file(g, &how, &cached);
        assert_true(cached);
        assert_string_equal(good, healed);
        mem_free(healed);
        unlink(path);
    }
    mem_free(entry);
    mem_free(path);
    mem_free(good);
    lx_graph_free(g);
}

/* The plan of one question under the name of another: whole, and still not trusted. */
static void another_entry_is_no_hit(void **state)
{
    struct fixture *f = *state;
    struct lx_plan_options how = by_default(f), other = how;
    const struct lx_graph *g = pattern("targets/simple_eviction");
    lx_status st = {0};
    size_t length;
    bool cached;
    other.run.seed = 7;
    mem_free(plan_file(g, &other, NULL));
    char *from = path_of_entry(g, &other), *to = path_of_entry(g, &how),
         *entry = file_read(from, &length, &st);
    assert_true(entry && file_write(to, entry, length, &st));
    mem_free(plan_file(g, &how, &cached));
    assert_false(cached);
    assert_int_equal(f->told, 1);
    assert_non_null(strstr(f->words, "another question"));
    mem_free(from), mem_free(to), mem_free(entry);
    lx_graph_free(g);
}

/* A plan that is whole but not true: its sum is right, the checker refuses it. */
static void a_lie_is_found_out(void **state)
{
    struct fixture *f = *state;
    struct lx_plan_options how = by_default(f);
    const struct lx_graph *g = pattern("targets/simple_eviction");
    lx_status st = {0};
    size_t length;
    bool cached;
    char *good = plan_file(g, &how, NULL), *path = path_of_entry(g, &how),
         *entry = file_read(path, &length, &st);
    char *body = strstr(entry, "\n\n") + 2, *address = strstr(body, "\"address\": "), sum[33];
    assert_non_null(address);
    address[strlen("\"address\": ")] ^= 1; /* 0 and 1, 2 and 3, ...: no multiple of a stick */
    long long part;
    char *line = strstr(entry, "\npart plan "), *head = strstr(entry, "\nhead ") + 1;
    assert_int_equal(sscanf(line, "\npart plan %lld", &part), 1);
    part_sum(body, (size_t)part, sum);
    memcpy(strchr(line + 1, '\n') - 32, sum, 32);
    part_sum(entry, (size_t)(head - entry), sum);
    memcpy(head + 5, sum, 32);
    assert_true(file_write(path, entry, length, &st));
    char *again = plan_file(g, &how, &cached);
    assert_false(cached);
    assert_int_equal(f->told, 1);
    assert_string_equal(good, again);
    mem_free(good), mem_free(path), mem_free(entry), mem_free(again);
    lx_graph_free(g);
}

/* Whatever changes a plan changes the key; where plans are kept does not, nor how long one waits. */
static void every_option_is_in_the_key(void **state)
{
    struct fixture *f = *state;
    static const char *const values[LX_OPTION_PASSES] = {
        [LX_OPTION_SOLVER] = "greedy", [LX_OPTION_LEVEL] = "3",          [LX_OPTION_OF_SOLVER] = "level=4",
        [LX_OPTION_OBJECTIVE] = "fit", [LX_OPTION_DEVICE] = "cores=16",  [LX_OPTION_CORES] = "8",
        [LX_OPTION_LX] = "500k",       [LX_OPTION_SEED] = "3",           [LX_OPTION_TIME] = "5",
        [LX_OPTION_WORK] = "1000",     [LX_OPTION_ORDER] = "morton",     [LX_OPTION_TILES] = "64x64",
        [LX_OPTION_SHARE] = "chunks",  [LX_OPTION_ASSIGN] = "dynamic",   [LX_OPTION_HINT] = "scores=s/8",
        [LX_OPTION_NESTS] = "0-1:a/2", [LX_OPTION_CACHE] = "/elsewhere",
    };
    const struct lx_graph *g = pattern("graphs/gq_attention");
    struct entry_key plain;
    for (int i = -1; i < lx_settings_count(); i++) {
        struct lx_settings o = {.solvers = lx_solvers()};
        struct lx_plan_options how = by_default(f);
        int64_t room[LX_MOST_SOLVER_OPTIONS];
        struct entry_key key;
        lx_status st = {0};
        const char *value = i < 0 ? NULL : i < LX_OPTION_PASSES ? values[i] : lx_settings_word(&o, i, 1);
        if (i >= 0 && !lx_settings_set_row(&o, i, value, &st)) fail_msg("%s", st.text);
        const struct lx_graph *on = lx_settings_graph(&o, g, &st);
        assert_true(on && lx_settings_plan(&o, LX_SPILL, &how, room, &st) && entry_key_of(on, &how, &key));
        bool same = i >= 0 && strcmp(key.hash, plain.hash) == 0;
        if (i < 0) plain = key;
        if (i >= 0 && same != (i == LX_OPTION_TIME || i == LX_OPTION_CACHE || i == LX_OPTION_CACHE_CHECK))
            fail_msg("--%s %s: %s", lx_settings_at(i).name, value ? value : "", same ? "same" : "other");
        lx_graph_free(on);
    }
    lx_graph_free(g);
}

/* The same on every machine: numbers that were made on one of them. */
static void hashes_know_no_machine(void **state)
{
    struct lx_plan_options how = by_default(*state);
    const struct lx_graph *g = pattern("targets/simple_eviction");
    struct entry_key key;
    char sum[33], text[100];
    for (int i = 0; i < 100; i++) text[i] = (char)(i * 37);
    part_sum(text, sizeof text, sum);
    assert_string_equal(sum, "a94e8c991669a4d6dd062452b6bdcf78");
    assert_true(entry_key_of(g, &how, &key));
    snprintf(text, sizeof text, "%016llx", (unsigned long long)key.structure);
    assert_string_equal(text, "bacc722852707b72");
    lx_graph_free(g);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void what_was_stopped_is_not_kept(void **state)
{
    struct fixture *f = *state;
    const struct lx_graph *g = pattern("graphs/mlp_small");
    struct lx_plan_options stopped = by_default(f), timed = stopped;
    struct lx_cache_list list;
    lx_status st = {0};
    stopped.run.stop = stop_at_once;
    timed.run.time_limit = 1000;
    mem_free(plan_file(g, &stopped, NULL));
    mem_free(plan_file(g, &timed, NULL));
    assert_true(lx_cache_list(f->folder, &list, &st));
    assert_int_equal(list.count, 0);
    lx_cache_list_free(&list);
    lx_graph_free(g);
}

static int32_t count_of(const char *folder)
{
    struct lx_cache_list list;
    lx_status st = {0};
    assert_true(lx_cache_list(folder, &list, &st));
    int32_t n = list.count;
    lx_cache_list_free(&list);
    return n;
}

static int64_t moved_by(const struct lx_graph *g, const struct lx_plan_options *how)
{
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, how, &st);
    assert_true(p && lx_plan_check(p, &st));
    int64_t bytes = p->figures.hbm_bytes;
    assert_true(lx_plan_least(p) <= bytes);
    lx_plan_free(p);
    return bytes;
}

/* A plan of the same structure in other sizes is found, is a start that makes nothing worse, and gives the same plan
 * whenever the folder holds the same. */
static void near_plans_seed_the_search(void **state)
{
    static const char *const pairs[][2] = {{"graphs/mlp_small", "graphs/mlp_2048"},
                                           {"graphs/matmul_4096", "graphs/matmul_small"},
                                           {"graphs/attention_8k", "graphs/attention_small"},
                                           {"graphs/block_small", "graphs/block_2048"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct lx_graph *a = pattern(pairs[i][0]), *b = pattern(pairs[i][1]);
        struct lx_plan_options how = by_default(f), alone = how;
        struct entry_key one, two;
        lx_status st = {0};
        int32_t removed;
        alone.cache[0] = 0;
        assert_true(entry_key_of(a, &how, &one) && entry_key_of(b, &how, &two));
        assert_true(one.structure == two.structure && strcmp(one.hash, two.hash) != 0);
        mem_free(plan_file(a, &how, NULL));
        struct lx_plan *near = entry_near(f->folder, &two);
        if (!near || strcmp(near->graph->name, a->name) != 0) fail_msg("%s: no near plan", b->name);
        lx_plan_free(near);
        assert_true(moved_by(b, &how) <= moved_by(b, &alone));
        char *first = plan_file(b, &how, NULL);
        assert_true(lx_cache_clear(f->folder, &removed, &st));
        assert_int_equal(removed, 2);
        mem_free(plan_file(a, &how, NULL));
        char *again = plan_file(b, &how, NULL);
        assert_string_equal(first, again);
        mem_free(first), mem_free(again);
        assert_true(lx_cache_clear(f->folder, &removed, &st));
        lx_graph_free(a);
        lx_graph_free(b);
    }
}

/* What was used last stays; other files stay in any case. */
static void the_oldest_go_first(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"graphs/mlp", "graphs/sdpa", "graphs/layernorm", "graphs/lm_head"};
    struct lx_cache_list list;
    lx_status st = {0};
    int32_t removed;
    bool cached;
    char *other = entry_path(f->folder, "notes.txt");
    assert_true(file_write(other, "mine", 4, &st));
    for (int i = 0; i < 5; i++) { /* the first once more at the end */
        const struct lx_graph *g = pattern(names[i % 4]);
        struct lx_plan_options how = by_default(f);
        mem_free(plan_file(g, &how, &cached));
        lx_graph_free(g);
        usleep(2000);
    }
    assert_true(lx_cache_list(f->folder, &list, &st));
    assert_int_equal(list.count, 4);
    assert_string_equal(list.at[0].graph, "mlp");
    assert_string_equal(list.at[1].graph, "lm_head");
    int64_t two = list.at[0].bytes + list.at[1].bytes;
    lx_cache_list_free(&list);
    assert_true(lx_cache_set_limit(f->folder, two, &removed, &st));
    assert_int_equal(removed, 2);
    const struct lx_graph *g = pattern("graphs/mlp");
    struct lx_plan_options how = by_default(f);
    mem_free(plan_file(g, &how, &cached));
    assert_true(cached);
    assert_true(lx_cache_set_limit(f->folder, 10, &removed, &st));
    assert_int_equal(count_of(f->folder), 0);
    assert_true(lx_cache_set_limit(f->folder, 1 << 30, &removed, &st));
    mem_free(plan_file(g, &how, &cached));
    lx_graph_free(g);
    assert_int_equal(count_of(f->folder), 1);
    assert_true(lx_cache_clear(f->folder, &removed, &st));
    assert_int_equal(removed, 1);
    assert_int_equal(access(other, F_OK), 0);
    mem_free(other);
}

/* No folder can be made below a file: that is told, and the plan is made. */
static void a_folder_that_cannot_be_is_no_failure(void **state)
{
    struct fixture *f = *state;
    const struct lx_graph *g = pattern("targets/staircase");
    struct lx_plan_options how = by_default(f);
    lx_status st = {0};
    char *file = entry_path(f->folder, "file");
    bool cached;
    assert_true(file_write(file, "x", 1, &st));
    snprintf(how.cache, sizeof how.cache, "%s/below", file);
    mem_free(plan_file(g, &how, &cached));
    assert_false(cached);
    assert_int_equal(f->told, 1);
    assert_non_null(strstr(f->words, "not kept"));
    mem_free(file);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_second_plan_is_the_first, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(words_of_a_plan_are_kept, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(damage_is_told_and_undone, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(another_entry_is_no_hit, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(a_lie_is_found_out, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(every_option_is_in_the_key, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(hashes_know_no_machine, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(what_was_stopped_is_not_kept, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(near_plans_seed_the_search, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_go_first, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_is_no_failure, set_up, folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
