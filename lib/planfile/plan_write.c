/* Writes plan files: the rows of plan_fields.h over the plan's records, and the whole pattern. Equal plans
 * give equal bytes. */
#include "planfile/plan_file.h"

/* Writes the fields of a record without braces. */
static void write_fields(enum plan_section_id section, const void *record, const char *margin, struct text *t)
{
    const struct plan_section *s = &plan_sections[section];
    for (size_t i = 0; i < s->count; i++) {
        SCOPED(text_free) struct text one = {0};
        record_write(&s->fields[i], 1, record, &one);
        if (one.length > 2) text_format(t, "%s%.*s,\n", margin, (int)one.length - 2, one.at + 1);
    }
}

/* Writes one element of an array on its own line. */
static void write_element(enum plan_section_id section, const void *record, bool last, struct text *t)
{
    text_add(t, section == PLAN_BUFFER ? "    " : "      ");
    record_write(plan_sections[section].fields, plan_sections[section].count, record, t);
    text_add(t, last ? "\n" : ",\n");
}

/* Writes an array of `count` records; `pack` makes record `i`. */
#define WRITE_LIST(key, section, type, count, pack)                                                          \
    do {                                                                                                     \
        text_add(t, section == PLAN_BUFFER ? "  \"" key "\": [\n" : "    \"" key "\": [\n");                 \
        for (int32_t i = 0; i < (count); i++) {                                                              \
            const struct type x = pack;                                                                      \
            write_element(section, &x, i + 1 == (count), t);                                                 \
        }                                                                                                    \
        text_add(t, section == PLAN_BUFFER ? "  ],\n" : section == PLAN_TRANSFER ? "    ]\n" : "    ],\n");  \
    } while (0)

static void plan_write_graph(const struct lx_plan *p, struct arena *memory, struct text *t)
{
    enum { MOST_LAUNCHED = 1 << 18 }; /* limit on the cores of all launches */
    const struct plan_graph graph = plan_pack_graph(p, memory);
    text_add(t, "  \"graph\": {\n");
    write_fields(PLAN_GRAPH, &graph, "    ", t);
    text_add(t, "    \"device\": ");
    device_write_whole(&p->graph->device, "    ", t);
    text_add(t, ",\n");
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
    const struct lx_graph *g = p->layouts->graph;
    int64_t cores = 0;
    for (int32_t o = 0; o < g->op_count; o++)
        if (p->launches[o].launch) cores += p->launches[o].launch->core_count;
    WRITE_LIST("tensors", PLAN_TENSOR, plan_tensor, g->tensor_count, plan_pack_tensor(p, i, memory));
    WRITE_LIST("ops", PLAN_OP, plan_op, g->op_count, plan_pack_op(p, i, memory));
    if (p->nest_count > 0)
        WRITE_LIST("nests", PLAN_NEST, plan_nest, p->nest_count, plan_pack_nest(&p->nests[i], memory));
    WRITE_LIST("bundles", PLAN_BUNDLE, plan_bundle, p->bundle_count, plan_pack_bundle(p, i));
    /* Launches follow from the rest; in a large plan they would be most of the file. */
    if (cores <= MOST_LAUNCHED)
        WRITE_LIST("launches", PLAN_LAUNCH, plan_launch, g->op_count,
                   plan_pack_launch(&p->launches[i], memory));
    WRITE_LIST("transfers", PLAN_TRANSFER, plan_transfer, p->transfer_count, plan_pack_transfer(p, i));
    text_add(t, "  },\n");
}

char *lx_plan_to_json(const struct lx_plan *p, size_t *length)
{
    struct text text = {0}, *t = &text;
    SCOPED(arena_free) struct arena scratch = {0};
    char hash[20];
    const struct plan_root root = plan_pack_root(p, hash);
    text_format(t, "{\n  \"lxplan\": %d,\n  \"kind\": \"plan\",\n", PLAN_FORMAT);
    write_fields(PLAN_ROOT, &root, "  ", t);
    const struct plan_solver solver = plan_pack_solver(p);
    text_add(t, "  \"solver\": ");
    record_write(plan_sections[PLAN_SOLVER].fields, plan_sections[PLAN_SOLVER].count, &solver, t);
    text_add(t, ",\n  \"stats\": {");
    for (int i = 0; i < p->answer.stat_count; i++) {
        if (i) text_add(t, ", ");
        text_json_string(t, p->answer.stats[i].name);
        text_format(t, ": %" PRId64, p->answer.stats[i].value);
    }
    text_add(t, "},\n");
    if (!p->graph->list) plan_write_graph(p, &scratch, t);
    WRITE_LIST("buffers", PLAN_BUFFER, plan_buffer, p->problem.count, plan_pack_buffer(p, i, &scratch));
    if (p->certificate) text_format(t, "  \"certificate\": %s,\n", p->certificate);
    text_add(t, "  \"pattern\": ");
    pattern_write(p->graph, t);
    text_add(t, "\n}\n");
    *length = t->length;
    return t->at;
}

bool lx_is_plan(const char *text, size_t length)
{
    return json_is_kind(text, length, "plan");
}
