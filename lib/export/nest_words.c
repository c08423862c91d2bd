/* Texts about nests; see nest_words.h. A stay held in a level lies in its first op's nest. */
#include "export/nest_words.h"
#include "base/words/words.h"

int32_t plan_nest_at(const struct lx_plan *p, int64_t tick)
{
    return tick < 0 || tick > INT32_MAX ? -1 : nest_of_op(p->nests, p->nest_count, (int32_t)tick);
}

int64_t plan_op_times(const struct lx_plan *p, int32_t op)
{
    int32_t nest = plan_nest_at(p, op);
    return nest < 0 ? 1 : nest_iterations(&p->nests[nest]);
}

char nest_axis_letter(const struct lx_plan *p, const struct lx_nest *n, int level)
{
    int32_t named = n->first; /* the first op with an einsum, which has the user's letters */
    for (int32_t o = n->last; o >= n->first; o--)
        if (p->layouts->graph->ops[o].einsum) named = o;
    return nest_letter(p->layouts, n, named, level);
}

int64_t plan_iterations(const struct lx_plan *p)
{
    int64_t all = 0;
    for (int32_t i = 0; i < p->nest_count; i++) all += nest_iterations(&p->nests[i]);
    return all;
}

void add_nests_sum(const struct lx_plan *p, struct text *out)
{
    if (p->nest_count == 0) return;
    text_format(out, "%s, ", counted(p->nest_count, "nest").at);
    text_add(out, counted(plan_iterations(p), "iteration").at);
}

bool nests_same(const struct lx_plan *a, const struct lx_plan *b)
{
    bool same = a->nest_count == b->nest_count;
    for (int32_t i = 0; same && i < a->nest_count; i++) {
        const struct lx_nest *m = &a->nests[i], *n = &b->nests[i];
        same = m->first == n->first && m->last == n->last && m->level_count == n->level_count;
        for (int l = 0; same && l < m->level_count; l++)
            same = m->tiles[l] == n->tiles[l] &&
                   nest_letter(a->layouts, m, m->first, l) == nest_letter(b->layouts, n, n->first, l);
    }
    return same;
}

void add_nests_change(const struct lx_plan *before, const struct lx_plan *after, struct text *out)
{
    if (nests_same(before, after)) return;
    if (before->nest_count == 0) text_add(out, "no nest");
    add_nests_sum(before, out);
    text_add(out, " -> ");
    if (after->nest_count == 0) text_add(out, "no nest");
    add_nests_sum(after, out);
}

void add_nest_words(const struct lx_plan *p, const struct lx_nest *n, struct text *out)
{
    for (int l = 0; l < n->level_count; l++)
        text_format(out, "%sx%s over %c", l ? ", " : "", grouped(n->tiles[l]).at, nest_axis_letter(p, n, l));
}

void add_nest_brief(const struct lx_plan *p, const struct lx_nest *n, struct text *out)
{
    for (int l = 0; l < n->level_count; l++)
        text_format(out, "%s%c/%lld", l ? "," : "", nest_axis_letter(p, n, l), (long long)n->tiles[l]);
}

void add_nest_title(const struct lx_plan *p, int32_t nest, struct text *out)
{
    const struct lx_nest *n = &p->nests[nest];
    text_format(out, "nest %d of %d, ", (int)nest + 1, (int)p->nest_count);
    if (n->first == n->last)
        text_format(out, "tick %d: ", (int)n->first);
    else
        text_format(out, "ticks %d to %d: ", (int)n->first, (int)n->last);
    add_nest_words(p, n, out);
}

void add_nest_option(const struct lx_plan *p, const struct lx_nest *n, const int64_t *tiles, struct text *out)
{
    text_format(out, "%d-%d", (int)n->first, (int)n->last);
    for (int l = 0; l < n->level_count; l++)
        text_format(out, "%c%c/%lld", l ? ',' : ':', nest_letter(p->layouts, n, n->first, l),
                    (long long)(tiles ? tiles : n->tiles)[l]);
}

int64_t iteration_index(const struct lx_nest *n, int64_t iteration, int level)
{
    return iteration / nest_product(n, ~levels_to(level + 1)) % n->tiles[level];
}

