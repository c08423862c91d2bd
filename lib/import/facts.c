/* Counting: the table of facts, and what is counted alike in every format. */
#include "import/facts.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KEY = 2 * MODEL_MAX_NAME + 64 };

static struct fact *fact_find(const struct model_facts *f, const char *group, const char *key, char *whole)
{
    snprintf(whole, MOST_KEY, "%s\n%s", group, key);
    int32_t i = names_find(&f->index, whole);
    return i < 0 ? NULL : &f->all.at[i];
}

static struct fact *fact_of(struct model_facts *f, const char *group, const char *key)
{
    char whole[MOST_KEY];
    struct fact *found = fact_find(f, group, key, whole), added = {0};
    if (found) return found;
    const char *kept = arena_string(&f->memory, whole);
    added.group = arena_string(&f->memory, group);
    added.key = arena_string(&f->memory, key);
    VEC_PUSH(&f->all, added);
    names_add(&f->index, kept, (int32_t)f->all.count - 1);
    return &f->all.at[f->all.count - 1];
}

int64_t model_fact(const struct model_facts *f, const char *group, const char *key, int64_t otherwise)
{
    char whole[MOST_KEY];
    const struct fact *found = fact_find(f, group, key, whole);
    return found ? found->value : otherwise;
}

/* Sums stay where they are rather than wrap: such a file states sizes that no machine has. */
void fact_add(struct model_facts *f, const char *group, const char *key, int64_t n)
{
    struct fact *fact = fact_of(f, group, key ? key : "");
    if (__builtin_add_overflow(fact->value, n, &fact->value)) fact->value = INT64_MAX;
}

void fact_most(struct model_facts *f, const char *group, int64_t n)
{
    struct fact *fact = fact_of(f, group, "");
    if (n > fact->value) fact->value = n;
}

void fact_tensor(struct model_facts *f, const struct model_type *type)
{
    if (!type) return;
    if (type->element == MODEL_TUPLE) {
        for (int i = 0; i < type->count; i++) fact_tensor(f, type->parts[i]);
        return;
    }
    fact_add(f, "tensors", NULL, 1);
    fact_add(f, "dtypes", model_element_word(f->m->format, type->element), 1);
    fact_most(f, "max_rank", type->count);
}

static int64_t fact_bytes_of(const struct lx_model *m, const int32_t *values, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        const struct model_type *t = model_type_of(m, values[i]);
        if (t && t->bytes > 0 && __builtin_add_overflow(sum, t->bytes, &sum)) return INT64_MAX;
    }
    return sum;
}

int64_t fact_operand_bytes(const struct lx_model *m, const struct model_op *op)
{
    return fact_bytes_of(m, op->operands, op->operand_count);
}

int64_t fact_result_bytes(const struct lx_model *m, const struct model_op *op)
{
    return fact_bytes_of(m, op->results, op->result_count);
}

static int64_t fact_bytes_within(const struct lx_model *m, int32_t body, int depth)
{
    const struct model_body *b = &m->bodies.at[body];
    int64_t sum = 0;
    for (int i = 0; i < b->op_count && depth < 4; i++) {
        int64_t part[] = {fact_operand_bytes(m, &b->ops[i]), fact_result_bytes(m, &b->ops[i])};
        for (int k = 0; k < b->ops[i].body_count + 2; k++) {
            int64_t more = k < 2 ? part[k] : fact_bytes_within(m, b->ops[i].bodies[k - 2], depth + 1);
            if (__builtin_add_overflow(sum, more, &sum)) return INT64_MAX;
        }
    }
    return sum;
}

int64_t fact_body_bytes(const struct lx_model *m, int32_t body)
{
    return fact_bytes_within(m, body, 0);
}

void fact_op(struct model_facts *f, const struct model_op *op)
{
    int64_t made = fact_result_bytes(f->m, op);
    fact_add(f, "ops", NULL, 1);
    fact_add(f, "kinds", op->kind, 1);
    fact_add(f, "kind_bytes", op->kind, fact_operand_bytes(f->m, op));
    fact_add(f, "kind_bytes", op->kind, made);
    fact_add(f, "result_bytes", NULL, made);
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0) fact_tensor(f, model_type_of(f->m, op->results[i]));
}

void lx_model_facts(struct model_facts *f, const struct lx_model *m)
{
    static void (*const count[])(struct model_facts *) = {
        [MODEL_TTIR] = ttir_facts, [MODEL_HLO] = hlo_facts, [MODEL_ONNX] = onnx_facts};
    static const char *const zero[] = {"ops",          "tensors",        "flops",     "flops_run",
                                       "macs",         "macs_valid",     "arguments", "argument_bytes",
                                       "constants",    "constant_bytes", "outputs",   "output_bytes",
                                       "result_bytes", "broken",         NULL};
    *f = (struct model_facts){.m = m};
    for (int i = 0; zero[i]; i++) fact_add(f, zero[i], NULL, 0);
    count[m->format](f);
}

void lx_model_facts_free(struct model_facts *f)
{
    VEC_FREE(&f->all);
    names_free(&f->index);
    arena_free(&f->memory);
}
