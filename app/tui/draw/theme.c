/* Themes as tables. Identity colours are chosen to be told apart when they touch, and so that LABEL is
 * legible on each of them. Eight colours: red and the terminal's own are left to meanings, so six identities
 * repeat. */
#include "tui/draw/theme.h"
#include "base/words.h"

#include <string.h>

/* A ramp of MOST_HEATS tones that are the same as ink and as paper. */
/* clang-format off */
#define STEP(tone, i, c) [(tone) + (i)] = {c, c, 0, 0}
#define RAMP(t, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, u, v, w, x, y) \
    STEP(t, 0, a), STEP(t, 1, b), STEP(t, 2, c), STEP(t, 3, d), STEP(t, 4, e), STEP(t, 5, f), STEP(t, 6, g), STEP(t, 7, h), \
    STEP(t, 8, i), STEP(t, 9, j), STEP(t, 10, k), STEP(t, 11, l), STEP(t, 12, m), STEP(t, 13, n), STEP(t, 14, o), \
    STEP(t, 15, p), STEP(t, 16, q), STEP(t, 17, r), STEP(t, 18, s), STEP(t, 19, u), STEP(t, 20, v), STEP(t, 21, w), \
    STEP(t, 22, x), STEP(t, 23, y)
/* clang-format on */

