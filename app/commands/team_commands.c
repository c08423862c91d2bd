/* A team's plan and its run, for people and for programs. Under mpirun every process runs this; only the one
 * of member 0, which has the gathered results, says anything. */
#include "commands/team_commands.h"
#include "base/checked.h"
#include "base/fail.h"
#include "planning/planning.h"
#include "text/gathered.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEMBERS = 1024, MOST_ROWS = 40 };

const struct option_row team_rows[] = {
    {"team", 0, "N", "cut the graph over N devices that exchange what they need of each other"},
    {0},
};

const struct option_row member_rows[] = {
    {"transport", 0, "NAME",
     "how members talk: threads (default), all in this process; mpi, one per process: start with "
     "mpirun -n N"},
    {"patience", 0, "SECONDS", "how long members wait for each other before they give up (default 5)"},
    {0},
};

const char *transport_word(int k)
{
    const struct lx_transport *const *t = lx_transports();
    while (k-- > 0 && *t) t++;
    return *t ? (*t)->name : NULL;
}

/* "0..171, 171..342" */
static void add_bounds(const struct lx_team_plan *p, int32_t tensor, struct text *t)
{
    const struct lx_team_tensor *x = &p->tensors[tensor];
    if (x->cut < 0) {
        text_add(t, "whole on every member");
        return;
    }
    text_format(t, "dimension %d: ", x->cut);
    for (int m = 0; m < p->members && m < 8; m++)
        text_format(t, "%s%lld", m ? " + " : "", (long long)(x->bound[m + 1] - x->bound[m]));
    if (p->members > 8) text_add(t, " + ...");
}

