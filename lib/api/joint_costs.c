/* What the parts of a joint question cost, as whole numbers of one kind.
 *
 * Costs of being off are counted in units of their common divisor, and each outweighs all that divisions can add up to. */
#include "api/joint_question.h"
#include "base/checked.h"
#include "base/fail.h"

static int64_t most_cores(const struct joint_buffer *b)
{
    int64_t most = 0;
    for (int32_t c = 0; c < b->choice_count; c++) most = max_i64(most, b->menu[c].cores);
    return most;
}

/* One more than all squares together. */
static bool dearest_squares(struct joint_question *q, int64_t *dearest, lx_status *st)
{
    *dearest = 1;
    for (int32_t i = 0; i < q->count; i++) {
        int64_t most = 0;
        for (int32_t c = 0; c < q->buffers[i].choice_count; c++)
            most = max_i64(most, q->buffers[i].menu[c].squares);
        if (!add_i64(*dearest, most, dearest))
            return status_set(st, LX_E_RANGE, "the squares add up beyond 2^63");
    }
    return true;
}

/* What the division itself costs: cores that are missing, each dearer than all squares together. `*most`: of its dearest. */
static bool make_extra(struct joint_question *q, struct joint_buffer *b, int64_t dearest, int64_t *most,
                       lx_status *st)
{
    int64_t *extra = arena_array(&q->memory, (size_t)b->choice_count, sizeof *extra);
    *most = 0;
    for (int32_t c = 0; c < b->choice_count; c++) {
        if (!mul_i64(most_cores(b) - b->menu[c].cores, dearest, &extra[c]) ||
            !add_i64(extra[c], b->menu[c].squares, &extra[c]))
            return status_set(st, LX_E_RANGE, "buffer %s: cores and squares beyond 2^63", b->name);
        *most = max_i64(*most, extra[c]);
    }
    b->extra = extra;
    return true;
}

bool joint_costs_of(struct joint_question *q, lx_status *st)
{
    int64_t dearest = 1, sum = 0, off = 0, most = 0;
    q->weight = 1;
    q->unit = 0;
    for (int32_t i = 0; i < q->count; i++) q->unit = gcd_i64(q->unit, q->buffers[i].off);
    q->unit = max_i64(q->unit, 1);
    if (!q->divisions_count) return true;
    if (!dearest_squares(q, &dearest, st)) return false;
    for (int32_t i = 0; i < q->count; i++) {
        struct joint_buffer *b = &q->buffers[i];
        if (!make_extra(q, b, dearest, &most, st)) return false;
        if (!add_i64(sum, most, &sum) || !add_i64(off, b->off / q->unit, &off))
            return status_set(st, LX_E_RANGE, "buffer %s: costs up to here add up beyond 2^63", b->name);
    }
    q->weight = sum + 1;
    if (!mul_i64(off, q->weight, &off) || off > INT64_MAX / 16)
        return status_set(st, LX_E_RANGE,
                          "costs, cores and squares together are beyond 2^59; ask for the cost alone");
    return true;
}
