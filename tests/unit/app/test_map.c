/* The map: what cells hold against what lives in them, columns against ticks, pools, shades, blocks; and the explorer's
 * cursor, window and keys on it. */
#include "support/explorer_by_keys.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/memory.h"
#include "tui/map/map_window.h"
#include "tui/map/paint_map.h"

#include <math.h>

#define POOLS  SOURCE_DIR "/patterns/lists/two_pools.json"
#define TIGHT  SOURCE_DIR "/patterns/targets/moe_mlp.json"
#define ATTEND SOURCE_DIR "/patterns/graphs/gq_attention.json"

static struct lx_plan *plan_of(const char *path, const char *solver)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    struct lx_plan_options how = {.solver = lx_solver_find(solver), .run = {.work_limit = 2000}};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    lx_graph_free(g);
    return p;
}

static struct raster_view random_view(struct rng *r, const struct plan_index *x)
{
    struct raster_view v = {.from_tick = x->first, .to_tick = x->last, .to_address = x->bands.top};
    if (rng_below(r, 2)) {
        v.from_tick = rng_between(r, x->first, x->last - 1);
        v.to_tick = rng_between(r, v.from_tick + 1, x->last);
    }
    v.columns = (int)rng_between(r, 1, 90);
    v.down = (int)rng_between(r, 1, 2);
    v.rows = v.down * (int)rng_between(r, 4, 40);
    v.across = (int)rng_between(r, 1, 2);
    v.by_edges = rng_below(r, 2);
    v.by_events = rng_below(r, 2);
    if (v.by_events) { /* windows of events begin and end with one */
        v.from_tick = x->event[min_i64(plan_index_event(x, v.from_tick), x->event_count - 2)];
        v.to_tick =
            x->event[plan_index_event(x, v.from_tick) + 1 +
                     (int32_t)rng_below(r, 9) % (x->event_count - 1 - plan_index_event(x, v.from_tick))];
    }
    return v;
}

/* Who is in a cell, counted life by life. */
static void expect_cell(const struct raster *r, int row, int column)
{
    const struct plan_index *x = r->index;
    const struct raster_cell *cell = raster_at(r, row, column);
    int32_t one = -1, other = -1, buffers = 0;
    for (int32_t i = 0; i < x->count; i++) {
        const struct placed *l = &x->lives[i];
        int left, right, low, high;
        bool thin;
        if (!scale_cells(&r->time, l->start, l->end, &left, &right, &thin) || column < left || column > right)
            continue;
        if (!scale_cells(&r->address, l->place, l->place + l->size, &low, &high, &thin)) continue;
        int y = r->address.cells - 1 - row;
        if (y < low || y > high || l->buffer == one || l->buffer == other) continue;
        buffers++;
        if (one < 0)
            one = l->buffer;
        else
            other = l->buffer;
    }
    const int32_t *slot = x->plan->took_slot_of;
    if (buffers == 0)
        assert_true(cell->state == CELL_FREE || cell->state == CELL_RESERVED || cell->state == CELL_HEADING);
    if (buffers == 1) assert_true(cell->state == CELL_ONE && cell->owner == one);
    if (buffers > 2) assert_int_equal(cell->state, CELL_MANY);
    if (buffers == 2 && slot[one] == other) assert_true(cell->state == CELL_HANDOVER && cell->owner == one);
    if (buffers == 2 && slot[other] == one) assert_true(cell->state == CELL_HANDOVER && cell->owner == other);
    if (buffers == 2 && slot[one] != other && slot[other] != one) assert_int_equal(cell->state, CELL_MANY);
}

