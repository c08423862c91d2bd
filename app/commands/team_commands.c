/* A team's plan and its run, for people and for programs. Under mpirun every process runs this; only the one
 * of member 0, which has the gathered results, says anything. */
#include "commands/team_commands.h"
#include "commands/team_report.h"
#include "base/checked.h"
#include "base/fail.h"
#include "planning/planning.h"
#include "planning/show_run.h"
#include "text/table.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 40 };

const struct option_row member_rows[] = {
    {"transport", 0, "NAME",
     "how members talk: threads, all in this process; mpi, one per process, the default under mpirun"},
    {"patience", 0, "SECONDS", "how long members wait for each other before they give up (default 5)"},
    {0},
};

const char *transport_word(int k)
{
    const struct lx_transport *const *t = lx_transports();
    while (k-- > 0 && *t) t++;
    return *t ? (*t)->name : NULL;
}

/* "dimension 0: 171 + 171" */
static void add_bounds(const struct lx_team_plan *p, int32_t tensor, struct text *t)
{
    const struct lx_team_tensor *x = &p->tensors[tensor];
    bool any = false;
    if (lx_team_is_whole(x)) text_add(t, "whole on every member");
    for (int d = 0; d < p->graph->tensors[tensor].rank; d++) {
        const int64_t *bound = x->bound[d];
        int blocks = lx_team_blocks(&p->grid, x->cut, d);
        if (!bound) continue;
        text_format(t, "%sdimension %d: ", any ? ", " : "", d);
        any = true;
        for (int b = 0; b < blocks && b < 8; b++)
            text_format(t, "%s%lld", b ? " + " : "", (long long)(bound[b + 1] - bound[b]));
        if (blocks > 8) text_add(t, " + ...");
    }
    if (lx_team_is_partial(x)) text_add(t, any ? ", in parts of sums" : "parts of sums on every member");
}

/* Of a team's plan, one tensor, op or exchange, by its number. */
struct team_row {
    const struct lx_team_plan *plan;
    int32_t i;
};

/* Rows 0 to n-1; NULL when memory is out. */
static struct team_row *rows_of(const struct lx_team_plan *p, int32_t n)
{
    struct team_row *rows = malloc(((size_t)n + 1) * sizeof *rows);
    for (int32_t i = 0; rows && i < n; i++) rows[i] = (struct team_row){p, i};
    return rows;
}

/* At most MOST_ROWS of n rows, and how many more there are. */
static void write_rows(const struct lx_team_plan *p, struct columns columns, int32_t n, const char *thing,
                       struct text *out)
{
    int32_t shown = n < MOST_ROWS ? n : MOST_ROWS;
    struct team_row *rows = rows_of(p, shown);
    out->failed |= !rows;
    if (rows) table_add_text(&TABLE(columns, rows, shown), out);
    free(rows);
    if (thing && n > shown) text_format(out, "  ... %s more\n", counted(n - shown, thing).at);
}

#define TENSOR  (&row->plan->graph->tensors[row->i])
#define OP      (&row->plan->graph->ops[row->i])
#define TEAM_OP (&row->plan->ops[row->i])
#define XCHANGE (&row->plan->exchanges[row->i])

static void cut_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_row *row = row_of_table;
    (void)column;
    add_bounds(row->plan, row->i, &v->made);
    v->words = v->made.at;
    v->paint = lx_team_is_whole(&row->plan->tensors[row->i]) ? PAINT_DIM : PAINT_PLAIN;
}

static void core_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_row *row = row_of_table;
    const struct lx_team_group *g = TEAM_OP->group >= 0 ? &row->plan->groups[TEAM_OP->group] : NULL;
    (void)column;
    v->paint = PAINT_DIM;
    for (int m = 0; g && g->core && m < row->plan->members && m < 4; m++)
        for (int l = 0; l < g->core[m].loops; l++)
            value_format(v, "%s%lld",
                         l   ? " x "
                         : m ? ", "
                             : "",
                         (long long)(g->core[m].range[l].end - g->core[m].range[l].begin));
}

