/* The uses of all tensors, the ways to serve them, and their least costs under prices of room.
 *
 * All values are in 2^-20 bytes and exact: a plan that fits pays no more than its bytes, since each tick it
 * gets back the price of the whole room. */
#include "check/proof.h"

static void proof_room_take(struct proof *p, const struct proof_access *a, int32_t *last)
{
    struct proof_use *u = &p->uses[p->use_at[a->op]], *end = &p->uses[p->use_count];
    bool written = false; /* another tensor, by the op */
    for (const struct proof_use *v = u; v < end; v++) written |= v->writes;
    while (u < end && u->tensor != a->tensor) u++;
    if (u == end) {
        int32_t before = last[a->tensor] - 1;
        *u = (struct proof_use){.tensor = a->tensor, .op = a->op, .before = before, .next = -1};
        u->of = &p->f->tensors[a->tensor];
        u->barred = a->barred;
        if (before >= 0) p->uses[before].next = p->use_count;
        last[a->tensor] = ++p->use_count;
    }
    u->reads |= a->reads;
    u->inserts |= a->reads && a->writes;
    u->picked |= a->picked;
    u->gives |= a->gives;
    u->takes |= a->writes && !written;
    u->writes |= a->writes;
    *(a->writes ? &u->written : &u->read) += a->bytes;
}

static bool proof_room_wiped(const struct proof *p, int32_t from, int32_t to)
{
    while (from <= to && !p->f->ops[from].wipes) from++;
    return from <= to;
}

void proof_begin(struct proof *p, const struct proof_facts *f)
{
    size_t ops = (size_t)f->op_count + 1, accesses = (size_t)f->access_count + 1;
    *p = (struct proof){.f = f};
    p->uses = arena_array(&p->memory, accesses, sizeof *p->uses);
    p->use_at = arena_array(&p->memory, ops, sizeof *p->use_at);
    p->sums = arena_array(&p->memory, ops, sizeof *p->sums);
    p->ahead = arena_array(&p->memory, PROOF_PLACES * accesses, sizeof *p->ahead);
    p->behind = arena_array(&p->memory, ops, sizeof *p->behind);
    p->beyond = arena_array(&p->memory, ops, sizeof *p->beyond);
    int32_t *last = arena_array(&p->memory, (size_t)f->tensor_count, sizeof *last), a = 0;
    for (int32_t o = 0; o < f->op_count; o++) {
        p->use_at[o] = p->use_count;
        for (; a < f->access_count && f->accesses[a].op == o; a++) proof_room_take(p, &f->accesses[a], last);
        bool gives = false;
        for (int32_t k = p->use_at[o]; k < p->use_count; k++) gives |= p->uses[k].gives;
        for (int32_t k = p->use_at[o]; k < p->use_count; k++) p->uses[k].takes &= gives && !p->uses[k].reads;
    }
    p->use_at[f->op_count] = p->use_count;
    for (int32_t k = 0; k < p->use_count; k++) {
        struct proof_use *u = &p->uses[k];
        const struct proof_use *next = u->next < 0 ? NULL : &p->uses[u->next];
        u->needed = next ? next->reads : u->of->leaves;
        u->stays = next && (next->reads || !u->of->cuts) && !proof_room_wiped(p, u->op, next->op);
    }
}

void proof_end(struct proof *p)
{
    VEC_FREE(&p->nests);
    arena_free(&p->memory);
}

struct proof_holds proof_plain(const struct proof_use *u)
{
    return (struct proof_holds){.is = {true}, .size = {u->of->size}, .fills = {1}, .times = 1};
}

/* The ways with hold `h`. A tensor on chip that HBM lacks is stored before it is read from HBM or dropped. */
static int proof_room_hold(const struct proof_use *u, const struct proof_holds *y, int h, bool within,
                           int place, int64_t stored, struct proof_way *out)
{
    int count = 0;
    bool there = place > 0 && (place - 1) / 2 == h, dirty = there && place % 2 == 0;
    int64_t whole = u->of->whole;
    int128 fills = y->fills[h], wrote = (int128)u->written * (2 * y->times - 1);
    struct proof_way w = {.size = y->size[h], .begins = !there, .covers = h < y->levels};
    w.in_turn = !there && !u->reads && !w.covers;
    if (!there && u->reads) {
        w.cost = stored + whole * fills;
        int128 read = stored + (int128)u->read * y->times;
        if (u->writes && !u->inserts && read < w.cost) w.cost = read;
    }
    if (u->writes && u->reads) { /* it is read on chip and written to HBM */
        out[count] = w;
        out[count++].cost += wrote + (dirty && u->inserts ? whole : 0);
    }
    if (u->writes) {
        if (fills > 1) w.cost += (2 * fills - 1) * whole; /* partial sums come and go */
        dirty = fills == 1;
    }
    w.after = 1 + 2 * h + dirty;
    if (u->stays && (h == 0 || within)) out[count++] = w;
    if (u->stays && !u->of->cuts) return count;
    w.after = 0;
    if (dirty && u->needed) w.cost += whole;
    out[count++] = w;
    return count;
}

int proof_ways(const struct proof_use *u, const struct proof_holds *y, bool within, int place,
               struct proof_way out[PROOF_WAYS])
{
    bool never = !u->of->cuts && place == PROOF_NEVER, on = place > 0 && !never;
    int64_t stored = on && place % 2 == 0 && u->reads ? u->of->whole : 0;
    int count = 0;
    struct proof_way w = {.cost = (int128)u->read * y->times + stored};
    w.cost += (int128)u->written * (2 * y->times - 1);
    if (!u->of->cuts && u->stays && (never || !u->barred)) w.after = PROOF_NEVER;
    if (u->of->cuts || !on || (u->barred && (u->writes || !u->stays))) out[count++] = w;
    if (u->barred && on && !u->writes && u->stays) { /* it stays on chip beside the access */
        w.size = u->of->size;
        w.after = 1;
        out[count++] = w;
    }
    for (int h = 0; h <= y->levels && !u->barred && !never; h++)
        if (y->is[h]) count += proof_room_hold(u, y, h, within, place, stored, &out[count]);
    return count;
}

