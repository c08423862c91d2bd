/* Between handles of the library and what commands have: bytes that are theirs, and a status with its place. */
#include "planning/by_library.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static enum lx_code code_of(const lx_error *e)
{
    for (int k = 0; k < LX_CODE_COUNT; k++)
        if (strcmp(lx_code_word((enum lx_code)k), lx_error_code(e)) == 0) return (enum lx_code)k;
    return LX_E_INTERNAL;
}

static char *by_library_copy_of(const lx_text *t, size_t *length)
{
    char *copy = mem_alloc((size_t)lx_text_size(t) + 1);
    if (!copy) return NULL;
    *length = (size_t)lx_text_size(t);
    memcpy(copy, lx_text_data(t), *length + 1); /* a zero follows */
    return copy;
}

char *graph_text(struct call *call, const lx_graph *g, const char *format, size_t *length)
{
    lx_error *e = lx_error_new();
    lx_text *t = e ? lx_graph_write(g, format, e) : NULL;
    char *text = t ? by_library_copy_of(t, length) : NULL;
    if (t ? !text : !e)
        status_no_memory(&call->st);
    else if (!t)
        status_set_at(&call->st, code_of(e), g->file, 0, 0, "%s", lx_error_text(e));
    lx_text_free(t);
    lx_error_free(e);
    return text;
}
