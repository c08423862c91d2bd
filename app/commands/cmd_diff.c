/* lxplan diff: what changed between two plans, why, and what was gained. */
#include "planning/planning.h"
#include "base/fail.h"
#include "base/names.h"
#include "text/colour.h"
#include "text/gathered.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What can happen to a buffer. The order is that of the report. */
enum change {
    CAME_ON,
    WENT_OFF,
    MOVED,
    SLOT_CHANGED,
    SIZE_CHANGED,
    ONLY_BEFORE,
    ONLY_AFTER,
    CHANGES,
    UNCHANGED
};

static const struct {
    const char *key, *heading;
} change_words[CHANGES] = {
    [CAME_ON] = {"came_on_chip", "came on chip"},
    [WENT_OFF] = {"went_off_chip", "went off chip"},
    [MOVED] = {"moved", "moved"},
    [SLOT_CHANGED] = {"in_place_changed", "stands in another's place, or no longer does"},
    [SIZE_CHANGED] = {"changed", "has another size, life or cost"},
    [ONLY_BEFORE] = {"only_before", "only in the first plan"},
    [ONLY_AFTER] = {"only_after", "only in the second plan"},
};

struct difference {
    enum change change;
    int32_t before, after; /* buffers; -1: not there */
    int64_t gain;          /* bytes of traffic that the second plan saves on it */
};

struct comparison {
    const struct lx_plan *before, *after;
    bool same_pattern;
    VEC(struct difference) all;
    int32_t count[CHANGES];
};

static bool is_on_chip(const struct lx_plan *p, int32_t i)
{
    return p->answer.address[i] >= 0;
}

static int64_t cost_in(const struct lx_plan *p, int32_t i)
{
    return i < 0 || is_on_chip(p, i) ? 0 : p->problem.buffers[i].spill_cost;
}

static const char *slot_name(const struct lx_plan *p, int32_t i)
{
    return i < 0 || p->took_slot_of[i] < 0 ? "" : p->problem.buffers[p->took_slot_of[i]].name;
}

static enum change compare_buffer(const struct lx_plan *p, int32_t i, const struct lx_plan *q, int32_t k)
{
    const struct lx_buffer *a = &p->problem.buffers[i], *b = &q->problem.buffers[k];
    if (is_on_chip(p, i) != is_on_chip(q, k)) return is_on_chip(q, k) ? CAME_ON : WENT_OFF;
    if (p->answer.address[i] != q->answer.address[k]) return MOVED;
    if (strcmp(slot_name(p, i), slot_name(q, k)) != 0) return SLOT_CHANGED;
    bool same =
        a->size == b->size && a->start == b->start && a->end == b->end && a->spill_cost == b->spill_cost;
    return same ? UNCHANGED : SIZE_CHANGED;
}

static bool add(struct comparison *c, enum change change, int32_t before, int32_t after)
{
    if (change == UNCHANGED) return true;
    c->count[change]++;
    int64_t gain = cost_in(c->before, before) - cost_in(c->after, after);
    return VEC_PUSH(&c->all, (struct difference){change, before, after, gain});
}

/* Buffers are matched by name: for plans of one pattern that is also their number. */
static bool compare(struct comparison *c, lx_status *st)
{
    struct names names = {0};
    const struct lx_problem *p = &c->before->problem, *q = &c->after->problem;
    bool *seen = calloc((size_t)p->count + 1, sizeof *seen), ok = seen != NULL;
    for (int32_t i = 0; ok && i < p->count; i++)
        ok = names_add(&names, p->buffers[i].name, i) != NAMES_NO_MEMORY;
    for (int32_t k = 0; ok && k < q->count; k++) {
        int32_t i = names_find(&names, q->buffers[k].name);
        if (i >= 0) seen[i] = true;
        ok = add(c, i >= 0 ? compare_buffer(c->before, i, c->after, k) : ONLY_AFTER, i, k);
    }
    for (int32_t i = 0; ok && i < p->count; i++)
        if (!seen[i]) ok = add(c, ONLY_BEFORE, i, -1);
    names_free(&names);
    free(seen);
    return ok ? true : status_no_memory(st);
}

