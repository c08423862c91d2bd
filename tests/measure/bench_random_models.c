/* bench_random_models COUNT[:SEED]: random small models (support/random_models.h), half of them HLO and half TTIR. Run on one
 * core with their views folded and without, every bit of what they give must be the same, and nothing of them generic; planned
 * for all cores, with nests, the plan must be legal and each op right.
 *
 * Prints the first models that are not so, with their seeds; ends with 1 if there was any. About 4 ms each. */
#include "support/both_ways.h"
#include "support/random_models.h"

enum { MOST_SHOWN = 4 };

/* What is wrong with the folded model on the whole device; NULL: nothing. */
static const char *judged(const struct text *text, lx_status *st)
{
    struct lx_import_options options = {.branch = -1};
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_device_options run = {.verify = LX_VERIFY_OPS};
    const struct lx_graph *g = lx_model_import("random", text->at, strlen(text->at), &options, NULL, st);
    struct lx_plan *p = g ? lx_plan_make(g, &how, st) : NULL;
    struct lx_run_result *r = p && lx_plan_check(p, st) ? lx_device_run(p, &run, st) : NULL;
    const char *wrong = !r               ? st->text
                        : r->fault_count ? "a fault on the device"
                        : r->wrong_ops   ? "an op is wrong"
                        : r->unequal_ops ? "counts are not as planned"
                                         : NULL;
    lx_run_result_free(r);
    lx_plan_free(p);
    lx_graph_free(g);
    return wrong;
}

static bool one(uint64_t seed, bool quiet)
{
    struct lx_import_options options = {.branch = -1};
    struct rng r = rng_seed(seed);
    struct text text = {0};
    struct both_ways b;
    lx_status st = {0};
    random_model(&r, seed % 2 == 0, &text);
    bool ran = both_ways(&b, "random", text.at, strlen(text.at), options, false, &st);
    const char *wrong = !ran                                      ? st.text
                        : *b.why                                  ? b.why
                        : b.way[0].generic + b.way[1].generic > 0 ? "an op is generic"
                                                                  : judged(&text, &st);
    if (wrong && !quiet) printf("seed %llu: %s\n%s\n", (unsigned long long)seed, wrong, text.at);
    fflush(stdout);
    text_free(&text);
    if (ran) both_free(&b);
    return !wrong;
}

int main(int count, char **word)
{
    char *rest = NULL;
    long n = count > 1 ? strtol(word[1], &rest, 10) : 100, wrong = 0;
    uint64_t seed = rest && *rest == ':' ? strtoull(rest + 1, NULL, 10) : 1;
    for (long i = 0; i < n; i++) wrong += !one(seed + (uint64_t)i, wrong >= MOST_SHOWN);
    printf("%ld models, %ld wrong\n", n, wrong);
    return wrong ? 1 : 0;
}
