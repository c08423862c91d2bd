/* The library itself: version, errors, texts, the list of solvers, plug-ins. */
#include "api/api_handles.h"
#include "api/plugins.h"
#include "files/formats.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>

enum { ABI = 0 }; /* the number in the soname */

const char *lx_version(void)
{
    return LXPLAN_VERSION;
}

int32_t lx_abi(void)
{
    return ABI;
}

int32_t lx_has(const char *feature)
{
#ifdef LXPLAN_LOGGING
    const bool logging = true;
#else
    const bool logging = false;
#endif
    if (!feature) return 0;
    if (strcmp(feature, "logging") == 0) return logging;
    return strcmp(feature, "threads") == 0 || (strcmp(feature, "ilp") == 0 && lx_solver_find("ilp"));
}

lx_error *lx_error_new(void)
{
    API_CALL(NULL, NULL);
    return mem_zeroed(1, sizeof(lx_error));
}

void lx_error_free(lx_error *e)
{
    mem_free(e);
}

const char *lx_error_code(const lx_error *e)
{
    return lx_code_word(e ? e->st.code : LX_OK);
}

const char *lx_error_text(const lx_error *e)
{
    return e ? e->st.text : "";
}

const char *lx_error_place(const lx_error *e, int32_t *line, int32_t *column)
{
    if (line) *line = e ? e->st.line : 0;
    if (column) *column = e ? e->st.column : 0;
    return e && *e->st.file ? e->st.file : NULL;
}

static locale_t plain;

static void make_plain(void)
{
    plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

void api_enter(struct api_call *call, lx_error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    call->nowhere = (lx_status){0};
    call->st = e ? &e->st : &call->nowhere;
    call->st->code = LX_OK; /* not all of it: it is long, and calls are short */
    call->st->line = call->st->column = 0;
    *call->st->file = *call->st->text = 0;
    call->locale = plain ? uselocale(plain) : (locale_t)0;
}

int api_failed(struct api_call *call)
{
    call->border.number = 0;
    return status_no_memory(call->st);
}

void api_leave(struct api_call *call)
{
    if (call->locale) uselocale(call->locale);
    if (call->border.number) border_end(&call->border);
}

bool api_is_utf8(const char *what, const char *name, lx_status *st)
{
    size_t left = name ? strlen(name) : 0;
    for (int n; left > 0; name += n, left -= (size_t)n)
        if ((n = (unsigned char)*name < 0x80 ? 1 : utf8_length(name, left)) == 0)
            return status_set(st, LX_E_SYNTAX, "the name or words of a %s are not UTF-8 from byte 0x%02x on",
                              what, (unsigned)(unsigned char)*name);
    return true;
}

int32_t api_code(const lx_status *st)
{
    return st->code == LX_OK ? -LX_E_INTERNAL : -(int32_t)st->code;
}

lx_text *api_text(char *at, size_t length)
{
    if (!at) return NULL;
    lx_text *t = mem_alloc(sizeof *t);
    *t = (lx_text){at, (int64_t)length};
    return t;
}

const char *lx_text_data(const lx_text *t)
{
    return t ? t->at : "";
}

int64_t lx_text_size(const lx_text *t)
{
    return t ? t->size : 0;
}

void lx_text_free(lx_text *t)
{
    if (!t) return;
    mem_free(t->at);
    mem_free(t);
}

const struct lx_format *api_format(const char *name, lx_status *st)
{
    const struct lx_format *f = lx_format_find(strcmp(name, "csv") == 0 ? "minimalloc" : name);
    char known[300] = "";
    if (f) return f;
    for (f = lx_formats(); f->name; f++) {
        if (*known) strncat(known, ", ", sizeof known - strlen(known) - 1);
        strncat(known, f->name, sizeof known - strlen(known) - 1);
    }
    status_set(st, LX_E_UNKNOWN_NAME, "there is no format \"%.60s\"; there are: csv, %s", name, known);
    return NULL;
}

/* The capabilities of a solver as text, in the order of the bits. */
static const char *can_words(unsigned caps)
{
    static const char *const words[] = {"",
                                        "cost",
                                        "fit",
                                        "cost fit",
                                        "height",
                                        "cost height",
                                        "fit height",
                                        "cost fit height",
                                        "proves",
                                        "cost proves",
                                        "fit proves",
                                        "cost fit proves",
                                        "height proves",
                                        "cost height proves",
                                        "fit height proves",
                                        "cost fit height proves"};
    return words[caps & (LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_CAN_PROVE)];
}

const char *lx_solver_at(int32_t i, const char *field)
{
    const struct lx_solver *const *s = lx_solvers();
    if (i < 0 || !field) return NULL;
    while (i-- > 0 && *s) s++;
    if (!*s) return NULL;
    if (strcmp(field, "name") == 0) return (*s)->name;
    if (strcmp(field, "summary") == 0) return (*s)->summary;
    return strcmp(field, "can") == 0 ? can_words((*s)->caps) : NULL;
}

/* --- Plug-ins. A file is read further only if its number matches this version. --- */

/* ISO C cannot convert a data pointer to a function pointer; POSIX requires equal bytes. */
static bool plugins_find(void *object, const char *name, void *function, size_t size)
{
    void *at = dlsym(object, name);
    memcpy(function, &at, size);
    return at != NULL;
}

bool lx_plugin_load(const char *path, bool (*add)(void *context, const struct lx_solver *s, lx_status *st),
                    void *context, lx_status *st)
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
    else {
        ok = true;
        for (const struct lx_solver *const *s = solvers(); ok && *s; s++) {
            bool whole =
                (*s)->abi == LX_SOLVER_ABI && (*s)->name && *(*s)->name && (*s)->summary && (*s)->solve;
            ok = whole
                     ? add(context, *s, st)
                     : status_set(st, LX_E_MISMATCH,
                                  "plug-in %.300s: a solver without number, name, summary or function", path);
        }
    }
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
        if (!lx_plugin_load(path, add, context, st)) return false;
    }
    return true;
}
