/* Rows of comma-separated values; see csv_rows.h. */
#include "files/csv_rows.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

bool csv_next_row(struct csv_rows *c, bool *bad)
{
    while (*c->at == '\n' || *c->at == '\r') c->next_line += *c->at++ == '\n';
    if (!*c->at) return false;
    char *line = c->at;
    c->line = c->next_line;
    c->fields = 0;
    for (bool more = true; more;) {
        if (c->fields == CSV_FIELDS) {
            *bad = true;
            return csv_fail(c, -1, LX_E_SYNTAX, "more than %d columns; remove those that are not needed",
                            CSV_FIELDS);
        }
        char *from = c->at, *to = from;
        c->field_column[c->fields] = (int)(from - line) + 1;
        if (*c->at == '"') {
            for (c->at++; *c->at && !(*c->at == '"' && c->at[1] != '"'); c->at++) {
                if (*c->at == '"') c->at++;
                c->next_line += *c->at == '\n';
                *to++ = *c->at;
            }
            if (!*c->at) {
                *bad = true;
                return csv_fail(c, c->fields, LX_E_SYNTAX, "a quote is not closed; add its closing quote");
            }
            c->at++;
        } else
            for (; *c->at && !strchr(",\r\n", *c->at); c->at++) *to++ = *c->at;
        c->field[c->fields++] = from;
        more = *c->at == ',';
        if (!more && *c->at && !strchr("\r\n", *c->at)) {
            *bad = true;
            return csv_fail(c, c->fields - 1, LX_E_SYNTAX,
                            "text after a closing quote; write \"\" for a quote within a field");
        }
        if (*c->at == '\r' && c->at[1] == '\n') c->at++;
        c->next_line += *c->at == '\n';
        if (*c->at) c->at++;
        *to = 0;
    }
    return true;
}

bool csv_digits(const char *s, const char **end, int64_t *out)
{
    int64_t v = 0;
    if (!isdigit((unsigned char)*s)) return false;
    for (; isdigit((unsigned char)*s); s++)
        if (!mul_i64(v, 10, &v) || !add_i64(v, *s - '0', &v)) return false;
    *out = v;
    *end = s;
    return true;
}

bool csv_int(const struct csv_rows *c, int field, const char *name, int64_t low, int64_t *out)
{
    const char *end, *text = c->field[field];
    bool negative = *text == '-';
    int64_t v;
    if (!*text) return csv_fail(c, field, LX_E_SCHEMA, "%s is empty; an integer is needed here", name);
    if (!csv_digits(text + negative, &end, &v) || *end)
        return csv_fail(c, field, LX_E_SYNTAX, "%s must be an integer, not \"%.40s\"", name, text);
    if (negative) v = -v;
    if (v < low || v > LX_INT_MAX)
        return csv_fail(c, field, LX_E_RANGE, "%s is %.40s; it must be from %lld to 2^53", name, text,
                        (long long)low);
    *out = v;
    return true;
}

/* Does a field end here, going on from `at` by `step` past blanks? Semicolons count, so that a header with
 * the wrong separator is told so. */
static bool ends_field(const char *line, size_t length, size_t at, int step)
{
    while (at < length && (line[at] == ' ' || line[at] == '\t')) at += (size_t)step;
    return at >= length || strchr(",;\"\r", line[at]);
}

bool csv_header_has(const char *text, size_t length, const char *column)
{
    while (length && isspace((unsigned char)*text)) text++, length--;
    if (length && *text == '{') return false;
    const char *end = memchr(text, '\n', length);
    size_t n = end ? (size_t)(end - text) : length, m = strlen(column);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(text + i, column, m) == 0 && ends_field(text, n, i - 1, -1) &&
            ends_field(text, n, i + m, 1))
            return true;
    return false;
}

bool csv_is_text(const char *file, const char *text, size_t length, lx_status *st)
{
    int line = 1;
    const char *line_start = text;
    for (size_t i = 0; i < length;) {
        int n = utf8_length(text + i, length - i);
        int column = (int)(text + i - line_start) + 1;
        if (text[i] == 0)
            return status_set_at(st, LX_E_SYNTAX, file, line, column, "a NUL byte; this is not a text file");
        if (n == 0)
            return status_set_at(st, LX_E_SYNTAX, file, line, column,
                                 "not UTF-8 (byte 0x%02x); save the file as UTF-8", (unsigned char)text[i]);
        if (text[i] == '\n') {
            line++;
            line_start = text + i + 1;
        }
        i += (size_t)n;
    }
    return true;
}
