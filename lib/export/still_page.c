/* The page of a plan without scripts: what it comes to, how it is made again, and the tables. */
#include "export/page.h"
#include "base/words/human_words.h"
#include "base/memory.h"
#include "export/plan_words.h"

#include <inttypes.h>

const char page_version[] = LXPLAN_VERSION;

void add_still_words(const char *words, struct text *out)
{
    char *clean = printable(words ? words : "", 0);
    if (clean)
        text_xml(out, clean);
    else
        out->failed = true;
    mem_free(clean);
}

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
    /* Passes that differ from their defaults, which are the values 0. */
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        int value = lx_pass_get(&p->passes, row);
        if (value == 0) continue;
        text_format(out, " --%s", row->option);
        if (row->words) text_format(out, " %s", row->words[value]);
    }
    if (!p->graph->list) text_format(out, " --cores %" PRId64, d->cores);
    if (!p->graph->list) text_format(out, " --lx %" PRId64, lx_device_usable(d));
}

static void still_page_add_row(const char *name, const char *value, struct text *out)
{
    text_format(out, "<tr><th scope=\"row\">%s</th><td class=\"words\">", name);
    add_still_words(value, out);
    text_add(out, "</td></tr>\n");
}

/* Likewise of words that were made for it, which it takes. */
static void add_made_row(const char *name, struct text *made, struct text *out)
{
    still_page_add_row(name, made->at, out);
    text_free(made);
}

static void add_asked(const struct lx_plan *p, struct text *out)
{
    const struct lx_device *d = &p->graph->device;
    struct text device = {0}, solver = {0};
    still_page_add_row("pattern", p->graph->name, out);
    if (p->graph->summary && *p->graph->summary) still_page_add_row("about it", p->graph->summary, out);
    still_page_add_row("hash of the pattern", p->graph->hash_word, out);
    if (!p->graph->list) {
        text_format(&device, "%s, %s, %s of scratchpad each", d->preset, counted(d->cores, "core").at,
                    in_bytes(lx_device_usable(d)).at);
        add_made_row("device", &device, out);
    } else
        still_page_add_row("capacity", in_bytes(p->problem.capacity).at, out);
    text_format(&solver, "%s, seed %" PRIu64 "%s%s", p->solver, p->seed, *p->options ? ", " : "", p->options);
    add_made_row("solver and options", &solver, out);
}

static void add_answer(const struct lx_plan *p, struct text *out)
{
    struct text value = {0}, status = {0}, all = {0}, times = {0};
    int64_t baseline = p->figures.baseline_hbm_bytes;
    add_value_words(p, false, &value);
    add_made_row("objective", &value, out);
    if (p->problem.objective != LX_FIT && !p->asks_time)
        still_page_add_row("proven least", in_bytes(lx_plan_least(p)).at, out);
    if (p->problem.objective != LX_FIT) still_page_add_row("gap", in_gap(lx_plan_gap(p)).at, out);
    add_status_words(p, &status);
    add_made_row("verdict", &status, out);
    if (baseline > 0 && p->problem.objective == LX_SPILL) {
        text_format(&all, "%s; the plan saves %s", in_bytes(baseline).at,
                    in_percent((double)(baseline - p->figures.hbm_bytes) / (double)baseline).at);
        add_made_row(p->graph->list ? "all off chip" : "all in HBM", &all, out);
    }
    if (p->graph->list) return;
    text_format(&times, "%.2f us of the device, %.2f us from end to end", p->figures.device_us,
                p->figures.end_to_end_us);
    add_made_row("predicted time", &times, out);
}

static void add_heads(const char *const *heads, struct text *out)
{
    text_add(out, "<table><thead><tr>");
    for (; *heads; heads++) text_format(out, "<th scope=\"col\">%s</th>", *heads);
    text_add(out, "</tr></thead><tbody>\n");
}

static void still_page_add_buffer(const struct still *s, int32_t i, struct text *out)
{
    const struct lx_plan *p = s->p;
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_format(out, "<tr><td class=\"right\">%d</td><td>", (int)i);
    add_still_words(b->name, out);
    text_format(out, "</td><td class=\"right\">%s</td><td>%" PRId64 "..%" PRId64 "</td><td>",
                grouped(b->size).at, b->start, b->end);
    if (p->answer.address[i] >= 0) text_format(out, "0x%06" PRIx64, (uint64_t)p->answer.address[i]);
    if (p->problem.pool_count > 1) {
        text_add(out, " ");
        add_still_words(pool_word(p, i), out);
    }
    text_format(out,
                "</td><td>%s</td><td class=\"right\">%s</td><td class=\"right\">%s</td><td class=\"words\">",
                p->answer.address[i] >= 0      ? "on chip"
                : p->problem.buffers[i].reason ? "HBM only"
                                               : "off chip",
                grouped(b->spill_cost).at, grouped(s->moved[i]).at);
    add_still_words(p->reason[i], out);
    text_add(out, "</td></tr>\n");
}

