/* Results as texts: one row per format, and those of exports.h. */
#include "api/api_team.h"
#include "base/memory.h"
#include "base/text.h"
#include "export/exports.h"
#include "explain/plan_diff.h"
#include "explain/plan_explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *taken(struct text *t, size_t *length)
{
    *length = t->length;
    return t->at;
}

static char *result_write_plan(const lx_result *r, const lx_result *other, size_t *length, lx_status *st)
{
    (void)other, (void)st;
    return lx_plan_to_json(r->plan, length);
}

static char *result_write_trace(const lx_result *r, const lx_result *other, size_t *length, lx_status *st)
{
    (void)other;
    if (!r->run) return status_set(st, LX_E_USAGE, "a trace is one of a run; lx_run makes it"), NULL;
    return lx_run_trace(r->plan, r->run, length);
}

/* --- Why buffers are where they are. --- */

enum { MOST_OTHERS = 8 };

static void explain_off_chip(const struct lx_plan *p, int32_t i, struct text *t)
{
    struct lx_explanation e;
    lx_plan_explain(p, p->problem.buffers[i].name, &e);
    for (int32_t k = 0; k < e.count; k++) {
        if (e.all[k].buffer != i || e.all[k].obstacle != LX_NO_ROOM) continue;
        for (int32_t n = 0; n < e.all[k].other_count && n < MOST_OTHERS; n++)
            text_format(t, "%s%s",
                        n ? ", " : "\n  on chip meanwhile: ", p->problem.buffers[e.all[k].others[n]].name);
        if (e.all[k].other_count > MOST_OTHERS)
            text_format(t, " and %d more", (int)(e.all[k].other_count - MOST_OTHERS));
    }
    lx_explanation_free(&e);
}

static void explain_buffer(const struct lx_plan *p, int32_t i, struct text *t)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_format(t, "%s: %" PRId64 " bytes, ticks %" PRId64 " to %" PRId64 ", ", b->name, b->size, b->start,
                b->end - 1);
    if (p->answer.address[i] < 0) {
        text_format(t, "off chip at a cost of %" PRId64 ": %s", b->spill_cost,
                    p->reason[i] ? p->reason[i] : "not placed");
        explain_off_chip(p, i, t);
    } else {
        text_format(t, "on chip at %" PRId64, p->answer.address[i]);
        if (p->problem.pool_count > 1) text_format(t, " of %s", p->problem.pools[p->answer.pool[i]].name);
        if (p->took_slot_of[i] >= 0)
            text_format(t, ", in place of %s", p->problem.buffers[p->took_slot_of[i]].name);
    }
    text_add(t, "\n");
}

static char *write_explain(const lx_result *r, const lx_result *other, size_t *length, lx_status *st)
{
    const struct lx_plan *p = r->plan;
    struct text t = {0};
    (void)other, (void)st;
    text_format(&t, "%s: %s by %s\n", p->graph->name, lx_verdict_word(p->answer.status), p->solver);
    if (p->unproved) text_format(&t, "not proved: %s\n", p->unproved);
    for (int32_t i = 0; i < p->problem.count; i++) explain_buffer(p, i, &t);
    return taken(&t, length);
}

/* --- What differs from another. --- */

static void result_write_add_place(struct text *t, int64_t address, const char *pool)
{
    if (address < 0)
        text_add(t, "off");
    else
        text_format(t, "%s%s%" PRId64, pool, *pool ? ":" : "", address);
}

static char *write_diff(const lx_result *r, const lx_result *other, size_t *length, lx_status *st)
{
    struct lx_diff d;
    struct text t = {0};
    if (!other || !other->plan)
        return status_set(st, LX_E_USAGE, "a diff needs another plan to compare with"), NULL;
    lx_plan_diff(other->plan, r->plan, &d);
    text_format(&t, "saves %" PRId64 " bytes; %d buffers differ%s\n", d.gain, (int)d.count,
                d.same_pattern ? "" : " (of two patterns: by name)");
    for (int32_t i = 0; i < d.count; i++) {
        const struct lx_difference *x = &d.all[i];
        text_format(&t, "%s: %s, ", x->name, lx_change_words(x->change));
        result_write_add_place(&t, x->address_before, x->pool_before);
        text_add(&t, " to ");
        result_write_add_place(&t, x->address_after, x->pool_after);
        if (x->gain) text_format(&t, ", saves %" PRId64, x->gain);
        if (*x->reason) text_format(&t, " (%s)", x->reason);
        text_add(&t, "\n");
    }
    lx_diff_free(&d);
    return taken(&t, length);
}

static const struct {
    const char *name;
    char *(*write)(const lx_result *r, const lx_result *other, size_t *length, lx_status *st);
} formats[] = {{"plan", result_write_plan},
               {"explain", write_explain},
               {"diff", write_diff},
               {"trace", result_write_trace}};

static char *result_write_as(const lx_result *r, const char *format, const lx_result *other, size_t *length,
                             lx_status *st)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!format || strcmp(formats[i].name, format) == 0) return formats[i].write(r, other, length, st);
    return lx_export_write(r->plan, other ? other->plan : NULL, format, length, st);
}

static char *result_write_team(const lx_result *r, const char *format, size_t *length, lx_status *st)
{
    if (format && strcmp(format, "plan") != 0)
        return status_set(st, LX_E_UNSUPPORTED, "the plan of a team is written as \"plan\" only"), NULL;
    return lx_team_plans_to_json(r->team->plans, length);
}

lx_text *lx_result_write(const lx_result *r, const char *format, const lx_result *other, lx_error *e)
{
    API_CALL(e, NULL);
    size_t length = 0;
    if (!r || (!r->plan && !r->team)) return status_set(st, LX_E_USAGE, "there is no plan to write"), NULL;
    char *text =
        r->team ? result_write_team(r, format, &length, st) : result_write_as(r, format, other, &length, st);
    return api_text(text, length);
}
