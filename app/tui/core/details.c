/* Everything about one buffer, in lines: its place, its life, its cost, the reason. */
#include "export/nest_words.h"
#include "tui/map/ghost.h"

struct words address_words(const struct scene *on, int64_t address)
{
    struct words w;
    if (on->decimal) return grouped(address);
    snprintf(w.at, sizeof w.at, "0x%06llx", (long long)address);
    return w;
}

static void details_add_uses(const struct scene *on, int32_t i, struct text *out)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_buffer *b = &o->plan->problem.buffers[i];
    const struct lx_graph *g = outcome_graph(o);
    int32_t t = outcome_tensor(o, i);
    text_format(out, "life %lld to %lld", (long long)b->start, (long long)b->end);
    if (b->life_count) text_format(out, " in %s", counted(b->life_count, "piece").at);
    if (!g || t < 0) {
        text_format(out, ", %s", counted(b->use_count, "use").at);
        return;
    }
    if (o->producer[t] >= 0) {
        text_add(out, ", written by ");
        add_printable(out, g->ops[o->producer[t]].name, 30);
    } else
        text_format(out, ", %s", lx_role_word(g->tensors[t].role));
    int32_t first = o->reader_at[t], last = o->reader_at[t + 1];
    text_add(out, first < last ? ", read by " : ", never read");
    for (int32_t k = first; k < last; k++) {
        if (k - first == 4) {
            text_format(out, " and %s more", grouped(last - k).at);
            break;
        }
        if (k > first) text_add(out, ", ");
        add_printable(out, g->ops[o->readers[k]].name, 24);
    }
}

/* The copies of a stay, and its number among the stays of its tensor. */
static void details_add_copies(const struct scene *on, int32_t i, struct text *out)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_plan *p = o->plan;
    int stays = 0, number = 0;
    for (int32_t k = 0; p->stays && k < p->problem.count; k++) {
        stays += p->stays[k].tensor == p->stays[i].tensor;
        if (k == i) number = stays;
    }
    if (stays > 1) text_format(out, "stay %d of %d; ", number, stays);
    for (int32_t k = 0; k < p->transfer_count; k++) {
        const struct lx_transfer *t = &p->transfers[k];
        if (t->stay != i) continue;
        if (t->kind == LX_MOVE)
            text_format(out, "moved here from 0x%llx before tick %d", (long long)p->answer.address[t->source],
                        (int)t->tick);
        else if (t->kind == LX_RING) {
            text_format(out, "filled over the ring before tick %d from ", (int)t->tick);
            add_printable(out, p->problem.buffers[t->source].name, 30);
        } else
            text_format(out, "%s tick %d",
                        t->kind == LX_LOAD ? "loaded from HBM before" : "stored to HBM after", (int)t->tick);
        if (transfer_times(p, t) > 1) text_format(out, ", %s", counted(transfer_times(p, t), "time").at);
        text_format(out, " (%s B); ", grouped(t->bytes).at);
    }
}

/* A line, on more rows where it is too long; frees it. */
static void details_put(const struct scene *on, struct box *area, struct style style, struct text *line)
{
    box_cut_top(area, put_paragraph(on->cells, *area, style, line));
}

void details_draw(const struct scene *on, struct box area, int32_t i)
{
    const struct lx_plan *p = session_plan(on->session);
    struct text line = {0};
    if (!p || i < 0 || i >= p->problem.count || area.columns < 8) return;
    const struct lx_buffer *b = &p->problem.buffers[i];
    bool placed = p->answer.address[i] >= 0;
    int32_t identity = buffer_identity(on->session->shown.plan, i);
    put(on->cells, area.row, area.column, (uint32_t)identity_letter(identity),
        (struct style){TONE_LABEL, tone_of_identity(identity), 0});
    struct box text = {area.row, area.column + 2, area.rows, area.columns - 2};
    add_printable(&line, b->name, 60);
    text_format(&line, "  %s%s ", in_bytes(b->size).at, p->stays ? " per core," : "");
    int64_t at = p->answer.address[i];
    if (placed) {
        text_format(&line, "on chip at %s to %s", address_words(on, at).at,
                    address_words(on, at + b->size).at);
        const char *pool = p->problem.pool_count ? p->problem.pools[lx_pool_of(p, i)].name : NULL;
        if (pool) text_add(&line, " of pool ");
        if (pool) add_printable(&line, pool, 24);
    } else
        text_add(&line, b->reason ? "must stay in HBM" : "off chip");
    details_put(on, &text, (struct style){TONE_TITLE, 0, 0}, &line);
    double padding = plan_padding(p, i);
    if (padding >= 0.5) {
        text_format(&line, "%s of it is padding: %.3g times the data", in_percent(padding).at,
                    1 / (1 - padding));
        details_put(on, &text, padding >= 0.75 ? INK(WARN) : INK(PLAIN), &line);
    }
    /* Of a tile, which one in the selected iteration; of a whole tensor, its part in the nest at the
     * cursor. */
    int32_t nest = is_tile(p, i) ? plan_nest_at(p, p->stays[i].first) : session_nest(on->session);
    if (nest >= 0) {
        int64_t iteration = session_iteration(on->session, nest);
        if (is_tile(p, i))
            add_tile_words(p, i, iteration, &line);
        else
            add_whole_words(p, i, nest, iteration, &line);
    }
    details_put(on, &text, INK(KEY), &line);
    struct ghost ghost;
    bool has_ghost = ghost_find(&on->session->shown.index, i, &ghost),
         forced = has_ghost && ghost_forced(on->session, i);
    if (forced) ghost_add_words(on, p, i, &ghost, &line);
    details_put(on, &text, INK(TITLE), &line);
    if (!placed && p->reason[i]) {
        text_add(&line, "why: ");
        add_printable(&line, p->reason[i], 0);
        details_put(on, &text, INK(WARN), &line);
    }
    if (placed && p->took_slot_of[i] >= 0) {
        text_add(&line, "in place of ");
        add_printable(&line, p->problem.buffers[p->took_slot_of[i]].name, 40);
        details_put(on, &text, INK(PLAIN), &line);
    }
    int64_t moved = on->session->shown.moved ? on->session->shown.moved[i] : 0;
    if (placed && b->spill_cost > 0) {
        text_format(&line, p->stays ? "saves %s of HBM traffic" : "would cost %s off chip",
                    in_bytes(b->spill_cost).at);
        details_put(on, &text, INK(PLAIN), &line);
    } else if (!placed) {
        text_format(&line, p->stays ? "moves %s of HBM traffic; %s: remedies" : "costs %s; %s: remedies",
                    in_bytes(moved).at, KEY_OF(WHY));
        details_put(on, &text, b->reason ? INK(PLAIN) : INK(BAD), &line);
        if (has_ghost && !forced) ghost_add_words(on, p, i, &ghost, &line);
        details_put(on, &text, INK(BAD), &line);
    }
    details_add_copies(on, i, &line);
    details_add_uses(on, i, &line);
    details_put(on, &text, INK(DIM), &line);
}
