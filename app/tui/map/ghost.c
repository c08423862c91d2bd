/* Finds the cheapest place by trying the edges of the buffers that live at the same time. */
#include "tui/map/ghost.h"
#include "tui/map/paint_map.h"

enum { MOST_IN_WAY = 400 };

/* What would leave for a place, and what it saves. */
static struct ghost ghost_at(const struct lx_plan *p, int64_t size, int64_t address, const int32_t *met,
                             int count)
{
    struct ghost g = {.address = address};
    for (int k = 0; k < count; k++) {
        const struct lx_buffer *b = &p->problem.buffers[met[k]];
        int64_t at = p->answer.address[met[k]];
        if (at >= address + size || address >= at + b->size) continue;
        g.lost += b->spill_cost;
        g.others++;
    }
    return g;
}

/* Drops those of `met` that do not meet the buffer, and repetitions. */
static int ghost_keep_met(const struct lx_plan *p, const struct lx_buffer *b, int32_t *met, int32_t count)
{
    int kept = 0;
    for (int32_t i = 0; i < count && kept <= MOST_IN_WAY; i++) {
        int k = 0;
        while (k < kept && met[k] != met[i]) k++;
        if (k == kept && lx_lives_meet(b, &p->problem.buffers[met[i]])) met[kept++] = met[i];
    }
    return kept;
}

bool ghost_find(const struct plan_index *x, int32_t buffer, struct ghost *out)
{
    const struct lx_plan *p = x->plan;
    int32_t count = 0;
    if (!p || buffer < 0 || buffer >= p->problem.count || p->answer.address[buffer] >= 0) return false;
    const struct lx_buffer *b = &p->problem.buffers[buffer];
    if (p->problem.pool_count > 1 || p->problem.objective != LX_SPILL || !lx_may_be_placed(&p->problem, b))
        return false;
    int32_t *met = plan_index_alive(x, b->start, b->end, false, &count);
    count = ghost_keep_met(p, b, met, count);
    bool few = count <= MOST_IN_WAY;
    int64_t step = b->alignment ? b->alignment : p->problem.alignment;
    *out = ghost_at(p, b->size, b->fixed >= 0 ? b->fixed : 0, met, count);
    for (int k = 0; few && b->fixed < 0 && k < 2 * count; k++) {
        const struct lx_buffer *other = &p->problem.buffers[met[k / 2]];
        int64_t at = p->answer.address[met[k / 2]] + (k % 2 ? other->size : -b->size);
        if (at < 0) continue;
        at = k % 2 ? round_up_i64(at, step) : at / step * step;
        if (at + b->size > p->problem.capacity) continue;
        struct ghost g = ghost_at(p, b->size, at, met, count);
        if (g.lost < out->lost || (g.lost == out->lost && g.address < out->address)) *out = g;
    }
    mem_free(met);
    return few;
}

void ghost_draw(const struct scene *on, struct box map, const struct raster *r, int32_t buffer,
                const struct ghost *g)
{
    const struct lx_buffer *b = &r->index->plan->problem.buffers[buffer];
    const struct forced *f = &on->session->forced;
    if (!ghost_forced(on->session, buffer) || !f->leaves) f = NULL; /* not known yet */
    const struct glyphs *s = on->glyphs;
    int left, right, low, high, down = map_rows(on, 1), across = map_across(on);
    int64_t address = f && f->address >= 0 ? f->address : g->address;
    bool thin;
    for (int y = 0; f && y < r->address.cells; y += down)
        for (int c = y / down % 2; c < map.columns && c * across < r->time.cells; c += 2) {
            const struct raster_cell *cell = raster_at(r, y, c * across);
            if (cell->state == CELL_ONE && f->leaves[cell->owner])
                put(on->cells, map.row + y / down, map.column + c, '/', INK(BAD));
        }
    if (!raster_columns(r, b->start, b->end, &left, &right) ||
        !scale_cells(&r->address, address, address + b->size, &low, &high, &thin))
        return;
    int top = (r->address.cells - 1 - high) / down, bottom = (r->address.cells - 1 - low) / down;
    for (int row = top; row <= bottom; row++)
        for (int c = left; c <= right; c++) {
            bool taken = false, edge = row == top || row == bottom, side = c == left || c == right;
            for (int k = 0; k < down * across; k++) {
                int y = row * down + k / across, x = c * across + k % across;
                taken |=
                    !f && y < r->address.cells && x < r->time.cells && raster_at(r, y, x)->state != CELL_FREE;
            }
            if (!edge && !side && !(taken && (row + c) % 2)) continue;
            uint32_t code = !edge && !side ? '/' : s->ascii ? (edge ? '-' : ':') : edge ? 0x254c : 0x254e;
            put(on->cells, map.row + row, map.column + c, code, (struct style){TONE_BAD, 0, MARK_BOLD});
        }
}

/* --- Forced: the plan with the buffer on chip, made before it is taken. --- */

static const struct work forced_work[] = TRIES_WORK;

void ghost_forget(struct session *s)
{
    s->forced.tries.work = forced_work;
    tries_stop(&s->forced.tries, s);
    session_forget_forced(s);
}

