/* From D2M variables to buffers: vN.scratchK and vN.spillK. */
#include "files/d2m.h"
#include "files/pattern.h"

struct maker {
    struct graph_builder *b;
    const struct d2m_request *requests;
    int64_t *address; /* per buffer: the file's own choice */
    lx_status *st;
};

static bool d2m_take(struct maker *m, struct lx_buffer buffer, int32_t variable, const char *what,
                     int32_t number)
{
    char name[64];
    snprintf(name, sizeof name, "v%d.%s%d", (int)variable, what, (int)number);
    buffer.name = name;
    buffer.fixed = -1;
    return builder_buffer(m->b, &buffer, m->st);
}

static struct lx_buffer d2m_claim(struct maker *m, int32_t request)
{
    const struct d2m_request *r = &m->requests[request];
    m->address[m->b->buffers.count] = r->offset;
    if (r->offset >= 0) m->b->list->address = m->address;
    m->b->here = r->place;
    return (struct lx_buffer){.size = r->size, .start = r->first, .end = r->last + 1};
}

static bool add_scratch(struct maker *m, const struct d2m_variable *v, int32_t variable)
{
    struct lx_buffer whole = {.must = v->bound == D2M_IN_SCRATCH,
                              .reason = v->bound == D2M_SPILLED ? "bound to spill" : NULL};
    int64_t all = 0;
    for (int32_t k = 0; k < v->scratch_count; k++) all += m->requests[v->scratch[k]].size;
    for (int32_t k = 0; k < v->scratch_count; k++) {
        struct lx_buffer buffer = d2m_claim(m, v->scratch[k]);
        buffer.must = whole.must;
        buffer.reason = whole.reason;
        buffer.spill_cost = k == 0 && !whole.must ? all : 0; /* buffers that must be placed cost nothing */
        if (!d2m_take(m, buffer, variable, "scratch", k)) return false;
    }
    if (v->scratch_count) return true;
    m->b->here = v->place;
    whole.end = 1;
    m->address[m->b->buffers.count] = v->placed ? 0 : -1;
    return d2m_take(m, whole, variable, "scratch", 0);
}

bool d2m_add(struct graph_builder *b, const struct d2m_variable *variables, int32_t count,
             const struct d2m_request *requests, lx_status *st)
{
    struct maker m = {.b = b, .requests = requests, .st = st};
    struct lx_bonds *s = &b->list->bonds;
    size_t spills = 0, most = (size_t)count;
    for (int32_t i = 0; i < count; i++) spills += (size_t)variables[i].spill_count;
    for (int32_t i = 0; i < count; i++) most += (size_t)variables[i].scratch_count;
    m.address = arena_array(b->memory, most + spills, sizeof *m.address);
    struct lx_group *together = arena_array(b->memory, (size_t)count, sizeof *together);
    struct lx_pair *staging = arena_array(b->memory, spills, sizeof *staging);
    for (int32_t i = 0; i < count; i++) {
        const struct d2m_variable *v = &variables[i];
        int32_t first = (int32_t)b->buffers.count;
        if (!add_scratch(&m, v, i)) return false;
        if (v->scratch_count > 1) {
            int32_t *members = arena_array(b->memory, (size_t)v->scratch_count, sizeof *members);
            for (int32_t k = 0; k < v->scratch_count; k++) members[k] = first + k;
            together[s->together_count++] = (struct lx_group){members, v->scratch_count};
        }
        for (int32_t k = 0; k < v->spill_count; k++) {
            staging[s->staging_count++] = (struct lx_pair){(int32_t)b->buffers.count, first};
            if (!d2m_take(&m, d2m_claim(&m, v->spill[k]), i, "spill", k)) return false;
        }
    }
    s->together = together;
    s->staging = staging;
    return true;
}

/* Reads the JSON dumps of tt-mlir's D2M allocator:
 *   {"variables": [{"placement": "scratch|spill|NA", "bound": bool, "domain": {"scratch": [request, ...],
 *     "spill": [...]}}, ...], "requests": [[variable, first, last, size, offset], ...]}
 * first and last are inclusive; an offset is tt-mlir's own choice, or -1: a placement, no constraint. The limit
 * of the scratch memory is not in the file. */

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
    r->requests[r->request_count++] = (struct d2m_request){
        field[FIRST], field[LAST], field[SIZE], field[OFFSET], {v->place.line, v->place.column}};
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
    out->placed = space == D2M_IN_SCRATCH;
    out->bound = bound ? (enum d2m_bound)space : D2M_FREE;
    return true;
}

