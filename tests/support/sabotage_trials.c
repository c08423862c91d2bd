#include "support/sabotage_trials.h"

struct lx_run_result *run_it(const struct lx_plan *p)
{
    struct lx_device_options how = {0};
    lx_status st = {0};
    return lx_device_run(p, &how, &st);
}

static bool small_enough(const struct lx_plan *p)
{
    int64_t bytes = 0;
    for (int32_t t = 0; t < p->graph->tensor_count; t++) bytes += p->graph->tensors[t].bytes;
    return bytes < MOST_RUN_BYTES && p->graph->op_count < 60;
}

void take_subject(struct subject *s, struct lx_plan *p)
{
    size_t length;
    char *text = lx_plan_to_json(p, &length);
    lx_status st = {0};
    s->plan = cJSON_Parse(text);
    assert_non_null(s->plan);
    struct lx_plan *again = lx_plan_of_text(s->name, text, length, &st);
    if (!again || !lx_plan_check(again, &st)) fail_msg("%s: %s", s->name, st.text);
    if ((s->runs = small_enough(p))) {
        s->good = run_it(again);
        if (!s->good || !s->good->ok)
            fail_msg("%s: %s", s->name, s->good ? what_is_wrong(s->good) : "does not run");
    }
    mem_free(text);
    lx_plan_free(again);
    lx_plan_free(p);
}

static bool same_run(const struct lx_run_result *a, const struct lx_run_result *b, bool rounded)
{
    return (rounded || a->output_hash == b->output_hash) &&
           memcmp(&a->total, &b->total, sizeof a->total) == 0;
}

static void tell(const struct subject *s, const struct sabotage *k, const char *what, const char *why)
{
    print_message("%s, %s: %s (%s)\n", s->name, k->name, what, why);
}

/* The device's word on a plan that check has judged. */
static void judge_run(const struct subject *s, const struct sabotage *k, const struct lx_plan *p, bool legal,
                      const char *why, struct tally *t)
{
    struct lx_run_result *r = run_it(p);
    t->run++;
    bool ok = r && r->ok, same = ok && same_run(r, s->good, k->runs_wrong == SUMS_OTHERWISE);
    if (legal && !ok) {
        t->missed++;
        tell(s, k, "accepted, but it does not run", r ? what_is_wrong(r) : "not at all");
    } else if (!legal && ok && (!same || k->runs_wrong == 1)) {
        t->unseen++;
        tell(s, k, "refused, but the device sees nothing", why);
    } else if (!legal && ok)
        t->unchanged++;
    if (r) lx_run_result_free(r);
}

void sabotage_judge(const struct subject *s, const struct sabotage *k, const char *text, struct tally *t)
{
    lx_status st = {0};
    struct lx_plan *p = lx_plan_of_text("sabotaged", text, strlen(text), &st);
    if (!p) {
        t->unread++;
        t->counted++;
        if (st.code == LX_E_INTERNAL) fail_msg("%s, %s: %s", s->name, k->name, st.text);
        return;
    }
    bool legal = lx_plan_check(p, &st);
    t->harmless += legal;
    t->refused += !legal;
    t->counted += !legal;
    if (s->runs && (legal || !s->only_legal)) judge_run(s, k, p, legal, st.text, t);
    lx_plan_free(p);
}

bool sabotage_once(const struct subject *s, const struct sabotage *k, struct rng *r, struct tally *t)
{
    cJSON *plan = cJSON_Duplicate(s->plan, true);
    struct damage d = damage_of(plan, r);
    bool done = k->act(&d);
    char *text = done ? cJSON_PrintUnformatted(plan) : NULL;
    if (text) sabotage_judge(s, k, text, t);
    free(text);
    cJSON_Delete(plan);
    return done;
}

void print_tally(const struct sabotage *table, int count, const struct tally *tally)
{
    print_message("%-42s %7s %7s %7s %8s %7s %9s %6s %6s\n", "", "counted", "unread", "refused", "harmless",
                  "run", "unchanged", "missed", "unseen");
    for (int k = 0; k < count; k++)
        print_message("%-42s %7d %7d %7d %8d %7d %9d %6d %6d\n", table[k].name, tally[k].counted,
                      tally[k].unread, tally[k].refused, tally[k].harmless, tally[k].run, tally[k].unchanged,
                      tally[k].missed, tally[k].unseen);
}
