/* Tensors written in place, and the order of sketches that this needs.
 *
 * A parameter that the file aliases with an output is a state. If a chain of inserts and scatters leads from
 * the parameter to the output, these work in place; else the op that makes the output overwrites the
 * parameter. Readers of the parameter see its old content, so they come before the writer. If that is
 * impossible, as the writer reads other elements than it writes, or a reader needs the new content, the
 * output is copied at the end. A tensor that an op made for an insert alone is changed in its place.
 *
 * Sketches are made in the order of the file; a reader that must come before an earlier writer is moved up
 * with all its needs. A search of the successor graph visits each sketch once; the work of all searches is
 * limited. */
#include "import/map/import.h"

enum { WORK_PER_SKETCH = 256 };

struct use {
    int32_t writer; /* a sketch; -1: none; -2: more than one */
    int32_t reads;  /* number of readers */
    int32_t now;    /* the storage that it was merged into */
    int returned;   /* number of times */
    bool walked;
};

struct sequence_link {
    int32_t to, next; /* a sketch; the previous link of the list, -1: none */
};

/* Lists begin with their last link. */
struct in_place {
    struct import *im;
    struct use *use;  /* by storage */
    bool *may;        /* by sketch: in a chain that ends in its state's output */
    bool turn;        /* allowed: moving readers up and copying outputs */
    int32_t *after;   /* by sketch: its successors */
    int32_t *readers; /* by storage: its readers */
    int32_t *seen;    /* by sketch: the last search that visited it */
    VEC(struct sequence_link) links;
    VEC(int32_t) stack;
    int32_t search;
    int64_t work;
    bool turned; /* some sketch is built after a later one */
};

/* ---- the order ---- */

static void sequence_link(struct in_place *p, int32_t *list, int32_t to)
{
    VEC_PUSH(&p->links, (struct sequence_link){to, *list});
    *list = (int32_t)p->links.count - 1;
}

static int32_t *sequence_lists(size_t count)
{
    int32_t *list = mem_alloc((count + 1) * sizeof *list);
    for (size_t i = 0; i <= count; i++) list[i] = -1;
    return list;
}

/* Links writers, readers and next writers of each storage. Leaves room for `more` additional sketches. */
static void sequence_make(struct in_place *p, size_t more)
{
    struct import *im = p->im;
    size_t storages = im->storages.count;
    OWNED int32_t *writer = sequence_lists(storages),
                  *since = sequence_lists(storages); /* readers since the last writer */
    p->after = sequence_lists(im->sketches.count + more);
    p->seen = sequence_lists(im->sketches.count + more);
    p->readers = sequence_lists(storages);
    for (size_t i = 0; i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[i];
        int32_t at = (int32_t)i;
        for (int k = 0; k <= s->input_count; k++) {
            int32_t storage = s->operand[k].storage;
            if (writer[storage] >= 0) sequence_link(p, &p->after[writer[storage]], at);
            if (k == s->input_count) continue;
            sequence_link(p, &since[storage], at);
            sequence_link(p, &p->readers[storage], at);
        }
        int32_t made = s->operand[s->input_count].storage;
        for (int32_t r = since[made]; r >= 0; r = p->links.at[r].next)
            if (p->links.at[r].to != at) sequence_link(p, &p->after[p->links.at[r].to], at);
        writer[made] = at;
        since[made] = -1;
    }
}

/* Marks all successors of a sketch. False: too much work. */
static bool sequence_search(struct in_place *p, int32_t sketch)
{
    p->seen[sketch] = ++p->search;
    p->stack.count = 0;
    VEC_PUSH(&p->stack, sketch);
    while (p->stack.count > 0) {
        int32_t at = p->stack.at[--p->stack.count];
        p->work++;
        for (int32_t i = p->after[at]; i >= 0; i = p->links.at[i].next) {
            int32_t to = p->links.at[i].to;
            if (p->seen[to] == p->search) continue;
            p->seen[to] = p->search;
            VEC_PUSH(&p->stack, to);
        }
    }
    return p->work < WORK_PER_SKETCH * (int64_t)(p->im->sketches.count + 64);
}

/* Orders all other readers of the storage before `writer`. False: one of them needs the new content, or is a
 * later sketch while none may be moved up. */
static bool sequence_before(struct in_place *p, int32_t storage, int32_t writer)
{
    bool later = false;
    for (int32_t i = p->readers[storage]; i >= 0; i = p->links.at[i].next)
        later |= p->links.at[i].to > writer;
    if (later && !p->turn) return false;
    if ((later || p->turned) && !sequence_search(p, writer)) return false;
    for (int32_t i = p->readers[storage]; (later || p->turned) && i >= 0; i = p->links.at[i].next)
        if (p->links.at[i].to != writer && p->seen[p->links.at[i].to] == p->search) return false;
    for (int32_t i = p->readers[storage]; i >= 0; i = p->links.at[i].next)
        if (p->links.at[i].to != writer) sequence_link(p, &p->after[p->links.at[i].to], writer);
    p->turned |= later;
    return true;
}

