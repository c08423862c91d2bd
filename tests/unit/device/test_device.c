/* The device, piece by piece: numbers, boxes, packing, data, the reference, faults, traces. */
#include "support/device_plans.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/rng.h"
#include "device/execute/arith.h"
#include "device/memory/stick_box.h"
#include "device/memory/dtypes.h"
#include "device/reference/reference.h"
#include "support/host_copy.h"
#include "support/made_reference.h"

#include <math.h>

static float decode_one(enum lx_dtype d, const void *item)
{
    float f;
    items_decode(&number_types[d], item, 1, &f);
    return f;
}

/* Every code of a small type decodes to a number that encodes to the same code. */
static void codes_come_back(void **state)
{
    (void)state;
    for (int c = 0; c < 65536; c++) {
        static const enum lx_dtype types[] = {LX_FP16, LX_BF16};
        for (int k = 0; k < 2; k++) {
            uint16_t code = (uint16_t)c, back;
            float f = decode_one(types[k], &code);
            items_encode(&number_types[types[k]], &f, 1, &back);
            if (isnan(f))
                assert_true(isnan(decode_one(types[k], &back)));
            else
                assert_int_equal(back, code);
        }
    }
    for (int c = 0; c < 256; c++) {
        static const enum lx_dtype types[] = {LX_FP8, LX_INT8};
        for (int k = 0; k < 2; k++) {
            uint8_t code = (uint8_t)c, back;
            float f = decode_one(types[k], &code);
            items_encode(&number_types[types[k]], &f, 1, &back);
            if (!isnan(f)) assert_int_equal(back, code);
        }
    }
}

static void numbers_round_to_nearest(void **state)
{
    (void)state;
    struct {
        enum lx_dtype type;
        float from, to;
    } rows[] = {{LX_FP16, 2049, 2048},
                {LX_FP16, 2051, 2052},
                {LX_FP16, 65519, 65504},
                {LX_FP16, 65520, INFINITY},
                {LX_FP16, 0x1p-25f, 0},
                {LX_FP16, 0x1.8p-25f, 0x1p-24f},
                {LX_BF16, 257, 256},
                {LX_BF16, 259, 260},
                {LX_FP8, 17, 16},
                {LX_FP8, 19, 20},
                {LX_FP8, 448, 448},
                {LX_FP8, 0x1p-10f, 0},
                {LX_FP8, 0x1.8p-10f, 0x1p-9f},
                {LX_INT8, 2.5f, 2},
                {LX_INT8, 3.5f, 4},
                {LX_INT8, 1000, 127},
                {LX_INT4, -20, -8},
                {LX_INT32, 1e20f, 2147483648.0f},
                {LX_BOOL, 3, 1},
                {LX_FP32, 0.1f, 0.1f}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t item = 0;
        items_encode(&number_types[rows[i].type], &rows[i].from, 1, &item);
        assert_true(decode_one(rows[i].type, &item) == rows[i].to);
    }
    uint16_t code;
    float none = NAN;
    items_encode(&number_types[LX_FP16], &none, 1, &code);
    assert_true(isnan(decode_one(LX_FP16, &code)));
}

/* Two elements per byte, at odd places too. */
static void nibbles_keep_their_neighbours(void **state)
{
    (void)state;
    unsigned char memory[4] = {0xff, 0xff, 0xff, 0xff};
    int8_t items[3] = {1, -2, 7}, back[3];
    float f[3];
    items_to_memory(&number_types[LX_INT4], items, 3, memory, 3);
    items_from_memory(&number_types[LX_INT4], memory, 3, 3, back);
    assert_memory_equal(items, back, 3);
    assert_true(memory[0] == 0xff && (memory[1] & 15) == 15 && memory[3] == 0xff);
    number_types[LX_INT4].decode(memory, 3, 3, f);
    assert_true(f[0] == 1 && f[1] == -2 && f[2] == 7);
}

static struct lx_layout random_layout(struct rng *r, int64_t *shape)
{
    static const enum lx_dtype types[] = {LX_FP16, LX_FP32, LX_INT8, LX_INT4, LX_BOOL, LX_FP8};
    struct lx_layout l;
    lx_status st = {0};
    int rank = (int)rng_between(r, 0, 4);
    for (int d = 0; d < rank; d++) shape[d] = rng_between(r, 1, d == rank - 1 ? 300 : 7);
    int stick = rank > 0 ? (int)rng_between(r, -1, rank - 1) : -1;
    assert_true(lx_layout_with_stick(types[rng_below(r, 6)], rank, shape, stick, 128, &l, &st));
    if (rank > 1 && stick != 0 && rng_below(r, 3) == 0) lx_layout_pad(&l, 0, shape[0] + 3);
    return l;
}

