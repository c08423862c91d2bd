/* The explorer's parts: its table of requests, keys, grid, settings, selection, maps, command line. */
#include "support/explorer_by_keys.h"
#include "picture/raster.h"
#include "tui/map/map_window.h"

/* Every key is one, means one thing in a view, and every request has a name of its own and help. */
static void requests_agree(void **state)
{
    (void)state;
    for (int i = 0; i < REQ_COUNT; i++) {
        const struct request_row *row = &request_rows[i];
        assert_true(*row->name && *row->help && *row->group);
        assert_int_equal(request_find(row->name), i);
        for (const char *keys = row->keys; *keys;) {
            struct key k;
            lx_status st;
            assert_true(key_parse(&keys, &k, &st));
            while (*keys == ' ') keys++;
            for (int v = 0; v < VIEW_COUNT; v++) {
                if (!(row->views & 1u << v)) continue;
                enum request meant = request_of_key(k.code, (enum view_id)v);
                /* Only a view's own meaning goes before the common one. */
                if ((int)meant != i)
                    assert_true(row->views == EVERYWHERE && request_rows[meant].views != EVERYWHERE);
            }
        }
    }
    assert_int_equal(request_find("no-such-thing"), REQ_COUNT);
    int before =
        0; /* digits and the order of the views are the same thing; 0 stands behind 9, as on a keyboard */
    for (int v = 0; v < PAGE_COUNT; v++) {
        const char *key = request_keys(view_requests[v]);
        int digit = key[0] == '0' ? 10 : key[0] - '0';
        assert_true(digit > before && digit <= 10);
        assert_int_equal(request_of_key((uint32_t)key[0], VIEW_MAP), view_requests[v]);
        before = digit;
    }
}

