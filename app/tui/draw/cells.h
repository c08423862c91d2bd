/* A grid of cells with a character and a style each.
 *
 * Everything is drawn into a grid; screen.c shows it on a terminal, tests and --dump-screen write it as
 * text. Drawing outside the grid is cut off. Every text is made printable: nothing from a file can move
 * the cursor. */
#pragma once

#include "text/column.h"

/* Colours by meaning; theme.c has their looks. An ink colours the character, a paper its background. */
/* clang-format off */
#define TONES(X)                                                                                             \
    X(PLAIN) X(DIM) X(TITLE) X(FRAME) X(KEY) X(GOOD) X(BAD) X(WARN) X(BAR) X(SELECTED) X(CURSOR) X(MATCH)    \
    X(FREE) X(HOLE) X(MIXED) X(HANDOVER) X(PLAYHEAD) X(LOW) X(HIGH) X(LABEL)                                 \
    X(PICK) X(MARKED) X(RESERVED)                                                                            \
    X(HEAT0) X(HEAT1) X(HEAT2) X(HEAT3) X(HEAT4) X(HEAT5) X(HEAT6) X(HEAT7) X(HEAT8) X(HEAT9) X(HEAT10)      \
    X(HEAT11) X(HEAT12) X(HEAT13) X(HEAT14) X(HEAT15) X(HEAT16) X(HEAT17) X(HEAT18) X(HEAT19) X(HEAT20)      \
    X(HEAT21) X(HEAT22) X(HEAT23)                                                                            \
    X(GREY0) X(GREY1) X(GREY2) X(GREY3) X(GREY4) X(GREY5) X(GREY6) X(GREY7) X(GREY8) X(GREY9) X(GREY10)      \
    X(GREY11) X(GREY12) X(GREY13) X(GREY14) X(GREY15) X(GREY16) X(GREY17) X(GREY18) X(GREY19) X(GREY20)      \
    X(GREY21) X(GREY22) X(GREY23)                                                                            \
    X(ID0) X(ID1) X(ID2) X(ID3) X(ID4) X(ID5) X(ID6) X(ID7) X(ID8) X(ID9) X(ID10) X(ID11)
/* clang-format on */

#define TONE_ENUM(name) TONE_##name,
enum tone { TONES(TONE_ENUM) TONE_COUNT };
#undef TONE_ENUM

enum { IDENTITIES = 12, MOST_HEATS = 24 };
/* MARK_BLOCK: a block character, drawn in the paper colour of its ink. */
enum marks { MARK_BOLD = 1, MARK_UNDERLINE = 2, MARK_REVERSE = 4, MARK_BLOCK = 8 };

struct style {
    uint8_t ink, paper, marks;
};

#define INK(tone)          ((struct style){.ink = TONE_##tone})
#define INK_ON(tone, back) ((struct style){.ink = TONE_##tone, .paper = TONE_##back})

/* The tone of a thing that keeps its colour in every view. */
static inline uint8_t tone_of_identity(int32_t identity)
{
    return (uint8_t)(TONE_ID0 + (uint32_t)identity % IDENTITIES);
}

struct cell_glyph {
    uint32_t code;      /* 0: the right half of a wide character */
    uint32_t combining; /* one mark on top; 0: none */
    struct style style;
};

struct cells {
    int rows, columns;
    struct cell_glyph *at;
    int cursor_row, cursor_column; /* of the terminal's own cursor; row -1: hidden */
    bool ascii;                    /* other characters are shown as '?' */
};

struct box {
    int row, column, rows, columns;
};

void cells_resize(struct cells *g, int rows, int columns);
void cells_clear(struct cells *g);
void cells_free(struct cells *g);

void put(struct cells *g, int row, int column, uint32_t code, struct style style);
/* At most `room` columns (cut with a mark where there are more); returns the columns it took. */
int put_text(struct cells *g, int row, int column, int room, struct style style, const char *text);
/* The same for a name, which loses its middle. */
int put_name(struct cells *g, int row, int column, int room, struct style style, const char *name);
int put_format(struct cells *g, int row, int column, int room, struct style style, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* A text in one row, or wrapped into a box; frees it. Return the columns, the rows that it took. */
int put_line(struct cells *g, struct box row, struct style style, struct text *line);
int put_paragraph(struct cells *g, struct box box, struct style style, struct text *line);
/* Ends at column + room. */
void put_right(struct cells *g, int row, int column, int room, struct style style, const char *text);
void put_fill(struct cells *g, struct box box, uint32_t code, struct style style);
/* Words wrapped into a box; returns the rows it took. */
int put_wrapped(struct cells *g, struct box box, struct style style, const char *text);
int put_wrapped_format(struct cells *g, struct box box, struct style style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Another paper (and ink, if not PLAIN) behind the characters. */
void put_paper(struct cells *g, struct box box, struct style style);

/* The grid as lines of text without blanks at their ends. */
void cells_to_text(const struct cells *g, struct text *out);

struct box box_cut_top(struct box *from, int rows);
struct box box_cut_bottom(struct box *from, int rows);
struct box box_cut_right(struct box *from, int columns);
/* Without its first columns. */
struct box box_behind(struct box box, int columns);
bool box_holds(const struct box *b, int row, int column);

/* The columns of a table (text/column.h) in cells, with the same rows of data as the tables of commands.
 * Views fit them once per drawing, then put row after row. */
enum { MOST_SCREEN_COLUMNS = 24 };

struct fitted {
    struct columns of;
    struct column_place place[MOST_SCREEN_COLUMNS];
    int end; /* the column behind the last, from the left of the table */
};

/* `of` must have no more than MOST_SCREEN_COLUMNS. */
struct fitted fit_columns(struct columns of, int room);
/* One heading, or all of them dim, in the first row of the box. */
void put_heading(struct cells *g, struct box row, const struct fitted *f, size_t column, struct style style,
                 const char *heading);
void put_headings(struct cells *g, struct box row, const struct fitted *f);
/* The value of one column of a row of data, or of all. */
void put_value(struct cells *g, struct box row, const struct fitted *f, size_t column, const void *data);
void put_values(struct cells *g, struct box row, const struct fitted *f, const void *data);
