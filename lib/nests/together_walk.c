/* The least cost of the model: a beam over ops (network/beam.h).
 *
 * A row has the place of each live tensor and, in a nest, its number, the bytes that stay on chip up to its
 * end though no later op uses them, and the most bytes of its ops so far: a tensor that covers the nest and
 * comes on chip in a later op adds to these. A node has the cost so far, the bytes on chip and the least
 * priced cost of all later uses, each tensor alone. */
#include "nests/together.h"

static const int64_t MOST_STEPS = 4 * 1000 * 1000; /* over the number of ops */

struct together_node {
    struct beam_node base; /* rank: a lower bound on any plan from here, in whole grains */
    int64_t cost, load, rest;
    int64_t
        spare; /* price of the room left in the nest's ops so far: later tensors that cover it may pay it */
};

enum { SLOT_NEST, SLOT_IDLE, SLOT_MOST, SLOTS }; /* of bytes: in units */

struct together_step {
    struct together *m;
    int64_t unit; /* bytes of all scratchpads are less than 2^31 units */
    struct beam beam;
    int32_t *slot, slot_count; /* per tensor */
    int32_t *changed, numbers[LX_MAX_OPERANDS + SLOTS];
    /* The state being expanded. */
    int32_t at, op, count, nest; /* nest: its number in m->nests, or -1 */
    int64_t cost, load, rest, spare, idle, most;
    int places[LX_MAX_OPERANDS];
    struct together_way now[LX_MAX_OPERANDS];
};

static const struct together_nest *together_step_nest(const struct together_step *s)
{
    return s->nest < 0 ? NULL : &s->m->nests.at[s->nest];
}

static struct together_holds together_step_holds(const struct together_step *s, int32_t use)
{
    const struct together_nest *n = together_step_nest(s);
    return n ? n->holds[use - s->m->use_at[n->first]] : together_plain(&s->m->uses[use]);
}

static int64_t together_step_ahead(const struct together_step *s, int32_t use, int place)
{
    const struct together_nest *n = together_step_nest(s);
    return n ? n->ahead[PLACES * (use - s->m->use_at[n->first]) + place]
             : s->m->ahead[PLACES_WHOLE * use + place];
}

/* The bytes that the op's output takes over from an input. */
static int64_t together_step_shared(const struct together_step *s)
{
    const struct together_use *u = &s->m->uses[s->m->use_at[s->op]];
    int64_t given = 0, shared = 0;
    for (int32_t i = 0; i < s->count; i++)
        if (u[i].gives && s->now[i].after == PLACE_HBM && !s->now[i].covers)
            given = max_i64(given, s->now[i].size);
    for (int32_t i = 0; i < s->count; i++)
        if (u[i].takes && s->now[i].in_turn) shared = min_i64(given, s->now[i].size);
    return shared;
}

static void together_step_child(struct together_step *s)
{
    struct together *m = s->m;
    const struct together_nest *n = together_step_nest(s);
    int32_t first = m->use_at[s->op];
    struct together_node child = {.cost = s->cost, .load = s->load, .rest = s->rest, .spare = s->spare};
    int64_t load = s->load - together_step_shared(s), idle = s->idle, late = 0;
    for (int32_t i = 0; i < s->count; i++) {
        int64_t size = s->now[i].size;
        load += size;
        child.cost += s->now[i].cost;
        child.rest += together_then(m, first + i, n, &s->now[i]);
        if (s->now[i].after != PLACE_HBM || s->now[i].covers) child.load += size;
        if (s->now[i].after == PLACE_HBM && s->now[i].covers) idle += size;
        if (s->now[i].begins && s->now[i].covers) late += size;
        s->numbers[i + SLOTS] = s->now[i].after;
    }
    int64_t most = max_i64(load, s->most + late);
    bool ends = !n || n->last == s->op;
    if (most > m->room) return;
    child.load -= ends ? idle : idle % s->unit;
    s->numbers[SLOT_NEST] = ends ? 0 : s->nest + 1;
    s->numbers[SLOT_IDLE] = ends ? 0 : (int32_t)(idle / s->unit);
    s->numbers[SLOT_MOST] = ends ? 0 : (int32_t)(most / s->unit);
    child.spare = ends ? 0 : child.spare + together_room(m, n, m->room - load, s->op, s->op + 1) + 1;
    const struct prices *p = &m->prices;
    const int64_t *before = n ? n->before : p->before;
    int64_t later = before[m->op_count] - before[s->op + 1];
    int64_t least = child.cost + child.rest - child.spare + m->beyond[n ? n->last + 1 : s->op + 1] +
                    prices_floor(p, -(int128)m->room * later);
    const struct together_node *from = beam_node_of(&s->beam, s->at);
    child.base.rank = max_i64(from->base.rank, round_up_i64(max_i64(least, 0), m->grain));
    child.base.tie = -child.cost;
    beam_offer(&s->beam, s->at, 0, &child, s->numbers);
}

static void together_step_uses(struct together_step *s, int32_t i)
{
    struct together_way all[TOGETHER_WAYS];
    if (i == s->count) {
        together_step_child(s);
        return;
    }
    const struct together_nest *n = together_step_nest(s);
    int32_t use = s->m->use_at[s->op] + i;
    const struct together_use *u = &s->m->uses[use];
    struct together_holds y = together_step_holds(s, use);
    bool within = n && u->next >= 0 && s->m->uses[u->next].op <= n->last;
    int count = together_ways(u, &y, within, s->places[i], all);
    s->m->steps += count;
    for (int k = 0; k < count; k++) {
        s->now[i] = all[k];
        together_step_uses(s, i + 1);
    }
}

