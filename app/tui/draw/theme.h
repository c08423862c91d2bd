/* The looks of tones, and the characters of lines and blocks. */
#pragma once

#include "tui/draw/cells.h"

/* A tone on a terminal: colour numbers (-1: the terminal's own) as ink and as paper, and marks. */
struct look {
    int16_t ink, paper;
    uint8_t ink_marks, paper_marks;
};

struct theme {
    const char *name, *help;
    int colours;  /* that a terminal must have */
    int heats;    /* tones from HEAT0 (and GREY0) on that differ; fewer than MOST_HEATS are mixed by shades */
    bool letters; /* the map shows letters: there are no colours for buffers */
    struct look look[TONE_COUNT];
};

/* Ends with a theme without a name. */
extern const struct theme themes[];
/* Their names, as words of an option. */
const char *theme_word(int k);
/* Sets the error for an unknown name; false. */
bool theme_unknown(const char *name, lx_status *st);
/* NULL: there is none of that name. */
const struct theme *theme_find(const char *name);
/* The best for a terminal with this number of colours; `light`: on a light background. */
const struct theme *theme_for(int colours, bool light);

struct glyphs {
    bool ascii;
    uint32_t horizontal, vertical, corner[4]; /* corners: top left, top right, bottom left, bottom right */
    uint32_t tee, load, store, ring, move, bullet, mark, half_up, half_down, full, shade, light, peak;
    uint32_t level[9]; /* from nothing to full, upwards */
    uint32_t bar[9];   /* the same to the right */
    uint32_t spinner[4];
    /* The quarters of a cell that are ink: upper left 1, upper right 2, lower left 4, lower right 8.
     * `quarters`: all are available, not only half blocks. */
    uint32_t quadrant[16];
    bool quarters;
    uint32_t shades[4]; /* of ink over paper: none, a quarter, a half, three quarters */
    uint32_t thick;     /* a thick horizontal line */
};

/* All characters; ASCII; all but quarter blocks, which fonts of consoles lack. */
extern const struct glyphs glyphs_unicode, glyphs_ascii, glyphs_half;
/* The next of these that makes a difference in a theme. */
const struct glyphs *glyphs_next(const struct glyphs *g, const struct theme *t);
/* For a UTF-8 terminal of that name. */
const struct glyphs *glyphs_for(const char *term);
/* The colour of a character as numbers of the palette, -1: the terminal's own. */
int16_t look_ink(const struct theme *t, struct style style);

/* The colour of a number of the 256-colour palette, as 0xRRGGBB; for drawings. */
uint32_t palette_rgb(int number);