/* The least priced cost behind a use that was served so. */
static int128 proof_room_then(const struct proof *p, const struct proof_use *u, const struct proof_nest *n,
                              const struct proof_way *w)
{
    int32_t op = u->next < 0 ? p->f->op_count : p->uses[u->next].op, until = op;
    if (w->after == 0) until = w->covers ? n->last + 1 : u->op + 1;
    const int128 *sums = n ? n->sums : p->sums;
    int128 cost = w->size * (sums[until] - sums[u->op + 1]);
    if (u->next < 0) return cost;
    bool inside = n && op <= n->last;
    int32_t at = inside ? u->next - p->use_at[n->first] : u->next;
    return cost + (inside ? n->ahead : p->ahead)[PROOF_PLACES * at + w->after];
}

int128 proof_best(const struct proof *p, int32_t use, const struct proof_holds *y, const struct proof_nest *n,
                  int place, bool whole, struct proof_way *best)
{
    const struct proof_use *u = &p->uses[use];
    bool within = n && u->next >= 0 && p->uses[u->next].op <= n->last;
    struct proof_way all[PROOF_WAYS];
    const int128 *sums = n ? n->sums : p->sums;
    int count = proof_ways(u, y, within, place, all);
    int128 least = 0;
    for (int i = 0; i < count; i++) {
        int64_t size = all[i].in_turn && u->takes ? 0 : all[i].size;
        int32_t from = whole && all[i].covers && all[i].begins ? n->first : u->op;
        int128 cost = (all[i].cost << PROOF_BITS) + size * (sums[u->op + 1] - sums[from]) +
                      proof_room_then(p, u, n, &all[i]);
        if (i > 0 && cost >= least) continue;
        least = cost;
        *best = all[i];
    }
    return least;
}

void proof_set_prices(struct proof *p, const int64_t *prices)
{
    struct proof_way any;
    for (int32_t o = 0; o < p->f->op_count; o++) p->sums[o + 1] = p->sums[o] + prices[o];
    p->bound = -p->f->room * p->sums[p->f->op_count];
    for (int32_t k = p->use_count - 1; k >= 0; k--) {
        struct proof_holds y = proof_plain(&p->uses[k]);
        for (int s = 0; s <= PROOF_NEVER; s++)
            p->ahead[PROOF_PLACES * k + s] = proof_best(p, k, &y, NULL, s, true, &any);
        if (p->uses[k].before < 0) p->bound += p->ahead[PROOF_PLACES * k];
    }
}

bool proof_holds_under(struct proof *p, const int64_t *prices, int64_t least, bool *searched)
{
    int64_t grain = max_i64(p->f->grain, 1);
    p->top = (int128)((least - 1) / grain * grain) * ((int128)1 << PROOF_BITS);
    p->nests.count = 0;
    p->steps = 0;
    p->gives_up = false;
    proof_set_prices(p, prices);
    proof_find_nests(p);
    *searched = p->bound + p->beyond[0] <= p->top;
    return !p->gives_up && (!*searched || proof_walk(p));
}

/* Bytes on chip per tick in the answer under the prices. */
static void proof_room_loads(const struct proof *p, int64_t *load)
{
    memset(load, 0, (size_t)p->f->op_count * sizeof *load);
    for (int32_t first = 0; first < p->use_count; first++) {
        int place = 0;
        for (int32_t k = first; p->uses[first].before < 0 && k >= 0; k = p->uses[k].next) {
            const struct proof_use *u = &p->uses[k];
            struct proof_holds y = proof_plain(u);
            struct proof_way w = {0};
            proof_best(p, k, &y, NULL, place, true, &w);
            if (!(w.in_turn && u->takes)) load[u->op] += w.size;
            place = w.after;
            for (int32_t o = u->op + 1; place && u->next >= 0 && o < p->uses[u->next].op; o++)
                load[o] += w.size;
        }
    }
}

/* Raises prices along the overload, with steps towards the claim that shrink when they fail (Polyak). */
void proof_find_prices(struct proof *p, int64_t least, int64_t *prices)
{
    enum { ROUNDS = 200 };
    size_t ops = (size_t)p->f->op_count, size = ops * sizeof *prices;
    int64_t *load = arena_array(&p->memory, ops, sizeof *load),
            *now = arena_array(&p->memory, ops, sizeof *now);
    double share = 1, best = -INFINITY;
    for (int round = 0, stale = 0; round < ROUNDS && best < (double)least; round++) {
        double norm = 0, bound;
        proof_set_prices(p, now);
        bound = (double)p->bound / (1 << PROOF_BITS);
        if (bound > best) {
            memcpy(prices, now, size);
            best = bound;
            stale = 0;
        } else if (++stale % 3 == 0)
            share /= 2;
        proof_room_loads(p, load);
        for (size_t o = 0; o < ops; o++) {
            double over = (double)(load[o] - p->f->room);
            if (over > 0 || now[o] > 0) norm += over * over;
        }
        double step = norm > 0 ? share * ((double)least - bound) / norm * (1 << PROOF_BITS) : 0;
        for (size_t o = 0; o < ops; o++) {
            double price = (double)now[o] + step * (double)(load[o] - p->f->room);
            now[o] = (int64_t)fmin(fmax(price, 0), 0x1p40);
        }
    }
}
