/* Makes the body of a run of ops, bounds its traffic, and prepares it for the beam. */
#include "nests/nest_body.h"
#include "cost/op.h"

static const struct lx_nest *nest_at(const struct draft *x, int32_t access)
{
    return x->held && x->held[access].nest >= 0 ? &x->how.nests[x->held[access].nest] : NULL;
}

static bool nest_body_is_extern(const struct draft *x, int32_t access)
{
    return x->graph->ops[x->access_op[access]].kind->traits & LX_EXTERN;
}

/* True if one stay may serve both accesses, the second after the first. */
static bool nest_body_joins(const struct draft *x, int32_t one, int32_t two)
{
    if (one < 0 || two < 0 || nest_body_is_extern(x, one) || nest_body_is_extern(x, two)) return false;
    int32_t first = x->access_op[one], second = x->access_op[two];
    bool joins = held_together(x, one, two) && x->bundle_of[first] == x->bundle_of[second];
    for (int32_t i = 0; joins && i < x->how.cut_count; i++)
        joins = x->how.cuts[i].tensor != x->accesses[one].tensor || x->how.cuts[i].before <= first ||
                x->how.cuts[i].before > second;
    return joins;
}

static int label_outside(const struct body *b, const struct body_part *t, int32_t access, int64_t *bytes)
{
    struct lx_core_view v = held_view(b->x, access);
    *bytes = view_part_bytes(b->x->layouts, t->tensor, &v);
    /* The number of a view; -1: no buffer can have it. */
    if (!view_holds(&b->x->layouts->layouts[t->tensor], &v, !b->x->how.passes.no_ring)) return -1;
    return nest_view_number(b->views, t->tensor, &v);
}

/* True if the part saves traffic on chip under any view; the costs are those of stay_prices.c. */
static bool nest_body_is_wanted(const struct draft *x, struct body_part *t, int32_t from, int32_t to)
{
    int64_t off = 0, on = 0, whole = tensor_bytes(x->layouts, t->tensor);
    int32_t first = x->tensor_access[from];
    bool written = false,
         needed = lx_role_leaves(x->graph->tensors[t->tensor].role) || to + 1 < x->tensor_at[t->tensor + 1];
    for (int32_t k = from; k <= to; k++) {
        int32_t access = x->tensor_access[k];
        const struct lx_nest *n = nest_at(x, access);
        int64_t parts =
            n ? nest_product(n, levels_to(x->held[access].level) & x->held[access].tensor.summed) : 1;
        off += x->accesses[access].bytes;
        if (x->accesses[access].writes && (needed || parts > 1)) on += whole * (2 * parts - 1);
        written |= x->accesses[access].writes;
    }
    if (t->before < 0 && x->accesses[first].reads) {
        const struct lx_nest *n = nest_at(x, first);
        on += n ? whole * nest_product(n, levels_to(x->held[first].level) & ~x->held[first].tensor.indexed)
                : whole;
    }
    t->saved = off - on;
    t->on = on;
    t->cheap = !x->accesses[first].writes && x->accesses[first].bytes < on;
    return on < off || (t->behind >= 0 && written);
}

/* Begins a part with `access`, number `k` of its tensor. */
static void begin_part(struct body *b, int32_t access, int32_t k)
{
    const struct draft *x = b->x;
    struct body_part *t = &b->parts[b->part_count++];
    const struct lx_nest *n = nest_at(x, access);
    int32_t before = -1, behind = -1, to = k, first, last;
    int64_t unused;
    *t = (struct body_part){.tensor = x->accesses[access].tensor, .before = -1, .behind = -1};
    t->fills = n ? nest_product(n, levels_to(x->held[access].level)) : 1;
    t->stuck = x->how.passes.no_ring || (x->accesses[access].writes && held_covers(x, access, &first, &last));
    for (int32_t i = x->tensor_at[t->tensor]; i < x->tensor_at[t->tensor + 1]; i++) {
        int32_t op = x->access_op[x->tensor_access[i]];
        if (op < b->first) before = x->tensor_access[i];
        if (op > b->last && behind < 0) behind = x->tensor_access[i];
    }
    if (k == x->tensor_at[t->tensor] || x->tensor_access[k - 1] == before)
        t->before = nest_body_joins(x, before, access) ? label_outside(b, t, before, &t->before_bytes) : -1;
    while (to + 1 < x->tensor_at[t->tensor + 1] && x->access_op[x->tensor_access[to + 1]] <= b->last &&
           nest_body_joins(x, x->tensor_access[to], x->tensor_access[to + 1]))
        to++;
    if (to + 1 < x->tensor_at[t->tensor + 1] && x->tensor_access[to + 1] == behind &&
        nest_body_joins(x, x->tensor_access[to], behind))
        t->behind = label_outside(b, t, behind, &unused);
    int32_t stay = x->accesses[access].stay;
    enum lx_exclusion exclusion = stay < 0 ? LX_EXCLUDED_NONE : x->stays[stay].exclusion;
    t->wanted = (exclusion != LX_EXCLUDED_BOUNDARY && exclusion != LX_EXCLUDED_STATED &&
                 exclusion != LX_EXCLUDED_STAGE && exclusion != LX_EXCLUDED_EXTERN &&
                 exclusion != LX_EXCLUDED_PARTIAL) &&
                !nest_body_is_extern(x, access) && nest_body_is_wanted(x, t, k, to);
}

