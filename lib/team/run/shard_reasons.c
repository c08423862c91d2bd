/* Plans every other way to shard a tensor, as if stated with --cut. */
#include "team/run/shard_reasons.h"
#include "base/base.h"
#include "base/words/words.h"
#include "team/run/team_run.h"

/* Times of equivalent plans may differ in their last digits. */
static bool shard_reasons_sooner(double us, double than)
{
    return us < than - 1e-6 * than;
}

bool lx_shard_better(const struct lx_shard_price *a, const struct lx_shard_price *b, bool by_time)
{
    if (by_time && shard_reasons_sooner(a->us, b->us)) return true;
    if (by_time && shard_reasons_sooner(b->us, a->us)) return false;
    return a->bytes != b->bytes ? a->bytes < b->bytes : shard_reasons_sooner(a->us, b->us);
}

int64_t lx_team_combined(const struct lx_team_plan *p, int32_t op)
{
    int64_t bytes = p->ops[op].bytes;
    for (int32_t e = 0; e < p->exchange_count; e++)
        if (p->exchanges[e].first_reader == op) bytes -= p->exchanges[e].bytes;
    return bytes;
}

/* Fills `out` with figures of the plans. */
static void shard_reasons_take(const struct lx_team_plans *p, struct lx_shard_price *out)
{
    out->bytes = team_moved(p->team);
    out->us = p->team->predicted_us;
    out->hbm_bytes = 0;
    for (int m = 0; m < p->team->devices; m++) {
        struct lx_counters c = lx_team_planned(p, m).planned;
        out->hbm_bytes = max_i64(out->hbm_bytes, c.hbm_read + c.hbm_written);
    }
}

static enum lx_shard_origin shard_reasons_origin_of(const struct lx_shard_question *q,
                                                    const struct lx_tensor *t)
{
    for (int i = 0; i < q->how->choice_count; i++)
        if (strcmp(q->how->choices[i].tensor, t->name) == 0) return LX_SHARD_ASKED;
    if (t->cut_stated) return LX_SHARD_IN_PATTERN;
    if (q->plans->team->unsharded) return LX_SHARD_LEFT;
    return !q->how->by_time && t->role == LX_INPUT ? LX_SHARD_ARRIVES : LX_SHARD_FOUND;
}

/* Lists the other ways. Each axis counts from replicated to the last dimension, the last axis fastest. `out`
 * may be NULL. */
static int shard_reasons_list(const struct lx_team_grid *grid, const struct lx_tensor *t,
                              const int is[LX_TEAM_AXES], struct lx_shard_price *out)
{
    int shard[LX_TEAM_AXES], count = 0, a = 0;
    for (int i = 0; i < LX_TEAM_AXES; i++) shard[i] = -1;
    while (a >= 0) {
        bool other = false, full = true; /* differs from the present way; no block is empty */
        for (int i = 0; i < grid->axes; i++) other |= grid->size[i] > 1 && shard[i] != is[i];
        for (int d = 0; d < t->rank; d++) full = full && lx_team_blocks(grid, shard, d) <= t->shape[d];
        if (other && full) {
            if (out) memcpy(out[count].shard, shard, sizeof shard);
            count++;
        }
        for (a = grid->axes - 1; a >= 0; a--) {
            if (grid->size[a] > 1 && shard[a] + 1 < t->rank) {
                shard[a]++;
                break;
            }
            shard[a] = -1;
        }
    }
    return count;
}

static void shard_reasons_too_late(struct lx_shard_price *x)
{
    status_set(&x->why, LX_E_STOPPED, "not tried: the time is up");
}

/* The last choice that names a tensor overrides earlier ones. */
static void shard_reasons_try(const struct lx_shard_question *q, struct lx_team_choice *choices,
                              const char *name, struct lx_shard_price *x)
{
    struct lx_team_options how = *q->how;
    if (q->stop && q->stop(q->context)) {
        shard_reasons_too_late(x);
        return;
    }
    choices[how.choice_count].tensor = name;
    memcpy(choices[how.choice_count].shard, x->shard, sizeof x->shard);
    how.choices = choices;
    how.choice_count++;
    SCOPED(team_plans_free_at)
    struct lx_team_plans *p = lx_team_plans_choose(q->graph, &how, q->plan, &x->why);
    if (!p) return;
    shard_reasons_take(p, x);
    x->why = (lx_status){0};
    if (team_was_left(p)) shard_reasons_too_late(x);
}

void lx_shard_reasons_find(const struct lx_shard_question *q, int32_t tensor, struct lx_shard_reasons *out)
{
    const struct lx_team_plan *team = q->plans->team;
    const struct lx_tensor *t = &team->graph->tensors[tensor];
    *out = (struct lx_shard_reasons){.tensor = tensor, .origin = shard_reasons_origin_of(q, t)};
    memcpy(out->is.shard, team->tensors[tensor].shard, sizeof out->is.shard);
    shard_reasons_take(q->plans, &out->is);
    out->other_count = shard_reasons_list(&team->grid, t, out->is.shard, NULL);
    out->others = mem_zeroed((size_t)out->other_count + 1, sizeof *out->others);
    size_t stated = (size_t)q->how->choice_count;
    struct lx_team_choice *choices = mem_zeroed(stated + 1, sizeof *choices);
    if (stated) memcpy(choices, q->how->choices, stated * sizeof *choices);
    shard_reasons_list(&team->grid, t, out->is.shard, out->others);
    for (int i = 0; i < out->other_count; i++) shard_reasons_try(q, choices, t->name, &out->others[i]);
    mem_free(choices);
    /* A stable insertion sort: there are few. */
    for (int i = 1; i < out->other_count; i++)
        for (int k = i; k > 0; k--) {
            bool here = out->others[k].why.code == LX_OK, there = out->others[k - 1].why.code == LX_OK;
            if (!here || (there && !lx_shard_better(&out->others[k], &out->others[k - 1], q->how->by_time)))
                break;
            struct lx_shard_price other = out->others[k];
            out->others[k] = out->others[k - 1];
            out->others[k - 1] = other;
        }
}

void lx_shard_reasons_free(struct lx_shard_reasons *r)
{
    mem_free(r->others);
    *r = (struct lx_shard_reasons){0};
}

LX_WORDS(lx_shard_origin_word, enum lx_shard_origin, LX_SHARD_ORIGINS)
LX_HELPS(lx_shard_origin_help, enum lx_shard_origin, LX_SHARD_ORIGINS)
