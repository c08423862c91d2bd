/* The rates of a machine that programs can tell, each as a body in the words of their preludes. */
#include "gpu/rate_programs.h"

enum {
    KIB = 1024,
    READ_BYTES = 1024 * KIB, /* of a core's repetition */
    SLAB_BYTES = 128 * KIB,
    EXP_ITEMS = 4,
};

#define MANY_LOADS                                                                                           \
    "    float sum = 0;\n"                                                                                   \
    "    for (int t = 0; t < times; t++) {\n"                                                                \
    "        const char *from = hbm + 1024 + (CORES * (i64)t + core) * 1048576;\n"                           \
    "        FOR_ITEMS(i, 8192) {\n"                                                                         \
    "            f4 v[8];\n"                                                                                 \
    "            EACH(j, 8) v[j] = load4_fp32(from + (j * 8192 + i) * 16);\n"                                \
    "            EACH(j, 8) sum += v[j].at[0] + v[j].at[3];\n"                                               \
    "        }\n"                                                                                            \
    "    }\n"                                                                                                \
    "    if (sum == 1) store_fp32(aside, sum);\n"

#define MANY_COPIES                                                                                          \
    "    for (int t = 0; t < times; t++) {\n"                                                                \
    "        const char *from = hbm + 1024 + (CORES * (i64)t + core) * 131072;\n"                            \
    "        FOR_ITEMS(i, 8192) copy16_in(LX(i * 16), from + i * 16);\n"                                     \
    "        meet_core();\n"                                                                                 \
    "    }\n"

/* Each core writes its part, and reads another core's. */
#define EXCHANGE(kib)                                                                                        \
    "    for (int t = 0; t < times; t++) {\n"                                                                \
    "        FOR_ITEMS(i, " #kib " * 64) copy16(aside + (core * " #kib " * 64 + i) * 16, LX(i * 16));\n"     \
    "        " EMIT_SYNC("0") "\n"                                                                           \
                              "        const int other = (core + 17) % CORES;\n"                             \
                              "        FOR_ITEMS(i, " #kib                                                   \
                              " * 64) copy16_in(LX(i * 16), aside + (other * " #kib " * 64 + i) * 16);\n"    \
                              "        meet_core();\n"                                                       \
                              "        " EMIT_SYNC("0") "\n"                                                 \
                                                        "    }\n"

#define SYNCS "    for (int t = 0; t < times; t++) " EMIT_SYNC("0") "\n"

#define LX_READS                                                                                             \
    "    float sum = 0;\n"                                                                                   \
    "    FOR_ITEMS(i, 8192) store4_fp32(LX(i * 16), same4(1));\n"                                            \
    "    meet_core();\n"                                                                                     \
    "    for (int t = 0; t < times; t++)\n"                                                                  \
    "        FOR_ITEMS(i, 1024) {\n"                                                                         \
    "            f4 v[8];\n"                                                                                 \
    "            EACH(j, 8) v[j] = load4_fp32(LX(((j * 1024 + i) * 16 + t * 128) % 131072));\n"              \
    "            EACH(j, 8) sum += v[j].at[0] + v[j].at[1] + v[j].at[2] + v[j].at[3];\n"                     \
    "        }\n"                                                                                            \
    "    if (sum == 1) store_fp32(aside, sum);\n"

#define PRODUCTS                                                                                             \
    "    FOR_ITEMS(i, 1024) store4_fp32(LX(i * 16), same4(0));\n"                                            \
    "    stages_written();\n"                                                                                \
    "    TILES(y, 8);\n"                                                                                     \
    "    EACH_WARP(warp) {\n"                                                                                \
    "        for (int t = 0; t < times; t++) {\n"                                                            \
    "            PRODUCT_BEGINS(y, 8);\n"                                                                    \
    "            EACH(j, 4) MULTIPLY(fp16, 64, 0, 0, OF_WARP(y, warp), warp, j * 32, 8192 + j * 32, "        \
    "8192);\n"                                                                                               \
    "            PRODUCT_ENDS(y, 8);\n"                                                                      \
    "        }\n"                                                                                            \
    "        EACH(j, 8) if (pair_of(&OF_WARP(y, warp)[j], 0).at[0] == 1) store_fp32(aside, 1);\n"            \
    "    }\n"

#define EXPONENTIALS                                                                                         \
    "    FOR_ITEMS(i, 512) {\n"                                                                              \
    "        float x[4];\n"                                                                                  \
    "        EACH(j, 4) x[j] = (float)(i + j) * 1e-3f;\n"                                                    \
    "        for (int t = 0; t < times; t++) EACH(j, 4) x[j] = op_exp(x[j]) * -0.1f;\n"                      \
    "        if (x[0] + x[1] + x[2] + x[3] == 1) store_fp32(aside, 1);\n"                                    \
    "    }\n"

#define MULTIPLY_ADDS (16 * 4 * 16 * 64 * 16) /* warps, times, and a warp's product */

