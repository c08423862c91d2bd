/* What is handed over to code generation, read back: places, kernels and copies against the plan; starts and steps of every
 * core against all sticks that it touches, found one by one, in several iterations of nests. */
#include "support/export_plans.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/rng.h"
#include "device/memory/machine.h"
#include "device/memory/stick_box.h"

/* A value that may stand once for all cores. */
static int64_t per_core(const cJSON *v, int c)
{
    if (cJSON_IsArray(v)) v = cJSON_GetArrayItem(v, c);
    assert_true(cJSON_IsNumber(v));
    return (int64_t)v->valuedouble;
}

/* ---- Kernels. ---- */

static bool lists(const cJSON *array, int32_t number)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, array) if (v->valuedouble == number) return true;
    return false;
}

/* Does the tensor go through HBM in ops [first, last]? */
static bool through_hbm(const struct lx_plan *p, int32_t tensor, int32_t first, int32_t last)
{
    for (int32_t a = p->access_at[first]; a < p->access_at[last + 1]; a++)
        if (p->accesses[a].tensor == tensor &&
            (p->accesses[a].stay < 0 || p->answer.address[p->accesses[a].stay] < 0))
            return true;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (lx_through_hbm(p->transfers[i].kind) && p->transfers[i].tick >= first &&
            p->transfers[i].tick <= last && p->stays[p->transfers[i].stay].tensor == tensor)
            return true;
    return false;
}

static bool accessed(const struct lx_plan *p, int32_t tensor, int32_t first, int32_t last)
{
    for (int32_t a = p->access_at[first]; a < p->access_at[last + 1]; a++)
        if (p->accesses[a].tensor == tensor) return true;
    return false;
}

static void check_kernels(const struct lx_plan *p, const cJSON *kernels)
{
    int32_t k = 0;
    const cJSON *v;
    assert_int_equal(cJSON_GetArraySize(kernels), p->bundle_count);
    cJSON_ArrayForEach(v, kernels)
    {
        int32_t first = (int32_t)number_at(v, "first"), last = (int32_t)number_at(v, "last");
        const cJSON *arguments = item_at(v, "arguments"), *gone = item_at(v, "fall_away");
        assert_int_equal(cJSON_HasObjectItem(v, "non_terminal"), p->bundles[k].non_terminal);
        assert_int_equal(cJSON_GetArraySize(arguments), p->bundles[k++].tensors);
        for (int32_t t = 0; t < p->layouts->graph->tensor_count; t++) {
            bool hbm = through_hbm(p, t, first, last);
            assert_int_equal(lists(arguments, t), hbm);
            assert_int_equal(lists(gone, t), !hbm && accessed(p, t, first, last));
        }
    }
}

/* ---- Starts. ---- */

/* The lowest address that a core touches of an operand in its first turn of an iteration, over all its sticks; -1: none. */
struct lowest {
    int64_t stick;
};

static void take_lowest(void *context, int64_t local, int64_t global)
{
    struct lowest *x = context;
    (void)global;
    if (local >= 0 && (x->stick < 0 || local < x->stick)) x->stick = local;
}

static struct box box_in_stay(const struct lx_plan *p, const struct lx_stay *s, int64_t core,
                              const struct iteration *at)
{
    const struct lx_layout *l = &p->layouts->layouts[s->tensor];
    struct lx_core_view v = lx_division_held(p->divisions, s->view_op, s->view_operand, s->hold);
    int64_t begin[LX_MAX_DEVICE_RANK] = {0};
    for (int level = 0; at->nest && level < s->hold; level++) {
        int dim = nest_tensor_of(p->layouts, at->nest, s->tensor).dim[level];
        for (int k = 0; k + 1 < l->rank; k++)
            if (dim >= 0 && l->host_dim[k] == dim) begin[k] = l->size[k] / v.tiles[k] * at->index[level];
    }
    return box_of_slice(l, &v, begin, core);
}