const struct theme themes[] = {
    {.name = "dark",
     .help = "256 colours on a dark background",
     .colours = 256,
     .heats = MOST_HEATS,
     .look = {[TONE_PLAIN] = {-1, -1, 0, 0},
              [TONE_DIM] = {245, 236, 0, 0},
              [TONE_TITLE] = {231, 24, MARK_BOLD, 0},
              [TONE_FRAME] = {240, 240, 0, 0},
              [TONE_KEY] = {221, 221, MARK_BOLD, 0},
              [TONE_GOOD] = {114, 22, 0, 0},
              [TONE_BAD] = {210, 88, MARK_BOLD, 0},
              [TONE_WARN] = {222, 94, 0, 0},
              [TONE_BAR] = {252, 237, 0, 0},
              [TONE_SELECTED] = {231, 24, 0, 0},
              [TONE_CURSOR] = {16, 231, MARK_BOLD, 0},
              [TONE_MATCH] = {16, 222, 0, 0},
              [TONE_FREE] = {239, -1, 0, 0},
              [TONE_HOLE] = {239, 235, 0, 0},
              [TONE_MIXED] = {246, 246, 0, 0},
              [TONE_HANDOVER] = {231, 60, MARK_BOLD, 0},
              [TONE_PLAYHEAD] = {229, 238, 0, 0},
              [TONE_LOW] = {73, 73, 0, 0},
              [TONE_HIGH] = {209, 209, 0, 0},
              [TONE_LABEL] = {16, 16, 0, 0},
              [TONE_PICK] = {231, 231, MARK_BOLD, 0},
              [TONE_MARKED] = {203, 203, MARK_BOLD, 0},
              [TONE_RESERVED] = {243, 238, 0, 0},
              RAMP(TONE_HEAT0, 17, 18, 19, 24, 25, 26, 31, 32, 37, 36, 72, 71, 107, 143, 178, 179, 214, 215,
                   220, 221, 222, 228, 229, 230),
              RAMP(TONE_GREY0, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247,
                   248, 249, 250, 251, 252, 253, 254, 255),
              [TONE_ID0] = {110, 110, 0, 0},
              [TONE_ID1] = {179, 179, 0, 0},
              [TONE_ID2] = {140, 140, 0, 0},
              [TONE_ID3] = {107, 107, 0, 0},
              [TONE_ID4] = {174, 174, 0, 0},
              [TONE_ID5] = {73, 73, 0, 0},
              [TONE_ID6] = {215, 215, 0, 0},
              [TONE_ID7] = {104, 104, 0, 0},
              [TONE_ID8] = {150, 150, 0, 0},
              [TONE_ID9] = {181, 181, 0, 0},
              [TONE_ID10] = {80, 80, 0, 0},
              [TONE_ID11] = {186, 186, 0, 0}}},
    {.name = "light",
     .help = "256 colours on a light background",
     .colours = 256,
     .heats = MOST_HEATS,
     .look = {[TONE_PLAIN] = {-1, -1, 0, 0},
              [TONE_DIM] = {242, 254, 0, 0},
              [TONE_TITLE] = {18, 153, MARK_BOLD, 0},
              [TONE_FRAME] = {248, 248, 0, 0},
              [TONE_KEY] = {90, 90, MARK_BOLD, 0},
              [TONE_GOOD] = {28, 194, 0, 0},
              [TONE_BAD] = {160, 224, MARK_BOLD, 0},
              [TONE_WARN] = {130, 229, 0, 0},
              [TONE_BAR] = {236, 253, 0, 0},
              [TONE_SELECTED] = {16, 153, 0, 0},
              [TONE_CURSOR] = {231, 16, MARK_BOLD, 0},
              [TONE_MATCH] = {16, 221, 0, 0},
              [TONE_FREE] = {250, -1, 0, 0},
              [TONE_HOLE] = {250, 255, 0, 0},
              [TONE_MIXED] = {247, 247, 0, 0},
              [TONE_HANDOVER] = {16, 146, MARK_BOLD, 0},
              [TONE_PLAYHEAD] = {16, 230, 0, 0},
              [TONE_LOW] = {30, 30, 0, 0},
              [TONE_HIGH] = {166, 166, 0, 0},
              [TONE_LABEL] = {16, 16, 0, 0},
              [TONE_PICK] = {226, 226, MARK_BOLD, 0},
              [TONE_MARKED] = {196, 196, MARK_BOLD, 0},
              [TONE_RESERVED] = {245, 251, 0, 0},
              RAMP(TONE_HEAT0, 230, 229, 228, 222, 221, 220, 215, 214, 179, 178, 143, 107, 71, 72, 36, 37, 32,
                   31, 26, 25, 24, 19, 18, 17),
              RAMP(TONE_GREY0, 255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244, 243, 242, 241, 240,
                   239, 238, 237, 236, 235, 234, 233, 232),
              [TONE_ID0] = {25, 153, 0, 0},
              [TONE_ID1] = {130, 222, 0, 0},
              [TONE_ID2] = {91, 183, 0, 0},
              [TONE_ID3] = {64, 150, 0, 0},
              [TONE_ID4] = {131, 217, 0, 0},
              [TONE_ID5] = {30, 116, 0, 0},
              [TONE_ID6] = {166, 216, 0, 0},
              [TONE_ID7] = {61, 147, 0, 0},
              [TONE_ID8] = {28, 157, 0, 0},
              [TONE_ID9] = {95, 181, 0, 0},
              [TONE_ID10] = {31, 123, 0, 0},
              [TONE_ID11] = {100, 186, 0, 0}}},
    {.name = "eight",
     .help = "8 colours",
     .colours = 8,
     .heats = 4,
     .look = {[TONE_PLAIN] = {-1, -1, 0, 0},
              [TONE_DIM] = {-1, -1, 0, 0},
              [TONE_TITLE] = {-1, -1, MARK_BOLD, 0},
              [TONE_FRAME] = {-1, -1, 0, 0},
              [TONE_KEY] = {3, 3, MARK_BOLD, 0},
              [TONE_GOOD] = {2, 2, 0, 0},
              [TONE_BAD] = {1, 1, MARK_BOLD, 0},
              [TONE_WARN] = {3, 3, 0, 0},
              [TONE_BAR] = {7, 0, 0, 0},
              [TONE_SELECTED] = {-1, -1, 0, MARK_REVERSE},
              [TONE_CURSOR] = {-1, -1, MARK_BOLD, MARK_REVERSE},
              [TONE_MATCH] = {0, 3, 0, 0},
              [TONE_FREE] = {-1, -1, 0, 0},
              [TONE_HOLE] = {-1, -1, 0, 0},
              [TONE_MIXED] = {0, 7, 0, 0},
              [TONE_HANDOVER] = {7, 0, MARK_BOLD, 0},
              [TONE_PLAYHEAD] = {3, -1, MARK_BOLD, 0},
              [TONE_LOW] = {6, 6, 0, 0},
              [TONE_HIGH] = {1, 1, 0, 0},
              [TONE_LABEL] = {0, 0, 0, 0},
              [TONE_PICK] = {7, 7, MARK_BOLD, 0},
              [TONE_MARKED] = {1, 1, MARK_BOLD, 0},
              [TONE_RESERVED] = {-1, -1, 0, 0},
              RAMP(TONE_HEAT0, 4, 6, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7),
              RAMP(TONE_GREY0, 4, 6, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7),
              [TONE_ID0] = {6, 6, 0, 0},
              [TONE_ID1] = {3, 3, 0, 0},
              [TONE_ID2] = {5, 5, 0, 0},
              [TONE_ID3] = {2, 2, 0, 0},
              [TONE_ID4] = {4, 4, 0, 0},
              [TONE_ID5] = {7, 7, 0, 0},
              [TONE_ID6] = {6, 6, 0, 0},
              [TONE_ID7] = {3, 3, 0, 0},
              [TONE_ID8] = {5, 5, 0, 0},
              [TONE_ID9] = {2, 2, 0, 0},
              [TONE_ID10] = {4, 4, 0, 0},
              [TONE_ID11] = {7, 7, 0, 0}}},
    {.name = "mono",
     .help = "no colours: letters, bold, underlined, reversed",
     .colours = 0,
     .letters = true,
#define NO_COLOUR(ink_mark, paper_mark)                                                                      \
    {                                                                                                        \
        -1, -1, ink_mark, paper_mark                                                                         \
    }
     .look = {[TONE_PLAIN] = NO_COLOUR(0, 0),
              [TONE_DIM] = NO_COLOUR(0, 0),
              [TONE_TITLE] = NO_COLOUR(MARK_BOLD, MARK_REVERSE),
              [TONE_FRAME] = NO_COLOUR(0, 0),
              [TONE_KEY] = NO_COLOUR(MARK_BOLD, 0),
              [TONE_GOOD] = NO_COLOUR(0, 0),
              [TONE_BAD] = NO_COLOUR(MARK_BOLD, 0),
              [TONE_WARN] = NO_COLOUR(MARK_UNDERLINE, 0),
              [TONE_BAR] = NO_COLOUR(0, MARK_REVERSE),
              [TONE_SELECTED] = NO_COLOUR(0, MARK_REVERSE),
              [TONE_CURSOR] = NO_COLOUR(MARK_BOLD, MARK_REVERSE),
              [TONE_MATCH] = NO_COLOUR(MARK_UNDERLINE, MARK_UNDERLINE),
              [TONE_FREE] = NO_COLOUR(0, 0),
              [TONE_HOLE] = NO_COLOUR(0, 0),
              [TONE_MIXED] = NO_COLOUR(0, 0),
              [TONE_HANDOVER] = NO_COLOUR(MARK_BOLD, 0),
              [TONE_PLAYHEAD] = NO_COLOUR(MARK_BOLD, MARK_UNDERLINE),
              [TONE_LOW] = NO_COLOUR(0, 0),
              [TONE_HIGH] = NO_COLOUR(MARK_BOLD, 0),
              [TONE_LABEL] = NO_COLOUR(MARK_BOLD, 0),
              [TONE_PICK] = NO_COLOUR(MARK_BOLD, MARK_REVERSE),
              [TONE_MARKED] = NO_COLOUR(MARK_BOLD, 0),
              [TONE_RESERVED] = NO_COLOUR(0, 0),
              RAMP(TONE_HEAT0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                   -1, -1, -1, -1),
              RAMP(TONE_GREY0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                   -1, -1, -1, -1),
              [TONE_ID0] = NO_COLOUR(0, 0),
              [TONE_ID1] = NO_COLOUR(0, 0),
              [TONE_ID2] = NO_COLOUR(0, 0),
              [TONE_ID3] = NO_COLOUR(0, 0),
              [TONE_ID4] = NO_COLOUR(0, 0),
              [TONE_ID5] = NO_COLOUR(0, 0),
              [TONE_ID6] = NO_COLOUR(0, 0),
              [TONE_ID7] = NO_COLOUR(0, 0),
              [TONE_ID8] = NO_COLOUR(0, 0),
              [TONE_ID9] = NO_COLOUR(0, 0),
              [TONE_ID10] = NO_COLOUR(0, 0),
              [TONE_ID11] = NO_COLOUR(0, 0)}},
    {0},
};

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