static void show_cuts(const struct lx_team_plan *p, struct text *out)
{
    static const struct heading columns[] = {{"tensor", false}, {"role", false}, {"cut", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (int32_t i = 0; i < p->graph->tensor_count && i < MOST_ROWS; i++) {
        struct text cut = {0};
        add_bounds(p, i, &cut);
        gathered_name(&t, p->graph->tensors[i].name);
        gathered_cell(&t, PAINT_DIM, "%s", lx_role_word(p->graph->tensors[i].role));
        gathered_words(&t, p->tensors[i].cut < 0 ? PAINT_DIM : PAINT_PLAIN, cut.at ? cut.at : "");
        text_free(&cut);
    }
    gathered_write(&t, out);
    if (p->graph->tensor_count > MOST_ROWS)
        text_format(out, "  ... %s more\n", counted(p->graph->tensor_count - MOST_ROWS, "tensor").at);
}

static void show_ops_of_team(const struct lx_team_plan *p, struct text *out)
{
    static const struct heading columns[] = {
        {"op", false}, {"kind", false}, {"how", false}, {"bytes received", true}, {"core", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (int32_t o = 0; o < p->graph->op_count && o < MOST_ROWS; o++) {
        const struct lx_team_op *x = &p->ops[o];
        const struct lx_team_group *g = x->group >= 0 ? &p->groups[x->group] : NULL;
        gathered_name(&t, p->graph->ops[o].name);
        gathered_cell(&t, PAINT_DIM, "%s", p->graph->ops[o].kind->name);
        gathered_cell(&t, PAINT_PLAIN, "%s", lx_team_mode_word(x->mode));
        gathered_cell(&t, x->bytes ? PAINT_PLAIN : PAINT_DIM, "%s", grouped(x->bytes).at);
        struct text core = {0};
        if (g && g->core)
            for (int m = 0; m < p->members && m < 4; m++)
                text_format(&core, "%s%lld", m ? ", " : "", (long long)(g->core[m].end - g->core[m].begin));
        gathered_cell(&t, PAINT_DIM, "%s", core.at ? core.at : "");
        text_free(&core);
    }
    gathered_write(&t, out);
    if (p->graph->op_count > MOST_ROWS)
        text_format(out, "  ... %s more\n", counted(p->graph->op_count - MOST_ROWS, "op").at);
}

static void show_exchanges(const struct lx_team_plan *p, struct text *out)
{
    static const struct heading columns[] = {{"exchange of", false},
                                             {"pattern", false},
                                             {"for", false},
                                             {"reads", true},
                                             {"bytes", true},
                                             {"one by one", true},
                                             {"received by each member", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (int32_t i = 0; i < p->exchange_count && i < MOST_ROWS; i++) {
        const struct lx_team_exchange *x = &p->exchanges[i];
        struct text each = {0};
        for (int m = 0; m < p->members && m < 8; m++)
            text_format(&each, "%s%s", m ? ", " : "", grouped(x->received[m]).at);
        gathered_name(&t, p->graph->tensors[x->tensor].name);
        gathered_cell(&t, PAINT_DIM, "%s", lx_team_pattern_word(x->pattern));
        gathered_name(&t, p->graph->ops[x->first_reader].name);
        gathered_cell(&t, PAINT_PLAIN, "%d", x->reads);
        gathered_cell(&t, PAINT_PLAIN, "%s", grouped(x->bytes).at);
        gathered_cell(&t, PAINT_DIM, "%s", grouped(x->separate_bytes).at);
        gathered_words(&t, PAINT_PLAIN, each.at ? each.at : "");
        text_free(&each);
    }
    if (p->exchange_count) gathered_write(&t, out);
}

static void show_totals(const struct lx_team_plan *p, struct text *out)
{
    text_format(out, "exchanged %s in %s", in_bytes(p->bytes).at, counted(p->exchange_count, "exchange").at);
    if (p->combine_bytes) text_format(out, ", %s to combine partial results", in_bytes(p->combine_bytes).at);
    text_format(out, "; without the passes %s", in_bytes(p->plain_bytes).at);
    if (p->plain_bytes > 0)
        text_format(out, ", saved %s",
                    in_percent((double)(p->plain_bytes - p->bytes) / (double)p->plain_bytes).at);
    text_format(out, "\nexpected  %s\n",
                p->exact ? "equal to one device's, bit for bit" : "a sum is cut: equal within the tolerance");
}

static bool read_members(struct call *call, int *members)
{
    int64_t n = 2;
    if (!option_int(call, "team", 1, MOST_MEMBERS, &n)) return false;
    *members = (int)n;
    return true;
}

int print_team(struct call *call, struct lx_graph *g)
{
    struct lx_team_options how = {0};
    struct lx_team_plan *p = read_members(call, &how.members) ? lx_team_make(g, &how, &call->st) : NULL;
    struct text t = {0};
    size_t length = 0;
    char *json = p && wants_json(call) ? lx_team_to_json(p, &length) : NULL;
    if (p && !wants_json(call)) {
        text_format(&t, "%s: %s\n\n", g->name, counted(p->members, "member").at);
        show_cuts(p, &t);
        text_add(&t, "\n");
        show_ops_of_team(p, &t);
        text_add(&t, "\n");
        show_exchanges(p, &t);
        show_totals(p, &t);
    }
    bool ok = p && deliver(call, wants_json(call) ? json : t.at, wants_json(call) ? length : t.length);
    lx_team_free(p);
    lx_graph_free(g);
    return ok ? EXIT_YES : FAILED;
}

static void result_to_json(const struct lx_team_plan *p, const struct lx_team_result *r, struct text *out)
{
    text_add(out, "{\"lxplan\": 1, \"kind\": \"team run\", \"pattern\": ");
    text_json_string(out, p->graph->name);
    text_format(out,
                ", \"members\": %d, \"equal\": %s, \"exact\": %s, \"elements\": %" PRId64
                ", \"differing\": %" PRId64 ", \"worst\": %.9g, \"tolerance\": %.9g",
                p->members, r->equal ? "true" : "false", p->exact ? "true" : "false", r->elements,
                r->differing, r->worst, r->tolerance);
    text_format(out,
                ", \"exchanged_bytes\": %" PRId64 ", \"combine_bytes\": %" PRId64
                ", \"plain_bytes\": %" PRId64 ", \"ops\": [",
                p->bytes, p->combine_bytes, p->plain_bytes);
    for (int32_t o = 0; o < p->graph->op_count; o++) {
        text_add(out, o ? ", {\"name\": " : "{\"name\": ");
        text_json_string(out, p->graph->ops[o].name);
        text_format(out, ", \"mode\": \"%s\", \"bytes\": %" PRId64 "}", lx_team_mode_word(p->ops[o].mode),
                    p->ops[o].bytes);
    }
    text_add(out, "], \"exchanges\": [");
    for (int32_t i = 0; i < p->exchange_count; i++) {
        const struct lx_team_exchange *x = &p->exchanges[i];
        text_add(out, i ? ", {\"tensor\": " : "{\"tensor\": ");
        text_json_string(out, p->graph->tensors[x->tensor].name);
        text_format(out, ", \"bytes\": %" PRId64 ", \"received\": [", x->bytes);
        for (int m = 0; m < p->members; m++) text_format(out, "%s%" PRId64, m ? ", " : "", x->received[m]);
        text_add(out, "]}");
    }
    text_add(out, "]}\n");
}

/* What each member's own graph then moves through its HBM, planned like any other. */
static void show_member_plans(struct call *call, const struct lx_team_plan *p, struct text *out)
{
    static const struct heading columns[] = {
        {"member", true}, {"ops", true}, {"HBM bytes", true}, {"all off chip", true}, {"status", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (int m = 0; m < p->members && m < 16; m++) {
        lx_status why = {0}, kept = call->st;
        struct lx_graph *g = lx_team_member_graph(p, m, &why);
        struct lx_plan *plan = g ? make_plan(call, g) : NULL;
        if (!plan && g) why = call->st;
        call->st = kept;
        gathered_cell(&t, PAINT_PLAIN, "%d", m);
        gathered_cell(&t, PAINT_PLAIN, "%s", plan ? grouped(plan->graph->op_count).at : "");
        gathered_cell(&t, PAINT_PLAIN, "%s", plan ? grouped(plan->hbm_bytes).at : "");
        gathered_cell(&t, PAINT_DIM, "%s", plan ? grouped(plan->baseline_hbm_bytes).at : "");
        gathered_words(&t, PAINT_DIM, plan ? lx_verdict_word(plan->answer.status) : why.text);
        lx_plan_free(plan);
    }
    text_add(out, "\nwhat each member's scratchpads leave to its HBM\n");
    gathered_write(&t, out);
}

static void show_result(struct call *call, const struct lx_team_plan *p, const struct lx_transport *transport,
                        const struct lx_team_result *r, struct text *out)
{
    text_format(out, "%s on %s over %s\n\n", p->graph->name, counted(p->members, "member").at,
                transport->name);
    show_exchanges(p, out);
    show_totals(p, out);
    show_member_plans(call, p, out);
    text_add(out, "\nresult    ");
    paint_add(out, r->equal ? PAINT_GOOD : PAINT_BAD, r->equal ? "equal" : "NOT EQUAL");
    text_format(out, " to one device's: %s of %s elements differ in a bit, by at most %.3g",
                grouped(r->differing).at, grouped(r->elements).at, r->worst);
    if (r->tolerance > 0) text_format(out, " (tolerance %.0e of %.3g)", r->tolerance, r->largest);
    text_add(out, "\n");
}

int run_team(struct call *call, const char *path)
{
    const char *name = option_value(&call->line, "transport"),
               *patience = option_value(&call->line, "patience");
    double seconds = 0;
    int64_t seed = 0;
    struct lx_team_options how = {0};
    struct lx_team_result r = {0};
    const struct lx_transport *transport = lx_transport_find(name ? name : "threads", &call->st);
    bool ok = transport && read_members(call, &how.members) &&
              option_int(call, "data", 0, LX_INT_MAX, &seed) &&
              (!patience || lx_parse_number("--patience", patience, &seconds, &call->st));
    if (ok && patience && !(seconds > 0 && seconds <= 86400))
        ok = status_set(&call->st, LX_E_USAGE, "--patience %s: it must be above 0, and at most 86400",
                        patience);
    struct lx_graph *g = ok ? read_pattern(call, path) : NULL;
    struct lx_team_plan *p = g ? lx_team_make(g, &how, &call->st) : NULL;
    struct lx_team_run_options run = {
        .transport = transport, .seed = (uint64_t)seed, .timeout_ms = (int)(seconds * 1000)};
    ok = p && lx_team_run(p, &run, &r, &call->st);
    int code = ok ? EXIT_YES : FAILED;
    if (ok && r.compared) {
        code = r.equal ? EXIT_YES : EXIT_NO;
        if (wants_json(call))
            result_to_json(p, &r, &call->out);
        else if (!is_quiet(call))
            show_result(call, p, transport, &r, &call->out);
    }
    lx_team_free(p);
    lx_graph_free(g);
    /* Other processes must not wait for this one: say it now, and end them. Not for a wrong number of
     * processes, which all of them see at once. */
    if (!ok && p && transport == &lx_transport_mpi && call->st.code != LX_E_USAGE) {
        note(call, "%s", call->st.text);
        transport->end(false);
        return EXIT_NO;
    }
    if (transport) transport->end(true);
    return code;
}
