/* Cores: the split of the selected op over the cores. For one of its tensors at a time: which core holds
 * which part, as a grid of cores and as the tensor itself, and whether the ops before and after split it
 * in the same way. */
#include "tui/core/explorer.h"
#include "export/nest_words.h"
#include "planning/op_words.h"

enum { MOST_PER_ROW = 16 };

/* An op of the graph with layouts, one of its operands, and its core view. */
struct cut {
    const struct lx_divisions *all;
    const struct lx_graph *g;
    const struct lx_division *d;
    const struct lx_op *op;
    int32_t tensor;
    int operand;
    struct lx_core_view view;
    int64_t parts; /* different parts of the tensor */
};

/* The quickest divisions of the op, timed with its operands where the plan has them. */
enum { MOST_CHOICES = 12 };
struct core_menu {
    uint64_t outcome; /* number of the outcome */
    int32_t op, count;
    int neighbours;
    struct lx_alternative at[MOST_CHOICES];
};

struct cores_view {
    int operand;
    struct box grid; /* where cores were drawn last, for the mouse */
    int per_row, cell_columns;
    struct core_menu menu;
};

static bool cores_find_cut(const struct session *s, struct cores_view *v, struct cut *c)
{
    const struct outcome *o = &s->shown;
    *c = (struct cut){.all = o->divisions};
    if (!o->divisions || s->selection.op < 0) return false;
    c->d = outcome_division(o, s->selection.op);
    if (!c->d || c->d->kind != LX_DIVIDED) return false;
    c->g = o->layouts->graph;
    c->op = &c->g->ops[c->d->op];
    if (v->operand >= op_operand_count(c->op) || v->operand < 0) v->operand = 0;
    c->operand = v->operand;
    c->tensor = op_operand(c->op, c->operand);
    c->view = lx_division_view(o->divisions, c->d->op, c->operand);
    c->parts = 1;
    for (int i = 0; i < c->view.rank; i++) c->parts *= max_i64(c->view.slices[i], 1);
    return true;
}

/* The part of the tensor that a core holds, numbered row-major over the split dimensions. */
static int64_t cores_part_of(const struct cut *c, int64_t core)
{
    int64_t part = 0;
    for (int i = 0; i < c->view.rank; i++) {
        if (c->view.slices[i] <= 1) continue;
        part = part * c->view.slices[i] + core / max_i64(c->view.stride[i], 1) % c->view.slices[i];
    }
    return part;
}

/* The begin of the iteration's tile along a variable. */
static int64_t cores_tile_offset(const struct scene *on, const struct cut *c, int split)
{
    const struct lx_plan *p = session_plan(on->session);
    int32_t nest = c->d->splits[split].tiles > 1 ? plan_nest_at(p, c->d->op) : -1;
    int level = nest < 0 ? -1 : nest_level_of(p, c->d->op, c->d->splits[split].letter);
    if (level < 0) return 0;
    return iteration_index(&p->nests[nest], session_iteration(on->session, nest), level) *
           c->d->splits[split].extent;
}

static int cores_draw_head(const struct scene *on, struct box area, const struct cut *c)
{
    int row = area.row;
    struct text time = {0};
    /* With the time of its copies: other divisions are timed without them. */
    double share[LX_MAX_OPERANDS], all = on->session->shown.waits[c->d->op].device_us;
    lx_plan_hbm_shares(on->session->shown.plan, c->d->op, share);
    double copies = all - lx_division_time(on->session->shown.divisions, c->d->op, share);
    text_format(&time, "%s", in_micros(all).at);
    if (copies > 0.0005) text_format(&time, ", %s of copies", in_micros(copies).at);
    put_format(on->cells, row++, area.column, area.columns, INK(TITLE), "%s = %s %s   %lld of %s   %s",
               c->op->name, c->op->kind->name, c->op->einsum ? c->op->einsum : "",
               (long long)c->d->cores_used, counted(c->d->cores, "core").at, time.at ? time.at : "");
    text_free(&time);
    const struct lx_plan *p = session_plan(on->session);
    int32_t nest = area.rows >= 8 ? plan_nest_at(p, c->d->op) : -1;
    if (nest >= 0) { /* one tile is split over the cores */
        struct text line = {0};
        add_iteration_words(p, &p->nests[nest], session_iteration(on->session, nest), &line);
        text_add(&line, "; ");
        add_nest_title(p, nest, &line);
        put_line(on->cells, (struct box){row++, area.column, 1, area.columns}, INK(KEY), &line);
    }
    int room = area.rows >= 16 ? 8 : area.rows >= 10 ? 3 : 1;
    for (int i = 0, n = 0; i < c->d->split_count && n < room; i++) {
        const struct lx_split *s = &c->d->splits[i];
        if (c->d->split_count > room && s->split == 1) continue;
        struct text why = {0};
        char ways[32] = "not split";
        if (s->split > 1) snprintf(ways, sizeof ways, "split %3lld ways", (long long)s->split);
        int64_t at = cores_tile_offset(on, c, i);
        if (s->tiles > 1)
            text_format(&why, "tile %s of %s, at %s; ", grouped(at / max_i64(s->extent, 1) + 1).at,
                        grouped(s->tiles).at, grouped(at).at);
        add_split_words(on->session->shown.plan, c->d->op, i, &why);
        n++;
        put_format(on->cells, row++, area.column, area.columns, s->split > 1 ? INK(PLAIN) : INK(DIM),
                   " %c%s %6lld  %-14s  %6lld each  %s", s->letter, s->is_summed ? "+" : " ",
                   (long long)s->extent, ways, (long long)s->per_core, why.at ? why.at : "");
        text_free(&why);
    }
    return row - area.row;
}

