/* A team's plans as a file, and their check: figures, and both ends of every message. */
#include "planfile/plan_file.h"
#include "team/run/team_plans.h"
#include "team/team_file.h"

char *lx_team_plans_to_json(const struct lx_team_plans *p, size_t *length)
{
    struct text t = {0};
    team_write(p->team, TEAM_PLAN_KIND, &t);
    text_add(&t, ",\n  \"plans\": [\n");
    /* the plan, or the number of the first device with the same plan */
    for (int m = 0; m < p->team->devices; m++) {
        size_t n;
        int first = 0;
        while (p->plans[first] != p->plans[m]) first++;
        OWNED char *plan = p->plans[m] && first == m ? lx_plan_to_json(p->plans[m], &n) : NULL;
        if (plan)
            text_add_n(&t, plan, n);
        else
            text_format(&t, p->plans[m] ? "%d" : "null", first);
        text_add(&t, m + 1 < p->team->devices ? ",\n" : "\n");
    }
    text_add(&t, "  ]\n}\n");
    *length = t.length;
    return t.at;
}

/* Reads a device's plan for its graph, or the number of an earlier device with the same plan. */
static bool team_plans_read(const struct json *j, const struct json_value *value, struct lx_team_plans *p,
                            int m, lx_status *st)
{
    int64_t first;
    if (!team_plans_add_device(p, m, st)) return false;
    const struct lx_graph *does = p->devices[m]->graph;
    if (json_is_null(value) != !does)
        return json_error(j, value, st, LX_E_MISMATCH, "device %d has %s to do", m,
                          does ? "something" : "nothing");
    if (!does) return true;
    if (json_is_number(value)) {
        if (!json_int_value(j, value, "a device before this one", 0, m - 1, &first, st)) return false;
        if (!team_plans_fits(p, m, (int)first))
            return json_error(j, value, st, LX_E_MISMATCH,
                              "device %d does not do the same as device %d; give it a plan of its own", m,
                              (int)first);
        p->plans[m] = lx_plan_ref(p->plans[first]);
        return true;
    }
    p->plans[m] = plan_read_json(j, value, st);
    if (!p->plans[m]) return false;
    if (p->plans[m]->graph->hash == does->hash) return true;
    return json_error(j, value, st, LX_E_MISMATCH,
                      "this is a plan of another graph than the one that the team's plan gives device %d", m);
}

