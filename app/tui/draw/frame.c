/* The frame around the views: title with tabs, status, windows on top, and the last line: the command
 * line, else a message, else the keys of the view, which can be clicked; at its right end the filter and
 * the place in the list. */
#include "tui/core/explorer.h"
#include "export/nest_words.h"
#include "tui/draw/chart.h"

#include <sys/stat.h>

/* The forms of tabs, widest first: of the open page, and of the others. */
static const struct tab_form {
    const char *here, *other;
    int around; /* columns beside key and name */
    bool named; /* all have names; else only the open page */
} tab_forms[] = {{"[%s %s]", " %s %s ", 3, true},
                 {"[%s %s]", " %s %s", 2, true},
                 {"[%s %s]", " %s%s", 1, true},
                 {"[%s %s]", " %s", 0, false}};

void frame_draw_title(struct explorer *x, struct box area)
{
    struct cells *g = &x->cells;
    const struct session *s = &x->session;
    put_fill(g, area, ' ', INK_ON(BAR, BAR));
    bool wide = area.columns >= 120;
    /* The first form that leaves room for the beginning of a name. */
    enum { NAME = 7, FORMS = sizeof tab_forms / sizeof *tab_forms };
    int keys = 0;
    for (int i = 0; i < PAGE_COUNT; i++)
        keys += columns_of(request_key(view_requests[i]).at) + columns_of(all_views[i]->name);
    const struct tab_form *form = tab_forms;
    while (form < &tab_forms[FORMS - 1] &&
           keys + PAGE_COUNT * form->around + NAME > area.columns - (wide ? 28 : 0))
        form++;
    int at = put_text(g, area.row, 0, area.columns, (struct style){TONE_TITLE, TONE_BAR, MARK_BOLD},
                      wide ? " lxplan " : "");
    for (int i = 0; i < PAGE_COUNT; i++) {
        bool here = (int)x->view == i;
        struct style style = here ? INK_ON(SELECTED, SELECTED) : INK_ON(BAR, BAR);
        if (here) style.marks = MARK_BOLD;
        x->tabs[i].from = at;
        char words[64];
        snprintf(words, sizeof words, here ? form->here : form->other, request_key(view_requests[i]).at,
                 all_views[i]->name);
        at += put_text(g, area.row, at, area.columns - at, style, words);
        x->tabs[i].to = at;
    }
    if (s->current < 0) return;
    const char *name = s->patterns.at[s->current].shown;
    int room = area.columns - at - 2;
    if (room > 5) put_right(g, area.row, at + 1, room, INK_ON(BAR, BAR), name);
}

/* The fastest plan of this device and graph that was seen, if it is far faster than the present one. */
static const struct remedy *frame_far_faster(const struct session *s, const struct lx_plan *p)
{
    static const double far = 1.5;
    const struct remedy *best = NULL;
    for (size_t i = 0; i < s->seen.count && !p->graph->list; i++) {
        const struct remedy *it = &s->seen.at[i];
        bool faster = it->us > 0 && it->us * far < p->figures.end_to_end_us && remedy_fits(it, p);
        if (faster && (!best || it->us < best->us)) best = it;
    }
    return best;
}

/* The pieces of the status line, most important first; pieces that do not fit are left out. An interim plan
 * has missed no target yet. */
