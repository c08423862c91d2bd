/* Compiles a formula once to a stack program and runs it per tile. At most 64 steps, 16 values deep. */
#include "launch/launch_grid.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 64, MOST_DEEP = 16 };
enum action { PUSH, NAME, ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, NEGATE, LEAST, MOST, ABSOLUTE };
enum name { ROW, COLUMN, BATCH, ROWS, COLUMNS, BATCHES, NAMES };

static const char *const names[NAMES] = {"m", "n", "b", "Mt", "Nt", "B"};

struct formula {
    int count;
    struct {
        enum action action;
        int64_t value; /* PUSH: the value; NAME: the index of the name */
    } step[MOST_STEPS];
};

struct parser {
    const char *text, *at;
    struct formula *out;
    int deep;
    lx_status *st;
};

static bool tile_formula_refuse(const struct parser *p, const char *what)
{
    return status_set(
        p->st, LX_E_USAGE,
        "the tile order \"%s\": %s at character %d; a formula has +, -, *, /, %%, brackets, min, max and "
        "abs of numbers and m, n, b, Mt, Nt, B",
        p->text, what, (int)(p->at - p->text) + 1);
}

static bool tile_formula_emit(struct parser *p, enum action action, int64_t value)
{
    if (p->out->count == MOST_STEPS) return tile_formula_refuse(p, "it is too long");
    p->out->step[p->out->count].action = action;
    p->out->step[p->out->count++].value = value;
    return true;
}

static void tile_formula_skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool tile_formula_take(struct parser *p, char c)
{
    tile_formula_skip_blanks(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static bool parse_sum(struct parser *p);

static bool parse_value(struct parser *p)
{
    static const struct {
        const char *name;
        enum action action;
        int arguments;
    } functions[] = {{"min", LEAST, 2}, {"max", MOST, 2}, {"abs", ABSOLUTE, 1}};
    const char *from = p->at;
    size_t n = 0;
    int64_t value = 0;
    for (; isdigit((unsigned char)*p->at); p->at++)
        if (!mul_i64(value, 10, &value) || !add_i64(value, *p->at - '0', &value))
            return tile_formula_refuse(p, "a number beyond 2^63");
    if (p->at > from) return tile_formula_emit(p, PUSH, value);
    while (isalnum((unsigned char)from[n])) n++;
    for (int i = 0; i < NAMES; i++)
        if (strlen(names[i]) == n && strncmp(names[i], from, n) == 0) {
            p->at += n;
            return tile_formula_emit(p, NAME, i);
        }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == n && strncmp(functions[i].name, from, n) == 0) {
            /* "(a)" or "(a, b)" after a function name. */
            p->at += n;
            if (!tile_formula_take(p, '(')) return tile_formula_refuse(p, "a bracket is missing");
            for (int k = 0; k < functions[i].arguments; k++) {
                if (k > 0 && !tile_formula_take(p, ',')) return tile_formula_refuse(p, "a comma is missing");
                if (!parse_sum(p)) return false;
            }
            return tile_formula_take(p, ')') ? tile_formula_emit(p, functions[i].action, 0)
                                             : tile_formula_refuse(p, "a closing bracket is missing");
        }
    return tile_formula_refuse(p, n       ? "an unknown name"
                                  : *from ? "something that is no value"
                                          : "a value is missing");
}

static bool parse_factor(struct parser *p)
{
    if (p->deep == MOST_DEEP) return tile_formula_refuse(p, "it is nested too deep");
    p->deep++;
    bool ok;
    tile_formula_skip_blanks(p);
    if (tile_formula_take(p, '-'))
        ok = parse_factor(p) && tile_formula_emit(p, NEGATE, 0);
    else if (tile_formula_take(p, '('))
        ok = parse_sum(p) &&
             (tile_formula_take(p, ')') || tile_formula_refuse(p, "a closing bracket is missing"));
    else
        ok = parse_value(p);
    p->deep--;
    return ok;
}

/* Left-associative operators of equal precedence. */
static bool parse_chain(struct parser *p, bool (*part)(struct parser *), const char *operators,
                        const enum action *actions)
{
    if (!part(p)) return false;
    for (;;) {
        tile_formula_skip_blanks(p);
        const char *found = *p->at ? strchr(operators, *p->at) : NULL;
        if (!found) return true;
        p->at++;
        if (!part(p) || !tile_formula_emit(p, actions[found - operators], 0)) return false;
    }
}

static bool parse_product(struct parser *p)
{
    static const enum action actions[] = {MULTIPLY, DIVIDE, REMAINDER};
    return parse_chain(p, parse_factor, "*/%", actions);
}

static bool parse_sum(struct parser *p)
{
    static const enum action actions[] = {ADD, SUBTRACT};
    return parse_chain(p, parse_product, "+-", actions);
}

static bool tile_formula_parse(const char *text, struct formula *out, lx_status *st)
{
    struct parser p = {.text = text, .at = text, .out = out, .st = st};
    out->count = 0;
    if (!parse_sum(&p)) return false;
    return *p.at ? tile_formula_refuse(&p, "something behind its end") : true;
}

bool formula_valid(const char *text, lx_status *st)
{
    struct formula f;
    return tile_formula_parse(text, &f, st);
}

static bool tile_formula_divide(int64_t a, int64_t b, int64_t *quotient, int64_t *rest)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    *quotient = a / b;
    *rest = a % b;
    if (*rest != 0 && (*rest < 0) != (b < 0)) {
        --*quotient;
        *rest += b;
    }
    return true;
}

