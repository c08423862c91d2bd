/* How graphs come into being: readers, importers and generators add tensors, ops or buffers to a builder, and
 * builder_finish checks the whole. One set of rules for every way in. */
#ifndef LX_GRAPH_BUILDER_H
#define LX_GRAPH_BUILDER_H

#include "base/arena.h"
#include "base/fail.h"
#include "base/words/words.h"
#include "base/vec.h"
#include "graph/graph.h"

struct place {
    int line, column;
};

struct op_places {
    struct place op, einsum;
};

/* Who is given a graph as text, a tensor or op at a time, and a list all at once. */
struct record_taker {
    void (*take)(void *context, const struct lx_graph *g, const char *record, size_t length);
    void *context;
};

struct graph_builder {
    struct arena *memory; /* becomes the graph's */
    struct lx_graph *graph;
    struct lx_list *list; /* of the graph, once builder_list was called */
    VEC(struct lx_tensor) tensors;
    VEC(struct place) tensor_places;
    VEC(struct lx_op) ops;
    VEC(struct op_places) op_places;
    VEC(struct lx_buffer) buffers;
    VEC(struct place) buffer_places;
    VEC(int64_t) buffer_ids; /* of all buffers, or nobody wants them */
    struct names tensor_names, op_names, buffer_names;
    struct place here; /* place of the next addition in its file; {0, 0}: nowhere */
    struct place here_einsum;
    const struct record_taker *also; /* is given the text that is hashed; NULL: nobody is */
    bool
        unhashed; /* nobody will tell the graph from others: its hash, for which all of it is written, stays 0 */
};

void builder_begin(struct graph_builder *b, const char *file, const char *name);
/* The pattern is a placement list, spill as objective, of the device's capacity, aligned to bytes. */
struct lx_list *builder_list(struct graph_builder *b);
/* Strings and arrays are copied. `role` LX_ROLE_COUNT: found out from how it is used. `rank` -1: `bytes`
 * counts, else it is computed. The number of the tensor, or -1. */
int32_t builder_tensor(struct graph_builder *b, const char *name, enum lx_role role, enum lx_dtype dtype,
                       int rank, const int64_t *shape, int64_t bytes, lx_status *st);
/* The same tensor, of another type. */
bool builder_retype(struct graph_builder *b, int32_t tensor, enum lx_dtype dtype, lx_status *st);
/* Takes name, kind, inputs, output (or several: outputs), einsum, value, offset, stride, views, params,
 * windows and hints from `op`; the rest is derived. Windows name letters, or variables where `op` has a
 * map. */
bool builder_op(struct graph_builder *b, const struct lx_op *op, lx_status *st);
/* An op of a kind that alters, with the input that is changed among its inputs: number `inplace`, or, -1, the
 * first, which is then copied. */
bool builder_altering(struct graph_builder *b, const struct lx_op *op, lx_status *st);
/* `buffer->parents` may refer to buffers that are added later. Pools and bonds of a list are set in `graph`
 * itself, with all they point to in `memory`. */
bool builder_buffer(struct graph_builder *b, const struct lx_buffer *buffer, lx_status *st);
/* Checks everything and gives the graph; the builder is spent either way. */
const struct lx_graph *builder_finish(struct graph_builder *b, lx_status *st);
void builder_abandon(struct graph_builder *b);

/* Reports at a place of the builder's file; returns false. */
#define builder_error(b, at, st, code, ...)                                                                  \
    status_set_at((st), (code), (b)->graph->file, (at).line, (at).column, __VA_ARGS__)

/* Parts of builder_finish, one file each. */
bool builder_map_op(struct graph_builder *b, size_t op, lx_status *st); /* einsum.c */
bool builder_check_written(struct graph_builder *b, lx_status *st); /* check_order.c: by ops, what may be */
bool builder_check_order(struct graph_builder *b, lx_status *st);   /* check_order.c: roles and order */
/* The same ops in another order, op order[t] at place t; shares the rest, and the hash. */
const struct lx_graph *graph_with_order(const struct lx_graph *g, const int32_t *order);
/* Computes the hash again; `also` may be NULL. */
void graph_hash(struct lx_graph *g, const struct record_taker *also);
/* pattern_write.c: device, tensors and ops or buffers, as they stand in a pattern; also what is hashed. A
 * taker is given each record (with what stands between it and the one before) and leaves nothing in the
 * text. */
struct text;
void pattern_write_body(const struct lx_graph *g, const struct record_taker *taker, struct text *t);

#endif
