/* The explorer without a terminal: its table of requests, its grid, its session, its maps, whole flows by
 * keys, and a monkey. */
#include "tui/explorer.h"
#include "tui/raster.h"
#include "base/file.h"
#include "base/rng.h"

#include <cjson/cJSON.h>
#include <ftw.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { MONKEY_KEYS = 100000 };

static char folder[] = "/tmp/lxplan_test_explorer_XXXXXX";

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static int begin(void **state)
{
    (void)state;
    setlocale(LC_CTYPE, "C.UTF-8");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct explorer *open_on(const char *pattern, int rows, int columns)
{
    struct explorer *x = malloc(sizeof *x);
    struct what_if how;
    lx_status st;
    settings_default(&how);
    assert_non_null(x);
    assert_true(explorer_begin(x, &how, rows, columns));
    assert_true(session_add(&x->session, pattern, &st));
    if (x->session.patterns.count == 1) {
        session_open(&x->session, 0);
        x->view = VIEW_MAP;
    }
    return x;
}

static void close_it(struct explorer *x)
{
    explorer_end(x);
    free(x);
}

static void type(struct explorer *x, const char *keys)
{
    struct key k;
    lx_status st;
    while (key_parse(&keys, &k, &st)) {
        explorer_key(x, k);
        session_take_results(&x->session);
        explorer_draw(x);
    }
    assert_int_equal(st.code, LX_OK);
}

static bool shows(struct explorer *x, const char *words)
{
    struct text t = {0};
    explorer_draw(x);
    cells_to_text(&x->cells, &t);
    bool found = t.at && strstr(t.at, words);
    if (!found) print_message("looking for \"%s\" in:\n%s", words, t.at);
    text_free(&t);
    return found;
}

#define GQ  SOURCE_DIR "/patterns/graphs/gq_attention.json"
#define MOE SOURCE_DIR "/patterns/targets/moe_mlp.json"

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
    for (int v = 0; v < NUMBERED_VIEWS; v++) /* digits and the order of the views are the same thing */
        assert_int_equal(request_of_key((uint32_t)('1' + v), VIEW_MAP), REQ_PATTERNS + v);
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

/* Whatever a file is called: nothing leaves its cells, controls are shown as '?', wide characters have two.
 */
static void grid_keeps_text_in_place(void **state)
{
    (void)state;
    struct cells g = {0};
    struct text t = {0};
    assert_true(cells_resize(&g, 4, 10));
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
    assert_int_equal(w.value[SET_LX], 1 << 20);
    assert_false(settings_set(&w, SET_SOLVER, "exat", &st));
    assert_non_null(strstr(st.text, "exact"));
    assert_false(settings_set(&w, SET_CORES, "many", &st));
    assert_true(settings_set(&w, settings_find("evict"), "on", &st));
    settings_command(&w, "my file.json", &t);
    assert_string_equal(t.at, "lxplan plan 'my file.json' --solver exact --lx 1048576 --evict");
    text_free(&t);
    assert_true(settings_step(&w, SET_CORES, -1, 32));
    assert_int_equal(w.value[SET_CORES], 16);
    w.value[SET_CORES] = 1;
    assert_false(settings_step(&w, SET_CORES, -1, 32));
    for (int i = 0; i < settings_count(); i++) assert_true(settings_set(&w, i, "", &st));
    assert_true(settings_same(&w, &standard));
}

/* Changes make plans, undo takes them back; the selection stays on what had its name. */
static void changes_are_planned_and_taken_back(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE, 24, 80);
    struct session *s = &x->session;
    assert_true(session_is_stale(s));
    type(x, "<wait>");
    assert_false(session_is_stale(s));
    int64_t before = session_plan(s)->hbm_bytes;
    assert_true(session_goto(s, "gate_2"));
    type(x, ":lx 900k<Enter>");
    assert_true(session_is_stale(s)); /* and what is shown is the old one */
    type(x, "<wait>");
    assert_false(session_is_stale(s));
    assert_true(session_plan(s)->hbm_bytes > before);
    assert_string_equal(session_plan(s)->problem.buffers[s->buffer].name, "gate_2");
    type(x, "u<wait>");
    assert_int_equal(session_plan(s)->hbm_bytes, before);
    type(x, "<C-r><wait>");
    assert_true(session_plan(s)->hbm_bytes > before);
    type(x, "uu<wait>");
    assert_true(shows(x, "nothing to take back") || s->undo.count == 0);
    close_it(x);
}

