/* Every pattern, divided over 1 to 32 cores, by every solver and with every pass, executes: no fault, every op
 * within its bounds, every byte as planned; and plans with equal splits agree bit for bit. */
#include "support/device_plans.h"
#include "base/memory.h"
#include "base/rng.h"
#include "support/kind_lists.h"
#include "support/sampled.h"
#include "support/made_reference.h"

#include <stdlib.h>
#include <math.h>

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
    const struct lx_graph *g = with_cores(device_test_graph(path), cores);
    if (v->lx) g = with_capacity(g, v->lx);
    struct lx_plan *p = plan_graph(g, v->solver, &v->passes);
    struct lx_run_result *r = execute(p, ref, v->name, cores);
    /* Sums over tiles are rounded tile by tile, and running sums are other ops. */
    bool same = v->same_splits && p->nest_count == 0 && !p->graph->came_from;
    if (*first && same) check_bits(r, *first, v->name);
    if (!*first && same)
        *first = r;
    else
        lx_run_result_free(r);
    lx_plan_free(p);
}

/* At each number of cores one variant in `every`, another one each time. */
static void run_pattern(const char *path, int every)
{
    static const int64_t counts[] = {1, 2, 4, 32};
    static int turn;
    const struct lx_graph *pattern = device_test_graph(path);
    bool divides = pattern->tensors[0].rank >= 0; /* known by bytes only: one core, however many there are */
    lx_status st = {0};
    if (is_of_real_size(pattern)) {
        lx_graph_free(pattern);
        return;
    }
    struct lx_reference *ref = NULL;
    for (int k = 0; k < 4; k += divides ? 1 : 3) {
        struct lx_run_result *first = NULL;
        for (int v = 0; v < VARIANTS; v++) {
            if ((v + k + turn) % every != 0) continue;
            if (!ref) ref = made_reference(pattern, 0, 2, &st);
            assert_non_null(ref);
            run_variant(path, counts[k], &variants[v], ref, &first);
        }
        lx_run_result_free(first);
    }
    lx_reference_free(ref);
    lx_graph_free(pattern);
    turn += 3;
}

