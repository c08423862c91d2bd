/* The splits of a plan's ops, derived from the number of slices per variable alone.
 *
 * A variable along which sticks of some operand run is cut between sticks, by the operand with the most
 * elements per stick. Slices are equal, so that a split divides the sticks (or elements). Cores count through
 * the slices of the variables like a number with mixed bases: output variables in their order, then summed
 * ones, the first fastest. Before all comes a split variable that the output has only inside its sticks, or
 * not at all; else the variable that the plan has in front. There is at most one of these. In a nest one tile
 * is cut. */
#include "check/check.h"
#include "graph/choice.h"

/* Does no coordinate of the output outside its sticks have the variable? */
static bool check_cuts_is_inner(const struct checker *c, const struct lx_op *op, const struct cut *k, int v)
{
    const struct lx_layout *out = &c->l->layouts[op->output];
    int h = op_index_dim(&k->x, k->x.output, v);
    for (int d = 0; h >= 0 && d < out->rank - 1; d++)
        if (out->host_dim[d] == h && out->size[d] > 1) return false;
    return true;
}

void cut_of_op(const struct checker *c, int32_t o, struct cut *k)
{
    const struct lx_op *op = &c->g->ops[o];
    const struct lx_division *d = &c->p->divisions->at[o];
    op_index_of(c->g, op, &k->x);
    k->cores = k->sum_slices = 1;
    k->nest = NULL;
    if (op->kind->traits & LX_EXTERN) k->x.known = false;
    if (!k->x.known) return;
    for (int v = 0; v < k->x.var_count; v++) k->split[v] = 1;
    for (int i = 0; i < d->split_count; i++)
        for (int v = 0; v < k->x.var_count; v++)
            if (k->x.letter[v] == d->splits[i].letter) k->split[v] = max_i64(d->splits[i].split, 1);
    for (int v = 0; v < k->x.var_count; v++) k->unit[v] = 1;
    for (int i = 0; i < k->x.operand_count; i++) {
        const struct lx_layout *l = &c->l->layouts[op_operand(op, i)];
        if (l->rank == 0 || l->stick_dim < 0) continue;
        int v = k->x.var[i][l->stick_dim];
        if (k->x.extent[v] > 1) k->unit[v] = max_i64(k->unit[v], l->stick_elements);
    }
    /* Extents of a tile: divided by the tiles of each level. */
    k->nest = loops_of(c, o);
    for (int v = 0; v < k->x.var_count; v++) k->tiles[v] = 1;
    for (int l = 0; k->nest && l < k->nest->level_count; l++) {
        int v = k->nest->var[o - k->nest->first][l];
        k->level_var[l] = v;
        k->tiles[v] = k->nest->tiles[l];
        k->x.extent[v] /= k->tiles[v];
    }
    /* Variables in the order in which cores count through them, after the one in front. */
    int order[LX_MAX_VARS], count = 0, front = 0;
    bool fronted = d->contiguous >= 0 && d->contiguous < d->split_count;
    while (fronted && front < k->x.var_count && k->x.letter[front] != d->splits[d->contiguous].letter)
        front++;
    for (int v = 0; v < k->x.var_count; v++)
        if (k->split[v] > 1 && check_cuts_is_inner(c, op, k, v)) order[count++] = v;
    if (count == 0 && fronted && front < k->x.var_count && k->split[front] > 1) order[count++] = front;
    for (int i = 0; i < k->x.rank[k->x.output]; i++) {
        int v = k->x.var[k->x.output][i];
        if (k->split[v] > 1 && !check_cuts_is_inner(c, op, k, v) && (count == 0 || v != order[0]))
            order[count++] = v;
    }
    for (int v = 0; v < k->x.var_count; v++) {
        int64_t units = ceil_div_i64(k->x.extent[v], k->unit[v]);
        k->width[v] = k->split[v] == 1 ? k->x.extent[v] : ceil_div_i64(units, k->split[v]) * k->unit[v];
        k->stride[v] = 1;
        if (k->split[v] > 1 && op_index_reduced(&k->x, v)) k->sum_slices *= k->split[v];
    }
    for (int i = 0; i < count; i++) {
        k->stride[order[i]] = k->cores;
        if (!mul_i64(k->cores, k->split[order[i]], &k->cores)) k->cores = INT64_MAX;
    }
}

