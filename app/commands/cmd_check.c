/* lxplan check: is a plan legal and does it reach its target? Does a pattern behave as it says it does? */
#include "planning/planning.h"
#include "commands/team_commands.h"
#include "interrupt.h"
#include "base/file.h"
#include "base/json/json.h"
#include "text/colour.h"
#include "stages/stages.h"
#include "text/format.h"

struct outcome {
    const char *file;
    bool passed;
    const char *text;     /* one line that says why */
    const char *expected; /* "pass", "fail" or NULL; what the pattern says about this solver */
    struct lx_check_report report;
    int64_t value, least; /* of the question; -1: no least is asked for */
};

static const char *const truth[] = {"false", "true"};

/* "yes: why" or "no: why". */
static void write_verdict(bool yes, const char *why, struct text *out)
{
    text_add(out, ": ");
    paint_add(out, yes ? PAINT_GOOD : PAINT_BAD, yes ? "yes" : "no");
    text_add(out, ": ");
    add_printable(out, why, 0);
    text_add(out, "\n");
}

/* Verified figures and claims; an illegal plan has neither. */
static void write_outcome_json(const struct outcome *o, const struct lx_plan *p, bool legal, struct text *out)
{
    const struct lx_check_report *r = &o->report;
    text_add(out, "{\"lxplan\": 1, \"kind\": \"check\", \"file\": ");
    text_json_string(out, o->file);
    text_add(out, ", \"pattern\": ");
    text_json_string(out, p->graph->name);
    text_add(out, ", \"solver\": ");
    text_json_string(out, p->solver);
    text_format(out, ", \"pass\": %s, \"status\": \"%s\", \"hbm_bytes\": %" PRId64 ", \"legal\": %s",
                truth[o->passed], lx_verdict_word(p->answer.status), p->figures.hbm_bytes, truth[legal]);
    if (legal)
        text_format(out,
                    ", \"verified_hbm_bytes\": %" PRId64 ", \"compulsory_hbm_bytes\": %" PRId64
                    ", \"bound\": \"%s\", \"optimality\": \"%s\"",
                    r->hbm_bytes, r->compulsory_bytes, lx_bound_word(r->bound), lx_bound_word(r->optimality));
    if (legal && r->proof) text_format(out, ", \"proof\": \"%s\"", r->proof);
    if (legal && o->least >= 0)
        text_format(out, ", \"value\": %" PRId64 ", \"proven_least\": %" PRId64, o->value, o->least);
    if (p->graph->target_hbm_bytes >= 0)
        text_format(out, ", \"target_hbm_bytes\": %" PRId64 ", \"meets_target\": %s",
                    p->graph->target_hbm_bytes, truth[lx_plan_meets_target(p)]);
    else
        text_add(out, ", \"target_hbm_bytes\": null, \"meets_target\": null");
    text_add(out, ", \"expected\": ");
    if (o->expected)
        text_json_string(out, o->expected);
    else
        text_add(out, "null");
    text_add(out, ", \"text\": ");
    text_json_string(out, o->text);
    text_add(out, "}\n");
}

static void write_outcome_text(const struct outcome *o, const struct lx_plan *p, struct text *out)
{
    add_printable(out, o->file, 0);
    text_add(out, ", ");
    add_printable(out, p->solver, 0);
    write_verdict(o->passed, o->text, out);
    if (!o->expected || (strcmp(o->expected, "pass") == 0) == o->passed) return;
    text_add(out, "expectation: ");
    add_printable(out, o->file, 0);
    text_format(out, " says \"%s\" for %s, but it %s; change expect.%s to \"%s\"\n", o->expected, p->solver,
                o->passed ? "passed" : "failed", p->solver, o->passed ? "pass" : "fail");
}

/* The pattern's expectation of the solver. It holds for the pattern as in its file, not for another device,
 * budget or pass. */
static const char *cmd_check_expectation(const struct call *call, const struct lx_plan *p)
{
    if (environment_sizes()) return NULL;
    for (const struct option_row *row = planning_rows; row->name; row++)
        if (strcmp(row->name, "solver") != 0 && option_given(&call->line, row->name)) return NULL;
    for (int i = 0; i < p->graph->expect_count; i++)
        if (strcmp(p->graph->expects[i].solver, p->solver) == 0)
            return p->graph->expects[i].pass ? "pass" : "fail";
    return NULL;
}

