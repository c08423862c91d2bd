/* Asks the placement solver for the addresses of an answer. What fits nowhere is repaired by leaving out what costs least;
 * and it is remembered, as many answers of a sweep differ only in choices that no address depends on. */
#include "cooptimise/term_answers.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { WORTH = 1 << 30 }; /* of the dearest buffer of a repair */

/* --- The placement problem of the trial. --- */

/* The least uses that make a buffer one that others may take the place of. */
static void set_uses(const struct lx_term_buffer *b, int64_t *uses, struct lx_buffer *out)
{
    uses[0] = b->start;
    uses[1] = b->end - 1;
    out->uses = uses;
    out->use_count = uses[1] > uses[0] ? 2 : 1;
    out->first_use_is_read = out->use_count == 1 && b->parent_count == 0;
}

static bool set_parents(const struct term_answers *a, int32_t i, const struct lx_buffer *all,
                        struct arena *memory, struct lx_buffer *out)
{
    const struct lx_term_problem *p = a->n->p;
    const struct lx_term_buffer *b = &p->buffers[i];
    int32_t *parents = arena_array(memory, (size_t)b->parent_count, sizeof *parents);
    if (!parents) return false;
    for (int32_t k = 0; k < b->parent_count; k++)
        if (a->on[b->parents[k]] && lx_read_count(&all[b->parents[k]]) > 0 &&
            term_fits_parent(p, a->trial_choice, i, b->parents[k]))
            parents[out->parent_count++] = b->parents[k];
    out->parents = parents;
    return true;
}

static bool term_answers_make_problem(const struct term_answers *a, enum lx_objective question,
                                      struct arena *memory, struct lx_problem *out)
{
    const struct lx_term_problem *p = a->n->p;
    struct lx_buffer *all = arena_array(memory, (size_t)p->buffer_count, sizeof *all);
    int64_t *uses = arena_array(memory, (size_t)p->buffer_count * 2, sizeof *uses);
    if (!all || !uses) return false;
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_term_buffer *b = &p->buffers[i];
        all[i] = (struct lx_buffer){.name = b->name, .start = b->start, .end = b->end, .fixed = -1};
        all[i].reason = a->on[i] ? NULL : "off chip";
        all[i].size = a->on[i] ? b->bytes[a->trial_choice[i]] : 0;
        all[i].spill_cost = a->on[i];
        set_uses(b, &uses[2 * i], &all[i]);
    }
    for (int32_t i = 0; i < p->buffer_count; i++)
        if (a->on[i] && !set_parents(a, i, all, memory, &all[i])) return false;
    *out = (struct lx_problem){.objective = question,
                               .capacity = p->capacity,
                               .alignment = p->alignment,
                               .count = p->buffer_count,
                               .buffers = all};
    return true;
}

static bool term_answers_solve(struct term_answers *a, const struct lx_problem *p, enum lx_verdict *status,
                               lx_status *st)
{
    struct lx_answer answer = {.address = a->trial_address};
    a->solves++;
    if (!lx_problem_solve(p, a->solver, &a->run, &answer, st)) return false;
    *status = answer.status;
    return true;
}

static bool term_answers_all_placed(const struct term_answers *a)
{
    for (int32_t i = 0; i < a->n->count; i++)
        if (a->on[i] && a->trial_address[i] < 0) return false;
    return true;
}

/* --- The best so far. --- */

static int64_t term_answers_cost_of(const struct term_answers *a, int32_t *values)
{
    const struct term_network *n = a->n;
    int64_t cost = n->base;
    for (int32_t v = 0; v < n->count; v++) {
        const struct term_var *var = &n->vars[v];
        values[v] = 0;
        while (values[v] + 1 < var->size && (var->choice[values[v]] != a->trial_choice[var->buffer] ||
                                             (var->bytes[values[v]] >= 0) != a->on[var->buffer]))
            values[v]++;
    }
    for (size_t t = 0; t < n->tables.count && !term_is_never(cost); t++) {
        int64_t more = term_table_at(&n->tables.at[t], values);
        cost = term_is_never(more) ? TERM_NEVER : cost + more;
    }
    return cost;
}

