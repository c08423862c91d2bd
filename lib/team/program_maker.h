/* One program for all devices in the making, out of the program of one: see global_program.c. Private to
 * the stage.
 *
 * A tensor is known by its cut points: products of its trailing extents. A collective takes a part out of a
 * dimension, or puts parts into one, so that this dimension becomes two, there and wherever it goes through
 * ops: dimensions that ops walk with one variable are one class, and are cut together.
 *
 * After an error `failed` is set, nothing is added any more, and numbers of tensors are -1. */
#ifndef LX_TEAM_PROGRAM_MAKER_H
#define LX_TEAM_PROGRAM_MAKER_H

#include "graph/builder.h"
#include "layout/op_index.h"

enum { PROGRAM_CUTS = 32 };

/* In falling order, from all elements to 1. */
struct cut_points {
    int count;
    int64_t at[PROGRAM_CUTS];
};

/* Parts of devices in an operand of a collective: `parts` of them lie behind each other in steps of `inner`
 * elements. 1: the operand belongs to one device. */
struct operand_parts {
    int64_t parts, inner;
};

struct program {
    const struct lx_graph *g;
    struct arena memory;
    int32_t *first;  /* per tensor: its first dimension, of all */
    int32_t *parent; /* per dimension: another of its class, or itself */
    struct dim_class {
        bool rigid; /* some op does not walk it index by index */
        int cuts;
        int64_t inner[LX_MAX_RANK]; /* where it is cut: falling */
    } * classes;
    bool
        *apart; /* two per op: its input or output cannot be cut as the parts of devices are, and is copied */
    unsigned active;       /* axes of more than one device, a bit each */
    unsigned char *varies; /* per tensor: axes along which devices have different contents */
    bool *free_shard; /* per tensor: an op writes it that cannot be sharded, so that the planner decides */
    struct graph_builder b;
    int serial;
    bool failed;
    lx_status *st;
};

/* program_dims.c: classes of dimensions, and their cuts. False: `st` is set. */
bool program_dims_make(struct program *p);
struct operand_parts program_parts(const struct lx_graph *g, const struct lx_op *op, bool output);
bool program_apart(const struct program *p, const struct lx_op *op, bool output);
/* The cut points of one device's part that input and output of a collective have in common. */
struct cut_points program_common(const struct program *p, const struct lx_op *op);
/* The extents that dimension `dim` of a tensor has become, outermost first; how many. */
int program_split(const struct program *p, int32_t tensor, int dim, int64_t *extent);

/* The index string of an op in the making, and the letters that it has used. */
struct string_of {
    char text[2 * LX_MAX_OPERANDS + LX_MAX_OPERANDS * LX_MAX_RANK + 8];
    size_t length;
    int used;
    char axis[LX_GRID_AXES]; /* of the dimensions in front */
    bool failed;
};

/* global_program.c */
char program_letter(struct string_of *s);
void program_put(struct string_of *s, char c);
/* The letters of the dimensions in front of a tensor. */
void program_put_front(const struct program *p, struct string_of *s, int32_t t, const char *axis);
struct string_of program_string(const struct program *p);
int program_bits(unsigned mask);
/* The axes of the op's group that have several devices. */
unsigned program_group(const struct program *p, const struct lx_op *op);
/* Extents of the dimensions in front; how many. */
int program_front(const struct program *p, int32_t t, int64_t *extent);
/* Extents with the dimensions in front; how many, -1: too many. */
int program_shape(const struct program *p, int32_t t, int64_t *extent);
void program_add(struct program *p, const struct lx_op *op);
int32_t program_tensor(struct program *p, const char *name, enum lx_role role, enum lx_dtype dtype, int rank,
                       const int64_t *extent);
/* Another tensor of the shape of `like`; its name, made of the name of an op, is left in `name`. */
int32_t program_room(struct program *p, int32_t like, const char *of, char *name, size_t size);
/* An input with the dimensions in front that the output has: itself, or a copy. */
int32_t program_broadcast(struct program *p, const struct lx_op *op, int i);

/* program_together.c: a collective. */
void program_together(struct program *p, const struct lx_op *op);

#endif