/* clang-format off */
const struct rate_program rate_programs[RATE_PROGRAMS] = {
    [RATE_SYNC_8]       = {"a sync", "", 8, 100, 1024, 0, 0, 0, false, SYNCS},
    [RATE_SYNC_32]      = {"a sync", "", 32, 100, 1024, 0, 0, 0, false, SYNCS},
    [RATE_SYNC_64]      = {"a sync", "", 64, 100, 1024, 0, 0, 0, false, SYNCS},
    [RATE_SYNC_128]     = {"a sync", "", 128, 100, 1024, 0, 0, 0, false, SYNCS},
    [RATE_SYNC]         = {"a sync", "", 0, 100, 1024, 0, 0, 0, false, SYNCS},
    [RATE_LAUNCH]       = {"a launch in a graph", "", 0, 0, 1024, 0, 0, 0, false, ""},
    [RATE_READ_1]       = {"reads of 16 bytes from HBM", "GB/s", 1, 16, 1024, READ_BYTES, 0, READ_BYTES * 1e-3, false, MANY_LOADS},
    [RATE_READ_8]       = {"reads of 16 bytes from HBM", "GB/s", 8, 16, 1024, READ_BYTES, 0, READ_BYTES * 1e-3, false, MANY_LOADS},
    [RATE_READ_32]      = {"reads of 16 bytes from HBM", "GB/s", 32, 8, 1024, READ_BYTES, 0, READ_BYTES * 1e-3, false, MANY_LOADS},
    [RATE_READ_64]      = {"reads of 16 bytes from HBM", "GB/s", 64, 4, 1024, READ_BYTES, 0, READ_BYTES * 1e-3, false, MANY_LOADS},
    [RATE_READ]         = {"reads of 16 bytes from HBM", "GB/s", 0, 4, 1024, READ_BYTES, 0, READ_BYTES * 1e-3, false, MANY_LOADS},
    [RATE_FILL_1]       = {"copies of 128 KiB from HBM in the background", "GB/s", 1, 64, SLAB_BYTES, SLAB_BYTES, 0, SLAB_BYTES * 1e-3, false, MANY_COPIES},
    [RATE_FILL_32]      = {"copies of 128 KiB from HBM in the background", "GB/s", 32, 32, SLAB_BYTES, SLAB_BYTES, 0, SLAB_BYTES * 1e-3, false, MANY_COPIES},
    [RATE_FILL]         = {"copies of 128 KiB from HBM in the background", "GB/s", 0, 16, SLAB_BYTES, SLAB_BYTES, 0, SLAB_BYTES * 1e-3, false, MANY_COPIES},
    [RATE_EXCHANGE_1K]  = {"1 KiB written by each core and read by another, two syncs", "", 0, 50, 64 * KIB, 0, 64 * KIB, 0, false, EXCHANGE(1)},
    [RATE_EXCHANGE_8K]  = {"8 KiB written by each core and read by another, two syncs", "", 0, 50, 64 * KIB, 0, 64 * KIB, 0, false, EXCHANGE(8)},
    [RATE_EXCHANGE_32K] = {"32 KiB written by each core and read by another, two syncs", "", 0, 50, 64 * KIB, 0, 64 * KIB, 0, false, EXCHANGE(32)},
    [RATE_EXCHANGE_64K] = {"64 KiB written by each core and read by another, two syncs", "", 0, 50, 64 * KIB, 0, 64 * KIB, 0, false, EXCHANGE(64)},
    [RATE_LX]           = {"reads of 16 bytes from one scratchpad", "GB/s", 0, 200, SLAB_BYTES, 0, 64, SLAB_BYTES * 1e-3, true, LX_READS},
    [RATE_MACS]         = {"multiply-adds of one core, fp16 to fp32", "per us", 0, 1000, 16 * KIB, 0, 64, MULTIPLY_ADDS, true, PRODUCTS},
    [RATE_EXP]          = {"exponentials of one core", "per us", 0, 1000, 1024, 0, 64, 512 * EXP_ITEMS, true, EXPONENTIALS},
};
/* clang-format on */

void rate_program_write(const struct rate_program *r, int64_t cores, enum emit_on on, struct text *out,
                        struct emit_facts *facts)
{
    enum { HEAD_BYTES = 1024 }; /* with the number of repetitions */
    SCOPED(text_free) struct text body = {0};
    *facts = (struct emit_facts){.cores = cores,
                                 .threads = EMIT_THREADS,
                                 .lx_bytes = r->lx_bytes,
                                 .hbm_bytes = HEAD_BYTES + cores * max_i64(r->repeats, 1) * r->hbm_bytes,
                                 .aside_bytes = cores * r->aside_bytes,
                                 .counters = EMIT_COUNTER_GROUPS};
    emit_head(facts, on, out);
    text_format(&body, "    const int times = *(const int *)(const void *)hbm;\n    (void)times;\n%s",
                r->body);
    emit_kernel(&(struct emit_options){.on = on}, 0, body.at, out);
}

/* Microseconds of a launch in which the body comes `times` times; negative: see `st`. */
static double rate_launch_us(const struct machine_kind *k, void *machine, char *hbm, int times, lx_status *st)
{
    enum { LAUNCHES = 60 };
    struct lx_measured m = {0};
    memcpy(hbm, &times, sizeof times);
    return k->time(machine, hbm, LAUNCHES, &m, st) ? m.median_us : -1;
}

bool rate_measure(const struct machine_kind *k, const struct rate_program *r, int64_t cores, double *out,
                  lx_status *st)
{
    const double least_us = 1e-6;
    SCOPED(text_free) struct text program = {0};
    struct emit_facts facts;
    rate_program_write(r, cores, k->on, &program, &facts);
    void *machine = k->open(&program, &facts, st);
    OWNED char *hbm = mem_zeroed((size_t)facts.hbm_bytes, 1);
    double begin = machine ? rate_launch_us(k, machine, hbm, 0, st) : -1,
           end = begin >= 0 && r->repeats ? rate_launch_us(k, machine, hbm, r->repeats, st) : begin;
    double us = r->repeats ? fmax(end - begin, least_us) / r->repeats : begin;
    *out = r->each > 0 ? r->each * (r->of_core ? 1 : (double)cores) / us : us;
    if (machine) k->close(machine);
    return begin >= 0 && end >= 0;
}
