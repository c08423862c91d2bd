/* The placement problem of the second version by brute force: every answer of up to about 7 small buffers, judged by
 * the words of the specification. It shares nothing with checker, bounds or solvers. */
#ifndef LX_TESTS_SUPPORT_V2_ORACLE_H
#define LX_TESTS_SUPPORT_V2_ORACLE_H

#include "placement/problem.h"

#include <string.h>

enum { ORACLE_MOST = 12, ORACLE_POOLS = 4 };

struct oracle {
    const struct lx_problem *p;
    int32_t block[ORACLE_MOST];
    int64_t bytes[ORACLE_MOST];                    /* of the block */
    bool alive_together[ORACLE_MOST][ORACLE_MOST]; /* of different blocks */
    bool edge[ORACLE_MOST][ORACLE_MOST], apart[ORACLE_MOST][ORACLE_MOST];
    bool is_staging[ORACLE_MOST];
    int64_t address[ORACLE_MOST]; /* the answer being tried; -1: off */
    int32_t pool[ORACLE_MOST];
    bool found;
    int64_t best;
    int64_t best_address[ORACLE_MOST];
    int32_t best_pool[ORACLE_MOST];
    int64_t open; /* how high a pool without a limit is looked at: above that nobody needs to be */
    int64_t tries, most_tries; /* 0: no limit; beyond it nothing is known */
};

void oracle_blocks(struct oracle *o);
void oracle_relations(struct oracle *o);

/* Rules between a buffer and those before it. */
bool oracle_pairs_legal(const struct oracle *o, int32_t i);
bool oracle_reserved(const struct oracle *o, int32_t i);
int64_t oracle_here(const struct oracle *o, int32_t i);

/* Rules of on and off, once all is decided; adds the linked costs. */
bool oracle_bonds_legal(const struct oracle *o, int64_t *cost);

/* Of the first n buffers. */
int64_t oracle_height(const struct oracle *o, int32_t n);
static inline void oracle_decide(struct oracle *o, int32_t i, int64_t cost);
bool oracle_allows(const struct lx_buffer *b, int32_t pool);
void oracle_decide(struct oracle *o, int32_t i, int64_t cost);

/* Anybody's answer, whole: is it legal, and what is it worth? */
bool oracle_judges(struct oracle *o, const struct lx_problem *p, const int32_t *pool, const int64_t *address,
                   int64_t *value);

/* Fills found and best; false: it took more than `most_tries` (0: as many as it takes). */
bool oracle_solve(struct oracle *o, const struct lx_problem *p, int64_t most_tries);

#endif
