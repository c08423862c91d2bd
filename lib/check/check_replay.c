/* Replays the plan tick by tick: does every op find the value that it reads, in the part that its core holds?
 *
 * At tick t: copies into the scratchpads, the op, stores; the run of a nest again in each iteration. A buffer
 * has its values in all of its parts, or, where an op has written less, in a zone of each. Scratchpads are
 * wiped where a bundle begins. An op reads all before it writes; after a handover the old buffer has nothing.
 *
 * Each write makes a new version: of a tensor, or, in a nest, of one tile. HBM and a buffer have one version
 * of each tile, or NOTHING. Outside of nests a tensor is one tile.
 *
 * An iteration depends on its indices only as far as each is the first, the last, or any other, and equal to
 * another tensor's or not. So loops are walked with at most four iterations a level, which include each of
 * these and every step from one to the next; a tile is numbered by two bits a level. */
#include "check/check.h"

enum { NOTHING = -1, MOST_TURNS = 4, TILE_BITS = 2, MOST_TILES = 1 << (TILE_BITS * LX_MAX_LEVELS) };

struct versions {
    int32_t of[MOST_TILES];
};

struct held {
    struct versions tiles;
    int32_t wipes;      /* `wipes` when it was filled; a higher count means it is empty */
    struct zone *zones; /* per core; NULL: the whole parts */
};

struct replay {
    struct checker *c;
    const struct parts *parts;        /* per buffer */
    struct held *held;                /* per buffer */
    struct versions *latest, *in_hbm; /* per tensor; before the first write 0: the graph input */
    int32_t *transfer_at;             /* per op: its first copy; and one more */
    int32_t *bundle_of;               /* per op */
    struct hbm_lives *lives;
    struct cut cut;                  /* of the current op */
    const struct lx_nest *nest;      /* the current nest, or NULL */
    int32_t *meeting, meeting_count; /* placed buffers that live in the nest's run */
    int turns[LX_MAX_LEVELS], turn[LX_MAX_LEVELS];
    int32_t clock; /* counts versions */
    int32_t tick, wipes;
    int64_t steps; /* ops that have run, in every walked iteration */
    lx_status *st;
};

static inline bool is_placed(const struct replay *r, int32_t buffer)
{
    return buffer >= 0 && buffer < r->c->p->problem.count && r->c->p->answer.address[buffer] >= 0;
}

static inline bool is_alive(const struct replay *r, int32_t buffer)
{
    const struct lx_buffer *b = &r->c->p->problem.buffers[buffer];
    return b->start <= r->tick && r->tick < b->end;
}

static inline const char *buffer_name(const struct replay *r, int32_t buffer)
{
    return r->c->p->problem.buffers[buffer].name;
}

static inline int64_t moment(const struct replay *r, enum phase phase)
{
    return PHASES * r->steps + phase;
}

/* ---- tiles ---- */

static int level_count(const struct replay *r)
{
    return r->nest ? r->nest->level_count : 0;
}

/* The tile of a tensor in this iteration. */
static int tile_now(const struct replay *r, const struct looped *t)
{
    int tile = 0;
    for (int l = 0; l < level_count(r); l++)
        if (t->indexed & 1u << l) tile |= r->turn[l] << (TILE_BITS * l);
    return tile;
}

/* Is `tile` in the slice that the current indices of the levels up to `hold` fix? */
static bool in_slice(const struct replay *r, const struct looped *t, int hold, int tile)
{
    for (int l = 0; l < LX_MAX_LEVELS; l++) {
        int d = tile >> (TILE_BITS * l) & (MOST_TURNS - 1);
        if (l >= level_count(r) || !(t->indexed & 1u << l) ? d != 0 : d >= r->turns[l]) return false;
        if (l < hold && (t->indexed & 1u << l) && d != r->turn[l]) return false;
    }
    return true;
}

/* Are the indices of these levels all at their first? */
static bool turns_first(const struct replay *r, unsigned levels)
{
    for (int l = 0; l < level_count(r); l++)
        if ((levels & 1u << l) && r->turn[l] != 0) return false;
    return true;
}

static bool turns_last(const struct replay *r, unsigned levels)
{
    for (int l = 0; l < level_count(r); l++)
        if ((levels & 1u << l) && r->turn[l] != r->turns[l] - 1) return false;
    return true;
}

