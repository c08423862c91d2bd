/* A tensor cut up: two of its dimensions, a field per part. */
#include "tui/views/core_cut.h"
#include "base/checked.h"

#include <stdio.h>

static char core_tensor_letter_of(const struct cut *c, int device_dim)
{
    const struct lx_layout *l = &c->all->layouts->layouts[c->tensor];
    int host = l->host_dim[device_dim];
    if (!c->op->map || host < 0 || host >= c->op->map->rank[c->operand])
        return host >= 0 ? (char)('a' + host) : '.'; /* views number theirs */
    return c->op->map->letter[c->op->map->index[c->operand][host]];
}

/* One part of a tensor: a field with its number, where there is room. */
static void draw_field(const struct scene *on, struct box f, int64_t part, bool is_mine)
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

/* The two dimensions that are cut most, -1 where there is none; the first of the tensor goes down. */
struct drawn {
    int down, across;
};

/* Tiles of the tensor, of which a nest has one at a time. */
static int64_t core_tensor_tiles_of(const struct lx_core_view *v)
{
    int64_t tiles = 1;
    for (int i = 0; i < v->rank; i++) tiles *= max_i64(v->tiles[i], 1);
    return tiles;
}

static void draw_shape(const struct scene *on, struct box row, const struct cut *c, struct drawn d)
{
    const int64_t *slices = c->view.slices;
    struct text shape = {0};
    int64_t tiles = core_tensor_tiles_of(&c->view);
    if (tiles > 1) text_format(&shape, "1/%s of ", grouped(tiles).at);
    add_shape(&c->g->tensors[c->tensor], &shape);
    if (d.across < 0)
        text_add(&shape, ": whole on every core");
    else if (d.down < 0)
        text_format(&shape, " cut %c/%lld across", core_tensor_letter_of(c, d.across),
                    (long long)slices[d.across]);
    else
        text_format(&shape, " cut %c/%lld down, %c/%lld across", core_tensor_letter_of(c, d.down),
                    (long long)slices[d.down], core_tensor_letter_of(c, d.across),
                    (long long)slices[d.across]);
    for (int i = 0; i < c->view.rank; i++)
        if (i != d.down && i != d.across && slices[i] > 1)
            text_format(&shape, ", %c/%lld not drawn", core_tensor_letter_of(c, i), (long long)slices[i]);
    put_text(on->cells, row.row, row.column, row.columns, INK(DIM), shape.at ? shape.at : "");
    text_free(&shape);
}

/* The part in row i and column j; of dimensions that are not drawn it is the core's own slice. */
static int64_t part_at(const struct cut *c, struct drawn d, int64_t i, int64_t j, int64_t core, bool *is_mine)
{
    int64_t part = 0;
    *is_mine = core < c->d->cores_used;
    for (int k = 0; k < c->view.rank; k++) {
        int64_t slices = max_i64(c->view.slices[k], 1), own = core / max_i64(c->view.stride[k], 1) % slices;
        int64_t here = k == d.down ? i : k == d.across ? j : own;
        *is_mine = *is_mine && here == own;
        part = part * slices + here;
    }
    return part;
}

/* How the fields lie: where a row of them is too narrow for their numbers it goes on below, in bands. */
struct fields {
    int64_t down, across, per_band, bands;
    struct box box;
};

static struct fields lay_fields(const struct cut *c, struct drawn d, struct box area)
{
    struct fields f = {d.down >= 0 ? c->view.slices[d.down] : 1, d.across >= 0 ? c->view.slices[d.across] : 1,
                       0, 1, area};
    char number[24];
    int width = snprintf(number, sizeof number, "%lld", (long long)max_i64(c->parts - 1, 0)) + 2;
    int64_t fit = max_i64(area.columns / width, 1), bands = ceil_div_i64(f.across, fit);
    if (bands > 1 && bands * f.down <= area.rows) f.bands = bands;
    f.per_band = ceil_div_i64(f.across, f.bands);
    if (f.box.rows > 3 * f.down * f.bands) f.box.rows = (int)(3 * f.down * f.bands); /* larger says no more */
    return f;
}

static struct box field_at(const struct fields *f, int64_t i, int64_t j)
{
    int64_t row = i * f->bands + j / f->per_band, rows = f->down * f->bands, column = j % f->per_band;
    int top = (int)(f->box.rows * row / rows), left = (int)(f->box.columns * column / f->per_band);
    return (struct box){f->box.row + top, f->box.column + left, (int)(f->box.rows * (row + 1) / rows) - top,
                        (int)(f->box.columns * (column + 1) / f->per_band) - left};
}

void draw_cut_tensor(const struct scene *on, struct box area, const struct cut *c)
{
    int a = -1, b = -1;
    for (int i = 0; i < c->view.rank; i++)
        if (c->view.slices[i] > 1 && (b < 0 || c->view.slices[i] > c->view.slices[b])) b = i;
    for (int i = 0; i < c->view.rank; i++)
        if (i != b && c->view.slices[i] > 1 && (a < 0 || c->view.slices[i] > c->view.slices[a])) a = i;
    struct drawn d = a > b ? (struct drawn){b, a} : (struct drawn){a, b};
    draw_shape(on, box_cut_top(&area, 1), c, d);
    if (area.rows < 1 || area.columns < 2) return;
    struct fields f = lay_fields(c, d, area);
    for (int64_t i = 0; i < f.down; i++)
        for (int64_t j = 0; j < f.across; j++) {
            bool mine;
            int64_t part = part_at(c, d, i, j, on->session->selection.core, &mine);
            draw_field(on, field_at(&f, i, j), part, mine);
        }
}
