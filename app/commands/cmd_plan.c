/* lxplan plan: a pattern in, a plan out, for people or as a file. */
#include "planning/asked.h"
#include "planning/layer_words.h"
#include "export/nest_words.h"
#include "planning/planning.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "interrupt.h"
#include "planning/buffer_table.h"
#include "export/plan_words.h"
#include "planning/show_plan.h"
#include "stages/stages.h"
#include "text/largest.h"
#include "text/table.h"
#include "commands/team_commands.h"
#include "text/format.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* More rows than this scroll away; the costliest are what one looks for. */
enum { MOST_ROWS = 40 };

static const struct option_row rows[] = {
    {"stage", 0, "STAGE", "print the result of one stage instead: {}"},
    {"stages", 0, NULL, "the traffic as the use of the scratchpad grows, step by step"},
    {"explain", 0, "BUFFER|NEST|TENSOR",
     "where a buffer is, why, and what helps, each remedy tried; . for the plan as a whole; what a nest, by "
     "number "
     "(nest1) or by an op of it, keeps on chip; nests for all of them; with --team, why a tensor is cut as "
     "it "
     "is and what every other cut costs, . for all tensors; may be repeated"},
    {"all", 'a', NULL,
     "list every buffer and op, not only the costliest; with --stage launch every core's tiles, with --stage "
     "divide other divisions"},
    {"log", 'l', NULL, "say on standard error what passes and solvers try (of a build with LXPLAN_LOGGING)"},
    {"output", 'o', "PLAN", "write the plan to this file, completely or not at all"},
    {0},
};

static const struct option_words words[] = {{"stage", stage_word}, {"team-by", team_aim_word}, {0}};

static void label(struct text *out, const char *word)
{
    paint_add(out, PAINT_DIM, word);
    text_pad(out, ' ', 10 - strlen(word));
}

static void write_pattern_line(const struct lx_plan *p, struct text *out)
{
    const struct lx_graph *g = p->graph;
    char *name = printable(g->name, 60);
    label(out, "pattern");
    paint_add(out, PAINT_HEADING, name ? name : "?");
    free(name);
    if (g->is_list)
        text_format(out, ": %s\n", counted(g->buffer_count, "buffer").at);
    else
        text_format(out, ": %s, %s\n", counted(g->op_count, "op").at, counted(g->tensor_count, "tensor").at);
}

/* Of a graph that repeats some of itself. */
static void write_layers(const struct lx_plan *p, struct text *out)
{
    struct text layers = {0};
    add_layers(p, &layers);
    if (layers.at && layers.length) {
        label(out, "layers");
        text_format(out, "%s\n", layers.at);
    }
    text_free(&layers);
}

static void write_answer_lines(const struct lx_plan *p, struct text *out)
{
    static const enum paint paints[] = {[LX_FEASIBLE] = PAINT_PLAIN,
                                        [LX_OPTIMAL] = PAINT_GOOD,
                                        [LX_INFEASIBLE] = PAINT_BAD,
                                        [LX_LIMIT] = PAINT_PLAIN,
                                        [LX_ERROR] = PAINT_BAD};
    const struct lx_answer *a = &p->answer;
    label(out, "solver");
    text_format(out, "%s, seed %llu%s%s\n", p->solver, (unsigned long long)p->seed, *p->options ? ", " : "",
                p->options);
    label(out, "status");
    paint_add(out, paints[a->status], verdict_words(p));
    add_reason_words(p, out);
    text_add(out, "\n");
}

/* What is moved, and what ops wait for. */
static void write_sums(const struct lx_plan *p, struct text *out)
{
    int32_t ops = p->layouts->graph->op_count;
    int64_t *moved = moved_by_buffers(p);
    struct lx_op_wait *waits = calloc((size_t)ops + 1, sizeof *waits);
    out->failed |= !moved || !waits;
    if (!out->failed) {
        struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
        lx_plan_waits(p, waits);
        struct lx_op_wait all = lx_waits_sum(waits, ops);
        label(out, "bytes");
        add_byte_sums(p, &sums, out);
        text_add(out, "\n");
        label(out, "waits");
        add_wait_sums(&all, out);
        text_add(out, "\n");
    }
    free(moved);
    free(waits);
}

/* Beside what nothing on chip costs, where that is an answer. */
static void add_baseline(const struct lx_plan *p, struct text *out)
{
    int64_t all = p->figures.baseline_hbm_bytes;
    bool legal = !p->graph->is_list || !(lx_problem_needs(&p->problem) & (LX_CAN_MUST | LX_CAN_STAGING));
    if (!legal && p->answer.status != LX_INFEASIBLE)
        text_add(out, "; not all may be off chip");
    else if (legal && all > 0)
        text_format(out, "; all off chip%s %s, saved %s", p->graph->came_from ? " as rewritten" : "",
                    in_bytes(all).at, in_percent((double)(all - p->figures.hbm_bytes) / (double)all).at);
}

