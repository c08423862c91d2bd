/* Nests that a plan within the limit may have. For each run of ops and each choice of levels, the tile counts
 * are searched by halving their ranges: a range has the costs of its fewest tiles and the sizes of its most.
 * The excess of a nest is what its ops cost at least above their cost outside of nests. */
#include "check/proof.h"

enum { PROOF_AXES = 8, PROOF_COUNTS = 128, PROOF_NESTS = 4000 };

struct proof_run {
    struct proof *p;
    struct arena memory;
    int32_t first, last, uses; /* uses: of the run */
    int32_t *root, *var_at;    /* union-find over dimensions of tensors and variables of ops */
    int axis_count;
    int64_t counts[PROOF_AXES][PROOF_COUNTS]; /* ascending, from 2 on */
    int count_of[PROOF_AXES];
    unsigned char *indexed; /* per use of the run: axes that index its tensor */
    int levels, axis[LX_MAX_LEVELS];
    bool lists;           /* lists nests; else finds the least excess of each run */
    int128 below, *least; /* only nests of less excess matter; per pair of first and last op */
    struct proof_nest scratch;
    int *begin; /* per use of the run that is its tensor's first: the best place before it */
    int64_t *price, *tried, *load; /* per op of the run */
};

static const int64_t PROOF_MOST_PRICE = (int64_t)1 << 40; /* also of fills: fewer cost less */

static void proof_run_holds(const struct proof_run *r, int32_t use, const int64_t *from, const int64_t *to,
                            struct proof_holds *y)
{
    const struct proof_use *u = &r->p->uses[use];
    *y = proof_plain(u);
    y->levels = r->levels;
    int64_t size = u->of->size, fills = 1;
    for (int l = 0; l < r->levels; l++) {
        bool cuts = r->indexed[use - r->p->use_at[r->first]] >> r->axis[l] & 1;
        if (cuts)
            size /= to[l];
        else
            fills = mul_i64(fills, from[l], &fills) ? min_i64(fills, PROOF_MOST_PRICE) : PROOF_MOST_PRICE;
        y->is[l + 1] = cuts;
        y->size[l + 1] = size;
        y->fills[l + 1] = fills;
    }
    y->times = u->picked ? 1 : fills;
}

/* Fills `n` for tile counts between `from` and `to`; returns its excess. */
static int128 proof_run_nest(struct proof_run *r, const int64_t *from, const int64_t *to, bool whole,
                             struct proof_nest *n)
{
    struct proof *p = r->p;
    int32_t at = p->use_at[r->first];
    int128 sum = 0;
    struct proof_way any;
    n->first = r->first, n->last = r->last;
    for (int32_t k = at + r->uses - 1; k >= at; k--) {
        int32_t before = p->uses[k].before;
        struct proof_holds *y = &n->holds[k - at];
        int128 *ahead = &n->ahead[PROOF_PLACES * (k - at)], least = 0;
        proof_run_holds(r, k, from, to, y);
        for (int s = 0; s < PROOF_PLACES; s++) {
            bool is = s < 3 || (before >= at && (s - 1) / 2 <= y->levels && y->is[(s - 1) / 2]);
            if (!is) continue;
            ahead[s] = proof_best(p, k, y, n, s, whole, &any);
            int128 more = ahead[s] - p->ahead[PROOF_PLACES * k + s];
            if (before >= at || s >= (before < 0 ? 1 : 3) || (s > 0 && more >= least)) continue;
            least = more;
            r->begin[k - at] = s;
        }
        sum += least;
    }
    proof_work(p, (int64_t)r->uses * PROOF_PLACES);
    int128 more = n->sums[r->last + 1] - n->sums[r->first] - p->sums[r->last + 1] + p->sums[r->first];
    return sum - p->f->room * more;
}

/* Bytes on chip in each op of the nest, by its best ways. */
static void proof_run_loads(struct proof_run *r)
{
    struct proof *p = r->p;
    int32_t at = p->use_at[r->first];
    memset(r->load, 0, (size_t)(r->last - r->first + 1) * sizeof *r->load);
    for (int32_t first = at; first < at + r->uses; first++) {
        int place = r->begin[first - at];
        if (p->uses[first].before >= at) continue;
        for (int32_t k = first; k >= 0 && p->uses[k].op <= r->last; k = p->uses[k].next) {
            const struct proof_use *u = &p->uses[k];
            struct proof_way w = {0};
            proof_best(p, k, &r->scratch.holds[k - at], &r->scratch, place, true, &w);
            int32_t from = w.covers && w.begins ? r->first : u->op + (w.in_turn && u->takes), to = u->op;
            if (w.after || w.covers) to = r->last;
            if (w.after && u->next >= 0) to = (int32_t)min_i64(r->last, p->uses[u->next].op - 1);
            for (int32_t o = from; o <= to; o++) r->load[o - r->first] += w.size;
            place = w.after;
        }
    }
}

