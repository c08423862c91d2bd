/* Stacked bars. The ends of parts are rounded once each, so that parts neither overlap nor leave gaps. */
#include "tui/draw/chart.h"
#include "text/format.h"

#include <math.h>

const struct part_look wait_looks[LX_WAIT_COUNT] = {[LX_WAIT_HBM] = {TONE_HIGH, 'H'},
                                                    [LX_WAIT_LX] = {TONE_LOW, 'L'},
                                                    [LX_WAIT_RING] = {TONE_WARN, 'r'},
                                                    [LX_WAIT_COMPUTE] = {TONE_GOOD, 'c'},
                                                    [LX_WAIT_LAUNCH] = {TONE_DIM, '-'}};
const struct part_look byte_looks[LX_BYTE_KIND_COUNT] = {
    [LX_BYTES_WEIGHTS] = {TONE_LOW, 'w'},  [LX_BYTES_INPUTS] = {TONE_GOOD, 'i'},
    [LX_BYTES_OUTPUTS] = {TONE_WARN, 'o'}, [LX_BYTES_INTERMEDIATES] = {TONE_HIGH, 'm'},
    [LX_BYTES_SPILLS] = {TONE_HIGH, 's'},  [LX_BYTES_RELAYOUTS] = {TONE_TITLE, 'r'},
    [LX_BYTES_LINKED] = {TONE_DIM, 'l'}};

static void put_part(const struct scene *on, int row, int column, const struct part_look *look)
{
    uint32_t code = on->theme->letters || on->glyphs->ascii ? (uint32_t)look->letter : on->glyphs->full;
    put(on->cells, row, column, code, (struct style){.ink = look->tone});
}

void put_stack(const struct scene *on, struct box row, const double *parts, const struct part_look *looks,
               int count, double whole)
{
    double sum = 0;
    int at = 0;
    if (!(whole > 0) || row.rows < 1) return;
    for (int k = 0; k < count; k++) {
        sum += parts[k];
        int end = (int)lround(fmin(sum / whole, 1) * row.columns);
        for (; at < end; at++) put_part(on, row.row, row.column + at, &looks[k]);
    }
    if (at == 0 && sum > 0 && row.columns > 0)
        put(on->cells, row.row, row.column, on->glyphs->bar[1], INK(DIM));
}

void put_wait_legend(const struct scene *on, struct box row)
{
    int at = row.columns + 2;
    for (int k = 0; k < LX_WAIT_COUNT; k++) at -= columns_of(lx_wait_word((enum lx_wait)k)) + 4;
    for (int k = 0; k < LX_WAIT_COUNT && at >= 0; k++) {
        put_part(on, row.row, row.column + at, &wait_looks[k]);
        at += 4 + put_text(on->cells, row.row, row.column + at + 2, row.columns, INK(DIM),
                           lx_wait_word((enum lx_wait)k));
    }
}
