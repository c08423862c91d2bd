/* Runs of ops: parts of tensors, labels of their views, and what is on chip besides. */
#include "nests/nest_body.h"
#include "base/checked.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

static const struct lx_nest *nest_at(const struct draft *x, int32_t access)
{
    return x->held && x->held[access].nest >= 0 ? &x->how.nests[x->held[access].nest] : NULL;
}

static int32_t nest_body_last_of(const struct body *b)
{
    return b->first + b->op_count - 1;
}

/* The accesses of a tensor next to the run, or -1. */
static void nest_body_neighbours(const struct body *b, int32_t tensor, int32_t *before, int32_t *behind)
{
    const struct draft *x = b->x;
    *before = *behind = -1;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++) {
        int32_t op = x->access_op[x->tensor_access[k]];
        if (op < b->first) *before = x->tensor_access[k];
        if (op > nest_body_last_of(b) && *behind < 0) *behind = x->tensor_access[k];
    }
}

static bool cut_between(const struct draft *x, int32_t tensor, int32_t one, int32_t two)
{
    for (int32_t i = 0; i < x->how.cut_count; i++)
        if (x->how.cuts[i].tensor == tensor && x->how.cuts[i].before > x->access_op[one] &&
            x->how.cuts[i].before <= x->access_op[two])
            return true;
    return x->bundle_of[x->access_op[one]] != x->bundle_of[x->access_op[two]];
}

static bool nest_body_is_extern(const struct draft *x, int32_t access)
{
    return x->graph->ops[x->access_op[access]].kind->traits & LX_EXTERN;
}

/* May one stay serve both, of which one comes after the other? */
static bool nest_body_joins(const struct draft *x, int32_t one, int32_t two)
{
    return one >= 0 && two >= 0 && !nest_body_is_extern(x, one) && !nest_body_is_extern(x, two) &&
           held_together(x, one, two) && !cut_between(x, x->accesses[one].tensor, one, two);
}

static int label_outside(const struct body *b, const struct body_part *t, int32_t access, int64_t *bytes)
{
    struct lx_core_view v = held_view(b->x, access);
    *bytes = view_part_bytes(b->x->layouts, t->tensor, &v);
    /* The number of a view; -1: no buffer has it. */
    if (!view_holds(&b->x->layouts->layouts[t->tensor], &v, !b->x->how.passes.no_ring)) return -1;
    return nest_view_number(b->views, t->tensor, &v);
}

static int64_t nest_body_store_bytes(const struct draft *x, int32_t access)
{
    const struct lx_nest *n = nest_at(x, access);
    int64_t whole = tensor_bytes(x->layouts, x->accesses[access].tensor);
    return n ? whole *
                   (2 * nest_product(n, levels_to(x->held[access].level) & x->held[access].tensor.summed) - 1)
             : whole;
}

/* Would it save anything? As stay_prices.c has it, whatever its views are. */
static bool nest_body_is_wanted(const struct draft *x, struct body_part *t, int32_t from, int32_t to)
{
    int64_t off = 0, on = 0;
    int32_t first = x->tensor_access[from], end = x->tensor_at[t->tensor + 1];
    bool written = false;
    for (int32_t k = from; k <= to; k++) {
        int32_t access = x->tensor_access[k];
        off += x->accesses[access].bytes;
        if (x->accesses[access].writes) {
            written = true;
            bool needed = lx_role_leaves(x->graph->tensors[t->tensor].role) || to + 1 < end;
            if (needed || nest_body_store_bytes(x, access) > tensor_bytes(x->layouts, t->tensor))
                on += nest_body_store_bytes(x, access);
        }
    }
    if (t->before < 0 && x->accesses[first].reads) {
        const struct lx_nest *n = nest_at(x, first);
        int64_t whole = tensor_bytes(x->layouts, x->accesses[first].tensor);
        on += n ? whole * nest_product(n, levels_to(x->held[first].level) & ~x->held[first].tensor.indexed)
                : whole;
    }
    t->saved = off - on;
    return on < off || (t->behind >= 0 && written);
}

