/* Launches of ops in nests: those of one tile, which their pieces cover once per slice of a sum; with the loops around
 * them in the runtime plan and in the text of the loop. */
#include "unstable.h"
#include "base/memory.h"
#include "layout/op_index.h"
#include "support/nest_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Elements of the output that a piece has. */
static int64_t size_of(const struct op_index *x, const struct lx_launch_piece *piece)
{
    int64_t size = 1;
    for (int d = 0; d < x->rank[x->output]; d++) {
        int v = x->var[x->output][d];
        assert_true(piece->from[v] >= 0 && piece->from[v] < piece->to[v] && piece->to[v] <= x->extent[v]);
        size *= piece->to[v] - piece->from[v];
    }
    return size;
}

static void covers_its_tile(const struct lx_plan *p, int32_t op)
{
    const struct lx_op_launch *o = &p->launches[op];
    struct op_index x;
    int64_t tile = 1, covered = 0;
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[op], &x);
    nest_tile_index(p->nests, p->nest_count, op, &x);
    for (int d = 0; d < x.rank[x.output]; d++) tile *= x.extent[x.var[x.output][d]];
    for (int32_t c = 0; c < o->launch->core_count; c++) {
        int64_t core = o->launch->cores[c].core, turns = lx_op_launch_turns(o, core);
        for (int64_t t = 0; t < turns; t++) {
            struct lx_launch_piece piece;
            assert_true(lx_op_launch_piece(o, &x, core, t, &piece));
            covered += size_of(&x, &piece);
        }
    }
    assert_int_equal(covered, tile * o->k_slices);
}

/* Offsets of all iterations are the whole of each axis. */
static void walks_its_axes(const struct lx_plan *p, int32_t op)
{
    const struct lx_launch *l = p->launches[op].launch;
    const struct lx_nest *n = &p->nests[nest_of_op(p->nests, p->nest_count, op)];
    struct op_index x;
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[op], &x);
    assert_int_equal(l->level_count, n->level_count);
    for (int i = 0; i < l->level_count; i++) {
        assert_int_equal(l->level[i].tiles, n->tiles[i]);
        assert_int_equal(l->level[i].tiles * l->level[i].step, x.extent[l->level[i].var]);
        assert_int_equal(l->level[i].letter, x.letter[l->level[i].var]);
    }
}

static void is_written(const struct lx_plan *p, int32_t op)
{
    bool on_chip[LX_MAX_OPERANDS];
    char argument[20];
    size_t length;
    lx_status st = {0};
    const struct lx_op *o = &p->layouts->graph->ops[op];
    for (int i = 0; i < op_operand_count(o); i++) on_chip[i] = lx_plan_place(p, op, i) >= 0;
    char *json = lx_op_launch_json(&p->launches[op], p->layouts->graph, on_chip, &length);
    char *loop = lx_op_launch_loop(&p->launches[op], p->layouts->graph);
    if (!lx_runtime_plan_check("launch", json, length, &st)) fail_msg("%s", st.text);
    assert_non_null(strstr(json, "\"nest\": [{\"tiles\": "));
    assert_non_null(strstr(loop, "# nest: for "));
    for (int i = 0; i < p->launches[op].launch->level_count; i++) {
        snprintf(argument, sizeof argument, "\"%c_at\"", p->launches[op].launch->level[i].letter);
        assert_non_null(strstr(json, argument));
        assert_non_null(strstr(loop, argument));
    }
    mem_free(json);
    mem_free(loop);
}

static int looks_at(const struct lx_plan *p)
{
    int ops = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        if (nest_of_op(p->nests, p->nest_count, o) < 0) {
            assert_true(!p->launches[o].launch || p->launches[o].launch->level_count == 0);
            continue;
        }
        covers_its_tile(p, o);
        walks_its_axes(p, o);
        is_written(p, o);
        ops++;
    }
    return ops;
}

static void tiles_are_launched(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    int ops = 0;
    lx_status st = {0};
    cJSON_ArrayForEach(c, case_array(all))
    {
        struct lx_plan *p = plan_of_case(c, LX_ASK_OWN, &st);
        assert_non_null(p);
        ops += looks_at(p);
        lx_plan_free(p);
    }
    cJSON_Delete(all);
    struct lx_plan *p = plan_of_block(128, 16384, LX_ASK_OWN, &st);
    assert_non_null(p);
    assert_true(looks_at(p) > 0 && ops > 50);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_are_launched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
