/* The quickest of the legal divisions of an op, for people: the menu that co-optimisation chooses from,
 * weighed by where the operands are. */
#include "divide/priced_candidates.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

/* An op that writes an input or reads the output: how it sees that operand. Some of very many are enough. */
enum { MOST_NEIGHBOURS = 16 };
struct neighbours {
    int count, operand[MOST_NEIGHBOURS];
    struct lx_core_view view[MOST_NEIGHBOURS];
};

static void add_neighbour(const struct lx_divisions *d, int operand, int32_t other, int its,
                          struct neighbours *n)
{
    if (n->count == MOST_NEIGHBOURS || d->at[other].kind != LX_DIVIDED) return;
    n->operand[n->count] = operand;
    n->view[n->count++] = lx_division_view(d, other, its);
}

static void find_neighbours(const struct lx_divisions *d, int32_t op, struct neighbours *n)
{
    const struct lx_graph *g = d->layouts->graph;
    const struct lx_op *is = &g->ops[op];
    *n = (struct neighbours){0};
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *other = &g->ops[o];
        for (int i = 0; i < is->input_count && o != op; i++)
            if (op_operand_made(other, is->inputs[i]) >= 0)
                add_neighbour(d, i, o, op_operand_made(other, is->inputs[i]), n);
        for (int k = 0; k < other->input_count && o != op; k++)
            if (op_operand_made(is, other->inputs[k]) >= 0)
                add_neighbour(d, op_operand_made(is, other->inputs[k]), o, k, n);
    }
}

static int agreeing(const struct division_menu *m, int32_t c, const struct neighbours *n)
{
    int agree = 0;
    for (int i = 0; i < n->count; i++)
        agree += lx_core_views_match(&m->views[(int64_t)c * m->operand_count + n->operand[i]], &n->view[i]);
    return agree;
}

static struct lx_alternative alternative(const struct lx_division *d, const struct division_menu *m,
                                         int32_t c, const double *hbm_share)
{
    const struct cost_parts *p = &m->parts[c];
    const double *memory = &m->memory_us[(int64_t)c * m->operand_count];
    double sum = 0;
    for (int i = 0; i < m->operand_count; i++) sum += hbm_share[i] * memory[i];
    double back = hbm_share[m->output] > 0 ? 0 : p->back_us;
    struct lx_alternative a = {.device_us = fmax(fmax(p->compute_us, p->port_us), sum) + p->extra_us + back,
                               .cores_used = 1,
                               .present = true};
    for (int i = 0; i < m->split_count; i++) {
        a.splits[i] = m->splits[(int64_t)c * m->split_count + i];
        a.cores_used *= a.splits[i];
        a.present = a.present && a.splits[i] == d->splits[i].split;
    }
    return a;
}

/* The present one goes before others that are as quick. */
static bool alternatives_goes_before(const struct lx_alternative *a, const struct lx_alternative *b)
{
    if (a->device_us != b->device_us) return a->device_us < b->device_us;
    if (a->present != b->present) return a->present;
    if (a->agreeing != b->agreeing) return a->agreeing > b->agreeing;
    return a->cores_used > b->cores_used;
}

/* Into its place among the `count` so far; what falls out at the end is the slowest, but never the present
 * one. */
static int alternatives_insert(struct lx_alternative *out, int count, int most,
                               const struct lx_alternative *a)
{
    int at = count, last = count < most ? count : most - 1;
    while (at > 0 && alternatives_goes_before(a, &out[at - 1])) at--;
    bool keep = count == most && out[last].present;
    if (at >= last && (keep || (at == most && !a->present))) return count;
    if (at == most) at--;
    struct lx_alternative slowest = out[last];
    memmove(&out[at + 1], &out[at], (size_t)(last - at) * sizeof *out);
    out[at] = *a;
    if (keep) out[last] = slowest;
    return last + 1;
}

int lx_division_alternatives(const struct lx_divisions *d, int32_t op, const double *hbm_share,
                             struct lx_alternative *out, int most, int *neighbours)
{
    struct neighbours n;
    struct arena memory = {0};
    struct division_menu m;
    int count = 0;
    *neighbours = 0;
    if (d->at[op].kind != LX_DIVIDED || most < 1) return 0;
    division_menu_make(d, op, &memory, &m);
    find_neighbours(d, op, &n);
    *neighbours = n.count;
    for (int32_t c = 0; c < m.count; c++) {
        struct lx_alternative a = alternative(&d->at[op], &m, c, hbm_share);
        a.device_us *= (double)nest_runs(d->nests, d->nest_count, op);
        a.agreeing = agreeing(&m, c, &n);
        count = alternatives_insert(out, count, most, &a);
    }
    arena_free(&memory);
    return count;
}
