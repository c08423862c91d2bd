/* Axes around a plot, lines and points in it. */
#include "tui/draw/chart.h"
#include "picture/ticks.h"

enum { LEAST_ROWS = 2, LEAST_COLUMNS = 8, MOST_GUTTER = 12 };

/* Every cell of a box is 2 x 4 dots of the Braille block, or one character where the font has none. Dots
 * are counted from the left and from below. A cell has the tone of the last line through it. */
struct dots {
    int columns, rows;   /* in cells */
    int across, up;      /* dots of a cell: 2 and 4, or 1 and 1 */
    int wide, high;      /* in dots */
    struct dot_cell *at; /* row by row from the top */
};

struct dot_cell {
    uint8_t bits, tone;
    char letter;
};

struct pen {
    uint8_t tone;
    char letter; /* in ASCII */
    bool dashed;
};

enum { DASH = 3 }; /* A line of dots; `along`: its dots so far, so that dashes continue around corners. */
static void dots_line(struct dots *d, int x0, int y0, int x1, int y1, const struct pen *pen, int *along)
{
    /* Bits of the Braille block, by row from the top and column. */
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int dx = abs(x1 - x0), dy = abs(y1 - y0), right = x0 < x1 ? 1 : -1, up = y0 < y1 ? 1 : -1;
    int error = dx - dy, dash = d->across > 1 ? DASH : 1;
    for (;; ++*along) {
        bool inside = x0 >= 0 && y0 >= 0 && x0 < d->wide && y0 < d->high;
        if (inside && (!pen->dashed || *along / dash % 2 == 0)) {
            int from_top = d->high - 1 - y0;
            struct dot_cell *c = &d->at[from_top / d->up * d->columns + x0 / d->across];
            c->bits |= bits[from_top % d->up][x0 % d->across];
            c->tone = pen->tone;
            c->letter = pen->letter;
        }
        if (x0 == x1 && y0 == y1) break;
        int twice = 2 * error;
        if (twice > -dy) error -= dy, x0 += right;
        if (twice < dx) error += dx, y0 += up;
    }
}

static double chart_scaled(const struct chart_axis *a, double v)
{
    if (!a->log) return v;
    return v > 0 ? log10(v) : -INFINITY;
}

/* From 0 to 1 along the axis. */
static double chart_share_of(const struct chart_axis *a, double v)
{
    double from = chart_scaled(a, a->from), to = chart_scaled(a, a->to), at = chart_scaled(a, v);
    if (at < from && a->log) at = from;
    return to > from ? (at - from) / (to - from) : 0.5;
}

/* Ends by the data where none are given; the length is never 0. */
static struct chart_axis chart_axis_of(const struct chart *c, const struct chart_axis *given, bool is_x)
{
    struct chart_axis a = *given;
    if (!a.label) a.label = chart_number;
    if (a.from < a.to) return a;
    a.from = 1, a.to = 0;
    for (int s = 0; s < c->series_count; s++)
        for (int i = 0; i < c->series[s].count; i++) {
            double y = c->series[s].y[i], v = is_x ? c->series[s].x[i] : y;
            if (!isfinite(y) || !isfinite(v) || (a.log && v <= 0)) continue;
            if (a.from > a.to) a.from = a.to = v;
            a.from = fmin(a.from, v);
            a.to = fmax(a.to, v);
        }
    if (a.from > a.to) a.from = a.log ? 1 : 0, a.to = a.log ? 10 : 1;
    if (a.from_zero && !a.log && a.from > 0) a.from = 0;
    double room = is_x ? 0 : 0.04 * (a.to - a.from); /* lines are not drawn on the frame */
    if (a.from == a.to) room = fabs(a.to) / 10 + (a.to == 0);
    if (a.log) return a.to *= a.from == a.to ? 2 : 1, a;
    a.to += room;
    if (a.from != 0) a.from = a.from > 0 && a.from < room ? 0 : a.from - room;
    return a;
}

