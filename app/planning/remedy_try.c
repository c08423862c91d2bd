/* One remedy tried: the plan that its options make, or the least scratchpad that is enough, found by halving.
 * Each try has a fuse that a busy machine does not shorten, and ends when it is told to. */
#include "planning/remedies.h"
#include "export/nest_words.h"
#include "text/format.h"

static bool remedy_try_must_stop(void *context)
{
    struct trial *t = context;
    const struct remedy_watch *w = t->watch;
    if (w->stop && w->stop(w->context)) t->stopped = true;
    return t->stopped;
}

static const struct lx_plan *remedy_try_plan_with(struct trial *t, const struct lx_settings *o, lx_status *st)
{
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    SCOPED(graph_free_at) const struct lx_graph *g = lx_settings_graph(o, t->pattern, st);
    const int64_t left = t->watch->polls ? max_i64(t->watch->polls - t->polls, 1) : 0;
    struct lx_plan_options how = {.like = t->of->plan};
    const struct lx_plan *p = NULL;
    how.run = (struct lx_run){.stop = remedy_try_must_stop, .context = t, .most_polls = left};
    if (g && lx_settings_plan(o, g, &how, values, st)) p = lx_plan_make(g, &how, st);
    t->polls += p ? p->polls : st->code == LX_E_STOPPED ? left : 0;
    t->cut = left && (p ? p->polls >= left : st->code == LX_E_STOPPED);
    return p;
}

/* A buffer answers to its name, and all stays of a tensor to the tensor's. A plan with other cuts has other
 * stays: where there is no buffer "x#2", it is x that counts. */
static bool remedies_answers(const struct lx_plan *p, int32_t i, const char *name, size_t length)
{
    const char *own =
        p->stays ? p->layouts->graph->tensors[p->stays[i].tensor].name : p->problem.buffers[i].name;
    return strncmp(own, name, length) == 0 && !own[length];
}

/* Buffers that must stay in HBM do not count. */
enum presence presence_in(const struct lx_plan *p, const char *name)
{
    int32_t placed = 0, off = 0;
    if (!name) return p->figures.spill_bytes > 0 ? PRESENCE_NO : PRESENCE_YES;
    const char *number = p->stays ? strrchr(name, '#') : NULL;
    size_t length = strlen(name), stem = number && number > name ? (size_t)(number - name) : length;
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (!remedies_answers(p, i, name, length) && !remedies_answers(p, i, name, stem)) continue;
        placed += p->answer.address[i] >= 0;
        off += p->answer.address[i] < 0 && !p->problem.buffers[i].reason;
    }
    return !placed ? PRESENCE_NO : off ? PRESENCE_PART : PRESENCE_YES;
}

void remedy_take_figures(struct remedy *it, const struct lx_plan *p, const char *name)
{
    it->value = lx_plan_value(p);
    it->us = p->figures.end_to_end_us;
    it->syncs = p->figures.sync_times;
    it->spill = p->figures.spill_bytes;
    it->cores = p->graph->device.cores;
    it->capacity = p->problem.capacity;
    it->proved = p->answer.status == LX_OPTIMAL;
    it->presence = presence_in(p, name);
}

static void remedy_try_take(const struct trial *t, const struct lx_plan *p, struct remedy *it)
{
    it->state = t->stopped ? REMEDY_STOPPED : t->cut ? REMEDY_CUT : REMEDY_TRIED;
    remedy_take_figures(it, p, t->of->name);
}

void try_once(struct trial *t, struct remedy *it)
{
    lx_status st = {0};
    SCOPED(plan_free_at) const struct lx_plan *p = remedy_try_plan_with(t, &it->options, &st);
    if (p) {
        remedy_try_take(t, p, it);
        if (t->of->keeps) it->made = lx_plan_ref(p);
        if (!nests_same(p, t->of->plan)) {
            /* Before what the row says: other nests than those of now. */
            SCOPED(text_free) struct text words = {0};
            char note[sizeof it->note];
            add_nests_sum(p, &words);
            snprintf(note, sizeof note, "%.60s%s%.90s", words.at ? words.at : "no nest",
                     it->note[0] ? "; " : "", it->note);
            memcpy(it->note, note, sizeof note);
        }
    } else {
        bool in_time = st.code != LX_E_STOPPED; /* else there was no plan yet when its time was up */
        it->state = t->stopped ? REMEDY_STOPPED : in_time ? REMEDY_FAILED : REMEDY_LARGE;
        snprintf(it->note, sizeof it->note, "%.150s", st.text);
    }
}

/* The plan with so much scratchpad, and whether that is enough. */
struct probe {
    bool enough;
    int64_t height;
    struct remedy as; /* with its figures */
};

