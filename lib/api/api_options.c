/* Options by name: those of plans (plan/options.h) with the solvers of the registry, the chosen solver's own, and the few
 * that only runs have. */
#include "api/api_handles.h"
#include "api/plugins.h"
#include "base/memory.h"
#include "base/option.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *api_options_verify_word(int k)
{
    return lx_verify_word((enum lx_verify)k);
}

static const struct own_row {
    struct lx_option row;
    const char *(*word)(int); /* of its values; NULL: they are numbers */
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
    for (int i = 0; i < API_OPTION_COUNT; i++) o->own[i] = own_rows[i].row.def;
    return o;
}

void lx_options_free(lx_options *o)
{
    if (!o) return;
    VEC_FREE(&o->solvers);
    mem_free(o->file);
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

static int own_row(const char *name)
{
    for (int i = 0; i < API_OPTION_COUNT; i++)
        if (strcmp(own_rows[i].row.name, name) == 0) return i;
    return -1;
}

static bool set_own(lx_options *o, int i, const char *value, lx_status *st)
{
    const struct own_row *r = &own_rows[i];
    if (!r->word) return lx_values_set("lx_options", &r->row, 1, r->row.name, value, &o->own[i], st);
    for (int k = 0; k <= r->row.high; k++)
        if (strcmp(r->word(k), value) == 0) return o->own[i] = k, true;
    return status_set(st, LX_E_RANGE, "%s: \"%.60s\" is none of its words; %s", r->row.name, value,
                      r->row.help);
}

static bool set_file(lx_options *o, const char *path)
{
    char *copy = *path ? mem_string(path) : NULL;
    mem_free(o->file);
    o->file = copy;
    return true;
}

/* Whose name is no row may be an option of the solver. */
static bool set_of_solver(lx_options *o, const char *name, const char *value, lx_status *st)
{
    const struct lx_solver *s = lx_settings_solver(&o->settings, LX_SPILL);
    char pair[200];
    bool known = false;
    for (int i = 0; s && i < s->option_count; i++) known |= strcmp(s->options[i].name, name) == 0;
    if (!known || (size_t)snprintf(pair, sizeof pair, "%s=%s", name, value) >= sizeof pair)
        return status_set(
            st, LX_E_UNKNOWN_NAME,
            "there is no option \"%.60s\", nor has the solver %s one; lx_options_at lists the others", name,
            s ? s->name : "");
    return lx_settings_set_row(&o->settings, LX_OPTION_OF_SOLVER, pair, st);
}

int32_t lx_options_set(lx_options *o, const char *name, const char *value, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    bool ok;
    if (!o || !name)
        ok = status_set(st, LX_E_USAGE, "an option needs a handle and a name");
    else if (lx_settings_find(name) >= 0)
        ok = lx_settings_set(&o->settings, name, value, st);
    else if (strcmp(name, "plugins") == 0)
        ok = lx_plugins_load(value ? value : "", api_options_add_solver, o, st);
    else if (strcmp(name, "team") == 0)
        ok = lx_team_grid_of_text(value ? value : "", &o->team, st);
    else if (strcmp(name, "file") == 0)
        ok = set_file(o, value ? value : "");
    else if (own_row(name) >= 0)
        ok = set_own(o, own_row(name), value ? value : "", st);
    else
        ok = set_of_solver(o, name, value ? value : "1", st);
    return ok ? 0 : api_code(st);
}

/* --- What there is. Texts of numbers are made once, whoever asks first. --- */

enum { MOST_ROWS = LX_MOST_OPTIONS + API_OPTION_COUNT };

static struct row_texts {
    char def[24], low[24], high[24];
} row_texts[MOST_ROWS];

static void number_text(char out[24], int64_t value)
{
    snprintf(out, 24, "%" PRId64, value);
}

static void make_row_texts(void)
{
    int n = lx_settings_count();
    for (int i = 0; i < n && i < LX_MOST_OPTIONS; i++) {
        struct lx_option_row r = lx_settings_at(i);
        bool has = r.kind == LX_TAKES_INTEGER || r.kind == LX_TAKES_SECONDS;
        if (has) number_text(row_texts[i].low, r.kind == LX_TAKES_SECONDS ? 0 : r.low);
        if (has) number_text(row_texts[i].high, r.high);
        if (has && !r.none) number_text(row_texts[i].def, 0);
    }
    for (int i = 0; i < API_OPTION_COUNT; i++) {
        if (own_rows[i].word) continue;
        number_text(row_texts[n + i].def, own_rows[i].row.def);
        number_text(row_texts[n + i].low, own_rows[i].row.low);
        number_text(row_texts[n + i].high, own_rows[i].row.high);
    }
}

/* What holds when it is not set, as words or as a number. */
static const char *default_of(int row, const struct lx_option_row *r)
{
    struct lx_settings none = {.solvers = lx_solvers()};
    if (row == LX_OPTION_SOLVER) return lx_settings_solver(&none, LX_SPILL)->name;
    if (r->none) return r->none;
    const char *word = lx_settings_word(&none, row, 0);
    return word ? word : row_texts[row].def;
}

/* The last of them take texts. */
static const struct {
    const char *name, *help;
} text_rows[] = {
    {"plugins", "paths of plug-ins with solvers, ':' between them; before the option solver"},
    {"file", "what lx_plan plans where its graph is NULL: a pattern or a model"},
    {"team",
     "lx_plan cuts the graph over that many devices, or over a grid of them (\"2x4\"); lx_run runs all"},
};
enum { TEXT_ROWS = sizeof text_rows / sizeof *text_rows };

static const char *text_field(int row, const char *field)
{
    if (strcmp(field, "name") == 0) return text_rows[row].name;
    if (strcmp(field, "help") == 0) return text_rows[row].help;
    return strcmp(field, "low") == 0 || strcmp(field, "high") == 0 || strcmp(field, "default") == 0 ? ""
                                                                                                    : NULL;
}

const char *lx_options_at(int32_t i, const char *field)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int n = lx_settings_count();
    if (i < 0 || i >= n + API_OPTION_COUNT + TEXT_ROWS || !field) return NULL;
    if (i >= n + API_OPTION_COUNT) return text_field(i - n - API_OPTION_COUNT, field);
    pthread_once(&once, make_row_texts);
    struct lx_option_row r =
        i < n ? lx_settings_at(i)
              : (struct lx_option_row){.name = own_rows[i - n].row.name, .help = own_rows[i - n].row.help};
    if (strcmp(field, "name") == 0) return r.name;
    if (strcmp(field, "help") == 0) return r.help;
    if (strcmp(field, "low") == 0) return row_texts[i].low;
    if (strcmp(field, "high") == 0) return row_texts[i].high;
    if (strcmp(field, "default") != 0) return NULL;
    if (i < n) return default_of(i, &r);
    return own_rows[i - n].word ? own_rows[i - n].word((int)own_rows[i - n].row.def) : row_texts[i].def;
}

/* --- How they reach a plan. --- */

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

/* Handed through, not written to. */
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

bool api_plan_options(const lx_options *o, const struct lx_settings *settings, enum lx_objective own,
                      struct lx_plan_options *how, int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st)
{
    *how = (struct lx_plan_options){0};
    if (!lx_settings_plan(settings, own, how, values, st)) return false;
    how->run.context = api_context(o);
    how->run.stop = api_stop(o);
    how->run.progress = o && o->progress ? tell_progress : NULL;
    return true;
}
