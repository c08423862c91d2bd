/* Every pattern, divided over 1 to 32 cores, by every solver and with every pass, executes: no fault, results
 * within their tolerance, every byte as planned; and plans with equal splits agree bit for bit. */
#include "device_plans.h"
#include "base/rng.h"

#include <math.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

struct variant {
    const char *name, *solver;
    struct lx_passes passes;
    int64_t lx;       /* bytes of a scratchpad; 0: the device's */
    bool same_splits; /* as the first variant: then results are the same bit for bit */
};

static const struct variant variants[] = {
    {"no LX", "greedy", {.stage = LX_STAGE_BASELINE}, 0, true},
    {"greedy", "greedy", {0}, 0, true},
    {"first-fit", "firstfit", {0}, 0, true},
    {"best-fit", "bestfit", {0}, 0, true},
    {"anneal", "anneal", {0}, 0, true},
    {"ilp", "ilp", {0}, 0, true},
    {"exact", "exact", {0}, 0, true},
    {"auto", "auto", {0}, 0, true},
    {"ring off", "bestfit", {.no_ring = true}, 0, true},
    {"clones by rule", "bestfit", {.clone = LX_CLONE_HEURISTIC}, 0, true},
    {"reductions", "bestfit", {.stage = LX_STAGE_REDUCTIONS}, 0, true},
    {"evict, tight", "bestfit", {.evict = true}, 150000, true},
    {"not in place, tight", "firstfit", {.no_in_place = true, .no_outputs = true}, 100096, true},
    {"reorder", "greedy", {.reorder = true, .evict = true}, 300032, false},
    {"co-optimised", "bestfit", {.cooptimise = LX_COOPTIMISE_FULL}, 0, false},
    {"flip", "bestfit", {.cooptimise = LX_COOPTIMISE_FLIP}, 0, false},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

static int runs;

static struct lx_run_result *execute(const struct lx_plan *p, const struct lx_reference *ref,
                                     const char *what, int64_t cores)
{
    struct lx_device_options how = {.threads = 2, .reference = ref};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s, %s, %lld cores: %s", p->graph->name, what, (long long)cores, st.text);
    if (!r->ok)
        fail_msg("%s, %s, %lld cores: %s (%lld faults, %d wrong, %d unequal)", p->graph->name, what,
                 (long long)cores, what_is_wrong(r), (long long)r->fault_count, (int)r->wrong_ops,
                 (int)r->unequal_ops);
    runs++;
    return r;
}

/* The hash of every op's output; ops are the same for all plans with equal splits. */
static void check_bits(const struct lx_run_result *r, const struct lx_run_result *first, const char *what)
{
    assert_int_equal(r->op_count, first->op_count);
    for (int32_t o = 0; o < r->op_count; o++)
        if (r->ops[o].hash != first->ops[o].hash) fail_msg("%s: op %d has other bits", what, (int)o);
    assert_true(r->output_hash == first->output_hash);
}

static void run_variant(const char *path, int64_t cores, const struct variant *v,
                        const struct lx_reference *ref, struct lx_run_result **first)
{
    struct lx_graph *g = read_graph(path);
    lx_status st = {0};
    set_cores(g, cores);
    if (v->lx) assert_true(lx_graph_set_capacity(g, v->lx, &st));
    struct lx_plan *p = plan_graph(g, v->solver, &v->passes);
    struct lx_run_result *r = execute(p, ref, v->name, cores);
    if (*first && v->same_splits) check_bits(r, *first, v->name);
    if (!*first && v->same_splits)
        *first = r;
    else
        lx_run_result_free(r);
    lx_plan_free(p);
}

static void run_pattern(const char *path, bool thin)
{
    static const int64_t counts[] = {1, 2, 4, 32};
    struct lx_graph *pattern = read_graph(path);
    lx_status st = {0};
    struct lx_reference *ref = lx_reference_make(pattern, 0, 2, &st);
    assert_non_null(ref);
    for (int k = 0; k < 4; k++) {
        struct lx_run_result *first = NULL;
        for (int v = 0; v < VARIANTS; v++)
            if (!thin || (v + k) % 4 == 1) run_variant(path, counts[k], &variants[v], ref, &first);
        lx_run_result_free(first);
    }
    lx_reference_free(ref);
    lx_graph_free(pattern);
}

static void run_folder(const char *folder)
{
    char path[600];
    struct dirent **list;
    snprintf(path, sizeof path, "%s/patterns/%s", SOURCE_DIR, folder);
    int n = scandir(path, &list, NULL, alphasort);
    assert_true(n > 2);
    for (int i = 0; i < n; i++) {
        if (strstr(list[i]->d_name, ".json")) {
            /* Large products take long under the sanitizers. */
            bool heavy = strstr(list[i]->d_name, "swiglu") || strstr(list[i]->d_name, "block");
            snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
            if (!SANITIZED || !heavy) run_pattern(path, SANITIZED || heavy);
        }
        free(list[i]);
    }
    free(list);
}

static void graphs_execute(void **state)
{
    (void)state;
    run_folder("graphs");
    print_message("%d runs of graphs\n", runs);
}

static void targets_execute(void **state)
{
    (void)state;
    run_folder("targets");
    print_message("%d runs with targets\n", runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs_execute), cmocka_unit_test(targets_execute)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
