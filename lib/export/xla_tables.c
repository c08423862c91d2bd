/* What is on chip as two tables of XLA: the buffer assignment, and the allocations of the memory-space assignment.
 *
 * The first has a row per buffer on chip, all of a pool in one allocation, so that offsets are addresses; a life is
 * [definition_time, end_time + 1). The second has a row per time that a buffer is on chip, both times inclusive, with the
 * numbers that --format xla gives the same buffers: the two together are a plan that lx_check_xla takes. There a buffer
 * that goes on in another's place begins at the tick at which that one ends. */
#include "export/export_rows.h"
#include "base/fail.h"
#include "graph/pattern.h"

#include <inttypes.h>

/* Names of uses come of ops; buffers of a list have none. */
static void add_use_names(const struct lx_plan *p, const struct lx_buffer *b, int32_t first, struct text *out)
{
    const struct lx_graph *g = p->layouts ? p->layouts->graph : NULL;
    struct text names = {0};
    for (int32_t u = first; g && u < b->use_count; u++) {
        if (u > first) text_add(&names, ";");
        if (b->uses[u] >= 0 && b->uses[u] < g->op_count) text_add(&names, g->ops[b->uses[u]].name);
    }
    csv_field(out, names.at ? names.at : "");
    out->failed |= names.failed;
    text_free(&names);
}

static void add_assignment(const struct lx_plan *p, int32_t i, struct text *out)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    int32_t first = b->first_use_is_read || b->use_count == 0 ? 0 : 1;
    text_format(out, "%d,", (int)i);
    csv_field(out, b->name);
    text_format(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,", p->answer.address[i], b->size,
                b->start, b->end - 1, (int)(b->use_count - first));
    for (int32_t u = first; u < b->use_count; u++)
        text_format(out, u > first ? ";%" PRId64 : "%" PRId64, b->uses[u]);
    text_add(out, ",");
    add_use_names(p, b, first, out);
    text_add(out, "\n");
}

bool assignment_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    (void)other, (void)st;
    text_add(out,
             "buffer_id,buffer_name,offset,size,definition_time,end_time,num_uses,use_times,use_names\n");
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0) add_assignment(p, i, out);
    return true;
}

bool allocinfo_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    int32_t id = -1;
    (void)other;
    if (lx_pool_count(&p->problem) > 1)
        return status_set(st, LX_E_UNSUPPORTED,
                          "allocinfo is of one memory and the plan has %d pools; use --format xla-csv",
                          (int)lx_pool_count(&p->problem));
    text_add(out, "buffer_id,size,offset,start_time,end_time\n");
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (b->reason) continue;
        id++;
        for (int32_t k = 0; p->answer.address[i] >= 0 && k < lx_life_count(b); k++)
            text_format(out, "%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", (int)id, b->size,
                        p->answer.address[i], lx_life_at(b, k).start, lx_life_at(b, k).end - 1);
    }
    return true;
}
