/* Snapshots for MemoryViz, read back by a small reader of pickles that knows only what the viewer knows: events replayed,
 * bytes per tick against the plan's, nothing on bytes that are taken, everything free in the end. */
#include "support/export_plans.h"
#include "support/problem_builder.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- Pickles: a stack machine over numbers, texts, lists and dictionaries. ---- */

enum kind { NUMBER, TEXT, LIST, DICT, MARK };

struct value {
    enum kind kind;
    int64_t number;
    char *text;
    struct value *items; /* of a dictionary keys and values in turn */
    size_t count, room;
};

static void value_free(struct value *v)
{
    for (size_t i = 0; i < v->count; i++) value_free(&v->items[i]);
    mem_free(v->items);
    mem_free(v->text);
}

static void push(struct value *to, struct value v)
{
    if (to->count == to->room) {
        to->room = to->room ? 2 * to->room : 4;
        to->items = mem_resize(to->items, to->room * sizeof *to->items);
        assert_non_null(to->items);
    }
    to->items[to->count++] = v;
}

struct reader {
    const unsigned char *at, *end;
};

/* Little-endian. */
static uint64_t take(struct reader *r, int bytes)
{
    uint64_t n = 0;
    assert_true(r->end - r->at >= bytes);
    for (int i = 0; i < bytes; i++) n |= (uint64_t)r->at[i] << (8 * i);
    r->at += bytes;
    return n;
}

static struct value number_of(struct reader *r, int bytes, bool sign)
{
    uint64_t n = take(r, bytes);
    if (sign && bytes < 8 && n >> (8 * bytes - 1)) n |= ~(uint64_t)0 << (8 * bytes);
    return (struct value){.kind = NUMBER, .number = (int64_t)n};
}

static struct value text_of(struct reader *r)
{
    size_t n = (size_t)take(r, 4);
    assert_true((size_t)(r->end - r->at) >= n);
    struct value v = {.kind = TEXT, .text = mem_zeroed(n + 1, 1)};
    memcpy(v.text, r->at, n);
    r->at += n;
    for (size_t i = 0; i < n;) {
        int length = utf8_length(v.text + i, n - i);
        assert_true(length > 0);
        i += (size_t)length;
    }
    return v;
}

/* What stands above the last mark goes into what is below it. */
static void close_run(struct value *stack, enum kind kind)
{
    size_t mark = stack->count;
    while (mark > 0 && stack->items[mark - 1].kind != MARK) mark--;
    assert_true(mark > 1 && stack->items[mark - 2].kind == kind);
    assert_true(stack->count - mark <= 1000);
    for (size_t i = mark; i < stack->count; i++) push(&stack->items[mark - 2], stack->items[i]);
    stack->count = mark - 1;
}

static struct value unpickle(const char *bytes, size_t length)
{
    struct reader r = {(const unsigned char *)bytes, (const unsigned char *)bytes + length};
    struct value stack = {.kind = LIST};
    assert_int_equal(take(&r, 1), 0x80);
    assert_int_equal(take(&r, 1), 2);
    for (;;) {
        unsigned op = (unsigned)take(&r, 1);
        if (op == '.') break;
        switch (op) {
        case '(': push(&stack, (struct value){.kind = MARK}); break;
        case 'J': push(&stack, number_of(&r, 4, true)); break;
        case 'K': push(&stack, number_of(&r, 1, false)); break;
        case 'M': push(&stack, number_of(&r, 2, false)); break;
        case 0x8a: push(&stack, number_of(&r, (int)take(&r, 1), true)); break;
        case 'X': push(&stack, text_of(&r)); break;
        case ']': push(&stack, (struct value){.kind = LIST}); break;
        case '}': push(&stack, (struct value){.kind = DICT}); break;
        case 'e': close_run(&stack, LIST); break;
        case 'u': close_run(&stack, DICT); break;
        default: fail_msg("opcode 0x%02x", op);
        }
    }
    assert_true(r.at == r.end);
    assert_int_equal(stack.count, 1);
    struct value v = stack.items[0];
    mem_free(stack.items);
    return v;
}

static const struct value *key(const struct value *dict, const char *name)
{
    assert_int_equal(dict->kind, DICT);
    for (size_t i = 0; i + 1 < dict->count; i += 2)
        if (strcmp(dict->items[i].text, name) == 0) return &dict->items[i + 1];
    fail_msg("no key %s", name);
    return NULL;
}

/* ---- Replaying. ---- */

struct block {
    int64_t from, to;
};

struct replay {
    struct block blocks[4096];
    size_t count;
    int64_t taken, capacity;
};

static void replay_alloc(struct replay *x, int64_t from, int64_t size)
{
    assert_true(x->count < 4096 && from >= 0 && from + size <= x->capacity);
    for (size_t i = 0; i < x->count; i++)
        if (from < x->blocks[i].to && x->blocks[i].from < from + size)
            fail_msg("[%lld, %lld) is taken", (long long)from, (long long)(from + size));
    x->blocks[x->count++] = (struct block){from, from + size};
    x->taken += size;
}

