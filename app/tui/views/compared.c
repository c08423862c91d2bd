/* Rows and differences of Compare; see compared.h. */
#include "tui/views/compared.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void compared_add(struct rivals *all, enum rival_kind kind, int number, const char *name,
                         const struct outcome *o)
{
    if (all->count < MOST_RIVALS)
        all->at[all->count++] = (struct rival){.kind = kind, .number = number, .name = name, .outcome = o};
}

static bool is_answer(const struct lx_plan *p)
{
    return p && p->answer.status != LX_INFEASIBLE && p->answer.status != LX_ERROR && !p->asks_time;
}

/* Do two plans answer the same question, by whichever solver? A plan file does not tell what was asked. */
static bool same_question(const struct rival *a, const struct rival *b)
{
    const struct lx_plan *p = a->outcome->plan, *q = b->outcome->plan;
    struct what_if x = a->outcome->how, y = b->outcome->how;
    if (!is_answer(p) || !is_answer(q) || a->kind == RIVAL_FILE || b->kind == RIVAL_FILE) return false;
    settings_take_solver(&x, 0);
    settings_take_solver(&y, 0);
    return settings_same(&x, &y) && p->problem.objective == q->problem.objective;
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
    for (int i = 0; i < all.count; i++) {
        struct rival *r = &all.at[i];
        if (r->outcome->plan) r->least = lx_plan_least(r->outcome->plan);
        for (int k = 0; k < all.count; k++) {
            const struct rival *other = &all.at[k];
            if (!same_question(r, other) || other->outcome->interim) continue;
            int64_t least = lx_plan_least(other->outcome->plan);
            if (least > r->least) r->least = least, r->by = other->outcome->plan->solver;
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

static int by_gain(const void *a, const void *b)
{
    const struct lx_difference *x = a, *y = b;
    int64_t p = x->gain < 0 ? -x->gain : x->gain, q = y->gain < 0 ? -y->gain : y->gain;
    if (p != q) return p > q ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

bool comparison_make(struct comparison *c, const struct lx_plan *left, const struct lx_plan *right)
{
    if (c->known && c->left == left && c->right == right) return true;
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
    if (c->diff.count > 1) qsort(c->diff.all, (size_t)c->diff.count, sizeof *c->diff.all, by_gain);
    return true;
}

/* The shares that have no buffers of their own: loads, stores and what no buffer could hold. */
static int share_lines(const struct comparison *c, enum lx_part parts[LX_PART_COUNT])
{
    int n = 0;
    for (int s = 0; s < LX_PART_RING; s++)
        if (s != LX_PART_BUFFERS && c->diff.share_before[s] != c->diff.share_after[s])
            parts[n++] = (enum lx_part)s;
    return n;
}

static int32_t gaining(const struct comparison *c)
{
    int32_t n = 0;
    while (n < c->diff.count && c->diff.all[n].gain != 0) n++;
    return n;
}

bool comparison_line(const struct comparison *c, int i, struct differing *out)
{
    enum lx_part parts[LX_PART_COUNT];
    int shares = share_lines(c, parts), first = gaining(c);
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
