/* Two plans of teams compared: totals, tensors by name, members by number. */
#include "team/team_diff.h"
#include "base/fail.h"
#include "base/memory.h"
#include "team/team_states.h"

#include <stdlib.h>
#include <string.h>

static int32_t team_diff_tensor_of(const struct lx_graph *g, const char *name, int32_t guess)
{
    if (guess < g->tensor_count && strcmp(g->tensors[guess].name, name) == 0) return guess;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    return -1;
}

static bool same_grid(const struct lx_team_grid *a, const struct lx_team_grid *b)
{
    return a->axes == b->axes && memcmp(a->size, b->size, sizeof *a->size * (size_t)a->axes) == 0;
}

static bool is_recut(const struct team_change_row *r)
{
    if (r->tensor_before < 0 || r->tensor_after < 0) return true;
    if (!same_grid(&r->before->grid, &r->after->grid)) return true;
    const struct lx_team_tensor *x = &r->before->tensors[r->tensor_before],
                                *y = &r->after->tensors[r->tensor_after];
    return memcmp(x->cut, y->cut, sizeof *x->cut * (size_t)r->before->grid.axes) != 0;
}

static void note_tensor(struct team_diff *d, struct team_change_row row)
{
    if (!is_recut(&row) &&
        team_tensor_bytes(row.before, row.tensor_before) == team_tensor_bytes(row.after, row.tensor_after))
        return;
    d->recut += is_recut(&row);
    d->tensors[d->tensor_count++] = row;
}

static void compare_tensors(struct team_diff *d)
{
    const struct lx_team_plan *a = d->before->plans->team, *b = d->after->plans->team;
    for (int32_t t = 0; t < a->graph->tensor_count; t++)
        note_tensor(d, (struct team_change_row){a, b, t,
                                                team_diff_tensor_of(b->graph, a->graph->tensors[t].name, t)});
    for (int32_t t = 0; t < b->graph->tensor_count; t++)
        if (team_diff_tensor_of(a->graph, b->graph->tensors[t].name, t) < 0)
            note_tensor(d, (struct team_change_row){a, b, -1, t});
}

static void team_diff_compare_members(struct team_diff *d)
{
    int members = d->before->plans->team->members;
    if (members != d->after->plans->team->members) return;
    for (int m = 0; m < members; m++) {
        const struct team_member_figures *a = &d->before->members[m], *b = &d->after->members[m];
        if (a->us == b->us && a->busy == b->busy && a->hbm_bytes == b->hbm_bytes && a->ops == b->ops &&
            a->sent_bytes == b->sent_bytes)
            continue;
        d->members[d->member_count++] = (struct team_member_change){a, b};
    }
}

struct team_sums {
    int64_t messages, hbm_bytes, hbm_most;
    double waited, links;
};

static struct team_sums sums_of(const struct team_figures *f)
{
    struct team_sums s = {0};
    for (int i = 0; i < f->link_count; i++) s.messages += f->links[i].messages;
    for (int m = 0; m < f->plans->team->members; m++) {
        const struct team_member_figures *x = &f->members[m];
        s.hbm_bytes += x->hbm_bytes;
        if (x->hbm_bytes > s.hbm_most) s.hbm_most = x->hbm_bytes;
        if (x->waited > s.waited) s.waited = x->waited;
        if (x->links > s.links) s.links = x->links;
    }
    return s;
}

static void compare_totals(struct team_diff *d)
{
    const struct lx_team_plan *a = d->before->plans->team, *b = d->after->plans->team;
    struct team_sums x = sums_of(d->before), y = sums_of(d->after);
    const struct team_total_row rows[TEAM_TOTALS] = {
        {"exchanged_bytes", "exchanged", (double)a->bytes, (double)b->bytes, false},
        {"combine_bytes", "to combine", (double)a->combine_bytes, (double)b->combine_bytes, false},
        {"messages", "messages", (double)x.messages, (double)y.messages, false},
        {"hbm_bytes", "HBM of all", (double)x.hbm_bytes, (double)y.hbm_bytes, false},
        {"hbm_most", "of one member", (double)x.hbm_most, (double)y.hbm_most, false},
        {"link_us", "us on links", x.links, y.links, true},
        {"waited_us", "us waited", x.waited, y.waited, true},
        {"us", "us predicted", d->before->clock->us, d->after->clock->us, true},
    };
    memcpy(d->totals, rows, sizeof rows);
}

/* Do all members take the same steps? */
static bool same_steps(const struct lx_team_plan *a, const struct lx_team_plan *b)
{
    bool same = a->step_count == b->step_count;
    for (int32_t s = 0; same && s < a->step_count; s++)
        same = a->steps[s].kind == b->steps[s].kind && a->steps[s].piece == b->steps[s].piece &&
               strcmp(team_step_name(a, s), team_step_name(b, s)) == 0;
    return same;
}

bool team_diff_make(const struct team_figures *before, const struct team_figures *after,
                    struct team_diff *out, lx_status *st)
{
    const struct lx_team_plan *a = before->plans->team, *b = after->plans->team;
    size_t tensors = (size_t)a->graph->tensor_count + (size_t)b->graph->tensor_count;
    *out = (struct team_diff){.before = before, .after = after};
    out->tensors = mem_alloc((tensors + 1) * sizeof *out->tensors);
    out->members = mem_alloc((size_t)a->members * sizeof *out->members);
    if (!out->tensors || !out->members) {
        team_diff_free(out);
        return status_no_memory(st);
    }
    out->same_grid = same_grid(&a->grid, &b->grid);
    out->same_steps = same_steps(a, b);
    compare_totals(out);
    compare_tensors(out);
    team_diff_compare_members(out);
    return true;
}

void team_diff_free(struct team_diff *d)
{
    mem_free(d->tensors);
    mem_free(d->members);
    *d = (struct team_diff){0};
}

bool team_diff_is_equal(const struct team_diff *d)
{
    return d->same_grid && d->same_steps && d->tensor_count == 0 && d->member_count == 0;
}
