/* Collectives of HLO for a team in smaller ops. */
#include "import/layers/layers.h"
#include "import/devices/meshes.h"
#include "base/fail.h"

#include <string.h>

/* The attributes of the op, and along which dimension it goes. */
static struct model_attrs along_first(struct layer *l)
{
    struct model_attrs all = {NULL, l->op->attrs.count + 1};
    struct model_attr *at = arena_array(&l->m->memory, (size_t)all.count, sizeof *at);
    int64_t *first = arena_array(&l->m->memory, 1, sizeof *first);
    *first = 0;
    memcpy(at, l->op->attrs.at, (size_t)l->op->attrs.count * sizeof *at);
    at[all.count - 1] =
        (struct model_attr){.key = "dimensions", .form = ATTR_INTS, .count = 1, .ints = first};
    all.at = at;
    return all;
}

/* For a team: as many operands as devices, one for each of them, are rows of one that is shared out. */
void derive_all_to_all(struct layer *l)
{
    int n = l->op->operand_count;
    const struct model_type *x = layer_type(l, layer_in(l, 0));
    int64_t row[] = {1, x->elements}, all[] = {n, x->elements};
    struct model_op like = *l->op;
    int32_t *rows = arena_array(&l->m->memory, (size_t)n + 1, sizeof *rows);
    if (!l->limits->team || n < 2 || l->result_count != n || n != model_group_size(l->m, l->op) || !rows) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < n; i++) rows[i] = layer_reshape(l, layer_in(l, i), 2, row);
    int32_t joined = layer_concat(l, 0, n, rows);
    like.native = true;
    like.attrs = along_first(l);
    int32_t y = layer_like(l, &like, 1, &joined, model_type_make(l->m, x->element, 2, all, l->st));
    for (int i = 0; i < n; i++) layer_result(l, i, layer_slice(l, y, 0, i, i + 1));
}
