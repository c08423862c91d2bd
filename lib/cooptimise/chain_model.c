/* Makes chains from a draft and the menus of its ops: tensors, labels, distinct choices, reachable states. */
#include "cooptimise/chain.h"
#include "base/slot.h"

enum { PRICE_BITS = 16, ROOM_TOUCHES = 6 }; /* choices of ops with more touches are not split */

struct making {
    struct chain_model *m;
    const struct draft *x;
    const struct op_menus *menus;
    const struct lx_core_view **view; /* per label */
    int32_t view_count;
    int32_t **of_menu; /* per menu: label per operand and choice, as op_menu.view; -1: not on chip */
    int32_t *run_of;   /* per op: ascending number of its run; the scratchpads are wiped between runs */
    int32_t *chain_of; /* per tensor of the graph: its chain, or -1 */
    int32_t *local;   /* per label: its number in the current tensor, valid if seen[label] is that tensor's */
    int32_t *seen;    /* per label: 1 + the last chain that numbered it */
    int32_t **locals; /* per chain: label of each access and choice, one access after the other */
    struct chain_touch **latest; /* per chain: its last touch so far */
};

/* Interned views, shared by all tensors: for an op that writes in place the views of two tensors are
 * compared. */
struct view_table {
    const struct lx_core_view **views; /* per label */
    int32_t *at, count;                /* at: label + 1 by hash; 0: empty */
    size_t room;
};

static size_t view_hash(const struct lx_core_view *v)
{
    uint64_t h = hash_words(HASH_START, &v->cores, sizeof v->cores);
    for (int i = 0; i < v->rank; i++) {
        int64_t stride = v->slices[i] > 1 ? v->stride[i] : 0;
        h = hash_words(h, &v->slices[i], sizeof *v->slices);
        h = hash_words(h, &stride, sizeof stride);
    }
    return (size_t)(h ^ h >> 29);
}

static int32_t view_label(struct view_table *t, const struct lx_core_view *v)
{
    size_t h = view_hash(v) & (t->room - 1);
    for (; t->at[h]; h = (h + 1) & (t->room - 1))
        if (views_equal(t->views[t->at[h] - 1], v)) return t->at[h] - 1;
    t->views[t->count] = v;
    return (t->at[h] = ++t->count) - 1;
}

/* Interns the views in which the choices of each menu may hold an operand on chip. */
static void chain_labels_make(struct making *k)
{
    const struct draft *x = k->x;
    struct view_table t = {.room = 16};
    size_t cells = 0;
    for (int32_t i = 0; i < k->menus->count; i++)
        cells += (size_t)k->menus->at[i].count * (size_t)k->menus->at[i].operand_count;
    while (t.room < 2 * cells) t.room *= 2;
    t.at = mem_zeroed(t.room, sizeof *t.at);
    t.views = arena_array(k->m->memory, cells, sizeof *t.views);
    k->of_menu = arena_array(k->m->memory, (size_t)k->menus->count, sizeof *k->of_menu);
    for (int32_t i = 0; i < k->menus->count; i++) {
        const struct op_menu *m = &k->menus->at[i];
        const struct lx_op *op = &x->graph->ops[m->op];
        k->of_menu[i] =
            arena_array(k->m->memory, (size_t)m->count * (size_t)m->operand_count, sizeof **k->of_menu);
        for (int32_t at = 0; at < m->count * m->operand_count; at++) {
            const struct lx_layout *y = &x->layouts->layouts[op_operand(op, at / m->count)];
            bool holds =
                !(op->kind->traits & LX_EXTERN) && view_holds(y, &m->view[at], !x->how.passes.no_ring);
            k->of_menu[i][at] = holds ? view_label(&t, &m->view[at]) : -1;
        }
    }
    k->view = t.views;
    k->view_count = t.count;
    mem_free(t.at);
}

static const struct op_menu *menu_of(const struct making *k, int32_t op)
{
    return &k->menus->at[k->menus->of_op[op]];
}

static const int32_t *labels_of(const struct making *k, int32_t access)
{
    int32_t op = k->x->access_op[access], menu = k->menus->of_op[op];
    return &k->of_menu[menu][(int64_t)(access - k->x->access_at[op]) * k->menus->at[menu].count];
}

