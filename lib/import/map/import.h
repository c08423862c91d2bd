/* A model becomes a graph: what the files of this folder share.
 *
 * First the whole model is sketched: its values are views of storages, its ops become sketches of ops of
 * ours, each over dimensions of its own. Then storages are cut so that every op can give a letter to each
 * piece (import_cuts.c), and the graph is built (import_build.c). What cannot be a view is copied, with a
 * reason; what we do not know is generic. */
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
#define IMPORT_CLASSES(X)                                                                                    \
    X(CLASS_DEAD, "dead")         /* nothing that is returned needs it */                                    \
    X(CLASS_MAPPED, "mapped")     /* ops of ours that do the same */                                         \
    X(CLASS_FREE, "free")         /* a name, or a view that its readers fold */                              \
    X(CLASS_COPIED, "copied")     /* a view that could not be folded */                                      \
    X(CLASS_EXPANDED, "expanded") /* several ops of ours */                                                  \
    X(CLASS_FOLDED, "folded")     /* known before the model runs */                                          \
    X(CLASS_GENERIC, "generic")   /* operands and bytes only */
#define IMPORT_CLASS(id, word) id,
enum import_class { IMPORT_CLASSES(IMPORT_CLASS) CLASS_COUNT };
#undef IMPORT_CLASS

enum { STORAGE_MAX_WHOLE = 16 };

/* A tensor to be, row-major in its own sequence of elements. */
struct storage {
    const char *name;
    const char *part;    /* what of it this is; NULL: it itself */
    bool named, settled; /* the file has a name for it; no other has it */
    enum lx_role role;   /* LX_ROLE_COUNT: follows from its use */
    enum model_element element;
    int64_t elements;
    struct cuts cuts;
    struct atom whole[STORAGE_MAX_WHOLE]; /* runs of digits that are never cut: windows slide along them */
    int whole_count;
    int32_t tensor;  /* once built, else -1 */
    int block;       /* one more than the type with common exponents that the file asks for; 0: none */
    int32_t seen_by; /* the last of the values that are views of it, from 1 on; 0: none */
    struct op_class *cut_by; /* who asked for the innermost piece; NULL: its own dimensions */
    bool needed;
    bool stays;    /* an argument that is returned: a tensor even if no op reads it */
    bool counts;   /* 0, 1, 2 .. */
    bool constant; /* the file has its numbers */
    int line, column;
    /* For a team: what each axis of the grid cuts it along, as the product of the extents from that
     * dimension on; 0: nothing. */
    bool cut_stated;
    int64_t cut_from[LX_GRID_AXES];
    int64_t cut_run[LX_GRID_AXES]; /* the extent of that dimension */
};

/* What became of an op of the file. */
struct op_class {
    enum import_class class;
    const char *reason; /* NULL: none */
    bool seen, live;
    const char *forced; /* why it must be a copy, found out in an earlier round; NULL: it need not */
    bool alone; /* its operands and results are copies of their own: what others cut does not reach it */
    int apart; /* of a concat, pad or slice: what is copied to keep the cuts of others away (import_apart.c) */
    bool unmapped;      /* it changes an operand in a way that has no letters, found out when it was built */
    bool merged;        /* what it does is done by an op before it */
    bool capped;        /* a loop that would be too long unrolled, found out in an earlier round */
    bool unknown;       /* a loop or branch that data decides on */
    int64_t taken;      /* how often a loop was walked through, which branch was taken */
    int32_t first, end; /* its sketches */
    /* Of one that only changed the view: what did so before it; its result's bytes; how much longer its
     * cuts make what others store (import_cuts.c), so far. */
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
    bool copied;                    /* the file asks for a copy, which nothing needs so far */
};

struct sketch_operand {
    int32_t storage;
    struct view view; /* over the dimensions of the op */
    struct op_class *via;
};

