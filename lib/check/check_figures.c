/* Compares every figure of a graph's plan with the counted one, or one that follows from the plan's
 * statements. Costs of buffers, the traffic of a perfect placement and predicted times are claims of the
 * planner: nothing here depends on them. */
#include "check/check.h"
#include "graph/choice.h"

/* Fields of struct lx_op_traffic that are compared, with their words. */
static const struct {
    const char *what;
    size_t offset;
} op_rows[] = {
    {"bytes read from HBM", offsetof(struct lx_op_traffic, hbm_read)},
    {"bytes written to HBM", offsetof(struct lx_op_traffic, hbm_written)},
    {"bytes over the data ring", offsetof(struct lx_op_traffic, ring)},
    {"bytes over the reduce ring", offsetof(struct lx_op_traffic, reduce_ring)},
    {"bytes read from scratchpads", offsetof(struct lx_op_traffic, lx_read)},
    {"bytes written to scratchpads", offsetof(struct lx_op_traffic, lx_written)},
    {"cores", offsetof(struct lx_op_traffic, cores)},
};

static bool check_figures_same(const struct checker *c, const char *subject, const char *name,
                               const char *what, int64_t claimed, int64_t counted)
{
    if (claimed == counted) return true;
    return status_set(c->st, LX_E_NO, "%s%s: the plan claims %lld %s, but has %lld", subject, name,
                      (long long)claimed, what, (long long)counted);
}

/* The first and the last op that a buffer serves, by the accesses. */
struct use {
    int32_t first, last;
    bool seen;
};

static bool uses_right(const struct checker *c)
{
    struct use *uses = arena_array(c->memory, (size_t)c->p->problem.count, sizeof *uses);
    for (int32_t o = 0; o < c->g->op_count; o++)
        for (int32_t a = c->p->access_at[o]; a < c->p->access_at[o + 1]; a++) {
            const struct lx_access *x = &c->p->accesses[a];
            if (x->stay < 0) continue;
            struct use *u = &uses[x->stay];
            if (c->p->stays[x->stay].tensor != x->tensor)
                return status_set(c->st, LX_E_NO, "op %s is served by %s, a buffer of another tensor than %s",
                                  c->g->ops[o].name, c->p->problem.buffers[x->stay].name,
                                  c->g->tensors[x->tensor].name);
            if (!u->seen) *u = (struct use){o, o, true};
            u->last = o;
        }
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        const struct lx_stay *s = &c->p->stays[i];
        const char *name = c->p->problem.buffers[i].name;
        if (!uses[i].seen) continue;
        if (!check_figures_same(c, "buffer ", name, "as its first op", s->first, uses[i].first) ||
            !check_figures_same(c, "buffer ", name, "as its last op", s->last, uses[i].last))
            return false;
    }
    return true;
}

static void check_figures_add_up(struct checker *c)
{
    struct lx_figures *f = &c->figures;
    for (int32_t o = 0; o < c->g->op_count; o++) {
        f->hbm_bytes += c->traffic[o].hbm_read + c->traffic[o].hbm_written;
        f->ring_bytes += c->traffic[o].ring;
        /* Traffic of the op with nothing on chip and no nest. */
        struct cut k;
        int64_t sum = 0;
        cut_of_op(c, o, &k);
        for (int i = 0; i < op_operand_count(&c->g->ops[o]); i++) sum += touched_bytes(c, &k, o, i);
        f->baseline_hbm_bytes += sum;
    }
    for (int32_t i = 0; i < c->p->problem.count; i++)
        if (c->p->answer.address[i] >= 0)
            f->height_bytes =
                max_i64(f->height_bytes, c->p->answer.address[i] + c->p->problem.buffers[i].size);
}

