/* The verdict of a report. The leader reaches the best value most often; of several such solvers it is the
 * fastest. Ratios are geometric means over the problems that both reach; "±" is one standard error over these
 * problems, and with a single problem the deviation of its runs, as hyperfine has it. */
#include "bench/report.h"

/* A solver beside the leader. */
struct beside {
    const char *solver, *leader;
    int64_t best, instances, misses;
    struct ratio ratio; /* its times over those of the leader */
};

void add_ratio(struct text *out, struct ratio r)
{
    double times = r.times >= 1 ? r.times : 1 / r.times,
           spread = r.times >= 1 ? r.spread : r.spread / (r.times * r.times);
    text_format(out, "%.2f", times);
    if (isfinite(r.spread)) text_format(out, " %s %.2f", plus_minus(), spread);
    text_format(out, " times %s",
                times < 1.005  ? "as fast as"
                : r.times >= 1 ? "faster than"
                               : "slower than");
}

/* The fastest solver that is worse than the leader, or equal to it. */
static const struct beside *fastest_of(const struct beside *all, size_t count, size_t leader, bool equals)
{
    const struct beside *found = NULL;
    for (size_t k = 0; k < count; k++)
        if (k != leader && (all[k].best == all[leader].best) == equals && isfinite(all[k].ratio.times) &&
            (!found || all[k].ratio.times < found->ratio.times))
            found = &all[k];
    return found;
}

static enum paint who_is_best_add_verdict(const struct summary *s, const struct beside *all, size_t leader,
                                          struct text *out)
{
    size_t n = s->solvers.count, leaders = 0, named = 0;
    const struct beside *best = &all[leader], *equal = fastest_of(all, n, leader, true),
                        *other = fastest_of(all, n, leader, false);
    int64_t bad = 0;
    for (size_t k = 0; k < n; k++) leaders += all[k].best == best->best;
    if (n == 1)
        text_format(out, "%s solved %lld of %lld, %lld proved", best->solver, (long long)best->best,
                    (long long)best->instances, (long long)s->solvers.at[0].proved);
    else if (best->best == 0)
        text_format(out, "no solver solved any of %lld", (long long)best->instances);
    else {
        /* "auto and exact": all solvers as good as the leader. */
        if (leaders == n && n > 2) text_format(out, "all %zu solvers", n);
        for (size_t k = 0; !(leaders == n && n > 2) && k < n; k++)
            if (all[k].best == best->best)
                text_format(out, "%s%s",
                            named++ == 0       ? ""
                            : named == leaders ? " and "
                                               : ", ",
                            all[k].solver);
        text_format(out, " best on %lld of %lld", (long long)best->best, (long long)best->instances);
        if (equal && equal->ratio.times >= 1.05) text_format(out, ", %s fastest", best->solver);
    }
    if (other && best->best > 0) {
        double times = other->ratio.times, ratio = times < 1 ? 1 / times : times;
        text_format(out, "; %s is ", other->solver);
        if (ratio < 1.05)
            text_add(out, "as fast");
        else
            text_format(out, "%.*fx %s", ratio < 10 ? 1 : 0, ratio, times < 1 ? "faster" : "slower");
        text_format(out, " but worse on %lld of %lld", (long long)other->misses, (long long)other->instances);
    }
    for (size_t k = 0; k < n; k++)
        for (int o = OUTCOME_MEMORY; o < OUTCOME_BAD_INPUT; o++) bad += s->solvers.at[k].outcomes[o];
    if (bad) text_format(out, "; %s went wrong", counted(bad, "run").at);
    if (s->bad_inputs) text_format(out, "; %s unreadable", counted(s->bad_inputs, "file").at);
    return (bad || s->bad_inputs) ? PAINT_BAD : best->best == 0 ? PAINT_WARN : PAINT_GOOD;
}

/* clang-format off */
VALUE_OF(shared_value,    struct beside, value_whole(v, (int64_t)row->ratio.count);)

