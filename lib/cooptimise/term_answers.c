/* Asks the placement solver for the addresses of an answer. An answer that fits nowhere is repaired by moving
 * the cheapest buffers off chip. It is also remembered: many answers differ only in choices that do not
 * affect addresses. */
#include "cooptimise/term_network.h"

enum { WORTH = 1 << 30 }; /* scaled cost of a repair's dearest buffer */

/* --- The placement problem of the trial. --- */

static void term_answers_make_problem(const struct term_answers *a, enum lx_objective question,
                                      struct arena *memory, struct lx_problem *out)
{
    const struct lx_term_problem *p = a->n->p;
    struct lx_buffer *all = arena_array(memory, (size_t)p->buffer_count, sizeof *all);
    int64_t *uses = arena_array(memory, (size_t)p->buffer_count * 2, sizeof *uses);
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_term_buffer *b = &p->buffers[i];
        all[i] = (struct lx_buffer){.name = b->name, .start = b->start, .end = b->end, .fixed = -1};
        all[i].reason = a->on[i] ? NULL : "off chip";
        all[i].size = a->on[i] ? b->bytes[a->trial_choice[i]] : 0;
        all[i].spill_cost = a->on[i];
        /* The fewest uses with which children may take the buffer's place. */
        uses[2 * i] = b->start;
        uses[2 * i + 1] = b->end - 1;
        all[i].uses = &uses[2 * i];
        all[i].use_count = b->end - 1 > b->start ? 2 : 1;
        all[i].first_use_is_read = all[i].use_count == 1 && b->parent_count == 0;
    }
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_term_buffer *b = &p->buffers[i];
        int32_t *parents = arena_array(memory, (size_t)b->parent_count, sizeof *parents);
        all[i].parents = parents;
        for (int32_t k = 0; a->on[i] && k < b->parent_count; k++)
            if (a->on[b->parents[k]] && lx_read_count(&all[b->parents[k]]) > 0 &&
                term_fits_parent(p, a->trial_choice, i, b->parents[k]))
                parents[all[i].parent_count++] = b->parents[k];
    }
    *out = (struct lx_problem){.objective = question,
                               .capacity = p->capacity,
                               .alignment = p->alignment,
                               .count = p->buffer_count,
                               .buffers = all};
}

/* --- The best answer so far. --- */

/* The cost of the trial; NETWORK_NEVER: it breaks a rule. */
static int64_t trial_cost(const struct term_answers *a)
{
    const struct term_network *n = a->n;
    if (!term_is_legal(n->p, a->trial_choice, a->on)) return NETWORK_NEVER;
    for (int32_t v = 0; v < n->net.count; v++) {
        int32_t buffer = n->buffer_of[v], *value = &a->values[v];
        for (*value = 0; *value + 1 < n->net.vars[v].size; ++*value)
            if (n->choice[v][*value] == a->trial_choice[buffer] &&
                (n->net.vars[v].bytes[*value] >= 0) == a->on[buffer])
                break;
    }
    return net_cost(&n->net, a->values);
}

static void term_answers_take(struct term_answers *a, int64_t cost)
{
    size_t count = (size_t)a->n->net.count;
    memcpy(a->choice, a->trial_choice, count * sizeof *a->choice);
    for (size_t i = 0; i < count; i++) a->address[i] = a->on[i] ? a->trial_address[i] : LX_OFF_CHIP;
    a->cost = cost;
}

/* --- Misfits. --- */

/* Everything that addresses depend on: bytes per buffer, and which child fits which parent. */
static int64_t *term_answers_signature(struct term_answers *a)
{
    const struct lx_term_problem *p = a->n->p;
    int64_t *s = arena_array(&a->memory, (size_t)p->buffer_count + a->n->net.handovers.count, sizeof *s);
    for (int32_t i = 0; i < p->buffer_count; i++)
        s[i] = a->on[i] ? p->buffers[i].bytes[a->trial_choice[i]] : -1;
    for (size_t h = 0; h < a->n->net.handovers.count; h++) {
        int32_t child = a->n->buffer_of[a->n->net.handovers.at[h].child];
        int32_t parent = a->n->buffer_of[a->n->net.handovers.at[h].parent];
        s[(size_t)p->buffer_count + h] =
            a->on[child] && a->on[parent] && term_fits_parent(p, a->trial_choice, child, parent);
    }
    return s;
}

