#include "tui/what_if.h"
#include "base/checked.h"
#include "base/fail.h"
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

/* The presets as `lxplan plan --device` takes them, behind no preset. */
static const char *const devices[] = {"pattern's own", "preset=spyre", "preset=tenstorrent", NULL};

static const struct lx_pass *pass_of(int i)
{
    const struct lx_pass *row = lx_passes();
    for (int k = SET_PASSES; k < i && row->name; k++) row++;
    return row;
}

int settings_count(void)
{
    int n = SET_PASSES;
    while (n < MOST_SETTINGS && pass_of(n)->name) n++;
    return n;
}

static const char *solver_word(int64_t k)
{
    const struct lx_solver *const *s = lx_solvers();
    while (k-- > 0 && *s) s++;
    return *s ? (*s)->name : NULL;
}

const char *settings_word(int i, int64_t k)
{
    static const char *const off_on[] = {"off", "on", NULL};
    const char *const *words = i == SET_DEVICE ? devices : off_on;
    if (i == SET_SOLVER) return solver_word(k);
    if (i == SET_OBJECTIVE) return k < LX_ASK_COUNT ? lx_ask_word((enum lx_ask)k) : NULL;
    if (i >= SET_PASSES && pass_of(i)->words) words = pass_of(i)->words;
    while (k-- > 0 && *words) words++;
    return *words;
}

static const struct setting rows[SET_PASSES] = {
    [SET_SOLVER] = {"solver", "solver", "who places the buffers", NULL, 0, 0, 0, BY_ONE, true},
    [SET_LEVEL] = {"level", "level", "effort of the solver auto: 0 heuristics only, 9 all", "5", -1, 0, 9,
                   BY_ONE, false},
    [SET_OBJECTIVE] = {"objective", "objective", "HBM traffic or time; place all; least memory",
                       "pattern's own", 0, 0, 0, BY_ONE, true},
    [SET_DEVICE] = {"device", "device", "the device that it is planned for", "pattern's own", 0, 0, 0, BY_ONE,
                    true},
    [SET_CORES] = {"cores", "cores", "cores of the device", "pattern's own", 0, 1, 1024, BY_TWICE, false},
    [SET_LX] = {"lx", "lx", "usable bytes of each scratchpad", "pattern's own", -1, 0, LX_INT_MAX, BY_EIGHTH,
                false},
    [SET_SEED] = {"seed", "seed", "of solvers that draw lots", NULL, 0, 0, LX_INT_MAX, BY_ONE, false},
    [SET_TIME] = {"time", "time", "seconds after which a solver stops", "no limit", 0, 1, 86400, BY_TWICE,
                  false},
    [SET_WORK] = {"work", "work", "steps after which a solver stops", "solver's own", 0, 1, LX_INT_MAX,
                  BY_TWICE, false},
};

struct setting settings_row(int i)
{
    if (i < SET_PASSES) return rows[i];
    const struct lx_pass *p = pass_of(i);
    return (struct setting){p->option, p->option, p->help, NULL, 0, 0, 0, BY_ONE, true};
}

static int64_t default_of(int i)
{
    if (i != SET_SOLVER) return settings_row(i).def;
    for (int64_t k = 0; solver_word(k); k++)
        if (strcmp(solver_word(k), "auto") == 0) return k;
    return 0;
}

void settings_default(struct what_if *w)
{
    *w = (struct what_if){{0}};
    for (int i = 0; i < settings_count(); i++) w->value[i] = default_of(i);
}

bool settings_same(const struct what_if *a, const struct what_if *b)
{
    return memcmp(a->value, b->value, sizeof a->value) == 0;
}

int settings_find(const char *name)
{
    for (int i = 0; i < settings_count(); i++)
        if (strcmp(settings_row(i).name, name) == 0) return i;
    return -1;
}

static bool unknown_word(int setting, const char *text, lx_status *st)
{
    const char *name = settings_row(setting).name;
    const char *list[40] = {0};
    struct text known = {0};
    for (int i = 0; i < 39 && settings_word(setting, i); i++) {
        list[i] = settings_word(setting, i);
        text_format(&known, "%s%s", i ? ", " : "", list[i]);
    }
    const char *near = nearest(text, list);
    if (near)
        status_set(st, LX_E_USAGE, "%s: there is no \"%s\"; did you mean \"%s\"?", name, text, near);
    else
        status_set(st, LX_E_USAGE, "%s: there is no \"%s\"; there are: %s", name, text,
                   known.at ? known.at : "");
    text_free(&known);
    return false;
}

bool settings_set(struct what_if *w, int i, const char *text, lx_status *st)
{
    struct setting as = settings_row(i);
    const struct setting *row = &as;
    if (!*text || (row->none && strcmp(text, row->none) == 0)) {
        w->value[i] = default_of(i);
        return true;
    }
    if (!row->has_words) {
        int64_t value;
        if (row->none && row->def >= 0 && strcmp(text, "0") == 0) return w->value[i] = row->def, true;
        if (!lx_parse_int(row->name, text, row->low, row->high, &value, st)) return false;
        w->value[i] = value;
        return true;
    }
    if (i == SET_OBJECTIVE && strcmp(text, "spill") == 0) text = "traffic";
    for (int64_t k = 0; settings_word(i, k); k++)
        if (strcmp(settings_word(i, k), text) == 0) return w->value[i] = k, true;
    return unknown_word(i, text, st);
}

