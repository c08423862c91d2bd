/* Attributes of StableHLO as those of HLO, with lists where HLO has text. */
#include "import/read/ttir.h"

/* Names of attributes; `kind`: of that op only. */
static const struct {
    const char *kind, *theirs, *ours;
} stable_names[] = {
    {"iota", "dim", "iota_dimension"},
    {"dynamic_slice", "sizes", "dynamic_slice_sizes"},
    {"dynamic_slice", "slice_sizes", "dynamic_slice_sizes"},
    {NULL, "dim", "dimensions"},
    {NULL, "dims", "dimensions"},
    {NULL, "dimension", "dimensions"},
    {NULL, "broadcast_dimensions", "dimensions"},
    {NULL, "permutation", "dimensions"},
    {NULL, "all_gather_dim", "dimensions"},
    {NULL, "scatter_dimension", "dimensions"},
    {NULL, "lhs_batching_dims", "lhs_batch_dims"},
    {NULL, "rhs_batching_dims", "rhs_batch_dims"},
    {NULL, "lhs_batching_dimensions", "lhs_batch_dims"},
    {NULL, "rhs_batching_dimensions", "rhs_batch_dims"},
    {NULL, "lhs_contracting_dimensions", "lhs_contracting_dims"},
    {NULL, "rhs_contracting_dimensions", "rhs_contracting_dims"},
    {NULL, "start_indices", "begins"},
    {NULL, "limit_indices", "ends"},
    {NULL, "strides", "step"},
    {NULL, "edge_padding_low", "low"},
    {NULL, "edge_padding_high", "high"},
    {NULL, "interior_padding", "interior"},
    {NULL, "window_dimensions", "size"},
    {NULL, "window_strides", "stride"},
    {NULL, "padding", "pad"},
    {NULL, "base_dilations", "lhs_dilate"},
    {NULL, "window_dilations", "rhs_dilate"},
    {NULL, "lhs_dilation", "lhs_dilate"},
    {NULL, "rhs_dilation", "rhs_dilate"},
    {NULL, "window_reversal", "rhs_reversal"},
    {NULL, "comparison_direction", "direction"},
    {NULL, "compare_type", "type"},
    {NULL, "call_target_name", "custom_call_target"},
    {NULL, "decomposition", "callee"},
};

/* The whole numbers of an attribute of any form; those of a splat are as many as its type says. */
static int stable_ints(const struct model_attr *a, int64_t out[MODEL_MAX_RANK])
{
    int n = 0;
    if (!a) return 0;
    if (a->form == ATTR_INT) out[n++] = a->number;
    for (; a->form == ATTR_INTS && n < a->count && n < MODEL_MAX_RANK; n++) out[n] = a->ints[n];
    for (; a->form == ATTR_DATA && a->data->ints && n < a->data->type->elements && n < MODEL_MAX_RANK; n++)
        out[n] = model_data_int(a->data, a->data->form == DATA_SPLAT ? 0 : n);
    for (const char *p = a->form == ATTR_TEXT ? a->text : ""; *p && n < MODEL_MAX_RANK;) {
        char *end;
        int64_t v = strtoll(p, &end, 10);
        if (end > p) out[n++] = v;
        p = end > p ? end : p + 1;
    }
    return n;
}

/* "#stablehlo.gather<offset_dims = [1], ...>": adds what stands between the brackets. */
static void stable_spread(struct ttir *t, const char *text)
{
    struct source inner = t->r.s;
    const char *open = strchr(text, '<');
    inner.at = inner.line_start = open ? open + 1 : text + strlen(text);
    inner.end = text + strlen(text);
    while (!source_ended(&inner) && source_next(&inner) != '>') {
        struct model_attr a = {.form = ATTR_BOOL};
        a.key = source_name(&inner, source_is_name, "the name of an attribute");
        source_want(&inner, "=");
        ttir_attr_value(&inner, &a);
        if (!inner.failed) ttir_push_attr(t, a);
        source_take(&inner, ",");
    }
    t->r.s.failed |= inner.failed;
}

/* The last word of "#stablehlo<comparison_direction LT>". */
static const char *stable_last_word(struct ttir *t, const char *text)
{
    const char *space = strrchr(text, ' ');
    if (*text != '#' || !space) return text;
    return arena_copy(&t->r.s.m->memory, space + 1, strcspn(space + 1, ">"));
}

static void stable_add_text(struct ttir *t, const char *key, const char *text)
{
    ttir_push_attr(t, (struct model_attr){.key = key, .form = ATTR_TEXT, .text = text});
}

/* "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" as "b01f_01io->b01f". */
static const char *stable_labels(struct ttir *t, const char *text)
{
    char out[3 * MODEL_MAX_RANK + 8];
    size_t n = 0;
    const char *p = strchr(text, '[');
    for (; p && *p && n + 3 < sizeof out; p++) {
        if (*p == 'x')
            out[n++] = '_';
        else if (*p == '-' || (*p == '>' && p[-1] == '-') || source_is_digit(*p) || (*p >= 'a' && *p <= 'z'))
            out[n++] = *p;
    }
    return arena_copy(&t->r.s.m->memory, out, n);
}

