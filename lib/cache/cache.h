/* The solve cache: a folder in which plans are kept, so that what was planned once is not searched for again.
 *
 * lx_plan_make looks into the folder that its options name, and nowhere where they name none. An entry is found by a
 * hash of what is solved, of every option that changes the plan, and of the program's own sources. What is read is
 * believed in nothing: the plan must be one of the graph at hand, and the independent checker must accept it; else the
 * entry is ignored, with a word, and written anew. A hit gives the very bytes that planning would give: an entry is
 * kept only if it reads back to the same plan file.
 *
 * Plans that a clock or a person ended, and hasty ones, are not kept. Where there is no entry, one of the same structure
 * in other sizes, planned by the same options, seeds the search (plan/near_plan.c), so that a plan depends on what the
 * folder holds; it is never worse for that, and the same for the same content.
 *
 * A folder has one file per plan, written beside its place and renamed, so that a reader never sees half of one, and
 * `limit` with the bytes that it may hold; beyond them what was not used for longest goes. Nothing that goes wrong with
 * it keeps a plan from being made. */
#ifndef LX_CACHE_CACHE_H
#define LX_CACHE_CACHE_H

#include "base/status.h"

#include <stdint.h>

#define LX_CACHE_LIMIT (INT64_C(1) << 30)

struct lx_cache_entry {
    char file[80];   /* in the folder */
    char graph[100]; /* name of what was planned */
    char solver[40];
    int64_t bytes;
    int64_t used; /* when it was last: microseconds since 1970 */
};

struct lx_cache_list {
    struct lx_cache_entry *at; /* what was used last comes first */
    int32_t count;
    int64_t bytes, limit;
};

/* What is in the folder. False: `st`. */
bool lx_cache_list(const char *folder, struct lx_cache_list *out, lx_status *st);
void lx_cache_list_free(struct lx_cache_list *list);
/* Takes all entries out, and what killed writers left; other files stay. `removed`: how many entries. */
bool lx_cache_clear(const char *folder, int32_t *removed, lx_status *st);
/* Sets the bytes that it may hold from now on, and takes out what is too much. */
bool lx_cache_set_limit(const char *folder, int64_t bytes, int32_t *removed, lx_status *st);

#endif
