#include "tui/explorer.h"

bool list_move(struct list *l, enum request r, int count, int page)
{
    int to = l->cursor;
    switch (r) {
    case REQ_UP:
        to--;
        break;
    case REQ_DOWN:
        to++;
        break;
    case REQ_PAGE_UP:
        to -= page > 1 ? page - 1 : 1;
        break;
    case REQ_PAGE_DOWN:
        to += page > 1 ? page - 1 : 1;
        break;
    case REQ_TOP:
        to = 0;
        break;
    case REQ_BOTTOM:
        to = count - 1;
        break;
    default:
        return false;
    }
    if (to > count - 1) to = count - 1;
    l->cursor = to < 0 ? 0 : to;
    return true;
}

void list_show(struct list *l, int count, int rows)
{
    if (l->cursor > count - 1) l->cursor = count - 1;
    if (l->cursor < 0) l->cursor = 0;
    if (l->top > l->cursor) l->top = l->cursor;
    if (l->top < l->cursor - rows + 1) l->top = l->cursor - rows + 1;
    if (l->top > count - rows) l->top = count - rows;
    if (l->top < 0) l->top = 0;
}
