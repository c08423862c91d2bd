/* Running a plan's program for real: on a GPU, through its driver, or on the host, through its C compiler.
 *
 * The build needs neither: the driver and the run-time compiler are loaded on first use, and an error names
 * the one that is missing. A program is run twice. The run with traces reads every result back, and the judge
 * of the simulated device (device/device.h) judges each op on the operands that the machine itself made. The
 * run without traces must give outputs with the same bits, and is timed. */
#ifndef LX_GPU_GPU_H
#define LX_GPU_GPU_H

#include "device/device.h"

/* A kind of machine that programs run on. */
struct lx_machine_kind {
    const char *name, *help;
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
};

struct lx_program_options {
    const char *machine;            /* a kind's name */
    struct lx_device_options judge; /* seed, verify, threads, progress, stop */
    int launches;                   /* to time; 0: none */
};

/* The judge's result: NULL with `st` where the program cannot be made or run. Nothing is measured of a
 * plan whose outputs differ. */
struct lx_run_result *lx_program_run(const struct lx_plan *p, const struct lx_program_options *how,
                                     struct lx_measured *measured, lx_status *st);

#endif