static void proof_run_sum_prices(struct proof_run *r)
{
    const struct proof *p = r->p;
    int128 *sums = r->scratch.sums;
    for (int32_t o = r->first; o < p->f->op_count; o++)
        sums[o + 1] = sums[o] + (o <= r->last ? r->price[o - r->first] : p->sums[o + 1] - p->sums[o]);
}

/* The price outside of nests, of op number `o` of the run. */
static int64_t proof_run_plain(const struct proof_run *r, int32_t o)
{
    return (int64_t)(r->p->sums[r->first + o + 1] - r->p->sums[r->first + o]);
}

/* Raises the prices inside the nest along the overload, while that helps; returns its excess. */
static int128 proof_run_raise(struct proof_run *r, const int64_t *from, const int64_t *to)
{
    enum { ROUNDS = 8 };
    struct proof *p = r->p;
    int32_t ops = r->last - r->first + 1;
    size_t size = (size_t)ops * sizeof *r->price;
    int128 excess = proof_run_nest(r, from, to, true, &r->scratch);
    int64_t share = 1;
    for (int i = 0; i < ROUNDS && excess < r->below && !p->gives_up; i++) {
        double norm = 0;
        bool any = false;
        proof_run_nest(r, from, to, true, &r->scratch);
        proof_run_loads(r);
        memcpy(r->tried, r->price, size);
        for (int32_t o = 0; o < ops; o++) {
            double over = (double)(r->load[o] - p->f->room);
            if (over > 0 || r->price[o] > proof_run_plain(r, o)) norm += over * over;
        }
        double step = norm > 0 ? (double)(r->below - excess) / (double)share / norm : 0;
        for (int32_t o = 0; o < ops; o++) {
            double price = (double)r->price[o] + step * (double)(r->load[o] - p->f->room);
            int64_t next = (int64_t)fmin(fmax(price, 0), (double)PROOF_MOST_PRICE);
            next = max_i64(next, proof_run_plain(r, o));
            any |= next != r->price[o];
            r->price[o] = next;
        }
        if (!any) break;
        proof_run_sum_prices(r);
        int128 now = proof_run_nest(r, from, to, true, &r->scratch);
        if (now > excess) {
            excess = now;
            continue;
        }
        memcpy(r->price, r->tried, size);
        proof_run_sum_prices(r);
        share *= 3;
    }
    return excess;
}

static void proof_run_list(struct proof_run *r, const int64_t *tiles)
{
    struct proof *p = r->p;
    struct proof_nest n = {0};
    n.sums = arena_copy_array(&p->memory, r->scratch.sums, (size_t)p->f->op_count + 1, sizeof *n.sums);
    n.holds = arena_array(&p->memory, (size_t)r->uses, sizeof *n.holds);
    n.ahead = arena_array(&p->memory, PROOF_PLACES * (size_t)r->uses, sizeof *n.ahead);
    proof_run_nest(r, tiles, tiles, false, &n);
    VEC_PUSH(&p->nests, n);
    p->gives_up |= p->nests.count > PROOF_NESTS;
}

/* Searches the tile counts number from[l] to to[l]. */
static void proof_run_halve(struct proof_run *r, const int *from, const int *to)
{
    int64_t least[LX_MAX_LEVELS], most[LX_MAX_LEVELS];
    int half[LX_MAX_LEVELS], widest = 0;
    for (int l = 0; l < r->levels; l++) {
        least[l] = r->counts[r->axis[l]][from[l]];
        most[l] = r->counts[r->axis[l]][to[l]];
        if (to[l] - from[l] > to[widest] - from[widest]) widest = l;
    }
    int128 excess = r->p->gives_up ? r->below : proof_run_raise(r, least, most);
    if (excess >= r->below) return;
    if (from[widest] == to[widest]) {
        if (r->lists)
            proof_run_list(r, least);
        else
            r->below = excess;
        return;
    }
    int middle = (from[widest] + to[widest]) / 2;
    memcpy(half, from, sizeof half);
    half[widest] = middle + 1;
    proof_run_halve(r, half, to);
    memcpy(half, to, sizeof half);
    half[widest] = middle;
    proof_run_halve(r, from, half);
}

