/* Other divisions of an op, the quickest first, and how much longer each takes. */
#include "tui/views/core_cut.h"

#include <stdio.h>

static void add_cut(const struct lx_division *d, const int64_t *splits, struct text *out)
{
    const char *blank = "";
    for (int i = 0; i < d->split_count; i++) {
        if (splits[i] <= 1) continue;
        text_format(out, "%s%c/%lld", blank, d->splits[i].letter, (long long)splits[i]);
        blank = " ";
    }
    if (!*blank) text_add(out, "whole");
}

static double present_us(const struct core_menu *m)
{
    for (int k = 0; k < m->count; k++)
        if (m->at[k].present) return m->at[k].device_us;
    return 0;
}

static void draw_choice(const struct scene *on, struct box row, const struct cut *c,
                        const struct core_menu *m, int i)
{
    const struct lx_alternative *a = &m->at[i];
    struct text words = {0};
    double now = present_us(m);
    char numbers[80];
    struct style style = a->present ? INK(TITLE) : INK(PLAIN);
    add_cut(c->d, a->splits, &words);
    put(on->cells, row.row, row.column, a->present ? on->glyphs->mark : ' ', INK(KEY));
    put_text(on->cells, row.row, row.column + 2, 13, style, words.at ? words.at : "");
    put_right(on->cells, row.row, row.column + 15, 9, style, in_micros(a->device_us).at);
    snprintf(numbers, sizeof numbers, "%+.1f %%", now > 0 ? 100 * (a->device_us / now - 1) : 0);
    put_right(on->cells, row.row, row.column + 24, 9, INK(DIM), a->present ? "now" : numbers);
    snprintf(numbers, sizeof numbers, "%d of %d", a->agreeing, m->neighbours);
    if (m->neighbours > 0 && row.columns >= 38)
        put_right(on->cells, row.row, row.column + 33, 8, a->agreeing == m->neighbours ? INK(GOOD) : INK(DIM),
                  numbers);
    text_free(&words);
}

void draw_core_menu(const struct scene *on, struct box area, const struct cut *c, struct core_menu *m)
{
    if (area.rows < 3 || area.columns < 30) return;
    const struct outcome *o = &on->session->shown;
    double share[LX_MAX_OPERANDS];
    if (m->outcome != o->number || m->op != c->d->op) {
        lx_plan_hbm_shares(o->plan, c->d->op, share);
        m->count =
            lx_division_alternatives(o->divisions, c->d->op, share, m->at, MOST_CHOICES, &m->neighbours);
        m->outcome = o->number;
        m->op = c->d->op;
    }
    if (m->count < 2) return;
    put_format(on->cells, area.row, area.column, area.columns, INK(DIM),
               "  divisions         time           agree");
    for (int i = 0; i < m->count && i + 1 < area.rows; i++)
        draw_choice(on, (struct box){area.row + 1 + i, area.column, 1, area.columns}, c, m, i);
}
