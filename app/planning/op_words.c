/* Words about ops, taken from a plan's accesses and transfers. */
#include "planning/op_words.h"
#include "text/format.h"

static const struct lx_access *op_words_access_of(const struct lx_plan *p, int32_t op, int operand)
{
    return &p->accesses[p->access_at[op] + operand];
}

/* Bytes of the transfers of a kind that the op's tick makes for a tensor. */
static int64_t moved_at(const struct lx_plan *p, int32_t op, int32_t tensor, enum lx_transfer_kind kind)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        if (x->tick == op && x->kind == kind && p->stays[x->stay].tensor == tensor) bytes += x->bytes;
    }
    return bytes;
}

void add_place_words(const struct lx_plan *p, int32_t op, int operand, struct text *out)
{
    int32_t tensor = op_operand(&p->layouts->graph->ops[op], operand);
    if (lx_plan_place(p, op, operand) < 0) {
        text_format(out, "HBM: %s B", grouped(op_words_access_of(p, op, operand)->bytes).at);
        return;
    }
    int64_t loaded = moved_at(p, op, tensor, LX_LOAD), stored = moved_at(p, op, tensor, LX_STORE);
    text_add(out, "on chip");
    if (loaded) text_format(out, ", loaded: %s B", grouped(loaded).at);
    if (stored) text_format(out, ", and stored: %s B", grouped(stored).at);
}

/* Which operand of an op a tensor is; -1: none. */
static int op_words_operand_of(const struct lx_plan *p, int32_t op, int32_t tensor)
{
    const struct lx_op *o = &p->layouts->graph->ops[op];
    for (int k = 0; k < op_operand_count(o); k++)
        if (op_operand(&p->layouts->graph->ops[op], k) == tensor) return k;
    return -1;
}

static bool is_on_chip(const struct lx_plan *p, int32_t op, int32_t tensor)
{
    int operand = op_words_operand_of(p, op, tensor);
    return operand >= 0 && lx_plan_place(p, op, operand) >= 0;
}

enum cut_agreement add_cut_words(const struct lx_plan *p, int32_t op, int operand, int32_t other,
                                 struct text *out)
{
    int32_t tensor = op_operand(&p->layouts->graph->ops[op], operand), reader = op > other ? op : other;
    bool same = !lx_core_div_mismatch(p->divisions, op, other, tensor);
    text_add(out, same ? "same split as op " : "split differs from op ");
    add_printable(out, p->layouts->graph->ops[other].name, 40);
    if (same) return CUT_SAME;
    int64_t ring = moved_at(p, reader, tensor, LX_RING), bytes = 0;
    if (!is_on_chip(p, op, tensor) || !is_on_chip(p, other, tensor) ||
        (!ring && moved_at(p, reader, tensor, LX_LOAD))) {
        for (int k = 0; k < 2; k++) { /* accesses, loads and stores of the tensor at both ops */
            int32_t at = k ? other : op;
            int its = op_words_operand_of(p, at, tensor);
            bytes += moved_at(p, at, tensor, LX_LOAD) + moved_at(p, at, tensor, LX_STORE);
            if (its >= 0 && lx_plan_place(p, at, its) < 0) bytes += op_words_access_of(p, at, its)->bytes;
        }
        text_format(out, "; through HBM, %s B", grouped(bytes).at);
        return is_on_chip(p, op, tensor) && is_on_chip(p, other, tensor) ? CUT_RING : CUT_HBM;
    }
    /* The last relayout of the tensor before the reader; -1: none. */
    int32_t found = -1;
    for (int32_t i = 0; i < p->transfer_count && p->transfers[i].tick < reader; i++)
        if (p->transfers[i].kind == LX_RING && p->stays[p->transfers[i].stay].tensor == tensor) found = i;
    if (ring)
        text_format(out, "; relayout over the ring, %s B", grouped(ring).at);
    else if (found < 0)
        text_add(out, "; no data has to move");
    else {
        text_add(out, "; relayout over the ring for op ");
        add_printable(out, p->layouts->graph->ops[p->transfers[found].tick].name, 40);
        text_format(out, ", %s B", grouped(moved_at(p, p->transfers[found].tick, tensor, LX_RING)).at);
    }
    return CUT_RING;
}