static void cells_hold_what_lives_there(void **state)
{
    (void)state;
    static const char *const files[] = {POOLS, TIGHT, ATTEND};
    struct rng rng = rng_seed(3);
    for (int f = 0; f < 3; f++) {
        struct lx_plan *p = plan_of(files[f], "firstfit");
        struct plan_index x;
        plan_index_make(p, &x);
        for (int round = 0; round < 12; round++) {
            struct raster_view v = random_view(&rng, &x);
            struct raster r;
            raster_make(&x, &v, &r);
            for (int row = 0; row < r.address.cells; row++)
                for (int c = 0; c < r.time.cells; c++) expect_cell(&r, row, c);
            raster_free(&r);
        }
        plan_index_free(&x);
        lx_plan_free(p);
    }
}

/* A tick that has columns of its own has the same ones in every part of the picture, and no tick is in none. */
static void columns_and_ticks_agree(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(TIGHT, "firstfit");
    struct plan_index x;
    struct rng rng = rng_seed(9);
    plan_index_make(p, &x);
    for (int round = 0; round < 300; round++) {
        struct raster_view v = random_view(&rng, &x);
        struct raster r;
        v.by_edges = false;
        raster_make(&x, &v, &r);
        int64_t behind = v.from_tick;
        for (int c = 0; c < raster_width(&r); c++) {
            int64_t from, to;
            int first, last;
            raster_ticks(&r, c, &from, &to);
            assert_true(from < to && from >= v.from_tick && to <= v.to_tick);
            assert_true(from <= behind); /* nothing is left out between two columns */
            behind = max_i64(behind, to);
            if (v.to_tick - v.from_tick > v.columns) continue;
            assert_int_equal(to - from, v.by_events ? to - from : 1);
            assert_true(raster_columns(&r, from, to, &first, &last));
            assert_true(first <= c && c <= last);
        }
        assert_int_equal(behind, v.to_tick);
        raster_free(&r);
    }
    plan_index_free(&x);
    lx_plan_free(p);
}

/* The share of a cell that is covered, life by life. */
static double covered(const struct raster *r, int row, int column, int across, int down)
{
    const struct plan_index *x = r->index;
    double sum = 0;
    for (int32_t i = 0; i < x->count; i++) {
        const struct placed *l = &x->lives[i];
        if (l->end <= r->time.from || l->start >= r->time.to) continue;
        double a = scale_place(&r->time, max_i64(l->start, r->time.from)) / across,
               b = scale_place(&r->time, min_i64(l->end, r->time.to)) / across,
               low = (r->address.cells - scale_place(&r->address, l->place + l->size)) / down,
               high = (r->address.cells - scale_place(&r->address, l->place)) / down;
        sum += fmax(fmin(b, column + 1) - fmax(a, column), 0) * fmax(fmin(high, row + 1) - fmax(low, row), 0);
    }
    return fmin(sum, 1);
}

static void shades_are_shares(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(TIGHT, "firstfit");
    struct plan_index x;
    struct rng rng = rng_seed(4);
    plan_index_make(p, &x);
    for (int round = 0; round < 20; round++) {
        struct raster_view v = random_view(&rng, &x);
        struct raster r;
        struct heat h;
        raster_make(&x, &v, &r);
        for (enum heat_kind kind = 0; kind < HEAT_COUNT; kind++) {
            heat_make(&r, kind, v.across, v.down, &h);
            for (int i = 0; i < h.rows * h.columns; i++) {
                assert_true(h.at[i] >= 0 && h.at[i] <= 1);
                if (kind == HEAT_OCCUPANCY)
                    assert_true(fabs((double)h.at[i] -
                                     covered(&r, i / h.columns, i % h.columns, v.across, v.down)) < 1e-3);
            }
            heat_free(&h);
        }
        raster_free(&r);
    }
    plan_index_free(&x);
    lx_plan_free(p);
}

