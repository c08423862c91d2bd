/* The room of a single op. Under some choices its operands do not fit beside each other; then some of them
 * go through HBM, whatever comes before and after. Such a choice is replaced by one for each largest set of
 * operands that does fit, the others being told to stay off chip: prices alone would have each operand half
 * on chip. */
#include "cooptimise/chain.h"

enum { MOST_TOUCHES = 6 }; /* of ops with more, choices stay as they are */

struct rooms {
    int64_t size[MOST_TOUCHES]; /* the least that it takes on chip; 0: it is off chip anyway */
    int32_t view[MOST_TOUCHES]; /* of its first access with a label; -1: several */
    unsigned all;               /* touches that can be on chip */
};

static struct rooms chain_room_measure(const struct chain_model *m, const struct chain_op *op, int32_t choice)
{
    struct rooms r = {.all = 0};
    for (int32_t t = 0; t < op->touch_count; t++) {
        const struct chain_touch *touch = &op->touch[t];
        const struct chain_tensor *tensor = &m->tensors[touch->tensor];
        r.view[t] = -1;
        for (int32_t a = 0; a < touch->access_count; a++) {
            int32_t label = touch->label[choice * touch->access_count + a];
            if (label < 0 || tensor->size[label] > m->room.capacity) continue;
            r.size[t] = r.all >> t & 1 ? min_i64(r.size[t], tensor->size[label]) : tensor->size[label];
            if (touch->access_count == 1 && !m->coarse) r.view[t] = tensor->label[label];
            r.all |= 1u << t;
        }
    }
    return r;
}

static bool chain_room_fits(const struct chain_model *m, const struct chain_op *op, const struct rooms *r,
                            unsigned on)
{
    int64_t sum = 0, shared = 0;
    for (int32_t t = 0; t < op->touch_count; t++)
        if (on >> t & 1) sum += r->size[t];
    for (int32_t t = 0; op->child >= 0 && (on >> op->child & 1) && t < op->touch_count; t++)
        if ((on >> t & 1) && (op->parents >> t & 1) && (r->view[t] < 0 || r->view[t] == r->view[op->child]))
            shared = r->size[op->child];
    return sum - shared <= m->room.capacity;
}

/* The largest sets of touches that fit, into `sets`; their number. */
static int largest_sets(const struct chain_model *m, const struct chain_op *op, const struct rooms *r,
                        unsigned *sets)
{
    int count = 0;
    for (unsigned on = r->all;; on = (on - 1) & r->all) { /* a set comes before its subsets */
        bool inside = false;
        for (int i = 0; i < count && !inside; i++) inside = (on & sets[i]) == on;
        if (!inside && chain_room_fits(m, op, r, on)) sets[count++] = on;
        if (on == 0) return count;
    }
}

void chain_split_choices(struct chain_model *m, struct chain_op *op)
{
    unsigned sets[1 << MOST_TOUCHES];
    int32_t *label[MOST_TOUCHES], *origin, count = 0;
    if (op->touch_count > MOST_TOUCHES) return;
    for (int32_t c = 0; c < op->choice_count; c++) {
        struct rooms r = chain_room_measure(m, op, c);
        count += largest_sets(m, op, &r, sets);
    }
    if (count == op->choice_count) return;
    origin = arena_array(m->memory, (size_t)count, sizeof *origin);
    for (int32_t t = 0; t < op->touch_count; t++)
        label[t] = arena_array(m->memory, (size_t)count * (size_t)op->touch[t].access_count, sizeof **label);
    count = 0;
    for (int32_t c = 0; c < op->choice_count; c++) {
        struct rooms r = chain_room_measure(m, op, c);
        int n = largest_sets(m, op, &r, sets);
        for (int i = 0; i < n; i++) {
            origin[count] = op->origin[c];
            unsigned off = r.all & ~sets[i];
            int32_t to = count++;
            for (int32_t t = 0; t < op->touch_count; t++)
                for (int32_t a = 0, k = op->touch[t].access_count; a < k; a++) {
                    int32_t old = op->touch[t].label[c * k + a];
                    label[t][to * k + a] = off >> t & 1 && old >= 0 ? chain_forced_off(old) : old;
                }
        }
    }
    for (int32_t t = 0; t < op->touch_count; t++) op->touch[t].label = label[t];
    op->origin = origin;
    op->choice_count = count;
}
