/* Tensors that are written where they are.
 *
 * A parameter that the file aliases with an output is a state. Where a chain of inserts and scatters leads
 * from it to the output, these work in its place, and only what is changed moves; else whatever op makes the
 * output writes it there. Who reads the parameter reads what it was, so all of them come before it is
 * written (import_sequence.c moves them up). Where that cannot be, as the writer reads other elements than
 * it writes, or a reader needs what is written, the output is made beside it and copied at the end. And a
 * tensor that an op made for no one but an insert is changed in its place. */
#include "import/map/import.h"
#include "import/map/import_sequence.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct use {
    int32_t writer; /* a sketch; -1: none; -2: more than one */
    int32_t reads;  /* how many there are */
    int32_t now;    /* the storage that it is part of */
    int returned;   /* how often */
    bool walked;
};

struct in_place {
    struct import *im;
    struct use *use; /* by storage */
    bool *may;       /* by sketch: one of a chain that ends in the output of its state */
    struct sequence order;
    bool turn; /* readers may be moved up, and outputs copied */
};

static void in_place_find_uses(struct in_place *p)
{
    struct import *im = p->im;
    for (size_t i = 0; i < im->storages.count; i++) p->use[i] = (struct use){-1, 0, (int32_t)i, 0, false};
    for (size_t i = 0; i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[i];
        struct use *out = &p->use[s->operand[s->input_count].storage];
        for (int k = 0; k < s->input_count; k++) p->use[s->operand[k].storage].reads++;
        out->writer = out->writer == -1 ? (int32_t)i : -2;
    }
}

static void in_place_mark_returned(struct in_place *p)
{
    const struct model_body *b = &p->im->m->bodies.at[p->im->m->entry];
    for (int i = 0; i < b->result_count; i++)
        for (int k = 0; k < model_type_of(p->im->m, b->results[i])->leaves; k++) {
            const struct import_value *v = import_leaf(p->im, b->results[i], k);
            if (v->storage >= 0) p->use[v->storage].returned++;
        }
}

/* Changes all of one tensor to all of another that is like it. */
static bool in_place_is_change(const struct in_place *p, int32_t i)
{
    const struct sketch *s = &p->im->sketches.at[i];
    if (strcmp(s->kind, "dynamic_insert") != 0 && strcmp(s->kind, "scatter") != 0) return false;
    const struct sketch_operand *from = &s->operand[0], *to = &s->operand[s->input_count];
    const struct storage *a = &p->im->storages.at[from->storage], *b = &p->im->storages.at[to->storage];
    bool ok = from->storage != to->storage && p->use[to->storage].writer == i &&
              !p->use[from->storage].returned && a->element == b->element && a->elements == b->elements &&
              view_is_plain(&from->view, a->elements) && view_is_plain(&to->view, b->elements);
    for (int k = 1; k < s->input_count; k++) ok = ok && s->operand[k].storage != from->storage;
    return ok;
}

/* From the output back to the parameter; all of the way or nothing. */
static void in_place_mark_chain(struct in_place *p, int32_t parameter, int32_t output)
{
    int32_t at = output, i;
    size_t mark = sequence_mark(&p->order);
    if (p->use[output].walked) return;
    while (at != parameter) {
        i = p->use[at].writer;
        bool fits = i >= 0 && (at == output || !p->use[at].returned) && in_place_is_change(p, i);
        at = fits ? p->im->sketches.at[i].operand[0].storage : -1;
        if (!fits || !sequence_before(&p->order, at, i, p->turn)) {
            sequence_undo(&p->order, mark);
            return;
        }
    }
    p->use[output].walked = true;
    for (at = output; at != parameter; at = p->im->sketches.at[i].operand[0].storage) {
        i = p->use[at].writer;
        p->may[i] = true;
    }
    p->im->storages.at[parameter].role = LX_STATE;
}

