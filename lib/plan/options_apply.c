/* Applies options to a plan and to a device. */
#include "plan/launch_options.h"
#include "base/words/words.h"

static const struct lx_solver *find_solver(const struct lx_settings *o, const char *name)
{
    for (const struct lx_solver *const *s = o->solvers; s && *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}

const struct lx_solver *lx_settings_solver(const struct lx_settings *o, enum lx_objective question)
{
    if (lx_settings_is_set(o, LX_OPTION_SOLVER)) return o->solvers[o->value[LX_OPTION_SOLVER]];
    static const char *const preferred[] = {"auto", "bestfit"};
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++) {
        const struct lx_solver *s = find_solver(o, preferred[i]);
        if (s && lx_can(s, question)) return s;
    }
    for (const struct lx_solver *const *s = o->solvers; s && *s; s++)
        if (lx_can(*s, question)) return *s;
    return o->solvers ? o->solvers[0] : NULL;
}

enum lx_ask lx_settings_ask(const struct lx_settings *o)
{
    return lx_settings_is_set(o, LX_OPTION_OBJECTIVE) ? (enum lx_ask)o->value[LX_OPTION_OBJECTIVE] : o->usual;
}

struct lx_passes lx_settings_passes(const struct lx_settings *o)
{
    struct lx_passes p = {0};
    bool cooptimise_is_set = false;
    int row = LX_OPTION_PASSES;
    for (const struct lx_pass *pass = lx_passes(); pass->name && row < LX_MOST_OPTIONS; pass++, row++) {
        if (!lx_settings_is_set(o, row)) continue;
        lx_pass_set(&p, pass, (int)o->value[row]);
        cooptimise_is_set |= strcmp(pass->name, "cooptimise") == 0;
    }
    if (lx_settings_ask(o) == LX_ASK_TIME) p.by_time = true;
    bool divides = p.by_time || lx_settings_ask(o) == LX_ASK_BALANCED;
    if (divides && !cooptimise_is_set) p.cooptimise = LX_COOPTIMISE_FULL;
    return p;
}

struct lx_launch_options lx_settings_launch(const struct lx_settings *o)
{
    struct lx_launch_options launch = o->launch;
    launch.share = (enum lx_share)o->value[LX_OPTION_SHARE];
    launch.assign = (enum lx_assign)o->value[LX_OPTION_ASSIGN];
    return launch;
}

bool lx_settings_take_passes(struct lx_settings *o, const struct lx_graph *g, lx_status *st)
{
    for (int i = 0; g && i < g->pass_count; i++) {
        const struct lx_stated_pass *stated = &g->passes[i];
        const char *names[LX_MOST_PASSES + 1] = {0};
        lx_status why = {0};
        int row = 0;
        while (lx_passes()[row].name && strcmp(lx_passes()[row].name, stated->name) != 0) row++;
        for (int k = 0; k < lx_pass_count(); k++) names[k] = lx_passes()[k].name;
        bool ok = row < lx_pass_count()
                      ? lx_settings_is_set(o, LX_OPTION_PASSES + row) ||
                            lx_settings_set_row(o, LX_OPTION_PASSES + row, stated->value, &why)
                      : unknown_word("there is no pass", stated->name, names, LX_E_UNKNOWN_NAME, &why);
        if (!ok) return status_set_at(st, why.code, g->file, stated->line, stated->column, "%s", why.text);
    }
    return true;
}

bool lx_settings_plan(const struct lx_settings *asked, const struct lx_graph *g, struct lx_plan_options *how,
                      int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st)
{
    enum lx_objective own = g ? lx_graph_objective(g) : LX_SPILL;
    struct lx_settings with = *asked, *o = &with;
    if (own != LX_SPILL) o->usual = LX_ASK_OWN; /* the pattern has an objective itself */
    if (!lx_settings_take_passes(o, g, st)) return false;
    how->objective = lx_settings_ask(o);
    how->solver = lx_settings_solver(o, lx_asked(how->objective, own));
    if (!how->solver) return status_set(st, LX_E_INTERNAL, "this program was built without solvers");
    how->quick_solver = find_solver(o, "bestfit");
    if (how->solver == find_solver(o, "auto")) how->other_solver = find_solver(o, "greedy");
    how->passes = lx_settings_passes(o);
    how->any_division =
        how->objective == LX_ASK_TRAFFIC && !lx_settings_is_set(o, lx_settings_find("cooptimise"));
    how->launch = lx_settings_launch(o);
    memcpy(how->nests, o->nests, sizeof how->nests);
    how->certify = lx_settings_is_set(o, LX_OPTION_CERTIFICATE);
    how->run.seed = (uint64_t)o->value[LX_OPTION_SEED];
    how->run.work_limit = o->value[LX_OPTION_WORK];
    how->run.time_limit = o->seconds;
    how->run.options = values;
    /* Values of the solver's options: defaults, then the level, then values set for this solver. */
    bool is_its_own = how->solver == lx_settings_solver(o, LX_SPILL);
    if (how->solver->option_count > LX_MOST_SOLVER_OPTIONS)
        return status_set(st, LX_E_LIMIT, "%s has more than %d options, the most that are understood",
                          how->solver->name, LX_MOST_SOLVER_OPTIONS);
    lx_values_default(how->solver->options, how->solver->option_count, values);
    for (int i = 0; i < how->solver->option_count; i++) {
        if (lx_settings_is_set(o, LX_OPTION_LEVEL) && strcmp(how->solver->options[i].name, "level") == 0)
            values[i] = o->value[LX_OPTION_LEVEL];
        if (is_its_own && o->solver_given >> i & 1) values[i] = o->solver_value[i];
    }
    return true;
}

