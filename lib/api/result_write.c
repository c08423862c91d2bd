/* Results as texts: plan, explain, diff, trace, and the formats of exports.h. */
#include "api/api_handles.h"
#include "export/exports.h"
#include "explain/plan_diff.h"
#include "explain/plan_explain.h"

/* --- Why buffers are on or off chip. --- */

enum { MOST_OTHERS = 8 };

static void explain_buffer(const struct lx_plan *p, int32_t i, struct text *t)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_format(t, "%s: %" PRId64 " bytes, ticks %" PRId64 " to %" PRId64 ", ", b->name, b->size, b->start,
                b->end - 1);
    if (p->answer.address[i] < 0) {
        text_format(t, "off chip at a cost of %" PRId64 ": %s", b->spill_cost,
                    p->reason[i] ? p->reason[i] : "not placed");
        struct lx_explanation e;
        lx_plan_explain(p, p->problem.buffers[i].name, &e);
        for (int32_t k = 0; k < e.count; k++) {
            if (e.all[k].buffer != i || e.all[k].obstacle != LX_NO_ROOM) continue;
            for (int32_t n = 0; n < e.all[k].other_count && n < MOST_OTHERS; n++)
                text_format(t, "%s%s", n ? ", " : "\n  on chip meanwhile: ",
                            p->problem.buffers[e.all[k].others[n]].name);
            if (e.all[k].other_count > MOST_OTHERS)
                text_format(t, " and %d more", (int)(e.all[k].other_count - MOST_OTHERS));
        }
        lx_explanation_free(&e);
    } else {
        text_format(t, "on chip at %" PRId64, p->answer.address[i]);
        if (p->problem.pool_count > 1) text_format(t, " of %s", p->problem.pools[p->answer.pool[i]].name);
        if (p->took_slot_of[i] >= 0)
            text_format(t, ", in place of %s", p->problem.buffers[p->took_slot_of[i]].name);
    }
    text_add(t, "\n");
}

/* --- The difference to another plan. --- */

static void write_diff(const struct lx_plan *before, const struct lx_plan *after, struct text *t)
{
    SCOPED(lx_diff_free) struct lx_diff d;
    lx_plan_diff(before, after, &d);
    text_format(t, "saves %" PRId64 " bytes; %d buffers differ%s\n", d.gain, (int)d.count,
                d.same_pattern ? "" : " (of two patterns: by name)");
    for (int32_t i = 0; i < d.count; i++) {
        const struct lx_difference *x = &d.all[i];
        text_format(t, "%s: %s, ", x->name, lx_change_words(x->change));
        for (int k = 0; k < 2; k++) {
            int64_t address = k ? x->address_after : x->address_before;
            const char *pool = k ? x->pool_after : x->pool_before;
            text_add(t, k ? " to " : "");
            if (address < 0)
                text_add(t, "off");
            else
                text_format(t, "%s%s%" PRId64, pool, *pool ? ":" : "", address);
        }
        if (x->gain) text_format(t, ", saves %" PRId64, x->gain);
        if (*x->reason) text_format(t, " (%s)", x->reason);
        text_add(t, "\n");
    }
}

lx_text *lx_result_write(const lx_result *r, const char *format, const lx_result *other, lx_error *e)
{
    API_CALL(e, NULL);
    size_t length = 0;
    struct text t = {0};
    const struct lx_plan *p = r ? r->plan : NULL, *before = other ? other->plan : NULL;
    bool as_plan = !format || strcmp(format, "plan") == 0;
    if (!p && (!r || !r->team)) return status_set(st, LX_E_USAGE, "there is no plan to write"), NULL;
    if (r->team && !as_plan)
        return status_set(st, LX_E_UNSUPPORTED, "the plan of a team is written as \"plan\" only"), NULL;
    if (as_plan) {
        char *json = r->team ? lx_team_plans_to_json(r->team->plans, &length) : lx_plan_to_json(p, &length);
        return api_text(json, length);
    }
    if (strcmp(format, "explain") == 0) {
        text_format(&t, "%s: %s by %s\n", p->graph->name, lx_verdict_word(p->answer.status), p->solver);
        if (p->unproved) text_format(&t, "not proved: %s\n", p->unproved);
        for (int32_t i = 0; i < p->problem.count; i++) explain_buffer(p, i, &t);
        return api_text(t.at, t.length);
    }
    if (strcmp(format, "diff") == 0) {
        if (!before) return status_set(st, LX_E_USAGE, "a diff needs another plan to compare with"), NULL;
        write_diff(before, p, &t);
        return api_text(t.at, t.length);
    }
    if (strcmp(format, "trace") == 0 && !r->run)
        return status_set(st, LX_E_USAGE, "a trace is one of a run; lx_run makes it"), NULL;
    char *text = strcmp(format, "trace") == 0 ? lx_run_trace(p, r->run, &length)
                                              : lx_export_write(p, before, format, &length, st);
    return api_text(text, length);
}
