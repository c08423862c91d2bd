/* Team: the graph over several devices. The selected tensor with the parts of the devices and their halos,
 * or the time line of all devices; below it the ops, with each exchange before the first op that reads it;
 * and a run of the team, compared with one device. */
#include "tui/team/team_picture.h"

/* The selection is found by names, as other views show the graph with layouts. An op that layouts added
 * has none here; the op before it is used. False: there is nothing to show. */
static bool view_team_look(const struct session *s, struct team_look *k)
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

/* Before the first result, or without one. */
static void team_draw_nothing(const struct scene *on, struct box area)
{
    struct session *s = on->session;
    struct team_model *t = &s->team;
    char text[1200];
    if (!t->known) {
        if (t->asked) put(on->cells, area.row, area.column, on->glyphs->spinner[on->spin & 3], INK(WARN));
        if (t->asked)
            put_format(on->cells, area.row, area.column + 2, area.columns - 2, INK(PLAIN), "sharding over %s",
                       counted(t->members, "device").at);
        else
            put_format(on->cells, area.row, area.column + 2, area.columns - 2, INK(PLAIN),
                       "%s shards this pattern over %s", KEY_OF(TEAM), counted(t->members, "device").at);
        return;
    }
    if (session_plan(s)->graph->list) {
        put_wrapped_format(
            on->cells, area, INK(PLAIN),
            "This pattern is a list of buffers: it has no ops that a team could share. %s lists "
            "other patterns; those in team/ are made for this.",
            KEY_OF(PATTERNS));
        return;
    }
    int used = put_wrapped(on->cells, area, INK(BAD), lx_status_describe(&t->cut.st, text, sizeof text));
    box_cut_top(&area, used + 1);
    put_wrapped_format(on->cells, area, INK(PLAIN),
                       "It cannot be sharded over a team. Fix the file and press %s to reload it, or "
                       "choose another pattern with %s; those in team/ are made for this.",
                       KEY_OF(RELOAD), KEY_OF(PATTERNS));
}

static void team_draw(const struct scene *on, void *state, struct box area)
{
    struct team_view *v = state;
    struct team_look k;
    v->list.rows = v->members = (struct box){0};
    if (!view_team_look(on->session, &k)) {
        team_draw_nothing(on, area);
        return;
    }
    bool roomy = area.rows >= 14;
    team_result_draw(on, &area);
    if (roomy) team_totals_draw(on, box_cut_top(&area, 1), k.cut->plan);
    if (!v->times) team_tensor_draw(on, box_cut_top(&area, 1), &k);
    if (v->times)
        team_time_draw(on, v, &area, &k);
    else {
        /* The parts of the tensor, as a picture and in words. */
        const struct lx_team_plan *p = k.cut->plan;
        int members = roomy ? area.rows / 4 : 1;
        if (members > p->devices) members = p->devices;
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
            team_member_draw(on, words, &k);
        if (roomy) team_device_draw(on, box_cut_top(&area, 1), &k);
    }
    if (roomy && area.rows > 12) box_cut_top(&area, 1);
    if (area.rows > 0) team_list_draw(on, &v->list, area, &k);
}

