/* lxplan plan --stage: what one stage makes of a pattern, so that each can be looked at from outside. */
#include "stages/stages.h"
#include "base/fail.h"
#include "base/memory.h"
#include "planning/graph_files.h"
#include "planning/planning.h"
#include "text/table.h"
#include "commands/team_commands.h"
#include "text/format.h"

#include <inttypes.h>
#include <string.h>

/* The canonical pattern, as JSON in any case. */
static int print_graph(struct call *call, const struct lx_graph *g)
{
    size_t length = 0;
    char *json = graph_text(call, g, "pattern", &length);
    bool ok = json && deliver(call, json, length);
    return ok ? EXIT_YES : FAILED;
}

static void write_buffer_json(const struct lx_problem *p, const struct lx_buffer *b, struct text *t)
{
    text_add(t, "    {\"name\": ");
    text_json_string(t, b->name);
    text_format(t, ", \"size\": %" PRId64 ", \"start\": %" PRId64 ", \"end\": %" PRId64, b->size, b->start,
                b->end);
    text_add(t, ", \"uses\": [");
    for (int32_t i = 0; i < b->use_count; i++) text_format(t, "%s%" PRId64, i ? ", " : "", b->uses[i]);
    text_format(t, "], \"first_use_is_read\": %s, \"in_place_parents\": [",
                b->first_use_is_read ? "true" : "false");
    for (int32_t i = 0; i < b->parent_count; i++) {
        if (i) text_add(t, ", ");
        text_json_string(t, p->buffers[b->parents[i]].name);
    }
    text_format(t, "], \"cost\": %" PRId64, b->spill_cost);
    if (b->fixed >= 0) text_format(t, ", \"fixed\": %" PRId64, b->fixed);
    if (b->alignment) text_format(t, ", \"alignment\": %" PRId64, b->alignment);
    if (b->reason) {
        text_add(t, ", \"reason\": ");
        text_json_string(t, b->reason);
    }
    text_add(t, "}");
}

struct problem_row {
    const struct lx_problem *problem;
    const struct lx_buffer *is;
};

/* clang-format off */
VALUE_OF(parents_value, struct problem_row,
    for (int32_t k = 0; k < row->is->parent_count; k++) {
        if (k) value_add(v, ", ");
        value_add(v, row->problem->buffers[row->is->parents[k]].name);
    })
VALUE_OF(life_value,   struct problem_row, value_format(v, "%lld..%lld", (long long)row->is->start, (long long)row->is->end);)

static const struct column problem_array[] = {
    {.key = "name",             .heading = "buffer",             .kind = VALUE_NAME,   VIA(struct problem_row, is, name)},
    {.key = "size",             .heading = "bytes",              .kind = VALUE_BYTES,  VIA(struct problem_row, is, size)},
    {.key = "life",             .heading = "life",               .kind = VALUE_MARK,   .value = life_value},
    {.key = "uses",             .heading = "uses",               .kind = VALUE_NUMBER, VIA(struct problem_row, is, use_count)},
    {.key = "cost",             .heading = "cost",               .kind = VALUE_BYTES,  VIA(struct problem_row, is, spill_cost)},
    {.key = "in_place_parents", .heading = "in place of",        .kind = VALUE_NAME,   .value = parents_value},
    {.key = "reason",           .heading = "must stay in HBM", .kind = VALUE_WORDS,  .flags = COLUMN_DIM, VIA(struct problem_row, is, reason)},
};
/* clang-format on */

const struct columns problem_columns = COLUMNS("buffers of a problem", problem_array);

static int print_scratchpad(struct call *call, const struct lx_graph *g)
{
    struct lx_question *q = make_problem(call, g);
    if (!q) return FAILED;
    struct text t = {0};
    if (goes_to_file(call)) paint_off();
    if (wants_json(call)) {
        /* The output is a pattern: it can be planned again. */
        const struct lx_problem *p = &q->problem;
        text_add(&t, "{\n  \"lxplan\": 1,\n  \"kind\": \"pattern\",\n  \"name\": ");
        text_json_string(&t, q->graph->name);
        text_format(
            &t, ",\n  \"capacity\": %" PRId64 ",\n  \"alignment\": %" PRId64 ",\n  \"objective\": \"%s\",\n",
            p->capacity, p->alignment, lx_objective_word(p->objective));
        text_add(&t, "  \"buffers\": [\n");
        for (int32_t i = 0; i < p->count; i++) {
            write_buffer_json(p, &p->buffers[i], &t);
            text_add(&t, i + 1 < p->count ? ",\n" : "\n");
        }
        text_add(&t, "  ]\n}\n");
    } else {
        const struct lx_problem *p = &q->problem;
        struct problem_row *rows = mem_alloc(((size_t)p->count + 1) * sizeof *rows);
        text_format(&t, "capacity %s, alignment %s B, objective %s, %s\n", in_bytes(p->capacity).at,
                    grouped(p->alignment).at, lx_objective_word(p->objective),
                    counted(p->count, "buffer").at);
        for (int32_t i = 0; i < p->count; i++) rows[i] = (struct problem_row){p, &p->buffers[i]};
        table_add_text(&TABLE(problem_columns, rows, p->count), &t);
        mem_free(rows);
    }
    lx_question_free(q);
    return deliver(call, t.at, t.length) ? EXIT_YES : FAILED;
}

