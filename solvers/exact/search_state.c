/* The search's memory, and the steps that touch both the model and the linear programme. */
#include "exact/search.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void search_add_row(struct search *s, const struct model_term *terms, int32_t count, int64_t need)
{
    struct lp_entry *entries = mem_alloc(((size_t)count + 1) * sizeof *entries);
    model_add_row(s->m, terms, count, need);
    if (s->row_dual_room < s->m->row_room) {
        double *dual = mem_resize(s->row_dual, (size_t)s->m->row_room * sizeof *dual);
        s->row_dual = dual;
        double *scale = mem_resize(s->row_scale, (size_t)s->m->row_room * sizeof *scale);
        s->row_scale = scale;
        s->row_dual_room = s->m->row_room;
    }
    double smallest = INFINITY;
    for (int32_t e = 0; e < count; e++) smallest = fmin(smallest, search_size(s->m, terms[e].column));
    for (int32_t e = 0; e < count; e++)
        entries[e] = (struct lp_entry){terms[e].column,
                                       terms[e].coefficient * smallest / search_size(s->m, terms[e].column)};
    s->row_scale[s->m->row_count - 1] = smallest;
    lp_add_row(s->lp, entries, count, (double)need * smallest);
    mem_free(entries);
}

void search_offer(struct search *s, const int64_t *address)
{
    int64_t spill = model_value(s->m, address);
    if (spill >= s->best) return;
    LOG(exact, "better: %" PRId64 " instead of %" PRId64 " of this stretch", spill, s->best);
    s->best = spill;
    memcpy(s->address, address, (size_t)s->m->item_count * sizeof *address);
    budget_better(s->budget, s->m, address, spill);
}

void search_decide(struct search *s, int32_t j, bool low, bool high)
{
    double size = search_size(s->m, j);
    s->low[j] = low;
    s->high[j] = high;
    lp_set_bounds(s->lp, j, low ? size : 0, high ? size : 0);
}

static void search_new(struct search *s)
{
    struct arena memory = {0};
    const struct model *m = s->m;
    int32_t n = model_columns(m);
    size_t columns = (size_t)n + 1, sections = (size_t)m->section_count + 1;
    double *upper = arena_array(&memory, columns, sizeof *upper),
           *cost = arena_array(&memory, columns, sizeof *cost);
    double *need = arena_array(&memory, sections, sizeof *need);
    int32_t *first = arena_array(&memory, columns, sizeof *first),
            *last = arena_array(&memory, columns, sizeof *last);
    bool *flags = mem_zeroed(columns * 8, sizeof *flags);
    s->low = flags;
    for (int32_t j = 0; j < n; j++) {
        upper[j] = search_size(m, j);
        if (j < m->item_count) {
            cost[j] = (double)m->items[j].cost / upper[j];
            first[j] = m->items[j].first;
            last[j] = m->items[j].last;
        } else if (j >= model_choices(m)) {
            cost[j] = (double)m->charges[j - model_choices(m)].cost / upper[j];
            last[j] = -1;
        } else {
            first[j] = m->edges[j - m->item_count].section;
            last[j] = first[j] < 0 ? -1 : first[j];
            if (first[j] < 0) first[j] = 0;
        }
    }
    for (int32_t t = 0; t < m->section_count; t++) need[t] = (double)m->need[t];
    s->lp = lp_new(&(struct lp_shape){n, m->section_count, first, last, upper, cost, need});
    s->high = flags + columns;
    s->fixed_low = flags + 2 * columns;
    s->fixed_high = flags + 3 * columns;
    s->point = flags + 4 * columns;
    s->kept = flags + 5 * columns;
    s->merged = flags + 6 * columns;
    s->core = flags + 7 * columns;
    memset(s->fixed_high, 1, columns);
    for (int32_t i = 0; i < m->item_count; i++) {
        if (m->items[i].must) s->fixed_high[i] = false;
        if (m->items[i].never) s->fixed_low[i] = true;
    }
    s->section_dual = mem_zeroed(sections, sizeof *s->section_dual);
    s->rise = mem_zeroed(columns, sizeof *s->rise);
    s->fraction = mem_zeroed(columns, sizeof *s->fraction);
    s->root_reduced = mem_zeroed(columns, sizeof *s->root_reduced);
    s->trial = mem_zeroed(columns, sizeof *s->trial);
    s->row_dual_room = m->row_room;
    s->row_dual = mem_zeroed((size_t)m->row_room + 1, sizeof *s->row_dual);
    s->row_scale = mem_zeroed((size_t)m->row_room + 1, sizeof *s->row_scale);
    arena_free(&memory);
    packer_new(&s->packer, m, s->budget);
    certificate_new(&s->proof, m);
}

void search_open(struct search *s, struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t *address, int64_t best, int64_t bound)
{
    *s = (struct search){
        .m = m, .budget = budget, .tuning = *tuning, .best = best, .address = address, .bound = bound};
    search_new(s);
    /* The rows that the model was born with enter the linear programme. */
    int32_t count = s->m->row_count;
    struct model_row *born = s->m->rows;
    s->m->rows = NULL;
    s->m->row_count = s->m->row_room = 0;
    for (int32_t k = 0; k < count; k++) {
        search_add_row(s, born[k].terms, born[k].count, born[k].need);
        mem_free(born[k].terms);
    }
    mem_free(born);
    VEC_PUSH(&s->nodes, (struct search_node){.parent = -1, .column = -1, .bound = bound, .leaf = -1});
    if (!m->hopeless) VEC_PUSH(&s->open, 0);
    s->packer.capacity += tuning->reserve;
    if (s->lp) lp_stop_if(s->lp, budget_stopped, budget);
}

void search_close(struct search *s, struct search_stats *stats)
{
    s->stats.pivots = s->lp ? lp_pivots(s->lp) : 0;
    s->stats.fit_calls = s->packer.calls;
    s->stats.fit_nodes = s->packer.nodes;
    int64_t *to = (int64_t *)stats, *from = (int64_t *)&s->stats;
    for (size_t k = 0; k < sizeof s->stats / sizeof *from; k++) to[k] += from[k];
    lp_free(s->lp);
    packer_free(&s->packer);
    certificate_free(&s->proof);
    mem_free(s->low);
    mem_free(s->section_dual);
    mem_free(s->fraction);
    mem_free(s->rise);
    mem_free(s->root_reduced);
    mem_free(s->trial);
    mem_free(s->row_dual);
    mem_free(s->row_scale);
    for (size_t k = 0; k < s->riddles.count; k++) mem_free(s->riddles.at[k].kept);
    VEC_FREE(&s->riddles);
    VEC_FREE(&s->nodes);
    VEC_FREE(&s->open);
    VEC_FREE(&s->leaves);
}
