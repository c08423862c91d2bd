/* Inserts and scatters whose old tensor nobody reads any more work in its place: their result becomes that tensor, and
 * only what is changed moves. Two cases: a parameter that the file aliases with an output is a state if a chain of such
 * ops leads from it to that output; and a tensor that an op made for no one but the insert. Such a parameter is a state
 * as well where any op writes all of the output when the parameter is no longer needed. Linear in sketches. */
#include "graph/import/import_in_place.h"
#include "graph/import/import_roles.h"
#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

struct use {
    int32_t writer, reads, last; /* sketches; -1: none. More than one writer: -2 */
    int32_t now;                 /* the storage that it is part of */
    bool returned, walked;
};

struct in_place {
    struct import *im;
    struct use *use; /* by storage */
    bool *may;       /* by sketch: one of a chain that ends in the output of its state */
};

static void find_uses(struct in_place *p)
{
    struct import *im = p->im;
    for (size_t i = 0; i < im->storages.count; i++)
        p->use[i] = (struct use){-1, 0, -1, (int32_t)i, false, false};
    for (size_t i = 0; i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[i];
        struct use *out = &p->use[s->operand[s->input_count].storage];
        for (int k = 0; k < s->input_count; k++) {
            p->use[s->operand[k].storage].reads++;
            p->use[s->operand[k].storage].last = (int32_t)i;
        }
        out->writer = out->writer == -1 ? (int32_t)i : -2;
    }
}

static const struct import_value *result_leaf(const struct in_place *p, int64_t output)
{
    struct import *im = p->im;
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    const struct model_type *t = b->result_count == 1 ? model_type_of(im->m, b->results[0]) : NULL;
    int first = 0;
    if (!t || output < 0 || output >= (t->element == MODEL_TUPLE ? t->count : 1)) return NULL;
    for (int64_t i = 0; t->element == MODEL_TUPLE && i < output; i++) first += t->parts[i]->leaves;
    return first < t->leaves ? import_leaf(im, b->results[0], first) : NULL;
}

static void mark_returned(struct in_place *p)
{
    const struct model_body *b = &p->im->m->bodies.at[p->im->m->entry];
    for (int i = 0; i < b->result_count; i++)
        for (int k = 0; k < model_type_of(p->im->m, b->results[i])->leaves; k++) {
            const struct import_value *v = import_leaf(p->im, b->results[i], k);
            if (v->storage >= 0) p->use[v->storage].returned = true;
        }
}

/* Changes all of one tensor to all of another that is like it, which nothing reads below. */
static bool is_last_change(const struct in_place *p, int32_t i)
{
    const struct sketch *s = &p->im->sketches.at[i];
    if (strcmp(s->kind, "dynamic_insert") != 0 && strcmp(s->kind, "scatter") != 0) return false;
    const struct sketch_operand *from = &s->operand[0], *to = &s->operand[s->input_count];
    const struct storage *a = &p->im->storages.at[from->storage], *b = &p->im->storages.at[to->storage];
    bool ok = from->storage != to->storage && p->use[to->storage].writer == i &&
              p->use[from->storage].last == i && !p->use[from->storage].returned &&
              a->element == b->element && a->elements == b->elements &&
              view_is_plain(&from->view, a->elements) && view_is_plain(&to->view, b->elements);
    for (int k = 1; k < s->input_count; k++) ok = ok && s->operand[k].storage != from->storage;
    return ok;
}

/* From the output back to the parameter; all of the way or nothing. */
static void mark_chain(struct in_place *p, int32_t parameter, int32_t output)
{
    int32_t at = output, i;
    if (p->use[output].walked) return;
    p->use[output].walked = true;
    while (at != parameter) {
        i = p->use[at].writer;
        if (i < 0 || (at != output && p->use[at].returned) || !is_last_change(p, i)) return;
        at = p->im->sketches.at[i].operand[0].storage;
    }
    for (at = output; at != parameter; at = p->im->sketches.at[i].operand[0].storage) {
        i = p->use[at].writer;
        p->may[i] = true;
    }
    p->im->storages.at[parameter].role = LX_STATE;
}

/* Runs that were never cut are still not. */
static void stay_whole(struct import *im, int32_t storage, int32_t other)
{
    for (int i = 0; i < im->storages.at[other].whole_count; i++)
        (void)import_keep_whole(im, storage, im->storages.at[other].whole[i]);
}

static bool same_views(const struct view *a, const struct view *b)
{
    bool same = a->rank == b->rank && a->fixed_count == 0 && b->fixed_count == 0;
    for (int d = 0; same && d <= a->rank; d++) same = a->first[d] == b->first[d];
    for (int i = 0; same && i < a->first[a->rank]; i++)
        same = a->atom[i].low == b->atom[i].low && a->atom[i].extent == b->atom[i].extent &&
               a->atom[i].span == 0 && b->atom[i].span == 0;
    return same;
}

