/* bench_model_mutations COUNT FILE ...: reads each model COUNT times, each time damaged in another way.
 *
 * Bytes are changed, cut out, doubled, or the file ends early; what comes of it must be a graph with its report or an error
 * with words. Meant for a build with sanitizers. Prints how many were read and how many refused, by code. */
#include "base/file.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "graph/import/model_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const snippets[] = {"(",
                                       ")",
                                       "{",
                                       "}",
                                       "<",
                                       ">",
                                       "[",
                                       "]",
                                       "\"",
                                       "%",
                                       ",",
                                       "->",
                                       "-1",
                                       "?",
                                       "x",
                                       "#",
                                       "9223372036854775807",
                                       "dense<",
                                       "tensor<",
                                       "loc(",
                                       "/*",
                                       "//",
                                       "while",
                                       "=",
                                       "\n"};

static size_t damage(struct rng *r, char *to, const char *from, size_t length, size_t room)
{
    size_t n = length, at = (size_t)rng_below(r, length + 1), k = 1 + (size_t)rng_below(r, 64);
    memcpy(to, from, length);
    switch (rng_below(r, 5)) {
    case 0:
        for (size_t i = 0; i < 1 + k % 4 && n; i++) to[rng_below(r, n)] = (char)rng_below(r, 256);
        break;
    case 1:
        n = at;
        break;
    case 2:
        if (k > n - at) k = n - at;
        memmove(to + at, to + at + k, n - at - k);
        n -= k;
        break;
    case 3:
        if (k > n - at) k = n - at;
        if (n + k > room) break;
        memmove(to + at + k, to + at, n - at);
        n += k;
        break;
    default: {
        const char *s = snippets[rng_below(r, sizeof snippets / sizeof *snippets)];
        size_t m = strlen(s);
        if (n + m > room) break;
        memmove(to + at + m, to + at, n - at);
        memcpy(to + at, s, m);
        n += m;
    }
    }
    return n;
}

static enum lx_code read_one(const char *file, const char *text, size_t length)
{
    static const struct lx_model_binding dims[] = {{"batch", 1},          {"batch_size", 1},
                                                   {"seq_len", 4},        {"past_seq_len", 15},
                                                   {"total_seq_len", 16}, {"max_seq_len_in_batch", 128}};
    struct lx_model_binding named[6];
    struct lx_import_options options = {.model = {.dims = named}, .branch = -1};
    for (int i = 0; i < 6; i++)
        if (memmem(text, length, dims[i].name, strlen(dims[i].name)))
            named[options.model.dim_count++] = dims[i];
    char *report = NULL;
    lx_status st = {0};
    const struct lx_graph *g = lx_model_import(file, text, length, &options, &report, &st);
    if (!g && (st.code == LX_OK || !st.text[0])) abort();
    lx_graph_free(g);
    free(report);
    return g ? LX_OK : st.code;
}

static void run(const char *path, long count, long *codes)
{
    lx_status st;
    size_t length;
    char *text = file_read(path, &length, &st);
    if (!text) return;
    size_t room = length + 256;
    struct rng r = rng_seed(length);
    clock_t begin = clock();
    for (long i = 0; i < count; i++) {
        char *copy = malloc(room + 1);
        if (!copy) break;
        size_t n = damage(&r, copy, text, length, room);
        copy = realloc(copy, n + 1); /* a byte too far is seen */
        codes[read_one(path, copy, n)]++;
        free(copy);
    }
    printf("%s: %.3f ms each\n", path, (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC / (double)count);
    free(text);
}

int main(int argc, char **argv)
{
    long codes[LX_CODE_COUNT] = {0};
    if (argc < 3) return fprintf(stderr, "usage: %s COUNT FILE ...\n", argv[0]), 2;
    for (int i = 2; i < argc; i++) run(argv[i], atol(argv[1]), codes);
    for (int c = 0; c < LX_CODE_COUNT; c++)
        if (codes[c]) printf("%-14s %ld\n", lx_code_word((enum lx_code)c), codes[c]);
    return 0;
}
