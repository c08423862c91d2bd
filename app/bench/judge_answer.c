/* The parent's opinion of an answer. Nothing that the child says about its own placement is believed: the
 * addresses are checked again here, the value recomputed, and the verdict settled from value and bound. */
#include "bench/run_child.h"
#include "base/checked.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The outcome of a process that ended without an answer. */
static enum outcome judge_death(const struct settings *s, const struct child_result *r, char *words,
                                size_t size)
{
    if (r->killed_for_time) {
        snprintf(words, size, "killed %.3g s after the time limit of %.3g s", s->grace, s->time);
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

static bool judge_answer_all_placed(const struct lx_problem *p, const int64_t *address)
{
    for (int32_t i = 0; i < p->count; i++)
        if (address[i] < 0 && !p->buffers[i].reason) return false;
    return true;
}

/* The same rule as in lx_problem_solve, on our own numbers. */
static enum lx_verdict judge_answer_settle(const struct lx_problem *p, const struct wire *w, bool proves,
                                           bool complete, const struct row *row)
{
    if (w->claim == LX_ERROR || !w->solver_ok) return LX_ERROR;
    if (p->objective == LX_FIT) {
        if (complete) return LX_OPTIMAL;
        return w->claim == LX_INFEASIBLE && proves ? LX_INFEASIBLE : LX_LIMIT;
    }
    if (complete && row->value == row->bound) return LX_OPTIMAL;
    if (w->claim == LX_INFEASIBLE && !complete) return LX_INFEASIBLE;
    return w->claim == LX_LIMIT || !complete ? LX_LIMIT : LX_FEASIBLE;
}

/* Lies that show without any other solver. */
static bool contradicts_itself(const struct lx_problem *p, const struct wire *w, bool complete,
                               const struct row *row, char *words, size_t size)
{
    if (complete && row->has_bound && row->bound > row->value)
        snprintf(words, size, "the claimed bound %lld is above its own value %lld", (long long)row->bound,
                 (long long)row->value);
    else if (p->objective == LX_FIT && w->claim == LX_OPTIMAL && !complete)
        snprintf(words, size, "claims to have placed everything, but has not");
    else if (w->claim == LX_INFEASIBLE && complete)
        snprintf(words, size, "claims that there is no answer, but has one itself");
    else
        return false;
    return true;
}

static enum outcome judge_answer(const struct settings *s, const struct bench_solver *solver,
                                 const struct loaded *l, const struct child_result *r, struct row *row,
                                 char *words, size_t size)
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
    if (p->objective != LX_SPILL && plain) complete = legal && judge_answer_all_placed(p, r->address);
    int64_t base = p->objective == LX_SPILL ? l->question->base_bytes : 0;
    row->has_value = complete;
    row->value = complete ? value + base : 0;
    row->has_clocks =
        legal && lx_question_clocks(l->question, r->address, &row->device_us, &row->end_to_end_us);
    row->has_bound = p->objective != LX_FIT;
    row->bound = base + (proves ? max_i64(w->bound, l->bound) : l->bound);
    if (contradicts_itself(p, w, complete, row, words, size)) return OUTCOME_WRONG;
    enum lx_verdict v = judge_answer_settle(p, w, proves, complete, row);
    row->status = lx_verdict_word(v);
    if (w->message[0]) snprintf(words, size, "%s", w->message);
    bool at_limit = w->claim == LX_LIMIT && w->seconds >= s->time * 0.98;
    if (!w->solver_ok) return OUTCOME_MEMORY;
    if (v == LX_ERROR) return OUTCOME_ERROR;
    if (w->seconds > s->time * LATE) return OUTCOME_TIMEOUT; /* whatever it has found by then */
    if (v == LX_OPTIMAL) return OUTCOME_OPTIMAL;
    if (v == LX_INFEASIBLE) return OUTCOME_INFEASIBLE;
    if (at_limit) return OUTCOME_TIMEOUT;
    return complete ? OUTCOME_FEASIBLE : OUTCOME_NONE;
}

static bool is_named_before(const struct wire *w, int i)
{
    for (int k = 0; k < i; k++)
        if (strncmp(w->stats[k].name, w->stats[i].name, sizeof w->stats[i].name) == 0) return true;
    return false;
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
            if (is_named_before(r->wire, i) || v > LX_INT_MAX || v < -LX_INT_MAX) continue;
            if (t.length > 1) text_add(&t, ", ");
            text_json_string(&t, name);
            text_format(&t, ": %lld", (long long)v);
        }
        text_add(&t, "}");
        const char *copy = arena_string(memory, t.at);
        text_free(&t);
        row->stats = copy;
        row->outcome = judge_answer(s, solver, l, r, row, words, sizeof words);
    } else
        row->outcome = judge_death(s, r, words, sizeof words);
    row->message = arena_string(memory, words);
}
