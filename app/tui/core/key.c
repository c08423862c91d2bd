/* Keys from text and to text, by one table of names. */
#include "tui/core/key.h"
#include "base/fail.h"
#include "text/format.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KEY_ROW(id, name) {name, AT_##id},
static const struct {
    const char *name;
    uint32_t code;
} names[] = {NAMED_KEYS(KEY_ROW){"Tab", AT_TAB},
             {"Enter", AT_ENTER},
             {"Esc", AT_ESCAPE},
             {"BS", AT_BACKSPACE},
             {"Space", ' '},
             {"lt", '<'}};
#undef KEY_ROW

enum { NAMES = sizeof names / sizeof *names };

/* "Down", "C-r"; a place may follow: "Click:3,10", "Resize:80x24" with the columns first. */
static bool key_parse_named(const char *word, struct key *out)
{
    size_t n = strcspn(word, ":");
    int a = 0, b = 0;
    char between = 0;
    if (strncasecmp(word, "C-", 2) == 0 && isalpha((unsigned char)word[2]) && !word[3]) {
        *out = (struct key){.code = (uint32_t)(toupper((unsigned char)word[2]) - '@')};
        return true;
    }
    for (int i = 0; i < NAMES; i++) {
        if (strncasecmp(word, names[i].name, n) != 0 || names[i].name[n]) continue;
        *out = (struct key){.code = names[i].code};
        if (!word[n]) return true;
        if (sscanf(word + n + 1, "%d%c%d", &a, &between, &b) != 3 || a < 0 || b < 0 || a > 1000 || b > 1000)
            return false;
        out->row = between == 'x' ? b : a;
        out->column = between == 'x' ? a : b;
        return true;
    }
    return false;
}

bool key_parse(const char **text, struct key *out, lx_status *st)
{
    const char *s = *text, *end = *s == '<' ? strchr(s, '>') : NULL;
    st->code = LX_OK;
    while (*s == '\n' || *s == '\r') s++; /* a script may have several lines */
    if (!*s) return false;
    if (*s == '<') {
        char word[32] = "";
        end = strchr(s, '>');
        if (end && end - s - 1 < (long)sizeof word) memcpy(word, s + 1, (size_t)(end - s - 1));
        if (!end || !key_parse_named(word, out))
            return status_set(st, LX_E_USAGE,
                              "\"%.12s\" is not a key; write <Down>, <C-r>, <Enter>, <wait>, or <lt> "
                              "for the character itself",
                              s);
        *text = end + 1;
        return true;
    }
    int columns, length = next_character(s, &out->code, &columns);
    *text = s + length;
    out->row = out->column = 0;
    return true;
}

const char *name_of_key(uint32_t code, char *out)
{
    for (int i = NAMES; i-- > 0;)
        if (names[i].code == code) {
            snprintf(out, 16, "%s%.11s%s", code == '<' ? "" : "<", code == '<' ? "<" : names[i].name,
                     code == '<' ? "" : ">");
            return out;
        }
    if (code < 32)
        snprintf(out, 16, "<C-%c>", tolower((int)code + '@'));
    else
        out[code < AT_FIRST ? encode_character(code, out) : 0] = 0;
    return out;
}
