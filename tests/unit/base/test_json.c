/* JSON in: strictness, places of values and errors, and texts made to break a reader. What is read is compared with what
 * cJSON, another hand, reads of the same text. */
#include "base/checked.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static bool parse_n(const char *text, size_t length, struct json *j, lx_status *st)
{
    /* A copy without a terminator, so that a sanitizer sees every byte read too far. */
    char *copy = mem_alloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    bool ok = json_parse(j, "t.json", copy, length, st);
    mem_free(copy);
    return ok;
}

static void assert_refused_n(const char *text, size_t length, enum lx_code code, int line, int column,
                             const char *says)
{
    struct json j;
    lx_status st = {0};
    if (parse_n(text, length, &j, &st)) {
        json_free(&j);
        fail_msg("accepted: %.60s", text);
    }
    if (st.code != code || st.line != line || st.column != column || !strstr(st.text, says))
        fail_msg("%.60s\n  gave %s:%d:%d \"%s\"\n  not  %s:%d:%d \"%s\"", text, lx_code_word(st.code),
                 st.line, st.column, st.text, lx_code_word(code), line, column, says);
    assert_null(j.root);
    assert_null(j.memory.head);
}

static void assert_refused(const char *text, enum lx_code code, int line, int column, const char *says)
{
    assert_refused_n(text, strlen(text), code, line, column, says);
}

static void assert_accepted(const char *text)
{
    struct json j;
    lx_status st = {0};
    if (!parse_n(text, strlen(text), &j, &st)) fail_msg("refused: %.60s: %s", text, st.text);
    json_free(&j);
}

/* The same tree as another reader's? Only there may keys differ in nothing but case. */
static bool same_tree(const struct json_value *ours, const cJSON *theirs)
{
    bool alike = ours && theirs && json_is_object(ours) == (bool)cJSON_IsObject(theirs) &&
                 json_is_array(ours) == (bool)cJSON_IsArray(theirs) &&
                 json_is_number(ours) == (bool)cJSON_IsNumber(theirs) &&
                 json_is_string(ours) == (bool)cJSON_IsString(theirs) &&
                 json_is_null(ours) == (bool)cJSON_IsNull(theirs) &&
                 json_is_true(ours) == (bool)cJSON_IsTrue(theirs) &&
                 json_is_bool(ours) == (bool)cJSON_IsBool(theirs);
    if (!alike || json_count(ours) != cJSON_GetArraySize(theirs)) return false;
    if (json_is_number(ours) && ours->number != theirs->valuedouble) return false;
    if (json_is_string(ours) && strcmp(ours->text, theirs->valuestring) != 0) return false;
    const cJSON *next = theirs->child;
    const struct json_value *v;
    json_for_each(v, ours) {
        if (!v->key != !next->string || (v->key && strcmp(v->key, next->string) != 0)) return false;
        if (!same_tree(v, next)) return false;
        next = next->next;
    }
    return true;
}

static bool reads_as_others_do(const struct json *j, const char *text, size_t length)
{
    cJSON *other = cJSON_ParseWithLength(text, length);
    bool same = same_tree(j->root, other);
    cJSON_Delete(other);
    return same;
}

static void places_of_values(void **state)
{
    (void)state;
    struct json j;
    lx_status st;
    const char *text =
        "\xef\xbb\xbf{\"a\": [1,\n  {\"b\": null}, \"\xc3\xa9\", 7],\r\n\t\"c\": {}, \"d\":\n\n   -1.5e3}\n";
    assert_true(parse_n(text, strlen(text), &j, &st));
    const struct json_value *a = json_find(j.root, "a");
    struct {
        const struct json_value *value;
        int line, column;
    } expected[] = {
        {j.root, 1, 1},
        {a, 1, 7},
        {a->child, 1, 8},
        {a->child->next, 2, 3},
        {json_find(a->child->next, "b"), 2, 9},
        {a->child->next->next, 2, 16},
        {a->child->next->next->next, 2, 22},
        {json_find(j.root, "c"), 3, 7},
        {json_find(j.root, "d"), 5, 4},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct json_place p = expected[i].value->place;
        assert_int_equal(p.line, expected[i].line);
        assert_int_equal(p.column, expected[i].column);
    }
    json_free(&j);
    json_free(&j);
}

