/* Graph to problem: lives from the order of the ops, costs from the traffic that a place on chip would
 * save, in-place edges, and the reason why a tensor may not be on chip at all.
 *
 * One tick an op. Every tensor becomes a buffer, in the same order, so that a buffer's number is its
 * tensor's. The cost of a tensor off chip is its bytes times its appearances as an operand: exactly what
 * traffic_of counts, so that traffic = traffic of a perfect placement + spill. */
#include "scratchpad/build.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct gathered {
    int64_t accesses;
    int32_t use_count, first_op, last_op;
    const struct lx_op *extern_op;
};

static int32_t operand(const struct lx_op *op, int i)
{
    return i < op->input_count ? op->inputs[i] : op->output;
}

static void gather(const struct lx_graph *g, struct gathered *all)
{
    for (int32_t i = 0; i < g->tensor_count; i++) all[i].first_op = all[i].last_op = -1;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i <= g->ops[o].input_count; i++) {
            struct gathered *t = &all[operand(&g->ops[o], i)];
            t->accesses++;
            if (t->last_op != o) t->use_count++;
            if (t->first_op < 0) t->first_op = o;
            t->last_op = o;
            if (g->ops[o].kind->traits & LX_EXTERN) t->extern_op = &g->ops[o];
        }
}

/* The first reason that holds, or NULL. */
static const char *barred(const struct lx_tensor *t, const struct gathered *u, struct arena *memory,
                          lx_status *st)
{
    const char *text = NULL;
    if (u->use_count == 0)
        text = "no op uses it";
    else if (u->extern_op)
        text = arena_format(memory, "op %s is extern and works on HBM only", u->extern_op->name);
    else if (t->role == LX_INPUT || t->role == LX_WEIGHT)
        text = "graph input: it arrives in HBM";
    else if (t->role == LX_OUTPUT)
        text = "graph output: it leaves through HBM";
    else
        return NULL;
    if (!text) status_no_memory(st);
    return text;
}

/* May `op` write its output over input i? Same bytes in the same order, and the input dies here. */
static bool runs_in_place(const struct lx_graph *g, const struct lx_op *op, int i)
{
    const struct lx_tensor *in = &g->tensors[op->inputs[i]], *out = &g->tensors[op->output];
    if (!(op->kind->traits & LX_IN_PLACE) || op->reduces) return false;
    if (in->bytes != out->bytes || (in->rank >= 0) != (out->rank >= 0)) return false;
    if (!op->map) return true;
    return in->dtype == out->dtype && in->rank == out->rank &&
           memcmp(op->map->index[i], op->map->index[op->input_count], (size_t)in->rank) == 0;
}

/* The same for every place where the op reads that tensor: x + transpose(x) must not overwrite x. */
static bool runs_in_place_of(const struct lx_graph *g, const struct lx_op *op, int32_t tensor)
{
    for (int i = 0; i < op->input_count; i++)
        if (op->inputs[i] == tensor && !runs_in_place(g, op, i)) return false;
    return true;
}

static bool add_parents(const struct lx_graph *g, const struct gathered *all, struct lx_buffer *buffers,
                        struct arena *memory, lx_status *st)
{
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        struct lx_buffer *child = &buffers[op->output];
        if (child->reason || all[op->output].first_op != o) continue;
        int32_t parents[LX_MAX_INPUTS], count = 0;
        for (int i = 0; i < op->input_count; i++) {
            int32_t in = op->inputs[i];
            bool again = false;
            for (int32_t k = 0; k < count; k++) again |= parents[k] == in;
            if (!again && in != op->output && !buffers[in].reason && all[in].last_op == o &&
                runs_in_place_of(g, op, in))
                parents[count++] = in;
        }
        child->parents = arena_copy_array(memory, parents, (size_t)count, sizeof *parents);
        child->parent_count = count;
        if (!child->parents) return status_no_memory(st);
    }
    return true;
}

