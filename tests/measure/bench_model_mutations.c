/* bench_model_mutations COUNT[:SEED[:EACH]] FILE ...: reads each model COUNT times, each time damaged in another way.
 *
 * support/model_damage.h says how; what comes of it must be a graph with its report or an error
 * with words; of those that are read each EACH-th is planned, and the plan must be legal or refused with words. Meant for a
 * build with sanitizers. Prints how many were read and how many refused, by code. */
#include "base/file.h"
#include "base/memory.h"
#include "unstable.h"
#include "support/model_damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_OPS_PLANNED = 200 };

static long each, read_so_far, planned, unplannable;

static void tell(const char *text, size_t length, const char *what, const lx_status *st)
{
    fwrite(text, 1, length, stderr);
    fprintf(stderr, "\n%s: code %d, %s\n", what, (int)st->code, st->text);
    abort();
}

static void plan_one(const struct lx_graph *g, const char *text, size_t length)
{
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    lx_status st = {0};
    if (each == 0 || read_so_far++ % each != 0 || g->op_count > MOST_OPS_PLANNED) return;
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (p && !lx_plan_check(p, &st)) tell(text, length, "a plan that is not legal", &st);
    if (!p && (st.code == LX_OK || !st.text[0])) tell(text, length, "not planned, without words", &st);
    planned += p != NULL;
    unplannable += p == NULL;
    lx_plan_free(p);
}

static enum lx_code read_one(const char *file, const char *text, size_t length, bool no_fold)
{
    static const struct lx_model_binding dims[] = {{"batch", 1},          {"batch_size", 1},
                                                   {"seq_len", 4},        {"past_seq_len", 15},
                                                   {"total_seq_len", 16}, {"max_seq_len_in_batch", 128}};
    struct lx_model_binding named[6];
    struct lx_import_options options = {.model = {.dims = named}, .branch = -1, .no_fold = no_fold};
    bool text_format = memmem(text, length, "HloModule", 9) || memmem(text, length, "func.func", 9);
    for (int i = 0; i < 6 && !text_format; i++)
        if (memmem(text, length, dims[i].name, strlen(dims[i].name)))
            named[options.model.dim_count++] = dims[i];
    char *report = NULL;
    lx_status st = {0};
    const struct lx_graph *g = lx_model_import(file, text, length, &options, &report, &st);
    if (!g && (st.code == LX_OK || !st.text[0])) tell(text, length, "refused without words", &st);
    if (g) plan_one(g, text, length);
    lx_graph_free(g);
    mem_free(report);
    return g ? LX_OK : st.code;
}

static void run(const char *path, long count, uint64_t seed, long *codes)
{
    lx_status st;
    size_t length;
    char *text = file_read(path, &length, &st);
    if (!text) return;
    size_t room = length + 256;
    struct rng r = rng_seed(length + seed * 7919);
    clock_t begin = clock();
    for (long i = 0; i < count; i++) {
        char *copy = mem_alloc(room + 1);
        if (!copy) break;
        size_t n = damage_model(&r, copy, text, length, room);
        copy = mem_resize(copy, n + 1); /* a byte too far is seen */
        clock_t before = clock();
        codes[read_one(path, copy, n, i % 4 == 3)]++;
        double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
        if (seconds > 1) printf("%s: number %ld took %.1f s\n", path, i, seconds);
        mem_free(copy);
    }
    printf("%s: %.3f ms each\n", path, (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC / (double)count);
    mem_free(text);
}

int main(int argc, char **argv)
{
    long codes[LX_CODE_COUNT] = {0};
    char *rest;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3) return fprintf(stderr, "usage: %s COUNT[:SEED[:EACH]] FILE ...\n", argv[0]), 2;
    long count = strtol(argv[1], &rest, 10);
    uint64_t seed = *rest == ':' ? strtoull(rest + 1, &rest, 10) : 0;
    each = *rest == ':' ? strtol(rest + 1, NULL, 10) : 0;
    for (int i = 2; i < argc; i++) run(argv[i], count, seed, codes);
    for (int c = 0; c < LX_CODE_COUNT; c++)
        if (codes[c]) printf("%-14s %ld\n", lx_code_word((enum lx_code)c), codes[c]);
    if (each) printf("planned and checked %ld, refused with words %ld\n", planned, unplannable);
    return 0;
}
