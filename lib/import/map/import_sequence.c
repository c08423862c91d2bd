/* The order of sketches. They are made in the order of the file; where one writes over a tensor that a
 * later one reads as it was, the reader is moved up, with all that it needs, unless it needs what is
 * written: then nothing is changed and the caller makes a copy. A graph of who comes after whom is
 * searched for that; a search goes over each sketch once, and all of them together are limited. In the end
 * the first sketch that may come is the next. */
#include "import/map/import_sequence.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

enum { WORK_PER_SKETCH = 256 };

static void sequence_link_to(struct sequence *q, int32_t *list, int32_t to)
{
    struct sequence_link l = {to, *list};
    VEC_PUSH(&q->links, l);
    *list = (int32_t)q->links.count - 1;
}

/* What was written last to each storage, and who has read it since. */
struct last_access {
    int32_t *writer, *readers;
};

static void sequence_link_reader(struct sequence *q, struct last_access *a, int32_t storage, int32_t sketch)
{
    if (a->writer[storage] >= 0) sequence_link_to(q, &q->after[a->writer[storage]], sketch);
    sequence_link_to(q, &a->readers[storage], sketch);
    sequence_link_to(q, &q->readers[storage], sketch);
}

static void sequence_link_writer(struct sequence *q, struct last_access *a, int32_t storage, int32_t sketch)
{
    if (a->writer[storage] >= 0) sequence_link_to(q, &q->after[a->writer[storage]], sketch);
    for (int32_t i = a->readers[storage]; i >= 0; i = q->links.at[i].next)
        if (q->links.at[i].to != sketch) sequence_link_to(q, &q->after[q->links.at[i].to], sketch);
    a->writer[storage] = sketch;
    a->readers[storage] = -1;
}

static int32_t *sequence_none(size_t count)
{
    int32_t *list = mem_alloc((count + 1) * sizeof *list);
    for (size_t i = 0; i <= count; i++) list[i] = -1;
    return list;
}

void sequence_make(struct sequence *q, struct import *im, int more)
{
    size_t sketches = im->sketches.count + (size_t)more, storages = im->storages.count;
    struct last_access a = {sequence_none(storages), sequence_none(storages)};
    *q = (struct sequence){.im = im,
                           .after = sequence_none(sketches),
                           .readers = sequence_none(storages),
                           .seen = sequence_none(sketches)};
    for (size_t i = 0; i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[i];
        for (int k = 0; k < s->input_count; k++)
            sequence_link_reader(q, &a, s->operand[k].storage, (int32_t)i);
        sequence_link_writer(q, &a, s->operand[s->input_count].storage, (int32_t)i);
    }
    mem_free(a.writer);
    mem_free(a.readers);
}

void sequence_free(struct sequence *q)
{
    mem_free(q->after);
    mem_free(q->readers);
    mem_free(q->seen);
    VEC_FREE(&q->links);
    VEC_FREE(&q->stack);
}

static void sequence_visit(struct sequence *q, int32_t sketch)
{
    if (q->seen[sketch] == q->search) return;
    q->seen[sketch] = q->search;
    q->work++;
    VEC_PUSH(&q->stack, sketch);
}

/* Marks all that comes after a sketch. False: that took too long. */
static bool sequence_search_from(struct sequence *q, int32_t sketch)
{
    q->search++;
    q->stack.count = 0;
    sequence_visit(q, sketch);
    while (q->stack.count > 0) {
        int32_t at = q->stack.at[--q->stack.count];
        for (int32_t i = q->after[at]; i >= 0; i = q->links.at[i].next) sequence_visit(q, q->links.at[i].to);
    }
    return q->work < WORK_PER_SKETCH * (int64_t)(q->im->sketches.count + 64);
}

bool sequence_before(struct sequence *q, int32_t storage, int32_t writer, bool turn)
{
    bool later = false;
    for (int32_t i = q->readers[storage]; i >= 0; i = q->links.at[i].next)
        later |= q->links.at[i].to > writer;
    if (later && !turn) return false;
    if ((later || q->turned) && !sequence_search_from(q, writer)) return false;
    for (int32_t i = q->readers[storage]; (later || q->turned) && i >= 0; i = q->links.at[i].next)
        if (q->links.at[i].to != writer && q->seen[q->links.at[i].to] == q->search) return false;
    for (int32_t i = q->readers[storage]; i >= 0; i = q->links.at[i].next)
        if (q->links.at[i].to != writer) sequence_link_to(q, &q->after[q->links.at[i].to], writer);
    q->turned |= later;
    return true;
}

void sequence_append(struct sequence *q, int32_t writer)
{
    sequence_link_to(q, &q->after[writer], (int32_t)q->im->sketches.count - 1);
}

size_t sequence_mark(const struct sequence *q)
{
    return q->links.count;
}

/* A list ends with what was added to it last, and lists of sketches alone grow after the beginning. */
void sequence_undo(struct sequence *q, size_t mark)
{
    for (size_t i = 0; mark < q->links.count && i < q->im->sketches.count; i++)
        while (q->after[i] >= (int32_t)mark) q->after[i] = q->links.at[q->after[i]].next;
    q->links.count = mark;
}

/* A heap of sketches, the first on top. */
static void sequence_sift_up(int32_t *heap, size_t at)
{
    while (at > 0 && heap[(at - 1) / 2] > heap[at]) {
        int32_t swap = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

static int32_t sequence_take_first(int32_t *heap, size_t *count)
{
    int32_t first = heap[0], last = heap[--*count];
    size_t at = 0, next;
    while ((next = 2 * at + 1) < *count) {
        if (next + 1 < *count && heap[next + 1] < heap[next]) next++;
        if (heap[next] >= last) break;
        heap[at] = heap[next];
        at = next;
    }
    heap[at] = last;
    return first;
}

static size_t sequence_in_order(const struct sequence *q, int32_t *waits, int32_t *heap, int32_t *order)
{
    size_t n = q->im->sketches.count, ready = 0, done = 0;
    for (size_t i = 0; i < n; i++)
        for (int32_t k = q->after[i]; k >= 0; k = q->links.at[k].next) waits[q->links.at[k].to]++;
    for (size_t i = 0; i < n; i++)
        if (waits[i] == 0) heap[ready++] = (int32_t)i; /* ascending: a heap already */
    while (ready > 0) {
        int32_t now = sequence_take_first(heap, &ready);
        order[done++] = now;
        for (int32_t k = q->after[now]; k >= 0; k = q->links.at[k].next)
            if (--waits[q->links.at[k].to] == 0) {
                heap[ready] = q->links.at[k].to;
                sequence_sift_up(heap, ready++);
            }
    }
    return done;
}

bool sequence_order(struct sequence *q)
{
    size_t n = q->im->sketches.count;
    if (!q->turned) return true;
    int32_t *waits = mem_zeroed(n + 1, sizeof *waits), *heap = mem_alloc((n + 1) * sizeof *heap);
    int32_t *order = arena_array(&q->im->memory, n + 1, sizeof *order);
    bool memory = waits && heap && order, ok = memory && sequence_in_order(q, waits, heap, order) == n;
    q->im->order = ok ? order : NULL;
    mem_free(waits);
    mem_free(heap);
    return ok ? true : status_set(q->im->st, LX_E_INTERNAL, "no order of the ops is left");
}
