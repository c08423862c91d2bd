/* Colours and letters of a raster: a buffer has the same letter and colour in every view. The selected
 * buffer has a bright outline, marked ones are hatched, tiles are dotted. Names stand in rectangles that
 * are wide enough, arrows where a stay is filled or saved, the names of pools above their bands. Copies
 * that are not made in the selected iteration are not bold. */
#include "tui/map/paint_map.h"
#include "export/nest_words.h"

enum { MOST_PICKED = 16 };

/* The arguments of all functions below. */
struct painter {
    const struct scene *on;
    struct box area;
    const struct map_paint *m;
    const struct raster *r;
    int across, down;
    bool letters;
    uint8_t ramp;
    struct heat *heat;
    struct raster_rect picked[MOST_PICKED]; /* lives of the selected buffer */
    int picked_count;
};

int map_rows(const struct scene *on, int rows)
{
    return on->theme->letters || on->glyphs->ascii ? rows : 2 * rows;
}

int map_across(const struct scene *on)
{
    return on->theme->letters || !on->glyphs->quarters ? 1 : 2;
}

uint8_t map_ramp(const struct raster *r)
{
    int32_t taken = 0;
    for (int i = 0; i < r->time.cells * r->address.cells; i++)
        taken += r->at[i].state >= CELL_ONE && r->at[i].state <= CELL_MANY;
    return 2 * r->dense > taken ? TONE_HEAT0 : TONE_GREY0;
}

static bool paint_is_shown(const struct map_paint *m, int32_t buffer)
{
    return !m->filter || !*m->filter || has_text(m->outcome->plan->problem.buffers[buffer].name, m->filter);
}

/* The selected iteration of a nest. */
static int64_t paint_iteration_of(const struct painter *p, int32_t nest)
{
    const struct lx_plan *plan = p->m->outcome->plan;
    return nest < 0 ? 0 : min_i64(p->m->iteration, nest_iterations(&plan->nests[nest]) - 1);
}

static bool paint_has_owner(const struct raster_cell *c)
{
    return c->state == CELL_ONE || c->state == CELL_HANDOVER;
}

static bool paint_is_of(const struct painter *p, int row, int column, int32_t owner)
{
    const struct raster *r = p->r;
    if (row < 0 || row >= r->address.cells || column < 0 || column >= r->time.cells) return true;
    const struct raster_cell *c = raster_at(r, row, column);
    return paint_has_owner(c) && c->owner == owner;
}

static uint8_t paint_tone_of(const struct map_paint *m, int32_t buffer)
{
    return paint_is_shown(m, buffer) ? tone_of_identity(buffer_identity(m->outcome->plan, buffer)) : TONE_DIM;
}

/* Every second cell of a tile is dotted, but not the one where it begins. */
static bool paint_shows_tile(const struct painter *p, int row, int column, int32_t owner)
{
    int y = row * p->down, x = column * p->across;
    if ((row + column) % 2 == 0 || !is_tile(p->m->outcome->plan, owner)) return false;
    return (x > 0 && paint_is_of(p, y, x - p->across, owner)) ||
           (y > 0 && paint_is_of(p, y - p->down, x, owner));
}

/* The content of a cell of the grid: its only buffer (-1: none or several), the number of buffers, their
 * kinds. */
struct content {
    int32_t owner;
    int owners;
    bool whole; /* the whole cell is the owner's */
    bool many, handover, reserved, heading, free;
};

static struct content paint_look_at(const struct painter *p, int row, int column)
{
    struct content k = {.owner = -1, .whole = true};
    int32_t second = -1;
    for (int y = row * p->down; y < (row + 1) * p->down && y < p->r->address.cells; y++)
        for (int x = column * p->across; x < (column + 1) * p->across; x++) {
            const struct raster_cell *c = raster_at(p->r, y, x);
            k.many |= c->state == CELL_MANY;
            k.heading |= c->state == CELL_HEADING;
            k.reserved |= c->state == CELL_RESERVED;
            k.free |= c->state == CELL_FREE;
            if (!paint_has_owner(c)) continue;
            /* A handover that is several cells wide is marked in its first ones. */
            const struct raster_cell *before = x < p->across ? NULL : raster_at(p->r, y, x - p->across);
            k.handover |= c->state == CELL_HANDOVER &&
                          !(before && before->state == CELL_HANDOVER && before->owner == c->owner);
            if (k.owners == 0)
                k.owner = c->owner, k.owners = 1;
            else if (c->owner != k.owner && k.owners == 1)
                second = c->owner, k.owners = 2;
            else if (c->owner != k.owner && c->owner != second)
                k.owners = 3;
        }
    k.whole = k.owners == 1 && !k.many && !k.heading && !k.reserved && !k.free;
    if (k.owners > 1) k.owner = -1;
    return k;
}

