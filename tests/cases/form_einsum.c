/* The form of contraction trees: a tree, its extents, and an equivalent tree of another system.
 *
 * What counts is the result. At reduced extents the tree is computed three ways: as one naive sum over all of
 * its indices, through our nests as the rules "lxplan" make them, and through the equivalent tree of the
 * case. At full extents every node's nest must be accepted and keep its result through the passes. Data are
 * small integers, so that all results must agree exactly. */
#include "cases/cases.h"
#include "base/hash.h"
#include "base/memory.h"
#include "loops/loops.h"
#include "support/loop_rules.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 64 };

static const int64_t run_steps = (int64_t)1 << 25;

/* The element of a leaf: by its indices, so that equal leaves of two trees have equal data. */
static double datum(const struct lx_tree_node *n, int64_t offset)
{
    uint64_t h = hash_bytes(HASH_START, n->index, (size_t)n->rank * sizeof *n->index);
    return (double)(int64_t)((hash_bytes(h, &offset, sizeof offset) >> 11) % 7) - 3;
}

static double *compute(struct cases *c, const struct lx_tree *t, const struct lx_loop_rules *rules)
{
    double **leaves = mem_zeroed((size_t)t->leaf_count, sizeof *leaves);
    const struct lx_tree_node *root = &t->nodes[t->node_count - 1];
    double *out = mem_zeroed((size_t)root->elements, sizeof *out);
    lx_status st;
    bool ok = leaves && out;
    for (int i = 0; ok && i < t->node_count; i++) {
        const struct lx_tree_node *n = &t->nodes[i];
        if (n->leaf < 0) continue;
        double *data = leaves[n->leaf] = mem_zeroed((size_t)n->elements, sizeof *data);
        ok = data != NULL;
        for (int64_t e = 0; ok && e < n->elements; e++) data[e] = datum(n, e);
    }
    ok = ok && case_expect(c, lx_tree_execute(t, rules, 2, (const double *const *)leaves, out, &st),
                           "cannot compute the tree: %s", st.text);
    for (int i = 0; leaves && i < t->leaf_count; i++) mem_free(leaves[i]);
    mem_free(leaves);
    if (ok) return out;
    mem_free(out);
    return NULL;
}

static int64_t offset_in(const struct lx_tree *t, const struct lx_tree_node *n, const int64_t *at)
{
    int64_t offset = 0;
    for (int i = 0; i < n->rank; i++) offset = offset * t->sizes[n->index[i]] + at[n->index[i]];
    return offset;
}

/* The product of all leaves, summed over all indices that the root does not have. */
static double *compute_naively(const struct lx_tree *t)
{
    const struct lx_tree_node *root = &t->nodes[t->node_count - 1];
    double *out = mem_zeroed((size_t)root->elements, sizeof *out);
    int64_t at[MOST_SIZES] = {0};
    bool used[MOST_SIZES] = {false};
    for (int i = 0; i < t->node_count; i++)
        for (int d = 0; d < t->nodes[i].rank; d++) used[t->nodes[i].index[d]] = true;
    for (int v = 0; out && v < t->size_count;) {
        double product = 1;
        for (int i = 0; i < t->node_count; i++)
            if (t->nodes[i].leaf >= 0) product *= datum(&t->nodes[i], offset_in(t, &t->nodes[i], at));
        out[offset_in(t, root, at)] += product;
        for (v = 0; v < t->size_count && (!used[v] || ++at[v] == t->sizes[v]); v++) at[v] = 0;
    }
    return out;
}

static void expect_equal(struct cases *c, const char *what, const double *wanted, const double *got,
                         int64_t elements)
{
    for (int64_t i = 0; wanted && got && i < elements; i++)
        if (!case_expect(c, wanted[i] == got[i], "%s: element %lld is %g, expected %g", what, (long long)i,
                         got[i], wanted[i]))
            return;
    case_expect(c, wanted && got, "%s: no result", what);
}