static void keys_are_read_as_they_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t code;
    } rows[] = {{"j", 'j'},    {"<Down>", AT_DOWN}, {"<C-r>", 18},           {"<Esc>", AT_ESCAPE},
                {"<lt>", '<'}, {"<Space>", ' '},    {"<S-Tab>", AT_BACKTAB}, {"\xc3\xa9", 0xe9}};
    char name[16];
    lx_status st;
    struct key k;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = rows[i].text;
        assert_true(key_parse(&at, &k, &st));
        assert_int_equal(k.code, rows[i].code);
        assert_int_equal(*at, 0);
    }
    const char *at = "<Click:3,10><Resize:100x30>";
    assert_true(key_parse(&at, &k, &st) && k.code == AT_CLICK && k.row == 3 && k.column == 10);
    assert_true(key_parse(&at, &k, &st) && k.code == AT_RESIZE && k.row == 30 && k.column == 100);
    assert_false(key_parse(&at, &k, &st));
    assert_int_equal(st.code, LX_OK);
    at = "<Nonsense>";
    assert_false(key_parse(&at, &k, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    assert_string_equal(name_of_key(18, name), "<C-r>");
    assert_string_equal(name_of_key('<', name), "<");
}

/* Whatever a file is called: nothing leaves its cells, controls are shown as '?',
 * wide characters have two. */
static void grid_keeps_text_in_place(void **state)
{
    (void)state;
    struct cells g = {0};
    struct text t = {0};
    cells_resize(&g, 4, 10);
    assert_int_equal(put_text(&g, 0, 0, 10, INK(PLAIN), "a\033[31mb"), 7);
    assert_int_equal(put_text(&g, 1, 0, 5, INK(PLAIN), "\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97"), 5);
    assert_int_equal(put_text(&g, 2, 8, 10, INK(PLAIN), "abcdef"), 6); /* cut at the border of the grid */
    put_text(&g, 3, 0, 10, INK(PLAIN), "e\xcc\x81t");
    put(&g, 1, 1, 'x', INK(PLAIN)); /* half of a wide character: the other half goes, too */
    put(&g, -1, 5, 'x', INK(PLAIN));
    put(&g, 99, 99, 'x', INK(PLAIN));
    cells_to_text(&g, &t);
    assert_string_equal(t.at, "a?[31mb\n x\xe6\x96\x87~\n        ab\ne\xcc\x81t\n");
    text_free(&t);
    cells_clear(&g);
    assert_int_equal(put_wrapped(&g, (struct box){0, 0, 4, 10}, INK(PLAIN), "one two three four"), 2);
    cells_to_text(&g, &t);
    assert_string_equal(t.at, "one two\nthree four\n\n\n");
    text_free(&t);
    cells_free(&g);
}

static void settings_are_typed_stepped_and_told(void **state)
{
    (void)state;
    struct what_if w, standard;
    struct text t = {0};
    lx_status st;
    settings_default(&w);
    standard = w;
    assert_true(settings_set(&w, SET_SOLVER, "exact", &st));
    assert_true(settings_set(&w, SET_LX, "1m", &st));
    assert_int_equal(w.options.value[SET_LX], 1 << 20);
    assert_false(settings_set(&w, SET_SOLVER, "exat", &st));
    assert_non_null(strstr(st.text, "exact"));
    assert_false(settings_set(&w, SET_CORES, "many", &st));
    assert_true(settings_set(&w, lx_settings_find("evict"), "on", &st));
    assert_true(settings_set(&w, lx_settings_find("work"), "2k", &st));
    settings_command(&w, "my file.json", NULL, &t);
    assert_string_equal(t.at, "lxplan plan 'my file.json' --solver exact --lx 1048576 --work 2048 --evict");
    text_free(&t);
    assert_true(settings_step(&w, SET_CORES, -1, 32));
    assert_int_equal(w.options.value[SET_CORES], 16);
    w.options.value[SET_CORES] = 1;
    assert_false(settings_step(&w, SET_CORES, -1, 32));
    for (int i = 0; i < lx_settings_count(); i++) assert_true(settings_set(&w, i, "", &st));
    assert_true(settings_same(&w, &standard));
    int presets = 0;
    for (; lx_device_at(presets); presets++) { /* every preset is a word, as --device takes it */
        text_format(&t, "preset=%s", lx_device_at(presets)->preset);
        assert_true(settings_set(&w, SET_DEVICE, t.at, &st));
        assert_int_equal(w.options.preset, presets + 1);
        assert_string_equal(settings_word(SET_DEVICE, presets), lx_device_at(presets)->preset);
        text_free(&t);
    }
    assert_null(settings_word(SET_DEVICE, presets));
}

static void a_device_is_chosen(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>:set device preset=tenstorrent<Enter><wait>");
    assert_string_equal(session_plan(&x->session)->graph->device.preset, "tenstorrent");
    assert_true(explorer_shows(x, " -> "));
    explorer_type(x, "<Esc>"); /* what the change did is shown until the next key */
    assert_true(explorer_shows(x, "64 cores"));
    explorer_type(x, "u<wait>");
    assert_string_equal(session_plan(&x->session)->graph->device.preset, "spyre");
    explorer_type(x,
                  ":set device tenstorrent<Enter><wait>"); /* the words of the command line: a name, a file */
    assert_string_equal(session_plan(&x->session)->graph->device.preset, "tenstorrent");
    explorer_type(x, ":set device nowhere.json<Enter>");
    assert_true(explorer_shows(x, "nowhere.json"));
    close_it(x);
}

static void a_solver_is_given_less_work(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, ":solver anneal<Enter>:lx 64k<Enter><wait>");
    assert_true(session_plan(&x->session)->answer.steps > 100);
    explorer_type(x, ":set work 100<Enter><wait>");
    assert_int_equal(session_plan(&x->session)->answer.steps, 100);
    close_it(x);
}

/* Changes make plans, undo takes them back; the selection stays on what had its name. */
static void changes_are_planned_and_taken_back(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE, 24, 80);
    struct session *s = &x->session;
    assert_true(session_is_stale(s));
    explorer_type(x, "<wait>");
    assert_false(session_is_stale(s));
    int64_t before = session_plan(s)->figures.hbm_bytes;
    assert_true(session_goto(s, "gate_2"));
    explorer_type(x, ":lx 900k<Enter>");
    if (session_shows_old(s))
        assert_true(session_plan(s)->figures.hbm_bytes == before); /* the old one is shown */
    explorer_type(x, "<wait>");
    assert_false(session_is_stale(s));
    assert_true(session_plan(s)->figures.hbm_bytes > before);
    assert_string_equal(session_plan(s)->problem.buffers[s->selection.buffer].name, "gate_2");
    explorer_type(x, "u<wait>");
    assert_int_equal(session_plan(s)->figures.hbm_bytes, before);
    explorer_type(x, "<C-r><wait>");
    assert_true(session_plan(s)->figures.hbm_bytes > before);
    explorer_type(x, "uu<wait>");
    assert_true(explorer_shows(x, "nothing to undo") || s->undo.count == 0);
    close_it(x);
}

