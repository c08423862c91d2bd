/* Texts name keys as the table of requests has them: whatever a request is bound to, every text, hint and
 * title that names its key says the new one. */
#include "support/explorer_by_keys.h"
#include "base/file.h"

#define LIST      "list.1024.csv" /* in the folder of the test */
#define TARGETS   SOURCE_DIR "/patterns/targets"
#define STENCIL   SOURCE_DIR "/patterns/team/stencil_3_steps.json"
#define BROKEN    SOURCE_DIR "/patterns/errors/shape_mismatch.json"
#define ATTENTION SOURCE_DIR "/patterns/graphs/gq_attention.json"
#define NEW_KEY   "\xc2\xa7" /* § is the key of nothing */

/* The keys that lead to a text are typed before the request gets its new key. */
static const struct {
    const char *pattern, *keys;
    enum request request;
    const char *text;
} texts[] = {
    {TARGETS, "4", REQ_PATTERNS, "Press § for the list of patterns"},
    {TARGETS, "4", REQ_DOWN, "choose one with § and k"},
    {TARGETS, "4", REQ_UP, "choose one with j and §"},
    {TARGETS, "4", REQ_OPEN, "open it with §"},
    {TARGETS, "4", REQ_COMMAND, "or type §open FILE"},
    {TARGETS, "", REQ_OPEN, "; § opens one"},
    {TARGETS, "fzzz<Enter>", REQ_ESCAPE, "No pattern matches the filter. § removes it"},
    {TARGETS, ":welcome<Enter>", REQ_NEXT_VIEW, "walk through the views with §"},
    {TARGETS, ":welcome<Enter>", REQ_NEXT_SOLVER, "§ tries the next solver"},
    {TARGETS, ":welcome<Enter>", REQ_WHAT_IF, "§ shows everything"},
    {TARGETS, ":welcome<Enter>", REQ_UNDO, "§ undoes"},
    {TARGETS, ":welcome<Enter>", REQ_HELP, "§ lists every key"},
    {TARGETS, ":welcome<Enter>", REQ_OPEN, "or § to begin"},
    {TARGETS, ":welcome<Enter>", REQ_TEAM, "§ Team "},
    {BROKEN, "", REQ_RELOAD, "press § to reload it"},
    {BROKEN, "", REQ_PATTERNS, "another one with §"},
    {ATTENTION, ":set hint scores=s/7<Enter><wait>", REQ_UNDO, "§ undoes the last change"},
    {ATTENTION, ":set hint scores=s/7<Enter><wait>", REQ_WHAT_IF, "§ shows the settings"},
    {LIST, "2", REQ_MAP, "§ shows where its buffers are"},
    {LIST, "8<wait>", REQ_PATTERNS, "§ lists other patterns"},
    {MOE, ":lx 850k<Enter>:solver greedy<Enter><wait>4o", REQ_WHY, "§: remedies"},
    {MOE, "3", REQ_NEXT_ITEM, "§ goes to the next op"},
    {MOE, "8<wait>", REQ_RELOAD, "press § to reload it"},
    {MOE, "8<wait>", REQ_PATTERNS, "another pattern with §"},
    {GQ, "2fzzz<Enter>", REQ_ESCAPE, "No op matches the filter. § removes it"},
    {GQ, "5", REQ_RACE, "§ races all solvers"},
    {GQ, "5", REQ_DOWN, "§ and k choose the plan"},
    {GQ, "5", REQ_UP, "j and § choose the plan"},
    {GQ, "5", REQ_MARK, "§ the one on the left"},
    {GQ, "5", REQ_OPEN, "and § plans"},
    {GQ, "5r<wait>:lx 1m<Enter><wait>", REQ_RACE, "§ races again"},
    {GQ, "2gj6<Resize:120x20>", REQ_DOWN, "more below: §"},
    {GQ, "7", REQ_EXECUTE, "§ executes this plan"},
    {GQ, "7r<wait>:solver greedy<Enter><wait>", REQ_EXECUTE, "§ runs the present one"},
    {STENCIL, "8<wait>", REQ_RUN_TEAM, "§ runs the team"},
    {GQ, "?", REQ_FILTER, "§ filters this list"},
    {GQ, "?", REQ_PLAY, "§                 :play"},
    {GQ, "?fdown<Enter>", REQ_DOWN, "§                 :down"},
};

static void bind(enum request r, const char *keys)
{
    lx_status st;
    assert_true(request_bind(r, keys, &st));
}

static void texts_follow_the_table(void **state)
{
    static const char list[] = "id,lower,upper,size\na,0,3,512\nb,1,4,256\n";
    lx_status st;
    (void)state;
    assert_true(file_write(LIST, list, sizeof list - 1, &st));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct explorer *x = open_on(texts[i].pattern, 40, 120);
        explorer_type(x, "<wait>");
        explorer_type(x, texts[i].keys);
        bind(texts[i].request, NEW_KEY);
        if (!explorer_shows(x, texts[i].text)) fail_msg("%s: %s", texts[i].keys, texts[i].text);
        bind(texts[i].request, "");
        close_it(x);
    }
}

