/* Team: the graph over several devices. The selected tensor cut into what its members own and the halos that
 * they get of each other; under it the ops, with each exchange before the first op that reads it; and a run
 * of the team, compared with one device. */
#include "tui/team_picture.h"
#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is selected is known by names of the graph that the other views show. An op that the layouts added
 * has none here; the one before it stands for it. False: there is no cut to look at. */
static bool look(const struct session *s, struct team_look *k)
{
    const struct lx_graph *shown = s->has_shown ? outcome_graph(&s->shown) : NULL;
    *k = (struct team_look){.cut = &s->team.cut, .op = -1, .tensor = -1, .exchange = -1};
    if (!s->team.known || !k->cut->plan || k->cut->plan->graph->op_count == 0) return false;
    for (int32_t o = s->selection.op; shown && o >= 0 && k->op < 0; o--)
        k->op = team_cut_op(k->cut, shown->ops[o].name);
    if (k->op < 0) k->op = 0;
    int32_t tensor = outcome_tensor(&s->shown, s->selection.buffer);
    if (shown && tensor >= 0) k->tensor = team_cut_tensor(k->cut, shown->tensors[tensor].name);
    if (k->tensor < 0) k->tensor = k->cut->plan->graph->ops[k->op].output;
    k->exchange = team_cut_exchange(k->cut, k->tensor, k->op);
    struct lx_team_range core;
    k->core_op = k->op;
    if (k->exchange >= 0 && !team_cut_core(k->cut, k->op, 0, &core))
        k->core_op = k->cut->plan->exchanges[k->exchange].first_reader;
    k->member = s->team.member < k->cut->members ? s->team.member : k->cut->members - 1;
    return true;
}

static void add_grid(const struct lx_team_grid *grid, const char *between, struct text *t)
{
    for (int a = 0; a < grid->axes; a++) text_format(t, "%s%d", a ? between : "", grid->size[a]);
}

static void draw_totals(const struct scene *on, struct box row, const struct lx_team_plan *p)
{
    int wanted = on->session->team.members;
    struct text line = {0};
    if (wanted != p->members) {
        put_format(on->cells, row.row, row.column, row.columns, INK(WARN), "STALE: cutting it over %s",
                   counted(wanted, "member").at);
        return;
    }
    text_add(&line, counted(p->members, "member").at);
    if (p->grid.axes > 1) {
        text_add(&line, ", ");
        add_grid(&p->grid, " x ", &line);
    }
    text_format(&line, ": %s B in %s", grouped(p->bytes).at, counted(p->exchange_count, "exchange").at);
    if (p->plain_bytes > p->bytes)
        text_format(&line, "; the passes saved %s of %s B",
                    in_percent((double)(p->plain_bytes - p->bytes) / (double)p->plain_bytes).at,
                    grouped(p->plain_bytes).at);
    if (p->combine_bytes) text_format(&line, "; %s B to combine", grouped(p->combine_bytes).at);
    if (!p->exact) text_add(&line, "; a sum is cut");
    put_text(on->cells, row.row, row.column, row.columns, INK(TITLE), line.at ? line.at : "");
    text_free(&line);
}

/* ", cut along dimension 0"; of a grid, what each axis does to it: ": axis 0 cuts dimension 1, along axis 1 it is whole" */
static void add_cuts(const struct lx_team_plan *p, int32_t tensor, struct text *line)
{
    const int *cut = p->tensors[tensor].cut;
    if (p->grid.axes == 1 && cut[0] >= 0) text_format(line, ", cut along dimension %d", cut[0]);
    if (p->grid.axes == 1 && cut[0] < -1) text_add(line, ": parts of sums");
    for (int a = 0; p->grid.axes > 1 && a < p->grid.axes; a++) {
        text_format(line, "%s axis %d: ", a ? "," : ":", a);
        if (cut[a] >= 0)
            text_format(line, "dimension %d", cut[a]);
        else
            text_add(line, cut[a] == -1 ? "whole" : "parts of sums");
    }
}

