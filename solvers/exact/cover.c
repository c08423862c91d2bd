/* Cover rows: the sections' needs when some items are assumed spilled.
 *
 * A section asks for sum size y >= need. For any set S of its columns, with r = need - size(S) > 0, also
 *     sum over the others of a y >= r,   a = min(size, r)
 * holds for every 0/1 point: if S is spilled altogether, r is still missing and no column can give more than
 * r. Rounding makes such a row stronger: for any divisor d with f = r mod d > 0,
 *     sum over the others of (floor(a / d) f + min(f, a mod d)) y >= ceil(r / d) f
 * (mixed-integer rounding: it counts how many columns of about d are needed). The linear programme knows
 * neither and takes fractions of large buffers. S is taken from its point: the columns nearest to 1, enough
 * to violate the row most; divisors are sizes of columns that the point splits. At the root each section gets
 * the row that the point violates most, for as many rounds as this helps; rows are dense, so their terms are
 * limited. Numbers stay below 2^30 by dividing sizes, rounded up, and the need, rounded down. */
#include "exact/search.h"

enum { MOST_ROUNDS = 60, FEW_ROUNDS = 6, TERMS_A_COLUMN = 60 };
enum { MOST_TERMS = 600, MOST_DIVISORS = 12, MOST_PREFIXES = 24 };

struct cover_column {
    int32_t column;
    int64_t size;
    double y;
};

struct cover {
    struct search *s;
    struct cover_column *at; /* of one section, largest y first */
    struct model_term *row;
    int32_t count;
    /* The best row of the section so far. */
    double worst;
    int64_t rest, divisor;
    int32_t from;
};

ORDER(compare_columns, struct cover_column, ORDER_DOWN(y) ORDER_DOWN(size) ORDER_UP(column));

/* Gathers and sorts the columns of a section. False: too many. */
static bool cover_gather(struct cover *c, int32_t section, int64_t scale)
{
    const struct model *m = c->s->m;
    c->count = 0;
    for (int32_t j = 0; j < model_choices(m); j++) {
        bool item = j < m->item_count;
        const struct model_edge *e = item ? NULL : &m->edges[j - m->item_count];
        bool live =
            item ? m->items[j].first <= section && section <= m->items[j].last : e->section == section;
        if (!live) continue;
        if (c->count == MOST_TERMS) return false;
        int64_t size = ceil_div_i64(m->items[item ? j : e->child].size, scale);
        double y = c->s->fraction[j] < 1e-9 ? 0 : c->s->fraction[j];
        c->at[c->count++] = (struct cover_column){j, size, y};
    }
    qsort(c->at, (size_t)c->count, sizeof *c->at, compare_columns);
    return true;
}

/* A column's number in the row of rest r and divisor d (0: no rounding). */
static int64_t cover_rounded(int64_t size, int64_t r, int64_t d)
{
    int64_t a = min_i64(size, r);
    if (d == 0) return a;
    int64_t f = r % d;
    return a / d * f + min_i64(f, a % d);
}

static int64_t right_side(int64_t r, int64_t d)
{
    return d == 0 ? r : (r / d + 1) * (r % d);
}

/* The point's distance from satisfying the row, so that rows of many terms are not favoured. */
static void cover_weigh(struct cover *c, int32_t from, int64_t r, int64_t d)
{
    if (d > 0 && r % d == 0) return;
    double left = 0, norm = 0, right = (double)right_side(r, d);
    for (int32_t k = from; k < c->count; k++) {
        double a = (double)cover_rounded(c->at[k].size, r, d);
        left += a * c->at[k].y;
        norm += a * a;
    }
    double lack = right - left;
    if (lack < 0.01 * right || lack * lack <= c->worst * norm) return;
    c->worst = lack * lack / norm;
    c->from = from;
    c->rest = r;
    c->divisor = d;
}

/* Adds the row of a section that the point violates most; returns the number of rows added. */
static int32_t cover_separate(struct cover *c, int64_t need)
{
    struct search *s = c->s;
    c->worst = 1e-8;
    c->from = -1;
    int64_t r = need;
    for (int32_t k = 0, tried = 0; k <= c->count && r > 0 && tried < MOST_PREFIXES; k++) {
        bool one = k < c->count && c->at[k].y > 0.999;
        if (!one) {
            int64_t last = 0;
            cover_weigh(c, k, r, 0);
            for (int32_t i = k, j = 0; i < c->count && j < MOST_DIVISORS && c->at[i].y > 0; i++) {
                int64_t d = c->at[i].size;
                if (d >= r || d == last) continue;
                last = d;
                j++;
                cover_weigh(c, k, r, d);
            }
            for (int64_t parts = 2; parts <= 3 && r > 2 * parts; parts++)
                cover_weigh(c, k, r, ceil_div_i64(r, parts) + 1);
            for (int64_t parts = 1; parts <= 3 && r > 2 * parts; parts++)
                cover_weigh(c, k, r, (r - 1) / parts);
            tried++;
        }
        if (k == c->count || c->at[k].y < 1e-6) break;
        r -= c->at[k].size;
    }
    if (c->from < 0) return 0;
    int32_t n = 0;
    for (int32_t k = c->from; k < c->count; k++) {
        int64_t a = cover_rounded(c->at[k].size, c->rest, c->divisor);
        if (a > 0) c->row[n++] = (struct model_term){c->at[k].column, (int32_t)a};
    }
    s->cover_terms += n;
    search_add_row(s, c->row, n, right_side(c->rest, c->divisor));
    return 1;
}

