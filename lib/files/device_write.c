/* A device as JSON: whole, or only where it differs from the preset of its name. */
#include "files/device_file.h"
#include "files/pattern.h"

struct device_writer {
    struct text *t;
    const char *between; /* before each field but the first */
    bool any;
};

static void device_key(struct device_writer *w, const char *key)
{
    if (w->any) text_add(w->t, ",");
    if (w->any || w->between[0] == '\n') text_add(w->t, w->between);
    text_format(w->t, "\"%s\": ", key);
    w->any = true;
}

static void device_write_text(struct device_writer *w, const char *key, const char *text)
{
    device_key(w, key);
    text_json_string(w->t, text);
}

static void device_write_bool(struct device_writer *w, const char *key, bool value)
{
    device_key(w, key);
    text_add(w->t, value ? "true" : "false");
}

static void device_write_number(struct device_writer *w, const char *key, double value)
{
    device_key(w, key);
    text_json_number(w->t, value);
}

static void device_write_cost(struct device_writer *w, const char *key, const struct cost_number *n)
{
    device_key(w, key);
    text_add(w->t, "{\"value\": ");
    text_json_number(w->t, n->value);
    text_format(w->t, ", \"scale\": \"%s\", \"origin\": ", cost_scale_word(n->scale));
    text_json_string(w->t, n->origin);
    text_add(w->t, "}");
}

/* Fields of a table; with `base` only where they differ. */
static void device_write_table(const struct cost_table *c, const struct cost_table *base,
                               struct device_writer *w)
{
    if (!base || strcmp(c->name, base->name) != 0) device_write_text(w, "name", c->name);
    if (!base || strcmp(c->help, base->help) != 0) device_write_text(w, "help", c->help);
    for (int i = 0; cost_nominals[i].key; i++)
        if (!base || cost_table_nominal(c, i) != cost_table_nominal(base, i))
            device_write_number(w, cost_nominals[i].key, cost_table_nominal(c, i));
    if (!base || c->hides_compute != base->hides_compute)
        device_write_bool(w, "hides_compute", c->hides_compute);
    if (!base || c->whole_tiles != base->whole_tiles) device_write_bool(w, "whole_tiles", c->whole_tiles);
    if (!base || c->shares_sums != base->shares_sums) device_write_bool(w, "shares_sums", c->shares_sums);
    for (int i = 0; i < COST_CONSTANT_COUNT; i++)
        if (!base || !cost_number_same(&c->number[i], &base->number[i]))
            device_write_cost(w, cost_rows[i].key, &c->number[i]);
}

void device_write(const struct lx_device *d, struct text *t)
{
    struct lx_device preset;
    if (!lx_device_preset(d->preset, &preset)) {
        device_write_whole(d, NULL, t);
        return;
    }
    if (lx_device_same(d, &preset)) {
        text_json_string(t, d->preset);
        return;
    }
    struct device_writer w = {.t = t, .between = " "};
    text_add(t, "{");
    device_write_text(&w, "preset", d->preset);
    if (strcmp(d->help, preset.help) != 0) device_write_text(&w, "help", d->help);
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
        if (lx_device_get(d, p) != lx_device_get(&preset, p))
            device_write_number(&w, p->key, lx_device_get(d, p));
    const struct cost_table *costs = lx_device_costs(d), *base = lx_device_costs(&preset);
    if (costs != base && d->cost_table)
        device_write_text(&w, "costs", costs->name);
    else if (!cost_table_same(costs, base)) {
        device_key(&w, "costs");
        text_add(t, "{");
        device_write_table(costs, base, &(struct device_writer){.t = t, .between = " "});
        text_add(t, "}");
    }
    text_add(t, "}");
}

/* The fields of a device, then its cost table. */
static void device_write_fields(const struct lx_device *d, const char *margin, struct device_writer *w)
{
    char inner[40] = " ";
    if (margin) snprintf(inner, sizeof inner, "\n%s    ", margin);
    device_write_text(w, "name", d->preset);
    device_write_text(w, "help", d->help);
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
        device_write_number(w, p->key, lx_device_get(d, p));
    device_key(w, "costs");
    text_add(w->t, "{");
    device_write_table(lx_device_costs(d), NULL, &(struct device_writer){.t = w->t, .between = inner});
    if (margin) text_format(w->t, "\n%s  ", margin);
    text_add(w->t, "}");
}

void device_write_whole(const struct lx_device *d, const char *margin, struct text *t)
{
    char between[40] = " ";
    if (margin) snprintf(between, sizeof between, "\n%s  ", margin);
    text_add(t, "{");
    device_write_fields(d, margin, &(struct device_writer){.t = t, .between = between});
    if (margin) text_format(t, "\n%s", margin);
    text_add(t, "}");
}

char *lx_device_to_json(const struct lx_device *d, size_t *length)
{
    struct text t = {0};
    text_format(&t, "{\n  \"lxplan\": %d,\n  \"kind\": \"device\"", DEVICE_FORMAT);
    device_write_fields(d, "", &(struct device_writer){.t = &t, .between = "\n  ", .any = true});
    text_add(&t, "\n}\n");
    *length = t.length;
    return t.at;
}
