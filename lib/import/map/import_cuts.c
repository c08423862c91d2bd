/* Cutting storages: every op must be able to give one letter to each piece of each operand. A cut that one
 * operand has goes to the others through the dimensions of the op, and from there to the ops that share
 * their storages.
 *
 * Sticks run along the innermost piece of a storage. A reshape that would have it shorter than a stick is a
 * copy; so is one that leaves more empty at the ends of sticks, in all storages that its cut reaches, than
 * the copy moves. */
#include "import/map/import.h"

#include <math.h>

/* What is imported does not depend on the device: the longest stick of all, and what fits all scratchpads
 * beside others. */
enum { STICK_BYTES = 128, ON_CHIP = 4 << 20 };

/* The reshape that a view came by; one that is forced by now was so in this round. */
static struct op_class *cut_regrouped_by(struct op_class *via)
{
    for (int i = 0; via && i < MODEL_MAX_DEPTH; i++, via = via->behind)
        if (via->regroups) return via;
    return NULL;
}

/* What it takes in memory with an innermost piece of so many elements, each run of which begins a stick. */
static int64_t cut_stored_bytes(const struct storage *s, int64_t inner)
{
    int64_t bytes = (inner * model_element_row(s->element)->bits + 7) / 8;
    return s->elements / inner * ((bytes + STICK_BYTES - 1) / STICK_BYTES * STICK_BYTES);
}

/* The reshape is to be a copy in the next round. */
static bool cut_spare(struct import *im, struct op_class *by)
{
    by->forced = "stick";
    return im->spared = true;
}

/* Short ends of sticks cost each time that the storage is moved: is that more than to write and read what
 * was reshaped? What ops make and is small enough to stay on chip is taken to cost nothing. */
static bool cut_spares(struct import *im, const struct storage *s, int64_t more, struct op_class *by)
{
    bool made = s->role == LX_ROLE_COUNT;
    if (!by || more <= 0 || im->short_sticks) return false;
    if (by->forced) return true;
    if (!made || more + s->elements * model_element_row(s->element)->bits / 8 > ON_CHIP)
        by->padding += more * (made ? 2 : 1);
    return by->padding > (by->bytes > ON_CHIP ? 2 * by->bytes : 0) && cut_spare(im, by);
}

/* Sticks run along the innermost piece; the others may be as short as they like. `was`: the cuts before
 * this one. False with *wrong: one that is shorter than a stick, and nobody to be copied. */
static bool cut_fits_sticks(struct import *im, const struct storage *s, const struct cuts *was, int64_t at,
                            struct op_class *by, const char **wrong)
{
    bool is_short = at * model_element_row(s->element)->bits / 8 < STICK_BYTES;
    if (s->cuts.at[1] != at || im->short_sticks) return true;
    if (!is_short) return !cut_spares(im, s, cut_stored_bytes(s, at) - cut_stored_bytes(s, was->at[1]), by);
    if (!by) *wrong = "stick";
    if (by && !by->forced) cut_spare(im, by);
    return false;
}

/* NULL: it is cut there, or will not be asked for in the next round; else why it cannot be. */
static const char *cut_storage(struct import *im, struct storage *s, int64_t at, struct op_class *by,
                               bool *changed)
{
    struct cuts before = s->cuts;
    const char *wrong = NULL;
    bool new = false;
    if (!cuts_add(&s->cuts, at, &new)) return "atoms";
    if (!new) return NULL;
    for (int i = 0; i < s->whole_count; i++)
        if (at > s->whole[i].low && at < s->whole[i].low * s->whole[i].extent) wrong = "window";
    if (!wrong && s->cuts.count > LX_MAX_RANK + 1) wrong = "rank";
    bool ok = !wrong && cut_fits_sticks(im, s, &before, at, by, &wrong);
    if (!ok) s->cuts = before;
    if (ok && s->cuts.at[1] == at) s->cut_by = by;
    *changed |= ok;
    return wrong;
}

