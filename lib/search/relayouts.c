/* Which relayouts keep their source waiting. The source of a copy must be on chip until the copy is made, which may be
 * long after its own last use; a copy that is loaded from HBM lets it go. Which is better depends on the whole plan.
 *
 * So the draft is solved first with nothing decided about that (stays/waits.c): nothing goes below it. Where the answer
 * stays legal when the sources that it keeps wait at the place where they are, it is the plan. Else it is solved again
 * with all that it decided; and the first relayout that found no room is decided both ways, each way a draft of its own,
 * the one with the least bound first. What is open when the tries are used up counts in the bound. */
#include "search/trial.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAITS = 32 }; /* relayouts of one answer that are looked at one by one */
/* Steps of all drafts together where no limit is asked for: a second or two; fewer of large graphs, where each takes
 * longer. One draft may take a part of what is left: a proof that comes at all mostly comes within that, and what more effort
 * finds on large graphs is less than a thousandth. */
enum { ALL_STEPS = 300000, LARGE = 1000, ONE_PART = 8, LEAST_STEPS = 1000 };

typedef VEC(struct cut) cuts;

/* A draft that is not solved yet: what is decided about relayouts, and what it cannot go below. */
struct node {
    struct cut *loaded, *kept;
    int32_t loaded_count, kept_count;
    int64_t bound;
};

struct relayouts {
    const struct trial *trial;
    const struct decisions *how;
    struct arena memory; /* of the nodes */
    VEC(struct node) open;
    struct attempt best; /* a plan; memory NULL: none yet */
    int64_t bound;
    int64_t spent; /* steps */
};

/* The relayouts of a lax draft whose source would have to wait, by what the answer does with them. */
struct waits {
    cuts used, unused;
};

/* A copy of `list` with more; sorted, each once. */
static struct cut *relayouts_with_more(struct arena *m, const struct cut *list, int32_t count,
                                       const struct cut *more, size_t more_count, int32_t *out_count)
{
    struct cut *all = arena_array(m, (size_t)count + more_count, sizeof *all);
    int32_t n = 0;
    if (count) memcpy(all, list, (size_t)count * sizeof *all);
    if (more_count) memcpy(all + count, more, more_count * sizeof *all);
    if (count + (int32_t)more_count > 1) qsort(all, (size_t)count + more_count, sizeof *all, cut_compare);
    for (int32_t i = 0; i < count + (int32_t)more_count; i++)
        if (n == 0 || cut_compare(&all[n - 1], &all[i]) != 0) all[n++] = all[i];
    *out_count = n;
    return all;
}

static struct decisions relayouts_decisions_of(const struct relayouts *s, const struct node *n, bool lax)
{
    struct decisions how = *s->how;
    how.loaded = n->loaded;
    how.loaded_count = n->loaded_count;
    how.kept = lax ? n->kept : NULL;
    how.kept_count = lax ? n->kept_count : 0;
    how.lax = lax;
    return how;
}

/* The same places in a draft of other decisions; `*legal`: they are a plan of it. What is barred there saves nothing
 * and goes. */
static bool relayouts_replace(const struct relayouts *s, const struct attempt *from,
                              const struct decisions *how, struct attempt *out, bool *legal)
{
    lx_status why = {0};
    *out = (struct attempt){.perfect_bytes = -1, .answer = from->answer};
    out->memory = mem_zeroed(1, sizeof *out->memory);
    bool ok = draft_make(s->trial->search->divided, how, out->memory, &out->draft, s->trial->search->st);
    int32_t count = ok ? out->draft.problem.count : 0;
    if (ok)
        out->answer.address =
            arena_copy_array(out->memory, from->answer.address, (size_t)count, sizeof *from->answer.address);
    for (int32_t i = 0; ok && i < count; i++)
        if (out->draft.stays[i].bar) out->answer.address[i] = LX_OFF_CHIP;
    *legal = ok && lx_problem_check(&out->draft.problem, out->answer.address, &out->answer.objective, &why);
    ok = ok && traffic_count(&out->draft, out->answer.address, &out->hbm_bytes);
    if (!ok) attempt_free(out);
    return ok;
}