static bool fill_buffer(const struct lx_graph *g, int32_t i, const struct gathered *u, struct lx_buffer *b,
                        struct arena *memory, lx_status *st)
{
    const struct lx_tensor *t = &g->tensors[i];
    *b = (struct lx_buffer){
        .name = t->name, .size = t->bytes, .fixed = -1, .start = u->first_op, .end = u->last_op + 1};
    if (u->use_count == 0) b->start = 0, b->end = 1;
    b->first_use_is_read = t->role == LX_INPUT || t->role == LX_WEIGHT;
    b->uses = arena_array(memory, (size_t)u->use_count, sizeof *b->uses);
    if (!b->uses) return status_no_memory(st);
    lx_status why = {0};
    b->reason = barred(t, u, memory, &why);
    if (why.code) return *st = why, false;
    /* What is off chip for its role costs nothing that a placement could save. */
    if (!b->reason && (!mul_i64(u->accesses, t->bytes, &b->spill_cost) || b->spill_cost > LX_INT_MAX))
        return status_set_at(st, LX_E_RANGE, g->file, t->line, t->column,
                             "tensor %s: its traffic is beyond 2^53 bytes", t->name);
    b->line = t->line;
    b->column = t->column;
    return true;
}

static bool from_ops(const struct lx_graph *g, struct arena *memory, struct lx_problem *out, lx_status *st)
{
    struct gathered *all = calloc((size_t)g->tensor_count + 1, sizeof *all);
    struct lx_buffer *buffers = arena_array(memory, (size_t)g->tensor_count, sizeof *buffers);
    bool ok = all && buffers ? true : status_no_memory(st);
    if (ok) gather(g, all);
    for (int32_t i = 0; ok && i < g->tensor_count; i++)
        ok = fill_buffer(g, i, &all[i], &buffers[i], memory, st);
    for (int32_t o = 0; ok && o < g->op_count; o++)
        for (int i = 0; i <= g->ops[o].input_count; i++) {
            struct lx_buffer *b = &buffers[operand(&g->ops[o], i)];
            int64_t *uses = (int64_t *)b->uses; /* ours: allocated above */
            if (b->use_count == 0 || uses[b->use_count - 1] != o) uses[b->use_count++] = o;
        }
    ok = ok && add_parents(g, all, buffers, memory, st);
    free(all);
    *out = (struct lx_problem){LX_SPILL, lx_device_usable(&g->device), g->device.stick_bytes, g->tensor_count,
                               buffers};
    return ok;
}

bool problem_from_graph(const struct lx_graph *g, int objective, struct arena *memory, struct lx_problem *out,
                        lx_status *st)
{
    if (g->is_list) {
        int64_t capacity = g->capacity >= 0 ? g->capacity : lx_device_usable(&g->device);
        *out = (struct lx_problem){g->objective, capacity, g->alignment, g->buffer_count, g->buffers};
    } else if (!from_ops(g, memory, out, st))
        return false;
    if (objective >= 0) out->objective = (enum lx_objective)objective;
    lx_status why;
    if (!lx_problem_validate(out, &why))
        return status_set_at(st, why.code, g->file, why.line, why.column, "%s", why.text);
    if (traffic_of(g, out, NULL) > LX_INT_MAX)
        return status_set_at(
            st, LX_E_RANGE, g->file, 0, 0,
            "the traffic of all operands together is beyond 2^53 bytes, the most that a plan file can say");
    return true;
}

int64_t traffic_of(const struct lx_graph *g, const struct lx_problem *p, const int64_t *address)
{
    int64_t bytes = 0;
    if (g->is_list) {
        for (int32_t i = 0; i < p->count; i++)
            if (!address || address[i] < 0) bytes += p->buffers[i].spill_cost;
        return bytes;
    }
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i <= g->ops[o].input_count; i++) {
            int32_t t = operand(&g->ops[o], i);
            if ((!address || address[t] < 0) && !add_i64(bytes, g->tensors[t].bytes, &bytes))
                return INT64_MAX;
        }
    return bytes;
}