/* The neighbours' splits of an operand: the op that writes it, or the first reader that differs. */
static enum cut_agreement cores_agreement(const struct scene *on, const struct cut *c, int k,
                                          struct text *words)
{
    enum cut_agreement cut = CUT_SAME;
    int32_t t = op_operand(c->op, k);
    for (int32_t i = 0; i < c->g->op_count && k < c->op->input_count; i++)
        if (op_operand_made(&c->g->ops[i], t) >= 0) {
            text_free(words);
            cut = add_cut_words(on->session->shown.plan, c->d->op, k, i, words);
        }
    for (int32_t i = 0; i < c->g->op_count && k >= c->op->input_count && cut == CUT_SAME; i++)
        for (int j = 0; j < c->g->ops[i].input_count; j++)
            if (c->g->ops[i].inputs[j] == t) {
                text_free(words);
                cut = add_cut_words(on->session->shown.plan, c->d->op, k, i, words);
            }
    return cut;
}

static const uint8_t cut_tones[] = {[CUT_SAME] = TONE_GOOD, [CUT_RING] = TONE_WARN, [CUT_HBM] = TONE_BAD};

/* For the line of an operand without room: the first split that differs from its neighbours, the selected
 * operand first. */
static void cores_draw_mismatch(const struct scene *on, struct box row, const struct cut *c)
{
    int n = op_operand_count(c->op);
    for (int i = 0; i < n && row.rows > 0; i++) {
        int k = (c->operand + i) % n;
        struct text words = {0}, line = {0};
        enum cut_agreement cut = cores_agreement(on, c, k, &words);
        add_printable(&line, c->g->tensors[op_operand(c->op, k)].name, 24);
        text_format(&line, ": %s", words.at ? words.at : "");
        if (cut != CUT_SAME)
            put_text(on->cells, row.row, row.column + 2, row.columns - 2,
                     (struct style){.ink = cut_tones[cut]}, line.at ? line.at : "");
        text_free(&words);
        text_free(&line);
        if (cut != CUT_SAME) return;
    }
}

