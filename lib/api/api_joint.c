/* lx_joint_solve: the question read, searched, and answered in the caller's order and units. */
#include "api/joint_question.h"
#include "api/joint_result.h"
#include "base/checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One question on its way. */
struct joint_work {
    struct joint_question q;
    struct joint_model m;
    struct lx_joint_answer a;
    const struct lx_solver *solver;
};

/* --- A slot is handed over only between parts of one size: else they would not be cut alike. --- */

static bool drop_unequal(struct lx_problem *p, const int64_t *address, struct arena *memory, bool *taken)
{
    struct lx_buffer *all = arena_copy_array(memory, p->buffers, (size_t)p->count, sizeof *all);
    if (!all) return false;
    *taken = false;
    for (int32_t i = 0; i < p->count; i++) {
        int32_t *kept = arena_array(memory, (size_t)all[i].parent_count, sizeof *kept), n = 0;
        if (!kept) return false;
        for (int32_t k = 0; k < all[i].parent_count; k++) {
            int32_t parent = all[i].parents[k];
            if (all[parent].size == all[i].size)
                kept[n++] = parent;
            else
                *taken |= address[i] >= 0 && address[i] == address[parent];
        }
        all[i].parents = kept;
        all[i].parent_count = n;
    }
    p->buffers = all;
    return true;
}

static bool place_again(struct joint_work *w, struct lx_run run, lx_status *st)
{
    struct lx_problem placement;
    bool taken, *on = arena_array(&w->q.memory, (size_t)w->q.count, sizeof *on);
    if (!lx_joint_placement(&w->m.problem, w->a.choice, &w->q.memory, &placement, st)) return false;
    if (!on || !drop_unequal(&placement, w->a.address, &w->q.memory, &taken)) return status_no_memory(st);
    if (!taken) return true;
    struct lx_answer again = {.address = w->a.address};
    run.options = NULL;
    run.progress = NULL;
    if (!lx_problem_solve(&placement, w->solver, &run, &again, st)) return false;
    for (int32_t i = 0; i < w->q.count; i++) on[i] = w->a.address[i] >= 0;
    w->a.objective = lx_joint_cost(&w->m.problem, w->a.choice, on);
    if (w->a.objective > w->a.bound && w->a.status == LX_OPTIMAL) w->a.status = LX_FEASIBLE;
    return true;
}

/* --- The answer, in the caller's order. --- */

static const char *reason_of(const struct joint_work *w, int32_t i)
{
    const struct lx_joint_buffer *b = &w->m.problem.buffers[w->m.at[i]];
    if (w->a.address[w->m.at[i]] >= 0) return "";
    if (b->reason) return b->reason;
    if (w->a.label[w->m.at[i]] < 0) return "its readers cut it otherwise";
    return w->m.problem.label_size[w->a.label[w->m.at[i]]] > w->q.capacity ? "larger than the scratchpad"
                                                                           : "no room";
}

static bool fill_item(const struct joint_work *w, int32_t i, struct arena *memory, struct joint_item *to)
{
    const struct joint_buffer *b = &w->q.buffers[i];
    int32_t choice = w->a.choice[w->m.at[i]];
    *to = (struct joint_item){.name = arena_string(memory, b->name),
                              .reason = arena_string(memory, reason_of(w, i)),
                              .choice = choice,
                              .address = w->a.address[w->m.at[i]],
                              .size = b->menu[choice].bytes,
                              .start = b->start,
                              .end = b->end,
                              .cost = b->off};
    return to->name && to->reason;
}

static lx_result *make_result(const struct joint_work *w, lx_status *st)
{
    lx_result *r = calloc(1, sizeof *r);
    struct joint_result *out = r ? arena_alloc(&r->memory, sizeof *out) : NULL;
    if (!out) return free(r), status_no_memory(st), NULL;
    r->joint = out;
    *out = (struct joint_result){
        .status = w->a.status, .count = w->q.count, .steps = w->a.steps, .solver = w->solver->name};
    out->items = arena_array(&r->memory, (size_t)w->q.count, sizeof *out->items);
    bool ok = out->items != NULL;
    for (int32_t i = 0; ok && i < w->q.count; i++) {
        const struct joint_buffer *b = &w->q.buffers[i];
        ok = fill_item(w, i, &r->memory, &out->items[i]);
        if (out->items[i].address < 0) out->objective += b->off;
        out->cores += b->menu[out->items[i].choice].cores;
        out->squares += b->menu[out->items[i].choice].squares;
    }
    out->bound = min_i64(w->a.bound / w->m.weight * w->m.unit, out->objective);
    if (ok) return r;
    lx_result_free(r);
    return status_no_memory(st), NULL;
}

lx_result *lx_joint_solve(const char *bytes, int64_t size, const lx_options *o, lx_error *e)
{
    lx_status nowhere = {0}, *st = api_status(e, &nowhere);
    struct lx_settings settings = api_settings(o);
    struct lx_plan_options how;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct joint_work w = {0};
    lx_result *r = NULL;
    if (!bytes || size < 0) return status_set(st, LX_E_USAGE, "there is no text to read"), NULL;
    long failures = memory_failures();
    struct plain_locale before = plain_locale_begin();
    if (joint_read(&w.q, bytes, (size_t)size, st) && joint_model_of(&w.q, &w.m, st) &&
        lx_joint_validate(&w.m.problem, st) && api_plan_options(o, &settings, LX_SPILL, &how, values, st)) {
        struct lx_joint_options ask = {
            .mode = LX_JOINT_FULL, .without_flip = true, .solver = how.solver, .run = how.run};
        w.solver = how.solver;
        if (lx_joint_search(&w.m.problem, &ask, &w.q.memory, &w.a, st) && place_again(&w, how.run, st))
            r = make_result(&w, st);
    }
    arena_free(&w.q.memory);
    plain_locale_end(before);
    if (api_had_memory(failures, st)) return r;
    lx_result_free(r);
    return NULL;
}
