/* lxplan plan --explain: where a buffer is, why, and what helps, in words and as a table. */
#include "interrupt.h"
#include "export/nest_words.h"
#include "export/plan_words.h"
#include "planning/planning.h"
#include "planning/remedies.h"
#include "planning/show_plan.h"

enum { MOST_NEIGHBOURS = 8 };

static void explain_buffer_describe(const struct lx_plan *p, int32_t i, struct text *out)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    add_printable(out, b->name, 0);
    text_format(out, ": %s%s, ticks %lld to %lld, ", in_bytes(b->size).at, p->stays ? " on each core" : "",
                (long long)b->start, (long long)b->end - 1);
    if (p->answer.address[i] >= 0) {
        paint_add(out, PAINT_GOOD, "on chip");
        text_format(out, " at 0x%llx", (long long)p->answer.address[i]);
        if (p->took_slot_of[i] >= 0) {
            text_add(out, ", in place of ");
            add_printable(out, p->problem.buffers[p->took_slot_of[i]].name, 0);
        }
        text_format(out, p->stays ? "; saves %s of HBM traffic\n" : "; would cost %s off chip\n",
                    in_bytes(b->spill_cost).at);
    } else {
        paint_add(out, PAINT_BAD, !p->graph->list && b->reason ? "must stay in HBM" : "off chip");
        text_add(out, ": ");
        add_printable(out, p->reason[i], 0);
        text_add(out, "\n");
        OWNED int64_t *moved = p->stays ? moved_by_buffers(p) : NULL;
        if (moved) text_format(out, "  moves %s of HBM traffic\n", in_bytes(moved[i]).at);
        if (!b->reason) text_format(out, "  on chip it would save %s\n", in_bytes(b->spill_cost).at);
    }
    if (p->stays && is_tile(p, i)) {
        text_add(out, "  of a nest: ");
        add_tile_words(p, i, 0, out);
        text_add(out, "\n");
    }
    for (int32_t k = 0; k < p->transfer_count; k++) {
        const struct lx_transfer *x = &p->transfers[k];
        if (x->stay != i) continue;
        if (x->kind == LX_MOVE)
            text_format(out, "  tick %d: moved here from 0x%llx, a copy of %s inside the scratchpads\n",
                        (int)x->tick, (long long)p->answer.address[x->source], in_bytes(x->bytes).at);
        else if (x->kind == LX_RING)
            text_format(out, "  tick %d: filled from %s over the ring\n", (int)x->tick,
                        p->problem.buffers[x->source].name);
        else {
            int64_t times = transfer_times(p, x);
            text_format(out, "  tick %d: %s", (int)x->tick,
                        x->kind == LX_LOAD ? "loaded from HBM" : "stored to HBM");
            if (times > 1) text_format(out, " %s times, %s in all", grouped(times).at, in_bytes(x->bytes).at);
            text_add(out, "\n");
        }
    }
}

/* The nest that a name calls, by its number ("nest 1") or by one of its ops; -1: none. */
static int32_t nest_called(const struct lx_plan *p, const char *name)
{
    char *end;
    for (int32_t i = 0; i < p->nest_count; i++)
        for (int32_t o = p->nests[i].first; o <= p->nests[i].last; o++)
            if (strcmp(p->layouts->graph->ops[o].name, name) == 0) return i;
    if (strncmp(name, "nest", 4) != 0) return -1;
    name += 4 + (name[4] == ' ' || name[4] == ':');
    long long number = strtoll(name, &end, 10);
    return end > name && !*end && number >= 1 && number <= p->nest_count ? (int32_t)number - 1 : -1;
}