static int64_t touched_from(const struct lx_plan *p, int32_t op, int operand, int64_t core,
                            const struct iteration *at)
{
    struct op_index x;
    struct lx_launch_piece piece;
    struct slice slice;
    int64_t offset[LX_MAX_VARS];
    int32_t stay = lx_plan_place(p, op, operand), tensor = p->accesses[p->access_at[op] + operand].tensor;
    const struct lx_layout *l = &p->layouts->layouts[tensor];
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[op], &x);
    nest_tile_index(p->nests, p->nest_count, op, &x);
    assert_true(lx_op_launch_piece(&p->launches[op], &x, core, 0, &piece));
    iteration_offsets(at, p->launches[op].launch, offset);
    for (int v = 0; v < x.var_count; v++) {
        slice.from[v] = piece.from[v] + offset[v];
        slice.to[v] = piece.to[v] + offset[v];
    }
    struct arena memory = {0};
    struct region r = {0};
    struct box b = stay >= 0 ? box_in_stay(p, &p->stays[stay], core, at) : box_whole(l);
    struct lowest found = {-1};
    region_touched(l, &b, &x, operand, &slice, &memory, &r);
    region_visit(&r, l, &b, take_lowest, &found);
    arena_free(&memory);
    int64_t base = stay >= 0 ? p->answer.address[stay] : p->hbm_address[tensor];
    return found.stick < 0 ? -1 : base + found.stick * l->stick_bytes;
}

/* Iterations to look at: the first, the last and some between. */
static struct iteration iteration_to_try(const struct lx_plan *p, int32_t op, int turn, struct rng *random)
{
    struct iteration at = iteration_at(p, op);
    for (int l = 0; at.nest && l < at.nest->level_count; l++)
        at.index[l] = turn == 0   ? 0
                      : turn == 1 ? at.nest->tiles[l] - 1
                                  : rng_between(random, 0, at.nest->tiles[l] - 1);
    return at;
}

static void check_starts(const struct lx_plan *p, int32_t op, int k, const cJSON *operand, const cJSON *cores,
                         struct rng *random)
{
    const cJSON *starts = item_at(operand, "start");
    int32_t nest = nest_of_op(p->nests, p->nest_count, op);
    int count = cJSON_GetArraySize(cores);
    for (int turn = 0; turn < (nest >= 0 ? 4 : 1); turn++) {
        struct iteration at = iteration_to_try(p, op, turn, random);
        for (int c = 0; c<count; c += count> 8 ? 5 : 1) {
            int64_t core = (int64_t)cJSON_GetArrayItem(cores, c)->valuedouble, start = per_core(starts, c);
            for (int l = 0; at.nest && l < at.nest->level_count; l++)
                start += at.index[l] * per_core(cJSON_GetArrayItem(item_at(operand, "steps"), l), c);
            int64_t wanted = touched_from(p, op, k, core, &at);
            if (start != wanted)
                fail_msg("%s, op %s, operand %d, core %d, try %d: %lld, not %lld", p->graph->name,
                         p->layouts->graph->ops[op].name, k, (int)core, turn, (long long)start,
                         (long long)wanted);
        }
    }
}

/* ---- Ops. ---- */

static void check_operand(const struct lx_plan *p, int32_t op, int k, const cJSON *v)
{
    const struct lx_access *a = &p->accesses[p->access_at[op] + k];
    int32_t stay = lx_plan_place(p, op, k);
    assert_int_equal(number_at(v, "tensor"), a->tensor);
    assert_string_equal(word_at(v, "memory"), stay >= 0 ? "lx" : "hbm");
    assert_string_equal(word_at(v, "use"), !a->writes ? "read" : a->reads ? "update" : "write");
    if (stay < 0) return;
    assert_true(number_at(v, "address") == (double)p->answer.address[stay]);
    assert_true(number_at(v, "bytes") == (double)p->problem.buffers[stay].size);
}

/* Cores that work on it are as many as the splits make. */
static void check_splits(const struct lx_plan *p, int32_t op, const cJSON *v, int cores)
{
    double all = 1;
    const cJSON *s;
    cJSON_ArrayForEach(s, item_at(v, "splits")) all *= number_at(s, "slices");
    bool local = p->launches[op].launch && p->launches[op].launch->mode == LX_PARTITION_LOCAL_SHARD;
    if (local && all == (double)p->divisions->at[op].cores_used) assert_true(cores <= (int)all);
}