static bool d2m_read_root(struct reader *r, const struct json_value *root)
{
    static const char *const keys[] = {"variables", "requests", NULL},
                             *const variable_keys[] = {"placement", "bound", "domain", NULL},
                             *const spaces[] = {"scratch", "spill", NULL};
    const struct json_value *variables = NULL, *requests = NULL, *v;
    if (!json_only_keys(r->j, root, "a D2M file", keys, r->st) ||
        !json_array(r->j, root, "variables", &variables, r->st) ||
        !json_array(r->j, root, "requests", &requests, r->st))
        return false;
    size_t n = (size_t)json_count(variables), m = (size_t)json_count(requests);
    if (n + m > LX_MAX_ITEMS)
        return json_error(r->j, root, r->st, LX_E_LIMIT, "more than %d variables and requests", LX_MAX_ITEMS);
    struct d2m_variable *out = r->variables = arena_array(r->b.memory, n, sizeof *r->variables);
    r->requests = arena_array(r->b.memory, m, sizeof *r->requests);
    r->owner = arena_array(r->b.memory, m, sizeof *r->owner);
    r->variable_count = (int32_t)n;
    json_for_each(v, requests)
        if (!read_request(r, v)) return false;
    r->variable_count = 0;
    for (v = variables->child; v; v = v->next, out++) {
        const struct json_value *domain = json_find(v, "domain");
        out->place = (struct place){v->place.line, v->place.column};
        if (!json_only_keys(r->j, v, "a variable", variable_keys, r->st) || !read_bound(r, v, out))
            return false;
        if (!domain) return json_error(r->j, v, r->st, LX_E_SCHEMA, "the key \"domain\" is missing; add it");
        int32_t number = r->variable_count++;
        if (!json_only_keys(r->j, domain, "a domain", spaces, r->st) ||
            !read_domain(r, domain, "scratch", number, &out->scratch, &out->scratch_count) ||
            !read_domain(r, domain, "spill", number, &out->spill, &out->spill_count))
            return false;
    }
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

/* Writes the placement of a D2M dump's variables in the dump's form: placements filled in, and the offset of
 * each request in scratch memory. Variables keep their numbers, which are in the buffers' names; requests are
 * renumbered by variable, scratch before spill. */

FORMAT_WRITES_ANSWERS(d2m_solution);

struct d2m_answer {
    const struct lx_graph *g;
    const int64_t *address;
    struct text variables, requests;
    int32_t variable, request;
};

/* The variable's number in vN.scratchK or vN.spillK, and which; -1: another name. */
static int32_t d2m_variable_of(const char *name, bool *spill)
{
    char *end;
    if (name[0] != 'v' || name[1] < '0' || name[1] > '9') return -1;
    long n = strtol(name + 1, &end, 10);
    *spill = strncmp(end, ".spill", 6) == 0;
    return n <= LX_MAX_ITEMS && (*spill || strncmp(end, ".scratch", 8) == 0) ? (int32_t)n : -1;
}

/* Writes the requests of one space of the variable, from buffer `i` on, and the list of their numbers. */
static int32_t d2m_add_space(struct d2m_answer *x, int32_t i, bool wanted)
{
    bool spill = false, first = true;
    text_format(&x->variables, wanted ? ", \"spill\": [" : "\"scratch\": [");
    for (; i < x->g->list->buffer_count; i++) {
        const struct lx_buffer *b = &x->g->list->buffers[i];
        if (d2m_variable_of(b->name, &spill) != x->variable || spill != wanted) break;
        /* A variable without requests in scratch has a buffer of 0 bytes instead. */
        if (!spill && b->size == 0 && b->start == 0 && b->end == 1) continue;
        text_format(&x->variables, first ? "%d" : ", %d", (int)x->request);
        text_format(&x->requests, "%s\n    [%d, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
                    x->request++ ? "," : "", (int)x->variable, b->start, b->end - 1, b->size, x->address[i]);
        first = false;
    }
    text_add(&x->variables, "]");
    return i;
}

char *d2m_solution_write(const struct lx_graph *g, const int64_t *address, const int32_t *pool,
                         size_t *length, lx_status *st)
{
    struct d2m_answer x = {.g = g, .address = address};
    struct text t = {0};
    bool ok = true, spill = false;
    (void)pool; /* there is one scratch memory */
    for (int32_t i = 0; g->list && ok && i < g->list->buffer_count;) {
        const struct lx_buffer *b = &g->list->buffers[i];
        if (d2m_variable_of(b->name, &spill) != x.variable || spill)
            ok = status_set(
                st, LX_E_UNSUPPORTED,
                "only plans of a D2M file have such answers: a buffer is not called vN.scratchK or "
                "vN.spillK");
        if (!ok) break;
        text_format(&x.variables, "%s\n    {\"placement\": \"%s\", \"bound\": %s, \"domain\": {",
                    x.variable ? "," : "", address[i] >= 0 ? "scratch" : "spill",
                    b->must || b->reason ? "true" : "false");
        i = d2m_add_space(&x, i, false);
        i = d2m_add_space(&x, i, true);
        text_add(&x.variables, "}}");
        x.variable++;
    }
    if (ok && x.variable == 0)
        ok = status_set(st, LX_E_UNSUPPORTED, "only plans of a D2M file have such answers");
    if (ok)
        text_format(&t, "{\n  \"variables\": [%s\n  ],\n  \"requests\": [%s\n  ]\n}\n", x.variables.at,
                    x.requests.at ? x.requests.at : "");
    text_free(&x.variables);
    text_free(&x.requests);
    *length = t.length;
    return t.at;
}
