/* Construction of graphs. Readers, importers and generators add tensors, ops or buffers to a builder;
 * builder_finish checks the whole. All sources obey the same rules. */
#pragma once

#include "base/base.h"
#include "base/words/words.h"
#include "graph/graph.h"

struct place {
    int line, column;
};

struct op_places {
    struct place op, einsum;
};

/* Receives a graph as text, one tensor or op per call, a list in one call. */
struct record_taker {
    void (*take)(void *context, const struct lx_graph *g, const char *record, size_t length);
    void *context;
};

struct graph_builder {
    struct arena *memory; /* becomes the graph's arena */
    struct lx_graph *graph;
    struct lx_list *list; /* the graph's list after builder_list, otherwise NULL */
    VEC(struct lx_tensor) tensors;
    VEC(struct place) tensor_places;
    VEC(struct lx_op) ops;
    VEC(struct op_places) op_places;
    VEC(struct lx_buffer) buffers;
    VEC(struct place) buffer_places;
    VEC(int64_t) buffer_ids; /* one per buffer, or ignored */
    struct names tensor_names, op_names, buffer_names;
    struct place here; /* position of the next addition in its file; {0, 0}: none */
    struct place here_einsum;
    const struct record_taker *also; /* also receives the hashed text; may be NULL */
    bool unhashed; /* skip the hash (it stays 0): computing it writes the whole graph as text */
};

void builder_begin(struct graph_builder *b, const char *file, const char *name);
/* Makes the pattern a placement list: objective spill, the device's capacity, byte alignment. */
struct lx_list *builder_list(struct graph_builder *b);
/* Copies strings and arrays. `role` LX_ROLE_COUNT: inferred from the uses. `rank` -1: `bytes` is the size,
 * otherwise it is computed. Returns the tensor's number, or -1. */
int32_t builder_tensor(struct graph_builder *b, const char *name, enum lx_role role, enum lx_dtype dtype,
                       int rank, const int64_t *shape, int64_t bytes, lx_status *st);
/* Changes the element type of a tensor. */
bool builder_retype(struct graph_builder *b, int32_t tensor, enum lx_dtype dtype, lx_status *st);
/* An op with these fields only. */
static inline struct lx_op builder_plain(const char *name, enum lx_kind_id kind, int count,
                                         const int32_t *inputs, int32_t output)
{
    return (struct lx_op){
        .name = name, .kind = lx_kind_at(kind), .input_count = count, .inputs = inputs, .output = output};
}
/* Copies name, kind, inputs, output (or outputs), einsum, value, offset, stride, views, params, windows and
 * hints from `op`; other fields are derived. Windows name letters, or variables if `op` has a map. */
bool builder_op(struct graph_builder *b, const struct lx_op *op, lx_status *st);
/* Adds an op of a kind with LX_ALTERS. The changed tensor is input `inplace`; if that is -1 it is the first
 * input, which is copied first. */
bool builder_altering(struct graph_builder *b, const struct lx_op *op, lx_status *st);
/* `buffer->parents` may refer to later buffers. The caller sets pools and bonds of a list in `graph` itself;
 * they must live in `memory`. */
bool builder_buffer(struct graph_builder *b, const struct lx_buffer *buffer, lx_status *st);
/* Checks and returns the graph, or NULL. The builder is empty afterwards. */
const struct lx_graph *builder_finish(struct graph_builder *b, lx_status *st);
void builder_abandon(struct graph_builder *b);

/* Reports an error at position `at` of the builder's file; false. */
#define builder_error(b, at, st, code, ...)                                                                  \
    status_set_at((st), (code), (b)->graph->file, (at).line, (at).column, __VA_ARGS__)

/* Parts of builder_finish, one file each. */
bool builder_map_op(struct graph_builder *b, size_t op, lx_status *st); /* einsum.c */
/* check_order.c: which tensors ops may write */
bool builder_check_written(struct graph_builder *b, lx_status *st);
bool builder_check_order(struct graph_builder *b, lx_status *st); /* check_order.c: roles and order */
/* A list that asks for something else. */
const struct lx_graph *graph_with_objective(const struct lx_graph *g, enum lx_objective objective);
/* The same ops in another order: op order[t] is at place t. Shares the rest and the hash. */
const struct lx_graph *graph_with_order(const struct lx_graph *g, const int32_t *order);
/* pattern_write.c: writes device, tensors and ops or buffers as in a pattern; this text is hashed. With a
 * `taker`, each record goes to it (with the separator before it) and `t` stays empty. */
struct text;
void pattern_write_body(const struct lx_graph *g, const struct record_taker *taker, struct text *t);
