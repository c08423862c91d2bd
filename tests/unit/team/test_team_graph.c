/* The graph of a member computes what the member owns: it is evaluated op by op, with what its extern ops
 * bring taken from an evaluation of the whole graph, and the results are compared with the whole. */
#include "lxplan.h"
#include "team_run/team_eval.h"
#include "support/random_team.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SEED = 5 };

static const struct team_region all_of_it = {.var = -1, .range = {0, 1}};

/* The whole graph: every tensor at the end, and what exchanges and combines bring, as it was then. */
struct whole {
    struct team_block *now, *exchanged, *combined; /* per tensor, exchange, op */
};

static struct team_block make_block(int rank, const int64_t *shape)
{
    struct team_block b;
    lx_status st = {0};
    struct lx_team_box box = lx_team_box_of(rank, shape);
    assert_true(team_block_make(&b, &box, &st));
    return b;
}

static struct team_block copy_block(const struct team_block *from)
{
    struct team_block b = make_block(from->box.rank, from->box.size);
    memcpy(b.at, from->at, (size_t)lx_team_box_elements(&b.box) * sizeof *b.at);
    return b;
}

static void note_exchanges(const struct lx_team_plan *p, struct whole *w, int32_t after)
{
    for (int32_t e = 0; e < p->exchange_count; e++)
        if (p->exchanges[e].after == after) w->exchanged[e] = copy_block(&w->now[p->exchanges[e].tensor]);
}

static struct whole eval_whole(const struct lx_team_plan *p)
{
    const struct lx_graph *g = p->graph;
    struct whole w = {calloc((size_t)g->tensor_count, sizeof *w.now),
                      calloc((size_t)p->exchange_count + 1, sizeof *w.exchanged),
                      calloc((size_t)g->op_count, sizeof *w.combined)};
    assert_true(w.now && w.exchanged && w.combined);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        w.now[t] = make_block(g->tensors[t].rank, g->tensors[t].shape);
        if (g->tensors[t].role <= LX_WEIGHT) team_block_seed(&w.now[t], &g->tensors[t], SEED, false);
    }
    note_exchanges(p, &w, -1);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        const struct team_block *in[LX_MAX_INPUTS];
        lx_status st = {0};
        for (int i = 0; i < op->input_count; i++) in[i] = &w.now[op->inputs[i]];
        if (!team_eval(g, op, in, &w.now[op->output], &all_of_it, &st)) fail_msg("%s", st.text);
        if (p->ops[o].mode == LX_TEAM_COMBINE) w.combined[o] = copy_block(&w.now[op->output]);
        note_exchanges(p, &w, o);
    }
    return w;
}

static void free_whole(const struct lx_team_plan *p, struct whole *w)
{
    for (int32_t t = 0; t < p->graph->tensor_count; t++) team_block_free(&w->now[t]);
    for (int32_t e = 0; e < p->exchange_count; e++) team_block_free(&w->exchanged[e]);
    for (int32_t o = 0; o < p->graph->op_count; o++) team_block_free(&w->combined[o]);
    free(w->now);
    free(w->exchanged);
    free(w->combined);
}

static int32_t find_tensor(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    return -1;
}

/* A box of a whole tensor, into a local block of that size. */
static void fill(struct team_block *local, const struct team_block *whole, const struct lx_team_box *box)
{
    assert_int_equal(lx_team_box_elements(box), lx_team_box_elements(&local->box));
    team_block_pack(whole, box, false, local->at);
}

static void bring(const struct lx_team_plan *p, const struct whole *w, int member, const struct lx_op *op,
                  struct team_block *out)
{
    const struct lx_graph *g = p->graph;
    int e;
    if (sscanf(op->name, "exchange~%d", &e) == 1) {
        fill(out, &w->exchanged[e], &p->exchanges[e].box[member]);
        return;
    }
    size_t stem = strlen(op->name) - strlen("~combine");
    for (int32_t o = 0; o < g->op_count; o++)
        if (strlen(g->ops[o].name) == stem && strncmp(g->ops[o].name, op->name, stem) == 0) {
            fill(out, &w->combined[o], &w->combined[o].box);
            return;
        }
    fail_msg("nobody knows what %s brings", op->name);
}

