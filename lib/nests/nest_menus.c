/* Menus of tiles: the divisions of one tile without slow ones; numbers of views. */
#include "nests/nest_menus.h"
#include "cost/op.h"

/* Covers the fields that views_equal compares. */
static uint64_t hash_view(int32_t tensor, const struct lx_core_view *v)
{
    int64_t words[2 + 4 * LX_MAX_DEVICE_RANK];
    size_t count = 0;
    words[count++] = tensor;
    words[count++] = v->cores;
    for (int i = 0; i < v->rank; i++) {
        words[count++] = v->slices[i];
        words[count++] = v->slices[i] > 1 ? v->stride[i] : 0;
        words[count++] = v->tiles[i];
        words[count++] = v->blocks[i];
    }
    return hash_words(HASH_START, words, count * sizeof *words);
}

int nest_view_number(struct nest_views *n, int32_t tensor, const struct lx_core_view *v)
{
    if (2 * n->order.count >= n->slot_count) {
        size_t room = n->slot_count ? 2 * n->slot_count : 256;
        int32_t *slots = mem_zeroed(room, sizeof *slots);
        for (size_t i = 0; i < n->order.count; i++) {
            struct view_place at = n->order.at[i];
            size_t k = hash_view(at.tensor, &n->of.at[at.tensor].at.at[at.number]) & (room - 1);
            while (slots[k]) k = (k + 1) & (room - 1);
            slots[k] = (int32_t)i + 1;
        }
        mem_free(n->slots);
        n->slots = slots;
        n->slot_count = room;
    }
    size_t k = hash_view(tensor, v) & (n->slot_count - 1);
    for (; n->slots[k]; k = (k + 1) & (n->slot_count - 1)) {
        struct view_place at = n->order.at[n->slots[k] - 1];
        if (at.tensor == tensor && views_equal(&n->of.at[tensor].at.at[at.number], v)) return at.number;
    }
    VEC_RESERVE(&n->of, (size_t)tensor + 1);
    while (n->of.count <= (size_t)tensor) n->of.at[n->of.count++] = (struct tensor_views){0};
    struct tensor_views *of = &n->of.at[tensor];
    struct view_place at = {tensor, (int)of->at.count};
    VEC_PUSH(&n->order, at);
    VEC_PUSH(&of->at, *v);
    n->slots[k] = (int32_t)n->order.count;
    return at.number;
}

double nest_view_ring_us(struct nest_views *n, const struct lx_layouts *l, int32_t tensor, int from, int to)
{
    struct tensor_views *t = &n->of.at[tensor];
    const struct lx_core_view *v = t->at.at;
    VEC_RESERVE(&t->rows, t->at.count);
    while (t->rows.count < t->at.count) t->rows.at[t->rows.count++] = (struct view_row){0};
    struct view_row *r = &t->rows.at[from];
    if (to >= r->room) {
        int room = (int)t->at.room;
        r->us = mem_resize(r->us, (size_t)room * sizeof *r->us);
        while (r->room < room) r->us[r->room++] = -1;
    }
    if (r->us[to] < 0) r->us[to] = view_ring_us(l, tensor, &v[from], &v[to]);
    return r->us[to];
}

/* Choices of an op; limit on their time relative to the fastest. */
enum { MOST_CHOICES = 48, SLOWER = 16 };

static double nest_menus_time_of(const struct division_menu *m, int32_t c)
{
    return fmax(m->parts[c].compute_us, m->parts[c].port_us) + m->parts[c].extra_us + m->parts[c].back_us;
}

/* Picks the fastest choices of the menu, at most MOST_CHOICES, in order; returns their number. */
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
    if (d->at[op].kind == LX_DIVIDED) {
        SCOPED(arena_free) struct arena scratch = {0};
        struct division_menu all;
        struct lx_divisions few = *d;
        if (m->most_cores > 0) few.cores = m->most_cores;
        division_menu_make(&few, op, true, &scratch, &all);
        if (all.operand_count > 0) nest_menus_take(m, &all, &e.menu);
    }
    *out = e.menu;
    e.next = *last;
    VEC_PUSH(&m->at, e);
    *last = m->at.count;
}

/* The view of the buffer that holds a tile's view. */
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

const struct menu_labels *nest_menu_labels(struct nest_menus *m, const struct nest_menu *menu,
                                           const struct draft *x, int32_t access, struct arena *memory)
{
    /* Labels depend on these, the menu and the operand. */
    struct menu_labels key = {.in_nest = x->held && x->held[access].nest >= 0,
                              .sums_meet = !x->how.passes.no_ring};
    int operand = access - x->access_at[x->access_op[access]];
    struct lx_core_view v = nest_menus_held_of(x, access, &menu->views[operand]);
    for (int i = 0; i < v.rank; i++) key.tiles[i] = v.tiles[i];
    if (!menu->labels) return nest_menus_make_labels(m, menu, x, access, key, memory);
    struct menu_labels **first = &menu->labels[operand];
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
    for (size_t i = 0; i < m->views.of.count; i++) {
        struct tensor_views *t = &m->views.of.at[i];
        for (size_t k = 0; k < t->rows.count; k++) mem_free(t->rows.at[k].us);
        VEC_FREE(&t->rows);
        VEC_FREE(&t->at);
    }
    VEC_FREE(&m->views.of);
    VEC_FREE(&m->views.order);
    mem_free(m->views.slots);
    m->views = (struct nest_views){0};
    arena_free(&m->choices);
    VEC_FREE(&m->tried);
}

void nest_menus_free(struct nest_menus *m)
{
    nest_menus_forget(m);
    arena_free(&m->memory);
}
