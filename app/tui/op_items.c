#include "tui/op_items.h"

int op_items_count(struct explorer *x)
{
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    return g ? g->op_count : 0;
}

const char *op_items_name(struct explorer *x, int i)
{
    return outcome_graph(&x->session.shown)->ops[i].name;
}

int op_items_selected(struct explorer *x)
{
    return x->session.op;
}

void op_items_select(struct explorer *x, int i)
{
    session_select_op(&x->session, i);
}
