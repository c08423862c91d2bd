/* The time line of a team: a lane per device with its computing and waiting, and where there is room a
 * second lane with the traffic of its links. The selected device has both. Below them the time, and where
 * the selected op runs on that device. A zoom stays around the selected op. */
#include "tui/team/team_picture.h"

enum { MOST_CELLS = 240, LABEL = 7, MOST_ZOOM = 12 };

struct lanes_on {
    const struct scene *on;
    const struct team_look *k;
    const struct team_figures *f;
    int column, cells;
    double from, to; /* us */
};

/* The time of the selected op on a device, from its first piece to its last; false: it does not run there. */
static bool team_time_of_op(const struct lanes_on *l, int member, double *from, double *to)
{
    const struct lx_team_times *t = &l->f->clock->at[member];
    bool any = false;
    for (int o = 0; o < t->ops; o++) {
        if (team_op_at(l->f->plans, member, o) != l->k->op) continue;
        if (!any) *from = t->begin[o];
        *to = t->end[o];
        any = true;
    }
    return any;
}

/* The cells in which the selected op runs on a device. */
static void team_time_find_op(const struct lanes_on *l, int member, bool *here)
{
    const struct lx_team_times *t = &l->f->clock->at[member];
    double cell = (l->to - l->from) / l->cells;
    memset(here, 0, sizeof *here * (size_t)l->cells);
    for (int o = 0; o < t->ops; o++) {
        if (t->end[o] <= l->from || t->begin[o] >= l->to) continue;
        if (team_op_at(l->f->plans, member, o) != l->k->op) continue;
        int first = (int)((t->works[o] - l->from) / cell), last = (int)ceil((t->end[o] - l->from) / cell);
        if (first < 0) first = 0;
        for (int c = first; c < l->cells && (c < last || c == first); c++) here[c] = true;
    }
}

static void team_time_draw_words(const struct lanes_on *l, struct box area)
{
    struct text line = {0};
    const struct glyphs *g = l->on->glyphs;
    const struct team_device_figures *last = &l->f->devices[l->f->last];
    char works[5] = {0}, waits[5] = {0}, links[5] = {0};
    encode_character(g->full, works);
    encode_character(g->shade, waits);
    encode_character(g->thick, links);
    text_format(&line, "%s computes %s waits %s links; device %d is last, at %s", works, waits, links,
                last->device, in_micros(last->us).at);
    if (l->f->waiter >= 0)
        text_format(&line, "; device %d waits most, %s", l->f->waiter,
                    in_micros(l->f->devices[l->f->waiter].waited).at);
    put_line(l->on->cells, box_cut_top(&area, 1), INK(PLAIN), &line);
    if (area.rows < 1) return;
    const struct team_device_figures *m = &l->f->devices[l->k->member];
    double from = 0, to = 0;
    text_format(&line, "device %d: computes %s", m->device, in_micros(m->busy).at);
    text_format(&line, ", waits %s", in_micros(m->waited).at);
    if (m->longest_step >= 0)
        text_format(&line, ", longest for %s", team_step_name(l->f->plans->team, m->longest_step));
    if (m->late >= 0) text_format(&line, " of device %d", m->late);
    text_format(&line, "; links %s", in_micros(m->links).at);
    if (m->links > 0) text_format(&line, ", %s of it hidden", in_micros(m->beside).at);
    text_format(&line, "; done at %s", in_micros(m->us).at);
    text_format(&line, "; %s ", l->f->plans->team->graph->ops[l->k->op].name);
    if (team_time_of_op(l, l->k->member, &from, &to)) {
        text_format(&line, "from %s", in_micros(from).at);
        text_format(&line, " to %s", in_micros(to).at);
    } else
        text_add(&line, "not on it");
    put_paragraph(l->on->cells, area, INK(TITLE), &line);
}

