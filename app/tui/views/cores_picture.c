/* Pictures of a split: which core holds which part of a tensor, as a grid of cores and as the tensor itself,
 * and the bytes that cores send each other where the next op splits it otherwise. */
#include "tui/views/cores_picture.h"
#include "picture/heat.h"

enum { MOST_PER_ROW = 16, MOST_RING_CORES = 256, MOST_TALL = 5 };

void cut_take_operand(struct cut *c, int operand)
{
    c->operand = operand >= 0 && operand < op_operand_count(c->op) ? operand : 0;
    c->tensor = op_operand(c->op, c->operand);
    c->view = lx_division_view(c->all, c->d->op, c->operand);
    c->parts = 1;
    for (int i = 0; i < c->view.rank; i++) c->parts *= max_i64(c->view.slices[i], 1);
}

/* The part of a tensor that a core holds, numbered row-major over the split dimensions. */
static int64_t picture_part_of(const struct lx_core_view *v, int64_t core)
{
    int64_t part = 0;
    for (int i = 0; i < v->rank; i++)
        if (v->slices[i] > 1) part = part * v->slices[i] + core / max_i64(v->stride[i], 1) % v->slices[i];
    return part;
}

/* A number for each part. Returns the rows it took. */
int picture_draw_grid(const struct scene *on, struct core_grid *v, struct box area, const struct cut *c)
{
    int64_t cores = c->d->cores, per_row = c->plan->graph->device.grid_x;
    int width = c->parts > 100 ? 5 : 4;
    if (per_row < 1 || per_row > MOST_PER_ROW) per_row = cores < MOST_PER_ROW / 2 ? cores : MOST_PER_ROW / 2;
    while (per_row > 1 && per_row * width > area.columns) per_row = (per_row + 1) / 2;
    put_format(on->cells, area.row, area.column, area.columns, INK(DIM), "cores, and the part each holds");
    v->box = (struct box){area.row + 1, area.column, area.rows - 1, (int)per_row * width};
    v->per_row = (int)per_row;
    v->cell_columns = width;
    int64_t top = 0, rows = ceil_div_i64(cores, per_row);
    if (rows > area.rows - 1)
        top = min_i64(max_i64(on->session->selection.core / per_row - (area.rows - 1) / 2, 0),
                      rows - area.rows + 1);
    for (int64_t i = top * per_row; i < cores && i / per_row - top < area.rows - 1; i++) {
        int row = area.row + 1 + (int)(i / per_row - top), column = area.column + (int)(i % per_row) * width;
        bool works = i < c->d->cores_used, here = i == on->session->selection.core;
        int64_t part = picture_part_of(&c->view, i);
        struct style style =
            works ? (struct style){TONE_LABEL, tone_of_identity((int32_t)part), 0} : INK(FREE);
        if (on->theme->letters && works) style = INK(PLAIN);
        if (here) style = (struct style){TONE_CURSOR, TONE_CURSOR, MARK_BOLD};
        char words[16];
        snprintf(words, sizeof words, here ? "[%*lld]" : " %*lld ", width - 2, (long long)part);
        put_text(on->cells, row, column, width, style, works ? words : here ? "[-]" : "  - ");
    }
    return (int)min_i64(rows, area.rows - 1) + 1;
}

/* The slices of the selected core. */
void picture_draw_core(const struct scene *on, struct box area, const struct cut *c)
{
    struct text line = {0};
    if (area.rows < 1) return;
    text_format(&line, "core %lld", (long long)on->session->selection.core);
    if (on->session->selection.core >= c->d->cores_used)
        text_add(&line, " is idle in this op");
    else {
        text_format(&line,
                    " holds part %lld:", (long long)picture_part_of(&c->view, on->session->selection.core));
        for (int i = 0; i < c->d->split_count; i++) {
            int64_t from, to;
            lx_division_slice(c->d, i, on->session->selection.core, &from, &to);
            int64_t offset = cut_tile_offset(on, c, i);
            text_format(&line, " %c %lld..%lld", c->d->splits[i].letter, (long long)(offset + from),
                        (long long)(offset + to));
        }
        if (c->view.partial) text_add(&line, "; partial sum");
        if (!c->view.representable) text_add(&line, "; its part is not a box of the device layout");
    }
    put_paragraph(on->cells, area, INK(PLAIN), &line);
}

