/* Rows, columns and differences of Compare. */
#include "tui/views/compared.h"

static void compared_add(struct rivals *all, enum rival_kind kind, int number, const char *name,
                         const struct outcome *o)
{
    if (all->count < MOST_RIVALS)
        all->at[all->count++] = (struct rival){.kind = kind, .number = number, .name = name, .outcome = o};
}

static bool compared_is_answer(const struct lx_plan *p)
{
    return p && p->answer.status != LX_INFEASIBLE && p->answer.status != LX_ERROR && !p->asks_time;
}

struct rivals rivals_of(const struct session *s)
{
    struct rivals all = {.count = 0};
    compared_add(&all, RIVAL_NOW, 0, "now", &s->shown);
    if (s->pinned.outcome.plan) compared_add(&all, RIVAL_PINNED, 0, "A", &s->pinned.outcome);
    for (size_t i = 0; i < s->files.count; i++)
        compared_add(&all, RIVAL_FILE, (int)i, s->files.at[i].name, &s->files.at[i].outcome);
    for (size_t i = 0; i < s->racers.count; i++)
        compared_add(&all, RIVAL_RACER, (int)i, s->racers.at[i].solver->name, &s->racers.at[i].outcome);
    /* A bound holds for all plans that answer the same question, by any solver. A file does not state its
     * question. */
    for (int i = 0; i < all.count; i++) {
        struct rival *r = &all.at[i];
        const struct lx_plan *p = r->outcome->plan;
        struct what_if asked = r->outcome->how;
        if (p) r->least = lx_plan_least(p);
        if (!compared_is_answer(p) || r->kind == RIVAL_FILE) continue;
        settings_take_solver(&asked, 0);
        for (int k = 0; k < all.count; k++) {
            const struct lx_plan *q = all.at[k].outcome->plan;
            struct what_if other = all.at[k].outcome->how;
            if (!compared_is_answer(q) || all.at[k].kind == RIVAL_FILE || all.at[k].outcome->interim)
                continue;
            settings_take_solver(&other, 0);
            if (!settings_same(&asked, &other) || p->problem.objective != q->problem.objective) continue;
            if (lx_plan_least(q) > r->least) r->least = lx_plan_least(q), r->by = q->solver;
        }
    }
    return all;
}

struct progress rival_progress(const struct session *s, const struct rival *r)
{
    struct progress none = {.so_far = {.objective = INT64_MAX}};
    if (r->kind == RIVAL_NOW) return session_planning(s);
    return r->kind == RIVAL_RACER ? worker_progress(s->worker, &race_work, r->number) : none;
}

struct curve rival_curve(const struct session *s, const struct rival *r)
{
    struct progress now = rival_progress(s, r);
    if (now.running) {
        curve_reach(&now.curve, now.seconds);
        return now.curve;
    }
    if (r->kind == RIVAL_NOW) return s->curve;
    return r->kind == RIVAL_RACER ? s->racers.at[r->number].curve : (struct curve){0};
}

int32_t same_buffer(const struct lx_plan *p, const struct lx_plan *from, int32_t i)
{
    if (i < 0 || i >= from->problem.count) return -1;
    const char *name = from->problem.buffers[i].name;
    if (i < p->problem.count && strcmp(p->problem.buffers[i].name, name) == 0) return i;
    for (int32_t k = 0; k < p->problem.count; k++)
        if (strcmp(p->problem.buffers[k].name, name) == 0) return k;
    return -1;
}

void comparison_free(struct comparison *c)
{
    if (c->known) lx_diff_free(&c->diff);
    mem_free(c->only_left);
    mem_free(c->only_right);
    lx_plan_free(c->left);
    lx_plan_free(c->right);
    *c = (struct comparison){0};
}

