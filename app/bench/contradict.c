/* A claim that another solver's legal answer disproves. Rows are written before all answers are known, so
 * this is found out by whoever reads them together. */
#include "bench/summary.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int compare_problems(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    int by_hash = strcmp(x->hash, y->hash);
    return by_hash ? by_hash : strcmp(x->question, y->question);
}

static bool contradict(struct results *r, struct row *row, const struct row *by, const char *claim,
                       int64_t number)
{
    const char *words =
        arena_format(&r->memory, "claims %s %lld, but %s (seed %lld) has a legal answer of %lld", claim,
                     (long long)number, by->solver, (long long)by->seed, (long long)by->value);
    row->outcome = OUTCOME_WRONG;
    if (words) row->message = words;
    return words;
}

/* Rows of one problem. A value is only there when the checker has accepted the answer, so that it counts
 * even where the same row claims a false bound. */
static bool mark_problem(struct results *r, struct row **rows_of, size_t n)
{
    const struct row *best = NULL;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        if (rows_of[i]->has_value && (!best || rows_of[i]->value < best->value)) best = rows_of[i];
    for (size_t i = 0; ok && best && i < n; i++) {
        struct row *row = rows_of[i];
        if (row->outcome == OUTCOME_WRONG || row->outcome == OUTCOME_BAD_INPUT) continue;
        if (row->outcome == OUTCOME_INFEASIBLE) {
            row->outcome = OUTCOME_WRONG;
            row->message =
                arena_format(&r->memory, "claims that nothing fits, but %s (seed %lld) has placed everything",
                             best->solver, (long long)best->seed);
            ok = row->message;
        } else if (row->has_bound && row->bound > best->value)
            ok = contradict(r, row, best, "the bound", row->bound);
        else if (strcmp(row->claim, "optimal") == 0 && row->has_value && row->value > best->value)
            ok = contradict(r, row, best, "the best value", row->value);
    }
    return ok;
}

bool mark_contradictions(struct results *r)
{
    size_t n = r->rows.count;
    struct row **sorted = mem_alloc((n + 1) * sizeof *sorted);
    bool ok = sorted;
    for (size_t i = 0; ok && i < n; i++) sorted[i] = &r->rows.at[i];
    if (ok) qsort(sorted, n, sizeof *sorted, compare_problems);
    for (size_t i = 0, k; ok && i < n; i = k) {
        for (k = i; k < n && compare_problems(&sorted[i], &sorted[k]) == 0;) k++;
        ok = mark_problem(r, sorted + i, k - i);
    }
    mem_free(sorted);
    return ok;
}
