/* Evictions: buffers leave the scratchpad and come back.
 *
 * A cut stay becomes two, each with its own address, each on chip or not. A cut before a full rewrite of the
 * tensor is free; elsewhere the value is written to HBM once, if HBM lacks it, and read again. The model of
 * keeping (keep.h), which ignores addresses, proposes cuts, cheapest first. If it dropped choices, single
 * cuts are tried as well: long idle times of large buffers first. */
#include "search/search_steps.h"
#include "search/keep.h"

struct candidate {
    struct cut cut;
    int64_t idle;  /* ticks */
    double weight; /* bytes x ticks */
};

static int evict_by_weight(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return cut_compare(&x->cut, &y->cut);
}

struct evictions {
    struct search *search;
    VEC(struct cut) cuts; /* accepted so far, sorted */
    VEC(struct candidate) candidates;
    int64_t left; /* tries left */
};

/* Tries these cuts; true if the plan is better. */
static bool try_cuts(struct evictions *s, const struct cut *cuts, size_t count, bool *failed)
{
    struct decisions how = s->search->best.draft.how;
    bool better;
    how.cuts = cuts;
    how.cut_count = (int32_t)count;
    *failed = !try_and_offer(s->search, &how, &better);
    return better;
}

/* Candidates: cuts of idle times during which an unplaced buffer lives; the heaviest first. */
static void evict_gather(struct evictions *s)
{
    const struct draft *x = &s->search->best.draft;
    const struct lx_problem *p = &x->problem;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        for (int32_t k = 1; !b->reason && k < b->use_count; k++) {
            int64_t idle = b->uses[k] - b->uses[k - 1];
            bool wanted = p->count > 4000; /* searching for an unplaced buffer takes long */
            for (int32_t n = 0; n < p->count && !wanted; n++)
                wanted = s->search->best.answer.address[n] < 0 && !p->buffers[n].reason &&
                         p->buffers[n].start <= b->uses[k] && p->buffers[n].end > b->uses[k - 1];
            struct candidate c = {
                {x->stays[i].tensor, (int32_t)b->uses[k]}, idle, (double)b->size * (double)idle};
            if (wanted) VEC_PUSH(&s->candidates, c);
        }
    }
    if (s->candidates.count)
        qsort(s->candidates.at, s->candidates.count, sizeof *s->candidates.at, evict_by_weight);
}

static void keep_cuts(struct evictions *s, const struct cut *cuts, int32_t count)
{
    VEC_RESERVE(&s->cuts, (size_t)count + 1);
    if (count) memcpy(s->cuts.at, cuts, (size_t)count * sizeof *cuts);
    s->cuts.count = (size_t)count;
}

/* Tries the accepted cuts plus more. */
static bool evict_with_more(struct evictions *s, const struct cut *more, size_t count, bool *failed)
{
    OWNED VEC(struct cut) tried = {0};
    size_t all = s->cuts.count + count;
    *failed = false;
    VEC_RESERVE(&tried, all + 1);
    VEC_RESERVE(&s->cuts, all + 1);
    for (size_t k = 0; k < all; k++)
        tried.at[k] = k < s->cuts.count ? s->cuts.at[k] : more[k - s->cuts.count];
    qsort(tried.at, all, sizeof *tried.at, cut_compare);
    for (size_t k = 0; k < all; k++)
        if (k == 0 || cut_compare(&tried.at[tried.count - 1], &tried.at[k]) != 0)
            tried.at[tried.count++] = tried.at[k];
    bool known = tried.count == s->cuts.count;
    if (!known) s->left--;
    bool better = !known && try_cuts(s, tried.at, tried.count, failed);
    if (better) keep_cuts(s, tried.at, (int32_t)tried.count);
    return better;
}

/* True if an earlier choice has the same cuts: the solver decides the rest itself. */
static bool evict_is_tried(const struct keep_found *found, int32_t choice)
{
    const struct keep_choice *c = &found->at[choice];
    bool tried = c->cut_count == 0;
    for (int32_t i = 0; !tried && i < choice; i++) {
        tried = c->cut_count == found->at[i].cut_count;
        for (int32_t k = 0; tried && k < c->cut_count; k++)
            tried = cut_compare(&c->cuts[k], &found->at[i].cuts[k]) == 0;
    }
    return tried;
}

