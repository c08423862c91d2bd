/* The answer of a plan or a team, in its memory. State: which parts are asked for; a thread that is left behind
 * may look at it until the program ends. */
#include "planning/answer.h"
#include "interrupt.h"
#include "planning/show_plan.h"
#include "team/team_show.h"

struct answer {
    const char *summary, *file; /* NULL: not asked for */
    size_t summary_length, file_length;
    bool legal, stated_met; /* places that the pattern states */
    lx_status why;
};

static struct {
    bool summary, all, file, certificate;
} parts;

void answer_ask(bool summary, bool all, bool file, bool certificate)
{
    parts.summary = summary;
    parts.all = all;
    parts.file = file;
    parts.certificate = certificate;
}

/* Moves the text into memory of the answer. */
static const char *answer_keep(struct arena *memory, struct text *t, size_t *length)
{
    const char *kept = t->at ? arena_copy(memory, t->at, *length = t->length) : NULL;
    text_free(t);
    return kept;
}

void answer_of_plan(struct lx_plan *p)
{
    struct answer *a = arena_alloc(p->memory, sizeof *a);
    struct text t = {0};
    if (parts.certificate) lx_plan_certify(p);
    if (parts.summary) show_summary(p, in_time(p->seconds).at, parts.all, &t);
    a->summary = answer_keep(p->memory, &t, &a->summary_length);
    if (parts.file) t.at = lx_plan_to_json(p, &t.length);
    a->file = answer_keep(p->memory, &t, &a->file_length);
    a->legal = lx_plan_check(p, &a->why);
    a->stated_met = a->legal && lx_plan_stated_met(p, &a->why);
    p->ready = a;
}

void answer_of_team(struct lx_team_plans *p)
{
    struct answer *a = arena_alloc(&p->memory, sizeof *a);
    struct text t = {0};
    if (parts.summary) show_team(p, &t);
    a->summary = answer_keep(&p->memory, &t, &a->summary_length);
    if (parts.file) t.at = lx_team_plans_to_json(p, &t.length);
    a->file = answer_keep(&p->memory, &t, &a->file_length);
    a->legal = a->stated_met = lx_team_plans_check(p, &a->why);
    p->ready = a;
}

int answer_give(struct call *call, const struct answer *a, const char *graph, const char *output,
                bool to_screen)
{
    bool at_once = interrupted; /* the answer does not wait for the file */
    if (at_once) note_interrupted(call, graph);
    if (a->summary) text_add_n(&call->out, a->summary, a->summary_length);
    if ((at_once && !send_out(call)) || (output && !keep_file(call, output, a->file, a->file_length)))
        return FAILED;
    if (to_screen) text_add_n(&call->out, a->file, a->file_length);
    if (!a->stated_met) {
        note(call, "%s: %s", graph, a->why.text);
        return a->legal ? EXIT_NO : lx_code_exit(a->why.code);
    }
    if (interrupted && !at_once) note_interrupted(call, graph);
    return interrupted ? EXIT_INTERRUPTED : EXIT_YES;
}