/* What the line at the bottom says after some keys. The request has its new key when they are typed. */
static const struct {
    const char *keys;
    enum request request;
    const char *text;
} messages[] = {
    {"\"", REQ_HELP, "does nothing here; § lists the keys"},
    {"s", REQ_UNDO, "(§: undo)"},
    {":set nothing 1<Enter>", REQ_WHAT_IF, "§ shows all of them"},
    {":bind nothing 1<Enter>", REQ_HELP, "§ lists all of them"},
    {"n", REQ_SEARCH, "no search yet: § starts one"},
    {"5r<wait>gj<Enter>", REQ_SAVE, "§ saves the plan, u: undo"},
    {"5r<wait>gj<Enter>", REQ_UNDO, "W saves the plan, §: undo"},
    {":save  <Enter>", REQ_SAVE, "§ proposes one"},
};

static void messages_follow_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        struct explorer *x = open_on(GQ, 24, 120);
        explorer_type(x, "<wait>");
        bind(messages[i].request, NEW_KEY);
        explorer_type(x, messages[i].keys);
        assert_true(explorer_shows(x, messages[i].text));
        bind(messages[i].request, "");
        close_it(x);
    }
    struct explorer *x = open_on(TARGETS, 24, 120); /* nothing is open */
    bind(REQ_OPEN, NEW_KEY);
    explorer_type(x, "<wait>y");
    assert_true(explorer_shows(x, "open a pattern first: §"));
    bind(REQ_OPEN, "");
    close_it(x);
}

/* Every hint of every view, and every digit of the title. */
static void hints_and_title_follow_the_table(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 40, 200);
    char words[80];
    explorer_type(x, "<wait>");
    for (int v = 0; v < VIEW_COUNT; v++) {
        x->view = v < PAGE_COUNT ? (enum view_id)v : VIEW_MAP;
        x->overlay = v < PAGE_COUNT ? VIEW_COUNT : (enum view_id)v;
        for (int i = 0; i < MOST_HINTS && all_views[v]->hints[i].word; i++) {
            const struct hint *h = &all_views[v]->hints[i];
            const char *word = h->word;
            if (all_views[v]->hint_word) word = all_views[v]->hint_word(x, x->states[v], h);
            bool no_nest = h->request == REQ_NEXT_ITERATION && session_plan(&x->session)->nest_count == 0;
            if (h->request == REQ_STOP || no_nest || !word)
                continue; /* it is not offered: nothing runs, or it would do nothing */
            bind(h->request, NEW_KEY);
            snprintf(words, sizeof words, "§ %s", word);
            assert_true(explorer_shows(x, words));
            bind(h->request, "");
        }
        bind(REQ_HELP, NEW_KEY);
        assert_true(explorer_shows(x, "§ help"));
        bind(REQ_HELP, "");
        if (v >= PAGE_COUNT) continue;
        bind(view_requests[v], NEW_KEY);
        snprintf(words, sizeof words, "[§ %s]", all_views[v]->name);
        assert_true(explorer_shows(x, words));
        bind(view_requests[v], "");
    }
    close_it(x);
}

/* The new key works, the old one is free, and no key means two things. */
static void keys_are_bound_by_name(void **state)
{
    (void)state;
    struct explorer *x = open_on(GQ, 24, 120);
    explorer_type(x, "<wait>:bind graph § <lt>F1><Enter>");
    assert_true(explorer_shows(x, "<F1> is the key of help already"));
    explorer_type(x, ":bind graph §<Enter>§");
    assert_int_equal(x->view, VIEW_GRAPH);
    explorer_type(x, "42");
    assert_int_equal(x->view, VIEW_MAP);
    explorer_type(x, ":bind graph<Enter>2");
    assert_int_equal(x->view, VIEW_GRAPH);
    explorer_type(x, ":bind follow V<Enter>"); /* of another view: no clash with events */
    assert_true(explorer_shows(x, "follow: V"));
    explorer_type(x, ":bind follow<Enter>:bind zoom-all v<Enter>");
    assert_true(explorer_shows(x, "v is the key of edges already"));
    explorer_type(x, ":bind help <lt>Click:1,1><Enter>");
    assert_true(explorer_shows(x, "is no key"));
    explorer_type(x, ":bind zoom-in <lt>Nonsense><Enter>");
    assert_string_equal(request_keys(REQ_ZOOM_IN), request_rows[REQ_ZOOM_IN].keys);
    explorer_type(x, ":bind zoom-a<Tab>");
    assert_string_equal(x->prompt.text, "bind zoom-all ");
    close_it(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_follow_the_table),
        cmocka_unit_test(messages_follow_the_table),
        cmocka_unit_test(hints_and_title_follow_the_table),
        cmocka_unit_test(keys_are_bound_by_name),
    };
    return cmocka_run_group_tests(tests, explorer_test_begin, explorer_test_end);
}
