/* A block has the colour of its tone as a paper, not as an ink: else one tone would have two colours in one picture. */
#include "tui/map/paint_blocks.h"

#include "picture/heat.h"

/* The tone of most importance, and then of most quarters, but for one that is taken already. */
static uint8_t paint_blocks_choose(const struct theme *t, const uint8_t tone[4], int except)
{
    int best = -1, most = -1;
    for (int i = 0; i < 4; i++) {
        int score = tone[i] == TONE_PICK         ? 40
                    : tone[i] == TONE_MARKED     ? 30
                    : t->look[tone[i]].paper < 0 ? 0
                                                 : 20;
        for (int k = 0; k < 4; k++) score += tone[k] == tone[i];
        if (tone[i] != except && score > most) most = score, best = tone[i];
    }
    return (uint8_t)(best < 0 ? except : best);
}

void put_blocks(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
                const uint8_t tone[4])
{
    uint8_t ink = paint_blocks_choose(t, tone, -1), paper = paint_blocks_choose(t, tone, ink);
    unsigned quarters = 0;
    for (int i = 0; i < 4; i++) quarters |= (unsigned)(tone[i] == ink || (tone[i] != paper && i < 2)) << i;
    if (t->look[ink].paper < 0) quarters = 0, paper = ink;
    if (quarters == 15)
        put(g, row, column, ' ', (struct style){TONE_LABEL, ink, 0});
    else
        put(g, row, column, glyphs->quadrant[quarters],
            (struct style){ink, paper, quarters ? MARK_BLOCK : 0});
}

void put_heat(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
              uint8_t ramp, double share)
{
    int tones = t->heats;
    double at = share < 0 ? 0 : share > 1 ? 1 : share;
    if (t->letters || glyphs->ascii) {
        uint8_t ink = tones ? (uint8_t)(ramp + (int)(at * (tones - 1) + 0.5)) : TONE_PLAIN;
        put(g, row, column, (uint32_t)(unsigned char)heat_letter(at), (struct style){ink, 0, 0});
    } else if (tones == MOST_HEATS)
        put(g, row, column, ' ',
            (struct style){TONE_LABEL, (uint8_t)(ramp + (int)(at * (tones - 1) + 0.5)), 0});
    else {
        int step = (int)(at * 4 * (tones - 1) + 0.5), paper = step / 4, next = paper + (paper + 1 < tones);
        put(g, row, column, glyphs->shades[step % 4],
            (struct style){(uint8_t)(ramp + next), (uint8_t)(ramp + paper), MARK_BLOCK});
    }
}
