/* Launches: every tile exactly once, evenly, in every order and on every grid, by brute force; and each
 * complaint under its own code. */
#include "unstable.h"
#include "base/memory.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const m_and_n[] = {"M", "N"};

static struct lx_launch *launch(const struct lx_launch_request *r)
{
    lx_status st = {0};
    struct lx_launch *l = lx_launch_make(r, &st);
    if (!l) fail_msg("%s", st.text);
    return l;
}

/* Every tile of the grid belongs to one core, and comes up once. */
static void expect_each_once(const struct lx_launch *l)
{
    int64_t tiles = l->batch * l->mt * l->nt;
    unsigned char *seen = mem_zeroed((size_t)tiles + 1, 1);
    assert_non_null(seen);
    for (int32_t i = 0; i < l->core_count; i++)
        for (int64_t t = 0; t < l->cores[i].count; t++) {
            struct lx_tile tile = lx_launch_tile(l, &l->cores[i], t);
            assert_true(tile.batch >= 0 && tile.batch < l->batch && tile.row >= 0 && tile.row < l->mt);
            assert_true(tile.column >= 0 && tile.column < l->nt);
            assert_int_equal(tile.id, (tile.batch * l->mt + tile.row) * l->nt + tile.column);
            assert_int_equal(seen[tile.id]++, 0);
        }
    for (int64_t t = 0; t < tiles; t++) assert_int_equal(seen[t], 1);
    mem_free(seen);
}

static int64_t spread(const struct lx_launch *l)
{
    int64_t least = INT64_MAX, most = 0;
    for (int32_t i = 0; i < l->core_count; i++) {
        if (l->cores[i].count < least) least = l->cores[i].count;
        if (l->cores[i].count > most) most = l->cores[i].count;
    }
    return most - least;
}

static void test_each_tile_once(void **state)
{
    (void)state;
    static const enum lx_tile_order orders[] = {LX_ROW_MAJOR, LX_COLUMN_MAJOR, LX_BLOCK, LX_MORTON};
    for (int mt = 1; mt <= 9; mt += 2)
        for (int nt = 1; nt <= 10; nt += 3)
            for (int batch = 1; batch <= 3; batch++)
                for (int y = 1; y <= 4; y++)
                    for (int x = 1; x <= 5; x += 2)
                        for (int o = 0; o < 8; o++) {
                            struct lx_launch_request r = {.order = orders[o / 2],
                                                          .share =
                                                              o % 2 ? LX_SHARE_CHUNKS : LX_SHARE_BALANCED,
                                                          .batch = batch,
                                                          .grid = {mt, nt},
                                                          .core_grid = {y, x}};
                            struct lx_launch *l = launch(&r);
                            assert_int_equal(l->core_count, y * x);
                            expect_each_once(l);
                            if (r.share == LX_SHARE_BALANCED && r.order != LX_BLOCK)
                                assert_true(spread(l) <= 1);
                            lx_launch_free(l);
                        }
}

static void test_shards_once(void **state)
{
    (void)state;
    for (int64_t gy = 1; gy <= 4; gy++)
        for (int64_t gx = 1; gx <= 4; gx++)
            for (int64_t mt = 1; mt <= 9; mt++)
                for (int64_t nt = 1; nt <= 9; nt += 2) {
                    const int64_t grid[] = {gy, gx};
                    struct lx_shard shard = {.axis_count = 2, .grid_rank = 2, .axes = m_and_n, .grid = grid};
                    struct lx_launch_operand operands[] = {
                        {.name = "A"},
                        {.name = "C", .memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &shard}};
                    struct lx_launch_request r = {
                        .operands = operands, .operand_count = 2, .batch = 2, .grid = {mt, nt}};
                    struct lx_launch *l = launch(&r);
                    assert_int_equal(l->mode, LX_PARTITION_LOCAL_SHARD);
                    assert_int_equal(l->core_grid[0], gy);
                    assert_int_equal(l->core_grid[1], gx);
                    expect_each_once(l);
                    for (int32_t i = 0; i < l->core_count; i++) {
                        const struct lx_launch_core *c = &l->cores[i];
                        for (int64_t t = 0; t < c->count; t++) {
                            struct lx_tile tile = lx_launch_tile(l, c, t);
                            assert_int_equal(tile.row / l->shard_tiles[0], c->sy);
                            assert_int_equal(tile.column / l->shard_tiles[1], c->sx);
                        }
                    }
                    lx_launch_free(l);
                }
}

