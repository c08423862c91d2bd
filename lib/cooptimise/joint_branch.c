/* Branch and bound over single buffers: on chip or not.
 *
 * Prices let two large buffers each be half on chip; deciding one settles the other. The bound of each side
 * comes from the messages and prices, computed again with the buffer's other states closed. The open node
 * with the least bound is branched next; that least is the bound of the problem. In each node a narrow beam
 * looks for an answer. */
#include "cooptimise/joint_model.h"

enum {
    MAX_NODES = 512,
    NODE_ROUNDS = 6, /* rounds of prices */
    NODE_WIDTH = 16,
};

struct node {
    int32_t parent, var, fixed; /* parent -1: the root, which decides nothing */
    int64_t bound;
    bool open, inner; /* may be branched; has been */
    int64_t *price;   /* per position: the prices that gave `bound` */
};

struct branch {
    struct joint_search *s;
    struct node nodes[MAX_NODES];
    int32_t count;
    int64_t *load; /* scratch: one per position, and one more */
    struct arena memory;
};

static void joint_branch_apply(struct branch *b, int32_t node)
{
    struct joint_model *m = &b->s->model;
    for (int32_t v = 0; v < m->var_count; v++) m->vars[v].fixed = 0;
    for (int32_t n = node; b->nodes[n].parent >= 0; n = b->nodes[n].parent)
        m->vars[b->nodes[n].var].fixed = b->nodes[n].fixed;
}

/* Score of branching on a variable: the price of its room, less half the margin between on and off. */
static int64_t joint_branch_worth(const struct joint_model *m, int32_t var)
{
    const struct joint_var *v = &m->vars[var];
    int64_t on = NETWORK_NEVER, paid = 0;
    if (v->fixed != 0 || v->future[0] >= NETWORK_HOPELESS) return 0;
    for (int32_t x = 1; x < v->state_count; x++) {
        if (v->future[x] >= NETWORK_HOPELESS) continue;
        int64_t price = joint_life_price(m, v, x), all = v->future[x] + price;
        if (all >= on) continue;
        on = all;
        paid = price;
    }
    if (on >= NETWORK_HOPELESS) return 0;
    const struct joint_factor *f = &m->factors[v->from];
    int64_t clear = v->future[0] - on;
    for (int32_t t = f->old_count; t < f->touch_count; t++)
        if (f->touch[t].var == var) clear += f->touch[t].toll;
    return paid - (clear < 0 ? -clear : clear) / 2;
}

/* True if the smallest parts of the buffers decided on chip fit together. */
static bool decided_fit(const struct joint_model *m, int64_t *load)
{
    memset(load, 0, ((size_t)m->factor_count + 1) * sizeof *load);
    for (int32_t i = 0; i < m->var_count; i++) {
        const struct joint_var *v = &m->vars[i];
        int32_t from = v->from + (v->parent_count > 0);
        int64_t least = INT64_MAX;
        if (v->fixed <= 0 || from >= v->to) continue;
        for (int32_t x = 1; x < v->state_count; x++) least = min_i64(least, v->size[x]);
        load[from] += least;
        load[v->to] -= least;
    }
    for (int32_t o = 0; o < m->factor_count; o++) {
        if (o > 0) load[o] += load[o - 1];
        if (load[o] > m->room.capacity) return false;
    }
    return true;
}

/* Bounds a node: without prices, then with improved prices from `start`. The better prices stay. */
static void bound_node(struct branch *b, struct node *n, const int64_t *start)
{
    struct joint_search *s = b->s;
    struct joint_model *m = &s->model;
    size_t bytes = (size_t)m->factor_count * sizeof *m->room.price;
    memset(m->room.price, 0, bytes);
    int64_t plain = joint_messages(m, &s->steps);
    if (plain < s->best.objective) {
        memcpy(m->room.price, start, bytes);
        int64_t priced = joint_price(m, s->best.objective, NODE_ROUNDS, s->step_limit, &s->steps);
        if (priced < plain) {
            memset(m->room.price, 0, bytes);
            joint_messages(m, &s->steps);
        }
        plain = max_i64(plain, priced);
    }
    n->bound = max_i64(n->bound, plain);
    n->price = arena_copy_array(&b->memory, m->room.price, (size_t)m->factor_count, sizeof *m->room.price);
}

