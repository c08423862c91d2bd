/* Buffer lists out as comma-separated values, for other tools. The forms know no in-place edges and no
 * reasons: an edge is a chance that is lost, and what may not be placed is for the caller to leave out. */
#include "files/pattern.h"
#include "base/fail.h"

#include <inttypes.h>
#include <string.h>

FORMAT_WRITES_BUFFERS(minimalloc);
FORMAT_WRITES_BUFFERS(xla);

void csv_field(struct text *t, const char *s)
{
    if (!strpbrk(s, ",\"\r\n") && !(*s && strchr("=+-@", *s))) {
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

char *minimalloc_write(const struct lx_buffers *list, size_t *length)
{
    struct text t = {0};
    bool offsets = false, alignments = list->alignment != 1, weights = false;
    for (int32_t i = 0; i < list->count; i++) {
        offsets |= list->at[i].fixed >= 0;
        alignments |= list->at[i].alignment != 0;
        weights |= list->at[i].spill_cost != list->at[i].size;
    }
    text_format(&t, "id,lower,upper,size%s%s%s\n", offsets ? ",offset" : "", alignments ? ",alignment" : "",
                weights ? ",weight" : "");
    for (int32_t i = 0; i < list->count; i++) {
        const struct lx_buffer *b = &list->at[i];
        csv_field(&t, b->name);
        text_format(&t, ",%" PRId64 ",%" PRId64 ",%" PRId64, b->start, b->end, b->size);
        if (offsets && b->fixed >= 0)
            text_format(&t, ",%" PRId64, b->fixed);
        else if (offsets)
            text_add(&t, ",");
        if (alignments) text_format(&t, ",%" PRId64, b->alignment ? b->alignment : list->alignment);
        if (weights) text_format(&t, ",%" PRId64, b->spill_cost);
        text_add(&t, "\n");
    }
    *length = t.length;
    return t.at;
}

char *xla_write(const struct lx_buffers *list, size_t *length)
{
    struct text t = {0};
    text_add(&t,
             "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n");
    for (int32_t i = 0; i < list->count; i++) {
        const struct lx_buffer *b = &list->at[i];
        text_format(&t, "%" PRId64 ",", list->ids ? list->ids[i] : i);
        csv_field(&t, b->name);
        text_format(&t, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", b->spill_cost, b->size, b->start);
        for (int32_t u = 1; u < b->use_count; u++)
            text_format(&t, "%s%" PRId64, u > 1 ? ";" : "", b->uses[u]);
        /* The form knows no other end of a life than the last use. Where a life has no uses, or outlasts
         * them, its last tick stands for one: an invented use is harmless, a life cut short is not. */
        if (b->use_count < 2 || b->uses[b->use_count - 1] + 1 < b->end)
            text_format(&t, "%s%" PRId64, b->use_count > 1 ? ";" : "", b->end - 1);
        text_add(&t, ",,false\n");
    }
    *length = t.length;
    return t.at;
}
