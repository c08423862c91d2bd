/* Costs of stays on and off chip: for every placement, the problem's cost plus a constant is the traffic of
 * traffic.c. Off chip, every access of a stay costs its bytes. On chip, a stay that begins with a read is
 * loaded, unless it is a relayout whose source is on chip: a linked cost on the copy without its source. A
 * write is stored if it is needed in HBM before the next write: always for a graph output, an access that no
 * stay serves, or a load; else a linked cost on the stay with a relayout's copy or source off chip. All stays
 * of a linked cost have one tensor. A stay that never saves anything is excluded, repeatedly. */
#include "stays/stay_reasons.h"

struct price {
    int64_t off, on;
};

struct pricing {
    struct draft *x;
    struct price *of; /* per stay */
    VEC(struct lx_linked_cost) linked;
    /* The current tensor: its stays are number `tensor` and [later, end). */
    int32_t tensor, later, end;
    int64_t whole, fixed; /* bytes: the whole tensor; traffic under any placement */
    size_t first_linked;
    bool sizes_count; /* false: price stays as if none were too large */
};

/* `stay` if it may be on chip, else -1. */
static int32_t stay_usable(const struct pricing *p, int32_t stay)
{
    enum lx_exclusion bar = stay >= 0 ? p->x->stays[stay].exclusion : LX_EXCLUDED_NONE;
    return bar && (p->sizes_count || bar != LX_EXCLUDED_SIZE) ? -1 : stay;
}

static struct lx_group stay_group(const struct pricing *p, const int32_t *members, int32_t count)
{
    return (struct lx_group){arena_copy_array(p->x->memory, members, (size_t)count, sizeof *members), count};
}

/* Iterates over the tensor's stays; -1 begins, -1 ends. */
static int32_t next_stay(const struct pricing *p, int32_t stay)
{
    if (stay < 0) return p->tensor;
    int32_t next = stay == p->tensor ? p->later : stay + 1;
    return next < p->end ? next : -1;
}

static void link_load(struct pricing *p, int32_t stay)
{
    struct lx_linked_cost c = {.cost = stay_load_bytes(p->x, stay)};
    int32_t source = stay_usable(p, p->x->stays[stay].ring_source);
    if (p->x->stays[stay].begins_written) return;
    if (source < 0) {
        p->of[stay].on += c.cost;
        return;
    }
    c.all_on = stay_group(p, &stay, 1);
    c.all_off = stay_group(p, &source, 1);
    VEC_PUSH(&p->linked, c);
}

struct needs {
    bool always;
    VEC(int32_t) any_off;
};

static void need_if_off(struct needs *n, int32_t stay, int32_t writer)
{
    for (size_t i = 0; i < n->any_off.count; i++)
        if (n->any_off.at[i] == stay) return;
    if (stay != writer) VEC_PUSH(&n->any_off, stay);
}

/* Adds to `n` when `access`, which follows the write, needs the value in HBM. */
static void add_need(const struct pricing *p, int32_t access, int32_t writer, struct needs *n)
{
    const struct draft *x = p->x;
    int32_t stay = stay_usable(p, x->accesses[access].stay);
    if (!x->accesses[access].reads || stay == writer) return;
    bool begins = stay >= 0 && x->stays[stay].first == x->access_op[access] && !x->stays[stay].begins_written;
    int32_t source = begins ? stay_usable(p, p->x->stays[stay].ring_source) : -1;
    if (stay < 0 || (begins && source < 0)) {
        n->always = true;
        return;
    }
    need_if_off(n, stay, writer);
    if (begins) need_if_off(n, source, writer);
}

