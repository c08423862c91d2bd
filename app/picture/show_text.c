/* The address-time map in plain text.
 *
 * * One row per address band, high addresses on top; one column per tick, per stretch between events, or
 * per group of ticks (scale.h). A buffer has one letter, given by its number among the buffers that may be
 * placed; it is the same in every plan of a pattern. Cells: '.' free, a letter, '/' the tick on which a
 * buffer takes over its parent's place, a shade for several buffers, '\' reserved bytes. Several pools are
 * bands one below the other. */
#include "export/nest_words.h"
#include "export/page.h"
#include "picture/picture.h"
#include "picture/heat.h"
#include "text/table.h"

enum { DEFAULT_WIDTH = 100, DEFAULT_HEIGHT = 24, WIDEST_TICK = 4, LEAST_ADDRESS = 6 };

struct glyphs {
    const char *side, *corner, *line, *mark, *from, *to;
    const char *level[11]; /* occupancy in tenths; the last: full */
};

static const struct glyphs plain = {
    "|", "+", "-", "+", "[", "]", {" ", "1", "2", "3", "4", "5", "6", "7", "8", "9", "#"}};
static const struct glyphs fancy = {
    "│", "└", "─", "┬", "└", "┘", {" ", "▁", "▁", "▂", "▃", "▄", "▄", "▅", "▆", "▇", "█"}};

struct map {
    const struct lx_plan *plan;
    struct lx_occupancy time;
    struct plan_index index;
    struct raster raster;
    struct heat heat;
    int tick_width; /* characters a column */
    const struct glyphs *glyphs;
};

/* Rows and columns, cut at the edges of lives. Several pools have a heading and at least one row each. */
static void show_text_scales(struct map *m, int width, int height)
{
    const struct bands *b = &m->index.bands;
    int64_t *edges = mem_alloc((2 * (size_t)m->index.count + 1) * sizeof *edges),
            span = m->time.last - m->time.first, grain = m->plan->problem.alignment;
    struct cell_scale *rows = &m->raster.address, *columns = &m->raster.time;
    int n = 2 * m->index.count;
    while (grain < b->top / height / 16) grain *= 2; /* bands of round sizes */
    m->tick_width = (int)min_i64(max_i64(width / max_i64(span, 1), 1), WIDEST_TICK);
    for (int32_t i = 0; i < m->index.count; i++) {
        edges[2 * i] = m->index.lives[i].place;
        edges[2 * i + 1] = m->index.lives[i].place + m->index.lives[i].size;
    }
    *rows = (struct cell_scale){.from = 0, .to = b->top, .by_edges = true};
    if (b->count > 1)
        bands_axis(b, 0, b->top, (int)max_i64(height, 2 * (int64_t)b->count), 1, grain, edges, n,
                   &rows->axis);
    else
        axis_make(&rows->axis, 0, b->top, height, grain, edges, n);
    rows->cells = rows->axis.cells;
    for (int32_t i = 0; i < m->index.count; i++) {
        edges[2 * i] = m->index.lives[i].start;
        edges[2 * i + 1] = m->index.lives[i].end;
    }
    *columns = (struct cell_scale){.from = m->time.first, .to = m->time.last, .by_edges = true};
    axis_make(&columns->axis, m->time.first, m->time.last, width, 1, edges, n);
    columns->cells = columns->axis.cells;
    m->raster.across = 1;
    mem_free(edges);
}

/* Equal cells are painted together; a tile has its letter only at the begin of a tick. */
static void show_text_cells(const struct map *m, const struct raster_cell *c, int count, struct text *out)
{
    SCOPED(text_free) struct text s = {0};
    bool owned = c->state == CELL_ONE || c->state == CELL_HANDOVER,
         tile = owned && is_tile(m->plan, c->owner);
    for (int i = 0; i < count; i++) {
        char first = c[i].state == CELL_FREE       ? '.'
                     : c[i].state == CELL_RESERVED ? '\\'
                     : c[i].state == CELL_MANY     ? heat_letter((double)m->heat.at[&c[i] - m->raster.at])
                                                   : identity_letter(buffer_identity(m->plan, c[i].owner));
        bool between = tile && m->tick_width == 1 && i % 2; /* with wider ticks, the rest of each */
        text_pad(&s, c->state == CELL_HANDOVER ? '/' : between ? TILE_LETTER : first, 1);
        text_pad(&s, tile ? TILE_LETTER : first, (size_t)m->tick_width - 1);
    }
    if (owned)
        paint_identity(out, buffer_identity(m->plan, c->owner), s.at);
    else
        paint_add(out, c->state == CELL_MANY ? PAINT_PLAIN : PAINT_DIM, s.at);
}

