/* A sweep as a page: its JSON, and a script that draws it. */
#include "html/html.h"
#include "sweep/sweep_out.h"

void sweep_html(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    struct text json = {0};
    sweep_json(s, how, &json);
    html_page(s->graph->name, html_sweep_js, &json, out);
    text_free(&json);
}
