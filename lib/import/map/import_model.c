/* The whole way from a model to a graph. Views that get into each other's way are found out when storages
 * are cut; then the sketch is made anew, with these copied. */
#include "import/map/import.h"
#include "import/map/import_together.h"
#include "files/pattern.h"
#include "import/layers/layers.h"
#include "import/devices/devices.h"
#include "import/model_parts.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 40, LAST_ROUNDS = 4 };

/* What the report says of the file. */
struct about {
    char sha256[65];
    const struct model_facts *facts;
};

/* A state is an input until an op writes it. */
static enum lx_role import_role_of(const struct import *im, int argument)
{
    return im->roles[argument].role == LX_WEIGHT ? LX_WEIGHT : LX_INPUT;
}

static const char *import_name_of(const struct model_value *v)
{
    return model_attr_word(&v->attrs, "ttir.name", v->name);
}

static bool import_bind_tensor(struct import *im, int32_t value, enum lx_role role)
{
    const struct model_value *v = &im->m->values.at[value];
    const struct model_type *part = import_part_type(im, value);
    VEC(struct import_value) leaves = {0};
    bool ok = true;
    for (int i = 0; ok && i < v->type->leaves; i++) {
        struct import_value leaf;
        ok = import_fresh(im, import_name_of(v), part ? part : model_leaf_type(v->type, i), NULL, &leaf);
        leaf.name = import_name_of(v);
        if (ok && leaf.storage >= 0) {
            im->storages.at[leaf.storage].role = role;
            im->storages.at[leaf.storage].block = import_block_of(im, v, role);
            im->storages.at[leaf.storage].line = v->line;
            im->storages.at[leaf.storage].column = v->column;
            import_state_argument(im, &leaf, i, v);
        }
        if (ok) VEC_PUSH(&leaves, leaf);
    }
    ok = ok && import_bind(im, value, leaves.at, (int)leaves.count);
    VEC_FREE(&leaves);
    return ok;
}

/* Constants that stand apart from ops: single numbers stay such, the rest are weights. */
static bool import_bind_constants(struct import *im)
{
    for (size_t i = 0; i < im->m->constants.count; i++) {
        int32_t value = im->m->constants.at[i];
        const struct model_value *v = &im->m->values.at[value];
        struct import_value one = {.storage = -1, .type = v->type, .known = v->data, .name = v->name};
        double number;
        if (import_splat(&one, &number) ? !import_bind(im, value, &one, 1)
                                        : !import_bind_tensor(im, value, LX_WEIGHT))
            return false;
    }
    return true;
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
    im->retry = im->spared = im->give_up = false;
    im->order = NULL;
    im->depth = 0;
    im->path = NULL;
    im->name_counts.count = 0;
    im->walked = 0;
    for (size_t b = 0; b < im->m->bodies.count; b++)
        for (int i = 0; i < im->m->bodies.at[b].op_count; i++) {
            struct op_class *c = &im->classes[b][i];
            c->seen = false;
            c->padding = 0;
        }
}

static bool model_sketch(struct import *im, int32_t *results, int *count)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    import_forget(im);
    for (int i = 0; i < b->argument_count; i++) {
        if (!import_bind_tensor(im, b->arguments[i], import_role_of(im, i))) return false;
        bool one = model_type_of(im->m, b->arguments[i])->leaves > 0;
        im->roles[i].storage = one ? import_leaf(im, b->arguments[i], 0)->storage : -1;
    }
    for (size_t i = 0; i < im->storages.count; i++) im->storages.at[i].seen_by = 0; /* but by themselves */
    if (!import_bind_constants(im) || !import_body(im, im->m->entry) ||
        !import_gather_results(im, results, count) || !import_in_place(im, results, count))
        return false;
    import_mark_needed(im, results, *count);
    if (!im->retry) import_cut(im);
    return true;
}

static const struct lx_graph *import_rounds(struct import *im, int32_t *results)
{
    int count = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        im->last = round >= MOST_ROUNDS - LAST_ROUNDS;
        if (im->last || im->give_up) im->options.no_fold = im->short_sticks = true;
        if (!model_sketch(im, results, &count)) return NULL;
        const struct lx_graph *g = im->retry ? NULL : import_build(im);
        if (!im->retry) return g;
    }
    return status_set(im->st, LX_E_INTERNAL, "views of %.80s get into each other's way", im->m->file), NULL;
}

static bool import_begin(struct import *im)
{
    size_t bodies = im->m->bodies.count;
    im->leaf = mem_zeroed(im->m->values.count + 1, sizeof *im->leaf);
    im->classes = mem_zeroed(bodies + 1, sizeof *im->classes);
    for (size_t b = 0; b < bodies; b++) {
        im->classes[b] = mem_zeroed((size_t)im->m->bodies.at[b].op_count + 1, sizeof **im->classes);
    }
    im->roles = mem_zeroed((size_t)im->m->bodies.at[im->m->entry].argument_count + 1, sizeof *im->roles);
    return import_roles(im, im->roles);
}

