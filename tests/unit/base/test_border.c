/* Borders: what is freed, what is kept, and in which order, when memory is out. */
#include "base/arena.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/users.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/failing_allocator.h"

static long in_use(void)
{
    return atomic_load(&allocator.held);
}

static void test_unwinding_frees(void **state)
{
    (void)state;
    struct border border;
    char *volatile outside = mem_string("outside");
    long before = in_use();
    volatile bool out = false;
    if (border_begin(&border) == 0) {
        struct arena arena = {0};
        VEC(int) list = {0};
        for (int i = 0; i < 1000; i++) VEC_PUSH(&list, i);
        arena_string(&arena, "inside");
        char *text = mem_format("%s %d", "a text", 7);
        assert_string_equal(text, "a text 7");
        mem_free(mem_aligned(4096, 100));
        assert_int_equal((uintptr_t)mem_aligned(256, 3) % 256, 0);
        outside = mem_resize(outside, 100000);
        outside = mem_resize(outside, 8);
        mem_zeroed(SIZE_MAX / 2, 3);
    } else {
        out = true;
    }
    assert_true(out);
    assert_int_equal(in_use(), before);
    assert_string_equal(outside, "outside");
    mem_free(outside);
}

/* Sizes that no machine has unwind, and what was there before stays. */
static void test_impossible_sizes(void **state)
{
    (void)state;
    struct border border;
    struct arena arena = {0};
    struct text text = {0};
    VEC(int) list = {0};
    volatile int out = 0;
    VEC_PUSH(&list, 7);
    text_add(&text, "text");
    arena_alloc(&arena, 8);
    for (volatile int i = 0; i < 6; i++) {
        if (border_begin(&border) == 0) {
            if (i == 0) arena_alloc(&arena, SIZE_MAX);
            if (i == 1) arena_alloc(&arena, SIZE_MAX / 2);
            if (i == 2) arena_array(&arena, SIZE_MAX / 2, 3);
            if (i == 3) arena_array(&arena, (size_t)1 << 33, (size_t)1 << 33);
            if (i == 4) VEC_RESERVE(&list, SIZE_MAX / 2);
            if (i == 5) text_pad(&text, ' ', SIZE_MAX - 100);
            border_end(&border);
        } else {
            out++;
        }
    }
    assert_int_equal(out, 6);
    assert_string_equal(text.at, "text");
    assert_int_equal(list.at[0], 7);
    assert_non_null(arena_alloc(&arena, 8));
    arena_free(&arena);
    text_free(&text);
    VEC_FREE(&list);
}

/* A real failure: each allocation of the loop in turn. */
static void test_each_allocation(void **state)
{
    (void)state;
    struct border border;
    long before = in_use();
    for (volatile long n = 1, out = 1; out; n++) {
        allocations_begin(n, n);
        if (border_begin(&border) == 0) {
            struct arena arena = {0};
            VEC(char *) texts = {0};
            for (int i = 0; i < 20; i++)
                VEC_PUSH(&texts, i % 2 ? mem_string("a") : arena_string(&arena, "b"));
            for (size_t i = 1; i < texts.count; i += 2) mem_free(texts.at[i]);
            VEC_FREE(&texts);
            arena_free(&arena);
            border_end(&border);
            out = 0;
        }
        allocations_end();
        assert_int_equal(in_use(), before);
    }
}

static void test_borders_nest(void **state)
{
    (void)state;
    struct border outer, inner;
    long before = in_use();
    volatile int out = 0;
    if (border_begin(&outer) == 0) {
        char *volatile kept = NULL;
        if (border_begin(&inner) == 0) {
            kept = mem_string("kept");
            border_end(&inner);
        }
        if (border_begin(&inner) == 0) {
            mem_alloc(77);
            memory_out();
        } else {
            out++;
        }
        assert_string_equal(kept, "kept");
        memory_out();
    } else {
        out++;
    }
    assert_int_equal(out, 2);
    assert_int_equal(in_use(), before);
    char *volatile released = NULL;
    if (border_begin(&outer) == 0) {
        if (border_begin(&inner) == 0) {
            released = mem_string("released");
            border_end_released(&inner);
        }
        memory_out();
    }
    assert_string_equal(released, "released");
    mem_free(released);
    assert_int_equal(in_use(), before);
}

static char order[8];

