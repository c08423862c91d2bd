/* Views whose items are the ops of the shown plan, in its order:
 * what `]`, search and the command line walk. */
#ifndef LX_APP_TUI_OP_ITEMS_H
#define LX_APP_TUI_OP_ITEMS_H

#include "tui/core/explorer.h"

int op_items_count(struct explorer *x, void *state);
const char *op_items_name(struct explorer *x, void *state, int i);
int op_items_selected(struct explorer *x, void *state);
void op_items_select(struct explorer *x, void *state, int i);

#endif