/* An op reads what it writes over only element by element. */
static bool reads_in_step(const struct sketch *s, int32_t storage)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    bool ok = kind && kind->traits & LX_POINTWISE;
    for (int k = 0; k < s->input_count; k++)
        if (s->operand[k].storage == storage)
            ok = ok && same_views(&s->operand[k].view, &s->operand[s->input_count].view);
    return ok;
}

/* An output that no op reads, made where the parameter is no longer needed, may stand in its place. What is read more
 * than once stays an input: a state is never kept on chip. */
static bool may_stand_for(const struct in_place *p, int32_t parameter, int32_t output)
{
    const struct use *x = &p->use[parameter], *y = &p->use[output];
    const struct storage *a = &p->im->storages.at[parameter], *b = &p->im->storages.at[output];
    const struct sketch *s = y->writer >= 0 ? &p->im->sketches.at[y->writer] : NULL;
    return s && s->rank >= 0 && !s->in_place && !s->apart && s->choice_count == 0 && b->role == LX_OUTPUT &&
           x->writer == -1 && x->reads <= 1 && y->reads == 0 && !x->returned && a->element == b->element &&
           a->elements == b->elements && x->last <= y->writer &&
           (x->last < y->writer || reads_in_step(s, parameter));
}

static void stand_for(struct in_place *p, int32_t parameter, int32_t output)
{
    stay_whole(p->im, parameter, output);
    p->im->storages.at[parameter].role = LX_STATE;
    p->use[output].now = parameter;
}

static void mark_states(struct in_place *p)
{
    struct import *im = p->im;
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    for (int i = 0; i < b->argument_count; i++) {
        const struct import_role *r = &im->roles[i];
        if (r->role != LX_STATE || r->output < 0 || model_type_of(im->m, b->arguments[i])->leaves != 1)
            continue;
        const struct import_value *x = import_leaf(im, b->arguments[i], 0), *y = result_leaf(p, r->output);
        if (x->storage >= 0 && y && y->storage >= 0 && y->storage != x->storage &&
            im->storages.at[x->storage].role == LX_INPUT &&
            view_is_plain(&y->view, im->storages.at[y->storage].elements))
            mark_chain(p, x->storage, y->storage);
        if (x->storage >= 0 && y && y->storage >= 0 && im->storages.at[x->storage].role == LX_INPUT &&
            view_is_plain(&y->view, im->storages.at[y->storage].elements) &&
            may_stand_for(p, x->storage, y->storage))
            stand_for(p, x->storage, y->storage);
    }
}

/* Made by one op for this one alone. */
static bool is_own(const struct in_place *p, int32_t i)
{
    int32_t from = p->im->sketches.at[i].operand[0].storage;
    return p->im->storages.at[from].role == LX_ROLE_COUNT && p->use[from].writer >= 0 &&
           p->use[from].reads == 1 && is_last_change(p, i);
}

static void join(struct in_place *p, const struct sketch *s)
{
    struct import *im = p->im;
    int32_t from = p->use[s->operand[0].storage].now, to = s->operand[s->input_count].storage;
    struct storage *a = &im->storages.at[from], *b = &im->storages.at[to];
    stay_whole(im, from, to);
    if (a->role == LX_ROLE_COUNT && b->role == LX_OUTPUT) {
        a->role = LX_OUTPUT;
        a->name = b->name;
        a->part = b->part;
    }
    p->use[to].now = from;
}

bool import_in_place(struct import *im, int32_t *results, int *count)
{
    struct in_place p = {.im = im};
    int kept = 0;
    p.use = calloc(im->storages.count + 1, sizeof *p.use);
    p.may = calloc(im->sketches.count + 1, sizeof *p.may);
    bool ok = p.use && p.may;
    if (ok) {
        find_uses(&p);
        mark_returned(&p);
        mark_states(&p);
    }
    for (size_t i = 0; ok && i < im->sketches.count; i++) {
        struct sketch *s = &im->sketches.at[i];
        if (!s->in_place && s->rank >= 0 && (p.may[i] || is_own(&p, (int32_t)i))) join(&p, s);
    }
    for (size_t i = 0; ok && i < im->sketches.count; i++)
        for (int k = 0; k <= im->sketches.at[i].input_count; k++)
            im->sketches.at[i].operand[k].storage = p.use[im->sketches.at[i].operand[k].storage].now;
    for (int i = 0; ok && i < *count; i++) {
        int32_t now = p.use[results[i]].now;
        if (im->storages.at[now].role != LX_STATE) results[kept++] = now;
    }
    if (ok) *count = kept;
    free(p.use);
    free(p.may);
    return ok ? true : status_no_memory(im->st);
}
