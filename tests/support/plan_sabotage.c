#include "support/plan_sabotage.h"

/* HBM. */
static cJSON *in_hbm(struct damage *d)
{
    return any_with(d, d->tensors, "hbm", NULL);
}

static bool move_in_hbm(struct damage *d)
{
    return add_to(in_hbm(d), "hbm", 128 * damage_shift(d, 30));
}

static bool misalign_hbm(struct damage *d)
{
    return add_to(in_hbm(d), "hbm", 1 + damage_below(d, 127));
}

static bool same_in_hbm(struct damage *d)
{
    cJSON *a = in_hbm(d), *b = in_hbm(d);
    return a && a != b && set_number(a, "hbm", number_of(b, "hbm"));
}

static bool swap_in_hbm(struct damage *d)
{
    cJSON *a = in_hbm(d), *b = in_hbm(d);
    if (!a || a == b) return false;
    double keep = number_of(a, "hbm");
    return set_number(a, "hbm", number_of(b, "hbm")) && set_number(b, "hbm", keep);
}

static bool nowhere(struct damage *d)
{
    return remove_key(in_hbm(d), "hbm");
}

/* The output of an op, off chip like one of its inputs, on that input's bytes. */
static bool over_own_input(struct damage *d)
{
    int n = cJSON_GetArraySize(d->ops), from = damage_below(d, n);
    for (int i = 0; i < n; i++) {
        const cJSON *o = cJSON_GetArrayItem(d->ops, (from + i) % n), *in = cJSON_GetObjectItem(o, "inputs");
        cJSON *to = cJSON_GetArrayItem(d->tensors, (int)number_of(o, "output"));
        cJSON *t = cJSON_GetArrayItem(d->tensors, in && in->child ? in->child->valueint : -1);
        if (t && to && t != to && number_of(t, "hbm") >= 0 && number_of(to, "hbm") >= 0)
            return set_number(to, "hbm", number_of(t, "hbm"));
    }
    return false;
}

static bool move_pool(struct damage *d)
{
    return add_to(d->graph, "pool_at", 128 * damage_shift(d, 4));
}

static bool small_pool(struct damage *d)
{
    return add_to(d->graph, "pool_bytes", -128);
}

static bool small_segment(struct damage *d)
{
    return add_to(d->graph, "segment_bytes", -128);
}

/* Launches. */
static cJSON *tiled(struct damage *d)
{
    return any_with(d, d->launches, "dims", NULL);
}

static cJSON *told_core(struct damage *d)
{
    return any_of(d, cJSON_GetObjectItem(tiled(d), "cores"));
}

static bool other_number(struct damage *d)
{
    return change_item(told_core(d), 0, damage_shift(d, 2));
}

static bool other_corner(struct damage *d)
{
    return change_item(told_core(d), 1 + damage_below(d, 2), 1);
}

static bool other_start(struct damage *d)
{
    return change_item(told_core(d), 3, damage_shift(d, 3));
}

static bool other_count(struct damage *d)
{
    return change_item(told_core(d), 4, damage_shift(d, 3));
}

static bool other_shard(struct damage *d)
{
    return change_item(told_core(d), 5 + damage_below(d, 2), damage_shift(d, 2));
}

static bool other_slice(struct damage *d)
{
    return change_item(told_core(d), 7, damage_shift(d, 2));
}

static bool change_dim(struct damage *d, int field, double by)
{
    cJSON *dims = cJSON_GetObjectItem(tiled(d), "dims");
    return change_item(any_of(d, dims), field, by);
}

static bool other_extent(struct damage *d)
{
    return change_dim(d, 0, damage_shift(d, 2));
}

static bool other_side(struct damage *d)
{
    return change_dim(d, 1, damage_shift(d, 40));
}

static bool other_parts(struct damage *d)
{
    return change_dim(d, 2, 1);
}

static bool other_length(struct damage *d)
{
    return change_dim(d, 3, damage_shift(d, 8));
}

static bool other_sum(struct damage *d)
{
    cJSON *l = any_with(d, d->launches, "sums", NULL);
    return change_item(any_of(d, cJSON_GetObjectItem(l, "sums")), damage_below(d, 3), 1);
}

static bool core_left_out(struct damage *d)
{
    cJSON *cores = cJSON_GetObjectItem(any_with(d, d->launches, "cores", NULL), "cores");
    int n = cJSON_GetArraySize(cores);
    if (n == 0) return false;
    cJSON_DeleteItemFromArray(cores, damage_below(d, n));
    return true;
}

