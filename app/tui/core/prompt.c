/* The command line: commands with completion and history, searches, filters. While it is open it gets
 * every key, so that a q in a filter is a q. */
#include "tui/core/explorer.h"

#include <dirent.h>

enum { MOST_HISTORY = 200 };

static void prompt_set_text(struct prompt *p, const char *text)
{
    snprintf(p->text, sizeof p->text, "%s", text);
    p->at = p->length = (int)strlen(p->text);
    p->fresh = p->proposed = 0;
}

void prompt_open(struct explorer *x, char lead, const char *text)
{
    struct prompt *p = &x->prompt;
    p->open = true;
    p->lead = lead;
    p->history_at = (int)p->history.count;
    text_free(&p->choices);
    prompt_set_text(p, text);
}

void prompt_propose(struct explorer *x, const char *text, const char *proposal)
{
    struct prompt *p = &x->prompt;
    char line[sizeof p->text];
    snprintf(line, sizeof line, "%s%.180s", text, proposal);
    prompt_open(x, ':', line);
    p->proposed = (int)strlen(text);
    p->fresh = *proposal ? p->proposed : 0;
}

static void prompt_run(struct explorer *x, const char *line)
{
    char name[40];
    while (*line == ' ' || *line == ':') line++;
    size_t n = strcspn(line, " ");
    char argument[sizeof x->prompt.text];
    snprintf(argument, sizeof argument, "%s", line + n + strspn(line + n, " "));
    for (size_t k = strlen(argument); k > 0 && argument[k - 1] == ' ';) argument[--k] = 0;
    if (n == 0) return;
    snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), line);
    enum request r = request_find(name);
    if (r == REQ_COUNT) {
        const char *names[REQ_COUNT + 1] = {0};
        for (int i = 0; i < REQ_COUNT; i++) names[i] = request_rows[i].name;
        const char *near = nearest(name, names);
        explorer_say(x, TONE_BAD, "there is no \"%s\"%s%s%s <Tab> lists what there is", name,
                     near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
        return;
    }
    bool takes_one = request_rows[r].argument != ARG_NONE;
    if (*argument && !takes_one)
        explorer_say(x, TONE_BAD, "%s takes no argument", request_rows[r].name);
    else
        explorer_request(x, r, *argument || (takes_one && strchr(line, ' ')) ? argument : NULL);
}

static void prompt_finish(struct explorer *x)
{
    struct prompt *p = &x->prompt;
    char line[sizeof p->text];
    size_t n = p->history.count;
    if (p->lead == ':' && p->text[0] && !(n && strcmp(p->history.at[n - 1], p->text) == 0)) {
        if (n >= MOST_HISTORY) {
            mem_free(p->history.at[0]);
            memmove(p->history.at, p->history.at + 1, --p->history.count * sizeof *p->history.at);
        }
        VEC_PUSH(&p->history, mem_string(p->text));
    }
    snprintf(line, sizeof line, "%s", p->text);
    p->open = false;
    text_free(&p->choices);
    if (p->lead == ':')
        prompt_run(x, line);
    else
        explorer_request(x, p->lead == '/' ? REQ_SEARCH : REQ_FILTER, line);
}

static void prompt_cancel(struct explorer *x)
{
    x->prompt.open = false;
    text_free(&x->prompt.choices);
    if (x->prompt.lead == 'f') explorer_request(x, REQ_FILTER, "");
}

/* Back to the beginning of the character before `at`. */
static int prompt_before(const struct prompt *p)
{
    int at = p->at;
    if (at > 0) at--;
    while (at > 0 && (p->text[at] & 0xc0) == 0x80) at--;
    return at;
}

static int prompt_behind(const struct prompt *p)
{
    uint32_t code;
    int columns, n = next_character(p->text + p->at, &code, &columns);
    return p->at + n <= p->length ? p->at + n : p->length;
}

static void prompt_cut(struct prompt *p, int from, int to)
{
    memmove(p->text + from, p->text + to, (size_t)(p->length - to) + 1);
    p->length -= to - from;
    p->at = from;
}

/* Completions of a word: their common beginning, their number, and the words themselves. */
struct common {
    const char *start;
    char word[sizeof((struct prompt *)0)->text];
    int count;
    struct text *choices;
};

static void complete_offer(struct common *c, const char *word)
{
    size_t n = 0;
    if (!word || strncmp(word, c->start, strlen(c->start)) != 0) return;
    if (c->count++ == 0)
        snprintf(c->word, sizeof c->word, "%s", word);
    else {
        while (c->word[n] && c->word[n] == word[n]) n++;
        c->word[n] = 0;
    }
    if (c->count <= 60) text_format(c->choices, "%s%s", c->count > 1 ? "  " : "", word);
}

static void offer_files(struct common *t)
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

static void offer_words(struct common *t, int setting)
{
    for (int64_t i = 0; settings_row(setting).has_words && settings_word(setting, i); i++)
        if (!strchr(settings_word(setting, i), ' ')) complete_offer(t, settings_word(setting, i));
}

