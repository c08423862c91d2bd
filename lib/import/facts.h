/* Counts of a model file: ops, tensors, bytes, multiply-adds, by kind and in all. A fact is a number under a
 * group and an optional key: "ops", or "kinds" of "reshape"; in the order of counting. */
#pragma once

#include "import/model_parts.h"

struct fact {
    const char *group, *key; /* key "": the group has a single number */
    int64_t value;
};

struct model_facts {
    const struct lx_model *m;
    VEC(struct fact) all;
    struct names index;
    struct arena memory;
};

/* `f` starts empty; call lx_model_facts_free in any case. */
void lx_model_facts(struct model_facts *f, const struct lx_model *m);
void lx_model_facts_free(struct model_facts *f);
/* `otherwise`: the value if it was not counted. */
int64_t model_fact(const struct model_facts *f, const char *group, const char *key, int64_t otherwise);
/* Sums saturate. */
void fact_add(struct model_facts *f, const char *group, const char *key, int64_t n);
void fact_most(struct model_facts *f, const char *group, int64_t n);

int64_t fact_operand_bytes(const struct lx_model *m, const struct model_op *op);
int64_t fact_result_bytes(const struct lx_model *m, const struct model_op *op);
/* Bytes of all ops in a body and in the bodies that it calls. */
int64_t fact_body_bytes(const struct lx_model *m, int32_t body);
