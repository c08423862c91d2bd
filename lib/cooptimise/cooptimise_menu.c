/* Menus shared between ops of one shape, and labels: interned pairs of a layout and a view. A graph of
 * thousands of ops has some tens of shapes. */
#include "cooptimise/cooptimise_menu.h"
#include "cost/op.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"

struct label_key {
    int32_t layout; /* first tensor with this layout */
    struct lx_core_view view;
    int64_t size;
};

struct builder {
    const struct lx_divisions *d;
    struct arena *memory;
    int32_t *layout_of; /* per tensor: first tensor with the same layout */
    VEC(struct op_menu) menus;
    VEC(struct label_key) labels;
    int32_t *menu_table, *label_table, *layout_table; /* index + 1; 0: empty */
    size_t menu_room, label_room, layout_room;
};

static bool same_numbers(const int64_t *a, const int64_t *b, int count)
{
    if (!a || !b) return a == b;
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static bool same_shape(const struct builder *b, int32_t first, int32_t second)
{
    const struct lx_layouts *l = b->d->layouts;
    const struct lx_op *p = &l->graph->ops[first], *q = &l->graph->ops[second];
    const struct lx_division *x = &b->d->at[first], *y = &b->d->at[second];
    if (p->kind != q->kind || p->input_count != q->input_count ||
        op_operand_count(p) != op_operand_count(q) || l->stick_var[first] != l->stick_var[second])
        return false;
    if (!p->einsum != !q->einsum || (p->einsum && strcmp(p->einsum, q->einsum) != 0)) return false;
    if (x->kind != y->kind || x->split_count != y->split_count) return false;
    if (!p->hint_count != !q->hint_count || !op_params_equal(p->params, q->params) ||
        !lx_windows_equal(p, q) || !op_views_equal(p, q))
        return false;
    for (int i = 0; i < op_operand_count(p); i++) {
        int32_t s = op_operand(p, i), t = op_operand(q, i);
        if (b->layout_of[s] != b->layout_of[t]) return false;
        if (l->graph->tensors[s].bytes != l->graph->tensors[t].bytes) return false;
    }
    int rank = l->layouts[p->output].host_rank;
    if (!same_numbers(p->offset, q->offset, rank) || !same_numbers(p->stride, q->stride, rank)) return false;
    for (int i = 0; i < x->split_count; i++)
        if (x->splits[i].split != y->splits[i].split) return false;
    return true;
}

static uint64_t label_hash(int32_t layout, const struct lx_core_view *v)
{
    uint64_t h = hash_number(hash_number(HASH_START, layout), v->cores);
    for (int d = 0; d < v->rank; d++) h = hash_number(h, v->slices[d]);
    return h;
}

/* The label of a view of tensors with this layout; -1: it cannot be on chip. */
static int32_t intern(struct builder *b, int32_t layout, const struct lx_core_view *v, int64_t core_bytes)
{
    if (v->partial || !v->representable || b->d->layouts->layouts[layout].rank == 0) return -1;
    if (b->labels.count * 2 >= b->label_room) {
        size_t room = b->label_room ? b->label_room * 2 : 1024;
        int32_t *table = mem_zeroed(room, sizeof *table);
        for (size_t i = 0; i < b->labels.count; i++) {
            size_t at = (size_t)label_hash(b->labels.at[i].layout, &b->labels.at[i].view) & (room - 1);
            while (table[at]) at = (at + 1) & (room - 1);
            table[at] = (int32_t)i + 1;
        }
        mem_free(b->label_table);
        b->label_table = table;
        b->label_room = room;
    }
    size_t at = (size_t)label_hash(layout, v) & (b->label_room - 1);
    for (; b->label_table[at]; at = (at + 1) & (b->label_room - 1)) {
        const struct label_key *k = &b->labels.at[b->label_table[at] - 1];
        if (k->layout == layout && k->view.cores == v->cores && lx_core_views_match(&k->view, v)) break;
    }
    if (!b->label_table[at]) {
        (void)VEC_PUSH(&b->labels, (struct label_key){layout, *v, 0});
        b->label_table[at] = (int32_t)b->labels.count;
    }
    struct label_key *k = &b->labels.at[b->label_table[at] - 1];
    /* An op that reads only a part of a tensor holds less than its writer. */
    k->size = max_i64(k->size, core_bytes);
    return b->label_table[at] - 1;
}

static int64_t picoseconds(double us)
{
    double ps = us * 1e6;
    return ps < 0 ? 0 : ps > 0x1p55 ? (int64_t)1 << 55 : llround(ps);
}

/* Finds the only split of a division as variable and factor; false: none, several, or a reduction is
 * split. */
static bool single_split(const struct division_menu *m, const int64_t *splits, int *var, int64_t *factor)
{
    int n = 0;
    for (int i = 0; i < m->split_count; i++) {
        if (splits[i] == 1) continue;
        if (m->is_reduction[i]) return false;
        *var = i;
        *factor = splits[i];
        n++;
    }
    return n == 1;
}

static void fill_menu(struct builder *b, const struct division_menu *m, struct op_menu *out)
{
    const struct lx_op *op = &b->d->layouts->graph->ops[out->op];
    size_t n = (size_t)out->count, cells = n * (size_t)out->operand_count;
    int seed_var = -1, var = -1;
    int64_t seed_factor = 0, factor = 0;
    bool flips = m->split_count > 0 &&
                 single_split(m, &m->splits[(int64_t)out->seed * m->split_count], &seed_var, &seed_factor);
    out->splits = arena_array(b->memory, n * (size_t)m->split_count, sizeof *out->splits);
    out->flip = arena_array(b->memory, n, sizeof *out->flip);
    out->compute = arena_array(b->memory, n, sizeof *out->compute);
    out->extra = arena_array(b->memory, n, sizeof *out->extra);
    out->memory = arena_array(b->memory, cells, sizeof *out->memory);
    out->label = arena_array(b->memory, cells, sizeof *out->label);
    out->view = arena_array(b->memory, cells, sizeof *out->view);
    if (m->split_count > 0) memcpy(out->splits, m->splits, n * (size_t)m->split_count * sizeof *out->splits);
    for (int32_t c = 0; c < out->count; c++) {
        out->flip[c] = flips && single_split(m, &m->splits[(int64_t)c * m->split_count], &var, &factor) &&
                       factor == seed_factor && var != seed_var;
        out->compute[c] = picoseconds(fmax(m->parts[c].compute_us, m->parts[c].port_us));
        out->extra[c] = picoseconds(m->parts[c].extra_us);
        for (int i = 0; i < out->operand_count; i++) {
            int64_t from = (int64_t)c * out->operand_count + i, to = (int64_t)i * out->count + c;
            out->memory[to] = picoseconds(m->memory_us[from]);
            out->label[to] = -1;
            out->view[to] = m->operand_count > 0 ? m->views[from] : lx_division_view(b->d, out->op, i);
            if (m->operand_count > 0)
                out->label[to] =
                    intern(b, b->layout_of[op_operand(op, i)], &m->views[from], m->core_bytes[from]);
        }
    }
}

static bool add_menu(struct builder *b, int32_t o, lx_status *st)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct division_menu m;
    const struct lx_op *op = &b->d->layouts->graph->ops[o];
    bool ok = true;
    division_menu_make(b->d, o, false, &scratch, &m);
    int32_t seed = 0;
    for (bool same = m.operand_count == 0; !same && seed < m.count; seed += !same) {
        same = true;
        for (int i = 0; i < m.split_count && same; i++)
            same = m.splits[(int64_t)seed * m.split_count + i] == b->d->at[o].splits[i].split;
    }
    if (seed == m.count)
        ok = status_set(st, LX_E_INTERNAL, "op %s: its division is not among the legal ones", op->name);
    if (ok) {
        struct op_menu menu = {.op = o,
                               .operand_count = op_operand_count(op),
                               .split_count = m.split_count,
                               .count = m.count,
                               .seed = seed};
        fill_menu(b, &m, &menu);
        (void)VEC_PUSH(&b->menus, menu);
    }
    return ok;
}

