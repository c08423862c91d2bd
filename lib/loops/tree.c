/* Contraction trees and einsum strings: from text to nodes, and from a node to a nest.
 *
 * The grammar, blanks anywhere:
 *     tree    = node "," node "->" indices | node "->" indices
 *     node    = indices | "[" tree "]"
 *     indices = "[" number {"," number} "]" | "[" "]"
 * or, without any bracket, the usual string of letters: "ab,bc->ac".
 *
 * All tensors are row-major. The type of an index in a node follows from where it occurs: left and output m,
 * right and output n, all three c, not in the output k. An index of only one operand that is not in the
 * output is a k as well: the other operand stands still. An index that an operand has twice is its diagonal:
 * the strides add up. Depth and counts are bounded; trees of a dozen nodes are usual. */
#include "loops/nest.h"
#include "base/base.h"

enum { MOST_DEPTH = 48, MOST_INDICES = 1000, NO_NODE = -1 };

typedef VEC(int) indices;

struct parser {
    const char *text, *at;
    struct lx_tree *tree; /* NULL: only count the indices */
    VEC(struct lx_tree_node) nodes;
    int highest; /* the largest index so far */
    bool letters;
    char letter[64]; /* letters of an einsum string, in order of first appearance */
    lx_status *st;
};

static bool complain(const struct parser *p, const char *words)
{
    return status_set(p->st, LX_E_EINSUM, "\"%.80s\", character %d: %s", p->text, (int)(p->at - p->text) + 1,
                      words);
}

static void tree_skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool tree_accept(struct parser *p, const char *token)
{
    tree_skip_blanks(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0) return false;
    p->at += n;
    return true;
}

static bool add_index(struct parser *p, indices *list, int64_t value)
{
    if (p->tree && value >= p->tree->size_count)
        return status_set(p->st, LX_E_EINSUM, "\"%.80s\": index %" PRId64 " has no size; %d were given",
                          p->text, value, p->tree->size_count);
    if (value >= MOST_INDICES) return complain(p, "an index beyond 999");
    if (value > p->highest) p->highest = (int)value;
    VEC_PUSH(list, (int)value);
    return true;
}

static bool tree_numbers(struct parser *p, indices *list)
{
    if (tree_accept(p, "]")) return true;
    do {
        tree_skip_blanks(p);
        if (!isdigit((unsigned char)*p->at)) return complain(p, "expected the number of an index");
        int64_t value = 0;
        while (isdigit((unsigned char)*p->at) && value < MOST_INDICES) value = value * 10 + (*p->at++ - '0');
        if (!add_index(p, list, value)) return false;
    } while (tree_accept(p, ","));
    return tree_accept(p, "]") ? true : complain(p, "expected \",\" or \"]\" after an index");
}

static bool letters(struct parser *p, indices *list)
{
    for (tree_skip_blanks(p); isalpha((unsigned char)*p->at); p->at++) {
        char *found = strchr(p->letter, *p->at);
        if (!found) {
            found = p->letter + strlen(p->letter);
            *found = *p->at;
        }
        if (!add_index(p, list, found - p->letter)) return false;
    }
    return true;
}

static int tree_add_node(struct parser *p, indices *list, int left, int right)
{
    struct lx_tree_node node = {.left = left, .right = right, .leaf = -1, .rank = (int)list->count};
    bool ok = true;
    if (p->tree) {
        bool fits = true;
        node.elements = 1;
        for (size_t i = 0; fits && i < list->count; i++)
            fits = mul_i64(node.elements, p->tree->sizes[list->at[i]], &node.elements) &&
                   node.elements <= LX_INT_MAX;
        node.index = arena_copy_array(p->tree->memory, list->at, list->count, sizeof(int));
        if (!fits)
            ok = status_set(p->st, LX_E_RANGE, "\"%.80s\": a tensor of more than 2^53 elements", p->text);
        if (left < 0) node.leaf = p->tree->leaf_count++;
    }
    if (ok) VEC_PUSH(&p->nodes, node);
    VEC_FREE(list);
    return ok ? (int)p->nodes.count - 1 : NO_NODE;
}

static int parse_tree(struct parser *p, int depth);

