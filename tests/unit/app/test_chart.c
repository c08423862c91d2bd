/* Charts on cells: lines are where the values are, axes have round numbers, ASCII stays ASCII, no size breaks it. */
#include "tui/draw/chart.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cells grid;

static struct scene scene_of(const struct glyphs *glyphs, const char *theme, int rows, int columns)
{
    cells_resize(&grid, rows, columns);
    cells_clear(&grid);
    grid.ascii = glyphs->ascii;
    return (struct scene){.cells = &grid, .theme = theme_find(theme), .glyphs = glyphs};
}

static uint32_t code_at(int row, int column)
{
    return grid.at[row * grid.columns + column].code;
}

static bool shows(const char *words)
{
    struct text t = {0};
    cells_to_text(&grid, &t);
    bool has = strstr(t.at, words) != NULL;
    text_free(&t);
    return has;
}

static bool is_braille(uint32_t code)
{
    return code > 0x2800 && code <= 0x28ff;
}

static const double xs[] = {0, 1, 2, 3, 4}, rising[] = {10, 20, 30, 40, 50}, level[] = {10, 10, 10, 10, 10};

static void a_line_goes_through_its_values(void **state)
{
    (void)state;
    struct scene on = scene_of(&glyphs_unicode, "dark", 14, 50);
    struct chart_series s = {.name = "best", .x = xs, .y = rising, .count = 5, .tone = TONE_GOOD};
    struct chart c = {.series = &s, .series_count = 1, .x = {.name = "time", .label = chart_seconds}};
    struct plot p = chart_draw(&on, (struct box){0, 0, 14, 50}, &c);
    int row, column;
    assert_true(p.box.rows > 5);
    for (int i = 0; i < 5; i++) {
        assert_true(plot_cell(&p, xs[i], rising[i], &row, &column));
        bool near = false; /* a value on the edge of a cell is in one of two */
        for (int r = row - 1; r <= row + 1; r++)
            for (int k = column - 1; k <= column + 1; k++)
                if (box_holds(&p.box, r, k)) near |= is_braille(code_at(r, k));
        assert_true(near);
    }
    assert_false(is_braille(code_at(p.box.row, p.box.column)));
    assert_true(shows("best"));
    assert_true(shows("time"));
    assert_true(shows("30"));
    assert_true(fabs(plot_x(&p, p.box.column) - 0) < 1e-9);
    assert_true(fabs(plot_x(&p, p.box.column + p.box.columns - 1) - 4) < 1e-9);
    assert_false(plot_cell(&p, 5, 20, &row, &column));
}

static int dotted(void)
{
    int n = 0;
    for (int i = 0; i < grid.rows * grid.columns; i++) n += is_braille(grid.at[i].code);
    return n;
}

static void dashes_have_gaps_and_gaps_are_kept(void **state)
{
    (void)state;
    struct chart_series s = {.x = xs, .y = rising, .count = 5, .tone = TONE_DIM};
    struct chart c = {.series = &s, .series_count = 1};
    struct scene on = scene_of(&glyphs_unicode, "dark", 20, 60);
    chart_draw(&on, (struct box){0, 0, 20, 60}, &c);
    int solid = dotted();
    double holed[] = {10, NAN, NAN, 40, 50};
    s.y = holed;
    on = scene_of(&glyphs_unicode, "dark", 20, 60);
    chart_draw(&on, (struct box){0, 0, 20, 60}, &c);
    assert_true(dotted() < solid / 2);
    s.y = level, s.dashed = true, c.y.from = 0, c.y.to = 20;
    on = scene_of(&glyphs_unicode, "dark", 20, 60);
    struct plot p = chart_draw(&on, (struct box){0, 0, 20, 60}, &c);
    assert_true(dotted() > p.box.columns / 2);
    assert_true(dotted() < p.box.columns);
}

