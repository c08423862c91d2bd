/* Copies in the replay: is what they move there, and where is it then?
 *
 * In a nest a copy is made once per iteration of the levels up to the hold of its buffer: into the
 * scratchpad in the first iteration of the others, to HBM after their last. Parts of a sum are loaded only
 * where some have been made. */
#include "check/check_replay.h"
#include "base/checked.h"
#include "base/fail.h"

/* One copy in one iteration. */
struct copy {
    const struct lx_transfer *x;
    int32_t tensor;
    int hold;
    struct looped looped;
};

static bool share_bytes(const struct replay *r, int32_t a, int32_t b)
{
    const int64_t *at = r->c->p->answer.address;
    const struct lx_buffer *x = r->c->p->problem.buffers;
    return at[a] < at[b] + x[b].size && at[b] < at[a] + x[a].size;
}

/* Stores and ring copies need all of it at their source, held in the same way. */
static bool source_has(const struct replay *r, const struct copy *k)
{
    int32_t from = k->x->kind == LX_STORE ? k->x->stay : k->x->source;
    return is_placed(r, from) && is_alive(r, from) && r->c->p->stays[from].tensor == k->tensor &&
           r->c->p->stays[from].hold == k->hold && !r->held[from].zones &&
           slice_held(r, from, &k->looped, k->hold);
}

static bool may_copy(const struct replay *r, const struct copy *k)
{
    const struct lx_transfer *x = k->x;
    if (x->kind == LX_LOAD) {
        if (k->looped.summed && !(k->looped.summed & loops_to(k->hold)))
            return status_set(r->st, LX_E_NO, "tick %d loads %s, a sum that is made on chip", (int)r->tick,
                              buffer_name(r, k->x->stay));
        if (slice_in_hbm(r, k->tensor, &k->looped, k->hold)) return true;
        return status_set(r->st, LX_E_NO, "tick %d loads %s, but HBM does not have its value", (int)r->tick,
                          buffer_name(r, k->x->stay));
    }
    if (x->kind == LX_MOVE) {
        /* The old place was its own up to this tick, and no copy of the tick has come there yet. */
        const struct lx_plan *p = r->c->p;
        int32_t from = x->source;
        bool right = is_placed(r, from) && p->stays[from].tensor == k->tensor && from != x->stay &&
                     p->stays[from].hold == k->hold && p->problem.buffers[from].start < r->tick &&
                     r->tick <= p->problem.buffers[from].end &&
                     parts_equal(&r->parts[from], &r->parts[x->stay]) &&
                     slice_held(r, from, &k->looped, k->hold);
        for (const struct lx_transfer *y = &p->transfers[r->transfer_at[r->tick]]; right && y < x; y++)
            right = y->kind == LX_STORE || !share_bytes(r, y->stay, from);
        return right ? true
                     : status_set(r->st, LX_E_NO, "tick %d moves %s from where its value is not",
                                  (int)r->tick, buffer_name(r, x->stay));
    }
    if (source_has(r, k)) return true;
    int32_t from = x->kind == LX_STORE ? x->stay : x->source;
    return status_set(r->st, LX_E_NO, "tick %d copies %s from %s, which does not have its value",
                      (int)r->tick, buffer_name(r, x->stay),
                      is_placed(r, from) ? buffer_name(r, from) : "nowhere");
}

/* A buffer of a slice belongs to the nest whose op it has the view of. */
static bool buffer_right(const struct replay *r, const struct lx_transfer *x)
{
    const struct lx_stay *s;
    if (!is_placed(r, x->stay) || !is_alive(r, x->stay))
        return status_set(r->st, LX_E_NO, "a copy at tick %d is of a buffer that is not on chip then",
                          (int)r->tick);
    s = &r->c->p->stays[x->stay];
    if (x->kind != LX_STORE && r->c->p->took_slot_of[x->stay] >= 0)
        return status_set(r->st, LX_E_NO, "buffer %s is filled by a copy and cannot take another's place",
                          buffer_name(r, x->stay));
    if (s->hold > 0 && loops_of(r->c, s->view_op) != r->nest)
        return status_set(r->st, LX_E_NO, "a copy at tick %d is of a slice of another nest: %s", (int)r->tick,
                          buffer_name(r, x->stay));
    return true;
}

static void act(struct replay *r, const struct copy *k)
{
    const struct lx_transfer *x = k->x;
    if (x->kind == LX_STORE) {
        if (turns_first(r, loops_to(k->hold)))
            hbm_written(r->lives, k->tensor, moment(r, PHASE_STORES));
        else
            hbm_seen(r->lives, k->tensor, moment(r, PHASE_STORES));
        store_slice(r, k->tensor, &k->looped, k->hold);
        return;
    }
    if (x->kind == LX_LOAD) hbm_seen(r->lives, k->tensor, moment(r, PHASE_COPIES_IN));
    if (x->kind == LX_MOVE)
        r->held[x->stay] = r->held[x->source];
    else
        fill_slice(r, x->stay, &k->looped, k->hold);
}

/* Is it made in this iteration? */
static bool check_copies_is_due(const struct replay *r, const struct copy *k)
{
    unsigned inside = all_loops(r->nest) & ~loops_to(k->hold), sum = k->looped.summed & loops_to(k->hold);
    if (k->x->kind == LX_STORE) return turns_last(r, inside);
    return turns_first(r, inside) && !(k->x->kind == LX_LOAD && sum && turns_first(r, sum));
}

static bool do_copy(struct replay *r, const struct lx_transfer *x)
{
    if (!buffer_right(r, x)) return false;
    const struct lx_stay *s = &r->c->p->stays[x->stay];
    struct copy k = {
        .x = x, .tensor = s->tensor, .hold = s->hold, .looped = looped_in(r->c, r->nest, s->tensor)};
    if (!check_copies_is_due(r, &k)) return true;
    if (!may_copy(r, &k)) return false;
    act(r, &k);
    return true;
}

bool do_copies(struct replay *r, bool stores)
{
    const struct lx_plan *p = r->c->p;
    for (int32_t i = r->transfer_at[r->tick]; i < r->transfer_at[r->tick + 1]; i++)
        if ((p->transfers[i].kind == LX_STORE) == stores && !do_copy(r, &p->transfers[i])) return false;
    return true;
}