static int32_t version_in(const struct replay *r, int32_t buffer, int tile)
{
    return r->held[buffer].wipes == r->wipes ? r->held[buffer].tiles.of[tile] : NOTHING;
}

static bool slice_held(const struct replay *r, int32_t buffer, const struct looped *t, int hold)
{
    const struct versions *latest = &r->latest[r->c->p->stays[buffer].tensor];
    for (int i = 0; i < MOST_TILES; i++)
        if (in_slice(r, t, hold, i) && version_in(r, buffer, i) != latest->of[i]) return false;
    return true;
}

/* Fills the buffer with the latest version of the slice, and nothing else. */
static void fill_slice(struct replay *r, int32_t buffer, const struct looped *t, int hold)
{
    const struct versions *latest = &r->latest[r->c->p->stays[buffer].tensor];
    struct held *h = &r->held[buffer];
    h->wipes = r->wipes;
    h->zones = NULL;
    for (int i = 0; i < MOST_TILES; i++) h->tiles.of[i] = in_slice(r, t, hold, i) ? latest->of[i] : NOTHING;
}

static void forget(struct replay *r, int32_t buffer)
{
    struct held *h = &r->held[buffer];
    h->wipes = r->wipes;
    h->zones = NULL;
    for (int i = 0; i < MOST_TILES; i++) h->tiles.of[i] = NOTHING;
}

static void check_tiles_spread(struct versions *v)
{
    for (int i = 1; i < MOST_TILES; i++) v->of[i] = v->of[0];
}

/* Enters a nest: splits the versions of its tensors and buffers into tiles. */
static void open_nest(struct replay *r, const struct lx_nest *n)
{
    r->nest = n;
    for (int l = 0; l < n->level_count; l++) {
        r->turns[l] = (int)min_i64(n->tiles[l], MOST_TURNS);
        r->turn[l] = 0;
    }
    for (int32_t a = r->c->p->access_at[n->first]; a < r->c->p->access_at[n->last + 1]; a++) {
        int32_t tensor = r->c->p->accesses[a].tensor;
        check_tiles_spread(&r->latest[tensor]);
        check_tiles_spread(&r->in_hbm[tensor]);
    }
    r->meeting_count = 0;
    for (int32_t b = 0; b < r->c->p->problem.count; b++) {
        if (!is_placed(r, b) || r->c->p->problem.buffers[b].start > r->nest->last ||
            r->c->p->problem.buffers[b].end <= r->nest->first)
            continue;
        r->meeting[r->meeting_count++] = b;
        check_tiles_spread(&r->held[b].tiles);
    }
}

/* Joins the tiles again: the latest version if all of them have it, else NOTHING. */
static void check_tiles_join(struct replay *r, struct versions *v, const struct versions *latest,
                             const struct looped *t)
{
    bool all = true;
    for (int i = 0; i < MOST_TILES && all; i++) all = !in_slice(r, t, 0, i) || v->of[i] == latest->of[i];
    v->of[0] = all ? latest->of[0] : NOTHING;
}

/* Leaves the nest; the first tile's version stands for the tensor. */
static void close_nest(struct replay *r)
{
    const struct lx_plan *p = r->c->p;
    for (int32_t i = 0; i < r->meeting_count; i++) {
        int32_t b = r->meeting[i];
        struct looped t = looped_in(r->c, r->nest, p->stays[b].tensor);
        check_tiles_join(r, &r->held[b].tiles, &r->latest[p->stays[b].tensor], &t);
    }
    for (int32_t a = p->access_at[r->nest->first]; a < p->access_at[r->nest->last + 1]; a++) {
        int32_t tensor = p->accesses[a].tensor;
        check_tiles_join(r, &r->in_hbm[tensor], &r->latest[tensor], &r->c->looped[a]);
    }
    r->nest = NULL;
}

/* Moves to the next iteration; false: there is none. */
static bool next_turn(struct replay *r)
{
    int l = r->nest->level_count - 1;
    for (; l >= 0 && r->turn[l] == r->turns[l] - 1; l--) r->turn[l] = 0;
    if (l < 0) return false;
    r->turn[l]++;
    /* A buffer that does not live through the whole run may have been overwritten by now. */
    for (int32_t i = 0; i < r->meeting_count; i++) {
        int32_t b = r->meeting[i];
        const struct lx_buffer *x = &r->c->p->problem.buffers[b];
        if (x->start > r->nest->first || x->end <= r->nest->last) forget(r, b);
    }
    return true;
}

/* ---- copies ---- */

