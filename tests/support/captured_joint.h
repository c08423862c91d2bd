/* Reads joint problems that were captured from a compiler: buffers with a menu of core divisions, and per
 * producer the pairs (producer's division, consumer's division) that may hand the buffer over on chip.
 *
 * Every buffer is the output of one op of its own, at its first use; the menu is the op's. Pairs are labels
 * in disguise: divisions that are connected by pairs see the same parts on the same cores. What is counted is
 * bytes: size for the write and for each read of a buffer that is off chip. Captures mark every buffer as
 * read first though all are computed; they are taken as computed. */
#ifndef LX_TESTS_SUPPORT_CAPTURED_JOINT_H
#define LX_TESTS_SUPPORT_CAPTURED_JOINT_H

#include "unstable.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/memory.h"
#include "support/cjson_find.h"
#include "cooptimise/joint.h"

#include <stdlib.h>
#include <string.h>

struct captured {
    struct lx_joint_problem problem;
    struct arena memory;
    const cJSON **json; /* per buffer, which is also its op: in the order of first uses */
};

int64_t captured_number(const cJSON *object, const char *key, int64_t otherwise);
int32_t captured_find(const struct captured *c, const char *name);

/* Parts of a division; splits may stand in "output_splits" and "reduction_splits", in "splits" with a list
 * "reduction" of those that are, or directly. `outputs_only`: what shrinks a core's part. */
int64_t captured_parts(const cJSON *division, bool outputs_only);

/* False when memory is out or the data is not of this form. The JSON must outlive the problem. */
bool captured_read(struct captured *c, const cJSON *inputs, int64_t capacity, int64_t alignment);

/* By the pairs themselves: does every reader of every buffer that is on chip agree with its producer? */
bool captured_agrees(const struct captured *c, const int32_t *choice, const int64_t *address);

#endif
