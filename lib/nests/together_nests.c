/* Nests that a plan below a known one may use. For each run of ops and its levels, the tile counts are
 * searched by halving their ranges: a range is judged with the costs of its fewest tiles and the sizes of its
 * most. The excess of a nest is what its ops cost at least above their cost outside nests, under the same
 * prices; tensors choose their places at its ends alone. */
#include "nests/together.h"

enum { MOST_DIVISORS = 128, MOST_NESTS = 4000 };
/* Steps of a graph of one op; of more ops so many times less, for each has more nests. Above the usual work,
 * ranges are judged once and stay as they are. */
static const int64_t USUAL_WORK = 12 * 1000 * 1000, MOST_WORK = 4 * 12 * 1000 * 1000;

struct nest_find {
    struct together *m;
    bool lists; /* second pass: lists the nests; else finds the least excess of each run */
    bool gives_up, tired;
    struct arena *memory; /* of the runs of one first op */
    int32_t first, last;
    int axis_count;
    struct axis_found axes[MOST_AXES];
    int64_t counts[MOST_AXES][MOST_DIVISORS]; /* ascending, from 2 on */
    int count_of[MOST_AXES];
    int *begin;     /* per use of the run that is its tensor's first: the best place before it */
    int64_t *price; /* per op of the run, as in struct prices */
    int64_t *load, *best;
    unsigned char *indexed; /* per use of the run: axes that index the tensor */
    struct together_nest scratch;
    int levels, axis[LX_MAX_LEVELS];
    int64_t below; /* only nests of less excess matter */
    int64_t limit; /* list: plans of this cost or more do not matter */
    int64_t bound;
    int coarse;     /* ranges of up to so many steps are listed as one nest */
    int64_t *least; /* per pair of first and last op: least excess, at most 0 */
};

/* Sets the holds of a use between tile counts `from` and `to` per level. */
static void nest_find_holds(const struct nest_find *f, int32_t use, const int64_t *from, const int64_t *to,
                            struct together_holds *y)
{
    const struct together_use *u = &f->m->uses[use];
    unsigned indexed = f->indexed[use - f->m->use_at[f->first]];
    *y = together_plain(u);
    y->levels = f->levels;
    for (int l = 0; l < f->levels; l++) {
        bool cuts = indexed >> f->axis[l] & 1;
        y->size[l + 1] = y->size[l] / (cuts ? to[l] : 1);
        y->fills[l + 1] = y->fills[l] * (cuts ? 1 : from[l]);
        y->parts[l + 1] = y->fills[l + 1];
        y->is[l + 1] = cuts;
    }
    y->times = u->picked ? 1 : y->fills[f->levels];
}

/* The excess of a nest between these tile counts under its prices; fills f->scratch. */
static int64_t nest_find_excess(struct nest_find *f, const int64_t *from, const int64_t *to)
{
    struct together *m = f->m;
    int32_t at = m->use_at[f->first];
    int64_t sum = 0;
    for (int32_t k = m->use_at[f->last + 1] - 1; k >= at; k--) {
        const struct together_use *u = &m->uses[k];
        struct together_holds *y = &f->scratch.holds[k - at];
        int64_t *ahead = &f->scratch.ahead[PLACES * (k - at)], least = INT64_MAX;
        struct together_way best;
        bool begins = u->before < at; /* also -1 */
        nest_find_holds(f, k, from, to, y);
        for (int s = 0; s < (begins ? PLACES_WHOLE : PLACES); s++) {
            bool is = s < PLACES_WHOLE || (place_hold(s) <= f->levels && y->is[place_hold(s)]);
            if (is) ahead[s] = together_best(m, k, y, &f->scratch, s, &best);
        }
        for (int s = 0; begins && s < PLACES_WHOLE; s++) {
            int64_t more = ahead[s] - m->ahead[PLACES_WHOLE * k + s];
            if ((u->before < 0 && s != PLACE_HBM) || more >= least) continue;
            least = more;
            f->begin[k - at] = s;
        }
        if (begins) sum += least;
    }
    int32_t end = f->last + 1;
    const int64_t *p = f->scratch.before, *all = m->prices.before;
    return sum +
           prices_floor(&m->prices, -(int128)m->room * (p[end] - p[f->first] - all[end] + all[f->first]));
}

