/* A plan's value, bound and gap in the same words everywhere. "optimal": proved; "proven least": the bound.
 * The text tells if a bound holds only for the plan's own work split. */
#pragma once

#include "base/words/words.h"
#include "explain/op_waits.h"

/* 12.7 MiB; below 10 KiB 1,234 B */
struct words in_short_bytes(int64_t n);

/* HBM, cost (of a list) or height. */
const char *value_word(const struct lx_plan *p);
/* "HBM 12.7 MiB, proven least 12.3 MiB (+3.0 %)", "HBM 12.3 MiB, optimal"; not `brief`: with every byte. */
void add_value_words(const struct lx_plan *p, bool brief, struct text *out);
/* The fewest bytes of a slower plan that the search came to (p->fewer_bytes > 0), and how to have it. */
void add_fewer_bytes_words(const struct lx_plan *p, struct text *out);
/* "optimal", or "optimal for these divisions" if other divisions might move less; co-optimisation, a list, or
 * a bound on time excludes that. */
const char *optimal_words(const struct lx_plan *p);
/* The same for every status: "feasible", "limit". */
const char *verdict_words(const struct lx_plan *p);
/* The pool of a buffer; "": off chip, or the only pool. */
const char *pool_word(const struct lx_plan *p, int32_t buffer);
/* Text after the value: ", optimal". Empty for objective fit. */
void add_least_words(const struct lx_plan *p, bool brief, struct text *out);
/* "optimal", "feasible: bestfit is a heuristic and proves nothing", "limit: stopped by --time" */
void add_status_words(const struct lx_plan *p, struct text *out);
/* Only the reason: ": stopped by --time"; may be empty. */
void add_reason_words(const struct lx_plan *p, struct text *out);

/* The number that decides a buffer's colour and letter in every picture: its tensor's (or its own in a list),
 * so that all residencies of a tensor look alike. -1: no buffer. */
int32_t buffer_identity(const struct lx_plan *p, int32_t buffer);
/* HBM bytes that each buffer moves: malloc'ed. */
int64_t *moved_by_buffers(const struct lx_plan *p);
/* Of the plan of a model: "81 of 81 ops mapped, 4 copies of 1,024 B; the file must move 20,512 B, the plan moves
 * 1.08 times that"; else nothing. */
void add_imported_words(const struct lx_plan *p, struct text *out);
/* "weights 512 (50.0 %), inputs ...", the largest first. */
void add_byte_sums(const struct lx_plan *p, const struct lx_byte_sums *sums, struct text *out);
/* launch_parts.c: what reader, compute part and writer of an op do: `"parts": {...}`, and three lines. */
void add_parts_json(const struct lx_plan *p, int32_t op, struct text *out);
void add_part_lines(const struct lx_plan *p, int32_t op, const char *margin, struct text *out);
/* The index of the largest number whose bit is not in `said`; -1: none. */
int largest_left(const double *at, int count, unsigned said);
