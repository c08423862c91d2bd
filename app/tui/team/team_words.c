/* The selected tensor, the device and the team in words. */
#include "tui/team/team_picture.h"

void team_add_grid(const struct lx_team_grid *grid, const char *between, struct text *t)
{
    for (int a = 0; a < grid->axes; a++) text_format(t, "%s%d", a ? between : "", grid->size[a]);
}

void team_totals_draw(const struct scene *on, struct box row, const struct lx_team_plan *p)
{
    int wanted = on->session->team.members;
    struct text line = {0};
    if (wanted != p->devices) {
        put_format(on->cells, row.row, row.column, row.columns, INK(WARN), "STALE: sharding over %s",
                   counted(wanted, "device").at);
        return;
    }
    text_add(&line, counted(p->devices, "device").at);
    if (p->grid.axes > 1) {
        text_add(&line, ", ");
        team_add_grid(&p->grid, " x ", &line);
    }
    text_format(&line, ": %s B in %s", grouped(p->bytes).at, counted(p->exchange_count, "exchange").at);
    if (p->plain_bytes > p->bytes)
        text_format(&line, "; the passes saved %s of %s B",
                    in_percent((double)(p->plain_bytes - p->bytes) / (double)p->plain_bytes).at,
                    grouped(p->plain_bytes).at);
    if (p->combine_bytes) text_format(&line, "; %s B to combine", grouped(p->combine_bytes).at);
    if (p->bound_bytes > 0 && p->bound_bytes == p->bytes + p->combine_bytes)
        text_add(&line, "; proved optimal");
    else if (p->bound_bytes > 0)
        text_format(&line, "; lower bound %s B", grouped(p->bound_bytes).at);
    if (!p->exact) text_add(&line, "; partial sums");
    put_line(on->cells, row, INK(TITLE), &line);
}

void team_tensor_draw(const struct scene *on, struct box row, const struct team_look *k)
{
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_tensor *t = &p->graph->tensors[k->tensor];
    SCOPED(text_free) struct text line = {0};
    text_format(&line, "%s ", t->name);
    add_shape(t, &line);
    if (lx_team_is_replicated(&p->tensors[k->tensor]))
        text_add(&line, ": replicated");
    else {
        const int *cut = p->tensors[k->tensor].shard;
        if (p->grid.axes == 1 && cut[0] >= 0) text_format(&line, ", sharded along dimension %d", cut[0]);
        if (p->grid.axes == 1 && cut[0] < -1) text_add(&line, ": partial");
        for (int a = 0; p->grid.axes > 1 && a < p->grid.axes; a++) {
            text_format(&line, "%s axis %d: ", a ? "," : ":", a);
            if (cut[a] >= 0)
                text_format(&line, "dimension %d", cut[a]);
            else
                text_add(&line, cut[a] == -1 ? "replicated" : "partial");
        }
    }
    if (k->exchange >= 0) {
        const struct lx_team_exchange *e = &p->exchanges[k->exchange];
        text_format(&line, "; %s for %s", lx_team_pattern_word(e->pattern),
                    p->graph->ops[e->first_reader].name);
        if (e->reads > 1) text_format(&line, " and %d more", e->reads - 1);
    } else if (!lx_team_is_replicated(&p->tensors[k->tensor]))
        text_add(&line, "; none of it is sent");
    put(on->cells, row.row, row.column, on->glyphs->bullet,
        (struct style){.ink = tone_of_identity(
                           buffer_identity(on->session->shown.plan, on->session->selection.buffer))});
    put_text(on->cells, row.row, row.column + 2, row.columns - 2, INK(PLAIN), line.at ? line.at : "");
}