static bool term_answers_repair(struct term_answers *a, lx_status *st)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct lx_problem p;
    struct lx_answer answer = {.address = a->trial_address};
    term_answers_make_problem(a, LX_SPILL, &memory, &p);
    struct lx_buffer *all = arena_copy_array(&memory, p.buffers, (size_t)p.count, sizeof *all);
    /* Cost of moving buffer i off chip, scaled to the largest such cost. */
    int64_t here = trial_cost(a), most = 1;
    for (int32_t i = 0; i < a->n->net.count; i++) {
        if (!a->on[i]) continue;
        a->on[i] = false;
        int64_t without = trial_cost(a);
        a->on[i] = true;
        all[i].spill_cost = without >= NETWORK_HOPELESS ? 1 : max_i64(without - here, 0);
        most = max_i64(most, all[i].spill_cost);
    }
    for (int32_t i = 0; i < a->n->net.count; i++)
        if (a->on[i]) all[i].spill_cost = 1 + (int64_t)((int128)all[i].spill_cost * WORTH / most);
    p.buffers = all;
    a->solves++;
    bool ok = lx_problem_solve(&p, a->solver, &a->run, &answer, st);
    for (int32_t i = 0; ok && i < a->n->net.count; i++) a->on[i] = a->on[i] && a->trial_address[i] >= 0;
    if (ok) {
        for (bool again = true; again;) {
            again = false;
            for (int32_t i = 0; i < a->n->net.count; i++)
                if (a->on[i] && !lx_term_may_stay(a->n->p, a->trial_choice, a->on, i)) {
                    a->on[i] = false;
                    again = true;
                }
        }
        int64_t cost = trial_cost(a);
        if (cost < a->cost) term_answers_take(a, cost);
    }
    return ok;
}

/* Places the trial. `*proved`: the trial is the best now, or it provably cannot be placed. */
static bool term_answers_place(struct term_answers *a, int64_t cost, bool *proved, lx_status *st)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct lx_problem p;
    struct lx_answer answer = {.address = a->trial_address};
    enum lx_objective question = lx_can(a->solver, LX_FIT) ? LX_FIT : LX_SPILL;
    int64_t *bytes = term_answers_signature(a);
    size_t size = ((size_t)a->n->net.count + a->n->net.handovers.count) * sizeof *bytes;
    for (size_t i = 0; i < a->misfits.count; i++)
        if (memcmp(a->misfits.at[i].bytes, bytes, size) == 0) return *proved = a->misfits.at[i].proved, true;
    term_answers_make_problem(a, question, &memory, &p);
    a->solves++;
    bool ok = lx_problem_solve(&p, a->solver, &a->run, &answer, st), placed = true;
    if (!ok) return false;
    for (int32_t i = 0; i < a->n->net.count; i++) placed &= !a->on[i] || a->trial_address[i] >= 0;
    *proved = placed || answer.status == (question == LX_FIT ? LX_INFEASIBLE : LX_OPTIMAL);
    if (placed) return term_answers_take(a, cost), true;
    (void)VEC_PUSH(&a->misfits, (struct term_misfit){bytes, *proved});
    return term_answers_repair(a, st);
}

bool term_answers_of(struct term_answers *a, const struct net_sweep *s, int64_t most_solves, int64_t *least,
                     lx_status *st)
{
    struct net_answers *next = net_answers_make(s);
    int64_t until = a->solves + most_solves, open = NETWORK_NEVER, cost;
    OWNED int32_t *values = mem_zeroed((size_t)a->n->net.count + 1, sizeof *values);
    bool ok = true, proved;
    while (ok && a->solves < until && !lx_run_stopped(&a->run) &&
           net_answers_next(next, a->cost, values, &cost)) {
        for (int32_t v = 0; v < a->n->net.count; v++) {
            int32_t buffer = a->n->buffer_of[v];
            a->trial_choice[buffer] = a->n->choice[v][values[v]];
            a->on[buffer] = a->n->net.vars[v].bytes[values[v]] >= 0;
        }
        proved = true;
        int64_t trial = trial_cost(a);
        ok = trial >= a->cost || term_answers_place(a, trial, &proved, st);
        if (ok && !proved) open = min_i64(open, cost);
    }
    *least = min_i64(open, net_answers_least(next));
    net_answers_free(next);
    return ok;
}

void term_answers_make(struct term_answers *a, const struct term_network *n,
                       const struct lx_term_start *start, const struct lx_solver *solver,
                       const struct lx_run *run)
{
    size_t count = (size_t)n->net.count;
    *a = (struct term_answers){.n = n, .solver = solver};
    a->run = (struct lx_run){.seed = run->seed,
                             .time_limit = run->time_limit,
                             .options = run->options,
                             .stop = run->stop,
                             .context = run->context};
    a->choice = arena_array(&a->memory, count, sizeof *a->choice);
    a->trial_choice = arena_array(&a->memory, count, sizeof *a->trial_choice);
    a->values = arena_array(&a->memory, count, sizeof *a->values);
    a->address = arena_array(&a->memory, count, sizeof *a->address);
    a->trial_address = arena_array(&a->memory, count, sizeof *a->trial_address);
    a->on = arena_array(&a->memory, count, sizeof *a->on);
    term_answers_take(a, trial_cost(a));
    if (!start) return;
    for (size_t i = 0; i < count; i++) {
        a->trial_choice[i] = start->choice[i];
        a->trial_address[i] = start->address[i];
        a->on[i] = start->address[i] >= 0;
    }
    int64_t cost = trial_cost(a);
    if (cost < a->cost) term_answers_take(a, cost);
}

void term_answers_free(struct term_answers *a)
{
    VEC_FREE(&a->misfits);
    arena_free(&a->memory);
}
