/* lx_joint_solve: the question read, searched, and answered in the caller's order and units.
 *
 * Costs of one form and pairs that form labels go first to the search of joint.h, which exploits them; with
 * copies, terms or other pairs, or without a proof, the search of terms.h continues from the best answer. */
#include "api/joint_question.h"
#include "api/api_handles.h"

enum { MOST_BEHIND = 400 }; /* limit on buffers for a second search after the first */

/* A question being solved. */
struct joint_work {
    struct joint_question q;
    struct joint_model m;
    struct lx_joint_answer a;
    const struct lx_solver *solver;
    struct lx_run run;
    struct lx_term_problem terms;
    /* The answer, in the caller's order. */
    int32_t *choice;
    int64_t *address, steps;
    enum lx_verdict status;
    double bound;
};

/* --- A slot is handed over only between parts of one size, which are split alike. --- */

/* Was a slot handed over between unequal parts? */
static bool drop_unequal(struct lx_problem *p, const int64_t *address, struct arena *memory)
{
    struct lx_buffer *all = arena_copy_array(memory, p->buffers, (size_t)p->count, sizeof *all);
    bool taken = false;
    for (int32_t i = 0; i < p->count; i++) {
        int32_t *kept = arena_array(memory, (size_t)all[i].parent_count, sizeof *kept), n = 0;
        for (int32_t k = 0; k < all[i].parent_count; k++) {
            int32_t parent = all[i].parents[k];
            if (all[parent].size == all[i].size)
                kept[n++] = parent;
            else
                taken |= address[i] >= 0 && address[i] == address[parent];
        }
        all[i].parents = kept;
        all[i].parent_count = n;
    }
    p->buffers = all;
    return taken;
}

static bool place_again(struct joint_work *w, lx_status *st)
{
    struct lx_run run = w->run;
    struct lx_problem placement;
    bool *on = arena_array(&w->q.memory, (size_t)w->q.count, sizeof *on);
    lx_joint_placement(&w->m.problem, w->a.choice, &w->q.memory, &placement);
    if (!drop_unequal(&placement, w->a.address, &w->q.memory)) return true;
    struct lx_answer again = {.address = w->a.address};
    run.options = NULL;
    run.progress = NULL;
    if (!lx_problem_solve(&placement, w->solver, &run, &again, st)) return false;
    for (int32_t i = 0; i < w->q.count; i++) on[i] = w->a.address[i] >= 0;
    w->a.objective = lx_joint_cost(&w->m.problem, w->a.choice, on);
    if (w->a.objective > w->a.bound && w->a.status == LX_OPTIMAL) w->a.status = LX_FEASIBLE;
    return true;
}

/* --- Searches. --- */

static bool search_labels(struct joint_work *w, lx_status *st)
{
    struct lx_joint_options ask = {
        .mode = LX_JOINT_FULL, .without_flip = true, .solver = w->solver, .run = w->run};
    if (!lx_joint_validate(&w->m.problem, st) ||
        !lx_joint_search(&w->m.problem, &ask, &w->q.memory, &w->a, st) || !place_again(w, st))
        return false;
    for (int32_t i = 0; i < w->q.count; i++) {
        w->choice[i] = w->a.choice[w->m.at[i]];
        w->address[i] = w->a.address[w->m.at[i]];
    }
    w->status = w->a.status;
    w->steps = w->a.steps;
    w->bound = (double)(w->a.bound / w->q.weight * w->q.unit);
    return true;
}

