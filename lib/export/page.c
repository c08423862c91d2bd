/* The frame of a page, and the page of a plan without scripts: its figures, the map, the tables. */
#include "export/page.h"
#include "export/plan_map.h"
#include "export/plan_words.h"

/* JSON inside a script: "</" and "<!" would end it; "<" occurs only in strings, where an escape replaces
 * it. */
void html_page(const char *title, const char *script, const struct text *json, const struct text *still,
               struct text *out)
{
    OWNED char *clean = printable(title, 0);
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
                  "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" "
                  "href=\"data:,\">\n<title>");
    text_xml(out, clean);
    text_format(out,
                "</title>\n<style>\n%s</style>\n</head>\n<body>\n<div id=\"still\">\n%s</div>\n"
                "<script type=\"application/json\" id=\"data\">",
                html_page_css, still && still->at ? still->at : "<p>This page needs scripts.</p>\n");
    const char *at = json->at ? json->at : "{}", *end = at + strlen(at);
    while (at < end) {
        size_t n = strcspn(at, "<");
        text_add_n(out, at, n);
        at += n;
        if (at < end) text_add(out, "\\u003c"), at++;
    }
    text_format(out, "</script>\n<script>\n%s</script>\n<script>\n%s</script>\n</body>\n</html>\n",
                html_page_js, script);
}

const char page_version[] = LXPLAN_VERSION;

void add_command_words(const struct lx_plan *p, struct text *out)
{
    const struct lx_device *d = &p->graph->device;
    text_format(out, "lxplan plan PATTERN -s %s --seed %" PRIu64, p->solver, p->seed);
    for (const char *c = p->options, *begin = c; c && *c; begin = *c ? c + 1 : c) {
        for (c = begin; *c && *c != ' ';) c++;
        if (c > begin) text_format(out, " -O %.*s", (int)(c - begin), begin);
    }
    if (p->work_limit > 0) text_format(out, " --work %" PRId64, p->work_limit);
    if (p->asks_time) text_add(out, " --objective time");
    /* Passes that differ from their defaults, the values 0. */
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        int value = lx_pass_get(&p->passes, row);
        if (value == 0) continue;
        text_format(out, " --%s", row->option);
        if (row->words) text_format(out, " %s", row->words[value]);
    }
    if (!p->graph->list) text_format(out, " --cores %" PRId64, d->cores);
    if (!p->graph->list) text_format(out, " --lx %" PRId64, lx_device_usable(d));
}

/* A row of facts; empties `made` for the next one. */
static void still_add_row(const char *name, struct text *made, struct text *out)
{
    text_format(out, "<tr><th scope=\"row\">%s</th><td class=\"words\">", name);
    text_xml_name(out, made->at, 0);
    text_add(out, "</td></tr>\n");
    text_free(made);
}

static void still_add_facts(const struct lx_plan *p, const struct lx_plan *other, struct text *out)
{
    const struct lx_device *d = &p->graph->device;
    int64_t baseline = p->figures.baseline_hbm_bytes;
    bool list = p->graph->list;
    struct text made = {0};
    text_add(&made, p->graph->name ? p->graph->name : "");
    still_add_row("pattern", &made, out);
    if (p->graph->summary) text_add(&made, p->graph->summary);
    if (made.length) still_add_row("about it", &made, out);
    add_imported_words(p, &made);
    if (made.length) still_add_row("model", &made, out);
    text_add(&made, p->graph->hash_word);
    still_add_row("hash of the pattern", &made, out);
    if (!list)
        text_format(&made, "%s, %s, %s of scratchpad each", d->preset, counted(d->cores, "core").at,
                    in_bytes(lx_device_usable(d)).at);
    else
        text_add(&made, in_bytes(p->problem.capacity).at);
    still_add_row(list ? "capacity" : "device", &made, out);
    text_format(&made, "%s, seed %" PRIu64 "%s%s", p->solver, p->seed, *p->options ? ", " : "", p->options);
    still_add_row("solver and options", &made, out);
    add_value_words(p, false, &made);
    still_add_row("objective", &made, out);
    if (p->problem.objective != LX_FIT && !p->asks_time) {
        text_add(&made, in_bytes(lx_plan_least(p)).at);
        still_add_row("proven least", &made, out);
    }
    if (p->problem.objective != LX_FIT) {
        text_add(&made, in_gap(lx_plan_gap(p)).at);
        still_add_row("gap", &made, out);
    }
    add_status_words(p, &made);
    still_add_row("verdict", &made, out);
    if (baseline > 0 && p->problem.objective == LX_SPILL) {
        text_format(&made, "%s; the plan saves %s", in_bytes(baseline).at,
                    in_percent((double)(baseline - p->figures.hbm_bytes) / (double)baseline).at);
        still_add_row(list ? "all off chip" : "all in HBM", &made, out);
    }
    if (!list) {
        text_format(&made, "%s of the device, %s from end to end", in_micros(p->figures.device_us).at,
                    in_micros(p->figures.end_to_end_us).at);
        still_add_row("predicted time", &made, out);
    }
    if (p->fewer_bytes > 0) {
        add_fewer_bytes_words(p, &made);
        still_add_row("fewer bytes", &made, out);
    }
    if (other) {
        text_format(&made, "%s by %s: ", other->graph->name, other->solver);
        add_value_words(other, false, &made);
        still_add_row("beside it", &made, out);
    }
    add_command_words(p, &made);
    still_add_row("to plan it again", &made, out);
    text_add(&made, "lxplan " LXPLAN_VERSION);
    still_add_row("made by", &made, out);
}

