/* Along which dimension each tensor is cut, and with that how each op is computed.
 *
 * Inputs are cut along their first dimension (or the first that is long enough, if that one is shorter than
 * the team), weights are whole. Then ops in order: an op may be split along any dimension of its output, be
 * computed in part along a variable that it sums away, or be computed by everyone; the way that moves the
 * fewest bytes between members wins, and of equals the first dimension; dimensions that have no element for
 * some member do not count while there are others. Blocks are taken to be the default
 * ones here; block_bounds.c moves their bounds, which changes halos by a few rows and not the choice. */
#include "team/team_private.h"
#include "base/checked.h"
#include "base/fail.h"

#include <string.h>

enum { UNDECIDED = -2 };

static int default_cut(const struct lx_tensor *t, int members)
{
    if (t->rank == 0) return -1;
    for (int d = 0; d < t->rank; d++)
        if (t->shape[d] >= members) return d;
    return 0;
}

/* Members without a share would idle; such a cut is for tensors that have no better dimension. */
static bool some_long(const struct lx_tensor *t, int members)
{
    for (int d = 0; d < t->rank; d++)
        if (t->shape[d] >= members) return true;
    return false;
}

static bool apply_choices(struct team_draft *d, lx_status *st)
{
    for (int i = 0; i < d->how->choice_count; i++) {
        const struct lx_team_choice *c = &d->how->choices[i];
        int32_t t = 0;
        while (t < d->g->tensor_count && strcmp(d->g->tensors[t].name, c->tensor) != 0) t++;
        if (t == d->g->tensor_count)
            return status_set(st, LX_E_UNKNOWN_NAME, "no tensor of %s is named %s", d->g->name, c->tensor);
        if (c->cut < -1 || c->cut >= d->g->tensors[t].rank)
            return status_set(st, LX_E_RANGE, "tensor %s cannot be cut along dimension %d: it has %d",
                              c->tensor, c->cut, d->g->tensors[t].rank);
        d->tensors[t].cut = c->cut;
    }
    return true;
}

static struct lx_team_box default_own(const struct team_draft *d, int32_t tensor, int member)
{
    const struct lx_tensor *t = &d->g->tensors[tensor];
    return lx_team_default_partition(d->members, member, t->rank, t->shape, d->tensors[tensor].cut);
}

/* Bytes that all members together receive for an op whose variable `var` runs over the default blocks of
 * `extent`, or, for an insertion, over what lies in the default blocks of its output's dimension `dim`. */
static int64_t price(const struct team_draft *d, const struct lx_op *op, const struct op_index *x, int var,
                     int dim)
{
    int64_t bytes = 0;
    for (int m = 0; m < d->members; m++) {
        struct lx_team_range range = {0, 1};
        if (var >= 0) {
            const int64_t *extent = dim >= 0 ? &d->g->tensors[op->output].shape[dim] : &x->extent[var];
            struct lx_team_box b = lx_team_default_partition(d->members, m, 1, extent, 0);
            range = (struct lx_team_range){b.offset[0], b.offset[0] + b.size[0]};
            if (dim >= 0) range = team_range_of_block(x, var, range);
        }
        for (int i = 0; i < op->input_count; i++) {
            struct lx_team_box own = default_own(d, op->inputs[i], m);
            struct lx_team_box need = team_need_box(d->g, op, x, i, var, range);
            bytes += team_missing_bytes(&d->g->tensors[op->inputs[i]], &need, &own);
        }
    }
    return bytes;
}

static void set_mode(struct lx_team_op *how, const struct op_index *x, int cut)
{
    how->mode = cut < 0 || !x->known ? LX_TEAM_WHOLE : LX_TEAM_SPLIT;
    how->var = how->mode == LX_TEAM_SPLIT ? x->var[x->output][cut] : -1;
}

