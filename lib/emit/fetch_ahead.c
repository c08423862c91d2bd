/* Which inputs are asked for ahead of their use: from memory to the cache that all cores share. They stand in a row in
 * the order of their first use, and each tick asks for what has come within a window of bytes from its own. */
#include "emit/emission.h"
#include "base/checked.h"

#include <inttypes.h>

enum { FETCH_WINDOW_BYTES = 16 << 20 };

/* An input in the row. */
struct fetch {
    int32_t tensor, use;
    int64_t at; /* bytes before it */
};

static int64_t fetch_bytes(const struct emission *e, int32_t tensor)
{
    return lx_layout_bytes(&e->plan->layouts->layouts[tensor]);
}

/* Whether op `o` reads all of the tensor from HBM, or issues a load of it. */
static bool fetch_uses(const struct emission *e, int32_t o, int32_t tensor)
{
    const struct lx_plan *p = e->plan;
    for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++)
        if (p->accesses[a].tensor == tensor && p->accesses[a].reads &&
            lx_plan_place(p, o, (int)(a - p->access_at[o])) < 0)
            return p->accesses[a].bytes >= fetch_bytes(e, tensor);
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (t->kind == LX_LOAD && p->stays[t->stay].tensor == tensor && lx_issue_tick(t) == o) return true;
    }
    return false;
}

/* The inputs in the order of their use; returns their number. */
static int32_t fetch_row(struct emission *e, struct fetch *row)
{
    int32_t count = 0;
    int64_t at = 0;
    for (int32_t o = 0; o < e->graph->op_count; o++)
        for (int32_t t = 0; t < e->graph->tensor_count; t++) {
            bool known = e->plan->hbm_address[t] < 0 || !lx_role_arrives(e->graph->tensors[t].role);
            for (int32_t i = 0; i < count && !known; i++) known = row[i].tensor == t;
            if (known || !fetch_uses(e, o, t)) continue;
            row[count++] = (struct fetch){t, o, at};
            at += fetch_bytes(e, t);
        }
    return count;
}

void tick_fetch_ahead(struct emission *e)
{
    struct fetch *row = arena_array(&e->memory, (size_t)e->graph->tensor_count + 1, sizeof *row);
    int32_t count = fetch_row(e, row), next = 0;
    while (next < count && row[next].use < e->tick) next++;
    int64_t to = next < count ? row[next].at + FETCH_WINDOW_BYTES : e->fetched;
    for (int32_t i = next; i < count; i++) {
        int64_t all = fetch_bytes(e, row[i].tensor), from = max_i64(e->fetched - row[i].at, 0),
                end = min_i64(all, to - row[i].at);
        if (from >= end) continue;
        emit_line(e, "fetch_ahead(hbm + %" PRId64 ", %" PRId64 "); /* of %s, for tick %d */",
                  e->plan->hbm_address[row[i].tensor] + from, end - from,
                  e->graph->tensors[row[i].tensor].name, (int)row[i].use);
    }
    e->fetched = max_i64(e->fetched, to);
}
