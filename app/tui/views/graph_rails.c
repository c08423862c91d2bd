/* How lanes look: a character for what happens in a row, in a thick and in a dotted set. */
#include "tui/views/graph_rails.h"
#include "picture/picture.h"

#include <stdio.h>

enum happening { PASSES, CROSSED, BEGINS, TOUCHED, ENDS, HAPPENINGS };

static const uint32_t
    thick[HAPPENINGS] =
        {[PASSES] = 0x2503, [CROSSED] = 0x2542, [BEGINS] = 0x250e, [TOUCHED] = 0x2520, [ENDS] = 0x2516},
    dotted[HAPPENINGS] =
        {[PASSES] = 0x250a, [CROSSED] = 0x253c, [BEGINS] = 0x250c, [TOUCHED] = 0x251c, [ENDS] = 0x2514},
    plain_thick[HAPPENINGS] = {'|', '|', ',', '+', '`'}, plain_dotted[HAPPENINGS] = {':', ':', ',', '+', '`'};

struct rail_room rails_fit(const struct outcome *o, int columns)
{
    int room = columns >= 180   ? 32
               : columns >= 110 ? 16
               : columns >= 70  ? 10
               : columns >= 50  ? 4
                                : 0,
        all = o->rails.lanes;
    struct rail_room r = {.lanes = all < room ? all : room, .step = 2 * all <= room ? 2 : 1};
    bool folds = false;
    for (int32_t row = 0; row < o->rails.rows && !folds; row++) folds = o->rails.live[row] > r.lanes;
    r.folded = folds && r.lanes > 0 ? 4 : 0;
    r.columns = r.lanes * r.step + r.folded;
    return r;
}

static bool uses(const struct lx_op *op, int32_t tensor)
{
    for (int k = 0; k < op_operand_count(op); k++)
        if (operand_tensor(op, k) == tensor) return true;
    return false;
}

/* The copy between cores that fills the tensor at a tick: its mark; 0: none. */
static uint32_t copy_mark(const struct scene *on, int32_t tensor, int32_t tick)
{
    const struct lx_plan *p = on->session->shown.plan;
    int32_t low = 0, high = p->transfer_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (p->transfers[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->transfer_count && p->transfers[low].tick == tick; low++) {
        const struct lx_transfer *t = &p->transfers[low];
        if (t->stay < 0 || t->stay >= p->problem.count || p->stays[t->stay].tensor != tensor) continue;
        if (t->kind == LX_RING) return on->glyphs->ring;
        if (t->kind == LX_MOVE) return on->glyphs->move;
    }
    return 0;
}

static void put_lane(const struct scene *on, int row, int column, const struct rail *r, int32_t op,
                     bool crossed)
{
    const struct outcome *o = &on->session->shown;
    bool touched = uses(&outcome_graph(o)->ops[op], r->thing), on_chip = outcome_holds(o, r->thing, op);
    enum happening h = !touched         ? crossed ? CROSSED : PASSES
                       : op == r->first ? BEGINS
                       : op == r->last  ? ENDS
                                        : TOUCHED;
    const uint32_t *set = on->glyphs->ascii ? (on_chip ? plain_thick : plain_dotted)
                          : on_chip         ? thick
                                            : dotted;
    uint32_t mark = touched ? copy_mark(on, r->thing, op) : 0;
    put(on->cells, row, column, mark ? mark : set[h], (struct style){.ink = tone_of_identity(r->thing)});
}

static void put_join(const struct scene *on, int row, int from, int to)
{
    for (; from < to; from++) put(on->cells, row, from, on->glyphs->horizontal, INK(FRAME));
}

void put_rails(const struct scene *on, struct box at, struct rail_room room, int32_t op)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_op *is = &outcome_graph(o)->ops[op];
    bool joined = false;
    for (int k = 0; k < room.lanes; k++) {
        const struct rail *r = rails_at(&o->rails, k, op);
        int column = at.column + k * room.step;
        if (joined) put_join(on, at.row, column, column + 1);
        if (r) put_lane(on, at.row, column, r, op, joined);
        joined = joined || (r && uses(is, r->thing));
        if (joined) put_join(on, at.row, column + 1, column + room.step);
    }
    int end = at.column + room.lanes * room.step;
    int32_t folded = room.folded ? rails_folded(&o->rails, room.lanes, op) : 0;
    if (joined) put_join(on, at.row, end, end + room.folded);
    if (folded > 0) put_format(on->cells, at.row, end, room.folded, INK(DIM), "+%d", (int)folded);
}
