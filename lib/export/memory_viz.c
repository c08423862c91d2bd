/* A plan as the snapshot of an allocator, for PyTorch's viewer of memory: one device per pool (LX of a
 * core, all being alike) and, of a graph, one for HBM. Events come tick by tick, frees first; a buffer
 * that goes on in another's place begins when that one is freed. Buffers that are on the same bytes at a
 * time are allocated together (byte_blocks.h), so that nothing is allocated twice. In the end all is free:
 * one inactive block.
 *
 * * Events have no times: a frame says which op and tick they belong to. */
#include "export/export_rows.h"
#include "plan/byte_blocks.h"

/* Opcodes of pickles. Integers are little-endian by the format. */
#define PROTO      "\x80"
#define STOP       "."
#define BININT     "J"
#define BININT1    "K"
#define BININT2    "M"
#define LONG1      "\x8a"
#define BINUNICODE "X"
#define LIST_BEGIN "](" /* EMPTY_LIST MARK */
#define LIST_END   "e"  /* APPENDS */
#define DICT_BEGIN "}(" /* EMPTY_DICT MARK */
#define DICT_END   "u"  /* SETITEMS */

enum { MOST_IN_RUN = 1000 };

/* Appends opcodes and a number of `count` bytes, low ones first. */
static void pickle_put(struct text *t, const char *opcodes, uint64_t n, int count)
{
    text_add(t, opcodes);
    for (int i = 0; i < count; i++, n >>= 8) text_add_n(t, (char[]){(char)(n & 0xff)}, 1);
}

/* Bytes that are no UTF-8 would make the file unreadable: they become "?". */
static void pickle_string(struct text *t, const char *s)
{
    SCOPED(text_free) struct text clean = {0};
    for (size_t left = strlen(s); left > 0;) {
        int n = utf8_length(s, left);
        text_add_n(&clean, n ? s : "?", n ? (size_t)n : 1);
        s += n ? n : 1;
        left -= n ? (size_t)n : 1;
    }
    pickle_put(t, BINUNICODE, clean.length, 4);
    text_add_n(t, clean.at ? clean.at : "", clean.length);
}

/* Call before element `count` of a list: readers take a limited number of elements at once. */
static void pickle_next(struct text *t, size_t count)
{
    if (count && count % MOST_IN_RUN == 0) text_add(t, LIST_END "(");
}

/* Memory that is allocated and freed. */
struct allocation {
    char *name; /* owned */
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

ORDER(memory_viz_by_time, struct event, ORDER_UP(tick) ORDER_UP(is_alloc) ORDER_UP(who));

/* Extends the ticks on which a tensor is touched in HBM. */
static void viz_touch(struct allocation *a, int64_t tick)
{
    a->start = min_i64(a->start, tick);
    a->end = max_i64(a->end, tick + 1);
}

/* Inputs and outputs live throughout, other tensors from first to last touch. */
static void viz_find_in_hbm(const struct lx_plan *p, struct allocations *out)
{
    const struct lx_graph *g = p->layouts->graph;
    struct allocation *all = mem_zeroed((size_t)g->tensor_count + 1, sizeof *all);
    *out = (struct allocations){.at = all, .capacity = p->segment_bytes};
    for (int32_t t = 0; t < g->tensor_count; t++) all[t] = (struct allocation){.start = INT64_MAX};
    for (int32_t o = 0; o < g->op_count; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            const struct lx_access *x = &p->accesses[a];
            if (x->stay < 0 || p->answer.address[x->stay] < 0) viz_touch(&all[x->tensor], o);
        }
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (lx_through_hbm(p->transfers[i].kind))
            viz_touch(&all[p->stays[p->transfers[i].stay].tensor], p->transfers[i].tick);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_layout *l = &p->layouts->layouts[t];
        struct allocation a = all[t];
        /* A touch in one iteration counts for the whole nest. */
        for (int32_t i = 0; i < p->nest_count; i++) {
            if (a.start > p->nests[i].last || a.end <= p->nests[i].first) continue;
            viz_touch(&a, p->nests[i].first);
            viz_touch(&a, p->nests[i].last);
        }
        if (g->tensors[t].role != LX_INTERMEDIATE) a.start = 0, a.end = g->op_count;
        a.address = p->hbm_address[t];
        a.size = l->rank ? lx_layout_bytes(l) : g->tensors[t].bytes;
        if (a.address < 0 || a.size <= 0 || a.start >= a.end) continue;
        a.name = mem_string(g->tensors[t].name);
        out->at[out->count++] = a;
    }
}

static void viz_add_number(struct text *t, const char *key, int64_t n)
{
    pickle_string(t, key);
    bool small = n >= 0 && n <= 0xffff;
    if (n >= INT32_MIN && n <= INT32_MAX) {
        pickle_put(t,
                   !small      ? BININT
                   : n <= 0xff ? BININT1
                               : BININT2,
                   (uint64_t)n,
                   !small      ? 4
                   : n <= 0xff ? 1
                               : 2);
        return;
    }
    int width = 1; /* bytes in two's complement */
    while (width < 8 && (n < -((int64_t)1 << (8 * width - 1)) || n >= (int64_t)1 << (8 * width - 1))) width++;
    pickle_put(t, LONG1, (uint64_t)width, 1);
    pickle_put(t, "", (uint64_t)n, width);
}

