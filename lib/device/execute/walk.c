/* The persistent loops: each core goes through its turns, recovers the tile of each, and merges the tiles
 * into strips. A core's work comes from the arguments of its launch alone, not from the division of the
 * op. */
#include "device/execute/execute.h"

/* Merging works like counting: whenever the last two strips make up a box, they become one, so that columns
 * of a row join first, then rows, then batches, or by whatever order the tiles have. */

static int64_t *strips_record(const struct strips *s, size_t i)
{
    return s->at + i * 3 * (size_t)s->vars;
}

/* The one variable along which two strips make up a box; -1: they do not. */
static int join_along(const int64_t *a, const int64_t *b, int vars)
{
    int along = -1;
    for (int v = 0; v < vars; v++) {
        bool same = a[v] == b[v] && a[vars + v] == b[vars + v] && a[2 * vars + v] == b[2 * vars + v];
        if (same) continue;
        if (along >= 0) return -1;
        /* May `b` be joined to `a` along variable v? Tiles keep their grid: only the last may be shorter. */
        int64_t width = a[vars + v] - a[v], tile = a[2 * vars + v], next = b[2 * vars + v];
        if (b[v] != a[vars + v] || width % tile != 0) return -1;
        if (next != tile && (next >= tile || b[vars + v] - b[v] != next)) return -1;
        along = v;
    }
    return along;
}

/* Adds a tile, [from, to) of each variable. `alone`: it stays a strip of its own. */
static void strips_add(struct strips *s, const int64_t *from, const int64_t *to, bool alone)
{
    size_t bytes = (size_t)s->vars * sizeof *from;
    vec_grow((void **)&s->at, &s->room, s->count + 1, 3 * bytes + (s->vars == 0));
    int64_t *at = strips_record(s, s->count++);
    memcpy(at, from, bytes);
    memcpy(at + s->vars, to, bytes);
    for (int v = 0; v < s->vars; v++) at[2 * s->vars + v] = to[v] - from[v];
    while (!alone && s->count > 1) {
        int64_t *a = strips_record(s, s->count - 2), *b = strips_record(s, s->count - 1);
        int v = join_along(a, b, s->vars);
        if (v < 0) return;
        a[s->vars + v] = b[s->vars + v];
        s->count--;
    }
}

void strips_free(struct strips *s)
{
    mem_free(s->at);
    *s = (struct strips){.vars = s->vars};
}

static int64_t volume(const struct op_index *x, const int64_t *from, const int64_t *to)
{
    int64_t n = 1;
    for (int v = 0; v < x->var_count; v++)
        if (!op_index_follows(x, v)) n *= to[v] - from[v]; /* an op has less than 2^63 products */
    return n;
}

static void walk_task(void *context, int64_t core, int worker)
{
    static const int64_t origin[LX_MAX_VARS] = {0};
    struct op_work *w = context;
    struct core_work *c = &w->core[core];
    int64_t turns = lx_op_launch_turns(w->launch, core), left = volume(&w->x, origin, w->x.extent);
    (void)worker;
    for (int64_t turn = 0; turn < turns; turn++) {
        struct lx_launch_piece p;
        c->outside = !lx_op_launch_piece(w->launch, &w->x, core, turn, &p);
        for (int v = 0; !c->outside && v < w->x.var_count; v++)
            c->outside = p.from[v] < 0 || p.from[v] >= p.to[v] || p.to[v] > w->x.extent[v];
        if (c->outside) return;
        left -= volume(&w->x, p.from, p.to);
        c->endless = left < 0;
        if (c->endless) return;
        strips_add(&c->strips, p.from, p.to, w->alone);
    }
}