static int parse_node(struct parser *p, int depth)
{
    indices list = {0};
    if (p->letters) {
        if (letters(p, &list)) return tree_add_node(p, &list, NO_NODE, NO_NODE);
    } else if (!tree_accept(p, "[")) {
        complain(p, "expected \"[\"");
    } else {
        tree_skip_blanks(p);
        if (*p->at == '[') {
            int inner = depth < MOST_DEPTH ? parse_tree(p, depth + 1) : NO_NODE;
            if (depth >= MOST_DEPTH) complain(p, "nested too deeply");
            if (inner >= 0 && !tree_accept(p, "]"))
                return complain(p, "expected \"]\" after a contraction"), NO_NODE;
            return inner;
        }
        if (tree_numbers(p, &list)) return tree_add_node(p, &list, NO_NODE, NO_NODE);
    }
    VEC_FREE(&list);
    return NO_NODE;
}

static bool tree_has(const struct lx_tree_node *n, int index)
{
    for (int i = 0; n && i < n->rank; i++)
        if (n->index[i] == index) return true;
    return false;
}

static bool check_output(struct parser *p, const indices *out, int left, int right)
{
    const struct lx_tree_node *l = &p->nodes.at[left], *r = right < 0 ? NULL : &p->nodes.at[right];
    for (size_t i = 0; i < out->count; i++) {
        if (!tree_has(l, out->at[i]) && !(r && tree_has(r, out->at[i])))
            return complain(p, "the output has an index that no operand has");
        for (size_t j = 0; j < i; j++)
            if (out->at[i] == out->at[j]) return complain(p, "the output has an index twice");
    }
    for (int i = 0; !r && i < l->rank; i++) {
        bool kept = false;
        for (size_t j = 0; j < out->count; j++) kept |= out->at[j] == l->index[i];
        if (!kept) return complain(p, "with one operand the output must have all of its indices");
    }
    return true;
}

static int parse_tree(struct parser *p, int depth)
{
    int left = parse_node(p, depth), right = NO_NODE;
    if (left < 0) return NO_NODE;
    if (tree_accept(p, ",") && (right = parse_node(p, depth)) < 0) return NO_NODE;
    if (!tree_accept(p, "->"))
        return complain(p, right < 0 ? "expected \",\" or \"->\"" : "expected \"->\""), NO_NODE;
    indices out = {0};
    bool ok = p->letters            ? letters(p, &out)
              : tree_accept(p, "[") ? tree_numbers(p, &out)
                                    : complain(p, "expected \"[\"");
    if (ok && p->tree) ok = check_output(p, &out, left, right);
    if (ok) return tree_add_node(p, &out, left, right);
    VEC_FREE(&out);
    return NO_NODE;
}

static bool parse_all(struct parser *p)
{
    p->letters = !strchr(p->text, '[');
    p->highest = -1;
    if (parse_tree(p, 0) < 0) return false;
    tree_skip_blanks(p);
    return *p->at ? complain(p, "expected the end") : true;
}

struct lx_tree *lx_tree_parse(const char *text, const int64_t *sizes, int size_count, lx_status *st)
{
    struct lx_tree *t = mem_zeroed(1, sizeof *t);
    t->memory = mem_zeroed(1, sizeof *t->memory);
    struct parser p = {.text = text, .at = text, .tree = t, .st = st};
    t->sizes = arena_copy_array(t->memory, sizes, (size_t)size_count, sizeof *sizes);
    t->size_count = size_count;
    bool ok = true;
    for (int i = 0; ok && i < size_count; i++)
        if (sizes[i] < 1 || sizes[i] > LX_INT_MAX)
            ok = status_set(st, LX_E_RANGE, "index %d has the size %" PRId64 "; sizes are from 1 to 2^53", i,
                            sizes[i]);
    ok = ok && parse_all(&p);
    if (ok) {
        t->node_count = (int)p.nodes.count;
        t->nodes = arena_copy_array(t->memory, p.nodes.at, p.nodes.count, sizeof *t->nodes);
    }
    VEC_FREE(&p.nodes);
    if (!ok) return lx_tree_free(t), NULL;
    for (int i = 0; i < t->node_count; i++) {
        const struct lx_tree_node *n = &t->nodes[i];
        int64_t turns = 2; /* 2 flops per turn of a contraction */
        bool fits = true;
        for (int v = 0; n->right >= 0 && v < size_count; v++)
            if (tree_has(&t->nodes[n->left], v) || tree_has(&t->nodes[n->right], v))
                fits = fits && mul_i64(turns, sizes[v], &turns);
        if (n->right >= 0 && (!fits || !add_i64(t->flops, turns, &t->flops))) {
            t->flops = INT64_MAX;
            break;
        }
    }
    return t;
}

int lx_tree_indices(const char *text, lx_status *st)
{
    struct parser p = {.text = text, .at = text, .st = st};
    bool ok = parse_all(&p);
    VEC_FREE(&p.nodes);
    return ok ? p.highest + 1 : -1;
}

