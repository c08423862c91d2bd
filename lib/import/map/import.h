/* A model becomes a graph: declarations that the files of this folder share.
 *
 * First the whole model is sketched: values are views of storages, and ops are sketches of pattern ops, each
 * over its own dimensions. Then storages are cut into pieces so that every op can give each piece a letter
 * (import_cuts.c), and the graph is built (import_build.c). A value that cannot be a view is copied, with a
 * reason; an unknown op is generic. No tensor has more than VIEW_MAX_RANK dimensions. */
#pragma once

#include "graph/builder.h"
#include "import/tensor_views.h"
#include "import/facts.h"
#include "import/devices/devices.h"

/* Every op of the file ends in one of these classes. */
enum import_class {
    CLASS_DEAD,     /* no result needs it */
    CLASS_MAPPED,   /* ops of the pattern that do the same */
    CLASS_FREE,     /* a name, or a view that its readers take over */
    CLASS_COPIED,   /* a view that could not be folded */
    CLASS_EXPANDED, /* several ops of the pattern */
    CLASS_FOLDED,   /* known ahead of the run */
    CLASS_GENERIC,  /* operands and bytes only */
    CLASS_COUNT
};

enum { STORAGE_MAX_WHOLE = 16, APART_SOME = 1, APART_ALL = 2 };

/* For a team: per grid axis the dimension that it shards, as the product of the extents from that dimension
 * on (0: none), and its extent. */
struct shard {
    int64_t from[LX_GRID_AXES], run[LX_GRID_AXES];
};

/* A future tensor, row-major in its own sequence of elements. */
struct storage {
    const char *name;
    const char *part;    /* the part of `name`; NULL: the whole */
    bool named, settled; /* named: by the file; settled: the name is unique */
    enum lx_role role;   /* LX_ROLE_COUNT: derived from its use */
    enum model_element element;
    int64_t elements;
    struct cuts cuts;
    struct atom whole[STORAGE_MAX_WHOLE]; /* runs of digits that are never cut, as windows slide along them */
    int whole_count;
    int32_t tensor;          /* once built, else -1 */
    int block;               /* 1 + the block type that the file asks for; 0: none */
    int32_t seen_by;         /* 1 + the last alias that views it; 0: none */
    struct op_class *cut_by; /* the op that cut the innermost piece; NULL: its own dimensions */
    bool needed;
    bool stays;    /* an argument that is returned: a tensor even if unread */
    bool counts;   /* its elements are 0, 1, 2 .. */
    bool constant; /* the file has its values */
    int line, column;
    bool cut_stated;
    struct shard cut;
};

/* The classification of an op of the file. */
struct op_class {
    enum import_class class;
    const char *reason; /* NULL: none */
    bool seen, live;
    const char *forced; /* why it must be a copy, found in an earlier round; NULL: it need not */
    bool shorts;        /* it may cut sticks short where no reshape is the cause */
    bool alone;         /* its operands and results are its own copies, which no other op cuts */
    int apart;     /* concat, pad or slice: how far copies shield it from others' cuts, up to APART_ALL */
    bool unmapped; /* letters cannot state it: it is generic */
    bool needed;   /* as a copy: the model was tried without */
    int changed;   /* the last round in which one of the four above changed */
    bool merged;   /* an earlier op does its work */
    bool capped;   /* a loop too long to unroll, found in an earlier round */
    bool unknown;  /* a loop or branch that depends on data */
    int64_t taken; /* trips of a loop; the branch taken */
    int32_t first, end; /* its sketches */
    /* Of an op that only changes the view: the previous such op; the bytes of its result; the bytes that its
     * cuts have added to other storages so far (import_cuts.c). */
    struct op_class *behind;
    int64_t bytes, padding;
    bool regroups; /* a reshape */
};

/* A tensor value of the model: a view of a storage, or one number for all elements. */
struct import_value {
    int32_t storage; /* -1: none (a splat not stored, or an empty tensor) */
    struct view view;
    const struct model_type *type;
    const struct model_data *known; /* values of a constant, or NULL */
    struct op_class *via;           /* the last op that only changed the view; NULL: none */
    const char *name;               /* from the file; NULL: none */
    bool copied;                    /* the file asks for a copy that no reader needs */
};

