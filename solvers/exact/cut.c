/* Cuts from choices that cannot be packed.
 *
 * A core is a set of items (with their handovers among each other) that has no placement. The cut says
 * that one of them is spilled, or one of the handovers is decided otherwise. Two ways make it stronger:
 * where the core's few handovers can all be decided otherwise without help, they are left out of the
 * cut; and an item may be exchanged for a larger twin (its life covers the other's life, its size is no
 * smaller, its alignment no laxer), since the smaller could stand in the larger one's place. */
#include "exact/search.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CORE_EDGES = 4, MOST_TWIN_CUTS = 40 };

static int32_t edges_among(const struct model *m, const bool *kept, int32_t *edges)
{
    int32_t n = 0;
    for (int32_t e = 0; e < m->edge_count; e++)
        if (kept[m->edges[e].parent] && kept[m->edges[e].child]) edges[n++] = e;
    return n;
}

static bool is_matching(const struct search *s, const int32_t *edges, int32_t n, unsigned chosen)
{
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++)
            if ((chosen >> a & 1) && (chosen >> b & 1) &&
                (s->m->edges[edges[a]].parent == s->m->edges[edges[b]].parent ||
                 s->m->edges[edges[a]].child == s->m->edges[edges[b]].child))
                return false;
    return true;
}

enum fit_result search_pack_somehow(struct search *s, const bool *kept, int64_t nodes, int64_t *address)
{
    int32_t *edges = mem_alloc(((size_t)s->m->edge_count + 1) * sizeof *edges);
    bool *merged = mem_zeroed((size_t)s->m->edge_count + 1, sizeof *merged);
    enum fit_result result = FIT_NO;
    int32_t n = edges_among(s->m, kept, edges);
    if (n > MOST_CORE_EDGES) result = FIT_LIMIT;
    for (unsigned chosen = 0; result == FIT_NO && chosen < 1u << n; chosen++) {
        if (!is_matching(s, edges, n, chosen)) continue;
        for (int32_t a = 0; a < n; a++) merged[edges[a]] = chosen >> a & 1;
        result = pack_exactly(&s->packer, kept, merged, nodes, address);
    }
    mem_free(edges);
    mem_free(merged);
    return result;
}

static bool has_edge(const struct model *m, int32_t i)
{
    for (int32_t e = 0; e < m->edge_count; e++)
        if (m->edges[e].parent == i || m->edges[e].child == i) return true;
    return false;
}

static bool is_larger_twin(const struct model *m, int32_t large, int32_t small)
{
    const struct lx_buffer *l = &m->p->buffers[m->items[large].buffer],
                           *s = &m->p->buffers[m->items[small].buffer];
    return l->start <= s->start && l->end >= s->end && l->size >= s->size && s->fixed < 0 &&
           lx_alignment_of(m->p, l) % lx_alignment_of(m->p, s) == 0;
}

/* The same cut with one item exchanged for a larger twin. */
static void add_twin_cuts(struct search *s, struct model_term *terms, int32_t count, int64_t need)
{
    int32_t added = 0;
    for (int32_t a = 0; a < count; a++) {
        int32_t small = terms[a].column;
        if (small >= s->m->item_count || has_edge(s->m, small)) continue;
        for (int32_t large = 0; large < s->m->item_count && added < MOST_TWIN_CUTS; large++) {
            if (s->core[large] || !is_larger_twin(s->m, large, small) || has_edge(s->m, large)) continue;
            terms[a].column = large;
            search_add_row(s, terms, count, need);
            added++;
        }
        terms[a].column = small;
    }
}

void search_cut_off(struct search *s)
{
    const struct model *m = s->m;
    memcpy(s->core, s->kept, (size_t)m->item_count * sizeof *s->core);
    shrink_core(&s->packer, s->core, s->merged, s->tuning.core_nodes);
    int32_t *edges = mem_alloc(((size_t)m->edge_count + 1) * sizeof *edges);
    struct model_term *terms = mem_alloc(((size_t)model_columns(m) + 1) * sizeof *terms);
    int32_t among = edges_among(m, s->core, edges), n = 0;
    int64_t need = 1;
    for (int32_t i = 0; i < m->item_count; i++)
        if (s->core[i]) terms[n++] = (struct model_term){i, 1};
    if (among > 0 && search_pack_somehow(s, s->core, s->tuning.core_nodes, NULL) == FIT_NO) among = 0;
    for (int32_t a = 0; a < among; a++) {
        bool merged = s->merged[edges[a]];
        terms[n++] = (struct model_term){m->item_count + edges[a], merged ? -1 : 1};
        need -= merged;
    }
    search_add_row(s, terms, n, need);
    add_twin_cuts(s, terms, n, need);
    s->stats.cuts++;
    mem_free(edges);
    mem_free(terms);
}
