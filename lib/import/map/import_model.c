/* From a model to a graph. Views that conflict are found when storages are cut; then the sketch is made again
 * with copies of these. */
#include "import/map/import.h"
#include "files/pattern.h"
#include "import/layers/layers.h"

enum { MOST_ROUNDS = 40, LAST_ROUNDS = 4, MOST_TAKEN_BACK = 16, SMALL_COPY = 64 << 10 };

static void import_bind_tensor(struct import *im, int32_t value, enum lx_role role)
{
    const struct model_value *v = &im->m->values.at[value];
    const struct model_type *part = import_part_type(im, value);
    OWNED VEC(struct import_value) leaves = {0};
    im->result_name = model_attr_word(&v->attrs, "ttir.name", v->name);
    for (int i = 0; i < v->type->leaves; i++) {
        struct import_value leaf = import_fresh(im, part ? part : model_leaf_type(v->type, i), NULL);
        leaf.name = im->result_name;
        if (leaf.storage >= 0) {
            struct storage *s = &im->storages.at[leaf.storage];
            s->role = role;
            s->block = import_block_of(im, v, role);
            s->line = v->line;
            s->column = v->column;
            import_state_argument(im, &leaf, i, v);
        }
        VEC_PUSH(&leaves, leaf);
    }
    import_bind(im, value, leaves.at, (int)leaves.count);
}

static void import_forget(struct import *im)
{
    arena_free(&im->memory);
    names_free(&im->tensor_names);
    names_free(&im->op_names);
    names_free(&im->constants);
    lx_model_facts_free(&im->notes);
    im->notes = (struct model_facts){.m = im->m};
    im->memory = (struct arena){0};
    im->tensor_names = im->op_names = im->constants = (struct names){0};
    im->storages.count = im->sketches.count = im->leaves.count = im->aliases.count = 0;
    im->retry = im->spared = false;
    im->order = NULL;
    im->depth = 0;
    im->path = NULL;
    im->name_counts.count = 0;
    im->walked = 0;
    for (size_t b = 0; b < im->m->bodies.count; b++)
        for (int i = 0; i < im->m->bodies.at[b].op_count; i++) {
            im->classes[b][i].seen = false;
            im->classes[b][i].padding = 0;
        }
}

/* Sketches arguments, then constants outside ops (splats stay numbers, others are weights), then all ops. A
 * state is an input until an op writes it. */
static bool import_sketch_model(struct import *im)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    import_forget(im);
    for (int i = 0; i < b->argument_count; i++) {
        import_bind_tensor(im, b->arguments[i], im->roles[i].role == LX_WEIGHT ? LX_WEIGHT : LX_INPUT);
        bool one = model_type_of(im->m, b->arguments[i])->leaves > 0;
        im->roles[i].storage = one ? import_leaf(im, b->arguments[i], 0)->storage : -1;
    }
    for (size_t i = 0; i < im->storages.count; i++) im->storages.at[i].seen_by = 0; /* except by themselves */
    for (size_t i = 0; i < im->m->constants.count; i++) {
        int32_t value = im->m->constants.at[i];
        const struct model_value *v = &im->m->values.at[value];
        struct import_value one = {.storage = -1, .type = v->type, .known = v->data, .name = v->name};
        double number;
        if (import_splat(&one, &number))
            import_bind(im, value, &one, 1);
        else
            import_bind_tensor(im, value, LX_WEIGHT);
    }
    if (!import_body(im, im->m->entry)) return false;
    int count;
    int32_t *results = import_gather_results(im, &count);
    if (!import_in_place(im, results, &count)) return false;
    import_mark_needed(im, results, count);
    if (!im->retry) import_cut(im);
    return true;
}

/* The largest forced copy that is not needed for sure; NULL: none that counts. */
static struct op_class *import_largest_copy(const struct import *im)
{
    struct op_class *largest = NULL;
    for (size_t b = 0; b < im->m->bodies.count; b++)
        for (int i = 0; i < im->m->bodies.at[b].op_count; i++) {
            struct op_class *c = &im->classes[b][i];
            if (c->forced && !c->needed && c->bytes > SMALL_COPY && (!largest || c->bytes > largest->bytes))
                largest = c;
        }
    return largest;
}

static void import_copy_classes(const struct import *im, struct op_class *saved, bool back)
{
    for (size_t b = 0; b < im->m->bodies.count; b++) {
        size_t n = (size_t)im->m->bodies.at[b].op_count;
        memcpy(back ? im->classes[b] : saved, back ? saved : im->classes[b], n * sizeof *saved);
        saved += n;
    }
}

/* A copy that was forced before others were may not be needed beside them: tries without, the largest first.
 * The last sketch is valid. */
static bool import_take_back(struct import *im)
{
    size_t ops = 0;
    bool ok = true, valid = true;
    struct op_class *c;
    for (size_t b = 0; b < im->m->bodies.count; b++) ops += (size_t)im->m->bodies.at[b].op_count;
    OWNED struct op_class *saved = mem_zeroed(ops + 1, sizeof *saved);
    for (int i = 0; ok && i < MOST_TAKEN_BACK && (c = import_largest_copy(im)); i++) {
        c->needed = true;
        import_copy_classes(im, saved, false);
        c->forced = NULL;
        im->round++;
        ok = import_sketch_model(im);
        valid = !im->retry;
        if (!valid) import_copy_classes(im, saved, true);
    }
    if (ok && !valid) ok = import_sketch_model(im);
    return ok;
}

