/* LOG both ways, whatever this build is: compiled out it evaluates nothing, compiled in it reaches the
 * function of its own thread only. */
#undef LXPLAN_LOGGING
#include "base/log.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char heard[500];
static int calls, evaluated;

static void hear(void *context, const char *pass, const char *line)
{
    calls++;
    snprintf(heard, sizeof heard, "%s %s: %s", (const char *)context, pass, line);
}

static int value(void)
{
    evaluated++;
    return 7;
}

static void say_nothing(void)
{
    LOG(evict, "cut %d", value());
}

#undef LOG_COMPILED
#define LOG_COMPILED 1

static void say(void)
{
    LOG(evict, "cut %d", value());
}

static void start(void)
{
    heard[0] = 0;
    calls = evaluated = 0;
}

static void out_means_out(void **state)
{
    (void)state;
    start();
    log_to(hear, "A");
    say_nothing();
    assert_int_equal(calls, 0);
    assert_int_equal(evaluated, 0);
    log_to(NULL, NULL);
}

static void in_reaches_its_function(void **state)
{
    (void)state;
    start();
    say();
    assert_int_equal(evaluated, 0); /* nobody listens: not evaluated either */
    log_to(hear, "A");
    say();
    assert_int_equal(calls, 1);
    assert_int_equal(evaluated, 1);
    assert_string_equal(heard, "A evict: cut 7");
    log_to(NULL, NULL);
    say();
    assert_int_equal(calls, 1);
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    start();
    log_to(hear, "A");
    LOG(evict, "%600d", 1);
    assert_int_equal(strlen(heard), strlen("A evict: ") + 399);
    log_to(NULL, NULL);
}

static void *other_thread(void *nothing)
{
    say();
    log_to(hear, "B");
    say();
    return nothing;
}

static void threads_have_their_own(void **state)
{
    pthread_t thread;
    (void)state;
    start();
    log_to(hear, "A");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(calls, 1);
    assert_string_equal(heard, "B evict: cut 7");
    say();
    assert_string_equal(heard, "A evict: cut 7");
    log_to(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_means_out),
        cmocka_unit_test(in_reaches_its_function),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(threads_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