/* Items into device memory and back, and each stands where the layout stage says. */
static void packing_follows_the_layout(void **state)
{
    (void)state;
    struct rng r = rng_seed(1);
    for (int round = 0; round < 300; round++) {
        int64_t shape[LX_MAX_RANK] = {0}, at[LX_MAX_DEVICE_RANK], index[LX_MAX_RANK] = {0},
                strides[LX_MAX_DEVICE_RANK];
        struct lx_layout l = random_layout(&r, shape);
        const struct number_type *t = &number_types[l.dtype];
        int64_t count = 1;
        for (int d = 0; d < l.host_rank; d++) count *= shape[d];
        size_t bytes = (size_t)(count * t->item);
        unsigned char *items = mem_zeroed(bytes, 1), *back = mem_zeroed(bytes, 1);
        unsigned char *memory = mem_zeroed((size_t)lx_layout_bytes(&l), 1);
        float *numbers = mem_zeroed((size_t)count, sizeof *numbers);
        assert_true(items && back && memory && numbers);
        for (int64_t i = 0; i < count; i++) numbers[i] = (float)rng_below(&r, 8);
        items_encode(t, numbers, count, items);
        struct box b = box_whole(&l);
        struct region region;
        struct arena scratch = {0};
        region_whole(&l, &b, false, &scratch, &region);
        assert_true(region.within);
        assert_int_equal(region_sticks(&region), box_sticks(&b));
        pack_items_in(&l, &region, items, memory);
        pack_items_out(&l, &region, memory, back);
        assert_memory_equal(items, back, bytes);
        layout_strides(&l, strides);
        for (int64_t i = 0; i < count; i++) {
            int64_t rest = i, place = 0;
            for (int d = l.host_rank - 1; d >= 0; d--) {
                index[d] = rest % shape[d];
                rest /= shape[d];
            }
            layout_to_device(&l, index, at);
            for (int k = 0; k < l.rank; k++) place += at[k] * strides[k];
            float f;
            t->decode(memory, place, 1, &f);
            assert_true(f == decode_one(l.dtype, items + i * t->item));
        }
        arena_free(&scratch);
        mem_free(items);
        mem_free(back);
        mem_free(memory);
        mem_free(numbers);
    }
}

/* The parts of a view cover the tensor, each stick as often as the view says. */
static void parts_cover_the_tensor(void **state)
{
    (void)state;
    int64_t shape[2] = {12, 256}, origin[2] = {0};
    struct lx_layout l;
    lx_status st = {0};
    assert_true(lx_layout_with_stick(LX_FP16, 2, shape, 1, 128, &l, &st));
    struct lx_core_view v = {
        .cores = 12, .rank = 2, .slices = {2, 3}, .stride = {1, 4}, .representable = true};
    int held[48] = {0};
    for (int64_t c = 0; c < 12; c++) {
        struct box b = box_of_slice(&l, &v, origin, c);
        assert_int_equal(box_sticks(&b), 8);
        assert_int_equal(b.lo[0], c % 2 * 2);
        assert_int_equal(b.lo[1], c / 4 % 3 * 4);
        for (int64_t i = b.lo[0]; i < b.hi[0]; i++)
            for (int64_t k = b.lo[1]; k < b.hi[1]; k++) held[i * 12 + k]++;
    }
    for (int i = 0; i < 48; i++) assert_int_equal(held[i], 2);
    struct box none = box_of_slice(&l, &v, origin, 12);
    assert_int_equal(box_sticks(&none), 0);
}

#define TENSOR(name, role, dtype, shape)                                                                     \
    "{\"name\": \"" name "\", \"role\": \"" role "\", \"dtype\": \"" dtype "\", \"shape\": [" shape "]}"

static const struct lx_graph *parse(const char *tensors, const char *ops)
{
    struct text t = {0};
    lx_status st = {0};
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [%s], \"ops\": [%s]}",
                tensors, ops);
    const struct lx_graph *g = lx_graph_of_text("t.json", t.at, t.length, &st);
    if (!g) fail_msg("%s", st.text);
    text_free(&t);
    return g;
}

