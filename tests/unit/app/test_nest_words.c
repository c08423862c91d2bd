/* Nests as commands and views tell of them: slices cover their tensors once, copies are counted as often as they are
 * made, and the explorer's keys walk through iterations in every view. */
#include "support/explorer_by_keys.h"
#include "base/memory.h"
#include "support/nest_plans.h"
#include "export/nest_words.h"

#include <stdio.h>

#define BLOCK "block.json" /* in the folder of the test */

enum { MOST_WALKED = 4096 };

/* Every index of every level, the innermost fastest. */
static void indices_count_up(const struct lx_nest *n)
{
    for (int64_t i = 0; i < nest_iterations(n) && i < MOST_WALKED; i++) {
        int64_t back = 0;
        for (int l = 0; l < n->level_count; l++) {
            int64_t at = iteration_index(n, i, l);
            assert_true(at >= 0 && at < n->tiles[l]);
            back = back * n->tiles[l] + at;
        }
        assert_int_equal(back, i);
    }
}

/* A copy is made in as many iterations as are said. */
static void copies_are_made_as_often(const struct lx_plan *p)
{
    for (int32_t k = 0; k < p->transfer_count; k++) {
        const struct lx_transfer *t = &p->transfers[k];
        int32_t nest = plan_nest_at(p, t->tick);
        int64_t all = nest < 0 ? 1 : nest_iterations(&p->nests[nest]), made = 0;
        if (all > MOST_WALKED) continue;
        for (int64_t i = 0; i < all; i++) made += transfer_happens(p, t, i);
        assert_int_equal(made, transfer_times(p, t));
    }
}

/* "s 0..4" of the first iteration, "s 12..16" of the last: from the first element to the last. */
static void slices_reach_both_ends(const struct lx_plan *p, int32_t tensor, const struct lx_nest *n)
{
    struct nest_tensor is = nest_tensor_of(p->layouts, n, tensor);
    const int64_t *shape = p->layouts->graph->tensors[tensor].shape;
    struct text first = {0}, last = {0}, from = {0}, to = {0};
    add_slice_words(p, n, tensor, n->level_count, 0, &first);
    add_slice_words(p, n, tensor, n->level_count, nest_iterations(n) - 1, &last);
    for (int l = 0; l < n->level_count; l++) {
        if (!(is.indexed & level_bit(l))) continue;
        int64_t all = shape[is.dim[l]], each = all / n->tiles[l];
        char letter = nest_axis_letter(p, n, l);
        text_format(&from, "%s%c 0..%lld", from.length ? ", " : "", letter, (long long)each);
        text_format(&to, "%s%c %lld..%lld", to.length ? ", " : "", letter, (long long)(all - each),
                    (long long)all);
    }
    assert_string_equal(first.at ? first.at : "", from.at ? from.at : "");
    assert_string_equal(last.at ? last.at : "", to.at ? to.at : "");
    text_free(&first), text_free(&last), text_free(&from), text_free(&to);
}

/* What is whole says so where a nest cuts it or adds it up, and nothing elsewhere. */
static void wholes_say_so(const struct lx_plan *p, int32_t buffer)
{
    for (int32_t i = 0; i < p->nest_count && !is_tile(p, buffer); i++) {
        const struct lx_nest *n = &p->nests[i];
        const struct lx_stay *s = &p->stays[buffer];
        struct nest_tensor t = nest_tensor_of(p->layouts, n, s->tensor);
        bool meets = s->first <= n->last && s->last >= n->first;
        struct text words = {0};
        add_whole_words(p, buffer, i, nest_iterations(n) - 1, &words);
        assert_int_equal(words.at != NULL, meets && (t.indexed || t.summed));
        if (words.at) assert_int_equal(strstr(words.at, "accumulator of nest ") != NULL, t.summed != 0);
        if (words.at) assert_int_equal(strstr(words.at, "this iteration uses ") != NULL, t.indexed != 0);
        text_free(&words);
    }
}

