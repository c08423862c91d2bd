/* Locations of MLIR. The text of an op's own location is what its author calls it; a location may be an
 * alias, which may be defined later and may stand for others. */
#include "import/read/ttir.h"

#include <string.h>

enum { MOST_STEPS = 16 }; /* of aliases that stand for aliases */

static bool place_is_alias_name(char c)
{
    return source_is_name(c) || c == '#';
}

/* The first string or alias within the brackets is the one that counts: "name"(#loc3), fused[#loc1, #loc2],
 * callsite("f" at "g"). Where "file":3:4 stands there is no name. */
static bool place_first_of(struct ttir *t, const char *from, size_t length, struct ttir_alias *out)
{
    const char *end = from + length;
    while (from < end && *from != '"' && *from != '#') from++;
    if (from == end) return true;
    struct source inner = t->s;
    inner.at = from;
    inner.end = end;
    if (*from == '#') {
        out->stands = source_name(&inner, place_is_alias_name, "an alias");
    } else {
        out->text = source_string(&inner);
        if (out->text && (source_peek(&inner) == ':' || !*out->text)) out->text = NULL;
    }
    t->s.failed = inner.failed;
    return !inner.failed;
}

static bool place_location(struct ttir *t, struct ttir_alias *out)
{
    const char *from;
    size_t length;
    return source_want(&t->s, "loc") && source_want(&t->s, "(") &&
           source_balanced(&t->s, true, &from, &length) && place_first_of(t, from, length, out) &&
           source_want(&t->s, ")");
}

bool ttir_location(struct ttir *t, const char **text)
{
    struct ttir_alias a = {0};
    *text = NULL;
    if (!source_is(&t->s, "loc")) return true;
    if (!place_location(t, &a)) return false;
    *text = a.text ? a.text : a.stands;
    return true;
}

bool ttir_alias(struct ttir *t)
{
    struct ttir_alias a = {0};
    const char *from, *name = source_name(&t->s, place_is_alias_name, "an alias");
    size_t length;
    if (!name || !source_want(&t->s, "=")) return false;
    bool is_place = source_is(&t->s, "loc");
    /* Aliases of anything else end with their line; commas may stand in between. */
    do {
        if (is_place ? !place_location(t, &a) : !source_balanced(&t->s, false, &from, &length)) return false;
    } while (!is_place && source_peek(&t->s) == ',' && t->s.at++);
    names_add(&t->alias_names, name, (int32_t)t->aliases.count);
    VEC_PUSH(&t->aliases, a);
    return true;
}

static const char *place_resolve(const struct ttir *t, const char *text)
{
    for (int i = 0; text && *text == '#' && i < MOST_STEPS; i++) {
        int32_t alias = names_find(&t->alias_names, text);
        if (alias < 0) return NULL;
        text = t->aliases.at[alias].text ? t->aliases.at[alias].text : t->aliases.at[alias].stands;
    }
    return text && *text == '#' ? NULL : text;
}

void ttir_resolve_locations(struct ttir *t)
{
    struct lx_model *m = t->s.m;
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            op->location = place_resolve(t, op->location);
        }
    for (size_t v = 0; v < m->values.count; v++)
        m->values.at[v].location = place_resolve(t, m->values.at[v].location);
}
