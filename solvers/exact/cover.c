/* Cover rows: what the sections still need when some items are taken for spilled.
 *
 * A section asks for sum size y >= need. For any set S of its columns, with r = need - size(S) > 0, also
 *     sum over the others of a y >= r,   a = min(size, r)
 * holds for every 0/1 point: if S is spilled altogether, r is still missing and no column can give more than all of it.
 * Rounding makes such a row stronger: for any divisor d with f = r mod d > 0,
 *     sum over the others of (floor(a / d) f + min(f, a mod d)) y >= ceil(r / d) f
 * (mixed-integer rounding: it counts how many columns of about d are needed). The linear programme knows neither
 * and takes fractions of large buffers. S is taken from its point: the columns nearest to 1, as many as the violation
 * asks for; divisors are sizes of columns that the point splits. Of each section the row that the point violates most is
 * added, at the root, for as many rounds as they help; they are dense, so their terms are limited. Numbers stay
 * below 2^30 by dividing sizes, rounded up, and the need, rounded down. */
#include "exact/search.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_ROUNDS = 60,
    FEW_ROUNDS = 6,
    TERMS_A_COLUMN = 60,
    MOST_TERMS = 600,
    MOST_DIVISORS = 12,
    MOST_PREFIXES = 24
};

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

static int compare_columns(const void *a, const void *b)
{
    const struct cover_column *x = a, *y = b;
    if (x->y != y->y) return x->y > y->y ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* The columns of a section, sorted. False: too many. */
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

/* How far the point is from satisfying the row: distance, so that rows of many terms do not win by their size. */
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

static void weigh_divisors(struct cover *c, int32_t from, int64_t r)
{
    int64_t last = 0;
    cover_weigh(c, from, r, 0);
    for (int32_t k = from, tried = 0; k < c->count && tried < MOST_DIVISORS && c->at[k].y > 0; k++) {
        int64_t d = c->at[k].size;
        if (d >= r || d == last) continue;
        last = d;
        tried++;
        cover_weigh(c, from, r, d);
    }
    for (int64_t parts = 2; parts <= 3 && r > 2 * parts; parts++)
        cover_weigh(c, from, r, ceil_div_i64(r, parts) + 1);
    for (int64_t parts = 1; parts <= 3 && r > 2 * parts; parts++) cover_weigh(c, from, r, (r - 1) / parts);
}

/* Find the row of a section that the point violates most, and add it. */
static void cover_separate(struct cover *c, int64_t need, int32_t *added)
{
    struct search *s = c->s;
    c->worst = 1e-8;
    c->from = -1;
    int64_t r = need;
    for (int32_t k = 0, tried = 0; k <= c->count && r > 0 && tried < MOST_PREFIXES; k++) {
        bool one = k < c->count && c->at[k].y > 0.999;
        if (!one) {
            weigh_divisors(c, k, r);
            tried++;
        }
        if (k == c->count || c->at[k].y < 1e-6) break;
        r -= c->at[k].size;
    }
    if (c->from < 0) return;
    int32_t n = 0;
    for (int32_t k = c->from; k < c->count; k++) {
        int64_t a = cover_rounded(c->at[k].size, c->rest, c->divisor);
        if (a > 0) c->row[n++] = (struct model_term){c->at[k].column, (int32_t)a};
    }
    (*added)++;
    s->cover_terms += n;
    search_add_row(s, c->row, n, right_side(c->rest, c->divisor));
}

static bool is_worth_another(struct search *s, double now)
{
    int64_t most = (int64_t)TERMS_A_COLUMN * model_columns(s->m);
    if (s->cover_rounds >= (s->tuning.light ? FEW_ROUNDS : MOST_ROUNDS) || s->cover_terms >= most)
        return false;
    /* Three rounds may pass without gain. */
    if (s->cover_rounds == 0 || now > s->cover_value * 1.0002) {
        s->cover_value = now;
        s->cover_idle = 0;
    } else
        s->cover_idle++;
    return s->cover_idle < 3;
}

void search_add_covers(struct search *s, int32_t *added)
{
    *added = 0;
    if (!is_worth_another(s, lp_objective(s->lp) + (double)s->m->base)) {
        s->cover_rounds = MOST_ROUNDS;
        return;
    }
    s->cover_rounds++;
    struct cover c = {.s = s};
    c.at = mem_alloc((MOST_TERMS + 1) * sizeof *c.at);
    c.row = mem_alloc((MOST_TERMS + 1) * sizeof *c.row);
    for (int32_t j = 0; j < model_choices(s->m); j++)
        s->fraction[j] = lp_value(s->lp, j) / search_size(s->m, j);
    for (int32_t t = 0; t < s->m->section_count; t++) {
        int64_t scale = s->m->need[t] / (INT64_C(1) << 29) + 1;
        if (cover_gather(&c, t, scale)) cover_separate(&c, s->m->need[t] / scale, added);
    }
    mem_free(c.at);
    mem_free(c.row);
}
