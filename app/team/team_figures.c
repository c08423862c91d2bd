/* Walks the ops of every device's plan once, by the clock, and its messages once. */
#include "team/team_figures.h"
#include "picture/scale.h"
#include "text/table.h"

/* The step of an op of a device's plan; -1: of none. An op that the layouts added belongs to the one behind
 * it. */
static int32_t team_figures_step_of(const struct lx_team_plans *p, int device, int op)
{
    const struct lx_plan *plan = p->plans[device];
    int ops = plan->layouts->graph->op_count;
    while (op + 1 < ops && plan->layouts->op_origin[op] < 0) op++;
    int32_t of = plan->layouts->op_origin[op];
    return of < 0 ? -1 : p->devices[device]->step[of];
}

int32_t team_op_at(const struct lx_team_plans *p, int device, int op)
{
    int32_t step = team_figures_step_of(p, device, op);
    if (step < 0) return -1;
    enum lx_team_step_kind kind = p->team->steps[step].kind;
    return kind == LX_TEAM_COMPUTE || kind == LX_TEAM_REDUCE ? p->team->steps[step].op : -1;
}

static void count_message(struct team_figures *f, int device, const struct lx_team_message *x)
{
    const struct lx_team_plan *team = f->plans->team;
    int32_t step = f->plans->devices[device]->step[x->op];
    bool sent = x->operand >= 0;
    unsigned axes = lx_team_axes_between(&team->grid, device, x->peer);
    if (x->peer == device || step < 0) return;
    struct team_step_figures *s = &f->steps[step];
    s->axes |= axes;
    if (sent) f->devices[device].sent_bytes += x->bytes;
    if (sent == (team->steps[step].kind == LX_TEAM_REDUCE)) return; /* each once */
    s->messages++;
    s->bytes += x->bytes;
    f->links[axes].messages++;
    f->links[axes].bytes += x->bytes;
}

/* The device that sends the last of what comes by a trip. */
static int last_sender(const struct team_figures *f, int device, const struct lx_team_trip *trip)
{
    int late = -1;
    double at = -1;
    for (int32_t i = trip->first_message; i < trip->end_message; i++) {
        const struct lx_team_message *x = &f->plans->devices[device]->messages[i];
        if (x->tag != trip->tag || x->operand >= 0 || x->peer == device) continue;
        const struct lx_team_times *from = &f->clock->at[x->peer];
        int32_t o = from->last_send ? from->last_send[x->tag] : -1;
        if (o < 0 || from->end[o] <= at) continue;
        at = from->end[o];
        late = x->peer;
    }
    return late;
}

static void time_links(struct team_figures *f, int m)
{
    const struct lx_team_times *t = &f->clock->at[m];
    double of[TEAM_LINK_SETS] = {0};
    for (int i = 0; i < t->trip_count; i++) {
        const struct lx_team_trip *trip = &t->trips[i];
        for (unsigned s = 1; s < TEAM_LINK_SETS; s++)
            if ((trip->axes & s) == s) of[s] += trip->end - trip->begin;
        /* How long a stretch of ops, from the first that may overlap, is busy within [from, to). */
        double from = trip->begin;
        double to = trip->end;
        int32_t o;
        double busy = 0;
        BISECT(o, 0, t->ops, t->end[o] <= from);
        for (; o < t->ops && t->begin[o] < to; o++)
            busy += fmax(0, fmin(to, t->end[o]) - fmax(from, t->works[o]));
        f->devices[m].beside += busy;
    }
    for (unsigned s = 1; s < TEAM_LINK_SETS; s++)
        if (of[s] > f->links[s].us) f->links[s].us = of[s], f->links[s].busiest = m;
}

static void time_step(struct team_figures *f, int m, int o, double *longest)
{
    const struct lx_team_times *t = &f->clock->at[m];
    int32_t step = team_figures_step_of(f->plans, m, o);
    double wait = t->works[o] - t->begin[o];
    if (wait > *longest) {
        *longest = wait;
        f->devices[m].longest_step = step;
        f->devices[m].late = last_sender(f, m, &t->trips[t->trip[o]]);
    }
    if (step < 0) return;
    struct team_step_figures *s = &f->steps[step];
    if (s->from < 0 || t->begin[o] < s->from) s->from = t->begin[o];
    s->to = fmax(s->to, t->end[o]);
    if (wait > s->waited) s->waited = wait, s->waiter = m;
}