static bool tile_formula_combine(enum action action, int64_t a, int64_t b, int64_t *out)
{
    int64_t other;
    switch (action) {
    case ADD:
        return add_i64(a, b, out);
    case SUBTRACT:
        return b != INT64_MIN && add_i64(a, -b, out);
    case MULTIPLY:
        return mul_i64(a, b, out);
    case DIVIDE:
        return tile_formula_divide(a, b, out, &other);
    case REMAINDER:
        return tile_formula_divide(a, b, &other, out);
    case LEAST:
        *out = min_i64(a, b);
        return true;
    default:
        *out = max_i64(a, b);
        return true;
    }
}

static bool tile_formula_run(const struct formula *f, const int64_t *values, int64_t *out)
{
    int64_t stack[MOST_STEPS + 1] = {0};
    int n = 0;
    for (int i = 0; i < f->count; i++) {
        enum action action = f->step[i].action;
        if (action == PUSH || action == NAME) {
            stack[n++] = action == PUSH ? f->step[i].value : values[f->step[i].value];
        } else if (action == NEGATE || action == ABSOLUTE) {
            if (stack[n - 1] == INT64_MIN) return false;
            if (action == NEGATE || stack[n - 1] < 0) stack[n - 1] = -stack[n - 1];
        } else {
            n--;
            if (!tile_formula_combine(action, stack[n - 1], stack[n], &stack[n - 1])) return false;
        }
    }
    *out = stack[0];
    return true;
}

struct valued {
    int64_t value, number;
};

static int tile_formula_by_value(const void *a, const void *b)
{
    const struct valued *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

bool formula_sort(const char *text, int64_t batch, int64_t mt, int64_t nt, int64_t *tiles, lx_status *st)
{
    struct formula f;
    int64_t all = batch * mt * nt;
    if (!tile_formula_parse(text, &f, st)) return false;
    struct valued *list = mem_alloc((size_t)all * sizeof *list);
    bool ok = true;
    for (int64_t t = 0; ok && t < all; t++) {
        const int64_t values[NAMES] = {t / nt % mt, t % nt, t / (mt * nt), mt, nt, batch};
        list[t].number = t;
        ok = tile_formula_run(&f, values, &list[t].value)
                 ? true
                 : status_set(st, LX_E_USAGE,
                              "the tile order \"%s\" has no value for m %" PRId64 ", n %" PRId64
                              ", b %" PRId64 ": a division by 0, or more than 2^63",
                              text, values[ROW], values[COLUMN], values[BATCH]);
    }
    if (ok) qsort(list, (size_t)all, sizeof *list, tile_formula_by_value);
    for (int64_t t = 0; ok && t < all; t++) tiles[t] = list[t].number;
    mem_free(list);
    return ok;
}
