/* The numbers of a machine: its rates by programs that do one thing each (rate_programs.c), the rest by the
 * times of plans, which the clock must predict. */
#include "explain/op_waits.h"
#include "gpu/rate_programs.h"

enum { MACHINE_NAME = 41 };

/* A number to the digits that a measurement has. */
static double calibrate_rounded(double value)
{
    enum { DIGITS = 4 };
    char text[40];
    snprintf(text, sizeof text, "%.*g", DIGITS, value);
    return strtod(text, NULL);
}

/* --- rates --- */

/* The machine's name without its features, and as a name of devices. */
static void calibrate_name(struct lx_calibration *c)
{
    struct lx_device *d = &c->device;
    char name[MACHINE_NAME] = "";
    c->machine[strcspn(c->machine, ",")] = 0;
    for (size_t i = 0; c->machine[i] && i + 1 < sizeof d->preset; i++)
        name[i] = isalnum((unsigned char)c->machine[i]) ? (char)tolower(c->machine[i]) : '_';
    snprintf(d->preset, sizeof d->preset, "%.23s", name);
    snprintf(d->own_costs.name, sizeof d->own_costs.name, "%.23s", name);
    memcpy(name, c->machine, sizeof name - 1);
    snprintf(d->help, sizeof d->help, "measured on %s by lxplan calibrate", name);
    snprintf(d->own_costs.help, sizeof d->own_costs.help, "measured and fitted on %s", name);
}

static void calibrate_set(struct lx_calibration *c, enum cost_constant_id id, double value, const char *how)
{
    struct cost_number n = {fmin(fmax(calibrate_rounded(value), cost_rows[id].least), cost_rows[id].most),
                            c->device.own_costs.number[id].scale, ""};
    snprintf(n.origin, sizeof n.origin, "measured on %.40s: %s", c->machine, how);
    c->device.own_costs.number[id] = n;
}

/* The device's own rate, and the one that its table was measured at. */
static void calibrate_nominal(double *of_device, double *of_table, double value)
{
    *of_device = *of_table = calibrate_rounded(value);
}

static void calibrate_apply(struct lx_calibration *c, const double *rate)
{
    static const enum cost_constant_id like_reads[] = {COST_ROW_FLOOR, COST_OUTER, COST_RESTICK,
                                                       COST_BROADCASTS, COST_STREAM_CAP};
    struct lx_device *d = &c->device;
    struct cost_table *t = &d->own_costs;
    const double far = 56 * 1.024; /* between exchanges of 8 and of 64 KiB, in 1,000 bytes */
    double hbm = fmax(rate[RATE_READ], rate[RATE_FILL]),
           ring = far / fmax(rate[RATE_EXCHANGE_64K] - rate[RATE_EXCHANGE_8K], 1e-3);
    calibrate_nominal(&d->hbm_gb_per_s, &t->hbm_gb_per_s, hbm);
    calibrate_nominal(&d->ring_gb_per_s, &t->ring_gb_per_s, ring);
    calibrate_nominal(&d->psum_ring_gb_per_s, &t->psum_ring_gb_per_s, ring);
    calibrate_nominal(&d->lx_gb_per_s, &t->lx_gb_per_s, rate[RATE_LX]);
    calibrate_nominal(&d->peak_gflop_per_s, &t->peak_gflop_per_s, 2 * rate[RATE_MACS] * 1e-3);
    calibrate_set(c, COST_ONE_WAY, hbm, "reads of 16 bytes by all cores");
    for (size_t i = 0; i < sizeof like_reads / sizeof *like_reads; i++)
        calibrate_set(c, like_reads[i], hbm, "as reads by all cores");
    calibrate_set(c, COST_CORE_PORT, rate[RATE_READ_1], "reads by one core");
    calibrate_set(c, COST_FILL, rate[RATE_FILL_1], "copies in the background by one core");
    calibrate_set(c, COST_RELAYOUT, ring, "parts written and read by all cores");
    calibrate_set(c, COST_LX_PORT, rate[RATE_LX], "reads of 16 bytes");
    calibrate_set(c, COST_MACS, rate[RATE_MACS], "products alone");
    calibrate_set(c, COST_SYNC, rate[RATE_SYNC], "one counter, all cores");
    calibrate_set(c, COST_LAUNCH, rate[RATE_LAUNCH], "launch after launch in a graph");
}

bool calibrate_rates(const struct machine_kind *k, const struct machine_room *room,
                     const struct lx_calibrate_options *how, struct lx_calibration *c, lx_status *st)
{
    double rate[RATE_PROGRAMS] = {0};
    for (int i = 0; i < RATE_PROGRAMS; i++) {
        const struct rate_program *r = &rate_programs[i];
        int64_t cores = r->cores ? r->cores : room->cores;
        if (cores > room->cores) continue;
        if (how->stop && how->stop(how->context)) return status_set(st, LX_E_STOPPED, "stopped");
        if (how->progress) how->progress(how->context, r->what, i, RATE_PROGRAMS);
        if (!rate_measure(k, r, cores, &rate[i], st)) return false;
        c->rate[c->rate_count++] = (struct lx_rate){r->what, r->unit, cores, rate[i]};
    }
    c->device.cores = c->device.grid_x = room->cores;
    c->device.grid_y = 1;
    c->device.lx_bytes = room->lx_bytes;
    calibrate_apply(c, rate);
    return true;
}

