/* Rows of operands, a block of 256 elements at a time: items that do not stand side by side are brought
 * together before they are decoded. */
#include "device/reference/wide_operand.h"

#include <string.h>

enum { BLOCK = 256 };

/* Bytes of an item are 1, 2, 4 or 8: one loop each, for the compiler to see. */
#define COLLECT(type, place)                                                                                 \
    for (int64_t i = 0; i < count; i++) ((type *)to)[i] = ((const type *)from)[place]

static void collect_steps(const void *from, int item, int64_t at, int64_t step, int64_t count, void *to)
{
    if (item == 1)
        COLLECT(uint8_t, at + i * step);
    else if (item == 2)
        COLLECT(uint16_t, at + i * step);
    else if (item == 4)
        COLLECT(uint32_t, at + i * step);
    else
        COLLECT(uint64_t, at + i * step);
}

static void collect_offsets(const void *from, int item, int64_t at, const int64_t *offset, int64_t count,
                            void *to)
{
    if (item == 1)
        COLLECT(uint8_t, at + offset[i]);
    else if (item == 2)
        COLLECT(uint16_t, at + offset[i]);
    else if (item == 4)
        COLLECT(uint32_t, at + offset[i]);
    else
        COLLECT(uint64_t, at + offset[i]);
}

static void row_block(const struct operand *o, int64_t at, int64_t step, int64_t count, double *to)
{
    uint64_t items[BLOCK] = {0}; /* not that any is read before it is set; gcc cannot see that everywhere */
    if (step == 1) {
        items_widen(o->type, (const char *)o->items + at * o->type->item, count, to);
        return;
    }
    collect_steps(o->items, o->type->item, at, step, count, items);
    items_widen(o->type, items, count, to);
}

void operand_row(const struct operand *o, int64_t at, int64_t step, int64_t count, double *to)
{
    at += o->base;
    if (o->wide && step == 1) {
        memcpy(to, o->wide + at, (size_t)count * sizeof *to);
        return;
    }
    if (o->wide) {
        for (int64_t i = 0; i < count; i++) to[i] = o->wide[at + i * step];
        return;
    }
    if (step == 0 && count > 1) { /* one element for all of the row */
        row_block(o, at, 0, 1, to);
        for (int64_t i = 1; i < count; i++) to[i] = to[0];
        return;
    }
    for (int64_t i = 0; i < count; i += BLOCK)
        row_block(o, at + i * step, step, count - i < BLOCK ? count - i : BLOCK, to + i);
}

static void wide_block(const struct operand *o, int64_t at, int64_t step, int64_t count, wide_number *to)
{
    uint64_t items[BLOCK] = {0};
    collect_steps(o->items, o->type->item, at, step, count, items);
    items_to_wide(o->type, items, count, to);
}

void operand_wide_row(const struct operand *o, int64_t at, int64_t step, int64_t count, wide_number *to)
{
    at += o->base;
    for (int64_t i = 0; o->wide && i < count; i++) to[i] = (wide_number)o->wide[at + i * step];
    for (int64_t i = 0; !o->wide && i < count; i += BLOCK)
        wide_block(o, at + i * step, step, count - i < BLOCK ? count - i : BLOCK, to + i);
}

void operand_gather(const struct operand *o, int64_t at, const int64_t *offset, int64_t count, double *to)
{
    uint64_t items[BLOCK] = {0}; /* not that any is read before it is set; gcc cannot see that everywhere */
    at += o->base;
    for (int64_t i = 0; o->wide && i < count; i++) to[i] = o->wide[at + offset[i]];
    for (int64_t i = 0; !o->wide && i < count; i += BLOCK) {
        int64_t n = count - i < BLOCK ? count - i : BLOCK;
        collect_offsets(o->items, o->type->item, at, offset + i, n, items);
        items_widen(o->type, items, n, to + i);
    }
}