static void test_orders_are_bijections(void **state)
{
    (void)state;
    static const enum lx_tile_order orders[] = {LX_ROW_MAJOR, LX_COLUMN_MAJOR, LX_MORTON};
    for (int o = 0; o < 3; o++)
        for (int64_t rows = 1; rows <= 17; rows++)
            for (int64_t columns = 1; columns <= 17; columns++) {
                bool seen[17][17] = {{false}};
                for (int64_t t = 0; t < rows * columns; t++) {
                    int64_t row, column;
                    lx_tile_recover(orders[o], rows, columns, t, &row, &column);
                    assert_true(row >= 0 && row < rows && column >= 0 && column < columns);
                    assert_false(seen[row][column]);
                    seen[row][column] = true;
                }
            }
}

/* On a grid of any size: the order of the codes themselves, missing tiles left out. */
static void test_morton_follows_the_codes(void **state)
{
    (void)state;
    for (int64_t rows = 1; rows <= 11; rows++)
        for (int64_t columns = 1; columns <= 11; columns++) {
            int64_t t = 0;
            for (unsigned code = 0; code < 256; code++) {
                int64_t row = 0, column = 0, got_row, got_column;
                for (int bit = 0; bit < 4; bit++) {
                    column |= (int64_t)((code >> (2 * bit)) & 1) << bit;
                    row |= (int64_t)((code >> (2 * bit + 1)) & 1) << bit;
                }
                if (row >= rows || column >= columns) continue;
                lx_tile_recover(LX_MORTON, rows, columns, t++, &got_row, &got_column);
                assert_int_equal(row, got_row);
                assert_int_equal(column, got_column);
            }
            assert_int_equal(t, rows * columns);
        }
}

static void test_shares(void **state)
{
    (void)state;
    for (int64_t tiles = 0; tiles <= 70; tiles++)
        for (int64_t cores = 1; cores <= 20; cores++)
            for (int share = 0; share < 2; share++) {
                int64_t next = 0;
                for (int64_t i = 0; i < cores; i++) {
                    int64_t start, count;
                    lx_share_of(share ? LX_SHARE_CHUNKS : LX_SHARE_BALANCED, tiles, cores, i, &start, &count);
                    assert_int_equal(start, next);
                    assert_true(count >= 0);
                    if (!share) assert_true(count == tiles / cores + (i < tiles % cores));
                    next += count;
                }
                assert_int_equal(next, tiles);
            }
    int64_t start, count;
    lx_share_of(LX_SHARE_BALANCED, (int64_t)1 << 53, 65535, 65534, &start, &count);
    assert_int_equal(start + count, (int64_t)1 << 53);
}

static void test_row_major_is_first_axis_slowest(void **state)
{
    (void)state;
    struct lx_launch_request r = {.batch = 2, .grid = {8, 8}, .core_grid = {1, 1}};
    struct lx_launch *l = launch(&r);
    struct lx_tile t = lx_launch_tile(l, l->cores, 64 + 8 * 3 + 5);
    assert_int_equal(t.batch, 1);
    assert_int_equal(t.row, 3);
    assert_int_equal(t.column, 5);
    lx_launch_free(l);
}

