/* lxplan without a command: what each solver makes of the bundled patterns. */
#include "planning/graph_files.h"
#include "text/table.h"

enum { MOST_SOLVERS = 16 };

/* A solver's result on a pattern. */
struct result {
    enum { NO_PLAN, REFUSED, PLANNED } state;
    bool best, missed;
    int64_t value;
};

struct pattern_row {
    const char *name;
    int64_t target; /* -1: none */
    struct result results[MOST_SOLVERS];
};

/* The traffic of the solver's plan, `*` where it is optimal, `!` where the target is missed. */
static void result_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct result *r = &((const struct pattern_row *)row_of_table)->results[column->argument];
    static const char *const without[] = {[NO_PLAN] = "-", [REFUSED] = "none"};
    v->paint = r->state == NO_PLAN                ? PAINT_DIM
               : r->state == REFUSED || r->missed ? PAINT_BAD
               : r->best                          ? PAINT_GOOD
                                                  : PAINT_PLAIN;
    if (r->state != PLANNED)
        v->words = without[r->state];
    else
        value_format(v, "%s%s%s", grouped(r->value).at, r->missed ? "!" : " ", r->best ? "*" : " ");
}

/* clang-format off */
VALUE_OF(target_value, struct pattern_row,
    if (row->target >= 0)
        value_whole(v, row->target);
    else
        v->words = "";)

/* Before the columns of the solvers, which the registry gives. */
static const struct column first_columns[] = {
    {.key = "pattern", .heading = "pattern", .kind = VALUE_NAME,  MEMBER(struct pattern_row, name)},
    {.key = "target",  .heading = "target",  .kind = VALUE_BYTES, .value = target_value},
};
/* clang-format on */

const struct columns front_columns = COLUMNS("front page", first_columns);

enum { FIRST = sizeof first_columns / sizeof *first_columns };

static struct result no_command_plan_with(const struct lx_graph *g, const struct lx_solver *s)
{
    lx_status st;
    struct lx_plan_options how = {.solver = s, .run = {.time_limit = 5}};
    SCOPED(plan_free_at) struct lx_plan *p = lx_plan_make(g, &how, &st);
    struct result r = {NO_PLAN, false, false, 0};
    if (p) {
        r.state = lx_plan_check(p, &st) ? PLANNED : REFUSED;
        r.best = p->answer.status == LX_OPTIMAL;
        r.missed = !lx_plan_meets_target(p);
        r.value = p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes;
    }
    return r;
}

typedef VEC(struct pattern_row) pattern_rows;

bool front_page(struct text *out)
{
    OWNED char *folder = bundled_patterns();
    OWNED struct paths found = {0};
    OWNED pattern_rows rows = {0};
    if (folder) gather_patterns(folder, &found);
    for (size_t i = 0; i < found.count; i++) {
        const char *shown = found.at[i] + strlen(folder) + 1;
        lx_status st;
        SCOPED(graph_free_at) const struct lx_graph *g = lx_graph_read(found.at[i], &st);
        if (g && !g->expect_stage) { /* a pattern that must be refused has nothing to compare */
            struct pattern_row row = {.name = shown, .target = g->target_hbm_bytes};
            for (int k = 0; k < MOST_SOLVERS && lx_solvers()[k]; k++)
                row.results[k] = no_command_plan_with(g, lx_solvers()[k]);
            VEC_PUSH(&rows, row);
        }
    }
    bool any = rows.count > 0;
    if (any) {
        struct column columns[FIRST + MOST_SOLVERS];
        struct columns all = {front_columns.name, columns, FIRST};
        memcpy(columns, first_columns, sizeof first_columns);
        for (int i = 0; i < MOST_SOLVERS && lx_solver_at(i, "name"); i++) {
            const char *name = lx_solver_at(i, "name");
            columns[all.count++] = (struct column){
                .key = name, .heading = name, .kind = VALUE_MARK, .argument = i, .value = result_value};
        }
        text_add(
            out,
            "Bytes of HBM traffic by solver; * optimal, ! above the target. `lxplan --help` for more.\n\n");
        table_add_text(&TABLE(all, rows.at, rows.count), out);
    }
    for (size_t i = 0; i < found.count; i++) mem_free(found.at[i]);
    return any;
}