/* In a nest a copy is made once per iteration of the levels up to the hold of its buffer: into the scratchpad
 * in the first iteration of the inner levels, to HBM after their last. Partial sums are loaded only after the
 * first are made. */
struct copy {
    const struct lx_transfer *x;
    int32_t tensor;
    int hold;
    struct looped looped;
};

static bool may_copy(const struct replay *r, const struct copy *k)
{
    const struct lx_transfer *x = k->x;
    if (x->kind == LX_LOAD) {
        if (k->looped.summed && !(k->looped.summed & loops_to(k->hold)))
            return status_set(r->st, LX_E_NO, "tick %d loads %s, a sum that is made on chip", (int)r->tick,
                              buffer_name(r, k->x->stay));
        bool there = true;
        for (int i = 0; i < MOST_TILES; i++)
            there &= !in_slice(r, &k->looped, k->hold, i) ||
                     r->in_hbm[k->tensor].of[i] == r->latest[k->tensor].of[i];
        if (there) return true;
        return status_set(r->st, LX_E_NO, "tick %d loads %s, but HBM does not have its value", (int)r->tick,
                          buffer_name(r, k->x->stay));
    }
    if (x->kind == LX_MOVE) {
        /* The source had its place up to this tick, and no earlier copy of the tick has overwritten it. */
        const struct lx_plan *p = r->c->p;
        int32_t from = x->source;
        bool right = is_placed(r, from) && p->stays[from].tensor == k->tensor && from != x->stay &&
                     p->stays[from].hold == k->hold && p->problem.buffers[from].start < r->tick &&
                     r->tick <= p->problem.buffers[from].end &&
                     parts_equal(&r->parts[from], &r->parts[x->stay]) &&
                     slice_held(r, from, &k->looped, k->hold);
        for (const struct lx_transfer *y = &p->transfers[r->transfer_at[r->tick]]; right && y < x; y++) {
            const struct lx_buffer *b = p->problem.buffers;
            const int64_t *at = p->answer.address;
            right = y->kind == LX_STORE || at[y->stay] >= at[from] + b[from].size ||
                    at[from] >= at[y->stay] + b[y->stay].size;
        }
        return right ? true
                     : status_set(r->st, LX_E_NO, "tick %d moves %s from where its value is not",
                                  (int)r->tick, buffer_name(r, x->stay));
    }
    /* Stores and ring copies need the whole slice at their source, with the same hold. */
    int32_t from = x->kind == LX_STORE ? x->stay : x->source;
    if (is_placed(r, from) && is_alive(r, from) && r->c->p->stays[from].tensor == k->tensor &&
        r->c->p->stays[from].hold == k->hold && !r->held[from].zones &&
        slice_held(r, from, &k->looped, k->hold))
        return true;
    return status_set(r->st, LX_E_NO, "tick %d copies %s from %s, which does not have its value",
                      (int)r->tick, buffer_name(r, x->stay),
                      is_placed(r, from) ? buffer_name(r, from) : "nowhere");
}

static void act(struct replay *r, const struct copy *k)
{
    const struct lx_transfer *x = k->x;
    if (x->kind == LX_STORE) {
        if (turns_first(r, loops_to(k->hold)))
            hbm_written(r->lives, k->tensor, moment(r, PHASE_STORES));
        else
            hbm_seen(r->lives, k->tensor, moment(r, PHASE_STORES));
        for (int i = 0; i < MOST_TILES; i++)
            if (in_slice(r, &k->looped, k->hold, i)) r->in_hbm[k->tensor].of[i] = r->latest[k->tensor].of[i];
        return;
    }
    if (x->kind == LX_LOAD) hbm_seen(r->lives, k->tensor, moment(r, PHASE_COPIES_IN));
    if (x->kind == LX_MOVE)
        r->held[x->stay] = r->held[x->source];
    else
        fill_slice(r, x->stay, &k->looped, k->hold);
}

