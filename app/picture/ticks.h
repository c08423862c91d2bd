/* The scale of an axis, and round marks on it: steps of 1, 2 and 5 (powers of two for bytes on a
 * logarithmic scale), with units: KiB, MiB, us, ms. Text, screens, SVG and HTML use the same. */
#pragma once

#include "text/format.h"

enum scale_unit { SCALE_PLAIN, SCALE_BYTES, SCALE_SECONDS };

/* low < high; above 0 where it is logarithmic. */
struct scale {
    double low, high;
    bool is_log;
    enum scale_unit unit;
};

enum { SCALE_TICKS = 24 };

struct tick {
    double at;
    struct words words;
};

/* At most `most` marks (and SCALE_TICKS), from low to high; returns how many. Two at least where two fit. */
int ticks_make(const struct scale *s, int most, struct tick out[SCALE_TICKS]);
/* The place of a value on the axis, from 0 at its low end to 1 at its high end; values outside are at the
 * ends. */
double scale_share(const struct scale *s, double value);
/* "115 KiB", "1.5 MiB", "20 us": four digits at most. */
struct words scale_words(const struct scale *s, double value);
