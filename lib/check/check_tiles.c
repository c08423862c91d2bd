/* Tiles of a nest in the replay: which one an iteration works on, which are there, and what is left of them
 * when the loops go on. */
#include "check/check_replay.h"
#include "base/checked.h"

static int level_count(const struct replay *r)
{
    return r->nest ? r->nest->level_count : 0;
}

int tile_now(const struct replay *r, const struct looped *t)
{
    int tile = 0;
    for (int l = 0; l < level_count(r); l++)
        if (t->indexed & 1u << l) tile |= r->turn[l] << (TILE_BITS * l);
    return tile;
}

bool in_slice(const struct replay *r, const struct looped *t, int hold, int tile)
{
    for (int l = 0; l < LX_MAX_LEVELS; l++) {
        int d = tile >> (TILE_BITS * l) & (MOST_TURNS - 1);
        if (l >= level_count(r) || !(t->indexed & 1u << l) ? d != 0 : d >= r->turns[l]) return false;
        if (l < hold && (t->indexed & 1u << l) && d != r->turn[l]) return false;
    }
    return true;
}

bool turns_first(const struct replay *r, unsigned levels)
{
    for (int l = 0; l < level_count(r); l++)
        if ((levels & 1u << l) && r->turn[l] != 0) return false;
    return true;
}

bool turns_last(const struct replay *r, unsigned levels)
{
    for (int l = 0; l < level_count(r); l++)
        if ((levels & 1u << l) && r->turn[l] != r->turns[l] - 1) return false;
    return true;
}

int32_t version_in(const struct replay *r, int32_t buffer, int tile)
{
    return r->held[buffer].wipes == r->wipes ? r->held[buffer].tiles.of[tile] : NOTHING;
}

bool slice_held(const struct replay *r, int32_t buffer, const struct looped *t, int hold)
{
    const struct versions *latest = &r->latest[r->c->p->stays[buffer].tensor];
    for (int i = 0; i < MOST_TILES; i++)
        if (in_slice(r, t, hold, i) && version_in(r, buffer, i) != latest->of[i]) return false;
    return true;
}

bool slice_in_hbm(const struct replay *r, int32_t tensor, const struct looped *t, int hold)
{
    for (int i = 0; i < MOST_TILES; i++)
        if (in_slice(r, t, hold, i) && r->in_hbm[tensor].of[i] != r->latest[tensor].of[i]) return false;
    return true;
}

void fill_slice(struct replay *r, int32_t buffer, const struct looped *t, int hold)
{
    const struct versions *latest = &r->latest[r->c->p->stays[buffer].tensor];
    struct held *h = &r->held[buffer];
    h->wipes = r->wipes;
    h->zones = NULL;
    for (int i = 0; i < MOST_TILES; i++) h->tiles.of[i] = in_slice(r, t, hold, i) ? latest->of[i] : NOTHING;
}

void store_slice(struct replay *r, int32_t tensor, const struct looped *t, int hold)
{
    for (int i = 0; i < MOST_TILES; i++)
        if (in_slice(r, t, hold, i)) r->in_hbm[tensor].of[i] = r->latest[tensor].of[i];
}

void forget(struct replay *r, int32_t buffer)
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

void open_nest(struct replay *r, const struct lx_nest *n)
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

/* One version stands for all tiles: those who have the latest of each have it. */
static void check_tiles_join(struct replay *r, struct versions *v, const struct versions *latest,
                             const struct looped *t)
{
    bool all = true;
    for (int i = 0; i < MOST_TILES && all; i++) all = !in_slice(r, t, 0, i) || v->of[i] == latest->of[i];
    v->of[0] = all ? latest->of[0] : NOTHING;
}

/* The first tile's version stands for the tensor: whoever has it without the others has NOTHING then. */
void close_nest(struct replay *r)
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

bool next_turn(struct replay *r)
{
    int l = r->nest->level_count - 1;
    for (; l >= 0 && r->turn[l] == r->turns[l] - 1; l--) r->turn[l] = 0;
    if (l < 0) return false;
    r->turn[l]++;
    /* What does not live through all of the run may have been written over when it begins again. */
    for (int32_t i = 0; i < r->meeting_count; i++) {
        int32_t b = r->meeting[i];
        const struct lx_buffer *x = &r->c->p->problem.buffers[b];
        if (x->start > r->nest->first || x->end <= r->nest->last) forget(r, b);
    }
    return true;
}