static int copies_of(const cJSON *v)
{
    int n = 0;
    const cJSON *c;
    cJSON_ArrayForEach(c, v)
    {
        bool store = strcmp(word_at(c, "copy"), "store") == 0, load = strcmp(word_at(c, "copy"), "load") == 0;
        number_at(c, "lx");
        number_at(c, store || load ? "hbm" : "from");
        n++;
    }
    return n;
}

/* Bytes of a part's operands, and of the copies of a kind that it makes. */
static int64_t part_of(const cJSON *part, const cJSON *copies, const char *kind)
{
    int64_t bytes = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, part) bytes += (int64_t)number_at(v, "bytes");
    cJSON_ArrayForEach(v, copies) if (strcmp(item_at(v, "copy")->valuestring, kind) == 0) bytes +=
        (int64_t)number_at(v, "bytes");
    return bytes;
}

/* Seed 002 has an intrinsic "different per kernel type", one for "Reader/Writer", one for "Compute". Reader and writer
 * move all that the op has through HBM, the compute part what it has in LX; each operand is named where it moves. */
static void check_parts(const struct lx_plan *p, int32_t op, const cJSON *v)
{
    const struct lx_op_traffic *t = &p->traffic[op];
    const cJSON *parts = item_at(v, "parts"), *compute = item_at(parts, "compute"), *one;
    const char *const names[] = {"reader", "writer"};
    assert_int_equal(part_of(item_at(parts, "reader"), item_at(v, "before"), "load"), t->hbm_read);
    assert_int_equal(part_of(item_at(parts, "writer"), item_at(v, "after"), "store"), t->hbm_written);
    assert_int_equal(number_at(compute, "lx_read"), t->lx_read);
    assert_int_equal(number_at(compute, "lx_written"), t->lx_written);
    for (int k = 0; k < 2; k++) cJSON_ArrayForEach(one, item_at(parts, names[k]))
        {
            const cJSON *operand = cJSON_GetArrayItem(item_at(v, "operands"), (int)number_at(one, "operand"));
            assert_string_equal(item_at(operand, "memory")->valuestring, "hbm");
        }
}

static void check_op(const struct lx_plan *p, int32_t op, const cJSON *v, struct rng *random)
{
    const cJSON *cores = item_at(v, "cores"), *operand;
    const struct lx_graph *g = p->layouts->graph;
    int k = 0;
    assert_string_equal(word_at(v, "name"), g->ops[op].name);
    check_splits(p, op, v, cJSON_GetArraySize(cores));
    cJSON_ArrayForEach(operand, item_at(v, "operands"))
    {
        check_operand(p, op, k, operand);
        bool plain = p->launches[op].kind == LX_LAUNCH_TILES && g->ops[op].window_count == 0;
        if (plain && p->layouts->layouts[p->accesses[p->access_at[op] + k].tensor].rank)
            check_starts(p, op, k, operand, cores, random);
        k++;
    }
    assert_int_equal(k, p->access_at[op + 1] - p->access_at[op]);
}

static void check_handover(const struct lx_plan *p)
{
    struct rng random = rng_seed(7);
    lx_status st = {0};
    size_t length;
    int32_t op = 0, copies = 0;
    if (!p->layouts) {
        assert_null(lx_export_write(p, NULL, "handover", &length, &st));
        assert_int_equal(st.code, LX_E_UNSUPPORTED);
        return;
    }
    struct exported_tree j = exported_json(p, "handover");
    const cJSON *v;
    check_kernels(p, item_at(j.root, "kernels"));
    assert_int_equal(cJSON_GetArraySize(item_at(j.root, "tensors")), p->layouts->graph->tensor_count);
    assert_int_equal(cJSON_GetArraySize(item_at(j.root, "nests")), p->nest_count);
    cJSON_ArrayForEach(v, item_at(j.root, "ops"))
    {
        check_op(p, op, v, &random);
        check_parts(p, op++, v);
        copies += copies_of(item_at(v, "before")) + copies_of(item_at(v, "after"));
    }
    assert_int_equal(op, p->layouts->graph->op_count);
    assert_int_equal(copies, p->transfer_count);
    cJSON_Delete(j.root);
}

static void handovers_are_the_plan(void **state)
{
    (void)state;
    each_export_plan(check_handover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(handovers_are_the_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
