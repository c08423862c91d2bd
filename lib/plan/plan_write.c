/* Plan files, written. A plan carries its pattern whole, so that it can be checked, shown and executed where
 * the pattern file is not; what is derived from the pattern is written for people and compared on reading.
 * Nothing that differs from run to run is written: the same plan is the same bytes. */
#include "plan/plan_file.h"

#include <inttypes.h>
#include <string.h>

static void write_summary(const struct lx_plan *p, struct text *t)
{
    const struct lx_answer *a = &p->answer;
    text_format(t, "  \"status\": \"%s\",\n  \"objective\": \"%s\",\n", lx_verdict_word(a->status),
                lx_objective_word(p->problem.objective));
    text_format(t, "  \"hbm_bytes\": %" PRId64 ",\n  \"baseline_hbm_bytes\": %" PRId64 ",\n", p->hbm_bytes,
                p->baseline_hbm_bytes);
    text_format(t, "  \"spill_bytes\": %" PRId64 ",\n  \"height_bytes\": %" PRId64 ",\n", p->spill_bytes,
                p->height_bytes);
    text_format(t, "  \"bound_bytes\": %" PRId64 ",\n  \"gap\": %.9g,\n", p->bound_bytes,
                lx_gap(lx_plan_objective(p), p->bound_bytes));
    if (p->graph->target_hbm_bytes >= 0)
        text_format(t, "  \"target_hbm_bytes\": %" PRId64 ",\n  \"meets_target\": %s,\n",
                    p->graph->target_hbm_bytes, lx_plan_meets_target(p) ? "true" : "false");
    text_add(t, "  \"solver\": {\"name\": ");
    text_json_string(t, p->solver);
    text_format(t, ", \"seed\": %" PRIu64 ", \"work_limit\": %" PRId64 ", \"options\": ", p->seed,
                p->work_limit);
    text_json_string(t, p->options);
    text_format(t, ", \"steps\": %" PRId64 ", \"stats\": {", a->steps);
    for (int i = 0; i < a->stat_count; i++) {
        if (i) text_add(t, ", ");
        text_json_string(t, a->stats[i].name);
        text_format(t, ": %" PRId64, a->stats[i].value);
    }
    text_add(t, "}, \"message\": ");
    text_json_string(t, a->message);
    text_format(t, "},\n  \"capacity\": %" PRId64 ",\n  \"alignment\": %" PRId64 ",\n", p->problem.capacity,
                p->problem.alignment);
}

static void write_buffer(const struct lx_plan *p, int32_t i, struct text *t)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_add(t, "    {\"name\": ");
    text_json_string(t, b->name);
    text_format(t,
                ", \"size\": %" PRId64 ", \"start\": %" PRId64 ", \"end\": %" PRId64 ", \"cost\": %" PRId64
                ", \"address\": ",
                b->size, b->start, b->end, b->spill_cost);
    if (p->answer.address[i] >= 0)
        text_format(t, "%" PRId64, p->answer.address[i]);
    else
        text_add(t, "null");
    if (p->took_slot_of[i] >= 0) {
        text_add(t, ", \"in_place_of\": ");
        text_json_string(t, p->problem.buffers[p->took_slot_of[i]].name);
    }
    if (p->stays && p->stays[i].bar) {
        text_add(t, ", \"bar\": ");
        text_json_string(t, lx_bar_word(p->stays[i].bar));
    }
    if (p->reason[i]) {
        text_add(t, ", \"reason\": ");
        text_json_string(t, p->reason[i]);
    }
    text_add(t, i + 1 < p->problem.count ? "},\n" : "}\n");
}

char *lx_plan_to_json(const struct lx_plan *p, size_t *length)
{
    struct text t = {0};
    text_add(&t, "{\n  \"lxplan\": 1,\n  \"kind\": \"plan\",\n");
    write_summary(p, &t);
    if (!p->graph->is_list) plan_write_graph(p, &t);
    text_add(&t, "  \"buffers\": [\n");
    for (int32_t i = 0; i < p->problem.count; i++) write_buffer(p, i, &t);
    text_format(&t, "  ],\n  \"pattern_hash\": \"%016" PRIx64 "\",\n  \"pattern\": ", p->graph->hash);
    pattern_write(p->graph, &t);
    text_add(&t, "\n}\n");
    if (t.failed) {
        text_free(&t);
        return NULL;
    }
    *length = t.length;
    return t.at;
}

bool lx_is_plan(const char *text, size_t length)
{
    return json_is_kind(text, length, "plan");
}