/* A dict with one frame, which names the tick's op if ticks are ops. */
static void viz_add_event(const struct lx_plan *p, struct text *t, const char *action,
                          const struct allocation *a, int64_t tick)
{
    const struct lx_graph *g = p->layouts ? p->layouts->graph : NULL;
    SCOPED(text_free) struct text words = {0};
    text_add(&words, a->name);
    if (g && tick < g->op_count) text_format(&words, ", %s", g->ops[tick].name);
    text_add(t, DICT_BEGIN);
    pickle_string(t, "action");
    pickle_string(t, action);
    viz_add_number(t, "addr", a->address);
    viz_add_number(t, "size", a->size);
    viz_add_number(t, "stream", 0);
    pickle_string(t, "frames");
    text_add(t, LIST_BEGIN DICT_BEGIN);
    pickle_string(t, "filename");
    pickle_string(t, p->graph->name ? p->graph->name : "");
    pickle_string(t, "name");
    pickle_string(t, words.at ? words.at : "");
    viz_add_number(t, "line", tick);
    text_add(t, DICT_END LIST_END DICT_END);
}

/* Events in order of time. */
static void viz_add_trace(const struct lx_plan *p, const struct allocations *a, struct text *t)
{
    OWNED struct event *e = mem_zeroed(2 * a->count + 1, sizeof *e);
    char segment[] = "segment";
    const struct allocation all = {.name = segment, .size = a->capacity};
    size_t n = 1;
    for (size_t i = 0; i < a->count; i++) {
        e[2 * i] = (struct event){a->at[i].start, true, i};
        e[2 * i + 1] = (struct event){a->at[i].end, false, i};
    }
    if (a->count) qsort(e, 2 * a->count, sizeof *e, memory_viz_by_time);
    text_add(t, LIST_BEGIN);
    viz_add_event(p, t, "segment_alloc", &all, a->count ? e[0].tick : 0);
    for (size_t i = 0; i < 2 * a->count; i++) {
        const struct allocation *one = &a->at[e[i].who];
        pickle_next(t, n++);
        viz_add_event(p, t, e[i].is_alloc ? "alloc" : "free_requested", one, e[i].tick);
        if (e[i].is_alloc) continue;
        pickle_next(t, n++);
        viz_add_event(p, t, "free_completed", one, e[i].tick);
    }
    text_add(t, LIST_END);
}

/* One block, free at the end. */
static void viz_add_segment(int device, int64_t capacity, struct text *t)
{
    text_add(t, DICT_BEGIN);
    viz_add_number(t, "device", device);
    viz_add_number(t, "address", 0);
    viz_add_number(t, "total_size", capacity);
    viz_add_number(t, "stream", 0);
    pickle_string(t, "frames");
    text_add(t, LIST_BEGIN LIST_END);
    pickle_string(t, "blocks");
    text_add(t, LIST_BEGIN DICT_BEGIN);
    viz_add_number(t, "size", capacity);
    viz_add_number(t, "requested_size", 0);
    pickle_string(t, "state");
    pickle_string(t, "inactive");
    pickle_string(t, "frames");
    text_add(t, LIST_BEGIN LIST_END DICT_END LIST_END DICT_END);
}

bool memory_viz_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    int pools = (int)lx_pool_count(&p->problem), count = pools + (p->layouts != NULL);
    OWNED struct allocations *devices = mem_zeroed((size_t)count, sizeof *devices);
    (void)other, (void)st;
    for (int d = 0; d < pools; d++) { /* the pool's blocks, at least its capacity */
        struct allocations *a = &devices[d];
        struct byte_blocks b;
        byte_blocks_make(p, d, &b);
        *a = (struct allocations){.at = mem_zeroed(b.count + 1, sizeof *a->at),
                                  .capacity = max_i64(lx_pool_capacity(&p->problem, d), 0)};
        for (size_t i = 0; i < b.count; i++) {
            struct text names = {0};
            add_block_names(p, &b, &b.at[i], &names);
            a->at[a->count++] =
                (struct allocation){names.at, b.at[i].address, b.at[i].size, b.at[i].start, b.at[i].end};
            a->capacity = max_i64(a->capacity, b.at[i].address + b.at[i].size);
        }
        byte_blocks_free(&b);
    }
    if (p->layouts) viz_find_in_hbm(p, &devices[pools]);
    pickle_put(out, PROTO, 2, 1);
    text_add(out, DICT_BEGIN);
    pickle_string(out, "segments");
    text_add(out, LIST_BEGIN);
    for (int d = 0; d < count; d++) pickle_next(out, (size_t)d), viz_add_segment(d, devices[d].capacity, out);
    text_add(out, LIST_END);
    pickle_string(out, "device_traces");
    text_add(out, LIST_BEGIN);
    for (int d = 0; d < count; d++) pickle_next(out, (size_t)d), viz_add_trace(p, &devices[d], out);
    text_add(out, LIST_END DICT_END STOP);
    for (int d = 0; d < count; d++) {
        for (size_t i = 0; i < devices[d].count; i++) mem_free(devices[d].at[i].name);
        mem_free(devices[d].at);
    }
    return true;
}
