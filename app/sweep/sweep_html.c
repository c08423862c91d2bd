/* A sweep as a page: its JSON, and a script that draws it. */
#include "html/html.h"
#include "base/memory.h"
#include "sweep/sweep_out.h"
#include "text/format.h"

#include <stdlib.h>

void sweep_html(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    struct text json = {0};
    char *name = printable(s->graph->name, 0); /* it is the heading */
    (void)how;
    sweep_json_named(s, name ? name : "", &json);
    json.failed |= !name;
    mem_free(name);
    html_page(s->graph->name, html_sweep_js, &json, NULL, out);
    text_free(&json);
}