/* Sizes in the first row, where they lie in the second. */
void team_member_draw(const struct scene *on, struct box area, const struct team_look *k)
{
    const struct lx_team_plan *p = k->cut->plan;
    struct team_part part = team_cut_part(k->cut, k->tensor, k->exchange, k->member);
    struct lx_team_range core = {0, 0};
    bool has_core = team_cut_core(k->cut, k->core_op, k->member, &core);
    struct text line = {0};
    text_format(&line, "device %d: own %s", k->member, grouped(range_size(part.own)).at);
    if (part.apart)
        text_format(&line, ", %s of others", grouped(range_size(part.box)).at);
    else if (k->exchange >= 0)
        text_format(&line, ", halo %s + %s", grouped(part.left).at, grouped(part.right).at);
    if (has_core) text_format(&line, ", inner %s", grouped(range_size(core)).at);
    if (k->exchange >= 0) {
        const struct lx_team_exchange *e = &p->exchanges[k->exchange];
        text_format(&line, "; gets %s B, sends %s B", grouped(e->received[k->member]).at,
                    grouped(e->sent[k->member]).at);
    }
    put_line(on->cells, area, INK(TITLE), &line);
    if (area.rows < 2) return;
    text_format(&line, "own %lld..%lld", (long long)part.own.begin, (long long)part.own.end);
    if (part.apart)
        text_format(&line, ", from others %lld..%lld", (long long)part.box.begin, (long long)part.box.end);
    if (part.left)
        text_format(&line, ", left halo %lld..%lld", (long long)part.box.begin, (long long)part.own.begin);
    if (part.right)
        text_format(&line, ", right halo %lld..%lld", (long long)part.own.end, (long long)part.box.end);
    if (has_core) {
        const struct lx_team_group *g = &p->groups[p->ops[k->core_op].group];
        text_format(&line, "; inner %lld..%lld", (long long)core.begin, (long long)core.end);
        if (g->last > g->first)
            text_format(&line, " of %s to %s, done", p->graph->ops[g->first].name,
                        p->graph->ops[g->last].name);
        text_add(&line, " while data travels");
    } else
        text_add(&line, "; no inner part");
    put_paragraph(on->cells, (struct box){area.row + 1, area.column, area.rows - 1, area.columns}, INK(DIM),
                  &line);
}

/* `bytes` -1: there was no run. */
static void team_add_traffic(const char *where, int64_t planned, int64_t bytes, struct text *line)
{
    text_format(line, "; %s %s B %s", where, grouped(bytes < 0 ? planned : bytes).at,
                bytes < 0          ? "planned"
                : bytes == planned ? "as planned"
                                   : "counted, planned ");
    if (bytes >= 0 && bytes != planned) text_add(line, grouped(planned).at);
}

/* The traffic of the device: planned, and after a run counted. */
void team_device_draw(const struct scene *on, struct box row, const struct team_look *k)
{
    const struct team_model *t = &on->session->team;
    bool ran = t->run.known && t->run.ok && t->run.result.device_count > k->member;
    const struct lx_team_account *a = ran               ? &t->run.result.devices[k->member]
                                      : k->cut->planned ? &k->cut->planned[k->member]
                                                        : NULL;
    struct text line = {0};
    if (!a) return;
    text_format(&line, "device: %s", counted(a->ops, "op").at);
    team_add_traffic("HBM", a->planned.hbm_read + a->planned.hbm_written,
                     ran ? a->counted.hbm_read + a->counted.hbm_written : -1, &line);
    team_add_traffic("LX", a->planned.lx_read + a->planned.lx_written,
                     ran ? a->counted.lx_read + a->counted.lx_written : -1, &line);
    put_line(on->cells, row, ran && !a->ok ? INK(BAD) : INK(DIM), &line);
}

