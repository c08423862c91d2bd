/* The cursor: places, spaces, words and brackets. Numbers are in source_number.c. */
#include "import/read/source.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

void source_begin(struct source *s, struct lx_model *m, const char *text, size_t length, lx_status *st)
{
    *s = (struct source){.m = m, .at = text, .end = text + length, .line_start = text, .line = 1, .st = st};
}

int source_column(const struct source *s)
{
    return (int)(s->at - s->line_start) + 1;
}

bool source_fail(struct source *s, enum lx_code code, const char *format, ...)
{
    char words[sizeof s->st->text]; /* `format` may be about the status that is set */
    va_list args;
    if (s->failed) return false;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    s->failed = true;
    return status_set_at(s->st, code, s->m->file, s->line, source_column(s), "%s", words);
}

bool source_ended(const struct source *s)
{
    return s->failed || s->at >= s->end;
}

char source_peek(const struct source *s)
{
    return source_ended(s) ? 0 : *s->at;
}

static void source_next_line(struct source *s)
{
    s->at++;
    s->line++;
    s->line_start = s->at;
}

static bool source_begins(const struct source *s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

/* Past a comment, if there is one: up to the end of its line, or to its own end. */
static bool source_skip_comment(struct source *s)
{
    if (s->at + 1 >= s->end || *s->at != '/') return false;
    if (s->at[1] == '/') {
        const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));
        s->at = end ? end : s->end;
        return true;
    }
    if (s->at[1] != '*' || !s->spans_comments) return false;
    s->at += 2;
    while (s->at < s->end && !source_begins(s, "*/"))
        if (*s->at == '\n')
            source_next_line(s);
        else
            s->at++;
    s->at = s->at < s->end ? s->at + 2 : s->end;
    return true;
}

void source_skip(struct source *s, bool lines)
{
    while (!source_ended(s)) {
        if (*s->at == ' ' || *s->at == '\t' || *s->at == '\r')
            s->at++;
        else if (*s->at == '\n' && lines)
            source_next_line(s);
        else if (!source_skip_comment(s))
            break;
    }
}

bool source_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool source_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || source_is_digit(c) || c == '_' || c == '.' ||
           c == '-' || c == '$';
}

bool source_is(struct source *s, const char *text)
{
    size_t n = strlen(text);
    source_skip(s, true);
    if (s->failed || !source_begins(s, text)) return false;
    bool word = source_is_name(text[n - 1]) && text[n - 1] != '-';
    return !word || s->at + n >= s->end || !source_is_name(s->at[n]);
}

bool source_take(struct source *s, const char *text)
{
    if (!source_is(s, text)) return false;
    s->at += strlen(text);
    return true;
}

bool source_want(struct source *s, const char *text)
{
    char found[24] = "the end";
    if (source_take(s, text)) return true;
    if (!source_ended(s)) {
        int n = 0;
        while (n < 16 && s->at + n < s->end && s->at[n] >= ' ' && s->at[n] < 127) n++;
        snprintf(found, sizeof found, "\"%.*s\"", n, s->at);
    }
    return source_fail(s, LX_E_SYNTAX, "expected \"%s\", found %s", text, found);
}

const char *source_name(struct source *s, bool (*belongs)(char c), const char *what)
{
    const char *from = s->at;
    while (!source_ended(s) && belongs(*s->at)) s->at++;
    size_t n = (size_t)(s->at - from);
    if (n == 0) return source_fail(s, LX_E_SYNTAX, "expected %s", what), NULL;
    if (n > MODEL_MAX_NAME)
        return source_fail(s, LX_E_LIMIT, "%s of more than %d characters", what, MODEL_MAX_NAME), NULL;
    const char *name = arena_copy(&s->m->memory, from, n);
    return name;
}

/* The cursor is behind the opening quote and ends behind the closing one. */
static bool source_skip_string(struct source *s)
{
    for (; s->at < s->end && *s->at != '"'; s->at++) {
        if (*s->at == '\\' && s->at + 1 < s->end) s->at++;
        if (*s->at == '\n') {
            s->line++;
            s->line_start = s->at + 1;
        }
    }
    if (s->at >= s->end) return source_fail(s, LX_E_SYNTAX, "a string that does not end");
    s->at++;
    return true;
}

const char *source_string(struct source *s)
{
    if (!source_want(s, "\"")) return NULL;
    const char *from = s->at;
    if (!source_skip_string(s)) return NULL;
    size_t n = (size_t)(s->at - 1 - from), k = 0;
    char *out = arena_copy(&s->m->memory, from, n);
    for (size_t i = 0; i < n; i++) {
        if (out[i] == '\\' && i + 1 < n && strchr("\"\\'", out[i + 1])) i++;
        out[k++] = out[i];
    }
    out[k] = 0;
    return out;
}

static char source_closer_of(char c)
{
    return (char)(c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '>');
}

/* "<" of "<=" and ">" of "->" and ">=" are no brackets. */
static bool source_opens(const struct source *s)
{
    if (!strchr("([{<", *s->at)) return false;
    return *s->at != '<' || s->at + 1 >= s->end || s->at[1] != '=';
}

static bool source_closes(const struct source *s, const char *from)
{
    if (!strchr(")]}>", *s->at)) return false;
    return *s->at != '>' || s->at == from || (s->at[-1] != '-' && s->at[-1] != '=');
}

bool source_balanced(struct source *s, bool lines, const char **from, size_t *length)
{
    char stack[MODEL_MAX_DEPTH];
    int depth = 0;
    source_skip(s, lines);
    *from = s->at;
    while (!source_ended(s)) {
        char c = *s->at;
        if (c == 0) return source_fail(s, LX_E_SYNTAX, "a NUL character");
        if (depth == 0 && (c == ',' || (c == '\n' && !lines) || source_closes(s, *from))) break;
        if (depth == 0 && c == ' ' && s->ends && s->ends(s)) break;
        if (c == '"') {
            s->at++;
            if (!source_skip_string(s)) return false;
            continue;
        }
        if (source_opens(s)) {
            if (depth == MODEL_MAX_DEPTH)
                return source_fail(s, LX_E_LIMIT, "brackets nest more than %d deep", MODEL_MAX_DEPTH);
            stack[depth++] = source_closer_of(c);
        } else if (source_closes(s, *from) && stack[--depth] != c) {
            return source_fail(s, LX_E_SYNTAX, "\"%c\" where \"%c\" should close", c, stack[depth]);
        }
        if (c == '\n')
            source_next_line(s);
        else
            s->at++;
    }
    if (depth > 0) return source_fail(s, LX_E_SYNTAX, "\"%c\" is missing at the end", stack[depth - 1]);
    const char *to = s->at;
    while (to > *from && strchr(" \t\r\n", to[-1])) to--;
    *length = (size_t)(to - *from);
    return !s->failed;
}

const char *source_kept(struct source *s, bool lines)
{
    const char *from;
    size_t length;
    if (!source_balanced(s, lines, &from, &length)) return NULL;
    const char *text = arena_copy(&s->m->memory, from, length);
    return text;
}