/* A buffer selected in one view is selected in all. */
static void selection_is_shared(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    struct session *s = &x->session;
    type(x, "<wait>4:goto exp<Enter>");
    int32_t op = s->op;
    assert_string_equal(session_plan(s)->problem.buffers[s->buffer].name, "exp");
    assert_string_equal(outcome_graph(&s->shown)->ops[op].name, "exp");
    type(x, "2");
    assert_true(shows(x, "exp = exp"));
    type(x, "3");
    assert_true(shows(x, "exp = exp"));
    type(x, "j2k");
    assert_int_equal(s->op, op - 1);
    type(x, "4");
    assert_true(shows(x, "sub  "));
    close_it(x);
}

/* Followed edges: from an op to who made its first input. */
static void edges_are_followed(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    type(x, "<wait>2:goto exp<Enter><Enter>");
    assert_string_equal(outcome_graph(&x->session.shown)->ops[x->session.op].name, "sub");
    close_it(x);
}

/* No placed buffer vanishes from the map, however coarse it is. */
static void thin_buffers_never_vanish(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE, 24, 80);
    type(x, "<wait>");
    const struct outcome *o = &x->session.shown;
    const struct lx_plan *p = o->plan;
    for (int columns = 1; columns < 130; columns += 7)
        for (int rows = 1; rows < 60; rows += 9)
            for (int edges = 0; edges < 2; edges++) {
                struct raster r;
                assert_true(
                    raster_make(p, o->time.first, o->time.last, 0, picture_top(p), columns, rows, edges, &r));
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
    type(x, "<wait>");
    const struct lx_plan *p = session_plan(&x->session);
    for (int64_t t = x->session.shown.time.first; t < x->session.shown.time.last; t++) {
        struct holes h;
        int64_t used = timeline_most(&x->session.shown.time, t, t + 1);
        assert_true(holes_at(p, t, 0, &h));
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
    type(x, "<wait>4");
    for (int edges = 0; edges < 2; edges++) {
        type(x, "e");
        const struct lx_plan *p = session_plan(&x->session);
        for (int row = 0; row < x->map.map.rows; row++) {
            char click[40];
            snprintf(click, sizeof click, "<Click:%d,%d>", x->map.map.row + row, x->map.map.column + 30);
            type(x, click);
            int32_t under = buffer_at(p, x->session.tick, x->map.cursor_address);
            if (under >= 0) assert_int_equal(under, x->session.buffer);
        }
    }
    type(x, "<WheelUp:10,30><WheelDown:10,30><Click:0,2>");
    close_it(x);
}

static void command_line_completes_and_remembers(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    type(x, "<wait>:sol<Tab>");
    assert_string_equal(x->prompt.text, "solver ");
    type(x, "ex<Tab>");
    assert_string_equal(x->prompt.text, "solver exact ");
    type(x, "<Enter><wait>");
    assert_string_equal(session_plan(&x->session)->solver, "exact");
    type(x, ":<Up>");
    assert_string_equal(x->prompt.text, "solver exact ");
    type(x, "<C-u>theme d<Tab><Enter>");
    assert_string_equal(x->theme->name, "dark");
    type(x, ":nonsense<Enter>");
    assert_true(shows(x, "there is no \"nonsense\""));
    type(x, ":goto q<BS>ma<Tab>");
    assert_true(shows(x, "mask") && shows(x, "masked"));
    type(x, "<Esc>fq<Esc>"); /* a q in a filter does not quit */
    assert_false(x->quit);
    close_it(x);
}

static void search_goes_on_from_the_other_end(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    type(x, "<wait>2gg/max<Enter>");
    int32_t first = x->session.op;
    assert_string_equal(outcome_graph(&x->session.shown)->ops[first].name, "max");
    type(x, "n");
    assert_int_equal(x->session.op, first);
    assert_true(shows(x, "the only match"));
    type(x, "/nowhere<Enter>");
    assert_true(shows(x, "\"nowhere\" is not here"));
    close_it(x);
}

static void patterns_sort_and_filter(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/targets", 24, 120);
    type(x, "<wait>fmoe");
    assert_int_equal(x->patterns.count, 1);
    type(x, "<Esc>");
    assert_true(x->patterns.count > 1);
    type(x, ":sort buffers<Enter>r");
    const struct pattern *first = &x->session.patterns.at[x->patterns.shown[0]];
    for (int i = 1; i < x->patterns.count; i++)
        assert_true(x->session.patterns.at[x->patterns.shown[i]].facts.buffers <= first->facts.buffers);
    type(x, "P<wait>");
    for (size_t i = 0; i < x->session.patterns.count; i++) assert_true(x->session.patterns.at[i].last.known);
    close_it(x);
}

/* Errors and empty states say what to do next. */
static void empty_states_say_what_to_do(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/targets", 24, 80);
    type(x, "<wait>4");
    assert_true(shows(x, "Press 1 for the list"));
    type(x, "1fzzzz");
    assert_true(shows(x, "No pattern matches"));
    close_it(x);
    x = open_on(SOURCE_DIR "/patterns/errors/shape_mismatch.json", 24, 80);
    type(x, "<wait>");
    assert_true(shows(x, "shape_mismatch.json:") && shows(x, "press R"));
    close_it(x);
    x = open_on(GQ, 24, 80);
    type(x, "<wait>:cores 7<Enter><wait>2");
    assert_true(session_plan(&x->session) || shows(x, "u takes the last change back"));
    close_it(x);
}

/* Views, and a plan, as files. */
static void views_and_plans_are_written(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    lx_status st;
    size_t length;
    type(x,
         "<wait>:export map.svg<Enter>2:export graph.svg<Enter>:export graph.txt<Enter>:save p.json<Enter>");
    static const char *const files[] = {"map.svg", "graph.svg", "graph.txt"};
    static const char *const starts[] = {"<svg", "<svg", "[2 Graph]"};
    for (int i = 0; i < 3; i++) {
        char *text = file_read(files[i], &length, &st);
        assert_non_null(text);
        assert_non_null(strstr(text, starts[i]));
        free(text);
    }
    struct lx_plan *p = lx_plan_read("p.json", &st);
    assert_non_null(p);
    assert_true(lx_plan_check(p, &st));
    lx_plan_free(p);
    close_it(x);
    x = open_on("p.json", 24, 80); /* a plan file is looked at as it is, and planned anew when asked */
    type(x, "<wait>");
    assert_true(x->session.shown.was_read);
    type(x, ":solver greedy<Enter><wait>");
    assert_false(x->session.shown.was_read);
    assert_string_equal(session_plan(&x->session)->solver, "greedy");
    close_it(x);
}

static void races_finish_and_stop(void **state)
{
    (void)state;
    struct explorer *x = open_on(MOE, 40, 120);
    type(x, "<wait>5r<wait>");
    for (size_t i = 0; i < x->session.racers.count; i++)
        assert_non_null(x->session.racers.at[i].outcome.plan);
    assert_true(shows(x, "optimal"));
    type(x, "j<Space>jj:lx 800k<Enter><wait>");
    assert_true(shows(x, "of other settings"));
    type(x, "r.<wait>.<wait>");
    close_it(x);
}

/* The plan that is shown is executed; a change makes the run an old one; a row leads to its place in the map.
 */
static void plans_are_executed(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 100);
    type(x, "<wait>7");
    assert_true(shows(x, "r executes this plan"));
    type(x, "r<wait>");
    assert_non_null(x->session.run.result);
    assert_true(x->session.run.result->ok);
    assert_true(shows(x, "ok: no fault"));
    int64_t counted = x->session.run.result->total.hbm_read + x->session.run.result->total.hbm_written;
    assert_int_equal(counted, session_plan(&x->session)->hbm_bytes);
    type(x, "jjj");
    int32_t op = x->session.op;
    type(x, "<Enter>");
    assert_int_equal(x->view, VIEW_MAP);
    assert_int_equal(x->session.op, op);
    type(x, ":solver greedy<Enter><wait>7");
    assert_true(shows(x, "of another plan"));
    type(x, "r.<wait>r<wait>");
    assert_true(shows(x, "ok: no fault"));
    close_it(x);
    x = open_on(SOURCE_DIR "/patterns/targets/moe_mlp.json", 12, 40);
    type(x, "<wait>7r<wait>GgG");
    assert_true(x->session.run.result && x->session.run.result->ok);
    close_it(x);
}

