/* Chains: ops that follow each other on the same cores, go through the same items, or rows, and are kept
 * apart by no sync and no copy, share one loop. A thread has the elements that it made itself at hand; what
 * it stores is rounded all the same, so a chain gives the bits that its ops give one by one.
 *
 * An op may join if it reads what the chain made at the same items alone, and overwrites nothing that
 * another thread may still read. */
#include "emit/emission.h"

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
           strcmp(item_address(e, p, &a->digits, &a->terms), item_address(e, q, &b->digits, &b->terms)) == 0;
}

/* Is it due at the tick, and on its way since before the chain? */
static bool chain_awaits(const struct emission *e, const struct lx_transfer *t, int32_t tick, int32_t first)
{
    return t->kind == LX_LOAD && t->tick == tick && t->ahead && lx_issue_tick(t) < first && !e->nest &&
           e->mirror[t->stay] < 0;
}

/* Does nothing but the ops of [first, last] touch the stay? */
static bool chain_encloses(const struct emission *e, int32_t stay, int32_t first, int32_t last)
{
    const struct lx_plan *p = e->plan;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (p->transfers[i].stay == stay || p->transfers[i].source == stay) return false;
    for (int32_t k = 0; k < e->graph->op_count; k++)
        for (int i = 0; (k < first || k > last) && i < op_operand_count(&e->graph->ops[k]); i++)
            if (lx_plan_place(p, k, i) == stay) return false;
    return true;
}

/* Are the bytes of a load free, and its tensor there, from the tick `first` on? A stay that begins and ends
 * in the chain before the load is in registers. */
static bool chain_load_is_free(const struct emission *e, const struct lx_transfer *t, int32_t first)
{
    const struct lx_plan *p = e->plan;
    int32_t tensor = p->stays[t->stay].tensor, issue = lx_issue_tick(t);
    int64_t from = p->answer.address[t->stay], to = from + p->problem.buffers[t->stay].size;
    for (int32_t k = first; k < issue; k++)
        if (e->graph->ops[k].output == tensor) return false;
    for (int32_t s = 0; s < p->problem.count; s++) {
        const struct lx_buffer *b = &p->problem.buffers[s];
        int64_t at = p->answer.address[s];
        if (s != t->stay && at >= 0 && at < to && from < at + b->size && b->start < issue && b->end > first &&
            !chain_encloses(e, s, first, issue - 1))
            return false;
    }
    return true;
}

/* May the load begin with those of the chain's first tick, though the plan begins it within the chain? */
static bool chain_hoists(const struct emission *e, const struct lx_transfer *t, int32_t first)
{
    bool waits = false; /* for other loads */
    for (int32_t i = 0; i < e->plan->transfer_count && !waits; i++) {
        const struct lx_transfer *own = &e->plan->transfers[i];
        waits = own->kind == LX_LOAD && own->tick == first && !own->ahead;
    }
    return waits && t->kind == LX_LOAD && t->ahead && lx_issue_tick(t) >= first && !e->nest &&
           e->mirror[t->stay] < 0 && chain_load_is_free(e, t, first);
}

bool chain_begins_load(const struct emission *e, const struct lx_transfer *t)
{
    return e->chain_last > e->tick && t->ahead && lx_issue_tick(t) >= e->tick &&
           lx_issue_tick(t) <= e->chain_last && chain_hoists(e, t, e->tick);
}

bool chain_waits(const struct emission *e, const struct chain_link *chain, int length)
{
    bool any = false;
    for (int32_t i = 0; i < e->plan->transfer_count; i++)
        for (int c = 1; c < length; c++)
            any |= chain_awaits(e, &e->plan->transfers[i], chain[c].tick, chain->tick);
    return any;
}

/* Nothing but the op itself stands at the tick: no sync, no bundle, no nest, and no copy but those awaited, or
 * in a chain by rows begun with it. */
