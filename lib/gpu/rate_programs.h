/* Programs that measure one rate each. Private to the room. */
#pragma once

#include "gpu/machines.h"

/* A rate: the program repeats a body as often as the first number in HBM says, and the time of a repetition is
 * the difference of two times over the difference of the numbers. */
struct rate_program {
    const char *what, *unit;                  /* no unit: microseconds of a repetition */
    int64_t cores;                            /* 0: all */
    int repeats;                              /* 0: the whole launch is measured */
    int64_t lx_bytes, hbm_bytes, aside_bytes; /* HBM and aside per core and repetition, and per core */
    double each;  /* units of a core's repetition: 1,000 bytes, multiply-adds, functions; 0: it is a time */
    bool of_core; /* the rate is one core's, while all are busy */
    const char *body;
};

enum rate_program_id {
    RATE_SYNC_8,
    RATE_SYNC_32,
    RATE_SYNC_64,
    RATE_SYNC_128,
    RATE_SYNC,
    RATE_LAUNCH,
    RATE_READ_1,
    RATE_READ_8,
    RATE_READ_32,
    RATE_READ_64,
    RATE_READ,
    RATE_FILL_1,
    RATE_FILL_32,
    RATE_FILL,
    RATE_EXCHANGE_1K,
    RATE_EXCHANGE_8K,
    RATE_EXCHANGE_32K,
    RATE_EXCHANGE_64K,
    RATE_LX,
    RATE_MACS,
    RATE_EXP,
    RATE_PROGRAMS
};

extern const struct rate_program rate_programs[RATE_PROGRAMS];

/* Appends the program for `cores` cores, and says what it needs. */
void rate_program_write(const struct rate_program *r, int64_t cores, enum emit_on on, struct text *out,
                        struct emit_facts *facts);
/* The rate on `cores` cores of an open kind of machine; false: see `st`. */
bool rate_measure(const struct machine_kind *k, const struct rate_program *r, int64_t cores, double *out,
                  lx_status *st);
/* All of them, and the device by them. */
bool calibrate_rates(const struct machine_kind *k, const struct machine_room *room,
                     const struct lx_calibrate_options *how, struct lx_calibration *c, lx_status *st);