static uint32_t paint_letter_of(const struct painter *p, int row, int column, const struct content *k)
{
    const struct glyphs *s = p->on->glyphs;
    if (k->owners == 0) return k->reserved ? '\\' : s->light;
    if (k->handover) return '/';
    if (!paint_is_shown(p->m, k->owner)) return ':';
    if (p->m->different && p->m->different[k->owner] &&
        ((row + column) % 2 || column == 0 || !paint_is_of(p, row, column - 1, k->owner)))
        return '!';
    if (paint_shows_tile(p, row, column, k->owner)) return TILE_LETTER;
    return (uint32_t)(unsigned char)identity_letter(buffer_identity(p->m->outcome->plan, k->owner));
}

/* Tones of the four quarters of a cell; the selected buffer has an outline where something else begins
 * beside it. */
static void paint_tones(const struct painter *p, int row, int column, const struct content *k)
{
    uint8_t tone[4] = {0};
    for (int i = 0; i < 4; i++) {
        int y = row * p->down + i / 2, x = column * p->across + (p->across > 1 ? i % 2 : 0);
        if (y >= p->r->address.cells) continue;
        const struct raster_cell *c = raster_at(p->r, y, x);
        int32_t owner = c->owner;
        if (c->state == CELL_RESERVED)
            tone[i] = TONE_RESERVED;
        else if (!paint_has_owner(c))
            tone[i] = TONE_PLAIN;
        else if (owner == p->m->selected &&
                 !(paint_is_of(p, y - 1, x, owner) && paint_is_of(p, y + 1, x, owner) &&
                   paint_is_of(p, y, x - 1, owner) && paint_is_of(p, y, x + 1, owner)))
            tone[i] = TONE_PICK;
        else if (p->m->different && p->m->different[owner] && (y + x) % 2)
            tone[i] = TONE_MARKED;
        else
            tone[i] = paint_tone_of(p->m, owner);
    }
    int y = p->area.row + row, x = p->area.column + column;
    bool plain = tone[0] == tone[1] && tone[0] == tone[2] && tone[0] == tone[3];
    put_blocks(p->on->cells, p->on->theme, p->on->glyphs, y, x, tone);
    if (plain && k->reserved)
        put(p->on->cells, y, x, p->on->glyphs->shade, INK_ON(RESERVED, RESERVED));
    else if (plain && k->whole && k->handover)
        put(p->on->cells, y, x, '/', (struct style){TONE_LABEL, tone[0], MARK_BOLD});
    else if (plain && k->whole && paint_shows_tile(p, row, column, k->owner))
        put(p->on->cells, y, x, p->on->glyphs->shades[1], (struct style){TONE_LABEL, tone[0], 0});
}

static void paint_cell(struct painter *p, int row, int column)
{
    struct content k = paint_look_at(p, row, column);
    if (k.heading) return;
    if (k.many || k.owners > 2 || (k.owners && heat_is_lens[p->m->heat])) {
        if (!p->heat->at) heat_make(p->r, p->m->heat, p->across, p->down, p->heat);
        const struct scene *on = p->on;
        int y = p->area.row + row, x = p->area.column + column;
        double share = (double)p->heat->at[row * p->heat->columns + column];
        put_heat(on->cells, on->theme, on->glyphs, y, x, p->ramp, share);
        int low = p->r->address.cells - (row + 1) * p->down, left = column * p->across;
        bool picked = false; /* the selected buffer is one of several */
        for (int i = 0; i < p->picked_count; i++)
            picked |= p->picked[i].left < left + p->across && p->picked[i].right >= left &&
                      p->picked[i].bottom < low + p->down && p->picked[i].top >= low;
        if (picked && p->letters)
            put_paper(on->cells, (struct box){y, x, 1, 1}, (struct style){0, 0, MARK_REVERSE});
        else if (picked)
            put(on->cells, y, x, on->glyphs->quarters ? on->glyphs->quadrant[9] : on->glyphs->half_up,
                (struct style){TONE_PICK, on->cells->at[y * on->cells->columns + x].style.paper, MARK_BLOCK});
    } else if (p->letters) {
        struct style style = {.ink = TONE_FREE};
        if (k.owners) style.ink = paint_is_shown(p->m, k.owner) ? paint_tone_of(p->m, k.owner) : TONE_FREE;
        if (k.handover) style.marks = MARK_BOLD;
        if (k.owners && k.owner == p->m->selected) style.marks |= MARK_REVERSE;
        put(p->on->cells, p->area.row + row, p->area.column + column, paint_letter_of(p, row, column, &k),
            style);
    } else
        paint_tones(p, row, column, &k);
}

