/* Graphs with softmax, written plainly, for tests: of any heads, rows, columns and width, with what may stand around it. */
#ifndef LX_TESTS_SUPPORT_SOFTMAX_GRAPHS_H
#define LX_TESTS_SUPPORT_SOFTMAX_GRAPHS_H

#include "unstable.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum softmax_division { DIVIDED_EARLY, DIVIDED_LATE, BY_RECIPROCAL, RECIPROCAL_LATE, SOFTMAX_DIVISIONS };

struct softmax_form {
    long heads, groups, rows, columns, width; /* groups: queries that share keys and values; 0: none */
    const char *dtype;
    enum softmax_division division;
    bool scaled, masked, swapped; /* swapped: the values stand before the weights */
    int products;                 /* contractions with the weights; 0: one */
    bool logged;                  /* log(sum) + max is an output */
    int layers;                   /* one behind the other; 0: one */
    /* What must not be rewritten: something is wanted for itself. */
    bool weights_out, max_out, sum_read, exp_read, other_scores;
};

struct softmax_text {
    char tensors[24000], ops[24000];
    const char *dtype;
};

/* Letters of a tensor with grouped queries or without: h[g]st and so on. */
struct softmax_shapes {
    char all[80], rows[80], out[80], key[80]; /* shapes */
    char s[8], r[8], o[8], q[8], k[8];        /* letters */
    char drop[40], against[40], same[40], product[40], by[40];
};

const char *softmax_name(char *out, const char *name, int layer);

#define SOFTMAX_NAME(name)  softmax_name((char[40]){0}, name, layer)
#define SOFTMAX_INPUTS(...) softmax_quoted((char[200]){0}, (const char *const[]){__VA_ARGS__, NULL})

const char *softmax_quoted(char *out, const char *const *names);

/* NULL: `st` says what is wrong with it. */
const struct lx_graph *softmax_graph(const struct softmax_form *f, int64_t usable, lx_status *st);

#endif
