/* Marks of axes. A linear axis has steps of 1, 2 or 5 times a power of ten of its unit. A logarithmic one
 * has 1, 2 and 5 of every decade, or every n-th power of ten, and powers of two for bytes. */
#include "picture/ticks.h"

static const struct unit {
    double size;
    const char *word;
} byte_units[] = {{1, "B"},
                  {1024.0, "KiB"},
                  {1024.0 * 1024, "MiB"},
                  {1024.0 * 1024 * 1024, "GiB"},
                  {1024.0 * 1024 * 1024 * 1024, "TiB"},
                  {1024.0 * 1024 * 1024 * 1024 * 1024, "PiB"}},
  second_units[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}, plain_units[] = {{1, ""}};

static const struct {
    const struct unit *at;
    int count;
} units[] = {[SCALE_PLAIN] = {plain_units, 1},
             [SCALE_BYTES] = {byte_units, sizeof byte_units / sizeof *byte_units},
             [SCALE_SECONDS] = {second_units, sizeof second_units / sizeof *second_units}};

/* The largest unit that is not above the value. */
static const struct unit *ticks_unit_of(enum scale_unit kind, double value)
{
    const struct unit *u = units[kind].at;
    for (int i = 1; i < units[kind].count; i++)
        if (units[kind].at[i].size <= fabs(value) * (1 + 1e-9)) u = &units[kind].at[i];
    return u;
}

double scale_share(const struct scale *s, double v)
{
    double share =
        s->is_log ? (log(v) - log(s->low)) / (log(s->high) - log(s->low)) : (v - s->low) / (s->high - s->low);
    return !(share > 0) ? 0 : share > 1 ? 1 : share;
}

/* A value in the unit of another. */
static struct words ticks_words_like(const struct scale *s, double value, double like)
{
    struct words w;
    const struct unit *u = ticks_unit_of(s->unit, like);
    const char *word = value == 0 ? "" : u->word;
    /* Never "1.024e+03". */
    double shown = value / u->size;
    int digits = fabs(shown) >= 1000 ? 6 : 4;
    snprintf(w.at, sizeof w.at, "%.*g%s%s", digits, shown, *word ? " " : "", word);
    return w;
}

struct words scale_words(const struct scale *s, double value)
{
    return ticks_words_like(s, value, value);
}

static void ticks_add(const struct scale *s, double at, double like, struct tick *out, int *n)
{
    double slack = 1e-9 * (s->is_log ? at : s->high - s->low);
    if (*n < SCALE_TICKS && at >= s->low - slack && at <= s->high + slack)
        out[(*n)++] = (struct tick){at, ticks_words_like(s, at, like)};
}

/* Powers of `base`, or every n-th of them where there are more than `most`. */
static int ticks_powers(const struct scale *s, int most, double base, struct tick *out)
{
    double first = ceil(log(s->low) / log(base) - 1e-9), last = floor(log(s->high) / log(base) + 1e-9);
    double every = ceil((last - first + 1) / most);
    int n = 0;
    if (!(every >= 1)) return 0;
    for (double k = ceil(first / every - 1e-9) * every; k <= last; k += every)
        ticks_add(s, pow(base, k), pow(base, k), out, &n);
    return n;
}

int ticks_make(const struct scale *s, int most, struct tick out[SCALE_TICKS])
{
    static const double factor[] = {1, 2, 5};
    int room = most > SCALE_TICKS ? SCALE_TICKS : most, n = 0, i = 0;
    if (room < 1 || !(s->high > s->low) || !isfinite(s->high) || !isfinite(s->low)) return 0;
    if (s->is_log && s->low > 0 && s->unit == SCALE_BYTES) n = ticks_powers(s, room, 2, out);
    if (s->is_log && s->low > 0 && s->unit != SCALE_BYTES) {
        for (double k = floor(log10(s->low)); pow(10, k) <= s->high && n + 3 <= SCALE_TICKS; k++)
            for (i = 0; i < 3; i++) ticks_add(s, pow(10, k) * factor[i], pow(10, k) * factor[i], out, &n);
        if (n > room || n + 3 > SCALE_TICKS) n = ticks_powers(s, room, 10, out);
    }
    if (n >= 3 || (n == 2 && room == 2)) return n;
    /* The least step of 1, 2, 5, 10, ... units that puts at most `room` marks on the axis. */
    double span = s->high - s->low, base = ticks_unit_of(s->unit, s->high)->size,
           power = base * pow(10, floor(log10(span / base / room)));
    for (i = 0; floor(span / (power * factor[i]) + 1e-9) + 1 > room; i = (i + 1) % 3)
        if (i == 2) power *= 10;
    double step = power * factor[i];
    n = 0;
    for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + step * 1e-9 && n < room; k++)
        ticks_add(s, k == 0 ? 0 : k * step, s->high, out, &n); /* never -0 */
    return n;
}