static char tensor_letter_of(const struct cut *c, int device_dim)
{
    const struct lx_layout *l = &c->all->layouts->layouts[c->tensor];
    int host = l->host_dim[device_dim];
    if (!c->op->map || host < 0 || host >= c->op->map->rank[c->operand])
        return host >= 0 ? (char)('a' + host) : '.'; /* views have letters of their own */
    return c->op->map->letter[c->op->map->index[c->operand][host]];
}

/* One part of a tensor: a field with its number, where there is room. */
static void tensor_draw_field(const struct scene *on, struct box f, int64_t part, bool is_mine)
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

static void tensor_draw_shape(const struct scene *on, struct box row, const struct cut *c, struct drawn d)
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
        text_format(&shape, " split %c/%lld across", tensor_letter_of(c, d.across),
                    (long long)slices[d.across]);
    else
        text_format(&shape, " split %c/%lld down, %c/%lld across", tensor_letter_of(c, d.down),
                    (long long)slices[d.down], tensor_letter_of(c, d.across), (long long)slices[d.across]);
    for (int i = 0; i < c->view.rank; i++)
        if (i != d.down && i != d.across && slices[i] > 1)
            text_format(&shape, ", %c/%lld not drawn", tensor_letter_of(c, i), (long long)slices[i]);
    put_line(on->cells, row, INK(DIM), &shape);
}

static void picture_draw_tensor(const struct scene *on, struct box area, const struct cut *c)
{
    int a = -1, b = -1;
    for (int i = 0; i < c->view.rank; i++)
        if (c->view.slices[i] > 1 && (b < 0 || c->view.slices[i] > c->view.slices[b])) b = i;
    for (int i = 0; i < c->view.rank; i++)
        if (i != b && c->view.slices[i] > 1 && (a < 0 || c->view.slices[i] > c->view.slices[a])) a = i;
    struct drawn d = a > b ? (struct drawn){b, a} : (struct drawn){a, b};
    /* The one with more parts goes across where it would not fit below itself. */
    if (d.down >= 0 && c->view.slices[d.down] > c->view.slices[d.across] &&
        c->view.slices[d.down] >= area.rows)
        d = (struct drawn){d.across, d.down};
    tensor_draw_shape(on, box_cut_top(&area, 1), c, d);
    if (area.rows < 1 || area.columns < 2) return;
    /* A row of fields that is too narrow for their numbers continues below, in bands. */
    int64_t down = d.down >= 0 ? c->view.slices[d.down] : 1,
            across = d.across >= 0 ? c->view.slices[d.across] : 1;
    char number[24];
    int width = snprintf(number, sizeof number, "%lld", (long long)max_i64(c->parts - 1, 0)) + 2;
    int64_t bands = ceil_div_i64(across, max_i64(area.columns / width, 1));
    if (bands * down > area.rows) bands = max_i64(area.rows / down, 1);
    int64_t per_band = ceil_div_i64(across, bands), rows = down * bands;
    if (area.rows > MOST_TALL * rows) area.rows = (int)(MOST_TALL * rows);
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
            tensor_draw_field(on, field, part, mine);
        }
}

/* The copy over the ring that an operand waits for, or that follows the op that makes it: the op before which
 * it is made, and the views of its source and of its copy. */
struct ring_copy {
    const struct lx_transfer *transfer;
    struct lx_core_view from, to;
};