/* The state of the run. */
static struct style team_run_words(const struct scene *on, struct text *line)
{
    struct team_model *t = &on->session->team;
    struct progress now = worker_progress(on->session->worker, &team_run_work, t->members);
    if (now.running) {
        char spinner[5] = {0};
        encode_character(on->glyphs->spinner[on->spin & 3], spinner);
        text_format(line, "%s running: op %s of %s, %s; %s cancels it", spinner, grouped(now.so_far.steps).at,
                    grouped(now.so_far.bound).at, in_time(now.seconds).at, KEY_OF(STOP));
        return INK(WARN);
    }
    if (now.waiting)
        text_format(line, "the run is queued; %s cancels it", KEY_OF(STOP));
    else if (!t->run.known)
        text_format(line, "%s runs the team and compares its result with one device's", KEY_OF(RUN_TEAM));
    else if (t->run.stopped)
        text_format(line, "cancelled; %s runs the team again", KEY_OF(RUN_TEAM));
    else if (t->run.ok) {
        const struct lx_team_result *r = &t->run.result;
        if (r->bad_device >= 0)
            text_format(line, "WRONG: device %d: %s", r->bad_device, r->devices[r->bad_device].why);
        else if (!r->ok)
            text_format(line, "NOT EQUAL to one device: %s of %s elements differ, by at most %.3g",
                        grouped(r->differing).at, grouped(r->elements).at, r->worst);
        else if (r->differing == 0)
            text_format(line, "equal to one device: 0 of %s elements differ", grouped(r->elements).at);
        else
            text_format(line,
                        "close to one device: %s of %s elements differ in a bit, by at most %.3g of %.3g",
                        grouped(r->differing).at, grouped(r->elements).at, r->worst, r->largest);
        text_format(line, "; %s, %s B", counted(r->total.messages, "message").at, grouped(r->total.bytes).at);
        if (r->total.combine_bytes)
            text_format(line, ", %s B to combine", grouped(r->total.combine_bytes).at);
        if (r->total.unequal_ops == 0) text_add(line, "; every count as planned");
        return t->run.result.ok ? INK(GOOD) : INK(BAD);
    } else {
        text_format(line, "%s; %s tries again", t->run.st.text, KEY_OF(RUN_TEAM));
        return INK(BAD);
    }
    return INK(DIM);
}

/* The last line, or two of them where it is long and there is room. */
void team_result_draw(const struct scene *on, struct box *area)
{
    SCOPED(text_free) struct text line = {0};
    struct style style = team_run_words(on, &line);
    if (line.at && area->rows >= 14 && columns_of(line.at) > area->columns)
        put_wrapped(on->cells, box_cut_bottom(area, 2), style, line.at);
    else if (line.at && area->rows >= 5) {
        struct box row = box_cut_bottom(area, 1);
        put_text(on->cells, row.row, row.column, row.columns, style, line.at);
    }
}

/* The ops of a team in order, with each exchange before the first op that reads it. */
/* The first columns of the list; those without room begin behind the row. */
struct team_columns {
    int name, kind, how, bytes, separate, rest, end;
};

static struct team_columns team_list_columns(const struct box *row)
{
    struct team_columns c = {.name = row->column + 7, .end = row->column + row->columns};
    bool narrow = row->columns < 60, wide = row->columns >= 100;
    c.kind = c.name + (narrow ? 13 : wide ? 25 : 15);
    c.how = narrow ? c.kind : c.kind + 11;
    c.bytes = c.how + 9;
    c.separate = c.bytes + (narrow ? 10 : 13);
    c.rest = c.separate + (wide ? 14 : 1);
    return c;
}

static void team_list_draw_op(const struct scene *on, struct box row, const struct team_look *k, int32_t o)
{
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_team_op *op = &p->ops[o];
    struct team_columns c = team_list_columns(&row);
    struct cells *g = on->cells;
    struct lx_team_range core;
    put_right(g, row.row, row.column, 6, INK(DIM), grouped(o).at);
    put_text(g, row.row, c.name, c.kind - c.name - 1, INK(PLAIN), p->graph->ops[o].name);
    if (c.how > c.kind)
        put_text(g, row.row, c.kind, c.how - c.kind - 1, INK(DIM), p->graph->ops[o].kind->name);
    put_text(g, row.row, c.how, c.bytes - c.how - 1, op->mode == LX_TEAM_SPLIT ? INK(GOOD) : INK(WARN),
             lx_team_mode_word(op->mode));
    put_right(g, row.row, c.bytes, c.separate - c.bytes - 1, op->bytes ? INK(PLAIN) : INK(DIM),
              grouped(op->bytes).at);
    if (c.rest >= c.end) return;
    if (op->space[k->member].loops == 0) {
        put_text(g, row.row, c.rest, c.end - c.rest, INK(DIM), "all of it");
        return;
    }
    int at = c.rest;
    const struct lx_team_space *s = &op->space[k->member];
    for (int l = 0; l < s->loops; l++) {
        if (l > 0) at += put_text(g, row.row, at, c.end - at, INK(DIM), " x ");
        at += put_text(g, row.row, at, c.end - at, INK(PLAIN), grouped(range_size(s->range[l])).at);
    }
    if (team_cut_core(k->cut, o, k->member, &core))
        put_format(g, row.row, at, c.end - at, INK(DIM), ", inner %s", grouped(range_size(core)).at);
}

