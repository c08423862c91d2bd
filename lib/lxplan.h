/* lxplan: plans how a tensor graph runs on cores with small scratchpads, and where buffers lie in them.
 *
 *     lx_error *e = lx_error_new();
 *     lx_placement *p = lx_placement_new("cost", 128, e);
 *     int32_t pool = lx_placement_pool(p, "LX", 4096, e);
 *     lx_placement_buffer(p, "scores", 4096, 0, 3, 8192, e);
 *     lx_result *r = lx_solve(p, NULL, e);
 *     if (!r) puts(lx_error_text(e));
 *     lx_result_free(r), lx_placement_free(p), lx_error_free(e);
 *
 * Only these types cross this interface: opaque handles, int32_t, int64_t, double, UTF-8 strings and flat
 * arrays. No layout of a struct, no value of an enum, no bool, no long: a program built against one 0.x works
 * with a later one of the same lx_abi().
 *
 * A function that fails returns NULL or a negative number and fills in its lx_error, which may be NULL; one
 * that does not empties it.
 * Nothing prints, exits, reads the environment, changes the locale or handles signals. Handles are
 * independent; only one thread at a time may use a handle, but a const graph or placement may have several
 * readers. Strings live as long as the handle that gave them. Indices count from 0 in the order of adding.
 * Freeing NULL is fine. Callbacks run on the calling thread and must return: no longjmp, no exception. */
#ifndef LXPLAN_LXPLAN_H
#define LXPLAN_LXPLAN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LX_API __attribute__((visibility("default")))
#else
#define LX_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lx_error lx_error;         /* an error: message, place and remedy */
typedef struct lx_text lx_text;           /* bytes made by the library */
typedef struct lx_options lx_options;     /* settings, by name */
typedef struct lx_builder lx_builder;     /* a graph under construction */
typedef struct lx_graph lx_graph;         /* a tensor graph and its device; never changes */
typedef struct lx_placement lx_placement; /* buffers to place */
typedef struct lx_result lx_result;       /* the result of a solve, a plan or a run */

/* ---- The library itself. ---- */

LX_API const char *lx_version(void); /* "0.3.0" */
LX_API int32_t lx_abi(void);         /* raised with the soname */
/* Returns 1 if built with the feature: "ilp", "threads", "logging". */
LX_API int32_t lx_has(const char *feature);

/* ---- Errors and texts. ---- */

LX_API lx_error *lx_error_new(void);
LX_API void lx_error_free(lx_error *e);
/* The stable word of the error of the last call; "ok": it had none. */
LX_API const char *lx_error_code(const lx_error *e);
LX_API const char *lx_error_text(const lx_error *e);
/* The file, or NULL; line and column from 1, 0 if unknown. */
LX_API const char *lx_error_place(const lx_error *e, int32_t *line, int32_t *column);

LX_API const char *lx_text_data(const lx_text *t); /* a zero follows, not counted */
LX_API int64_t lx_text_size(const lx_text *t);
LX_API void lx_text_free(lx_text *t);

/* ---- Solvers and options. ---- */

/* "name", "summary" or "can" of the i-th solver; NULL past the end. */
LX_API const char *lx_solver_at(int32_t i, const char *field);

LX_API lx_options *lx_options_new(void);
LX_API void lx_options_free(lx_options *o);
/* Sets an option from text. Set the solver before its own options. 0, or negative. */
LX_API int32_t lx_options_set(lx_options *o, const char *name, const char *value, lx_error *e);
/* "name", "default", "low", "high" or "help" of the i-th option; NULL past the end, "" if it has none. */
LX_API const char *lx_options_at(int32_t i, const char *field);
/* `stop` is called about every 4 ms during a solve, a plan or a run, on the calling thread. If it returns
 * non-zero, the call returns its best result within 50 ms, or the error "stopped" if there is none yet.
 * Option time does the same but waits for the first plan. Work still going on then ends soon after and frees
 * its memory. */
LX_API void lx_options_on_stop(lx_options *o, int32_t (*stop)(void *context), void *context);
LX_API void lx_options_on_progress(lx_options *o,
                                   void (*progress)(void *context, int64_t steps, double objective,
                                                    double bound),
                                   void *context);

/* ---- Graphs. ---- */

LX_API lx_builder *lx_builder_new(const char *name);
LX_API void lx_builder_free(lx_builder *b);
/* Sets "preset", or one parameter of the device. 0, or negative. */
LX_API int32_t lx_builder_device(lx_builder *b, const char *key, const char *value, lx_error *e);
/* The index of the tensor, or negative. role: "input", "weight", "output", "intermediate", "state"; NULL: by
 * use. */