static bool core_twice(struct damage *d)
{
    cJSON *cores = cJSON_GetObjectItem(any_with(d, d->launches, "cores", NULL), "cores");
    return cores && cJSON_AddItemToArray(cores, cJSON_Duplicate(any_of(d, cores), true));
}

static bool other_mode(struct damage *d)
{
    cJSON *l = tiled(d);
    const char *mode = cJSON_GetStringValue(cJSON_GetObjectItem(l, "mode"));
    bool local = mode && strcmp(mode, "local_shard") == 0;
    return mode &&
           cJSON_ReplaceItemInObject(l, "mode", cJSON_CreateString(local ? "global" : "local_shard")) &&
           cJSON_ReplaceItemInObject(l, "order", cJSON_CreateString(local ? "row_major" : "match_shard"));
}

static bool refused_launch(struct damage *d)
{
    cJSON *l = tiled(d);
    double number = number_of(l, "op");
    if (!l) return false;
    while (l->child) cJSON_DeleteItemFromObject(l, l->child->string);
    cJSON_AddStringToObject(l, "kind", "refused");
    return set_number(l, "op", number);
}

/* Bundles. */
static bool other_border(struct damage *d)
{
    cJSON *b = any_of(d, d->bundles);
    return b && b->prev->next == b ? add_to(b, "first", damage_shift(d, 2)) : false;
}

static bool more_borders(struct damage *d)
{
    cJSON *b = cJSON_CreateObject();
    int n = 0, at = 1 + damage_below(d, cJSON_GetArraySize(d->ops));
    cJSON_AddNumberToObject(b, "first", at);
    for (const cJSON *i = d->bundles->child; i && number_of(i, "first") < at; i = i->next) n++;
    return insert_at(d->bundles, n, b);
}

static bool forge_bundle(struct damage *d)
{
    static const char *const keys[] = {"tensors", "operands", "cores"};
    return add_to(any_of(d, d->bundles), keys[damage_below(d, 3)], 1);
}

/* Figures and claims. */
static bool forge_figure(struct damage *d)
{
    static const char *const keys[] = {"hbm_bytes", "spill_bytes", "baseline_hbm_bytes", "height_bytes"};
    return add_to(d->plan, keys[damage_below(d, 4)], 128 * damage_shift(d, 5));
}

static bool forge_op(struct damage *d)
{
    static const char *const keys[] = {"hbm_read", "hbm_written", "ring", "reduce_ring",
                                       "lx_read",  "lx_written",  "cores"};
    return add_to(any_of(d, d->ops), keys[damage_below(d, 7)], 128);
}

static bool forge_ring(struct damage *d)
{
    return add_to(d->graph, "ring_bytes", 128);
}

static bool forge_traffic(struct damage *d)
{
    return add_to(d->plan, "hbm_bytes", -128) && add_to(d->plan, "spill_bytes", -128);
}

static bool forge_bound(struct damage *d)
{
    double spill = number_of(d->plan, "spill_bytes");
    return set_number(d->plan, "bound_bytes", spill + 1 + damage_below(d, 4096)) &&
           remove_key(d->plan, "gap");
}

static bool forge_optimality(struct damage *d)
{
    if (number_of(d->plan, "bound_bytes") >= number_of(d->plan, "spill_bytes")) return false;
    return cJSON_ReplaceItemInObject(d->plan, "status", cJSON_CreateString("optimal"));
}

static bool forge_gap(struct damage *d)
{
    return add_to(d->plan, "gap", 0.25);
}

static bool forge_capacity(struct damage *d)
{
    return add_to(d->plan, "capacity", 128 * damage_shift(d, 100));
}

static bool forge_alignment(struct damage *d)
{
    return set_number(d->plan, "alignment", 64);
}

static bool forge_cores(struct damage *d)
{
    return add_to(d->graph, "cores", damage_shift(d, 40));
}

static bool forge_first(struct damage *d)
{
    return add_to(damage_placed(d), damage_below(d, 2) ? "first" : "last", damage_shift(d, 2));
}

static bool other_pattern(struct damage *d)
{
    cJSON *tensors = cJSON_GetObjectItem(cJSON_GetObjectItem(d->plan, "pattern"), "tensors");
    cJSON *shape = cJSON_GetObjectItem(any_with(d, tensors, "shape", NULL), "shape");
    return change_item(shape, 0, 64);
}

struct damage damage_of(cJSON *plan, struct rng *r)
{
    cJSON *g = cJSON_GetObjectItem(plan, "graph");
    return (struct damage){.plan = plan,
                           .graph = g,
                           .buffers = cJSON_GetObjectItem(plan, "buffers"),
                           .tensors = cJSON_GetObjectItem(g, "tensors"),
                           .ops = cJSON_GetObjectItem(g, "ops"),
                           .launches = cJSON_GetObjectItem(g, "launches"),
                           .transfers = cJSON_GetObjectItem(g, "transfers"),
                           .bundles = cJSON_GetObjectItem(g, "bundles"),
                           .rng = r};
}