/* Runs that were never cut are still not. */
static void in_place_stay_whole(struct import *im, int32_t storage, int32_t other)
{
    for (int i = 0; i < im->storages.at[other].whole_count; i++)
        (void)import_keep_whole(im, storage, im->storages.at[other].whole[i]);
}

static bool in_place_same_views(const struct view *a, const struct view *b)
{
    bool same = a->rank == b->rank && a->fixed_count == 0 && b->fixed_count == 0;
    for (int d = 0; same && d <= a->rank; d++) same = a->first[d] == b->first[d];
    for (int i = 0; same && i < a->first[a->rank]; i++)
        same = a->atom[i].low == b->atom[i].low && a->atom[i].extent == b->atom[i].extent &&
               a->atom[i].span == 0 && b->atom[i].span == 0;
    return same;
}

/* An op reads what it writes over only element by element. */
static bool in_place_reads_in_step(const struct sketch *s, int32_t storage)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    bool ok = kind && kind->traits & LX_POINTWISE;
    for (int k = 0; k < s->input_count; k++)
        if (s->operand[k].storage == storage)
            ok = ok && in_place_same_views(&s->operand[k].view, &s->operand[s->input_count].view);
    return ok;
}

static bool in_place_is_alike(const struct in_place *p, int32_t parameter, int32_t output)
{
    const struct storage *a = &p->im->storages.at[parameter], *b = &p->im->storages.at[output];
    return p->use[parameter].writer == -1 && !p->use[parameter].returned && b->role == LX_OUTPUT &&
           a->element == b->element && a->elements == b->elements;
}

/* What makes all of an output, when the parameter is no longer needed, may write it in its place. */
static bool in_place_may_stand_for(struct in_place *p, int32_t parameter, int32_t output)
{
    int32_t writer = p->use[output].writer;
    const struct sketch *s = writer >= 0 ? &p->im->sketches.at[writer] : NULL;
    bool reads = false;
    if (!s || s->rank < 0 || s->in_place || s->apart || s->choice_count > 0 || p->use[output].now != output)
        return false;
    for (int k = 0; k < s->input_count; k++) reads |= s->operand[k].storage == parameter;
    return (!reads || in_place_reads_in_step(s, parameter)) &&
           sequence_before(&p->order, parameter, writer, p->turn);
}

static void in_place_stand_for(struct in_place *p, int32_t parameter, int32_t output)
{
    in_place_stay_whole(p->im, parameter, output);
    p->im->storages.at[parameter].role = LX_STATE;
    p->use[output].now = parameter;
}

/* The output is made beside the parameter and copied into it once everything else is done. An output of no
 * other name is none then. */
static bool in_place_copy_over(struct in_place *p, int32_t parameter, int32_t output)
{
    struct import *im = p->im;
    int64_t elements = im->storages.at[output].elements;
    struct sketch s = {.kind = im->copying.alone ? "reshape" : "clone",
                       .rank = im->copying.alone ? -1 : 1,
                       .input_count = 1,
                       .extent = {elements},
                       .name = im->storages.at[parameter].name,
                       .owner = &im->copying,
                       .why = "state"};
    s.operand = arena_array(&im->memory, 2, sizeof *s.operand);
    view_plain(&s.operand[0].view, 1, &elements);
    s.operand[0].storage = p->use[output].now;
    s.operand[1] = s.operand[0];
    s.operand[1].storage = parameter;
    VEC_PUSH(&im->sketches, s);
    sequence_append(&p->order, p->use[output].writer);
    sequence_before(&p->order, parameter, (int32_t)im->sketches.count - 1, true);
    if (p->use[output].returned == 1 && im->storages.at[output].role == LX_OUTPUT)
        im->storages.at[output].role = LX_ROLE_COUNT;
    im->storages.at[parameter].role = LX_STATE;
    return true;
}