/* "3 nests, 96 iterations: ticks 2 to 9 x16 over s; ..." as far as a line may go. */
static void write_nests(const struct lx_plan *p, struct text *out)
{
    enum { MOST = 4 };
    if (p->nest_count == 0) return;
    label(out, "nests");
    add_nests_sum(p, out);
    for (int32_t i = 0; i < p->nest_count && i < MOST; i++) {
        text_format(out, "%s%d to %d ", i ? "; " : ": ticks ", (int)p->nests[i].first, (int)p->nests[i].last);
        add_nest_words(p, &p->nests[i], out);
    }
    text_add(out, p->nest_count > MOST ? "; ...\n" : "\n");
}

/* Of a plan whose graph was rewritten. */
static void write_online(const struct lx_plan *p, struct text *out)
{
    int64_t sums = 0;
    const struct lx_graph *g = p->graph, *from = g->came_from;
    if (!from) return;
    for (int32_t o = 0; o < g->op_count; o++) sums += g->ops[o].kind->id == LX_KIND_LOGSUMEXP;
    label(out, "online");
    text_format(out, "%s, in which tiles may cut rows of softmax: %s, %d as it is written\n",
                counted(sums, "running sum").at, counted(g->op_count, "op").at, (int)from->op_count);
}

static void write_traffic_lines(const struct lx_plan *p, struct text *out)
{
    label(out, p->graph->is_list ? "cost" : "HBM");
    text_add(out, in_bytes(p->figures.hbm_bytes).at);
    if (p->problem.objective == LX_SPILL && !p->asks_time) add_least_words(p, false, out);
    add_baseline(p, out);
    text_add(out, "\n");
    if (p->problem.objective == LX_SPILL && !p->graph->is_list) {
        label(out, "spill");
        text_format(out, "%s that a scratchpad without limit would save\n",
                    in_bytes(p->figures.spill_bytes).at);
    }
    if (p->joint.searched) {
        label(out, "joint");
        text_format(out, "%s divided anew; no choice of divisions moves less than %s\n",
                    counted(p->joint.divided_anew, "op").at, in_bytes(p->joint.bound_bytes).at);
    }
    write_nests(p, out);
    write_online(p, out);
    if (!p->graph->is_list) {
        label(out, "pool");
        text_format(out, "%s of HBM for what is off chip\n", in_bytes(p->pool_bytes).at);
        label(out, "time");
        text_format(out, "%.2f us of the device, %.2f us end to end in %s, predicted", p->figures.device_us,
                    p->figures.end_to_end_us, counted(p->bundle_count, "bundle").at);
        if (p->asks_time) add_least_words(p, false, out);
        text_add(out, "\n");
        write_sums(p, out);
    }
    label(out, "height");
    text_format(out, "%s", in_bytes(p->figures.height_bytes).at);
    if (p->problem.objective == LX_HEIGHT && lx_plan_objective(p) != INT64_MAX) {
        add_least_words(p, false, out);
        text_add(out, "\n");
    } else
        text_format(out, " of %s\n", in_bytes(p->problem.capacity).at);
    if (p->graph->target_hbm_bytes < 0) return;
    bool met = lx_plan_meets_target(p);
    label(out, "target");
    text_format(out, "%s: ", in_bytes(p->graph->target_hbm_bytes).at);
    paint_add(out, met ? PAINT_GOOD : PAINT_BAD, met ? "met" : "missed");
    if (!met) text_format(out, " by %s", in_bytes(p->figures.hbm_bytes - p->graph->target_hbm_bytes).at);
    text_add(out, "\n");
}

static int64_t cost_of(const void *plan, int32_t i)
{
    return ((const struct lx_plan *)plan)->problem.buffers[i].spill_cost;
}

static void write_buffer_count(const struct lx_plan *p, struct text *out)
{
    int32_t n = p->problem.count, placed = 0, barred = 0;
    for (int32_t i = 0; i < n; i++) {
        placed += p->answer.address[i] >= 0;
        barred += p->problem.buffers[i].reason != NULL;
    }
    text_format(out, "\n%s: %s on chip, %s off chip", counted(n, "buffer").at, grouped(placed).at,
                grouped(n - placed).at);
    if (barred) text_format(out, " (%s of them may not be on chip)", grouped(barred).at);
    text_add(out, "\n");
}