struct sketch {
    const char *kind;        /* of ours */
    const char *name, *part; /* as of storages */
    const struct model_op *from;
    struct op_class *owner;         /* of the op that it is part of */
    struct sketch_operand *operand; /* the inputs, then the result */
    int input_count;
    int rank; /* dimensions of the op; -1: opaque, operands are plain */
    int64_t extent[VIEW_MAX_RANK];
    const char *why; /* of a copy that is no op of the file; else NULL */
    bool has_value, needed;
    double value;
    int64_t whole;                     /* the value exactly, of an integer that a double has not */
    const struct lx_op_params *params; /* NULL: none */
    const struct lx_op_data *data;     /* of a constant */
    int64_t axis_low; /* above 0: the axis is the piece of the first operand's storage that begins there */
    const struct lx_window
        *windows; /* in, out and tap are dimensions of the op; -1: of one element, without a letter */
    int window_count;
    /* Dimensions (a bit each) along which operands have extents of their own: the one that is joined, and
     * those that are padded. They may be cut where that divides `grain`. */
    unsigned apart;
    int joined; /* of a concat */
    int64_t grain[VIEW_MAX_RANK];
    const int64_t *low, *high, *between; /* of a pad, by dimension of the op; else NULL */
    struct op_class *own;                /* of such an op; else NULL */
    /* Of an op that chooses: the dimensions along which it does, of its first operand; where they begin,
     * unless operands say. */
    signed char choice[LX_MAX_RANK];
    int choice_count;
    const int64_t *starts;
    enum lx_combine combine;
    int64_t k; /* of an op that orders: how many come out */
    bool descending;
    bool in_place; /* the result is the first operand */
    /* Of what devices do together: the dimensions of its operand and of its result that parts are of, as
     * cut_from above. */
    int64_t parts_from[2];
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
    const int32_t *order;      /* in which sketches are built; NULL: as they were made */
    struct names tensor_names, op_names;
    struct names constants;     /* storages by the data of constants */
    struct model_facts notes;   /* for the report: collectives, roles, loops, branches */
    int32_t body;               /* that is being walked through */
    struct op_class *owner;     /* of the op that is being sketched */
    const struct sketch *built; /* the last that became an op */
    /* For a team: the grid that the model is for; 0 axes: none. */
    int grid_axes;
    int64_t grid[MESH_MAX_AXES];
    bool by_device;           /* the program is one device's: it says itself which device has what */
    bool has_parts;           /* and takes its part of whole tensors (import_manual.c) */
    bool whole_result;        /* the next result is stored as a whole, whatever its operands lack */
    bool apart_result;        /* of the concat or pad under way (import_apart.c) */
    const char *result_name;  /* for now: import_names.c has what they are called in the end */
    const char *path;         /* of what is inlined; NULL: nothing */
    VEC(int32_t) name_counts; /* how often names were asked for */
    bool short_sticks;        /* nothing was left to be copied where sticks are too short: they are padded */
    bool last;                /* rounds are out: what does not fit now is generic */
    bool retry;               /* something was forced: sketch again */
    bool spared;              /* the same, to keep sticks full */
    bool give_up;             /* nothing was left to be forced: without folding */
    int depth;
    int64_t walked; /* ops, each as often as it is called */
    lx_status *st;
};

/* import_blocks.c: the type with common exponents that an argument is to be stored as, from 1 on; 0: none. */
int import_block_of(const struct import *im, const struct model_value *v, enum lx_role role);
bool import_store_blocks(struct import *im, struct graph_builder *b);
/* import_values.c */
int32_t import_storage(struct import *im, const char *name, enum model_element e, int64_t elements,
                       const struct model_op *at);
struct import_value *import_leaf(struct import *im, int32_t value, int part);
/* A value that is all of a new storage. */
bool import_fresh(struct import *im, const char *name, const struct model_type *type,
                  const struct model_op *at, struct import_value *out);
bool import_bind(struct import *im, int32_t value, const struct import_value *leaves, int count);
/* Has it numbers that are all the same? As a double, where that has it; exact: the nearest double, and
 * integers in full. */
bool import_splat_exact(const struct import_value *v, double *number, int64_t *whole);
bool import_splat(const struct import_value *v, double *number);
/* Makes a storage of a constant that has none yet. */
bool import_stored(struct import *im, struct import_value *v);
/* A storage of its own, in its own order: copied unless it is that already. */
bool import_plain(struct import *im, struct import_value *v, const struct model_op *at);

