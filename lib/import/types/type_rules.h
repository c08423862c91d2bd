/* Types of results, as their kinds make them of the operands. */
#ifndef LX_IMPORT_TYPE_RULES_H
#define LX_IMPORT_TYPE_RULES_H

#include "import/model_parts.h"

/* TTIR and HLO: the first op that breaks a rule is in `st`, the rule in words. */
bool model_check_types(const struct lx_model *m, lx_status *st);
/* What is below 0 in `extent`, of the op's one result, as far as the rule of its kind says it. */
void model_follow_types(const struct lx_model *m, const struct model_op *op, int64_t *extent);

#endif
