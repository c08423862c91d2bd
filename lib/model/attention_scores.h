/* What all forms of attention share. Inside, queries are [B, H, S, D], keys and values [B, K, T, D] with K heads for groups
 * of H / K queries. */
#ifndef LX_MODEL_ATTENTION_SCORES_H
#define LX_MODEL_ATTENTION_SCORES_H

#include "model/layers.h"

struct attention {
    int32_t q, k, v;
    int32_t bias;    /* added to the scores, broadcast to [B,H,S,T]; -1: none */
    int32_t allowed; /* boolean, likewise: scores count only there; -1: everywhere */
    double filter;   /* added to scores elsewhere; 0: they are -infinity */
    double scale, cap;
    int64_t
        first; /* causal: the key at which the first query stands; it and those before it are seen; -1: all */
    int64_t window;  /* keys that a causal query sees, its own among them; 0: all before it */
    int32_t sink;    /* [H]: a score more that takes its share and gives nothing; -1: none */
    bool smooth;     /* the same, of 0 */
    int32_t seen[3]; /* the scores: by scale, masked, after softmax; given by attention_of */
};

/* Of a dimension, 1 beyond the last. */
int64_t attention_extent(const struct layer *l, int32_t value, int dim);
/* from, from + 1, .. along one of the dimensions of [1, .., n, .., 1]. */
int32_t attention_counter(struct layer *l, int64_t from, int64_t n, int rank, int axis);
/* [B,H,S,D] */
int32_t attention_of(struct layer *l, struct attention *a);
/* What is seen, without keys that are further away than the window. */
int32_t attention_near(struct layer *l, int32_t seen, int32_t row, int32_t column, int64_t window);
/* [B,S,H D] as [B,H,S,D], and back */
int32_t attention_heads(struct layer *l, int32_t x, int64_t heads);
int32_t attention_merged(struct layer *l, int32_t x);
/* The attribute, or 1 / sqrt(D). */
double attention_scale(const struct layer *l, int32_t q);
/* Rows behind those of the past, which may be none (-1). */
int32_t attention_appended(struct layer *l, int32_t past, int32_t now);
/* x cos + (the other half, the first of them negative) sin, on the first dimensions that the tables cover. Tables are
 * [.., S, D/2], broadcast to [B,H,S,D/2]. */
int32_t attention_turned(struct layer *l, int32_t x, int32_t cosine, int32_t sine, bool interleaved);

#endif
