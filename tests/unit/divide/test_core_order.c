/* Which slices are on neighbouring cores: chosen, stated, read again, and refused where a rule has decided. */
#include "divide/divide.h"
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct stages {
    const struct lx_graph *graph;
    struct lx_layouts *layouts;
    struct lx_divisions *divisions;
    lx_status st;
};

/* h = exp(x); y = sums of the rows of h. */
static void setup(struct stages *s)
{
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [{\"name\": \"x\", \"shape\": "
        "[512, "
        "1024]}, {\"name\": \"h\", \"shape\": [512, 1024]}, {\"name\": \"y\", \"shape\": [512]}], \"ops\": "
        "[{\"name\": \"a\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"h\"}, {\"name\": \"b\", "
        "\"kind\": "
        "\"sum\", \"inputs\": [\"h\"], \"output\": \"y\", \"einsum\": \"mn->m\"}]}";
    *s = (struct stages){0};
    s->graph = lx_graph_of_text("t", text, strlen(text), &s->st);
    s->layouts = s->graph ? lx_layouts_make(s->graph, LX_WEIGHTS_FREE, &s->st) : NULL;
    s->divisions = s->layouts ? lx_divide(s->layouts, NULL, &s->st) : NULL;
    if (!s->divisions) fail_msg("%s", s->st.text);
}

static void end(struct stages *s)
{
    lx_divisions_free(s->divisions);
    lx_layouts_free(s->layouts);
    lx_graph_free(s->graph);
}

static bool divide(struct stages *s, int32_t op, int64_t rows, int64_t columns, int front)
{
    int64_t splits[LX_MAX_VARS] = {rows, columns};
    struct lx_divisions *d = s->divisions;
    s->st = (lx_status){0};
    return lx_division_ordered(d, op, splits, front, d->memory, &d->at[op], &s->st);
}

/* The sum has its parts on neighbours; what it reads lies so only if the op before has its columns in front. */
static void sums_read_what_is_in_front(void **state)
{
    (void)state;
    struct stages s;
    setup(&s);
    for (int front = -1; front <= 1; front += 2) {
        assert_true(divide(&s, 0, 8, 4, front) && divide(&s, 1, 8, 4, -1));
        struct lx_core_view made = lx_division_view(s.divisions, 0, 1),
                            read = lx_division_view(s.divisions, 1, 0);
        assert_int_equal(lx_core_views_match(&made, &read), front == 1);
        assert_int_equal(lx_division_front(&s.divisions->at[0]), front);
        assert_int_equal(lx_division_front(&s.divisions->at[1]), -1);
        assert_int_equal(lx_division_stride(&s.divisions->at[0], 1), front == 1 ? 1 : 8);
        assert_int_equal(lx_division_stride(&s.divisions->at[0], 0), front == 1 ? 4 : 1);
    }
    end(&s);
}

static void what_a_rule_decides_is_refused(void **state)
{
    (void)state;
    struct stages s;
    setup(&s);
    assert_false(divide(&s, 0, 8, 4, 0)); /* the first that is split */
    assert_non_null(strstr(s.st.text, "op a: the slices of that variable"));
    assert_false(divide(&s, 0, 1, 4, 1));
    assert_false(divide(&s, 0, 8, 1, 1));                           /* it is whole */
    assert_false(divide(&s, 0, 8, 4, 2));                           /* there is none */
    assert_false(divide(&s, 1, 8, 4, 1) || divide(&s, 1, 8, 4, 0)); /* the sum is split */
    end(&s);
}

static void it_is_stated_and_read_again(void **state)
{
    (void)state;
    struct stages s;
    struct lx_coeff_splits stated[2];
    int32_t wrong;
    setup(&s);
    assert_true(divide(&s, 0, 8, 4, 1) && divide(&s, 1, 8, 4, -1));
    for (int32_t o = 0; o < 2; o++)
        assert_true(lx_division_state(s.layouts, &s.divisions->at[o], &stated[o]));
    assert_int_equal(stated[0].front, 1);
    assert_int_equal(stated[1].front, 0);
    struct lx_divisions *again = lx_divisions_stated(s.layouts, 32, NULL, 0, stated, &wrong, &s.st);
    assert_non_null(again);
    assert_int_equal(again->at[0].contiguous, 1);
    lx_divisions_free(again);
    static const int64_t others[] = {1024, 7}; /* the rows, which are first as it is; nobody's */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        stated[0].front = others[i];
        assert_null(lx_divisions_stated(s.layouts, 32, NULL, 0, stated, &wrong, &s.st));
        assert_int_equal(wrong, 0);
    }
    end(&s);
}

/* Every order once, and none where a sum is split or one variable only. */
static void menus_have_them(void **state)
{
    (void)state;
    struct stages s;
    struct arena memory = {0};
    struct division_menu plain, all;
    setup(&s);
    for (int32_t o = 0; o < 2; o++) {
        division_menu_make(s.divisions, o, false, &memory, &plain);
        division_menu_make(s.divisions, o, true, &memory, &all);
        int32_t both = 0;
        for (int32_t c = 0; c < plain.count; c++)
            both += o == 0 && plain.splits[2 * c] > 1 && plain.splits[2 * c + 1] > 1;
        assert_int_equal(all.count, plain.count + both);
        for (int32_t c = plain.count; c < all.count; c++)
            assert_true(divide(&s, o, all.splits[2 * c], all.splits[2 * c + 1], all.front[c]));
    }
    arena_free(&memory);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_read_what_is_in_front),
        cmocka_unit_test(what_a_rule_decides_is_refused),
        cmocka_unit_test(it_is_stated_and_read_again),
        cmocka_unit_test(menus_have_them),
    };
    return cmocka_run_group_tests_name("core_order", tests, NULL, NULL);
}
