/* Running a plan's program for real: on a GPU, through its driver, or on the host, through its C compiler.
 *
 * Nothing is needed to build the library: the driver and the run-time compiler are loaded when they are
 * asked for, and a missing one is an error that names it. A program is run twice. With traces: every
 * result is read back, and the judge of the simulated device (device/device.h) judges each op on the
 * operands that the machine itself had made. Without: what a person would run; its outputs must have the
 * same bits, and it is timed. Where it is timed, a third program adds up the time of each op, and a fourth the
 * bytes that it asks for. */
#pragma once

#include "device/device.h"

/* A kind of machine that programs run on. */
struct lx_machine_kind {
    const char *name, *help;
    bool has_clock; /* times of programs there mean something */
};

/* NULL after the last. */
const struct lx_machine_kind *lx_machine_kind_at(int i);
/* Is a machine of this kind here? `words` gets its name and features. False: `st` names the missing part. */
bool lx_machine_there(const char *kind, char *words, size_t size, lx_status *st);

struct lx_measured {
    char machine[96];
    int launches;               /* timed launches; 0: not timed */
    int sets;                   /* of inputs, used in turn by the launches */
    double median_us, least_us; /* of one launch */
    double seconds_compile;     /* of both programs */
    int64_t outputs_differing;  /* bytes of outputs in which the program without traces differs */
    int64_t outputs_lost;       /* elements of outputs in HBM that are not what the last op made */
    double stamps_us;           /* of one launch of the program that has stamps; 0: not run */
    int64_t asked_bytes; /* of memory beyond the scratchpads, by all cores of a launch; 0: not counted */
    int64_t cache_bytes; /* of the cache that all cores share; 0: unknown */
    int64_t dram_read, dram_written; /* bytes, by ncu; both 0: not counted */
};

struct lx_program_options {
    const char *machine;            /* a kind's name */
    struct lx_device_options judge; /* seed, verify, threads, progress, stop */
    int launches;                   /* to time, in all and op by op; 0: none */
    bool counts;                    /* of lx_program_time: bytes that it asks for as well */
};

/* The judge's result: NULL with `st` where the program cannot be made or run. Nothing is measured of a
 * plan whose outputs differ. */
struct lx_run_result *lx_program_run(const struct lx_plan *p, const struct lx_program_options *how,
                                     struct lx_measured *measured, lx_status *st);
/* The bytes of DRAM that a launch of the plan's program moves, as NVIDIA's ncu counts them while `program`
 * (this one, by its path) runs the plan: caches are empty before. False: there is no ncu, or it may not. */
bool lx_program_dram(const struct lx_plan *p, const char *program, struct lx_measured *measured,
                     lx_status *st);
/* The plan's program, run and timed but not judged. Where the machine has no clock nothing is measured. */
bool lx_program_time(const struct lx_plan *p, const struct lx_program_options *how,
                     struct lx_measured *measured, lx_status *st);

/* --- The numbers of a machine --- */

/* One rate, or the microseconds of one thing where it has no unit. */
struct lx_rate {
    const char *what, *unit;
    int64_t cores;
    double value;
};

enum { LX_MOST_RATES = 32 };

struct lx_calibration {
    char machine[96];
    struct lx_device device;
    struct lx_rate rate[LX_MOST_RATES];
    int rate_count;
    double median_off, worst_off; /* of the programs that numbers were fitted to: predicted over measured */
};

struct lx_calibrate_options {
    const char *machine;          /* a kind's name */
    const struct lx_device *like; /* whose numbers stay where none is measured */
    void (*progress)(void *context, const char *what, int done, int all);
    bool (*stop)(void *context);
    void *context;
};

/* Measures the rates of a machine that has a clock, and makes them those of `out->device`. */
bool lx_calibrate(const struct lx_calibrate_options *how, struct lx_calibration *out, lx_status *st);
/* The graphs whose programs tell the rest, in turn; a reference. NULL after the last. */
const struct lx_graph *lx_calibration_graph(int i, lx_status *st);
/* Fits the numbers that no rate tells, so that the clock predicts these measured microseconds of plans. */
void lx_calibration_fit(struct lx_calibration *c, const struct lx_plan *const *plans, const double *us,
                        int count);
