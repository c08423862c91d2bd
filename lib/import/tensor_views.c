/* Regroups atoms. */
#include "import/tensor_views.h"

void view_start(struct view *v)
{
    v->rank = v->fixed_count = 0;
    v->first[0] = 0;
}

bool view_open_dim(struct view *v)
{
    if (v->rank == VIEW_MAX_RANK) return false;
    v->rank++;
    v->first[v->rank] = v->first[v->rank - 1];
    return true;
}

bool view_add(struct view *v, struct atom a)
{
    signed char *end = &v->first[v->rank], begin = v->first[v->rank - 1];
    if (a.extent == 1) return true;
    struct atom *last = *end > begin ? &v->atom[*end - 1] : NULL;
    if (last && !last->span && !a.span && (last->low == 0) == (a.low == 0) && last->low == a.low * a.extent) {
        *last = atom_of(a.low, last->extent * a.extent); /* consecutive digits are one atom */
        return true;
    }
    if (*end == VIEW_MAX_ATOMS) return false;
    v->atom[(*end)++] = a;
    return true;
}

bool view_add_dim(struct view *v, const struct view *from, int dim)
{
    if (!view_open_dim(v) || !view_keep_fixed(v, from)) return false;
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
        if (!view_open_dim(v) || !view_add(v, atom_of(low, extent[d]))) return false;
    }
    return true;
}

bool view_is_part(const struct view *v)
{
    bool part = v->fixed_count > 0;
    for (int i = 0; i < v->first[v->rank]; i++) part |= v->atom[i].span > 0;
    return part;
}

bool view_keep_fixed(struct view *v, const struct view *from)
{
    for (int i = 0; i < from->fixed_count; i++) {
        bool there = false;
        for (int k = 0; k < v->fixed_count; k++) there |= v->fixed[k].low == from->fixed[i].low;
        if (there) continue;
        if (v->fixed_count == VIEW_MAX_FIXED) return false;
        v->fixed[v->fixed_count++] = from->fixed[i];
    }
    return true;
}

bool atom_allows(const struct atom *a, int64_t at, bool *within)
{
    *within = false;
    if (!a->span) return true;
    if (a->step != 1 || a->span % at != 0) return false;
    *within = a->extent <= at && a->offset / at == (a->offset + a->extent - 1) / at;
    return *within || (a->offset % at == 0 && a->extent % at == 0);
}

/* Elements of a dimension with several atoms: a part of one atom, one digit of each higher one, all lower
 * ones. */
static bool view_slice_dim(const struct view *v, int dim, int64_t begin, int64_t step, int64_t count,
                           struct view *out)
{
    int64_t inside = view_extent(v, dim);
    for (int i = v->first[dim]; i < v->first[dim + 1]; i++) {
        struct atom a = v->atom[i];
        inside /= a.extent;
        int64_t first = begin / inside, last = (begin + step * (count - 1)) / inside;
        bool one = first == last, blocks = step == 1 && begin % inside == 0 && count % inside == 0;
        if (!one && inside > 1 && !blocks) return false;
        int64_t taken = one ? 1 : inside > 1 ? count / inside : count;
        struct atom p = a;
        p.extent = taken;
        if (a.low > 0 && (taken != a.extent || step != 1)) { /* a part of a part */
            p.span = a.span ? a.span : a.extent;
            p.offset = a.offset + a.step * first;
            p.step = taken == 1 ? 1 : a.step * (inside > 1 ? 1 : step);
        }
        if (p.span && p.extent == 1) {
            if (out->fixed_count == VIEW_MAX_FIXED) return false;
            out->fixed[out->fixed_count++] = p;
        } else if (!view_add(out, p))
            return false;
        if (!one) { /* all atoms below */
            for (int k = i + 1; inside > 1 && k < v->first[dim + 1]; k++)
                if (!view_add(out, v->atom[k])) return false;
            return true;
        }
        begin -= first * inside;
    }
    return true;
}

bool view_slice(const struct view *v, int dim, int64_t begin, int64_t step, int64_t count, struct view *out)
{
    view_start(out);
    if (!view_keep_fixed(out, v)) return false;
    for (int d = 0; d < v->rank; d++)
        if (d != dim ? !view_add_dim(out, v, d)
                     : !view_open_dim(out) || !view_slice_dim(v, d, begin, step, count, out))
            return false;
    return true;
}

static bool view_same_atoms(const struct atom *a, const struct atom *b, int count)
{
    bool same = true;
    for (int i = 0; same && i < count; i++)
        same = a[i].low == b[i].low && a[i].extent == b[i].extent && a[i].span == b[i].span &&
               (a[i].span == 0 || (a[i].offset == b[i].offset && a[i].step == b[i].step));
    return same;
}

bool view_same(const struct view *a, const struct view *b)
{
    int k = 0;
    bool same = a->fixed_count == b->fixed_count && view_same_atoms(a->fixed, b->fixed, a->fixed_count);
    for (int d = 0; same && d < a->rank; d++) {
        int count = a->first[d + 1] - a->first[d];
        if (count == 0) continue;
        while (k < b->rank && b->first[k + 1] == b->first[k]) k++;
        same = k < b->rank && b->first[k + 1] - b->first[k] == count &&
               view_same_atoms(&a->atom[a->first[d]], &b->atom[b->first[k]], count);
        k++;
    }
    while (same && k < b->rank) same = b->first[k + 1] == b->first[k], k++;
    return same;
}

bool view_is_plain(const struct view *v, int64_t elements)
{
    if (view_is_part(v)) return false;
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

/* The remaining atoms of a view, from the most significant digit on. */
struct rest {
    const struct view *v;
    int next;
    struct atom at; /* extent 1: used up */
};

/* Takes the most significant part, of extent at most `wanted`, which must divide. */
static bool view_take(struct rest *r, int64_t wanted, struct atom *out)
{
    while (r->at.extent == 1) {
        if (r->next == r->v->first[r->v->rank]) return false;
        r->at = r->v->atom[r->next++];
    }
    int64_t have = r->at.extent;
    if (wanted >= have) {
        *out = r->at;
        r->at.extent = 1;
        return wanted % have == 0;
    }
    int64_t below = have / wanted;
    bool within;
    if (have % wanted != 0 || !atom_allows(&r->at, below, &within) || within) return false;
    *out = r->at.span ? (struct atom){r->at.low * below, wanted, r->at.span / below, r->at.offset / below, 1}
                      : atom_of(r->at.low * below, wanted);
    r->at = atom_of(r->at.low, below);
    return true;
}

bool view_reshape(const struct view *v, int rank, const int64_t *extent, struct view *out)
{
    struct rest r = {.v = v, .at = {.extent = 1}};
    struct atom a;
    view_start(out);
    if (!view_keep_fixed(out, v)) return false;
    for (int d = 0; d < rank; d++) {
        if (!view_open_dim(out)) return false;
        for (int64_t left = extent[d]; left > 1; left /= a.extent)
            if (!view_take(&r, left, &a) || !view_add(out, a)) return false;
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
        if (!view_keep_fixed(out, v)) return false;
        if (!repeats && !view_add_dim(out, v, from)) return false;
        if (repeats && (!view_open_dim(out) || !view_add(out, atom_of(0, extent[d])))) return false;
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
