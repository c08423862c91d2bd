/* Divisions that agree, by the clock. A relayout costs bytes on the ring and mostly a sync. So one op takes
 * another division, and from there on every op that shares a tensor takes the cheapest division that has this
 * tensor in the same parts. Whole runs of ops then work on what their own core has. The plan is tried and
 * kept if it is faster. Fewer cores launch sooner, so plans on fewer cores are tried as well. */
#include "search/time.h"
#include "cooptimise/cooptimise_menu.h"
#include "search/search_steps.h"

struct agree {
    struct search *search;
    const struct lx_graph *graph;
    struct arena memory;
    struct op_menus menus;
    int32_t *touch_at; /* per tensor, and one more: its ops in `touch` */
    int32_t *touch;    /* ops, a tensor's in order */
    int32_t *choice;   /* per op: in its menu; -1: as in the best plan */
    int32_t *queue;    /* ops that have a choice and whose tensors come next */
    VEC(uint64_t) tried;
    int64_t left, idle; /* tries left, and left without a faster plan */
};

enum { AGREE_TRIES = 240, AGREE_IDLE = 60, AGREE_SEEDS = 12, AGREE_CHOICES = 10, AGREE_MOST_OPS = 120 };
enum { AGREE_FEW_SEEDS = 2, AGREE_FEW_CHOICES = 12 }; /* on fewer cores */

static const struct op_menu *agree_menu(const struct agree *a, int32_t op)
{
    return &a->menus.at[a->menus.of_op[op]];
}

/* Predicted picoseconds of the op alone, with every operand off chip. */
static int64_t agree_time(const struct op_menu *m, int32_t choice)
{
    int64_t memory = 0;
    for (int i = 0; i < m->operand_count; i++) memory += m->memory[(int64_t)i * m->count + choice];
    return max_i64(m->compute[choice], memory) + m->extra[choice];
}

static void agree_list_touches(struct agree *a)
{
    const struct lx_graph *g = a->graph;
    int32_t *at = a->touch_at = arena_array(&a->memory, (size_t)g->tensor_count + 2, sizeof *at);
    int32_t all = 0;
    memset(at, 0, ((size_t)g->tensor_count + 2) * sizeof *at);
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++, all++) at[op_operand(&g->ops[o], i) + 2]++;
    for (int32_t t = 0; t < g->tensor_count; t++) at[t + 2] += at[t + 1];
    a->touch = arena_array(&a->memory, (size_t)all + 1, sizeof *a->touch);
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++)
            a->touch[at[op_operand(&g->ops[o], i) + 1]++] = o;
}

/* The fastest choice of the op under which `tensor` has the label; -1: none. */
static int32_t agree_choose(const struct agree *a, int32_t op, int32_t tensor, int32_t label)
{
    const struct op_menu *m = agree_menu(a, op);
    int32_t best = -1;
    for (int32_t c = 0; c < m->count; c++) {
        bool fits = false;
        for (int i = 0; i < m->operand_count; i++)
            fits |=
                op_operand(&a->graph->ops[op], i) == tensor && m->label[(int64_t)i * m->count + c] == label;
        if (fits && (best < 0 || agree_time(m, c) < agree_time(m, best))) best = c;
    }
    return best;
}

static int64_t agree_cores(const struct op_menu *m, int32_t choice)
{
    int64_t cores = 1;
    for (int i = 0; i < m->split_count; i++) cores *= m->splits[(int64_t)choice * m->split_count + i];
    return cores;
}

/* The fastest choice of the op on at most so many cores; -1: none. */
static int32_t agree_fastest(const struct agree *a, int32_t op, int64_t cores)
{
    const struct op_menu *m = agree_menu(a, op);
    int32_t best = -1;
    for (int32_t c = 0; c < m->count; c++)
        if (agree_cores(m, c) <= cores && (best < 0 || agree_time(m, c) < agree_time(m, best))) best = c;
    return best;
}

/* Spreads the choice of `op` over all ops that can agree with it. */
static void agree_spread(struct agree *a, int32_t op, int32_t choice)
{
    const struct lx_graph *g = a->graph;
    int32_t from = 0, to = 0;
    a->choice[op] = choice;
    for (a->queue[to++] = op; from < to; from++) {
        int32_t o = a->queue[from];
        const struct op_menu *m = agree_menu(a, o);
        for (int i = 0; i < m->operand_count; i++) {
            int32_t tensor = op_operand(&g->ops[o], i),
                    label = m->label[(int64_t)i * m->count + a->choice[o]];
            for (int32_t k = a->touch_at[tensor]; label >= 0 && k < a->touch_at[tensor + 1]; k++) {
                int32_t other = a->touch[k];
                if (a->choice[other] >= 0) continue;
                a->choice[other] = agree_choose(a, other, tensor, label);
                if (a->choice[other] >= 0) a->queue[to++] = other;
            }
        }
    }
}

static bool agree_is_new(struct agree *a)
{
    uint64_t hash = hash_bytes(HASH_START, a->choice, (size_t)a->graph->op_count * sizeof *a->choice);
    for (size_t i = 0; i < a->tried.count; i++)
        if (a->tried.at[i] == hash) return false;
    VEC_PUSH(&a->tried, hash);
    return true;
}

