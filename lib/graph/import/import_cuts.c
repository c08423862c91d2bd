/* Cutting storages: every op must be able to give one letter to each piece of each operand. A cut that one operand has
 * goes to the others through the dimensions of the op, and from there to the ops that share their storages. */
#include "graph/import/import.h"

enum { STICK_BYTES = 128 }; /* the longest of all devices: what is imported does not depend on the device */

/* NULL: it is cut there; else why it cannot be. */
static const char *cut_storage(const struct import *im, struct storage *s, int64_t at, bool *changed)
{
    int bits = model_element_row(s->element)->bits;
    struct cuts before = s->cuts;
    bool new = false;
    if (!cuts_add(&s->cuts, at, &new)) return "atoms";
    if (!new) return NULL;
    for (int i = 0; i < s->whole_count; i++)
        if (at > s->whole[i].low && at < s->whole[i].low * s->whole[i].extent) {
            s->cuts = before;
            return "window";
        }
    /* Sticks run along the innermost piece; the others may be as short as they like. */
    bool short_stick = !im->short_sticks && s->cuts.at[1] == at && at * bits / 8 < STICK_BYTES;
    const char *wrong = s->cuts.count > LX_MAX_RANK + 1 ? "rank" : short_stick ? "stick" : NULL;
    if (wrong) s->cuts = before;
    *changed |= !wrong;
    return wrong;
}

/* The ends of its own atoms. */
static const char *cut_ends(struct import *im, const struct sketch_operand *o, bool *changed)
{
    const char *wrong = NULL;
    for (int i = 0; !wrong && i < o->view.first[o->view.rank]; i++) {
        const struct atom *a = &o->view.atom[i];
        struct storage *s = &im->storages.at[o->storage];
        if (a->low > 1) wrong = cut_storage(im, s, a->low, changed);
        if (!wrong && a->low > 0 && atom_end(a) < s->elements)
            wrong = cut_storage(im, s, atom_end(a), changed);
    }
    for (int i = 0; !wrong && i < o->view.fixed_count; i++) {
        const struct atom *a = &o->view.fixed[i];
        struct storage *s = &im->storages.at[o->storage];
        if (a->low > 1) wrong = cut_storage(im, s, a->low, changed);
        if (!wrong && atom_end(a) < s->elements) wrong = cut_storage(im, s, atom_end(a), changed);
    }
    return wrong;
}

/* A cut at `at` of the storage within an atom, as cut of the dimension in which the atom begins at `base`. */
bool import_cut_dim(const struct atom *a, int64_t base, int64_t at, struct cuts *c)
{
    bool changed, within;
    if (!atom_allows(a, at / a->low, &within)) return false;
    if (within || (a->span && at / a->low == a->extent)) return true;
    return cuts_add(c, base * (at / a->low), &changed);
}

/* Cuts of a storage within the atoms of a dimension, as cuts of the dimension. */
static bool gather_cuts(const struct import *im, const struct sketch_operand *o, int dim, struct cuts *c)
{
    int64_t base = 1;
    bool changed, ok = cuts_of_dim(c, &o->view, dim, &changed);
    for (int i = o->view.first[dim + 1] - 1; ok && i >= o->view.first[dim]; i--) {
        const struct atom *a = &o->view.atom[i];
        const struct cuts *have = &im->storages.at[o->storage].cuts;
        for (int k = 0; ok && a->low > 0 && k < have->count; k++)
            if (have->at[k] > a->low && have->at[k] < atom_end(a))
                ok = import_cut_dim(a, base, have->at[k], c);
        base *= a->extent;
    }
    return ok;
}

/* But not the end of the dimension: of what is cropped an operand has more than the op. */
static const char *spread_cuts(struct import *im, const struct sketch_operand *o, int dim,
                               const struct cuts *c, bool *changed)
{
    int64_t base = 1;
    bool within;
    const char *wrong = NULL;
    for (int i = o->view.first[dim + 1] - 1; !wrong && i >= o->view.first[dim]; i--) {
        const struct atom *a = &o->view.atom[i];
        for (int k = 0; !wrong && a->low > 0 && k + 1 < c->count; k++)
            if (c->at[k] > base && c->at[k] < base * a->extent && !atom_allows(a, c->at[k] / base, &within))
                wrong = "slice";
            else if (c->at[k] > base && c->at[k] < base * a->extent)
                wrong = cut_storage(im, &im->storages.at[o->storage], a->low * (c->at[k] / base), changed);
        base *= a->extent;
    }
    return wrong;
}

static const char *cut_op(struct import *im, const struct sketch *s, bool *changed)
{
    struct cuts c;
    const char *wrong = NULL;
    for (int i = 0; !wrong && i <= s->input_count; i++) wrong = cut_ends(im, &s->operand[i], changed);
    for (int d = 0; !wrong && d < s->rank; d++) {
        cuts_whole(&c, s->extent[d]);
        for (int i = 0; !wrong && i <= s->input_count; i++)
            if (!gather_cuts(im, &s->operand[i], d, &c))
                wrong = view_is_part(&s->operand[i].view) ? "slice" : "atoms";
        for (int k = 1; !wrong && (s->apart >> d & 1) && k + 1 < c.count; k++)
            if (s->grain[d] % c.at[k] != 0) wrong = "atoms";
        for (int i = 0; !wrong && i <= s->input_count; i++)
            wrong = spread_cuts(im, &s->operand[i], d, &c, changed);
    }
    return wrong;
}

bool import_is_cut(const struct import *im, int32_t storage, const struct atom *a)
{
    const struct cuts *c = &im->storages.at[storage].cuts;
    for (int k = 0; k < c->count; k++)
        if (c->at[k] > a->low && c->at[k] < a->low * a->extent) return true;
    return false;
}

bool import_in_one_piece(const struct import *im, const struct import_value *v, int dim)
{
    int first = v->view.first[dim], count = v->view.first[dim + 1] - first;
    const struct atom *a = &v->view.atom[first];
    return count == 0 || (count == 1 && a->low > 0 && !import_is_cut(im, v->storage, a));
}

bool import_keep_whole(struct import *im, int32_t storage, struct atom a)
{
    struct storage *s = &im->storages.at[storage];
    for (int i = 0; i < s->whole_count; i++)
        if (s->whole[i].low == a.low && s->whole[i].extent == a.extent) return true;
    if (s->whole_count == STORAGE_MAX_WHOLE) return false;
    s->whole[s->whole_count++] = a;
    return true;
}

void import_keep_dim(struct import *im, const struct sketch_operand *o, int dim)
{
    for (int i = dim < 0 ? 0 : o->view.first[dim]; dim >= 0 && i < o->view.first[dim + 1]; i++) {
        const struct atom *a = &o->view.atom[i];
        if (a->low > 0 && !import_keep_whole(im, o->storage, atom_of(a->low, a->extent)))
            import_force(im, im->owner, o, 1, "window");
    }
}

void import_cut(struct import *im)
{
    bool changed = true;
    while (changed && !im->retry) {
        changed = false;
        for (size_t i = 0; i < im->sketches.count; i++) {
            const struct sketch *s = &im->sketches.at[i];
            const char *wrong = s->rank < 0 || !s->needed ? NULL : cut_op(im, s, &changed);
            if (wrong && !(s->own && import_more_apart(im, s->own)))
                import_force(im, s->owner, s->operand, s->input_count, wrong);
        }
    }
}
