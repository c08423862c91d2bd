/* An NVIDIA GPU as a machine. The program is compiled for the device by nvrtc, or by nvcc where only that
 * is there, and launched cooperatively: all blocks are resident, so that they can wait for each other. */
#include "gpu/driver.h"
#include "gpu/machines.h"

/* Attributes of devices and functions, by the numbers that the driver has for them. */
enum {
    DEVICE_MULTIPROCESSORS = 16,
    DEVICE_CACHE = 38,
    DEVICE_MAJOR = 75,
    DEVICE_MINOR = 76,
    DEVICE_SHARED_OPTIN = 97,
    FUNCTION_SHARED = 8,
    PIN_MAPPED = 2,
    STREAM_ORDERED = 0, /* with copies and fills, which have no stream of their own */
    CAPTURE_RELAXED = 2,
};

struct gpu_machine {
    struct gpu_driver d;
    struct emit_facts facts;
    int device, major, minor, cores, shared, cache;
    void *context, *module, *function, *stream;
    gpu_address hbm, aside, trace, counters;
    unsigned *fault; /* of the host's memory: it outlives a launch that has ended with an error */
};

static bool gpu_ok(const struct gpu_driver *d, int error, const char *what, lx_status *st)
{
    const char *text = NULL;
    if (!error) return true;
    if (d->error_text) d->error_text(error, &text);
    return status_set(st, LX_E_UNSUPPORTED, "%s: %s", what, text ? text : "an error of the driver");
}

static bool gpu_find(struct gpu_machine *m, char *name, size_t size, lx_status *st)
{
    struct gpu_driver *d = &m->d;
    return gpu_driver_load(d, st) && gpu_ok(d, d->init(0), "the driver finds no GPU", st) &&
           gpu_ok(d, d->device(&m->device, 0), "no GPU", st) &&
           gpu_ok(d, d->device_name(name, (int)size, m->device), "its name", st) &&
           gpu_ok(d, d->attribute(&m->major, DEVICE_MAJOR, m->device), "its version", st) &&
           gpu_ok(d, d->attribute(&m->minor, DEVICE_MINOR, m->device), "its version", st) &&
           gpu_ok(d, d->attribute(&m->cache, DEVICE_CACHE, m->device), "its cache", st) &&
           gpu_ok(d, d->attribute(&m->cores, DEVICE_MULTIPROCESSORS, m->device), "its size", st) &&
           gpu_ok(d, d->attribute(&m->shared, DEVICE_SHARED_OPTIN, m->device), "its memory", st);
}

static bool machine_gpu_there(char *words, size_t size, struct machine_room *room, lx_status *st)
{
    OWNED struct gpu_machine *m = mem_zeroed(1, sizeof *m);
    char name[64] = "";
    bool ok = gpu_find(m, name, sizeof name, st);
    if (ok)
        snprintf(words, size, "%.40s, %d multiprocessors, %d bytes of shared memory", name, m->cores,
                 m->shared);
    *room = (struct machine_room){m->cores, m->shared, m->cache};
    return ok;
}

/* --- compiling --- */

static void *gpu_compile_nvrtc(const struct gpu_compiler *c, const char *text, const char *arch,
                               lx_status *st)
{
    const char *options[] = {arch, "--std=c++17", "--diag-suppress=177"};
    void *program = NULL;
    char *image = NULL;
    size_t size = 0;
    if (c->create(&program, text, "plan.cu", 0, NULL, NULL))
        return status_set(st, LX_E_UNSUPPORTED, "nvrtc takes no program"), NULL;
    if (c->compile(program, 3, options) || c->size(program, &size) || size == 0) {
        OWNED char *log = c->log_size(program, &size) ? NULL : mem_zeroed(size + 1, 1);
        if (log) c->log(program, log);
        status_set(st, LX_E_INTERNAL, "nvrtc refuses the program: %.600s", log ? log : "");
    } else {
        image = mem_zeroed(size + 1, 1);
        if (c->image(program, image)) {
            mem_free(image);
            image = NULL;
            status_set(st, LX_E_INTERNAL, "nvrtc gives no image");
        }
    }
    c->destroy(&program);
    return image;
}

