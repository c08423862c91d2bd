/* Layouts: every element has one place and comes back; propagation moves the least; dead ops go. */
#include "base/rng.h"
#include "base/text.h"
#include "base/memory.h"
#include "layout/flat_index.h"
#include "support/host_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A random tensor of at most a few thousand elements, in a random layout. */
static struct lx_layout random_layout(struct rng *r)
{
    struct lx_layout y;
    lx_status st;
    int rank = (int)rng_between(r, 0, 6), order[LX_MAX_RANK + 1];
    int64_t shape[LX_MAX_RANK] = {0};
    for (int d = 0; d < rank; d++) {
        shape[d] = rng_between(r, 1, rank > 3 ? 3 : rank > 2 ? 9 : 40);
        order[d] = d;
    }
    if (rank > 0) shape[rng_below(r, (uint64_t)rank)] = rng_between(r, 1, 150);
    for (int d = rank - 1; d > 0; d--) {
        int other = (int)rng_below(r, (uint64_t)d + 1), keep = order[d];
        order[d] = order[other];
        order[other] = keep;
    }
    int count = rank;
    if (rank > 0 && rng_below(r, 4) == 0) order[count++] = -1;
    enum lx_dtype dtype = (enum lx_dtype)rng_below(r, LX_DTYPE_COUNT);
    bool ok = lx_layout_make(dtype, rank, shape, NULL, order, count, 128, &y, &st);
    assert_true(ok);
    if (rank > 1 && rng_below(r, 3) == 0)
        for (int d = 0; d < rank; d++)
            if (d != y.stick_dim && lx_layout_pad(&y, d, shape[d] + 3)) break;
    return y;
}