/* True if the tensor is off chip in every plan, or loses nothing by being off chip. */
static bool always_off(const struct making *k, int32_t t)
{
    const struct draft *x = k->x;
    int32_t from = x->tensor_at[t], to = x->tensor_at[t + 1];
    const char *text;
    if (from == to || exclusion_of_tensor(x->layouts, &x->how.passes, t, &text)) return true;
    int32_t first = x->access_op[x->tensor_access[from]], last = x->access_op[x->tensor_access[to - 1]];
    if (x->how.passes.no_dump && k->run_of[first] != k->run_of[last]) return true;
    const struct lx_access *only = &x->accesses[x->tensor_access[from]];
    if (to - from == 1 && (!only->writes || lx_role_leaves(x->graph->tensors[t].role))) return true;
    for (int32_t i = from; i < to; i++) {
        const int32_t *label = labels_of(k, x->tensor_access[i]);
        const struct op_menu *menu = menu_of(k, x->access_op[x->tensor_access[i]]);
        for (int32_t c = 0; c < menu->count; c++)
            if (label[c] >= 0 && view_part_bytes(x->layouts, t, k->view[label[c]]) <= x->problem.capacity)
                return false;
    }
    return true;
}

/* The tensor's own number for a label; assigns a new one if it has none. */
static int32_t number_label(struct making *k, struct chain_tensor *t, int32_t chain, int32_t label)
{
    struct chain_model *m = k->m;
    if (label < 0 || k->seen[label] == chain + 1) return label < 0 ? -1 : k->local[label];
    int64_t size = view_part_bytes(k->x->layouts, t->tensor, k->view[label]);
    bool fits = size <= m->room.capacity;
    k->seen[label] = chain + 1;
    k->local[label] = -1;
    if (k->m->coarse && fits && t->label_count > 0) {
        t->size[0] = min_i64(t->size[0], size);
        k->local[label] = 0;
        /* without ring, labels too large to fit must agree too */
    } else if (fits || (!m->ring && !k->m->coarse)) {
        t->label[t->label_count] = label;
        t->size[t->label_count] = size;
        k->local[label] = t->label_count++;
    }
    return k->local[label];
}

static void label_tensor(struct making *k, int32_t chain)
{
    const struct draft *x = k->x;
    struct chain_tensor *t = &k->m->tensors[chain];
    size_t most = 0;
    for (int32_t i = x->tensor_at[t->tensor]; i < x->tensor_at[t->tensor + 1]; i++)
        most += (size_t)menu_of(k, x->access_op[x->tensor_access[i]])->count;
    size_t labels = most < (size_t)k->view_count ? most : (size_t)k->view_count;
    t->label = arena_array(k->m->memory, labels, sizeof *t->label);
    t->size = arena_array(k->m->memory, labels, sizeof *t->size);
    k->locals[chain] = arena_array(k->m->memory, most, sizeof **k->locals);
    int32_t *out = k->locals[chain];
    for (int32_t i = x->tensor_at[t->tensor]; i < x->tensor_at[t->tensor + 1]; i++) {
        const int32_t *label = labels_of(k, x->tensor_access[i]);
        const struct op_menu *menu = menu_of(k, x->access_op[x->tensor_access[i]]);
        for (int32_t c = 0; c < menu->count; c++) *out++ = number_label(k, t, chain, label[c]);
    }
}

static void make_tensors(struct making *k)
{
    const struct draft *x = k->x;
    struct chain_model *m = k->m;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) {
        k->chain_of[t] = -1;
        if (always_off(k, t)) {
            for (int32_t i = x->tensor_at[t]; i < x->tensor_at[t + 1]; i++)
                m->constant += x->accesses[x->tensor_access[i]].bytes;
            continue;
        }
        m->tensors[m->tensor_count] =
            (struct chain_tensor){.tensor = t,
                                  .whole = tensor_bytes(x->layouts, t),
                                  .leaves = lx_role_leaves(x->graph->tensors[t].role)};
        k->chain_of[t] = m->tensor_count;
        struct chain_tensor *made = &m->tensors[m->tensor_count];
        label_tensor(k, m->tensor_count++);
        made->strict = m->ring && !m->evict && made->label_count > 1;
    }
}