static void frame_status_pieces(const struct explorer *x, const struct lx_plan *p, struct text pieces[],
                                int *count)
{
    int n = 0;
    if (!x->session.shown.is_legal && p->answer.status != LX_INFEASIBLE) {
        text_add(&pieces[n++], "NOT LEGAL");
        text_add(&pieces[n++], x->session.shown.check.text);
    }
    text_format(&pieces[n++], "%s: %s", p->solver,
                x->session.shown.interim   ? "so far"
                : x->session.shown.stopped ? "cancelled"
                : x->cells.columns < 60    ? lx_verdict_word(p->answer.status)
                                           : verdict_words(p));
    bool met = lx_plan_meets_target(p);
    if (!met && !x->session.shown.interim) text_add(&pieces[n++], "TARGET MISSED");
    /* "HBM 12.7 MiB, proven least 12.3 MiB (+3.0 %)"; only the value if the plan is optimal, or if there
     * is little room. */
    bool brief = x->cells.columns < 130, is_tight = x->cells.columns < 90;
    int64_t bytes = p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes;
    if (p->answer.status != LX_OPTIMAL && !x->session.shown.interim && !is_tight)
        add_value_words(p, brief, &pieces[n]);
    else {
        text_format(&pieces[n], "%s %s", value_word(p), (brief ? in_short_bytes(bytes) : in_bytes(bytes)).at);
        if (is_tight && !x->session.shown.interim && lx_plan_gap(p) > 0 && isfinite(lx_plan_gap(p)))
            text_format(&pieces[n], " (+%s)", in_percent(lx_plan_gap(p)).at);
    }
    if (is_tight && p->balanced && !x->session.shown.interim)
        text_format(&pieces[n], ", %s", in_micros(p->figures.end_to_end_us).at);
    n++;
    const struct remedy *faster = frame_far_faster(&x->session, p);
    if (faster)
        text_format(&pieces[n++], "%.1fx faster known (%s)", p->figures.end_to_end_us / faster->us,
                    KEY_OF(PARETO));
    if (met && p->graph->target_hbm_bytes >= 0) text_add(&pieces[n++], "target met");
    if (p->problem.objective == LX_SPILL && p->figures.baseline_hbm_bytes > 0)
        text_format(&pieces[n++], "saved %s",
                    in_percent((double)(p->figures.baseline_hbm_bytes - p->figures.hbm_bytes) /
                               (double)p->figures.baseline_hbm_bytes)
                        .at);
    if (p->nest_count > 0) add_nests_sum(p, &pieces[n++]);
    if (!p->graph->list)
        text_format(&pieces[n++], "device %s, end to end %s", in_micros(p->figures.device_us).at,
                    in_micros(p->figures.end_to_end_us).at);
    if (!p->graph->list) text_format(&pieces[n++], "%s", counted(p->graph->device.cores, "core").at);
    text_format(&pieces[n++], "LX %s", in_short_bytes(p->problem.capacity).at);
    if (x->session.undo.count)
        text_format(&pieces[n++], "%s", counted((int64_t)x->session.undo.count, "change").at);
    if (p->unproved) text_add(&pieces[n++], p->unproved);
    *count = n;
}