/* The neighbour that cuts a tensor of the op as it does, the one with most bytes; -1: none. */
static int32_t agrees_with(const struct lx_plan *p, int32_t op, int64_t *bytes)
{
    const struct lx_graph *g = p->layouts->graph;
    int32_t found = -1;
    *bytes = 0;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int k = 0; o != op && k < op_operand_count(&g->ops[op]); k++) {
            int32_t t = op_operand(&p->layouts->graph->ops[op], k);
            const struct lx_op *other = &g->ops[o];
            bool made = op_operand_made(other, t) >= 0, feeds = made && k < g->ops[op].input_count;
            bool reads = k >= g->ops[op].input_count && !made && op_words_operand_of(p, o, t) >= 0;
            if (!(feeds || reads) || lx_plan_place(p, op, k) < 0 || !is_on_chip(p, o, t)) continue;
            if (op_words_access_of(p, op, k)->bytes <= *bytes || lx_core_div_mismatch(p->divisions, op, o, t))
                continue;
            *bytes = op_words_access_of(p, op, k)->bytes;
            found = o;
        }
    return found;
}

/* The operand that shrinks most per core against the op split alone. */
static void add_smaller_part(const struct lx_plan *p, int32_t op, struct text *out)
{
    const struct lx_division *now = &p->divisions->at[op], *alone = lx_plan_divided_alone(p, op);
    int64_t most = 0;
    int found = -1;
    for (int k = 0; alone && alone->operand_count == now->operand_count && k < now->operand_count; k++)
        if (alone->operands[k].core_bytes - now->operands[k].core_bytes > most) {
            most = alone->operands[k].core_bytes - now->operands[k].core_bytes;
            found = k;
        }
    if (found < 0) {
        text_add(out, ": fewer bytes in total");
        return;
    }
    text_format(out, ": %s B of ", grouped(now->operands[found].core_bytes).at);
    add_printable(out, p->layouts->graph->tensors[op_operand(&p->layouts->graph->ops[op], found)].name, 30);
    text_format(out, " per core, alone it would be %s B", grouped(alone->operands[found].core_bytes).at);
}

void add_split_words(const struct lx_plan *p, int32_t op, int split, struct text *out)
{
    const struct lx_split *s = &p->divisions->at[op].splits[split];
    int64_t bytes;
    if (s->rule != LX_SPLIT_CHOSEN) {
        text_format(out, "%s: %s", lx_split_rule_word(s->rule), lx_split_rule_help(s->rule));
        return;
    }
    text_add(out, p->joint.searched || p->asks_time ? "co-optimised" : "given by the plan");
    int32_t other = agrees_with(p, op, &bytes);
    if (other < 0) {
        add_smaller_part(p, op, out);
        return;
    }
    text_add(out, ": same split as op ");
    add_printable(out, p->layouts->graph->ops[other].name, 40);
    text_format(out, ", %s B stay on chip", grouped(bytes).at);
}

struct words run_progress_words(const struct lx_run_progress *so_far)
{
    struct words w;
    int n = so_far->part == LX_RUN_INPUTS
                ? snprintf(w.at, sizeof w.at, "filling inputs: %.1f of %.1f MB", (double)so_far->done / 1e6,
                           (double)so_far->of / 1e6)
                : snprintf(w.at, sizeof w.at, "%sop %s of %s",
                           so_far->part == LX_RUN_REFERENCE ? "fp64 reference: " : "",
                           grouped(so_far->done).at, grouped(so_far->of).at);
    if (so_far->iterations > 1)
        snprintf(w.at + n, sizeof w.at - (size_t)n, ", iteration %s of %s", grouped(so_far->iteration + 1).at,
                 grouped(so_far->iterations).at);
    return w;
}