/* Collects the touches of op `o`; label[i] gets the labels of access i, touch[i] its touch. */
static void gather_touches(struct making *k, int32_t o, struct chain_op *op, const int32_t **label,
                           int *touch)
{
    const struct draft *x = k->x;
    int n = x->access_at[o + 1] - x->access_at[o];
    op->touch = arena_array(k->m->memory, (size_t)n, sizeof *op->touch);
    for (int i = 0; i < n; i++) {
        const struct lx_access *a = &x->accesses[x->access_at[o] + i];
        int32_t chain = k->chain_of[a->tensor], t = 0;
        touch[i] = -1;
        if (chain < 0) continue;
        while (t < op->touch_count && op->touch[t].tensor != chain) t++;
        touch[i] = t;
        if (t == op->touch_count) op->touch[op->touch_count++].tensor = chain;
        op->touch[t].access_count++;
        label[i] = k->locals[chain];
        k->locals[chain] += menu_of(k, o)->count;
    }
}

static int64_t choice_time(const struct op_menu *menu, int32_t c)
{
    int64_t memory = 0;
    for (int i = 0; i < menu->operand_count; i++) memory += menu->memory[(int64_t)i * menu->count + c];
    return max_i64(memory, menu->compute[c]) + menu->extra[c];
}

static void fill_touch(struct making *k, int32_t o, struct chain_op *op, int which,
                       const int32_t *const *label, const int *touch)
{
    const struct draft *x = k->x;
    struct chain_touch *t = &op->touch[which];
    int n = x->access_at[o + 1] - x->access_at[o];
    t->access = arena_array(k->m->memory, (size_t)t->access_count, sizeof *t->access);
    t->label =
        arena_array(k->m->memory, (size_t)op->choice_count * (size_t)t->access_count, sizeof *t->label);
    size_t states = (size_t)chain_states(&k->m->tensors[t->tensor]);
    t->value = arena_array(k->m->memory, states, sizeof *t->value);
    t->reached = arena_array(k->m->memory, states, sizeof *t->reached);
    for (int i = 0, a = 0; i < n; i++) {
        if (touch[i] != which) continue;
        const struct lx_access *from = &x->accesses[x->access_at[o] + i];
        t->access[a] = (struct chain_access){from->reads, from->writes, from->bytes};
        for (int32_t c = 0; c < op->choice_count; c++)
            t->label[c * t->access_count + a] = label[i][op->origin[c]];
        a++;
    }
}

static void find_parents(struct making *k, int32_t o, struct chain_op *op)
{
    const struct lx_op *from = &k->x->graph->ops[o];
    op->child = -1;
    if (k->x->how.passes.no_in_place) return;
    for (int32_t t = 0; t < op->touch_count; t++) {
        int32_t tensor = k->m->tensors[op->touch[t].tensor].tensor;
        if (tensor == from->output)
            op->child = t;
        else if (t < 64 && op_operand_made(from, tensor) < 0 && runs_in_place_of(k->x->layouts, from, tensor))
            op->parents |= (uint64_t)1 << t;
    }
    if (op->child >= 0) op->touch[op->child].may_share = op->parents != 0;
}

struct rooms {
    int64_t size[ROOM_TOUCHES]; /* least bytes on chip; 0: off chip anyway */
    int32_t view[ROOM_TOUCHES]; /* label of its only access; -1: several */
    unsigned all;               /* bits: touches that can be on chip */
};

static struct rooms chain_room_measure(const struct chain_model *m, const struct chain_op *op, int32_t choice)
{
    struct rooms r = {.all = 0};
    for (int32_t t = 0; t < op->touch_count; t++) {
        const struct chain_touch *touch = &op->touch[t];
        const struct chain_tensor *tensor = &m->tensors[touch->tensor];
        r.view[t] = -1;
        for (int32_t a = 0; a < touch->access_count; a++) {
            int32_t label = touch->label[choice * touch->access_count + a];
            if (label < 0 || tensor->size[label] > m->room.capacity) continue;
            r.size[t] = r.all >> t & 1 ? min_i64(r.size[t], tensor->size[label]) : tensor->size[label];
            if (touch->access_count == 1 && !m->coarse) r.view[t] = tensor->label[label];
            r.all |= 1u << t;
        }
    }
    return r;
}