static void received_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_row *row = row_of_table;
    (void)column;
    for (int m = 0; m < row->plan->members && m < 8; m++)
        value_format(v, "%s%s", m ? ", " : "", grouped(XCHANGE->received[m]).at);
}

/* clang-format off */
VALUE_OF(tensor_value, struct team_row, v->words = TENSOR->name;)
VALUE_OF(role_value,   struct team_row, v->words = lx_role_word(TENSOR->role); v->paint = PAINT_DIM;)

static const struct column cut_array[] = {
    {.key = "tensor", .heading = "tensor", .kind = VALUE_NAME,  .value = tensor_value},
    {.key = "role",   .heading = "role",   .kind = VALUE_WORDS, .value = role_value},
    {.key = "cut",    .heading = "cut",    .kind = VALUE_WORDS, .value = cut_value},
};

VALUE_OF(op_value,     struct team_row, v->words = OP->name;)
VALUE_OF(kind_value,   struct team_row, v->words = OP->kind->name; v->paint = PAINT_DIM;)
VALUE_OF(how_value,    struct team_row, v->words = lx_team_mode_word(TEAM_OP->mode);)
VALUE_OF(bytes_value,  struct team_row, value_dim(v, TEAM_OP->bytes);)

static const struct column op_array[] = {
    {.key = "op",    .heading = "op",             .kind = VALUE_NAME,  .value = op_value},
    {.key = "kind",  .heading = "kind",           .kind = VALUE_WORDS, .value = kind_value},
    {.key = "mode",  .heading = "how",            .kind = VALUE_WORDS, .value = how_value},
    {.key = "bytes", .heading = "bytes received", .kind = VALUE_BYTES, .value = bytes_value},
    {.key = "core",  .heading = "inner",          .kind = VALUE_WORDS, .value = core_value},
};

VALUE_OF(of_value,       struct team_row, v->words = row->plan->graph->tensors[XCHANGE->tensor].name;)
VALUE_OF(pattern_value,  struct team_row, v->words = lx_team_pattern_word(XCHANGE->pattern); v->paint = PAINT_DIM;)
VALUE_OF(for_value,      struct team_row, v->words = row->plan->graph->ops[XCHANGE->first_reader].name;)
VALUE_OF(reads_value,    struct team_row, v->number = XCHANGE->reads;)
VALUE_OF(moved_value,    struct team_row, value_whole(v, XCHANGE->bytes);)
VALUE_OF(separate_value, struct team_row, value_whole(v, XCHANGE->separate_bytes); v->paint = PAINT_DIM;)

static const struct column exchange_array[] = {
    {.key = "tensor",         .heading = "exchange of",             .kind = VALUE_NAME,   .value = of_value},
    {.key = "pattern",        .heading = "pattern",                 .kind = VALUE_WORDS,  .value = pattern_value},
    {.key = "first_reader",   .heading = "for",                     .kind = VALUE_NAME,   .value = for_value},
    {.key = "reads",          .heading = "reads",                   .kind = VALUE_NUMBER, .value = reads_value},
    {.key = "bytes",          .heading = "bytes",                   .kind = VALUE_BYTES,  .value = moved_value},
    {.key = "separate_bytes", .heading = "one by one",              .kind = VALUE_BYTES,  .value = separate_value},
    {.key = "received",       .heading = "received by each member", .kind = VALUE_WORDS,  .value = received_value},
};
/* clang-format on */

#undef TENSOR
#undef OP
#undef TEAM_OP
#undef XCHANGE

const struct columns team_cut_columns = COLUMNS("cuts of a team", cut_array);
const struct columns team_op_columns = COLUMNS("ops of a team", op_array);
const struct columns team_exchange_columns = COLUMNS("exchanges of a team", exchange_array);

static void show_cuts(const struct lx_team_plan *p, struct text *out)
{
    write_rows(p, team_cut_columns, p->graph->tensor_count, "tensor", out);
}

