/* Views of stored tensors: how a value that was reshaped, permuted or broadcast finds its elements.
 *
 * A stored tensor is the row-major sequence of its elements. A position in it is a number in mixed radix; an
 * atom is a run of its digits: those with place values from `low` up to `low * extent`. A dimension of a
 * value is a list of atoms, the most significant first. Atoms that the storage lacks (broadcast) have `low`
 * 0. Dimensions of extent 1 have none. Nothing here knows of graphs. */
#ifndef LX_IMPORT_TENSOR_VIEWS_H
#define LX_IMPORT_TENSOR_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

enum { VIEW_MAX_RANK = 16, VIEW_MAX_ATOMS = 24, VIEW_MAX_CUTS = 16, VIEW_MAX_FIXED = 8 };

/* A part of a run of digits (a slice) has the digits offset, offset + step, ... of the `span` that the run
 * has. */
struct atom {
    int64_t low, extent;
    int64_t span, offset, step; /* span 0: all of the run */
};

struct view {
    signed char rank, fixed_count;
    struct atom fixed[VIEW_MAX_FIXED];    /* runs with one digit, `offset`; of no dimension */
    signed char first[VIEW_MAX_RANK + 1]; /* dimension d has the atoms first[d] to first[d + 1] - 1 */
    struct atom atom[VIEW_MAX_ATOMS];
};

static inline struct atom atom_of(int64_t low, int64_t extent)
{
    return (struct atom){low, extent, 0, 0, 1};
}

/* The place value behind the run that it is in. */
static inline int64_t atom_end(const struct atom *a)
{
    return a->low * (a->span ? a->span : a->extent);
}

/* May a run be cut behind its first `at` digits without cutting its part? *within: the part lies in one
 * piece. */
bool atom_allows(const struct atom *a, int64_t at, bool *within);
/* Has it only a part of its storage? */
bool view_is_part(const struct view *v);
/* Digits that are fixed in `from` are so in `v`. */
bool view_keep_fixed(struct view *v, const struct view *from);
/* Elements begin, begin + step, ... of a dimension. False also where they are not one part of one run. */
bool view_slice(const struct view *v, int dim, int64_t begin, int64_t step, int64_t count, struct view *out);

/* The storage itself, in that shape. False, here and below: too many dimensions or atoms. */
bool view_plain(struct view *v, int rank, const int64_t *extent);
/* Is it just that? The elements of the storage in their order, none twice. */
bool view_is_plain(const struct view *v, int64_t elements);
int64_t view_extent(const struct view *v, int dim);
/* A new view from parts: rank 0 at first, then dimensions and their atoms, one after the other. */
void view_start(struct view *v);
bool view_open_dim(struct view *v);
bool view_add(struct view *v, struct atom a);
bool view_add_dim(struct view *v, const struct view *from, int dim);

/* The same sequence of elements in another shape. False also where a cut would not divide an atom. */
bool view_reshape(const struct view *v, int rank, const int64_t *extent, struct view *out);
bool view_permute(const struct view *v, const int64_t *perm, struct view *out);
/* Dimension i of the value is `to[i]` of the result, which repeats it where its extent is 1; other
 * dimensions repeat. */
bool view_broadcast(const struct view *v, const int *to, int rank, const int64_t *extent, struct view *out);

/* Places at which a sequence of digits is cut, ascending: products of the least significant extents. Each
 * divides the next; 1 and the whole are always there. */
struct cuts {
    int count;
    int64_t at[VIEW_MAX_CUTS];
};

void cuts_whole(struct cuts *c, int64_t whole);
/* False: it does not divide those around it, or there are too many. *changed: it was not there. */
bool cuts_add(struct cuts *c, int64_t at, bool *changed);
/* The cuts of dimension `dim` that `v` needs, relative to the dimension. */
bool cuts_of_dim(struct cuts *c, const struct view *v, int dim, bool *changed);

#endif