static void *gpu_compile_nvcc(const struct text *program, const char *arch, lx_status *st)
{
    const char *const words[] = {"nvcc", "-w", "-std=c++17", arch, "-cubin", "-o", "%o", "%s", NULL};
    struct compiled_file f;
    char *image = NULL;
    if (!compile_with(words, program, ".cu", &f, st)) return NULL;
    FILE *file = fopen(f.made, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    if (size > 0) {
        image = mem_zeroed((size_t)size + 1, 1);
        rewind(file);
        if (fread(image, 1, (size_t)size, file) != (size_t)size) size = 0;
    }
    if (file) fclose(file);
    compiled_remove(&f);
    if (size > 0) return image;
    mem_free(image);
    return status_set(st, LX_E_IO, "what nvcc made cannot be read"), NULL;
}

static void *gpu_compile(const struct gpu_machine *m, const struct text *program, lx_status *st)
{
    char arch[40];
    struct gpu_compiler c = {0};
    lx_status none = {0};
    snprintf(arch, sizeof arch, "-arch=sm_%d%d%s", m->major, m->minor, m->major == 9 ? "a" : "");
    if (gpu_compiler_load(&c, &none)) return gpu_compile_nvrtc(&c, program->at, arch, st);
    void *image = gpu_compile_nvcc(program, arch, st);
    if (!image && st && st->code != LX_E_MEMORY && strstr(st->text, "no such compiler"))
        status_set(st, LX_E_UNSUPPORTED, "%.300s, and no nvcc", none.text);
    return image;
}

/* --- memory and launches --- */

static void machine_gpu_close(void *machine)
{
    OWNED struct gpu_machine *m = machine;
    struct gpu_driver *d = &m->d;
    gpu_address *all[] = {&m->hbm, &m->aside, &m->trace, &m->counters};
    if (m->context) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (*all[i]) d->deallocate(*all[i]);
        if (m->fault) d->unpin(m->fault);
        if (m->stream) d->stream_end(m->stream);
        if (m->module) d->unload(m->module);
        d->release(m->device);
    }
}

static bool gpu_allocate(struct gpu_machine *m, lx_status *st)
{
    struct gpu_driver *d = &m->d;
    const struct emit_facts *f = &m->facts;
    void *fault = NULL;
    bool ok =
        gpu_ok(d, d->allocate(&m->hbm, (size_t)max_i64(f->hbm_bytes, 1)), "HBM for the plan", st) &&
        gpu_ok(d, d->allocate(&m->aside, (size_t)max_i64(f->aside_bytes, 1)), "memory aside", st) &&
        gpu_ok(d, d->allocate(&m->trace, (size_t)max_i64(f->trace_bytes, 1)), "memory for traces", st) &&
        gpu_ok(d, d->allocate(&m->counters, (size_t)f->counters * 4), "counters", st) &&
        gpu_ok(d, d->fill(m->counters, 0, (size_t)f->counters * 4), "counters", st) &&
        gpu_ok(d, d->fill(m->trace, 0, (size_t)max_i64(f->trace_bytes, 1)), "memory for traces", st) &&
        gpu_ok(d, d->fill(m->aside, 0xff, (size_t)max_i64(f->aside_bytes, 1)), "memory aside", st) &&
        gpu_ok(d, d->pin(&fault, 2 * sizeof *m->fault, PIN_MAPPED), "a place for faults", st);
    m->fault = fault;
    if (ok) memset(fault, 0, 2 * sizeof *m->fault);
    return ok;
}

static void *machine_gpu_open(const struct text *program, const struct emit_facts *facts, lx_status *st)
{
    struct gpu_machine *m = mem_zeroed(1, sizeof *m);
    struct gpu_driver *d = &m->d;
    char name[64];
    OWNED void *image = NULL;
    m->facts = *facts;
    bool ok = gpu_find(m, name, sizeof name, st);
    if (ok && facts->cores > m->cores)
        ok = status_set(st, LX_E_CORES, "the plan has %d cores, and %s has %d multiprocessors",
                        (int)facts->cores, name, m->cores);
    if (ok && facts->lx_bytes > m->shared)
        ok = status_set(st, LX_E_LIMIT,
                        "the program wants %lld bytes of shared memory, and a block of %s has %d",
                        (long long)facts->lx_bytes, name, m->shared);
    if (ok) image = gpu_compile(m, program, st);
    ok =
        image && gpu_ok(d, d->retain(&m->context, m->device), "the GPU", st) &&
        gpu_ok(d, d->current(m->context), "the GPU", st) &&
        gpu_ok(d, d->stream(&m->stream, STREAM_ORDERED), "a stream", st) &&
        gpu_ok(d, d->load(&m->module, image), "the program", st) &&
        gpu_ok(d, d->function(&m->function, m->module, "plan"), "the program", st) &&
        gpu_ok(d, d->set_function(m->function, FUNCTION_SHARED, (int)facts->lx_bytes), "shared memory", st) &&
        gpu_allocate(m, st);
    if (ok) return m;
    machine_gpu_close(m);
    return NULL;
}

static int gpu_launch(struct gpu_machine *m, gpu_address hbm)
{
    gpu_address fault = (gpu_address)(uintptr_t)m->fault; /* one address for both */
    void *arguments[] = {&hbm, &m->aside, &m->trace, &m->counters, &fault};
    return m->d.launch(m->function, (unsigned)m->facts.cores, 1, 1, (unsigned)m->facts.threads, 1, 1,
                       (unsigned)m->facts.lx_bytes, m->stream, arguments);
}

/* What a launch has ended with. */
static bool gpu_ended(struct gpu_machine *m, int error, lx_status *st)
{
    if (m->fault[0])
        return status_set(st, LX_E_NO, "core %u waited in vain at tick %u", m->fault[1], m->fault[0] - 1);
    return gpu_ok(&m->d, error, "the launch", st);
}

