/* The numbers that predicted times are made of: one table per device, with the origin of each number. Tables
 * that are built in are rows of cost_tables.c; a device from a file has one of its own. Numbers are measured
 * or fitted on a device with the table's nominal rates, and scale with the rates of the device that is timed
 * (lib/cost/rates.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a number is divided by. */
#define COST_RATE 1e-6
#define COST_MOST 1e12

/* X(id, key in files, which ends with its unit, the least, the most, its meaning) */
// clang-format off
#define COST_CONSTANTS(X) \
    X(COST_ONE_WAY,         "one_way_gb_per_s",       COST_RATE, COST_MOST, "HBM in one direction") \
    X(COST_TURNAROUND,      "turnaround_ns_per_byte", 0,         COST_MOST, "of each byte that goes both ways") \
    X(COST_CORE_PORT,       "core_port_gb_per_s",     COST_RATE, COST_MOST, "what one core can take of HBM's rate") \
    X(COST_ROW_FLOOR,       "row_floor_gb_per_s",     COST_RATE, COST_MOST, "a row reduction of very many rows") \
    X(COST_ROW_GAIN,        "row_gain_gb_per_s",      0,         COST_MOST, "and what it gains with few") \
    X(COST_ROW_SCALE,       "row_scale_rows",         COST_RATE, COST_MOST, "rows that make the gain a third") \
    X(COST_OUTER,           "outer_gb_per_s",         COST_RATE, COST_MOST, "a reduction across rows") \
    X(COST_RESTICK,         "restick_gb_per_s",       COST_RATE, COST_MOST, "a copy with the stick along another dimension") \
    X(COST_BROADCASTS,      "broadcasts_gb_per_s",    COST_RATE, COST_MOST, "an op with an operand of fewer indices") \
    X(COST_SHARE_1,         "share_1",                COST_RATE, COST_MOST, "of its rate that a row reduction reaches on one core") \
    X(COST_SHARE_2,         "share_2",                COST_RATE, COST_MOST, "and on 2") \
    X(COST_SHARE_4,         "share_4",                COST_RATE, COST_MOST, "and on 4") \
    X(COST_SHARE_8,         "share_8",                COST_RATE, COST_MOST, "and on 8") \
    X(COST_SHARE_16,        "share_16",               COST_RATE, COST_MOST, "and on 16") \
    X(COST_SHARE_32,        "share_32",               COST_RATE, COST_MOST, "and on 32 and more") \
    X(COST_STREAM_CAP,      "stream_cap_gb_per_s",    COST_RATE, COST_MOST, "all readers of one operand of a matmul together") \
    X(COST_RUN_OVERHEAD,    "run_overhead_sticks",    0,         COST_MOST, "what beginning a run of consecutive sticks costs") \
    X(COST_PSUM,            "psum_us_per_kb",         0,         COST_MOST, "a core's partial sums through one reduce step") \
    X(COST_COMPUTE_SHOWN,   "compute_shown",          0,         COST_MOST, "share of a matmul's compute time that transfers do not hide") \
    X(COST_COMPUTE_REDUCED, "compute_reduced",        0,         COST_MOST, "the same where K is split: one corelet, and sums wait") \
    X(COST_KERNEL_PASSES,   "kernel_passes",          0,         COST_MOST, "a batched kernel of several K sticks per core: added read time") \
    X(COST_SLICE_1,         "slice_1_gb_per_s",       COST_RATE, COST_MOST, "one slice of an operand that one core wants") \
    X(COST_SLICE_2,         "slice_2_gb_per_s",       COST_RATE, COST_MOST, "that 2 want") \
    X(COST_SLICE_4,         "slice_4_gb_per_s",       COST_RATE, COST_MOST, "that 4 want") \
    X(COST_SLICE_8,         "slice_8_gb_per_s",       COST_RATE, COST_MOST, "that 8 want") \
    X(COST_SLICE_16,        "slice_16_gb_per_s",      COST_RATE, COST_MOST, "that 16 want") \
    X(COST_SLICE_32,        "slice_32_gb_per_s",      COST_RATE, COST_MOST, "that 32 and more want") \
    X(COST_MACS,            "multiply_adds_per_us",   COST_RATE, COST_MOST, "multiply-adds of one core") \
    X(COST_PE_ROWS,         "pe_rows",                COST_RATE, COST_MOST, "rows of the array that multiplies") \
    X(COST_PE_PASSES,       "pe_passes",              COST_RATE, COST_MOST, "passes over it that keep it busy") \
    X(COST_PE_EXPONENT,     "pe_exponent",            0,         4,         "fewer passes slow it down with this power") \
    X(COST_HOP,             "hop_ns",                 0,         COST_MOST, "a run through each doubling of the parts of a relayout") \
    X(COST_RUN,             "run_ns",                 0,         COST_MOST, "subtracted once for each run (cost_relayout)") \
    X(COST_RELAYOUT,        "relayout_gb_per_s",      COST_RATE, COST_MOST, "what each core receives of a relayout") \
    X(COST_LX_PORT,         "lx_port_gb_per_s",       COST_RATE, COST_MOST, "what one core can take of its scratchpad") \
    X(COST_LAUNCH,          "launch_us",              0,         COST_MOST, "of a bundle") \
    X(COST_LAUNCH_OPERAND,  "launch_operand_us",      0,         COST_MOST, "of each operand that goes through HBM") \
    X(COST_LAUNCH_DOUBLING, "launch_doubling_us",     0,         COST_MOST, "of each doubling of its cores") \
    X(COST_CREDIT,          "credit_bytes",           0,         COST_MOST, "of a plan that cost no HBM time") \
    X(COST_SYNC,            "sync_us",                0,         COST_MOST, "one sync of all cores") \
    X(COST_LOOP,            "loop_us",                0,         COST_MOST, "one iteration of a nest inside a launch, beside its ops") \
    X(COST_TICK,            "tick_us",                0,         COST_MOST, "beginning and ending an op on a core") \
    X(COST_FOLD,            "fold_us",                0,         COST_MOST, "of a reduction, until lanes have met") \
    X(COST_STEP,            "step_us",                0,         COST_MOST, "of a stick of terms of a contraction, besides") \
    X(COST_CONTRACT,        "contract_us",            0,         COST_MOST, "of a contraction, besides its sticks of terms") \
    X(COST_FUNCTION,        "function_us",            0,         COST_MOST, "of an op that computes an exponential or the like") \
    X(COST_MEET,            "meet_us",                0,         COST_MOST, "of the cores of a split sum, until they have met") \
    X(COST_LATENCY,         "latency_us",             0,         COST_MOST, "until the first byte comes from HBM, or from another core") \
    X(COST_FILL,            "fill_gb_per_s",          COST_RATE, COST_MOST, "what one core receives of a load") \
    X(COST_BEGIN,           "begin_us",               0,         COST_MOST, "beginning and ending a bundle on the device")
