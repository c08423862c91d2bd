/* A cursor in a list, and the part of the list around it that a box has room for. */
#include "tui/core/views.h"

bool list_move(struct list *l, enum request r, int count, int page)
{
    int by = page > 1 ? page - 1 : 1, to;
    const struct {
        enum request request;
        int to;
    } moves[] = {{REQ_UP, l->cursor - 1},       {REQ_DOWN, l->cursor + 1},       {REQ_TOP, 0},
                 {REQ_PAGE_UP, l->cursor - by}, {REQ_PAGE_DOWN, l->cursor + by}, {REQ_BOTTOM, count - 1}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].request != r) continue;
        to = moves[i].to > count - 1 ? count - 1 : moves[i].to;
        l->cursor = to < 0 ? 0 : to;
        return true;
    }
    return false;
}

void list_show(struct list *l, int count, struct box rows)
{
    l->rows = rows;
    if (l->cursor > count - 1) l->cursor = count - 1;
    if (l->cursor < 0) l->cursor = 0;
    if (l->top > l->cursor) l->top = l->cursor;
    if (l->top < l->cursor - rows.rows + 1) l->top = l->cursor - rows.rows + 1;
    if (l->top > count - rows.rows) l->top = count - rows.rows;
    if (l->top < 0) l->top = 0;
}
