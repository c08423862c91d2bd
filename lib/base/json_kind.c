/* The kind of a JSON file before anyone has read it. */
#include "base/json.h"

#include <string.h>

/* Past the string that begins at `at`; the end of the text if it is not closed. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end) at++;
    return at < end ? at + 1 : end;
}

static const char *skip_blank(const char *at, const char *end)
{
    while (at < end && memchr(" \t\r\n", *at, 4)) at++;
    return at;
}

static bool begins_with(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

/* Is the string at `at` this very word? */
static bool is_word(const char *at, const char *end, const char *word)
{
    return at < end && *at == '"' && begins_with(at + 1, end, word) &&
           begins_with(at + 1 + strlen(word), end, "\"");
}

/* The value of a key of the outermost object, or NULL. */
static const char *value_of(const char *text, const char *end, const char *key)
{
    const char *at = text;
    for (int64_t depth = 0; at < end;) {
        if (*at == '"') {
            bool found = depth == 1 && is_word(at, end, key);
            at = skip_string(at, end);
            const char *value = skip_blank(at, end);
            if (found && value < end && *value == ':') return skip_blank(value + 1, end);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
    }
    return NULL;
}

bool json_is_kind(const char *text, size_t length, const char *kind)
{
    const char *value = value_of(text, text + length, "kind");
    return value && is_word(value, text + length, kind);
}

bool json_has_key(const char *text, size_t length, const char *key)
{
    const char *at = skip_blank(text, text + length);
    return at < text + length && *at == '{' && value_of(text, text + length, key);
}
