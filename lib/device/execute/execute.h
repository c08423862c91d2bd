/* One op on its cores. Private to the stage. */
#ifndef LX_DEVICE_EXECUTE_EXECUTE_H
#define LX_DEVICE_EXECUTE_EXECUTE_H

#include "device/execute/arith.h"
#include "device/memory/machine.h"

/* What one core has to do. */
struct core_work {
    struct slice slice;
    bool idle;             /* its slice is empty */
    struct place *place;   /* per operand */
    struct region *region; /* per operand */
    bool *usable;          /* per operand: it is there; if not there is a fault, and zeros are read */
    float *out;            /* its part of the output, dense, in host order of its slice */
    int64_t out_strides[LX_MAX_RANK];
    int64_t out_count;
    bool writes; /* false: another core of its group writes for it */
};

struct op_work {
    struct machine *m;
    const struct lx_op *op;
    struct op_index x;
    const struct lx_division *division;
    const struct arith *arith;
    enum op_class class;
    int operands;
    int64_t cores;
    struct core_work *core;
    bool partial;            /* cores hold parts of sums */
    struct pool *inner_pool; /* for the work of a single core */
    bool no_memory;          /* set by any core */
};

/* core_slice.c: fills core->out from the operands. Safe to call for different cores at once. */
void compute_core(struct op_work *w, int64_t core);

/* leaves.c: one chunk of a core's slice; `to` is where its first element goes, strides as of the output. */
struct chunk {
    struct op_work *w;
    const struct core_work *core;
    struct slice slice;
    float *to;
    float **operand;                                /* per input: dense */
    int64_t var_stride[LX_MAX_INPUTS][LX_MAX_VARS]; /* per input and variable; 0: the input has it not */
};

typedef bool leaf_function(struct chunk *c);
leaf_function leaf_pointwise, leaf_reduction, leaf_contraction;

/* execute_bytes.c: an op of which only the operands are known. */
void execute_bytes(struct machine *m);

/* Values that the op of this tick means: of an input; and what it leaves. */
int32_t value_wanted(const struct machine *m, int input);
int32_t value_made(const struct machine *m);
int32_t value_kept(const struct machine *m);
/* Where the bytes of an access at a place are counted. */
int64_t *read_counter(const struct place *p, struct lx_counters *c);
int64_t *written_counter(const struct place *p, struct lx_counters *c);
/* Bytes of so many whole sticks; of a tensor that is known by its bytes not more than these. */
int64_t sticks_to_bytes(const struct machine *m, int32_t tensor, int64_t sticks);

#endif
