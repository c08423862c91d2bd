#include "support/explorer_by_keys.h"

/* What is written goes to a folder of the test's own. */
static char explorer_test_folder[] = "/tmp/lxplan_test_explorer_XXXXXX";

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

int explorer_test_begin(void **state)
{
    (void)state;
    setlocale(LC_CTYPE, "C.UTF-8");
    return mkdtemp(explorer_test_folder) && chdir(explorer_test_folder) == 0 ? 0 : -1;
}

int explorer_test_end(void **state)
{
    (void)state;
    return nftw(explorer_test_folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

struct explorer *open_on(const char *pattern, int rows, int columns)
{
    struct explorer *x = mem_alloc(sizeof *x);
    struct what_if how;
    lx_status st;
    settings_default(&how);
    /* Screens and keys are looked at with plans that are there at once. */
    assert_true(lx_settings_set(&how.options, "tile", "none", &st));
    assert_true(lx_settings_set(&how.options, "objective", "bytes", &st));
    assert_true(lx_settings_set(&how.options, "cooptimise", "none", &st)); /* it takes seconds on stencils */
    assert_non_null(x);
    assert_true(explorer_begin(x, &how, rows, columns));
    assert_true(session_add(&x->session, pattern, &st));
    if (x->session.patterns.count == 1) {
        session_open(&x->session, 0);
        x->view = VIEW_MAP;
    }
    return x;
}

void close_it(struct explorer *x)
{
    explorer_end(x);
    mem_free(x);
}

void explorer_type(struct explorer *x, const char *keys)
{
    struct key k;
    lx_status st;
    while (key_parse(&keys, &k, &st)) {
        explorer_key(x, k);
        worker_take(x->session.worker);
        explorer_draw(x);
    }
    assert_int_equal(st.code, LX_OK);
}

bool explorer_shows(struct explorer *x, const char *words)
{
    struct text t = {0};
    explorer_draw(x);
    cells_to_text(&x->cells, &t);
    bool found = t.at && strstr(t.at, words);
    if (!found) print_message("looking for \"%s\" in:\n%s", words, t.at);
    text_free(&t);
    return found;
}