static void test_arguments(void **state)
{
    (void)state;
    static const char *const names[] = {"start_id", "count", "Mt", "Kt", "Nt", "Sm",
                                        "Sn",       "Gy",    "Gx", "sy", "sx"};
    const int64_t grid[] = {2, 4};
    struct lx_shard shard = {.axis_count = 2, .grid_rank = 2, .axes = m_and_n, .grid = grid};
    struct lx_launch_operand o = {
        .name = "C", .memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &shard};
    struct lx_launch_request r = {.operands = &o, .operand_count = 1, .output = {256, 256}, .k_tiles = 3};
    struct lx_launch *l = launch(&r);
    int64_t values[LX_LAUNCH_ARGS];
    static const int64_t wanted[] = {0, 8, 8, 3, 8, 4, 2, 2, 4, 1, 2};
    assert_int_equal(lx_launch_arg_count(l), 11);
    lx_launch_args(l, &l->cores[6], values);
    for (int i = 0; i < 11; i++) {
        assert_string_equal(lx_launch_arg_name(i), names[i]);
        assert_int_equal(values[i], wanted[i]);
    }
    lx_launch_free(l);
    r.operand_count = 0;
    l = launch(&r);
    assert_int_equal(lx_launch_arg_count(l), 5);
    lx_launch_free(l);
}