/* No op of the run may read a sum over levels, but a running one. */
static bool proof_run_sums(const struct proof_run *r)
{
    const struct proof *p = r->p;
    int32_t at = p->use_at[r->first];
    for (int32_t k = at; k < at + r->uses; k++) {
        const struct proof_use *u = &p->uses[k];
        bool summed = false;
        for (int l = 0; l < r->levels; l++) summed |= !(r->indexed[k - at] >> r->axis[l] & 1);
        if (summed && u->writes && !p->f->ops[u->op].running && u->next >= 0 &&
            p->uses[u->next].op <= r->last)
            return false;
    }
    return true;
}

/* All orders of `levels` axes. */
static void proof_run_levels(struct proof_run *r, int level)
{
    int from[LX_MAX_LEVELS] = {0}, to[LX_MAX_LEVELS] = {0};
    for (int a = 0; a < r->axis_count && level < r->levels && level < LX_MAX_LEVELS; a++) {
        bool used = false;
        for (int l = 0; l < level; l++) used |= r->axis[l] == a;
        r->axis[level] = a;
        if (!used) proof_run_levels(r, level + 1);
    }
    if (level < r->levels || !proof_run_sums(r)) return;
    for (int l = 0; l < r->levels && l < LX_MAX_LEVELS; l++) to[l] = r->count_of[r->axis[l]] - 1;
    for (int32_t o = r->first; o <= r->last; o++)
        r->price[o - r->first] = (int64_t)(r->p->sums[o + 1] - r->p->sums[o]);
    memcpy(r->scratch.sums, r->p->sums, ((size_t)r->p->f->op_count + 1) * sizeof *r->scratch.sums);
    proof_run_halve(r, from, to);
}

/* The one variable of an op in the class of union-find; -1: none, or several. */
static int proof_run_var(const struct proof_run *r, int32_t op, int32_t class)
{
    int found = -1, count = 0;
    for (int v = 0; v < r->p->f->ops[op].var_count; v++)
        if (sets_root(r->root, r->var_at[op] + v) == class) found = v, count++;
    return count == 1 ? found : -1;
}

static void proof_run_index(struct proof_run *r, int32_t op, int var, int axis)
{
    const struct proof *p = r->p;
    for (int32_t a = 0; a < p->f->access_count; a++) {
        const struct proof_access *x = &p->f->accesses[a];
        for (int32_t k = p->use_at[op]; x->op == op && k < p->use_at[op + 1]; k++)
            for (int d = 0; d < x->rank && p->uses[k].tensor == x->tensor; d++)
                if (x->var[d] == var) r->indexed[k - p->use_at[r->first]] |= (unsigned char)(1u << axis);
    }
}

/* Finds the axes: classes with one variable of each op, all of which can be cut alike. */
static void proof_run_axes(struct proof_run *r)
{
    const struct proof_facts *f = r->p->f;
    r->axis_count = 0;
    memset(r->indexed, 0, (size_t)r->uses);
    for (int v = 0; v < f->ops[r->first].var_count && r->axis_count < PROOF_AXES; v++) {
        int32_t class = sets_root(r->root, r->var_at[r->first] + v);
        int64_t divides = 0;
        int *count = &r->count_of[r->axis_count];
        for (int32_t o = r->first; o <= r->last && divides != 1; o++) {
            int its = proof_run_var(r, o, class);
            divides = its < 0 ? 1 : gcd_i64(f->ops[o].divides[its], divides);
        }
        if (divides <= 1) continue;
        *count = 0;
        for (int64_t t = 2; t <= divides && *count < PROOF_COUNTS; t++)
            if (divides % t == 0) r->counts[r->axis_count][(*count)++] = t;
        r->p->gives_up |= *count == PROOF_COUNTS;
        for (int32_t o = r->first; o <= r->last; o++)
            proof_run_index(r, o, proof_run_var(r, o, class), r->axis_count);
        r->axis_count++;
    }
    r->p->gives_up |= r->axis_count == PROOF_AXES;
}

/* Adds op r->last to the run; false: no nest can have it. */
static bool proof_run_grow(struct proof_run *r)
{
    const struct proof_facts *f = r->p->f;
    if (!f->ops[r->last].walks) return false;
    for (int32_t a = 0; a < f->access_count; a++)
        for (int d = 0; f->accesses[a].op == r->last && d < f->accesses[a].rank; d++)
            sets_join(r->root, r->var_at[r->last] + f->accesses[a].var[d],
                      f->accesses[a].tensor * LX_MAX_RANK + d);
    r->uses = r->p->use_at[r->last + 1] - r->p->use_at[r->first];
    return true;
}

