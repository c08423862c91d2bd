/* THE table of all that the explorer can do. Keys, the command line, the help and the tests are made from
 * it.
 *
 * A key asks for a request; the view on top may answer it, else the explorer does (acts.c). A request with
 * an argument that comes from a key opens the command line with its name.
 *
 *   R(id, name, keys, views, argument, group, help)
 *   keys: as in key.h, separated by blanks; the first one is shown in hints.
 *   views: where the keys hold. */
#pragma once

#include "base/base.h"

/* clang-format off */
/* The views: a new one needs a row here and a file with a `struct view view_FILE`. Pages have a digit and
 * a tab in the title; panels lie on top of them. The rows make the requests that show them.
 *   V(R, id, file, name, keys, group, help): all but `file` as in REQUESTS; R is passed on to
 * VIEW_REQUEST. */
#define PAGES(V, R)                                                                                          \
    V(R, PATTERNS, patterns, "patterns", "1", "Views", "the patterns: size, last result, expectation")       \
    V(R, GRAPH, graph, "graph", "2", "Views", "the ops in order, lanes of tensors, what bounds each")        \
    V(R, CORES, cores, "cores-view", "3", "Views", "splits of the op: who holds what, what others would cost") \
    V(R, MAP, map, "map", "4", "Views", "scratchpad addresses against time")                                 \
    V(R, COMPARE, compare, "compare", "5", "Views", "solvers side by side on this pattern")                  \
    V(R, LOOPS, loops, "loops", "6", "Views", "loop nest and launch of the op, pass by pass")                \
    V(R, RUN, run, "run", "7", "Views", "the plan on the simulated device: results, bytes, faults")          \
    V(R, TEAM, team, "team-view", "8", "Views", "the graph sharded over several devices")    \
    V(R, BUFFERS, buffers, "buffers", "9", "Views", "every buffer in a table, and where the bytes go")       \
    V(R, SWEEP, sweep, "sweep", "0", "Views", "HBM bytes or time against the size of the scratchpad")
#define PANELS(V, R)                                                                                         \
    V(R, HELP, help, "help", "? <F1>", "Views", "every key; search and filter work in it")                   \
    V(R, WELCOME, welcome, "welcome", "", "Views", "the first screen again")                                 \
    V(R, WHAT_IF, what_if, "what-if", "w", "What if", "the panel with everything that can be changed")       \
    V(R, WHY, why, "why", "i", "What if", "why a buffer is off chip, its cost, and remedies")         \
    V(R, PARETO, pareto, "pareto", "a", "What if", "every plan seen, bytes against time: which to take") \
    V(R, ROOFLINE, roofline, "roofline", "b", "Views", "what bounds the ops: HBM, scratchpads, cores") \
    V(R, PROOF, proof, "proof", "B", "Views", "why not lower: the ticks that make the bound, what room is worth")                 \
    V(R, TIMELINE, timeline, "timeline", "t", "Views", "the engines of a core against time: work, overlap, syncs")
/* clang-format on */
#define VIEWS(V, R) PAGES(V, R) PANELS(V, R)

#define VIEW_ENUM(R, id, file, name, keys, group, help) VIEW_##id,
enum view_id {
    PAGES(VIEW_ENUM, ) PAGE_COUNT,
    BEFORE_PANELS = PAGE_COUNT - 1,
    PANELS(VIEW_ENUM, ) VIEW_COUNT
};
#undef VIEW_ENUM

#define VIEW_REQUEST(R, id, file, name, keys, group, help) R(id, name, keys, EVERYWHERE, NONE, group, help)

#define IN(view)   (1u << VIEW_##view)
#define EVERYWHERE (~0u)
#define IN_MAPS    (IN(MAP) | IN(COMPARE))
#define IN_TIME    (IN(MAP) | IN(TEAM) | IN(TIMELINE))
#define SORTED     (IN(PATTERNS) | IN(BUFFERS))            /* tables that are sorted by any column */
#define TRIED      (IN(WHY) | IN(PARETO))                  /* by bytes, time or syncs */
#define IN_PLAN    ((1u << PAGE_COUNT) - 1 - IN(PATTERNS)) /* every page that shows a plan */

