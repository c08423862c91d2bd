/* A plan as the snapshot of an allocator, for PyTorch's viewer of memory: one device per pool (LX of a core, all being
 * alike) and, of a graph, one for HBM. Events come tick by tick, frees first; a buffer that goes on in another's place
 * begins when that one is freed. Buffers that are on the same bytes at a time are allocated together (byte_blocks.h), so
 * that nothing is allocated twice. In the end all is free: one inactive block.
 *
 * Events have no times: a frame says which op and tick they belong to. */
#include "export/export_rows.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "plan/byte_blocks.h"

#include <stdlib.h>
#include <string.h>

struct pickle_list {
    struct text *t;
    int in_run;
};

/* Opcodes of pickles; see pickle.h. Integers are little-endian by the format. */

enum opcode {
    PROTO = 0x80,
    MARK = '(',
    STOP = '.',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    LONG1 = 0x8a,
    BINUNICODE = 'X',
    EMPTY_LIST = ']',
    EMPTY_DICT = '}',
    APPENDS = 'e',
    SETITEMS = 'u',
};

enum { MOST_IN_RUN = 1000 };

static void byte(struct text *t, unsigned b)
{
    char c = (char)(b & 0xff);
    text_add_n(t, &c, 1);
}

/* The low bytes first. */
static void bytes(struct text *t, uint64_t n, int count)
{
    for (int i = 0; i < count; i++, n >>= 8) byte(t, (unsigned)(n & 0xff));
}

/* Bytes that two's complement needs. */
static int pickle_width_of(int64_t n)
{
    int width = 1;
    while (width < 8 && (n < -((int64_t)1 << (8 * width - 1)) || n >= (int64_t)1 << (8 * width - 1))) width++;
    return width;
}

static void pickle_int(struct text *t, int64_t n)
{
    if (n >= 0 && n <= 0xffff) {
        byte(t, n <= 0xff ? BININT1 : BININT2);
        bytes(t, (uint64_t)n, n <= 0xff ? 1 : 2);
    } else if (n >= INT32_MIN && n <= INT32_MAX) {
        byte(t, BININT);
        bytes(t, (uint64_t)n, 4);
    } else {
        byte(t, LONG1);
        byte(t, (unsigned)pickle_width_of(n));
        bytes(t, (uint64_t)n, pickle_width_of(n));
    }
}

/* Bytes that are not UTF-8 would make the whole file unreadable. */
static void add_text(struct text *t, const char *s)
{
    for (size_t left = strlen(s); left > 0;) {
        int n = utf8_length(s, left);
        text_add_n(t, n ? s : "?", n ? (size_t)n : 1);
        s += n ? n : 1;
        left -= n ? (size_t)n : 1;
    }
}

static void pickle_string(struct text *t, const char *s)
{
    struct text clean = {0};
    add_text(&clean, s);
    byte(t, BINUNICODE);
    bytes(t, clean.length, 4);
    text_add_n(t, clean.at ? clean.at : "", clean.length);
    text_free(&clean);
}

static void pickle_dict_begin(struct text *t)
{
    byte(t, EMPTY_DICT);
    byte(t, MARK);
}

static void pickle_dict_end(struct text *t)
{
    byte(t, SETITEMS);
}

static void pickle_list_begin(struct pickle_list *l, struct text *t)
{
    *l = (struct pickle_list){.t = t};
    byte(t, EMPTY_LIST);
    byte(t, MARK);
}

static void pickle_list_next(struct pickle_list *l)
{
    if (l->in_run++ < MOST_IN_RUN) return;
    byte(l->t, APPENDS);
    byte(l->t, MARK);
    l->in_run = 1;
}

static void pickle_list_end(struct pickle_list *l)
{
    byte(l->t, APPENDS);
}

/* Something that is allocated and freed. */
struct allocation {
    char *name; /* own */
    int64_t address, size;
    int64_t start, end;
};

struct allocations {
    struct allocation *at;
    size_t count;
    int64_t capacity; /* of the device */
};

struct event {
    int64_t tick;
    bool is_alloc;
    size_t who;
};

static int memory_viz_by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    if (x->is_alloc != y->is_alloc) return x->is_alloc ? 1 : -1;
    return (x->who > y->who) - (x->who < y->who);
}