/* A number for each part. Returns the rows it took. */
static int cores_draw_grid(const struct scene *on, struct cores_view *v, struct box area, const struct cut *c)
{
    int64_t cores = c->d->cores, per_row = on->session->shown.plan->graph->device.grid_x;
    int width = c->parts > 100 ? 5 : 4;
    if (per_row < 1 || per_row > MOST_PER_ROW) per_row = cores < MOST_PER_ROW / 2 ? cores : MOST_PER_ROW / 2;
    while (per_row > 1 && per_row * width > area.columns) per_row = (per_row + 1) / 2;
    put_format(on->cells, area.row, area.column, area.columns, INK(DIM), "cores, and the part each holds");
    v->grid = (struct box){area.row + 1, area.column, area.rows - 1, (int)per_row * width};
    v->per_row = (int)per_row;
    v->cell_columns = width;
    int64_t top = 0, rows = ceil_div_i64(cores, per_row);
    if (rows > area.rows - 1)
        top = min_i64(max_i64(on->session->selection.core / per_row - (area.rows - 1) / 2, 0),
                      rows - area.rows + 1);
    for (int64_t i = top * per_row; i < cores && i / per_row - top < area.rows - 1; i++) {
        int row = area.row + 1 + (int)(i / per_row - top), column = area.column + (int)(i % per_row) * width;
        bool works = i < c->d->cores_used, here = i == on->session->selection.core;
        int64_t part = cores_part_of(c, i);
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
static void cores_draw_core(const struct scene *on, struct box area, const struct cut *c)
{
    struct text line = {0};
    if (area.rows < 1) return;
    text_format(&line, "core %lld", (long long)on->session->selection.core);
    if (on->session->selection.core >= c->d->cores_used)
        text_add(&line, " is idle in this op");
    else {
        text_format(&line, " holds part %lld:", (long long)cores_part_of(c, on->session->selection.core));
        for (int i = 0; i < c->d->split_count; i++) {
            int64_t from, to;
            lx_division_slice(c->d, i, on->session->selection.core, &from, &to);
            int64_t offset = cores_tile_offset(on, c, i);
            text_format(&line, " %c %lld..%lld", c->d->splits[i].letter, (long long)(offset + from),
                        (long long)(offset + to));
        }
        if (c->view.partial) text_add(&line, "; partial sum");
        if (!c->view.representable) text_add(&line, "; its part is not a box of the device layout");
    }
    put_paragraph(on->cells, area, INK(PLAIN), &line);
}

/* Why there is no split to show, and what to do. */
static void cores_draw_nothing(const struct scene *on, struct box area)
{
    const struct outcome *o = &on->session->shown;
    int32_t op = on->session->selection.op;
    const struct lx_division *d = op >= 0 ? outcome_division(o, op) : NULL;
    struct style style = INK(PLAIN);
    if (!o->divisions)
        put_wrapped(on->cells, area, style,
                    "This pattern is a list of buffers: it has no ops to split over cores.");
    else if (!d)
        put_wrapped_format(on->cells, area, style,
                           "No op is selected: %s lists them, %s goes to the next one.", KEY_OF(GRAPH),
                           KEY_OF(NEXT_ITEM));
    else if (d->kind == LX_UNDIVIDED_EXTERN)
        put_wrapped_format(on->cells, area, style,
                           "This op runs off the device: no core has a part of it. %s goes to the next op.",
                           KEY_OF(NEXT_ITEM));
    else
        put_wrapped_format(
            on->cells, area, style,
            "This op's tensors are known by their bytes only, so it runs on one core. %s goes to "
            "the next op; patterns in graphs/ have shapes.",
            KEY_OF(NEXT_ITEM));
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

static void draw_cut_tensor(const struct scene *on, struct box area, const struct cut *c)
{
    int a = -1, b = -1;
    for (int i = 0; i < c->view.rank; i++)
        if (c->view.slices[i] > 1 && (b < 0 || c->view.slices[i] > c->view.slices[b])) b = i;
    for (int i = 0; i < c->view.rank; i++)
        if (i != b && c->view.slices[i] > 1 && (a < 0 || c->view.slices[i] > c->view.slices[a])) a = i;
    struct drawn d = a > b ? (struct drawn){b, a} : (struct drawn){a, b};
    tensor_draw_shape(on, box_cut_top(&area, 1), c, d);
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
            tensor_draw_field(on, field, part, mine);
        }
}

static void draw_core_menu(const struct scene *on, struct box area, const struct cut *c, struct core_menu *m)
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
    for (int i = 0; i < m->count && i + 1 < area.rows; i++) {
        struct box row = (struct box){area.row + 1 + i, area.column, 1, area.columns};
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
            put_right(on->cells, row.row, row.column + 33, 8,
                      a->agreeing == m->neighbours ? INK(GOOD) : INK(DIM), numbers);
        text_free(&words);
    }
}

static void cores_draw(const struct scene *on, void *state, struct box area)
{
    struct cores_view *v = state;
    struct cut c;
    if (!cores_find_cut(on->session, v, &c)) {
        cores_draw_nothing(on, area);
        return;
    }
    box_cut_top(&area, cores_draw_head(on, area, &c));
    int most = area.rows > 12 ? 6 : area.rows / 3;
    for (int k = 0; k < op_operand_count(c.op) && k < most; k++) {
        struct box row = box_cut_top(&area, 1);
        const struct lx_operand_span *span = &c.d->operands[k];
        int32_t t = op_operand(c.op, k);
        bool here = k == c.operand;
        struct text words = {0};
        enum cut_agreement cut = cores_agreement(on, &c, k, &words);
        put(on->cells, row.row, row.column, here ? on->glyphs->mark : ' ', INK(KEY));
        put(on->cells, row.row, row.column + 2, on->glyphs->bullet,
            (struct style){.ink = tone_of_identity(t)});
        put_text(on->cells, row.row, row.column + 4, 18, here ? INK(TITLE) : INK(PLAIN),
                 c.g->tensors[t].name);
        int at = row.column + 23;
        at += put_format(on->cells, row.row, at, row.columns - 23, INK(DIM),
                         "%s  %s B per core, spans %s B  ", k < c.op->input_count ? "in " : "out",
                         grouped(span->core_bytes).at, grouped(span->bytes).at);
        put_text(on->cells, row.row, at, row.column + row.columns - at, (struct style){.ink = cut_tones[cut]},
                 words.at ? words.at : "");
        text_free(&words);
    }
    struct box core = box_cut_bottom(&area, area.rows >= 8 ? 2 : 1);
    struct box mismatch = box_cut_top(&area, area.rows >= 8);
    if (area.columns < 160) cores_draw_mismatch(on, mismatch, &c);
    struct box grid = area, tensor = area;
    if (area.columns >= 72) { /* the tensor beside the grid, other divisions below it */
        grid.columns = area.columns / 2 - 2;
        if (grid.columns > 66) grid.columns = 66;
        grid.rows = cores_draw_grid(on, v, grid, &c);
        tensor.column += v->grid.columns + 4 > 44 ? v->grid.columns + 4 : 44;
        tensor.columns = area.column + area.columns - tensor.column;
        draw_cut_tensor(on, tensor, &c);
        draw_core_menu(on,
                       (struct box){grid.row + grid.rows + 1, grid.column, area.rows - grid.rows - 1,
                                    tensor.column - grid.column - 2},
                       &c, &v->menu);
    } else
        cores_draw_grid(on, v, grid, &c);
    cores_draw_core(on, core, &c);
}

static bool cores_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct cores_view *v = state;
    struct cut c;
    (void)argument;
    if (!cores_find_cut(&x->session, v, &c)) return false;
    int64_t core = x->session.selection.core, per_row = max_i64(v->per_row, 1);
    const struct {
        enum request request;
        int64_t to;
    } moves[] = {{REQ_LEFT, core - 1},       {REQ_RIGHT, core + 1}, {REQ_UP, core - per_row},
                 {REQ_DOWN, core + per_row}, {REQ_TOP, 0},          {REQ_BOTTOM, c.d->cores - 1}};
    if (r == REQ_OPERAND) {
        v->operand = (v->operand + 1) % op_operand_count(c.op);
        session_select_buffer(&x->session, outcome_buffer(&x->session.shown, op_operand(c.op, v->operand)));
        return true;
    }
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].request == r) return session_select_core(&x->session, moves[i].to), true;
    return false;
}

static void cores_mouse(struct explorer *x, void *state, const struct key *k)
{
    struct cores_view *v = state;
    if (k->code != AT_CLICK || !box_holds(&v->grid, k->row, k->column) || v->cell_columns < 1) return;
    int64_t core =
        (int64_t)(k->row - v->grid.row) * v->per_row + (k->column - v->grid.column) / v->cell_columns;
    struct cut c;
    if (cores_find_cut(&x->session, v, &c)) session_select_core(&x->session, core);
}

const struct view view_cores = {
    .name = "Cores",
    .purpose = "which core holds which slice of the op's tensors",
    .needs_plan = true,
    .state_size = sizeof(struct cores_view),
    .hints = {{REQ_NEXT_ITEM, "next op"},
              {REQ_OPERAND, "next tensor"},
              {REQ_NEXT_ITERATION, "iteration"},
              {REQ_RIGHT, "core"},
              {REQ_FEWER_CORES, "fewer cores"},
              {REQ_MORE_CORES, "more"},
              {REQ_GRAPH, "graph"},
              {REQ_BACK, "back"}},
    .draw = cores_draw,
    .request = cores_request,
    .mouse = cores_mouse,
    .items = ITEMS_OPS,
};