static bool remedy_try_reaches(const struct lx_plan *p, const struct remedies *r, enum remedy_goal goal)
{
    if (p->problem.objective == LX_FIT) return !lx_left_out(&p->problem, p->answer.address);
    return goal == GOAL_BUFFER ? presence_in(p, r->name) == PRESENCE_YES : p->figures.spill_bytes == 0;
}

static struct probe probe_lx(struct trial *t, const struct remedy *it, int64_t bytes)
{
    struct probe out = {.as = *it};
    char text[24];
    lx_status st = {0};
    snprintf(text, sizeof text, "%lld", (long long)bytes);
    if (!lx_settings_set_row(&out.as.options, LX_OPTION_LX, text, &st)) return out;
    SCOPED(plan_free_at) const struct lx_plan *p = remedy_try_plan_with(t, &out.as.options, &st);
    if (p) {
        remedy_try_take(t, p, &out.as);
        out.enough = remedy_try_reaches(p, t->of, it->goal);
        out.height = p->figures.height_bytes;
    }
    return out;
}

/* The least size that is enough under the options of `as`, above `*low` units: first enough for all buffers
 * side by side, then for the height of that plan; then bisects, in steps of the alignment. A plan that was cut
 * short proves nothing: the search ends. `*low`: the largest size that is known to be too small. */
static struct probe search_lx_of(struct trial *t, const struct remedy *as, int64_t most, int64_t *low)
{
    int64_t unit = max_i64(t->of->plan->problem.alignment, 1);
    struct probe best = probe_lx(t, as, most);
    if (best.enough && best.height < most) {
        struct probe tight = probe_lx(t, as, max_i64(best.height, 1));
        if (tight.enough) best = tight;
    }
    int64_t high = (best.as.options.value[LX_OPTION_LX] + unit - 1) / unit;
    while (best.enough && high - *low > 1) {
        int64_t middle = *low + (high - *low) / 2;
        struct probe next = probe_lx(t, &best.as, middle * unit);
        if (t->stopped || t->cut) break;
        if (next.enough)
            best = next, high = middle;
        else
            *low = middle;
    }
    return best;
}

/* Balanced plans take long: plans by bytes find the size, and unless it is enough for a balanced plan,
 * those search on from there. */
void search_lx(struct trial *t, struct remedy *it)
{
    const struct lx_plan *now = t->of->plan;
    const struct lx_problem *p = &now->problem;
    bool is_enough = remedy_try_reaches(now, t->of, it->goal);
    int64_t most = is_enough ? p->capacity : p->alignment,
            low = is_enough ? 0 : p->capacity / max_i64(p->alignment, 1);
    for (int32_t i = 0; !is_enough && i < p->count; i++)
        most = min_i64(most + min_i64(p->buffers[i].size, LX_INT_MAX / 4) + p->alignment, LX_INT_MAX / 4);
    struct remedy by_bytes = *it;
    struct probe best = {0};
    if (now->balanced &&
        lx_settings_set_row(&by_bytes.options, LX_OPTION_OBJECTIVE, lx_ask_word(LX_ASK_TRAFFIC), NULL)) {
        best = search_lx_of(t, &by_bytes, most, &low);
        struct probe asked = best.enough ? probe_lx(t, it, best.as.options.value[LX_OPTION_LX]) : best;
        if (t->stopped || t->cut)
            best.as.options = asked.as.options;
        else
            best = asked;
    }
    if (!best.enough && !t->stopped && !t->cut) best = search_lx_of(t, it, most, &low);
    if (!best.enough) {
        it->state = t->stopped ? REMEDY_STOPPED : t->cut ? REMEDY_LARGE : REMEDY_NONE;
        return;
    }
    int64_t bytes = best.as.options.value[LX_OPTION_LX];
    *it = best.as;
    it->state = t->stopped ? REMEDY_STOPPED : t->cut ? REMEDY_CUT : REMEDY_TRIED;
    snprintf(it->what, sizeof it->what, "--%s %lld", lx_settings_at(LX_OPTION_LX).name, (long long)bytes);
    snprintf(it->note, sizeof it->note, "%.60s%s%.60s", best.as.note,
             t->cut ? " that was found in time: " : ": ", in_enough(bytes, false).at);
}

int64_t remedy_try(const struct remedies *r, struct remedy *it, const struct lx_graph *pattern,
                   const struct remedy_watch *watch)
{
    struct trial t = {.of = r, .pattern = pattern, .watch = watch};
    if (it->state != REMEDY_LARGE) it->sort->run(&t, it);
    return t.polls;
}
