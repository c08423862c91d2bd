/* The ops of the plan as the items of a view: item i is op i of the order that the plan runs them in. */
#include "tui/views/op_items.h"

int op_items_count(struct explorer *x, void *state)
{
    (void)state;
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    return g ? g->op_count : 0;
}

const char *op_items_name(struct explorer *x, void *state, int i)
{
    (void)state;
    return outcome_graph(&x->session.shown)->ops[i].name;
}

int op_items_selected(struct explorer *x, void *state)
{
    (void)state;
    return x->session.selection.op;
}

void op_items_select(struct explorer *x, void *state, int i)
{
    (void)state;
    session_select_op(&x->session, i);
}