static void show_ops_of_team(const struct lx_team_plan *p, struct text *out)
{
    write_rows(p, team_op_columns, p->graph->op_count, "op", out);
}

void show_exchanges(const struct lx_team_plan *p, struct text *out)
{
    if (p->exchange_count) write_rows(p, team_exchange_columns, p->exchange_count, NULL, out);
}

void show_totals(const struct lx_team_plan *p, struct text *out)
{
    text_format(out, "exchanged %s in %s", in_bytes(p->bytes).at, counted(p->exchange_count, "exchange").at);
    if (p->combine_bytes) text_format(out, ", %s to combine partial results", in_bytes(p->combine_bytes).at);
    if (p->plain_bytes >= 0) text_format(out, "; without the passes %s", in_bytes(p->plain_bytes).at);
    if (p->plain_bytes > 0)
        text_format(out, ", saved %s",
                    in_percent((double)(p->plain_bytes - p->bytes) / (double)p->plain_bytes).at);
    if (p->predicted_us > 0 && p->bound_us > 0)
        text_format(out, "\npredicted %s; on this grid nothing takes less than %s",
                    in_time(p->predicted_us * 1e-6).at, in_time(p->bound_us * 1e-6).at);
    text_format(out, "\nexpected  %s\n",
                p->exact ? "no sum is cut: each is made as on one device"
                         : "a sum is cut: parts of it are added up in the order of the members");
}

static void show_planned(const struct lx_team_plans *p, struct text *out)
{
    struct lx_team_account *accounts = calloc((size_t)p->team->members, sizeof *accounts);
    out->failed |= !accounts;
    for (int m = 0; accounts && m < p->team->members; m++) accounts[m] = lx_team_planned(p, m);
    if (accounts) show_members(accounts, p->team->members, false, out);
    free(accounts);
}

static void show_team(const struct lx_team_plans *p, struct text *out)
{
    add_printable(out, p->team->graph->name, 0);
    text_format(out, ": %s", counted(p->team->members, "member").at);
    for (int a = 0; p->team->grid.axes > 1 && a < p->team->grid.axes; a++)
        text_format(out, a ? " x %d" : ", %d", p->team->grid.size[a]);
    text_add(out, "\n\n");
    show_cuts(p->team, out);
    text_add(out, "\n");
    show_ops_of_team(p->team, out);
    text_add(out, "\n");
    show_exchanges(p->team, out);
    show_totals(p->team, out);
    text_add(out, "\n");
    show_planned(p, out);
}

/* The team cut, and each member planned by the planning options. */
static struct lx_team_plans *make_team(struct call *call, const struct lx_graph *g)
{
    struct lx_team_options how;
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    if (!read_team(call, NULL, &how) || !read_plan_options(call, g, &plan, values) ||
        !read_team_aim(call, plan.objective, &how.by_time))
        return NULL;
    return lx_team_plans_choose(g, &how, &plan, &call->st);
}

int print_team(struct call *call, const struct lx_graph *g)
{
    struct lx_team_plans *p = make_team(call, g);
    struct text t = {0};
    size_t length = 0;
    char *json = p && wants_json(call) ? lx_team_to_json(p->team, &length) : NULL;
    if (p && !wants_json(call)) show_team(p, &t);
    bool ok = p && deliver(call, wants_json(call) ? json : t.at, wants_json(call) ? length : t.length);
    lx_team_plans_free(p);
    return ok ? EXIT_YES : FAILED;
}

bool write_team(struct call *call, const struct lx_team_plans *p, const char *path, bool to_screen)
{
    size_t length = 0;
    char *json = lx_team_plans_to_json(p, &length);
    bool ok = json ? true : status_no_memory(&call->st);
    if (ok && path) ok = keep_file(call, path, json, length);
    if (ok && to_screen) text_add_n(&call->out, json, length);
    free(json);
    return ok;
}