static bool check_cuts_refuse(const struct checker *c, const struct lx_op *op, const struct cut *k, int v,
                              const char *why)
{
    return status_set(c->st, LX_E_NO, "op %s cannot be cut into %lld slices along '%c': %s", op->name,
                      (long long)k->split[v], k->x.letter[v], why);
}

static bool split_legal(const struct checker *c, const struct lx_op *op, const struct cut *k, int v)
{
    int64_t units = ceil_div_i64(k->x.extent[v], k->unit[v]);
    bool padded = k->unit[v] > 1 && k->x.extent[v] % k->unit[v] != 0;
    /* Slices that differ: the last one is shorter, and none is empty. */
    bool uneven = c->g->device.uneven && !op_index_reduced(&k->x, v) &&
                  ceil_div_i64(units, ceil_div_i64(units, k->split[v])) == k->split[v];
    if (units % k->split[v] != 0 && !uneven)
        return check_cuts_refuse(c, op, k, v,
                                 k->unit[v] > 1 ? "they do not divide its sticks" : "they do not divide it");
    enum lx_nature n = lx_var_nature(op, v);
    if (n == LX_WINDOWED || n == LX_CHOSEN || n == LX_JOINED)
        return check_cuts_refuse(c, op, k, v, "the op takes it as a whole");
    if (padded && op_index_reduced(&k->x, v))
        return check_cuts_refuse(c, op, k, v, "it is summed, and its last stick is partly filled");
    if (op_index_reduced(&k->x, v) && (op->kind->id == LX_KIND_LOGSUMEXP || op->kind->id == LX_KIND_BLEND))
        return check_cuts_refuse(c, op, k, v, "it is summed, and parts of a running sum are not added up");
    if (padded && op_is_restickify(op))
        return check_cuts_refuse(c, op, k, v, "sticks turn, and the last one is partly filled");
    /* Does a convolution with a stride slide along the variable? */
    bool slides = false, steps = false;
    for (int i = 0; i < op->window_count; i++) {
        slides |= op->windows[i].out == v;
        steps |= op->windows[i].stride > 1;
    }
    if (slides && steps && (op->kind->traits & LX_CONTRACTS))
        return check_cuts_refuse(c, op, k, v, "a convolution with a stride has its steps on one core");
    /* Cores would write parts of one stick: an insert that begins within a stick, or leaves elements out. */
    int out = k->x.output, h = op_index_dim(&k->x, out, v);
    const struct lx_layout *l = &c->l->layouts[op->output];
    if (op_index_shifted(&k->x, out) && h >= 0 && h == l->stick_dim &&
        (op_index_stride(&k->x, out, h) != 1 || op_index_offset(&k->x, out, h) % l->stick_elements != 0))
        return check_cuts_refuse(c, op, k, v, "cores would write parts of one stick");
    return true;
}

/* Positions along device dimension d that one core addresses. */
static int64_t check_cuts_positions(const struct lx_layout *l, const struct cut *k, int operand, int d)
{
    int h = l->host_dim[d];
    if (h < 0) return 1;
    int64_t scale = op_index_stride(&k->x, operand, h),
            lead = op_index_offset(&k->x, operand, h) % l->step[d];
    if (lead < 0) lead += l->step[d];
    int v = k->x.var[operand][h];
    for (int i = 0; i < k->x.window_count; i++) {
        const struct lx_window *w = &k->x.windows[i];
        if (w->in != v) continue;
        int64_t reach = w->dilation * (w->size - 1);
        int64_t wide = w->stride * (min_i64(k->width[(int)w->out], k->x.extent[(int)w->out]) - 1);
        return min_i64(wide + (reach < 0 ? -reach : reach) + 1, max_i64(l->size[d], 1));
    }
    int64_t slice = min_i64(k->width[v], k->x.extent[v]);
    return min_i64(((slice - 1) * scale + lead) / l->step[d] + 1, max_i64(l->size[d], 1));
}

