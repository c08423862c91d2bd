/* A tensor with its split over the cores: two of its dimensions, a field per part; and other splits of the op, quickest first. */
#include "tui/views/core_cut.h"
#include "base/checked.h"

#include <stdio.h>

static char core_tensor_letter_of(const struct cut *c, int device_dim)
{
    const struct lx_layout *l = &c->all->layouts->layouts[c->tensor];
    int host = l->host_dim[device_dim];
    if (!c->op->map || host < 0 || host >= c->op->map->rank[c->operand])
        return host >= 0 ? (char)('a' + host) : '.'; /* views have letters of their own */
    return c->op->map->letter[c->op->map->index[c->operand][host]];
}

/* One part of a tensor: a field with its number, where there is room. */
static void core_tensor_draw_field(const struct scene *on, struct box f, int64_t part, bool is_mine)
{
    struct style style = {TONE_LABEL, tone_of_identity((int32_t)part), 0};
    char number[24];
    if (on->theme->letters) style = INK(PLAIN);
    if (is_mine) style = (struct style){TONE_CURSOR, TONE_CURSOR, MARK_BOLD};
    int digits = snprintf(number, sizeof number, "%lld", (long long)part);
    put_fill(on->cells, f, is_mine && on->theme->letters ? on->glyphs->shade : ' ', style);
    for (int r = 0; r < f.rows && on->theme->letters; r++)
        put(on->cells, f.row + r, f.column, on->glyphs->vertical, INK(FRAME));
    if (f.columns > digits && f.rows > 0) put_text(on->cells, f.row, f.column + 1, digits, style, number);
}

/* The two dimensions with most slices, -1 if there is none; the first of the tensor goes down. */
struct drawn {
    int down, across;
};

static void core_tensor_draw_shape(const struct scene *on, struct box row, const struct cut *c,
                                   struct drawn d)
{
    const int64_t *slices = c->view.slices;
    struct text shape = {0};
    int64_t tiles = 1;
    for (int i = 0; i < c->view.rank; i++) tiles *= max_i64(c->view.tiles[i], 1);
    if (tiles > 1) text_format(&shape, "1/%s of ", grouped(tiles).at);
    add_shape(&c->g->tensors[c->tensor], &shape);
    if (d.across < 0)
        text_add(&shape, ": replicated on every core");
    else if (d.down < 0)
        text_format(&shape, " split %c/%lld across", core_tensor_letter_of(c, d.across),
                    (long long)slices[d.across]);
    else
        text_format(&shape, " split %c/%lld down, %c/%lld across", core_tensor_letter_of(c, d.down),
                    (long long)slices[d.down], core_tensor_letter_of(c, d.across),
                    (long long)slices[d.across]);
    for (int i = 0; i < c->view.rank; i++)
        if (i != d.down && i != d.across && slices[i] > 1)
            text_format(&shape, ", %c/%lld not drawn", core_tensor_letter_of(c, i), (long long)slices[i]);
    put_line(on->cells, row, INK(DIM), &shape);
}

void draw_cut_tensor(const struct scene *on, struct box area, const struct cut *c)
{
    int a = -1, b = -1;
    for (int i = 0; i < c->view.rank; i++)
        if (c->view.slices[i] > 1 && (b < 0 || c->view.slices[i] > c->view.slices[b])) b = i;
    for (int i = 0; i < c->view.rank; i++)
        if (i != b && c->view.slices[i] > 1 && (a < 0 || c->view.slices[i] > c->view.slices[a])) a = i;
    struct drawn d = a > b ? (struct drawn){b, a} : (struct drawn){a, b};
    core_tensor_draw_shape(on, box_cut_top(&area, 1), c, d);
    if (area.rows < 1 || area.columns < 2) return;
    /* A row of fields that is too narrow for their numbers continues below, in bands. */
    int64_t down = d.down >= 0 ? c->view.slices[d.down] : 1,
            across = d.across >= 0 ? c->view.slices[d.across] : 1;
    char number[24];
    int width = snprintf(number, sizeof number, "%lld", (long long)max_i64(c->parts - 1, 0)) + 2;
    int64_t bands = ceil_div_i64(across, max_i64(area.columns / width, 1));
    if (bands * down > area.rows) bands = 1;
    int64_t per_band = ceil_div_i64(across, bands), rows = down * bands;
    if (area.rows > 3 * rows) area.rows = (int)(3 * rows);
    int64_t core = on->session->selection.core;
    for (int64_t i = 0; i < down; i++)
        for (int64_t j = 0; j < across; j++) {
            /* The part; in dimensions that are not drawn it is the core's own slice. */
            bool mine = core < c->d->cores_used;
            int64_t part = 0;
            for (int k = 0; k < c->view.rank; k++) {
                int64_t slices = max_i64(c->view.slices[k], 1),
                        own = core / max_i64(c->view.stride[k], 1) % slices,
                        here = k == d.down     ? i
                               : k == d.across ? j
                                               : own;
                mine = mine && here == own;
                part = part * slices + here;
            }
            int64_t row = i * bands + j / per_band, column = j % per_band;
            int top = (int)(area.rows * row / rows), left = (int)(area.columns * column / per_band);
            struct box field = {area.row + top, area.column + left, (int)(area.rows * (row + 1) / rows) - top,
                                (int)(area.columns * (column + 1) / per_band) - left};
            core_tensor_draw_field(on, field, part, mine);
        }
}

static void core_menu_draw_choice(const struct scene *on, struct box row, const struct cut *c,
                                  const struct core_menu *m, int i)
{
    const struct lx_alternative *a = &m->at[i];
    struct text words = {0};
    double now = 0;
    char numbers[80];
    struct style style = a->present ? INK(TITLE) : INK(PLAIN);
    for (int k = m->count - 1; k >= 0; k--)
        if (m->at[k].present) now = m->at[k].device_us;
    for (int k = 0; k < c->d->split_count; k++)
        if (a->splits[k] > 1)
            text_format(&words, "%s%c/%lld", words.at ? " " : "", c->d->splits[k].letter,
                        (long long)a->splits[k]);
    put(on->cells, row.row, row.column, a->present ? on->glyphs->mark : ' ', INK(KEY));
    put_text(on->cells, row.row, row.column + 2, 13, style, words.at ? words.at : "not split");
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
               "  split             time           agree");
    for (int i = 0; i < m->count && i + 1 < area.rows; i++)
        core_menu_draw_choice(on, (struct box){area.row + 1 + i, area.column, 1, area.columns}, c, m, i);
}
