/* Judges each op by itself, on the device's inputs. Private to the stage.
 *
 * Before an op runs its operands are read back from where it will read them: they must have the very bits
 * with which they were put or made, whatever has moved them since. After it, its output is read back and
 * judged (judge_op.h). In a nest all this is about the tiles of the iteration; kept items are whole
 * tensors. */
#pragma once

#include "device/memory/machine.h"
#include "device/reference/judge_op.h"

struct verifier {
    /* Per tensor of the running graph: items as put or made, until their last read. */
    void **kept;
    int32_t *last_op;      /* per tensor: the last op that reads it; op_count for graph outputs */
    struct tile_op **tile; /* per access that writes: the op with that result on a tile; NULL: no nest */
    /* Operands of this tick's op, the output last if the op keeps elements or continues a sum: as kept, or
     * read anew. */
    const void *before[LX_MAX_OPERANDS];
    void *own[LX_MAX_OPERANDS]; /* operands that were read anew */
    bool ready;                 /* all operands of the op were there */
};

void verifier_make(struct machine *m, struct verifier *v);
void verifier_free(struct machine *m, struct verifier *v);
/* Bytes of a tensor as items in host order. */
int64_t items_bytes(const struct machine *m, int32_t tensor);

/* Room for a tensor's kept items. */
void *verify_room(struct machine *m, struct verifier *v, int32_t tensor);
/* Call before and after this tick's op. `items`: room for the largest tensor; afterwards the output. */
void verify_before(struct machine *m, struct verifier *v, struct lx_op_run *op);
void verify_after(struct machine *m, struct verifier *v, struct lx_op_run *op, void *items);
/* Elements of a tensor that differ from the kept ones. */
int64_t verify_altered(const struct machine *m, const struct verifier *v, int32_t tensor, const void *items);

/* Sums up, compares with the plan and decides. `ops`: the result's. */
void judge(const struct lx_plan *p, struct lx_run_result *r, struct lx_op_run *ops);
