/* Cores: the split of the selected op over the cores, as a workbench. A cursor goes over other splits; each is
 * planned in the background, so that its HBM bytes, time and syncs of the whole plan are known, and its
 * picture is that plan's: which core holds which part of each operand, what cores send each other, and the
 * launch of a core. <Enter> asks for the split by a hint. */
#include "tui/views/cores_picture.h"
#include "export/nest_words.h"
#include "planning/op_words.h"

static const struct work cores_work[] = TRIES_WORK;

/* The quickest divisions of the op, timed with its operands where the plan has them. */
enum { MOST_CHOICES = 12 };
enum cores_pane { PANE_GRID, PANE_RING, PANE_LAUNCH, CORES_PANES };

struct cores_view {
    struct list list; /* of splits */
    struct tries rows;
    uint64_t outcome, opened; /* numbers: of the outcome; of the content of the file */
    bool begun;
    int present; /* its row */
    int operand;
    enum cores_pane pane;
    struct core_grid grid;
};

/* The op of a plan in another one: by its name. */
static int32_t cores_op_in(const struct lx_plan *p, const struct lx_plan *from, int32_t op)
{
    const struct lx_graph *g = p->layouts->graph;
    const char *name = from->layouts->graph->ops[op].name;
    if (op < g->op_count && strcmp(g->ops[op].name, name) == 0) return op;
    for (int32_t i = 0; i < g->op_count; i++)
        if (strcmp(g->ops[i].name, name) == 0) return i;
    return -1;
}

/* The selected op in a plan; false: it is not divided there. */
static bool cores_find_cut(const struct session *s, const struct lx_plan *p, int operand, struct cut *c)
{
    *c = (struct cut){.plan = p};
    if (!p || !p->divisions || s->selection.op < 0) return false;
    int32_t op = p == s->shown.plan ? s->selection.op : cores_op_in(p, s->shown.plan, s->selection.op);
    if (op < 0 || op >= p->divisions->count || p->divisions->at[op].kind != LX_DIVIDED) return false;
    c->all = p->divisions;
    c->g = p->layouts->graph;
    c->d = &p->divisions->at[op];
    c->op = &c->g->ops[op];
    cut_take_operand(c, operand);
    return true;
}

/* "s/8 t/4" */
static void cores_name_row(const struct cut *c, const struct lx_alternative *a, int neighbours,
                           struct remedy *it)
{
    SCOPED(text_free) struct text words = {0};
    for (int k = 0; k < c->d->split_count; k++)
        if (a->splits[k] > 1)
            text_format(&words, "%s%c/%lld", words.at ? " " : "", c->d->splits[k].letter,
                        (long long)a->splits[k]);
    snprintf(it->what, sizeof it->what, "%.100s", words.at ? words.at : "not split");
    snprintf(it->note, sizeof it->note, "op alone %.40s; same split as %d of %.40s",
             in_micros(a->device_us).at, a->agreeing, counted(neighbours, "neighbour").at);
}

/* Does `before` divide op `op` of `now` as that does? */
static bool cores_same_split(const struct lx_plan *before, const struct lx_plan *now, int32_t op)
{
    int32_t was = cores_op_in(before, now, op);
    if (was < 0 || before->divisions->at[was].split_count != now->divisions->at[op].split_count) return false;
    for (int i = 0; i < now->divisions->at[op].split_count; i++)
        if (before->divisions->at[was].splits[i].split != now->divisions->at[op].splits[i].split)
            return false;
    return true;
}

/* After a split was taken, or undone, the rows stay as they are: a hint would leave no other split to choose. The
 * row of the settings of now becomes the present one. False: there is none. */
static bool cores_keep_rows(struct cores_view *v, const struct session *s)
{
    struct remedies *r = &v->rows.list;
    const struct outcome *o = &s->shown;
    if (v->opened != s->opened || !r->plan || !outcome_graph(o) || s->selection.op < 0 || o->was_read ||
        o->interim || cores_op_in(o->plan, r->plan, v->rows.of_what) != s->selection.op)
        return false;
    for (int i = 0; i < (int)r->all.count; i++) {
        struct remedy *it = &r->all.at[i];
        if (!it->sort && it->state != REMEDY_TRIED) continue; /* a split that no hint can ask for */
        if (!lx_settings_same(&it->options, &o->how.options)) continue;
        if (it->made && !cores_same_split(it->made, o->plan, s->selection.op))
            return false; /* an interim plan's */
        v->list.cursor = v->present = i;
        v->rows.of_what = s->selection.op;
        lx_plan_free(it->made);
        it->made = lx_plan_ref(o->plan);
        it->state = REMEDY_TRIED;
        remedy_take_figures(it, o->plan, NULL);
        lx_plan_free(r->plan);
        r->plan = lx_plan_ref(o->plan);
        return true;
    }
    return false;
}

