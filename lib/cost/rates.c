/* The rates of a device: each number of its cost table times what that goes with. */
#include "cost/rates.h"

static double rates_scale(const struct lx_device *d, const struct cost_table *t, enum cost_scale scale)
{
    switch (scale) {
    case COST_BY_HBM: return d->hbm_gb_per_s / t->hbm_gb_per_s;
    case COST_OVER_HBM: return t->hbm_gb_per_s / d->hbm_gb_per_s;
    case COST_BY_RING: return d->ring_gb_per_s / t->ring_gb_per_s;
    case COST_OVER_PSUM: return t->psum_ring_gb_per_s / d->psum_ring_gb_per_s;
    case COST_BY_LX: return d->lx_gb_per_s / t->lx_gb_per_s;
    case COST_BY_PEAK: return d->peak_gflop_per_s / t->peak_gflop_per_s;
    case COST_FIXED:
    case COST_SCALE_COUNT: break;
    }
    return 1;
}

double cost_rate(const struct lx_device *d, enum cost_constant_id id)
{
    const struct cost_table *t = lx_device_costs(d);
    return t->number[id].value * rates_scale(d, t, t->number[id].scale);
}

struct cost_rates cost_rates_of(const struct lx_device *d)
{
    const struct cost_table *t = lx_device_costs(d);
    struct cost_rates r = {.hides_compute = t->hides_compute, .shares_sums = t->shares_sums};
    double by[COST_SCALE_COUNT];
    for (enum cost_scale s = 0; s < COST_SCALE_COUNT; s++) by[s] = rates_scale(d, t, s);
    for (int i = 0; i < COST_CONSTANT_COUNT; i++) r.value[i] = t->number[i].value * by[t->number[i].scale];
    if (t->whole_tiles) {
        r.tile_rows = (double)d->tile_rows;
        r.tile_columns = (double)d->tile_columns;
    }
    return r;
}