static void team_list_draw_exchange(const struct scene *on, struct box row, const struct team_look *k,
                                    int32_t e)
{
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_team_exchange *ex = &p->exchanges[e];
    struct team_columns c = team_list_columns(&row);
    struct cells *g = on->cells;
    struct style style = e == k->exchange ? INK(TITLE) : INK(PLAIN);
    put(g, row.row, row.column + 5, on->glyphs->ring, INK(KEY));
    put_text(g, row.row, c.name, c.kind - c.name - 1, style, p->graph->tensors[ex->tensor].name);
    const char *pattern = lx_team_pattern_word(ex->pattern);
    int reads = c.kind + put_text(g, row.row, c.kind, c.bytes - c.kind, INK(KEY), pattern) + 1;
    if (reads < c.how) reads = c.how;
    if (c.how > c.kind) put_text(g, row.row, reads, c.bytes - reads, INK(DIM), counted(ex->reads, "read").at);
    put_right(g, row.row, c.bytes, c.separate - c.bytes - 1, style, grouped(ex->bytes).at);
    if (c.rest - c.separate > 1)
        put_right(g, row.row, c.separate, c.rest - c.separate - 1, INK(DIM), grouped(ex->separate_bytes).at);
    int at = c.rest, first = k->member > 1 ? k->member - 1 : 0;
    for (int m = first; m < p->devices && at < c.end; m++) {
        if (m == first) at += put_text(g, row.row, at, c.end - at, INK(DIM), first ? "each ... " : "each ");
        at += put_text(g, row.row, at, c.end - at, m == k->member ? INK(TITLE) : INK(DIM),
                       grouped(ex->received[m]).at);
        at++;
    }
}

void team_list_draw(const struct scene *on, struct list *l, struct box area, const struct team_look *k)
{
    const struct team_cut *c = k->cut;
    if (area.rows >= 4) {
        struct box head = box_cut_top(&area, 1);
        struct team_columns at = team_list_columns(&head);
        struct cells *g = on->cells;
        put_right(g, head.row, head.column, 6, INK(DIM), "tick");
        put_text(g, head.row, at.name, at.kind - at.name, INK(DIM), "op");
        if (at.how > at.kind) put_text(g, head.row, at.kind, at.how - at.kind, INK(DIM), "kind");
        put_text(g, head.row, at.how, at.bytes - at.how, INK(DIM), "how");
        put_right(g, head.row, at.bytes, at.separate - at.bytes - 1, INK(DIM), "received");
        if (at.rest - at.separate > 1)
            put_right(g, head.row, at.separate, at.rest - at.separate - 1, INK(DIM), "one by one");
        if (at.rest < at.end)
            put_format(g, head.row, at.rest, at.end - at.rest, INK(DIM), "part of device %d", k->member);
    }
    l->cursor = c->row_of_op[k->op];
    /* The exchanges before the op are visible, too. */
    int first = k->op > 0 ? c->row_of_op[k->op - 1] + 1 : 0;
    if (l->top > first) l->top = first;
    list_show(l, c->row_count, area);
    for (int i = 0; i < area.rows && l->top + i < c->row_count; i++) {
        struct box row = {area.row + i, area.column, 1, area.columns};
        const struct team_row *r = &c->rows[l->top + i];
        if (r->op >= 0)
            team_list_draw_op(on, row, k, r->op);
        else
            team_list_draw_exchange(on, row, k, r->exchange);
        if (r->op == k->op) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    }
}
