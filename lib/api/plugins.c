/* Loads plug-ins. A file is looked into only as far as its number says that it is one of ours and of this version. */
#include "api/plugins.h"
#include "base/fail.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ISO C has no way from a pointer to data to one to a function; POSIX asks for these bytes to be the same. */
static bool plugins_find(void *object, const char *name, void *function, size_t size)
{
    void *at = dlsym(object, name);
    memcpy(function, &at, size);
    return at != NULL;
}

static bool take_solvers(const char *path, const struct lx_solver *const *s,
                         bool (*add)(void *context, const struct lx_solver *s, lx_status *st), void *context,
                         lx_status *st)
{
    for (; *s; s++) {
        if ((*s)->abi != LX_SOLVER_ABI || !(*s)->name || !*(*s)->name || !(*s)->summary || !(*s)->solve)
            return status_set(st, LX_E_MISMATCH,
                              "plug-in %.300s: a solver without number, name, summary or function", path);
        if (!add(context, *s, st)) return false;
    }
    return true;
}

static bool plugins_load(const char *path,
                         bool (*add)(void *context, const struct lx_solver *s, lx_status *st), void *context,
                         lx_status *st)
{
    int (*abi)(void);
    const struct lx_solver *const *(*solvers)(void);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!object) return status_set(st, LX_E_IO, "cannot load the plug-in %.300s: %.300s", path, dlerror());
    bool ok = false;
    if (!plugins_find(object, "lx_plugin_abi", &abi, sizeof abi) ||
        !plugins_find(object, "lx_plugin_solvers", &solvers, sizeof solvers))
        status_set(st, LX_E_MISMATCH,
                   "%.300s is no plug-in with solvers; <lxplan/solver.h> says how to make one", path);
    else if (abi() != LX_SOLVER_ABI)
        status_set(st, LX_E_MISMATCH,
                   "plug-in %.300s was built for version %d of solvers, this is %d; build it again", path,
                   abi(), LX_SOLVER_ABI);
    else
        ok = take_solvers(path, solvers(), add, context, st);
    dlclose(object);
    return ok;
}

bool lx_plugins_load(const char *paths, bool (*add)(void *context, const struct lx_solver *s, lx_status *st),
                     void *context, lx_status *st)
{
    char path[PATH_MAX];
    for (size_t length; *(paths += strspn(paths, ":")); paths += length) {
        length = strcspn(paths, ":");
        if (length >= sizeof path)
            return status_set(st, LX_E_IO, "cannot load the plug-in %.300s: its path is too long", paths);
        snprintf(path, sizeof path, "%.*s", (int)length, paths);
        if (!plugins_load(path, add, context, st)) return false;
    }
    return true;
}