/* The part of an access: the current part of its tensor if one stay can serve both, else a new one. */
static int32_t nest_body_part_of(struct body *b, int32_t access, int32_t *previous)
{
    const struct draft *x = b->x;
    int32_t tensor = x->accesses[access].tensor, k = x->tensor_at[tensor];
    int32_t i = b->last_part[tensor] - 1;
    *previous = i >= 0 ? b->parts[i].last_access : -1;
    if (i >= 0) {
        int32_t op = b->accesses[*previous].op,
                before = x->access_at[b->first + op] + *previous - b->access_at[op];
        if (nest_body_joins(x, before, access)) return i;
    }
    *previous = -1;
    while (x->tensor_access[k] != access) k++;
    b->last_part[tensor] = b->part_count + 1;
    begin_part(b, access, k);
    return b->part_count - 1;
}

/* Sets labels and sizes of one access for each choice of its op. */
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
    a->off = x->accesses[access].bytes;
    a->writes = x->accesses[access].writes;
    a->lost = a->off / x->divisions->cores;
    t->least = max_i64(t->least, y->least);
    t->smallest = a->previous < 0 ? y->least : min_i64(t->smallest, y->least);
}

static void nest_body_fill_op(struct body *b, int32_t o, struct nest_menus *menus, struct arena *memory)
{
    const struct draft *x = b->x;
    int32_t op = b->first + o, nest = nest_of_op(x->how.nests, x->how.nest_count, op);
    nest_menu_of(menus, x->divisions, op, &b->menus[o]);
    if (b->menus[o].count == 0) {
        /* An op without a menu keeps its one division. */
        int n = op_operand_count(&x->graph->ops[op]);
        struct lx_core_view *v = arena_array(memory, (size_t)n, sizeof *v);
        struct cost_parts *parts = arena_array(memory, 1, sizeof *parts);
        double *memory_us = arena_array(memory, (size_t)n, sizeof *memory_us);
        for (int i = 0; i < n; i++) v[i] = lx_division_view(b->x->divisions, op, i);
        b->menus[o] = (struct nest_menu){
            .count = 1, .operand_count = n, .views = v, .parts = parts, .memory_us = memory_us};
    }
    b->times[o] = nest < 0 ? 1 : (double)nest_iterations(&x->how.nests[nest]);
    b->access_at[o] = b->access_count;
    for (int i = 0; i < op_operand_count(&x->graph->ops[op]); i++) label_access(b, o, i, menus, memory);
    b->access_at[o + 1] = b->access_count;
    /* Finds an input that ends with the op, so the output may take its place. */
    const struct lx_op *is = &x->graph->ops[op];
    struct body_access *made = &b->accesses[b->access_count - 1],
                       *out = &b->accesses[b->access_at[o] + is->input_count];
    for (int i = 0; i < is->input_count && !made->over; i++)
        made->over = runs_in_place_of(x->layouts, is, is->inputs[i]);
    for (int i = 0; i < is->input_count && out->from == out->to && made->gives_way < 0; i++) {
        const struct body_access *in = &b->accesses[b->access_at[o] + i];
        int32_t k = x->tensor_at[is->inputs[i] + 1] - 1; /* last access in an iteration */
        while (nest >= 0 && k > x->tensor_at[is->inputs[i]] &&
               x->access_op[x->tensor_access[k]] > x->how.nests[nest].last)
            k--;
        if (in->from == in->to && op_operand_made(is, is->inputs[i]) < 0 &&
            x->access_op[x->tensor_access[k]] == op && runs_in_place_of(x->layouts, is, is->inputs[i]))
            made->gives_way = i;
    }
}

static bool is_there(const struct body_part *t, int32_t o)
{
    return t->wanted && t->from <= o && o <= t->until;
}