static void note_order(void *argument)
{
    strncat(order, argument, 1);
}

static void test_deferred(void **state)
{
    (void)state;
    struct border border;
    struct deferred a, b, c, d;
    static char names[] = "abcd";
    defer(&a, note_order, names);
    if (border_begin(&border) == 0) {
        defer(&b, note_order, names + 1);
        defer(&c, note_order, names + 2);
        defer(&d, note_order, names + 3);
        defer_drop(&c);
        memory_out();
    }
    assert_string_equal(order, "db");
    defer_end(&a);
    assert_string_equal(order, "dba");
}

static void test_keeping(void **state)
{
    (void)state;
    struct border border;
    struct arena arena = {0};
    long before = in_use();
    if (border_begin_keeping(&border) == 0) {
        arena_string(&arena, "kept");
        memory_out();
    }
    assert_non_null(arena.head);
    arena_free(&arena);
    assert_int_equal(in_use(), before);
}

struct shared {
    struct arena memory;
    struct users *users;
    int freed;
};

static void release(const void *thing)
{
    struct shared *shared;
    memcpy(&shared, &(const void *){thing}, sizeof shared);
    if (users_remove(shared->users)) shared->freed++;
}

static void test_references(void **state)
{
    (void)state;
    struct shared shared = {0};
    struct border outer, inner;
    shared.users = users_new(&shared.memory, &shared, release);
    if (border_begin(&outer) == 0) {
        users_add(shared.users);
        if (border_begin(&inner) == 0) {
            users_add(shared.users);
            users_add(shared.users);
            release(&shared);
            border_end(&inner);
        }
        assert_int_equal(atomic_load(&shared.users->count), 3);
        memory_out();
    }
    assert_int_equal(atomic_load(&shared.users->count), 1);
    release(&shared);
    assert_int_equal(shared.freed, 1);
    arena_free(&shared.memory);
}

enum { THREADS = 4, ROUNDS = 20000 };
static void *_Atomic mailbox[THREADS];

static void swap_blocks(void *argument)
{
    int self = *(int *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        char *mine = mem_alloc((size_t)(16 + i % 100));
        mem_free(atomic_exchange(&mailbox[(self + i) % THREADS], mine));
    }
    if (self == 3) memory_out();
}

/* Threads free each other's blocks; one runs out of memory, which frees its own. */
static void test_threads(void **state)
{
    (void)state;
    struct border border;
    struct thread threads[THREADS];
    int number[THREADS], ended = 0;
    char *volatile kept = NULL;
    if (border_begin(&border) == 0) {
        for (int i = 0; i < THREADS - 1; i++) {
            number[i] = i;
            assert_true(thread_start(&threads[i], swap_blocks, &number[i]));
        }
        for (int i = 0; i < THREADS - 1; i++) ended += thread_join(&threads[i]);
        assert_int_equal(ended, THREADS - 1);
        number[3] = 3;
        for (int i = 0; i < THREADS; i++) mem_free(atomic_exchange(&mailbox[i], NULL));
        kept = mem_string("kept");
        border_end(&border);
    }
    assert_string_equal(kept, "kept");
    mem_free(kept);
}

static void run_out(void *argument)
{
    mem_string(argument);
    memory_out();
}

static void make_text(void *argument)
{
    *(char **)argument = mem_string("made");
}

static void thread_results_round(void)
{
    static char words[] = "words";
    struct border border;
    struct thread bad, good;
    static char *made;
    volatile bool out = false;
    if (border_begin(&border) == 0) {
        thread_start(&good, make_text, &made);
        thread_start(&bad, run_out, words);
        bool ok = thread_join(&bad);
        assert_true(thread_join(&good));
        assert_string_equal(made, "made");
        assert_false(ok);
        memory_out();
    } else {
        out = true;
    }
    assert_true(out);
}

static void test_thread_results(void **state)
{
    (void)state;
    thread_results_round(); /* makes what the C library keeps of threads */
    long before = in_use();
    thread_results_round();
    assert_int_equal(in_use(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unwinding_frees),  cmocka_unit_test(test_each_allocation),
        cmocka_unit_test(test_impossible_sizes), cmocka_unit_test(test_borders_nest),
        cmocka_unit_test(test_deferred),         cmocka_unit_test(test_keeping),
        cmocka_unit_test(test_references),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_thread_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
