/* Questions that were asked before: the very bytes come back, and whatever was done to a file of theirs is noticed. */
#include "cache/cache_entry.h"
#include "base/file.h"
#include "base/memory.h"
#include "unstable.h"
#include "support/sampled.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/cache_files.h"

static const char question[] = "what of this file?\n";
static const char words[] = "optimal, of course\n";

/* A folder with the plan of a pattern and the answer to the question. */
struct fixture {
    char folder[FOLDER_ROOM];
    char *plan; /* its file */
    size_t length;
    char *entry, *asked; /* paths */
};

static char *path_ending(const char *folder, const char *end)
{
    DIR *d = opendir(folder);
    char *found = NULL;
    for (const struct dirent *e; d && !found && (e = readdir(d));) {
        size_t n = strlen(e->d_name), k = strlen(end);
        if (n > k && strcmp(e->d_name + n - k, end) == 0) found = entry_path(folder, e->d_name);
    }
    if (d) closedir(d);
    return found;
}

static void keep(struct fixture *f, const char *pattern)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .quick_solver = lx_solver_find("bestfit")};
    snprintf(how.cache, sizeof how.cache, "%s", f->folder);
    const struct lx_graph *g = lx_graph_read(pattern, &st);
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    assert_non_null(p->kept_as);
    f->plan = lx_plan_to_json(p, &f->length);
    assert_true(lx_cache_remember(f->folder, question, p->kept_as, words, strlen(words), &st));
    lx_plan_free(p);
    lx_graph_free(g);
    f->entry = path_ending(f->folder, ".plan");
    f->asked = path_ending(f->folder, QUESTION_END);
    assert_true(f->plan && f->entry && f->asked);
}

static int set_up(void **state)
{
    return folder_set_up(state, sizeof(struct fixture));
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    mem_free(f->plan), mem_free(f->entry), mem_free(f->asked);
    return folder_tear_down(state);
}

/* Answered as it was? With `judged`: did the checker go over it? */
static bool is_answered(const struct fixture *f, bool check, bool *judged, lx_status *st)
{
    struct lx_recalled r;
    *st = (lx_status){0};
    if (!lx_cache_recall(f->folder, question, check, &r, st)) return false;
    assert_int_equal(r.plan_length, f->length);
    assert_memory_equal(r.plan, f->plan, f->length);
    assert_string_equal(r.words, words);
    if (judged) *judged = r.judged;
    lx_recalled_free(&r);
    return true;
}

static void the_same_words_get_the_same_bytes(void **state)
{
    struct fixture *f = *state;
    struct lx_recalled r;
    lx_status st = {0};
    bool judged;
    keep(f, SOURCE_DIR "/patterns/graphs/softmax_512x1024.json");
    assert_true(f->length <= LX_CACHE_JUDGED);
    assert_true(is_answered(f, false, &judged, &st));
    assert_true(judged);
    assert_false(lx_cache_recall(f->folder, "what of another?\n", false, &r, &st));
    assert_int_equal(st.code, LX_OK);
    assert_false(lx_cache_recall("/nowhere", question, false, &r, &st));
    assert_int_equal(st.code, LX_OK);
    unlink(f->entry); /* as a limit does: nothing to complain about */
    assert_false(is_answered(f, false, NULL, &st));
    assert_int_equal(st.code, LX_OK);
}

static void the_checker_takes_what_is_small_or_asked_for(void **state)
{
    struct fixture *f = *state;
    lx_status st = {0};
    bool judged;
    keep(f, SOURCE_DIR "/patterns/team/stencil_3_steps.json");
    assert_true(f->length > LX_CACHE_JUDGED);
    assert_true(is_answered(f, false, &judged, &st));
    assert_false(judged);
    assert_true(is_answered(f, true, &judged, &st));
    assert_true(judged);
}

/* A byte is changed here and there, or the file ends there: of the question every byte counts, of the entry its lines and the
 * plan file. */
