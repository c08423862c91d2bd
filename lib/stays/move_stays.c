/* Stays that change their addresses. Each move makes another stay of the rest of a life: same tensor,
 * same view, the accesses from then on. It may be idle from one move to the next, and then serves none.
 * What it costs to leave the tensor off chip stays with the first. */
#include "stays/draft.h"
#include "base/checked.h"
#include "base/fail.h"

/* Neither laid out anew from another nor another from it. */
static bool stay_moves(const struct draft *x, int32_t stay)
{
    if (x->stays[stay].bar || x->stays[stay].ring_source >= 0) return false;
    for (int32_t i = 0; i < x->problem.count; i++)
        if (x->stays[i].ring_source == stay) return false;
    return true;
}

void stays_find_fixed(const struct draft *x, bool *fixed)
{
    for (int32_t i = 0; i < x->problem.count; i++) fixed[i] = x->stays[i].bar || x->stays[i].ring_source >= 0;
    for (int32_t i = 0; i < x->problem.count; i++)
        if (x->stays[i].ring_source >= 0) fixed[x->stays[i].ring_source] = true;
}

int64_t view_all_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *v)
{
    return view_part_bytes(l, tensor, v) * max_i64(v->cores, 1);
}

/* Would a nest come back to where the stay was? Only what every iteration fills anew may go on elsewhere
 * within it. */
static bool comes_back(const struct draft *x, int32_t stay, int32_t before)
{
    int32_t n = nest_of_op(x->how.nests, x->how.nest_count, before);
    if (n < 0 || before == x->how.nests[n].first) return false;
    return x->stays[stay].hold < x->how.nests[n].level_count;
}

/* The stay that a move divides: alive before and behind it. */
static int32_t find_moved(const struct draft *x, struct cut move)
{
    for (int32_t i = 0; i < x->problem.count; i++)
        if (x->stays[i].tensor == move.tensor && x->buffers[i].start < move.before &&
            move.before < x->buffers[i].end && stay_moves(x, i) && !comes_back(x, i, move.before))
            return i;
    return -1;
}

/* First and last op that a stay serves; where it serves none, all of its life. */
static void find_served(struct draft *x, int32_t stay)
{
    struct lx_stay *s = &x->stays[stay];
    bool any = false;
    for (int32_t k = x->tensor_at[s->tensor]; k < x->tensor_at[s->tensor + 1]; k++) {
        int32_t access = x->tensor_access[k];
        if (x->accesses[access].stay != stay) continue;
        if (!any) s->first = x->access_op[access];
        s->last = x->access_op[access];
        any = true;
    }
    if (any) return;
    s->first = (int32_t)x->buffers[stay].start;
    s->last = (int32_t)x->buffers[stay].end - 1;
}

static void move_stays_divide(struct draft *x, int32_t old, struct cut move)
{
    int32_t new = x->problem.count, first = 0;
    struct lx_buffer *a = &x->buffers[old], *b = &x->buffers[new];
    *b = *a;
    x->stays[new] = x->stays[old];
    while (first < a->use_count && a->uses[first] < move.before) first++;
    /* The uses from `first` on, behind the copy, which is one itself. */
    int64_t copy = move.before;
    bool at_once = first < a->use_count && a->uses[first] == copy;
    int64_t *uses = arena_array(x->memory, (size_t)(a->use_count - first) + 1, sizeof *uses);
    b->use_count = 0;
    if (!at_once) uses[b->use_count++] = copy;
    for (int32_t k = first; k < a->use_count; k++) uses[b->use_count++] = a->uses[k];
    a->use_count = first;
    b->uses = uses;
    a->end = b->start = move.before;
    b->first_use_is_read = true;
    b->spill_cost = 0;
    b->name = arena_format(x->memory, "%s@%d", a->name, (int)move.before);
    x->stays[new].first = (int32_t)b->start;
    x->stays[new].moved_from = old;
    x->stays[new].begins_written = false;
    for (int32_t k = x->tensor_at[move.tensor]; k < x->tensor_at[move.tensor + 1]; k++) {
        struct lx_access *use = &x->accesses[x->tensor_access[k]];
        if (use->stay == old && x->access_op[x->tensor_access[k]] >= move.before) use->stay = new;
    }
    find_served(x, old);
    find_served(x, new);
    x->problem.count++;
}

void draft_moves(struct draft *x)
{
    size_t n = (size_t)x->problem.count, room = n + (size_t)x->how.move_count;
    if (x->how.move_count == 0) return;
    struct lx_buffer *buffers = arena_array(x->memory, room, sizeof *buffers);
    struct lx_stay *stays = arena_array(x->memory, room, sizeof *stays);
    int64_t *copies = arena_array(x->memory, room, sizeof *copies);
    for (size_t i = 0; i < n; i++)
        buffers[i] = x->buffers[i], stays[i] = x->stays[i], copies[i] = x->copy_bytes[i];
    x->copy_bytes = copies;
    x->problem.buffers = x->buffers = buffers;
    x->stays = stays;
    for (int32_t i = 0; i < x->how.move_count; i++) {
        int32_t old = find_moved(x, x->how.moves[i]);
        if (old >= 0) move_stays_divide(x, old, x->how.moves[i]);
    }
}
