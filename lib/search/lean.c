/* Attempts of a search by time that move few bytes and are almost as fast as its fastest. */
#include "search/plan_search.h"

static void lean_drop(struct lean *l, int i)
{
    attempt_free(&l->at[i]);
    l->at[i] = l->at[--l->count];
}

static bool lean_beats(const struct attempt *a, const struct attempt *b)
{
    return a->us <= b->us && a->hbm_bytes <= b->hbm_bytes;
}

void lean_note(const struct search *search, const struct attempt *a)
{
    struct lean *l = search->lean;
    if (!l || search->whole || ops_too_wide(&a->draft)) return;
    l->fastest_us = fmin(l->fastest_us, a->us);
    bool beaten = a->us > l->slower * l->fastest_us;
    for (int i = 0; i < l->count && !beaten; i++) beaten = lean_beats(&l->at[i], a);
    if (beaten) return;
    int slowest = 0;
    for (int i = l->count - 1; i >= 0; i--)
        if (lean_beats(a, &l->at[i]) || l->at[i].us > l->slower * l->fastest_us) lean_drop(l, i);
    for (int i = 1; i < l->count; i++)
        if (l->at[i].us > l->at[slowest].us) slowest = i;
    if (l->count == LEAN) lean_drop(l, slowest);
    if (attempt_copy(search, a, &l->at[l->count])) l->count++;
}

struct attempt lean_take(const struct search *search)
{
    struct lean *l = search->lean;
    struct attempt none = {0}, *least = &none;
    for (int i = 0; l && i < l->count; i++)
        if (l->at[i].us <= l->slower * l->fastest_us &&
            (!least->memory || l->at[i].hbm_bytes < least->hbm_bytes))
            least = &l->at[i];
    struct attempt taken = *least;
    *least = none;
    return taken;
}

void lean_free(struct lean *l)
{
    for (int i = 0; i < l->count; i++) attempt_free(&l->at[i]);
}
