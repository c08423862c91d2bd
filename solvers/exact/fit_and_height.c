/* Fit and Height for a whole problem: every buffer that may be placed must be.
 *
 * The Fit engine answers for given handovers. Without in-place edges its answer is final. With edges it is
 * asked for as many handovers as possible and for none; then the search of Spill takes over with a cost of 1
 * per buffer and looks for a plan of cost 0: its cuts and branches then decide handovers only, and a bound of
 * 1 proves that nothing fits.
 *
 * Height without edges is answered by the height engine. With edges its answer for two sets of handovers is
 * an upper bound, the load a lower bound, and Fit questions in between narrow the gap by halves. */
#include "exact/exact.h"

/* Largest list whose handovers are searched. */
enum { MOST_NARROWED = 5000 };

/* The buffers to place, each with cost 1. */
struct whole {
    struct lx_problem p;
    struct arena memory;
    struct lx_buffer *buffers;
    int32_t *members, count;
    int64_t *address; /* per item of a model */
    int64_t empty;    /* the highest fixed address of an empty buffer: a lower bound on the height */
    struct budget budget;
    const struct exact_options *options;
    struct search_stats stats;
};

static void whole_open(struct whole *w, const struct lx_problem *p, const struct lx_run *run,
                       const struct exact_options *options)
{
    size_t n = (size_t)p->count + 1;
    *w = (struct whole){.p = *p, .options = options, .budget = budget_new(run, options->step_limit)};
    w->buffers = arena_array(&w->memory, n, sizeof *w->buffers);
    w->members = arena_array(&w->memory, n, sizeof *w->members);
    w->address = arena_array(&w->memory, n, sizeof *w->address);
    for (int32_t i = 0; i < p->count; i++) {
        w->buffers[i] = p->buffers[i];
        w->buffers[i].spill_cost = 1; /* all must be placed: prices and bonds do not matter */
        w->buffers[i].on_costs = NULL;
        w->buffers[i].must = false;
        if (!w->buffers[i].reason && w->buffers[i].size > 0) w->members[w->count++] = i;
    }
    w->p.objective = LX_FIT;
    w->p.buffers = w->buffers;
    w->p.bonds = (struct lx_bonds){0};
}

static void whole_close(struct whole *w, struct model *m, struct lx_answer *answer)
{
    exact_report(&w->stats, EXACT_unresolved, answer);
    answer->steps = w->budget.steps;
    model_free(m);
    arena_free(&w->memory);
}

/* Runs the Fit engine on all items, with as many handovers as possible and with none. With edges FIT_NO holds
 * only for these handovers, so it proves nothing. */
static enum fit_result all_at_once(struct whole *w, struct model *m)
{
    struct packer k;
    packer_new(&k, m, &w->budget);
    bool *kept = arena_array(&k.memory, (size_t)m->item_count + 1, sizeof *kept);
    bool *merged = arena_array(&k.memory, (size_t)m->edge_count + 1, sizeof *merged);
    memset(kept, 1, (size_t)m->item_count);
    enum fit_result result = FIT_LIMIT;
    for (int tries = 0; tries < 2 && result != FIT_YES; tries++) {
        int64_t left = max_i64(w->budget.limit - w->budget.steps, 1), before = k.nodes;
        if (tries == 0)
            merge_greedily(m, kept, merged);
        else
            memset(merged, 0, (size_t)m->edge_count);
        result = pack_exactly(&k, kept, merged, m->edge_count ? left / 4 + 1 : left, w->address);
        w->budget.steps += k.nodes - before;
        if (m->edge_count == 0) break;
        if (result == FIT_NO) result = FIT_LIMIT;
    }
    w->stats.fit_calls += k.calls;
    w->stats.fit_nodes += k.nodes;
    arena_free(&k.memory);
    return result;
}

