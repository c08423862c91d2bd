/* Pictures of a plan: addresses against time. */
#ifndef LX_APP_PICTURE_PICTURE_H
#define LX_APP_PICTURE_PICTURE_H

#include <stdint.h>

#include "command.h"
#include "export/plan_words.h"

/* The buffers off chip that could have been on chip, the costliest first, then the barred ones. malloc'ed;
 * `*count` of them. */
int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count);

/* A letter for each identity (export/plan_words.h); they repeat after LETTER_COUNT. */
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

/* Lives packed into lanes, for the strip of what is off chip below a map: each in the first lane where nothing of it is
 * taken. Whoever comes first gets the best place, so the costliest come first. O(placed) per life. */
enum { MOST_LANES = 10, MOST_IN_LANES = 300 };

struct lanes {
    int most; /* at most MOST_LANES; all else begins as zeros */
    int used;
    int32_t left_over; /* those that found no place */
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
