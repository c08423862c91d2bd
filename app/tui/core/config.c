/* One setting per line; "#" begins a comment:
 *
 *     theme light
 *     bind $ graph
 *     set solver exact
 *
 * Errors have the place of the wrong word. */
#include "tui/core/main_loop.h"
#include "tui/core/requests.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line while it is read. */
struct config_line {
    const char *file;
    int number;
    char *text, *rest; /* rest: behind the words that were taken */
    struct config *into;
    lx_status *st;
};

static int column_of(const struct config_line *l, const char *at)
{
    return (int)(at - l->text) + 1;
}

/* The next word, ended in place; NULL: there is none. */
static char *config_next_word(struct config_line *l)
{
    char *word = l->rest + strspn(l->rest, " \t\r");
    if (!*word) return NULL;
    size_t n = strcspn(word, " \t\r");
    l->rest = word + n + (word[n] != 0);
    word[n] = 0;
    return word;
}

/* An error of another part of the program, with its place in this file. */
static bool config_wrong_at(const struct config_line *l, const char *at, const lx_status *why)
{
    return status_set_at(l->st, why->code, l->file, l->number, column_of(l, at), "%s", why->text);
}

static bool config_missing(const struct config_line *l, const char *usage)
{
    return status_set_at(l->st, LX_E_USAGE, l->file, l->number, column_of(l, l->rest),
                         "something is missing here; for example: %s", usage);
}

static bool config_theme(struct config_line *l)
{
    lx_status why;
    char *name = config_next_word(l);
    if (!name) return config_missing(l, "theme dark");
    l->into->theme = theme_find(name);
    return l->into->theme || (theme_unknown(name, &why), config_wrong_at(l, name, &why));
}

/* Adds a key to those of the request. */
static bool config_bind(struct config_line *l)
{
    const char *names[REQ_COUNT + 1] = {0};
    lx_status why;
    char *key = config_next_word(l), *name = key ? config_next_word(l) : NULL, *keys = NULL;
    if (!name) return config_missing(l, "bind $ graph");
    enum request r = request_find(name);
    for (int i = 0; i < REQ_COUNT; i++) names[i] = request_rows[i].name;
    if (r == REQ_COUNT) {
        const char *near = nearest(name, names);
        return status_set_at(l->st, LX_E_USAGE, l->file, l->number, column_of(l, name),
                             "there is no request \"%.40s\"%s%s%s the help of the explorer lists them", name,
                             near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
    }
    keys = mem_format("%s %s", key, request_keys(r));
    bool ok = request_bind(r, keys, &why) || config_wrong_at(l, key, &why);
    mem_free(keys);
    return ok;
}

static bool config_set(struct config_line *l)
{
    lx_status why;
    char *name = config_next_word(l), *value = l->rest + strspn(l->rest, " \t\r");
    size_t n = strlen(value);
    while (n && strchr(" \t\r", value[n - 1])) value[--n] = 0;
    l->rest = value + n;
    if (!name || !*value) return config_missing(l, "set solver exact");
    if (lx_settings_set(&l->into->how.options, name, value, &why)) return true;
    return config_wrong_at(l, lx_settings_find(name) < 0 ? name : value, &why);
}

static bool config_read_line(struct config_line *l)
{
    static const char *const words[] = {"theme", "bind", "set", "ascii", NULL};
    lx_status why;
    char *word = config_next_word(l);
    bool ok = true;
    if (!word || *word == '#') return true;
    if (strcmp(word, "theme") == 0)
        ok = config_theme(l);
    else if (strcmp(word, "bind") == 0)
        ok = config_bind(l);
    else if (strcmp(word, "set") == 0)
        ok = config_set(l);
    else if (strcmp(word, "ascii") == 0)
        l->into->ascii = true;
    else {
        unknown_word("there is no setting", word, words, LX_E_USAGE, &why);
        return config_wrong_at(l, word, &why);
    }
    char *more = ok ? config_next_word(l) : NULL;
    if (!more || *more == '#') return ok;
    return status_set_at(l->st, LX_E_USAGE, l->file, l->number, column_of(l, more),
                         "\"%.40s\" is too much here; one setting per line", more);
}

char *config_path(void)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (base && *base) return mem_format("%s/lxplan/config", base);
    return home && *home ? mem_format("%s/.config/lxplan/config", home) : NULL;
}

bool config_read(const char *path, struct config *c, lx_status *st)
{
    size_t length;
    settings_default(&c->how);
    c->theme = NULL;
    c->ascii = false;
    if (!path || access(path, F_OK) != 0) return true;
    char *text = file_read(path, &length, st), *rest = text;
    bool ok = text != NULL;
    for (int number = 1; ok && rest; number++) {
        char *line = strsep(&rest, "\n");
        struct config_line l = {
            .file = path, .number = number, .text = line, .rest = line, .into = c, .st = st};
        ok = config_read_line(&l);
    }
    mem_free(text);
    return ok;
}

void config_apply(const struct config *c, struct what_if *how)
{
    lx_status ignored;
    for (int i = 0; i < lx_settings_count(); i++) {
        if (!lx_settings_is_set(&c->how.options, i) || lx_settings_is_set(&how->options, i)) continue;
        char *value = lx_settings_get(&c->how.options, i);
        if (value) (void)lx_settings_set_row(&how->options, i, value, &ignored);
        mem_free(value);
    }
}
