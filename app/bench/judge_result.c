/* The parent's opinion of an answer. It believes nothing that the child says about its own placement: the
 * addresses are checked again here, the value recomputed, and the verdict settled from value and bound. */
#include "bench/harness.h"
#include "bench/suite.h"

#include <sys/wait.h>

/* The outcome of a process that ended without an answer. */
static enum outcome judge_death(const struct settings *s, double limit, const struct child_result *r,
                                char *words, size_t size)
{
    if (r->killed_for_time) {
        snprintf(words, size, "killed %.0f s after the time limit of %.3g s", fmax(r->wall - limit, 0),
                 limit);
        return OUTCOME_TIMEOUT;
    }
    if (r->killed_for_memory) {
        snprintf(words, size, "killed: its resident set went beyond the limit of %lld MB",
                 (long long)s->memory_mb);
        return OUTCOME_MEMORY;
    }
    if (WIFSIGNALED(r->wait_status)) {
        int number = WTERMSIG(r->wait_status);
        const char *name = sigabbrev_np(number);
        int64_t used = r->peak_kb - r->base_kb;
        bool full = used >= (s->memory_mb << 10) / 10 * 9;
        snprintf(words, size, "died of SIG%s (%s)%s", name ? name : "?", strsignal(number),
                 full ? ", at the memory limit" : "");
        return full ? OUTCOME_MEMORY : OUTCOME_CRASH;
    }
    snprintf(words, size, "ended with exit code %d and without an intact answer",
             WEXITSTATUS(r->wait_status));
    return OUTCOME_CRASH;
}

/* A whole plan is read as from a stranger, and checked; its bound is a claim, as a solver's is. */
static enum outcome judge_plan(const struct loaded *l, const struct child_result *r, struct row *row,
                               char *words, size_t size)
{
    enum lx_ask whole = l->of->whole;
    const struct wire *w = r->wire;
    lx_status why = {0};
    if (!w->called) {
        snprintf(words, size, "%s", w->error);
        return w->solve_code == LX_E_MEMORY ? OUTCOME_MEMORY : OUTCOME_ERROR;
    }
    SCOPED(plan_free_at) struct lx_plan *p = lx_plan_of_text(l->of->path, r->plan, (size_t)w->count, &why);
    bool legal = p && lx_plan_check(p, &why), own = p && suite_plan_is_of(p, l->question->graph);
    if (legal && own) {
        row->has_value = row->has_bound = row->has_clocks = true;
        row->value = suite_plan_value(whole, p);
        row->bound = suite_plan_bound(whole, p);
        row->device_us = p->figures.device_us;
        row->end_to_end_us = p->figures.end_to_end_us;
    } else
        snprintf(words, size, "refused by the checker: %s", legal ? "it is of another graph" : why.text);
    if (!legal || !own) return OUTCOME_WRONG;
    row->status = row->claim = lx_verdict_word(row->value == row->bound ? LX_OPTIMAL : LX_FEASIBLE);
    if (row->value == row->bound) return OUTCOME_OPTIMAL;
    return w->seconds > l->of->limit * LATE ? OUTCOME_TIMEOUT : OUTCOME_FEASIBLE;
}

/* What `suite update` writes into a file. */
static const char *judge_addresses(const int64_t *address, int32_t count, struct arena *memory)
{
    SCOPED(text_free) struct text t = {0};
    for (int32_t i = 0; i < count; i++) {
        if (i) text_add(&t, " ");
        text_int(&t, address[i]);
    }
    const char *copy = arena_string(memory, t.at ? t.at : "");
    return copy;
}

