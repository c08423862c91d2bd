/* Tiles in the joint problem (joint.h), taken literally. */
#include "cooptimise/joint_tiles.h"

static int64_t joint_tiles_of(const struct lx_joint_problem *p, const int32_t *choice, int32_t op)
{
    return p->ops[op].tiles ? p->ops[op].tiles[choice[op]] : 1;
}

static int32_t joint_tiles_label_of(const struct lx_joint_access *a, const int32_t *choice)
{
    return a->label ? a->label[choice[a->op]] : -1;
}

/* Do ops `o` and the next have a buffer in common that they see in different ways? */
static bool joint_tiles_disagree(const struct lx_joint_problem *p, const int32_t *choice, int32_t o)
{
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_joint_buffer *b = &p->buffers[i];
        for (int32_t k = 0; k + 1 < b->access_count; k++) {
            if (b->accesses[k].op != o || b->accesses[k + 1].op != o + 1) continue;
            int32_t label = joint_tiles_label_of(&b->accesses[k], choice);
            if (label < 0 || label != joint_tiles_label_of(&b->accesses[k + 1], choice)) return true;
        }
    }
    return false;
}

static bool joint_tiles_cut_behind(const struct lx_joint_problem *p, const int32_t *choice, int32_t o)
{
    return joint_tiles_of(p, choice, o) != joint_tiles_of(p, choice, o + 1) ||
           joint_tiles_disagree(p, choice, o);
}

/* The last access that has the tile on chip; all of them where it is not cut. */
static int32_t last_access(const struct lx_joint_problem *p, const int32_t *choice,
                           const struct lx_joint_buffer *b, struct joint_tile *t)
{
    int32_t last = b->access_count - 1, end;
    if (!t->tiled) return last;
    int32_t o = b->accesses[0].op;
    while (o + 1 < p->op_count && !joint_tiles_cut_behind(p, choice, o)) o++;
    end = o;
    t->cut = b->leaves || b->accesses[last].op > end;
    while (b->accesses[last].op > end) last--;
    return last;
}

struct joint_tile joint_tile_of(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer)
{
    const struct lx_joint_buffer *b = &p->buffers[buffer];
    struct joint_tile t = {.label = -1, .end = b->end};
    if (b->access_count == 0) return t;
    const struct lx_joint_op *maker = &p->ops[b->accesses[0].op];
    int32_t made = choice[b->accesses[0].op];
    t.tiled = joint_tiles_of(p, choice, b->accesses[0].op) > 1;
    int32_t last = last_access(p, choice, b, &t);
    if (t.cut) t.end = p->ops[b->accesses[last].op].tick + 1;
    if (t.cut && maker->cuts_sums && maker->cuts_sums[made]) return t;
    t.label = joint_tiles_label_of(&b->accesses[0], choice);
    for (int32_t k = 1; k <= last; k++)
        if (joint_tiles_label_of(&b->accesses[k], choice) != t.label) t.label = -1;
    return t;
}

int64_t joint_cut_cost(const struct lx_joint_problem *p, const int32_t *choice)
{
    int64_t cost = 0;
    for (int32_t o = 0; o + 1 < p->op_count; o++)
        if (joint_tiles_cut_behind(p, choice, o)) cost += p->cut_toll;
    for (int32_t i = 0; i < p->buffer_count; i++) {
        struct joint_tile t = joint_tile_of(p, choice, i);
        if (t.cut) cost += p->buffers[i].copy_toll + (p->buffers[i].leaves ? p->cut_toll : 0);
    }
    return cost;
}

void joint_tile_fill(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer,
                     struct lx_buffer *out)
{
    const struct lx_joint_buffer *b = &p->buffers[buffer];
    struct joint_tile t = joint_tile_of(p, choice, buffer);
    out->end = t.end;
    if (t.tiled && b->tile_stays && t.label >= 0) out->reason = NULL;
    if (b->size && b->access_count > 0) out->size = b->size[choice[b->accesses[0].op]];
}
