/* Bounds that hold despite floating point: duals are rounded to integers, and the Lagrangian value over the
 * box is summed in 128 bits.
 *
 * For any duals u >= 0:  value - base >= sum u need + sum over columns of min over the box of (cost - u a) y.
 * The scale is the largest power of two, up to 2^40, at which no sum can overflow. */
#include "exact/lp.h"
#include "exact/model.h"

static int certify_safe_shift(const struct model *m, const double *section_dual, const double *row_dual)
{
    double sizes = 1, duals = 0, rows = 0, largest = 1, costs = 0;
    for (int32_t i = 0; i < m->item_count; i++) {
        sizes += (double)m->items[i].size;
        costs += fabs((double)m->items[i].cost);
    }
    for (int32_t k = 0; k < m->priced_count; k++) costs += (double)m->linked_costs[k].cost;
    for (int32_t t = 0; t < m->section_count; t++) {
        duals += fabs(section_dual[t]);
        largest = fmax(largest, section_dual[t]);
    }
    for (int32_t k = 0; k < m->row_count; k++) {
        rows += fabs(row_dual[k]) * m->rows[k].weight;
        largest = fmax(largest, row_dual[k]);
    }
    int shift = lp_safe_shift(sizes * duals + rows + costs + 1, largest, 40);
    return shift < 0 ? 0 : shift;
}

static int64_t scaled_dual(double dual, double scale)
{
    double x = dual * scale;
    if (!(x > 0)) return 0;
    return x >= 0x1p61 ? INT64_C(1) << 61 : (int64_t)x;
}

void certify(struct certificate *c, const struct model *m, const double *section_dual, const double *row_dual,
             const bool *low, const bool *high)
{
    if (c->row_room < m->row_count) {
        c->row = mem_resize(c->row, (size_t)m->row_room * sizeof *c->row);
        c->row_room = m->row_room;
    }
    int shift = certify_safe_shift(m, section_dual, row_dual);
    double scale = ldexp(1, shift);
    c->scale = (int128)1 << shift;
    c->value = 0;
    c->prefix[0] = 0;
    for (int32_t t = 0; t < m->section_count; t++) {
        c->section[t] = scaled_dual(section_dual[t], scale);
        c->prefix[t + 1] = c->prefix[t] + c->section[t];
        c->value += (int128)c->section[t] * m->need[t];
    }
    for (int32_t i = 0; i < m->item_count; i++) {
        const struct model_item *it = &m->items[i];
        int128 over = it->first <= it->last ? c->prefix[it->last + 1] - c->prefix[it->first] : 0;
        c->reduced[i] = c->scale * it->cost - over * it->size;
    }
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t t = m->edges[e].section;
        c->reduced[m->item_count + e] = t < 0 ? 0 : -(int128)c->section[t] * m->items[m->edges[e].child].size;
    }
    for (int32_t k = 0; k < m->priced_count; k++)
        c->reduced[model_choices(m) + k] = c->scale * m->linked_costs[k].cost;
    for (int32_t k = 0; k < m->row_count; k++) {
        c->row[k] = scaled_dual(row_dual[k], scale);
        if (c->row[k] == 0) continue;
        c->value += (int128)c->row[k] * m->rows[k].need;
        for (int32_t e = 0; e < m->rows[k].count; e++)
            c->reduced[m->rows[k].terms[e].column] -= (int128)c->row[k] * m->rows[k].terms[e].coefficient;
    }
    for (int32_t j = 0; j < model_columns(m); j++)
        if (c->reduced[j] > 0 ? low[j] : high[j]) c->value += c->reduced[j];
}

int64_t certified_bound(const struct certificate *c, const struct model *m)
{
    int128 unit = c->scale * m->cost_step, limit = (m->total_cost - m->base) / m->cost_step + 1;
    int128 steps = c->value / unit + (c->value % unit > 0); /* rounded up, also below 0 */
    if (steps > limit) steps = limit;
    return max_i64(0, (int64_t)(m->base + steps * m->cost_step));
}

void model_loads(const struct model *m, const bool *column, int64_t *load)
{
    memset(load, 0, ((size_t)m->section_count + 1) * sizeof *load);
    for (int32_t j = 0; j < model_choices(m); j++) {
        bool item = j < m->item_count;
        int32_t first = item ? m->items[j].first : m->edges[j - m->item_count].section;
        int32_t last = item ? m->items[j].last : first;
        if (!column[j] || first < 0 || first > last) continue;
        int64_t size = m->items[item ? j : m->edges[j - m->item_count].child].size;
        load[first] += size;
        load[last + 1] -= size;
    }
    for (int32_t t = 1; t < m->section_count; t++) load[t] += load[t - 1];
}

bool model_holds(const struct model *m, const bool *column)
{
    OWNED int64_t *load = mem_alloc(((size_t)m->section_count + 1) * sizeof *load);
    bool holds = true;
    model_loads(m, column, load);
    for (int32_t t = 0; holds && t < m->section_count; t++) holds = load[t] >= m->need[t];
    for (int32_t k = 0; holds && k < m->row_count; k++) {
        int64_t left = 0;
        for (int32_t e = 0; e < m->rows[k].count; e++)
            if (column[m->rows[k].terms[e].column]) left += m->rows[k].terms[e].coefficient;
        holds = left >= m->rows[k].need;
    }
    return holds;
}