/* Brings the present split to the front; the others keep their order. */
static void cores_present_first(struct lx_alternative *at, int count)
{
    int k = 0;
    while (k < count && !at[k].present) k++;
    if (k == count) return;
    struct lx_alternative present = at[k];
    memmove(&at[1], &at[0], (size_t)k * sizeof *at);
    at[0] = present;
}

/* The present split of the selected op, and others, each a row. */
static void cores_list(struct cores_view *v, const struct session *s)
{
    struct tries *t = &v->rows;
    const struct outcome *o = &s->shown;
    struct lx_alternative at[MOST_CHOICES];
    double share[LX_MAX_OPERANDS];
    int neighbours = 0;
    struct cut c;
    v->begun = false;
    v->opened = s->opened;
    v->list.cursor = v->present = 0;
    t->of_what = s->selection.op;
    if (!cores_find_cut(s, o->plan, v->operand, &c)) return;
    lx_plan_hbm_shares(o->plan, c.d->op, share);
    int count = lx_division_alternatives(o->divisions, c.d->op, share, at, MOST_CHOICES, &neighbours);
    cores_present_first(at, count);
    t->list = (struct remedies){.plan = lx_plan_ref(o->plan), .asked = o->how.options, .keeps = true};
    for (int i = 0; i < count; i++) {
        bool can = !at[i].present && remedies_push_split(&t->list, c.d->op, at[i].splits);
        if (!can) VEC_PUSH(&t->list.all, ((struct remedy){.options = o->how.options, .order = i}));
        struct remedy *it = &t->list.all.at[i];
        cores_name_row(&c, &at[i], neighbours, it);
        if (!can) it->state = at[i].present ? REMEDY_TRIED : REMEDY_NONE;
        if (!at[i].present) continue;
        v->list.cursor = v->present = i;
        remedy_take_figures(it, o->plan, NULL);
        it->made = lx_plan_ref(o->plan);
    }
}

/* Rows of the selected op of the plan on the screen; they are planned once that is settled. */
static void cores_ask(struct cores_view *v, struct session *s)
{
    const struct outcome *o = &s->shown;
    if (v->outcome != o->number || v->rows.of_what != s->selection.op) {
        bool same_op = v->rows.of_what == s->selection.op && v->opened == s->opened;
        if (!(v->outcome != o->number && cores_keep_rows(v, s)) &&
            !(same_op && session_is_stale(s) && v->rows.list.plan)) {
            tries_stop(&v->rows, s);
            tries_forget(&v->rows);
            cores_list(v, s);
        }
        v->outcome = o->number;
    }
    if (v->begun || session_is_stale(s) || v->rows.list.all.count == 0) return;
    v->begun = true;
    tries_begin(&v->rows, s, 0);
}

/* The row under the cursor; NULL: there is none. */
static const struct remedy *cores_row(const struct cores_view *v)
{
    int i = v->list.cursor;
    return i >= 0 && (size_t)i < v->rows.list.all.count ? &v->rows.list.all.at[i] : NULL;
}

/* The plan that is drawn: of the row under the cursor, if it is known; else the one on the screen. */
static const struct lx_plan *cores_plan(const struct cores_view *v, const struct session *s)
{
    const struct remedy *it = cores_row(v);
    return it && it->made ? it->made : s->shown.plan;
}

/* Of other plans the first iteration is shown. */
static int64_t cores_iteration(const struct scene *on, const struct cut *c, int32_t nest)
{
    return c->plan == on->session->shown.plan ? session_iteration(on->session, nest) : 0;
}

/* The begin of the iteration's tile along a variable. */
int64_t cut_tile_offset(const struct scene *on, const struct cut *c, int split)
{
    const struct lx_plan *p = c->plan;
    int32_t nest = c->d->splits[split].tiles > 1 ? plan_nest_at(p, c->d->op) : -1;
    int level = nest < 0 ? -1 : nest_level_of(p, c->d->op, c->d->splits[split].letter);
    if (level < 0) return 0;
    return iteration_index(&p->nests[nest], cores_iteration(on, c, nest), level) * c->d->splits[split].extent;
}

