/* The buffers of a problem as a list for other tools, which know neither roles nor in place nor what may not be placed. */
#include "export/exports.h"
#include "base/fail.h"
#include "base/memory.h"

/* Another tool must respect these, or its answer is illegal here. Costs are optional: such tools place
 * everything. */
enum {
    NEEDED = LX_CAN_POOLS | LX_CAN_LIVES | LX_CAN_PAIRS | LX_CAN_RESERVED | LX_CAN_STAGING | LX_CAN_SAME_PLACE
};

/* Can a list of buffers say what the problem asks for? */
static bool export_list_can_say(const struct lx_problem *problem, const struct lx_format *format,
                                lx_status *st)
{
    char what[300];
    unsigned needs = lx_problem_needs(problem);
    if (!(needs & NEEDED)) return true;
    return status_set(st, LX_E_USAGE, "%s has no columns for %s; use --format pattern, which has",
                      format->summary, lx_needs_words(needs & NEEDED, what, sizeof what));
}

/* Buffers on the very bytes of one whose life they share. */
static int32_t count_in_place(const struct lx_plan *p)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->problem.count; i++) n += p->took_slot_of[i] >= 0;
    return n;
}

static char *export_list_write_list(const struct lx_graph *g, const struct lx_problem *problem,
                                    const struct lx_plan *p, const struct lx_format *format,
                                    struct lx_buffer *kept, int64_t *ids, size_t *length,
                                    struct lx_left_out *left)
{
    int32_t n = 0;
    *left = (struct lx_left_out){.needs = lx_problem_needs(problem), .places = p && format->has_addresses};
    left->shared = left->places ? count_in_place(p) : 0;
    for (int32_t i = 0; i < problem->count; i++) {
        if (problem->buffers[i].reason) continue;
        kept[n] = problem->buffers[i];
        ids[n] = g->list && g->list->buffer_ids ? g->list->buffer_ids[i] : n;
        left->may_take += kept[n].parent_count > 0;
        if (left->places && !left->shared) kept[n].fixed = p->answer.address[i];
        n++;
    }
    left->barred = problem->count - n;
    return format->write_buffers(&(struct lx_buffers){kept, n, problem->alignment, ids}, length);
}

char *lx_export_list(const struct lx_graph *g, const struct lx_problem *problem, const struct lx_plan *p,
                     const struct lx_format *format, size_t *length, struct lx_left_out *left, lx_status *st)
{
    size_t room = (size_t)problem->count + 1;
    char *text = NULL;
    if (!export_list_can_say(problem, format, st)) return NULL;
    struct lx_buffer *kept = mem_alloc(room * sizeof *kept);
    int64_t *ids = mem_alloc(room * sizeof *ids);
    text = export_list_write_list(g, problem, p, format, kept, ids, length, left);
    mem_free(kept);
    mem_free(ids);
    return text;
}
