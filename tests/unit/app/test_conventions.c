/* What people expect of any program like this: the way back, position marks, counted matches, proposals that typing
 * replaces, files that are not replaced unasked, a footer that can be clicked. */
#include "base/file.h"
#include "base/memory.h"
#include "support/explorer_by_keys.h"
#include "support/sampled.h"

#include <glob.h>

#define GRAPHS SOURCE_DIR "/patterns/graphs"

static void first_match_under_the_cursor_counts(void **state)
{
    (void)state;
    struct explorer *x = open_on(GRAPHS, 24, 80);
    explorer_type(x, "<wait>/gq_a<Enter>");
    assert_true(explorer_shows(x, "1 of 1 with \"gq_a\""));
    assert_int_equal(view_selected(x, VIEW_PATTERNS), 5);
    explorer_type(x, "/softmax<Enter>");
    assert_true(explorer_shows(x, "1 of 2 with \"softmax\""));
    explorer_type(x, "n");
    assert_true(explorer_shows(x, "2 of 2 with \"softmax\""));
    explorer_type(x, "n");
    assert_true(explorer_shows(x, "1 of 2 with \"softmax\", wrapped around"));
    explorer_type(x, "N");
    assert_true(explorer_shows(x, "2 of 2"));
    close_it(x);
}

static int count_graphs(void)
{
    glob_t found;
    assert_int_equal(glob(GRAPHS "/*.json", 0, NULL, &found), 0);
    int count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

static void place_and_filter_are_shown(void **state)
{
    (void)state;
    char place[40], some[40];
    snprintf(place, sizeof place, "3/%d", count_graphs());
    snprintf(some, sizeof some, "2 of %d patterns", count_graphs());
    struct explorer *x = open_on(GRAPHS, 24, 80);
    explorer_type(x, "<wait>jj");
    assert_true(explorer_shows(x, place));
    explorer_type(x, "fsoft<Enter>");
    assert_true(explorer_shows(x, "filter soft  2/2"));
    assert_true(explorer_shows(x, some));
    explorer_type(x, "<Esc>fzzz<Enter>");
    assert_true(explorer_shows(x, "filter zzz  0/0"));
    explorer_type(x, "<Esc>");
    assert_false(explorer_shows(x, "filter zzz"));
    close_it(x);
}

static void one_goes_back_to_places(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>2gjj");
    int32_t op = x->session.selection.op;
    explorer_type(x, ":goto y<Enter>4");
    assert_int_not_equal(x->session.selection.op, op);
    explorer_type(x, "<C-o>");
    assert_int_equal(x->view, VIEW_GRAPH);
    explorer_type(x, "<C-o>");
    assert_int_equal(x->view, VIEW_GRAPH);
    assert_int_equal(x->session.selection.op, op);
    explorer_type(x, "<C-o>");
    assert_int_equal(x->view, VIEW_MAP);
    explorer_type(x, "<C-o>");
    assert_true(explorer_shows(x, "no previous place"));
    close_it(x);
}

static void a_hundred_places_are_kept(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>");
    for (int i = 0; i < MOST_PLACES; i++) explorer_type(x, "24");
    assert_int_equal(x->place_count, MOST_PLACES);
    for (int i = 0; i < MOST_PLACES; i++) explorer_type(x, "<C-o>");
    assert_int_equal(x->place_count, 0);
    close_it(x);
}

static void typing_replaces_a_proposed_name(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>W");
    assert_string_equal(x->prompt.text, "save gq_attention.plan.json");
    explorer_type(x, "mine.json");
    assert_string_equal(x->prompt.text, "save mine.json");
    explorer_type(x, "<C-u>");
    assert_string_equal(x->prompt.text, "save ");
    explorer_type(x, "<C-u>");
    assert_string_equal(x->prompt.text, "");
    explorer_type(x, "<Esc>E<End>x"); /* whoever moves the cursor edits the proposal */
    assert_string_equal(x->prompt.text, "export gq_attention.svgx");
    explorer_type(x, "<Esc>");
    close_it(x);
}

static void files_are_replaced_when_asked_twice(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>:save here.json<Enter>");
    assert_true(explorer_shows(x, "saved; check it with"));
    explorer_type(x, ":save here.json<Enter>");
    assert_true(explorer_shows(x, "exists; <Enter> again replaces it"));
    explorer_type(x, "<Enter>");
    assert_true(explorer_shows(x, "saved; check it with"));
    explorer_type(x, ":save here.json<Enter><Esc>:export here.json<Enter>"); /* another question in between */
    assert_false(explorer_shows(x, "here.json written"));
    explorer_type(x, "<Esc>:export page.html<Enter>");
    assert_true(explorer_shows(x, "page.html written"));
    lx_status st;
    size_t length;
    char *page = file_read("page.html", &length, &st);
    assert_non_null(page);
    assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15),
                     0); /* the plan's page, and not a screen of that name */
    mem_free(page);
    close_it(x);
}