static const struct lx_graph *import_rounds(struct import *im)
{
    bool taken_back = false;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        im->round++;
        im->last = round >= MOST_ROUNDS - LAST_ROUNDS;
        if (im->last) im->options.no_fold = im->short_sticks = true;
        if (!import_sketch_model(im)) return NULL;
        if (!im->retry && !im->last && !taken_back) {
            taken_back = true;
            if (!import_take_back(im)) return NULL;
        }
        const struct lx_graph *g = im->retry ? NULL : import_build(im);
        if (!im->retry) return g;
    }
    return status_set(im->st, LX_E_INTERNAL, "views of %.80s get into each other's way", im->m->file), NULL;
}

/* No tensor may have more dimensions than a view. */
static bool import_rank_fits(const struct model_type *t)
{
    for (int i = 0; t->element == MODEL_TUPLE && i < t->count; i++)
        if (!import_rank_fits(t->parts[i])) return false;
    return t->element == MODEL_TUPLE || t->count <= VIEW_MAX_RANK;
}

static bool import_ranks_fit(const struct lx_model *m, lx_status *st)
{
    for (size_t i = 0; i < m->values.count; i++) {
        const struct model_value *v = &m->values.at[i];
        if (v->type && !import_rank_fits(v->type))
            return status_set_at(st, LX_E_LIMIT, m->file, v->line, v->column,
                                 "%.100s has more than %d dimensions", v->name ? v->name : "a tensor",
                                 VIEW_MAX_RANK);
    }
    return true;
}

static const struct lx_graph *import_model(const struct lx_model *m, const struct lx_import_options *options,
                                           const char *sha256, const struct model_facts *facts, char **report,
                                           lx_status *st)
{
    struct import im = {.m = m, .options = *options, .st = st};
    const struct lx_graph *g = NULL;
    size_t bodies = m->bodies.count, arguments = (size_t)m->bodies.at[m->entry].argument_count;
    im.leaf = mem_zeroed(m->values.count + 1, sizeof *im.leaf);
    im.classes = mem_zeroed(bodies + 1, sizeof *im.classes);
    for (size_t b = 0; b < bodies; b++)
        im.classes[b] = mem_zeroed((size_t)m->bodies.at[b].op_count + 1, sizeof **im.classes);
    im.roles = mem_zeroed(arguments + 1, sizeof *im.roles);
    if (import_ranks_fit(m, st) && import_find_grid(&im) && import_roles(&im, im.roles))
        g = import_rounds(&im);
    if (g && !import_judge(&im, &g, sha256, facts, report)) {
        lx_graph_free(g);
        g = NULL;
    }
    import_forget(&im);
    for (size_t b = 0; b < bodies; b++) mem_free(im.classes[b]);
    mem_free(im.classes);
    mem_free(im.leaf);
    mem_free(im.roles);
    VEC_FREE(&im.storages);
    VEC_FREE(&im.sketches);
    VEC_FREE(&im.leaves);
    VEC_FREE(&im.aliases);
    VEC_FREE(&im.name_counts);
    return g;
}

/* A file that asks for its device number without stating the number of devices may be any device. */
static bool import_has_device(const struct lx_model *m, int64_t device, lx_status *st)
{
    int64_t count = device > 0 ? model_device_count(m) : 1;
    if (device < count || (count == 1 && model_has_op(m, model_asks_for_number))) return true;
    if (count == 1)
        return status_set_at(st, LX_E_RANGE, m->file, 0, 0,
                             "--partition %lld: the model is for one device; leave it out",
                             (long long)device);
    return status_set_at(st, LX_E_RANGE, m->file, 0, 0,
                         "--partition %lld: the model is for %lld devices; they are 0 to %lld",
                         (long long)device, (long long)count, (long long)count - 1);
}

const struct lx_graph *lx_model_import(const char *file, const char *text, size_t length,
                                       const struct lx_import_options *options, char **report, lx_status *st)
{
    struct lx_import_options o = *options;
    if (o.trips < 1) o.trips = 1;
    if (o.max_ops < 1) o.max_ops = 100000;
    o.model.branch = o.branch + 1;
    struct layer_limits limits = {o.max_ops, !o.no_expand, o.device, o.team};
    struct lx_model *m = lx_model_read(file, text, length, &o.model, st);
    SCOPED(lx_model_facts_free) struct model_facts facts = {0};
    char sha256[65];
    const struct lx_graph *g = NULL;
    if (m && import_has_device(m, o.device, st)) {
        if (report) lx_model_facts(&facts, m);
        if (report) sha256_hex(text, length, sha256);
        if (o.team) model_order_devices(m, LX_GRID_AXES);
        model_expand(m, &limits);
        g = import_model(m, &o, sha256, &facts, report, st);
    }
    if (m && !g) model_add_remedy(m->format, st);
    lx_model_free(m);
    return g;
}

bool lx_model_sniff(const char *text, size_t length)
{
    return model_format_of(text, length) != MODEL_FORMAT_COUNT;
}

/* The rows of formats.c. */
#define MODEL_ROW(word, format)                                                                              \
    FORMAT_READS(word);                                                                                      \
    bool word##_sniff(const char *text, size_t length)                                                       \
    {                                                                                                        \
        return model_format_of(text, length) == format;                                                      \
    }                                                                                                        \
    const struct lx_graph *word##_read(const char *file, const char *text, size_t length, lx_status *st)     \
    {                                                                                                        \
        return lx_model_import(file, text, length, &(struct lx_import_options){.branch = -1}, NULL, st);     \
    }
MODEL_ROW(ttir_model, MODEL_TTIR)
MODEL_ROW(hlo_model, MODEL_HLO)
MODEL_ROW(onnx_model, MODEL_ONNX)
