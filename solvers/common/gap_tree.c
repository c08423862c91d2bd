/* See gap_tree.h. Insertion splits the path below the new node's place by priority, removal merges the
 * removed node's two subtrees: each walks one path. */
#include "common/gap_tree.h"

static uint32_t priority(int32_t node)
{
    uint64_t h = ((uint64_t)node + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 29 ^ h >> 47);
}

static bool gap_tree_before(const struct gap_node *x, const struct gap_node *y, enum gap_order order)
{
    if (order == GAPS_BY_ROOM && x->room != y->room) return x->room < y->room;
    return x->from < y->from;
}

static void update(struct gap_tree *t, int32_t i, enum gap_order order)
{
    struct gap_node *node = &t->nodes[i];
    if (order != GAPS_BY_ADDRESS) return;
    node->most = node->room;
    for (int side = 0; side < 2; side++) {
        int32_t child = node->child[GAPS_BY_ADDRESS][side];
        if (child >= 0) node->most = max_i64(node->most, t->nodes[child].most);
    }
}

static int32_t gap_tree_merge(struct gap_tree *t, int32_t a, int32_t b, enum gap_order order)
{
    if (a < 0 || b < 0) return a < 0 ? b : a;
    bool a_above = priority(a) > priority(b);
    int32_t root = a_above ? a : b;
    int32_t *link = &t->nodes[root].child[order][a_above];
    *link = a_above ? gap_tree_merge(t, *link, b, order) : gap_tree_merge(t, a, *link, order);
    update(t, root, order);
    return root;
}

/* Splits the tree at `root` into the nodes before and after node `by`. */
static void gap_tree_split(struct gap_tree *t, int32_t root, int32_t by, enum gap_order order,
                           int32_t halves[2])
{
    if (root < 0) {
        halves[0] = halves[1] = -1;
        return;
    }
    bool right = gap_tree_before(&t->nodes[root], &t->nodes[by], order);
    int32_t parts[2];
    gap_tree_split(t, t->nodes[root].child[order][right], by, order, parts);
    t->nodes[root].child[order][right] = parts[!right];
    halves[right] = parts[right];
    halves[!right] = root;
    update(t, root, order);
}

static int32_t gap_tree_insert(struct gap_tree *t, int32_t root, int32_t node, enum gap_order order)
{
    if (root < 0 || priority(node) > priority(root)) {
        gap_tree_split(t, root, node, order, t->nodes[node].child[order]);
        update(t, node, order);
        return node;
    }
    int32_t *link = &t->nodes[root].child[order][gap_tree_before(&t->nodes[root], &t->nodes[node], order)];
    *link = gap_tree_insert(t, *link, node, order);
    update(t, root, order);
    return root;
}

static int32_t gap_tree_take_out(struct gap_tree *t, int32_t root, int32_t node, enum gap_order order)
{
    struct gap_node *at = &t->nodes[root];
    if (root == node) return gap_tree_merge(t, at->child[order][0], at->child[order][1], order);
    int32_t *link = &at->child[order][gap_tree_before(at, &t->nodes[node], order)];
    *link = gap_tree_take_out(t, *link, node, order);
    update(t, root, order);
    return root;
}

static void gap_tree_add_gap(struct gap_tree *t, int64_t from, int64_t to)
{
    int64_t room = to - round_up_i64(from, t->alignment);
    if (room < t->least) return;
    int32_t node = t->unused;
    if (node >= 0)
        t->unused = t->nodes[node].child[0][0];
    else
        node = t->used++;
    t->nodes[node] = (struct gap_node){from, to, room, room, {{-1, -1}, {-1, -1}}};
    for (int order = 0; order <= (int)t->by_room; order++)
        t->root[order] = gap_tree_insert(t, t->root[order], node, (enum gap_order)order);
}

void gap_tree_init(struct gap_tree *t, int64_t capacity, int64_t alignment, int64_t least, int32_t takes,
                   bool by_room)
{
    /* A take adds at most one gap. */
    *t = (struct gap_tree){.root = {-1, -1}, .most = takes + 2, .unused = -1, .by_room = by_room};
    t->alignment = alignment;
    t->least = max_i64(least, 1);
    t->nodes = mem_alloc((size_t)t->most * sizeof *t->nodes);
    gap_tree_add_gap(t, 0, capacity);
}

const struct gap_node *gap_tree_above(const struct gap_tree *t, int64_t at)
{
    const struct gap_node *found = NULL;
    for (int32_t i = t->root[GAPS_BY_ADDRESS]; i >= 0;) {
        bool above = t->nodes[i].to > at;
        if (above) found = &t->nodes[i];
        i = t->nodes[i].child[GAPS_BY_ADDRESS][!above];
    }
    return found;
}

void gap_tree_take(struct gap_tree *t, int64_t from, int64_t to)
{
    for (const struct gap_node *next; (next = gap_tree_above(t, from)) && next->from < to;) {
        struct gap_node gap = *next;
        int32_t i = (int32_t)(next - t->nodes);
        for (int order = 0; order <= (int)t->by_room; order++)
            t->root[order] = gap_tree_take_out(t, t->root[order], i, (enum gap_order)order);
        t->nodes[i].child[0][0] = t->unused;
        t->unused = i;
        if (gap.from < from) gap_tree_add_gap(t, gap.from, from);
        if (to < gap.to) gap_tree_add_gap(t, to, gap.to);
    }
}

/* The first gap with room for `size` that ends at or above `end`, or -1. */
static int32_t first_with_room(const struct gap_tree *t, int32_t i, int64_t end, int64_t size)
{
    if (i < 0 || t->nodes[i].most < size) return -1;
    const struct gap_node *node = &t->nodes[i];
    if (node->to >= end) {
        int32_t left = first_with_room(t, node->child[GAPS_BY_ADDRESS][0], end, size);
        if (left >= 0) return left;
        if (node->room >= size) return i;
    }
    return first_with_room(t, node->child[GAPS_BY_ADDRESS][1], end, size);
}

int64_t gap_tree_first(const struct gap_tree *t, int64_t at, int64_t size, int64_t alignment)
{
    for (int32_t i; (i = first_with_room(t, t->root[GAPS_BY_ADDRESS], at + size, size)) >= 0;) {
        int64_t base = round_up_i64(max_i64(at, t->nodes[i].from), alignment);
        if (base <= t->nodes[i].to - size) return base;
        at = t->nodes[i].to;
    }
    return -1;
}

int64_t gap_tree_tightest(const struct gap_tree *t, int64_t size)
{
    int32_t found = -1;
    for (int32_t i = t->root[GAPS_BY_ROOM]; i >= 0;) {
        bool enough = t->nodes[i].room >= size;
        if (enough) found = i;
        i = t->nodes[i].child[GAPS_BY_ROOM][!enough];
    }
    return found < 0 ? -1 : round_up_i64(t->nodes[found].from, t->alignment);
}
