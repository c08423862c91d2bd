/* A plan as a story. Every sentence is a function of the plan alone; one that has nothing to say is left out. */
#include "export/page.h"
#include "export/nest_words.h"
#include "export/plan_words.h"
#include "plan/occupancy.h"

static void story_question(const struct lx_plan *p, struct text *t)
{
    add_printable(t, p->graph->name, 60);
    if (!p->layouts) {
        text_format(t, " is a list of %s for %s of scratchpad", counted(p->problem.count, "buffer").at,
                    in_short_bytes(p->problem.capacity).at);
        return;
    }
    text_format(t, " has %s; it is planned for %s with %s of scratchpad each",
                counted(p->layouts->graph->op_count, "op").at, counted(p->graph->device.cores, "core").at,
                in_short_bytes(p->problem.capacity).at);
}

static void story_value(const struct lx_plan *p, struct text *t)
{
    text_add(t, "The plan, by ");
    add_printable(t, p->solver, 30);
    text_add(t, ": ");
    add_value_words(p, true, t);
    if (p->unproved && p->answer.status != LX_OPTIMAL)
        text_format(t, "; not proved optimal: %s", p->unproved);
}

static void story_saved(const struct lx_plan *p, struct text *t)
{
    int64_t all = p->figures.baseline_hbm_bytes, now = p->figures.hbm_bytes;
    if (all <= 0 || now > all) return;
    text_format(t, "With nothing on chip %s would cross HBM; ", in_short_bytes(all).at);
    text_format(t, "%s of that is saved", in_percent((double)(all - now) / (double)all).at);
}

static void story_compulsory(const struct lx_plan *p, struct text *t)
{
    int64_t must = p->figures.perfect_hbm_bytes, now = p->figures.hbm_bytes;
    if (must <= 0 || must > now) return;
    text_format(t, "%s must cross HBM once however large the scratchpads are: ", in_short_bytes(must).at);
    if (must == now)
        text_add(t, "the plan moves not a byte more");
    else
        text_format(t, "the plan moves %s more", in_short_bytes(now - must).at);
}

static void story_kinds(const struct lx_plan *p, struct text *t)
{
    OWNED int64_t *moved = moved_by_buffers(p);
    struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
    if (p->figures.hbm_bytes > 0) {
        text_add(t, "What crosses HBM: ");
        add_byte_sums(p, &sums, t);
    }
}

static void story_avoidable(const struct lx_plan *p, struct text *t)
{
    int64_t bytes = 0;
    int32_t count = 0, worst = -1;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (p->answer.address[i] >= 0 || b->reason || b->spill_cost <= 0) continue;
        count++;
        bytes += b->spill_cost;
        if (worst < 0 || b->spill_cost > p->problem.buffers[worst].spill_cost) worst = i;
    }
    if (count == 0) {
        text_add(t, "Every buffer that may be on chip is on chip");
        return;
    }
    text_format(t, "%s could be on chip and %s not, for %s of traffic; the dearest is ",
                counted(count, "buffer").at, count == 1 ? "is" : "are", in_short_bytes(bytes).at);
    add_printable(t, p->problem.buffers[worst].name, 40);
    text_format(t, " with %s", in_short_bytes(p->problem.buffers[worst].spill_cost).at);
}

static void story_fullest(const struct lx_plan *p, struct text *t)
{
    SCOPED(lx_occupancy_free) struct lx_occupancy o;
    int32_t largest = -1;
    lx_occupancy_make(p, LX_ALL_POOLS, &o);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (p->answer.address[i] < 0 || !lx_is_alive(b, o.peak_tick)) continue;
        if (largest < 0 || b->size > p->problem.buffers[largest].size) largest = i;
    }
    if (o.peak > 0 && largest >= 0) {
        text_format(t, "Tick %lld is the fullest, with %s", (long long)o.peak_tick,
                    in_short_bytes(o.peak).at);
        if (p->problem.capacity > 0)
            text_format(t, " (%s of the scratchpad)",
                        in_percent((double)o.peak / (double)p->problem.capacity).at);
        text_add(t, "; most of it is ");
        add_printable(t, p->problem.buffers[largest].name, 40);
        text_format(t, " with %s", in_short_bytes(p->problem.buffers[largest].size).at);
    }
}