static int cores_draw_head(const struct scene *on, struct box area, const struct cut *c)
{
    int row = area.row;
    struct text time = {0};
    /* With the time of its copies: other divisions are timed without them. */
    bool now = c->plan == on->session->shown.plan; /* a file's own claims of time are not used */
    double share[LX_MAX_OPERANDS],
        all = now ? on->session->shown.waits[c->d->op].device_us : c->plan->traffic[c->d->op].device_us;
    lx_plan_hbm_shares(c->plan, c->d->op, share);
    double copies = all - lx_division_time(c->all, c->d->op, share);
    text_format(&time, "%s", in_micros(all).at);
    if (copies > 0.0005) text_format(&time, ", %s of copies", in_micros(copies).at);
    put_format(on->cells, row++, area.column, area.columns, INK(TITLE), "%s = %s %s   %lld of %s   %s",
               c->op->name, c->op->kind->name, c->op->einsum ? c->op->einsum : "",
               (long long)c->d->cores_used, counted(c->d->cores, "core").at, time.at ? time.at : "");
    text_free(&time);
    const struct lx_plan *p = c->plan;
    int32_t nest = area.rows >= 8 ? plan_nest_at(p, c->d->op) : -1;
    if (nest >= 0) { /* one tile is split over the cores */
        struct text line = {0};
        add_iteration_words(p, &p->nests[nest], cores_iteration(on, c, nest), &line);
        text_add(&line, "; ");
        add_nest_title(p, nest, &line);
        put_line(on->cells, (struct box){row++, area.column, 1, area.columns}, INK(KEY), &line);
    }
    int room = area.rows >= 16 ? 8 : area.rows >= 10 ? 3 : 1;
    for (int i = 0, n = 0; i < c->d->split_count && n < room; i++) {
        const struct lx_split *s = &c->d->splits[i];
        if (c->d->split_count > room && s->split == 1) continue;
        SCOPED(text_free) struct text why = {0};
        char ways[32] = "not split";
        if (s->split > 1) snprintf(ways, sizeof ways, "split %3lld ways", (long long)s->split);
        int64_t at = cut_tile_offset(on, c, i);
        if (s->tiles > 1)
            text_format(&why, "tile %s of %s, at %s; ", grouped(at / max_i64(s->extent, 1) + 1).at,
                        grouped(s->tiles).at, grouped(at).at);
        add_split_words(c->plan, c->d->op, i, &why);
        n++;
        put_format(on->cells, row++, area.column, area.columns, s->split > 1 ? INK(PLAIN) : INK(DIM),
                   " %c%s %6lld  %-14s  %6lld each  %s", s->letter, s->is_summed ? "+" : " ",
                   (long long)s->extent, ways, (long long)s->per_core, why.at ? why.at : "");
    }
    return row - area.row;
}