int32_t search_add_covers(struct search *s)
{
    double now = lp_objective(s->lp) + (double)s->m->base;
    int64_t most = (int64_t)TERMS_A_COLUMN * model_columns(s->m);
    bool enough = s->cover_rounds >= (s->tuning.light ? FEW_ROUNDS : MOST_ROUNDS) || s->cover_terms >= most;
    /* Allows three rounds without gain. */
    bool gains = s->cover_rounds == 0 || now > s->cover_value * 1.0002;
    if (!enough) s->cover_idle = gains ? 0 : s->cover_idle + 1;
    if (!enough && gains) s->cover_value = now;
    if (enough || s->cover_idle >= 3) {
        s->cover_rounds = MOST_ROUNDS;
        return 0;
    }
    s->cover_rounds++;
    struct cover_column at[MOST_TERMS + 1];
    struct model_term row[MOST_TERMS + 1];
    struct cover c = {.s = s, .at = at, .row = row};
    int32_t added = 0;
    for (int32_t j = 0; j < model_choices(s->m); j++)
        s->fraction[j] = lp_value(s->lp, j) / search_size(s->m, j);
    for (int32_t t = 0; t < s->m->section_count; t++) {
        int64_t scale = s->m->need[t] / (INT64_C(1) << 29) + 1;
        if (cover_gather(&c, t, scale)) added += cover_separate(&c, s->m->need[t] / scale);
    }
    return added;
}

/* Cuts from choices that cannot be packed.
 *
 * A core is a set of items (with their handovers among each other) that has no placement. The cut says that
 * one of them is spilled, or one of the handovers changes. Two ways strengthen it: if no other handovers make
 * the core pack, the cut leaves handovers out; and an item may be exchanged for a larger twin (its life
 * covers the other's life, its size is no smaller, its alignment no laxer), since the smaller fits in the
 * larger one's place. */

enum { MOST_CORE_EDGES = 4, MOST_TWIN_CUTS = 40 };

static int32_t edges_among(const struct model *m, const bool *kept, int32_t *edges)
{
    int32_t n = 0;
    for (int32_t e = 0; e < m->edge_count; e++)
        if (kept[m->edges[e].parent] && kept[m->edges[e].child]) edges[n++] = e;
    return n;
}

enum fit_result search_pack_somehow(struct search *s, const bool *kept, int64_t nodes, int64_t *address)
{
    OWNED int32_t *edges = mem_alloc(((size_t)s->m->edge_count + 1) * sizeof *edges);
    OWNED bool *merged = mem_zeroed((size_t)s->m->edge_count + 1, sizeof *merged);
    enum fit_result result = FIT_NO;
    int32_t n = edges_among(s->m, kept, edges);
    if (n > MOST_CORE_EDGES) result = FIT_LIMIT;
    for (unsigned chosen = 0; result == FIT_NO && chosen < 1u << n; chosen++) {
        /* At most one handover per parent and per child. */
        bool matching = true;
        for (int32_t a = 0; a < n; a++) {
            merged[edges[a]] = chosen >> a & 1;
            const struct model_edge *x = &s->m->edges[edges[a]];
            for (int32_t b = 0; b < a; b++) {
                const struct model_edge *y = &s->m->edges[edges[b]];
                bool both = merged[edges[a]] && merged[edges[b]];
                matching &= !both || (x->parent != y->parent && x->child != y->child);
            }
        }
        if (!matching) continue;
        result = pack_exactly(&s->packer, kept, merged, nodes, address);
    }
    return result;
}

static bool has_edge(const struct model *m, int32_t i)
{
    for (int32_t e = 0; e < m->edge_count; e++)
        if (m->edges[e].parent == i || m->edges[e].child == i) return true;
    return false;
}

void search_cut_off(struct search *s)
{
    const struct model *m = s->m;
    memcpy(s->core, s->kept, (size_t)m->item_count * sizeof *s->core);
    shrink_core(&s->packer, s->core, s->merged, s->tuning.core_nodes);
    OWNED int32_t *edges = mem_alloc(((size_t)m->edge_count + 1) * sizeof *edges);
    OWNED struct model_term *terms = mem_alloc(((size_t)model_columns(m) + 1) * sizeof *terms);
    int32_t among = edges_among(m, s->core, edges), n = 0;
    int64_t need = 1;
    for (int32_t i = 0; i < m->item_count; i++)
        if (s->core[i]) terms[n++] = (struct model_term){i, 1};
    if (among > 0 && search_pack_somehow(s, s->core, s->tuning.core_nodes, NULL) == FIT_NO) among = 0;
    for (int32_t a = 0; a < among; a++) {
        bool merged = s->merged[edges[a]];
        terms[n++] = (struct model_term){m->item_count + edges[a], merged ? -1 : 1};
        need -= merged;
    }
    search_add_row(s, terms, n, need);
    /* Adds the same cut with one item exchanged for a larger twin. */
    int32_t added = 0;
    for (int32_t a = 0; a < n; a++) {
        int32_t small = terms[a].column;
        if (small >= s->m->item_count || has_edge(s->m, small)) continue;
        for (int32_t large = 0; large < s->m->item_count && added < MOST_TWIN_CUTS; large++) {
            const struct lx_buffer *l = model_buffer(m, large), *b = model_buffer(m, small);
            bool covers = l->start <= b->start && l->end >= b->end && l->size >= b->size && b->fixed < 0 &&
                          lx_alignment_of(m->p, l) % lx_alignment_of(m->p, b) == 0;
            if (s->core[large] || !covers || has_edge(m, large)) continue;
            terms[a].column = large;
            search_add_row(s, terms, n, need);
            added++;
        }
        terms[a].column = small;
    }
    s->stats.cuts++;
}
