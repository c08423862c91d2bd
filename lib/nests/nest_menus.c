/* Menus of tiles: the menu of the stage for one tile, less what is slow. */
#include "nests/nest_menus.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

/* Choices of an op; and how much slower than the quickest one may be. */
enum { MOST_CHOICES = 48, SLOWER = 16 };

static double nest_menus_time_of(const struct division_menu *m, int32_t c)
{
    return fmax(m->parts[c].compute_us, m->parts[c].port_us) + m->parts[c].extra_us + m->parts[c].back_us;
}

/* The quickest `most` of the menu, in order: their numbers. */
static int nest_menus_pick(const struct division_menu *m, int32_t *picked)
{
    int count = 0;
    double best = INFINITY;
    for (int32_t c = 0; c < m->count; c++) best = fmin(best, nest_menus_time_of(m, c));
    for (int32_t c = 0; c < m->count; c++) {
        double us = nest_menus_time_of(m, c);
        int at = count;
        if (us > SLOWER * best + 1 ||
            (count == MOST_CHOICES && us >= nest_menus_time_of(m, picked[count - 1])))
            continue;
        if (count == MOST_CHOICES)
            at--;
        else
            count++;
        for (; at > 0 && nest_menus_time_of(m, picked[at - 1]) > us; at--) picked[at] = picked[at - 1];
        picked[at] = c;
    }
    return count;
}

static void nest_menus_take(struct nest_menus *all, const struct division_menu *m, struct nest_menu *out)
{
    int32_t picked[MOST_CHOICES];
    int n = nest_menus_pick(m, picked);
    size_t splits = (size_t)m->split_count, operands = (size_t)m->operand_count;
    struct arena *memory = &all->choices;
    int64_t *s = arena_array(memory, (size_t)n * splits, sizeof *s);
    struct lx_core_view *v = arena_array(memory, (size_t)n * operands, sizeof *v);
    struct cost_parts *parts = arena_array(memory, (size_t)n, sizeof *parts);
    double *memory_us = arena_array(memory, (size_t)n * operands, sizeof *memory_us);
    signed char *front = arena_array(memory, (size_t)n, sizeof *front);
    struct lx_division **made = arena_array(memory, (size_t)n, sizeof *made);
    struct menu_labels **labels = arena_array(memory, operands, sizeof(struct menu_labels *));
    for (int i = 0; i < n; i++) {
        size_t c = (size_t)picked[i], at = (size_t)i;
        memcpy(&s[at * splits], &m->splits[c * splits], splits * sizeof *s);
        memcpy(&v[at * operands], &m->views[c * operands], operands * sizeof *v);
        memcpy(&memory_us[at * operands], &m->memory_us[c * operands], operands * sizeof *memory_us);
        parts[i] = m->parts[c];
        front[i] = m->front ? m->front[picked[i]] : -1;
    }
    *out =
        (struct nest_menu){n, m->split_count, m->operand_count, s, front, v, parts, memory_us, made, labels};
}

static void nest_menus_make_menu(struct nest_menus *all, const struct lx_divisions *d, int32_t op,
                                 struct nest_menu *out)
{
    struct arena scratch = {0};
    struct division_menu m;
    *out = (struct nest_menu){0};
    if (d->at[op].kind == LX_DIVIDED) {
        division_menu_orders(d, op, &scratch, &m);
        if (m.operand_count > 0) nest_menus_take(all, &m, out);
    }
    arena_free(&scratch);
}

void nest_menu_of(struct nest_menus *m, const struct lx_divisions *d, int32_t op, struct nest_menu *out)
{
    const struct lx_op *o = &d->layouts->graph->ops[op];
    struct menu_entry e = {.name = o->name, .output = o->output};
    int32_t nest = nest_of_op(d->nests, d->nest_count, op);
    int32_t output = o->output;
    VEC_RESERVE(&m->last, (size_t)output + 1);
    while (m->last.count <= (size_t)output) m->last.at[m->last.count++] = 0;
    size_t *last = &m->last.at[output];
    for (int v = 0; v < LX_MAX_VARS; v++) e.tiles[v] = 1;
    if (nest >= 0) nest_op_tiles(&d->nests[nest], op, e.tiles);
    for (size_t i = *last; i > 0; i = m->at.at[i - 1].next) {
        const struct menu_entry *old = &m->at.at[i - 1];
        if (old->name != e.name || memcmp(old->tiles, e.tiles, sizeof e.tiles) != 0) continue;
        *out = old->menu;
        return;
    }
    nest_menus_make_menu(m, d, op, &e.menu);
    *out = e.menu;
    e.next = *last;
    VEC_PUSH(&m->at, e);
    *last = m->at.count;
}

