/* Words about a plan; see plan_words.h. */
#include "export/plan_words.h"
#include "base/base.h"

struct words in_short_bytes(int64_t n)
{
    struct words w = in_bytes(n);
    char *open = strchr(w.at, '('), *close = open ? strchr(open, ')') : NULL;
    if (!close) return w;
    *close = 0;
    memmove(w.at, open + 1, strlen(open));
    return w;
}

const char *value_word(const struct lx_plan *p)
{
    if (p->problem.objective == LX_HEIGHT) return "height";
    return p->graph->list ? "cost" : "HBM";
}

const char *optimal_words(const struct lx_plan *p)
{
    /* The bound of a plan with nests holds for any work division. */
    bool any_divisions =
        (p->joint.searched && p->figures.hbm_bytes <= p->joint.bound_bytes) || p->nest_count > 0;
    return p->graph->list || p->asks_time || any_divisions ? "optimal" : "optimal for this work split";
}

const char *verdict_words(const struct lx_plan *p)
{
    return p->answer.status == LX_OPTIMAL ? optimal_words(p) : lx_verdict_word(p->answer.status);
}

const char *pool_word(const struct lx_plan *p, int32_t buffer)
{
    bool several = p->problem.pool_count > 1 && p->answer.pool && p->answer.address[buffer] >= 0;
    return several ? p->problem.pools[p->answer.pool[buffer]].name : "";
}

void add_least_words(const struct lx_plan *p, bool brief, struct text *out)
{
    double gap = lx_plan_gap(p);
    struct words least = brief ? in_short_bytes(lx_plan_least(p)) : in_bytes(lx_plan_least(p));
    if (p->asks_time)
        snprintf(least.at, sizeof least.at, "%.40s end to end", in_micros(p->figures.bound_us).at);
    if (p->answer.status == LX_INFEASIBLE)
        text_add(out, " with nothing on chip, which is no answer");
    else if (!p->asks_time && (p->problem.objective == LX_FIT || lx_plan_value(p) == INT64_MAX))
        return;
    else if (gap <= 0)
        text_format(out, ", %s", optimal_words(p));
    else if (isinf(gap))
        text_add(out, ", no lower bound above 0 is proved");
    else
        text_format(out, ", proven least %s (+%s)", least.at, in_percent(gap).at);
}

void add_imported_words(const struct lx_plan *p, struct text *out)
{
    const struct lx_imported *m = &p->imported;
    if (!m->ops) return;
    text_format(out, "%s of %s mapped", grouped(m->mapped).at, counted(m->ops, "op").at);
    if (m->copies)
        text_format(out, ", %s %s of %s", grouped(m->copies).at, m->copies == 1 ? "copy" : "copies",
                    in_bytes(m->copied_bytes).at);
    text_format(out, "; the file must move %s", in_bytes(m->must_bytes).at);
    if (m->must_bytes > 0)
        text_format(out, ", the plan moves %.2f times that",
                    (double)p->figures.hbm_bytes / (double)m->must_bytes);
}

void add_value_words(const struct lx_plan *p, bool brief, struct text *out)
{
    int64_t bytes = p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes;
    text_format(out, "%s %s", value_word(p), (brief ? in_short_bytes(bytes) : in_bytes(bytes)).at);
    if (p->asks_time || p->balanced)
        text_format(out, ", %s end to end", in_micros(p->figures.end_to_end_us).at);
    add_least_words(p, brief, out);
}

void add_fewer_bytes_words(const struct lx_plan *p, struct text *out)
{
    text_format(out, "%s would be possible at %s (--objective bytes%s)", in_bytes(p->fewer_bytes).at,
                in_micros(p->fewer_bytes_us).at, p->joint.searched ? " --cooptimise full" : "");
}

void add_status_words(const struct lx_plan *p, struct text *out)
{
    text_add(out, verdict_words(p));
    add_reason_words(p, out);
}

void add_reason_words(const struct lx_plan *p, struct text *out)
{
    const char *why = p->answer.message[0] ? p->answer.message : p->unproved;
    if (!why) return;
    text_add(out, ": ");
    add_printable(out, why, 0);
}

int32_t buffer_identity(const struct lx_plan *p, int32_t buffer)
{
    bool is_stay = p->stays && buffer >= 0 && buffer < p->problem.count;
    return is_stay ? p->stays[buffer].tensor : buffer;
}

int64_t *moved_by_buffers(const struct lx_plan *p)
{
    int64_t *moved = mem_alloc(((size_t)p->problem.count + 1) * sizeof *moved);
    lx_plan_moved(p, moved);
    return moved;
}

int largest_left(const double *at, int count, unsigned said)
{
    int best = -1;
    for (int k = 0; k < count; k++)
        if (at[k] > 0 && !(said & 1u << k) && (best < 0 || at[k] > at[best])) best = k;
    return best;
}

void add_byte_sums(const struct lx_plan *p, const struct lx_byte_sums *sums, struct text *out)
{
    double at[LX_BYTE_KIND_COUNT];
    unsigned said = 0;
    for (int k = 0; k < LX_BYTE_KIND_COUNT; k++) at[k] = (double)sums->bytes[k];
    for (int k; (k = largest_left(at, LX_BYTE_KIND_COUNT, said)) >= 0; said |= 1u << k) {
        text_format(out, "%s%s %s", said ? ", " : "", lx_byte_kind_word((enum lx_byte_kind)k),
                    grouped(sums->bytes[k]).at);
        text_format(out, " (%s)", in_percent(at[k] / (double)p->figures.hbm_bytes).at);
    }
    if (!said) text_add(out, "nothing");
}
