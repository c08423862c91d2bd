/* Cutting storages: every op must be able to give one letter to each piece of each operand. A cut of one
 * operand spreads to the others through the dimensions of the op, and from there to the ops that share their
 * storages.
 *
 * Sticks run along the innermost piece of a storage. A reshape that would make this piece shorter than a
 * stick is a copy; so is one whose cut wastes more bytes at the ends of sticks, over all storages it reaches,
 * than the copy moves. */
#include "import/map/import.h"

/* The pattern does not depend on the device: the longest stick, and a size that fits every scratchpad beside
 * others. */
enum { STICK_BYTES = 128, ON_CHIP = 4 << 20, SMALL = 64 << 10 };

/* The op whose operands are being cut. */
struct cutting {
    struct import *im;
    const struct sketch *s;
    bool changed;
    int dim; /* where they do not fit; -1: anywhere */
};

/* The reshape behind a view; already forced: in this round. */
static struct op_class *cut_regrouped_by(struct op_class *via)
{
    for (int i = 0; via && i < MODEL_MAX_DEPTH; i++, via = via->behind)
        if (via->regroups) return via;
    return NULL;
}

/* Bytes of a storage with an innermost piece of `inner` elements: each run begins a stick. */
static int64_t cut_stored_bytes(const struct storage *s, int64_t inner)
{
    int64_t bytes = (inner * model_element_row(s->element)->bits + 7) / 8;
    return s->elements / inner * ((bytes + STICK_BYTES - 1) / STICK_BYTES * STICK_BYTES);
}

/* Short ends of sticks cost bytes whenever the storage is moved: is that more than writing and reading the
 * reshaped tensor? Then the reshape is a copy in the next round. A storage made by ops and small enough to
 * stay on chip counts as free. */
static bool cut_spares(struct import *im, const struct storage *s, int64_t more, struct op_class *by)
{
    bool made = s->role == LX_ROLE_COUNT;
    if (!by || more <= 0 || im->short_sticks) return false;
    if (by->forced) return true;
    if (!made || more + s->elements * model_element_row(s->element)->bits / 8 > ON_CHIP)
        by->padding += more * (made ? 2 : 1);
    if (by->padding <= (by->bytes > ON_CHIP ? 2 * by->bytes : SMALL)) return false;
    by->forced = "stick";
    return im->spared = true;
}

/* Cuts a storage; returns why it cannot be cut, or NULL if it is cut now or will not be in the next round.
 * The innermost piece must not be shorter than a stick unless its reshape cannot be copied. */
static const char *cut_storage(struct cutting *c, struct storage *s, int64_t at, struct op_class *by)
{
    struct import *im = c->im;
    struct cuts before = s->cuts;
    const char *wrong = NULL;
    bool new = false;
    if (!cuts_add(&s->cuts, at, &new)) return "atoms";
    if (!new) return NULL;
    for (int i = 0; i < s->whole_count; i++)
        if (at > s->whole[i].low && at < s->whole[i].low * s->whole[i].extent) wrong = "window";
    if (!wrong && s->cuts.count > LX_MAX_RANK + 1) wrong = "rank";
    bool ok = !wrong, inner = s->cuts.at[1] == at;
    if (ok && inner && !im->short_sticks) {
        bool is_short = at * model_element_row(s->element)->bits / 8 < STICK_BYTES &&
                        cut_stored_bytes(s, at) > SMALL && (by || !c->s->owner || !c->s->owner->shorts);
        int64_t more = cut_stored_bytes(s, at) - cut_stored_bytes(s, before.at[1]);
        ok = !is_short && !cut_spares(im, s, more, by);
        if (is_short && !by) wrong = "stick";
        if (is_short && by && !by->forced) {
            by->forced = "stick";
            im->spared = true;
        }
    }
    if (!ok) s->cuts = before;
    if (ok && inner) s->cut_by = by;
    c->changed |= ok;
    return wrong;
}

/* Cuts at the ends of the operand's own atoms. */
static const char *cut_ends(struct cutting *c, const struct sketch_operand *o)
{
    struct import *im = c->im;
    const char *wrong = NULL;
    struct op_class *by = cut_regrouped_by(o->via);
    struct storage *s = &im->storages.at[o->storage];
    int atoms = o->view.first[o->view.rank];
    for (int i = 0; !wrong && i < atoms + o->view.fixed_count; i++) {
        const struct atom *a = i < atoms ? &o->view.atom[i] : &o->view.fixed[i - atoms];
        if (a->low > 1) wrong = cut_storage(c, s, a->low, by);
        if (!wrong && a->low > 0 && atom_end(a) < s->elements) wrong = cut_storage(c, s, atom_end(a), by);
    }
    return wrong;
}

bool import_cuts_of(const struct import *im, const struct sketch_operand *o, int dim, struct cuts *c)
{
    int64_t base = 1;
    bool changed, within;
    const struct cuts *have = &im->storages.at[o->storage].cuts;
    if (!cuts_of_dim(c, &o->view, dim, &changed)) return false;
    for (int i = o->view.first[dim + 1] - 1; i >= o->view.first[dim]; i--) {
        const struct atom *a = &o->view.atom[i];
        for (int k = 0; a->low > 0 && k < have->count; k++) {
            int64_t at = have->at[k] / a->low;
            if (have->at[k] <= a->low || have->at[k] >= atom_end(a)) continue;
            if (!atom_allows(a, at, &within)) return false;
            if (within || (a->span && at == a->extent)) continue;
            if (!cuts_add(c, base * at, &changed)) return false;
        }
        base *= a->extent;
    }
    return true;
}

