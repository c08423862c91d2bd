/* Cancelling, and the slot: who comes home, who is abandoned, and what the one that waits gets. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/slot.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/failing_allocator.h"

/* A worker that offers so many texts, and then goes on until it is cancelled, or does not hear of it for a
 * while. */
struct job {
    int offers;
    bool deaf, out_of_memory, calls, ends;
    atomic_int *ended;
    int *called;
};

static void add_one(void *argument)
{
    ++*(int *)argument;
}

static void *make(void *argument, lx_status *st)
{
    struct job *job = argument;
    (void)st;
    for (int i = 0; i < job->offers; i++) slot_offer(mem_format("offer %d", i));
    if (job->calls) slot_call(add_one, job->called);
    if (job->out_of_memory) memory_out();
    while (job->ends) slot_end_abandoned();
    double began = clock_seconds();
    while (job->deaf ? clock_seconds() < began + 0.5 : !cancel_requested()) usleep(500);
    return mem_string("final");
}

static void end(void *argument)
{
    struct job *job = argument;
    atomic_fetch_add(job->ended, 1);
    mem_free(job);
}

static atomic_int ended;
static int called;

static char *run(struct job asked, bool (*stop)(void *), double seconds, lx_status *st)
{
    struct job *job = mem_alloc(sizeof *job);
    *job = asked;
    job->ended = &ended;
    job->called = &called;
    atomic_store(&ended, 0);
    struct slot_work work = {make, mem_free, end, job, stop, NULL, seconds};
    return slot_run(&work, st);
}

static void wait_for_end(void)
{
    for (int i = 0; i < 5000 && atomic_load(&ended) == 0; i++) usleep(1000);
    assert_int_equal(atomic_load(&ended), 1);
    usleep(20000); /* it frees the slot behind that */
}

static bool yes(void *context)
{
    (void)context;
    return true;
}

static void test_comes_home(void **state)
{
    (void)state;
    lx_status st = {0};
    char *result = run((struct job){.offers = 2, .calls = true}, NULL, 0.01, &st);
    assert_string_equal(result, "final");
    assert_int_equal(called, 1);
    mem_free(result);
    result = run((struct job){0}, yes, 0, &st);
    assert_string_equal(result, "final");
    mem_free(result);
    assert_int_equal(st.code, LX_OK);
}

/* The best offer is taken from who does not hear; without one it is waited for at a deadline, not when it
 * is to stop. */
static void test_abandoned(void **state)
{
    (void)state;
    long before = atomic_load(&allocator.held);
    lx_status st = {0};
    char *result = run((struct job){.offers = 3, .deaf = true}, NULL, 0.01, &st);
    assert_string_equal(result, "offer 2");
    assert_int_equal(atomic_load(&ended), 0);
    mem_free(result);
    wait_for_end();
    result = run((struct job){.offers = 1, .deaf = true}, yes, 0, &st);
    assert_string_equal(result, "offer 0");
    mem_free(result);
    wait_for_end();
    result = run((struct job){.deaf = true}, NULL, 0.01, &st);
    assert_string_equal(result, "final");
    mem_free(result);
    assert_int_equal(st.code, LX_OK);
    assert_null(run((struct job){.deaf = true}, yes, 0, &st));
    assert_int_equal(st.code, LX_E_STOPPED);
    wait_for_end();
    result = run((struct job){.offers = 2, .ends = true}, yes, 0, &st);
    assert_string_equal(result, "offer 1");
    mem_free(result);
    wait_for_end();
    assert_int_equal(atomic_load(&allocator.held), before);
}

/* Memory that is out in the worker is told; memory that is out where it is waited for is freed when the
 * worker has ended; if it is out before there is a worker, the job ends. */
static void test_memory(void **state)
{
    (void)state;
    lx_status st = {0};
    struct border border;
    long before = atomic_load(&allocator.held);
    volatile bool out = false;
    if (border_begin(&border) == 0)
        run((struct job){.out_of_memory = true}, yes, 0, &st);
    else
        out = true;
    assert_true(out);
    usleep(20000);
    if (border_begin(&border) == 0) {
        char *result = run((struct job){.offers = 1, .deaf = true}, NULL, 0.01, &st);
        assert_string_equal(result, "offer 0");
        mem_free(result);
        mem_string("freed");
        memory_out();
    }
    assert_int_equal(atomic_load(&ended), 1);
    usleep(20000);
    allocations_begin(2, 2); /* the first is the job, the second the slot */
    if (border_begin(&border) == 0) run((struct job){0}, yes, 0, &st);
    allocations_end();
    assert_int_equal(atomic_load(&ended), 1);
    assert_int_equal(atomic_load(&allocator.held), before);
}

static void *was_cancelled;

static void look(void *argument)
{
    if (cancel_requested()) was_cancelled = argument;
}

static void test_tokens(void **state)
{
    (void)state;
    struct cancel outer, inner;
    struct thread thread;
    struct border border;
    static int mark;
    assert_false(cancel_requested());
    cancel_begin(&outer, 0);
    cancel_begin(&inner, 1e-9);
    assert_true(cancel_requested());
    cancel_end(&inner);
    assert_false(cancel_requested());
    if (border_begin(&border) == 0) {
        cancel_begin(&inner, 0);
        atomic_store(&inner.requested, true);
        assert_true(cancel_requested());
        memory_out();
    }
    assert_false(cancel_requested());
    atomic_store(&outer.requested, true);
    assert_true(cancel_requested());
    assert_true(thread_start(&thread, look, &mark));
    assert_true(thread_join(&thread));
    assert_ptr_equal(was_cancelled, &mark);
    cancel_end(&outer);
    assert_false(cancel_requested());
}

int main(void)
{
    allocations_begin(0, 0);
    allocations_end();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_home),
        cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
