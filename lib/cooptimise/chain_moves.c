/* Steps listed once per op: see chain_moves.h. */
#include "cooptimise/chain_moves.h"
#include "base/memory.h"

bool chain_moves_make(struct chain_moves *c, const struct chain_model *m)
{
    *c = (struct chain_moves){.m = m};
    c->menus = mem_alloc(((size_t)m->largest + 1) * sizeof *c->menus);
    return c->menus;
}

void chain_moves_free(struct chain_moves *c)
{
    mem_free(c->menus);
    VEC_FREE(&c->moves);
}

void chain_moves_of(struct chain_moves *c, const struct chain_op *op)
{
    int64_t all = 0;
    c->op = op;
    c->moves.count = 0;
    for (int32_t k = 0; k < op->touch_count; k++) {
        c->from[k] = all;
        c->states[k] = chain_states(&c->m->tensors[op->touch[k].tensor]);
        all += c->states[k] * op->choice_count;
    }
    for (int64_t i = 0; i < all; i++) c->menus[i].first = -1;
}

static struct chain_move move_of(const struct chain_model *m, const struct chain_touch *t,
                                 const struct chain_step *s)
{
    const struct chain_tensor *tensor = &m->tensors[t->tensor];
    struct chain_move v = {.step = *s, .future = chain_future(m, t, s->next)};
    if (t->last) return v;
    v.load = chain_size(tensor, s->next);
    v.owed = (int128)v.load * m->price_before[t->next_op];
    v.hash = chain_mix(tensor->slot, s->next);
    v.kind = chain_on(tensor, s->next / 2) ? chain_mix(tensor->slot, 1) : 0;
    return v;
}

static bool list_moves(struct chain_moves *c, const struct chain_touch *t, int32_t choice, int32_t state,
                       struct chain_menu *menu)
{
    struct chain_step steps[CHAIN_MOST_STEPS];
    *menu = (struct chain_menu){.first = (int32_t)c->moves.count, .low = CHAIN_NEVER};
    menu->count = chain_steps(c->m, t, choice, state, steps);
    for (int32_t i = 0; i < menu->count; i++) {
        struct chain_move v = move_of(c->m, t, &steps[i]);
        menu->low = min_i64(menu->low, v.step.bytes + v.future);
        if (!VEC_PUSH(&c->moves, v)) return false;
    }
    return true;
}

const struct chain_menu *chain_moves_from(struct chain_moves *c, int32_t touch, int32_t choice, int32_t state)
{
    struct chain_menu *menu = &c->menus[c->from[touch] + c->states[touch] * choice + state];
    if (menu->first >= 0 || list_moves(c, &c->op->touch[touch], choice, state, menu)) return menu;
    menu->first = -1;
    return NULL;
}
