/* A model becomes a graph: declarations that the files of this folder share.
 *
 * First the whole model is sketched: its values are views of storages, its ops become sketches of ops of
 * ours, each over dimensions of its own. Then storages are cut so that every op can give a letter to each
 * piece (import_cuts.c), and the graph is built (import_build.c). A value that cannot be a view is copied,
 * with a reason; an unknown op is generic. No tensor has more than VIEW_MAX_RANK dimensions. */
#ifndef LX_IMPORT_IMPORT_H
#define LX_IMPORT_IMPORT_H

#include "base/text.h"
#include "graph/builder.h"
#include "import/model_import.h"
#include "import/tensor_views.h"
#include "import/facts.h"
#include "import/devices/devices.h"
#include "import/model_parts.h"

/* Every op of the file is in one of these at the end. */
enum import_class {
    CLASS_DEAD,     /* no result needs it */
    CLASS_MAPPED,   /* ops of ours that do the same */
    CLASS_FREE,     /* a name, or a view that its readers fold */
    CLASS_COPIED,   /* a view that could not be folded */
    CLASS_EXPANDED, /* several ops of ours */
    CLASS_FOLDED,   /* known before the model runs */
    CLASS_GENERIC,  /* operands and bytes only */
    CLASS_COUNT
};

enum { STORAGE_MAX_WHOLE = 16, APART_SOME = 1, APART_ALL = 2 };

/* For a team: the dimension that each axis of the grid cuts, as the product of the extents from it on (0:
 * none), and its extent. */
struct shard {
    int64_t from[LX_GRID_AXES], run[LX_GRID_AXES];
};

/* A tensor to be, row-major in its own sequence of elements. */
struct storage {
    const char *name;
    const char *part;    /* the name of a part of `name`; NULL: all of it */
    bool named, settled; /* the file has a name for it; no other storage has the name */
    enum lx_role role;   /* LX_ROLE_COUNT: follows from its use */
    enum model_element element;
    int64_t elements;
    struct cuts cuts;
    struct atom whole[STORAGE_MAX_WHOLE]; /* runs of digits that are never cut: windows slide along them */
    int whole_count;
    int32_t tensor;          /* once built, else -1 */
    int block;               /* 1 + the block type that the file asks for; 0: none */
    int32_t seen_by;         /* 1 + the last alias that is a view of it; 0: none */
    struct op_class *cut_by; /* the op that asked for the innermost piece; NULL: its own dimensions */
    bool needed;
    bool stays;    /* an argument that is returned: a tensor even if no op reads it */
    bool counts;   /* 0, 1, 2 .. */
    bool constant; /* the file has its numbers */
    int line, column;
    bool cut_stated;
    struct shard cut;
};

/* The fate of an op of the file. */
struct op_class {
    enum import_class class;
    const char *reason; /* NULL: none */
    bool seen, live;
    const char *forced; /* why it must be a copy, as an earlier round found; NULL: it need not */
    bool alone;         /* its operands and results are copies of their own, which no other op cuts */
    int apart; /* of a concat, pad or slice: how far copies keep the cuts of others away, up to APART_ALL */
    bool unmapped;      /* it changes an operand in a way that has no letters, as its build found */
    bool merged;        /* an op before it does its work */
    bool capped;        /* a loop that would be too long unrolled, as an earlier round found */
    bool unknown;       /* a loop or branch that depends on data */
    int64_t taken;      /* trips of a loop, number of the branch */
    int32_t first, end; /* its sketches */
    /* Of an op that only changes the view: the op that did so before it; the bytes of its result; the
     * bytes that its cuts add to other storages (import_cuts.c) so far. */
    struct op_class *behind;
    int64_t bytes, padding;
    bool regroups; /* a reshape */
};

/* A tensor value of the model: a view of a storage, or one number for all elements. */
struct import_value {
    int32_t storage; /* -1: none (a splat that nobody stored, or an empty tensor) */
    struct view view;
    const struct model_type *type;
    const struct model_data *known; /* numbers of a constant, or NULL */
    struct op_class *via;           /* the last op that only changed the view; NULL: none */
    const char *name;               /* of the file; NULL: it has none */
    bool copied;                    /* the file asks for a copy, which no reader needs */
};