/* A buffer selected in one view is selected in all. */
static void selection_is_shared(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    struct session *s = &x->session;
    explorer_type(x, "<wait>4:goto exp<Enter>");
    int32_t op = s->selection.op;
    assert_string_equal(session_plan(s)->problem.buffers[s->selection.buffer].name, "exp");
    assert_string_equal(outcome_graph(&s->shown)->ops[op].name, "exp");
    explorer_type(x, "2");
    assert_true(explorer_shows(x, "exp = exp"));
    explorer_type(x, "3");
    assert_true(explorer_shows(x, "exp = exp"));
    explorer_type(x, "j2k");
    assert_int_equal(s->selection.op, op - 1);
    explorer_type(x, "4");
    assert_true(explorer_shows(x, "sub  "));
    close_it(x);
}

/* Followed edges: from an op to who made its first input. */
static void edges_are_followed(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    explorer_type(x, "<wait>2:goto exp<Enter><Enter>");
    assert_string_equal(outcome_graph(&x->session.shown)->ops[x->session.selection.op].name, "sub");
    close_it(x);
}

/* No placed buffer vanishes from the map, however coarse it is. */
static void thin_buffers_never_vanish(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE, 24, 80);
    explorer_type(x, "<wait>");
    const struct outcome *o = &x->session.shown;
    const struct lx_plan *p = o->plan;
    for (int columns = 1; columns < 130; columns += 7)
        for (int rows = 1; rows < 60; rows += 9)
            for (int edges = 0; edges < 2; edges++) {
                struct raster r;
                struct raster_view view = {.from_tick = o->time.first,
                                           .to_tick = o->time.last,
                                           .to_address = o->index.bands.top,
                                           .columns = columns,
                                           .rows = rows,
                                           .by_edges = edges,
                                           .by_events = rows % 2,
                                           .across = 1 + columns % 2};
                raster_make(&o->index, &view, &r);
                for (int32_t i = 0; i < p->problem.count; i++) {
                    const struct lx_buffer *b = &p->problem.buffers[i];
                    int64_t at = p->answer.address[i];
                    int left, right, low, high;
                    bool thin, seen = false;
                    if (at < 0 || b->size == 0) continue;
                    assert_true(scale_cells(&r.time, b->start, b->end, &left, &right, &thin));
                    assert_true(scale_cells(&r.address, at, at + b->size, &low, &high, &thin));
                    for (int y = low; y <= high; y++)
                        for (int c = left; c <= right; c++) {
                            const struct raster_cell *cell = raster_at(&r, r.address.cells - 1 - y, c);
                            seen |=
                                cell->owner == i || cell->state == CELL_MANY || cell->state == CELL_HANDOVER;
                        }
                    assert_true(seen);
                }
                raster_free(&r);
            }
    close_it(x);
}

static void holes_are_counted(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/targets/simple_fragmentation.json", 24, 80);
    explorer_type(x, "<wait>");
    const struct lx_plan *p = session_plan(&x->session);
    for (int64_t t = x->session.shown.time.first; t < x->session.shown.time.last; t++) {
        struct lx_holes h;
        int64_t used = lx_occupancy_most(&x->session.shown.time, t, t + 1);
        lx_holes_at(p, NULL, 0, 0, t, 0, &h);
        assert_int_equal(h.free_bytes, p->problem.capacity - used);
        assert_true(h.largest_to - h.largest_from <= h.free_bytes);
    }
    close_it(x);
}

/* The cursor names what is under it, also when the map is not to scale; a click does the same. */
static void cursor_and_mouse_pick_buffers(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    const struct map_window *w = x->states[VIEW_MAP];
    explorer_type(x, "<wait>4");
    for (int edges = 0; edges < 2; edges++) {
        explorer_type(x, "v");
        for (int row = 0; row < w->map.rows; row++) {
            char click[40];
            snprintf(click, sizeof click, "<Click:%d,%d>", w->map.row + row, w->map.column + 30);
            explorer_type(x, click);
            int32_t under = plan_index_at(&x->session.shown.index, x->session.selection.tick,
                                          x->session.selection.address);
            if (under >= 0) assert_int_equal(under, x->session.selection.buffer);
        }
    }
    explorer_type(x, "<WheelUp:10,30><WheelDown:10,30><Click:0,2>");
    close_it(x);
}

