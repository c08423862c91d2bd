/* What devices have in common that may have one plan: the text of their graphs, with nothing of the offsets of slices. The
 * text is all that a graph is, so that nothing can be forgotten. */
#include "team/device_shape.h"
#include "base/checked.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a stick, of those of the smallest type that the graph has: powers of two. */
static int64_t stick_of(const struct lx_graph *g)
{
    int64_t most = 1;
    for (int32_t t = 0; t < g->tensor_count; t++)
        most = max_i64(most, g->device.stick_bytes * 8 / lx_dtype_bits(g->tensors[t].dtype));
    return most;
}

/* Past a list of offsets. Only those before the begin of a tensor, where there is nothing, make another shape. */
static const char *take_offsets(struct device_shape *s, const char *at)
{
    int64_t last = 0;
    while (*at && *at != ']') {
        char *end = NULL;
        int64_t n = strtoll(at, &end, 10);
        if (end == at) {
            at++;
            continue;
        }
        s->shape = hash_number(s->shape, n < 0 ? n : 0);
        last = n;
        at = end;
    }
    s->likely = hash_number(s->likely, last % s->unit);
    return at;
}

void device_shape_take(void *shape, const struct lx_graph *g, const char *record, size_t length)
{
    static const char key[] = "\"offset\": [";
    struct device_shape *s = shape;
    const char *end = record + length;
    if (!s->unit) *s = (struct device_shape){stick_of(g), HASH_START, HASH_START};
    for (const char *at = record, *next; at; at = next) {
        next = strstr(at, key);
        s->shape = hash_words(s->shape, at, (size_t)((next ? next : end) - at));
        if (next) next = take_offsets(s, next + sizeof key - 1);
    }
}
