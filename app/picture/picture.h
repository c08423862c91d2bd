/* Pictures of a plan: addresses against time. */
#ifndef LX_APP_PICTURE_PICTURE_H
#define LX_APP_PICTURE_PICTURE_H

#include <stdint.h>

#include "command.h"
#include "export/plan_words.h"

/* The buffers off chip that could have been on chip, most expensive first, then the barred ones.
 * Allocated; `*count` of them. */
int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count);

/* A letter for each identity (export/plan_words.h); they repeat after LETTER_COUNT. */
enum { LETTER_COUNT = 62 };
char identity_letter(int32_t identity);
/* In every second cell of a tile, where cells are letters. */
enum { TILE_LETTER = '~' };

struct picture {
    int width, height;    /* characters or pixels; 0: the default */
    bool ascii, all;      /* all: lists are not cut */
    const char *remedies; /* of a page: remedies as data; NULL: none */
};

/* text_legend.c: the tables below the map. */
void text_legend(const struct lx_plan *p, const struct picture *how, struct text *out);
void text_off_chip(const struct lx_plan *p, const struct picture *how, struct text *out);

void show_text(const struct lx_plan *p, const struct picture *how, struct text *out);
void show_svg(const struct lx_plan *p, const struct picture *how, struct text *out);

/* Lives packed into lanes, for the strip of buffers off chip below a map: each in the first lane that is
 * free. The first ones get the best places, so the most expensive come first. O(placed) per life. */
enum { MOST_LANES = 10, MOST_IN_LANES = 300 };

struct lanes {
    int most; /* at most MOST_LANES; all else begins as zeros */
    int used;
    int32_t left_over; /* lives without a place */
    int32_t count;
    struct {
        int64_t from, to; /* ticks or cells: [from, to) */
        int32_t who;
        int lane;
    } at[MOST_IN_LANES];
};

/* The lane of `who` during [from, to), or -1. */
int lanes_place(struct lanes *l, int32_t who, int64_t from, int64_t to);

#endif