void walk_launch(struct op_work *w)
{
    for (int64_t c = 0; c < w->cores; c++) {
        strips_free(&w->core[c].strips);
        w->core[c].strips.vars = w->x.var_count;
    }
    pool_run(w->m->pool, w->cores, walk_task, w);
    for (int64_t c = 0; c < w->cores; c++) {
        if (w->core[c].outside)
            fault_plain(w->m, LX_FAULT_GRID, NULL,
                        "the arguments of core %lld lead outside the grid of tiles", (long long)c);
        if (w->core[c].endless)
            fault_plain(w->m, LX_FAULT_TWICE, NULL, "core %lld has more turns than there are elements",
                        (long long)c);
    }
    /* All strips in a row, core by core. */
    struct machine *m = w->m;
    w->strip_count = 0;
    for (int64_t c = 0; c < w->cores; c++) w->strip_count += w->core[c].strips.count;
    w->strip = arena_array(m->scratch, w->strip_count, sizeof *w->strip);
    struct strip_work *s = w->strip;
    for (int64_t c = 0; c < w->cores; c++)
        for (size_t i = 0; i < w->core[c].strips.count; i++, s++) {
            *s = (struct strip_work){.core = c, .strip = strip_at(&w->core[c].strips, i), .writes = true};
            for (int v = 0; v < w->x.var_count; v++) {
                s->slice.from[v] = s->strip.from[v] + w->offset[v];
                s->slice.to[v] = s->strip.to[v] + w->offset[v];
            }
        }
}

/* Do the arguments of a launch agree with each other? Tiles are recovered from extents, sides and parts; the
 * other arguments of cores, Mt, Kt, Nt, the shard grid and their own place, must follow from these. */

void check_arguments(struct machine *m)
{
    const struct lx_op_launch *o = &m->launches[m->tick];
    const struct lx_launch *l = o->launch;
    if (o->kind == LX_LAUNCH_REFUSED)
        fault_plain(m, LX_FAULT_PLAN, NULL, "it cannot be launched: %.300s", o->why ? o->why : "");
    if (!l) return;
    if (o->kind == LX_LAUNCH_TILES) {
        struct lx_launch grid = *l;
        struct lx_op_launch again = *o;
        again.launch = &grid;
        if (!lx_op_launch_settle(&again) || grid.batch != l->batch || grid.mt != l->mt || grid.nt != l->nt ||
            grid.kt != l->kt || again.k_slices != o->k_slices ||
            memcmp(grid.shard_grid, l->shard_grid, sizeof grid.shard_grid) != 0 ||
            memcmp(grid.shard_tiles, l->shard_tiles, sizeof grid.shard_tiles) != 0)
            fault_plain(m, LX_FAULT_GRID, NULL, "counts of tiles do not follow from extents and sides");
        /* The launch's loops are its nest's, and tiles follow each other. */
        const struct lx_nest *n = m->at.nest;
        struct op_index x;
        bool follow = l->level_count == (n ? n->level_count : 0);
        if (n) op_index_of(m->graph, machine_op(m), &x);
        for (int i = 0; follow && i < l->level_count; i++) {
            int v = n->var[m->tick - n->first][i];
            follow = l->level[i].tiles == n->tiles[i] && l->level[i].var == v &&
                     l->level[i].step == x.extent[v] / n->tiles[i];
        }
        if (!follow)
            fault_plain(m, LX_FAULT_GRID, NULL, "it is launched in other loops than those of its nest");
    }
    for (int32_t i = 0; i < l->core_count; i++) {
        const struct lx_launch_core *c = &l->cores[i];
        bool there = c->core >= 0 && c->core < m->cores && c->x >= 0 && c->x < l->core_grid[1] && c->y >= 0 &&
                     c->y < l->core_grid[0] && c->core == c->y * l->core_grid[1] + c->x;
        if (there && (i == 0 || c->core > l->cores[i - 1].core)) continue;
        fault_plain(m, LX_FAULT_GRID, NULL, "a core is launched twice, or at a place that is not its own");
        return;
    }
}

void check_whole(struct machine *m)
{
    const struct lx_op_launch *o = &m->launches[m->tick];
    int64_t turns = 0;
    for (int64_t c = 0; c < m->cores; c++)
        turns += lx_op_launch_turns(o, c) > 0 ? lx_op_launch_turns(o, c) : 0;
    if (machine_op(m)->kind->traits & LX_EXTERN) {
        if (o->kind != LX_LAUNCH_NONE || turns > 0)
            fault_plain(m, LX_FAULT_PLAN, NULL, "it runs off the device and cannot be launched");
    } else if (turns == 0)
        fault_plain(m, LX_FAULT_NEVER, NULL, "no core computes it");
    else if (turns > 1)
        fault_plain(m, LX_FAULT_TWICE, NULL, "%lld turns compute it, but it is one piece", (long long)turns);
    else if (lx_op_launch_turns(o, 0) != 1)
        fault_plain(m, LX_FAULT_PART, NULL, "its operands are on the first core");
}