static struct chart_label frame_elapsed(double seconds)
{
    struct chart_label w;
    snprintf(w.at, sizeof w.at, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    return w;
}

/* The progress of planning; returns the columns it took, 0: nothing is planned. */
static int frame_draw_planning(struct explorer *x, struct box row)
{
    const struct session *s = &x->session;
    struct text words = {0};
    if (!session_is_stale(s)) return 0;
    struct progress now = session_planning(s);
    /* "auto 12 s  best 73.4 MiB  bound 48.6 MiB": in the unit of the value beside it */
    int64_t best = curve_best(&now.curve), bound = curve_bound(&now.curve);
    bool old = session_plan(s) && session_shows_old(s);
    text_format(&words, "%s%s", old ? "STALE: " : "", lx_settings_solver(&s->now.options, LX_SPILL)->name);
    if (now.running) text_format(&words, " %s", frame_elapsed(now.seconds).at);
    if (!old && session_plan(s)) {
        if (best < INT64_MAX) text_format(&words, "  best %s", in_short_bytes(best).at);
        if (bound > 0 && bound <= best) /* else it is of another draft */
            text_format(&words, "  bound %s", in_short_bytes(bound).at);
    }
    int n = put_line(&x->cells, row, INK_ON(WARN, BAR), &words);
    put(&x->cells, row.row, row.column + n + 1, x->glyphs->spinner[x->spin & 3], INK_ON(WARN, BAR));
    return n + 4;
}

/* The effect of the last change. */
static void frame_draw_change(struct explorer *x, struct box row)
{
    const struct change *c = &x->session.change;
    uint8_t tone = c->before.value == c->after.value  ? TONE_BAR
                   : c->before.value > c->after.value ? TONE_GOOD
                                                      : TONE_BAD;
    struct text pieces[CHANGE_PIECES] = {{0}};
    int count = change_words(c, false, pieces), at = row.column, end = row.column + row.columns, all = -3;
    for (int i = 0; i < count; i++) all += 3 + columns_of(pieces[i].at);
    if (all > row.columns) {
        for (int i = 0; i < count; i++) text_free(&pieces[i]);
        count = change_words(c, true, pieces);
    }
    for (int i = 0; i < count; i++) {
        int width = columns_of(pieces[i].at);
        if (at + width > end) width = end - at;
        if (width < 8) break;
        if (i > 0) put(&x->cells, row.row, at - 2, x->glyphs->vertical, INK_ON(FRAME, BAR));
        struct style style = {i == 0 ? tone : TONE_BAR, TONE_BAR, 0};
        put_text(&x->cells, row.row, at, width, style, pieces[i].at);
        at += width + 3;
    }
    for (int i = 0; i < count; i++) text_free(&pieces[i]);
}

/* The facts of a pattern in the list that is not open. */
static void frame_draw_marked(struct explorer *x, struct box row, const struct pattern *p)
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
    put_line(&x->cells, row, INK_ON(BAR, BAR), &line);
}

void frame_draw_status(struct explorer *x, struct box area)
{
    struct cells *g = &x->cells;
    struct session *s = &x->session;
    const struct lx_plan *p = session_plan(s);
    if (area.rows == 0) return;
    put_fill(g, area, ' ', INK_ON(BAR, BAR));
    int at = 1, right = area.columns - 1;
    at += frame_draw_planning(x, (struct box){area.row, at, 1, right - at});
    if (!p) {
        char some[32] = "";
        if (x->filter[VIEW_PATTERNS][0]) snprintf(some, sizeof some, "%d of ", view_count(x, VIEW_PATTERNS));
        if (s->current < 0 && !session_is_stale(s))
            put_format(g, area.row, at, right - at, INK_ON(BAR, BAR), "%s%s; %s opens one", some,
                       counted((int64_t)s->patterns.count, "pattern").at, KEY_OF(OPEN));
        return;
    }
    int marked = explorer_top(x) == VIEW_PATTERNS ? pattern_marked(x) : -1;
    if (marked >= 0 && marked != s->current) {
        frame_draw_marked(x, (struct box){area.row, at, 1, right - at}, &s->patterns.at[marked]);
        return;
    }
    if (s->change.known) {
        frame_draw_change(x, (struct box){area.row, at, 1, right - at});
        return;
    }
    struct text pieces[12] = {{0}};
    int count = 0;
    frame_status_pieces(x, p, pieces, &count);
    for (int i = 0; i < count; i++) {
        const char *text = pieces[i].at ? pieces[i].at : "";
        int width = columns_of(text);
        bool is_check = text == pieces[1].at && !s->shown.is_legal;
        if (is_check && width > right - at) width = right - at; /* an error is cut rather than left out */
        struct style style = INK_ON(BAR, BAR);
        if (i == 0)
            style.ink = p->answer.status == LX_OPTIMAL      ? TONE_GOOD
                        : p->answer.status >= LX_INFEASIBLE ? TONE_BAD
                                                            : TONE_BAR;
        if (strcmp(text, "TARGET MISSED") == 0 || !s->shown.is_legal) style.ink = TONE_BAD;
        if (at + width <= right) {
            if (i > 0) put(g, area.row, at - 2, x->glyphs->vertical, INK_ON(FRAME, BAR));
            put_text(g, area.row, at, width, style, text);
            at += width + 3;
        }
        text_free(&pieces[i]);
    }
}

