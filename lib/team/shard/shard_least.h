/* Bytes that devices receive at least, with some cuts, however blocks are settled and reads are joined.
 * Private to the stage. */
#ifndef LX_TEAM_SHARD_SHARD_LEAST_H
#define LX_TEAM_SHARD_SHARD_LEAST_H

#include "team/shard/shard_search.h"

/* NULL: memory is out. */
struct shard_least *shard_least_make(const struct lx_graph *g, const struct lx_team_grid *grid);
void shard_least_free(struct shard_least *l);
/* May its blocks be other than equal ones? */
bool shard_least_loose(const struct shard_least *l, int32_t tensor);

/* What input `i` of a way of an op, in state `in`, brings, as a number that is the same where the same is
 * brought (0: nothing), and its bytes. Of both of two the most that either brings, and how many bytes that
 * is more than the first. */
uint32_t shard_least_read(struct shard_least *l, int32_t o, int i, struct shard_state in,
                          struct shard_state var, int64_t *bytes);
uint32_t shard_least_both(struct shard_least *l, int32_t tensor, uint32_t first, uint32_t second,
                          int64_t *more);
/* What joining the result of op `o` takes. */
int64_t shard_least_join(const struct shard_least *l, int32_t o, struct shard_state made,
                         struct shard_state joined);
/* Was there no memory for some number? Then 0 was told. */
bool shard_least_failed(const struct shard_least *l);

/* shard_bound.c: no plan that keeps what is fixed receives fewer bytes than these, or than `below`, whichever
 * is less. False: memory is out, or it was stopped. */
bool shard_bound_bytes(const struct lx_graph *g, const struct lx_team_grid *grid, const bool *fixed,
                       const struct shard_state *state, int64_t below, int64_t *bytes);

#endif
