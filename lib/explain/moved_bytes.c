/* Every HBM byte of a plan belongs to an access or a copy, these to a stay, and a stay to a tensor. */
#include "explain/moved_bytes.h"

const char *lx_byte_kind_word(enum lx_byte_kind k)
{
#define LX_BYTE_KIND_WORD(id, word) [id] = word,
    static const char *const words[] = {LX_BYTE_KINDS(LX_BYTE_KIND_WORD)};
#undef LX_BYTE_KIND_WORD
    return (int)k >= 0 && k < LX_BYTE_KIND_COUNT ? words[k] : "?";
}

/* Restickify ops that a pattern has itself are its own business. */
static bool is_relaid(const struct lx_layouts *l, int32_t tensor)
{
    for (int32_t i = 0; i < l->restickify_count; i++)
        if (l->restickifies[i].to == tensor) return true;
    return false;
}

enum lx_byte_kind lx_tensor_bytes_for(const struct lx_layouts *l, int32_t tensor)
{
    switch (l->graph->tensors[tensor].role) {
    case LX_WEIGHT:
        return LX_BYTES_WEIGHTS;
    case LX_INPUT:
    case LX_STATE:
        return LX_BYTES_INPUTS;
    case LX_OUTPUT:
        return LX_BYTES_OUTPUTS;
    case LX_INTERMEDIATE:
    case LX_ROLE_COUNT:
        break;
    }
    return is_relaid(l, tensor) ? LX_BYTES_RELAYOUTS : LX_BYTES_INTERMEDIATES;
}

void lx_plan_moved(const struct lx_plan *p, int64_t *moved)
{
    for (int32_t i = 0; i < p->problem.count; i++)
        moved[i] = p->layouts || p->answer.address[i] >= 0 ? 0 : p->problem.buffers[i].spill_cost;
    if (!p->layouts) return;
    const struct lx_graph *g = p->layouts->graph;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++) {
            const struct lx_access *a = &p->accesses[p->access_at[o] + i];
            if (a->stay < 0 || p->answer.address[a->stay] < 0)
                moved[a->stay < 0 ? a->tensor : a->stay] += a->bytes;
        }
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (lx_through_hbm(p->transfers[i].kind) && p->transfers[i].stay >= 0 &&
            p->transfers[i].stay < p->problem.count)
            moved[p->transfers[i].stay] += p->transfers[i].bytes;
}

struct lx_byte_sums lx_plan_byte_sums(const struct lx_plan *p, const int64_t *moved)
{
    struct lx_byte_sums sums = {{0}};
    int64_t all = 0;
    for (int32_t i = 0; i < p->problem.count; i++) {
        all += moved[i];
        if (moved[i])
            sums.bytes[p->layouts ? lx_tensor_bytes_for(p->layouts, p->stays[i].tensor) : LX_BYTES_SPILLS] +=
                moved[i];
    }
    if (!p->layouts) sums.bytes[LX_BYTES_LINKED] = p->figures.hbm_bytes - all;
    return sums;
}
