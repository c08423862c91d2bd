/* Numbers that differ between cores, as C expressions of `core`.
 *
 * A part's begin is almost always a sum of digits of the core's number, each times a step: the slots of
 * splits. The digits are found from the numbers themselves, and the sum is compared with every one of
 * them; where it is not equal they are two numbers, if the last part of a split is smaller, or become a table. */
#include "emit/emission.h"

enum { MOST_DIGITS = 8 };

/* Core c has (c / stride) % count steps. */
struct core_digit {
    int64_t stride, count, step;
};

bool number_is(const char *expression, int64_t value)
{
    char *end;
    return strtoll(expression, &end, 10) == value && (!*end || strcmp(end, "LL") == 0) && end != expression;
}

static const char *number_of(struct emission *e, int64_t value)
{
    bool wide = value > INT32_MAX || value < -INT32_MAX;
    return arena_format(&e->memory, "%" PRId64 "%s", value, wide ? "LL" : "");
}

const char *number_sum(struct emission *e, const char *a, const char *b)
{
    if (number_is(a, 0)) return b;
    if (number_is(b, 0)) return a;
    return arena_format(&e->memory, "%s + %s", a, b);
}

/* `a` is a product or a single name. */
const char *number_times(struct emission *e, const char *a, int64_t times)
{
    if (times == 0 || number_is(a, 0)) return "0";
    if (times == 1) return a;
    if (number_is(a, 1)) return number_of(e, times);
    return arena_format(&e->memory, "%s * %s", a, number_of(e, times));
}

/* False: the numbers are no sum of at most MOST_DIGITS digits. */
static bool digits_of(const int64_t *values, int64_t count, struct core_digit *digits, int *digit_count)
{
    int n = 0;
    for (int64_t stride = 1; stride < count;) {
        int64_t step = values[stride] - values[0], m = 2;
        while (m * stride < count && values[m * stride] - values[0] == m * step) m++;
        if (step != 0 && n == MOST_DIGITS) return false;
        if (step != 0) digits[n++] = (struct core_digit){stride, m, step};
        stride *= m;
    }
    *digit_count = n;
    for (int64_t c = 0; c < count; c++) {
        int64_t sum = values[0];
        for (int i = 0; i < n; i++) sum += c / digits[i].stride % digits[i].count * digits[i].step;
        if (sum != values[c]) return false;
    }
    return true;
}

static const char *core_table(struct emission *e, const int64_t *values, int64_t count)
{
    bool wide = false;
    for (int64_t c = 0; c < count; c++) wide |= values[c] > INT32_MAX || values[c] < -INT32_MAX;
    const char *name = arena_format(&e->memory, "table_%d", e->table_count++);
    text_format(&e->tables, "TABLE %s %s[%" PRId64 "] = {", wide ? "i64" : "int", name, count);
    for (int64_t c = 0; c < count; c++)
        text_format(&e->tables, "%s%s%" PRId64, c ? "," : "", c % 16 ? " " : "\n    ", values[c]);
    text_add(&e->tables, "};\n");
    return arena_format(&e->memory, "%s[core]", name);
}

/* One number on the cores with the last part along a split, another one on all others; NULL: they are not so. */
static const char *number_of_last(struct emission *e, const int64_t *values, int64_t count)
{
    int64_t first = 0, stride = 0;
    while (first < count && values[first] == values[0]) first++;
    while (first + stride < count && values[first + stride] == values[first]) stride++;
    if (first == count || first % stride != 0) return NULL;
    const int64_t slots = first / stride + 1;
    for (int64_t c = 0; c < count; c++)
        if (values[c] != values[c / stride % slots == slots - 1 ? first : 0]) return NULL;
    const char *slot = "core";
    if (stride > 1) slot = arena_format(&e->memory, "core / %" PRId64, stride);
    if (stride * slots < count) slot = arena_format(&e->memory, "%s %% %" PRId64, slot, slots);
    return arena_format(&e->memory, "(%s == %" PRId64 " ? %s : %s)", slot, slots - 1,
                        number_of(e, values[first]), number_of(e, values[0]));
}

const char *core_number(struct emission *e, const int64_t *values, int64_t count)
{
    struct core_digit digits[MOST_DIGITS];
    int n = 0;
    if (count < 1) return "0";
    if (!digits_of(values, count, digits, &n)) {
        const char *last = number_of_last(e, values, count);
        return last ? last : core_table(e, values, count);
    }
    const char *sum = number_of(e, values[0]);
    for (int i = 0; i < n; i++) {
        const char *digit = "core";
        if (digits[i].stride > 1) digit = arena_format(&e->memory, "core / %" PRId64, digits[i].stride);
        if (digits[i].stride * digits[i].count < count)
            digit = arena_format(&e->memory, "%s %% %" PRId64, digit, digits[i].count);
        sum = number_sum(e, sum, number_times(e, digit, digits[i].step));
    }
    return sum;
}
