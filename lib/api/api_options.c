/* Options by name: those for plans (plan/options.h) with the registry's solvers, the chosen solver's own, and
 * some for runs only. */
#include "api/api_handles.h"
#include "api/plugins.h"

#include <pthread.h>

static const char *api_options_verify_word(int k)
{
    return lx_verify_word((enum lx_verify)k);
}

static const struct own_row {
    struct lx_option row;
    const char *(*word)(int); /* words of its values; NULL: numbers */
} own_rows[API_OPTION_COUNT] = {
    [API_VERIFY] = {{"verify", LX_VERIFY_FULL, 0, LX_VERIFY_COUNT - 1,
                     "what lx_run compares with exact results: full, ops, outputs, or none"},
                    api_options_verify_word},
    [API_THREADS] = {{"threads", 1, 1, 256, "threads of the host that lx_run computes with"}, NULL},
};

lx_options *lx_options_new(void)
{
    API_CALL(NULL, NULL);
    lx_options *o = mem_zeroed(1, sizeof *o);
    o->settings.solvers = lx_solvers();
    o->import.branch = -1;
    for (int i = 0; i < API_OPTION_COUNT; i++) o->own[i] = own_rows[i].row.def;
    return o;
}

void lx_options_free(lx_options *o)
{
    if (!o) return;
    VEC_FREE(&o->solvers);
    mem_free(o->file);
    arena_free(&o->memory);
    mem_free(o);
}

/* --- Solvers of plug-ins: known to these options only. --- */

static bool api_options_add_solver(void *context, const struct lx_solver *s, lx_status *st)
{
    lx_options *o = context;
    size_t n = 0;
    for (const struct lx_solver *const *at = o->settings.solvers; *at; at++, n++)
        if (strcmp((*at)->name, s->name) == 0)
            return status_set(st, LX_E_DUPLICATE,
                              "there is a solver %.60s already; the plug-in needs another name", s->name);
    VEC_RESERVE(&o->solvers, n + 2);
    if (o->solvers.count == 0) memcpy(o->solvers.at, lx_solvers(), n * sizeof *o->solvers.at);
    o->solvers.at[n] = s;
    o->solvers.at[n + 1] = NULL;
    o->solvers.count = n + 1;
    o->settings.solvers = o->solvers.at;
    return true;
}

int32_t lx_options_set(lx_options *o, const char *name, const char *value, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    const char *text = value ? value : "";
    bool ok;
    int own = 0, import = 0;
    while (name && api_import_at(import, "name") && strcmp(api_import_at(import, "name"), name) != 0)
        import++;
    while (o && name && own < API_OPTION_COUNT && strcmp(own_rows[own].row.name, name) != 0) own++;
    if (!o || !name)
        ok = status_set(st, LX_E_USAGE, "an option needs a handle and a name");
    else if (lx_settings_find(name) >= 0)
        ok = lx_settings_set(&o->settings, name, value, st);
    else if (strcmp(name, "plugins") == 0)
        ok = lx_plugins_load(text, api_options_add_solver, o, st);
    else if (api_import_at(import, "name"))
        ok = api_import_set(o, import, text, st);
    else if (strcmp(name, "team") == 0)
        ok = lx_team_grid_of_text(text, &o->team, st);
    else if (strcmp(name, "file") == 0) {
        char *copy = *text ? mem_string(text) : NULL;
        mem_free(o->file);
        o->file = copy;
        ok = true;
    } else if (own < API_OPTION_COUNT && own_rows[own].word) {
        const struct own_row *r = &own_rows[own];
        int k = 0;
        while (k <= r->row.high && strcmp(r->word(k), text) != 0) k++;
        ok = k <= r->row.high ||
             status_set(st, LX_E_RANGE, "%s: \"%.60s\" is none of its words; %s", name, text, r->row.help);
        if (ok) o->own[own] = k;
    } else if (own < API_OPTION_COUNT)
        ok = lx_values_set("lx_options", &own_rows[own].row, 1, name, text, &o->own[own], st);
    else { /* perhaps an option of the solver */
        const struct lx_solver *s = lx_settings_solver(&o->settings, LX_SPILL);
        char pair[200];
        int k = 0, most = s ? s->option_count : 0;
        while (k < most && strcmp(s->options[k].name, name) != 0) k++;
        bool fits = (size_t)snprintf(pair, sizeof pair, "%s=%s", name, value ? value : "1") < sizeof pair;
        ok = k < most && fits
                 ? lx_settings_set_row(&o->settings, LX_OPTION_OF_SOLVER, pair, st)
                 : status_set(
                       st, LX_E_UNKNOWN_NAME,
                       "there is no option \"%.60s\", nor has the solver %s one; lx_options_at lists the "
                       "others",
                       name, s ? s->name : "");
    }
    return ok ? 0 : api_code(st);
}

/* --- Queries. Texts of numbers are made once, at the first query. --- */

enum { MOST_ROWS = LX_MOST_OPTIONS + API_OPTION_COUNT };

static struct row_texts {
    char def[24], low[24], high[24];
} row_texts[MOST_ROWS];

