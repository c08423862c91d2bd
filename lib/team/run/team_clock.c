/* Simulates the devices, each until it needs a message that is not there yet.
 *
 * Messages of one exchange, or of one combine round, have one tag and form a trip per device. A trip begins
 * when its last sender has sent and the receiver's links along its axes are free; its bytes follow from the
 * device's messages. Sizes: tags times devices of `struct trip`. */
#include "team/run/team_clock.h"
#include "team/team_private.h"

struct trip {
    int64_t received;
    /* when this device has sent its part, and when the others' part arrives; negative: not yet */
    double sent, arrives;
    int32_t sends;      /* ops that have not sent yet */
    int32_t first, end; /* range of its messages to this device */
    int32_t number;     /* index in the device's trips, after arrival */
    unsigned axes;
};

struct walker {
    int32_t next;
    const struct lx_team_message **of_op; /* per op of the device's graph: its first message, or NULL */
    double now, free[LX_TEAM_AXES];
};

struct clock_maker {
    const struct lx_team_plans *p;
    struct lx_team_clock *out;
    int walking;        /* number of simulated devices: one if all are equal */
    struct trip *trips; /* by tag, then simulated device */
    struct walker *walkers;
};

static struct trip *team_clock_trip(const struct clock_maker *k, int tag, int device)
{
    return &k->trips[(size_t)tag * (size_t)k->walking + (size_t)device];
}

/* Records the messages of device `m`. */
static void team_clock_note(struct clock_maker *k, int m)
{
    const struct lx_team_device *does = k->p->devices[m];
    int32_t last = -1;
    for (int32_t i = 0; i < does->message_count; i++) {
        const struct lx_team_message *x = &does->messages[i];
        struct trip *t = team_clock_trip(k, x->tag, m);
        if (x->op != last) k->walkers[m].of_op[x->op] = x;
        if (x->operand >= 0) t->sends += x->op != last;
        last = x->op;
        if (x->operand >= 0) continue;
        if (t->end == 0) t->first = i;
        t->end = i + 1;
        if (x->peer == m) continue;
        t->received += x->bytes;
        t->axes |= lx_team_axes_between(&k->p->team->grid, m, x->peer);
    }
}

/* Time of a trip on the links. Tags after the exchanges' are combines. */
static double team_clock_trip_us(const struct clock_maker *k, int tag, const struct trip *t)
{
    const struct lx_team_plan *p = k->p->team;
    const struct lx_device *d = &p->graph->device;
    double n = 1, bytes = (double)t->received;
    for (int a = 0; a < p->grid.axes; a++)
        if (t->axes >> a & 1) n *= p->grid.size[a];
    if (n < 2) return 0;
    enum lx_team_pattern pattern = tag > p->exchange_count ? LX_TEAM_GATHER : p->exchanges[tag - 1].pattern;
    if (pattern == LX_TEAM_GATHER) return team_gather_us(d, &p->grid, t->axes, bytes * n / (n - 1));
    return team_swap_us(d, &p->grid, t->axes, bytes, pattern == LX_TEAM_HALO);
}

/* Computes a trip's arrival if all its parts have been sent; false otherwise. */
static bool team_clock_settle(struct clock_maker *k, int m, int tag)
{
    struct trip *t = team_clock_trip(k, tag, m);
    struct walker *w = &k->walkers[m];
    double begin = 0;
    if (t->arrives >= 0) return true;
    for (int32_t i = t->first; i < t->end; i++) {
        const struct lx_team_message *x = &k->p->devices[m]->messages[i];
        if (x->tag != tag || x->operand >= 0) continue;
        double sent = team_clock_trip(k, tag, x->peer)->sent;
        if (sent < 0) return false;
        begin = fmax(begin, sent);
    }
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (t->axes >> a & 1) begin = fmax(begin, w->free[a]);
    struct lx_team_times *out = &k->out->at[m];
    double us = team_clock_trip_us(k, tag, t);
    t->arrives = begin + us;
    t->number = out->trip_count++;
    out->trips[t->number] =
        (struct lx_team_trip){tag, t->axes, t->received, t->first, t->end, begin, t->arrives};
    out->link_us += us;
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (t->axes >> a & 1) w->free[a] = t->arrives;
    return true;
}