/* The neighbours' splits of an operand: the op that writes it, or the first reader that differs. */
static enum cut_agreement cores_agreement(const struct cut *c, int k, struct text *words)
{
    enum cut_agreement cut = CUT_SAME;
    int32_t t = op_operand(c->op, k);
    for (int32_t i = 0; i < c->g->op_count && k < c->op->input_count; i++)
        if (op_operand_made(&c->g->ops[i], t) >= 0) {
            text_free(words);
            cut = add_cut_words(c->plan, c->d->op, k, i, words);
        }
    for (int32_t i = 0; i < c->g->op_count && k >= c->op->input_count && cut == CUT_SAME; i++)
        for (int j = 0; j < c->g->ops[i].input_count; j++)
            if (c->g->ops[i].inputs[j] == t) {
                text_free(words);
                cut = add_cut_words(c->plan, c->d->op, k, i, words);
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
        SCOPED(text_free) struct text words = {0}, line = {0};
        enum cut_agreement cut = cores_agreement(c, k, &words);
        add_printable(&line, c->g->tensors[op_operand(c->op, k)].name, 24);
        text_format(&line, ": %s", words.at ? words.at : "");
        if (cut != CUT_SAME)
            put_text(on->cells, row.row, row.column + 2, row.columns - 2,
                     (struct style){.ink = cut_tones[cut]}, line.at ? line.at : "");
        if (cut != CUT_SAME) return;
    }
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

static void cores_mark_row(const struct scene *on, const void *view, struct box row, int i)
{
    const struct cores_view *v = view;
    if (v->rows.list.all.at[i].state == REMEDY_OPEN)
        put(on->cells, row.row, row.column, on->glyphs->spinner[on->spin & 3], INK(WARN));
    if (i == v->present) put(on->cells, row.row, row.column, on->glyphs->mark, INK(KEY));
    if (i == v->list.cursor) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
}

static void cores_draw_menu(const struct scene *on, struct cores_view *v, struct box area)
{
    struct tries_table t = {&v->list, &v->rows.list, .by = {-1, false}, .mark = cores_mark_row, .view = v};
    if (v->rows.list.all.count == 0 || area.rows < 2) return;
    memcpy(t.columns, remedy_columns.at, sizeof t.columns);
    t.columns[REMEDY_COLUMN_DELTA].from = t.columns[REMEDY_COLUMN_PRESENCE].from = 1 << 20;
    t.columns[REMEDY_COLUMN_WHAT].heading = "split";
    t.columns[REMEDY_COLUMN_WHAT].width = t.columns[REMEDY_COLUMN_VALUE].width = area.columns < 60 ? 12 : 14;
    t.columns[REMEDY_COLUMN_VALUE].from = 28;
    t.columns[REMEDY_COLUMN_SHARE].from = t.columns[REMEDY_COLUMN_SLOWER].from = 40;
    t.columns[REMEDY_COLUMN_SYNCS].from = 57;
    t.columns[REMEDY_COLUMN_TIME].from = 71;
    t.columns[REMEDY_COLUMN_NOTE].from = 110;
    tries_draw(on, area, &t);
}

/* " (+12 %)" or " (=)": against the plan of now. */
static void cores_add_change(double now, double then, struct text *out)
{
    double change = now > 0 ? (then - now) / now : 0;
    if (change > -5e-5 && change < 5e-5)
        text_add(out, " (=)");
    else
        text_format(out, " (%s%s)", change > 0 ? "+" : "", in_percent(change).at);
}

/* What the row under the cursor would change, in words. */
static void cores_draw_effect(const struct scene *on, const struct cores_view *v, struct box row)
{
    const struct remedy *it = cores_row(v);
    if (!it || row.rows < 1) return;
    const struct lx_figures *now = &v->rows.list.plan->figures;
    struct text line = {0};
    text_add(&line, it->what);
    if (v->list.cursor == v->present)
        text_add(&line, ": the split of now");
    else if (it->state <= REMEDY_CUT) {
        text_format(&line, ": HBM %s", in_short_bytes(it->value).at);
        cores_add_change((double)lx_plan_value(v->rows.list.plan), (double)it->value, &line);
        text_format(&line, ", %s", in_micros(it->us).at);
        cores_add_change(now->end_to_end_us, it->us, &line);
        text_format(&line, ", %s", counted(it->syncs, "sync").at);
        text_format(&line, " (now %s)", grouped(now->sync_times).at);
        if (it->state == REMEDY_CUT) text_format(&line, ", cut short: %s plans it in full", KEY_OF(OPEN));
    } else
        text_add(&line, it->state == REMEDY_OPEN ? ": being planned; the picture is the split of now"
                        : it->state == REMEDY_NONE
                            ? ": no hint can ask for it, as the op is not in the pattern"
                            : ": not planned; the picture is the split of now");
    text_format(&line, "; %s", it->note);
    put_line(on->cells, row, it->state == REMEDY_OPEN ? INK(WARN) : INK(KEY), &line);
}

static void cores_draw_operands(const struct scene *on, struct box *area, const struct cut *c)
{
    int most = area->rows > 12 ? 6 : area->rows / 3;
    for (int k = 0; k < op_operand_count(c->op) && k < most; k++) {
        struct box row = box_cut_top(area, 1);
        const struct lx_operand_span *span = &c->d->operands[k];
        int32_t t = op_operand(c->op, k);
        bool here = k == c->operand;
        SCOPED(text_free) struct text words = {0};
        enum cut_agreement cut = cores_agreement(c, k, &words);
        put(on->cells, row.row, row.column, here ? on->glyphs->mark : ' ', INK(KEY));
        put(on->cells, row.row, row.column + 2, on->glyphs->bullet,
            (struct style){.ink = tone_of_identity(t)});
        put_text(on->cells, row.row, row.column + 4, 18, here ? INK(TITLE) : INK(PLAIN),
                 c->g->tensors[t].name);
        int at = row.column + 23;
        at += put_format(on->cells, row.row, at, row.columns - 23, INK(DIM),
                         "%s  %s B per core, spans %s B  ", k < c->op->input_count ? "in " : "out",
                         grouped(span->core_bytes).at, grouped(span->bytes).at);
        put_text(on->cells, row.row, at, row.column + row.columns - at, (struct style){.ink = cut_tones[cut]},
                 words.at ? words.at : "");
    }
}

static void cores_draw_launch(const struct scene *on, struct box area, const struct cut *c)
{
    const struct lx_op_launch *o = &c->plan->launches[c->d->op];
    struct text line = {0};
    text_format(&line, "launch: %s%s%s", lx_launch_kind_word(o->kind), o->why ? ": " : "",
                o->why ? o->why : "");
    box_cut_top(&area, put_paragraph(on->cells, area, INK(DIM), &line));
    if (o->launch) launch_draw_tiles(on, area, c->plan->graph->device.cores, o);
}

/* Beside the splits: what `d` has chosen. */
static void cores_draw_pane(const struct scene *on, struct cores_view *v, struct box area,
                            const struct cut *c)
{
    if (v->pane == PANE_RING)
        picture_draw_ring(on, area, c);
    else if (v->pane == PANE_LAUNCH)
        cores_draw_launch(on, area, c);
    else {
        int rows = picture_draw_grid(on, &v->grid, area, c);
        box_cut_top(&area, rows);
        picture_draw_core(on, area, c);
    }
}

/* On a large screen everything is shown at once: splits, cores and launch at the left, operands and the ring
 * at the right. */
static void cores_draw_all(const struct scene *on, struct cores_view *v, struct box area, const struct cut *c)
{
    struct box left = area, right = area;
    left.columns = 84;
    right.column += left.columns + 2, right.columns -= left.columns + 2;
    int count = (int)v->rows.list.all.count;
    cores_draw_menu(on, v, box_cut_top(&left, count + 1));
    box_cut_top(&left, 1);
    box_cut_top(&left,
                picture_draw_grid(on, &v->grid,
                                  (struct box){left.row, left.column, left.rows - 12, left.columns}, c));
    picture_draw_core(on, box_cut_top(&left, 2), c);
    box_cut_top(&left, 1);
    cores_draw_launch(on, left, c);
    /* A row for each core, if there is room and anything to show. */
    struct cut sent = *c;
    int ring = cut_take_ring(&sent) ? (int)min_i64(c->all->cores + 2, right.rows * 3 / 4) : 1;
    picture_draw_parts(on, box_cut_top(&right, right.rows - ring - 1), c);
    box_cut_top(&right, 1);
    picture_draw_ring(on, right, c);
}

static void cores_draw(const struct scene *on, void *state, struct box area)
{
    struct cores_view *v = state;
    struct cut c;
    cores_ask(v, on->session);
    v->grid.box.rows = 0;
    if (!cores_find_cut(on->session, cores_plan(v, on->session), v->operand, &c) &&
        !cores_find_cut(on->session, on->session->shown.plan, v->operand, &c)) {
        cores_draw_nothing(on, area);
        return;
    }
    v->operand = c.operand;
    box_cut_top(&area, cores_draw_head(on, area, &c));
    cores_draw_operands(on, &area, &c);
    struct box mismatch = box_cut_top(&area, area.rows >= 8);
    if (area.columns < 160) cores_draw_mismatch(on, mismatch, &c);
    if (area.columns >= 150 && area.rows >= 34) {
        cores_draw_effect(on, v, mismatch);
        cores_draw_all(on, v, area, &c);
        return;
    }
    struct box effect = box_cut_bottom(&area, area.rows >= 6);
    int count = (int)v->rows.list.all.count, most = area.rows >= 10 ? area.rows * 3 / 5 : area.rows;
    struct box menu = box_cut_top(&area, count + 1 < most ? most < 7        ? most
                                                            : count + 1 > 6 ? count + 1
                                                                            : 7
                                                          : most),
               pane = menu;
    if (area.columns >= 72) { /* the pane beside the splits */
        menu.columns = area.columns >= 116 ? 74 : area.columns >= 100 ? 60 : 46;
        pane = box_behind(pane, menu.columns + 2);
        cores_draw_pane(on, v, pane, &c);
    }
    cores_draw_menu(on, v, menu);
    picture_draw_parts(on, area, &c);
    cores_draw_effect(on, v, effect);
}

/* <Enter>: a hint for the split under the cursor. */
static void cores_apply(struct explorer *x, struct cores_view *v)
{
    const struct remedy *it = cores_row(v);
    if (!it || v->list.cursor == v->present || it->state == REMEDY_NONE) {
        explorer_say(x, TONE_WARN, "%s",
                     !it                            ? "there is no other split"
                     : v->list.cursor == v->present ? "the op is split so already"
                                                    : "no hint can ask for this split");
        return;
    }
    const char *first = it->state == REMEDY_CUT ? tries_first(&v->rows, &x->session, v->list.cursor) : NULL;
    if (first) {
        explorer_say(x, TONE_WARN, "%s", first);
        return;
    }
    tries_take(x, it, "split");
}

static bool cores_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct cores_view *v = state;
    struct session *s = &x->session;
    struct cut c;
    cores_ask(v, s);
    if (!cores_find_cut(s, s->shown.plan, v->operand, &c)) return false;
    int64_t core = s->selection.core, per_row = max_i64(v->grid.per_row, 1);
    const struct {
        enum request request;
        int64_t to;
    } moves[] = {{REQ_LEFT, core - 1},
                 {REQ_RIGHT, core + 1},
                 {REQ_PAGE_UP, core - per_row},
                 {REQ_PAGE_DOWN, core + per_row}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].request == r) return session_select_core(s, moves[i].to), true;
    if (list_move(&v->list, r, (int)v->rows.list.all.count, 1)) {
        const struct remedy *it = cores_row(v);
        if (it && it->state == REMEDY_LARGE) tries_ask(&v->rows, s, v->list.cursor);
        return true;
    }
    if (r == REQ_OPERAND) {
        v->operand = (v->operand + 1) % op_operand_count(c.op);
        session_select_buffer(s, outcome_buffer(&s->shown, op_operand(c.op, v->operand)));
        return true;
    }
    if (r == REQ_CORES_PANE) v->pane = (v->pane + 1) % CORES_PANES;
    if (r == REQ_OPEN && !argument) cores_apply(x, v);
    if (r == REQ_STOP && tries_running(&v->rows, s)) return tries_cancel(&v->rows, s), true;
    return r == REQ_CORES_PANE || (r == REQ_OPEN && !argument);
}

