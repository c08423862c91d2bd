/* The effect of a change on the plan. */
#include "tui/core/session.h"
#include "export/nest_words.h"

void change_make(const struct lx_plan *before, const struct lx_plan *after, struct change *out)
{
    struct lx_diff d;
    bool height = after->problem.objective == LX_HEIGHT;
    *out = (struct change){
        .what = height               ? "height"
                : after->graph->list ? "cost"
                                     : "HBM",
        .before = {lx_plan_value(before), before->figures.spill_bytes, before->figures.end_to_end_us},
        .after = {lx_plan_value(after), after->figures.spill_bytes, after->figures.end_to_end_us}};
    if (before->problem.objective != after->problem.objective) return; /* answers to different questions */
    out->marks = mem_zeroed((size_t)after->problem.count + 1, 1);
    lx_plan_diff(before, after, &d);
    for (int32_t i = 0; i < d.count; i++) {
        const struct lx_difference *x = &d.all[i];
        int32_t *counts[LX_CHANGE_COUNT] = {
            [LX_CAME_ON_CHIP] = &out->came, [LX_WENT_OFF_CHIP] = &out->went, [LX_MOVED] = &out->moved};
        ++*(counts[x->change] ? counts[x->change] : &out->other);
        if (x->after >= 0) out->marks[x->after] = 1;
    }
    lx_diff_free(&d);
    /* Ops whose division differs. Names identify them: layouts may differ, and with them the ops between. */
    bool splits = before->divisions && after->divisions && before->divisions != after->divisions;
    const struct lx_graph *ga = splits ? before->layouts->graph : NULL,
                          *gb = splits ? after->layouts->graph : NULL;
    int32_t at = 0;
    for (int32_t o = 0; splits && o < gb->op_count && ga->op_count > 0; o++) {
        int32_t tried = 0; /* both have nearly the same order */
        while (tried < ga->op_count && strcmp(ga->ops[at].name, gb->ops[o].name) != 0)
            at = (at + 1) % ga->op_count, tried++;
        if (tried < ga->op_count) {
            const struct lx_division *was = &before->divisions->at[at], *is = &after->divisions->at[o];
            bool same = was->split_count == is->split_count && was->contiguous == is->contiguous;
            for (int i = 0; same && i < was->split_count; i++)
                same = was->splits[i].split == is->splits[i].split;
            out->resplit += !same;
        }
        at = (at + 1) % ga->op_count;
    }
    add_nests_change(before, after, &out->nests);
    out->known = true;
}

void change_free(struct change *c)
{
    mem_free(c->marks);
    text_free(&c->nests);
    *c = (struct change){0};
}

/* "13.8 -> 12.7 MiB": both in the unit of the larger. */
static void change_add_bytes(struct text *out, int64_t before, int64_t after, bool brief)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int64_t most = before > after ? before : after;
    int unit = 0;
    for (double v = (double)most; v >= 1024 && unit < 4; v /= 1024) unit++;
    double size = pow(1024, unit);
    if (before == INT64_MAX || after == INT64_MAX)
        text_format(out, "%s -> %s", before == INT64_MAX ? "none" : grouped(before).at,
                    after == INT64_MAX ? "none" : grouped(after).at);
    else if (!brief || unit == 0)
        text_format(out, "%s -> %s", grouped(before).at, grouped(after).at);
    else
        text_format(out, "%.*f -> %.*f %s", (double)most >= 100 * size ? 0 : 1, (double)before / size,
                    (double)most >= 100 * size ? 0 : 1, (double)after / size, units[unit]);
}

int change_words(const struct change *c, bool brief, struct text pieces[CHANGE_PIECES])
{
    int n = 0;
    if (c->before.value == c->after.value)
        text_format(&pieces[n], "%s %s: no byte changed", c->what,
                    c->after.value == INT64_MAX ? "none" : grouped(c->after.value).at);
    else {
        text_format(&pieces[n], "%s ", c->what);
        change_add_bytes(&pieces[n], c->before.value, c->after.value, brief);
        if (c->before.value > 0)
            text_format(&pieces[n], " (%+.1f %%)",
                        100 * ((double)c->after.value - (double)c->before.value) / (double)c->before.value);
    }
    n++;
    if (c->before.us > 0 && c->after.us > 0 && c->before.us != c->after.us) {
        struct words from = in_micros(c->before.us), to = in_micros(c->after.us);
        char *unit = strchr(from.at, ' '); /* once, where both have the same */
        if (strcmp(unit, strchr(to.at, ' ')) == 0) *unit = 0;
        text_format(&pieces[n], "%s%s -> %s", brief ? "" : "end to end ", from.at, to.at);
        text_format(&pieces[n++], " (%+.1f %%)", 100 * (c->after.us - c->before.us) / c->before.us);
    }
    if (c->before.spill != c->after.spill && strcmp(c->what, "cost") != 0) {
        text_add(&pieces[n], "spill ");
        change_add_bytes(&pieces[n++], c->before.spill, c->after.spill, brief);
    }
    if (c->nests.at) text_add(&pieces[n++], c->nests.at);
    struct text *out = &pieces[n++];
    const struct {
        int32_t count;
        const char *words;
    } all[] = {{c->came, "came on chip"}, {c->went, "went off"}, {c->moved, "moved"}, {c->other, "changed"}};
    const char *comma = "";
    for (int i = 0; i < 4; i++) {
        if (all[i].count == 0) continue;
        text_format(out, "%s%s %s", comma, grouped(all[i].count).at, all[i].words);
        comma = ", ";
    }
    if (c->resplit) text_format(out, "%s%s re-split", comma, counted(c->resplit, "op").at);
    if (!*comma && !c->resplit) text_add(out, "nothing moved");
    return n;
}
