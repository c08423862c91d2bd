/* Counts of a model as its file has it: ops, tensors, bytes, multiply-adds, by kind and in all.
 *
 * A fact is a number under a group and perhaps a key: "ops", or "kinds" of "reshape". They stand in the order
 * in which they were first counted. The report shows them, and tests compare them with what others counted. */
#ifndef LX_IMPORT_FACTS_H
#define LX_IMPORT_FACTS_H

#include "import/model_parts.h"

struct fact {
    const char *group, *key; /* key "": the group is just a number */
    int64_t value;
};

struct model_facts {
    const struct lx_model *m;
    VEC(struct fact) all;
    struct names index;
    struct arena memory;
};

/* `f` is empty before; lx_model_facts_free in any case. */
void lx_model_facts(struct model_facts *f, const struct lx_model *m);
void lx_model_facts_free(struct model_facts *f);
/* `otherwise`: it was not counted. */
int64_t model_fact(const struct model_facts *f, const char *group, const char *key, int64_t otherwise);
/* Sums stay at the largest number rather than wrap. */
void fact_add(struct model_facts *f, const char *group, const char *key, int64_t n);
void fact_most(struct model_facts *f, const char *group, int64_t n);

int64_t fact_plus(int64_t a, int64_t b);
int64_t fact_times(int64_t a, int64_t b);
int64_t fact_operand_bytes(const struct lx_model *m, const struct model_op *op);
int64_t fact_result_bytes(const struct lx_model *m, const struct model_op *op);
/* Both of all ops in a body, and in the bodies that it calls. */
int64_t fact_body_bytes(const struct lx_model *m, int32_t body);

/* Multiply-adds of one op; 0 for most. */
struct op_work {
    int64_t flops;            /* of matmuls, two a multiply-add */
    int64_t macs, macs_valid; /* of convolutions; valid: taps that meet an element */
    int64_t macro_flops;      /* of layers that are one op */
};
struct op_work op_work(const struct lx_model *m, enum model_format dialect, const struct model_op *op);

/* hlo_facts.c: computations, header, and work as often as it runs. */
void hlo_facts(struct model_facts *f);
/* An op, with its results and its work. */
void fact_op(struct model_facts *f, const struct model_op *op);

#endif