static bool joint_branch_add_child(struct branch *b, int32_t parent, int32_t var, int32_t fixed,
                                   lx_status *st)
{
    struct joint_search *s = b->s;
    struct node *n = &b->nodes[b->count];
    struct joint_beam_result r;
    bool placed;
    *n = (struct node){.parent = parent, .var = var, .fixed = fixed, .bound = b->nodes[parent].bound};
    joint_branch_apply(b, b->count++);
    if (!decided_fit(&s->model, b->load)) {
        n->bound = NETWORK_NEVER;
        return true;
    }
    bound_node(b, n, b->nodes[parent].price);
    if (n->bound >= s->best.objective) return true;
    if (!joint_try_beam(s, NODE_WIDTH, s->model.room.capacity, &r, &placed, st)) return false;
    n->bound = max_i64(n->bound, r.bound);
    n->open = !r.exact || r.stopped; /* an exact beam has settled everything but addresses */
    return true;
}

/* The least bound of the nodes not branched yet; `*next`: the node to branch, or -1. */
static int64_t least_bound(const struct branch *b, int32_t *next)
{
    int64_t least = NETWORK_NEVER, of_open = NETWORK_NEVER;
    *next = -1;
    for (int32_t i = 0; i < b->count; i++) {
        const struct node *n = &b->nodes[i];
        if (n->inner) continue;
        least = min_i64(least, n->bound);
        if (!n->open || n->bound >= of_open) continue;
        of_open = n->bound;
        *next = i;
    }
    return least;
}

static bool joint_branch_grow(struct branch *b, lx_status *st)
{
    struct joint_search *s = b->s;
    while (b->count + 2 <= MAX_NODES) {
        int32_t next;
        s->bound = max_i64(s->bound, min_i64(least_bound(b, &next), s->best.objective));
        if (next < 0 || joint_finished(s)) return true;
        joint_branch_apply(b, next);
        memcpy(s->model.room.price, b->nodes[next].price,
               (size_t)s->model.factor_count * sizeof *s->model.room.price);
        joint_messages(&s->model, &s->steps);
        int64_t most = 0;
        int32_t var = -1;
        for (int32_t v = 0; v < s->model.var_count; v++) {
            int64_t w = joint_branch_worth(&s->model, v);
            if (w > most) {
                most = w;
                var = v;
            }
        }
        b->nodes[next].open = false;
        if (var < 0) continue;
        if (!joint_branch_add_child(b, next, var, -1, st) || !joint_branch_add_child(b, next, var, 1, st))
            return false;
        b->nodes[next].inner = true;
    }
    return true;
}

bool joint_branch(struct joint_search *s, lx_status *st)
{
    struct joint_model *m = &s->model;
    OWNED struct branch *b = mem_zeroed(1, sizeof *b);
    size_t n = (size_t)m->factor_count;
    b->s = s;
    b->count = 1;
    b->nodes[0] = (struct node){.parent = -1, .bound = s->bound, .open = true};
    b->nodes[0].price = arena_copy_array(&b->memory, m->room.price, n, sizeof *m->room.price);
    b->load = arena_array(&b->memory, n + 1, sizeof *b->load);
    bool ok = joint_branch_grow(b, st);
    if (ok) { /* back to the root, for later steps */
        joint_branch_apply(b, 0);
        memcpy(m->room.price, b->nodes[0].price, n * sizeof *m->room.price);
        joint_messages(m, &s->steps);
    }
    arena_free(&b->memory);
    return ok;
}