static void test_operand_complaints(void **state)
{
    (void)state;
    const int64_t pair[] = {2, 4}, one[] = {4}, nothing[] = {0, 4};
    static const char *const others[] = {"H", "W"}, *const only_n[] = {"N"};
    struct lx_shard good = {.axis_count = 2, .grid_rank = 2, .axes = m_and_n, .grid = pair};
    struct lx_shard loose = good, odd = good, no_axes = good, no_grid = good, wrong = good, uneven = good,
                    flat = good, empty = good;
    loose.unaligned = true;
    odd.elements[0] = 48;
    odd.elements[1] = 64;
    no_axes.axis_count = 0;
    no_grid.grid_rank = 0;
    wrong.axes = others;
    uneven.grid_rank = 1;
    flat = (struct lx_shard){.axis_count = 1, .grid_rank = 1, .axes = only_n, .grid = one};
    empty.grid = nothing;
    const struct {
        struct lx_launch_operand o;
        enum lx_code code;
    } rows[] = {
        {{.memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &good}, LX_OK},
        {{.memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &flat}, LX_OK},
        {{.memory = lx_memory_find("HBM2")}, LX_E_LAUNCH_MEMORY},
        {{.placing = lx_placing_find("tiled")}, LX_E_LAUNCH_LAYOUT},
        {{.memory = LX_MEMORY_LX, .placing = LX_SHARDED}, LX_E_LAUNCH_NO_SHARD},
        {{.memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &loose}, LX_E_LAUNCH_ALIGN},
        {{.memory = LX_MEMORY_LX, .placing = LX_SHARDED, .shard = &odd}, LX_E_LAUNCH_ALIGN},
        {{.memory = LX_MEMORY_LX, .tile_rank = 2, .tile = {64, 32}}, LX_E_LAUNCH_TILE_BYTES},
        {{.memory = LX_MEMORY_LX, .element_bits = 32}, LX_E_LAUNCH_TILE_BYTES},
        {{.memory = LX_MEMORY_LX, .element_bits = 8, .tile_rank = 2, .tile = {64, 32}}, LX_OK},
        {{.has_halo = true}, LX_E_LAUNCH_HALO},
        {{.tile_rank = 3, .tile = {32, 32}}, LX_E_LAUNCH_TILE_SHAPE},
        {{.tile_rank = 2, .tile = {32, 0}}, LX_E_LAUNCH_TILE_SHAPE},
        {{.shard = &no_axes}, LX_E_LAUNCH_SHARD_AXES},
        {{.shard = &no_grid}, LX_E_LAUNCH_SHARD_AXES},
        {{.shard = &wrong}, LX_E_LAUNCH_SHARD_AXES},
        {{.shard = &uneven}, LX_E_LAUNCH_SHARD_AXES},
        {{.shard = &empty}, LX_E_LAUNCH_SHARD_AXES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lx_launch_operand o = rows[i].o;
        lx_status st = {0};
        o.name = "x";
        bool ok = lx_launch_check_operand(&o, &st);
        if (ok != (rows[i].code == LX_OK) || st.code != rows[i].code)
            fail_msg("row %zu: %s: %s", i, lx_code_word(st.code), st.text);
        if (!ok) assert_non_null(strchr(st.text, 'x')); /* names the operand */
    }
}

static void test_requests_that_cannot_be(void **state)
{
    (void)state;
    const struct {
        struct lx_launch_request r;
        enum lx_code code;
    } rows[] = {
        {{.partition = LX_PARTITION_LOCAL_SHARD}, LX_E_LAUNCH_NO_SHARD},
        {{.order = LX_MATCH_SHARD}, LX_E_LAUNCH_NO_SHARD},
        {{.core_grid = {-1, 2}}, LX_E_LAUNCH_GRID},
        {{.core_grid = {1 << 10, 1 << 10}}, LX_E_LAUNCH_GRID},
        {{.core_grid = {4, 4}, .device_grid = {2, 8}}, LX_E_LAUNCH_GRID},
        {{.grid = {-1, 4}}, LX_E_LAUNCH_GRID},
        {{.output = {-5, 4}}, LX_E_LAUNCH_GRID},
        {{.batch = -1}, LX_E_LAUNCH_GRID},
        {{.grid = {(int64_t)1 << 40, (int64_t)1 << 40}}, LX_E_LAUNCH_GRID},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lx_status st = {0};
        if (lx_launch_make(&rows[i].r, &st)) fail_msg("row %zu is accepted", i);
        if (st.code != rows[i].code) fail_msg("row %zu: %s: %s", i, lx_code_word(st.code), st.text);
    }
}

#define PLAN(grid, ranges, work)                                                                             \
    "{\"schema_version\": 1, \"core_grid\": " grid ", \"core_ranges\": " ranges                              \
    ", \"work_partition\": " work ", \"layouts\": {}}"

static void test_runtime_plans(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum lx_code code;
    } rows[] = {
        {PLAN("[2, 3]", "[{\"start\": [0, 0], \"extent\": [2, 3]}]", "{\"(1,2)\": [0, 1]}"), LX_OK},
        {PLAN("[2, 3]", "[{\"start\": [1, 0], \"extent\": [2, 3]}]", "{}"), LX_E_LAUNCH_RANGE},
        {PLAN("[2, 3]", "[{\"start\": [-1, 0], \"extent\": [1, 1]}]", "{}"), LX_E_LAUNCH_START},
        {PLAN("[2, 3]", "[{\"start\": [0, 0]}]", "{}"), LX_E_LAUNCH_FIELD},
        {PLAN("[2, 3]", "[7]", "{}"), LX_E_LAUNCH_FIELD},
        {PLAN("[2, 3]", "7", "{}"), LX_E_LAUNCH_RANGE},
        {PLAN("[2]", "[]", "{}"), LX_E_LAUNCH_GRID},
        {PLAN("[2, \"x\"]", "[]", "{}"), LX_E_LAUNCH_GRID},
        {PLAN("[2, 3]", "[]", "{\"core_0_1\": []}"), LX_E_LAUNCH_KEY},
        {PLAN("[2, 3]", "[]", "{\"(0, 1)\": []}"), LX_E_LAUNCH_KEY},
        {PLAN("[2, 3]", "[]", "{\"(2,0)\": []}"), LX_E_LAUNCH_KEY},
        {PLAN("[2, 3]", "[]", "[]"), LX_E_LAUNCH_KEY},
        {"{\"schema_version\": 1}", LX_E_LAUNCH_FIELD},
        {"[]", LX_E_SCHEMA},
        {"{", LX_E_SYNTAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lx_status st = {0};
        bool ok = lx_runtime_plan_check("plan.json", rows[i].text, strlen(rows[i].text), &st);
        if (ok != (rows[i].code == LX_OK) || st.code != rows[i].code)
            fail_msg("row %zu: %s: %s", i, lx_code_word(st.code), st.text);
    }
    struct lx_launch_request r = {.grid = {5, 7}, .core_grid = {2, 3}};
    struct lx_launch *l = launch(&r);
    size_t length;
    lx_status st = {0};
    char *json = lx_launch_to_json(l, NULL, 0, &length);
    assert_true(json && lx_runtime_plan_check("ours", json, length, &st));
    mem_free(json);
    lx_launch_free(l);
}

static struct lx_plan *planned_in_tiles(const struct lx_graph *g)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .objective = LX_ASK_TRAFFIC};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    return p;
}

