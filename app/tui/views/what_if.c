/* The options of the library as settings of a screen: step, type, show, and the command line that makes
 * the same plan. */
#include "tui/views/what_if.h"
#include "text/format.h"

/* `device` and `option` take pairs; the presets are pairs that can be stepped through. */
struct setting settings_row(int i)
{
    struct lx_option_row row = lx_settings_at(i);
    return (struct setting){row.name, row.brief, row.none,
                            row.kind == LX_TAKES_WORD || row.kind == LX_TAKES_NOTHING || i == SET_DEVICE};
}

const char *settings_word(int i, int64_t k)
{
    struct what_if w;
    settings_default(&w);
    return lx_settings_word(&w.options, i, k);
}

void settings_default(struct what_if *w)
{
    *w = (struct what_if){.options = {.solvers = lx_solvers(), .usual = LX_ASK_BALANCED}};
}

bool settings_same(const struct what_if *a, const struct what_if *b)
{
    return lx_settings_same(&a->options, &b->options);
}

bool settings_changed(const struct what_if *w, int i)
{
    struct what_if without = *w;
    lx_settings_unset(&without.options, i);
    return !settings_same(w, &without);
}

/* Nothing, the word of the default, and 0 if it is no value mean the default. */
bool settings_set(struct what_if *w, int i, const char *text, lx_status *st)
{
    struct lx_option_row row = lx_settings_at(i);
    struct lx_settings before = w->options;
    bool unset = !*text || (row.none && strcmp(text, row.none) == 0) ||
                 (row.none && row.low > 0 && strcmp(text, "0") == 0);
    if (unset || row.kind == LX_TAKES_TEXT) lx_settings_unset(&w->options, i);
    if (unset || lx_settings_set_row(&w->options, i, text, st)) return true;
    w->options = before;
    return false;
}

void settings_take_solver(struct what_if *w, int solver)
{
    lx_status ignored;
    (void)lx_settings_set_row(&w->options, SET_SOLVER, lx_solvers()[solver]->name, &ignored);
}

/* Sizes change by an eighth, counts by two, others by one. */
bool settings_step(struct what_if *w, int i, int direction, int64_t now)
{
    struct lx_option_row row = lx_settings_at(i);
    lx_status ignored;
    if (settings_row(i)
            .has_words) { /* around the words; the first of the presets is the pattern's own device */
        struct lx_settings *o = &w->options;
        int64_t count = 0, own = i == SET_DEVICE, k = i == SET_DEVICE ? o->preset : o->value[i];
        const char *solver = i == SET_SOLVER ? lx_settings_solver(o, LX_SPILL)->name : NULL;
        while (settings_word(i, count)) count++;
        for (int64_t s = 0; solver && s < count; s++)
            if (strcmp(settings_word(i, s), solver) == 0) k = s;
        k = (k + direction + count + own) % (count + own);
        if (k < own || (k == 0 && i != SET_SOLVER)) return lx_settings_unset(o, i), true;
        return lx_settings_set_row(o, i, settings_word(i, k - own), &ignored);
    }
    if (row.kind == LX_TAKES_PAIRS || row.kind == LX_TAKES_TEXT) return false;
    bool is_none =
        (row.none && !lx_settings_is_set(&w->options, i)) || (i == SET_LX && w->options.lx_percent > 0);
    int64_t from = is_none               ? now
                   : i == LX_OPTION_TIME ? (int64_t)w->options.seconds
                                         : w->options.value[i],
            next = from + direction;
    if (i == LX_OPTION_CORES || i == LX_OPTION_TIME || i == LX_OPTION_WORK)
        next = direction > 0 ? from * 2 : from / 2;
    if (i == LX_OPTION_LX) next = from + direction * max_i64(from / 8 / 128 * 128, 128);
    if (is_none && now < 0) next = row.low;
    char text[24];
    if (next < row.low || next > row.high) return false;
    snprintf(text, sizeof text, "%lld", (long long)next);
    return lx_settings_set_row(&w->options, i, text, &ignored);
}

void settings_show(const struct what_if *w, int i, struct text *out)
{
    struct lx_option_row row = lx_settings_at(i);
    bool is_number = row.kind == LX_TAKES_INTEGER && !(i == SET_LX && w->options.lx_percent > 0) &&
                     (lx_settings_is_set(&w->options, i) || !row.none);
    if (is_number) {
        int64_t number = i == LX_OPTION_TIME ? (int64_t)w->options.seconds : w->options.value[i];
        text_add(out, i == SET_LX ? in_bytes(number).at : grouped(number).at);
        return;
    }
    OWNED char *value = lx_settings_get(&w->options, i);
    text_add(out, value ? value : "?");
}

/* Quotes a file name for a shell. */
static void settings_add_quoted(struct text *out, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%=";
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

void settings_command(const struct what_if *w, const char *file, const struct model_options *models,
                      struct text *out)
{
    text_add(out, "lxplan plan ");
    settings_add_quoted(out, file);
    for (int i = 0; models && i < models->count; i++) {
        text_format(out, " --%s", models->list[i].name);
        if (!models->list[i].value) continue;
        text_add(out, " ");
        settings_add_quoted(out, models->list[i].value);
    }
    for (int i = 0; i < lx_settings_count(); i++) {
        struct lx_option_row row = lx_settings_at(i);
        OWNED char *value = settings_changed(w, i) ? lx_settings_get(&w->options, i) : NULL;
        if (value && row.kind == LX_TAKES_PAIRS) {
            char *pairs = value;
            for (char *pair; (pair = strsep(&pairs, " "));) text_format(out, " --%s %s", row.name, pair);
        } else if (value && row.kind == LX_TAKES_NOTHING)
            text_format(out, " --%s", row.name);
        else if (value) {
            text_format(out, " --%s ", row.name);
            settings_add_quoted(out, value);
        }
    }
}

void settings_changes(const struct what_if *w, const struct what_if *now, struct text *out)
{
    for (int i = 0; i < lx_settings_count(); i++) {
        const char *name = lx_settings_at(i).name, *comma = out->length ? ", " : "";
        bool is_switch = lx_settings_at(i).kind == LX_TAKES_NOTHING;
        OWNED char *value = lx_settings_get(&w->options, i), *was = lx_settings_get(&now->options, i);
        bool set = lx_settings_is_set(&w->options, i), same = set == lx_settings_is_set(&now->options, i);
        if (!same || strcmp(value ? value : "", was ? was : "") != 0)
            text_format(out,
                        !set        ? "%sno --%s"
                        : is_switch ? "%s--%s"
                                    : "%s--%s %s",
                        comma, name, value ? value : "");
    }
    if (!out->length) text_add(out, "now");
}

const struct lx_graph *settings_apply(const struct what_if *w, const struct lx_graph *g,
                                      struct lx_plan_options *how, int64_t values[MOST_SOLVER_OPTIONS],
                                      lx_status *st)
{
    if (!lx_settings_plan(&w->options, g, how, values, st)) return NULL;
    return lx_settings_graph(&w->options, g, st);
}