bool check_figures(struct checker *c)
{
    const struct lx_figures *claimed = &c->p->figures, *f = &c->figures;
    for (int32_t o = 0; o < c->g->op_count; o++) {
        /* Reads and writes of each access, and its HBM bytes if off chip. */
        const struct lx_op *op = &c->g->ops[o];
        struct cut k;
        cut_of_op(c, o, &k);
        for (int i = 0; i < op_operand_count(op); i++) {
            const struct lx_access *a = &c->p->accesses[c->p->access_at[o] + i];
            int32_t tensor = op_operand(op, i);
            bool writes = i >= op->input_count, reads = !writes || op_keeps_rest(op);
            if (a->tensor != tensor || a->reads != reads || a->writes != writes)
                return status_set(c->st, LX_E_NO, "op %s: its access to %s is not what the op does", op->name,
                                  c->g->tensors[tensor].name);
            if (!check_figures_same(c, "op ", op->name, "bytes for an operand in HBM", a->bytes,
                                    check_access_bytes(c, &k, o, i)))
                return false;
        }
        for (size_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++)
            if (!check_figures_same(
                    c, "op ", c->g->ops[o].name, op_rows[i].what,
                    *(const int64_t *)(const void *)((const char *)&c->p->traffic[o] + op_rows[i].offset),
                    *(const int64_t *)(const void *)((const char *)&c->traffic[o] + op_rows[i].offset)))
                return false;
    }
    if (!uses_right(c)) return false;
    check_figures_add_up(c);
    return check_figures_same(c, "all ops", "", "bytes of HBM traffic", claimed->hbm_bytes, f->hbm_bytes) &&
           check_figures_same(c, "all ops", "", "bytes over the data ring", claimed->ring_bytes,
                              f->ring_bytes) &&
           check_figures_same(c, "all ops", "", "waits of all cores at syncs", claimed->sync_times,
                              f->sync_times) &&
           check_figures_same(c, "all ops", "", "bytes of HBM traffic with nothing on chip",
                              claimed->baseline_hbm_bytes, f->baseline_hbm_bytes) &&
           check_figures_same(c, "scratchpads", "", "bytes in use", claimed->height_bytes, f->height_bytes) &&
           check_figures_same(c, "all ops", "", "bytes of spill", claimed->spill_bytes,
                              f->hbm_bytes - claimed->perfect_hbm_bytes);
}

/* Traffic by op, in all iterations of the nests: operands off chip, copies, sticks in scratchpads, partial
 * sums.
 *
 * Off chip an operand is read once per iteration of every level, its tile each time: the whole operand once
 * per iteration of the levels that do not cut it. A sum over levels is read back in all iterations of these
 * but the first. A copy of a buffer is made once per iteration of the levels up to its hold. */

struct counting {
    struct checker *c;
    const struct parts *parts; /* per buffer */
    int32_t op;
    struct cut cut; /* of the op */
};

/* Sticks of the operand that an op picks from: for every index the positions of its window, and all positions
 * of the dimensions that neither indices nor windows walk. `extent`: per variable, of an iteration. */
static int64_t chosen_sticks(const struct lx_layout *l, const struct lx_op *op, const struct lx_choice *c,
                             const int64_t *extent)
{
    int64_t sticks = 1, whole = 1;
    for (int v = 0; v < op->map->var_count; v++)
        if (v != c->vector && lx_choice_by(op, c, v) && !mul_i64(sticks, extent[v], &sticks))
            return INT64_MAX;
    for (int d = 0; d < l->rank - 1; d++) {
        int64_t positions = l->size[d];
        int v = l->host_dim[d] < 0 ? -1 : op->map->index[c->operand][(int)l->host_dim[d]];
        if (v >= 0) positions /= op->map->extent[v] / extent[v]; /* tiles of a nest */
        whole *= positions;                                      /* no overflow: a tensor in memory */
        if (v >= 0 && lx_choice_by(op, c, v)) positions = 1;
        for (int a = 0; v >= 0 && a < c->axis_count; a++) {
            if (c->var[a] != v) continue;
            int64_t going_on = c->window[a] < 0 ? 0 : extent[c->window[a]] - 1;
            positions = min_i64(positions, ceil_div_i64(going_on, l->step[d]) + 1);
        }
        if (!mul_i64(sticks, positions, &sticks)) return INT64_MAX;
    }
    return min_i64(sticks, whole);
}