/* Seed 002: a product of 8 x 8 tiles with its output in L1 has the grid [8, 8] and shards of [1, 1] tiles on 8 x 8
 * cores, without hints; the op behind it keeps the shards. */
static void test_document_example(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": \"tenstorrent\", \"tensors\": ["
        "{\"name\": \"a\", \"shape\": [256, 512], \"dtype\": \"bf16\"}, "
        "{\"name\": \"b\", \"shape\": [512, 256], \"dtype\": \"bf16\"}, "
        "{\"name\": \"c\", \"shape\": [256, 256], \"dtype\": \"bf16\", \"memory\": \"L1\", \"placing\": "
        "\"sharded\"}, "
        "{\"name\": \"d\", \"shape\": [256, 256], \"dtype\": \"bf16\"}], \"ops\": ["
        "{\"name\": \"mm\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\", \"einsum\": "
        "\"mk,kn->mn\"}, {\"name\": \"r\", \"kind\": \"relu\", \"inputs\": [\"c\"], \"output\": \"d\"}]}";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = planned_in_tiles(g);
    for (int32_t o = 0; o < 2; o++) {
        const struct lx_launch *l = p->launches[o].launch;
        assert_int_equal(l->mode, LX_PARTITION_LOCAL_SHARD);
        assert_int_equal(l->core_count, 64);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(l->shard_grid[i], 8);
            assert_int_equal(l->shard_tiles[i], 1);
        }
    }
    lx_plan_free(p);
    lx_graph_free(g);
}

/* On a device of tiles, shards of rows and columns that are whole tiles are whole tiles. */
static void test_shards_are_tiles(void **state)
{
    (void)state;
    enum { SIDE = 32 };
    static const char *const names[] = {"gq_attention", "mha_4h", "mlp", "moe_mlp", "rms_norm", "swiglu"};
    int shards = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        lx_status st = {0};
        struct lx_device device;
        snprintf(path, sizeof path, SOURCE_DIR "/patterns/graphs/%s.json", names[i]);
        const struct lx_graph *given = lx_graph_read(path, &st);
        if (!given) fail_msg("%s", st.text);
        assert_true(lx_device_preset("tenstorrent", &device));
        const struct lx_graph *g = lx_graph_with_device(given, &device);
        assert_non_null(g);
        struct lx_plan *p = planned_in_tiles(g);
        for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
            const struct lx_op_launch *l = &p->launches[o];
            if (!l->launch || l->launch->mode != LX_PARTITION_LOCAL_SHARD) continue;
            for (int d = l->rank > 2 ? l->rank - 2 : 0; d < l->rank; d++) {
                shards++;
                if (l->dim[d].extent % SIDE == 0 && l->dim[d].part % SIDE != 0)
                    fail_msg("%s: op %d has shards of %lld", names[i], (int)o, (long long)l->dim[d].part);
            }
        }
        lx_plan_free(p);
        lx_graph_free(g);
        lx_graph_free(given);
    }
    assert_true(shards > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_tile_once),
        cmocka_unit_test(test_document_example),
        cmocka_unit_test(test_shards_are_tiles),
        cmocka_unit_test(test_shards_once),
        cmocka_unit_test(test_orders_are_bijections),
        cmocka_unit_test(test_morton_follows_the_codes),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_row_major_is_first_axis_slowest),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_operand_complaints),
        cmocka_unit_test(test_requests_that_cannot_be),
        cmocka_unit_test(test_runtime_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