LX_API int32_t lx_builder_tensor(lx_builder *b, const char *name, const char *dtype, int32_t rank,
                                 const int64_t *shape, const char *role, lx_error *e);
/* The index of the op, or negative. einsum NULL: by kind and shapes. */
LX_API int32_t lx_builder_op(lx_builder *b, const char *name, const char *kind, const char *einsum,
                             const int32_t *inputs, int32_t count, int32_t output, lx_error *e);
/* Sets a parameter of an op; key and value as in a pattern file. */
LX_API int32_t lx_builder_attribute(lx_builder *b, int32_t op, const char *key, const char *value,
                                    lx_error *e);
/* Checks the graph like a pattern file and empties the builder. If memory was out the builder is unchanged:
 * call again. */
LX_API lx_graph *lx_builder_finish(lx_builder *b, lx_error *e);

/* format NULL: detected by content. */
LX_API lx_graph *lx_graph_parse(const char *bytes, int64_t size, const char *format, lx_error *e);
/* A model (TTIR, HLO, ONNX) by the options "dim", "value" and "role" ("NAME=N,...", commas of names as "\,"),
 * "trips", "branch", "func", "strict", ... of `o`; anything else is parsed. */
LX_API lx_graph *lx_graph_import(const char *bytes, int64_t size, const lx_options *o, lx_error *e);
/* format "report": what lx_graph_import made of each op, as JSON. */
LX_API lx_text *lx_graph_write(const lx_graph *g, const char *format, lx_error *e);
LX_API void lx_graph_free(const lx_graph *g);
/* "tensors", "ops", "buffers", "bytes", "cores"; 0, or -1 for an unknown name. */
LX_API int32_t lx_graph_number(const lx_graph *g, const char *name, double *value);
/* "name", "hash" (the same on every machine), "device", "summary"; NULL for an unknown name. */
LX_API const char *lx_graph_word(const lx_graph *g, const char *name);

/* ---- Placement problems. ---- */

/* objective: "cost", "fit", "height". */
LX_API lx_placement *lx_placement_new(const char *objective, int64_t alignment, lx_error *e);
LX_API void lx_placement_free(lx_placement *p);
/* The index of the pool, or negative. capacity -1: no limit. */
LX_API int32_t lx_placement_pool(lx_placement *p, const char *name, int64_t capacity, lx_error *e);
/* Reserves bytes [from, to) on ticks [start, end); start = end = 0: always. */
LX_API int32_t lx_placement_reserve(lx_placement *p, int32_t pool, int64_t from, int64_t to, int64_t start,
                                    int64_t end, lx_error *e);
/* The index of the buffer, or negative. off: the cost if not placed; -1: it must be placed. */
LX_API int32_t lx_placement_buffer(lx_placement *p, const char *name, int64_t size, int64_t start,
                                   int64_t end, int64_t off, lx_error *e);
/* Adds many unnamed buffers; the index of the first. offs NULL: their sizes. */
LX_API int32_t lx_placement_buffers(lx_placement *p, int32_t count, const int64_t *sizes,
                                    const int64_t *starts, const int64_t *ends, const int64_t *offs,
                                    lx_error *e);
/* Adds an interval to the buffer's life. */
LX_API int32_t lx_placement_live(lx_placement *p, int32_t b, int64_t start, int64_t end, lx_error *e);
LX_API int32_t lx_placement_uses(lx_placement *p, int32_t b, const int64_t *uses, int32_t count,
                                 int32_t first_is_read, lx_error *e);
/* Allows a pool at a cost; the first call replaces "every pool". */
LX_API int32_t lx_placement_allow(lx_placement *p, int32_t b, int32_t pool, int64_t cost, lx_error *e);
LX_API int32_t lx_placement_pin(lx_placement *p, int32_t b, int32_t pool, int64_t address, int32_t alone,
                                lx_error *e);
/* key: "barred" (words), "alignment", "parent" (an index; once per parent), "instead_of" (an index). */
LX_API int32_t lx_placement_set(lx_placement *p, int32_t b, const char *key, const char *value, lx_error *e);
/* kind: "apart", "exclusive", "reuse" (with a cost). */
LX_API int32_t lx_placement_pair(lx_placement *p, const char *kind, int32_t a, int32_t b, int64_t cost,
                                 lx_error *e);
/* kind: "same_place", "together". */
LX_API int32_t lx_placement_group(lx_placement *p, const char *kind, const int32_t *members, int32_t count,
                                  lx_error *e);
