/* Branch and bound for a heaviest clique through a given node. A greedy partition of the candidates into
 * independent sets bounds their weight: the heaviest of each set. The candidates of the last set are tried
 * first; steps limit how many. */
#include "exact/general/clique.h"

void clique_graph_open(struct clique_graph *g, int32_t count)
{
    *g = (struct clique_graph){.count = count, .words = count / 64 + 1};
    g->weight = mem_zeroed((size_t)count + 1, sizeof *g->weight);
    g->rows = mem_zeroed((size_t)(count + 1) * (size_t)g->words, sizeof *g->rows);
}

void clique_graph_close(struct clique_graph *g)
{
    mem_free(g->weight);
    mem_free(g->rows);
    *g = (struct clique_graph){0};
}

struct clique_search {
    const struct clique_graph *g;
    int64_t steps, best;
    int32_t *chosen, *best_members, best_count;
    int32_t *stack; /* candidate lists of all depths */
    int64_t *bound; /* parallel */
    int32_t room;
};

/* Reorders the candidates into independent sets; bound[k] bounds the weight of the first k + 1. */
static void colour(struct clique_search *s, int32_t *list, int64_t *bound, int32_t n, int32_t *scratch)
{
    int32_t left = n, placed = 0;
    int64_t sum = 0;
    memcpy(scratch, list, (size_t)n * sizeof *scratch);
    while (left) {
        int32_t from = placed, kept = 0;
        int64_t heaviest = 0;
        for (int32_t k = 0; k < left; k++) {
            int32_t v = scratch[k];
            bool free_of = true;
            for (int32_t q = from; q < placed && free_of; q++) free_of = !clique_graph_has(s->g, v, list[q]);
            if (!free_of) {
                scratch[kept++] = v;
                continue;
            }
            if (s->g->weight[v] > heaviest) heaviest = s->g->weight[v];
            list[placed] = v;
            bound[placed++] = sum + heaviest;
        }
        sum += heaviest;
        left = kept;
    }
}

static void clique_expand(struct clique_search *s, int32_t from, int32_t n, int32_t depth, int64_t weight)
{
    if (weight > s->best) {
        s->best = weight;
        s->best_count = depth;
        memcpy(s->best_members, s->chosen, (size_t)depth * sizeof *s->chosen);
    }
    if (n == 0 || from + 2 * n > s->room) return;
    int32_t *list = s->stack + from;
    int64_t *bound = s->bound + from;
    colour(s, list, bound, n, list + n);
    for (int32_t k = n - 1; k >= 0 && weight + bound[k] > s->best; k--) {
        if (s->steps-- <= 0 || cancel_requested()) return;
        int32_t v = list[k], next = 0;
        for (int32_t q = 0; q < k; q++)
            if (clique_graph_has(s->g, v, list[q])) list[n + next++] = list[q];
        s->chosen[depth] = v;
        clique_expand(s, from + n, next, depth + 1, weight + s->g->weight[v]);
    }
}

int32_t clique_through(const struct clique_graph *g, int32_t seed, int64_t steps, int32_t *members)
{
    SCOPED(arena_free) struct arena memory = {0};
    int32_t degree = 0;
    for (int32_t v = 0; v < g->count; v++) degree += clique_graph_has(g, seed, v);
    struct clique_search s = {.g = g, .steps = steps, .best = -1, .best_members = members};
    s.room = degree < 600 ? (degree + 2) * (degree + 4) : 400 * (degree + 4);
    s.chosen = arena_array(&memory, (size_t)g->count + 1, sizeof *s.chosen);
    s.stack = arena_array(&memory, (size_t)s.room + 1, sizeof *s.stack);
    s.bound = arena_array(&memory, (size_t)s.room + 1, sizeof *s.bound);
    s.chosen[0] = seed;
    int32_t n = 0;
    for (int32_t v = 0; v < g->count; v++) {
        if (v == seed || g->weight[v] <= 0 || !clique_graph_has(g, seed, v)) continue;
        int32_t k = n++;
        for (; k > 0 && g->weight[s.stack[k - 1]] < g->weight[v]; k--) s.stack[k] = s.stack[k - 1];
        s.stack[k] = v;
    }
    clique_expand(&s, 0, n, 1, g->weight[seed]);
    return s.best_count;
}

static void cliques_reserve(struct cliques *c, int32_t more)
{
    if (c->count + 2 > c->room) {
        c->room = 2 * c->room + 16;
        c->first = mem_resize(c->first, (size_t)c->room * sizeof *c->first);
    }
    if (c->used + more > c->member_room) {
        c->member_room = 2 * (c->used + more);
        c->members = mem_resize(c->members, (size_t)c->member_room * sizeof *c->members);
    }
    c->first[c->count] = c->used;
}

void cliques_add(struct cliques *c, int32_t *members, int32_t count)
{
    if (count == 0) return;
    cliques_reserve(c, count);
    qsort(members, (size_t)count, sizeof *members, order_i32);
    for (int32_t k = 0; k < c->count; k++)
        if (c->first[k + 1] - c->first[k] == count &&
            memcmp(c->members + c->first[k], members, (size_t)count * sizeof *members) == 0)
            return;
    memcpy(c->members + c->used, members, (size_t)count * sizeof *members);
    c->used += count;
    c->first[++c->count] = c->used;
}

void cliques_find(const struct clique_graph *g, int64_t steps, struct cliques *out)
{
    *out = (struct cliques){0};
    OWNED int32_t *members = mem_alloc(((size_t)g->count + 1) * sizeof *members);
    cliques_reserve(out, 1);
    /* Fewer cliques weaken the bound but keep it valid. */
    for (int32_t v = 0; v < g->count && !cancel_requested(); v++)
        cliques_add(out, members, clique_through(g, v, steps, members));
}

void cliques_free(struct cliques *c)
{
    mem_free(c->first);
    mem_free(c->members);
    *c = (struct cliques){0};
}
