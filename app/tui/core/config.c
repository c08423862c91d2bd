/* One setting per line; "#" begins a comment:
 *
 *     theme light
 *     bind $ graph
 *     set solver exact
 *
 * Errors have the place of the wrong word. */
#include "tui/core/main_loop.h"
#include "tui/core/requests.h"
#include "base/file.h"
#include "base/words/words.h"

#include <unistd.h>

/* A line while it is read. */
struct config_line {
    const char *file;
    int number;
    char *text, *rest; /* rest: behind the words that were taken */
    struct config *into;
    lx_status *st;
};

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

/* An error with its place in this file; false. */
static bool config_wrong_at(const struct config_line *l, const char *at, const lx_status *why)
{
    return status_set_at(l->st, why->code, l->file, l->number, (int)(at - l->text) + 1, "%s", why->text);
}

/* Adds a key to those of the request. False, with `why` and the place: no request has the name, or the key
 * is taken. */
static bool config_bind(char *key, const char *name, lx_status *why)
{
    const char *names[REQ_COUNT + 1] = {0};
    enum request r = request_find(name);
    for (int i = 0; i < REQ_COUNT; i++) names[i] = request_rows[i].name;
    if (r == REQ_COUNT) {
        const char *near = nearest(name, names);
        return status_set(why, LX_E_USAGE,
                          "there is no request \"%.40s\"%s%s%s the help of the explorer lists them", name,
                          near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
    }
    OWNED char *keys = mem_format("%s %s", key, request_keys(r));
    return request_bind(r, keys, why);
}

static bool config_read_line(struct config_line *l)
{
    static const char *const words[] = {"theme", "bind", "set", "ascii", NULL}, *const usage[] = {
                                                                                    "theme dark",
                                                                                    "bind $ graph",
                                                                                    "set solver exact"};
    lx_status why;
    char *word = config_next_word(l);
    int what = 0;
    if (!word || *word == '#') return true;
    while (words[what] && strcmp(word, words[what]) != 0) what++;
    if (!words[what])
        return unknown_word("there is no setting", word, words, LX_E_USAGE, &why),
               config_wrong_at(l, word, &why);
    char *first = what < 3 ? config_next_word(l) : NULL,
         *second = first && what == 1 ? config_next_word(l) : NULL;
    if (first && what == 2) { /* a value may have blanks */
        second = l->rest + strspn(l->rest, " \t\r");
        size_t n = strlen(second);
        while (n && strchr(" \t\r", second[n - 1])) second[--n] = 0;
        l->rest = second + n;
    }
    if (what < 3 && (!first || (what > 0 && !(second && *second))))
        return status_set(&why, LX_E_USAGE, "something is missing here; for example: %s", usage[what]),
               config_wrong_at(l, l->rest, &why);
    if (what == 0) {
        l->into->theme = theme_find(first);
        if (!l->into->theme) return theme_unknown(first, &why), config_wrong_at(l, first, &why);
    } else if (what == 1) {
        if (!config_bind(first, second, &why))
            return config_wrong_at(l, request_find(second) == REQ_COUNT ? second : first, &why);
    } else if (what == 2) {
        if (!lx_settings_set(&l->into->how.options, first, second, &why))
            return config_wrong_at(l, lx_settings_find(first) < 0 ? first : second, &why);
    } else
        l->into->ascii = true;
    char *more = config_next_word(l);
    if (!more || *more == '#') return true;
    status_set(&why, LX_E_USAGE, "\"%.40s\" is too much here; one setting per line", more);
    return config_wrong_at(l, more, &why);
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
        OWNED char *value = lx_settings_get(&c->how.options, i);
        if (value) (void)lx_settings_set_row(&how->options, i, value, &ignored);
    }
}