int plan_team(struct call *call, const char *path)
{
    const char *output = option_value(&call->line, "output");
    bool json = wants_json(call) || (output && strcmp(output, "-") == 0);
    if (output && strcmp(output, "-") == 0) output = NULL;
    const struct lx_graph *g = read_pattern(call, path);
    struct lx_team_plans *p = g ? make_team(call, g) : NULL;
    lx_graph_free(g);
    if (!p) return FAILED;
    int code = FAILED;
    lx_status why = {0};
    if (!(json || output) || write_team(call, p, output, json)) {
        code = EXIT_YES;
        if (!lx_team_plans_check(p, &why)) {
            code = lx_code_exit(why.code);
            note(call, "%s: %s", p->team->graph->file, why.text);
        }
        if (!json && !is_quiet(call)) show_team(p, &call->out);
        if (!json && !is_quiet(call) && output) text_format(&call->out, "\nwritten to %s\n", output);
    }
    lx_team_plans_free(p);
    return code;
}

int check_team(struct call *call, const char *file, const char *text, size_t length)
{
    lx_status why = {0};
    struct lx_team_plans *p = lx_team_plans_parse(file, text, length, &why);
    bool ok = p && lx_team_plans_check(p, &why);
    if (!ok && why.code != LX_E_NO)
        call->st = why;
    else if (wants_json(call))
        team_check_to_json(p ? p->team : NULL, file, ok ? NULL : why.text, &call->out);
    else if (!is_quiet(call))
        show_team_check(p ? p->team : NULL, file, ok ? NULL : why.text, &call->out);
    lx_team_plans_free(p);
    return ok ? EXIT_YES : why.code == LX_E_NO ? EXIT_NO : FAILED;
}

bool wants_team(const struct call *call)
{
    const struct lx_transport *usual = lx_transport_usual();
    return option_given(&call->line, "team") || option_given(&call->line, "transport") || usual->members;
}

static bool read_run(struct call *call, struct lx_team_run_options *run)
{
    const char *name = option_value(&call->line, "transport"),
               *patience = option_value(&call->line, "patience");
    double seconds = 0;
    int64_t seed = 0;
    run->transport = name ? lx_transport_find(name, &call->st) : lx_transport_usual();
    if (!run->transport || !option_int(call, "data", 0, LX_INT_MAX, &seed) ||
        (patience && !lx_parse_number("--patience", patience, &seconds, &call->st)))
        return false;
    if (patience && !(seconds > 0 && seconds <= 86400))
        return status_set(&call->st, LX_E_USAGE, "--patience %s: it must be above 0, and at most 86400",
                          patience);
    int verify = 0;
    if (!option_word(call, "verify", verify_word, &verify)) return false;
    run->verify = (enum lx_verify)verify;
    run->seed = (uint64_t)seed;
    run->timeout_ms = (int)(seconds * 1000);
    return true;
}

static bool write_team_trace(struct call *call, const struct lx_team_plans *p)
{
    const char *path = option_value(&call->line, "trace");
    size_t length = 0;
    if (!path) return true;
    char *trace = lx_team_trace(p, &length, &call->st);
    bool ok = trace && keep_file(call, path, trace, length);
    free(trace);
    return ok;
}

static int show_run_of_team(struct call *call, const struct lx_team_plan *p,
                            const struct lx_team_run_options *run, const struct lx_team_result *r)
{
    if (!r->compared) return EXIT_YES;
    if (!write_team_trace(call, run->plans)) return FAILED;
    if (wants_json(call))
        team_result_to_json(p, r, &call->out);
    else if (!is_quiet(call))
        show_team_result(p, run->transport, r, &call->out);
    return r->ok ? EXIT_YES : EXIT_NO;
}

/* Runs it; false: it could not be run to its end. */
static bool execute_team(struct call *call, const struct lx_team_plan *p, struct lx_team_run_options *run,
                         int *code)
{
    struct lx_team_result r = {0};
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    run->plan = &plan;
    bool ok = read_plan_options(call, p->graph, &plan, values) && lx_team_run(p, run, &r, &call->st);
    if (ok) *code = show_run_of_team(call, p, run, &r);
    lx_team_result_free(&r);
    return ok;
}

