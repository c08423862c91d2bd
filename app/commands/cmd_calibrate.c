/* lxplan calibrate: what a machine's rates are, and what its programs take, as a device file. */
#include "interrupt.h"
#include "bench/bench.h"
#include "text/table.h"

static const struct option_row calibrate_rows[] = {
    {"on", 0, "MACHINE",
     "what is measured: gpu (default), an NVIDIA GPU; `run --on list` tells what there is"},
    {0},
};

static const struct option_words words[] = {{"on", machine_with_clock}, {0}};

/* clang-format off */
VALUE_OF(rate_unit_value, struct lx_rate, v->words = row->unit[0] ? row->unit : "us";)

static const struct column rate_array[] = {
    {.key = "what",  .heading = "what",  .kind = VALUE_WORDS, MEMBER(struct lx_rate, what)},
    {.key = "cores", .heading = "cores", .kind = VALUE_COUNT, MEMBER(struct lx_rate, cores)},
    {.key = "value", .heading = "value", .kind = VALUE_RATIO, .digits = 4, MEMBER(struct lx_rate, value)},
    {.key = "unit",  .heading = "",      .kind = VALUE_WORDS, .value = rate_unit_value},
};
/* clang-format on */

const struct columns rate_columns = COLUMNS("rates of a machine", rate_array);

struct calibrate_call {
    struct watch watch; /* first: it is the context of callbacks */
    struct call *call;
    struct lx_calibrate_options how;
    struct lx_calibration found;
    VEC(const struct lx_plan *) plans;
    VEC(double) us;
};

static void calibrate_show(void *context, const char *what, int done, int all)
{
    const struct calibrate_call *c = context;
    note(c->call, "%d of %d: %s", done + 1, all, what);
}

/* Plans the graph for the device by the rates found so far, and times its program. */
static bool calibrate_plan(struct calibrate_call *c, const struct lx_graph *g)
{
    SCOPED(graph_free_at) const struct lx_graph *here = lx_graph_with_device(g, &c->found.device);
    struct lx_program_options how = {.machine = c->how.machine, .launches = 200, .judge = {.threads = 1}};
    struct lx_measured m = {0};
    struct lx_plan *p = make_plan(c->call, here);
    if (!p || !lx_program_time(p, &how, &m, &c->call->st)) return lx_plan_free(p), false;
    note(c->call, "%s: %s predicted, %s measured", g->name ? g->name : "a graph",
         in_micros(p->figures.end_to_end_us).at, in_micros(m.median_us).at);
    VEC_PUSH(&c->plans, p);
    VEC_PUSH(&c->us, m.median_us);
    return true;
}

static bool calibrate_plans(struct calibrate_call *c)
{
    struct call *call = c->call;
    const struct lx_graph *g;
    bool ok = true;
    for (int i = 0; ok && call->line.files.count == 0 && (g = lx_calibration_graph(i, &call->st)); i++) {
        ok = calibrate_plan(c, g);
        lx_graph_free(g);
    }
    for (size_t i = 0; ok && i < call->line.files.count; i++) {
        g = read_pattern_as_is(call, call->line.files.at[i]);
        ok = g && calibrate_plan(c, g);
        lx_graph_free(g);
    }
    return ok;
}

static bool calibrate_all(struct calibrate_call *c)
{
    struct lx_settings o;
    struct lx_device like = {0};
    int on = 0;
    if (!read_options(c->call, &o) || !option_word(c->call, "on", machine_with_clock, &on) ||
        !lx_device_preset("h200", &like) || !lx_settings_device(&o, &like, &c->call->st))
        return false;
    c->how = (struct lx_calibrate_options){.machine = machine_with_clock(on),
                                           .like = &like,
                                           .progress = calibrate_show,
                                           .stop = watch_must_stop,
                                           .context = c};
    return lx_calibrate(&c->how, &c->found, &c->call->st) && calibrate_plans(c);
}

static int cmd_calibrate(struct call *call)
{
    struct calibrate_call c = {.call = call};
    watch_begin(&c.watch, 0);
    bool ok = calibrate_all(&c);
    watch_end(&c.watch);
    if (ok) {
        size_t length;
        lx_calibration_fit(&c.found, c.plans.at, c.us.at, (int)c.plans.count);
        note(call, "%s: numbers fitted to %s, off by %s (median), %s (worst)", c.found.machine,
             counted((int64_t)c.plans.count, "program").at, in_percent(c.found.median_off).at,
             in_percent(c.found.worst_off).at);
        if (goes_to_file(call))
            table_add_text(&TABLE(rate_columns, c.found.rate, c.found.rate_count), &call->out);
        char *text = lx_device_to_json(&c.found.device, &length);
        ok = deliver(call, text, length);
    }
    for (size_t i = 0; i < c.plans.count; i++) lx_plan_free(c.plans.at[i]);
    VEC_FREE(&c.plans);
    VEC_FREE(&c.us);
    return ok ? EXIT_YES : FAILED;
}

static const struct option_row *const tables[] = {calibrate_rows, output_rows, planning_rows, model_rows,
                                                  quiet_rows,     help_rows,   NULL};

const struct command command_calibrate = {
    .balances = true,
    .name = "calibrate",
    .synopsis = "[PATTERN ...] [--on MACHINE] [-o FILE] [options]",
    .summary = "Measure a machine and write a device file",
    .details =
        "Measures rates of syncs, launches, memories and products by programs of their own, then times the\n"
        "programs of some graphs (or of those given) and fits the other numbers of the cost table to them.\n"
        "Takes some minutes. What no program tells is the device's of -D (default h200). The file is for -D\n"
        "of the other commands; with -o the rates are printed as well. Exit code 2: there is no such "
        "machine.\n",
    .options = tables,
    .words = words,
    .most_files = 64,
    .file_word = "PATTERN",
    .run = cmd_calibrate,
    .more_help = device_help,
};
