/* Chains: ops on elements that follow each other on the same cores, go through the same items and are kept
 * apart by no sync and no copy, share one loop. A thread has the elements that it made itself at hand; what
 * it stores is rounded all the same, so a chain gives the bits that its ops give one by one.
 *
 * An op may join if it reads what the chain made at the same items alone, and overwrites nothing that
 * another thread may still read. */
#include "emit/emission.h"
#include "base/checked.h"

#include <string.h>

/* The bytes of an operand on all cores. */
struct chain_bytes {
    enum place_memory in;
    int64_t from, to;
};

static struct chain_bytes chain_bytes_of(const struct emission *e, int32_t tick, int operand)
{
    const struct lx_plan *p = e->plan;
    int32_t tensor = op_operand(&e->graph->ops[tick], operand), stay = lx_plan_place(p, tick, operand);
    struct chain_bytes b = {.in = stay >= 0 ? PLACE_LX : PLACE_HBM};
    b.from = stay >= 0 ? p->answer.address[stay] : p->hbm_address[tensor];
    b.to =
        b.from + (stay >= 0 ? p->problem.buffers[stay].size : lx_layout_bytes(&p->layouts->layouts[tensor]));
    return b;
}

static bool chain_overlaps(const struct emission *e, const struct chain_link *a, int x,
                           const struct chain_link *b, int y)
{
    struct chain_bytes one = chain_bytes_of(e, a->tick, x), two = chain_bytes_of(e, b->tick, y);
    return one.in == two.in && one.from < two.to && two.from < one.to;
}

/* Do both lead to the same bytes at each item? */
static bool chain_same(struct emission *e, const struct chain_link *a, int x, const struct chain_link *b,
                       int y)
{
    const struct op_place *p = &a->o.place[x], *q = &b->o.place[y];
    return p->in == q->in && p->dtype == q->dtype &&
           strcmp(item_address(e, p, &a->digits, NULL), item_address(e, q, &b->digits, NULL)) == 0;
}

/* Is it due at the tick, and on its way since before the chain? */
static bool chain_awaits(const struct emission *e, const struct lx_transfer *t, int32_t tick, int32_t first)
{
    return t->kind == LX_LOAD && t->tick == tick && t->ahead && lx_issue_tick(t) < first && !e->nest &&
           e->mirror[t->stay] < 0;
}

bool chain_waits(const struct emission *e, const struct chain_link *chain, int length)
{
    bool any = false;
    for (int32_t i = 0; i < e->plan->transfer_count; i++)
        for (int c = 1; c < length; c++)
            any |= chain_awaits(e, &e->plan->transfers[i], chain[c].tick, chain->tick);
    return any;
}

/* Nothing but the op itself stands at the tick: no sync, no bundle, no nest, and no copy but those awaited. */
static bool chain_bare(const struct emission *e, int32_t tick, int32_t first)
{
    const struct lx_plan *p = e->plan;
    for (int32_t i = 0; i < p->sync_count; i++)
        if (p->syncs[i].before == tick) return false;
    for (int32_t i = 0; i < p->bundle_count; i++)
        if (p->bundles[i].first == tick) return false;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (chain_awaits(e, t, tick, first)) continue;
        if (t->kind == LX_STORE ? t->tick == tick - 1 || t->tick == tick
                                : t->tick == tick || (t->ahead && lx_issue_tick(t) == tick))
            return false;
    }
    int32_t n = nest_of_op(p->nests, p->nest_count, tick);
    return n < 0 ? !e->nest : e->nest == &p->nests[n] && e->nest->first < tick;
}

static bool chain_mirrored(const struct emission *e, int32_t tick)
{
    int32_t stay = lx_plan_place(e->plan, tick, e->graph->ops[tick].input_count);
    return stay >= 0 && e->mirror[stay] >= 0;
}

/* Gives the digits of `link` the names that the chain's have; false: they are other digits. */
static bool chain_digits(const struct chain_link *first, struct chain_link *link)
{
    struct item_digits *d = &link->digits;
    if (d->count != first->digits.count || strcmp(d->total, first->digits.total) != 0 ||
        link->width != first->width || (link->vector < 0) != (first->vector < 0))
        return false;
    for (int i = 0; i < d->count; i++) {
        const struct item_digit *to = &first->digits.at[i];
        if (d->at[i].unit != to->unit || strcmp(d->at[i].count, to->count) != 0) return false;
        memcpy(d->at[i].name, to->name, sizeof to->name);
    }
    return true;
}

bool chain_joins(struct emission *e, const struct chain_link *chain, int length, struct chain_link *link)
{
    const struct chain_link *last = &chain[length - 1];
    const struct lx_op *op = &e->graph->ops[link->tick];
    if (e->how.traces || e->how.stamps || length == CHAIN_MOST || !chain_bare(e, link->tick, chain->tick) ||
        chain_mirrored(e, last->tick) || chain_mirrored(e, link->tick))
        return false;
    if (last->o.all_cores || link->o.all_cores || link->o.workers != last->o.workers ||
        !chain_digits(chain, link))
        return false;
    for (int i = 0; i <= op->input_count; i++)
        for (int c = 0; c < length; c++) {
            const struct chain_link *one = &chain[c];
            int inputs = one->o.op->input_count;
            link->made[i] = i < op->input_count && chain_same(e, one, inputs, link, i) ? c : link->made[i];
            if (i < op->input_count && link->made[i] != c && chain_overlaps(e, one, inputs, link, i))
                return false;
            if (link->made[i] == c && one->o.place[inputs].dtype == LX_FP32) return false; /* may be fused */
            for (int x = 0; i == op->input_count && x <= inputs; x++)
                if (chain_overlaps(e, one, x, link, i) && !chain_same(e, one, x, link, i)) return false;
        }
    return true;
}

/* Does anything but the chain take what the link makes from its stay? */
bool chain_keeps(const struct emission *e, const struct chain_link *chain, int length, int number)
{
    const struct lx_plan *p = e->plan;
    const struct chain_link *link = &chain[number];
    int32_t stay = lx_plan_place(p, link->tick, link->o.out), last = chain[length - 1].tick;
    if (stay < 0 || number + 1 == length) return true;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (p->transfers[i].stay == stay || p->transfers[i].source == stay) return true;
    for (int32_t k = 0; k < e->graph->op_count; k++)
        for (int i = 0; i < e->graph->ops[k].input_count; i++)
            if ((k < chain->tick || k > last) && lx_plan_place(p, k, i) == stay) return true;
    return false;
}
