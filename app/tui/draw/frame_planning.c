/* What the frame tells of a plan in the making: best and bound so far, what it was before, what is known meanwhile. */
#include "export/plan_words.h"
#include "tui/draw/chart.h"
#include "tui/core/explorer.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct chart_label elapsed(double seconds)
{
    struct chart_label w;
    snprintf(w.at, sizeof w.at, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    return w;
}

int frame_draw_planning(struct explorer *x, struct box row)
{
    const struct session *s = &x->session;
    struct text words = {0};
    if (!session_is_stale(s)) return 0;
    struct progress now = session_planning(s);
    /* "auto 12 s  best 73.4 MiB  bound 48.6 MiB": in the unit of the value beside it */
    int64_t best = curve_best(&now.curve), bound = curve_bound(&now.curve);
    bool old = session_plan(s) && session_shows_old(s);
    text_format(&words, "%s%s", old ? "STALE: " : "", lx_settings_solver(&s->now.options, LX_SPILL)->name);
    if (now.running) text_format(&words, " %s", elapsed(now.seconds).at);
    if (!old && session_plan(s)) {
        if (best < INT64_MAX) text_format(&words, "  best %s", in_short_bytes(best).at);
        if (bound > 0) text_format(&words, "  bound %s", in_short_bytes(bound).at);
    }
    int n =
        put_text(&x->cells, row.row, row.column, row.columns, INK_ON(WARN, BAR), words.at ? words.at : "");
    text_free(&words);
    put(&x->cells, row.row, row.column + n + 1, x->glyphs->spinner[x->spin & 3], INK_ON(WARN, BAR));
    return n + 4;
}

static int frame_planning_width_of(const struct text *pieces, int count)
{
    int width = 0;
    for (int i = 0; i < count; i++) width += columns_of(pieces[i].at ? pieces[i].at : "") + (i > 0 ? 3 : 0);
    return width;
}

static void pieces_free(struct text *pieces)
{
    for (int i = 0; i < CHANGE_PIECES; i++) text_free(&pieces[i]);
}

void frame_draw_change(struct explorer *x, struct box row)
{
    const struct change *c = &x->session.change;
    static const uint8_t tones[] = {TONE_BAD, TONE_BAR, TONE_GOOD};
    struct text pieces[CHANGE_PIECES] = {{0}};
    int count = change_words(c, false, pieces), at = row.column, end = row.column + row.columns;
    if (frame_planning_width_of(pieces, count) > row.columns) {
        pieces_free(pieces);
        count = change_words(c, true, pieces);
    }
    for (int i = 0; i < count; i++) {
        int width = columns_of(pieces[i].at ? pieces[i].at : "");
        if (at + width > end) width = end - at;
        if (width < 8) break;
        if (i > 0) put(&x->cells, row.row, at - 2, x->glyphs->vertical, INK_ON(FRAME, BAR));
        struct style style = {i == 0 ? tones[1 + change_sign(c)] : TONE_BAR, TONE_BAR, 0};
        put_text(&x->cells, row.row, at, width, style, pieces[i].at ? pieces[i].at : "");
        at += width + 3;
    }
    pieces_free(pieces);
}

void frame_draw_marked(struct explorer *x, struct box row, const struct pattern *p)
{
    const struct last_plan *last = &p->last;
    struct text line = {0};
    add_printable(&line, p->shown, 40);
    if (!p->is_read)
        text_add(&line, ": is being read");
    else if (p->facts.refused)
        text_add(&line, ": cannot be read");
    else if (!last->known)
        text_format(&line, ": not planned yet; %s opens it, %s plans all", KEY_OF(OPEN), KEY_OF(PLAN_ALL));
    else if (last->failed)
        text_add(&line, ": no plan when it was last planned");
    else
        text_format(&line, ": %s, %s%s%s", last->solver, in_bytes(last->hbm_bytes).at,
                    last->proved ? ", optimal" : "", last->met ? "" : ", TARGET MISSED");
    put_text(&x->cells, row.row, row.column, row.columns, INK_ON(BAR, BAR), line.at ? line.at : "");
    text_free(&line);
}

static int64_t file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

void frame_draw_waiting(const struct scene *on, struct box area)
{
    const struct session *s = on->session;
    const struct pattern *p = &s->patterns.at[s->current];
    struct progress now = session_planning(s);
    struct cells *g = on->cells;
    int n = put_format(g, area.row, area.column, area.columns - 2, INK(PLAIN), "%s %s  %s",
                       p->is_read ? "Planning" : "Reading", p->shown, elapsed(now.seconds).at);
    put(g, area.row, area.column + n + 1, on->glyphs->spinner[on->spin & 3], INK(WARN));
    struct box rest = {area.row + 2, area.column, area.rows - 2, area.columns};
    if (p->is_read && !p->facts.refused)
        put_wrapped_format(g, rest, INK(DIM), "%s%s%s, %s in all; the first plan is on its way.",
                           p->facts.ops ? counted(p->facts.ops, "op").at : "", p->facts.ops ? ", " : "",
                           counted(p->facts.buffers, p->facts.is_list ? "buffer" : "tensor").at,
                           in_bytes(p->facts.bytes).at);
    else if (file_bytes(p->path) >= 0)
        put_wrapped_format(g, rest, INK(DIM), "%s", in_bytes(file_bytes(p->path)).at);
}