struct sketch_operand {
    int32_t storage;
    struct view view; /* over the dimensions of the op */
    struct op_class *via;
};

struct sketch {
    const char *kind;        /* of the pattern */
    const char *name, *part; /* as in struct storage */
    const struct model_op *from;
    struct op_class *owner;         /* of the op that it belongs to */
    struct sketch_operand *operand; /* the inputs, then the result */
    int input_count;
    int rank; /* dimensions of the op; -1: opaque, with plain operands */
    int64_t extent[VIEW_MAX_RANK];
    const char *why; /* why this copy, no op of the file, was made; else NULL */
    bool has_value, needed;
    double value;
    int64_t whole;                     /* the exact integer value */
    const struct lx_op_params *params; /* NULL: none */
    const struct lx_op_data *data;     /* of a constant */
    /* in, out and tap are dimensions of the op; -1: extent 1, without a letter */
    const struct lx_window *windows;
    int window_count;
    /* Dimensions (bits) along which operands have their own extents: joined or padded ones. They may be cut
     * if the cut divides `grain`. */
    unsigned apart;
    int64_t grain[VIEW_MAX_RANK];
    const int64_t *low, *high, *between; /* of a pad, by dimension of the op; else NULL */
    struct op_class *own;                /* the concat, pad or slice; else NULL */
    /* Of an op that chooses (gather, scatter, dynamic slice): the dimensions of its first operand that it
     * indexes; their starts, unless these are operands. */
    signed char choice[LX_MAX_RANK];
    int choice_count;
    const int64_t *starts;
    enum lx_combine combine;
    int64_t k; /* results of a top-k or sort */
    bool descending;
    bool in_place; /* the result overwrites the first operand */
    /* Of a scan or collective: the dimension of operand and result with its axis or its shards, as in struct
     * shard; 0: none. */
    int64_t axis_from[2];
};

/* A value that views a storage, and the previous one. */
struct alias {
    int32_t value, part, before;
};

struct import_role;

struct import {
    const struct lx_model *m;
    enum model_format format; /* dialect of the kinds in the current body: ONNX in derived ones */
    struct lx_import_options options;
    struct arena memory;
    VEC(struct storage) storages;
    VEC(struct sketch) sketches;
    VEC(struct import_value) leaves; /* tensors of the values of current bodies */
    VEC(struct alias) aliases;
    struct import_role *roles; /* by argument of the entry */
    int32_t *leaf;             /* by value of the model: its first leaf, -1: not made yet */
    struct op_class **classes; /* by body and op */
    struct op_class copying;   /* of copies into states at the end */
    const int32_t *order;      /* build order of sketches; NULL: the order of making */
    struct names tensor_names, op_names;
    struct names constants;     /* storages by the data of constants */
    struct model_facts notes;   /* for the report: collectives, roles, loops, branches */
    int32_t body;               /* the current one */
    struct op_class *owner;     /* of the op being sketched */
    const struct sketch *built; /* the last sketch that became an op */
    /* For a team: the grid of the model; 0 axes: none. */
    int grid_axes;
    int64_t grid[MESH_MAX_AXES];
    bool by_device;           /* the program is written for one device and states its own sharding */
    bool has_parts;           /* and it slices whole tensors itself */
    const char *result_name;  /* of new storages, until import_label_end */
    const char *path;         /* of inlined bodies; NULL: none */
    VEC(int32_t) name_counts; /* uses of each name */
    int round;                /* of sketching, from 1 on */
    bool short_sticks;        /* short sticks are padded: no more copies */
    bool last;                /* last rounds: an op that does not fit becomes generic */
    bool retry;               /* an op was forced to copy: sketch again */
    bool spared;              /* as retry, to keep sticks full */
    int depth;
    int64_t walked; /* ops walked, counted per call */
    lx_status *st;
};

/* ---- Values (import_sketch.c) ---- */

int32_t import_storage(struct import *im, enum model_element e, int64_t elements, const struct model_op *at);
/* Makes a type that the file does not have. */
const struct model_type *import_type(struct import *im, enum model_element e, int rank,
                                     const int64_t *extent);
