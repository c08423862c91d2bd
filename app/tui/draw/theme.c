/* Themes as tables. Identity colours differ when they touch, and LABEL is legible on each of them. With
 * eight colours, red and the terminal's own have meanings, so six identities repeat. */
#include "tui/draw/theme.h"
#include "base/words/words.h"

/* clang-format off */
/* Ink and paper of each tone on a dark and on a light background, with the marks of its ink; ink, paper
 * and the marks of both in eight colours; the marks of both without colours. */
#define B MARK_BOLD
#define U MARK_UNDERLINE
#define R MARK_REVERSE
#define LOOKS(X) \
    X(PLAIN, -1, -1, -1, -1, 0, -1, -1, 0, 0, 0, 0)         \
    X(DIM, 245, 236, 242, 254, 0, -1, -1, 0, 0, 0, 0)       \
    X(TITLE, 231, 24, 18, 153, B, -1, -1, B, 0, B, R)       \
    X(FRAME, 240, 240, 248, 248, 0, -1, -1, 0, 0, 0, 0)     \
    X(KEY, 221, 221, 90, 90, B, 3, 3, B, 0, B, 0)           \
    X(GOOD, 114, 22, 28, 194, 0, 2, 2, 0, 0, 0, 0)          \
    X(BAD, 210, 88, 160, 224, B, 1, 1, B, 0, B, 0)          \
    X(WARN, 222, 94, 130, 229, 0, 3, 3, 0, 0, U, 0)         \
    X(BAR, 252, 237, 236, 253, 0, 7, 0, 0, 0, 0, R)         \
    X(SELECTED, 231, 24, 16, 153, 0, -1, -1, 0, R, 0, R)    \
    X(CURSOR, 16, 231, 231, 16, B, -1, -1, B, R, B, R)      \
    X(MATCH, 16, 222, 16, 221, 0, 0, 3, 0, 0, U, U)         \
    X(FREE, 239, -1, 250, -1, 0, -1, -1, 0, 0, 0, 0)        \
    X(HOLE, 239, 235, 250, 255, 0, -1, -1, 0, 0, 0, 0)      \
    X(MIXED, 246, 246, 247, 247, 0, 0, 7, 0, 0, 0, 0)       \
    X(HANDOVER, 231, 60, 16, 146, B, 7, 0, B, 0, B, 0)      \
    X(PLAYHEAD, 229, 238, 16, 230, 0, 3, -1, B, 0, B, U)    \
    X(LOW, 73, 73, 30, 30, 0, 6, 6, 0, 0, 0, 0)             \
    X(HIGH, 209, 209, 166, 166, 0, 1, 1, 0, 0, B, 0)        \
    X(LABEL, 16, 16, 16, 16, 0, 0, 0, 0, 0, B, 0)           \
    X(PICK, 231, 231, 226, 226, B, 7, 7, B, 0, B, R)        \
    X(MARKED, 203, 203, 196, 196, B, 1, 1, B, 0, B, 0)      \
    X(RESERVED, 243, 238, 245, 251, 0, -1, -1, 0, 0, 0, 0)  \
    X(ID0, 110, 110, 25, 153, 0, 6, 6, 0, 0, 0, 0)          \
    X(ID1, 179, 179, 130, 222, 0, 3, 3, 0, 0, 0, 0)         \
    X(ID2, 140, 140, 91, 183, 0, 5, 5, 0, 0, 0, 0)          \
    X(ID3, 107, 107, 64, 150, 0, 2, 2, 0, 0, 0, 0)          \
    X(ID4, 174, 174, 131, 217, 0, 4, 4, 0, 0, 0, 0)         \
    X(ID5, 73, 73, 30, 116, 0, 7, 7, 0, 0, 0, 0)            \
    X(ID6, 215, 215, 166, 216, 0, 6, 6, 0, 0, 0, 0)         \
    X(ID7, 104, 104, 61, 147, 0, 3, 3, 0, 0, 0, 0)          \
    X(ID8, 150, 150, 28, 157, 0, 5, 5, 0, 0, 0, 0)          \
    X(ID9, 181, 181, 95, 181, 0, 2, 2, 0, 0, 0, 0)          \
    X(ID10, 80, 80, 31, 123, 0, 4, 4, 0, 0, 0, 0)           \
    X(ID11, 186, 186, 100, 186, 0, 7, 7, 0, 0, 0, 0)