/* A plan that somebody broke: the status says so, the device finds it, and the fault leads to its place. */
static void faults_lead_to_their_place(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 100);
    lx_status st;
    size_t length;
    type(x, "<wait>:save broken.json<Enter>");
    close_it(x);
    char *text = file_read("broken.json", &length, &st);
    cJSON *plan = cJSON_Parse(text), *buffer, *wanted = NULL, *over = NULL;
    cJSON_ArrayForEach(buffer, cJSON_GetObjectItem(plan, "buffers"))
    {
        const char *name = cJSON_GetObjectItem(buffer, "name")->valuestring;
        if (strcmp(name, "max") == 0) wanted = buffer;
        if (strcmp(name, "masked") == 0) over = buffer;
    }
    assert_true(wanted && over);
    cJSON_SetNumberValue(cJSON_GetObjectItem(wanted, "address"),
                         cJSON_GetObjectItem(over, "address")->valuedouble);
    free(text);
    text = cJSON_Print(plan);
    assert_true(file_write("broken.json", text, strlen(text), &st));
    free(text);
    cJSON_Delete(plan);
    x = open_on("broken.json", 24, 100);
    type(x, "<wait>");
    assert_true(shows(x, "NOT LEGAL"));
    type(x, "7r<wait>");
    assert_true(shows(x, "NOT ok") && shows(x, "overwrites"));
    type(x, "<Enter>");
    assert_int_equal(x->view, VIEW_MAP);
    assert_int_equal(x->session.tick, x->session.run.result->faults[0].tick);
    assert_int_equal(x->map.cursor_address, x->session.run.result->faults[0].address);
    assert_string_equal(session_plan(&x->session)->problem.buffers[x->session.buffer].name, "max");
    close_it(x);
}

