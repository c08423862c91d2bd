/* Counting HLO: each computation that control reaches once as it stands, and once more as it runs. */
#include "import/facts.h"
#include "base/memory.h"
#include "import/read/hlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t hlo_fact_times(int64_t a, int64_t b)
{
    int64_t p;
    return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

static int64_t hlo_fact_plus(int64_t a, int64_t b)
{
    int64_t s;
    return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

static bool hlo_fact_is_structural(const struct model_op *op)
{
    return strcmp(op->kind, "parameter") == 0 || strcmp(op->kind, "tuple") == 0 ||
           strcmp(op->kind, "get-tuple-element") == 0;
}

/* Tensors with nothing in them. */
static void hlo_fact_count_leaves(struct model_facts *f, const struct model_type *t)
{
    for (int i = 0; t->element == MODEL_TUPLE && i < t->count; i++) hlo_fact_count_leaves(f, t->parts[i]);
    if (t->element == MODEL_TUPLE) return;
    fact_add(f, "empty_results", NULL, t->elements == 0);
}

static void hlo_fact_count_constant(struct model_facts *f, const struct model_op *op)
{
    const struct model_data *d = f->m->values.at[op->results[0]].data;
    fact_add(f, "constants", NULL, 1);
    fact_add(f, "constant_bytes", NULL, fact_result_bytes(f->m, op));
    fact_add(f, "elided_constants", NULL, d && d->form == DATA_ELIDED);
}

/* The target without its quotes. */
static void hlo_fact_count_custom_call(struct model_facts *f, const struct model_op *op)
{
    char name[256];
    const char *text = model_attr_word(&op->attrs, "custom_call_target", "\"\"");
    size_t n = 0;
    for (; *text && n + 1 < sizeof name; text++)
        if (*text != '"') name[n++] = *text;
    name[n] = 0;
    fact_add(f, "custom_calls", name, 1);
}

static void hlo_fact_count_op(struct model_facts *f, const struct model_body *body, const struct model_op *op)
{
    if (hlo_fact_is_structural(op)) {
        fact_add(f, "structural", op->kind, 1);
        return;
    }
    struct op_work work = op_work(f->m, MODEL_HLO, op);
    fact_op(f, op);
    hlo_fact_count_leaves(f, model_type_of(f->m, op->results[0]));
    fact_add(f, "results_not_row_major", NULL, model_type_of(f->m, op->results[0])->order != NULL);
    if (strcmp(op->kind, "constant") == 0) hlo_fact_count_constant(f, op);
    if (strcmp(op->kind, "custom-call") == 0) hlo_fact_count_custom_call(f, op);
    if (strcmp(op->kind, "while") == 0) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)model_fact(f, "whiles", "", 0));
        fact_add(f, "whiles", NULL, 1);
        fact_add(f, "while_trips", number, hlo_trips(f->m, body, op));
    }
    fact_add(f, "flops", NULL, work.flops);
    fact_add(f, "macs", NULL, work.macs);
    fact_add(f, "macs_valid", NULL, work.macs_valid);
}

/* What a computation costs when it runs. */
struct run {
    int64_t ops, flops, macs;
    bool known;
};

static struct run hlo_fact_run_of(const struct lx_model *m, int32_t body, struct run *all);

/* Loops as often as they run (once where that is not known), of branches the one with most flops. */
static struct run hlo_fact_run_callees(const struct lx_model *m, const struct model_body *b,
                                       const struct model_op *op, struct run *all)
{
    struct run sum = {0};
    bool loop = strcmp(op->kind, "while") == 0, branches = strcmp(op->kind, "conditional") == 0;
    int64_t trips = loop ? hlo_trips(m, b, op) : 1;
    for (int k = 0; k < op->body_count; k++) {
        struct run one = hlo_fact_run_of(m, op->bodies[k], all);
        if (branches && k > 0 && (one.flops < sum.flops || (one.flops == sum.flops && one.ops <= sum.ops)))
            continue;
        if (branches) sum = (struct run){0};
        sum.ops = hlo_fact_plus(sum.ops, one.ops);
        sum.flops = hlo_fact_plus(sum.flops, one.flops);
        sum.macs = hlo_fact_plus(sum.macs, one.macs);
    }
    if (trips < 0) trips = 1;
    return (struct run){hlo_fact_times(sum.ops, trips), hlo_fact_times(sum.flops, trips),
                        hlo_fact_times(sum.macs, trips), true};
}