static int chart_ticks_of(const struct chart_axis *a, int most, double out[MOST_TICKS])
{
    struct tick ticks[SCALE_TICKS];
    enum scale_unit unit = a->label == chart_bytes     ? SCALE_BYTES
                           : a->label == chart_seconds ? SCALE_SECONDS
                                                       : SCALE_PLAIN;
    struct scale scale = {a->from, a->to, a->log, unit};
    int n = 0;
    if (most > MOST_TICKS) most = MOST_TICKS;
    if (most < 1) return 0;
    if (!a->ticks) {
        n = ticks_make(&scale, most, ticks);
        for (int i = 0; i < n; i++) out[i] = ticks[i].at;
    }
    for (int i = 0; a->ticks && i < a->tick_count && n < most; i++)
        if (a->ticks[i] >= a->from && a->ticks[i] <= a->to) out[n++] = a->ticks[i];
    return n;
}

bool plot_cell(const struct plot *p, double x, double y, int *row, int *column)
{
    double across = chart_share_of(&p->x, x), up = chart_share_of(&p->y, y);
    if (p->box.rows < 1 || !(across >= 0 && across <= 1 && up >= 0 && up <= 1)) return false;
    *column = p->box.column + (int)(across * (p->box.columns - 1) + 0.5);
    *row = p->box.row + p->box.rows - 1 - (int)(up * (p->box.rows - 1) + 0.5);
    return true;
}

double plot_x(const struct plot *p, int column)
{
    double at = p->box.columns > 1 ? (double)(column - p->box.column) / (p->box.columns - 1) : 0;
    double from = chart_scaled(&p->x, p->x.from), v = from + at * (chart_scaled(&p->x, p->x.to) - from);
    return p->x.log ? pow(10, v) : v;
}

/* A label at each tick of the left axis, and a mark on the line. */
static void chart_draw_left(const struct scene *on, const struct plot *p, const double *ticks, int count,
                            int gutter)
{
    struct box b = p->box;
    for (int r = 0; r < b.rows; r++)
        put(on->cells, b.row + r, b.column - 1, on->glyphs->vertical, INK(FRAME));
    int before = -1;
    for (int i = 0; i < count; i++) {
        int row, column;
        if (!plot_cell(p, p->x.from, ticks[i], &row, &column) || row == before) continue;
        put_right(on->cells, row, b.column - 1 - gutter, gutter - 1, INK(DIM), p->y.label(ticks[i]).at);
        before = row;
    }
}

static void chart_draw_below(const struct scene *on, const struct plot *p, const double *ticks, int count)
{
    struct box b = p->box;
    int line = b.row + b.rows, free_from = b.column - 2, end = b.column + b.columns;
    put(on->cells, line, b.column - 1, on->glyphs->corner[2], INK(FRAME));
    for (int c = 0; c < b.columns; c++)
        put(on->cells, line, b.column + c, on->glyphs->horizontal, INK(FRAME));
    int name = p->x.name ? columns_of(p->x.name) + 1 : 0;
    if (name > b.columns / 2) name = 0;
    if (name) put_right(on->cells, line + 1, b.column, b.columns, INK(DIM), p->x.name);
    for (int i = 0; i < count; i++) {
        int row, column;
        if (!plot_cell(p, ticks[i], p->y.from, &row, &column)) continue;
        struct chart_label words = p->x.label(ticks[i]);
        int width = columns_of(words.at), at = column - width / 2;
        if (at + width > end) at = end - width;
        if (at < free_from || at + width > end - name) continue;
        put(on->cells, line, column, on->glyphs->tee, INK(FRAME));
        put_text(on->cells, line + 1, at, width, INK(DIM), words.at);
        free_from = at + width + 1;
    }
}

/* The letter of a series: its own, or one of its name that none before has. */
static char chart_letter_of(const struct chart *c, int s)
{
    const char *name = c->series[s].name ? c->series[s].name : "";
    if (c->series[s].letter) return c->series[s].letter;
    if (c->series[s].dashed) return '-';
    for (; *name; name++) {
        bool taken = (unsigned char)*name > 0x7e || *name <= ' ';
        for (int i = 0; i < s && !taken; i++) taken = chart_letter_of(c, i) == *name;
        if (!taken) return *name;
    }
    return "*o+x#@%&"[s % 8];
}