#define DARK(tone, di, dp, li, lp, m, ei, ep, em, epm, mm, mpm)  [TONE_##tone] = {di, dp, m, 0},
#define LIGHT(tone, di, dp, li, lp, m, ei, ep, em, epm, mm, mpm) [TONE_##tone] = {li, lp, m, 0},
#define EIGHT(tone, di, dp, li, lp, m, ei, ep, em, epm, mm, mpm) [TONE_##tone] = {ei, ep, em, epm},
#define MONO(tone, di, dp, li, lp, m, ei, ep, em, epm, mm, mpm)  [TONE_##tone] = {-1, -1, mm, mpm},

/* A ramp of MOST_HEATS tones that are the same as ink and as paper. */
#define STEP(tone, i, c) [(tone) + (i)] = {c, c, 0, 0}
#define RAMP(t, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, u, v, w, x, y) \
    STEP(t, 0, a), STEP(t, 1, b), STEP(t, 2, c), STEP(t, 3, d), STEP(t, 4, e), STEP(t, 5, f), \
    STEP(t, 6, g), STEP(t, 7, h), STEP(t, 8, i), STEP(t, 9, j), STEP(t, 10, k), STEP(t, 11, l), \
    STEP(t, 12, m), STEP(t, 13, n), STEP(t, 14, o), STEP(t, 15, p), STEP(t, 16, q), STEP(t, 17, r), \
    STEP(t, 18, s), STEP(t, 19, u), STEP(t, 20, v), STEP(t, 21, w), STEP(t, 22, x), STEP(t, 23, y)
/* clang-format on */

const struct theme themes[] = {
    {"dark",
     "256 colours on a dark background",
     256,
     MOST_HEATS,
     false,
     {LOOKS(DARK) RAMP(TONE_HEAT0, 17, 18, 19, 24, 25, 26, 31, 32, 37, 36, 72, 71, 107, 143, 178, 179, 214,
                       215, 220, 221, 222, 228, 229, 230),
      RAMP(TONE_GREY0, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248,
           249, 250, 251, 252, 253, 254, 255)}},
    {"light",
     "256 colours on a light background",
     256,
     MOST_HEATS,
     false,
     {LOOKS(LIGHT) RAMP(TONE_HEAT0, 230, 229, 228, 222, 221, 220, 215, 214, 179, 178, 143, 107, 71, 72, 36,
                        37, 32, 31, 26, 25, 24, 19, 18, 17),
      RAMP(TONE_GREY0, 255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244, 243, 242, 241, 240, 239,
           238, 237, 236, 235, 234, 233, 232)}},
    {"eight",
     "8 colours",
     8,
     4,
     false,
     {LOOKS(EIGHT) RAMP(TONE_HEAT0, 4, 6, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7),
      RAMP(TONE_GREY0, 4, 6, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)}},
    {"mono",
     "no colours: letters, bold, underlined, reversed",
     0,
     0,
     true,
     {LOOKS(MONO) RAMP(TONE_HEAT0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                       -1, -1, -1, -1, -1),
      RAMP(TONE_GREY0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
           -1, -1)}},
    {0},
};
#undef B
#undef U
#undef R

const char *theme_word(int k)
{
    return k < (int)(sizeof themes / sizeof *themes) ? themes[k].name : NULL;
}

bool theme_unknown(const char *name, lx_status *st)
{
    const char *names[sizeof themes / sizeof *themes];
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++) names[i] = themes[i].name;
    return unknown_word("there is no theme", name, names, LX_E_USAGE, st);
}

