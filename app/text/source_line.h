/* The line of a file that an error is about, with a mark below the place. */
#ifndef LX_APP_TEXT_SOURCE_LINE_H
#define LX_APP_TEXT_SOURCE_LINE_H

#include "base/status.h"
#include "base/text.h"

/* Two lines, "  12 | {"name": ...", and "     |   ^" below it; as much of a long line as there are columns for. Nothing
 * where the error has no place, or the file is not there any more. */
void add_source_line(const lx_status *st, int columns, struct text *out);

#endif
