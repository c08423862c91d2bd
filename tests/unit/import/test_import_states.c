/* What parameters of HLO hold in the end that outputs are aliased with: outputs that are other parameters, crosswise or
 * in a ring, of tuples within tuples. Graphs of copies and negations are followed op by op: a tensor holds the letter of
 * the parameter that it came from, in capitals if it was negated. */
#include "graph/graph.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

#define PARAMETERS                                                                                           \
    "  a = f32[4,32] parameter(0)\n  b = f32[4,32] parameter(1)\n  c = f32[4,32] parameter(2)\n"
#define T "f32[4,32]"

static const struct aliased {
    const char *alias, *ops;
    const char *states;  /* what a, b and c hold in the end */
    const char *outputs; /* what outputs of their own hold, in the order of tensors */
} rows[] = {
    {"{0}: (1, {}, may-alias), {1}: (0, {}, may-alias)", "  ROOT t = (" T ", " T ") tuple(a, b)\n", "bac",
     ""},
    {"{0}: (0, {}, may-alias), {1}: (1, {}, may-alias)", "  ROOT t = (" T ", " T ") tuple(a, b)\n", "abc",
     ""},
    {"{0}: (1, {}, may-alias), {1}: (2, {}, may-alias), {2}: (0, {}, may-alias)",
     "  ROOT t = (" T ", " T ", " T ") tuple(a, b, c)\n", "cab", ""},
    {"{0}: (1, {}, must-alias)", "  x = " T " negate(b)\n  ROOT t = (" T ", " T ") tuple(a, x)\n", "aac",
     "B"},
    {"{0}: (1, {}, may-alias), {1}: (0, {}, may-alias)",
     "  x = " T " negate(b)\n  ROOT t = (" T ", " T ") tuple(a, x)\n", "Bac", ""},
    /* Returned as it was, too: the new one is another tensor. */
    {"{1}: (0, {}, may-alias)", "  x = " T " negate(b)\n  ROOT t = (" T ", " T ") tuple(a, x)\n", "abc", "B"},
    {"{0}: (0, {}, may-alias)", "  x = " T " copy(b)\n  ROOT t = (" T ", " T ") tuple(x, a)\n", "abc", "b"},
    /* Paths into tuples. */
    {"{0,1}: (0, {}, may-alias), {1}: (1, {}, may-alias)",
     "  s = (" T ", " T ") tuple(c, b)\n  ROOT t = ((" T ", " T "), " T ") tuple(s, a)\n", "bac", ""},
    {"{0,1}: (1, {}, may-alias)",
     "  s = (" T ", " T ") tuple(a, b)\n  ROOT t = ((" T ", " T "), " T ") tuple(s, c)\n", "abc", ""},
    {"{7}: (1, {}, may-alias)", "  ROOT t = (" T ", " T ") tuple(a, b)\n", "abc", ""},
};

static const struct lx_graph *imported(const struct aliased *row)
{
    char text[1000];
    lx_status st = {0};
    snprintf(text, sizeof text, "HloModule m, input_output_alias={ %s }\nENTRY e {\n" PARAMETERS "%s}\n",
             row->alias, row->ops);
    const struct lx_graph *g = lx_graph_of_text("t.hlo", text, strlen(text), &st);
    if (!g) fail_msg("%s: %s", text, st.text);
    return g;
}

static void follow(const struct lx_graph *g, char *holds)
{
    assert_true(g->tensor_count <= MOST);
    for (int32_t t = 0; t < g->tensor_count; t++) holds[t] = g->tensors[t].name[0];
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        char from = holds[op->inputs[0]];
        assert_int_equal(op->input_count, 1);
        bool negates = strcmp(op->kind->name, "neg") == 0;
        if (!negates) assert_string_equal(op->kind->name, "clone");
        holds[op->output] = (char)(negates ? (isupper(from) ? tolower(from) : toupper(from)) : from);
    }
}

static void parameters_hold_what_the_file_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct lx_graph *g = imported(&rows[i]);
        char holds[MOST], states[4] = "abc", outputs[MOST] = "";
        size_t n = 0;
        follow(g, holds);
        for (int32_t t = 0; t < g->tensor_count; t++) {
            if (g->tensors[t].role == LX_OUTPUT) outputs[n++] = holds[t];
            if (strlen(g->tensors[t].name) == 1 && strchr("abc", g->tensors[t].name[0]))
                states[g->tensors[t].name[0] - 'a'] = holds[t];
        }
        if (strcmp(states, rows[i].states) != 0 || strcmp(outputs, rows[i].outputs) != 0)
            fail_msg("row %zu: %s and %s, not %s and %s", i, states, outputs, rows[i].states,
                     rows[i].outputs);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters_hold_what_the_file_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
