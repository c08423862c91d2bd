/* The cost tables. A preset that has no measurements names `roofline`. */
#include "graph/cost_table.h"
#include "base/words/words.h"
#include "base/base.h"

#define UPSTREAM "torch-spyre cost_model.py, August to September 2026, measured on the device"
#define SLICES   "torch-spyre decode_slice_gbps, September 2026: one slice of a decode weight, measured"
#define ARRAY    "torch-spyre, June to September 2026"
#define RINGS    "torch-spyre's relayout model, August to September 2026, measured on the device"
#define SOFTMAX                                                                                              \
    "torch-spyre scratchpad document: five softmax kernels of 512x1024, median of 1,000 runs each; fitted, " \
    "within 2.3 %"
#define DEVICE      "the device's own number"
#define NO_SUCH     "roofline: no such effect"
#define SYNC        "assumption, not measured: half of the 0.93 us that a sync of all cores of an H200 takes"
#define H200        "one H200, driver 580, CUDA 13.0, median"
#define PART_OF_FIT "in the rates that were fitted without it"
#define FITTED      H200 ": between fits to the times of 55 and of 158 plans"
#define LOOP        "assumption, not measured: some hundred cycles"

/* clang-format off */
static const struct cost_table tables[] = {
    {.name = "spyre", .help = "measured and fitted on a Spyre card",
     .hbm_gb_per_s = 204.8, .ring_gb_per_s = 166.4, .psum_ring_gb_per_s = 35.2, .lx_gb_per_s = 140.8,
     .peak_gflop_per_s = 3072,
     .number = {
        [COST_ONE_WAY]         = {150, COST_BY_HBM, UPSTREAM},
        [COST_TURNAROUND]      = {0.00574, COST_OVER_HBM, UPSTREAM},
        [COST_CORE_PORT]       = {1e9, COST_FIXED, "nothing says that one core cannot take all; see lx_port"},
        [COST_ROW_FLOOR]       = {114, COST_BY_HBM, UPSTREAM},
        [COST_ROW_GAIN]        = {61, COST_BY_HBM, UPSTREAM},
        [COST_ROW_SCALE]       = {3700, COST_FIXED, UPSTREAM},
        [COST_OUTER]           = {113, COST_BY_HBM, UPSTREAM},
        [COST_RESTICK]         = {116, COST_BY_HBM, UPSTREAM},
        [COST_BROADCASTS]      = {118, COST_BY_HBM, UPSTREAM},
        [COST_SHARE_1]         = {0.11, COST_FIXED, UPSTREAM},
        [COST_SHARE_2]         = {0.22, COST_FIXED, UPSTREAM},
        [COST_SHARE_4]         = {0.43, COST_FIXED, UPSTREAM},
        [COST_SHARE_8]         = {0.54, COST_FIXED, UPSTREAM},
        [COST_SHARE_16]        = {0.54, COST_FIXED, UPSTREAM},
        [COST_SHARE_32]        = {1, COST_FIXED, UPSTREAM},
        [COST_STREAM_CAP]      = {144, COST_BY_HBM, "fitted; the one-way rate of the memory is about 150 GB/s, measured"},
        [COST_RUN_OVERHEAD]    = {3.5, COST_FIXED, "fitted on the four batched shapes; a burst is at most 32 sticks"},
        [COST_PSUM]            = {0.0133, COST_OVER_PSUM, "fitted; 75 GB/s, two reduce rings of 35 GB/s each"},
        [COST_COMPUTE_SHOWN]   = {0.19, COST_FIXED, "fitted; the rest is hidden behind transfers"},
        [COST_COMPUTE_REDUCED] = {1.33, COST_FIXED, "fitted; one of two corelets would be 2 with nothing hidden"},
        [COST_KERNEL_PASSES]   = {1.45, COST_FIXED, "fitted on the four batched shapes"},
        [COST_SLICE_1]         = {5.4, COST_BY_HBM, SLICES},
        [COST_SLICE_2]         = {18.4, COST_BY_HBM, SLICES},
        [COST_SLICE_4]         = {33.0, COST_BY_HBM, SLICES},
        [COST_SLICE_8]         = {42.9, COST_BY_HBM, SLICES},
        [COST_SLICE_16]        = {40.1, COST_BY_HBM, SLICES},
        [COST_SLICE_32]        = {41.6, COST_BY_HBM, SLICES},
        [COST_MACS]            = {1.536e6, COST_BY_PEAK, ARRAY},
        [COST_PE_ROWS]         = {8, COST_FIXED, ARRAY},
        [COST_PE_PASSES]       = {5, COST_FIXED, ARRAY},
        [COST_PE_EXPONENT]     = {0.25, COST_FIXED, ARRAY},
        [COST_HOP]             = {3.92, COST_FIXED, RINGS},
        [COST_RUN]             = {1.14, COST_FIXED, RINGS},
        [COST_RELAYOUT]        = {547, COST_BY_RING, RINGS},
        [COST_LX_PORT]         = {900, COST_BY_LX, "at least: of 23.67 us, 2.1 MB of HBM leave 7 for 6.3 MB on one core; the documented 140.8 is refuted"},
        [COST_LAUNCH]          = {21.4, COST_FIXED, SOFTMAX},
        [COST_LAUNCH_OPERAND]  = {0.863, COST_FIXED, SOFTMAX},
        [COST_LAUNCH_DOUBLING] = {4.25, COST_FIXED, SOFTMAX},
        [COST_CREDIT]          = {8.5e6, COST_BY_HBM, "the largest that was measured: 8.39 MB, nothing on chip, in 32.51 us"},
        [COST_SYNC]            = {0.5, COST_FIXED, SYNC},
        [COST_LOOP]            = {0.1, COST_FIXED, LOOP},
        [COST_TICK]            = {0, COST_FIXED, PART_OF_FIT},
        [COST_FOLD]            = {0, COST_FIXED, PART_OF_FIT},
        [COST_STEP]            = {0, COST_FIXED, PART_OF_FIT},
        [COST_CONTRACT]        = {0, COST_FIXED, PART_OF_FIT},
        [COST_FUNCTION]        = {0, COST_FIXED, PART_OF_FIT},
        [COST_MEET]            = {0, COST_FIXED, PART_OF_FIT},
        [COST_LATENCY]         = {0, COST_FIXED, PART_OF_FIT},
        [COST_FILL]            = {1e9, COST_FIXED, PART_OF_FIT},
        [COST_BEGIN]           = {0, COST_FIXED, PART_OF_FIT},
     }},
    {.name = "roofline", .help = "the larger of compute and memory, by the device's own numbers",
     .hbm_gb_per_s = 1, .ring_gb_per_s = 1, .psum_ring_gb_per_s = 1, .lx_gb_per_s = 1, .peak_gflop_per_s = 1,
     .hides_compute = true, .whole_tiles = true,
     .number = {
        [COST_ONE_WAY]         = {1, COST_BY_HBM, DEVICE},
        [COST_TURNAROUND]      = {0, COST_FIXED, NO_SUCH},
        [COST_CORE_PORT]       = {1, COST_BY_RING, DEVICE},
        [COST_ROW_FLOOR]       = {1, COST_BY_HBM, DEVICE},
        [COST_ROW_GAIN]        = {0, COST_FIXED, NO_SUCH},
        [COST_ROW_SCALE]       = {1, COST_FIXED, NO_SUCH},
        [COST_OUTER]           = {1, COST_BY_HBM, DEVICE},
        [COST_RESTICK]         = {1, COST_BY_HBM, DEVICE},
        [COST_BROADCASTS]      = {1, COST_BY_HBM, DEVICE},
        [COST_SHARE_1]         = {1, COST_FIXED, NO_SUCH},
        [COST_SHARE_2]         = {1, COST_FIXED, NO_SUCH},
        [COST_SHARE_4]         = {1, COST_FIXED, NO_SUCH},
        [COST_SHARE_8]         = {1, COST_FIXED, NO_SUCH},
        [COST_SHARE_16]        = {1, COST_FIXED, NO_SUCH},
        [COST_SHARE_32]        = {1, COST_FIXED, NO_SUCH},
        [COST_STREAM_CAP]      = {1, COST_BY_HBM, DEVICE},
        [COST_RUN_OVERHEAD]    = {0, COST_FIXED, NO_SUCH},
        [COST_PSUM]            = {1, COST_OVER_PSUM, DEVICE},
        [COST_COMPUTE_SHOWN]   = {0, COST_FIXED, NO_SUCH},
        [COST_COMPUTE_REDUCED] = {0, COST_FIXED, NO_SUCH},
        [COST_KERNEL_PASSES]   = {0, COST_FIXED, NO_SUCH},
        [COST_SLICE_1]         = {1, COST_BY_RING, DEVICE},
        [COST_SLICE_2]         = {1, COST_BY_RING, DEVICE},
        [COST_SLICE_4]         = {1, COST_BY_RING, DEVICE},
        [COST_SLICE_8]         = {1, COST_BY_RING, DEVICE},
        [COST_SLICE_16]        = {1, COST_BY_RING, DEVICE},
        [COST_SLICE_32]        = {1, COST_BY_RING, DEVICE},
        [COST_MACS]            = {500, COST_BY_PEAK, DEVICE},
        [COST_PE_ROWS]         = {1, COST_FIXED, NO_SUCH},
        [COST_PE_PASSES]       = {1, COST_FIXED, NO_SUCH},
        [COST_PE_EXPONENT]     = {0, COST_FIXED, NO_SUCH},
        [COST_HOP]             = {0, COST_FIXED, NO_SUCH},
        [COST_RUN]             = {0, COST_FIXED, NO_SUCH},
        [COST_RELAYOUT]        = {1, COST_BY_RING, DEVICE},
        [COST_LX_PORT]         = {1, COST_BY_LX, DEVICE},
        [COST_LAUNCH]          = {0, COST_FIXED, NO_SUCH},
        [COST_LAUNCH_OPERAND]  = {0, COST_FIXED, NO_SUCH},
        [COST_LAUNCH_DOUBLING] = {0, COST_FIXED, NO_SUCH},
        [COST_CREDIT]          = {0, COST_FIXED, NO_SUCH},
        [COST_SYNC]            = {0.5, COST_FIXED, SYNC},
        [COST_LOOP]            = {0.1, COST_FIXED, LOOP},
        [COST_TICK]            = {0, COST_FIXED, NO_SUCH},
        [COST_FOLD]            = {0, COST_FIXED, NO_SUCH},
        [COST_STEP]            = {0, COST_FIXED, NO_SUCH},
        [COST_CONTRACT]        = {0, COST_FIXED, NO_SUCH},
        [COST_FUNCTION]        = {0, COST_FIXED, NO_SUCH},
        [COST_MEET]            = {0, COST_FIXED, NO_SUCH},
        [COST_LATENCY]         = {0, COST_FIXED, NO_SUCH},
        [COST_FILL]            = {1e9, COST_FIXED, NO_SUCH},
        [COST_BEGIN]           = {0, COST_FIXED, NO_SUCH},
     }},
    {.name = "h200", .help = "measured on an H200; what nobody measured is the larger of compute and memory",
     .hbm_gb_per_s = 4620, .ring_gb_per_s = 11.5, .psum_ring_gb_per_s = 11.5, .lx_gb_per_s = 126, .peak_gflop_per_s = 4660,
     .hides_compute = true, .whole_tiles = true, .shares_sums = true,
     .number = {
        [COST_ONE_WAY]         = {4620, COST_BY_HBM, H200 ": reads of 16 bytes by 528 blocks, 4,433 by 132"},
        [COST_TURNAROUND]      = {0, COST_FIXED, "no such effect was measured"},
        [COST_CORE_PORT]       = {45, COST_FIXED, H200 ": stages of 16 KiB that all cores fetch at once"},
        [COST_ROW_FLOOR]       = {4620, COST_BY_HBM, "assumption: as reads, " H200},
        [COST_ROW_GAIN]        = {0, COST_FIXED, "no such effect was measured"},
        [COST_ROW_SCALE]       = {1, COST_FIXED, "no such effect was measured"},
        [COST_OUTER]           = {1678, COST_BY_HBM, FITTED},
        [COST_RESTICK]         = {4620, COST_BY_HBM, "assumption: as reads, " H200},
        [COST_BROADCASTS]      = {4620, COST_BY_HBM, "assumption: as reads, " H200},
        [COST_SHARE_1]         = {1, COST_FIXED, "no such effect was measured"},
        [COST_SHARE_2]         = {1, COST_FIXED, "no such effect was measured"},
        [COST_SHARE_4]         = {1, COST_FIXED, "no such effect was measured"},
        [COST_SHARE_8]         = {1, COST_FIXED, "no such effect was measured"},
        [COST_SHARE_16]        = {1, COST_FIXED, "no such effect was measured"},
        [COST_SHARE_32]        = {1, COST_FIXED, "no such effect was measured"},
        [COST_STREAM_CAP]      = {4620, COST_BY_HBM, "assumption: as reads, " H200},
        [COST_RUN_OVERHEAD]    = {0, COST_FIXED, "no such effect was measured"},
        [COST_PSUM]            = {0.075, COST_OVER_PSUM, FITTED},
        [COST_COMPUTE_SHOWN]   = {1, COST_FIXED, "all that transfers do not hide"},
        [COST_COMPUTE_REDUCED] = {1, COST_FIXED, "as compute_shown"},
        [COST_KERNEL_PASSES]   = {0, COST_FIXED, "no such effect was measured"},
        [COST_SLICE_1]         = {66, COST_FIXED, FITTED},
        [COST_SLICE_2]         = {66, COST_FIXED, FITTED},
        [COST_SLICE_4]         = {66, COST_FIXED, FITTED},
        [COST_SLICE_8]         = {66, COST_FIXED, FITTED},
        [COST_SLICE_16]        = {66, COST_FIXED, FITTED},
        [COST_SLICE_32]        = {66, COST_FIXED, FITTED},
        [COST_MACS]            = {1.4e6, COST_BY_PEAK, FITTED},
        [COST_PE_ROWS]         = {1, COST_FIXED, "no such effect was measured"},
        [COST_PE_PASSES]       = {1, COST_FIXED, "no such effect was measured"},
        [COST_PE_EXPONENT]     = {0, COST_FIXED, "no such effect was measured"},
        [COST_HOP]             = {0, COST_FIXED, "no such effect was measured"},
        [COST_RUN]             = {0, COST_FIXED, "no such effect was measured"},
        [COST_RELAYOUT]        = {42, COST_BY_RING, FITTED},
        [COST_LX_PORT]         = {150, COST_BY_LX, FITTED},
        [COST_LAUNCH]          = {0.7, COST_FIXED, H200 ": kernel after kernel inside a graph"},
        [COST_LAUNCH_OPERAND]  = {0, COST_FIXED, "no such effect was measured"},
        [COST_LAUNCH_DOUBLING] = {0, COST_FIXED, "no such effect was measured"},
        [COST_CREDIT]          = {0, COST_FIXED, "no such effect was measured"},
        [COST_SYNC]            = {1, COST_FIXED, H200 ": one counter, 132 blocks, and their begin apart"},
        [COST_LOOP]            = {0.1, COST_FIXED, LOOP},
        [COST_TICK]            = {0.03, COST_FIXED, FITTED},
        [COST_FOLD]            = {0.06, COST_FIXED, FITTED},
        [COST_STEP]            = {0.0066, COST_FIXED, FITTED},
        [COST_CONTRACT]        = {0.95, COST_FIXED, FITTED},
        [COST_FUNCTION]        = {0.45, COST_FIXED, FITTED},
        [COST_MEET]            = {1.4, COST_FIXED, FITTED},
        [COST_LATENCY]         = {0.45, COST_FIXED, FITTED},
        [COST_FILL]            = {60, COST_FIXED, H200 ": at least; 66 by one block of 16-byte reads"},
        [COST_BEGIN]           = {1.3, COST_FIXED, FITTED},
     }},
};
/* clang-format on */