/* The whole pattern in fp64 against sums made by hand. */
static void reference_computes(void **state)
{
    (void)state;
    const struct lx_graph *g =
        parse(TENSOR("x", "input", "int8", "3, 5") "," TENSOR("w", "weight", "int8", "5, 2") "," TENSOR(
                  "y", "output", "int32", "3, 2") "," TENSOR("s", "output", "int32",
                                                             "2") "," TENSOR("p", "output", "int8", "2, 4"),
              "{\"name\": \"mm\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"y\", "
              "\"einsum\": \"mk,kn->mn\"}, {\"name\": \"s\", \"kind\": \"sum\", \"inputs\": [\"y\"], "
              "\"output\": \"s\", \"einsum\": \"mn->n\"}, {\"name\": \"p\", \"kind\": \"slice\", "
              "\"inputs\": [\"x\"], \"output\": \"p\", \"offset\": [1, 1]}");
    lx_status st = {0};
    struct lx_reference *r = made_reference(g, 3, 1, &st);
    struct pool *pool = pool_create(1);
    int8_t x[16], w[16];
    assert_true(r && pool);
    data_fill(g, 0, 3, pool, x, 15);
    data_fill(g, 1, 3, pool, w, 10);
    const double *y = r->outputs[2].numbers, *s = r->outputs[3].numbers, *p = r->outputs[4].numbers;
    assert_true(y && s && p && !r->outputs[0].numbers);
    for (int n = 0; n < 2; n++) {
        int total = 0;
        for (int m = 0; m < 3; m++) {
            int sum = 0;
            for (int k = 0; k < 5; k++) sum += x[m * 5 + k] * w[k * 2 + n];
            assert_true(y[m * 2 + n] == sum);
            total += sum;
        }
        assert_true(s[n] == total);
        for (int k = 0; k < 4; k++) assert_true(p[n * 4 + k] == x[(n + 1) * 5 + k + 1]);
    }
    pool_destroy(pool);
    lx_reference_free(r);
    lx_graph_free(g);
}

/* Every byte of every operand matters to an op on bytes. */
static void mixing_feels_every_byte(void **state)
{
    (void)state;
    const struct lx_graph *g = parse(
        "{\"name\": \"a\", \"role\": \"input\", \"bytes\": 100}, {\"name\": \"b\", \"role\": \"input\", "
        "\"bytes\": 20}, {\"name\": \"c\", \"role\": \"output\", \"bytes\": 30}",
        "{\"name\": \"o\", \"kind\": \"generic\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\"}");
    unsigned char a[104] = {0}, b[24] = {0}, first[32], other[32];
    struct mix_operand operands[2] = {{a, 100}, {b, 20}};
    for (int i = 0; i < 100; i++) a[i] = (unsigned char)i;
    mix_bytes(&g->ops[0], 0, operands, first, 30);
    for (int i = 0; i < 120; i++) {
        unsigned char *byte = i < 100 ? &a[i] : &b[i - 100];
        *byte ^= 1;
        mix_bytes(&g->ops[0], 0, operands, other, 30);
        assert_memory_not_equal(first, other, 30);
        *byte ^= 1;
    }
    lx_graph_free(g);
}

static struct lx_plan *softmax_plan(int64_t cores)
{
    const struct lx_graph *g = device_test_graph("graphs/softmax_512x1024.json");
    g = with_cores(g, cores);
    return plan_graph(g, "bestfit", &(struct lx_passes){0});
}

/* Threads change nothing, another seed changes the data, a shared reference serves. */
static void runs_are_reproducible(void **state)
{
    (void)state;
    struct lx_plan *p = softmax_plan(8);
    lx_status st = {0};
    struct lx_reference *ref = made_reference(p->graph, 5, 2, &st);
    struct lx_device_options rows[] = {{.seed = 5, .threads = 1},
                                       {.seed = 5, .threads = 3, .reference = ref},
                                       {.seed = 5, .threads = 2, .verify = LX_VERIFY_NONE},
                                       {.seed = 6, .threads = 2, .verify = LX_VERIFY_OUTPUTS}};
    uint64_t hash[4];
    for (int i = 0; i < 4; i++) {
        struct lx_run_result *r = lx_device_run(p, &rows[i], &st);
        assert_non_null(r);
        assert_true(r->ok);
        hash[i] = r->output_hash;
        assert_true(r->ops[0].verified == (rows[i].verify == LX_VERIFY_FULL));
        lx_run_result_free(r);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2] && hash[0] != hash[3]);
    rows[1].seed = 6;
    assert_null(lx_device_run(p, &rows[1], &st));
    assert_int_equal(st.code, LX_E_MISMATCH);
    lx_reference_free(ref);
    lx_plan_free(p);
}