static int by_change_and_gain(const void *a, const void *b)
{
    const struct difference *x = a, *y = b;
    int64_t gx = x->gain < 0 ? -x->gain : x->gain, gy = y->gain < 0 ? -y->gain : y->gain;
    if (x->change != y->change) return x->change < y->change ? -1 : 1;
    if (gx != gy) return gx > gy ? -1 : 1;
    return x->before != y->before ? (x->before < y->before ? -1 : 1)
                                  : (x->after > y->after) - (x->after < y->after);
}

static const char *name_of(const struct comparison *c, const struct difference *d)
{
    return d->after >= 0 ? c->after->problem.buffers[d->after].name
                         : c->before->problem.buffers[d->before].name;
}

/* Why it was, or is, off chip. */
static const char *reason_of(const struct comparison *c, const struct difference *d)
{
    const char *before = d->before >= 0 ? c->before->reason[d->before] : NULL;
    const char *after = d->after >= 0 ? c->after->reason[d->after] : NULL;
    const char *reason = d->change == CAME_ON ? before : after ? after : before;
    return reason ? reason : "";
}

static void add_place(struct gathered *t, const struct lx_plan *p, int32_t i)
{
    if (i < 0)
        gathered_cell(t, PAINT_DIM, "-");
    else if (is_on_chip(p, i))
        gathered_cell(t, PAINT_PLAIN, "0x%06llx", (long long)p->answer.address[i]);
    else
        gathered_cell(t, PAINT_PLAIN, "off chip");
}

static void add_side(const char *word, const struct lx_plan *p, struct text *out)
{
    text_add(out, word);
    add_printable(out, p->solver, 0);
    text_format(out, ", %s, %s of traffic\n", lx_verdict_word(p->answer.status), in_bytes(p->hbm_bytes).at);
}

static void write_text(const struct comparison *c, struct text *out)
{
    static const struct heading columns[] = {
        {"buffer", false}, {"before", true}, {"after", true}, {"gain", true}, {"why", false}};
    const struct lx_plan *p = c->before, *q = c->after;
    if (!c->same_pattern)
        text_add(out, "The patterns have one name but differ; buffers are compared by name.\n");
    add_side("before: ", p, out);
    add_side("after:  ", q, out);
    int64_t gain = p->hbm_bytes - q->hbm_bytes;
    struct text line = {0};
    if (gain == 0)
        text_add(&line, "no traffic gained or lost");
    else
        text_format(&line, "%s %s", in_bytes(gain < 0 ? -gain : gain).at, gain > 0 ? "gained" : "lost");
    paint_add(out, gain > 0 ? PAINT_GOOD : gain < 0 ? PAINT_BAD : PAINT_PLAIN, line.at ? line.at : "");
    text_free(&line);
    text_add(out, "\n");
    if (c->all.count == 0) text_add(out, "Every buffer is where it was.\n");
    for (size_t i = 0; i < c->all.count;) {
        enum change change = c->all.at[i].change;
        struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
        text_format(out, "\n%s %s:\n", counted(c->count[change], "buffer").at, change_words[change].heading);
        for (; i < c->all.count && c->all.at[i].change == change; i++) {
            const struct difference *d = &c->all.at[i];
            gathered_name(&t, name_of(c, d));
            add_place(&t, p, d->before);
            add_place(&t, q, d->after);
            gathered_cell(&t, d->gain < 0 ? PAINT_BAD : PAINT_PLAIN, "%s%s", d->gain > 0 ? "+" : "",
                          grouped(d->gain).at);
            const char *slot = slot_name(q, d->after);
            char words[300] = "";
            if (*slot) {
                gathered_words(&t, PAINT_DIM,
                               (snprintf(words, sizeof words, "in place of %.250s", slot), words));
                continue;
            }
            gathered_words(&t, PAINT_DIM, reason_of(c, d));
        }
        gathered_write(&t, out);
    }
}

