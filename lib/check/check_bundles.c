/* Bundles: runs of ops that are launched together. The first begins with the first op, and they follow each
 * other. An op that wipes the scratchpads is a bundle by itself. A bundle of several ops has no more tensors
 * in HBM than the device allows. */
#include "check/check.h"

struct count {
    const struct checker *c;
    int32_t *seen; /* per tensor: 1 + the last bundle that had it in HBM */
    int32_t bundle;
    struct lx_bundle own;
};

static void count_tensor(struct count *n, int32_t tensor)
{
    n->own.operands++;
    n->own.tensors += n->seen[tensor] != n->bundle + 1;
    n->seen[tensor] = n->bundle + 1;
}

static bool check_bundles_refuse(const struct count *n, int32_t first, const char *why)
{
    return status_set(n->c->st, LX_E_NO, "the bundle that begins with op %s %s", n->c->g->ops[first].name,
                      why);
}

bool check_bundles(const struct checker *c)
{
    const struct lx_plan *p = c->p;
    struct count n = {.c = c, .seen = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof *n.seen)};
    int32_t next = 0;
    bool ok = (p->bundle_count == 0) == (c->g->op_count == 0);
    for (int32_t i = 0; ok && i < p->bundle_count; i++)
        ok = i == 0 ? p->bundles[0].first == 0
                    : p->bundles[i].first > p->bundles[i - 1].first && p->bundles[i].first < c->g->op_count;
    if (!ok)
        return status_set(c->st, LX_E_NO, "the bundles of the plan are not all ops, one after the other");
    for (; n.bundle < p->bundle_count; n.bundle++) {
        int32_t first = p->bundles[n.bundle].first;
        int32_t end = n.bundle + 1 < p->bundle_count ? p->bundles[n.bundle + 1].first : c->g->op_count;
        n.own = (struct lx_bundle){0};
        for (int32_t o = first; o < end; o++) {
            for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++)
                if (p->accesses[a].stay < 0 || p->answer.address[p->accesses[a].stay] < 0)
                    count_tensor(&n, p->accesses[a].tensor);
            for (; next < p->transfer_count && p->transfers[next].tick == o; next++)
                if (lx_through_hbm(p->transfers[next].kind))
                    count_tensor(&n, p->stays[p->transfers[next].stay].tensor);
            n.own.cores = max_i64(n.own.cores, c->traffic[o].cores);
        }
        const struct lx_bundle *b = &p->bundles[n.bundle];
        int64_t limit = c->g->device.bundle_tensors;
        for (int32_t o = first; o < end && end > first + 1; o++)
            if (c->g->ops[o].kind->traits & LX_WIPES)
                return check_bundles_refuse(&n, first, "has an op that must be one by itself");
        bool behind = n.bundle + 1 < p->bundle_count &&
                      !((c->g->ops[first].kind->traits | c->g->ops[end].kind->traits) & LX_WIPES);
        if (b->non_terminal && !(behind && c->g->device.lx_survives))
            return check_bundles_refuse(&n, first,
                                        behind ? "is non-terminal, but this device wipes its scratchpads "
                                                 "behind every bundle (lx_survives 0)"
                                               : "is non-terminal, but no bundle of the device comes next");
        if (limit > 0 && end > first + 1 && n.own.tensors > limit)
            return check_bundles_refuse(&n, first, "has more tensors in HBM than the device allows");
        if (b->tensors != n.own.tensors || b->operands != n.own.operands || b->cores != n.own.cores)
            return check_bundles_refuse(
                &n, first, "has other numbers of tensors, operands or cores than the plan claims");
    }
    return true;
}

/* Predicted times come from the maker's model; only their sums are checked. The times of a bundle's ops make
 * the bundle's, the bundles' times the plan's, on both clocks; each is there, finite and not below 0. */

static bool is_time(double us)
{
    return isfinite(us) && us >= 0;
}

static bool check_times_sums_right(const struct checker *c, const char *what, double all, double parts)
{
    /* Numbers in files have nine digits. */
    if (is_time(all) && is_time(parts) && fabs(all - parts) <= 1e-8 * (fabs(all) + fabs(parts)) + 1e-12)
        return true;
    return status_set(c->st, LX_E_NO, "%s takes %.9g us, as the plan says, but its parts take %.9g", what,
                      all, parts);
}

bool check_times(const struct checker *c)
{
    double device = 0, all = 0;
    for (int32_t i = 0; i < c->p->bundle_count; i++) {
        const struct lx_bundle *b = &c->p->bundles[i];
        double ops_device = 0, ops_all = 0;
        for (int32_t o = b->first; o < b->first + b->count; o++) {
            const struct lx_op_traffic *t = &c->p->traffic[o];
            if (!is_time(t->device_us) || !is_time(t->end_to_end_us))
                return status_set(c->st, LX_E_NO, "op %s takes a time that is none", c->g->ops[o].name);
            ops_device += t->device_us;
            ops_all += t->end_to_end_us;
        }
        if (!check_times_sums_right(c, "a bundle", b->device_us, ops_device) ||
            !check_times_sums_right(c, "a bundle from end to end", b->end_to_end_us, ops_all))
            return false;
        device += b->device_us;
        all += b->end_to_end_us;
    }
    return check_times_sums_right(c, "the plan", c->p->figures.device_us, device) &&
           check_times_sums_right(c, "the plan from end to end", c->p->figures.end_to_end_us, all);
}