struct box frame_window(const struct scene *on, const char *title, int rows, int columns)
{
    struct cells *g = on->cells;
    const struct glyphs *s = on->glyphs;
    if (rows > g->rows - 3) rows = g->rows - 3;
    if (rows < 2) rows = 2;
    if (columns > g->columns) columns = g->columns;
    struct box b = {1 + (g->rows - 3 - rows) / 2, (g->columns - columns) / 2, rows, columns};
    put_fill(g, b, ' ', INK(PLAIN));
    for (int c = 1; c < columns - 1; c++) {
        put(g, b.row, b.column + c, s->horizontal, INK(FRAME));
        put(g, b.row + rows - 1, b.column + c, s->horizontal, INK(FRAME));
    }
    for (int r = 1; r < rows - 1; r++) {
        put(g, b.row + r, b.column, s->vertical, INK(FRAME));
        put(g, b.row + r, b.column + columns - 1, s->vertical, INK(FRAME));
    }
    for (int i = 0; i < 4; i++)
        put(g, b.row + (i / 2) * (rows - 1), b.column + (i % 2) * (columns - 1), s->corner[i], INK(FRAME));
    put_format(g, b.row, b.column + 2, columns - 4, (struct style){TONE_TITLE, 0, MARK_BOLD}, " %s ", title);
    return (struct box){b.row + 1, b.column + 2, rows > 2 ? rows - 2 : 0, columns > 4 ? columns - 4 : 0};
}

/* Instead of a view before the first plan: the facts of the pattern. */
static void frame_draw_waiting(const struct scene *on, struct box area)
{
    const struct session *s = on->session;
    const struct pattern *p = &s->patterns.at[s->current];
    struct progress now = session_planning(s);
    struct cells *g = on->cells;
    struct stat info;
    int n = put_format(g, area.row, area.column, area.columns - 2, INK(PLAIN), "%s %s  %s",
                       p->is_read ? "Planning" : "Reading", p->shown, frame_elapsed(now.seconds).at);
    put(g, area.row, area.column + n + 1, on->glyphs->spinner[on->spin & 3], INK(WARN));
    struct box rest = {area.row + 2, area.column, area.rows - 2, area.columns};
    if (p->is_read && !p->facts.refused)
        put_wrapped_format(g, rest, INK(DIM), "%s%s%s, %s in all; the first plan is on its way.",
                           p->facts.ops ? counted(p->facts.ops, "op").at : "", p->facts.ops ? ", " : "",
                           counted(p->facts.buffers, p->facts.is_list ? "buffer" : "tensor").at,
                           in_bytes(p->facts.bytes).at);
    else if (stat(p->path, &info) == 0)
        put_wrapped_format(g, rest, INK(DIM), "%s", in_bytes((int64_t)info.st_size).at);
}