static void replay_free(struct replay *x, int64_t from, int64_t size)
{
    for (size_t i = 0; i < x->count; i++) {
        if (x->blocks[i].from != from || x->blocks[i].to != from + size) continue;
        x->blocks[i] = x->blocks[--x->count];
        x->taken -= size;
        return;
    }
    fail_msg("nothing to free at %lld", (long long)from);
}

static int64_t tick_of(const struct value *event)
{
    const struct value *frames = key(event, "frames");
    assert_int_equal(frames->count, 1);
    assert_true(key(&frames->items[0], "name")->kind == TEXT &&
                key(&frames->items[0], "filename")->kind == TEXT);
    return key(&frames->items[0], "line")->number;
}

/* One device; `pool` -1: HBM, whose bytes are not counted here. */
static void replay_device(const struct lx_plan *p, const struct value *events, int32_t pool)
{
    static struct replay x;
    x = (struct replay){0};
    assert_string_equal(key(&events->items[0], "action")->text, "segment_alloc");
    x.capacity = key(&events->items[0], "size")->number;
    for (size_t i = 1; i < events->count; i++) {
        const struct value *e = &events->items[i];
        const char *action = key(e, "action")->text;
        int64_t from = key(e, "addr")->number, size = key(e, "size")->number, tick = tick_of(e);
        assert_int_equal(key(e, "stream")->number, 0);
        if (strcmp(action, "alloc") == 0)
            replay_alloc(&x, from, size);
        else if (strcmp(action, "free_requested") == 0) {
            assert_true(i + 1 < events->count);
            assert_string_equal(key(&events->items[i + 1], "action")->text, "free_completed");
            assert_int_equal(key(&events->items[i + 1], "addr")->number, from);
            replay_free(&x, from, size);
        } else
            assert_string_equal(action, "free_completed");
        int64_t next = i + 1 < events->count ? tick_of(&events->items[i + 1]) : INT64_MAX;
        assert_true(tick <= next);
        if (pool >= 0 && next > tick) assert_int_equal(x.taken, bytes_taken(p, pool, tick));
    }
    assert_int_equal(x.taken, 0);
}

static void check_segment(const struct value *s, int device, int64_t capacity)
{
    assert_int_equal(key(s, "device")->number, device);
    assert_int_equal(key(s, "total_size")->number, capacity);
    const struct value *blocks = key(s, "blocks");
    assert_int_equal(blocks->count, 1);
    assert_string_equal(key(&blocks->items[0], "state")->text, "inactive");
    assert_int_equal(key(&blocks->items[0], "size")->number, capacity);
}

static void check_snapshot(const struct lx_plan *p)
{
    size_t length = 0;
    char *bytes = plan_exported(p, "memory_viz", &length);
    struct value v = unpickle(bytes, length);
    const struct value *segments = key(&v, "segments"), *traces = key(&v, "device_traces");
    int32_t pools = lx_pool_count(&p->problem);
    assert_int_equal(segments->count, pools + (p->layouts != NULL));
    assert_int_equal(traces->count, segments->count);
    for (size_t d = 0; d < traces->count; d++) {
        check_segment(&segments->items[d], (int)d, key(&traces->items[d].items[0], "size")->number);
        replay_device(p, &traces->items[d], (int32_t)d < pools ? (int32_t)d : -1);
    }
    value_free(&v);
    mem_free(bytes);
}

static void snapshots_replay(void **state)
{
    (void)state;
    each_export_plan(check_snapshot);
}

/* Numbers of every width, and more items than one run takes. */
static void lists_and_numbers(void **state)
{
    static const int64_t numbers[] = {0,         1,          255,        256,       65535,          65536,
                                      INT32_MAX, 2147483648, 4294967295, 1LL << 40, (1LL << 53) - 1};
    enum { BUFFERS = 1500 };
    struct problem_builder made = problem_begin(LX_SPILL, 1LL << 53, 1);
    int64_t address[BUFFERS];
    int32_t slot[BUFFERS];
    const char *reason[BUFFERS] = {0};
    const size_t widths = sizeof numbers / sizeof *numbers;
    struct lx_list list = {.capacity = 1LL << 53, .alignment = 1};
    struct lx_graph g = {.name = "wide", .list = &list};
    size_t length = 0;
    (void)state;
    for (int32_t i = 0; i < BUFFERS; i++) {
        problem_add(&made, 1, i, i + 1, 0)->name = "\xff\x80 b";
        address[i] = numbers[(size_t)i % widths];
        slot[i] = -1;
    }
    struct lx_plan p = {.graph = &g,
                        .problem = made.problem,
                        .answer = {.address = address},
                        .took_slot_of = slot,
                        .reason = reason};
    char *bytes = plan_exported(&p, "memory_viz", &length);
    struct value v = unpickle(bytes, length);
    const struct value *events = &key(&v, "device_traces")->items[0];
    assert_int_equal(events->count, 1 + 3 * BUFFERS);
    replay_device(&p, events, 0);
    for (int32_t i = 0; i < BUFFERS; i++) {
        const struct value *e = &events->items[1 + 3 * i];
        assert_int_equal(key(e, "addr")->number, address[i]);
        assert_string_equal(key(&key(e, "frames")->items[0], "name")->text, "?? b");
    }
    value_free(&v);
    mem_free(bytes);
    problem_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(snapshots_replay),
                                       cmocka_unit_test(lists_and_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