/* Several lines without colours or Braille need letters. */
static bool chart_needs_letters(const struct scene *on, const struct chart *c)
{
    int lines = 0;
    for (int s = 0; s < c->series_count; s++) lines += !c->series[s].dashed && !c->series[s].points;
    return on->glyphs->ascii || (on->theme->letters && lines > 1);
}

static int chart_dot_of(const struct chart_axis *a, double v, int dots)
{
    double share = chart_share_of(a, v), at = share * (dots - 1);
    return !(at > -dots) ? -dots : at > 2.0 * dots ? 2 * dots : (int)floor(at + 0.5);
}

/* Dashed lines first; of the others the first one is on top; then points. */
static void chart_draw_series(const struct scene *on, const struct plot *p, const struct chart *c)
{
    bool mono = on->glyphs->ascii || on->theme->letters;
    int across = chart_needs_letters(on, c) ? 1 : 2, up = across == 1 ? 1 : 4;
    struct dots d = {.columns = p->box.columns, .rows = p->box.rows, .across = across, .up = up};
    d.wide = d.columns * across, d.high = d.rows * up;
    d.at = mem_zeroed((size_t)d.rows * (size_t)d.columns + 1, sizeof *d.at);
    for (int dashed = 1; dashed >= 0; dashed--)
        for (int s = c->series_count - 1; s >= 0; s--)
            if (!c->series[s].points && c->series[s].dashed == dashed) {
                struct pen pen = {c->series[s].tone, chart_letter_of(c, s), c->series[s].dashed};
                int along = 0, x0 = 0, y0 = 0;
                bool has = false;
                for (int i = 0; i < c->series[s].count; i++) {
                    bool gap = !isfinite(c->series[s].y[i]);
                    int x = gap ? 0 : chart_dot_of(&p->x, c->series[s].x[i], d.wide),
                        y = gap ? 0 : chart_dot_of(&p->y, c->series[s].y[i], d.high);
                    if (!gap && has && c->series[s].stairs) {
                        dots_line(&d, x0, y0, x, y0, &pen, &along);
                        dots_line(&d, x, y0, x, y, &pen, &along);
                    } else if (!gap)
                        dots_line(&d, has ? x0 : x, has ? y0 : y, x, y, &pen, &along);
                    x0 = x, y0 = y, has = !gap;
                }
            }
    for (int i = 0; i < d.rows * d.columns; i++) {
        uint32_t code = d.across > 1 ? 0x2800u + d.at[i].bits : (uint32_t)(unsigned char)d.at[i].letter;
        if (d.at[i].bits)
            put(on->cells, p->box.row + i / d.columns, p->box.column + i % d.columns, code,
                (struct style){.ink = d.at[i].tone});
    }
    mem_free(d.at);
    for (int s = 0; s < c->series_count; s++)
        for (int i = 0; c->series[s].points && i < c->series[s].count; i++) {
            const struct chart_series *l = &c->series[s];
            int row, column;
            if (!isfinite(l->y[i]) || !plot_cell(p, l->x[i], l->y[i], &row, &column)) continue;
            put(on->cells, row, column,
                mono ? (uint32_t)(unsigned char)chart_letter_of(c, s) : on->glyphs->bullet,
                (struct style){l->tone, 0, MARK_BOLD});
        }
}