static void command_line_completes_and_remembers(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>:sol<Tab>");
    assert_string_equal(x->prompt.text, "solver ");
    explorer_type(x, "ex<Tab>");
    assert_string_equal(x->prompt.text, "solver exact ");
    explorer_type(x, "<Enter><wait>");
    assert_string_equal(session_plan(&x->session)->solver, "exact");
    explorer_type(x, ":<Up>");
    assert_string_equal(x->prompt.text, "solver exact ");
    explorer_type(x, "<C-u>theme d<Tab><Enter>");
    assert_string_equal(x->theme->name, "dark");
    explorer_type(x, ":nonsense<Enter>");
    assert_true(explorer_shows(x, "there is no \"nonsense\""));
    explorer_type(x, ":goto q<BS>ma<Tab>");
    assert_true(explorer_shows(x, "mask") && explorer_shows(x, "masked"));
    explorer_type(x, "<Esc>fq<Esc>"); /* a q in a filter does not quit */
    assert_false(x->quit);
    close_it(x);
}

static void search_goes_on_from_the_other_end(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>2gg/max<Enter>");
    int32_t first = x->session.selection.op;
    assert_string_equal(outcome_graph(&x->session.shown)->ops[first].name, "max");
    explorer_type(x, "n");
    assert_int_equal(x->session.selection.op, first);
    assert_true(explorer_shows(x, "1 of 1 with \"max\""));
    explorer_type(x, "/nowhere<Enter>");
    assert_true(explorer_shows(x, "\"nowhere\" was not found"));
    close_it(x);
}

static int64_t buffers_of_row(struct explorer *x, int row)
{
    const char *shown = view_item(x, VIEW_PATTERNS, row);
    for (size_t i = 0; i < x->session.patterns.count; i++)
        if (x->session.patterns.at[i].shown == shown) return x->session.patterns.at[i].facts.buffers;
    return -1;
}

static void patterns_sort_and_filter(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/targets", 24, 120);
    explorer_type(x, "<wait>fpeak");
    assert_int_equal(view_count(x, VIEW_PATTERNS), 1);
    explorer_type(x, "<Esc>");
    assert_true(view_count(x, VIEW_PATTERNS) > 1);
    explorer_type(x, ":sort buffers<Enter>r");
    for (int i = 1; i < view_count(x, VIEW_PATTERNS); i++)
        assert_true(buffers_of_row(x, i) <= buffers_of_row(x, i - 1));
    explorer_type(x, "P<wait>");
    for (size_t i = 0; i < x->session.patterns.count; i++) assert_true(x->session.patterns.at[i].last.known);
    close_it(x);
}

/* Errors and empty states say what to do next. */
static void empty_states_say_what_to_do(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/targets", 24, 80);
    explorer_type(x, "<wait>4");
    assert_true(explorer_shows(x, "Press 1 for the list"));
    explorer_type(x, "1fzzzz");
    assert_true(explorer_shows(x, "No pattern matches"));
    close_it(x);
    x = open_on(SOURCE_DIR "/patterns/errors/shape_mismatch.json", 24, 80);
    explorer_type(x, "<wait>");
    assert_true(explorer_shows(x, "shape_mismatch.json:") && explorer_shows(x, "press R"));
    close_it(x);
    x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>:cores 7<Enter><wait>2");
    assert_true(session_plan(&x->session) || explorer_shows(x, "u takes the last change back"));
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_agree),
        cmocka_unit_test(keys_are_read_as_they_are_written),
        cmocka_unit_test(grid_keeps_text_in_place),
        cmocka_unit_test(settings_are_typed_stepped_and_told),
        cmocka_unit_test(a_device_is_chosen),
        cmocka_unit_test(a_solver_is_given_less_work),
        cmocka_unit_test(changes_are_planned_and_taken_back),
        cmocka_unit_test(selection_is_shared),
        cmocka_unit_test(edges_are_followed),
        cmocka_unit_test(thin_buffers_never_vanish),
        cmocka_unit_test(holes_are_counted),
        cmocka_unit_test(cursor_and_mouse_pick_buffers),
        cmocka_unit_test(command_line_completes_and_remembers),
        cmocka_unit_test(search_goes_on_from_the_other_end),
        cmocka_unit_test(patterns_sort_and_filter),
        cmocka_unit_test(empty_states_say_what_to_do),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