static void story_time(const struct lx_plan *p, struct text *t)
{
    if (!p->layouts || !(p->figures.end_to_end_us > 0)) return;
    int32_t ops = p->layouts->graph->op_count;
    OWNED struct lx_op_wait *waits = mem_zeroed((size_t)ops + 1, sizeof *waits);
    lx_plan_waits(p, waits);
    struct lx_op_wait sum = lx_waits_sum(waits, ops);
    enum lx_wait longest = lx_wait_longest(&sum);
    int32_t op = 0;
    for (int32_t o = 1; o < ops; o++)
        if (lx_wait_us(&waits[o]) > lx_wait_us(&waits[op])) op = o;
    text_format(t, "It is predicted to take %s end to end, ", in_micros(p->figures.end_to_end_us).at);
    text_format(t, "%s of it for %s; the op ", in_percent(sum.us[longest] / lx_wait_us(&sum)).at,
                lx_wait_word(longest));
    add_printable(t, p->layouts->graph->ops[op].name, 40);
    text_format(t, " takes longest, %s", in_micros(lx_wait_us(&waits[op])).at);
}

static void story_launches(const struct lx_plan *p, struct text *t)
{
    if (!p->layouts || p->bundle_count == 0) return;
    text_format(t, "It is launched as %s, in which all cores wait for each other at %s",
                counted(p->bundle_count, "kernel").at,
                p->sync_count ? counted(p->sync_count, "point").at : "no point");
}

static void story_nests(const struct lx_plan *p, struct text *t)
{
    if (p->nest_count == 0) return;
    text_format(t, "%s: ", counted(p->nest_count, "nest").at);
    for (int32_t i = 0; i < p->nest_count && i < 2; i++) {
        const struct lx_nest *n = &p->nests[i];
        text_format(t, "%sops %d to %d run as ", i ? ", " : "", (int)n->first, (int)n->last);
        add_nest_words(p, n, t);
    }
    if (p->nest_count > 2) text_add(t, ", ...");
}

static void story_padding(const struct lx_plan *p, struct text *t)
{
    int32_t worst = -1;
    double most = 0;
    for (int32_t i = 0; p->layouts && i < p->problem.count; i++) {
        double share = lx_layout_padding(&p->layouts->layouts[p->stays[i].tensor]);
        if (p->answer.address[i] >= 0 && share > most) most = share, worst = i;
    }
    if (most < 0.5) return;
    add_printable(t, p->problem.buffers[worst].name, 40);
    text_format(t, " is padded most of all that is on chip: %s of it are data", in_percent(1 - most).at);
}

void story_make(const struct lx_plan *p, struct story *out)
{
    static const struct {
        void (*tell)(const struct lx_plan *p, struct text *t);
        const char *shown_by;
    } parts[] = {{story_question, "show FILE"},
                 {story_value, "check FILE"},
                 {story_saved, "explore FILE, 5"},
                 {story_compulsory, "explore FILE, B"},
                 {story_kinds, "show FILE --buffers"},
                 {story_avoidable, "explore FILE, o"},
                 {story_fullest, "explore FILE, ^"},
                 {story_padding, "explore FILE, 4 dddd"},
                 {story_nests, "explore FILE, 6"},
                 {story_time, "explore FILE, t"},
                 {story_launches, "export FILE --format handover"}};
    *out = (struct story){0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct text t = {0};
        parts[i].tell(p, &t);
        if (!t.at) continue;
        text_add(&t, ".");
        out->at[out->count].sentence = t;
        out->at[out->count++].shown_by = parts[i].shown_by;
    }
}

void story_free(struct story *s)
{
    for (int i = 0; i < s->count; i++) text_free(&s->at[i].sentence);
    s->count = 0;
}