/* Bytes from the first to the last one that a core addresses: whole rows behind the outermost dimension with
 * several positions. */
static int64_t span(const struct lx_layout *l, const struct cut *k, const struct lx_op *op, int operand)
{
    for (int d = 0; d < l->rank - 1; d++) {
        int64_t bytes = check_cuts_positions(l, k, operand, d);
        struct lx_choice c;
        bool starts = op->kind->id == LX_KIND_DYNAMIC_SLICE || op->kind->id == LX_KIND_DYNAMIC_INSERT;
        bool picked = starts && l->host_dim[d] >= 0 && lx_choice_of(op, &c) && c.operand == operand;
        /* A dynamic slice or insert: its positions, wherever in a stick it begins. */
        for (int a = 0; picked && a < c.axis_count; a++) {
            if (k->x.var[operand][(int)l->host_dim[d]] != c.var[a]) continue;
            int64_t elements = c.window[a] >= 0 ? k->x.extent[c.window[a]] : 1;
            bytes = min_i64(bytes, 1 + ceil_div_i64(elements - 1, l->step[d]));
            break;
        }
        if (bytes == 1) continue;
        if (!mul_i64(bytes, l->stick_bytes, &bytes)) return INT64_MAX;
        for (int e = d + 1; e < l->rank - 1; e++)
            if (!mul_i64(bytes, l->size[e], &bytes)) return INT64_MAX;
        return bytes;
    }
    return l->stick_bytes;
}

static bool cut_legal(const struct checker *c, int32_t o)
{
    const struct lx_op *op = &c->g->ops[o];
    struct cut k;
    int inner = 0;
    cut_of_op(c, o, &k);
    /* A split of a variable that the op does not have would go unnoticed. */
    const struct lx_division *d = &c->p->divisions->at[o];
    for (int i = 0; i < d->split_count; i++) {
        bool found =
            !k.x.known ? false : memchr(k.x.letter, d->splits[i].letter, (size_t)k.x.var_count) != NULL;
        if (!found && d->splits[i].split != 1)
            return status_set(c->st, LX_E_NO, "op %s is cut along '%c', which it does not have",
                              c->g->ops[o].name, d->splits[i].letter);
    }
    if (!k.x.known) return true;
    for (int v = 0; v < k.x.var_count; v++) {
        if (k.split[v] == 1) continue;
        inner += check_cuts_is_inner(c, op, &k, v);
        if (!split_legal(c, op, &k, v)) return false;
    }
    if (inner > 1)
        return status_set(c->st, LX_E_NO,
                          "op %s: more than one summed dimension is cut; cores add up along one", op->name);
    if (k.cores > c->p->divisions->cores)
        return status_set(c->st, LX_E_NO, "op %s wants %lld cores, but the plan has %lld", op->name,
                          (long long)k.cores, (long long)c->p->divisions->cores);
    for (int i = 0; i < k.x.operand_count; i++) {
        int64_t bytes = span(&c->l->layouts[op_operand(op, i)], &k, op, i);
        if (bytes > c->g->device.span_bytes)
            return status_set(
                c->st, LX_E_NO, "op %s: one core addresses %lld bytes of %s, but the limit is %lld", op->name,
                (long long)bytes, c->g->tensors[op_operand(op, i)].name, (long long)c->g->device.span_bytes);
    }
    return true;
}

bool check_cuts(const struct checker *c)
{
    int64_t cores = c->p->divisions->cores;
    if (cores < 1 || cores > c->g->device.cores)
        return status_set(c->st, LX_E_NO, "the plan uses %lld cores, but its device has %lld",
                          (long long)cores, (long long)c->g->device.cores);
    for (int32_t o = 0; o < c->g->op_count; o++)
        if (!cut_legal(c, o)) return false;
    return true;
}