void frame_no_plan(const struct scene *on, struct box area)
{
    struct session *s = on->session;
    struct box b = {area.row + area.rows / 4, area.column + 2, area.rows - area.rows / 4, area.columns - 4};
    if (s->current < 0) {
        put_wrapped_format(
            on->cells, b, INK(PLAIN),
            "No pattern is open.\n\nPress %s for the list of patterns, choose one with %s and %s, "
            "and open it with %s; or type %s%s FILE.",
            KEY_OF(PATTERNS), KEY_OF(DOWN), KEY_OF(UP), KEY_OF(OPEN), KEY_OF(COMMAND),
            request_rows[REQ_OPEN].name);
        return;
    }
    if (!s->has_shown || session_is_stale(s)) {
        frame_draw_waiting(on, b);
        return;
    }
    char text[1200];
    int used = put_wrapped(on->cells, b, INK(BAD), lx_status_describe(&s->shown.st, text, sizeof text));
    struct text lines = {0}; /* the line of the file with a mark */
    int row = used + 1;
    add_source_line(&s->shown.st, b.columns, &lines);
    for (char *more = lines.at, *line; more && (line = strsep(&more, "\n")) && *line && row < b.rows; row++)
        put_text(on->cells, b.row + row, b.column, b.columns, INK(DIM), line);
    text_free(&lines);
    if (row > used + 1) used = row;
    struct box rest = {b.row + used + 1, b.column, b.rows - used - 1, b.columns};
    bool is_ours = !s->shown.unread && (!settings_same(&s->now, &s->shown.how) || s->undo.count > 0);
    if (is_ours)
        put_wrapped_format(
            on->cells, rest, INK(PLAIN),
            "There is no plan with these settings. %s undoes the last change, %s shows the settings.",
            KEY_OF(UNDO), KEY_OF(WHAT_IF));
    else if (strstr(s->shown.st.text, " --dim "))
        put_wrapped_format(on->cells, rest, INK(PLAIN),
                           "Here: %s%s NAME=N, for each of them. %s lists the files.", KEY_OF(COMMAND),
                           request_rows[REQ_DIM].name, KEY_OF(PATTERNS));
    else
        put_wrapped_format(on->cells, rest, INK(PLAIN),
                           "This pattern has no plan. Fix it (%s edits) and press %s to reload it;\n"
                           "or choose another one with %s.",
                           KEY_OF(EDIT), KEY_OF(RELOAD), KEY_OF(PATTERNS));
}

/* "filter gq  3/91", as far as there is room. Returns the columns that are left. */
static int footer_draw_place(struct explorer *x, struct box area)
{
    enum view_id top = explorer_top(x);
    const char *filter = x->filter[top];
    char place[40] = "", shown[100] = "";
    int n = view_count(x, top), right = area.columns;
    if (top == VIEW_HELP && !filter[0]) return right; /* a page and not a list */
    if (n > 0 || filter[0])
        snprintf(place, sizeof place, "%d/%d", n > 0 ? view_selected(x, top) + 1 : 0, n > 0 ? n : 0);
    if (filter[0]) snprintf(shown, sizeof shown, "filter %.40s", filter);
    int width = columns_of(place), more = columns_of(shown);
    if (!place[0] || area.columns < 40 + width + more) return right;
    right -= width;
    put_text(&x->cells, area.row, right, width, INK(DIM), place);
    if (!shown[0]) return right - 2;
    right -= more + 2;
    put_text(&x->cells, area.row, right, more, INK(WARN), shown);
    return right - 2;
}

/* One key with its word, which a click presses. */
static int footer_draw_hint(struct explorer *x, struct box area, int at, enum request r, const char *word)
{
    struct footer_key *k = &x->footer[x->footer_count < FOOTER_KEYS ? x->footer_count++ : FOOTER_KEYS - 1];
    k->from = at;
    at += put_text(&x->cells, area.row, at, 16, INK(KEY), request_key(r).at) + 1;
    at += put_text(&x->cells, area.row, at, 40, INK(DIM), word);
    k->to = at;
    k->request = r;
    return at + 2;
}

/* The present word of a hint; NULL: its key has no effect. */
static const char *footer_word_of(struct explorer *x, const struct hint *h)
{
    enum view_id top = explorer_top(x);
    const struct session *s = &x->session;
    bool planless = all_views[top]->needs_plan && !session_plan(s);
    if (h->request == REQ_STOP && worker_busy(s->worker, NULL) <= worker_busy(s->worker, &read_work))
        return NULL;
    if (h->request == REQ_NEXT_ITERATION && (planless || session_plan(s)->nest_count == 0)) return NULL;
    if (planless && h->request != REQ_STOP && h->request != REQ_BACK && h->request != REQ_WHAT_IF &&
        h->request != REQ_NEXT_SOLVER)
        return NULL;
    return all_views[top]->hint_word && !planless ? all_views[top]->hint_word(x, x->states[top], h) : h->word;
}

