/* First-fit and best-fit for problems with pools, bonds and linked costs.
 *
 * Units (ledger.h) are visited in order: pinned ones first, then units that must have a certain state. A unit
 * changes its state if its members find places and if the change breaks fewer rules, or no more at no higher
 * cost. Further rounds change states only for a strictly better answer, until none changes. Units that save
 * nothing then go off chip, and the rounds repeat. If a rule is still broken, other orders are tried from the
 * start: by size, by area, by time. */
#include "common/gap_fit.h"
#include "common/ledger.h"
#include "common/places.h"

enum { MOST_ROUNDS = 6, ORDERS = 4 };

struct fitting {
    const struct lx_problem *p;
    const struct lx_run *run;
    struct ledger ledger;
    struct places places;
    struct units units;
    bool *state;      /* per unit */
    int32_t *order;   /* units */
    int64_t *address; /* the answer so far */
    int32_t *pool;
    struct spot *was; /* previous spots of the current unit's members */
    int64_t steps;
};

static void full_fit_take_off(struct fitting *f, int32_t i)
{
    if (!f->ledger.on[i]) return;
    places_take(&f->places, i);
    ledger_set(&f->ledger, i, false, 0);
}

static void full_fit_put_on(struct fitting *f, int32_t i, const struct spot *at)
{
    places_put(&f->places, i, at);
    ledger_set(&f->ledger, i, true, at->cost);
}

/* Takes members off, then places the others: pinned first, then by need. */
static bool set_members(struct fitting *f, int32_t unit, bool state)
{
    const struct units *u = &f->units;
    for (int32_t k = u->first[unit]; k < u->first[unit + 1]; k++)
        if (u->against[k] == state) full_fit_take_off(f, u->member[k]);
    for (int pinned = 1; pinned >= 0; pinned--)
        for (int32_t k = u->first[unit]; k < u->first[unit + 1]; k++) {
            int32_t i = u->member[k];
            const struct lx_buffer *b = &f->p->buffers[i];
            if (u->against[k] == state || f->ledger.on[i] || (b->fixed >= 0) != (pinned == 1)) continue;
            if (b->reason) return false;
            struct spot at = places_find(&f->places, i);
            f->steps++;
            if (at.address < 0) return false;
            full_fit_put_on(f, i, &at);
        }
    return true;
}

/* Changes a unit's state if that is better (with `as_good`: or not worse). */
static bool try_state(struct fitting *f, int32_t unit, bool state, bool as_good)
{
    int64_t cost = f->ledger.cost, broken = f->ledger.broken;
    for (int32_t k = f->units.first[unit]; k < f->units.first[unit + 1]; k++) {
        int32_t i = f->units.member[k];
        f->was[k] = (struct spot){f->pool[i], f->address[i], f->ledger.here[i]};
    }
    bool ok = set_members(f, unit, state) &&
              (f->ledger.broken < broken ||
               (f->ledger.broken == broken && (as_good ? f->ledger.cost <= cost : f->ledger.cost < cost)));
    if (ok)
        f->state[unit] = state;
    else {
        for (int32_t k = f->units.first[unit]; k < f->units.first[unit + 1]; k++)
            full_fit_take_off(f, f->units.member[k]);
        for (int32_t k = f->units.first[unit]; k < f->units.first[unit + 1]; k++)
            if (f->was[k].address >= 0) full_fit_put_on(f, f->units.member[k], &f->was[k]);
    }
    return ok;
}

/* Polls every 16 units: a unit among thousands takes a tenth of a millisecond. */
static bool full_fit_is_cancelled(const struct fitting *f, int32_t k)
{
    return k % 16 == 0 && lx_run_stopped(f->run);
}

static void full_fit_run_rounds(struct fitting *f)
{
    bool better = f->p->objective == LX_SPILL;
    for (int round = 0; round < MOST_ROUNDS && better; round++) {
        better = false;
        for (int32_t k = 0; k < f->units.count && !full_fit_is_cancelled(f, k); k++)
            better |= try_state(f, f->order[k], !f->state[f->order[k]], false);
    }
}

struct ranked {
    int class;  /* 0: pinned and wanted, 1: wanted, pinned or on in state 0, 2: others */
    double key; /* of the unit's largest member */
    int32_t place, unit;
};

ORDER(full_fit_compare_ranked, struct ranked, ORDER_UP(class) ORDER_UP(key) ORDER_UP(place));

