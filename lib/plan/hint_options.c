/* Hints are stored as text, like other values, and parsed when they are applied to a graph: splits of an op,
 * or the memory of a tensor or of a list's buffer. */
#include "plan/launch_options.h"

enum { MOST_HINTS = LX_MAX_RANK * 2 };

/* Parses "s/8,t/4"; returns the number of hints, -1 with `st` on error. */
static int hint_options_read_hints(const char *text, struct lx_split_hint hints[MOST_HINTS], lx_status *st)
{
    int n = 0;
    for (const char *at = text; n < MOST_HINTS; at++) {
        char *end;
        if (!*at || at[1] != '/') break;
        errno = 0;
        long long split = strtoll(at + 2, &end, 10);
        if (end == at + 2 || split < 1 || (*end && *end != ',')) break;
        if (errno == ERANGE || split > LX_MAX_ITEMS)
            return status_set(st, LX_E_USAGE, "hint %.60s: a split is at most %d", text, (int)LX_MAX_ITEMS),
                   -1;
        int k = 0;
        while (k < n && hints[k].letter != *at) k++;
        if (k < n)
            return status_set(st, LX_E_USAGE, "hint %.60s: '%c' is split twice; state it once", text, *at),
                   -1;
        hints[n++] = (struct lx_split_hint){*at, split};
        if (!*end) return n;
        at = end;
    }
    status_set(st, LX_E_USAGE, "hint %.60s: it must be splits such as s/8,t/4, or lx or hbm for a tensor",
               text);
    return -1;
}

/* An op and a tensor may have the same name. */
static bool hint_is_split(const char *text)
{
    return *text && text[1] == '/';
}

bool hint_option_set(struct lx_settings *o, const char *name, const char *text, lx_status *st)
{
    struct lx_split_hint ignored[MOST_HINTS];
    char all[sizeof o->hints];
    bool splits = lx_memory_find(text) == LX_MEMORY_COUNT;
    if (splits && hint_options_read_hints(text, ignored, st) < 0) return false;
    memcpy(all, o->hints, sizeof all);
    size_t length = strlen(name);
    char *at = all; /* the entry of the op or tensor, or the end */
    while (*at && !(strncmp(at, name, length) == 0 && at[length] == '=' &&
                    hint_is_split(at + length + 1) == splits)) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    char *next = at + strcspn(at, " ");
    next += strspn(next, " ");
    memmove(at, next, strlen(next) + 1);
    size_t used = strlen(all);
    while (used > 0 && all[used - 1] == ' ') all[--used] = 0;
    int n = snprintf(all + used, sizeof all - used, "%s%s=%s", used ? " " : "", name, text);
    if (n < 0 || (size_t)n >= sizeof all - used)
        return status_set(st, LX_E_LIMIT, "more hints than there is room for (%d characters)",
                          (int)sizeof all);
    memcpy(o->hints, all, sizeof all);
    return true;
}

/* Applies "value=lx". */
static const struct lx_graph *hint_place(const struct lx_graph *g, const char *name, const char *memory,
                                         lx_status *st)
{
    int32_t i = 0, count = g->list ? g->list->buffer_count : g->tensor_count;
    while (i < count && strcmp(g->list ? g->list->buffers[i].name : g->tensors[i].name, name) != 0) i++;
    enum lx_memory where = lx_memory_find(memory);
    if (i < count && where == LX_MEMORY_LX && !g->list && g->tensors[i].placing == 1 + LX_INTERLEAVED)
        return status_set_at(st, LX_E_LAUNCH_LAYOUT, g->file, 0, 0,
                             "tensor %.60s is interleaved, but a core reads its own scratchpad only", name),
               NULL;
    if (i < count) return lx_graph_with_memory(g, i, where);
    status_set_at(st, LX_E_UNKNOWN_NAME, g->file, 0, 0, "a hint names %s \"%.60s\", which is not there",
                  g->list ? "buffer" : "tensor", name);
    return NULL;
}

/* Applies one entry. A split beyond the cores is an error here; in a pattern it is skipped. */
static const struct lx_graph *with_entry(const struct lx_graph *g, char *entry, lx_status *st)
{
    struct lx_split_hint hints[MOST_HINTS];
    char *equals = strchr(entry, '=');
    int32_t op = 0;
    int64_t left = g->device.cores;
    if (!equals) return status_set(st, LX_E_USAGE, "hint %.60s: it must be OP=SPLITS", entry), NULL;
    *equals = 0;
    if (!hint_is_split(equals + 1)) return hint_place(g, entry, equals + 1, st);
    while (op < g->op_count && strcmp(g->ops[op].name, entry) != 0) op++;
    if (op == g->op_count)
        return status_set_at(st, LX_E_UNKNOWN_NAME, g->file, 0, 0,
                             "a hint names op \"%.60s\", which is not there", entry),
               NULL;
    int count = hint_options_read_hints(equals + 1, hints, st);
    for (int i = 0; i < count; i++) {
        left /= hints[i].split;
        if (left < 1)
            return status_set(
                       st, LX_E_HINT,
                       "hint %.60s: with '%c' in %lld there are more slices than the %lld cores; ask for "
                       "fewer",
                       entry, hints[i].letter, (long long)hints[i].split, (long long)g->device.cores),
                   NULL;
    }
    return count < 0 ? NULL : lx_graph_with_hints(g, op, hints, count);
}

const struct lx_graph *hint_options_graph(const struct lx_settings *o, const struct lx_graph *g,
                                          lx_status *st)
{
    char all[sizeof o->hints], *rest = all;
    const struct lx_graph *now = lx_graph_ref(g);
    memcpy(all, o->hints, sizeof all);
    for (char *entry; now && (entry = strsep(&rest, " "));) {
        if (!*entry) continue;
        const struct lx_graph *next = with_entry(now, entry, st);
        lx_graph_free(now);
        now = next;
    }
    return now;
}