static void proof_run_search(struct proof_run *r)
{
    const struct proof *p = r->p;
    int128 *least = &r->least[(size_t)r->first * (size_t)p->f->op_count + (size_t)r->last];
    int32_t accesses = 0;
    for (int32_t a = 0; a < p->f->access_count; a++) accesses += p->f->accesses[a].op == r->first;
    if (r->first == r->last && accesses == r->uses) return; /* it accesses no tensor twice */
    proof_run_axes(r);
    r->below = r->lists ? p->top + 1 - p->bound - p->behind[r->first] - p->beyond[r->last + 1] : 0;
    for (r->levels = 1; r->levels <= LX_MAX_LEVELS && r->levels <= r->axis_count; r->levels++)
        proof_run_levels(r, 0);
    if (!r->lists) *least = r->below;
}

static void proof_run_all(struct proof_run *r)
{
    const struct proof_facts *f = r->p->f;
    int32_t dims = f->tensor_count * LX_MAX_RANK;
    for (r->first = 0; r->first < f->op_count; r->first++) {
        int32_t nodes = dims;
        for (int32_t o = r->first; o < f->op_count; o++) {
            r->var_at[o] = nodes;
            nodes += f->ops[o].var_count;
        }
        sets_begin(r->root, nodes);
        for (r->last = r->first; r->last < f->op_count && !r->p->gives_up && proof_run_grow(r); r->last++)
            proof_run_search(r);
    }
}

/* Sets what chains of nests before an op, and from it on, save at most. */
static void proof_nests_chain(struct proof *p, const int128 *least)
{
    int32_t n = p->f->op_count;
    for (int32_t o = 0; o < n; o++) {
        if (p->behind[o] < p->behind[o + 1]) p->behind[o + 1] = p->behind[o];
        for (int32_t last = o; last < n; last++) {
            int128 with = p->behind[o] + least[(size_t)o * (size_t)n + (size_t)last];
            if (with < p->behind[last + 1]) p->behind[last + 1] = with;
        }
    }
    for (int32_t o = n - 1; o >= 0; o--) {
        p->beyond[o] = p->beyond[o + 1];
        for (int32_t last = o; last < n; last++) {
            int128 with = p->beyond[last + 1] + least[(size_t)o * (size_t)n + (size_t)last];
            if (with < p->beyond[o]) p->beyond[o] = with;
        }
    }
}

void proof_find_nests(struct proof *p)
{
    const struct proof_facts *f = p->f;
    size_t n = (size_t)f->op_count, nodes = (size_t)f->tensor_count * LX_MAX_RANK;
    for (int32_t o = 0; o < f->op_count; o++) nodes += (size_t)f->ops[o].var_count;
    memset(p->behind, 0, (n + 1) * sizeof *p->behind);
    memset(p->beyond, 0, (n + 1) * sizeof *p->beyond);
    if (!f->nests) return;
    SCOPED(arena_free) struct arena memory = {0};
    struct proof_run *r = arena_array(&memory, 1, sizeof *r);
    r->p = p;
    r->least = arena_array(&memory, n * n, sizeof *r->least);
    r->root = arena_array(&memory, nodes, sizeof *r->root);
    r->var_at = arena_array(&memory, n, sizeof *r->var_at);
    r->indexed = arena_array(&memory, (size_t)p->use_count, sizeof *r->indexed);
    r->begin = arena_array(&memory, (size_t)p->use_count, sizeof *r->begin);
    r->price = arena_array(&memory, n, sizeof *r->price);
    r->tried = arena_array(&memory, n, sizeof *r->tried);
    r->load = arena_array(&memory, n, sizeof *r->load);
    r->scratch.sums = arena_array(&memory, n + 1, sizeof *r->scratch.sums);
    r->scratch.holds = arena_array(&memory, (size_t)p->use_count, sizeof *r->scratch.holds);
    r->scratch.ahead = arena_array(&memory, PROOF_PLACES * (size_t)p->use_count, sizeof *r->scratch.ahead);
    proof_run_all(r);
    proof_nests_chain(p, r->least);
    r->lists = true;
    if (!p->gives_up && p->bound + p->beyond[0] <= p->top) proof_run_all(r);
}
