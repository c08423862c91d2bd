/* The kinds of machines, as program_run.c sees them. Private to the room. */
#pragma once

#include "emit/emit.h"
#include "gpu/gpu.h"

struct machine_room {
    int64_t cores, lx_bytes; /* 0: as many as a program wants */
    int64_t cache_bytes;     /* shared by all cores; 0: unknown */
};

struct machine_kind {
    struct lx_machine_kind is;
    enum emit_on on;
    /* `words`: its name, then its features behind a comma. */
    bool (*there)(char *words, size_t size, struct machine_room *room, lx_status *st);
    /* Compiles the program and gets its memories. NULL: see `st`. */
    void *(*open)(const struct text *program, const struct emit_facts *facts, lx_status *st);
    /* Puts HBM there, fills the rest with NaNs, launches, and reads back HBM and the trace area, which is
     * zeros before the first launch. */
    bool (*run)(void *machine, void *hbm, void *trace, lx_status *st);
    /* Microseconds of each launch, in rounds over `sets` copies of HBM; NULL: the machine has no clock
     * worth it. */
    bool (*time)(void *machine, const void *hbm, int launches, struct lx_measured *out, lx_status *st);
    void (*close)(void *machine);
};

extern const struct machine_kind machine_kind_gpu, machine_kind_host;
/* NULL, with `st`: there is none of that name. */
const struct machine_kind *machine_kind_find(const char *name, lx_status *st);

/* HBM as programs find it: NaNs everywhere, and the inputs as `lxplan run` makes them. */
unsigned char *program_memory(const struct lx_plan *p, const struct lx_device_options *how);

/* The exit status of a command whose words to people go to the file `said`; -1: it could not be run. */
int process_run(char *const *words, const char *said);

/* The bytes in what ncu has said. */
bool dram_read_said(const char *said, struct lx_measured *out, lx_status *st);

/* A program in a file, and the file that a compiler made from it. */
struct compiled_file {
    char source[64], made[64];
};

/* Writes `program` to a new file with `suffix` and runs the command `words`, in which "%s" stands for this
 * file and "%o" for the result. `out` names both files. False: `st` has the compiler's first words. */
bool compile_with(const char *const *words, const struct text *program, const char *suffix,
                  struct compiled_file *out, lx_status *st);
void compiled_remove(const struct compiled_file *f);