static void draw_tensor_line(const struct scene *on, struct box row, const struct team_look *k)
{
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_tensor *t = &p->graph->tensors[k->tensor];
    struct text line = {0};
    text_format(&line, "%s ", t->name);
    add_shape(t, &line);
    if (lx_team_is_whole(&p->tensors[k->tensor]))
        text_add(&line, ": whole on every member");
    else
        add_cuts(p, k->tensor, &line);
    if (k->exchange >= 0) {
        const struct lx_team_exchange *e = &p->exchanges[k->exchange];
        text_format(&line, "; %s for %s", lx_team_pattern_word(e->pattern),
                    p->graph->ops[e->first_reader].name);
        if (e->reads > 1) text_format(&line, " and %d more", e->reads - 1);
    } else if (!lx_team_is_whole(&p->tensors[k->tensor]))
        text_add(&line, "; none of it is sent");
    put(on->cells, row.row, row.column, on->glyphs->bullet,
        (struct style){.ink = tone_of_identity(
                           buffer_identity(on->session->shown.plan, on->session->selection.buffer))});
    put_text(on->cells, row.row, row.column + 2, row.columns - 2, INK(PLAIN), line.at ? line.at : "");
    text_free(&line);
}

/* Sizes in the first row, where they lie in the second. */
static void draw_member(const struct scene *on, struct box area, const struct team_look *k)
{
    const struct lx_team_plan *p = k->cut->plan;
    struct team_part part = team_cut_part(k->cut, k->tensor, k->exchange, k->member);
    struct lx_team_range core = {0, 0};
    bool has_core = team_cut_core(k->cut, k->core_op, k->member, &core);
    struct text line = {0};
    text_format(&line, "member %d: own %s", k->member, grouped(range_size(part.own)).at);
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
    put_text(on->cells, area.row, area.column, area.columns, INK(TITLE), line.at ? line.at : "");
    text_free(&line);
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
        text_add(&line, "; not split into an inner part and a rest");
    put_wrapped(on->cells, (struct box){area.row + 1, area.column, area.rows - 1, area.columns}, INK(DIM),
                line.at ? line.at : "");
    text_free(&line);
}

/* `bytes` -1: there was no run. */
static void add_traffic(const char *where, int64_t planned, int64_t bytes, struct text *line)
{
    text_format(line, "; %s %s B %s", where, grouped(bytes < 0 ? planned : bytes).at,
                bytes < 0          ? "planned"
                : bytes == planned ? "as planned"
                                   : "counted, planned ");
    if (bytes >= 0 && bytes != planned) text_add(line, grouped(planned).at);
}

/* The traffic of the member's device: planned, and after a run counted. */
static void draw_device(const struct scene *on, struct box row, const struct team_look *k)
{
    const struct team_model *t = &on->session->team;
    bool ran = t->run.known && t->run.ok && t->run.result.member_count > k->member;
    const struct lx_team_account *a = ran               ? &t->run.result.members[k->member]
                                      : k->cut->planned ? &k->cut->planned[k->member]
                                                        : NULL;
    struct text line = {0};
    if (!a) return;
    text_format(&line, "device: %s", counted(a->ops, "op").at);
    add_traffic("HBM", a->planned.hbm_read + a->planned.hbm_written,
                ran ? a->counted.hbm_read + a->counted.hbm_written : -1, &line);
    add_traffic("LX", a->planned.lx_read + a->planned.lx_written,
                ran ? a->counted.lx_read + a->counted.lx_written : -1, &line);
    put_text(on->cells, row.row, row.column, row.columns, ran && !a->ok ? INK(BAD) : INK(DIM),
             line.at ? line.at : "");
    text_free(&line);
}

/* Nothing to see: not yet, or not of this pattern. */
static void draw_nothing(const struct scene *on, struct box area)
{
    struct session *s = on->session;
    struct team_model *t = &s->team;
    char text[1200];
    if (!t->known) {
        if (t->asked) put(on->cells, area.row, area.column, on->glyphs->spinner[on->spin & 3], INK(WARN));
        if (t->asked)
            put_format(on->cells, area.row, area.column + 2, area.columns - 2, INK(PLAIN),
                       "cutting it over %s", counted(t->members, "member").at);
        else
            put_format(on->cells, area.row, area.column + 2, area.columns - 2, INK(PLAIN),
                       "%s cuts this pattern over %s", KEY_OF(TEAM), counted(t->members, "member").at);
        return;
    }
    if (session_plan(s)->graph->is_list) {
        put_wrapped_format(
            on->cells, area, INK(PLAIN),
            "This pattern is a list of buffers: it has no ops that a team could share. %s lists "
            "other patterns; those in team/ are made for this.",
            KEY_OF(PATTERNS));
        return;
    }
    int used = put_wrapped(on->cells, area, INK(BAD), lx_status_describe(&t->cut.st, text, sizeof text));
    box_cut_top(&area, used + 1);
    put_wrapped_format(
        on->cells, area, INK(PLAIN),
        "It cannot be cut over a team as it is. Mend the file and press %s to read it again, or "
        "choose another pattern with %s; those in team/ are made for this.",
        KEY_OF(RELOAD), KEY_OF(PATTERNS));
}