static void expect_plan(const struct lx_plan *p, int *tiles)
{
    int64_t all = 0;
    for (int32_t i = 0; i < p->nest_count; i++) {
        const struct lx_nest *n = &p->nests[i];
        indices_count_up(n);
        all += nest_iterations(n);
        for (int32_t t = 0; t < p->layouts->graph->tensor_count; t++)
            if (nest_tensor_of(p->layouts, n, t).accessed) slices_reach_both_ends(p, t, n);
    }
    assert_int_equal(all, plan_iterations(p));
    copies_are_made_as_often(p);
    for (int32_t i = 0; i < p->problem.count; i++) {
        struct text words = {0};
        add_tile_words(p, i, 0, &words);
        assert_int_equal(words.at != NULL, is_tile(p, i));
        if (is_tile(p, i)) assert_true(tile_count(p, i) >= 2 && strncmp(words.at, "tile 1 of ", 10) == 0);
        wholes_say_so(p, i);
        *tiles += is_tile(p, i);
        text_free(&words);
    }
}

static void words_agree_with_plans(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    int tiles = 0, nests = 0;
    cJSON_ArrayForEach(c, case_array(all))
    {
        lx_status st = {0};
        struct lx_plan *p = plan_of_case(c, LX_ASK_OWN, &st);
        if (!p) fail_msg("%s", st.text);
        expect_plan(p, &tiles);
        nests += p->nest_count;
        lx_plan_free(p);
    }
    cJSON_Delete(all);
    assert_true(nests > 20 && tiles > 20);
}

/* A file of a block in the folder of the test. */
static void write_block(void)
{
    lx_status st = {0};
    const struct lx_generator *k = lx_generator_find("block");
    int64_t values[16];
    size_t length = 0;
    for (int i = 0; i < k->option_count; i++) {
        const char *name = k->options[i].name;
        values[i] = strcmp(name, "layers") == 0 ? 1 : strcmp(name, "seq") == 0 ? 128 : k->options[i].def;
    }
    const struct lx_graph *g = k->build(values, &st);
    char *text = g ? lx_graph_to_json(g, &length) : NULL;
    FILE *f = fopen(BLOCK, "wb");
    assert_true(text && f && fwrite(text, 1, length, f) == length && fclose(f) == 0);
    mem_free(text);
    lx_graph_free(g);
}

/* Of which less than all fits, planned with nests. */
static struct explorer *open_block(int rows, int columns)
{
    write_block();
    struct explorer *x = open_on(BLOCK, rows, columns);
    explorer_type(x, ":lx 24k<Enter>:set tile auto<Enter><wait>");
    assert_true(session_plan(&x->session)->nest_count > 0);
    return x;
}

/* Of the nest that is looked at. */
static int64_t iteration_now(const struct explorer *x)
{
    int32_t nest = session_nest(&x->session);
    return nest < 0 ? -1 : session_iteration(&x->session, nest);
}

static void keys_walk_through_iterations(void **state)
{
    (void)state;
    struct explorer *x = open_block(40, 120);
    const struct lx_plan *p = session_plan(&x->session);
    explorer_type(x, "g;");
    int32_t nest = session_nest(&x->session);
    assert_true(nest >= 0);
    int64_t count = nest_iterations(&p->nests[nest]), inner = count / p->nests[nest].tiles[0];
    assert_int_equal(iteration_now(x), 0);
    assert_true(explorer_shows(x, "iteration 1 of"));
    explorer_type(x, "))");
    assert_int_equal(iteration_now(x), 2);
    assert_true(explorer_shows(x, "iteration 3 of"));
    explorer_type(x, "(");
    assert_int_equal(iteration_now(x), 1);
    explorer_type(x, "((");
    assert_int_equal(iteration_now(x), count - 1); /* the last is before the first */
    explorer_type(x, ")}");
    assert_int_equal(iteration_now(x), inner % count);
    explorer_type(x, "{:iteration 2<Enter>");
    assert_int_equal(iteration_now(x), 1);
    explorer_type(x, ":iteration 0<Enter>");
    assert_true(explorer_shows(x, "is no iteration of this nest"));
    assert_int_equal(iteration_now(x), 1);
    close_it(x);
}