/* The reshape that made operand `of`'s cut of dimension `dim` necessary: another operand's, or its
 * storage's. */
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

/* Spreads all cuts but the dimension's end: a cropped operand is longer than the op. */
static const char *cut_spread(struct cutting *x, int of, int dim, const struct cuts *c)
{
    const struct sketch_operand *o = &x->s->operand[of];
    int64_t base = 1;
    bool within;
    const char *wrong = NULL;
    for (int i = o->view.first[dim + 1] - 1; !wrong && i >= o->view.first[dim]; i--) {
        const struct atom *a = &o->view.atom[i];
        for (int k = 0; !wrong && a->low > 0 && k + 1 < c->count; k++)
            if (c->at[k] > base && c->at[k] < base * a->extent && !atom_allows(a, c->at[k] / base, &within))
                wrong = "slice";
            else if (c->at[k] > base && c->at[k] < base * a->extent)
                wrong = cut_storage(x, &x->im->storages.at[o->storage], a->low * (c->at[k] / base),
                                    cut_for(x->im, x->s, dim, of));
        base *= a->extent;
    }
    return wrong;
}

static const char *cut_op(struct cutting *x)
{
    const struct import *im = x->im;
    const struct sketch *s = x->s;
    struct cuts c;
    const char *wrong = NULL;
    x->dim = -1;
    for (int i = 0; !wrong && i <= s->input_count; i++) wrong = cut_ends(x, &s->operand[i]);
    for (int d = 0; !wrong && d < s->rank; d++) {
        x->dim = d;
        cuts_whole(&c, s->extent[d]);
        for (int i = 0; !wrong && i <= s->input_count; i++)
            if (!import_cuts_of(im, &s->operand[i], d, &c))
                wrong = view_is_part(&s->operand[i].view) ? "slice" : "atoms";
        for (int k = 1; !wrong && (s->apart >> d & 1) && k + 1 < c.count; k++)
            if (s->grain[d] % c.at[k] != 0) wrong = "atoms";
        for (int i = 0; !wrong && i <= s->input_count; i++) wrong = cut_spread(x, i, d, &c);
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

int import_piece_from(const struct cuts *c, int64_t from)
{
    for (int k = 0; k + 1 < c->count; k++)
        if (c->at[k + 1] == from) return c->count - 2 - k;
    return -1;
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
            import_force(im, im->owner, o, 1, dim, "window");
    }
}

/* The bytes that sticks add to a dimension, relative to its own. */
static double cut_stick_ends(int64_t extent, int bits)
{
    double bytes = (double)extent * bits / 8;
    return ceil(bytes / STICK_BYTES) * STICK_BYTES / bytes - 1;
}

/* A product sums along dimension `dim`: if one operand's innermost piece is less than all of the dimension,
 * the other operand is padded to the same sticks. */
static void cut_spare_product(struct import *im, const struct sketch *s, int dim)
{
    for (int of = 0; of < 2; of++) {
        const struct sketch_operand *o = &s->operand[of], *other = &s->operand[1 - of];
        const struct storage *mine = &im->storages.at[o->storage], *its = &im->storages.at[other->storage];
        int last = o->view.first[dim + 1] - 1, bits = model_element_row(its->element)->bits;
        if (last < o->view.first[dim] || o->view.atom[last].low != 1 || mine->cuts.at[1] >= s->extent[dim] ||
            other->view.first[dim] == other->view.first[dim + 1])
            continue;
        double more = cut_stick_ends(mine->cuts.at[1], bits) - cut_stick_ends(s->extent[dim], bits);
        cut_spares(im, its, (int64_t)(more * (double)its->elements * bits / 8), cut_for(im, s, dim, 1 - of));
    }
}

void import_cut(struct import *im)
{
    struct cutting x = {.im = im, .changed = true};
    while (x.changed && !im->retry) {
        x.changed = false;
        for (size_t i = 0; i < im->sketches.count; i++) {
            const struct sketch *s = x.s = &im->sketches.at[i];
            const char *wrong = s->rank < 0 || !s->needed ? NULL : cut_op(&x);
            if (wrong && s->own && s->own->apart < APART_ALL) {
                s->own->apart++;
                im->retry = true;
            } else if (wrong)
                import_force(im, s->owner, s->operand, s->input_count, x.dim, wrong);
        }
    }
    for (size_t i = 0; !im->retry && i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[i];
        const struct lx_kind *kind = lx_kind_find(s->kind);
        bool product = s->needed && s->rank >= 0 && kind && kind->traits & LX_CONTRACTS &&
                       s->input_count == 2 && s->window_count == 0;
        for (int d = 0; product && d < s->rank; d++)
            if (s->operand[2].view.first[d] == s->operand[2].view.first[d + 1]) cut_spare_product(im, s, d);
    }
    im->retry |= im->spared;
}