// clang-format on

#define COST_CONSTANT_ID(id, ...) id,
enum cost_constant_id { COST_CONSTANTS(COST_CONSTANT_ID) COST_CONSTANT_COUNT };
#undef COST_CONSTANT_ID

/* The six that were fitted, next to each other: tests/measure/bench_matmul_picks.c fits them again. */
enum {
    COST_FITTED = COST_STREAM_CAP,
    COST_FITTED_COUNT = COST_KERNEL_PASSES - COST_STREAM_CAP + 1,
    COST_DOUBLINGS = 6
};

/* What a number of a table goes with: nothing, or a rate of the device; times go down as a rate goes up. */
#define COST_SCALES(X)                                                                                       \
    X(COST_FIXED, "fixed")                                                                                   \
    X(COST_BY_HBM, "by_hbm")                                                                                 \
    X(COST_OVER_HBM, "over_hbm")                                                                             \
    X(COST_BY_RING, "by_ring")                                                                               \
    X(COST_OVER_PSUM, "over_psum")                                                                           \
    X(COST_BY_LX, "by_lx")                                                                                   \
    X(COST_BY_PEAK, "by_peak")

#define COST_SCALE_ID(id, word) id,
enum cost_scale { COST_SCALES(COST_SCALE_ID) COST_SCALE_COUNT };
#undef COST_SCALE_ID

enum { COST_NAME = 24, COST_HELP = 80, COST_ORIGIN = 128 };

struct cost_number {
    double value;
    enum cost_scale scale;
    char origin[COST_ORIGIN]; /* where it is from */
};

/* Plain values: a copy is a table of its own. */
struct cost_table {
    char name[COST_NAME], help[COST_HELP]; /* no name: no table */
    double hbm_gb_per_s, ring_gb_per_s, psum_ring_gb_per_s, lx_gb_per_s, peak_gflop_per_s; /* nominal */
    /* Transfers hide all compute time that they can, and a core computes whole tiles. */
    bool hides_compute, whole_tiles;
    bool shares_sums; /* each core of a group adds up a share of the sum, instead of one all of it */
    struct cost_number number[COST_CONSTANT_COUNT];
};

/* A number of every table: its key in files, its range and its meaning. */
struct cost_row {
    const char *key;
    double least, most;
    const char *help;
};
extern const struct cost_row cost_rows[COST_CONSTANT_COUNT];

/* A nominal rate of every table, by the key of the device's own. NULL-terminated. */
struct cost_nominal {
    const char *key;
    size_t offset;
};
extern const struct cost_nominal cost_nominals[];

const char *cost_scale_word(enum cost_scale scale);
/* COST_SCALE_COUNT: there is none. */
enum cost_scale cost_scale_find(const char *word);

/* The tables that are built in; NULL: there is none. */
const struct cost_table *cost_table_at(int i);
const struct cost_table *cost_table_find(const char *name);
double cost_table_nominal(const struct cost_table *t, int i);
bool cost_number_same(const struct cost_number *a, const struct cost_number *b);
bool cost_table_same(const struct cost_table *a, const struct cost_table *b);
