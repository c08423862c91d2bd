/* Arguments and results of a model. Arguments are weights, inputs or states by the first matching rule of the
 * format, unless the user states a role; the report counts which rule decided. Results are stored as outputs
 * of their own. */
#include "import/map/import.h"

enum { AS_WEIGHT = 1, OTHERWISE = 2, BIG = 1 << 16 };

/* Kinds that use a weight, per format: operands `first` to `last`. */
struct weight_use {
    const char *kind;
    int first, last;
};

/* clang-format off */
static const struct weight_use ttir_uses[] = {
    {"matmul", 1, 1}, {"dot_general", 1, 1}, {"linear", 1, 2}, {"conv2d", 1, 2}, {"conv_transpose2d", 1, 2},
    {"embedding", 1, 1}, {"rms_norm", 1, 2}, {"layer_norm", 1, 2}, {"batch_norm_inference", 1, 4}, {0}};
static const struct weight_use hlo_uses_of[] = {
    {"dot", 0, 1}, {"convolution", 0, 1}, {"gather", 0, 0}, {"broadcast", 0, 0}, {0}};
/* clang-format on */

/* By value: how the entry uses it. */
static unsigned char *role_uses(const struct lx_model *m)
{
    const struct model_body *b = &m->bodies.at[m->entry];
    unsigned char *use = mem_zeroed(m->values.count + 1, 1);
    for (int i = 0; i < b->op_count; i++) {
        const struct weight_use *row = m->format == MODEL_HLO ? hlo_uses_of : ttir_uses;
        while (row->kind && strcmp(row->kind, b->ops[i].kind) != 0) row++;
        for (int k = 0; k < b->ops[i].operand_count; k++)
            if (b->ops[i].operands[k] >= 0)
                use[b->ops[i].operands[k]] |=
                    row->kind && k >= row->first && k <= row->last ? AS_WEIGHT : OTHERWISE;
    }
    for (int i = 0; i < b->result_count; i++)
        if (b->results[i] >= 0) use[b->results[i]] |= OTHERWISE;
    return use;
}

static struct import_role ttir_role(const struct model_value *v, unsigned use)
{
    const char *stated = model_attr_word(&v->attrs, "ttcore.argument_type", "");
    if (strstr(stated, "parameter") || strstr(stated, "constant"))
        return (struct import_role){.role = LX_WEIGHT, .rule = "stated"};
    if (strstr(stated, "input")) return (struct import_role){.role = LX_INPUT, .rule = "stated"};
    if (v->type->count >= 2 && use == AS_WEIGHT)
        return (struct import_role){.role = LX_WEIGHT, .rule = "use"};
    return (struct import_role){.role = LX_INPUT, .rule = "otherwise"};
}

/* The role by the author's name of the parameter. */
static bool role_by_name(const char *metadata, struct import_role *out)
{
    static const struct {
        const char *word;
        enum lx_role role;
    } words[] = {{"opt_state", LX_STATE}, {"params", LX_WEIGHT}, {"weights", LX_WEIGHT},
                 {"state[", LX_WEIGHT},   {"cache", LX_STATE},   {"kwargs['", LX_INPUT},
                 {"inputs", LX_INPUT},    {"data", LX_INPUT},    {"batch", LX_INPUT},
                 {"tokens", LX_INPUT}};
    const char *name = strstr(metadata, "op_name=\"");
    const char *end = name ? strchr(name + 9, '"') : NULL;
    for (size_t i = 0; name && i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(name + 9, words[i].word);
        if (!at || (end && at > end)) continue;
        *out = (struct import_role){.role = words[i].role, .rule = "name"};
        return true;
    }
    return false;
}

/* `{ {1, 0}: (3, {}, may-alias), ...}`: by parameter, the result tensor whose buffer it is (leaf {1, 0} of
 * the results, counted through tuples); -1: none. */
static void role_read_aliases(const struct lx_model *m, int64_t *output, int count)
{
    const struct model_body *b = &m->bodies.at[m->entry];
    const char *text = model_attr_word(&m->attrs, "input_output_alias", ""), *path = text;
    for (int i = 0; i < count; i++) output[i] = -1;
    for (const char *p = text; *p; p++) {
        const struct model_type *t = b->result_count == 1 ? model_type_of(m, b->results[0]) : NULL;
        if (*p == '{') path = p + 1;
        if (*p != ':') continue;
        const char *open = p + 1 + strspn(p + 1, " ");
        long long parameter = *open == '(' ? strtoll(open + 1, NULL, 10) : -1;
        int64_t leaf = 0;
        if (b->result_count > 1) { /* the first number is that of a result */
            char *end;
            long long result = strtoll(path, &end, 10);
            if (result < 0 || result >= b->result_count) continue;
            for (long long i = 0; i < result; i++) leaf += model_type_of(m, b->results[i])->leaves;
            t = model_type_of(m, b->results[result]);
            path = end + strspn(end, ", ");
        }
        for (char *end; t && t->element == MODEL_TUPLE && *path >= '0' && *path <= '9'; path = end) {
            long long part = strtoll(path, &end, 10);
            for (long long i = 0; i < part && part < t->count; i++) leaf += t->parts[i]->leaves;
            t = part < t->count ? t->parts[part] : NULL;
            end += strspn(end, ", ");
        }
        if (parameter >= 0 && parameter < count) output[parameter] = t && t->leaves > 0 ? leaf : -1;
    }
}