static void show_nest(const struct lx_plan *p, int32_t nest, struct text *out)
{
    const struct lx_nest *n = &p->nests[nest];
    SCOPED(lx_nest_explained_free) struct lx_nest_explained e;
    lx_plan_explain_nest(p, nest, &e);
    add_nest_title(p, nest, out);
    text_format(out, ", %s\n", counted(nest_iterations(n), "iteration").at);
    text_add(out, "tile ");
    for (int l = 0; l < n->level_count; l++) {
        text_format(out, "%s%s over ", l ? ", " : "", grouped(n->tiles[l]).at);
        text_format(out, "%c", nest_axis_letter(p, n, l));
    }
    text_add(out, ": ");
    /* "scores and p never leave LX; k and v held; 2,048 B free". */
    for (int32_t i = 0, to; i < e.count; i = to) {
        for (to = i; to < e.count && e.parts[to].use == e.parts[i].use;) to++;
        for (int32_t k = i; k < to; k++) {
            text_add(out, k == i ? "" : k + 1 == to ? " and " : ", ");
            add_printable(out, p->layouts->graph->tensors[e.parts[k].tensor].name, 30);
        }
        text_format(out, " %s; ", lx_nest_use_words(e.parts[i].use, to - i > 1));
    }
    text_format(out, "%s free\n", in_bytes(e.free_bytes).at);
    text_format(out, "it moves %s of HBM traffic in ", in_bytes(e.hbm_bytes).at);
    text_format(out, "%s on the device, %s end to end; by tensor\n", in_micros(e.device_us).at,
                in_micros(e.end_to_end_us).at);
    for (int32_t i = 0; i < e.count; i++) {
        const struct lx_nest_part *x = &e.parts[i];
        if (x->hbm_bytes == 0) continue;
        text_add(out, "  ");
        add_printable(out, p->layouts->graph->tensors[x->tensor].name, 30);
        text_format(out, ": %s", in_bytes(x->hbm_bytes).at);
        if (x->stay >= 0 && is_tile(p, x->stay)) {
            text_add(out, ", ");
            add_tile_copies(p, x->stay, out);
        }
        text_add(out, "\n");
    }
}

/* Polls of the planner (base/cancel.h) for all rows, some two seconds. Each row has a part of what the more
 * promising ones left; what remains is for those that were cut short. */
enum { POLLS_IN_ALL = 250000, EACH = 8 };

/* Of rows that were cut short: those that help, then the most promising. */
static double explain_rank(const struct remedies *r, const struct remedy *it)
{
    const struct lx_figures *now = &r->plan->figures;
    double gain = (double)it->value / fmax((double)lx_plan_value(r->plan), 1) * fmax(it->us, 1e-3) /
                  fmax(now->end_to_end_us, 1e-3);
    if (it->state != REMEDY_CUT && it->state != REMEDY_LARGE) return INFINITY;
    return it->state == REMEDY_CUT && gain < 1 ? gain : 1 + it->order;
}

struct explain_tries {
    struct remedies *of;
    const struct lx_graph *pattern;
    struct watch watch;
    int64_t left;
    bool shows;
};

static void explain_try(struct explain_tries *t, const struct remedy *row, int64_t polls)
{
    struct remedy *it = &t->of->all.at[row->order];
    struct remedy_watch until = {watch_must_stop, &t->watch, polls};
    if (watch_must_stop(&t->watch)) {
        if (it->state == REMEDY_OPEN) it->state = REMEDY_STOPPED;
        return;
    }
    *it = *row;
    if (t->shows && watch_wants_line(&t->watch)) paint_progress(it->what);
    t->left -= remedy_try(t->of, it, t->pattern, &until);
}

/* Tries the rows, until Ctrl-C or the polls are used up. True: some were not tried to their end. */
static bool explain_try_all(struct explain_tries *t, bool in_full)
{
    const size_t count = t->of->all.count;
    struct remedy *at = t->of->all.at;
    OWNED struct remedy *rows = mem_alloc((count + 1) * sizeof *rows);
    bool cut = false;
    for (size_t i = 0; i < count; i++) rows[i] = at[i];
    watch_begin(&t->watch, 0);
    for (size_t i = 0; i < count; i++) explain_try(t, &rows[i], in_full ? 0 : t->left / EACH + 1);
    for (size_t tries = 0, best = 0; tries < count && t->left > 0; tries++) {
        for (size_t i = 0; i < count; i++)
            if (explain_rank(t->of, &at[i]) < explain_rank(t->of, &at[best])) best = i;
        if (isinf(explain_rank(t->of, &at[best]))) break;
        explain_try(t, &rows[best], t->left);
    }
    watch_end(&t->watch);
    for (size_t i = 0; i < count; i++) cut |= !isinf(explain_rank(t->of, &at[i]));
    return cut;
}

