/* The explorer between keys and screen. It owns the session, the states of all views and the grid. */
#include "tui/core/explorer.h"

bool explorer_begin(struct explorer *x, const struct what_if *how, int rows, int columns)
{
    *x = (struct explorer){.overlay = VIEW_COUNT, .theme = theme_find("mono"), .glyphs = &glyphs_unicode};
    if (!session_begin(&x->session, how)) return false;
    for (int i = 0; i < VIEW_COUNT; i++) {
        const struct view *v = all_views[i];
        x->states[i] = mem_zeroed(1, v->state_size ? v->state_size : 1);
        if (v->initial) memcpy(x->states[i], v->initial, v->state_size);
    }
    cells_resize(&x->cells, rows, columns);
    return true;
}

void explorer_end(struct explorer *x)
{
    session_end(&x->session);
    for (int i = 0; i < VIEW_COUNT; i++) {
        if (all_views[i]->end) all_views[i]->end(x->states[i]);
        if (all_views[i]->is_list) mem_free(((struct list *)x->states[i])->shown);
        mem_free(x->states[i]);
    }
    cells_free(&x->cells);
    for (size_t i = 0; i < x->prompt.history.count; i++) mem_free(x->prompt.history.at[i]);
    VEC_FREE(&x->prompt.history);
    text_free(&x->prompt.choices);
    text_free(&x->message);
    text_free(&x->copied);
    mem_free(x->replace);
}

void explorer_say(struct explorer *x, uint8_t tone, const char *format, ...)
{
    char line[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_free(&x->message);
    text_add(&x->message, line);
    x->message_tone = tone;
    x->keep_message = true;
    x->whole_message = false;
}

enum view_id explorer_top(const struct explorer *x)
{
    return x->overlay != VIEW_COUNT ? x->overlay : x->view;
}

void explorer_show(struct explorer *x, enum view_id page)
{
    x->overlay = VIEW_COUNT;
    x->view = page;
    if (all_views[page]->shown) all_views[page]->shown(x, x->states[page]);
}

static bool explorer_plays(const struct explorer *x)
{
    return x->playing && all_views[explorer_top(x)]->tick && session_plan(&x->session);
}

void explorer_key(struct explorer *x, struct key key)
{
    enum view_id top = explorer_top(x);
    x->keep_message = false;
    switch (key.code) {
    case AT_RESIZE:
        cells_resize(&x->cells, key.row, key.column);
        x->redraw_all = true;
        return;
    case AT_WAIT:
        do { /* a finished job may have posted others */
            worker_wait(x->session.worker);
            worker_take(x->session.worker);
        } while (worker_busy(x->session.worker, NULL) > 0);
        return;
    case AT_TICK:
        x->spin++;
        explorer_watch(x);
        if (explorer_plays(x)) all_views[top]->tick(x, x->states[top]);
        return;
    case AT_NOTHING: return;
    case AT_CLICK:
    case AT_WHEEL_UP:
    case AT_WHEEL_DOWN:
        if (x->prompt.open) return;
        for (int i = 0; key.row == 0 && key.code == AT_CLICK && i < PAGE_COUNT; i++)
            if (key.column >= x->tabs[i].from && key.column < x->tabs[i].to)
                explorer_show(x, (enum view_id)i);
        if ((key.row != 0 || key.code != AT_CLICK) && !footer_click(x, &key)) view_mouse(x, top, &key);
        return;
    default: break;
    }
    change_free(&x->session.change); /* shown until the next key */
    x->session.moved = NULL;
    if (x->prompt.open) {
        prompt_key(x, key.code);
    } else {
        enum request r = request_of_key(key.code, top);
        if (r != REQ_COUNT)
            explorer_request(x, r, NULL);
        else {
            char name[16];
            explorer_say(x, TONE_WARN, "%s does nothing here; %s lists the keys", name_of_key(key.code, name),
                         KEY_OF(HELP));
        }
    }
    if (!x->keep_message) text_free(&x->message);
}

bool explorer_is_lively(struct explorer *x)
{
    return explorer_plays(x) || session_is_stale(&x->session) || worker_busy(x->session.worker, NULL) > 0;
}

static struct scene scene_of(struct explorer *x, enum view_id view)
{
    return (struct scene){.cells = &x->cells,
                          .session = &x->session,
                          .theme = x->theme,
                          .glyphs = x->glyphs,
                          .search = x->search,
                          .filter = x->filter[view],
                          .decimal = x->decimal,
                          .spin = x->spin};
}

void explorer_draw(struct explorer *x)
{
    struct text *news = &x->session.news;
    if (news->at) explorer_say(x, x->session.news_is_good ? TONE_GOOD : TONE_BAD, "%s", news->at);
    x->session.news_is_good = false;
    text_free(news);
    struct box area = {0, 0, x->cells.rows, x->cells.columns};
    filter_settle(x);
    cells_clear(&x->cells);
    x->cells.ascii = x->glyphs->ascii;
    struct box title = box_cut_top(&area, 1), hints = box_cut_bottom(&area, 1),
               status = box_cut_bottom(&area, x->cells.rows >= 8);
    bool docked = x->overlay != VIEW_COUNT && all_views[x->overlay]->dock;
    struct box panel = docked ? all_views[x->overlay]->dock(&area) : area;
    struct scene on = scene_of(x, x->view);
    bool planned = session_plan(&x->session);
    if (all_views[x->view]->needs_plan && !planned)
        frame_no_plan(&on, area);
    else
        all_views[x->view]->draw(&on, x->states[x->view], area);
    on = scene_of(x, explorer_top(x));
    if (x->overlay != VIEW_COUNT && (planned || !all_views[x->overlay]->needs_plan))
        all_views[x->overlay]->draw(&on, x->states[x->overlay], panel);
    frame_draw_title(x, title);
    frame_draw_status(x, status);
    frame_draw_hints(x, hints);
}
