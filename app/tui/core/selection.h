/* What is looked at, by every view alike. Views read it; they change it through these setters only, which
 * keep its parts in agreement with each other and inside the plan that is shown. */
#ifndef LX_APP_TUI_SELECTION_H
#define LX_APP_TUI_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

struct selection {
    int32_t buffer, op; /* -1: none */
    int64_t tick;
    int64_t address; /* with the tick: the cursor of maps; a picture address (bands.h) */
    bool pointed;    /* the cursor was moved there, be it to a hole; else it is where the buffer is */
    uint64_t moves;  /* of the cursor: a window that follows it knows by this when to */
    int64_t core;
    int64_t iteration; /* of the nest that is looked at, from 0 on; one with fewer is at its last */
    bool by_edges;     /* the scale of addresses: cut at the edges of buffers, and not in proportion */
};

struct session;
struct lx_plan;

/* Selecting a buffer selects the op that writes (or first reads) it, if none that uses it is. */
void session_select_buffer(struct session *s, int32_t buffer);
/* Selecting an op selects its output, and the tick at which it runs. */
void session_select_op(struct session *s, int32_t op);
/* By name: a buffer, else an op; the cursor goes there. False: nothing has this name. */
bool session_goto(struct session *s, const char *name);
/* The cursor on the selected buffer: at its address, and at a tick of its life. */
void session_show_buffer(struct session *s);
/* The cursor at a place, and the buffer that lies there selected, if one does. */
void session_point(struct session *s, int64_t tick, int64_t address);
/* Into the scratchpad of a core, whatever lies there: the buffer stays selected. */
void session_look_into(struct session *s, int64_t core, int64_t address);
void session_select_tick(struct session *s, int64_t tick);
/* One that the device does not have leaves it as it was. */
void session_select_core(struct session *s, int64_t core);
/* The nest at the cursor, else that of the selected op; -1: none. */
int32_t session_nest(const struct session *s);
/* The iteration that a nest of the plan is seen in. */
int64_t session_iteration(const struct session *s, int32_t nest);
void session_set_iteration(struct session *s, int64_t iteration);
void session_swap_scale(struct session *s);
/* The cursor into the plan that is shown. */
void session_keep_cursor(struct session *s);
/* One behind the last address that the plan may use. */
int64_t session_highest(const struct session *s);
/* A new plan is shown: what had a name in the old one (NULL: there was none) still has it. */
void session_keep_selection(struct session *s, const struct lx_plan *old);
void session_select_nothing(struct session *s);

#endif
