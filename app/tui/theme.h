/* What tones look like, and which characters lines and blocks are drawn with. */
#ifndef LX_APP_TUI_THEME_H
#define LX_APP_TUI_THEME_H

#include "base/status.h"
#include "tui/cells.h"

/* A tone on a terminal: colour numbers (-1: the terminal's own) as ink and as paper, and marks for terminals
 * without colours and for emphasis that is more than a colour. */
struct look {
    int16_t ink, paper;
    uint8_t ink_marks, paper_marks;
};

struct theme {
    const char *name, *help;
    int colours;  /* that a terminal must have */
    bool letters; /* the map shows buffers as letters: colours do not tell them apart */
    struct look look[TONE_COUNT];
};

/* Ends with a theme without a name. */
extern const struct theme themes[];
/* Their names, as words of an option. */
const char *theme_word(int k);
/* Says that there is none of that name; false. */
bool theme_unknown(const char *name, lx_status *st);
/* NULL: there is none of that name. */
const struct theme *theme_find(const char *name);
/* The best for a terminal of so many colours; `light`: its background is. */
const struct theme *theme_for(int colours, bool light);

struct glyphs {
    bool ascii;
    uint32_t horizontal, vertical, corner[4]; /* corners: top left, top right, bottom left, bottom right */
    uint32_t tee, load, store, ring, move, bullet, mark, half_up, half_down, full, shade, light, peak;
    uint32_t level[9]; /* from nothing to full, upwards */
    uint32_t bar[9];   /* the same to the right */
    uint32_t spinner[4];
};

extern const struct glyphs glyphs_unicode, glyphs_ascii;

/* The colour of a number of the 256-colour palette, as 0xRRGGBB; for drawings. */
uint32_t palette_rgb(int number);

#endif
