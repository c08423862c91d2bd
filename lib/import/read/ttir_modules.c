/* Modules of MLIR within modules, and what stands in them: functions, aliases, and definitions that say
 * nothing of what is computed (meshes, devices), which are passed over. */
#include "import/read/ttir.h"

#include <string.h>

/* "module @name attributes {...} {", what stands behind the word. The attributes of the outermost that has
 * any are kept. */
static bool modules_begin(struct ttir *t)
{
    struct source *s = &t->s;
    if (source_is(s, "@") && !(s->m->name = ttir_symbol(s, "the name of a module"))) return false;
    if (source_take(s, "attributes")) {
        struct model_attrs found;
        if (!ttir_attrs(t)) return false;
        ttir_attrs_kept(t, &found);
        if (s->m->attrs.count == 0) s->m->attrs = found;
    }
    return source_want(s, "{");
}

/* "dialect.word @name ...": a definition, passed over to the end of its line, outside of brackets. */
static bool modules_pass_over(struct source *s)
{
    const char *p = s->at, *from;
    size_t length;
    bool dot = false;
    for (; p < s->end && source_is_name(*p); p++) dot |= *p == '.';
    if (!dot || s->end - p <= 2 || p[0] != ' ' || p[1] != '@')
        return source_fail(s, LX_E_SYNTAX, "expected a module, func.func or \"}\"");
    do {
        if (!source_balanced(s, false, &from, &length)) return false;
    } while (source_peek(s) == ',' && s->at++);
    return true;
}

bool ttir_modules(struct ttir *t)
{
    static const char *const words[] = {"module", "builtin.module", "ttcore.device_module",
                                        "tt.device_module"};
    struct source *s = &t->s;
    const char *location;
    int depth = 0;
    for (source_skip(s, true); !source_ended(s); source_skip(s, true)) {
        bool ok, module = false;
        for (int i = 0; !module && i < 4; i++) module = source_take(s, words[i]);
        if (module)
            ok = ++depth <= MODEL_MAX_DEPTH ? modules_begin(t)
                                            : source_fail(s, LX_E_LIMIT, "modules nest too deep");
        else if (depth > 0 && source_take(s, "}"))
            depth--, ok = ttir_location(t, &location);
        else if (source_take(s, "func.func"))
            ok = ttir_function(t);
        else
            ok = source_peek(s) == '#' ? ttir_alias(t) : modules_pass_over(s);
        if (!ok) return false;
    }
    if (depth > 0) return source_fail(s, LX_E_SYNTAX, "\"}\" of a module is missing at the end");
    return !s->failed;
}