/* What a buffer has of a tile's view. */
static struct lx_core_view nest_menus_held_of(const struct draft *x, int32_t access,
                                              const struct lx_core_view *v)
{
    const struct lx_layout *y = &x->layouts->layouts[x->accesses[access].tensor];
    if (!x->held || x->held[access].nest < 0) return *v;
    return core_view_held(y, &x->how.nests[x->held[access].nest], &x->held[access].tensor,
                          x->held[access].level, *v);
}

static struct menu_labels *nest_menus_make_labels(struct nest_menus *m, const struct nest_menu *menu,
                                                  const struct draft *x, int32_t access,
                                                  struct menu_labels like, struct arena *memory)
{
    struct menu_labels *y = arena_array(memory, 1, sizeof *y);
    like.label = arena_array(memory, (size_t)menu->count, sizeof *like.label);
    like.bytes = arena_array(memory, (size_t)menu->count, sizeof *like.bytes);
    int32_t tensor = x->accesses[access].tensor;
    int operand = access - x->access_at[x->access_op[access]];
    like.least = INT64_MAX;
    for (int c = 0; c < menu->count; c++) {
        struct lx_core_view v =
            nest_menus_held_of(x, access, &menu->views[c * menu->operand_count + operand]);
        bool holds = view_holds(&x->layouts->layouts[tensor], &v, like.sums_meet);
        like.label[c] = holds ? nest_view_number(&m->views, tensor, &v) : -1;
        if (!holds) continue;
        like.bytes[c] = view_part_bytes(x->layouts, tensor, &v);
        like.least = like.bytes[c] < like.least ? like.bytes[c] : like.least;
    }
    if (like.least == INT64_MAX) like.least = 0;
    *y = like;
    return y;
}

/* All that labels depend on, besides the menu and the operand. */
static struct menu_labels nest_menus_key_of(const struct nest_menu *menu, const struct draft *x,
                                            int32_t access)
{
    struct menu_labels key = {.in_nest = x->held && x->held[access].nest >= 0,
                              .sums_meet = !x->how.passes.no_ring};
    struct lx_core_view v =
        nest_menus_held_of(x, access, &menu->views[access - x->access_at[x->access_op[access]]]);
    for (int i = 0; i < v.rank; i++) key.tiles[i] = v.tiles[i];
    return key;
}

const struct menu_labels *nest_menu_labels(struct nest_menus *m, const struct nest_menu *menu,
                                           const struct draft *x, int32_t access, struct arena *memory)
{
    struct menu_labels key = nest_menus_key_of(menu, x, access);
    if (!menu->labels) return nest_menus_make_labels(m, menu, x, access, key, memory);
    struct menu_labels **first = &menu->labels[access - x->access_at[x->access_op[access]]];
    for (struct menu_labels *y = *first; y; y = y->next)
        if (y->in_nest == key.in_nest && y->sums_meet == key.sums_meet &&
            memcmp(y->tiles, key.tiles, sizeof key.tiles) == 0)
            return y;
    struct menu_labels *y = nest_menus_make_labels(m, menu, x, access, key, &m->choices);
    y->next = *first;
    return *first = y;
}

const struct lx_division *nest_menu_division(struct nest_menus *m, const struct nest_menu *menu,
                                             const struct lx_divisions *d, int32_t op, int choice,
                                             lx_status *st)
{
    if (menu->made[choice]) return menu->made[choice];
    struct lx_division *v = arena_array(&m->memory, 1, sizeof *v);
    if (!lx_division_ordered(d, op, &menu->splits[choice * menu->split_count], menu->front[choice],
                             &m->memory, v, st))
        return NULL;
    return menu->made[choice] = v;
}

void nest_menus_forget(struct nest_menus *m)
{
    VEC_FREE(&m->at);
    VEC_FREE(&m->last);
    nest_views_free(&m->views);
    arena_free(&m->choices);
    VEC_FREE(&m->tried);
}

void nest_menus_free(struct nest_menus *m)
{
    nest_menus_forget(m);
    arena_free(&m->memory);
}
