/* The nodes of a plan in Model Explorer: of a graph an op each (in order), and a tensor each that arrives or leaves; of a
 * list a buffer each. Ids are made of numbers, names of files stand in labels only. Private to the stage. */
#ifndef LX_EXPORT_EXPLORER_NODES_H
#define LX_EXPORT_EXPLORER_NODES_H

#include "base/text.h"
#include "plan/plan.h"

enum node_kind { NODE_OP, NODE_TENSOR, NODE_BUFFER };

struct node {
    enum node_kind kind;
    int32_t number;
};

/* Node i; false: there are no more. Tensors that have no node are left out: ask in order, `*i` goes on. */
bool next_node(const struct lx_plan *p, int32_t *i, struct node *out);
/* "op 3", in quotes. */
void add_node_id(struct text *out, struct node n);
/* The id of the graph, in quotes. */
void add_graph_id(struct text *out, const struct lx_plan *p);
/* "LX at 4096", "HBM at 128"; of a list's buffer "on chip at 0" and "off chip". */
void add_node_place(struct text *out, const struct lx_plan *p, struct node n);

#endif