static bool chain_room_fits(const struct chain_model *m, const struct chain_op *op, const struct rooms *r,
                            unsigned on)
{
    int64_t sum = 0, shared = 0;
    for (int32_t t = 0; t < op->touch_count; t++)
        if (on >> t & 1) sum += r->size[t];
    for (int32_t t = 0; op->child >= 0 && (on >> op->child & 1) && t < op->touch_count; t++)
        if ((on >> t & 1) && (op->parents >> t & 1) && (r->view[t] < 0 || r->view[t] == r->view[op->child]))
            shared = r->size[op->child];
    return sum - shared <= m->room.capacity;
}

/* Writes the maximal sets of touches that fit to `sets`; returns their number. */
static int largest_sets(const struct chain_model *m, const struct chain_op *op, const struct rooms *r,
                        unsigned *sets)
{
    int count = 0;
    for (unsigned on = r->all;; on = (on - 1) & r->all) { /* a set comes before its subsets */
        bool inside = false;
        for (int i = 0; i < count && !inside; i++) inside = (on & sets[i]) == on;
        if (!inside && chain_room_fits(m, op, r, on)) sets[count++] = on;
        if (on == 0) return count;
    }
}

/* Replaces a choice whose operands do not fit together by one choice per maximal set that fits; operands
 * outside the set are forced off chip. Prices alone would put each operand half on chip. */
static void chain_split_choices(struct chain_model *m, struct chain_op *op)
{
    unsigned sets[1 << ROOM_TOUCHES];
    int32_t *label[ROOM_TOUCHES], *origin, count = 0;
    if (op->touch_count > ROOM_TOUCHES) return;
    for (int32_t c = 0; c < op->choice_count; c++) {
        struct rooms r = chain_room_measure(m, op, c);
        count += largest_sets(m, op, &r, sets);
    }
    if (count == op->choice_count) return;
    origin = arena_array(m->memory, (size_t)count, sizeof *origin);
    for (int32_t t = 0; t < op->touch_count; t++)
        label[t] = arena_array(m->memory, (size_t)count * (size_t)op->touch[t].access_count, sizeof **label);
    count = 0;
    for (int32_t c = 0; c < op->choice_count; c++) {
        struct rooms r = chain_room_measure(m, op, c);
        int sets_count = largest_sets(m, op, &r, sets);
        for (int i = 0; i < sets_count; i++, count++) {
            origin[count] = op->origin[c];
            for (int32_t t = 0; t < op->touch_count; t++)
                for (int32_t a = 0, n = op->touch[t].access_count; a < n; a++) {
                    int32_t old = op->touch[t].label[c * n + a];
                    bool off = old >= 0 && (r.all & ~sets[i]) >> t & 1;
                    label[t][count * n + a] = off ? chain_forced_off(old) : old;
                }
        }
    }
    for (int32_t t = 0; t < op->touch_count; t++) op->touch[t].label = label[t];
    op->origin = origin;
    op->choice_count = count;
}

static void make_op(struct making *k, int32_t o)
{
    struct chain_op *op = &k->m->ops[o];
    const int32_t *label[CHAIN_MOST_TOUCHES];
    int touch[CHAIN_MOST_TOUCHES], n = k->x->access_at[o + 1] - k->x->access_at[o];
    const struct op_menu *menu = menu_of(k, o);
    op->origin = arena_array(k->m->memory, (size_t)menu->count, sizeof *op->origin);
    gather_touches(k, o, op, label, touch);
    /* Of choices with equal labels the seed stays, else the fastest. */
    for (int32_t i = 0; i < menu->count; i++) {
        int32_t c = i == 0 ? menu->seed : i - (i <= menu->seed), m = 0;
        for (bool same = false; m < op->choice_count; m++) {
            same = true;
            for (int a = 0; a < n && same; a++) same = touch[a] < 0 || label[a][op->origin[m]] == label[a][c];
            if (same) break;
        }
        if (m == op->choice_count)
            op->origin[op->choice_count++] = c;
        else if (op->origin[m] != menu->seed && choice_time(menu, c) < choice_time(menu, op->origin[m]))
            op->origin[m] = c;
    }
    int64_t cells = 0;
    for (int32_t t = 0; t < op->touch_count; t++) {
        fill_touch(k, o, op, t, label, touch);
        struct chain_touch *before = k->latest[op->touch[t].tensor];
        op->touch[t].first = !before;
        op->touch[t].last = true;
        k->latest[op->touch[t].tensor] = &op->touch[t];
        if (!before) continue;
        before->next = &op->touch[t];
        before->next_op = o;
        before->last = false;
    }
    find_parents(k, o, op);
    chain_split_choices(k->m, op);
    op->time = arena_array(k->m->memory, (size_t)op->choice_count, sizeof *op->time);
    for (int32_t c = 0; c < op->choice_count; c++) op->time[c] = choice_time(menu, op->origin[c]);
    for (int32_t t = 0; t < op->touch_count; t++)
        cells += (int64_t)op->choice_count * chain_states(&k->m->tensors[op->touch[t].tensor]);
    k->m->largest = max_i64(k->m->largest, cells);
    k->m->cells += cells;
}

