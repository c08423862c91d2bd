/* lxplan plan --stage: what one stage makes of a pattern, so that each can be looked at from outside. */
#include "stages/stages.h"
#include "planning/planning.h"
#include "text/table.h"
#include "commands/team_commands.h"

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

static int print_scratchpad(struct call *call, const struct lx_graph *g, bool tried)
{
    struct lx_question *q = make_problem(call, g);
    if (!q || tried) return lx_question_free(q), FAILED;
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
        OWNED struct problem_row *rows = mem_alloc(((size_t)p->count + 1) * sizeof *rows);
        text_format(&t, "capacity %s, alignment %s B, objective %s, %s\n", in_bytes(p->capacity).at,
                    grouped(p->alignment).at, lx_objective_word(p->objective),
                    counted(p->count, "buffer").at);
        for (int32_t i = 0; i < p->count; i++) rows[i] = (struct problem_row){p, &p->buffers[i]};
        table_add_text(&TABLE(problem_columns, rows, p->count), &t);
    }
    lx_question_free(q);
    return deliver(call, t.at, t.length) ? EXIT_YES : FAILED;
}

/* The answer, as JSON where it is there; the code of the stage. */
static int stage_deliver(struct call *call, char *json, size_t length, struct text *t)
{
    bool ok = json ? deliver(call, json, length) : deliver(call, t->at, t->length);
    return ok ? EXIT_YES : FAILED;
}

/* The canonical pattern, as JSON in any case. */
static int print_graph(struct call *call, const struct lx_graph *g, bool tried)
{
    size_t length = 0;
    if (tried) return EXIT_YES; /* it was read: nothing to refuse */
    char *json = graph_text(call, g, "pattern", &length);
    return json && deliver(call, json, length) ? EXIT_YES : FAILED;
}

static int print_layout(struct call *call, const struct lx_graph *g, bool tried)
{
    struct lx_passes passes = {0};
    struct lx_layouts *l = tried || read_passes(call, &passes)
                               ? lx_layouts_make(g, (enum lx_weights)passes.weights, &call->st)
                               : NULL;
    struct text t = {0};
    size_t length = 0;
    char *json = l && !tried && wants_json(call) ? lx_layouts_to_json(l, &length) : NULL;
    if (l && !tried && !json) show_layouts(l, &t);
    bool made = l != NULL;
    lx_layouts_free(l);
    return made && !tried ? stage_deliver(call, json, length, &t) : FAILED;
}

static int print_divide(struct call *call, const struct lx_graph *g, bool tried)
{
    struct lx_passes passes = {0};
    struct lx_layouts *l = tried || read_passes(call, &passes)
                               ? lx_layouts_make(g, (enum lx_weights)passes.weights, &call->st)
                               : NULL;
    struct lx_divide_options asked = lx_passes_divide(&passes), *how = tried ? NULL : &asked;
    if (l) lx_layouts_fit_spans(l, how);
    struct lx_divisions *d = l ? lx_divide(l, how, &call->st) : NULL;
    struct text t = {0};
    size_t length = 0;
    char *json = d && !tried && wants_json(call) ? lx_divisions_to_json(d, &length) : NULL;
    if (d && !tried && !json) show_divisions(d, &t);
    if (d && !tried && !json && option_given(&call->line, "all")) show_alternatives(d, &t);
    bool made = d != NULL;
    lx_divisions_free(d);
    lx_layouts_free(l);
    return made && !tried ? stage_deliver(call, json, length, &t) : FAILED;
}

/* Stages that plan first, so that the planning options apply. */
static int print_planned(struct call *call, const struct lx_graph *g, bool tried, const char *what,
                         bool (*write)(struct call *call, const struct lx_plan *p, struct text *out))
{
    SCOPED(plan_free_at) struct lx_plan *p = make_plan(call, g);
    struct text t = {0};
    if (!p || tried) return p ? EXIT_YES : FAILED;
    if (goes_to_file(call)) paint_off();
    bool ok =
        p->layouts || status_set(&call->st, LX_E_USAGE, "a bare list of buffers has no ops, so %s", what);
    ok = ok && write(call, p, &t);
    if (!ok) text_free(&t);
    return ok && deliver(call, t.at, t.length) ? EXIT_YES : FAILED;
}

static int print_launch(struct call *call, const struct lx_graph *g, bool tried)
{
    return print_planned(call, g, tried, "nothing to launch", write_launches);
}

static int print_loops(struct call *call, const struct lx_graph *g, bool tried)
{
    return print_planned(call, g, tried, "no loops", write_nests);
}

static int print_team_stage(struct call *call, const struct lx_graph *g, bool tried)
{
    return tried ? print_layout(call, g, true) : print_team(call, g);
}

/* The road, stage by stage. */
static const struct {
    const char *name;
    /* `tried`: for the errors in `call->st` alone, nothing is printed. */
    int (*print)(struct call *call, const struct lx_graph *g, bool tried);
} stages[] = {
    {"graph", print_graph},   {"layout", print_layout},         {"team", print_team_stage},
    {"divide", print_divide}, {"scratchpad", print_scratchpad}, {"launch", print_launch},
    {"loops", print_loops},
};

enum { STAGES = sizeof stages / sizeof *stages };

const char *stage_word(int k)
{
    return k < STAGES ? stages[k].name : NULL;
}

/* The number of a stage; STAGES: there is none of that name. */
static int stage_find(const char *name)
{
    int i = 0;
    while (i < STAGES && strcmp(stages[i].name, name) != 0) i++;
    return i;
}

bool is_stage(const char *name)
{
    return stage_find(name) < STAGES;
}

void try_stage(struct call *call, const struct lx_graph *g, const char *stage)
{
    if (is_stage(stage)) stages[stage_find(stage)].print(call, g, true);
}

int run_stage(struct call *call, const char *path, const char *stage)
{
    if (is_stage(stage)) {
        SCOPED(graph_free_at) const struct lx_graph *g = read_pattern(call, path);
        return g ? stages[stage_find(stage)].print(call, g, false) : FAILED;
    }
    SCOPED(text_free) struct text known = {0};
    add_words(stage_word, ", ", &known);
    status_set(&call->st, LX_E_USAGE, "there is no stage \"%s\"; there are: %s", stage,
               known.at ? known.at : "");
    return FAILED;
}
