/* Pictures of a plan: addresses against time. */
#ifndef LX_APP_PICTURE_PICTURE_H
#define LX_APP_PICTURE_PICTURE_H

#include "command.h"
#include "export/plan_words.h"

/* The buffers off chip that could have been on chip, the costliest first, then the barred ones. malloc'ed;
 * `*count` of them. NULL when memory is out. */
int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count);

/* letters.c: a letter for each identity (export/plan_words.h); they repeat after LETTER_COUNT. */
enum { LETTER_COUNT = 62 };
char identity_letter(int32_t identity);
/* In every second cell of a tile, where cells are letters. */
enum { TILE_LETTER = '~' };

struct picture {
    int width, height;    /* characters or pixels; 0: as it suits */
    bool ascii, all;      /* all: lists are not cut */
    const char *remedies; /* of a page: what helps, as data; NULL: nobody asked */
};

/* text_legend.c: the tables below the map. */
void text_legend(const struct lx_plan *p, const struct picture *how, struct text *out);
void text_off_chip(const struct lx_plan *p, const struct picture *how, struct text *out);

void show_text(const struct lx_plan *p, const struct picture *how, struct text *out);
void show_svg(const struct lx_plan *p, const struct picture *how, struct text *out);

#endif