/* Tries the choices of the model, cheapest first. `*done`: no other choice can be better. */
static bool evict_ask_model(struct evictions *s, bool *done)
{
    struct search *search = s->search;
    SCOPED(keep_answer_free) struct keep_answer a;
    bool failed = false, by_time = asks_time(search);
    bool ok = keep_ask(search, true, s->left, false, &a);
    const struct keep_found *found = &a.found;
    for (int32_t i = 0; ok && !failed && i < found->count && s->left > 0; i++) {
        const struct keep_choice *c = &found->at[i];
        if (search_is_over(search) || (!by_time && c->cost >= search->best.hbm_bytes)) break;
        if (evict_is_tried(found, i)) continue;
        s->left--;
        if (try_cuts(s, c->cuts, (size_t)c->cut_count, &failed)) keep_cuts(s, c->cuts, c->cut_count);
    }
    ok = ok && !failed;
    *done = ok && !by_time && (max_i64(a.bound, found->bound) >= search->best.hbm_bytes || found->complete);
    LOG(evict, "%d choices, bound %" PRId64 ", HBM %" PRId64, (int)found->count,
        max_i64(a.bound, found->bound), search->best.hbm_bytes);
    return ok;
}

/* Tries single cuts while one helps; then all cuts of a tensor together. */
static bool evict_try_all(struct evictions *s)
{
    OWNED VEC(struct cut) cuts = {0};
    bool failed = false, better = true;
    while (better) {
        better = false;
        for (size_t i = 0; !failed && s->left > 0 && !search_is_over(s->search) && i < s->candidates.count;
             i++)
            better |= evict_with_more(s, &s->candidates.at[i].cut, 1, &failed);
    }
    for (size_t i = 0; !failed && s->left > 0 && !search_is_over(s->search) && i < s->candidates.count; i++) {
        int32_t tensor = s->candidates.at[i].cut.tensor;
        bool seen = false;
        cuts.count = 0;
        for (size_t k = 0; k < i && !seen; k++) seen = s->candidates.at[k].cut.tensor == tensor;
        for (size_t k = i; !seen && k < s->candidates.count; k++)
            if (s->candidates.at[k].cut.tensor == tensor && s->candidates.at[k].idle > 1)
                VEC_PUSH(&cuts, s->candidates.at[k].cut);
        if (cuts.count > 1) evict_with_more(s, cuts.at, cuts.count, &failed);
    }
    return !failed;
}

bool evict_search(struct search *search)
{
    /* Solving takes most of the time: fewer tries on larger problems. */
    struct evictions s = {.search = search,
                          .left = max_i64(8, min_i64(200, 60000 / (search->best.draft.problem.count + 1)))};
    bool done = false, failed = false;
    keep_cuts(&s, search->best.draft.how.cuts, search->best.draft.how.cut_count);
    bool ok = evict_ask_model(&s, &done);
    if (ok && !done && s.cuts.count == 0) {
        /* Cut every tensor at each op that overwrites the whole tensor without reading it. */
        const struct draft *x = &s.search->best.draft;
        for (int32_t t = 0; t < x->graph->tensor_count; t++)
            for (int32_t k = x->tensor_at[t] + 1; k < x->tensor_at[t + 1]; k++) {
                int32_t a = x->tensor_access[k], before = x->tensor_access[k - 1];
                if (!x->accesses[a].writes || x->accesses[a].reads || x->access_op[a] == x->access_op[before])
                    continue;
                VEC_PUSH(&s.cuts, (struct cut){t, x->access_op[a]});
            }
        if (s.cuts.count > 0 && !try_cuts(&s, s.cuts.at, s.cuts.count, &failed)) s.cuts.count = 0;
        ok = !failed;
    }
    if (ok && !done) {
        evict_gather(&s);
        ok = evict_try_all(&s);
    }
    LOG(evict, "%d cuts kept", (int)s.cuts.count);
    VEC_FREE(&s.cuts);
    VEC_FREE(&s.candidates);
    return ok;
}

/* Counts the unavoidable bytes: accesses that no stay can serve, one load of each input, one store of each
 * output. */
int64_t evict_least(const struct draft *x)
{
    int64_t sum = 0;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) {
        int64_t off = 0, served = 0, written = 0, whole = tensor_bytes(x->layouts, t);
        for (int32_t k = x->tensor_at[t]; k < x->tensor_at[t + 1]; k++) {
            const struct lx_access *a = &x->accesses[x->tensor_access[k]];
            enum lx_exclusion bar = a->stay < 0 ? LX_EXCLUDED_PARTIAL : x->stays[a->stay].exclusion;
            /* A cut may free a stay that was barred by a mismatch or because it gained nothing. */
            bool freed = bar == LX_EXCLUDED_NONE || bar == LX_EXCLUDED_DIVISION || bar == LX_EXCLUDED_NO_GAIN;
            if (!freed)
                off += a->bytes;
            else if (a->writes)
                written += a->bytes;
            else
                served += a->bytes;
        }
        enum lx_role role = x->graph->tensors[t].role;
        if (lx_role_leaves(role)) off += min_i64(written, whole);
        if (lx_role_arrives(role)) off += min_i64(served, whole);
        sum += off;
    }
    return sum;
}
