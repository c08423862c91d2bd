/* Reading models and graphs by the options of a command; and the table of formats in words and help
 * entries. */
#include "planning/graph_files.h"
#include "base/json/json.h"
#include "text/colour.h"
#include "text/format.h"

#include <sys/stat.h>

/* --- Formats in words. --- */

void add_formats(struct text *out)
{
    for (const struct lx_format *f = lx_formats(); f->name; f++)
        text_format(out, "%s%s", f == lx_formats() ? "" : f[1].name ? ", " : " or ", f->summary);
}

static void formats_help(struct text *out, bool written)
{
    struct lx_export row;
    const struct lx_format *f = lx_formats();
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, written ? "formats that are written:\n" : "formats that are read:\n");
    for (int i = 0; written ? lx_export_at(i, &row) : f[i].name != NULL; i++) {
        SCOPED(text_free) struct text words = {0};
        text_format(&words, "%s: %s", written ? row.summary : f[i].summary, written ? row.help : f[i].help);
        if (written || f[i].read) help_entry(out, written ? row.name : f[i].name, words.at);
    }
}

void written_formats_help(const struct call *call, struct text *out)
{
    (void)call;
    formats_help(out, true);
}

void read_formats_help(const struct call *call, struct text *out)
{
    (void)call;
    formats_help(out, false);
}

const char *written_format_word(int k)
{
    struct lx_export row;
    return lx_export_at(k, &row) ? row.name : NULL;
}

bool written_format(struct call *call, struct lx_export *out)
{
    const char *name = option_value(&call->line, "format");
    const struct lx_format *f = lx_formats();
    lx_status st = {0};
    while (f->name && !f->write_buffers) f++;
    if (lx_export_find(name ? name : f->name, out, &st)) return true;
    return status_set(&call->st, status_cause(&st, LX_E_USAGE), "--format: %s", st.text);
}

/* Writes by the public interface; its error becomes a status with a place. */
char *graph_text(struct call *call, const lx_graph *g, const char *format, size_t *length)
{
    lx_error *e = lx_error_new();
    if (!e) return status_no_memory(&call->st), NULL;
    lx_text *t = lx_graph_write(g, format, e);
    char *text = NULL;
    if (t) {
        *length = (size_t)lx_text_size(t);
        text = mem_string_n(lx_text_data(t), *length);
    } else {
        enum lx_code code = 0;
        while (code < LX_CODE_COUNT && strcmp(lx_code_word(code), lx_error_code(e)) != 0) code++;
        status_set_at(&call->st, code < LX_CODE_COUNT ? code : LX_E_INTERNAL, g->file, 0, 0, "%s",
                      lx_error_text(e));
    }
    lx_text_free(t);
    lx_error_free(e);
    return text;
}

/* --- Options of models: open extents and values, and the function, branches and loops to import. --- */

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

/* Does the command itself take this word? Then it is not about a model (sweep --value time). */
static bool is_word_of_command(const struct call *call, const struct given_option *o)
{
    const char *(*word)(int) = option_words_of(call->command->words, o->name);
    return word && !strchr(o->value, '=');
}