bool add_remedies(struct call *call, const struct lx_graph *pattern, const struct lx_plan *p,
                  const char *name, void (*add)(const struct table *, struct text *), struct text *out)
{
    struct lx_settings asked;
    SCOPED(remedies_free) struct remedies r = {0};
    if (!read_options(call, &asked)) return false;
    remedies_list(p, &asked, name, &r);
    struct explain_tries tries = {.of = &r, .pattern = pattern, .left = POLLS_IN_ALL};
    tries.shows = paint_progress_possible() && !is_quiet(call);
    bool cut = explain_try_all(&tries, option_given(&call->line, "all"));
    remedies_sort(&r);
    struct column columns[REMEDY_COLUMNS];
    OWNED struct remedy_row *rows = mem_alloc((r.all.count + 1) * sizeof *rows);
    memcpy(columns, remedy_columns.at, sizeof columns);
    columns[REMEDY_COLUMN_VALUE].heading = remedy_value_heading(r.plan);
    for (size_t i = 0; i < r.all.count; i++) rows[i] = (struct remedy_row){&r, &r.all.at[i]};
    struct columns of = {remedy_columns.name, columns, REMEDY_COLUMNS};
    struct table table = TABLE(of, rows, r.all.count);
    table.title = "Remedies";
    SCOPED(text_free) struct text verdict = {0};
    add_remedies_tried(&r, &verdict);
    if (!r.compulsory) text_add(&verdict, ": ");
    if (!r.compulsory) add_remedies_verdict(&r, &verdict);
    if (cut) text_add(&verdict, "; --all tries all of them to their end");
    text_add(&verdict, "\n");
    table.notes = verdict.at;
    if (!r.compulsory) add(&table, out);
    if (r.compulsory || (cut && add == table_add_text)) text_add(out, verdict.at);
    return true;
}

/* Buffers that are on chip while this one would be, or the scratchpad that it needs. */
static void explain_obstacle(const struct lx_plan *p, const struct lx_explained *e, struct text *out)
{
    int32_t n = e->other_count < MOST_NEIGHBOURS ? e->other_count : MOST_NEIGHBOURS;
    if (e->obstacle == LX_TOO_LARGE) {
        text_format(out, "  it needs a scratchpad of %s, or more cores to share it: see --lx and --cores\n",
                    in_bytes(p->problem.buffers[e->buffer].size).at);
        return;
    }
    if (n) text_add(out, "  on chip at the same time, smallest saving first:\n");
    for (int32_t k = 0; k < n; k++) {
        const struct lx_buffer *o = &p->problem.buffers[e->others[k]];
        const char *pool = pool_word(p, e->others[k]);
        text_add(out, "    ");
        add_printable(out, o->name, 0);
        text_format(out, ": %s at 0x%llx%s%s, ticks %lld to %lld, saves %s\n", grouped(o->size).at,
                    (long long)p->answer.address[e->others[k]], *pool ? " of " : "", pool,
                    (long long)o->start, (long long)o->end - 1, grouped(o->spill_cost).at);
    }
}

bool show_explained(struct call *call, const struct lx_graph *pattern, const struct lx_plan *p,
                    const char *name, struct text *out)
{
    struct lx_explanation e = {0};
    bool whole = strcmp(name, WHOLE_PLAN) == 0;
    if (!whole) lx_plan_explain(p, name, &e);
    for (int32_t i = 0; i < e.count; i++) {
        explain_buffer_describe(p, e.all[i].buffer, out);
        if (!p->problem.buffers[e.all[i].buffer].reason) explain_obstacle(p, &e.all[i], out);
    }
    bool found = e.count > 0, off = e.off_chip > 0;
    lx_explanation_free(&e);
    int32_t nest = found || whole ? -1 : nest_called(p, name);
    if (!found && !whole && (nest >= 0 || strcmp(name, "nests") == 0)) {
        if (p->nest_count == 0) text_add(out, "The plan has no nests.\n");
        for (int32_t i = nest < 0 ? 0 : nest; i < (nest < 0 ? p->nest_count : nest + 1); i++)
            show_nest(p, i, out);
        return true;
    }
    if (!found && !whole) {
        const char *names[65] = {0};
        for (int32_t i = 0; i < p->problem.count && i < 64; i++) names[i] = p->problem.buffers[i].name;
        const char *near = nearest(name, names);
        if (!near && strncmp(name, "nest", 4) == 0 && p->nest_count == 0)
            return status_set(&call->st, LX_E_UNKNOWN_NAME,
                              "the plan has no nests, and no buffer \"%s\"; --all lists the buffers", name);
        return status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no buffer or nest \"%s\"%s%s%s", name,
                          near ? "; did you mean \"" : "; --all lists them", near ? near : "",
                          near ? "\"?" : "");
    }
    if (!whole && !off) return true;
    text_add(out, "remedies; now ");
    add_value_words(p, false, out);
    if (p->unproved) text_format(out, "; %s", p->unproved);
    text_add(out, "\n");
    return add_remedies(call, pattern, p, whole ? NULL : name, table_add_text, out);
}