/* Is this result tensor the parameter itself? */
static bool role_passes_through(const struct lx_model *m, int64_t output, int32_t value)
{
    const struct model_body *b = &m->bodies.at[m->entry];
    int32_t at = b->result_count == 1 ? b->results[0] : -1;
    for (int depth = 0; at >= 0 && at != value && depth < MODEL_MAX_DEPTH; depth++) {
        const struct model_value *v = &m->values.at[at];
        const struct model_op *op =
            v->from == FROM_OP && v->op >= 0 && v->op < b->op_count ? &b->ops[v->op] : NULL;
        if (!op || strcmp(op->kind, "tuple") != 0) return false;
        int i = 0;
        for (; i < op->operand_count && output >= model_type_of(m, op->operands[i])->leaves; i++)
            output -= model_type_of(m, op->operands[i])->leaves;
        at = i < op->operand_count ? op->operands[i] : -1;
    }
    return at == value;
}

static struct import_role hlo_role(const struct lx_model *m, int32_t value, int64_t output, unsigned use)
{
    const struct model_value *v = &m->values.at[value];
    const char *sharding = model_attr_word(&v->attrs, "sharding", "");
    struct import_role named;
    if (output >= 0 && role_passes_through(m, output, value))
        return (struct import_role){.role = LX_WEIGHT, .rule = "alias"};
    if (output >= 0) return (struct import_role){.role = LX_STATE, .rule = "alias"};
    if (role_by_name(model_attr_word(&v->attrs, "metadata", ""), &named)) return named;
    enum model_number n = model_element_row(v->type->element)->number;
    if (n == MODEL_SIGNED || n == MODEL_UNSIGNED)
        return (struct import_role){.role = LX_INPUT, .rule = "whole numbers"};
    if (strstr(sharding, "devices=")) return (struct import_role){.role = LX_WEIGHT, .rule = "sharding"};
    if (v->type->elements > BIG && use == AS_WEIGHT)
        return (struct import_role){.role = LX_WEIGHT, .rule = "use"};
    return (struct import_role){.role = LX_INPUT, .rule = "otherwise"};
}

/* past* and present* of one shape, or state and stateN: one buffer, if caches are shared. */
static struct import_role onnx_role(const struct import *im, int32_t value, int64_t *output)
{
    const struct lx_model *m = im->m;
    const struct model_body *b = &m->bodies.at[m->entry];
    const struct model_value *v = &m->values.at[value];
    bool past = strncmp(v->name, "past", 4) == 0 || strncmp(v->name, "state", 5) == 0;
    for (int i = 0; im->options.share_cache && past && i < b->result_count; i++) {
        const struct model_value *r = b->results[i] < 0 ? NULL : &m->values.at[b->results[i]];
        bool pair =
            r && (strncmp(r->name, "present", 7) == 0 ? strcmp(r->name + 7, v->name + 4) == 0 ||
                                                            (strncmp(v->name, "past_key_values", 15) == 0 &&
                                                             strcmp(r->name + 7, v->name + 15) == 0)
                                                      : strncmp(r->name, v->name, strlen(v->name)) == 0);
        if (!pair || !model_same_shape(r->type, v->type)) continue;
        *output = i;
        return (struct import_role){.role = LX_STATE, .rule = "shared cache"};
    }
    return (struct import_role){.role = LX_INPUT, .rule = "graph input"};
}

static bool role_is_for(const struct lx_model_binding *role, const struct model_value *v)
{
    return strcmp(role->name, v->name) == 0 ||
           strcmp(role->name, model_attr_word(&v->attrs, "ttir.name", v->name)) == 0;
}

/* Every role that the user states must name an argument. */
bool import_roles(struct import *im, struct import_role *out)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    unsigned char *use = role_uses(im->m);
    int64_t *output = mem_zeroed((size_t)b->argument_count + 1, sizeof *output);
    role_read_aliases(im->m, output, b->argument_count);
    for (int i = 0; i < b->argument_count; i++) {
        int32_t value = b->arguments[i];
        const struct model_value *v = &im->m->values.at[value];
        struct import_role c = im->m->format == MODEL_TTIR  ? ttir_role(v, use[value])
                               : im->m->format == MODEL_HLO ? hlo_role(im->m, value, output[i], use[value])
                                                            : onnx_role(im, value, &output[i]);
        for (int k = im->options.role_count - 1; k >= 0; k--)
            if (role_is_for(&im->options.roles[k], v))
                c = (struct import_role){.role = (enum lx_role)im->options.roles[k].value, .rule = "given"};
        c.storage = -1;
        c.output = output[i];
        out[i] = c;
    }
    mem_free(use);
    mem_free(output);
    for (int i = 0; i < im->options.role_count; i++) {
        bool found = false;
        for (int k = 0; k < b->argument_count; k++)
            found |= role_is_for(&im->options.roles[i], &im->m->values.at[b->arguments[k]]);
        if (!found)
            return status_set_at(im->st, LX_E_UNKNOWN_NAME, im->m->file, 0, 0,
                                 "--role: there is no argument %.100s; lxplan import lists them",
                                 im->options.roles[i].name);
    }
    return true;
}

