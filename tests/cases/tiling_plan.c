/* The plan of a case as a plan file: nests, stays and where they are as the case has them, copies and bytes by the rules
 * of nests, from index strings; nothing of it is made by the planner. Tensors are bytes here: a stick is one element. */
#include "cases/tiling_form.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 3, MOST_BUFFERS = 64 };

struct maker {
    const cJSON *one, *plan, *ops, *tensors; /* ops and tensors: of the pattern */
    cJSON *buffers, *transfers;
    int served[256]; /* per op and operand (eight each): its buffer, or -1 */
    struct stay {
        int tensor, hold, first, last, maker; /* ops that access it; who makes it in it, or -1 */
    } stays[MOST_BUFFERS];
    int count;
};

static const cJSON *item(const cJSON *list, int i)
{
    return cJSON_GetArrayItem(list, i);
}

static const cJSON *key(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Where a value stands in its file takes the place of its integer. */
static int number(const cJSON *object, const char *name)
{
    return (int)key(object, name)->valuedouble;
}

static int index_of(const cJSON *list, const char *name)
{
    int n = cJSON_GetArraySize(list);
    for (int i = 0; i < n; i++)
        if (strcmp(key(item(list, i), "name")->valuestring, name) == 0) return i;
    return -1;
}

static int inputs_of(const struct maker *m, int op)
{
    return cJSON_GetArraySize(key(item(m->ops, op), "inputs"));
}

static int tensor_at(const struct maker *m, int op, int operand)
{
    const cJSON *o = item(m->ops, op);
    const cJSON *name = operand < inputs_of(m, op) ? item(key(o, "inputs"), operand) : key(o, "output");
    return index_of(m->tensors, name->valuestring);
}

static const char *einsum_of(const struct maker *m, int op)
{
    const cJSON *e = key(item(m->ops, op), "einsum");
    return e ? e->valuestring : "ab->ab";
}

/* The index string of an operand. */
static void letters_of(const struct maker *m, int op, int operand, char *out)
{
    const char *at = einsum_of(m, op);
    int n = inputs_of(m, op);
    if (operand == n) at = strstr(at, "->") + 2;
    for (int i = 0; i < operand && operand < n; i++) at = strchr(at, ',') + 1;
    size_t length = strcspn(at, ",-");
    memcpy(out, at, length);
    out[length] = 0;
}

/* Variables are numbered as they first appear. */
static int variable(const struct maker *m, int op, char letter)
{
    char seen[64] = "";
    int n = 0;
    for (const char *at = einsum_of(m, op); *at; at++)
        if (*at >= 'a' && *at <= 'z' && !strchr(seen, *at)) {
            if (*at == letter) return n;
            seen[n++] = *at;
        }
    return -1;
}

static int bytes_of(const struct maker *m, int tensor)
{
    const cJSON *v, *shape = key(item(m->tensors, tensor), "shape");
    int bytes = 1;
    cJSON_ArrayForEach(v, shape) bytes *= (int)v->valuedouble;
    return bytes;
}

static const cJSON *nest_of(const struct maker *m, int op)
{
    const cJSON *n;
    cJSON_ArrayForEach(n, key(m->plan, "nests"))
    {
        if (index_of(m->ops, key(n, "first")->valuestring) <= op &&
            op <= index_of(m->ops, key(n, "last")->valuestring))
            return n;
    }
    return NULL;
}

static char letter_of(const struct maker *m, const cJSON *nest, int level, int op)
{
    const cJSON *variables = key(item(key(nest, "levels"), level), "variables");
    return key(variables, key(item(m->ops, op), "name")->valuestring)->valuestring[0];
}

/* Iterations of the levels up to `hold` that do not cut an operand. */
static int times_of(const struct maker *m, int op, int operand, int hold)
{
    const cJSON *nest = nest_of(m, op), *levels = key(nest, "levels");
    int times = 1, count = nest ? cJSON_GetArraySize(levels) : 0;
    char letters[16];
    letters_of(m, op, operand, letters);
    for (int l = 0; l < count && l < hold; l++)
        if (!strchr(letters, letter_of(m, nest, l, op))) times *= number(item(levels, l), "tiles");
    return times;
}

static cJSON *nest_rows(const struct maker *m)
{
    cJSON *rows = cJSON_CreateArray();
    const cJSON *n;
    cJSON_ArrayForEach(n, key(m->plan, "nests"))
    {
        cJSON *row = cJSON_CreateObject(), *tiles, *vars;
        int first = index_of(m->ops, key(n, "first")->valuestring),
            last = index_of(m->ops, key(n, "last")->valuestring),
            levels = cJSON_GetArraySize(key(n, "levels"));
        cJSON_AddNumberToObject(row, "first", first);
        cJSON_AddNumberToObject(row, "last", last);
        tiles = cJSON_AddArrayToObject(row, "tiles");
        vars = cJSON_AddArrayToObject(row, "vars");
        for (int l = 0; l < levels; l++)
            cJSON_AddItemToArray(tiles, cJSON_CreateNumber(number(item(key(n, "levels"), l), "tiles")));
        for (int o = first; o <= last; o++)
            for (int l = 0; l < levels; l++)
                cJSON_AddItemToArray(vars, cJSON_CreateNumber(variable(m, o, letter_of(m, n, l, o))));
        cJSON_AddItemToArray(rows, row);
    }
    return rows;
}

static void add_buffer(struct maker *m, const cJSON *stay, int tensor, int hold, int op, int operand)
{
    cJSON *b = cJSON_CreateObject();
    cJSON_AddNumberToObject(b, "size", number(stay, "bytes"));
    cJSON_AddNumberToObject(b, "start", number(stay, "first"));
    cJSON_AddNumberToObject(b, "end", number(stay, "last") + 1);
    cJSON_AddNumberToObject(b, "address", number(stay, "address"));
    cJSON_AddNumberToObject(b, "tensor", tensor);
    cJSON_AddNumberToObject(b, "view_op", op);
    cJSON_AddNumberToObject(b, "view_operand", operand);
    if (hold > 0) cJSON_AddNumberToObject(b, "hold", hold);
    cJSON_AddItemToArray(m->buffers, b);
    m->stays[m->count++] = (struct stay){tensor, hold, op, op, -1};
}

/* The accesses of a tensor in order of time: which part each is in, and what that part does. */
static void serve_tensor(struct maker *m, int tensor)
{
    const cJSON *t = key(key(m->plan, "tensors"), key(item(m->tensors, tensor), "name")->valuestring),
                *last = NULL;
    int part = -1, stay = 0, ops = cJSON_GetArraySize(m->ops);
    for (int o = 0; o < ops; o++)
        for (int i = 0; i <= inputs_of(m, o); i++) {
            if (tensor_at(m, o, i) != tensor) continue;
            const cJSON *nest = nest_of(m, o);
            bool begins = part < 0 || nest != last;
            part += begins;
            last = nest;
            const char *word = item(key(t, "parts"), part)->valuestring;
            if (strcmp(word, "hbm") == 0) continue;
            if (begins && strcmp(word, "join") != 0)
                add_buffer(m, item(key(t, "stays"), stay++), tensor,
                           strncmp(word, "tile", 4) == 0 ? atoi(word + 4) : 0, o, i);
            m->served[o * 8 + i] = m->count - 1;
            m->stays[m->count - 1].last = o;
            if (i == inputs_of(m, o)) m->stays[m->count - 1].maker = o;
        }
}

static void add_transfer(struct maker *m, const char *kind, int tick, int buffer, int bytes)
{
    cJSON *x = cJSON_CreateObject();
    int at = 0;
    cJSON_AddStringToObject(x, "kind", kind);
    cJSON_AddNumberToObject(x, "tick", tick);
    cJSON_AddNumberToObject(x, "buffer", buffer);
    cJSON_AddNumberToObject(x, "bytes", bytes);
    for (const cJSON *y = m->transfers->child; y; y = y->next)
        at += number(y, "tick") < tick || (number(y, "tick") == tick && *kind == 's');
    if (at < cJSON_GetArraySize(m->transfers))
        cJSON_InsertItemInArray(m->transfers, at, x);
    else
        cJSON_AddItemToArray(m->transfers, x);
}

static bool leaves_graph(const struct maker *m, int tensor)
{
    const cJSON *role = key(item(m->tensors, tensor), "role");
    return role && strcmp(role->valuestring, "output") == 0;
}

/* Does anybody look for it in HBM after the stay? */
static bool wanted_later(const struct maker *m, int stay)
{
    int tensor = m->stays[stay].tensor, ops = cJSON_GetArraySize(m->ops);
    bool read = false;
    if (leaves_graph(m, tensor)) return true;
    for (int o = 0; o < ops; o++)
        for (int i = 0; i < inputs_of(m, o); i++) {
            if (tensor_at(m, o, i) != tensor) continue;
            read = true;
            if (m->served[o * 8 + i] != stay) return true;
        }
    return !read; /* what nobody reads leaves the graph */
}

static void copy_stay(struct maker *m, int s)
{
    const struct stay *x = &m->stays[s];
    int bytes = bytes_of(m, x->tensor), operand = 0;
    while (m->served[x->first * 8 + operand] != s) operand++;
    int times = times_of(m, x->first, operand, x->hold);
    if (x->maker < 0) add_transfer(m, "load", x->first, s, bytes * times);
    if (x->maker >= 0 && times > 1) add_transfer(m, "load", x->maker, s, bytes * (times - 1));
    if (x->maker >= 0 && (times > 1 || wanted_later(m, s)))
        add_transfer(m, "store", x->maker, s, bytes * times);
}

static void add_handovers(struct maker *m)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, key(m->plan, "in_place"))
    {
        int over = index_of(m->tensors, key(v, "over")->valuestring),
            writes = index_of(m->tensors, key(v, "writes")->valuestring);
        for (int c = 0; c < m->count; c++)
            for (int p = 0; p < m->count; p++)
                if (m->stays[c].tensor == writes && m->stays[c].maker >= 0 && m->stays[p].tensor == over &&
                    m->stays[p].last == m->stays[c].maker)
                    cJSON_AddNumberToObject(cJSON_GetArrayItem(m->buffers, c), "in_place_of", p);
    }
}

