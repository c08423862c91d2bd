/* lxplan export: the buffers of a pattern, or the placements of a plan, for other tools. */
#include "planning/format_words.h"
#include "planning/planning.h"
#include "base/fail.h"
#include "base/file.h"
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    {"format", 'f', "FORMAT", "one of the formats below (default: minimalloc)"},
    {0},
};

static const struct option_words words[] = {{"format", written_format_word}, {0}};

/* Without these another tool's answer would not be legal here. The rest is about what is worth its place, and such tools
 * place all that they are given. */
enum {
    NEEDED = LX_CAN_POOLS | LX_CAN_LIVES | LX_CAN_PAIRS | LX_CAN_RESERVED | LX_CAN_STAGING | LX_CAN_SAME_PLACE
};

/* Can a list of buffers say what the problem asks for? */
static bool can_say(struct call *call, const char *file, const struct lx_problem *p,
                    const struct lx_format *format)
{
    char what[300];
    unsigned needs = lx_problem_needs(p);
    if (!(needs & NEEDED)) return true;
    return status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                         "%s has no columns for %s; use --format pattern, which has", format->summary,
                         lx_needs_words(needs & NEEDED, what, sizeof what));
}

static void note_what_is_left_out(struct call *call, const struct lx_problem *p,
                                  const struct lx_format *format)
{
    char what[300];
    unsigned needs = lx_problem_needs(p);
    if (needs)
        note(call, "left out, for %s cannot say it: %s", format->summary,
             lx_needs_words(needs, what, sizeof what));
}

/* The buffers of a problem without those that may not be placed: other tools place everything they are given.
 * In place and roles have no columns, so edges are dropped with a word. `address` NULL: of no plan. */
static char *write_problem(struct call *call, const char *file, const struct lx_problem *p,
                           const int64_t *address, const struct lx_format *format, size_t *length)
{
    if (!can_say(call, file, p, format)) return NULL;
    struct lx_buffer *kept = malloc(((size_t)p->count + 1) * sizeof *kept);
    int32_t n = 0, edges = 0;
    if (!kept) return status_no_memory(&call->st), NULL;
    for (int32_t i = 0; i < p->count; i++) {
        if (p->buffers[i].reason) continue;
        kept[n] = p->buffers[i];
        edges += kept[n].parent_count > 0;
        if (address) kept[n].fixed = address[i];
        n++;
    }
    struct lx_buffers list = {kept, n, p->alignment};
    char *text = format->write_buffers(&list, length, &call->st);
    if (text && n < p->count)
        note(call, "%s left out: they may not be on chip", counted(p->count - n, "buffer").at);
    if (text && edges)
        note(call, "%s may take another's place; %s cannot say so", counted(edges, "buffer").at,
             format->summary);
    if (text) note_what_is_left_out(call, p, format);
    if (text) note(call, "capacity %s", in_bytes(p->capacity).at);
    free(kept);
    return text;
}

/* The pattern itself, of a file or of a plan. */
static char *write_pattern(struct call *call, const char *file, const char *text,
                           const struct lx_format *format, size_t *length)
{
    struct lx_plan *plan = lx_is_plan(text, *length) ? plan_of_text(call, file, text, *length) : NULL;
    const struct lx_graph *read = lx_is_plan(text, *length) ? NULL : parse_graph(call, file, text, *length);
    const struct lx_graph *g = plan ? plan->graph : read;
    char *written = g ? format->write_graph(g, length, &call->st) : NULL;
    lx_graph_free(read);
    lx_plan_free(plan);
    return written;
}

/* Buffers on the very bytes of one whose life they share. */
static int32_t count_in_place(const struct lx_plan *p)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->problem.count; i++) n += p->took_slot_of[i] >= 0;
    return n;
}

static char *write_addresses(struct call *call, const char *file, const char *text,
                             const struct lx_format *format, size_t *length)
{
    if (!format->has_addresses) {
        status_set_at(
            &call->st, LX_E_USAGE, file, 0, 0,
            "%s has no column for the addresses of a plan; use another --format, such as minimalloc",
            format->summary);
        return NULL;
    }
    struct lx_plan *plan = plan_of_text(call, file, text, *length);
    int32_t shared = plan ? count_in_place(plan) : 0;
    char *written =
        plan ? write_problem(call, file, &plan->problem, shared ? NULL : plan->answer.address, format, length)
             : NULL;
    if (written && shared)
        note(call,
             "the addresses are left out: %s in the place of another while that lives, and to %s they would "
             "overlap; the plan has them",
             counted(shared, "buffer").at, format->summary);
    lx_plan_free(plan);
    return written;
}

/* What a format has for plans only. */
static char *write_answer(struct call *call, const char *file, const char *text,
                          const struct lx_format *format, size_t *length)
{
    if (!lx_is_plan(text, *length)) {
        status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                      "%s is written of plans only; make one with `lxplan plan`", format->summary);
        return NULL;
    }
    struct lx_plan *plan = plan_of_text(call, file, text, *length);
    char *written =
        plan ? format->write_answer(plan->graph, plan->answer.address, plan->answer.pool, length, &call->st)
             : NULL;
    lx_plan_free(plan);
    return written;
}

static char *write_list(struct call *call, const char *file, const char *text, const struct lx_format *format,
                        size_t *length)
{
    if (lx_is_plan(text, *length)) return write_addresses(call, file, text, format, length);
    const struct lx_graph *g = parse_graph(call, file, text, *length);
    struct lx_question *q = g ? make_problem(call, g) : NULL;
    char *written = q ? write_problem(call, file, &q->problem, NULL, format, length) : NULL;
    lx_question_free(q);
    lx_graph_free(g);
    return written;
}

static int run(struct call *call)
{
    const struct lx_format *format = written_format(call);
    const char *path = call->line.files.at[0], *file = strcmp(path, "-") == 0 ? "standard input" : path;
    size_t length = 0;
    char *text = format ? file_read(path, &length, &call->st) : NULL;
    if (!text) return FAILED;
    char *written = (format->write_graph    ? write_pattern
                     : format->write_answer ? write_answer
                                            : write_list)(call, file, text, format, &length);
    free(text);
    return written && deliver_data(call, written, length) ? EXIT_YES : FAILED;
}

static void more_help(const struct call *call, struct text *out)
{
    (void)call;
    formats_help(out, true);
}

static const struct option_row *const tables[] = {rows,      output_rows, quiet_rows, json_error_rows,
                                                  help_rows, model_rows,  NULL};

const struct command command_export = {
    .name = "export",
    .synopsis = "FILE | PLAN [--format FORMAT] [-o FILE]",
    .summary = "Write the buffers of a pattern or plan for other tools",
    .details = "Of a graph, the buffers of its scratchpad stage; those that may not be on chip are left out. "
               "Of a plan,\n"
               "MiniMalloc CSV with the column offset filled in for what is on chip. As a pattern, what was "
               "planned.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE or PLAN",
    .run = run,
    .more_help = more_help,
};