static bool find_menus(struct builder *b, int32_t *of_op, lx_status *st)
{
    const struct lx_graph *g = b->d->layouts->graph;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &b->d->layouts->graph->ops[o];
        uint64_t h = hash_bytes(HASH_START, op->kind->name, strlen(op->kind->name));
        if (op->einsum) h = hash_bytes(h, op->einsum, strlen(op->einsum));
        for (int i = 0; i < op_operand_count(op); i++) h = hash_number(h, b->layout_of[op_operand(op, i)]);
        for (int d = 0; op->offset && d < b->d->layouts->layouts[op->output].host_rank; d++)
            h = hash_number(h, op->offset[d]);
        size_t at = (size_t)h & (b->menu_room - 1);
        while (b->menu_table[at] && !same_shape(b, b->menus.at[b->menu_table[at] - 1].op, o))
            at = (at + 1) & (b->menu_room - 1);
        if (!b->menu_table[at]) {
            if (cancel_requested()) return status_cancelled(st);
            if (!add_menu(b, o, st)) return false;
            b->menu_table[at] = (int32_t)b->menus.count;
        }
        of_op[o] = b->menu_table[at] - 1;
    }
    return true;
}

static size_t cooptimise_menu_room_for(int32_t count)
{
    size_t room = 16;
    while (room < 2 * (size_t)count) room *= 2;
    return room;
}