static struct run hlo_fact_run_of(const struct lx_model *m, int32_t body, struct run *all)
{
    const struct model_body *b = &m->bodies.at[body];
    struct run sum = {.known = true};
    if (all[body].known) return all[body];
    for (int i = 0; i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        struct op_work work = op_work(m, MODEL_HLO, op);
        struct run inner = hlo_is_control(op) ? hlo_fact_run_callees(m, b, op, all)
                                              : (struct run){.ops = !hlo_fact_is_structural(op)};
        sum.ops = hlo_fact_plus(sum.ops, inner.ops);
        sum.flops = hlo_fact_plus(sum.flops, hlo_fact_plus(inner.flops, work.flops));
        sum.macs = hlo_fact_plus(sum.macs, hlo_fact_plus(inner.macs, work.macs));
    }
    return all[body] = sum;
}

static void hlo_fact_count_run(struct model_facts *f)
{
    struct run *all = mem_zeroed(f->m->bodies.count, sizeof *all);
    struct run whole = hlo_fact_run_of(f->m, f->m->entry, all);
    fact_add(f, "ops_run", NULL, whole.ops);
    fact_add(f, "flops_run", NULL, whole.flops);
    fact_add(f, "macs_run", NULL, whole.macs);
    mem_free(all);
}

/* How many devices: the header says, or the largest group of a collective. */
static int64_t hlo_fact_group_size(const struct model_op *op)
{
    const char *text = model_attr_word(&op->attrs, "replica_groups", "");
    int64_t most = 0, n = 0;
    long long groups, size;
    if (sscanf(text, "[%lld,%lld]", &groups, &size) == 2) return size;
    for (; *text; text++) {
        if (*text == '{') n = 0;
        n += source_is_digit(*text) && !source_is_digit(text[1]);
        if (*text == '}' && n > most) most = n;
        if (*text == '}') n = 0;
    }
    return most;
}

static void hlo_fact_count_header(struct model_facts *f)
{
    const char *alias = model_attr_word(&f->m->attrs, "input_output_alias", "");
    int64_t partitions = model_attr_int(&f->m->attrs, "num_partitions", 1), aliased = 0;
    for (; *alias; alias++) aliased += *alias == '(';
    fact_add(f, "aliased_outputs", NULL, aliased);
    for (size_t b = 0; b < f->m->bodies.count; b++)
        for (int i = 0; i < f->m->bodies.at[b].op_count; i++) {
            int64_t size = hlo_fact_group_size(&f->m->bodies.at[b].ops[i]);
            if (size > partitions) partitions = size;
        }
    fact_add(f, "partitions", NULL, partitions);
}

static void hlo_fact_count_ends(struct model_facts *f)
{
    const struct model_body *entry = &f->m->bodies.at[f->m->entry];
    for (int i = 0; i < entry->argument_count; i++) {
        const struct model_type *t = model_type_of(f->m, entry->arguments[i]);
        fact_tensor(f, t);
        fact_add(f, "arguments", NULL, 1);
        fact_add(f, "argument_bytes", NULL, t->bytes);
        fact_add(f, "argument_bytes_by_role", "parameter", t->bytes);
    }
    const struct model_type *t = model_type_of(f->m, entry->results[0]);
    fact_add(f, "outputs", NULL, t->leaves);
    fact_add(f, "output_bytes", NULL, t->bytes);
    fact_add(f, "entry_instructions", NULL, entry->op_count);
}

void hlo_facts(struct model_facts *f)
{
    static const char *const zero[] = {"results_not_row_major", "empty_results", "elided_constants", NULL};
    size_t count = f->m->bodies.count;
    enum hlo_use *use = mem_zeroed(count, sizeof *use);
    hlo_uses(f->m, use);
    for (int i = 0; zero[i]; i++) fact_add(f, zero[i], NULL, 0);
    for (size_t b = 0; b < count; b++) {
        const struct model_body *body = &f->m->bodies.at[b];
        fact_add(f, "computations", NULL, 1);
        fact_add(f, "instructions", NULL, body->op_count);
        fact_add(f, "reached_by_control", NULL, use[b] == HLO_CONTROL);
        fact_add(f, "applied_per_element", NULL, use[b] == HLO_APPLIED);
        for (int i = 0; use[b] == HLO_CONTROL && i < body->op_count; i++)
            hlo_fact_count_op(f, body, &body->ops[i]);
    }
    mem_free(use);
    hlo_fact_count_ends(f);
    hlo_fact_count_header(f);
    hlo_fact_count_run(f);
}