int64_t nest_tile_extent(const struct lx_plan *p, const struct lx_nest *n, int level)
{
    const struct lx_division *d = &p->divisions->at[n->first];
    char letter = nest_letter(p->layouts, n, n->first, level);
    for (int k = 0; k < d->split_count; k++)
        if (d->splits[k].letter == letter) return d->splits[k].extent * d->splits[k].tiles / n->tiles[level];
    return 1;
}

int nest_level_of(const struct lx_plan *p, int32_t op, char letter)
{
    int32_t nest = plan_nest_at(p, op);
    for (int l = 0; nest >= 0 && l < p->nests[nest].level_count; l++)
        if (nest_letter(p->layouts, &p->nests[nest], op, l) == letter) return l;
    return -1;
}

/* "s 256..320" of some levels. */
static void nest_words_add_slices(const struct lx_plan *p, const struct lx_nest *n, unsigned levels,
                                  int64_t iteration, struct text *out)
{
    const char *comma = "";
    for (int l = 0; l < n->level_count; l++) {
        if (!(levels & level_bit(l))) continue;
        int64_t each = nest_tile_extent(p, n, l), at = iteration_index(n, iteration, l);
        text_format(out, "%s%c %lld..%lld", comma, nest_axis_letter(p, n, l), (long long)(at * each),
                    (long long)((at + 1) * each));
        comma = ", ";
    }
}

void add_iteration_words(const struct lx_plan *p, const struct lx_nest *n, int64_t iteration,
                         struct text *out)
{
    text_format(out, "iteration %s of ", grouped(iteration + 1).at);
    text_format(out, "%s: ", grouped(nest_iterations(n)).at);
    nest_words_add_slices(p, n, levels_to(n->level_count), iteration, out);
}

void add_slice_words(const struct lx_plan *p, const struct lx_nest *n, int32_t tensor, int hold,
                     int64_t iteration, struct text *out)
{
    nest_words_add_slices(p, n, nest_tensor_of(p->layouts, n, tensor).indexed & levels_to(hold), iteration,
                          out);
}

bool is_tile(const struct lx_plan *p, int32_t buffer)
{
    return p->stays && p->stays[buffer].hold > 0;
}

/* The nest of a tile, and the levels that split its tensor (`levels` may be NULL); NULL: the buffer is
 * whole. */
static const struct lx_nest *nest_words_nest_of_tile(const struct lx_plan *p, int32_t buffer,
                                                     unsigned *levels)
{
    int32_t n = is_tile(p, buffer) ? plan_nest_at(p, p->stays[buffer].first) : -1;
    const struct lx_stay *s = n < 0 ? NULL : &p->stays[buffer];
    if (s && levels)
        *levels = nest_tensor_of(p->layouts, &p->nests[n], s->tensor).indexed & levels_to(s->hold);
    return s ? &p->nests[n] : NULL;
}

int64_t tile_count(const struct lx_plan *p, int32_t buffer)
{
    unsigned levels;
    const struct lx_nest *n = nest_words_nest_of_tile(p, buffer, &levels);
    return n ? nest_product(n, levels) : 1;
}

/* The summed levels up to the stay's hold, if a load brings back a partial sum; else none. The first
 * iteration of a sum loads nothing. */
static unsigned nest_resumed_sum(const struct lx_plan *p, const struct lx_nest *n,
                                 const struct lx_transfer *t)
{
    const struct lx_stay *s = &p->stays[t->stay];
    if (t->kind != LX_LOAD || !s->begins_written) return 0;
    return nest_tensor_of(p->layouts, n, s->tensor).summed & levels_to(s->hold);
}

int64_t transfer_times(const struct lx_plan *p, const struct lx_transfer *t)
{
    const struct lx_nest *n = nest_words_nest_of_tile(p, t->stay, NULL);
    if (!n) return 1;
    const struct lx_stay *s = &p->stays[t->stay];
    int64_t times = nest_product(n, levels_to(s->hold));
    if (t->kind == LX_LOAD && s->begins_written)
        times -= nest_product(n, levels_to(s->hold) & ~nest_resumed_sum(p, n, t));
    return times;
}