static void draw(const struct scene *on, void *state, struct box area)
{
    struct team_view *v = state;
    struct team_look k;
    v->list.rows = v->members = (struct box){0};
    if (!look(on->session, &k)) {
        draw_nothing(on, area);
        return;
    }
    const struct lx_team_plan *p = k.cut->plan;
    bool roomy = area.rows >= 14;
    team_result_draw(on, &area);
    if (roomy) draw_totals(on, box_cut_top(&area, 1), p);
    draw_tensor_line(on, box_cut_top(&area, 1), &k);
    int members = roomy ? area.rows / 4 : 1;
    if (members > p->members) members = p->members;
    if (p->grid.axes > 1) {
        v->members = team_grid_draw(on, &area, &k, roomy ? area.rows / 3 : 1);
    } else {
        struct box picture = box_cut_top(&area, members + 1);
        v->first_member = team_picture_draw(on, picture, &k);
        v->members = (struct box){picture.row + 1, picture.column, members, picture.columns};
    }
    if (roomy && area.rows > 12) box_cut_top(&area, 1);
    struct box words = box_cut_top(&area, !roomy ? 1 : area.columns < 100 ? 3 : 2);
    if (p->grid.axes > 1)
        team_grid_member(on, words, &k);
    else
        draw_member(on, words, &k);
    if (roomy) draw_device(on, box_cut_top(&area, 1), &k);
    if (roomy && area.rows > 12) box_cut_top(&area, 1);
    team_list_draw(on, &v->list, area, &k);
}

/* In the graph that the other views show: an op of that name, if the layouts left it. */
static void select_op(struct explorer *x, const struct team_look *k, int32_t op)
{
    const struct lx_graph *shown = outcome_graph(&x->session.shown);
    for (int32_t o = 0; shown && op >= 0 && o < shown->op_count; o++)
        if (strcmp(shown->ops[o].name, k->cut->plan->graph->ops[op].name) == 0) {
            session_select_op(&x->session, o);
            return;
        }
}

/* The next operand of the op, the output last. */
static void next_tensor(struct explorer *x, const struct team_look *k)
{
    const struct lx_op *op = &k->cut->plan->graph->ops[k->op];
    const struct lx_graph *shown = outcome_graph(&x->session.shown);
    int at = op->input_count;
    for (int i = 0; i < op_operand_count(op); i++)
        if (operand_tensor(op, i) == k->tensor) at = i;
    const char *name = k->cut->plan->graph->tensors[operand_tensor(op, (at + 1) % op_operand_count(op))].name;
    for (int32_t t = 0; shown && t < shown->tensor_count; t++)
        if (strcmp(shown->tensors[t].name, name) == 0)
            session_select_buffer(&x->session, outcome_buffer(&x->session.shown, t));
}

/* Along the last axis. */
static void step_size(struct explorer *x, int by)
{
    struct lx_team_grid grid = x->session.team.grid;
    grid.size[grid.axes - 1] += by;
    if (!session_team_resize(&x->session, &grid))
        explorer_say(x, TONE_WARN, "a team has 1 to %d members", LX_TEAM_MEMBERS);
}

void team_resize(struct explorer *x, const char *text)
{
    struct lx_team_grid grid;
    lx_status st = {0};
    if (!lx_team_grid_of_text(text, &grid, &st))
        explorer_say(x, TONE_BAD, "%s", st.text);
    else if (!session_team_resize(&x->session, &grid))
        explorer_say(x, TONE_DIM, "the team has that size already");
}

