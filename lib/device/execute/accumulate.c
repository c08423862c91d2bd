/* Sums over the tiles of a nest: in the first iteration of the levels that are summed an op leaves the sum
 * of its tile, in each later one it reads what it has left, joins this tile's to it and rounds it to its
 * type again. A mean is divided once, by the number of all its terms, when the last tile is in. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "base/memory.h"
#include "device/memory/stick_box.h"

#include <stdlib.h>

static bool accumulate_is_written(const struct op_work *w, const struct strip_work *s)
{
    int out = w->out;
    return w->core[s->core].place[out].in && (s->usable >> out & 1) && s->writes;
}

static void add_task(void *context, int64_t strip, int worker)
{
    struct op_work *w = context;
    struct strip_work *s = &w->strip[strip];
    const struct place *p = &w->core[s->core].place[w->out];
    (void)worker;
    if (!accumulate_is_written(w, s)) return;
    if (w->wide) {
        wide_number *before = mem_zeroed((size_t)max_i64(s->layout.floats, 1), sizeof *before);
        dense_gather_wide(&w->m->layouts[w->op->output], op_number_type(w->m->graph, w->op, w->out),
                          &s->written, p->in->bytes + p->address, &w->x, w->out, &s->layout, before);
        wide_join(w, s->wide, before, s->layout.floats);
        mem_free(before);
        return;
    }
    float *before = mem_zeroed((size_t)max_i64(s->layout.floats, 1), sizeof *before);
    dense_gather(&w->m->layouts[w->op->output], &s->written, p->in->bytes + p->address, &w->x, w->out,
                 &s->layout, before);
    blend_before(w, s, before);
    w->arith->sum->join(s->out, before, s->layout.floats);
    mem_free(before);
}

void add_to_sums(struct op_work *w)
{
    struct machine *m = w->m;
    uint32_t parts = iteration_parts_before(&m->at, w->summed);
    if (parts == 0) return;
    m->access++;
    for (size_t i = 0; i < w->strip_count; i++)
        if (accumulate_is_written(w, &w->strip[i])) {
            const struct place *p = &w->core[w->strip[i].core].place[w->out];
            struct expectation want = {{value_made(m, w->out), parts}, true};
            *read_counter(p, &m->counted[w->strip[i].core]) +=
                sticks_to_bytes(m, p->tensor, shadow_read(m, p, &w->strip[i].written, want));
        }
    pool_run(m->pool, (int64_t)w->strip_count, add_task, w);
}

void divide_means(struct op_work *w)
{
    bool means = work_folds(w) && (w->wide ? w->wide->divides : w->arith->sum->divides);
    if (!means || iteration_parts_after(&w->m->at, w->summed) > 0) return;
    for (size_t i = 0; i < w->strip_count; i++)
        if (w->x.window_count)
            divide_window_means(w, &w->strip[i]);
        else
            for (int64_t k = 0; k < w->strip[i].layout.floats; k++) {
                if (w->wide)
                    w->strip[i].wide[k] = (wide_number)((double)w->strip[i].wide[k] * (1 / (double)w->terms));
                else
                    w->strip[i].out[k] *= 1 / (float)w->terms;
            }
}
