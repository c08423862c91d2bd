/* Stays whose loads are issued before they are due: they live from the issue on, and their first use is the
 * copy. In a nest: stays with several slots, which live as long as it runs. */
#include "stays/draft.h"

int early_compare(const void *a, const void *b)
{
    const struct early *x = a, *y = b;
    if (x->tensor != y->tensor) return x->tensor < y->tensor ? -1 : 1;
    return (x->due > y->due) - (x->due < y->due);
}

const struct early *early_find(const struct decisions *how, int32_t tensor, int32_t due)
{
    const struct early wanted = {.tensor = tensor, .due = due};
    if (how->early_count == 0) return NULL;
    return bsearch(&wanted, how->early, (size_t)how->early_count, sizeof wanted, early_compare);
}

/* Only what a load may fill, not a move from its old address. */
static const struct early *early_of_stay(const struct draft *x, int32_t stay)
{
    const struct lx_stay *s = &x->stays[stay];
    if (s->begins_written || s->moved_from >= 0) return NULL;
    const struct early *e = early_find(&x->how, s->tensor, s->first);
    bool may = s->exclusion == LX_EXCLUDED_NONE || (s->exclusion == LX_EXCLUDED_NO_GAIN && e && e->streamed);
    return may ? e : NULL;
}

int32_t stay_ahead(const struct draft *x, int32_t stay)
{
    const struct early *e = x->stays[stay].hold > 0 ? NULL : early_of_stay(x, stay);
    return e ? x->stays[stay].first - e->issue : 0;
}

/* The stay lives on the ticks [first, last] at least. */
static void early_lives(struct draft *x, int32_t stay, int64_t first, int64_t last)
{
    struct lx_buffer *b = &x->buffers[stay];
    int64_t *uses = arena_array(x->memory, (size_t)b->use_count + 2, sizeof *uses);
    int32_t count = 0;
    if (first < b->start) uses[count++] = b->start = first;
    for (int32_t k = 0; k < b->use_count; k++) uses[count++] = b->uses[k];
    if (last >= b->end) uses[count++] = last, b->end = last + 1;
    b->uses = uses;
    b->use_count = count;
}

void draft_early_stay(struct draft *x, int32_t i)
{
    const struct early *e = early_of_stay(x, i);
    struct lx_stay *s = &x->stays[i];
    int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, s->view_op);
    if (e && s->exclusion) s->exclusion = LX_EXCLUDED_NONE, x->buffers[i].reason = NULL;
    if (e && s->hold == 0) early_lives(x, i, e->issue, -1);
    if (!e || s->hold == 0 || nest < 0 || e->stages < 2) return;
    early_lives(x, i, x->how.nests[nest].first, x->how.nests[nest].last);
    s->stages = e->stages;
    x->buffers[i].size *= e->stages;
}

void draft_early(struct draft *x)
{
    for (int32_t i = 0; x->how.early_count > 0 && i < x->problem.count; i++) draft_early_stay(x, i);
}