/* Prices the store of the value written by access number k of the tensor. */
static void link_store(struct pricing *p, int32_t k)
{
    const struct draft *x = p->x;
    struct lx_linked_cost c = {.cost = p->whole};
    struct needs n = {0};
    int32_t writer = stay_usable(p, x->accesses[x->tensor_access[k]].stay), end = x->tensor_at[p->tensor + 1];
    bool rewritten = false;
    if (writer < 0) return;
    if (stay_parts(x, writer) > 1) {
        p->of[writer].on += p->whole * (2 * stay_parts(x, writer) - 1);
        return;
    }
    for (int32_t i = k + 1; i < end && !rewritten; i++) {
        add_need(p, x->tensor_access[i], writer, &n);
        rewritten = x->accesses[x->tensor_access[i]].writes;
    }
    n.always |= !rewritten && lx_role_leaves(x->graph->tensors[p->tensor].role);
    if (n.always)
        p->of[writer].on += p->whole;
    else if (n.any_off.count) {
        c.all_on = stay_group(p, &writer, 1);
        c.any_off = stay_group(p, n.any_off.at, (int32_t)n.any_off.count);
        VEC_PUSH(&p->linked, c);
    }
    VEC_FREE(&n.any_off);
}

/* Prices the tensor; excluded stays count as off chip. */
static void stay_prices_price_tensor(struct pricing *p)
{
    const struct draft *x = p->x;
    p->fixed = 0;
    p->linked.count = p->first_linked;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) p->of[s] = (struct price){0};
    for (int32_t k = x->tensor_at[p->tensor]; k < x->tensor_at[p->tensor + 1]; k++) {
        int32_t access = x->tensor_access[k], stay = stay_usable(p, x->accesses[access].stay);
        *(stay < 0 ? &p->fixed : &p->of[stay].off) += x->accesses[access].bytes;
        if (x->accesses[access].writes) link_store(p, k);
    }
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s))
        if (stay_usable(p, s) >= 0) link_load(p, s);
}

static bool stay_prices_has(const struct lx_group *g, int32_t stay)
{
    for (int32_t i = 0; i < g->count; i++)
        if (g->at[i] == stay) return true;
    return false;
}

static int64_t most_gain(const struct pricing *p, int32_t stay)
{
    int64_t gain = p->of[stay].off - p->of[stay].on;
    for (size_t i = p->first_linked; i < p->linked.count; i++)
        if (stay_prices_has(&p->linked.at[i].all_off, stay) ||
            stay_prices_has(&p->linked.at[i].any_off, stay))
            gain += p->linked.at[i].cost;
    return gain;
}

static void exclude_stay(struct draft *x, int32_t stay)
{
    struct lx_stay *s = &x->stays[stay];
    const struct lx_op *behind = NULL; /* the first op behind a wipe */
    for (int32_t k = x->tensor_at[s->tensor]; !behind && k < x->tensor_at[s->tensor + 1]; k++) {
        int32_t op = x->access_op[x->tensor_access[k]];
        if (op > s->last && x->wipes_before[op] != x->wipes_before[s->last]) behind = &x->graph->ops[op];
    }
    bool called = behind && behind->kind->traits & LX_EXTERN;
    s->exclusion = called ? LX_EXCLUDED_EXTERN : LX_EXCLUDED_NO_GAIN;
    s->ring_source = -1;
    x->buffers[stay].reason =
        called ? reason_text(x->memory, REASON_EXTERN, (struct reason_facts){.op = behind->name})
               : reason_plain(REASON_NO_GAIN);
}

/* Excludes stays that save nothing; false: there are none. */
static bool exclude_useless(struct pricing *p)
{
    struct draft *x = p->x;
    bool changed = false;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) {
        if (x->stays[s].exclusion || most_gain(p, s) > 0) continue;
        changed = true;
        exclude_stay(x, s);
    }
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s))
        x->stays[s].ring_source = stay_usable(p, x->stays[s].ring_source);
    return changed;
}

/* The least cost of a stay and its copies where there is room for all. */
static int64_t stay_prices_least_of(const struct pricing *p, int32_t stay)
{
    const struct draft *x = p->x;
    const struct lx_linked_cost *store = NULL;
    int64_t off = p->of[stay].off, stored, kept;
    for (size_t i = p->first_linked; i < p->linked.count; i++)
        if (p->linked.at[i].any_off.count && p->linked.at[i].all_on.at[0] == stay) store = &p->linked.at[i];
    stored = p->of[stay].on + (store ? store->cost : 0);
    kept = p->of[stay].on;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) {
        int64_t either = min_i64(p->of[s].off, p->of[s].on);
        if (x->stays[s].ring_source != stay) continue;
        off += min_i64(p->of[s].off, p->of[s].on + stay_load_bytes(x, s));
        stored += either;
        kept += store && stay_prices_has(&store->any_off, s) ? p->of[s].on : either;
    }
    return min_i64(off, min_i64(stored, kept));
}