static bool chain_bare(const struct emission *e, int32_t tick, int32_t first, bool rows)
{
    const struct lx_plan *p = e->plan;
    for (int32_t i = 0; i < p->sync_count; i++)
        if (p->syncs[i].before == tick) return false;
    for (int32_t i = 0; i < p->bundle_count; i++)
        if (p->bundles[i].first == tick) return false;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (chain_awaits(e, t, tick, first) || (rows && chain_hoists(e, t, first))) continue;
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

/* Gives digits the names of others; false: they are other digits. */
static bool digits_renamed(const struct item_digits *to, struct item_digits *d)
{
    if (d->count != to->count || strcmp(d->total, to->total) != 0) return false;
    for (int i = 0; i < d->count; i++) {
        if (d->at[i].unit != to->at[i].unit || strcmp(d->at[i].count, to->at[i].count) != 0) return false;
        memcpy(d->at[i].name, to->at[i].name, sizeof to->at[i].name);
    }
    return true;
}

/* Likewise those of a link. */
static bool chain_digits(const struct chain_link *chain, int length, struct chain_link *link)
{
    const struct chain_link *row = NULL;
    for (int i = 0; i < length && !row; i++)
        if (chain[i].terms.count) row = &chain[i];
    if (link->form == LINK_ITEM && (link->width != chain->width || (link->vector < 0) != (chain->vector < 0)))
        return false;
    if (link->terms.count && row && (link->width != row->width || !digits_renamed(&row->terms, &link->terms)))
        return false;
    return digits_renamed(&chain->digits, &link->digits);
}

/* May what the link makes be fused with what follows, where it is not rounded? */
static bool chain_fuses(const struct chain_link *link)
{
    bool sums = link->form == LINK_FOLD && link->o.op->kind->id != LX_KIND_MEAN;
    return link->o.place[link->o.out].dtype == LX_FP32 && !sums;
}

/* Does anything but the chain take what the link makes from its stay? */
bool chain_keeps(const struct emission *e, const struct chain_link *chain, int length, int number)
{
    int32_t stay = lx_plan_place(e->plan, chain[number].tick, chain[number].o.out);
    return stay < 0 || number + 1 == length || !chain_encloses(e, stay, chain->tick, chain[length - 1].tick);
}

/* Is the operand of a link in memory, not at hand? */
static bool chain_touches(const struct emission *e, const struct chain_link *chain, int length, int number,
                          int operand)
{
    bool output = operand == chain[number].o.op->input_count;
    return output ? chain_keeps(e, chain, length, number) : chain[number].made[operand] < 0;
}

/* Finds who makes an input; false: it is in memory, where somebody of the chain writes. */
static bool chain_finds(struct emission *e, const struct chain_link *chain, int length,
                        struct chain_link *link, int input)
{
    for (int c = length - 1; c >= 0; c--) {
        int output = chain[c].o.op->input_count;
        link->made[input] = c;
        if (chain_same(e, &chain[c], output, link, input)) return !chain_fuses(&chain[c]);
        if (chain_overlaps(e, &chain[c], output, link, input)) return false;
    }
    link->made[input] = -1;
    return true;
}

/* May the output of the link stand where the chain has its operands? */
static bool chain_stores(struct emission *e, const struct chain_link *chain, int length,
                         const struct chain_link *link)
{
    int output = link->o.op->input_count;
    for (int c = 0; c < length; c++)
        for (int x = 0; x <= chain[c].o.op->input_count; x++)
            if (chain_touches(e, chain, length, c, x) && chain_overlaps(e, &chain[c], x, link, output) &&
                !chain_same(e, &chain[c], x, link, output))
                return false;
    return true;
}

bool chain_joins(struct emission *e, const struct chain_link *chain, int length, struct chain_link *link)
{
    const struct chain_link *last = &chain[length - 1];
    if (e->how.traces || e->how.stamps || length == CHAIN_MOST ||
        !chain_bare(e, link->tick, chain->tick, link->form != LINK_ITEM) || chain_mirrored(e, last->tick) ||
        chain_mirrored(e, link->tick))
        return false;
    if (last->o.all_cores || link->o.all_cores || link->o.workers != last->o.workers ||
        !chain_digits(chain, length, link))
        return false;
    for (int i = 0; i < link->o.op->input_count; i++)
        if (!chain_finds(e, chain, length, link, i)) return false;
    return chain_stores(e, chain, length, link);
}

bool chain_next(struct emission *e, const struct chain_link *chain, int length, struct chain_link *next,
                bool (*make)(struct emission *e, struct chain_link *link))
{
    int32_t tick = e->tick;
    const char *number = e->number;
    struct op_parts *parts = e->parts;
    lx_status none = {0}, *st = e->st;
    e->st = &none; /* who cannot join says why at its own tick */
    *next = (struct chain_link){.tick = ++e->tick};
    bool joins = e->tick < e->graph->op_count && tick_numbers(e) && strcmp(number, "float") == 0 &&
                 strcmp(e->number, number) == 0 && make(e, next) && chain_joins(e, chain, length, next);
    e->st = st;
    if (joins) return true;
    e->tick = tick;
    e->number = number;
    e->parts = parts;
    return false;
}

void chain_operand(struct emission *e, const struct chain_link *chain, int number, int operand,
                   const char *name)
{
    const struct chain_link *link = &chain[number];
    int width = link->form == LINK_NUMBER ? 1 : link->width, made = link->made[operand];
    if (made < 0) {
        item_load(e, &link->o.place[operand], &link->digits, &link->terms, link->vector, width, name);
        return;
    }
    const struct chain_link *maker = &chain[made];
    const char *type = item_word(maker->o.place[maker->o.out].dtype);
    if (width == 1)
        emit_line(e, "const float %s = rounded_%s(y%d);", name, type, made);
    else if (maker->form == LINK_NUMBER || maker->form == LINK_FOLD)
        emit_line(e, "const f%d %s = same%d(rounded_%s(y%d));", width, name, width, type, made);
    else
        emit_line(e, "f%d %s; EACH(j, %d) %s.at[j] = rounded_%s(y%d%s.at[j]);", width, name, width, name,
                  type, made, maker->form == LINK_ROW ? "[t]" : "");
}