static void add_json_place(struct text *t, const char *key, const struct lx_plan *p, int32_t i)
{
    if (i >= 0 && is_on_chip(p, i))
        text_format(t, ", \"%s\": %" PRId64, key, p->answer.address[i]);
    else
        text_format(t, ", \"%s\": null", key);
}

static void write_json(const struct comparison *c, struct text *t)
{
    text_add(t, "{\n  \"lxplan\": 1,\n  \"kind\": \"diff\",\n  \"pattern\": ");
    text_json_string(t, c->after->graph->name);
    text_format(t, ",\n  \"same_pattern\": %s,\n  \"equal\": %s,\n", c->same_pattern ? "true" : "false",
                c->all.count == 0 ? "true" : "false");
    text_format(t,
                "  \"hbm_bytes_before\": %" PRId64 ",\n  \"hbm_bytes_after\": %" PRId64
                ",\n  \"gain_bytes\": %" PRId64 ",\n",
                c->before->hbm_bytes, c->after->hbm_bytes, c->before->hbm_bytes - c->after->hbm_bytes);
    text_add(t, "  \"changes\": [\n");
    for (size_t i = 0; i < c->all.count; i++) {
        const struct difference *d = &c->all.at[i];
        text_add(t, "    {\"buffer\": ");
        text_json_string(t, name_of(c, d));
        text_format(t, ", \"change\": \"%s\"", change_words[d->change].key);
        add_json_place(t, "address_before", c->before, d->before);
        add_json_place(t, "address_after", c->after, d->after);
        text_format(t, ", \"gain_bytes\": %" PRId64, d->gain);
        if (*slot_name(c->after, d->after)) {
            text_add(t, ", \"in_place_of\": ");
            text_json_string(t, slot_name(c->after, d->after));
        }
        if (*reason_of(c, d)) {
            text_add(t, ", \"reason\": ");
            text_json_string(t, reason_of(c, d));
        }
        text_add(t, i + 1 < c->all.count ? "},\n" : "}\n");
    }
    text_add(t, "  ]\n}\n");
}

static int run(struct call *call)
{
    int code = FAILED;
    struct lx_plan *p = read_plan_file(call, call->line.files.at[0]);
    struct lx_plan *q = p ? read_plan_file(call, call->line.files.at[1]) : NULL;
    struct comparison c = {.before = p, .after = q};
    if (q) {
        c.same_pattern = p->graph->hash == q->graph->hash;
        if (!c.same_pattern && strcmp(p->graph->name, q->graph->name) != 0)
            status_set_at(&call->st, LX_E_MISMATCH, call->line.files.at[1], 0, 0,
                          "a plan of %s, but the first is of %s; compare plans of one pattern",
                          q->graph->name, p->graph->name);
        else if (compare(&c, &call->st)) {
            if (c.all.count) qsort(c.all.at, c.all.count, sizeof *c.all.at, by_change_and_gain);
            if (wants_json(call))
                write_json(&c, &call->out);
            else if (!is_quiet(call))
                write_text(&c, &call->out);
            code = c.all.count ? EXIT_NO : EXIT_YES;
        }
    }
    VEC_FREE(&c.all);
    lx_plan_free(p);
    lx_plan_free(q);
    return code;
}

static const struct option_row *const tables[] = {json_rows, quiet_rows, help_rows, NULL};

const struct command command_diff = {
    .name = "diff",
    .synopsis = "PLAN PLAN [--json] [-q]",
    .summary = "Compare two plans: what moved, what came on or went off chip, and why",
    .details = "Exit code 0 when every buffer is where it was, 1 when they differ. Gains are bytes of HBM "
               "traffic that the\n"
               "second plan saves. Plans of two patterns are compared only if the patterns have one name.\n",
    .options = tables,
    .least_files = 2,
    .most_files = 2,
    .file_word = "PLAN",
    .run = run,
};