struct sketch_operand {
    int32_t storage;
    struct view view; /* over the dimensions of the op */
    struct op_class *via;
};

struct sketch {
    const char *kind;        /* of ours */
    const char *name, *part; /* as in struct storage */
    const struct model_op *from;
    struct op_class *owner;         /* of the op that it is part of */
    struct sketch_operand *operand; /* the inputs, then the result */
    int input_count;
    int rank; /* dimensions of the op; -1: opaque, operands are plain */
    int64_t extent[VIEW_MAX_RANK];
    const char *why; /* the reason of a copy that is no op of the file; else NULL */
    bool has_value, needed;
    double value;
    int64_t whole;                     /* an integer value exactly */
    const struct lx_op_params *params; /* NULL: none */
    const struct lx_op_data *data;     /* of a constant */
    /* in, out and tap are dimensions of the op; -1: of one element, without a letter */
    const struct lx_window *windows;
    int window_count;
    /* Dimensions (a bit each) along which operands have extents of their own: joined or padded ones. They
     * may be cut where that divides `grain`. */
    unsigned apart;
    int64_t grain[VIEW_MAX_RANK];
    const int64_t *low, *high, *between; /* of a pad, by dimension of the op; else NULL */
    struct op_class *own;                /* of such an op; else NULL */
    /* Of an op that chooses: the dimensions of its first operand along which it does; their starts, unless
     * operands have them. */
    signed char choice[LX_MAX_RANK];
    int choice_count;
    const int64_t *starts;
    enum lx_combine combine;
    int64_t k; /* results of an op that orders */
    bool descending;
    bool in_place; /* the result is the first operand */
    /* Of a scan or collective: the dimensions of operand and result that are its axis or have its parts, as
     * in struct shard; 0: none. */
    int64_t axis_from[2];
};

/* A value that is a view of a storage, and the one before it. */
struct alias {
    int32_t value, part, before;
};

struct import_role;

struct import {
    const struct lx_model *m;
    enum model_format format; /* of the kinds in the body under way: ONNX in derived ones */
    struct lx_import_options options;
    struct arena memory;
    VEC(struct storage) storages;
    VEC(struct sketch) sketches;
    VEC(struct import_value) leaves; /* tensors of the values of bodies under way */
    VEC(struct alias) aliases;
    struct import_role *roles; /* by argument of the entry */
    int32_t *leaf;             /* by value of the model: the first of its leaves, -1: not made yet */
    struct op_class **classes; /* by body and op */
    struct op_class copying;   /* of copies into states at the end */
    const int32_t *order;      /* of sketches when they are built; NULL: as they were made */
    struct names tensor_names, op_names;
    struct names constants;     /* storages by the data of constants */
    struct model_facts notes;   /* for the report: collectives, roles, loops, branches */
    int32_t body;               /* under way */
    struct op_class *owner;     /* of the op that is being sketched */
    const struct sketch *built; /* the last that became an op */
    /* For a team: the grid that the model is for; 0 axes: none. */
    int grid_axes;
    int64_t grid[MESH_MAX_AXES];
    bool by_device;           /* the program is one device's: it states itself which device has what */
    bool has_parts;           /* and takes its part of whole tensors */
    const char *result_name;  /* of new storages, until import_label_end */
    const char *path;         /* of inlined bodies; NULL: none */
    VEC(int32_t) name_counts; /* uses of each name */
    bool short_sticks;        /* sticks that are too short are padded: nothing is left to be copied */
    bool last;                /* the last rounds: an op that does not fit becomes generic */
    bool retry;               /* something was forced: sketch again */
    bool spared;              /* the same, to keep sticks full */
    bool give_up;             /* nothing was left to be forced: without folding */
    int depth;
    int64_t walked; /* ops, each as often as it is called */
    lx_status *st;
};

/* ---- Values (import_sketch.c) ---- */

int32_t import_storage(struct import *im, enum model_element e, int64_t elements, const struct model_op *at);
/* A type that the file does not have. */
const struct model_type *import_type(struct import *im, enum model_element e, int rank,
                                     const int64_t *extent);