static void the_footer_can_be_clicked(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    char click[40];
    explorer_type(x, "<wait>2");
    for (int i = 0; i < x->footer_count; i++) {
        if (x->footer[i].request != REQ_FILTER) continue;
        snprintf(click, sizeof click, "<Click:23,%d>", x->footer[i].from);
        explorer_type(x, click);
        assert_int_equal(x->prompt.lead, 'f');
        explorer_type(x, "<Esc>");
        break;
    }
    snprintf(click, sizeof click, "<Click:23,%d>", x->footer[x->footer_count - 1].to - 1);
    explorer_type(x, click);
    assert_int_equal(x->overlay, VIEW_HELP);
    close_it(x);
}

/* The footer offers what the key does on the row. */
static void compare_offers_what_enter_does(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/graphs/moe_mlp.json", 24, 120);
    explorer_type(x, "<wait>:lx 60k<Enter><wait>p<wait>5g");
    assert_false(explorer_shows(x, "use this solver"));
    assert_true(x->session.selection.buffer >= 0);
    explorer_type(x, "j");
    assert_false(explorer_shows(x, "use this solver")); /* A is only kept */
    explorer_type(x, "jj");
    assert_true(explorer_shows(x, "<Enter> use this solver"));
    close_it(x);
}

/* A page is another page: its first line is the last of the one before. */
static void space_turns_the_page(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>?");
    struct list *l = x->states[VIEW_HELP];
    int rows = l->rows.rows;
    explorer_type(x, "<Space>");
    assert_int_equal(l->top, rows - 1);
    explorer_type(x, "<Space>");
    assert_int_equal(l->top, 2 * (rows - 1));
    explorer_type(x, "bb");
    assert_int_equal(l->top, 0);
    close_it(x);
}

