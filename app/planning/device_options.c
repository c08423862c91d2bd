/* The device by the command line: presets, parameters, cores and scratchpad sizes. */
#include "planning/planning.h"
#include "base/fail.h"
#include "base/arena.h"
#include "base/checked.h"
#include "text/colour.h"
#include "text/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool split_pair(struct call *call, const char *option, const char *pair, char **name, const char **value)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return status_set(&call->st, LX_E_USAGE, "--%s %s: it must be NAME=VALUE", option, pair);
    *name = arena_copy(call->line.memory, pair, (size_t)(equals - pair));
    *value = equals + 1;
    return *name ? true : status_no_memory(&call->st);
}

bool parse_number(const char *what, const char *text, double *out, lx_status *st)
{
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(v))
        return status_set(st, LX_E_USAGE, "%s: \"%s\" is not a number", what, text);
    *out = v;
    return true;
}

static bool set_parameter(struct call *call, struct lx_device *device, const char *key, const char *value)
{
    const struct lx_device_parameter *p = lx_device_parameter_find(key);
    const char *names[40] = {"preset"};
    int n = 1;
    if (!p) {
        for (p = lx_device_parameters(); p->key && n < 39; p++) names[n++] = p->key;
        const char *near = nearest(key, names);
        return status_set(&call->st, LX_E_USAGE,
                          "a device has no parameter \"%s\"%s%s%s `lxplan plan --help` lists them", key,
                          near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
    }
    double v = 0;
    int64_t integer = 0;
    bool ok = p->integer ? lx_parse_int(key, value, -LX_INT_MAX, LX_INT_MAX, &integer, &call->st)
                         : parse_number(key, value, &v, &call->st);
    if (ok && !lx_device_set(device, p, p->integer ? (double)integer : v, &call->st)) {
        call->st.code = LX_E_USAGE;
        ok = false;
    }
    return ok;
}

/* A preset replaces every parameter, so it comes first, wherever it stands on the command line. */
static bool apply_device_options(struct call *call, struct lx_device *device, bool *changed)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < call->line.options.count; i++) {
            const struct given_option *o = &call->line.options.at[i];
            char *key = NULL;
            const char *value = NULL;
            if (strcmp(o->name, "device") != 0) continue;
            if (!split_pair(call, o->name, o->value, &key, &value)) return false;
            bool is_preset = strcmp(key, "preset") == 0;
            if (is_preset != (pass == 0)) continue;
            *changed = true;
            if (!is_preset && !set_parameter(call, device, key, value)) return false;
            if (is_preset && !lx_device_preset(value, device)) {
                struct text known = {0};
                for (const char *const *p = lx_device_presets(); *p; p++)
                    text_format(&known, "%s%s", known.length ? ", " : "", *p);
                status_set(&call->st, LX_E_USAGE, "there is no device preset \"%s\"; there are: %s", value,
                           known.at ? known.at : "");
                text_free(&known);
                return false;
            }
        }
    return true;
}

static bool apply_cores(struct call *call, struct lx_device *device, bool *changed)
{
    const char *text = option_value(&call->line, "cores"), *environment = getenv("SENCORES");
    int64_t cores;
    if (text) {
        if (!lx_parse_int("--cores", text, 1, 1024, &cores, &call->st)) return false;
    } else if (environment && *environment) {
        if (!lx_parse_int("SENCORES in the environment", environment, 1, 32, &cores, &call->st)) return false;
    } else
        return true;
    if (!lx_cores_valid(device, cores, &call->st)) return false;
    device->cores = cores;
    /* The grid must hold the cores; when it does not, they stand in one row. */
    if (device->grid_y * device->grid_x != cores) {
        device->grid_y = 1;
        device->grid_x = cores;
    }
    *changed = true;
    return true;
}

const struct lx_graph *with_sizes(struct call *call, const struct lx_graph *g)
{
    struct lx_device device = g->device;
    bool changed = false;
    int64_t usable = -1;
    if (!apply_device_options(call, &device, &changed) || !apply_cores(call, &device, &changed) ||
        !option_int(call, "lx", 0, LX_INT_MAX, &usable))
        return NULL;
    const struct lx_graph *on = changed ? lx_graph_with_device(g, &device, &call->st) : lx_graph_ref(g);
    if (!on || usable < 0) return on;
    const struct lx_graph *sized = lx_graph_with_capacity(on, usable, &call->st);
    lx_graph_free(on);
    return sized;
}

void device_help(const struct call *call, struct text *out)
{
    (void)call;
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, "parameters of a device (-D KEY=VALUE):\n");
    struct text presets = {0};
    for (const char *const *p = lx_device_presets(); *p; p++)
        text_format(&presets, "%s%s", presets.length ? " or " : "a whole device: ", *p);
    help_entry(out, "preset", presets.at ? presets.at : "");
    text_free(&presets);
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
        help_entry(out, p->key, p->help);
}

void device_line(const struct lx_plan *plan, struct text *out)
{
    const struct lx_device *d = &plan->graph->device;
    if (plan->graph->is_list)
        text_format(out, "%s of scratchpad, alignment %s B", in_bytes(plan->problem.capacity).at,
                    grouped(plan->problem.alignment).at);
    else
        text_format(out, "%s, %s, %s of scratchpad each, in sticks of %s B", d->preset,
                    counted(d->cores, "core").at, in_bytes(plan->problem.capacity).at,
                    grouped(plan->problem.alignment).at);
}
