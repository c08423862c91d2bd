/* Plans of XLA's memory-space assignment, from its two texts: bufferinfo (the buffers, as files/formats.c
 * reads them) and allocinfo, with a row per allocation in fast memory:
 *
 *     buffer_id,size,offset,start_time,end_time
 *
 * Rows of one id are the stays of a buffer, as evictions make several; negative ids are scoped and have no
 * buffer. Both times are inclusive; two stays that touch at a tick, one ending where the other begins, do not
 * overlap. A stay may be longer than the life of its buffer, which ends with the last use, but must overlap
 * that life. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lx_xla_text {
    const char *file, *text;
    size_t length;
};

struct lx_xla_report {
    int32_t buffers, stays, scoped; /* rows of bufferinfo; rows of allocinfo; rows with negative ids */
    int32_t on_chip;                /* buffers with a stay */
    int64_t height_bytes;           /* the highest end of a stay */
};

/* Is the text an allocinfo, by its header? */
bool lx_is_allocinfo(const char *text, size_t length);
/* Is the allocation legal? `capacity` -1: unknown. False: `st`; LX_E_NO names the rule, the buffers and the
 * bytes, other codes mean a malformed text. */
bool lx_check_xla(const struct lx_xla_text *bufferinfo, const struct lx_xla_text *allocinfo, int64_t capacity,
                  struct lx_xla_report *out, lx_status *st);