/* Offers all that may follow in the command line: names of requests, then by the kind of the argument. */
static void complete(struct explorer *x, const char *text, struct common *t)
{
    const struct lx_plan *plan = session_plan(&x->session);
    const struct columns *columns = all_views[explorer_top(x)]->sorted_by;
    const char *space = strchr(text, ' '), *last = strrchr(text, ' ');
    t->start = last ? last + 1 : text;
    char name[40], setting[40];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, " "), text);
    enum request r = request_find(name);
    enum argument kind = !space ? ARG_REQUEST : r == REQ_COUNT ? ARG_NONE : request_rows[r].argument;
    if (kind == ARG_SOLVER) offer_words(t, SET_SOLVER);
    if (kind == ARG_OBJECTIVE) offer_words(t, SET_OBJECTIVE);
    if (kind == ARG_SETTING) {
        snprintf(setting, sizeof setting, "%.*s", (int)strcspn(space + 1, " "), space + 1);
        for (int i = 0; i < lx_settings_count() && last == space; i++)
            complete_offer(t, settings_row(i).name);
        if (last > space && lx_settings_find(setting) >= 0) offer_words(t, lx_settings_find(setting));
    }
    if (kind == ARG_REQUEST)
        for (int i = 0; i < REQ_COUNT && last == space; i++) complete_offer(t, request_rows[i].name);
    if (kind == ARG_THEME)
        for (const struct theme *theme = themes; theme->name; theme++) complete_offer(t, theme->name);
    if (kind == ARG_FILE) offer_files(t);
    if (kind == ARG_NAME)
        for (int32_t i = 0; plan && i < plan->problem.count; i++)
            complete_offer(t, plan->problem.buffers[i].name);
    if (kind == ARG_PATTERN)
        for (size_t i = 0; i < x->session.patterns.count; i++)
            complete_offer(t, x->session.patterns.at[i].shown);
    if (kind == ARG_COLUMN)
        for (size_t i = 0; columns && i < columns->count; i++) complete_offer(t, columns->at[i].key);
}

static void prompt_complete(struct explorer *x)
{
    struct prompt *p = &x->prompt;
    char line[sizeof p->text];
    if (p->lead != ':') return;
    text_free(&p->choices);
    struct common c = {.choices = &p->choices};
    complete(x, p->text, &c);
    if (c.count == 0) return;
    const char *space = strrchr(p->text, ' ');
    snprintf(line, sizeof line, "%.*s%.200s%s", space ? (int)(space + 1 - p->text) : 0, p->text, c.word,
             c.count == 1 ? " " : "");
    size_t n = strlen(line);
    if (n > 1 && c.count == 1 && line[n - 2] == '/') line[n - 1] = 0; /* a folder goes on */
    prompt_set_text(p, line);
    if (c.count == 1) text_free(&p->choices);
}

#define CONTROL(letter) ((letter) - '@')

/* Keys that edit the line. */
static void prompt_edit(struct explorer *x, uint32_t code)
{
    struct prompt *p = &x->prompt;
    int from = p->at, n;
    char bytes[4];
    if (code == AT_LEFT) p->at = prompt_before(p);
    if (code == AT_RIGHT) p->at = prompt_behind(p);
    if (code == AT_HOME || code == CONTROL('A')) p->at = 0;
    if (code == AT_END || code == CONTROL('E')) p->at = p->length;
    if (code == AT_DELETE) prompt_cut(p, p->at, prompt_behind(p));
    if (code == AT_BACKSPACE || code == CONTROL('H')) { /* closes an empty line */
        if (p->length == 0)
            prompt_cancel(x);
        else
            prompt_cut(p, prompt_before(p), p->at);
    }
    /* Up to the cursor; the command before a proposal stays, unless nothing else is left. */
    if (code == CONTROL('U')) prompt_cut(p, p->proposed < p->at ? p->proposed : 0, p->at);
    if (code == CONTROL('W')) {
        while (from > 0 && p->text[from - 1] == ' ') from--;
        while (from > 0 && p->text[from - 1] != ' ') from--;
        prompt_cut(p, from, p->at);
    }
    if (code < 32 || code >= AT_FIRST) return;
    if (p->fresh) prompt_cut(p, p->fresh, p->length);
    n = encode_character(code, bytes);
    if (p->length + n + 1 > (int)sizeof p->text) return;
    memmove(p->text + p->at + n, p->text + p->at, (size_t)(p->length - p->at) + 1);
    memcpy(p->text + p->at, bytes, (size_t)n);
    p->at += n;
    p->length += n;
}

void prompt_key(struct explorer *x, uint32_t code)
{
    struct prompt *p = &x->prompt;
    if (code != AT_TAB) text_free(&p->choices);
    if (code == AT_ENTER || code == '\n')
        prompt_finish(x);
    else if (code == AT_ESCAPE || code == CONTROL('C'))
        prompt_cancel(x);
    else if (code == AT_TAB)
        prompt_complete(x);
    else if (code == AT_UP || code == AT_DOWN) {
        int to = p->history_at + (code == AT_UP ? -1 : 1), count = (int)p->history.count;
        if (p->lead == ':' && to >= 0 && to <= count) {
            if (p->history_at == count) snprintf(p->kept, sizeof p->kept, "%s", p->text);
            p->history_at = to;
            prompt_set_text(p, to == count ? p->kept : p->history.at[to]);
        }
    } else
        prompt_edit(x, code);
    if (code != AT_NOTHING) p->fresh = 0;
    if (p->open && p->lead == 'f') explorer_request(x, REQ_FILTER, p->text); /* filters while it is typed */
}