static int compared_by_gain(const void *a, const void *b)
{
    const struct lx_difference *x = a, *y = b;
    int64_t p = x->gain < 0 ? -x->gain : x->gain, q = y->gain < 0 ? -y->gain : y->gain;
    if (p != q) return p > q ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

void comparison_make(struct comparison *c, const struct lx_plan *left, const struct lx_plan *right)
{
    if (c->known && c->left == left && c->right == right) return;
    comparison_free(c);
    c->only_left = mem_zeroed((size_t)left->problem.count + 1, 1);
    c->only_right = mem_zeroed((size_t)right->problem.count + 1, 1);
    lx_plan_diff(left, right, &c->diff);
    c->known = true;
    c->left = lx_plan_ref(left);
    c->right = lx_plan_ref(right);
    for (int32_t i = 0; i < c->diff.count; i++) {
        const struct lx_difference *x = &c->diff.all[i];
        if (x->address_before >= 0 && x->address_after < 0) {
            c->only_left[x->before] = 1;
            c->count_left++;
        } else if (x->address_before < 0 && x->address_after >= 0) {
            c->only_right[x->after] = 1;
            c->count_right++;
        }
    }
    if (c->diff.count > 1) qsort(c->diff.all, (size_t)c->diff.count, sizeof *c->diff.all, compared_by_gain);
}

/* Buffers with a gain, then the shares of the traffic that belong to no buffer, then the other buffers. */
bool comparison_line(const struct comparison *c, int i, struct differing *out)
{
    enum lx_part parts[LX_PART_COUNT];
    int shares = 0, first = 0;
    for (int s = 0; s < LX_PART_RING; s++)
        if (s != LX_PART_BUFFERS && c->diff.share_before[s] != c->diff.share_after[s])
            parts[shares++] = (enum lx_part)s;
    while (first < c->diff.count && c->diff.all[first].gain != 0) first++;
    if (i >= first && i < first + shares) {
        enum lx_part s = parts[i - first];
        *out = (struct differing){lx_part_words(s), "", c->diff.share_before[s] - c->diff.share_after[s]};
        return true;
    }
    int32_t at = i < first ? i : i - shares;
    if (at >= c->diff.count) return false;
    const struct lx_difference *d = &c->diff.all[at];
    *out = (struct differing){d->name, lx_change_words(d->change), d->gain};
    return true;
}

/* Does its value equal the best bound of all plans? */
static bool is_least(const struct racer_row *row)
{
    enum lx_verdict status = row->plan->answer.status;
    if (status == LX_OPTIMAL) return true;
    return (status == LX_FEASIBLE || status == LX_LIMIT) && row->rival->by &&
           lx_plan_value(row->plan) <= row->rival->least;
}

static void status_value(const void *row_of_table, const struct column *column, struct value *v)
{
    static const enum paint paints[] = {[LX_FEASIBLE] = PAINT_PLAIN,
                                        [LX_OPTIMAL] = PAINT_GOOD,
                                        [LX_INFEASIBLE] = PAINT_BAD,
                                        [LX_LIMIT] = PAINT_WARN,
                                        [LX_ERROR] = PAINT_BAD};
    const struct racer_row *row = row_of_table;
    (void)column;
    enum lx_verdict status = is_least(row) ? LX_OPTIMAL : row->plan->answer.status;
    v->words = row->rival->outcome->interim                           ? "so far"
               : row->rival->outcome->stopped && status != LX_OPTIMAL ? "cancelled"
                                                                      : lx_verdict_word(status);
    v->paint = paints[status];
}

/* A mark behind it where the target is missed. */
static void traffic_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct racer_row *row = row_of_table;
    const struct lx_plan *p = row->plan;
    bool missed = !row->rival->outcome->interim && !lx_plan_meets_target(p);
    (void)column;
    value_whole(v, p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes);
    value_format(v, "%s%s", grouped(v->whole).at, missed ? "!" : " ");
    v->paint = missed ? PAINT_BAD : PAINT_PLAIN;
}

/* The state of the selected buffer in this plan. */
static void selected_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct racer_row *row = row_of_table;
    const struct session *s = row->on ? row->on->session : NULL;
    int32_t i = s ? same_buffer(row->plan, session_plan(s), s->selection.buffer) : -1;
    (void)column;
    if (i < 0) return;
    int64_t at = row->plan->answer.address[i];
    if (at >= 0)
        value_format(v, "on chip %s", address_words(row->on, at).at);
    else
        v->words = "off chip";
    v->paint = at >= 0 ? PAINT_GOOD : row->plan->problem.buffers[i].reason ? PAINT_DIM : PAINT_BAD;
}

