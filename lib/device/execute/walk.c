/* The persistent loops: each core goes through its turns, recovers what tile each of them is, and puts the
 * tiles together to strips. What a core computes comes from here and nowhere else: from the arguments of its
 * launch, not from the division of the op. */
#include "device/execute/execute.h"
#include "base/checked.h"

static bool walk_within(const struct op_index *x, const struct lx_launch_piece *p)
{
    for (int v = 0; v < x->var_count; v++)
        if (p->from[v] < 0 || p->from[v] >= p->to[v] || p->to[v] > x->extent[v]) return false;
    return true;
}

static int64_t volume(const struct op_index *x, const int64_t *from, const int64_t *to)
{
    int64_t n = 1;
    for (int v = 0; v < x->var_count; v++)
        if (!op_index_follows(x, v)) n *= to[v] - from[v]; /* an op has less than 2^63 products */
    return n;
}

static void walk_core(struct op_work *w, int64_t core)
{
    static const int64_t origin[LX_MAX_VARS] = {0};
    struct core_work *c = &w->core[core];
    int64_t turns = lx_op_launch_turns(w->launch, core), left = volume(&w->x, origin, w->x.extent);
    for (int64_t turn = 0; turn < turns; turn++) {
        struct lx_launch_piece piece;
        c->outside = !lx_op_launch_piece(w->launch, &w->x, core, turn, &piece) || !walk_within(&w->x, &piece);
        if (c->outside) return;
        left -= volume(&w->x, piece.from, piece.to);
        c->endless = left < 0;
        if (c->endless) return;
        strips_add(&c->strips, piece.from, piece.to, w->alone);
    }
}

static void walk_task(void *context, int64_t core, int worker)
{
    struct op_work *w = context;
    (void)worker;
    walk_core(w, core);
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