static enum outcome judge_answer(const struct settings *s, const struct bench_solver *solver,
                                 const struct loaded *l, const struct child_result *r, struct arena *memory,
                                 struct row *row, char *words, size_t size)
{
    const struct lx_problem *p = &l->question->problem;
    const struct wire *w = r->wire;
    bool proves = solver->solver->caps & LX_CAN_PROVE;
    lx_status why = {0};
    int64_t value = 0;
    if (!w->called) { /* the library itself refused */
        snprintf(words, size, "%s", w->error);
        return w->solve_code == LX_E_MEMORY ? OUTCOME_MEMORY : OUTCOME_ERROR;
    }
    bool plain = !p->pool_count && !lx_problem_needs(p);
    enum lx_rule rule;
    bool legal = plain ? lx_problem_check(p, r->address, &value, &why)
                       : lx_check_places(p, r->pool, r->address, &value, &rule, &why);
    bool complete = legal;
    /* A solver that says that it has nothing may have nothing; else an illegal answer is a lie. */
    bool gave_up = w->claim == LX_LIMIT || w->claim == LX_ERROR || !w->solver_ok;
    bool has_none = plain ? p->objective == LX_HEIGHT && gave_up : gave_up || w->claim == LX_INFEASIBLE;
    if (!legal && !has_none) {
        snprintf(words, size, "refused by the checker: %s", why.text);
        return OUTCOME_WRONG;
    }
    for (int32_t i = 0; p->objective != LX_SPILL && plain && complete && i < p->count; i++)
        complete = r->address[i] >= 0 || p->buffers[i].reason;
    int64_t base = p->objective == LX_SPILL ? l->question->base_bytes : 0;
    row->has_value = complete;
    row->value = complete ? value + base : 0;
    row->has_clocks =
        legal && lx_question_clocks(l->question, r->address, &row->device_us, &row->end_to_end_us);
    if (row->has_clocks && s->machine) measured_row(s, l->question, r->address, row, words, size);
    row->has_bound = p->objective != LX_FIT;
    row->bound = base + (proves ? max_i64(w->bound, l->bound) : l->bound);
    /* Lies that show without any other solver. */
    if (complete && row->has_bound && row->bound > row->value)
        snprintf(words, size, "the claimed bound %lld is above its own value %lld", (long long)row->bound,
                 (long long)row->value);
    else if (p->objective == LX_FIT && w->claim == LX_OPTIMAL && !complete)
        snprintf(words, size, "claims to have placed everything, but has not");
    else if (w->claim == LX_INFEASIBLE && complete)
        snprintf(words, size, "claims that there is no answer, but has one itself");
    if (*words) return OUTCOME_WRONG;
    /* The same rule as in lx_problem_solve, on our own numbers. */
    bool none = w->claim == LX_INFEASIBLE && !complete, fit = p->objective == LX_FIT;
    enum lx_verdict v = w->claim == LX_ERROR || !w->solver_ok           ? LX_ERROR
                        : complete && (fit || row->value == row->bound) ? LX_OPTIMAL
                        : none && (proves || !fit)                      ? LX_INFEASIBLE
                        : fit || w->claim == LX_LIMIT || !complete      ? LX_LIMIT
                                                                        : LX_FEASIBLE;
    row->status = lx_verdict_word(v);
    if (complete && !p->pool_count && l->of->class[0] && (!l->of->has_known || row->value < l->of->known))
        row->answer = judge_addresses(r->address, p->count, memory);
    if (w->message[0]) snprintf(words, size, "%s", w->message);
    bool at_limit = w->claim == LX_LIMIT && w->seconds >= l->of->limit * 0.98;
    if (!w->solver_ok) return OUTCOME_MEMORY;
    if (v == LX_ERROR) return OUTCOME_ERROR;
    if (w->seconds > l->of->limit * LATE) return OUTCOME_TIMEOUT; /* whatever it has found by then */
    if (v == LX_OPTIMAL) return OUTCOME_OPTIMAL;
    if (v == LX_INFEASIBLE) return OUTCOME_INFEASIBLE;
    if (at_limit) return OUTCOME_TIMEOUT;
    return complete ? OUTCOME_FEASIBLE : OUTCOME_NONE;
}

void judge_result(const struct settings *s, const struct bench_solver *solver, const struct loaded *l,
                  const struct child_result *r, struct arena *memory, struct row *row)
{
    char words[900] = "";
    row->status = row->claim = "";
    row->stats = "{}";
    row->wall = r->wall;
    row->cpu = r->cpu;
    row->peak_kb = r->peak_kb;
    if (r->complete) {
        row->claim = r->wire->called ? lx_verdict_word((enum lx_verdict)r->wire->claim) : "";
        row->steps = r->wire->steps;
        row->has_seconds = r->wire->seconds >= 0 && r->wire->seconds <= r->wall;
        row->seconds = row->has_seconds ? r->wire->seconds : 0;
        /* Only what a reader of strict JSON takes: no key twice, no integer beyond 2^53. */
        struct text t = {0};
        text_add(&t, "{");
        for (int i = 0; i < r->wire->stat_count; i++) {
            int64_t v = r->wire->stats[i].value;
            char name[sizeof r->wire->stats[i].name + 1] = "";
            memcpy(name, r->wire->stats[i].name, sizeof r->wire->stats[i].name);
            bool again = false;
            for (int k = 0; k < i; k++)
                again |= strncmp(r->wire->stats[k].name, r->wire->stats[i].name, sizeof name - 1) == 0;
            if (again || v > LX_INT_MAX || v < -LX_INT_MAX) continue;
            if (t.length > 1) text_add(&t, ", ");
            text_json_string(&t, name);
            text_format(&t, ": %lld", (long long)v);
        }
        text_add(&t, "}");
        row->stats = arena_string(memory, t.at);
        text_free(&t);
        row->outcome = l->of->whole ? judge_plan(l, r, row, words, sizeof words)
                                    : judge_answer(s, solver, l, r, memory, row, words, sizeof words);
    } else
        row->outcome = judge_death(s, l->of->limit, r, words, sizeof words);
    row->message = arena_string(memory, words);
}
