/* Values at the axes of charts, short and alike: three digits and a unit. */
#include "tui/draw/chart.h"

#include <math.h>
#include <stdio.h>

struct unit {
    double size;
    const char *name;
};

/* The first unit that is not larger than the value; three digits of it. */
static struct chart_label in_units(double value, const struct unit *units)
{
    struct chart_label w;
    double v = fabs(value);
    while (units->size > v * 1.0005 && units[1].name) units++;
    double part = value / units->size;
    int digits = fabs(part - round(part)) <= 1e-6 * fabs(part) ? 0
                 : fabs(part) < 9.995                          ? 2
                                                               : fabs(part) < 99.95;
    snprintf(w.at, sizeof w.at, "%.*f%s", digits, part, units->name);
    return w;
}

struct chart_label chart_number(double value)
{
    static const struct unit units[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"},
                                        {1e3, " k"},  {1, ""},     {0, NULL}};
    return in_units(value, units);
}

struct chart_label chart_bytes(double value)
{
    static const struct unit units[] = {{1099511627776.0, " TiB"},
                                        {1073741824.0, " GiB"},
                                        {1048576.0, " MiB"},
                                        {1024.0, " KiB"},
                                        {1, ""},
                                        {0, NULL}};
    return in_units(value, units);
}

struct chart_label chart_seconds(double value)
{
    static const struct unit units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {0, NULL}};
    return value == 0 ? (struct chart_label){"0"} : in_units(value, units);
}