static bool trial_cost(const struct term_answers *a, int64_t *cost)
{
    int32_t *values = mem_zeroed((size_t)a->n->count + 1, sizeof *values);
    if (!values) return false;
    *cost = term_is_legal(a->n->p, a->trial_choice, a->on) ? term_answers_cost_of(a, values) : TERM_NEVER;
    mem_free(values);
    return true;
}

static void term_answers_take(struct term_answers *a, int64_t cost)
{
    size_t count = (size_t)a->n->count;
    memcpy(a->choice, a->trial_choice, count * sizeof *a->choice);
    for (size_t i = 0; i < count; i++) a->address[i] = a->on[i] ? a->trial_address[i] : LX_OFF_CHIP;
    a->cost = cost;
}

/* --- Misfits. --- */

static size_t signature_size(const struct term_answers *a)
{
    return (size_t)a->n->count + a->n->handovers.count;
}

/* All that addresses depend on: who has how many bytes, who may take whose place. */
static int64_t *term_answers_signature(struct term_answers *a)
{
    const struct lx_term_problem *p = a->n->p;
    int64_t *s = arena_array(&a->memory, signature_size(a), sizeof *s);
    for (int32_t i = 0; s && i < p->buffer_count; i++)
        s[i] = a->on[i] ? p->buffers[i].bytes[a->trial_choice[i]] : -1;
    for (size_t h = 0; s && h < a->n->handovers.count; h++) {
        int32_t child = a->n->vars[a->n->handovers.at[h].child].buffer;
        int32_t parent = a->n->vars[a->n->handovers.at[h].parent].buffer;
        s[(size_t)a->n->count + h] =
            a->on[child] && a->on[parent] && term_fits_parent(p, a->trial_choice, child, parent);
    }
    return s;
}

static const struct term_misfit *find_misfit(const struct term_answers *a, const int64_t *bytes)
{
    for (size_t i = 0; i < a->misfits.count; i++)
        if (memcmp(a->misfits.at[i].bytes, bytes, signature_size(a) * sizeof *bytes) == 0)
            return &a->misfits.at[i];
    return NULL;
}

/* --- Repairs. --- */

/* What leaving it out would cost, as a share of the most that any does. */
static bool term_answers_weigh(struct term_answers *a, struct lx_buffer *all)
{
    int64_t here, most = 1;
    if (!trial_cost(a, &here)) return false;
    for (int32_t i = 0; i < a->n->count; i++) {
        int64_t without = 0;
        if (!a->on[i]) continue;
        a->on[i] = false;
        bool ok = trial_cost(a, &without);
        a->on[i] = true;
        if (!ok) return false;
        all[i].spill_cost = term_is_never(without) ? 1 : max_i64(without - here, 0);
        most = max_i64(most, all[i].spill_cost);
    }
    for (int32_t i = 0; i < a->n->count; i++)
        if (a->on[i]) all[i].spill_cost = 1 + (int64_t)((int128)all[i].spill_cost * WORTH / most);
    return true;
}

static void drop_illegal(struct term_answers *a)
{
    for (bool again = true; again;) {
        again = false;
        for (int32_t i = 0; i < a->n->count; i++)
            if (a->on[i] && !lx_term_may_stay(a->n->p, a->trial_choice, a->on, i)) {
                a->on[i] = false;
                again = true;
            }
    }
}

static bool term_answers_repair(struct term_answers *a, lx_status *st)
{
    struct arena memory = {0};
    struct lx_problem p;
    enum lx_verdict status;
    int64_t cost;
    bool ok = term_answers_make_problem(a, LX_SPILL, &memory, &p);
    struct lx_buffer *all = ok ? arena_copy_array(&memory, p.buffers, (size_t)p.count, sizeof *all) : NULL;
    ok = all && term_answers_weigh(a, all);
    if (!ok) status_no_memory(st);
    p.buffers = all;
    ok = ok && term_answers_solve(a, &p, &status, st);
    for (int32_t i = 0; ok && i < a->n->count; i++) a->on[i] = a->on[i] && a->trial_address[i] >= 0;
    if (ok) drop_illegal(a);
    if (ok && !trial_cost(a, &cost)) ok = status_no_memory(st);
    if (ok && cost < a->cost) term_answers_take(a, cost);
    arena_free(&memory);
    return ok;
}

