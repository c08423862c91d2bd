/* The line that is typed at the bottom: commands with completion and history, searches, filters. While it is
 * open every key belongs to it, so that a q in a filter is a q. */
#include "tui/core/explorer.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void prompt_again(struct explorer *x, const char *line, const char *remark)
{
    prompt_open(x, ':', line);
    text_add(&x->prompt.choices, remark);
}

void prompt_free(struct prompt *p)
{
    for (size_t i = 0; i < p->history.count; i++) mem_free(p->history.at[i]);
    VEC_FREE(&p->history);
    text_free(&p->choices);
}

static void prompt_remember(struct prompt *p)
{
    if (p->lead != ':' || !p->text[0]) return;
    if (p->history.count && strcmp(p->history.at[p->history.count - 1], p->text) == 0) return;
    char *copy = mem_string(p->text);
    if (copy && p->history.count >= MOST_HISTORY) {
        mem_free(p->history.at[0]);
        memmove(p->history.at, p->history.at + 1, --p->history.count * sizeof *p->history.at);
    }
    if (copy && !VEC_PUSH(&p->history, copy)) mem_free(copy);
}

void prompt_run(struct explorer *x, const char *line)
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
        explorer_say(x, TONE_BAD, "%s takes nothing behind it", request_rows[r].name);
    else
        explorer_request(x, r, *argument || (takes_one && strchr(line, ' ')) ? argument : NULL);
}

static void prompt_finish(struct explorer *x)
{
    struct prompt *p = &x->prompt;
    char line[sizeof p->text];
    prompt_remember(p);
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

static void cut(struct prompt *p, int from, int to)
{
    memmove(p->text + from, p->text + to, (size_t)(p->length - to) + 1);
    p->length -= to - from;
    p->at = from;
}

static void history(struct prompt *p, int direction)
{
    int to = p->history_at + direction, count = (int)p->history.count;
    if (p->lead != ':' || to < 0 || to > count) return;
    if (p->history_at == count) snprintf(p->kept, sizeof p->kept, "%s", p->text);
    p->history_at = to;
    prompt_set_text(p, to == count ? p->kept : p->history.at[to]);
}

/* What all completions have in common, and how many there are. */
struct common {
    char word[sizeof((struct prompt *)0)->text];
    int count;
    struct text *choices;
};

static void take_choice(void *context, const char *word)
{
    struct common *c = context;
    size_t n = 0;
    if (c->count++ == 0)
        snprintf(c->word, sizeof c->word, "%s", word);
    else {
        while (c->word[n] && c->word[n] == word[n]) n++;
        c->word[n] = 0;
    }
    if (c->count <= 60) text_format(c->choices, "%s%s", c->count > 1 ? "  " : "", word);
}

static void complete_here(struct explorer *x)
{
    struct prompt *p = &x->prompt;
    char line[sizeof p->text];
    if (p->lead != ':') return;
    text_free(&p->choices);
    struct common c = {.choices = &p->choices};
    complete(x, p->text, take_choice, &c);
    if (c.count == 0) return;
    const char *space = strrchr(p->text, ' ');
    snprintf(line, sizeof line, "%.*s%.200s%s", space ? (int)(space + 1 - p->text) : 0, p->text, c.word,
             c.count == 1 ? " " : "");
    size_t n = strlen(line);
    if (n > 1 && c.count == 1 && line[n - 2] == '/') line[n - 1] = 0; /* a folder goes on */
    prompt_set_text(p, line);
    if (c.count == 1) text_free(&p->choices);
}

static void older(struct explorer *x)
{
    history(&x->prompt, -1);
}

static void newer(struct explorer *x)
{
    history(&x->prompt, 1);
}

static void go_left(struct explorer *x)
{
    x->prompt.at = prompt_before(&x->prompt);
}

static void go_right(struct explorer *x)
{
    x->prompt.at = prompt_behind(&x->prompt);
}

static void go_first(struct explorer *x)
{
    x->prompt.at = 0;
}

static void go_last(struct explorer *x)
{
    x->prompt.at = x->prompt.length;
}

/* In an empty line it goes away with the line. */
static void cut_before(struct explorer *x)
{
    struct prompt *p = &x->prompt;
    if (p->length == 0)
        prompt_cancel(x);
    else
        cut(p, prompt_before(p), p->at);
}

static void prompt_cut_behind(struct explorer *x)
{
    cut(&x->prompt, x->prompt.at, prompt_behind(&x->prompt));
}

/* What stands before the cursor; the command of a proposal stays, unless nothing else is left. */
static void cut_to_first(struct explorer *x)
{
    struct prompt *p = &x->prompt;
    cut(p, p->proposed < p->at ? p->proposed : 0, p->at);
}

static void cut_word(struct explorer *x)
{
    struct prompt *p = &x->prompt;
    int from = p->at;
    while (from > 0 && p->text[from - 1] == ' ') from--;
    while (from > 0 && p->text[from - 1] != ' ') from--;
    cut(p, from, p->at);
}

#define CONTROL(letter) ((letter) - '@')

static const struct {
    uint32_t code;
    void (*edit)(struct explorer *x);
} edits[] = {
    {AT_ENTER, prompt_finish},
    {'\n', prompt_finish},
    {AT_ESCAPE, prompt_cancel},
    {CONTROL('C'), prompt_cancel},
    {AT_TAB, complete_here},
    {AT_UP, older},
    {AT_DOWN, newer},
    {AT_LEFT, go_left},
    {AT_RIGHT, go_right},
    {AT_HOME, go_first},
    {CONTROL('A'), go_first},
    {AT_END, go_last},
    {CONTROL('E'), go_last},
    {AT_BACKSPACE, cut_before},
    {CONTROL('H'), cut_before},
    {AT_DELETE, prompt_cut_behind},
    {CONTROL('U'), cut_to_first},
    {CONTROL('W'), cut_word},
};

void prompt_key(struct explorer *x, uint32_t code)
{
    struct prompt *p = &x->prompt;
    size_t i = 0;
    if (code != AT_TAB) text_free(&p->choices);
    while (i < sizeof edits / sizeof *edits && edits[i].code != code) i++;
    if (i < sizeof edits / sizeof *edits)
        edits[i].edit(x);
    else if (code >= 32 && code < AT_FIRST) {
        if (p->fresh) cut(p, p->fresh, p->length);
        char s[4];
        int n = encode_character(code, s);
        if (p->length + n + 1 <= (int)sizeof p->text) {
            memmove(p->text + p->at + n, p->text + p->at, (size_t)(p->length - p->at) + 1);
            memcpy(p->text + p->at, s, (size_t)n);
            p->at += n;
            p->length += n;
        }
    }
    if (code != AT_NOTHING) p->fresh = 0;
    if (p->open && p->lead == 'f')
        explorer_request(x, REQ_FILTER, p->text); /* a filter shows itself while it is typed */
}
