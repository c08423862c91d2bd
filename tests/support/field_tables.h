/* Rows of a file format as the tables of lib/plan-format.md have them. */
#ifndef LX_TESTS_SUPPORT_FIELD_TABLES_H
#define LX_TESTS_SUPPORT_FIELD_TABLES_H

#include "base/json/record.h"
#include "base/text.h"

static inline const char *how_taken(const struct field *f)
{
    static const char *const words[] = {
        [FIELD_STATED] = "may be absent", [FIELD_CHECKED] = "checked", [FIELD_CLAIMED] = "claimed"};
    return f->need == FIELD_NEEDED ? "stated" : words[f->standing];
}

static inline const char *field_kind_word(enum field_kind kind)
{
    static const char *const words[] = {
        [FIELD_INT] = "integer", [FIELD_REAL] = "number",   [FIELD_BOOL] = "true or false",
        [FIELD_TEXT] = "text",   [FIELD_INTS] = "integers", [FIELD_ROWS] = "rows of integers"};
    return words[kind];
}

static inline void describe_fields(const char *heading, const struct field *fields, size_t count,
                                   struct text *t)
{
    text_format(t, "%c%s:\n\n| key | value | is | meaning |\n|---|---|---|---|\n",
                heading[0] >= 'a' && heading[0] <= 'z' ? heading[0] - 'a' + 'A' : heading[0], heading + 1);
    for (size_t i = 0; i < count; i++)
        text_format(t, "| `%s` | %s | %s | %s |\n", fields[i].key, field_kind_word(fields[i].kind),
                    how_taken(&fields[i]), fields[i].help);
    text_add(t, "\n");
}

#endif