static bool machine_gpu_run(void *machine, void *hbm, void *trace, lx_status *st)
{
    struct gpu_machine *m = machine;
    struct gpu_driver *d = &m->d;
    const struct emit_facts *f = &m->facts;
    return gpu_ok(d, d->upload(m->hbm, hbm, (size_t)f->hbm_bytes), "the inputs", st) &&
           gpu_ok(d, gpu_launch(m, m->hbm), "the launch", st) && gpu_ended(m, d->wait(m->stream), st) &&
           gpu_ok(d, d->download(hbm, m->hbm, (size_t)f->hbm_bytes), "the outputs", st) &&
           (!trace || !f->trace_bytes ||
            gpu_ok(d, d->download(trace, m->trace, (size_t)f->trace_bytes), "the traces", st));
}

/* --- time --- */

/* Launches in turn over copies of HBM that do not fit into L2 together, as one graph. */
struct gpu_timing {
    struct gpu_machine *m;
    gpu_address *set;
    int sets;
    void *graph, *executable, *begin, *end;
};

static bool gpu_timing_make(struct gpu_timing *t, const void *hbm, lx_status *st)
{
    struct gpu_machine *m = t->m;
    struct gpu_driver *d = &m->d;
    size_t bytes = (size_t)max_i64(m->facts.hbm_bytes, 1);
    bool ok =
        gpu_ok(d, d->event(&t->begin, 0), "a clock", st) && gpu_ok(d, d->event(&t->end, 0), "a clock", st);
    for (int i = 0; ok && i < t->sets; i++)
        ok = gpu_ok(d, d->allocate(&t->set[i], bytes), "HBM for the plan", st) &&
             gpu_ok(d, d->upload(t->set[i], hbm, (size_t)m->facts.hbm_bytes), "the inputs", st);
    ok = ok && gpu_ok(d, d->capture(m->stream, CAPTURE_RELAXED), "a graph", st);
    for (int i = 0; ok && i < t->sets; i++)
        ok = gpu_ok(d, gpu_launch(m, t->set[i]), "the launch in a graph", st);
    return ok && gpu_ok(d, d->captured(m->stream, &t->graph), "a graph", st) &&
           gpu_ok(d, d->instantiate(&t->executable, t->graph, 0), "a graph", st);
}

static void gpu_timing_free(struct gpu_timing *t)
{
    struct gpu_driver *d = &t->m->d;
    if (t->executable) d->executable_end(t->executable);
    if (t->graph) d->graph_end(t->graph);
    if (t->begin) d->event_end(t->begin);
    if (t->end) d->event_end(t->end);
    for (int i = 0; i < t->sets; i++)
        if (t->set[i]) d->deallocate(t->set[i]);
    mem_free(t->set);
}

/* One round over all sets, in microseconds per launch; negative: it failed. */
static double gpu_timing_round(struct gpu_timing *t, lx_status *st)
{
    struct gpu_driver *d = &t->m->d;
    float ms = 0;
    bool ok = gpu_ok(d, d->record(t->begin, t->m->stream), "a clock", st) &&
              gpu_ok(d, d->launch_graph(t->executable, t->m->stream), "a launch", st) &&
              gpu_ok(d, d->record(t->end, t->m->stream), "a clock", st) &&
              gpu_ended(t->m, d->event_wait(t->end), st) &&
              gpu_ok(d, d->elapsed(&ms, t->begin, t->end), "a clock", st);
    return ok ? (double)ms * 1e3 / t->sets : -1;
}

static bool machine_gpu_time(void *machine, const void *hbm, int launches, struct lx_measured *out,
                             lx_status *st)
{
    enum { SETS_LEAST = 4, SETS_MOST = 64, WARM_UP = 3, SETS_BYTES = 160 << 20 };
    SCOPED(gpu_timing_free) struct gpu_timing t = {.m = machine};
    int64_t bytes = max_i64(t.m->facts.hbm_bytes, 1);
    t.sets = (int)min_i64(max_i64(SETS_BYTES / bytes + 1, SETS_LEAST), SETS_MOST);
    t.set = mem_zeroed((size_t)t.sets, sizeof *t.set);
    int rounds = (int)max_i64(ceil_div_i64(launches, t.sets), 15);
    OWNED double *us = mem_zeroed((size_t)rounds, sizeof *us);
    bool ok = gpu_timing_make(&t, hbm, st);
    for (int i = -WARM_UP; ok && i < rounds; i++) {
        double one = gpu_timing_round(&t, st);
        ok = one >= 0;
        if (i >= 0) us[i] = one;
    }
    if (ok) {
        qsort(us, (size_t)rounds, sizeof *us, order_double);
        out->launches = rounds * t.sets;
        out->sets = t.sets;
        out->median_us = us[rounds / 2];
        out->least_us = us[0];
    }
    return ok;
}

const struct machine_kind machine_kind_gpu = {
    .is = {"gpu", "an NVIDIA GPU, by its driver and nvrtc or nvcc", true},
    .on = EMIT_CUDA,
    .there = machine_gpu_there,
    .open = machine_gpu_open,
    .run = machine_gpu_run,
    .time = machine_gpu_time,
    .close = machine_gpu_close,
};
