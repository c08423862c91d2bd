/* Every figure of a plan of a graph against the one that was counted, or follows from what is stated. Costs
 * of buffers, what a perfect placement would move and predicted times are claims of the planner: nothing
 * here depends on them. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stddef.h>

/* Per op: what the plan says and what was counted. */
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

static int64_t check_figures_value_at(const void *base, size_t offset)
{
    return *(const int64_t *)(const void *)((const char *)base + offset);
}

static bool check_figures_same(const struct checker *c, const char *subject, const char *name,
                               const char *what, int64_t claimed, int64_t counted)
{
    if (claimed == counted) return true;
    return status_set(c->st, LX_E_NO, "%s%s: the plan claims %lld %s, but has %lld", subject, name,
                      (long long)claimed, what, (long long)counted);
}

/* The first and the last op that a buffer serves, as the accesses say. */
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
        /* Of an op with nothing on chip and no nest. */
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
        /* Who reads and writes, and what that moves through HBM where it is off chip. */
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
                                    access_bytes(c, &k, o, i)))
                return false;
        }
        for (size_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++)
            if (!check_figures_same(c, "op ", c->g->ops[o].name, op_rows[i].what,
                                    check_figures_value_at(&c->p->traffic[o], op_rows[i].offset),
                                    check_figures_value_at(&c->traffic[o], op_rows[i].offset)))
                return false;
    }
    if (!uses_right(c)) return false;
    check_figures_add_up(c);
    return check_figures_same(c, "all ops", "", "bytes of HBM traffic", claimed->hbm_bytes, f->hbm_bytes) &&
           check_figures_same(c, "all ops", "", "bytes over the data ring", claimed->ring_bytes,
                              f->ring_bytes) &&
           check_figures_same(c, "all ops", "", "bytes of HBM traffic with nothing on chip",
                              claimed->baseline_hbm_bytes, f->baseline_hbm_bytes) &&
           check_figures_same(c, "scratchpads", "", "bytes in use", claimed->height_bytes, f->height_bytes) &&
           check_figures_same(c, "all ops", "", "bytes of spill", claimed->spill_bytes,
                              f->hbm_bytes - claimed->perfect_hbm_bytes);
}
