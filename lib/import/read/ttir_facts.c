/* Counting TTIR: roles of arguments, forms of constants, multiply-adds, and what is there for nothing. */
#include "import/facts.h"

#include <stdio.h>
#include <string.h>

/* What stands between the brackets of #ttcore.argument_type<input>. */
static void ttir_fact_role_word(const struct model_value *v, char *out, size_t size)
{
    const char *text = model_attr_word(&v->attrs, "ttcore.argument_type", "<none>"),
               *open = strchr(text, '<');
    snprintf(out, size, "%.*s", (int)strcspn(open ? open + 1 : text, ">"), open ? open + 1 : text);
}

static void ttir_fact_count_argument(struct model_facts *f, const struct model_value *v)
{
    char role[64];
    const char *stored = model_attr_word(&v->attrs, "ttcore.weight_dtype", NULL);
    ttir_fact_role_word(v, role, sizeof role);
    fact_tensor(f, v->type);
    fact_add(f, "arguments", NULL, 1);
    fact_add(f, "argument_bytes", NULL, v->type->bytes);
    fact_add(f, "argument_bytes_by_role", role, v->type->bytes);
    fact_add(f, "arguments_by_role", role, 1);
    if (stored) fact_add(f, "weight_dtype", stored, 1);
}

static void ttir_fact_count_constant(struct model_facts *f, const struct model_op *op)
{
    static const char *const forms[] = {[DATA_SPLAT] = "splat", [DATA_LIST] = "list", [DATA_BYTES] = "hex"};
    const struct model_attr *value = model_attr_find(&op->attrs, "value");
    int64_t bytes = fact_result_bytes(f->m, op);
    fact_add(f, "constants", NULL, 1);
    fact_add(f, "constant_bytes", NULL, bytes);
    if (!value || value->form != ATTR_DATA) return;
    fact_add(f, "constant_forms", forms[value->data->form], 1);
    fact_add(f, "splat_bytes", NULL, value->data->form == DATA_SPLAT ? bytes : 0);
}

static void ttir_fact_count_permute(struct model_facts *f, const struct model_op *op)
{
    int count;
    const int64_t *p = model_attr_ints(&op->attrs, "permutation", &count);
    bool same = true;
    for (int i = 0; i < count; i++) same &= p[i] == i;
    fact_add(f, "identity_permutes", NULL, same);
}

static void ttir_fact_count_reshape(struct model_facts *f, const struct model_op *op)
{
    if (op->operand_count == 1 && op->result_count == 1 &&
        model_same_shape(model_type_of(f->m, op->operands[0]), model_type_of(f->m, op->results[0])))
        fact_add(f, "identity_reshapes", NULL, 1);
}

static void ttir_fact_count_cache(struct model_facts *f, const struct model_op *op)
{
    char name[MODEL_MAX_NAME + 2];
    const struct model_value *v = op->operand_count ? &f->m->values.at[op->operands[0]] : NULL;
    if (!v || v->from != FROM_ARGUMENT) return;
    snprintf(name, sizeof name, "%%%s", v->name);
    fact_add(f, "cache_writes_to_arguments", name, 1);
}

/* Elementwise ops of two and more operands whose shapes differ. */
static void ttir_fact_count_broadcast(struct model_facts *f, const struct model_op *op)
{
    static const char *const kinds[] = {"add",        "subtract",    "multiply",  "div",   "pow",
                                        "maximum",    "minimum",     "gt",        "lt",    "ge",
                                        "le",         "eq",          "ne",        "where", "logical_and",
                                        "logical_or", "logical_xor", "remainder", NULL};
    bool same = true;
    int k = 0;
    while (kinds[k] && strcmp(kinds[k], op->kind) != 0) k++;
    if (!kinds[k] || op->result_count != 1) return;
    for (int i = 0; i < op->operand_count; i++)
        same &= model_same_shape(model_type_of(f->m, op->operands[i]), model_type_of(f->m, op->results[0]));
    if (!same) fact_add(f, "implicit_broadcasts", NULL, 1);
}

static void ttir_fact_count_op(struct model_facts *f, const struct model_op *op)
{
    static const struct {
        const char *kind;
        void (*count)(struct model_facts *, const struct model_op *);
    } rows[] = {{"constant", ttir_fact_count_constant},
                {"permute", ttir_fact_count_permute},
                {"reshape", ttir_fact_count_reshape},
                {"update_cache", ttir_fact_count_cache},
                {"fill_cache", ttir_fact_count_cache}};
    struct op_work work = op_work(f->m, MODEL_TTIR, op);
    fact_op(f, op);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(op->kind, rows[i].kind) == 0) rows[i].count(f, op);
    ttir_fact_count_broadcast(f, op);
    fact_add(f, "flops", NULL, work.flops);
    fact_add(f, "flops_run", NULL, work.flops);
    fact_add(f, "macs", NULL, work.macs);
    fact_add(f, "macs_valid", NULL, work.macs_valid);
}

void ttir_facts(struct model_facts *f)
{
    const struct model_body *body = &f->m->bodies.at[f->m->entry];
    fact_add(f, "returned_arguments", NULL, 0);
    for (int i = 0; i < body->argument_count; i++)
        ttir_fact_count_argument(f, &f->m->values.at[body->arguments[i]]);
    for (int i = 0; i < body->op_count; i++) ttir_fact_count_op(f, &body->ops[i]);
    for (int i = 0; i < body->result_count; i++) {
        const struct model_value *v = &f->m->values.at[body->results[i]];
        fact_add(f, "outputs", NULL, 1);
        fact_add(f, "output_bytes", NULL, v->type->bytes);
        fact_add(f, "returned_arguments", NULL, v->from == FROM_ARGUMENT);
    }
    fact_add(f, "functions", NULL, (int64_t)f->m->bodies.count);
}