#define SEQUENCE_FIRST(context, a, b) ((a) < (b))

/* Sets `im->order` unless the order of making works: always the first sketch whose predecessors are done. */
static bool sequence_order(struct in_place *p)
{
    size_t n = p->im->sketches.count, ready = 0, done = 0;
    if (!p->turned) return true;
    OWNED int32_t *waits = mem_zeroed(n + 1, sizeof *waits), *heap = mem_alloc((n + 1) * sizeof *heap);
    int32_t *order = arena_array(&p->im->memory, n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++)
        for (int32_t k = p->after[i]; k >= 0; k = p->links.at[k].next) waits[p->links.at[k].to]++;
    for (size_t i = 0; i < n; i++)
        if (waits[i] == 0) heap[ready++] = (int32_t)i; /* ascending: a heap already */
    while (ready > 0) {
        int32_t now = heap[0];
        heap[0] = heap[--ready];
        HEAP_SINK(int32_t, heap, ready, 0, SEQUENCE_FIRST, NULL);
        order[done++] = now;
        for (int32_t k = p->after[now]; k >= 0; k = p->links.at[k].next)
            if (--waits[p->links.at[k].to] == 0) {
                heap[ready++] = p->links.at[k].to;
                HEAP_RISE(int32_t, heap, ready - 1, SEQUENCE_FIRST, NULL);
            }
    }
    p->im->order = done == n ? order : NULL;
    return done == n ? true : status_set(p->im->st, LX_E_INTERNAL, "no order of the ops is left");
}

/* ---- states ---- */

static void in_place_find_uses(struct in_place *p)
{
    struct import *im = p->im;
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    for (size_t i = 0; i < im->storages.count; i++) p->use[i] = (struct use){-1, 0, (int32_t)i, 0, false};
    for (size_t i = 0; i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[i];
        struct use *out = &p->use[s->operand[s->input_count].storage];
        for (int k = 0; k < s->input_count; k++) p->use[s->operand[k].storage].reads++;
        out->writer = out->writer == -1 ? (int32_t)i : -2;
    }
    for (int i = 0; i < b->result_count; i++)
        for (int k = 0; k < model_type_of(im->m, b->results[i])->leaves; k++) {
            int32_t storage = import_leaf(im, b->results[i], k)->storage;
            if (storage >= 0) p->use[storage].returned++;
        }
}

/* Does it replace all of one tensor by all of a like tensor? */
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

/* Marks the chain from the output back to the parameter, if complete. */
static void in_place_mark_chain(struct in_place *p, int32_t parameter, int32_t output)
{
    int32_t at = output, i;
    size_t mark = p->links.count;
    if (p->use[output].walked) return;
    while (at != parameter) {
        i = p->use[at].writer;
        bool fits = i >= 0 && (at == output || !p->use[at].returned) && in_place_is_change(p, i);
        at = fits ? p->im->sketches.at[i].operand[0].storage : -1;
        if (fits && sequence_before(p, at, i)) continue;
        /* A list begins with its last link, and only lists of sketches have grown. */
        for (size_t k = 0; mark < p->links.count && k < p->im->sketches.count; k++)
            while (p->after[k] >= (int32_t)mark) p->after[k] = p->links.at[p->after[k]].next;
        p->links.count = mark;
        return;
    }
    p->use[output].walked = true;
    for (at = output; at != parameter; at = p->im->sketches.at[i].operand[0].storage) {
        i = p->use[at].writer;
        p->may[i] = true;
    }
    p->im->storages.at[parameter].role = LX_STATE;
}

/* Uncut runs stay uncut. */
static void in_place_stay_whole(struct import *im, int32_t storage, int32_t other)
{
    for (int i = 0; i < im->storages.at[other].whole_count; i++)
        (void)import_keep_whole(im, storage, im->storages.at[other].whole[i]);
}

/* May the op that makes all of an output overwrite the parameter? It must read the parameter only element by
 * element, after all other readers. */
static bool in_place_may_replace(struct in_place *p, int32_t parameter, int32_t output)
{
    int32_t writer = p->use[output].writer;
    const struct sketch *s = writer >= 0 ? &p->im->sketches.at[writer] : NULL;
    if (!s || s->rank < 0 || s->in_place || s->apart || s->choice_count > 0 || p->use[output].now != output)
        return false;
    const struct lx_kind *kind = lx_kind_find(s->kind);
    bool points = kind && kind->traits & LX_POINTWISE;
    for (int k = 0; k < s->input_count; k++)
        if (s->operand[k].storage == parameter &&
            !(points && view_same(&s->operand[k].view, &s->operand[s->input_count].view) &&
              !view_is_part(&s->operand[k].view)))
            return false;
    return sequence_before(p, parameter, writer);
}

