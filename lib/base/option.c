/* Values of option rows: defaults, and numbers from text. Integers may end in k, m or g (2^10, 2^20, 2^30); a
 * value out of range is an error with option and range. */
#include "base/option.h"
#include "base/base.h"

void lx_values_default(const struct lx_option *rows, int count, int64_t *values)
{
    for (int i = 0; i < count; i++) values[i] = rows[i].def;
}

bool lx_parse_int(const char *what, const char *text, int64_t low, int64_t high, int64_t *out, lx_status *st)
{
    const char *s = text + (*text == '-');
    int64_t v = 0;
    bool ok = isdigit((unsigned char)*s) != 0;
    for (; ok && isdigit((unsigned char)*s); s++) ok = mul_i64(v, 10, &v) && add_i64(v, *s - '0', &v);
    if (ok && *s) {
        static const char units[] = "kmg";
        const char *unit = strchr(units, tolower((unsigned char)*s));
        ok = unit && !s[1] && mul_i64(v, INT64_C(1) << (10 * (unit - units + 1)), &v);
    }
    if (!ok)
        return status_set(st, LX_E_USAGE, "%s: \"%s\" is not an integer%s", what, text,
                          high >= 1024 ? " (k, m and g may follow it)" : "");
    if (*text == '-') v = -v;
    if (v < low || v > high)
        return status_set(st, LX_E_USAGE, "%s is %lld; it must be from %lld to %lld", what, (long long)v,
                          (long long)low, (long long)high);
    *out = v;
    return true;
}

bool lx_parse_number(const char *what, const char *text, double *out, lx_status *st)
{
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(v))
        return status_set(st, LX_E_USAGE, "%s: \"%s\" is not a number", what, text);
    *out = v;
    return true;
}

bool lx_values_set(const char *owner, const struct lx_option *rows, int count, const char *name,
                   const char *text, int64_t *values, lx_status *st)
{
    char known[300] = "none";
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return lx_parse_int(name, text, rows[i].low, rows[i].high, &values[i], st);
        int wrote =
            n < sizeof known ? snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", rows[i].name) : 0;
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    return status_set(st, LX_E_USAGE, "%s has no option \"%s\"; it has: %s", owner, name, known);
}