/* Other processes must not wait for this one: say it now, and end them. */
static int give_up_team(struct call *call, const struct lx_transport *transport)
{
    note(call, "%s", call->st.text);
    transport->end(false, &call->st);
    return EXIT_NO;
}

/* What all of them see at once (a wrong number of processes, bad input) needs nobody to end the others. */
static int leave_team(struct call *call, const struct lx_transport *transport, bool ran, int code)
{
    bool many = transport && transport->started;
    if (many && (call->st.code == LX_E_NO || (!ran && call->st.code != LX_E_USAGE)))
        return give_up_team(call, transport);
    if (transport && !transport->end(true, &call->st)) return give_up_team(call, transport);
    return code;
}

static bool asks_for_time(struct call *call, const struct lx_graph *g)
{
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status before = call->st;
    bool time = false;
    if (!read_plan_options(call, g, &plan, values) || !read_team_aim(call, plan.objective, &time))
        time = false;
    call->st = before; /* said where the options are used */
    return time;
}

/* As many processes as the pattern's grid has devices are that grid. */
static void take_stated_grid(const struct call *call, const struct lx_graph *g, struct lx_team_options *how)
{
    struct lx_team_grid grid = {.axes = g->grid_axes};
    memcpy(grid.size, g->grid, sizeof grid.size);
    if (!option_given(&call->line, "team") && g->grid_axes > 0 && lx_team_members_of(&grid) == how->members)
        how->grid = grid;
}

static struct lx_team_plans *chosen_plans(struct call *call, const struct lx_graph *g,
                                          const struct lx_team_options *how)
{
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    return read_plan_options(call, g, &plan, values) ? lx_team_plans_choose(g, how, &plan, &call->st) : NULL;
}

int run_team(struct call *call, const char *file, const char *text, size_t length)
{
    struct lx_team_options how;
    struct lx_team_run_options run = {0};
    int code = FAILED;
    bool ok = read_run(call, &run) && read_team(call, run.transport, &how);
    const struct lx_graph *g = ok ? pattern_of_text(call, file, text, length) : NULL;
    how.by_time = g && asks_for_time(call, g);
    if (g) take_stated_grid(call, g, &how);
    /* Where time counts, plans of all members decide which cuts it has, and a trace shows them all; else each member
     * makes its own. */
    bool together = g && (how.by_time || option_given(&call->line, "trace"));
    struct lx_team_plans *plans = together ? chosen_plans(call, g, &how) : NULL;
    struct lx_team_plan *own = g && !together ? lx_team_make(g, &how, &call->st) : NULL;
    const struct lx_team_plan *p = plans ? plans->team : own;
    run.plans = plans;
    bool ran = p && execute_team(call, p, &run, &code);
    ok = ok && p;
    lx_team_plans_free(plans);
    lx_team_free(own);
    lx_graph_free(g);
    /* Bad input is seen by all of them as well. */
    return leave_team(call, run.transport, ran || !ok, code);
}

int run_team_plan(struct call *call, const char *file, const char *text, size_t length)
{
    struct lx_team_run_options run = {0};
    struct lx_team_options asked = {0};
    int code = FAILED;
    struct lx_team_plans *p = no_planning_options(call, file) && read_run(call, &run)
                                  ? lx_team_plans_parse(file, text, length, &call->st)
                                  : NULL;
    bool ok = p && (!option_given(&call->line, "team") || read_team(call, NULL, &asked));
    if (ok && asked.members && asked.members != p->team->members)
        ok = status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                           "this plan is of a team of %d; leave --team out", p->team->members);
    run.plans = p;
    bool ran = ok && execute_team(call, p->team, &run, &code);
    lx_team_plans_free(p);
    return leave_team(call, run.transport, ran || !ok, code);
}
