/* From D2M variables to buffers: vN.scratchK and vN.spillK. */
#include "files/d2m.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdio.h>

struct maker {
    struct graph_builder *b;
    const struct d2m_request *requests;
    struct lx_group *together;
    struct lx_pair *staging;
    lx_status *st;
};

static bool d2m_take(struct maker *m, struct lx_buffer buffer, int32_t variable, const char *what,
                     int32_t number)
{
    char name[64];
    snprintf(name, sizeof name, "v%d.%s%d", (int)variable, what, (int)number);
    buffer.name = name;
    buffer.fixed = -1;
    return builder_buffer(m->b, &buffer, m->st);
}

static struct lx_buffer d2m_claim(struct maker *m, int32_t request)
{
    const struct d2m_request *r = &m->requests[request];
    m->b->here = r->place;
    return (struct lx_buffer){.size = r->size, .start = r->first, .end = r->last + 1};
}

static bool add_scratch(struct maker *m, const struct d2m_variable *v, int32_t variable)
{
    struct lx_buffer whole = {.must = v->bound == D2M_IN_SCRATCH,
                              .reason = v->bound == D2M_SPILLED ? "bound to spill" : NULL};
    int64_t all = 0;
    for (int32_t k = 0; k < v->scratch_count; k++) all += m->requests[v->scratch[k]].size;
    for (int32_t k = 0; k < v->scratch_count; k++) {
        struct lx_buffer buffer = d2m_claim(m, v->scratch[k]);
        buffer.must = whole.must;
        buffer.reason = whole.reason;
        buffer.spill_cost = k == 0 && !whole.must ? all : 0; /* what must be placed costs nothing */
        if (!d2m_take(m, buffer, variable, "scratch", k)) return false;
    }
    if (v->scratch_count) return true;
    m->b->here = v->place;
    whole.end = 1;
    return d2m_take(m, whole, variable, "scratch", 0);
}

static void d2m_join(struct maker *m, const struct d2m_variable *v, int32_t first)
{
    struct lx_bonds *s = &m->b->list->bonds;
    if (v->scratch_count < 2) return;
    int32_t *members = arena_array(m->b->memory, (size_t)v->scratch_count, sizeof *members);
    for (int32_t k = 0; k < v->scratch_count; k++) members[k] = first + k;
    m->together[s->together_count++] = (struct lx_group){members, v->scratch_count};
}

bool d2m_add(struct graph_builder *b, const struct d2m_variable *variables, int32_t count,
             const struct d2m_request *requests, lx_status *st)
{
    struct maker m = {.b = b, .requests = requests, .st = st};
    size_t spills = 0;
    for (int32_t i = 0; i < count; i++) spills += (size_t)variables[i].spill_count;
    m.together = arena_array(b->memory, (size_t)count, sizeof *m.together);
    m.staging = arena_array(b->memory, spills, sizeof *m.staging);
    for (int32_t i = 0; i < count; i++) {
        struct lx_bonds *s = &m.b->list->bonds;
        int32_t first = (int32_t)m.b->buffers.count;
        if (!add_scratch(&m, &variables[i], i)) return false;
        d2m_join(&m, &variables[i], first);
        for (int32_t k = 0; k < variables[i].spill_count; k++) {
            m.staging[s->staging_count++] = (struct lx_pair){(int32_t)m.b->buffers.count, first};
            if (!d2m_take(&m, d2m_claim(&m, variables[i].spill[k]), i, "spill", k)) return false;
        }
    }
    b->list->bonds.together = m.together;
    b->list->bonds.staging = m.staging;
    return true;
}