static void state_op(const struct maker *m, cJSON *row, int o)
{
    static const char *const kept[] = {"name", "inputs", "output", "stick_var"};
    cJSON *accesses = cJSON_CreateArray();
    for (cJSON *v = row->child, *next; v; v = next) {
        bool keep = false;
        next = v->next;
        for (int k = 0; k < 4; k++) keep |= strcmp(v->string, kept[k]) == 0;
        if (!keep) cJSON_Delete(cJSON_DetachItemViaPointer(row, v));
    }
    for (int i = 0; i <= inputs_of(m, o); i++) {
        bool writes = i == inputs_of(m, o);
        int times = times_of(m, o, i, MOST_LEVELS), whole = bytes_of(m, tensor_at(m, o, i));
        const int numbers[] = {m->served[o * 8 + i], !writes, writes,
                               whole * (writes ? 2 * times - 1 : times)};
        cJSON_AddItemToArray(accesses, cJSON_CreateIntArray(numbers, 4));
    }
    cJSON_AddItemToObject(row, "accesses", accesses);
}

/* All tensors have places in HBM, what is made and used within the graph behind the others. */
static void place_tensors(const struct maker *m, cJSON *graph)
{
    int at = 0, n = cJSON_GetArraySize(m->tensors), ops = cJSON_GetArraySize(m->ops);
    for (int pool = 0; pool < 2; pool++) {
        if (pool) cJSON_AddNumberToObject(graph, "pool_at", at);
        for (int t = 0; t < n; t++) {
            bool made = false, read = false;
            for (int o = 0; o < ops; o++)
                for (int i = 0; i <= inputs_of(m, o); i++)
                    if (tensor_at(m, o, i) == t) *(i == inputs_of(m, o) ? &made : &read) = true;
            if ((made && read && !leaves_graph(m, t)) != pool) continue;
            cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(graph, "tensors"), t);
            cJSON_DeleteItemFromObject(row, "hbm");
            cJSON_AddNumberToObject(row, "hbm", at);
            at += bytes_of(m, t);
        }
    }
}

