/* Do results have the types that their kinds give them? */
#ifndef LX_MODEL_TYPE_RULES_H
#define LX_MODEL_TYPE_RULES_H

#include "model/model_parts.h"

/* TTIR and HLO: the first op that breaks a rule is in `st`, the rule in words. */
bool model_check_types(const struct lx_model *m, lx_status *st);

#endif
