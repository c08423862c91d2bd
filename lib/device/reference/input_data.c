/* Element i of a tensor depends on seed, name and i only (splitmix64 at a position), so that threads can fill
 * blocks of 4,096 elements in any order and the data are the same on every machine. */
#include "device/reference/reference.h"
#include "base/hash.h"
#include "device/memory/dtypes.h"
#include "graph/choice.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 4096 };

struct filling {
    uint64_t key;
    const struct number_type *type;
    bool raw; /* bytes, whatever they mean */
    float scale, offset;
    int64_t below; /* of indices: numbers from 0 to this; 0: it has none */
    char *items;
    int64_t count;
};

static void fill_block(void *context, int64_t task, int worker)
{
    const struct filling *f = context;
    int64_t from = task * BLOCK, n = f->count - from < BLOCK ? f->count - from : BLOCK;
    float numbers[BLOCK];
    (void)worker;
    for (int64_t i = 0; i < n; i++) {
        /* Element i of a stream: splitmix64 at position i. */
        uint64_t z = f->key + (uint64_t)(from + i) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        uint64_t h = z ^ (z >> 31);
        if (f->raw)
            f->items[from + i] = (char)(h >> 56);
        else if (f->below > 0)
            numbers[i] = (float)(h >> 11 & ((UINT64_C(1) << 40) - 1)) * 0x1p-40f * (float)f->below;
        else if (f->type->integer) /* -4 to 3, or 0 and 1 */
            numbers[i] = f->type->low < 0 ? (float)(h >> 61) - 4 : (float)(h >> 63);
        else
            numbers[i] = (float)((double)(h >> 11) * 0x1p-52 - 1) * f->scale + f->offset;
    }
    if (!f->raw) items_encode(f->type, numbers, n, f->items + from * f->type->item);
}

/* Elements that a contraction sums. */
static int64_t input_data_summed(const struct lx_op *op)
{
    int64_t n = 1;
    if (!op->map || !(op->kind->traits & LX_CONTRACTS)) return 1;
    for (int v = 0; v < op->map->var_count; v++) {
        bool kept = false;
        for (int d = 0; d < op->map->rank[op->input_count]; d++)
            kept |= op->map->index[op->input_count][d] == v;
        if (!kept) n *= op->map->extent[v];
    }
    return n;
}

void data_fill(const struct lx_graph *g, int32_t tensor, uint64_t seed, struct pool *pool, void *items,
               int64_t count)
{
    const struct lx_tensor *t = &g->tensors[tensor];
    struct filling f = {
        .type = &number_types[t->dtype], .raw = t->rank < 0, .scale = 1, .items = items, .count = count};
    if (!lx_role_arrives(t->role)) {
        memset(items, 0, (size_t)(count * (f.raw ? 1 : f.type->item)));
        return;
    }
    uint64_t h = hash_bytes(HASH_START, &seed, sizeof seed);
    f.key = hash_bytes(h, t->name, strlen(t->name));
    bool positive = false;
    double longest = 1;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++) {
            if (g->ops[o].inputs[i] != tensor) continue;
            positive |= (g->ops[o].kind->positive >> i & 1) != 0;
            if (t->role == LX_WEIGHT) longest = fmax(longest, (double)input_data_summed(&g->ops[o]));
        }
    if (f.type->integer) {
        /* The least extent that an index of this tensor chooses from; 0: it is no index. */
        int64_t below = 0;
        struct lx_choice c;
        for (int32_t o = 0; o < g->op_count; o++) {
            const struct lx_op *op = &g->ops[o];
            if (!lx_choice_of(op, &c)) continue;
            for (int i = 0; i < c.index_count; i++)
                for (int a = 0; op->inputs[c.index + i] == tensor && a < c.axis_count; a++)
                    if (below == 0 || op->map->extent[c.var[a]] < below) below = op->map->extent[c.var[a]];
        }
        f.below = below;
    }
    f.scale = positive ? 0.5f : longest > 1 ? (float)sqrt(3 / longest) : 1;
    f.offset = positive ? 1 : 0;
    pool_run(pool, (count + BLOCK - 1) / BLOCK, fill_block, &f);
}