static const struct column beside_array[] = {
    {.key = "solver",     .heading = "solver",    .kind = VALUE_WORDS, MEMBER(struct beside, solver)},
    {.key = "best",       .heading = "best",      .kind = VALUE_COUNT, MEMBER(struct beside, best)},
    {.key = "instances",  .heading = "instances", .kind = VALUE_COUNT, MEMBER(struct beside, instances)},
    {.key = "misses",     .heading = "misses",    .kind = VALUE_COUNT, MEMBER(struct beside, misses)},
    {.key = "leader",     .heading = "leader",    .kind = VALUE_WORDS, MEMBER(struct beside, leader)},
    {.key = "shared",     .heading = "shared",    .kind = VALUE_COUNT, .value = shared_value},
    {.key = "time_ratio", .heading = "times",     .kind = VALUE_RATIO, MEMBER(struct beside, ratio.times)},
    {.key = "time_ratio_error", .heading = "error",  .kind = VALUE_RATIO, MEMBER(struct beside, ratio.spread)},
};
/* clang-format on */

const struct columns beside_columns = COLUMNS("solvers beside the best", beside_array);

static size_t who_is_best_fill(const struct summary *s, struct beside *all)
{
    size_t leader = 0;
    OWNED double *logs = mem_alloc((s->problems.count + 1) * sizeof *logs);
    for (size_t k = 0; k < s->solvers.count; k++) {
        all[k].solver = s->solvers.at[k].label;
        for (size_t p = 0; p < s->problems.count; p++) {
            const struct cell *c = summary_cell(s, p, k);
            all[k].instances += c->runs > 0;
            all[k].best += c->runs > 0 && isfinite(c->time);
        }
        all[k].misses = all[k].instances - all[k].best;
        if (all[k].best > all[leader].best ||
            (all[k].best == all[leader].best && s->solvers.at[k].mean < s->solvers.at[leader].mean))
            leader = k;
    }
    for (size_t k = 0; k < s->solvers.count; k++) {
        size_t n = 0;
        double noise = NAN;
        for (size_t p = 0; p < s->problems.count; p++) {
            const struct cell *a = summary_cell(s, p, k), *b = summary_cell(s, p, leader);
            if (!a->runs || !b->runs || !isfinite(a->time) || !isfinite(b->time) || a->time <= 0 ||
                b->time <= 0)
                continue;
            logs[n++] = log(a->time / b->time);
            /* Noise of a single problem: both sides, propagated. */
            noise = sqrt(pow(a->deviation / a->seconds, 2) + pow(b->deviation / b->seconds, 2));
        }
        all[k].leader = all[leader].solver;
        all[k].ratio = ratio_of(logs, n);
        if (n == 1) all[k].ratio.spread = all[k].ratio.times * noise;
    }
    return leader;
}

void verdict_make(const struct summary *s, struct arena *memory, struct verdict *v, struct table *figures)
{
    SCOPED(text_free) struct text words = {0}, lines = {0};
    enum paint paint = PAINT_WARN;
    struct beside *all = arena_array(memory, s->solvers.count + 1, sizeof *all);
    size_t leader = who_is_best_fill(s, all);
    if (s->solvers.count) {
        paint = who_is_best_add_verdict(s, all, leader, &words);
        /* One line per other solver: "auto is 1.12 ± 0.03 times faster than ilp on the 8 that both reach; ilp
         * is worse on 1". */
        for (size_t k = 0; k < s->solvers.count; k++) {
            if (k == leader || !isfinite(all[k].ratio.times)) continue;
            text_format(&lines, "  %s is ", all[leader].solver);
            add_ratio(&lines, all[k].ratio);
            text_format(&lines, " %s", all[k].solver);
            if (all[k].misses)
                text_format(&lines, " on the %zu that both reach; %s is worse on %lld", all[k].ratio.count,
                            all[k].solver, (long long)all[k].misses);
            text_add(&lines, "\n");
        }
    }
    *figures = TABLE(beside_columns, all, s->solvers.count);
    figures->key = "beside";
    figures->title = "Beside the best";
    *v = (struct verdict){arena_string(memory, words.at ? words.at : "no runs"),
                          arena_string(memory, lines.at ? lines.at : ""), paint};
}