/* --- Trials. --- */

static bool term_answers_place(struct term_answers *a, int64_t cost, bool *proved, lx_status *st)
{
    struct arena memory = {0};
    struct lx_problem p;
    enum lx_verdict status = LX_ERROR;
    enum lx_objective question = lx_can(a->solver, LX_FIT) ? LX_FIT : LX_SPILL;
    int64_t *bytes = term_answers_signature(a);
    const struct term_misfit *known = bytes ? find_misfit(a, bytes) : NULL;
    if (known) return *proved = known->proved, true;
    bool ok = bytes && term_answers_make_problem(a, question, &memory, &p)
                  ? term_answers_solve(a, &p, &status, st)
                  : status_no_memory(st);
    arena_free(&memory);
    if (!ok) return false;
    *proved = true;
    if (term_answers_all_placed(a)) return term_answers_take(a, cost), true;
    *proved = status == (question == LX_FIT ? LX_INFEASIBLE : LX_OPTIMAL);
    if (!VEC_PUSH(&a->misfits, (struct term_misfit){bytes, *proved})) return status_no_memory(st);
    return term_answers_repair(a, st);
}

bool term_answers_try(struct term_answers *a, const int32_t *values, bool *proved, lx_status *st)
{
    int64_t cost;
    for (int32_t v = 0; v < a->n->count; v++) {
        const struct term_var *var = &a->n->vars[v];
        a->trial_choice[var->buffer] = var->choice[values[v]];
        a->on[var->buffer] = var->bytes[values[v]] >= 0;
    }
    *proved = true;
    if (!trial_cost(a, &cost)) return status_no_memory(st);
    if (cost >= a->cost) return true;
    return term_answers_place(a, cost, proved, st);
}

static bool term_answers_begin(struct term_answers *a, const struct lx_term_start *start, lx_status *st)
{
    int64_t cost;
    if (!trial_cost(a, &cost)) return status_no_memory(st);
    term_answers_take(a, cost);
    if (!start) return true;
    for (int32_t i = 0; i < a->n->count; i++) {
        a->trial_choice[i] = start->choice[i];
        a->trial_address[i] = start->address[i];
        a->on[i] = start->address[i] >= 0;
    }
    if (!trial_cost(a, &cost)) return status_no_memory(st);
    if (cost < a->cost) term_answers_take(a, cost);
    return true;
}

bool term_answers_make(struct term_answers *a, const struct term_network *n,
                       const struct lx_term_start *start, const struct lx_solver *solver,
                       const struct lx_run *run, lx_status *st)
{
    size_t count = (size_t)n->count;
    *a = (struct term_answers){.n = n, .solver = solver};
    a->run = (struct lx_run){.seed = run->seed,
                             .time_limit = run->time_limit,
                             .options = run->options,
                             .stop = run->stop,
                             .context = run->context};
    a->choice = arena_array(&a->memory, count, sizeof *a->choice);
    a->trial_choice = arena_array(&a->memory, count, sizeof *a->trial_choice);
    a->address = arena_array(&a->memory, count, sizeof *a->address);
    a->trial_address = arena_array(&a->memory, count, sizeof *a->trial_address);
    a->on = arena_array(&a->memory, count, sizeof *a->on);
    if (!a->choice || !a->trial_choice || !a->address || !a->trial_address || !a->on)
        return status_no_memory(st);
    return term_answers_begin(a, start, st);
}

void term_answers_free(struct term_answers *a)
{
    VEC_FREE(&a->misfits);
    arena_free(&a->memory);
}