/* All buffers in their own order if they are few; else the costliest first. */
static void write_buffers(const struct call *call, const struct lx_plan *p, struct text *out)
{
    int32_t n = p->problem.count, shown;
    write_buffer_count(p, out);
    if (n == 0) return;
    int32_t *order =
        largest_of(p, n, cost_of, option_given(&call->line, "all") ? 0 : MOST_ROWS, false, &shown);
    struct buffer_row *buffers = malloc((size_t)n * sizeof *buffers);
    int64_t *moved = moved_by_buffers(p);
    out->failed |= !order || !buffers || !moved;
    if (!out->failed) {
        for (int32_t i = 0; i < shown; i++) buffers[i] = (struct buffer_row){p, moved, order[i]};
        table_add_text(&TABLE(plan_buffer_columns, buffers, shown), out);
    }
    free(moved);
    free(order);
    free(buffers);
    if (shown < n)
        text_format(out, "  ... %s more, each of them cheaper; --all lists them\n",
                    counted(n - shown, "buffer").at);
}

/* Where the time goes in words that are kept; no word has it. */
static const char time_mark[] = "\x01";

static void write_summary(const struct call *call, const struct lx_plan *p, const char *when,
                          struct text *out)
{
    write_pattern_line(p, out);
    write_layers(p, out);
    label(out, "device");
    device_line(p, out);
    text_add(out, "\n");
    write_answer_lines(p, out);
    write_traffic_lines(p, out);
    label(out, "work");
    text_format(out, "%s in %s\n", counted(p->answer.steps, "step").at, when);
    write_buffers(call, p, out);
    if (p->graph->is_list) return;
    show_copies(p, out);
    show_ops(p, option_given(&call->line, "all") ? 0 : MOST_ROWS, out);
}

static bool write_plan(struct call *call, const struct lx_plan *p, const char *path, bool to_screen)
{
    size_t length = 0;
    char *json = lx_plan_to_json(p, &length);
    bool ok = json ? true : status_no_memory(&call->st);
    if (ok && path) ok = keep_file(call, path, json, length);
    if (ok && to_screen) text_add_n(&call->out, json, length);
    free(json);
    return ok;
}

/* Its exit code, with a note where that is not 0. */
static int judge_plan(struct call *call, const struct lx_plan *p)
{
    lx_status why;
    int code = EXIT_YES;
    if (!(p->cached && !p->judged) && !lx_plan_check(p, &why)) {
        code = lx_code_exit(why.code);
        note(call, "%s: %s", p->graph->file, why.text);
    } else if (!lx_plan_stated_met(p, &why)) {
        code = EXIT_NO;
        note(call, "%s: %s", p->graph->file, why.text);
    }
    if (interrupted && code == EXIT_YES) {
        code = EXIT_INTERRUPTED;
        note(call, "%s: interrupted; this is the best plan so far", p->graph->file);
    }
    return code;
}

static void add_when_found(bool judged, double seconds, struct text *out)
{
    text_format(out, "the past; kept, found %s in %s", judged ? "and checked" : "whole", in_time(seconds).at);
}

static void show_summary(struct call *call, const struct lx_plan *p)
{
    struct text when = {0};
    if (p->cached)
        add_when_found(p->judged, p->seconds, &when);
    else
        text_add(&when, in_time(p->seconds).at);
    write_summary(call, p, when.at ? when.at : "", &call->out);
    text_free(&when);
}

/* What is said of it to who asks again. */
static void keep_question(struct call *call, const char *question, const struct lx_plan *p, bool in_words)
{
    struct text said = {0};
    if (question && in_words) write_summary(call, p, time_mark, &said);
    question_keep(call, question, p, &said);
    text_free(&said);
}

static void add_recalled(const struct lx_recalled *r, double seconds, struct text *out)
{
    const char *mark = strstr(r->words, time_mark);
    size_t before = mark ? (size_t)(mark - r->words) : r->words_length;
    text_add_n(out, r->words, before);
    if (!mark) return;
    add_when_found(r->judged, seconds, out);
    text_add_n(out, mark + 1, r->words_length - before - 1);
}

/* What is wanted of a plan. */
struct wanted {
    const char *output; /* a file; NULL: none */
    bool json, words;
};

