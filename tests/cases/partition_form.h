/* What the two files of the form of tile partitions share. */
#ifndef LX_TESTS_CASES_PARTITION_FORM_H
#define LX_TESTS_CASES_PARTITION_FORM_H

#include "cases/cases.h"
#include "launch/launch.h"

/* An operand of a case and what it points to. */
struct partition_operand {
    struct lx_launch_operand o;
    struct lx_shard shard;
    const char *axes[LX_LAUNCH_RANK];
    int64_t grid[LX_LAUNCH_RANK];
};

/* The i-th integer of a list, or 0. */
int64_t partition_item(const cJSON *list, int i);
void partition_expect_pair(struct cases *c, const char *what, const cJSON *wanted, int64_t first,
                           int64_t second);
/* An operand as a case writes it; the names stay the case's. */
void partition_operand_fill(struct partition_operand *p, const char *name, const cJSON *json);
/* Where the layout says nothing about shards, a case about partitions means one shard of one tile. */
void partition_default_shard(struct partition_operand *p);

void partition_check_layout(struct cases *c, const cJSON *json);
void partition_check_plan(struct cases *c, const cJSON *json);

#endif