static void damage(struct fixture *f, const char *path, size_t from, size_t to)
{
    lx_status st = {0};
    size_t length;
    char *good = file_read(path, &length, &st);
    assert_non_null(good);
    if (to > length) to = length;
    for (size_t at = from; at < to; at += 1 + (to - from) / (SAMPLED ? 40 : 300)) {
        bool cut = at % 3 == 0;
        char was = good[at];
        good[at] = (char)(was ^ 0x20);
        assert_true(file_write(path, good, cut ? at : length, &st));
        good[at] = was;
        if (is_answered(f, false, NULL, &st)) fail_msg("byte %zu of %s was changed", at, path);
        if (st.code == LX_OK) fail_msg("byte %zu of %s: no word", at, path);
        assert_true(file_write(path, good, length, &st));
        assert_true(is_answered(f, false, NULL, &st));
    }
    mem_free(good);
}

static void every_byte_counts(void **state)
{
    struct fixture *f = *state;
    struct part_file e;
    lx_status st = {0};
    keep(f, SOURCE_DIR "/patterns/team/stencil_3_steps.json");
    assert_true(part_file_open(f->entry, "lxplan cache entry 2\n", &e, &st));
    size_t head = e.head_length;
    size_t file = head + part_length(&e, "plan") + part_length(&e, "pattern");
    part_file_close(&e);
    damage(f, f->asked, 0, SIZE_MAX);
    damage(f, f->entry, 0, head);
    damage(f, f->entry, file, SIZE_MAX);
}

/* One byte of a plan of every length around a step of the sum, and what is behind it. */
static void sums_see_every_bit(void **state)
{
    char data[100], before[33], after[33];
    (void)state;
    for (size_t n = 1; n < sizeof data; n++) {
        for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 31);
        part_sum(data, n, before);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
            part_sum(data, n, after);
            assert_string_not_equal(before, after);
            data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
        }
        part_sum(data, n - 1, after);
        assert_string_not_equal(before, after);
    }
}

/* What is too large for the folder is said, and pushes nothing out. */
static void hear(void *context, const char *line)
{
    snprintf(context, 400, "%s", line);
}

static void a_plan_without_room_is_told_of(void **state)
{
    struct fixture *f = *state;
    lx_status st = {0};
    int32_t removed;
    char heard[400] = "";
    struct lx_cache_list list;
    keep(f, SOURCE_DIR "/patterns/targets/simple_eviction.json");
    assert_true(lx_cache_set_limit(f->folder, 60000, &removed, &st));
    assert_int_equal(removed, 0);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .tell = hear, .tell_context = heard};
    snprintf(how.cache, sizeof how.cache, "%s", f->folder);
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/block_2048.json", &st);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    assert_true(p && !p->kept_as);
    assert_non_null(strstr(heard, "not kept"));
    assert_non_null(strstr(heard, "60000"));
    lx_plan_free(p);
    lx_graph_free(g);
    assert_true(lx_cache_list(f->folder, &list, &st));
    assert_int_equal(list.count, 1);
    lx_cache_list_free(&list);
}

/* The list tells an entry without its end from a whole one. */
static void a_list_shows_damage(void **state)
{
    struct fixture *f = *state;
    lx_status st = {0};
    size_t length;
    struct lx_cache_list list;
    keep(f, SOURCE_DIR "/patterns/targets/simple_eviction.json");
    char *good = file_read(f->entry, &length, &st);
    for (size_t cut = 0; cut < 2; cut++) {
        assert_true(file_write(f->entry, good, cut ? length - 1 : length, &st));
        assert_true(lx_cache_list(f->folder, &list, &st));
        assert_int_equal(list.count, 1);
        assert_int_equal(strcmp(list.at[0].graph, "(damaged)") == 0, cut);
        assert_true(list.bytes > (int64_t)(length - cut)); /* with the question */
        lx_cache_list_free(&list);
    }
    mem_free(good);
    int32_t removed;
    assert_true(lx_cache_clear(f->folder, &removed, &st));
    assert_int_equal(removed, 1);
    assert_int_equal(access(f->asked, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_words_get_the_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_checker_takes_what_is_small_or_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_byte_counts, set_up, tear_down),
        cmocka_unit_test(sums_see_every_bit),
        cmocka_unit_test_setup_teardown(a_plan_without_room_is_told_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_list_shows_damage, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