/* The best plan's divisions, with the choices in their place. */
static bool agree_divisions(struct agree *a, const struct lx_division ***out)
{
    struct search *s = a->search;
    const struct lx_division *const *now = s->best.draft.how.divided;
    const struct lx_division **divided =
        arena_array(s->memory, (size_t)a->graph->op_count + 1, sizeof *divided);
    *out = divided;
    for (int32_t o = 0; o < a->graph->op_count; o++) {
        const struct op_menu *m = agree_menu(a, o);
        divided[o] = now ? now[o] : NULL;
        if (a->choice[o] < 0 || m->split_count == 0) continue;
        struct lx_division *d = arena_alloc(s->memory, sizeof *d);
        divided[o] = d;
        if (!lx_division_with(s->divided, o, &m->splits[(int64_t)a->choice[o] * m->split_count], s->memory, d,
                              s->st))
            return false;
    }
    return true;
}

static bool agree_try(struct agree *a)
{
    struct search *s = a->search;
    struct effort effort = s->effort;
    struct decisions how = {.passes = s->best.draft.how.passes};
    const struct lx_division **divided;
    struct attempt next;
    if (!agree_is_new(a)) return true;
    if (!agree_divisions(a, &divided)) return false;
    how.divided = divided;
    effort.drafts = DRAFTS_MANY;
    a->left--;
    a->idle--;
    if (!try_decisions(s, &how, &effort, (struct limit){useful_us(s), s->best.hbm_bytes - 1}, &next))
        return false;
    if (next.memory && offer_attempt(s, &next)) a->idle = AGREE_IDLE;
    return true;
}

struct agree_rank {
    double cost; /* the largest first */
    int32_t index;
};

ORDER(agree_by_cost, struct agree_rank, ORDER_DOWN(cost) ORDER_UP(index));

/* Starts from the op's `most` fastest choices on at most `cores` cores and more than half as many, and no op
 * uses more; 0: on any number. */
static bool agree_from(struct agree *a, int32_t op, int64_t cores, int most)
{
    const struct op_menu *m = agree_menu(a, op);
    OWNED struct agree_rank *order = mem_alloc(((size_t)m->count + 1) * sizeof *order);
    int32_t count = 0;
    bool ok = true;
    for (int32_t c = 0; c < m->count; c++)
        if (cores == 0 || (agree_cores(m, c) <= cores && 2 * agree_cores(m, c) > cores))
            order[count++] = (struct agree_rank){-(double)agree_time(m, c), c};
    if (count > 1) qsort(order, (size_t)count, sizeof *order, agree_by_cost);
    for (int32_t k = 0; ok && k < count && k < most && a->left > 0 && a->idle > 0; k++) {
        if (search_is_over(a->search)) break;
        for (int32_t o = 0; o < a->graph->op_count; o++) a->choice[o] = -1;
        agree_spread(a, op, order[k].index);
        for (int32_t o = 0; cores > 0 && o < a->graph->op_count; o++)
            if (a->choice[o] < 0 && agree_fastest(a, o, cores) >= 0)
                agree_spread(a, o, agree_fastest(a, o, cores));
        ok = agree_try(a);
    }
    return ok;
}

/* Starts at the costliest ops: on any number of cores, then on each smaller one. */
static bool agree_round(struct agree *a)
{
    const int32_t ops = a->graph->op_count;
    OWNED struct agree_rank *seeds = mem_alloc(((size_t)ops + 1) * sizeof *seeds);
    bool ok = true;
    for (int32_t o = 0; o < ops; o++)
        seeds[o] = (struct agree_rank){(double)agree_time(agree_menu(a, o), agree_menu(a, o)->seed), o};
    qsort(seeds, (size_t)ops, sizeof *seeds, agree_by_cost);
    for (int32_t k = 0; ok && k < ops && k < AGREE_SEEDS; k++)
        ok = agree_from(a, seeds[k].index, 0, AGREE_CHOICES);
    for (int64_t cores = a->search->divided->cores / 2; ok && cores > 0; cores /= 2) {
        a->idle = AGREE_IDLE;
        for (int32_t k = 0; ok && k < ops && k < AGREE_FEW_SEEDS; k++)
            ok = agree_from(a, seeds[k].index, cores, AGREE_FEW_CHOICES);
    }
    return ok;
}

bool agree_search(struct search *search)
{
    struct agree a = {.search = search, .graph = search->divided->layouts->graph};
    const size_t ops = (size_t)a.graph->op_count;
    if (a.graph->op_count > AGREE_MOST_OPS) return true;
    a.choice = arena_array(&a.memory, ops + 1, sizeof *a.choice);
    a.queue = arena_array(&a.memory, ops + 1, sizeof *a.queue);
    a.left = AGREE_TRIES;
    a.idle = AGREE_IDLE;
    agree_list_touches(&a);
    bool ok = op_menus_make(search->divided, &a.memory, &a.menus, search->st) && agree_round(&a);
    LOG(attempt, "agreeing divisions: %d tries, %.2f us", (int)(AGREE_TRIES - a.left), search->best.us);
    VEC_FREE(&a.tried);
    arena_free(&a.memory);
    return ok;
}
