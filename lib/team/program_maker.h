/* Construction of the program of all devices from the program of one: see global_program.c. Private to the
 * stage.
 *
 * A tensor is described by its cut points: products of its trailing extents. A collective takes a part out
 * of a dimension, or adds one, so this dimension becomes two, in all ops that use it: dimensions that ops
 * iterate with one variable are one class, and are cut together.
 *
 * After an error `failed` is set, additions do nothing, and tensor numbers are -1. */
#pragma once

#include "graph/builder.h"
#include "layout/op_index.h"

enum { PROGRAM_CUTS = 32 };

/* In falling order, from the number of elements to 1. */
struct cut_points {
    int count;
    int64_t at[PROGRAM_CUTS];
};

/* Device parts in an operand of a collective: `parts` parts, `inner` elements apart. 1: the operand belongs
 * to one device. */
struct operand_parts {
    int64_t parts, inner;
};

struct program {
    const struct lx_graph *g;
    struct arena memory;
    int32_t *first;  /* per tensor: its first dimension in the list of all dimensions */
    int32_t *parent; /* per dimension: another of its class, or itself (union-find) */
    struct dim_class {
        bool rigid; /* some op does not iterate it index by index */
        int cuts;
        int64_t inner[LX_MAX_RANK]; /* its cuts, in falling order */
    } * classes;
    bool *apart;     /* two per op: its input or output cannot be cut like the device parts, and is copied */
    unsigned active; /* axes with several devices, one bit each */
    unsigned char *varies; /* per tensor: bits of axes along which contents differ between devices */
    /* per tensor: its writer cannot be sharded as required, so the planner chooses its shards */
    bool *free_shard;
    struct graph_builder b;
    int serial;
    bool failed;
    lx_status *st;
};

/* program_dims.c: finds classes of dimensions and their cuts. False: see `st`. */
bool program_dims_make(struct program *p);
struct operand_parts program_parts(const struct lx_graph *g, const struct lx_op *op, bool output);
bool program_apart(const struct program *p, const struct lx_op *op, bool output);
/* The common cut points of a device's part in input and output of a collective. */
struct cut_points program_common(const struct program *p, const struct lx_op *op);
/* Writes the extents that replace dimension `dim`, outermost first; returns their number. */
int program_split(const struct program *p, int32_t tensor, int dim, int64_t *extent);

/* An index string under construction, and the letters it uses. */
struct string_of {
    char text[2 * LX_MAX_OPERANDS + LX_MAX_OPERANDS * LX_MAX_RANK + 8];
    size_t length;
    int used;
    char axis[LX_GRID_AXES]; /* letters of the leading dimensions */
    bool failed;
};

/* global_program.c */
char program_letter(struct string_of *s);
void program_put(struct string_of *s, char c);
/* Puts the letters of a tensor's leading dimensions. */
void program_put_front(const struct program *p, struct string_of *s, int32_t t, const char *axis);
struct string_of program_string(const struct program *p);
/* Bits of the axes in the op's group with several devices. */
unsigned program_group(const struct program *p, const struct lx_op *op);
/* Writes the extents of the leading dimensions; returns their number. */
int program_front(const struct program *p, int32_t t, int64_t *extent);
/* Writes all extents, leading dimensions first; returns their number, -1 if too many. */
int program_shape(const struct program *p, int32_t t, int64_t *extent);
void program_add(struct program *p, const struct lx_op *op);
int32_t program_tensor(struct program *p, const char *name, enum lx_role role, enum lx_dtype dtype, int rank,
                       const int64_t *extent);
/* Adds a tensor of the shape of `like` and leaves its name, derived from op name `of`, in `name`. */
int32_t program_room(struct program *p, int32_t like, const char *of, char *name, size_t size);
/* An input with a leading dimension for each of these axes: the input itself, or a copy. */
int32_t program_broadcast(struct program *p, const struct lx_op *op, int i, unsigned axes);

/* program_together.c: adds a collective. */
void program_together(struct program *p, const struct lx_op *op);
