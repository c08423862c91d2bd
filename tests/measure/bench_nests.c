/* What nests save: HBM megabytes of graphs as planned without and with them.
 *
 *     build/bin/bench_nests [--solver NAME] [--losses] [--online] GRAPH.json ...
 *
 * A row a graph: what must cross once, what is moved without nests and with them, seconds of processor time of both
 * searches; then the nests. With --online
 * softmax is rewritten to running sums; with --losses the tensors that move more than they must, in order of bytes. */
#include "unstable.h"
#include "search/search_steps.h"
#include "graph/online.h"
#include "support/bench_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    const char *solver;
    bool losses, online;
};

static double mega(int64_t bytes)
{
    return (double)bytes / 1e6;
}

static void print_nests(const struct draft *x)
{
    for (int32_t i = 0; i < x->how.nest_count; i++) {
        const struct lx_nest *n = &x->how.nests[i];
        printf("    %s..%s", x->graph->ops[n->first].name, x->graph->ops[n->last].name);
        for (int k = 0; k < n->level_count; k++) {
            const struct lx_division *d = &x->divisions->at[n->first];
            char letter = '?';
            for (int s = 0; s < d->split_count; s++)
                if (d->splits[s].tiles == n->tiles[k]) letter = d->splits[s].letter;
            printf(" %c/%" PRId64, letter, n->tiles[k]);
        }
        printf("\n");
    }
}

static bool is_placed(const struct attempt *a, int32_t access)
{
    int32_t stay = a->draft.accesses[access].stay;
    return stay >= 0 && a->answer.address[stay] >= 0;
}

/* Bytes of accesses off chip; loads and stores are those of the transfers. */
static int64_t moved(const struct attempt *a, const struct traffic *t, int32_t tensor)
{
    const struct draft *x = &a->draft;
    int64_t sum = 0;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++)
        if (!is_placed(a, x->tensor_access[k])) sum += x->accesses[x->tensor_access[k]].bytes;
    for (int32_t i = 0; i < t->transfer_count; i++)
        if (lx_through_hbm(t->transfers[i].kind) && x->stays[t->transfers[i].stay].tensor == tensor)
            sum += t->transfers[i].bytes;
    return sum;
}

static void print_stays(const struct attempt *a, int32_t tensor, struct arena *memory)
{
    const struct draft *x = &a->draft;
    for (int32_t s = 0; s < x->problem.count; s++) {
        const struct lx_stay *y = &x->stays[s];
        if (y->tensor != tensor) continue;
        printf("        %s [%" PRId64 ", %" PRId64 ") hold %d: %" PRId64 " B at %" PRId64
               ", bar %s, by %s (%s)\n",
               x->buffers[s].name, x->buffers[s].start, x->buffers[s].end, y->hold, x->buffers[s].size,
               a->answer.address[s], lx_exclusion_word(y->exclusion), x->graph->ops[y->view_op].name,
               splits_text(x->divisions, y->view_op, memory));
    }
}

static void print_losses(const struct attempt *a)
{
    const struct draft *x = &a->draft;
    struct arena memory = {0};
    struct lx_op_traffic *ops = arena_array(&memory, (size_t)x->graph->op_count, sizeof *ops);
    struct traffic t;
    traffic_list(x, a->answer.address, &memory, &t, ops);
    for (int32_t i = 0; i < x->graph->tensor_count; i++) {
        bool outer = x->graph->tensors[i].role != LX_INTERMEDIATE;
        int64_t all = moved(a, &t, i), must = outer ? tensor_bytes(x->layouts, i) : 0;
        if (all <= must + 100000) continue;
        printf("    %-24s %9.1f of %9.1f MB above what must\n", x->graph->tensors[i].name, mega(all - must),
               mega(tensor_bytes(x->layouts, i)));
        print_stays(a, i, &memory);
    }
    arena_free(&memory);
}

static int measure(const char *path, const struct asked *how)
{
    lx_status st = {0};
    struct arena memory = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    const struct lx_graph *rewritten = NULL;
    if (g && how->online && graph_online(g, &rewritten, &st) && rewritten) {
        lx_graph_free(g);
        g = rewritten;
    }
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
    struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
    struct lx_plan_options options = {.solver = lx_solver_find(how->solver),
                                      .quick_solver = lx_solver_find("bestfit")};
    struct decisions plain = {.passes = {.tile = LX_TILE_AUTO}};
    struct search by = {
        .divided = d, .request = &options, .effort = effort_asked(&options), .memory = &memory, .st = &st};
    double begin = now_by(CLOCK_PROCESS_CPUTIME_ID);
    bool ok = d && try_with(&by, DRAFTS_MANY, &plain, &by.best);
    double middle = now_by(CLOCK_PROCESS_CPUTIME_ID);
    int64_t before = by.best.hbm_bytes;
    ok = ok && nest_bound(&by, &by.bound_with_nests, &by.bound) && nests_search(&by);
    if (ok) {
        printf("%-28s %4d ops, bound %9.1f  plain %9.1f  nests %9.1f MB  %6.3f s + %6.3f s\n", g->name,
               (int)l->graph->op_count, mega(by.bound_with_nests ? by.bound : 0), mega(before),
               mega(by.best.hbm_bytes), middle - begin, now_by(CLOCK_PROCESS_CPUTIME_ID) - middle);
        print_nests(&by.best.draft);
        if (how->losses) print_losses(&by.best);
    } else
        fprintf(stderr, "%s: %s\n", path, st.text);
    attempt_free(&by.best);
    arena_free(&memory);
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct asked how = {.solver = "auto"};
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--losses") == 0)
            how.losses = true;
        else if (strcmp(argv[i], "--online") == 0)
            how.online = true;
        else if (strcmp(argv[i], "--solver") == 0 && i + 1 < argc)
            how.solver = argv[++i];
        else
            failed |= measure(argv[i], &how);
    return failed;
}
