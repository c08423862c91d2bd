/* lxplan without a command: what each solver makes of the bundled patterns. */
#include "command.h"
#include "planning/bundled.h"
#include "text/gathered.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOLVERS = 16 };

/* One cell: the traffic of the solver's plan, `*` where it is proved best, `!` where the target is missed. */
static void add_result(struct gathered *t, const struct lx_graph *g, const struct lx_solver *s)
{
    lx_status st;
    struct lx_plan_options how = {.solver = s, .run = {.time_limit = 5}};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p)
        gathered_cell(t, PAINT_DIM, "-");
    else if (!lx_plan_check(p, &st))
        gathered_cell(t, PAINT_BAD, "none");
    else {
        bool best = p->answer.status == LX_OPTIMAL, missed = !lx_plan_meets_target(p);
        gathered_cell(t,
                      missed ? PAINT_BAD
                      : best ? PAINT_GOOD
                             : PAINT_PLAIN,
                      "%s%s%s",
                      grouped(p->problem.objective == LX_HEIGHT ? p->height_bytes : p->hbm_bytes).at,
                      missed ? "!" : " ", best ? "*" : " ");
    }
    lx_plan_free(p);
}

static void add_pattern(struct gathered *t, const char *path, const char *shown)
{
    lx_status st;
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (g && !g->expect_stage) { /* a pattern that must be refused has nothing to compare */
        gathered_name(t, shown);
        if (g->target_hbm_bytes >= 0)
            gathered_cell(t, PAINT_PLAIN, "%s", grouped(g->target_hbm_bytes).at);
        else
            gathered_cell(t, PAINT_PLAIN, "%s", "");
        for (int i = 0; i < t->column_count - 2; i++) add_result(t, g, lx_solvers()[i]);
    }
    lx_graph_free(g);
}

bool front_page(struct text *out)
{
    char *folder = bundled_patterns();
    struct paths found = {0};
    if (folder) gather_patterns(folder, &found);
    struct heading columns[MOST_SOLVERS + 2] = {{"pattern", false}, {"target", true}};
    struct gathered t = {.columns = columns, .column_count = 2};
    for (int i = 0; i < MOST_SOLVERS && lx_solvers()[i]; i++)
        columns[t.column_count++] = (struct heading){lx_solvers()[i]->name, true};
    for (size_t i = 0; i < found.count; i++) {
        add_pattern(&t, found.at[i], found.at[i] + strlen(folder) + 1);
        free(found.at[i]);
    }
    bool any = t.cells.count > 0;
    if (any)
        text_add(out, "Bytes of HBM traffic by solver; * proved best, ! above the target. `lxplan --help` "
                      "for more.\n\n");
    struct text nowhere = {0};
    gathered_write(&t, any ? out : &nowhere);
    text_free(&nowhere);
    VEC_FREE(&found);
    free(folder);
    return any;
}