/* The value of a legal plan, and the least that is proved here: by the checker's bound, and of somebody else's
 * placement, if that is above it, by the bound of our own best one. */
static void find_least(struct call *call, const struct lx_plan *p, bool stated, struct outcome *o)
{
    bool height = p->problem.objective == LX_HEIGHT;
    o->value = height ? p->figures.height_bytes : o->report.hbm_bytes;
    o->least = p->problem.objective == LX_FIT && p->graph->list ? -1 : o->report.least;
    if (!stated || o->least < 0 || o->value <= o->least) return;
    SCOPED(plan_free_at) struct lx_plan *ours = best_of_list(call, p->graph, p->problem.objective);
    if (ours && lx_plan_check(ours, &call->st)) o->least = max_i64(o->least, lx_plan_least(ours));
    call->st = (lx_status){0};
}

/* "3.1 % above the proven least" */
static void add_distance(const struct outcome *o, const char *before, struct text *t)
{
    if (o->least < 0) return;
    if (o->value <= o->least)
        text_format(t, "%sthe proven least", before);
    else if (o->least > 0)
        text_format(t, "%s%.3g %% above the proven least", before,
                    100 * (double)(o->value - o->least) / (double)o->least);
    else
        text_format(t, "%sabove the proven least of 0", before);
}

/* Legal, and the target met? Of a plan file the pattern is not to blame, so its expectation does not
 * count. */
static int cmd_check_judge(struct call *call, const struct source *from, const struct lx_plan *p)
{
    lx_status why = {0};
    SCOPED(text_free) struct text t = {0};
    struct outcome o = {.file = from->file};
    const struct lx_check_report *r = &o.report;
    bool plan = lx_is_plan(from->text, from->length), foreign = !plan && is_stated(call, p->graph);
    int64_t target = p->graph->target_hbm_bytes;
    bool legal = lx_plan_check_report(p, &o.report, &why), meets = lx_plan_meets_target(p);
    bool stated = !legal || lx_plan_stated_met(p, &why);
    o.passed = legal && stated && meets;
    if (!legal && why.code != LX_E_NO) return call->st = why, FAILED;
    if (!plan) o.expected = cmd_check_expectation(call, p);
    o.least = -1;
    if (legal) find_least(call, p, foreign, &o);
    if (legal && !meets)
        text_format(&t, "legal, but %s of traffic is %s above the target of %s", in_bytes(r->hbm_bytes).at,
                    in_bytes(r->hbm_bytes - target).at, in_bytes(target).at);
    else if (legal && foreign) {
        bool height = p->problem.objective == LX_HEIGHT;
        text_format(&t, "legal; %s %s", height ? "height" : "cost of buffers off chip", grouped(o.value).at);
    } else if (legal) {
        text_format(&t, "legal; traffic %s verified", in_bytes(r->hbm_bytes).at);
        if (target >= 0) text_format(&t, ", meets the target of %s", in_bytes(target).at);
        text_format(&t, "; optimality: %s", lx_bound_word(r->optimality));
        if (r->proof && r->optimality == LX_BOUND_VERIFIED) text_format(&t, " (%s)", r->proof);
    }
    if (legal) add_distance(&o, foreign ? ", " : p->problem.objective == LX_HEIGHT ? "; height: " : "; ", &t);
    if (!legal || !stated) text_format(&t, "%s%s", legal ? "; " : "", why.text);
    o.text = t.at ? t.at : "";
    if (wants_json(call))
        write_outcome_json(&o, p, legal, &call->out);
    else if (!is_quiet(call))
        write_outcome_text(&o, p, &call->out);
    if (interrupted) note(call, "%s: interrupted; this is about the best plan so far", o.file);
    return !o.passed ? EXIT_NO : interrupted ? EXIT_INTERRUPTED : EXIT_YES;
}