static bool next_index(const struct lx_layout *y, int64_t *index)
{
    for (int d = y->host_rank - 1; d >= 0; d--) {
        if (++index[d] < y->host_shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

/* Host index to device coordinates is one to one, and the offset identity holds. */
static void test_round_trip(void **state)
{
    (void)state;
    struct rng r = rng_seed(3);
    for (int n = 0; n < 600; n++) {
        struct lx_layout y = random_layout(&r);
        if (lx_layout_elements(&y) > 200000) continue;
        int64_t index[LX_MAX_RANK] = {0}, at[LX_MAX_DEVICE_RANK], back[LX_MAX_RANK],
                strides[LX_MAX_DEVICE_RANK];
        int64_t elements = lx_layout_elements(&y), hosts = 0;
        unsigned char *taken = mem_zeroed((size_t)elements, 1);
        assert_non_null(taken);
        layout_strides(&y, strides);
        do {
            int64_t place = 0, offset = 0, host = 0;
            layout_to_device(&y, index, at);
            for (int i = 0; i < y.rank; i++) {
                assert_in_range(at[i], 0, y.size[i] - 1);
                place += at[i] * strides[i];
                offset += at[i] * (y.stride_map[i] > 0 ? y.stride_map[i] : 0);
            }
            for (int d = 0; d < y.host_rank; d++) host = host * y.host_shape[d] + index[d];
            assert_int_equal(offset, host);
            assert_false(taken[place]);
            taken[place] = 1;
            assert_true(layout_to_host(&y, at, back));
            assert_memory_equal(back, index, sizeof *index * (size_t)y.host_rank);
            hosts++;
        } while (next_index(&y, index));
        /* Every other device position is padding. */
        int64_t held = 0;
        memset(at, 0, sizeof at);
        for (int64_t p = 0; p < elements; p++) {
            int64_t rest = p;
            for (int i = 0; i < y.rank; i++) at[i] = rest / strides[i], rest %= strides[i];
            bool host = layout_to_host(&y, at, back);
            if (host != (taken[p] != 0)) fail_msg("position %lld: padding and elements differ", (long long)p);
            held += host;
        }
        assert_int_equal(held, hosts);
        assert_int_equal(lx_layout_bytes(&y) % y.stick_bytes, 0);
        mem_free(taken);
    }
}

/* Whole tensors through the copy engine's view of a layout. */
static void test_copies(void **state)
{
    (void)state;
    struct rng r = rng_seed(4);
    for (int n = 0; n < 300; n++) {
        struct lx_layout y = random_layout(&r);
        if (lx_layout_elements(&y) > 200000) continue;
        int64_t count = 1;
        for (int d = 0; d < y.host_rank; d++) count *= y.host_shape[d];
        uint32_t *host = mem_alloc((size_t)count * sizeof *host),
                 *back = mem_zeroed((size_t)count, sizeof *back);
        uint32_t *device = mem_alloc((size_t)lx_layout_elements(&y) * sizeof *device);
        assert_true(host && back && device);
        for (int64_t i = 0; i < count; i++) host[i] = (uint32_t)rng_next(&r);
        layout_copy_in(&y, host, count, sizeof *host, device);
        layout_copy_out(&y, device, sizeof *host, back, count);
        assert_memory_equal(host, back, (size_t)count * sizeof *host);
        mem_free(host);
        mem_free(back);
        mem_free(device);
    }
}

static int64_t coordinate_value(const struct coordinate *c, const int64_t *vars)
{
    int64_t sum = c->constant;
    for (int i = 0; i < c->term_count; i++) {
        const struct coordinate_term *t = &c->terms[i];
        int64_t v = vars[t->var];
        if (t->wrap > 0) v %= t->wrap;
        v = v * t->scale + t->lead;
        sum += (t->mod > 0 ? v % t->mod : v) / t->divisor;
    }
    return sum;
}

/* Coordinates of a flat index, evaluated, are the coordinates of the element it points to. */
static void test_coordinates(void **state)
{
    (void)state;
    int64_t size[4] = {10, 4, 50, 64}, stride[4] = {200, 64, 2000, 1};
    struct index_term index[2] = {{0, 200, 500, 0}, {1, 1, 200, 0}};
    struct coordinate c[4];
    lx_status st;
    assert_true(access_coordinates(4, size, stride, index, 2, 0, c, &st));
    for (int64_t p = 0; p < 500; p++)
        for (int64_t s = 0; s < 200; s++) {
            int64_t vars[2] = {p, s}, offset = 0;
            for (int d = 0; d < 4; d++) offset += coordinate_value(&c[d], vars) * stride[d];
            assert_int_equal(offset, 200 * p + s);
        }
    assert_int_equal(coordinate_term_last(&c[1].terms[0], 200), 3);
}

/* At a random point of the op's variables: the coordinates of the operand are where its layout has the element. */
static void check_operand(const struct lx_layouts *l, int32_t op, const struct op_index *x, int i,
                          struct rng *r)
{
    const struct lx_layout *y = &l->layouts[op_operand(&l->graph->ops[op], i)];
    struct coordinate at[LX_MAX_DEVICE_RANK];
    int64_t vars[LX_MAX_VARS], index[LX_MAX_RANK], want[LX_MAX_DEVICE_RANK];
    lx_status st;
    assert_true(operand_coordinates(l, op, x, i, at, &st));
    for (int v = 0; v < x->var_count; v++) vars[v] = rng_between(r, 0, x->extent[v] - 1);
    for (int d = 0; d < x->rank[i]; d++) {
        int64_t v = vars[x->var[i][d]];
        index[d] = op_index_offset(x, i, d) + op_index_stride(x, i, d) * v;
    }
    layout_to_device(y, index, want);
    for (int d = 0; d < y->rank; d++)
        if (coordinate_value(&at[d], vars) != want[d])
            fail_msg("op %s, operand %d: device dimension %d is %lld, not %lld", l->graph->ops[op].name, i, d,
                     (long long)coordinate_value(&at[d], vars), (long long)want[d]);
}

/* A view that begins within a stick is moved as a whole: its coordinates do not carry. */
static bool carries(const struct lx_layouts *l, const struct op_index *x, int32_t op)
{
    bool moved = false;
    for (int i = 0; i < x->operand_count; i++) {
        const struct lx_layout *y = &l->layouts[op_operand(&l->graph->ops[op], i)];
        if (!op_index_shifted(x, i)) continue;
        for (int d = 0; d < y->host_rank; d++) moved |= op_index_offset(x, i, d) < 0;
        moved |= y->stick_dim >= 0 && op_index_leaves_sticks(x, i, y->stick_dim, y->stick_elements);
    }
    return moved;
}

static void test_operand_coordinates(void **state)
{
    (void)state;
    static const char *const names[] = {"graphs/transformer_block", "graphs/gq_attention",
                                        "graphs/stencil_star", "team/uneven_44"};
    struct rng r = rng_seed(11);
    int checked = 0;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char path[400];
        lx_status st;
        snprintf(path, sizeof path, SOURCE_DIR "/patterns/%s.json", names[n]);
        const struct lx_graph *g = lx_graph_read(path, &st);
        struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
        assert_non_null(l);
        for (int32_t o = 0; o < l->graph->op_count; o++) {
            struct op_index x;
            op_index_of(l->graph, &l->graph->ops[o], &x);
            for (int i = 0; x.known && !carries(l, &x, o) && i < x.operand_count; i++)
                for (int k = 0; k < 40; k++, checked++) check_operand(l, o, &x, i, &r);
        }
        lx_layouts_free(l);
        lx_graph_free(g);
    }
    assert_true(checked > 5000);
}

static struct lx_layouts *layouts_with(const char *body, enum lx_weights weights, lx_status *st)
{
    char text[4000];
    int n = snprintf(text, sizeof text, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", %s}", body);
    const struct lx_graph *g = lx_graph_of_text("t", text, (size_t)n, st);
    struct lx_layouts *l = g ? lx_layouts_make(g, weights, st) : NULL;
    lx_graph_free(g);
    return l;
}

static struct lx_layouts *layouts_of(const char *body, lx_status *st)
{
    return layouts_with(body, LX_WEIGHTS_FREE, st);
}

/* A weight that lies along its sum is packed along its columns, and nothing moves; as an input, or in the
 * file's layout, it or the rows are turned, but where the device turns what it reads. */
static void test_weights_are_packed(void **state)
{
    static const char form[] =
        "\"device\": {\"preset\": \"spyre\", \"turns\": %d}, "
        "\"tensors\": [{\"name\": \"x\", \"shape\": [96, 512]}, {\"name\": \"w\", \"shape\": [1024, 512], "
        "\"role\": \"%s\"}, {\"name\": \"y\", \"shape\": [96, 1024]}], \"ops\": [{\"name\": \"a\", \"kind\": "
        "\"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"md,nd->mn\"}]";
    static const struct {
        const char *role;
        enum lx_weights weights;
        int stick, turns, device;
    } rows[] = {{"weight", LX_WEIGHTS_FREE, 0, 0, 0},
                {"weight", LX_WEIGHTS_FIXED, 1, 1, 0},
                {"input", LX_WEIGHTS_FREE, 1, 1, 0},
                {"input", LX_WEIGHTS_FREE, 1, 0, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[1000];
        lx_status st = {0};
        snprintf(body, sizeof body, form, rows[i].device, rows[i].role);
        struct lx_layouts *l = layouts_with(body, rows[i].weights, &st);
        assert_non_null(l);
        assert_int_equal(l->layouts[1].stick_dim, rows[i].stick);
        assert_int_equal(l->restickify_count, rows[i].turns);
        lx_layouts_free(l);
    }
}

/* The images of few channels are turned along these, not along the images: as the side whose rows are padded
 * to whole sticks they would be 64 channels. */
static void test_few_channels(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_layouts *l =
        layouts_of("\"tensors\": [{\"name\": \"x\", \"shape\": [8, 3, 32, 32]}, {\"name\": \"w\", \"shape\": "
                   "[64, 3, 3, 3], \"role\": \"weight\"}, {\"name\": \"y\", \"shape\": [8, 64, 30, 30]}], "
                   "\"ops\": [{\"name\": \"c\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], "
                   "\"output\": \"y\", \"einsum\": \"bchw,kcpq->bkyx\", \"windows\": [{\"in\": \"h\", "
                   "\"out\": \"y\", \"tap\": \"p\"}, {\"in\": \"w\", \"out\": \"x\", \"tap\": \"q\"}]}]",
                   &st);
    assert_non_null(l);
    assert_int_equal(l->restickify_count, 1);
    const struct lx_layout *y = &l->layouts[l->restickifies[0].to];
    assert_int_equal(y->stick_dim, 1);
    assert_int_equal(lx_layout_bytes(y), 8 * 32 * 32 * 128);
    lx_layouts_free(l);
}

/* q k^T, twice: all have their sticks along d. Turning k once is cheaper than turning each q, and both share
 * it. */
static void test_restickify_is_shared(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_layouts *l =
        layouts_of("\"tensors\": [{\"name\": \"q\", \"shape\": [2048, 64]}, {\"name\": \"k\", \"shape\": "
                   "[512, 64]}, {\"name\": \"q2\", \"shape\": "
                   "[2048, 64]}, {\"name\": \"s\", \"shape\": [2048, 512]}, {\"name\": \"s2\", \"shape\": "
                   "[2048, 512]}, {\"name\": \"y\", \"shape\": "
                   "[2048, 512]}], \"ops\": [{\"name\": \"a\", \"kind\": \"matmul\", \"inputs\": [\"q\", "
                   "\"k\"], \"output\": \"s\", \"einsum\": "
                   "\"md,nd->mn\"}, {\"name\": \"b\", \"kind\": \"matmul\", \"inputs\": [\"q2\", \"k\"], "
                   "\"output\": \"s2\", \"einsum\": \"md,nd->mn\"}, "
                   "{\"name\": \"c\", \"kind\": \"add\", \"inputs\": [\"s\", \"s2\"], \"output\": \"y\"}]",
                   &st);
    assert_non_null(l);
    assert_int_equal(l->moved_elements, 512 * 64);
    assert_int_equal(l->moved_bound, l->moved_elements);
    assert_int_equal(l->restickify_count, 1);
    lx_layouts_free(l);
}

/* A row reduction leaves one element per stick, which is just what the broadcast after it needs. */
static void test_sparse_rows(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_layouts *l = layouts_of(
        "\"tensors\": [{\"name\": \"x\", \"shape\": [64, 128]}, {\"name\": \"m\", \"shape\": [64]}, "
        "{\"name\": \"y\", \"shape\": [64, 128]}], "
        "\"ops\": [{\"name\": \"a\", \"kind\": \"max\", \"inputs\": [\"x\"], \"output\": \"m\", \"einsum\": "
        "\"ab->a\"}, {\"name\": \"b\", "
        "\"kind\": \"sub\", \"inputs\": [\"x\", \"m\"], \"output\": \"y\", \"einsum\": \"ab,a->ab\"}]",
        &st);
    assert_non_null(l);
    assert_int_equal(l->restickify_count, 0);
    assert_int_equal(l->layouts[1].stick_dim, -1);
    assert_int_equal(lx_layout_bytes(&l->layouts[1]), 64 * 128);
    size_t length;
    char *json = lx_layouts_to_json(l, &length);
    assert_non_null(json);
    mem_free(json);
    lx_layouts_free(l);
}

/* Sixty parts of one tensor, each off its sticks along both dimensions: one copy with an element per stick would move
 * least, and make everything behind it 32 times as large. */
static void test_sparse_is_no_way_out(void **state)
{
    (void)state;
    enum { PARTS = 60, SIDE = 64, PART = 40 };
    struct text t = {0}, ops = {0};
    lx_status st = {0};
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [");
    text_format(&t, "{\"name\": \"x\", \"shape\": [%d, %d], \"dtype\": \"fp32\"}", SIDE, SIDE);
    for (int i = 0; i < PARTS; i++) {
        text_format(&t, ", {\"name\": \"p%d\", \"shape\": [%d, %d], \"dtype\": \"fp32\"}", i, PART, PART);
        text_format(&ops,
                    "%s{\"name\": \"o%d\", \"kind\": \"slice\", \"inputs\": [\"x\"], \"output\": \"p%d\", "
                    "\"offset\": [%d, %d]}",
                    i ? ", " : "", i, i, 1 + i % 20, 1 + i / 3);
    }
    text_format(&t, "], \"ops\": [%s]}", ops.at);
    const struct lx_graph *g = lx_graph_of_text("t", t.at, t.length, &st);
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
    assert_non_null(l);
    for (int32_t i = 0; i < l->graph->tensor_count; i++) assert_true(l->layouts[i].stick_dim >= 0);
    assert_true(l->moved_elements >= l->moved_bound);
    lx_layouts_free(l);
    lx_graph_free(g);
    text_free(&t);
    text_free(&ops);
}

static void test_dead_ops_and_padding(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_layouts *l =
        layouts_of("\"tensors\": [{\"name\": \"x\", \"shape\": [64, 100]}, {\"name\": \"w\", \"shape\": "
                   "[100, 128]}, {\"name\": \"y\", \"role\": "
                   "\"output\", \"shape\": [64, 128]}, {\"name\": \"unused\", \"shape\": [64, 128], "
                   "\"role\": \"intermediate\"}], \"ops\": [{\"name\": \"a\", \"kind\": "
                   "\"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"mk,kn->mn\"}, "
                   "{\"name\": \"b\", \"kind\": \"relu\", "
                   "\"inputs\": [\"y\"], \"output\": \"unused\"}]",
                   &st);
    assert_non_null(l);
    assert_int_equal(l->dead_ops, 1);
    assert_int_equal(l->graph->op_count, 1);
    assert_int_equal(l->padding_count, 1);
    assert_int_equal(l->paddings[0].to, 128);
    assert_int_equal(l->layouts[l->paddings[0].tensor].size[1], 128);
    lx_layouts_free(l);
}

/* A model whose ops were all folded may leave nothing: it has layouts too, none. */
static void test_nothing_left(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_layouts *l = layouts_of("\"tensors\": [], \"ops\": []", &st);
    assert_non_null(l);
    assert_int_equal(l->graph->op_count, 0);
    assert_int_equal(l->graph->tensor_count, 0);
    lx_layouts_free(l);
}

static void test_lists_are_refused(void **state)
{
    (void)state;
    lx_status st = {0};
    assert_null(layouts_of("\"buffers\": [{\"name\": \"a\", \"size\": 128, \"uses\": [0, 1]}]", &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
}

/* A stick has whole elements. */
static void test_broken_sticks_are_refused(void **state)
{
    (void)state;
    static const int64_t bytes[] = {1, 3, 6, 4};
    for (int i = 0; i < 4; i++) {
        struct lx_layout y;
        lx_status st = {0};
        bool whole = bytes[i] % 4 == 0;
        assert_int_equal(lx_layout_make(LX_FP32, 1, (int64_t[]){8}, NULL, NULL, 0, bytes[i], &y, &st), whole);
        assert_int_equal(st.code, whole ? LX_OK : LX_E_LAYOUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_operand_coordinates),
        cmocka_unit_test(test_weights_are_packed),
        cmocka_unit_test(test_restickify_is_shared),
        cmocka_unit_test(test_sparse_rows),
        cmocka_unit_test(test_dead_ops_and_padding),
        cmocka_unit_test(test_lists_are_refused),
        cmocka_unit_test(test_sparse_is_no_way_out),
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_few_channels),
        cmocka_unit_test(test_broken_sticks_are_refused),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