static void footer_draw_hints(struct explorer *x, struct box area, int right)
{
    const struct hint *h = all_views[explorer_top(x)]->hints;
    static const struct hint stop = {REQ_STOP, "cancel"};
    int at = 0, help = columns_of(request_key(REQ_HELP).at) + 1 + columns_of("help");
    bool has_stop = false;
    for (int i = 0; i < MOST_HINTS && h[i].word; i++) has_stop |= h[i].request == REQ_STOP;
    if (!has_stop && session_is_stale(&x->session) && footer_word_of(x, &stop))
        at = footer_draw_hint(x, area, at, REQ_STOP, stop.word);
    for (int i = 0; i < MOST_HINTS && h[i].word; i++) {
        const char *word = footer_word_of(x, &h[i]);
        if (!word) continue;
        if (at + columns_of(request_key(h[i].request).at) + 1 + columns_of(word) > right - help - 2) break;
        at = footer_draw_hint(x, area, at, h[i].request, word);
    }
    if (at + help <= right) footer_draw_hint(x, area, at, REQ_HELP, "help");
}

void frame_draw_hints(struct explorer *x, struct box area)
{
    x->footer_count = 0;
    x->footer_row = area.row;
    if (x->prompt.open) {
        struct prompt *p = &x->prompt;
        struct cells *g = &x->cells;
        char before[sizeof p->text];
        int at = put_text(g, area.row, 0, area.columns, INK(KEY),
                          p->lead == 'f'   ? "filter "
                          : p->lead == '/' ? "/"
                                           : ":");
        snprintf(before, sizeof before, "%.*s", p->at, p->text);
        int cursor = columns_of(before), room = area.columns - at - 1, skip = 0;
        snprintf(before, sizeof before, "%.*s", p->fresh, p->text);
        const char *from = p->text;
        while (cursor - skip > room && *from) { /* the cursor stays visible */
            uint32_t code;
            int columns, n = next_character(from, &code, &columns);
            from += n;
            skip += columns;
        }
        int used = put_text(g, area.row, at, room, INK(PLAIN), from),
            proposed = at + columns_of(before) - skip;
        if (p->fresh && proposed >= at) /* typing replaces it */
            put_paper(g, (struct box){area.row, proposed, 1, at + used - proposed}, INK_ON(PLAIN, SELECTED));
        g->cursor_row = area.row;
        g->cursor_column = at + cursor - skip;
        if (p->choices.at && at + used + 3 < area.columns)
            put_text(g, area.row, at + used + 2, area.columns - at - used - 2, INK(DIM), p->choices.at);
        return;
    }
    int lines = x->message.at && x->whole_message
                    ? columns_of(x->message.at) / (area.columns > 16 ? area.columns - 8 : 8)
                    : 0;
    if (lines > 0 && lines < area.row) {
        area.row -= lines, area.rows += lines;
        put_fill(&x->cells, area, ' ', INK(PLAIN));
        put_wrapped(&x->cells, area, INK(GOOD), x->message.at);
        return;
    }
    bool room = !x->message.at || columns_of(x->message.at) < area.columns - 24;
    int right = room ? footer_draw_place(x, area) : area.columns; /* messages go before the place */
    if (x->message.at)
        put_text(&x->cells, area.row, 0, right, (struct style){.ink = x->message_tone}, x->message.at);
    else
        footer_draw_hints(x, area, right);
}

bool footer_click(struct explorer *x, const struct key *k)
{
    if (k->row != x->footer_row || k->code != AT_CLICK) return false;
    for (int i = 0; i < x->footer_count; i++)
        if (k->column >= x->footer[i].from && k->column < x->footer[i].to) {
            explorer_request(x, x->footer[i].request, NULL);
            break;
        }
    return true;
}