/* "── auto  ┄┄ bound", from the right. */
static void chart_draw_legend(const struct scene *on, struct box row, const struct chart *c)
{
    bool letters = chart_needs_letters(on, c);
    int at = row.column;
    if (c->y.name) at += put_text(on->cells, row.row, at, row.columns, INK(DIM), c->y.name) + 2;
    for (int s = 0; s < c->series_count; s++) {
        const struct chart_series *l = &c->series[s];
        if (!l->name || at + 4 + columns_of(l->name) > row.column + row.columns) continue;
        bool by_letter = letters || (l->points && on->theme->letters);
        uint32_t sign = by_letter   ? (uint32_t)(unsigned char)chart_letter_of(c, s)
                        : l->points ? on->glyphs->bullet
                        : l->dashed ? 0x2504u
                                    : 0x2500u;
        put(on->cells, row.row, at, sign, (struct style){.ink = l->tone});
        if (!l->points) put(on->cells, row.row, at + 1, sign, (struct style){.ink = l->tone});
        at += 3 +
              put_text(on->cells, row.row, at + 3, row.column + row.columns - at - 3, INK(PLAIN), l->name) +
              2;
    }
}

struct plot chart_draw(const struct scene *on, struct box area, const struct chart *c)
{
    struct plot p = {.x = chart_axis_of(c, &c->x, true), .y = chart_axis_of(c, &c->y, false)};
    double across[MOST_TICKS], up[MOST_TICKS];
    bool legend = (!c->no_legend || c->y.name) && area.rows >= LEAST_ROWS + 3;
    struct box head = box_cut_top(&area, legend);
    int ups = chart_ticks_of(&p.y, area.rows / 2 > 5 ? 5 : area.rows / 2, up), gutter = 0;
    for (int i = 0; i < ups; i++) {
        int width = columns_of(p.y.label(up[i]).at);
        if (width > gutter) gutter = width;
    }
    gutter = (gutter > MOST_GUTTER ? MOST_GUTTER : gutter) + 1;
    p.box = (struct box){area.row, area.column + gutter + 1, area.rows - 2, area.columns - gutter - 1};
    if (p.box.rows < LEAST_ROWS || p.box.columns < LEAST_COLUMNS) return p.box.rows = 0, p;
    if (legend) chart_draw_legend(on, (struct box){head.row, p.box.column, 1, p.box.columns}, c);
    chart_draw_left(on, &p, up, ups, gutter + 1);
    chart_draw_below(on, &p, across, chart_ticks_of(&p.x, p.box.columns / 10, across));
    for (int i = 0; i < c->mark_count; i++) {
        int row, column;
        if (!plot_cell(&p, c->marks[i].x, p.y.from, &row, &column)) continue;
        for (int r = p.box.row; r < p.box.row + p.box.rows; r++)
            put(on->cells, r, column, on->glyphs->ascii ? ':' : 0x2506, INK(KEY));
    }
    chart_draw_series(on, &p, c);
    /* Beside its mark, in the highest row with room; on top where there is none. */
    for (int i = 0; i < c->mark_count; i++) {
        int row, column;
        if (!plot_cell(&p, c->marks[i].x, p.y.from, &row, &column)) continue;
        int width = columns_of(c->marks[i].words), right = p.box.column + p.box.columns;
        int at = column + 2 + width <= right ? column + 2 : column - 1 - width;
        if (at < p.box.column) continue;
        bool is_free = false;
        for (row = p.box.row - 1; !is_free && row < p.box.row + p.box.rows - 1;) {
            is_free = true;
            row++;
            for (int k = at; k < at + width; k++)
                is_free &= on->cells->at[row * on->cells->columns + k].code == ' ';
        }
        put_text(on->cells, is_free ? row : p.box.row, at, width, INK(KEY), c->marks[i].words);
    }
    return p;
}

struct unit {
    double size;
    const char *name;
};

/* Three digits, in the first unit that is not larger than the value. */
static struct chart_label chart_in_units(double value, const struct unit *units)
{
    struct chart_label w;
    double v = fabs(value);
    while (units->size > v * 1.0005 && units[1].name) units++;
    double part = value / units->size;
    int digits = fabs(part - round(part)) <= 1e-6 * fabs(part) ? 0
                 : fabs(part) < 9.995                          ? 2
                                                               : fabs(part) < 99.95;
    snprintf(w.at, sizeof w.at, "%.*f%s", digits, part, units->name);
    return w;
}

struct chart_label chart_number(double value)
{
    static const struct unit units[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"},
                                        {1e3, " k"},  {1, ""},     {0, NULL}};
    return chart_in_units(value, units);
}

