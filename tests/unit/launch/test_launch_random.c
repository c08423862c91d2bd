/* Launches of random ops, divisions, residencies and ways to deal tiles out: every point of the iteration space is
 * computed exactly once, on shards by the core whose slice of the division it is; all of it listed by hand. */
#include "support/listed_pieces.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/rng.h"
#include "launch/launch_grid.h"

#include <inttypes.h>

enum { GRAPHS = 1500, MOST_POINTS = 60000, CORES = 64 };

/* %c: extents by letter. Tensors a, b in, y out; shapes follow from the einsum. */
static const struct {
    const char *kind, *einsum;
    int inputs;
} shapes[] = {
    {"matmul", "mk,kn->mn", 2},    {"matmul", "mk,nk->mn", 2},
    {"matmul", "bmk,bkn->bmn", 2}, {"matmul", "bhmk,bhnk->bhmn", 2},
    {"matmul", "bmk,kn->bmn", 2},  {"sum", "mn->m", 1},
    {"sum", "mn->n", 1},           {"max", "bmn->bn", 1},
    {"mean", "bmn->m", 1},         {"exp", "mn->mn", 1},
    {"exp", "bhmn->bhmn", 1},      {"add", "mn,mn->mn", 2},
    {"sub", "mn,m->mn", 2},        {"clone", "mn->nm", 1},
    {"mul", "bmn,n->bmn", 2},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const dtypes[] = {"fp16", "bf16", "fp32", "fp8", "int8", "int32"};
static const char *const devices[] = {"\"spyre\"", "\"tenstorrent\"",
                                      "{\"preset\": \"spyre\", \"tile_rows\": 3, \"tile_columns\": 40}",
                                      "{\"preset\": \"tenstorrent\", \"stick_bytes\": 16, \"tile_rows\": 5}"};

struct totals {
    int launches, local, split_sums, cut_twice, listed, two_levels, uneven, skipped;
};

static int64_t extent_of(struct rng *r, const char *einsum)
{
    static const int64_t usual[] = {1,  2,  3,  5,  6,  7,  10, 12, 16,  17,
                                    24, 32, 33, 48, 60, 64, 70, 96, 128, 130};
    int letters = 0;
    for (const char *at = einsum; *at != '-'; at++) letters += *at != ',';
    return usual[rng_below(r, letters > 6 ? 7 : letters > 4 ? 13 : sizeof usual / sizeof *usual)];
}

/* "[3, 4]" of the letters up to `end`. */
static const char *add_shape(char *out, size_t *n, const char *letters, const int64_t *extent)
{
    *n += (size_t)sprintf(out + *n, "[");
    for (int i = 0; *letters >= 'a' && *letters <= 'z'; letters++, i++)
        *n += (size_t)sprintf(out + *n, "%s%" PRId64, i ? ", " : "", extent[*letters - 'a']);
    *n += (size_t)sprintf(out + *n, "]");
    return letters;
}

static const struct lx_graph *random_graph(struct rng *r)
{
    char text[2000];
    size_t n = 0;
    uint64_t which = rng_below(r, SHAPES);
    const char *at = shapes[which].einsum, *dtype = dtypes[rng_below(r, which < 5 ? 3 : 6)];
    int64_t extent[26];
    for (int i = 0; i < 26; i++) extent[i] = extent_of(r, at);
    n += (size_t)sprintf(
        text, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"r\", \"device\": %s, \"tensors\": [",
        devices[rng_below(r, 4)]);
    for (int i = 0; i <= shapes[which].inputs; i++) {
        n += (size_t)sprintf(text + n, "%s{\"name\": \"%c\", \"dtype\": \"%s\", \"shape\": ", i ? ", " : "",
                             i == shapes[which].inputs ? 'y' : 'a' + i, dtype);
        at = add_shape(text, &n, at, extent);
        at += *at == ',' ? 1 : 2;
        n += (size_t)sprintf(text + n, "}");
    }
    sprintf(text + n,
            "], \"ops\": [{\"name\": \"o\", \"kind\": \"%s\", \"einsum\": \"%s\", \"inputs\": [\"a\"%s], "
            "\"output\": \"y\"}]}",
            shapes[which].kind, shapes[which].einsum, shapes[which].inputs > 1 ? ", \"b\"" : "");
    lx_status st = {0};
    return lx_graph_of_text("r", text, strlen(text), &st); /* some kinds do not take some types */
}

/* A divisor of the units of each variable, as long as cores are left. */
static void random_splits(struct rng *r, const struct lx_division *d, int64_t *splits)
{
    int64_t left = CORES;
    for (int i = 0; i < d->split_count; i++) {
        splits[i] = 1;
        for (int tries = 0; tries < 4 && splits[i] == 1; tries++) {
            int64_t s = 1 + (int64_t)rng_below(r, 12);
            if (s <= left && d->splits[i].units % s == 0) splits[i] = s;
        }
        left /= splits[i];
    }
}

static struct lx_launch_options random_way(struct rng *r)
{
    struct lx_launch_options how = {.order = (enum lx_tile_order)rng_below(r, LX_LISTED),
                                    .share = (enum lx_share)rng_below(r, 2),
                                    .assign = rng_below(r, 4) == 0 ? LX_ASSIGN_DYNAMIC : LX_ASSIGN_STATIC};
    if (rng_below(r, 3) > 0) return how;
    for (int i = 0; i < 2; i++) how.tile[i] = 1 + (int64_t)rng_below(r, 40);
    for (int i = 0; i < 2 && rng_below(r, 2); i++) how.inner[0] = how.inner[1] = 1 + (int64_t)rng_below(r, 8);
    return how;
}

static void judge(const struct lx_divisions *d, int32_t op, struct rng *r, struct totals *t)
{
    const struct lx_graph *g = d->layouts->graph;
    bool on_chip[LX_MAX_OPERANDS] = {false};
    struct lx_launch_options how = random_way(r);
    lx_status st = {0};
    struct op_index x;
    op_index_of(g, &g->ops[op], &x);
    for (int i = 0; i < op_operand_count(&g->ops[op]); i++) on_chip[i] = rng_below(r, 3) == 0;
    struct lx_op_launch *o = all_points(&x) > MOST_POINTS ? NULL : lx_launch_of(d, op, on_chip, &how, &st);
    if (!o && st.code != LX_OK && st.code != LX_E_LAUNCH_TILE_BYTES) fail_msg("%s", st.text);
    t->skipped += !o;
    if (!o) return;
    bool local = o->launch->mode == LX_PARTITION_LOCAL_SHARD;
    int cut = 0;
    for (int i = 0; i < o->rank; i++) {
        cut += o->dim[i].parts > 1;
        t->uneven += o->dim[i].part % o->dim[i].side != 0;
    }
    if (!listed_once(o, &x, d->at[op].cores_used) || (local && !inside_slices(o, &x, &d->at[op])))
        fail_msg("%s %s, %s, order %s", g->ops[op].kind->name, g->ops[op].einsum ? g->ops[op].einsum : "",
                 lx_partition_word(o->launch->mode), lx_tile_order_word(o->launch->order));
    t->launches++;
    t->local += local;
    t->split_sums += o->k_slices > 1;
    t->cut_twice += cut > 1;
    t->listed += o->tiles != NULL;
    t->two_levels += lx_op_launch_two_levels(o);
    char *loop = lx_op_launch_loop(o, g);
    assert_true(loop && strstr(loop, "for i in 0..count:"));
    mem_free(loop);
    lx_op_launch_free(o);
}

static void each_point_once(void **state)
{
    (void)state;
    struct rng r = rng_seed(17);
    struct totals t = {0};
    for (int i = 0; i < GRAPHS; i++) {
        const struct lx_graph *g = random_graph(&r);
        lx_status st = {0};
        struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
        struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
        for (int32_t op = 0; d && op < d->count; op++)
            for (int k = 0; k < 4; k++) {
                struct arena memory = {0};
                struct lx_division other, *at = d->at;
                int64_t splits[LX_MAX_VARS];
                random_splits(&r, &d->at[op], splits);
                struct lx_divisions changed = *d;
                changed.at = arena_copy_array(&memory, d->at, (size_t)d->count, sizeof *d->at);
                if (lx_division_with(d, op, splits, &memory, &other, &st)) changed.at[op] = other;
                judge(&changed, op, &r, &t);
                assert_true(at == d->at);
                arena_free(&memory);
            }
        lx_divisions_free(d);
        lx_layouts_free(l);
        lx_graph_free(g);
    }
    print_message("%d launches: %d local_shard, %d with split sums, %d cut in two dimensions or more, %d "
                  "listed, %d of two "
                  "levels, %d uneven dimensions; %d skipped\n",
                  t.launches, t.local, t.split_sums, t.cut_twice, t.listed, t.two_levels, t.uneven,
                  t.skipped);
    assert_true(t.launches > 2000 && t.local > 500 && t.split_sums > 200 && t.cut_twice > 200 &&
                t.listed > 200 && t.two_levels > 100 && t.uneven > 200);
}

/* m/2 n/5 k/6 on 60 cores, the output on chip. */
static void a_split_of_three_variables(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": {\"preset\": \"tenstorrent\", "
        "\"tiled\": 0}, \"tensors\": ["
        "{\"name\": \"a\", \"shape\": [100, 96]}, {\"name\": \"b\", \"shape\": [96, 80]}, {\"name\": \"c\", "
        "\"shape\": [100, 80]}], \"ops\": [{\"name\": \"mm\", \"kind\": \"matmul\", \"einsum\": "
        "\"mk,kn->mn\", "
        "\"inputs\": [\"a\", \"b\"], \"output\": \"c\"}]}";
    lx_status st = {0};
    struct arena memory = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, sizeof text - 1, &st);
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
    struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
    if (!d) fail_msg("%s", st.text);
    struct lx_divisions changed = *d;
    int32_t op = d->count - 1;
    int64_t splits[3];
    struct op_index x;
    for (int i = 0; i < 3; i++)
        splits[i] = d->at[op].splits[i].letter == 'm' ? 2 : d->at[op].splits[i].letter == 'n' ? 5 : 6;
    changed.at = arena_copy_array(&memory, d->at, (size_t)d->count, sizeof *d->at);
    if (!lx_division_with(d, op, splits, &memory, &changed.at[op], &st)) fail_msg("%s", st.text);
    struct lx_op_launch *o = lx_launch_of(&changed, op, (const bool[]){false, false, true}, NULL, &st);
    assert_non_null(o);
    assert_int_equal(o->launch->mode, LX_PARTITION_LOCAL_SHARD);
    assert_int_equal(o->launch->core_count, 60);
    assert_int_equal(o->k_slices, 6);
    assert_true(o->launch->shard_grid[0] == 2 && o->launch->shard_grid[1] == 5);
    op_index_of(l->graph, &l->graph->ops[op], &x);
    assert_true(listed_once(o, &x, 60) && inside_slices(o, &x, &changed.at[op]));
    int ranges;
    struct lx_core_range *r = lx_launch_ranges(o->launch, &ranges);
    assert_true(r && ranges == 2 && r[0].height == 7 && r[0].width == 8 && r[1].y == 7 && r[1].width == 4);
    mem_free(r);
    lx_op_launch_free(o);
    arena_free(&memory);
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_once),
        cmocka_unit_test(a_split_of_three_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