/* Does everything fit under w->p's capacity? Writes addresses, per item of `m`, to w->address. */
static enum lx_verdict fit_and_height_decide(struct whole *w, struct model *m)
{
    if (m->item_count < w->count) return LX_INFEASIBLE; /* a buffer is too large, or fixed too high */
    enum fit_result result = all_at_once(w, m);
    if (result == FIT_YES) return LX_OPTIMAL;
    if (result == FIT_NO) return LX_INFEASIBLE;
    if (m->edge_count == 0) return LX_LIMIT;
    struct search_tuning tuning = {.fit_nodes = max_i64((w->budget.limit - w->budget.steps) / 8, 1),
                                   .core_nodes = w->options->core_nodes};
    struct search search;
    search_open(&search, m, &w->budget, &tuning, w->address, 1);
    search_continue(&search, INT64_MAX / 4, INT32_MAX);
    enum lx_verdict verdict = search.best == 0             ? LX_OPTIMAL
                              : search_bound(&search) >= 1 ? LX_INFEASIBLE
                                                           : LX_LIMIT;
    search_close(&search, &w->stats);
    return verdict;
}

static void copy_addresses(const struct whole *w, const struct model *m, struct lx_answer *answer)
{
    for (int32_t i = 0; i < m->item_count; i++) answer->address[m->items[i].buffer] = w->address[i];
}

/* Places empty buffers; false: one is fixed above the capacity. */
static bool place_empty(const struct lx_problem *p, struct lx_answer *answer)
{
    bool ok = true;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (b->reason || b->size > 0) continue;
        if (p->objective == LX_HEIGHT || b->fixed <= p->capacity)
            answer->address[i] = max_i64(b->fixed, 0);
        else
            ok = false;
    }
    return ok;
}

void whole_fit(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
               struct lx_answer *answer)
{
    struct whole w;
    struct model *m = NULL;
    whole_open(&w, p, run, options);
    if (!place_empty(p, answer))
        answer->status = LX_INFEASIBLE;
    else {
        m = model_new(&w.p, w.members, w.count);
        answer->status = fit_and_height_decide(&w, m);
        if (answer->status == LX_OPTIMAL) copy_addresses(&w, m, answer);
    }
    whole_close(&w, m, answer);
}

/* Steps of a node: it visits all items, and with more items more nodes are needed. */
static int64_t node_cost(int64_t items)
{
    return 1 + items * items / 16000000;
}

struct height_so_far {
    struct whole *w;
    const struct model *m;
    const struct packer *k;
    int64_t *height, *bound;
    struct lx_answer *answer;
};

static void take_packing(struct height_so_far *h, const int64_t *base, int64_t height)
{
    const struct packer *k = h->k;
    if (height >= *h->height) return;
    *h->height = height;
    for (int32_t f = 0; f < k->item_count; f++)
        for (int32_t i = k->head[f]; i >= 0; i = k->next[i]) h->w->address[i] = base[f];
    copy_addresses(h->w, h->m, h->answer);
}

/* Reports a better packing or bound; the bound is the problem's only if no handover is open. */
static void report_height(void *context, const int64_t *base, const struct height_answer *so_far)
{
    struct height_so_far *h = context;
    const struct lx_run *run = h->w->budget.run;
    bool better = base && so_far->height < *h->height;
    if (better) take_packing(h, base, so_far->height);
    if (h->m->edge_count == 0) *h->bound = max_i64(*h->bound, so_far->bound);
    if (!run->progress || (base && !better)) return;
    run->progress(run->context, &(struct lx_progress){.steps = h->w->budget.steps +
                                                               so_far->nodes * node_cost(h->m->item_count),
                                                      .objective = max_i64(*h->height, h->w->empty),
                                                      .bound = *h->bound,
                                                      .address = better ? h->answer->address : NULL});
}