cJSON *tiling_plan_of(const cJSON *one, const cJSON *like)
{
    struct maker m = {.one = one, .plan = key(one, "plan"), .ops = key(key(one, "pattern"), "ops")};
    cJSON *out = cJSON_CreateObject(), *graph = cJSON_CreateObject();
    const cJSON *given = key(like, "graph");
    m.tensors = key(key(one, "pattern"), "tensors");
    m.buffers = cJSON_CreateArray();
    m.transfers = cJSON_CreateArray();
    for (size_t i = 0; i < sizeof m.served / sizeof *m.served; i++) m.served[i] = -1;
    cJSON_AddNumberToObject(out, "lxplan", 2);
    cJSON_AddStringToObject(out, "kind", "plan");
    cJSON_AddItemToObject(out, "pattern", cJSON_Duplicate(key(one, "pattern"), true));
    cJSON_AddItemToObject(out, "graph", graph);
    cJSON_AddNumberToObject(graph, "cores", 1);
    cJSON_AddItemToObject(graph, "tensors", cJSON_Duplicate(key(given, "tensors"), true));
    cJSON_AddItemToObject(graph, "ops", cJSON_Duplicate(key(given, "ops"), true));
    cJSON_AddItemToObject(graph, "nests", nest_rows(&m));
    for (int t = 0; t < cJSON_GetArraySize(m.tensors); t++) serve_tensor(&m, t);
    for (int s = 0; s < m.count; s++) copy_stay(&m, s);
    for (int o = 0; o < cJSON_GetArraySize(m.ops); o++)
        state_op(&m, cJSON_GetArrayItem(cJSON_GetObjectItem(graph, "ops"), o), o);
    place_tensors(&m, graph);
    add_handovers(&m);
    cJSON_AddItemToObject(graph, "transfers", m.transfers);
    cJSON_AddItemToObject(out, "buffers", m.buffers);
    return out;
}
