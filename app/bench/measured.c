/* Times of answers on a machine: the plan with an answer's addresses, its program, and the median of launches. */
#include "bench/bench.h"

const char *machine_with_clock(int k)
{
    const struct lx_machine_kind *kind;
    for (int i = 0; (kind = lx_machine_kind_at(i)); i++)
        if (kind->has_clock && k-- == 0) return kind->name;
    return NULL;
}

bool measured_ready(struct call *call, struct settings *s)
{
    char words[200];
    int k = 0;
    if (!option_given(&call->line, "on")) return true;
    if (!option_word(call, "on", machine_with_clock, &k)) return false;
    s->machine = machine_with_clock(k);
    return lx_machine_there(s->machine, words, sizeof words, &call->st);
}

void measured_row(const struct settings *s, const struct lx_question *q, const int64_t *address,
                  struct row *row, char *words, size_t size)
{
    struct lx_program_options how = {
        .machine = s->machine, .launches = 200, .counts = true, .judge = {.threads = 1}};
    struct lx_measured m = {0};
    lx_status why = {0};
    SCOPED(plan_free_at)
    struct lx_plan *p = lx_question_plan(q, address, lx_settings_solver(&s->options, LX_FIT), &why);
    row->has_measured = p && lx_program_time(p, &how, &m, &why) && m.launches > 0;
    if (row->has_measured) {
        row->measured_us = m.median_us;
        row->asked_bytes = m.asked_bytes;
    } else if (!*words)
        snprintf(words, size, "not measured: %s", why.text);
}