/* Selects the op of that name in the graph of the other views, if there is one. */
static void team_select_op(struct explorer *x, const struct team_look *k, int32_t op)
{
    const struct lx_graph *shown = outcome_graph(&x->session.shown);
    for (int32_t o = 0; shown && op >= 0 && o < shown->op_count; o++)
        if (strcmp(shown->ops[o].name, k->cut->plan->graph->ops[op].name) == 0) {
            session_select_op(&x->session, o);
            return;
        }
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

static bool team_move(struct explorer *x, int page, enum request r, const struct team_look *k)
{
    const struct lx_op *op = &k->cut->plan->graph->ops[k->op];
    const struct lx_graph *shown = outcome_graph(&x->session.shown);
    struct list ops = {.cursor = k->op};
    int at = op->input_count;
    const char *name;
    if (list_move(&ops, r, k->cut->plan->graph->op_count, page)) {
        team_select_op(x, k, ops.cursor);
        return true;
    }
    switch (r) {
    case REQ_LEFT:
        if (k->member > 0) x->session.team.member = k->member - 1;
        return true;
    case REQ_RIGHT:
        if (k->member < k->cut->members - 1) x->session.team.member = k->member + 1;
        return true;
    case REQ_OPERAND: /* the next operand of the op, the output last */
        for (int i = 0; i < op_operand_count(op); i++)
            if (op_operand(op, i) == k->tensor) at = i;
        name = k->cut->plan->graph->tensors[op_operand(op, (at + 1) % op_operand_count(op))].name;
        for (int32_t t = 0; shown && t < shown->tensor_count; t++)
            if (strcmp(shown->tensors[t].name, name) == 0)
                session_select_buffer(&x->session, outcome_buffer(&x->session.shown, t));
        return true;
    default: return false;
    }
}

static bool team_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct team_view *v = state;
    const struct session *s = &x->session;
    struct lx_team_grid grid = s->team.grid;
    struct what_if standard;
    struct team_look k;
    (void)argument;
    if (team_time_request(v, r)) return true;
    switch (r) {
    case REQ_MORE_MEMBERS:
    case REQ_FEWER_MEMBERS: /* along the last axis */
        grid.size[grid.axes - 1] += r == REQ_MORE_MEMBERS ? 1 : -1;
        if (!session_team_resize(&x->session, &grid))
            explorer_say(x, TONE_WARN, "a team has 1 to %d devices", LX_TEAM_DEVICES);
        return true;
    case REQ_RUN_TEAM:
        if (!session_team_run(&x->session)) explorer_say(x, TONE_WARN, "there is no team to run (yet)");
        return true;
    case REQ_COPY:
        settings_default(&standard); /* settings of plans do not matter for teams */
        text_free(&x->copied);
        settings_command(&standard, s->patterns.at[s->current].path,
                         source_models(s->patterns.at[s->current].source), &x->copied);
        text_add(&x->copied, " --stage team --team ");
        team_add_grid(&s->team.grid, "x", &x->copied);
        explorer_say(x, TONE_GOOD, "%s", x->copied.at);
        return true;
    default: return view_team_look(&x->session, &k) && team_move(x, v->list.rows.rows, r, &k);
    }
}

static void team_mouse(struct explorer *x, void *state, const struct key *key)
{
    const struct team_view *v = state;
    struct team_look k;
    if (!view_team_look(&x->session, &k)) return;
    int row = key->row - v->list.rows.row + v->list.top, member = key->row - v->members.row + v->first_member;
    if (v->times)
        member = team_time_member(v, &k, key->row);
    else if (k.cut->grid.axes > 1)
        member = team_grid_at(&k, &v->members, key->row, key->column);
    if (key->code != AT_CLICK)
        team_move(x, v->list.rows.rows, key->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, &k);
    else if (box_holds(&v->members, key->row, key->column) && member >= 0 && member < k.cut->members)
        x->session.team.member = member;
    else if (box_holds(&v->list.rows, key->row, key->column) && row < k.cut->row_count)
        team_select_op(x, &k,
                       k.cut->rows[row].op >= 0
                           ? k.cut->rows[row].op
                           : k.cut->plan->exchanges[k.cut->rows[row].exchange].first_reader);
}

static void team_shown(struct explorer *x, void *state)
{
    (void)state;
    session_team_want(&x->session, false);
}

static int view_team_count(struct explorer *x, void *state)
{
    (void)state;
    struct team_look k;
    return view_team_look(&x->session, &k) ? k.cut->plan->graph->op_count : 0;
}

static const char *team_item(struct explorer *x, void *state, int i)
{
    (void)state;
    return x->session.team.cut.plan->graph->ops[i].name;
}

static int team_selected(struct explorer *x, void *state)
{
    (void)state;
    struct team_look k;
    return view_team_look(&x->session, &k) ? k.op : 0;
}

static void team_select_item(struct explorer *x, void *state, int i)
{
    (void)state;
    struct team_look k;
    if (view_team_look(&x->session, &k)) team_select_op(x, &k, i);
}

const struct view view_team = {
    .name = "Team",
    .purpose = "the graph sharded over several devices, and their exchanges",
    .needs_plan = true,
    .state_size = sizeof(struct team_view),
    .shown = team_shown,
    .hints = {{REQ_RIGHT, "device"},
              {REQ_MORE_MEMBERS, "more"},
              {REQ_FEWER_MEMBERS, "fewer"},
              {REQ_DOWN, "op"},
              {REQ_OPERAND, "tensor"},
              {REQ_TEAM_TIME, "time"},
              {REQ_RUN_TEAM, "run"},
              {REQ_STOP, "cancel"},
              {REQ_COPY, "copy"},
              {REQ_BACK, "back"}},
    .draw = team_draw,
    .request = team_request,
    .mouse = team_mouse,
    .count = view_team_count,
    .item = team_item,
    .selected = team_selected,
    .select = team_select_item,
};
