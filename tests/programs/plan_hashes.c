/* plan_hashes FILE ...: plans each pattern with several solvers and options and prints one line per plan: the SHA-256
 * of its file, how it was asked for, and the pattern. Nothing in the lines depends on the machine or the time, so that two
 * machines can be compared line by line (tests/foreign/run.sh). Each plan is also read back, checked, and written again.
 *
 * Exit: 0; 1 a plan that is not read back as it was; 2 an option that is none; 3 no memory. */
#include "unstable.h"
#include "base/memory.h"
#include "base/hash.h"
#include "solvers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 4 };

/* How plans are asked for: names and values of options; and the most ops of a graph that is, as some ways take long on
 * a machine that is emulated. */
static const struct {
    const char *words[MOST_WORDS][2];
    int32_t most_ops;
} asked[] = {
    {{{NULL, NULL}}, INT32_MAX},
    {{{"solver", "greedy"}}, INT32_MAX},
    {{{"solver", "bestfit"}, {"objective", "time"}}, 12},
    {{{"solver", "exact"}, {"work", "20k"}}, INT32_MAX},
    {{{"solver", "anneal"}, {"seed", "7"}, {"work", "20k"}}, INT32_MAX},
    {{{"solver", "greedy"}, {"cooptimise", "full"}, {"lx", "40%"}}, 12},
};

enum { ASKED = sizeof asked / sizeof *asked };

static void describe(int k, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s", asked[k].words[0][0] ? "" : "default");
    for (int i = 0; i < MOST_WORDS && asked[k].words[i][0]; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s=%s", i ? "," : "", asked[k].words[i][0],
                              asked[k].words[i][1]);
}

static bool settings_of(int k, struct lx_settings *how, lx_status *st)
{
    *how = (struct lx_settings){.solvers = lx_solvers()};
    for (int i = 0; i < MOST_WORDS && asked[k].words[i][0]; i++)
        if (!lx_settings_set(how, asked[k].words[i][0], asked[k].words[i][1], st)) return false;
    return true;
}

static struct lx_plan *make(const struct lx_graph *graph, const struct lx_settings *how, lx_status *st)
{
    struct lx_plan_options options = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    const struct lx_graph *g = lx_settings_graph(how, graph, st);
    struct lx_plan *p = NULL;
    if (g && lx_settings_plan(how, g, &options, values, st)) p = lx_plan_make(g, &options, st);
    lx_graph_free(g);
    return p;
}

/* Read, checked and written again, it is the same bytes. */
static bool comes_back(const char *text, size_t length, lx_status *st)
{
    struct lx_plan *p = lx_plan_of_text("plan", text, length, st);
    size_t again = 0;
    char *written = p && lx_plan_check(p, st) ? lx_plan_to_json(p, &again) : NULL;
    bool same = written && again == length && memcmp(written, text, length) == 0;
    mem_free(written);
    lx_plan_free(p);
    return same;
}

static int hash_plan(const struct lx_graph *graph, const char *name, int k)
{
    lx_status st = {0};
    char how[200], hash[65];
    size_t length = 0;
    describe(k, how, sizeof how);
    struct lx_settings settings;
    if (graph->op_count > asked[k].most_ops) return 0;
    if (!settings_of(k, &settings, &st)) return fprintf(stderr, "plan_hashes: %s: %s\n", how, st.text), 2;
    struct lx_plan *p = make(graph, &settings, &st);
    if (!p) return printf("refused:%-56s %s %s\n", lx_code_word(st.code), how, name) < 0 ? 3 : 0;
    char *text = lx_plan_to_json(p, &length);
    lx_plan_free(p);
    if (!text) return 3;
    sha256_hex(text, length, hash);
    bool same = comes_back(text, length, &st);
    printf("%s %s %s%s%s\n", hash, how, name, same ? "" : " does not come back: ", same ? "" : st.text);
    mem_free(text);
    return same ? 0 : 1;
}

static int visit_file(const char *path)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    const char *folder = strstr(path, "patterns/");
    int worst = 0;
    if (!g)
        return printf("refused:%-56s reading %s\n", lx_code_word(st.code), folder ? folder : path) < 0 ? 3
                                                                                                       : 0;
    for (int k = 0; k < ASKED; k++) {
        int result = hash_plan(g, folder ? folder : path, k);
        if (result > worst) worst = result;
    }
    lx_graph_free(g);
    return worst;
}

int main(int argc, char **argv)
{
    int worst = argc < 2 ? 2 : 0;
    for (int i = 1; i < argc; i++) {
        int result = visit_file(argv[i]);
        if (result > worst) worst = result;
    }
    return worst;
}