/* Does a run of cells of the grid belong to one buffer, without a handover? */
static bool paint_run_is(const struct painter *p, int row, int column, int length, int32_t owner)
{
    if (column < 0 || (column + length) * p->across > p->r->time.cells || row < 0 ||
        row * p->down >= p->r->address.cells)
        return false;
    for (int c = column; c < column + length; c++) {
        struct content k = paint_look_at(p, row, c);
        if (!k.whole || k.owner != owner || k.handover) return false;
    }
    return true;
}

/* The name of a buffer in the middle row of its rectangle, and, of a tile, the slice of the iteration, if
 * there is room for both. A name is cut to no less than four letters. */
static void paint_label(const struct painter *p, const struct raster_rect *rect)
{
    int32_t i = rect->buffer;
    const struct lx_plan *plan = p->m->outcome->plan;
    const char *name = plan->problem.buffers[i].name;
    int first = p->r->address.cells - 1 - rect->top, last = p->r->address.cells - 1 - rect->bottom;
    if (rect->thin || rect->right - rect->left + 1 < (p->letters ? 3 : 1) * p->across ||
        !paint_is_shown(p->m, i))
        return;
    int row = (first + last) / 2 / p->down, side = p->letters,
        left = (rect->left + p->across - 1) / p->across, right = (rect->right + 1) / p->across - 1;
    while (right >= left && !paint_run_is(p, row, right, 1, i)) right--; /* a handover */
    while (left <= right && !paint_run_is(p, row, left, 1, i)) left++;
    if (left > right) return;
    int room = right - left + 1 - 2 * side;
    int32_t nest = is_tile(plan, i) ? plan_nest_at(plan, plan->stays[i].first) : -1;
    struct text words = {0};
    if (nest >= 0 && columns_of(name) + 8 <= room) {
        text_format(&words, "%s ", name);
        add_slice_words(plan, &plan->nests[nest], plan->stays[i].tensor, plan->stays[i].hold,
                        paint_iteration_of(p, nest), &words);
        if (columns_of(words.at) > room) text_free(&words);
    }
    const char *shown = words.at ? words.at : name;
    int all = columns_of(shown), width = all > room ? room : all,
        column = left + (room + 2 * side - width) / 2;
    if ((width >= 4 || width >= all) && paint_run_is(p, row, column - side, width + 2 * side, i)) {
        struct style style = {side ? TONE_PLAIN : TONE_LABEL, side ? TONE_PLAIN : paint_tone_of(p->m, i),
                              MARK_BOLD};
        if (i == p->m->selected) style = (struct style){TONE_CURSOR, TONE_CURSOR, MARK_BOLD};
        int y = p->area.row + row, x = p->area.column + column;
        for (int k = -1; !side && is_tile(plan, i) && k <= width; k += width + 1) /* no dots beside it */
            if (paint_run_is(p, row, column + k, 1, i)) put(p->on->cells, y, x + k, ' ', style);
        if (side) put(p->on->cells, y, x - 1, ' ', style), put(p->on->cells, y, x + width, ' ', style);
        put_name(p->on->cells, y, x, width, style, shown);
    }
    text_free(&words);
}
/* Arrows along the first or last column of a stay: loads for clones and after evictions, the ring for
 * relayouts, moves for another address; stores at the end. */
static void paint_transfer(const struct painter *p, const struct lx_transfer *t)
{
    const struct lx_plan *plan = p->m->outcome->plan;
    const struct lx_buffer *b = &plan->problem.buffers[t->stay];
    int left, right, bottom, top;
    bool thin;
    uint32_t codes[] = {[LX_LOAD] = p->on->glyphs->load,
                        [LX_STORE] = p->on->glyphs->store,
                        [LX_RING] = p->on->glyphs->ring,
                        [LX_MOVE] = p->on->glyphs->move};
    if (plan->answer.address[t->stay] < 0 || b->size == 0 || !paint_is_shown(p->m, t->stay)) return;
    int64_t at = plan_index_place(p->r->index, t->stay);
    if (!raster_columns(p->r, b->start, b->end, &left, &right) || right - left < 2 ||
        !scale_cells(&p->r->address, at, at + b->size, &bottom, &top, &thin))
        return;
    int column = t->kind == LX_STORE ? right : left;
    struct style style =
        p->letters ? INK(KEY) : (struct style){TONE_LABEL, paint_tone_of(p->m, t->stay), MARK_BOLD};
    if (!transfer_happens(plan, t, paint_iteration_of(p, plan_nest_at(plan, t->tick)))) {
        style.marks = 0;
        if (p->letters) style.ink = TONE_DIM;
    }
    for (int row = (p->r->address.cells - 1 - top) / p->down;
         row <= (p->r->address.cells - 1 - bottom) / p->down; row++)
        if (paint_run_is(p, row, column, 1, t->stay))
            put(p->on->cells, p->area.row + row, p->area.column + column, codes[t->kind], style);
}

