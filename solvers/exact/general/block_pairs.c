/* What each two blocks are to each other. Alive together: some member of one and some member of the other
 * have a common tick and are not exclusive. Such blocks share no byte; in-place relatives may share their
 * address. Apart and alone hold whatever the lives are, also for relatives. What is none of this may
 * share bytes, perhaps at a price (soft pairs). */
#include "exact/general/block_model.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

ORDER(block_pairs_compare_pairs, struct lx_pair, ORDER_UP(a) ORDER_UP(b));

static struct lx_pair block_pairs_in_order(struct lx_pair p)
{
    return p.a < p.b ? p : (struct lx_pair){p.b, p.a};
}

/* Exclusive pairs of buffers, sorted. */
struct exclusive {
    struct lx_pair *at;
    size_t count;
};

static bool is_exclusive(const struct exclusive *x, int32_t a, int32_t b)
{
    struct lx_pair key = block_pairs_in_order((struct lx_pair){a, b});
    return x->count && bsearch(&key, x->at, x->count, sizeof key, block_pairs_compare_pairs);
}

static void relate(struct blocks *b, int32_t i, int32_t k, enum pair_kind kind)
{
    size_t n = (size_t)b->count;
    b->kind[(size_t)i * n + (size_t)k] = b->kind[(size_t)k * n + (size_t)i] = (unsigned char)kind;
}

static bool share_a_pool(const struct blocks *b, int32_t i, int32_t k)
{
    const struct block *x = &b->at[i], *y = &b->at[k];
    for (int32_t o = 0; o < x->option_count; o++)
        for (int32_t q = 0; q < y->option_count; q++)
            if (b->options[x->first_option + o].pool == b->options[y->first_option + q].pool) return true;
    return false;
}

ORDER(compare_softs, struct soft_pair, ORDER_UP(a) ORDER_UP(b));

/* Only pairs that can be paid; those of the same two blocks add up. */
static void gather_softs(struct blocks *b)
{
    const struct lx_bonds *s = &b->p->bonds;
    b->softs = mem_alloc(((size_t)s->reuse_count + 1) * sizeof *b->softs);
    int32_t n = 0;
    for (int32_t k = 0; b->p->objective == LX_SPILL && k < s->reuse_count; k++) {
        struct lx_pair pair =
            block_pairs_in_order((struct lx_pair){b->of[s->reuse[k].a], b->of[s->reuse[k].b]});
        if (pair.a == pair.b || s->reuse[k].cost == 0 || pair_of(b, pair.a, pair.b) != PAIR_FREE) continue;
        if (b->at[pair.a].size == 0 || b->at[pair.b].size == 0 || !share_a_pool(b, pair.a, pair.b)) continue;
        b->softs[n++] = (struct soft_pair){pair.a, pair.b, s->reuse[k].cost};
    }
    qsort(b->softs, (size_t)n, sizeof *b->softs, compare_softs);
    for (int32_t k = 0; k < n; k++)
        if (b->soft_count && compare_softs(&b->softs[b->soft_count - 1], &b->softs[k]) == 0)
            b->softs[b->soft_count - 1].cost += b->softs[k].cost;
        else
            b->softs[b->soft_count++] = b->softs[k];
}

void blocks_relate(struct blocks *b)
{
    const struct lx_bonds *s = &b->p->bonds;
    struct exclusive x = {.count = (size_t)s->exclusive_count};
    x.at = mem_alloc((x.count + 1) * sizeof *x.at);
    b->kind = mem_zeroed((size_t)b->count * (size_t)b->count + 1, 1);
    for (size_t k = 0; k < x.count; k++) x.at[k] = block_pairs_in_order(s->exclusive[k]);
    qsort(x.at, x.count, sizeof *x.at, block_pairs_compare_pairs);
    const struct lx_problem *p = b->p;
    for (int32_t u = 0; u < p->count; u++)
        for (int32_t v = u + 1; v < p->count; v++) {
            int32_t i = b->of[u], k = b->of[v];
            if (i != k && lx_lives_meet(&p->buffers[u], &p->buffers[v]) && !is_exclusive(&x, u, v))
                relate(b, i, k, PAIR_HARD);
        }
    for (int32_t u = 0; u < b->p->count; u++)
        for (int32_t k = 0; k < b->p->buffers[u].parent_count; k++) {
            int32_t parent = b->of[b->p->buffers[u].parents[k]];
            if (pair_of(b, b->of[u], parent) == PAIR_HARD) relate(b, b->of[u], parent, PAIR_IN_PLACE);
        }
    for (int32_t k = 0; k < b->p->bonds.apart_count; k++)
        relate(b, b->of[b->p->bonds.apart[k].a], b->of[b->p->bonds.apart[k].b], PAIR_HARD);
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t k = 0; b->at[i].alone && k < b->count; k++)
            if (k != i) relate(b, i, k, PAIR_HARD);
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t k = 0; b->at[i].size == 0 && k < b->count; k++) relate(b, i, k, PAIR_FREE);
    mem_free(x.at);
    gather_softs(b);
}
