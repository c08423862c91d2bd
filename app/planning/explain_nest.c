/* lxplan plan --explain NEST: loops of a nest, the tensors that it keeps on chip, and the free bytes. A nest
 * is named by its number ("nest 1") or by one of its ops; "nests" names all. */
#include "base/fail.h"
#include "export/nest_words.h"
#include "planning/show_plan.h"
#include "text/colour.h"
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

int32_t nest_called(const struct lx_plan *p, const char *name)
{
    char *end;
    for (int32_t i = 0; i < p->nest_count; i++)
        for (int32_t o = p->nests[i].first; o <= p->nests[i].last; o++)
            if (strcmp(p->layouts->graph->ops[o].name, name) == 0) return i;
    if (strncmp(name, "nest", 4) != 0) return -1;
    name += 4 + (name[4] == ' ' || name[4] == ':');
    long long number = strtoll(name, &end, 10);
    return end > name && !*end && number >= 1 && number <= p->nest_count ? (int32_t)number - 1 : -1;
}

static void show_nest(const struct lx_plan *p, int32_t nest, struct text *out)
{
    const struct lx_nest *n = &p->nests[nest];
    struct lx_nest_explained e;
    lx_plan_explain_nest(p, nest, &e);
    add_nest_title(p, nest, out);
    text_format(out, ", %s\n", counted(nest_iterations(n), "iteration").at);
    text_add(out, "tile ");
    for (int l = 0; l < n->level_count; l++) {
        text_format(out, "%s%s over ", l ? ", " : "", grouped(n->tiles[l]).at);
        text_format(out, "%c", nest_axis_letter(p, n, l));
    }
    text_add(out, ": ");
    /* "scores and p never leave LX; k and v held; 2,048 B free". */
    for (int32_t i = 0, to; i < e.count; i = to) {
        for (to = i; to < e.count && e.parts[to].use == e.parts[i].use;) to++;
        for (int32_t k = i; k < to; k++) {
            text_add(out, k == i ? "" : k + 1 == to ? " and " : ", ");
            add_printable(out, p->layouts->graph->tensors[e.parts[k].tensor].name, 30);
        }
        text_format(out, " %s; ", lx_nest_use_words(e.parts[i].use, to - i > 1));
    }
    text_format(out, "%s free\n", in_bytes(e.free_bytes).at);
    text_format(out, "it moves %s of HBM traffic in ", in_bytes(e.hbm_bytes).at);
    text_format(out, "%.2f us on the device, %.2f us end to end; by tensor\n", e.device_us, e.end_to_end_us);
    for (int32_t i = 0; i < e.count; i++) {
        const struct lx_nest_part *x = &e.parts[i];
        if (x->hbm_bytes == 0) continue;
        text_add(out, "  ");
        add_printable(out, p->layouts->graph->tensors[x->tensor].name, 30);
        text_format(out, ": %s", in_bytes(x->hbm_bytes).at);
        if (x->stay >= 0 && is_tile(p, x->stay)) {
            text_add(out, ", ");
            add_tile_copies(p, x->stay, out);
        }
        text_add(out, "\n");
    }
    lx_nest_explained_free(&e);
}

void show_nests(const struct lx_plan *p, int32_t nest, struct text *out)
{
    if (p->nest_count == 0) text_add(out, "The plan has no nests.\n");
    for (int32_t i = nest < 0 ? 0 : nest; i < (nest < 0 ? p->nest_count : nest + 1); i++)
        show_nest(p, i, out);
}