/* The source waits for the copy, if nothing else is where it stands until then: as a draft with that decided would have it. */
static bool wait_for(struct attempt *a, struct cut copy)
{
    const struct draft *x = &a->draft;
    const int64_t *address = a->answer.address;
    for (int32_t i = 0; i < x->problem.count; i++) {
        int32_t source = x->stays[i].ring_source;
        int64_t end = (int64_t)copy.before + 1;
        if (source < 0 || x->stays[i].tensor != copy.tensor || x->stays[i].first != copy.before ||
            end <= x->buffers[source].end)
            continue;
        const struct lx_buffer *b = &x->buffers[source];
        for (int32_t k = 0; k < x->problem.count && address[source] >= 0; k++) {
            const struct lx_buffer *other = &x->buffers[k];
            bool meets = k != source && address[k] >= 0 && other->start < end && other->end >= b->end &&
                         address[k] < address[source] + b->size && address[source] < address[k] + other->size;
            for (int32_t n = 0; meets && n < b->parent_count; n++) meets = b->parents[n] != k;
            if (meets) return false;
        }
        x->buffers[source].end = end;
    }
    return true;
}

/* Those of `used` that the others leave room for are kept, the rest is loaded; `*clash`: the first of the rest. */
static bool keep_in_turn(struct relayouts *s, const struct attempt *a, const cuts *used, struct node *n,
                         struct cut *clash, bool *clashes)
{
    struct attempt at = {0};
    bool ok = true, legal;
    for (size_t i = 0; ok && i < used->count; i++) {
        if (!at.memory && i < MOST_WAITS) { /* what is decided so far */
            struct decisions how = relayouts_decisions_of(s, n, true);
            ok = relayouts_replace(s, a, &how, &at, &legal);
        }
        legal = ok && i < MOST_WAITS && wait_for(&at, used->at[i]);
        if (!legal) {
            if (!*clashes) *clash = used->at[i];
            *clashes = true;
            attempt_free(&at);
        }
        struct cut **list = legal ? &n->kept : &n->loaded;
        int32_t *count = legal ? &n->kept_count : &n->loaded_count;
        *list = relayouts_with_more(&s->memory, *list, *count, &used->at[i], 1, count);
    }
    attempt_free(&at);
    return ok;
}

/* Of all drafts together. */
static int64_t all_steps(const struct trial *trial)
{
    int64_t tensors = trial->search->divided->layouts->graph->tensor_count;
    return (int64_t)ALL_STEPS * LARGE / (LARGE + tensors);
}

int64_t trial_draft_steps(const struct trial *trial)
{
    return max_i64(LEAST_STEPS, all_steps(trial) / ONE_PART);
}

/* Frees the one that is not better. */
static void relayouts_keep_best(struct relayouts *s, struct attempt *a)
{
    if (!s->best.memory)
        s->best = *a;
    else
        attempt_keep_better(&s->best, a);
}

static bool solve_draft(struct relayouts *s, const struct decisions *how, struct attempt *out)
{
    struct trial trial = *s->trial;
    trial.effort.solver_steps = max_i64(LEAST_STEPS, (all_steps(&trial) - s->spent) / ONE_PART);
    if (!trial_solve(&trial, how, out)) return false;
    s->spent += out->answer.steps;
    return true;
}