/* Sets the sums of the prices from those of the nest's ops. */
static void nest_find_sum(struct nest_find *f)
{
    const struct together *m = f->m;
    int64_t *before = f->scratch.before;
    for (int32_t o = f->first; o < m->op_count; o++)
        before[o + 1] = before[o] + (o <= f->last ? f->price[o - f->first] : m->prices.price[o]);
}

/* Sets the bytes on chip in each op of the nest, by the best ways under its prices. */
static void nest_find_loads(struct nest_find *f)
{
    struct together *m = f->m;
    int64_t *load = f->load;
    int32_t at = m->use_at[f->first];
    memset(load, 0, (size_t)(f->last - f->first + 1) * sizeof *load);
    for (int32_t first = at; first < m->use_at[f->last + 1]; first++) {
        int place = f->begin[first - at];
        for (int32_t k = first; m->uses[first].before < at && k >= 0 && m->uses[k].op <= f->last;
             k = m->uses[k].next) {
            const struct together_use *u = &m->uses[k];
            struct together_way w = {0};
            together_best(m, k, &f->scratch.holds[k - at], &f->scratch, place, &w);
            int32_t from = w.covers && w.begins ? f->first : u->op, to = u->op;
            place = w.after;
            if (w.covers && place == PLACE_HBM) to = f->last;
            if (place != PLACE_HBM)
                to = u->next < 0 || m->uses[u->next].op > f->last ? f->last : m->uses[u->next].op - 1;
            if (w.in_turn && u->takes) from++;
            for (int32_t o = from; o <= to; o++) load[o - f->first] += w.size;
        }
    }
}

/* Sets the prices of the nest's ops: one step from `from` along the overload, of this share of the way to an
 * excess that does not matter. False: no price changed. */
static bool nest_find_step(struct nest_find *f, const int64_t *from, int64_t excess, double share)
{
    const struct prices *p = &f->m->prices;
    int32_t ops = f->last - f->first + 1;
    double norm = 0, far = share * (double)(f->below - excess) * (double)((int64_t)1 << p->bits);
    bool any = false;
    for (int32_t i = 0; i < ops; i++) {
        double over = (double)(f->load[i] - f->m->room);
        if (over > 0 || from[i] > p->price[f->first + i]) norm += over * over;
    }
    for (int32_t i = 0; norm > 0 && i < ops; i++) {
        double next = (double)from[i] + far / norm * (double)(f->load[i] - f->m->room);
        f->price[i] = max_i64(p->price[f->first + i], next > 0x1p40 ? (int64_t)1 << 40 : (int64_t)next);
        any |= f->price[i] != from[i];
    }
    nest_find_sum(f);
    return any;
}

/* Raises the prices of the nest's ops while that raises its excess. Returns the excess. */
static int64_t nest_find_raise(struct nest_find *f, const int64_t *least, const int64_t *most)
{
    enum { ROUNDS = 8 };
    size_t size = (size_t)(f->last - f->first + 1) * sizeof *f->price;
    int64_t excess = nest_find_excess(f, least, most);
    double share = 1;
    if (excess < f->below && !f->tired) nest_find_loads(f);
    for (int i = 0; i < ROUNDS && excess < f->below && !f->tired; i++) {
        memcpy(f->best, f->price, size);
        if (!nest_find_step(f, f->best, excess, share)) break;
        int64_t now = nest_find_excess(f, least, most);
        if (now > excess) {
            excess = now;
            if (excess < f->below) nest_find_loads(f);
            continue;
        }
        memcpy(f->price, f->best, size);
        nest_find_sum(f);
        share /= 3;
    }
    return excess;
}

/* The prices of a nest begin as those outside nests. */
static void nest_find_begin_prices(struct nest_find *f)
{
    const struct together *m = f->m;
    memcpy(f->scratch.before, m->prices.before, ((size_t)m->op_count + 1) * sizeof *f->scratch.before);
    for (int32_t o = f->first; o <= f->last; o++) f->price[o - f->first] = m->prices.price[o];
}

