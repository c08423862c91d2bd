/* The host as a machine: the program becomes a shared object by the C compiler, and a core a thread. */
#include "gpu/machines.h"

#include <dlfcn.h>

typedef void launch_function(char *hbm, char *aside, char *trace, unsigned *counters, unsigned *fault);

struct host_machine {
    struct compiled_file file;
    void *object;
    launch_function *launch;
    struct emit_facts facts;
    char *aside;
    unsigned *counters;
};

static void machine_host_close(void *machine)
{
    OWNED struct host_machine *m = machine;
    if (m->object) dlclose(m->object);
    if (m->file.source[0]) compiled_remove(&m->file);
    mem_free(m->aside);
    mem_free(m->counters);
}

static void *machine_host_open(const struct text *program, const struct emit_facts *facts, lx_status *st)
{
    static const char *const words[] = {"cc", "-std=gnu17", "-O2", "-w", "-shared", "-fPIC",    "-x",
                                        "c",  "%s",         "-o",  "%o", "-lm",     "-pthread", NULL};
    struct host_machine *m = mem_zeroed(1, sizeof *m);
    m->facts = *facts;
    if (!compile_with(words, program, ".c", &m->file, st)) {
        m->file.source[0] = 0;
        return machine_host_close(m), NULL;
    }
    m->object = dlopen(m->file.made, RTLD_NOW | RTLD_LOCAL);
    void *found = m->object ? dlsym(m->object, "launch_plan") : NULL;
    if (!found) {
        const char *why = dlerror();
        status_set(st, LX_E_UNSUPPORTED, "the program cannot be loaded: %s",
                   why ? why : "no launch_plan in it");
        return machine_host_close(m), NULL;
    }
    memcpy(&m->launch, &found, sizeof m->launch);
    m->aside = mem_alloc((size_t)max_i64(facts->aside_bytes, 1));
    m->counters = mem_zeroed((size_t)facts->counters, sizeof *m->counters);
    return m;
}

static bool machine_host_run(void *machine, void *hbm, void *trace, lx_status *st)
{
    struct host_machine *m = machine;
    unsigned fault[2] = {0};
    memset(m->aside, 0xff, (size_t)max_i64(m->facts.aside_bytes, 1));
    m->launch(hbm, m->aside, trace, m->counters, fault);
    if (!fault[0]) return true;
    return status_set(st, LX_E_NO, "core %u waited in vain at tick %u", fault[1], fault[0] - 1);
}

static bool machine_host_there(char *words, size_t size, struct machine_room *room, lx_status *st)
{
    static const char *const version[] = {"cc", "--version", NULL};
    SCOPED(text_free) struct text none = {0};
    struct compiled_file f;
    text_add(&none, "\n");
    bool ok = compile_with(version, &none, ".c", &f, st);
    if (ok) compiled_remove(&f);
    *room = (struct machine_room){0};
    snprintf(words, size, "the C compiler cc, a thread per core");
    return ok;
}

const struct machine_kind machine_kind_host = {
    .is = {"host", "this machine: the program compiled by cc, a core a thread", false},
    .on = EMIT_HOST,
    .there = machine_host_there,
    .open = machine_host_open,
    .run = machine_host_run,
    .close = machine_host_close,
};
