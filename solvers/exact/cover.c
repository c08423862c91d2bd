/* Cover rows: what the sections still need when some items are taken for spilled.
 *
 * A section asks for sum size y >= need. For any set S of its columns, with r = need - size(S) > 0, also
 *     sum over the others of min(size, r) y >= r
 * holds for every 0/1 point: if S is spilled altogether, r is still missing and no column can give more than
 * all of it. (With S empty it says that a buffer larger than the need counts as the need.) The linear
 * programme does not know this and takes fractions of large buffers. S is taken from its point: the columns
 * at or near 1. Violated rows are added at the root, a few rounds of them while they help; they are dense, so
 * their terms are limited. Coefficients are kept below 2^30 by
 * dividing, the left side rounded up and the right side down. */
#include "exact/search.h"

#include <stdlib.h>

enum { MOST_ROUNDS = 12, TERMS_A_COLUMN = 12, MOST_TERMS = 600 };

struct cover {
    struct search *s;
    struct model_term *terms;
    int64_t *size; /* of each term */
};

/* The columns of a section. */
static int32_t gather(struct cover *c, int32_t section)
{
    const struct model *m = c->s->m;
    int32_t n = 0;
    for (int32_t j = 0; j < model_choices(m) && n <= MOST_TERMS; j++) {
        bool item = j < m->item_count;
        const struct model_edge *e = item ? NULL : &m->edges[j - m->item_count];
        bool live =
            item ? m->items[j].first <= section && section <= m->items[j].last : e->section == section;
        if (!live) continue;
        c->terms[n].column = j;
        c->size[n++] = m->items[item ? j : e->child].size;
    }
    return n;
}

/* Add the row of a section with S = the columns of at least `threshold`, if the point violates it. */
static bool add_if_violated(struct cover *c, int32_t count, int64_t need, double threshold, int32_t *added)
{
    struct search *s = c->s;
    for (int32_t k = 0; k < count; k++)
        if (s->fraction[c->terms[k].column] >= threshold) need -= c->size[k];
    if (need <= 0) return true;
    double left = 0;
    int64_t divisor = need / (INT64_C(1) << 30) + 1;
    int32_t n = 0;
    struct model_term *row = c->terms + MOST_TERMS + 1;
    for (int32_t k = 0; k < count; k++) {
        int32_t j = c->terms[k].column;
        if (s->fraction[j] >= threshold) continue;
        int64_t size = ceil_div_i64(min_i64(c->size[k], need), divisor);
        left += (double)size * s->fraction[j];
        row[n++] = (struct model_term){j, (int32_t)size};
    }
    if (left >= 0.98 * (double)(need / divisor)) return true;
    (*added)++;
    s->cover_terms += n;
    return search_add_row(s, row, n, need / divisor);
}

bool search_add_covers(struct search *s, int32_t *added)
{
    *added = 0;
    double now = lp_objective(s->lp) + (double)s->m->base;
    int64_t most = (int64_t)TERMS_A_COLUMN * model_columns(s->m);
    bool helped = s->cover_rounds == 0 || now > s->cover_value * 1.0005;
    if (!helped || s->cover_rounds >= MOST_ROUNDS || s->cover_terms >= most) {
        s->cover_rounds = MOST_ROUNDS;
        return true;
    }
    s->cover_rounds++;
    s->cover_value = now;
    struct cover c = {s, malloc((MOST_TERMS + 2) * 2 * sizeof *c.terms),
                      malloc((MOST_TERMS + 2) * sizeof *c.size)};
    bool ok = c.terms && c.size;
    for (int32_t j = 0; j < model_choices(s->m); j++)
        s->fraction[j] = lp_value(s->lp, j) / search_size(s->m, j);
    for (int32_t t = 0; ok && t < s->m->section_count && s->cover_terms < most; t++) {
        int32_t count = gather(&c, t), before = *added;
        if (count > MOST_TERMS) continue;
        ok = add_if_violated(&c, count, s->m->need[t], 0.999, added);
        if (ok && *added == before) ok = add_if_violated(&c, count, s->m->need[t], 0.5, added);
    }
    free(c.terms);
    free(c.size);
    return ok;
}