static int show_text_address_width(const struct map *m)
{
    char s[32];
    int width = snprintf(s, sizeof s, "0x%llx", (long long)m->raster.address.to);
    return width > LEAST_ADDRESS ? width : LEAST_ADDRESS;
}

static void show_text_write_rows(const struct map *m, struct text *out)
{
    int digits = show_text_address_width(m) - 2, rows = m->raster.address.cells,
        columns = m->raster.time.cells;
    for (int r = 0; r < rows; r++) {
        const struct raster_cell *row = raster_at(&m->raster, r, 0);
        int64_t address = scale_value(&m->raster.address, rows - 1 - r);
        if (row->state == CELL_HEADING) {
            const struct band *b = &m->index.bands.at[row->owner];
            text_pad(out, ' ', (size_t)digits + 4);
            text_format(out, "%s%s ", m->glyphs->side, m->glyphs->line);
            char *name = printable(b->name ? b->name : "?", 40);
            paint_add(out, PAINT_HEADING, name);
            mem_free(name);
            if (b->capacity > 0)
                text_format(out, ", %s, %s in use at most\n", in_bytes(b->capacity).at,
                            in_percent((double)b->peak / (double)b->capacity).at);
            else
                text_format(out, ", %s in use at most\n", in_bytes(b->peak).at);
            continue;
        }
        bands_pool(&m->index.bands, address, &address);
        text_format(out, " 0x%0*llx %s", digits, (long long)address, m->glyphs->side);
        for (int c = 0, n; c < columns; c += n) {
            for (n = 1; c + n < columns && row[c].state == row[c + n].state &&
                        (row[c].state == CELL_FREE || row[c].owner == row[c + n].owner);)
                n++;
            show_text_cells(m, &row[c], n, out);
        }
        text_add(out, "\n");
    }
}

/* The line below the map with a mark at every labelled tick, and the labels. */
static void show_text_ruler(const struct map *m, struct text *out)
{
    SCOPED(text_free) struct text labels = {0};
    size_t indent = (size_t)show_text_address_width(m) + 2;
    int free_from = 0;
    text_pad(out, ' ', indent);
    text_add(out, m->glyphs->corner);
    text_pad(&labels, ' ', indent + 1);
    for (int c = 0; c < m->raster.time.cells; c++) {
        int at = c * m->tick_width;
        bool labelled = at >= free_from;
        if (labelled) {
            char s[32];
            int n = snprintf(s, sizeof s, "%lld", (long long)m->raster.time.axis.edge[c]);
            text_pad(&labels, ' ', (size_t)at + indent + 1 - labels.length);
            text_add(&labels, s);
            free_from = at + (n < 7 ? 2 * ((n + 3) / 2) : n + 2);
        }
        for (int k = 0; k < m->tick_width; k++)
            text_add(out, labelled && k == 0 ? m->glyphs->mark : m->glyphs->line);
    }
    text_format(out, "\n%s  tick\n", labels.at);
}

