/* The page of a report; see report_page.h. */
#include "bench/report.h"
#include "html/html.h"

#include <math.h>

static void report_page_say(const char *words, const char *lines, enum paint paint, struct text *out)
{
    (void)paint;
    text_json_string(out, words ? words : "");
    if (!lines || !*lines) return;
    text_add(out, ", ");
    text_json_string(out, lines);
}

static void report_page_add(const struct table *t, struct text *out)
{
    if (t->row_count == 0) return;
    text_add(out, out->length && out->at[out->length - 1] == '}' ? ",\n" : "], \"tables\": [\n");
    html_table(t, out);
}

static void report_page_end(struct text *out)
{
    text_add(out, out->length && out->at[out->length - 1] == '}' ? "]" : "], \"tables\": []");
}

const struct exporter html_exporter = {.name = "html",
                                       .whole = true,
                                       .begin = "{\"lxplan\": 1, \"kind\": \"page\", \"words\": [",
                                       .say = report_page_say,
                                       .add = report_page_add,
                                       .end = report_page_end};

static void report_page_add_numbers(const char *key, const double *at, size_t count, struct text *out)
{
    text_format(out, ", \"%s\": [", key);
    for (size_t i = 0; i < count; i++)
        text_format(out, isfinite(at[i]) ? "%s%.9g" : "%snull", i ? "," : "", at[i]);
    text_add(out, "]");
}

static void add_figure(const struct figure *f, struct text *out)
{
    static const char *const truth[] = {"false", "true"};
    text_add(out, "{\"title\": ");
    text_json_string(out, f->title);
    text_add(out, ", \"x_label\": ");
    text_json_string(out, f->x_label);
    text_add(out, ", \"y_label\": ");
    text_json_string(out, f->y_label);
    text_format(out, ", \"x_log\": %s, \"y_log\": %s", truth[f->x_is_log], truth[f->y_is_log]);
    text_format(out, ", \"x_low\": %.9g, \"x_high\": %.9g, \"y_low\": %.9g, \"y_high\": %.9g, \"curves\": [",
                f->x_low, f->x_high, f->y_low, f->y_high);
    for (size_t i = 0; i < f->curves.count; i++) {
        const struct curve *c = &f->curves.at[i];
        text_add(out, i ? ",\n{\"name\": " : "\n{\"name\": ");
        text_json_string(out, c->name);
        report_page_add_numbers("x", c->x.at, c->x.count, out);
        report_page_add_numbers("y", c->y.at, c->y.count, out);
        text_add(out, "}");
    }
    text_add(out, "]}");
}

void report_page(const char *title, const struct figure *figures, size_t count, struct text *out)
{
    struct text json = *out;
    *out = (struct text){0};
    text_add(&json, ",\n\"title\": \"Benchmark\", \"subtitle\": ");
    text_json_string(&json, title);
    text_add(&json, ",\n\"figures\": [");
    for (size_t i = 0; i < count; i++) {
        if (i) text_add(&json, ",\n");
        add_figure(&figures[i], &json);
    }
    text_add(&json, "]}\n");
    html_page(title, html_report_js, &json, NULL, out);
    text_free(&json);
}