/* The ends of its own atoms. */
static const char *cut_ends(struct import *im, const struct sketch_operand *o, bool *changed)
{
    const char *wrong = NULL;
    struct op_class *by = cut_regrouped_by(o->via);
    for (int i = 0; !wrong && i < o->view.first[o->view.rank]; i++) {
        const struct atom *a = &o->view.atom[i];
        struct storage *s = &im->storages.at[o->storage];
        if (a->low > 1) wrong = cut_storage(im, s, a->low, by, changed);
        if (!wrong && a->low > 0 && atom_end(a) < s->elements)
            wrong = cut_storage(im, s, atom_end(a), by, changed);
    }
    for (int i = 0; !wrong && i < o->view.fixed_count; i++) {
        const struct atom *a = &o->view.fixed[i];
        struct storage *s = &im->storages.at[o->storage];
        if (a->low > 1) wrong = cut_storage(im, s, a->low, by, changed);
        if (!wrong && atom_end(a) < s->elements) wrong = cut_storage(im, s, atom_end(a), by, changed);
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
static bool cut_gather_cuts(const struct import *im, const struct sketch_operand *o, int dim, struct cuts *c)
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

/* Who cut dimension `dim` for operand `of`: a reshape of another one, or what cut its storage. */
static struct op_class *cut_for(const struct import *im, const struct sketch *s, int dim, int of)
{
    struct op_class *by = NULL;
    for (int i = 0; !by && i <= s->input_count; i++) {
        const struct sketch_operand *o = &s->operand[i];
        if (i == of || o->view.first[dim] == o->view.first[dim + 1]) continue;
        const struct atom *a = &o->view.atom[o->view.first[dim]];
        bool pieces = o->view.first[dim + 1] - o->view.first[dim] > 1 ||
                      (a->low > 0 && import_is_cut(im, o->storage, a));
        by = pieces ? cut_regrouped_by(o->via) : NULL;
        if (!by) by = im->storages.at[o->storage].cut_by;
    }
    return by;
}

/* But not the end of the dimension: of what is cropped an operand has more than the op. */
static const char *cut_spread_cuts(struct import *im, const struct sketch *s, int of, int dim,
                                   const struct cuts *c, bool *changed)
{
    const struct sketch_operand *o = &s->operand[of];
    int64_t base = 1;
    bool within;
    const char *wrong = NULL;
    for (int i = o->view.first[dim + 1] - 1; !wrong && i >= o->view.first[dim]; i--) {
        const struct atom *a = &o->view.atom[i];
        for (int k = 0; !wrong && a->low > 0 && k + 1 < c->count; k++)
            if (c->at[k] > base && c->at[k] < base * a->extent && !atom_allows(a, c->at[k] / base, &within))
                wrong = "slice";
            else if (c->at[k] > base && c->at[k] < base * a->extent)
                wrong = cut_storage(im, &im->storages.at[o->storage], a->low * (c->at[k] / base),
                                    cut_for(im, s, dim, of), changed);
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
            if (!cut_gather_cuts(im, &s->operand[i], d, &c))
                wrong = view_is_part(&s->operand[i].view) ? "slice" : "atoms";
        for (int k = 1; !wrong && (s->apart >> d & 1) && k + 1 < c.count; k++)
            if (s->grain[d] % c.at[k] != 0) wrong = "atoms";
        for (int i = 0; !wrong && i <= s->input_count; i++) wrong = cut_spread_cuts(im, s, i, d, &c, changed);
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

/* What a dimension of so many elements is longer by in sticks, as a share of it. */
static double cut_stick_ends(int64_t extent, int bits)
{
    double bytes = (double)extent * bits / 8;
    return ceil(bytes / STICK_BYTES) * STICK_BYTES / bytes - 1;
}

/* The innermost piece of an operand that a product sums along, where it is less than the whole dimension:
 * the other operand is padded as sticks of this one are. */
static void cut_spare_factor(struct import *im, const struct sketch *s, int dim, int of)
{
    const struct sketch_operand *o = &s->operand[of], *other = &s->operand[1 - of];
    const struct storage *mine = &im->storages.at[o->storage], *its = &im->storages.at[other->storage];
    int last = o->view.first[dim + 1] - 1, bits = model_element_row(its->element)->bits;
    if (last < o->view.first[dim] || o->view.atom[last].low != 1 || mine->cuts.at[1] >= s->extent[dim])
        return;
    if (other->view.first[dim] == other->view.first[dim + 1]) return;
    double more = cut_stick_ends(mine->cuts.at[1], bits) - cut_stick_ends(s->extent[dim], bits);
    cut_spares(im, its, (int64_t)(more * (double)its->elements * bits / 8), cut_for(im, s, dim, 1 - of));
}

static void cut_spare_product(struct import *im, const struct sketch *s)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    if (!kind || !(kind->traits & LX_CONTRACTS) || s->input_count != 2 || s->window_count > 0) return;
    for (int d = 0; d < s->rank; d++)
        for (int i = 0; i < 2 && s->operand[2].view.first[d] == s->operand[2].view.first[d + 1]; i++)
            cut_spare_factor(im, s, d, i);
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
    for (size_t i = 0; !im->retry && i < im->sketches.count; i++)
        if (im->sketches.at[i].needed && im->sketches.at[i].rank >= 0)
            cut_spare_product(im, &im->sketches.at[i]);
    im->retry |= im->spared;
}