static void show_text_write_nests(const struct map *m, struct text *out)
{
    int at = 0;
    if (m->plan->nest_count == 0) return;
    text_format(out, "%*s ", show_text_address_width(m) + 2, "nests");
    for (int32_t i = 0; i < m->plan->nest_count; i++) {
        const struct lx_nest *n = &m->plan->nests[i];
        int first, last;
        if (!raster_columns(&m->raster, n->first, (int64_t)n->last + 1, &first, &last)) continue;
        int from = (int)max_i64(first * m->tick_width, at), to = (last + 1) * m->tick_width;
        if (to <= from) continue; /* in the column of the one before */
        text_pad(out, ' ', (size_t)(from - at));
        /* A bracket over the ticks of a nest, with its loops if they fit. */
        int length = to - from;
        SCOPED(text_free) struct text words = {0};
        add_nest_words(m->plan, n, &words);
        int room = length - 2, used = (int)words.length <= room ? (int)words.length : 0;
        text_add(out, m->glyphs->from);
        for (int k = 0; k < (room - used) / 2; k++) text_add(out, m->glyphs->line);
        if (used) paint_add(out, PAINT_HEADING, words.at);
        for (int k = (room - used) / 2 + used; k < room; k++) text_add(out, m->glyphs->line);
        if (length > 1) text_add(out, m->glyphs->to);
        at = to;
    }
    text_add(out, "\n");
}

static void show_text_heading(const struct map *m, struct text *out)
{
    const struct lx_plan *p = m->plan;
    char *name = printable(p->graph->name, 60);
    paint_add(out, PAINT_HEADING, name);
    mem_free(name);
    text_add(out, " by ");
    add_printable(out, p->solver, 0);
    text_add(out, ": ");
    add_value_words(p, false, out);
    if (p->answer.status != LX_OPTIMAL) {
        text_add(out, "; ");
        add_status_words(p, out);
    }
    text_add(out, "\n");
    if (p->imported.ops) {
        text_add(out, "model: ");
        add_imported_words(p, out);
        text_add(out, "\n");
    }
    /* HBM bytes by purpose; a list has only costs. */
    int64_t *moved = p->layouts ? moved_by_buffers(p) : NULL;
    if (p->layouts) {
        struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
        text_add(out, "bytes: ");
        add_byte_sums(p, &sums, out);
        text_add(out, "\n");
    }
    mem_free(moved);
    const struct axis *a = &m->raster.time.axis;
    bool reserved = false;
    for (int32_t k = 0; k < p->problem.pool_count; k++) reserved |= p->problem.pools[k].reserved_count > 0;
    bool several = m->index.bands.count > 1;
    text_add(out, several                        ? "rows: pools, the first on top"
                  : m->raster.address.axis.exact ? "rows: bands between buffer edges"
                                                 : "rows: bands of ");
    if (!several && !m->raster.address.axis.exact)
        text_format(out, "%s", in_bytes(m->raster.address.axis.edge[1] - m->raster.address.axis.edge[0]).at);
    if (a->exact && a->even)
        text_add(out, "; columns: one tick each");
    else if (a->exact)
        text_add(out, "; columns: between events, not to scale");
    else
        text_format(out, "; columns: %s ticks each", grouped(a->edge[1] - a->edge[0]).at);
    text_format(out, "; / in place%s%s%s\n\n", m->plan->nest_count > 0 ? ", ~ a tile of a nest" : "",
                m->raster.dense ? ", : to @ several, by how full it is" : "",
                reserved ? ", \\ reserved" : "");
}

/* Tables below the map: letters with their buffers, and buffers off chip with their reasons. */
enum { MOST_LISTED = LETTER_COUNT };

/* One buffer of the picture. */
struct legend_row {
    const struct lx_plan *plan;
    const struct lx_buffer *is;
    int32_t i;
    char letter;
};

/* With its pool, where there are several. */
static void show_text_address_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct legend_row *row = row_of_table;
    const struct lx_plan *p = row->plan;
    int64_t at = p->answer.address[row->i];
    (void)column;
    if (p->problem.pool_count > 1)
        value_format(v, "%s %lld", p->problem.pools[p->answer.pool[row->i]].name, (long long)at);
    else
        value_whole(v, at);
}