static void help_is_paged_and_whole(void **state)
{
    (void)state;
    static const int sizes[][2] = {{24, 80}, {40, 120}, {60, 200}, {12, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct explorer *x = open_on(GQ, sizes[i][0], sizes[i][1]);
        explorer_type(x, "<wait>?");
        struct list *l = x->states[VIEW_HELP];
        for (int n = view_count(x, VIEW_HELP), at = -1; l->cursor < n - 1 && l->cursor != at;) {
            struct text screen = {0};
            at = l->cursor;
            explorer_draw(x);
            cells_to_text(&x->cells, &screen);
            for (const char *row = screen.at; sizes[i][1] >= 80 && row && *row; row = strchr(row, '\n') + 1) {
                const char *end = strchr(row, '\n'), *cut = memmem(row, (size_t)(end - row), "~ │", 5);
                if (cut) fail_msg("a description is cut: %.*s", (int)(end - row), row);
            }
            text_free(&screen);
            explorer_type(x, "<Space>");
        }
        assert_int_equal(l->cursor, view_count(x, VIEW_HELP) - 1);
        explorer_type(x, "b");
        assert_int_not_equal(l->cursor, view_count(x, VIEW_HELP) - 1);
        close_it(x);
    }
}

/* Names are whole before any other column appears. */
static void names_come_first(void **state)
{
    (void)state;
    for (int columns = 60; columns <= 200; columns += SAMPLED ? 14 : 1) {
        struct explorer *x = open_on(SOURCE_DIR "/patterns", 60, columns);
        explorer_type(x, "<wait>fshowcase<Enter>");
        assert_true(explorer_shows(x, "showcase/attention_tight.json"));
        explorer_type(x, "<Esc>fgraphs<Enter>");
        assert_true(explorer_shows(x, "graphs/transformer_block.json"));
        close_it(x);
    }
}

static void equal_names_are_told_apart(void **state)
{
    (void)state;
    struct explorer *x = open_on(SOURCE_DIR "/patterns/graphs/moe_mlp.json", 24, 80);
    lx_status st;
    assert_true(session_add(&x->session, SOURCE_DIR "/patterns/targets/moe_mlp.json", &st));
    assert_true(session_add(&x->session, GQ, &st));
    explorer_type(x, "<wait>1");
    assert_true(explorer_shows(x, "graphs/moe_mlp.json"));
    assert_true(explorer_shows(x, "targets/moe_mlp.json"));
    assert_string_equal(x->session.patterns.at[2].shown, "gq_attention.json");
    close_it(x);
}

/* The first screen of all is whole at 80 x 24, and names the patterns to begin with. */
static void welcome_is_whole(void **state)
{
    (void)state;
    static const int sizes[][2] = {{24, 80}, {40, 120}, {60, 200}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct explorer *x = open_on(GQ, sizes[i][0], sizes[i][1]);
        explorer_type(x, "<wait>:welcome<Enter>");
        assert_true(explorer_shows(x, "How to read the map"));
        assert_true(explorer_shows(x, "targets/staircase"));
        struct text screen = {0};
        cells_to_text(&x->cells, &screen);
        assert_null(strstr(screen.at, "~ │"));
        text_free(&screen);
        close_it(x);
    }
}

static void copy_with(const char *from, const char *to, const char *word, const char *other)
{
    lx_status st;
    size_t length;
    char *text = file_read(from, &length, &st);
    assert_non_null(text);
    struct text out = {0};
    char *at = strstr(text, word);
    assert_non_null(at);
    text_add_n(&out, text, (size_t)(at - text));
    text_format(&out, "%s%s", other, at + strlen(word));
    assert_true(file_write(to, out.at, out.length, &st));
    text_free(&out);
    mem_free(text);
}

/* A file that changes is read again; a broken one is shown with its line; one that is gone changes nothing. */
static void the_file_is_watched(void **state)
{
    (void)state;
    copy_with(GQ, "own.json", "\"summary\"", "\"summary\"");
    struct explorer *x = open_on("own.json", 24, 80);
    explorer_type(x, "<wait><Tick><Tick>2");
    assert_true(explorer_shows(x, "masked"));
    copy_with(GQ, "own.json", "\"name\": \"masked\", \"kind\"", "\"name\": \"veiled\", \"kind\"");
    explorer_type(x, "<Tick>");
    assert_true(explorer_shows(x, "own.json has changed: reloaded"));
    explorer_type(x, "<wait>");
    assert_true(explorer_shows(x, "veiled"));
    explorer_type(x, ":lx 1m<Enter><wait>");
    copy_with(GQ, "own.json", "\"kind\": \"add\"", "\"kind\": \"adn\"");
    explorer_type(x, "<Tick><wait>");
    assert_true(explorer_shows(x, "has changed and cannot be read"));
    assert_false(explorer_shows(x, "changed: reloaded") ||
                 explorer_shows(x, "with these settings")); /* it is the file's fault */
    assert_true(explorer_shows(x, "e edits"));
    assert_true(explorer_shows(x, "did you mean \"add\"?"));
    assert_true(explorer_shows(x, "|"));
    assert_true(explorer_shows(x, "^"));
    assert_int_equal(remove("own.json"), 0);
    explorer_type(x, "<Tick><wait>");
    assert_true(explorer_shows(x, "did you mean"));
    close_it(x);
}

/* Which editor, and at which line: of the op, of the tensor, of the error, or the first of another pattern. */
static void the_editor_is_asked_for(void **state)
{
    (void)state;
    setenv("VISUAL", "emacs -nw", 1);
    struct explorer *x = open_on(GQ, 24, 120);
    explorer_type(x, "<wait>2gjjj");
    int op = outcome_graph(&x->session.shown)->ops[x->session.selection.op].line;
    explorer_type(x, "e");
    assert_true(explorer_shows(x, "emacs -nw +"));
    assert_true(x->edit.wanted && x->edit.pattern == 0 && x->edit.line == op);
    explorer_type(x, ":goto mask<Enter>4e");
    assert_true(x->edit.wanted && x->edit.line > 1 && x->edit.line < op);
    close_it(x);
    unsetenv("VISUAL");
    setenv("EDITOR", "", 1);
    assert_string_equal(edit_program(), "vi");
    x = open_on(GRAPHS, 24, 120);
    explorer_type(x, "<wait>je");
    assert_true(x->edit.wanted && x->edit.pattern == 1 && x->edit.line == 1);
    close_it(x);
}

static void settings_are_typed_as_on_the_command_line(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 80);
    explorer_type(x, "<wait>:set cooptimise  full<Enter><wait>");
    assert_false(explorer_shows(x, "there is no"));
    assert_true(settings_changed(&x->session.now, lx_settings_find("cooptimise")));
    explorer_type(x, ":set time 0.5<Enter><wait>");
    assert_true(x->session.now.options.seconds == 0.5);
    explorer_type(x, ":lx 99999g<Enter>");
    assert_true(explorer_shows(x, "lx is 107373108658176; it must be from 0 to"));
    assert_false(settings_changed(&x->session.now, SET_LX));
    explorer_type(x, ":lx 50%<Enter><wait>");
    assert_int_equal(session_plan(&x->session)->problem.capacity, 1625344 / 2);
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_match_under_the_cursor_counts),
        cmocka_unit_test(place_and_filter_are_shown),
        cmocka_unit_test(one_goes_back_to_places),
        cmocka_unit_test(a_hundred_places_are_kept),
        cmocka_unit_test(typing_replaces_a_proposed_name),
        cmocka_unit_test(files_are_replaced_when_asked_twice),
        cmocka_unit_test(the_footer_can_be_clicked),
        cmocka_unit_test(compare_offers_what_enter_does),
        cmocka_unit_test(space_turns_the_page),
        cmocka_unit_test(help_is_paged_and_whole),
        cmocka_unit_test(names_come_first),
        cmocka_unit_test(equal_names_are_told_apart),
        cmocka_unit_test(welcome_is_whole),
        cmocka_unit_test(the_file_is_watched),
        cmocka_unit_test(the_editor_is_asked_for),
        cmocka_unit_test(settings_are_typed_as_on_the_command_line),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