struct import_value *import_leaf(struct import *im, int32_t value, int part);
/* A value that is all of a new storage. */
struct import_value import_fresh(struct import *im, const struct model_type *type, const struct model_op *at);
void import_bind(struct import *im, int32_t value, const struct import_value *leaves, int count);
/* Is it a constant with one number for all elements? As a double, if that is exact; import_splat_exact: the
 * nearest double, and integers in full. */
bool import_splat_exact(const struct import_value *v, double *number, int64_t *whole);
bool import_splat(const struct import_value *v, double *number);
bool import_known(const struct import_value *v, int64_t *number); /* whole numbers only */
/* Makes a storage of a constant that has none yet. */
void import_stored(struct import *im, struct import_value *v);
/* A storage of its own in its own order: copied unless it is that already. */
void import_plain(struct import *im, struct import_value *v, const struct model_op *at);
/* A copy, `whole` as in struct sketching; `named`: it has the name of the value, not of the op. */
void import_copy(struct import *im, struct import_value *v, const struct model_op *at, bool whole,
                 bool named);
/* Before a storage is written: values that are views of it, except `written`, keep the old content. */
void import_keep_old(struct import *im, int32_t storage, int32_t written, const struct model_op *at);

/* ---- Sketches (import_sketch.c) ---- */

/* An op over dimensions of its own; operands are views over them. */
struct sketching {
    const char *kind;
    const struct model_op *from;
    int rank;
    const int64_t *extent; /* NULL: rank and extents are those of the result */
    const struct sketch_operand *in;
    int count;
    const double *value;           /* NULL: none */
    const struct model_type *type; /* of the result; NULL: it is operand 0, changed in its place */
    const int *dims; /* dimension i of the result is dims[i] of the op (-1: of extent 1); NULL: i */
    bool whole;      /* the result has storage also for repeated digits that all operands lack */
};
/* The sketch is good until the next one is made. */
struct sketch *import_sketch(struct import *im, const struct sketching *s, struct import_value *out);
/* A stored value as operand of an op of that rank: its dimension k is dims[k] of the op (-1: none). */
struct sketch_operand import_over(const struct import_value *v, int rank, const int *dims);
/* The same, aligned at the end of the op's dimensions; constants are stored. */
struct sketch_operand import_aligned(struct import *im, struct import_value v, int rank);
/* Where two views of an op cut a dimension against each other: one of them is copied in the next round. */
void import_force(struct import *im, struct op_class *owner, const struct sketch_operand *operand, int count,
                  const char *reason);
/* One sketch without an index map from plain storages to another. */
struct sketch *import_opaque_sketch(struct import *im, const char *kind, const struct model_op *op,
                                    const int32_t *inputs, int count, int32_t output);
/* All operands and results of an op; `kind` has no index map. */
void import_opaque(struct import *im, const char *kind, const struct model_op *op);
/* From one tensor to one. */
struct import_value import_opaque_leaf(struct import *im, const char *kind, const struct model_op *op,
                                       struct import_value in, const struct model_type *type);

/* ---- Walking (import_ops.c) ---- */

/* The ops of a body; its arguments are bound. */
bool import_body(struct import *im, int32_t body);
struct op_class *import_class_of(const struct import *im, const struct model_op *op);
void import_class(struct import *im, const struct model_op *op, enum import_class class, const char *reason);

/* ---- Cuts (import_cuts.c) ---- */

/* Cuts storages until no op asks for another cut. */
void import_cut(struct import *im);
/* Is dimension `dim` of the value one run of the storage's digits, which nothing cuts? */
bool import_in_one_piece(const struct import *im, const struct import_value *v, int dim);
/* Has the storage been cut within these digits? */
bool import_is_cut(const struct import *im, int32_t storage, const struct atom *a);
/* The piece that begins a dimension, as in struct shard; -1: none does. */
int import_piece_from(const struct cuts *c, int64_t from);
/* Nothing may cut within them from now on. False: too many such runs are kept already. */
bool import_keep_whole(struct import *im, int32_t storage, struct atom a);
/* The same for dimension `dim` (-1: none) of an operand, which is copied where too many are kept. */
void import_keep_dim(struct import *im, const struct sketch_operand *o, int dim);
/* Adds the cuts of an operand and of its storage within dimension `dim` to `c`; false: they do not fit. */
bool import_cuts_of(const struct import *im, const struct sketch_operand *o, int dim, struct cuts *c);