/* A part that begins with `access`, number `k` of its tensor. */
static void begin_part(struct body *b, int32_t access, int32_t k)
{
    const struct draft *x = b->x;
    struct body_part *t = &b->parts[b->part_count++];
    const struct lx_nest *n = nest_at(x, access);
    int32_t before, behind, to = k, first, last;
    int64_t unused;
    *t = (struct body_part){.tensor = x->accesses[access].tensor, .before = -1, .behind = -1};
    t->fills = n ? nest_product(n, levels_to(x->held[access].level)) : 1;
    t->stuck = x->how.passes.no_ring || (x->accesses[access].writes && held_covers(x, access, &first, &last));
    nest_body_neighbours(b, t->tensor, &before, &behind);
    if (k == x->tensor_at[t->tensor] || x->tensor_access[k - 1] == before)
        t->before = nest_body_joins(x, before, access) ? label_outside(b, t, before, &t->before_bytes) : -1;
    while (to + 1 < x->tensor_at[t->tensor + 1] &&
           x->access_op[x->tensor_access[to + 1]] <= nest_body_last_of(b) &&
           nest_body_joins(x, x->tensor_access[to], x->tensor_access[to + 1]))
        to++;
    if (to + 1 < x->tensor_at[t->tensor + 1] && x->tensor_access[to + 1] == behind &&
        nest_body_joins(x, x->tensor_access[to], behind))
        t->behind = label_outside(b, t, behind, &unused);
    int32_t stay = x->accesses[access].stay;
    enum lx_bar bar = stay < 0 ? LX_BAR_NONE : x->stays[stay].bar;
    t->wanted = (bar != LX_BAR_BOUNDARY && bar != LX_BAR_STATED && bar != LX_BAR_STAGE &&
                 bar != LX_BAR_EXTERN && bar != LX_BAR_PARTIAL) &&
                !nest_body_is_extern(x, access) && nest_body_is_wanted(x, t, k, to);
}

/* The part of an access: that of the one before, or a new one. */
static int32_t nest_body_part_of(struct body *b, int32_t access, int32_t *previous)
{
    const struct draft *x = b->x;
    int32_t tensor = x->accesses[access].tensor, k = x->tensor_at[tensor];
    *previous = -1;
    int32_t i = b->last_part[tensor] - 1;
    if (i >= 0) {
        int32_t one = b->parts[i].last_access;
        int32_t before =
            x->access_at[b->first + b->accesses[one].op] + (one - b->access_at[b->accesses[one].op]);
        if (nest_body_joins(x, before, access)) {
            *previous = one;
            return i;
        }
    }
    while (x->tensor_access[k] != access) k++;
    b->last_part[tensor] = b->part_count + 1;
    begin_part(b, access, k);
    return b->part_count - 1;
}

/* Labels and sizes of one access for each choice of its op. */
static void label_access(struct body *b, int32_t o, int operand, struct nest_menus *menus,
                         struct arena *memory)
{
    const struct draft *x = b->x;
    int32_t at = b->access_count++, access = x->access_at[b->first + o] + operand, first, last;
    struct body_access *a = &b->accesses[at];
    *a = (struct body_access){.op = o, .from = o, .to = o, .gives_way = -1};
    a->of = nest_body_part_of(b, access, &a->previous);
    struct body_part *t = &b->parts[a->of];
    t->last_access = at;
    if (held_covers(x, access, &first, &last)) {
        a->from = (int32_t)max_i64(first - b->first, 0);
        a->to = (int32_t)min_i64(last - b->first, b->op_count - 1);
    }
    t->until = (int32_t)max_i64(t->until, t->behind >= 0 ? b->op_count - 1 : a->to);
    t->from = a->previous < 0 ? (t->before >= 0 ? 0 : a->from) : t->from;
    const struct menu_labels *y = nest_menu_labels(menus, &b->menus[o], x, access, memory);
    a->label = y->label;
    a->bytes = y->bytes;
    a->lost = x->accesses[access].bytes / x->divisions->cores;
    t->least = max_i64(t->least, y->least);
}

/* Is this the last access of the tensor that its iteration makes? */
static bool nest_body_ends_with(const struct body *b, int32_t tensor, int32_t op)
{
    const struct draft *x = b->x;
    int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, op), k = x->tensor_at[tensor + 1] - 1;
    while (nest >= 0 && k > x->tensor_at[tensor] &&
           x->access_op[x->tensor_access[k]] > x->how.nests[nest].last)
        k--;
    return x->access_op[x->tensor_access[k]] == op;
}

/* An input that ends with the op, so that the output may lie over it. */
static int way_of_output(const struct body *b, int32_t o)
{
    const struct draft *x = b->x;
    int32_t op = b->first + o;
    const struct lx_op *is = &x->graph->ops[op];
    const struct body_access *out = &b->accesses[b->access_at[o] + is->input_count];
    for (int i = 0; i < is->input_count && out->from == out->to; i++) {
        const struct body_access *in = &b->accesses[b->access_at[o] + i];
        if (in->from == in->to && op_operand_made(is, is->inputs[i]) < 0 &&
            nest_body_ends_with(b, is->inputs[i], op) && runs_in_place_of(x->layouts, is, is->inputs[i]))
            return i;
    }
    return -1;
}

/* What lies there without being of the run; more than half a scratchpad of it will not be there. */
static void load_beside(struct body *b)
{
    const struct draft *x = b->x;
    for (int32_t s = 0; s < x->problem.count && b->op_count < x->graph->op_count; s++) {
        const struct lx_buffer *y = &x->buffers[s];
        bool ours = x->stays[s].bar != LX_BAR_NONE || b->last_part[x->stays[s].tensor] > 0;
        if (ours || y->start > b->first || y->end <= nest_body_last_of(b)) continue;
        for (int32_t o = 0; o < b->op_count; o++) b->load[o] = min_i64(b->load[o] + y->size, b->capacity / 2);
    }
}