/* `st`: the expected refusal, or LX_OK when there was none. */
static void write_refusal(struct call *call, const char *file, const lx_status *st,
                          const struct expected_error *e)
{
    char described[1200];
    struct text line = {0}, *out = &call->out;
    bool refused = st->code != LX_OK;
    if (refused)
        text_format(&line, "refused as expected (%s): %s", e->code,
                    lx_status_describe(st, described, sizeof described));
    else
        text_format(&line, "%s: not refused, though stage %s should say \"%s\"; change expect.error", file,
                    e->stage, e->code);
    if (wants_json(call)) {
        text_add(out, "{\"lxplan\": 1, \"kind\": \"check\", \"file\": ");
        text_json_string(out, file);
        text_format(out, ", \"pass\": %s, \"stage\": \"%s\", \"refused\": %s, \"expected_error\": ",
                    truth[!refused], e->stage, truth[refused]);
        text_json_string(out, e->code);
        text_add(out, ", \"text\": ");
        text_json_string(out, line.at ? line.at : "");
        text_add(out, "}\n");
    } else if (!is_quiet(call)) {
        add_printable(out, line.at ? line.at : "", 0);
        text_add(out, "\n");
    }
    text_free(&line);
}

static int check_refusal(struct call *call, const struct source *from, const struct expected_error *e)
{
    const char *file = from->file;
    if (!is_stage(e->stage)) {
        SCOPED(text_free) struct text known = {0};
        add_words(stage_word, ", ", &known);
        status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                      "stage %s is not part of this version; there are: %s", e->stage,
                      known.at ? known.at : "");
        return FAILED;
    }
    /* The code with which the pattern is refused up to and including the stage; LX_OK if it is not. */
    call->st = (lx_status){0};
    const struct lx_graph *read = parse_graph(call, from), *g = read ? with_sizes(call, read) : NULL;
    if (g) try_stage(call, g, e->stage);
    lx_graph_free(g);
    lx_graph_free(read);
    lx_status st = call->st;
    bool refused = st.code != LX_OK, as_expected = refused && strcmp(lx_code_word(st.code), e->code) == 0;
    if (refused && !as_expected && st.code != LX_E_MEMORY)
        note(call, "%s: expected error \"%s\" of stage %s, but got \"%s\"", file, e->code, e->stage,
             lx_code_word(st.code));
    if (refused && !as_expected) return FAILED;
    call->st = (lx_status){0};
    write_refusal(call, file, &st, e);
    return refused ? EXIT_NO : EXIT_YES;
}

/* Two texts of XLA are the plan of another maker: in either order, as their headers tell them apart. */
static int check_pair(struct call *call, const struct source pair[2])
{
    bool first = lx_is_allocinfo(pair[0].text, pair[0].length),
         second = lx_is_allocinfo(pair[1].text, pair[1].length);
    const struct source *from = &pair[first], *to = &pair[!first];
    struct lx_xla_text buffers = {from->file, from->text, from->length},
                       places = {to->file, to->text, to->length};
    struct lx_xla_report r = {0};
    lx_status st = {0};
    struct text t = {0}, *out = &call->out;
    int64_t capacity = -1; /* the texts have none */
    if (first == second)
        return status_set(&call->st, LX_E_USAGE,
                          "two files are checked together if one is XLA's bufferinfo and the other its "
                          "allocinfo, with the columns buffer_id,size,offset,start_time,end_time"),
               FAILED;
    if (option_given(&call->line, "lx")) {
        SCOPED(graph_free_at)
        const struct lx_graph *read = parse_graph(call, from), *g = read ? with_sizes(call, read) : NULL;
        if (g && g->list) capacity = g->list->capacity;
        bool ok = g != NULL;
        if (!ok) return FAILED;
    }
    bool legal = lx_check_xla(&buffers, &places, capacity, &r, &st);
    if (!legal && st.code != LX_E_NO) return call->st = st, FAILED;
    if (legal)
        text_format(&t, "legal; %s on chip of %s in %s, height %s%s", counted(r.on_chip, "buffer").at,
                    grouped(r.buffers).at, counted(r.stays, "stay").at, in_bytes(r.height_bytes).at,
                    capacity < 0 ? "; --lx gives a capacity to check" : "");
    else
        text_add(&t, st.text);
    if (wants_json(call)) {
        text_add(out, "{\"lxplan\": 1, \"kind\": \"check\", \"file\": ");
        text_json_string(out, to->file);
        text_format(out, ", \"pass\": %s, \"legal\": %s", truth[legal], truth[legal]);
        if (legal)
            text_format(out,
                        ", \"buffers\": %d, \"on_chip\": %d, \"stays\": %d, \"scoped\": %d, "
                        "\"height_bytes\": %" PRId64,
                        (int)r.buffers, (int)r.on_chip, (int)r.stays, (int)r.scoped, r.height_bytes);
        text_add(out, ", \"text\": ");
        text_json_string(out, t.at ? t.at : "");
        text_add(out, "}\n");
    } else if (!is_quiet(call)) {
        add_printable(out, to->file, 0);
        write_verdict(legal, t.at ? t.at : "", out);
    }
    text_free(&t);
    return legal ? EXIT_YES : EXIT_NO;
}