/* ---- The graph (import_build.c) ---- */

/* Marks sketches that lead to a result; `results` are the storages that are returned. */
void import_mark_needed(struct import *im, const int32_t *results, int count);
/* NULL without an error: `retry` is set. */
const struct lx_graph *import_build(struct import *im);

/* import_in_place.c: which ops change a tensor where it is. All sketches are made; `results` are the
 * storages that are returned, without states afterwards. */
bool import_in_place(struct import *im, int32_t *results, int *count);

/* ---- Arguments and results (import_roles.c) ---- */

struct import_role {
    enum lx_role role;
    const char *rule; /* the one that decided, in a word */
    int32_t storage;  /* of its first tensor; -1: it has none */
    int64_t output;   /* the tensor of the results whose buffer it is; -1: none */
};

/* By argument of the entry; `out` has room for each. False: `im->st` says why. */
bool import_roles(struct import *im, struct import_role *out);
/* 1 + the block type that an argument is to be stored as; 0: none. */
int import_block_of(const struct import *im, const struct model_value *v, enum lx_role role);
bool import_store_blocks(struct import *im, struct graph_builder *b);
/* The storages that are returned. */
int32_t *import_gather_results(struct import *im, int *count);
/* One tensor of the results; NULL: there is none. */
struct import_value *import_result(struct import *im, int64_t tensor);

/* ---- The report (import_report.c) ---- */

/* Counts what became of the ops and writes the report, if it is wanted: JSON, malloc'ed. False: there are
 * generic ops, which --strict forbids. */
bool import_judge(struct import *im, const struct lx_graph *g, const char *sha256,
                  const struct model_facts *facts, char **report);

/* ---- Names of tensors and ops, in the words of the file (import_names.c) ---- */

/* Where the sketches and storages of an op begin. */
struct label_place {
    size_t sketch, storage;
    const char *label; /* the name of the op; NULL: it is part of another op */
};

const char *import_op_label(struct import *im, const struct model_op *op);
/* Around an op of a body; a derived body has the name of the op that it stands for. */
struct label_place import_label_begin(struct import *im, const struct model_op *op);
void import_label_end(struct import *im, const struct model_op *op, const struct label_place *at);
/* The op is inlined; the caller puts `im->path` back. */
void import_path_enter(struct import *im, const struct model_op *op);
/* NULL: the file has none of its own. */
const char *import_value_name(struct import *im, int32_t value);
/* Where new sketches and storages begin; all since then are copies of something of that name (NULL: none). */
struct label_place import_here(const struct import *im);
void import_call_it(struct import *im, const struct label_place *at, const char *name);
void import_tensor_name(struct import *im, struct storage *s);
const char *import_op_name(struct import *im, const struct sketch *s);

/* ---- Devices that share the work, for a team (import_together.c) ---- */

/* Finds the grid that the model is for; false: there is none that a team can have (`st`). */
bool import_find_grid(struct import *im);
/* The sharding that the file states for an argument, part `leaf` of a tuple. A sharding that the grid cannot
 * keep is noted. */
void import_state_argument(struct import *im, const struct import_value *v, int leaf,
                           const struct model_value *of);
/* The same for the results of an op. */
void import_state_results(struct import *im, const struct model_op *op);
/* A copy of a value is cut as the value is. */
void import_keep_cut(struct import *im, const struct import_value *was, const struct import_value *now);
void import_cut_tensor(struct import *im, const struct storage *s, struct lx_tensor *t);
/* The type of the parts if an argument is read as parts only; else NULL. */
const struct model_type *import_part_type(const struct import *im, int32_t argument);
/* Is the result of an op the part that its operand is? */
bool import_stays_part(struct import *im, const struct model_op *op);

#endif