/* All of them, as far as they fit. */
static void show_text_life_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_buffer *b = ((const struct legend_row *)row_of_table)->is;
    char words[120];
    int n = 0;
    int32_t k = 0;
    (void)column;
    for (; k < lx_life_count(b) && n < 40; k++) {
        struct lx_life life = lx_life_at(b, k);
        n += snprintf(words + n, sizeof words - (size_t)n, "%s%lld..%lld", k ? " " : "",
                      (long long)life.start, (long long)life.end);
    }
    value_format(v, "%s%s", words, k < lx_life_count(b) ? " ..." : "");
}

/* clang-format off */
VALUE_OF(letter_value,  struct legend_row, value_format(v, "%c", row->letter); v->paint = PAINT_HEADING;)
VALUE_OF(name_value,    struct legend_row, v->words = row->is->name;)
VALUE_OF(bytes_value,   struct legend_row, value_whole(v, row->is->size);)
VALUE_OF(slot_value,    struct legend_row, int32_t slot = row->plan->took_slot_of[row->i];
         v->words = slot >= 0 ? row->plan->problem.buffers[slot].name : "";)
VALUE_OF(tile_value,    struct legend_row, if (is_tile(row->plan, row->i)) /* "1 of 16, held in level 1" */
         value_format(v, "1 of %s, held in level %d", grouped(tile_count(row->plan, row->i)).at,
                      row->plan->stays[row->i].hold);)
VALUE_OF(cost_value,    struct legend_row, value_whole(v, row->is->spill_cost);)
VALUE_OF(reason_value,  struct legend_row, v->words = row->plan->reason[row->i]; v->paint = PAINT_DIM;)

static const struct column on_chip_array[] = {
    {.key = "letter",      .heading = "",            .kind = VALUE_WORDS,   .value = letter_value},
    {.key = "buffer",      .heading = "on chip",     .kind = VALUE_NAME,    .value = name_value},
    {.key = "bytes",       .heading = "bytes",       .kind = VALUE_BYTES,   .value = bytes_value},
    {.key = "life",        .heading = "life",        .kind = VALUE_MARK,    .value = show_text_life_value},
    {.key = "address",     .heading = "address",     .kind = VALUE_ADDRESS, .value = show_text_address_value},
    {.key = "tile",        .heading = "tile",        .kind = VALUE_WORDS,   .flags = COLUMN_MAY_HIDE, .value = tile_value},
    {.key = "in_place_of", .heading = "in place of", .kind = VALUE_NAME,    .value = slot_value},
};

static const struct column off_chip_array[] = {
    {.key = "buffer", .heading = "off chip", .kind = VALUE_NAME,  .value = name_value},
    {.key = "bytes",  .heading = "bytes",    .kind = VALUE_BYTES, .value = bytes_value},
    {.key = "life",   .heading = "life",     .kind = VALUE_MARK,  .value = show_text_life_value},
    {.key = "cost",   .heading = "cost",     .kind = VALUE_BYTES, .value = cost_value},
    {.key = "reason", .heading = "reason",   .kind = VALUE_WORDS, .value = reason_value},
};
/* clang-format on */

const struct columns on_chip_columns = COLUMNS("buffers on chip", on_chip_array);
const struct columns off_chip_columns = COLUMNS("buffers off chip", off_chip_array);

/* The buffers on chip with their letters, or those off chip with their reasons. */
static void show_text_table(const struct lx_plan *p, const struct picture *how, bool on_chip,
                            struct text *out)
{
    int32_t count = 0, *order = on_chip ? NULL : off_chip_by_cost(p, &count);
    OWNED struct legend_row *rows = mem_alloc(((size_t)p->problem.count + 1) * sizeof *rows);
    for (int32_t k = 0, n = 0; k < (on_chip ? p->problem.count : count); k++) {
        int32_t i = on_chip ? k : order[k];
        if (on_chip && p->answer.address[i] < 0) continue;
        rows[n++] = (struct legend_row){p, &p->problem.buffers[i], i, identity_letter(buffer_identity(p, i))};
        if (on_chip) count = n;
    }
    int32_t shown = how->all || count < MOST_LISTED ? count : MOST_LISTED;
    text_format(out, count ? "\n" : "\n  nothing is %s chip\n", on_chip ? "on" : "off");
    if (count) table_add_text(&TABLE(on_chip ? on_chip_columns : off_chip_columns, rows, shown), out);
    mem_free(order);
    if (shown < count)
        text_format(out,
                    on_chip ? "  ... %s more; letters repeat after 62; --all lists them\n"
                            : "  ... %s more, each cheaper; --all lists them\n",
                    counted(count - shown, "buffer").at);
}