static void time_device(struct team_figures *f, int m)
{
    const struct lx_team_times *t = &f->clock->at[m];
    const struct lx_plan *plan = f->plans->plans[m];
    struct team_device_figures *x = &f->devices[m];
    double longest = 0;
    x->ops = t->ops;
    x->busy = t->busy_us;
    x->waited = t->waited_us;
    x->links = t->link_us;
    x->us = t->us;
    if (!plan) return;
    x->hbm_bytes = plan->figures.hbm_bytes;
    for (int o = 0; o < t->ops; o++) time_step(f, m, o, &longest);
    time_links(f, m);
    const struct lx_team_device *does = f->plans->devices[m];
    for (int32_t i = 0; i < does->message_count; i++) count_message(f, m, &does->messages[i]);
}

void team_figures_make(const struct lx_team_plans *p, struct team_figures *out)
{
    int devices = p->team->devices;
    int32_t steps = p->team->step_count;
    *out = (struct team_figures){.plans = p, .step_count = steps, .last = 0, .waiter = -1};
    out->steps = mem_alloc(((size_t)steps + 1) * sizeof *out->steps);
    out->devices = mem_alloc((size_t)devices * sizeof *out->devices);
    out->clock = lx_team_clock_make(p);
    for (int32_t s = 0; s < steps; s++)
        out->steps[s] = (struct team_step_figures){.plan = p->team, .step = s, .from = -1, .waiter = -1};
    for (int m = 0; m < devices; m++)
        out->devices[m] =
            (struct team_device_figures){.plans = p, .device = m, .longest_step = -1, .late = -1};
    for (int m = 0; m < devices; m++) time_device(out, m);
    /* Only the sets that something goes over. */
    for (unsigned s = 1; s < TEAM_LINK_SETS; s++) {
        if (out->links[s].messages == 0) continue;
        out->links[s].axes = s;
        out->links[out->link_count++] = out->links[s];
    }
    for (int m = 0; m < devices; m++) {
        const struct team_device_figures *x = &out->devices[m];
        if (x->us > out->devices[out->last].us) out->last = m;
        if (x->waited > (out->waiter < 0 ? 0 : out->devices[out->waiter].waited)) out->waiter = m;
    }
}

void team_figures_free(struct team_figures *f)
{
    lx_team_clock_free(f->clock);
    mem_free(f->steps);
    mem_free(f->devices);
    *f = (struct team_figures){0};
}

const char *team_step_name(const struct lx_team_plan *p, int32_t step)
{
    const struct lx_team_step *s = &p->steps[step];
    bool travels = s->kind == LX_TEAM_START || s->kind == LX_TEAM_WAIT;
    return travels ? p->graph->tensors[p->exchanges[s->exchange].tensor].name : p->graph->ops[s->op].name;
}

void add_axes(unsigned axes, struct text *out)
{
    bool any = false;
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (axes >> a & 1) text_format(out, any ? " and %d" : "%d", a), any = true;
}

void add_grid(const struct lx_team_plan *p, struct text *out)
{
    text_add(out, counted(p->devices, "device").at);
    for (int a = 0; p->grid.axes > 1 && a < p->grid.axes; a++)
        text_format(out, a ? " x %d" : ", %d", p->grid.size[a]);
}

void add_coordinates(const struct lx_team_grid *grid, int device, struct text *out)
{
    for (int a = 0; a < grid->axes; a++)
        text_format(out, a ? ", %d" : "%d", lx_team_coordinate(grid, device, a));
}

/* O(ops + cells) per device. */
void team_lane_fill(const struct lx_team_times *t, double from, double to, int cells, struct team_span *out)
{
    enum { APART = sizeof *out / sizeof(double) };
    struct spread s = {from, (to - from) / cells, cells};
    for (int c = 0; c < cells; c++) out[c] = (struct team_span){0};
    if (!(s.cell > 0)) return;
    for (int o = 0; o < t->ops; o++) {
        spread_add(&s, t->begin[o], t->works[o], 1, &out->waits, APART);
        spread_add(&s, t->works[o], t->end[o], 1, &out->works, APART);
    }
    for (int i = 0; i < t->trip_count; i++)
        if (t->trips[i].axes) spread_add(&s, t->trips[i].begin, t->trips[i].end, 1, &out->travels, APART);
}

enum team_lane_mark team_lane_mark_of(const struct team_span *s)
{
    if (s->waits > 0 && s->waits >= 0.2 * s->works) return LANE_WAITS;
    return s->works > 0 ? LANE_WORKS : LANE_NOTHING;
}

int team_lane_travels(const struct team_span *s)
{
    return s->travels <= 0 ? 0 : s->travels < 0.5 ? 1 : 2;
}

/* How tensors of a team are cut, as a table and in words. */

