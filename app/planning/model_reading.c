/* Options of models: open extents and values, and the function, branches and loops to import. */
#include "planning/graph_files.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/option.h"
#include "text/format.h"

#include <string.h>
#include <sys/stat.h>

const struct option_row model_rows[] = {
    {"func", MORE, "NAME", "the function to import (default: the only one, or the only public one)"},
    {"dim", MORE, "NAME=N", "the extent NAME is N; may be repeated"},
    {"value", MORE, "NAME=N", "the scalar input NAME is N; may be repeated"},
    {"branch", MORE, "K", "branch K of conditionals that depend on data (default: the one with most bytes)"},
    {"trips", MORE, "N", "iterations of loops whose count depends on data, or is too large (default: 1)"},
    {"max-ops", MORE, "N", "unroll counted loops while the graph has fewer than N ops (default: 100000)"},
    {"partition", MORE, "K", "which device of a partitioned model to plan (default: 0)"},
    {"role", MORE, "NAME=ROLE", "the argument NAME is an input, a weight or a state; may be repeated"},
    {"weight-dtype", MORE, NULL,
     "store weights as block floating point (bfp8, bfp4) where the file allows it; planned, not run"},
    {"share-cache", MORE, NULL,
     "past and present of an ONNX cache share one buffer if their shapes are equal"},
    {"no-fold", MORE, NULL, "keep reshapes, permutations and broadcasts as ops that copy"},
    {"no-expand", MORE, NULL, "keep softmax, norms and other layers that are one op of the file generic"},
    {"strict", MORE, NULL, "refuse a model with generic ops"},
    {0},
};

typedef VEC(struct lx_model_binding) bindings;

static bool takes_number(const char *text, int64_t *out, lx_status *st)
{
    return lx_parse_int("the number of --dim or --value", text, 0, LX_INT_MAX, out, st);
}

static bool takes_role(const char *text, int64_t *out, lx_status *st)
{
    static const struct {
        const char *word;
        int64_t role;
    } words[] = {{"input", LX_INPUT}, {"weight", LX_WEIGHT}, {"state", LX_STATE}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k].word, text) == 0) return *out = words[k].role, true;
    return status_set(st, LX_E_USAGE, "--role: \"%s\" is none; write NAME=input, NAME=weight or NAME=state",
                      text);
}

/* Does the command itself take this word? Then it is not about a model (sweep --value time). */
static bool is_word_of_command(const struct call *call, const struct given_option *o)
{
    const char *(*word)(int) = option_words_of(call->command->words, o->name);
    return word && !strchr(o->value, '=');
}

static bool model_reading_gather(struct call *call, const char *option,
                                 bool (*takes)(const char *, int64_t *, lx_status *), bindings *to)
{
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, option) != 0 || is_word_of_command(call, o)) continue;
        const char *equals = strrchr(o->value, '=');
        struct lx_model_binding b = {0};
        if (!equals || equals == o->value)
            return status_set(&call->st, LX_E_USAGE, "--%s %s: write %s", option, o->value,
                              find_row(model_rows, option)->argument);
        if (!takes(equals + 1, &b.value, &call->st)) return false;
        b.name = arena_copy(call->line.memory, o->value, (size_t)(equals - o->value));
        for (size_t k = 0; k < to->count; k++)
            if (strcmp(to->at[k].name, b.name) == 0)
                return status_set(&call->st, LX_E_USAGE, "--%s %s is given twice; say once what it is",
                                  option, b.name);
        VEC_PUSH(to, b);
    }
    return true;
}

/* The same as a list that lives as long as the command line. */
static bool read_bindings(struct call *call, const char *option,
                          bool (*takes)(const char *, int64_t *, lx_status *),
                          const struct lx_model_binding **list, int *count)
{
    bindings all = {0};
    bool ok = model_reading_gather(call, option, takes, &all);
    *list = ok && all.count ? arena_copy_array(call->line.memory, all.at, all.count, sizeof *all.at) : NULL;
    *count = (int)all.count;
    VEC_FREE(&all);
    return ok;
}

