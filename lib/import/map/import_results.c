/* What a model takes and gives: outputs stored as themselves, arguments that are returned, and the roles
 * of arguments as they are in the pattern in the end. */
#include "import/map/import.h"
#include "import/map/import_together.h"
#include "base/fail.h"

/* A copy that the file asks for (copy of HLO) is one where it is returned. */
static bool result_copied(struct import *im, struct import_value *v)
{
    int dims[VIEW_MAX_RANK];
    struct sketch_operand in = {v->storage, v->view, v->via};
    struct import_value copy;
    for (int d = 0; d < v->type->count; d++) dims[d] = d;
    im->whole_result = true;
    bool ok =
        import_sketch(im, "clone", NULL, v->type->count, v->type->extent, &in, 1, NULL, v->type, dims, &copy);
    im->whole_result = false;
    copy.name = v->name;
    if (ok) *v = copy;
    return ok;
}

static bool result_is_argument(const struct import *im, int32_t storage)
{
    enum lx_role role = storage < 0 ? LX_ROLE_COUNT : im->storages.at[storage].role;
    return role < LX_INTERMEDIATE || role == LX_STATE;
}

/* An argument that is returned unchanged is no work: a tensor, and a note. */
static void result_note_returned(struct import *im, int32_t storage)
{
    struct storage *s = &im->storages.at[storage];
    bool state = s->role == LX_STATE;
    s->stays = true;
    fact_add(&im->notes, state ? "states returned" : "arguments returned unchanged", s->name, 1);
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

int64_t import_result_count(const struct lx_model *m)
{
    const struct model_body *b = &m->bodies.at[m->entry];
    int64_t n = 0;
    for (int i = 0; i < b->result_count; i++) n += model_type_of(m, b->results[i])->leaves;
    return n;
}

/* By tensor of the results: the state whose buffer is to have it, a storage; -1: none. */
static int32_t *result_states_of_results(struct import *im)
{
    int64_t tensors = import_result_count(im->m);
    int32_t *state = arena_array(&im->memory, (size_t)tensors + 1, sizeof *state);
    for (int64_t i = 0; state && i < tensors; i++) state[i] = -1;
    for (int i = 0; state && i < im->m->bodies.at[im->m->entry].argument_count; i++) {
        const struct import_role *r = &im->roles[i];
        if (r->role == LX_STATE && r->output >= 0 && r->output < tensors) state[r->output] = r->storage;
    }
    return state;
}

/* The storage of one result, which is all of it from now on; -1: it is none of its own. An argument is
 * copied that the buffer of another one, `state`, is to have. */
static bool stored_result(struct import *im, int32_t state, struct import_value *of, int32_t *out)
{
    struct import_value v = *of;
    bool returned = v.storage >= 0 && result_is_argument(im, v.storage);
    struct label_place at = {im->sketches.count, im->storages.count, NULL};
    *out = -1;
    im->result_name = "output";
    if (returned && (v.copied || (state >= 0 && state != v.storage)) ? !result_copied(im, &v)
                                                                     : !import_plain(im, &v, NULL))
        return false;
    import_call_it(im, &at, v.name);
    import_keep_cut(im, of, &v);
    *of = v;
    if (v.storage < 0) {
        fact_add(&im->notes, "outputs without elements", NULL, 1);
        return true;
    }
    if (result_is_argument(im, v.storage)) return result_note_returned(im, v.storage), true;
    if (im->storages.at[v.storage].role == LX_OUTPUT)
        fact_add(&im->notes, "outputs returned twice", im->storages.at[v.storage].name, 1);
    else
        import_call_output(im, v.storage, v.name);
    im->storages.at[v.storage].role = LX_OUTPUT;
    *out = v.storage;
    return true;
}

bool import_gather_results(struct import *im, int32_t *results, int *count)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    const int32_t *state = result_states_of_results(im);
    *count = 0;
    for (int i = 0; i < b->result_count; i++)
        for (int k = 0; k < model_type_of(im->m, b->results[i])->leaves; k++) {
            int32_t storage;
            if (!stored_result(im, *state++, import_leaf(im, b->results[i], k), &storage)) return false;
            if (storage >= 0) results[(*count)++] = storage;
        }
    return true;
}

/* Where the pattern differs from what the rule said, why. */
static const char *result_rule_of(const struct import_role *r, enum lx_role role)
{
    if (role == r->role) return r->rule;
    return role == LX_STATE ? "written" : "not written in place";
}

void import_note_arguments(struct import *im)
{
    static const char *const words[] = {[LX_INPUT] = "input", [LX_WEIGHT] = "weight", [LX_STATE] = "state"};
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    for (int i = 0; i < b->argument_count; i++) {
        const struct import_role *r = &im->roles[i];
        const struct model_type *t = model_type_of(im->m, b->arguments[i]);
        enum lx_role role = r->storage >= 0 ? im->storages.at[r->storage].role : r->role;
        if (role != LX_WEIGHT && role != LX_STATE) role = LX_INPUT;
        fact_add(&im->notes, "arguments", words[role], 1);
        fact_add(&im->notes, "argument bytes", words[role], t->bytes);
        fact_add(&im->notes, "rules of roles", result_rule_of(r, role), 1);
        if (t->elements == 0) fact_add(&im->notes, "empty arguments", NULL, 1);
    }
}
