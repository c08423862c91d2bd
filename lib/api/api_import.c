/* Options of the import of models, by the names of the command line. */
#include "api/api_handles.h"

enum import_kind { IMPORT_COUNT, IMPORT_BRANCH, IMPORT_SWITCH, IMPORT_WORD, IMPORT_BINDINGS };

#define IMPORT(name, kind, member, list_count, high, help)                                                   \
    {                                                                                                        \
        name, kind, offsetof(struct lx_import_options, member),                                              \
            offsetof(struct lx_import_options, list_count), high, help                                       \
    }

/* clang-format off */
static const struct import_row {
    const char *name;
    enum import_kind kind;
    size_t at, count; /* members of lx_import_options */
    int64_t high;
    const char *help;
} import_rows[] = {
    IMPORT("func", IMPORT_WORD, model.function, role_count, 0, "lx_graph_import: the function (the only public one)"),
    IMPORT("dim", IMPORT_BINDINGS, model.dims, model.dim_count, LX_INT_MAX, "lx_graph_import: open extents, NAME=N,..."),
    IMPORT("value", IMPORT_BINDINGS, model.fixed, model.fixed_count, LX_INT_MAX, "lx_graph_import: scalar inputs, NAME=N,..."),
    IMPORT("role", IMPORT_BINDINGS, roles, role_count, 0, "lx_graph_import: arguments, NAME=input|weight|state,..."),
    IMPORT("branch", IMPORT_BRANCH, branch, role_count, 1 << 20, "lx_graph_import: branch of conditionals that depend on data; -1: the one with most bytes"),
    IMPORT("trips", IMPORT_COUNT, trips, role_count, 1 << 19, "lx_graph_import: iterations of loops whose count depends on data"),
    IMPORT("max-ops", IMPORT_COUNT, max_ops, role_count, 1 << 19, "lx_graph_import: ops up to which counted loops are unrolled"),
    IMPORT("partition", IMPORT_COUNT, device, role_count, 1 << 20, "lx_graph_import: the device of a partitioned model"),
    IMPORT("weight-dtype", IMPORT_SWITCH, weight_dtype, role_count, 1, "lx_graph_import: weights as block floating point"),
    IMPORT("share-cache", IMPORT_SWITCH, share_cache, role_count, 1, "lx_graph_import: past and present share a buffer"),
    IMPORT("no-fold", IMPORT_SWITCH, no_fold, role_count, 1, "lx_graph_import: views become copies"),
    IMPORT("no-expand", IMPORT_SWITCH, no_expand, role_count, 1, "lx_graph_import: layers that are one op stay generic"),
    IMPORT("strict", IMPORT_SWITCH, strict, role_count, 1, "lx_graph_import: refuse a model with generic ops"),
};
/* clang-format on */

static int64_t import_role_of(const char *word)
{
    static const enum lx_role roles[] = {LX_INPUT, LX_WEIGHT, LX_STATE};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, lx_role_word(roles[i])) == 0) return roles[i];
    return -1;
}

/* The next pair of "NAME=N,NAME=N"; a comma in a name is written "\,", a backslash "\\". */
static char *import_pair(char **rest)
{
    char *pair = *rest, *to = pair, *at = pair;
    for (; *at && *at != ','; *to++ = *at++) at += *at == '\\' && (at[1] == ',' || at[1] == '\\');
    *rest = at + (*at != 0);
    *to = 0;
    return pair;
}

static bool import_bindings(lx_options *o, const struct import_row *row, const char *text, lx_status *st)
{
    char *rest = arena_string(&o->memory, text);
    struct lx_model_binding *all = arena_array(&o->memory, strlen(text) / 2 + 1, sizeof *all);
    int count = 0;
    while (*rest) {
        char *pair = import_pair(&rest), *equals = strrchr(pair, '=');
        struct lx_model_binding *b = &all[count++];
        if (!equals || equals == pair)
            return status_set(st, LX_E_USAGE, "%s %.80s: write NAME=N", row->name, pair);
        *equals = 0;
        b->name = pair;
        if (row->high == 0)
            b->value = import_role_of(equals + 1);
        else if (!lx_parse_int(row->name, equals + 1, 0, row->high, &b->value, st))
            return false;
        if (b->value < 0)
            return status_set(st, LX_E_USAGE, "role %.80s: write input, weight or state", equals + 1);
    }
    char *to = (char *)&o->import;
    memcpy(to + row->at, &(const struct lx_model_binding *){all}, sizeof all);
    memcpy(to + row->count, &count, sizeof count);
    return true;
}

bool api_import_set(lx_options *o, int i, const char *text, lx_status *st)
{
    const struct import_row *row = &import_rows[i];
    char *to = (char *)&o->import + row->at;
    int64_t value;
    if (row->kind == IMPORT_BINDINGS) return import_bindings(o, row, text, st);
    if (row->kind == IMPORT_WORD)
        return memcpy(to, &(const char *){*text ? arena_string(&o->memory, text) : NULL}, sizeof text), true;
    int64_t low = row->kind == IMPORT_BRANCH ? -1 : 0;
    if (!lx_parse_int(row->name, text, low, row->high, &value, st)) return false;
    if (row->kind == IMPORT_SWITCH)
        memcpy(to, &(bool){value != 0}, sizeof(bool));
    else
        memcpy(to, &value, sizeof value);
    return true;
}

const char *api_import_at(int i, const char *field)
{
    if (i < 0 || i >= (int)(sizeof import_rows / sizeof *import_rows)) return NULL;
    if (strcmp(field, "name") == 0) return import_rows[i].name;
    if (strcmp(field, "help") == 0) return import_rows[i].help;
    return strcmp(field, "low") == 0 || strcmp(field, "high") == 0 || strcmp(field, "default") == 0 ? ""
                                                                                                    : NULL;
}