static void settle_tensor(struct pricing *p)
{
    p->first_linked = p->linked.count;
    p->whole = tensor_bytes(p->x->layouts, p->tensor);
    /* A stay that is too large and would save nothing anyway is excluded for the latter. */
    bool any = false;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s))
        any |= p->x->stays[s].exclusion == LX_EXCLUDED_SIZE;
    p->sizes_count = false;
    if (any) stay_prices_price_tensor(p);
    for (int32_t s = next_stay(p, -1); any && s >= 0; s = next_stay(p, s))
        if (p->x->stays[s].exclusion == LX_EXCLUDED_SIZE && most_gain(p, s) <= 0) exclude_stay(p->x, s);
    p->sizes_count = true;
    do stay_prices_price_tensor(p);
    while (exclude_useless(p));
    /* The prices go into the buffers, unavoidable bytes into base_bytes. */
    struct draft *x = p->x;
    x->base_bytes += p->fixed;
    x->least_bytes += p->fixed;
    for (int32_t s = next_stay(p, -1); s >= 0; s = next_stay(p, s)) {
        struct lx_buffer *b = &x->buffers[s];
        struct lx_linked_cost on = {0};
        int64_t both = min_i64(p->of[s].off, p->of[s].on);
        x->base_bytes += both;
        if (x->stays[s].ring_source < 0) x->least_bytes += stay_prices_least_of(p, s);
        x->copy_bytes[s] = p->of[s].on;
        b->spill_cost = p->of[s].off - both;
        on.cost = p->of[s].on - both;
        if (!on.cost) continue;
        on.all_on = stay_group(p, &s, 1);
        VEC_PUSH(&p->linked, on);
    }
}

void draft_prices(struct draft *x)
{
    struct pricing p = {.x = x, .end = x->graph->tensor_count};
    size_t n = (size_t)x->problem.count;
    p.of = mem_zeroed(n + 1, sizeof *p.of);
    x->copy_bytes = arena_array(x->memory, n, sizeof *x->copy_bytes);
    for (p.tensor = 0; p.tensor < x->graph->tensor_count; p.tensor++) {
        p.later = p.end;
        while (p.end < x->problem.count && x->stays[p.end].tensor == p.tensor) p.end++;
        settle_tensor(&p);
    }
    struct lx_bonds *bonds = &x->problem.bonds;
    bonds->linked_cost_count = (int32_t)p.linked.count;
    bonds->linked_costs = arena_copy_array(x->memory, p.linked.at, p.linked.count, sizeof *p.linked.at);
    VEC_FREE(&p.linked);
    mem_free(p.of);
}

/* --- The problem of a lax draft. In an undecided relayout after the last use of its source, the source need
 * not wait; but then the copy is loaded. The source's bytes after its last use are buffers of their own, the
 * keepers, one up to each time of copies. A copy is loaded unless the source and all keepers up to its time
 * are on chip, and then the source's last write is stored, too. A keeper may get another address than its
 * source: so the cost is a lower bound. --- */

struct wait_builder {
    const struct draft *x;
    struct arena *memory;
    VEC(struct wait) waits;
    VEC(struct lx_buffer) buffers;
    VEC(struct lx_linked_cost) linked;
};

ORDER(by_source, struct wait, ORDER_UP(source) ORDER_UP(tick) ORDER_UP(copy));

/* Adds a keeper: the bytes of buffer `of` from its end until after `tick`. It takes over the buffer's place
 * if the buffer is read at all. */
static void add_keeper(struct wait_builder *b, int32_t of, int64_t tick)
{
    const struct lx_buffer *before = &b->buffers.at[of];
    bool takes_over = lx_read_count(before) > 0;
    struct lx_buffer k = {.name = before->name,
                          .size = before->size,
                          .start = takes_over ? before->end - 1 : before->end,
                          .end = tick + 1,
                          .fixed = -1,
                          .line = before->line,
                          .column = before->column};
    int64_t uses[] = {k.start, tick};
    k.use_count = k.start < tick ? 2 : 1;
    k.uses = arena_copy_array(b->memory, uses, (size_t)k.use_count, sizeof *uses);
    if (takes_over) {
        k.parents = arena_copy_array(b->memory, &of, 1, sizeof of);
        k.parent_count = 1;
    }
    VEC_PUSH(&b->buffers, k);
}

