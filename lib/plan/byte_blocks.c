/* Lives that share bytes are joined by union-find, among buffers that may share. A heap is cut at all ends of
 * its address ranges; each strip has the times at which it is in use, and adjacent strips with equal times
 * become one block. */
#include "plan/byte_blocks.h"
#include "plan/occupancy.h"

ORDER(byte_blocks_by_start, struct byte_life, ORDER_UP(start) ORDER_UP(buffer));
ORDER(by_heap, struct byte_life, ORDER_UP(heap) ORDER_UP(start) ORDER_UP(buffer));
ORDER(byte_blocks_by_time, struct byte_block, ORDER_UP(start) ORDER_UP(end) ORDER_UP(address));

static void find_lives(const struct lx_plan *p, int32_t pool, struct byte_blocks *out)
{
    size_t room = 1;
    for (int32_t i = 0; i < p->problem.count; i++) room += (size_t)lx_life_count(&p->problem.buffers[i]);
    out->lives = mem_zeroed(room, sizeof *out->lives);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (p->answer.address[i] < 0 || b->size <= 0 || (pool >= 0 && lx_pool_of(p, i) != pool)) continue;
        for (int32_t k = 0; k < lx_life_count(b); k++) {
            struct lx_life life = lx_life_at(b, k);
            life.start += k == 0 && p->took_slot_of[i] >= 0;
            if (life.start >= life.end) continue;
            out->lives[out->life_count++] = (struct byte_life){.address = p->answer.address[i],
                                                               .size = b->size,
                                                               .start = life.start,
                                                               .end = life.end,
                                                               .buffer = i};
        }
    }
    if (out->life_count) qsort(out->lives, out->life_count, sizeof *out->lives, byte_blocks_by_start);
    for (size_t i = 0; i < out->life_count; i++) out->lives[i].heap = (int32_t)i;
}

static int32_t heap_of(struct byte_life *lives, int32_t i)
{
    while (lives[i].heap != i) i = lives[i].heap = lives[lives[i].heap].heap;
    return i;
}

/* Compares only buffers that may share bytes while both are alive. */
static void find_heaps(const struct lx_plan *p, struct byte_blocks *x)
{
    const struct lx_bonds *bonds = &p->problem.bonds;
    OWNED int32_t *alive = mem_alloc((x->life_count + 1) * sizeof *alive);
    OWNED bool *shares = mem_zeroed((size_t)p->problem.count + 1, sizeof *shares);
    size_t count = 0;
    for (int32_t i = 0; i < bonds->exclusive_count; i++)
        shares[bonds->exclusive[i].a] = shares[bonds->exclusive[i].b] = true;
    for (int32_t i = 0; i < bonds->same_place_count; i++)
        for (int32_t k = 0; k < bonds->same_place[i].count; k++) shares[bonds->same_place[i].at[k]] = true;
    for (size_t i = 0; i < x->life_count; i++) {
        const struct byte_life *one = &x->lives[i];
        size_t kept = 0;
        if (!shares[one->buffer]) continue;
        for (size_t k = 0; k < count; k++) {
            const struct byte_life *other = &x->lives[alive[k]];
            if (other->end <= one->start) continue;
            alive[kept++] = alive[k];
            if (other->address >= one->address + one->size || one->address >= other->address + other->size ||
                lx_pool_of(p, other->buffer) != lx_pool_of(p, one->buffer))
                continue;
            /* The earliest life numbers its heap. */
            int32_t a = heap_of(x->lives, alive[kept - 1]), b = heap_of(x->lives, (int32_t)i);
            x->lives[a > b ? a : b].heap = a > b ? b : a;
        }
        count = kept;
        alive[count++] = (int32_t)i;
    }
    for (size_t i = 0; i < x->life_count; i++) x->lives[i].heap = heap_of(x->lives, (int32_t)i);
    if (x->life_count) qsort(x->lives, x->life_count, sizeof *x->lives, by_heap);
}