/* As many lanes as there is room for, the selected one among them. */
static void team_time_draw_lanes(const struct lanes_on *l, struct team_view *v, struct box *area, int rows)
{
    int members = l->k->cut->members;
    v->rows_of = 2 * members <= rows ? 2 : 1;
    int shown = v->rows_of == 2 ? members : rows - 1;
    if (shown > members) shown = members;
    if (shown < 1) shown = 1;
    v->first_member = l->k->member < shown ? 0 : l->k->member - shown / 2;
    if (v->first_member > members - shown) v->first_member = members - shown;
    int used = v->rows_of == 2 ? 2 * shown : shown + (rows > 1);
    v->members = box_cut_top(area, used);
    int row = v->members.row;
    for (int m = v->first_member; m < v->first_member + shown; m++) {
        /* Returns the rows that it took. */
        bool links = v->rows_of == 2 || (m == l->k->member && rows > 1);
        struct team_span at[MOST_CELLS];
        bool here[MOST_CELLS], selected = m == l->k->member;
        team_lane_fill(&l->f->clock->at[m], l->from, l->to, l->cells, at);
        if (selected) team_time_find_op(l, m, here);
        int left = l->column - LABEL;
        if (selected) put(l->on->cells, row, left, l->on->glyphs->mark, INK(KEY));
        put_format(l->on->cells, row, left + 1, LABEL - 2, selected ? INK(TITLE) : INK(DIM), "%4d", m);
        const struct glyphs *g = l->on->glyphs;
        for (int c = 0; c < l->cells; c++) {
            enum team_lane_mark mark = team_lane_mark_of(&at[c]);
            int much = links ? team_lane_travels(&at[c]) : 0;
            if (mark != LANE_NOTHING)
                put(l->on->cells, row, l->column + c, mark == LANE_WORKS ? g->full : g->shade,
                    mark == LANE_WAITS    ? INK(WARN)
                    : selected && here[c] ? INK(TITLE)
                                          : INK(GOOD));
            if (much)
                put(l->on->cells, row + 1, l->column + c, much > 1 ? g->thick : g->horizontal, INK(KEY));
        }
        row += links ? 2 : 1;
    }
}

int team_time_member(const struct team_view *v, const struct team_look *k, int row)
{
    int m = v->first_member;
    for (int at = v->members.row; m < k->cut->members; m++) {
        at += v->rows_of == 2 || m == k->member ? 2 : 1;
        if (row < at) return m;
    }
    return -1;
}

void team_time_draw(const struct scene *on, struct team_view *v, struct box *area, const struct team_look *k)
{
    struct lanes_on l = {.on = on, .k = k, .f = &k->cut->figures, .column = area->column + LABEL};
    l.cells = area->columns - LABEL - 1;
    if (l.cells > MOST_CELLS) l.cells = MOST_CELLS;
    if (!l.f->clock) {
        put_wrapped(
            on->cells, *area, INK(PLAIN),
            "The graph is too large to plan every device here: `lxplan plan FILE --team N -o PLAN` does, "
            "and `lxplan show PLAN` draws its time line.");
        *area = (struct box){area->row, area->column, 0, area->columns};
        return;
    }
    if (l.cells < 4) return;
    /* Everything, or a part around the selected op. */
    double all = l.f->clock->us, wide = all / (double)(1 << v->zoom), from = 0, to = 0;
    if (team_time_of_op(&l, l.k->member, &from, &to)) from = (from + to) / 2 - wide / 2;
    l.from = fmax(0, fmin(from, all - wide));
    l.to = l.from + wide;
    struct box words = box_cut_top(area, area->rows < 12 ? 1 : area->columns < 100 ? 4 : 3);
    team_time_draw_words(&l, words);
    int rows = area->rows < 6 ? area->rows - 1 : area->rows * 3 / 5;
    team_time_draw_lanes(&l, v, area, rows < 1 ? 1 : rows);
    struct box axis = box_cut_top(area, area->rows > 3 ? 2 : 1); /* the op, and the times of both ends */
    bool here[MOST_CELLS];
    team_time_find_op(&l, k->member, here);
    for (int c = 0; c < l.cells; c++)
        if (here[c]) put(on->cells, axis.row, l.column + c, on->glyphs->peak, INK(TITLE));
    if (axis.rows < 2) return;
    put_text(on->cells, axis.row + 1, l.column, l.cells, INK(DIM), in_micros(l.from).at);
    put_right(on->cells, axis.row + 1, l.column, l.cells, INK(DIM), in_micros(l.to).at);
}

bool team_time_request(struct team_view *v, enum request r)
{
    if (r == REQ_TEAM_TIME) return v->times = !v->times, true;
    if (r == REQ_ZOOM_TIME_IN) return v->zoom += v->times && v->zoom < MOST_ZOOM, true;
    if (r == REQ_ZOOM_TIME_OUT) return v->zoom -= v->zoom > 0, true;
    if (r == REQ_ZOOM_ALL) return v->zoom = 0, true;
    return false;
}