/* Makes the copies that are due in this iteration of the tick: the stores, or the others. */
static bool do_copies(struct replay *r, bool stores)
{
    const struct lx_plan *p = r->c->p;
    for (int32_t i = r->transfer_at[r->tick]; i < r->transfer_at[r->tick + 1]; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        if ((x->kind == LX_STORE) != stores) continue;
        if (!is_placed(r, x->stay) || !is_alive(r, x->stay))
            return status_set(r->st, LX_E_NO, "a copy at tick %d is of a buffer that is not on chip then",
                              (int)r->tick);
        if (x->kind != LX_STORE && p->took_slot_of[x->stay] >= 0)
            return status_set(r->st, LX_E_NO, "buffer %s is filled by a copy and cannot take another's place",
                              buffer_name(r, x->stay));
        /* A buffer with a slice belongs to the nest of its view's op. */
        const struct lx_stay *s = &p->stays[x->stay];
        if (s->hold > 0 && loops_of(r->c, s->view_op) != r->nest)
            return status_set(r->st, LX_E_NO, "a copy at tick %d is of a slice of another nest: %s",
                              (int)r->tick, buffer_name(r, x->stay));
        struct copy k = {
            .x = x, .tensor = s->tensor, .hold = s->hold, .looped = looped_in(r->c, r->nest, s->tensor)};
        unsigned inside = all_loops(r->nest) & ~loops_to(k.hold), sum = k.looped.summed & loops_to(k.hold);
        bool due = stores ? turns_last(r, inside)
                          : turns_first(r, inside) && !(x->kind == LX_LOAD && sum && turns_first(r, sum));
        if (!due) continue;
        if (!may_copy(r, &k)) return false;
        act(r, &k);
    }
    return true;
}

/* ---- ops ---- */

static const struct lx_op *op_now(const struct replay *r)
{
    return &r->c->g->ops[r->tick];
}

static const struct looped *looped_now(const struct replay *r, int operand)
{
    return &r->c->looped[r->c->p->access_at[r->tick] + operand];
}

/* Does every core have the positions that it works on in its own part? */
static bool on_its_core(const struct replay *r, int operand, int32_t buffer, bool *whole)
{
    struct parts seen =
        parts_of_operand(r->c, &r->cut, r->tick, operand, r->nest ? r->c->p->stays[buffer].hold : 0);
    bool equal = parts_equal(&seen, &r->parts[buffer]), reads = operand < op_now(r)->input_count;
    *whole = seen.touched_whole && equal;
    if ((*whole || (equal && reads && seen.within)) && !r->held[buffer].zones) return true;
    if (r->nest) return false;
    /* Zones decide only if a core's part is in one piece. */
    const struct parts *p = &r->parts[buffer];
    for (int d = 0; d < p->rank; d++)
        if (p->tiles[d] != 1 || p->blocks[d] != 1) return false;
    if (r->cut.cores > r->parts[buffer].cores) return false;
    const struct lx_layout *l = &r->c->l->layouts[r->c->p->stays[buffer].tensor];
    const struct held *h = &r->held[buffer];
    for (int64_t core = 0; core < r->cut.cores; core++) {
        struct zone z = zone_touched(r->c, &r->cut, r->tick, operand, core);
        struct zone part = zone_of_part(l, &r->parts[buffer], core);
        if (!zone_within(&z, h->zones && operand < op_now(r)->input_count ? &h->zones[core] : &part))
            return false;
    }
    return true;
}

static bool use_buffer(struct replay *r, int operand, int32_t buffer, int32_t tensor, bool *whole)
{
    const struct lx_op *op = op_now(r);
    const char *name = r->c->g->tensors[tensor].name;
    if (op->kind->traits & LX_EXTERN)
        return status_set(r->st, LX_E_NO, "op %s runs off the device, but its operand %s is on chip",
                          op->name, name);
    /* A slice is for the ops of its nest only. check_claims checks that the tick is in the buffer's life,
     * which runs exactly from the first access to the last. */
    const struct lx_stay *s = &r->c->p->stays[buffer];
    if (s->tensor != tensor || (s->hold != 0 && loops_of(r->c, s->view_op) != r->nest))
        return status_set(r->st, LX_E_NO,
                          "op %s uses %s, which holds another tensor, or a slice of another nest", op->name,
                          buffer_name(r, buffer));
    if (!on_its_core(r, operand, buffer, whole))
        return status_set(r->st, LX_E_NO, "op %s cuts %s in another way than it lies on chip", op->name,
                          name);
    return true;
}