static void nest_find_list(struct nest_find *f, const int64_t *least, const int64_t *most)
{
    struct together *m = f->m;
    nest_find_excess(f, least, most); /* the last prices tried may not be the best */
    size_t uses = (size_t)(m->use_at[f->last + 1] - m->use_at[f->first]);
    struct together_nest n = {.first = f->first, .last = f->last};
    n.holds = arena_copy_array(&m->memory, f->scratch.holds, uses, sizeof *n.holds);
    n.ahead = arena_copy_array(&m->memory, f->scratch.ahead, PLACES * uses, sizeof *n.ahead);
    n.before = arena_copy_array(&m->memory, f->scratch.before, (size_t)m->op_count + 1, sizeof *n.before);
    VEC_PUSH(&m->nests, n);
    f->gives_up |= m->nests.count >= MOST_NESTS;
}

/* Searches the tile counts with indices from[l] to to[l]. */
static void nest_find_tiles(struct nest_find *f, const int *from, const int *to)
{
    int64_t least[LX_MAX_LEVELS], most[LX_MAX_LEVELS];
    int widest = 0;
    if (f->gives_up) return;
    for (int l = 0; l < f->levels; l++) {
        least[l] = f->counts[f->axis[l]][from[l]];
        most[l] = f->counts[f->axis[l]][to[l]];
        if (to[l] - from[l] > to[widest] - from[widest]) widest = l;
    }
    int64_t excess = nest_find_raise(f, least, most);
    f->tired = f->m->steps > USUAL_WORK / f->m->op_count;
    f->gives_up |= f->m->steps > MOST_WORK / f->m->op_count || cancel_requested();
    if (excess >= f->below) return;
    if (f->tired || to[widest] - from[widest] <= (f->lists ? f->coarse : 0)) {
        if (f->lists)
            nest_find_list(f, least, most);
        else
            f->below = excess;
        return;
    }
    int half[LX_MAX_LEVELS], middle = (from[widest] + to[widest]) / 2;
    memcpy(half, from, sizeof half);
    half[widest] = middle + 1;
    nest_find_tiles(f, half, to); /* more tiles first: they fit */
    memcpy(half, to, sizeof half);
    half[widest] = middle;
    nest_find_tiles(f, from, half);
}

/* True if an op of the run reads a sum that is not complete, and not a running one. */
static bool nest_find_reads_sums(const struct nest_find *f)
{
    const struct together *m = f->m;
    for (int32_t k = m->use_at[f->first]; k < m->use_at[f->last + 1]; k++) {
        const struct together_use *u = &m->uses[k];
        bool summed = false;
        for (int l = 0; l < f->levels; l++)
            summed |= !(f->indexed[k - m->use_at[f->first]] >> f->axis[l] & 1);
        summed &= u->writes && m->x->graph->ops[u->op].kind->id != LX_KIND_LOGSUMEXP;
        if (summed && u->next >= 0 && m->uses[u->next].op <= f->last) return true;
    }
    return false;
}

/* All orders of `levels` axes. */
static void nest_find_levels(struct nest_find *f, int level)
{
    int from[LX_MAX_LEVELS] = {0}, to[LX_MAX_LEVELS] = {0};
    if (level == f->levels || level >= LX_MAX_LEVELS) {
        for (int l = 0; l < f->levels; l++) to[l] = f->count_of[f->axis[l]] - 1;
        nest_find_begin_prices(f);
        if (!nest_find_reads_sums(f)) nest_find_tiles(f, from, to);
        return;
    }
    for (int a = 0; a < f->axis_count; a++) {
        bool used = false;
        for (int l = 0; l < level; l++) used |= f->axis[l] == a;
        f->axis[level] = a;
        if (!used) nest_find_levels(f, level + 1);
    }
}

static void nest_find_axes(struct nest_find *f, const struct axis_run *r)
{
    struct together *m = f->m;
    int32_t at = m->use_at[f->first];
    f->axis_count = axis_run_axes(r, f->axes, f->memory);
    for (int a = 0; a < f->axis_count; a++) {
        f->count_of[a] = 0;
        for (int64_t t = 2, n = f->axes[a].divides; t <= n && !f->gives_up; t++) {
            if (n % t != 0) continue;
            f->counts[a][f->count_of[a]++] = t;
            f->gives_up |= f->count_of[a] == MOST_DIVISORS;
        }
    }
    for (int32_t o = f->first; o <= f->last; o++) {
        const struct lx_op *op = &m->x->graph->ops[o];
        for (int32_t k = m->use_at[o]; k < m->use_at[o + 1]; k++) {
            f->indexed[k - at] = 0;
            for (int i = 0; i < m->index[o].operand_count; i++)
                for (int a = 0; op_operand(op, i) == m->uses[k].tensor && a < f->axis_count; a++)
                    if (op_index_dim(&m->index[o], i, f->axes[a].var[o - f->first]) >= 0)
                        f->indexed[k - at] |= (unsigned char)(1u << a);
        }
    }
}

