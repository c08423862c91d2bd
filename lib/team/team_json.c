/* Team plans as JSON: what is cut where, what travels, and the steps. */
#include "team/team.h"
#include "base/text.h"

#include <inttypes.h>

static const char *const modes[LX_TEAM_MODES] = {
    [LX_TEAM_WHOLE] = "whole", [LX_TEAM_SPLIT] = "split", [LX_TEAM_COMBINE] = "combine"};
static const char *const patterns[LX_TEAM_PATTERNS] = {
    [LX_TEAM_HALO] = "halo", [LX_TEAM_GATHER] = "gather", [LX_TEAM_RESHAPE] = "repartition"};
static const char *const steps[LX_TEAM_STEP_KINDS] = {[LX_TEAM_START] = "start",
                                                      [LX_TEAM_WAIT] = "wait",
                                                      [LX_TEAM_COMPUTE] = "compute",
                                                      [LX_TEAM_REDUCE] = "combine"};
static const char *const pieces[LX_TEAM_PIECES] = {
    [LX_TEAM_ALL] = "all", [LX_TEAM_CORE] = "core", [LX_TEAM_BEFORE] = "before", [LX_TEAM_AFTER] = "after"};

const char *lx_team_mode_word(enum lx_team_mode mode)
{
    return (unsigned)mode < LX_TEAM_MODES ? modes[mode] : "unknown";
}

const char *lx_team_pattern_word(enum lx_team_pattern pattern)
{
    return (unsigned)pattern < LX_TEAM_PATTERNS ? patterns[pattern] : "unknown";
}

static void key_string(struct text *t, const char *key, const char *value)
{
    text_format(t, "\"%s\": ", key);
    text_json_string(t, value);
}

static void write_ints(struct text *t, const char *key, const int64_t *values, int count)
{
    text_format(t, ", \"%s\": [", key);
    for (int i = 0; i < count; i++) text_format(t, "%s%" PRId64, i ? ", " : "", values[i]);
    text_add(t, "]");
}

static void write_ranges(struct text *t, const char *key, const struct lx_team_range *r, int count)
{
    text_format(t, ", \"%s\": [", key);
    for (int i = 0; i < count; i++)
        text_format(t, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "", r[i].begin, r[i].end);
    text_add(t, "]");
}

static void write_tensor(const struct lx_team_plan *p, int32_t i, struct text *t)
{
    const struct lx_team_tensor *x = &p->tensors[i];
    text_add(t, "    {");
    key_string(t, "name", p->graph->tensors[i].name);
    if (x->cut >= 0) {
        text_format(t, ", \"cut\": %d", x->cut);
        write_ints(t, "bounds", x->bound, p->members + 1);
    } else
        text_add(t, ", \"cut\": null");
    text_add(t, "}");
}

static void write_op(const struct lx_team_plan *p, int32_t o, struct text *t)
{
    const struct lx_team_op *x = &p->ops[o];
    const struct lx_op *op = &p->graph->ops[o];
    text_add(t, "    {");
    key_string(t, "name", op->name);
    text_format(t, ", \"mode\": \"%s\", \"group\": %" PRId32 ", \"bytes\": %" PRId64, modes[x->mode],
                x->group, x->bytes);
    if (x->var >= 0) write_ranges(t, "ranges", x->range, p->members);
    text_add(t, ", \"reads\": [");
    for (int i = 0; i < op->input_count; i++) text_format(t, "%s%" PRId32, i ? ", " : "", x->exchange[i]);
    text_add(t, "]}");
}