static void without_a_font_or_colours_lines_have_letters(void **state)
{
    (void)state;
    struct chart_series s[] = {{.name = "auto", .x = xs, .y = rising, .count = 5},
                               {.name = "anneal", .x = xs, .y = level, .count = 5},
                               {.name = "bound", .x = xs, .y = level, .count = 5, .dashed = true}};
    struct chart c = {.series = s, .series_count = 3};
    struct scene on = scene_of(&glyphs_ascii, "mono", 14, 60);
    chart_draw(&on, (struct box){0, 0, 14, 60}, &c);
    for (int i = 0; i < grid.rows * grid.columns; i++) assert_true(grid.at[i].code < 0x7f);
    assert_true(shows("aa auto"));
    assert_true(shows("nn anneal"));
    assert_true(shows("-- bound"));
    assert_true(shows("nnnnn"));
    on = scene_of(&glyphs_unicode, "mono", 14, 60);
    chart_draw(&on, (struct box){0, 0, 14, 60}, &c);
    assert_int_equal(dotted(), 0);
    assert_true(shows("nnnnn"));
    c.series_count = 1; /* one line needs none */
    on = scene_of(&glyphs_unicode, "mono", 14, 60);
    chart_draw(&on, (struct box){0, 0, 14, 60}, &c);
    assert_true(dotted() > 0);
}

static void logarithms_have_round_ticks(void **state)
{
    (void)state;
    double x[] = {16384, 65536, 2097152}, y[] = {1e3, 1e6, 1e9};
    static const double ticks[] = {16384, 131072, 1048576};
    struct chart_series s = {.name = "t", .x = x, .y = y, .count = 3, .tone = TONE_ID0};
    struct chart_mark knee = {65536, "from 64 KiB nothing spills"};
    struct chart c = {.series = &s,
                      .series_count = 1,
                      .x = {.log = true, .label = chart_bytes, .ticks = ticks, .tick_count = 3},
                      .y = {.log = true},
                      .marks = &knee,
                      .mark_count = 1};
    struct scene on = scene_of(&glyphs_unicode, "dark", 16, 80);
    struct plot p = chart_draw(&on, (struct box){0, 0, 16, 80}, &c);
    int row, column;
    assert_true(plot_cell(&p, 65536, 1e6, &row, &column));
    assert_true(abs(row - (p.box.row + p.box.rows / 2)) <= 1);
    assert_true(shows("128 KiB"));
    assert_true(shows("1 M"));
    assert_true(shows("from 64 KiB nothing spills"));
}

static void any_size_and_any_data_will_do(void **state)
{
    (void)state;
    static const double odd[][5] = {{0, 0, 0, 0, 0},
                                    {-5, 3, INFINITY, -INFINITY, NAN},
                                    {1e300, -1e300, 1, 0, 0},
                                    {9e15, 9e15, 9e15, 9e15, 9e15}};
    for (int rows = 0; rows < 24; rows++)
        for (int columns = 0; columns < 90; columns += 7)
            for (int k = 0; k < 8; k++) {
                struct scene on = scene_of(k & 1 ? &glyphs_ascii : &glyphs_unicode, "dark", 24, 80);
                struct chart_series s[] = {{.name = "a", .x = xs, .y = odd[k / 2], .count = 5},
                                           {.name = "p", .x = xs, .y = rising, .count = 5, .points = true},
                                           {.name = "none", .x = xs, .y = rising, .count = 0}};
                struct chart c = {.series = s, .series_count = 3, .y = {.log = (k & 2) != 0}};
                chart_draw(&on, (struct box){1, 2, rows, columns}, &c);
            }
    cells_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_goes_through_its_values),
        cmocka_unit_test(dashes_have_gaps_and_gaps_are_kept),
        cmocka_unit_test(without_a_font_or_colours_lines_have_letters),
        cmocka_unit_test(logarithms_have_round_ticks),
        cmocka_unit_test(any_size_and_any_data_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