/* A nest of one op needs a tensor that the op accesses twice. */
static bool nest_find_worth(const struct nest_find *f)
{
    const struct together *m = f->m;
    const struct lx_op *op = &m->x->graph->ops[f->first];
    return f->first < f->last || m->use_at[f->first + 1] - m->use_at[f->first] < op_operand_count(op);
}

static void nest_find_run(struct nest_find *f, const struct axis_run *r)
{
    struct together *m = f->m;
    int64_t *least = &f->least[(size_t)f->first * (size_t)m->op_count + (size_t)f->last];
    if (!nest_find_worth(f)) return;
    nest_find_axes(f, r);
    f->scratch.first = f->first, f->scratch.last = f->last;
    f->below = f->lists ? f->limit - f->bound - m->behind[f->first] - m->beyond[f->last + 1] : 0;
    for (f->levels = 1; f->levels <= LX_MAX_LEVELS && f->levels <= f->axis_count; f->levels++)
        nest_find_levels(f, 0);
    if (!f->lists) *least = f->below;
}

static void nest_find_runs(struct nest_find *f)
{
    struct together *m = f->m;
    m->steps = 0;
    f->tired = false;
    for (f->first = 0; f->first < m->op_count && !f->gives_up; f->first++) {
        SCOPED(arena_free) struct arena scratch = {0};
        size_t uses = (size_t)(m->use_count - m->use_at[f->first]);
        struct axis_run *r = axis_run_begin(m->x->layouts, f->first, &scratch);
        f->memory = &scratch;
        f->indexed = arena_array(&scratch, uses, sizeof *f->indexed);
        f->begin = arena_array(&scratch, uses, sizeof *f->begin);
        f->price = arena_array(&scratch, (size_t)m->op_count, sizeof *f->price);
        f->best = arena_array(&scratch, (size_t)m->op_count, sizeof *f->best);
        f->load = arena_array(&scratch, (size_t)m->op_count, sizeof *f->load);
        f->scratch.before = arena_array(&scratch, (size_t)m->op_count + 1, sizeof *f->scratch.before);
        f->scratch.holds = arena_array(&scratch, uses, sizeof *f->scratch.holds);
        f->scratch.ahead = arena_array(&scratch, PLACES * uses, sizeof *f->scratch.ahead);
        for (f->last = f->first; f->last < m->op_count && !f->gives_up && axis_run_grow(r); f->last++)
            nest_find_run(f, r);
    }
}

/* What chains of nests save at most. */
static void nest_find_chain(struct nest_find *f)
{
    struct together *m = f->m;
    int32_t n = m->op_count;
    for (int32_t o = 0; o < n; o++) {
        m->behind[o + 1] = min_i64(m->behind[o + 1], m->behind[o]);
        for (int32_t last = o; last < n; last++)
            m->behind[last + 1] =
                min_i64(m->behind[last + 1], m->behind[o] + f->least[(size_t)o * (size_t)n + (size_t)last]);
    }
    for (int32_t o = n - 1; o >= 0; o--) {
        m->beyond[o] = m->beyond[o + 1];
        for (int32_t last = o; last < n; last++)
            m->beyond[o] =
                min_i64(m->beyond[o], m->beyond[last + 1] + f->least[(size_t)o * (size_t)n + (size_t)last]);
    }
}

bool together_find_nests(struct together *m, int64_t bound, int64_t below)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct nest_find *f = arena_array(&memory, 1, sizeof *f);
    size_t n = (size_t)m->op_count;
    *f = (struct nest_find){.m = m, .bound = bound, .limit = below};
    f->least = arena_array(&memory, n * n, sizeof *f->least);
    nest_find_runs(f);
    nest_find_chain(f);
    f->lists = true;
    if (!f->gives_up && bound + m->beyond[0] < below) nest_find_runs(f);
    while (m->nests.count >= MOST_NESTS && f->coarse < MOST_DIVISORS) {
        m->nests.count = 0;
        f->gives_up = false;
        f->coarse = 2 * f->coarse + 1;
        nest_find_runs(f);
    }
    return !f->gives_up;
}