/* The blocks of a pool, and at least its capacity. */
static bool find_in_pool(const struct lx_plan *p, int32_t pool, struct allocations *out)
{
    struct byte_blocks b;
    byte_blocks_make(p, pool, &b);
    *out = (struct allocations){.at = mem_zeroed(b.count + 1, sizeof *out->at),
                                .capacity = max_i64(lx_pool_capacity(&p->problem, pool), 0)};
    bool ok = out->at != NULL;
    for (size_t i = 0; ok && i < b.count; i++) {
        struct text names = {0};
        add_block_names(p, &b, &b.at[i], &names);
        out->at[out->count++] =
            (struct allocation){names.at, b.at[i].address, b.at[i].size, b.at[i].start, b.at[i].end};
        out->capacity = max_i64(out->capacity, b.at[i].address + b.at[i].size);
    }
    byte_blocks_free(&b);
    return ok;
}

/* Ticks on which a tensor is touched in HBM. */
static void memory_viz_touch(struct allocation *a, int64_t tick)
{
    a->start = min_i64(a->start, tick);
    a->end = max_i64(a->end, tick + 1);
}

static void touch_all(const struct lx_plan *p, struct allocation *all)
{
    const struct lx_graph *g = p->layouts->graph;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            const struct lx_access *x = &p->accesses[a];
            if (x->stay < 0 || p->answer.address[x->stay] < 0) memory_viz_touch(&all[x->tensor], o);
        }
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (lx_through_hbm(p->transfers[i].kind))
            memory_viz_touch(&all[p->stays[p->transfers[i].stay].tensor], p->transfers[i].tick);
}

/* Inputs and outputs live all the time, other tensors from first to last touch. */
static void find_in_hbm(const struct lx_plan *p, struct allocations *out)
{
    const struct lx_graph *g = p->layouts->graph;
    struct allocation *all = mem_zeroed((size_t)g->tensor_count + 1, sizeof *all);
    *out = (struct allocations){.at = all, .capacity = p->segment_bytes};
    for (int32_t t = 0; t < g->tensor_count; t++) all[t] = (struct allocation){.start = INT64_MAX};
    touch_all(p, all);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_layout *l = &p->layouts->layouts[t];
        struct allocation a = all[t];
        /* A touch in one iteration counts for the whole nest. */
        for (int32_t i = 0; i < p->nest_count; i++) {
            if (a.start > p->nests[i].last || a.end <= p->nests[i].first) continue;
            memory_viz_touch(&a, p->nests[i].first);
            memory_viz_touch(&a, p->nests[i].last);
        }
        if (g->tensors[t].role != LX_INTERMEDIATE) a.start = 0, a.end = g->op_count;
        a.address = p->hbm_address[t];
        a.size = l->rank ? lx_layout_bytes(l) : g->tensors[t].bytes;
        if (a.address < 0 || a.size <= 0 || a.start >= a.end) continue;
        a.name = mem_string(g->tensors[t].name);
        out->at[out->count++] = a;
    }
}

/* The op of the tick where ticks are ops. */
static void add_frames(const struct lx_plan *p, struct text *t, const char *name, int64_t tick)
{
    const struct lx_graph *g = p->layouts ? p->layouts->graph : NULL;
    struct pickle_list frames;
    struct text words = {0};
    text_add(&words, name);
    if (g && tick < g->op_count) text_format(&words, ", %s", g->ops[tick].name);
    pickle_string(t, "frames");
    pickle_list_begin(&frames, t);
    pickle_list_next(&frames);
    pickle_dict_begin(t);
    pickle_string(t, "filename");
    pickle_string(t, p->graph->name ? p->graph->name : "");
    pickle_string(t, "name");
    pickle_string(t, words.at ? words.at : "");
    pickle_string(t, "line");
    pickle_int(t, tick);
    pickle_dict_end(t);
    pickle_list_end(&frames);
    text_free(&words);
}

static void memory_viz_add_number(struct text *t, const char *key, int64_t n)
{
    pickle_string(t, key);
    pickle_int(t, n);
}

