/* Names of tensors and ops, in the words of the file.
 *
 * An op of the file is named by its location, else by its result: an SSA number has its kind before it. Of
 * several pattern ops, the one that makes the result gets the name, the others name/kind. Ops of an inlined
 * body have the name of the call, loop or branch before their own where the file has no location. Names are
 * made unique (#2, #3 ..) when the graph is built: arguments and outputs come first. */
#include "import/map/import.h"

enum { MOST_PATH = 120 };

/* "%12" or "12" */
static bool name_is_number(const char *name)
{
    const char *p = name + (*name == '%');
    while (isdigit((unsigned char)*p)) p++;
    return *p == 0;
}

/* The name of an op without a location. */
static const char *name_own(struct import *im, const struct model_op *op)
{
    const char *made = op->result_count && op->results[0] >= 0 ? im->m->values.at[op->results[0]].name : NULL;
    if (!made || !*made) return op->kind;
    if (!name_is_number(made)) return made;
    const char *sign = im->m->format == MODEL_ONNX ? "_" : "%";
    return arena_format(&im->memory, "%.100s%s%.40s", op->kind, *made == '%' ? "" : sign, made);
}

static const char *name_with_path(struct import *im, const char *name)
{
    return im->path ? arena_format(&im->memory, "%s%.200s", im->path, name) : name;
}

const char *import_op_label(struct import *im, const struct model_op *op)
{
    return op->location ? op->location : name_with_path(im, name_own(im, op));
}

struct label_place import_here(const struct import *im)
{
    return (struct label_place){im->sketches.count, im->storages.count, NULL};
}

struct label_place import_label_begin(struct import *im, const struct model_op *op)
{
    struct label_place at = import_here(im);
    if (!im->m->bodies.at[im->body].derived) im->result_name = at.label = import_op_label(im, op);
    return at;
}

static struct storage *name_made_by(struct import *im, const struct sketch *s)
{
    return &im->storages.at[s->operand[s->input_count].storage];
}

/* Results keep their own names. Other storages are parts of the first result, named by the kind that makes
 * them, or constants. */
void import_label_end(struct import *im, const struct model_op *op, const struct label_place *at)
{
    const char *first = NULL;
    if (!at->label) return;
    for (int r = 0; r < op->result_count; r++)
        for (int k = 0; op->results[r] >= 0 && k < model_type_of(im->m, op->results[r])->leaves; k++) {
            const struct import_value *v = import_leaf(im, op->results[r], k);
            struct storage *s = v->storage >= (int32_t)at->storage ? &im->storages.at[v->storage] : NULL;
            if (r == 0 && k == 0) first = v->name;
            if (!s || s->named) continue;
            if (v->name) s->name = v->name;
            s->part = NULL;
            s->named = true;
        }
    for (size_t i = at->storage; i < im->storages.count; i++) {
        struct storage *s = &im->storages.at[i];
        if (s->named) continue;
        s->name = first ? first : at->label;
        s->part = "constant";
    }
    for (size_t i = at->sketch; i < im->sketches.count; i++) {
        struct storage *s = name_made_by(im, &im->sketches.at[i]);
        if (!s->named && s->part) s->part = im->sketches.at[i].kind;
    }
    for (size_t i = at->storage; i < im->storages.count; i++) im->storages.at[i].named = true;
    for (size_t i = at->sketch; i < im->sketches.count; i++) {
        struct sketch *s = &im->sketches.at[i];
        if (s->name) continue;
        s->name = at->label;
        s->part = name_made_by(im, s)->part;
    }
}

void import_path_enter(struct import *im, const struct model_op *op)
{
    const char *before = im->path ? im->path : "", *own = name_own(im, op);
    if (strlen(before) + strlen(own) >= MOST_PATH) return;
    im->path = arena_format(&im->memory, "%s%s/", before, own);
}

/* ONNX names values; other formats use the location of the op. */
const char *import_value_name(struct import *im, int32_t value)
{
    const struct model_value *v = &im->m->values.at[value];
    if (v->from != FROM_OP || im->m->bodies.at[v->body].derived) return NULL;
    bool by_location =
        im->m->format != MODEL_ONNX && v->op >= 0 && v->op < im->m->bodies.at[v->body].op_count;
    const struct model_op *op = by_location ? &im->m->bodies.at[v->body].ops[v->op] : NULL;
    if (op && op->location) return op->location;
    if (!v->name || !*v->name) return NULL;
    bool bare = im->m->format != MODEL_ONNX && name_is_number(v->name) && *v->name != '%';
    return name_with_path(im, bare ? arena_format(&im->memory, "%%%.40s", v->name) : v->name);
}

void import_call_it(struct import *im, const struct label_place *at, const char *name)
{
    for (size_t i = at->storage; i < im->storages.count; i++) {
        struct storage *s = &im->storages.at[i];
        s->name = name ? name : s->name;
        s->part = NULL;
        s->named = true;
    }
    for (size_t i = at->sketch; i < im->sketches.count; i++)
        im->sketches.at[i].name = name_made_by(im, &im->sketches.at[i])->name;
}

/* Makes a name unique; counts of uses give the next number at once. */
static const char *name_apart(struct import *im, struct names *taken, const char *name, const char *part)
{
    const char *base =
        arena_format(&im->memory, part ? "%.200s/%.40s" : "%.200s", name && *name ? name : "value", part);
    int32_t known = names_find(taken, base), number = (int32_t)im->name_counts.count;
    const char *tried = base;
    while (names_add(taken, tried, number) != NAMES_ADDED)
        tried = arena_format(&im->memory, "%s#%d", base, ++im->name_counts.at[known]);
    VEC_PUSH(&im->name_counts, 1);
    return tried;
}

void import_tensor_name(struct import *im, struct storage *s)
{
    if (s->settled) return;
    s->name = name_apart(im, &im->tensor_names, s->name, s->part);
    s->settled = true;
}

const char *import_op_name(struct import *im, const struct sketch *s)
{
    return name_apart(im, &im->op_names, s->name ? s->name : s->kind, s->name ? s->part : NULL);
}
