/* A team's plan as text: the head, the states of tensors, links, steps, devices, and the time line below. */
#include "team/team_show.h"
#include "all_columns.h"
#include "text/table.h"

enum { MOST_ROWS = 40, MOST_DEVICES = 16, DEFAULT_WIDTH = 100, LEAST_CELLS = 20, LABEL = 16 };

/* The tables, in the order in which people read them; `tensors` is to be freed. */
enum { TABLES = 4 };
static struct team_tensor_row *team_show_tables(const struct team_figures *f, struct table out[TABLES])
{
    const struct lx_team_plan *p = f->plans->team;
    int32_t n = p->graph->tensor_count;
    struct team_tensor_row *tensors = mem_alloc(((size_t)n + 1) * sizeof *tensors);
    for (int32_t i = 0; i < n; i++) tensors[i] = (struct team_tensor_row){p, i};
    out[0] = TABLE(team_state_columns, tensors, n);
    out[1] = TABLE(team_link_columns, f->links, f->link_count);
    out[2] = TABLE(team_step_columns, f->steps, f->step_count);
    out[3] = TABLE(team_time_columns, f->devices, p->devices);
    out[0].key = "tensors", out[0].title = "shards of tensors";
    out[1].key = "links", out[1].title = "traffic over links";
    out[2].key = "steps", out[2].title = "steps of every device";
    out[3].key = "members", out[3].title = "devices";
    return tensors;
}

/* The device that is done last, and the longest wait. */
static void add_waiting(const struct team_figures *f, struct text *out)
{
    const struct team_device_figures *last = &f->devices[f->last];
    text_format(out, "last      device %d is done at %s", last->device, in_micros(last->us).at);
    text_format(out, "; busy %s", in_micros(last->busy).at);
    text_format(out, ", waits %s\nwaiting   ", in_micros(last->waited).at);
    if (f->waiter < 0) {
        text_add(out, "no device waits for others\n");
        return;
    }
    const struct team_device_figures *w = &f->devices[f->waiter];
    text_format(out, "device %d waits most, %s", w->device, in_micros(w->waited).at);
    if (w->longest_step >= 0) {
        text_add(out, ", longest for ");
        add_printable(out, team_step_name(f->plans->team, w->longest_step), NAME_COLUMNS);
    }
    if (w->late >= 0) text_format(out, ", where device %d sends last", w->late);
    text_add(out, "\n");
}

void add_team_verdict(const struct team_figures *f, struct text *out)
{
    show_totals(f->plans->team, out);
    add_waiting(f, out);
}

struct lane_glyphs {
    const char *ops[LANE_MARKS], *links[3];
};

static const struct lane_glyphs plain = {{" ", "#", "."}, {" ", "-", "="}},
                                fancy = {{" ", "█", "░"}, {" ", "╌", "━"}};

static void add_lane(const struct team_span *at, int cells, bool links, const struct lane_glyphs *g,
                     struct text *out)
{
    static const enum paint tones[LANE_MARKS] = {PAINT_PLAIN, PAINT_GOOD, PAINT_WARN};
    for (int c = 0; c < cells; c++) {
        enum team_lane_mark mark = team_lane_mark_of(&at[c]);
        if (links)
            text_add(out, g->links[team_lane_travels(&at[c])]);
        else
            paint_add(out, tones[mark], g->ops[mark]);
    }
    text_add(out, "\n");
}

/* Two lines per device, and the times of both ends below. */
static void add_time_line(const struct team_figures *f, const struct picture *how, struct text *out)
{
    int cells = (how->width ? how->width : DEFAULT_WIDTH) - LABEL - 2;
    int devices = f->plans->team->devices,
        shown = how->all || devices < MOST_DEVICES ? devices : MOST_DEVICES;
    const struct lane_glyphs *g = how->ascii ? &plain : &fancy;
    if (cells < LEAST_CELLS) cells = LEAST_CELLS;
    struct team_span *at = mem_alloc((size_t)cells * sizeof *at);
    for (int m = 0; m < shown; m++) {
        team_lane_fill(&f->clock->at[m], 0, f->clock->us, cells, at);
        text_format(out, "  device %-4d ops ", m);
        add_lane(at, cells, false, g, out);
        text_add(out, "            links ");
        add_lane(at, cells, true, g, out);
    }
    mem_free(at);
    struct words end = in_micros(f->clock->us);
    text_format(out, "%*s0%*s\n", LABEL + 2, "", cells - 1, end.at);
    text_format(out, "%*s%s busy  %s waits  %s %s links of the device, more or less than half of the time\n",
                LABEL + 2, "", g->ops[LANE_WORKS], g->ops[LANE_WAITS], g->links[2], g->links[1]);
    if (devices > shown)
        text_format(out, "  ... %s more; --all draws them\n", counted(devices - shown, "device").at);
}

void show_team_text(const struct team_figures *f, const struct picture *how, struct text *out)
{
    static const char *const things[] = {"tensor", "set of axes", "step", "device"};
    struct table tables[TABLES];
    OWNED struct team_tensor_row *tensors = team_show_tables(f, tables);
    add_printable(out, f->plans->team->graph->name, 0);
    text_add(out, ": ");
    add_grid(f->plans->team, out);
    text_add(out, "\n\n");
    for (int i = 0; i < TABLES; i++) {
        struct table t = tables[i];
        if (t.row_count == 0) continue;
        if (!how->all && t.row_count > MOST_ROWS) t.row_count = MOST_ROWS;
        table_add_text(&t, out);
        if (tables[i].row_count > t.row_count)
            text_format(out, "  ... %s more; --all lists them\n",
                        counted((int64_t)(tables[i].row_count - t.row_count), things[i]).at);
        text_add(out, "\n");
    }
    add_team_verdict(f, out);
    text_add(out, "\n");
    add_time_line(f, how, out);
}

void write_team_tables(const struct team_figures *f, const struct exporter *e, struct text *out)
{
    struct table tables[TABLES];
    OWNED struct team_tensor_row *tensors = team_show_tables(f, tables);
    text_add(out, e->begin);
    for (int i = 0; i < TABLES; i++)
        if (e->whole || i == 2) e->add(&tables[i], out);
    if (e->end) e->end(out);
}