/* Are the indices of these levels all first, or all last? */
static bool nest_words_all_at(const struct lx_nest *n, int64_t iteration, unsigned levels, bool last)
{
    for (int l = 0; l < n->level_count; l++)
        if (levels & level_bit(l) && iteration_index(n, iteration, l) != (last ? n->tiles[l] - 1 : 0))
            return false;
    return true;
}

bool transfer_happens(const struct lx_plan *p, const struct lx_transfer *t, int64_t iteration)
{
    int32_t at = plan_nest_at(p, t->tick);
    if (at < 0) return true;
    const struct lx_nest *n = &p->nests[at];
    const struct lx_stay *s = &p->stays[t->stay];
    if (!nest_words_all_at(n, iteration, ~levels_to(s->hold), t->kind == LX_STORE)) return false;
    unsigned summed = nest_resumed_sum(p, n, t);
    return !summed || !nest_words_all_at(n, iteration, summed, false);
}

void add_tile_copies(const struct lx_plan *p, int32_t buffer, struct text *out)
{
    const struct lx_nest *n = nest_words_nest_of_tile(p, buffer, NULL);
    if (!n) return;
    text_format(out, "held in level %d of %d", p->stays[buffer].hold, n->level_count);
    if (nest_tensor_of(p->layouts, n, p->stays[buffer].tensor).summed) text_add(out, ", accumulator");
    static const char *const words[] = {
        [LX_LOAD] = "loaded", [LX_STORE] = "stored", [LX_RING] = "relayout", [LX_MOVE] = "moved"};
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (t->stay != buffer) continue;
        text_format(out, ", %s %s", words[t->kind], counted(transfer_times(p, t), "time").at);
        text_format(out, ", %s B in all", grouped(t->bytes).at);
    }
}

/* The number of the tile within its tensor, from 0. */
static int64_t nest_words_tile_number(const struct lx_nest *n, unsigned levels, int64_t iteration)
{
    int64_t number = 0;
    for (int l = 0; l < n->level_count; l++)
        if (levels & level_bit(l)) number = number * n->tiles[l] + iteration_index(n, iteration, l);
    return number;
}

void add_whole_words(const struct lx_plan *p, int32_t buffer, int32_t nest, int64_t iteration,
                     struct text *out)
{
    const struct lx_nest *n = nest < 0 || !p->stays || is_tile(p, buffer) ? NULL : &p->nests[nest];
    if (!n || p->stays[buffer].first > n->last || p->stays[buffer].last < n->first) return;
    struct nest_tensor t = nest_tensor_of(p->layouts, n, p->stays[buffer].tensor);
    if (!t.indexed && !t.summed) return;
    text_format(out, t.summed ? "accumulator of nest %d over" : "whole in nest %d: ", (int)nest + 1);
    if (t.summed) { /* "accumulator of nest 2 over f: 5 of 64 tiles summed" */
        for (int l = 0; l < n->level_count; l++)
            if (t.summed & level_bit(l)) text_format(out, " %c", nest_axis_letter(p, n, l));
        text_format(out, ": %s of ", grouped(nest_words_tile_number(n, t.summed, iteration) + 1).at);
        text_format(out, "%s summed", counted(nest_product(n, t.summed), "tile").at);
    }
    if (t.summed && t.indexed) text_add(out, "; ");
    if (t.indexed) text_add(out, "this iteration uses ");
    nest_words_add_slices(p, n, t.indexed, iteration, out);
}

void add_tile_words(const struct lx_plan *p, int32_t buffer, int64_t iteration, struct text *out)
{
    unsigned levels;
    const struct lx_nest *n = nest_words_nest_of_tile(p, buffer, &levels);
    if (!n) return;
    const struct lx_stay *s = &p->stays[buffer];
    text_format(out, "tile %s of ", grouped(nest_words_tile_number(n, levels, iteration) + 1).at);
    text_format(out, "%s of ", grouped(nest_product(n, levels)).at);
    add_printable(out, p->layouts->graph->tensors[s->tensor].name, 30);
    text_add(out, " (");
    nest_words_add_slices(p, n, levels, iteration, out);
    text_add(out, "), ");
    add_tile_copies(p, buffer, out);
}
