/* What solvers count: every figure of an answer is a row of its solver's table, in the table's order, and every
 * row is filled by some question. */
#include "support/random_problem.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static int row_of(const struct lx_solver *s, const char *name)
{
    int row = 0;
    while (row < s->stat_count && strcmp(s->stats[row].name, name) != 0) row++;
    return row;
}

static void ask(const struct lx_solver *s, struct lx_problem *p, enum lx_objective question, bool *filled)
{
    int64_t *address = mem_zeroed((size_t)p->count + 1, sizeof *address);
    struct lx_answer a = {.address = address};
    struct lx_run run = {.work_limit = 2000};
    lx_status st = {0};
    p->objective = question;
    if (!lx_problem_solve(p, s, &run, &a, &st)) fail_msg("%s: %s", s->name, st.text);
    for (int i = 0, before = -1; i < a.stat_count; i++) {
        int row = row_of(s, a.stats[i].name);
        if (row == s->stat_count) fail_msg("%s counts %s, which no row has", s->name, a.stats[i].name);
        if (row <= before) fail_msg("%s counts %s out of order", s->name, a.stats[i].name);
        before = row;
        filled[row] = true;
    }
    mem_free(address);
}

static void figures_are_rows(void **state)
{
    (void)state;
    struct arena memory = {0};
    struct rng rng = rng_seed(7);
    struct problem_shape shape = {
        .count = 14, .ticks = 12, .size_units = 9, .capacity_units = 24, .alignment = 1};
    struct lx_problem p = random_problem(&rng, &shape, LX_SPILL, &memory);
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        bool filled[LX_MAX_STATS] = {0};
        assert_in_range((*s)->stat_count, 0, LX_MAX_STATS);
        for (enum lx_objective o = 0; o < LX_OBJECTIVE_COUNT; o++)
            if (lx_can(*s, o)) ask(*s, &p, o, filled);
        for (int row = 0; row < (*s)->stat_count; row++) {
            const struct lx_stat_row *r = &(*s)->stats[row];
            if (!filled[row]) fail_msg("%s never counts %s", (*s)->name, r->name);
            assert_true(*r->name && *r->unit && *r->help && row_of(*s, r->name) == row);
        }
    }
    arena_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures_are_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