/* The kind of an argument, for completion. */
enum argument {
    ARG_NONE,
    ARG_SOLVER,
    ARG_OBJECTIVE,
    ARG_THEME,
    ARG_FILE,
    ARG_NAME, /* of a buffer or an op */
    ARG_PATTERN,
    ARG_NUMBER,
    ARG_GRID, /* of devices: 4 or 2x4 */
    ARG_SETTING,
    ARG_COLUMN,
    ARG_REQUEST,
    ARG_TEXT
};

#define REQUESTS(R)                                                                                          \
    R(UP, "up", "k <Up>", EVERYWHERE, NONE, "Moving", "up")                                                  \
    R(DOWN, "down", "j <Down>", EVERYWHERE, NONE, "Moving", "down")                                          \
    R(LEFT, "left", "h <Left>", EVERYWHERE, NONE, "Moving", "left; in the what-if panel: less")              \
    R(RIGHT, "right", "l <Right>", EVERYWHERE, NONE, "Moving", "right; in the what-if panel: more")          \
    R(PAGE_UP, "page-up", "<PageUp> <C-u>", EVERYWHERE, NONE, "Moving", "a page up")                         \
    R(PAGE_DOWN, "page-down", "<PageDown> <C-d>", EVERYWHERE, NONE, "Moving", "a page down")                 \
    R(TOP, "top", "g <Home>", EVERYWHERE, NONE, "Moving", "to the first")                                    \
    R(BOTTOM, "bottom", "G <End>", EVERYWHERE, NONE, "Moving", "to the last")                                \
    R(HELP_DOWN, "help-down", "<Space>", IN(HELP), NONE, "Moving", "in the help: a page down")               \
    R(HELP_UP, "help-up", "b", IN(HELP), NONE, "Moving", "in the help: a page up")                           \
    R(NEXT_ITEM, "next", "]", EVERYWHERE, NONE, "Moving", "next op; in the map: next buffer")                \
    R(PREVIOUS_ITEM, "previous", "[", EVERYWHERE, NONE, "Moving",                                            \
      "previous op; in the map: previous buffer")                                                            \
    R(OPEN, "open", "<Enter>", EVERYWHERE, PATTERN, "Moving",                                                \
      "open the pattern; follow the edge; use the solver of the row")                                        \
    R(BACK, "back", "q", EVERYWHERE, NONE, "Moving", "back; from the list of patterns: quit")                \
    R(GO_BACK, "go-back", "<C-o>", EVERYWHERE, NONE, "Moving",                                               \
      "back to the previous place: view and selection")                                                      \
    R(ESCAPE, "escape", "<Esc>", EVERYWHERE, NONE, "Moving",                                                 \
      "close the panel, cancel planning, clear search and filter")                                           \
    PAGES(VIEW_REQUEST, R)                                                                                   \
    R(NEXT_VIEW, "next-view", "<Tab>", EVERYWHERE, NONE, "Views", "the next view")                           \
    R(PREVIOUS_VIEW, "previous-view", "<S-Tab>", EVERYWHERE, NONE, "Views", "the previous view")             \
    R(SEARCH, "search", "/", EVERYWHERE, TEXT, "Finding", "search names")                                    \
    R(SEARCH_NEXT, "search-next", "n", EVERYWHERE, NONE, "Finding", "next match")                            \
    R(SEARCH_PREVIOUS, "search-previous", "N", EVERYWHERE, NONE, "Finding", "previous match")                \
    R(FILTER, "filter", "f", EVERYWHERE, TEXT, "Finding", "only what has this in its name (empty: all)")     \
    R(GOTO, "goto", "", IN_PLAN, NAME, "Finding", "select a buffer or an op by name")                        \
    R(COMMAND, "command", ":", EVERYWHERE, NONE, "Finding", "type a request by name; <Tab> completes")       \
    R(SORT, "sort", "", SORTED | IN(COMPARE), COLUMN, "Tables", "sort by a column")                          \
    R(SORT_RIGHT, "sort-right", ">", SORTED | TRIED | IN(COMPARE), NONE, "Tables",                           \
      "sort by the next column")                                                                             \
    R(SORT_LEFT, "sort-left", "<lt>", SORTED | TRIED | IN(COMPARE), NONE, "Tables",                          \
      "sort by the previous column")                                                                         \
    R(SORT_REVERSE, "sort-reverse", "r", SORTED, NONE, "Tables", "reverse the order")                        \
    R(PLAN_ALL, "plan-all", "P", IN(PATTERNS), NONE, "Patterns", "plan every pattern with these settings")   \
    R(PAN_LEFT, "pan-left", "H", IN_MAPS, NONE, "Map", "earlier")                                            \
    R(PAN_DOWN, "pan-down", "J", IN_MAPS, NONE, "Map", "lower addresses")                                    \
    R(PAN_UP, "pan-up", "K", IN_MAPS, NONE, "Map", "higher addresses")                                       \
    R(PAN_RIGHT, "pan-right", "L", IN_MAPS, NONE, "Map", "later")                                            \
    R(ZOOM_IN, "zoom-in", "+ =", IN_MAPS, NONE, "Map", "zoom in around the cursor (or the mouse wheel)")     \
    R(ZOOM_OUT, "zoom-out", "- _", IN_MAPS, NONE, "Map", "zoom out")                                         \
    R(ZOOM_TIME_IN, "zoom-time-in", ">", IN_TIME, NONE, "Map", "zoom in on time only")                       \
    R(ZOOM_TIME_OUT, "zoom-time-out", "<lt>", IN_TIME, NONE, "Map", "zoom out of time only")                 \
    R(ZOOM_ALL, "zoom-all", "z", IN_MAPS | IN_TIME, NONE, "Map", "all of it")                                \
    R(ZOOM_SELECTION, "zoom-selection", "Z", IN(MAP), NONE, "Map", "just the selected buffer")               \
    R(EDGES, "edges", "v", IN(MAP) | IN(COMPARE), NONE, "Map",                                               \
      "rows to scale, or cut at the edges of buffers")                                                       \
    R(EVENTS, "events", "V", IN(MAP), NONE, "Map", "time to scale, or one column per event")                 \
    R(DENSE, "dense", "d", IN(MAP), NONE, "Map",                                                             \
      "cells of several buffers: occupancy, cost, fragmentation, age")                                       \
    R(OFF_CHIP, "off-chip", "o", IN_PLAN | IN(WHY), NONE, "Map",                                             \
      "next buffer off chip, most expensive first")                                                          \
    R(ON_CHIP_BIGGEST, "peak", "P", IN(MAP), NONE, "Map", "to the tick with most bytes in use")              \
    R(FORCE, "force", "F", IN(MAP), NONE, "Map",                                                             \
      "plan with the buffer that is off chip on chip: what leaves, what it costs; <Enter> takes it")         \
    R(AT_PEAK, "at-peak", "^", IN_PLAN, NONE, "Map",                                                         \
      "what is on chip at the fullest tick: a table by size, with padding")                                  \
    R(HEX, "hex", "#", EVERYWHERE, NONE, "Map", "addresses in hex or decimal")                               \
    R(PLAY, "play", "<Space>", IN(MAP), NONE, "Map", "play: one tick after the other")                       \
    R(NEXT_ITERATION, "next-iteration", ")", IN_PLAN, NONE, "Nests",                                         \
      "the next iteration of the nest at the cursor")                                                        \
    R(PREVIOUS_ITERATION, "previous-iteration", "(", IN_PLAN, NONE, "Nests", "the previous iteration")       \
    R(NEXT_OUTER, "next-outer", "}", IN_PLAN, NONE, "Nests", "the next iteration of the outermost loop")     \
    R(PREVIOUS_OUTER, "previous-outer", "{", IN_PLAN, NONE, "Nests", "its previous iteration")               \
    R(ITERATION, "iteration", "", IN_PLAN, NUMBER, "Nests", "to an iteration by its number, from 1 on")      \
    R(NEXT_NEST, "next-nest", ";", IN_PLAN, NONE, "Nests", "to the next nest of the plan")                   \
    R(PREVIOUS_NEST, "previous-nest", ",", IN_PLAN, NONE, "Nests", "to the previous nest")                   \
    R(FOLLOW, "follow", "<Space>", IN(GRAPH), NONE, "Graph", "next producer or consumer")                    \
    R(FOLD, "fold", "z", IN(GRAPH), NONE, "Graph", "a row for each nest, or all its ops")                    \
    R(LAYERS, "layers", "Z", IN(GRAPH), NONE, "Graph", "a row for repeated layers, or all their ops")        \
    R(OPERAND, "operand", "<Space> m", IN(CORES) | IN(TEAM), NONE, "Cores", "the next tensor of the op")     \
    R(CORES_PANE, "cores-pane", "d", IN(CORES), NONE, "Cores",                                               \
      "beside the splits: cores, bytes over the ring, launch")                                               \
    R(RACE, "race", "r", IN(COMPARE), NONE, "Compare", "race all solvers on this pattern")                   \
    R(EXECUTE, "execute", "r", IN(RUN), NONE, "Run", "execute this plan")                                    \
    R(EXECUTE_ON, "run-on", "", IN(RUN) | IN(TIMELINE), TEXT, "Run",                                         \
      "run the plan's program and measure it: run-on gpu, run-on host")                                      \
    R(STOP, "stop", ".", EVERYWHERE, NONE, "What if", "cancel what runs; the best so far is kept")           \
    R(PANE, "pane", "d", IN(COMPARE), NONE, "Compare",                                                       \
      "below the rows: maps, differences, or best and bound over time")                                      \
    R(PIN, "pin", "p", EVERYWHERE, NONE, "Compare", "pin this plan as A, to compare with")                   \
    R(OPEN_PLAN, "open-plan", "", EVERYWHERE, FILE, "Compare",                                               \
      "a plan, or a placement of another compiler, beside the others")                                       \
    R(MARK, "mark", "<Space> m", IN(COMPARE), NONE, "Compare", "this row is the left one of the two maps")   \
    R(PASS_RULES, "rules", "m", IN(LOOPS), NONE, "Loops", "the other rule set of the loop passes")           \
    R(TEAM_SET, "team", "", EVERYWHERE, GRID, "Team", "shard the graph over N devices, or a grid AxB")       \
    R(MORE_MEMBERS, "more-members", "+ =", IN(TEAM), NONE, "Team", "one device more")                        \
    R(FEWER_MEMBERS, "fewer-members", "- _", IN(TEAM), NONE, "Team", "one device less")                      \
    R(TEAM_TIME, "team-time", "t", IN(TEAM), NONE, "Team",                                                   \
      "the time line: what each device computes, waits for and receives; or the tensor")                     \
    R(RUN_TEAM, "run-team", "r", IN(TEAM), NONE, "Team", "run the team; compare with one device")            \
    R(SWEEP_AGAIN, "sweep-again", "r", IN(SWEEP), NONE, "Sweep", "sweep with the settings of now")           \
    R(SWEEP_VALUE, "sweep-value", "t", IN(SWEEP), NONE, "Sweep", "HBM bytes, or time from end to end")       \
    R(SWEEP_RANGE, "range", "", IN(SWEEP), TEXT, "Sweep", "other sizes: range 16k..2m (nothing: as usual)")  \
    R(WHOLE_PLAN, "whole-plan", "<Space>", IN(WHY), NONE, "What if",                                         \
      "remedies for this buffer, or for the whole plan")                                                     \
    PANELS(VIEW_REQUEST, R)                                                                                  \
    R(SOLVER, "solver", "", EVERYWHERE, SOLVER, "What if", "plan with this solver")                          \
    R(NEXT_SOLVER, "next-solver", "s", EVERYWHERE, NONE, "What if", "the next solver")                       \
    R(PREVIOUS_SOLVER, "previous-solver", "S", EVERYWHERE, NONE, "What if", "the previous solver")           \
    R(CORES_SET, "cores", "", EVERYWHERE, NUMBER, "What if",                                                 \
      "plan for so many cores (0: as the pattern says)")                                                     \
    R(FEWER_CORES, "fewer-cores", "c", EVERYWHERE, NONE, "What if", "half the cores")                        \
    R(MORE_CORES, "more-cores", "C", EVERYWHERE, NONE, "What if", "twice the cores")                         \
    R(LX_SET, "lx", "", EVERYWHERE, NUMBER, "What if",                                                       \
      "usable bytes of each scratchpad; k and m may follow")                                                 \
    R(LESS_LX, "less-lx", "x", EVERYWHERE, NONE, "What if", "an eighth less scratchpad")                     \
    R(MORE_LX, "more-lx", "X", EVERYWHERE, NONE, "What if", "an eighth more scratchpad")                     \
    R(OBJECTIVE, "objective", "", EVERYWHERE, OBJECTIVE, "What if",                                          \
      "HBM traffic or time; place all; least memory")                                                        \
    R(LEVEL, "level", "", EVERYWHERE, NUMBER, "What if", "effort of the solver auto, 0 to 9")                \
    R(SEED, "seed", "", EVERYWHERE, NUMBER, "What if", "seed of solvers that use random numbers")            \
    R(SET, "set", "", EVERYWHERE, SETTING, "What if", "any setting: set NAME VALUE")                         \
    R(DIM, "dim", "", EVERYWHERE, TEXT, "What if", "extents that a model leaves open: dim batch=1 seq=128")  \
    R(UNDO, "undo", "u", EVERYWHERE, NONE, "What if", "undo the last change")                                \
    R(REDO, "redo", "<C-r>", EVERYWHERE, NONE, "What if", "redo it")                                         \
    R(RELOAD, "reload", "R", EVERYWHERE, NONE, "What if", "reload the pattern's file and plan it")           \
    R(EDIT, "edit", "e", EVERYWHERE, NONE, "What if",                                                        \
      "the file in $VISUAL or $EDITOR, at the line of the selection; reloaded on return")                    \
    R(SAVE, "save", "W", EVERYWHERE, FILE, "Saving", "write the plan to a file")                             \
    R(EXPORT, "export", "E", EVERYWHERE, FILE, "Saving",                                                     \
      "write this view: FILE.txt as text, FILE.svg as a drawing; FILE.html: the plan")                       \
    R(COPY, "copy", "y", EVERYWHERE, NONE, "Saving", "show and copy the equivalent lxplan command")          \
    R(THEME, "theme", "", EVERYWHERE, THEME, "Screen", "the colours by name; <Tab> offers them")             \
    R(NEXT_THEME, "next-theme", "T", EVERYWHERE, NONE, "Screen", "the next theme")                           \
    R(ASCII, "ascii", "A", EVERYWHERE, NONE, "Screen", "all characters, ASCII only, no quarter blocks")      \
    R(REDRAW, "redraw", "<C-l>", EVERYWHERE, NONE, "Screen", "redraw everything")                            \
    R(BIND, "bind", "", EVERYWHERE, REQUEST, "Screen", "other keys for a request: bind NAME KEYS")           \
    R(QUIT, "quit", "Q", EVERYWHERE, NONE, "Screen", "quit")

#define REQUEST_ENUM(id, name, keys, views, argument, group, help) REQ_##id,
enum request { REQUESTS(REQUEST_ENUM) REQ_COUNT };
#undef REQUEST_ENUM

struct request_row {
    const char *name, *keys;
    unsigned views;
    enum argument argument;
    const char *group, *help;
};

extern const struct request_row request_rows[REQ_COUNT];

/* The request of a key in a view; REQ_COUNT if it means nothing there. A key of few views goes before one
 * that holds everywhere. */
enum request request_of_key(uint32_t code, enum view_id view);
/* By name, or by the beginning of only one name; REQ_COUNT otherwise. */
enum request request_find(const char *name);
/* Its keys: the default ones, unless the user gave others. */
const char *request_keys(enum request r);
/* The first key of a request, or ":name" if it has none. */
struct key_name {
    char at[24];
};
struct key_name request_key(enum request r);
#define KEY_OF(id) (request_key(REQ_##id).at)
/* Other keys for a request; empty: the default ones. False, with `st`: they are no keys, or mean something
 * else already. */
bool request_bind(enum request r, const char *keys, lx_status *st);