struct chart_label chart_bytes(double value)
{
    static const struct unit units[] = {{1099511627776.0, " TiB"},
                                        {1073741824.0, " GiB"},
                                        {1048576.0, " MiB"},
                                        {1024.0, " KiB"},
                                        {1, ""},
                                        {0, NULL}};
    return chart_in_units(value, units);
}

struct chart_label chart_seconds(double value)
{
    static const struct unit units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {0, NULL}};
    return value == 0 ? (struct chart_label){"0"} : chart_in_units(value, units);
}

/* Stacked bars. The ends of parts are rounded once each, so that parts neither overlap nor leave gaps. */
const struct part_look wait_looks[LX_WAIT_COUNT] = {
    [LX_WAIT_HBM] = {TONE_HIGH, 'H'},  [LX_WAIT_LX] = {TONE_LOW, 'L'},
    [LX_WAIT_RING] = {TONE_WARN, 'r'}, [LX_WAIT_COMPUTE] = {TONE_GOOD, 'c'},
    [LX_WAIT_SYNC] = {TONE_DIM, 's'},  [LX_WAIT_LAUNCH] = {TONE_DIM, '-'}};
const struct part_look byte_looks[LX_BYTE_KIND_COUNT] = {
    [LX_BYTES_WEIGHTS] = {TONE_LOW, 'w'},  [LX_BYTES_INPUTS] = {TONE_GOOD, 'i'},
    [LX_BYTES_OUTPUTS] = {TONE_WARN, 'o'}, [LX_BYTES_INTERMEDIATES] = {TONE_HIGH, 'm'},
    [LX_BYTES_SPILLS] = {TONE_HIGH, 's'},  [LX_BYTES_RELAYOUTS] = {TONE_TITLE, 'r'},
    [LX_BYTES_LINKED] = {TONE_DIM, 'l'}};

static void put_part(const struct scene *on, int row, int column, const struct part_look *look)
{
    uint32_t code = on->theme->letters || on->glyphs->ascii ? (uint32_t)look->letter : on->glyphs->full;
    put(on->cells, row, column, code, (struct style){.ink = look->tone});
}

void put_stack(const struct scene *on, struct box row, const double *parts, const struct part_look *looks,
               int count, double whole)
{
    double sum = 0;
    int at = 0;
    if (!(whole > 0) || row.rows < 1) return;
    for (int k = 0; k < count; k++) {
        sum += parts[k];
        int end = (int)lround(fmin(sum / whole, 1) * row.columns);
        for (; at < end; at++) put_part(on, row.row, row.column + at, &looks[k]);
    }
    if (at == 0 && sum > 0 && row.columns > 0)
        put(on->cells, row.row, row.column, on->glyphs->bar[1], INK(DIM));
}

void put_level(const struct scene *on, struct box column, double share, struct style style)
{
    int steps = 8 * column.rows, level = (int)(fmin(share, 1) * steps + 0.5);
    if (share > 0 && level == 0) level = 1;
    for (int k = 0; k < column.rows; k++) {
        int part = level - 8 * (column.rows - 1 - k);
        put(on->cells, column.row + k, column.column,
            on->glyphs->level[part < 0   ? 0
                              : part > 8 ? 8
                                         : part],
            style);
    }
}

void put_wait_legend(const struct scene *on, struct box row)
{
    int words = 0, each = 4; /* columns beside each word: 4, or 3 where it is narrow */
    for (int k = 0; k < LX_WAIT_COUNT; k++) words += columns_of(lx_wait_word((enum lx_wait)k));
    if (words + each * LX_WAIT_COUNT > row.columns + 2) each = 3;
    int at = row.columns - words - each * LX_WAIT_COUNT + each - 2;
    for (int k = 0; k < LX_WAIT_COUNT && at >= 0; k++) {
        put_part(on, row.row, row.column + at, &wait_looks[k]);
        at += each + put_text(on->cells, row.row, row.column + at + 2, row.columns, INK(DIM),
                              lx_wait_word((enum lx_wait)k));
    }
}