/* Bands of pools do not meet; between its lives a buffer is not drawn, and reserved bytes are. */
static void pools_have_bands(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(POOLS, "bestfit");
    struct plan_index x;
    plan_index_make(p, &x);
    assert_int_equal(x.bands.count, 2);
    for (int32_t i = 0; i < x.count; i++) {
        int64_t address, last;
        int32_t pool = lx_pool_of(p, x.lives[i].buffer);
        assert_int_equal(bands_pool(&x.bands, x.lives[i].place, &address), pool);
        assert_int_equal(bands_pool(&x.bands, x.lives[i].place + x.lives[i].size - 1, &last), pool);
        assert_int_equal(address, p->answer.address[x.lives[i].buffer]);
        for (int64_t tick = x.first; tick < x.last; tick++) {
            const struct lx_buffer *b = &p->problem.buffers[x.lives[i].buffer];
            if (!lx_is_alive(b, tick))
                assert_int_not_equal(plan_index_at(&x, tick, x.lives[i].place), x.lives[i].buffer);
        }
    }
    plan_index_free(&x);
    struct text map = {0}, drawing = {0};
    struct picture how = {.width = 80, .height = 20, .ascii = true};
    show_text(p, &how, &map);
    show_svg(p, &(struct picture){0}, &drawing);
    static const char *const words[] = {"fast, 256 B", "slow, 512 B", "\\\\\\\\", "0..2 4..6"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) assert_non_null(strstr(map.at, words[i]));
    assert_non_null(strstr(drawing.at, "class=\"pool\""));
    assert_non_null(strstr(drawing.at, "url(#reserved)"));
    text_free(&map);
    text_free(&drawing);
    lx_plan_free(p);
}

/* The n-th text of a class, up to the end of its tag's content. */
static const char *svg_text(const char *svg, const char *class, int n)
{
    for (; svg && n >= 0; n--) svg = strstr(svg + 1, class);
    const char *begin = svg ? strchr(svg, '>') : NULL;
    return begin ? begin + 1 : "";
}

/* Ticks are named by the ops of the plan, which may have more than the pattern; no name is a letter and a mark; all stays
 * of a tensor have one colour. */
static void drawings_name_what_runs(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(ATTEND, "firstfit");
    struct text t = {0};
    const struct lx_graph *g = p->layouts->graph;
    show_svg(p, &(struct picture){0}, &t);
    assert_string_not_equal(g->ops[0].name, p->graph->ops[0].name);
    for (int32_t i = 0; i < g->op_count; i++) {
        char *name = printable(g->ops[i].name, 16);
        assert_int_equal(strncmp(svg_text(t.at, "class=\"op\"", i), name, strlen(name)), 0);
        mem_free(name);
    }
    for (const char *s = t.at; (s = strstr(s, "class=\"name\"")); s++) {
        const char *words = strchr(s, '>') + 1, *mark = strchr(words, '~'), *end = strchr(words, '<');
        if (mark && mark < end) assert_true(end - words >= 4);
    }
    text_free(&t);
    lx_plan_free(p);
}

/* Of 200 ops, as many have names as can be read. */
static void many_ops_have_names(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(SOURCE_DIR "/patterns/graphs/moe_mlp.json", "firstfit");
    struct text t = {0};
    int names = 0;
    assert_true(p->layouts->graph->op_count > 40);
    show_svg(p, &(struct picture){0}, &t);
    for (const char *s = t.at; (s = strstr(s, "class=\"op\"")); s++) names++;
    assert_true(names > 30 && names <= p->layouts->graph->op_count);
    text_free(&t);
    lx_plan_free(p);
}

static void names_lose_their_middle(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int columns;
        const char *cut;
    } rows[] = {{"layer.12.attn.q", 9, "laye~tn.q"},
                {"short", 5, "short"},
                {"abcdef", 1, "~"},
                {"abcdef", 2, "a~"},
                {"\xc3\xa9t\xc3\xa9 zero\xe2\x80\x8bwidth", 14, "\xc3\xa9t\xc3\xa9 zero?width"},
                {"e\xcc\x81"
                 "e\xcc\x81"
                 "e\xcc\x81"
                 "e\xcc\x81"
                 "e\xcc\x81",
                 5,
                 "e\xcc\x81"
                 "e\xcc\x81"
                 "e\xcc\x81"
                 "e\xcc\x81"
                 "e\xcc\x81"},
                {"\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 5, "\xe4\xb8\xad~\xe4\xb8\xad"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *cut = printable(rows[i].name, rows[i].columns);
        assert_string_equal(cut, rows[i].cut);
        assert_true(columns_of(cut) <= rows[i].columns);
        mem_free(cut);
    }
    assert_int_equal(columns_of("\xc3\xa9t\xc3\xa9 zero\xe2\x80\x8bwidth"), 14);
}

