/* Making room: of all windows of neighbours with enough free bytes between them, and all places in them where the hole
 * could be, the one for which fewest bytes change their place. Below the hole blocks go down, above it up. */
#include "search/move_buffers.h"
#include "base/checked.h"

enum { WIDEST = 48 }; /* blocks in a window */

struct hole {
    size_t from, at, to; /* blocks [from, at) go down, [at, to) go up */
    int64_t moved;
};

static int64_t end_below(const struct room *r, size_t i)
{
    return i == 0 ? 0 : r->blocks.at[i - 1].address + r->blocks.at[i - 1].size;
}

static int64_t begin_above(const struct room *r, size_t i)
{
    return i == r->blocks.count ? r->capacity : r->blocks.at[i].address;
}

static size_t tightest(const struct room *r, int64_t size)
{
    int64_t best = INT64_MAX;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i <= r->blocks.count; i++) {
        int64_t gap = begin_above(r, i) - end_below(r, i);
        if (gap >= size && gap < best) best = gap, at = i;
    }
    return at;
}

/* What a block costs at another place than it had. */
static int64_t move_room_cost_of(const struct room_block *b, int64_t address)
{
    return b->old >= 0 && address != b->old ? b->size : 0;
}

static bool find_hole(const struct room *r, int64_t size, struct hole *best)
{
    best->moved = INT64_MAX;
    for (size_t from = 0; from < r->blocks.count; from++) {
        int64_t taken = 0;
        for (size_t to = from + 1; to <= r->blocks.count && to - from <= WIDEST; to++) {
            if (r->blocks.at[to - 1].fixed) break;
            taken += r->blocks.at[to - 1].size;
            if (begin_above(r, to) - end_below(r, from) - taken < size) continue;
            for (size_t at = from; at <= to; at++) {
                struct hole h = {from, at, to, 0};
                int64_t low = end_below(r, h.from), high = begin_above(r, h.to), cost = 0;
                for (size_t i = h.from; i < h.at; low += r->blocks.at[i++].size)
                    cost += move_room_cost_of(&r->blocks.at[i], low);
                for (size_t i = h.to; i > h.at; i--) {
                    high -= r->blocks.at[i - 1].size;
                    cost += move_room_cost_of(&r->blocks.at[i - 1], high);
                }
                h.moved = cost;
                if (h.moved < best->moved) *best = h;
            }
        }
    }
    return best->moved != INT64_MAX;
}

bool room_insert(struct room *r, struct room_block new)
{
    size_t at = tightest(r, new.size);
    struct hole h = {0};
    VEC_RESERVE(&r->blocks, r->blocks.count + 1);
    if (at == SIZE_MAX) {
        if (!find_hole(r, new.size, &h)) return false;
        int64_t low = end_below(r, h.from), high = begin_above(r, h.to);
        for (size_t i = h.from; i < h.at; i++) {
            r->blocks.at[i].address = low;
            low += r->blocks.at[i].size;
        }
        for (size_t i = h.to; i > h.at; i--) {
            high -= r->blocks.at[i - 1].size;
            r->blocks.at[i - 1].address = high;
        }
        at = h.at;
    }
    new.address = end_below(r, at);
    for (size_t i = r->blocks.count++; i > at; i--) r->blocks.at[i] = r->blocks.at[i - 1];
    r->blocks.at[at] = new;
    return true;
}
