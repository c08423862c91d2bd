/* Columns and costs of the master programme. */
#include "exact/general/master.h"

/* --- Layouts. --- */

void layout_open(struct layout *l, int32_t blocks)
{
    size_t n = (size_t)blocks + 1;
    *l = (struct layout){mem_alloc(n * sizeof *l->pool), mem_alloc(n * sizeof *l->address), INT64_MAX, false};
    for (int32_t i = 0; i < blocks; i++) l->address[i] = l->pool[i] = -1;
}

void layout_close(struct layout *l)
{
    mem_free(l->pool);
    mem_free(l->address);
}

void layout_copy(struct layout *to, const struct layout *from, int32_t blocks)
{
    memcpy(to->pool, from->pool, (size_t)blocks * sizeof *to->pool);
    memcpy(to->address, from->address, (size_t)blocks * sizeof *to->address);
    to->cost = from->cost;
    to->known = from->known;
}

int32_t layout_members(const struct layout *l, int32_t blocks, int32_t pool, int32_t *members)
{
    int32_t n = 0;
    for (int32_t i = 0; i < blocks; i++)
        if (l->pool[i] == pool) members[n++] = i;
    return n;
}

void layout_take(const struct blocks *b, const struct budget *budget, const struct layout *from,
                 struct layout *best, int64_t bound)
{
    const struct lx_run *run = budget->run;
    size_t n = (size_t)b->p->count + 1;
    layout_copy(best, from, b->count);
    if (!run->progress) return;
    OWNED int64_t *address = mem_alloc(n * sizeof *address);
    OWNED int32_t *pool = mem_alloc(n * sizeof *pool);
    for (int32_t i = 0; i < b->p->count; i++) {
        pool[i] = best->pool[b->of[i]] < 0 ? 0 : best->pool[b->of[i]];
        address[i] = best->pool[b->of[i]] < 0 ? LX_OFF_CHIP : best->address[b->of[i]];
    }
    run->progress(run->context, &(struct lx_progress){budget->steps, best->cost, bound, address, pool, NULL});
}

static bool master_count_on(const struct blocks *b, const struct layout *l, const struct lx_group *g, bool on,
                            bool all)
{
    for (int32_t k = 0; k < g->count; k++)
        if ((l->pool[b->of[g->at[k]]] >= 0) == on) {
            if (!all) return true;
        } else if (all)
            return false;
    return all;
}

bool layout_triggers(const struct blocks *b, const struct layout *l, int32_t linked)
{
    const struct lx_linked_cost *c = &b->p->bonds.linked_costs[linked];
    if (!master_count_on(b, l, &c->all_on, true, true) || !master_count_on(b, l, &c->all_off, false, true))
        return false;
    if (!c->any_on.count && !c->any_off.count) return true;
    return master_count_on(b, l, &c->any_on, true, false) || master_count_on(b, l, &c->any_off, false, false);
}

int64_t layout_cost(const struct blocks *b, const struct layout *l)
{
    const struct lx_problem *p = b->p;
    int64_t cost = 0;
    if (p->objective != LX_SPILL) return 0;
    for (int32_t i = 0; i < p->count; i++)
        if (l->pool[b->of[i]] < 0) cost += p->buffers[i].spill_cost;
    for (int32_t i = 0; i < b->count; i++)
        if (l->pool[i] >= 0 && blocks_option(b, i, l->pool[i]) >= 0)
            cost += b->options[blocks_option(b, i, l->pool[i])].cost;
    for (int32_t k = 0; k < p->bonds.linked_cost_count; k++)
        if (p->bonds.linked_costs[k].cost > 0 && layout_triggers(b, l, k))
            cost += p->bonds.linked_costs[k].cost;
    for (int32_t k = 0; k < b->soft_count; k++) {
        const struct soft_pair *s = &b->softs[k];
        if (l->pool[s->a] >= 0 && l->pool[s->a] == l->pool[s->b] &&
            l->address[s->a] < l->address[s->b] + b->at[s->b].size &&
            l->address[s->b] < l->address[s->a] + b->at[s->a].size)
            cost += s->cost;
    }
    return cost;
}

/* --- Columns. --- */

static int32_t count_options(const struct blocks *b, bool several_only)
{
    int32_t n = 0;
    for (int32_t i = 0; i < b->count; i++)
        if (b->at[i].option_count > 1 || !several_only) n += b->at[i].option_count;
    return n;
}