static bool ring_find(const struct cut *c, struct ring_copy *out)
{
    const struct lx_plan *p = c->plan;
    bool is_input = c->operand < c->op->input_count;
    *out = (struct ring_copy){0};
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        if (x->kind != LX_RING || x->bytes == 0 || p->stays[x->stay].tensor != c->tensor) continue;
        if (is_input ? x->tick <= c->d->op : x->tick > c->d->op && !out->transfer) out->transfer = x;
    }
    if (!out->transfer) return false;
    const struct lx_stay *from = &p->stays[out->transfer->source], *to = &p->stays[out->transfer->stay];
    out->from = lx_division_held(p->divisions, from->view_op, from->view_operand, from->hold);
    out->to = lx_division_held(p->divisions, to->view_op, to->view_operand, to->hold);
    return true;
}

/* The core nearest to `core` along the ring that holds the same part as `holder`. */
static int64_t ring_nearest(const int64_t *part, int64_t cores, int64_t holder, int64_t core)
{
    for (int64_t far = 0; far <= cores; far++)
        for (int side = 0; side < 2; side++) {
            int64_t at = ((side ? core - far : core + far) % cores + cores) % cores;
            if (part[at] == part[holder]) return at;
        }
    return holder;
}

int64_t *cut_ring_bytes(const struct cut *c, int64_t *cores, const struct lx_transfer **transfer)
{
    struct ring_copy r;
    *transfer = NULL;
    if (!ring_find(c, &r)) return NULL;
    *transfer = r.transfer;
    int64_t n = *cores = max_i64(r.from.cores, r.to.cores);
    const struct lx_layout *y = &c->all->layouts->layouts[c->tensor];
    bool simple = n <= MOST_RING_CORES && r.from.cores == n;
    for (int i = 0; i < r.from.rank; i++)
        simple = simple && !r.from.low[i] && !r.from.high[i] && r.from.blocks[i] <= 1 && r.to.blocks[i] <= 1;
    if (!simple) return NULL;
    int64_t *bytes = mem_zeroed((size_t)(n * n), sizeof *bytes), *part = mem_alloc((size_t)n * sizeof *part);
    for (int64_t a = 0; a < n; a++) part[a] = picture_part_of(&r.from, a);
    for (int64_t b = 0; b < r.to.cores; b++)
        for (int64_t a = 0; a < n; a++) {
            int64_t sticks = 1;
            for (int i = 0; i < r.to.rank && sticks > 0; i++) {
                int64_t size = y->size[i] / r.to.tiles[i], lo, hi, from, to;
                core_view_reach(&r.from, i, size, a, &lo, &hi);
                core_view_reach(&r.to, i, size, b, &from, &to);
                sticks *= max_i64(0, min_i64(hi, to) - max_i64(lo, from));
            }
            /* Of cores with the same part the nearest one sends it; a core has its own. */
            if (sticks > 0 && part[a] != part[b] && ring_nearest(part, n, a, b) == a)
                bytes[a * n + b] = sticks * y->stick_bytes;
        }
    mem_free(part);
    return bytes;
}

/* The sum of a square of the matrix, as a share of the largest such sum. */
static double *ring_squares(const int64_t *bytes, int64_t n, int64_t each, int64_t cells)
{
    double *sums = mem_zeroed((size_t)(cells * cells), sizeof *sums), most = 0;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) {
            double *sum = &sums[a / each * cells + b / each];
            *sum += (double)bytes[a * n + b];
            if (*sum > most) most = *sum;
        }
    for (int64_t i = 0; i < cells * cells && most > 0; i++) sums[i] /= most;
    return sums;
}