/* A block has its tone's paper as colour, so that one buffer has one colour; two tones of four are kept. */
static void blocks_have_one_colour(void **state)
{
    (void)state;
    struct cells g = {0};
    cells_resize(&g, 1, 1);
    for (const struct theme *t = themes; t->name; t++) {
        if (t->letters) continue;
        static const uint8_t tones[][4] = {{TONE_ID0, TONE_ID1, TONE_ID0, TONE_ID1},
                                           {TONE_PLAIN, TONE_ID3, TONE_PLAIN, TONE_PLAIN},
                                           {TONE_ID0, TONE_ID1, TONE_PICK, TONE_ID2}};
        for (size_t i = 0; i < sizeof tones / sizeof *tones; i++) {
            put_blocks(&g, t, &glyphs_unicode, 0, 0, tones[i]);
            struct style s = g.at[0].style;
            assert_int_equal(look_ink(t, s), t->look[s.ink].paper);
            assert_true(look_ink(t, s) >= 0);
        }
        assert_int_equal(g.at[0].style.ink, TONE_PICK); /* what is picked is never lost */
    }
    cells_free(&g);
}

static double luminance(uint32_t rgb)
{
    double sum = 0, share[] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++) {
        double v = (double)(rgb >> (16 - 8 * i) & 255) / 255;
        sum += share[i] * (v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* Words can be read on the bars, shades grow (or, on light paper, fall) with what they stand for, and nothing is as
 * bright as what is picked in the dark. */
static void colours_can_be_told_apart(void **state)
{
    (void)state;
    static const uint8_t inks[] = {TONE_BAR, TONE_GOOD, TONE_BAD, TONE_WARN, TONE_KEY};
    for (const struct theme *t = themes; t->name; t++) {
        if (t->letters) continue;
        double paper = luminance(palette_rgb(t->look[TONE_BAR].paper));
        for (size_t i = 0; i < sizeof inks; i++) {
            double ink = luminance(palette_rgb(t->look[inks[i]].ink));
            double ratio = (fmax(ink, paper) + 0.05) / (fmin(ink, paper) + 0.05);
            if (ratio < 3)
                fail_msg("theme %s: ink %d on the bar has a contrast of %.1f", t->name, (int)inks[i], ratio);
        }
        for (int i = 0; i < IDENTITIES; i++)
            if (strcmp(t->name, "dark") == 0)
                assert_true(luminance(palette_rgb(t->look[TONE_PICK].paper)) >
                            luminance(palette_rgb(t->look[TONE_ID0 + i].paper)));
    }
}

/* A drawing of the screen has one rectangle per run of a colour, and no seams. */
static void exported_screens_have_no_seams(void **state)
{
    (void)state;
    struct explorer *x = open_on(TIGHT, 24, 80);
    struct text t = {0};
    x->theme = theme_find("dark");
    explorer_type(x, "<wait>4");
    explorer_draw(x);
    cells_to_svg(&x->cells, x->theme, &t);
    int rects = 0;
    for (const char *s = t.at; (s = strstr(s, "<rect")); s++) rects++;
    assert_non_null(strstr(t.at, "crispEdges"));
    assert_true(rects > 20 && rects < 24 * 80 / 2);
    text_free(&t);
    close_it(x);
}

/* The cursor is on the selected buffer from the start, and where another view selects one; moving selects; what was found
 * is in the middle; a hole has no buffer lit. */
static void cursor_and_selection_are_one(void **state)
{
    (void)state;
    struct explorer *x = open_on(TIGHT, 24, 80);
    const struct selection *at = &x->session.selection;
    const struct plan_index *index = &x->session.shown.index;
    const struct map_window *w = x->states[VIEW_MAP];
    explorer_type(x, "<wait>4:goto hidden<Enter>");
    assert_int_equal(plan_index_at(index, at->tick, at->address), at->buffer);
    explorer_type(x, "2:goto up_1<Enter>4");
    assert_int_equal(plan_index_at(index, at->tick, at->address), at->buffer);
    for (const char *keys = "lllljjjjhhkkkkl"; *keys; keys++) {
        explorer_type(x, (char[]){*keys, 0});
        int32_t under = plan_index_at(index, at->tick, at->address);
        assert_true(under == at->buffer || (under < 0 && map_window_on_hole(&x->session)));
    }
    explorer_type(x, ":goto up_1<Enter>++:goto swiglu_0<Enter>:goto up_1<Enter>");
    int64_t span = w->to_tick - w->from_tick;
    assert_true(llabs(at->tick - w->from_tick - span / 2) <= span / 4 + 1);
    assert_true(at->address > w->from_address && at->address < w->to_address);
    close_it(x);
}

/* Sparse time has a column per event by itself, V asks for the other scale, and a zoomed map says which part it is. */
static void sparse_time_goes_by_events(void **state)
{
    (void)state;
    static const char list[] =
        "id,lower,upper,size\na,0,100000,64\nb,100000,100007,128\nc,100003,900000,64\nd,5,7,64\n";
    lx_status st;
    assert_true(file_write("sparse.1024.csv", list, strlen(list), &st));
    struct explorer *x = open_on("sparse.1024.csv", 24, 80);
    const struct map_window *w = x->states[VIEW_MAP];
    explorer_type(x, "<wait>4");
    assert_true(x->session.shown.index.sparse && map_window_by_events(w, &x->session));
    assert_true(explorer_shows(x, "events") && explorer_shows(x, "100003") && !explorer_shows(x, "━"));
    explorer_type(x, "V");
    assert_false(map_window_by_events(w, &x->session));
    explorer_type(x, "V>>");
    assert_true(map_window_by_events(w, &x->session) && w->to_tick - w->from_tick < 900000);
    assert_true(explorer_shows(x, "━"));
    close_it(x);
    x = open_on(ATTEND, 24, 80);
    explorer_type(x, "<wait>4");
    assert_false(x->session.shown.index.sparse);
    close_it(x);
}

/* d goes through what dense cells are shaded by, and round. */
static void shades_are_chosen(void **state)
{
    (void)state;
    struct explorer *x = open_on(TIGHT, 24, 80);
    const struct map_window *w = x->states[VIEW_MAP];
    explorer_type(x, "<wait>4");
    for (int i = 1; i <= HEAT_COUNT; i++) {
        explorer_type(x, "d");
        assert_int_equal(w->heat, i % HEAT_COUNT);
        assert_true(explorer_shows(x, heat_names[i % HEAT_COUNT]));
    }
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_what_lives_there),
        cmocka_unit_test(columns_and_ticks_agree),
        cmocka_unit_test(shades_are_shares),
        cmocka_unit_test(pools_have_bands),
        cmocka_unit_test(drawings_name_what_runs),
        cmocka_unit_test(many_ops_have_names),
        cmocka_unit_test(names_lose_their_middle),
        cmocka_unit_test(blocks_have_one_colour),
        cmocka_unit_test(colours_can_be_told_apart),
        cmocka_unit_test(exported_screens_have_no_seams),
        cmocka_unit_test(cursor_and_selection_are_one),
        cmocka_unit_test(sparse_time_goes_by_events),
        cmocka_unit_test(shades_are_chosen),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