struct import_value *import_leaf(struct import *im, int32_t value, int part);
/* A value that is all of a new storage. */
struct import_value import_fresh(struct import *im, const struct model_type *type, const struct model_op *at);
void import_bind(struct import *im, int32_t value, const struct import_value *leaves, int count);
/* Is it a constant with one number for all elements? `number`: if a double holds it exactly;
 * import_splat_exact: the nearest double, and `whole` exactly. */
bool import_splat_exact(const struct import_value *v, double *number, int64_t *whole);
bool import_splat(const struct import_value *v, double *number);
bool import_known(const struct import_value *v, int64_t *number); /* whole numbers only */
/* Makes a storage for a constant without one. */
void import_stored(struct import *im, struct import_value *v);
/* Gives the value a storage in its own order, by a copy unless it has one. */
void import_plain(struct import *im, struct import_value *v, const struct model_op *at);
/* Copies the value; `whole` as in struct sketching; `named`: the copy has the value's name, not the op's. */
void import_copy(struct import *im, struct import_value *v, const struct model_op *at, bool whole,
                 bool named);
/* Call before a storage is written: other views of the storage than `written` keep the old content. */
void import_keep_old(struct import *im, int32_t storage, int32_t written, const struct model_op *at);

/* ---- Sketches (import_sketch.c) ---- */

/* A sketch to make: an op over its own dimensions; operands are views over these. */
struct sketching {
    const char *kind;
    const struct model_op *from;
    int rank;
    const int64_t *extent; /* NULL: rank and extents of the result */
    const struct sketch_operand *in;
    int count;
    const double *value;           /* NULL: none */
    const struct model_type *type; /* of the result; NULL: operand 0 is changed in place */
    const int *dims; /* dimension i of the result is dims[i] of the op (-1: extent 1); NULL: i */
    bool whole;      /* the result also stores repeated digits that all operands lack */
};
/* The returned sketch is valid until the next one is made. */
struct sketch *import_sketch(struct import *im, const struct sketching *s, struct import_value *out);
/* A stored value as operand of an op of that rank: dimension k is dims[k] of the op (-1: none). */
struct sketch_operand import_over(const struct import_value *v, int rank, const int *dims);
/* The same, aligned at the last dimensions of the op; stores constants. */
struct sketch_operand import_aligned(struct import *im, struct import_value v, int rank);
/* Views of an op do not fit along dimension `dim` (-1: any). In the next round one operand that has it is a
 * copy; if none can be, the op's operands and results are copies, and at last the op is generic. */
void import_force(struct import *im, struct op_class *owner, const struct sketch_operand *operand, int count,
                  int dim, const char *reason);
/* One sketch without an index map, from plain storages to another. */
struct sketch *import_opaque_sketch(struct import *im, const char *kind, const struct model_op *op,
                                    const int32_t *inputs, int count, int32_t output);
/* Sketches all operands and results of an op; `kind` has no index map. */
void import_opaque(struct import *im, const char *kind, const struct model_op *op);
/* The same from one tensor to one. */
struct import_value import_opaque_leaf(struct import *im, const char *kind, const struct model_op *op,
                                       struct import_value in, const struct model_type *type);

/* ---- Walking (import_ops.c) ---- */

/* Maps the ops of a body, whose arguments are bound. */
bool import_body(struct import *im, int32_t body);
struct op_class *import_class_of(const struct import *im, const struct model_op *op);
void import_class(struct import *im, const struct model_op *op, enum import_class class, const char *reason);

/* ---- Cuts (import_cuts.c) ---- */

/* Cuts storages until no op needs another cut. */
void import_cut(struct import *im);
/* Is dimension `dim` of the value a single, uncut run of the storage's digits? */
bool import_in_one_piece(const struct import *im, const struct import_value *v, int dim);
/* Has the storage been cut within these digits? */
bool import_is_cut(const struct import *im, int32_t storage, const struct atom *a);
/* The piece that begins a dimension, as in struct shard; -1: none. */
int import_piece_from(const struct cuts *c, int64_t from);
/* Forbids cuts within these digits from now on. False: too many such runs. */
bool import_keep_whole(struct import *im, int32_t storage, struct atom a);
/* The same for dimension `dim` (-1: none) of an operand, which is copied if there are too many runs. */
void import_keep_dim(struct import *im, const struct sketch_operand *o, int dim);
/* Adds the cuts of an operand and of its storage within dimension `dim` to `c`; false: they do not fit. */
bool import_cuts_of(const struct import *im, const struct sketch_operand *o, int dim, struct cuts *c);

