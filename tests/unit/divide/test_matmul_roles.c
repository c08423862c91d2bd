/* Columns that only the kernel of a matmul has are columns, however many letters they have: two take the time of one. */
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* x times a weight that lies along the sum: x is the kernel. Microseconds. */
static double predicted(const char *rows, const char *letters)
{
    static const char form[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [{\"name\": \"w\", \"shape\": "
        "[4096, 2048]}, {\"name\": \"x\", \"shape\": [%s, 2048]}, {\"name\": \"y\", \"shape\": [%s, 4096]}], "
        "\"ops\": [{\"name\": \"mm\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"y\", "
        "\"einsum\": \"%sk,dk->%sd\"}]}";
    char text[1000];
    lx_status st = {0};
    int n = snprintf(text, sizeof text, form, rows, rows, letters, letters);
    const struct lx_graph *g = lx_graph_of_text("t", text, (size_t)n, &st);
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FIXED, &st) : NULL;
    struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
    if (!d) fail_msg("%s", st.text);
    double us = d->at[d->count - 1].predicted_us;
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
    return us;
}

static void columns_of_two_letters(void **state)
{
    double one = predicted("2048", "a"), two = predicted("16, 128", "ab");
    (void)state;
    if (two > 1.05 * one) fail_msg("%g us, %g us as one letter", two, one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_of_two_letters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