/* The first op that writes a tensor decides about its cut, unless that was chosen. */
static void decide(struct team_draft *d, const struct lx_op *op, const struct op_index *x,
                   struct lx_team_op *how)
{
    const struct lx_tensor *out = &d->g->tensors[op->output];
    struct lx_team_tensor *result = &d->tensors[op->output];
    bool all_whole = true;
    for (int i = 0; i < op->input_count; i++) all_whole = all_whole && d->tensors[op->inputs[i]].cut < 0;
    int64_t best = INT64_MAX;
    if (result->cut == UNDECIDED) {
        result->cut = -1;
        for (int k = 0; k < out->rank && x->known; k++) {
            if (all_whole && (out->role != LX_OUTPUT || k != default_cut(out, d->members))) continue;
            if (out->shape[k] < d->members && some_long(out, d->members)) continue;
            int64_t bytes = price(d, op, x, x->var[x->output][k], k);
            if (bytes < best) best = bytes, result->cut = k;
        }
    } else if (result->cut >= 0) {
        set_mode(how, x, result->cut);
        return;
    }
    /* Splitting never moves more than computing everywhere; a sum in parts may move less than both. */
    if (result->cut < 0) best = price(d, op, x, -1, -1);
    set_mode(how, x, result->cut);
    struct lx_team_box whole = lx_team_box_of(out->rank, out->shape);
    /* Logarithms of parts of a sum are not added up. */
    bool parts = op->map && op->reduces && !all_whole && op->kind->id != LX_KIND_LOGSUMEXP;
    for (int v = 0; v < x->var_count && parts; v++) {
        if (!op_index_reduced(x, v)) continue;
        int64_t bytes = price(d, op, x, v, -1) + 2 * (d->members - 1) * team_bytes(out, &whole);
        if (bytes >= best) continue;
        best = bytes;
        result->cut = -1;
        how->mode = LX_TEAM_COMBINE;
        how->var = v;
    }
}

/* What indices choose may be on another member, and so may what is in order. */
static bool refuse_choices(const struct lx_graph *g, lx_status *st)
{
    for (int32_t o = 0; o < g->op_count; o++) {
        if (g->ops[o].kind->traits & (LX_CHOOSES | LX_RANKS))
            return status_set_at(st, LX_E_UNSUPPORTED, g->file, g->ops[o].line, 0,
                                 "op %s: a team has no %s; plan it for one device", g->ops[o].name,
                                 g->ops[o].kind->name);
        if (g->ops[o].output_count > 1)
            return status_set_at(st, LX_E_UNSUPPORTED, g->file, g->ops[o].line, 0,
                                 "op %s has %d results, which a team does not share out; write an op for "
                                 "each, or plan it for one device",
                                 g->ops[o].name, g->ops[o].output_count);
    }
    return true;
}

bool team_choose_cuts(struct team_draft *d, lx_status *st)
{
    const struct lx_graph *g = d->g;
    if (!refuse_choices(g, st)) return false;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_tensor *x = &g->tensors[t];
        if (x->rank < 0)
            return status_set_at(st, LX_E_UNSUPPORTED, g->file, x->line, x->column,
                                 "tensor %s is known by its bytes only and cannot be distributed over a "
                                 "team; give it a shape",
                                 x->name);
        d->tensors[t].cut = x->role == LX_INPUT    ? default_cut(x, d->members)
                            : x->role == LX_WEIGHT ? -1
                                                   : UNDECIDED;
    }
    if (!apply_choices(d, st)) return false;
    for (int32_t o = 0; o < g->op_count; o++) {
        struct op_index x;
        const struct lx_op *op = &g->ops[o];
        op_index_of(g, op, &x);
        if (op->window_count)
            return status_set_at(
                st, LX_E_UNSUPPORTED, g->file, op->line, 0,
                "op %s has windows, which overlap those of other members; plan it for one device", op->name);
        if (!x.known && d->tensors[op->output].cut >= 0)
            return status_set_at(
                st, LX_E_UNSUPPORTED, g->file, op->line, 0,
                "op %s (%s) has no index map, so its output %s cannot be cut; let it be whole", op->name,
                op->kind->name, g->tensors[op->output].name);
        if (x.walks)
            return status_set_at(
                st, LX_E_UNSUPPORTED, g->file, op->line, 0,
                "op %s (%s) has parts of its operands at other places than its output, which a team cannot "
                "share out; plan it for one device",
                op->name, op->kind->name);
        decide(d, op, &x, &d->ops[o]);
    }
    return true;
}