/* The equivalent tree of the case, in text. */
static void write_tree(const cJSON *node, bool is_root, struct text *t)
{
    const cJSON *left = cjson_find(node, "left"), *right = cjson_find(node, "right");
    if (left) {
        if (!is_root) text_add(t, "[");
        write_tree(left, false, t);
        if (right) text_add(t, ",");
        if (right) write_tree(right, false, t);
        text_add(t, "->");
    }
    text_json_value(t, cjson_find(node, "dims"));
    if (left && !is_root) text_add(t, "]");
}

static void check_small(struct cases *c, const char *text, const cJSON *result, const int64_t *sizes,
                        int count)
{
    int64_t small[MOST_SIZES];
    lx_status st;
    for (int i = 0; i < count; i++) small[i] = sizes[i] < 2 + i % 3 ? sizes[i] : 2 + i % 3;
    struct lx_tree *t = lx_tree_parse(text, small, count, &st);
    if (!case_expect(c, t != NULL, "cannot read the tree: %s", st.text)) return;
    int64_t elements = t->nodes[t->node_count - 1].elements;
    double *naive = compute_naively(t), *ours = compute(c, t, rules_named("lxplan"));
    expect_equal(c, "our tree", naive, ours, elements);
    struct text other = {0};
    if (cJSON_IsObject(result)) write_tree(result, true, &other);
    struct lx_tree *equivalent = other.at ? lx_tree_parse(other.at, small, count, &st) : NULL;
    if (other.at && case_expect(c, equivalent != NULL, "cannot read the other tree: %s", st.text)) {
        double *theirs = compute(c, equivalent, NULL);
        expect_equal(c, "the other tree", naive, theirs, elements);
        mem_free(theirs);
    }
    text_free(&other);
    lx_tree_free(equivalent);
    lx_tree_free(t);
    mem_free(naive);
    mem_free(ours);
}

static void check_node(struct cases *c, const struct lx_tree *t, int node)
{
    const struct lx_loop_rules *rules = rules_named("lxplan");
    struct lx_loops before, after;
    lx_status st = {0};
    if (!case_expect(c, lx_tree_lower(t, node, &before, NULL, &st), "node %d: %s", node, st.text)) return;
    after = before;
    case_expect(c, lx_loops_optimise(&after, rules, 2, &st), "node %d: %s", node, st.text);
    case_expect(c, lx_loops_validate(&after, rules, &st) == 0, "node %d is refused: %s", node, st.text);
    case_expect(c, lx_loops_same(&before, &after, 5, run_steps, NULL, &st), "node %d: %s", node, st.text);
}

static void run_case(struct cases *c, const cJSON *json)
{
    const char *text = case_text(json, "tree");
    const cJSON *v, *list = cjson_find(json, "dim_sizes"), *flop = cjson_find(json, "flop");
    int64_t sizes[MOST_SIZES];
    int count = 0;
    lx_status st = {0};
    case_begin(c, "einsum/%s%s", text, case_true(json, "optimize") ? " optimised" : "");
    cJSON_ArrayForEach(v, list) if (count < MOST_SIZES) sizes[count++] = case_int(v, 0);
    struct lx_tree *t = lx_tree_parse(text, sizes, count, &st);
    bool legal = case_int(cjson_find(json, "parse_error"), 0) == 0;
    if (case_expect(c, (t != NULL) == legal, "expected the tree to be %s: %s", legal ? "read" : "refused",
                    t ? "" : st.text) &&
        t) {
        if (flop)
            case_expect(c, t->flops == case_int(flop, -1), "expected %lld flops, got %lld",
                        (long long)case_int(flop, -1), (long long)t->flops);
        for (int i = 0; i < t->node_count; i++)
            if (t->nodes[i].leaf < 0) check_node(c, t, i);
        check_small(c, text, cjson_find(json, "result"), sizes, count);
    }
    lx_tree_free(t);
    case_end(c, json);
}

static bool fits(const cJSON *root)
{
    return cjson_find(cJSON_GetArrayItem(cjson_find(root, "cases"), 0), "tree") != NULL;
}

static void run(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "cases")) run_case(c, one);
}

/* What the original returned when it ran the tree, and how fast it was there. */
static const char *const remarks[] = {"exec_error", "gflops_1t", "gflops_2t", NULL};

const struct case_form form_einsum = {"einsum", fits, run, remarks};
