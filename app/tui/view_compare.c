#include "tui/explorer.h"
static void draw(struct explorer *x, struct box area)
{
    put_text(&x->cells, area.row, area.column, area.columns, INK(PLAIN), "Compare");
}
const struct view view_compare = {.name = "Compare", .purpose = "", .needs_plan = true, .draw = draw};
