/* A device in JSON, read: the preset that it begins with, then its parameters and its cost table, each number
 * with its range and place. A device without a preset states all numbers. */
#include "files/device_file.h"
#include "base/file.h"
#include "files/pattern_list.h"

struct device_reader {
    const struct json *j;
    bool whole;   /* no preset fills in absent keys */
    bool lenient; /* unknown keys are somebody's who knows more */
    lx_status *st;
};

/* The value of a key, or NULL: `*ok` is false if the device must state it. */
static const struct json_value *device_find(const struct device_reader *r, const struct json_value *object,
                                            const char *key, bool *ok)
{
    const struct json_value *v = json_find(object, key);
    if (!v && r->whole)
        *ok = json_key_error(r->j, object, r->st, LX_E_SCHEMA,
                             "the key \"%s\" is missing here; add it, or a \"preset\" that gives what is not "
                             "stated (`lxplan devices NAME` prints one whole)",
                             key);
    return v;
}

/* Text into an array; absent: unchanged. */
static bool device_read_text(const struct device_reader *r, const struct json_value *object, const char *key,
                             char *out, size_t size)
{
    const char *text = NULL;
    if (!json_opt_string(r->j, object, key, &text, r->st)) return false;
    if (text && strlen(text) >= size)
        return json_error(r->j, json_find(object, key), r->st, LX_E_LIMIT,
                          "%s has %zu bytes; at most %zu fit", key, strlen(text), size - 1);
    if (text) memcpy(out, text, strlen(text) + 1);
    return true;
}

/* Names stand in sentences, tables and command lines. */
static bool device_read_name(const struct device_reader *r, const struct json_value *object, char *out,
                             size_t size)
{
    if (!device_read_text(r, object, "name", out, size)) return false;
    const char *c = out;
    while (isalnum((unsigned char)*c) || (*c && strchr("_-.", *c))) c++;
    if (*out && !*c) return true;
    return json_error(r->j, json_find(object, "name") ? json_find(object, "name") : object, r->st,
                      LX_E_SCHEMA, "a name is letters, digits, _, - and .");
}

static bool device_read_number(const struct device_reader *r, const struct json_value *v, const char *what,
                               double least, double most, const char *help, double *out)
{
    if (!json_is_number(v)) return json_error(r->j, v, r->st, LX_E_SCHEMA, "%s must be a number", what);
    if (!(v->number >= least && v->number <= most))
        return json_error(r->j, v, r->st, LX_E_RANGE, "%s is %.15g; it must be from %.15g to %.15g (%s)",
                          what, v->number, least, most, help);
    *out = v->number;
    return true;
}

/* {"value": 150, "scale": "by_hbm", "origin": "..."}. */
static bool device_read_cost(const struct device_reader *r, const struct json_value *v,
                             const struct cost_row *row, struct cost_number *out)
{
    static const char *const keys[] = {"value", "scale", "origin", NULL};
    const char *scale = NULL;
    const struct json_value *value = json_find(v, "value");
    if (!json_only_keys(r->j, v, "a number of a cost table", keys, r->st) ||
        !json_opt_string(r->j, v, "scale", &scale, r->st))
        return false;
    if (!value || !json_find(v, "origin"))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "%s needs its \"value\" and its \"origin\", which says where it is from", row->key);
    out->scale = scale ? cost_scale_find(scale) : COST_FIXED;
    if (out->scale == COST_SCALE_COUNT) {
        const char *words[COST_SCALE_COUNT + 1] = {0};
        char known[WORDS_LIST];
        for (enum cost_scale s = 0; s < COST_SCALE_COUNT; s++) words[s] = cost_scale_word(s);
        return json_error(r->j, json_find(v, "scale"), r->st, LX_E_SCHEMA,
                          "%s does not go with \"%s\"; it may with: %s", row->key, scale,
                          words_listed(words, known, sizeof known));
    }
    return device_read_number(r, value, row->key, row->least, row->most, row->help, &out->value) &&
           device_read_text(r, v, "origin", out->origin, sizeof out->origin);
}

