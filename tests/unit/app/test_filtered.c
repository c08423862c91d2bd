/* Filters in use: keys act on the row that is marked, whatever a filter hides, and what is asked for by name or by an
 * edge is shown all the same. */
#include "support/explorer_by_keys.h"

#define EXPERTS SOURCE_DIR "/patterns/graphs/moe_mlp.json"

static const char *buffer_of(const struct explorer *x)
{
    return session_plan(&x->session)->problem.buffers[x->session.selection.buffer].name;
}

static const char *op_of(const struct explorer *x)
{
    return outcome_graph(&x->session.shown)->ops[x->session.selection.op].name;
}

/* Buffers: what the panel explains is in the list. */
static void buffers_open_the_marked_row(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 24, 80);
    explorer_type(x, "<wait>:lx 100k<Enter><wait>9gg");
    assert_null(strstr(buffer_of(x), "silu"));
    explorer_type(x, "fsilu<Enter>i");
    assert_non_null(strstr(buffer_of(x), "silu"));
    assert_int_equal(x->overlay, VIEW_WHY);
    explorer_type(x, "<Esc>fno such buffer<Enter>");
    assert_non_null(strstr(buffer_of(x), "silu")); /* no row: nothing to move to */
    close_it(x);
}

static void graph_marks_a_row(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 24, 80);
    explorer_type(x, "<wait>2Gfsilu<Enter>");
    assert_true(view_count(x, VIEW_GRAPH) > 1);
    explorer_draw(x);
    assert_non_null(strstr(op_of(x), "silu"));
    assert_false(filter_hides(x, VIEW_GRAPH));
    close_it(x);
}

/* While it is typed, a filter that is given up leaves one where one was. */
static void a_filter_given_up_moves_nothing(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 24, 80);
    explorer_type(x, "<wait>2G");
    int32_t op = x->session.selection.op;
    explorer_type(x, "fsil");
    explorer_draw(x);
    explorer_type(x, "<Esc>");
    explorer_draw(x);
    assert_int_equal(x->session.selection.op, op);
    close_it(x);
}

/* An edge leads out of the filter; the filter goes, not the op. */
static void following_takes_the_filter_away(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 24, 80);
    explorer_type(x, "<wait>2fsilu<Enter><Enter>");
    explorer_draw(x);
    assert_null(strstr(op_of(x), "silu"));
    assert_string_equal(x->filter[VIEW_GRAPH], "");
    assert_true(explorer_shows(x, "filter removed"));
    close_it(x);
}

/* A page that is come back to with its filter on marks what it lists. */
static void a_page_comes_back_with_its_filter(void **state)
{
    (void)state;
    struct explorer *x = open_on(EXPERTS, 24, 80);
    explorer_type(x, "<wait>9fsilu<Enter>2G9");
    explorer_draw(x);
    assert_string_equal(x->filter[VIEW_BUFFERS], "silu");
    assert_non_null(strstr(buffer_of(x), "silu"));
    close_it(x);
}

static void patterns_open_the_marked_row(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/graphs", 24, 120);
    explorer_type(x, "<wait>Gfmoe<Enter><Enter><wait>");
    assert_non_null(session_plan(&x->session));
    assert_non_null(strstr(x->session.patterns.at[x->session.current].shown, "moe"));
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_open_the_marked_row),
        cmocka_unit_test(graph_marks_a_row),
        cmocka_unit_test(a_filter_given_up_moves_nothing),
        cmocka_unit_test(following_takes_the_filter_away),
        cmocka_unit_test(a_page_comes_back_with_its_filter),
        cmocka_unit_test(patterns_open_the_marked_row),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