/* One buffer, one colour: in the map, in its details, in the list of ops. */
static void colours_belong_to_buffers(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 120);
    x->theme = theme_find("dark");
    type(x, "<wait>4:goto exp<Enter>");
    int32_t identity = outcome_identity(&x->session.shown, x->session.buffer);
    uint8_t tone = tone_of_identity(identity);
    const struct map_window *w = &x->map;
    int in_map = 0;
    for (int r = w->map.row; r < w->map.row + w->map.rows; r++)
        for (int c = w->map.column; c < w->map.column + w->map.columns; c++) {
            const struct style *s = &x->cells.at[r * x->cells.columns + c].style;
            in_map += s->paper == tone || s->ink == tone;
        }
    assert_true(in_map > 20);
    type(x, "2");
    int row = x->graph.rows.row + x->graph.list.cursor - x->graph.list.top;
    assert_int_equal(x->cells.at[row * x->cells.columns + 7].style.ink, tone);
    assert_int_equal(x->cells.at[row * x->cells.columns + 7].style.paper, TONE_SELECTED);
    close_it(x);
}

/* Play goes tick by tick and stops at the last one. */
static void play_stops_at_the_end(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    type(x, "<wait>4g<Space>");
    assert_true(explorer_is_lively(x));
    int64_t last = x->session.shown.time.last - 1;
    for (int64_t t = x->session.tick; t < last; t++) {
        assert_int_equal(x->session.tick, t);
        type(x, "<Tick>");
    }
    type(x, "<Tick><Tick>");
    assert_int_equal(x->session.tick, last);
    assert_false(x->map.playing);
    close_it(x);
}

/* Every view at every size: nothing is written outside, nothing crashes, nothing is empty. */
static void every_view_at_every_size(void **state)
{
    (void)state;
    static const char *const patterns[] = {GQ, MOE, SOURCE_DIR "/patterns/targets/staircase.json"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        struct explorer *x = open_on(patterns[k], 24, 80);
        type(x, "<wait>5r<wait>7r<wait>8<wait>r<wait>");
        for (int rows = 1; rows <= 62; rows += rows < 14 ? 1 : 12)
            for (int columns = 1; columns <= 202; columns += columns < 14 ? 3 : 27)
                for (int v = 0; v < VIEW_COUNT; v++) {
                    x->view = v < NUMBERED_VIEWS ? (enum view_id)v : VIEW_MAP;
                    x->overlay = v < NUMBERED_VIEWS ? VIEW_COUNT : (enum view_id)v;
                    x->theme = &themes[(rows + columns) % 4];
                    x->glyphs = columns % 2 ? &glyphs_ascii : &glyphs_unicode;
                    explorer_key(x, (struct key){AT_RESIZE, rows, columns});
                    explorer_draw(x);
                    if (!x->glyphs->ascii) continue;
                    for (int i = 0; i < rows * columns; i++) assert_true(x->cells.at[i].code <= 0x7e);
                }
        close_it(x);
    }
}

/* A newcomer's walk with only what the screen says: why is a buffer of MoE MLP off chip, which solver brings
 * it on chip, save that plan. */
