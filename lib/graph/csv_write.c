/* Buffer lists out as comma-separated values, for other tools. The forms know no in-place edges and no
 * reasons: an edge is a chance that is lost, and what may not be placed is for the caller to leave out. */
#include "graph/graph.h"
#include "base/fail.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static void write_field(struct text *t, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        text_add(t, s);
        return;
    }
    text_add(t, "\"");
    for (; *s; s++) {
        if (*s == '"') text_add(t, "\"");
        text_add_n(t, s, 1);
    }
    text_add(t, "\"");
}

static bool is_exportable(const struct lx_graph *g, lx_status *st)
{
    if (!g->is_list)
        return status_set_at(st, LX_E_USAGE, g->file, 0, 0,
                             "a graph has no CSV form; `lxplan export` writes the buffers that it becomes");
    return true;
}

static char *finish(struct text *t, size_t *length, lx_status *st)
{
    if (t->failed) {
        text_free(t);
        status_no_memory(st);
        return NULL;
    }
    *length = t->length;
    return t->at;
}

char *lx_graph_to_minimalloc(const struct lx_graph *g, size_t *length, lx_status *st)
{
    struct text t = {0};
    bool offsets = false, alignments = g->alignment != 1, weights = false;
    if (!is_exportable(g, st)) return NULL;
    for (int32_t i = 0; i < g->buffer_count; i++) {
        offsets |= g->buffers[i].fixed >= 0;
        alignments |= g->buffers[i].alignment != 0;
        weights |= g->buffers[i].spill_cost != g->buffers[i].size;
    }
    text_format(&t, "id,lower,upper,size%s%s%s\n", offsets ? ",offset" : "", alignments ? ",alignment" : "",
                weights ? ",weight" : "");
    for (int32_t i = 0; i < g->buffer_count; i++) {
        const struct lx_buffer *b = &g->buffers[i];
        write_field(&t, b->name);
        text_format(&t, ",%" PRId64 ",%" PRId64 ",%" PRId64, b->start, b->end, b->size);
        if (offsets && b->fixed >= 0)
            text_format(&t, ",%" PRId64, b->fixed);
        else if (offsets)
            text_add(&t, ",");
        if (alignments) text_format(&t, ",%" PRId64, b->alignment ? b->alignment : g->alignment);
        if (weights) text_format(&t, ",%" PRId64, b->spill_cost);
        text_add(&t, "\n");
    }
    return finish(&t, length, st);
}

char *lx_graph_to_xla(const struct lx_graph *g, size_t *length, lx_status *st)
{
    struct text t = {0};
    if (!is_exportable(g, st)) return NULL;
    text_add(&t,
             "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n");
    for (int32_t i = 0; i < g->buffer_count; i++) {
        const struct lx_buffer *b = &g->buffers[i];
        text_format(&t, "%" PRId32 ",", i);
        write_field(&t, b->name);
        text_format(&t, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", b->spill_cost, b->size, b->start);
        for (int32_t u = 1; u < b->use_count; u++)
            text_format(&t, "%s%" PRId64, u > 1 ? ";" : "", b->uses[u]);
        /* The form knows no other end of a life than the last use. Where a life has no uses, or outlasts
         * them, its last tick stands for one: an invented use is harmless, a life cut short is not. */
        if (b->use_count < 2 || b->uses[b->use_count - 1] + 1 < b->end)
            text_format(&t, "%s%" PRId64, b->use_count > 1 ? ";" : "", b->end - 1);
        text_add(&t, ",,false\n");
    }
    return finish(&t, length, st);
}