static bool do_read(struct replay *r, int operand, const struct lx_access *a)
{
    const struct lx_op *op = op_now(r);
    int32_t tensor = op_operand(op, operand);
    int tile = tile_now(r, looped_now(r, operand));
    bool whole;
    if (!is_placed(r, a->stay)) {
        if (r->in_hbm[tensor].of[tile] != r->latest[tensor].of[tile])
            return status_set(r->st, LX_E_NO, "op %s reads %s in HBM, where its value is not", op->name,
                              r->c->g->tensors[tensor].name);
        hbm_seen(r->lives, tensor, moment(r, PHASE_OP));
        return true;
    }
    if (!use_buffer(r, operand, a->stay, tensor, &whole)) return false;
    if (version_in(r, a->stay, tile) != r->latest[tensor].of[tile])
        return status_set(r->st, LX_E_NO, "op %s reads %s on chip, where its value is not", op->name,
                          r->c->g->tensors[tensor].name);
    return true;
}

static bool write_hbm(struct replay *r, int operand, int32_t tensor, bool keeps)
{
    const struct looped *t = looped_now(r, operand);
    int tile = tile_now(r, t);
    if (keeps && r->in_hbm[tensor].of[tile] != r->latest[tensor].of[tile])
        return status_set(r->st, LX_E_NO,
                          "op %s keeps what it does not write of %s, but HBM does not have it",
                          op_now(r)->name, r->c->g->tensors[tensor].name);
    /* The first tile that a nest writes begins a new life of the tensor; the others belong to that life. */
    if (!keeps && turns_first(r, t->indexed))
        hbm_written(r->lives, tensor, moment(r, PHASE_OP));
    else
        hbm_seen(r->lives, tensor, moment(r, PHASE_OP));
    r->in_hbm[tensor].of[tile] = r->latest[tensor].of[tile] = ++r->clock;
    return true;
}

static bool check_replay_write_buffer(struct replay *r, int operand, int32_t buffer, int32_t tensor,
                                      bool keeps)
{
    const struct looped *t = looped_now(r, operand);
    int tile = tile_now(r, t);
    bool whole;
    if (keeps && (version_in(r, buffer, tile) != r->latest[tensor].of[tile] || r->held[buffer].zones))
        return status_set(r->st, LX_E_NO,
                          "op %s keeps what it does not write of %s, but the buffer does not have it",
                          op_now(r)->name, buffer_name(r, buffer));
    if (!keeps && !r->nest) forget(r, buffer);
    if (!use_buffer(r, operand, buffer, tensor, &whole)) return false;
    if (r->c->p->took_slot_of[buffer] >= 0) forget(r, r->c->p->took_slot_of[buffer]);
    if (!keeps && !whole) {
        /* The zones that the cores have written, where these are less than their parts. */
        const struct parts *p = &r->parts[buffer];
        struct zone *z = arena_array(r->c->memory, (size_t)p->cores, sizeof *z);
        for (int64_t core = 0; core < p->cores; core++) {
            z[core] = zone_touched(r->c, &r->cut, r->tick, operand, core < r->cut.cores ? core : 0);
            for (int d = 0; d < z[core].rank; d++) /* a view that jumps leaves holes */
                if (core >= r->cut.cores || z[core].count[d] != z[core].hi[d] - z[core].lo[d])
                    z[core].lo[0] = z[core].hi[0] = 0;
        }
        r->held[buffer].zones = z;
    }
    if (r->nest) {
        /* A new slice overwrites the one before. */
        struct held *h = &r->held[buffer];
        int hold = r->c->p->stays[buffer].hold;
        if (h->wipes != r->wipes) forget(r, buffer);
        for (int i = 0; i < MOST_TILES; i++)
            if (!in_slice(r, t, hold, i)) h->tiles.of[i] = NOTHING;
    }
    r->held[buffer].tiles.of[tile] = r->latest[tensor].of[tile] = ++r->clock;
    return true;
}

/* Reads the op's inputs and writes its results. The lives in HBM (check_hbm.c) find an op that overwrites
 * another tensor that it reads. A sum over levels is made in the first of their iterations, and goes on in
 * the others. */
static bool check_replay_do_op(struct replay *r)
{
    const struct lx_op *op = op_now(r);
    const struct lx_access *a = &r->c->p->accesses[r->c->p->access_at[r->tick]];
    int n = op->input_count;
    for (int i = 0; i < n; i++)
        if (!do_read(r, i, &a[i])) return false;
    for (int i = n; i < op_operand_count(op); i++) {
        bool keeps = op_keeps_rest(op) || !turns_first(r, looped_now(r, i)->summed);
        int32_t tensor = op_operand(op, i);
        if (!(is_placed(r, a[i].stay) ? check_replay_write_buffer(r, i, a[i].stay, tensor, keeps)
                                      : write_hbm(r, i, tensor, keeps)))
            return false;
    }
    return true;
}