/* The head of a table that lists `shown` of `all` things. */
static void still_begin_table(const char *thing, int32_t all, int32_t shown, const char *which,
                              const char *const *heads, struct text *out)
{
    text_format(out, "<section><h2>%s</h2>\n", counted(all, thing).at);
    if (shown < all)
        text_format(out, "<p>Shown here%s %s; the plan file has all.</p>\n", which, grouped(shown).at);
    text_add(out, "<table><thead><tr>");
    for (; *heads; heads++) text_format(out, "<th scope=\"col\">%s</th>", *heads);
    text_add(out, "</tr></thead><tbody>\n");
}

static void still_add_buffer(const struct lx_plan *p, int32_t i, int64_t moved, struct text *out)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_format(out, "<tr><td class=\"right\">%d</td><td>", (int)i);
    text_xml_name(out, b->name, 0);
    text_format(out, "</td><td class=\"right\">%s</td><td>%" PRId64 "..%" PRId64 "</td><td>",
                grouped(b->size).at, b->start, b->end);
    if (p->answer.address[i] >= 0) text_format(out, "0x%06" PRIx64, (uint64_t)p->answer.address[i]);
    if (p->problem.pool_count > 1) {
        text_add(out, " ");
        text_xml_name(out, pool_word(p, i), 0);
    }
    text_format(out,
                "</td><td>%s</td><td class=\"right\">%s</td><td class=\"right\">%s</td><td class=\"words\">",
                p->answer.address[i] >= 0      ? "on chip"
                : p->problem.buffers[i].reason ? "HBM only"
                                               : "off chip",
                grouped(b->spill_cost).at, grouped(moved).at);
    text_xml_name(out, p->reason[i], 0);
    text_add(out, "</td></tr>\n");
}

static void still_add_op(const struct lx_plan *p, int32_t i, struct text *out)
{
    const struct lx_op *op = &p->layouts->graph->ops[i];
    const struct lx_op_traffic *t = &p->traffic[i];
    text_format(out, "<tr><td class=\"right\">%d</td><td>", (int)i);
    text_xml_name(out, op->name, 0);
    text_format(out, "</td><td>%s</td><td>", op->kind->name);
    if (p->divisions && i < p->divisions->count) {
        const char *between = "";
        for (int k = 0; k < p->divisions->at[i].split_count; k++) {
            if (p->divisions->at[i].splits[k].split <= 1) continue;
            text_format(out, "%s%c/%" PRId64, between, p->divisions->at[i].splits[k].letter,
                        p->divisions->at[i].splits[k].split);
            between = " ";
        }
    }
    text_format(out, "</td><td class=\"right\">%s</td><td class=\"right\">%s</td><td class=\"right\">%s</td>",
                grouped(t->cores).at, grouped(t->hbm_read + t->hbm_written).at,
                grouped(t->ring + t->reduce_ring).at);
    text_format(out, "<td class=\"right\">%s</td></tr>\n", in_micros(t->device_us).at);
}

void add_still(const struct lx_plan *p, const struct lx_plan *other, struct text *out)
{
    static const char *const buffer_heads[] = {"number", "buffer",        "bytes",     "life", "address",
                                               "state",  "cost off chip", "HBM moved", "why",  NULL};
    static const char *const op_heads[] = {"tick",      "op",         "kind",      "splits", "cores",
                                           "HBM bytes", "ring bytes", "predicted", NULL};
    int32_t all = p->problem.count, shown = 0, ops = p->layouts ? p->layouts->graph->op_count : 0,
            *chosen = largest_buffers(p, STILL_MOST, &shown);
    OWNED int64_t *moved = moved_by_buffers(p);
    text_add(out, "<header><div><h1>");
    text_xml_name(out, p->graph->name, 0);
    text_add(out, "</h1></div></header>\n<main>\n<section><h2>Plan</h2><table>\n");
    still_add_facts(p, other, out);
    text_format(out, "</table></section>\n<section><h2>%s</h2>\n",
                p->graph->list ? "Addresses against time"
                               : "Scratchpad of each core: addresses against time");
    plan_svg(p, 0, 0, true, STILL_MOST, out);
    text_add(out, "</section>\n");
    still_begin_table("buffer", all, shown, " and in the map are the largest", buffer_heads, out);
    for (int32_t k = 0; k < shown; k++) still_add_buffer(p, chosen[k], moved[chosen[k]], out);
    text_add(out, "</tbody></table></section>\n");
    if (ops > 0) {
        shown = ops < STILL_MOST ? ops : STILL_MOST;
        still_begin_table("op", ops, shown, " are the first", op_heads, out);
        for (int32_t i = 0; i < shown; i++) still_add_op(p, i, out);
        text_add(out, "</tbody></table></section>\n");
    }
    text_add(out, "</main>\n");
    mem_free(chosen);
}