/* ---- The graph (import_build.c) ---- */

/* Marks sketches that lead to a result; `results` are the storages that are returned. */
void import_mark_needed(struct import *im, const int32_t *results, int count);
/* Returns NULL without an error if `retry` is set. */
const struct lx_graph *import_build(struct import *im);

/* import_early.c: the sketches in the order of the pattern. */
const int32_t *import_early(struct import *im);

/* import_in_place.c: chooses the ops that change a tensor in place. All sketches exist; `results` are the
 * returned storages, afterwards without states. */
bool import_in_place(struct import *im, int32_t *results, int *count);

/* ---- Arguments and results (import_roles.c) ---- */

struct import_role {
    enum lx_role role;
    const char *rule; /* the rule that decided, in a word */
    int32_t storage;  /* of its first tensor; -1: it has none */
    int64_t output;   /* the result tensor whose buffer it is; -1: none */
};

/* Fills `out` by argument of the entry. False: `im->st` has the error. */
bool import_roles(struct import *im, struct import_role *out);
/* 1 + the block type in which an argument is stored; 0: none. */
int import_block_of(const struct import *im, const struct model_value *v, enum lx_role role);
bool import_store_blocks(struct import *im, struct graph_builder *b);
/* The returned storages. */
int32_t *import_gather_results(struct import *im, int *count);
/* One tensor of the results; NULL: none. */
struct import_value *import_result(struct import *im, int64_t tensor);

/* ---- The report (import_report.c) ---- */

/* Counts ops by class, gives the graph their sums, and writes the report, if wanted: JSON, malloc'ed. False:
 * there are generic ops, which --strict forbids. */
bool import_judge(struct import *im, const struct lx_graph **g, const char *sha256,
                  const struct model_facts *facts, char **report);
/* import_must.c: sets the copies and the bytes that the file's arguments and results must cross. */
void import_must(const struct lx_graph *g, struct lx_imported *out);

/* ---- Names of tensors and ops, from the file (import_names.c) ---- */

/* Indices at which the sketches and storages of an op begin. */
struct label_place {
    size_t sketch, storage;
    const char *label; /* the op's name; NULL: it is part of another op */
};

const char *import_op_label(struct import *im, const struct model_op *op);
/* Call around an op of a body; a derived body has the name of its op. */
struct label_place import_label_begin(struct import *im, const struct model_op *op);
void import_label_end(struct import *im, const struct model_op *op, const struct label_place *at);
/* Enters an inlined op; the caller restores `im->path`. */
void import_path_enter(struct import *im, const struct model_op *op);
/* NULL: the file has no name. */
const char *import_value_name(struct import *im, int32_t value);
/* The indices of new sketches and storages; import_call_it names all since then as copies of `name` (NULL:
 * none). */
struct label_place import_here(const struct import *im);
void import_call_it(struct import *im, const struct label_place *at, const char *name);
void import_tensor_name(struct import *im, struct storage *s);
const char *import_op_name(struct import *im, const struct sketch *s);

/* ---- Devices of a team (import_together.c) ---- */

/* Finds the model's grid; false: a team cannot have it (`st`). */
bool import_find_grid(struct import *im);
/* Applies the file's sharding of an argument, leaf `leaf` of a tuple. Notes a sharding that the grid cannot
 * keep. */
void import_state_argument(struct import *im, const struct import_value *v, int leaf,
                           const struct model_value *of);
/* The same for the results of an op. */
void import_state_results(struct import *im, const struct model_op *op);
/* A copy keeps the sharding of the value. */
void import_keep_cut(struct import *im, const struct import_value *was, const struct import_value *now);
void import_cut_tensor(struct import *im, const struct storage *s, struct lx_tensor *t);
/* The type of the shards if an argument is read only as shards; else NULL. */
const struct model_type *import_part_type(const struct import *im, int32_t argument);
/* Is the result of an op its operand's shard? */
bool import_stays_part(struct import *im, const struct model_op *op);