/* Expands the state inside nest `nest`. The op's tensors leave their places; the others stay. */
static void together_step_in(struct together_step *s, int32_t nest, bool begins)
{
    struct together *m = s->m;
    const struct together_node *from = beam_node_of(&s->beam, s->at);
    const int32_t *row = beam_row_of(&s->beam, s->at);
    s->cost = from->cost, s->load = from->load, s->rest = from->rest, s->spare = from->spare;
    s->nest = nest;
    s->idle = (int64_t)row[SLOT_IDLE] * s->unit;
    s->most = (int64_t)row[SLOT_MOST] * s->unit;
    const struct together_nest *n = together_step_nest(s);
    int64_t through = s->load; /* bytes of tensors that no op of the nest uses */
    for (int32_t k = m->use_at[s->op]; begins && n && k < m->use_at[n->last + 1]; k++)
        if (m->uses[k].before < m->use_at[n->first]) {
            /* Before its first use, its slot may be another's. */
            int place = m->uses[k].before < 0 ? PLACE_HBM : row[s->slot[m->uses[k].tensor]];
            s->rest += together_step_ahead(s, k, place) - m->ahead[PLACES_WHOLE * k + place];
            if (place != PLACE_HBM) through -= m->uses[k].whole;
        }
    if (begins && n)
        s->rest += together_room(m, n, through, n->first, n->last + 1) -
                   together_room(m, NULL, through, n->first, n->last + 1) - 1;
    for (int32_t i = 0; i < s->count; i++) {
        int32_t use = m->use_at[s->op] + i;
        struct together_holds y = together_step_holds(s, use);
        s->places[i] = row[s->slot[m->uses[use].tensor]];
        s->rest -= together_step_ahead(s, use, s->places[i]);
        if (s->places[i] != PLACE_HBM) s->load -= y.size[place_hold(s->places[i])];
    }
    s->rest -= together_room(m, n, s->load, s->op, s->op + 1) + 1;
    together_step_uses(s, 0);
}

static void together_step_slots(struct together_step *s)
{
    struct together *m = s->m;
    size_t tensors = (size_t)m->x->graph->tensor_count;
    int32_t *from = arena_array(&m->memory, tensors, sizeof *from), count = 0;
    int32_t *to = arena_array(&m->memory, tensors, sizeof *to),
            *slot = arena_array(&m->memory, tensors, sizeof *slot);
    int32_t *nth = arena_array(&m->memory, tensors, sizeof *nth);
    s->slot = arena_array(&m->memory, tensors, sizeof *s->slot);
    for (int32_t k = 0; k < m->use_count; k++) {
        const struct together_use *u = &m->uses[k];
        if (u->before < 0) {
            nth[u->tensor] = count;
            from[count++] = u->op;
        }
        to[nth[u->tensor]] = u->op + 1;
    }
    s->slot_count = SLOTS + beam_slots(from, to, count, slot);
    for (int32_t k = 0; k < m->use_count; k++)
        s->slot[m->uses[k].tensor] = SLOTS + slot[nth[m->uses[k].tensor]];
    s->changed = arena_array(&m->memory, LX_MAX_OPERANDS + SLOTS, sizeof *s->changed);
    for (int32_t k = 0; k < SLOTS; k++) s->changed[k] = k;
}

static void together_step_op(struct together_step *s, int32_t op)
{
    struct together *m = s->m;
    s->op = op;
    s->count = m->use_at[op + 1] - m->use_at[op];
    for (int32_t i = 0; i < s->count; i++) s->changed[i + SLOTS] = s->slot[m->uses[m->use_at[op] + i].tensor];
    beam_step(&s->beam, s->changed, s->count + SLOTS);
    size_t first = 0;
    while (first < m->nests.count && m->nests.at[first].first < op) first++;
    for (s->at = 0; s->at < s->beam.count; s->at++) {
        int32_t nest = beam_row_of(&s->beam, s->at)[SLOT_NEST] - 1;
        if (m->steps > MOST_STEPS / m->op_count || cancel_requested()) {
            beam_drop(&s->beam, ((const struct together_node *)beam_node_of(&s->beam, s->at))->base.rank);
            continue;
        }
        together_step_in(s, nest, false);
        for (size_t i = first; nest < 0 && i < m->nests.count && m->nests.at[i].first == op; i++)
            together_step_in(s, (int32_t)i, true);
    }
    beam_settle(&s->beam);
}

int64_t together_walk(struct together *m, int64_t below)
{
    enum { WIDTH = 2000 };
    struct together_step s = {.m = m, .unit = m->room / (1 << 30) + 1};
    struct together_node root = {0};
    together_step_slots(&s);
    struct beam_rules rules = {
        .width = WIDTH, .slots = s.slot_count, .node_size = sizeof root, .cut = below, .by_tie = true};
    for (int32_t k = 0; k < m->use_count; k++)
        if (m->uses[k].before < 0) root.rest += m->ahead[PLACES_WHOLE * k];
    beam_begin(&s.beam, &rules, &root, NULL);
    m->steps = 0;
    for (int32_t o = 0; o < m->op_count && s.beam.count > 0; o++) together_step_op(&s, o);
    int64_t bound = min_i64(below, s.beam.dropped);
    for (int32_t i = 0; i < s.beam.count; i++)
        bound = min_i64(bound, ((const struct together_node *)beam_node_of(&s.beam, i))->base.rank);
    beam_end(&s.beam);
    return bound;
}
