/* dsa-problem-v1: structured placement problems as tonibohnlein/dsa-solver writes them. The reader in two
 * files. */
#ifndef LX_FILES_DSA_PROBLEM_H
#define LX_FILES_DSA_PROBLEM_H

#include "base/json/json.h"
#include "graph/builder.h"

/* Ids are numbers of the file's own, in any order. */
struct dsa_id {
    int64_t id;
    int32_t number;
};

struct dsa_reader {
    const struct json *j;
    struct graph_builder b;
    VEC(struct dsa_id) pools, buffers; /* sorted by id */
    VEC(struct lx_buffer) list;
    VEC(struct place) places;
    struct lx_pool *rooms;
    int32_t room_count;
    int64_t earliest; /* the least time, where that is below 0: all are shifted by it */
    lx_status *st;
};

/* The number of an id in a value, or -1 with an error. `what`: "pool" or "buffer". */
int32_t dsa_find(const struct dsa_reader *r, const struct json_value *value, const char *what);
/* dsa_bonds.c: constraints, cost model and objective. */
bool dsa_read_bonds(struct dsa_reader *r, const struct json_value *problem);
bool dsa_read_objective(struct dsa_reader *r, const struct json_value *problem);

#endif
