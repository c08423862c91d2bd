/* Rows of operands, a block of 256 elements at a time: items that are not side by side are collected before
 * they are decoded. */
#include "device/reference/evaluate.h"

enum { BLOCK = 256 };

/* Bytes of an item are 1, 2, 4 or 8: one loop each, for the compiler to see. `offset` NULL: by steps. */
#define COLLECT(type)                                                                                        \
    do {                                                                                                     \
        for (int64_t i = 0; offset && i < count; i++)                                                        \
            ((type *)to)[i] = ((const type *)from)[at + offset[i]];                                          \
        for (int64_t i = 0; !offset && i < count; i++)                                                       \
            ((type *)to)[i] = ((const type *)from)[at + i * step];                                           \
    } while (0)

static void operand_collect(const struct operand *o, int64_t at, int64_t step, const int64_t *offset,
                            int64_t count, void *to)
{
    const void *from = o->items;
    if (o->type->item == 1)
        COLLECT(uint8_t);
    else if (o->type->item == 2)
        COLLECT(uint16_t);
    else if (o->type->item == 4)
        COLLECT(uint32_t);
    else
        COLLECT(uint64_t);
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
    int64_t distinct = step == 0 && count > 1 ? 1 : count; /* one element for the whole row */
    for (int64_t i = 0, n; i < distinct; i += n) {
        uint64_t items[BLOCK] = {0}; /* set before they are read; gcc cannot always see that */
        const char *row = (const char *)o->items + at * o->type->item;
        n = distinct - i < BLOCK ? distinct - i : BLOCK;
        if (step != 1) operand_collect(o, at + i * step, step, NULL, n, items);
        items_widen(o->type, step == 1 ? row + i * o->type->item : (const char *)items, n, to + i);
    }
    for (int64_t i = distinct; i < count; i++) to[i] = to[0];
}

void operand_wide_row(const struct operand *o, int64_t at, int64_t step, int64_t count, wide_number *to)
{
    at += o->base;
    for (int64_t i = 0; o->wide && i < count; i++) to[i] = (wide_number)o->wide[at + i * step];
    for (int64_t i = 0, n; !o->wide && i < count; i += n) {
        uint64_t items[BLOCK] = {0};
        n = count - i < BLOCK ? count - i : BLOCK;
        operand_collect(o, at + i * step, step, NULL, n, items);
        items_to_wide(o->type, items, n, to + i);
    }
}

void operand_gather(const struct operand *o, int64_t at, const int64_t *offset, int64_t count, double *to)
{
    uint64_t items[BLOCK] = {0};
    at += o->base;
    for (int64_t i = 0; o->wide && i < count; i++) to[i] = o->wide[at + offset[i]];
    for (int64_t i = 0; !o->wide && i < count; i += BLOCK) {
        int64_t n = count - i < BLOCK ? count - i : BLOCK;
        operand_collect(o, at, 0, offset + i, n, items);
        items_widen(o->type, items, n, to + i);
    }
}