const struct remedy *ghost_forced(const struct session *s, int32_t buffer)
{
    const struct tries *t = &s->forced.tries;
    bool is_it = t->list.plan && t->list.plan == session_plan(s) && t->of_what == buffer;
    return is_it ? &t->list.all.at[0] : NULL;
}

/* What the forced plan changes, once it is there. */
static void ghost_know(struct session *s, const struct remedy *it)
{
    struct forced *f = &s->forced;
    const struct lx_plan *p = f->tries.list.plan;
    struct lx_diff d;
    int names = 0;
    f->address = -1;
    change_make(p, it->made, &f->change);
    lx_plan_diff(p, it->made, &d);
    f->leaves = mem_zeroed((size_t)p->problem.count + 1, 1);
    for (int32_t i = 0; i < d.count; i++) {
        const struct lx_difference *x = &d.all[i];
        if (x->before == f->tries.of_what) f->address = x->address_after;
        if (x->change != LX_WENT_OFF_CHIP) continue;
        f->leaves[x->before] = 1;
        if (names++ < 4) text_add(&f->left, names > 1 ? ", " : ""), add_printable(&f->left, x->name, 24);
    }
    if (names > 4) text_format(&f->left, " and %s more", grouped(names - 4).at);
    lx_diff_free(&d);
}

void ghost_force(struct explorer *x, int32_t buffer)
{
    struct session *s = &x->session;
    struct forced *f = &s->forced;
    const struct lx_plan *p = session_plan(s);
    const char *name =
        p->stays ? p->layouts->graph->tensors[p->stays[buffer].tensor].name : p->problem.buffers[buffer].name;
    ghost_forget(s);
    f->tries.list = (struct remedies){
        .plan = lx_plan_ref(p), .asked = s->shown.how.options, .name = mem_string(name), .keeps = true};
    f->tries.of_what = buffer;
    if (!remedies_push_place(&f->tries.list, name)) {
        ghost_forget(s);
        explorer_say(x, TONE_WARN, "no hint can ask for %.60s", name);
        return;
    }
    tries_ask(&f->tries, s, 0);
    explorer_say(x, TONE_PLAIN, "planning with %.60s on chip; %s cancels it", name, KEY_OF(STOP));
}

bool ghost_take(struct explorer *x, int32_t buffer)
{
    const struct remedy *it = ghost_forced(&x->session, buffer);
    if (!it || (it->state <= REMEDY_CUT && it->presence != PRESENCE_YES)) return false;
    if (it->state <= REMEDY_CUT) return tries_take(x, it, "taken"), true;
    bool runs = tries_running(&x->session.forced.tries, &x->session);
    if (runs) explorer_say(x, TONE_WARN, "it is being planned");
    return runs;
}

/* "forced on chip at 0x060000: HBM 12.7 -> 13.0 MiB (+2.7 %), 46.1 -> 46.3 us; selected_tokens_2 leaves" */
static void ghost_add_forced(const struct scene *on, const struct remedy *it, struct text *out)
{
    struct session *s = on->session;
    struct forced *f = &s->forced;
    if (it->state == REMEDY_OPEN && tries_running(&f->tries, s))
        text_format(out, "being planned with it on chip; %s cancels", KEY_OF(STOP));
    else if (it->state == REMEDY_OPEN || it->state == REMEDY_STOPPED)
        text_format(out, "forcing it was cancelled; %s tries again", KEY_OF(FORCE));
    else if (it->state > REMEDY_CUT || it->presence != PRESENCE_YES)
        text_format(out, "it cannot be forced on chip: %s",
                    it->state > REMEDY_CUT ? it->note : "no placement was found that has it there");
    if (it->state > REMEDY_CUT || it->presence != PRESENCE_YES) return;
    if (!f->leaves) ghost_know(s, it);
    struct text pieces[CHANGE_PIECES] = {0};
    int n = change_words(&f->change, true, pieces);
    text_add(out, "forced on chip");
    if (f->address >= 0) text_format(out, " at %s", address_words(on, f->address).at);
    text_add(out, ": ");
    for (int i = 0; i < n; i++) {
        text_format(out, "%s%s", i ? ", " : "", pieces[i].at);
        text_free(&pieces[i]);
    }
    if (f->left.at) text_format(out, "; leaves: %s", f->left.at);
    text_format(out, "; %s takes it, %s drops it", KEY_OF(OPEN), KEY_OF(ESCAPE));
}

void ghost_add_words(const struct scene *on, const struct lx_plan *p, int32_t buffer, const struct ghost *g,
                     struct text *out)
{
    const struct remedy *it = ghost_forced(on->session, buffer);
    if (it) {
        ghost_add_forced(on, it, out);
        return;
    }
    text_format(out, "cheapest at %s: ", address_words(on, g->address).at);
    if (g->others)
        text_format(out, "%s in the way, %s; on chip it saves %s", counted(g->others, "buffer").at,
                    in_short_bytes(g->lost).at, in_short_bytes(p->problem.buffers[buffer].spill_cost).at);
    else
        text_add(out, "nothing is in the way");
    text_format(out, "; %s plans with it there", KEY_OF(FORCE));
}
