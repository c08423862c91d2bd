/* What a problem asks of a solver beyond a plain list of buffers in one pool. */
#include "placement/problem.h"

#include <stdio.h>

static unsigned buffer_needs(const struct lx_buffer *b)
{
    unsigned needs = 0;
    if (b->life_count) needs |= LX_CAN_LIVES;
    if (b->alone) needs |= LX_CAN_PAIRS;
    if (b->must) needs |= LX_CAN_MUST;
    for (int32_t k = 0; b->on_costs && k < b->pool_count; k++)
        if (b->on_costs[k]) needs |= LX_CAN_CHARGES;
    return needs;
}

static unsigned pool_needs(const struct lx_problem *p)
{
    unsigned needs = p->pool_count > 1 ? LX_CAN_POOLS : 0;
    for (int32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].reserved_count) needs |= LX_CAN_RESERVED;
    return needs;
}

static unsigned bond_needs(const struct lx_bonds *b)
{
    unsigned needs = 0;
    if (b->apart_count || b->exclusive_count) needs |= LX_CAN_PAIRS;
    if (b->staging_count) needs |= LX_CAN_STAGING;
    if (b->same_place_count) needs |= LX_CAN_SAME_PLACE;
    if (b->together_count) needs |= LX_CAN_TOGETHER;
    if (b->reuse_count) needs |= LX_CAN_REUSE;
    for (int32_t i = 0; i < b->charge_count; i++)
        needs |= b->charges[i].cost == LX_FORBIDDEN ? LX_CAN_MUST | LX_CAN_CHARGES : LX_CAN_CHARGES;
    return needs;
}

unsigned lx_problem_needs(const struct lx_problem *p)
{
    unsigned needs = pool_needs(p) | bond_needs(&p->bonds);
    for (int32_t i = 0; i < p->count; i++) needs |= buffer_needs(&p->buffers[i]);
    return needs;
}

static const struct {
    unsigned bit;
    const char *words;
} features[] = {
    {LX_CAN_POOLS, "several pools"},
    {LX_CAN_LIVES, "several lives"},
    {LX_CAN_PAIRS, "pairs apart, exclusive or alone"},
    {LX_CAN_RESERVED, "reserved bytes"},
    {LX_CAN_TOGETHER, "groups that go together"},
    {LX_CAN_CHARGES, "charges and costs of being placed"},
    {LX_CAN_MUST, "musts and forbidden charges"},
    {LX_CAN_STAGING, "staging buffers"},
    {LX_CAN_REUSE, "reuse penalties"},
    {LX_CAN_SAME_PLACE, "groups of one place"},
};

const char *lx_needs_words(unsigned needs, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (needs & features[i].bit && n < size) {
            int wrote = snprintf(out + n, size - n, "%s%s", n ? ", " : "", features[i].words);
            n += wrote > 0 ? (size_t)wrote : 0;
        }
    return out;
}
