/* Bounds that hold whatever the floating-point engine did: duals become integers, and the Lagrangian
 * value over the box is summed in 128 bits.
 *
 * For any duals u >= 0:  value - base >= sum u need + sum over columns of min over the box of (cost - u a) y.
 * The scale is the largest power of two, up to 2^40, at which no sum can overflow. */
#include "exact/model.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void certificate_new(struct certificate *c, const struct model *m)
{
    *c = (struct certificate){0};
    c->section = arena_array(&c->memory, (size_t)m->section_count + 1, sizeof *c->section);
    c->reduced = arena_array(&c->memory, (size_t)model_columns(m) + 1, sizeof *c->reduced);
    c->prefix = arena_array(&c->memory, (size_t)m->section_count + 1, sizeof *c->prefix);
}

void certificate_free(struct certificate *c)
{
    arena_free(&c->memory);
    mem_free(c->row);
}

/* The shift by which duals can be scaled: every dual below 2^61, every sum that certify forms, by an upper
 * estimate, below 2^120. */
static int certify_safe_shift(const struct model *m, const double *section_dual, const double *row_dual)
{
    double sizes = 1, duals = 0, rows = 0, largest = 1;
    double costs = 0;
    for (int32_t i = 0; i < m->item_count; i++) {
        sizes += (double)m->items[i].size;
        costs += fabs((double)m->items[i].cost);
    }
    for (int32_t k = 0; k < m->priced_count; k++) costs += (double)m->charges[k].cost;
    for (int32_t t = 0; t < m->section_count; t++) {
        duals += fabs(section_dual[t]);
        largest = fmax(largest, section_dual[t]);
    }
    for (int32_t k = 0; k < m->row_count; k++) {
        rows += fabs(row_dual[k]) * m->rows[k].weight;
        largest = fmax(largest, row_dual[k]);
    }
    int sum_bits, dual_bits;
    frexp(4 * (sizes * duals + rows + costs + 1), &sum_bits);
    frexp(largest, &dual_bits);
    int shift = 118 - sum_bits < 60 - dual_bits ? 118 - sum_bits : 60 - dual_bits;
    return shift < 0 ? 0 : shift > 40 ? 40 : shift;
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
        c->reduced[model_choices(m) + k] = c->scale * m->charges[k].cost;
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

bool model_holds(const struct model *m, const bool *column)
{
    int128 *load = mem_zeroed((size_t)m->section_count + 1, sizeof *load);
    for (int32_t i = 0; i < m->item_count; i++)
        if (column[i] && m->items[i].first <= m->items[i].last) {
            load[m->items[i].first] += m->items[i].size;
            load[m->items[i].last + 1] -= m->items[i].size;
        }
    for (int32_t e = 0; e < m->edge_count; e++)
        if (column[m->item_count + e] && m->edges[e].section >= 0) {
            load[m->edges[e].section] += m->items[m->edges[e].child].size;
            load[m->edges[e].section + 1] -= m->items[m->edges[e].child].size;
        }
    bool holds = true;
    int128 sum = 0;
    for (int32_t t = 0; holds && t < m->section_count; t++) holds = (sum += load[t]) >= m->need[t];
    mem_free(load);
    for (int32_t k = 0; holds && k < m->row_count; k++) {
        int64_t left = 0;
        for (int32_t e = 0; e < m->rows[k].count; e++)
            if (column[m->rows[k].terms[e].column]) left += m->rows[k].terms[e].coefficient;
        holds = left >= m->rows[k].need;
    }
    return holds;
}
