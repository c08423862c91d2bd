/* A whole program in the making. Private to global_program.c and program_together.c. */
#ifndef LX_TEAM_PROGRAM_MAKER_H
#define LX_TEAM_PROGRAM_MAKER_H

#include "graph/builder.h"
#include "team/program_dims.h"

struct program {
    const struct lx_graph *g;
    struct program_dims dims;
    unsigned active;       /* axes of more than one device, a bit each */
    unsigned char *varies; /* per tensor: axes along which devices have other contents */
    bool *free_cut;        /* per tensor: an op writes it that cannot be cut, so that the planner decides */
    struct graph_builder b;
    lx_status *st;
    int serial;
};

/* The index string of an op in the making, and the letters that it has used. */
struct string_of {
    char text[2 * LX_MAX_OPERANDS + LX_MAX_OPERANDS * LX_MAX_RANK + 8];
    size_t length;
    int used;
    char axis[LX_GRID_AXES]; /* of the dimensions in front */
    bool failed;
};

char program_letter(struct string_of *s);
void program_put(struct string_of *s, char c);
/* The letters of the dimensions in front of a tensor. */
void program_put_front(const struct program *p, struct string_of *s, int32_t t, const char *axis);
struct string_of program_string(const struct program *p);
int program_bits(unsigned mask);
/* The axes of the op's group that have several devices. */
unsigned program_group(const struct program *p, const struct lx_op *op);
/* Extents with the dimensions in front; how many, -1: too many. */
int program_shape(const struct program *p, int32_t t, int64_t *extent);
/* Another tensor of the shape of `like`; its name, made of that of an op, is left in `name`. */
int32_t program_room(struct program *p, int32_t like, const char *of, char *name, size_t size);

/* An input with the dimensions in front that the output has: it, or a copy; -1: `st` is set. */
int32_t program_broadcast(struct program *p, const struct lx_op *op, int i);

/* program_together.c: an op of several devices. */
bool program_together(struct program *p, const struct lx_op *op);

#endif