/* From one to the next, around, and back. */
static void keys_walk_through_nests(void **state)
{
    (void)state;
    struct explorer *x = open_block(24, 80);
    const struct lx_plan *p = session_plan(&x->session);
    session_select_op(&x->session, 0);
    int32_t first = plan_nest_at(p, 0) == 0 ? 1 % p->nest_count : 0;
    explorer_type(x, "2;");
    assert_int_equal(session_nest(&x->session), first);
    for (int32_t i = 1; i <= p->nest_count; i++) {
        explorer_type(x, ";");
        assert_int_equal(session_nest(&x->session), (first + i) % p->nest_count);
        assert_int_equal(x->session.selection.op, p->nests[session_nest(&x->session)].first);
    }
    explorer_type(x, ",");
    assert_int_equal(session_nest(&x->session), (first + p->nest_count - 1) % p->nest_count);
    close_it(x);
}

/* The loops and the iteration, whatever is looked at. */
static void every_view_names_the_nest(void **state)
{
    (void)state;
    struct explorer *x = open_block(40, 120);
    explorer_type(x, "2;)");
    const struct lx_plan *p = session_plan(&x->session);
    struct text loops = {0}, place = {0};
    int32_t nest = session_nest(&x->session);
    add_nest_words(p, &p->nests[nest], &loops);
    add_iteration_words(p, &p->nests[nest], 1, &place);
    for (const char *view = "2346"; *view; view++) {
        char keys[] = {*view, 0};
        explorer_type(x, keys);
        explorer_type(x, "<Esc>"); /* what is said last is no part of the view */
        if (!explorer_shows(x, loops.at) || !explorer_shows(x, place.at))
            fail_msg("view %c names no nest", *view);
    }
    explorer_type(x, "4");
    assert_true(explorer_shows(x, "nests"));
    explorer_type(x, "9ftile<Enter>");
    assert_true(explorer_shows(x, "hold"));
    for (int i = 0; i < view_count(x, VIEW_BUFFERS); i++) {
        const char *name = view_item(x, VIEW_BUFFERS, i);
        for (int32_t b = 0; b < p->problem.count; b++)
            if (strcmp(p->problem.buffers[b].name, name) == 0)
                assert_true(is_tile(p, b) || has_text(name, "tile"));
    }
    text_free(&loops), text_free(&place);
    close_it(x);
}

/* A row for each nest in place of those of its ops, and back. */
static void the_graph_folds_nests(void **state)
{
    (void)state;
    struct explorer *x = open_block(40, 120);
    const struct lx_plan *p = session_plan(&x->session);
    int ops = p->layouts->graph->op_count, left = ops;
    for (int32_t i = 0; i < p->nest_count; i++) left -= p->nests[i].last - p->nests[i].first;
    explorer_type(x, "2g");
    assert_int_equal(view_count(x, VIEW_GRAPH), ops);
    explorer_type(x, "z");
    assert_int_equal(view_count(x, VIEW_GRAPH), left);
    explorer_type(x, "G");
    int32_t last = plan_nest_at(p, ops - 1);
    assert_int_equal(x->session.selection.op, last >= 0 ? p->nests[last].first : ops - 1);
    explorer_type(x, "z");
    assert_int_equal(view_count(x, VIEW_GRAPH), ops);
    close_it(x);
}

/* Without nests the keys say so, and nothing of them is on the screen. */
static void plans_without_nests_say_so(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, "<wait>:set tile none<Enter><wait>4)");
    assert_true(explorer_shows(x, "this plan has no nests"));
    explorer_type(x, ";");
    assert_true(explorer_shows(x, "this plan has no nests"));
    explorer_type(x, "<Esc>");
    assert_false(explorer_shows(x, "nests"));
    assert_false(explorer_shows(x, ") iteration"));
    close_it(x);
}

/* What a change did to the nests stands in the status line until the next key. */
static void changes_name_nests(void **state)
{
    (void)state;
    struct explorer *x = open_block(40, 200);
    explorer_type(x, ":set tile none<Enter><wait>");
    assert_true(explorer_shows(x, "-> no nest"));
    explorer_type(x, ":set tile auto<Enter><wait>");
    assert_true(explorer_shows(x, "no nest -> "));
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_agree_with_plans),  cmocka_unit_test(keys_walk_through_iterations),
        cmocka_unit_test(keys_walk_through_nests), cmocka_unit_test(every_view_names_the_nest),
        cmocka_unit_test(the_graph_folds_nests),   cmocka_unit_test(plans_without_nests_say_so),
        cmocka_unit_test(changes_name_nests),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
