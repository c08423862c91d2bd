/* When a worse state is accepted: temperatures, in integers, so that a seed gives the same run everywhere. */
#ifndef LX_SOLVERS_ANNEAL_SCHEDULE_H
#define LX_SOLVERS_ANNEAL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_TABLE_BITS = 8, LOG_FRACTION_BITS = 16, COOLING_STAGES = 1024 };

struct schedule {
    uint32_t log2_table[(1 << LOG_TABLE_BITS) + 1]; /* log2 of 1 + i / 256, 16 fraction bits */
    int64_t hot, cold;                              /* temperatures, in energy */
    uint64_t ratio;                                 /* the cooling factor of one stage, 32 fraction bits */
    int64_t now;                                    /* the temperature */
    int64_t left;                                   /* work to the end of the cycle */
    int64_t stage, next; /* work of a stage; the temperature falls when `left` reaches `next` */
};

void cooling_make(struct schedule *s);
/* Starts a cycle from `hot` down to `cold` that lasts for so much work: steps, or whatever measures them. */
void schedule_heat(struct schedule *s, int64_t hot, int64_t cold, int64_t work);
/* The rise in energy that this step accepts: temperature * -ln(u), with u from 64 random bits. */
int64_t schedule_allowance(const struct schedule *s, uint64_t random);
/* After a step that took so much work; false when the cycle is over. */
bool schedule_spend(struct schedule *s, int64_t work);

#endif
