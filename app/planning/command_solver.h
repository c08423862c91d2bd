/* Solvers that are programs: `-s cmd:./my_solver.py`. The problem goes to the program's standard input, as a
 * MiniMalloc CSV (buffers by number; columns offset, alignment and weight where they are needed) or as a pattern,
 * and lines `id,offset` are read from its standard output; a buffer that it leaves out, or puts at -1, is off chip.
 * LXPLAN_CAPACITY, LXPLAN_OBJECTIVE, LXPLAN_SEED and LXPLAN_TIME (seconds; empty: no limit) are in its environment.
 * A program that fails, writes something else or far too much, or is late, gives no answer. */
#pragma once

#include "command.h"

/* Makes solvers of all words cmd:... that --solver has; with --protocol json they are sent patterns. */
bool command_solvers_add(struct call *call);
/* Takes the next name off a list: up to a comma that stands in no quotes; NULL: none is left. */
char *solver_name_next(char **rest);
/* Programs stay in the process group of this process, which somebody else ends as a whole. */
void command_solvers_stay_in_group(void);