/* The command that shows the same. */
static void copy(struct explorer *x)
{
    const struct session *s = &x->session;
    struct what_if standard;
    settings_default(&standard); /* settings of plans have no say in teams */
    text_free(&x->copied);
    settings_command(&standard, s->patterns.at[s->current].path, s->patterns.at[s->current].models,
                     &x->copied);
    text_add(&x->copied, " --stage team --team ");
    add_grid(&s->team.grid, "x", &x->copied);
    explorer_say(x, TONE_GOOD, "%s", x->copied.at ? x->copied.at : "");
}

static bool request_of_look(struct explorer *x, int page, enum request r, const struct team_look *k)
{
    struct list ops = {.cursor = k->op};
    if (list_move(&ops, r, k->cut->plan->graph->op_count, page)) {
        select_op(x, k, ops.cursor);
        return true;
    }
    switch (r) {
    case REQ_LEFT:
        if (k->member > 0) x->session.team.member = k->member - 1;
        return true;
    case REQ_RIGHT:
        if (k->member < k->cut->members - 1) x->session.team.member = k->member + 1;
        return true;
    case REQ_OPERAND:
        next_tensor(x, k);
        return true;
    default:
        return false;
    }
}

static bool request(struct explorer *x, void *state, enum request r, const char *argument)
{
    const struct team_view *v = state;
    struct team_look k;
    (void)argument;
    switch (r) {
    case REQ_MORE_MEMBERS:
        step_size(x, 1);
        return true;
    case REQ_FEWER_MEMBERS:
        step_size(x, -1);
        return true;
    case REQ_RUN_TEAM:
        if (!session_team_run(&x->session)) explorer_say(x, TONE_WARN, "there is no team to run (yet)");
        return true;
    case REQ_COPY:
        copy(x);
        return true;
    default:
        return look(&x->session, &k) && request_of_look(x, v->list.rows.rows, r, &k);
    }
}

static void mouse(struct explorer *x, void *state, const struct key *key)
{
    const struct team_view *v = state;
    struct team_look k;
    if (!look(&x->session, &k)) return;
    int row = key->row - v->list.rows.row + v->list.top, member = key->row - v->members.row + v->first_member;
    if (k.cut->grid.axes > 1) member = team_grid_at(&k, &v->members, key->row, key->column);
    if (key->code != AT_CLICK)
        request_of_look(x, v->list.rows.rows, key->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, &k);
    else if (box_holds(&v->members, key->row, key->column) && member >= 0 && member < k.cut->members)
        x->session.team.member = member;
    else if (box_holds(&v->list.rows, key->row, key->column) && row < k.cut->row_count)
        select_op(x, &k,
                  k.cut->rows[row].op >= 0 ? k.cut->rows[row].op
                                           : k.cut->plan->exchanges[k.cut->rows[row].exchange].first_reader);
}

static void shown(struct explorer *x, void *state)
{
    (void)state;
    session_team_want(&x->session);
}

static int count(struct explorer *x, void *state)
{
    (void)state;
    struct team_look k;
    return look(&x->session, &k) ? k.cut->plan->graph->op_count : 0;
}

static const char *item(struct explorer *x, void *state, int i)
{
    (void)state;
    return x->session.team.cut.plan->graph->ops[i].name;
}

static int selected(struct explorer *x, void *state)
{
    (void)state;
    struct team_look k;
    return look(&x->session, &k) ? k.op : 0;
}

static void select_item(struct explorer *x, void *state, int i)
{
    (void)state;
    struct team_look k;
    if (look(&x->session, &k)) select_op(x, &k, i);
}

const struct view view_team = {
    .name = "Team",
    .purpose = "the array cut over several devices, and what they exchange",
    .needs_plan = true,
    .state_size = sizeof(struct team_view),
    .shown = shown,
    .hints = {{REQ_RIGHT, "member"},
              {REQ_MORE_MEMBERS, "more"},
              {REQ_FEWER_MEMBERS, "fewer"},
              {REQ_DOWN, "op"},
              {REQ_OPERAND, "tensor"},
              {REQ_RUN_TEAM, "run"},
              {REQ_STOP, "stop"},
              {REQ_COPY, "copy"},
              {REQ_BACK, "back"}},
    .draw = draw,
    .request = request,
    .mouse = mouse,
    .count = count,
    .item = item,
    .selected = selected,
    .select = select_item,
};