static bool do_tick(struct replay *r)
{
    cut_of_op(r->c, r->tick, &r->cut);
    /* Loops within a bundle do not wipe; loops over several bundles launch each of them anew. */
    bool again = r->nest && r->tick == r->nest->first && !turns_first(r, all_loops(r->nest));
    bool border = r->tick > 0 && r->bundle_of[r->tick] != r->bundle_of[r->tick - 1] &&
                  !r->c->p->bundles[r->bundle_of[r->tick - 1]].non_terminal;
    r->wipes += again ? (r->nest && r->bundle_of[r->nest->first] != r->bundle_of[r->nest->last]) : border;
    /* The host puts zeros before an op that keeps elements that no op has written. */
    const struct lx_op *op = op_now(r);
    if (op_keeps_rest(op) && r->latest[op->output].of[0] <= 0 && r->in_hbm[op->output].of[0] != 0 &&
        r->c->p->hbm_address[op->output] >= 0) {
        r->in_hbm[op->output].of[0] = 0;
        hbm_written(r->lives, op->output, 0);
    }
    if (!do_copies(r, false)) return false;
    r->wipes += op->kind->traits & LX_WIPES ? 1 : 0;
    if (!check_replay_do_op(r) || !do_copies(r, true)) return false;
    r->steps++;
    return true;
}

static bool check_replay_go_through(struct replay *r)
{
    for (r->tick = 0; r->tick < r->c->g->op_count; r->tick++) {
        const struct lx_nest *n = loops_of(r->c, r->tick);
        if (!n && !do_tick(r)) return false;
        if (!n) continue;
        open_nest(r, n);
        do
            for (r->tick = n->first; r->tick <= n->last; r->tick++)
                if (!do_tick(r)) return false;
        while (next_turn(r));
        close_nest(r);
        r->tick = n->last;
    }
    for (int32_t t = 0; t < r->c->g->tensor_count; t++)
        if (lx_role_leaves(r->c->g->tensors[t].role) && r->latest[t].of[0] > 0 &&
            r->in_hbm[t].of[0] != r->latest[t].of[0])
            return status_set(r->st, LX_E_NO, "graph output %s never reaches HBM", r->c->g->tensors[t].name);
    return hbm_check(r->c, r->lives);
}

static bool check_replay_begin(struct replay *r)
{
    struct checker *c = r->c;
    size_t tensors = (size_t)c->g->tensor_count, ops = (size_t)c->g->op_count,
           buffers = (size_t)c->p->problem.count;
    r->latest = arena_array(c->memory, tensors, sizeof *r->latest);
    r->in_hbm = arena_array(c->memory, tensors, sizeof *r->in_hbm);
    r->held = arena_array(c->memory, buffers, sizeof *r->held);
    r->transfer_at = arena_array(c->memory, ops + 1, sizeof *r->transfer_at);
    r->bundle_of = arena_array(c->memory, ops, sizeof *r->bundle_of);
    r->meeting = arena_array(c->memory, buffers, sizeof *r->meeting);
    r->lives = hbm_begin(c);
    for (size_t i = 0; i < buffers; i++) r->held[i].tiles.of[0] = NOTHING;
    for (size_t t = 0; t < tensors; t++) {
        bool given = lx_role_arrives(c->g->tensors[t].role);
        r->in_hbm[t].of[0] = given ? 0 : NOTHING;
    }

    /* The bundle of each op, and where the copies of each tick begin. */
    const struct lx_plan *p = c->p;
    int32_t next = 0, bundle = 0;
    for (int32_t o = 0; o < c->g->op_count; o++) {
        if (bundle + 1 < p->bundle_count && p->bundles[bundle + 1].first == o) bundle++;
        r->bundle_of[o] = bundle;
        r->transfer_at[o] = next;
        while (next < p->transfer_count && p->transfers[next].tick == o) next++;
    }
    r->transfer_at[r->c->g->op_count] = next;
    if (next == p->transfer_count) return true;
    return status_set(r->st, LX_E_NO, "the copies of the plan are not in order of time");
}

bool check_replay(struct checker *c, const struct parts *parts)
{
    struct replay r = {.c = c, .parts = parts, .st = c->st};
    bool ok = check_replay_begin(&r) && check_replay_go_through(&r);
    hbm_end(r.lives);
    return ok;
}
