/* Parses and prints the values of options, each by the kind of its row. */
#include "base/words/words.h"
#include "files/device_file.h"
#include "plan/launch_options.h"
#include "search/search_steps.h"

/* The option's name with its prefix, for errors. */
static const char *options_text_named(const struct lx_settings *o, const char *name, char out[60])
{
    snprintf(out, 60, "%s%s", o->prefix ? o->prefix : "", name);
    return out;
}

bool lx_settings_is_set(const struct lx_settings *o, int row)
{
    return row >= 0 && row < LX_MOST_OPTIONS && o->given >> row & 1;
}

static bool options_text_keep(struct lx_settings *o, int row, int64_t value)
{
    if (row == LX_OPTION_SOLVER && (!lx_settings_is_set(o, row) || o->value[row] != value))
        lx_settings_unset(o, LX_OPTION_OF_SOLVER);
    o->value[row] = value;
    o->given |= UINT64_C(1) << row;
    return true;
}

/* The device of a file goes when another takes its place. */
static void options_text_take_preset(struct lx_settings *o, int preset)
{
    o->preset = preset;
    o->device_file[0] = 0;
    o->device = (struct lx_device){0};
}

void lx_settings_unset(struct lx_settings *o, int row)
{
    if (row == LX_OPTION_SOLVER) lx_settings_unset(o, LX_OPTION_OF_SOLVER);
    if (row == LX_OPTION_OF_SOLVER) o->solver_given = 0;
    if (row == LX_OPTION_DEVICE) o->device_given = 0, options_text_take_preset(o, 0);
    if (row == LX_OPTION_HINT) o->hints[0] = 0;
    if (row == LX_OPTION_NESTS) o->nests[0] = 0;
    if (row == LX_OPTION_CERTIFICATE) o->certificate[0] = 0;
    if (row == LX_OPTION_TIME) o->seconds = 0;
    if (row == LX_OPTION_LX) o->lx_percent = 0;
    if (row == LX_OPTION_ORDER || row == LX_OPTION_TILES) launch_option_clear(&o->launch, row);
    o->value[row] = 0;
    o->given &= ~(UINT64_C(1) << row);
}

static bool set_word(struct lx_settings *o, int row, const char *text, lx_status *st)
{
    const char *list[LX_MOST_OPTIONS + 1] = {0};
    char what[60];
    if (!text) return options_text_keep(o, row, 1); /* a switch */
    if (row == LX_OPTION_OBJECTIVE && lx_ask_find(text) < LX_ASK_COUNT)
        return options_text_keep(o, row, lx_ask_find(text)); /* accepts the words of patterns too */
    for (int k = 0; k < LX_MOST_OPTIONS && (list[k] = lx_settings_word(o, row, k)); k++)
        if (strcmp(list[k], text) == 0) return options_text_keep(o, row, k);
    snprintf(what, sizeof what, "%s%s: there is no", o->prefix ? o->prefix : "", lx_settings_at(row).name);
    if (row == LX_OPTION_SOLVER) return unknown_word("there is no solver", text, list, LX_E_UNKNOWN_NAME, st);
    return unknown_word(what, text, list, LX_E_USAGE, st);
}

static bool set_integer(struct lx_settings *o, int row, const char *text, lx_status *st)
{
    struct lx_option_row as = lx_settings_at(row);
    char what[60];
    int64_t value;
    return lx_parse_int(options_text_named(o, as.name, what), text, as.low, as.high, &value, st) &&
           options_text_keep(o, row, value);
}

static bool set_seconds(struct lx_settings *o, int row, const char *text, lx_status *st)
{
    char what[60];
    double value;
    options_text_named(o, lx_settings_at(row).name, what);
    if (!lx_parse_number(what, text, &value, st)) return false;
    if (!(value > 0)) return status_set(st, LX_E_USAGE, "%s %s: it must be above 0", what, text);
    o->seconds = value;
    return options_text_keep(o, row, 1);
}

static bool set_solver_option(struct lx_settings *o, const char *name, const char *text, lx_status *st)
{
    const struct lx_solver *s = lx_settings_solver(o, LX_SPILL);
    if (!s) return status_set(st, LX_E_INTERNAL, "this program was built without solvers");
    int n = s->option_count < LX_MOST_SOLVER_OPTIONS ? s->option_count : LX_MOST_SOLVER_OPTIONS;
    if (!lx_values_set(s->name, s->options, n, name, text, o->solver_value, st)) return false;
    for (int i = 0; i < n; i++)
        if (strcmp(s->options[i].name, name) == 0) o->solver_given |= UINT64_C(1) << i;
    return true;
}

static bool set_preset(struct lx_settings *o, const char *name, lx_status *st)
{
    char known[300];
    for (int i = 0; lx_device_at(i); i++)
        if (strcmp(lx_device_at(i)->preset, name) == 0) {
            options_text_take_preset(o, i + 1);
            return true;
        }
    return status_set(st, LX_E_USAGE, "there is no device preset \"%s\"; there are: %s", name,
                      lx_device_names(", ", known, sizeof known));
}

