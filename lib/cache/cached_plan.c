/* Plans by way of the cache: looked for, else made and kept. What goes wrong with the folder is told and is no reason
 * to fail. */
#include "cache/cache_entry.h"
#include "base/clock.h"
#include "base/fail.h"
#include "plan/planner.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lists of tiles stand in files of their own, which the key knows nothing of. */
static bool is_asked_for(const struct lx_plan_options *how)
{
    return how->cache[0] && how->solver && !how->run.hasty && how->launch.by[0] != '@';
}

static void tell(const struct lx_plan_options *how, const lx_status *st, const char *consequence)
{
    char words[1200], line[1300];
    if (!how->tell) return;
    snprintf(line, sizeof line, "%s; %s", lx_status_describe(st, words, sizeof words), consequence);
    how->tell(how->tell_context, line);
}

/* Its entry and the key of that, each with its end. Without memory it has none. */
static void name_entry(struct lx_plan *p, const struct entry_key *key)
{
    char both[ENTRY_NAME + 65];
    entry_name(key, both);
    size_t n = strlen(both) + 1;
    memcpy(both + n, key->hash, sizeof key->hash);
    p->kept_as = arena_copy(p->memory, both, n + strlen(key->hash));
}

static struct lx_plan *look_up(const char *path, const struct entry_key *key, const struct lx_graph *g,
                               const struct lx_plan_options *how)
{
    lx_status st = {0};
    double start = clock_seconds();
    struct lx_plan *p = entry_read(path, key, g, how, &st);
    if (p) {
        p->seconds = clock_seconds() - start;
        name_entry(p, key);
        (void)utimensat(AT_FDCWD, path, NULL,
                        0); /* it was used now; a folder that nobody may write forgets it */
    } else if (st.code != LX_OK)
        tell(how, &st, "this entry of the cache is ignored and written anew");
    return p;
}

/* Would it be the same whenever and wherever it is made? A clock ends searches at any moment. */
static bool is_for_keeps(const struct lx_plan *p, const struct lx_plan_options *how)
{
    return how->run.time_limit <= 0 && !lx_run_stopped(&how->run) && p->answer.status != LX_ERROR;
}

static void keep(const char *path, const struct entry_key *key, const struct lx_graph *g, struct lx_plan *p,
                 const struct lx_plan_options *how)
{
    lx_status st = {0};
    int32_t removed;
    bool kept = cache_folder_make(how->cache, &st) &&
                entry_write(path, key, g, p, cache_folder_limit(how->cache), &st);
    if (kept) name_entry(p, key);
    bool ok = (kept || st.code == LX_OK) && cache_folder_trim(how->cache, &removed, &st);
    if (!ok) tell(how, &st, "the plan is made, but not kept");
}

static struct lx_plan *make_and_keep(const char *path, const struct entry_key *key, const struct lx_graph *g,
                                     const struct lx_plan_options *asked, lx_status *st)
{
    struct lx_plan_options how = *asked;
    struct lx_plan *near = asked->unseeded ? NULL : entry_near(asked->cache, key);
    how.near = near;
    struct lx_plan *p = plan_anew(g, &how, st);
    if (p && is_for_keeps(p, &how)) keep(path, key, g, p, &how);
    lx_plan_free(near);
    return p;
}

struct lx_plan *lx_plan_make(const struct lx_graph *g, const struct lx_plan_options *how, lx_status *st)
{
    struct entry_key key;
    char name[ENTRY_NAME];
    if (!is_asked_for(how)) return plan_anew(g, how, st);
    if (!entry_key_of(g, how, &key)) return status_no_memory(st), NULL;
    entry_name(&key, name);
    char *path = entry_path(how->cache, name);
    if (!path) return status_no_memory(st), NULL;
    struct lx_plan *p = look_up(path, &key, g, how);
    if (!p) p = make_and_keep(path, &key, g, how, st);
    free(path);
    return p;
}
