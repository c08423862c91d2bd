/* Counting ONNX: nodes of the graph and of its subgraphs, after all shapes are known. */
#include "import/facts.h"

#include <string.h>

static bool onnx_fact_is_folded(const struct lx_model *m, const struct model_op *op)
{
    for (int i = 0; i < op->result_count; i++) {
        const struct model_data *d = op->results[i] < 0 ? NULL : m->values.at[op->results[i]].data;
        if (op->results[i] >= 0 && (!d || (!d->ints && !d->reals))) return false;
    }
    return op->result_count > 0;
}

static void onnx_fact_count_op(struct model_facts *f, const struct model_op *op)
{
    struct op_work work = op_work(f->m, MODEL_ONNX, op);
    fact_op(f, op);
    fact_add(f, "shapes_known", NULL, 1);
    fact_add(f, "folded_to_constants", NULL, onnx_fact_is_folded(f->m, op));
    fact_add(f, "flops", NULL, work.flops);
    fact_add(f, "flops_run", NULL, work.flops);
    fact_add(f, "macs", NULL, work.macs);
    fact_add(f, "macs_valid", NULL, work.macs_valid);
    fact_add(f, "flops_in_macro_nodes", NULL, work.macro_flops);
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0)
            fact_add(f, "declared_shapes_compared", NULL,
                     f->m->values.at[op->results[i]].declared &&
                         f->m->values.at[op->results[i]].declared_exact);
}

static void onnx_fact_count_constants(struct model_facts *f)
{
    for (size_t i = 0; i < f->m->constants.count; i++) {
        const struct model_data *d = f->m->values.at[f->m->constants.at[i]].data;
        fact_add(f, "constants", NULL, 1);
        fact_add(f, "constant_bytes", NULL, d->type->bytes);
        fact_add(f, "weights",
                 d->form == DATA_EXTERNAL ? "external"
                 : d->form == DATA_ABSENT ? "none"
                                          : "data",
                 1);
    }
}

static void onnx_fact_count_ends(struct model_facts *f)
{
    const struct model_body *b = &f->m->bodies.at[f->m->entry];
    for (int i = 0; i < b->argument_count; i++) {
        const struct model_type *t = model_type_of(f->m, b->arguments[i]);
        fact_tensor(f, t);
        fact_add(f, "arguments", NULL, 1);
        fact_add(f, "argument_bytes", NULL, t ? t->bytes : 0);
        fact_add(f, "argument_bytes_by_role", "input", t ? t->bytes : 0);
    }
    for (int i = 0; i < b->result_count; i++) {
        const struct model_type *t = model_type_of(f->m, b->results[i]);
        fact_add(f, "outputs", NULL, 1);
        fact_add(f, "output_bytes", NULL, t ? t->bytes : 0);
    }
    fact_add(f, "sorted", NULL, b->rearranged);
}

void onnx_facts(struct model_facts *f)
{
    fact_add(f, "functions", NULL, f->m->function_count);
    fact_add(f, "shapes_unknown", NULL, 0);
    for (int i = 0; i < f->m->attrs.count; i++)
        fact_add(f, "opset", f->m->attrs.at[i].key, f->m->attrs.at[i].number);
    onnx_fact_count_ends(f);
    onnx_fact_count_constants(f);
    for (size_t b = 0; b < f->m->bodies.count; b++)
        for (int i = 0; i < f->m->bodies.at[b].op_count; i++)
            onnx_fact_count_op(f, &f->m->bodies.at[b].ops[i]);
}
