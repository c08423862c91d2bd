/* What a sweep says in words: from which size on nothing spills, and below which there is no plan. */
#include "sweep/sweep.h"
#include "text/format.h"

#include <string.h>

static bool is_fit(const struct sweep *s)
{
    return s->graph->is_list && lx_asked(lx_settings_ask(&s->lines.at[0].how), s->graph->objective) == LX_FIT;
}

const char *sweep_value_name(const struct sweep *s)
{
    return s->by_time ? "time from end to end" : s->graph->is_list ? "cost of what is off chip" : "HBM bytes";
}

static struct words size_words(int64_t n, bool briefly)
{
    return briefly ? in_enough(n, true) : in_bytes(n);
}

void sweep_say_fit(const struct sweep *s, const struct sweep_line *l, bool briefly, struct text *out)
{
    const struct sweep_value *first = &l->at[0], *last = &l->at[s->sizes.count - 1],
                             *found = &l->found[FIND_FIT];
    const char *what = is_fit(s) ? "everything fits" : "nothing spills";
    if (found->state == SWEEP_PLANNED)
        text_format(out, "from %s %s", in_enough(found->lx, briefly).at, what);
    else if (last->state == SWEEP_PLANNED && !last->fits && is_fit(s))
        text_format(out, "not everything fits with %s", size_words(last->lx, briefly).at);
    else if (last->state == SWEEP_PLANNED && !last->fits)
        text_format(out, "with %s still %s spill", size_words(last->lx, briefly).at,
                    size_words(last->spill, briefly).at);
    else if (first->state == SWEEP_PLANNED && first->fits && last->state == SWEEP_PLANNED)
        text_format(out, briefly ? "%s from %s on" : "%s with %s or more, the least that was tried", what,
                    in_enough(first->lx, briefly).at);
}

static void sweep_say_plan(const struct sweep *s, const struct sweep_line *l, bool briefly, struct text *out)
{
    const struct sweep_value *last = &l->at[s->sizes.count - 1], *found = &l->found[FIND_PLAN];
    if (found->state == SWEEP_PLANNED && is_fit(s)) return; /* the same in other words */
    if (found->state == SWEEP_PLANNED)
        text_format(out, "below %s it cannot be planned", in_enough(found->lx, briefly).at);
    else if (last->state == SWEEP_REFUSED) {
        text_add(out, "cannot be planned: ");
        add_printable(out, last->why, 0);
    }
}

void sweep_say(const struct sweep *s, const struct sweep_line *l, bool briefly, struct text *out)
{
    struct text more = {0};
    size_t before = out->length;
    sweep_say_fit(s, l, briefly, out);
    sweep_say_plan(s, l, briefly, &more);
    if (more.length) text_format(out, "%s%s", out->length > before ? "; " : "", more.at);
    out->failed |= more.failed;
    text_free(&more);
}