/* Orders: 0 the caller's own, 1 by size, 2 by area, 3 by time. */
static void full_fit_sort_units(struct fitting *f, const int32_t *buffers, int which)
{
    const struct units *units = &f->units;
    size_t n = (size_t)units->count;
    OWNED struct ranked *ranked = mem_alloc((n + 1) * sizeof *ranked);
    for (int32_t u = 0; u < units->count; u++) {
        struct ranked r = {2, which == 3 ? 1e300 : 0, INT32_MAX, u};
        for (int32_t k = units->first[u]; k < units->first[u + 1]; k++) {
            const struct lx_buffer *b = &f->p->buffers[units->member[k]];
            bool wanted = b->must || f->p->objective != LX_SPILL, pinned = b->fixed >= 0;
            int class = pinned && wanted ? 0 : pinned || wanted || units->against[k] ? 1 : 2;
            double size = (double)b->size, life = (double)(b->end - b->start), start = (double)b->start;
            double key = which == 1 ? -size : which == 2 ? -size * life : which == 3 ? start : 0;
            if (class < r.class) r.class = class;
            if (key < r.key) r.key = key;
        }
        ranked[u] = r;
    }
    for (int32_t k = f->p->count; k-- > 0;) ranked[units->of[buffers[k]]].place = k;
    qsort(ranked, n, sizeof *ranked, full_fit_compare_ranked);
    for (size_t k = 0; k < n; k++) f->order[k] = ranked[k].unit;
}

static void full_fit_keep_best(const struct fitting *f, struct lx_answer *answer, int64_t *broken,
                               int64_t *cost)
{
    size_t n = (size_t)f->p->count;
    const struct ledger *l = &f->ledger;
    if (l->broken != *broken ? l->broken > *broken : l->cost >= *cost) return;
    *broken = l->broken;
    *cost = l->cost;
    memcpy(answer->address, f->address, n * sizeof *f->address);
    if (answer->pool) memcpy(answer->pool, f->pool, n * sizeof *f->pool);
}

/* First pass of an order: starts from the addresses `from`, or tries state 1 for each unit. */
static void full_fit_begin(struct fitting *f, const int64_t *from)
{
    for (int32_t i = 0; from && i < f->p->count; i++) {
        if (from[i] < 0) continue;
        struct spot at = {0, from[i], lx_on_cost(&f->p->buffers[i], 0)};
        full_fit_put_on(f, i, &at);
        f->state[f->units.of[i]] = true;
    }
    for (int32_t k = 0; !from && k < f->units.count && !full_fit_is_cancelled(f, k); k++)
        if (!try_state(f, f->order[k], true, true)) try_state(f, f->order[k], false, true);
}

/* `from`: the addresses to begin with in the first order; NULL: none. */
static void full_fit_try_orders(struct fitting *f, const int32_t *buffers, const int64_t *from,
                                struct lx_answer *answer)
{
    int64_t broken = INT64_MAX, cost = INT64_MAX;
    for (int which = 0; which < ORDERS && broken > 0 && !(which && lx_run_stopped(f->run)); which++) {
        for (int32_t i = 0; i < f->p->count; i++) full_fit_take_off(f, i);
        memset(f->state, 0, (size_t)f->units.count);
        memset(f->places.top, 0, (size_t)lx_pool_count(f->p) * sizeof *f->places.top);
        full_fit_sort_units(f, buffers, which);
        full_fit_begin(f, which == 0 ? from : NULL);
        full_fit_run_rounds(f);
        full_fit_keep_best(f, answer, &broken, &cost);

        /* Units that cost nothing off chip may block others that are worth more. */
        bool any = false;
        for (int32_t k = f->units.count;
             f->p->objective == LX_SPILL && k-- > 0 && !full_fit_is_cancelled(f, k);)
            if (f->state[f->order[k]]) any |= try_state(f, f->order[k], false, true);
        if (!any || lx_run_stopped(f->run)) continue;
        full_fit_run_rounds(f);
        full_fit_keep_best(f, answer, &broken, &cost);
    }
    answer->steps += f->steps;
    if (broken > 0) answer->status = LX_LIMIT;
}

void full_fit(const struct lx_problem *p, const int32_t *order, bool tightest, bool improve,
              const struct lx_run *run, struct lx_answer *answer)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->count + 1;
    struct fitting f = {.p = p, .run = run};
    f.state = arena_array(&memory, n, sizeof *f.state);
    f.order = arena_array(&memory, n, sizeof *f.order);
    f.address = arena_array(&memory, n, sizeof *f.address);
    f.pool = arena_array(&memory, n, sizeof *f.pool);
    f.was = arena_array(&memory, n, sizeof *f.was);
    int64_t *from = improve ? arena_copy_array(&memory, answer->address, n - 1, sizeof *from) : NULL;
    ledger_init(&f.ledger, p, p->objective != LX_SPILL);
    units_make(&f.units, p);
    places_init(&f.places, p, f.address, f.pool, tightest);
    full_fit_try_orders(&f, order, from, answer);
    arena_free(&f.ledger.memory);
    arena_free(&f.units.memory);
    arena_free(&f.places.placed.memory);
    mem_free(f.places.map.bits);
    arena_free(&f.places.memory);
}