static void run_folder(const char *folder)
{
    char path[700];
    struct dirent **list;
    snprintf(path, sizeof path, "%s/patterns/%s", SOURCE_DIR, folder);
    int n = scandir(path, &list, NULL, alphasort);
    assert_true(n > 2);
    for (int i = 0; i < n; i++) {
        if (strstr(list[i]->d_name, ".json")) {
            /* Execution takes long, under the sanitizers most of all. */
            bool heavy = strstr(list[i]->d_name, "swiglu") || strstr(list[i]->d_name, "block");
            snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
            if (!SANITIZED || !heavy) run_pattern(path, !SAMPLED ? 1 : heavy ? 384 : 192);
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

static void team_patterns_execute(void **state)
{
    (void)state;
    run_folder("team");
    print_message("%d runs with those of teams\n", runs);
}

/* Random graphs: what the patterns of the project do not have. Extents that fill no stick, mixed types, sums
 * over odd lengths, tensors that are written twice, inserts, externs, transposed and broadcast operands. */
struct maker {
    struct rng r;
    struct text tensors, ops;
    int64_t extent[4]; /* of the letters a to d */
    char letters[40][5];
    int count, op_count;
    bool bytes;
};

static int64_t size_of(const struct maker *k, char letter)
{
    return k->extent[letter - 'a'];
}

static int add_tensor(struct maker *k, const char *letters, const char *role)
{
    static const char *const dtypes[] = {"fp16",  "fp16",  "fp16", "bf16", "bf16", "fp32", "fp32",
                                         "int32", "int64", "int8", "int4", "fp8",  "bool"};
    enum { DTYPES = sizeof dtypes / sizeof *dtypes };
    int n = k->count++;
    strcpy(k->letters[n], letters);
    text_format(&k->tensors, "%s{\"name\": \"t%d\", \"role\": \"%s\", \"dtype\": \"%s\", \"shape\": [",
                n ? ", " : "", n, role, dtypes[rng_below(&k->r, DTYPES)]);
    for (int i = 0; letters[i]; i++)
        text_format(&k->tensors, "%s%lld", i ? ", " : "", (long long)size_of(k, letters[i]));
    text_add(&k->tensors, "]}");
    return n;
}

static void add_op(struct maker *k, const char *kind, int a, int b, int out, bool with_einsum,
                   const char *more)
{
    text_format(&k->ops, "%s{\"name\": \"o%d\", \"kind\": \"%s\", \"inputs\": [\"t%d\"",
                k->op_count ? ", " : "", k->op_count, kind, a);
    k->op_count++;
    if (b >= 0) text_format(&k->ops, ", \"t%d\"", b);
    text_format(&k->ops, "], \"output\": \"t%d\"", out);
    if (with_einsum)
        text_format(&k->ops, ", \"einsum\": \"%s%s%s->%s\"", k->letters[a], b >= 0 ? "," : "",
                    b >= 0 ? k->letters[b] : "", k->letters[out]);
    text_format(&k->ops, "%s}", more);
}

static int some_tensor(struct maker *k)
{
    return (int)rng_below(&k->r, (uint64_t)k->count);
}

static const char *some_kind(struct maker *k, const struct kind_list *of)
{
    return of->at[rng_below(&k->r, (uint64_t)of->count)]->name;
}

static void subset(struct maker *k, const char *of, bool all_but_one, char *out)
{
    int n = 0, drop = (int)rng_below(&k->r, strlen(of));
    for (int i = 0; of[i]; i++)
        if (all_but_one ? i != drop : rng_below(&k->r, 2) == 0) out[n++] = of[i];
    out[n] = 0;
}

static void random_op(struct maker *k, const char *role)
{
    const struct kind_list unary = kinds_that(kind_is_unary), binary = kinds_that(kind_is_binary),
                           sums = kinds_that(kind_reduces);
    char part[5];
    int a = some_tensor(k);
    const char *x = k->letters[a];
    switch (rng_below(&k->r, 8)) {
    case 0:
    case 1: { /* with another operand that has some of the indices, in its own order */
        subset(k, x, false, part);
        if (!part[0] || rng_below(&k->r, 2)) strcpy(part, x);
        int b = add_tensor(k, part, "input");
        add_op(k, some_kind(k, &binary), a, b, add_tensor(k, x, role), true, "");
        return;
    }
    case 2:
        if (strlen(x) > 1) {
            subset(k, x, true, part);
            add_op(k, some_kind(k, &sums), a, -1, add_tensor(k, part, role), true, "");
            return;
        }
        break;
    case 3:
    case 4:
        if (strlen(x) == 2) { /* a product along one of its indices with a new one */
            char y[3] = {x[rng_below(&k->r, 2)], 'd', 0}, out[3] = {x[0] == y[0] ? x[1] : x[0], 'd', 0};
            if (strchr(x, 'd')) break;
            int b = add_tensor(k, y, "weight");
            add_op(k, "matmul", a, b, add_tensor(k, out, role), true, "");
            return;
        }
        break;
    case 5:
        if (strlen(x) == 2) {
            char more[60];
            snprintf(more, sizeof more, ", \"offset\": [%d, %d]", (int)rng_between(&k->r, -2, 2),
                     (int)rng_between(&k->r, -70, 70));
            add_op(k, "shift", a, -1, add_tensor(k, x, role), false, more);
            return;
        }
        break;
    case 6:
        if (rng_below(&k->r, 2)) {
            int b = some_tensor(k), out = add_tensor(k, x, role);
            add_op(k, rng_below(&k->r, 2) ? "extern" : "generic", a, b, out, false, "");
            return;
        }
        break;
    default: break;
    }
    add_op(k, some_kind(k, &unary), a, -1, add_tensor(k, x, role), true, "");
}

static const struct lx_graph *random_graph(uint64_t seed, lx_status *st)
{
    static const int64_t extents[] = {1, 3, 5, 16, 32, 48, 64, 96, 100, 128, 130, 192, 256, 320};
    static const char *const starts[] = {"ab", "ab", "abc", "ba", "a"};
    struct maker k = {.r = rng_seed(seed)};
    struct text t = {0};
    for (int i = 0; i < 4; i++) k.extent[i] = extents[rng_below(&k.r, sizeof extents / sizeof *extents)];
    add_tensor(&k, starts[rng_below(&k.r, 5)], "input");
    int ops = (int)rng_between(&k.r, 2, 9);
    for (int i = 0; i < ops; i++)
        random_op(&k, i == ops - 1 || !rng_below(&k.r, 4) ? "output" : "intermediate");
    text_format(
        &t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"random\", \"tensors\": [%s], \"ops\": [%s]}",
        k.tensors.at, k.ops.at);
    const struct lx_graph *g = lx_graph_of_text("random", t.at, t.length, st);
    if (!g) fail_msg("%s\n%s", st->text, t.at);
    text_free(&t);
    text_free(&k.tensors);
    text_free(&k.ops);
    return g;
}

/* So many random graphs and nothing else: LXPLAN_RANDOM_GRAPHS=3000. */
static int graphs_wanted(void)
{
    const char *wanted = getenv("LXPLAN_RANDOM_GRAPHS");
    return wanted ? atoi(wanted) : 0;
}

static void random_graphs_execute(void **state)
{
    static const int64_t cores[] = {1, 2, 3, 4, 8, 32};
    (void)state;
    int refused = 0, graphs = graphs_wanted() > 0 ? graphs_wanted() : SAMPLED ? 12 : 400;
    for (int i = 0; i < graphs; i++) {
        lx_status st = {0};
        const struct lx_graph *g = random_graph((uint64_t)i, &st);
        struct rng r = rng_seed((uint64_t)i + 77);
        const struct variant *v = &variants[rng_below(&r, VARIANTS)];
        g = with_cores(g, cores[rng_below(&r, 6)]);
        if (rng_below(&r, 2)) g = with_capacity(g, 128 * rng_between(&r, 8, 800));
        struct lx_plan_options how = {.solver = lx_solver_find(v->solver), .passes = v->passes};
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        lx_graph_free(g);
        if (!p) { /* no layout, or a sum that must not be split */
            refused++;
            continue;
        }
        char what[100];
        snprintf(what, sizeof what, "graph %d, %s", i, v->name);
        lx_run_result_free(execute(p, NULL, what, p->divisions->cores));
        lx_plan_free(p);
    }
    print_message("%d random graphs, %d could not be planned\n", graphs, refused);
    assert_true(refused < graphs / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs_execute),
                                       cmocka_unit_test(graphs_execute), cmocka_unit_test(targets_execute),
                                       cmocka_unit_test(team_patterns_execute)};
    const struct CMUnitTest random[] = {cmocka_unit_test(random_graphs_execute)};
    if (graphs_wanted() > 0) return cmocka_run_group_tests(random, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