static bool device_knows_cost(const char *key)
{
    static const char *const others[] = {"name", "help", "hides_compute", "whole_tiles", "shares_sums", NULL};
    for (int i = 0; others[i]; i++)
        if (strcmp(key, others[i]) == 0) return true;
    for (int i = 0; cost_nominals[i].key; i++)
        if (strcmp(key, cost_nominals[i].key) == 0) return true;
    for (int i = 0; i < COST_CONSTANT_COUNT; i++)
        if (strcmp(key, cost_rows[i].key) == 0) return true;
    return false;
}

static bool device_read_rows(const struct device_reader *r, const struct json_value *costs,
                             struct cost_table *out)
{
    const struct json_value *v;
    bool ok = true;
    for (int i = 0; cost_nominals[i].key; i++) {
        double *rate = (double *)((char *)out + cost_nominals[i].offset);
        v = device_find(r, costs, cost_nominals[i].key, &ok);
        if (!ok || (v && !device_read_number(r, v, v->key, COST_RATE, COST_MOST,
                                             "the rate of the device that the numbers were found on", rate)))
            return false;
    }
    for (int i = 0; i < COST_CONSTANT_COUNT; i++) {
        v = device_find(r, costs, cost_rows[i].key, &ok);
        if (!ok || (v && !device_read_cost(r, v, &cost_rows[i], &out->number[i]))) return false;
    }
    return true;
}

/* The name of a table that is built in, or an object: what it does not state is the preset's. */
static bool device_read_costs(const struct device_reader *r, const struct json_value *costs,
                              struct lx_device *out)
{
    const struct cost_table *built_in = json_is_string(costs) ? cost_table_find(costs->text) : NULL;
    const struct json_value *v;
    if (json_is_string(costs) && !built_in) {
        const char *tables[8] = {0};
        char known[WORDS_LIST];
        for (int i = 0; i < 7 && cost_table_at(i); i++) tables[i] = cost_table_at(i)->name;
        return json_error(r->j, costs, r->st, LX_E_UNKNOWN_NAME,
                          "there is no cost table \"%s\"; there are: %s", costs->text,
                          words_listed(tables, known, sizeof known));
    }
    if (!built_in && !json_is_object(costs))
        return json_error(r->j, costs, r->st, LX_E_SCHEMA,
                          "costs must be a cost table, or the name of one that is built in");
    if (!built_in) {
        struct cost_table own = {0};
        if (!r->whole) own = *lx_device_costs(out);
        json_for_each(v, costs)
            if (!r->lenient && !device_knows_cost(v->key))
                return json_key_error(r->j, v, r->st, LX_E_SCHEMA,
                                      "unknown key \"%s\" in costs; `lxplan devices NAME` prints all",
                                      v->key);
        if (!device_read_name(r, costs, own.name, sizeof own.name) ||
            !device_read_text(r, costs, "help", own.help, sizeof own.help) ||
            !json_opt_bool(r->j, costs, "hides_compute", &own.hides_compute, r->st) ||
            !json_opt_bool(r->j, costs, "whole_tiles", &own.whole_tiles, r->st) ||
            !json_opt_bool(r->j, costs, "shares_sums", &own.shares_sums, r->st) ||
            !device_read_rows(r, costs, &own))
            return false;
        built_in = cost_table_find(own.name);
        if (built_in && !cost_table_same(built_in, &own)) built_in = NULL;
        out->own_costs = own;
    }
    out->cost_table = built_in ? built_in->name : NULL;
    if (built_in) out->own_costs = (struct cost_table){0};
    return true;
}