void show_text(const struct lx_plan *p, const struct picture *how, struct text *out)
{
    enum { MOST_NESTS = 12 };
    struct map m = {.plan = p, .glyphs = how->ascii ? &plain : &fancy};
    int width = how->width ? how->width : DEFAULT_WIDTH, height = how->height ? how->height : DEFAULT_HEIGHT;
    char label[32]; /* of the longest address */
    int32_t shown = how->all || p->nest_count <= MOST_NESTS ? p->nest_count : MOST_NESTS;
    lx_occupancy_make(p, LX_ALL_POOLS, &m.time);
    plan_index_make(p, &m.index);
    int gutter = snprintf(label, sizeof label, "0x%llx", (long long)m.index.bands.top) + 3;
    if (gutter < LEAST_ADDRESS + 3) gutter = LEAST_ADDRESS + 3;
    if (m.time.last > m.time.first) {
        show_text_scales(&m, width > gutter + 8 ? width - gutter : 8, height);
        raster_fill(&m.index, &m.raster);
        heat_make(&m.raster, HEAT_OCCUPANCY, 1, 1, &m.heat);
        show_text_heading(&m, out);
        show_text_write_rows(&m, out);
        show_text_ruler(&m, out);
        show_text_write_nests(&m, out);
        int64_t whole =
            m.plan->problem.objective == LX_HEIGHT ? m.plan->figures.height_bytes : m.plan->problem.capacity;
        whole = max_i64(whole, 1);
        text_format(out, "%*s%s", show_text_address_width(&m) + 2, "in use ", m.glyphs->side);
        for (int c = 0; c < m.raster.time.cells; c++) {
            int64_t most =
                lx_occupancy_most(&m.time, m.raster.time.axis.edge[c], m.raster.time.axis.edge[c + 1]);
            int level = most >= whole ? 10 : (int)((double)most / (double)whole * 10);
            if (most > 0 && level == 0) level = 1;
            for (int k = 0; k < m.tick_width; k++) text_add(out, m.glyphs->level[level]);
        }
        text_format(out, "\n\npeak %s at tick %s, %s of %s; largest address %s\n", in_bytes(m.time.peak).at,
                    grouped(m.time.peak_tick).at, in_percent((double)m.time.peak / (double)whole).at,
                    in_bytes(whole).at, in_bytes(m.plan->figures.height_bytes).at);
        if (m.index.bands.top < m.index.bands.limit)
            text_format(out, "(free above the map up to 0x%llx)\n", (long long)m.plan->problem.capacity);
        if (p->nest_count) add_nests_sum(p, out), text_add(out, "\n");
        for (int32_t i = 0; i < shown; i++) {
            text_add(out, "  ");
            add_nest_title(p, i, out);
            text_add(out, "\n");
        }
        if (shown < p->nest_count)
            text_format(out, "  ... %s more; --all lists them\n", counted(p->nest_count - shown, "nest").at);
        show_text_table(p, how, true, out);
    } else
        text_add(out, "no buffer of this plan may be on chip\n");
    show_text_table(p, how, false, out);
    lx_occupancy_free(&m.time);
    raster_free(&m.raster);
    heat_free(&m.heat);
    plan_index_free(&m.index);
}

void show_svg(const struct lx_plan *p, const struct picture *how, struct text *out)
{
    plan_svg(p, how->width, how->height, false, 0, out);
}

void show_html(const struct lx_plan *p, const struct picture *how, struct text *out)
{
    plan_page(p, NULL, how->remedies, out);
}

char identity_letter(int32_t identity)
{
    static const char letters[LETTER_COUNT + 1] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    return letters[(uint32_t)identity % LETTER_COUNT];
}