static bool in_place_mark_state(struct in_place *p, int32_t x, const struct import_value *y)
{
    struct import *im = p->im;
    if (!y || y->storage < 0 || y->storage == x || im->storages.at[x].role != LX_INPUT ||
        !view_is_plain(&y->view, im->storages.at[y->storage].elements))
        return true;
    in_place_mark_chain(p, x, y->storage);
    if (im->storages.at[x].role != LX_INPUT || !in_place_is_alike(p, x, y->storage)) return true;
    if (in_place_may_stand_for(p, x, y->storage)) return in_place_stand_for(p, x, y->storage), true;
    return !p->turn || p->use[y->storage].writer < 0 || in_place_copy_over(p, x, y->storage);
}

/* First those that fit the order of the file. */
static bool in_place_mark_states(struct in_place *p)
{
    struct import *im = p->im;
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    bool ok = true;
    for (int pass = 0; pass < 2; pass++) {
        p->turn = pass == 1;
        for (int i = 0; ok && i < b->argument_count; i++) {
            const struct import_role *r = &im->roles[i];
            bool one = model_type_of(im->m, b->arguments[i])->leaves == 1;
            const struct import_value *x = one ? import_leaf(im, b->arguments[i], 0) : NULL;
            if (r->role == LX_STATE && r->output >= 0 && x && x->storage >= 0)
                ok = in_place_mark_state(p, x->storage, import_result(im, r->output));
        }
    }
    return ok && sequence_order(&p->order);
}

static bool in_place_any_alias(const struct import *im)
{
    for (int i = 0; i < im->m->bodies.at[im->m->entry].argument_count; i++)
        if (im->roles[i].role == LX_STATE && im->roles[i].output >= 0) return true;
    return false;
}

static bool in_place_find_states(struct in_place *p)
{
    int arguments = p->im->m->bodies.at[p->im->m->entry].argument_count;
    if (!in_place_any_alias(p->im)) return true;
    sequence_make(&p->order, p->im, arguments);
    bool ok = in_place_mark_states(p);
    sequence_free(&p->order);
    return ok;
}

/* Made by one op for this one alone. */
static bool in_place_is_own(const struct in_place *p, int32_t i)
{
    int32_t from = p->im->sketches.at[i].operand[0].storage;
    return p->im->storages.at[from].role == LX_ROLE_COUNT && p->use[from].writer >= 0 &&
           p->use[from].reads == 1 && in_place_is_change(p, i);
}

static void in_place_join(struct in_place *p, const struct sketch *s)
{
    struct import *im = p->im;
    int32_t from = p->use[s->operand[0].storage].now, to = s->operand[s->input_count].storage;
    struct storage *a = &im->storages.at[from], *b = &im->storages.at[to];
    in_place_stay_whole(im, from, to);
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
    p.use = mem_zeroed(im->storages.count + 1, sizeof *p.use);
    size_t arguments = (size_t)im->m->bodies.at[im->m->entry].argument_count;
    p.may = mem_zeroed(im->sketches.count + arguments + 1, sizeof *p.may);
    bool memory = p.use && p.may, ok = memory;
    if (ok) {
        in_place_find_uses(&p);
        in_place_mark_returned(&p);
        ok = in_place_find_states(&p);
    }
    for (size_t i = 0; ok && i < im->sketches.count; i++) {
        struct sketch *s = &im->sketches.at[i];
        if (!s->in_place && s->rank >= 0 && (p.may[i] || in_place_is_own(&p, (int32_t)i)))
            in_place_join(&p, s);
    }
    for (size_t i = 0; ok && i < im->sketches.count; i++)
        for (int k = 0; k <= im->sketches.at[i].input_count; k++)
            im->sketches.at[i].operand[k].storage = p.use[im->sketches.at[i].operand[k].storage].now;
    for (int i = 0; ok && i < *count; i++) {
        int32_t now = p.use[results[i]].now;
        enum lx_role role = im->storages.at[now].role;
        if (role != LX_STATE && role != LX_ROLE_COUNT) results[kept++] = now;
    }
    if (ok) *count = kept;
    mem_free(p.use);
    mem_free(p.may);
    return ok;
}