/* "sharded along 0"; of an axis that the grid has not, nothing. */
static const char *team_state_word(const struct lx_team_plan *p, int32_t tensor, int axis, struct text *room)
{
    int cut = p->tensors[tensor].shard[axis];
    if (axis >= p->grid.axes) return "";
    if (cut == -1) return "replicated";
    if (cut < -1) return "partial sums";
    text_format(room, "sharded along %d", cut);
    return room->at ? room->at : "";
}

void add_state(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], struct text *out)
{
    bool any = false;
    for (int a = 0; a < grid->axes; a++) {
        if (cut[a] == -1) continue;
        text_add(out, any ? " and " : "");
        text_add(out, cut[a] == LX_TEAM_PARTIAL ? "partial sums" : any ? "along " : "sharded along ");
        if (cut[a] != LX_TEAM_PARTIAL) text_format(out, "%d", cut[a]);
        if (grid->axes > 1) text_format(out, " by axis %d", a);
        any = true;
    }
    if (!any) text_add(out, "replicated");
}

int64_t team_tensor_bytes(const struct lx_team_plan *p, int32_t tensor)
{
    int64_t bytes = 0;
    for (int32_t e = 0; e < p->exchange_count; e++)
        if (p->exchanges[e].tensor == tensor) bytes += p->exchanges[e].bytes;
    for (int32_t o = 0; o < p->graph->op_count; o++)
        if (p->graph->ops[o].output == tensor) bytes += lx_team_combined(p, o);
    return bytes;
}

/* The largest part that a device has: "8 x 32" */
static void add_largest_part(const struct lx_team_plan *p, int32_t tensor, struct text *out)
{
    const struct lx_tensor *t = &p->graph->tensors[tensor];
    int64_t size[LX_MAX_RANK] = {0};
    for (int d = 0; d < t->rank; d++) {
        const int64_t *bound = p->tensors[tensor].bound[d];
        if (!bound) size[d] = t->shape[d];
        for (int b = 0; bound && b < lx_team_blocks(&p->grid, p->tensors[tensor].shard, d); b++)
            if (bound[b + 1] - bound[b] > size[d]) size[d] = bound[b + 1] - bound[b];
        text_format(out, d ? " x %lld" : "%lld", (long long)size[d]);
    }
    if (t->rank == 0) text_add(out, "one number");
}

static void shape_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_tensor_row *row = row_of_table;
    const struct lx_tensor *t = &row->plan->graph->tensors[row->tensor];
    (void)column;
    for (int d = 0; d < t->rank; d++) value_format(v, d ? " x %lld" : "%lld", (long long)t->shape[d]);
    v->paint = PAINT_DIM;
}

static void axis_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_tensor_row *row = row_of_table;
    v->words = team_state_word(row->plan, row->tensor, column->argument, &v->made);
    if (row->plan->tensors[row->tensor].shard[column->argument] == -1) v->paint = PAINT_DIM;
    if (row->plan->tensors[row->tensor].shard[column->argument] < -1) v->paint = PAINT_WARN;
}

/* clang-format off */
VALUE_OF(name_value,  struct team_tensor_row, v->words = row->plan->graph->tensors[row->tensor].name;)
VALUE_OF(role_value,  struct team_tensor_row, v->words = lx_role_word(row->plan->graph->tensors[row->tensor].role); v->paint = PAINT_DIM;)
VALUE_OF(part_value,  struct team_tensor_row, add_largest_part(row->plan, row->tensor, &v->made); v->words = v->made.at;)
VALUE_OF(bytes_value, struct team_tensor_row, value_dim(v, team_tensor_bytes(row->plan, row->tensor));)

static const struct column state_array[] = {
    {.key = "tensor", .heading = "tensor", .kind = VALUE_NAME,  .value = name_value},
    {.key = "role",   .heading = "role",   .kind = VALUE_WORDS, .value = role_value},
    {.key = "shape",  .heading = "shape",  .kind = VALUE_WORDS, .value = shape_value},
    {.key = "axis_0", .heading = "axis 0", .kind = VALUE_WORDS, .argument = 0, .value = axis_value},
    {.key = "axis_1", .heading = "axis 1", .kind = VALUE_WORDS, .argument = 1, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = axis_value},
    {.key = "axis_2", .heading = "axis 2", .kind = VALUE_WORDS, .argument = 2, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = axis_value},
    {.key = "part",   .heading = "part",   .kind = VALUE_WORDS, .value = part_value},
    {.key = "bytes",  .heading = "bytes received", .kind = VALUE_BYTES, .value = bytes_value},
};
/* clang-format on */
_Static_assert(LX_TEAM_AXES == 3, "a column per axis");

const struct columns team_state_columns = COLUMNS("states of a team's tensors", state_array);
