/* What layers of attention have in common, whatever the format calls them. */
#ifndef LX_MODEL_ATTENTION_H
#define LX_MODEL_ATTENTION_H

#include "model/layers.h"

/* Queries are [B,H,S,D], keys and values [B,K,T,D] with K heads for groups of H / K queries. */
struct attention {
    int32_t q, k, v;
    int32_t bias;    /* added to the scores, broadcast to [B,H,S,T]; -1: none */
    int32_t allowed; /* boolean, likewise: scores count only there; -1: everywhere */
    double scale, cap;
    bool causal; /* the last query is at the last key */
};

/* What comes of it: [B,H,S,D]. */
int32_t attention_of(struct layer *l, const struct attention *a);
/* from, from + 1, .. (n of them) along dimension `axis` of a tensor of that rank, whose other extents are 1. */
int32_t attention_counter(struct layer *l, int64_t from, int64_t n, int rank, int axis);
/* The attribute, else 1 / sqrt of the last extent of the queries. */
double attention_scale(const struct layer *l, int32_t q);

#endif