static void keys_stand_once(void **state)
{
    (void)state;
    assert_refused("{\"a\": 1,\n \"b\": 2, \"a\": 3}", LX_E_DUPLICATE, 2, 10, "\"a\" stands twice");
    assert_refused("{\"a\": 1, \"\\u0061\": 3}", LX_E_DUPLICATE, 1, 10, "stands twice");
    assert_refused("[[{\"x\": {\"y\": 0, \"y\": 0}}]]", LX_E_DUPLICATE, 1, 18, "remove one");
    assert_accepted("[{\"a\": 1}, {\"a\": 1, \"A\": 2}]");
    /* Few keys and many are compared in different ways; the first that stood before is named in both. */
    assert_refused("{\"z\": 0, \"b\": 1, \"z\": 2, \"a\": 3, \"b\": 4, \"a\": 5, \"z\": 6}", LX_E_DUPLICATE,
                   1, 18, "\"z\" stands twice");
    char text[2000] = "{";
    for (int i = 0; i < 100; i++) snprintf(text + strlen(text), 20, "\"k%d\": 0,\n", 99 - i);
    char *end = text + strlen(text);
    strcpy(end, "\"k50\": 0,\n\"k1\": 0,\n\"k50\": 0}");
    assert_refused(text, LX_E_DUPLICATE, 101, 1, "\"k50\" stands twice");
    strcpy(end, "\"k100\": 0}");
    assert_accepted(text);
}

/* The tree: kinds, keys, strings without their escapes; and NULL has nothing in it. */
static void trees_are_as_written(void **state)
{
    static const char text[] = "{\"\\u00e9\\t\": [null, true, false, -0, 2.5e-3, "
                               "\"a\\/b\\\"\\\\\\b\\f\\n\\r\\ud83d\\ude00\\u20ac\"],"
                               "\"\": {\"x\": {}, \"y\": []}}";
    struct json j;
    lx_status st;
    (void)state;
    assert_true(parse_n(text, sizeof text - 1, &j, &st));
    const struct json_value *list = json_find(j.root, "\xc3\xa9\t");
    assert_int_equal(json_count(list), 6);
    assert_true(json_is_null(json_item(list, 0)) && json_is_true(json_item(list, 1)) &&
                json_is_bool(json_item(list, 2)) && !json_is_true(json_item(list, 2)));
    assert_true(1 / json_item(list, 3)->number < 0);
    assert_true(json_item(list, 4)->number == 0.0025);
    assert_string_equal(json_item(list, 5)->text, "a/b\"\\\b\f\n\r\xf0\x9f\x98\x80\xe2\x82\xac");
    assert_null(json_item(list, 6));
    assert_int_equal(json_count(json_find(j.root, "")), 2);
    assert_null(json_find(list, "x"));
    assert_true(!json_find(NULL, "x") && json_count(NULL) == 0 && !json_item(NULL, 0) && !json_is_null(NULL));
    assert_true(reads_as_others_do(&j, text, sizeof text - 1));
    json_free(&j);
}