/* ---- weights that the file wants stored in blocks with common exponents (ttcore.weight_dtype) ---- */

int import_block_of(const struct import *im, const struct model_value *v, enum lx_role role)
{
    const char *word = model_attr_word(&v->attrs, "ttcore.weight_dtype", "");
    if (!im->options.weight_dtype || role != LX_WEIGHT) return 0;
    return strcmp(word, "bfp_bf8") == 0 ? 1 + LX_BFP8 : strcmp(word, "bfp_bf4") == 0 ? 1 + LX_BFP4 : 0;
}

bool import_store_blocks(struct import *im, struct graph_builder *b)
{
    bool *otherwise = mem_zeroed(b->tensors.count + 1, sizeof *otherwise), ok = true;
    for (size_t o = 0; o < b->ops.count; o++) /* read with its own precision */
        for (int i = 0; i < b->ops.at[o].input_count; i++)
            if (!lx_takes_blocks(&b->ops.at[o], i)) otherwise[b->ops.at[o].inputs[i]] = true;
    for (size_t i = 0; ok && i < im->storages.count; i++) {
        const struct storage *s = &im->storages.at[i];
        if (!s->block || s->tensor < 0) continue;
        enum lx_dtype type = (enum lx_dtype)(s->block - 1);
        bool weight = b->tensors.at[s->tensor].role == LX_WEIGHT && !otherwise[s->tensor];
        fact_add(&im->notes, "weight types", weight ? lx_dtype_word(type) : "kept: not only products read it",
                 1);
        if (weight) ok = builder_retype(b, s->tensor, type, im->st);
    }
    mem_free(otherwise);
    return ok;
}

/* ---- results ---- */

static bool result_is_argument(const struct import *im, int32_t storage)
{
    enum lx_role role = storage < 0 ? LX_ROLE_COUNT : im->storages.at[storage].role;
    return role < LX_INTERMEDIATE || role == LX_STATE;
}

struct import_value *import_result(struct import *im, int64_t tensor)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    for (int i = 0; tensor >= 0 && i < b->result_count; i++) {
        int leaves = b->results[i] < 0 ? 0 : model_type_of(im->m, b->results[i])->leaves;
        if (tensor < leaves) return import_leaf(im, b->results[i], (int)tensor);
        tensor -= leaves;
    }
    return NULL;
}

/* The storage of one result, whose view becomes the whole storage; -1: no storage of its own. An argument is
 * copied if the file asks for a copy, or if another argument's buffer, `state`, must have it; otherwise
 * returning it costs nothing: a tensor and a note. */
static int32_t result_stored(struct import *im, int32_t state, struct import_value *of)
{
    struct import_value v = *of;
    struct label_place at = import_here(im);
    im->result_name = "output";
    if (v.storage >= 0 && result_is_argument(im, v.storage) &&
        (v.copied || (state >= 0 && state != v.storage)))
        import_copy(im, &v, NULL, true, false);
    else
        import_plain(im, &v, NULL);
    import_call_it(im, &at, v.name);
    import_keep_cut(im, of, &v);
    *of = v;
    if (v.storage < 0) {
        fact_add(&im->notes, "outputs without elements", NULL, 1);
        return -1;
    }
    struct storage *s = &im->storages.at[v.storage];
    if (result_is_argument(im, v.storage)) {
        s->stays = true;
        fact_add(&im->notes, s->role == LX_STATE ? "states returned" : "arguments returned unchanged",
                 s->name, 1);
        return -1;
    }
    if (s->role == LX_OUTPUT)
        fact_add(&im->notes, "outputs returned twice", s->name, 1);
    else if (v.name) { /* named as returned */
        s->name = v.name;
        s->part = NULL;
    }
    s->role = LX_OUTPUT;
    return v.storage;
}

int32_t *import_gather_results(struct import *im, int *count)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    int64_t tensors = 0, next = 0;
    for (int i = 0; i < b->result_count; i++) tensors += model_type_of(im->m, b->results[i])->leaves;
    int32_t *state = arena_array(&im->memory, (size_t)tensors + 1, sizeof *state); /* by tensor; -1: none */
    int32_t *results = arena_array(&im->memory, (size_t)tensors + 1, sizeof *results);
    for (int64_t i = 0; i < tensors; i++) state[i] = -1;
    for (int i = 0; i < b->argument_count; i++) {
        const struct import_role *r = &im->roles[i];
        if (r->role == LX_STATE && r->output >= 0 && r->output < tensors) state[r->output] = r->storage;
    }
    *count = 0;
    for (int i = 0; i < b->result_count; i++)
        for (int k = 0; k < model_type_of(im->m, b->results[i])->leaves; k++) {
            int32_t storage = result_stored(im, state[next++], import_leaf(im, b->results[i], k));
            if (storage >= 0) results[(*count)++] = storage;
        }
    return results;
}