static void stable_rename(struct ttir *t, const char *kind, struct model_attr a)
{
    int64_t list[MODEL_MAX_RANK];
    bool devices = strcmp(a.key, "replica_groups") == 0 || strcmp(a.key, "source_target_pairs") == 0;
    for (size_t i = 0; i < sizeof stable_names / sizeof *stable_names; i++)
        if (strcmp(stable_names[i].theirs, a.key) == 0 &&
            (!stable_names[i].kind || strcmp(stable_names[i].kind, kind) == 0)) {
            a.key = stable_names[i].ours;
            break;
        }
    bool listed = a.form == ATTR_TEXT && *a.text == '[' && a.text[strspn(a.text, "[]0123456789-, ")] == 0;
    if ((listed || (a.form == ATTR_DATA && a.data->ints)) && !devices && strcmp(a.key, "value") != 0) {
        a.count = stable_ints(&a, list);
        a.ints = arena_copy_array(&t->r.s.m->memory, list, (size_t)a.count, sizeof *list);
        a.form = ATTR_INTS;
    }
    if (a.form == ATTR_TEXT) a.text = stable_last_word(t, a.text);
    ttir_push_attr(t, a);
}

/* A dot of matrices and vectors contracts the last dimension with the first. */
static void stable_plain_dot(struct ttir *t, const struct model_op *op)
{
    const struct model_type *x = op->operand_count > 0 ? model_type_of(t->r.s.m, op->operands[0]) : NULL;
    struct model_attr a = {.key = "lhs_contracting_dims", .form = ATTR_INT, .number = x ? x->count - 1 : 0};
    ttir_push_attr(t, a);
    a.key = "rhs_contracting_dims";
    a.number = 0;
    ttir_push_attr(t, a);
}

struct model_attrs stable_attrs(struct ttir *t, const char *kind, const struct model_op *op)
{
    struct model_attrs from = reader_attrs(&t->r);
    for (int i = 0; i < from.count; i++) { /* those within "#stablehlo.gather<...>" become the op's */
        const struct model_attr *a = &from.at[i];
        bool text = a->form == ATTR_TEXT;
        if (text && (strcmp(a->key, "dim_numbers") == 0 || strstr(a->text, ".conv<")))
            stable_add_text(t, "dim_labels", stable_labels(t, a->text));
        else if (text && *a->text == '#' && strchr(a->text, '=') && strcmp(a->key, "channel_handle") != 0)
            stable_spread(t, a->text);
        else
            ttir_push_attr(t, *a);
    }
    from = reader_attrs(&t->r);
    for (int i = 0; i < from.count; i++) stable_rename(t, kind, from.at[i]);
    if (strcmp(kind, "dot") == 0) stable_plain_dot(t, op);
    if (strcmp(kind, "top_k") == 0) stable_add_text(t, "custom_call_target", "TopK");
    return reader_attrs(&t->r);
}

/* ---- module and arguments ---- */

static struct model_attrs stable_end_attrs(struct lx_model *m, struct model_attrs from, const char *more,
                                           const char *text)
{
    static const char *const words[][2] = {{"mhlo.sharding", "sharding"},
                                           {"mhlo.num_partitions", "num_partitions"},
                                           {"mhlo.num_replicas", "replica_count"}};
    struct model_attr *at = arena_array(&m->memory, (size_t)from.count + 1, sizeof *at);
    for (int i = 0; i < from.count; i++) {
        at[i] = from.at[i];
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (strcmp(at[i].key, words[w][0]) == 0) at[i].key = words[w][1];
    }
    if (text) at[from.count] = (struct model_attr){.key = more, .form = ATTR_TEXT, .text = text};
    return (struct model_attrs){at, from.count + (text != NULL)};
}

/* Names of arguments become those of HLO's metadata, and `tf.aliasing_output` the module's aliases. */
void stable_end(struct lx_model *m)
{
    const struct model_body *b = &m->bodies.at[m->entry];
    const char *aliases = NULL;
    m->format = MODEL_HLO;
    for (int i = 0; i < b->argument_count; i++) {
        struct model_value *v = &m->values.at[b->arguments[i]];
        const char *name = model_attr_word(&v->attrs, "jax.arg_info", v->location);
        int64_t output = model_attr_int(&v->attrs, "tf.aliasing_output", -1);
        if (output >= 0)
            aliases =
                arena_format(&m->memory, "%s{%lld}: (%d, {}) ", aliases ? aliases : "", (long long)output, i);
        v->attrs = stable_end_attrs(m, v->attrs, "metadata",
                                    name ? arena_format(&m->memory, "op_name=\"%s\"", name) : NULL);
    }
    m->attrs = stable_end_attrs(m, m->attrs, "input_output_alias", aliases);
}
