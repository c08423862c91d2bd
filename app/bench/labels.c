/* What instances are called: by name where that is enough; else by as much of their paths as tells them apart, and
 * by their capacity where even the file is the same. */
#include "bench/summary.h"
#include "text/format.h"
#include "text/path_tail.h"

#include <string.h>

static bool has_twin(const struct summary *s, size_t i)
{
    for (size_t k = 0; k < s->problems.count; k++)
        if (k != i && strcmp(s->problems.at[k].name, s->problems.at[i].name) == 0 &&
            strcmp(s->problems.at[k].path, s->problems.at[i].path) == 0)
            return true;
    return false;
}

bool label_problems(struct summary *s)
{
    const char **paths = arena_array(&s->memory, s->problems.count + 1, sizeof *paths);
    if (!paths) return false;
    for (size_t i = 0; i < s->problems.count; i++) {
        struct problem *p = &s->problems.at[i];
        /* The paths of the problems that are called like problem i. */
        size_t m = 0;
        for (size_t k = 0; k < s->problems.count; k++)
            if (strcmp(s->problems.at[k].name, s->problems.at[i].name) == 0)
                paths[m++] = s->problems.at[k].path;
        size_t n = m;
        p->label = n > 1 ? path_tail(p->path, paths, n) : p->name;
        /* "moe_mlp at 102,400 B, spill": one file, asked twice. */
        if (has_twin(s, i) && !(p->label = arena_format(&s->memory, "%s at %s B, %s", p->label,
                                                        grouped(p->capacity).at, p->question)))
            return false;
    }
    return true;
}

const char *measure_of(const char *question, bool is_graph)
{
    if (strcmp(question, "spill") == 0) return is_graph ? "HBM bytes" : "spill";
    return strcmp(question, "height") == 0 ? "height" : "placed";
}
