/* Nests of both plans stand on one axis: the ops of the first plan, in order of time. Those that meet there make a run; an op
 * that only the second plan has belongs to the op before it. Some nests of some hundred ops. */
#include "explain/nest_diff.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

/* Per op of the second plan: its place in the first. */
static int32_t *places_of(const struct lx_plan *before, const struct lx_plan *after)
{
    const struct lx_graph *g = before->layouts->graph, *h = after->layouts->graph;
    int32_t *place = mem_zeroed((size_t)h->op_count + 1, sizeof *place);
    struct names names = {0};
    bool ok = place;
    for (int32_t o = 0; ok && o < g->op_count; o++)
        ok = names_add(&names, g->ops[o].name, o) != NAMES_NO_MEMORY;
    for (int32_t o = 0; ok && o < h->op_count; o++) {
        int32_t at = names_find(&names, h->ops[o].name);
        place[o] = at >= 0 ? at : o > 0 ? place[o - 1] : 0;
    }
    names_free(&names);
    if (!ok) mem_free(place);
    return ok ? place : NULL;
}

struct span {
    int32_t from, to; /* both included */
};

static struct span nest_diff_span_of(const struct lx_nest *n, const int32_t *place)
{
    struct span s = {place ? place[n->first] : n->first, place ? place[n->first] : n->first};
    for (int32_t o = n->first; o <= n->last; o++) {
        int32_t at = place ? place[o] : o;
        if (at < s.from) s.from = at;
        if (at > s.to) s.to = at;
    }
    return s;
}

/* Takes the nests of one plan that begin within the run; it grows by them. */
static bool nest_diff_take(const struct lx_plan *p, const int32_t *place, int32_t *next, struct span *run,
                           int32_t *count)
{
    bool any = false;
    while (*next < p->nest_count) {
        struct span s = nest_diff_span_of(&p->nests[*next], place);
        if (s.from > run->to) break;
        if (s.to > run->to) run->to = s.to;
        ++*next;
        ++*count;
        any = true;
    }
    return any;
}

static bool same_nest(const struct lx_plan *p, const struct lx_nest *m, const struct lx_plan *q,
                      const struct lx_nest *n)
{
    const struct lx_op *a = p->layouts->graph->ops, *b = q->layouts->graph->ops;
    bool same = m->level_count == n->level_count && strcmp(a[m->first].name, b[n->first].name) == 0 &&
                strcmp(a[m->last].name, b[n->last].name) == 0;
    for (int l = 0; same && l < m->level_count; l++)
        same = m->tiles[l] == n->tiles[l] &&
               nest_letter(p->layouts, m, m->first, l) == nest_letter(q->layouts, n, n->first, l);
    return same;
}

static int64_t nest_diff_moved(const struct lx_plan *p, const int32_t *place, struct span run)
{
    int64_t bytes = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        int32_t at = place ? place[o] : o;
        if (at >= run.from && at <= run.to) bytes += p->traffic[o].hbm_read + p->traffic[o].hbm_written;
    }
    return bytes;
}

static void nest_diff_compare(const struct lx_plan *before, const struct lx_plan *after, const int32_t *place,
                              struct lx_nest_diff *out)
{
    int32_t i = 0, k = 0;
    while (i < before->nest_count || k < after->nest_count) {
        struct lx_nest_change c = {.first_before = i, .first_after = k};
        struct span run = {INT32_MAX, 0};
        if (i < before->nest_count) run = nest_diff_span_of(&before->nests[i], NULL);
        if (k < after->nest_count && nest_diff_span_of(&after->nests[k], place).from < run.from)
            run = nest_diff_span_of(&after->nests[k], place);
        for (bool more = true; more;) {
            more = nest_diff_take(before, NULL, &i, &run, &c.count_before);
            more |= nest_diff_take(after, place, &k, &run, &c.count_after);
        }
        bool same = c.count_before == c.count_after;
        for (int32_t n = 0; same && n < c.count_before; n++)
            same = same_nest(before, &before->nests[c.first_before + n], after,
                             &after->nests[c.first_after + n]);
        if (same) continue;
        c.bytes_before = nest_diff_moved(before, NULL, run);
        c.bytes_after = nest_diff_moved(after, place, run);
        out->others.bytes_before -= c.bytes_before;
        out->others.bytes_after -= c.bytes_after;
        out->all[out->count++] = c;
    }
}

bool lx_nest_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_nest_diff *out,
                  lx_status *st)
{
    size_t most = (size_t)before->nest_count + (size_t)after->nest_count;
    int32_t *place = places_of(before, after);
    *out = (struct lx_nest_diff){
        .all = mem_zeroed(most + 1, sizeof *out->all),
        .others = {.bytes_before = before->figures.hbm_bytes, .bytes_after = after->figures.hbm_bytes}};
    bool ok = place && out->all;
    if (ok) nest_diff_compare(before, after, place, out);
    mem_free(place);
    if (ok) return true;
    lx_nest_diff_free(out);
    return status_no_memory(st);
}

void lx_nest_diff_free(struct lx_nest_diff *d)
{
    mem_free(d->all);
    *d = (struct lx_nest_diff){0};
}