/* Adds a cost, paid once if all conditions hold; -1: they must not. */
LX_API int32_t lx_placement_charge(lx_placement *p, int64_t cost, const int32_t *all_on, int32_t all_on_count,
                                   const int32_t *all_off, int32_t all_off_count, const int32_t *any_on,
                                   int32_t any_on_count, const int32_t *any_off, int32_t any_off_count,
                                   lx_error *e);
/* format: "csv", "xla", "dsa", "d2m", "pattern"; NULL: detected by content. */
LX_API lx_placement *lx_placement_parse(const char *bytes, int64_t size, const char *format, lx_error *e);
LX_API lx_text *lx_placement_write(const lx_placement *p, const char *format, lx_error *e);

/* ---- Solving, planning, running. ---- */

/* The result is checked. options NULL: the defaults. */
LX_API lx_result *lx_solve(const lx_placement *p, const lx_options *o, lx_error *e);
/* Checks any answer: 1 legal, with its value; 0 not, and the error names rule, buffers and bytes. Address -1:
 * off chip. */
LX_API int32_t lx_check(const lx_placement *p, const int32_t *pools, const int64_t *addresses, int32_t count,
                        double *value, lx_error *e);
/* Divisions and placement together; the JSON is described in lib/library.md. */
LX_API lx_result *lx_joint_solve(const char *bytes, int64_t size, const lx_options *o, lx_error *e);
/* Plans a graph. With the option "file" the graph may be NULL: the file is planned. */
LX_API lx_result *lx_plan(const lx_graph *g, const lx_options *o, lx_error *e);
LX_API lx_result *lx_plan_parse(const char *bytes, int64_t size, lx_error *e);
/* Executes a plan on the simulated device. */
LX_API lx_result *lx_run(const lx_result *plan, const lx_options *o, lx_error *e);

/* ---- Results. ---- */

LX_API void lx_result_free(lx_result *r);
/* The i-th name that the result knows, or for a `list` its items; NULL past the end. *type: "number",
 * "integer", "word" or "list".
 *
 * Numbers   objective bound gap seconds us device_us
 * Integers  steps hbm_bytes baseline_hbm_bytes spill_bytes height ring_bytes sync_times, the solver's statistics;
 *           of a run ok hbm_read hbm_written lx_read lx_written ring reduce_ring flops faults wrong_ops unequal_ops;
 *           of a team members exchanged_bytes combined_bytes exchange_bound
 * Words     status objective solver options name message unproved notes
 * buffers   name size start end cost pool address in_place_of id reason
 * ops       name kind splits cores traffic hbm_read hbm_written ring reduce_ring device_us us
 * splits    op dimension parts;  nests first last tiles;  layouts name dtype size stick_dim stick_elements bytes hbm_address
 * launches  op core y x first_tile tiles k_slice;  transfers kind tick bytes buffer source ahead
 * syncs     before in_loop;  bundles first ops device_us us;  time_line kind name index tick start_us end_us
 * faults    kind tick core address sticks text;  members ops height hbm_bytes */
LX_API const char *lx_result_name_at(const lx_result *r, const char *list, int32_t i, const char **type);
/* Checks the result from scratch: 1 legal, 0 not. */
LX_API int32_t lx_result_check(const lx_result *r, lx_error *e);
/* A number or an integer; 0, or -1 for an unknown name. */
LX_API int32_t lx_result_number(const lx_result *r, const char *name, double *value);
LX_API int32_t lx_result_integer(const lx_result *r, const char *name, int64_t *value);
/* NULL for an unknown name. */
LX_API const char *lx_result_word(const lx_result *r, const char *name);
/* The length of a list; -1 for an unknown one. */
LX_API int64_t lx_result_count(const lx_result *r, const char *list);
LX_API int32_t lx_result_item_number(const lx_result *r, const char *list, int64_t i, const char *name,
                                     double *value);
LX_API int32_t lx_result_item_integer(const lx_result *r, const char *list, int64_t i, const char *name,
                                      int64_t *value);
LX_API const char *lx_result_item_word(const lx_result *r, const char *list, int64_t i, const char *name);
/* Pool and address (-1, -1: off chip) of the first `count` buffers; returns the number of buffers. */
LX_API int32_t lx_result_places(const lx_result *r, int32_t *pools, int64_t *addresses, int32_t count);
/* "plan", "explain", "diff" (against `other`), or an export. */
LX_API lx_text *lx_result_write(const lx_result *r, const char *format, const lx_result *other, lx_error *e);

#ifdef __cplusplus
}
#endif

#endif
