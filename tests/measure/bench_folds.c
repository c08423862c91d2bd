/* Models with their views folded and without, run on one core with the same data: is the result the same bit for bit?
 *
 *     build/bin/bench_folds [--dim NAME=N] ... [--value NAME=N] ... FILE ...
 *
 * A row a file: ops of both graphs and how many of them are generic, seconds of processor time, and the first difference.
 * Ends with 1 if any file differs in a bit. */
#include "base/file.h"
#include "base/memory.h"
#include "support/bench_clock.h"
#include "support/both_ways.h"

enum { MOST_BINDINGS = 32 };

struct asked {
    struct lx_model_binding dims[MOST_BINDINGS], fixed[MOST_BINDINGS];
    int dim_count, fixed_count;
};

static bool bind(struct lx_model_binding *list, int *count, char *word)
{
    char *equals = strrchr(word, '=');
    if (!equals || *count == MOST_BINDINGS) return false;
    *equals = 0;
    list[(*count)++] = (struct lx_model_binding){word, strtoll(equals + 1, NULL, 10)};
    return true;
}

static bool row(const struct asked *how, const char *path)
{
    struct lx_import_options options = {.model = {.dims = how->dims,
                                                  .fixed = how->fixed,
                                                  .dim_count = how->dim_count,
                                                  .fixed_count = how->fixed_count},
                                        .branch = -1};
    double begin = now_by(CLOCK_PROCESS_CPUTIME_ID);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct both_ways b = {.largest = 0};
    lx_status st = {0};
    size_t length;
    char *text = file_read(path, &length, &st);
    bool ran = text && both_ways(&b, path, text, length, options, false, &st), same = ran && !*b.why;
    printf("%-36.36s", name);
    for (int i = 0; i < 2; i++)
        printf(" %6d ops %4lld generic", b.way[i].g ? (int)b.way[i].g->op_count : 0,
               (long long)b.way[i].generic);
    printf(" %7.2f s  %s\n", now_by(CLOCK_PROCESS_CPUTIME_ID) - begin,
           same  ? "the same"
           : ran ? b.why
                 : st.text);
    fflush(stdout);
    mem_free(text);
    both_free(&b);
    return same;
}

int main(int count, char **word)
{
    struct asked how = {.dim_count = 0};
    bool ok = true;
    for (int i = 1; i < count; i++) {
        if (strcmp(word[i], "--dim") == 0 && i + 1 < count)
            ok &= bind(how.dims, &how.dim_count, word[++i]);
        else if (strcmp(word[i], "--value") == 0 && i + 1 < count)
            ok &= bind(how.fixed, &how.fixed_count, word[++i]);
        else
            ok &= row(&how, word[i]);
    }
    return ok ? 0 : 1;
}
