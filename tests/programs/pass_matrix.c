/* Every combination of passes on one pattern: each plan must be legal by the checker, be written and read
 * back as the same bytes, and be legal again as read.
 *
 *     pass_matrix PATTERN CORES [STEP [LX_BYTES]]
 *
 * Each combination is planned with the quickest solver; the passes do not know who solves. STEP n takes only
 * every n-th combination. Exit code 77: the pattern cannot be divided over so few cores at all. */
#include "unstable.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lx_graph *read_graph(const char *path, int64_t cores, int64_t lx, lx_status *st)
{
    const struct lx_graph *g = lx_graph_read(path, st);
    if (!g) return NULL;
    struct lx_device device = g->device;
    device.cores = cores;
    const struct lx_graph *on = lx_graph_with_device(g, &device);
    lx_graph_free(g);
    if (!on || lx <= 0) return on;
    const struct lx_graph *sized = lx_graph_with_capacity(on, lx, st);
    lx_graph_free(on);
    return sized;
}

/* The plan as text, after it was checked, read back, and checked again; NULL: `st`. */
static char *plan_text(const struct lx_graph *g, const struct lx_passes *passes, int64_t *hbm, lx_status *st)
{
    struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .passes = *passes};
    size_t length = 0, again_length = 0;
    struct lx_plan *p = lx_plan_make(g, &how, st);
    char *text = p && lx_plan_check(p, st) ? lx_plan_to_json(p, &length) : NULL, *again = NULL;
    struct lx_plan *back = text ? lx_plan_of_text("plan", text, length, st) : NULL;
    if (back && lx_plan_check(back, st)) again = lx_plan_to_json(back, &again_length);
    if (p) *hbm = p->figures.hbm_bytes;
    if (again && (length != again_length || memcmp(text, again, length) != 0)) {
        snprintf(st->text, sizeof st->text, "read back and written again it is another text");
        mem_free(again);
        again = NULL;
    }
    mem_free(text);
    lx_plan_free(p);
    lx_plan_free(back);
    return again;
}

static bool divides(const char *path, int64_t cores, bool *has_extern, bool *has_matmul)
{
    lx_status st = {0};
    const struct lx_graph *g = read_graph(path, cores, 0, &st);
    if (!g || g->list) {
        lx_graph_free(g);
        return g != NULL;
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        *has_extern |= (g->ops[o].kind->traits & LX_EXTERN) != 0;
        *has_matmul |= (g->ops[o].kind->traits & LX_CONTRACTS) != 0;
    }
    struct lx_layouts *l = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
    struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
    if (!d) printf("%s\n", st.text);
    bool ok = d != NULL;
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
    return ok;
}

static int values_of(const struct lx_pass *row)
{
    int n = 0;
    if (!row->words) return 2;
    while (row->words[n]) n++;
    return n;
}

static void print_passes(const struct lx_passes *p)
{
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (lx_pass_get(p, row)) printf(" --%s=%d", row->option, lx_pass_get(p, row));
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: pass_matrix PATTERN CORES [STEP [LX_BYTES]]\n");
        return 2;
    }
    int64_t cores = strtoll(argv[2], NULL, 10), lx = argc > 4 ? strtoll(argv[4], NULL, 10) : 0;
    int64_t step = argc > 3 ? strtoll(argv[3], NULL, 10) : 1;
    bool has_extern = false, has_matmul = false;
    if (!divides(argv[1], cores, &has_extern, &has_matmul)) return 77;
    lx_status refused = {0};
    const struct lx_graph *g = read_graph(argv[1], cores, lx, &refused);
    int64_t combinations = 1, failed = 0, least = INT64_MAX, most = 0;
    for (const struct lx_pass *row = lx_passes(); row->name; row++) combinations *= values_of(row);
    for (int64_t k = 0, left; k<combinations; k += step> 0 ? step : 1) {
        struct lx_passes passes = {0};
        lx_status st = refused;
        left = k;
        for (const struct lx_pass *row = lx_passes(); row->name; row++) {
            lx_pass_set(&passes, row, (int)(left % values_of(row)));
            left /= values_of(row);
        }
        /* What one switch makes of another need not be tried twice; and the passes behind the division do not
         * know who divided. */
        if ((passes.matmul && (!has_matmul || cores == 1 || passes.no_outputs || passes.no_in_place ||
                               passes.no_dump || passes.stage != LX_STAGE_ALL)) ||
            (passes.undivided && (cores > 1 || passes.cooptimise)) || (passes.no_dump && !has_extern) ||
            (passes.by_time && passes.cooptimise != LX_COOPTIMISE_FULL) ||
            (passes.stage != LX_STAGE_ALL &&
             (passes.evict || passes.reorder || passes.clone || passes.no_outputs || passes.cooptimise)))
            continue;
        int64_t hbm = 0;
        char *text = g ? plan_text(g, &passes, &hbm, &st) : NULL;
        if (!text) {
            char words[1200];
            printf("%s on %" PRId64 " cores:", argv[1], cores);
            print_passes(&passes);
            printf(": %s\n", lx_status_describe(&st, words, sizeof words));
            failed++;
        } else {
            least = hbm < least ? hbm : least;
            most = hbm > most ? hbm : most;
        }
        mem_free(text);
    }
    lx_graph_free(g);
    printf("HBM bytes from %" PRId64 " to %" PRId64 ", %" PRId64 " failed\n", least, most, failed);
    return failed ? 1 : 0;
}
