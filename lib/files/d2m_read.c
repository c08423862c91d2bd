/* Reads the JSON dumps of tt-mlir's D2M allocator:
 *   {"variables": [{"placement": "scratch|spill|NA", "bound": bool, "domain": {"scratch": [request, ...],
 *     "spill": [...]}}, ...], "requests": [[variable, first, last, size, offset], ...]}
 * first and last are inclusive; an offset is what their own allocator chose, or -1: it binds nobody here. The limit
 * of the scratch memory is not in the file. */
#include "base/checked.h"
#include "base/fail.h"
#include "base/json/json.h"
#include "files/d2m.h"
#include "files/pattern.h"

#include <stdlib.h>
#include <string.h>

FORMAT_READS(d2m);

struct reader {
    const struct json *j;
    struct graph_builder b;
    struct d2m_variable *variables;
    struct d2m_request *requests;
    int32_t *owner; /* per request: the variable it names, until a domain claims it; then -1 */
    int32_t variable_count, request_count;
    lx_status *st;
};

static struct place d2m_read_place_of(const struct json_value *v)
{
    return (struct place){v->place.line, v->place.column};
}

enum { VARIABLE, FIRST, LAST, SIZE, OFFSET, FIELDS };

static bool read_request(struct reader *r, const struct json_value *v)
{
    static const char *const names[FIELDS] = {"the variable of a request", "the first tick of a request",
                                              "the last tick of a request", "the size of a request",
                                              "the offset of a request"};
    int64_t field[FIELDS] = {0};
    if (!json_is_array(v) || json_count(v) != FIELDS)
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "a request must be [variable, first, last, size, offset]");
    const struct json_value *item;
    int k = 0;
    json_for_each(item, v) {
        int64_t low = k == OFFSET ? -1 : k == LAST ? field[FIRST] : 0;
        int64_t high = k == VARIABLE ? r->variable_count - 1 : LX_INT_MAX / 2;
        if (!json_int_value(r->j, item, names[k], low, high, &field[k], r->st)) return false;
        k++;
    }
    r->owner[r->request_count] = (int32_t)field[VARIABLE];
    r->requests[r->request_count++] =
        (struct d2m_request){field[FIRST], field[LAST], field[SIZE], d2m_read_place_of(v)};
    return true;
}

static bool read_domain(struct reader *r, const struct json_value *domain, const char *space,
                        int32_t variable, const int32_t **out, int32_t *count)
{
    const struct json_value *array = NULL, *item;
    if (!json_opt_array(r->j, domain, space, &array, r->st)) return false;
    int32_t *list = arena_array(r->b.memory, (size_t)(array ? json_count(array) : 0), sizeof *list);
    json_for_each(item, array) {
        int64_t request;
        if (!json_int_value(r->j, item, "a request of a domain", 0, r->request_count - 1, &request, r->st))
            return false;
        if (r->owner[request] != variable)
            return json_error(
                r->j, item, r->st, LX_E_MODEL,
                "request %lld is of another variable or claimed already; a request has one variable",
                (long long)request);
        r->owner[request] = -1;
        list[(*count)++] = (int32_t)request;
    }
    *out = list;
    return true;
}

static bool read_bound(struct reader *r, const struct json_value *v, struct d2m_variable *out)
{
    static const char *const spaces[] = {"NA", "scratch", "spill"};
    const char *placement = "NA";
    bool bound = false;
    int space = 0;
    if (!json_opt_string(r->j, v, "placement", &placement, r->st) ||
        !json_opt_bool(r->j, v, "bound", &bound, r->st))
        return false;
    while (space < 3 && strcmp(placement, spaces[space]) != 0) space++;
    if (space == 3)
        return json_error(r->j, json_find(v, "placement"), r->st, LX_E_SCHEMA,
                          "placement is \"%.40s\"; it must be scratch, spill or NA", placement);
    if (bound && space == 0)
        return json_error(r->j, json_find(v, "bound"), r->st, LX_E_MODEL,
                          "a variable that is bound to no space; give its placement");
    out->bound = bound ? (enum d2m_bound)space : D2M_FREE;
    return true;
}

static bool read_variable(struct reader *r, const struct json_value *v)
{
    static const char *const keys[] = {"placement", "bound", "domain", NULL};
    static const char *const spaces[] = {"scratch", "spill", NULL};
    struct d2m_variable *out = &r->variables[r->variable_count];
    const struct json_value *domain = json_find(v, "domain");
    out->place = d2m_read_place_of(v);
    if (!json_only_keys(r->j, v, "a variable", keys, r->st) || !read_bound(r, v, out)) return false;
    if (!domain) return json_error(r->j, v, r->st, LX_E_SCHEMA, "the key \"domain\" is missing; add it");
    int32_t number = r->variable_count++;
    return json_only_keys(r->j, domain, "a domain", spaces, r->st) &&
           read_domain(r, domain, "scratch", number, &out->scratch, &out->scratch_count) &&
           read_domain(r, domain, "spill", number, &out->spill, &out->spill_count);
}

static bool d2m_read_root(struct reader *r, const struct json_value *root)
{
    static const char *const keys[] = {"variables", "requests", NULL};
    const struct json_value *variables = NULL, *requests = NULL, *v;
    if (!json_only_keys(r->j, root, "a D2M file", keys, r->st) ||
        !json_array(r->j, root, "variables", &variables, r->st) ||
        !json_array(r->j, root, "requests", &requests, r->st))
        return false;
    size_t n = (size_t)json_count(variables), m = (size_t)json_count(requests);
    if (n + m > LX_MAX_ITEMS)
        return json_error(r->j, root, r->st, LX_E_LIMIT, "more than %d variables and requests", LX_MAX_ITEMS);
    r->variables = arena_array(r->b.memory, n, sizeof *r->variables);
    r->requests = arena_array(r->b.memory, m, sizeof *r->requests);
    r->owner = arena_array(r->b.memory, m, sizeof *r->owner);
    r->variable_count = (int32_t)n;
    json_for_each(v, requests)
        if (!read_request(r, v)) return false;
    r->variable_count = 0;
    json_for_each(v, variables)
        if (!read_variable(r, v)) return false;
    builder_list(&r->b);
    return d2m_add(&r->b, r->variables, r->variable_count, r->requests, r->st);
}

bool d2m_sniff(const char *text, size_t length)
{
    return json_has_key(text, length, "variables") && json_has_key(text, length, "requests");
}

const struct lx_graph *d2m_read(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    struct reader r = {.j = &j, .st = st};
    if (!json_parse(&j, file, text, length, st)) return NULL;
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    const struct lx_graph *made = NULL;
    builder_begin(&r.b, file, *base ? base : "list");
    if (d2m_read_root(&r, j.root))
        made = builder_finish(&r.b, st);
    else
        builder_abandon(&r.b);
    json_free(&j);
    return made;
}