static void ring_draw(const struct scene *on, struct box area, const struct cut *c)
{
    int64_t n = 0;
    const struct lx_transfer *x;
    OWNED int64_t *bytes = cut_ring_bytes(c, &n, &x);
    struct text line = {0};
    add_printable(&line, c->g->tensors[c->tensor].name, 24);
    if (!x)
        text_format(&line, ": cores send each other nothing of it %s",
                    c->operand < c->op->input_count ? "for this op" : "after this op");
    else {
        text_format(&line, " over the ring, %s B before ", grouped(x->bytes).at);
        add_printable(&line, c->g->ops[x->tick].name, 24);
        text_add(&line,
                 bytes ? ": from core (down) to core (across)" : "; windows or inner tiles: not drawn");
    }
    box_cut_top(&area, put_paragraph(on->cells, area, x ? INK(TITLE) : INK(DIM), &line));
    enum { MARGIN = 4, WIDE = 2 };
    int64_t fit = min_i64(area.rows - 1, (area.columns - MARGIN) / WIDE);
    if (!bytes || fit < 2) {
        return;
    }
    int64_t each = ceil_div_i64(n, fit), cells = ceil_div_i64(n, each),
            here = on->session->selection.core / each;
    OWNED double *share = ring_squares(bytes, n, each, cells);
    int high = (int)min_i64(fit / cells, 3), wide = WIDE * high, labels = high > 1 ? 1 : 4;
    bool letters = on->theme->letters || on->theme->heats < 2;
    for (int64_t i = 0; i < cells; i++) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)(i * each));
        int row = area.row + 1 + (int)i * high, left = area.column + MARGIN;
        put_right(on->cells, row, area.column, MARGIN - 1, INK(DIM), number);
        if (i % labels == 0)
            put_text(on->cells, area.row, left + (int)i * wide, 2 * MARGIN, INK(DIM), number);
        if (here == i) put(on->cells, row, left - 1, on->glyphs->mark, INK(KEY));
        for (int64_t k = 0; k < cells; k++) {
            double s = share[i * cells + k];
            struct box cell = {row, left + (int)k * wide, high, wide};
            uint8_t heat = (uint8_t)(TONE_HEAT0 + (int)(0.8 * s * (on->theme->heats - 1)));
            if (s > 0)
                put_fill(on->cells, cell, letters ? (uint32_t)heat_letter(s) : ' ',
                         letters ? INK(PLAIN) : (struct style){TONE_LABEL, heat, 0});
            else if (i == k)
                put(on->cells, row + high / 2, cell.column + wide / 2 - 1, '.', INK(DIM));
        }
    }
}

void picture_draw_ring(const struct scene *on, struct box area, const struct cut *c)
{
    struct cut k = *c;
    int n = op_operand_count(c->op);
    for (int i = 0; i < n; i++) {
        const struct lx_transfer *x;
        int64_t cores, *bytes;
        cut_take_operand(&k, (c->operand + i) % n);
        bytes = cut_ring_bytes(&k, &cores, &x);
        mem_free(bytes);
        if (x) break;
        k = *c;
    }
    ring_draw(on, area, &k);
}

void picture_draw_parts(const struct scene *on, struct box area, const struct cut *c)
{
    enum { NARROWEST = 20 };
    int n = op_operand_count(c->op), fit = area.columns / NARROWEST;
    if (fit < 1 || area.rows < 3) return;
    int first = n > fit && c->operand >= fit ? c->operand - fit + 1 : 0;
    if (n < fit) fit = n;
    int width = area.columns / fit;
    for (int i = 0; i < fit && first + i < n; i++) {
        struct cut k = *c;
        cut_take_operand(&k, first + i);
        struct box box = {area.row, area.column + i * width, area.rows, width - 2},
                   title = box_cut_top(&box, 1);
        bool here = k.operand == c->operand;
        put(on->cells, title.row, title.column, here ? on->glyphs->mark : on->glyphs->bullet,
            here ? INK(KEY) : (struct style){.ink = tone_of_identity(k.tensor)});
        put_name(on->cells, title.row, title.column + 2, title.columns - 2, here ? INK(TITLE) : INK(PLAIN),
                 k.g->tensors[k.tensor].name);
        picture_draw_tensor(on, box, &k);
    }
}
