/* Writes where a plan puts the buffers of a dsa-problem-v1 as dsa-solution-v1, for the tools that the
 * problem is from. Ids are at the end of the names, profile and fingerprint in the summary (dsa_problem.c).
 * Their tools refuse a solution without the fingerprint of its problem, so that without one nothing is
 * written. */
#include "base/fail.h"
#include "graph/graph.h"
#include "files/pattern.h"

#include <stdlib.h>
#include <string.h>

FORMAT_WRITES_ANSWERS(dsa_solution);

/* The id in NAME#ID, or -1. */
static int64_t dsa_solution_id_of(const char *name)
{
    const char *mark = strrchr(name, '#');
    char *end;
    int64_t id = mark ? strtoll(mark + 1, &end, 10) : -1;
    return mark && mark[1] && !*end ? id : -1;
}

/* The word after `key` in the summary. False: there is none. */
static bool word_after(const struct lx_graph *g, const char *key, char *out, size_t room)
{
    const char *at = g->summary ? strstr(g->summary, key) : NULL;
    size_t n = at ? strcspn(at + strlen(key), ", ") : 0;
    if (n == 0 || n >= room) return false;
    memcpy(out, at + strlen(key), n);
    out[n] = 0;
    return true;
}

static bool add_places(const struct lx_graph *g, const int64_t *address, const int32_t *pool, struct text *t,
                       lx_status *st)
{
    int written = 0;
    for (int32_t i = 0; i < g->list->buffer_count; i++) {
        if (address[i] < 0) continue;
        int64_t buffer = dsa_solution_id_of(g->list->buffers[i].name);
        int64_t where =
            g->list->pool_count ? dsa_solution_id_of(g->list->pools[pool ? pool[i] : 0].name) : -1;
        if (buffer < 0 || where < 0)
            return status_set(st, LX_E_UNSUPPORTED,
                              "buffer %s or its pool has no id, as NAME#ID; only plans of a "
                              "dsa-problem have such solutions",
                              g->list->buffers[i].name);
        text_format(t, "%s\n    {\"buffer\": %lld, \"pool\": %lld, \"offset\": %lld}", written++ ? "," : "",
                    (long long)buffer, (long long)where, (long long)address[i]);
    }
    return true;
}

char *dsa_solution_write(const struct lx_graph *g, const int64_t *address, const int32_t *pool,
                         size_t *length, lx_status *st)
{
    char profile[64], fingerprint[64];
    struct text t = {0};
    if (!g->list || !word_after(g, "profile ", profile, sizeof profile) ||
        !word_after(g, "fingerprint ", fingerprint, sizeof fingerprint)) {
        status_set(st, LX_E_UNSUPPORTED,
                   "no solution can be written: its problem has no corpus_problem_fingerprint_fnv1a64 in its "
                   "metadata");
        return NULL;
    }
    text_add(&t, "{\n  \"schema_version\": 1,\n  \"profile\": ");
    text_json_string(&t, profile);
    text_add(&t, ",\n  \"instance\": ");
    text_json_string(&t, g->name);
    text_add(&t, ",\n  \"problem_fingerprint\": ");
    text_json_string(&t, fingerprint);
    text_add(&t, ",\n  \"metadata\": {\"solver\": \"lxplan\"},\n  \"placements\": [");
    bool ok = add_places(g, address, pool, &t, st);
    text_add(&t, "\n  ]\n}\n");
    if (ok) {
        *length = t.length;
        return t.at;
    }
    text_free(&t);
    return NULL;
}
