/* Options of models: extents and values that the file leaves open, what is to be run of it, and the report. */
#include "commands/import_models.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/option.h"

#include <stdlib.h>
#include <string.h>

const struct option_row model_rows[] = {
    {"func", 0, "NAME", "models: the function to import (default: the only one, or the only public one)"},
    {"dim", 0, "NAME=N", "models: the extent NAME is N; may be given several times"},
    {"value", 0, "NAME=N", "models: the scalar input NAME is N; may be given several times"},
    {"branch", 0, "K",
     "models: branch K of conditionals that data decides on (default: the one with most bytes)"},
    {"trips", 0, "N",
     "models: go N times through loops that data ends, and those that would be too long (default: 1)"},
    {"max-ops", 0, "N", "models: unroll loops that count while ops stay below N (default: 100000)"},
    {"device", 0, "K", "models: of several devices that share the work, plan number K (default: 0)"},
    {"role", 0, "NAME=ROLE", "models: the argument NAME is an input, a weight or a state"},
    {"share-cache", 0, NULL, "models: past and present of a cache in ONNX, of one shape, are one buffer"},
    {"no-fold", 0, NULL, "models: reshapes, permutations and broadcasts stay ops that copy"},
    {"no-expand", 0, NULL,
     "models: softmax, norms and other layers that are one op of the file stay generic"},
    {"strict", 0, NULL, "models: refuse a model with ops that would be generic"},
    {"report", 0, "FILE", "models: write what became of each kind of op, in ops and bytes, as JSON"},
    {0},
};

typedef VEC(struct lx_model_binding) bindings;

static bool read_bindings(struct call *call, const char *option, bindings *to)
{
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, option) != 0) continue;
        const char *equals = strrchr(o->value, '=');
        struct lx_model_binding b = {0};
        if (!equals || equals == o->value)
            return status_set(&call->st, LX_E_USAGE, "--%s %s: write NAME=N", option, o->value);
        if (!lx_parse_int(option, equals + 1, 0, LX_INT_MAX, &b.value, &call->st)) return false;
        b.name = arena_copy(call->line.memory, o->value, (size_t)(equals - o->value));
        if (!b.name || !VEC_PUSH(to, b)) return status_no_memory(&call->st);
    }
    return true;
}

/* The same with words instead of numbers. */
static bool read_roles(struct call *call, bindings *to)
{
    static const struct {
        const char *word;
        int64_t role;
    } words[] = {{"input", LX_INPUT}, {"weight", LX_WEIGHT}, {"state", LX_STATE}};
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "role") != 0) continue;
        const char *equals = strrchr(o->value, '=');
        struct lx_model_binding b = {.value = -1};
        for (size_t k = 0; equals && k < sizeof words / sizeof *words; k++)
            if (strcmp(words[k].word, equals + 1) == 0) b.value = words[k].role;
        if (!equals || equals == o->value || b.value < 0)
            return status_set(&call->st, LX_E_USAGE, "--role %s: write NAME=input, NAME=weight or NAME=state",
                              o->value);
        b.name = arena_copy(call->line.memory, o->value, (size_t)(equals - o->value));
        if (!b.name || !VEC_PUSH(to, b)) return status_no_memory(&call->st);
    }
    return true;
}

static bool read_numbers(struct call *call, struct lx_import_options *o)
{
    return option_int(call, "branch", 0, 1 << 20, &o->branch) &&
           option_int(call, "trips", 1, 1 << 19, &o->trips) &&
           option_int(call, "max-ops", 1, 1 << 19, &o->max_ops) &&
           option_int(call, "device", 0, 1 << 20, &o->device);
}

static bool write_report(struct call *call, const char *report)
{
    const char *path = option_value(&call->line, "report");
    return !path || file_write(path, report, strlen(report), &call->st);
}

const struct lx_graph *import_model_file(struct call *call, const char *file, const char *text, size_t length)
{
    struct lx_import_options options = {.branch = -1};
    bindings dims = {0}, fixed = {0}, roles = {0};
    char *report = NULL;
    const struct lx_graph *g = NULL;
    options.no_fold = option_given(&call->line, "no-fold");
    options.no_expand = option_given(&call->line, "no-expand");
    options.strict = option_given(&call->line, "strict");
    options.model.function = option_value(&call->line, "func");
    options.share_cache = option_given(&call->line, "share-cache");
    if (read_numbers(call, &options) && read_bindings(call, "dim", &dims) &&
        read_bindings(call, "value", &fixed) && read_roles(call, &roles)) {
        options.roles = roles.at;
        options.role_count = (int)roles.count;
        options.model.dims = dims.at;
        options.model.dim_count = (int)dims.count;
        options.model.fixed = fixed.at;
        options.model.fixed_count = (int)fixed.count;
        g = lx_model_import(file, text, length, &options, &report, &call->st);
    }
    const char *to = option_value(&call->line, "output");
    bool shows = to && strcmp(to, "-") != 0 && !wants_json(call);
    if (g && (!write_report(call, report) || (shows && !show_import(call, report)))) {
        lx_graph_free(g);
        g = NULL;
    }
    free(report);
    VEC_FREE(&dims);
    VEC_FREE(&fixed);
    VEC_FREE(&roles);
    return g;
}