/* Simulates one op of a device; false: it must wait for another device. */
static bool team_clock_step(struct clock_maker *k, int m)
{
    const struct lx_plan *plan = k->p->plans[m];
    struct lx_team_times *out = &k->out->at[m];
    struct walker *w = &k->walkers[m];
    int32_t o = w->next, of = plan->layouts->op_origin[o];
    const struct lx_team_message *x = of >= 0 ? w->of_op[of] : NULL;
    double us = plan->traffic[o].end_to_end_us;
    out->begin[o] = w->now;
    if (x && x->operand < 0) {
        if (!team_clock_settle(k, m, x->tag)) return false;
        double late = fmax(team_clock_trip(k, x->tag, m)->arrives - w->now, 0);
        out->waited_us += late;
        w->now += late;
        out->trip[o] = team_clock_trip(k, x->tag, m)->number;
    }
    out->works[o] = w->now;
    w->now += us;
    out->busy_us += us;
    out->end[o] = w->now;
    if (x && x->operand >= 0 && --team_clock_trip(k, x->tag, m)->sends == 0) {
        team_clock_trip(k, x->tag, m)->sent = w->now;
        out->last_send[x->tag] = o;
    }
    w->next++;
    return true;
}

/* Allocates the times of device `m`. */
static void team_clock_begin_device(struct clock_maker *k, int m, size_t tags)
{
    struct lx_team_times *t = &k->out->at[m];
    struct arena *memory = k->out->memory;
    size_t ops = (size_t)k->p->plans[m]->layouts->graph->op_count;
    size_t own = (size_t)k->p->plans[m]->graph->op_count;
    t->ops = (int)ops;
    t->begin = arena_array(memory, ops + 1, sizeof *t->begin);
    t->end = arena_array(memory, ops + 1, sizeof *t->end);
    t->works = arena_array(memory, ops + 1, sizeof *t->works);
    t->trip = arena_array(memory, ops + 1, sizeof *t->trip);
    t->last_send = arena_array(memory, tags + 1, sizeof *t->last_send);
    t->trips = arena_array(memory, (size_t)k->p->devices[m]->message_count + 1, sizeof *t->trips);
    k->walkers[m].of_op = arena_array(memory, own + 1, sizeof *k->walkers[m].of_op);
    for (size_t o = 0; o <= ops; o++) t->trip[o] = -1;
    for (size_t i = 0; i <= tags; i++) t->last_send[i] = -1;
}

struct lx_team_clock *lx_team_clock_make(const struct lx_team_plans *p)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_team_clock *c = arena_alloc(memory, sizeof *c);
    /* all do the same by one plan, and send nothing */
    bool as_one = p->alike && p->devices[0]->message_count == 0;
    for (int m = 1; as_one && m < p->team->devices; m++) as_one = p->plans[m] == p->plans[0];
    struct clock_maker k = {.p = p, .out = c, .walking = as_one ? 1 : p->team->devices};
    size_t walking = (size_t)k.walking, tags = (size_t)lx_team_tag_output(p->team, 0);
    *c = (struct lx_team_clock){.devices = p->team->devices, .memory = memory};
    c->at = arena_array(memory, (size_t)c->devices, sizeof *c->at);
    k.walkers = arena_array(memory, walking, sizeof *k.walkers);
    k.trips = mem_alloc((tags + 1) * walking * sizeof *k.trips);
    for (size_t i = 0; i < (tags + 1) * walking; i++) k.trips[i] = (struct trip){.sent = -1, .arrives = -1};
    for (int m = 0; m < k.walking; m++) {
        if (!p->plans[m]) continue;
        team_clock_begin_device(&k, m, tags);
        team_clock_note(&k, m);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int m = 0; m < k.walking; m++)
            while (k.p->plans[m] && k.walkers[m].next < k.out->at[m].ops && team_clock_step(&k, m))
                moved = true;
    }
    for (int m = 0; m < k.walking; m++) {
        k.out->at[m].us = k.walkers[m].now;
        k.out->us = fmax(k.out->us, k.walkers[m].now);
    }
    for (int m = k.walking; m < k.out->devices; m++) k.out->at[m] = k.out->at[0];
    mem_free(k.trips);
    return c;
}

void lx_team_clock_free(struct lx_team_clock *c)
{
    if (!c) return;
    OWNED struct arena *memory = c->memory; /* also contains the clock */
    arena_free(memory);
}
