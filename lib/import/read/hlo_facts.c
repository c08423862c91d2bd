/* Counting HLO: each computation that control reaches once as it stands, and once more as it runs. */
#include "import/facts.h"
#include "base/memory.h"
#include "import/devices/devices.h"
#include "import/read/hlo.h"

#include <stdio.h>
#include <string.h>

static bool hlo_fact_is_structural(const struct model_op *op)
{
    return strcmp(op->kind, "parameter") == 0 || strcmp(op->kind, "tuple") == 0 ||
           strcmp(op->kind, "get-tuple-element") == 0;
}

static void hlo_fact_op(struct model_facts *f, const struct model_body *body, const struct model_op *op)
{
    const struct model_value *v = &f->m->values.at[op->results[0]];
    char name[256];
    if (hlo_fact_is_structural(op)) {
        fact_add(f, "structural", op->kind, 1);
        return;
    }
    fact_op(f, op);
    fact_add(f, "results_not_row_major", NULL, v->type->order != NULL);
    fact_add(f, "elided_constants", NULL, v->data && v->data->form == DATA_ELIDED);
    if (strcmp(op->kind, "custom-call") == 0) { /* the target without its quotes */
        const char *text = model_attr_word(&op->attrs, "custom_call_target", "");
        text += *text == '"';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "\""), text);
        fact_add(f, "custom_calls", name, 1);
    }
    if (strcmp(op->kind, "while") == 0) {
        snprintf(name, sizeof name, "%lld", (long long)model_fact(f, "whiles", "", 0));
        fact_add(f, "whiles", NULL, 1);
        fact_add(f, "while_trips", name, hlo_trips(f->m, body, op));
    }
}

/* What a computation costs when it runs. */
struct run {
    int64_t ops, flops, macs;
    bool known;
};

static void hlo_fact_run_add(struct run *sum, struct run one)
{
    sum->ops = fact_plus(sum->ops, one.ops);
    sum->flops = fact_plus(sum->flops, one.flops);
    sum->macs = fact_plus(sum->macs, one.macs);
}

/* Loops as often as they run (once where that is not known), of branches the one with most flops. */
static struct run hlo_fact_run(const struct lx_model *m, int32_t body, struct run *all)
{
    const struct model_body *b = &m->bodies.at[body];
    struct run sum = {.known = true};
    if (all[body].known) return all[body];
    for (int i = 0; i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        struct op_work work = op_work(m, MODEL_HLO, op);
        bool control = hlo_is_control(op), branches = strcmp(op->kind, "conditional") == 0;
        int64_t trips = strcmp(op->kind, "while") == 0 ? hlo_trips(m, b, op) : 1;
        struct run inner = {.ops = !control && !hlo_fact_is_structural(op)};
        for (int k = 0; control && k < op->body_count; k++) {
            struct run one = hlo_fact_run(m, op->bodies[k], all);
            if (branches && k > 0 &&
                (one.flops < inner.flops || (one.flops == inner.flops && one.ops <= inner.ops)))
                continue;
            if (branches) inner = (struct run){0};
            hlo_fact_run_add(&inner, one);
        }
        if (trips < 0) trips = 1;
        hlo_fact_run_add(&sum, (struct run){fact_times(inner.ops, trips), fact_times(inner.flops, trips),
                                            fact_times(inner.macs, trips), true});
        hlo_fact_run_add(&sum, (struct run){.flops = work.flops, .macs = work.macs});
    }
    return all[body] = sum;
}

void hlo_facts(struct model_facts *f)
{
    const struct lx_model *m = f->m;
    size_t count = m->bodies.count;
    enum hlo_use *use = mem_zeroed(count, sizeof *use);
    struct run *all = mem_zeroed(count, sizeof *all), whole = hlo_fact_run(m, m->entry, all);
    int64_t aliased = 0, devices = model_device_count(m);
    hlo_uses(m, use);
    fact_add(f, "results_not_row_major", NULL, 0);
    fact_add(f, "elided_constants", NULL, 0);
    for (size_t b = 0; b < count; b++) {
        const struct model_body *body = &m->bodies.at[b];
        fact_add(f, "computations", NULL, 1);
        fact_add(f, "instructions", NULL, body->op_count);
        fact_add(f, "reached_by_control", NULL, use[b] == HLO_CONTROL);
        fact_add(f, "applied_per_element", NULL, use[b] == HLO_APPLIED);
        for (int i = 0; use[b] == HLO_CONTROL && i < body->op_count; i++) hlo_fact_op(f, body, &body->ops[i]);
    }
    fact_add(f, "entry_instructions", NULL, m->bodies.at[m->entry].op_count);
    for (const char *c = model_attr_word(&m->attrs, "input_output_alias", ""); *c; c++) aliased += *c == '(';
    fact_add(f, "aliased_outputs", NULL, aliased);
    fact_add(f, "partitions", NULL, devices);
    fact_add(f, "ops_run", NULL, whole.ops);
    fact_add(f, "flops_run", NULL, whole.flops);
    fact_add(f, "macs_run", NULL, whole.macs);
    mem_free(use);
    mem_free(all);
}
