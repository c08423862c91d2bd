/* Where a plan's HBM bytes go: what each buffer really moves, barred ones too, and the sums by what tensors are for. */
#ifndef LX_EXPLAIN_MOVED_BYTES_H
#define LX_EXPLAIN_MOVED_BYTES_H

#include "plan/plan.h"

/* Kinds of traffic. Each tensor has one kind, so that the kinds add up. */
#define LX_BYTE_KINDS(X)                                                                                     \
    X(LX_BYTES_WEIGHTS, "weights")                                                                           \
    X(LX_BYTES_INPUTS, "inputs")                                                                             \
    X(LX_BYTES_OUTPUTS, "outputs")                                                                           \
    X(LX_BYTES_INTERMEDIATES, "intermediates") /* off chip, or for some of their time; barred ones too */    \
    X(LX_BYTES_RELAYOUTS, "relayouts")         /* what restickify ops make, off chip */                      \
    X(LX_BYTES_SPILLS, "spills")               /* of lists: buffers that are off chip, by cost */            \
    X(LX_BYTES_LINKED, "linked costs")         /* of lists: what buffers cost together */

#define LX_BYTE_KIND_ENUM(id, word) id,
enum lx_byte_kind { LX_BYTE_KINDS(LX_BYTE_KIND_ENUM) LX_BYTE_KIND_COUNT };
#undef LX_BYTE_KIND_ENUM

const char *lx_byte_kind_word(enum lx_byte_kind k);
/* The kind of a tensor of the graph with layouts. */
enum lx_byte_kind lx_tensor_bytes_for(const struct lx_layouts *l, int32_t tensor);

/* Bytes per kind; the sum is figures.hbm_bytes. */
struct lx_byte_sums {
    int64_t bytes[LX_BYTE_KIND_COUNT];
};

/* Per buffer (`moved` has problem.count of them): HBM bytes of its accesses while it is off chip, and of its loads and
 * stores while it is on chip; of a list its cost while it is off chip. Accesses that no stay serves are those of the
 * tensor's first. */
void lx_plan_moved(const struct lx_plan *p, int64_t *moved);
struct lx_byte_sums lx_plan_byte_sums(const struct lx_plan *p, const int64_t *moved);

#endif
