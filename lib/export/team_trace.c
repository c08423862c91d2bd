/* The predicted time line of a team as trace events: https://ui.perfetto.dev opens the file. One process per member, named by
 * its number and its place in the grid. Row 0 has its ops, row 1 what it waits for others, and a row per axis of the
 * grid what comes over its links; what comes over several axes stands in the row of the first, as no two trips
 * to one member over one axis overlap. Arrows (flows) go from the op that sends the last of a message to its trip.
 *
 * Times are whole picoseconds, so that slices of a row stay apart when they are rounded, and add up to what the clock
 * has: ops to busy_us, waits to waited_us, trips to link_us. */
#include "export/exports.h"
#include "base/fail.h"
#include "base/text.h"
#include "export/export_rows.h"
#include "team/run/team_clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { OPS, WAITS, FIRST_AXIS };
enum { MOST_FLOWS = 1 << 17 }; /* beyond, there are none */

struct team_trace {
    const struct lx_team_plans *p;
    const struct lx_team_clock *clock;
    struct text *out;
    bool begun, flows;
    int64_t flow; /* the number of the last */
};

static int64_t ps_of(double us)
{
    return llround(us * PS_PER_US);
}

/* Members count from 0, processes from 1: a viewer takes process 0 for itself. */
static void team_trace_begin_event(struct team_trace *x, const char *phase, int member, int row)
{
    text_format(x->out, "%s\n  {\"ph\": \"%s\", \"pid\": %d, \"tid\": %d", x->begun ? "," : "", phase,
                member + 1, row);
    x->begun = true;
}

static void team_trace_name_it(struct team_trace *x, const char *what, int member, int row, const char *name)
{
    team_trace_begin_event(x, "M", member, row);
    text_format(x->out, ", \"name\": \"%s_name\", \"args\": {\"name\": ", what);
    text_json_string(x->out, name);
    text_add(x->out, "}}");
    team_trace_begin_event(x, "M", member, row);
    text_format(x->out, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %d}}", what,
                what[0] == 't' ? row : member + 1);
}

/* Up to and with the opening brace of its arguments. */
static void team_trace_begin_slice(struct team_trace *x, int member, int row, const char *prefix,
                                   const char *name, const char *category, double from, double to)
{
    struct text whole = {0};
    text_format(&whole, "%s%s", prefix, name);
    team_trace_begin_event(x, "X", member, row);
    text_add(x->out, ", \"name\": ");
    text_json_string(x->out, whole.at ? whole.at : "");
    text_format(x->out, ", \"cat\": \"%s\", \"ts\": ", category);
    add_us(x->out, ps_of(from));
    text_add(x->out, ", \"dur\": ");
    add_us(x->out, ps_of(to) - ps_of(from));
    text_add(x->out, ", \"args\": {");
    text_free(&whole);
}

/* Tensor and kind of a tag. Tags behind those of exchanges are rounds of combining: terms, then sums. */
static const char *trip_name(const struct lx_team_plan *p, int tag, const char **how)
{
    static const char *const rounds[] = {"terms", "sums"};
    int of_combine = tag - lx_team_tag_combine(p, 0, 0);
    *how = of_combine < 0 ? lx_team_pattern_word(p->exchanges[tag - 1].pattern) : rounds[of_combine % 2];
    return of_combine < 0 ? p->graph->tensors[p->exchanges[tag - 1].tensor].name
                          : p->graph->ops[of_combine / 2].name;
}

static int team_trace_row_of(const struct lx_team_trip *t)
{
    int a = 0;
    while (a + 1 < LX_TEAM_AXES && !(t->axes >> a & 1)) a++;
    return FIRST_AXIS + a;
}

static void team_trace_add_op(struct team_trace *x, int m, int o)
{
    const struct lx_plan *plan = x->p->plans[m];
    const struct lx_team_times *at = &x->clock->at[m];
    const struct lx_op *op = &plan->layouts->graph->ops[o];
    const struct lx_op_traffic *t = &plan->traffic[o];
    team_trace_begin_slice(x, m, OPS, "", op->name, op->kind->name, at->works[o], at->end[o]);
    text_format(x->out,
                "\"tick\": %d, \"cores\": %" PRId64 ", \"hbm_read\": %" PRId64 ", \"hbm_written\": %" PRId64
                "}}",
                o, t->cores, t->hbm_read, t->hbm_written);
    if (!(at->works[o] > at->begin[o])) return;
    const struct lx_team_trip *trip = &at->trips[at->trip[o]];
    const char *how, *name = trip_name(x->p->team, trip->tag, &how);
    team_trace_begin_slice(x, m, WAITS, "wait for ", name, how, at->begin[o], at->works[o]);
    text_format(x->out, "\"tick\": %d, \"tag\": %d, \"bytes\": %" PRId64 "}}", o, trip->tag, trip->bytes);
}