static bool is_of_models(const struct call *call, const struct given_option *o)
{
    return find_row(model_rows, o->name) && !(o->value && is_word_of_command(call, o));
}

const char *model_option_given(const struct call *call)
{
    for (size_t i = 0; i < call->line.options.count; i++)
        if (is_of_models(call, &call->line.options.at[i])) return call->line.options.at[i].name;
    return NULL;
}

static bool any_folder(const struct call *call)
{
    struct stat about;
    for (size_t i = 0; i < call->line.files.count; i++)
        if (stat(call->line.files.at[i], &about) == 0 && S_ISDIR(about.st_mode)) return true;
    return false;
}

bool read_model_options(struct call *call, struct model_options *o)
{
    struct lx_import_options *i = &o->import;
    *o = (struct model_options){.import = {.branch = -1}, .given = model_option_given(call)};
    o->folders = any_folder(call);
    i->no_fold = option_given(&call->line, "no-fold");
    i->no_expand = option_given(&call->line, "no-expand");
    i->strict = option_given(&call->line, "strict");
    i->weight_dtype = option_given(&call->line, "weight-dtype");
    i->share_cache = option_given(&call->line, "share-cache");
    i->team = option_given(&call->line, "team") || lx_transport_usual()->devices;
    i->model.function = option_value(&call->line, "func");
    struct given_option *list = arena_array(call->line.memory, call->line.options.count + 1, sizeof *list);
    for (size_t k = 0; k < call->line.options.count; k++)
        if (is_of_models(call, &call->line.options.at[k])) list[o->count++] = call->line.options.at[k];
    o->list = list;
    return option_int(call, "branch", 0, 1 << 20, &i->branch) &&
           option_int(call, "trips", 1, 1 << 19, &i->trips) &&
           option_int(call, "max-ops", 1, 1 << 19, &i->max_ops) &&
           option_int(call, "partition", 0, 1 << 20, &i->device) &&
           read_bindings(call, "dim", takes_number, &i->model.dims, &i->model.dim_count) &&
           read_bindings(call, "value", takes_number, &i->model.fixed, &i->model.fixed_count) &&
           read_bindings(call, "role", takes_role, &i->roles, &i->role_count);
}

/* Notes shardings of the model that the team does not keep. */
static void note_what_is_not_kept(struct call *call, const char *file, const char *report)
{
    struct json j;
    lx_status ignored = {0};
    if (!report || !json_parse(&j, "report", report, strlen(report), &ignored)) return;
    const struct json_value *notes = json_find(j.root, "notes"),
                            *lost = notes ? json_find(notes, "shardings not kept") : NULL,
                            *lines = notes ? json_find(notes, "lines of the first not kept") : NULL, *f;
    json_for_each(f, lost) {
        const struct json_value *line = lines ? json_find(lines, f->key) : NULL;
        note(call, "%s:%d: %s not kept: %s", file, line ? (int)line->number : 0,
             counted((int64_t)f->number, "sharding").at, f->key);
    }
    json_free(&j);
}

static const struct lx_graph *with_notes(struct call *call, const char *file, const struct lx_graph *g,
                                         char *report)
{
    if (g) note_what_is_not_kept(call, strcmp(file, "-") == 0 ? "standard input" : file, report);
    mem_free(report);
    return g;
}

const struct lx_graph *read_graph(struct call *call, const char *path)
{
    struct model_options how;
    char *report = NULL;
    if (!read_model_options(call, &how)) return NULL;
    const struct lx_graph *g = graph_of_file(&how, path, how.import.team ? &report : NULL, &call->st);
    return with_notes(call, path, g, report);
}

const struct lx_graph *parse_graph(struct call *call, const char *file, const char *text, size_t length)
{
    struct model_options how;
    char *report = NULL;
    if (!read_model_options(call, &how)) return NULL;
    const struct lx_graph *g =
        graph_of_text(&how, file, text, length, how.import.team ? &report : NULL, &call->st);
    return with_notes(call, file, g, report);
}
