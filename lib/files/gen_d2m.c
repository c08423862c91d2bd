/* Problems like the tests of tt-mlir's D2M allocator: segments in a row, each a chain of NECK nodes and then
 * 2 CONFLICTS nodes with a skip edge from node i to node 2 CONFLICTS - 1 - i, along both sides a chain. The
 * order is unique. A node is a variable: in scratch memory it claims 16 s bytes from its own position to its
 * last successor's; spilled, s bytes at the position of each. s is 32 times 2 to 1009. */
#include "base/rng.h"
#include "files/d2m.h"
#include "files/gen_common.h"

enum { SEGMENTS, NECK, CONFLICTS, BOUND, SEED, CAPACITY, OPTIONS };

const struct lx_option gen_d2m_options[OPTIONS] = {
    [SEGMENTS] = {"segments", 3, 1, 1000, "segments in a row"},
    [NECK] = {"neck", 4, 0, 1000, "nodes of the chain at the head of each"},
    [CONFLICTS] = {"conflicts", 8, 1, 1000, "skip edges of each, all alive at once in its middle"},
    [BOUND] = {"bound", 10, 0, 100, "percent of the variables that may not be spilled"},
    [SEED] = {"seed", 1, 0, LX_INT_MAX, "of the random numbers"},
    [CAPACITY] = {"capacity", 0, 0, INT64_C(1) << 40, "bytes of scratch memory; 0: the device's"},
};

enum { SCRATCH_TIMES = 16, GRAIN = 32, LEAST_GRAINS = 2, MOST_GRAINS = 1009, MOST_SUCCESSORS = 2 };

struct maker {
    const int64_t *v;
    struct rng rng;
    struct d2m_variable *variables;
    struct d2m_request *requests;
    int32_t *numbers;
    int32_t count, request_count;
};

static int32_t gen_d2m_claim(struct maker *m, int64_t first, int64_t last, int64_t size)
{
    m->requests[m->request_count] = (struct d2m_request){.first = first, .last = last, .size = size};
    m->numbers[m->request_count] = m->request_count;
    return m->request_count++;
}

static bool gen_d2m_make(struct maker *m, struct graph_builder *b, lx_status *st)
{
    int64_t nodes = m->v[SEGMENTS] * (m->v[NECK] + 2 * m->v[CONFLICTS]), most = nodes * (1 + MOST_SUCCESSORS);
    if (most > LX_MAX_ITEMS)
        return status_set(st, LX_E_LIMIT, "%lld nodes are too many; ask for fewer segments",
                          (long long)nodes);
    m->variables = arena_array(b->memory, (size_t)nodes, sizeof *m->variables);
    m->requests = arena_array(b->memory, (size_t)most, sizeof *m->requests);
    m->numbers = arena_array(b->memory, (size_t)most, sizeof *m->numbers);
    for (int64_t node = 0; node < nodes; node++) {
        struct d2m_variable *v = &m->variables[m->count++];
        /* The target of a skip edge, or 0. */
        int64_t length = m->v[NECK] + 2 * m->v[CONFLICTS], at = node % length - m->v[NECK];
        int64_t skip = at >= 0 && at < m->v[CONFLICTS] - 1 ? node - at + 2 * m->v[CONFLICTS] - 1 - at : 0,
                next = node + 1 < nodes ? node + 1 : 0;
        int64_t size = GRAIN * rng_between(&m->rng, LEAST_GRAINS, MOST_GRAINS);
        bool bound = (int64_t)rng_below(&m->rng, 100) < m->v[BOUND];
        *v = (struct d2m_variable){.scratch_count = 1, .bound = bound ? D2M_IN_SCRATCH : D2M_FREE};
        v->scratch =
            &m->numbers[gen_d2m_claim(m, node, max_i64(node, max_i64(skip, next)), SCRATCH_TIMES * size)];
        v->spill = &m->numbers[m->request_count];
        if (next) gen_d2m_claim(m, next, next, size), v->spill_count++;
        if (skip) gen_d2m_claim(m, skip, skip, size), v->spill_count++;
    }
    builder_list(b);
    if (m->v[CAPACITY]) b->list->capacity = m->v[CAPACITY];
    return d2m_add(b, m->variables, m->count, m->requests, st);
}

const struct lx_graph *gen_d2m(const int64_t *v, lx_status *st)
{
    struct maker m = {.v = v, .rng = rng_seed((uint64_t)v[SEED])};
    struct graph_builder b;
    char name[80];
    snprintf(name, sizeof name, "d2m_%lld_%lld_%lld", (long long)v[SEGMENTS], (long long)v[CONFLICTS],
             (long long)v[SEED]);
    builder_begin(&b, "generated", name);
    b.graph->summary = "Variables in scratch memory or spilled: chains with nested skip edges.";
    if (gen_d2m_make(&m, &b, st)) return builder_finish(&b, st);
    builder_abandon(&b);
    return NULL;
}
