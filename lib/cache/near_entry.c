/* The entry that is nearest to a question without one: of the same structure and options, in other sizes. Near is
 * whose bytes, scratchpad and cores differ by the smallest factors; of several by name, so that the same folder gives the
 * same answer. */
#include "cache/cache_entry.h"
#include "base/failed_memory.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double distance(const int64_t a[3], const int64_t b[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += fabs(log((double)(a[i] + 1)) - log((double)(b[i] + 1)));
    return sum;
}

struct nearest {
    char name[ENTRY_NAME];
    double far; /* INFINITY: there is none */
};

static void look_at(const char *folder, const struct entry_key *key, const char *name, struct nearest *best)
{
    struct lx_cache_entry facts;
    int64_t sizes[3];
    char *path = entry_path(folder, name);
    bool read = path && entry_facts(path, &facts, sizes);
    double far = read ? distance(key->sizes, sizes) : INFINITY;
    free(path);
    if (far > best->far || !(far < INFINITY)) return;
    if (far == best->far && strcmp(name, best->name) >= 0) return;
    best->far = far;
    snprintf(best->name, sizeof best->name, "%.*s", ENTRY_NAME - 1, name);
}

struct lx_plan *entry_near(const char *folder, const struct entry_key *key)
{
    enum { PREFIX = 33 };
    char own[ENTRY_NAME];
    struct nearest best = {.far = INFINITY};
    lx_status ignored;
    DIR *d = opendir(folder);
    if (!d && errno == ENOMEM) memory_failed(); /* else the plan would be another one, without a word */
    if (!d) return NULL;
    entry_name(key, own);
    for (const struct dirent *e; (e = readdir(d));)
        if (strncmp(e->d_name, own, PREFIX) == 0 && is_entry_name(e->d_name) && strcmp(e->d_name, own) != 0)
            look_at(folder, key, e->d_name, &best);
    closedir(d);
    if (!(best.far < INFINITY)) return NULL;
    char *path = entry_path(folder, best.name);
    struct lx_plan *p = path ? entry_plan(path, &ignored) : NULL;
    free(path);
    if (!p || lx_plan_check(p, &ignored)) return p;
    lx_plan_free(p);
    return NULL;
}
