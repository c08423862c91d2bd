/* What all pictures of a plan share: the letter of a buffer, and lanes. */
#include "base/rng.h"
#include "picture/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct lx_plan *plan_of(const char *path, const char *solver)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    struct lx_plan_options how = {.solver = lx_solver_find(solver), .run = {.work_limit = 2000}};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    lx_graph_free(g);
    return p;
}

/* The letter that the legend of the text map gives to a buffer. */
static char letter_in(const char *map, const char *name)
{
    char wanted[120];
    for (const char *line = map; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "  ", 2) != 0 || strncmp(line + 3, "  ", 2) != 0) continue;
        snprintf(wanted, sizeof wanted, "%s ", name);
        if (strncmp(line + 5, wanted, strlen(wanted)) == 0) return line[2];
    }
    return 0;
}

/* By tensor, so the same in the plans of two solvers, and for all stays of one tensor. */
static void test_letters(void **state)
{
    (void)state;
    const char *const solvers[] = {"greedy", "firstfit"};
    for (int k = 0; k < 2; k++) {
        struct lx_plan *p = plan_of(SOURCE_DIR "/patterns/targets/moe_mlp.json", solvers[k]);
        struct picture how = {.width = 100, .height = 24, .ascii = true, .all = true};
        struct text map = {0};
        int seen = 0;
        show_text(p, &how, &map);
        for (int32_t i = 0; i < p->problem.count; i++) {
            if (p->answer.address[i] < 0) continue;
            int32_t tensor = p->stays[i].tensor;
            assert_int_equal(buffer_identity(p, i), tensor);
            assert_int_equal(letter_in(map.at, p->problem.buffers[i].name), identity_letter(tensor));
            seen++;
        }
        assert_true(seen > 5);
        assert_int_equal(buffer_identity(p, -1), -1);
        text_free(&map);
        lx_plan_free(p);
    }
    for (int i = 1; i < LETTER_COUNT; i++)
        for (int k = 0; k < i; k++) assert_int_not_equal(identity_letter(i), identity_letter(k));
    assert_int_equal(identity_letter(LETTER_COUNT), identity_letter(0));
}

static bool meets(const struct lanes *l, int32_t i, int32_t k)
{
    return l->at[i].from < l->at[k].to && l->at[k].from < l->at[i].to;
}

/* Nothing overlaps in a lane, and every lane above one's own was taken when it came. */
static void test_lanes(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    for (int round = 0; round < 500; round++) {
        struct lanes l;
        int n = (int)rng_between(&r, 0, 400), most = (int)rng_between(&r, 0, MOST_LANES + 2), placed = 0;
        l = (struct lanes){.most = most < MOST_LANES ? most : MOST_LANES};
        for (int i = 0; i < n; i++) {
            int64_t from = rng_between(&r, 0, 90);
            placed += lanes_place(&l, i, from, from + rng_between(&r, 1, 12)) >= 0;
        }
        assert_int_equal(placed, l.count);
        assert_int_equal(placed + l.left_over, n);
        assert_true(l.used <= l.most && l.most <= MOST_LANES && l.count <= MOST_IN_LANES);
        for (int32_t i = 0; i < l.count; i++) {
            bool above[MOST_LANES] = {false};
            for (int32_t k = 0; k < i; k++)
                if (meets(&l, i, k)) above[l.at[k].lane] = true;
            assert_false(above[l.at[i].lane]);
            for (int lane = 0; lane < l.at[i].lane; lane++) assert_true(above[lane]);
        }
    }
}

/* A name stands where it can be read, and nowhere else. */
static void test_labels(void **state)
{
    static const struct {
        double width, height;
        bool stands;
    } boxes[] = {{100, 20, true}, {100, 8, true}, {100, 5, false}, {100, 1, false},
                 {100, 0, false}, {4, 0, false},  {3, 20, false}};
    (void)state;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        struct text t = {0};
        svg_add_label("name", 10, 10, boxes[i].width, boxes[i].height, &t);
        assert_int_equal(t.length > 0, boxes[i].stands);
        text_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