const struct theme *theme_find(const char *name)
{
    for (const struct theme *t = themes; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

const struct theme *theme_for(int colours, bool light)
{
    return theme_find(colours >= 256 ? (light ? "light" : "dark") : colours >= 8 ? "eight" : "mono");
}

/* clang-format off */
#define FULL_SET \
    .horizontal = 0x2500, \
    .vertical = 0x2502, \
    .corner = {0x250c, 0x2510, 0x2514, 0x2518}, \
    .tee = 0x252c, \
    .load = 0x2193, \
    .store = 0x2191, \
    .ring = 0x21c4, \
    .move = 0x21a6, \
    .bullet = 0x2022, \
    .mark = 0x25b8, \
    .half_up = 0x2580, \
    .half_down = 0x2584, \
    .full = 0x2588, \
    .shade = 0x2591, \
    .light = 0x00b7, \
    .peak = 0x25b2, \
    .level = {' ', 0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588}, \
    .bar = {' ', 0x258f, 0x258e, 0x258d, 0x258c, 0x258b, 0x258a, 0x2589, 0x2588}, \
    .spinner = {0x25d0, 0x25d3, 0x25d1, 0x25d2}, \
    .quadrant = {' ', 0x2598, 0x259d, 0x2580, 0x2596, 0x258c, 0x259e, 0x259b, 0x2597, 0x259a, 0x2590, 0x259c, \
    0x2584, 0x2599, 0x259f, 0x2588}, \
    .shades = {' ', 0x2591, 0x2592, 0x2593}, \
    .thick = 0x2501,
/* clang-format on */

const struct glyphs glyphs_unicode = {FULL_SET.quarters = true};
const struct glyphs glyphs_half = {FULL_SET};

const struct glyphs glyphs_ascii = {
    .ascii = true,
    .horizontal = '-',
    .vertical = '|',
    .corner = {'+', '+', '+', '+'},
    .tee = '+',
    .load = 'v',
    .store = '^',
    .ring = '~',
    .move = '>',
    .bullet = '*',
    .mark = '>',
    .half_up = '"',
    .half_down = '_',
    .full = '#',
    .shade = '%',
    .light = '.',
    .peak = '^',
    .level = {' ', '.', '.', ':', ':', '+', '+', '#', '#'},
    .bar = {' ', '.', '.', ':', ':', '=', '=', '#', '#'},
    .spinner = {'|', '/', '-', '\\'},
    .quadrant = {' ', '#', '#', '"', '#', '#', '#', '#', '#', '#', '#', '#', '_', '#', '#', '#'},
    .shades = {' ', '.', ':', '#'},
    .thick = '=',
};

const struct glyphs *glyphs_next(const struct glyphs *g, const struct theme *t)
{
    if (g == &glyphs_unicode || (g == &glyphs_half && t->letters)) return &glyphs_ascii;
    return g == &glyphs_ascii && !t->letters ? &glyphs_half : &glyphs_unicode;
}

const struct glyphs *glyphs_for(const char *term)
{
    bool console = term && (strncmp(term, "linux", 5) == 0 || strncmp(term, "vt", 2) == 0);
    return console ? &glyphs_half : &glyphs_unicode;
}

int16_t look_ink(const struct theme *t, struct style style)
{
    const struct look *ink = &t->look[style.ink];
    return style.marks & MARK_BLOCK ? ink->paper : ink->ink;
}

uint32_t palette_rgb(int number)
{
    static const uint32_t sixteen[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x1e4fd0, 0xcd00cd,
                                         0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                         0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    if (number < 16) return sixteen[number < 0 ? 0 : number];
    if (number >= 232) return (uint32_t)(8 + 10 * (number - 232)) * 0x010101;
    static const uint32_t step[6] = {0, 95, 135, 175, 215, 255};
    int n = number - 16;
    return step[n / 36] << 16 | step[n / 6 % 6] << 8 | step[n % 6];
}
