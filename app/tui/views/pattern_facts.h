/* What is known of a pattern by reading its file. */
#ifndef LX_APP_TUI_PATTERN_FACTS_H
#define LX_APP_TUI_PATTERN_FACTS_H

#include "tui/views/pattern_source.h"

struct facts {
    char *name, *summary, *expect;
    int64_t ops, buffers, bytes, target; /* target -1: none */
    bool is_list, is_plan, must_refuse;
    bool refused; /* `st` says why */
    lx_status st;
};

void facts_of(const struct source_content *from, struct facts *out);
void facts_free(struct facts *f);

#endif