static void add_event(const struct lx_plan *p, struct pickle_list *l, const char *action,
                      const struct allocation *a, int64_t tick)
{
    pickle_list_next(l);
    pickle_dict_begin(l->t);
    pickle_string(l->t, "action");
    pickle_string(l->t, action);
    memory_viz_add_number(l->t, "addr", a->address);
    memory_viz_add_number(l->t, "size", a->size);
    memory_viz_add_number(l->t, "stream", 0);
    add_frames(p, l->t, a->name, tick);
    pickle_dict_end(l->t);
}

/* In order of time; malloc'ed, NULL when memory is out. */
static struct event *events_of(const struct allocations *a)
{
    struct event *e = mem_zeroed(2 * a->count + 1, sizeof *e);
    for (size_t i = 0; i < a->count; i++) {
        e[2 * i] = (struct event){a->at[i].start, true, i};
        e[2 * i + 1] = (struct event){a->at[i].end, false, i};
    }
    if (a->count) qsort(e, 2 * a->count, sizeof *e, memory_viz_by_time);
    return e;
}

static bool add_trace(const struct lx_plan *p, const struct allocations *a, struct text *t)
{
    struct pickle_list l;
    struct event *e = events_of(a);
    char segment[] = "segment";
    const struct allocation all = {.name = segment, .size = a->capacity};
    pickle_list_begin(&l, t);
    add_event(p, &l, "segment_alloc", &all, e && a->count ? e[0].tick : 0);
    for (size_t i = 0; e && i < 2 * a->count; i++) {
        const struct allocation *one = &a->at[e[i].who];
        if (e[i].is_alloc) add_event(p, &l, "alloc", one, e[i].tick);
        if (e[i].is_alloc) continue;
        add_event(p, &l, "free_requested", one, e[i].tick);
        add_event(p, &l, "free_completed", one, e[i].tick);
    }
    pickle_list_end(&l);
    mem_free(e);
    return e != NULL;
}

static void add_nothing(struct text *t, const char *key)
{
    struct pickle_list l;
    pickle_string(t, key);
    pickle_list_begin(&l, t);
    pickle_list_end(&l);
}

static void add_segment(int device, int64_t capacity, struct text *t)
{
    struct pickle_list blocks;
    pickle_dict_begin(t);
    memory_viz_add_number(t, "device", device);
    memory_viz_add_number(t, "address", 0);
    memory_viz_add_number(t, "total_size", capacity);
    memory_viz_add_number(t, "stream", 0);
    add_nothing(t, "frames");
    pickle_string(t, "blocks");
    pickle_list_begin(&blocks, t);
    pickle_list_next(&blocks);
    pickle_dict_begin(t);
    memory_viz_add_number(t, "size", capacity);
    memory_viz_add_number(t, "requested_size", 0);
    pickle_string(t, "state");
    pickle_string(t, "inactive");
    add_nothing(t, "frames");
    pickle_dict_end(t);
    pickle_list_end(&blocks);
    pickle_dict_end(t);
}

static bool memory_viz_add_all(const struct lx_plan *p, const struct allocations *devices, int count,
                               struct text *t)
{
    struct pickle_list l;
    bool ok = true;
    byte(t, PROTO);
    byte(t, 2);
    pickle_dict_begin(t);
    pickle_string(t, "segments");
    pickle_list_begin(&l, t);
    for (int d = 0; d < count; d++) pickle_list_next(&l), add_segment(d, devices[d].capacity, t);
    pickle_list_end(&l);
    pickle_string(t, "device_traces");
    pickle_list_begin(&l, t);
    for (int d = 0; ok && d < count; d++) pickle_list_next(&l), ok = add_trace(p, &devices[d], t);
    pickle_list_end(&l);
    pickle_dict_end(t);
    byte(t, STOP);
    return ok;
}

bool memory_viz_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    int pools = (int)lx_pool_count(&p->problem), count = pools + (p->layouts != NULL);
    struct allocations *devices = mem_zeroed((size_t)count, sizeof *devices);
    bool ok = true;
    (void)other;
    for (int d = 0; ok && d < pools; d++) ok = find_in_pool(p, d, &devices[d]);
    if (ok && p->layouts) find_in_hbm(p, &devices[pools]);
    ok = ok && memory_viz_add_all(p, devices, count, out);
    for (int d = 0; d < count; d++) {
        for (size_t i = 0; i < devices[d].count; i++) mem_free(devices[d].at[i].name);
        mem_free(devices[d].at);
    }
    mem_free(devices);
    (void)st;
    return ok;
}