void map_paint(const struct scene *on, struct box area, const struct map_paint *m)
{
    const struct raster *r = m->raster;
    const struct lx_plan *plan = m->outcome->plan;
    struct painter p = {.on = on, .area = area, .m = m, .r = r, .down = map_rows(on, 1)};
    p.across = r->across > 1 ? r->across : 1;
    p.letters = on->theme->letters || on->glyphs->ascii;
    SCOPED(heat_free) struct heat own = {0};
    p.heat = m->heats ? m->heats : &own;
    p.ramp = map_ramp(r);
    for (int32_t i = 0; p.m->selected >= 0 && i < p.r->rect_count && p.picked_count < MOST_PICKED; i++)
        if (p.r->rects[i].buffer == p.m->selected) p.picked[p.picked_count++] = p.r->rects[i];
    for (int row = 0; row * p.down < r->address.cells; row++)
        for (int c = 0; c < raster_width(r); c++) paint_cell(&p, row, c);
    for (int row = 0; p.r->index->bands.count > 1 && row * p.down < p.r->address.cells; row++) {
        const struct raster_cell *c = raster_at(p.r, row * p.down, 0);
        bool above = row > 0 && raster_at(p.r, (row - 1) * p.down, 0)->state == CELL_HEADING;
        if (c->state == CELL_HEADING && !above) {
            /* "── fast, 256 B, 75 % in use at most ──────" */
            const struct band *b = &p.r->index->bands.at[c->owner];
            char words[200], name[100];
            int y = p.area.row + row, used = 0;
            for (int k = 0; k < p.area.columns; k++)
                put(p.on->cells, y, p.area.column + k, p.on->glyphs->horizontal, INK(FRAME));
            snprintf(name, sizeof name, " %.80s", b->name ? b->name : "");
            used = put_name(p.on->cells, y, p.area.column + 2, p.area.columns / 2, INK(TITLE), name);
            if (b->capacity > 0)
                snprintf(words, sizeof words, ", %s, %s in use at most ", in_bytes(b->capacity).at,
                         in_percent((double)b->peak / (double)b->capacity).at);
            else
                snprintf(words, sizeof words, ", %s in use at most ", in_bytes(b->peak).at);
            put_text(p.on->cells, y, p.area.column + 2 + used, p.area.columns - 2 - used, INK(DIM), words);
        }
    }
    for (int32_t i = 0; i < plan->transfer_count; i++) paint_transfer(&p, &plan->transfers[i]);
    for (int32_t i = 0; i < r->rect_count; i++) paint_label(&p, &r->rects[i]);
}

/* The most important tone, then the one with most quarters, except `except`. */
static uint8_t paint_blocks_choose(const struct theme *t, const uint8_t tone[4], int except)
{
    int best = -1, most = -1;
    for (int i = 0; i < 4; i++) {
        int score = tone[i] == TONE_PICK         ? 40
                    : tone[i] == TONE_MARKED     ? 30
                    : t->look[tone[i]].paper < 0 ? 0
                                                 : 20;
        for (int k = 0; k < 4; k++) score += tone[k] == tone[i];
        if (tone[i] != except && score > most) most = score, best = tone[i];
    }
    return (uint8_t)(best < 0 ? except : best);
}

void put_blocks(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
                const uint8_t tone[4])
{
    uint8_t ink = paint_blocks_choose(t, tone, -1), paper = paint_blocks_choose(t, tone, ink);
    unsigned quarters = 0;
    for (int i = 0; i < 4; i++) quarters |= (unsigned)(tone[i] == ink || (tone[i] != paper && i < 2)) << i;
    if (t->look[ink].paper < 0) quarters = 0, paper = ink;
    if (quarters == 15)
        put(g, row, column, ' ', (struct style){TONE_LABEL, ink, 0});
    else
        put(g, row, column, glyphs->quadrant[quarters],
            (struct style){ink, paper, quarters ? MARK_BLOCK : 0});
}

void put_heat(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
              uint8_t ramp, double share)
{
    int tones = t->heats;
    double at = share < 0 ? 0 : share > 1 ? 1 : share;
    if (t->letters || glyphs->ascii) {
        uint8_t ink = tones ? (uint8_t)(ramp + (int)(at * (tones - 1) + 0.5)) : TONE_PLAIN;
        put(g, row, column, (uint32_t)(unsigned char)heat_letter(at), (struct style){ink, 0, 0});
    } else if (tones == MOST_HEATS)
        put(g, row, column, ' ',
            (struct style){TONE_LABEL, (uint8_t)(ramp + (int)(at * (tones - 1) + 0.5)), 0});
    else {
        int step = (int)(at * 4 * (tones - 1) + 0.5), paper = step / 4, next = paper + (paper + 1 < tones);
        put(g, row, column, glyphs->shades[step % 4],
            (struct style){(uint8_t)(ramp + next), (uint8_t)(ramp + paper), MARK_BLOCK});
    }
}
