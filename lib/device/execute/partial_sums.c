/* Sums that are split over groups of cores: the first group collects, part by part in the order of the sum,
 * so that the result does not depend on who was first. Parts of the others travel over the reduce ring.
 * Cores that keep the sum on chip get the total back the same way; in HBM the first group writes it for
 * all. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Strips by what they compute of the output, then by group. */
struct sorted_strip {
    const struct op_work *w;
    struct strip_work *strip;
};

static int compare_outputs(const struct op_work *w, const struct strip *a, const struct strip *b)
{
    for (int v = 0; v < w->x.var_count; v++) {
        if (op_index_reduced(&w->x, v)) continue;
        if (a->from[v] != b->from[v]) return a->from[v] < b->from[v] ? -1 : 1;
        if (a->to[v] != b->to[v]) return a->to[v] < b->to[v] ? -1 : 1;
        if (a->tile[v] != b->tile[v]) return a->tile[v] < b->tile[v] ? -1 : 1;
    }
    return 0;
}

static int compare_strips(const void *a, const void *b)
{
    const struct sorted_strip *p = a, *q = b;
    int order = compare_outputs(p->w, &p->strip->strip, &q->strip->strip);
    return order ? order : p->strip->group - q->strip->group;
}

static struct sorted_strip *sort_strips(struct op_work *w)
{
    struct sorted_strip *list = mem_zeroed(w->strip_count + 1, sizeof *list);
    for (size_t i = 0; i < w->strip_count; i++) list[i] = (struct sorted_strip){w, &w->strip[i]};
    qsort(list, w->strip_count, sizeof *list, compare_strips);
    return list;
}

/* Strips from `i` on that have parts of the same sums. */
static size_t parts_from(const struct op_work *w, const struct sorted_strip *list, size_t i)
{
    size_t end = i + 1;
    while (end < w->strip_count && compare_outputs(w, &list[i].strip->strip, &list[end].strip->strip) == 0)
        end++;
    return end - i;
}

bool partials_meet(struct op_work *w)
{
    struct sorted_strip *list = sort_strips(w);
    bool meet = true;
    for (size_t i = 0, n; i < w->strip_count; i += n) {
        n = parts_from(w, list, i);
        meet = meet && n == (size_t)w->groups;
    }
    mem_free(list);
    return meet;
}

void count_partials(struct op_work *w)
{
    for (int32_t g = 1; g < w->groups && work_folds(w); g++) {
        /* A core's part of the output, once over the reduce ring. Sticks count once for each group. */
        struct machine *m = w->m;
        int out = w->out;
        m->access++;
        for (size_t i = 0; i < w->strip_count; i++) {
            const struct strip_work *s = &w->strip[i];
            const struct place *p = &w->core[s->core].place[out];
            if (s->group != g || !p->in || !(s->usable >> out & 1)) continue;
            int64_t ways = p->stay >= 0 ? 2 : 1; /* back to where it stays */
            m->counted[s->core].reduce_ring += ways * shadow_count(m, p, &s->written) * m->stick_bytes;
        }
    }
}

static void join_parts(struct op_work *w, struct sorted_strip *list, size_t n)
{
    struct strip_work *total = list[0].strip;
    for (size_t i = 1; i < n; i++) {
        struct strip_work *s = list[i].strip;
        if (w->wide)
            wide_join(w, total->wide, s->wide, total->layout.floats);
        else
            w->arith->sum->join(total->out, s->out, total->layout.floats);
        s->writes = w->core[s->core].place[w->out].stay >= 0;
    }
    for (size_t i = 1; i < n; i++) {
        size_t count = (size_t)total->layout.floats;
        if (total->wide)
            memcpy(list[i].strip->wide, total->wide, count * sizeof *total->wide);
        else
            memcpy(list[i].strip->out, total->out, count * sizeof *total->out);
    }
}

void join_partials(struct op_work *w)
{
    if (!work_folds(w)) return;
    if (w->groups > 1) {
        struct sorted_strip *list = sort_strips(w);
        for (size_t i = 0, n; i < w->strip_count; i += n) {
            n = parts_from(w, list, i);
            join_parts(w, list + i, n);
        }
        mem_free(list);
    }
}