static void make_row_texts(void)
{
    int n = lx_settings_count();
    for (int i = 0; i < n + API_OPTION_COUNT; i++) {
        struct lx_option_row r = i < n ? lx_settings_at(i) : (struct lx_option_row){0};
        const struct own_row *own = i < n ? NULL : &own_rows[i - n];
        if (own ? own->word != NULL : r.kind != LX_TAKES_INTEGER && r.kind != LX_TAKES_SECONDS) continue;
        int64_t low = own ? own->row.low : r.kind == LX_TAKES_SECONDS ? 0 : r.low;
        struct row_texts *t = &row_texts[i];
        snprintf(t->low, sizeof t->low, "%" PRId64, low);
        snprintf(t->high, sizeof t->high, "%" PRId64, own ? own->row.high : r.high);
        if (own || !r.none) snprintf(t->def, sizeof t->def, "%" PRId64, own ? own->row.def : 0);
    }
}

/* The last ones take text. */
static const struct {
    const char *name, *help;
} text_rows[] = {
    {"plugins", "paths of plug-ins with solvers, ':' between them; before the option solver"},
    {"file", "what lx_plan plans where its graph is NULL: a pattern or a model"},
    {"team",
     "lx_plan cuts the graph over that many devices, or over a grid of them (\"2x4\"); lx_run runs all"},
};
enum { TEXT_ROWS = sizeof text_rows / sizeof *text_rows };

const char *lx_options_at(int32_t i, const char *field)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int n = lx_settings_count();
    if (i < 0 || !field) return NULL;
    if (i >= n + API_OPTION_COUNT + TEXT_ROWS)
        return api_import_at(i - n - API_OPTION_COUNT - TEXT_ROWS, field);
    if (i >= n + API_OPTION_COUNT) {
        int row = i - n - API_OPTION_COUNT;
        if (strcmp(field, "name") == 0) return text_rows[row].name;
        if (strcmp(field, "help") == 0) return text_rows[row].help;
        return strcmp(field, "low") == 0 || strcmp(field, "high") == 0 || strcmp(field, "default") == 0
                   ? ""
                   : NULL;
    }
    pthread_once(&once, make_row_texts);
    struct lx_option_row r =
        i < n ? lx_settings_at(i)
              : (struct lx_option_row){.name = own_rows[i - n].row.name, .help = own_rows[i - n].row.help};
    if (strcmp(field, "name") == 0) return r.name;
    if (strcmp(field, "help") == 0) return r.help;
    if (strcmp(field, "low") == 0) return row_texts[i].low;
    if (strcmp(field, "high") == 0) return row_texts[i].high;
    if (strcmp(field, "default") != 0) return NULL;
    if (i < n) {
        /* The default as a word or a number. */
        struct lx_settings none = {.solvers = lx_solvers()};
        if (i == LX_OPTION_SOLVER) return lx_settings_solver(&none, LX_SPILL)->name;
        if (r.none) return r.none;
        const char *word = lx_settings_word(&none, i, 0);
        return word ? word : row_texts[i].def;
    }
    return own_rows[i - n].word ? own_rows[i - n].word((int)own_rows[i - n].row.def) : row_texts[i].def;
}

/* --- From options to a plan. --- */

void lx_options_on_stop(lx_options *o, int32_t (*stop)(void *context), void *context)
{
    if (!o) return;
    o->stop = stop;
    o->stop_context = context;
}

void lx_options_on_progress(lx_options *o,
                            void (*progress)(void *context, int64_t steps, double objective, double bound),
                            void *context)
{
    if (!o) return;
    o->progress = progress;
    o->progress_context = context;
}

struct lx_settings api_settings(const lx_options *o)
{
    return o ? o->settings : (struct lx_settings){.solvers = lx_solvers()};
}

int64_t api_own_option(const lx_options *o, enum api_option row)
{
    return o ? o->own[row] : own_rows[row].row.def;
}

static bool ask_stop(void *context)
{
    const lx_options *o = context;
    return o->stop(o->stop_context) != 0;
}

bool (*api_stop(const lx_options *o))(void *context)
{
    return o && o->stop ? ask_stop : NULL;
}

/* Passed on, not written. */
void *api_context(const lx_options *o)
{
    union {
        const lx_options *in;
        void *out;
    } context = {.in = o};
    return context.out;
}

static void tell_progress(void *context, const struct lx_progress *so_far)
{
    const lx_options *o = context;
    double objective = so_far->objective == INT64_MAX ? INFINITY : (double)so_far->objective;
    o->progress(o->progress_context, so_far->steps, objective, (double)so_far->bound);
}

bool api_plan_options(const lx_options *o, const struct lx_settings *settings, const struct lx_graph *g,
                      struct lx_plan_options *how, int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st)
{
    *how = (struct lx_plan_options){0};
    if (!lx_settings_plan(settings, g, how, values, st)) return false;
    how->run.context = api_context(o);
    how->run.stop = api_stop(o);
    how->run.progress = o && o->progress ? tell_progress : NULL;
    return true;
}