/* Makes a plan of the answer of a lax draft, in place of it. `*clashes`: not all that it uses could be kept. */
static bool relayouts_make_plan(struct relayouts *s, const struct node *node, struct attempt *a,
                                struct cut *clash, bool *clashes)
{
    struct waits w = {0};
    struct node n = *node;
    struct attempt plan = {0};
    bool ok = true, legal = false;
    /* Two copies of one tensor and op are one relayout; used, if one of them is. */
    for (int32_t i = 0; i < a->asked.count; i++) {
        const struct wait *one = &a->asked.waits[i];
        struct cut copy = {a->draft.stays[one->copy].tensor, one->tick};
        const int64_t *address = a->answer.address;
        bool used = address[one->copy] >= 0 && address[one->source] >= 0;
        for (int32_t k = one->first; k <= one->last; k++) used = used && address[k] >= 0;
        if (used) VEC_PUSH(&w.used, copy);
    }
    for (int32_t i = 0; i < a->asked.count; i++) {
        const struct wait *one = &a->asked.waits[i];
        struct cut copy = {a->draft.stays[one->copy].tensor, one->tick};
        bool used = false;
        for (size_t k = 0; k < w.used.count && !used; k++) used = cut_compare(&w.used.at[k], &copy) == 0;
        if (!used) VEC_PUSH(&w.unused, copy);
    }
    *clashes = false;
    if (w.used.count + w.unused.count == 0) {
        a->draft.how.lax = false; /* nothing was left open */
        return true;
    }
    n.loaded = relayouts_with_more(&s->memory, node->loaded, node->loaded_count, w.unused.at, w.unused.count,
                                   &n.loaded_count);
    struct decisions how = relayouts_decisions_of(s, &n, false);
    ok = ok && relayouts_replace(s, a, &how, &plan, &legal);
    if (ok && !legal) {
        struct attempt decided; /* all that the answer decided */
        attempt_free(&plan);
        ok = solve_draft(s, &how, &decided);
        if (ok) relayouts_keep_best(s, &decided);
        ok = ok && keep_in_turn(s, a, &w.used, &n, clash, clashes);
        how = relayouts_decisions_of(s, &n, false);
        ok = ok && relayouts_replace(s, a, &how, &plan, &legal);
        if (ok && !legal)
            ok = status_set(s->trial->search->st, LX_E_INTERNAL,
                            "a placement is not legal without its relayouts");
    }
    VEC_FREE(&w.used);
    VEC_FREE(&w.unused);
    if (ok) {
        plan.us = a->us;
        plan.bound = a->bound;
        struct attempt old = *a;
        *a = plan;
        plan = old;
    }
    attempt_free(&plan);
    return ok;
}

/* Solves a node. A relayout that clashes is decided both ways. */
static bool solve_node(struct relayouts *s, const struct node *n)
{
    struct decisions how = relayouts_decisions_of(s, n, true);
    struct attempt a;
    struct cut clash;
    bool clashes;
    if (!solve_draft(s, &how, &a)) return false;
    int64_t bound = max_i64(n->bound, a.bound);
    if (!relayouts_make_plan(s, n, &a, &clash, &clashes)) {
        attempt_free(&a);
        return false;
    }
    relayouts_keep_best(s, &a);
    if (!clashes) return s->bound = min_i64(s->bound, bound), true;
    struct node load = *n, keep = *n;
    load.bound = keep.bound = bound;
    load.loaded = relayouts_with_more(&s->memory, n->loaded, n->loaded_count, &clash, 1, &load.loaded_count);
    keep.kept = relayouts_with_more(&s->memory, n->kept, n->kept_count, &clash, 1, &keep.kept_count);
    VEC_PUSH(&s->open, load);
    VEC_PUSH(&s->open, keep);
    return true;
}

bool trial_decide_relayouts(const struct trial *trial, const struct decisions *decisions, int drafts,
                            struct attempt *out)
{
    struct relayouts s = {.trial = trial, .how = decisions, .bound = INT64_MAX};
    struct node root = {.bound = trial->stop_at};
    bool ok = true;
    VEC_PUSH(&s.open, root);
    for (; ok && s.open.count && drafts > 0; drafts--) {
        size_t least = 0;
        for (size_t i = 1; i < s.open.count; i++)
            if (s.open.at[i].bound < s.open.at[least].bound) least = i;
        struct node n = s.open.at[least];
        s.open.at[least] = s.open.at[--s.open.count];
        if (s.best.memory && n.bound >= s.best.hbm_bytes) {
            s.open.count = 0; /* nor is any other better */
            break;
        }
        ok = solve_node(&s, &n);
        if (lx_run_stopped(&s.trial->effort.run) ||
            (!s.trial->effort.run.work_limit && all_steps(s.trial) <= s.spent))
            drafts = 0;
    }
    for (size_t i = 0; i < s.open.count; i++) s.bound = min_i64(s.bound, s.open.at[i].bound);
    *out = s.best;
    if (ok) {
        out->bound = min_i64(s.bound, out->hbm_bytes);
        out->open_relayouts = s.open.count > 0;
    } else
        attempt_free(out);
    VEC_FREE(&s.open);
    arena_free(&s.memory);
    return ok;
}