/* A program that calls the library may have a comma for a point. */
static void numbers_have_points_in_every_language(void **state)
{
    static const char *const languages[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
    struct json j;
    lx_status st;
    (void)state;
    for (int i = 0; i < 3; i++) {
        if (!setlocale(LC_NUMERIC, languages[i])) continue;
        assert_true(parse_n("[1.5, 25e-2]", 12, &j, &st));
        assert_true(json_item(j.root, 0)->number == 1.5 && json_item(j.root, 1)->number == 0.25);
        json_free(&j);
    }
    setlocale(LC_NUMERIC, "C");
}

static void keys_are_known(void **state)
{
    (void)state;
    static const char *const keys[] = {"size", "name", NULL};
    struct json j;
    lx_status st;
    assert_true(parse_n("{\"name\": 1,\n \"sizes\": 2}", 24, &j, &st));
    assert_false(json_only_keys(&j, j.root, "a buffer", keys, &st));
    assert_int_equal(st.code, LX_E_SCHEMA);
    assert_string_equal(st.text,
                        "unknown key \"sizes\" in a buffer; did you mean \"size\"? it may have: size, name");
    assert_int_equal(st.line * 100 + st.column, 202);
    assert_false(json_only_keys(&j, j.root->child, "a buffer", keys, &st));
    assert_string_equal(st.text, "a buffer must be an object, not a number");
    json_free(&j);
}

static void readers_check_type_and_range(void **state)
{
    (void)state;
    struct json j;
    lx_status st;
    const char *text =
        "{\"i\": 5, \"f\": 1.5, \"s\": \"x\", \"b\": true, \"a\": [], \"n\": null, \"e\": 1e3, \"m\": -7}";
    assert_true(parse_n(text, strlen(text), &j, &st));
    int64_t v = 42;
    double d = 42;
    const char *s = "kept";
    bool b = false;
    const struct json_value *array = NULL;
    assert_true(json_int(&j, j.root, "i", 0, 5, &v, &st) && v == 5);
    assert_true(json_int(&j, j.root, "e", 0, 1000, &v, &st) && v == 1000);
    assert_true(json_int(&j, j.root, "m", -7, 0, &v, &st) && v == -7);
    assert_false(json_int(&j, j.root, "i", 6, 9, &v, &st));
    assert_string_equal(st.text, "i is 5; it must be from 6 to 9");
    assert_int_equal(st.code, LX_E_RANGE);
    assert_false(json_int(&j, j.root, "f", 0, 9, &v, &st));
    assert_string_equal(st.text, "f must be an integer, not 1.5");
    assert_false(json_int(&j, j.root, "n", 0, 9, &v, &st));
    assert_string_equal(st.text, "n must be an integer, not null");
    assert_false(json_int(&j, j.root, "absent", 0, 9, &v, &st));
    assert_non_null(strstr(st.text, "missing"));
    assert_true(json_opt_int(&j, j.root, "absent", 0, 9, &v, &st) && v == -7);
    assert_true(json_opt_number(&j, j.root, "f", 0, 2, &d, &st) && d == 1.5);
    assert_false(json_opt_number(&j, j.root, "f", 2, 3, &d, &st));
    assert_false(json_opt_number(&j, j.root, "s", 2, 3, &d, &st));
    assert_true(json_opt_string(&j, j.root, "absent", &s, &st) && strcmp(s, "kept") == 0);
    assert_true(json_string(&j, j.root, "s", &s, &st) && strcmp(s, "x") == 0);
    assert_false(json_string(&j, j.root, "b", &s, &st));
    assert_string_equal(st.text, "b must be a string, not true or false");
    assert_true(json_opt_bool(&j, j.root, "b", &b, &st) && b);
    assert_false(json_opt_bool(&j, j.root, "i", &b, &st));
    assert_true(json_array(&j, j.root, "a", &array, &st) && json_is_array(array));
    assert_false(json_array(&j, j.root, "s", &array, &st));
    assert_false(json_opt_array(&j, j.root, "n", &array, &st));
    json_free(&j);
}

/* Whoever asks for all 64 bits gets them; nobody else takes such a number. */
static void integers_beyond_a_double(void **state)
{
    static const char text[] = "[9007199254740993, -9223372036854775808, 5, 18446744073709551615, 0.5, 1e18]";
    static const int64_t want[] = {9007199254740993, INT64_MIN, 5, -1, 0, 1000000000000000000};
    struct json j;
    lx_status st;
    int64_t v;
    int i = 0;
    (void)state;
    assert_true(parse_n(text, sizeof text - 1, &j, &st));
    for (const struct json_value *item = j.root->child; item; item = item->next, i++) {
        assert_int_equal(json_whole(item, &v), i != 4);
        if (i != 4) assert_true(v == want[i]);
        assert_int_equal(json_int_value(&j, item, "x", INT64_MIN, INT64_MAX, &v, &st), i == 2);
    }
    json_free(&j);
    assert_true(parse_n("{\"x\": 9007199254740993}", 23, &j, &st));
    double d;
    assert_false(json_opt_number(&j, j.root, "x", 0, 1e300, &d, &st));
    assert_true(st.code == LX_E_RANGE && st.line == 1 && st.column == 7 && strstr(st.text, "2^53"));
    json_free(&j);
}

static void numbers_at_the_edges(void **state)
{
    (void)state;
    struct json j;
    lx_status st;
    int64_t v;
    assert_true(parse_n("[9007199254740992, -9007199254740992, 0, -0]", 44, &j, &st));
    const struct json_value *item = j.root->child;
    assert_true(json_int_value(&j, item, "x", 0, LX_INT_MAX, &v, &st) && v == LX_INT_MAX);
    assert_true(json_int_value(&j, item->next, "x", INT64_MIN, LX_INT_MAX, &v, &st) && v == -LX_INT_MAX);
    json_free(&j);
    assert_refused("18446744073709551616", LX_E_RANGE, 1, 1, "2^53");
    assert_refused("[1, -9223372036854775809]", LX_E_RANGE, 1, 5, "2^53");
    assert_refused("[184467440737095516160]", LX_E_RANGE, 1, 2, "64 bits");
    assert_refused("1e400", LX_E_RANGE, 1, 1, "too large");
    assert_refused("[-1e999999999]", LX_E_RANGE, 1, 2, "too large");
    assert_refused("[NaN]", LX_E_SYNTAX, 1, 2, "NaN and Infinity do not exist");
    assert_refused("[-Infinity]", LX_E_SYNTAX, 1, 3, "expected a digit");
    assert_refused("[Infinity]", LX_E_SYNTAX, 1, 2, "Infinity");
    assert_refused("[01]", LX_E_SYNTAX, 1, 2, "begin with 0");
    assert_refused("[-]", LX_E_SYNTAX, 1, 3, "digit");
    assert_refused("[+1]", LX_E_SYNTAX, 1, 2, "'+'");
    assert_refused("[.5]", LX_E_SYNTAX, 1, 2, "'.'");
    assert_refused("[5.]", LX_E_SYNTAX, 1, 4, "after the point");
    assert_refused("[5e]", LX_E_SYNTAX, 1, 4, "exponent");
    assert_refused("[0x10]", LX_E_SYNTAX, 1, 3, "'x'");
    assert_refused("[1 2]", LX_E_SYNTAX, 1, 4, "','");
    assert_refused("0.1234567890123456789012345678901234567890123456789012345678901", LX_E_RANGE, 1, 1,
                   "at most 60");
    /* An integer in the clothes of a fraction is not let through either. */
    assert_true(parse_n("[1e16, 1e300]", 13, &j, &st));
    assert_false(json_int_value(&j, j.root->child, "x", 0, INT64_MAX, &v, &st));
    assert_false(json_int_value(&j, j.root->child->next, "x", 0, INT64_MAX, &v, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    json_free(&j);
}

static void strings_are_utf8(void **state)
{
    (void)state;
    assert_accepted("[\"\\u00e9\\ud83d\\ude00\\n\\\"\\/\", \"\xc3\xa9\", \"\xe2\x82\xac\", "
                    "\"\xf0\x9f\x98\x80\", \"\xf4\x8f\xbf\xbf\"]");
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xc3",             /* cut */
        "\xc3(",            /* no continuation */
        "\xc0\xaf",         /* overlong, 2 bytes */
        "\xc1\xbf",         /* overlong, 2 bytes */
        "\xe0\x80\xaf",     /* overlong, 3 bytes */
        "\xe2\x82",         /* cut */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf0\x80\x80\xaf", /* overlong, 4 bytes */
        "\xf0\x9f\x98",     /* cut */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf8\x88\x80\x80\x80",
        "\xfe",
        "\xff",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[32];
        snprintf(text, sizeof text, "[\"a%s\"]", bad[i]);
        assert_refused(text, LX_E_SYNTAX, 1, 4, "not UTF-8");
    }
    assert_refused("[\"a\\u12\"]", LX_E_SYNTAX, 1, 5, "escape");
    assert_refused("[\"a\\x41\"]", LX_E_SYNTAX, 1, 5, "escape");
    assert_refused("[\"\\ud800\"]", LX_E_SYNTAX, 1, 4, "surrogate");
    assert_refused("[\"\\ud800\\u0041\"]", LX_E_SYNTAX, 1, 4, "surrogate");
    assert_refused("[\"\\udc00\\ud800\"]", LX_E_SYNTAX, 1, 4, "surrogate");
    assert_refused("[\"\\u0000\"]", LX_E_SYNTAX, 1, 4, "NUL");
    assert_refused("[\"a\nb\"]", LX_E_SYNTAX, 1, 4, "closing quote");
    assert_refused("[\"a\tb\"]", LX_E_SYNTAX, 1, 4, "control character");
    assert_refused_n("[\"a\0b\"]", 7, LX_E_SYNTAX, 1, 4, "control character");
    assert_refused_n("[1]\0", 4, LX_E_SYNTAX, 1, 4, "0x00");
    assert_refused_n("\0", 1, LX_E_SYNTAX, 1, 1, "0x00");
}

static void grammar_is_strict(void **state)
{
    (void)state;
    assert_refused("", LX_E_SYNTAX, 1, 1, "empty");
    assert_refused(" \n\n ", LX_E_SYNTAX, 3, 2, "empty");
    assert_refused("{} {}", LX_E_SYNTAX, 1, 4, "text after the end");
    assert_refused("{}\n]", LX_E_SYNTAX, 2, 1, "text after the end");
    assert_refused("[1,]", LX_E_SYNTAX, 1, 4, "a comma before ']'");
    assert_refused("{\"a\": 1,\n}", LX_E_SYNTAX, 2, 1, "a comma before '}'");
    assert_refused("[,1]", LX_E_SYNTAX, 1, 2, "','");
    assert_refused("{\"a\" 1}", LX_E_SYNTAX, 1, 6, "':'");
    assert_refused("{a: 1}", LX_E_SYNTAX, 1, 2, "key in quotes");
    assert_refused("{'a': 1}", LX_E_SYNTAX, 1, 2, "key in quotes");
    assert_refused("{1: 1}", LX_E_SYNTAX, 1, 2, "key in quotes");
    assert_refused("[1}", LX_E_SYNTAX, 1, 3, "']'");
    assert_refused("{\"a\": 1]", LX_E_SYNTAX, 1, 8, "'}'");
    assert_refused("[1", LX_E_SYNTAX, 1, 3, "']' is missing");
    assert_refused("[tru]", LX_E_SYNTAX, 1, 2, "'t'");
    assert_refused("[True]", LX_E_SYNTAX, 1, 2, "'T'");
    assert_refused("[truex]", LX_E_SYNTAX, 1, 6, "'x'");
    assert_refused("[1] // done", LX_E_SYNTAX, 1, 5, "text after");
    assert_refused("/* a */ [1]", LX_E_SYNTAX, 1, 1, "'/'");
    assert_refused("[1\f]", LX_E_SYNTAX, 1, 3, "0x0c");
    assert_refused("\xff\xfe[", LX_E_SYNTAX, 1, 1, "UTF-16");
    assert_accepted("\xef\xbb\xbf"
                    "1"); /* a byte order mark alone is no reason to refuse */
    assert_accepted("\xef\xbb\xbf[]");
}

/* The same of two texts, and whether they are equal, against cJSON. */
static void values_are_written_and_compared(void **state)
{
    static const char *const texts[] = {"{\"a\":[1,2.5,\"x\\n\"],\"b\":{\"c\":null,\"d\":true}}",
                                        "{\"b\":{\"d\":true,\"c\":null},\"a\":[1,2.5,\"x\\n\"]}",
                                        "{\"a\":[2.5,1,\"x\\n\"],\"b\":{\"c\":null,\"d\":true}}",
                                        "{\"a\":[1,2.5],\"b\":{\"c\":null,\"d\":false}}",
                                        "{\"a\":[],\"e\":{}}",
                                        "9007199254740993",
                                        "[]"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    (void)state;
    for (int i = 0; i < TEXTS; i++)
        for (int k = 0; k < TEXTS; k++) {
            struct json a, b;
            struct text t = {0};
            lx_status st = {0};
            assert_true(parse_n(texts[i], strlen(texts[i]), &a, &st) &&
                        parse_n(texts[k], strlen(texts[k]), &b, &st));
            cJSON *x = cJSON_Parse(texts[i]), *y = cJSON_Parse(texts[k]);
            assert_int_equal(json_same(a.root, b.root), cJSON_Compare(x, y, true));
            json_add(a.root, &t);
            assert_string_equal(t.at, texts[i]);
            text_free(&t);
            cJSON_Delete(x);
            cJSON_Delete(y);
            json_free(&a);
            json_free(&b);
        }
    assert_true(json_same(NULL, NULL));
}

static void bombs_are_defused(void **state)
{
    (void)state;
    char deep[2 * JSON_MAX_DEPTH + 3] = "";
    memset(deep, '[', JSON_MAX_DEPTH);
    memset(deep + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    assert_accepted(deep);
    memset(deep, '[', JSON_MAX_DEPTH + 1);
    memset(deep + JSON_MAX_DEPTH + 1, ']', JSON_MAX_DEPTH + 1);
    assert_refused(deep, LX_E_LIMIT, 1, JSON_MAX_DEPTH + 1, "nested deeper than 64");
    size_t size = (size_t)100 << 20;
    char *text = mem_alloc(size);
    struct json j;
    lx_status st = {0};
    memset(text, '[', size);
    assert_false(json_parse(&j, "bomb", text, size, &st));
    assert_int_equal(st.code, LX_E_LIMIT);
    memset(text, '9', size);
    assert_false(json_parse(&j, "bomb", text, size, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    memset(text, ' ', size);
    assert_false(json_parse(&j, "bomb", text, size, &st));
    assert_int_equal(st.code, LX_E_SYNTAX);
    memset(text, 'x', size);
    text[0] = '"';
    assert_false(json_parse(&j, "bomb", text, size, &st));
    assert_int_equal(st.code, LX_E_SYNTAX);
    text[0] = '[';
    for (size_t i = 1; i + 1 < size; i += 2) memcpy(text + i, "0,", 2);
    assert_false(json_parse(&j, "bomb", text, size, &st)); /* 50 million values */
    assert_int_equal(st.code, LX_E_LIMIT);
    /* As many that take their bytes are read: a few more than the limit. */
    size_t count = JSON_MAX_VALUES + 5, bytes = 0;
    for (size_t i = 0; i < count; i++, bytes += 4) memcpy(text + 1 + bytes, "100,", 4);
    text[bytes] = ']';
    if (!json_parse(&j, "long", text, bytes + 1, &st)) fail_msg("%s", st.text);
    assert_int_equal(json_count(j.root), count);
    json_free(&j);
    mem_free(text);
}

static const char document[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"caf\xc3\xa9 \\u00e9 \\ud83d\\ude00\",\n"
    " \"device\": {\"preset\": \"spyre\", \"lx_reserved_fraction\": 2.0e-1},\n"
    " \"tensors\": [{\"name\": \"x\", \"shape\": [64, 128], \"dtype\": \"fp16\"}, null, true, false, "
    "-0.5E+10],\n"
    " \"deep\": [[[[{\"a\": [{}]}]]]]}";

static void every_prefix_is_survived(void **state)
{
    (void)state;
    size_t length = sizeof document - 1;
    for (size_t n = 0; n <= length; n++) {
        struct json j;
        lx_status st = {0};
        bool ok = parse_n(document, n, &j, &st);
        assert_int_equal(ok, n == length);
        if (ok) {
            json_free(&j);
            continue;
        }
        assert_int_not_equal(st.code, LX_E_MEMORY);
        assert_true(st.line > 0 && st.column > 0 && st.text[0]);
    }
}

/* Whatever the bytes: an answer, and where it is no, a place. What is read is what others read. */
static void random_bytes_are_survived(void **state)
{
    (void)state;
    static const char spice[] = "{}[]\",:\\u0123456789eE+-.tfn \n\xc3\xef\xff";
    struct rng r = rng_seed(20);
    int accepted = 0;
    for (int i = 0; i < 10000; i++) {
        char text[sizeof document];
        size_t length = sizeof document - 1;
        memcpy(text, document, length);
        for (uint64_t k = 0, n = 1 + rng_below(&r, 4); k < n; k++) {
            size_t at = (size_t)rng_below(&r, length);
            if (rng_below(&r, 3) == 0) {
                memmove(text + at, text + at + 1, length - at - 1);
                length--;
            } else
                text[at] =
                    rng_below(&r, 2) ? spice[rng_below(&r, sizeof spice - 1)] : (char)rng_below(&r, 256);
        }
        struct json j;
        lx_status st = {0};
        if (parse_n(text, length, &j, &st)) {
            accepted++;
            assert_true(reads_as_others_do(&j, text, length));
            json_free(&j);
        } else {
            assert_int_not_equal(st.code, LX_OK);
            assert_int_not_equal(st.code, LX_E_MEMORY);
            assert_true(st.line > 0 && st.column > 0);
        }
    }
    assert_in_range(accepted, 100, 9000); /* both roads were walked */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_of_values),
        cmocka_unit_test(keys_stand_once),
        cmocka_unit_test(trees_are_as_written),
        cmocka_unit_test(numbers_have_points_in_every_language),
        cmocka_unit_test(keys_are_known),
        cmocka_unit_test(readers_check_type_and_range),
        cmocka_unit_test(numbers_at_the_edges),
        cmocka_unit_test(integers_beyond_a_double),
        cmocka_unit_test(strings_are_utf8),
        cmocka_unit_test(grammar_is_strict),
        cmocka_unit_test(values_are_written_and_compared),
        cmocka_unit_test(bombs_are_defused),
        cmocka_unit_test(every_prefix_is_survived),
        cmocka_unit_test(random_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