static void import_finish(struct import *im)
{
    for (size_t b = 0; im->classes && b < im->m->bodies.count; b++) mem_free(im->classes[b]);
    mem_free(im->classes);
    mem_free(im->leaf);
    mem_free(im->roles);
    VEC_FREE(&im->storages);
    VEC_FREE(&im->sketches);
    VEC_FREE(&im->leaves);
    VEC_FREE(&im->aliases);
    VEC_FREE(&im->name_counts);
    names_free(&im->tensor_names);
    names_free(&im->op_names);
    names_free(&im->constants);
    lx_model_facts_free(&im->notes);
    arena_free(&im->memory);
}

static bool import_is_strict(const struct lx_model *m, const struct import_counts *t, lx_status *st)
{
    for (size_t i = 0; i < t->rows.count; i++)
        if (t->rows.at[i].classes[CLASS_GENERIC] > 0)
            return status_set_at(st, LX_E_NO, m->file, 0, 0,
                                 "%lld ops %.80s would be generic; leave out --strict, or change the model",
                                 (long long)t->rows.at[i].classes[CLASS_GENERIC], t->rows.at[i].kind);
    return true;
}

/* What the caller wants to know, and whether that is good enough for it. */
static bool import_judged(struct import *im, const struct lx_graph *g, const struct about *about,
                          char **report)
{
    struct import_counts counts = {0};
    bool ok = import_count(im, &counts) && (!im->options.strict || import_is_strict(im->m, &counts, im->st));
    if (ok && report) {
        import_note_pattern(im, g);
        *report = import_report(im, about->sha256, about->facts, &counts);
    }
    import_counts_free(&counts);
    return ok;
}

static const struct lx_graph *import_model(const struct lx_model *m, const struct lx_import_options *options,
                                           const struct about *about, char **report, lx_status *st)
{
    struct import im = {.m = m, .options = *options, .st = st};
    int32_t *results = mem_zeroed((size_t)import_result_count(m) + 1, sizeof *results);
    const struct lx_graph *g = NULL;
    if (import_find_grid(&im) && import_begin(&im)) g = import_rounds(&im, results);
    if (g && !import_judged(&im, g, about, report)) {
        lx_graph_free(g);
        g = NULL;
    }
    mem_free(results);
    import_finish(&im);
    return g;
}

static struct lx_import_options import_settled(const struct lx_import_options *options)
{
    struct lx_import_options o = *options;
    if (o.trips < 1) o.trips = 1;
    if (o.max_ops < 1) o.max_ops = 100000;
    return o;
}

/* A file that asks for its own number without saying how many there are may be any of them. */
static bool import_has_device(const struct lx_model *m, int64_t device, lx_status *st)
{
    int64_t count = device > 0 ? model_device_count(m) : 1;
    if (device < count || (count == 1 && model_asks_for_number(m))) return true;
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
    struct lx_import_options o = import_settled(options);
    struct layer_limits limits = {o.max_ops, !o.no_expand, o.device, o.team};
    o.model.branch = o.branch + 1;
    struct lx_model *m = lx_model_read(file, text, length, &o.model, st);
    struct model_facts facts = {0};
    struct about about = {.facts = &facts};
    const struct lx_graph *g = NULL;
    if (m && import_has_device(m, o.device, st)) {
        if (report) lx_model_facts(&facts, m);
        if (report) sha256_hex(text, length, about.sha256);
        if (o.team) model_order_devices(m, LX_GRID_AXES);
        model_expand(m, &limits);
        g = import_model(m, &o, &about, report, st);
    }
    if (m && !g) model_add_remedy(m->format, st);
    lx_model_facts_free(&facts);
    lx_model_free(m);
    return g;
}

bool lx_model_sniff(const char *text, size_t length)
{
    return model_format_of(text, length) != MODEL_FORMAT_COUNT;
}

FORMAT_READS(ttir_model);
FORMAT_READS(hlo_model);
FORMAT_READS(onnx_model);

/* The rows of formats.c. */
static const struct lx_graph *import_read_plainly(const char *file, const char *text, size_t length,
                                                  lx_status *st)
{
    static const struct lx_import_options plain = {.branch = -1};
    return lx_model_import(file, text, length, &plain, NULL, st);
}

#define MODEL_ROW(word, format)                                                                              \
    bool word##_sniff(const char *text, size_t length)                                                       \
    {                                                                                                        \
        return model_format_of(text, length) == format;                                                      \
    }                                                                                                        \
    const struct lx_graph *word##_read(const char *file, const char *text, size_t length, lx_status *st)     \
    {                                                                                                        \
        return import_read_plainly(file, text, length, st);                                                  \
    }
MODEL_ROW(ttir_model, MODEL_TTIR)
MODEL_ROW(hlo_model, MODEL_HLO)
MODEL_ROW(onnx_model, MODEL_ONNX)