static void proof_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct racer_row *row = row_of_table;
    (void)column;
    if (is_least(row) && row->rival->by)
        value_format(v, "proved by %s", row->rival->by);
    else
        v->words = row->plan->unproved ? row->plan->unproved : "";
    v->paint = PAINT_DIM;
}

/* clang-format off */
VALUE_OF(solver_value, struct racer_row, v->words = row->rival->name; v->paint = row->wins ? PAINT_GOOD : PAINT_HEADING;)
VALUE_OF(time_value,   struct racer_row, v->number = row->plan->seconds > 0 ? row->plan->seconds : NAN; v->paint = PAINT_DIM;)
VALUE_OF(gap_value,    struct racer_row,
         v->number = row->rival->by ? lx_gap(lx_plan_value(row->plan), row->rival->least)
                                    : lx_plan_gap(row->plan);)
VALUE_OF(spill_value,  struct racer_row, value_whole(v, row->plan->figures.spill_bytes); v->paint = PAINT_DIM;)
VALUE_OF(bound_value,  struct racer_row, value_whole(v, row->rival->least); v->paint = PAINT_DIM;)
VALUE_OF(steps_value,  struct racer_row, value_whole(v, row->plan->answer.steps); v->paint = PAINT_DIM;)

static const struct column racer_array[RACER_COLUMNS] = {
    [SOLVER]   = {.key = "solver",   .heading = "solver",       .kind = VALUE_WORDS,   .width = 9,  .value = solver_value},
    [STATUS]   = {.key = "status",   .heading = "status",       .kind = VALUE_WORDS,   .width = 10, .value = status_value},
    [TRAFFIC]  = {.key = "traffic",  .heading = "HBM bytes ",   .kind = VALUE_BYTES,   .width = 15, .value = traffic_value},
    [GAP]      = {.key = "gap",      .heading = "gap",          .kind = VALUE_SHARE,   .width = 8,  .from = 46, .value = gap_value},
    [TIME]     = {.key = "seconds",  .heading = "time",         .kind = VALUE_SECONDS, .width = 10, .from = 56, .value = time_value},
    [SELECTED] = {.key = "selected", .heading = "",             .kind = VALUE_WORDS,   .width = 17, .gap = 1, .from = 75, .value = selected_value},
    [SPILL]    = {.key = "spill",    .heading = "spill",        .kind = VALUE_BYTES,   .width = 14, .from = 104, .value = spill_value},
    [BOUND]    = {.key = "bound",    .heading = "lower bound", .kind = VALUE_BYTES,   .width = 13, .from = 104, .value = bound_value},
    [STEPS]    = {.key = "steps",    .heading = "steps",        .kind = VALUE_COUNT,   .width = 12, .from = 118, .value = steps_value},
    [PROOF]    = {.key = "unproved", .heading = "not proved optimal", .kind = VALUE_WORDS,   .gap = 1, .from = 150, .value = proof_value},
};
/* clang-format on */

const struct columns racer_columns = COLUMNS("solvers on the screen", racer_array);

int compare_rivals(const struct rival *a, const struct rival *b, int column)
{
    struct racer_row x = {.rival = a, .plan = a->outcome->plan}, y = {.rival = b, .plan = b->outcome->plan};
    SCOPED(value_free) struct value p = {0}, q = {0};
    if (!x.plan || !y.plan) return !x.plan - !y.plan;
    racer_array[column].value(&x, &racer_array[column], &p);
    racer_array[column].value(&y, &racer_array[column], &q);
    enum value_kind kind = racer_array[column].kind;
    int order = (p.whole > q.whole) - (p.whole < q.whole);
    if (kind == VALUE_WORDS) order = strcmp(p.words ? p.words : "", q.words ? q.words : "");
    if (kind == VALUE_SHARE || kind == VALUE_SECONDS) order = (p.number > q.number) - (p.number < q.number);
    return order;
}