static void add_flow_end(struct team_trace *x, const char *phase, int member, int row, double us)
{
    team_trace_begin_event(x, phase, member, row);
    text_format(x->out,
                ", \"name\": \"message\", \"cat\": \"message\", \"id\": %" PRId64 ", \"ts\": ", x->flow);
    add_us(x->out, ps_of(us));
    text_add(x->out, phase[0] == 'f' ? ", \"bp\": \"e\"}" : "}");
}

static void add_trip(struct team_trace *x, int m, const struct lx_team_trip *trip)
{
    const char *how, *name = trip_name(x->p->team, trip->tag, &how);
    if (!trip->axes) return;
    team_trace_begin_slice(x, m, team_trace_row_of(trip), "", name, how, trip->begin, trip->end);
    text_format(x->out, "\"tag\": %d, \"axes\": %u, \"bytes\": %" PRId64 "}}", trip->tag, trip->axes,
                trip->bytes);
    if (x->flows) {
        /* An arrow for each message of the trip. */
        const struct lx_team_device *does = x->p->devices[m];
        for (int32_t i = trip->first_message; i < trip->end_message; i++) {
            const struct lx_team_message *g = &does->messages[i];
            if (g->operand >= 0 || g->tag != trip->tag || g->peer == m) continue;
            const struct lx_team_times *from = &x->clock->at[g->peer];
            int32_t o = from->last_send ? from->last_send[g->tag] : -1;
            if (o < 0) continue;
            x->flow++;
            add_flow_end(x, "s", g->peer, OPS, from->works[o]);
            add_flow_end(x, "f", m, team_trace_row_of(trip), trip->begin);
        }
    }
}

char *lx_team_trace(const struct lx_team_plans *p, size_t *length)
{
    struct text t = {0};
    struct lx_team_clock *clock = lx_team_clock_make(p);
    struct team_trace x = {.p = p, .clock = clock, .out = &t};
    int64_t messages = 0;
    for (int m = 0; m < clock->devices; m++) messages += p->devices[m] ? p->devices[m]->message_count : 0;
    x.flows = messages <= 2 * (int64_t)MOST_FLOWS; /* both sides have each */
    text_add(
        &t,
        "{\"lxplan\": 1, \"kind\": \"trace\", \"displayTimeUnit\": \"ns\", \"otherData\": {\"pattern\": ");
    text_json_string(&t, p->team->graph->name ? p->team->graph->name : "");
    text_format(&t,
                ", \"pattern_hash\": \"%016" PRIx64
                "\", \"members\": %d, \"time\": \"end to end, predicted\"}, \"traceEvents\": [",
                p->team->graph->hash, p->team->devices);
    for (int m = 0; m < clock->devices; m++) {
        const struct lx_team_times *at = &x.clock->at[m];
        /* "device 3 at 1, 0 of 2x2" */
        const struct lx_team_grid *grid = &x.p->team->grid;
        struct text name = {0};
        text_format(&name, "device %d at ", m);
        for (int a = 0; a < grid->axes; a++)
            text_format(&name, "%s%d", a ? ", " : "", lx_team_coordinate(grid, m, a));
        for (int a = 0; a < grid->axes; a++) text_format(&name, "%s%d", a ? "x" : " of ", grid->size[a]);
        if (name.at) team_trace_name_it(&x, "process", m, OPS, name.at);
        team_trace_name_it(&x, "thread", m, OPS, "ops");
        team_trace_name_it(&x, "thread", m, WAITS, "waits");
        for (int a = 0; a < grid->axes; a++) {
            char row[40];
            snprintf(row, sizeof row, "links of axis %d", a);
            team_trace_name_it(&x, "thread", m, FIRST_AXIS + a, row);
        }
        text_free(&name);
        for (int o = 0; o < at->ops; o++) team_trace_add_op(&x, m, o);
        for (int i = 0; i < at->trip_count; i++) add_trip(&x, m, &at->trips[i]);
    }
    text_add(&t, "\n]}\n");
    lx_team_clock_free(clock);
    *length = t.length;
    return t.at;
}
