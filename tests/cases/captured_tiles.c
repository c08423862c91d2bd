#include "cases/captured_tiles.h"
#include "cases/cases.h"

int64_t captured_product(const cJSON *object)
{
    int64_t product = 1;
    const cJSON *v;
    cJSON_ArrayForEach(v, object) if (cJSON_IsNumber(v)) product *= (int64_t)v->valuedouble;
    return product;
}

static int64_t captured_squares(const cJSON *division)
{
    int64_t sum = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(division, "splits")) if (cJSON_IsNumber(v)) sum +=
        (int64_t)(v->valuedouble * v->valuedouble);
    return sum;
}

static struct captured_weights captured_weigh(const struct captured *c)
{
    struct captured_weights w = {.most_cores = 1};
    int64_t tiles = 1, squares = 1, n = c->problem.op_count;
    for (int32_t i = 0; i < n; i++) {
        const cJSON *d;
        cJSON_ArrayForEach(d, cjson_find(c->json[i], "core_divisions"))
        {
            tiles = max_i64(tiles, captured_product(cjson_find(d, "tiling")));
            squares = max_i64(squares, captured_squares(d));
            w.most_cores = max_i64(w.most_cores, captured_parts(d, false));
        }
    }
    w.square = n * tiles + 1;
    w.core = w.square * (n * squares + 1);
    w.cut = w.core * (n * w.most_cores + 1);
    w.bytes = w.cut * (2 * n + 1);
    return w;
}

static bool captured_tile_op(struct captured *c, int32_t i, const struct captured_weights *w,
                             struct lx_joint_op *op)
{
    size_t n = (size_t)op->choice_count;
    int64_t *tiles = arena_array(&c->memory, n, sizeof *tiles),
            *extra = arena_array(&c->memory, n, sizeof *extra);
    bool *sums = arena_array(&c->memory, n, sizeof *sums);
    if (!tiles || !extra || !sums) return false;
    for (int32_t k = 0; k < op->choice_count; k++) {
        const cJSON *d = cJSON_GetArrayItem(cjson_find(c->json[i], "core_divisions"), k);
        int64_t cores = captured_parts(d, false);
        tiles[k] = captured_product(cjson_find(d, "tiling"));
        sums[k] = cores != captured_parts(d, true);
        extra[k] = (w->most_cores - cores) * w->core + captured_squares(d) * w->square + tiles[k];
    }
    op->tiles = tiles;
    op->extra = extra;
    op->cuts_sums = sums;
    return true;
}

static bool captured_tile_buffer(struct captured *c, int32_t i, const struct captured_weights *w,
                                 struct lx_joint_buffer *b)
{
    const struct lx_joint_op *op = &c->problem.ops[i];
    struct lx_joint_access *a = arena_copy_array(&c->memory, b->accesses, (size_t)b->access_count, sizeof *a);
    int64_t *size = arena_array(&c->memory, (size_t)op->choice_count, sizeof *size);
    if (!a || !size) return false;
    for (int32_t k = 0; k < b->access_count; k++) a[k].toll *= w->bytes;
    for (int32_t k = 0; k < op->choice_count; k++) {
        const cJSON *d = cJSON_GetArrayItem(cjson_find(c->json[i], "core_divisions"), k);
        size[k] = ceil_div_i64(b->bytes, captured_parts(d, true) * op->tiles[k]);
    }
    b->accesses = a;
    b->size = size;
    b->copy_toll = b->bytes * w->bytes;
    b->leaves = strcmp(case_text(c->json[i], "boundary"), "output") == 0;
    b->tile_stays = b->leaves && b->reason && strstr(b->reason, "no consumer");
    return true;
}

bool captured_tiles(struct captured *c)
{
    struct captured_weights w = captured_weigh(c);
    struct lx_joint_problem *p = &c->problem;
    struct lx_joint_op *ops = arena_copy_array(&c->memory, p->ops, (size_t)p->op_count, sizeof *ops);
    struct lx_joint_buffer *buffers =
        arena_copy_array(&c->memory, p->buffers, (size_t)p->buffer_count, sizeof *buffers);
    if (!ops || !buffers) return false;
    p->ops = ops;
    p->buffers = buffers;
    p->tiled = true;
    p->cut_toll = w.cut;
    for (int32_t i = 0; i < p->op_count; i++)
        if (!captured_tile_op(c, i, &w, &ops[i]) || !captured_tile_buffer(c, i, &w, &buffers[i]))
            return false;
    return true;
}