const struct sabotage sabotages[SABOTAGES] = {
    {"a buffer moved", move_buffer, 0},
    {"a buffer within a stick", misalign, 1},
    {"a buffer beyond the scratchpad", beyond, 1},
    {"a buffer taken off chip", take_off, 0},
    {"a buffer put on chip", put_on, 0},
    {"two buffers swapped", swap_addresses, 0},
    {"two buffers at one address", same_address, 0},
    {"a buffer too large", grow, 0},
    {"a buffer too small", shrink, 1},
    {"a life that begins later", begin_later, 0},
    {"a life that ends sooner", end_sooner, 0},
    {"a life at another time", other_life, 0},
    {"a buffer of another tensor", other_tensor, 0},
    {"a buffer cut in another way", other_view, 0},
    {"a handover forged", forge_handover, 0},
    {"a handover left out", no_handover, 0},
    {"an access sent to HBM", to_hbm, 0},
    {"an access sent to another buffer", to_buffer, 0},
    {"an access that reads or writes otherwise", flip_access, 0},
    {"bytes of an access forged", forge_access, 0},
    {"a load left out", drop_load, 0},
    {"a store left out", drop_store, 0},
    {"a ring copy left out", drop_ring, 0},
    {"a copy at another tick", other_tick, 0},
    {"a copy of another buffer", other_buffer, 0},
    {"a ring copy from another buffer", other_source, 0},
    {"a load as a store", other_kind, 0},
    {"bytes of a copy forged", forge_copy, 1},
    {"a copy made twice", copy_twice, 0},
    {"a copy of nothing", copy_of_nothing, 0},
    {"twice the slices", more_slices, 0},
    {"slices that do not divide", odd_slices, 0},
    {"a split of another variable", other_variable, 0},
    {"a split left out", no_split, 0},
    {"sticks along another dimension", turn_sticks, 0},
    {"other padding", other_padding, 0},
    {"an op with other sticks", other_stick, 0},
    {"two ops in another order", swap_ops, 0},
    {"an op with another input", other_input, 0},
    {"an op with another output", other_output, 0},
    {"an op of another name", other_op, 0},
    {"two results swapped", swap_results, 0},
    {"a result left out", drop_result, 0},
    {"a result written twice", result_twice, 0},
    {"another result", other_result, 0},
    {"two results served as each other", swap_result_accesses, 0},
    {"a tensor moved in HBM", move_in_hbm, 0},
    {"a tensor within a stick of HBM", misalign_hbm, 0},
    {"two tensors at one place in HBM", same_in_hbm, 0},
    {"two tensors swapped in HBM", swap_in_hbm, 0},
    {"a tensor nowhere in HBM", nowhere, 0},
    {"an output over its op's own input", over_own_input, 0},
    {"the pool moved", move_pool, 0},
    {"the pool too small", small_pool, 0},
    {"HBM too small", small_segment, 0},
    {"a launch of another core", other_number, 1},
    {"a core at another place", other_corner, 0},
    {"another first tile", other_start, 1},
    {"another number of tiles", other_count, 1},
    {"another shard", other_shard, 0},
    {"another slice of the sum", other_slice, 1},
    {"a grid of another extent", other_extent, 1},
    {"tiles of another side", other_side, 0},
    {"other parts", other_parts, 0},
    {"parts of another length", other_length, 0},
    {"a sum of another length", other_sum, SUMS_OTHERWISE},
    {"a core left out of a launch", core_left_out, 1},
    {"a core launched twice", core_twice, 0},
    {"another mode of launch", other_mode, 0},
    {"a launch refused", refused_launch, 0},
    {"a border of a bundle moved", other_border, 0},
    {"a border of a bundle added", more_borders, 0},
    {"figures of a bundle forged", forge_bundle, 0},
    {"a figure of the plan forged", forge_figure, 0},
    {"a figure of an op forged", forge_op, 0},
    {"ring bytes forged", forge_ring, 1},
    {"less traffic claimed", forge_traffic, 1},
    {"a bound above the plan", forge_bound, 0},
    {"optimality without a bound", forge_optimality, 0},
    {"another gap", forge_gap, 0},
    {"another capacity", forge_capacity, 0},
    {"another alignment", forge_alignment, 0},
    {"other cores of the plan", forge_cores, 0},
    {"another first or last op of a buffer", forge_first, 0},
    {"another pattern", other_pattern, 0},
};