static void master_add_columns(struct master *m, const int64_t *on, const int64_t *off)
{
    const struct blocks *b = m->b;
    const struct lx_bonds *s = &b->p->bonds;
    int64_t *cost = m->programme.cost, total = 0;
    int32_t columns = 0;
    for (int32_t v = 0; v < b->variable_count; v++) {
        bool free = b->fixed[v] < 0, dearer_off = off[v] >= on[v];
        bool cheaper = free ? dearer_off : b->fixed[v];
        m->variable[v] = (struct literal){free ? columns : -1, free ? !dearer_off : b->fixed[v]};
        m->constant += cheaper ? on[v] : off[v];
        if (free) cost[columns++] = dearer_off ? off[v] - on[v] : on[v] - off[v];
    }
    for (int32_t i = 0; i < b->count; i++) {
        const struct block *k = &b->at[i];
        for (int32_t o = k->first_option; o < k->first_option + k->option_count; o++) {
            m->in_pool[o] = k->option_count == 1 ? placed(m, i) : (struct literal){columns, true};
            if (k->option_count > 1) cost[columns++] = b->options[o].cost;
        }
    }
    m->first_linked = columns;
    for (int32_t k = 0; k < s->linked_cost_count; k++)
        cost[columns++] = b->p->objective == LX_SPILL ? max_i64(s->linked_costs[k].cost, 0) : 0;
    m->first_soft = columns;
    for (int32_t k = 0; k < b->soft_count; k++) cost[columns++] = b->softs[k].cost;
    m->programme.columns = columns;
    /* Without costs the first answer is optimal; then few columns should be one. */
    for (int32_t j = 0; j < columns; j++) total += cost[j];
    m->any = total == 0;
    for (int32_t j = 0; m->any && j < columns; j++) cost[j] = 1;
}

void master_open(struct master *m, const struct blocks *b, struct budget *budget, struct layout *best)
{
    *m = (struct master){.b = b, .best = best, .pack_nodes = 200000, .core_nodes = 2000};
    const struct lx_bonds *s = &b->p->bonds;
    size_t variables = (size_t)b->variable_count + 1, n = (size_t)b->count + 1;
    int64_t *on = arena_array(&m->memory, variables, sizeof *on);
    int64_t *off = arena_array(&m->memory, variables, sizeof *off);
    m->variable = arena_array(&m->memory, variables, sizeof *m->variable);
    m->in_pool = arena_array(&m->memory, (size_t)count_options(b, false) + 1, sizeof *m->in_pool);
    m->soft_apart = arena_array(&m->memory, (size_t)b->soft_count + 1, sizeof *m->soft_apart);
    m->members = arena_array(&m->memory, n, sizeof *m->members);
    m->graphs = arena_array(&m->memory, (size_t)b->pool_count, sizeof *m->graphs);
    layout_open(&m->now, b->count);
    programme_open(&m->programme,
                   b->variable_count + count_options(b, true) + s->linked_cost_count + b->soft_count, budget);
    /* Costs of a variable: when true (blocks with one option), when false. */
    for (int32_t v = 0; v < b->variable_count; v++) on[v] = 0, off[v] = b->off_cost[v];
    for (int32_t i = 0; i < b->count; i++)
        if (b->at[i].option_count == 1)
            *(b->at[i].on_if ? &on[b->at[i].variable] : &off[b->at[i].variable]) +=
                b->options[b->at[i].first_option].cost;
    master_add_columns(m, on, off);
    m->programme.visit = master_visit;
    m->programme.separate = master_separate;
    m->programme.context = m;
}

void master_close(struct master *m)
{
    for (int32_t k = 0; k < m->b->pool_count; k++) clique_graph_close(&m->graphs[k]);
    arena_free(&m->memory);
    VEC_FREE(&m->row);
    layout_close(&m->now);
    programme_close(&m->programme);
}

void master_solve(struct master *m)
{
    master_first_rows(m);
    m->programme.enough = m->any && m->best->known;
    m->programme.best = m->best->known && !m->any ? m->best->cost - m->constant : INT64_MAX;
    programme_sum_up(&m->programme);
    if (!m->b->soft_count && !m->any && master_solve_parts(m)) return;
    programme_solve(&m->programme);
}
