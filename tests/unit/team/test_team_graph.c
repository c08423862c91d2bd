/* The graph of a member: every message has its twin, tensors are where they belong, and pieces are cut where parts
 * meet. That it computes what the member owns is for test_team_run to show. */
#include "unstable.h"
#include "base/memory.h"
#include "support/random_team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 7 };

static const struct lx_graph *read_pattern(const char *name)
{
    char path[512];
    lx_status st = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/team/%s.json", name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static struct lx_team_plan *plan_of(const struct lx_graph *g, int members)
{
    lx_status st = {0};
    struct lx_team_options how = {.devices = members};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    return p;
}

/* A send of `m` to the peer has one receive there, of the same tag and bytes, and the other way round. */
static void expect_twin(struct lx_team_device *const *members, int me, const struct lx_team_message *m)
{
    const struct lx_team_device *other = members[m->peer];
    int twins = 0;
    for (int32_t i = 0; i < other->message_count; i++) {
        const struct lx_team_message *x = &other->messages[i];
        if (x->peer != me || x->tag != m->tag || (x->operand < 0) == (m->operand < 0)) continue;
        assert_int_equal(x->bytes, m->bytes);
        assert_int_equal(lx_team_box_elements(&x->at), lx_team_box_elements(&m->at));
        twins++;
    }
    assert_int_equal(twins, 1);
}

static void check_messages(struct lx_team_device *const *members, int me)
{
    const struct lx_team_device *m = members[me];
    for (int32_t i = 0; i < m->message_count; i++) {
        const struct lx_team_message *x = &m->messages[i];
        const struct lx_op *op = &m->graph->ops[x->op];
        assert_int_equal(op->kind->id, x->operand < 0 ? LX_KIND_RECEIVE : LX_KIND_SEND);
        const struct lx_tensor *t = &m->graph->tensors[x->operand < 0 ? op->output : op->inputs[x->operand]];
        struct lx_team_box all = lx_team_box_of(t->rank, t->shape);
        assert_true(lx_team_box_within(&x->at, &all));
        expect_twin(members, me, x);
    }
}

/* What a receive writes is all received. */
static void check_receives(const struct lx_team_device *m)
{
    for (int32_t o = 0; m->graph && o < m->graph->op_count; o++) {
        const struct lx_op *op = &m->graph->ops[o];
        if (op->kind->id != LX_KIND_RECEIVE) continue;
        const struct lx_tensor *t = &m->graph->tensors[op->output];
        struct lx_team_box all = lx_team_box_of(t->rank, t->shape);
        int64_t elements = 0;
        for (int32_t i = 0; i < m->message_count; i++)
            if (m->messages[i].op == o) elements += lx_team_box_elements(&m->messages[i].at);
        assert_int_equal(elements, lx_team_box_elements(&all));
    }
}

static void check_places(const struct lx_team_plan *p, const struct lx_team_device *m, int me)
{
    for (int32_t i = 0; i < m->place_count; i++) {
        const struct lx_team_place *x = &m->places[i];
        const struct lx_tensor *local = &m->graph->tensors[x->local];
        if (x->tensor < 0) continue;
        struct lx_team_box own = lx_team_own(p, x->tensor, me);
        assert_true(lx_team_box_equal(&x->box, &own));
        assert_string_equal(local->name, p->graph->tensors[x->tensor].name);
        assert_int_equal(local->role, p->graph->tensors[x->tensor].role);
        for (int d = 0; d < own.rank; d++) assert_int_equal(local->shape[d], own.size[d]);
    }
}

/* Returns the bytes of all messages but those of a member to itself. */
static int64_t check_team(const struct lx_graph *g, int members)
{
    struct lx_team_plan *p = plan_of(g, members);
    struct lx_team_device *all[MOST];
    int64_t bytes = 0;
    for (int m = 0; m < members; m++) {
        lx_status st = {0};
        all[m] = lx_team_device_make(p, m, &st);
        if (!all[m]) fail_msg("%s, device %d of %d: %s", g->name, m, members, st.text);
    }
    for (int m = 0; m < members; m++) {
        check_messages(all, m);
        check_receives(all[m]);
        check_places(p, all[m], m);
        for (int32_t i = 0; i < all[m]->message_count; i++)
            if (all[m]->messages[i].peer != m)
                bytes += all[m]->messages[i].operand >= 0 ? all[m]->messages[i].bytes : 0;
    }
    for (int m = 0; m < members; m++) lx_team_device_free(all[m]);
    assert_int_equal(bytes, p->bytes + p->combine_bytes);
    lx_team_free(p);
    return bytes;
}

static void test_patterns(void **state)
{
    (void)state;
    static const char *const names[] = {"attention_rows",  "mlp_rows",        "slice_misses",
                                        "softmax_columns", "softmax_rows",    "uneven_33",
                                        "uneven_44",       "stencil_3_steps", "uneven_8"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const struct lx_graph *g = read_pattern(names[n]);
        for (int members = 1; members <= MOST; members++) check_team(g, members);
        lx_graph_free(g);
    }
}

static void test_random(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"fp32", "fp16", "int4", "bool", "int64"};
    struct rng r = rng_seed(12);
    int moved = 0;
    for (int n = 0; n < 500; n++) {
        lx_status st = {0};
        char *text = random_team_pattern(&r, MEANS, dtypes[n % 5]);
        assert_non_null(text);
        const struct lx_graph *g = lx_graph_of_text("random", text, strlen(text), &st);
        if (!g) fail_msg("%s", st.text);
        moved += check_team(g, 1 + n % MOST) > 0;
        lx_graph_free(g);
        mem_free(text);
    }
    assert_true(moved > 300);
}

/* The pieces of the first slice on the middle member of three: the core, then where halo and own rows meet. */
static void test_stencil_pieces(void **state)
{
    (void)state;
    static const int64_t wanted[] = {167, 1, 1, 1, 1};
    const struct lx_graph *g = read_pattern("stencil_3_steps");
    struct lx_team_plan *p = plan_of(g, 3);
    lx_status st = {0};
    struct lx_team_device *m = lx_team_device_make(p, 1, &st);
    assert_non_null(m);
    int64_t rows[16], total = 0;
    int pieces = 0, sends = 0, receives = 0;
    for (int32_t o = 0; o < m->graph->op_count; o++) {
        const struct lx_op *op = &m->graph->ops[o];
        sends += op->kind->id == LX_KIND_SEND;
        receives += op->kind->id == LX_KIND_RECEIVE;
        if (strncmp(op->name, "up2_0~", 6) != 0) continue;
        assert_true(pieces < 16);
        rows[pieces++] = m->graph->tensors[op->output].shape[0];
        assert_int_equal(m->graph->tensors[op->output].shape[1], 508);
    }
    assert_int_equal(pieces, 5);
    for (int i = 0; i < pieces; i++) total += rows[i];
    for (int i = 0; i < pieces; i++) assert_int_equal(rows[i], wanted[i]); /* two of them before the core */
    assert_int_equal(total, 171);
    assert_int_equal(sends, 3);
    assert_int_equal(receives, 6);
    lx_team_device_free(m);
    assert_null(lx_team_device_make(p, 3, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    lx_team_free(p);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_stencil_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