static __attribute__((noinline)) bool api_joint_search(struct joint_work *w, lx_status *st)
{
    lx_status why = {0};
    bool plain = !w->q.term_count && !w->q.has_copies, found = false;
    if (plain && joint_model_of(&w->q, &w->m, &why)) {
        if (!search_labels(w, st)) return false;
        found = true;
    } else if (plain && why.code != LX_E_UNSUPPORTED) {
        return *st = why, false;
    }
    bool terms = joint_terms_of(&w->q, &w->terms, found ? &why : st);
    if (found && !terms && why.code == LX_E_MEMORY) return *st = why, false;
    if (found && (!terms || w->status == LX_OPTIMAL || w->status == LX_LIMIT || w->q.count > MOST_BEHIND))
        return true;
    if (!terms) return false;
    /* `found`: there is a first answer, and a bound that may be the better one. */
    struct lx_term_start start = {w->choice, w->address};
    struct lx_term_answer a;
    if (!lx_term_search(&w->terms, found ? &start : NULL, w->solver, &w->run, &w->q.memory, &a, st))
        return false;
    w->choice = a.choice;
    w->address = a.address;
    w->status = a.status;
    w->steps += a.steps;
    if (w->q.divisions_count) a.bound = floor(a.bound / (double)w->q.weight) * (double)w->q.unit;
    w->bound = found ? fmax(w->bound, a.bound) : a.bound;
    return true;
}

/* --- The answer. --- */

static const char *api_joint_reason_of(const struct joint_work *w, bool *on, int32_t i)
{
    const struct joint_buffer *b = &w->q.buffers[i];
    if (on[i]) return "";
    if (b->barred) return b->barred;
    if (!b->reader_count && !b->kept) return "nobody reads it";
    if (b->menu[w->choice[i]].bytes > w->q.capacity) return "larger than the scratchpad";
    on[i] = true;
    bool agreed = lx_term_may_stay(&w->terms, w->choice, on, i);
    on[i] = false;
    return agreed ? "no room" : b->copy_of < 0 ? "its readers cut it otherwise" : "it would serve nobody";
}

static lx_result *api_joint_make_result(const struct joint_work *w)
{
    lx_result *r = mem_zeroed(1, sizeof *r);
    struct joint_result *out = arena_alloc(&r->memory, sizeof *out);
    bool *on = arena_array(&r->memory, (size_t)w->q.count, sizeof *on);
    double off = 0;
    r->joint = out;
    *out = (struct joint_result){
        .status = w->status, .count = w->q.count, .steps = w->steps, .solver = w->solver->name};
    out->items = arena_array(&r->memory, (size_t)w->q.count, sizeof *out->items);
    for (int32_t i = 0; i < w->q.count; i++) on[i] = w->address[i] >= 0;
    for (int32_t i = 0; i < w->q.count; i++) {
        const struct joint_buffer *b = &w->q.buffers[i];
        const struct joint_choice *c = &b->menu[w->choice[i]];
        out->items[i] = (struct joint_item){.name = arena_string(&r->memory, b->name),
                                            .reason = arena_string(&r->memory, api_joint_reason_of(w, on, i)),
                                            .choice = w->choice[i],
                                            .address = w->address[i],
                                            .size = c->bytes,
                                            .start = b->start,
                                            .end = b->end,
                                            .cost = b->off};
        out->cores += c->cores;
        out->squares += c->squares;
        if (!on[i]) off += (double)b->off;
    }
    /* The cost of all buffers off chip; without divisions also of the terms. */
    out->objective = w->q.divisions_count ? off : lx_term_cost(&w->terms, w->choice, w->address);
    out->bound = w->status == LX_OPTIMAL ? out->objective : fmin(w->bound, out->objective);
    return r;
}

lx_result *lx_joint_solve(const char *bytes, int64_t size, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    struct lx_settings settings = api_settings(o);
    struct lx_plan_options how;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct joint_work w = {0};
    lx_result *r = NULL;
    if (!bytes || size < 0) return status_set(st, LX_E_USAGE, "there is no text to read"), NULL;
    if (joint_read(&w.q, bytes, (size_t)size, st) && joint_costs_of(&w.q, st) &&
        api_plan_options(o, &settings, NULL, &how, values, st)) {
        w.choice = arena_array(&w.q.memory, (size_t)w.q.count, sizeof *w.choice);
        w.address = arena_array(&w.q.memory, (size_t)w.q.count, sizeof *w.address);
        w.solver = how.solver;
        w.run = how.run;
        if (api_joint_search(&w, st)) r = api_joint_make_result(&w);
    }
    arena_free(&w.q.memory);
    return r;
}