/* Before an argument is written: values that are views of it, except `written`, keep what they have. */
bool import_keep_old(struct import *im, int32_t storage, int32_t written, const struct model_op *at);

/* import_sketch.c: an op over `rank` dimensions; operands have views over them. Dimension i of the result
 * is dims[i] of the op (-1: of extent 1). The result has no storage for what all operands lack. */
bool import_sketch(struct import *im, const char *kind, const struct model_op *from, int rank,
                   const int64_t *extent, const struct sketch_operand *in, int count, const double *value,
                   const struct model_type *type, const int *dims, struct import_value *out);
/* The next best way where two views of an op cut a dimension against each other: one of them is copied in
 * the next round. */
void import_force(struct import *im, struct op_class *owner, const struct sketch_operand *operand, int count,
                  const char *reason);
/* Operands as they are, nothing known: `kind` generic or one that has no index map. */
bool import_opaque(struct import *im, const char *kind, const struct model_op *op);
/* The same from one tensor to one. */
bool import_opaque_leaf(struct import *im, const char *kind, const struct model_op *op,
                        struct import_value in, const struct model_type *type, struct import_value *out);

/* import_control.c: the ops of a body; its arguments are bound. */
bool import_body(struct import *im, int32_t body);
struct op_class *import_class_of(const struct import *im, const struct model_op *op);
void import_class(struct import *im, const struct model_op *op, enum import_class class, const char *reason);
/* Tensors of a value that exists, from `first` on, become those of another. */
bool import_pass_on(struct import *im, int32_t from, int first, int count, int32_t to);
/* import_ops.c: what ONNX knows ahead is a constant, whatever made it. */
bool import_known_ahead(const struct import *im, const struct model_op *op);
/* One op that is no control flow. */
bool import_op(struct import *im, const struct model_op *op);

/* import_apart.c: an operand of a concat or pad, and its result, before others see them. `count` operands
 * are at `v`. */
bool import_apart_operands(struct import *im, const struct model_op *op, struct import_value *v, int count,
                           unsigned dims);
bool import_apart_result(struct import *im, const struct model_op *op, struct import_value *v);
/* An op that is alone: its operands before it is sketched, and behind it; `was` has what they were. */
bool import_alone(struct import *im, const struct model_op *op, int32_t *was);
bool import_together(struct import *im, const struct model_op *op, const int32_t *was);
/* False: it is as far apart as it can be. */
bool import_more_apart(struct import *im, struct op_class *c);

/* import_cuts.c: until no op asks for another cut. */
void import_cut(struct import *im);
/* Is dimension `dim` of the value one run of the storage's digits, which nothing cuts? */
bool import_in_one_piece(const struct import *im, const struct import_value *v, int dim);
/* Has the storage been cut within these digits? */
bool import_is_cut(const struct import *im, int32_t storage, const struct atom *a);
/* Nobody may cut within them from now on. False: too many such runs are kept already. */
bool import_keep_whole(struct import *im, int32_t storage, struct atom a);
/* The same of a dimension of an operand, where there is one; the operand is copied where too many are
 * kept. */
void import_keep_dim(struct import *im, const struct sketch_operand *o, int dim);
/* A cut at `at` of the storage within an atom, as cut of the dimension in which the atom begins at `base`. */
bool import_cut_dim(const struct atom *a, int64_t base, int64_t at, struct cuts *c);
/* import_build.c: which sketches lead to a result; `results` are the storages that are returned. */
void import_mark_needed(struct import *im, const int32_t *results, int count);
/* NULL without an error: `retry` is set. */
const struct lx_graph *import_build(struct import *im);

/* ---- Ops that change a tensor where it is ---- */

/* All sketches are made; `results` are the storages that are returned, without those of states afterwards.
 * */
bool import_in_place(struct import *im, int32_t *results, int *count);

/* ---- What a model takes and gives ---- */

