/* Reads placements, row by row; every buffer may stand there once. */
#include "files/answers.h"
#include "files/csv_rows.h"
#include "files/pattern.h"

struct answer_reader {
    const struct lx_list *list;
    struct names names; /* of buffers */
    bool *known;
    int64_t *address;
    int32_t *pool;
};

/* Why the buffer cannot be taken, a format for its name; NULL: it is. */
static const char *answer_take(struct answer_reader *r, int32_t i, int32_t pool, int64_t address)
{
    if (i < 0) return "there is no buffer %.80s; the first file names them";
    if (r->known[i]) return "buffer %.80s stands twice; remove one";
    r->known[i] = true;
    r->address[i] = address;
    r->pool[i] = pool;
    return NULL;
}

static bool answer_rows(struct answer_reader *r, struct csv_rows *c)
{
    int id = 0, offset = 1, width = 2;
    bool bad = false, header = true;
    for (; csv_next_row(c, &bad); header = false) {
        int64_t address;
        int found = -1;
        for (int f = 0; header && f < c->fields; f++)
            if (strcmp(c->field[f], "offset") == 0) found = f;
        for (int f = 0; found >= 0 && f < c->fields; f++)
            if (strcmp(c->field[f], "id") == 0) id = f, offset = found, width = c->fields;
        if (found >= 0) continue;
        if (c->fields != width)
            return csv_fail(c, -1, LX_E_SYNTAX, "%d fields; a row is the name of a buffer and its offset",
                            c->fields);
        if (!csv_int(c, offset, "offset", -1, &address)) return false;
        const char *why = answer_take(r, names_find(&r->names, c->field[id]), 0, address);
        if (why) return status_set_at(c->st, LX_E_UNKNOWN_NAME, c->file, c->line, 1, why, c->field[id]);
    }
    return !bad;
}

/* The number of the name that ends with #ID. */
static int32_t answer_of_id(const struct answer_reader *r, int64_t id, bool pool)
{
    const struct lx_list *l = r->list;
    char tail[32];
    size_t n = (size_t)snprintf(tail, sizeof tail, "#%lld", (long long)id);
    for (int32_t i = 0; i < (pool ? l->pool_count : l->buffer_count); i++) {
        const char *name = pool ? l->pools[i].name : l->buffers[i].name;
        size_t m = strlen(name);
        if (m >= n && strcmp(name + m - n, tail) == 0) return i;
    }
    return -1;
}

static bool answer_json(struct answer_reader *r, const struct json *j, lx_status *st)
{
    static const char *const keys[] = {"buffer", "pool", "offset", NULL};
    const struct json_value *array, *v;
    if (!json_array(j, j->root, "placements", &array, st)) return false;
    json_for_each(v, array) {
        int64_t buffer, pool, address;
        if (!json_only_keys(j, v, "a placement", keys, st) ||
            !json_int(j, v, "buffer", 0, LX_INT_MAX, &buffer, st) ||
            !json_int(j, v, "pool", 0, LX_INT_MAX, &pool, st) ||
            !json_int(j, v, "offset", 0, LX_INT_MAX, &address, st))
            return false;
        int32_t in = answer_of_id(r, pool, true);
        char name[32];
        snprintf(name, sizeof name, "#%lld", (long long)buffer);
        const char *why = answer_take(r, answer_of_id(r, buffer, false), in, address);
        if (in < 0) why = "there is no pool of that id for buffer %.80s";
        if (why) return json_error(j, v, st, LX_E_UNKNOWN_NAME, why, name);
    }
    return true;
}

static bool answer_is_dsa(const char *text, size_t length)
{
    return json_has_key(text, length, "placements") && json_has_key(text, length, "schema_version");
}

bool lx_is_answer(const char *text, size_t length)
{
    skip_byte_order_mark(&text, &length);
    return answer_is_dsa(text, length) ||
           (csv_header_has(text, length, "offset") && csv_header_has(text, length, "id") &&
            !csv_header_has(text, length, "lower"));
}

const struct lx_graph *lx_graph_with_answer(const struct lx_graph *g, const char *file, const char *text,
                                            size_t length, lx_status *st)
{
    if (!g->list)
        return status_set_at(st, LX_E_USAGE, g->file, 0, 0,
                             "a placement of buffers goes with a list of buffers, and this is a graph"),
               NULL;
    size_t n = (size_t)g->list->buffer_count;
    SCOPED(arena_free) struct arena memory = {0};
    struct answer_reader r = {.list = g->list,
                              .known = arena_array(&memory, n, sizeof *r.known),
                              .address = arena_array(&memory, n, sizeof *r.address),
                              .pool = arena_array(&memory, n, sizeof *r.pool)};
    for (size_t i = 0; i < n; i++) names_add(&r.names, g->list->buffers[i].name, (int32_t)i);
    for (size_t i = 0; i < n; i++) r.address[i] = -1;
    skip_byte_order_mark(&text, &length);
    bool ok = csv_is_text(file, text, length, st);
    if (ok && answer_is_dsa(text, length)) {
        struct json j;
        ok = json_parse(&j, file, text, length, st);
        if (ok) ok = answer_json(&r, &j, st), json_free(&j);
    } else if (ok) {
        char *copy = mem_string_n(text, length);
        struct csv_rows c = {.file = file, .at = copy, .line = 1, .next_line = 1, .st = st};
        ok = answer_rows(&r, &c);
        mem_free(copy);
    }
    const struct lx_graph *with =
        ok ? lx_graph_with_places(g, r.address, g->list->pool_count ? r.pool : NULL) : NULL;
    names_free(&r.names);
    return with;
}
