/* Divisions as JSON, one object per op: iteration space, splits with their reasons, spans. */
#include "divide/divide.h"
#include "layout/flat_index.h"

static const char *const kinds[] = {
    [LX_DIVIDED] = "divided", [LX_UNDIVIDED_EXTERN] = "extern", [LX_UNDIVIDED_OPAQUE] = "opaque"};

static void write_split(struct text *t, const struct lx_split *s, const struct lx_divisions *d,
                        const struct lx_division *v, bool first)
{
    text_format(t,
                "%s{\"var\": \"%c\", \"extent\": %lld, \"unit\": %lld, \"units\": %lld, \"reduction\": %s, "
                "\"summed\": %s, \"split\": %lld, "
                "\"per_core\": %lld, \"why\": \"%s\"",
                first ? "" : ", ", s->letter, (long long)s->extent, (long long)s->unit, (long long)s->units,
                s->is_reduction ? "true" : "false", s->is_summed ? "true" : "false", (long long)s->split,
                (long long)s->per_core, lx_split_rule_word(s->rule));
    if (s->tiles > 1) text_format(t, ", \"tiles\": %lld", (long long)s->tiles);
    if (s->bound_by >= 0) {
        text_add(t, ", \"tensor\": ");
        text_json_string(t, d->layouts->graph->tensors[v->operands[s->bound_by].tensor].name);
        text_format(t, ", \"span_before\": %lld", (long long)s->bound);
    } else if (s->bound > 0)
        text_format(t, ", \"bound\": %lld", (long long)s->bound);
    if (s->constraint) {
        text_add(t, ", \"constraint\": ");
        text_json_string(t, s->constraint);
    }
    text_add(t, "}");
}

/* Writes the coordinate of each device dimension: ["m", "k//64", "k%64"]. */
static void write_coordinates(struct text *t, const struct lx_divisions *d, int32_t op, int operand)
{
    struct coordinate at[LX_MAX_DEVICE_RANK];
    char letters[LX_MAX_VARS][2] = {{0}}, words[400];
    const char *names[LX_MAX_VARS];
    struct op_index x;
    op_index_of(d->layouts->graph, &d->layouts->graph->ops[op], &x);
    for (int v = 0; v < x.var_count; v++) {
        letters[v][0] = x.letter[v];
        names[v] = letters[v];
    }
    if (!x.known || !operand_coordinates(d->layouts, op, &x, operand, at, NULL)) return;
    text_add(t, ", \"coordinates\": [");
    for (int k = 0; k < d->layouts->layouts[op_operand(&d->layouts->graph->ops[op], operand)].rank; k++) {
        coordinate_write(&at[k], names, words, sizeof words);
        text_format(t, "%s\"%s\"", k ? ", " : "", words);
    }
    text_add(t, "]");
}

static void write_operand(struct text *t, const struct lx_divisions *d, const struct lx_division *v, int k)
{
    const struct lx_operand_span *o = &v->operands[k];
    const struct lx_layout *y = &d->layouts->layouts[o->tensor];
    text_add(t, k == 0 ? "{\"tensor\": " : ", {\"tensor\": ");
    text_json_string(t, d->layouts->graph->tensors[o->tensor].name);
    text_format(t,
                ", \"whole_span\": %lld, \"span\": %lld, \"touched_span\": %lld, \"core_bytes\": %lld, "
                "\"core_extent\": [",
                (long long)o->whole_bytes, (long long)o->bytes,
                (long long)physical_span(y->rank, y->size, o->extent, y->stick_bytes),
                (long long)o->core_bytes);
    for (int i = 0; i < y->rank; i++) text_format(t, "%s%lld", i ? ", " : "", (long long)o->extent[i]);
    text_add(t, "]");
    write_coordinates(t, d, v->op, k);
    text_add(t, "}");
}

/* Writes {"4096": 2}. */
static void write_coefficients(struct text *t, const char *name, const struct lx_coeff_split *list, int count)
{
    text_format(t, "\"%s\": {", name);
    for (int i = 0; i < count; i++)
        text_format(t, "%s\"%lld\": %lld", i ? ", " : "", (long long)list[i].coefficient,
                    (long long)list[i].split);
    text_add(t, "}");
}

static void write_by_coefficient(struct text *t, const struct lx_divisions *d, const struct lx_division *v)
{
    int64_t splits[LX_MAX_VARS];
    struct lx_coeff_splits stored;
    for (int i = 0; i < v->split_count; i++) splits[i] = v->splits[i].split;
    if (v->kind != LX_DIVIDED || !lx_division_encode(d->layouts, v->op, splits, &stored)) return;
    text_add(t, ",\n     \"by_coefficient\": {");
    write_coefficients(t, "output", stored.output, stored.output_count);
    text_add(t, ", ");
    write_coefficients(t, "reduction", stored.reduction, stored.reduction_count);
    text_add(t, "}");
}

char *lx_divisions_to_json(const struct lx_divisions *d, size_t *length)
{
    struct text t = {0};
    const struct lx_graph *g = d->layouts->graph;
    text_add(&t, "{\n  \"lxplan\": 1,\n  \"kind\": \"division\",\n  \"name\": ");
    text_json_string(&t, g->name);
    text_format(&t, ",\n  \"cores\": %lld,\n  \"span_limit\": %lld,\n  \"predicted_us\": %.3f,\n  \"ops\": [",
                (long long)d->cores, (long long)g->device.span_bytes, d->predicted_us);
    for (int32_t i = 0; i < d->count; i++) {
        const struct lx_division *v = &d->at[i];
        const struct lx_op *op = &d->layouts->graph->ops[v->op];
        text_add(&t, i ? ",\n    {\"op\": " : "\n    {\"op\": ");
        text_json_string(&t, op->name);
        text_format(&t,
                    ", \"kind\": \"%s\", \"division\": \"%s\", \"cores_used\": %lld, \"by_cost\": %s, "
                    "\"predicted_us\": %.3f,\n     "
                    "\"splits\": [",
                    op->kind->name, kinds[v->kind], (long long)v->cores_used, v->by_cost ? "true" : "false",
                    v->predicted_us);
        for (int k = 0; k < v->split_count; k++) write_split(&t, &v->splits[k], d, v, k == 0);
        text_add(&t, "]");
        write_by_coefficient(&t, d, v);
        text_add(&t, ",\n     \"operands\": [");
        for (int k = 0; k < v->operand_count; k++) write_operand(&t, d, v, k);
        text_add(&t, "]}");
    }
    text_add(&t, "\n  ]\n}\n");
    *length = t.length;
    return t.at;
}