/* Runs the height engine on all items with these handovers; lowers `*height` if it finds a better one. */
static void ask_height(struct whole *w, struct model *m, const bool *merged, int64_t *height, int64_t *bound,
                       struct lx_answer *answer)
{
    struct packer k;
    struct height_so_far so_far = {w, m, &k, height, bound, answer};
    struct height_watch watch = {report_height, &so_far};
    struct height_answer found = {0};
    int32_t broken;
    packer_new(&k, m, &w->budget);
    bool *kept = arena_array(&k.memory, (size_t)m->item_count + 1, sizeof *kept);
    memset(kept, 1, (size_t)m->item_count);
    int64_t left = max_i64(w->budget.limit - w->budget.steps, 1);
    k.limits.nodes = (m->edge_count ? left / 4 : left) / node_cost(m->item_count) + 1;
    enum height_result result = HEIGHT_NONE;
    if (packer_chains(&k, kept, merged, &broken)) {
        struct fit_problem q = {k.capacity, k.item_count, k.piece_count, k.items, k.pieces};
        result = height_solve(&q, &k.limits, &watch, k.base, &found);
    }
    if (result != HEIGHT_NONE) take_packing(&so_far, k.base, found.height);
    if (m->edge_count == 0) *bound = max_i64(*bound, found.bound);
    w->budget.steps += found.nodes * node_cost(m->item_count);
    w->stats.fit_calls += found.probes;
    w->stats.fit_nodes += found.nodes;
    arena_free(&k.memory);
}

/* With edges: asks Fit between the bound and the height. */
static void fit_and_height_narrow(struct whole *w, int64_t *height, int64_t *bound, struct lx_answer *answer)
{
    enum lx_verdict verdict = LX_OPTIMAL;
    while (*bound < *height && verdict != LX_LIMIT && !budget_spent(&w->budget)) {
        w->p.capacity = *bound + (*height - *bound - 1) / 2;
        struct model *m = model_new(&w->p, w->members, w->count);
        verdict = fit_and_height_decide(w, m);
        if (verdict == LX_INFEASIBLE)
            *bound = w->p.capacity + 1;
        else if (verdict == LX_OPTIMAL) {
            copy_addresses(w, m, answer);
            *height = 0;
            for (int32_t i = 0; i < m->item_count; i++)
                *height = max_i64(*height, w->address[i] + w->buffers[m->items[i].buffer].size);
        }
        model_free(m);
    }
}

void whole_height(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
                  struct lx_answer *answer)
{
    struct whole w;
    int64_t height = INT64_MAX, bound = run->known_bound;
    whole_open(&w, p, run, options);
    place_empty(p, answer);
    for (int32_t i = 0; i < p->count; i++)
        if (!p->buffers[i].reason && p->buffers[i].size == 0) w.empty = max_i64(w.empty, p->buffers[i].fixed);
    w.p.capacity = INT64_MAX / 4;
    struct model *m = model_new(&w.p, w.members, w.count);
    bool *merged = arena_array(&w.memory, (size_t)m->edge_count + 1, sizeof *merged);
    bool *kept = arena_array(&w.memory, (size_t)m->item_count + 1, sizeof *kept);
    if (w.count > 0) {
        memset(kept, 1, (size_t)m->item_count);
        merge_greedily(m, kept, merged);
        ask_height(&w, m, merged, &height, &bound, answer);
        if (m->edge_count > 0 && bound < height) {
            memset(merged, 0, (size_t)m->edge_count * sizeof *merged);
            ask_height(&w, m, merged, &height, &bound, answer);
        }
        if (m->edge_count > 0 && height < INT64_MAX && w.count <= MOST_NARROWED)
            fit_and_height_narrow(&w, &height, &bound, answer);
    } else
        height = 0;
    bool proved = height < INT64_MAX && bound >= max_i64(height, w.empty);
    answer->bound = min_i64(bound, max_i64(height, w.empty));
    answer->status = proved ? LX_OPTIMAL : LX_LIMIT;
    LOG(exact, "height %" PRId64 ", proved %" PRId64, height, bound);
    if (height == INT64_MAX && !lx_run_stopped(run)) {
        answer->bound = 0;
        snprintf(answer->message, sizeof answer->message,
                 "no complete placement was found; do fixed addresses collide?");
    }
    whole_close(&w, m, answer);
}
