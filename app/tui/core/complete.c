/* What may follow in the command line, by the kind of argument that a request takes. */
#include "tui/core/explorer.h"
#include "base/memory.h"
#include "text/column.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct taker {
    const char *start;
    void (*take)(void *context, const char *word);
    void *context;
};

static void complete_offer(const struct taker *t, const char *word)
{
    if (word && strncmp(word, t->start, strlen(t->start)) == 0) t->take(t->context, word);
}

static void offer_files(const struct taker *t)
{
    const char *slash = strrchr(t->start, '/');
    char folder[300], path[600];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - t->start) : 2, slash ? t->start : "./");
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        snprintf(path, sizeof path, "%s%.255s%s", slash ? folder : "", name,
                 entries[i]->d_type == DT_DIR ? "/" : "");
        if (name[0] != '.') complete_offer(t, path);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

static void offer_words(const struct taker *t, int setting)
{
    for (int64_t i = 0; settings_row(setting).has_words && settings_word(setting, i); i++)
        if (!strchr(settings_word(setting, i), ' ')) complete_offer(t, settings_word(setting, i));
}

static void offer_names(const struct explorer *x, const struct taker *t)
{
    const struct lx_plan *p = session_plan(&x->session);
    for (int32_t i = 0; p && i < p->problem.count; i++) complete_offer(t, p->problem.buffers[i].name);
}

static void offer_settings(const struct taker *t, const char *argument)
{
    const char *space = strrchr(argument, ' ');
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, " "), argument);
    for (int i = 0; i < settings_count() && !space; i++) complete_offer(t, settings_row(i).name);
    if (space && settings_find(name) >= 0) offer_words(t, settings_find(name));
}

static void offer_columns(const struct taker *t, const struct columns *all)
{
    for (size_t i = 0; all && i < all->count; i++) complete_offer(t, all->at[i].key);
}

void complete(struct explorer *x, const char *text, void (*take)(void *context, const char *word),
              void *context)
{
    const char *space = strchr(text, ' '), *last = strrchr(text, ' ');
    struct taker t = {last ? last + 1 : text, take, context};
    if (!space) {
        for (int i = 0; i < REQ_COUNT; i++) complete_offer(&t, request_rows[i].name);
        return;
    }
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)(space - text < 39 ? space - text : 39), text);
    enum request r = request_find(name);
    switch (r == REQ_COUNT ? ARG_NONE : request_rows[r].argument) {
    case ARG_SOLVER:
        offer_words(&t, SET_SOLVER);
        break;
    case ARG_OBJECTIVE:
        offer_words(&t, SET_OBJECTIVE);
        break;
    case ARG_SETTING:
        offer_settings(&t, space + 1);
        break;
    case ARG_REQUEST:
        for (int i = 0; i < REQ_COUNT && !strchr(space + 1, ' '); i++)
            complete_offer(&t, request_rows[i].name);
        break;
    case ARG_THEME:
        for (const struct theme *theme = themes; theme->name; theme++) complete_offer(&t, theme->name);
        break;
    case ARG_FILE:
        offer_files(&t);
        break;
    case ARG_NAME:
        offer_names(x, &t);
        break;
    case ARG_PATTERN:
        for (size_t i = 0; i < x->session.patterns.count; i++)
            complete_offer(&t, x->session.patterns.at[i].shown);
        break;
    case ARG_COLUMN:
        offer_columns(&t, all_views[explorer_top(x)]->sorted_by);
        break;
    default:
        break;
    }
}