/* Adds one block for each time in which the heap uses the strip. Lives are sorted by start. */
static void add_strip(struct byte_blocks *x, struct byte_block strip)
{
    bool begun = false;
    for (size_t i = strip.first; i < strip.first + strip.count; i++) {
        const struct byte_life *l = &x->lives[i];
        if (l->address >= strip.address + strip.size || l->address + l->size <= strip.address) continue;
        if (begun && l->start <= strip.end) {
            strip.end = max_i64(strip.end, l->end);
            continue;
        }
        if (begun) VEC_PUSH(x, strip);
        strip.start = l->start, strip.end = l->end;
        begun = true;
    }
    if (begun) VEC_PUSH(x, strip);
}

/* Cuts a heap into strips between all ends of addresses; merges adjacent strips with equal times. */
static void cut_heap(struct byte_blocks *x, size_t first, size_t count)
{
    const struct byte_life *l = &x->lives[first];
    size_t from = x->count, kept = from;
    if (count == 1) {
        VEC_PUSH(x, ((struct byte_block){l->address, l->size, l->start, l->end, first, 1}));
        return;
    }
    int64_t *ends = mem_alloc(2 * count * sizeof *ends);
    for (size_t i = 0; i < count; i++) {
        ends[2 * i] = l[i].address;
        ends[2 * i + 1] = l[i].address + l[i].size;
    }
    qsort(ends, 2 * count, sizeof *ends, order_i64);
    for (size_t i = 0; i + 1 < 2 * count; i++)
        if (ends[i] < ends[i + 1])
            add_strip(x,
                      (struct byte_block){
                          .address = ends[i], .size = ends[i + 1] - ends[i], .first = first, .count = count});
    mem_free(ends);
    if (x->count > from) qsort(x->at + from, x->count - from, sizeof *x->at, byte_blocks_by_time);
    for (size_t i = from; i < x->count; i++) {
        struct byte_block *last = &x->at[kept > from ? kept - 1 : from], one = x->at[i];
        if (kept > from && last->start == one.start && last->end == one.end &&
            last->address + last->size == one.address)
            last->size += one.size;
        else
            x->at[kept++] = one;
    }
    x->count = kept;
}

void byte_blocks_make(const struct lx_plan *p, int32_t pool, struct byte_blocks *out)
{
    const struct lx_bonds *bonds = &p->problem.bonds;
    *out = (struct byte_blocks){0};
    find_lives(p, pool, out);
    if (bonds->exclusive_count || bonds->same_place_count) find_heaps(p, out);
    for (size_t i = 0, end; i < out->life_count; i = end) {
        for (end = i + 1; end < out->life_count && out->lives[end].heap == out->lives[i].heap;) end++;
        cut_heap(out, i, end - i);
    }
}

void add_block_names(const struct lx_plan *p, const struct byte_blocks *b, const struct byte_block *block,
                     struct text *out)
{
    enum { MOST_NAMES = 8 };
    int32_t said[MOST_NAMES], count = 0;
    for (size_t i = block->first; i < block->first + block->count; i++) {
        int32_t k = 0;
        if (b->lives[i].address >= block->address + block->size ||
            block->address >= b->lives[i].address + b->lives[i].size || b->lives[i].start >= block->end ||
            block->start >= b->lives[i].end)
            continue;
        while (k < count && said[k] != b->lives[i].buffer) k++;
        if (k < count) continue; /* another life of the same buffer */
        if (count == MOST_NAMES) {
            text_add(out, " and more");
            return;
        }
        said[count++] = b->lives[i].buffer;
        text_format(out, "%s%s", k ? " + " : "", p->problem.buffers[b->lives[i].buffer].name);
    }
}

void byte_blocks_free(struct byte_blocks *b)
{
    mem_free(b->lives);
    mem_free(b->at);
    *b = (struct byte_blocks){0};
}