static int print_layout(struct call *call, const struct lx_graph *g)
{
    struct lx_layouts *l = lx_layouts_make(g, &call->st);
    struct text t = {0};
    size_t length = 0;
    char *json = l && wants_json(call) ? lx_layouts_to_json(l, &length) : NULL;
    if (l && !wants_json(call)) show_layouts(l, &t);
    bool ok =
        l != NULL && deliver(call, wants_json(call) ? json : t.at, wants_json(call) ? length : t.length);
    lx_layouts_free(l);
    return ok ? EXIT_YES : FAILED;
}

static int print_divide(struct call *call, const struct lx_graph *g)
{
    struct lx_passes passes = {0};
    struct lx_layouts *l = read_passes(call, &passes) ? lx_layouts_make(g, &call->st) : NULL;
    struct lx_divide_options how = lx_passes_divide(&passes);
    if (l) lx_layouts_fit_spans(l, &how);
    struct lx_divisions *d = l ? lx_divide(l, &how, &call->st) : NULL;
    struct text t = {0};
    size_t length = 0;
    char *json = d && wants_json(call) ? lx_divisions_to_json(d, &length) : NULL;
    if (d && !wants_json(call)) show_divisions(d, &t);
    if (d && !wants_json(call) && option_given(&call->line, "all")) show_alternatives(d, &t);
    bool ok =
        d != NULL && deliver(call, wants_json(call) ? json : t.at, wants_json(call) ? length : t.length);
    lx_divisions_free(d);
    lx_layouts_free(l);
    return ok ? EXIT_YES : FAILED;
}

static void try_graph(struct call *call, const struct lx_graph *g)
{
    (void)call, (void)g; /* it was read: nothing to refuse */
}

static void try_layout(struct call *call, const struct lx_graph *g)
{
    lx_layouts_free(lx_layouts_make(g, &call->st));
}

static void try_divide(struct call *call, const struct lx_graph *g)
{
    struct lx_layouts *l = lx_layouts_make(g, &call->st);
    if (l) {
        lx_layouts_fit_spans(l, NULL);
        lx_divisions_free(lx_divide(l, NULL, &call->st));
    }
    lx_layouts_free(l);
}

static void try_scratchpad(struct call *call, const struct lx_graph *g)
{
    lx_question_free(make_problem(call, g));
}

/* Every launched op has loops or says why not. */
static void try_plan(struct call *call, const struct lx_graph *g)
{
    (void)try_launches(call, g);
}

/* The road, stage by stage. */
static const struct {
    const char *name;
    int (*print)(struct call *call, const struct lx_graph *g);
    void (*attempt)(struct call *call, const struct lx_graph *g); /* for its errors alone */
} stages[] = {
    {"graph", print_graph, try_graph},
    {"layout", print_layout, try_layout},
    {"team", print_team, try_layout},
    {"divide", print_divide, try_divide},
    {"scratchpad", print_scratchpad, try_scratchpad},
    {"launch", print_launch, try_plan},
    {"loops", print_loops, try_plan},
};

enum { STAGES = sizeof stages / sizeof *stages };

const char *stage_word(int k)
{
    return k < STAGES ? stages[k].name : NULL;
}

static int find_stage(const char *name)
{
    int i = 0;
    while (i < STAGES && strcmp(stages[i].name, name) != 0) i++;
    return i;
}

bool is_stage(const char *name)
{
    return find_stage(name) < STAGES;
}

void try_stage(struct call *call, const struct lx_graph *g, const char *stage)
{
    if (is_stage(stage)) stages[find_stage(stage)].attempt(call, g);
}

int run_stage(struct call *call, const char *path, const char *stage)
{
    if (is_stage(stage)) {
        const struct lx_graph *g = read_pattern(call, path);
        int code = g ? stages[find_stage(stage)].print(call, g) : FAILED;
        lx_graph_free(g);
        return code;
    }
    struct text known = {0};
    add_words(stage_word, ", ", &known);
    status_set(&call->st, LX_E_USAGE, "there is no stage \"%s\"; there are: %s", stage,
               known.at ? known.at : "");
    text_free(&known);
    return FAILED;
}
