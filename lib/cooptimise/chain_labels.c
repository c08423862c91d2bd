/* Equal views get equal labels, whatever the tensor: an op that writes in place compares views of two. Which
 * views a tensor can have on chip is asked of stays/core_views.c. */
#include "cooptimise/chain_labels.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "layout/op_index.h"

#include <stdlib.h>

struct table {
    VEC(const struct lx_core_view *) views;
    int32_t *at; /* label + 1 by hash; 0: empty */
    size_t room;
};

static size_t view_hash(const struct lx_core_view *v)
{
    uint64_t h = hash_words(HASH_START, &v->cores, sizeof v->cores);
    for (int i = 0; i < v->rank; i++) {
        int64_t stride = v->slices[i] > 1 ? v->stride[i] : 0;
        h = hash_words(h, &v->slices[i], sizeof *v->slices);
        h = hash_words(h, &stride, sizeof stride);
    }
    return (size_t)(h ^ h >> 29);
}

static int32_t chain_labels_label_of(struct table *t, const struct lx_core_view *v)
{
    if (2 * t->views.count >= t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        int32_t *at = mem_zeroed(room, sizeof *at);
        for (size_t i = 0; i < t->views.count; i++) {
            size_t h = view_hash(t->views.at[i]) & (room - 1);
            while (at[h]) h = (h + 1) & (room - 1);
            at[h] = (int32_t)i + 1;
        }
        mem_free(t->at);
        t->at = at;
        t->room = room;
    }
    size_t h = view_hash(v) & (t->room - 1);
    for (; t->at[h]; h = (h + 1) & (t->room - 1))
        if (views_equal(t->views.at[t->at[h] - 1], v)) return t->at[h] - 1;
    (void)VEC_PUSH(&t->views, v);
    t->at[h] = (int32_t)t->views.count;
    return t->at[h] - 1;
}

void chain_labels_make(const struct draft *x, const struct op_menus *menus, struct arena *memory,
                       struct chain_labels *out)
{
    struct table t = {0};
    out->of_menu = arena_array(memory, (size_t)menus->count, sizeof *out->of_menu);
    for (int32_t k = 0; k < menus->count; k++) {
        const struct op_menu *m = &menus->at[k];
        out->of_menu[k] =
            arena_array(memory, (size_t)m->count * (size_t)m->operand_count, sizeof **out->of_menu);
        const struct lx_op *op = &x->graph->ops[m->op];
        bool off_device = op->kind->traits & LX_EXTERN, sums_meet = !x->how.passes.no_ring;
        for (int i = 0; i < m->operand_count; i++) {
            const struct lx_layout *y = &x->layouts->layouts[op_operand(op, i)];
            for (int32_t c = 0; c < m->count; c++) {
                int64_t at = (int64_t)i * m->count + c;
                out->of_menu[k][at] = -1;
                if (off_device || !view_holds(y, &m->view[at], sums_meet)) continue;
                out->of_menu[k][at] = chain_labels_label_of(&t, &m->view[at]);
            }
        }
    }
    out->count = (int32_t)t.views.count;
    out->view = arena_copy_array(memory, t.views.at, t.views.count, sizeof *out->view);
    VEC_FREE(&t.views);
    mem_free(t.at);
}
