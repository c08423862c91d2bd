/* What a graph repeats: how often, how many ops, from where to where in its first layer. */
#include "planning/layer_words.h"
#include "text/format.h"

#include <stdlib.h>

enum { MOST_LAYERS = 4, MOST_NAME = 40 };

static void add_name(const char *name, struct text *out)
{
    char *clean = printable(name, MOST_NAME);
    text_add(out, clean ? clean : "?");
    free(clean);
}

void add_layers(const struct lx_graph *g, struct text *out)
{
    lx_status st;
    int32_t count;
    struct lx_repeat *r = lx_repeats(g, &count, &st);
    out->failed |= !r;
    for (int32_t i = 0; r && i < count && i < MOST_LAYERS; i++) {
        text_format(out, "%sx%d of %s: ", i ? "; " : "", (int)r[i].times, counted(r[i].ops, "op").at);
        add_name(g->ops[r[i].first].name, out);
        text_add(out, " to ");
        add_name(g->ops[r[i].first + r[i].ops - 1].name, out);
    }
    if (count > MOST_LAYERS) text_add(out, "; ...");
    free(r);
}
