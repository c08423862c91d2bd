/* A key per row: a number in an order that integers have, or the first bytes of a text, which decide nearly always. */
#include "text/sort_rows.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct keyed {
    int64_t key;
    const char *words; /* of a text: the rest; NULL: the key is all */
    int32_t number;
    bool unknown; /* these come last in any case */
};

/* Doubles as integers that are ordered as they are. */
static int64_t key_of_double(double d)
{
    int64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits < 0 ? INT64_MIN + (INT64_MAX & ~bits) : bits;
}

static int64_t key_of_words(const char *words)
{
    uint64_t key = 0;
    for (int i = 0; i < 8; i++) {
        key = key << 8 | (unsigned char)*words;
        words += *words != 0;
    }
    return (int64_t)(key ^ UINT64_C(1) << 63);
}

static struct keyed sort_rows_key_of(const struct column *c, const void *row, int32_t number, struct value *v)
{
    struct keyed k = {.number = number};
    column_value(c, row, v);
    if (v->is_whole)
        k.key = v->whole;
    else if (kind_is_number(c->kind))
        k = (struct keyed){.key = key_of_double(v->number),
                           .number = number,
                           .unknown = v->words != NULL || isnan(v->number)};
    else {
        const char *words = v->words ? v->words : "";
        k.key = key_of_words(words);
        k.words = words == v->made.at ? NULL : words;
    }
    return k;
}

static int sort_rows_compare(const void *a, const void *b, int sign)
{
    const struct keyed *x = a, *y = b;
    if (x->unknown != y->unknown) return x->unknown ? 1 : -1;
    int result = x->unknown ? 0
                            : sign * (x->key != y->key       ? (x->key < y->key ? -1 : 1)
                                      : x->words && y->words ? strcmp(x->words, y->words)
                                                             : 0);
    return result ? result : x->number < y->number ? -1 : x->number > y->number;
}

static int sort_rows_ascending(const void *a, const void *b)
{
    return sort_rows_compare(a, b, 1);
}

static int greatest_first(const void *a, const void *b)
{
    return sort_rows_compare(a, b, -1);
}

bool sort_rows(const struct column *c, const void *rows, size_t row_size, bool descending, int32_t *numbers,
               int32_t count)
{
    struct keyed *keys = mem_alloc(((size_t)count + 1) * sizeof *keys);
    struct value v = {0};
    if (!keys) return false;
    for (int32_t i = 0; i < count; i++)
        keys[i] = sort_rows_key_of(c, (const char *)rows + (size_t)numbers[i] * row_size, numbers[i], &v);
    value_free(&v);
    qsort(keys, (size_t)count, sizeof *keys, descending ? greatest_first : sort_rows_ascending);
    for (int32_t i = 0; i < count; i++) numbers[i] = keys[i].number;
    mem_free(keys);
    return true;
}