/* The op with the largest minimum load above the capacity; -1: all parts fit. */
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

int64_t nest_body_least(const struct body *b, struct arena *memory)
{
    struct lx_problem p = {.objective = LX_SPILL, .capacity = b->capacity, .alignment = 1};
    struct lx_buffer *pieces = arena_array(memory, (size_t)b->access_count, sizeof *pieces);
    int32_t *last = arena_array(memory, (size_t)b->part_count, sizeof *last); /* per part: 1 + its piece */
    int64_t sum = 0;
    for (int32_t i = 0; i < b->access_count; i++) {
        const struct body_access *a = &b->accesses[i];
        const struct body_part *t = &b->parts[a->of];
        bool first = a->previous < 0;
        sum += a->off;
        if (!t->wanted || t->saved <= 0) continue;
        if (first) sum -= t->saved;
        if (t->cheap) continue;
        int64_t lost = 0; /* bytes that are moved besides if the piece is off chip */
        if (first && a->writes) lost = max_i64(0, a->off - t->on);
        if (!first && !a->writes) lost = min_i64(a->off, tensor_bytes(b->x->layouts, t->tensor));
        int32_t from = first ? a->from + a->over : b->accesses[a->previous].to + 1;
        if (from <= a->to) {
            pieces[p.count] =
                (struct lx_buffer){.start = from, .end = a->to + 1, .size = t->smallest, .fixed = -1};
            last[a->of] = ++p.count;
        }
        if (last[a->of]) pieces[last[a->of] - 1].spill_cost += lost;
    }
    p.buffers = pieces;
    return sum + lx_bound(&p);
}

/* Sorts the choices of each op by time; menus are nearly in this order already. */
static void nest_body_rank(struct body *b, struct arena *memory)
{
    for (int32_t o = 0; o < b->op_count; o++) {
        const struct nest_menu *m = &b->menus[o];
        struct body_choice *list = arena_array(memory, (size_t)m->count, sizeof *list);
        for (int c = 0; c < m->count; c++) {
            const struct cost_parts *p = &m->parts[c];
            double memory_us = 0;
            for (int i = 0; i < m->operand_count && b->by_memory; i++)
                if (!b->parts[b->accesses[b->access_at[o] + i].of].wanted)
                    memory_us += m->memory_us[c * m->operand_count + i];
            struct body_choice y = {c, fmax(fmax(p->compute_us, p->port_us), memory_us) + p->extra_us +
                                           p->back_us};
            int at = c;
            for (; at > 0 && list[at - 1].us > y.us; at--) list[at] = list[at - 1];
            list[at] = y;
        }
        b->choices[o] = list;
    }
}

void nest_body_make(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                    struct arena *memory, struct body *out)
{
    size_t ops = (size_t)(last - first + 1),
           accesses = (size_t)(x->access_at[last + 1] - x->access_at[first]);
    *out = (struct body){
        .x = x, .first = first, .last = last, .op_count = (int32_t)ops, .capacity = x->problem.capacity};
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
    out->nearly_full = menus->by_memory ? out->capacity : out->capacity * 7 / 8;
    for (int32_t o = 0; o < out->op_count; o++) nest_body_fill_op(out, o, menus, memory);
    /* Load of other buffers, capped at half a scratchpad: beyond that not all of them will stay. */
    for (int32_t s = 0; s < x->problem.count && out->op_count < x->graph->op_count; s++) {
        const struct lx_buffer *y = &x->buffers[s];
        bool ours = x->stays[s].exclusion != LX_EXCLUDED_NONE || out->last_part[x->stays[s].tensor] > 0;
        if (ours || y->start > first || y->end <= last) continue;
        for (int32_t o = 0; o < out->op_count; o++)
            out->load[o] = min_i64(out->load[o] + y->size, out->capacity / 2);
    }
}

bool nest_body_drop(struct body *b, int32_t o)
{
    struct body_part *worst = NULL;
    for (int32_t i = 0; i < b->part_count; i++) {
        struct body_part *t = &b->parts[i];
        if (!is_there(t, o) || t->least == 0) continue;
        if (!worst || (double)t->saved * (double)worst->least < (double)worst->saved * (double)t->least)
            worst = t;
    }
    if (worst) worst->wanted = false;
    return worst;
}

void nest_body_settle(struct body *b, struct arena *memory)
{
    /* Drops parts that do not fit together; first the ones that save least for their size. */
    for (int32_t o = nest_body_fullest(b); o >= 0 && nest_body_drop(b, o);) o = nest_body_fullest(b);
    nest_body_rank(b, memory);
}
