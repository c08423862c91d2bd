/* Inside the rules of result types: what the files with rules share. type_rules.c has the tables and asks them,
 * rule_points.c element by element, rule_views.c what moves elements, rule_products.c contractions, windows and
 * reductions, rule_picks.c reads and writes at indices. */
#ifndef LX_IMPORT_RULINGS_H
#define LX_IMPORT_RULINGS_H

#include "import/model_parts.h"

enum { RULE_RANK = MODEL_MAX_RANK, RULE_OPERANDS = 6 };

/* One op under a rule; `want` is what the result would have to be. */
struct ruling {
    const struct lx_model *m;
    const struct model_op *op;
    const struct model_type *in[RULE_OPERANDS]; /* the first operands */
    const struct model_type *y;                 /* the result; of an op without one its first operand */
    int64_t want[RULE_RANK];
    int rank;
    bool told;          /* `want` is all that the rule asks for */
    const char *schema; /* what attribute is missing, or is not as it must be; NULL: none */
    const char *why;    /* what else is wrong; NULL: the result is not as wanted */
};

/* False: the rule is broken. What the rule cannot judge it lets pass. */
typedef bool rule_of(struct ruling *r);

/* Does the result have just these extents? */
bool rule_as_wanted(struct ruling *r);
/* Extents of `t` are wanted. */
void rule_like(struct ruling *r, const struct model_type *t);
void rule_want(struct ruling *r, int64_t extent);
/* An attribute is not there, or not as it must be. Always false. */
bool rule_schema(struct ruling *r, const char *words);
/* What it says does not go with its operands. Always false. */
bool rule_wrong(struct ruling *r, const char *words);
/* A list of the op. */
const int64_t *rule_ints(const struct ruling *r, const char *key, int *count);
/* From the end if below 0; -1: outside. */
int rule_dim(int64_t dim, int rank);

rule_of rule_same_shape, rule_broadcasts, rule_equal_shapes, rule_same_elements;
rule_of rule_permuted, rule_swapped, rule_placed, rule_repeated, rule_joined, rule_cut_out, rule_index,
    rule_hlo_slice, rule_ttir_pad, rule_hlo_pad, rule_iota, rule_arange, rule_squeezed, rule_unsqueezed,
    rule_reshaped, rule_constant, rule_gathered_parts;
rule_of rule_contracts, rule_multiplies, rule_reduces, rule_hlo_reduce, rule_hlo_conv, rule_hlo_window,
    rule_conv2d, rule_pool2d;
rule_of rule_gather, rule_embedding, rule_dynamic_slice, rule_dynamic_update, rule_fill_cache,
    rule_update_cache, rule_tuple, rule_part, rule_called;

#endif
