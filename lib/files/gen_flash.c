/* Tiled attention (FlashAttention) written out: every step of every tile is one op.
 *
 * Queries and keys are cut into blocks. For each block of queries the blocks of keys and values pass by; a
 * running row maximum m, a running denominator l and an accumulator o are corrected at each step, and o is
 * divided by l at the end. The first block of keys starts them, so it needs no correction. With nq x nkv
 * tiles the graph has nq * (16 nkv - 4) ops. */
#include "files/gen_common.h"

enum { Q, KV, D, HEADS, BQ, BKV, OPS, OPTIONS };

const struct lx_option gen_flash_options[OPTIONS] = {
    [Q] = {"q", 1024, 1, 1 << 20, "queries"},
    [KV] = {"kv", 8192, 1, 1 << 20, "keys and values"},
    [D] = {"d", 64, 1, 1024, "width of a head"},
    [HEADS] = {"heads", 1, 1, 256, "heads, computed together in each tile"},
    [BQ] = {"bq", 128, 1, 1 << 20, "queries of a tile, at most"},
    [BKV] = {"bkv", 256, 1, 1 << 20, "keys of a tile, at most"},
    [OPS] = {"ops", 0, 0, GEN_MAX_OPS, "cut the keys so that there are at least that many ops; 0: by bkv"},
};

enum { OPS_A_TILE = 16, OPS_NOT_NEEDED = 4 };

struct flash {
    struct gen g;
    int64_t heads, d;
    int32_t query, key, value, out;
    int32_t m, l, o; /* running maximum, denominator, accumulator */
};

/* The first element of part `i` if `extent` is split into `parts` that differ by at most one. */
static int64_t part_start(int64_t extent, int64_t parts, int64_t i)
{
    return i * (extent / parts) + min_i64(i, extent % parts);
}

static void gen_flash_add_tile(struct flash *f, int32_t queries, int64_t from, int64_t count, bool first)
{
    struct gen *g = &f->g;
    const int64_t at[] = {0, from, 0};
    int32_t k = gen_slice(g, "k", f->key, at, SHAPE(f->heads, count, f->d));
    int32_t scores = gen_binary(g, "s", "matmul", "hmd,hnd->hmn", queries, k);
    int32_t scaled = gen_constant(g, "scaled", "mul", scores, 1 / sqrt((double)f->d));
    int32_t row_max = gen_unary(g, "row_max", "max", "hmn->hm", scaled);
    int32_t m = first ? row_max : gen_binary(g, "m", "max", "hm,hm->hm", f->m, row_max);
    int32_t moved = gen_binary(g, "sub", "sub", "hmn,hm->hmn", scaled, m);
    int32_t p = gen_unary(g, "p", "exp", "hmn->hmn", moved);
    int32_t row_sum = gen_unary(g, "row_sum", "sum", "hmn->hm", p);
    int32_t v = gen_slice(g, "v", f->value, at, SHAPE(f->heads, count, f->d));
    int32_t pv = gen_binary(g, "pv", "matmul", "hmn,hnd->hmd", p, v);
    if (first) {
        f->l = row_sum;
        f->o = pv;
    } else {
        int32_t drop = gen_binary(g, "drop", "sub", "hm,hm->hm", f->m, m);
        int32_t correction = gen_unary(g, "correction", "exp", "hm->hm", drop);
        int32_t old_l = gen_binary(g, "old_l", "mul", "hm,hm->hm", f->l, correction);
        f->l = gen_binary(g, "l", "add", "hm,hm->hm", old_l, row_sum);
        int32_t old_o = gen_binary(g, "old_o", "mul", "hmd,hm->hmd", f->o, correction);
        f->o = gen_binary(g, "o", "add", "hmd,hmd->hmd", old_o, pv);
    }
    f->m = m;
}

const struct lx_graph *gen_flash(const int64_t *v, lx_status *st)
{
    /* The number of key blocks that gives at least the wanted ops. */
    int64_t nq = ceil_div_i64(v[Q], v[BQ]),
            nkv = !v[OPS] ? ceil_div_i64(v[KV], v[BKV])
                          : max_i64(1, ceil_div_i64(ceil_div_i64(v[OPS], nq) + OPS_NOT_NEEDED, OPS_A_TILE)),
            ops = nq * (OPS_A_TILE * nkv - OPS_NOT_NEEDED);
    if (nkv > v[KV]) {
        status_set(st, LX_E_USAGE,
                   "%lld ops need %lld blocks of keys, but there are %lld keys; raise kv or lower bq",
                   (long long)v[OPS], (long long)nkv, (long long)v[KV]);
        return NULL;
    }
    if (ops > GEN_MAX_OPS) {
        status_set(st, LX_E_LIMIT, "this graph would have %lld ops, at most %d are made; raise bq or bkv",
                   (long long)ops, GEN_MAX_OPS);
        return NULL;
    }
    struct flash f = {.heads = v[HEADS], .d = v[D]};
    char name[80];
    snprintf(name, sizeof name, "flash_%lldx%lld", (long long)v[Q], (long long)v[KV]);
    gen_begin(&f.g, name, "Attention in tiles with a running softmax, every step of every tile an op.", st);
    f.query = gen_tensor(&f.g, "query", LX_INPUT, SHAPE(f.heads, v[Q], f.d));
    f.key = gen_tensor(&f.g, "key", LX_INPUT, SHAPE(f.heads, v[KV], f.d));
    f.value = gen_tensor(&f.g, "value", LX_INPUT, SHAPE(f.heads, v[KV], f.d));
    f.out = gen_tensor(&f.g, "out", LX_OUTPUT, SHAPE(f.heads, v[Q], f.d));
    for (int64_t i = 0; i < nq; i++) {
        int64_t row = part_start(v[Q], nq, i), rows = part_start(v[Q], nq, i + 1) - row;
        const int64_t at[] = {0, row, 0};
        gen_scope(&f.g, "q%lld_", (long long)i);
        int32_t queries = gen_slice(&f.g, "block", f.query, at, SHAPE(f.heads, rows, f.d));
        for (int64_t j = 0; j < nkv; j++) {
            int64_t from = part_start(v[KV], nkv, j);
            gen_scope(&f.g, "q%lld_k%lld_", (long long)i, (long long)j);
            gen_flash_add_tile(&f, queries, from, part_start(v[KV], nkv, j + 1) - from, j == 0);
        }
        gen_scope(&f.g, "q%lld_", (long long)i);
        int32_t normal = gen_binary(&f.g, "normal", "div", "hmd,hm->hmd", f.o, f.l);
        gen_insert(&f.g, "store", normal, f.out, at);
    }
    return gen_finish(&f.g);
}