static void still_page_add_op(const struct lx_plan *p, int32_t i, struct text *out)
{
    const struct lx_op *op = &p->layouts->graph->ops[i];
    const struct lx_op_traffic *t = &p->traffic[i];
    text_format(out, "<tr><td class=\"right\">%d</td><td>", (int)i);
    add_still_words(op->name, out);
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
    text_format(out, "<td class=\"right\">%.2f</td></tr>\n", t->device_us);
}

static void still_page_add_ops(const struct lx_plan *p, struct text *out)
{
    static const char *const heads[] = {"tick",      "op",         "kind",         "splits", "cores",
                                        "HBM bytes", "ring bytes", "predicted us", NULL};
    int32_t all = p->layouts ? p->layouts->graph->op_count : 0, shown = all < STILL_MOST ? all : STILL_MOST;
    if (all == 0) return;
    text_format(out, "<section><h2>%s</h2>\n", counted(all, "op").at);
    if (shown < all)
        text_format(out, "<p>Shown here are the first %s; the plan file has all.</p>\n", grouped(shown).at);
    add_heads(heads, out);
    for (int32_t i = 0; i < shown; i++) still_page_add_op(p, i, out);
    text_add(out, "</tbody></table></section>\n");
}

static int64_t size_at(const struct lx_plan *p, int32_t i)
{
    return p->problem.buffers[i].size;
}

/* Numbers of the largest buffers, STILL_MOST at most, in their order: malloc'ed. Of equal ones the first. */
static int32_t *choose_largest(const struct lx_plan *p, int32_t *count)
{
    int32_t n = p->problem.count, over = 0, found = 0;
    int32_t *chosen = mem_alloc(((size_t)n + 1) * sizeof *chosen);
    int64_t low = 0, high = INT64_MAX;
    while (n > STILL_MOST && low < high) { /* sizes from here on are shown */
        int64_t middle = low + (high - low) / 2;
        over = 0;
        for (int32_t i = 0; i < n; i++) over += size_at(p, i) > middle;
        if (over > STILL_MOST)
            low = middle + 1;
        else
            high = middle;
    }
    over = 0;
    for (int32_t i = 0; i < n; i++) over += size_at(p, i) > low;
    for (int32_t i = 0, equal = STILL_MOST - over; i < n; i++)
        if (n <= STILL_MOST || size_at(p, i) > low || (size_at(p, i) == low && equal-- > 0))
            chosen[found++] = i;
    *count = found;
    return chosen;
}

void add_still(const struct lx_plan *p, const struct lx_plan *other, const struct lx_occupancy *use,
               const struct bands *bands, struct text *out)
{
    struct still s = {.p = p, .other = other, .use = use, .bands = bands};
    int64_t *moved = moved_by_buffers(p);
    int32_t *chosen = choose_largest(p, &s.count);
    s.moved = moved;
    s.chosen = chosen;
    if (moved && chosen) {
        text_add(out, "<header><div><h1>");
        add_still_words(s.p->graph->name, out);
        text_add(out, "</h1></div></header>\n<main>\n");
        struct text command = {0};
        text_add(out, "<section><h2>Plan</h2><table>\n");
        add_asked(s.p, out);
        add_answer(s.p, out);
        if (s.other) {
            struct text value = {0};
            text_format(&value, "%s by %s: ", s.other->graph->name, s.other->solver);
            add_value_words(s.other, false, &value);
            add_made_row("beside it", &value, out);
        }
        add_command_words(s.p, &command);
        add_made_row("to plan it again", &command, out);
        still_page_add_row("made by", "lxplan " LXPLAN_VERSION, out);
        text_add(out, "</table></section>\n");
        add_still_maps(&s, out);
        static const char *const heads[] = {"number", "buffer",        "bytes",     "life", "address",
                                            "state",  "cost off chip", "HBM moved", "why",  NULL};
        int32_t all = s.p->problem.count;
        text_format(out, "<section><h2>%s</h2>\n", counted(all, "buffer").at);
        if (s.count < all)
            text_format(out, "<p>Shown here and in the map are the largest %s; the plan file has all.</p>\n",
                        grouped(s.count).at);
        add_heads(heads, out);
        for (int32_t k = 0; k < s.count; k++) still_page_add_buffer(&s, s.chosen[k], out);
        text_add(out, "</tbody></table></section>\n");
        still_page_add_ops(s.p, out);
        text_add(out, "</main>\n");
    } else
        out->failed = true;
    mem_free(moved);
    mem_free(chosen);
}