int64_t touched_bytes(const struct checker *c, const struct cut *k, int32_t op, int operand)
{
    struct lx_choice choice;
    int32_t tensor = op_operand(&c->g->ops[op], operand);
    if (lx_choice_of(&c->g->ops[op], &choice) && choice.operand == operand)
        return bytes_of_sticks(
            c, tensor,
            chosen_sticks(&c->l->layouts[tensor], &c->g->ops[op], &choice, c->g->ops[op].map->extent));
    struct zone z = zone_touched(c, k, op, operand, -1);
    return bytes_of_sticks(c, tensor, zone_sticks(&z));
}

/* How often the whole operand is accessed: iterations of the levels that do not cut it. */
static int64_t times_of(const struct checker *c, const struct cut *k, int32_t op, int operand)
{
    return loop_count(k->nest, all_loops(k->nest) & ~c->looped[c->p->access_at[op] + operand].indexed);
}

int64_t check_access_bytes(const struct checker *c, const struct cut *k, int32_t op, int operand)
{
    int64_t times = times_of(c, k, op, operand);
    bool writes = operand >= c->g->ops[op].input_count;
    const struct lx_op *o = &c->g->ops[op];
    struct lx_choice choice;
    if (k->nest && !writes && lx_choice_of(o, &choice) &&
        choice.operand == operand) /* other picks each time */
        return bytes_of_sticks(
                   c, op_operand(o, operand),
                   chosen_sticks(&c->l->layouts[op_operand(o, operand)], o, &choice, k->x.extent)) *
               loop_count(k->nest, all_loops(k->nest));
    return touched_bytes(c, k, op, operand) * (writes ? 2 * times - 1 : times);
}

/* Scratchpad bytes that all cores touch in one iteration. */
static int64_t lx_bytes(const struct counting *n, int operand)
{
    int32_t tensor = op_operand(&n->c->g->ops[n->op], operand);
    int all = n->cut.nest ? n->cut.nest->level_count : 0;
    struct parts seen = parts_of_operand(n->c, &n->cut, n->op, operand, all);
    const struct lx_layout *l = &n->c->l->layouts[tensor];
    /* If all parts have one size there is no need to go over the cores. */
    int64_t sticks = seen.cores;
    bool equal = seen.touched_whole;
    for (int d = 0; d < seen.rank && equal; d++) {
        equal = l->size[d] % (seen.slices[d] * seen.tiles[d]) == 0 && !seen.low[d] && !seen.high[d];
        sticks *= l->size[d] / seen.slices[d] / seen.tiles[d];
    }
    if (equal) return bytes_of_sticks(n->c, tensor, sticks);
    sticks = 0;
    for (int64_t core = 0; core < n->cut.cores; core++) {
        struct zone z = zone_touched(n->c, &n->cut, n->op, operand, core);
        sticks += zone_sticks(&z);
    }
    return bytes_of_sticks(n->c, tensor, sticks);
}

/* Reduce-ring bytes: partial sums go to the first core of their group, and the total comes back where it
 * stays on chip. */
static int64_t sum_bytes(const struct counting *n, int operand, bool on_chip)
{
    const struct cut *k = &n->cut;
    const struct lx_op *op = &n->c->g->ops[n->op];
    int64_t sticks = 0, slot;
    if (k->sum_slices <= 1) return 0;
    for (int64_t core = 0; core < k->cores; core++) {
        slot = 0;
        for (int v = 0; v < k->x.var_count; v++)
            if (op_index_reduced(&k->x, v)) slot += core / k->stride[v] % k->split[v];
        struct zone z = zone_touched(n->c, k, n->op, operand, core);
        if (slot > 0) sticks += zone_sticks(&z);
    }
    return bytes_of_sticks(n->c, op_operand(op, operand), sticks) * (on_chip ? 2 : 1);
}