static void chain_model_reach(const struct chain_model *m)
{
    struct chain_step steps[CHAIN_MOST_STEPS];
    for (int32_t o = 0; o < m->op_count; o++) {
        slot_end_abandoned();
        for (int32_t k = 0; k < m->ops[o].touch_count; k++) {
            struct chain_touch *t = &m->ops[o].touch[k];
            int32_t states = chain_states(&m->tensors[t->tensor]);
            if (t->first) t->reached[0] = true;
            for (int32_t x = 0; t->next && x < states; x++)
                for (int32_t c = 0; t->reached[x] && c < m->ops[o].choice_count; c++) {
                    int n = chain_steps(m, t, c, x, steps);
                    for (int i = 0; i < n; i++) t->next->reached[steps[i].next] = true;
                }
        }
    }
}

void chain_model_make(struct chain_model *m, const struct draft *x, const struct op_menus *menus, bool coarse,
                      struct arena *memory)
{
    size_t ops = (size_t)x->graph->op_count, tensors = (size_t)x->graph->tensor_count;
    *m = (struct chain_model){.x = x,
                              .memory = memory,
                              .ring = !x->how.passes.no_ring,
                              .evict = x->how.passes.evict,
                              .coarse = coarse,
                              .op_count = x->graph->op_count};
    struct making k = {.m = m, .x = x, .menus = menus};
    chain_labels_make(&k);
    k.run_of = arena_array(memory, ops, sizeof *k.run_of);
    k.chain_of = arena_array(memory, tensors, sizeof *k.chain_of);
    k.local = arena_array(memory, (size_t)k.view_count, sizeof *k.local);
    k.seen = arena_array(memory, (size_t)k.view_count, sizeof *k.seen);
    k.locals = arena_array(memory, tensors, sizeof *k.locals);
    k.latest = arena_array(memory, tensors, sizeof *k.latest);
    m->ops = arena_array(memory, ops, sizeof *m->ops);
    m->tensors = arena_array(memory, tensors, sizeof *m->tensors);
    prices_make(&m->room, m->op_count, PRICE_BITS, x->problem.capacity, memory);
    for (size_t o = 1; o < ops; o++)
        k.run_of[o] =
            k.run_of[o - 1] +
            ((x->graph->ops[o].kind->traits | x->graph->ops[o - 1].kind->traits) & LX_WIPES ? 1 : 0);
    make_tensors(&k);
    for (int32_t o = 0; o < m->op_count; o++) {
        slot_end_abandoned();
        make_op(&k, o);
    }
    int32_t *from = arena_array(memory, tensors, sizeof *from),
            *to = arena_array(memory, tensors, sizeof *to);
    int32_t *slot = arena_array(memory, tensors, sizeof *slot);
    for (int32_t o = 0; o < m->op_count; o++)
        for (int32_t t = 0; t < m->ops[o].touch_count; t++) {
            struct chain_touch *touch = &m->ops[o].touch[t];
            touch->ends_run = touch->next && k.run_of[o] != k.run_of[touch->next_op];
            if (touch->first) from[touch->tensor] = o;
            to[touch->tensor] = o + 1;
        }
    m->slot_count = beam_slots(from, to, m->tensor_count, slot);
    for (int32_t t = 0; t < m->tensor_count; t++) m->tensors[t].slot = slot[t];
    chain_model_reach(m);
}