static void write_exchange(const struct lx_team_plan *p, int32_t e, struct text *t)
{
    const struct lx_team_exchange *x = &p->exchanges[e];
    text_add(t, "    {");
    key_string(t, "tensor", p->graph->tensors[x->tensor].name);
    text_add(t, ", ");
    if (x->after >= 0)
        key_string(t, "after", p->graph->ops[x->after].name);
    else
        text_add(t, "\"after\": null");
    text_add(t, ", ");
    key_string(t, "first_reader", p->graph->ops[x->first_reader].name);
    text_format(t,
                ", \"pattern\": \"%s\", \"reads\": %d, \"bytes\": %" PRId64 ", \"separate_bytes\": %" PRId64,
                patterns[x->pattern], x->reads, x->bytes, x->separate_bytes);
    write_ints(t, "sent", x->sent, p->members);
    write_ints(t, "received", x->received, p->members);
    text_add(t, ", \"members\": [");
    for (int m = 0; m < p->members; m++) {
        struct lx_team_array a = lx_team_array_of(p, x->tensor, e, m);
        text_add(t, m ? ", {" : "{");
        text_add(t, "\"rank\": ");
        text_format(t, "%d", m);
        write_ints(t, "offset", a.offset, a.rank);
        write_ints(t, "size", a.size, a.rank);
        write_ints(t, "parts", a.part, LX_TEAM_PARTS);
        text_add(t, "}");
    }
    text_add(t, "]}");
}

static void write_group(const struct lx_team_plan *p, int32_t g, struct text *t)
{
    const struct lx_team_group *x = &p->groups[g];
    text_add(t, "    {");
    key_string(t, "first", p->graph->ops[x->first].name);
    text_add(t, ", ");
    key_string(t, "last", p->graph->ops[x->last].name);
    if (x->core) write_ranges(t, "core", x->core, p->members);
    text_add(t, "}");
}

static void write_step(const struct lx_team_plan *p, int32_t s, struct text *t)
{
    const struct lx_team_step *x = &p->steps[s];
    text_format(t, "    {\"step\": \"%s\"", steps[x->kind]);
    if (x->op >= 0) {
        text_add(t, ", ");
        key_string(t, "op", p->graph->ops[x->op].name);
        if (x->kind == LX_TEAM_COMPUTE) text_format(t, ", \"piece\": \"%s\"", pieces[x->piece]);
    }
    if (x->exchange >= 0) text_format(t, ", \"exchange\": %" PRId32, x->exchange);
    text_add(t, "}");
}

static void write_list(const struct lx_team_plan *p, struct text *t, const char *key, int32_t count,
                       void (*one)(const struct lx_team_plan *, int32_t, struct text *))
{
    text_format(t, ",\n  \"%s\": [\n", key);
    for (int32_t i = 0; i < count; i++) {
        one(p, i, t);
        text_add(t, i + 1 < count ? ",\n" : "\n");
    }
    text_add(t, "  ]");
}

char *lx_team_to_json(const struct lx_team_plan *plan, size_t *length)
{
    struct text t = {0};
    text_add(&t, "{\n  \"lxplan\": 1,\n  \"kind\": \"team\",\n  ");
    key_string(&t, "graph", plan->graph->name);
    text_format(&t, ",\n  \"graph_hash\": \"%016" PRIx64 "\",\n  \"plan_hash\": \"%016" PRIx64 "\"",
                plan->graph->hash, plan->hash);
    text_format(&t,
                ",\n  \"members\": %d,\n  \"bytes\": %" PRId64 ",\n  \"combine_bytes\": %" PRId64
                ",\n  \"plain_bytes\": %" PRId64 ",\n  \"exact\": %s",
                plan->members, plan->bytes, plan->combine_bytes, plan->plain_bytes,
                plan->exact ? "true" : "false");
    write_list(plan, &t, "tensors", plan->graph->tensor_count, write_tensor);
    write_list(plan, &t, "exchanges", plan->exchange_count, write_exchange);
    write_list(plan, &t, "ops", plan->graph->op_count, write_op);
    write_list(plan, &t, "groups", plan->group_count, write_group);
    write_list(plan, &t, "steps", plan->step_count, write_step);
    text_add(&t, "\n}\n");
    if (t.failed) {
        text_free(&t);
        return NULL;
    }
    *length = t.length;
    return t.at;
}