static void check_traffic_count_op(struct counting *n)
{
    const struct lx_op *op = &n->c->g->ops[n->op];
    const struct lx_access *a = &n->c->p->accesses[n->c->p->access_at[n->op]];
    struct lx_op_traffic *t = &n->c->traffic[n->op];
    cut_of_op(n->c, n->op, &n->cut);
    for (int i = 0; i < op->input_count; i++) {
        bool on_chip = a[i].stay >= 0 && n->c->p->answer.address[a[i].stay] >= 0;
        if (on_chip)
            t->lx_read += lx_bytes(n, i) * loop_count(n->cut.nest, all_loops(n->cut.nest));
        else
            t->hbm_read += check_access_bytes(n->c, &n->cut, n->op, i);
    }
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        /* Partial sums over tiles are read before the next is added. */
        bool on_chip = a[i].stay >= 0 && n->c->p->answer.address[a[i].stay] >= 0;
        int64_t iterations = loop_count(n->cut.nest, all_loops(n->cut.nest)),
                times = times_of(n->c, &n->cut, n->op, i);
        if (on_chip) {
            int64_t bytes = lx_bytes(n, i);
            t->lx_written += bytes * iterations;
            t->lx_read += bytes * (iterations - iterations / times);
        } else {
            int64_t bytes = touched_bytes(n->c, &n->cut, n->op, i);
            t->hbm_written += bytes * times;
            t->hbm_read += bytes * (times - 1);
        }
        t->reduce_ring += sum_bytes(n, i, on_chip) * iterations;
    }
    t->cores = n->cut.cores;
}

static void count_copy(struct counting *n, const struct lx_transfer *x, int64_t *bytes)
{
    const struct lx_nest *nest = loops_of(n->c, x->tick);
    const struct lx_stay *s = &n->c->p->stays[x->stay];
    struct lx_op_traffic *t = &n->c->traffic[x->tick];
    if (lx_through_hbm(x->kind)) {
        /* The whole tensor once per iteration of the levels up to the hold that do not cut it; partial sums
         * are not loaded before the first exist. */
        struct looped in = looped_in(n->c, nest, s->tensor);
        int64_t times = loop_count(nest, loops_to(s->hold) & ~in.indexed);
        if (x->kind == LX_LOAD && in.summed) times--;
        *bytes = whole_bytes(n->c, s->tensor) * times;
        *(x->kind == LX_LOAD ? &t->hbm_read : &t->hbm_written) += *bytes;
        return;
    }
    /* A relayout over the ring moves the sticks that a core lacks, a move all parts. */
    const struct lx_layout *l = &n->c->l->layouts[s->tensor];
    const struct parts *to = &n->parts[x->stay];
    int64_t sticks = 0;
    for (int64_t core = 0; l->rank > 0 && core < to->cores; core++) {
        sticks += part_sticks(l, to, core);
        if (x->kind == LX_RING) sticks -= part_common_sticks(l, &n->parts[x->source], to, core);
    }
    *bytes =
        l->rank > 0 ? bytes_of_sticks(n->c, s->tensor, sticks) : whole_bytes(n->c, s->tensor) * to->cores;
    *bytes *= loop_count(nest, loops_to(s->hold));
    if (x->kind == LX_RING)
        t->ring += *bytes;
    else {
        t->lx_read += *bytes;
        t->lx_written += *bytes;
    }
}

bool count_traffic(struct checker *c, const struct parts *parts)
{
    struct counting n = {.c = c, .parts = parts};
    for (n.op = 0; n.op < c->g->op_count; n.op++) check_traffic_count_op(&n);
    for (int32_t i = 0; i < c->p->transfer_count; i++) {
        const struct lx_transfer *x = &c->p->transfers[i];
        int64_t bytes;
        count_copy(&n, x, &bytes);
        if (bytes == x->bytes) continue;
        return status_set(c->st, LX_E_NO,
                          "the plan claims that a copy of %s at tick %d moves %lld bytes, but it moves %lld",
                          c->p->problem.buffers[x->stay].name, (int)x->tick, (long long)x->bytes,
                          (long long)bytes);
    }
    return true;
}
