/* Views by what they are, with open addressing; ways between them by their numbers. */
#include "nests/nest_menus.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

/* Of what views_equal compares. */
static uint64_t hash_view(int32_t tensor, const struct lx_core_view *v)
{
    int64_t words[2 + 4 * LX_MAX_DEVICE_RANK];
    size_t count = 0;
    words[count++] = tensor;
    words[count++] = v->cores;
    for (int i = 0; i < v->rank; i++) {
        words[count++] = v->slices[i];
        words[count++] = v->slices[i] > 1 ? v->stride[i] : 0;
        words[count++] = v->tiles[i];
        words[count++] = v->blocks[i];
    }
    return hash_words(HASH_START, words, count * sizeof *words);
}

static const struct lx_core_view *view_at(const struct nest_views *n, struct view_place at)
{
    return &n->of.at[at.tensor].at.at[at.number];
}

int nest_view_number(struct nest_views *n, int32_t tensor, const struct lx_core_view *v)
{
    if (2 * n->order.count >= n->slot_count) {
        size_t room = n->slot_count ? 2 * n->slot_count : 256;
        int32_t *slots = mem_zeroed(room, sizeof *slots);
        for (size_t i = 0; i < n->order.count; i++) {
            struct view_place at = n->order.at[i];
            size_t k = hash_view(at.tensor, view_at(n, at)) & (room - 1);
            while (slots[k]) k = (k + 1) & (room - 1);
            slots[k] = (int32_t)i + 1;
        }
        mem_free(n->slots);
        n->slots = slots;
        n->slot_count = room;
    }
    size_t k = hash_view(tensor, v) & (n->slot_count - 1);
    for (; n->slots[k]; k = (k + 1) & (n->slot_count - 1)) {
        struct view_place at = n->order.at[n->slots[k] - 1];
        if (at.tensor == tensor && views_equal(view_at(n, at), v)) return at.number;
    }
    VEC_RESERVE(&n->of, (size_t)tensor + 1);
    while (n->of.count <= (size_t)tensor) n->of.at[n->of.count++] = (struct tensor_views){0};
    struct tensor_views *of = &n->of.at[tensor];
    struct view_place at = {tensor, (int)of->at.count};
    VEC_PUSH(&n->order, at);
    VEC_PUSH(&of->at, *v);
    n->slots[k] = (int32_t)n->order.count;
    return at.number;
}

int nest_view_count(const struct nest_views *n, int32_t tensor)
{
    return (size_t)tensor < n->of.count ? (int)n->of.at[tensor].at.count : 0;
}

/* The row of a view, with a place for each of the others. */
static double *nest_views_row_of(struct tensor_views *t, int from)
{
    VEC_RESERVE(&t->rows, t->at.count);
    while (t->rows.count < t->at.count) t->rows.at[t->rows.count++] = (struct view_row){0};
    struct view_row *r = &t->rows.at[from];
    int room = (int)t->at.room;
    if (r->room >= (int)t->at.count) return r->us;
    double *us = mem_resize(r->us, (size_t)room * sizeof *us);
    for (int i = r->room; i < room; i++) us[i] = -1;
    *r = (struct view_row){us, room};
    return us;
}

double nest_view_ring_us(struct nest_views *n, const struct lx_layouts *l, int32_t tensor, int from, int to)
{
    struct tensor_views *t = &n->of.at[tensor];
    const struct lx_core_view *v = t->at.at;
    bool known = (size_t)from < t->rows.count && to < t->rows.at[from].room;
    double *row = known ? t->rows.at[from].us : nest_views_row_of(t, from);
    if (row[to] < 0) row[to] = view_ring_us(l, tensor, &v[from], &v[to]);
    return row[to];
}

void nest_views_free(struct nest_views *n)
{
    for (size_t i = 0; i < n->of.count; i++) {
        for (size_t k = 0; k < n->of.at[i].rows.count; k++) mem_free(n->of.at[i].rows.at[k].us);
        VEC_FREE(&n->of.at[i].rows);
        VEC_FREE(&n->of.at[i].at);
    }
    VEC_FREE(&n->of);
    VEC_FREE(&n->order);
    mem_free(n->slots);
    *n = (struct nest_views){0};
}