static void cores_mouse(struct explorer *x, void *state, const struct key *k)
{
    struct cores_view *v = state;
    if (k->code != AT_CLICK) {
        explorer_request(x, k->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, NULL);
        return;
    }
    if (box_holds(&v->grid.box, k->row, k->column) && v->grid.cell_columns > 0)
        session_select_core(&x->session, (int64_t)(k->row - v->grid.box.row) * v->grid.per_row +
                                             (k->column - v->grid.box.column) / v->grid.cell_columns);
    else if (box_holds(&v->list.rows, k->row, k->column) &&
             k->row - v->list.rows.row + v->list.top < (int)v->rows.list.all.count)
        v->list.cursor = k->row - v->list.rows.row + v->list.top;
}

static void cores_end(void *state)
{
    remedies_free(&((struct cores_view *)state)->rows.list);
}

static const struct cores_view cores_initial = {.rows = {.work = cores_work, .in_place = true}};

const struct view view_cores = {
    .name = "Cores",
    .purpose = "splits of an op: who holds what, what others would cost",
    .needs_plan = true,
    .state_size = sizeof(struct cores_view),
    .initial = &cores_initial,
    .end = cores_end,
    .hints = {{REQ_DOWN, "other split"},
              {REQ_OPEN, "take it"},
              {REQ_UNDO, "undo"},
              {REQ_NEXT_ITEM, "next op"},
              {REQ_OPERAND, "tensor"},
              {REQ_RIGHT, "core"},
              {REQ_CORES_PANE, "ring, launch"},
              {REQ_NEXT_ITERATION, "iteration"},
              {REQ_PARETO, "all plans"},
              {REQ_BACK, "back"}},
    .draw = cores_draw,
    .request = cores_request,
    .mouse = cores_mouse,
    .items = ITEMS_OPS,
};
