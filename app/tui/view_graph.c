#include "tui/explorer.h"
static void draw(struct explorer *x, struct box area)
{
    put_text(&x->cells, area.row, area.column, area.columns, INK(PLAIN), "Graph");
}
const struct view view_graph = {.name = "Graph", .purpose = "", .needs_plan = true, .draw = draw};
