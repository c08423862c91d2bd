/* The verdict over remedies in words: the best of this device by bytes, by time and by syncs, with what each
 * costs otherwise. */
#include "planning/remedies.h"
#include "text/format.h"

/* ": 4.1x fewer bytes", ", 12 % faster"; nothing where it is no better. */
static const char *verdict_gain(const char *before, double now, double then, const char *less,
                                struct text *out)
{
    if (!(then < 0.9995 * now)) return before;
    if (then > 0 && now >= 1.5 * then)
        text_format(out, "%s%.*fx %s", before, now < 10 * then, now / then, less);
    else
        text_format(out, "%s%s %s", before, in_percent((now - then) / now).at, less);
    return ", ";
}

static const char *verdict_price(const char *before, double now, double then, const char *what,
                                 struct text *out)
{
    if (!(now > 0 && then > 1.0005 * now)) return before;
    text_format(out, "%s%s +%s", before, what, in_percent((then - now) / now).at);
    return ", ";
}

/* Fewer syncs are not worth so many times the bytes or the time of now. */
static const double DEAR = 1.5;

/* The best of a measure that is better than now; of equals the one that is better otherwise. */
static const struct remedy *verdict_best(const struct remedies *r, enum remedy_by by)
{
    struct remedies of = {.plan = r->plan, .by = by, .presence = PRESENCE_YES};
    const struct remedy *best = NULL;
    for (size_t i = 0; i < r->all.count; i++) {
        const struct remedy *it = &r->all.at[i];
        if (it->state > REMEDY_CUT || !remedy_fits(it, r->plan) || !remedy_helps(&of, it)) continue;
        if (by == REMEDY_BY_SYNCS && ((double)it->value > DEAR * (double)lx_plan_value(r->plan) ||
                                      it->us > DEAR * r->plan->figures.end_to_end_us))
            continue;
        int64_t rank = remedy_rank(it, by), least = best ? remedy_rank(best, by) : INT64_MAX;
        if (rank < least || (rank == least && it->value <= best->value && it->us < best->us)) best = it;
    }
    return best;
}

bool remedy_may_grow(const struct remedy *it)
{
    enum lx_ask ask = lx_settings_ask(&it->options);
    return it->state == REMEDY_CUT && (ask == LX_ASK_BALANCED || ask == LX_ASK_TIME);
}

void add_remedies_verdict(const struct remedies *r, struct text *out)
{
    const struct lx_plan *p = r->plan;
    bool list = p->graph->list != NULL;
    const char *bytes = p->problem.objective == LX_HEIGHT ? "height" : list ? "cost" : "bytes";
    const char *const less[REMEDY_BYS] = {"fewer", "faster", "fewer syncs"};
    const struct remedy *best[REMEDY_BYS];
    char fewer[24];
    snprintf(fewer, sizeof fewer, "%s %s", list ? "less" : less[0], bytes);
    bool open = false, tried = false;
    for (size_t i = 0; i < r->all.count; i++) {
        open |= r->all.at[i].state == REMEDY_OPEN;
        tried |= r->all.at[i].state <= REMEDY_CUT;
    }
    if (open && !tried) {
        text_add(out, "so far: nothing is tried");
        return;
    }
    if (open) text_add(out, "so far: ");
    for (int by = 0; by < (list ? 1 : REMEDY_BYS); by++) {
        best[by] = verdict_best(r, (enum remedy_by)by);
        const struct remedy *it = best[by];
        bool said = false; /* by a row that is the best of another measure */
        for (int k = 0; k < by && it; k++)
            said |=
                best[k] && remedy_rank(best[k], (enum remedy_by)by) == remedy_rank(it, (enum remedy_by)by);
        if (said) continue;
        if (by > 0) text_add(out, "; ");
        if (!it) {
            text_format(out, by == REMEDY_BY_TIME ? "none is %s" : "no %s", by ? less[by] : fewer);
            continue;
        }
        const char *before = ": ";
        text_add(out, it->what);
        if (remedy_may_grow(it)) text_add(out, " (cut short, it may move more)");
        before = verdict_gain(before, (double)lx_plan_value(p), (double)it->value, fewer, out);
        before = verdict_gain(before, p->figures.end_to_end_us, it->us, less[1], out);
        before = verdict_price(before, (double)lx_plan_value(p), (double)it->value, bytes, out);
        before = verdict_price(before, p->figures.end_to_end_us, it->us, "time", out);
        if (it->syncs == p->figures.sync_times) continue;
        text_format(out, "%s%s", before, counted(it->syncs, "sync").at);
        text_format(out, " (now %s)", grouped(p->figures.sync_times).at);
    }
}

void add_remedies_tried(const struct remedies *r, struct text *out)
{
    int tried = 0, cut = 0, large = 0, cancelled = 0, open = 0, count = (int)r->all.count;
    bool helps = false;
    for (int i = 0; i < count; i++) {
        const struct remedy *it = &r->all.at[i];
        open += it->state == REMEDY_OPEN;
        cut += it->state == REMEDY_CUT;
        large += it->state == REMEDY_LARGE;
        cancelled += it->state == REMEDY_STOPPED;
        tried += it->state == REMEDY_TRIED || it->state == REMEDY_NONE || it->state == REMEDY_FAILED;
        helps |= remedy_helps(r, it);
    }
    if (r->compulsory) {
        text_add(out, "compulsory: every plan moves these bytes once; no remedy is tried");
        return;
    }
    if (tried == count)
        text_format(out, "all %d tried", count);
    else
        text_format(out, "%d of %d tried", tried, count);
    if (!helps && !open && tried) text_add(out, tried == count ? ", none helps" : ", none of them helps");
    if (cut) text_format(out, "; %d cut short", cut);
    if (large) text_format(out, "; %d too large to try unasked", large);
    if (cancelled) text_format(out, "; %d cancelled", cancelled);
}