/* NAME=N, or NAME=ROLE, every time that the option was given; the list lives as long as the command line. */
static bool read_bindings(struct call *call, const char *option, const struct lx_model_binding **list,
                          int *count)
{
    static const struct {
        const char *word;
        int64_t role;
    } roles[] = {{"input", LX_INPUT}, {"weight", LX_WEIGHT}, {"state", LX_STATE}};
    enum { ROLES = sizeof roles / sizeof *roles };
    struct lx_model_binding *all = arena_array(call->line.memory, call->line.options.count + 1, sizeof *all);
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, option) != 0 || is_word_of_command(call, o)) continue;
        const char *equals = strrchr(o->value, '=');
        struct lx_model_binding *b = &all[*count];
        if (!equals || equals == o->value)
            return status_set(&call->st, LX_E_USAGE, "--%s %s: write %s", option, o->value,
                              find_row(model_rows, option)->argument);
        if (strcmp(option, "role") == 0) {
            int k = 0;
            while (k < ROLES && strcmp(roles[k].word, equals + 1) != 0) k++;
            if (k == ROLES)
                return status_set(&call->st, LX_E_USAGE,
                                  "--role: \"%s\" is none; write NAME=input, NAME=weight or NAME=state",
                                  equals + 1);
            b->value = roles[k].role;
        } else if (!lx_parse_int("the number of --dim or --value", equals + 1, 0, LX_INT_MAX, &b->value,
                                 &call->st))
            return false;
        b->name = arena_copy(call->line.memory, o->value, (size_t)(equals - o->value));
        for (int k = 0; k < *count; k++)
            if (strcmp(all[k].name, b->name) == 0)
                return status_set(&call->st, LX_E_USAGE, "--%s %s is given twice; say once what it is",
                                  option, b->name);
        ++*count;
    }
    *list = *count ? all : NULL;
    return true;
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

bool read_model_options(struct call *call, struct model_options *o)
{
    struct lx_import_options *i = &o->import;
    *o = (struct model_options){.import = {.branch = -1}, .given = model_option_given(call)};
    for (size_t k = 0; k < call->line.files.count; k++) {
        struct stat about;
        o->folders |= stat(call->line.files.at[k], &about) == 0 && S_ISDIR(about.st_mode);
    }
    i->no_fold = option_given(&call->line, "no-fold");
    i->no_expand = option_given(&call->line, "no-expand");
    i->strict = option_given(&call->line, "strict");
    i->weight_dtype = option_given(&call->line, "weight-dtype");
    i->share_cache = option_given(&call->line, "share-cache");
    i->team = option_given(&call->line, "team") || lx_started_by_mpi();
    i->model.function = option_value(&call->line, "func");
    struct given_option *list = arena_array(call->line.memory, call->line.options.count + 1, sizeof *list);
    for (size_t k = 0; k < call->line.options.count; k++)
        if (is_of_models(call, &call->line.options.at[k])) list[o->count++] = call->line.options.at[k];
    o->list = list;
    return option_int(call, "branch", 0, 1 << 20, &i->branch) &&
           option_int(call, "trips", 1, 1 << 19, &i->trips) &&
           option_int(call, "max-ops", 1, 1 << 19, &i->max_ops) &&
           option_int(call, "partition", 0, 1 << 20, &i->device) &&
           read_bindings(call, "dim", &i->model.dims, &i->model.dim_count) &&
           read_bindings(call, "value", &i->model.fixed, &i->model.fixed_count) &&
           read_bindings(call, "role", &i->roles, &i->role_count);
}

/* Notes shardings of the model that the team does not keep. */
static const struct lx_graph *with_notes(struct call *call, const char *file, const struct lx_graph *g,
                                         char *report)
{
    struct json j;
    lx_status ignored = {0};
    if (g && report && json_parse(&j, "report", report, strlen(report), &ignored)) {
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
    mem_free(report);
    return g;
}

const struct lx_graph *read_graph(struct call *call, const char *path)
{
    struct model_options how;
    char *report = NULL;
    if (!read_model_options(call, &how)) return NULL;
    const struct lx_graph *g = graph_of_file(&how, path, how.import.team ? &report : NULL, &call->st);
    return with_notes(call, strcmp(path, "-") == 0 ? "standard input" : path, g, report);
}

const struct lx_graph *parse_graph(struct call *call, const struct source *from)
{
    struct model_options how;
    char *report = NULL;
    if (!read_model_options(call, &how)) return NULL;
    const struct lx_graph *g = graph_of_text(&how, from->file, from->text, from->length,
                                             how.import.team ? &report : NULL, &call->st);
    return with_notes(call, from->file, g, report);
}