static void check_member(const struct lx_team_plan *p, const struct whole *w, int member)
{
    lx_status st = {0};
    const struct lx_graph *g = p->graph;
    const struct lx_graph *local = lx_team_member_graph(p, member, &st);
    if (!local && st.code == LX_E_NO) return;
    if (!local) fail_msg("member %d of %d: %s", member, p->members, st.text);
    struct team_block *blocks = calloc((size_t)local->tensor_count, sizeof *blocks);
    assert_non_null(blocks);
    for (int32_t t = 0; t < local->tensor_count; t++) {
        const struct lx_tensor *x = &local->tensors[t];
        int32_t of = find_tensor(g, x->name);
        blocks[t] = make_block(x->rank, x->shape);
        if (of < 0 || g->tensors[of].role > LX_WEIGHT) continue;
        struct lx_team_box own = lx_team_own(p, of, member);
        fill(&blocks[t], &w->now[of], &own);
    }
    for (int32_t o = 0; o < local->op_count; o++) {
        const struct lx_op *op = &local->ops[o];
        const struct team_block *in[LX_MAX_INPUTS];
        for (int i = 0; i < op->input_count; i++) in[i] = &blocks[op->inputs[i]];
        if (op->kind->traits & LX_EXTERN)
            bring(p, w, member, op, &blocks[op->output]);
        else if (!team_eval(local, op, in, &blocks[op->output], &all_of_it, &st))
            fail_msg("%s", st.text);
    }
    int compared = 0;
    for (int32_t t = 0; t < local->tensor_count; t++) {
        int32_t of = find_tensor(g, local->tensors[t].name);
        if (of < 0) continue;
        struct lx_team_box own = lx_team_own(p, of, member);
        struct team_block wanted = make_block(own.rank, own.size);
        fill(&wanted, &w->now[of], &own);
        int64_t n = lx_team_box_elements(&own);
        for (int64_t i = 0; i < n; i++)
            if (memcmp(&wanted.at[i], &blocks[t].at[i], sizeof *wanted.at) != 0)
                fail_msg("%s on member %d of %d: element %d of %s is %g instead of %g", g->name, member,
                         p->members, (int)i, local->tensors[t].name, blocks[t].at[i], wanted.at[i]);
        compared += n > 0;
        team_block_free(&wanted);
    }
    assert_true(compared > 0);
    for (int32_t t = 0; t < local->tensor_count; t++) team_block_free(&blocks[t]);
    free(blocks);
    lx_graph_free(local);
}

/* Returns whether partial results are combined. */
static bool check_graph(const struct lx_graph *g, int members)
{
    lx_status st = {0};
    struct lx_team_options how = {.members = members};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    struct whole w = eval_whole(p);
    for (int m = 0; m < members; m++) check_member(p, &w, m);
    bool combines = p->combine_bytes > 0;
    free_whole(p, &w);
    lx_team_free(p);
    return combines;
}

static void test_patterns(void **state)
{
    (void)state;
    static const char *const names[] = {"attention_rows", "mlp_rows",  "slice_misses", "softmax_columns",
                                        "softmax_rows",   "uneven_33", "uneven_44",    "uneven_8"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char path[512];
        lx_status st = {0};
        snprintf(path, sizeof path, SOURCE_DIR "/patterns/team/%s.json", names[n]);
        const struct lx_graph *g = lx_graph_read(path, &st);
        if (!g) fail_msg("%s", st.text);
        for (int members = 1; members <= 7; members++) check_graph(g, members);
        lx_graph_free(g);
    }
}

static void test_random(void **state)
{
    (void)state;
    struct rng r = rng_seed(12);
    int combined = 0;
    for (int n = 0; n < 500; n++) {
        lx_status st = {0};
        char *text = random_team_pattern(&r, true);
        assert_non_null(text);
        const struct lx_graph *g = lx_graph_parse("random", text, strlen(text), &st);
        if (!g) fail_msg("%s", st.text);
        combined += check_graph(g, 1 + n % 7);
        lx_graph_free(g);
        free(text);
    }
    assert_true(combined > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
