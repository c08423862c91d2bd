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
    const struct glyphs *s = on->glyphs;
    int left, right, low, high, down = map_rows(on, 1), across = map_across(on);
    bool thin;
    if (!raster_columns(r, b->start, b->end, &left, &right) ||
        !scale_cells(&r->address, g->address, g->address + b->size, &low, &high, &thin))
        return;
    int top = (r->address.cells - 1 - high) / down, bottom = (r->address.cells - 1 - low) / down;
    for (int row = top; row <= bottom; row++)
        for (int c = left; c <= right; c++) {
            bool taken = false, edge = row == top || row == bottom, side = c == left || c == right;
            for (int k = 0; k < down * across; k++) {
                int y = row * down + k / across, x = c * across + k % across;
                taken |= y < r->address.cells && x < r->time.cells && raster_at(r, y, x)->state != CELL_FREE;
            }
            if (!edge && !side && !(taken && (row + c) % 2)) continue;
            uint32_t code = !edge && !side ? '/' : s->ascii ? (edge ? '-' : ':') : edge ? 0x254c : 0x254e;
            put(on->cells, map.row + row, map.column + c, code, (struct style){TONE_BAD, 0, MARK_BOLD});
        }
}

void ghost_add_words(const struct scene *on, const struct lx_plan *p, int32_t buffer, const struct ghost *g,
                     struct text *out)
{
    text_format(out, "cheapest at %s: ", address_words(on, g->address).at);
    if (g->others)
        text_format(out, "%s in the way, %s; on chip it saves %s", counted(g->others, "buffer").at,
                    in_short_bytes(g->lost).at, in_short_bytes(p->problem.buffers[buffer].spill_cost).at);
    else
        text_add(out, "nothing is in the way");
    text_format(out, "; %s forces it", KEY_OF(FORCE));
}

/* --- Forced. --- */

struct forcing {
    struct session *session;
    const struct lx_plan *plan; /* a reference */
    int32_t buffer;
    struct lx_answer answer;
    lx_status st;
};

static bool forcing_stop(void *watch)
{
    return watch_stop(watch);
}

static void forcing_run(void *data, void *watch)
{
    struct forcing *f = data;
    struct lx_problem p = f->plan->problem;
    struct lx_buffer *buffers = mem_alloc(((size_t)p.count + 1) * sizeof *buffers);
    memcpy(buffers, p.buffers, (size_t)p.count * sizeof *buffers);
    buffers[f->buffer].must = true;
    p.buffers = buffers;
    struct lx_run run = {.stop = forcing_stop, .context = watch, .time_limit = 10};
    const struct lx_solver *solver = NULL;
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
        if (strcmp((*s)->name, "auto") == 0) solver = *s;
    if (solver) lx_problem_solve(&p, solver, &run, &f->answer, &f->st);
    mem_free(buffers);
}

static void forcing_done(void *data, bool stopped)
{
    struct forcing *f = data;
    struct text *news = &f->session->news;
    const struct lx_plan *p = f->plan;
    int32_t left = 0;
    text_free(news);
    if (stopped || !f->answer.address || f->answer.address[f->buffer] < 0) {
        f->session->news_is_good = false;
        text_format(news, "%s cannot be forced: %s", p->problem.buffers[f->buffer].name,
                    stopped ? "cancelled" : "no other buffer gives it room");
        return;
    }
    f->session->news_is_good = true;
    int64_t by = f->answer.objective - p->answer.objective;
    add_printable(news, p->problem.buffers[f->buffer].name, 40);
    text_format(news, " forced on chip at 0x%llx: %s%s of HBM traffic",
                (unsigned long long)f->answer.address[f->buffer], by < 0 ? "-" : "+",
                in_bytes(by < 0 ? -by : by).at);
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0 && f->answer.address[i] < 0) {
            text_add(news, left++ ? ", " : "; off chip: ");
            if (left > 4) break;
            add_printable(news, p->problem.buffers[i].name, 24);
        }
    if (left > 4) text_add(news, "...");
    if (f->answer.status == LX_OPTIMAL) text_add(news, " (proved, in this work split)");
}

static void forcing_free(void *data)
{
    OWNED struct forcing *f = data;
    lx_plan_free(f->plan);
    mem_free(f->answer.address);
}

static const struct work force_work = {3, forcing_run, forcing_done, forcing_free};

void ghost_force(struct explorer *x, int32_t buffer)
{
    const struct lx_plan *p = session_plan(&x->session);
    struct forcing *f = mem_zeroed(1, sizeof *f);
    worker_stop(x->session.worker, &force_work);
    *f = (struct forcing){.session = &x->session, .plan = lx_plan_ref(p), .buffer = buffer};
    f->answer.address = mem_alloc(((size_t)p->problem.count + 1) * sizeof *f->answer.address);
    worker_post(x->session.worker, &force_work, 0, f);
    explorer_say(x, TONE_PLAIN, "solving the rest again with %.60s on chip; %s cancels it",
                 p->problem.buffers[buffer].name, KEY_OF(STOP));
}
