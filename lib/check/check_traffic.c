/* What moves, by op, in all iterations of the nests: operands off chip, copies, sticks in scratchpads, parts
 * of sums.
 *
 * Off chip an operand is read once per iteration of every level, its tile each time: the whole once per
 * iteration of those that do not cut it. A sum over levels is read back in all iterations of these but the
 * first. A copy of a buffer is made once per iteration of the levels up to its hold. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"
#include "graph/choice.h"

struct counting {
    struct checker *c;
    const struct parts *parts; /* per buffer */
    int32_t op;
    struct cut cut; /* of the op */
};

/* Sticks of what an op chooses from: by every index the positions that go on from there, all of the
 * dimensions that neither it nor its windows walk. */
static int64_t chosen_sticks(const struct lx_layout *l, const struct lx_op *op, const struct lx_choice *c)
{
    int64_t sticks = 1, whole = 1;
    for (int v = 0; v < op->map->var_count; v++)
        if (v != c->vector && lx_choice_by(op, c, v) && !mul_i64(sticks, op->map->extent[v], &sticks))
            return INT64_MAX;
    for (int d = 0; d < l->rank - 1; d++) {
        int64_t positions = l->size[d];
        int v = l->host_dim[d] < 0 ? -1 : op->map->index[c->operand][(int)l->host_dim[d]];
        if (v >= 0 && lx_choice_by(op, c, v)) positions = 1;
        for (int a = 0; v >= 0 && a < c->axis_count; a++) {
            if (c->var[a] != v) continue;
            int64_t going_on = c->window[a] < 0 ? 0 : op->map->extent[c->window[a]] - 1;
            positions = min_i64(positions, ceil_div_i64(going_on, l->step[d]) + 1);
        }
        if (!mul_i64(sticks, positions, &sticks)) return INT64_MAX;
        whole *= l->size[d]; /* of a tensor in memory */
    }
    return min_i64(sticks, whole);
}

int64_t touched_bytes(const struct checker *c, const struct cut *k, int32_t op, int operand)
{
    struct lx_choice choice;
    int32_t tensor = op_operand(&c->g->ops[op], operand);
    if (lx_choice_of(&c->g->ops[op], &choice) && choice.operand == operand)
        return bytes_of_sticks(c, tensor, chosen_sticks(&c->l->layouts[tensor], &c->g->ops[op], &choice));
    struct zone z = zone_of_access(c, k, op, operand);
    return bytes_of_sticks(c, tensor, zone_sticks(&z));
}

/* How often the whole operand goes by: levels that do not cut it. */
static int64_t times_of(const struct checker *c, const struct cut *k, int32_t op, int operand)
{
    return loop_count(k->nest, all_loops(k->nest) & ~c->looped[c->p->access_at[op] + operand].indexed);
}

int64_t access_bytes(const struct checker *c, const struct cut *k, int32_t op, int operand)
{
    int64_t times = times_of(c, k, op, operand);
    bool writes = operand >= c->g->ops[op].input_count;
    return touched_bytes(c, k, op, operand) * (writes ? 2 * times - 1 : times);
}

static bool check_traffic_placed(const struct counting *n, int32_t buffer)
{
    return buffer >= 0 && n->c->p->answer.address[buffer] >= 0;
}

/* Where all parts are of one size there is no need to go over the cores. */
static bool equal_parts(const struct lx_layout *l, const struct parts *p, int64_t *sticks)
{
    *sticks = p->cores;
    for (int d = 0; d < p->rank; d++) {
        if (l->size[d] % (p->slices[d] * p->tiles[d]) != 0 || p->low[d] || p->high[d]) return false;
        *sticks *= l->size[d] / p->slices[d] / p->tiles[d];
    }
    return p->touched_whole;
}

/* In scratchpads, by all cores in one iteration. */
static int64_t lx_bytes(const struct counting *n, int operand)
{
    int32_t tensor = op_operand(&n->c->g->ops[n->op], operand);
    int all = n->cut.nest ? n->cut.nest->level_count : 0;
    struct parts seen = parts_of_operand(n->c, &n->cut, n->op, operand, all);
    int64_t sticks;
    if (equal_parts(&n->c->l->layouts[tensor], &seen, &sticks)) return bytes_of_sticks(n->c, tensor, sticks);
    sticks = 0;
    for (int64_t core = 0; core < n->cut.cores; core++) {
        struct zone z = zone_touched(n->c, &n->cut, n->op, operand, core);
        sticks += zone_sticks(&z);
    }
    return bytes_of_sticks(n->c, tensor, sticks);
}

/* Partial sums go to the first core of their group, and the total comes back where it stays on chip. */
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
        bool on_chip = check_traffic_placed(n, a[i].stay);
        if (on_chip)
            t->lx_read += lx_bytes(n, i) * loop_count(n->cut.nest, all_loops(n->cut.nest));
        else
            t->hbm_read += access_bytes(n->c, &n->cut, n->op, i);
    }
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        /* What is combined with a sum's part is read before. */
        bool on_chip = check_traffic_placed(n, a[i].stay);
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

/* Bytes that cores get from others when a slice is laid out anew. */
static int64_t ring_bytes(const struct counting *n, int32_t tensor, const struct parts *from,
                          const struct parts *to)
{
    const struct lx_layout *l = &n->c->l->layouts[tensor];
    int64_t sticks = 0;
    if (l->rank == 0) return whole_bytes(n->c, tensor) * to->cores;
    for (int64_t core = 0; core < to->cores; core++)
        sticks += part_sticks(l, to, core) - part_common_sticks(l, from, to, core);
    return bytes_of_sticks(n->c, tensor, sticks);
}

static int64_t all_parts_bytes(const struct counting *n, int32_t tensor, const struct parts *p)
{
    const struct lx_layout *l = &n->c->l->layouts[tensor];
    int64_t sticks = 0;
    if (l->rank == 0) return whole_bytes(n->c, tensor) * p->cores;
    for (int64_t core = 0; core < p->cores; core++) sticks += part_sticks(l, p, core);
    return bytes_of_sticks(n->c, tensor, sticks);
}

/* Through HBM: the whole once per iteration of the levels up to the hold that do not cut it; parts of a sum
 * are not loaded before the first are there. */
static int64_t hbm_bytes(const struct counting *n, const struct lx_transfer *x, const struct lx_nest *nest)
{
    const struct lx_stay *s = &n->c->p->stays[x->stay];
    struct looped t = looped_in(n->c, nest, s->tensor);
    int64_t times = loop_count(nest, loops_to(s->hold) & ~t.indexed);
    if (x->kind == LX_LOAD && t.summed) times--;
    return whole_bytes(n->c, s->tensor) * times;
}

static void count_copy(struct counting *n, const struct lx_transfer *x, int64_t *bytes)
{
    const struct lx_nest *nest = loops_of(n->c, x->tick);
    const struct lx_stay *s = &n->c->p->stays[x->stay];
    struct lx_op_traffic *t = &n->c->traffic[x->tick];
    int64_t fills = loop_count(nest, loops_to(s->hold));
    if (x->kind == LX_LOAD)
        t->hbm_read += *bytes = hbm_bytes(n, x, nest);
    else if (x->kind == LX_STORE)
        t->hbm_written += *bytes = hbm_bytes(n, x, nest);
    else if (x->kind == LX_RING)
        t->ring += *bytes = ring_bytes(n, s->tensor, &n->parts[x->source], &n->parts[x->stay]) * fills;
    else {
        *bytes = all_parts_bytes(n, s->tensor, &n->parts[x->stay]) * fills;
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
