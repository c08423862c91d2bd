/* The tensors in HBM over time. Graph inputs, weights and outputs have their bytes for good. An intermediate
 * has its bytes from a write that makes it anew to the last access of the written value; between two such
 * lives the bytes may be another's. Ops, and the copies before and after them, are moments of their own: an
 * op may not overwrite another tensor that it reads, as cores that are ahead would overwrite sticks that
 * others still read. */
#include "check/check.h"

struct life {
    int32_t tensor;
    int64_t from, to; /* to: the last moment, included */
};

struct hbm_lives {
    const struct checker *c;
    int64_t *from, *to; /* per tensor, of the current life; from -1: none */
    VEC(struct life) ended;
};

struct hbm_lives *hbm_begin(const struct checker *c)
{
    struct hbm_lives *h = arena_array(c->memory, 1, sizeof *h);
    size_t tensors = (size_t)c->g->tensor_count;
    h->c = c;
    h->from = arena_array(c->memory, tensors, sizeof *h->from);
    h->to = arena_array(c->memory, tensors, sizeof *h->to);
    for (size_t t = 0; t < tensors; t++) h->from[t] = -1;
    return h;
}

static void check_hbm_finish(struct hbm_lives *h, int32_t tensor)
{
    if (h->from[tensor] < 0 || h->c->g->tensors[tensor].role != LX_INTERMEDIATE) return;
    VEC_PUSH(&h->ended, (struct life){tensor, h->from[tensor], h->to[tensor]});
}

/* An op of the pattern that reads and writes one tensor ends one life and begins the next. */
void hbm_written(struct hbm_lives *h, int32_t tensor, int64_t time)
{
    if (h->from[tensor] < time) h->to[tensor] = min_i64(h->to[tensor], time - 1);
    check_hbm_finish(h, tensor);
    h->from[tensor] = h->to[tensor] = time;
}

void hbm_seen(struct hbm_lives *h, int32_t tensor, int64_t time)
{
    if (h->from[tensor] < 0) h->from[tensor] = time;
    h->to[tensor] = max_i64(h->to[tensor], time);
}

void hbm_end(struct hbm_lives *h)
{
    if (h) VEC_FREE(&h->ended);
}

/* Intermediates are in the pool, the others outside, all within the HBM bytes that the plan uses. */
static bool place_right(const struct checker *c, const struct hbm_lives *h, int32_t t)
{
    const struct lx_plan *p = c->p;
    int64_t at = p->hbm_address[t], end = at + whole_bytes(c, t), pool_end = p->pool_at + p->pool_bytes;
    const char *name = c->g->tensors[t].name;
    bool kept = c->g->tensors[t].role != LX_INTERMEDIATE;
    if (at < 0 && h->from[t] >= 0)
        return status_set(c->st, LX_E_NO, "tensor %s goes through HBM but has no address there", name);
    if (at < 0) return true;
    if (end > p->segment_bytes)
        return status_set(c->st, LX_E_NO,
                          "tensor %s at %lld ends beyond the %lld bytes of HBM that the plan has", name,
                          (long long)at, (long long)p->segment_bytes);
    if (kept ? at < pool_end && p->pool_at < end : at < p->pool_at || end > pool_end)
        return status_set(c->st, LX_E_NO, "tensor %s at %lld must be %s the pool at [%lld, %lld)", name,
                          (long long)at, kept ? "outside" : "in", (long long)p->pool_at, (long long)pool_end);
    return true;
}

/* One rectangle per life of an intermediate, and one for all time per tensor that is kept. */
static int32_t rectangles(const struct checker *c, const struct hbm_lives *h, struct lx_buffer *b,
                          int64_t *address)
{
    int32_t n = 0;
    for (size_t i = 0; i < h->ended.count; i++, n++) {
        const struct life *x = &h->ended.at[i];
        b[n] = (struct lx_buffer){.name = c->g->tensors[x->tensor].name,
                                  .size = whole_bytes(c, x->tensor),
                                  .start = x->from,
                                  .end = x->to + 1,
                                  .fixed = -1};
        address[n] = c->p->hbm_address[x->tensor];
    }
    for (int32_t t = 0; t < c->g->tensor_count; t++) {
        if (c->g->tensors[t].role == LX_INTERMEDIATE || c->p->hbm_address[t] < 0) continue;
        b[n] = (struct lx_buffer){.name = c->g->tensors[t].name,
                                  .size = whole_bytes(c, t),
                                  .start = 0,
                                  .end = LX_INT_MAX,
                                  .fixed = -1};
        address[n++] = c->p->hbm_address[t];
    }
    return n;
}

bool hbm_check(const struct checker *c, struct hbm_lives *h)
{
    lx_status why = {0};
    int64_t ignored;
    for (int32_t t = 0; t < c->g->tensor_count; t++) check_hbm_finish(h, t);
    for (int32_t t = 0; t < c->g->tensor_count; t++)
        if (!place_right(c, h, t)) return false;
    size_t most = h->ended.count + (size_t)c->g->tensor_count;
    struct lx_buffer *b = arena_array(c->memory, most, sizeof *b);
    int64_t *address = arena_array(c->memory, most, sizeof *address);
    struct lx_problem own = {.objective = LX_HEIGHT,
                             .capacity = 0,
                             .alignment = c->g->device.stick_bytes,
                             .count = rectangles(c, h, b, address),
                             .buffers = b};
    if (lx_problem_check(&own, address, &ignored, &why)) {
        const struct lx_plan *p = c->p;
        int64_t pool_end = p->pool_at, all;
        for (int32_t t = 0; t < c->g->tensor_count; t++)
            if (p->hbm_address[t] >= 0 && c->g->tensors[t].role == LX_INTERMEDIATE)
                pool_end = max_i64(pool_end, p->hbm_address[t] + whole_bytes(c, t));
        all = pool_end;
        for (int32_t t = 0; t < c->g->tensor_count; t++)
            if (p->hbm_address[t] >= 0) all = max_i64(all, p->hbm_address[t] + whole_bytes(c, t));
        if (p->pool_at >= 0 && p->pool_bytes == pool_end - p->pool_at && p->segment_bytes == all) return true;
        return status_set(
            c->st, LX_E_NO,
            "the plan claims a pool of %lld bytes and %lld of HBM in all, but they are %lld and %lld",
            (long long)p->pool_bytes, (long long)p->segment_bytes, (long long)(pool_end - p->pool_at),
            (long long)all);
    }
    return status_set(c->st, why.code, "in HBM: %s", why.text);
}
