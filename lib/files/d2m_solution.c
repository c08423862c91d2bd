/* Writes where a plan puts the variables of a D2M dump, in the form of the dump itself (d2m_read.c):
 * placements filled in, and the offset of each request that claims scratch memory. Variables keep their
 * numbers, which are in the names of the buffers (d2m.c); requests are numbered anew, variable by variable,
 * those of scratch before those of spill. */
#include "base/fail.h"
#include "graph/graph.h"
#include "files/pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

FORMAT_WRITES_ANSWERS(d2m_solution);

struct d2m_answer {
    const struct lx_graph *g;
    const int64_t *address;
    struct text variables, requests;
    int32_t variable, request;
};

/* The number of the variable in vN.scratchK or vN.spillK, and which; -1: it is of another name. */
static int32_t d2m_solution_variable_of(const char *name, bool *spill)
{
    char *end;
    if (name[0] != 'v' || name[1] < '0' || name[1] > '9') return -1;
    long n = strtol(name + 1, &end, 10);
    *spill = strncmp(end, ".spill", 6) == 0;
    return n <= LX_MAX_ITEMS && (*spill || strncmp(end, ".scratch", 8) == 0) ? (int32_t)n : -1;
}

/* From buffer `i` on, those of one space of the variable: their requests, and the list of their numbers. */
static int32_t d2m_solution_add_space(struct d2m_answer *x, int32_t i, bool wanted)
{
    bool spill = false, first = true;
    text_format(&x->variables, wanted ? ", \"spill\": [" : "\"scratch\": [");
    for (; i < x->g->list->buffer_count; i++) {
        const struct lx_buffer *b = &x->g->list->buffers[i];
        if (d2m_solution_variable_of(b->name, &spill) != x->variable || spill != wanted) break;
        /* A variable without requests in scratch has a buffer of no bytes in its stead. */
        if (!spill && b->size == 0 && b->start == 0 && b->end == 1) continue;
        text_format(&x->variables, first ? "%d" : ", %d", (int)x->request);
        text_format(&x->requests, "%s\n    [%d, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
                    x->request++ ? "," : "", (int)x->variable, b->start, b->end - 1, b->size, x->address[i]);
        first = false;
    }
    text_add(&x->variables, "]");
    return i;
}

/* The variable that begins with buffer `i`; the buffer behind its last, or -1. */
static int32_t d2m_solution_add_variable(struct d2m_answer *x, int32_t i)
{
    const struct lx_buffer *b = &x->g->list->buffers[i];
    bool spill = false;
    if (d2m_solution_variable_of(b->name, &spill) != x->variable || spill) return -1;
    text_format(&x->variables, "%s\n    {\"placement\": \"%s\", \"bound\": %s, \"domain\": {",
                x->variable ? "," : "", x->address[i] >= 0 ? "scratch" : "spill",
                b->must || b->reason ? "true" : "false");
    i = d2m_solution_add_space(x, i, false);
    i = d2m_solution_add_space(x, i, true);
    text_add(&x->variables, "}}");
    x->variable++;
    return i;
}

char *d2m_solution_write(const struct lx_graph *g, const int64_t *address, const int32_t *pool,
                         size_t *length, lx_status *st)
{
    struct d2m_answer x = {.g = g, .address = address};
    struct text t = {0};
    (void)pool; /* there is one scratch memory */
    for (int32_t i = 0; g->list && i < g->list->buffer_count && i >= 0;) {
        i = d2m_solution_add_variable(&x, i);
        if (i < 0)
            status_set(st, LX_E_UNSUPPORTED,
                       "only plans of a D2M file have such answers: a buffer is not called vN.scratchK or "
                       "vN.spillK");
        if (i < 0) break;
    }
    bool ok = g->list && x.variable > 0 && st->code == LX_OK;
    if (!ok && st->code == LX_OK)
        status_set(st, LX_E_UNSUPPORTED, "only plans of a D2M file have such answers");
    text_format(&t, "{\n  \"variables\": [%s\n  ],\n  \"requests\": [%s\n  ]\n}\n",
                x.variables.at ? x.variables.at : "", x.requests.at ? x.requests.at : "");
    text_free(&x.variables);
    text_free(&x.requests);
    if (!ok) return text_free(&t), NULL;
    *length = t.length;
    return t.at;
}
