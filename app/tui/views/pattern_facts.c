/* What the list of patterns says about a file that nobody has opened yet. */
#include "tui/views/pattern_facts.h"
#include "planning/graph_files.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* "all pass", "greedy fails", "refused: shape" */
static char *pattern_facts_expectation(const struct lx_graph *g)
{
    struct text t = {0};
    int fails = 0;
    for (int i = 0; i < g->expect_count; i++) fails += !g->expects[i].pass;
    if (g->expect_stage)
        text_format(&t, "refused: %s", g->expect_code ? g->expect_code : g->expect_stage);
    else if (g->expect_count == 0)
        text_add(&t, "");
    else if (fails == 0)
        text_add(&t, "all pass");
    else {
        const char *comma = "";
        for (int i = 0; i < g->expect_count; i++) {
            if (g->expects[i].pass) continue;
            text_format(&t, "%s%s", comma, g->expects[i].solver);
            comma = ", ";
        }
        text_add(&t, fails == 1 ? " fails" : " fail");
    }
    return t.at ? t.at : mem_string("");
}

void facts_of(const struct source_content *from, struct facts *out)
{
    *out = (struct facts){.target = -1, .is_plan = from->is_plan, .refused = !from->graph, .st = from->st};
    if (!from->graph) return;
    const struct lx_graph *g = from->graph;
    out->name = mem_string(g->name);
    out->summary = mem_string(g->summary ? g->summary : "");
    out->expect = pattern_facts_expectation(g);
    out->ops = g->op_count;
    out->is_list = g->is_list;
    out->must_refuse = g->expect_stage != NULL;
    out->buffers = g->is_list ? g->buffer_count : g->tensor_count;
    for (int32_t i = 0; i < g->tensor_count; i++) out->bytes += g->tensors[i].bytes;
    for (int32_t i = 0; i < g->buffer_count; i++) out->bytes += g->buffers[i].size;
    out->target = g->target_hbm_bytes;
    if (!from->is_plan) out->refused = !expectations_known(from->graph, &out->st);
}

void facts_free(struct facts *f)
{
    mem_free(f->name);
    mem_free(f->summary);
    mem_free(f->expect);
    *f = (struct facts){0};
}