/* A word without a value: a preset, or FILE.json. */
static bool set_whole_device(struct lx_settings *o, const char *word, lx_status *st)
{
    size_t n = strlen(word);
    char known[300], what[60];
    struct lx_device device;
    if (set_preset(o, word, NULL)) return true;
    if (n < 5 || strcmp(word + n - 5, ".json") != 0)
        return status_set(st, LX_E_USAGE,
                          "%s %s: it must be NAME=VALUE, a preset (%s), or a device file, whose name ends in "
                          ".json",
                          options_text_named(o, "device", what), word,
                          lx_device_names(", ", known, sizeof known));
    if (n >= sizeof o->device_file)
        return status_set(st, LX_E_LIMIT, "the name of a device file has at most %zu bytes",
                          sizeof o->device_file - 1);
    if (!lx_device_read(word, &device, st)) return false;
    options_text_take_preset(o, LX_DEVICE_OF_FILE);
    o->device = device;
    memcpy(o->device_file, word, n + 1);
    return true;
}

static bool set_parameter(struct lx_settings *o, const char *key, const char *text, lx_status *st)
{
    const struct lx_device_parameter *p = lx_device_parameter_find(key);
    struct lx_device tried = {0};
    double v = 0;
    int64_t integer = 0;
    if (strcmp(key, "preset") == 0) return set_preset(o, text, st);
    if (!p) {
        const char *names[LX_MOST_DEVICE_PARAMETERS + 2] = {"preset"};
        p = lx_device_parameters();
        for (int n = 1; p->key && n <= LX_MOST_DEVICE_PARAMETERS; p++) names[n++] = p->key;
        const char *near = nearest(key, names);
        return status_set(st, LX_E_USAGE,
                          "a device has no parameter \"%s\"%s%s%s `lxplan plan --help` lists them", key,
                          near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
    }
    if (p->integer ? !lx_parse_int(key, text, -LX_INT_MAX, LX_INT_MAX, &integer, st)
                   : !lx_parse_number(key, text, &v, st))
        return false;
    if (p->integer) v = (double)integer;
    if (!lx_device_set(&tried, p, v, st)) {
        if (st) st->code = LX_E_USAGE;
        return false;
    }
    o->device_value[p - lx_device_parameters()] = v;
    o->device_given |= UINT64_C(1) << (p - lx_device_parameters());
    return true;
}

/* Parses "NAME=VALUE", one or more. */
static bool set_pairs(struct lx_settings *o, int row, const char *text, lx_status *st)
{
    bool (*set)(struct lx_settings *, const char *, const char *, lx_status *) =
        row == LX_OPTION_DEVICE ? set_parameter
        : row == LX_OPTION_HINT ? hint_option_set
                                : set_solver_option;
    char what[60], pair[sizeof o->device_file + 1], *equals;
    bool ok = true, any = false;
    for (const char *at = text + strspn(text, " "); ok && (*at || !any); at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        snprintf(pair, sizeof pair, "%.*s", (int)(n < sizeof pair ? n : sizeof pair - 1), at);
        equals = strchr(pair, '=');
        if (!equals && row == LX_OPTION_DEVICE) {
            ok = any = set_whole_device(o, pair, st);
            at += n;
            continue;
        }
        if (!equals || equals == pair)
            return status_set(st, LX_E_USAGE, "%s %s: it must be NAME=VALUE",
                              options_text_named(o, lx_settings_at(row).name, what), text);
        *equals = 0;
        ok = set(o, pair, equals + 1, st);
        any = true;
        at += n;
    }
    return ok && options_text_keep(o, row, 1);
}

static bool set_certificate(struct lx_settings *o, const char *name, lx_status *st)
{
    if (*name && strlen(name) < sizeof o->certificate) return strcpy(o->certificate, name), true;
    return status_set(st, LX_E_LIMIT, "the name of a certificate has 1 to %zu bytes",
                      sizeof o->certificate - 1);
}

static bool set_row(struct lx_settings *o, int row, const char *text, lx_status *st)
{
    static bool (*const by_kind[])(struct lx_settings *, int, const char *, lx_status *) = {
        [LX_TAKES_WORD] = set_word,       [LX_TAKES_NOTHING] = set_word, [LX_TAKES_INTEGER] = set_integer,
        [LX_TAKES_SECONDS] = set_seconds, [LX_TAKES_PAIRS] = set_pairs,  [LX_TAKES_TEXT] = NULL,
    };
    if (row == LX_OPTION_LEVEL) {
        /* The level is an option of the solver: an error if the solver has none. */
        const struct lx_solver *s = lx_settings_solver(o, LX_SPILL);
        int64_t ignored[LX_MOST_SOLVER_OPTIONS];
        if (s && s->option_count <= LX_MOST_SOLVER_OPTIONS &&
            !lx_values_set(s->name, s->options, s->option_count, "level", text, ignored, st))
            return false;
        return set_integer(o, LX_OPTION_LEVEL, text, st);
    }
    if (row == LX_OPTION_LX) {
        struct lx_option_row as = lx_settings_at(LX_OPTION_LX);
        size_t n = strlen(text);
        char what[60];
        int64_t value;
        if (n > 1 && text[n - 1] == '%') { /* relative to the pattern's */
            char number[40];
            snprintf(number, sizeof number, "%.*s", (int)n - 1, text);
            if (!lx_parse_number(options_text_named(o, as.name, what), number, &o->lx_percent, st))
                return false;
            if (!(o->lx_percent > 0 && o->lx_percent <= 100000))
                return status_set(st, LX_E_USAGE, "%s %s: the part must be above 0 %% and at most 100000 %%",
                                  what, text);
            return options_text_keep(o, LX_OPTION_LX, 0);
        }
        if (!lx_parse_int(options_text_named(o, as.name, what), text, as.low, as.high, &value, st))
            return false;
        o->lx_percent = 0;
        return options_text_keep(o, LX_OPTION_LX, value);
    }
    if (lx_settings_at(row).kind != LX_TAKES_TEXT) return by_kind[lx_settings_at(row).kind](o, row, text, st);
    return (row == LX_OPTION_NESTS         ? nest_option_set(o->nests, text, st)
            : row == LX_OPTION_CERTIFICATE ? set_certificate(o, text, st)
                                           : launch_option_set(&o->launch, row, text, st)) &&
           options_text_keep(o, row, 1);
}

bool lx_settings_set_row(struct lx_settings *o, int row, const char *text, lx_status *st)
{
    struct lx_settings before = *o;
    char what[60];
    if (!text && lx_settings_at(row).kind != LX_TAKES_NOTHING)
        return status_set(st, LX_E_USAGE, "%s needs a value (%s)",
                          options_text_named(o, lx_settings_at(row).name, what),
                          lx_settings_at(row).argument);
    if (set_row(o, row, text, st)) return true;
    *o = before;
    return false;
}

bool lx_settings_set(struct lx_settings *o, const char *name, const char *text, lx_status *st)
{
    const char *names[LX_MOST_OPTIONS + 1] = {0};
    int row = lx_settings_find(name);
    if (row >= 0) return lx_settings_set_row(o, row, text, st);
    for (int i = 0; i < lx_settings_count(); i++) names[i] = lx_settings_at(i).name;
    return unknown_word("there is no option", name, names, LX_E_USAGE, st);
}

char *lx_settings_get(const struct lx_settings *o, int row)
{
    struct lx_option_row as = lx_settings_at(row);
    struct text t = {0};
    const char *word =
        lx_settings_word(o, row, row == LX_OPTION_OBJECTIVE ? (int64_t)lx_settings_ask(o) : o->value[row]);
    text_add(&t, ""); /* never NULL */
    if (!lx_settings_is_set(o, row) && as.none)
        text_add(&t, as.none);
    else if (!lx_settings_is_set(o, row) && row == LX_OPTION_SOLVER)
        text_add(&t, lx_settings_solver(o, LX_SPILL) ? lx_settings_solver(o, LX_SPILL)->name : "none");
    else if (row == LX_OPTION_OF_SOLVER) {
        const struct lx_solver *s = lx_settings_solver(o, LX_SPILL);
        for (int i = 0; s && i < s->option_count && i < LX_MOST_SOLVER_OPTIONS; i++)
            if (o->solver_given >> i & 1)
                text_format(&t, "%s%s=%lld", t.length ? " " : "", s->options[i].name,
                            (long long)o->solver_value[i]);
    } else if (row == LX_OPTION_DEVICE) {
        const struct lx_device_parameter *p = lx_device_parameters();
        if (o->preset > 0) text_format(&t, "preset=%s", lx_device_at(o->preset - 1)->preset);
        text_add(&t, o->device_file);
        for (int i = 0; p[i].key && i < LX_MOST_DEVICE_PARAMETERS; i++)
            if (o->device_given >> i & 1) {
                text_format(&t, "%s%s=%.17g", t.length ? " " : "", p[i].key, o->device_value[i]);
            }
    } else if (row == LX_OPTION_HINT)
        text_add(&t, o->hints);
    else if (row == LX_OPTION_NESTS)
        text_add(&t, o->nests);
    else if (row == LX_OPTION_CERTIFICATE)
        text_add(&t, o->certificate);
    else if (as.kind == LX_TAKES_TEXT)
        launch_option_text(&o->launch, row, &t);
    else if (as.kind == LX_TAKES_SECONDS)
        text_format(&t, "%.17g", o->seconds);
    else if (row == LX_OPTION_LX && o->lx_percent > 0)
        text_format(&t, "%.17g%%", o->lx_percent);
    else if (word)
        text_add(&t, word);
    else
        text_format(&t, "%lld", (long long)o->value[row]);
    return t.at;
}
