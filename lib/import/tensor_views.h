/* Views of stored tensors: where a reshaped, permuted or broadcast value finds its elements.
 *
 * A stored tensor is the row-major sequence of its elements. A position in it is a number in mixed radix; an
 * atom is a run of digits, with place values from `low` up to `low * extent`. A dimension of a value is a
 * list of atoms, the most significant first. Atoms that the storage lacks (broadcast) have `low` 0.
 * Dimensions of extent 1 have none. */
#pragma once

#include "base/base.h"

enum { VIEW_MAX_RANK = 16, VIEW_MAX_ATOMS = 24, VIEW_MAX_CUTS = 16, VIEW_MAX_FIXED = 8 };

/* A slice of a run of `span` digits: digits offset, offset + step, ... */
struct atom {
    int64_t low, extent;
    int64_t span, offset, step; /* span 0: the whole run */
};

struct view {
    signed char rank, fixed_count;
    struct atom fixed[VIEW_MAX_FIXED];    /* runs fixed at one digit, `offset`; in no dimension */
    signed char first[VIEW_MAX_RANK + 1]; /* dimension d has atoms first[d] to first[d + 1] - 1 */
    struct atom atom[VIEW_MAX_ATOMS];
};

static inline struct atom atom_of(int64_t low, int64_t extent)
{
    return (struct atom){low, extent, 0, 0, 1};
}

/* The place value after the atom's run. */
static inline int64_t atom_end(const struct atom *a)
{
    return a->low * (a->span ? a->span : a->extent);
}

/* May a run be cut after its first `at` digits without cutting the slice? *within: the slice lies in one
 * piece. */
bool atom_allows(const struct atom *a, int64_t at, bool *within);
/* Does the view have only a part of its storage? */
bool view_is_part(const struct view *v);
/* Fixes the digits that are fixed in `from`. */
bool view_keep_fixed(struct view *v, const struct view *from);
/* Elements begin, begin + step, ... of a dimension. False also if they are not a slice of one run. */
bool view_slice(const struct view *v, int dim, int64_t begin, int64_t step, int64_t count, struct view *out);

/* The storage itself in that shape. False, here and below: too many dimensions or atoms. */
bool view_plain(struct view *v, int rank, const int64_t *extent);
/* Do they have the same atoms? Dimensions of extent 1 do not count. */
bool view_same(const struct view *a, const struct view *b);
/* Is it the storage's elements in order, each once? */
bool view_is_plain(const struct view *v, int64_t elements);
int64_t view_extent(const struct view *v, int dim);
/* Builds a view from parts: starts at rank 0, then adds dimensions and their atoms one by one. */
void view_start(struct view *v);
bool view_open_dim(struct view *v);
bool view_add(struct view *v, struct atom a);
bool view_add_dim(struct view *v, const struct view *from, int dim);

/* The same sequence of elements in another shape. False also if a cut would not divide an atom. */
bool view_reshape(const struct view *v, int rank, const int64_t *extent, struct view *out);
bool view_permute(const struct view *v, const int64_t *perm, struct view *out);
/* Dimension i of the value becomes `to[i]` of the result, repeated if its extent is 1; other dimensions
 * repeat. */
bool view_broadcast(const struct view *v, const int *to, int rank, const int64_t *extent, struct view *out);

/* Cuts of a sequence of digits, ascending: products of the least significant extents. Each divides the next;
 * 1 and the whole are always present. */
struct cuts {
    int count;
    int64_t at[VIEW_MAX_CUTS];
};

void cuts_whole(struct cuts *c, int64_t whole);
/* False: it does not divide its neighbours, or there are too many. *changed: the cut is new. */
bool cuts_add(struct cuts *c, int64_t at, bool *changed);
/* The cuts of dimension `dim` that `v` needs, relative to the dimension. */
bool cuts_of_dim(struct cuts *c, const struct view *v, int dim, bool *changed);
