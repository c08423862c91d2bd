/* Merging works like counting: whenever the last two strips make up a box, they become one, so that columns
 * of a row join first, then rows, then batches, or whatever the order of the tiles suggests. */
#include "device/execute/execute.h"
#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

static int64_t *strips_record(const struct strips *s, size_t i)
{
    return s->at + i * 3 * (size_t)s->vars;
}

/* The one variable along which two strips make up a box; -1: they do not. */
static int join_along(const int64_t *a, const int64_t *b, int vars)
{
    int along = -1;
    for (int v = 0; v < vars; v++) {
        bool same = a[v] == b[v] && a[vars + v] == b[vars + v] && a[2 * vars + v] == b[2 * vars + v];
        if (same) continue;
        if (along >= 0) return -1;
        /* May `b` be joined to `a` along variable v? Tiles keep their grid: only the last may be shorter. */
        int64_t width = a[vars + v] - a[v], tile = a[2 * vars + v], next = b[2 * vars + v];
        if (b[v] != a[vars + v] || width % tile != 0) return -1;
        if (next != tile && (next >= tile || b[vars + v] - b[v] != next)) return -1;
        along = v;
    }
    return along;
}

static void strips_merge(struct strips *s)
{
    while (s->count > 1) {
        int64_t *a = strips_record(s, s->count - 2), *b = strips_record(s, s->count - 1);
        int v = join_along(a, b, s->vars);
        if (v < 0) return;
        a[s->vars + v] = b[s->vars + v];
        s->count--;
    }
}

void strips_add(struct strips *s, const int64_t *from, const int64_t *to, bool alone)
{
    size_t bytes = (size_t)s->vars * sizeof *from;
    vec_grow((void **)&s->at, &s->room, s->count + 1, 3 * bytes + (s->vars == 0));
    int64_t *at = strips_record(s, s->count++);
    memcpy(at, from, bytes);
    memcpy(at + s->vars, to, bytes);
    for (int v = 0; v < s->vars; v++) at[2 * s->vars + v] = to[v] - from[v];
    if (!alone) strips_merge(s);
}

void strips_free(struct strips *s)
{
    mem_free(s->at);
    *s = (struct strips){.vars = s->vars};
}
