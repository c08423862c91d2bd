/* Reading back, comparing with what was kept, and judging. */
#include "device/verify.h"
#include "base/hash.h"
#include "device/memory/dtypes.h"
#include "device/reference/judge_op.h"

#include <stdlib.h>
#include <string.h>

int64_t items_bytes(const struct machine *m, int32_t tensor)
{
    const struct lx_layout *l = &m->layouts[tensor];
    return layout_items(l) * number_types[l->dtype].item;
}

bool verifier_make(struct machine *m, struct verifier *v)
{
    const struct lx_graph *g = m->graph;
    v->kept = calloc((size_t)g->tensor_count + 1, sizeof *v->kept);
    v->last_op = arena_array(m->memory, (size_t)g->tensor_count + 1, sizeof *v->last_op);
    if (!v->kept || !v->last_op) return false;
    for (int32_t t = 0; t < g->tensor_count; t++)
        v->last_op[t] = g->tensors[t].role == LX_OUTPUT ? g->op_count : -1;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count + op_keeps(&g->ops[o]); i++) {
            int32_t *last = &v->last_op[op_operand(&g->ops[o], i)];
            *last = *last > o ? *last : o;
        }
    return true;
}

static void drop_before(struct verifier *v)
{
    for (int i = 0; i <= LX_MAX_INPUTS; i++) {
        free(v->own[i]);
        v->before[i] = v->own[i] = NULL;
    }
}

void verifier_free(struct machine *m, struct verifier *v)
{
    drop_before(v);
    for (int32_t t = 0; v->kept && t < m->graph->tensor_count; t++) free(v->kept[t]);
    free(v->kept);
}

/* Room up to whole words, which ops on bytes read. */
static void *room_for(struct machine *m, int32_t tensor)
{
    void *items = calloc((size_t)items_bytes(m, tensor) / 8 + 1, 8);
    if (!items) m->no_memory = true;
    return items;
}

void *verify_room(struct machine *m, struct verifier *v, int32_t tensor)
{
    if (!v->kept[tensor]) v->kept[tensor] = room_for(m, tensor);
    return v->kept[tensor];
}

/* What a tensor holds from now on. */
static void keep(struct machine *m, struct verifier *v, int32_t tensor, const void *items)
{
    if (v->last_op[tensor] < m->tick || !verify_room(m, v, tensor)) return;
    memcpy(v->kept[tensor], items, (size_t)items_bytes(m, tensor));
}

int64_t verify_altered(const struct machine *m, const struct verifier *v, int32_t tensor, const void *items)
{
    const unsigned char *kept = v->kept ? v->kept[tensor] : NULL, *now = items;
    int64_t bytes = items_bytes(m, tensor), item = number_types[m->layouts[tensor].dtype].item, n = 0;
    if (!kept || memcmp(kept, now, (size_t)bytes) == 0) return 0;
    for (int64_t i = 0; i < bytes; i += item) n += memcmp(kept + i, now + i, (size_t)item) != 0;
    return n;
}

/* What is as it was kept is not copied; what the parts do not cover is taken to be so. */
static bool read_before(struct machine *m, struct verifier *v, int operand, struct lx_op_run *op)
{
    int32_t tensor = op_operand(machine_op(m), operand);
    int64_t differing = 0;
    v->before[operand] = v->kept[tensor];
    if (v->kept[tensor] && !compare_operand(m, operand, v->kept[tensor], &differing)) return false;
    op->altered += differing;
    if (v->kept[tensor] && !differing) return true;
    void *items = v->own[operand] = room_for(m, tensor);
    v->before[operand] = items;
    if (!items) return false;
    if (v->kept[tensor]) memcpy(items, v->kept[tensor], (size_t)items_bytes(m, tensor));
    return read_operand(m, operand, items);
}

void verify_before(struct machine *m, struct verifier *v, struct lx_op_run *op)
{
    const struct lx_op *o = machine_op(m);
    v->ready = true;
    for (int i = 0; v->ready && i < o->input_count + op_keeps(o); i++) v->ready = read_before(m, v, i, op);
}

/* What the op means: as the pattern has it, or a copy that the layout stage added. */
static struct op_items meant_by(const struct machine *m)
{
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    struct op_items x = {.g = m->graph, .op = machine_op(m)};
    if (origin >= 0) x = (struct op_items){.g = m->program.pattern, .op = &m->program.pattern->ops[origin]};
    return x;
}

static void judge_output(struct machine *m, const struct verifier *v, struct lx_op_run *op, const void *items)
{
    struct op_items x = meant_by(m);
    struct judged judged;
    int inputs = machine_op(m)->input_count;
    for (int i = 0; i < inputs; i++) x.inputs[i] = v->before[i];
    x.kept = op_keeps(x.op) ? v->before[inputs] : NULL;
    x.output = items;
    if (!judge_op(&x, m->pool, &judged)) {
        m->no_memory = true;
        return;
    }
    op->verified = true;
    op->wrong = judged.wrong;
    op->error = judged.error;
    op->bound = judged.bound;
    op->share = judged.share;
    op->largest = judged.largest;
}

/* Nobody but the host knows what it made. */
static bool is_done_by_host(const struct machine *m)
{
    return m->host.op && (machine_op(m)->kind->traits & LX_EXTERN);
}

static void drop_read(struct machine *m, struct verifier *v)
{
    const struct lx_op *o = machine_op(m);
    drop_before(v);
    for (int i = 0; i <= o->input_count; i++) {
        int32_t t = op_operand(o, i);
        if (v->last_op[t] > m->tick) continue;
        free(v->kept[t]);
        v->kept[t] = NULL;
    }
}

void verify_after(struct machine *m, struct verifier *v, struct lx_op_run *op, void *items)
{
    const struct lx_op *o = machine_op(m);
    int32_t tensor = o->output;
    if (m->no_memory || m->host_failed) return;
    bool there = read_operand(m, o->input_count, items);
    if (!(there && v->ready) && m->fault_count == 0)
        fault_plain(m, LX_FAULT_PLACE, NULL,
                    "an operand cannot be read back, so that nobody can judge the op");
    if (there) {
        op->hash = hash_words(HASH_START, items, (size_t)items_bytes(m, tensor));
        if (v->ready && !is_done_by_host(m)) judge_output(m, v, op, items);
        keep(m, v, tensor, items);
    }
    drop_read(m, v);
}