/* A fault says who, where and what. */
static void faults_are_precise(void **state)
{
    (void)state;
    struct lx_plan *p = softmax_plan(32);
    lx_status st = {0};
    const struct lx_buffer *b = p->problem.buffers;
    bool moved = false;
    /* One that begins while another lives on is put in its place. */
    for (int32_t i = 0; i < p->problem.count && !moved; i++)
        for (int32_t k = 0; k < p->problem.count && !moved; k++)
            if (p->answer.address[i] >= 0 && p->answer.address[k] >= 0 && b[i].start < b[k].start &&
                b[k].start + 1 < b[i].end && p->stays[i].ring_source < 0) {
                p->answer.address[k] = p->answer.address[i];
                moved = true;
            }
    assert_true(moved);
    struct lx_run_result *r = lx_device_run(p, NULL, &st);
    assert_non_null(r);
    assert_false(r->ok);
    assert_true(r->fault_count > 0);
    const struct lx_fault *f = &r->faults[0];
    assert_true(f->tick >= 0 && f->core == 0 && f->address >= 0 && f->sticks > 0 && f->owner >= 0);
    assert_non_null(strstr(f->text, "core 0"));
    assert_non_null(strstr(f->text, "LX 0x"));
    assert_non_null(strstr(f->text, p->layouts->graph->ops[f->tick].name));
    assert_non_null(strstr(f->text, p->layouts->graph->tensors[f->owner].name));
    lx_run_result_free(r);
    lx_plan_free(p);
}

static void traces_are_json(void **state)
{
    (void)state;
    struct lx_plan *p = softmax_plan(4);
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, NULL, &st);
    assert_non_null(r);
    size_t length;
    char *trace = lx_run_trace(p, r, &length);
    assert_non_null(trace);
    struct json j;
    if (!json_parse(&j, "trace", trace, length, &st)) fail_msg("%s", st.text);
    json_free(&j);
    assert_non_null(strstr(trace, "\"core 3\""));
    assert_non_null(strstr(trace, "\"ph\": \"X\""));
    assert_non_null(strstr(trace, "hbm_read"));
    mem_free(trace);
    lx_run_result_free(r);
    lx_plan_free(p);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void count_report(void *context, const struct lx_run_progress *p)
{
    int *reports = context;
    assert_true(p->done >= 0 && p->done <= p->of);
    reports[p->part]++;
}

static void runs_report_how_far_they_are(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_plan *p = softmax_plan(2);
    int reports[LX_RUN_OPS + 1] = {0}; /* of each part */
    struct lx_device_options how = {.progress = count_report, .context = reports};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    assert_non_null(r);
    for (int k = 0; k <= LX_RUN_OPS; k++) assert_true(reports[k] > 0);
    lx_run_result_free(r);
    lx_plan_free(p);
}

static void what_cannot_run_is_said(void **state)
{
    (void)state;
    lx_status st = {0};
    const char *list = "id,lower,upper,size\n0,0,2,128\n1,1,3,128\n";
    const struct lx_graph *g = lx_graph_of_text("list.csv", list, strlen(list), &st);
    assert_non_null(g);
    struct lx_plan *p = plan_graph(g, "bestfit", &(struct lx_passes){0});
    assert_null(lx_device_run(p, NULL, &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
    lx_plan_free(p);
    p = softmax_plan(2);
    struct lx_device_options how = {.stop = stop_at_once};
    assert_null(lx_device_run(p, &how, &st));
    assert_int_equal(st.code, LX_E_STOPPED);
    assert_int_equal(lx_code_exit(st.code), 130);
    lx_plan_free(p);
    lx_run_result_free(NULL);
    lx_reference_free(NULL);
}

/* A plan that was written and read runs to the same bits. */
static void plan_files_run(void **state)
{
    (void)state;
    struct lx_plan *p = softmax_plan(32);
    lx_status st = {0};
    size_t length;
    char *json = lx_plan_to_json(p, &length);
    assert_non_null(json);
    struct lx_plan *again = lx_plan_of_text("p.json", json, length, &st);
    if (!again) fail_msg("%s", st.text);
    struct lx_run_result *a = lx_device_run(p, NULL, &st), *b = lx_device_run(again, NULL, &st);
    assert_true(a && b && a->ok && b->ok);
    assert_true(a->output_hash == b->output_hash && a->total.ring == b->total.ring);
    mem_free(json);
    lx_run_result_free(a);
    lx_run_result_free(b);
    lx_plan_free(p);
    lx_plan_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_come_back),
        cmocka_unit_test(numbers_round_to_nearest),
        cmocka_unit_test(nibbles_keep_their_neighbours),
        cmocka_unit_test(packing_follows_the_layout),
        cmocka_unit_test(parts_cover_the_tensor),
        cmocka_unit_test(reference_computes),
        cmocka_unit_test(mixing_feels_every_byte),
        cmocka_unit_test(runs_are_reproducible),
        cmocka_unit_test(faults_are_precise),
        cmocka_unit_test(traces_are_json),
        cmocka_unit_test(runs_report_how_far_they_are),
        cmocka_unit_test(what_cannot_run_is_said),
        cmocka_unit_test(plan_files_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
