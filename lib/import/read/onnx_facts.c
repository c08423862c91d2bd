/* Counting ONNX: nodes of the graph and of its subgraphs, after all shapes are known. */
#include "import/facts.h"
#include "import/read/onnx.h"
#include "import/types/windows.h"

#include <string.h>

static int64_t times(int64_t a, int64_t b)
{
    int64_t p;
    return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

static const struct model_type *in(const struct lx_model *m, const struct model_op *op, int i)
{
    return i < op->operand_count ? model_type_of(m, op->operands[i]) : NULL;
}

static struct op_work product(const struct lx_model *m, const struct model_op *op)
{
    const struct model_type *a = in(m, op, 0), *y = model_type_of(m, op->results[0]);
    bool turned = model_attr_int(&op->attrs, "transA", 0) && a && a->count > 1;
    if (!a || a->count < 1) return (struct op_work){0};
    return (struct op_work){.flops = times(2, times(y->elements, a->extent[a->count - (turned ? 2 : 1)]))};
}

static struct op_work conv(const struct lx_model *m, const struct model_op *op)
{
    const struct model_type *x = in(m, op, 0), *w = in(m, op, op->kind[0] == 'Q' ? 3 : 1),
                            *y = model_type_of(m, op->results[0]);
    struct model_window win[MODEL_MAX_WINDOWS];
    struct op_work work = {0};
    if (!x || !w || w->count < 3 || w->extent[0] < 1 || y->elements < 1) return work;
    int count = onnx_windows(op, x, w->extent + 2, w->count - 2, win);
    int64_t rest = y->elements;
    work.macs = times(y->elements, w->elements / w->extent[0]);
    work.macs_valid = w->extent[1];
    for (int i = 0; i < count; i++) {
        rest /= win[i].out > 0 ? win[i].out : 1;
        work.macs_valid = times(work.macs_valid, window_valid_taps(&win[i]));
    }
    work.macs_valid = times(work.macs_valid, rest);
    return work;
}

/* Each input element meets each tap of its filters, in the result if that is not cut off. */
static struct op_work conv_transpose(const struct lx_model *m, const struct model_op *op)
{
    const struct model_type *x = in(m, op, 0), *w = in(m, op, 1);
    if (!x || !w || w->extent[0] < 1) return (struct op_work){0};
    int64_t macs = times(x->elements, w->elements / w->extent[0]);
    return (struct op_work){.macs = macs, .macs_valid = macs};
}

/* X W' for all steps and h R' in each; gates and directions are in W and R. */
static struct op_work recurrent(const struct lx_model *m, const struct model_op *op)
{
    const struct model_type *x = in(m, op, 0), *w = in(m, op, 1), *r = in(m, op, 2);
    if (!x || !w || !r || x->count != 3) return (struct op_work){0};
    return (struct op_work){.macro_flops =
                                times(times(2, x->extent[0] * x->extent[1]), w->elements + r->elements)};
}

static struct op_work group_query(const struct lx_model *m, const struct model_op *op)
{
    const struct model_type *y = model_type_of(m, op->results[0]);
    const struct model_type *cache = op->result_count > 1 ? model_type_of(m, op->results[1]) : NULL;
    if (y->count != 3 || (cache && cache->count != 4)) return (struct op_work){0};
    int64_t length = cache ? cache->extent[2] : y->extent[1];
    return (struct op_work){.macro_flops = times(times(4, y->elements), length)};
}

static struct op_work attention(const struct lx_model *m, const struct model_op *op)
{
    const struct model_type *x = in(m, op, 0), *w = in(m, op, 1), *y = model_type_of(m, op->results[0]),
                            *past = in(m, op, 4);
    if (!x || !w || x->count != 3 || w->count != 2) return (struct op_work){0};
    int64_t length = x->extent[1] + (past && past->count == 5 ? past->extent[3] : 0);
    int64_t project = times(times(2, x->elements), w->extent[1]);
    return (struct op_work){.macro_flops = project + times(times(4, y->elements), length)};
}

struct op_work onnx_work(const struct lx_model *m, const struct model_op *op)
{
    static const struct {
        const char *kind;
        struct op_work (*work)(const struct lx_model *, const struct model_op *);
    } rows[] = {{"MatMul", product},
                {"Gemm", product},
                {"MatMulInteger", product},
                {"com.microsoft:FusedMatMul", product},
                {"com.microsoft:MatMulNBits", product},
                {"Conv", conv},
                {"ConvInteger", conv},
                {"QLinearConv", conv},
                {"com.microsoft:FusedConv", conv},
                {"ConvTranspose", conv_transpose},
                {"LSTM", recurrent},
                {"GRU", recurrent},
                {"RNN", recurrent},
                {"com.microsoft:GroupQueryAttention", group_query},
                {"com.microsoft:Attention", attention}};
    bool made = op->result_count > 0 && op->results[0] >= 0;
    for (size_t i = 0; made && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(op->kind, rows[i].kind) == 0) return rows[i].work(m, op);
    return (struct op_work){0};
}

static bool is_folded(const struct lx_model *m, const struct model_op *op)
{
    for (int i = 0; i < op->result_count; i++) {
        const struct model_data *d = op->results[i] < 0 ? NULL : m->values.at[op->results[i]].data;
        if (op->results[i] >= 0 && (!d || d->beyond || (!d->ints && !d->reals))) return false;
    }
    return op->result_count > 0;
}

static void count_op(struct model_facts *f, const struct model_op *op)
{
    struct op_work work = onnx_work(f->m, op);
    fact_op(f, op);
    fact_add(f, "shapes_known", NULL, 1);
    fact_add(f, "folded_to_constants", NULL, is_folded(f->m, op));
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

static void count_constants(struct model_facts *f)
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

static void count_ends(struct model_facts *f)
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
    count_ends(f);
    count_constants(f);
    for (size_t b = 0; b < f->m->bodies.count; b++)
        for (int i = 0; i < f->m->bodies.at[b].op_count; i++) count_op(f, &f->m->bodies.at[b].ops[i]);
}