static bool device_read_parameters(const struct device_reader *r, const struct json_value *value,
                                   struct lx_device *out)
{
    static const char *const others[] = {"preset", "name", "help", "costs", "lxplan", "kind"};
    const struct json_value *v;
    bool ok = true;
    json_for_each(v, value) {
        const struct lx_device_parameter *p = lx_device_parameter_find(v->key);
        bool known = p != NULL;
        lx_status why;
        for (size_t i = 0; i < (r->j->root == value ? 6 : 4); i++) known |= strcmp(v->key, others[i]) == 0;
        if (!known && !r->lenient)
            return json_key_error(r->j, v, r->st, LX_E_SCHEMA,
                                  "unknown key \"%s\" in device; `lxplan plan --help` lists the parameters",
                                  v->key);
        if (!p) continue;
        if (!json_is_number(v)) return json_error(r->j, v, r->st, LX_E_SCHEMA, "%s must be a number", v->key);
        if (!lx_device_set(out, p, v->number, &why))
            return json_error(r->j, v, r->st, why.code, "%s", why.text);
    }
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key && ok; p++)
        (void)device_find(r, value, p->key, &ok);
    return ok;
}

static bool device_read_preset(const struct json *j, const struct json_value *named, const char *preset,
                               struct lx_device *out, lx_status *st)
{
    enum { MOST_PRESETS = 32 };
    const char *presets[MOST_PRESETS + 1] = {0};
    char known[WORDS_LIST], near[WORDS_MEANT];
    for (int i = 0; i < MOST_PRESETS && lx_device_at(i); i++) presets[i] = lx_device_at(i)->preset;
    return lx_device_preset(preset, out) ||
           json_error(j, named, st, LX_E_UNKNOWN_NAME, "unknown device \"%s\";%s known: %s", preset,
                      words_meant(preset, presets, near, sizeof near),
                      words_listed(presets, known, sizeof known));
}

static bool device_read_object(const struct device_reader *r, const struct json_value *value,
                               struct lx_device *out)
{
    bool ok = true;
    if (!device_read_name(r, value, out->preset, sizeof out->preset) ||
        !device_read_text(r, value, "help", out->help, sizeof out->help) ||
        !device_read_parameters(r, value, out))
        return false;
    const struct json_value *costs = device_find(r, value, "costs", &ok);
    return ok && (!costs || device_read_costs(r, costs, out));
}

bool device_read(const struct json *j, const struct json_value *value, struct lx_device *out, lx_status *st)
{
    const char *preset = lx_device_at(0)->preset;
    if (json_is_string(value)) return device_read_preset(j, value, value->text, out, st);
    if (!json_is_object(value))
        return json_error(j, value, st, LX_E_SCHEMA,
                          "device must be the name of a preset or an object of parameters");
    const struct json_value *named = json_find(value, "preset");
    const struct device_reader r = {.j = j, .whole = !named && json_find(value, "name"), .st = st};
    *out = (struct lx_device){0};
    return json_opt_string(j, value, "preset", &preset, st) &&
           (r.whole || device_read_preset(j, named ? named : value, preset, out, st)) &&
           device_read_object(&r, value, out);
}

bool device_read_over(const struct json *j, const struct json_value *value, struct lx_device *out,
                      lx_status *st)
{
    const struct device_reader r = {.j = j, .lenient = true, .st = st};
    if (!json_is_object(value)) return json_error(j, value, st, LX_E_SCHEMA, "device must be an object");
    return device_read_object(&r, value, out);
}

bool lx_device_of_text(const char *file, const char *text, size_t length, struct lx_device *out,
                       lx_status *st)
{
    struct json j;
    int64_t version;
    skip_byte_order_mark(&text, &length);
    if (!json_parse(&j, file, text, length, st)) return false;
    bool ok = pattern_check_header(&j, j.root, "device", 1, DEVICE_FORMAT, &version, st);
    if (ok && !json_find(j.root, "name"))
        ok = json_error(&j, j.root, st, LX_E_SCHEMA, "the key \"name\" is missing here; add it");
    ok = ok && device_read(&j, j.root, out, st);
    json_free(&j);
    return ok;
}

bool lx_device_read(const char *path, struct lx_device *out, lx_status *st)
{
    size_t length;
    OWNED char *text = file_read(path, &length, st);
    return text && lx_device_of_text(path, text, length, out, st);
}
