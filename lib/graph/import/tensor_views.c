/* Regrouping of atoms. */
#include "graph/import/tensor_views.h"

#include <string.h>

void view_start(struct view *v)
{
    v->rank = 0;
    v->first[0] = 0;
}

bool view_open_dim(struct view *v)
{
    if (v->rank == VIEW_MAX_RANK) return false;
    v->rank++;
    v->first[v->rank] = v->first[v->rank - 1];
    return true;
}

/* Two atoms whose digits follow each other are one. */
static bool follows(const struct atom *high, const struct atom *low)
{
    return high->low == 0 ? low->low == 0 : low->low > 0 && high->low == low->low * low->extent;
}

bool view_add(struct view *v, struct atom a)
{
    signed char *end = &v->first[v->rank], begin = v->first[v->rank - 1];
    if (a.extent == 1) return true;
    if (*end > begin && follows(&v->atom[*end - 1], &a)) {
        struct atom *last = &v->atom[*end - 1];
        *last = (struct atom){a.low, last->extent * a.extent};
        return true;
    }
    if (*end == VIEW_MAX_ATOMS) return false;
    v->atom[(*end)++] = a;
    return true;
}

bool view_add_dim(struct view *v, const struct view *from, int dim)
{
    if (!view_open_dim(v)) return false;
    for (int i = from->first[dim]; i < from->first[dim + 1]; i++)
        if (!view_add(v, from->atom[i])) return false;
    return true;
}

bool view_plain(struct view *v, int rank, const int64_t *extent)
{
    int64_t low = 1;
    view_start(v);
    for (int d = 0; d < rank; d++) low *= extent[d];
    for (int d = 0; d < rank; d++) {
        if (extent[d] > 0) low /= extent[d];
        if (!view_open_dim(v) || !view_add(v, (struct atom){low, extent[d]})) return false;
    }
    return true;
}

bool view_is_plain(const struct view *v, int64_t elements)
{
    for (int i = 0; i < v->first[v->rank]; i++) {
        if (v->atom[i].low * v->atom[i].extent != elements || v->atom[i].low == 0) return false;
        elements = v->atom[i].low;
    }
    return elements == 1;
}

int64_t view_extent(const struct view *v, int dim)
{
    int64_t n = 1;
    for (int i = v->first[dim]; i < v->first[dim + 1]; i++) n *= v->atom[i].extent;
    return n;
}

/* What is left of the atoms of a view, taken from the most significant digit on. */
struct rest {
    const struct view *v;
    int next;
    struct atom at; /* extent 1: used up */
};

static bool refill(struct rest *r)
{
    while (r->at.extent == 1) {
        if (r->next == r->v->first[r->v->rank]) return false;
        r->at = r->v->atom[r->next++];
    }
    return true;
}

/* The most significant part of extent `wanted` at most, which must divide. */
static bool take(struct rest *r, int64_t wanted, struct atom *out)
{
    if (!refill(r)) return false;
    int64_t have = r->at.extent;
    if (wanted >= have) {
        *out = r->at;
        r->at.extent = 1;
        return wanted % have == 0;
    }
    *out = (struct atom){r->at.low * (have / wanted), wanted};
    r->at.extent = have / wanted;
    return have % wanted == 0;
}

bool view_reshape(const struct view *v, int rank, const int64_t *extent, struct view *out)
{
    struct rest r = {.v = v, .at = {0, 1}};
    struct atom a;
    view_start(out);
    for (int d = 0; d < rank; d++) {
        if (!view_open_dim(out)) return false;
        for (int64_t left = extent[d]; left > 1; left /= a.extent)
            if (!take(&r, left, &a) || !view_add(out, a)) return false;
    }
    return true;
}

bool view_permute(const struct view *v, const int64_t *perm, struct view *out)
{
    view_start(out);
    for (int d = 0; d < v->rank; d++)
        if (perm[d] < 0 || perm[d] >= v->rank || !view_add_dim(out, v, (int)perm[d])) return false;
    return true;
}

bool view_broadcast(const struct view *v, const int *to, int rank, const int64_t *extent, struct view *out)
{
    view_start(out);
    for (int d = 0; d < rank; d++) {
        int from = 0;
        while (from < v->rank && to[from] != d) from++;
        bool repeats = from == v->rank || view_extent(v, from) == 1;
        if (!repeats && !view_add_dim(out, v, from)) return false;
        if (repeats && (!view_open_dim(out) || !view_add(out, (struct atom){0, extent[d]}))) return false;
    }
    return true;
}

void cuts_whole(struct cuts *c, int64_t whole)
{
    c->count = whole > 1 ? 2 : 1;
    c->at[0] = 1;
    c->at[1] = whole;
}

bool cuts_add(struct cuts *c, int64_t at, bool *changed)
{
    int i = 0;
    while (i < c->count && c->at[i] < at) i++;
    if (i < c->count && c->at[i] == at) return true;
    if (i == 0 || i == c->count || c->count == VIEW_MAX_CUTS || at % c->at[i - 1] != 0 || c->at[i] % at != 0)
        return false;
    memmove(c->at + i + 1, c->at + i, (size_t)(c->count - i) * sizeof *c->at);
    c->at[i] = at;
    c->count++;
    *changed = true;
    return true;
}

bool cuts_of_dim(struct cuts *c, const struct view *v, int dim, bool *changed)
{
    int64_t base = 1;
    for (int i = v->first[dim + 1] - 1; i > v->first[dim]; i--) {
        base *= v->atom[i].extent;
        if (!cuts_add(c, base, changed)) return false;
    }
    return true;
}