bool op_menus_make(const struct lx_divisions *d, struct arena *memory, struct op_menus *out, lx_status *st)
{
    const struct lx_graph *g = d->layouts->graph;
    struct builder b = {.d = d, .memory = memory};
    b.menu_room = cooptimise_menu_room_for(g->op_count);
    b.layout_room = cooptimise_menu_room_for(g->tensor_count);
    b.menu_table = mem_zeroed(b.menu_room, sizeof *b.menu_table);
    b.layout_table = mem_zeroed(b.layout_room, sizeof *b.layout_table);
    b.layout_of = mem_zeroed((size_t)g->tensor_count + 1, sizeof *b.layout_of);
    out->of_op = arena_array(memory, (size_t)g->op_count, sizeof *out->of_op);
    const struct lx_layouts *l = b.d->layouts;
    for (int32_t t = 0; t < l->graph->tensor_count; t++) {
        uint64_t h = hash_number(HASH_START, l->layouts[t].rank);
        for (int i = 0; i < l->layouts[t].rank; i++) h = hash_number(h, l->layouts[t].size[i]);
        for (int i = 0; i < l->layouts[t].host_rank; i++) h = hash_number(h, l->layouts[t].host_shape[i]);
        size_t at = (size_t)h & (b.layout_room - 1);
        for (; b.layout_table[at]; at = (at + 1) & (b.layout_room - 1)) {
            const struct lx_layout *x = &l->layouts[b.layout_table[at] - 1], *y = &l->layouts[t];
            if (x->host_rank == y->host_rank && lx_layout_equal(x, y) &&
                memcmp(x->host_shape, y->host_shape, (size_t)x->host_rank * sizeof *x->host_shape) == 0)
                break;
        }
        if (!b.layout_table[at]) b.layout_table[at] = t + 1;
        b.layout_of[t] = b.layout_table[at] - 1;
    }
    bool ok = find_menus(&b, out->of_op, st);
    if (ok) {
        out->count = (int32_t)b.menus.count;
        out->label_count = (int32_t)b.labels.count;
        out->at = arena_copy_array(memory, b.menus.at, b.menus.count, sizeof *out->at);
        out->label_size = arena_array(memory, b.labels.count, sizeof *out->label_size);
        for (int32_t i = 0; i < out->label_count; i++) out->label_size[i] = b.labels.at[i].size;
    }
    VEC_FREE(&b.menus);
    VEC_FREE(&b.labels);
    mem_free(b.menu_table);
    mem_free(b.label_table);
    mem_free(b.layout_table);
    mem_free(b.layout_of);
    return ok;
}