static void with_keepers(struct wait_builder *b, struct lx_group *g, const struct wait *w)
{
    int32_t more = w->last - w->first + 1;
    int32_t *all = arena_array(b->memory, (size_t)(g->count + more), sizeof *all);
    for (int32_t i = 0; i < g->count; i++) all[i] = g->at[i];
    for (int32_t i = 0; i < more; i++) all[g->count + i] = w->first + i;
    *g = (struct lx_group){all, g->count + more};
}

static bool waits_is_on(const struct lx_group *g, int32_t member)
{
    return g->count == 1 && g->at[0] == member;
}

void draft_waits(const struct draft *x, struct arena *memory, struct waiting *out)
{
    struct wait_builder b = {.x = x, .memory = memory};
    for (int32_t i = 0; x->how.lax && i < x->problem.count; i++) {
        struct wait w = {.copy = i, .source = x->stays[i].ring_source, .tick = x->stays[i].first};
        if (w.source >= 0 && x->buffers[w.source].end <= w.tick) VEC_PUSH(&b.waits, w);
    }
    if (b.waits.count) qsort(b.waits.at, b.waits.count, sizeof *b.waits.at, by_source);
    *out = (struct waiting){.problem = x->problem};
    if (b.waits.count) {
        for (int32_t i = 0; i < x->problem.count; i++) VEC_PUSH(&b.buffers, x->buffers[i]);
        for (size_t i = 0; i < b.waits.count; i++) {
            struct wait *w = &b.waits.at[i], *before = i > 0 ? w - 1 : NULL;
            bool same = before && before->source == w->source;
            w->first = same ? before->first : (int32_t)b.buffers.count;
            if (!same || before->tick != w->tick) add_keeper(&b, same ? before->last : w->source, w->tick);
            w->last = (int32_t)b.buffers.count - 1;
        }
        const struct lx_bonds *bonds = &b.x->problem.bonds;
        for (int32_t i = 0; i < bonds->linked_cost_count; i++) VEC_PUSH(&b.linked, bonds->linked_costs[i]);
        for (size_t i = 0; i < b.waits.count; i++) {
            const struct wait *w = &b.waits.at[i];
            bool is_last = i + 1 == b.waits.count || w[1].source != w->source, widened = false;
            for (size_t k = 0; !widened && k < b.linked.count; k++) {
                /* The load of the copy: due if the source or a keeper is off chip. */
                struct lx_linked_cost *c = &b.linked.at[k];
                widened = waits_is_on(&c->all_on, w->copy) && waits_is_on(&c->all_off, w->source);
                if (!widened) continue;
                c->any_off = c->all_off;
                c->all_off = (struct lx_group){0};
                with_keepers(&b, &c->any_off, w);
            }
            for (size_t k = 0; is_last && k < b.linked.count; k++) {
                /* The store of the source, unless all copies are made on chip: the last keepers stand for
                 * all. */
                struct lx_linked_cost *c = &b.linked.at[k];
                if (waits_is_on(&c->all_on, w->source) && c->any_off.count) with_keepers(&b, &c->any_off, w);
            }
        }
        out->count = (int32_t)b.waits.count;
        out->problem.count = (int32_t)b.buffers.count;
        out->problem.bonds.linked_cost_count = (int32_t)b.linked.count;
        out->waits = arena_copy_array(memory, b.waits.at, b.waits.count, sizeof *b.waits.at);
        out->problem.buffers = arena_copy_array(memory, b.buffers.at, b.buffers.count, sizeof *b.buffers.at);
        out->problem.bonds.linked_costs =
            arena_copy_array(memory, b.linked.at, b.linked.count, sizeof *b.linked.at);
    }
    VEC_FREE(&b.waits);
    VEC_FREE(&b.buffers);
    VEC_FREE(&b.linked);
}
