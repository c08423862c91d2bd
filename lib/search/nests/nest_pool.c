/* A short list in order. */
#include "search/nests/nest_pool.h"

void nest_pool_free(struct nest_pool *b)
{
    for (int i = 0; i < b->count; i++) attempt_free(&b->at[i]);
    b->count = 0;
}

/* The same nests, and the same bytes. */
static bool nest_pool_is_like(const struct attempt *a, const struct attempt *b)
{
    const struct decisions *one = &a->draft.how, *two = &b->draft.how;
    if (a->hbm_bytes != b->hbm_bytes || one->nest_count != two->nest_count) return false;
    for (int32_t i = 0; i < one->nest_count; i++) {
        const struct lx_nest *n = &one->nests[i], *m = &two->nests[i];
        if (n->first != m->first || n->last != m->last || n->level_count != m->level_count) return false;
        for (int l = 0; l < n->level_count; l++)
            if (n->tiles[l] != m->tiles[l] || n->var[0][l] != m->var[0][l]) return false;
    }
    return true;
}

int64_t nest_pool_limit(const struct nest_pool *b, const struct nest_set *s)
{
    return b->count == b->width ? nest_set_limit(s, &b->at[b->count - 1]) : 0;
}

void nest_pool_add(struct nest_pool *b, struct attempt *a)
{
    int at = b->count;
    bool there = at == b->width && !nest_set_is_better(a, &b->at[at - 1]);
    for (int i = 0; i < b->count; i++) there |= nest_pool_is_like(a, &b->at[i]);
    if (there) {
        attempt_free(a);
        return;
    }
    if (at == b->width)
        attempt_free(&b->at[--at]);
    else
        b->count++;
    for (; at > 0 && nest_set_is_better(a, &b->at[at - 1]); at--) {
        b->at[at] = b->at[at - 1];
        b->done[at] = b->done[at - 1];
    }
    b->at[at] = *a;
    b->done[at] = false;
}

bool nest_pool_take_best(struct search *search, const struct nest_pool *b, bool *better)
{
    struct attempt copy;
    *better = b->count > 0 && nest_set_is_better(&b->at[0], &search->best);
    if (!*better) return true;
    if (!attempt_copy(search, &b->at[0], &copy)) return false;
    attempt_free(&search->best);
    search->best = copy;
    return true;
}
