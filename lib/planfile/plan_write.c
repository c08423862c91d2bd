/* Plan files, written: the rows of plan_fields.h over the records of the plan. A plan carries its pattern whole,
 * so that it can be checked, shown and executed where the pattern file is not. Nothing that differs from run to
 * run is written: the same plan is the same bytes. */
#include "planfile/plan_file.h"

#include <inttypes.h>

static void plan_write_record(enum plan_section_id section, const void *record, struct text *t)
{
    record_write(plan_sections[section].fields, plan_sections[section].count, record, t);
}

/* The fields of a record without its braces: others follow. */
static void write_fields(enum plan_section_id section, const void *record, const char *margin, struct text *t)
{
    const struct plan_section *s = &plan_sections[section];
    for (size_t i = 0; i < s->count; i++) {
        struct text one = {0};
        record_write(&s->fields[i], 1, record, &one);
        if (one.length > 2) text_format(t, "%s%.*s,\n", margin, (int)one.length - 2, one.at + 1);
        text_free(&one);
    }
}

/* One element of an array per line. */
static void write_element(enum plan_section_id section, const void *record, bool last, struct text *t)
{
    text_add(t, section == PLAN_BUFFER ? "    " : "      ");
    plan_write_record(section, record, t);
    text_add(t, last ? "\n" : ",\n");
}

static void write_ops(const struct lx_plan *p, struct arena *memory, struct text *t)
{
    int32_t count = p->layouts->graph->op_count;
    text_add(t, "    \"ops\": [\n");
    for (int32_t i = 0; i < count; i++) {
        const struct plan_op x = plan_pack_op(p, i, memory);
        write_element(PLAN_OP, &x, i + 1 == count, t);
    }
    text_add(t, "    ],\n");
}

static void plan_write_launches(const struct lx_plan *p, struct arena *memory, struct text *t)
{
    int32_t count = p->layouts->graph->op_count;
    /* They follow from the rest; of a plan of thousands of ops on many cores they would be nearly all of the file. */
    enum { MOST_CORES = 1 << 18 };
    int64_t cores = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        if (p->launches[o].launch) cores += p->launches[o].launch->core_count;
    if (cores > MOST_CORES) return;
    text_add(t, "    \"launches\": [\n");
    for (int32_t i = 0; i < count; i++) {
        const struct plan_launch x = plan_pack_launch(&p->launches[i], memory);
        write_element(PLAN_LAUNCH, &x, i + 1 == count, t);
    }
    text_add(t, "    ],\n");
}

static void plan_write_graph(const struct lx_plan *p, struct arena *memory, struct text *t)
{
    const struct plan_graph graph = plan_pack_graph(p, memory);
    text_add(t, "  \"graph\": {\n");
    write_fields(PLAN_GRAPH, &graph, "    ", t);
    bool first = true;
    text_add(t, "    \"passes\": {");
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        int value = lx_pass_get(&p->passes, row);
        if (value == row->off) continue;
        text_format(t, "%s\"%s\": ", first ? "" : ", ", row->name);
        if (row->words)
            text_json_string(t, row->words[value]);
        else
            text_add(t, "true");
        first = false;
    }
    text_add(t, "},\n");
    int32_t count = p->layouts->graph->tensor_count;
    text_add(t, "    \"tensors\": [\n");
    for (int32_t i = 0; i < count; i++) {
        const struct plan_tensor x = plan_pack_tensor(p, i, memory);
        write_element(PLAN_TENSOR, &x, i + 1 == count, t);
    }
    text_add(t, "    ],\n");
    write_ops(p, memory, t);
    if (p->nest_count != 0) {
        text_add(t, "    \"nests\": [\n");
        for (int32_t i = 0; i < p->nest_count; i++) {
            const struct plan_nest x = plan_pack_nest(&p->nests[i], memory);
            write_element(PLAN_NEST, &x, i + 1 == p->nest_count, t);
        }
        text_add(t, "    ],\n");
    }
    text_add(t, "    \"bundles\": [\n");
    for (int32_t i = 0; i < p->bundle_count; i++) {
        const struct plan_bundle x = plan_pack_bundle(p, i);
        write_element(PLAN_BUNDLE, &x, i + 1 == p->bundle_count, t);
    }
    text_add(t, "    ],\n");
    plan_write_launches(p, memory, t);
    text_add(t, "    \"transfers\": [\n");
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct plan_transfer x = plan_pack_transfer(p, i);
        write_element(PLAN_TRANSFER, &x, i + 1 == p->transfer_count, t);
    }
    text_add(t, "    ]\n  },\n");
}

char *lx_plan_to_json(const struct lx_plan *p, size_t *length)
{
    struct text t = {0};
    struct arena scratch = {0};
    char hash[20];
    const struct plan_root root = plan_pack_root(p, hash);
    text_format(&t, "{\n  \"lxplan\": %d,\n  \"kind\": \"plan\",\n", PLAN_FORMAT);
    write_fields(PLAN_ROOT, &root, "  ", &t);
    const struct plan_solver solver = plan_pack_solver(p);
    text_add(&t, "  \"solver\": ");
    plan_write_record(PLAN_SOLVER, &solver, &t);
    text_add(&t, ",\n  \"stats\": {");
    for (int i = 0; i < p->answer.stat_count; i++) {
        if (i) text_add(&t, ", ");
        text_json_string(&t, p->answer.stats[i].name);
        text_format(&t, ": %" PRId64, p->answer.stats[i].value);
    }
    text_add(&t, "},\n");
    if (!p->graph->list) plan_write_graph(p, &scratch, &t);
    text_add(&t, "  \"buffers\": [\n");
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct plan_buffer x = plan_pack_buffer(p, i, &scratch);
        write_element(PLAN_BUFFER, &x, i + 1 == p->problem.count, &t);
    }
    text_add(&t, "  ],\n");
    text_add(&t, "  \"pattern\": ");
    pattern_write(p->graph, &t);
    text_add(&t, "\n}\n");
    arena_free(&scratch);
    *length = t.length;
    return t.at;
}

bool lx_is_plan(const char *text, size_t length)
{
    return json_is_kind(text, length, "plan");
}