#define COST_ROW(id, key, least, most, help) [id] = {key, least, most, help},
const struct cost_row cost_rows[COST_CONSTANT_COUNT] = {COST_CONSTANTS(COST_ROW)};

#define NOMINAL(rate)                                                                                        \
    {                                                                                                        \
#rate, offsetof(struct cost_table, rate)                                                             \
    }
const struct cost_nominal cost_nominals[] = {NOMINAL(hbm_gb_per_s),       NOMINAL(ring_gb_per_s),
                                             NOMINAL(psum_ring_gb_per_s), NOMINAL(lx_gb_per_s),
                                             NOMINAL(peak_gflop_per_s),   {0}};

LX_WORDS(cost_scale_word, enum cost_scale, COST_SCALES)

enum cost_scale cost_scale_find(const char *word)
{
    enum cost_scale s = 0;
    while (s < COST_SCALE_COUNT && strcmp(cost_scale_word(s), word) != 0) s++;
    return s;
}

const struct cost_table *cost_table_at(int i)
{
    return i >= 0 && i < (int)(sizeof tables / sizeof *tables) ? &tables[i] : NULL;
}

const struct cost_table *cost_table_find(const char *name)
{
    const struct cost_table *t;
    for (int i = 0; (t = cost_table_at(i)); i++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

double cost_table_nominal(const struct cost_table *t, int i)
{
    return *(const double *)((const char *)t + cost_nominals[i].offset);
}

bool cost_number_same(const struct cost_number *a, const struct cost_number *b)
{
    return a->value == b->value && a->scale == b->scale && strcmp(a->origin, b->origin) == 0;
}

bool cost_table_same(const struct cost_table *a, const struct cost_table *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->hides_compute == b->hides_compute &&
                a->shares_sums == b->shares_sums && a->whole_tiles == b->whole_tiles;
    for (int i = 0; cost_nominals[i].key; i++)
        same = same && cost_table_nominal(a, i) == cost_table_nominal(b, i);
    for (int i = 0; i < COST_CONSTANT_COUNT; i++)
        same = same && cost_number_same(&a->number[i], &b->number[i]);
    return same;
}
