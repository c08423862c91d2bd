/* The kind of a JSON file before anyone has read it. */
#include "base/json/json.h"

#include <string.h>

/* Past the string that begins at `at`; the end of the text if it is not closed. */
static const char *json_kind_skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end) at++;
    return at < end ? at + 1 : end;
}

static const char *json_kind_skip_blank(const char *at, const char *end)
{
    while (at < end && memchr(" \t\r\n", *at, 4)) at++;
    return at;
}

static bool json_kind_begins_with(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

/* Is the string at `at` this very word? */
static bool json_kind_is_word(const char *at, const char *end, const char *word)
{
    return at < end && *at == '"' && json_kind_begins_with(at + 1, end, word) &&
           json_kind_begins_with(at + 1 + strlen(word), end, "\"");
}

/* The value of a key of the outermost object, or NULL. */
static const char *json_kind_value_of(const char *text, const char *end, const char *key)
{
    const char *at = text;
    for (int64_t depth = 0; at < end;) {
        if (*at == '"') {
            bool found = depth == 1 && json_kind_is_word(at, end, key);
            at = json_kind_skip_string(at, end);
            const char *value = json_kind_skip_blank(at, end);
            if (found && value < end && *value == ':') return json_kind_skip_blank(value + 1, end);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
    }
    return NULL;
}

bool json_is_kind(const char *text, size_t length, const char *kind)
{
    const char *value = json_kind_value_of(text, text + length, "kind");
    return value && json_kind_is_word(value, text + length, kind);
}

bool json_has_key(const char *text, size_t length, const char *key)
{
    const char *at = json_kind_skip_blank(text, text + length);
    return at < text + length && *at == '{' && json_kind_value_of(text, text + length, key);
}