static void nest_body_fill_op(struct body *b, int32_t o, struct nest_menus *menus, struct arena *memory)
{
    const struct draft *x = b->x;
    int32_t op = b->first + o, nest = nest_of_op(x->how.nests, x->how.nest_count, op);
    nest_menu_of(menus, x->divisions, op, &b->menus[o]);
    if (b->menus[o].count == 0) {
        /* An op that is not up for choice: its one division. */
        struct nest_menu *out = &b->menus[o];
        int n = op_operand_count(&b->x->graph->ops[op]);
        struct lx_core_view *v = arena_array(memory, (size_t)n, sizeof *v);
        struct cost_parts *parts = arena_array(memory, 1, sizeof *parts);
        double *memory_us = arena_array(memory, (size_t)n, sizeof *memory_us);
        for (int i = 0; i < n; i++) v[i] = lx_division_view(b->x->divisions, op, i);
        *out = (struct nest_menu){
            .count = 1, .operand_count = n, .views = v, .parts = parts, .memory_us = memory_us};
    }
    b->times[o] = nest < 0 ? 1 : (double)nest_iterations(&x->how.nests[nest]);
    b->access_at[o] = b->access_count;
    for (int i = 0; i < op_operand_count(&x->graph->ops[op]); i++) label_access(b, o, i, menus, memory);
    b->access_at[o + 1] = b->access_count;
    b->accesses[b->access_count - 1].gives_way = way_of_output(b, o);
}

static bool is_there(const struct body_part *t, int32_t o)
{
    return t->wanted && t->from <= o && o <= t->until;
}

/* The op with most, of what parts take at least; -1: all of them fit. */
static int32_t nest_body_fullest(const struct body *b)
{
    int64_t most = b->capacity;
    int32_t at = -1;
    for (int32_t o = 0; o < b->op_count; o++) {
        int64_t load = b->load[o];
        for (int32_t i = 0; i < b->part_count; i++)
            if (is_there(&b->parts[i], o)) load += b->parts[i].least;
        if (load > most) most = load, at = o;
    }
    return at;
}

/* What cannot all be there is not waited for: who saves least for its size goes first. */
static void nest_body_give_up(struct body *b)
{
    for (int32_t o = nest_body_fullest(b); o >= 0; o = nest_body_fullest(b)) {
        struct body_part *worst = NULL;
        for (int32_t i = 0; i < b->part_count; i++) {
            struct body_part *t = &b->parts[i];
            if (!is_there(t, o) || t->least == 0) continue;
            if (!worst || (double)t->saved * (double)worst->least < (double)worst->saved * (double)t->least)
                worst = t;
        }
        if (!worst) return;
        worst->wanted = false;
    }
}

static double us_of(const struct body *b, int32_t o, int choice)
{
    const struct nest_menu *m = &b->menus[o];
    const struct cost_parts *p = &m->parts[choice];
    double memory = 0;
    for (int i = 0; i < m->operand_count && b->by_memory; i++)
        if (!b->parts[b->accesses[b->access_at[o] + i].of].wanted)
            memory += m->memory_us[choice * m->operand_count + i];
    return fmax(fmax(p->compute_us, p->port_us), memory) + p->extra_us + p->back_us;
}

void nest_body_make(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                    struct arena *memory, struct body *out)
{
    size_t ops = (size_t)(last - first + 1),
           accesses = (size_t)(x->access_at[last + 1] - x->access_at[first]);
    *out = (struct body){.x = x, .first = first, .op_count = (int32_t)ops, .capacity = x->problem.capacity};
    out->menus = arena_array(memory, ops, sizeof *out->menus);
    out->choices = arena_array(memory, ops, sizeof *out->choices);
    out->times = arena_array(memory, ops, sizeof *out->times);
    out->access_at = arena_array(memory, ops + 1, sizeof *out->access_at);
    out->accesses = arena_array(memory, accesses, sizeof *out->accesses);
    out->parts = arena_array(memory, accesses, sizeof *out->parts);
    out->load = arena_array(memory, ops, sizeof *out->load);
    out->last_part = arena_array(memory, (size_t)x->graph->tensor_count, sizeof *out->last_part);
    out->views = &menus->views;
    out->by_memory = menus->by_memory;
    for (int32_t o = 0; o < out->op_count; o++) nest_body_fill_op(out, o, menus, memory);
    load_beside(out);
    nest_body_give_up(out);
    /* Menus stand in nearly this order. */
    for (int32_t o = 0; o < out->op_count; o++) {
        struct body_choice *list = arena_array(memory, (size_t)out->menus[o].count, sizeof *list);
        for (int c = 0; c < out->menus[o].count; c++) {
            struct body_choice y = {c, us_of(out, o, c)};
            int at = c;
            for (; at > 0 && list[at - 1].us > y.us; at--) list[at] = list[at - 1];
            list[at] = y;
        }
        out->choices[o] = list;
    }
}