/* Delivers what was kept of the same question. False: nothing was; or `*code`. */
static bool answer_again(struct call *call, const char *question, const struct wanted *w, int *code)
{
    struct lx_recalled r;
    double began = clock_seconds();
    if (!question_answered(call, question, &r)) return false;
    double seconds = clock_seconds() - began;
    bool ok = !w->output || file_write_again(w->output, r.plan, r.plan_length, &call->st);
    if (ok && w->json) text_add_n(&call->out, r.plan, r.plan_length);
    if (ok && w->words) add_recalled(&r, seconds, &call->out);
    if (ok && w->words && w->output) text_format(&call->out, "\nwritten to %s\n", w->output);
    lx_recalled_free(&r);
    *code = ok ? EXIT_YES : FAILED;
    return true;
}

static int make_and_show(struct call *call, const char *path, const char *question, const struct wanted *w,
                         const char *explained)
{
    const struct lx_graph *pattern = read_pattern_as_is(call, path);
    const struct lx_graph *g = pattern ? with_sizes(call, pattern) : NULL;
    struct lx_plan *p = g ? make_plan(call, g) : NULL;
    int code = FAILED;
    lx_graph_free(g);
    if (p && (!(w->json || w->output) || write_plan(call, p, w->output, w->json))) {
        code = judge_plan(call, p);
        if (!w->json && explained && !show_explained(call, pattern, p, explained, &call->out)) code = FAILED;
        if (w->words) show_summary(call, p);
        if (code == EXIT_YES) keep_question(call, question, p, w->words);
        if (!w->json && !is_quiet(call) && w->output) text_format(&call->out, "\nwritten to %s\n", w->output);
    }
    lx_plan_free(p);
    lx_graph_free(pattern);
    return code;
}

static int run(struct call *call)
{
    static const struct {
        const char *option, *stage;
        bool alone; /* it means something without --stage as well */
    } of_stage[] = {{"team", "team", true}, {"cut", "team", true}, {"team-by", "team", true}};
    const char *path = call->line.files.at[0], *output = option_value(&call->line, "output");
    const char *stage = option_value(&call->line, "stage");
    const char *explained = option_value(&call->line, "explain");
    for (size_t i = 0; i < sizeof of_stage / sizeof *of_stage; i++)
        if (option_given(&call->line, of_stage[i].option) &&
            (stage ? strcmp(stage, of_stage[i].stage) != 0 : !of_stage[i].alone)) {
            status_set(&call->st, LX_E_USAGE, "--%s goes with --stage %s", of_stage[i].option,
                       of_stage[i].stage);
            return FAILED;
        }
    if (stage) return run_stage(call, path, stage);
    if (!option_given(&call->line, "team") &&
        (option_given(&call->line, "cut") || option_given(&call->line, "team-by")))
        return status_set(&call->st, LX_E_USAGE, "--%s goes with --team",
                          option_given(&call->line, "cut") ? "cut" : "team-by"),
               FAILED;
    if (option_given(&call->line, "team")) {
        if (option_given(&call->line, "stages"))
            return status_set(&call->st, LX_E_USAGE,
                              "--stages is of one device's plan and does not go with --team"),
                   FAILED;
        return explained ? explain_team(call, path) : plan_team(call, path);
    }
    if (option_given(&call->line, "stages")) {
        struct text t = {0};
        if (goes_to_file(call)) paint_off();
        if (show_stages(call, path, &t)) return deliver(call, t.at, t.length) ? EXIT_YES : FAILED;
        text_free(&t);
        return FAILED;
    }
    if (explained && wants_json(call)) {
        status_set(&call->st, LX_E_USAGE, "--explain is for people and has no JSON; leave --json out");
        return FAILED;
    }
    struct wanted w = {.output = output, .json = wants_json(call)};
    if (output && strcmp(output, "-") == 0) {
        w.json = true;
        w.output = NULL;
    }
    w.words = !w.json && !explained && !is_quiet(call);
    char *question = explained ? NULL
                               : question_asked(call, path,
                                                !w.words                           ? "plan"
                                                : option_given(&call->line, "all") ? "all words"
                                                                                   : "words");
    int code = EXIT_YES;
    if (!question || !answer_again(call, question, &w, &code))
        code = make_and_show(call, path, question, &w, explained);
    free(question);
    return code;
}

static const struct option_row *const tables[] = {planning_rows, rows,      team_rows,  json_rows,
                                                  quiet_rows,    help_rows, model_rows, NULL};

const struct command command_plan = {
    .name = "plan",
    .synopsis = "FILE [-s SOLVER] [options]",
    .summary = "Plan a pattern: which buffers are on chip, where, and what the rest costs",
    .details =
        "Exit code 0 when a legal plan was made (also when it misses the pattern's target, which is said),\n"
        "1 when the solver gave none, 130 when it was interrupted and this is the best so far. --json "
        "prints\n"
        "the plan file itself.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE",
    .run = run,
    .more_help = device_help,
};