bool lx_settings_device(const struct lx_settings *o, struct lx_device *device, lx_status *st)
{
    const struct lx_device_parameter *p = lx_device_parameters();
    const struct lx_device *whole = o->preset == LX_DEVICE_OF_FILE ? &o->device : lx_device_at(o->preset - 1);
    if (o->preset && !whole)
        return status_set(st, LX_E_UNKNOWN_NAME, "there is no device preset %d", o->preset);
    if (o->preset) *device = *whole;
    for (int i = 0; i < LX_MOST_DEVICE_PARAMETERS && p[i].key; i++)
        if (o->device_given >> i & 1 && !lx_device_set(device, &p[i], o->device_value[i], st)) return false;
    int64_t cores = o->value[LX_OPTION_CORES];
    if (!lx_settings_is_set(o, LX_OPTION_CORES)) return true;
    if (!lx_cores_valid(device, cores, st)) return false;
    device->cores = cores;
    /* If the grid does not match the cores, they form one row. */
    if (device->grid_y * device->grid_x != cores) device->grid_y = 1, device->grid_x = cores;
    return true;
}

const struct lx_graph *lx_settings_graph(const struct lx_settings *o, const struct lx_graph *g, lx_status *st)
{
    struct lx_device device = g->device;
    bool changes = lx_settings_is_set(o, LX_OPTION_DEVICE) || lx_settings_is_set(o, LX_OPTION_CORES);
    if (changes && !lx_settings_device(o, &device, st)) return NULL;
    const struct lx_graph *moved = changes ? lx_graph_with_device(g, &device) : lx_graph_ref(g);
    const struct lx_graph *on = moved ? hint_options_graph(o, moved, st) : NULL;
    lx_graph_free(moved);
    if (!on || !lx_settings_is_set(o, LX_OPTION_LX)) return on;
    int64_t bytes = o->value[LX_OPTION_LX];
    const struct lx_graph *sized = NULL;
    int64_t whole = on->list ? on->list->capacity : lx_device_usable(&on->device);
    if (o->lx_percent > 0) bytes = (int64_t)((double)whole * o->lx_percent / 100);
    if (o->lx_percent > 0 && whole < 0)
        status_set_at(st, LX_E_USAGE, on->file, 0, 0,
                      "this list has no capacity of its own to take %g %% of; give bytes", o->lx_percent);
    else
        sized = lx_graph_with_capacity(on, bytes, st);
    lx_graph_free(on);
    return sized;
}

bool lx_settings_same(const struct lx_settings *a, const struct lx_settings *b)
{
    struct lx_passes x = lx_settings_passes(a), y = lx_settings_passes(b);
    for (const struct lx_pass *p = lx_passes(); p->name; p++)
        if (lx_pass_get(&x, p) != lx_pass_get(&y, p)) return false;
    for (int row = LX_OPTION_PASSES; row < lx_settings_count(); row++) /* set, or as a pattern states it */
        if (lx_settings_is_set(a, row) != lx_settings_is_set(b, row)) return false;
    for (int row = LX_OPTION_OBJECTIVE; row < LX_OPTION_PASSES; row++)
        if (a->value[row] != b->value[row] || lx_settings_is_set(a, row) != lx_settings_is_set(b, row))
            return false;
    if (a->value[LX_OPTION_LEVEL] != b->value[LX_OPTION_LEVEL] ||
        lx_settings_is_set(a, LX_OPTION_LEVEL) != lx_settings_is_set(b, LX_OPTION_LEVEL) ||
        a->seconds != b->seconds || a->lx_percent != b->lx_percent)
        return false;
    if (lx_settings_solver(a, LX_SPILL) != lx_settings_solver(b, LX_SPILL) ||
        a->solver_given != b->solver_given)
        return false;
    for (int i = 0; i < LX_MOST_SOLVER_OPTIONS; i++)
        if (a->solver_given >> i & 1 && a->solver_value[i] != b->solver_value[i]) return false;
    if (a->preset != b->preset || a->device_given != b->device_given) return false;
    if (a->preset == LX_DEVICE_OF_FILE && !lx_device_same(&a->device, &b->device)) return false;
    for (int i = 0; i < LX_MOST_DEVICE_PARAMETERS; i++)
        if (a->device_given >> i & 1 && a->device_value[i] != b->device_value[i]) return false;
    return strcmp(a->hints, b->hints) == 0 && strcmp(a->nests, b->nests) == 0 &&
           launch_options_same(&a->launch, &b->launch);
}
