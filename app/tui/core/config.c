/* One line, one wish; "#" begins a comment:
 *
 *     theme light
 *     bind $ graph
 *     set solver exact
 *
 * The first word of a line is a row of `wishes`. Errors have the place of the word that is wrong. */
#include "tui/core/config.h"
#include "tui/core/requests.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line while it is read. */
struct wish_line {
    const char *file;
    int number;
    char *text, *rest; /* rest: behind the words that were taken */
    struct config *into;
    lx_status *st;
};

static int column_of(const struct wish_line *l, const char *at)
{
    return (int)(at - l->text) + 1;
}

/* The next word, ended in place; NULL: there is none. */
static char *next_word(struct wish_line *l)
{
    char *word = l->rest + strspn(l->rest, " \t\r");
    if (!*word) return NULL;
    size_t n = strcspn(word, " \t\r");
    l->rest = word + n + (word[n] != 0);
    word[n] = 0;
    return word;
}

/* All that is left, without blanks at its ends. */
static char *last_words(struct wish_line *l)
{
    char *words = l->rest + strspn(l->rest, " \t\r");
    size_t n = strlen(words);
    while (n && strchr(" \t\r", words[n - 1])) words[--n] = 0;
    l->rest = words + n;
    return words;
}

/* What another part of the program found wrong, with its place in this file. */
static bool wrong_at(const struct wish_line *l, const char *at, const lx_status *why)
{
    return status_set_at(l->st, why->code, l->file, l->number, column_of(l, at), "%s", why->text);
}

static bool missing(const struct wish_line *l, const char *usage)
{
    return status_set_at(l->st, LX_E_USAGE, l->file, l->number, column_of(l, l->rest),
                         "something is missing here; write it like: %s", usage);
}

static bool wish_theme(struct wish_line *l)
{
    lx_status why;
    char *name = next_word(l);
    if (!name) return missing(l, "theme dark");
    l->into->theme = theme_find(name);
    return l->into->theme || (theme_unknown(name, &why), wrong_at(l, name, &why));
}

static bool wish_ascii(struct wish_line *l)
{
    l->into->ascii = true;
    return true;
}

/* The key besides those that the request has. */
static bool wish_bind(struct wish_line *l)
{
    const char *names[REQ_COUNT + 1] = {0};
    lx_status why;
    char *key = next_word(l), *name = key ? next_word(l) : NULL, *keys = NULL;
    if (!name) return missing(l, "bind $ graph");
    enum request r = request_find(name);
    for (int i = 0; i < REQ_COUNT; i++) names[i] = request_rows[i].name;
    if (r == REQ_COUNT) {
        const char *near = nearest(name, names);
        return status_set_at(l->st, LX_E_USAGE, l->file, l->number, column_of(l, name),
                             "there is no request \"%.40s\"%s%s%s the help of the explorer lists them", name,
                             near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
    }
    keys = mem_format("%s %s", key, request_keys(r));
    bool ok = request_bind(r, keys, &why) || wrong_at(l, key, &why);
    mem_free(keys);
    return ok;
}

static bool wish_set(struct wish_line *l)
{
    lx_status why;
    char *name = next_word(l), *value = name ? last_words(l) : NULL;
    if (!name || !*value) return missing(l, "set solver exact");
    if (lx_settings_set(&l->into->how.options, name, value, &why)) return true;
    return wrong_at(l, settings_find(name) < 0 ? name : value, &why);
}

static const struct {
    const char *word;
    bool (*take)(struct wish_line *l);
} wishes[] = {{"theme", wish_theme}, {"bind", wish_bind}, {"set", wish_set}, {"ascii", wish_ascii}};

enum { WISHES = sizeof wishes / sizeof *wishes };

static bool config_read_line(struct wish_line *l)
{
    const char *words[WISHES + 1] = {0};
    lx_status why;
    char *word = next_word(l), *more;
    if (!word || *word == '#') return true;
    for (int i = 0; i < WISHES; i++) {
        words[i] = wishes[i].word;
        if (strcmp(word, words[i]) != 0) continue;
        if (!wishes[i].take(l)) return false;
        more = next_word(l);
        return !more || *more == '#' ||
               status_set_at(l->st, LX_E_USAGE, l->file, l->number, column_of(l, more),
                             "\"%.40s\" is too much here; one wish per line", more);
    }
    unknown_word("there is no wish", word, words, LX_E_USAGE, &why);
    return wrong_at(l, word, &why);
}

char *config_path(void)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (base && *base)
        path = mem_format("%s/lxplan/config", base);
    else if (home && *home)
        path = mem_format("%s/.config/lxplan/config", home);
    return path;
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
        struct wish_line l = {
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
