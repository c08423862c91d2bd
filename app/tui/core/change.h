/* Before and after: what a change of settings did to the plan, in figures and buffer by buffer. Made on a worker's
 * thread, as it walks both plans; told in the status line, and marked in the map until the next key. */
#ifndef LX_APP_TUI_CHANGE_H
#define LX_APP_TUI_CHANGE_H

#include "unstable.h"
#include "base/text.h"

struct change_figures {
    int64_t value; /* HBM bytes, of a list its cost, or the height */
    int64_t spill;
    double us; /* end to end; 0 for a list */
};

struct change {
    bool known;
    const char *what; /* "HBM", "cost" or "height" */
    struct change_figures before, after;
    int32_t came, went, moved,
        other;         /* buffers: on chip, off chip, to another address; else changed or new */
    int32_t cut_anew;  /* ops with another division */
    struct text nests; /* how they changed, in words; empty: they did not */
    uint8_t *marks;    /* per buffer of the plan after: 1 where it did not stay as it was; NULL: none */
};

/* From one plan to another; false when memory is out. Not known where they answer different questions. */
bool change_make(const struct lx_plan *before, const struct lx_plan *after, struct change *out);
void change_free(struct change *c);
/* "HBM 14,483,456 -> 13,303,808 (-8.1 %)", the time, the spill, the nests, what moved: most important first. `brief`:
 * numbers of three digits. Returns how many pieces, at most 5. */
enum { CHANGE_PIECES = 5 };
int change_words(const struct change *c, bool brief, struct text pieces[CHANGE_PIECES]);
/* Is it for the better (1), the worse (-1), or neither? */
int change_sign(const struct change *c);

#endif
