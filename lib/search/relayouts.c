/* Decides which relayouts keep their source waiting. The source of a copy must stay on chip until the copy is
 * made, or the copy is loaded from HBM.
 *
 * First the draft is solved with this left open (stays/stay_prices.c), which gives a bound. If its answer is
 * legal with the sources waiting in place, it is the plan. Else the draft is solved with the answer's
 * choices, and the first relayout that clashes is decided both ways, least bound first. Open nodes count in
 * the bound. */
#include "search/trial.h"

enum { MOST_WAITS = 32 }; /* relayouts of one answer that are checked one by one */
/* Solver steps of all drafts if the run has no limit, about a second; fewer on large graphs. One draft takes
 * at most 1/ONE_PART of the rest: most proofs need less. */
enum { ALL_STEPS = 300000, LARGE = 1000, ONE_PART = 8, LEAST_STEPS = 1000 };

typedef VEC(struct cut) cuts;

/* A draft to be solved: its decisions about relayouts, and a lower bound. */
struct node {
    struct cut *loaded, *kept;
    int32_t loaded_count, kept_count;
    int64_t bound;
};

struct relayouts {
    const struct trial *trial;
    const struct decisions *how;
    struct arena memory; /* memory of the nodes */
    VEC(struct node) open;
    struct attempt best; /* best plan; memory NULL: none yet */
    int64_t bound;
    int64_t spent; /* steps so far */
};

/* The relayouts of a lax draft whose source would have to wait: used by the answer, or not. */
struct waits {
    cuts used, unused;
};

/* A copy of `list` with `more`; sorted, without duplicates. */
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

/* The same addresses in a draft of other decisions, with barred stays off chip. `*legal`: they are a legal
 * placement. */
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
        if (out->draft.stays[i].exclusion) out->answer.address[i] = LX_OFF_CHIP;
    *legal = ok && lx_problem_check(&out->draft.problem, out->answer.address, &out->answer.objective, &why);
    ok = ok && attempt_bytes(&out->draft, out->answer.address, &out->hbm_bytes);
    if (!ok) attempt_free(out);
    return ok;
}

/* Extends the source until the copy, if no other buffer is placed there until then; else returns false. */
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

/* Keeps the relayouts that the earlier ones leave room for, loads the others; `*clash`: the first loaded
 * one. */
static bool keep_in_turn(struct relayouts *s, const struct attempt *a, const cuts *used, struct node *n,
                         struct cut *clash, bool *clashes)
{
    struct attempt at = {0};
    bool ok = true, legal;
    for (size_t i = 0; ok && i < used->count; i++) {
        if (!at.memory && i < MOST_WAITS) { /* the decisions so far */
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

/* Limit on the steps of all drafts together. */
static int64_t all_steps(const struct trial *trial)
{
    int64_t tensors = trial->search->divided->layouts->graph->tensor_count;
    return (int64_t)ALL_STEPS * LARGE / (LARGE + tensors);
}

int64_t trial_draft_steps(const struct trial *trial)
{
    return max_i64(LEAST_STEPS, all_steps(trial) / ONE_PART);
}

/* Frees the worse of the two. */
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

/* Replaces a lax draft's answer by a plan. `*clashes`: some relayout that the answer uses could not be
 * kept. */
static bool relayouts_make_plan(struct relayouts *s, const struct node *node, struct attempt *a,
                                struct cut *clash, bool *clashes)
{
    struct waits w = {0};
    struct node n = *node;
    struct attempt plan = {0};
    bool ok = true, legal = false;
    /* Two copies of one tensor at one op are one relayout; it is used if one copy is. */
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
        struct attempt decided; /* with all decisions of the answer */
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
    if (bound > s->trial->below) return attempt_free(&a), true;
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
        if (n.bound > trial->below || (s.best.memory && n.bound >= s.best.hbm_bytes)) {
            s.open.count = 0; /* no other node is better, or of use */
            break;
        }
        ok = solve_node(&s, &n);
        if (lx_run_stopped(&s.trial->effort.run) ||
            (!s.trial->effort.run.work_limit && all_steps(s.trial) <= s.spent))
            drafts = 0;
    }
    for (size_t i = 0; i < s.open.count; i++) s.bound = min_i64(s.bound, s.open.at[i].bound);
    *out = s.best;
    if (ok && out->memory) {
        out->bound = min_i64(s.bound, out->hbm_bytes);
        out->open_relayouts = s.open.count > 0;
    } else
        attempt_free(out);
    VEC_FREE(&s.open);
    arena_free(&s.memory);
    return ok;
}