/* Copies the output into the parameter at the end. An output returned only there becomes an intermediate. */
static void in_place_copy_over(struct in_place *p, int32_t parameter, int32_t output)
{
    struct import *im = p->im;
    int64_t elements = im->storages.at[output].elements;
    struct sketch s = {.input_count = 1, .extent = {elements}, .owner = &im->copying, .why = "state"};
    s.kind = im->copying.alone ? "reshape" : "clone";
    s.rank = im->copying.alone ? -1 : 1;
    s.name = im->storages.at[parameter].name;
    s.operand = arena_array(&im->memory, 2, sizeof *s.operand);
    view_plain(&s.operand[0].view, 1, &elements);
    s.operand[0].storage = p->use[output].now;
    s.operand[1] = s.operand[0];
    s.operand[1].storage = parameter;
    VEC_PUSH(&im->sketches, s);
    int32_t last = (int32_t)im->sketches.count - 1;
    sequence_link(p, &p->after[p->use[output].writer], last);
    sequence_before(p, parameter, last);
    if (p->use[output].returned == 1 && im->storages.at[output].role == LX_OUTPUT)
        im->storages.at[output].role = LX_ROLE_COUNT;
    im->storages.at[parameter].role = LX_STATE;
}

static void in_place_mark_state(struct in_place *p, int32_t x, const struct import_value *y)
{
    struct import *im = p->im;
    if (!y || y->storage < 0 || y->storage == x || im->storages.at[x].role != LX_INPUT ||
        !view_is_plain(&y->view, im->storages.at[y->storage].elements))
        return;
    in_place_mark_chain(p, x, y->storage);
    const struct storage *a = &im->storages.at[x], *b = &im->storages.at[y->storage];
    if (a->role != LX_INPUT || p->use[x].writer != -1 || p->use[x].returned || b->role != LX_OUTPUT ||
        a->element != b->element || a->elements != b->elements)
        return;
    if (in_place_may_replace(p, x, y->storage)) {
        in_place_stay_whole(im, x, y->storage);
        im->storages.at[x].role = LX_STATE;
        p->use[y->storage].now = x;
    } else if (p->turn && p->use[y->storage].writer >= 0)
        in_place_copy_over(p, x, y->storage);
}

/* First tries states that fit the file's order. */
static bool in_place_find_states(struct in_place *p)
{
    struct import *im = p->im;
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    bool any = false;
    for (int i = 0; i < b->argument_count; i++)
        any |= im->roles[i].role == LX_STATE && im->roles[i].output >= 0;
    if (!any) return true;
    sequence_make(p, (size_t)b->argument_count);
    for (int pass = 0; pass < 2; pass++) {
        p->turn = pass == 1;
        for (int i = 0; i < b->argument_count; i++) {
            const struct import_role *r = &im->roles[i];
            if (r->role != LX_STATE || r->output < 0 || model_type_of(im->m, b->arguments[i])->leaves != 1)
                continue;
            int32_t x = import_leaf(im, b->arguments[i], 0)->storage;
            if (x >= 0) in_place_mark_state(p, x, import_result(im, r->output));
        }
    }
    bool ok = sequence_order(p);
    mem_free(p->after);
    mem_free(p->readers);
    mem_free(p->seen);
    VEC_FREE(&p->links);
    VEC_FREE(&p->stack);
    return ok;
}

/* The first operand of a change becomes its result. */
bool import_in_place(struct import *im, int32_t *results, int *count)
{
    struct in_place p = {.im = im};
    int kept = 0;
    size_t arguments = (size_t)im->m->bodies.at[im->m->entry].argument_count;
    p.use = mem_zeroed(im->storages.count + 1, sizeof *p.use);
    p.may = mem_zeroed(im->sketches.count + arguments + 1, sizeof *p.may);
    in_place_find_uses(&p);
    bool ok = in_place_find_states(&p);
    for (size_t i = 0; ok && i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[i];
        int32_t from = s->input_count > 0 ? s->operand[0].storage : -1;
        if (s->in_place || s->rank < 0 || from < 0) continue;
        bool own = im->storages.at[from].role == LX_ROLE_COUNT && p.use[from].writer >= 0 &&
                   p.use[from].reads == 1; /* made by one op for this one only */
        if (!p.may[i] && !(own && in_place_is_change(&p, (int32_t)i))) continue;
        int32_t now = p.use[from].now, to = s->operand[s->input_count].storage;
        struct storage *a = &im->storages.at[now], *b = &im->storages.at[to];
        in_place_stay_whole(im, now, to);
        if (a->role == LX_ROLE_COUNT && b->role == LX_OUTPUT) {
            a->role = LX_OUTPUT;
            a->name = b->name;
            a->part = b->part;
        }
        p.use[to].now = now;
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