static int64_t stepped(enum setting_step step, int64_t now, int direction)
{
    int64_t eighth = max_i64(now / 8 / 128 * 128, 128);
    switch (step) {
    case BY_TWICE:
        return direction > 0 ? now * 2 : now / 2;
    case BY_EIGHTH:
        return now + direction * eighth;
    default:
        return now + direction;
    }
}

bool settings_step(struct what_if *w, int i, int direction, int64_t now)
{
    struct setting as = settings_row(i);
    const struct setting *row = &as;
    if (row->has_words) {
        int64_t count = 0;
        while (settings_word(i, count)) count++;
        w->value[i] = (w->value[i] + direction + count) % count;
        return true;
    }
    bool is_none = row->none && w->value[i] == row->def;
    int64_t next = is_none && now < 0 ? row->low : stepped(row->step, is_none ? now : w->value[i], direction);
    if (next < row->low || next > row->high) return false;
    w->value[i] = next;
    return true;
}

void settings_show(const struct what_if *w, int i, struct text *out)
{
    struct setting row = settings_row(i);
    if (row.has_words)
        text_add(out, settings_word(i, w->value[i]));
    else if (row.none && w->value[i] == row.def)
        text_add(out, row.none);
    else
        text_add(out, i == SET_LX ? in_bytes(w->value[i]).at : grouped(w->value[i]).at);
}

/* A file name for a shell. */
static void add_quoted(struct text *out, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%";
    if (*name && strspn(name, plain) == strlen(name)) {
        text_add(out, name);
        return;
    }
    text_add(out, "'");
    for (; *name; name++) {
        if (*name == '\'')
            text_add(out, "'\\''");
        else
            text_add_n(out, name, 1);
    }
    text_add(out, "'");
}

void settings_command(const struct what_if *w, const char *file, struct text *out)
{
    text_add(out, "lxplan plan ");
    add_quoted(out, file);
    for (int i = 0; i < settings_count(); i++) {
        struct setting row = settings_row(i);
        if (w->value[i] == default_of(i)) continue;
        text_format(out, " --%s", row.option);
        if (i >= SET_PASSES && !pass_of(i)->words) continue; /* a switch */
        if (row.has_words)
            text_format(out, " %s", settings_word(i, w->value[i]));
        else
            text_format(out, " %lld", (long long)w->value[i]);
    }
}

static bool set_cores(struct lx_device *device, int64_t cores, lx_status *st)
{
    if (!lx_cores_valid(device, cores, st)) return false;
    device->cores = cores;
    /* The grid must hold the cores; when it does not, they stand in one row. */
    if (device->grid_y * device->grid_x != cores) {
        device->grid_y = 1;
        device->grid_x = cores;
    }
    return true;
}

static const struct lx_graph *on_device(const struct what_if *w, const struct lx_graph *g, lx_status *st)
{
    struct lx_device device = g->device;
    const char *preset = w->value[SET_DEVICE] > 0 ? strchr(devices[w->value[SET_DEVICE]], '=') + 1 : NULL;
    if (preset && !lx_device_preset(preset, &device)) {
        status_set(st, LX_E_UNKNOWN_NAME, "there is no device preset \"%s\"", preset);
        return NULL;
    }
    if (w->value[SET_CORES] > 0 && !set_cores(&device, w->value[SET_CORES], st)) return NULL;
    return preset || w->value[SET_CORES] > 0 ? lx_graph_with_device(g, &device, st) : lx_graph_ref(g);
}

static const struct lx_graph *with_sizes(const struct what_if *w, const struct lx_graph *g, lx_status *st)
{
    const struct lx_graph *on = on_device(w, g, st);
    if (!on || w->value[SET_LX] < 0) return on;
    const struct lx_graph *sized = lx_graph_with_capacity(on, w->value[SET_LX], st);
    lx_graph_free(on);
    return sized;
}

const struct lx_graph *settings_apply(const struct what_if *w, const struct lx_graph *g,
                                      struct lx_plan_options *how, int64_t values[MOST_SOLVER_OPTIONS],
                                      lx_status *st)
{
    const struct lx_solver *s = lx_solvers()[w->value[SET_SOLVER]];
    how->solver = s;
    how->objective = (enum lx_ask)w->value[SET_OBJECTIVE];
    how->quick_solver = lx_solver_find("bestfit");
    for (int i = SET_PASSES; i < settings_count(); i++)
        lx_pass_set(&how->passes, pass_of(i), (int)w->value[i]);
    if (w->value[SET_OBJECTIVE] == LX_ASK_TIME) { /* as `lxplan plan --objective time` does */
        how->passes.by_time = true;
        if (how->passes.cooptimise == LX_COOPTIMISE_NONE) how->passes.cooptimise = LX_COOPTIMISE_FULL;
    }
    how->run.seed = (uint64_t)w->value[SET_SEED];
    how->run.time_limit = (double)w->value[SET_TIME];
    how->run.work_limit = w->value[SET_WORK];
    if (s->option_count <= MOST_SOLVER_OPTIONS) {
        lx_options_default(s->options, s->option_count, values);
        for (int i = 0; i < s->option_count && w->value[SET_LEVEL] >= 0; i++)
            if (strcmp(s->options[i].name, "level") == 0) values[i] = w->value[SET_LEVEL];
        how->run.options = values;
    }
    return with_sizes(w, g, st);
}