/* A problem and its placement by somebody else, in either order. */
static int check_answer(struct call *call, const struct source pair[2])
{
    bool first = lx_is_answer(pair[0].text, pair[0].length);
    const struct source *from = &pair[first], *to = &pair[!first];
    SCOPED(graph_free_at) const struct lx_graph *g = pattern_of_text(call, from);
    SCOPED(graph_free_at)
    const struct lx_graph *with =
        g ? lx_graph_with_answer(g, to->file, to->text, to->length, &call->st) : NULL;
    SCOPED(plan_free_at) struct lx_plan *p = with ? lx_plan_stated(with, &call->st) : NULL;
    int code = p ? cmd_check_judge(call, to, p) : FAILED;
    return code;
}

/* The text of a certificate; NULL, with the call's status: there is none, or no JSON. */
static char *read_certificate(struct call *call, const char *file)
{
    size_t length;
    struct json j;
    char *text = file_read(file, &length, &call->st);
    if (text && json_parse(&j, file, text, length, &call->st)) return json_free(&j), text;
    mem_free(text);
    return NULL;
}

static int cmd_check_run(struct call *call)
{
    struct source from[2] = {0};
    struct expected_error e;
    int code = FAILED;
    bool two = call->line.files.count == 2,
         ok = read_source(call, 0, &from[0]) && (!two || read_source(call, 1, &from[1]));
    const char *file = from[0].file, *text = from[0].text;
    size_t length = from[0].length;
    if (ok && two && lx_is_answer(from[0].text, from[0].length) != lx_is_answer(from[1].text, from[1].length))
        code = check_answer(call, from);
    else if (ok && two)
        code = check_pair(call, from);
    else if (ok && lx_is_team_plan(text, length))
        code = check_team(call, from);
    else if (ok && json_is_kind(text, length, "launch")) {
        /* A runtime plan of `--stage launch --json`, or of another writer: can it be launched? */
        if (lx_runtime_plan_check(file, text, length, &call->st)) code = EXIT_YES;
        if (code == EXIT_YES && wants_json(call))
            text_add(&call->out, "{\"runtime_plan\": true, \"legal\": true}\n");
        else if (code == EXIT_YES && !is_quiet(call))
            text_format(&call->out, "%s: yes: a runtime plan that can be launched\n", file);
    } else if (ok && !option_given(&call->line, "solver") && expected_error_of(file, text, length, &e))
        code = check_refusal(call, from, &e);
    else if (ok) {
        SCOPED(plan_free_at) struct lx_plan *p = plan_of_text(call, from);
        const char *certificate = option_value(&call->line, "certificate");
        OWNED char *proof = p && certificate ? read_certificate(call, certificate) : NULL;
        if (proof) p->certificate = proof;
        if (p && (proof || !certificate)) code = cmd_check_judge(call, from, p);
    }
    mem_free(from[0].text);
    mem_free(from[1].text);
    return code;
}

static const struct option_row *const tables[] = {planning_rows, json_rows,  quiet_rows,
                                                  help_rows,     model_rows, NULL};

const struct command command_check = {
    .verifies = true,
    .name = "check",
    .synopsis = "PLAN | FILE [-s SOLVER] [options] | PROBLEM PLACEMENT [--lx SIZE]",
    .summary = "Say whether a plan is legal and reaches the target of its pattern",
    .details =
        "The checker shares no code with the planner; claims that it cannot verify are called claimed.\n"
        "A pattern is planned first. Exit code 0: legal and target met; 1: not; 2: bad input. For a pattern\n"
        "that a stage must refuse (expect.error), checked without -s: 1: refused with that code; 0: not\n"
        "refused; 2: refused with another code.\n"
        "Plans of other makers: a MiniMalloc CSV with offsets, a D2M dump with offsets, lxplan-lifetimes; "
        "with\n"
        "any planning option but --lx they are patterns. Two files: XLA's bufferinfo and allocinfo, or a\n"
        "problem and its placement, a dsa-solution or a CSV of id,offset.\n",
    .options = tables,
    .least_files = 1,
    .most_files = 2,
    .file_word = "PLAN or FILE",
    .run = cmd_check_run,
};