static struct lx_team_plans *team_plans_read_all(const struct json *j, lx_status *st)
{
    const struct json_value *array, *item;
    struct lx_team_plan *team = team_read(j, j->root, st);
    struct lx_team_plans *p = team ? team_plans_new(team) : NULL;
    /* The devices' graphs follow from a correct team plan. */
    bool ok = p && lx_team_check(p->team, st) && json_array(j, j->root, "plans", &array, st);
    if (ok && json_count(array) != p->team->devices)
        ok = json_error(j, array, st, LX_E_MISMATCH,
                        "a team of %d needs as many plans; null for one that has nothing to do",
                        p->team->devices);
    int m = 0;
    if (ok)
        json_for_each(item, array) {
            ok = ok && team_plans_read(j, item, p, m++, st);
        }
    if (ok && isnan(team->predicted_us)) team->predicted_us = team_plans_us(p);
    if (ok && team->bound_bytes == -1 && team->bound_us > lx_team_bound_us(team) * (1 + 1e-6))
        team->bound_bytes = lx_team_least_bytes(team);
    if (ok && isnan(team->bound_us)) team->bound_us = lx_team_bound_us(team);
    if (ok) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *lx_team_plans_parse(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return NULL;
    struct lx_team_plans *p = team_plans_read_all(&j, st);
    json_free(&j);
    return p;
}

bool lx_is_team_plan(const char *text, size_t length)
{
    return json_is_kind(text, length, TEAM_PLAN_KIND);
}

/* One end of a message. After sorting, both ends are neighbours. */
struct message_end {
    int from, to, tag;
    int64_t bytes;
    int receives, device;
    int32_t number; /* index in the device's messages */
};

ORDER(message_ends_order, struct message_end,
      ORDER_UP(from) ORDER_UP(to) ORDER_UP(tag) ORDER_UP(bytes) ORDER_UP(receives) ORDER_UP(device)
          ORDER_UP(number));

/* Whether each message has exactly one matching end of equal size. Reports the first unmatched end, by
 * device and number. */
static bool team_plans_check_messages(const struct lx_team_plans *p, lx_status *st)
{
    size_t count = 0, n = 0;
    for (int m = 0; m < p->team->devices; m++) count += (size_t)p->devices[m]->message_count;
    struct message_end *all = mem_zeroed(count + 1, sizeof *all), first = {.device = -1};
    for (int m = 0; m < p->team->devices; m++)
        for (int32_t i = 0; i < p->devices[m]->message_count; i++) {
            const struct lx_team_message *x = &p->devices[m]->messages[i];
            bool receives = x->operand < 0;
            all[n++] = (struct message_end){
                receives ? x->peer : m, receives ? m : x->peer, x->tag, x->bytes, receives, m, i};
        }
    qsort(all, count, sizeof *all, message_ends_order);
    for (size_t i = 0, end; i < count; i = end) {
        const struct message_end *x = &all[i];
        for (end = i + 1; end < count && all[end].from == x->from && all[end].to == x->to &&
                          all[end].tag == x->tag && all[end].bytes == x->bytes;)
            end++;
        if (end - i == 2 && !x[0].receives && x[1].receives) continue;
        for (size_t k = i; k < end; k++)
            if (first.device < 0 || all[k].device < first.device ||
                (all[k].device == first.device && all[k].number < first.number))
                first = all[k];
    }
    mem_free(all);
    if (first.device < 0) return true;
    return status_set(st, LX_E_NO, "device %d %s %lld bytes that device %d does not %s", first.device,
                      first.receives ? "receives" : "sends", (long long)first.bytes,
                      first.receives ? first.from : first.to, first.receives ? "send" : "receive");
}

/* Whether the device's graph slices on-chip tensors at other offsets than the plan; cores may then have
 * other parts. */
static bool team_plans_moves_on_chip(const struct lx_plan *plan, const struct lx_graph *does)
{
    const struct lx_layouts *l = plan->layouts;
    for (int32_t o = 0; o < l->graph->op_count; o++) {
        struct op_index x, other;
        if (l->op_origin[o] < 0) continue;
        op_index_of(l->graph, &l->graph->ops[o], &x);
        op_index_of(does, &does->ops[l->op_origin[o]], &other);
        for (int i = 0; x.known && i < x.operand_count; i++)
            for (int h = 0; op_index_shifted(&x, i) && h < x.rank[i]; h++)
                if (op_index_offset(&x, i, h) != op_index_offset(&other, i, h) &&
                    lx_plan_place(plan, o, i) >= 0)
                    return true;
    }
    return false;
}

/* Checks a device's plan; a shared plan only if its on-chip slices are at other offsets. */
static bool team_plans_check_plan(const struct lx_team_plans *p, int m, lx_status *st)
{
    int twin = team_plans_twin(p, m);
    if (twin == m || p->plans[twin] != p->plans[m]) return lx_plan_check(p->plans[m], st);
    if (!team_plans_moves_on_chip(p->plans[m], p->devices[m]->graph)) return true;
    SCOPED(plan_free_at) const struct lx_plan *own = lx_team_plan_of(p, m, st);
    return own && lx_plan_check(own, st);
}

static bool team_plans_is_near(double stated, double is)
{
    return stated < 0 || fabs(stated - is) <= 1e-6 * fabs(is) + 1e-9;
}

bool lx_team_plans_check(const struct lx_team_plans *p, lx_status *st)
{
    const struct lx_team_plan *t = p->team;
    if (!lx_team_check(t, st) || !team_plans_check_messages(p, st)) return false;
    for (int m = 0; m < t->devices; m++) {
        lx_status why = {0};
        if (p->plans[m] && !team_plans_check_plan(p, m, &why))
            return status_set(st, why.code, "device %d: %.600s", m, why.text);
    }
    double us = team_plans_us(p), least = lx_team_bound_us(t);
    if (!team_plans_is_near(t->predicted_us, us))
        return status_set(st, LX_E_NO, "predicted_us is %.9g; by the plans of the devices it is %.9g",
                          t->predicted_us, us);
    if (!team_plans_is_near(t->bound_us, least))
        return status_set(st, LX_E_NO, "bound_us is %.9g; the least work takes %.9g", t->bound_us, least);
    int64_t bytes = t->bound_bytes > 0 ? lx_team_least_bytes(t) : t->bound_bytes;
    if (t->bound_bytes != bytes)
        return status_set(st, LX_E_NO, "bound_bytes is %lld; %lld are proved", (long long)t->bound_bytes,
                          (long long)bytes);
    if (t->bound_us > us)
        return status_set(st, LX_E_NO, "the bound, %.9g us, is above the plan, %.9g us", t->bound_us, us);
    return true;
}
