/* Words of patterns that must be in a table, and what an error says of one that is not. */
#include "files/pattern_list.h"
#include "base/fail.h"
#include "base/words/words.h"

#include <stdio.h>
#include <string.h>

/* "known: a, b, c" for errors about words. */
const char *list_words(char out[WORDS_LIST], const char *(*word)(int), int count)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < count && n < WORDS_LIST - 10; i++) {
        int wrote = snprintf(out + n, WORDS_LIST - n, "%s%s", i ? ", " : "", word(i));
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    return out;
}

static int pattern_words_find_word(const char *word, const char *(*nth)(int), int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, nth(i)) == 0) return i;
    return -1;
}

/* What other programs call a type that has another name here. */
static const char *other_name(const char *word)
{
    static const char *const names[][2] = {
        {"float16", "fp16"}, {"half", "fp16"},       {"f16", "fp16"},        {"float32", "fp32"},
        {"float", "fp32"},   {"f32", "fp32"},        {"bfloat16", "bf16"},   {"bfloat", "bf16"},
        {"i8", "int8"},      {"i32", "int32"},       {"float8", "fp8"},      {"f8", "fp8"},
        {"const", "weight"}, {"constant", "weight"}, {"parameter", "weight"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], word) == 0) return names[i][1];
    return NULL;
}

/* " did you mean \"fp16\"?" of a word that is in no table; empty where none is near. */
const char *words_meant(const char *word, const char *(*nth)(int), int count, char *out, size_t size)
{
    const char *words[WORDS_MOST + 1] = {0};
    for (int i = 0; i < count && i < WORDS_MOST; i++) words[i] = nth(i);
    const char *other = other_name(word);
    if (other && pattern_words_find_word(other, nth, count) < 0) other = NULL;
    const char *near = other ? other : nearest(word, words);
    snprintf(out, size, near ? " did you mean \"%s\"?" : "%.0s", near ? near : "");
    return out;
}

/* An optional string that must be one of a table's words. */
bool read_word(struct reader *r, const struct json_value *object, const char *key, const char *(*nth)(int),
               int count, enum lx_code code, int *out)
{
    const char *word = NULL;
    if (!json_opt_string(r->j, object, key, &word, r->st)) return false;
    if (!word) return true;
    int i = pattern_words_find_word(word, nth, count);
    char known[WORDS_LIST], near[WORDS_MEANT];
    if (i < 0)
        return json_error(r->j, json_find(object, key), r->st, code, "unknown %s \"%s\";%s known: %s", key,
                          word, words_meant(word, nth, count, near, sizeof near),
                          list_words(known, nth, count));
    *out = i;
    return true;
}
