/* Loads the driver and the run-time compiler. */
#include "gpu/driver.h"

#include <dlfcn.h>

/* A function of a library; each is as large as a pointer to an object. */
static bool driver_symbol(void *library, const char *symbol, void *function, lx_status *st)
{
    void *at = dlsym(library, symbol);
    memcpy(function, &at, sizeof at);
    return at || status_set(st, LX_E_UNSUPPORTED, "the driver has no %s: it is too old", symbol);
}

static void *driver_open(const char *const *names, char *why, size_t size)
{
    void *library = NULL;
    for (; !library && *names; names++) {
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        const char *said = library ? NULL : dlerror();
        if (said) snprintf(why, size, "%s", said);
    }
    return library;
}

bool gpu_driver_load(struct gpu_driver *d, lx_status *st)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    char why[200] = "";
    bool ok = true;
    d->library = driver_open(names, why, sizeof why);
    if (!d->library) return status_set(st, LX_E_UNSUPPORTED, "no driver of an NVIDIA GPU: %s", why);
#define GPU_LOAD(name, symbol, parameters) ok = ok && driver_symbol(d->library, symbol, &d->name, st);
    GPU_DRIVER(GPU_LOAD)
#undef GPU_LOAD
    return ok;
}

bool gpu_compiler_load(struct gpu_compiler *c, lx_status *st)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so", NULL};
    char why[200] = "";
    bool ok = true;
    c->library = driver_open(names, why, sizeof why);
    if (!c->library) return status_set(st, LX_E_UNSUPPORTED, "no run-time compiler: %s", why);
#define GPU_LOAD(name, symbol, parameters) ok = ok && driver_symbol(c->library, symbol, &c->name, st);
    GPU_COMPILER(GPU_LOAD)
#undef GPU_LOAD
    return ok;
}