static void a_newcomer_finds_the_solver(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns", 40, 120);
    x->overlay = VIEW_WELCOME;
    assert_true(shows(x, "Open a pattern with <Enter>"));
    type(x, "<Enter><wait>");
    assert_true(shows(x, "/ search") && shows(x, "<Enter> open"));
    type(x, "/targets/moe<Enter><Enter><wait>");
    type(x, ":lx 850k<Enter>:solver greedy<Enter><wait>");
    assert_true(shows(x, "o off chip"));
    type(x, "o");
    if (x->session.shown.plan->problem.buffers[x->session.buffer].reason) type(x, "o");
    const char *name = session_plan(&x->session)->problem.buffers[x->session.buffer].name;
    char wanted[80];
    snprintf(wanted, sizeof wanted, "%s", name);
    assert_true(shows(x, "why: ") && shows(x, "which solver keeps it on chip"));
    type(x, "5r<wait>");
    assert_true(shows(x, wanted));
    int winner = -1;
    for (size_t i = 0; i < x->session.racers.count && winner < 0; i++) {
        const struct lx_plan *p = x->session.racers.at[i].outcome.plan;
        for (int32_t b = 0; b < p->problem.count; b++)
            if (strcmp(p->problem.buffers[b].name, wanted) == 0 && p->answer.address[b] >= 0) winner = (int)i;
    }
    assert_true(winner >= 0);
    for (int i = 0; i < winner; i++) type(x, "j");
    assert_true(shows(x, "<Enter> take this solver"));
    type(x, "<Enter><wait>W<Enter>");
    assert_true(shows(x, "saved; check it with: lxplan check moe_mlp.plan.json"));
    lx_status st;
    struct lx_plan *p = lx_plan_read("moe_mlp.plan.json", &st);
    assert_non_null(p);
    assert_true(lx_plan_check(p, &st));
    close_it(x);
    lx_plan_free(p);
}

/* Keys at random, mostly those that mean something, and sizes at random. */
static void the_monkey_finds_nothing(void **state)
{
    (void)state;
    static const char *const patterns[] = {SOURCE_DIR "/patterns/targets", GQ, MOE};
    struct rng rng = rng_seed(7);
    for (int round = 0; round < 3; round++) {
        struct explorer *x = open_on(patterns[round], 24, 80);
        for (int i = 0; i < MONKEY_KEYS / 3; i++) {
            struct key k = {.code = (uint32_t)rng_between(&rng, 1, 126)};
            uint64_t kind = rng_below(&rng, 100);
            if (kind < 60) { /* a key of the table */
                const char *keys = request_rows[rng_below(&rng, REQ_COUNT)].keys;
                lx_status st;
                if (*keys) key_parse(&keys, &k, &st);
            } else if (kind < 75)
                k.code = (uint32_t)rng_between(&rng, AT_UP, AT_F1);
            else if (kind < 78)
                k = (struct key){AT_RESIZE, (int)rng_between(&rng, 1, 60), (int)rng_between(&rng, 1, 200)};
            else if (kind < 84)
                k = (struct key){(uint32_t)rng_between(&rng, AT_CLICK, AT_WHEEL_DOWN),
                                 (int)rng_between(&rng, 0, 60), (int)rng_between(&rng, 0, 200)};
            else if (kind < 86)
                k.code = AT_TICK;
            else if (kind < 88)
                k.code = AT_ESCAPE;
            else if (kind == 99 && i % 20 == 0)
                k.code = (uint32_t)rng_between(&rng, 0x80, 0x3000);
            explorer_key(x, k);
            session_take_results(&x->session);
            if (i % 3 == 0) explorer_draw(x);
            x->quit = false;
        }
        close_it(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_agree),
        cmocka_unit_test(keys_are_read_as_they_are_written),
        cmocka_unit_test(grid_keeps_text_in_place),
        cmocka_unit_test(settings_are_typed_stepped_and_told),
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
        cmocka_unit_test(views_and_plans_are_written),
        cmocka_unit_test(races_finish_and_stop),
        cmocka_unit_test(plans_are_executed),
        cmocka_unit_test(faults_lead_to_their_place),
        cmocka_unit_test(colours_belong_to_buffers),
        cmocka_unit_test(play_stops_at_the_end),
        cmocka_unit_test(every_view_at_every_size),
        cmocka_unit_test(a_newcomer_finds_the_solver),
        cmocka_unit_test(the_monkey_finds_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