void lx_tree_free(struct lx_tree *t)
{
    if (!t) return;
    arena_free(t->memory);
    mem_free(t->memory);
    mem_free(t);
}

/* Trees become nests; the reference executor runs them node by node.
 *
 * A node's nest has one loop per index: output indices in their order, then summed ones. in0 is the operand
 * with the output's fastest index, so the primitive stores along m. */

static bool tree_run_add_loop(const struct lx_tree *t, const struct lx_tree_node *const *operand, int index,
                              struct lx_loops *l, lx_status *st)
{
    if (l->count == LX_LOOPS_MAX)
        return status_set(st, LX_E_LIMIT, "a contraction over more than %d indices", LX_LOOPS_MAX);
    struct lx_loop *loop = &l->loop[l->count++];
    *loop = (struct lx_loop){.size = t->sizes[index]};
    bool unary = !operand[LX_LOOP_IN1];
    bool in0 = tree_has(operand[LX_LOOP_IN0], index), in1 = tree_has(operand[LX_LOOP_IN1], index);
    loop->type = unary                                    ? LX_DIM_C
                 : !tree_has(operand[LX_LOOP_OUT], index) ? LX_DIM_K
                 : in0 && in1                             ? LX_DIM_C
                 : in0                                    ? LX_DIM_M
                                                          : LX_DIM_N;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++)
        if (operand[o]) {
            /* Row-major stride; an index that occurs twice walks the diagonal. */
            int64_t stride = 0, step = 1;
            for (int i = operand[o]->rank; i-- > 0; step *= t->sizes[operand[o]->index[i]])
                if (operand[o]->index[i] == index) stride += step;
            loop->stride[o] = stride;
        }
    return true;
}

bool lx_tree_lower(const struct lx_tree *t, int node, struct lx_loops *out, bool *swapped, lx_status *st)
{
    const struct lx_tree_node *n = &t->nodes[node];
    *out = (struct lx_loops){.first = LX_TOUCH_ZERO, .main = LX_TOUCH_GEMM, .has_in1 = true};
    if (n->left < 0) return status_set(st, LX_E_EINSUM, "a leaf is not computed");
    const struct lx_tree_node *left = &t->nodes[n->left], *right = n->right < 0 ? NULL : &t->nodes[n->right];
    int fastest = n->rank;
    while (fastest > 0 && t->sizes[n->index[fastest - 1]] == 1) fastest--;
    bool swap = right && fastest > 0 && !tree_has(left, n->index[fastest - 1]);
    if (swapped) *swapped = swap;
    if (!right) {
        out->first = LX_TOUCH_NONE;
        out->main = LX_TOUCH_COPY;
    }
    const struct lx_tree_node *operand[LX_LOOP_OPERANDS] = {swap ? right : left, swap ? left : right, n};
    for (int i = 0; i < n->rank; i++)
        if (!tree_run_add_loop(t, operand, n->index[i], out, st)) return false;
    for (int v = 0; v < t->size_count; v++)
        if (!tree_has(n, v) && (tree_has(left, v) || tree_has(right, v)) &&
            !tree_run_add_loop(t, operand, v, out, st))
            return false;
    if (out->count == 0) /* scalars: one turn */
        out->loop[out->count++] = (struct lx_loop){.type = right ? LX_DIM_K : LX_DIM_C, .size = 1};
    return true;
}

bool lx_tree_execute(const struct lx_tree *t, const struct lx_loop_rules *rules, int64_t threads,
                     const double *const *leaves, double *out, lx_status *st)
{
    double **data = mem_zeroed((size_t)t->node_count, sizeof *data);
    bool ok = true;
    for (int i = 0; ok && i < t->node_count; i++) {
        const struct lx_tree_node *n = &t->nodes[i];
        if (n->leaf >= 0) {
            data[i] = (double *)(uintptr_t)leaves[n->leaf]; /* only read */
            continue;
        }
        bool is_root = i == t->node_count - 1;
        data[i] = is_root ? out : mem_zeroed((size_t)n->elements, sizeof **data);
        struct lx_loops l;
        bool swapped;
        ok = lx_tree_lower(t, i, &l, &swapped, st) && (!rules || lx_loops_optimise(&l, rules, threads, st));
        if (!ok) break;
        const double *left = data[n->left], *right = n->right < 0 ? NULL : data[n->right];
        lx_loops_execute(&l, swapped ? right : left, swapped ? left : right, data[i]);
    }
    for (int i = 0; i < t->node_count - 1; i++)
        if (t->nodes[i].leaf < 0) mem_free(data[i]);
    mem_free(data);
    return ok;
}