bool lx_calibrate(const struct lx_calibrate_options *how, struct lx_calibration *out, lx_status *st)
{
    const struct machine_kind *k = machine_kind_find(how->machine, st);
    struct machine_room room;
    _Static_assert((int)RATE_PROGRAMS <= (int)LX_MOST_RATES, "a row for each");
    *out = (struct lx_calibration){.device = *how->like};
    if (!k || !k->there(out->machine, sizeof out->machine, &room, st)) return false;
    if (!k->time)
        return status_set(st, LX_E_UNSUPPORTED, "%s has no clock that is worth measuring by; use --on gpu",
                          k->is.name);
    out->device.own_costs = *lx_device_costs(how->like);
    out->device.cost_table = NULL;
    calibrate_name(out);
    return calibrate_rates(k, &room, how, out, st);
}

/* --- the rest --- */

/* The numbers that depend on how bodies are written; `count` rows of the table that go together. */
static const struct fitted_row {
    int first, count;
} fitted_rows[] = {{COST_BEGIN, 1},    {COST_LATENCY, 1},  {COST_TICK, 1},       {COST_STEP, 1},
                   {COST_SLICE_1, 6},  {COST_LX_PORT, 1},  {COST_TURNAROUND, 1}, {COST_FOLD, 1},
                   {COST_FUNCTION, 1}, {COST_CONTRACT, 1}, {COST_MEET, 1},       {COST_MACS, 1},
                   {COST_OUTER, 1},    {COST_PSUM, 1},     {COST_RELAYOUT, 1}};

enum { FITTED_ROWS = sizeof fitted_rows / sizeof *fitted_rows };

struct fit {
    const struct lx_plan *const *plans;
    const double *us;
    int count;
    const struct lx_device *from;
    struct lx_device device;
};

/* What the clock says of a plan on another device of the same sizes. */
static double calibrate_predicted(const struct lx_plan *p, const struct lx_device *d)
{
    struct lx_plan plan = *p;
    struct lx_layouts layouts = *p->layouts;
    struct lx_divisions divisions = *p->divisions;
    struct lx_graph graph = *p->layouts->graph;
    graph.device = *d;
    layouts.graph = &graph;
    divisions.layouts = plan.layouts = &layouts;
    plan.divisions = &divisions;
    return lx_plan_clock(&plan, NULL).end_to_end_us;
}

/* By how much predicted and measured times differ, as logarithms; one that is far off, by what the clock does
 * not know, counts little more than one that is off. And a little for each number that moves. */
static double calibrate_error(const struct fit *f)
{
    const double reluctance = 0.1, usual = 0.1;
    double sum = 0;
    for (int i = 0; i < f->count; i++) {
        double off = log(calibrate_predicted(f->plans[i], &f->device) / f->us[i]) / usual;
        sum += log1p(off * off);
    }
    for (int i = 0; i < FITTED_ROWS; i++) {
        int id = fitted_rows[i].first;
        double moved = log(f->device.own_costs.number[id].value / f->from->own_costs.number[id].value);
        sum += reluctance * moved * moved;
    }
    return sum;
}

static void calibrate_scale(struct lx_device *d, const struct fitted_row *row, double by)
{
    for (int i = row->first; i < row->first + row->count; i++) {
        double *value = &d->own_costs.number[i].value;
        *value = fmin(fmax(*value * by, fmax(cost_rows[i].least, 1e-7)), cost_rows[i].most);
    }
}

/* One number after the other by a factor up or down, as long as that helps; then by a smaller factor. */
static void calibrate_descend(struct fit *f)
{
    const double first = 2, last = 1.005;
    double least = calibrate_error(f);
    for (double by = first; by > last;) {
        bool better = false;
        for (int i = 0; i < 2 * FITTED_ROWS; i++) {
            struct lx_device before = f->device;
            calibrate_scale(&f->device, &fitted_rows[i / 2], i % 2 ? by : 1 / by);
            double error = calibrate_error(f);
            if (error < least) {
                least = error;
                better = true;
            } else
                f->device = before;
        }
        if (!better) by = sqrt(by);
    }
}

void lx_calibration_fit(struct lx_calibration *c, const struct lx_plan *const *plans, const double *us,
                        int count)
{
    struct lx_device from = c->device;
    const double nothing = 1e-5;
    if (count == 0) return;
    for (int i = 0; i < FITTED_ROWS; i++)
        for (int k = fitted_rows[i].first; k < fitted_rows[i].first + fitted_rows[i].count; k++)
            if (from.own_costs.number[k].value <= 0) from.own_costs.number[k].value = nothing;
    struct fit f = {.plans = plans, .us = us, .count = count, .from = &from, .device = from};
    char how[60];
    snprintf(how, sizeof how, "fitted to the times of %d programs", count);
    calibrate_descend(&f);
    for (int i = 0; i < FITTED_ROWS; i++)
        for (int k = fitted_rows[i].first; k < fitted_rows[i].first + fitted_rows[i].count; k++)
            calibrate_set(c, (enum cost_constant_id)k, f.device.own_costs.number[k].value, how);
    OWNED double *off = mem_zeroed((size_t)count, sizeof *off);
    for (int i = 0; i < count; i++) off[i] = fabs(calibrate_predicted(plans[i], &c->device) / us[i] - 1);
    qsort(off, (size_t)count, sizeof *off, order_double);
    c->median_off = off[count / 2];
    c->worst_off = off[count - 1];
}
