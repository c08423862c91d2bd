/* Keys from text and to text, by one table of names. */
#include "tui/core/key.h"
#include "text/format.h"

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
        /* "Down", "C-r"; a place may follow: "Click:3,10", "Resize:80x24" with the columns first. */
        size_t n = strcspn(word, ":");
        bool control = strncasecmp(word, "C-", 2) == 0 && isalpha((unsigned char)word[2]) && !word[3],
             known = control;
        int a = 0, b = 0;
        char between = 0;
        *out = (struct key){.code = control ? (uint32_t)(toupper((unsigned char)word[2]) - '@') : 0};
        for (int i = 0; !known && i < NAMES; i++) {
            known = strncasecmp(word, names[i].name, n) == 0 && !names[i].name[n];
            if (known) out->code = names[i].code;
        }
        if (known && word[n]) {
            known = !control && sscanf(word + n + 1, "%d%c%d", &a, &between, &b) == 3 && a >= 0 && b >= 0 &&
                    a <= 1000 && b <= 1000;
            out->row = between == 'x' ? b : a;
            out->column = between == 'x' ? a : b;
        }
        if (!end || !known)
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
