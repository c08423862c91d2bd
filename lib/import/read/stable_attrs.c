/* Attributes of StableHLO as those of HLO: other names, and text for windows, slices and pads. */
#include "import/read/ttir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int stable_ints_of(const struct model_attrs *from, const char *key, const char *other,
                          int64_t out[MODEL_MAX_RANK])
{
    const struct model_attr *a = model_attr_find(from, key);
    return stable_ints(a || !other ? a : model_attr_find(from, other), out);
}

/* "#stablehlo.gather<offset_dims = [1], ...>": adds what stands between the brackets. */
static void stable_spread(struct ttir *t, const char *text)
{
    struct source inner = t->r.s;
    const char *open = strchr(text, '<');
    inner.at = inner.line_start = open ? open + 1 : text + strlen(text);
    inner.end = text + strlen(text);
    while (!source_ended(&inner) && source_next(&inner) != '>') {
        struct model_attr a = {.form = ATTR_TEXT};
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

/* A row of numbers for each dimension: " pad=" "1_1x0_0", "[0:2:1][0:8:2]". Nothing for no dimensions. */
struct stable_rows {
    int count, parts;
    int64_t at[3][MODEL_MAX_RANK];
};

static void stable_write(char *out, size_t room, const char *before, const struct stable_rows *r,
                         const char *marks)
{
    size_t n = strlen(out);
    for (int i = 0; i < r->count && n < room; i++)
        for (int k = 0; k < r->parts && n < room; k++)
            n += (size_t)snprintf(out + n, room - n, "%s%.*s%lld", i + k ? "" : before, i + k ? 1 : 0,
                                  k ? marks : marks + 1, (long long)r->at[k][i]);
}

/* Reads one list for each part; other lengths than the first's are none. */
static struct stable_rows stable_read_rows(const struct model_attrs *from, int parts,
                                           const char *const keys[3][2])
{
    struct stable_rows r = {.parts = parts};
    for (int k = 0; k < parts; k++) {
        int n = stable_ints_of(from, keys[k][0], keys[k][1], r.at[k]);
        if (k > 0 && n != r.count) n = 0;
        r.count = n;
    }
    return r;
}

/* window={size=2x2 stride=1x1 pad=0_1x0_1}, of a convolution or of reduce_window. */
static void stable_window(struct ttir *t, const struct model_op *op, const struct model_attrs *from,
                          const char *labels)
{
    static const char *const keys[][3] = {{"{size=", "window_dimensions", NULL},
                                          {" stride=", "window_strides", "stride"},
                                          {" pad=", "padding", "pad"},
                                          {" lhs_dilate=", "lhs_dilation", "lhs_dilate"},
                                          {" rhs_dilate=", "rhs_dilation", "rhs_dilate"},
                                          {" lhs_dilate=", "base_dilations", NULL},
                                          {" rhs_dilate=", "window_dilations", NULL}};
    char out[1024] = "";
    const struct model_type *w = op->operand_count > 1 ? model_type_of(t->r.s.m, op->operands[1]) : NULL;
    const char *weight = labels ? strchr(labels, '_') : NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct stable_rows r = {.parts = 1};
        bool pads = keys[i][0][1] == 'p';
        r.count = stable_ints_of(from, keys[i][1], keys[i][2], r.at[0]);
        for (int d = 0; i == 0 && weight && w && d < w->count; d++) { /* sizes of the weight */
            const char *at = memchr(weight + 1, '0' + d, strcspn(weight, "-"));
            if (at && at - weight <= w->count) r.at[0][r.count++] = w->extent[at - weight - 1];
        }
        if (pads) { /* pairs */
            r.parts = 2;
            r.count /= 2;
            for (int d = 0; d < r.count; d++) r.at[1][d] = r.at[0][2 * d + 1], r.at[0][d] = r.at[0][2 * d];
        }
        stable_write(out, sizeof out, keys[i][0], &r, "_x");
    }
    if (*out == '{') stable_add_text(t, "window", arena_format(&t->r.s.m->memory, "%s}", out));
}

/* slice={[0:2:1], [0:8:2]} and padding=0_1_0x2_0_0. The pretty form of a slice has its text. */
static void stable_box(struct ttir *t, const struct model_attrs *from, bool pads)
{
    static const char *const keys[2][3][2] = {
        {{"start_indices", NULL}, {"limit_indices", NULL}, {"strides", NULL}},
        {{"low", "edge_padding_low"}, {"high", "edge_padding_high"}, {"interior", "interior_padding"}}};
    struct stable_rows r = stable_read_rows(from, 3, keys[pads]);
    char out[MODEL_MAX_RANK * 64] = "";
    stable_write(out, sizeof out, "", &r, pads ? "_x" : ":,");
    const char *text = model_attr_word(from, "slice", out);
    size_t n = 0;
    char slice[MODEL_MAX_RANK * 70];
    for (const char *p = text; !pads && *p && n + 4 < sizeof slice; p++)
        n += (size_t)snprintf(slice + n, sizeof slice - n,
                              *p == ','           ? "]["
                              : strchr("[] ", *p) ? ""
                                                  : "%c",
                              *p);
    stable_add_text(t, pads ? "padding" : "slice",
                    pads ? arena_copy(&t->r.s.m->memory, out, strlen(out))
                         : arena_format(&t->r.s.m->memory, "{[%.*s]}", (int)n, slice));
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
    const char *labels = NULL;
    for (int i = 0; i < from.count; i++) {
        const struct model_attr *a = &from.at[i];
        bool nested = a->form == ATTR_TEXT && *a->text == '#' && strchr(a->text, '=');
        if (strcmp(a->key, "dim_numbers") == 0 || (a->form == ATTR_TEXT && strstr(a->text, ".conv<")))
            stable_add_text(t, "dim_labels", labels = stable_labels(t, a->text));
        else if (nested && strcmp(a->key, "channel_handle") != 0)
            stable_spread(t, a->text);
        else if (strcmp(a->key, "slice") != 0 && strcmp(a->key, "padding") != 0)
            stable_rename(t, kind, *a);
    }
    if (strcmp(kind, "dot_general") == 0 || strcmp(kind, "gather") == 0 || strcmp(kind, "scatter") == 0) {
        struct model_attrs spread = reader_attrs(&t->r);
        for (int i = 0; i < spread.count; i++) stable_rename(t, kind, spread.at[i]);
    }
    if (labels || strcmp(kind, "reduce_window") == 0) stable_window(t, op, &from, labels);
    if (strcmp(kind, "slice") == 0 || strcmp(kind, "pad") == 0) stable_box(t, &from, *kind == 'p');
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