/* Tensors of the results, counted through tuples. */
int64_t import_result_count(const struct lx_model *m);
/* The storages that are returned; `results` has room for all tensors of the results. */
bool import_gather_results(struct import *im, int32_t *results, int *count);
/* That tensor of the results; NULL: there is none. */
struct import_value *import_result(struct import *im, int64_t tensor);
/* For the report: roles as they are in the pattern. */
void import_note_arguments(struct import *im);

/* ---- Roles of the arguments of a model ---- */

struct import_role {
    enum lx_role role;
    const char *rule; /* which one decided, in a word */
    int32_t storage;  /* of its first tensor; -1: it has none */
    int64_t output;   /* whose buffer it is, by number of the results' tensors; -1: of none */
};

/* By argument of the entry; `out` has room for each. False: `im->st` says why. */
bool import_roles(struct import *im, struct import_role *out);

/* ---- Counting what became of the ops of a model ---- */

struct import_kind {
    const char *kind, *reason; /* one of the reasons; NULL: none */
    int64_t count, bytes;      /* operands and results */
    int64_t classes[CLASS_COUNT];
};

struct import_counts {
    struct model_facts became; /* ops and bytes by class, and for each class its reasons */
    struct names kinds;
    VEC(struct import_kind) rows; /* in the order of the file */
};

const char *import_class_word(enum import_class class);
bool import_count(struct import *im, struct import_counts *t);
void import_counts_free(struct import_counts *t);
/* import_notes.c: what was decided and made, for the report: work, storages, letters, roles. */
void import_note_pattern(struct import *im, const struct lx_graph *g);
/* JSON, malloc'ed; */
char *import_report(const struct import *im, const char *sha256, const struct model_facts *facts,
                    const struct import_counts *c);

/* ---- Index strings of sketches ---- */

/* Letters of the pieces of an op's dimensions. */
struct letters {
    struct cuts cuts[VIEW_MAX_RANK];
    char letter[VIEW_MAX_RANK][VIEW_MAX_CUTS];
    int count;
};

/* The box of an operand, where it has one. */
struct boxes {
    int64_t offset[LX_MAX_INPUTS + 1][LX_MAX_RANK], step[LX_MAX_INPUTS + 1][LX_MAX_RANK];
    int64_t count[LX_MAX_INPUTS + 1][LX_MAX_RANK];
    bool part[LX_MAX_INPUTS + 1], any;
    char fixed[LX_MAX_VARS + 1]; /* letters of single elements */
};

/* The index string of an op, and what its operands have of their tensors. False: it has none. */
bool import_index_string(const struct import *im, const struct sketch *s, struct letters *l, struct boxes *b,
                         struct text *t);
/* A letter that nothing has yet; 0: there is none left. */
char import_new_letter(struct letters *l);

/* ---- What tensors and ops are called, in the words of the file ---- */

/* Where the sketches and storages of an op begin. */
struct label_place {
    size_t sketch, storage;
    const char *label; /* what the op is called; NULL: as the one that it is part of */
};

/* What an op of the file is called. */
const char *import_op_label(struct import *im, const struct model_op *op);
/* Around an op of a body; of a derived one the op that it stands for has the name. */
void import_label_begin(struct import *im, const struct model_op *op, struct label_place *at);
void import_label_end(struct import *im, const struct model_op *op, const struct label_place *at);
/* What is inlined of this op; the caller puts `im->path` back. */
void import_path_enter(struct import *im, const struct model_op *op);
/* NULL: the file has none of its own. */
const char *import_value_name(struct import *im, int32_t value);
/* All since then is a copy of something of that name; NULL: it has none. */
void import_call_it(struct import *im, const struct label_place *at, const char *name);
/* A tensor that is returned has the name that it is returned by; NULL: it keeps its own. */
void import_call_output(struct import *im, int32_t storage, const char *name);

/* Once all is sketched: arguments and outputs come first. */
bool import_names_first(struct import *im);
bool import_tensor_name(struct import *im, struct storage *s);
const char *import_op_name(struct import *im, const struct sketch *s);

#endif
