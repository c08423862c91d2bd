/* Pictures of a plan: addresses against time. */
#pragma once

#include "command.h"
#include "export/plan_map.h"
#include "export/plan_words.h"

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

/* Forms of `show`. */
void show_text(const struct lx_plan *p, const struct picture *how, struct text *out);
void show_svg(const struct lx_plan *p, const struct picture *how, struct text *out);
void show_html(const struct lx_plan *p, const struct picture *how, struct text *out);
